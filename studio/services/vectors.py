"""Checks test vectors against the games' own rules: the work behind `rules check`.

A vectors file is a JSON object whose `vectors` are objects with `id`, `game`, `op`, `input` and
`expect`. A vector passes when the game's operation returns every value that `expect` names.
Numbers are compared by their decimal value, exactly: 7.4 is 7.4, never nearly 7.4.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from studio.domain.errors import MalformedError, StudioError
from studio.domain.game import AnyGame, Json
from studio.games import GAMES


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A vector that the rules contradict."""

    file: str
    id: str
    differs: str
    """What differs, in one sentence."""

    @property
    def line(self) -> str:
        """The line for people."""
        return f"{self.id} ({self.file}): {self.differs}"


@dataclass(frozen=True, kw_only=True)
class Unsupported:
    """A vector that no registered game answers."""

    file: str
    id: str
    game: str
    op: str
    game_registered: bool
    """True: the game is here but lacks the operation, which is a fault of ours."""


@dataclass(frozen=True, kw_only=True)
class VectorReport:
    """What a check found."""

    passed: int
    failures: tuple[Failure, ...]
    unsupported: tuple[Unsupported, ...]

    @property
    def unsupported_of_registered_game(self) -> tuple[Unsupported, ...]:
        """Unsupported vectors of a game that is registered."""
        return tuple(vector for vector in self.unsupported if vector.game_registered)

    @property
    def ok(self) -> bool:
        """True when none failed and none of a registered game is unsupported."""
        return not self.failures and not self.unsupported_of_registered_game

    @property
    def lines(self) -> tuple[str, ...]:
        """The report for people: one line per fault, the counts last."""
        return (
            *(failure.line for failure in self.failures),
            *(
                f"{vector.id} ({vector.file}): {vector.game} has no operation {vector.op!r}"
                for vector in self.unsupported_of_registered_game
            ),
            f"{self.passed} passed, {len(self.failures)} failed, "
            f"{len(self.unsupported)} unsupported",
        )


@dataclass(frozen=True, kw_only=True)
class _Vector:
    file: str
    id: str
    game: str
    op: str
    given: Mapping[str, Json]
    expect: Mapping[str, Json]


def check_vectors(
    files: Mapping[str, Json],
    *,
    game: str | None = None,
    games: tuple[AnyGame, ...] = GAMES,
) -> VectorReport:
    """Run the vectors of parsed files, by file name, through the registered games.

    `game` keeps only that game's vectors.

    Raises:
        MalformedError: `vectors_malformed`, with the file and the vector named; `unknown_game`
            when `game` is neither registered nor named by any vector.
    """
    vectors = [vector for name, content in files.items() for vector in _read(name, content)]
    registered = {each.code: each for each in games}
    if game is not None:
        if game not in registered and all(vector.game != game for vector in vectors):
            raise MalformedError(
                "unknown_game", f"{game!r} is no game of the studio nor of the files.", game=game
            )
        vectors = [vector for vector in vectors if vector.game == game]
    passed = 0
    failures: list[Failure] = []
    unsupported: list[Unsupported] = []
    for vector in vectors:
        plugin = registered.get(vector.game)
        if plugin is None or vector.op not in plugin.operations:
            unsupported.append(_unsupported(vector, game_registered=plugin is not None))
        elif (differs := _run(plugin, vector)) is not None:
            failures.append(Failure(file=vector.file, id=vector.id, differs=differs))
        else:
            passed += 1
    return VectorReport(passed=passed, failures=tuple(failures), unsupported=tuple(unsupported))


def _unsupported(vector: _Vector, *, game_registered: bool) -> Unsupported:
    return Unsupported(
        file=vector.file,
        id=vector.id,
        game=vector.game,
        op=vector.op,
        game_registered=game_registered,
    )


def _run(plugin: AnyGame, vector: _Vector) -> str | None:
    """Return what differs, or None. An input the game can't read or refuses is a difference."""
    try:
        answer = plugin.operations[vector.op](vector.given)
    except StudioError as error:
        return f"{vector.op} raised {error.code}: {error.message}"
    differences = [
        f"{name}: expected {_shown(wanted)}, "
        + (f"got {_shown(answer[name])}" if name in answer else "got nothing")
        for name, wanted in vector.expect.items()
        if name not in answer or not same(wanted, answer[name])
    ]
    return "; ".join(differences) or None


_AMOUNT = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def same(wanted: Json, got: Json) -> bool:
    """Compare two JSON values; numbers by decimal value, types never mixed.

    An amount with decimals may be wanted as a text, so that no float touches it.

    >>> same(7.4, Decimal("7.4")), same(7, 7.0), same("7", 7), same(1, True)
    (True, True, False, False)
    >>> same("1948.05", Decimal("1948.050")), same("x", Decimal(1))
    (True, False)
    """
    if isinstance(wanted, str) and isinstance(got, Decimal):
        return _AMOUNT.fullmatch(wanted) is not None and Decimal(wanted) == got
    if _is_number(wanted) and _is_number(got):
        return _exact(wanted) == _exact(got)
    if isinstance(wanted, list | tuple) and isinstance(got, list | tuple):
        return len(wanted) == len(got) and all(map(same, wanted, got))
    if isinstance(wanted, Mapping) and isinstance(got, Mapping):
        return wanted.keys() == got.keys() and all(same(wanted[key], got[key]) for key in wanted)
    if isinstance(wanted, str) and isinstance(got, str):
        return wanted == got
    return type(wanted) is type(got) and bool(wanted == got)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float | Decimal | Fraction) and not isinstance(value, bool)


def _exact(number: float | Decimal | Fraction) -> Fraction | Decimal:
    """The number as written: a float by its shortest decimal form. NaN equals nothing."""
    if isinstance(number, Fraction):
        return number
    written = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
    return Fraction(written) if written.is_finite() else written


def _shown(value: Json) -> str:
    return str(value) if _is_number(value) else repr(value)


def _read(file: str, content: Json) -> Iterator[_Vector]:
    vectors = content.get("vectors") if isinstance(content, Mapping) else None
    if not isinstance(vectors, list):
        raise _malformed(file, None, "it must be an object with a list 'vectors'")
    for place, vector in enumerate(vectors, start=1):
        yield _one(file, place, vector)


def _one(file: str, place: int, vector: Json) -> _Vector:
    if not isinstance(vector, Mapping):
        raise _malformed(file, f"number {place}", "a vector must be an object")
    name = vector.get("id")
    if not isinstance(name, str):
        raise _malformed(file, f"number {place}", "'id' must be a text")
    for key in ("game", "op"):
        if not isinstance(vector.get(key), str):
            raise _malformed(file, name, f"{key!r} must be a text")
    for key in ("input", "expect"):
        if not isinstance(vector.get(key), Mapping):
            raise _malformed(file, name, f"{key!r} must be an object")
    if not vector["expect"]:
        raise _malformed(file, name, "'expect' must name at least one value")
    return _Vector(
        file=file,
        id=name,
        game=vector["game"],
        op=vector["op"],
        given=vector["input"],
        expect=vector["expect"],
    )


def _malformed(file: str, vector: str | None, what: str) -> MalformedError:
    where = file if vector is None else f"{file}, vector {vector}"
    return MalformedError("vectors_malformed", f"{where}: {what}.", file=file, vector=vector)
