// Name plates: the same in a room, beside the table and in the shop.

import { h } from "./dom.js";

/** A player's name on the plate that was chosen for it. */
export const plate = (name, code) => h("span", { class: "plate", "data-plate": code ?? "plate_plain", text: name });
