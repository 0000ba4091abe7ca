// One table opened in the pit: links, hands, wagers, chart, and what a supervisor may do.

import { look, newId, postUntilAnswered } from "./api.js";
import { positionShort } from "./bet_words.js";
import { cardChip } from "./cards.js";
import { drawGgr } from "./chart.js";
import { choiceDialog, makeChoices, voidDialog } from "./choices.js";
import { formatAge } from "./clock.js";
import { confirmDialog } from "./dialog.js";
import { $, h, icon, setText } from "./dom.js";
import { errorText } from "./errors.js";
import { handWords } from "./felt.js";
import { answerKey, entriesDiffer } from "./key_answer.js";
import { either, has, language, reasonWords, t, tn } from "./i18n.js";
import { formatMoney } from "./money.js";
import { announce, notify } from "./page.js";
import { allowed, tileState } from "./pit_view.js";
import { makePictures } from "./pictures.js";
import { onLookChange } from "./plots.js";
import { reasonField } from "./reasons.js";
import { drawRoad } from "./road.js";
import { makeRounds } from "./rounds_list.js";
import { pairs, wagersTable } from "./roundview.js";
import { scanRows } from "./scan_view.js";

const ACTIONS = ["confirm_key", "void_round", "release_held", "stop", "resume", "free_seat", "lock", "unlock", "close_shoe"];
const PREVIEW_ROWS = 200;

const testId = (name) => (name === "void_round" ? "void" : name.replaceAll("_", "-"));

/** Ask for what an action needs; resolves to the command's values, or null. */
async function question(name, { table, view, currency, picture, chosen }) {
  if (name === "confirm_key") return answerKey({ table, picture, reason: reasonField(name) });
  if (chosen) {
    const answer = await confirmDialog(choiceDialog(chosen, { currency, reason: reasonField(name) }));
    return answer && { ...answer, ...(name === "void_round" ? { round_id: chosen.round_id } : {}) };
  }
  const common = { testid: `${name}-dialog`, title: t(`action.${name}_title`), confirm: t(`action.${name}`), fields: [reasonField(name)] };
  if (name === "void_round") {
    const round_id = view.round.id;
    const answer = await confirmDialog(await voidDialog({ table, round: round_id, currency, reason: reasonField(name) }));
    return answer && { ...answer, round_id };
  }
  if (name === "release_held") {
    const what = view.fault ? t(`fault.${view.fault.code}`) : "";
    const answer = await confirmDialog({ ...common, body: [h("p", { class: "notice warn" }, icon("triangle-alert"), h("span", { text: what })), h("p", { text: t("action.held_what") })] });
    return answer && { ...answer, action: "continue" };
  }
  if (name === "close_shoe") {
    const fields = [{ name: "cards_left", label: t("action.cards_left"), type: "number", min: 0, max: 9999, hint: t("action.cards_left_hint") }, reasonField(name)];
    return confirmDialog({ ...common, fields, danger: true });
  }
  return confirmDialog(common);
}

/** Make the buttons of a table's actions. `run` is called with (command, values). */
export function actionButtons({ view, proposal, fresh, run, busy }) {
  const may = allowed(view, proposal);
  return ACTIONS.filter((name) => may[name]).map((name) =>
    h("button", {
      type: "button",
      class: `button ${name === "void_round" ? "danger" : ""}`,
      "data-testid": testId(name),
      disabled: !fresh || busy,
      text: t(`action.${name}`),
      onclick: () => run(name),
    }),
  );
}

/** Ask and carry out an action; `say` shows the outcome. `chosen`: the choice that it carries out. */
export async function perform(name, { table, view, currency, picture, chosen = null, say }) {
  try {
    const answer = await question(name, { table, view, currency, picture, chosen });
    if (answer === null) return false;
    const { command = name, ...values } = answer;
    if (chosen && command === name) Object.assign(values, { situation: chosen.situation, choice: chosen.choice.code });
    say("info", t("action.sending"));
    const onUnknown = () => say("warn", t("action.waiting"));
    const { waits } = await postUntilAnswered(`/api/tables/${table}/commands`, { id: newId(), command, ...values }, { onUnknown });
    if (command === "confirm_key" && (await entriesDiffer(table))) say("warn", t("key.differs"));
    else if (waits) say("warn", t("action.void_waits"));
    else say("ok", chosen ? t("choice.done", { choice: t(`choice.${chosen.choice.code}`) }) : t(`action.${command}_done`));
    return true;
  } catch (error) {
    say("bad", errorText(error, currency));
    return false;
  }
}

