// The live connection: one socket, any number of tables, never a hole in what is shown.
//
// Per table the page knows (epoch, seq). It asks for everything after that and gets all missed
// events or a snapshot. An event that does not follow on is not applied: the page asks again.
// The socket only listens; bets and commands go by request (api.js).

import { io } from "../vendor/socket.io.esm.min.js";
import { look } from "./api.js";
import { ServerClock } from "./clock.js";

const ACK_MS = 4000;
const CLOCK_EVERY_MS = 5000;
const POLL_EVERY_MS = 3000;
const ASK_AGAIN_MS = 1500;
const WAITING_MAX = 1000;

/** What the page knows of one table. Pure: no network, no clock. */
export class Feed {
  constructor(table) {
    this.table = table;
    this.epoch = null;
    this.seq = null;
    this.view = null;
    this.about = null;
  }

  /** Take a whole snapshot: {table, epoch, seq, view, …}. An older one than is shown is refused. */
  load(snapshot) {
    const older = snapshot.epoch < this.epoch || (snapshot.epoch === this.epoch && snapshot.seq < this.seq);
    if (this.epoch !== null && older) return "old";
    const { view, epoch, seq, ...about } = snapshot;
    this.view = view;
    this.epoch = epoch;
    this.seq = seq;
    this.about = "bets" in about ? about : this.about ?? about;
    return "loaded";
  }

  /** Take one event: `applied`, `old` (seen already), `gap` or `epoch` (ask again). */
  receive({ epoch, seq, patch }) {
    if (this.view === null || epoch > this.epoch) return "epoch";
    if (epoch < this.epoch || seq <= this.seq) return "old";
    if (seq > this.seq + 1) return "gap";
    Object.assign(this.view, patch);
    this.seq = seq;
    return "applied";
  }

  /** Take the answer to "what did I miss": false when something is still missing. */
  take(answer) {
    if (answer.snapshot) {
      this.load(answer.snapshot);
      return true;
    }
    return answer.events.every((event) => ["applied", "old"].includes(this.receive(event)));
  }
}

/** The connection. Events: `state`, `table` (detail: feed), `wallet`, `pit`, `room`, `back`. */
export class Live extends EventTarget {
  #feeds = new Map();
  #waiting = new Map();
  #asking = new Set();
  #watched = new Set();
  #timers = [];

