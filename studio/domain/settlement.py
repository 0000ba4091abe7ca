"""The one place where a game's neutral movements become money.

A game says what follows (`SpotResult`, `Transfer`, `Pot`, `Points`, `JackpotHit`); this module
says how many minor units each party gives and gets. Caps, tax, layering, odd units and rounding
live here and nowhere else. Every settlement sums to 0.

House bank: one net per bet, applied to every wager on it. Other banks: postings by party.
Source: plug-in notes, "What the common engine must own"; rule book, "Rules common to all games"
and section 2, "Pots" and "Tax".
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from studio.domain.errors import InvariantError
from studio.domain.game import (
    Bank,
    Bet,
    Description,
    JackpotHit,
    Movement,
    Points,
    Pot,
    Seat,
    SpotResult,
    Transfer,
)
from studio.domain.money import hold_minor, payout_minor

Party: TypeAlias = str
"""Who gives or gets: a seat, `TAX`, or a jackpot's fund."""

TAX: Party = "house:tax"


def fund_of(jackpot: str) -> Party:
    """Return the party that holds a jackpot's fund."""
    return f"fund:{jackpot}"


_MOVEMENTS_OF_BANK: Mapping[Bank, tuple[type[Movement], ...]] = {
    Bank.HOUSE: (SpotResult, JackpotHit),
    Bank.SEAT: (Transfer, JackpotHit),
    Bank.POT: (Pot, JackpotHit),
    Bank.PAIRWISE: (Points, Transfer, Pot, JackpotHit),
}


def check_movements(bank: Bank, movements: Iterable[Movement]) -> None:
    """Refuse a movement that this bank can't make.

    Raises:
        InvariantError: `movement_not_of_bank`.
    """
    for movement in movements:
        if not isinstance(movement, _MOVEMENTS_OF_BANK[bank]):
            name = type(movement).__name__
            raise InvariantError(
                "movement_not_of_bank", f"A {bank} bank makes no {name}.", movement=name
            )


# House bank -----------------------------------------------------------------------------------


def house_nets(description: Description, movements: Iterable[Movement]) -> dict[str, Fraction]:
    """Return net per unit staked for every bet of a house game, each exactly once.

    The book of wagers is settled with these: `payout_minor(stake, hold, net)` for each wager.

    Raises:
        InvariantError: `movement_not_of_bank`, `unknown_bet_settled`, `bet_settled_twice`,
            `bet_without_result`, `exposure_exceeded`.
    """
    movements = tuple(movements)
    check_movements(Bank.HOUSE, movements)
    bets = {bet.code: bet for bet in description.bets}
    nets: dict[str, Fraction] = {}
    for spot in movements:
        if not isinstance(spot, SpotResult):
            continue
        if spot.bet not in bets:
            raise _broken("unknown_bet_settled", f"{spot.bet!r} is not a bet.", bet=spot.bet)
        if spot.bet in nets:
            raise _broken("bet_settled_twice", f"{spot.bet!r} has two results.", bet=spot.bet)
        _within_exposure(bets[spot.bet], spot.net)
        nets[spot.bet] = spot.net
    missing = bets.keys() - nets.keys()
    if missing:
        bet = min(missing)
        raise _broken("bet_without_result", f"{bet!r} has no result.", bet=bet)
    return nets


def _within_exposure(bet: Bet, net: Fraction) -> None:
    if not -bet.exposure <= net <= bet.bank_exposure:
        raise _broken(
            "exposure_exceeded",
            f"{bet.code!r} brings {net}, outside -{bet.exposure}..{bet.bank_exposure}.",
            bet=bet.code,
        )


@dataclass(frozen=True, kw_only=True)
class WagerMoney:
    """One wager against the house in minor units: `hold = payout - bank` always."""

    hold_minor: int
    payout_minor: int
    """All that returns to the wallet."""
    bank_minor: int
    """What the bank pays; negative: what it wins."""


def settle_wager(bet: Bet, *, stake_minor: int, net: Fraction) -> WagerMoney:
    """Return what a wager of `stake_minor` comes to; rounded down once, in the bank's favour.

    Raises:
        InvariantError: `exposure_exceeded`.
    """
    _within_exposure(bet, net)
    held = hold_minor(stake_minor=stake_minor, exposure=bet.exposure)
    payout = payout_minor(stake_minor=stake_minor, hold_minor=held, net=net)
    return WagerMoney(hold_minor=held, payout_minor=payout, bank_minor=payout - held)


