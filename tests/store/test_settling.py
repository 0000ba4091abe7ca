"""Settlement and refund: exact to the unit, once, in a number of statements that never grows."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, event, func, insert, select, text, update
from sqlalchemy.exc import IntegrityError

from studio.domain.errors import InvariantError
from studio.domain.money import payout_minor
from studio.services.ports import BookSettled, EndingKind
from studio.store.tables import (
    LEG_HELD,
    AccountKind,
    account,
    entry,
    player_balance,
    transfer,
    wager,
    wager_ending,
)
from tests.store.house import House

RARE = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def house_bank(house: House) -> int:
    """Return the balance of the house's bank, folded from its entries."""
    with house.engine.connect() as connection:
        return connection.execute(
            select(func.coalesce(func.sum(entry.c.amount_minor), 0))
            .join(account, account.c.id == entry.c.account_id)
            .where(account.c.kind == AccountKind.HOUSE_BANK.value)
        ).scalar_one()


def folded(house: House, player: int) -> tuple[int, int]:
    """Return a player's (wallet, held) summed from the entries alone."""
    with house.engine.connect() as connection:
        sums = dict(
            connection.execute(
                select(account.c.kind, func.sum(entry.c.amount_minor))
                .join(entry, entry.c.account_id == account.c.id)
                .where(account.c.owner_id == player)
                .group_by(account.c.kind)
            ).all()
        )
    return int(sums.get("wallet", 0)), int(sums.get("held", 0))


def test_every_wager_is_paid_by_the_net_of_its_bet(house):
    round_id = house.round()
    winner, loser, pushed = (house.player(1_000) for _ in range(3))
    house.place(house.request(round_id, winner, bet="p1"))
    house.place(house.request(round_id, loser, bet="p2"))
    house.place(house.request(round_id, pushed, bet="p3"))
    with house.units.write() as unit:
        settled = unit.wagers.settle(
            round_id,
            version=1,
            nets={"p1": Fraction(2), "p2": Fraction(-2), "p3": Fraction(0), "p4": Fraction(1)},
        )
        unit.commit()
    assert settled == BookSettled(count=3, turnover_minor=300, payouts_minor=400 + 0 + 200)
    assert [house.money(who) for who in (winner, loser, pushed)] == [
        (1_200, 0),
        (800, 0),
        (1_000, 0),
    ]
    assert house_bank(house) == 0
    assert house.ledger_sum() == 0


def test_a_fraction_is_rounded_down_once(house):
    round_id, player = house.round(), house.player(1_000)
    house.place(house.request(round_id, player, stake_minor=5, hold_minor=5))
    house.settle(round_id, {"p1": Fraction(19, 20)})
    assert house.money(player) == (1_004, 0)
    assert house_bank(house) == -4


