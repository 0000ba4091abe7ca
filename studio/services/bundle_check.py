"""Checking a bundle of evidence by itself: signature, chain, commitments, results, payouts.

Needs no studio and no database: the same rule code works the results out again.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from studio.domain.errors import MalformedError
from studio.domain.game import AnyGame, Json
from studio.domain.log import canonical, commitment, event_hash
from studio.domain.money import payout_minor
from studio.services.correcting import correction
from studio.services.evidence import ENDS, FORMAT
from studio.services.inspection import Fault
from studio.services.ports import EndingKind, StoredEvent
from studio.services.replay import GameReplay, corrected_faults

SignatureHolds = Callable[[bytes, str, str], bool]
"""Content, public key and signature (base64); whether that key's owner signed it."""

_SEALING = frozenset({"CardDrawn", "CardVerified", "CardHeld"})
_UNKNOWN_CARD = "AS"
"""Stands for a card that was never opened: neither count nor result depends on its face."""

Place = tuple[str, str, int]
"""Scope, position and index of a card."""


def check_bundle(
    bundle: Mapping[str, Json],
    *,
    games: Mapping[str, AnyGame],
    signature_holds: SignatureHolds,
    public_key: str | None = None,
) -> list[Fault]:
    """Return everything that is wrong with a bundle; an empty list means that it holds.

    `public_key` (base64): the studio's, from another source than the bundle. Without it the
    signature proves only that whoever made the bundle made all of it.

    Raises:
        MalformedError: `not_a_bundle`.
    """
    try:
        if bundle["format"] != FORMAT:
            raise MalformedError("not_a_bundle", f"The format is not {FORMAT}.")
        faults = [
            *_signature(bundle, signature_holds=signature_holds, public_key=public_key),
            *_log(bundle, games=games),
            *_wagers(bundle),
        ]
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise MalformedError(
            "not_a_bundle", f"This is no whole bundle of a round: {type(error).__name__} {error}."
        ) from error
    return faults


def _signature(
    bundle: Mapping[str, Json], *, signature_holds: SignatureHolds, public_key: str | None
) -> Iterator[Fault]:
    where, signed = "signature", bundle["signature"]
    if public_key is not None and signed["public_key"] != public_key:
        yield Fault(code="signed_by_another", where=where, what="Not the studio's key signed it.")
    content = canonical({key: value for key, value in bundle.items() if key != "signature"})
    if not signature_holds(content.encode(), signed["public_key"], signed["value"]):
        yield Fault(
            code="signature_broken", where=where, what="The content is not what was signed."
        )


# The log ---------------------------------------------------------------------------------------


def _log(bundle: Mapping[str, Json], *, games: Mapping[str, AnyGame]) -> Iterator[Fault]:
    table, round_id = bundle["table"], bundle["round_id"]
    if bundle["game"] not in games:
        yield Fault(code="game_unknown", where=round_id, what="Its results can't be worked out.")
        return
    events = [_stored(table, event) for event in bundle["events"]]
    yield from _chain(events)
    opened = _opened(events)
    yield from _commitments(events, opened, round_id=round_id)
    replay = GameReplay(table, games)
    whole = [_unsealed(event, opened, number=number) for number, event in enumerate(events, 1)]
    for event in whole:
        yield from replay.see(event)
    yield from _corrections(bundle, whole, game=games[bundle["game"]])
    last = events[-1]
    if last.kind not in ENDS or last.body["round_id"] != round_id:
        yield Fault(code="end_missing", where=round_id, what="The log does not reach its end.")


def _stored(table: str, event: Mapping[str, Json]) -> StoredEvent:
    return StoredEvent(
        table=table,
        epoch=event["epoch"],
        seq=event["seq"],
        at_ms=event["at_ms"],
        kind=event["kind"],
        body=event["body"],
        sealed=None,
        prev_hash=event["prev_hash"],
        hash=event["hash"],
    )


def _chain(events: Sequence[StoredEvent]) -> Iterator[Fault]:
    before: StoredEvent | None = None
    for number, event in enumerate(events, start=1):
        where = f"{event.table} {event.epoch}/{event.seq}"
        if event.seq != number or event.epoch != events[0].epoch:
            yield Fault(code="log_gap", where=where, what="Events are missing before it.")
        if before is not None and event.prev_hash != before.hash:
            yield Fault(code="chain_broken", where=where, what="It does not follow the one before.")
        if _own_hash(event) != event.hash:
            yield Fault(code="event_changed", where=where, what="It does not have its own hash.")
        before = event


def _corrections(
    bundle: Mapping[str, Json], log: Sequence[StoredEvent], *, game: AnyGame
) -> Iterator[Fault]:
    """Hold each correction against its own hash, its turn, and the rules over the round's log."""
    version = 1
    for stored in (_stored(bundle["table"], event) for event in bundle.get("corrections", ())):
        where = f"{stored.table} {stored.epoch}/{stored.seq}"
        if _own_hash(stored) != stored.hash:
            yield Fault(code="event_changed", where=where, what="It does not have its own hash.")
        event = correction(stored)
        version += 1
        if (event.round_id, event.version) != (bundle["round_id"], version):
            yield Fault(
                code="correction_out_of_turn",
                where=where,
                what="A correction before it is missing.",
            )
        if not event.void:
            yield from corrected_faults(game, log, event, table=stored.table, where=where)


