"""The descriptors of one run: what is held on to, and that none is left."""

from __future__ import annotations

import os
import resource
from typing import TYPE_CHECKING

import pytest

from metier.errors import SandboxError
from metier.run.io.descriptors import Descriptors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder by its real path, with a file and two links in it."""
    real = tmp_path.resolve()
    (real / "inner").mkdir()
    (real / "inner" / "file").write_text("x")
    (real / "link").symlink_to("inner")
    (real / "file-link").symlink_to("inner/file")
    return real


def count() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_what_is_held_stays_the_same_when_its_name_means_another(folder: Path) -> None:
    with Descriptors() as ends:
        held = ends.place(f"{folder}/inner")
        before = os.stat(f"{folder}/inner").st_ino
        (folder / "inner").rename(folder / "moved")
        (folder / "inner").mkdir()

        found = os.stat(f"/proc/self/fd/{held}").st_ino

    assert before == found


@pytest.mark.parametrize(
    ("name", "real", "refused"),
    [
        ("inner/file", True, False),
        ("link/file", False, False),
        ("link/file", True, True),  # a link that came into a real path leads elsewhere
        ("link", False, True),
        ("file-link", False, True),
        ("gone", False, True),
    ],
)
def test_a_path_that_leads_elsewhere_is_not_held(
    folder: Path, name: str, real: bool, refused: bool
) -> None:
    before = count()
    error = ""

    with Descriptors() as ends:
        try:
            ends.place(f"{folder}/{name}", real=real)
        except SandboxError as raised:
            error = raised.code

    assert ("sandbox-mount" if refused else "", before) == (error, count())


def test_everything_is_closed_once_at_the_end_but_what_was_given_away() -> None:
    before = count()

    with Descriptors() as ends:
        reader, writer = ends.pipe()
        ends.text(b"some bytes")
        ends.lock()
        ends.process(os.getpid())
        ends.shut(reader, reader)
        given = ends.give(writer)

    assert before + 1 == count()
    os.close(given)


@pytest.mark.parametrize(
    "make",
    [
        Descriptors.pipe,
        Descriptors.inlet,
        Descriptors.lock,
        lambda ends: ends.text(b"x"),
        lambda ends: ends.process(1),
    ],
)
def test_a_process_without_a_descriptor_to_spare_is_told_so_and_keeps_none(
    make: Callable[[Descriptors], object],
) -> None:
    before, limits = count(), resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))

    try:
        with Descriptors() as ends, pytest.raises(SandboxError, match="pipes and files"):
            make(ends)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)

    assert before == count()
