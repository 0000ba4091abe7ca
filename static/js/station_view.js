// What the station says and offers, worked out from the public view. Pure: no page, no network.

const FEW = 6;
const ROW_MAX = 12;
const ROW_MAX_PHONE = 6;

/** Reasons of a failed read after which something has to go before a card can be read. */
const TAKE_AWAY = new Set(["staff_badge", "two_cards"]);
/** Reasons with a headline of their own. */
const OWN_HEADLINE = new Set([...TAKE_AWAY, "taken_away"]);

/** The words of a step in one language; `ending` picks the short form of the next step. */
export function stepWords(language, step, ending = "") {
  const { t } = language;
  const position = step.position ? positionWords(language, step.position) : "";
  const link = step.link ? t(`link.${step.link}`) : "";
  const values = { ...step, position, link, next: "" };
  const key = stepKey(step);
  const short = `${key}${ending}`;
  const text = t(short, values);
  return text === short && ending ? t(key, values) : text;
}

function stepKey(step) {
  // The first card of a shoe, or one that is verified, lies nowhere on the table.
  if (step.code === "rescan" && TAKE_AWAY.has(step.reason)) return `step.rescan_${step.reason}`;
  if (step.code === "rescan" && (!step.position || ["first", "verify"].includes(step.position))) return "step.rescan_plain";
  if (noCardYet(step)) return step.scan_at === "reveal" ? "step.wait_open" : "step.wait_deal";
  return `step.${step.code}`;
}

/** True while bets run at a table whose next card lies open at once: it would tell who wins. */
export const noCardYet = (step) => step.code === "wait_close" && Boolean(step.next);

/** A position as it is said at the table: "P3", "Player", "Banker". */
export function positionWords({ t, has }, position) {
  return has(`position.${position}`) ? t(`position.${position}`) : position;
}

const over = (view) => view.phase === "settled" || ["reveal", "settling"].includes(view.instruction.code);

/**
 * What the dealer calls out now, in words, and how the round ended: "Banker wins 7 over 5". The
 * last call of a round that is dealt names its winner.
 */
export function callWords(language, view) {
  const keys = (view.phase === "void" ? [] : view.round?.calls ?? []).map((code) => `call.${view.game}.${code}`);
  const words = keys.filter(language.has).map((key) => language.t(key));
  const ended = words.length > 0 && over(view);
  return { calls: ended ? words.slice(0, -1) : words, result: ended ? resultWords(language, view, words.at(-1)) : "" };
}

function resultWords({ t }, view, call) {
  const points = totals(view).map((hand) => Number(hand.points)).sort((a, b) => b - a);
  if (points.length !== 2 || points.some(Number.isNaN)) return call;
  const [high, low] = points;
  return high === low ? t("call.result_equal", { call, points: high }) : t("call.result_over", { call, high, low });
}

/** The hands that lie open, with what they are worth. */
export function totals(view) {
  return (view.phase === "void" ? [] : view.round?.hands ?? []).filter((hand) => hand.points !== null);
}

/** What failed and what to do, or null. A held card names its fault, never its face. */
export function faultWords({ t, has }, view) {
  const fault = view.fault;
  if (view.stopped && !fault) return { what: t("fault.stopped"), action: t("fault.stopped_do") };
  if (!fault) return null;
  if (fault.held) {
    const action = `fault.${fault.code}_do`;
    return { what: t(`fault.${fault.code}`), action: t(has(action) ? action : "fault.held_do") };
  }
  if (fault.key === "waiting") return { what: t("fault.key_waits"), action: t("fault.key_waits_do") };
  if (fault.key) return { what: t(`fault.key_${fault.key}`), action: t("fault.key_do") };
  const what = OWN_HEADLINE.has(fault.reason) ? t(`fault.${fault.reason}`) : t("fault.read_failed", { tries: fault.tries });
  const reason = fault.reason ? t(`fault.reason.${fault.reason}`) : "";
  return { what, action: view.pit_called ? `${reason} ${t("fault.pit_comes")}` : reason };
}

/** True while a card must pass the camera. */
export function needsCard(view) {
  return ["deal", "burn", "burn_one", "turn_first_card", "verify_cards", "rescan", "key_waits"].includes(view.instruction.code);
}

/**
 * The places of the deal in its order: `read`, `open` (with its card), `now`, `fault`, `none`, or
 * `empty`: the deal went past it, no card belongs there.
 */
export function stripCells(view, places) {
  const hands = new Map((view.round?.hands ?? []).map((hand) => [hand.position, hand]));
  const due = ["deal", "rescan", "key_waits"].includes(view.instruction.code) ? view.instruction : null;
  const cells = places.map(({ position, card: number }) => {
    const hand = hands.get(position);
    const card = hand?.cards[number - 1] ?? null;
    const read = Boolean(hand) && number <= hand.count;
    const now = due !== null && due.position === position && due.card === number;
    return { position, number, card, state: card ? "open" : read ? "read" : now ? (due.code === "deal" ? "now" : "fault") : "none" };
  });
  const reached = view.round && over(view) ? cells.length : cells.findLastIndex((cell) => cell.state !== "none");
  for (const cell of cells.slice(0, Math.max(reached, 0))) if (cell.state === "none") cell.state = "empty";
  return cells;
}

/** How the strip is laid out: one row on a wide screen; on a phone a row a hand where two play. */
export function stripLayout(places) {
  const positions = new Set(places.map((place) => place.position)).size;
  const rows = Math.ceil(places.length / ROW_MAX);
  const byHand = positions === 2;
  return {
    columns: Math.ceil(places.length / rows) || 1,
    phoneColumns: byHand ? Math.ceil(places.length / positions) : Math.min(positions || 1, ROW_MAX_PHONE),
    byHand,
    words: places.length <= FEW,
  };
}

/** Where every card of the shoe is. A value of null is written as words. */
export function countRows(view) {
  const shoe = view.shoe;
  if (!shoe) return [];
  const rows = [
    ["in_shoe", `${shoe.in_shoe}/${shoe.registered}`],
    ["dealt", String(shoe.dealt)],
    ["burnt", String(shoe.burnt)],
    ["cut_card", shoe.cut_card_out ? "●" : null],
  ];
  if (view.stage === "verifying") rows.unshift(["verified", `${shoe.verified}/${shoe.registered}`]);
  if (view.stage === "opening") rows.push(["to_burn", String(shoe.to_burn)]);
  return rows;
}

const PRIMARY = {
  load_shoe: { command: "load_shoe", key: "load_shoe", form: "deck_set" },
  shuffle: { command: "confirm_shuffle", key: "shuffle", form: "cut_depth" },
  verify_cards: { command: "end_verification", key: "end_verification" },
  start_round: { command: "start_round", key: "start_round" },
  reveal: { command: "reveal", key: "reveal" },
  last_round_done: { command: "close_shoe", key: "close_shoe", form: "cards_left" },
};

/** The one big button: what the dealer confirms now, or null while a card or the clock is due. */
export function primaryAction(view, about) {
  const code = view.instruction.code;
  if (["burn", "burn_one"].includes(code)) {
    return about.scan_at === "reveal" ? { command: "burn_done", key: "burn_done" } : null;
  }
  if (["rescan", "key_waits"].includes(code) && view.fault.tries >= about.limits?.scan_tries_max) {
    return { command: "key_card", key: view.fault.key === "waiting" ? "key_again" : "key_card", form: "digits" };
  }
  return PRIMARY[code] ?? null;
}
