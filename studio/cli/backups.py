"""`app.py backup` and `app.py restore`: a copy of everything, and a studio from a copy."""

from collections.abc import Callable, Sequence
from pathlib import Path

import click

from studio.services.inspection import Fault
from studio.store.backup import backup as make_backup
from studio.store.backup import restore as make_restored
from studio.web.lines import fail, one_line_errors

FAULTS_SHOWN_MAX = 10

Audit = Callable[[str], Sequence[Fault]]
"""Audits the database at an address."""


def backup_command(address: Callable[[str | None], str]) -> click.Command:
    """Return `backup`; `address` gives the settings' database where none is named."""

    @click.command()
    @click.argument("path", type=click.Path(dir_okay=False, path_type=Path))
    @click.option("--database-url", help="Else the settings' database.")
    @one_line_errors
    def backup(path: Path, *, database_url: str | None) -> None:
        """Copy the whole database into a new file, while the studio plays."""
        kind = make_backup(address(database_url), path)
        click.echo(f"{path}: a copy of the {kind} database, {path.stat().st_size:,} bytes.")
        click.echo("It holds sealed cards and people's money: keep it as safe as the database.")

    return backup


def restore_command(whole: Callable[[str], str], audit: Audit) -> click.Command:
    """Return `restore`; `whole` completes an address, `audit` looks at what was made."""

    @click.command()
    @click.argument("path", type=click.Path(dir_okay=False, exists=True, path_type=Path))
    @click.option("--database-url", required=True, help="A new file, or an empty database.")
    @one_line_errors
    def restore(path: Path, *, database_url: str) -> None:
        """Make a database from a copy and audit it."""
        address = whole(database_url)
        make_restored(path, address)
        faults = audit(address)
        for fault in faults[:FAULTS_SHOWN_MAX]:
            click.echo(f"{fault.code}  {fault.where}: {fault.what}", err=True)
        if faults:
            fail(f"Restored, but the audit finds {len(faults)} faults: don't play on it.", status=1)
        click.echo("Restored; the audit finds nothing wrong.")

    return restore
