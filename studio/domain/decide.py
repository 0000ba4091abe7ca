"""What follows from a command: a refusal, or the events to store.

`decide` changes nothing and reads neither clock nor chance. Every arm refuses first and then
returns events. Screens ask `can`, which is built on `decide`, so that a button and the server
cannot disagree.
"""

from collections import Counter
from typing import assert_never

from studio.domain.commands import (
    ApproveCorrection,
    CallPit,
    CloseBetting,
    CloseShoe,
    Command,
    ConfirmBurn,
    ConfirmKey,
    ConfirmShuffle,
    CorrectRound,
    DropCorrection,
    DropKey,
    EndVerification,
    FailRead,
    FreeSeat,
    KeyCard,
    LeaveSeat,
    LoadShoe,
    Lock,
    MarkLink,
    OpenRound,
    ProposeCorrection,
    ReleaseHeld,
    Resume,
    RevealNext,
    SeeCard,
    SettleRound,
    StartVerification,
    Stop,
    TakeSeat,
    TurnCutCard,
    Unlock,
    VoidRound,
)
from studio.domain.dealing import confirm_burn, fail_read, see_card
from studio.domain.errors import RefusedError
from studio.domain.events import (
    BettingClosed,
    CutCardOut,
    DealerLeft,
    DealerSeated,
    DealingResumed,
    DealingStopped,
    Event,
    HeldReleased,
    LinkLost,
    LinkRestored,
    PitCalled,
    RoundOpened,
    RoundSettled,
    RoundVoided,
    ShoeClosed,
    ShoeLoaded,
    ShoeShuffled,
    TableLocked,
    TableUnlocked,
    VerificationEnded,
    VerificationStarted,
)
from studio.domain.game import (
    AnyGame,
    Description,
    GameConfig,
    Reveal,
    Revealed,
    ScanAt,
    Settle,
)
from studio.domain.guards import (
    need_free_hands,
    need_no_correction,
    need_no_running_round,
    need_reason,
    need_running_round,
    need_stage,
)
from studio.domain.keying import decide_key
from studio.domain.proposing import approve, correct_round, drop, propose
from studio.domain.round import Phase, last_burns, marks_and_hands, opening, results
from studio.domain.table import Stage, TableState


def can(game: AnyGame, state: TableState, command: Command) -> bool:
    """Return whether `command` would be accepted now."""
    try:
        decide(game, state, command)
    except RefusedError:
        return False
    return True


def decide(  # noqa: C901  one arm per command
    game: AnyGame, state: TableState, command: Command
) -> tuple[Event, ...]:
    """Return the events that `command` gives in `state`.

    Raises:
        RefusedError: the command's rule does not hold now; the code names the rule.
    """
    match command:
        case TakeSeat():
            return _take_seat(state, command)
        case LeaveSeat():
            return _leave_seat(state, command)
        case FreeSeat():
            return _free_seat(state, command)
        case LoadShoe():
            return _load_shoe(game, state, command)
        case StartVerification():
            need_stage(state, Stage.LOADED)
            need_free_hands(state)
            return (VerificationStarted(),)
        case EndVerification():
            return _end_verification(state, command)
        case ConfirmShuffle():
            return _confirm_shuffle(state, command)
        case SeeCard():
            return see_card(game, state, command)
        case FailRead():
            return fail_read(game, state, command)
        case KeyCard() | ConfirmKey() | DropKey():
            return decide_key(game, state, command)
        case ConfirmBurn():
            return confirm_burn(game, state)
        case TurnCutCard():
            return _turn_cut_card(state)
        case OpenRound():
            return _open_round(game, state, command)
        case CloseBetting():
            return _close_betting(state, command)
        case RevealNext():
            return _reveal_next(game, state)
        case SettleRound():
            return _settle_round(game, state, command)
        case VoidRound():
            return _void_round(state, command)
        case CorrectRound():
            return correct_round(state, command)
        case ProposeCorrection():
            return propose(state, command)
        case ApproveCorrection():
            return approve(state, command)
        case DropCorrection():
            return drop(state, command)
        case ReleaseHeld():
            return _release_held(state, command)
        case CallPit():
            return () if state.pit_called else (PitCalled(by=command.by),)
        case Stop():
            return () if state.stopped else (DealingStopped(by=command.by),)
        case Resume():
            return _resume(state, command)
        case MarkLink():
            return _mark_link(state, command)
        case CloseShoe():
            return _close_shoe(state, command)
        case Lock():
            return _lock(state, command)
        case Unlock():
            need_reason(command.reason)
            if state.locked is None:
                raise RefusedError("not_locked", "The table is not locked.")
            return (TableUnlocked(reason=command.reason, by=command.by),)
        case _:
            assert_never(command)


