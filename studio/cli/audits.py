"""`app.py audit` and `app.py prune`: everything stored re-checked, and old records forgotten."""

import json
import sys
from dataclasses import asdict

import click

from studio.cli.lines import one_line_errors
from studio.cli.stores import audited, open_units, stored_settings
from studio.services.audit_alarm import tell_pit
from studio.services.retention import RetentionService
from studio.services.retention_ports import Kept


@click.command()
@click.option("--database-url", help="Else the settings' database.")
@click.option("--alarm", is_flag=True, help="Also raise or clear the pit's alarm.")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
@one_line_errors
def audit(database_url: str | None, *, alarm: bool, as_json: bool) -> None:
    """Re-check everything stored and name each fault."""
    settings = stored_settings(database_url)
    with open_units(settings) as units:
        faults = audited(units)
        if alarm:
            tell_pit(units, faults, tables=tuple(settings.tables))
    if as_json:
        found = {"faults": [asdict(fault) for fault in faults], "count": len(faults)}
        click.echo(json.dumps(found, ensure_ascii=False, default=str))
    else:
        for fault in faults:
            click.echo(f"{fault.code}  {fault.where}: {fault.what}")
        click.echo(f"Faults: {len(faults)}." if faults else "Clean: nothing is wrong.")
    if faults:
        sys.exit(1)


@click.command()
@click.option("--database-url", help="Else the settings' database.")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
@one_line_errors
def prune(database_url: str | None, *, as_json: bool) -> None:
    """Forget records that have been kept long enough; what was played and paid stays."""
    settings = stored_settings(database_url)
    days = settings.retention.days
    with open_units(settings) as units:
        gone = RetentionService(units=units, days=days).run()
    if as_json:
        click.echo(json.dumps(gone))
    else:
        for kind, count in gone.items():
            click.echo(
                f"{kind.replace('_', ' '):<16} {count:>8}  older than {days[Kept(kind)]} days"
            )
