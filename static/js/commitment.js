// Checks that the cards opened are the cards that were promised before anybody could know them.

import { sha256 } from "./sha256.js";

/** The text whose digest was published when the card was drawn. */
export function committedText({ nonce, card, serial, position, index }, roundId) {
  return `${nonce}|${roundId}|${position}|${index}|${card}|${serial}`;
}

const place = ({ position, index }) => `${position}/${index}`;

/**
 * Compare every reveal of a round with its commitment.
 * Returns one row a commitment: state `match`, `differs`, or `sealed` (not opened yet).
 * A reveal without a commitment counts as `differs`: nothing promised it.
 */
export async function checkRound(round) {
  const reveals = new Map(round.reveals.map((reveal) => [place(reveal), reveal]));
  const promised = new Set(round.commitments.map(place));
  const rows = await Promise.all(
    round.commitments.map(async (commitment) => {
      const reveal = reveals.get(place(commitment));
      if (!reveal) return { ...commitment, state: "sealed" };
      const text = committedText(reveal, round.id);
      const digest = await sha256(text);
      return { ...commitment, ...reveal, text, digest, state: digest === commitment.commitment ? "match" : "differs" };
    }),
  );
  const unpromised = round.reveals.filter((reveal) => !promised.has(place(reveal)));
  return rows.concat(unpromised.map((reveal) => ({ ...reveal, commitment: null, state: "differs" })));
}

/** How many match, differ and are still sealed. */
export function countRows(rows) {
  const count = (state) => rows.filter((row) => row.state === state).length;
  return { match: count("match"), differs: count("differs"), sealed: count("sealed"), total: rows.length };
}
