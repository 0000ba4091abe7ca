"""Damage to an SQLite file after real play: what a power cut, a bad disk or a hand leaves.

A process plays and dies, its write-ahead log not written back; what was stored after each commit
is known row for row. Copies of its files are damaged. A log that is torn, cut, flipped or gone
leaves exactly the commits before the damage. Damage to the main file, and a log of another time,
change nothing or are told: by `audit`, or by the database itself.
"""

import json
import os
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path
from random import Random  # noqa: TID251 - seeded below

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from studio.domain.errors import StudioError
from studio.domain.events import BettingClosed
from studio.services.ports import EndingKind
from tests.faults.grounds import Rows, SqliteGround, digest, rows_of
from tests.faults.kills import points_of
from tests.faults.operations import played, wager, window_open
from tests.faults.outcome import Outcome, in_child
from tests.support.floor import Floor

CASES = 400
"""Damages of one seed's play."""
STEPS = range(4, 30)
LOG_MAX_BYTES = 3_500_000
"""A longer log would be written back by itself."""
HEADER_BYTES, FRAME_HEADER_BYTES = 32, 24
LAST_FRAME_AT = slice(16, 20)
"""Where the log's index names the last frame that is committed."""
PAGE_BYTES = 4_096
FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES

LOG = ("table_log", "event", "sealed_card", "round_correction")
MONEY = (
    *("round", "wager", "wager_ending", "account", "transfer", "entry"),
    *("player_balance", "player_owed"),
)
LONELY_TABLES = frozenset({"alarm", "command_answer", "lease", "person", "scan_report", "trail"})
UNCOUNTED = "wager.bet of a wager that no closing counts"
"""A wager is in the log by its round's closing alone. One that was taken back, or whose round has
not closed, may change to another bet of the game that takes the same hold."""
LONELY_COLUMNS = frozenset(
    {
        *("transfer.at_ms", "transfer.by_person", "transfer.reason", "stake_quota.quota_minor"),
        UNCOUNTED,
    }
)
"""What nothing else that is stored speaks of, so that no audit can tell that it was changed. Of the
times of transfers those of settlements, cash and the like; a wager knows its own."""


@dataclass(frozen=True)
class Played:
    """Files of a process that died, and what it had committed since the main file was written."""

    folder: Path
    states: list[str]
    logs: list[str]
    moneys: list[str]
    """The logs alone and the money alone, after the same commits."""
    ends: list[int]
    """Where the log ended after each commit, in bytes; 0 first."""
    rows: Rows
    """What was stored last."""

    def before(self, offset: int) -> str:
        """Return the state of the commits that lie before an offset of the log."""
        return self.states[max(at for at, end in enumerate(self.ends) if end <= offset)]

    def before_frame(self, offset: int) -> str:
        """Return the state before the frame of an offset; a damaged header costs all of them."""
        if offset < HEADER_BYTES:
            return self.states[0]
        return self.before(offset - (offset - HEADER_BYTES) % FRAME_BYTES)


def run(ground: SqliteGround, outcome: Outcome, *, share: float = 1.0) -> None:
    """Damage the files of one seed's play in many ways."""
    seed = outcome.seed
    random = Random(f"damage {seed}")
    past = play(ground, seed, random, outcome)
    for _ in range(round(CASES * share)):
        if outcome.over:
            return
        ground.empty()
        for file in past.folder.iterdir():
            shutil.copy(file, ground.file.parent)
        name = random.choice([*LOG_DAMAGES, *FILE_DAMAGES])
        outcome.cases += 1
        if name in LOG_DAMAGES:
            state, what = LOG_DAMAGES[name](ground, past, random)
            became = look_at_log(ground, state, outcome, f"{name} {what}")
        else:
            what = FILE_DAMAGES[name](ground, past, random)
            became = look_at_file(ground, past, outcome, f"{name} {what}")
        outcome.counts[f"{name}: {became}"] += 1


# The play ---------------------------------------------------------------------------------------


