// Questions before what can't be taken back. Focus starts on the way out, never on the deed.

import { $, h } from "./dom.js";
import { t } from "./i18n.js";

/**
 * Ask for a confirmation, with fields if any. Resolves to the field values, or null.
 * fields: [{name, label, type, value, min, max, options, required, hint, rows}], or a field that
 * is made already: {name, element, read}; body stands above them, foot below. `other` is one more
 * way out, {text, testid}: it resolves to {other: true}, whatever the fields hold.
 */
export function confirmDialog({ title, body = [], fields = [], foot = [], confirm, other = null, wide = false, danger = false, focusField = false, testid = "dialog" }) {
  return new Promise((resolve) => {
    const inputs = fields.map((field) => (field.element ? field : makeField(field)));
    const cancel = h("button", { type: "button", class: "button", text: t("common.cancel"), "data-testid": `${testid}-cancel` });
    const act = h("button", { type: "submit", class: `button ${danger ? "danger" : "primary"}`, text: confirm, "data-testid": `${testid}-confirm` });
    const third = other && h("button", { type: "button", class: "button danger", text: other.text, "data-testid": other.testid, onclick: () => end({ other: true }) });
    const form = h(
      "form",
      { class: "dialog-body", method: "dialog", novalidate: false },
      h("h2", { text: title, id: "dialog-title" }),
      ...body,
      ...inputs.map((input) => input.element),
      ...foot,
      h("div", { class: "dialog-actions" }, cancel, third, act),
    );
    const dialog = h("dialog", { class: wide ? "dialog picture-dialog" : "dialog", "aria-labelledby": "dialog-title", "data-testid": testid }, form);
    const end = (answer) => {
      dialog.remove();
      resolve(answer);
    };
    cancel.addEventListener("click", () => dialog.close("cancel"));
    dialog.addEventListener("close", () => end(null));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      end(Object.fromEntries(inputs.map((input) => [input.name, input.read()])));
    });
    document.body.append(dialog);
    dialog.showModal();
    (focusField && inputs.length ? $("input,select,textarea", inputs[0].element) : cancel).focus();
  });
}

function makeField({ name, label, type = "text", value = "", hint = "", options = null, required = true, ...rest }) {
  const id = `field-${name}`;
  const described = hint ? { "aria-describedby": `${id}-hint` } : {};
  const common = { id, name, required, "data-testid": id, ...described, ...rest };
  let input;
  if (options) {
    input = h("select", common, ...options.map(([code, text]) => h("option", { value: code, text, selected: code === value })));
  } else if (type === "textarea") {
    input = h("textarea", { rows: 2, maxlength: 500, text: value, ...common });
  } else {
    input = h("input", { type, value, autocomplete: "off", ...(type === "number" ? { inputmode: "numeric", step: 1 } : {}), ...common });
  }
  const element = h("div", { class: "field" }, h("label", { for: id, text: label }), input, hint ? h("span", { class: "hint", id: `${id}-hint`, text: hint }) : null);
  return { name, element, read: () => (type === "number" ? Number(input.value) : input.value.trim()) };
}
