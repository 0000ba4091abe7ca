"""The operations that test vectors name, on top of the rules that settle."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType

from studio.domain.card_games import burn_count, card_named, field
from studio.domain.errors import MalformedError
from studio.domain.game import Json
from studio.domain.money import hold_minor, parse_amount_minor, payout_minor
from studio.games.pok_deng.bets import BETS, BetKind
from studio.games.pok_deng.rules import (
    Hand,
    Result,
    Verdict,
    classify,
    main_bet,
    pair_bet,
)

_EXPOSURE = {bet.settles_on: bet.exposure for bet in BETS}


def settle(given: Mapping[str, Json]) -> Mapping[str, Json]:
    """Settle one wager on two hands.

    `net` is the profit and `credit` all that returns to the wallet, both in minor units; `odds`
    is what the stake was multiplied by, whichever side won.

    Raises:
        MalformedError: a field is missing or can't be read; `deposit_wrong` when the deposit is
            not what the bet holds.
    """
    banker, player = _hand(given, "banker"), _hand(given, "player")
    kind = _kind(given)
    stake_minor = parse_amount_minor(field(given, "stake"), name="stake")
    held_minor = hold_minor(stake_minor=stake_minor, exposure=_EXPOSURE[kind])
    if given.get("deposit", held_minor) != held_minor:
        raise MalformedError(
            "deposit_wrong", f"A {kind} bet of {stake_minor} holds {held_minor}.", held=held_minor
        )
    verdict = main_bet(player, banker) if kind is BetKind.MAIN else pair_bet(player)
    credit_minor = payout_minor(stake_minor=stake_minor, hold_minor=held_minor, net=verdict.net)
    return {
        "banker_value": banker.value,
        "player_value": player.value,
        "result": verdict.result.value,
        "net": credit_minor - held_minor,
        "credit": credit_minor,
        "odds": _odds(verdict),
    }


def burn(given: Mapping[str, Json]) -> Mapping[str, Json]:
    """Say how many cards the first card of a new shoe burns."""
    return {"burn": burn_count(card_named(field(given, "card")))}


OPERATIONS: Mapping[str, Callable[[Mapping[str, Json]], Mapping[str, Json]]] = MappingProxyType(
    {"settle": settle, "burn_count": burn}
)


def _hand(given: Mapping[str, Json], name: str) -> Hand:
    match field(given, name):
        case [first, second]:
            return classify(card_named(first), card_named(second))
        case _:
            raise MalformedError("hand_size", f"{name!r} must be two cards.", name=name)


def _kind(given: Mapping[str, Json]) -> BetKind:
    try:
        return BetKind(field(given, "bet_type"))
    except ValueError:
        raise MalformedError("unknown_bet", "'bet_type' must be 'main' or 'pair'.") from None


def _odds(verdict: Verdict) -> str:
    if verdict.result is Result.TIE:
        return "push"
    odds: Fraction = abs(verdict.net)
    return f"{odds.numerator}:{odds.denominator}"
