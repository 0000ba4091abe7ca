"""Everything that is always true, looked at after every step of a simulated studio.

Each check looks at what is new since the last one, so that a look costs what a step changed.
Source: DESIGN section 11.
"""

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

from studio.domain.cards import ALL_CARDS
from studio.domain.event_bodies import from_body
from studio.domain.events import RoundCorrected, RoundSettled, RoundVoided
from studio.domain.game import Json
from studio.domain.log import canonical, event_hash
from studio.domain.money import payout_minor
from studio.games import GAMES, by_code
from studio.services.live import Live, advance, fresh
from studio.services.ports import EndingKind, StoredEvent, Wager
from studio.services.setup import TableSetup
from studio.simulation.disk import ADJUSTMENTS, CASH, Disk, LeaseChange
from studio.simulation.floor import MANIFEST
from studio.simulation.network import ViolationError
from studio.simulation.server import Bus, Server
from studio.simulation.steps import StepWatch

_OUTSIDE = (ADJUSTMENTS, CASH)
"""Accounts that money comes from without a round."""
_WORD = re.compile(r"[0-9A-Za-z]+")


class Watch:
    """Looks at the disk, at what was published and at what the processes hold."""

    def __init__(self, disk: Disk, *, setups: Mapping[str, TableSetup], bus: Bus) -> None:
        """Begin with an empty studio."""
        self._disk = disk
        self._bus = bus
        games = by_code(GAMES)
        self.shadows = {code: fresh(setup, games[setup.game]) for code, setup in setups.items()}
        """Each table folded from its log by nobody but this."""
        self._sums: dict[str, int] = {}
        self._cash: set[int] = set()
        self._came_in: dict[str, int] = {}
        """By account of a player: cash, and what was written off."""
        self._entries_seen = 0
        self._sealed: dict[str, dict[int, str]] = {code: {} for code in setups}
        """By table: serial -> nonce of cards that nobody may know yet."""
        self._claimed: dict[str, set[str]] = {code: set() for code in setups}
        """By table: faces that supervisors claim of settled rounds; one that fits is chance."""
        self._reports_seen = 0
        self._commands_seen = 0
        self._leases_seen = 0
        self._done: set[object] = set()
        self._steps = StepWatch()
        self.rounds = 0
        self.corrections = 0
        self.events = 0

    def look(self, servers: list[Server | None]) -> None:
        """Check everything that is new.

        Raises:
            ViolationError: named after what is not true.
        """
        self._money()
        self._once()
        moved = [code for code in self.shadows if self._follow(code)]
        self._silence()
        for code in moved:
            self._same_everywhere(code, servers)

    # Money -------------------------------------------------------------------------------------

    def _money(self) -> None:
        new = self._disk.entries[self._entries_seen :]
        self._entries_seen += len(new)
        touched = set()
        sums: dict[int, int] = {}
        for entry in new:
            sums[entry.transfer] = sums.get(entry.transfer, 0) + entry.amount_minor
            self._sums[entry.account] = self._sums.get(entry.account, 0) + entry.amount_minor
            if entry.account in _OUTSIDE:
                self._cash.add(entry.transfer)
            touched.add(entry.account)
        for entry in new:
            if entry.transfer in self._cash and entry.account not in _OUTSIDE:
                self._came_in[entry.account] = (
                    self._came_in.get(entry.account, 0) + entry.amount_minor
                )
        for transfer, total in sums.items():
            if total:
                raise ViolationError("ledger_sum", f"Transfer {transfer} sums to {total}, not 0.")
        for account in touched:
            self._need_balance(account)

    def _need_balance(self, account: str) -> None:
        """A player's account is never below 0 and folded right; what is owed is never above."""
        kind, _, player = account.partition(" ")
        if not player:
            return
        if kind == "owed":
            self._need_owed(int(player))
            return
        if self._sums[account] < 0:
            raise ViolationError("balance_negative", f"{account}: {self._sums[account]}.")
        balance = self._disk.balances[int(player)]
        stored = balance.balance_minor if kind == "wallet" else balance.held_minor
        if stored != self._sums[account]:
            raise ViolationError("balance_differs", f"{account}: {stored} is stored.")

    def _need_owed(self, player_id: int) -> None:
        """What a player owes is what the account says, and no money of the house's."""
        owed_minor = self._disk.balances[player_id].owed_minor
        if owed_minor < 0 or owed_minor != -self._sums[f"owed {player_id}"]:
            raise ViolationError("owed_differs", f"Player {player_id}: {owed_minor} is stored.")

    def _need_all_back(self) -> None:
        """What everybody has is what came in, and what the wagers brought that have ended."""
        brought: dict[int, int] = dict.fromkeys(self._disk.balances, 0)
        for wager in self._disk.wagers.values():
            if wager.ending is not None:
                brought[wager.player_id] += wager.ending.payout_minor - wager.hold_minor
        for player_id, minor in brought.items():
            have = self._disk.balances[player_id]
            all_minor = have.balance_minor + have.held_minor - have.owed_minor
            came_in = (self._came_in.get(f"{kind} {player_id}", 0) for kind in ("wallet", "owed"))
            due_minor = sum(came_in) + minor
            if all_minor != due_minor:
                raise ViolationError(
                    "balance_not_restored", f"Player {player_id}: {all_minor}, due {due_minor}."
                )

    def _once(self) -> None:
        disk = self._disk
        for report in disk.reports_taken[self._reports_seen :]:
            self._need_first(report, "report_taken_twice")
        self._reports_seen = len(disk.reports_taken)
        for command in disk.commands_done[self._commands_seen :]:
            self._need_first(command, "command_done_twice")
        self._commands_seen = len(disk.commands_done)
        for change in disk.lease_changes[self._leases_seen :]:
            self._need_right_lease(change)
        self._leases_seen = len(disk.lease_changes)

    def _need_first(self, what: object, code: str) -> None:
        if what in self._done:
            raise ViolationError(code, f"{what} came through twice.")
        self._done.add(what)

    @staticmethod
    def _need_right_lease(change: LeaseChange) -> None:
        """A lease changes hands after its end only, and then under a new number."""
        before, after = change.before, change.after
        if after.holder != before.holder and before.until_ms > change.at_ms:
            raise ViolationError(
                "two_supervisors", f"{change.table}: {after.holder} works in a lease of another."
            )
        if after.fence not in {before.fence, before.fence + 1}:
            raise ViolationError("fence_jumps", f"{change.table}: {before.fence}, {after.fence}.")

    # The log -----------------------------------------------------------------------------------

    def _follow(self, code: str) -> bool:
        """Fold a table's new events; tell whether there were any."""
        epoch, seq, _ = self._disk.positions.get(code, (0, 0, ""))
        live = self.shadows[code]
        at = (live.state.epoch, live.state.seq)
        if at == (epoch, seq):
            return False
        for number in range(live.state.epoch, epoch + 1):
            after = live.state.seq if number == at[0] else 0
            for stored in self._disk.logs.get((code, number), [])[after:]:
                live = self._next(live, stored)
        self.shadows[code] = live
        if (live.state.epoch, live.state.seq) != (epoch, seq):
            raise ViolationError("log_end", f"{code}: the log does not end where it says.")
        return True

    def _next(self, live: Live, stored: StoredEvent) -> Live:
        self.events += 1
        worked_out = event_hash(
            stored.prev_hash,
            table=stored.table,
            epoch=stored.epoch,
            seq=stored.seq,
            at_ms=stored.at_ms,
            kind=stored.kind,
            body=stored.body,
        )
        if stored.hash != worked_out or stored.prev_hash != live.state.hash:
            raise ViolationError("chain_broken", f"{stored.table} {stored.epoch}/{stored.seq}.")
        self._note_cards(stored)
        self._steps.see(stored)
        try:
            live = advance(live, stored)
        except Exception as error:
            raise ViolationError("replay_fails", f"{stored.table}: {error}") from error
        event = from_body(stored.kind, stored.body, None) if stored.kind in _ENDS else None
        if isinstance(event, RoundSettled | RoundVoided):
            self.rounds += 1
            self._settled(event)
        elif isinstance(event, RoundCorrected):
            self.corrections += 1
            self._need_first((event.round_id, event.version), "version_twice")
            self._settled(event)
            self._need_all_back()
        return live

    def _note_cards(self, stored: StoredEvent) -> None:
        sealed = self._sealed[stored.table]
        if stored.kind in {"ShoeLoaded", "VerificationStarted"}:
            sealed.clear()
            self._claimed[stored.table].clear()
        self._claimed[stored.table].update(face["card"] for face in stored.body.get("faces", []))
        if stored.sealed is not None and stored.kind not in {"CardVerified", "CardKeyed"}:
            sealed[int(stored.sealed["serial"])] = str(stored.sealed["nonce"])
        for card in stored.body.get("cards", []):
            sealed.pop(card["serial"], None)

    # Results -----------------------------------------------------------------------------------

    def _settled(self, event: RoundSettled | RoundVoided | RoundCorrected) -> None:
        """Hold each wager's ending against the result that was published."""
        disk, nets = self._disk, None
        if not isinstance(event, RoundVoided) and not (
            isinstance(event, RoundCorrected) and event.void
        ):
            nets = {result.bet: Fraction(result.net) for result in event.results}
        count = paid_minor = 0
        for id in disk.books.get(event.round_id, ()):
            wager = disk.wagers[id]
            undone = wager.ending is not None and wager.ending.kind is EndingKind.UNDONE
            if not undone:
                count += 1
                paid_minor += self._paid(wager, nets=nets, version=event.version)
        if (count, paid_minor) != (event.count, event.payouts_minor):
            raise ViolationError(
                "result_differs",
                f"{event.round_id}: {count} wagers were paid {paid_minor}; the log says "
                f"{event.count} and {event.payouts_minor}.",
            )

    def _paid(self, wager: Wager, *, nets: Mapping[str, Fraction] | None, version: int) -> int:
        row = self._disk.rounds[wager.round_id]
        if not row.opened_ms <= wager.accepted_ms < row.window_closes_ms:
            raise ViolationError("wager_late", f"Wager {wager.id} came outside its window.")
        kind = EndingKind.REFUNDED if nets is None else EndingKind.SETTLED
        due = wager.hold_minor
        if nets is not None:
            due = payout_minor(
                stake_minor=wager.stake_minor, hold_minor=wager.hold_minor, net=nets[wager.bet]
            )
        ending = self._disk.endings.get((wager.id, version))
        if ending is None or (ending.kind, ending.payout_minor) != (kind, due):
            raise ViolationError("payout_differs", f"Wager {wager.id}: {due} due, got {ending}.")
        return due

    # Silence -----------------------------------------------------------------------------------

    def _silence(self) -> None:
        """No published message names a card that is still sealed."""
        for message in self._bus.said:
            table = message.get("table")
            sealed = self._sealed.get(table) if isinstance(table, str) else None
            if not sealed:
                continue
            text = canonical(message)
            words = frozenset(_WORD.findall(text)) - self._claimed[str(table)]
            serials = frozenset(_values(message, "serial")) if '"serial"' in text else frozenset()
            for serial, nonce in sealed.items():
                if nonce in words or _FACES[serial] in words or serial in serials:
                    raise ViolationError("sealed_card_leaks", f"{table}: a card was published.")
        self._bus.said.clear()

    # The processes -----------------------------------------------------------------------------

    def _same_everywhere(self, code: str, servers: list[Server | None]) -> None:
        """Every process holds what the log says: replay is live."""
        shadow = self.shadows[code]
        for server in servers:
            if server is None or server.dies_in is not None:
                continue
            live = server.tables.live(code)
            if live.state != shadow.state:
                raise ViolationError("live_differs", f"{code}: {server.name} holds another state.")


_ENDS = frozenset({"RoundSettled", "RoundVoided", "RoundCorrected"})

_FACES = {serial: ALL_CARDS[number - 1].code for serial, number in MANIFEST.items()}


def _values(value: Json, key: str) -> Iterator[Json]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            if name == key:
                yield item
            yield from _values(item, key)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _values(item, key)
