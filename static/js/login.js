// Two ways in: tabs that also work with the arrow keys. A badge reader types into the badge field.

import { $ } from "./dom.js";
import "./page.js";

const tabs = [...document.querySelectorAll('[role="tab"]')];

function choose(tab, { focus = false } = {}) {
  for (const one of tabs) {
    const chosen = one === tab;
    one.setAttribute("aria-selected", String(chosen));
    one.tabIndex = chosen ? 0 : -1;
    document.getElementById(one.getAttribute("aria-controls")).hidden = !chosen;
  }
  if (focus) tab.focus();
}

for (const [index, tab] of tabs.entries()) {
  tab.addEventListener("click", () => {
    choose(tab);
    $("input:not([type=hidden])", document.getElementById(tab.getAttribute("aria-controls"))).focus();
  });
  tab.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    const step = event.key === "ArrowRight" ? 1 : tabs.length - 1;
    choose(tabs[(index + step) % tabs.length], { focus: true });
  });
}

// A reader ends its line with Enter: go on to the PIN instead of sending half a form.
$("#badge").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || $("#pin").value) return;
  event.preventDefault();
  $("#pin").focus();
});
