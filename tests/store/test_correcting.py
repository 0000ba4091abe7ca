"""Corrections of settled rounds: every wager once a version, sums that close, no wallet below 0."""

import threading
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest
from sqlalchemy import event, select

from studio.domain.errors import InvariantError, RefusedError
from studio.services.choice_ports import OpenBook
from studio.services.correction_ports import PayoutChange
from studio.services.ports import EndingKind
from studio.services.retry import again
from studio.store import audit_corrections
from studio.store.correction_tables import player_owed
from studio.store.tables import LEG_HOUSE, LEG_OWED, LEG_REVERSAL, LEG_SHORT, LEG_WALLET, entry
from tests.store.house import House

PATIENCE_S = 60
WON = {"p1": Fraction(1), "p2": Fraction(1)}
LOST = {"p1": Fraction(-1), "p2": Fraction(-1)}


def correct(house: House, round_id: str, nets, *, version: int = 2):
    with house.units.write() as unit:
        seen = unit.wagers.would_correct(round_id, version=version, nets=nets)
        booked = unit.wagers.correct(round_id, version=version, nets=nets)
        phase = "void" if nets is None else "settled"
        unit.rounds.update_phase(round_id, phase, settlement_version=version)
        unit.commit()
    assert seen == booked
    return booked


def cash_out(house: House, player: int) -> None:
    with house.units.write() as unit:
        unit.ledger.cash(
            id=f"00000000-0000-0000-0000-{player:012d}",
            player_id=player,
            amount_minor=-unit.ledger.balance(player).balance_minor,
            reason="home",
            by=1,
        )
        unit.commit()


def owed(house: House, player: int) -> int:
    with house.units.read() as unit:
        return unit.ledger.balance(player).owed_minor


def faults(house: House) -> list[str]:
    with house.units.inspect() as inspection:
        codes = [fault.code for fault in inspection.money()]
    # The clock of these houses stands before their rounds open.
    return [code for code in codes if code != "accepted_untimely"]


@pytest.fixture
def won(house):
    """A settled round: two wagers of the first player, one of the second, all won."""
    round_id = house.round()
    first, second = house.player(1_000), house.player(1_000)
    for player, bet in ((first, "p1"), (first, "p2"), (second, "p1")):
        house.place(house.request(round_id, player, bet=bet))
    taken = house.place(house.request(round_id, second, bet="p2"))
    house.undo(taken.wager.id, second)
    house.settle(round_id, WON)
    assert [house.money(player)[0] for player in (first, second)] == [1_200, 1_100]
    return round_id, first, second


def test_a_correction_takes_back_and_pays_anew(house, won):
    round_id, first, second = won
    booked = correct(house, round_id, LOST)
    assert [house.money(player) for player in (first, second)] == [(800, 0), (900, 0)]
    assert (booked.count, booked.players) == (3, 2)
    assert (booked.paid_minor, booked.taken_minor, booked.owed_minor) == (0, 600, 0)
    assert [(bet.bet, bet.before_minor, bet.after_minor) for bet in booked.bets] == [
        ("p1", 600, 200),
        ("p2", 300, 100),
    ]
    with house.units.read() as unit:
        changes = unit.wagers.payout_changes(round_id, version=2)
    assert changes[first] == PayoutChange(before_minor=600, after_minor=200)
    assert house.ledger_sum() == 0
    assert faults(house) == []


def test_a_void_gives_the_whole_holds_back(house, won):
    round_id, first, second = won
    correct(house, round_id, None)
    assert [house.money(player) for player in (first, second)] == [(1_000, 0), (1_000, 0)]
    with house.units.read() as unit:
        kinds = [wager.ending.kind for wager in unit.wagers.of_round(round_id)]
    assert kinds == [EndingKind.REFUNDED] * 3 + [EndingKind.UNDONE]
    assert faults(house) == []


def test_old_entries_stay_and_new_ones_have_legs_of_their_own(house, won):
    round_id, first, _ = won
    with house.engine.connect() as connection:
        before = set(map(tuple, connection.execute(select(entry))))
    cash_out(house, first)
    correct(house, round_id, LOST)
    with house.engine.connect() as connection:
        after = set(map(tuple, connection.execute(select(entry))))
        new = connection.execute(select(entry.c.leg).where(entry.c.version == 2)).scalars().all()
    assert before < after
    assert sorted(set(new)) == [LEG_WALLET, LEG_HOUSE, LEG_REVERSAL, LEG_SHORT, LEG_OWED]


