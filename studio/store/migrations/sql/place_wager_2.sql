-- Accepts one wager, or says why not, in one round trip. It never raises a refusal: the caller
-- turns `outcome` into one, so that both databases refuse in the same words.
--
-- Order of locks, the same everywhere: the round's row (shared: the close, which updates it, waits
-- for every wager in flight), the player's balances, the shares of the table limit. Each statement
-- sees what was committed before it began, so sums are read after the lock that guards them.
-- `given_now` replaces the clock for tests and simulations.
CREATE OR REPLACE FUNCTION place_wager(
    wager_id uuid, player bigint, in_round text, on_bet text, stake bigint, hold bigint,
    bet_min bigint, bet_max bigint, player_max bigint, table_max bigint, shards int,
    given_now bigint,
    OUT outcome text, OUT accepted_ms bigint, OUT balance_minor bigint, OUT held_minor bigint,
    OUT taken_minor bigint
) LANGUAGE plpgsql AS $$
DECLARE
    window_ record;
    purse record;
    standing record;
    own smallint := player % shards;
    free bigint;
    number_ bigint;
BEGIN
    IF EXISTS (SELECT FROM wager w WHERE w.id = wager_id) THEN
        outcome := 'known';
        RETURN;
    END IF;
    SELECT r.phase, r.opened_ms, r.window_closes_ms AS closes_ms INTO window_
        FROM round r WHERE r.id = in_round FOR SHARE;
    IF NOT FOUND THEN
        outcome := 'unknown_round';
        RETURN;
    END IF;
    accepted_ms := coalesce(given_now, floor(extract(epoch FROM clock_timestamp()) * 1000));
    -- Before the opening: the clock was set back, and the window must not grow longer by it.
    IF window_.phase <> 'betting' OR accepted_ms >= window_.closes_ms
        OR accepted_ms < window_.opened_ms THEN
        outcome := 'betting_window_closed';
        RETURN;
    END IF;

    SELECT p.* INTO purse FROM player_balance p WHERE p.player_id = player FOR UPDATE;
    balance_minor := coalesce(purse.balance_minor, 0);
    held_minor := coalesce(purse.held_minor, 0);
    SELECT coalesce(sum(w.stake_minor), 0) AS round_minor,
           coalesce(sum(w.stake_minor) FILTER (WHERE w.bet = on_bet), 0) AS bet_minor,
           coalesce(bool_or(w.id = wager_id), false) AS same_id
        INTO standing
        FROM wager w
        WHERE w.player_id = player AND w.round_id = in_round
          AND NOT EXISTS (SELECT FROM wager_ending e WHERE e.wager_number = w.number);
    IF standing.same_id THEN
        -- The same request was accepted while this one waited for the player's row.
        outcome := 'known';
        RETURN;
    END IF;
    -- Nothing more is waited for that a deadline could pass in: this reading decides.
    accepted_ms := coalesce(given_now, floor(extract(epoch FROM clock_timestamp()) * 1000));
    IF accepted_ms >= window_.closes_ms OR accepted_ms < window_.opened_ms THEN
        outcome := 'betting_window_closed';
        RETURN;
    END IF;
    IF stake < bet_min THEN
        outcome := 'stake_below_minimum';
        RETURN;
    END IF;
    IF standing.bet_minor + stake > bet_max THEN
        outcome := 'bet_limit_exceeded';
        taken_minor := standing.bet_minor;
        RETURN;
    END IF;
    IF standing.round_minor + stake > player_max THEN
        outcome := 'player_limit_exceeded';
        taken_minor := standing.round_minor;
        RETURN;
    END IF;
    IF balance_minor < hold THEN
        outcome := 'balance_short';
        RETURN;
    END IF;

    -- The table limit is cut into shares held by a CHECK. A wager takes from its player's share
    -- alone; only when that is used up are all shares locked and what is left dealt out anew.
    UPDATE stake_quota q SET stake_minor = q.stake_minor + stake
        WHERE q.round_id = in_round AND q.shard = own
          AND q.stake_minor + stake <= q.quota_minor;
    IF NOT FOUND THEN
        PERFORM FROM stake_quota q WHERE q.round_id = in_round ORDER BY q.shard FOR UPDATE;
        SELECT coalesce(sum(q.stake_minor), 0) INTO taken_minor
            FROM stake_quota q WHERE q.round_id = in_round;
        free := table_max - taken_minor - stake;
        IF free < 0 THEN
            outcome := 'table_limit_exceeded';
            RETURN;
        END IF;
        UPDATE stake_quota q SET
            stake_minor = q.stake_minor + CASE WHEN q.shard = own THEN stake ELSE 0 END,
            quota_minor = q.stake_minor + free / shards
                + CASE WHEN q.shard = own THEN stake + free % shards ELSE 0 END
            WHERE q.round_id = in_round;
    END IF;

    INSERT INTO transfer (kind, at_ms) VALUES ('hold', accepted_ms) RETURNING id INTO number_;
    INSERT INTO wager (number, id, player_id, round_id, bet, stake_minor, hold_minor, accepted_ms)
        VALUES (number_, wager_id, player, in_round, on_bet, stake, hold, accepted_ms)
        ON CONFLICT (id) DO NOTHING;
    IF NOT FOUND THEN
        -- Another player or another round used this id a moment ago: the next try says so.
        RAISE EXCEPTION 'wager id % was used meanwhile', wager_id USING ERRCODE = '40001';
    END IF;
    INSERT INTO entry (origin_id, version, leg, transfer_id, account_id, amount_minor) VALUES
        (number_, 0, 1, number_, purse.held_id, hold),
        (number_, 0, 2, number_, purse.wallet_id, -hold);
    UPDATE player_balance p SET
        balance_minor = p.balance_minor - hold,
        held_minor = p.held_minor + hold
        WHERE p.player_id = player
        RETURNING p.balance_minor, p.held_minor
        INTO place_wager.balance_minor, place_wager.held_minor;
    outcome := 'placed';
END
$$
