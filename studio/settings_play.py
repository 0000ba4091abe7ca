"""The section `[play]` of the settings, and what tables of money may not have."""

from collections.abc import Iterable
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from studio.domain.errors import MalformedError
from studio.domain.game import AnyGame
from studio.domain.money import CURRENCIES, STAKE_MINOR_MAX, Currency
from studio.services.play_money import PlayPolicy
from studio.services.setup import TableSetup

SEATS_MAX = 12
"""More name plates than this no screen shows side by side."""


class PlaySettings(BaseModel):
    """Purse and rooms of a play-money studio."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    purse_minor: int = Field(default=100_000, gt=0, le=STAKE_MINOR_MAX)
    """What a player begins with, and begins anew with when it is gone."""
    room_seats_max: int = Field(default=4, ge=2, le=SEATS_MAX)
    room_seats_min: int = Field(default=2, ge=2, le=SEATS_MAX)
    """With fewer players a room does not start."""
    club_file: Path = Path("config/club.toml")
    """Medals and shop; a relative path is meant from the project."""

    @model_validator(mode="after")
    def _seats_fit(self) -> Self:
        if self.room_seats_min > self.room_seats_max:
            msg = f"room_seats_min is more than room_seats_max, {self.room_seats_max}"
            raise ValueError(msg)
        return self


def need_no_money(codes: Iterable[str]) -> None:
    """Do nothing where every table's currency is play money: `[play]` may stand in the settings.

    Raises:
        ValueError: with the line that says so.
    """
    money = sorted({code for code in codes if not CURRENCIES[code].play})
    if money:
        play = " and ".join(code for code, currency in CURRENCIES.items() if currency.play)
        msg = f"play is for play money only ({play}); the tables' currency is {', '.join(money)}"
        raise ValueError(msg)


def need_options_for_money(setup: TableSetup, game: AnyGame) -> None:
    """Do nothing unless a table of money has options that only play money may have.

    Raises:
        MalformedError: `play_money_only`.
    """
    options = game.describe(setup.config).play_money_only
    if options and not setup.currency.play:
        named = ", ".join(f"options.{option}" for option in options)
        verb = "is" if len(options) == 1 else "are"
        raise MalformedError(
            "play_money_only",
            f"{named} {verb} for play money only; the table's currency is {setup.currency.code}",
        )


def play_policy(play: PlaySettings, currency: Currency) -> PlayPolicy | None:
    """Return what purse and rooms go by; None in a studio of money."""
    return PlayPolicy(**play.model_dump(exclude={"club_file"})) if currency.play else None
