// The server's time, as well as this device can know it. The device's own clock is never used.

const SAMPLES_MAX = 8;

/** Keeps the offset of the sample with the shortest round trip among the last few. */
export class ServerClock {
  #samples = [];
  #doubted = false;
  #perf;

  constructor(perf = () => performance.now()) {
    this.#perf = perf;
  }

  /** Take one answer: the server's time, and when the question left here. */
  sample(serverMs, sentAt) {
    const rtt = this.#perf() - sentAt;
    if (this.#doubted) this.#samples = [];
    this.#doubted = false;
    this.#samples.push({ rtt, offset: serverMs + rtt / 2 - this.#perf() });
    if (this.#samples.length > SAMPLES_MAX) this.#samples.shift();
  }

  /** A device that slept may have stopped its monotonic clock: the next sample replaces all. */
  doubt() {
    this.#doubted = true;
  }

  get known() {
    return this.#samples.length > 0;
  }

  get rttMs() {
    return this.known ? Math.min(...this.#samples.map((sample) => sample.rtt)) : null;
  }

  /** The server's time now, milliseconds since 1970 UTC. */
  now() {
    if (!this.known) return Date.now();
    const best = this.#samples.reduce((a, b) => (b.rtt < a.rtt ? b : a));
    return this.#perf() + best.offset;
  }
}

/** Whole seconds left until a deadline; 0 when it has passed here. */
export function secondsLeft(deadlineMs, nowMs) {
  return Math.max(0, Math.ceil((deadlineMs - nowMs) / 1000));
}

const two = (number) => String(number).padStart(2, "0");

/** h:mm:ss of a span. */
export function formatSpan(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

/** Short span: 0:14, 12:03, 1:02:03. */
export function formatAge(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return seconds < 3600 ? `${Math.floor(seconds / 60)}:${two(seconds % 60)}` : formatSpan(ms);
}

// The studio's zone: what a player reads, the pit reads and the recording shows is one time.
const timeZone = document.documentElement.dataset.timeZone || undefined;
const TIME = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZone };
const DATE = { year: "numeric", month: "2-digit", day: "2-digit", timeZone };
const times = new Intl.DateTimeFormat("en-GB", TIME);
// Only this locale knows the short name JST.
const zoned = new Intl.DateTimeFormat(timeZone === "Asia/Tokyo" ? "ja-JP" : "en-GB", { ...TIME, timeZoneName: "short" });
const dates = new Intl.DateTimeFormat("sv-SE", DATE);

/** 21:04:10 in the studio's zone, always 24 hours. */
export const formatTime = (ms) => times.format(ms);
/** 21:04:10 with its zone's name. */
export const formatTimeZone = (ms) => zoned.format(ms);
const minutes = new Intl.DateTimeFormat("en-GB", { ...TIME, second: undefined });
/** 21:04, for charts. */
export const formatMinute = (ms) => minutes.format(ms);
/** 2026-11-29. */
export const formatDate = (ms) => dates.format(ms);
/** 2026-11-29 21:04. */
export const formatDateMinute = (ms) => `${dates.format(ms)} ${minutes.format(ms)}`;
/** 2026-11-29 21:04:10. */
export const formatDateTime = (ms) => `${dates.format(ms)} ${times.format(ms)}`;
