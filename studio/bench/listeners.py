"""A process of many listeners: opens its sockets, says so, notes when every event comes."""

import json
import time
from pathlib import Path
from typing import Any

import gevent
from gevent.pool import Pool

from studio.bench.doors import allow_many_files, worker_files
from studio.bench.wire import Wire, WireClosedError, connect
from studio.domain.game import Json

OPEN_AT_ONCE = 20
LIVE = "42/live,"
EVENT = '42/live,["event",'


class Listener:
    """One screen."""

    def __init__(self, plan: Json, texts: dict[str, str]) -> None:
        """Keep the plan; `texts` shares equal messages among all listeners."""
        self._plan = plan
        self._texts = texts
        self.heard: list[tuple[int, str]] = []
        """(nanoseconds since 1970, message) in the order of their coming."""
        self.failure = ""

    def open(self) -> None:
        """Connect and, at the studio, start to watch the table."""
        plan = self._plan
        try:
            self.wire = connect(plan["host"], plan["port"], plan["path"], plan["headers"])
            if plan["watch"]:
                self._watch(self.wire, plan["watch"])
        except (OSError, WireClosedError) as error:
            self.failure = f"{type(error).__name__}: {error}"

    def _watch(self, wire: Wire, table: str) -> None:
        self._await(wire, "0")
        wire.write("40/live,")
        self._await(wire, "40/live,")
        question = json.dumps(["watch", {"table": table, "epoch": None, "seq": None}])
        wire.write(f"42/live,1{question}")
        self._await(wire, "43/live,1")

    def _await(self, wire: Wire, start: str) -> None:
        while not (text := wire.read()).startswith(start):
            if text == "2":
                wire.write("3")

    def listen(self) -> None:
        """Note events until there are as many as planned."""
        try:
            while len(self.heard) < self._plan["events"]:
                text = self.wire.read()
                at_ns = time.time_ns()
                if text == "2":
                    self.wire.write("3")
                elif not self._plan["watch"] or text.startswith(EVENT):
                    self.heard.append((at_ns, self._texts.setdefault(text, text)))
        except WireClosedError:
            self.failure = "The server closed a socket."


def _envelope(text: str) -> dict[str, Any]:
    found: Any = json.loads(text.removeprefix(LIVE))
    envelope: dict[str, Any] = found[1] if isinstance(found, list) else found
    return envelope


def summary(listeners: list[Listener]) -> dict[str, Json]:
    """Return, for every event, what the listeners heard of it."""
    events: dict[int, dict[str, Any]] = {}
    disordered = 0
    parsed: dict[str, tuple[int, int]] = {}
    for listener in listeners:
        last = -1
        for at_ns, text in listener.heard:
            if text not in parsed:
                envelope = _envelope(text)
                parsed[text] = (envelope["seq"], envelope["at_ms"])
            seq, at_ms = parsed[text]
            disordered += seq <= last
            last = seq
            late_ms = at_ns / 1e6 - at_ms
            one = events.setdefault(seq, {"heard": 0, "last_ms": 0.0, "sum_ms": 0.0})
            one["heard"] += 1
            one["sum_ms"] += late_ms
            one["last_ms"] = max(one["last_ms"], late_ms)
    return {
        "events": {str(seq): one for seq, one in sorted(events.items())},
        "disordered": disordered,
        "failures": [one.failure for one in listeners if one.failure][:5],
        "message_bytes": max((len(text.encode()) for text in parsed), default=0),
    }


def main() -> None:
    """Run the plan of the command line and write the answer."""
    plan_file, answer_file = worker_files()
    plan = json.loads(plan_file.read_text(encoding="utf-8"))
    allow_many_files()
    texts: dict[str, str] = {}
    listeners = [Listener(plan, texts) for _ in range(plan["clients"])]
    pool = Pool(OPEN_AT_ONCE)
    for listener in listeners:
        pool.spawn(listener.open)
    pool.join()
    open_ = [listener for listener in listeners if not listener.failure]
    waiting = [gevent.spawn(listener.listen) for listener in open_]
    Path(plan["ready"]).write_text(str(len(open_)), encoding="ascii")
    gevent.joinall(waiting, timeout=plan["timeout_s"])
    answer_file.write_text(json.dumps(summary(listeners)), encoding="utf-8")


if __name__ == "__main__":
    main()