# Seats ----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Posting:
    """What one party gets (positive) or gives (negative), in minor units."""

    party: Party
    amount_minor: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class Capped:
    """A transfer that the payer's hold did not cover whole."""

    transfer: Transfer
    paid_minor: int


@dataclass(frozen=True, kw_only=True)
class Settlement:
    """Postings that sum to 0."""

    postings: tuple[Posting, ...]
    capped: tuple[Capped, ...] = ()

    def __post_init__(self) -> None:
        """Hold the one law of money.

        Raises:
            InvariantError: `settlement_unbalanced`.
        """
        total = sum(posting.amount_minor for posting in self.postings)
        if total:
            raise _broken("settlement_unbalanced", f"The postings sum to {total}.", sum=total)

    def totals(self) -> dict[Party, int]:
        """Return the sum of each party that took part, in minor units."""
        totals: dict[Party, int] = {}
        for posting in self.postings:
            totals[posting.party] = totals.get(posting.party, 0) + posting.amount_minor
        return totals


@dataclass(frozen=True, kw_only=True)
class JackpotTerms:
    """A jackpot as the table runs it."""

    prize_minor: int
    fund_minor: int
    """What its fund holds before the settlement."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What the engine knows and the game does not."""

    held_minor: Mapping[Seat, int]
    """The most each seat can lose to others; every seat of the round is in it."""
    tax: Fraction = Fraction(0)
    unit_minor: int | None = None
    """Worth of one point; None: points are only counted."""
    jackpots: Mapping[str, JackpotTerms] = field(default_factory=dict)


def settle_seats(bank: Bank, movements: Iterable[Movement], terms: Terms) -> Settlement:
    """Turn the movements of a seated game into postings.

    Raises:
        InvariantError: `movement_not_of_bank`, or a code of the functions below.
    """
    movements = tuple(movements)
    check_movements(bank, movements)
    if bank is Bank.HOUSE:
        raise _broken("house_has_no_seats", "Settle a house bank by its nets.")
    transfers = settle_transfers(
        tuple(each for each in movements if isinstance(each, Transfer)), terms
    )
    parts = [
        transfers,
        settle_points(tuple(each for each in movements if isinstance(each, Points)), terms),
        *(
            settle_pot(each, tax=terms.tax).settlement
            for each in movements
            if isinstance(each, Pot)
        ),
        settle_jackpots(tuple(each for each in movements if isinstance(each, JackpotHit)), terms),
    ]
    settlement = Settlement(
        postings=tuple(posting for part in parts for posting in part.postings),
        capped=transfers.capped,
    )
    _covered(settlement, terms)
    return settlement


def _covered(settlement: Settlement, terms: Terms) -> None:
    """No seat gives more than is held, whatever kinds of movements a game mixes."""
    for seat, held in terms.held_minor.items():
        loss = -settlement.totals().get(seat, 0)
        if loss > held:
            raise _broken(
                "exposure_exceeded", f"{seat} would lose {loss} of {held} held.", seat=seat
            )


def settle_transfers(transfers: Iterable[Transfer], terms: Terms) -> Settlement:
    """Pay transfers in their order, each as far as the payer's hold still reaches.

    What a seat receives does not extend its hold, so that the order of receipts can't matter.
    Tax is taken from a seat's net winnings, rounded down.

    Raises:
        InvariantError: `transfer_malformed`, `unknown_seat`.
    """
    left = dict(terms.held_minor)
    postings: list[Posting] = []
    capped: list[Capped] = []
    for transfer in transfers:
        _check_transfer(transfer, left)
        paid = min(transfer.amount_minor, left[transfer.payer])
        left[transfer.payer] -= paid
        if paid < transfer.amount_minor:
            capped.append(Capped(transfer=transfer, paid_minor=paid))
        postings += _pair(transfer.payer, transfer.payee, paid, transfer.reason)
    return Settlement(postings=_taxed(postings, terms.tax), capped=tuple(capped))


