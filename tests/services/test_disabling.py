"""Play that is disabled: nothing new is opened, and what runs is played to its end."""

import pytest

from studio.domain.errors import MalformedError, RefusedError
from studio.domain.round import Phase
from studio.services.disabling import DisablingService
from tests.support.floor import ADMINISTRATOR, AUDITOR, PIT


def service(floor) -> DisablingService:
    return DisablingService(
        units=floor.units, publisher=floor.publisher, games=("baccarat", "pok_deng")
    )


def disable(floor, scope="pok_deng", *, disabled=True, reason="a report", actor=ADMINISTRATOR):
    service(floor).change(actor, scope=scope, disabled=disabled, reason=reason)


@pytest.mark.parametrize("scope", ["studio", "pok_deng"])
def test_no_round_and_no_shoe_is_opened_while_play_is_disabled(both, scope):
    both.to_play()
    disable(both, scope)
    with pytest.raises(RefusedError) as refusal:
        both.command("start_round")
    assert refusal.value.code == "play_disabled"
    assert refusal.value.details == {"scope": scope, "reason": "a report"}
    both.command("take_seat", table="T2")
    with pytest.raises(RefusedError) as refusal:
        both.command("load_shoe", table="T2", deck_set=2)
    assert refusal.value.code == "play_disabled"
    disable(both, scope, disabled=False)
    both.command("start_round")
    assert both.state().phase is Phase.BETTING


def test_another_game_s_disabling_disables_nothing_here(both):
    both.to_play()
    disable(both, "baccarat")
    both.command("start_round")
    assert both.state().phase is Phase.BETTING


def test_the_round_in_progress_ends_whatever_is_disabled(both):
    both.to_dealt()
    disable(both, "studio")
    both.bet("p1", 500)
    both.close()
    both.finish()
    assert both.state().phase is Phase.SETTLED
    assert both.faults() == []


def test_every_change_stands_in_the_trail_once(both):
    disable(both)
    disable(both, reason="again")
    disable(both, disabled=False, reason="mended")
    disable(both, disabled=False)
    with both.units.read() as unit:
        lines = unit.trail.read(limit=10, before_id=None)
    assert [(line.action, line.subject, line.reason) for line in lines] == [
        ("enable_play", "pok_deng", "mended"),
        ("disable_play", "pok_deng", "a report"),
    ]
    assert service(both).all() == []


def test_who_and_why_is_kept_while_it_lasts(both):
    disable(both, "studio", reason="  maintenance ")
    disable(both, "baccarat")
    shown = service(both).all()
    assert [(row.scope, row.reason, row.by) for row in shown] == [
        ("baccarat", "a report", ADMINISTRATOR.name),
        ("studio", "maintenance", ADMINISTRATOR.name),
    ]


@pytest.mark.parametrize("actor", [PIT, AUDITOR])
def test_only_an_administrator_disables(both, actor):
    with pytest.raises(RefusedError) as refusal:
        disable(both, actor=actor)
    assert refusal.value.code == "role_forbids"


@pytest.mark.parametrize(
    ("scope", "reason", "code"),
    [("roulette", "a report", "unknown_scope"), ("studio", " ", "reason_missing")],
)
def test_a_bad_change_is_named(both, scope, reason, code):
    with pytest.raises(MalformedError) as error:
        disable(both, scope, reason=reason)
    assert error.value.code == code
    assert service(both).all() == []
