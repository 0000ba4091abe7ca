"""One shoe session under audit: every card against its commitment, its deck and the counts."""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from studio.domain.cards import parse_piece
from studio.domain.event_parts import OpenCard, SealedCard
from studio.domain.events import (
    BurnConfirmed,
    CardDrawn,
    CardHeld,
    CardKeyed,
    CardsRevealed,
    Event,
    FirstCardTurned,
    HeldReleased,
    KeyConfirmed,
    RoundVoided,
    ShoeClosed,
    ShoeLoaded,
)
from studio.domain.log import commitment
from studio.services.inspection import Inspection

ASIDE = "aside"
"""Where a card lies that left the shoe though none was asked for."""

Found: TypeAlias = Iterator[tuple[str, str]]
"""Pairs of a fault's code and what it is."""


def _serial(event: Event) -> int | None:
    return None if event.sealed is None else event.sealed.serial


class ShoeCheck:
    """Takes the events of one epoch and names what is wrong with its cards.

    No fault names a card or a serial: an audit may run while they are sealed.
    """

    def __init__(self, inspection: Inspection) -> None:
        """Begin with no shoe on the table."""
        self._inspection = inspection
        self._manifest: Mapping[int, int] | None = None
        self._left = 0
        self._held: SealedCard | None = None
        self._keyed: SealedCard | None = None
        self._confirmed: SealedCard | None = None
        self._serials: set[int] = set()
        self._commitments: set[str] = set()

    def see(self, event: Event) -> Found:
        """Take the next event."""
        yield from self._entered(event)
        match event:
            case ShoeLoaded():
                yield from self._loaded(event)
            case FirstCardTurned():
                yield from self._left_shoe(event.card, event.serial)
            case CardDrawn():
                yield from self._drawn(event)
            case CardHeld() | HeldReleased():
                yield from self._aside(event)
            case BurnConfirmed():
                self._left -= event.count
            case CardsRevealed():
                yield from self._revealed(event.scope, event.cards)
            case RoundVoided():
                yield from self._revealed(event.round_id, event.cards)
            case ShoeClosed():
                yield from self._revealed(event.scope, event.cards)
                yield from self._counted_out(event)
            case _:
                pass

    def _loaded(self, event: ShoeLoaded) -> Found:
        self._left = event.registered
        self._manifest = self._inspection.manifest(event.deck_set)
        if self._manifest is None:
            yield "deck_set_missing", f"Deck set {event.deck_set} is not registered."
        elif len(self._manifest) != event.registered:
            yield (
                "deck_set_differs",
                f"Deck set {event.deck_set} has {len(self._manifest)} cards, the shoe "
                f"{event.registered}.",
            )

    def _entered(self, event: Event) -> Found:
        """A confirmed entry is the card that comes next, and somebody had keyed it in."""
        confirmed, self._confirmed = self._confirmed, None
        seen = event.serial if isinstance(event, FirstCardTurned) else _serial(event)
        if confirmed is not None and seen not in {None, confirmed.serial}:
            yield "keyed_card_differs", "The card is not the one that two people keyed in."
        if isinstance(event, CardKeyed):
            self._keyed = event.sealed
            if event.sealed is None:
                yield "sealed_card_missing", "The sealed part of a keyed card is gone."
        elif isinstance(event, KeyConfirmed):
            if self._keyed is None:
                yield "keyed_card_missing", "Nobody had keyed in the card that was confirmed."
            self._confirmed, self._keyed = self._keyed, None

    def _left_shoe(self, card: str, serial: int) -> Found:
        self._left -= 1
        if serial in self._serials:
            yield "card_twice", "This physical card passed before in the same shoe."
        self._serials.add(serial)
        if self._manifest is not None and self._manifest.get(serial) != parse_piece(card).number:
            yield "card_not_in_deck", "Its serial is another card in the deck set, or none."

    def _drawn(self, event: CardDrawn) -> Found:
        yield from self._committed(event, position=event.position, index=event.index)
        if event.sealed is not None:
            yield from self._left_shoe(event.sealed.card, event.sealed.serial)

    def _aside(self, event: CardHeld | HeldReleased) -> Found:
        """A card nobody asked for leaves the shoe when the supervisor releases it."""
        if isinstance(event, CardHeld):
            self._held = event.sealed if event.commitment else None
            if event.commitment:
                yield from self._committed(event, position=ASIDE, index=0)
            return
        if self._held is not None:
            yield from self._left_shoe(self._held.card, self._held.serial)
        self._held = None

    def _committed(self, event: CardDrawn | CardHeld, *, position: str, index: int) -> Found:
        said = event.commitment or ""
        self._commitments.add(said)
        sealed = event.sealed
        if sealed is None:
            yield "sealed_card_missing", "The sealed part of a drawn card is gone."
            return
        worked_out = commitment(
            nonce=sealed.nonce,
            scope=event.scope,
            position=position,
            index=index,
            card=sealed.card,
            serial=sealed.serial,
        )
        if worked_out != said:
            yield "sealed_card_differs", "The sealed card is not the one that was committed to."

    def _revealed(self, scope: str, cards: tuple[OpenCard, ...]) -> Found:
        for card in cards:
            worked_out = commitment(
                nonce=card.nonce,
                scope=scope,
                position=card.position,
                index=card.index,
                card=card.card,
                serial=card.serial,
            )
            if worked_out not in self._commitments:
                yield (
                    "reveal_differs",
                    f"The card opened at {card.position}/{card.index} was never committed to.",
                )

    def _counted_out(self, event: ShoeClosed) -> Found:
        if event.expected != self._left:
            yield (
                "shoe_count",
                f"{event.expected} cards were expected in the shoe; the log leaves {self._left}.",
            )
        if event.closes != (event.cards_left == event.expected):
            yield "shoe_count", "The verdict of the shoe's count is wrong."
