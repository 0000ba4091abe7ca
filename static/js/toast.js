// News that need no answer: shown for a while and said politely. Nothing is only said here.

import { newId } from "./api.js";
import { h, icon, setText } from "./dom.js";
import { t } from "./i18n.js";

const STAYS_MS = 9000;
const SHOWN_MAX = 3;
const KEPT = "studio.toasts";

// There before anything is put into it, or screen readers would miss the first message.
const box = h("div", { class: "toasts", role: "status", "data-testid": "toasts" });
document.body.append(box);

/** What is shown now outlives the page: a started room leads to another one at once. */
function keep(entries) {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(entries));
  } catch {
    // Without storage a message simply ends with its page.
  }
}

function kept() {
  try {
    return (JSON.parse(sessionStorage.getItem(KEPT)) ?? []).filter(({ endsMs }) => endsMs > Date.now());
  } catch {
    return [];
  }
}

function show(entry) {
  const close = h("button", { type: "button", class: "button quiet icon-only", "aria-label": t("common.close") }, icon("x"));
  const element = h("div", { class: "toast", "data-kind": entry.kind }, icon(entry.symbol), h("p", { text: entry.text }), close);
  let timer = null;
  const end = () => {
    element.remove();
    keep(kept().filter(({ id }) => id !== entry.id));
  };
  const stay = () => clearTimeout(timer);
  const wait = (ms) => {
    clearTimeout(timer);
    timer = setTimeout(end, ms);
  };
  for (const kind of ["pointerenter", "focusin"]) element.addEventListener(kind, stay);
  for (const kind of ["pointerleave", "focusout"]) element.addEventListener(kind, () => wait(STAYS_MS));
  close.addEventListener("click", end);
  box.append(element);
  const passing = box.querySelectorAll(".toast:not(.pinned)");
  if (passing.length > SHOWN_MAX) passing[0].remove();
  wait(entry.endsMs - Date.now());
}

/** Show `text` for a while; whoever points at it or has the focus in it keeps it. Kinds: ok, info. */
export function toast(symbol, text, kind = "ok") {
  const entry = { id: newId(), symbol, text, kind, endsMs: Date.now() + STAYS_MS };
  keep([...kept(), entry]);
  show(entry);
}

/** Something that stays until it is over: `update(text, left)` renews it in place, `end()` ends it. */
export function pin(symbol, text) {
  const words = h("p", { text });
  const left = h("b", { class: "number", role: "timer", "aria-live": "off" });
  const element = h("div", { class: "toast pinned", "data-kind": "info", "data-testid": "due" }, icon(symbol), words, left);
  box.append(element);
  return {
    update(now, remains) {
      setText(words, now);
      setText(left, remains);
    },
    end: () => element.remove(),
  };
}

kept().forEach(show);
