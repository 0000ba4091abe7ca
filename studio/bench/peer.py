"""The peer of placing over HTTP: Flask and gunicorn that run the placing statement, no more.

No login, no CSRF, no limits of requests, no use case, no publisher: what is left is the web
server, the JSON and the one decision of the database.
"""

import os
from typing import Any, cast

from flask import Flask, Response, jsonify, request
from sqlalchemy import Connection, create_engine

from studio.bench.placing import BareSqlite, request_of
from studio.store.placing_sqlite import decide_on_sqlite
from studio.web.system import SystemClock

DATABASE = "STUDIO_BENCH_PEER_DATABASE"
POOL = 16


def make_peer() -> Flask:
    """Return the peer's application over the database that the environment names."""
    peer = Flask("peer")
    address = os.environ[DATABASE]
    place = _sqlite(address) if address.startswith("sqlite") else _postgresql(address)

    @peer.post("/place")
    def placing() -> tuple[Response, int]:
        wanted = cast("dict[str, Any]", request.get_json())
        outcome, accepted_ms, balance_minor, held_minor = place(wanted)
        status = {"placed": 201, "known": 200}.get(outcome, 409)
        answer = {
            "wager": {**wanted, "accepted_ms": accepted_ms, "ending": None},
            "balance_minor": balance_minor,
            "held_minor": held_minor,
        }
        return jsonify(answer), status

    @peer.get("/login")
    def ready() -> str:
        return "ready"

    return peer


def _sqlite(address: str) -> Any:
    from threading import RLock

    connection = BareSqlite(address.removeprefix("sqlite:///"))
    turn, clock = RLock(), SystemClock()

    def place(wanted: dict[str, Any]) -> tuple[str, int, int, int]:
        with turn:
            connection.execute("BEGIN IMMEDIATE")
            made = decide_on_sqlite(
                cast("Connection", connection), request_of(wanted), now_ms=clock.now_ms()
            )
            connection.execute("COMMIT")
        return made.outcome, made.accepted_ms, made.balance_minor, made.held_minor

    return place


def _postgresql(address: str) -> Any:
    from studio.bench.placing import PLACE_SQL, place_parameters

    engine = create_engine(address, pool_size=POOL, max_overflow=POOL)

    def place(wanted: dict[str, Any]) -> tuple[str, int, int, int]:
        with engine.begin() as connection:
            row = connection.exec_driver_sql(PLACE_SQL, place_parameters(request_of(wanted))).one()
        return row[0], row[1], row[2], row[3]

    return place
