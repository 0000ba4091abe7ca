"""The audit finds nothing in what the studio wrote, and names what a hand changed afterwards."""

import json
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import Connection, Engine, delete, func, insert, select, update

from studio.domain.log import canonical, event_hash
from studio.services.audit import audit
from studio.services.inspection import FAULTS_PER_CHECK_MAX, Fault
from studio.store.engine import write_transaction
from studio.store.tables import (
    LEG_HELD,
    LEG_HOUSE,
    LEG_WALLET,
    account,
    deck_card,
    entry,
    event,
    player_balance,
    round_,
    sealed_card,
    stake_quota,
    table_log,
    transfer,
    wager,
    wager_ending,
)
from tests.store.playing import Playing


@pytest.fixture
def playing(engine: Engine) -> Playing:
    """A database with two shoes' story in it."""
    told = Playing(engine)
    told.whole_story()
    return told


def codes(playing: Playing) -> set[str]:
    return {fault.code for fault in audit(playing.units)}


def first_number(connection: Connection, round_id: str = "T1-1-1") -> int:
    return connection.execute(
        select(func.min(wager.c.number)).where(wager.c.round_id == round_id)
    ).scalar_one()


def test_what_the_studio_wrote_has_no_fault(playing):
    assert audit(playing.units) == []


def test_an_empty_database_has_no_fault(engine):
    assert audit(Playing(engine).units) == []


# A fault each, written by hand -----------------------------------------------------------------


def change_amount(connection: Connection) -> None:
    line = entry.c.origin_id == first_number(connection)
    connection.execute(
        update(entry)
        .where(line, entry.c.leg == LEG_WALLET, entry.c.version == 0)
        .values(amount_minor=entry.c.amount_minor + 1)
    )


def change_stake(connection: Connection) -> None:
    connection.execute(
        update(wager)
        .where(wager.c.number == first_number(connection))
        .values(stake_minor=wager.c.stake_minor + 1)
    )


def change_payout_with_its_entries(connection: Connection) -> None:
    """Pay one unit more and book it properly: only the round's result tells."""
    number = first_number(connection)
    ending = wager_ending.c.wager_number == number
    connection.execute(
        update(wager_ending).where(ending).values(payout_minor=wager_ending.c.payout_minor + 1)
    )
    transfer_id = connection.execute(select(wager_ending.c.transfer_id).where(ending)).scalar_one()
    wallet = (entry.c.origin_id == number, entry.c.version == 1, entry.c.leg == LEG_WALLET)
    changed = connection.execute(
        update(entry).where(*wallet).values(amount_minor=entry.c.amount_minor + 1)
    ).rowcount
    if not changed:
        wallet_id = connection.execute(
            select(player_balance.c.wallet_id)
            .join(wager, wager.c.player_id == player_balance.c.player_id)
            .where(wager.c.number == number)
        ).scalar_one()
        connection.execute(
            insert(entry),
            {
                "origin_id": number,
                "version": 1,
                "leg": LEG_WALLET,
                "transfer_id": transfer_id,
                "account_id": wallet_id,
                "amount_minor": 1,
            },
        )
    connection.execute(
        update(entry)
        .where(entry.c.origin_id == transfer_id, entry.c.leg == LEG_HOUSE)
        .values(amount_minor=entry.c.amount_minor - 1)
    )
    connection.execute(
        update(player_balance)
        .where(player_balance.c.player_id == 1)
        .values(balance_minor=player_balance.c.balance_minor + 1)
    )


def delete_event(connection: Connection) -> None:
    seq = connection.execute(
        select(func.min(event.c.seq)).where(event.c.epoch == 1, event.c.kind == "BettingClosed")
    ).scalar_one()
    connection.execute(delete(event).where(event.c.epoch == 1, event.c.seq == seq))


def delete_last_event(connection: Connection) -> None:
    last = connection.execute(select(func.max(event.c.seq)).where(event.c.epoch == 2)).scalar_one()
    connection.execute(delete(event).where(event.c.epoch == 2, event.c.seq == last))


