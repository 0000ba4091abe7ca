// People, cash and deck sets. Cash carries the client's id, so that it is booked once.

import { get, newId, post, postUntilAnswered, Unanswered } from "./api.js";
import { confirmDialog } from "./dialog.js";
import { loadDisabling } from "./disabling.js";
import { $, h, renderOnce, setShown, setText } from "./dom.js";
import { errorText } from "./errors.js";
import { has, language, t } from "./i18n.js";
import { formatMoney, parseMinor } from "./money.js";
import { settleOwed } from "./owed.js";
import { notify } from "./page.js";

let currency = { code: "PLAY", decimals: 0 };
let cashId = newId();
let allGames = [];
const money = (minor) => formatMoney(minor, currency, language);
const list = (answer, name) => (Array.isArray(answer) ? answer : answer[name] ?? []);

const gameName = (code) => (has(`game.${code}`) ? t(`game.${code}`) : code);
const gameNames = (codes) => codes.map(gameName).join(", ") || t("admin.no_games");

/** A box to check for each registered game. */
const gameBoxes = (checked, testid) =>
  allGames.map((code) => h("label", {}, h("input", { type: "checkbox", name: "games", value: code, checked: checked.includes(code), "data-testid": `${testid}-${code}` }), h("span", { text: gameName(code) })));

function roleCell(person) {
  const games = person.games ? h("span", { class: "small muted", "data-testid": "games", text: ` ${gameNames(person.games)}` }) : null;
  return h("td", {}, t(`role.${person.role}`), games);
}

function balanceCell({ balance_minor: balance, owed_minor: owed }) {
  const amount = typeof balance === "number" ? money(balance) : "–";
  return h("td", { class: "number" }, amount, owed ? h("span", { class: "small owes", "data-testid": "owes", text: t("owed.owes", { owed: money(owed) }) }) : null);
}

function personRow(person) {
  const name = person.display_name ?? person.name;
  return h(
    "tr",
    { "data-testid": `person-${person.username ?? person.id}` },
    h("td", { class: "number", text: String(person.id) }),
    h("td", { text: person.username ?? "–" }),
    h("td", { text: name }),
    roleCell(person),
    h("td", { text: has(`language.${person.language}`) ? t(`language.${person.language}`) : "–" }),
    balanceCell(person),
    h("td", {}, h(
      "div",
      { class: "row-actions" },
      person.owed_minor ? h("button", { type: "button", class: "button", "data-testid": "settle-owed", text: t("owed.settle"), onclick: () => settle(person) }) : null,
      person.games ? h("button", { type: "button", class: "button", "data-testid": "set-games", text: t("admin.games"), onclick: () => setGames(person) }) : null,
      h("button", { type: "button", class: "button", "data-testid": "set-password", text: t("admin.new_password"), onclick: () => setPassword(person) }),
      h("button", { type: "button", class: "button", "data-testid": "set-active", text: t(person.active ? "admin.deactivate" : "admin.activate"), onclick: () => setActive(person) }),
    )),
  );
}

/** Change a person after a question; what was done or refused is said under the list. */
async function change(person, values, done, more = {}) {
  try {
    await post(`/api/people/${person.id}`, values);
    await loadPeople();
    notify($("#people-message"), "ok", t(done, { name: person.display_name, ...more }));
  } catch (error) {
    notify($("#people-message"), "bad", errorText(error));
  }
}

async function setPassword(person) {
  const fields = [{ name: "password", label: t("admin.new_password"), type: "password", minlength: 10, autocomplete: "new-password", hint: t("admin.password_hint") }];
  const answer = await confirmDialog({ testid: "password-dialog", title: t("admin.new_password_title", { name: person.display_name }), fields, confirm: t("admin.new_password"), focusField: true });
  if (answer) await change(person, answer, "admin.password_set");
}

async function setActive(person) {
  const act = person.active ? "admin.deactivate" : "admin.activate";
  const answer = await confirmDialog({ testid: "active-dialog", title: t(`${act}_title`, { name: person.display_name }), confirm: t(act), danger: person.active });
  if (answer) await change(person, { active: !person.active }, `${act}_done`);
}

