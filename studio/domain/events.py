"""What can happen at a table: the events of its log.

An event's fields are its public body. A card that nobody may see yet travels beside the body in
`sealed`, is stored apart and never published; the body carries only its commitment.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import TypeAlias, get_args

from studio.domain.event_parts import BetResult, EventBase, HandResult, Mark, OpenCard
from studio.domain.game import Json


@dataclass(frozen=True, kw_only=True)
class DealerSeated(EventBase):
    """A dealer took the table."""

    dealer_id: int
    name: str


@dataclass(frozen=True, kw_only=True)
class DealerLeft(EventBase):
    """The dealer left the table."""

    dealer_id: int
    name: str


@dataclass(frozen=True, kw_only=True)
class ShoeLoaded(EventBase):
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
class VerificationStarted(EventBase):
    """Every card will pass the camera before the shuffle."""


@dataclass(frozen=True, kw_only=True)
class CardVerified(EventBase):
    """One card passed; `problem` is None, `foreign` or `doubled`."""

    count: int
    problem: str | None


@dataclass(frozen=True, kw_only=True)
class VerificationEnded(EventBase):
    """The verification's verdict; the cards named here are not yet shuffled."""

    complete: bool
    missing: tuple[str, ...]
    foreign: int
    doubled: int


@dataclass(frozen=True, kw_only=True)
class ShoeShuffled(EventBase):
    """Shuffled, cut card `cut_depth` cards from the back; the first card comes next."""

    cut_depth: int


@dataclass(frozen=True, kw_only=True)
class FirstCardTurned(EventBase):
    """The shoe's first card, face up; `burn` cards are burnt after it."""

    card: str
    serial: int
    burn: int


@dataclass(frozen=True, kw_only=True)
class CardDrawn(EventBase):
    """A card was read as it left the shoe. Its face is in `sealed` until revealed."""

    scope: str
    """Round id, or the shoe's id for opening burns."""
    position: str
    index: int
    commitment: str


@dataclass(frozen=True, kw_only=True)
class BurnConfirmed(EventBase):
    """Cards burnt without passing the camera (`scan_at = reveal`)."""

    count: int


@dataclass(frozen=True, kw_only=True)
class CutCardOut(EventBase):
    """The cut card came up: this round, or the next to open, is the shoe's last."""


@dataclass(frozen=True, kw_only=True)
class RoundOpened(EventBase):
    """Bets are accepted until `window_closes_ms` by the server's clock."""

    round_id: str
    number: int
    opened_ms: int
    window_closes_ms: int
    rule_version: str
    paytable_version: str


@dataclass(frozen=True, kw_only=True)
class BettingClosed(EventBase):
    """No more bets. What the book holds, as count, sums and digest."""

    round_id: str
    count: int
    turnover_minor: int
    held_minor: int
    digest: str


@dataclass(frozen=True, kw_only=True)
class CardsRevealed(EventBase):
    """Cards opened to everybody."""

    scope: str
    positions: tuple[str, ...]
    cards: tuple[OpenCard, ...]


@dataclass(frozen=True, kw_only=True)
class RoundSettled(EventBase):
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
class RoundVoided(EventBase):
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
class RoundCorrected(EventBase):
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
    approved_by: str | None = None
    """The second person; None when none was needed."""


@unique
class CorrectionKind(StrEnum):
    """What a correction does."""

    CORRECT = "correct"
    """Settles a round anew with other faces."""
    VOID = "void"
    """Annuls a settled round."""
    REFUND = "refund"
    """Annuls several settled rounds."""
    VOID_RUNNING = "void_running"
    """Annuls the running round, in which much is held."""


@dataclass(frozen=True, kw_only=True)
class RoundToCorrect:
    """A round that a correction names."""

    round_id: str
    epoch: int
    """Of the round's shoe."""
    number: int
    version: int
    """The version that the correction makes."""


