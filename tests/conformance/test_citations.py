"""Whatever a comment, a docstring or a page cites can be opened in docs/reference/behaviours."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROWS = ROOT / "docs/reference/behaviours"
DEFINED = re.compile(r"^(?:- \*\*|## )((?:CX|CO|HE|ZE|BE|MT)-\d+)\b", re.MULTILINE)
CITED = re.compile(r"\b(?:CX|CO|HE|ZE|BE|MT)-\d+\b")
LISTED = re.compile(r"^(\d+)\. ", re.MULTILINE)
MISSED = re.compile(r"\beasily missed (\d+)\b")
OLD = re.compile(r"\bdecisions?\s+(?:#\s*)?\d+", re.IGNORECASE)
"""How metier's own choices (MT) were cited before they had ids that nobody takes for an ADR."""


def test_every_row_that_is_cited_is_on_a_page() -> None:
    defined = set(_found(DEFINED, _pages()))

    lost = [f"{place}: {row}" for place, row in _citations(CITED) if row not in defined]

    assert [] == lost


def test_every_detail_that_is_cited_as_easily_missed_is_on_its_page() -> None:
    listed = set(LISTED.findall((ROWS / "easily-missed.md").read_text(encoding="utf-8")))

    lost = [f"{place}: {number}" for place, number in _citations(MISSED) if number not in listed]

    assert [] == lost


def test_no_row_is_defined_twice() -> None:
    counts = Counter(_found(DEFINED, _pages()))

    assert [] == [row for row, times in counts.items() if times > 1]


def test_nothing_cites_a_choice_by_its_old_number() -> None:
    assert [] == [f"{place}: {words}" for place, words in _citations(OLD)]


def _citations(pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    """List every hit with its file, as read from src, tests, docs and bench."""
    return [(name, hit) for name, text in _texts().items() for hit in pattern.findall(text)]


def _found(pattern: re.Pattern[str], texts: list[str]) -> list[str]:
    return [hit for text in texts for hit in pattern.findall(text)]


def _pages() -> list[str]:
    return [page.read_text(encoding="utf-8") for page in sorted(ROWS.glob("*.md"))]


@cache
def _texts() -> dict[str, str]:
    found = {}
    for folder in ("src", "tests", "docs", "bench"):
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix in (".py", ".md") and "/." not in name:
                found[name] = path.read_text(encoding="utf-8", errors="replace")
    return found