def change_event(connection: Connection) -> None:
    opened = event.c.kind == "RoundOpened"
    seq = connection.execute(
        select(func.min(event.c.seq)).where(opened, event.c.epoch == 1)
    ).scalar_one()
    here = (event.c.epoch == 1, event.c.seq == seq)
    body = json.loads(connection.execute(select(event.c.body).where(*here)).scalar_one())
    body["window_closes_ms"] += 1
    connection.execute(update(event).where(*here).values(body=canonical(body)))


def change_event_and_chain_everything_anew(connection: Connection) -> None:
    """Forge the turnover of the first closing and every hash after it."""
    rows = connection.execute(select(event).order_by(event.c.epoch, event.c.seq)).all()
    last, forged = "", False
    for row in rows:
        body = json.loads(row.body)
        if row.kind == "BettingClosed" and not forged:
            body["turnover_minor"], forged = body["turnover_minor"] + 1, True
        hash_ = event_hash(
            last,
            table=row.table_code,
            epoch=row.epoch,
            seq=row.seq,
            at_ms=row.at_ms,
            kind=row.kind,
            body=body,
        )
        connection.execute(
            update(event)
            .where(event.c.epoch == row.epoch, event.c.seq == row.seq)
            .values(body=canonical(body), prev_hash=last, hash=hash_)
        )
        last = hash_
    connection.execute(update(table_log).values(hash=last))


def swap_card(connection: Connection) -> None:
    """Exchange the sealed faces of the first two different cards of a round."""
    rows = connection.execute(
        select(sealed_card).where(sealed_card.c.epoch == 2).order_by(sealed_card.c.seq)
    ).all()
    first = rows[-1]
    second = next(row for row in reversed(rows) if row.card != first.card)
    for row, other in ((first, second), (second, first)):
        connection.execute(
            update(sealed_card)
            .where(sealed_card.c.epoch == 2, sealed_card.c.seq == row.seq)
            .values(card=other.card, serial=other.serial)
        )


def lose_sealed_card(connection: Connection) -> None:
    last = connection.execute(select(func.max(sealed_card.c.seq))).scalar_one()
    connection.execute(delete(sealed_card).where(sealed_card.c.seq == last))


def change_deck(connection: Connection) -> None:
    connection.execute(update(deck_card).where(deck_card.c.serial == 1).values(card_number=2))


def unsettle_wager(connection: Connection) -> None:
    """Take a wager's ending and its entries away, as if it had been forgotten."""
    number = first_number(connection)
    connection.execute(delete(wager_ending).where(wager_ending.c.wager_number == number))
    connection.execute(delete(entry).where(entry.c.origin_id == number, entry.c.version == 1))


def end_wager_of_open_round(connection: Connection) -> None:
    number, hold = connection.execute(
        select(wager.c.number, wager.c.hold_minor)
        .join(round_, round_.c.id == wager.c.round_id)
        .where(round_.c.phase == "betting")
    ).one()
    row = {"wager_number": number, "version": 1, "kind": "settled", "payout_minor": hold}
    connection.execute(insert(wager_ending), {**row, "transfer_id": number})


def end_wager_a_second_time(connection: Connection) -> None:
    number, transfer_id = connection.execute(
        select(wager_ending.c.wager_number, wager_ending.c.transfer_id)
        .where(wager_ending.c.kind == "undone")
        .order_by(wager_ending.c.wager_number)
        .limit(1)
    ).one()
    row = {"wager_number": number, "version": 2, "kind": "settled", "payout_minor": 0}
    connection.execute(insert(wager_ending), {**row, "transfer_id": transfer_id})


def change_balance(connection: Connection) -> None:
    connection.execute(
        update(player_balance)
        .where(player_balance.c.player_id == 2)
        .values(balance_minor=player_balance.c.balance_minor + 1)
    )


