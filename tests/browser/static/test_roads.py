"""The roads of a two-sided game: where each result lies, and that colour is never the only sign."""

import itertools

import pytest

pytestmark = pytest.mark.browser

RESULTS = {"P": "win", "B": "lose", "T": "tie"}
SIDES = {"P": "player", "B": "banker"}
ROWS = 6
SHOE = "TTPBBBTBBBBBBTPPPPPPPPBTTTBBPBPBPBBBBBBBBBPPPPPPPPPTBBBBBBPPPPPPBTPBPBBPPBTBPPPB"
"""A shoe's worth of rounds: leading ties, a chain of dragon tails, chops."""


def rounds(letters, rings=()):
    """Return a road as the view tells it; `rings` by index from 0."""
    rings = dict(rings)
    return [
        {
            "number": index + 1,
            "marks": [{"position": "P", "result": RESULTS[one], "rings": rings.get(index, [])}],
        }
        for index, one in enumerate(letters)
    ]


def big_road(run, letters):
    """Return the cells as (side, column, row, ties)."""
    body = "return m.bigRoad(m.outcomes(arg));"
    cells = run("big_road.js", body, rounds(letters))
    return [(one["side"], one["column"], one["row"], one["ties"]) for one in cells]


def places(cells):
    return [(column, row) for _, column, row, _ in cells]


# The bead plate ---------------------------------------------------------------------------------


def test_the_bead_plate_is_filled_column_by_column_from_the_top(run):
    body = "return m.beadPlate(m.outcomes(arg));"
    beads = run("big_road.js", body, rounds("PBTPPBB"))
    assert [(one["column"], one["row"]) for one in beads] == [
        *((0, row) for row in range(6)),
        (1, 0),
    ]
    assert [one["winner"] for one in beads[:3]] == ["player", "banker", "tie"]
    assert run("big_road.js", "return m.columns(arg);", beads) == 2
    assert run("big_road.js", "return m.columns([]);") == 0


def test_a_round_without_marks_has_no_bead(run):
    road = [{"number": 1, "marks": []}, *rounds("P")]
    assert len(run("big_road.js", "return m.outcomes(arg);", road)) == 1


# The big road -----------------------------------------------------------------------------------


def test_each_run_has_a_column(run):
    assert big_road(run, "PPBPBB") == [
        ("player", 0, 0, 0),
        ("player", 0, 1, 0),
        ("banker", 1, 0, 0),
        ("player", 2, 0, 0),
        ("banker", 3, 0, 0),
        ("banker", 3, 1, 0),
    ]


def test_ties_make_no_cell_and_are_stacked_on_the_one_before(run):
    assert big_road(run, "PTTPTB") == [
        ("player", 0, 0, 2),
        ("player", 0, 1, 1),
        ("banker", 1, 0, 0),
    ]


def test_a_tie_between_equal_winners_does_not_break_the_run(run):
    assert places(big_road(run, "BTB")) == [(0, 0), (0, 1)]


def test_ties_before_the_first_result_are_noted_on_its_cell(run):
    assert big_road(run, "TTT") == []
    assert big_road(run, "TTTB") == [("banker", 0, 0, 3)]
    assert big_road(run, "TTTBT") == [("banker", 0, 0, 4)]
    assert big_road(run, "TTTBBT") == [("banker", 0, 0, 3), ("banker", 0, 1, 1)]


def test_a_run_longer_than_six_turns_right_at_the_bottom_and_stays_there(run):
    down = [(0, row) for row in range(6)]
    assert places(big_road(run, "P" * 9)) == [*down, (1, 5), (2, 5), (3, 5)]


def test_the_run_after_a_tail_begins_beside_where_the_tails_run_began(run):
    assert places(big_road(run, "P" * 8 + "B"))[-1] == (1, 0)


