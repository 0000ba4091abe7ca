// Warns before a login ends, with one press to stay. What a person does on the page counts as
// being there; what the page asks by itself does not. The studio alone says when the end is.

import { ask, noteSession, post, Refusal } from "./api.js";
import { formatAge } from "./clock.js";
import { $, h, icon, setText } from "./dom.js";
import { t } from "./i18n.js";

const TICK_MS = 1000;
const KEEP_MS = 30_000;
const ASK_EVERY_MS = 5000;
const LATEST_MS = 60_000;
const LAST_MS = 5 * 60_000;

/** What to show: `quiet`, `soon` (by inactivity), `last` (in any case) or `over`. Pure. */
export function stateOf({ idleLeftMs, leftMs, warnMs, put = false }) {
  if (Math.min(idleLeftMs, leftMs) <= 0) return "over";
  if (leftMs <= (put ? LATEST_MS : LAST_MS)) return "last";
  return idleLeftMs <= warnMs ? "soon" : "quiet";
}

const askLeft = () => ask("GET", "/api/session", undefined, { byItself: true });

class Watch {
  #idleEndsAt = Infinity;
  #endsAt = Infinity;
  #warnMs = LATEST_MS;
  #keptAt = performance.now();
  #askedAt = -Infinity;
  #asking = false;
  #ended = false;
  #put = false;
  #shown = "quiet";
  #bar = null;

  start() {
    for (const name of ["pointerdown", "keydown", "wheel", "touchstart"]) {
      addEventListener(name, (event) => this.#did(event), { capture: true, passive: true });
    }
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.#ask(askLeft());
    });
    setInterval(() => this.#tick(), TICK_MS);
    this.#ask(askLeft());
  }

  #did(event) {
    if (!event.isTrusted || this.#ended || performance.now() - this.#keptAt < KEEP_MS) return;
    this.stay();
  }

  /** Tell the studio that somebody is there. */
  stay() {
    this.#keptAt = performance.now();
    return this.#ask(post("/api/session"));
  }

  async #ask(question) {
    if (this.#asking) return;
    this.#asking = true;
    this.#askedAt = performance.now();
    try {
      const answer = await question;
      const now = performance.now();
      this.#idleEndsAt = now + answer.idle_ends_ms - answer.now_ms;
      this.#endsAt = now + answer.ends_ms - answer.now_ms;
      this.#warnMs = answer.warn_ms;
      this.#ended = false;
    } catch (error) {
      // No answer says nothing about the session; a refusal of the login says it is over.
      if (error instanceof Refusal && error.status === 401) this.#ended = true;
    } finally {
      this.#asking = false;
    }
    this.#draw();
  }

  #state() {
    if (this.#ended) return "over";
    const now = performance.now();
    return stateOf({ idleLeftMs: this.#idleEndsAt - now, leftMs: this.#endsAt - now, warnMs: this.#warnMs, put: this.#put });
  }

  #tick() {
    // Another window may have kept the session: ask before warning, and again while it lasts.
    if (this.#state() !== "quiet" && !this.#ended && performance.now() - this.#askedAt > ASK_EVERY_MS) this.#ask(askLeft());
    else this.#draw();
  }

  #draw() {
    const state = this.#state();
    if (state !== this.#shown) this.#show(state);
    if (state === "soon" || state === "last") {
      const leftMs = (state === "soon" ? this.#idleEndsAt : this.#endsAt) - performance.now();
      setText($(".session-left", this.#bar), formatAge(leftMs));
    }
  }

  #show(state) {
    this.#shown = state;
    noteSession(state === "over");
    this.#bar?.remove();
    this.#bar = null;
    if (state === "quiet") return;
    this.#bar = h(
      "section",
      { class: "session-bar", "data-state": state, "data-testid": "session-bar", "aria-label": t("common.session") },
      icon(state === "over" ? "lock" : "timer"),
      h("p", { role: "alert", text: t(`common.session_${state}`) }),
      state === "over" ? null : h("b", { class: "session-left number", "aria-hidden": "true" }),
      this.#way(state),
    );
    $(".skip").after(this.#bar);
  }

  #way(state) {
    if (state === "soon") return h("button", { type: "button", class: "button primary", "data-testid": "session-stay", text: t("common.session_stay"), onclick: () => this.stay() });
    if (state === "last") return h("button", { type: "button", class: "button", "data-testid": "session-later", text: t("common.session_later"), onclick: () => this.#putOff() });
    const here = location.pathname + location.search;
    return h("a", { class: "button primary", "data-testid": "session-login", href: `/login?next=${encodeURIComponent(here)}`, text: t("common.session_login") });
  }

  #putOff() {
    this.#put = true;
    this.#draw();
  }
}

/** Watch the session of whoever is logged in on this page. */
export function watchSession() {
  new Watch().start();
}
