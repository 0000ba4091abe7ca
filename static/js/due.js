// A correction that is announced: said, with the player's own money, until it is booked or dropped.

import { secondsLeft } from "./clock.js";
import { t } from "./i18n.js";
import { pin } from "./toast.js";

const LATE_MS = 60_000;

/** What is about to change, in words. own: {round_ids, before_minor, after_minor} or null. Pure. */
export function dueWords({ own, told }, { full, signed }) {
  const kind = told?.void ? "annulled" : "corrected";
  const rounds = own?.round_ids ?? told.numbers;
  const what = rounds.length > 1 ? t(`due.${kind}_many`, { count: rounds.length }) : t(`due.${kind}`, { round: rounds[0] });
  if (!own) return what;
  const { before_minor: before, after_minor: after } = own;
  return `${what} ${t("due.own", { before: full(before), after: full(after), difference: signed(after - before) })}`;
}

/** The notices. money: {full, signed}; now: the studio's time. */
export function makeDue({ money, now }) {
  const own = new Map();
  const told = new Map();
  const pins = new Map();

  function draw() {
    for (const [due, one] of own) if (!one.round_ids.length || now() > due + LATE_MS) own.delete(due);
    const public_ = new Map([...told.values()].map((one) => [one.due_ms, one]));
    const wanted = new Set([...own.keys(), ...public_.keys()]);
    for (const [due, pinned] of pins) {
      if (wanted.has(due)) continue;
      pinned.end();
      pins.delete(due);
    }
    for (const due of wanted) {
      const words = dueWords({ own: own.get(due) ?? null, told: public_.get(due) ?? null }, money);
      if (!pins.has(due)) pins.set(due, pin("info", words));
      const seconds = secondsLeft(due, now());
      pins.get(due).update(words, seconds ? t("due.seconds", { seconds }) : t("due.now"));
    }
  }

  return {
    draw,
    /** What a player is told who comes anew. */
    load(list = []) {
      own.clear();
      for (const one of list) own.set(one.due_ms, one);
      draw();
    },
    /** A wallet message: announced, dropped, or booked round by round. */
    wallet({ reason, rounds, round_id: round, due_ms: due, before_minor: before, payout_minor: after }) {
      if (reason === "correction_due") own.set(due, { round_ids: rounds, before_minor: before, after_minor: after });
      const over = reason === "correction_dropped" ? rounds : ["corrected", "void"].includes(reason) ? [round] : [];
      for (const one of own.values()) one.round_ids = one.round_ids.filter((id) => !over.includes(id));
      draw();
    },
    /** What a table tells everybody. */
    view(table, { correction }) {
      if (correction) told.set(table, correction);
      else told.delete(table);
      draw();
    },
  };
}
