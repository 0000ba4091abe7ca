// The room that I am in, as the studio says it: asked again whenever it may have changed.
// No page code here: this can be tested alone.

import { look, newId, post, postUntilAnswered } from "./api.js";

/** A hint that got lost is made good after so long. */
const ASK_EVERY_MS = 15_000;

/** Events: `change` (detail: before, after; rooms as `GET /api/rooms/mine` has them, or null). */
export class MyRoom extends EventTarget {
  #asked = 0;
  #taken = 0;
  #again = false;
  #asking = null;

  constructor({ fetchJson = look, send = post, wait } = {}) {
    super();
    this.fetchJson = fetchJson;
    this.sending = { send, ...(wait ? { wait } : {}) };
    this.known = false;
    this.room = null;
    /** What leaving now would forfeit, minor units. */
    this.standingMinor = 0;
  }

  /** Follow the hints of a live connection, and ask on one's own as well. */
  follow(live) {
    live.addEventListener("room", () => this.ask());
    live.addEventListener("state", () => {
      if (live.state === "live") this.ask();
    });
    setInterval(() => this.ask(), ASK_EVERY_MS);
    return this.ask();
  }

  /** Ask what is so now. Hints that come meanwhile are one more question, however many they are. */
  ask() {
    this.#again = true;
    this.#asking ??= this.#askUntilQuiet().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #askUntilQuiet() {
    while (this.#again) {
      this.#again = false;
      try {
        await this.#take(this.fetchJson("/api/rooms/mine"));
      } catch {
        return; // what is shown stays until the next hint or turn
      }
    }
  }

  open(table) {
    return this.#take(this.#post("/api/rooms", { id: newId(), table }));
  }

  join(code) {
    return this.#take(this.#post("/api/rooms/join", { code }));
  }

  start() {
    return this.#take(this.#post(`/api/rooms/${this.room.id}/start`, {}));
  }

  /** Leave; returns what that forfeited, minor units. */
  async leave() {
    const answer = await this.#post(`/api/rooms/${this.room.id}/leave`, {});
    this.#show(++this.#asked, { room: null, standing_minor: 0 });
    return answer.forfeited_minor;
  }

  #post(path, body) {
    return postUntilAnswered(path, body, this.sending);
  }

  async #take(request) {
    const number = ++this.#asked;
    this.#show(number, await request);
  }

  /** Show an answer, unless one to a later question is shown already. */
  #show(number, { room, standing_minor: standing }) {
    if (number < this.#taken) return;
    this.#taken = number;
    const before = this.room;
    this.known = true;
    this.room = room;
    this.standingMinor = standing;
    this.dispatchEvent(new CustomEvent("change", { detail: { before, after: room } }));
  }
}

/** What happened between two looks at the same room, as [code, values]. */
export function newsOf(before, after, myId) {
  if (!before || !after || before.id !== after.id) return [];
  const missing = (members, from) => members.filter((one) => !from.some((other) => other.player_id === one.player_id));
  const news = [
    ...missing(after.members, before.members).map(({ name }) => ["joined", { name }]),
    ...missing(before.members, after.members).map(({ name }) => ["left", { name }]),
  ];
  if (before.owner_id !== after.owner_id) {
    news.push(after.owner_id === myId ? ["owner_you", {}] : ["owner", { name: ownerOf(after)?.name ?? "" }]);
  }
  if (before.state === "open" && after.state === "started") news.push(["started", {}]);
  return news;
}

export const ownerOf = (room) => room.members.find((member) => member.owner) ?? null;

/** A player's bets of the room's round, a line a bet: stakes and returns summed. */
export function betsOf(room, playerId) {
  const lines = new Map();
  for (const wager of room.round?.wagers ?? []) {
    if (wager.player_id !== playerId) continue;
    const line = lines.get(wager.bet) ?? { bet: wager.bet, stakeMinor: 0, payoutMinor: 0, ended: true, refunded: true, forfeited: false };
    line.stakeMinor += wager.stake_minor;
    line.payoutMinor += wager.ending?.payout_minor ?? 0;
    line.ended &&= wager.ending !== null;
    line.refunded &&= wager.ending?.kind === "refunded";
    line.forfeited ||= wager.forfeited;
    lines.set(wager.bet, line);
  }
  return [...lines.values()];
}

/** Who left in the middle of the round, with stakes in it: [{player_id, name}]. */
export function goneOf(room) {
  const gone = new Map();
  for (const { player_id: id, name } of room.round?.wagers ?? []) {
    if (!room.members.some((member) => member.player_id === id)) gone.set(id, { player_id: id, name });
  }
  return [...gone.values()];
}

/** Why nothing can be bet at `table`: null, "open" (not started) or "elsewhere". */
export function blockOf(room, table) {
  if (!room) return null;
  if (room.state === "open") return "open";
  return room.table === table ? null : "elsewhere";
}