# People ----------------------------------------------------------------------------------------


def _take_seat(state: TableState, command: TakeSeat) -> tuple[Event, ...]:
    if state.dealer is not None and state.dealer.id == command.dealer_id:
        return ()
    if state.dealer is not None:
        raise RefusedError(
            "seat_taken",
            f"{state.dealer.name} deals at {state.table}; they leave the seat first.",
            name=state.dealer.name,
        )
    return (DealerSeated(dealer_id=command.dealer_id, name=command.name),)


def _leave_seat(state: TableState, command: LeaveSeat) -> tuple[Event, ...]:
    if state.dealer is None or state.dealer.id != command.dealer_id:
        raise RefusedError("seat_not_yours", "Only the dealer at the table can leave its seat.")
    need_no_running_round(state)
    return (DealerLeft(dealer_id=command.dealer_id, name=state.dealer.name),)


def _free_seat(state: TableState, command: FreeSeat) -> tuple[Event, ...]:
    need_reason(command.reason)
    if state.dealer is None:
        raise RefusedError("seat_free", "Nobody has taken the table.")
    # Also in a running round: the next dealer plays it to its end.
    return (DealerLeft(dealer_id=state.dealer.id, name=state.dealer.name),)


def _lock(state: TableState, command: Lock) -> tuple[Event, ...]:
    need_reason(command.reason)
    if state.locked is not None:
        raise RefusedError("table_locked", f"The table is already locked: {state.locked}")
    return (TableLocked(reason=command.reason, by=command.by),)


def _resume(state: TableState, command: Resume) -> tuple[Event, ...]:
    need_reason(command.reason)
    if not state.stopped and not state.pit_called:
        raise RefusedError("not_stopped", "The table is not stopped.")
    if state.correction is not None and state.correction.of_running:
        # The round would settle while its void waits for approval.
        need_no_correction(state)
    return (DealingResumed(by=command.by, reason=command.reason, choice=command.choice),)


def _mark_link(state: TableState, command: MarkLink) -> tuple[Event, ...]:
    lost = command.link in state.links_lost
    if command.up and lost:
        return (LinkRestored(link=command.link),)
    if not command.up and not lost:
        current = state.round
        waits = current is not None and current.waits
        return (LinkLost(link=command.link, cancels_ms=command.cancels_ms if waits else None),)
    return ()


# The shoe --------------------------------------------------------------------------------------


def _load_shoe(game: AnyGame, state: TableState, command: LoadShoe) -> tuple[Event, ...]:
    if state.stage is not Stage.NO_SHOE:
        raise RefusedError("shoe_on_table", "A shoe is on the table; close it first.")
    need_no_correction(state)
    need_free_hands(state)
    if state.locked is not None:
        raise RefusedError("table_locked", f"The table is locked: {state.locked}")
    config = GameConfig(
        decks=command.decks,
        scan_at=ScanAt(command.scan_at),
        burn_per_round=command.burn_per_round,
        options=command.options,
    )
    description = game.describe(config)
    registered = len(description.pieces) * description.decks
    if len(command.manifest) != registered:
        raise RefusedError(
            "deck_set_size",
            f"Deck set {command.deck_set} has {len(command.manifest)} cards; the table needs "
            f"{registered}.",
            deck_set=command.deck_set,
        )
    _need_even(description, command)
    return (
        ShoeLoaded(
            game=game.code,
            deck_set=command.deck_set,
            decks=command.decks,
            registered=registered,
            rule_version=description.rule_version,
            paytable_version=description.paytable_version,
            scan_at=command.scan_at,
            burn_per_round=command.burn_per_round,
            options=command.options,
            round_number=state.round_number,
            dealer_id=state.dealer.id if state.dealer else None,
            dealer_name=state.dealer.name if state.dealer else None,
            links_lost=tuple(sorted(state.links_lost)),
            carry=state.carry,
        ),
    )


