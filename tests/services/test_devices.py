"""The devices' doors: reports taken once, wrong ones named, heartbeats, the manifest."""

import threading
from dataclasses import replace

import pytest

from studio.domain.cards import CodeVersion, PrintedCode
from studio.domain.errors import MalformedError, RefusedError, StudioError
from studio.domain.log import canonical
from studio.services.ports import DeckSet
from studio.services.scan_reasons import REASONS
from tests.support.floor import HANDS, MANIFEST, PIT, Floor, code_of, serial_of, with_setup


def drawn(floor: Floor) -> int:
    return sum(envelope["kind"] == "CardDrawn" for envelope in floor.live().envelopes())


def test_twenty_equal_reports_at_once_are_one_card(both):
    both.to_betting()
    before = drawn(both)
    body = {
        "id": "cam-777",
        "table": "T1",
        "kind": "card_seen",
        "code": code_of(serial_of("9S")),
        "reason": None,
        "captured_ms": 5,
    }
    answers, together = [], threading.Barrier(20)
    floors = [both, both.restarted()]

    def send(floor: Floor) -> None:
        together.wait()
        answers.append(floor.devices.report("cam", body)["duplicate"])

    threads = [threading.Thread(target=send, args=(floors[n % 2],)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [False] + [True] * 19
    assert drawn(both) == before + 1


def test_a_report_that_comes_again_after_a_restart_is_known(both):
    both.to_betting()
    card = code_of(serial_of("9S"))
    both.report(id="cam-1000", kind="card_seen", code=card, reason=None)
    both.show("9H")
    again = both.restarted()
    assert again.report(id="cam-1000", kind="card_seen", code=card, reason=None) == {
        "taken": True,
        "duplicate": True,
    }
    assert again.alarms() == [], "a card reported twice is not a doubled card"


def test_an_id_used_again_for_other_content_is_refused(both):
    both.to_betting()
    both.report(id="cam-1000", kind="card_seen", code=code_of(1), reason=None)
    seq = both.state().seq
    with pytest.raises(RefusedError) as refusal:
        both.report(id="cam-1000", kind="card_seen", code=code_of(3), reason=None)
    assert refusal.value.code == "report_id_reused"
    assert both.state().seq == seq


def test_devices_count_their_reports_for_themselves(floor):
    floor.to_betting()
    for device, face in (("cam", "9S"), ("cam2", "9H")):
        floor.report(
            device=device, id="1", kind="card_seen", code=code_of(serial_of(face)), reason=None
        )
    assert floor.state().round.burnt == 1
    assert len(floor.state().round.drawn) == 2


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"id": None}, "report_id"),
        ({"id": ""}, "report_id"),
        ({"id": 5}, "report_id"),
        ({"id": "x" * 101}, "report_id"),
        ({"table": None}, "unknown_table"),
        ({"table": "T9"}, "unknown_table"),
        ({"kind": "card_eaten"}, "report_kind"),
        ({"kind": None}, "report_kind"),
        ({"kind": ["card_seen"]}, "report_kind"),
        ({"code": None}, "report_code"),
        ({"code": 123456789012}, "report_code"),
        ({"code": "12345678901"}, "code_format"),
        ({"code": "１２３４５６７８９０１２"}, "code_format"),
        ({"code": "123456789012"}, "code_check_digits"),
        ({"code": f"9010010001{98 - 9010010001 * 100 % 97:02d}"}, "code_unknown"),
        ({"kind": "read_failed", "reason": "tired"}, "report_reason"),
        ({"kind": "read_failed", "reason": None}, "report_reason"),
        ({"kind": "still_unread", "reason": ["no_code"]}, "report_reason"),
    ],
)
def test_a_report_that_can_not_be_read_is_malformed_and_changes_nothing(floor, body, code):
    floor.to_betting()
    seq = floor.state().seq
    good = {"id": "cam-9000", "table": "T1", "kind": "card_seen", "code": code_of(1)}
    with pytest.raises(MalformedError) as fault:
        floor.devices.report("cam", good | body)
    assert fault.value.code == code
    assert floor.state().seq == seq
    assert not any(str(digits) in fault.value.message for digits in [body.get("code") or "none"])
    assert floor.devices.report("cam", good)["duplicate"] is False, "its id is still free"