def test_what_was_spent_is_owed_and_more_is_owed_after_more_was_spent(house, won):
    round_id, first, second = won
    cash_out(house, first)
    assert correct(house, round_id, LOST).owed_minor == 400
    assert (house.money(first), owed(house, first)) == ((0, 0), 400)
    assert owed(house, second) == 0
    correct(house, round_id, WON, version=3)
    assert (house.money(first), owed(house, first)) == ((400, 0), 400)
    correct(house, round_id, None, version=4)
    assert (house.money(first), owed(house, first)) == ((200, 0), 400)
    assert house.ledger_sum() == 0
    assert faults(house) == []


def test_a_version_ends_once_and_follows_the_one_before(house, won):
    round_id, *_ = won
    correct(house, round_id, LOST)
    for version, code in ((2, "wager_ended_twice"), (4, "version_missing")):
        with pytest.raises(InvariantError) as broken, house.units.write() as unit:
            unit.wagers.correct(round_id, version=version, nets=WON)
        assert broken.value.code == code
    assert house.ledger_sum() == 0


@pytest.mark.parametrize(
    ("nets", "code"),
    [
        ({"p1": Fraction(1)}, "bet_without_result"),
        ({"p1": Fraction(-3), "p2": Fraction(0)}, "payout_negative"),
        ({"p1": Fraction(10**18), "p2": Fraction(0)}, "payout_too_large"),
    ],
)
def test_results_that_cannot_be_paid_stop_the_unit(house, won, nets, code):
    round_id, first, _ = won
    before = house.money(first)
    with pytest.raises(InvariantError) as broken, house.units.write() as unit:
        unit.wagers.correct(round_id, version=2, nets=nets)
    assert broken.value.code == code
    assert house.money(first) == before


def test_a_round_without_wagers_is_corrected_too(house):
    round_id = house.round()
    house.settle(round_id, WON)
    assert correct(house, round_id, None).count == 0
    assert faults(house) == []


def test_the_number_of_statements_does_not_grow_with_the_wagers(house):
    def statements(players: int) -> int:
        round_id = house.round()
        for player in [house.player(1_000) for _ in range(players)]:
            house.place(house.request(round_id, player))
        house.settle(round_id, WON)
        seen: list[str] = []

        def note(_connection, _cursor, statement, *_rest) -> None:
            seen.append(statement)

        with house.units.write() as unit:
            event.listen(unit.connection, "before_cursor_execute", note)
            unit.wagers.correct(round_id, version=2, nets=LOST)
            unit.commit()
        return len(seen)

    assert statements(2) == statements(30)


def test_the_audit_finds_what_is_owed_to_differ(house, won):
    round_id, first, _ = won
    cash_out(house, first)
    correct(house, round_id, LOST)
    with house.engine.begin() as connection:
        connection.execute(player_owed.update().values(owed_minor=1))
    assert "owed_differs" in faults(house)
    with house.engine.begin() as connection:
        connection.execute(entry.delete().where(entry.c.leg.in_((LEG_OWED, LEG_REVERSAL))))
    assert {"owed_unbooked", "correction_differs"} <= set(faults(house))
    assert {check.code for check in audit_corrections.CHECKS} <= {
        "correction_differs",
        "owed_differs",
        "owed_settled_wrongly",
        "owed_unbooked",
    }


# Several rounds --------------------------------------------------------------------------------


