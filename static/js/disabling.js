// Play that is disabled on demand: everything, or one game; each change asks for a reason.

import { get, post } from "./api.js";
import { formatDateTime } from "./clock.js";
import { confirmDialog } from "./dialog.js";
import { $, h } from "./dom.js";
import { errorText } from "./errors.js";
import { has, t } from "./i18n.js";
import { notify } from "./page.js";

const scopeName = (scope) => (scope === "studio" ? t("admin.scope_studio") : has(`game.${scope}`) ? t(`game.${scope}`) : scope);

function row(scope, off) {
  const state = off ? t("admin.play_off", { by: off.by, time: formatDateTime(off.at_ms), reason: off.reason }) : t("admin.play_on");
  const act = off ? "admin.enable" : "admin.disable";
  return h(
    "tr",
    { "data-testid": `scope-${scope}` },
    h("th", { scope: "row", text: scopeName(scope) }),
    h("td", { text: state }),
    h("td", {}, h("button", { type: "button", class: "button", "data-testid": "set-disabled", text: t(act), onclick: () => change(scope, !off) })),
  );
}

async function change(scope, disabled) {
  const act = disabled ? "admin.disable" : "admin.enable";
  const fields = [{ name: "reason", label: t("common.reason"), type: "textarea" }];
  const answer = await confirmDialog({ testid: "disable-dialog", title: t(`${act}_title`, { scope: scopeName(scope) }), body: [h("p", { class: "small muted", text: t("admin.disabling_hint") })], fields, confirm: t(act), danger: disabled });
  if (!answer) return;
  try {
    show(await post("/api/disabled", { scope, disabled, reason: answer.reason }));
    notify($("#disabling-message"), "ok", t(`${act}_done`, { scope: scopeName(scope) }));
  } catch (error) {
    notify($("#disabling-message"), "bad", errorText(error));
  }
}

function show({ scopes, disabled }) {
  $("#scopes").replaceChildren(...scopes.map((scope) => row(scope, disabled.find((one) => one.scope === scope))));
}

/** Ask what is disabled and show it. */
export async function loadDisabling() {
  try {
    show(await get("/api/disabled"));
  } catch (error) {
    notify($("#disabling-message"), "bad", errorText(error));
  }
}
