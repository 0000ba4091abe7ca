"""Cards that two people key in, over a real database: entry, picture, trail, and silence."""

import uuid

import pytest

from studio.domain.errors import MalformedError, RefusedError
from studio.domain.log import canonical
from studio.games import GAMES, by_code
from studio.services.bundle_check import check_bundle
from studio.services.evidence import EvidenceService
from studio.signing import Signer
from tests.support.floor import DEALER, HANDS, PIT, PLAYER, Floor, code_of, serial_of
from tests.support.jpegs import jpeg, text

CARD = code_of(serial_of("3S"))
OTHER = code_of(serial_of("9S"))


def refused(work, *args, **more) -> str:
    with pytest.raises(RefusedError) as refusal:
        work(*args, **more)
    return refusal.value.code


def unread(floor: Floor, *, tries: int = 3, picture: bool = True) -> int:
    """Let the round's burn card fail to be read; return the id of its picture, else 0."""
    floor.to_betting()
    for number in range(tries):
        floor.report(id=f"cam-90{number}", kind="read_failed", code=None, reason="unreadable")
    if not picture:
        return 0
    return bring(floor, "cam-900")


def bring(floor: Floor, report_id: str, table: str = "T1") -> int:
    floor.pictures.take(
        "cam", table=table, report_id=report_id, captured_ms=5, frame=text(jpeg()), card=None
    )
    return floor.pictures.of_table(table)[0]["id"]


def confirm(floor: Floor, picture: int, digits: str = CARD, **more) -> dict:
    return floor.command(
        "confirm_key", PIT, digits=digits, picture=picture, reason="code torn", **more
    )


def test_a_card_keyed_by_dealer_and_supervisor_is_dealt_and_the_round_goes_on(both):
    picture = unread(both)
    both.command("key_card", digits=f"{CARD[:4]}-{CARD[4:8]} {CARD[8:]}")
    assert "card_keyed" in both.alarm_codes()
    assert both.state().round.drawn == ()
    confirm(both, picture)
    assert [card.card for card in both.state().round.drawn] == ["3S"]
    assert "card_keyed" not in both.alarm_codes()
    both.show(*HANDS)
    both.close()
    both.finish()
    assert both.faults() == []
    assert both.restarted().live().view == both.live().view
    kinds = [event["kind"] for event in both.tables.round_record(both.round_id)["events"]]
    assert kinds.count("CardKeyed") == kinds.count("KeyConfirmed") == 1
    service = EvidenceService(units=both.units, clock=both.clock, signer=Signer("s" * 40))
    bundle = service.of_player(PLAYER, both.round_id)
    assert check_bundle(bundle, games=by_code(GAMES), signature_holds=lambda *_, **__: True) == []


def test_entries_that_differ_call_for_both_again(both):
    picture = unread(both)
    both.command("key_card", digits=OTHER)
    confirm(both, picture)
    assert both.live().view["fault"]["key"] == "differs"
    assert "card_keyed" not in both.alarm_codes()
    assert refused(confirm, both, picture) == "no_card_keyed"
    both.command("key_card", digits=CARD)
    confirm(both, picture)
    assert len(both.state().round.drawn) == 1
    assert both.faults() == []


def test_a_supervisor_rejects_an_entry(floor):
    unread(floor)
    floor.command("key_card", digits=CARD)
    floor.command("drop_key", PIT, reason="wrong card on the glass")
    assert floor.live().view["fault"]["key"] == "rejected"


@pytest.mark.parametrize("tries", [0, 1, 2])
def test_nothing_is_keyed_before_the_tries_are_used_up(floor, tries):
    unread(floor, tries=tries, picture=False)
    assert refused(floor.command, "key_card", digits=CARD) == "keying_not_due"


@pytest.mark.parametrize(
    ("digits", "code"),
    [
        ("1", "code_invalid"),
        (CARD[:-1] + str((int(CARD[-1]) + 1) % 10), "code_invalid"),
        ("300000000001", "code_invalid"),
        (CARD + "0", "code_invalid"),
        ("１" * 12, "code_invalid"),
        (code_of(5, deck_set=2), "code_unknown"),
        (code_of(5, deck_set=9), "code_unknown"),
    ],
)
def test_what_is_no_card_of_the_deck_set_is_refused_on_both_sides(floor, digits, code):
    picture = unread(floor)
    assert refused(floor.command, "key_card", digits=digits) == code
    floor.command("key_card", digits=CARD)
    assert refused(confirm, floor, picture, digits) == code
    assert floor.live().view["fault"]["key"] == "waiting"


