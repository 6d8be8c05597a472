"""Every behaviour that metier promises to match, or to decide, is named by a test of this folder."""

from __future__ import annotations

import re
import tokenize
from pathlib import Path

ROW = re.compile(r"\b(?:(?:CX|ZE|HE|CO|BE)-|decision |easily missed )\d+\b")


def rows(prefix: str, *numbers: int) -> set[str]:
    """Name rows of one table."""
    return {f"{prefix}{number}" for number in numbers}


REQUIRED = (
    # Codex: all but 4 and 12, which describe a later revision; 13 is the repair that metier takes from it.
    rows("CX-", 1, 2, 3, *range(5, 12), *range(13, 31), 35, 36, 37, 38, 39, *range(43, 65))
    | rows("ZE-", *range(1, 12), *range(19, 29), *range(30, 43))
    | rows("HE-", *range(1, 10), 13, 14, 16, 17, *range(18, 31), *range(35, 48))
    | rows("CO-", *range(1, 23), 24, 25, 27, 28, 29)
    | rows("BE-", *range(1, 24))
    | rows("decision ", *range(1, 30))
    | rows("easily missed ", 1, 2, 3, 4, 5, 6, 8, 11, 13)
)


def test_every_row_is_named_beside_a_test() -> None:
    paths = [path for path in Path(__file__).parent.glob("test_*.py") if path != Path(__file__)]

    named = {row for path in paths for comment in comments(path) for row in ROW.findall(comment)}

    assert set() == REQUIRED - named


def comments(path: Path) -> list[str]:
    """List the comments of a Python file."""
    with tokenize.open(path) as file:
        return [token.string for token in tokenize.generate_tokens(file.readline) if token.type == tokenize.COMMENT]
