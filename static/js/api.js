// The studio's HTTP doors. Everything that moves money or a table goes through here, never by socket.

import { $ } from "./dom.js";

const TIMEOUT_MS = 8000;
const TRIES_MAX = 7;
const WAIT_MS = [400, 800, 1500, 2500, 4000, 6000];
const KEPT = "studio.unanswered";

/** The studio refused, and said why. Nothing was done. */
export class Refusal extends Error {
  constructor(status, { code = "unknown", message = "", details = {} } = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

/** No answer came: the request may or may not have counted. */
export class Unanswered extends Error {}

/** Ask once. Throws Refusal for an answer of 4xx, Unanswered when it is not known what happened. */
export async function ask(method, path, body, { timeoutMs = TIMEOUT_MS, byItself = false } = {}) {
  const headers = { Accept: "application/json" };
  if (byItself) headers["X-By-Itself"] = "1";
  if (method !== "GET") {
    headers["Content-Type"] = "application/json";
    headers["X-CSRFToken"] = $('meta[name="csrf-token"]')?.content ?? "";
  }
  let response;
  let answer;
  try {
    response = await fetch(path, {
      method,
      headers,
      credentials: "same-origin",
      cache: "no-store",
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    answer = await response.json().catch(() => null);
  } catch (cause) {
    throw new Unanswered(path, { cause });
  }
  if (response.ok && answer !== null) return answer;
  if (response.status >= 400 && response.status < 500) {
    throw new Refusal(response.status, answer?.error ?? { code: `http_${response.status}` });
  }
  throw new Unanswered(path);
}

export const get = (path) => ask("GET", path);

let over = false;

/** Note whether the session is over: a page without one has nothing to ask by itself. */
export function noteSession(ended) {
  over = ended;
}

/** Ask what the page wants to know by itself: it keeps no session open. */
export async function look(path) {
  if (over) throw new Refusal(401, { code: "unauthorized" });
  return ask("GET", path, undefined, { byItself: true });
}
export const post = (path, body = {}) => ask("POST", path, body);

/**
 * Post something that carries its own id until an answer comes, always the same id and content,
 * so that it counts once however often it is sent. `onUnknown` is told when it is not known
 * whether it counted; `retry` decides what counts as a reason to go on.
 */
export async function postUntilAnswered(path, body, { onUnknown = () => {}, wait = pause, send = post } = {}) {
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    try {
      return await send(path, body);
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      onUnknown(attempt);
      if (attempt + 1 < TRIES_MAX) await wait(WAIT_MS[Math.min(attempt, WAIT_MS.length - 1)]);
    }
  }
  throw new Unanswered(path);
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** A fresh UUID; plain http on a LAN has no crypto.randomUUID, but always getRandomValues. */
export function newId() {
  if (globalThis.crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** Requests that wait for their answer, kept over a reload of the page. */
export const unanswered = {
  all() {
    try {
      return JSON.parse(sessionStorage.getItem(KEPT)) ?? [];
    } catch {
      return [];
    }
  },
  keep(entry) {
    const others = this.all().filter((kept) => kept.body.id !== entry.body.id);
    sessionStorage.setItem(KEPT, JSON.stringify([...others, entry]));
  },
  forget(id) {
    sessionStorage.setItem(KEPT, JSON.stringify(this.all().filter((kept) => kept.body.id !== id)));
  },
};
