"""Movements become money in one place, and every settlement sums to 0."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.domain.errors import InvariantError
from studio.domain.game import (
    Bank,
    Bet,
    GameConfig,
    JackpotHit,
    Points,
    Pot,
    SpotResult,
    Transfer,
)
from studio.domain.settlement import (
    TAX,
    JackpotTerms,
    Posting,
    Settlement,
    Terms,
    check_movements,
    fund_of,
    house_nets,
    settle_jackpots,
    settle_points,
    settle_pot,
    settle_seats,
    settle_transfers,
    settle_wager,
)
from studio.games import game

DESCRIPTION = game("pok_deng").describe(GameConfig())
MAIN, PAIR = DESCRIPTION.bets[0], DESCRIPTION.bets[5]
SPOTS = tuple(SpotResult(bet=bet.code, net=Fraction(-1), reason="r") for bet in DESCRIPTION.bets)

few = settings(max_examples=60, deadline=None)


def refused(code, call, *args, **named):
    with pytest.raises(InvariantError) as fault:
        call(*args, **named)
    assert fault.value.code == code


# House bank


def test_every_bet_gets_its_net():
    nets = house_nets(DESCRIPTION, (replace(SPOTS[0], net=Fraction(2)), *SPOTS[1:]))
    assert nets == {bet.code: Fraction(-1) for bet in DESCRIPTION.bets} | {"p1": Fraction(2)}


@pytest.mark.parametrize(
    ("spots", "code"),
    [
        (SPOTS[1:], "bet_without_result"),
        ((*SPOTS, SPOTS[0]), "bet_settled_twice"),
        ((*SPOTS, replace(SPOTS[0], bet="p6")), "unknown_bet_settled"),
        ((replace(SPOTS[0], net=Fraction(-3)), *SPOTS[1:]), "exposure_exceeded"),
        ((replace(SPOTS[0], net=Fraction(3)), *SPOTS[1:]), "exposure_exceeded"),
        ((replace(SPOTS[5], bet="p1_pair", net=Fraction(-2)),), "exposure_exceeded"),
        ((Transfer(payer="a", payee="b", amount_minor=1, reason="r"),), "movement_not_of_bank"),
    ],
)
def test_a_house_result_that_breaks_the_bets_is_our_bug(spots, code):
    refused(code, house_nets, DESCRIPTION, spots)


@pytest.mark.parametrize("net", [-2, -1, 0, 1, 2])
def test_a_main_wager_returns_hold_plus_net(net):
    money = settle_wager(MAIN, stake_minor=100, net=Fraction(net))
    assert (money.hold_minor, money.payout_minor, money.bank_minor) == (
        200,
        200 + net * 100,
        net * 100,
    )


def test_a_pair_wager_holds_its_stake_only():
    won = settle_wager(PAIR, stake_minor=100, net=Fraction(11))
    lost = settle_wager(PAIR, stake_minor=100, net=Fraction(-1))
    assert (won.hold_minor, won.payout_minor) == (100, 1200)
    assert (lost.hold_minor, lost.payout_minor) == (100, 0)


def test_a_wager_beyond_its_exposure_is_our_bug():
    refused("exposure_exceeded", settle_wager, PAIR, stake_minor=1, net=Fraction(12))


@few
@given(stake=st.integers(1, 10**12), cents=st.integers(-100, 195))
def test_a_fractional_net_is_rounded_down_once_and_never_below_zero(stake, cents):
    bet = Bet(
        code="x",
        position="P1",
        exposure=Fraction(1),
        bank_exposure=Fraction(2),
        settles_on="main",
    )
    net = Fraction(cents, 100)
    money = settle_wager(bet, stake_minor=stake, net=net)
    assert money.hold_minor + money.bank_minor == money.payout_minor >= 0
    assert 0 <= stake * net - money.bank_minor < 1


# Transfers


def transfer(payer, payee, amount_minor):
    return Transfer(payer=payer, payee=payee, amount_minor=amount_minor, reason="r")


def test_a_transfer_is_paid_as_far_as_the_hold_reaches():
    terms = Terms(held_minor={"bank": 250, "a": 100, "b": 100})
    settlement = settle_transfers(
        (transfer("bank", "a", 200), transfer("bank", "b", 200), transfer("a", "bank", 40)), terms
    )
    assert settlement.totals() == {"bank": -210, "a": 160, "b": 50}
    assert [(cap.transfer.payee, cap.paid_minor) for cap in settlement.capped] == [("b", 50)]


def test_tax_is_taken_from_net_winnings_and_rounded_down():
    terms = Terms(held_minor={"bank": 500, "a": 500}, tax=Fraction(3, 100))
    settlement = settle_transfers((transfer("bank", "a", 199), transfer("a", "bank", 100)), terms)
    assert settlement.totals() == {"bank": -99, "a": 97, TAX: 2}


@pytest.mark.parametrize(
    ("movement", "code"),
    [
        (transfer("a", "b", 0), "transfer_malformed"),
        (transfer("a", "b", -1), "transfer_malformed"),
        (transfer("a", "a", 1), "transfer_malformed"),
        (transfer("a", "z", 1), "unknown_seat"),
        (transfer("z", "a", 1), "unknown_seat"),
    ],
)
def test_a_transfer_that_cannot_be_is_our_bug(movement, code):
    refused(code, settle_transfers, (movement,), Terms(held_minor={"a": 9, "b": 9}))


SEATS = ("a", "b", "c", "d")
amounts = st.integers(0, 5000)
rates = st.sampled_from([Fraction(0), Fraction(3, 100), Fraction(1, 7), Fraction(1)])
some_transfers = st.lists(
    st.builds(
        transfer, st.sampled_from(SEATS), st.sampled_from(SEATS), st.integers(1, 5000)
    ).filter(lambda each: each.payer != each.payee),
    max_size=12,
)


@few
@given(some_transfers, st.tuples(amounts, amounts, amounts, amounts), rates)
def test_transfers_balance_and_never_exceed_what_is_held(transfers, held, tax):
    terms = Terms(held_minor=dict(zip(SEATS, held, strict=True)), tax=tax)
    settlement = settle_seats(Bank.SEAT, transfers, terms)
    totals = settlement.totals()
    assert sum(totals.values()) == 0
    assert totals.get(TAX, 0) >= 0
    assert all(-totals.get(seat, 0) <= terms.held_minor[seat] for seat in SEATS)


# Pots: the facts of the rule book's hold'em vectors


def pot(contributions, tiers, odd=None):
    seats = {str(seat): put for seat, put in enumerate(contributions)}
    return Pot(
        contributions_minor=seats,
        tiers=tuple(tuple(str(seat) for seat in tier) for tier in tiers),
        odd_units_to=tuple(seats) if odd is None else tuple(str(seat) for seat in odd),
        reason="pot",
    )


THREE = Fraction(3, 100)


@pytest.mark.parametrize(
    ("contributions", "tiers", "pots", "returned", "awards", "tax"),
    [
        pytest.param(
            [500, 1500, 3000, 3000],
            [[0], [1], [2], [3]],
            [2000, 3000, 3000],
            {},
            [1940, 2910, 2910, 0],
            240,
            id="three layers",
        ),
        pytest.param(
            [2000, 1200], [[1], [0]], [2400], {"0": 800}, [0, 2328], 72, id="uncalled excess"
        ),
        pytest.param(
            [400, 1000, 1000], [[1], [2]], [2400], {}, [0, 2328, 0], 72, id="folded money stays"
        ),
        pytest.param(
            [300, 900, 900],
            [[0], [1, 2]],
            [900, 1200],
            {},
            [873, 582, 582],
            63,
            id="side pot winner differs",
        ),
        pytest.param(
            [300, 900, 900], [[2], [1], [0]], [900, 1200], {}, [0, 0, 2037], 63, id="big stack"
        ),
        pytest.param(
            [300, 900, 900, 1000],
            [[0]],
            [3000],
            {"3": 100},
            [2910, 0, 0, 0],
            90,
            id="folded money above every live seat",
        ),
        pytest.param([700, 0], [[0], [1]], [], {"0": 700}, [0, 0], 0, id="nothing was called"),
    ],
)
def test_pots_are_layered_taxed_and_shared(contributions, tiers, pots, returned, awards, tax):
    result = settle_pot(pot(contributions, tiers), tax=THREE)
    assert [layer.amount_minor for layer in result.layers] == pots
    assert result.returned_minor == returned
    assert [result.awards_minor.get(str(seat), 0) for seat in range(len(awards))] == awards
    assert sum(layer.tax_minor for layer in result.layers) == tax
    assert result.settlement.totals().get(TAX, 0) == tax


def test_tax_is_each_contributors_total_bet():
    result = settle_pot(pot([2000, 1000, 2000], [[2], [0]]), tax=THREE)
    assert result.tax_of_minor == {"0": 60, "1": 30, "2": 60}


def test_tax_is_rounded_once_per_contributor_not_once_per_pot():
    # 33 and 67 are each 0.99 and 2.01 of tax; taken apart at 33 the later 34 would lose a unit.
    result = settle_pot(pot([33, 67, 67], [[0], [1], [2]]), tax=THREE)
    assert result.tax_of_minor == {"0": 0, "1": 2, "2": 2}
    assert [layer.tax_minor for layer in result.layers] == [0, 4]


def test_odd_units_go_one_each_in_the_given_order():
    result = settle_pot(pot([34, 34, 34], [[0, 1, 2]], odd=[2, 0, 1]), tax=Fraction(0))
    assert result.layers[0].winners == ("2", "0", "1")
    assert result.awards_minor == {"0": 34, "1": 34, "2": 34}
    odd = settle_pot(pot([25, 25, 25, 25], [[0, 1, 2]], odd=[2, 0, 1]), tax=Fraction(0))
    assert odd.awards_minor == {"2": 34, "0": 33, "1": 33}


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        (pot([-1, 5], [[1]]), "pot_malformed"),
        (pot([5, 5], [[0], [0]]), "pot_malformed"),
        (pot([5, 5], [[7]]), "pot_malformed"),
        (pot([5, 5], [[0], [1]], odd=[0]), "pot_malformed"),
        (pot([5, 5], []), "pot_without_winner"),
    ],
)
def test_a_pot_that_cannot_be_is_our_bug(broken, code):
    refused(code, settle_pot, broken, tax=Fraction(0))


def test_a_pot_nobody_paid_into_moves_nothing():
    assert settle_pot(pot([], []), tax=THREE).settlement.postings == ()


@st.composite
def pots(draw):
    contributions = draw(st.lists(amounts, min_size=2, max_size=6))
    tier_of = draw(
        st.lists(
            st.integers(-1, 3), min_size=len(contributions), max_size=len(contributions)
        ).filter(lambda tiers: max(tiers) >= 0)
    )
    tiers = [[seat for seat, tier in enumerate(tier_of) if tier == number] for number in range(4)]
    most = max(
        range(len(contributions)), key=lambda seat: (tier_of[seat] >= 0, contributions[seat])
    )
    contributions[most] += 1
    return pot(contributions, [tier for tier in tiers if tier])


@few
@given(pots(), rates)
def test_pots_give_away_exactly_what_was_called(given_pot, tax):
    result = settle_pot(given_pot, tax=tax)
    put = sum(given_pot.contributions_minor.values())
    back = sum(result.returned_minor.values())
    assert sum(layer.amount_minor for layer in result.layers) == put - back
    assert sum(layer.tax_minor for layer in result.layers) == sum(result.tax_of_minor.values())
    assert sum(result.awards_minor.values()) == put - back - sum(result.tax_of_minor.values())
    assert sum(result.settlement.totals().values()) == 0


@few
@given(pots())
def test_nobody_wins_more_from_a_seat_than_it_put_in_itself(given_pot):
    result = settle_pot(given_pot, tax=Fraction(0))
    live = {seat for tier in given_pot.tiers for seat in tier}
    top = max(given_pot.contributions_minor[seat] for seat in live)
    for seat, award in result.awards_minor.items():
        own = given_pot.contributions_minor[seat]
        if own < top:
            most = sum(min(own, put) for put in given_pot.contributions_minor.values())
            assert award <= most


# Points and jackpots


def test_points_become_money_at_the_tables_unit():
    points = tuple(
        Points(seat=seat, points=score, reason="r")
        for seat, score in (("a", 3), ("a", 3), ("b", -6))
    )
    terms = Terms(held_minor={"a": 600, "b": 600}, unit_minor=100, tax=Fraction(1, 100))
    assert settle_points(points, terms).totals() == {"a": 594, "b": -600, TAX: 6}


def test_points_without_a_unit_move_nothing():
    points = (Points(seat="a", points=50, reason="r"),)
    assert settle_points(points, Terms(held_minor={"a": 0})).postings == ()


@pytest.mark.parametrize(
    ("scores", "code"),
    [
        ((("a", 3), ("b", -2)), "points_unbalanced"),
        ((("a", 7), ("b", -7)), "exposure_exceeded"),
        ((("a", 1), ("z", -1)), "unknown_seat"),
    ],
)
def test_points_that_cannot_be_paid_are_our_bug(scores, code):
    points = tuple(Points(seat=seat, points=score, reason="r") for seat, score in scores)
    refused(code, settle_points, points, Terms(held_minor={"a": 600, "b": 600}, unit_minor=100))


def test_a_jackpot_pays_its_prize_while_its_fund_lasts():
    terms = Terms(
        held_minor={"a": 0, "b": 0, "c": 0},
        jackpots={"six_god": JackpotTerms(prize_minor=500, fund_minor=800)},
    )
    hit = JackpotHit(jackpot="six_god", seats=("b", "a", "c"))
    totals = settle_jackpots((hit,), terms).totals()
    assert totals == {fund_of("six_god"): -800, "b": 500, "a": 300}


def test_an_unknown_jackpot_is_our_bug():
    hit = JackpotHit(jackpot="none", seats=("a",))
    refused("unknown_jackpot", settle_jackpots, (hit,), Terms(held_minor={"a": 0}))


# All together


def test_mixed_movements_settle_together():
    terms = Terms(
        held_minor={"a": 1000, "b": 1000},
        unit_minor=10,
        jackpots={"j": JackpotTerms(prize_minor=50, fund_minor=50)},
    )
    movements = (
        Points(seat="a", points=5, reason="r"),
        Points(seat="b", points=-5, reason="r"),
        transfer("b", "a", 7),
        Pot(
            contributions_minor={"a": 20, "b": 20},
            tiers=(("b",),),
            odd_units_to=("a", "b"),
            reason="entry",
        ),
        JackpotHit(jackpot="j", seats=("b",)),
    )
    totals = settle_seats(Bank.PAIRWISE, movements, terms).totals()
    assert totals == {"a": 37, "b": 13, fund_of("j"): -50}


def test_movements_that_together_exceed_the_hold_are_our_bug():
    terms = Terms(held_minor={"a": 100, "b": 100}, unit_minor=10)
    movements = (
        transfer("a", "b", 60),
        Points(seat="a", points=-6, reason="r"),
        Points(seat="b", points=6, reason="r"),
    )
    refused("exposure_exceeded", settle_seats, Bank.PAIRWISE, movements, terms)


@pytest.mark.parametrize(
    ("bank", "movement"),
    [
        (Bank.SEAT, SPOTS[0]),
        (Bank.SEAT, Points(seat="a", points=1, reason="r")),
        (Bank.POT, transfer("a", "b", 1)),
        (Bank.PAIRWISE, SPOTS[0]),
        (Bank.HOUSE, pot([1, 1], [[0]])),
    ],
)
def test_a_bank_makes_only_its_own_movements(bank, movement):
    refused("movement_not_of_bank", check_movements, bank, (movement,))


def test_a_house_bank_has_no_seats_to_settle():
    refused("house_has_no_seats", settle_seats, Bank.HOUSE, SPOTS, Terms(held_minor={}))


def test_postings_that_do_not_sum_to_zero_are_our_bug():
    refused(
        "settlement_unbalanced",
        Settlement,
        postings=(Posting(party="a", amount_minor=1, reason="r"),),
    )