def test_the_largest_stake_is_paid_exactly(house):
    stake = 10**12
    round_id, player = house.round(), house.player(2 * stake)
    house.place(house.request(round_id, player, stake_minor=stake))
    house.settle(round_id, {"p1": Fraction(999_983, 1_000_000)})
    assert house.money(player) == (2 * stake + stake * 999_983 // 1_000_000, 0)


def test_a_payout_that_does_not_fit_64_bits_stops_the_unit(house):
    stake = 10**12
    round_id, player = house.round(), house.player(2 * stake)
    house.place(house.request(round_id, player, stake_minor=stake))
    with pytest.raises(InvariantError) as broken:
        house.settle(round_id, {"p1": Fraction(1, 10**7)})
    assert broken.value.code == "payout_too_large"
    assert house.money(player) == (0, 2 * stake)


def test_a_loss_beyond_the_hold_stops_the_unit(house):
    round_id, player = house.round(), house.player(1_000)
    house.place(house.request(round_id, player, stake_minor=3, hold_minor=3))
    with pytest.raises(InvariantError) as broken:
        house.settle(round_id, {"p1": Fraction(-10, 9)})
    assert broken.value.code == "payout_negative"
    assert house.money(player) == (997, 3)


def test_a_bet_without_a_result_stops_the_unit(house):
    round_id, player = house.round(), house.player(1_000)
    house.place(house.request(round_id, player, bet="p1"))
    house.place(house.request(round_id, player, bet="p2"))
    with pytest.raises(InvariantError) as broken:
        house.settle(round_id, {"p1": 1})
    assert broken.value.code == "bet_without_result"
    assert broken.value.details["bet"] == "p2"
    assert house.money(player) == (600, 400)


def test_a_round_that_does_not_exist_stops_the_unit(house):
    with pytest.raises(InvariantError) as broken:
        house.refund("T1-1-404")
    assert broken.value.code == "unknown_round"


def test_a_round_without_wagers_settles_to_nothing(house):
    round_id = house.round()
    with house.units.write() as unit:
        nothing = unit.wagers.settle(round_id, version=1, nets={"p1": Fraction(1)})
        unit.commit()
    assert nothing == BookSettled(count=0, turnover_minor=0, payouts_minor=0)
    assert house.ledger_sum() == 0


@pytest.mark.parametrize("second", ["settle", "refund"])
def test_a_round_ends_once(house, second):
    round_id, player = house.round(), house.player(1_000)
    house.place(house.request(round_id, player))
    house.settle(round_id, {"p1": 2})
    with pytest.raises(InvariantError) as broken:
        house.settle(round_id, {"p1": 2}) if second == "settle" else house.refund(round_id)
    assert broken.value.code == "wager_ended_twice"
    assert house.money(player) == (1_200, 0)


def test_an_empty_round_too_ends_once(house):
    round_id = house.round()
    house.refund(round_id)
    with pytest.raises(InvariantError) as broken:
        house.refund(round_id)
    assert broken.value.code == "wager_ended_twice"


def test_a_later_version_needs_the_earlier_one_reversed_first(house):
    round_id, player = house.round(), house.player(1_000)
    house.place(house.request(round_id, player))
    house.settle(round_id, {"p1": 2})
    with pytest.raises(InvariantError) as broken, house.units.write() as unit:
        unit.wagers.settle(round_id, version=2, nets={"p1": Fraction(1)})
    assert broken.value.code == "wager_ended_twice"


def test_the_unique_keys_alone_refuse_a_second_ending_or_leg(house):
    round_id, player = house.round(), house.player(1_000)
    house.place(house.request(round_id, player))
    house.settle(round_id, {"p1": 2})
    with house.engine.connect() as connection:
        number = connection.execute(select(wager.c.number)).scalar_one()
        ending = {"kind": "settled", "payout_minor": 400, "transfer_id": number}
        leg = {"leg": LEG_HELD, "transfer_id": number, "account_id": 1, "amount_minor": 1}
        settlement = {"kind": "settlement", "at_ms": 1, "round_id": round_id, "version": 1}
    for statement, row in (
        (insert(wager_ending), {"wager_number": number, "version": 1, **ending}),
        (insert(entry), {"origin_id": number, "version": 0, **leg}),
        (insert(entry), {"origin_id": number, "version": 1, **leg}),
        (insert(transfer), settlement),
    ):
        with pytest.raises(IntegrityError), house.units.write() as unit:
            unit.connection.execute(statement, row)


def test_no_balance_below_zero_by_the_databases_own_check(house):
    player = house.player(1)
    for column in ("balance_minor", "held_minor"):
        with pytest.raises(IntegrityError), house.units.write() as unit:
            unit.connection.execute(
                update(player_balance)
                .where(player_balance.c.player_id == player)
                .values({column: -1})
            )


def test_wagers_taken_back_stay_out_of_settlement_and_refund(house):
    for end in ("settle", "refund"):
        round_id, player = house.round(), house.player(1_000)
        kept = house.place(house.request(round_id, player))
        gone = house.place(house.request(round_id, player, bet="p2"))
        house.undo(gone.wager.id, player)
        if end == "settle":
            house.settle(round_id, {"p1": 1})
        else:
            house.refund(round_id)
        with house.units.read() as unit:
            kinds = [each.ending.kind for each in unit.wagers.of_round(round_id) if each.ending]
        last = EndingKind.SETTLED if end == "settle" else EndingKind.REFUNDED
        assert kinds == [last, EndingKind.UNDONE]
        assert house.money(player) == ((1_100, 0) if end == "settle" else (1_000, 0))
        assert kept.wager.bet == "p1"


def test_other_rounds_are_left_alone(house):
    player = house.player(1_000)
    first, second = house.round(), house.round()
    house.place(house.request(first, player))
    house.place(house.request(second, player))
    house.settle(first, {"p1": -2})
    assert house.money(player) == (600, 200)
    with house.units.read() as unit:
        assert unit.wagers.totals(second) == {"p1": (1, 100)}


def test_settlement_notices_a_held_balance_that_is_wrong(house):
    round_id, player = house.round(), house.player(1_000)
    house.place(house.request(round_id, player))
    with house.units.write() as unit:
        unit.connection.execute(update(player_balance).values(held_minor=199))
        unit.commit()
    with pytest.raises(IntegrityError):
        house.settle(round_id, {"p1": 2})
    with house.units.read() as unit:
        assert unit.wagers.totals(round_id) == {"p1": (1, 100)}


def test_settlement_notices_a_player_whose_balance_row_is_gone(house):
    round_id, player = house.round(), house.player(1_000)
    house.place(house.request(round_id, player))
    with house.units.write() as unit:
        unit.connection.execute(player_balance.delete())
        unit.commit()
    with pytest.raises(InvariantError) as broken:
        house.settle(round_id, {"p1": 2})
    assert broken.value.code == "settlement_sums_differ"


@contextmanager
def meddled(house: House, *, sqlite: str, postgresql: str) -> Iterator[None]:
    """Let the database do something else with the wallets' lines of settlements."""
    is_sqlite = house.engine.dialect.name == "sqlite"
    if is_sqlite:
        made = [sqlite]
    else:
        made = [
            "CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS"
            f" $$ BEGIN {postgresql} END $$",
            "CREATE TRIGGER meddle BEFORE INSERT ON entry FOR EACH ROW"
            " WHEN (new.leg = 2 AND new.version = 1) EXECUTE FUNCTION meddle()",
        ]
    gone = ["DROP TRIGGER meddle"] if is_sqlite else ["DROP FUNCTION meddle CASCADE"]
    for statements in (made, gone):
        with house.units.write() as unit:
            for statement in statements:
                unit.connection.exec_driver_sql(statement)
            unit.commit()
        if statements is made:
            yield


@pytest.mark.parametrize(
    ("what", "sqlite", "postgresql"),
    [
        (
            "amounts",
            "CREATE TRIGGER meddle AFTER INSERT ON entry WHEN new.leg = 2 AND new.version = 1"
            " BEGIN UPDATE entry SET amount_minor = amount_minor + 1"
            " WHERE origin_id = new.origin_id AND version = 1 AND leg = 2; END",
            "new.amount_minor := new.amount_minor + 1; RETURN new;",
        ),
        (
            "entries",
            "CREATE TRIGGER meddle BEFORE INSERT ON entry WHEN new.leg = 2 AND new.version = 1"
            " BEGIN SELECT RAISE(IGNORE); END",
            "RETURN NULL;",
        ),
    ],
)
def test_settlement_notices_when_not_what_is_due_was_written(house, what, sqlite, postgresql):
    round_id, player = house.round(), house.player(1_000)
    house.place(house.request(round_id, player))
    with (
        meddled(house, sqlite=sqlite, postgresql=postgresql),
        pytest.raises(InvariantError) as broken,
    ):
        house.settle(round_id, {"p1": 2})
    assert broken.value.code == "settlement_sums_differ"
    assert broken.value.details["what"] == what
    assert house.money(player) == (800, 200)
    assert house.ledger_sum() == 0


def test_the_working_paper_of_a_settlement_is_never_in_the_way_of_the_next(house):
    player = house.player(1_000)
    rounds = [house.round() for _ in range(3)]
    for round_id in rounds:
        house.place(house.request(round_id, player))
    with pytest.raises(InvariantError):
        house.settle(rounds[0], {"p2": 1})
    with house.units.write() as unit:
        for round_id in rounds:
            unit.wagers.settle(round_id, version=1, nets={"p1": Fraction(1)})
        unit.commit()
    assert house.money(player) == (1_300, 0)


def test_what_fits_64_bits_is_held_by_bet(house):
    """A large stake here and a fine fraction there don't meet."""
    stake = 10**12 - 1
    round_id, rich, fine = house.round(), house.player(2 * stake), house.player(1_000)
    house.place(house.request(round_id, rich, bet="p1", stake_minor=stake))
    house.place(house.request(round_id, fine, bet="p2", stake_minor=1))
    house.settle(round_id, {"p1": 1, "p2": Fraction(-1, 10**9)})
    assert house.money(rich) == (3 * stake, 0)
    assert house.money(fine) == (999, 0)


# Properties ------------------------------------------------------------------------------------

wagers_of_a_round = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from(["p1", "p2"]),
        st.integers(1, 500),
        st.booleans(),
    ),
    max_size=8,
)
nets = st.fractions(min_value=-2, max_value=11, max_denominator=100)


