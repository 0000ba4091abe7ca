"""Pictures in the store: what the constraints hold, and what the audit names."""

import sqlite3

import pytest
from sqlalchemy import Engine, text, update
from sqlalchemy.exc import IntegrityError

from studio.services.audit import audit
from studio.services.picture_ports import NewPicture, WantedPicture
from studio.services.ports import StoredEvent
from studio.store.engine import is_sqlite, write_transaction
from studio.store.picture_tables import scan_picture

AT_MS = 1_700_000_000_000


def append(unit, kind: str, seq: int) -> None:
    unit.events.lock("T1")
    _, _, prev_hash = unit.events.position("T1")
    unit.events.append(
        StoredEvent(
            table="T1",
            epoch=0,
            seq=seq,
            at_ms=AT_MS,
            kind=kind,
            body={},
            sealed=None,
            prev_hash=prev_hash,
            hash=f"{seq:064x}",
        )
    )


def want(unit, number: int, *, seq: int = 1, at_ms: int = AT_MS) -> None:
    report_id = f"cam-{number}"
    unit.reports.take(device="cam", report_id=report_id, digest="a" * 64, at_ms=at_ms)
    unit.pictures.want(
        WantedPicture(
            device="cam",
            report_id=report_id,
            table="T1",
            epoch=0,
            seq=seq,
            round_id=None,
            why="no_code",
            at_ms=at_ms,
        )
    )


def new(number: int, frame: bytes = b"frame") -> NewPicture:
    return NewPicture(
        device="cam",
        report_id=f"cam-{number}",
        table="T1",
        frame=frame,
        card=None,
        captured_ms=1,
        at_ms=AT_MS + 1,
    )


@pytest.fixture
def wanted(house):
    """A house with a failed read whose picture is wanted, and one whose picture has come."""
    with house.units.write() as unit:
        append(unit, "ReadFailed", 1)
        append(unit, "CardHeld", 2)
        want(unit, 1)
        want(unit, 2, seq=2)
        assert unit.pictures.take(new(2)) is True
        unit.commit()
    return house


def test_bytes_come_back_as_they_went_in(wanted):
    frame = bytes(range(256)) * 100
    with wanted.units.write() as unit:
        assert unit.pictures.take(new(1, frame)) is True
        assert unit.pictures.take(new(1)) is False
        unit.commit()
    with wanted.units.read() as unit:
        first = unit.pictures.taken("T1", limit=5)[-1]
        opened = unit.pictures.open(first.id)
    assert opened.frame == frame
    assert opened.card is None


def test_a_report_wants_one_picture(wanted):
    with wanted.units.write() as unit, pytest.raises(IntegrityError):
        want(unit, 1)


def test_a_picture_needs_a_report_that_was_taken_and_an_event(wanted):
    for values in ({"report_id": "cam-404"}, {"seq": 404}):
        with wanted.units.write() as unit, pytest.raises(IntegrityError):
            unit.connection.execute(update(scan_picture).values(**values))


@pytest.mark.parametrize("values", [{"frame": None}, {"taken_ms": None}, {"captured_ms": None}])
def test_a_picture_is_whole_or_wanted(wanted, values):
    taken = scan_picture.c.report_id == "cam-2"
    with wanted.units.write() as unit, pytest.raises(IntegrityError):
        unit.connection.execute(update(scan_picture).where(taken).values(**values))


_FOREIGN_KEYS = """
SELECT conrelid::regclass::text AS of, conname AS name,
    replace(pg_get_constraintdef(oid), ' NOT VALID', '') || ' NOT VALID' AS what
FROM pg_constraint
WHERE contype = 'f' AND confrelid IN ('event'::regclass, 'scan_report'::regclass)
"""


def by_hand(engine: Engine, sql: str) -> None:
    """Change what is stored past every key, as somebody with the database's password could."""
    if is_sqlite(engine):
        connection = sqlite3.connect(str(engine.url.database))  # which holds no keys by itself
        connection.execute(sql)
        connection.commit()
        connection.close()
        return
    with write_transaction(engine) as connection:
        keys = connection.execute(text(_FOREIGN_KEYS)).all()
        for key in keys:
            connection.execute(text(f'ALTER TABLE {key.of} DROP CONSTRAINT "{key.name}"'))
        connection.execute(text(sql))
        for key in keys:
            again = f'ALTER TABLE {key.of} ADD CONSTRAINT "{key.name}" {key.what}'
            connection.execute(text(again))


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("DELETE FROM scan_report WHERE report_id = 'cam-1'", "picture_without_report"),
        ("UPDATE event SET kind = 'CardDrawn' WHERE seq = 1", "picture_differs"),
        ("DELETE FROM event WHERE seq = 1", "picture_differs"),
        (
            "UPDATE scan_picture SET wanted_ms = wanted_ms + 1 WHERE report_id = 'cam-1'",
            "picture_differs",
        ),
    ],
)
def test_the_audit_names_a_picture_that_belongs_to_nothing(wanted, sql, code):
    def found() -> list[str]:
        return [fault.code for fault in audit(wanted.units) if fault.where.startswith("picture ")]

    assert found() == []
    by_hand(wanted.engine, sql)
    assert found() == [code]
