"""`app.py verify`: a round's signed evidence, checked without the studio."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import click

from studio.cli.lines import one_line_errors
from studio.domain.errors import MalformedError
from studio.domain.game import Json
from studio.games import GAMES, by_code
from studio.services.bundle_check import check_bundle
from studio.services.inspection import Fault
from studio.signing import signature_holds


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
        key = content["signature"]["public_key"]
        lines.append(f"Signed by {key}: compare it with the studio's own (--key).")
    return lines
