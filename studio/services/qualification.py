"""What a dealer may open: tables of the games that an administrator has qualified the dealer for.

Opening is taking the table, loading a shoe and starting a round. What runs is played to its end
by whoever has the table, whatever is withdrawn meanwhile: the players' cards lie there.
"""

from typing import Protocol

from studio.domain.errors import RefusedError


class Qualifications(Protocol):
    """Who is qualified for what."""

    def games(self, person_id: int) -> frozenset[str]:
        """Return the codes of the games that somebody may open."""


def need_qualified(qualifications: Qualifications, *, dealer_id: int, game: str) -> None:
    """Refuse a dealer who may not open `game`, by what the command's own transaction reads.

    Raises:
        RefusedError: `dealer_not_qualified`.
    """
    if game not in qualifications.games(dealer_id):
        raise RefusedError(
            "dealer_not_qualified",
            f"You are not qualified for {game}: ask the pit supervisor; an administrator can "
            "qualify you.",
            game=game,
        )
