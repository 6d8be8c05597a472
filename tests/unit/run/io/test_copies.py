"""Copies of skills to run from: the very bytes that were decided about, or none at all."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from conformance.folders import skill, write

from metier.discover import skill_files
from metier.errors import IntegrityError, MetierError, StoreError
from metier.run.io import copies

OLD = 1_000_000_000


def digest_of(path: Path) -> str:
    return str(skill_files.digest(*skill_files.pieces_of(str(path))))


def ready(base: Path, path: Path, digest: str | None = None, token: str = "t") -> Path:  # noqa: S107 - it makes a name
    """Give the copy of a skill, made under what metier keeps in `base`."""
    return Path(
        copies.ensure(str(base / "data"), str(base), str(path), digest or digest_of(path), token)
    )


def trees_in(base: Path) -> list[str]:
    return sorted(os.listdir(base / "data" / copies.FOLDER))


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    """Give a skill with a script in a folder."""
    folder = skill(
        tmp_path / "pdf", files={"scripts/a.sh": "echo a\n", "deep/er/x.bin": bytes(range(256))}
    )
    (folder / "scripts" / "a.sh").chmod(0o755)
    return folder


def test_a_copy_has_the_same_bytes_and_the_same_digest(tmp_path: Path, pdf: Path) -> None:
    copy = ready(tmp_path, pdf)

    assert digest_of(pdf) == digest_of(copy) == f"sha256:{copy.name}"
    assert (bytes(range(256)), 0o700, 0o600) == (
        (copy / "deep/er/x.bin").read_bytes(),
        (copy / "scripts/a.sh").stat().st_mode & 0o777,
        (copy / "SKILL.md").stat().st_mode & 0o777,
    )


def test_a_copy_is_made_once_and_each_use_is_noted(tmp_path: Path, pdf: Path) -> None:
    copy = ready(tmp_path, pdf)
    made = (copy / "SKILL.md").stat().st_ino
    os.utime(copy, (OLD, OLD))

    again = ready(tmp_path, pdf, token="u")

    assert (copy, made, True) == (
        again,
        (again / "SKILL.md").stat().st_ino,
        again.stat().st_mtime > OLD,
    )


def test_a_copy_that_was_changed_is_made_anew(tmp_path: Path, pdf: Path) -> None:
    copy = ready(tmp_path, pdf)
    (copy / "scripts" / "a.sh").write_text("echo another\n")
    (copy / "left.txt").write_text("by a run without a sandbox")

    again = ready(tmp_path, pdf, token="u")

    assert ("echo a\n", False, [copy.name]) == (
        (again / "scripts/a.sh").read_text(),
        (again / "left.txt").exists(),
        trees_in(tmp_path),
    )


def test_a_folder_that_is_not_what_was_decided_about_gives_no_copy(
    tmp_path: Path, pdf: Path
) -> None:
    decided = digest_of(pdf)
    write(pdf / "scripts" / "a.sh", "echo exchanged\n")

    with pytest.raises(IntegrityError) as refused:
        ready(tmp_path, pdf, decided)

    assert ("changed", []) == (refused.value.code, trees_in(tmp_path))
    assert (True, True) == (str(pdf) in refused.value.message, bool(refused.value.hint))


def test_a_file_that_became_a_pipe_or_a_link_after_it_was_listed_is_not_waited_for(
    tmp_path: Path, pdf: Path
) -> None:
    _base, pieces = skill_files.pieces_of(str(pdf))
    piece = next(one for one in pieces if one.path == "SKILL.md")
    os.mkfifo(tmp_path / "pipe")
    os.symlink("/etc/passwd", tmp_path / "link")

    with pytest.raises(IntegrityError) as pipe:
        copies._copy(str(tmp_path / "pipe"), str(tmp_path / "aim"), piece)  # noqa: SLF001 - between the listing and this
    with pytest.raises(OSError) as link:  # noqa: PT011 - that nothing is followed is the point
        copies._copy(str(tmp_path / "link"), str(tmp_path / "aim"), piece)  # noqa: SLF001 - between the listing and this

    assert ("changed", False, False) == (
        pipe.value.code,
        isinstance(link.value, MetierError),
        (tmp_path / "aim").exists(),
    )


def test_a_file_that_grows_without_end_is_read_no_further_than_it_was_long(
    tmp_path: Path, pdf: Path
) -> None:
    _base, pieces = skill_files.pieces_of(str(pdf))
    piece = next(one for one in pieces if one.path == "SKILL.md")
    write(tmp_path / "grown", b"x" * (piece.size + 5 * copies.CHUNK_BYTES))

    copies._copy(str(tmp_path / "grown"), str(tmp_path / "aim"), piece)  # noqa: SLF001 - between the listing and this

    assert piece.size + 1 == (tmp_path / "aim").stat().st_size


def test_links_are_copied_as_links_and_never_followed(tmp_path: Path, pdf: Path) -> None:
    write(tmp_path / "secret.txt", "mine")
    os.symlink("../../secret.txt", pdf / "scripts" / "out")
    os.symlink("a.sh", pdf / "scripts" / "in.sh")

    copy = ready(tmp_path, pdf)

    assert ("../../secret.txt", "a.sh") == (
        os.readlink(copy / "scripts/out"),
        os.readlink(copy / "scripts/in.sh"),
    )


def test_processes_that_copy_at_once_share_one_copy(tmp_path: Path, pdf: Path) -> None:
    digest, found = digest_of(pdf), list[Path]()
    together = threading.Barrier(6)

    def copy(number: int) -> None:
        together.wait(10)
        found.append(ready(tmp_path, pdf, digest, f"t{number}"))

    threads = [threading.Thread(target=copy, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert (6, 1, digest) == (len(found), len(set(found)), digest_of(found[0]))
    assert [found[0].name] == trees_in(tmp_path)


def test_what_a_crash_left_is_no_copy_and_is_swept_in_time(tmp_path: Path, pdf: Path) -> None:
    copy = ready(tmp_path, pdf)
    left = write(copy.parent / ".crashed" / "SKILL.md", "half").parent
    os.utime(left, (OLD, OLD))

    looked = copies.sweep(str(tmp_path / "data"), dry_run=True)
    there = trees_in(tmp_path)
    swept = copies.sweep(str(tmp_path / "data"), dry_run=False)

    assert ([4], [4], [".crashed", copy.name], [copy.name]) == (
        looked,
        swept,
        there,
        trees_in(tmp_path),
    )


def test_of_many_copies_the_oldest_go_and_those_in_use_stay(
    tmp_path: Path, pdf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "MAX_COPIES", 1)
    folder = tmp_path / "data" / copies.FOLDER
    for name, age in (("old", OLD), ("older", OLD - 1), ("mounted", 0)):
        (folder / name).mkdir(parents=True)
        os.utime(folder / name, (age, age) if age else None)

    copy = ready(tmp_path, pdf)

    assert sorted((copy.name, "mounted")) == trees_in(tmp_path)


def test_a_place_that_cannot_be_written_is_said_with_what_to_do(tmp_path: Path, pdf: Path) -> None:
    write(tmp_path / "data" / "run", "no folder")

    with pytest.raises(StoreError) as failed:
        ready(tmp_path, pdf)

    assert (True, True) == (str(pdf) in failed.value.message, "METIER_HOME" in failed.value.hint)


def test_nothing_to_sweep_is_nothing(tmp_path: Path) -> None:
    assert [] == copies.sweep(str(tmp_path / "nowhere"), dry_run=False)
