"""A diff of two trees, for people."""

from __future__ import annotations

import hashlib

from metier.standard.characters import escape_for_terminal
from metier.standard.digest import TreeFile
from metier.supply.merge.unified import MAX_LINE_CHARS, count_changes, unified
from metier.supply.model import FileChange

LONG = b"".join(b"line %d\n" % number for number in range(1, 21))


def shown(
    old: dict[str, bytes],
    new: dict[str, bytes],
    modes: tuple[bool | str, bool | str] = (False, False),
) -> str:
    trees = [
        {
            path: TreeFile(path, len(data), hashlib.sha256(data).digest(), mode)
            for path, data in side.items()
        }
        for side, mode in zip((old, new), modes, strict=True)
    ]
    return unified(trees[0], trees[1], old.__getitem__, new.__getitem__)


def test_changes_are_shown_with_what_is_around_them() -> None:
    text = shown(
        {"a.md": LONG},
        {"a.md": LONG.replace(b"line 2\n", b"two\n").replace(b"line 18\n", b"18\nmore\n")},
    )

    assert (
        "--- a/a.md\n+++ b/a.md\n@@ -1,5 +1,5 @@\n line 1\n-line 2\n+two\n line 3\n line 4\n line 5\n"
        "@@ -15,6 +15,7 @@\n line 15\n line 16\n line 17\n-line 18\n+18\n+more\n line 19\n line 20\n"
    ) == text


def test_changes_that_are_close_share_one_hunk() -> None:
    assert 1 == shown(
        {"a": LONG}, {"a": LONG.replace(b"line 5\n", b"").replace(b"line 12\n", b"")}
    ).count("@@ -")


def test_files_that_came_and_went_are_told_from_nothing() -> None:
    assert "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n" == shown({}, {"new": b"x\n"})
    assert "--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\\ No newline at end of file\n" == shown(
        {"old": b"x"}, {}
    )


def test_the_same_trees_differ_in_nothing() -> None:
    assert "" == shown({"a": LONG}, {"a": LONG})


def test_modes_and_binaries_are_told_in_words() -> None:
    assert "mode of a: plain -> executable\n" == shown({"a": b"x\n"}, {"a": b"x\n"}, (False, True))
    assert "binary files a/a and b/a differ: 2 and 3 bytes\n" == shown(
        {"a": b"\0x"}, {"a": b"\0xy"}
    )


def test_nothing_a_stranger_wrote_acts_on_a_terminal() -> None:
    text = shown({}, {"a\x1b[2J\n": "\x1b]0;x\x07\u202e\u200b\r\x85".encode() + b"\xff\n"})

    assert (
        "--- /dev/null\n+++ b/a\\x1b[2J\\n\n@@ -0,0 +1 @@\n+\\x1b]0;x\\x07\\u202e\\u200b\\r\\x85\\xff\n"
        == text
    )


def test_a_lone_surrogate_is_shown_too() -> None:
    assert "a\\udc80" == escape_for_terminal("a\udc80")


def test_a_very_long_line_is_cut() -> None:
    text = shown({}, {"a": b"x" * (MAX_LINE_CHARS + 5) + b"\n"})

    assert text.endswith("x... 5 more characters\n")


def test_what_a_file_gains_and_loses_is_counted() -> None:
    same, old, new = b"same\n", LONG, LONG.replace(b"line 2\n", b"two\nand more\n")
    before = {"a.md": old, "b.bin": b"\0\1", "c.sh": same, "gone": b"x\ny", "same": same}
    after = {"a.md": new, "b.bin": b"\0\2", "c.sh": same, "new": b"z\n", "same": same}
    trees = [
        {
            path: TreeFile(path, len(data), hashlib.sha256(data).digest(), path == mode)
            for path, data in side.items()
        }
        for side, mode in ((before, ""), (after, "c.sh"))
    ]

    found = count_changes(trees[0], trees[1], before.__getitem__, after.__getitem__)

    assert (
        FileChange("a.md", "changed", 2, 1),
        FileChange("b.bin", "binary"),
        FileChange("c.sh", "mode"),
        FileChange("gone", "gone", 0, 2),
        FileChange("new", "new", 1, 0),
    ) == found