def play(ground: SqliteGround, seed: int, random: Random, outcome: Outcome) -> Played:
    """Have a process play and be killed; keep the files that it leaves."""
    ground.clear()
    with ground.engine() as engine:
        floor = Floor(engine=engine, seed=seed)
        floor.furnish()
        played(floor, random)
    notes = ground.file.parent / "notes.json"

    def child() -> None:
        with ground.engine() as engine:
            play_and_die(ground, floor.restarted(), engine, random, notes)

    status = in_child(child)
    outcome.need(status == signal.SIGKILL, f"the play ended with status {status}")
    folder = ground.file.parent / "played"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for file in (ground.file, ground.wal, ground.shm):
        shutil.copy(file, folder)
    states, logs, moneys, ends = json.loads(notes.read_text())
    with ground.engine() as engine:
        outcome.need(digest(engine) == states[-1], "what was committed is not there after kill -9")
        rows = rows_of(engine)
    return Played(folder=folder, states=states, logs=logs, moneys=moneys, ends=ends, rows=rows)


def play_and_die(
    ground: SqliteGround, floor: Floor, engine: Engine, random: Random, notes: Path
) -> None:
    """Play, note every commit, and die; the log may be written back once on the way."""
    noted: list[tuple[str, str, str, int]] = []

    def note(end: int) -> None:
        noted.append((digest(engine), digest(engine, LOG), digest(engine, MONEY), end))

    def passes(kind: str, detail: str) -> None:
        if (kind, detail) == ("after", "COMMIT"):
            note(end_of_log(ground))

    note(0)
    steps = random.choice(STEPS)
    written_back = random.randrange(2 * steps)
    with points_of(engine, passes):
        for step in range(steps):
            if step == written_back:
                with engine.connect() as connection:
                    connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
                noted.clear()
                note(0)
            if window_open(floor) and random.random() < 0.4:
                wager(floor, random)
            floor.step()
            if noted[-1][-1] > LOG_MAX_BYTES:
                break
    notes.write_text(json.dumps(list(zip(*noted, strict=True))))
    os.kill(os.getpid(), signal.SIGKILL)


def end_of_log(ground: SqliteGround) -> int:
    frames = int.from_bytes(ground.shm.read_bytes()[LAST_FRAME_AT], "little")
    return HEADER_BYTES + frames * FRAME_BYTES if frames else 0


# Damage to the log: the state that must be left, and what was done --------------------------------


def cut_log(ground: SqliteGround, past: Played, random: Random) -> tuple[str, str]:
    offset = random.randrange(past.ends[-1] + 1)
    os.truncate(ground.wal, offset)
    return past.before(offset), f"at {offset}"


def flip_log(ground: SqliteGround, past: Played, random: Random) -> tuple[str, str]:
    offset = random.randrange(past.ends[-1])
    what = flip(ground.wal, offset, random)
    return past.before_frame(offset), what


def zero_log(ground: SqliteGround, past: Played, random: Random) -> tuple[str, str]:
    """Leave the length of the log, as a file system may, but not the last pages' contents."""
    offset = random.randrange(past.ends[-1])
    kept = ground.wal.read_bytes()
    ground.wal.write_bytes(kept[:offset] + bytes(len(kept) - offset))
    return past.before_frame(offset), f"from {offset}"


def lose_log(ground: SqliteGround, past: Played, random: Random) -> tuple[str, str]:
    ground.wal.unlink()
    return past.states[0], ""


def lose_index(ground: SqliteGround, past: Played, random: Random) -> tuple[str, str]:
    ground.shm.unlink()
    return past.states[-1], ""


def garble_index(ground: SqliteGround, past: Played, random: Random) -> tuple[str, str]:
    ground.shm.write_bytes(random.randbytes(ground.shm.stat().st_size))
    return past.states[-1], ""


LOG_DAMAGES = {
    "log cut": cut_log,
    "log flipped": flip_log,
    "log zeroed": zero_log,
    "log lost": lose_log,
    "index lost": lose_index,
    "index garbled": garble_index,
}


def look_at_log(ground: SqliteGround, state: str, outcome: Outcome, case: str) -> str:
    """Need exactly this state, and a clean audit of it."""
    try:
        with ground.engine() as engine:
            outcome.need(digest(engine) == state, f"{case}: other rows than those committed before")
            if state not in ground.clean:
                ground.clean.add(state)
                outcome.need(Floor(engine).faults() == [], f"{case}: the audit finds faults")
    except (DBAPIError, StudioError) as error:
        outcome.violations.append(f"{case}: {error}")
    return "commits before it are there"


# Damage to the main file ------------------------------------------------------------------------


def written_back(ground: SqliteGround) -> None:
    """Let the main file hold everything."""
    with ground.engine() as engine:
        digest(engine)
    assert not ground.wal.exists()


