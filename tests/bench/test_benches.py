"""Every benchmark runs small, on both databases, and says what it measured; nothing is timed."""

import json

import pytest
from click.testing import CliRunner
from sqlalchemy import select, text
from sqlalchemy.engine import make_url

from studio.bench.filling import Filling
from studio.bench.report import Goal, percentile
from studio.bench.scratch import scratch_database
from studio.bench.settle import NETS
from studio.bench.settle_peers import orm_loop_s, raw_rows_s, rows_to_write
from studio.bench.wire import MASK, frame
from studio.cli.bench import bench
from studio.store import audit_money
from studio.store.tables import LEG_HOUSE, TransferKind, entry, transfer


def run(*arguments):
    """Run a benchmark and return its one JSON object."""
    ended = CliRunner().invoke(bench, [*arguments, "--json"], catch_exceptions=False)
    assert ended.exit_code == 0, ended.output
    return json.loads(ended.stdout)


def other_databases(url):
    """Return the names of the benchmarks' databases on a server."""
    import psycopg

    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain) as connection:
        rows = connection.execute(
            "select datname from pg_database where datname like 'studio_bench_%'"
        ).fetchall()
    return {name for (name,) in rows}


def test_settling_is_measured_beside_its_peers(database_url):
    found = run("settle", "--wagers", "1200", "--database-url", database_url)
    assert found["bench"] == "settle"
    assert found["wagers"] == 1200
    assert found["entry_rows"] == 1200 + 1200 * 4 // 5
    assert found["raw"]["method"] == ("raw insert" if database_url.startswith("sqlite") else "COPY")
    assert found["orm"]["sample"] == 1200
    assert found["ratios"]["settle_over_raw"] > 0
    assert found["ratios"]["orm_over_settle"] > 1
    assert [one["wagers"] for one in found["scaling"]] == [1000, 1200]
    assert all(one["memory_growth_kib"] >= 0 for one in found["scaling"])
    assert {goal["reached"] for goal in found["goals"]} <= {True, False}
    assert len(found["goals"]) == 2
    assert found["audit_faults"] == []


def test_a_database_of_its_own_is_used_and_removed(postgresql_url):
    before = other_databases(postgresql_url)
    with scratch_database(postgresql_url) as scratch:
        mine = make_url(scratch.url).database
        assert mine not in before
        assert mine in other_databases(postgresql_url)
        assert make_url(postgresql_url).database != mine
    assert mine not in other_databases(postgresql_url)


def test_an_embedded_database_lies_in_the_named_folder_and_goes_with_the_run(tmp_path):
    with scratch_database(f"sqlite:///{tmp_path / 'some' / 'studio.db'}") as scratch:
        assert scratch.path.startswith(str(tmp_path / "some"))
    assert list((tmp_path / "some").iterdir()) == []


def test_an_address_that_leads_nowhere_is_one_line():
    url = "postgresql+psycopg://studio:geheim@127.0.0.1:9/studio"
    ended = CliRunner().invoke(bench, ["settle", "--database-url", url])
    assert ended.exit_code == 1
    assert len(ended.stderr.splitlines()) == 1
    assert "geheim" not in ended.stderr


