// A room as its members see it: the same on the page of rooms and beside the table.

import { betWords } from "./bet_words.js";
import { copyText } from "./clipboard.js";
import { confirmDialog } from "./dialog.js";
import { h, icon, renderOnce, setShown, setText } from "./dom.js";
import { errorText } from "./errors.js";
import { t } from "./i18n.js";
import { betsOf, goneOf, ownerOf } from "./my_room.js";
import { notify } from "./page.js";
import { plate } from "./plate.js";

export const invitationOf = (room) => `${location.origin}/rooms/join/${room.code}`;

function betEnd(line, money) {
  if (line.forfeited) return t(line.refunded && line.ended ? "room.refunded" : "room.forfeited", { amount: money(line.payoutMinor) });
  if (!line.ended) return null;
  return t(line.refunded ? "room.refunded" : "room.returned", { amount: money(line.payoutMinor) });
}

function betRow(line, money) {
  const end = betEnd(line, money);
  return h(
    "li",
    { class: "room-bet", "data-bet": line.bet, "data-forfeited": String(line.forfeited) },
    h("span", { class: "room-bet-name", text: betWords(line.bet) }),
    h("b", { class: "number", text: money(line.stakeMinor) }),
    end === null ? null : h("span", { class: "room-bet-end small", text: end }),
  );
}

function bets(room, playerId, money) {
  const lines = betsOf(room, playerId);
  if (!lines.length) return h("p", { class: "small muted", text: t("room.no_bets") });
  return h("ul", { class: "plain room-bets" }, ...lines.map((line) => betRow(line, money)));
}

function memberRow(member, { room, me, money }) {
  return h(
    "li",
    { class: "room-member", "data-testid": `member-${member.player_id}` },
    h(
      "div",
      { class: "room-who" },
      plate(member.name, member.plate),
      member.owner ? h("span", { class: "badge" }, icon("crown"), h("span", { text: t("room.owner") })) : null,
      member.player_id === me.id ? h("span", { class: "badge on", text: t("room.you") }) : null,
    ),
    room.state === "started" ? bets(room, member.player_id, money) : null,
  );
}

const goneRow = (gone, { room, money }) =>
  h("li", { class: "room-member", "data-testid": `gone-${gone.player_id}` }, h("p", { class: "muted", text: t("room.gone", { name: gone.name }) }), bets(room, gone.player_id, money));

function invitation() {
  const code = h("p", { class: "room-code", "data-testid": "room-code" });
  const link = h("input", { class: "room-link", readonly: true, "aria-label": t("room.link"), "data-testid": "room-link", onfocus: () => link.select() });
  const said = h("span", { role: "status", class: "small" });
  const copy = h("button", { type: "button", class: "button", "data-testid": "room-copy" }, icon("copy"), h("span", { text: t("room.copy") }));
  copy.addEventListener("click", async () => {
    setText(said, "");
    setText(said, t((await copyText(link.value)) ? "room.copied" : "room.copy_failed"));
  });
  const element = h(
    "div",
    { class: "room-invite" },
    h("p", { class: "small muted", text: t("room.code") }),
    code,
    h("div", { class: "room-link-row" }, link, copy),
    said,
  );
  return {
    element,
    update(room) {
      setText(code, room.code);
      if (link.value !== invitationOf(room)) link.value = invitationOf(room);
    },
  };
}

/** Why the room has not started, to whoever waits for it. */
function startWords(room, me) {
  if (room.state !== "open") return "";
  if (room.owner_id !== me.id) return t("room.start_waits", { owner: ownerOf(room)?.name ?? "" });
  return room.members.length < room.seats_min ? t("room.start_needs", { min: room.seats_min }) : t("room.start_closes");
}

async function askToLeave(mine, money) {
  await mine.ask();
  if (!mine.room) return false;
  if (mine.room.state === "open") return true;
  const stands = mine.standingMinor > 0;
  const body = [stands ? h("p", { text: t("room.leave_stands", { amount: money(mine.standingMinor) }) }) : null, h("p", { text: t("room.leave_started") })].filter(Boolean);
  const confirm = t(stands ? "room.leave_forfeit" : "room.leave_yes");
  return (await confirmDialog({ title: t("room.leave_title"), body, confirm, danger: stands, testid: "leave-room" })) !== null;
}

/**
 * Draw the room of `mine` into `root`; `update()` shows what is known now.
 * me: {id, currency}; money: minor → words; here: the table of this page, or null.
 */
export function makeRoomView(root, mine, { me, money, here = null }) {
  const state = h("span", { class: "badge", "data-testid": "room-state" });
  const where = h("span", { class: "muted" });
  const invite = invitation();
  const count = h("h3", {});
  const members = h("ul", { class: "plain room-members", "data-testid": "room-members" });
  const reason = h("p", { class: "small", id: "room-start-reason", "data-testid": "room-reason" });
  const message = h("div", { hidden: true, "data-testid": "room-message" });
  const start = h("button", { type: "button", class: "button primary", "aria-describedby": "room-start-reason", "data-testid": "room-start", text: t("room.start") });
  const go = h("a", { class: "button", "data-testid": "room-table-link" }, h("span", { text: t("room.to_table") }), icon("chevron-right"));
  const leave = h("button", { type: "button", class: "button", "data-testid": "room-leave" }, icon("log-out"), h("span", { text: t("room.leave") }));
  let busy = false;

  async function carryOut(work) {
    if (busy) return;
    busy = true;
    message.hidden = true;
    update();
    try {
      return await work();
    } catch (error) {
      notify(message, "bad", errorText(error, me.currency));
      message.setAttribute("role", "alert");
      mine.ask();
      return null;
    } finally {
      busy = false;
      update();
    }
  }

  function update() {
    const { room } = mine;
    if (!room) return;
    const open = room.state === "open";
    setText(state, t(`room.state.${room.state}`));
    state.className = `badge ${open ? "closed" : "on"}`;
    setText(where, room.table_name);
    setShown(invite.element, open);
    invite.update(room);
    setText(count, t("room.members", { count: room.members.length, max: room.seats_max }));
    renderOnce(members, JSON.stringify([room.state, room.members, room.round?.wagers]), () => [
      ...room.members.map((member) => memberRow(member, { room, me, money })),
      ...goneOf(room).map((gone) => goneRow(gone, { room, money })),
    ]);
    setText(reason, startWords(room, me));
    setShown(reason, open);
    setShown(start, open && room.owner_id === me.id);
    start.disabled = busy || room.members.length < room.seats_min;
    setShown(go, here !== room.table);
    go.href = `/play/${room.table}`;
    leave.disabled = busy;
  }

  start.addEventListener("click", () => carryOut(() => mine.start()));
  leave.addEventListener("click", async () => {
    const forfeited = await carryOut(async () => ((await askToLeave(mine, money)) ? mine.leave() : null));
    if (forfeited === null) leave.focus();
    else root.dispatchEvent(new CustomEvent("left", { detail: { forfeited } }));
  });
  root.replaceChildren(h("p", { class: "cluster" }, state, where), invite.element, count, members, reason, h("div", { class: "cluster room-actions" }, start, go, leave), message);
  return { update };
}

/** What to say to whoever has left. */
export const leftWords = (forfeited, money) => (forfeited ? t("room.left_forfeited", { amount: money(forfeited) }) : t("room.left"));
