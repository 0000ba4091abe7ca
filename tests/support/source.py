"""What the product's source says about itself, for tests that must not fall behind it."""

import ast
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType


def codes_raised(modules: Iterable[ModuleType], *, error: str) -> set[str]:
    """Return the literal codes with which these modules make `error`."""
    codes = set()
    for module in modules:
        for node in ast.walk(ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == error
                and node.args
                and isinstance(node.args[0], ast.Constant)
            ):
                codes.add(node.args[0].value)
    return codes
