"""What a demo plays: which tables, and what sets each apart from the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from studio.domain.game import Json

DECKS: Final = 8
DEALERS: Final = ("dealer", "dealer2")
EVERY_GAME: Final = "all"
MONEY: Final = "JPY"
PLAY_MONEY: Final = "G"
PLAY_PURSE_MINOR: Final = 100_000
"""1000 G."""
PLAY_STAKES_MINOR: Final = (100, 99_900)
"""1 to 999 G."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """On what terms a table is played."""

    options: Mapping[str, Json]
    limits_minor: Mapping[str, tuple[int, int]]
    """Least and most stake by kind of bet."""


@dataclass(frozen=True, kw_only=True)
class DemoGame:
    """A game as the demo's table offers it."""

    code: str
    name: str
    deck_sets: tuple[int, ...]
    """No other game's: a set lies on one table at a time."""
    burn_per_round: int
    money: Terms
    play: Terms
    """As in config/play.toml."""
    salt: tuple[str, ...]
    """Keeps the chances of two tables with one seed apart."""


GAMES: Final = {
    game.code: game
    for game in (
        DemoGame(
            code="pok_deng",
            name="Pok Deng",
            deck_sets=(1, 2),
            burn_per_round=1,
            money=Terms(options={}, limits_minor={"main": (100, 100_000), "pair": (100, 20_000)}),
            play=Terms(options={}, limits_minor={"main": PLAY_STAKES_MINOR, "pair": (100, 20_000)}),
            salt=(),  # its seeds are older than the second game and keep their meaning
        ),
        DemoGame(
            code="baccarat",
            name="Baccarat",
            deck_sets=(3, 4),
            burn_per_round=0,
            money=Terms(
                options={"tie_gross": 8, "pair_bets": True},
                limits_minor={
                    **dict.fromkeys(("player", "banker"), (100, 100_000)),
                    **dict.fromkeys(("tie", "pair"), (100, 20_000)),
                },
            ),
            play=Terms(
                options={"tie_gross": 8, "online_bonus": True},
                limits_minor=dict.fromkeys(("player", "banker", "tie"), PLAY_STAKES_MINOR),
            ),
            salt=("baccarat",),
        ),
    )
}
"""In the order of the tables."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to play."""

    rounds: int | None
    """At each table; None: until stopped."""
    seed: int | None
    headless: bool
    database_url: str | None
    games: tuple[str, ...]
    """One table each, in this order."""
    play_money: bool = False
    host: str = "127.0.0.1"
    port: int | None = None


@dataclass(frozen=True, kw_only=True)
class DemoTable:
    """One table of a demo."""

    code: str
    game: DemoGame
    dealer: str
    """Login of its dealer, who is qualified for this game only."""
    device: str
    """Name of its scanner."""

    def __str__(self) -> str:
        """Name the table for people."""
        return f"{self.code} {self.game.name}"


def chosen_games(choice: str) -> tuple[str, ...]:
    """Return the games that `--game` names."""
    return tuple(GAMES) if choice == EVERY_GAME else (choice,)


def line_up(plan: Plan, codes: Sequence[str]) -> tuple[DemoTable, ...]:
    """Return the tables under their codes, each with a dealer and a scanner of its own."""
    return tuple(
        DemoTable(code=code, game=GAMES[game], dealer=dealer, device=f"{dealer}-camera")
        for code, game, dealer in zip(codes, plan.games, DEALERS, strict=False)
    )
