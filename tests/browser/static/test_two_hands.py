"""What station and pit work out for a game of two hands, with third cards that may stay away."""

import pytest

pytestmark = pytest.mark.browser

PLACES = [{"position": p, "card": n} for n in (1, 2, 3) for p in ("P", "B")]
WAIT = {"code": "wait_close", "next": {"code": "deal", "position": "P", "card": 1}}
START = {"code": "start_round"}
WORDS = """
  const words = {
    has: (key) => key.startsWith("call.") && !key.endsWith("unheard"),
    t: (key, values) => [key, ...Object.values(values ?? {})].filter((one) => one !== "").join(" "),
  };
"""


def hand(position, *cards, points=None):
    return {"position": position, "count": len(cards), "cards": list(cards), "points": points}


def view(instruction, *hands, phase="reveal", calls=()):
    return {
        "game": "baccarat",
        "instruction": instruction,
        "phase": phase,
        "round": {"hands": list(hands), "calls": list(calls)},
    }


def deal(position, card):
    return {"code": "deal", "position": position, "card": card}


def states(run, shown):
    cells = run("station_view.js", "return m.stripCells(arg[0], arg[1]);", [shown, PLACES])
    return [cell["state"] for cell in cells]


PLAYER, BANKER = hand("P", "7S", "QS", points="7"), hand("B", "4H", "AH", points="5")
PLAYER_3, BANKER_3 = hand("P", "2S", "3D", "6S"), hand("B", "4H", "AH", "2C")
NOBODY = (hand("P"), hand("B"))
OPEN = ["open"] * 4


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (view(WAIT, *NOBODY, phase="betting"), ["none"] * 6),
        (view(deal("P", 1), *NOBODY), ["now", *["none"] * 5]),
        (view(deal("P", 3), PLAYER, BANKER), [*OPEN, "now", "none"]),
        (view(deal("B", 3), PLAYER, BANKER), [*OPEN, "empty", "now"]),
        (view(deal("B", 3), PLAYER_3, BANKER), [*OPEN, "open", "now"]),
        (view({"code": "settling"}, PLAYER, BANKER), [*OPEN, "empty", "empty"]),
        (view(START, PLAYER, BANKER, phase="settled"), [*OPEN, "empty", "empty"]),
        (view(START, PLAYER_3, BANKER, phase="settled"), [*OPEN, "open", "empty"]),
        (view(START, PLAYER, BANKER_3, phase="settled"), [*OPEN, "empty", "open"]),
        (view(START, PLAYER, BANKER, phase="void"), [*OPEN, "none", "none"]),
        (view({"code": "held"}, PLAYER, BANKER), [*OPEN, "none", "none"]),
    ],
)
def test_a_place_that_the_deal_went_past_has_no_card(run, shown, expected):
    assert states(run, shown) == expected


def test_a_table_without_a_round_has_only_places_to_come(run):
    assert states(run, {**view(START, phase="idle"), "round": None}) == ["none"] * 6


@pytest.mark.parametrize(
    ("places", "layout"),
    [
        (PLACES, [6, 3, True, True]),
        (
            [{"position": f"P{n}", "card": c} for c in (1, 2) for n in range(6)],
            [12, 6, False, False],
        ),
        (
            [{"position": f"S{n}", "card": c} for c in range(13) for n in range(4)],
            [11, 4, False, False],
        ),
        ([], [1, 1, False, True]),
    ],
)
def test_the_strip_fits_its_places_into_rows(run, places, layout):
    said = run("station_view.js", "return m.stripLayout(arg);", places)
    assert [said[key] for key in ("columns", "phoneColumns", "byHand", "words")] == layout


