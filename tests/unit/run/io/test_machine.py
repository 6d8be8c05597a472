"""What is found out about a machine: its bubblewrap, which nobody else may have put there, and its root."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from metier.errors import SandboxError
from metier.run.io.machine import find_bubblewrap, survey_machine


def program(folder: Path, mode: int = 0o755) -> Path:
    folder.mkdir(parents=True, mode=0o755)
    path = folder / "bwrap"
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


def test_the_first_bubblewrap_that_only_its_owner_can_change_is_taken(tmp_path: Path) -> None:
    changeable, mine = program(tmp_path / "a", 0o777), program(tmp_path / "b")

    found = find_bubblewrap([str(tmp_path / "none"), str(changeable.parent), str(mine.parent)])

    assert str(mine) == found


@pytest.mark.parametrize("folder_mode", [0o777, 0o775])
def test_a_folder_that_others_can_write_to_is_passed_over(tmp_path: Path, folder_mode: int) -> None:
    path = program(tmp_path / "a")
    path.parent.chmod(folder_mode)

    with pytest.raises(SandboxError) as caught:
        find_bubblewrap([str(path.parent)])

    assert "no-sandbox" == caught.value.code
    assert "another user could have changed it" in caught.value.message


def test_a_link_is_judged_by_what_it_leads_to(tmp_path: Path) -> None:
    real = program(tmp_path / "a", 0o777)
    (tmp_path / "b").mkdir(mode=0o755)
    (tmp_path / "b" / "bwrap").symlink_to(real)

    with pytest.raises(SandboxError) as caught:
        find_bubblewrap([str(tmp_path / "b")])

    assert "no-sandbox" == caught.value.code


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_what_belongs_to_another_user_is_passed_over(tmp_path: Path) -> None:
    path = program(tmp_path / "a")
    os.chown(path, 12345, 12345)

    with pytest.raises(SandboxError) as caught:
        find_bubblewrap([str(path.parent)])

    assert "no-sandbox" == caught.value.code


def test_without_bubblewrap_the_packages_are_named(tmp_path: Path) -> None:
    with pytest.raises(SandboxError) as caught:
        find_bubblewrap(["", "relative", str(tmp_path), str(tmp_path / "\x7f")])

    assert "no-sandbox" == caught.value.code
    assert "apt" in caught.value.hint


@pytest.mark.bubblewrap
def test_this_machine_is_surveyed() -> None:
    system = survey_machine()

    assert "bwrap" == os.path.basename(system.bwrap)
    assert {"--size", "--seccomp", "--block-fd"} <= system.options
    assert system.version >= (0, 7)
    assert all(os.path.exists(path) for path, _aim in (*system.roots, *system.etc))
    assert "/etc/ssl" not in dict(system.etc)
    assert [(one.target, Path(one.target).read_bytes()) for one in system.texts] == [
        (one.target, one.data) for one in system.texts
    ]
