"""`app.py backup` and `app.py restore`: a copy of everything, and a studio from a copy."""

from pathlib import Path

import click

from studio.cli.lines import FAILED, fail, one_line_errors
from studio.cli.stores import (
    audited,
    offline_settings,
    open_units,
    stored_settings,
    whole_address,
)
from studio.store.backup import backup as make_backup
from studio.store.backup import restore as make_restored

FAULTS_SHOWN_MAX = 10


@click.command()
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--database-url", help="Else the settings' database.")
@one_line_errors
def backup(path: Path, *, database_url: str | None) -> None:
    """Copy the whole database into a new file, while the studio plays."""
    kind = make_backup(whole_address(stored_settings(database_url).database_url), path)
    click.echo(f"{path}: a copy of the {kind} database, {path.stat().st_size:,} bytes.")
    click.echo("It holds sealed cards and people's money: keep it as safe as the database.")


@click.command()
@click.argument("path", type=click.Path(dir_okay=False, exists=True, path_type=Path))
@click.option("--database-url", required=True, help="A new file, or an empty database.")
@one_line_errors
def restore(path: Path, *, database_url: str) -> None:
    """Make a database from a copy and audit it."""
    address = whole_address(database_url)
    make_restored(path, address)
    with open_units(offline_settings(address)) as units:
        faults = audited(units)
    for fault in faults[:FAULTS_SHOWN_MAX]:
        click.echo(f"{fault.code}  {fault.where}: {fault.what}", err=True)
    if faults:
        fail(
            f"Restored, but the audit finds {len(faults)} faults: don't play on it.", status=FAILED
        )
    click.echo("Restored; the audit finds nothing wrong.")
