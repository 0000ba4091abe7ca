"""Deck sets, scanner reports, alarms, trail, answers to commands, cash."""

import uuid

import pytest

from studio.domain.errors import MalformedError, RefusedError
from studio.services.ports import Actor, Balance, DeckSet, Role
from studio.services.retry import TryAgainError
from studio.store.units import SqlUnits
from tests.store.house import House


def test_a_deck_set_is_registered_once_with_its_manifest(house):
    deck_set = DeckSet(number=3, decks=1, manifest={serial: serial for serial in range(1, 53)})
    with house.units.write() as unit:
        unit.deck_sets.register(deck_set)
        unit.commit()
    with house.units.write() as unit, pytest.raises(RefusedError) as refused:
        unit.deck_sets.register(deck_set)
    assert refused.value.code == "deck_set_registered"
    with house.units.read() as unit:
        assert unit.deck_sets.get(3) == deck_set
        assert unit.deck_sets.get(4) is None
        assert unit.deck_sets.numbers() == [3]


def take(house: House, report_id: str, digest: str) -> bool:
    with house.units.write() as unit:
        taken = unit.reports.take(device="cam1", report_id=report_id, digest=digest, at_ms=1)
        unit.commit()
    return taken


def test_a_report_is_taken_once(house):
    assert take(house, "cam1-1", "a" * 64) is True
    assert take(house, "cam1-1", "a" * 64) is False
    assert take(house, "cam1-2", "a" * 64) is True
    with pytest.raises(RefusedError) as refused:
        take(house, "cam1-1", "b" * 64)
    assert refused.value.code == "report_id_reused"


def raise_alarm(house: House, code: str, *, priority: int = 1, at_ms: int = 1) -> None:
    with house.units.write() as unit:
        unit.alarms.raise_alarm(
            priority=priority,
            code=code,
            table="T1",
            round_id=None,
            at_ms=at_ms,
            details={"link": "scanner"},
        )
        unit.commit()


def test_an_alarm_is_raised_once_until_its_cause_is_gone(house):
    raise_alarm(house, "scanner_lost")
    raise_alarm(house, "scanner_lost")
    with house.units.read() as unit:
        (first,) = unit.alarms.open()
    assert first.details == {"link": "scanner"}
    with house.units.write() as unit:
        unit.alarms.clear(table="T2", codes=["scanner_lost"], at_ms=2)
        unit.alarms.clear(table="T1", codes=["video_lost"], at_ms=2)
        unit.commit()
    with house.units.read() as unit:
        assert unit.alarms.open() == [first]
    with house.units.write() as unit:
        unit.alarms.clear(table="T1", codes=["video_lost", "scanner_lost"], at_ms=2)
        unit.commit()
    raise_alarm(house, "scanner_lost", at_ms=3)
    with house.units.read() as unit:
        assert [each.raised_ms for each in unit.alarms.open()] == [3]


def test_alarms_come_most_urgent_first_then_untaken_then_oldest(house):
    for code, priority, at_ms in (("a", 2, 1), ("b", 1, 5), ("c", 1, 4), ("d", 1, 3)):
        raise_alarm(house, code, priority=priority, at_ms=at_ms)
    with house.units.read() as unit:
        oldest = next(each for each in unit.alarms.open() if each.code == "d")
    with house.units.write() as unit:
        taken = unit.alarms.acknowledge(oldest.id, by="Mori", at_ms=9)
        unit.commit()
    assert (taken.acknowledged_by, taken.acknowledged_ms) == ("Mori", 9)
    with house.units.read() as unit:
        assert [each.code for each in unit.alarms.open()] == ["c", "b", "d", "a"]


def test_an_alarm_is_taken_by_one_person(house):
    raise_alarm(house, "scanner_lost")
    with house.units.read() as unit:
        (alarm,) = unit.alarms.open()
    with house.units.write() as unit:
        unit.alarms.acknowledge(alarm.id, by="Mori", at_ms=9)
        unit.commit()
    for alarm_id, code in ((alarm.id, "alarm_acknowledged"), (404, "unknown_alarm")):
        with house.units.write() as unit, pytest.raises(RefusedError) as refused:
            unit.alarms.acknowledge(alarm_id, by="Kato", at_ms=10)
        assert refused.value.code == code


