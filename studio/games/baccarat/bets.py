"""The bets of baccarat as data: what they pay under the table's options, and their versions.

Source: rule book, section 1, "Pays" and resolutions 4 to 7; pair bets as usual, 11:1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum, unique
from fractions import Fraction

from studio.domain.errors import MalformedError
from studio.domain.game import Bet, Json, SpotResult
from studio.games.baccarat.rules import Side, Winner


@unique
class BetKind(StrEnum):
    """What can be bet on."""

    PLAYER = "player"
    BANKER = "banker"
    TIE = "tie"
    PAIR = "pair"
    """A side's first two cards are of one rank; offered with the option `pair_bets`."""


@unique
class Reason(StrEnum):
    """Why a bet brings what it brings; the screens translate it."""

    PLAYER_WINS = "player_wins"
    BANKER_WINS = "banker_wins"
    TIE_WINS = "tie_wins"
    TIE_PUSHES = "tie_pushes"
    """A tie gives bets on either side back."""
    LOSES = "loses"
    IS_PAIR = "is_pair"
    IS_NO_PAIR = "is_no_pair"


GROSS = {BetKind.PLAYER: Fraction(2), BetKind.BANKER: Fraction(39, 20), BetKind.PAIR: Fraction(12)}
"""All that comes back for one unit on a bet that wins, stake included; a tie's is an option."""

TIE_GROSS = (8, 9)
"""The document's and the usual; the first is the default."""

ONLINE_BONUS = Fraction(3, 2)
"""What a winner's return is multiplied by where the option `online_bonus` is on."""

PLAY_STAKE_MIN, PLAY_STAKE_MAX = 1, 999
"""The document's stakes, in whole units of play money."""

RULE_VERSION = "baccarat.rules.1"

CHANGES: tuple[str, ...] = (
    "Version 1: a tie gives bets on player and banker back; the banker side stands on 6 when the "
    "player side stood; naturals are compared.",
)


@dataclass(frozen=True, kw_only=True)
class Paytable:
    """What a table's options make of the pays."""

    tie_gross: int = TIE_GROSS[0]
    pair_bets: bool = False
    online_bonus: bool = False

    @property
    def version(self) -> str:
        """Names the pays in force."""
        extras = ("+pairs" if self.pair_bets else "") + ("+bonus" if self.online_bonus else "")
        return f"baccarat.pays.1+tie-gross-{self.tie_gross}{extras}"

    def gross(self, kind: BetKind) -> Fraction:
        """Return all that comes back for one unit on a bet that wins."""
        base = GROSS.get(kind, Fraction(self.tie_gross))
        return base * ONLINE_BONUS if self.online_bonus else base

    @property
    def bets(self) -> tuple[Bet, ...]:
        """The bets on offer."""
        return tuple(
            Bet(
                code=code,
                position=None if side is None else side.value,
                exposure=Fraction(1),
                bank_exposure=self.gross(kind) - 1,
                settles_on=kind,
            )
            for code, (kind, side) in SPOTS.items()
            if kind is not BetKind.PAIR or self.pair_bets
        )


SPOTS: Mapping[str, tuple[BetKind, Side | None]] = {
    "player": (BetKind.PLAYER, Side.PLAYER),
    "banker": (BetKind.BANKER, Side.BANKER),
    "tie": (BetKind.TIE, None),
    "player_pair": (BetKind.PAIR, Side.PLAYER),
    "banker_pair": (BetKind.PAIR, Side.BANKER),
}
"""Every bet by its code: its kind, and the hand it is about."""

_WINS = {
    BetKind.PLAYER: (Winner.PLAYER, Reason.PLAYER_WINS),
    BetKind.BANKER: (Winner.BANKER, Reason.BANKER_WINS),
    BetKind.TIE: (Winner.TIE, Reason.TIE_WINS),
}
_LOST = Fraction(-1)


def paytable(options: Mapping[str, Json]) -> Paytable:
    """Read a table's options.

    Raises:
        MalformedError: `unknown_option`, `option_wrong`.
    """
    for name, value in options.items():
        if name not in Paytable.__dataclass_fields__:
            known = ", ".join(Paytable.__dataclass_fields__)
            raise MalformedError(
                "unknown_option", f"Baccarat has no option {name!r}, but: {known}.", option=name
            )
        allowed = TIE_GROSS if name == "tie_gross" else (False, True)
        if not any(type(value) is type(one) and value == one for one in allowed):
            shown = " or ".join(str(one).lower() for one in allowed)
            raise MalformedError(
                "option_wrong", f"The option {name} must be {shown}, not {value!r}.", option=name
            )
    return Paytable(**options)


def main_bet(pays: Paytable, kind: BetKind, won: Winner) -> tuple[Fraction, Reason]:
    """Return net per unit staked and reason of a bet on player, banker or tie."""
    wins_on, reason = _WINS[kind]
    if won is wins_on:
        return pays.gross(kind) - 1, reason
    if won is Winner.TIE:
        return Fraction(0), Reason.TIE_PUSHES
    return _LOST, Reason.LOSES


def pair_bet(pays: Paytable, *, paired: bool) -> tuple[Fraction, Reason]:
    """Return net per unit staked and reason of a bet on a pair, whatever the round's result."""
    if paired:
        return pays.gross(BetKind.PAIR) - 1, Reason.IS_PAIR
    return _LOST, Reason.IS_NO_PAIR


def results(pays: Paytable, won: Winner, paired: Mapping[Side, bool]) -> tuple[SpotResult, ...]:
    """Return what every bet on offer brings."""
    spots = []
    for bet in pays.bets:
        kind, side = SPOTS[bet.code]
        net, reason = (
            main_bet(pays, kind, won)
            if side is None or kind is not BetKind.PAIR
            else pair_bet(pays, paired=paired[side])
        )
        spots.append(SpotResult(bet=bet.code, net=net, reason=reason))
    return tuple(spots)