def test_a_run_that_meets_an_earlier_tail_turns_right_above_it(run):
    cells = places(big_road(run, "P" * 8 + "B" * 7))
    assert cells[8:] == [(1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (2, 4), (3, 4)]


def test_a_turned_run_never_goes_down_again(run):
    # The banker's tail on row 4 passes the end of the player's tail on row 5 and stays on row 4.
    cells = places(big_road(run, "P" * 7 + "B" * 9))
    assert cells[7:] == [*((1, row) for row in range(5)), *((column, 4) for column in range(2, 6))]


def test_a_run_begins_at_the_first_free_top_when_tails_have_come_up_to_row_0(run):
    letters = "".join(side * 12 for side in "PBPBPB") + "P"
    cells = big_road(run, letters)
    tops = [column for _, column, row, _ in cells if row == 0]
    assert tops == [0, 1, 2, 3, 4, *range(5, 17), 17], "the sixth run lies on row 0 alone"
    assert len(set(places(cells))) == len(cells), "no place is taken twice"


def test_a_whole_shoe_keeps_every_rule(run):
    assert len(SHOE) == 80
    cells = big_road(run, SHOE)
    results = [one for one in SHOE if one != "T"]
    assert [one[0] for one in cells] == [SIDES[one] for one in results]
    assert sum(one[3] for one in cells) == SHOE.count("T")
    assert len(set(places(cells))) == len(cells)
    assert all(0 <= row < ROWS for _, _, row, _ in cells)
    for before, after in itertools.pairwise(cells):
        step = (after[1] - before[1], after[2] - before[2])
        if before[0] == after[0]:
            assert step in {(0, 1), (1, 0)}
        else:
            assert after[2] == 0
    assert places(cells)[:17] == [
        (0, 0),
        *((1, row) for row in range(6)),
        *((column, 5) for column in (2, 3, 4)),
        *((2, row) for row in range(5)),
        *((column, 4) for column in (3, 4)),
    ]


# What is drawn ----------------------------------------------------------------------------------

DRAW = """
  const element = document.createElement("div");
  document.body.append(element);
  m.drawRoad(element, arg, ["P", "B"], "two_sided");
  const [bead, big] = element.querySelectorAll(".plate");
  const at = (plate, place) => plate.querySelector(`[data-place="${place}"]`);
"""


def test_both_plates_are_drawn_with_letters_slashes_and_dots(run):
    body = (
        DRAW
        + """
      const dots = (cell) => [...cell.querySelectorAll(".pair-dot")].map(
        (dot) => [dot.getAttribute("class"), Number(dot.getAttribute("cx")) < 13]);
      return {
        letters: [...bead.querySelectorAll(".bead-letter")].map((one) => one.textContent),
        beadDots: dots(at(bead, "0/0")),
        slashes: big.querySelectorAll(".tie-slash").length,
        count: at(big, "0/0").querySelector(".tie-count").textContent,
        bigDots: dots(at(big, "1/0")),
        hidden: [...element.querySelectorAll(".road-grid")].map((one) => one.ariaHidden),
      };
    """
    )
    road = rounds("PTTB", {0: ["player_pair", "banker_pair"], 3: ["banker_pair"]}.items())
    drawn = run("road.js", body, road)
    assert drawn["letters"] == [
        f"road.letter_{winner}" for winner in ("player", "tie", "tie", "banker")
    ]
    assert drawn["beadDots"] == [["pair-dot player-pair", False], ["pair-dot banker-pair", True]]
    assert (drawn["slashes"], drawn["count"]) == (1, "2")
    assert drawn["bigDots"] == [["pair-dot banker-pair", True]]
    assert drawn["hidden"] == ["true", "true"]


def test_the_marks_differ_without_their_colours(run):
    body = (
        DRAW
        + """
      const shape = (cell) => cell.innerHTML.replace(/(bead|big)-(player|banker|tie)/g, "$1");
      return [shape(at(bead, "0/0")), shape(at(bead, "0/1")), shape(at(bead, "0/2")),
              shape(at(big, "0/0")), shape(at(big, "1/0"))];
    """
    )
    shapes = run("road.js", body, rounds("PBT"))
    assert len(set(shapes)) == 5


def test_the_road_is_read_as_a_table_newest_first(run):
    body = (
        DRAW
        + """
      const rows = [...element.querySelectorAll("tbody tr")];
      return rows.map((row) => [...row.children].map((cell) => cell.textContent));
    """
    )
    assert run("road.js", body, rounds("PT", {1: ["player_pair"]}.items())) == [
        ["2", "road.wins_tie, road.player_pair"],
        ["1", "road.wins_player"],
    ]


def test_an_empty_road_still_has_its_legend(run):
    body = DRAW.replace(
        "const [bead", "return element.querySelectorAll('.road-legend li').length;\n  const [bead"
    )
    assert run("road.js", body, []) == 8


def test_the_same_road_is_not_drawn_again_and_a_new_round_is(run):
    body = (
        DRAW
        + """
      m.drawRoad(element, arg, ["P", "B"], "two_sided");
      const same = bead.isConnected;
      m.drawRoad(element, [...arg, {...arg[0], number: 9}], ["P", "B"], "two_sided");
      return [same, bead.isConnected, element.querySelectorAll(".bead").length > 0];
    """
    )
    assert run("road.js", body, rounds("P")) == [True, False, True]


@pytest.mark.parametrize(
    ("kind", "position", "name", "words"),
    [
        ("two_sided", "P", "", "road.wins_banker"),
        ("by_position", "P3", "P3", "road.lose"),
    ],
)
def test_a_list_of_tables_shows_the_latest_marks_of_the_tables_own_road(
    run, kind, position, name, words
):
    road = [
        {"number": number, "marks": [{"position": position, "result": result, "rings": []}]}
        for number, result in ((1, "win"), (2, "tie"), (3, "lose"))
    ]
    body = """
      const { name, marks } = m.latestMarks(arg[0], arg[1], 2);
      return [name, marks.map((mark) => mark.words)];
    """
    shown = run("road.js", body, [road, kind])
    assert shown[0] == name
    assert shown[1][1] == words
    assert len(shown[1]) == 2
