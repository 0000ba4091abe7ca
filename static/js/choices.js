// What a supervisor may do about a trouble: choices in plain words, with what each does to money.

import { get, look } from "./api.js";
import { h, icon, renderOnce, setShown } from "./dom.js";
import { language, t, tn } from "./i18n.js";
import { formatMoney } from "./money.js";

/** What a choice does to money, before anybody presses it. */
function moneyWords(choice, currency) {
  if (choice.code !== "void") return t("choice.no_money");
  if (!choice.wagers) return t("choice.no_bets");
  return tn("choice.money", choice.wagers, { players: choice.players, amount: formatMoney(choice.refund_minor, currency, language) });
}

/** What a choice does to money, and that another supervisor has to approve it. */
function followsWords(choice, currency) {
  const money = moneyWords(choice, currency);
  return choice.needs_approval ? `${money} ${t("choice.needs_approval")}` : money;
}

const follows = (choice, currency) =>
  h("p", { class: choice.needs_approval ? "notice warn" : "notice", "data-testid": "choice-money" }, choice.needs_approval ? icon("triangle-alert") : null, h("span", { text: followsWords(choice, currency) }));

/** What pressing the button does: a void that takes two is only proposed. */
function deedWords(choice, currency) {
  if (choice.code !== "void") return t(`choice.${choice.code}`);
  return choice.needs_approval ? t("choice.void_proposed") : tn("action.void_confirm", choice.wagers, { amount: formatMoney(choice.refund_minor, currency, language) });
}

const shutWords = (choice) => t("choice.shut", { choice: t(`choice.${choice.code}`), why: t(`choice.not.${choice.why_not}`) });

/** The dialog of the running round's void, whatever has happened; throws words when it is not open. */
export async function voidDialog({ table, round, currency, reason }) {
  const { situations } = await get(`/api/tables/${table}/choices`);
  const choice = situations.flatMap((one) => one.choices).find((one) => one.code === "void");
  if (choice.why_not) throw new Error(shutWords(choice));
  return {
    testid: "void_round-dialog",
    title: t("action.void_round_title"),
    body: [follows(choice, currency), h("p", { class: "small muted", text: t("action.void_what", { round }) })],
    fields: [reason],
    confirm: deedWords(choice, currency),
    danger: true,
  };
}

/** The dialog of a choice: what it does, its money, and the reason, which begins as the situation. */
export function choiceDialog({ situation, choice }, { currency, reason }) {
  const shoeOut = choice.command === "close_shoe";
  const cards = { name: "cards_left", label: t("action.cards_left"), type: "number", min: 0, max: 9999, hint: t("action.cards_left_hint") };
  return {
    testid: "choice-dialog",
    title: t(`choice.${choice.code}`),
    body: [h("p", { text: t(`choice.${choice.code}_what`) }), follows(choice, currency)],
    fields: [...(shoeOut ? [cards] : []), { ...reason, value: t(`situation.${situation}`) }],
    confirm: deedWords(choice, currency),
    danger: ["void", "shoe_out"].includes(choice.code),
  };
}

/** The list of situations and their choices; `run` is called with the chosen one. */
export function makeChoices({ supervisor, currency, run }) {
  const select = h("select", { id: "situation", "data-testid": "situation", "aria-label": t("choice.title"), onchange: draw });
  const list = h("ul", { class: "plain choice-list", "data-testid": "choices" });
  const element = h("div", { class: "field" }, select, list);
  let key = "";
  let answer = null;
  let seen = null;

  function row(situation, choice) {
    const name = t(`choice.${choice.code}`);
    if (choice.why_not) return h("li", { class: "small muted", "data-testid": `shut-${choice.code}`, text: shutWords(choice) });
    const words = h("span", { class: "small", text: `${t(`choice.${choice.code}_what`)} ${followsWords(choice, currency())}` });
    const button = h("button", { type: "button", class: `button ${choice.code === "void" ? "danger" : ""}`, disabled: !supervisor, "data-testid": `choice-${choice.code}`, text: name, onclick: () => run({ situation, choice, round_id: answer.round_id }) });
    return h("li", {}, button, words);
  }

  function draw() {
    const found = answer?.situations.find((one) => one.code === select.value);
    // Drawn anew only when something changed: a card that is dealt must not take a press away.
    renderOnce(list, JSON.stringify(found ?? null), () => (found?.choices ?? []).map((choice) => row(found.code, choice)));
  }

  function fill(table) {
    if (select.dataset.table !== table || answer.seen !== seen) {
      const option = (code, text) => h("option", { value: code, text, selected: code === (answer.seen ?? "") });
      select.replaceChildren(option("", t("choice.pick")), ...answer.situations.map(({ code }) => option(code, t(`situation.${code}`))));
      select.dataset.table = table;
      seen = answer.seen;
    }
    draw();
  }

  return {
    element,
    async update(item, view) {
      setShown(element, view.shoe !== null);
      const wanted = `${item.table}/${item.epoch}/${item.seq}/${item.wagers}`;
      if (wanted === key) return;
      key = wanted;
      try {
        const found = await look(`/api/tables/${item.table}/choices`);
        if (wanted !== key) return;
        answer = found;
        fill(item.table);
      } catch {
        key = ""; // asked again with the next look at the pit
      }
    },
  };
}
