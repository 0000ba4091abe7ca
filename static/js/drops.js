// What a player is told of a line that is cut, the table's or the own one. Pure: no page, no network.

import { secondsLeft } from "./clock.js";
import { roundNet } from "./session.js";

const RUNNING = ["betting", "no_more_bets", "reveal"];
const OPEN = ["sending", "unknown", "accepted", "undoing"];
const LINKS = ["scanner", "station", "video"];
const KEPT = "studio.meanwhile";
const CANCELLED = "link_lost_before_start";

const isRunning = (round) => Boolean(round) && RUNNING.includes(round.phase);
const sum = (bets, states, key) => bets.filter((wager) => states.includes(wager.state)).reduce((total, wager) => total + (wager[key] ?? 0), 0);

/** True when the round on the table was cancelled because a link was away before its first card. */
export const cancelledByLink = (round) => round?.void?.reason === CANCELLED;

/** Of the table's links and what follows for the round and its bets; "" when there is nothing to say. */
export function tableWords({ t }, view, { bets, full }) {
  const { round, links } = view;
  const held = sum(bets, ["accepted", "undoing"], "hold_minor");
  const lost = LINKS.filter((link) => links[link] === "lost");
  const said = lost.length ? [t("drop.cut", { links: lost.map((link) => t(`drop.${link}`)).join(", ") })] : [];
  if (isRunning(round) && round.started) {
    if (lost.length) said.push(t(lost.some((link) => link !== "video") ? "drop.runs" : "drop.runs_video"));
    else if (round.interrupted) said.push(t("drop.runs_again"));
    return said.join(" ");
  }
  if (cancelledByLink(round)) {
    const back = sum(bets, ["refunded"], "payout_minor");
    said.push(t(back ? "drop.cancelled_bets" : "drop.cancelled", { number: round.number, amount: full(back) }));
  } else if (round?.phase === "settled" && round.interrupted) said.push(t("drop.result", { number: round.number }));
  if (!lost.length) return said.join(" ");
  said.push(isRunning(round) ? t(held ? "drop.waiting_bets" : "drop.waiting", { amount: full(held) }) : t("drop.idle"));
  return said.join(" ");
}

/** How long the studio still waits before it cancels the round; "" while it cancels none. */
export function graceWords({ t }, round, nowMs) {
  if (!round?.cancels_ms) return "";
  const seconds = secondsLeft(round.cancels_ms, nowMs);
  return seconds ? t("link.cancels", { seconds }) : t("link.cancels_now");
}

/** Of the player's own line: what stands, and that nothing more is placed. `open`: bets still run. */
export function ownWords({ t }, { bets, round, open, full }) {
  const stands = isRunning(round) ? sum(bets, ["accepted", "undoing"], "stake_minor") : 0;
  const asked = sum(bets, ["sending", "unknown"], "stake_minor");
  const what = stands ? t(open ? "drop.own_bets" : "drop.own_closed", { stake: full(stands) }) : t("drop.own");
  return asked ? `${what} ${t("drop.own_unknown", { stake: full(asked) })}` : what;
}

/** Of the round that ended while nobody looked. `ended`: that round of the player's history. */
export function meanwhileWords({ t }, { number, ended }, { full, signed }) {
  const values = { number, net: signed(roundNet(ended)), amount: full(ended.payout_minor) };
  const mark = ended.interrupted ? ` ${t("drop.result", values)}` : "";
  return t(ended.phase === "void" ? "drop.meanwhile_void" : "drop.meanwhile", values) + mark;
}

/** Keeps the round with bets in it, over a cut line and a reload, until its end was seen or told. */
export class Meanwhile {
  #away = true;
  #told = null;

  constructor(table, storage) {
    this.key = `${KEPT}/${table}`;
    this.storage = storage;
  }

  get #kept() {
    return JSON.parse(this.storage.getItem(this.key) ?? "null");
  }

  #keep({ id, number }) {
    this.storage.setItem(this.key, JSON.stringify({ id, number }));
  }

  /** What came of the round that ended meanwhile, until another round is on the table. */
  news(round) {
    if (this.#told && this.#told.on !== (round?.id ?? null)) this.#told = null;
    return this.#told;
  }

  /** Take note of what the page shows. */
  see(round, bets) {
    if (isRunning(round)) {
      if (bets.some((wager) => OPEN.includes(wager.state))) this.#keep(round);
    } else if (!this.#away && this.#kept?.id === round?.id) this.storage.removeItem(this.key);
  }

  left() {
    this.#away = true;
  }

  /** Somebody looks again: find out once what the kept round brought. `history`: asks for the rounds. */
  async back(history, round) {
    if (!this.#away) return;
    this.#away = false;
    const kept = this.#kept;
    if (!kept || (isRunning(round) && round.id === kept.id)) return;
    this.storage.removeItem(this.key);
    const rounds = await history().catch(() => {
      this.#keep(kept);
      this.#away = true;
      return [];
    });
    const ended = rounds.find((one) => one.round_id === kept.id);
    if (ended && !isRunning(ended)) this.#told = { number: kept.number, ended, on: round?.id ?? null };
  }
}
