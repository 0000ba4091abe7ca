"""The felt is built from what the table says of its game: hands, places, spots, calls of pay."""

import pytest

pytestmark = pytest.mark.browser


def bet(code, position, settles_on, bank_exposure, exposure="1"):
    return {
        "code": code,
        "position": position,
        "settles_on": settles_on,
        "exposure": exposure,
        "bank_exposure": bank_exposure,
    }


def places(*positions, cards):
    return [{"position": one, "card": card} for card in range(1, cards + 1) for one in positions]


BACCARAT = {
    "places": places("P", "B", cards=3),
    "bets": [
        bet("player", "P", "player", "1"),
        bet("banker", "B", "banker", "19/20"),
        bet("tie", None, "tie", "7"),
        bet("player_pair", "P", "pair", "11"),
        bet("banker_pair", "B", "pair", "11"),
    ],
}
SEATS = [f"P{number}" for number in range(1, 6)]
POK_DENG = {
    "places": places(*SEATS, "B", cards=2),
    "bets": [
        *(bet(one.lower(), one, "main", "2", "2") for one in SEATS),
        *(bet(f"{one.lower()}_pair", one, "pair", "11") for one in SEATS),
    ],
}
FELT = """
  const [about, view] = arg;
  const root = document.createElement("div");
  document.body.append(root);
  const felt = m.makeFelt(root, about, () => {});
  felt.update(view);
  felt.drawResults(view.round);
  const ids = (selector) => [...root.querySelectorAll(selector)].map((one) => one.dataset.testid);
  const hand = (position) => root.querySelector(`[data-position="${position}"]`);
  const cards = (position) => [...hand(position).querySelectorAll(".card")].map(
    (one) => one.getAttribute("aria-label"));
"""


def view(*, hands=(), instruction=None, **changes):
    return {
        "instruction": instruction or {"code": "wait_close"},
        "round": {
            "hands": [
                {
                    "position": position,
                    "count": len(cards),
                    "cards": list(cards),
                    "points": None,
                    "name": None,
                }
                for position, cards in hands
            ],
            "marks": None,
            "results": None,
            **changes,
        },
    }


# Groups -----------------------------------------------------------------------------------------


def test_two_hands_lie_side_by_side_and_bets_on_the_round_between_their_spots(run):
    body = (
        FELT
        + """
      const groups = [...root.querySelectorAll(".side-spots > *")];
      const spots = (group) => [...group.children].map((one) => one.dataset.testid);
      return [ids(".sides > section"), groups.map(spots), felt.players, felt.spots.length];
    """
    )
    assert run("felt.js", body, [BACCARAT, view()]) == [
        ["hand-P", "hand-B"],
        [
            ["spot-player", "spot-player_pair"],
            ["spot-tie"],
            ["spot-banker", "spot-banker_pair"],
        ],
        ["P", "B"],
        5,
    ]


def test_a_game_with_a_bank_has_it_on_top_and_the_others_in_a_row(run):
    body = FELT + "return [ids('section'), ids('.players .spot'), felt.players];"
    hands, spots, players = run("felt.js", body, [POK_DENG, view()])
    assert hands == ["hand-B", *(f"hand-{one}" for one in SEATS)]
    assert spots[:2] == ["spot-p1", "spot-p1_pair"]
    assert (len(spots), players) == (10, SEATS)


def test_bets_on_the_round_have_a_group_of_their_own_in_any_game(run):
    about = {**POK_DENG, "bets": [*POK_DENG["bets"], bet("any_pair", None, "any", "3")]}
    body = FELT + """return ids('[data-testid="spots-middle"] .spot');"""
    assert run("felt.js", body, [about, view()]) == ["spot-any_pair"]


# Places -----------------------------------------------------------------------------------------

NONE, DOWN = "none", "down"


@pytest.mark.parametrize(
    ("hands", "instruction", "player", "banker"),
    [
        ((), None, 2, 2),
        ((("P", ["AS", "AS"]), ("B", ["AS", "AS"])), None, 2, 2),
        (
            (("P", ["AS", "AS"]), ("B", ["AS", "AS"])),
            {"code": "deal", "position": "P", "card": 3},
            3,
            2,
        ),
        (
            (("P", ["AS", "AS"]), ("B", ["AS", "AS"])),
            {"code": "rescan", "position": "B", "card": 3},
            2,
            3,
        ),
        ((("P", ["AS", "AS", "AS"]), ("B", ["AS", "AS"])), None, 3, 2),
        ((), {"code": "deal", "position": "P", "card": 1}, 2, 2),
    ],
)
def test_a_third_place_is_there_once_its_card_is_due_or_lies_there(
    run, hands, instruction, player, banker
):
    body = FELT + "return ['P', 'B'].map((one) => cards(one).length);"
    now = view(hands=hands, instruction=instruction)
    assert run("felt.js", body, [BACCARAT, now]) == [player, banker]