def test_the_trail_is_read_newest_first_in_pages(house):
    actor = Actor(id=4, name="Mori", role=Role.PIT_SUPERVISOR)
    with house.units.write() as unit:
        for number in range(3):
            unit.trail.write(
                at_ms=number,
                actor=actor,
                action="void_round",
                subject=f"round {number}",
                reason="あ",
                before={"phase": "betting"},
                after={"phase": "void"},
            )
        unit.commit()
    with house.units.read() as unit:
        page = unit.trail.read(limit=2, before_id=None)
        assert [each.subject for each in page] == ["round 2", "round 1"]
        (last,) = unit.trail.read(limit=2, before_id=page[-1].id)
    assert (last.actor, last.actor_id, last.reason) == ("Mori", 4, "あ")
    assert (last.before, last.after) == ({"phase": "betting"}, {"phase": "void"})


def test_a_command_is_answered_from_its_first_answer(house):
    id, digest = str(uuid.uuid4()), "a" * 64
    with house.units.write() as unit:
        assert unit.commands.find(id=id, digest=digest) is None
        unit.commands.store(id=id, digest=digest, at_ms=1, answer={"events": [1, 2]})
        unit.commit()
    with house.units.read() as unit:
        assert unit.commands.find(id=id, digest=digest) == {"events": [1, 2]}
        with pytest.raises(RefusedError) as refused:
            unit.commands.find(id=id, digest="b" * 64)
    assert refused.value.code == "command_id_reused"
    with house.units.write() as unit, pytest.raises(TryAgainError):
        unit.commands.store(id=id, digest=digest, at_ms=2, answer={})


# Cash ------------------------------------------------------------------------------------------


def cash(house: House, player: int, amount_minor: int, *, id: str | None = None, reason="bar"):
    with house.units.write() as unit:
        cashed = unit.ledger.cash(
            id=id or str(uuid.uuid4()),
            player_id=player,
            amount_minor=amount_minor,
            reason=reason,
            by=9,
        )
        unit.commit()
    return cashed


def test_cash_moves_in_and_out_and_the_ledger_still_sums_to_zero(house):
    player = house.player()
    first = cash(house, player, 500)
    assert (first.before.balance_minor, first.after.balance_minor) == (0, 500)
    assert cash(house, player, -200).after == Balance(balance_minor=300, held_minor=0)
    assert house.money(player) == (300, 0)
    assert house.ledger_sum() == 0


def test_no_more_cash_goes_out_than_is_there(house):
    player = house.player(300)
    for who, have in ((player, 300), (house.player(), 0)):
        with pytest.raises(RefusedError) as refused:
            cash(house, who, -301)
        assert refused.value.code == "balance_short"
        assert refused.value.details == {"needed_minor": 301, "balance_minor": have}
    assert cash(house, player, -300).after.balance_minor == 0


def test_cash_moves_once_per_id(house):
    player, other, id = house.player(), house.player(100), str(uuid.uuid4())
    cash(house, player, 500, id=id)
    again = cash(house, player, 500, id=id)
    assert (again.repeated, again.after.balance_minor) == (True, 500)
    for who, amount_minor, reason in (
        (player, 501, "bar"),
        (other, 500, "bar"),
        (player, 500, "x"),
    ):
        with pytest.raises(RefusedError) as refused:
            cash(house, who, amount_minor, id=id, reason=reason)
        assert refused.value.code == "transfer_id_reused"
    assert house.money(player) == (500, 0)
    assert house.money(other) == (100, 0)


def test_a_database_keeps_its_currency(house):
    house.player(100)
    with pytest.raises(MalformedError) as wrong:
        SqlUnits(house.engine, clock=house.clock, currency="EUR")
    assert wrong.value.code == "currency_differs"
    assert "JPY" in wrong.value.message
    SqlUnits(house.engine, clock=house.clock, currency="JPY")
