"""Pictures of cards that did not read or were held: taken once, kept a while, opened by the pit.

A picture is sealed like the card it may show. Opening one is an intervention: its line in the audit
trail is committed before the picture leaves the store.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass

from studio.domain.errors import MalformedError, RefusedError
from studio.domain.game import Json
from studio.services.jpeg import jpeg_size
from studio.services.picture_ports import NewPicture, Picture, PictureRow
from studio.services.ports import Actor, Publisher, Role, Units
from studio.services.retry import again
from studio.services.setup import TableSetup

FRAME_BYTES_MAX = 400_000
CARD_BYTES_MAX = 150_000
SIDE_PX_MAX = 1_280
"""No side of a picture is longer: what a browser has to unpack stays bounded."""
LIST_MAX = 10
_TEXT_PER_BYTE = 4 / 3


@dataclass(frozen=True, kw_only=True)
class PictureService:
    """Takes scanners' pictures and shows them to supervisors, one at a time."""

    units: Units
    publisher: Publisher
    setups: Mapping[str, TableSetup]

    def take(
        self, device: str, *, table: str, report_id: str, captured_ms: int, frame: Json, card: Json
    ) -> dict[str, Json]:
        """Keep the picture of a report, once.

        Args:
            device: who sends it.
            table: its table.
            report_id: of the report that the studio wants the picture of.
            captured_ms: when it was taken, by the scanner's clock.
            frame: the whole frame, a JPEG in base64.
            card: the card alone, likewise, or None.

        Raises:
            MalformedError: `picture_not_jpeg`, `picture_too_large`.
            RefusedError: `picture_not_wanted`.
        """
        frame_bytes = _jpeg(frame, "frame", bytes_max=FRAME_BYTES_MAX)
        card_bytes = None if card is None else _jpeg(card, "card", bytes_max=CARD_BYTES_MAX)

        def work() -> bool:
            with self.units.write() as uow:
                taken = uow.pictures.take(
                    NewPicture(
                        device=device,
                        report_id=report_id,
                        table=table,
                        frame=frame_bytes,
                        card=card_bytes,
                        captured_ms=captured_ms,
                        at_ms=uow.now_ms(),
                    )
                )
                uow.commit()
                return taken

        taken = again(work)
        if taken:
            self.publisher.pit({"kind": "picture", "table": table})
        return {"taken": True, "duplicate": not taken}

    def of_table(self, table: str) -> list[dict[str, Json]]:
        """Return which pictures of a table there are, newest first; nothing of what they show.

        Raises:
            MalformedError: `unknown_table`.
        """
        if table not in self.setups:
            raise MalformedError("unknown_table", f"There is no table {table!r}.", table=table)
        with self.units.read() as uow:
            return [_about(row) for row in uow.pictures.taken(table, limit=LIST_MAX)]

    def open(self, actor: Actor, picture_id: int, *, reason: str) -> dict[str, Json]:
        """Return a picture to a supervisor, whose opening of it is in the audit trail by then.

        Raises:
            RefusedError: `role_forbids`, `unknown_picture`.
        """
        if actor.role is not Role.PIT_SUPERVISOR:
            raise RefusedError("role_forbids", "Only a pit supervisor opens pictures.")
        picture = again(lambda: self._open(actor, picture_id, reason))
        return {
            **_about(picture.about),
            "frame": _text(picture.frame),
            "card": None if picture.card is None else _text(picture.card),
        }

    def _open(self, actor: Actor, picture_id: int, reason: str) -> Picture:
        with self.units.write() as uow:
            picture = uow.pictures.open(picture_id)
            about = picture.about
            uow.trail.write(
                at_ms=uow.now_ms(),
                actor=actor,
                action="open_picture",
                subject=about.round_id or about.table,
                reason=reason,
                before={},
                after={
                    "picture": about.id,
                    "report": about.report_id,
                    "why": about.why,
                    "at_ms": about.wanted_ms,
                },
            )
            uow.commit()
        return picture


def _about(row: PictureRow) -> dict[str, Json]:
    return {
        "id": row.id,
        "table": row.table,
        "round_id": row.round_id,
        "why": row.why,
        "at_ms": row.wanted_ms,
    }


def _jpeg(value: Json, name: str, *, bytes_max: int) -> bytes:
    if not isinstance(value, str):
        raise MalformedError("picture_not_jpeg", f"{name} must be a JPEG in base64.", name=name)
    if len(value) > bytes_max * _TEXT_PER_BYTE + 4:
        raise MalformedError(
            "picture_too_large", f"{name} may have {bytes_max} bytes.", name=name, most=bytes_max
        )
    try:
        data = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        data = b""
    size = jpeg_size(data)
    if size is None:
        raise MalformedError("picture_not_jpeg", f"{name} must be a JPEG in base64.", name=name)
    if len(data) > bytes_max or max(size) > SIDE_PX_MAX:
        raise MalformedError(
            "picture_too_large",
            f"{name} may have {bytes_max} bytes and {SIDE_PX_MAX} pixels a side.",
            name=name,
            most=bytes_max,
        )
    return data


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
