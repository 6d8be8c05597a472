"""Every row of the behaviour tables is named by a test that shows it, or has its reason in writing.

A test names its rows by `@pytest.mark.rows("CX-26", …)`, or its docstring begins with them and a
colon. A mention names none: a comment outlives its test, and "unlike CX-26" shows nothing. Nor does a
test that is skipped somewhere or may fail, or that lies in a class or a file of such tests.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
PAGES = TESTS.parent / "docs/reference/behaviours"
FOLDERS = ("conformance", "doors", "scenario")
"""Where tests go through public doors."""
ROW = re.compile(r"\b(?:(?:CX|ZE|HE|CO|BE|MT)-|easily missed )\d+\b")
OPENING = re.compile(rf"(?:{ROW.pattern}(?:, | and )?)+:")
UNSURE = frozenset({"pytest.mark.skip", "pytest.mark.skipif", "pytest.mark.xfail"})
DEFINED = re.compile(r"^(?:- \*\*|## )((?:CX|CO|HE|ZE|BE|MT)-\d+)\b", re.MULTILINE)
LISTED = re.compile(r"^(\d+)\. ", re.MULTILINE)

REASONS = {
    "CX-4": "How many files a later Codex reads at once. Nobody outside can see that.",
}
"""Rows that no test can show, and why."""


def test_every_row_is_named_by_a_test_or_has_its_reason() -> None:
    assert set() == defined() - covered() - REASONS.keys()


def test_no_row_has_both_a_test_and_an_excuse() -> None:
    assert set() == covered() & REASONS.keys()


def test_every_row_that_a_test_names_is_on_a_page() -> None:
    assert set() == covered() - defined()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("@pytest.mark.rows('CX-1', 'MT-26')\ndef test_it(): ...", {"CX-1", "MT-26"}),
        ("class TestIt:\n @pytest.mark.rows('CX-1')\n async def test_it(self): ...", {"CX-1"}),
        ("def test_it():\n '''CX-1, easily missed 6: so.'''", {"CX-1", "easily missed 6"}),
        ("def test_it():\n '''CX-1: unlike CX-2.'''", {"CX-1"}),
        ("def test_it():\n '''Unlike CX-1: it is so (CX-2).'''", set()),
        ("def test_it(): ...  # CX-1", set()),
        ("# CX-1\ndef test_it(): ...", set()),
        ("'''CX-1.'''\ndef test_it():\n 'CX-2' + ''", set()),
        ("@pytest.mark.rows('CX-1')\ndef helper(): 'CX-2'", set()),
        ("@pytest.mark.skip\n@pytest.mark.rows('CX-1')\ndef test_it(): ...", set()),
        ("@pytest.mark.skipif(x)\n@pytest.mark.rows('CX-1')\ndef test_it(): ...", set()),
        ("@pytest.mark.xfail\n@pytest.mark.rows('CX-1')\ndef test_it(): ...", set()),
        ("@pytest.mark.skip\nclass TestIt:\n def test_it(self):\n  '''CX-1: so.'''", set()),
        ("pytestmark = pytest.mark.skip\n@pytest.mark.rows('CX-1')\ndef test_it(): ...", set()),
        ("pytestmark = [pytest.mark.xfail()]\ndef test_it():\n '''CX-1: so.'''", set()),
    ],
)
def test_a_row_counts_only_where_a_test_that_runs_names_it(source: str, expected: set[str]) -> None:
    assert expected == rows_in(ast.parse(source))


def defined() -> set[str]:
    """Give every row that is on a page."""
    rows = {row for page in PAGES.glob("*.md") for row in DEFINED.findall(_text(page))}
    return rows | {
        f"easily missed {at}" for at in LISTED.findall(_text(PAGES / "easily-missed.md"))
    }


def covered() -> set[str]:
    """Give every row that a test names."""
    paths = [path for folder in FOLDERS for path in (TESTS / folder).rglob("test_*.py")]
    return {row for path in paths for row in rows_in(ast.parse(_text(path)))}


def rows_in(tree: ast.Module | ast.ClassDef) -> set[str]:
    """Give the rows that the test functions of a module or a class name."""
    found: set[str] = set()
    if any(map(_is_unsure, _marks_for_all(tree))):
        return found
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found |= set() if any(map(_is_unsure, node.decorator_list)) else rows_in(node)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            runs = not any(map(_is_unsure, node.decorator_list))
            found |= _named_by(node) if runs and node.name.startswith("test_") else set()
    return found


def _marks_for_all(tree: ast.Module | ast.ClassDef) -> list[ast.expr]:
    values = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
    ]
    return [
        mark
        for value in values
        for mark in (value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value])
    ]


def _is_unsure(mark: ast.expr) -> bool:
    return ast.unparse(mark.func if isinstance(mark, ast.Call) else mark) in UNSURE


def _named_by(test: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    marks = [
        mark
        for mark in test.decorator_list
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.rows"
    ]
    ids = {word.value for mark in marks for word in mark.args if isinstance(word, ast.Constant)}
    opening = OPENING.match(ast.get_docstring(test) or "")
    return {str(row) for row in ids} | set(ROW.findall(opening[0] if opening else ""))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
