"""Who may connect to sockets by their place on the disk: nobody who sees a folder in which one of the user's may lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes import codeskills, scripted

from metier.run import code, run_script
from metier.run.interpreters import Interpreter
from metier.run.io import find_interpreter
from metier.run.model import Lent, Mount

if TYPE_CHECKING:
    from pathlib import Path

ELSEWHERE = (Mount("/opt/python", "/opt/python"),)


@pytest.mark.parametrize("mounts", [(), ELSEWHERE])
@pytest.mark.parametrize("lends", [False, True])
def test_a_script_may_that_is_lent_nothing_wherever_its_interpreter_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mounts: tuple[Mount, ...], lends: bool
) -> None:
    monkeypatch.setattr(find_interpreter, "find", lambda *_given: Interpreter(("/python",), mounts))
    library = scripted.library_of(tmp_path)
    (tmp_path / "lent").mkdir()

    run_script.run(
        library.context,
        "pdf",
        options=run_script.RunOptions(lent=Lent(reads=(str(tmp_path / "lent"),) if lends else ())),
    )

    (cage,) = scripted.kept(library).cages
    assert (not lends, set(mounts)) == (cage.sockets, set(cage.mounts) & set(ELSEWHERE))


def test_a_script_of_another_interpreter_may_only_where_that_is_the_system_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = scripted.library_of(tmp_path, {"scripts/go.sh": "true\n"})
    for mounts in ((), ELSEWHERE):
        monkeypatch.setattr(
            find_interpreter, "find", lambda *_given, needed=mounts: Interpreter(("/bash",), needed)
        )
        run_script.run(library.context, "pdf")

    assert [True, False] == [cage.sockets for cage in scripted.kept(library).cages]


@pytest.mark.parametrize("lends", [False, True])
def test_a_code_skill_may_that_is_lent_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lends: bool
) -> None:
    monkeypatch.setattr(
        find_interpreter, "find", lambda *_given: Interpreter(("/python",), ELSEWHERE)
    )
    box = codeskills.answering()
    library = codeskills.library_of(tmp_path, {"count.py": codeskills.RUN}, box=box)
    (tmp_path / "lent").mkdir()

    code.call(
        library.context,
        "count",
        "how many?",
        lent=Lent(reads=(str(tmp_path / "lent"),) if lends else ()),
    )

    assert [not lends] == [cage.sockets for cage in box.cages]
