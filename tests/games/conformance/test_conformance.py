"""What every game must keep, whatever its rules: played from seeds, checked at every step.

Registered games and the toy games of the tests pass the same checks: the toys stand for the
kinds of games that are not registered yet (pots, seat banks, tricks, tiles, hidden hands).
"""

from collections import Counter
from dataclasses import FrozenInstanceError, fields, is_dataclass
from random import Random  # noqa: TID251 - seeded below

import pytest

from studio.domain.cards import Card, Tile
from studio.domain.errors import MalformedError, RefusedError, StudioError
from studio.domain.game import (
    PUBLIC,
    Bank,
    Burn,
    Burnt,
    Deal,
    Decide,
    Decision,
    Expired,
    GameConfig,
    Left,
    PieceKind,
    Reveal,
    Revealed,
    Scanned,
    Settle,
    Settled,
)
from studio.domain.settlement import (
    JackpotTerms,
    Terms,
    check_movements,
    house_nets,
    settle_seats,
    settle_wager,
)
from studio.games import GAMES
from tests.games.conformance.kit import (
    Scenario,
    configs,
    play,
    replay,
    scenario,
    with_other_pieces,
)
from tests.games.toys.pot import PotToy
from tests.games.toys.tiles import TileToy
from tests.games.toys.tricks import TrickToy

SUBJECTS = (*GAMES, PotToy(), TileToy(), TrickToy())
SEEDS = range(12)

every_game = pytest.mark.parametrize("game", SUBJECTS, ids=lambda game: game.code)
every_seed = pytest.mark.parametrize("seed", SEEDS)


def table_and_dice(game, seed):
    dice = Random(seed)
    tried = configs(game)
    return scenario(game, tried[seed % len(tried)], dice), dice


def played(game, seed, **silence):
    table, dice = table_and_dice(game, seed)
    return play(game, table, dice, **silence)


# Description


@every_game
def test_the_description_holds_together(game):
    for config in configs(game):
        described = game.describe(config)
        codes = [bet.code for bet in described.bets]
        assert described.game == game.code
        assert len(set(codes)) == len(codes)
        assert len(set(described.positions)) == len(described.positions)
        assert {bet.position for bet in described.bets} <= {*described.positions, None}
        assert len(set(described.places)) == len(described.places)
        assert {position for position, _ in described.places} <= {*described.positions}
        assert all(bet.exposure > 0 and bet.bank_exposure >= 0 for bet in described.bets)
        assert 0 <= described.tax < 1
        assert described.bank is not Bank.HOUSE or described.tax == 0
        assert 0 <= described.seats_min <= described.seats_max
        assert set(described.rotating_roles) <= set(described.roles)
        assert described.rule_version
        assert described.paytable_version
        kind = {PieceKind.CARD: Card, PieceKind.TILE: Tile}[described.piece_kind]
        assert all(type(piece) is kind for piece in described.pieces)
        assert len(set(described.pieces)) == len(described.pieces)
        assert described.pieces_per_round_max <= len(described.pieces) * described.decks


@every_game
def test_an_unknown_bet_is_malformed(game):
    with pytest.raises(MalformedError):
        game.exposure(None, "no_such_bet", None)
    with pytest.raises(MalformedError):
        game.theoretical("no_such_bet", GameConfig(decks=8))


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.code)
def test_a_registered_game_tells_its_rule_changes(game):
    assert game.describe(GameConfig()).rule_changes


# The machine


@every_game
@every_seed
def test_replay_equals_live_at_every_step(game, seed):
    round_ = played(game, seed)
    state = round_.scenario.start(game)
    assert state == round_.first
    for step in round_.steps:
        assert game.next(state) == step.request
        state = game.apply(state, step.event)
        assert state == step.state
    assert replay(game, round_.scenario, round_.events) == round_.states[-1]


@every_game
def test_states_are_frozen(game):
    state = played(game, 1).states[-1]
    assert is_dataclass(state)
    for field in fields(state):
        with pytest.raises(FrozenInstanceError):
            setattr(state, field.name, None)