@pytest.mark.parametrize("kind", ["read_failed", "still_unread"])
@pytest.mark.parametrize("reason", sorted(REASONS - {"staff_badge"}))
def test_a_failed_read_tells_the_dealer_why(floor, kind, reason):
    floor.to_betting()
    floor.report(kind=kind, code=None, reason=reason)
    assert floor.live().view["fault"] == {
        "code": "read_failed",
        "reason": reason,
        "tries": 1,
        "position": "burn",
        "card": 1,
        "held": False,
        "key": None,
    }


def test_the_reasons_of_the_first_release_are_still_taken():
    first = {"no_code", "unreadable", "two_cards", "not_in_shoe", "already_seen"}
    assert first | {"foreign_symbology"} <= REASONS


def test_a_card_of_another_deck_set_is_held(floor):
    floor.to_betting()
    floor.show_serial(serial_of("9S"), deck_set=9)
    assert floor.live().view["fault"]["code"] == "other_deck_set"
    floor.command("release_held", PIT, reason="taken away")
    floor.show("9S")
    assert drawn(floor) == 3


@pytest.mark.parametrize("reason", [None, "not_in_shoe", "unknown_serial"])
@pytest.mark.parametrize(
    ("code", "fault"),
    [
        (
            PrintedCode(version=CodeVersion.TILE, number=MANIFEST[5], deck_set=1, serial=5),
            "other_deck_set",
        ),
        (
            PrintedCode(version=CodeVersion.CARD, number=MANIFEST[5], deck_set=2, serial=5),
            "other_deck_set",
        ),
        (
            PrintedCode(version=CodeVersion.CARD, number=MANIFEST[6], deck_set=1, serial=5),
            "unknown_serial",
        ),
        (
            PrintedCode(version=CodeVersion.CARD, number=MANIFEST[5], deck_set=1, serial=53),
            "unknown_serial",
        ),
    ],
    ids=["tile", "other deck set", "other face", "no such serial"],
)
def test_a_code_that_is_not_in_the_manifest_is_held_whatever_the_scanner_calls_it(
    floor, code, fault, reason
):
    floor.to_betting()
    floor.report(kind="card_seen", code=code.digits, reason=reason)
    assert floor.live().view["fault"]["code"] == fault


@pytest.mark.parametrize("kind", ["card_seen", "read_failed"])
def test_a_badge_under_the_camera_is_named_holds_nothing_and_calls_nobody(floor, kind):
    floor.to_betting()
    badge = PrintedCode(version=CodeVersion.BADGE, number=7, deck_set=0, serial=5).digits
    for _ in range(4):
        floor.report(kind=kind, code=badge if kind == "card_seen" else None, reason="staff_badge")
    fault = floor.live().view["fault"]
    assert (fault["reason"], fault["tries"], fault["held"]) == ("staff_badge", 0, False)
    assert floor.alarms() == []
    floor.show("9S")
    assert floor.live().view["fault"] is None


def test_a_card_without_a_shoe_is_taken_and_changes_nothing(floor):
    assert floor.report(kind="card_seen", code=code_of(1), reason=None)["taken"]
    assert floor.state().seq == 0


def test_the_answer_and_the_refusals_never_repeat_the_card(floor):
    floor.to_betting()
    code = code_of(serial_of("9S"))
    answer = floor.report(id="r", kind="card_seen", code=code, reason=None)
    assert answer == {"taken": True, "duplicate": False}
    for body in (
        {"kind": "card_seen", "code": code_of(3)},
        {"kind": "read_failed", "reason": "no_code"},
    ):
        with pytest.raises(StudioError) as fault:
            floor.report(id="r", **{"reason": None, "code": None} | body)
        said = canonical([fault.value.message, dict(fault.value.details)])
        assert code not in said
        assert code_of(3) not in said


