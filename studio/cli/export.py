"""`app.py export`: a round as signed evidence."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from studio.cli.lines import FAILED, fail, one_line_errors
from studio.cli.stores import keep_secret, open_units, stored_settings
from studio.services.evidence import EvidenceService
from studio.services.ports import Actor, Role
from studio.signing import Signer
from studio.web.system import SystemClock

OPERATOR = Actor(id=0, name="command line", role=None)


@contextmanager
def _evidence(database_url: str | None) -> Iterator[EvidenceService]:
    """Open the evidence of a database; signed with the key of the studio that serves it."""
    keep_secret()
    settings = stored_settings(database_url)
    signer = Signer(settings.secret_key.get_secret_value())
    with open_units(settings) as units:
        yield EvidenceService(units=units, clock=SystemClock(), signer=signer)


@click.command()
@click.argument("round_id")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="File.")
@click.option("--player", type=int, help="Only this player's wagers.")
@click.option("--reason", default="", help="Goes into the audit trail; with all wagers.")
@click.option("--pictures", is_flag=True, help="Also pictures of cards that did not read.")
@click.option("--database-url", help="Else the settings' database.")
@one_line_errors
def export(
    round_id: str,
    *,
    output: Path,
    player: int | None,
    reason: str,
    pictures: bool,
    database_url: str | None,
) -> None:
    """Write a round that has ended as one signed bundle."""
    with _evidence(database_url) as service:
        if player is None:
            bundle = service.of_all(OPERATOR, round_id, reason=reason, pictures=pictures)
        else:
            asking = Actor(id=player, name="", role=Role.PLAYER)
            bundle = service.of_player(asking, round_id)
    try:
        output.write_text(json.dumps(bundle, ensure_ascii=False), encoding="utf-8")
    except OSError as error:
        fail(f"{output} can't be written: {error.strerror}", status=FAILED)
    events, wagers = len(bundle["events"]), len(bundle["wagers"])
    click.echo(f"{output}: round {round_id}, {events} events, {wagers} wagers.")
    key = bundle["signature"]["public_key"]
    click.echo(f"Check it with: python app.py verify {output} --key {key}")
