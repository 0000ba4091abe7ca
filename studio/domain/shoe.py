"""The shoe: where every registered card is, at all times.

registered = in shoe + burnt + dealt. The serial of a physical card passes once per shoe; the
same serial twice in a row is the same card lying there, later it is a doubled card.
Source: DESIGN section 3.
"""

from dataclasses import dataclass, replace

from studio.domain.event_parts import OpenCard


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A card that left the shoe and passed the camera."""

    scope: str
    position: str
    index: int
    card: str
    serial: int
    nonce: str
    commitment: str
    open: bool = False

    def opened(self) -> OpenCard:
        """Return what the reveal publishes."""
        return OpenCard(
            position=self.position,
            index=self.index,
            card=self.card,
            serial=self.serial,
            nonce=self.nonce,
        )


@dataclass(frozen=True, kw_only=True)
class Shoe:
    """The counts of one shoe and the serials that have passed."""

    number: int
    deck_set: int
    decks: int
    registered: int
    cut_depth: int | None = None
    burnt: int = 0
    dealt: int = 0
    to_burn: int = 0
    """Opening burns still to come."""
    first_card: str | None = None
    opening_burns: tuple[Drawn, ...] = ()
    seen: frozenset[int] = frozenset()
    last_serial: int | None = None
    order: tuple[str, ...] = ()
    """The faces that passed the camera, in order."""
    order_repeated: bool = False
    """Whether their order was found to repeat another; found once a shoe."""
    cut_card_out: bool = False

    @property
    def in_shoe(self) -> int:
        """Cards still in the shoe."""
        return self.registered - self.burnt - self.dealt

    def pass_card(self, face: str, serial: int, *, burnt: bool) -> "Shoe":
        """Return the shoe after one card left it."""
        assert serial not in self.seen
        return replace(
            self,
            burnt=self.burnt + burnt,
            dealt=self.dealt + (not burnt),
            seen=self.seen | {serial},
            last_serial=serial,
            order=(*self.order, face),
        )