def test_the_void_of_several_rounds_is_foretold_as_it_will_be_booked(house):
    spender, other = house.player(1_000), house.player(1_000)
    rounds = [house.round() for _ in range(3)]
    for round_id, nets in zip(rounds, (WON, LOST, WON), strict=True):
        house.place(house.request(round_id, spender))
        house.place(house.request(round_id, other, bet="p2", stake_minor=50))
        house.settle(round_id, nets)
    cash_out(house, spender)
    with house.units.read() as unit:
        foretold = unit.wagers.would_refund(rounds)
        changes = unit.wagers.player_changes(rounds, nets=None, player_id=other)
        everybody = unit.wagers.player_changes(rounds[:1], nets=LOST)
    assert [foretold.rounds[one].owed_minor for one in rounds] == [100, 0, 0]
    assert [(one.before_minor, one.after_minor) for one in changes] == [
        (150, 100),
        (50, 100),
        (150, 100),
    ]
    assert [(one.player_id, one.after_minor) for one in everybody] == [(spender, 100), (other, 50)]
    assert foretold.players == 2
    for round_id in rounds:
        booked, seen = correct(house, round_id, None), foretold.rounds[round_id]
        assert (booked.count, booked.players, booked.paid_minor, booked.taken_minor) == (
            seen.wagers,
            seen.players,
            seen.paid_minor,
            seen.taken_minor,
        )
        assert (booked.owed_minor, booked.turnover_minor, booked.payouts_minor) == (
            seen.owed_minor,
            seen.turnover_minor,
            seen.payouts_minor,
        )
    assert faults(house) == []


def test_a_wager_without_an_ending_stops_the_look_at_several_rounds(house):
    player, round_id = house.player(1_000), house.round()
    house.place(house.request(round_id, player))
    with house.units.write() as unit:
        unit.rounds.update_phase(round_id, "settled", settlement_version=1)
        unit.commit()
    with house.units.read() as unit, pytest.raises(InvariantError) as broken:
        unit.wagers.would_refund([round_id])
    assert broken.value.code == "version_missing"


def test_what_a_running_round_holds_leaves_out_what_was_taken_back(house, won):
    round_id, player = house.round(), house.player(1_000)
    house.place(house.request(round_id, player))
    taken = house.place(house.request(round_id, player, stake_minor=50))
    house.undo(taken.wager.id, player)
    with house.units.read() as unit:
        assert unit.wagers.standing(round_id) == OpenBook(count=1, players=1, held_minor=200)
        assert unit.wagers.standing(won[0]) == OpenBook(count=0, players=0, held_minor=0)


# A wager in flight -----------------------------------------------------------------------------


@pytest.mark.postgresql
def test_a_correction_waits_for_its_players_wager_in_flight(postgresql_engine, house_on):
    """The wager of a round that runs holds the player's row; then both count."""
    house = house_on(postgresql_engine)
    player, settled = house.player(1_000), house.round()
    house.place(house.request(settled, player))
    house.settle(settled, WON)
    running, done = house.round(), threading.Event()

    def book() -> int:
        booked = again(lambda: correct(house, settled, LOST))
        done.set()
        return booked.owed_minor

    with ThreadPoolExecutor(1) as pool:
        with house.units.write() as unit:
            unit.wagers.place(house.request(running, player, stake_minor=450))
            booking = pool.submit(book)
            assert not done.wait(timeout=0.3)
            unit.commit()
        assert booking.result(timeout=PATIENCE_S) == 0
    assert house.money(player) == (1_000 - 900 - 100, 900)
    assert house.ledger_sum() == 0
    assert faults(house) == []


@pytest.mark.postgresql
def test_a_wager_waits_for_its_players_correction_and_cannot_spend_what_it_took(
    postgresql_engine, house_on
):
    house = house_on(postgresql_engine)
    player, settled = house.player(1_000), house.round()
    house.place(house.request(settled, player))
    house.settle(settled, WON)
    running, done = house.round(), threading.Event()

    def place() -> str:
        try:
            again(lambda: house.place(house.request(running, player, stake_minor=550)))
        except RefusedError as refusal:
            return refusal.code
        finally:
            done.set()
        return ""

    with ThreadPoolExecutor(1) as pool:
        with house.units.write() as unit:
            unit.wagers.correct(settled, version=2, nets=LOST)
            unit.rounds.update_phase(settled, "settled", settlement_version=2)
            placing = pool.submit(place)
            assert not done.wait(timeout=0.3)
            unit.commit()
        assert placing.result(timeout=PATIENCE_S) == "balance_short"
    assert house.money(player) == (900, 0)
    assert house.ledger_sum() == 0
    assert faults(house) == []