@pytest.mark.parametrize("digits", [None, 5, "", " ", ["1"]])
def test_digits_are_a_text(floor, digits):
    unread(floor)
    with pytest.raises(MalformedError) as fault:
        floor.command("key_card", digits=digits)
    assert fault.value.code == "digits_missing"


def test_only_a_picture_of_this_card_at_this_table_counts(both):
    picture = unread(both, picture=False)
    both.command("key_card", digits=CARD)
    assert refused(confirm, both, 1) == "picture_missing", "it has not come"
    assert refused(confirm, both, 404) == "picture_missing"
    picture = bring(both, "cam-901")
    both.show("3S")
    for number in range(3):
        both.report(id=f"cam-91{number}", kind="read_failed", code=None, reason="unreadable")
    both.command("key_card", digits=OTHER)
    assert refused(confirm, both, picture, OTHER) == "picture_missing", "of the card before"
    assert both.tables.pit(both.links)["tables"][0]["read_picture"] is None
    newest = bring(both, "cam-912")
    assert both.tables.pit(both.links)["tables"][0]["read_picture"] == newest
    confirm(both, newest, OTHER)
    assert [card.card for card in both.state().round.drawn] == ["3S", "9S"]


def test_a_picture_of_another_table_or_shoe_does_not_count(floor):
    picture = unread(floor)
    floor.command("void_round", PIT, reason="test")
    left = floor.state().shoe.in_shoe
    floor.command("close_shoe", PIT, cards_left=left, reason="test")
    floor.command("load_shoe", deck_set=1)
    floor.command("confirm_shuffle", cut_depth=20)
    for _ in range(3):
        floor.fail_read()
    floor.command("key_card", digits=CARD)
    assert refused(confirm, floor, picture) == "picture_missing"


def test_the_answer_to_a_retry_is_the_first_one(both):
    picture = unread(both)
    both.command("key_card", digits=CARD)
    id = str(uuid.uuid4())
    first = confirm(both, picture, id=id)
    assert confirm(both, picture, id=id) == first
    assert refused(confirm, both, picture, OTHER, id=id) == "command_id_reused"
    assert len(both.state().round.drawn) == 1


def test_the_trail_says_who_where_why_and_by_which_picture_and_no_card(both):
    picture = unread(both)
    both.command("key_card", digits=OTHER)
    confirm(both, picture)
    both.command("key_card", digits=CARD)
    confirm(both, picture)
    with both.units.read() as unit:
        confirmed, differed = unit.trail.read(limit=2, before_id=None)
    for line in (confirmed, differed):
        assert (line.actor, line.action, line.reason) == ("Mori", "confirm_key", "code torn")
        told = {name: line.after[name] for name in ("position", "index", "dealer", "picture")}
        assert told == {"position": "burn", "index": 0, "dealer": DEALER.name, "picture": picture}
    assert differed.after["why"] == "differs"


def test_nothing_that_is_said_or_kept_openly_tells_a_keyed_card(both):
    picture = unread(both)
    both.command("key_card", digits=OTHER)
    confirm(both, picture)
    both.command("key_card", digits=CARD)
    confirm(both, picture)
    with both.units.read() as unit:
        lines = [
            (line.reason, line.before, line.after)
            for line in unit.trail.read(limit=50, before_id=None)
        ]
        alarms = [row.details for row in unit.alarms.open()]
        answers = unit.connection.exec_driver_sql("SELECT * FROM command_answer").fetchall()
        bodies = unit.connection.exec_driver_sql("SELECT body FROM event").fetchall()
    pit = both.tables.pit(both.links)
    seen = [lines, alarms, pit, both.publisher.hints, both.tables.snapshot("T1")]
    bodies = [list(one["body"].items()) for one in both.live().envelopes()]
    told = canonical(seen) + canonical(bodies)
    told += repr(answers) + repr(bodies)
    for face, digits in (("3S", CARD), ("9S", OTHER)):
        assert f'"{face}"' not in told
        assert digits not in told


def test_an_audit_finds_an_entry_that_was_exchanged(both):
    picture = unread(both)
    both.command("key_card", digits=CARD)
    confirm(both, picture)
    assert both.faults() == []
    with both.units.write() as unit:
        unit.connection.exec_driver_sql(
            "UPDATE sealed_card SET serial = 9, card = '9S' WHERE seq = "
            "(SELECT seq FROM event WHERE kind = 'CardKeyed')"
        )
        unit.commit()
    assert "keyed_card_differs" in {fault.code for fault in both.restarted().faults()}
