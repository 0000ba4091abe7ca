"""The public view: what the screens are told, and what the dealer does next."""

import pytest

from studio.domain.commands import (
    CallPit,
    ConfirmBurn,
    Lock,
    MarkLink,
    OpenRound,
    RevealNext,
    StartVerification,
    Stop,
    TakeSeat,
    TurnCutCard,
)
from studio.domain.log import canonical
from studio.domain.view import instruction, patch, table_view
from studio.games import game
from tests.support.tables import (
    HANDS,
    MemoryTable,
    betting,
    closed,
    dealt,
    due,
    empty,
    fail,
    in_play,
    load_command,
    loaded,
    revealing,
    see,
    see_foreign,
    settled,
    shuffle_command,
    shuffled,
    void_command,
)


def at(make, *commands):
    def build() -> MemoryTable:
        table = make()
        for command in commands:
            table.do(command)
        return table

    return build


def deal(position, card, following):
    return {"code": "deal", "position": position, "card": card, "next": following}


def baccarat(*codes, burn=("3S",), close=True):
    """Return the making of a baccarat table that has dealt these cards, face up."""

    def build() -> MemoryTable:
        table = MemoryTable(game=game("baccarat"))
        for command in (TakeSeat(dealer_id=7, name="Sato"), load_command(), shuffle_command()):
            table.do(command)
        table.deal("2S", "KS", "KH")
        table.open_round()
        table.deal(*burn)
        if close:
            table.close()
        table.deal(*codes)
        return table

    return build


OPEN = OpenRound(now_ms=2_000_000, window_ms=15_000)
BY_HAND = at(lambda: shuffled(scan_at="reveal"), see(2), ConfirmBurn(), OPEN)
P1 = {"code": "deal", "position": "P1", "card": 1}
P2 = {"code": "deal", "position": "P2", "card": 1}
PLAYER = {"code": "deal", "position": "P", "card": 1}
BANKER = {"code": "deal", "position": "B", "card": 1}

INSTRUCTIONS = [
    (empty, {"code": "load_shoe"}),
    (loaded, {"code": "shuffle", "decks": 8}),
    (at(loaded, StartVerification(), see(1)), {"code": "verify_cards", "count": 1, "of": 416}),
    (shuffled, {"code": "turn_first_card"}),
    (at(shuffled, see(7)), {"code": "burn", "card": 1, "of": 7}),
    (at(shuffled, see(7), see(1)), {"code": "burn", "card": 2, "of": 7}),
    (in_play, {"code": "start_round"}),
    (settled, {"code": "start_round"}),
    (at(betting, void_command()), {"code": "start_round"}),
    (betting, {"code": "burn_one", "count": 1, "next": P1}),
    (at(betting, see(3)), deal("P1", 1, P2)),
    (at(betting, see(3), see(4)), deal("P2", 1, {"code": "deal", "position": "P3", "card": 1})),
    (closed, deal("B", 2, None)),
    (dealt, {"code": "wait_close"}),
    (revealing, {"code": "reveal", "position": "P1"}),
    (at(revealing, RevealNext()), {"code": "reveal", "position": "P2"}),
    (due, {"code": "settling"}),
    (
        at(betting, fail("no_code")),
        {
            "code": "rescan",
            "reason": "no_code",
            "tries": 1,
            "position": "burn",
            "card": 1,
        },
    ),
    (at(betting, see_foreign()), {"code": "held", "fault": "other_deck_set"}),
    (at(betting, Stop(by="Sato")), {"code": "stopped"}),
    (at(in_play, Lock(reason="audit", by="Mori")), {"code": "locked", "reason": "audit"}),
    (at(in_play, MarkLink(link="video", up=False)), {"code": "link_lost", "link": "video"}),
    (at(betting, MarkLink(link="video", up=False)), {"code": "link_waits", "link": "video"}),
    (at(dealt, MarkLink(link="video", up=False)), {"code": "wait_close"}),
    (
        at(in_play, TurnCutCard(), OPEN, void_command()),
        {"code": "last_round_done", "in_shoe": 413},
    ),
    (BY_HAND, {"code": "burn_one", "count": 1, "next": {"code": "wait_close"}}),
    (at(BY_HAND, ConfirmBurn()), {"code": "wait_close", "next": P1}),
    (
        baccarat(burn=(), close=False),
        {"code": "burn_one", "count": 1, "next": {"code": "wait_close"}},
    ),
    (baccarat(close=False), {"code": "wait_close", "next": PLAYER}),
    (baccarat(burn=()), {"code": "burn_one", "count": 1, "next": PLAYER}),
    (baccarat(), deal("P", 1, BANKER)),
    (baccarat("2H", "2D", "3H"), deal("B", 2, None)),  # it decides who draws
    (baccarat("2H", "2D", "3H", "3D"), deal("P", 3, None)),
    (baccarat("2H", "2D", "5H", "3D"), deal("B", 3, None)),
    (baccarat("4H", "2D", "5H", "3D"), {"code": "settling"}),
]


