"""The page of errors describes every code that getting skills in may give: people and scripts look them up."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/errors.md").read_text(encoding="utf-8")


def codes_of(package: str) -> set[str]:
    """Give the codes that a package passes to its errors."""
    trees = (
        ast.parse(path.read_text(encoding="utf-8"))
        for path in (ROOT / "src/metier" / package).rglob("*.py")
    )
    return {code for tree in trees for code in _codes(tree)}


def _codes(tree: ast.AST) -> Iterator[str]:
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    values = (keyword.value for call in calls for keyword in call.keywords if keyword.arg == "code")
    parts = (part for value in values for part in ast.walk(value))
    return (
        part.value
        for part in parts
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    )


@pytest.mark.parametrize("package", ["store", "supply"])
def test_every_code_of_a_refused_source_or_a_failed_change_is_described(package: str) -> None:
    codes = codes_of(package)

    missing = {code for code in codes if f"| `{code}` |" not in PAGE}

    assert codes
    assert set() == missing


@pytest.mark.parametrize("code", ["check", "dangerous", "key", "unscanned"])
def test_codes_that_reach_people_in_another_way_are_described_too(code: str) -> None:
    row = f"| `{code}` |"

    described = row in PAGE

    assert described
