"""The event log's form: canonical JSON, the hash chain, commitments to sealed cards."""

import hashlib
import json
from collections.abc import Mapping

from studio.domain.game import Json

GENESIS_HASH = ""
"""Previous hash of a table's very first event."""


def canonical(value: Json) -> str:
    """Return the one JSON text of a value: keys sorted, no spaces, UTF-8 kept."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def event_hash(
    prev_hash: str,
    *,
    table: str,
    epoch: int,
    seq: int,
    at_ms: int,
    kind: str,
    body: Mapping[str, Json],
) -> str:
    """Return the SHA-256 hex that chains an event to the one before it.

    The public body alone is hashed: a sealed card is bound by the commitment in its body.
    """
    line = canonical(
        {
            "at_ms": at_ms,
            "body": body,
            "epoch": epoch,
            "kind": kind,
            "prev_hash": prev_hash,
            "seq": seq,
            "table": table,
        }
    )
    return hashlib.sha256(line.encode()).hexdigest()


def commitment(*, nonce: str, scope: str, position: str, index: int, card: str, serial: int) -> str:
    """Return the SHA-256 hex that is published when a card is drawn.

    Args:
        nonce: 32 random bytes as hex; without it a card could be guessed from 416 trials.
        scope: the round's id, or the shoe's for cards burnt at its opening.
        position: where the card lies.
        index: which card of that position, from 0.
        card: the face, e.g. `TS`.
        serial: the physical card in its deck set.
    """
    text = f"{nonce}|{scope}|{position}|{index}|{card}|{serial}"
    return hashlib.sha256(text.encode()).hexdigest()
