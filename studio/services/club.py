"""The club of a play-money studio: tallies and medals, the shop, options.

A round is counted in the transaction that settles it, once, and anew in each that corrects it. A
purchase is a transfer from the wallet to the house's play account; it never leaves less in the
wallet than the smallest bet, or spending would fill the purse up again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from studio.domain.errors import MalformedError, RefusedError
from studio.domain.events import RoundCorrected
from studio.domain.game import Description, Json
from studio.services.club_data import ClubData, Item, ItemKind, Tally, hit_tally
from studio.services.club_ports import Awarded, BetOfRound, ClubUnit, Purchase
from studio.services.jobs import Job
from studio.services.play_ports import PlayKind
from studio.services.ports import Actor, Balance, Publisher, UnitOfWork, Units
from studio.services.retry import again
from studio.services.tallies import Corrected, PlayedRound, after_correction, after_round, reached
from studio.services.wagers import need_player, parse_uuid

VOLUME_MAX: Final = 100
VOLUMES: Final[Mapping[str, int]] = {"effects_volume": 70, "music_volume": 40}
"""The options that are a number, 0 to VOLUME_MAX, as a new player has them."""

OPTIONS: Final = (*(kind.value for kind in ItemKind), *VOLUMES)
"""Every option; those that are no number name an item of their kind."""


@dataclass(frozen=True, kw_only=True)
class Bought:
    """The answer to a purchase."""

    club: Mapping[str, Json]
    repeated: bool
    """True: the same request came before and nothing was bought now."""


@dataclass(frozen=True, kw_only=True)
class ClubService:
    """What players reach, buy and choose."""

    units: Units
    data: ClubData
    publisher: Publisher
    least_minor: int
    """The smallest bet of any table."""

    # What is counted ---------------------------------------------------------------------------

    def settled(
        self, job: Job, round_id: str, description: Description
    ) -> Mapping[int, Mapping[str, Json]]:
        """Count a settled round in the transaction that settles it; a second time is no change.

        Returns:
            For each player with a new medal `{"medals": [code, ...]}`.
        """
        club = job.uow.club
        played = _by_player(description, club.bets_of_round(round_id))
        if not played or not club.take_round(round_id):
            return {}
        # The settlement has locked the players' balances: nobody else counts for them now.
        before = club.tallies_of_round(round_id)
        after = {
            player_id: after_round(before.get(player_id, {}), one)
            for player_id, one in played.items()
        }
        return self._write(job, round_id, after)

    def corrected(
        self, job: Job, event: RoundCorrected, description: Description
    ) -> Mapping[int, Mapping[str, Json]]:
        """Count a round anew in the transaction that corrects it, if it is counted.

        A medal that was given stays. Returns as `settled`.
        """
        club, round_id = job.uow.club, event.round_id
        if not club.is_taken(round_id):
            return {}
        was, now = (
            _by_player(description, club.bets_of_round(round_id, version=version))
            for version in (event.version - 1, event.version)
        )
        # The correction has locked the players' balances: nobody else counts for them now.
        before = club.tallies_of_round(round_id)
        changed = {
            player_id: Corrected(was=was.get(player_id), now=now.get(player_id))
            for player_id in sorted({*was, *now})
        }
        rows = club.rows_of_wins(who for who, one in changed.items() if one.moves_the_row)
        bests_minor = club.best_rounds(
            who for who, one in changed.items() if one.takes_the_best_from(before.get(who, {}))
        )
        after = {
            who: after_correction(
                before.get(who, {}), one, row=rows.get(who), best_minor=bests_minor.get(who)
            )
            for who, one in changed.items()
        }
        return self._write(job, round_id, after)

    def _write(
        self, job: Job, round_id: str, after: Mapping[int, Mapping[str, int]]
    ) -> Mapping[int, Mapping[str, Json]]:
        """Keep new values, and give the medals that they reach."""
        club = job.uow.club
        held = club.medals_of_round(round_id)
        club.write_tallies(after)
        given = club.award(
            Awarded(player_id=player_id, code=code, awarded_ms=job.now_ms, round_id=round_id)
            for player_id, changed in after.items()
            for code in reached(self.data.medals, changed, held=held.get(player_id, frozenset()))
        )
        return {player_id: {"medals": list(codes)} for player_id, codes in given.items()}

    def counted(
        self,
        unit: ClubUnit,
        player_ids: Iterable[int],
        tally: Tally,
        *,
        at_ms: int,
        round_id: str | None = None,
    ) -> Mapping[int, tuple[str, ...]]:
        """See the port `ClubCounts`."""
        return unit.club.award(
            Awarded(player_id=player_id, code=code, awarded_ms=at_ms, round_id=round_id)
            for player_id, value in unit.club.count_up(player_ids, tally).items()
            for code in reached(self.data.medals, {tally: value}, held=())
        )

    # What a player sees and does ---------------------------------------------------------------

    def club(self, player: Actor) -> Mapping[str, Json]:
        """Return a player's medals, items, options and money."""
        with self.units.read() as unit:
            return self._shown(unit, player.id)

    def options(self, player_id: int) -> Mapping[str, Json]:
        """Return what a player has in use, every option named."""
        with self.units.read() as unit:
            return self._options(unit, [player_id])[player_id]

    def plates(self, unit: ClubUnit, player_ids: Sequence[int]) -> Mapping[int, str]:
        """Return the name plates of a few players, for a room."""
        options = self._options(unit, player_ids)
        return {player_id: options[player_id][ItemKind.PLATE] for player_id in player_ids}

    def buy(self, player: Actor, *, id: str, item: str) -> Bought:
        """Buy an item once; the same id is answered again.

        Raises:
            MalformedError: `id_not_uuid`, `unknown_item`.
            RefusedError: `only_players_bet`, `transfer_id_reused`, `item_owned`, `balance_short`,
                `purse_kept` (details `least_minor`, `balance_minor`), `studio_busy`.
        """
        need_player(player)
        id = parse_uuid(id, name="id")
        wanted = self._item(item)

        def once() -> tuple[Balance | None, Mapping[str, Json]]:
            with self.units.write() as unit:
                left = self._pay(unit, player.id, wanted, id=id)
                shown = self._shown(unit, player.id)
                unit.commit()
            return left, shown

        left, shown = again(once)
        if left is not None:
            message = {
                "balance_minor": left.balance_minor,
                "held_minor": left.held_minor,
                "reason": "shop",
                "round_id": None,
            }
            self.publisher.wallet(player.id, message)
        return Bought(club=shown, repeated=left is None)

    def choose(self, player: Actor, options: Mapping[str, Json]) -> Mapping[str, Json]:
        """Change the options that are named; returns the club as `club` does.

        Raises:
            MalformedError: `unknown_option`, `volume_wrong`, `unknown_item` (an item of another
                kind is one, too).
            RefusedError: `only_players_bet`, `item_not_owned`, `studio_busy`.
        """
        need_player(player)
        for name, value in options.items():
            self._check(name, value)

        def once() -> Mapping[str, Json]:
            with self.units.write() as unit:
                owned = self._owned(unit, [player.id])[player.id]
                for name, value in options.items():
                    if name not in VOLUMES and value not in owned:
                        raise RefusedError(
                            "item_not_owned", f"Buy {value} first, then choose it.", item=value
                        )
                before = unit.club.lock_options(player.id)
                unit.club.keep_options(player.id, {**before, **options})
                shown = self._shown(unit, player.id)
                unit.commit()
            return shown

        return again(once) if options else self.club(player)

    # Inside ------------------------------------------------------------------------------------

    def _pay(self, unit: UnitOfWork, player_id: int, item: Item, *, id: str) -> Balance | None:
        """Return the balances after the purchase; None when it was answered before."""
        first = unit.club.purchase(id)
        if first is not None and (first.player_id, first.item) == (player_id, item.code):
            return None
        # Under an id of another purchase the transfer is refused, whatever else is wrong.
        if first is None and item.code in self._owned(unit, [player_id])[player_id]:
            raise RefusedError("item_owned", f"{item.code} is owned already.", item=item.code)
        paid = unit.ledger.play_transfer(
            kind=PlayKind.SHOP,
            player_id=player_id,
            amount_minor=-item.price_minor,
            id=id,
            reason=item.code,
        )
        if paid.repeated:
            return None
        if paid.balance_minor < self.least_minor:
            raise RefusedError(
                "purse_kept",
                f"At least {self.least_minor} minor units, the smallest bet, must stay.",
                least_minor=self.least_minor,
                balance_minor=paid.balance_minor + item.price_minor,
            )
        unit.club.add_purchase(
            Purchase(
                player_id=player_id,
                item=item.code,
                price_minor=item.price_minor,
                bought_ms=unit.now_ms(),
            ),
            id=id,
        )
        return Balance(balance_minor=paid.balance_minor, held_minor=paid.held_minor)

    def _shown(self, unit: UnitOfWork, player_id: int) -> Mapping[str, Json]:
        tallies, medals = unit.club.tallies(player_id), unit.club.medals(player_id)
        owned = self._owned(unit, [player_id])[player_id]
        balance = unit.ledger.balance(player_id)
        return {
            "medals": [
                {
                    "code": medal.code,
                    "tally": medal.tally,
                    "at_least": medal.at_least,
                    "value": tallies.get(medal.tally, 0),
                    "awarded_ms": medals.get(medal.code),
                }
                for medal in self.data.medals
            ],
            "items": [
                {
                    "code": item.code,
                    "kind": item.kind.value,
                    "price_minor": item.price_minor,
                    "owned": item.code in owned,
                }
                for item in self.data.items
            ],
            "options": self._in_use(unit.club.options([player_id])[player_id], owned),
            "balance_minor": balance.balance_minor,
            "held_minor": balance.held_minor,
        }

    def _owned(self, unit: ClubUnit, player_ids: Sequence[int]) -> Mapping[int, frozenset[str]]:
        bought = unit.club.bought(player_ids)
        return {player_id: self.data.free | items for player_id, items in bought.items()}

    def _options(
        self, unit: ClubUnit, player_ids: Sequence[int]
    ) -> Mapping[int, Mapping[str, Json]]:
        owned, chosen = self._owned(unit, player_ids), unit.club.options(player_ids)
        return {
            player_id: self._in_use(chosen[player_id], owned[player_id]) for player_id in player_ids
        }

    def _in_use(self, chosen: Mapping[str, Json], owned: frozenset[str]) -> Mapping[str, Json]:
        """Return every option: as chosen, where that still stands in the file and is owned."""
        found: dict[str, Json] = {}
        for kind in ItemKind:
            item = self.data.by_code.get(chosen.get(kind, ""))
            usable = item is not None and item.kind is kind and item.code in owned
            found[kind.value] = item.code if usable and item else self.data.first_free(kind)
        return {**found, **{name: chosen.get(name, usual) for name, usual in VOLUMES.items()}}

    def _item(self, code: object) -> Item:
        item = self.data.by_code.get(code) if isinstance(code, str) else None
        if item is None:
            raise MalformedError("unknown_item", "There is no such item in the shop.")
        return item

    def _check(self, name: str, value: object) -> None:
        if name in VOLUMES:
            if not _is_volume(value):
                raise MalformedError(
                    "volume_wrong", f"{name} must be a whole number, 0 to {VOLUME_MAX}.", name=name
                )
        elif name not in OPTIONS:
            raise MalformedError(
                "unknown_option", f"Unknown option; there are: {', '.join(OPTIONS)}."
            )
        elif self._item(value).kind != name:
            raise MalformedError("unknown_item", f"{value} is no {name}.", name=name)


def _by_player(description: Description, bets: Sequence[BetOfRound]) -> dict[int, PlayedRound]:
    """Return what the round was to each player; bets are named as the game settles them."""
    names = {bet.code: hit_tally(description.game, bet.settles_on) for bet in description.bets}
    nets: dict[int, int] = {}
    hits: dict[int, dict[str, int]] = {}
    for bet in bets:
        nets[bet.player_id] = nets.get(bet.player_id, 0) + bet.net_minor
        if bet.hits:
            of_player, name = hits.setdefault(bet.player_id, {}), names[bet.bet]
            of_player[name] = of_player.get(name, 0) + bet.hits
    return {
        player_id: PlayedRound(
            player_id=player_id, net_minor=net_minor, hits=hits.get(player_id, {})
        )
        for player_id, net_minor in nets.items()
    }


def _is_volume(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= VOLUME_MAX