def _play(house: House, bets: list[tuple[int, str, int, bool]]) -> tuple[str, list[int], list[int]]:
    """Place wagers, take some back; return round, players, expected holds that stand."""
    round_id = house.round()
    players = [house.player(10_000) for _ in range(3)]
    standing = [0, 0, 0]
    for who, bet, stake_minor, takes_back in bets:
        placed = house.place(
            house.request(round_id, players[who], bet=bet, stake_minor=stake_minor)
        )
        if takes_back:
            house.undo(placed.wager.id, players[who])
        else:
            standing[who] += 2 * stake_minor
    return round_id, players, standing


@RARE
@given(bets=wagers_of_a_round)
def test_a_refund_restores_every_balance_there_was_before(house, bets):
    round_id, players, standing = _play(house, bets)
    assert [house.money(player) for player in players] == [
        (10_000 - held, held) for held in standing
    ]
    house.refund(round_id)
    assert [house.money(player) for player in players] == [(10_000, 0)] * 3
    assert house.ledger_sum() == 0


@RARE
@given(bets=wagers_of_a_round, p1=nets, p2=nets)
def test_the_database_pays_what_the_formula_says_and_the_ledger_sums_to_zero(house, bets, p1, p2):
    results = {"p1": p1, "p2": p2}
    round_id, players, _ = _play(house, bets)
    bank = house_bank(house)
    house.settle(round_id, results)
    expected = [10_000, 10_000, 10_000]
    for who, bet, stake_minor, takes_back in bets:
        if not takes_back:
            hold_minor = 2 * stake_minor
            expected[who] -= hold_minor
            expected[who] += payout_minor(
                stake_minor=stake_minor, hold_minor=hold_minor, net=results[bet]
            )
    assert [house.money(player) for player in players] == [(each, 0) for each in expected]
    assert [folded(house, player) for player in players] == [(each, 0) for each in expected]
    assert house_bank(house) - bank == 30_000 - sum(expected)
    assert house.ledger_sum() == 0


