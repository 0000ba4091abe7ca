// What every page does: theme, language, the connection's line, polite announcements.

import { formatTime } from "./clock.js";
import { $, h, icon, renderOnce } from "./dom.js";
import { t } from "./i18n.js";
import { watchSession } from "./session_watch.js";

const YEAR_S = 365 * 24 * 3600;

function darkNow() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : !matchMedia("(prefers-color-scheme: light)").matches;
}

function drawTheme(button) {
  const dark = darkNow();
  button.replaceChildren(icon(dark ? "sun" : "moon"));
  button.setAttribute("aria-label", t(dark ? "common.theme_light" : "common.theme_dark"));
  button.title = button.getAttribute("aria-label");
}

function setUpTheme() {
  const button = $("[data-theme-toggle]");
  if (!button) return;
  drawTheme(button);
  button.addEventListener("click", () => {
    const theme = darkNow() ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    document.cookie = `theme=${theme}; path=/; max-age=${YEAR_S}; samesite=lax`;
    drawTheme(button);
  });
}

/** Say something to screen readers, once. */
export function announce(text) {
  const region = $("#status");
  if (region) region.textContent = text;
}

const ICONS = { live: "wifi", polling: "wifi", connecting: "loader-circle", resyncing: "loader-circle", lost: "wifi-off" };

/** Show the state of the connection in `element`, in words and with a shape. */
export function drawConnection(element, live) {
  const waiting = live.state === "connecting" || live.state === "resyncing";
  const when = live.heardMs === null ? "" : formatTime(live.heardMs);
  const key = live.state === "lost" ? `lost ${when}` : live.state;
  element.dataset.state = live.state;
  const text = live.state === "lost" && when ? t("live.lost_since", { time: when }) : t(`live.${live.state}`);
  renderOnce(element, key, () => [icon(ICONS[live.state], waiting ? "spin" : ""), h("span", { text })]);
}

/** A short message that stays until the next one, or until closed. Kinds: ok, info, warn, bad. */
export function notify(element, kind, text) {
  const symbols = { ok: "circle-check", info: "info", warn: "triangle-alert", bad: "octagon-alert" };
  element.className = `notice ${kind}`;
  element.hidden = false;
  element.replaceChildren(icon(symbols[kind]), h("span", { text }));
}

setUpTheme();
if (document.body.dataset.role) watchSession();
