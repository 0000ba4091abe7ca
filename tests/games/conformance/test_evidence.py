"""Every registered game agrees with its vectors, reference figures and golden rounds."""

import json
from fractions import Fraction
from random import Random  # noqa: TID251 - seeded below

import pytest

from studio.domain.cards import parse_piece
from studio.domain.game import (
    PUBLIC,
    Bank,
    Burn,
    Burnt,
    Deal,
    Decide,
    Decision,
    Done,
    Expired,
    GameConfig,
    Reveal,
    Revealed,
    ScanAt,
    Scanned,
    Settle,
    Settled,
)
from studio.domain.settlement import house_nets, settle_wager
from studio.games import GAMES
from studio.services.vectors import check_vectors
from tests.games.conformance import evidence
from tests.games.conformance.kit import Scenario, play, scenario

CODES = [game.code for game in GAMES]
BY_CODE = {game.code: game for game in GAMES}
SEED = 4
ROUNDS = 2500
SIGMAS = 4.5
"""With ten bets of five outcomes, chance alone misses this once in some thousand seeds."""


@pytest.mark.parametrize("code", CODES)
def test_a_registered_game_brings_vectors_reference_and_golden_rounds(code):
    assert evidence.missing(code) == []


def test_a_game_without_evidence_is_named(tmp_path):
    assert evidence.missing("no_such_game", tmp_path) == ["vectors", "reference", "golden rounds"]
    golden = evidence.paths("no_such_game", tmp_path)["golden rounds"]
    golden.parent.mkdir(parents=True)
    golden.write_text('{"rounds": []}')
    assert "golden rounds" in evidence.missing("no_such_game", tmp_path)
    golden.write_text('{"rounds": [{}]}')
    assert "golden rounds" not in evidence.missing("no_such_game", tmp_path)


# Vectors


def vector_files():
    own = [(code, evidence.paths(code)["vectors"]) for code in CODES]
    shared = [(code, evidence.SHARED_VECTORS) for code in CODES]
    return [(code, path) for code, path in (*own, *shared) if path.is_file()]


@pytest.mark.parametrize(("code", "path"), vector_files())
def test_all_vectors_of_a_registered_game_pass(code, path):
    report = check_vectors({path.name: json.loads(path.read_text())}, game=code)
    assert report.failures == ()
    assert report.unsupported == ()
    assert report.passed > 0


@pytest.mark.parametrize("code", CODES)
def test_every_operation_of_a_game_has_a_vector(code):
    named = {vector["op"] for vector in evidence.load(code, "vectors")}
    assert named == set(BY_CODE[code].operations)


# Reference figures


def figure_name(code, figure):
    options = "".join(f"-{name}-{value}" for name, value in figure.get("options", {}).items())
    return f"{code}-{figure['bet']}-{figure['decks']}{options}"


@pytest.mark.parametrize(
    ("code", "figure"),
    [
        pytest.param(code, figure, id=figure_name(code, figure))
        for code in CODES
        for figure in evidence.load(code, "reference")
    ],
)
def test_the_enumerated_return_is_the_published_one(code, figure):
    config = GameConfig(decks=figure["decks"], options=figure.get("options", {}))
    found = BY_CODE[code].theoretical(figure["bet"], config)
    published = {Fraction(net): Fraction(chance) for net, chance in figure["outcomes"].items()}
    assert dict(found.outcomes) == published
    assert sum(found.outcomes.values()) == 1
    assert found.rtp == 1 + sum(net * chance for net, chance in published.items())
    assert f"{float(found.rtp):.15f}" == figure["rtp"]


@pytest.mark.parametrize(
    "code", [code for code in CODES if BY_CODE[code].describe(GameConfig()).bets]
)
def test_every_kind_of_bet_of_a_house_game_has_a_published_return(code):
    described = BY_CODE[code].describe(GameConfig())
    if described.bank is Bank.HOUSE:
        kinds = {bet.settles_on for bet in described.bets}
        assert {figure["bet"] for figure in evidence.load(code, "reference")} >= kinds
        for bet in described.bets:
            of_bet = BY_CODE[code].theoretical(bet.code, GameConfig())
            assert of_bet.rtp == BY_CODE[code].theoretical(bet.settles_on, GameConfig()).rtp