# Size ------------------------------------------------------------------------------------------


@contextmanager
def counted(engine: Engine) -> Iterator[list[str]]:
    """Collect the statements that reach the database."""
    seen: list[str] = []

    def note(connection, cursor, statement, parameters, context, executemany):
        seen.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(engine, "before_cursor_execute", note)


def fill(house: House, round_id: str, *, players: int, wagers: int) -> None:
    """Write `wagers` of `players` straight into the tables, in sets: only their number matters."""
    with house.units.write() as unit:
        connection = unit.connection
        first = connection.execute(text("SELECT coalesce(max(id), 0) FROM transfer")).scalar_one()
        account_id = connection.execute(text("SELECT max(id) FROM account")).scalar_one()
        numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :most)"
        for sql, most in (
            (
                "INSERT INTO account (id, kind, owner_id, currency) {n}"
                " SELECT :account + i, 'wallet', 1000000 + i, 'JPY' FROM n",
                players,
            ),
            (
                "INSERT INTO account (id, kind, owner_id, currency) {n}"
                " SELECT :account + :players + i, 'held', 1000000 + i, 'JPY' FROM n",
                players,
            ),
            (
                "INSERT INTO player_balance"
                " (player_id, wallet_id, held_id, balance_minor, held_minor) {n}"
                " SELECT 1000000 + i, :account + i, :account + :players + i, 0,"
                " 200 * (:wagers / :players) FROM n",
                players,
            ),
            (
                "INSERT INTO transfer (id, kind, at_ms) {n} SELECT :first + i, 'hold', 1 FROM n",
                wagers,
            ),
            (
                "INSERT INTO wager (number, id, player_id, round_id, bet, stake_minor, hold_minor,"
                " accepted_ms) {n} SELECT :first + i, {id}, 1000001 + i % :players, :round_id,"
                " 'p' || (1 + i % 5), 100, 200, 1 FROM n",
                wagers,
            ),
        ):
            postgresql = connection.dialect.name == "postgresql"
            wager_id = "CAST(md5(CAST(i AS text)) AS uuid)" if postgresql else "printf('%032x', i)"
            connection.execute(
                text(sql.format(n=numbers, id=wager_id)),
                {
                    key: value
                    for key, value in {
                        "most": most,
                        "account": account_id,
                        "players": players,
                        "wagers": wagers,
                        "first": first,
                        "round_id": round_id,
                    }.items()
                    if f":{key}" in sql + numbers
                },
            )
        if connection.dialect.name == "postgresql":
            connection.execute(
                text("SELECT setval('transfer_id_seq', (SELECT max(id) FROM transfer))")
            )
            connection.execute(
                text("SELECT setval('account_id_seq', (SELECT max(id) FROM account))")
            )
        unit.commit()


def test_100000_wagers_settle_in_as_many_statements_as_one(house):
    results = {f"p{number}": Fraction(number - 2) for number in range(1, 6)}
    single, many = house.round(), house.round()
    house.place(house.request(single, house.player(1_000)))
    with counted(house.engine) as few:
        house.settle(single, results)
    fill(house, many, players=20_000, wagers=100_000)
    with counted(house.engine) as same, house.units.write() as unit:
        settled = unit.wagers.settle(many, version=1, nets=results)
        unit.rounds.update_phase(many, "settled", settlement_version=1)
        unit.commit()
    assert settled == BookSettled(
        count=100_000,
        turnover_minor=10_000_000,
        payouts_minor=20_000 * (100 + 200 + 300 + 400 + 500),
    )
    assert len(same) == len(few)
    assert len(same) < 20