def _need_even(description: Description, command: LoadShoe) -> None:
    """Refuse a deck set that holds a face more or less often than its decks do."""
    due = Counter(piece.number for piece in description.pieces)
    uneven = any(
        due[number] * description.decks != count
        for number, count in Counter(command.manifest.values()).items()
    )
    if uneven:
        raise RefusedError(
            "deck_set_uneven",
            f"Deck set {command.deck_set} does not hold every card once per deck; register it "
            "anew.",
            deck_set=command.deck_set,
        )


def _end_verification(state: TableState, command: EndVerification) -> tuple[Event, ...]:
    need_stage(state, Stage.VERIFYING)
    need_free_hands(state)
    missing = [
        f"{command.manifest[serial]:02d}/{serial:04d}"
        for serial in sorted(command.manifest.keys() - state.verified)
    ]
    faults = state.verified_foreign + state.verified_doubled
    return (
        VerificationEnded(
            complete=not missing and not faults,
            missing=tuple(missing),
            foreign=state.verified_foreign,
            doubled=state.verified_doubled,
        ),
        *(
            ()
            if not missing and not faults
            else (TableLocked(reason="verification_failed", by="studio"),)
        ),
    )


def _confirm_shuffle(state: TableState, command: ConfirmShuffle) -> tuple[Event, ...]:
    need_stage(state, Stage.LOADED)
    need_free_hands(state)
    if state.locked is not None:
        raise RefusedError("table_locked", f"The table is locked: {state.locked}")
    if state.verification_failed:
        raise RefusedError(
            "verification_failed", "The deck set is not complete; verify it again or close it."
        )
    if not command.cut_depth_min <= command.cut_depth <= command.cut_depth_max:
        raise RefusedError(
            "cut_depth",
            f"The cut card lies {command.cut_depth} cards from the back; allowed are "
            f"{command.cut_depth_min} to {command.cut_depth_max}.",
            least=command.cut_depth_min,
            most=command.cut_depth_max,
        )
    return (ShoeShuffled(cut_depth=command.cut_depth),)


def _turn_cut_card(state: TableState) -> tuple[Event, ...]:
    shoe = need_stage(state, Stage.OPENING, Stage.IN_PLAY)
    return () if shoe.cut_card_out else (CutCardOut(),)


def _close_shoe(state: TableState, command: CloseShoe) -> tuple[Event, ...]:
    need_no_running_round(state)
    stages = [stage for stage in Stage if stage is not Stage.NO_SHOE]
    shoe = need_stage(state, *(stages if command.early else [Stage.LAST_ROUND_DONE]))
    need_free_hands(state, stop_counts=not command.early)
    closes = command.cards_left == shoe.in_shoe
    closed = ShoeClosed(
        cards_left=command.cards_left,
        expected=shoe.in_shoe,
        closes=closes,
        scope=state.shoe_id,
        cards=tuple(card.opened() for card in shoe.opening_burns),
    )
    return (closed,) if closes else (closed, TableLocked(reason="shoe_count", by="studio"))


# The round -------------------------------------------------------------------------------------


