"""The event rule, frame by frame at 25 frames/s."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scanner.codebook import Codebook
from scanner.confirm import (
    ABSENT_MS,
    CODE_FRAMES,
    CONFLICT_FRAMES,
    EMPTY_FRAMES,
    REPEAT_MS,
    RESTLESS_MS,
    STILL_MS,
    Confirmer,
    Reason,
    ReportKind,
)
from scanner.printing import card_manifest
from scanner.sighting import Decoder, Effort, Reading, Sighting
from studio.domain.cards import ALL_CARDS, CodeVersion, PrintedCode, card_code

FRAME_MS = 40
BOOK = Codebook(deck_set=7, manifest=card_manifest(1))


def digits(number, deck_set=7):
    return card_code(ALL_CARDS[number - 1], deck_set=deck_set, serial=number).digits


A, B, FOREIGN = digits(1), digits(2), digits(1, deck_set=8)
STRAY = card_code(ALL_CARDS[0], deck_set=7, serial=53).digits
BADGE = PrintedCode(version=CodeVersion.BADGE, number=4, deck_set=0, serial=12).digits
DAMAGED = A[:-2] + "00"


def seen(*texts, by=(Decoder.ZXING, Decoder.ZBAR), cards=1, still=True, **more):
    readings = tuple(
        Reading(text=text, decoder=decoder, copy=0) for text in texts for decoder in by
    )
    return Sighting(
        cards_in_view=cards,
        readings=readings,
        still=still,
        code_in_view=more.pop("code_in_view", bool(texts)),
        explained=more.pop("explained", True),
        **more,
    )


EMPTY = Sighting(cards_in_view=0, still=True, explained=True)
HAND = Sighting(cards_in_view=0, occupied=True, still=False, explained=True)
WATCHED = Sighting(cards_in_view=1, still=True, unchanged=True)


class Table:
    """Feeds sightings at a steady pace."""

    def __init__(self):
        self.confirmer = Confirmer(BOOK)
        self.now_ms = 0

    def show(self, sighting, frames=1):
        reports = []
        for _ in range(frames):
            reports += self.confirmer.step(sighting, now_ms=self.now_ms)
            self.now_ms += FRAME_MS
        return reports

    def until(self, sighting, ms):
        return self.show(sighting, frames=ms // FRAME_MS + 1)


@pytest.fixture
def table():
    return Table()


def test_a_card_is_reported_when_both_decoders_agree_on_one_frame(table):
    (report,) = table.show(seen(A))
    assert (report.kind, report.code, report.reason) == (ReportKind.CARD_SEEN, A, None)
    assert set(report.decoders) == {Decoder.ZXING, Decoder.ZBAR}


def test_one_decoder_needs_a_second_frame(table):
    assert table.show(seen(A, by=[Decoder.ZXING])) == []
    (report,) = table.show(seen(A, by=[Decoder.ZBAR]))
    assert report.code == A


def test_a_frame_without_a_text_between_two_agreeing_ones_does_no_harm(table):
    assert table.show(seen(A, by=[Decoder.ZXING])) == []
    assert table.show(seen()) == []
    assert [report.code for report in table.show(seen(A, by=[Decoder.ZXING]))] == [A]


@pytest.mark.parametrize("text", [DAMAGED, "hello", ""])
def test_a_text_that_is_no_valid_code_is_never_reported_as_a_card(table, text):
    reports = table.until(seen(text), RESTLESS_MS)
    assert all(report.kind is not ReportKind.CARD_SEEN for report in reports)


def test_another_valid_text_in_the_last_frames_forbids_the_report(table):
    table.show(seen(B, by=[Decoder.ZBAR]))
    assert table.show(seen(A), frames=CONFLICT_FRAMES - 1) == []
    (report,) = table.show(seen(A))
    assert report.code == A


def test_two_texts_on_one_frame_are_no_card(table):
    assert table.show(seen(A, B), frames=5) == []


def test_a_second_card_in_view_holds_the_first_back(table):
    assert table.show(seen(A, cards=2), frames=5) == []


def test_a_card_that_keeps_lying_gives_nothing_new(table):
    assert len(table.show(seen(A))) == 1
    assert table.until(seen(A), 20_000) == []
    assert table.until(WATCHED, 20_000) == []


def test_the_same_card_is_reported_again_after_it_left_the_view(table):
    table.show(seen(A))
    table.show(EMPTY, frames=EMPTY_FRAMES)
    assert [report.code for report in table.show(seen(A))] == [A]


def test_a_hand_over_the_card_is_the_same_presence(table):
    table.show(seen(A))
    assert table.until(HAND, ABSENT_MS - 2 * FRAME_MS) == []
    assert table.show(seen(A)) == []


def test_no_card_for_long_enough_ends_the_presence_whatever_lies_there(table):
    table.show(seen(A))
    table.until(HAND, ABSENT_MS)
    assert [report.code for report in table.show(seen(A))] == [A]


def test_empty_frames_count_only_when_they_follow_each_other(table):
    table.show(seen(A))
    for _ in range(3):
        table.show(EMPTY, frames=EMPTY_FRAMES - 1)
        table.show(HAND)
    assert table.show(seen(A)) == []


def test_fewer_empty_frames_are_the_same_presence(table):
    table.show(seen(A))
    table.show(EMPTY, frames=EMPTY_FRAMES - 1)
    assert table.show(seen(A)) == []


def test_the_next_card_is_reported_at_once_when_the_glass_was_empty_between(table):
    table.show(seen(A))
    table.show(EMPTY, frames=EMPTY_FRAMES)
    assert [report.code for report in table.show(seen(B))] == [B]


def test_a_card_swapped_without_a_gap_waits_until_the_first_is_forgotten(table):
    table.show(seen(A), frames=3)
    reports = table.until(seen(B), RESTLESS_MS)
    assert [(report.kind, report.code) for report in reports] == [(ReportKind.CARD_SEEN, B)]


@pytest.mark.parametrize(
    ("sighting", "reason"),
    [
        (seen(), Reason.NO_CODE),
        (seen(code_in_view=True), Reason.UNREADABLE),
        (seen(DAMAGED), Reason.UNREADABLE),
        (seen(cards=2), Reason.TWO_CARDS),
        (seen(A, cards=2), Reason.TWO_CARDS),
        (seen(A, B), Reason.TWO_CARDS),
        (seen("hello"), Reason.FOREIGN_SYMBOLOGY),
        (seen(foreign=True), Reason.FOREIGN_SYMBOLOGY),
    ],
)
def test_a_still_card_that_does_not_read_is_a_failed_read(table, sighting, reason):
    reports = table.until(sighting, STILL_MS)
    assert [(r.kind, r.reason, r.code) for r in reports] == [(ReportKind.READ_FAILED, reason, None)]


@pytest.mark.parametrize(("still_ms", "count"), [(STILL_MS - 1, 0), (STILL_MS, 1)])
def test_the_wait_is_exact(still_ms, count):
    confirmer = Confirmer(BOOK)
    assert confirmer.step(seen(), now_ms=1_000) == ()
    assert len(confirmer.step(seen(), now_ms=1_000 + still_ms)) == count


def test_a_moving_card_is_not_failed_before_it_lies_still(table):
    assert table.until(seen(still=False), STILL_MS * 2) == []
    assert len(table.until(seen(), STILL_MS)) == 1


def test_a_view_that_never_rests_is_failed_in_the_end(table):
    reports = table.until(seen(still=False), RESTLESS_MS)
    assert [report.kind for report in reports] == [ReportKind.READ_FAILED]


def test_a_failure_is_only_told_after_a_look_for_its_reason(table):
    assert table.until(seen(explained=False), STILL_MS * 2) == []
    assert table.confirmer.effort(table.now_ms) is Effort.EXPLAIN
    assert len(table.show(seen())) == 1


def test_a_failed_read_is_repeated_no_faster_than_the_limit(table):
    assert len(table.until(seen(), STILL_MS)) == 1
    assert table.until(seen(), REPEAT_MS - 100) == []
    assert [report.kind for report in table.until(seen(), 150)] == [ReportKind.STILL_UNREAD]


def test_a_read_that_succeeds_later_while_the_card_lies_there_is_reported(table):
    table.until(seen(code_in_view=True), STILL_MS)
    (report,) = table.show(seen(A))
    assert (report.kind, report.code) == (ReportKind.CARD_SEEN, A)
    assert table.until(seen(A), REPEAT_MS * 2) == []


@pytest.mark.parametrize(
    ("code", "reason"), [(FOREIGN, Reason.OTHER_DECK_SET), (STRAY, Reason.UNKNOWN_SERIAL)]
)
def test_a_card_outside_the_shoe_is_reported_with_its_code_once_it_lies_still(table, code, reason):
    assert table.show(seen(code), frames=3) == []
    assert table.confirmer.unknown_waits
    (report,) = table.until(seen(code), STILL_MS)
    assert (report.kind, report.code, report.reason) == (ReportKind.CARD_SEEN, code, reason)
    assert table.until(seen(code), REPEAT_MS * 2) == []


def test_a_badge_is_a_failed_read_and_its_code_is_told_to_nobody(table):
    reports = table.until(seen(BADGE), STILL_MS)
    assert [(r.kind, r.reason, r.code) for r in reports] == [
        (ReportKind.READ_FAILED, Reason.STAFF_BADGE, None)
    ]
    assert not table.confirmer.unknown_waits


def test_a_badge_that_passes_by_is_nothing(table):
    table.show(seen(BADGE), frames=CODE_FRAMES + 2)
    assert table.show(EMPTY, frames=EMPTY_FRAMES) == []


def taken(reports):
    return [(report.kind, report.reason, report.code) for report in reports]


TAKEN_AWAY = (ReportKind.READ_FAILED, Reason.TAKEN_AWAY, None)


@pytest.mark.parametrize(("frames", "told"), [(CODE_FRAMES, [TAKEN_AWAY]), (CODE_FRAMES - 1, [])])
def test_a_card_that_leaves_before_it_is_read_is_not_passed_over(table, frames, told):
    table.show(seen(code_in_view=True), frames=frames)
    assert taken(table.show(EMPTY, frames=EMPTY_FRAMES)) == told
    assert table.show(EMPTY, frames=EMPTY_FRAMES) == []


def test_frames_that_were_not_decoded_count_too(table):
    table.show(seen(code_in_view=True))
    unchanged = Sighting(cards_in_view=1, still=True, unchanged=True, code_in_view=True)
    table.show(unchanged, frames=CODE_FRAMES - 1)
    assert taken(table.show(EMPTY, frames=EMPTY_FRAMES)) == [TAKEN_AWAY]


def test_a_back_that_leaves_was_nothing_to_read(table):
    table.show(seen(), frames=CODE_FRAMES)
    assert table.show(EMPTY, frames=EMPTY_FRAMES) == []


def test_a_card_that_was_reported_leaves_in_silence(table):
    table.show(seen(A))
    table.show(seen(code_in_view=True), frames=CODE_FRAMES)
    assert table.show(EMPTY, frames=EMPTY_FRAMES) == []


def test_a_failure_that_was_reported_is_not_told_twice(table):
    assert len(table.until(seen(code_in_view=True), STILL_MS)) == 1
    assert table.show(EMPTY, frames=EMPTY_FRAMES) == []


def square(x):
    return (((x, 0.0), (x + 60.0, 0.0), (x + 60.0, 90.0), (x, 90.0)),)


def test_an_unread_card_that_another_replaces_is_told_before_the_other(table):
    table.show(seen(code_in_view=True, outlines=square(100)), frames=CODE_FRAMES)
    reports = table.show(seen(B, outlines=square(400)), frames=2)
    assert [report.reason for report in reports] == [Reason.TAKEN_AWAY, None]
    assert reports[1].code == B


def test_a_card_read_once_that_another_covers_is_told_too(table):
    table.show(seen(A, by=[Decoder.ZBAR]))
    table.show(seen(code_in_view=True), frames=CODE_FRAMES)
    assert taken(table.show(seen(B))) == [TAKEN_AWAY]


def test_a_card_that_is_pushed_slowly_is_the_same_card(table):
    for step in range(CODE_FRAMES * 2):
        table.show(seen(code_in_view=True, outlines=square(100 + step * 40), still=False))
    assert [report.code for report in table.show(seen(A, outlines=square(520)))] == [A]


def test_a_reported_card_may_be_pushed_anywhere_and_leaves_in_silence(table):
    table.show(seen(A, outlines=square(100)))
    table.show(seen(A, outlines=square(400)))
    table.show(seen(code_in_view=True, outlines=square(420)), frames=CODE_FRAMES)
    assert table.show(EMPTY, frames=EMPTY_FRAMES) == []


def test_a_newer_manifest_saves_a_card_that_waits(table):
    table.show(seen(FOREIGN), frames=3)
    table.confirmer.codebook = Codebook(deck_set=8, manifest=card_manifest(1))
    (report,) = table.show(seen(FOREIGN))
    assert (report.code, report.reason) == (FOREIGN, None)


def test_a_second_card_laid_beside_a_reported_one_is_named(table):
    table.show(seen(A))
    table.until(WATCHED, 5_000)
    reports = table.until(seen(A, cards=2), STILL_MS)
    assert [(r.kind, r.reason) for r in reports] == [(ReportKind.READ_FAILED, Reason.TWO_CARDS)]


def test_one_unreadable_frame_of_a_reported_card_is_no_failure(table):
    table.show(seen(A))
    table.until(WATCHED, 5_000)
    assert table.show(seen(code_in_view=True)) == []
    assert table.until(seen(A), 1_000) == []


def test_effort_follows_what_is_expected_of_the_next_frame(table):
    assert table.confirmer.effort(0) is Effort.READ
    table.show(seen(A, by=[Decoder.ZXING]))
    assert table.confirmer.effort(table.now_ms) is Effort.READ
    table.show(seen(A))
    assert table.confirmer.effort(table.now_ms) is Effort.WATCH


def test_after_a_failed_read_a_still_view_is_only_watched(table):
    table.until(seen(), STILL_MS)
    assert table.confirmer.effort(table.now_ms) is Effort.WATCH
    assert table.confirmer.effort(table.now_ms + REPEAT_MS) is Effort.EXPLAIN


FRAMES = st.builds(
    lambda texts, decoders, cards, still: seen(*texts, by=decoders, cards=cards, still=still),
    st.lists(st.sampled_from([A, B, FOREIGN, BADGE, DAMAGED, "x"]), max_size=2, unique=True),
    st.sampled_from([(Decoder.ZXING,), (Decoder.ZBAR,), (Decoder.ZXING, Decoder.ZBAR)]),
    st.integers(0, 2),
    st.booleans(),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(FRAMES, st.just(EMPTY)), max_size=60))
def test_only_what_this_frame_shows_alone_is_ever_reported(frames):
    table = Table()
    window = []
    for frame in frames:
        empty = not frame.cards_in_view and not frame.readings
        reports = table.show(frame)
        valid = {r.text for r in frame.readings} & {A, B, FOREIGN, BADGE}
        window = [] if empty and window[-EMPTY_FRAMES + 1 :].count(None) >= 2 else window
        window.append(None if empty else valid)
        for report in reports:
            if report.kind is ReportKind.CARD_SEEN:
                assert valid == {report.code}
                assert frame.cards_in_view <= 1
                assert report.code != BADGE
                assert (report.code == FOREIGN) == (report.reason is Reason.OTHER_DECK_SET)
            else:
                assert report.code is None


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([seen(A), seen(A, still=False), WATCHED, seen()]), max_size=80))
def test_one_presence_of_one_card_gives_at_most_one_card(frames):
    table = Table()
    reports = [report for frame in frames for report in table.show(frame)]
    assert sum(report.kind is ReportKind.CARD_SEEN for report in reports) <= 1
