"""What can happen at a table: the events of its log.

An event's fields are its public body. A card that nobody may see yet travels beside the body in
`sealed`, is stored apart and never published; the body carries only its commitment.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import TypeAlias, get_args

from studio.domain.game import Json


@unique
class Held(StrEnum):
    """Why a card is held. A log of the first release says `foreign_card` for the first two."""

    OTHER_DECK_SET = "other_deck_set"
    """Printed for another deck set, or another kind of piece."""
    UNKNOWN_SERIAL = "unknown_serial"
    """Of this deck set by its number, but nobody registered it, or not as this face."""
    DOUBLED_CARD = "doubled_card"
    """The same physical card has left this shoe before."""
    EXTRA_COPY = "extra_copy"
    """Its face has left the shoe as often as the decks hold it."""
    OUT_OF_TURN = "out_of_turn"
    """Turned while bets are taken, at a table whose cards lie open."""
    UNNEEDED_CARD = "unneeded_card"
    """No card is due."""


@dataclass(frozen=True, kw_only=True)
class SealedCard:
    """A drawn card before its reveal."""

    card: str
    serial: int
    nonce: str


@dataclass(frozen=True, kw_only=True)
class OpenCard:
    """A card with everything that proves its commitment."""

    position: str
    index: int
    card: str
    serial: int
    nonce: str


@dataclass(frozen=True, kw_only=True)
class BetResult:
    """What one unit on a bet brought; `net` is a fraction as text, e.g. `-2` or `19/20`."""

    bet: str
    net: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A road mark."""

    position: str
    result: str
    rings: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class HandResult:
    """What an open hand is worth."""

    position: str
    points: str
    name: str


@dataclass(frozen=True, kw_only=True)
class _Event:
    """Base of the events: the sealed part, absent for most."""

    sealed: SealedCard | None = dataclasses.field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class DealerSeated(_Event):
    """A dealer took the table."""

    dealer_id: int
    name: str


@dataclass(frozen=True, kw_only=True)
class DealerLeft(_Event):
    """The dealer left the table."""

    dealer_id: int
    name: str


@dataclass(frozen=True, kw_only=True)
class ShoeLoaded(_Event):
    """A shoe session begins: first event of an epoch. Carries what outlives the one before."""

    game: str
    deck_set: int
    decks: int
    registered: int
    rule_version: str
    paytable_version: str
    scan_at: str
    burn_per_round: int
    options: Mapping[str, Json]
    round_number: int
    """Number of the table's last round so far."""
    dealer_id: int | None
    dealer_name: str | None
    links_lost: tuple[str, ...]
    carry: Mapping[str, Json]
    """What the game hands from round to round."""


@dataclass(frozen=True, kw_only=True)
class VerificationStarted(_Event):
    """Every card will pass the camera before the shuffle."""


@dataclass(frozen=True, kw_only=True)
class CardVerified(_Event):
    """One card passed; `problem` is None, `foreign` or `doubled`."""

    count: int
    problem: str | None


@dataclass(frozen=True, kw_only=True)
class VerificationEnded(_Event):
    """The verification's verdict; the cards named here are not yet shuffled."""

    complete: bool
    missing: tuple[str, ...]
    foreign: int
    doubled: int


@dataclass(frozen=True, kw_only=True)
class ShoeShuffled(_Event):
    """Shuffled, cut card `cut_depth` cards from the back; the first card comes next."""

    cut_depth: int


@dataclass(frozen=True, kw_only=True)
class FirstCardTurned(_Event):
    """The shoe's first card, face up; `burn` cards are burnt after it."""

    card: str
    serial: int
    burn: int


@dataclass(frozen=True, kw_only=True)
class CardDrawn(_Event):
    """A card was read as it left the shoe. Its face is in `sealed` until revealed."""

    scope: str
    """Round id, or the shoe's id for opening burns."""
    position: str
    index: int
    commitment: str


@dataclass(frozen=True, kw_only=True)
class BurnConfirmed(_Event):
    """Cards burnt without passing the camera (`scan_at = reveal`)."""

    count: int


@dataclass(frozen=True, kw_only=True)
class CutCardOut(_Event):
    """The cut card came up: this round, or the next to open, is the shoe's last."""


@dataclass(frozen=True, kw_only=True)
class RoundOpened(_Event):
    """Bets are accepted until `window_closes_ms` by the server's clock."""

    round_id: str
    number: int
    opened_ms: int
    window_closes_ms: int
    rule_version: str
    paytable_version: str


@dataclass(frozen=True, kw_only=True)
class BettingClosed(_Event):
    """No more bets. What the book holds, as count, sums and digest."""

    round_id: str
    count: int
    turnover_minor: int
    held_minor: int
    digest: str


@dataclass(frozen=True, kw_only=True)
class CardsRevealed(_Event):
    """Cards opened to everybody."""

    scope: str
    positions: tuple[str, ...]
    cards: tuple[OpenCard, ...]


@dataclass(frozen=True, kw_only=True)
class RoundSettled(_Event):
    """Results and money of a round, in one record."""

    round_id: str
    version: int
    results: tuple[BetResult, ...]
    marks: tuple[Mark, ...]
    hands: tuple[HandResult, ...]
    count: int
    turnover_minor: int
    payouts_minor: int


