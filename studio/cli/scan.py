"""`app.py scan`: cards from pictures, folders and recordings.

One line a frame, as it always was. A recording shown to people gives its card events instead:
nobody reads a thousand lines of frames. `--events` and `--frames` choose either way.
"""

from collections.abc import Iterator
from pathlib import Path

import click

from studio.cli.lines import fail, one_line_errors

PROFILES = ("qr", "code128")


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--any", "any_code", is_flag=True, help="Also codes that are not studio cards.")
@click.option(
    "--profile",
    type=click.Choice(PROFILES),
    default=PROFILES[0],
    show_default=True,
    help="What the cards are printed with.",
)
@click.option(
    "--events/--frames",
    "events",
    default=None,
    help="Of a recording, its card events or one line a frame.  [default: events for people, "
    "frames with --json or --any]",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON line a frame or event.")
@one_line_errors
def scan(
    paths: tuple[Path, ...], *, any_code: bool, profile: str, events: bool | None, as_json: bool
) -> None:
    """Read cards from images, folders or a video; fails when a file can't be opened."""
    if any_code and events:
        raise click.UsageError("--any and --events exclude each other: an event is a card's.")
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        fail(*(f"{path} does not exist" for path in missing), status=1)
    from scanner.decode import DecoderMissingError

    if events is None:
        events = not (as_json or any_code)
    pictures = faults = 0
    try:
        for path in paths:
            film = events and _is_recording(path)
            lines = (
                _events(path, profile=profile, as_json=as_json)
                if film
                else _frames(path, any_code=any_code, profile=profile, as_json=as_json)
            )
            for line, good in lines:
                click.echo(line)
                pictures += 1
                faults += not good
            pictures += film
    except DecoderMissingError as error:
        fail(str(error), status=1)
    if faults:
        fail(f"Files that can't be read as pictures: {faults}", status=1)
    if not pictures:
        fail("There is no picture in " + ", ".join(map(str, paths)), status=1)


def _is_recording(path: Path) -> bool:
    from scanner.camera import IMAGE_SUFFIXES

    return path.is_file() and path.suffix.lower() not in IMAGE_SUFFIXES


def _frames(
    path: Path, *, any_code: bool, profile: str, as_json: bool
) -> Iterator[tuple[str, bool]]:
    """Yield a line a frame, and whether it could be opened at all."""
    from scanner.layout import Symbology
    from scanner.reading import as_json_line, as_table_line, read_paths

    as_line = as_json_line if as_json else as_table_line
    for result in read_paths([path], any_code=any_code, symbology=Symbology(profile)):
        yield as_line(result), result["status"] != "error"


def _events(path: Path, *, profile: str, as_json: bool) -> Iterator[tuple[str, bool]]:
    """Yield a line an event of a recording, or the line of a file that is none."""
    from scanner.camera import CameraError
    from scanner.layout import Symbology
    from scanner.reading import as_json_line, as_table_line, unreadable
    from scanner.recording import event_json_line, event_table_line, recorded_events

    try:
        for event in recorded_events(path, symbology=Symbology(profile)):
            yield (event_json_line if as_json else event_table_line)(event), True
    except CameraError:
        result = unreadable(path)
        yield (as_json_line if as_json else as_table_line)(result), False
