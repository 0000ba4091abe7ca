"""One operation of each kind, at a table that a seed has played to where it is due.

An operation is made once and may then be done by any process, any number of times: ids, cards and
amounts are fixed when it is made.
"""

import uuid
from collections.abc import Callable
from contextlib import suppress
from random import Random  # noqa: TID251 - seeded by the caller
from typing import TypeAlias

from studio.domain.dealing import expected_card
from studio.domain.errors import RefusedError
from studio.domain.round import Phase
from studio.domain.table import Stage, TableState
from tests.support.fakes import ManualClock
from tests.support.floor import ADMINISTRATOR, MANIFEST, PIT, PLAYERS, Floor, code_of

Done: TypeAlias = Callable[[Floor], object]
STEPS_MAX = 400
WAGERS_MAX = 10
STAKES = range(100, 500)
MAIN_BETS = ("p1", "p2", "p3", "p4", "p5")
BETS = (*MAIN_BETS, "p1_pair", "p3_pair", "p5_pair")


def id_of(random: Random) -> str:
    return str(uuid.UUID(int=random.getrandbits(128)))


def player_of(random: Random) -> int:
    return random.randrange(len(PLAYERS))


def reach(floor: Floor, random: Random, ready: Callable[[TableState], bool]) -> None:
    """Play on, with wagers, until the table is where it should be."""
    for _ in range(STEPS_MAX):
        state = floor.state()
        if ready(state):
            return
        if window_open(floor) and random.random() < 0.4:
            wager(floor, random)
        floor.step()
    raise AssertionError("the table never came there")


def wager(floor: Floor, random: Random) -> None:
    """Place a wager, if the limits let it; one in five is taken back."""
    id, player = id_of(random), PLAYERS[player_of(random)]
    with suppress(RefusedError):
        floor.bet(random.choice(BETS), random.choice(STAKES), player=player, id=id)
        if random.random() < 0.2:
            floor.wagers.undo(player, wager_id=id)


def betting(state: TableState) -> bool:
    return state.round is not None and state.round.phase is Phase.BETTING


def window_open(floor: Floor) -> bool:
    state = floor.state()
    return betting(state) and floor.clock.now_ms() < state.round.window_closes_ms


def idle(state: TableState) -> bool:
    """A shoe lies open and no round runs."""
    return state.stage is Stage.IN_PLAY and not (state.round is not None and state.round.running)


def settled(state: TableState) -> bool:
    return state.round is not None and state.round.phase is Phase.SETTLED


def dealing(floor: Floor) -> Callable[[TableState], bool]:
    """Return what tells that a card of the round is asked for."""
    return lambda state: betting(state) and expected_card(floor.live().game, state) is not None


def a_card(floor: Floor, random: Random) -> Done:
    """Return the report of a card that is still in the shoe."""
    shoe = floor.state().shoe
    assert shoe is not None
    serial = random.choice(sorted(set(MANIFEST) - set(shoe.seen)))
    body = {
        "id": f"once-{random.getrandbits(40)}",
        "table": "T1",
        "kind": "card_seen",
        "code": code_of(serial, deck_set=shoe.deck_set),
        "reason": None,
    }
    return lambda floor: floor.devices.report("cam", body)


def load(floor: Floor, random: Random) -> Done:
    reach(floor, random, lambda state: state.shoe is None and state.dealer is not None)
    id = id_of(random)
    return lambda floor: floor.command("load_shoe", id=id, deck_set=1)


def opening(floor: Floor, random: Random) -> Done:
    reach(floor, random, idle)
    id = id_of(random)
    return lambda floor: floor.command("start_round", id=id)


def scan(floor: Floor, random: Random) -> Done:
    reach(floor, random, dealing(floor))
    return a_card(floor, random)


def held(floor: Floor, random: Random) -> Done:
    reach(floor, random, idle)
    return a_card(floor, random)


