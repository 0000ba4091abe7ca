"""The stored tables of log, rounds, wagers, ledger, decks and the pit.

Money is whole minor units in 64 bits. JSON bodies are canonical text, because the log's hash
chain covers exactly these characters. Rows of `event`, `transfer`, `entry`, `wager`,
`wager_ending` and `trail` are only ever added.

`entry` and `wager_ending` carry no foreign keys: a settlement adds hundreds of thousands of
their rows by joining the very rows a key would look up one by one. `audit` holds them instead.
"""

from enum import StrEnum, unique

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)

from studio.store.metadata import metadata

Number = BigInteger().with_variant(Integer, "sqlite")
"""A number the database counts up by itself; SQLite does so only for INTEGER."""

HALF_FULL = {"fillfactor": 50}
"""Half-filled pages, so that PostgreSQL updates a row within its page and touches no index."""


@unique
class AccountKind(StrEnum):
    """What an account is for."""

    WALLET = "wallet"
    """A player's free money."""
    HELD = "held"
    """A player's stakes and deposits at risk."""
    HOUSE_BANK = "house_bank"
    """What the house won and lost; may be negative."""
    ADJUSTMENTS = "adjustments"
    """What the house gave up; may be negative."""
    CASH = "cash"
    """The world outside: negative by what came in."""
    PLAY = "play"
    """Where play money comes from and goes to: purses out of it, what the shop takes into it."""
    OWED = "owed"
    """What a player owes since a correction; never above 0."""


@unique
class TransferKind(StrEnum):
    """Why money moved."""

    HOLD = "hold"
    UNDO = "undo"
    SETTLEMENT = "settlement"
    REFUND = "refund"
    CASH = "cash"
    PURSE = "purse"
    SHOP = "shop"
    CORRECTION = "correction"
    COLLECT = "collect"
    WRITE_OFF = "write_off"


LEG_HELD = 1
LEG_WALLET = 2
LEG_HOUSE = 3
LEG_CASH = 4
LEG_PLAY = 5
LEG_REVERSAL = 6
"""A correction takes back what the version before paid."""
LEG_SHORT = 7
"""What a wallet lacks for that, lent by the line below."""
LEG_OWED = 8
LEG_ADJUSTMENT = 9

# The log ---------------------------------------------------------------------------------------

