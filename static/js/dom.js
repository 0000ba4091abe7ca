// Small helpers to build what a page shows. Text always goes in as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";
const ICONS = new URL("../vendor/icons.svg", import.meta.url).href;

/** Return an element. `attributes`: on… listeners, class, dataset values, booleans, text. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  assign(element, attributes);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** Return an SVG element. */
export function s(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function assign(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "text") element.textContent = value;
    else if (value === true) element.setAttribute(name, "");
    else element.setAttribute(name, value);
  }
}

/** Return an icon of the shared sprite; it carries no meaning of its own for screen readers. */
export function icon(name, extra = "") {
  return s(
    "svg",
    { class: `icon ${extra}`.trim(), "aria-hidden": "true", focusable: "false" },
    s("use", { href: `${ICONS}#${name}` }),
  );
}

export const $ = (selector, root = document) => root.querySelector(selector);

/** Change text only when it differs, so that live regions and carets are left alone. */
export function setText(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}

/** Show or hide without touching the layout of what stays. */
export function setShown(element, shown) {
  if (element && element.hidden === Boolean(shown)) element.hidden = !shown;
}

/** Replace the children when the key changed; returns whether it did. */
export function renderOnce(element, key, make) {
  if (!element || element.dataset.key === key) return false;
  element.dataset.key = key;
  element.replaceChildren(...[make()].flat());
  return true;
}

/** Values the server wrote into a data block of the page. */
export function dataBlock(id) {
  const block = document.getElementById(id);
  return block ? JSON.parse(block.textContent) : {};
}