@every_game
@every_seed
def test_every_state_ends_by_defaults(game, seed):
    whole = len(played(game, seed).steps)
    for kind in (Expired, Left):
        for after in {0, whole // 3, whole // 2, whole - 1}:
            round_ = played(game, seed, silent=kind, silent_after=after)
            assert isinstance(round_.steps[-1].event, Settled)


@every_game
@every_seed
def test_a_round_settles_once_and_draws_no_more_than_described(game, seed):
    round_ = played(game, seed)
    described = game.describe(round_.scenario.config)
    kinds = Counter(type(step.request) for step in round_.steps)
    assert kinds[Settle] == 1
    assert len(round_.drawn) <= described.pieces_per_round_max
    lying = Counter(round_.steps[-1].lying.values())
    assert all(count <= described.decks for count in lying.values())
    dealt = {step.request.position for step in round_.steps if isinstance(step.request, Deal)}
    assert dealt <= {*described.positions, *round_.scenario.seats}


@every_game
@every_seed
def test_a_decision_has_a_legal_default_for_each_seat(game, seed):
    round_ = played(game, seed)
    for step in round_.steps:
        if not isinstance(step.request, Decide):
            continue
        request = step.request
        assert request.seats
        assert set(request.seats) == set(request.actions) == set(request.default)
        assert set(request.seats) <= set(round_.scenario.seats)
        for seat, default in request.default.items():
            assert default.seat == seat
            assert default.action in {action.name for action in request.actions[seat]}


ANSWERS = {
    Deal: Scanned,
    Burn: (Scanned, Burnt),
    Decide: (Decision, Expired),
    Reveal: Revealed,
    Settle: Settled,
}


@every_game
@every_seed
def test_an_event_nobody_asked_for_is_refused_and_changes_nothing(game, seed):
    round_ = played(game, seed)
    piece = game.describe(round_.scenario.config).pieces[0]
    strangers = (
        Scanned(piece=piece),
        Burnt(count=1),
        Decision(seat="nobody", action="nothing"),
        Expired(seat="nobody"),
        Left(seat="nobody"),
        Revealed(positions=("nowhere",)),
        Settled(),
    )
    before = round_.first
    for step in round_.steps:
        for stranger in strangers:
            named_nobody = getattr(stranger, "seat", None) == "nobody"
            asked = isinstance(stranger, ANSWERS[type(step.request)])
            if asked and not named_nobody and not isinstance(stranger, Burnt | Revealed):
                continue
            if isinstance(stranger, Burnt) and isinstance(step.event, Burnt):
                continue
            with pytest.raises(RefusedError):
                game.apply(before, stranger)
        assert game.next(before) == step.request
        before = step.state


@every_game
@every_seed
def test_settling_before_its_time_is_refused(game, seed):
    round_ = played(game, seed)
    for state in (round_.first, round_.states[-1]):
        with pytest.raises(StudioError):
            game.settle(state)


# Money


@every_game
@every_seed
def test_movements_sum_to_zero_and_stay_within_what_is_held(game, seed):
    round_ = played(game, seed)
    described = game.describe(round_.scenario.config)
    check_movements(described.bank, round_.movements)
    if described.bank is Bank.HOUSE:
        for bet in described.bets:
            net = house_nets(described, round_.movements)[bet.code]
            money = settle_wager(bet, stake_minor=100 + seed, net=net)
            assert money.payout_minor >= 0
            assert money.payout_minor == money.hold_minor + money.bank_minor
        return
    stakes = [stake for bets in round_.scenario.bets.values() for stake in bets.values()]
    terms = Terms(
        held_minor={seat: round_.held.get(seat, 0) for seat in round_.scenario.seats},
        tax=described.tax,
        unit_minor=min(stakes),
        jackpots={
            name: JackpotTerms(prize_minor=900, fund_minor=1000) for name in described.jackpots
        },
    )
    settlement = settle_seats(described.bank, round_.movements, terms)
    assert settlement.capped == ()
    assert sum(settlement.totals().values()) == 0
    for seat, held in terms.held_minor.items():
        assert -settlement.totals().get(seat, 0) <= held


# Who sees what


def leaves(value):
    if isinstance(value, dict):
        yield from (leaf for pair in value.items() for part in pair for leaf in leaves(part))
    elif isinstance(value, list | tuple):
        yield from (leaf for part in value for leaf in leaves(part))
    else:
        yield str(value)


def check_view(game, step, viewer):
    allowed = {
        place: piece
        for place, piece in step.lying.items()
        if place in step.public or viewer in step.viewers[place]
    }
    view = game.view(step.state, viewer)
    for hand in view.hands:
        lying = [place for place in step.lying if place[0] == hand.position]
        assert hand.count == len(lying)
        for index, piece in hand.visible:
            assert allowed.get((hand.position, index)) == piece, (viewer, hand.position, index)
    hidden = {piece.code for place, piece in step.lying.items() if place not in allowed}
    shown = {piece.code for piece in allowed.values()}
    assert not set(leaves(dict(view.facts))) & (hidden - shown)


@every_game
@every_seed
def test_a_view_holds_nothing_that_is_hidden_from_the_viewer(game, seed):
    round_ = played(game, seed)
    for step in round_.steps:
        for viewer in (PUBLIC, "a stranger", *round_.scenario.seats):
            check_view(game, step, viewer)


@every_game
@every_seed
def test_only_hands_that_lie_open_are_valued(game, seed):
    for step in played(game, seed).steps:
        evaluation = game.evaluate(step.state)
        hidden = {position for position, _ in step.lying.keys() - step.public}
        empty = {hand.position for hand in evaluation.hands} - {place[0] for place in step.lying}
        assert not {hand.position for hand in evaluation.hands} & hidden
        assert not {mark.position for mark in evaluation.marks} & hidden
        assert not empty


@every_game
@every_seed
def test_the_public_view_does_not_depend_on_hidden_pieces(game, seed):
    """Other pieces under the same backs: what the public sees stays the same, word for word."""
    round_ = played(game, seed, silent=Expired)
    described = game.describe(round_.scenario.config)
    dice = Random(seed)
    compared = 0
    for length, step in enumerate(round_.steps, start=1):
        hidden = [place for place in step.lying if place not in step.public]
        at = {
            number: dice.choice(described.pieces)
            for number, before in enumerate(round_.steps[:length])
            if isinstance(before.event, Scanned) and _place(before) in hidden
        }
        events = with_other_pieces(round_.events[:length], at)
        try:
            other = replay(game, round_.scenario, events)
        except RefusedError:
            continue
        compared += bool(at)
        assert game.view(other, PUBLIC) == game.view(step.state, PUBLIC)
        assert game.evaluate(other) == game.evaluate(step.state)
    sealed = any(
        isinstance(step.request, Deal) and not step.request.face_up for step in round_.steps
    )
    assert compared > 0 or not sealed


def _place(step):
    request = step.request
    return (request.position, request.index) if isinstance(request, Deal) else None


# The suite itself


def for_all_seeds(check, game):
    for seed in SEEDS:
        check(game, seed)


def test_a_leaking_game_is_caught():
    class Leaky(TileToy):
        def view(self, state, viewer):
            return super().view(state, state.seats[0])

    with pytest.raises(AssertionError):
        for_all_seeds(test_a_view_holds_nothing_that_is_hidden_from_the_viewer, Leaky())


def test_a_game_that_pays_beyond_its_exposure_is_caught():
    class Generous(TileToy):
        def exposure(self, state, bet, decision):
            own, bank = super().exposure(state, bet, decision)
            return own / 2, bank / 4

    with pytest.raises(AssertionError):
        for_all_seeds(test_movements_sum_to_zero_and_stay_within_what_is_held, Generous())


def test_a_scenario_carries_on_from_the_round_before():
    game = PotToy()
    first = played(game, 3)
    table = first.scenario
    following = Scenario(
        config=table.config,
        seats=table.seats,
        roles=table.roles,
        bets=table.bets,
        carry=dict(first.done.carry),
    )
    second = play(game, following, Random(3))
    assert second.first.button == first.done.carry["button"] != first.first.button
