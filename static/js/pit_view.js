// What the pit's tiles and alarms say. Pure: no page, no network.

export const FRESH_MS = 5000;
export const STEPS = new Set(["load_shoe", "verify_cards", "shuffle", "turn_first_card", "burn", "start_round", "burn_one", "deal", "wait_close", "reveal", "settling", "rescan", "key_waits", "held", "stopped", "last_round_done", "locked", "link_lost", "link_waits"]);

/** Alarms in working order: not acknowledged before acknowledged, then priority, then oldest. */
export function sortAlarms(alarms) {
  const rank = (alarm) => [alarm.priority, alarm.acknowledged_by ? 1 : 0, alarm.raised_ms, alarm.id];
  return [...alarms].sort((a, b) => {
    const [left, right] = [rank(a), rank(b)];
    const at = left.findIndex((value, index) => value !== right[index]);
    return at < 0 ? 0 : left[at] - right[at];
  });
}

/** The most urgent alarm of a table, or null. */
export function worstAlarm(alarms, table) {
  return sortAlarms(alarms.filter((alarm) => alarm.table === table))[0] ?? null;
}

const LINK_ALARMS = ["scanner_lost", "station_lost", "video_lost"];

/** What becomes of an alarm's round while a link is away: the ending of a text's key, or "". */
export function fateOf(alarm, { round }) {
  const away = [alarm.code, ...(alarm.explains ?? [])].some((code) => LINK_ALARMS.includes(code));
  if (!away || !round || round.id !== alarm.round_id) return "";
  if (round.phase === "void") return round.void.reason === "link_lost_before_start" ? "cancelled" : "";
  if (round.phase === "settled") return round.interrupted ? "ended" : "";
  return round.started ? "runs" : "waits";
}

/** Shape of a priority: a square, a triangle, a circle; colour only repeats it. */
export const SHAPES = { 1: "square", 2: "triangle-alert", 3: "circle-dot" };

/** In which state a tile is, for its one word. */
export function tileState(view) {
  if (view.stopped) return "stopped";
  if (view.locked || view.stage === "locked") return "locked";
  if (["no_shoe", "loaded", "verifying", "opening"].includes(view.stage)) return view.stage;
  if (view.stage === "last_round_done" && view.phase !== "reveal") return "last_round_done";
  // Cards that are dealt open are dealt while the bets are closed already.
  return view.phase === "reveal" && ["deal", "burn_one"].includes(view.instruction.code) ? "dealing" : view.phase;
}

/** What a supervisor may do now, by view and standing correction; the studio decides again. */
export function allowed(view, proposal = null) {
  const voidWaits = proposal?.kind === "void_running";
  const running = view.round !== null && !["settled", "void", "idle"].includes(view.phase);
  return {
    void_round: running && !voidWaits,
    confirm_key: view.fault?.key === "waiting" && !view.stopped,
    release_held: Boolean(view.fault?.held),
    stop: view.shoe !== null && view.locked === null && !view.stopped && !view.fault?.held,
    resume: (view.stopped || view.pit_called) && !voidWaits,
    free_seat: view.dealer !== null,
    lock: view.locked === null && view.stage !== "locked",
    unlock: view.locked !== null || view.stage === "locked",
    close_shoe: !running && ["in_play", "last_round_done", "locked"].includes(view.stage) && view.shoe !== null,
  };
}

/** Gross gaming revenue of the newest shoe's settled rounds, in order, and its running sum. */
export function ggrSeries(rounds) {
  let sum = 0;
  return rounds
    .filter((round) => round.shoe === rounds[0].shoe && round.phase === "settled")
    .toReversed()
    .map(({ number, ggr_minor: ggr }) => {
      sum += ggr;
      return { number, ggr, sum };
    });
}
