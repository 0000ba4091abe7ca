"""Replay for the audit: the whole log through the engine, by the rules of the game.

Results are worked out anew, and every wager must be one that the shoe's rules let somebody place.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from studio.domain.correcting import resettle, with_faces
from studio.domain.errors import RefusedError, StudioError
from studio.domain.event_bodies import from_body
from studio.domain.events import RoundCorrected, RoundSettled
from studio.domain.game import AnyGame
from studio.domain.round import marks_and_hands
from studio.domain.settlement import house_nets
from studio.domain.table import TableState
from studio.services.correcting import basis_of, correction
from studio.services.inspection import Fault, Inspection
from studio.services.live import step
from studio.services.ports import StoredEvent


class GameReplay:
    """One table: folds its log event by event and compares each result with the rules'."""

    def __init__(
        self,
        table: str,
        games: Mapping[str, AnyGame],
        inspection: Inspection | None = None,
    ) -> None:
        """Begin before the first event.

        `inspection` shows the wagers, and a shoe's log again for corrections of its rounds;
        without it both are taken as they are.
        """
        self._table = table
        self._inspection = inspection
        self._games = games
        # Before its first shoe a table has no game yet; who sits and what is linked needs none.
        self._game = next(iter(games.values()))
        self._state = TableState(table=table)
        self._broken = False

    def see(self, stored: StoredEvent) -> list[Fault]:
        """Return the faults that the engine finds at the next event.

        After a break the rest of the epoch can't be replayed; the next shoe starts anew.
        """
        where = f"{stored.table} {stored.epoch}/{stored.seq}"
        if stored.kind == "ShoeLoaded":
            self._broken = False
            self._state = TableState(
                table=stored.table, epoch=stored.epoch - 1, hash=stored.prev_hash
            )
            self._game = self._games.get(str(stored.body.get("game")), self._game)
        if self._broken:
            return []
        try:
            faults = self._results(stored, where) if stored.kind == "RoundSettled" else []
            if stored.kind == "RoundCorrected":
                faults = self._corrected(stored, where)
            self._state = step(self._game, self._state, stored)
            if stored.kind == "ShoeLoaded":
                faults = self._wagers()
        except (StudioError, AssertionError, TypeError) as error:
            self._broken = True
            what = error.message if isinstance(error, StudioError) else "an invariant fails"
            return [Fault(code="replay_fails", where=where, what=f"The log can't go on: {what}")]
        return faults

    def _wagers(self) -> list[Fault]:
        """Hold the wagers of the shoe that begins against its bets."""
        if self._inspection is None or self._state.config is None:
            return []
        description = self._game.describe(self._state.config)
        impossible = self._inspection.impossible_wagers(
            self._table,
            self._state.epoch,
            rule_version=description.rule_version,
            exposures={bet.code: bet.exposure for bet in description.bets},
        )
        return [
            Fault(
                code="wager_impossible",
                where=f"wager {wager_id}",
                what="Its bet is none of the game's, or its hold is not what the bet takes.",
            )
            for wager_id in impossible
        ]

    def _results(self, stored: StoredEvent, where: str) -> list[Fault]:
        event = from_body(stored.kind, stored.body, None)
        assert isinstance(event, RoundSettled)
        current = self._state.round
        if current is None or self._state.config is None:
            return [Fault(code="result_without_round", where=where, what="No round is running.")]
        description = self._game.describe(self._state.config)
        nets = house_nets(description, self._game.settle(current.game_state))
        stated = {result.bet: Fraction(result.net) for result in event.results}
        marks, hands = marks_and_hands(self._game.evaluate(current.game_state))
        same = stated == nets and event.marks == marks and event.hands == hands
        return [] if same else [_differs(where)]

    def _corrected(self, stored: StoredEvent, where: str) -> list[Fault]:
        event = correction(stored)
        if event.void or self._inspection is None:
            return []
        log = self._inspection.epoch_events(self._table, event.epoch)
        game = self._games.get(str(log[0].body.get("game")), self._game) if log else self._game
        return corrected_faults(game, log, event, table=self._table, where=where)


def corrected_faults(
    game: AnyGame,
    log: Sequence[StoredEvent],
    event: RoundCorrected,
    *,
    table: str,
    where: str,
) -> list[Fault]:
    """Hold a correction against what the rules say of the round's own log with its faces."""
    basis = basis_of(game, log, table=table, round_id=event.round_id)
    if basis is None:
        return [Fault(code="result_without_round", where=where, what="Its round is not there.")]
    try:
        anew = resettle(game, basis, with_faces(basis, event.faces))
    except RefusedError as refusal:
        return [Fault(code="correction_impossible", where=where, what=refusal.message)]
    stated = {result.bet: Fraction(result.net) for result in event.results}
    same = stated == anew.nets and event.marks == anew.marks and event.hands == anew.hands
    return [] if same else [_differs(where)]


def _differs(where: str) -> Fault:
    return Fault(
        code="result_differs",
        where=where,
        what="The stored result is not what the cards mean under the rules.",
    )
