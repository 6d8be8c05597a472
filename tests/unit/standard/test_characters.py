"""The one list of characters that no reader sees."""

from __future__ import annotations

import re

import pytest

from metier.standard.characters import UNSEEN

# Default_Ignorable_Code_Point, as the Unicode standard has it since version 4.1.
IGNORABLE = (
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)


@pytest.mark.parametrize(("first", "last"), IGNORABLE)
def test_whatever_is_ignorable_is_unseen(first: int, last: int) -> None:
    assert re.fullmatch(f"[{UNSEEN}]+", "".join(map(chr, range(first, last + 1))))


def test_what_is_merely_empty_is_unseen_and_what_can_be_seen_is_not() -> None:
    assert re.fullmatch(f"[{UNSEEN}]", "\u2800")
    assert re.search(f"[{UNSEEN}]", "aZ09 -\u00e9\u4e2d\uac00\u0905\U0001f600\u28ff") is None
