// News that need no answer: shown for a while and said politely. Nothing is only said here.

import { newId } from "./api.js";
import { h, icon } from "./dom.js";
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
  if (box.childElementCount > SHOWN_MAX) box.firstElementChild.remove();
  wait(entry.endsMs - Date.now());
}

/** Show `text` for a while; whoever points at it or has the focus in it keeps it. Kinds: ok, info. */
export function toast(symbol, text, kind = "ok") {
  const entry = { id: newId(), symbol, text, kind, endsMs: Date.now() + STAYS_MS };
  keep([...kept(), entry]);
  show(entry);
}

kept().forEach(show);
