"""The hunt itself: clean seeds are clean, seeds repeat, and every missing guard is missed."""

import json

import pytest
from click.testing import CliRunner

import app as entrance
from studio.simulation.guards import Guard, Guards, guards_without
from studio.simulation.world import run_seed

SEEDS = 40
"""Few enough for every run of the tests; `make soak` runs as many as one has time for."""
SEEDS_TO_FIND = 250
"""Within so many seeds each missing guard has to be found."""


@pytest.mark.parametrize("first", range(0, SEEDS, 10))
def test_nothing_that_is_always_true_is_ever_untrue(first):
    rounds = crashes = 0
    for seed in range(first, first + 10):
        outcome = run_seed(seed)
        assert outcome.violation is None, f"seed {seed}: {outcome.violation}"
        rounds += outcome.counts["rounds"]
        crashes += outcome.counts["crashes"]
    assert rounds > 0
    assert crashes > 0


def test_a_seed_gives_the_same_studio_again():
    first, again, other = run_seed(5), run_seed(5), run_seed(6)
    assert (first.digest, first.counts) == (again.digest, again.counts)
    assert first.digest != other.digest


@pytest.mark.parametrize("guard", list(Guard))
def test_the_hunt_notices_when_a_guard_is_missing(guard):
    for seed in range(SEEDS_TO_FIND):
        if run_seed(seed, guards=Guards(missing=guard)).violation is not None:
            return
    pytest.fail(f"Nobody missed {guard} in {SEEDS_TO_FIND} seeds.")


def test_all_guards_stand_unless_one_is_named():
    assert all(guards_without(None).stands(guard) for guard in Guard)
    missing = guards_without("lease")
    assert [guard for guard in Guard if not missing.stands(guard)] == [Guard.LEASE]


def simulate(*args: str):
    return CliRunner().invoke(entrance.main, ["simulate", *args])


def test_the_command_tells_what_it_did():
    result = simulate("--seeds", "3", "--start", "7", "--json")
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert (told["start"], told["seeds"], told["violations"]) == (7, 3, [])
    assert told["counts"]["steps"] >= 3 * 400
    assert simulate("--seeds", "1").stdout.endswith("No violation.\n")


def test_a_violation_fails_the_command_and_names_its_seed():
    result = simulate("--seeds", "20", "--without", "wager_key", "--trace")
    assert result.exit_code == 1
    line = next(line for line in result.stdout.splitlines() if line.startswith("seed "))
    seed = line.split()[1].rstrip(":")
    again = simulate("--seeds", "1", "--start", seed, "--without", "wager_key", "--json")
    assert again.exit_code == 1
    (found,) = json.loads(again.stdout)["violations"]
    assert line == f"seed {found['seed']}: {found['code']}: {found['what']}"


def test_several_processes_find_what_one_finds():
    one = json.loads(simulate("--seeds", "4", "--json").stdout)
    two = json.loads(simulate("--seeds", "4", "--jobs", "2", "--json").stdout)
    assert one["counts"] == two["counts"]


def test_a_time_limit_ends_the_hunt_early():
    told = json.loads(simulate("--seeds", "100000", "--seconds", "0.01", "--json").stdout)
    assert told["seeds"] < 100
    assert told["violations"] == []
