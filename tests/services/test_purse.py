"""The purse: full at the beginning, full again when too little is left, once each time."""

import uuid
from collections.abc import Mapping
from fractions import Fraction

import pytest
from sqlalchemy import event

from studio.domain.errors import MalformedError
from studio.domain.game import Json
from studio.domain.money import CURRENCIES
from studio.games import GAMES, by_code
from studio.services.club_data import Tally
from studio.services.people_ports import Person
from studio.services.ports import Actor, Role
from studio.services.purse import Purse, smallest_bet_minor
from studio.services.setup import BetLimits
from tests.support.fakes import Recorder
from tests.support.floor import HANDS, PIT, setup_of
from tests.support.playfloor import AYA, BEN, CHO, PURSE_MINOR, G, PlayFloor

NOBODY = 900


class FakeClub:
    """Counts what it is told; gives a medal for the first of each tally."""

    def __init__(self) -> None:
        self.counts: list[tuple[tuple[int, ...], str, str | None]] = []
        self.rounds: list[str] = []
        self.given: Mapping[int, Mapping[str, Json]] = {}

    def settled(self, job, round_id, description) -> Mapping[int, Mapping[str, Json]]:
        self.rounds.append(round_id)
        return self.given

    def corrected(self, job, event, description) -> Mapping[int, Mapping[str, Json]]:
        return {}

    def counted(self, unit, player_ids, tally, *, at_ms, round_id=None):
        self.counts.append((tuple(player_ids), tally.value, round_id))
        return {player_id: (f"first_{tally.value}",) for player_id in player_ids}


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def play(request: pytest.FixtureRequest) -> PlayFloor:
    made = PlayFloor(engine=request.getfixturevalue(f"{request.param}_engine"), club=FakeClub())
    made.furnish()
    return made


def spend(play: PlayFloor, player, minor: int) -> None:
    """Take play money out of a wallet."""
    with play.units.write() as unit:
        unit.ledger.cash(
            id=str(uuid.uuid4()), player_id=player.id, amount_minor=-minor, reason="t", by=1
        )
        unit.commit()


def purse_transfers(play: PlayFloor) -> int:
    with play.engine.connect() as connection:
        return connection.exec_driver_sql(
            "SELECT count(*) FROM transfer WHERE kind = 'purse'"
        ).scalar_one()


def settle_one(play: PlayFloor) -> None:
    play.show("3S", *HANDS)
    play.close()
    play.finish()


def test_the_smallest_bet_counts_its_deposit():
    games = by_code(GAMES)
    pair = BetLimits(min_minor=300, max_minor=1_000)
    main = BetLimits(min_minor=100, max_minor=1_000)
    limits = {"main": main, "pair": pair}
    assert smallest_bet_minor({"T1": setup_of(limits=limits)}, games) == 200
    cheap = setup_of(limits={"main": main, "pair": BetLimits(min_minor=50, max_minor=1_000)})
    assert smallest_bet_minor({"T1": setup_of(limits=limits), "T2": cheap}, games) == 50


def test_a_purse_that_pays_no_bet_stops_the_start():
    with pytest.raises(MalformedError) as wrong:
        Purse(units=None, publisher=Recorder(), purse_minor=99, smallest_minor=100)
    assert wrong.value.code == "purse_too_small"
    assert "play.purse_minor is 99" in wrong.value.message


def test_whoever_comes_in_for_the_first_time_gets_a_full_purse(play):
    play.play.purse.greet(NOBODY)
    assert play.publisher.wallets == [
        (
            NOBODY,
            {
                "balance_minor": PURSE_MINOR,
                "held_minor": 0,
                "reason": "purse",
                "round_id": None,
                "refilled": True,
            },
        )
    ]
    assert play.club.counts == []  # the first purse is no refill
    assert play.faults() == []


@pytest.mark.parametrize(("left_minor", "filled"), [(0, True), (99, True), (100, False)])
def test_a_purse_is_filled_up_below_the_smallest_bet_and_not_at_it(play, left_minor, filled):
    spend(play, AYA, PURSE_MINOR - left_minor)
    for _ in range(2):
        play.play.purse.greet(AYA.id)
    assert play.money(AYA) == ((PURSE_MINOR if filled else left_minor), 0)
    assert len(play.publisher.wallets) == filled
    if filled:
        assert play.publisher.wallets[0][1]["medals"] == ["first_refills"]
        assert play.club.counts == [((AYA.id,), Tally.REFILLS.value, None)]
    assert play.faults() == []


def test_what_is_held_counts_as_the_players(play):
    spend(play, AYA, PURSE_MINOR - 200)
    play.to_betting()
    play.bet("p1", 100, player=AYA)
    assert play.money(AYA) == (0, 200)
    play.play.purse.greet(AYA.id)
    assert play.money(AYA) == (0, 200)


def person_of(role: Role) -> Person:
    return Person(
        id=NOBODY,
        username="x",
        display_name="X",
        role=role,
        badge=None,
        language="en",
        active=True,
        created_ms=0,
        games=frozenset(),
    )


