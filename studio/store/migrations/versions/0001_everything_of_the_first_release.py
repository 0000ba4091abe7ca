"""Everything of the first release.

Revision ID: 0001
Revises:
"""

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

SQL = Path(__file__).parent.parent / "sql"


def on_postgresql() -> bool:
    return op.get_context().dialect.name == "postgresql"


def upgrade() -> None:
    op.create_table(
        "account",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.String(length=12), nullable=False),
        sa.Column("owner_id", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.String(length=4), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account")),
        sa.UniqueConstraint("owner_id", "kind", name=op.f("uq_account_owner_id_kind")),
    )
    op.create_table(
        "alarm",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("priority", sa.SmallInteger(), nullable=False),
        sa.Column("code", sa.String(length=80), nullable=False),
        sa.Column("table_code", sa.String(length=40), nullable=False),
        sa.Column("round_id", sa.String(length=80), nullable=True),
        sa.Column("raised_ms", sa.BigInteger(), nullable=False),
        sa.Column("acknowledged_by", sa.Text(), nullable=True),
        sa.Column("acknowledged_ms", sa.BigInteger(), nullable=True),
        sa.Column("cleared_ms", sa.BigInteger(), nullable=True),
        sa.Column("details", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alarm")),
    )
    with op.batch_alter_table("alarm", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_alarm_cleared_ms"), ["cleared_ms"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_alarm_table_code_code"), ["table_code", "code"], unique=False
        )

    op.create_table(
        "command_answer",
        sa.Column("id", sa.String(length=80), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_command_answer")),
    )
    op.create_table(
        "deck_set",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("decks", sa.Integer(), nullable=False),
        sa.CheckConstraint("decks > 0", name=op.f("ck_deck_set_decks_positive")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_deck_set")),
    )
    op.create_table(
        "entry",
        sa.Column("origin_id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("leg", sa.SmallInteger(), nullable=False),
        sa.Column("transfer_id", sa.BigInteger(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("amount_minor", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("amount_minor <> 0", name=op.f("ck_entry_not_zero")),
        sa.PrimaryKeyConstraint("version", "origin_id", "leg", name=op.f("pk_entry")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "login_failure",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("name_hash", sa.String(length=64), nullable=False),
        sa.Column("address", sa.String(length=64), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_login_failure")),
    )
    with op.batch_alter_table("login_failure", schema=None) as batch_op:
        batch_op.create_index("ix_login_failure_address_at_ms", ["address", "at_ms"], unique=False)
        batch_op.create_index(
            "ix_login_failure_name_hash_at_ms", ["name_hash", "at_ms"], unique=False
        )

    op.create_table(
        "person",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("username", sa.String(length=32), nullable=False),
        sa.Column("display_name", sa.String(length=60), nullable=False),
        sa.Column("role", sa.String(length=20), nullable=False),
        sa.Column("password_hash", sa.String(length=200), nullable=False),
        sa.Column("badge", sa.String(length=64), nullable=True),
        sa.Column("pin_hash", sa.String(length=200), nullable=True),
        sa.Column("language", sa.String(length=8), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "role in ('dealer', 'pit_supervisor', 'auditor', 'administrator', 'player')",
            name=op.f("ck_person_role_known"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_person")),
        sa.UniqueConstraint("badge", name=op.f("uq_person_badge")),
        sa.UniqueConstraint("username", name=op.f("uq_person_username")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "scan_report",
        sa.Column("device", sa.String(length=80), nullable=False),
        sa.Column("report_id", sa.String(length=120), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("device", "report_id", name=op.f("pk_scan_report")),
    )
    op.create_table(
        "table_log",
        sa.Column("table_code", sa.String(length=40), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("table_code", name=op.f("pk_table_log")),
    )
    op.create_table(
        "trail",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("actor_id", sa.BigInteger(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.String(length=80), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("before", sa.Text(), nullable=False),
        sa.Column("after", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trail")),
    )
    op.create_table(
        "wager_ending",
        sa.Column("wager_number", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("payout_minor", sa.BigInteger(), nullable=False),
        sa.Column("transfer_id", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("payout_minor >= 0", name=op.f("ck_wager_ending_payout_not_negative")),
        sa.PrimaryKeyConstraint("wager_number", "version", name=op.f("pk_wager_ending")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "deck_card",
        sa.Column("deck_set", sa.Integer(), nullable=False),
        sa.Column("serial", sa.Integer(), nullable=False),
        sa.Column("card_number", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["deck_set"], ["deck_set.number"], name=op.f("fk_deck_card_deck_set_deck_set")
        ),
        sa.PrimaryKeyConstraint("deck_set", "serial", name=op.f("pk_deck_card")),
    )
    op.create_table(
        "event",
        sa.Column("table_code", sa.String(length=40), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("prev_hash", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["table_code"], ["table_log.table_code"], name=op.f("fk_event_table_code_table_log")
        ),
        sa.PrimaryKeyConstraint("table_code", "epoch", "seq", name=op.f("pk_event")),
    )
    op.create_table(
        "login_session",
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("last_seen_ms", sa.BigInteger(), nullable=False),
        sa.Column("expires_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["person_id"], ["person.id"], name=op.f("fk_login_session_person_id_person")
        ),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_login_session")),
    )
    with op.batch_alter_table("login_session", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_login_session_person_id"), ["person_id"], unique=False)

    op.create_table(
        "player_balance",
        sa.Column(
            "player_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("wallet_id", sa.BigInteger(), nullable=False),
        sa.Column("held_id", sa.BigInteger(), nullable=False),
        sa.Column("balance_minor", sa.BigInteger(), nullable=False),
        sa.Column("held_minor", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "balance_minor >= 0", name=op.f("ck_player_balance_balance_not_negative")
        ),
        sa.CheckConstraint("held_minor >= 0", name=op.f("ck_player_balance_held_not_negative")),
        sa.ForeignKeyConstraint(
            ["held_id"], ["account.id"], name=op.f("fk_player_balance_held_id_account")
        ),
        sa.ForeignKeyConstraint(
            ["wallet_id"], ["account.id"], name=op.f("fk_player_balance_wallet_id_account")
        ),
        sa.PrimaryKeyConstraint("player_id", name=op.f("pk_player_balance")),
        sa.UniqueConstraint("held_id", name=op.f("uq_player_balance_held_id")),
        sa.UniqueConstraint("wallet_id", name=op.f("uq_player_balance_wallet_id")),
        postgresql_with={"fillfactor": 50},
    )
    op.create_table(
        "round",
        sa.Column("id", sa.String(length=80), nullable=False),
        sa.Column("table_code", sa.String(length=40), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("game", sa.String(length=40), nullable=False),
        sa.Column("phase", sa.String(length=20), nullable=False),
        sa.Column("opened_ms", sa.BigInteger(), nullable=False),
        sa.Column("window_closes_ms", sa.BigInteger(), nullable=False),
        sa.Column("rule_version", sa.Text(), nullable=False),
        sa.Column("paytable_version", sa.Text(), nullable=False),
        sa.Column("settlement_version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["table_code"], ["table_log.table_code"], name=op.f("fk_round_table_code_table_log")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_round")),
        sa.UniqueConstraint(
            "table_code", "epoch", "number", name=op.f("uq_round_table_code_epoch_number")
        ),
        postgresql_with={"fillfactor": 50},
    )
    with op.batch_alter_table("round", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_round_opened_ms"), ["opened_ms"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_round_table_code_opened_ms"), ["table_code", "opened_ms"], unique=False
        )

    op.create_table(
        "sealed_card",
        sa.Column("table_code", sa.String(length=40), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("card", sa.String(length=8), nullable=False),
        sa.Column("serial", sa.Integer(), nullable=False),
        sa.Column("nonce", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["table_code", "epoch", "seq"],
            ["event.table_code", "event.epoch", "event.seq"],
            name=op.f("fk_sealed_card_table_code_epoch_seq_event"),
        ),
        sa.PrimaryKeyConstraint("table_code", "epoch", "seq", name=op.f("pk_sealed_card")),
    )
    op.create_table(
        "stake_quota",
        sa.Column("round_id", sa.String(length=80), nullable=False),
        sa.Column("shard", sa.SmallInteger(), nullable=False),
        sa.Column("stake_minor", sa.BigInteger(), nullable=False),
        sa.Column("quota_minor", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("stake_minor <= quota_minor", name=op.f("ck_stake_quota_within_quota")),
        sa.CheckConstraint("stake_minor >= 0", name=op.f("ck_stake_quota_not_negative")),
        sa.ForeignKeyConstraint(
            ["round_id"], ["round.id"], name=op.f("fk_stake_quota_round_id_round")
        ),
        sa.PrimaryKeyConstraint("round_id", "shard", name=op.f("pk_stake_quota")),
        postgresql_with={"fillfactor": 50},
    )
    op.create_table(
        "transfer",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.String(length=12), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("round_id", sa.String(length=80), nullable=True),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("client_id", sa.Uuid(as_uuid=False), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("by_person", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["round_id"], ["round.id"], name=op.f("fk_transfer_round_id_round")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_transfer")),
        sa.UniqueConstraint("client_id", name=op.f("uq_transfer_client_id")),
        sa.UniqueConstraint("round_id", "version", name=op.f("uq_transfer_round_id_version")),
    )
    op.create_table(
        "wager",
        sa.Column(
            "number",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("player_id", sa.BigInteger(), nullable=False),
        sa.Column("round_id", sa.String(length=80), nullable=False),
        sa.Column("bet", sa.String(length=40), nullable=False),
        sa.Column("stake_minor", sa.BigInteger(), nullable=False),
        sa.Column("hold_minor", sa.BigInteger(), nullable=False),
        sa.Column("accepted_ms", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("hold_minor > 0", name=op.f("ck_wager_hold_positive")),
        sa.CheckConstraint("stake_minor > 0", name=op.f("ck_wager_stake_positive")),
        sa.ForeignKeyConstraint(["number"], ["transfer.id"], name=op.f("fk_wager_number_transfer")),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], name=op.f("fk_wager_round_id_round")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_wager")),
        sa.UniqueConstraint("id", name=op.f("uq_wager_id")),
    )
    with op.batch_alter_table("wager", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_wager_player_id_round_id"), ["player_id", "round_id"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_wager_round_id_number"), ["round_id", "number"], unique=False
        )

    if on_postgresql():
        op.execute((SQL / "place_wager_1.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    if on_postgresql():
        op.execute("DROP FUNCTION place_wager")
    with op.batch_alter_table("wager", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_wager_round_id_number"))
        batch_op.drop_index(batch_op.f("ix_wager_player_id_round_id"))

    op.drop_table("wager")
    op.drop_table("transfer")
    op.drop_table("stake_quota")
    op.drop_table("sealed_card")
    with op.batch_alter_table("round", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_round_table_code_opened_ms"))
        batch_op.drop_index(batch_op.f("ix_round_opened_ms"))

    op.drop_table("round")
    op.drop_table("player_balance")
    with op.batch_alter_table("login_session", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_login_session_person_id"))

    op.drop_table("login_session")
    op.drop_table("event")
    op.drop_table("deck_card")
    op.drop_table("wager_ending")
    op.drop_table("trail")
    op.drop_table("table_log")
    op.drop_table("scan_report")
    op.drop_table("person")
    with op.batch_alter_table("login_failure", schema=None) as batch_op:
        batch_op.drop_index("ix_login_failure_name_hash_at_ms")
        batch_op.drop_index("ix_login_failure_address_at_ms")

    op.drop_table("login_failure")
    op.drop_table("entry")
    op.drop_table("deck_set")
    op.drop_table("command_answer")
    with op.batch_alter_table("alarm", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_alarm_table_code_code"))
        batch_op.drop_index(batch_op.f("ix_alarm_cleared_ms"))

    op.drop_table("alarm")
    op.drop_table("account")