def _check_transfer(transfer: Transfer, seats: Mapping[Seat, int]) -> None:
    if transfer.amount_minor <= 0 or transfer.payer == transfer.payee:
        raise _broken(
            "transfer_malformed",
            f"{transfer.payer} to {transfer.payee}: {transfer.amount_minor} is no transfer.",
        )
    _known(transfer.payer, seats)
    _known(transfer.payee, seats)


def settle_points(points: Iterable[Points], terms: Terms) -> Settlement:
    """Turn points into money at the table's unit; without a unit they move nothing.

    Raises:
        InvariantError: `unknown_seat`; `points_unbalanced` when points with a unit don't sum to
            0; `exposure_exceeded`.
    """
    scores: Counter[Seat] = Counter()
    for each in points:
        _known(each.seat, terms.held_minor)
        scores[each.seat] += each.points
    if terms.unit_minor is None or not scores:
        return Settlement(postings=())
    if scores.total():
        raise _broken("points_unbalanced", f"The points sum to {scores.total()}, not to 0.")
    for seat, score in scores.items():
        if -score * terms.unit_minor > terms.held_minor[seat]:
            raise _broken("exposure_exceeded", f"{seat} owes more than it holds.", seat=seat)
    postings = [
        Posting(party=seat, amount_minor=score * terms.unit_minor, reason="points")
        for seat, score in scores.items()
        if score * terms.unit_minor
    ]
    return Settlement(postings=_taxed(postings, terms.tax))


def settle_jackpots(hits: Iterable[JackpotHit], terms: Terms) -> Settlement:
    """Pay each hit min(prize, what the fund still holds), in order.

    Raises:
        InvariantError: `unknown_jackpot`, `unknown_seat`.
    """
    funds = {name: jackpot.fund_minor for name, jackpot in terms.jackpots.items()}
    postings: list[Posting] = []
    for hit in hits:
        if hit.jackpot not in funds:
            raise _broken("unknown_jackpot", f"No jackpot {hit.jackpot!r}.", jackpot=hit.jackpot)
        for seat in hit.seats:
            _known(seat, terms.held_minor)
            paid = min(terms.jackpots[hit.jackpot].prize_minor, funds[hit.jackpot])
            funds[hit.jackpot] -= paid
            postings += _pair(fund_of(hit.jackpot), seat, paid, "jackpot")
    return Settlement(postings=tuple(postings))


def _pair(payer: Party, payee: Party, amount_minor: int, reason: str) -> tuple[Posting, ...]:
    if not amount_minor:
        return ()
    return (
        Posting(party=payer, amount_minor=-amount_minor, reason=reason),
        Posting(party=payee, amount_minor=amount_minor, reason=reason),
    )


def _taxed(postings: Iterable[Posting], rate: Fraction) -> tuple[Posting, ...]:
    """Take tax from every seat that wins on balance."""
    untaxed = tuple(postings)
    nets = Settlement(postings=untaxed).totals()
    taxes = (
        posting
        for seat, net in nets.items()
        for posting in _pair(seat, TAX, _tax(max(net, 0), rate), "tax")
    )
    return (*untaxed, *taxes)


def _tax(amount_minor: int, rate: Fraction) -> int:
    """Tax is rounded down: in the payer's favour."""
    return amount_minor * rate.numerator // rate.denominator


# Pots -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class PotLayer:
    """The main pot or a side pot."""

    amount_minor: int
    """Before tax."""
    tax_minor: int
    winners: tuple[Seat, ...]
    """Who shares it, in the order in which odd units are given."""
    awards_minor: Mapping[Seat, int]


@dataclass(frozen=True, kw_only=True)
class PotSettlement:
    """A pot, layered and given away."""

    layers: tuple[PotLayer, ...]
    """Main pot first."""
    returned_minor: Mapping[Seat, int]
    """The uncalled excess, untaxed; at most one seat."""
    tax_of_minor: Mapping[Seat, int]
    """Tax on each contributor's called money; the winner is shown the sum."""
    settlement: Settlement

    @property
    def awards_minor(self) -> dict[Seat, int]:
        """What each winner collects from all layers, after tax."""
        totals: Counter[Seat] = Counter()
        for layer in self.layers:
            totals.update(layer.awards_minor)
        return dict(totals)


