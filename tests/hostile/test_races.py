"""Skills that change under the reader: gone, swapped for a pipe, a link or a flood, between listing and reading."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import metier
from metier.errors import MetierError, NotFoundError

if TYPE_CHECKING:
    from conftest import Home, Writer

    from metier.library import Library


@pytest.fixture
def library(tmp_path: Path, home: Home, skill: Writer) -> Library:
    """Give a library that has listed a folder, a flat file and a code skill."""
    odd = skill("root/group/odd")
    (odd / "references").mkdir()
    (odd / "references" / "guide.md").write_text("the guide")
    (tmp_path / "root" / "group" / "flat.md").write_text(
        "---\nname: flat\ndescription: Flat.\n---\nBody.\n"
    )
    (tmp_path / "root" / "code.py").write_text("SKILL_NAME = 'code'\ndef run(task): ...\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "SKILL.md").write_text("the secret outside")
    library = metier.open(roots=[str(tmp_path / "root")], env=home.env)
    assert 3 == len(library.skills())
    return library


def deleted(path: Path) -> None:
    path.unlink()


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def a_link_out(path: Path) -> None:
    path.unlink()
    path.symlink_to(
        path.parents[len(path.parts) - path.parts.index("root") - 1].parent / "outside" / "SKILL.md"
    )


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def no_text(path: Path) -> None:
    path.write_bytes(b"\0\xff" * 1_000)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def huge(path: Path) -> None:
    os.truncate(path, 50 << 20)


CHANGES = (deleted, a_pipe, a_link_out, a_folder, no_text, emptied, huge)
FILES = {"odd": "group/odd/SKILL.md", "flat": "group/flat.md", "code": "code.py"}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_skill_that_changed_after_it_was_listed_is_an_answer_and_no_crash(
    change: Callable[[Path], None], name: str, library: Library, tmp_path: Path
) -> None:
    change(tmp_path / "root" / FILES[name])

    said = []
    for ask in (library.view, library.why):
        try:
            said.append(str(ask(name)))
        except MetierError as error:
            said.append(str(error.as_dict()))
    assert "the secret outside" not in "".join(said)
    library.skills(all=True, digests=True)
    library.fingerprint()
    library.reload()


@pytest.mark.parametrize("name", FILES)
def test_a_skill_that_is_gone_is_said_to_be_gone(
    name: str, library: Library, tmp_path: Path
) -> None:
    (tmp_path / "root" / FILES[name]).unlink()

    with pytest.raises(NotFoundError) as caught:
        library.view(name)

    assert "was deleted after it was listed" in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("name", FILES)
def test_a_whole_folder_that_is_gone_is_an_answer_and_no_crash(
    name: str, library: Library, tmp_path: Path
) -> None:
    shutil.rmtree(tmp_path / "root")

    with pytest.raises(NotFoundError):
        library.view(name)
    for card in library.skills(all=True, digests=True):
        # The digest of nothing would be the same for every skill that is gone.
        assert card.digest is None
    library.fingerprint()
    change = library.reload()
    assert 3 == len(change.removed)


def test_a_linked_file_that_turns_into_a_way_out_is_refused(
    library: Library, tmp_path: Path
) -> None:
    guide = tmp_path / "root" / "group" / "odd" / "references" / "guide.md"
    guide.unlink()
    guide.symlink_to(tmp_path / "outside" / "SKILL.md")

    with pytest.raises(MetierError) as caught:
        library.view("odd", "references/guide.md")

    assert "path-traversal" == caught.value.code


def test_a_skill_folder_that_turns_into_a_link_shows_nothing_from_a_pipe(
    library: Library, tmp_path: Path
) -> None:
    folder = tmp_path / "root" / "group" / "odd"
    shutil.rmtree(folder)
    os.mkfifo(tmp_path / "pipe")
    folder.symlink_to(tmp_path / "pipe")

    with pytest.raises(MetierError):
        library.view("odd")
