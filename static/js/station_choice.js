// Before a table is taken: which tables there are, and who sits there.

import { look } from "./api.js";
import { $, h, icon, setShown } from "./dom.js";
import { errorText } from "./errors.js";
import { t } from "./i18n.js";
import { notify } from "./page.js";

const EVERY_MS = 5000;
const person = Number($("#main").dataset.person);

function row(item) {
  const dealer = item.view.dealer;
  const who = dealer === null ? t("station.free") : dealer.id === person ? t("station.yours") : t("station.taken_by", { name: dealer.name });
  return h(
    "li",
    {},
    h(
      "a",
      { class: "key choice", href: `/station?table=${item.table}`, "data-testid": `table-${item.table}` },
      h("b", { text: item.table }),
      h("span", { text: item.name }),
      h("span", { class: "muted", text: who }),
      icon("chevron-right"),
    ),
  );
}

async function load() {
  try {
    const tables = await look("/api/tables");
    $("#choice").replaceChildren(...tables.map(row));
    setShown($("#empty"), tables.length === 0);
  } catch (error) {
    const line = h("li", {});
    notify(line, "bad", errorText(error));
    $("#choice").replaceChildren(line);
  }
}

load();
setInterval(load, EVERY_MS);