def test_the_third_place_is_gone_in_the_next_round(run):
    body = (
        FELT
        + """
      const before = cards("P");
      felt.update({...view, round: null});
      return [before, cards("P")];
    """
    )
    now = view(hands=[("P", ["AS", None, "TS"])])
    assert run("felt.js", body, [BACCARAT, now]) == [
        ["A of spades", DOWN, "10 of spades"],
        [NONE, NONE],
    ]


# Results ----------------------------------------------------------------------------------------

MARK = {"position": "P", "result": "lose", "rings": []}
LOST = [{"bet": "player", "net": "-1", "reason": "loses"}]


@pytest.mark.parametrize(
    ("result", "player", "banker"),
    [("win", "win", "lose"), ("lose", "lose", "win"), ("tie", "tie", "tie")],
)
def test_one_mark_a_round_says_it_for_both_hands_in_words_and_by_a_shape(
    run, result, player, banker
):
    body = (
        FELT
        + """
      return ["P", "B"].map((one) => {
        const told = hand(one).querySelector(".hand-result");
        return [hand(one).dataset.result, told.textContent, told.querySelector("svg") !== null];
      });
    """
    )
    now = view(marks=[{**MARK, "result": result}], results=LOST)
    expected = [[one, f"result.{one}", one != "lose"] for one in (player, banker)]
    assert run("felt.js", body, [BACCARAT, now]) == expected


def test_a_hand_of_its_own_says_what_its_main_bet_brought(run):
    body = FELT + "return hand('P2').querySelector('.hand-result').textContent;"
    results = [{"bet": "p2", "net": "2", "reason": "wins_double"}]
    now = view(marks=[{**MARK, "position": "P2", "result": "win"}], results=results)
    assert run("felt.js", body, [POK_DENG, now]) == "result.win"


def test_before_the_result_no_hand_is_marked(run):
    body = FELT + "return [...root.querySelectorAll('.hand-result')].every((one) => one.hidden);"
    assert run("felt.js", body, [BACCARAT, view()]) is True


# Words ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        ("19/20", "0.95"),
        ("77/40", "1.925"),
        ("7", "7"),
        ("10", "10"),
        ("3/2", "1.5"),
        ("2/3", "0.666"),
        ("1/8", "0.125"),
    ],
)
def test_odds_are_exact_or_cut_and_never_promise_more(run, fraction, text):
    assert run("bet_words.js", "return m.oddsNumber(arg);", fraction) == text


WORDS = """
  const block = document.getElementById("messages");
  block.textContent = JSON.stringify({
    "bet.tie": "Tie", "bet.other": "{code}",
    "spot.odds": "{odds}:1", "spot.odds_main": "up to {odds}:1",
    "spot.main": "Main", "position.P": "Player", "position.player": "Player {number}",
    "position.other": "{position}", "result.is_pair": "pair, {odds}:1", "result.done": "settled"});
  const w = await import("/js/bet_words.js");
"""


def worded(run, body, arg=None):
    """Run with texts; the modules read them when they are loaded, so that this comes first."""
    return run("dom.js", WORDS.replace("", "") + body, arg)


def test_bets_and_positions_are_named_by_the_catalogue(run):
    body = """
      return [w.betWords("tie"), w.betWords("new_bet"), w.positionName("P"), w.positionShort("P"),
              w.positionName("P3"), w.positionShort("P3"), w.positionName("X")];
    """
    assert worded(run, body) == ["Tie", "new_bet", "Player", "Player", "Player 3", "P3", "X"]


def test_what_a_spot_pays_comes_from_the_table_and_not_from_the_page(run):
    body = "return arg.map((bet) => [w.kindWords(bet), w.oddsWords(bet)]);"
    bets = [bet("p1", "P1", "main", "2"), bet("tie", None, "tie", "8")]
    assert worded(run, body, bets) == [["Main", "up to 2:1"], ["Tie", "8:1"]]


def test_a_reason_tells_the_odds_that_were_paid(run):
    body = """
      const { reasonOf } = await import("/js/felt.js");
      return [reasonOf({reason: "is_pair", net: "17"}), reasonOf({reason: "new", net: "1"})];
    """
    assert worded(run, body) == ["pair, 17:1", "settled"]
