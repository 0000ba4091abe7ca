"""The operations that test vectors name, on top of the rules that settle.

Vectors state amounts in major units of play money, which has two decimals; what comes back is
rounded down to the second once per wager. Source: rule book, section 1, resolution 7.
"""

from collections.abc import Callable, Mapping
from decimal import ROUND_DOWN, Decimal, InvalidOperation
from fractions import Fraction
from types import MappingProxyType

from studio.domain.card_games import card_named, field, pips
from studio.domain.cards import Card
from studio.domain.errors import MalformedError
from studio.domain.game import Json
from studio.games.baccarat.bets import (
    PLAY_STAKE_MAX,
    PLAY_STAKE_MIN,
    SPOTS,
    BetKind,
    Paytable,
    main_bet,
    pair_bet,
    paytable,
)
from studio.games.baccarat.rules import CARDS_BEFORE_THIRD, Side, Winner, drawing, total, winner

_CENT = Decimal("0.01")
_OPTIONS = ("tie_gross", "online_bonus")


def play_round(given: Mapping[str, Json]) -> Mapping[str, Json]:
    """Play a round from its first four cards and settle its bets.

    Raises:
        MalformedError: a field is missing or can't be read; `card_missing` when a third card is
            drawn that `next_cards` does not hold.
    """
    hands = {Side.PLAYER: _two(given, "player"), Side.BANKER: _two(given, "banker")}
    coming = [card_named(code) for code in given.get("next_cards", ())]
    while (side := drawing(_pips(hands[Side.PLAYER]), _pips(hands[Side.BANKER]))) is not None:
        if not coming:
            raise MalformedError("card_missing", f"{side.name.lower()} draws; no card is given.")
        hands[side].append(coming.pop(0))
    player, banker = (_pips(hands[side]) for side in Side)
    won = winner(player, banker)
    pays = _pays(given)
    paired = {side: hand[0].rank is hand[1].rank for side, hand in hands.items()}
    return {
        "player_total": total(player),
        "banker_total": total(banker),
        "player_third": _third(hands[Side.PLAYER]),
        "banker_third": _third(hands[Side.BANKER]),
        "winner": won.value,
        "gross_return": {
            bet: _gross(_net(pays, bet, won, paired), _amount(stake))
            for bet, stake in given.get("bets", {}).items()
        },
    }


def validate_bet(given: Mapping[str, Json]) -> Mapping[str, Json]:
    """Say whether an amount may be staked: a whole number from 1 to 999, and no credit."""
    amount = field(given, "amount")
    whole = isinstance(amount, int) and not isinstance(amount, bool)
    within = whole and PLAY_STAKE_MIN <= amount <= PLAY_STAKE_MAX
    return {"accepted": within and amount <= given.get("balance", amount)}


def gross_return(given: Mapping[str, Json]) -> Mapping[str, Json]:
    """Say what one wager on player, banker or tie brings back, stake included."""
    try:
        won = Winner(field(given, "winner"))
    except ValueError:
        raise MalformedError("unknown_winner", "'winner' must be P, B or T.") from None
    net = _net(_pays(given), field(given, "bet"), won, {})
    return {"gross_return": _gross(net, _amount(field(given, "stake")))}


OPERATIONS: Mapping[str, Callable[[Mapping[str, Json]], Mapping[str, Json]]] = MappingProxyType(
    {"round": play_round, "validate_bet": validate_bet, "gross_return": gross_return}
)


def _pays(given: Mapping[str, Json]) -> Paytable:
    return paytable({name: given[name] for name in _OPTIONS if name in given})


def _two(given: Mapping[str, Json], name: str) -> list[Card]:
    codes = field(given, name)
    if not isinstance(codes, list) or len(codes) != CARDS_BEFORE_THIRD:
        raise MalformedError("hand_size", f"{name!r} must be two cards.", name=name)
    return [card_named(code) for code in codes]


def _pips(hand: list[Card]) -> list[int]:
    return [pips(card) for card in hand]


def _third(hand: list[Card]) -> str | None:
    return hand[CARDS_BEFORE_THIRD].code if len(hand) > CARDS_BEFORE_THIRD else None


def _net(pays: Paytable, bet: Json, won: Winner, paired: Mapping[Side, bool]) -> Fraction:
    kind, side = SPOTS.get(bet, (None, None)) if isinstance(bet, str) else (None, None)
    if kind is BetKind.PAIR and side is not None and side in paired:
        return pair_bet(pays, paired=paired[side])[0]
    if kind is None or kind is BetKind.PAIR:
        raise MalformedError("unknown_bet", f"{bet!r} is not a bet that this can settle.")
    return main_bet(pays, kind, won)[0]


def _amount(value: Json) -> Decimal:
    """Return an amount; a text, so that no float touches it, or a whole number."""
    try:
        readable = isinstance(value, int | str | Decimal) and not isinstance(value, bool)
        amount = Decimal(value) if readable else Decimal("NaN")
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount <= 0 or amount != amount.quantize(_CENT):
        raise MalformedError(
            "amount_malformed", f"{value!r} is not an amount above 0 of at most two decimals."
        )
    return amount


def _gross(net: Fraction, stake: Decimal) -> Decimal:
    exact = (1 + net) * Fraction(stake)
    cents = exact.numerator * 100 // exact.denominator
    return (Decimal(cents) * _CENT).quantize(_CENT, rounding=ROUND_DOWN)