@pytest.mark.parametrize(
    ("scan_at", "step", "said"),
    [
        ("draw", WAIT, "step.wait_deal"),
        ("reveal", WAIT, "step.wait_open"),
        ("draw", {"code": "wait_close"}, "step.wait_close"),
    ],
)
def test_while_bets_run_no_card_may_be_drawn_where_it_would_lie_open(run, scan_at, step, said):
    body = WORDS + "return m.stepWords(words, arg).split(' ')[0];"
    assert run("station_view.js", body, {**step, "scan_at": scan_at}) == said


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ({"code": "rescan", "position": "P", "card": 3}, "step.rescan"),
        ({"code": "rescan", "position": "first", "card": 1}, "step.rescan_plain"),
        ({"code": "rescan", "position": None, "card": None}, "step.rescan_plain"),
    ],
)
def test_a_card_is_asked_for_again_by_its_place_if_it_has_one(run, step, said):
    body = WORDS + "return m.stepWords(words, arg).split(' ')[0];"
    assert run("station_view.js", body, step) == said


NO_CARD = ("player_no_card", "banker_draws")
WON = ("player_no_card", "banker_no_card", "player_wins")


@pytest.mark.parametrize(
    ("shown", "calls", "result"),
    [
        (view(WAIT, *NOBODY, phase="betting"), [], ""),
        (view(deal("B", 3), PLAYER, BANKER, calls=NO_CARD), list(NO_CARD), ""),
        (
            view(START, PLAYER, BANKER, phase="settled", calls=WON),
            list(WON[:2]),
            "call.result_over call.baccarat.player_wins 7 5",
        ),
        (
            view({"code": "settling"}, PLAYER, BANKER, calls=WON),
            list(WON[:2]),
            "call.result_over call.baccarat.player_wins 7 5",
        ),
        (
            view(START, PLAYER, {**BANKER, "points": "7"}, phase="settled", calls=("tie",)),
            [],
            "call.result_equal call.baccarat.tie 7",
        ),
        (view(START, PLAYER, BANKER, phase="void", calls=NO_CARD), [], ""),
        (
            view(deal("B", 3), PLAYER, BANKER, calls=("unheard", "banker_draws")),
            ["banker_draws"],
            "",
        ),
        (view(START, PLAYER, phase="settled", calls=("tie",)), [], "call.baccarat.tie"),
    ],
)
def test_the_dealer_calls_who_draws_and_at_last_who_won(run, shown, calls, result):
    said = run("station_view.js", WORDS + "return m.callWords(words, arg);", shown)
    assert said == {"calls": [f"call.baccarat.{code}" for code in calls], "result": result}


def test_totals_stand_for_hands_that_lie_open(run):
    body = "return m.totals(arg).map((hand) => [hand.position, hand.points]);"
    assert run("station_view.js", body, view(deal("P", 3), PLAYER, BANKER)) == [
        ["P", "7"],
        ["B", "5"],
    ]
    one = hand("P", "7S")
    assert run("station_view.js", body, view(deal("B", 1), one, hand("B"))) == []
    assert run("station_view.js", body, view(START, PLAYER, BANKER, phase="void")) == []


@pytest.mark.parametrize(
    ("code", "state"),
    [("deal", "dealing"), ("burn_one", "dealing"), ("reveal", "reveal"), ("settling", "reveal")],
)
def test_a_tile_tells_the_deal_after_the_close_from_the_opening_of_hands(run, code, state):
    shown = {**view({"code": code}), "stage": "in_play", "stopped": False, "locked": None}
    assert run("pit_view.js", "return m.tileState(arg);", shown) == state


def test_a_row_that_stacks_names_each_of_its_values(run):
    body = """
      const row = () => {
        const made = document.createElement("tr");
        for (const text of ["T4", "7", "tie"]) made.insertCell().textContent = text;
        return made;
      };
      const heads = [["Table"], ["Bets", true], ["Ended"]];
      const named = (cell) => cell.dataset.label ?? "";
      const names = (table) => [...table.querySelectorAll("td")].map(named);
      const of = (stacks) => names(m.dataTable(heads, [row()], { label: "x", empty: "y", stacks }));
      return [of(true), of(false)];
    """
    assert run("roundview.js", body) == [["Table", "Bets", "Ended"], [""] * 3]
