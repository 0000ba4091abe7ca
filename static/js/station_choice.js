// Before a table is taken: which tables there are, who sits there, and which the dealer may open.

import { look } from "./api.js";
import { $, h, icon, renderOnce, setShown } from "./dom.js";
import { errorText } from "./errors.js";
import { either, t } from "./i18n.js";
import { notify } from "./page.js";

const EVERY_MS = 5000;
const person = Number($("#main").dataset.person);

function whoWords(dealer) {
  if (dealer === null) return t("station.free");
  return dealer.id === person ? t("station.yours") : t("station.taken_by", { name: dealer.name });
}

function row({ table, name, game, dealer }, games) {
  // Whoever has the table plays its round to the end, qualified or not.
  const open = games.includes(game) || dealer?.id === person;
  const about = { class: "key choice", "data-testid": `table-${table}` };
  const words = [h("b", { text: table }), h("span", { text: name }), h("span", { class: "muted", text: whoWords(dealer) })];
  if (open) return h("li", {}, h("a", { ...about, href: `/station?table=${table}` }, ...words, icon("chevron-right")));
  const reason = t("station.not_qualified", { game: either(`game.${game}`, "game.other") });
  return h("li", {}, h("a", { ...about, role: "link", "aria-disabled": "true" }, ...words, h("span", { class: "choice-reason", text: reason })));
}

async function load() {
  const choice = $("#choice");
  try {
    const [tables, me] = await Promise.all([look("/api/tables"), look("/api/me")]);
    const rows = tables.map(({ table, name, game, view }) => ({ table, name, game, dealer: view.dealer }));
    // Drawn anew only when something changed, so that the focus stays where it is.
    renderOnce(choice, JSON.stringify([rows, me.games]), () => rows.map((one) => row(one, me.games)));
    setShown($("#empty"), tables.length === 0);
  } catch (error) {
    const line = h("li", {});
    notify(line, "bad", errorText(error));
    renderOnce(choice, line.textContent, () => line);
  }
}

load();
setInterval(load, EVERY_MS);
