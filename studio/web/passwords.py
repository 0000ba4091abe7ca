"""Hashing of passwords and PINs with argon2, beside the event loop."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import argon2
from argon2.exceptions import InvalidHashError, VerificationError

P = ParamSpec("P")
T = TypeVar("T")


class Argon2Hasher:
    """`studio.services.people.Hasher`. One hash takes some 50 ms of a core."""

    def __init__(self, hasher: argon2.PasswordHasher | None = None) -> None:
        """Take `hasher`, or one with the library's recommended cost."""
        self._hasher = hasher or argon2.PasswordHasher()

    def hash(self, secret: str) -> str:
        """Return a salted hash."""
        return _aside(self._hasher.hash, secret)

    def verify(self, hashed: str, secret: str) -> bool:
        """Return whether `secret` made `hashed`."""
        return _aside(self._verify, hashed, secret)

    def _verify(self, hashed: str, secret: str) -> bool:
        # The answer is a value, not an exception: gevent's pool prints every exception it carries.
        try:
            return self._hasher.verify(hashed, secret)
        except (VerificationError, InvalidHashError):
            return False


def _aside(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `work` in a real thread when greenlets share this one, so that no table waits."""
    from gevent import get_hub, monkey

    if not monkey.is_module_patched("threading"):
        return work(*args, **kwargs)
    answer: T = get_hub().threadpool.apply(work, args, kwargs)
    return answer