@pytest.mark.parametrize(
    ("make", "expected"),
    INSTRUCTIONS,
    ids=[f"{e['code']}-{n}" for n, (_, e) in enumerate(INSTRUCTIONS)],
)
def test_the_screen_says_what_the_dealer_does_next(make, expected):
    table = make()
    assert instruction(table.game, table.state) == expected


def test_what_follows_a_face_down_card_never_depends_on_its_face():
    table = betting()
    table.deal("3S")
    said = set()
    for code in ("AS", "5D", "KC", "7H"):
        other = betting()
        other.deal("3S", code)
        said.add(canonical(instruction(other.game, other.state)))
    assert len(said) == 1


@pytest.mark.parametrize(
    ("codes", "said", "points"),
    [
        (("2H", "2D", "3H"), [], ["5", None]),
        (("2H", "2D", "3H", "3D"), ["player_draws"], ["5", "5"]),
        (("2H", "2D", "5H", "3D"), ["player_no_card", "banker_draws"], ["7", "5"]),
        (("4H", "2D", "5H", "3D"), ["natural", "player_wins"], ["9", "5"]),
    ],
)
def test_the_view_says_what_the_dealer_calls_and_what_open_hands_are_worth(codes, said, points):
    table = baccarat(*codes)()
    current = table_view(table.game, table.state)["round"]
    assert current["calls"] == said
    assert [hand["points"] for hand in current["hands"]] == points


def test_a_dealt_hand_is_counted_and_nothing_else():
    table = dealt()
    view = table_view(table.game, table.state)["round"]
    assert [hand["position"] for hand in view["hands"]] == ["P1", "P2", "P3", "P4", "P5", "B"]
    for hand in view["hands"]:
        assert hand["cards"] == [None, None]
        assert (hand["count"], hand["points"], hand["name"]) == (2, None, None)
    assert len(view["commitments"]) == 13
    assert view["reveals"] == []


def test_an_opened_hand_shows_its_cards_and_worth_the_others_none():
    table = revealing()
    table.do(RevealNext())
    hands = table_view(table.game, table.state)["round"]["hands"]
    assert hands[0]["cards"] == ["4H", "7S"]
    assert hands[0]["points"] == "1"
    assert all(hand["cards"] == [None, None] for hand in hands[1:])


def test_a_settled_view_shows_everything_that_is_in_its_record():
    table = settled()
    view = table_view(table.game, table.state)
    current = view["round"]
    assert sorted(card["card"] for card in current["reveals"]) == sorted(["3S", *HANDS])
    assert current["results"][0] == {"bet": "p1", "net": "1", "reason": "win"}
    assert view["road"] == [{"number": 1, "marks": current["marks"]}]
    assert (current["version"], current["payouts_minor"], current["void"]) == (1, 0, None)
    assert current["wagers"] == {
        "count": 0,
        "turnover_minor": 0,
        "held_minor": 0,
        "digest": "0" * 64,
    }


@pytest.mark.parametrize(
    "make", [MemoryTable, empty, loaded, shuffled, in_play, betting, dealt, revealing, due, settled]
)
def test_the_view_has_the_same_keys_everywhere_and_is_plain_json(make):
    table = make()
    view = table_view(table.game, table.state)
    assert set(view) == set(table_view(table.game, MemoryTable().state))
    canonical(view)


def test_a_void_shows_the_cards_that_were_dealt_and_no_result():
    table = at(betting, see(3), see(4), see(5), void_command())()
    current = table_view(table.game, table.state)["round"]
    assert [hand["cards"] for hand in current["hands"][:3]] == [["4S"], ["5S"], []]
    assert [card["card"] for card in current["reveals"]] == ["3S", "4S", "5S"]
    assert (current["results"], current["marks"]) == (None, None)
    assert current["void"] == {"reason": "misdeal", "by": "Mori"}


def test_a_locked_table_says_so_in_its_stage_whatever_its_shoe():
    table = at(betting, Lock(reason="audit", by="Mori"), CallPit(by="Sato"))()
    view = table_view(table.game, table.state)
    assert (view["stage"], view["locked"]) == ("locked", {"reason": "audit"})
    assert (view["phase"], view["pit_called"]) == ("betting", True)


def test_a_patch_holds_the_changed_keys_with_their_new_values_even_none():
    assert patch({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": None, "c": 4}) == {"b": None, "c": 4}