def _open_round(game: AnyGame, state: TableState, command: OpenRound) -> tuple[Event, ...]:
    if state.stage is Stage.LAST_ROUND_DONE:
        raise RefusedError("last_round_done", "The cut card is out; count the shoe out.")
    shoe = need_stage(state, Stage.IN_PLAY)
    need_no_running_round(state)
    need_free_hands(state)
    if state.locked is not None:
        raise RefusedError("table_locked", f"The table is locked: {state.locked}")
    if state.dealer is None:
        raise RefusedError("dealer_missing", "No dealer has taken the table.")
    if state.links_lost:
        links = ", ".join(sorted(state.links_lost))
        raise RefusedError("link_lost", f"No new round while a link is lost: {links}.", links=links)
    assert state.config is not None
    needed = game.describe(state.config).pieces_per_round_max
    if shoe.in_shoe < needed:
        raise RefusedError(
            "shoe_short", f"The shoe holds {shoe.in_shoe} cards; a round may need {needed}."
        )
    number = state.round_number + 1
    return (
        RoundOpened(
            round_id=f"{state.shoe_id}-{number}",
            number=number,
            opened_ms=command.now_ms,
            window_closes_ms=command.now_ms + command.window_ms,
            rule_version=state.rule_version,
            paytable_version=state.paytable_version,
        ),
    )


def _close_betting(state: TableState, command: CloseBetting) -> tuple[Event, ...]:
    current = need_running_round(state)
    if current.phase is not Phase.BETTING:
        raise RefusedError("betting_not_open", "Betting is not open.")
    # A clock that was set back behind the opening ends the window: it must not grow longer.
    if current.opened_ms <= command.now_ms < current.window_closes_ms:
        raise RefusedError("betting_window_running", "The betting window is still running.")
    return (
        BettingClosed(
            round_id=current.id,
            count=command.count,
            turnover_minor=command.turnover_minor,
            held_minor=command.held_minor,
            digest=command.digest,
        ),
    )


def _reveal_next(game: AnyGame, state: TableState) -> tuple[Event, ...]:
    current = need_running_round(state)
    need_free_hands(state)
    request = game.next(current.game_state)
    if current.phase is not Phase.REVEAL or not isinstance(request, Reveal):
        raise RefusedError("reveal_not_due", "No hand is to be opened now.")
    after = game.apply(current.game_state, Revealed(positions=request.positions))
    return (opening(current, request.positions), *last_burns(game, current, after))


def results_due(game: AnyGame, state: TableState) -> bool:
    """Return whether the running round only waits to be settled."""
    current = state.round
    return (
        current is not None
        and current.phase is Phase.REVEAL
        and isinstance(game.next(current.game_state), Settle)
        and not state.stopped
    )


def _settle_round(game: AnyGame, state: TableState, command: SettleRound) -> tuple[Event, ...]:
    current = need_running_round(state)
    if not results_due(game, state):
        need_free_hands(state)
        raise RefusedError("results_not_due", "The round's hands are not all open.")
    marks, hands = marks_and_hands(game.evaluate(current.game_state))
    return (
        RoundSettled(
            round_id=current.id,
            version=command.version,
            results=results(command.nets, command.reasons),
            marks=marks,
            hands=hands,
            count=command.count,
            turnover_minor=command.turnover_minor,
            payouts_minor=command.payouts_minor,
        ),
    )


def _void_round(state: TableState, command: VoidRound) -> tuple[Event, ...]:
    need_reason(command.reason)
    current = need_running_round(state)
    return (
        RoundVoided(
            round_id=current.id,
            version=command.version,
            reason=command.reason,
            by=command.by,
            count=command.count,
            turnover_minor=command.turnover_minor,
            payouts_minor=command.payouts_minor,
            cards=tuple(card.opened() for card in current.drawn if not card.open),
        ),
    )


def _release_held(state: TableState, command: ReleaseHeld) -> tuple[Event, ...]:
    need_reason(command.reason)
    if state.fault is None or not state.fault.held:
        raise RefusedError("no_card_held", "No card is held at this table.")
    return (
        HeldReleased(action=command.choice or "continue", by=command.by, reason=command.reason),
    )
