"""How the command line speaks of what went wrong: one clear line on stderr, never a traceback."""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from importlib import import_module
from typing import Any, NoReturn, ParamSpec

import click

from studio.domain.errors import StudioError
from studio.settings_error import SettingsError

P = ParamSpec("P")
FAILED, MISUSED = 1, 2


def fail(*lines: str, status: int) -> NoReturn:
    """Say why and end the process."""
    for line in lines:
        click.echo(line, err=True)
    sys.exit(status)


def one_line_errors(command: Callable[P, None]) -> Callable[P, None]:
    """Turn the faults that a person can mend into lines on stderr; settings exit with 2."""

    @wraps(command)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except SettingsError as error:
            fail(*error.lines, status=MISUSED)
        except StudioError as error:
            fail(error.message, status=FAILED)
        except Exception as error:
            # Imported only now: many commands ask no database.
            from sqlalchemy.exc import DBAPIError

            if not isinstance(error, DBAPIError):
                raise
            fail(f"The database fails: {str(error.orig).splitlines()[0]}", status=FAILED)

    return guarded


class OneLineGroup(click.Group):
    """Says in one line what is wrong with the arguments, and where the help is."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002  click's own signature
        **extra: Any,
    ) -> Any:
        """Run the command that the arguments name and end the process with its status."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        try:
            status = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            sys.exit(MISUSED)
        except click.ClickException as error:
            asked = error.ctx if isinstance(error, click.UsageError) else None
            hint = f" See {asked.command_path} --help." if asked else ""
            fail(error.format_message().replace("\n", " ") + hint, status=error.exit_code)
        except click.Abort:
            fail("Stopped.", status=FAILED)
        sys.exit(status if isinstance(status, int) else 0)


class LazyGroup(OneLineGroup):
    """Imports a command when somebody asks for it."""

    def __init__(self, *args: Any, lazily: Mapping[str, str], **kwargs: Any) -> None:
        """Keep name -> `module:name in it`; the rest is click's own."""
        super().__init__(*args, **kwargs)
        self._lazily = lazily

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, as the help shows them."""
        return sorted(self._lazily)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command; None when there is none of this name."""
        if cmd_name not in self._lazily:
            return None
        module, _, name = self._lazily[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command
