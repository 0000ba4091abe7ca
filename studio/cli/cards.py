"""`app.py cards`: print deck sets, badges and test cards, and register what was printed."""

from pathlib import Path

import click

from studio.cli.lines import FAILED, fail, one_line_errors
from studio.cli.stores import offline_settings, open_units
from studio.domain.cards import DECK_SET_MAX, SERIAL_MAX
from studio.services.ports import DeckSet

DECKS, SETS_OF_TILES = 8, 1
"""How many decks or sets of dominoes make a deck set, unless said otherwise."""

_decks = click.option(
    "--decks",
    type=click.IntRange(1, 8),
    help=f"How many in the set.  [default: {DECKS}, with --tiles {SETS_OF_TILES}]",
)
_tiles = click.option("--tiles", is_flag=True, help="Dominoes instead of cards.")


@click.group()
def cards() -> None:
    """Cards, dominoes, badges, test cards: print and register."""


@cards.command("print")
@click.option("--deck-set", type=click.IntRange(1, DECK_SET_MAX), help="Number of the deck set.")
@_decks
@_tiles
@click.option("--badges", metavar="N|FILE", help="Staff badges: so many blank ones, or by name.")
@click.option(
    "--first",
    type=click.IntRange(1, SERIAL_MAX),
    default=1,
    show_default=True,
    help="Number of the first badge.",
)
@click.option("--test-card", is_flag=True, help="Test cards for `python -m scanner calibrate`.")
@click.option(
    "--profile",
    type=click.Choice(["qr", "code128"]),
    default="qr",
    show_default=True,
    help="What the codes are.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The PDF.")
@one_line_errors
def print_(
    *,
    deck_set: int | None,
    decks: int | None,
    tiles: bool,
    badges: str | None,
    first: int,
    test_card: bool,
    profile: str,
    output: Path,
) -> None:
    """Make sheets to print and cut: a deck set, staff badges, or test cards.

    --badges takes a number, or a FILE with a name a line; after a name may stand a comma and
    the badge's own number.
    """
    if [deck_set is not None, badges is not None, test_card].count(True) != 1:
        raise click.UsageError("Say one of --deck-set, --badges and --test-card.")
    if deck_set is None and (tiles or decks is not None):
        raise click.UsageError("--tiles and --decks go with --deck-set.")
    try:
        if deck_set is not None:
            _print_deck_set(output, deck_set, decks=decks, tiles=tiles, profile=profile)
        elif badges is not None:
            _print_badges(output, badges, first=first, profile=profile)
        else:
            _print_test_cards(output, profile=profile)
    except OSError as error:
        fail(f"{output} can't be written: {error.strerror}", status=FAILED)


def _print_deck_set(
    output: Path, deck_set: int, *, decks: int | None, tiles: bool, profile: str
) -> None:
    from scanner.layout import Symbology
    from scanner.printing import card_sheets, tile_sheets

    decks = decks or (SETS_OF_TILES if tiles else DECKS)
    sheets = tile_sheets if tiles else card_sheets
    printed = sheets(output, deck_set=deck_set, decks=decks, symbology=Symbology(profile))
    things = "dominoes" if tiles else "cards"
    option = " --tiles" if tiles else ""
    click.echo(
        f"{output}: {len(printed)} {things} of deck set {deck_set}. Print at 100 %, cut, then:"
    )
    click.echo(f"  python app.py cards register --deck-set {deck_set} --decks {decks}{option}")


def _print_badges(output: Path, wanted: str, *, first: int, profile: str) -> None:
    from scanner.badges import blank_badges, named_badges
    from scanner.layout import Symbology
    from scanner.printing import badge_sheets

    symbology = Symbology(profile)
    if wanted.isascii() and wanted.isdigit():
        badges = blank_badges(int(wanted), first=first)
    else:
        badges = named_badges(Path(wanted), first=first, symbology=symbology)
    badge_sheets(output, badges, symbology=symbology)
    click.echo(f"{output}: {len(badges)} staff badges. Print at 100 %, cut, then give each person")
    click.echo("the digits as badge, and a PIN, on the administration page:")
    for badge in badges:
        click.echo(f"  {badge.code.digits}  {badge.name or ''}".rstrip())


def _print_test_cards(output: Path, *, profile: str) -> None:
    from scanner.layout import Symbology
    from scanner.printing import TEST_CARDS, write_test_cards

    write_test_cards(output, symbology=Symbology(profile))
    click.echo(f"{output}: {TEST_CARDS} test cards. Print at 100 %, cut, then:")
    click.echo("  python -m scanner calibrate --config FILE.toml")


@cards.command()
@click.option("--deck-set", type=click.IntRange(1, DECK_SET_MAX), required=True, help="Its number.")
@_decks
@_tiles
@click.option("--database-url", help="Else the settings' database.")
@one_line_errors
def register(*, deck_set: int, decks: int | None, tiles: bool, database_url: str | None) -> None:
    """Add a printed deck set's manifest: from then on a table may load it."""
    from scanner.printing import card_manifest, tile_manifest

    decks = decks or (SETS_OF_TILES if tiles else DECKS)
    manifest = tile_manifest(decks) if tiles else card_manifest(decks)
    with open_units(offline_settings(database_url)) as units, units.write() as uow:
        uow.deck_sets.register(DeckSet(number=deck_set, decks=decks, manifest=manifest))
        uow.commit()
    things = "dominoes" if tiles else "cards"
    click.echo(f"Deck set {deck_set} is registered: {len(manifest)} {things}.")
