"""Asks axe-core what on a page keeps people out who hear, point or see differently."""

from typing import Any, Final

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

RULES: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
"""What AA asks for, every version up to 2.2."""


def barriers(page: Page) -> list[str]:
    """Return each violation with the parts that it was found in."""
    options = {"runOnly": RULES, "resultTypes": ["violations"]}
    found: list[Any] = Axe().run(page, options=options).response["violations"]
    return [f"{one['id']}: {[node['target'] for node in one['nodes']]}" for one in found]