def settle_pot(pot: Pot, *, tax: Fraction) -> PotSettlement:
    """Return the uncalled excess, layer what was called, tax each layer and share it out.

    Layers are cut at the contributions of the seats that may still win; folded money stays in.
    Money that folded seats put in above every live seat belongs to the last layer. Each
    contributor's tax is `tax` of its called money, rounded down once; the layers take it as
    their part of the money is reached, so that all layers' tax is the contributors' tax.

    Raises:
        InvariantError: `pot_malformed` (negative contribution, a seat in two tiers or without
            contribution, an odd-unit order that misses a live seat), `pot_without_winner`.
    """
    _check_pot(pot)
    called, returned = _uncalled(pot.contributions_minor)
    live = [seat for tier in pot.tiers for seat in tier]
    levels = sorted({called[seat] for seat in live if called[seat]})
    if sum(called.values()) and not levels:
        raise _broken("pot_without_winner", "The pot has money but nobody can win it.")
    layers = []
    low = 0
    for level in levels:
        high = level if level != levels[-1] else max(called.values())
        shares = {seat: (min(put, low), min(put, high)) for seat, put in called.items()}
        amount = sum(until - since for since, until in shares.values())
        taken = sum(_tax(until, tax) - _tax(since, tax) for since, until in shares.values())
        eligible = {seat for seat in live if called[seat] >= level}
        layers.append(_layer(pot, eligible, amount_minor=amount, tax_minor=taken))
        low = high
    return PotSettlement(
        layers=tuple(layers),
        returned_minor=returned,
        tax_of_minor={seat: _tax(put, tax) for seat, put in called.items()},
        settlement=Settlement(postings=_pot_postings(called, layers, pot.reason)),
    )


def _check_pot(pot: Pot) -> None:
    live = [seat for tier in pot.tiers for seat in tier]
    wrong = (
        any(put < 0 for put in pot.contributions_minor.values())
        or len(live) != len(set(live))
        or not pot.contributions_minor.keys() >= set(live)
        or not set(pot.odd_units_to) >= set(live)
    )
    if wrong:
        raise _broken("pot_malformed", "Contributions, tiers and odd-unit order don't agree.")


def _uncalled(contributions: Mapping[Seat, int]) -> tuple[dict[Seat, int], dict[Seat, int]]:
    """Split contributions into called money and the one excess that nobody matched."""
    called = dict(contributions)
    if not called:
        return called, {}
    most = max(called, key=lambda seat: called[seat])
    second = max((put for seat, put in called.items() if seat != most), default=0)
    excess = called[most] - second
    called[most] = second
    return called, {most: excess} if excess else {}


def _layer(pot: Pot, eligible: set[Seat], *, amount_minor: int, tax_minor: int) -> PotLayer:
    best = next(both for tier in pot.tiers if (both := eligible.intersection(tier)))
    winners = tuple(seat for seat in dict.fromkeys(pot.odd_units_to) if seat in best)
    each, odd = divmod(amount_minor - tax_minor, len(winners))
    return PotLayer(
        amount_minor=amount_minor,
        tax_minor=tax_minor,
        winners=winners,
        awards_minor={seat: each + (place < odd) for place, seat in enumerate(winners)},
    )


def _pot_postings(
    called: Mapping[Seat, int], layers: Iterable[PotLayer], reason: str
) -> tuple[Posting, ...]:
    given = [Posting(party=seat, amount_minor=-put, reason=reason) for seat, put in called.items()]
    taken = [
        posting
        for layer in layers
        for posting in (
            *(
                Posting(party=seat, amount_minor=award, reason=reason)
                for seat, award in layer.awards_minor.items()
            ),
            Posting(party=TAX, amount_minor=layer.tax_minor, reason="tax"),
        )
    ]
    return tuple(posting for posting in (*given, *taken) if posting.amount_minor)


def _known(seat: Seat, seats: Mapping[Seat, int]) -> None:
    if seat not in seats:
        raise _broken("unknown_seat", f"{seat!r} has no seat in this round.", seat=seat)


def _broken(code: str, message: str, **details: str | int) -> InvariantError:
    return InvariantError(code, message, **details)
