"""What is always true, whatever happens at a table: random play, looked at after every event.

Hypothesis prints the numbers of a play that fails; the same numbers give the same play.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from random import Random  # noqa: TID251 - seeded below

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from studio.domain.events import EVENT_KINDS
from studio.domain.game import Json
from studio.domain.log import canonical, commitment, event_hash
from studio.games import GAMES
from studio.services.live import Live, advance, fresh
from studio.services.ports import StoredEvent
from tests.support.play import FACES, OPTIONS, Play, setup_of

STEPS_MAX = 240


def _played(game, scan_at, burn, seed, length, then):
    """Return a play of `length` steps that follow from the seed, and then these."""
    random = Random(seed)
    play = Play(setup_of(game, scan_at=scan_at, burn_per_round=burn), seed)
    play.play([*(random.randrange(100) for _ in range(length)), *then])
    return play


plays = st.builds(
    _played,
    st.sampled_from(sorted(OPTIONS)),
    st.sampled_from(["draw", "draw", "reveal"]),
    st.integers(0, 2),
    st.integers(0, 2**32),
    st.integers(0, STEPS_MAX),
    st.lists(st.integers(0, 99), max_size=30),
)

# The play is what takes time, and it is played while the example is drawn.
quick = settings(
    max_examples=20,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)


# No sealed card leaks ---------------------------------------------------------------------------


def opened_by(stored: StoredEvent) -> set[int]:
    """Return the serials that an event opens."""
    opened = {card["serial"] for card in stored.body.get("cards", [])}
    if stored.kind == "FirstCardTurned":
        opened.add(stored.body["serial"])
    return opened


def values_of(key: str, value: Json) -> Iterator[Json]:
    """Return everything that stands under `key`, however deep."""
    if isinstance(value, dict):
        for name, item in value.items():
            if name == key:
                yield item
            yield from values_of(key, item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from values_of(key, item)


def need_silence(said: Json, *, nonces: set[str], serials: set[int]) -> None:
    """Fail when something names a card that nobody may know."""
    text = canonical(said)
    assert not any(nonce in text for nonce in nonces), "a nonce"
    words = set(re.findall(r"[0-9A-Za-z]+", text))
    for serial in serials:
        assert FACES[serial] not in words, "a face"
        assert f"{serial:04d}" not in words, "a printed serial"
    assert not serials & set(values_of("serial", said)), "a serial"


@quick
@given(plays)
def test_nothing_that_is_said_names_a_card_before_its_reveal(play):
    nonces: set[str] = set()
    serials: set[int] = set()
    told = {}
    for at, said in play.told:
        told.setdefault(at, []).append(said)
    for number, stored in enumerate(play.stored, start=1):
        if stored.kind in {"ShoeLoaded", "VerificationStarted"}:
            serials = set()  # nothing is shuffled yet
        opened = opened_by(stored)
        serials -= opened
        if stored.sealed is not None:
            nonces.add(stored.sealed["nonce"])
            # A card that is opened as it is read: its reveal is the next event of the same commit.
            follows = play.stored[number : number + 1]
            if not (follows and stored.sealed["serial"] in opened_by(follows[0])):
                serials.add(stored.sealed["serial"])
        nonces -= {card["nonce"] for card in stored.body.get("cards", [])}
        moment = play.moments[number]
        need_silence(moment.view, nonces=nonces, serials=serials)
        need_silence(moment.envelopes()[-1], nonces=nonces, serials=serials)
        for said in told.get(number, []):
            need_silence(said, nonces=nonces, serials=serials)


@quick
@given(plays)
def test_the_view_shows_a_face_down_card_as_nothing(play):
    for moment in play.moments:
        current = moment.state.round
        if current is None:
            continue
        is_open = {(card.position, card.index): card for card in current.drawn if card.open}
        face_up = moment.state.config.scan_at == "reveal"
        shown = moment.view["round"]
        for hand in shown["hands"]:
            for index, code in enumerate(hand["cards"]):
                if (hand["position"], index) not in is_open and not face_up:
                    assert code is None
        for reveal in shown["reveals"]:
            assert is_open[reveal["position"], reveal["index"]].card == reveal["card"]
        if shown["results"] is None:
            assert shown["marks"] is None


@quick
@given(plays)
def test_every_opened_card_proves_the_commitment_that_was_published_when_it_was_drawn(play):
    published: dict[tuple[int, str], set[str]] = {}
    proven = 0
    for stored in play.stored:
        if stored.body.get("commitment"):
            place = (stored.epoch, stored.body["scope"])
            published.setdefault(place, set()).add(stored.body["commitment"])
        scope = stored.body.get("scope") or stored.body.get("round_id")
        for card in stored.body.get("cards", []):
            made = commitment(
                nonce=card["nonce"],
                scope=scope,
                position=card["position"],
                index=card["index"],
                card=card["card"],
                serial=card["serial"],
            )
            assert made in published[stored.epoch, scope]
            assert FACES[card["serial"]] == card["card"]
            proven += 1
    assert proven <= sum(len(found) for found in published.values())


# Snapshots --------------------------------------------------------------------------------------


@quick
@given(plays, st.integers(0, STEPS_MAX))
def test_an_old_view_with_the_missed_patches_is_a_fresh_view(play, start):
    for begin in (0, start % len(play.moments)):
        view = json.loads(canonical(play.moments[begin].view))
        for moment in play.moments[begin + 1 :]:
            view.update(json.loads(canonical(moment.envelopes()[-1]["patch"])))
            assert view == json.loads(canonical(moment.view))


@quick
@given(plays)
def test_a_patch_names_only_what_changed_but_the_whole_view_at_the_start_of_an_epoch(play):
    for before, after in zip(play.moments, play.moments[1:], strict=False):
        patch = after.envelopes()[-1]["patch"]
        if after.state.seq == 1:
            assert patch == after.view
        else:
            assert all(before.view[key] != value for key, value in patch.items())


# Replay and chain -------------------------------------------------------------------------------


def from_store(stored: StoredEvent) -> StoredEvent:
    """Return the event as a database gives it back."""
    sealed = None if stored.sealed is None else json.loads(canonical(stored.sealed))
    return replace(stored, body=json.loads(canonical(stored.body)), sealed=sealed)


def replayed(play: Play, epoch: int) -> Live:
    events = [from_store(stored) for stored in play.stored if stored.epoch == epoch]
    live = fresh(play.setup, play.game, epoch=epoch, prev_hash=events[0].prev_hash)
    for stored in events:
        live = advance(live, stored)
    return live


@quick
@given(plays)
def test_replay_gives_the_state_and_the_messages_that_were_live(play):
    for epoch in {stored.epoch for stored in play.stored}:
        live = replayed(play, epoch)
        last = [moment for moment in play.moments if moment.state.epoch == epoch][-1]
        assert live.state == last.state
        assert live.view == json.loads(canonical(last.view))
        assert canonical(live.envelopes()) == canonical(last.envelopes())


@quick
@given(plays)
def test_the_log_is_numbered_without_gaps_and_chained(play):
    prev_hash, epoch, seq = "", 0, 0
    for stored in play.stored:
        if stored.kind == "ShoeLoaded":
            epoch, seq = epoch + 1, 0
        seq += 1
        assert (stored.epoch, stored.seq, stored.prev_hash) == (epoch, seq, prev_hash)
        assert stored.hash == event_hash(
            prev_hash,
            table="T1",
            epoch=epoch,
            seq=seq,
            at_ms=stored.at_ms,
            kind=stored.kind,
            body=json.loads(canonical(stored.body)),
        )
        prev_hash = stored.hash


# Counts -----------------------------------------------------------------------------------------


@quick
@given(plays)
def test_the_shoe_counts_what_left_it_after_every_event(play):
    burnt = dealt = 0
    aside = False
    for number, stored in enumerate(play.stored, start=1):
        body = stored.body
        if stored.kind == "ShoeLoaded":
            burnt = dealt = 0
        elif stored.kind == "FirstCardTurned":
            burnt += 1
        elif stored.kind == "BurnConfirmed":
            burnt += body["count"]
        elif stored.kind == "CardDrawn" and body["position"] == "burn":
            burnt += 1
        elif stored.kind == "CardDrawn":
            dealt += 1
        elif stored.kind == "CardHeld":
            aside = body["commitment"] is not None
        elif stored.kind == "HeldReleased":
            burnt += aside
        shoe = play.moments[number].view["shoe"]
        if shoe is None:
            continue
        assert (shoe["burnt"], shoe["dealt"]) == (burnt, dealt)
        assert shoe["registered"] == 52 == shoe["in_shoe"] + burnt + dealt
        assert shoe["in_shoe"] >= 0


@quick
@given(plays)
def test_a_round_ends_once_and_only_then_another_opens(play):
    running = None
    ended = set()
    for stored in play.stored:
        round_id = stored.body.get("round_id")
        if stored.kind == "RoundOpened":
            assert running is None
            running = round_id
        elif stored.kind in {"RoundSettled", "RoundVoided"}:
            assert round_id == running
            assert round_id not in ended
            ended.add(round_id)
            running = None


@pytest.mark.parametrize("game", sorted(OPTIONS))
@pytest.mark.parametrize("scan_at", ["draw", "reveal"])
def test_random_play_reaches_every_kind_of_event(game, scan_at):
    """A play that never gets anywhere would prove nothing."""
    kinds = set()
    rounds = 0
    for seed in range(8):
        play = _played(game, scan_at, 1, seed, 400, [])
        kinds |= {stored.kind for stored in play.stored}
        rounds += sum(stored.kind == "RoundSettled" for stored in play.stored)
    # Corrections need a round that has ended, keyed cards a picture: the simulation makes both.
    unreached = {kind for kind in EVENT_KINDS if "Correct" in kind or "Key" in kind}
    unreached |= {"BurnConfirmed"} if scan_at == "draw" else set()
    assert kinds == set(EVENT_KINDS) - unreached
    assert rounds > 10


def test_every_registered_game_is_played_at_random():
    assert OPTIONS.keys() == {game.code for game in GAMES}
