// The road of a two-sided game: bead plate and big road, with letters and shapes beside the colours.

import { beadPlate, bigRoad, columns, outcomes, ROWS } from "./big_road.js";
import { h, s } from "./dom.js";
import { t } from "./i18n.js";

const SIZE = 26;
const MID = SIZE / 2;
const RADIUS = 10;
const COLUMNS_MIN = { bead: 8, big: 23 };
/** Where the dot of a pair lies: the banker's top left, the player's bottom right. */
const DOTS = { banker_pair: 5, player_pair: SIZE - 5 };

function pairDots(rings) {
  return rings.filter((ring) => ring in DOTS).map((ring) => s("circle", { cx: DOTS[ring], cy: DOTS[ring], r: 3.6, class: `pair-dot ${ring.replace("_", "-")}` }));
}

/** A bead: a disc with the winner's letter. */
function bead({ winner, rings }) {
  const letter = s("text", { x: MID, y: MID, class: "bead-letter" });
  letter.textContent = t(`road.letter_${winner}`);
  return [s("circle", { cx: MID, cy: MID, r: RADIUS, class: `bead bead-${winner}` }), letter, ...pairDots(rings)];
}

/** The green slash of ties, with their count. */
function tieSlash(ties) {
  const count = s("text", { x: MID, y: MID, class: "tie-count" });
  count.textContent = String(ties);
  return [s("path", { d: `M4 ${SIZE - 4}L${SIZE - 4} 4`, class: "tie-slash" }), s("circle", { cx: MID, cy: MID, r: 6, class: "tie-disc" }), count];
}

/** A cell of the big road: the player's is a ring, the banker's a full disc. */
function cell({ side, rings, ties }) {
  const round = s("circle", { cx: MID, cy: MID, r: side === "player" ? RADIUS - 1 : RADIUS, class: `big big-${side}` });
  return [round, ...(ties ? tieSlash(ties) : []), ...pairDots(rings)];
}

const box = (shapes) => s("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "mark-box", "aria-hidden": "true" }, ...shapes);

/** The bead of one round, for the list of tables. */
export const beadShape = (round) => box(bead(outcomes([round])[0]));

/** A round's result in words: "Player wins, banker pair". */
export function roundWords(round) {
  const [{ winner, rings }] = outcomes([round]);
  return [t(`road.wins_${winner}`), ...rings.map((ring) => t(`road.${ring}`))].join(", ");
}

function grid(wide) {
  const lines = [];
  for (let row = 0; row <= ROWS; row += 1) lines.push(`M0 ${row * SIZE}H${wide * SIZE}`);
  for (let column = 0; column <= wide; column += 1) lines.push(`M${column * SIZE} 0V${ROWS * SIZE}`);
  return s("path", { d: lines.join(""), class: "plate-lines" });
}

function plate(kind, cells, draw) {
  const used = columns(cells) + 1;
  const wide = Math.max(used, COLUMNS_MIN[kind]);
  const marks = cells.map((one) => s("g", { transform: `translate(${one.column * SIZE} ${one.row * SIZE})`, "data-place": `${one.column}/${one.row}` }, ...draw(one)));
  const picture = s("svg", { width: wide * SIZE + 1, height: ROWS * SIZE + 1, viewBox: `-0.5 -0.5 ${wide * SIZE + 1} ${ROWS * SIZE + 1}`, class: "plate" }, grid(wide), ...marks);
  return h(
    "div",
    { class: "plate-part" },
    h("p", { class: "plate-name", "aria-hidden": "true", text: t(`road.plate_${kind}`) }),
    h("div", { class: "road-grid", "aria-hidden": "true", tabindex: "-1", "data-testid": `plate-${kind}`, "data-used": used * SIZE }, picture),
  );
}

const samples = () => [
  [bead({ winner: "player", rings: [] }), "road.wins_player"],
  [bead({ winner: "banker", rings: [] }), "road.wins_banker"],
  [bead({ winner: "tie", rings: [] }), "road.wins_tie"],
  [cell({ side: "player", rings: [], ties: 0 }), "road.big_player"],
  [cell({ side: "banker", rings: [], ties: 0 }), "road.big_banker"],
  [cell({ side: "player", rings: [], ties: 2 }), "road.ties_after"],
  [cell({ side: "player", rings: ["banker_pair"], ties: 0 }), "road.banker_pair"],
  [cell({ side: "player", rings: ["player_pair"], ties: 0 }), "road.player_pair"],
];

/** How a two-sided road is drawn, explained and read out. */
export const twoSided = {
  draw(rounds) {
    const results = outcomes(rounds);
    return h("div", { class: "plates" }, plate("bead", beadPlate(results), bead), plate("big", bigRoad(results), cell));
  },
  samples: () => samples().map(([shapes, key]) => [box(shapes), key]),
  heads: () => [t("road.result")],
  cells: (round) => [round.marks.length ? roundWords(round) : "–"],
};
