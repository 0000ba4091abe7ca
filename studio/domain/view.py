"""The public view of a table: one JSON for players, dealer and pit.

It is made from the state alone and never holds a card before its reveal, so the same message
can go to everybody. `patch` names the top-level keys that an event changed: an old view plus
the missed patches is a fresh view.
"""

from collections.abc import Mapping, Sequence

from studio.domain.dealing import expected_card
from studio.domain.events import BettingClosed, RoundCorrected
from studio.domain.fault import Fault
from studio.domain.game import (
    PUBLIC,
    AnyGame,
    Burn,
    Burnt,
    Deal,
    GameEvent,
    Json,
    Request,
    Reveal,
    ScanAt,
    Scanned,
)
from studio.domain.pending import PendingCorrection
from studio.domain.round import Phase, Round, request_of
from studio.domain.shoe import Shoe
from studio.domain.table import Link, Stage, TableState


def table_view(game: AnyGame, state: TableState) -> dict[str, Json]:
    """Return the public view; keys are stable, values plain JSON."""
    return {
        "game": game.code,
        "stage": "locked" if state.locked is not None else state.stage.value,
        "phase": state.phase.value,
        "shoe": _shoe(state.shoe, state) if state.shoe else None,
        "round": _round(game, state.round) if state.round else None,
        "instruction": instruction(game, state),
        "fault": _fault(state.fault) if state.fault else None,
        "stopped": state.stopped,
        "pit_called": state.pit_called,
        "locked": {"reason": state.locked} if state.locked is not None else None,
        "dealer": {"id": state.dealer.id, "name": state.dealer.name} if state.dealer else None,
        "links": {link: "lost" if link in state.links_lost else "up" for link in Link},
        "road": [
            {"number": line.number, "marks": [_mark(mark) for mark in line.marks]}
            for line in state.road
        ],
        "correction": _correction(state.correction),
    }


PRIVATE = frozenset({"CorrectionProposed", "CorrectionAnnounced", "CorrectionDropped"})
"""Events of which everybody gets what the view says and no more: who proposed what and why is the
pit's until it is announced, and the words stay there."""