def test_the_peers_do_the_same_work(database_url):
    """Raw rows are what a settlement writes; the ORM loop leaves what an audit accepts."""
    with scratch_database(database_url) as scratch:
        filling = Filling(scratch, players=7)
        round_id = filling.filled_round(40)
        expected = rows_to_write(scratch, round_id, nets=NETS)
        assert raw_rows_s(scratch, expected) > 0
        with scratch.units.write() as unit:
            unit.wagers.settle(round_id, version=1, nets=NETS)
            unit.rounds.update_phase(round_id, "settled", settlement_version=1)
            unit.commit()
        looped = filling.filled_round(30)
        assert orm_loop_s(scratch, looped, nets=NETS) > 0
        with scratch.units.read() as unit:
            booked = unit.connection.execute(
                select(entry.c.origin_id, entry.c.leg, entry.c.account_id, entry.c.amount_minor)
                .join(transfer, transfer.c.id == entry.c.transfer_id)
                .where(
                    transfer.c.round_id == round_id,
                    transfer.c.kind == TransferKind.SETTLEMENT.value,
                    entry.c.leg != LEG_HOUSE,
                )
                .order_by(entry.c.origin_id, entry.c.leg)
            ).all()
            faults = list(audit_money.faults(unit.connection))
            left = unit.connection.execute(text("SELECT sum(held_minor) FROM player_balance"))
            assert left.scalar_one() == 0
    assert [tuple(row) for row in booked] == [(row[0], row[2], row[4], row[5]) for row in expected]
    assert faults == []


@pytest.mark.process
def test_placing_is_measured_directly_and_over_http(database_url):
    found = run("wagers", "--clients", "3", "--seconds", "0.4", "--database-url", database_url)
    assert [one["clients"] for one in found["direct"]] == [1, 3]
    for one in found["direct"]:
        assert one["studio"]["accepted"] > 0
        assert one["limit"]["accepted"] > 0
        assert one["ratio"] > 0
        assert one["studio"]["p50_ms"] <= one["studio"]["p99_ms"]
    assert found["http"]["studio"]["accepted"] > 0
    assert found["http"]["peer"]["accepted"] > 0
    assert found["http"]["ratio"] > 0
    assert "Starlette" in found["http"]["what_the_peer_is"]
    assert len(found["goals"]) == 4
    assert found["repeated"] > 0
    assert (found["twice"], found["late"], found["audit_faults"]) == (0, 0, [])
    assert found["stored"] >= found["accepted"]


@pytest.mark.process
def test_a_fan_out_reaches_every_client_once_in_order():
    found = run("fanout", "--clients", "7", "--events", "3")
    assert (found["clients"], found["events"], found["faults"]) == (7, 3, [])
    for server in (found["studio"], found["floor"]):
        assert (server["missing"], server["doubled"], server["out_of_order"]) == (0, 0, 0)
        assert 0 < server["last_ms"]["median"] <= server["last_ms"]["p95"]
    assert found["floor"]["message_bytes"] <= found["studio"]["message_bytes"] <= 20_000
    assert found["ratio"] > 0
    assert found["goals"][0]["reached"] is None


@pytest.mark.parametrize(
    ("goal", "reached", "word"),
    [
        (Goal(name="a", value=1.2, at_most=1.2), True, "reached"),
        (Goal(name="a", value=1.3, at_most=1.2), False, "NOT REACHED"),
        (Goal(name="a", value=99.0, at_least=100.0), False, "NOT REACHED"),
        (Goal(name="a", value=100.0, at_least=100.0), True, "reached"),
        (Goal(name="a", value=None, at_most=1.0), None, "not measured"),
    ],
)
def test_a_goal_says_whether_it_is_reached(goal, reached, word):
    assert goal.reached is reached
    assert goal.as_line().startswith(word)
    assert goal.as_json()["reached"] is reached


@pytest.mark.parametrize(
    ("share", "expected"), [(0.5, 50.0), (0.95, 95.0), (0.99, 99.0), (1.0, 100.0)]
)
def test_percentiles_are_values_that_were_seen(share, expected):
    assert percentile([float(value) for value in range(100, 0, -1)], share) == expected
    assert percentile([], share) == 0.0


@pytest.mark.parametrize("length", [0, 125, 126, 65_535, 65_536])
def test_frames_say_their_length_and_mask(length):
    plain, masked = frame(b"x" * length), frame(b"x" * length, masked=True)
    head = 2 if length < 126 else 4 if length < 65_536 else 10
    assert len(plain) == head + length
    assert len(masked) == head + len(MASK) + length
    assert plain[0] == 0x81
    assert masked[1] & 0x80
