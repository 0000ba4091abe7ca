"""Players, rounds and wagers by the hundred thousand, written in sets, as placing leaves them."""

from dataclasses import dataclass, field
from itertools import count

from sqlalchemy import Connection, text

from studio.bench.scratch import Scratch
from studio.services.ports import RoundRow

TABLE = "BENCH"
GAME = "pok_deng"
BETS = ("p1", "p2", "p3", "p4", "p5")
STAKE_MINOR = 100
HOLD_MINOR = 200
PURSE_MINOR = 10**9
WINDOW_MS = 3_600_000
STEP = 7_919
"""A prime: consecutive wagers belong to players far apart, as in life."""

_COUNTED = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :most) "
_PLAYERS = (
    "INSERT INTO account (id, kind, owner_id, currency) {n}"
    "SELECT :account + 2 * i, 'wallet', i, 'JPY' FROM n",
    "INSERT INTO account (id, kind, owner_id, currency) {n}"
    "SELECT :account + 2 * i + 1, 'held', i, 'JPY' FROM n",
    "INSERT INTO player_balance (player_id, wallet_id, held_id, balance_minor, held_minor) {n}"
    "SELECT i, :account + 2 * i, :account + 2 * i + 1, {purse}, 0 FROM n",
    "INSERT INTO transfer (id, kind, at_ms) {n}SELECT i, 'cash', :now FROM n",
    "INSERT INTO entry (origin_id, version, leg, transfer_id, account_id, amount_minor) {n}"
    "SELECT i, 0, 2, i, :account + 2 * i, {purse} FROM n",
    "INSERT INTO entry (origin_id, version, leg, transfer_id, account_id, amount_minor) {n}"
    "SELECT i, 0, 4, i, :cash, -{purse} FROM n",
)
_WAGERS = (
    "INSERT INTO transfer (id, kind, at_ms) {n}SELECT :first + i, 'hold', :now FROM n",
    "INSERT INTO wager (number, id, player_id, round_id, bet, stake_minor, hold_minor,"
    " accepted_ms) {n}SELECT :first + i, {id}, 1 + (i * {step}) % :players, :round_id,"
    " 'p' || (1 + i % 5), {stake}, {hold}, :now FROM n",
    "INSERT INTO entry (origin_id, version, leg, transfer_id, account_id, amount_minor)"
    " SELECT w.number, 0, 1, w.number, p.held_id, w.hold_minor FROM wager w"
    " JOIN player_balance p ON p.player_id = w.player_id"
    " WHERE w.round_id = :round_id ORDER BY w.number",
    "INSERT INTO entry (origin_id, version, leg, transfer_id, account_id, amount_minor)"
    " SELECT w.number, 0, 2, w.number, p.wallet_id, -w.hold_minor FROM wager w"
    " JOIN player_balance p ON p.player_id = w.player_id"
    " WHERE w.round_id = :round_id ORDER BY w.number",
    "UPDATE player_balance SET balance_minor = balance_minor - m.minor,"
    " held_minor = held_minor + m.minor FROM (SELECT player_id, sum(hold_minor) AS minor"
    " FROM wager WHERE round_id = :round_id GROUP BY player_id) m"
    " WHERE m.player_id = player_balance.player_id",
    "UPDATE stake_quota SET stake_minor = m.minor, quota_minor = m.minor"
    " FROM (SELECT sum(stake_minor) AS minor FROM wager WHERE round_id = :round_id) m"
    " WHERE round_id = :round_id AND shard = 0",
)


@dataclass
class Filling:
    """A table with players whose rounds are filled at once."""

    scratch: Scratch
    players: int
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        """Write the players with their purses."""
        with self.scratch.units.write() as unit:
            unit.events.lock(TABLE)
            sql = text("SELECT id FROM account WHERE kind = 'cash'")
            values = {
                "account": 100,
                "now": unit.now_ms(),
                "cash": unit.connection.execute(sql).scalar_one(),
            }
            _run(unit.connection, _PLAYERS, most=self.players, purse=PURSE_MINOR, values=values)
            self._move_sequences(unit.connection)
            unit.commit()

    def open_round(self, *, window_ms: int = WINDOW_MS) -> str:
        """Return the id of a new round whose window is open."""
        number = next(self._numbers)
        with self.scratch.units.write() as unit:
            now_ms = unit.now_ms()
            unit.rounds.insert(
                RoundRow(
                    id=f"{TABLE}-1-{number}",
                    table=TABLE,
                    epoch=1,
                    number=number,
                    game=GAME,
                    phase="betting",
                    opened_ms=now_ms,
                    window_closes_ms=now_ms + window_ms,
                    rule_version="1",
                    paytable_version="1",
                    settlement_version=0,
                )
            )
            unit.commit()
        return f"{TABLE}-1-{number}"

    def close_round(self, round_id: str) -> None:
        """Close the window."""
        with self.scratch.units.write() as unit:
            unit.rounds.update_phase(round_id, "no_more_bets", settlement_version=0)
            unit.commit()

    def filled_round(self, wagers: int) -> str:
        """Return the id of a closed round with so many wagers, their holds booked."""
        round_id = self.open_round()
        wager_id = "lower(hex(randomblob(16)))" if self.scratch.is_sqlite else "gen_random_uuid()"
        with self.scratch.units.write() as unit:
            connection = unit.connection
            first = connection.execute(text("SELECT max(id) FROM transfer")).scalar_one()
            values = {
                "first": first,
                "now": unit.now_ms(),
                "players": self.players,
                "round_id": round_id,
            }
            _run(connection, _WAGERS, most=wagers, id=wager_id, values=values)
            self._move_sequences(connection)
            unit.commit()
        self.close_round(round_id)
        if not self.scratch.is_sqlite:
            # What the server's own autovacuum does within a minute; the filling is faster.
            with self.scratch.engine.begin() as connection:
                connection.execute(text("ANALYZE"))
        return round_id

    def _move_sequences(self, connection: Connection) -> None:
        if self.scratch.is_sqlite:
            return
        for table in ("account", "transfer"):
            connection.execute(
                text(f"SELECT setval('{table}_id_seq', (SELECT max(id) FROM {table}))")  # noqa: S608
            )


def _run(
    connection: Connection,
    statements: tuple[str, ...],
    *,
    most: int,
    values: dict[str, object],
    **words: object,
) -> None:
    given = {"most": most, **values}
    for template in statements:
        sql = template.format(n=_COUNTED, step=STEP, stake=STAKE_MINOR, hold=HOLD_MINOR, **words)
        used = {key: value for key, value in given.items() if f":{key}" in sql}
        connection.execute(text(sql), used)
