"""One round as evidence: a signed bundle that anybody can check without the studio.

It holds the table's public log from the opening of the shoe to the round's end, the wagers of one
player or of all, and for the house the pictures of cards that did not read. What is sealed still
is not in it: cards of the round itself are all open by its end.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from studio.domain.errors import MalformedError, RefusedError
from studio.domain.game import Json
from studio.domain.log import canonical
from studio.services.ports import (
    Actor,
    Clock,
    RoundRow,
    StoredEvent,
    UnitOfWork,
    Units,
    Wager,
)

FORMAT = "studio.round.1"
ENDS = frozenset({"RoundSettled", "RoundVoided"})
PICTURES_MAX = 50
"""A round has at most so many pictures in its bundle; the newest are taken."""


class Signs(Protocol):
    """Whoever signs for the studio."""

    @property
    def public_key(self) -> str:
        """The key that checks, base64."""

    def sign(self, content: bytes) -> str:
        """Return the signature, base64."""


@dataclass(frozen=True, kw_only=True)
class EvidenceService:
    """Makes bundles."""

    units: Units
    clock: Clock
    signer: Signs

    def of_player(self, player: Actor, round_id: str) -> dict[str, Json]:
        """Return a round with the wagers of one player, who need not have any.

        Raises:
            MalformedError: `unknown_round`.
            RefusedError: `round_running`.
        """
        with self.units.read() as uow:
            content = self._content(uow, round_id, player_id=player.id)
        return self._signed(content)

    def of_all(
        self, actor: Actor, round_id: str, *, reason: str, pictures: bool
    ) -> dict[str, Json]:
        """Return a round with all wagers; a line in the trail says who took it and why.

        `pictures`: with those of cards that did not read or were held, for who may open them.

        Raises:
            MalformedError: `unknown_round`, `reason_missing`.
            RefusedError: `round_running`.
        """
        if not reason.strip():
            raise MalformedError("reason_missing", "Give a reason; it goes into the audit trail.")
        with self.units.write() as uow:
            content = self._content(uow, round_id, player_id=None)
            found = _pictures(uow, round_id, table=str(content["table"])) if pictures else []
            content["pictures"] = found
            uow.trail.write(
                at_ms=uow.now_ms(),
                actor=actor,
                action="export_round",
                subject=round_id,
                reason=reason.strip(),
                before={},
                after={"wagers": len(content["wagers"]), "pictures": len(found)},
            )
            uow.commit()
        return self._signed(content)

    def _content(self, uow: UnitOfWork, round_id: str, *, player_id: int | None) -> dict[str, Json]:
        row = uow.rounds.get(round_id)
        if row is None:
            raise MalformedError("unknown_round", f"There is no round {round_id!r}.")
        if not row.settlement_version:
            raise RefusedError("round_running", "The round has not ended; its cards are sealed.")
        return {
            "format": FORMAT,
            "round_id": row.id,
            "table": row.table,
            "game": row.game,
            "rule_version": row.rule_version,
            "paytable_version": row.paytable_version,
            "made_ms": self.clock.now_ms(),
            "for_player": player_id,
            "events": [event_json(event) for event in _until_the_end(uow, row)],
            "corrections": [
                event_json(event)
                for event in uow.events.corrections(row.table, epoch=row.epoch)
                if event.body["round_id"] == row.id
            ],
            "wagers": [
                wager_json(wager) for wager in uow.wagers.of_round(round_id, player_id=player_id)
            ],
        }

    def _signed(self, content: dict[str, Json]) -> dict[str, Json]:
        return {
            **content,
            "signature": {
                "algorithm": "Ed25519",
                "public_key": self.signer.public_key,
                "value": self.signer.sign(canonical(content).encode()),
            },
        }


def _until_the_end(uow: UnitOfWork, row: RoundRow) -> Sequence[StoredEvent]:
    """Return the shoe's events from its loading to the last one that ends this round."""
    events = uow.events.read(row.table, epoch=row.epoch, after_seq=0)
    ends = [
        event.seq for event in events if event.kind in ENDS and event.body.get("round_id") == row.id
    ]
    return [event for event in events if event.seq <= max(ends)]


def event_json(event: StoredEvent) -> dict[str, Json]:
    """Return an event's public part."""
    return {
        "epoch": event.epoch,
        "seq": event.seq,
        "at_ms": event.at_ms,
        "kind": event.kind,
        "body": dict(event.body),
        "prev_hash": event.prev_hash,
        "hash": event.hash,
    }


def wager_json(wager: Wager) -> dict[str, Json]:
    """Return a wager as it stands, with its ending."""
    ending: Mapping[str, Json] | None = None
    if wager.ending is not None:
        ending = {
            "kind": wager.ending.kind.value,
            "version": wager.ending.version,
            "payout_minor": wager.ending.payout_minor,
        }
    return {
        "id": wager.id,
        "player_id": wager.player_id,
        "bet": wager.bet,
        "stake_minor": wager.stake_minor,
        "hold_minor": wager.hold_minor,
        "accepted_ms": wager.accepted_ms,
        "forfeited": wager.forfeited,
        "ending": ending,
    }


def _pictures(uow: UnitOfWork, round_id: str, *, table: str) -> list[dict[str, Json]]:
    rows = [
        row for row in uow.pictures.taken(table, limit=PICTURES_MAX) if row.round_id == round_id
    ]
    found = []
    for row in rows:
        picture = uow.pictures.open(row.id)
        card = None if picture.card is None else base64.b64encode(picture.card).decode()
        found.append(
            {
                "report_id": row.report_id,
                "why": row.why,
                "captured_ms": row.captured_ms,
                "frame": base64.b64encode(picture.frame).decode(),
                "card": card,
            }
        )
    return found