def told_body(kind: str, body: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return what is published of an event's body."""
    return {"id": body["id"]} if kind in PRIVATE else body


def _correction(pending: PendingCorrection | None) -> dict[str, Json] | None:
    """Return what the players are told: which rounds, what happens to them, and when."""
    if pending is None or pending.announced is None or pending.of_running:
        return None
    return {
        "numbers": [one.number for one in pending.rounds],
        "void": pending.void,
        "due_ms": pending.announced.due_ms,
    }


def patch(before: Mapping[str, Json], after: Mapping[str, Json]) -> dict[str, Json]:
    """Return the keys of `after` whose value differs from `before`."""
    return {key: value for key, value in after.items() if before.get(key) != value}


def _mark(mark: Json) -> dict[str, Json]:
    return {"position": mark.position, "result": mark.result, "rings": list(mark.rings)}


def _shoe(shoe: Shoe, state: TableState) -> dict[str, Json]:
    return {
        "number": shoe.number,
        "deck_set": shoe.deck_set,
        "decks": shoe.decks,
        "registered": shoe.registered,
        "in_shoe": shoe.in_shoe,
        "burnt": shoe.burnt,
        "dealt": shoe.dealt,
        "cut_card_out": shoe.cut_card_out,
        "first_card": shoe.first_card,
        "to_burn": shoe.to_burn,
        "verified": len(state.verified),
    }


def _fault(fault: Fault) -> dict[str, Json]:
    return {
        "code": fault.code,
        "reason": fault.reason,
        "tries": fault.tries,
        "position": fault.position,
        "card": None if fault.index is None else fault.index + 1,
        "held": fault.held,
        "key": "waiting" if fault.keyed else fault.key_dropped,
    }


def corrected_hands(hands: Sequence[Json], event: RoundCorrected) -> list[dict[str, Json]]:
    """Return a round's hands as they were read with the faces and values of a correction."""
    faces = {(face.position, face.index): face.card for face in event.faces}
    values = {hand.position: hand for hand in event.hands}
    found = []
    for hand in hands:
        position = hand["position"]
        cards = [faces.get((position, at), card) for at, card in enumerate(hand["cards"])]
        value = values.get(position)
        points, name = (value.points, value.name) if value else (hand["points"], hand["name"])
        found.append({**hand, "cards": cards, "points": points, "name": name})
    return found


def corrected_view(shown: Mapping[str, Json], event: RoundCorrected) -> dict[str, Json]:
    """Return a round's view as a correction leaves it; `reveals` stay what the camera read."""
    return {
        **shown,
        "phase": (Phase.VOID if event.void else Phase.SETTLED).value,
        "hands": corrected_hands(shown["hands"], event),
        # What was called out were the cards as they were read.
        "calls": [],
        "results": None
        if event.void
        else [
            {"bet": result.bet, "net": result.net, "reason": result.reason}
            for result in event.results
        ],
        "marks": None if event.void else [_mark(mark) for mark in event.marks],
        "payouts_minor": event.payouts_minor,
        "version": event.version,
        "void": {"reason": event.reason, "by": event.by} if event.void else None,
        "corrected": {
            "version": event.version,
            "reason": event.reason,
            "by": event.by,
            "faces": [
                {"position": face.position, "index": face.index, "card": face.card}
                for face in event.faces
            ],
        },
    }


def _round(game: AnyGame, current: Round) -> dict[str, Json]:
    shown = _as_played(game, current)
    return corrected_view(shown, current.corrected) if current.corrected else shown


def _as_played(game: AnyGame, current: Round) -> dict[str, Json]:
    settled, voided = current.settled, current.voided
    return {
        "id": current.id,
        "number": current.number,
        "phase": current.phase.value,
        "opened_ms": current.opened_ms,
        "window_closes_ms": current.window_closes_ms,
        "started": current.started,
        "interrupted": current.interrupted,
        "cancels_ms": current.cancels_ms if current.waits else None,
        "rule_version": current.rule_version,
        "paytable_version": current.paytable_version,
        "hands": _hands(game, current),
        "calls": list(game.view(current.game_state, PUBLIC).calls),
        "commitments": [
            {"position": card.position, "index": card.index, "commitment": card.commitment}
            for card in current.drawn
        ],
        "reveals": [
            {
                "position": card.position,
                "index": card.index,
                "card": card.card,
                "serial": card.serial,
                "nonce": card.nonce,
            }
            for card in current.drawn
            if card.open
        ],
        "results": [
            {"bet": result.bet, "net": result.net, "reason": result.reason}
            for result in settled.results
        ]
        if settled
        else None,
        "marks": [_mark(mark) for mark in settled.marks] if settled else None,
        "wagers": _book(current.book) if current.book else None,
        "payouts_minor": (
            settled.payouts_minor if settled else voided.payouts_minor if voided else None
        ),
        "version": settled.version if settled else voided.version if voided else 0,
        "void": {"reason": voided.reason, "by": voided.by} if voided else None,
        "refunded": voided.count if voided else None,
        "corrected": None,
    }


def _book(closed: BettingClosed) -> dict[str, Json]:
    return {
        "count": closed.count,
        "turnover_minor": closed.turnover_minor,
        "held_minor": closed.held_minor,
        "digest": closed.digest,
    }


def _hands(game: AnyGame, current: Round) -> list[dict[str, Json]]:
    evaluation = game.evaluate(current.game_state)
    values = {hand.position: hand for hand in evaluation.hands}
    # A void opens what was dealt, though the game never came to its reveal.
    open_cards = {(card.position, card.index): card.card for card in current.drawn if card.open}
    hands = []
    for hand in game.view(current.game_state, PUBLIC).hands:
        cards = [open_cards.get((hand.position, index)) for index in range(hand.count)]
        value = values.get(hand.position)
        hands.append(
            {
                "position": hand.position,
                "count": hand.count,
                "cards": cards,
                "points": value.points if value else None,
                "name": value.name if value else None,
            }
        )
    return hands


# The dealer's next action -----------------------------------------------------------------------


def instruction(game: AnyGame, state: TableState) -> dict[str, Json]:
    """Return what the dealer does next: a code for the catalogue, its values, what follows."""
    return _blocked(state) or _shoe_step(state) or _round_step(game, state)


def _blocked(state: TableState) -> dict[str, Json] | None:
    fault = state.fault
    if fault is not None and fault.held:
        return {"code": "held", "fault": fault.code}
    if state.stopped:
        return {"code": "stopped"}
    if fault is not None:
        return {
            "code": "key_waits" if fault.keyed else "rescan",
            "reason": fault.reason,
            "tries": fault.tries,
            "position": fault.position,
            "card": None if fault.index is None else fault.index + 1,
        }
    running = state.round is not None and state.round.running
    if state.locked is not None and not running:
        return {"code": "locked", "reason": state.locked}
    return None


def _shoe_step(state: TableState) -> dict[str, Json] | None:
    shoe = state.shoe
    if shoe is None:
        return {"code": "load_shoe"}
    if state.stage is Stage.LOADED and state.verification_failed:
        return {"code": "verify_cards", "count": 0, "of": shoe.registered}
    if state.stage is Stage.LOADED:
        return {"code": "shuffle", "decks": shoe.decks}
    if state.stage is Stage.VERIFYING:
        return {"code": "verify_cards", "count": len(state.verified), "of": shoe.registered}
    if state.stage is Stage.LAST_ROUND_DONE:
        return {"code": "last_round_done", "in_shoe": shoe.in_shoe}
    if state.stage is Stage.OPENING and shoe.first_card is None:
        return {"code": "turn_first_card"}
    if state.stage is Stage.OPENING:
        done = len(shoe.opening_burns)
        return {"code": "burn", "card": done + 1, "of": done + shoe.to_burn}
    return None


def _round_step(game: AnyGame, state: TableState) -> dict[str, Json]:
    current = state.round
    request = request_of(game, current)
    if current is None or request is None:
        if state.links_lost:
            return {"code": "link_lost", "link": min(state.links_lost)}
        return {"code": "start_round"}
    if state.links_lost and not current.started:
        # The studio cancels the round after the grace; a card drawn now would start it instead.
        return {"code": "link_waits", "link": min(state.links_lost)}
    if expected_card(game, state) is not None or isinstance(request, Burn):
        step = _card_step(request)
        step["next"] = _following(game, state)
        return step
    if isinstance(request, Deal):
        # An open card would tell who wins: the dealer draws none while bets are taken.
        return {"code": "wait_close", "next": _card_step(request)}
    if current.phase is not Phase.REVEAL:
        return {"code": "wait_close"}
    if isinstance(request, Reveal):
        return {"code": "reveal", "position": request.positions[0]}
    return {"code": "settling"}


def _card_step(request: Request) -> dict[str, Json]:
    if isinstance(request, Deal):
        return {"code": "deal", "position": request.position, "card": request.index + 1}
    assert isinstance(request, Burn)
    return {"code": "burn_one", "count": request.count}


def _following(game: AnyGame, state: TableState) -> dict[str, Json] | None:
    """Return the step after the card that is waited for, for the dealer to see ahead.

    What follows a face-down card never depends on its face, or the screen would tell it: so the
    game is asked what it would want after any card. After an open card it may depend on it (a
    third card): then nothing is foretold.
    """
    current = state.round
    assert current is not None
    assert state.config is not None
    request = game.next(current.game_state)
    if isinstance(request, Burn) and state.config.scan_at is ScanAt.REVEAL:
        answers: Sequence[GameEvent] = (Burnt(count=request.count),)
    else:
        answers = tuple(Scanned(piece=piece) for piece in game.describe(state.config).pieces)
    if not (isinstance(request, Deal) and request.face_up):
        answers = answers[:1]
    after = game.next(game.apply(current.game_state, answers[0]))
    betting = current.phase is Phase.BETTING
    waits = isinstance(after, Deal) and after.face_up and betting
    if isinstance(after, Deal | Burn) and not waits:
        told = _card_step(after)
    elif betting:
        told = {"code": "wait_close"}
    else:
        return None
    rest = (game.next(game.apply(current.game_state, answer)) for answer in answers[1:])
    return told if all(step == after for step in rest) else None
