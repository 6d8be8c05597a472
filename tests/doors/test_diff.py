"""`metier diff`: edits as a unified diff, harmless to a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

from doors.command import PATIENCE, environment, error_of

if TYPE_CHECKING:
    from doors.upstream import Project


def test_edits_are_shown_as_a_unified_diff(installed: Project) -> None:
    installed.edit("pdf", "Line 3 ", "My line 3 ")

    text, document = installed("diff", "pdf"), installed("diff", "pdf", "--json")

    assert (0, "", 0) == (text.code, text.err, document.code)
    assert "-Line 3 of the instructions.\n+My line 3 of the instructions.\n" in text.out
    assert text.out.startswith("--- ")
    assert {"name": "pdf", "diff": text.out} == document.json


def test_without_edits_there_is_nothing(installed: Project) -> None:
    assert (0, "", "") == installed("diff", "pdf")


def test_control_characters_are_shown_escaped(installed: Project) -> None:
    installed.edit("pdf", "Line 3 ", "\x1b[2J\u202eline 3 ")

    answer = installed("diff", "pdf")

    assert r"+\x1b[2J\u202eline 3 of" in answer.out
    assert [] == [char for char in answer.out if not char.isprintable() and char != "\n"]


def test_on_a_terminal_it_has_colour(installed: Project) -> None:
    installed.edit("pdf", "Line 3 ", "My line 3 ")
    outside, inside = pty.openpty()

    subprocess.run(
        [sys.executable, "-m", "metier", "diff", "pdf"],
        cwd=installed.folder,
        stdin=subprocess.DEVNULL,
        stdout=inside,
        stderr=subprocess.PIPE,
        env=environment({**installed.home.env, "TERM": "xterm"}),
        check=True,
        timeout=PATIENCE,
    )
    os.close(inside)
    shown = os.read(outside, 65536)
    os.close(outside)

    assert b"\x1b[32m+My line 3 of the instructions.\x1b[0m" in shown


def test_a_skill_that_is_not_installed_is_not_found(installed: Project) -> None:
    answer = installed("diff", "nobody")

    assert (1, True) == (answer.code, "'nobody' is not in the lock" in error_of(answer)[0])
