"""Measures a page: sizes, overlaps, sideways scrolling, contrast as it is painted."""

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page

from tests.browser.windows import Window

SIZES = ((360, 640), (1280, 720), (1920, 1080))

CONTRAST = """(root) => {
  const rgb = (text) => {
    const found = /rgba?\\(([^)]+)\\)/.exec(text);
    if (!found) return null;
    const [r, g, b, a = "1"] = found[1].split(/[ ,\\/]+/).filter(Boolean);
    return [Number(r), Number(g), Number(b), a.endsWith("%") ? parseFloat(a) / 100 : Number(a)];
  };
  const over = (top, under) => top.slice(0, 3).map((c, i) => c * top[3] + under[i] * (1 - top[3]));
  const light = (color) => {
    const [r, g, b] = color.map((c) => {
      const s = c / 255;
      return s <= 0.03928 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => {
    const [high, low] = [light(a), light(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };
  // Every colour the ground may have here: a gradient counts with each of its stops.
  const grounds = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      const stops = style.backgroundImage.includes("gradient(")
        ? [...style.backgroundImage.matchAll(/rgba?\\([^)]+\\)/g)].map((one) => rgb(one[0]))
        : [];
      const plain = rgb(style.backgroundColor);
      if (stops.length) layers.push(stops);
      else if (plain && plain[3] > 0) layers.push([plain]);
      if (layers.at(-1)?.every((one) => one[3] === 1)) break;
    }
    let seen = [[255, 255, 255]];
    for (const layer of layers.reverse()) {
      seen = layer.flatMap((top) => seen.map((under) => over(top, under)));
    }
    return seen;
  };
  const faint = (element) => {
    for (let at = element; at; at = at.parentElement) {
      if (Number(getComputedStyle(at).opacity) < 1) return true;
    }
    return false;
  };
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const poor = [];
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const element = walker.currentNode.parentElement;
    if (!text || !element.checkVisibility({ checkVisibilityCSS: true })) continue;
    if (element.closest(".sr, :disabled, script, .card, .chip")) continue;
    if (faint(element)) continue;
    const style = getComputedStyle(element);
    const ink = rgb(style.color);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const worst = Math.min(...grounds(element).map((ground) => ratio(over(ink, ground), ground)));
    if (worst >= (large ? 3 : 4.5)) continue;
    poor.push(`${text.slice(0, 30)} ${worst.toFixed(2)} (${size}px)`);
  }
  return [...new Set(poor)];
}"""

SIDEWAYS = """() => {
  const width = document.documentElement.clientWidth;
  const wide = [...document.body.querySelectorAll("*")].filter((one) => {
    const box = one.getBoundingClientRect();
    const clipped = one.closest(".scroll, .road-grid, .card, .sr, dialog, .chart");
    return !clipped && box.width > 0 && box.right > width + 1 && one.checkVisibility();
  });
  const scroll = document.documentElement.scrollWidth - width;
  return { scroll, wide: wide.map((one) => one.outerHTML.slice(0, 90)) };
}"""

CUT_OFF = """(root) => {
  const parts = root.querySelectorAll("button, .phase, .say p, .say-now, .cell, dd, .tile span");
  return [...parts]
    .filter((one) => one.checkVisibility() && !one.closest(".sr, .scroll"))
    .map((one) => [one, getComputedStyle(one)])
    .filter(([, style]) => style.clipPath === "none" && style.display !== "inline")
    .filter(([one]) => one.scrollWidth > one.clientWidth + 1)
    .map(([one]) => `${one.dataset.testid ?? one.className}: ${one.innerText.slice(0, 40)}`);
}"""

OVERLAPS = """(testids) => {
  const boxes = testids.map((testid) => {
    const found = document.querySelectorAll(`[data-testid="${testid}"]`);
    if (found.length !== 1) throw new Error(`${testid} is there ${found.length} times`);
    return [testid, found[0].getBoundingClientRect(), getComputedStyle(found[0]).visibility];
  }).filter(([, box, seen]) => box.width > 0 && box.height > 0 && seen === "visible");
  const cross = (one, other) =>
    one.right > other.left + 1 && other.right > one.left + 1 &&
    one.bottom > other.top + 1 && other.bottom > one.top + 1;
  return boxes.flatMap(([one, at], index) =>
    boxes.slice(index + 1).filter(([, box]) => cross(at, box)).map(([other]) => [one, other]));
}"""

TARGETS = """(root) => {
  const parts = root.querySelectorAll("button, a.button, a[href], summary, .chip, .check");
  return [...parts]
    .filter((one) => one.checkVisibility() && !one.closest(".sr, .skip, p, td, li .small"))
    .map((one) => [one, one.getBoundingClientRect()])
    .filter(([, box]) => Math.min(box.width, box.height) < 43.5)
    .map(([one, box]) => `${one.outerHTML.slice(0, 80)} ${box.width | 0}x${box.height | 0}`);
}"""


def check(window: Window, parts: list[str], *, also: Callable[[int], None] | None = None) -> None:
    """Measure a page in every size and both colour schemes."""
    page = window.page
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            assert poor_contrast(page) == [], f"{page.url} {width} {scheme}"
        assert sideways(page) == {"scroll": 0, "wide": []}, f"{page.url} at {width}"
        assert overlaps(page, parts) == [], f"{page.url} at {width}"
        assert cut_off(page) == [], f"{page.url} at {width}"
        assert small_targets(page) == [], f"{page.url} at {width}"
        if also is not None:
            also(width)


def font_px(window: Window, testid: str) -> float:
    return float(window(testid).evaluate("one => parseFloat(getComputedStyle(one).fontSize)"))


def height_px(window: Window, testid: str) -> float:
    box = window(testid).bounding_box()
    assert box is not None
    return box["height"]


def poor_contrast(page: Page) -> list[str]:
    """Return texts whose contrast is below 4.5 (3 for large ones), disabled ones left out."""
    found: list[str] = page.locator("body").evaluate(CONTRAST)
    return found


def sideways(page: Page) -> dict[str, Any]:
    """Return by how many px the page scrolls sideways, and what is too wide."""
    found: dict[str, Any] = page.evaluate(SIDEWAYS)
    return found


def cut_off(page: Page) -> list[str]:
    """Return controls and main texts whose words do not fit into their box."""
    found: list[str] = page.locator("main").evaluate(CUT_OFF)
    return found


def small_targets(page: Page) -> list[str]:
    """Return what is pressed and smaller than 44 px in one direction."""
    found: list[str] = page.locator("body").evaluate(TARGETS)
    return found


def overlaps(page: Page, testids: list[str]) -> list[list[str]]:
    """Return pairs of visible parts that lie over each other; each part is there once."""
    found: list[list[str]] = page.evaluate(OVERLAPS, sorted(testids))
    return found
