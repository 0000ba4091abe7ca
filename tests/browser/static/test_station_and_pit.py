"""What the station and the pit work out from the public view."""

import pytest

pytestmark = pytest.mark.browser


def view(**changes):
    return {
        "instruction": {"code": "deal", "position": "P2", "card": 1},
        "phase": "betting",
        "stage": "in_play",
        "stopped": False,
        "pit_called": False,
        "locked": None,
        "fault": None,
        "shoe": {"in_shoe": 400, "registered": 416, "dealt": 10, "burnt": 6, "cut_card_out": False},
        "round": {"hands": [{"position": "P1", "count": 1, "cards": [None]}]},
        **changes,
    }


PLACES = [{"position": p, "card": n} for n in (1, 2) for p in ("P1", "P2", "P3", "P4", "P5", "B")]
CELLS = "return m.stripCells(arg[0], arg[1]);"


def test_the_strip_has_the_places_of_the_table_in_the_order_of_the_deal(run):
    cells = run("station_view.js", CELLS, [view(), PLACES])
    assert [cell["position"] for cell in cells] == ["P1", "P2", "P3", "P4", "P5", "B"] * 2
    assert [cell["state"] for cell in cells[:3]] == ["read", "now", "none"]
    assert all(cell["card"] is None for cell in cells)


def test_a_card_that_did_not_read_is_marked_where_it_lies(run):
    rescan = view(instruction={"code": "rescan", "position": "P2", "card": 1})
    cells = run("station_view.js", CELLS, [rescan, PLACES])
    assert cells[1]["state"] == "fault"


@pytest.mark.parametrize(
    ("code", "command"),
    [
        ("load_shoe", "load_shoe"),
        ("shuffle", "confirm_shuffle"),
        ("verify_cards", "end_verification"),
        ("start_round", "start_round"),
        ("reveal", "reveal"),
        ("last_round_done", "close_shoe"),
        ("deal", None),
        ("wait_close", None),
        ("held", None),
        ("burn_one", None),
    ],
)
def test_the_big_button_does_what_the_instruction_says(run, code, command):
    body = "return m.primaryAction(arg, {})?.command ?? null;"
    assert run("station_view.js", body, view(instruction={"code": code})) == command


def test_a_burn_is_confirmed_by_hand_only_where_cards_are_read_when_opened(run):
    body = "return m.primaryAction(arg, {scan_at: 'reveal'}).command;"
    assert run("station_view.js", body, view(instruction={"code": "burn"})) == "burn_done"


def test_the_counts_add_up_to_the_registered_cards(run):
    rows = dict(run("station_view.js", "return m.countRows(arg);", view()))
    assert rows["in_shoe"] == "400/416"
    assert int(rows["dealt"]) + int(rows["burnt"]) + 400 == 416


def test_a_scanners_line_is_told_from_a_persons_keys(run):
    body = """
      const scanner = new m.BurstDetector();
      for (let i = 0; i < 12; i += 1) scanner.key(i * 8);
      const person = new m.BurstDetector();
      for (let i = 0; i < 12; i += 1) person.key(i * 140);
      return [scanner.ends(100), person.ends(12 * 140), scanner.ends(5000)];
    """
    assert run("keys.js", body) == [True, False, False]


KEYS = """
  document.body.insertAdjacentHTML("beforeend", "<button class='key' id='go'>go</button>");
  const button = document.getElementById("go");
  window.pressed = 0;
  button.addEventListener("click", () => { window.pressed += 1; });
  m.guardKeys({F6: button});
  button.focus();
"""


BEFORE = """
  document.body.insertAdjacentHTML("afterbegin", "<button id='before'>before</button>");
  document.getElementById("before").focus();
"""


def test_a_scanners_enter_or_a_stray_space_presses_no_button(run, bare):
    run("keys.js", KEYS)
    bare.keyboard.type("300000000001")
    bare.keyboard.press("Enter")
    bare.keyboard.press(" ")
    assert bare.evaluate("window.pressed") == 0


