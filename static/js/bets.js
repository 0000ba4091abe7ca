// A player's own bets in the round on the table: what is sent, accepted, unknown, ended.
// No page code here: this can be tested alone.

import { newId, post, postUntilAnswered, Refusal, unanswered } from "./api.js";

const OPEN = ["sending", "unknown", "accepted"];

/** Smallest whole hold that covers a stake's exposure, e.g. "2" or "3/2" units a unit staked. */
export function holdFor(stakeMinor, exposure) {
  const [top, bottom = "1"] = String(exposure).split("/");
  const product = BigInt(stakeMinor) * BigInt(top);
  const divisor = BigInt(bottom);
  return Number((product + divisor - 1n) / divisor);
}

/** Events: `change`, `wallet` (detail: balance_minor, held_minor), `accepted`, `refused`, `unknown`, `undone`. */
export class Bets extends EventTarget {
  #wagers = new Map();
  #last = [];

  constructor({ kept = unanswered, send = post, wait } = {}) {
    super();
    this.kept = kept;
    this.sending = { send, ...(wait ? { wait } : {}) };
    this.roundId = null;
  }

  get all() {
    return [...this.#wagers.values()];
  }

  /** Another round is on the table: what was accepted before can be bet again. */
  begin(roundId) {
    if (roundId === this.roundId) return;
    const placed = this.all.filter((wager) => ["accepted", "settled", "refunded"].includes(wager.state));
    if (placed.length) this.#last = placed.map(({ bet, stake_minor: stake }) => ({ bet, stake }));
    this.#wagers.clear();
    this.roundId = roundId;
    this.#changed();
  }

  /** Stakes of the last round played, summed by spot. */
  get lastRound() {
    const sums = new Map();
    for (const { bet, stake } of this.#last) sums.set(bet, (sums.get(bet) ?? 0) + stake);
    return [...sums].map(([bet, stake]) => ({ bet, stake }));
  }

  /** Take the list the studio has of my wagers in this round. */
  load(wagers) {
    for (const wager of wagers) {
      if (!wager.round_id || wager.round_id === this.roundId) this.#take(wager);
    }
    this.#changed();
  }

  /** Send a bet at once. One request at a time per spot, so that a double tap is one bet. */
  async place(bet, stakeMinor) {
    if (this.busy(bet)) return null;
    const body = { id: newId(), bet, stake_minor: stakeMinor };
    return this.#send(this.roundId, body);
  }

  /** Ask again about requests left without an answer, e.g. by a reload. Same ids, same content. */
  async askAgain() {
    await Promise.all(this.kept.all().map((entry) => this.#send(entry.roundId, entry.body)));
  }

  async #send(roundId, body) {
    const here = roundId === this.roundId;
    const wager = { ...body, hold_minor: 0, payout_minor: null, state: "sending" };
    if (here) this.#wagers.set(body.id, wager);
    this.kept.keep({ roundId, body });
    this.#changed();
    const onUnknown = () => {
      wager.state = "unknown";
      this.#changed();
      this.#tell("unknown", wager);
    };
    try {
      const answer = await postUntilAnswered(`/api/rounds/${roundId}/wagers`, body, { ...this.sending, onUnknown });
      this.kept.forget(body.id);
      if (roundId === this.roundId) this.#take(answer.wager);
      this.#tell("wallet", answer);
      this.#tell("accepted", answer.wager);
      return answer.wager;
    } catch (error) {
      if (error instanceof Refusal) {
        this.kept.forget(body.id);
        this.#wagers.delete(body.id);
        this.#tell("refused", { wager, error });
      } else {
        wager.state = "unknown";
        this.#tell("unknown", wager);
      }
      return null;
    } finally {
      this.#changed();
    }
  }

  /** Take back the last accepted bet. */
  async undo() {
    const last = this.all.filter((wager) => wager.state === "accepted").at(-1);
    return last ? this.#undo(last) : null;
  }

  /** Take back every accepted bet, one after the other, newest first. */
  async clear() {
    const accepted = this.all.filter((wager) => wager.state === "accepted").reverse();
    for (const wager of accepted) {
      if (!(await this.#undo(wager))) return false;
    }
    return true;
  }

  async #undo(wager) {
    wager.state = "undoing";
    this.#changed();
    try {
      const answer = await postUntilAnswered(`/api/wagers/${wager.id}/undo`, {}, this.sending);
      this.#take(answer.wager);
      this.#tell("wallet", answer);
      this.#tell("undone", answer.wager);
      return answer;
    } catch (error) {
      wager.state = "accepted";
      this.#tell("refused", { wager, error });
      return null;
    } finally {
      this.#changed();
    }
  }

  /** True while a request for the spot waits for its answer. */
  busy(bet) {
    return this.all.some((wager) => wager.bet === bet && ["sending", "unknown", "undoing"].includes(wager.state));
  }

  /** What a spot shows: sums by state. */
  spot(bet) {
    const mine = this.all.filter((wager) => wager.bet === bet);
    const sum = (states, key) =>
      mine.filter((wager) => states.includes(wager.state)).reduce((total, wager) => total + (wager[key] ?? 0), 0);
    const has = (state) => mine.some((wager) => wager.state === state);
    return {
      stake: sum(["accepted", "undoing", "settled", "refunded"], "stake_minor"),
      hold: sum(["accepted", "undoing", "settled", "refunded"], "hold_minor"),
      waiting: sum(["sending", "unknown"], "stake_minor"),
      payout: sum(["settled", "refunded"], "payout_minor"),
      forfeited: mine.some((wager) => wager.forfeited),
      state: ["unknown", "sending", "undoing", "settled", "refunded", "accepted"].find(has) ?? "empty",
    };
  }

  /** All stakes that stand in this round. */
  get stakeMinor() {
    return this.all
      .filter((wager) => [...OPEN, "undoing", "settled"].includes(wager.state))
      .reduce((total, wager) => total + wager.stake_minor, 0);
  }

  #take(wager) {
    const ending = wager.ending ?? null;
    this.#wagers.set(wager.id, {
      ...wager,
      payout_minor: ending ? ending.payout_minor : null,
      state: ending ? ending.kind : "accepted",
    });
  }

  #changed() {
    this.#tell("change", null);
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
