// A round as one signed file: asked for with a reason, saved by the browser.

import { post } from "./api.js";
import { confirmDialog } from "./dialog.js";
import { h } from "./dom.js";
import { errorText } from "./errors.js";
import { t } from "./i18n.js";

function save(content, name) {
  const url = URL.createObjectURL(new Blob([JSON.stringify(content)], { type: "application/json" }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  URL.revokeObjectURL(url);
}

/** The button by which the house takes a round that has ended; `say(kind, text)` tells how it went. */
export function evidenceButton(round, say) {
  const take = async () => {
    const fields = [{ name: "reason", label: t("common.reason"), type: "textarea" }];
    const body = [h("p", { class: "small muted", text: t("evidence.what") })];
    const answer = await confirmDialog({ testid: "evidence-dialog", title: t("evidence.title", { round }), body, fields, confirm: t("evidence.take") });
    if (!answer) return;
    try {
      save(await post(`/api/rounds/${round}/bundle`, { reason: answer.reason }), `${round}.json`);
      say("ok", t("evidence.done"));
    } catch (error) {
      say("bad", errorText(error));
    }
  };
  return h("button", { type: "button", class: "button", "data-testid": "take-evidence", text: t("evidence.take"), onclick: take });
}