def _own_hash(event: StoredEvent) -> str:
    return event_hash(
        event.prev_hash,
        table=event.table,
        epoch=event.epoch,
        seq=event.seq,
        at_ms=event.at_ms,
        kind=event.kind,
        body=event.body,
    )


def _opened(events: Sequence[StoredEvent]) -> dict[Place, Mapping[str, Json]]:
    """Return every card that was opened, by the place it was drawn to."""
    found: dict[Place, Mapping[str, Json]] = {}
    for event in events:
        scope = event.body.get("scope") or event.body.get("round_id")
        for card in event.body.get("cards", ()):
            found[str(scope), card["position"], card["index"]] = card
    return found


def _commitments(
    events: Sequence[StoredEvent], opened: Mapping[Place, Mapping[str, Json]], *, round_id: str
) -> Iterator[Fault]:
    for event in events:
        if event.kind != "CardDrawn":
            continue
        body = event.body
        place = (str(body["scope"]), str(body["position"]), int(body["index"]))
        card = opened.get(place)
        where = f"{event.table} {event.epoch}/{event.seq}"
        if card is None:
            if body["scope"] == round_id:
                yield Fault(code="card_never_opened", where=where, what="A card stayed sealed.")
            continue
        made = commitment(
            nonce=card["nonce"],
            scope=place[0],
            position=place[1],
            index=place[2],
            card=card["card"],
            serial=card["serial"],
        )
        if made != body["commitment"]:
            yield Fault(
                code="commitment_broken",
                where=where,
                what="The card that was opened is not the one that was drawn.",
            )


def _unsealed(
    event: StoredEvent, opened: Mapping[Place, Mapping[str, Json]], *, number: int
) -> StoredEvent:
    """Return an event with its sealed part as far as it was opened later."""
    body = event.body
    if event.kind not in _SEALING or (event.kind != "CardVerified" and not body["commitment"]):
        return event
    if event.kind == "CardVerified" and body["problem"] is not None:
        return event
    place = (str(body.get("scope")), str(body.get("position", "")), int(body.get("index", 0)))
    card = opened.get(place, {"card": _UNKNOWN_CARD, "serial": -number, "nonce": ""})
    return replace(event, sealed={key: card[key] for key in ("card", "serial", "nonce")})


# The wagers ------------------------------------------------------------------------------------


def _wagers(bundle: Mapping[str, Json]) -> Iterator[Fault]:
    ends = [
        event["body"]
        for event in bundle["events"]
        if event["kind"] in ENDS and event["body"]["round_id"] == bundle["round_id"]
    ]
    if not ends:
        return  # named already: the log does not reach the round's end
    ends += [event["body"] for event in bundle.get("corrections", ())]
    end, nets = ends[-1], None
    if "results" in end and not end.get("void"):
        nets = {result["bet"]: Fraction(result["net"]) for result in end["results"]}
    standing = [wager for wager in bundle["wagers"] if not _undone(wager)]
    for wager in standing:
        ending = wager["ending"]
        due = _due(wager, nets)
        if ending is None or (ending["version"], ending["payout_minor"]) != (end["version"], due):
            yield Fault(
                code="payout_differs",
                where=f"wager {wager['id']}",
                what=f"By the round's result {due} is due.",
            )
    if bundle["for_player"] is None:
        yield from _book(bundle, standing, end=end)


def _undone(wager: Mapping[str, Json]) -> bool:
    return wager["ending"] is not None and wager["ending"]["kind"] == EndingKind.UNDONE


def _due(wager: Mapping[str, Json], nets: Mapping[str, Fraction] | None) -> int:
    """Return what goes back by the result; a forfeited stake pays its deposit at most."""
    hold_minor, stake_minor = int(wager["hold_minor"]), int(wager["stake_minor"])
    if nets is None:
        return hold_minor
    paid_minor = payout_minor(
        stake_minor=stake_minor, hold_minor=hold_minor, net=nets[wager["bet"]]
    )
    return min(paid_minor, hold_minor - stake_minor) if wager["forfeited"] else paid_minor


def _book(
    bundle: Mapping[str, Json], standing: Sequence[Mapping[str, Json]], *, end: Mapping[str, Json]
) -> Iterator[Fault]:
    """Hold all wagers against what the closing counted and the end paid."""
    keys = ("id", "player_id", "bet", "stake_minor", "hold_minor", "accepted_ms")
    digest = hashlib.sha256()
    for wager in standing:
        digest.update(("|".join(str(wager[key]) for key in keys) + "\n").encode())
    turnover_minor = sum(wager["stake_minor"] for wager in standing)
    sums = {
        "count": len(standing),
        "turnover_minor": turnover_minor,
        "payouts_minor": sum(
            (wager["ending"] or {"payout_minor": 0})["payout_minor"] for wager in standing
        ),
    }
    if any(end[key] != value for key, value in sums.items()):
        yield Fault(code="book_differs", where=bundle["round_id"], what="Wagers and end disagree.")
    closed = [
        event["body"]
        for event in bundle["events"]
        if event["kind"] == "BettingClosed" and event["body"]["round_id"] == bundle["round_id"]
    ]
    if closed and closed[-1]["digest"] != digest.hexdigest():
        yield Fault(
            code="book_differs",
            where=bundle["round_id"],
            what="These are not the wagers that stood when betting closed.",
        )
