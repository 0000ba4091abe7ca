"""A screen that was away for ten thousand events gets all it missed or a snapshot, never part."""

import pytest

from studio.domain.events import LinkLost, LinkRestored
from studio.services.live import advance, stored_event
from studio.services.tables import EVENTS_ANSWER_MAX
from tests.support.floor import Floor

BEHIND = 10_000


@pytest.fixture
def away(sqlite_engine):
    """A table whose video came and went very often, and its views by the number of the event."""
    made = Floor(engine=sqlite_engine)
    made.furnish()
    made.to_play()
    live, views = made.live(), {}
    with made.units.write() as unit:
        unit.events.lock("T1")
        for number in range(BEHIND):
            event = (LinkRestored if number % 2 else LinkLost)(link="video")
            stored = stored_event(live.state, event, at_ms=made.clock.ms, new_epoch=False)
            unit.events.append(stored)
            views[live.state.seq] = live.view
            live = advance(live, stored)
        unit.commit()
    views[live.state.seq] = live.view
    return made.restarted(), views


def test_far_behind_a_screen_gets_a_snapshot_and_less_far_every_event(away):
    floor, views = away
    fresh = floor.tables.snapshot("T1")
    epoch, last = fresh["epoch"], fresh["seq"]
    for behind in (BEHIND, EVENTS_ANSWER_MAX + 1):
        answer = floor.tables.events_since("T1", epoch=epoch, seq=last - behind)
        assert answer == {"snapshot": fresh}
    for behind in (EVENTS_ANSWER_MAX, 1, 0):
        answer = floor.tables.events_since("T1", epoch=epoch, seq=last - behind)
        seen = [event["seq"] for event in answer["events"]]
        assert seen == list(range(last - behind + 1, last + 1))
        view = dict(views[last - behind])
        for event in answer["events"]:
            view.update(event["patch"])
        assert view == fresh["view"]
