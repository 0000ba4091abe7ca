"""Signs of life of the dealers' stations: only the dealer who has the table gives them."""

from studio.domain.errors import RefusedError
from studio.domain.game import Json
from studio.domain.table import Link
from studio.services.people_ports import Person
from studio.services.ports import Role
from studio.web.studio import Studio


def beat_station(studio: Studio, person: Person, table: str) -> dict[str, Json]:
    """Note that the station of a table is alive; answer what its scanner keeps and since when.

    `queued` is None as long as the scanner has not said: it is what the scanner read and could
    not yet hand over, as of its last sign of life. `scanner` says whether its link is up;
    the rest is as `OfflineWork.of` tells it.

    Raises:
        MalformedError: `unknown_table`.
        RefusedError: `role_forbids`, `not_your_table`.
    """
    if person.role is not Role.DEALER:
        raise RefusedError("role_forbids", "Only a dealer's station gives signs of life.")
    dealer = studio.tables.live(table).state.dealer
    if dealer is None or dealer.id != person.id:
        raise RefusedError("not_your_table", "Take the table first.")
    studio.links.beat(table, Link.STATION)
    scanner = studio.links.health(table)[Link.SCANNER]
    return {
        "taken": True,
        "queued": scanner.get("queued"),
        "scanner": scanner["state"],
        **studio.links.offline.of(table),
    }
