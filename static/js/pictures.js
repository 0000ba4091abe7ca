// Pictures of cards that did not read or were held. Opening one is an intervention: the reason first.

import { look, post } from "./api.js";
import { formatTime } from "./clock.js";
import { confirmDialog } from "./dialog.js";
import { $, h, setShown } from "./dom.js";
import { errorText } from "./errors.js";
import { has, t } from "./i18n.js";

/** Why a picture was taken, in words: a reason of a failed read, or a held card's fault. */
export function whyWords({ t, has }, why) {
  const key = [`scan.reason.${why}`, `fault.${why}`].find(has);
  return key ? t(key) : why;
}

/** Ask why, then show the picture; `say` tells what went wrong. */
export async function openPicture({ id, table }, { say }) {
  const reason = { name: "reason", label: t("common.reason"), type: "textarea" };
  const body = [h("p", { text: t("picture.what") })];
  const answer = await confirmDialog({ testid: "picture-reason", title: t("picture.title", { table }), body, fields: [reason], confirm: t("picture.open") });
  if (answer === null) return;
  try {
    show(await post(`/api/pictures/${id}/open`, answer));
  } catch (error) {
    say("bad", errorText(error));
  }
}

/** What a picture shows and when it was taken, for a dialog. */
export function pictureParts(picture) {
  const about = { table: picture.table, time: formatTime(picture.at_ms), why: whyWords({ t, has }, picture.why) };
  const image = (data, key, extra) => h("img", { class: "picture", src: `data:image/jpeg;base64,${data}`, alt: t(key, about), "data-testid": `picture-${extra}` });
  return [
    h("p", { class: "muted", text: t("picture.about", about) }),
    h("div", { class: "picture-pair" }, image(picture.frame, "picture.frame_alt", "frame"), picture.card ? image(picture.card, "picture.card_alt", "card") : h("p", { class: "muted", text: t("picture.no_card") })),
  ];
}

function show(picture) {
  const close = h("button", { type: "submit", class: "button primary", text: t("common.close"), "data-testid": "picture-close" });
  const dialog = h(
    "dialog",
    { class: "dialog picture-dialog", "aria-labelledby": "picture-title", "data-testid": "picture" },
    h(
      "form",
      { class: "dialog-body", method: "dialog" },
      h("h2", { id: "picture-title", text: t("picture.title", picture) }),
      ...pictureParts(picture),
      h("div", { class: "dialog-actions" }, close),
    ),
  );
  // Nothing of it stays on the page: the next look needs a reason of its own.
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  close.focus();
}

/** The list of a table's pictures; `update(item)` loads when another one has come. */
export function makePictures({ supervisor, say }) {
  const list = h("ul", { class: "plain picture-list", "data-testid": "drawer-pictures" });
  const empty = h("p", { class: "muted", text: t("picture.none") });
  const element = h("div", {}, list, empty);
  let key = "";

  const row = (picture) =>
    h(
      "li",
      {},
      h("span", { class: "number", text: formatTime(picture.at_ms) }),
      h("span", { text: whyWords({ t, has }, picture.why) }),
      supervisor ? h("button", { type: "button", class: "button", "data-testid": "picture-open", text: t("picture.button"), onclick: () => openPicture(picture, { say }) }) : null,
    );

  return {
    element,
    async update(item) {
      const wanted = `${item.table}/${item.picture}`;
      if (wanted === key) return;
      key = wanted;
      try {
        const { pictures } = item.picture ? await look(`/api/tables/${item.table}/pictures`) : { pictures: [] };
        if (wanted !== key) return;
        const focused = list.contains(document.activeElement);
        list.replaceChildren(...pictures.map(row));
        if (focused) $("button", list)?.focus();
        setShown(empty, pictures.length === 0);
      } catch {
        key = ""; // asked again with the next look at the pit
      }
    },
  };
}
