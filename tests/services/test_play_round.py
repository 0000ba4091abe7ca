"""Whole rounds in play money through the real store: a room, a leave, the money after it."""

from collections.abc import Mapping

import pytest

from studio.domain.game import Json
from tests.support.floor import HANDS, PIT
from tests.support.playfloor import AYA, BEN, CHO, PURSE_MINOR, PlayFloor


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def play(request: pytest.FixtureRequest) -> PlayFloor:
    made = PlayFloor(engine=request.getfixturevalue(f"{request.param}_engine"))
    made.furnish()
    return made


LOSERS = ("2H", "3C", "9C", "KD", "5S", "4D", "QH", "KC", "2D", "QD", "5D", "4C")
"""P1 holds 2 and P2 3; the banker's pair of fours is an 8 and takes double."""

WINNERS = ("9H", "6C", "9C", "KD", "5S", "2C", "QH", "7C", "2D", "QD", "5D", "AC")
"""P1..P5, banker, twice: P1 holds 9, the banker 3."""


def endings(play: PlayFloor) -> Mapping[tuple[int, str], int]:
    """Return the payouts of the latest round by player and bet."""
    with play.units.read() as unit:
        wagers = unit.wagers.of_round(play.round_id)
    return {(one.player_id, one.bet): one.ending.payout_minor for one in wagers}


def nets(play: PlayFloor) -> Mapping[str, str]:
    settled = next(e["body"] for e in play.live().envelopes() if e["kind"] == "RoundSettled")
    return {result["bet"]: result["net"] for result in settled["results"]}


def test_a_round_in_which_one_leaves_pays_the_others_and_keeps_the_ledger_at_nought(play):
    room = play.room_of(AYA, BEN, CHO)
    play.rooms.start(AYA, room_id=room["id"])
    play.to_betting()
    play.bet("p3", 500, player=AYA)
    play.bet("p3", 500, player=BEN)
    play.bet("p3_pair", 200, player=BEN)
    play.bet("p3", 400, player=CHO)
    play.show("3S", *HANDS)
    play.close()
    assert play.rooms.leave(BEN, room_id=room["id"]) == {"forfeited_minor": 700, "wagers": 2}
    play.finish()
    won = nets(play)
    paid = endings(play)
    assert paid[BEN.id, "p3"] == min(500, 1_000 + int(500 * float(won["p3"])))
    assert paid[BEN.id, "p3_pair"] == 0
    assert paid[AYA.id, "p3"] == 1_000 + int(500 * float(won["p3"]))
    assert paid[CHO.id, "p3"] == 800 + int(400 * float(won["p3"]))
    assert play.money(BEN) == (PURSE_MINOR - 1_200 + paid[BEN.id, "p3"], 0)
    assert play.ledger_sum() == 0
    assert play.faults() == []
    wagers: list[Mapping[str, Json]] = play.mine(AYA)["room"]["round"]["wagers"]
    assert [(one["name"], one["bet"], one["forfeited"]) for one in wagers] == [
        ("Aya", "p3", False),
        ("Ben", "p3", True),
        ("Ben", "p3_pair", True),
        ("Cho", "p3", False),
    ]
    assert all(one["ending"]["kind"] == "settled" for one in wagers)


def test_a_forfeited_wager_that_would_have_won_gives_only_the_deposit_back(play):
    """Both bet the same on the same spot, and it wins."""
    room = play.started_room(AYA, BEN)
    play.to_betting()
    play.bet("p1", 500, player=AYA)
    play.bet("p1", 500, player=BEN)
    play.rooms.leave(BEN, room_id=room["id"])
    play.show("3S", *WINNERS)
    play.close()
    play.finish()
    assert int(nets(play)["p1"]) > 0
    assert play.money(AYA)[0] > PURSE_MINOR
    assert play.money(BEN) == (PURSE_MINOR - 500, 0)
    settled = next(e["body"] for e in play.live().envelopes() if e["kind"] == "RoundSettled")
    assert settled["payouts_minor"] == sum(endings(play).values())
    assert play.ledger_sum() == 0
    assert play.faults() == []


def test_a_void_after_a_forfeit_gives_everything_back_to_everybody(play):
    room = play.started_room(AYA, BEN)
    play.to_betting()
    play.bet("p1", 500, player=AYA)
    play.bet("p2", 700, player=BEN)
    play.rooms.leave(BEN, room_id=room["id"])
    play.command("void_round", PIT, reason="misdeal")
    assert play.money(AYA) == play.money(BEN) == (PURSE_MINOR, 0)
    assert play.rooms.leave(BEN, room_id=room["id"]) == {"forfeited_minor": 700, "wagers": 1}
    assert play.mine(AYA)["room"]["round"]["wagers"][1]["ending"] == {
        "kind": "refunded",
        "payout_minor": 1_400,
    }
    assert play.ledger_sum() == 0
    assert play.faults() == []


def test_a_forfeit_that_empties_the_purse_fills_it_up_at_the_settlement(play):
    room = play.started_room(AYA, BEN)
    play.to_betting()
    play.bet("p1", 5_000, player=BEN)
    play.bet("p2", 5_000, player=BEN)
    play.rooms.leave(BEN, room_id=room["id"])
    assert play.money(BEN) == (0, PURSE_MINOR)
    play.show("3S", *LOSERS)
    play.close()
    play.publisher.wallets.clear()
    play.finish()
    assert play.money(BEN) == (PURSE_MINOR, 0)
    assert dict(play.publisher.wallets)[BEN.id]["refilled"] is True
    assert play.faults() == []


def test_a_restart_in_the_middle_changes_nothing(play):
    room = play.started_room(AYA, BEN)
    play.to_betting()
    play.bet("p1", 500, player=BEN)
    play.rooms.leave(BEN, room_id=room["id"])
    again = PlayFloor(engine=play.engine, clock=play.clock, reports=play.reports)
    assert again.mine(AYA)["room"]["id"] == room["id"]
    again.show("3S", *WINNERS)
    again.close()
    again.finish()
    assert again.money(BEN) == (PURSE_MINOR - 500, 0)
    assert again.rooms.leave(BEN, room_id=room["id"]) == {"forfeited_minor": 500, "wagers": 1}
    assert again.faults() == []


def test_a_correction_keeps_forfeited_stakes_lost_and_a_void_gives_them_back(play):
    """The hand lost twice the stake as it was read; in truth it had won."""
    room = play.started_room(AYA, BEN)
    play.to_betting()
    play.bet("p1", 500, player=AYA)
    play.bet("p1", 500, player=BEN)
    play.rooms.leave(BEN, room_id=room["id"])
    play.show("3S", *LOSERS)
    play.close()
    play.finish()
    assert endings(play) == {(AYA.id, "p1"): 0, (BEN.id, "p1"): 0}
    play.publisher.wallets.clear()
    wanted = {"round_id": play.round_id, "reason": "misread"}
    play.command("correct_round", PIT, version=1, cards={"P1/0": "9H"}, **wanted)
    play.carry_out()
    assert endings(play) == {(AYA.id, "p1"): 2_000, (BEN.id, "p1"): 500}
    assert play.money(BEN) == (PURSE_MINOR - 500, 0)
    told = [message for player, message in play.publisher.wallets if player == BEN.id]
    assert [(one["reason"], one["payout_minor"]) for one in told] == [
        ("correction_due", 500),
        ("corrected", 500),
    ]
    play.command("void_settled", PIT, version=2, **wanted)
    play.carry_out()
    assert play.money(AYA) == play.money(BEN) == (PURSE_MINOR, 0)
    assert play.ledger_sum() == 0
    assert play.faults() == []
