"""What the rules need to know of a printed code, whoever read it: a camera or two people."""

from studio.domain.cards import CodeVersion, PrintedCode
from studio.domain.commands import SeeCard
from studio.domain.dealing import CODE_VERSIONS
from studio.domain.order import runs
from studio.services.jobs import Job
from studio.services.live import Live
from studio.services.ports import DeckSet, Randomness

ORDER_SHOES = 50
"""So many of a table's earlier shoes are compared: a day or two of play."""


class CardReading:
    """Makes the command of a read card; registered deck sets and earlier orders are kept."""

    def __init__(self, randomness: Randomness) -> None:
        """Begin with nothing read."""
        self._randomness = randomness
        self._deck_sets: dict[int, DeckSet] = {}
        self._orders: dict[str, tuple[int, tuple[frozenset[tuple[str, ...]], ...]]] = {}

    def seen(self, job: Job, code: PrintedCode) -> SeeCard:
        """Return the command of a code that was read, with a nonce of its own."""
        shoe = job.state.shoe
        known = False
        if shoe is not None:
            deck_set = self._deck_set(job, shoe.deck_set)
            known = (
                code.version is version_of(job.live)
                and code.deck_set == deck_set.number
                and deck_set.manifest.get(code.serial) == code.number
            )
        return SeeCard(
            code=code,
            known=known,
            nonce=self._randomness.nonce().hex(),
            order_run=job.live.setup.order_run,
            earlier=self._earlier_orders(job),
        )

    def _earlier_orders(self, job: Job) -> tuple[frozenset[tuple[str, ...]], ...]:
        """Return the runs of the table's earlier shoes, read once a shoe."""
        table, epoch, length = job.state.table, job.state.epoch, job.live.setup.order_run
        if not length or job.state.shoe is None:
            return ()
        if self._orders.get(table, (None, ()))[0] != epoch:
            shoes = job.uow.events.orders(table, before_epoch=epoch, shoes=ORDER_SHOES)
            self._orders[table] = epoch, tuple(runs(faces, length) for faces in shoes)
        return self._orders[table][1]

    def _deck_set(self, job: Job, number: int) -> DeckSet:
        """Return a deck set; registered ones never change, so each is read once."""
        if number not in self._deck_sets:
            deck_set = job.uow.deck_sets.get(number)
            assert deck_set is not None
            self._deck_sets[number] = deck_set
        return self._deck_sets[number]


def version_of(live: Live) -> CodeVersion:
    """Return what is printed on the table's pieces."""
    return CODE_VERSIONS[live.game.describe(live.setup.config).piece_kind]
