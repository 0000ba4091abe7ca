"""`bench wagers`: placing, direct and over HTTP, each beside the least that could do it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import click
from sqlalchemy import func, select

from studio.bench.doors import (
    TABLE,
    RunningStudio,
    answers_of,
    csrf_token,
    own_processes,
    running_studio,
    start_worker,
)
from studio.bench.filling import STAKE_MINOR, Filling
from studio.bench.peer import DATABASE
from studio.bench.placing import Measured, limit, place_directly
from studio.bench.report import Goal, Say, print_faults, show, show_goals
from studio.bench.scratch import Scratch, scratch_database
from studio.demo.processes import free_port, wait_until_ready
from studio.domain.game import Json
from studio.store import audit_money
from studio.store.tables import round_, wager

PLAYERS = 10_000
CLIENTS = (1, 8)
DIRECT_RATIO_MIN = 0.6
HTTP_RATIO_MIN = 0.7
P99_RATIO_MAX = 1.0
LATE_S = 60
PEER = "Flask + gunicorn gevent, one worker, one statement, no login (Starlette is no dependency)"


@dataclass(frozen=True, kw_only=True)
class WagersResult:
    """What one run measured."""

    database: str
    seconds: float
    direct: list[tuple[Measured, Measured]]
    """Ours and the limit, by number of clients."""
    http: Measured
    peer: Measured
    stored: int
    """Wagers in the database."""
    faults: list[str]
    """What the audit of the money found, and rounds whose book is not what was answered."""

    @property
    def accepted(self) -> int:
        """Wagers that were answered as accepted."""
        return sum(one.accepted for one in self.all)

    @property
    def repeated(self) -> int:
        """Requests sent again that were answered as such."""
        return sum(one.repeated for one in self.all)

    @property
    def twice(self) -> int:
        """Requests sent again that were taken for new ones."""
        return sum(one.twice for one in self.all)

    @property
    def late(self) -> int:
        """Wagers accepted outside their window."""
        return sum(fault.startswith("accepted_untimely") for fault in self.faults)

    @property
    def all(self) -> list[Measured]:
        """Every measurement in the order of its run."""
        return [*(one for pair in self.direct for one in pair), self.http, self.peer]

    @property
    def goals(self) -> list[Goal]:
        """The goals, each a ratio of this run."""
        return [
            *(
                Goal(
                    name=f"direct over {limit.method}, {ours.clients} clients",
                    value=_over(ours.per_s, limit.per_s),
                    at_least=DIRECT_RATIO_MIN,
                )
                for ours, limit in self.direct
            ),
            Goal(
                name=f"over HTTP, over the peer, {self.http.clients} clients",
                value=_over(self.http.per_s, self.peer.per_s),
                at_least=HTTP_RATIO_MIN,
            ),
            Goal(
                name="99th percentile over HTTP, over the peer's",
                value=_over(self.http.as_json()["p99_ms"], self.peer.as_json()["p99_ms"]),
                at_most=P99_RATIO_MAX,
            ),
        ]

    def as_json(self) -> dict[str, Json]:
        """Return everything for machines."""
        return {
            "bench": "wagers",
            "database": self.database,
            "seconds": self.seconds,
            "direct": [
                {
                    "clients": ours.clients,
                    "studio": ours.as_json(),
                    "limit": bare.as_json(),
                    "ratio": round(_over(ours.per_s, bare.per_s) or 0, 3),
                }
                for ours, bare in self.direct
            ],
            "http": {
                "clients": self.http.clients,
                "studio": self.http.as_json(),
                "peer": self.peer.as_json(),
                "what_the_peer_is": PEER,
                "ratio": round(_over(self.http.per_s, self.peer.per_s) or 0, 3),
            },
            "goals": [goal.as_json() for goal in self.goals],
            "accepted": self.accepted,
            "stored": self.stored,
            "repeated": self.repeated,
            "twice": self.twice,
            "late": self.late,
            "audit_faults": self.faults,
        }

    def show(self) -> None:
        """Print everything for people."""
        show(
            f"Placing wagers, {self.database}, {self.seconds:g} s each",
            ("method", "clients", "a second", "p50 ms", "p99 ms"),
            [_line(one) for one in self.all],
        )
        click.echo(f"  The peer is {PEER}.")
        show_goals(self.goals)
        click.echo(
            f"\n{self.accepted:,} accepted, {self.stored:,} stored; {self.repeated:,} sent again "
            f"and known, {self.twice} taken twice, {self.late} late."
        )
        print_faults(self.faults, checked="The audit of the money")


def measure_wagers(
    database_url: str | None, *, clients: int, seconds: float, say: Say
) -> WagersResult:
    """Measure placing on one database.

    Raises:
        MalformedError: the database can't be reached.
        ProcessError: a server or the load did not start.
    """
    with scratch_database(database_url) as scratch:
        filling = Filling(scratch, players=PLAYERS)
        direct = []
        for count in sorted({*(few for few in CLIENTS if few < clients), clients}):
            say(f"{scratch.name}: direct, {count} clients")
            ours = place_directly(scratch, filling, clients=count, seconds=seconds)
            bare = limit(scratch, filling, clients=count, seconds=seconds)
            direct.append((ours, bare))
        say(f"{scratch.name}: over HTTP, {clients} clients")
        http, peer = _over_http(scratch, filling, clients=clients, seconds=seconds)
        measured = [*(one for pair in direct for one in pair), http, peer]
        stored, faults = _checked(scratch, measured)
        return WagersResult(
            database=scratch.name,
            seconds=seconds,
            direct=direct,
            http=http,
            peer=peer,
            stored=stored,
            faults=faults,
        )


def _checked(scratch: Scratch, measured: Sequence[Measured]) -> tuple[int, list[str]]:
    """Return the wagers stored, and what is wrong with them by the audit and by the answers."""
    with scratch.units.read() as unit:
        faults = [f"{one.code} {one.where}" for one in audit_money.faults(unit.connection)]
        counts = select(wager.c.round_id, func.count()).group_by(wager.c.round_id)
        books = {one: count for one, count in unit.connection.execute(counts)}
    for one in measured:
        stored = books.get(one.round_id, 0)
        # pgbench leaves at its last second without waiting for every answer.
        if stored < one.accepted or (stored > one.accepted and not one.loses_answers):
            faults.append(f"book_differs {one.round_id}: {one.accepted} answered, {stored} stored")
    return sum(books.values()), faults


def _over_http(
    scratch: Scratch, filling: Filling, *, clients: int, seconds: float
) -> tuple[Measured, Measured]:
    with running_studio(scratch, players=clients, betting=True) as studio:
        round_id = _open_round_of(scratch)
        ours = _loaded(
            "over HTTP, the studio",
            Target(port=studio.port, path=f"/api/rounds/{round_id}/wagers", round_id=round_id),
            seconds=seconds,
            clients=_logged_in(studio, clients),
        )
    round_id = filling.open_round()
    body = {"bet": "p1", "stake_minor": STAKE_MINOR, "round_id": round_id}
    with _peer(scratch) as port:
        peer = _loaded(
            "over HTTP, the peer",
            Target(port=port, path="/place", round_id=round_id),
            seconds=seconds,
            clients=[
                {"headers": {}, "body": {**body, "player_id": number}}
                for number in range(1, clients + 1)
            ],
        )
    filling.close_round(round_id)
    return ours, peer


@dataclass(frozen=True, kw_only=True)
class Target:
    """Where a load goes."""

    port: int
    path: str
    round_id: str


def _loaded(method: str, target: Target, *, seconds: float, clients: Sequence[Json]) -> Measured:
    plan = {
        "host": "127.0.0.1",
        "port": target.port,
        "path": target.path,
        "seconds": seconds,
        "clients": list(clients),
    }
    with own_processes() as processes:
        files = [("load", start_worker(processes, "load", "load", plan))]
        answer = answers_of(processes, files, timeout_s=seconds + LATE_S)[0]
    if answer["refused"]:
        raise TimeoutError(f"{method}: requests were refused with status {answer['refused']}.")
    return Measured(
        method=method,
        clients=len(clients),
        round_id=target.round_id,
        seconds=answer["seconds"],
        accepted=answer["accepted"],
        repeated=answer["repeated"],
        twice=answer["twice"],
        latencies_ms=answer["latencies_ms"],
    )


def _logged_in(studio: RunningStudio, clients: int) -> list[Json]:
    found = []
    for number in range(1, clients + 1):
        client = studio.login(f"player{number}")
        found.append(
            {
                "headers": {"Cookie": client.cookies, "X-CSRFToken": csrf_token(client)},
                "body": {"bet": "p1", "stake_minor": STAKE_MINOR},
            }
        )
        client.close()
    return found


@contextmanager
def _peer(scratch: Scratch) -> Iterator[int]:
    port = free_port()
    arguments = ["-m", "gunicorn", "--worker-class", "gevent", "--workers", "1"]
    arguments += ["--bind", f"127.0.0.1:{port}", "--log-level", "warning", "--keep-alive", "75"]
    arguments += ["--no-control-socket", "studio.bench.peer:make_peer()"]
    with own_processes() as processes:
        processes.start("peer", arguments, {DATABASE: scratch.url})
        wait_until_ready(processes, f"http://127.0.0.1:{port}")
        yield port
        processes.check()


def _open_round_of(scratch: Scratch) -> str:
    with scratch.units.read() as unit:
        found: str = unit.connection.execute(
            select(round_.c.id).where(round_.c.table_code == TABLE)
        ).scalar_one()
    return found


def _over(ours: float, other: float) -> float | None:
    return ours / other if other else None


def _line(one: Measured) -> tuple[str, ...]:
    figures = one.as_json()
    return (
        one.method,
        str(one.clients),
        f"{one.per_s:,.0f}",
        f"{figures['p50_ms']:.2f}",
        f"{figures['p99_ms']:.2f}",
    )
