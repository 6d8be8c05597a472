"""`check` must not call good what it could not look at."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import metier

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home, Writer


def test_a_limit_that_was_reached_is_a_row_of_the_check(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    skill("skills/good")
    skill("skills/" + "deep/" * 70 + "hidden")

    with metier.open(env=home.env, cwd=tmp_path) as library:
        checked = library.check([str(tmp_path / "skills")])

    assert [[], ["WK006"]] == [[note.code for note in one.diagnostics] for one in checked]


def test_a_name_that_cannot_be_shown_is_a_row_of_the_check(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    skill("skills/good")
    os.mkdir(os.fsencode(tmp_path / "skills") + b"/caf\xe9")

    with metier.open(env=home.env, cwd=tmp_path) as library:
        checked = library.check([str(tmp_path / "skills")])

    assert [[], ["WK005"]] == [[note.code for note in one.diagnostics] for one in checked]