@dataclass(frozen=True, kw_only=True)
class RoundVoided(_Event):
    """The round is annulled; every open wager got its whole hold back."""

    round_id: str
    version: int
    reason: str
    by: str
    count: int
    turnover_minor: int
    payouts_minor: int
    cards: tuple[OpenCard, ...]
    """The round's cards, opened now: nothing is bet on them any more."""


@dataclass(frozen=True, kw_only=True)
class CorrectedFace:
    """A face that holds in a correction instead of the one that was read."""

    position: str
    index: int
    card: str


@dataclass(frozen=True, kw_only=True)
class RoundCorrected(_Event):
    """A settled round was reversed and settled anew, or annulled.

    It stands where the log is now; the round may be of an earlier shoe.
    """

    round_id: str
    epoch: int
    """Of the round's shoe."""
    number: int
    version: int
    void: bool
    faces: tuple[CorrectedFace, ...]
    """Every face that differs from the round's log; empty: the cards as they were read."""
    results: tuple[BetResult, ...]
    marks: tuple[Mark, ...]
    hands: tuple[HandResult, ...]
    reason: str
    by: str
    count: int
    turnover_minor: int
    payouts_minor: int
    players: int
    """Whose money it changed."""
    paid_minor: int
    taken_minor: int
    """Taken back, what is owed for it included."""
    owed_minor: int
    """What was no longer in the wallets."""


@dataclass(frozen=True, kw_only=True)
class ReadFailed(_Event):
    """A card lies still under the camera and can't be read."""

    reason: str
    tries: int
    position: str | None
    index: int | None


@dataclass(frozen=True, kw_only=True)
class CardKeyed(_Event):
    """The dealer keyed in the card that can't be read. Nothing moves until it is confirmed."""

    position: str
    index: int
    by: str


@dataclass(frozen=True, kw_only=True)
class KeyConfirmed(_Event):
    """A supervisor keyed in the same card from its picture; what a read gives comes next."""

    position: str
    index: int
    dealer: str
    by: str
    reason: str
    picture: int


@dataclass(frozen=True, kw_only=True)
class KeyDropped(_Event):
    """A keyed card counts no more: the two entries differ, or the supervisor rejected it."""

    position: str
    index: int
    why: str
    """`differs` or `rejected`."""
    dealer: str
    by: str
    reason: str
    picture: int | None


@dataclass(frozen=True, kw_only=True)
class CardHeld(_Event):
    """A card that must not be there: the table waits for the supervisor."""

    fault: str
    """As `Held` says."""
    scope: str
    commitment: str | None
    """Of a card that belongs to the shoe and is out of it now: it will be burnt."""


@dataclass(frozen=True, kw_only=True)
class HeldReleased(_Event):
    """The supervisor resolved a held card; one that came out of the shoe counts as burnt."""

    action: str
    """The way of `studio.domain.procedures` that was taken, or `continue`."""
    by: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class PitCalled(_Event):
    """The dealer, or a limit of failed reads, called the pit."""

    by: str


@dataclass(frozen=True, kw_only=True)
class DealingStopped(_Event):
    """STOP: nothing advances until the supervisor resumes.

    By the studio itself when the cards' order repeats another. The event does not say so: the
    order of cards that are still sealed could be told from it; the pit's alarm does.
    """

    by: str


@dataclass(frozen=True, kw_only=True)
class DealingResumed(_Event):
    """The supervisor let the table go on."""

    by: str
    reason: str
    choice: str | None = None
    """The way of `studio.domain.procedures` that was taken, when one was named."""


@dataclass(frozen=True, kw_only=True)
class LinkLost(_Event):
    """Scanner, station or video fell silent for longer than its limit."""

    link: str


@dataclass(frozen=True, kw_only=True)
class LinkRestored(_Event):
    """The link is back."""

    link: str


@dataclass(frozen=True, kw_only=True)
class ShoeClosed(_Event):
    """The shoe is counted out. Its opening burns are revealed."""

    cards_left: int
    expected: int
    closes: bool
    scope: str
    cards: tuple[OpenCard, ...]


@dataclass(frozen=True, kw_only=True)
class TableLocked(_Event):
    """No round opens until a supervisor unlocks."""

    reason: str
    by: str


@dataclass(frozen=True, kw_only=True)
class TableUnlocked(_Event):
    """The table may go on."""

    reason: str
    by: str


Event: TypeAlias = (
    DealerSeated
    | DealerLeft
    | ShoeLoaded
    | VerificationStarted
    | CardVerified
    | VerificationEnded
    | ShoeShuffled
    | FirstCardTurned
    | CardDrawn
    | BurnConfirmed
    | CutCardOut
    | RoundOpened
    | BettingClosed
    | CardsRevealed
    | RoundSettled
    | RoundVoided
    | RoundCorrected
    | ReadFailed
    | CardKeyed
    | KeyConfirmed
    | KeyDropped
    | CardHeld
    | HeldReleased
    | PitCalled
    | DealingStopped
    | DealingResumed
    | LinkLost
    | LinkRestored
    | ShoeClosed
    | TableLocked
    | TableUnlocked
)

EVENT_KINDS: Mapping[str, type[Event]] = {kind.__name__: kind for kind in get_args(Event)}