table_log = Table(
    "table_log",
    metadata,
    Column("table_code", String(40), primary_key=True),
    Column("epoch", Integer, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("hash", String(64), nullable=False),
)
"""One row a table: where its log ends. Its lock serialises the table's writers."""

lease = Table(
    "lease",
    metadata,
    Column("table_code", String(40), primary_key=True),
    Column("holder", String(80), nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("until_ms", BigInteger, nullable=False),
)
"""One row a table: which process closes its windows and settles its rounds."""

disabled_play = Table(
    "disabled_play",
    metadata,
    Column("scope", String(40), primary_key=True),
    Column("reason", Text, nullable=False),
    Column("by", String(60), nullable=False),
    Column("at_ms", BigInteger, nullable=False),
)
"""One row for each game that may not be opened, or for the whole studio."""

event = Table(
    "event",
    metadata,
    Column("table_code", String(40), ForeignKey("table_log.table_code"), nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("kind", String(40), nullable=False),
    Column("body", Text, nullable=False),
    Column("prev_hash", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
    PrimaryKeyConstraint("table_code", "epoch", "seq"),
)

sealed_card = Table(
    "sealed_card",
    metadata,
    Column("table_code", String(40), nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("card", String(8), nullable=False),
    Column("serial", Integer, nullable=False),
    Column("nonce", String(64), nullable=False),
    PrimaryKeyConstraint("table_code", "epoch", "seq"),
    ForeignKeyConstraint(
        ["table_code", "epoch", "seq"], ["event.table_code", "event.epoch", "event.seq"]
    ),
)
"""What the public body of an event only commits to. Nothing but the engine and `audit` reads it."""

# Rounds and wagers -----------------------------------------------------------------------------

round_ = Table(
    "round",
    metadata,
    Column("id", String(80), primary_key=True),
    Column("table_code", String(40), ForeignKey("table_log.table_code"), nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("number", Integer, nullable=False),
    Column("game", String(40), nullable=False),
    Column("phase", String(20), nullable=False),
    Column("opened_ms", BigInteger, nullable=False),
    Column("window_closes_ms", BigInteger, nullable=False),
    Column("rule_version", Text, nullable=False),
    Column("paytable_version", Text, nullable=False),
    Column("settlement_version", Integer, nullable=False),
    UniqueConstraint("table_code", "epoch", "number"),
    Index(None, "opened_ms"),
    Index(None, "table_code", "opened_ms"),
    postgresql_with=HALF_FULL,
)

stake_quota = Table(
    "stake_quota",
    metadata,
    Column("round_id", String(80), ForeignKey("round.id"), nullable=False),
    Column("shard", SmallInteger, nullable=False),
    Column("stake_minor", BigInteger, nullable=False),
    Column("quota_minor", BigInteger, nullable=False),
    PrimaryKeyConstraint("round_id", "shard"),
    CheckConstraint("stake_minor >= 0", name="not_negative"),
    CheckConstraint("stake_minor <= quota_minor", name="within_quota"),
    postgresql_with=HALF_FULL,
)
"""The table limit of a round, cut into shares, so that wagers don't all wait for one row."""

transfer = Table(
    "transfer",
    metadata,
    Column("id", Number, primary_key=True),
    Column("kind", String(12), nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("round_id", String(80), ForeignKey("round.id")),
    Column("version", Integer),
    Column("client_id", Uuid(as_uuid=False)),
    Column("reason", Text),
    Column("by_person", BigInteger),
    UniqueConstraint("round_id", "version"),
    UniqueConstraint("client_id"),
)
"""One movement of money. `round_id` and `version` stand on settlements and refunds alone: their
unique key lets a round be settled once per version."""

wager = Table(
    "wager",
    metadata,
    Column("number", Number, ForeignKey("transfer.id"), primary_key=True, autoincrement=False),
    Column("id", Uuid(as_uuid=False), nullable=False),
    Column("player_id", BigInteger, nullable=False),
    Column("round_id", String(80), ForeignKey("round.id"), nullable=False),
    Column("bet", String(40), nullable=False),
    Column("stake_minor", BigInteger, nullable=False),
    Column("hold_minor", BigInteger, nullable=False),
    Column("accepted_ms", BigInteger, nullable=False),
    UniqueConstraint("id"),
    Index(None, "round_id", "number"),
    Index(None, "player_id", "round_id"),
    CheckConstraint("stake_minor > 0", name="stake_positive"),
    CheckConstraint("hold_minor > 0", name="hold_positive"),
)
"""An accepted bet. `number` is the id of the transfer that reserved its hold; `player_id` is not
a key into the people: a player of an operator's wallet need not be one of ours."""

wager_ending = Table(
    "wager_ending",
    metadata,
    Column("wager_number", BigInteger, nullable=False),
    Column("version", Integer, nullable=False),
    Column("kind", String(10), nullable=False),
    Column("payout_minor", BigInteger, nullable=False),
    Column("transfer_id", BigInteger, nullable=False),
    PrimaryKeyConstraint("wager_number", "version"),
    CheckConstraint("payout_minor >= 0", name="payout_not_negative"),
    sqlite_with_rowid=False,
)
"""How a wager ended; its key lets it end once per version."""

# The ledger ------------------------------------------------------------------------------------

account = Table(
    "account",
    metadata,
    Column("id", Number, primary_key=True),
    Column("kind", String(12), nullable=False),
    Column("owner_id", BigInteger, nullable=False),
    Column("currency", String(4), nullable=False),
    UniqueConstraint("owner_id", "kind"),
)
"""Who money belongs to; owner 0 is the house. Balances are sums of entries. The studio
keeps one currency, named here so that a change of settings can't reinterpret what is stored."""

player_balance = Table(
    "player_balance",
    metadata,
    Column("player_id", Number, primary_key=True, autoincrement=False),
    Column("wallet_id", BigInteger, ForeignKey("account.id"), nullable=False),
    Column("held_id", BigInteger, ForeignKey("account.id"), nullable=False),
    Column("balance_minor", BigInteger, nullable=False),
    Column("held_minor", BigInteger, nullable=False),
    UniqueConstraint("wallet_id"),
    UniqueConstraint("held_id"),
    CheckConstraint("balance_minor >= 0", name="balance_not_negative"),
    CheckConstraint("held_minor >= 0", name="held_not_negative"),
    postgresql_with=HALF_FULL,
)
"""A player's two balances, folded from the entries. Both in one row: a wager then locks one row,
and two rows of a player can't be locked in different orders."""

_OWED = text(f"leg = {LEG_OWED}")

entry = Table(
    "entry",
    metadata,
    Column("origin_id", BigInteger, nullable=False),
    Column("version", Integer, nullable=False),
    Column("leg", SmallInteger, nullable=False),
    Column("transfer_id", BigInteger, nullable=False),
    Column("account_id", BigInteger, nullable=False),
    Column("amount_minor", BigInteger, nullable=False),
    PrimaryKeyConstraint("version", "origin_id", "leg"),
    CheckConstraint("amount_minor <> 0", name="not_zero"),
    Index("ix_entry_owed", "account_id", sqlite_where=_OWED, postgresql_where=_OWED),
    sqlite_with_rowid=False,
)
"""One line of a transfer. `origin_id` is the transfer that began the business: for every line of
a wager the one that reserved its hold, else the transfer itself. So the key lets a wager's money
move once when it is placed (version 0) and once per settlement version. The version leads: else
the lines of a settlement would go between those of the placing, page by page. The one index has
only the lines of what is owed: there are few, and a player asks why."""

# Decks, devices, pit ---------------------------------------------------------------------------

deck_set = Table(
    "deck_set",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("decks", Integer, nullable=False),
    CheckConstraint("decks > 0", name="decks_positive"),
)

deck_card = Table(
    "deck_card",
    metadata,
    Column("deck_set", Integer, ForeignKey("deck_set.number"), nullable=False),
    Column("serial", Integer, nullable=False),
    Column("card_number", Integer, nullable=False),
    PrimaryKeyConstraint("deck_set", "serial"),
)

scan_report = Table(
    "scan_report",
    metadata,
    Column("device", String(80), nullable=False),
    Column("report_id", String(120), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    PrimaryKeyConstraint("device", "report_id"),
)

alarm = Table(
    "alarm",
    metadata,
    Column("id", Number, primary_key=True),
    Column("priority", SmallInteger, nullable=False),
    Column("code", String(80), nullable=False),
    Column("table_code", String(40), nullable=False),
    Column("round_id", String(80)),
    Column("raised_ms", BigInteger, nullable=False),
    Column("acknowledged_by", Text),
    Column("acknowledged_ms", BigInteger),
    Column("cleared_ms", BigInteger),
    Column("details", Text, nullable=False),
    Index(None, "table_code", "code"),
    Index(None, "cleared_ms"),
)

trail = Table(
    "trail",
    metadata,
    Column("id", Number, primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
    Column("actor_id", BigInteger, nullable=False),
    Column("actor", Text, nullable=False),
    Column("action", String(80), nullable=False),
    Column("subject", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("before", Text, nullable=False),
    Column("after", Text, nullable=False),
)

command_answer = Table(
    "command_answer",
    metadata,
    Column("id", String(80), primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("answer", Text, nullable=False),
)