function linkRow(item, name) {
  const link = item.links?.[name] ?? { state: "lost", age_ms: null };
  const age = link.age_ms === null || link.age_ms === undefined ? "–" : formatAge(link.age_ms);
  return h(
    "li",
    { class: "link", "data-state": link.state, "data-testid": `link-${name}` },
    icon(link.state === "up" ? "wifi" : "wifi-off"),
    h("span", { text: t(`link.${name}`) }),
    h("b", { text: t(`link.state.${link.state}`) }),
    h("span", { class: "number muted", text: age }),
  );
}

/** The scanner's own figures; those of a silent one look as old as they are. */
function drawScan(element, link) {
  const rows = scanRows({ t, has }, link);
  const silent = link?.state === "lost";
  element.dataset.stale = String(silent);
  element.replaceChildren(
    ...(silent && rows.length ? [h("p", { class: "scan-stale", text: t("scan.stale", { age: formatAge(link.age_ms ?? 0) }) })] : []),
    rows.length
      ? h("dl", { class: "pairs scan-rows" }, ...rows.flatMap(({ key, label, value, bad }) => [h("dt", { text: label }), h("dd", { text: value, "data-testid": `scan-${key}`, "data-bad": String(bad) })]))
      : h("p", { class: "muted", text: t("scan.nothing") }),
  );
}

function handRow(hand) {
  const cards = Array.from({ length: hand.count }, (_, index) =>
    hand.cards[index] ? cardChip(hand.cards[index]) : h("span", { class: "read-mark", title: t("round.sealed") }, icon("check")),
  );
  return h("li", {}, h("b", { text: positionShort(hand.position) }), ...cards, h("span", { class: "small muted", text: handWords(hand) }));
}

