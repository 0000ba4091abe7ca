"""The games: an explicit tuple. A plug-in that can't be imported stops the start.

A new game is added by one import and one entry; the conformance tests (tests/games) then demand
its vectors, reference figures and golden rounds.
"""

from collections import Counter

from studio.domain.errors import InvariantError, MalformedError
from studio.domain.game import AnyGame
from studio.games.baccarat.plugin import Baccarat
from studio.games.pok_deng.plugin import PokDeng

GAMES: tuple[AnyGame, ...] = (PokDeng(), Baccarat())


def by_code(games: tuple[AnyGame, ...]) -> dict[str, AnyGame]:
    """Return the games by their codes.

    Raises:
        InvariantError: `game_registered_twice`.
    """
    doubled = [code for code, count in Counter(game.code for game in games).items() if count > 1]
    if doubled:
        raise InvariantError(
            "game_registered_twice", f"Two games have the code {doubled[0]!r}.", game=doubled[0]
        )
    return {game.code: game for game in games}


_BY_CODE = by_code(GAMES)


def game(code: str) -> AnyGame:
    """Return the game with this code.

    Raises:
        MalformedError: `unknown_game`.
    """
    try:
        return _BY_CODE[code]
    except KeyError:
        known = ", ".join(sorted(_BY_CODE))
        raise MalformedError(
            "unknown_game", f"{code!r} is not a game of this studio; there are: {known}.", game=code
        ) from None
