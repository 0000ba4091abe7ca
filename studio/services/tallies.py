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
    after: dict[str, int] = {Tally.ROUNDS: before.get(Tally.ROUNDS, 0) + 1}
    if played.net_minor > 0:
        after[Tally.WINS] = before.get(Tally.WINS, 0) + 1
        after[Tally.WINS_IN_A_ROW] = before.get(Tally.WINS_IN_A_ROW, 0) + 1
        after[Tally.WON_MINOR_MAX] = max(before.get(Tally.WON_MINOR_MAX, 0), played.net_minor)
    elif played.net_minor < 0:
        after[Tally.LOSSES] = before.get(Tally.LOSSES, 0) + 1
        after[Tally.WINS_IN_A_ROW] = 0
    for name, count in played.hits.items():
        after[name] = before.get(name, 0) + count
    return {str(name): value for name, value in after.items()}


def after_correction(
    before: Mapping[str, int],
    rounds: Mapping[str, int],
    *,
    was: PlayedRound | None,
    now: PlayedRound | None,
) -> dict[str, int]:
    """Return a player's tallies after a round of theirs was corrected.

    Args:
        before: as they were.
        rounds: those that follow from whole rounds, counted anew.
        was: the round as it stood; None where it was annulled.
        now: as it stands; None where it is annulled.

    >>> lost = PlayedRound(player_id=1, net_minor=-5, hits={"hit.toy.tie": 1})
    >>> after_correction({"hit.toy.tie": 4}, {"rounds": 2, "losses": 0}, was=lost, now=None)
    {'rounds': 2, 'losses': 0, 'hit.toy.tie': 3}
    """
    had, has = (one.hits if one else {} for one in (was, now))
    hits = {
        name: before.get(name, 0) + has.get(name, 0) - had.get(name, 0)
        for name in sorted({*had, *has})
    }
    return {**rounds, **hits}


def reached(
    medals: Iterable[Medal], after: Mapping[str, int], *, held: Collection[str]
) -> tuple[str, ...]:
    """Return the codes of the medals that changed tallies have reached and nobody gave yet."""
    return tuple(
        medal.code
        for medal in medals
        if after.get(medal.tally, 0) >= medal.at_least and medal.code not in held
    )
