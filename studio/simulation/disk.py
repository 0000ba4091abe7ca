"""What a simulated studio has stored, and the undoing of a unit that did not commit."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from studio.domain.game import Json
from studio.domain.log import canonical
from studio.services.picture_ports import WantedPicture
from studio.services.ports import Balance, DeckSet, Ending, RoundRow, StoredEvent, Wager
from studio.services.records import AlarmRow, TrailRow

ADJUSTMENTS, BANK, CASH = "adjustments", "bank", "cash"
"""The house's accounts."""

Undo = Callable[[], None]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One line of the ledger."""

    transfer: int
    account: str
    """`wallet 101`, `held 101`, `owed 101`, or one of the house's."""
    amount_minor: int


@dataclass(frozen=True, kw_only=True)
class Lease:
    """Who supervises a table, and until when."""

    holder: str
    fence: int
    until_ms: int


@dataclass(frozen=True)
class LeaseChange:
    """A lease as it was when it was asked for, and as it was then given."""

    table: str
    at_ms: int
    before: Lease
    after: Lease


@dataclass(frozen=True, kw_only=True)
class KeptPicture:
    """A picture that is wanted, and whether it has come."""

    wanted: WantedPicture
    came: bool


@dataclass
class Disk:
    """Everything durable. Changes are made in place and noted, so that they can be undone."""

    logs: dict[tuple[str, int], list[StoredEvent]] = field(default_factory=dict)
    """By table and epoch."""
    positions: dict[str, tuple[int, int, str]] = field(default_factory=dict)
    rounds: dict[str, RoundRow] = field(default_factory=dict)
    wagers: dict[str, Wager] = field(default_factory=dict)
    """In order of acceptance; `ending` is the one that stands."""
    endings: dict[tuple[str, int], Ending] = field(default_factory=dict)
    """By wager and version."""
    books: dict[str, list[str]] = field(default_factory=dict)
    """Wager ids by round."""
    entries: list[Entry] = field(default_factory=list)
    balances: dict[int, Balance] = field(default_factory=dict)
    cash_ids: dict[str, tuple[object, ...]] = field(default_factory=dict)
    """By the client's id: the content of a movement of cash or of what is owed."""
    reports: dict[tuple[str, str], str] = field(default_factory=dict)
    reports_taken: list[tuple[str, str]] = field(default_factory=list)
    """Every time a report moved a table: once each."""
    answers: dict[str, tuple[str, Mapping[str, Json]]] = field(default_factory=dict)
    commands_done: list[str] = field(default_factory=list)
    """Every time a command was carried out: once each."""
    alarms: dict[int, AlarmRow] = field(default_factory=dict)
    trail: list[TrailRow] = field(default_factory=list)
    deck_sets: dict[int, DeckSet] = field(default_factory=dict)
    qualified: dict[int, frozenset[str]] = field(default_factory=dict)
    leases: dict[str, Lease] = field(default_factory=dict)
    lease_changes: list[LeaseChange] = field(default_factory=list)
    pictures: dict[int, KeptPicture] = field(default_factory=dict)
    transfers: int = 0
    corrections: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    """By round and version: where in the log of its table the correction lies."""
    _journal: list[Undo] = field(default_factory=list)

    def begin(self) -> None:
        """Start a unit that writes; there is one at a time."""
        assert not self._journal, "two units write at once"

    def undo(self, change: Undo) -> None:
        """Note how the change just made is taken back."""
        self._journal.append(change)

    def commit(self) -> None:
        """Make the unit's changes durable."""
        self._journal.clear()

    def roll_back(self) -> None:
        """Take every change of the unit back, the latest first."""
        while self._journal:
            self._journal.pop()()

    # Changes -----------------------------------------------------------------------------------

    def set_item(self, table: dict, key: object, value: object) -> None:  # type: ignore[type-arg]
        """Set one item of one of the dictionaries above."""
        if key in table:
            before = table[key]
            self.undo(lambda: table.__setitem__(key, before))
        else:
            self.undo(lambda: table.pop(key))
        table[key] = value

    def add(self, rows: list, row: object) -> None:  # type: ignore[type-arg]
        """Append to one of the lists above."""
        rows.append(row)
        self.undo(rows.pop)

    def new_transfer(self) -> int:
        """Return the number of a new transfer."""
        self.transfers += 1
        return self.transfers

    def move(self, transfer: int, player_id: int, *, free_minor: int, held_minor: int) -> None:
        """Write a player's two entries, whichever are not 0, and move the balances with them."""
        for account, amount_minor in (("wallet", free_minor), ("held", held_minor)):
            if amount_minor:
                name = f"{account} {player_id}"
                line = Entry(transfer=transfer, account=name, amount_minor=amount_minor)
                self.add(self.entries, line)
        have = self.balances.get(player_id, Balance(balance_minor=0, held_minor=0))
        after = replace(
            have,
            balance_minor=have.balance_minor + free_minor,
            held_minor=have.held_minor + held_minor,
        )
        self.set_item(self.balances, player_id, after)

    def owe(self, transfer: int, player_id: int, minor: int) -> None:
        """Let a player owe more or less; the same transfer moves as much elsewhere."""
        self.post(transfer, f"owed {player_id}", -minor)
        have = self.balances[player_id]
        after = replace(have, owed_minor=have.owed_minor + minor)
        self.set_item(self.balances, player_id, after)

    def post(self, transfer: int, account: str, amount_minor: int) -> None:
        """Write one entry of the house, unless it is 0."""
        if amount_minor:
            line = Entry(transfer=transfer, account=account, amount_minor=amount_minor)
            self.add(self.entries, line)

    def end_wager(self, wager: Wager, ending: Ending) -> None:
        """Give a wager its ending."""
        self.set_item(self.endings, (wager.id, ending.version), ending)
        self.set_item(self.wagers, wager.id, replace(wager, ending=ending))

    def corrections_of(self, table: str, epoch: int) -> list[StoredEvent]:
        """Return the corrections of one shoe's rounds, in the order of the log."""
        places = sorted(
            place
            for (round_id, _), place in self.corrections.items()
            if (self.rounds[round_id].table, self.rounds[round_id].epoch) == (table, epoch)
        )
        return [self.logs[table, at][seq - 1] for at, seq in places]

    def digest(self) -> str:
        """Return a hash over where every log ends and what everybody has."""
        told = canonical(
            [
                sorted(self.positions.items()),
                sorted(
                    (player, have.balance_minor, have.held_minor, have.owed_minor)
                    for player, have in self.balances.items()
                ),
            ]
        )
        return hashlib.sha256(told.encode()).hexdigest()

    def standing(self, round_id: str) -> list[Wager]:
        """Return the round's wagers that have no ending yet, in order of acceptance."""
        return [
            wager
            for wager in (self.wagers[id] for id in self.books.get(round_id, ()))
            if wager.ending is None
        ]