@pytest.mark.parametrize(
    "code", [code for code in CODES if BY_CODE[code].describe(GameConfig()).bank is Bank.HOUSE]
)
@pytest.mark.parametrize("scan_at", ScanAt)
def test_random_play_reproduces_the_published_frequencies(code, scan_at):
    game, dice = BY_CODE[code], Random(SEED)
    config = GameConfig(scan_at=scan_at)
    described = game.describe(config)
    seen = {bet.code: {} for bet in described.bets}
    for _ in range(ROUNDS):
        played = play(game, scenario(game, config, dice), dice)
        for bet, net in house_nets(described, played.movements).items():
            seen[bet][net] = seen[bet].get(net, 0) + 1
    for bet in described.bets:
        expected = game.theoretical(bet.settles_on, config).outcomes
        assert seen[bet.code].keys() <= expected.keys()
        for net, chance in expected.items():
            spread = float(ROUNDS * chance * (1 - chance)) ** 0.5
            away = abs(seen[bet.code].get(net, 0) - float(ROUNDS * chance))
            assert away <= SIGMAS * spread, (SEED, bet.code, net, away / spread)


# Golden rounds


def golden_rounds():
    return [
        pytest.param(code, golden, id=f"{code}-{golden['name']}")
        for code in CODES
        for golden in evidence.load(code, "golden rounds")
    ]


@pytest.mark.parametrize(("code", "golden"), golden_rounds())
def test_a_golden_round_ends_as_written(code, golden):
    game = BY_CODE[code]
    table = Scenario(
        config=GameConfig(
            **{**golden["config"], "scan_at": ScanAt(golden["config"].get("scan_at", "draw"))}
        ),
        seats=tuple(golden.get("seats", ())),
        roles=golden.get("roles", {}),
        bets=golden.get("bets", {}),
        carry=golden.get("carry", {}),
    )
    state, movements, done = run(game, table, golden)
    expect = golden["expect"]
    evaluation = game.evaluate(state)
    assert {hand.position: hand.points for hand in evaluation.hands} == expect["points"]
    assert {hand.position: hand.name for hand in evaluation.hands} == expect["names"]
    assert [
        {"position": mark.position, "result": mark.result, "rings": list(mark.rings)}
        for mark in evaluation.marks
    ] == expect["marks"]
    assert done.carry == expect.get("carry", {})
    described = game.describe(table.config)
    nets = house_nets(described, movements)
    assert {bet: str(net) for bet, net in nets.items()} == expect["nets"]
    bets = {bet.code: bet for bet in described.bets}
    for wager in golden["wagers"]:
        bet = wager["bet"]
        money = settle_wager(bets[bet], stake_minor=wager["stake_minor"], net=nets[bet])
        assert money.hold_minor == wager["held_minor"]
        assert money.payout_minor == wager["payout_minor"]


def run(game, table, golden):
    """Deal the pieces of a golden round to their places; seats decide as written."""
    state = table.start(game)
    burns = iter(golden["pieces"].get("burn", ()))
    decisions = iter(golden.get("decisions", ()))
    movements = ()
    while not isinstance(request := game.next(state), Done):
        match request:
            case Deal(position=position, index=index):
                event = Scanned(piece=parse_piece(golden["pieces"][position][index]))
            case Burn(count=count) if table.config.scan_at is ScanAt.REVEAL:
                event = Burnt(count=count)
            case Burn():
                event = Scanned(piece=parse_piece(next(burns)))
            case Reveal(positions=positions, only=only):
                event = Revealed(positions=positions, only=only)
            case Decide(seats=seats):
                decided = next(decisions)
                event = Decision(**decided) if decided else Expired(seat=seats[0])
            case Settle():
                movements = game.settle(state)
                event = Settled()
        state = game.apply(state, event)
    assert next(burns, None) is None
    shown = game.view(state, PUBLIC)
    assert {hand.position: [piece.code for _, piece in hand.visible] for hand in shown.hands} == {
        position: codes for position, codes in golden["pieces"].items() if position != "burn"
    }
    return state, movements, request
