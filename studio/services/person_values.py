"""What a person may be called, log in with and be qualified for: checked before it is stored."""

import re
from collections.abc import Collection

from studio.domain.errors import MalformedError
from studio.services.ports import Role

USERNAME = re.compile(r"[a-z0-9][a-z0-9._-]{1,31}")
BADGE = re.compile(r"[A-Za-z0-9-]{4,64}")
PIN = re.compile(r"[0-9]{4,8}")
PASSWORD_CHARS_MIN = 10
PASSWORD_CHARS_MAX = 200
DISPLAY_NAME_CHARS_MAX = 60


def check_username(username: str) -> None:
    """Refuse what can't be a username.

    Raises:
        MalformedError: `username_wrong`.
    """
    if USERNAME.fullmatch(username) is None:
        raise MalformedError(
            "username_wrong",
            "A username is 2 to 32 characters of a-z, 0-9, dot, dash and underscore.",
        )


def check_values(
    *, display_name: str | None, password: str | None, badge: str | None, pin: str | None
) -> None:
    """Refuse values that nobody can have; None is not looked at.

    Raises:
        MalformedError: `display_name_wrong`, `password_wrong`, `badge_wrong`, `pin_wrong`.
    """
    if display_name is not None and not (
        0 < len(display_name.strip()) <= DISPLAY_NAME_CHARS_MAX and display_name.isprintable()
    ):
        raise MalformedError(
            "display_name_wrong",
            f"A display name is 1 to {DISPLAY_NAME_CHARS_MAX} printable characters.",
        )
    if password is not None and not PASSWORD_CHARS_MIN <= len(password) <= PASSWORD_CHARS_MAX:
        raise MalformedError(
            "password_wrong",
            f"A password is {PASSWORD_CHARS_MIN} to {PASSWORD_CHARS_MAX} characters.",
        )
    if badge is not None and BADGE.fullmatch(badge) is None:
        raise MalformedError("badge_wrong", "A badge is 4 to 64 letters, digits and dashes.")
    if pin is not None and PIN.fullmatch(pin) is None:
        raise MalformedError("pin_wrong", "A PIN is 4 to 8 digits.")


def check_language(language: str | None, *, known: Collection[str]) -> None:
    """Refuse a language that the pages don't speak; None is not looked at.

    Raises:
        MalformedError: `language_wrong`.
    """
    if language is not None and language not in known:
        raise MalformedError("language_wrong", f"language must be one of {', '.join(known)}.")


def check_games(games: frozenset[str], *, role: Role, known: Collection[str]) -> None:
    """Refuse games that the studio doesn't have, and games of somebody who deals none.

    Raises:
        MalformedError: `unknown_game`, `games_without_dealer`.
    """
    for game in sorted(games):
        if game not in known:
            raise MalformedError(
                "unknown_game",
                f"{game!r} is not a game of this studio; there are: {', '.join(known)}.",
                game=game,
            )
    if games and role is not Role.DEALER:
        raise MalformedError("games_without_dealer", "Only a dealer is qualified for games.")