@pytest.mark.parametrize("role", list(Role))
def test_only_players_have_a_purse(play, role):
    before = purse_transfers(play)
    play.play.greet(person_of(role))
    assert purse_transfers(play) - before == (role is Role.PLAYER)


# At the settlement ------------------------------------------------------------------------------


def lose_all(play: PlayFloor, *players) -> str:
    """Bet the last of these players' money on p1, which loses; return the round's id."""
    for player in players:
        spend(play, player, PURSE_MINOR - 200)
    play.to_betting()
    for player in players:
        play.bet("p1", 100, player=player)
    settle_one(play)
    return play.round_id


def test_the_round_that_empties_a_purse_fills_it_up_in_the_same_commit(play):
    before = purse_transfers(play)
    play.club.given = {AYA.id: {"medals": ["ten_rounds"]}, BEN.id: {"medals": ["ten_rounds"]}}
    play.to_betting()
    play.bet("p5", 100, player=BEN)  # keeps enough
    play.bet("p3", 100, player=CHO)
    spend(play, AYA, PURSE_MINOR - 200)
    play.bet("p1", 100, player=AYA)
    play.publisher.wallets.clear()
    settle_one(play)
    told = dict(play.publisher.wallets)
    assert told[AYA.id] == {
        "balance_minor": PURSE_MINOR,
        "held_minor": 0,
        "reason": "settled",
        "round_id": play.round_id,
        "refilled": True,
        "medals": ["ten_rounds", "first_refills"],
    }
    assert told[BEN.id]["medals"] == ["ten_rounds"]
    assert "refilled" not in told[BEN.id]
    assert set(told[CHO.id]) == {"balance_minor", "held_minor", "reason", "round_id"}
    assert play.money(AYA) == (PURSE_MINOR, 0)
    assert purse_transfers(play) - before == 1
    assert play.club.rounds == [play.round_id]
    assert play.club.counts == [((AYA.id,), "refills", play.round_id)]
    assert play.ledger_sum() == 0
    assert play.faults() == []


def test_several_at_once_are_filled_up_each_once(play):
    before = purse_transfers(play)
    lose_all(play, AYA, BEN, CHO)
    assert [play.money(player) for player in (AYA, BEN, CHO)] == [(PURSE_MINOR, 0)] * 3
    assert purse_transfers(play) - before == 3
    for player in (AYA, BEN, CHO):
        play.play.purse.greet(player.id)
    play.tables.tick("T1")
    assert purse_transfers(play) - before == 3
    assert play.faults() == []


def statements_to_fill_up(play: PlayFloor, *players: Actor) -> int:
    """Return how many statements it takes to fill up the purses of these losers of a round."""
    for player in players:
        if play.money(player)[0] > 200:
            spend(play, player, play.money(player)[0] - 200)
    play.command("start_round")
    for player in players:
        play.bet("p1", 100, player=player)
    seen: list[str] = []

    def note(_connection, _cursor, statement, *_rest) -> None:
        seen.append(statement)

    with play.units.write() as unit:  # rolled back
        unit.wagers.settle(play.round_id, version=1, nets={"p1": Fraction(-2)})
        event.listen(play.engine, "before_cursor_execute", note)
        filled = unit.ledger.fill_up_round(play.round_id, below_minor=100, to_minor=PURSE_MINOR)
        event.remove(play.engine, "before_cursor_execute", note)
    assert list(filled) == [player.id for player in players]
    play.command("void_round", PIT, reason="test")
    return len(seen)


def test_filling_up_takes_as_many_statements_for_many_as_for_one(play):
    play.to_play()
    assert statements_to_fill_up(play, AYA) == statements_to_fill_up(play, AYA, BEN, CHO)


def test_a_void_fills_nothing_up_and_counts_nothing(play):
    spend(play, AYA, PURSE_MINOR - 200)
    before = purse_transfers(play)
    play.to_betting()
    play.bet("p1", 100, player=AYA)
    play.command("void_round", PIT, reason="misdeal")
    assert play.money(AYA) == (200, 0)
    assert purse_transfers(play) == before
    assert play.club.rounds == []


def test_without_a_club_nothing_is_counted(sqlite_engine):
    made = PlayFloor(engine=sqlite_engine)
    made.furnish()
    lose_all(made, AYA)
    assert dict(made.publisher.wallets)[AYA.id]["refilled"] is True
    assert "medals" not in dict(made.publisher.wallets)[AYA.id]


def test_a_started_room_is_counted_for_its_owner_who_is_told_of_a_medal(play):
    room = play.room_of(AYA, BEN)
    for _ in range(2):
        play.rooms.start(AYA, room_id=room["id"])
    assert play.club.counts == [((AYA.id,), "rooms_started", None)]
    assert play.publisher.wallets == [
        (
            AYA.id,
            {
                "balance_minor": PURSE_MINOR,
                "held_minor": 0,
                "reason": "medals",
                "round_id": None,
                "medals": ["first_rooms_started"],
            },
        )
    ]


def test_play_money_is_marked_and_money_is_not():
    assert {code for code, currency in CURRENCIES.items() if currency.play} == {"G", "PLAY"}
    assert G.format(100_000) == "1,000.00"
