"""Whoever writes a reason is told when players can read it: the screens know the right commands."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from studio.services.ports import Role
from studio.services.table_commands import COMMANDS
from studio.store.tables import event
from tests.services.test_keying import CARD, unread
from tests.services.test_proposing import EXCHANGED, correct, one_round
from tests.support.floor import HANDS, OTHER_PIT, PIT, Floor

SCRIPTS = Path(__file__).parents[2] / "static" / "js"
REASON = "the cup fell over"


def told() -> set[str]:
    """Return the commands of which the screens say that players can read their reason."""
    found = re.search(r"LOGGED = new Set\((\[.*?\])\)", (SCRIPTS / "reasons.js").read_text())
    assert found is not None
    return set(json.loads(found[1]))


def keyed(floor: Floor) -> dict[str, object]:
    picture = unread(floor)
    floor.command("key_card", digits=CARD)
    return {"digits": CARD, "picture": picture}


def locked(floor: Floor) -> None:
    floor.command("take_seat")
    floor.command("lock", PIT, reason="before")


def stopped(floor: Floor) -> None:
    floor.to_betting()
    floor.command("stop")


def held(floor: Floor) -> None:
    floor.to_betting()
    floor.show("3S", *HANDS, "JC")


def settled(floor: Floor) -> dict[str, object]:
    one_round(floor)
    return {"round_id": floor.round_id, "version": 1}


def refundable(floor: Floor) -> dict[str, object]:
    one_round(floor)
    return {"rounds": {floor.round_id: 1}}


def proposed(floor: Floor) -> dict[str, object]:
    one_round(floor)
    correct(floor, actor=OTHER_PIT)
    return {"proposal": floor.state().correction.proposed.id}


READY: dict[str, Callable[[Floor], dict[str, object] | None]] = {
    "stop": Floor.to_betting,
    "close_shoe": lambda floor: floor.to_play() or {"cards_left": floor.state().shoe.in_shoe},
    "void_round": Floor.to_betting,
    "correct_round": lambda floor: settled(floor) | {"cards": EXCHANGED},
    "void_settled": settled,
    "refund_rounds": refundable,
    "approve_correction": proposed,
    "drop_correction": proposed,
    "confirm_key": keyed,
    "drop_key": lambda floor: keyed(floor) and None,
    "release_held": held,
    "resume": stopped,
    "free_seat": Floor.to_play,
    "lock": Floor.to_play,
    "unlock": locked,
}


def test_every_command_of_a_supervisor_is_here():
    assert set(READY) == {
        name for name, spec in COMMANDS.items() if Role.PIT_SUPERVISOR in spec.roles
    }


@pytest.mark.parametrize("name", READY)
def test_the_screens_say_that_players_can_read_a_reason_when_it_is_in_the_log(floor, name):
    more = READY[name](floor) or {}
    floor.command(name, PIT, reason=REASON, **more)
    with floor.engine.connect() as connection:
        bodies = connection.execute(event.select()).mappings().all()
    assert (REASON in repr([row["body"] for row in bodies])) == (name in told())


TRAIL_ONLY = {"disabling.js", "evidence.js", "owed.js", "pictures.js", "pit.js"}
"""What these ask why, of no command at a table, stays with the house."""


def test_every_other_field_for_a_reason_is_made_where_this_is_known():
    asking = {one.name for one in SCRIPTS.glob("*.js") if 'name: "reason"' in one.read_text()}
    assert asking == {"reasons.js", *TRAIL_ONLY}
