"""Who may connect to sockets by their place on the disk: nobody who sees a folder in which one of the user's may lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes import codeskills, scripted

from metier.execute.environments import Environment
from metier.execute.interpreters import Interpreter, env as interpreters
from metier.running import code, environments, scripts
from metier.runs import Mount

if TYPE_CHECKING:
    from pathlib import Path

ELSEWHERE = (Mount("/opt/python", "/opt/python"),)


@pytest.mark.parametrize("mounts", [(), ELSEWHERE])
def test_a_script_whose_interpreter_is_the_system_s_own_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mounts: tuple[Mount, ...]) -> None:
    monkeypatch.setattr(interpreters, "find", lambda *_given: Interpreter(("/python",), mounts))
    library = scripted.library_of(tmp_path)

    scripts.run(library, "pdf")

    (cage,) = scripted.kept(library).cages
    assert (not mounts, set(mounts)) == (cage.sockets, set(cage.mounts) & set(ELSEWHERE))


def test_a_script_with_packages_of_its_own_may_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreters, "find", lambda *_given: Interpreter(("/python",), ()))
    monkeypatch.setattr(environments, "ready", lambda *_given, **_named: Environment("/env/bin/python", (Mount("/env", "/env"),), "key", ("tiny",)))
    library = scripted.library_of(tmp_path, {"scripts/hello.py": "print(1)\n"})

    scripts.run(library, "pdf")

    (cage,) = scripted.kept(library).cages
    assert (False, "/env/bin/python") == (cage.sockets, cage.command[0])


@pytest.mark.parametrize("mounts", [(), ELSEWHERE])
def test_a_code_skill_may_where_python_is_the_system_s_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mounts: tuple[Mount, ...]) -> None:
    monkeypatch.setattr(interpreters, "find", lambda *_given: Interpreter(("/python",), mounts))
    box = codeskills.answering()
    library = codeskills.library_of(tmp_path, {"count.py": codeskills.RUN}, box=box)

    code.call(library, "count", "how many?")

    assert (not mounts, mounts) == (box.cages[0].sockets, box.cages[0].mounts)
