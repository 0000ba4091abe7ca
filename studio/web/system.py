"""The real clock and the real chance. Everything else takes them as arguments."""

import secrets
import time

from studio.services.ports import Clock, Randomness

NONCE_BYTES = 32
NS_PER_MS = 1_000_000


class SystemClock(Clock):
    """The machine's clock."""

    def now_ms(self) -> int:
        """Return milliseconds since 1970 UTC."""
        return time.time_ns() // NS_PER_MS


class SystemRandomness(Randomness):
    """The operating system's generator."""

    def nonce(self) -> bytes:
        """Return 32 unpredictable bytes for a commitment."""
        return secrets.token_bytes(NONCE_BYTES)

    def token(self) -> str:
        """Return an unguessable URL-safe text for keys and session ids."""
        return secrets.token_urlsafe(NONCE_BYTES)