async function setGames(person) {
  const boxes = h("fieldset", { class: "checks" }, h("legend", { text: t("admin.games") }), h("div", { class: "checks-list" }, ...gameBoxes(person.games, "games")));
  const answer = await confirmDialog({ testid: "games-dialog", title: t("admin.games_title", { name: person.display_name }), body: [boxes, h("p", { class: "small muted", text: t("admin.games_hint") })], confirm: t("admin.games_save") });
  if (!answer) return;
  const games = [...boxes.querySelectorAll("input:checked")].map((box) => box.value);
  await change(person, { games }, "admin.games_set", { games: gameNames(games) });
}

async function settle(person) {
  const message = $("#people-message");
  try {
    const done = await settleOwed(person, { currency, onUnknown: () => notify(message, "warn", t("admin.cash_waiting")) });
    if (done) notify(message, "ok", done);
  } catch (error) {
    notify(message, error instanceof Unanswered ? "warn" : "bad", errorText(error, currency));
  }
  await loadPeople();
}

async function loadPeople() {
  const { people, games } = await get("/api/people");
  allGames = games;
  renderOnce($("#new-games"), games.join(), () => gameBoxes([], "new-game"));
  $("#people").replaceChildren(...people.map(personRow));
  const chosen = $("#player_id").value;
  $("#player_id").replaceChildren(
    ...people.filter((person) => person.role === "player").map((person) => h("option", { value: person.id, text: `${person.display_name ?? person.name} (${person.username ?? person.id})`, selected: String(person.id) === chosen })),
  );
}

async function loadDeckSets() {
  const sets = list(await get("/api/deck-sets"), "deck_sets");
  $("#deck-sets").replaceChildren(...sets.map((one) => h("tr", {}, h("td", { text: String(one.number) }), h("td", { class: "number", text: String(one.decks) }), h("td", { class: "number", text: String(one.cards) }))));
  setShown($("#no-decks"), sets.length === 0);
}

const noticeOf = (form) => $(".notice", form);

/** Send a form; buttons rest while the answer is waited for. */
async function submit(form, send) {
  const button = $("button[type=submit]", form);
  button.disabled = true;
  try {
    notify(noticeOf(form), "ok", await send(new FormData(form)));
  } catch (error) {
    notify(noticeOf(form), error instanceof Unanswered ? "warn" : "bad", errorText(error, currency));
  } finally {
    button.disabled = false;
  }
}

async function createPerson(data) {
  const body = Object.fromEntries([...data].filter(([, value]) => value !== ""));
  if (body.role === "player") {
    delete body.badge;
    delete body.pin;
  }
  delete body.games;
  if (body.role === "dealer") body.games = data.getAll("games");
  await post("/api/people", body);
  $("#person-form").reset();
  showWhatTheRoleHas();
  await loadPeople();
  return t("admin.created", { name: body.display_name });
}

async function bookCash(data) {
  const amount = parseMinor(String(data.get("amount")), currency.decimals);
  $("#amount").setAttribute("aria-invalid", String(amount === null));
  if (amount === null) throw new Error(t("admin.amount_wrong"));
  const body = { id: cashId, player_id: Number(data.get("player_id")), direction: data.get("direction"), amount_minor: amount, reason: data.get("reason") };
  const after = await postUntilAnswered("/api/cash", body, { onUnknown: () => notify(noticeOf($("#cash-form")), "warn", t("admin.cash_waiting")) });
  cashId = newId();
  $("#amount").value = "";
  await loadPeople();
  const booked = t(`admin.booked_${body.direction}`, { amount: money(amount) });
  return after.owed_minor ? `${booked} ${t("owed.still", { owed: money(after.owed_minor) })}` : booked;
}

function showWhatTheRoleHas() {
  const role = $("#role").value;
  setShown($("#badge-row"), role !== "player");
  setShown($("#games-row"), role === "dealer");
}

async function start() {
  for (const [id, send] of [["person-form", createPerson], ["cash-form", bookCash]]) {
    const form = document.getElementById(id);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      submit(form, send);
    });
  }
  // Other values are another booking: only the same booking may be sent again under its id.
  $("#cash-form").addEventListener("input", () => { cashId = newId(); });
  $("#role").addEventListener("change", showWhatTheRoleHas);
  showWhatTheRoleHas();
  const me = await get("/api/me").catch(() => null);
  currency = me?.currency ?? currency;
  setText($("label[for=amount]"), t("admin.amount_in", { currency: currency.code }));
  await loadPeople().catch((error) => notify(noticeOf($("#person-form")), "bad", errorText(error)));
  await loadDisabling();
  await loadDeckSets().catch((error) => notify($("#deck-message"), "bad", errorText(error)));
}

start();
