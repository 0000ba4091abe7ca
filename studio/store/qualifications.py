"""Which games a dealer may open, in the database."""

from collections import defaultdict
from collections.abc import Mapping

from sqlalchemy import Connection, delete, insert, select

from studio.services.qualification import Qualifications
from studio.store.people_tables import qualification


class SqlQualifications(Qualifications):
    """Qualifications in SQL, on one connection's transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def games(self, person_id: int) -> frozenset[str]:
        """See the port."""
        return frozenset(
            self._connection.scalars(
                select(qualification.c.game).where(qualification.c.person_id == person_id)
            )
        )

    def of_everybody(self) -> Mapping[int, frozenset[str]]:
        """Return the games of everybody who has any, by person."""
        found: dict[int, set[str]] = defaultdict(set)
        for row in self._connection.execute(select(qualification)):
            found[row.person_id].add(row.game)
        return {person_id: frozenset(games) for person_id, games in found.items()}

    def replace(self, person_id: int, games: frozenset[str]) -> None:
        """Make these the games of somebody whose row this transaction has locked or just made."""
        had = self.games(person_id)
        if had - games:
            self._connection.execute(
                delete(qualification).where(
                    qualification.c.person_id == person_id,
                    qualification.c.game.in_(sorted(had - games)),
                )
            )
        if games - had:
            self._connection.execute(
                insert(qualification),
                [{"person_id": person_id, "game": game} for game in sorted(games - had)],
            )
