"""What people, devices and the clock may ask of a table.

Everything a decision needs comes in the command: time, nonce, what the book holds. `decide`
reads no clock and draws no chance.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from studio.domain.cards import PrintedCode
from studio.domain.correcting import Resettled
from studio.domain.events import CorrectedFace, CorrectionProposed


@dataclass(frozen=True, kw_only=True)
class TakeSeat:
    """A dealer takes the table."""

    dealer_id: int
    name: str


@dataclass(frozen=True, kw_only=True)
class LeaveSeat:
    """The dealer leaves the table."""

    dealer_id: int


@dataclass(frozen=True, kw_only=True)
class FreeSeat:
    """The supervisor takes an absent dealer off the table."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class LoadShoe:
    """Put a registered deck set on the table; `manifest` is serial -> card number."""

    deck_set: int
    decks: int
    manifest: Mapping[int, int]
    scan_at: str
    burn_per_round: int
    options: Mapping[str, object]


@dataclass(frozen=True)
class StartVerification:
    """Let every card pass the camera."""


@dataclass(frozen=True, kw_only=True)
class EndVerification:
    """Give the verdict; `manifest` is serial -> card number."""

    manifest: Mapping[int, int]


@dataclass(frozen=True, kw_only=True)
class ConfirmShuffle:
    """Shuffled, cut card placed `cut_depth` cards from the back."""

    cut_depth: int
    cut_depth_min: int
    cut_depth_max: int


@dataclass(frozen=True, kw_only=True)
class SeeCard:
    """The scanner read a code. `known`: serial and face stand in the deck set's manifest.

    `order_run`: so many faces in an order that no shuffle leaves stop the table; `earlier` are
    the runs of that length of the table's earlier shoes.
    """

    code: PrintedCode
    known: bool
    nonce: str
    order_run: int = 0
    earlier: tuple[frozenset[tuple[str, ...]], ...] = ()


@dataclass(frozen=True, kw_only=True)
class FailRead:
    """The scanner sees a still card and can't read it, or the dealer says so.

    `still`: the card has not been touched since the failed read before; that is no further try.
    """

    reason: str
    tries_max: int
    still: bool = False


@dataclass(frozen=True, kw_only=True)
class KeyCard:
    """The dealer keys in a card that failed to be read `tries_max` times."""

    seen: SeeCard = field(repr=False)
    """As if the scanner had read it."""
    by: str
    tries_max: int


@dataclass(frozen=True, kw_only=True)
class ConfirmKey:
    """A supervisor keys in the same card from its picture.

    `picture_seq`: number of the event whose report brought the picture; None: there is no such
    picture of this table and shoe.
    """

    seen: SeeCard = field(repr=False)
    by: str
    reason: str
    picture: int
    picture_seq: int | None


@dataclass(frozen=True, kw_only=True)
class DropKey:
    """A supervisor rejects a keyed card: it is keyed in anew, or read after all."""

    by: str
    reason: str


@dataclass(frozen=True)
class ConfirmBurn:
    """The dealer burnt what was asked without the camera (`scan_at = reveal`)."""


@dataclass(frozen=True)
class TurnCutCard:
    """The cut card came up."""


@dataclass(frozen=True, kw_only=True)
class OpenRound:
    """Open the betting window for `window_ms`."""

    now_ms: int
    window_ms: int


@dataclass(frozen=True, kw_only=True)
class CloseBetting:
    """The deadline has passed; the book is counted."""

    now_ms: int
    count: int
    turnover_minor: int
    held_minor: int
    digest: str


@dataclass(frozen=True)
class RevealNext:
    """Open the next hand."""


@dataclass(frozen=True, kw_only=True)
class SettleRound:
    """Results are known and the money is booked in the same transaction."""

    version: int
    nets: Mapping[str, Fraction]
    reasons: Mapping[str, str]
    count: int
    turnover_minor: int
    payouts_minor: int


@dataclass(frozen=True, kw_only=True)
class VoidRound:
    """Annul the running round; the refunds are booked in the same transaction."""

    version: int
    reason: str
    by: str
    count: int
    turnover_minor: int
    payouts_minor: int


@dataclass(frozen=True, kw_only=True)
class CorrectRound:
    """End a settled round anew, as announced; the money is booked in the same transaction."""

    now_ms: int
    round_id: str
    epoch: int
    number: int
    version: int
    faces: tuple[CorrectedFace, ...]
    resettled: Resettled | None
    """None: the round is annulled."""
    count: int
    turnover_minor: int
    payouts_minor: int
    players: int
    paid_minor: int
    taken_minor: int
    owed_minor: int


@dataclass(frozen=True, kw_only=True)
class ProposeCorrection:
    """Propose a correction; told at once, for `due_ms`, when it needs no approval."""

    proposed: CorrectionProposed
    due_ms: int


@dataclass(frozen=True, kw_only=True)
class Refunded:
    """What the void of the running round gave back, in the same transaction."""

    count: int
    turnover_minor: int
    payouts_minor: int


@dataclass(frozen=True, kw_only=True)
class ApproveCorrection:
    """A second person agrees; `refunded` when the running round is annulled with it."""

    proposal: str
    by: str
    by_id: int
    due_ms: int
    refunded: Refunded | None = None


@dataclass(frozen=True, kw_only=True)
class DropCorrection:
    """Leave everything that is not corrected yet as it is."""

    proposal: str
    by: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class ReleaseHeld:
    """The supervisor resolves a held card and lets the table go on.

    `choice`: which way of `studio.domain.procedures` that is, when one was named.
    """

    by: str
    reason: str
    choice: str | None = None


@dataclass(frozen=True, kw_only=True)
class CallPit:
    """Ask for the supervisor."""

    by: str


@dataclass(frozen=True, kw_only=True)
class Stop:
    """Nothing may advance."""

    by: str


@dataclass(frozen=True, kw_only=True)
class Resume:
    """The supervisor lets the table go on; `choice` as in `ReleaseHeld`."""

    by: str
    reason: str
    choice: str | None = None


@dataclass(frozen=True, kw_only=True)
class MarkLink:
    """A watched link fell silent or came back."""

    link: str
    up: bool
    cancels_ms: int | None = None
    """When silence cancels a round that has not started."""


@dataclass(frozen=True, kw_only=True)
class CloseShoe:
    """Count the shoe out: `cards_left` were found in it. `early`: a supervisor's order."""

    cards_left: int
    by: str
    early: bool


@dataclass(frozen=True, kw_only=True)
class Lock:
    """Forbid new rounds."""

    reason: str
    by: str


@dataclass(frozen=True, kw_only=True)
class Unlock:
    """Allow rounds again."""

    reason: str
    by: str


Command: TypeAlias = (
    TakeSeat
    | LeaveSeat
    | FreeSeat
    | LoadShoe
    | StartVerification
    | EndVerification
    | ConfirmShuffle
    | SeeCard
    | FailRead
    | KeyCard
    | ConfirmKey
    | DropKey
    | ConfirmBurn
    | TurnCutCard
    | OpenRound
    | CloseBetting
    | RevealNext
    | SettleRound
    | VoidRound
    | CorrectRound
    | ProposeCorrection
    | ApproveCorrection
    | DropCorrection
    | ReleaseHeld
    | CallPit
    | Stop
    | Resume
    | MarkLink
    | CloseShoe
    | Lock
    | Unlock
)
