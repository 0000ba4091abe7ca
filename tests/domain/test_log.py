"""The log's form, held to worked values, so that a chain written today is checked for ever."""

import hashlib

import pytest

from studio.domain.log import GENESIS_HASH, canonical, commitment, event_hash

EVENT = {
    "table": "T1",
    "epoch": 1,
    "seq": 2,
    "at_ms": 5,
    "kind": "CutCardOut",
    "body": {"b": 1, "a": "日本"},
}


def test_the_one_text_of_a_value_sorts_keys_and_keeps_letters():
    assert canonical({"b": [1, None], "a": "日本"}) == '{"a":"日本","b":[1,null]}'


def test_the_chain_covers_every_field_of_an_event():
    first = event_hash(GENESIS_HASH, **EVENT)
    text = (
        '{"at_ms":5,"body":{"a":"日本","b":1},"epoch":1,"kind":"CutCardOut",'
        '"prev_hash":"","seq":2,"table":"T1"}'
    )
    assert first == hashlib.sha256(text.encode()).hexdigest()
    changes = {"table": "T2", "epoch": 2, "seq": 3, "at_ms": 6, "kind": "X", "body": {}}
    others = {event_hash(GENESIS_HASH, **EVENT | {key: value}) for key, value in changes.items()}
    assert len(others | {first, event_hash("0" * 64, **EVENT)}) == 8


def test_a_commitment_is_the_hash_that_a_players_page_works_out():
    made = commitment(
        nonce="ab" * 32, scope="T1-3-12", position="P1", index=0, card="TS", serial=17
    )
    text = f"{'ab' * 32}|T1-3-12|P1|0|TS|17"
    assert made == hashlib.sha256(text.encode("utf-8")).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        {"nonce": "cd" * 32},
        {"scope": "T1-3-13"},
        {"position": "P2"},
        {"index": 1},
        {"card": "9S"},
        {"serial": 18},
    ],
)
def test_a_commitment_binds_everything_about_the_card(change):
    card = {
        "nonce": "ab" * 32,
        "scope": "T1-3-12",
        "position": "P1",
        "index": 0,
        "card": "TS",
        "serial": 17,
    }
    assert commitment(**card) != commitment(**card | change)