@dataclass(frozen=True, kw_only=True)
class CorrectionProposed(EventBase):
    """A supervisor wants rounds corrected; no money has moved."""

    id: str
    kind: str
    """As `CorrectionKind` says."""
    rounds: tuple[RoundToCorrect, ...]
    """In the order in which they will be corrected."""
    faces: tuple[CorrectedFace, ...]
    """What the supervisor wants changed in the faces that hold; only for `correct`."""
    reason: str
    by: str
    by_id: int
    needs_approval: bool
    players: int
    """Whose money it would change, as things stood then; so are the sums."""
    paid_minor: int
    taken_minor: int
    owed_minor: int


@dataclass(frozen=True, kw_only=True)
class CorrectionAnnounced(EventBase):
    """The players are told; the money moves at `due_ms` at the earliest."""

    id: str
    approved_by: str | None
    """The second person; None when none was needed."""
    approved_by_id: int | None
    due_ms: int


@dataclass(frozen=True, kw_only=True)
class CorrectionDropped(EventBase):
    """What is not corrected yet stays as it is; by the studio when the rules refuse it."""

    id: str
    by: str
    reason: str
    """A supervisor's words, or the code of the refusal."""


@dataclass(frozen=True, kw_only=True)
class ReadFailed(EventBase):
    """A card lies still under the camera and can't be read."""

    reason: str
    tries: int
    position: str | None
    index: int | None


@dataclass(frozen=True, kw_only=True)
class CardKeyed(EventBase):
    """The dealer keyed in the card that can't be read. Nothing moves until it is confirmed."""

    position: str
    index: int
    by: str


@dataclass(frozen=True, kw_only=True)
class KeyConfirmed(EventBase):
    """A supervisor keyed in the same card from its picture; what a read gives comes next."""

    position: str
    index: int
    dealer: str
    by: str
    reason: str
    picture: int


@dataclass(frozen=True, kw_only=True)
class KeyDropped(EventBase):
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
class CardHeld(EventBase):
    """A card that must not be there: the table waits for the supervisor."""

    fault: str
    """As `Held` says."""
    scope: str
    commitment: str | None
    """Of a card that belongs to the shoe and is out of it now: it will be burnt."""


@dataclass(frozen=True, kw_only=True)
class HeldReleased(EventBase):
    """The supervisor resolved a held card; one that came out of the shoe counts as burnt."""

    action: str
    """The way of `studio.domain.procedures` that was taken, or `continue`."""
    by: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class PitCalled(EventBase):
    """The dealer, or a limit of failed reads, called the pit."""

    by: str


@dataclass(frozen=True, kw_only=True)
class DealingStopped(EventBase):
    """STOP: nothing advances until the supervisor resumes.

    By the studio itself when the cards' order repeats another. The event does not say so: the
    order of cards that are still sealed could be told from it; the pit's alarm does.
    """

    by: str


@dataclass(frozen=True, kw_only=True)
class DealingResumed(EventBase):
    """The supervisor let the table go on."""

    by: str
    reason: str
    choice: str | None = None
    """The way of `studio.domain.procedures` that was taken, when one was named."""


@dataclass(frozen=True, kw_only=True)
class LinkLost(EventBase):
    """Scanner, station or video fell silent for longer than its limit."""

    link: str
    cancels_ms: int | None = None
    """When the round is cancelled that has not started; None: none waits for its first card."""


@dataclass(frozen=True, kw_only=True)
class LinkRestored(EventBase):
    """The link is back."""

    link: str


@dataclass(frozen=True, kw_only=True)
class ShoeClosed(EventBase):
    """The shoe is counted out. Its opening burns are revealed."""

    cards_left: int
    expected: int
    closes: bool
    scope: str
    cards: tuple[OpenCard, ...]


@dataclass(frozen=True, kw_only=True)
class TableLocked(EventBase):
    """No round opens until a supervisor unlocks."""

    reason: str
    by: str


@dataclass(frozen=True, kw_only=True)
class TableUnlocked(EventBase):
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
    | CorrectionProposed
    | CorrectionAnnounced
    | CorrectionDropped
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