def change_held(connection: Connection) -> None:
    connection.execute(
        update(player_balance)
        .where(player_balance.c.player_id == 2)
        .values(held_minor=player_balance.c.held_minor + 1)
    )


def pay_into_another_wallet(connection: Connection) -> None:
    wallets = connection.execute(
        select(player_balance.c.wallet_id).order_by(player_balance.c.player_id)
    ).all()
    connection.execute(
        update(entry)
        .where(entry.c.origin_id == first_number(connection), entry.c.leg == LEG_WALLET)
        .values(account_id=wallets[1][0])
    )


def lose_entries_of_a_hold(connection: Connection) -> None:
    connection.execute(
        delete(entry).where(entry.c.origin_id == first_number(connection), entry.c.version == 0)
    )


def lose_account(connection: Connection) -> None:
    connection.execute(
        update(entry)
        .where(entry.c.origin_id == first_number(connection), entry.c.leg == LEG_HELD)
        .values(account_id=9_999)
    )


def lose_wager_behind_ending(connection: Connection) -> None:
    row = {"version": 1, "kind": "settled", "payout_minor": 0, "transfer_id": 1}
    connection.execute(insert(wager_ending), {"wager_number": 9_999, **row})


def change_undone_payout(connection: Connection) -> None:
    connection.execute(
        update(wager_ending).where(wager_ending.c.kind == "undone").values(payout_minor=1)
    )


def accept_late(connection: Connection) -> None:
    closes = select(round_.c.window_closes_ms).where(round_.c.id == "T1-1-1").scalar_subquery()
    connection.execute(
        update(wager).where(wager.c.number == first_number(connection)).values(accepted_ms=closes)
    )


def change_quota(connection: Connection) -> None:
    connection.execute(
        update(stake_quota)
        .where(stake_quota.c.round_id == "T1-1-1", stake_quota.c.stake_minor > 0)
        .values(stake_minor=stake_quota.c.stake_minor - 1)
    )


def change_phase(connection: Connection) -> None:
    connection.execute(update(round_).where(round_.c.id == "T1-1-2").values(phase="settled"))


def change_deadline(connection: Connection) -> None:
    connection.execute(
        update(round_)
        .where(round_.c.id == "T1-1-1")
        .values(window_closes_ms=round_.c.window_closes_ms + 1)
    )


def change_game(connection: Connection) -> None:
    connection.execute(update(round_).where(round_.c.id == "T1-1-1").values(game="pok_dong"))


def invent_round(connection: Connection) -> None:
    row = connection.execute(select(round_).where(round_.c.id == "T1-1-1")).one()._asdict()
    connection.execute(insert(round_), {**row, "id": "T1-1-99", "number": 99})


def invent_cash(connection: Connection) -> None:
    """Give a player money that nobody brought in, in one line."""
    connection.execute(insert(transfer), {"id": 9_999, "kind": "cash", "at_ms": 1})
    wallet = connection.execute(
        select(account.c.id).where(account.c.kind == "wallet", account.c.owner_id == 1)
    ).scalar_one()
    line = {"origin_id": 9_999, "version": 0, "leg": LEG_WALLET, "transfer_id": 9_999}
    connection.execute(insert(entry), {**line, "account_id": wallet, "amount_minor": 5})
    connection.execute(
        update(player_balance)
        .where(player_balance.c.player_id == 1)
        .values(balance_minor=player_balance.c.balance_minor + 5)
    )