  constructor({ socket = null, fetchJson = look, clock = new ServerClock() } = {}) {
    super();
    this.clock = clock;
    this.state = "connecting";
    this.heardMs = null;
    this.fetchJson = fetchJson;
    this.socket = socket ?? io("/live", {
      transports: ["websocket"],
      reconnectionDelay: 400,
      reconnectionDelayMax: 3000,
      timeout: 5000,
    });
    this.socket.on("connect", () => this.#connected());
    this.socket.on("disconnect", () => this.#dropped());
    this.socket.on("connect_error", () => this.#dropped());
    this.socket.on("event", (envelope) => this.#received(envelope));
    for (const name of ["wallet", "pit", "room"]) {
      this.socket.on(name, (detail) => this.#tell(name, detail));
    }
  }

  /** Start the regular work: clock samples, polling while the socket is down, waking up. */
  start() {
    this.#timers.push(setInterval(() => this.#sampleClock(), CLOCK_EVERY_MS));
    this.#timers.push(setInterval(() => this.#poll(), POLL_EVERY_MS));
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState !== "visible") return;
      this.clock.doubt();
      this.#sampleClock();
      for (const feed of this.#feeds.values()) this.resync(feed);
    });
    this.#sampleClock();
    return this;
  }

  stop() {
    this.#timers.forEach(clearInterval);
    this.socket.disconnect();
  }

  /** Follow a table; returns its feed at once, filled when the answer comes. */
  watch(table) {
    if (!this.#feeds.has(table)) {
      const feed = new Feed(table);
      this.#feeds.set(table, feed);
      this.#waiting.set(table, []);
      this.resync(feed);
    }
    return this.#feeds.get(table);
  }

  /** Say something that may be lost, only while connected: never kept and sent late. */
  say(name, body) {
    if (this.socket.connected) this.socket.volatile.emit(name, body);
  }

  /** Ask something that may be lost, only while connected; null when no answer comes. */
  async ask(name, body) {
    if (!this.socket.connected) return null;
    try {
      return await this.socket.timeout(ACK_MS).emitWithAck(name, body);
    } catch {
      return null;
    }
  }

  /** Ask what was missed; one question at a time per table. */
  async resync(feed) {
    if (this.#asking.has(feed.table)) return;
    this.#asking.add(feed.table);
    const asked = this.socket.connected;
    let complete = false;
    try {
      complete = feed.take(await this.#missed(feed));
      if (!complete) feed.load(await this.fetchJson(`/api/tables/${feed.table}`));
      complete = true;
      this.#heard();
    } catch (error) {
      if (error.status === 401 || error.status === 403) this.#tell("refused", error);
    } finally {
      this.#asking.delete(feed.table);
    }
    if (!complete) {
      setTimeout(() => this.resync(feed), ASK_AGAIN_MS);
      return;
    }
    this.#drain(feed);
    // An answer by request says nothing of this socket: it has to follow the table as well.
    if (this.socket.connected && !this.#watched.has(feed.table)) {
      setTimeout(() => this.resync(feed), asked ? ASK_AGAIN_MS : 0);
    }
    this.#settle();
  }

  async #missed(feed) {
    if (this.socket.connected) {
      const question = { table: feed.table, epoch: feed.epoch, seq: feed.seq };
      try {
        const answer = await this.socket.timeout(ACK_MS).emitWithAck("watch", question);
        if (answer?.snapshot || answer?.events) {
          this.#watched.add(feed.table);
          if (feed.about !== null || answer.snapshot?.bets) return answer;
        }
      } catch {
        // No answer by socket: the same question goes by request below.
      }
    }
    if (feed.epoch === null) return { snapshot: await this.fetchJson(`/api/tables/${feed.table}`) };
    return this.fetchJson(`/api/tables/${feed.table}/events?epoch=${feed.epoch}&after=${feed.seq}`);
  }

  #received(envelope) {
    const feed = this.#feeds.get(envelope.table);
    if (!feed) return;
    if (this.#asking.has(feed.table)) {
      const waiting = this.#waiting.get(feed.table);
      waiting.push(envelope);
      if (waiting.length > WAITING_MAX) waiting.shift();
      return;
    }
    const verdict = feed.receive(envelope);
    this.#heard();
    if (verdict === "applied") this.#tell("table", feed, envelope);
    else if (verdict !== "old") this.resync(feed);
  }

  #drain(feed) {
    const waiting = this.#waiting.get(feed.table).splice(0);
    const followed = waiting.every((event) => ["applied", "old"].includes(feed.receive(event)));
    this.#tell("table", feed);
    if (!followed) this.resync(feed);
  }

  #dropped() {
    this.#watched.clear();
    this.#setState("lost");
  }

  #connected() {
    this.#watched.clear();
    this.#setState("resyncing");
    this.#sampleClock();
    for (const feed of this.#feeds.values()) this.resync(feed);
    this.#settle();
  }

  #settle() {
    const loaded = [...this.#feeds.values()].every((feed) => feed.view !== null);
    const followed = this.#watched.size === this.#feeds.size;
    if (this.socket.connected && followed && this.#asking.size === 0) this.#setState("live");
    else if (!this.socket.connected && loaded) this.#setState("polling");
  }

  #poll() {
    if (this.socket.connected) return;
    for (const feed of this.#feeds.values()) this.resync(feed);
  }

  async #sampleClock() {
    const sentAt = performance.now();
    try {
      const answer = this.socket.connected
        ? await this.socket.timeout(ACK_MS).emitWithAck("clock")
        : await this.fetchJson("/api/clock");
      this.clock.sample(answer.now_ms, sentAt);
      this.#heard();
      if (this.state === "lost") this.#settle();
    } catch {
      this.#setState("lost");
    }
  }

  #heard() {
    this.heardMs = this.clock.now();
  }

  #setState(state) {
    if (this.state === state) return;
    const before = this.state;
    this.state = state;
    this.#tell("state", { state, before });
    if (state === "live" && this.away) this.#tell("back", { before });
    this.away = state === "lost" || (this.away && state !== "live");
  }

  #tell(name, detail, envelope) {
    const event = new CustomEvent(name, { detail });
    event.envelope = envelope;
    this.dispatchEvent(event);
  }
}
