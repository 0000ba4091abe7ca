// The room beside the table: who is in it, what each has bet, and why nothing can be bet yet.

import { $, h, icon, setShown, setText } from "./dom.js";
import { t } from "./i18n.js";
import { blockOf, newsOf, ownerOf } from "./my_room.js";
import { leftWords, makeRoomView } from "./room_view.js";
import { toast } from "./toast.js";

function blockWords(room, block) {
  if (block === "elsewhere") return t("room.blocked_elsewhere", { table: room.table_name });
  return t("room.blocked_open", { owner: ownerOf(room)?.name ?? "" });
}

/** Fill the panel; returns `blocked()`: why nothing can be bet at this table, in words, or null. */
export function makeRoomPanel(root, mine, { me, money, table, bar, onChange }) {
  const inRoom = h("div", { class: "stack", hidden: true });
  const alone = h(
    "div",
    { class: "stack" },
    h("p", { class: "muted", text: t("room.alone") }),
    h("p", {}, h("a", { class: "button", href: "/rooms", "data-testid": "to-rooms" }, icon("users"), h("span", { text: t("room.to_rooms") }))),
  );
  const said = h("p", { role: "status", "data-testid": "room-said" });
  const why = h("span", { "data-testid": "room-block" });
  const line = h("p", { class: "room-block", hidden: true }, icon("lock"), why);
  const view = makeRoomView(inRoom, mine, { me, money, here: table });
  root.replaceChildren(inRoom, alone, said);
  bar.after(line);

  const block = () => blockOf(mine.room, table);
  const blocked = () => (block() ? blockWords(mine.room, block()) : null);
  mine.addEventListener("change", ({ detail: { before, after } }) => {
    setShown(inRoom, after !== null);
    setShown(alone, after === null);
    view.update();
    setText(why, blocked() ?? "");
    setShown(line, blocked() !== null);
    for (const [code, values] of newsOf(before, after, me.id)) toast("users", t(`room.news.${code}`, values));
    if (after) setText(said, "");
    onChange();
  });
  inRoom.addEventListener("left", ({ detail: { forfeited } }) => {
    setText(said, leftWords(forfeited, money));
    $("a", alone).focus();
  });
  return { blocked };
}