@pytest.mark.parametrize(
    ("spoil", "found"),
    [
        (change_amount, {"ledger_sum", "transfer_unbalanced", "hold_differs", "balance_differs"}),
        (change_stake, {"book_differs", "settlement_differs", "stake_quota_differs"}),
        (change_payout_with_its_entries, {"payout_differs", "settlement_differs"}),
        (delete_event, {"log_gap", "chain_broken"}),
        (delete_last_event, {"log_end_differs"}),
        (change_event, {"event_changed", "round_differs"}),
        (change_event_and_chain_everything_anew, {"book_differs"}),
        (swap_card, {"sealed_card_differs"}),
        (lose_sealed_card, {"sealed_card_missing"}),
        (change_deck, {"deck_set_uneven"}),
        (unsettle_wager, {"wager_unsettled", "settlement_differs", "held_differs"}),
        (end_wager_of_open_round, {"wager_ended_early", "ending_differs"}),
        (end_wager_a_second_time, {"wager_ended_twice"}),
        (change_balance, {"balance_differs"}),
        (change_held, {"held_differs"}),
        (pay_into_another_wallet, {"hold_differs", "balance_differs"}),
        (lose_entries_of_a_hold, {"hold_differs", "transfer_empty", "held_differs"}),
        (lose_account, {"entry_dangling", "hold_differs", "ending_differs"}),
        (lose_wager_behind_ending, {"ending_dangling"}),
        (change_undone_payout, {"undone_differs", "ending_differs"}),
        (accept_late, {"accepted_untimely", "book_differs"}),
        (change_quota, {"stake_quota_differs"}),
        (change_phase, {"round_differs"}),
        (change_deadline, {"round_differs"}),
        (change_game, {"round_differs"}),
        (invent_round, {"rounds_differ"}),
        (invent_cash, {"ledger_sum", "transfer_unbalanced"}),
    ],
)
def test_a_change_by_hand_is_found(
    playing: Playing, spoil: Callable[[Connection], None], found: set[str]
):
    with write_transaction(playing.engine) as connection:
        spoil(connection)
    assert found <= codes(playing)


def test_a_fault_says_where_and_what(playing):
    with write_transaction(playing.engine) as connection:
        connection.execute(
            update(player_balance).where(player_balance.c.player_id == 2).values(balance_minor=12)
        )
        right = connection.execute(
            select(func.sum(entry.c.amount_minor))
            .join(account, account.c.id == entry.c.account_id)
            .where(account.c.kind == "wallet", account.c.owner_id == 2)
        ).scalar_one()
    assert audit(playing.units) == [
        Fault(
            code="balance_differs",
            where="player 2",
            what=f"The entries of the wallet sum to {right}; the stored balance differs.",
        )
    ]


def test_no_fault_names_a_sealed_card(playing):
    with write_transaction(playing.engine) as connection:
        swap_card(connection)
        connection.execute(update(deck_card).values(card_number=1))
        sealed = connection.execute(select(sealed_card)).all()
    faults = audit(playing.units)
    assert {"sealed_card_differs", "card_not_in_deck"} <= {fault.code for fault in faults}
    secrets = {str(part) for row in sealed for part in (row.card, row.serial, row.nonce)}
    for fault in faults:
        if "card" in fault.code:
            assert not secrets & set(fault.what.replace(",", " ").replace(".", " ").split())


def test_a_damaged_table_does_not_drown_the_report(playing):
    with write_transaction(playing.engine) as connection:
        numbers = [{"wager_number": number, "version": 7} for number in range(50_000, 50_100)]
        row = {"kind": "settled", "payout_minor": 0, "transfer_id": 1}
        connection.execute(insert(wager_ending), [{**number, **row} for number in numbers])
    faults = [fault for fault in audit(playing.units) if fault.code == "ending_dangling"]
    assert len(faults) == FAULTS_PER_CHECK_MAX


def test_the_engines_replay_is_asked_about_every_event(playing):
    seen: list[tuple[str, int, int]] = []

    class Doubter:
        def __init__(self, table: str, _log) -> None:
            self.table = table

        def see(self, stored) -> Iterator[Fault]:
            seen.append((self.table, stored.epoch, stored.seq))
            if stored.kind == "RoundSettled":
                return [Fault(code="replay_differs", where=self.table, what="no")]
            return []

    faults = audit(playing.units, replay=Doubter)
    assert [fault.code for fault in faults] == ["replay_differs"] * 3
    with playing.engine.connect() as connection:
        assert len(seen) == connection.execute(select(func.count()).select_from(event)).scalar_one()
    assert seen == sorted(seen)