/** The drawer; `update(item, view, about)` redraws what changed, `show` opens and focuses it. */
export function makeDrawer({ root, supervisor, fresh, onDone, currency }) {
  const title = $("#drawer-title", root);
  const message = h("p", { class: "notice", hidden: true, "data-testid": "drawer-message" });
  const actions = h("div", { class: "cluster drawer-actions" });
  const facts = h("div", {});
  const links = h("ul", { class: "plain links" });
  const scan = h("div", { class: "scan", "data-testid": "drawer-scan" });
  const hands = h("ul", { class: "plain drawer-hands", "data-testid": "drawer-hands" });
  const roundLink = h("p", {});
  const wagers = h("div", { "data-testid": "drawer-wagers" });
  const chart = h("div", { class: "chart", "data-testid": "chart" });
  let newest = [];
  const drawChart = () => drawGgr(chart, newest, currency());
  const rounds = makeRounds({
    currency,
    onRounds(list) {
      newest = list;
      drawChart();
    },
  });
  const road = h("div", {});
  const say = (kind, text) => {
    notify(message, kind, text);
    announce(text);
  };
  const pictures = makePictures({ supervisor, say });
  const choices = makeChoices({ supervisor, currency, run: (chosen) => run(chosen.choice.command, chosen) });
  const part = (key, ...content) => h("section", { class: "drawer-part" }, h("h3", { text: t(key) }), ...content);
  $("#drawer-body", root).append(
    message,
    part("choice.title", choices.element),
    actions,
    h("div", { class: "drawer-columns" }, part("pit.table", facts), part("pit.links", links), part("scan.title", scan), part("picture.list", pictures.element), part("pit.round", hands, roundLink), part("pit.road", road), part("pit.ggr", chart), part("round.wagers", wagers), part("pit.rounds", rounds.element)),
  );
  onLookChange(drawChart);
  let shown = null;
  let busy = false;
  let wagersKey = "";

  async function run(name, chosen = null) {
    if (busy || !shown) return;
    busy = true;
    await perform(name, { table: shown.item.table, picture: shown.item.read_picture, view: shown.view, currency: currency(), chosen, say });
    busy = false;
    wagersKey = "";
    await onDone();
  }

  async function drawWagers(item, view) {
    const round = view.round;
    const key = `${round?.id}/${view.phase}/${item.wagers}`;
    if (key === wagersKey) return;
    wagersKey = key;
    if (!round) {
      wagers.replaceChildren(h("p", { class: "muted", text: t("round.no_wagers") }));
      return;
    }
    try {
      const answer = await look(`/api/rounds/${round.id}/wagers`);
      if (key === wagersKey) wagers.replaceChildren(wagersTable(answer.wagers.slice(-PREVIEW_ROWS), currency()));
    } catch (error) {
      wagersKey = "";
      wagers.replaceChildren(h("p", { class: "muted", text: errorText(error) }));
    }
  }

  function drawActions(view, { proposal }) {
    const key = JSON.stringify([allowed(view, proposal), fresh(), busy, supervisor]);
    if (actions.dataset.key === key) return;
    actions.dataset.key = key;
    if (!supervisor) actions.replaceChildren(h("p", { class: "muted small", text: t("pit.read_only") }));
    else actions.replaceChildren(...actionButtons({ view, proposal, fresh: fresh(), run, busy }));
  }

  function drawFacts(item, view) {
    const list = [
      [t("pit.game"), either(`game.${view.game}`, "game.other")],
      [t("pit.state_label"), t(`pit.state.${tileState(view)}`)],
      [t("pit.dealer"), view.dealer?.name ?? t("pit.no_dealer")],
      [t("pit.bets_label"), String(item.wagers ?? 0)],
      [t("pit.stake"), formatMoney(item.stake_minor ?? 0, currency(), language)],
      [t("pit.exposure"), formatMoney(item.exposure_minor ?? 0, currency(), language)],
    ];
    const shoe = view.shoe;
    if (shoe) list.splice(3, 0, [t("pit.shoe_label"), t("pit.shoe_counts", { number: shoe.number, in_shoe: shoe.in_shoe, dealt: shoe.dealt, burnt: shoe.burnt, of: shoe.registered })], [t("pit.cut_card"), t(shoe.cut_card_out ? "pit.cut_out" : "pit.cut_in")]);
    if (view.locked) list.push([t("pit.locked"), reasonWords(view.locked.reason)]);
    facts.replaceChildren(pairs(list));
  }

  return {
    say,
    run,
    update(item, view, about) {
      if (shown && shown.item.table !== item.table) {
        message.hidden = true;
        delete road.dataset.key; // another table's road of the same length is another road
      }
      shown = { item, view };
      setText(title, `${item.table} ${view.name ?? ""}`);
      drawActions(view, item);
      drawFacts(item, view);
      links.replaceChildren(...["scanner", "station", "video"].map((name) => linkRow(item, name)));
      drawScan(scan, item.links?.scanner);
      pictures.update(item);
      choices.update(item, view);
      hands.replaceChildren(...(view.round?.hands ?? []).map(handRow));
      roundLink.replaceChildren(
        view.round
          ? h("a", { class: "button", href: `/pit/rounds/${view.round.id}`, "data-testid": "open-round", text: t("pit.open_round", { id: view.round.id }) })
          : h("span", { class: "muted", text: t("pit.no_round") }),
      );
      drawRoad(road, view.road, [...new Set((view.road[0]?.marks ?? []).map((mark) => mark.position))], about?.road_kind);
      rounds.update(item, view);
      drawWagers(item, view);
    },
    show() {
      root.hidden = false;
      root.scrollIntoView({ block: "nearest" });
      $("#drawer-close", root).focus();
    },
    hide() {
      root.hidden = true;
    },
  };
}
