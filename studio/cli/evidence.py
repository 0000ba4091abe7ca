"""`app.py export` and `app.py verify`: a round as signed evidence, checked without the studio."""

import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path

import click

from studio.domain.errors import MalformedError
from studio.domain.game import Json
from studio.games import GAMES, by_code
from studio.services.bundle_check import check_bundle
from studio.services.evidence import EvidenceService
from studio.services.inspection import Fault
from studio.services.ports import Actor, Role
from studio.signing import signature_holds
from studio.web.lines import fail, one_line_errors

OPERATOR = Actor(id=0, name="command line", role=None)

Evidence = Callable[[str | None], AbstractContextManager[EvidenceService]]
"""Opens the evidence of the database at an address."""


def export_command(evidence: Evidence) -> click.Command:
    """Return `export`; `evidence` opens the database."""

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
        with evidence(database_url) as service:
            if player is None:
                bundle = service.of_all(OPERATOR, round_id, reason=reason, pictures=pictures)
            else:
                asking = Actor(id=player, name="", role=Role.PLAYER)
                bundle = service.of_player(asking, round_id)
        try:
            output.write_text(json.dumps(bundle, ensure_ascii=False), encoding="utf-8")
        except OSError as error:
            fail(f"{output} can't be written: {error.strerror}", status=1)
        events, wagers = len(bundle["events"]), len(bundle["wagers"])
        click.echo(f"{output}: round {round_id}, {events} events, {wagers} wagers.")
        click.echo(f"Check it with: python app.py verify {output} --key {_key(bundle)}")

    return export


def _key(bundle: dict[str, Json]) -> str:
    return str(bundle["signature"]["public_key"])


@click.command()
@click.argument("bundle", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--key", "public_key", help="The studio's public key, from the studio itself.")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
@one_line_errors
def verify(bundle: Path, *, public_key: str | None, as_json: bool) -> None:
    """Check a bundle: signature, hash chain, commitments, results and payouts."""
    content = _read(bundle)
    faults = check_bundle(
        content,
        games=by_code(GAMES),
        signature_holds=lambda told, key, signature: signature_holds(
            told, public_key=key, signature=signature
        ),
        public_key=public_key,
    )
    if as_json:
        found = {"faults": [asdict(fault) for fault in faults], "count": len(faults)}
        click.echo(json.dumps(found, ensure_ascii=False))
    else:
        click.echo("\n".join(_lines(content, faults, pinned=public_key is not None)))
    if faults:
        sys.exit(1)


def _read(path: Path) -> dict[str, Json]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise MalformedError("not_a_bundle", f"{path} is no bundle: {error}") from error
    if not isinstance(content, dict) or "format" not in content:
        raise MalformedError("not_a_bundle", f"{path} is no bundle of a round.")
    return content


def _lines(content: dict[str, Json], faults: list[Fault], *, pinned: bool) -> list[str]:
    lines = [f"{fault.code}  {fault.where}: {fault.what}" for fault in faults]
    if faults:
        return [*lines, f"Faults: {len(faults)}. This bundle does not hold."]
    whose = "all wagers" if content["for_player"] is None else "the player's own wagers"
    lines.append(
        f"Round {content['round_id']}: {len(content['events'])} events in an unbroken chain, every "
        f"card as committed, results as the rules give them, {whose} paid by them."
    )
    if not pinned:
        lines.append(f"Signed by {_key(content)}: compare it with the studio's own (--key).")
    return lines