def bet(floor: Floor, random: Random) -> Done:
    reach(floor, random, lambda _: window_open(floor))
    round_id, id, player = floor.round_id, id_of(random), PLAYERS[player_of(random)]
    name, stake_minor = random.choice(MAIN_BETS), random.choice(STAKES)
    return lambda floor: floor.wagers.place(
        player, round_id=round_id, wager_id=id, bet=name, stake_minor=stake_minor
    )


def undo(floor: Floor, random: Random) -> Done:
    reach(floor, random, lambda _: window_open(floor))
    id, player = id_of(random), PLAYERS[player_of(random)]
    floor.bet(random.choice(MAIN_BETS), random.choice(STAKES), player=player, id=id)
    return lambda floor: floor.wagers.undo(player, wager_id=id)


def closing(floor: Floor, random: Random) -> Done:
    reach(floor, random, lambda state: betting(state) and state.round.started)
    for _ in range(random.randrange(WAGERS_MAX)):
        wager(floor, random)
    assert isinstance(floor.clock, ManualClock)
    floor.clock.ms = floor.state().round.window_closes_ms
    return lambda floor: floor.tables.tick("T1")


def settling(floor: Floor, random: Random) -> Done:
    """Return the last hand's reveal, which settles."""
    closing(floor, random)
    reach(floor, random, lambda state: state.round.phase is Phase.REVEAL)
    for _ in range(5):
        floor.step()
    id = id_of(random)
    return lambda floor: floor.command("reveal", id=id)


def void(floor: Floor, random: Random) -> Done:
    reach(floor, random, lambda state: state.round is not None and state.round.running)
    for _ in range(random.randrange(WAGERS_MAX)):
        if window_open(floor):
            wager(floor, random)
            floor.step()
    id = id_of(random)
    return lambda floor: floor.command("void_round", PIT, id=id, reason="a slip")


def correction(floor: Floor, random: Random) -> Done:
    """Return a correction that exchanges a card of a player's hand for one of the banker's."""
    closing(floor, random)
    reach(floor, random, settled)
    hands = {hand["position"]: hand["cards"] for hand in floor.live().view["round"]["hands"]}
    place, at, banker = random.choice(("P1", "P3", "P5")), random.randrange(2), random.randrange(2)
    faces = {f"{place}/{at}": hands["B"][banker], f"B/{banker}": hands[place][at]}
    id, round_id = id_of(random), floor.round_id
    return lambda floor: floor.command(
        "correct_round", PIT, id=id, round_id=round_id, version=1, cards=faces, reason="misread"
    )


def annulling(floor: Floor, random: Random) -> Done:
    closing(floor, random)
    reach(floor, random, settled)
    id, round_id = id_of(random), floor.round_id
    return lambda floor: floor.command(
        "void_settled", PIT, id=id, round_id=round_id, version=1, reason="a slip"
    )


def cash(floor: Floor, random: Random) -> Done:
    id, player, amount_minor = id_of(random), PLAYERS[player_of(random)], random.choice(STAKES)

    def pay_in(floor: Floor) -> None:
        with floor.units.write() as unit:
            unit.ledger.cash(
                id=id,
                player_id=player.id,
                amount_minor=amount_minor,
                reason="in",
                by=ADMINISTRATOR.id,
            )
            unit.commit()

    return pay_in


OPERATIONS: dict[str, Callable[[Floor, Random], Done]] = {
    "load": load,
    "open": opening,
    "scan": scan,
    "held": held,
    "bet": bet,
    "undo": undo,
    "close": closing,
    "settle": settling,
    "void": void,
    "correct": correction,
    "annul": annulling,
    "cash": cash,
}


def played(floor: Floor, random: Random) -> None:
    """Play up to two rounds, so that what follows has a past."""
    for _ in range(random.randrange(3)):
        reach(floor, random, idle)
        floor.step()
        reach(floor, random, settled)


def done_again(work: Done, floor: Floor) -> str:
    """Repeat an operation; return the refusal's code where a repetition is refused."""
    try:
        work(floor)
    except RefusedError as refusal:
        return refusal.code
    return ""
