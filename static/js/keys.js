// Keys at the station. A badge or card scanner is a keyboard that ends its line with Enter: it must
// never press a button, whatever has the focus. Function keys do what their buttons do.

const BURST_MS = 45;
const BURST_KEYS = 4;

/** Tells a scanner's burst of keys from a person's. */
export class BurstDetector {
  #last = -Infinity;
  #run = 0;

  /** Note one printable key; returns nothing. */
  key(atMs) {
    this.#run = atMs - this.#last <= BURST_MS ? this.#run + 1 : 1;
    this.#last = atMs;
  }

  /** True when an Enter at this time ends a scanner's line. */
  ends(atMs) {
    return this.#run >= BURST_KEYS && atMs - this.#last <= BURST_MS * 4;
  }
}

/** Set up the page's keys; `actions` maps F-keys to buttons. */
export function guardKeys(actions) {
  const burst = new BurstDetector();
  let byTab = false;
  addEventListener("pointerdown", () => { byTab = false; }, { capture: true });
  addEventListener(
    "keydown",
    (event) => {
      const button = actions[event.key];
      if (button) {
        event.preventDefault();
        if (!event.repeat && !document.querySelector("dialog[open]") && !button.hidden) button.click();
        return;
      }
      if (event.key === "Tab") byTab = true;
      if (event.key.length === 1 && event.key !== " ") burst.key(event.timeStamp);
      if (event.key !== "Enter" && event.key !== " ") return;
      const typing = event.target.closest("input,select,textarea");
      const scanner = burst.ends(event.timeStamp);
      if (scanner || (!typing && !byTab)) {
        event.preventDefault();
        event.stopImmediatePropagation();
      }
    },
    { capture: true },
  );
  // Space fires on keyup; an untouched button must not take it either.
  addEventListener("keyup", (event) => { if (event.key === " " && !byTab && !event.target.closest("input,select,textarea")) event.preventDefault(); }, { capture: true });
  // A click leaves the focus where it was, so that the next Enter meets no button.
  for (const button of document.querySelectorAll(".key")) {
    button.addEventListener("pointerdown", (event) => event.preventDefault());
  }
}