def test_the_function_key_presses_its_button_once(run, bare):
    run("keys.js", KEYS)
    bare.keyboard.press("F6")
    assert bare.evaluate("window.pressed") == 1


def test_somebody_who_came_by_tab_may_press_enter(run, bare):
    run("keys.js", KEYS + BEFORE)
    bare.keyboard.press("Tab")
    bare.keyboard.press("Enter")
    assert bare.evaluate("window.pressed") == 1


def alarm(number, priority, raised_ms, by=None):
    return {
        "id": number,
        "priority": priority,
        "raised_ms": raised_ms,
        "acknowledged_by": by,
        "table": f"T{number % 2}",
    }


def test_alarms_stand_by_priority_then_unacknowledged_then_oldest(run):
    alarms = [
        alarm(1, 2, 5),
        alarm(2, 1, 9, "Mori"),
        alarm(3, 1, 10),
        alarm(4, 2, 4),
        alarm(5, 3, 1),
    ]
    assert run("pit_view.js", "return m.sortAlarms(arg).map((one) => one.id);", alarms) == [
        3,
        2,
        4,
        1,
        5,
    ]


def test_a_tile_shows_its_most_urgent_alarm(run):
    alarms = [alarm(1, 2, 5), alarm(3, 1, 10), alarm(2, 1, 1)]
    assert run("pit_view.js", "return m.worstAlarm(arg, 'T1').id;", alarms) == 3
    assert run("pit_view.js", "return m.worstAlarm(arg, 'T9');", alarms) is None


@pytest.mark.parametrize(
    ("changes", "allowed"),
    [
        ({"dealer": None}, {"void_round", "stop", "lock"}),
        ({"dealer": {"id": 7, "name": "Sato"}}, {"void_round", "stop", "free_seat", "lock"}),
        ({"dealer": None, "phase": "settled"}, {"stop", "lock", "close_shoe"}),
        ({"dealer": None, "stopped": True}, {"void_round", "resume", "lock"}),
        ({"dealer": None, "pit_called": True}, {"void_round", "stop", "resume", "lock"}),
        ({"dealer": None, "fault": {"held": True}}, {"void_round", "release_held", "lock"}),
        (
            {"dealer": None, "phase": "void", "stage": "locked", "locked": {"reason": "x"}},
            {"unlock", "close_shoe"},
        ),
    ],
)
def test_only_what_can_be_done_now_is_offered(run, changes, allowed):
    may = run("pit_view.js", "return m.allowed(arg);", view(**changes))
    assert {name for name, can in may.items() if can} == allowed


def test_revenue_is_summed_over_the_settled_rounds_of_the_newest_shoe(run):
    rounds = [
        {"shoe": 4, "number": 13, "phase": "betting", "ggr_minor": 0},
        {"shoe": 4, "number": 12, "phase": "settled", "ggr_minor": -500},
        {"shoe": 4, "number": 11, "phase": "void", "ggr_minor": 0},
        {"shoe": 4, "number": 10, "phase": "settled", "ggr_minor": 1000},
        {"shoe": 3, "number": 9, "phase": "settled", "ggr_minor": 77},
    ]
    assert run("pit_view.js", "return m.ggrSeries(arg);", rounds) == [
        {"number": 10, "ggr": 1000, "sum": 1000},
        {"number": 12, "ggr": -500, "sum": 500},
    ]
    assert run("pit_view.js", "return m.ggrSeries(arg);", []) == []


def test_the_trail_names_only_the_values_that_changed(run):
    body = "return m.changes(arg[0], arg[1]);"
    assert run("trail_changes.js", body, [{"a": 1, "b": 2}, {"a": 1, "b": 3, "c": "x"}]) == [
        {"name": "b", "was": "2", "is": "3"},
        {"name": "c", "was": "–", "is": "x"},
    ]
