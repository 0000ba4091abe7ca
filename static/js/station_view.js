// What the station says and offers, worked out from the public view. Pure: no page, no network.

const CARDS_EACH = 2;

/** The words of a step in one language; `ending` picks the short form of the next step. */
export function stepWords(language, step, ending = "") {
  const { t } = language;
  const position = step.position ? positionWords(language, step.position) : "";
  const link = step.link ? t(`link.${step.link}`) : "";
  const values = { ...step, position, link, next: "" };
  const key = step.code === "rescan" && !step.position ? "step.rescan_plain" : `step.${step.code}`;
  const short = `${key}${ending}`;
  const text = t(short, values);
  return text === short && ending ? t(key, values) : text;
}

/** A position as it is said at the table: "P3", "Banker". */
export function positionWords({ t }, position) {
  return position === "B" ? t("position.banker_step") : position;
}

/** What failed and what to do, or null. A held card names its fault, never its face. */
export function faultWords({ t }, view) {
  const fault = view.fault;
  if (view.stopped && !fault) return { what: t("fault.stopped"), action: t("fault.stopped_do") };
  if (!fault) return null;
  if (fault.held) return { what: t(`fault.${fault.code}`), action: t("fault.held_do") };
  const what = t("fault.read_failed", { tries: fault.tries });
  const reason = fault.reason ? t(`fault.reason.${fault.reason}`) : "";
  return { what, action: view.pit_called ? `${reason} ${t("fault.pit_comes")}` : reason };
}

/** True while a card must pass the camera. */
export function needsCard(view) {
  return ["deal", "burn", "burn_one", "turn_first_card", "verify_cards", "rescan"].includes(view.instruction.code);
}

/** The twelve places of the deal: `read`, `open` (with its card), `now`, `fault` or `none`. */
export function stripCells(view, bets) {
  const players = [...new Set(bets.map((bet) => bet.position))];
  const order = [...(players.length ? players : ["P1", "P2", "P3", "P4", "P5"]), "B"];
  const hands = new Map((view.round?.hands ?? []).map((hand) => [hand.position, hand]));
  const due = ["deal", "rescan"].includes(view.instruction.code) ? view.instruction : null;
  const cells = [];
  for (let index = 0; index < CARDS_EACH; index += 1) {
    for (const position of order) {
      const hand = hands.get(position);
      const card = hand?.cards[index] ?? null;
      const read = Boolean(hand) && index < hand.count;
      const now = due !== null && due.position === position && due.card === index + 1;
      cells.push({ position, index, card, state: card ? "open" : read ? "read" : now ? due.code === "rescan" ? "fault" : "now" : "none" });
    }
  }
  return cells;
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
  return PRIMARY[code] ?? null;
}