# Heartbeats and manifest ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"table": "T9"}, "unknown_table"),
        ({"table": None}, "unknown_table"),
        ({"link": "station"}, "unknown_link"),
        ({"link": None}, "unknown_link"),
        ({"link": ["scanner"]}, "unknown_link"),
    ],
)
def test_a_heartbeat_that_can_not_be_read_is_malformed(floor, body, code):
    with pytest.raises(MalformedError) as fault:
        floor.devices.heartbeat("cam", {"table": "T1", "link": "scanner"} | body)
    assert fault.value.code == code


def test_a_heartbeat_keeps_the_link_up_and_tells_the_epoch(floor):
    floor.to_play()
    floor.wait(2_999)
    answer = floor.devices.heartbeat(
        "cam", {"table": "T1", "link": "scanner", "fps": 25, "queued": 2, "frame_age_ms": "x"}
    )
    assert answer == {"epoch": 1}
    health = floor.links.health("T1")
    assert health["scanner"] == {
        "state": "up",
        "age_ms": 0,
        "fps": 25,
        "queued": 2,
        "device": "cam",
    }
    assert (health["video"]["state"], health["video"]["age_ms"]) == ("up", 2_999)


def test_the_loaded_deck_sets_manifest_names_every_serial(both):
    assert both.devices.shoe("T1") == {
        "epoch": 0,
        "version": 1,
        "deck_set": None,
        "codes": {},
    }
    both.to_play()
    shoe = both.devices.shoe("T1")
    assert (shoe["epoch"], shoe["deck_set"], shoe["version"]) == (1, 1, 1)
    assert shoe["codes"] == {str(serial): number for serial, number in MANIFEST.items()}
    assert list(shoe["codes"]) == sorted(shoe["codes"], key=int), "never the order of the shoe"


def test_the_next_shoe_is_known_by_its_own_deck_set(floor):
    with floor.units.write() as unit:
        other = {serial + 100: number for serial, number in MANIFEST.items()}
        unit.deck_sets.register(DeckSet(number=3, decks=1, manifest=other))
        unit.commit()
    setups = {"T1": replace(floor.setups["T1"], deck_sets=(1, 2, 3))}
    floor = replace(floor, setups=setups)
    floor.to_betting()
    floor.show(*HANDS[:3])
    floor.command("void_round", PIT, reason="new shoe")
    floor.command("close_shoe", PIT, cards_left=46)
    floor.command("load_shoe", deck_set=3)
    floor.command("confirm_shuffle", cut_depth=20)
    code = PrintedCode(version=CodeVersion.CARD, number=1, deck_set=3, serial=101)
    floor.report(kind="card_seen", code=code.digits, reason=None)
    assert floor.live().view["shoe"]["first_card"] == "AS"


def test_a_shoe_that_comes_out_as_an_earlier_one_stops_the_table_and_calls_the_pit(both):
    floor = with_setup(both, order_run=6)
    floor.to_dealt()
    floor.command("void_round", PIT, reason="end of the day")
    floor.command("close_shoe", PIT, cards_left=floor.state().shoe.in_shoe)
    floor.command("load_shoe", deck_set=1)
    floor.command("confirm_shuffle", cut_depth=20)
    floor.show("2S", "KS", "KH")
    floor.command("start_round")
    floor.show("3S", *HANDS[:2])
    assert not floor.state().stopped, "five cards as before are still chance"
    floor.show(HANDS[2])
    assert floor.state().stopped
    assert floor.alarm_codes() == ["shoe_order"]
    assert floor.live().view["instruction"]["code"] == "stopped"
    floor.command("resume", PIT, reason="looked at the shoe")
    assert floor.alarm_codes() == []
    floor.show(HANDS[3])
    assert not floor.state().stopped, "said once a shoe"


def test_orders_are_not_watched_where_the_settings_say_so(both):
    floor = with_setup(both, order_run=0)
    floor.to_play()
    floor.command("start_round")
    floor.show("3S", "4S", "5S", "6S", "7S", "8S", "9S", "TS", "JS", "QS")
    assert not floor.state().stopped
