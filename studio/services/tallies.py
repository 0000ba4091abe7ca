"""Tallies: what a player has done, counted up round by round, and the medals that follow.

Pure: the store gives what a player had and what the round brought, and keeps what comes back.
A round is one for the player, whatever the number of own wagers: won when they brought more than
they cost, lost when less. A round that comes out even ends no row of wins. After a correction the
tallies are what they had been if the round had come out like that in the first place.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from studio.domain.game import AnyGame, GameConfig
from studio.services.club_data import Medal, Tally, hit_tally
from studio.services.setup import TableSetup


@dataclass(frozen=True, kw_only=True)
class PlayedRound:
    """What a settled round was to one player."""

    player_id: int
    net_minor: int
    """Payouts less what was held, over all own wagers; below 0 for a loss."""
    hits: Mapping[str, int] = field(default_factory=dict)
    """Wagers that were won, by the name of their tally."""


def known_tallies(
    games: Mapping[str, AnyGame], setups: Iterable[TableSetup] = ()
) -> frozenset[str]:
    """Return every name a medal may count by: of all games, with the options of the tables too."""
    names = {tally.value for tally in Tally}
    configs = [(code, GameConfig()) for code in games]
    for code, config in [*configs, *((setup.game, setup.config) for setup in setups)]:
        names |= {hit_tally(code, bet.settles_on) for bet in games[code].describe(config).bets}
    return frozenset(names)


def after_round(before: Mapping[str, int], played: PlayedRound) -> dict[str, int]:
    """Return the tallies that a round changes, with their new values.

    >>> after_round({"rounds": 4, "wins_in_a_row": 2}, PlayedRound(player_id=1, net_minor=-5))
    {'rounds': 5, 'losses': 1, 'wins_in_a_row': 0}
    """
    after = {name: before.get(name, 0) + count for name, count in _counts(played).items()}
    if played.net_minor > 0:
        after[Tally.WINS_IN_A_ROW] = before.get(Tally.WINS_IN_A_ROW, 0) + 1
        after[Tally.WON_MINOR_MAX] = max(before.get(Tally.WON_MINOR_MAX, 0), played.net_minor)
    elif played.net_minor < 0:
        after[Tally.WINS_IN_A_ROW] = 0
    return {str(name): value for name, value in after.items()}


@dataclass(frozen=True, kw_only=True)
class Corrected:
    """What a corrected round was to one player and is now; None where it is annulled."""

    was: PlayedRound | None
    now: PlayedRound | None

    @property
    def moves_the_row(self) -> bool:
        """Whether the row of wins may be another one."""
        return _outcome(self.was) != _outcome(self.now)

    def takes_the_best_from(self, before: Mapping[str, int]) -> bool:
        """Whether the round was the best one and is not any more, or not by as much."""
        had_minor, has_minor = (one.net_minor if one else 0 for one in (self.was, self.now))
        return 0 < had_minor == before.get(Tally.WON_MINOR_MAX, 0) and has_minor < had_minor


def after_correction(
    before: Mapping[str, int],
    corrected: Corrected,
    *,
    row: int | None = None,
    best_minor: int | None = None,
) -> dict[str, int]:
    """Return the tallies that the correction of a round changes, with their new values.

    Args:
        before: as they were.
        corrected: the round.
        row: the row of wins, counted anew; needed where `moves_the_row`.
        best_minor: the best round, looked for anew; needed where `takes_the_best_from`.

    >>> lost = PlayedRound(player_id=1, net_minor=-5, hits={"hit.toy.tie": 1})
    >>> voided = Corrected(was=lost, now=None)
    >>> after_correction({"rounds": 3, "losses": 1, "hit.toy.tie": 4}, voided, row=2)
    {'hit.toy.tie': 3, 'losses': 0, 'rounds': 2, 'wins_in_a_row': 2}
    """
    had, has = (_counts(one) if one else {} for one in (corrected.was, corrected.now))
    after = {
        name: before.get(name, 0) + has.get(name, 0) - had.get(name, 0)
        for name in sorted({*had, *has})
    }
    if row is not None:
        after[Tally.WINS_IN_A_ROW] = row
    now_minor = corrected.now.net_minor if corrected.now else 0
    if best_minor is not None:
        after[Tally.WON_MINOR_MAX] = best_minor
    elif now_minor > before.get(Tally.WON_MINOR_MAX, 0):
        after[Tally.WON_MINOR_MAX] = now_minor
    return {str(name): value for name, value in after.items()}


def reached(
    medals: Iterable[Medal], after: Mapping[str, int], *, held: Collection[str]
) -> tuple[str, ...]:
    """Return the codes of the medals that changed tallies have reached and nobody gave yet."""
    return tuple(
        medal.code
        for medal in medals
        if after.get(medal.tally, 0) >= medal.at_least and medal.code not in held
    )


def _outcome(played: PlayedRound | None) -> Tally | None:
    """Return what the round counts for beside being one; None: for nothing."""
    if played is None or played.net_minor == 0:
        return None
    return Tally.WINS if played.net_minor > 0 else Tally.LOSSES


def _counts(played: PlayedRound) -> dict[str, int]:
    """Return what the round adds to the tallies that only add up."""
    outcome = _outcome(played)
    return {Tally.ROUNDS: 1, **({outcome: 1} if outcome else {}), **played.hits}
