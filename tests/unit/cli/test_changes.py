"""How a unified diff is shown and summed up, whatever the lines of a skill look like."""

from __future__ import annotations

import pytest

from metier.cli import changes

LOOKALIKE = "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1,3 +1,3 @@\n Same.\n--- gone\n-@@ -1 +1 @@\n+++ new\n+More.\n"
"""A diff whose lines look like the heads of one."""


@pytest.mark.parametrize(
    ("diff", "said"),
    [
        ("", "0 files, 0 lines added, 0 lines removed"),
        (LOOKALIKE, "1 file, 2 lines added, 2 lines removed"),
        (
            "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-only\n\\ No newline at end of file\n",
            "1 file, 0 lines added, 1 line removed",
        ),
        (
            "mode of x: plain -> executable\nbinary files a/y and b/y differ: 1 and 2 bytes\n",
            "2 files, 0 lines added, 0 lines removed",
        ),
        ("@@ -1,99999999999999999999 +1 @@\n+x\n", "0 files, 0 lines added, 0 lines removed"),
        ("@@ - @@\n@@ -x,y +z @@\n", "0 files, 0 lines added, 0 lines removed"),
    ],
)
def test_a_summary_counts_files_and_lines(diff: str, said: str) -> None:
    assert said == changes.diff_summary(diff)


def test_a_diff_is_shown_as_it_is_but_for_what_acts_on_a_terminal() -> None:
    assert LOOKALIKE == changes.diff_text(LOOKALIKE)
    assert "+\\x1b[2J\\r\n" == changes.diff_text("+\x1b[2J\r\n")
    assert "" == changes.diff_text("")


def test_only_real_heads_are_bold_and_only_changed_lines_are_coloured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(changes, "style", lambda text, name: f"<{name}>{text}")

    lines = changes.diff_text(LOOKALIKE).splitlines()

    assert [
        "<bold>---",
        "<bold>+++",
        "<cyan>@@",
        " Same.",
        "<red>---",
        "<red>-@@",
        "<green>+++",
        "<green>+More.",
    ] == [line if line[0] == " " else line.split(" ")[0] for line in lines]
