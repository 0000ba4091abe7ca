// Where the results of a two-sided game lie: on the bead plate and on the big road.
// Pure: no page, no words. Columns and rows count from 0, from the left and from the top.

export const ROWS = 6;

const WINNERS = { win: "player", lose: "banker", tie: "tie" };

/** One outcome a round, oldest first: `winner` is player, banker or tie; `rings` name the pairs. */
export function outcomes(road) {
  return road
    .filter(({ marks }) => marks.length > 0)
    .map(({ number, marks: [mark] }) => ({ number, winner: WINNERS[mark.result], rings: mark.rings }));
}

/** The bead plate: every round has a place, filled column by column from the top. */
export function beadPlate(results) {
  return results.map((one, index) => ({ ...one, column: Math.floor(index / ROWS), row: index % ROWS }));
}

const key = (column, row) => `${column}/${row}`;

/** Where a new run begins: at the top of the first column to the right whose top is free. */
function runStart(taken, after) {
  let column = after + 1;
  while (taken.has(key(column, 0))) column += 1;
  return { column, row: 0 };
}

/** Where a run goes on: down while it can; at the bottom or above a taken place to the right. */
function runNext(taken, { column, row, turned }) {
  const down = !turned && row + 1 < ROWS && !taken.has(key(column, row + 1));
  return down ? { column, row: row + 1, turned } : { column: column + 1, row, turned: true };
}

/**
 * The big road: a column for each run of one side. A tie makes no cell: it is counted in `ties` of
 * the cell before it, or of the first cell when it came before any result.
 */
export function bigRoad(results) {
  const cells = [];
  const taken = new Set();
  let tiesBefore = 0;
  let runColumn = -1;
  for (const { number, winner, rings } of results) {
    const last = cells.at(-1);
    if (winner === "tie") {
      if (last) last.ties += 1;
      else tiesBefore += 1;
      continue;
    }
    const goesOn = last?.side === winner;
    const at = goesOn ? runNext(taken, last) : { ...runStart(taken, runColumn), turned: false };
    if (!goesOn) runColumn = at.column;
    taken.add(key(at.column, at.row));
    cells.push({ ...at, number, side: winner, rings, ties: last ? 0 : tiesBefore });
  }
  return cells;
}

/** How many columns a plate needs. */
export const columns = (cells) => cells.reduce((most, { column }) => Math.max(most, column + 1), 0);