def flip_file(ground: SqliteGround, past: Played, random: Random) -> str:
    """Flip a bit of a byte that says something: most of a young file is empty."""
    written_back(ground)
    content = ground.file.read_bytes()
    page = random.choice(
        [at for at in range(0, len(content), PAGE_BYTES) if any(page_of(content, at)[16:])]
    )
    return flip(
        ground.file,
        page + random.choice([at for at, byte in enumerate(page_of(content, page)) if byte]),
        random,
    )


def zero_page(ground: SqliteGround, past: Played, random: Random) -> str:
    written_back(ground)
    at = random.randrange(0, ground.file.stat().st_size, PAGE_BYTES)
    write_page(ground.file, at, bytes(PAGE_BYTES))
    return f"at {at}"


def lose_page_write(ground: SqliteGround, past: Played, random: Random) -> str:
    """Leave one page as it was when the log was begun."""
    old = ground.file.read_bytes()
    written_back(ground)
    new = ground.file.read_bytes()
    written = range(0, len(old), PAGE_BYTES)
    at = random.choice([at for at in written if page_of(old, at) != page_of(new, at)])
    write_page(ground.file, at, page_of(old, at))
    return f"at {at}"


def cut_file(ground: SqliteGround, past: Played, random: Random) -> str:
    written_back(ground)
    offset = random.randrange(ground.file.stat().st_size)
    os.truncate(ground.file, offset)
    return f"at {offset}"


def put_back_old_log(ground: SqliteGround, past: Played, random: Random) -> str:
    """Put the log of an earlier moment beside the main file that holds everything."""
    log = ground.wal.read_bytes()
    written_back(ground)
    end = random.choice(past.ends)
    ground.wal.write_bytes(log[:end])
    return f"of {end} bytes"


FILE_DAMAGES = {
    "file flipped": flip_file,
    "page zeroed": zero_page,
    "page not written": lose_page_write,
    "file cut": cut_file,
    "old log": put_back_old_log,
}


def look_at_file(ground: SqliteGround, past: Played, outcome: Outcome, case: str) -> str:
    """Need the same rows, or that somebody tells of the damage; return what became of it."""
    try:
        with ground.engine() as engine:
            if Floor(engine).faults():
                return "the audit tells"
            rows = rows_of(engine)
            if rows == past.rows:
                return "nothing changed"
            log, money = digest(engine, LOG), digest(engine, MONEY)
    except (DBAPIError, UnicodeDecodeError):
        return "the database tells"
    except StudioError:
        return "the studio tells"
    changed = changes(past.rows, rows)
    if "wager.bet" in changed and bets_counted(past.rows) == bets_counted(rows):
        changed = changed - {"wager.bet"} | {UNCOUNTED}
    if {name.split(".")[0] for name in changed - LONELY_COLUMNS} <= LONELY_TABLES:
        return f"untold in {' '.join(sorted(changed))}"
    earlier = log in past.logs and money in past.moneys
    outcome.need(earlier, f"{case}: untold in {sorted(changed)}")
    return "log and money of earlier commits"


def changes(before: Rows, after: Rows) -> set[str]:
    """Return the columns that differ; the table alone where rows came or went."""
    found = set()
    for table, rows in before.items():
        if len(rows) != len(after[table]):
            found.add(table)
            continue
        for old, new in zip(rows, after[table], strict=True):
            found |= {f"{table}.{column}" for column in old if old[column] != new.get(column)}
    return found


def bets_counted(rows: Rows) -> dict[int, str]:
    """Return the bets of the wagers that their round's closing counts, by number."""
    closed = {
        json.loads(row["body"])["round_id"]
        for row in rows["event"]
        if row["kind"] == BettingClosed.__name__
    }
    undone = {
        row["wager_number"]
        for row in rows["wager_ending"]
        if row["kind"] == EndingKind.UNDONE.value
    }
    return {
        row["number"]: row["bet"]
        for row in rows["wager"]
        if row["round_id"] in closed and row["number"] not in undone
    }


def flip(file: Path, offset: int, random: Random) -> str:
    """Flip one bit."""
    bit = 1 << random.randrange(8)
    with file.open("r+b") as opened:
        opened.seek(offset)
        (byte,) = opened.read(1)
        opened.seek(offset)
        opened.write(bytes([byte ^ bit]))
    return f"at {offset}"


def page_of(content: bytes, at: int) -> bytes:
    return content[at : at + PAGE_BYTES]


def write_page(file: Path, at: int, content: bytes) -> None:
    with file.open("r+b") as opened:
        opened.seek(at)
        opened.write(content)
