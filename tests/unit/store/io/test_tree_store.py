"""The store: what goes in comes out, bytes are kept once, and damage is never handed on."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from metier.discover.io.machine import HostMachine
from metier.errors import IntegrityError, NotFoundError, StoreError
from metier.standard.digest import TreeFile
from metier.store.io.disk_calls import OsDiskCalls
from metier.store.io.tree_store import Freed, Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "data" / "store"), None, OsDiskCalls())


def skill(folder: Path, **more: str) -> Path:
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text("text")
    (folder / "scripts" / "run").write_text("#!/bin/sh\n")
    (folder / "scripts" / "run").chmod(0o755)
    for name, text in more.items():
        (folder / name).write_text(text)
    return folder


def files_of(folder: Path) -> list[TreeFile]:
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return [
        TreeFile(
            str(path.relative_to(folder)),
            path.stat().st_size,
            hashlib.sha256(path.read_bytes()).digest(),
            os.access(path, os.X_OK),
        )
        for path in paths
    ]


def blobs(store: Store) -> list[Path]:
    return sorted(path for path in Path(store.folder, "blobs").rglob("*") if path.is_file())


def blob(store: Store, text: str) -> Path:
    name = hashlib.sha256(text.encode()).hexdigest()
    return Path(store.folder, "blobs", name[:2], name[2:])


def test_a_taken_tree_is_moved_in_and_laid_out_again_as_ordinary_files(
    store: Store, tmp_path: Path
) -> None:
    folder = skill(tmp_path / "quarantine")
    expected = HostMachine({}, None, "").digest(str(folder))

    digest = store.take(str(folder), files_of(folder))
    store.lay(digest, str(tmp_path / "out"))

    assert expected == digest == HostMachine({}, None, "").digest(str(tmp_path / "out"))
    assert [] == [path for path in folder.rglob("*") if path.is_file()]
    assert (0o755, 0o644, 1) == (
        *((tmp_path / "out" / name).stat().st_mode & 0o777 for name in ("scripts/run", "SKILL.md")),
        (tmp_path / "out/SKILL.md").stat().st_nlink,
    )
    assert ("text", True) == (store.read(digest, "SKILL.md").decode(), store.has(digest))


def test_a_kept_folder_has_the_digest_that_finding_skills_gives_it_links_included(
    store: Store, tmp_path: Path
) -> None:
    folder = skill(tmp_path / "skill", notes="mine")
    (folder / "away").symlink_to("/etc/passwd")
    (folder / "empty").mkdir()

    digest = store.keep(str(folder))
    store.lay(digest, str(tmp_path / "out"))

    assert (
        HostMachine({}, None, "").digest(str(folder))
        == digest
        == HostMachine({}, None, "").digest(str(tmp_path / "out"))
    )
    assert ("/etc/passwd", "mine") == (
        os.readlink(tmp_path / "out" / "away"),
        (folder / "notes").read_text(),
    )
    assert b"/etc/passwd" == store.read(digest, "away")


def test_the_same_bytes_are_kept_once_for_their_owner_alone(store: Store, tmp_path: Path) -> None:
    one, other = skill(tmp_path / "one", a="same", b="same"), skill(tmp_path / "other", c="same")

    digests = {store.keep(str(one)), store.take(str(other), files_of(other))}

    assert 2 == len(digests)
    assert 3 == len(blobs(store))
    assert {0o400} == {path.stat().st_mode & 0o777 for path in blobs(store)}
    assert set(digests) == set(store.digests())


def test_a_large_file_goes_through_in_pieces(store: Store, tmp_path: Path) -> None:
    folder = skill(tmp_path / "skill")
    (folder / "large").write_bytes(b"0123456789" * 300_000)

    digest = store.keep(str(folder))
    store.lay(digest, str(tmp_path / "out"))

    assert (
        (folder / "large").read_bytes()
        == (tmp_path / "out" / "large").read_bytes()
        == store.read(digest, "large")
    )


@pytest.mark.parametrize("harm", ["other bytes", "shorter", "longer", "gone", "a link", "a folder"])
def test_a_damaged_blob_is_never_handed_on_and_healed_by_taking_it_again(
    store: Store, tmp_path: Path, harm: str
) -> None:
    folder = skill(tmp_path / "skill")
    digest = store.keep(str(folder))
    place = blob(store, "text")
    place.unlink()
    if harm == "a link":
        (tmp_path / "copy").write_text("text")
        place.symlink_to(tmp_path / "copy")
    elif harm == "a folder":
        place.mkdir()
    elif harm != "gone":
        place.write_text({"other bytes": "tent", "shorter": "tex", "longer": "text."}[harm])

    with pytest.raises(IntegrityError) as caught:
        store.lay(digest, str(tmp_path / "out"))

    assert ("store-damaged", False) == (caught.value.code, (tmp_path / "out").exists())
    with pytest.raises(IntegrityError):
        store.read(digest, "SKILL.md")
    assert (harm == "other bytes") == store.has(digest)
    if harm == "a folder":
        place.rmdir()
    assert digest == store.take(str(folder), files_of(folder))
    assert b"text" == store.read(digest, "SKILL.md")


def test_a_damaged_record_is_no_tree_and_an_unknown_one_is_not_there(
    store: Store, tmp_path: Path
) -> None:
    digest = store.keep(str(skill(tmp_path / "skill")))
    record = next(Path(store.folder, "trees").rglob("*.json"))
    record.chmod(0o600)
    record.write_bytes(record.read_bytes().replace(b"SKILL.md", b"SKULL.md"))

    with pytest.raises(IntegrityError) as damaged:
        store.files(digest)
    with pytest.raises(NotFoundError) as unknown:
        store.files("sha256:" + "0" * 64)

    assert ("store-damaged", "not-in-store", False) == (
        damaged.value.code,
        unknown.value.code,
        store.has(digest),
    )
    assert b"" == b"".join(path.read_bytes() for path in Path(store.folder, "tmp").iterdir())


def test_what_is_not_what_was_hashed_is_not_taken(store: Store, tmp_path: Path) -> None:
    folder = skill(tmp_path / "skill")
    files = files_of(folder)
    (folder / "SKILL.md").write_text("other bytes")

    with pytest.raises(IntegrityError) as caught:
        store.take(str(folder), files)

    assert ("digest", []) == (caught.value.code, list(store.digests()))


def test_bytes_come_in_from_another_file_system(tmp_path: Path) -> None:
    class Elsewhere(OsDiskCalls):
        """Two file systems: what is below the quarantine cannot be renamed out of it."""

        def move(self, source: str, target: str) -> None:
            if source.startswith(str(tmp_path / "quarantine")):
                raise OSError(18, "Invalid cross-device link")
            super().move(source, target)

    store = Store(str(tmp_path / "store"), None, Elsewhere())
    folder = skill(tmp_path / "quarantine")

    digest = store.take(str(folder), files_of(folder))

    assert (b"text", False) == (store.read(digest, "SKILL.md"), (folder / "SKILL.md").exists())


def test_laying_out_over_something_touches_nothing_of_it(store: Store, tmp_path: Path) -> None:
    digest = store.keep(str(skill(tmp_path / "skill")))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("mine")

    with pytest.raises(StoreError):
        store.lay(digest, str(tmp_path / "out"))

    assert ["mine"] == os.listdir(tmp_path / "out")


def test_where_a_tree_was_fetched_from_is_remembered_once_and_sorted(
    store: Store, tmp_path: Path
) -> None:
    digest = store.keep(str(skill(tmp_path / "skill")))

    for where in [("b", "main", "1"), ("a", "", "2"), ("b", "main", "1")]:
        store.note(digest, *where)

    assert (("a", "", "2"), ("b", "main", "1")) == store.origins(digest)
    assert ((), ()) == (store.origins("sha256:" + "0" * 64), store.origins("no digest"))


def test_a_sweep_frees_what_no_kept_tree_needs(store: Store, tmp_path: Path) -> None:
    kept = store.keep(str(skill(tmp_path / "kept", shared="shared")))
    gone = store.keep(str(skill(tmp_path / "gone", shared="shared", more="12345")))
    store.note(gone, "source", "", "")

    planned = store.sweep([kept], dry_run=True)
    there = store.has(gone)
    freed = store.sweep([kept])

    assert (planned, True) == (freed, there)
    assert (1, 1) == (freed.trees, freed.blobs)
    assert freed.bytes > 5
    assert ([kept], True, False) == (list(store.digests()), store.has(kept), store.has(gone))
    assert (("source", "", ""),) == store.origins(gone)
    assert Freed(0, 0, 0) == store.sweep([kept])


def test_a_sweep_removes_no_blob_while_it_cannot_read_what_a_kept_tree_needs(
    store: Store, tmp_path: Path
) -> None:
    digest = store.keep(str(skill(tmp_path / "skill")))
    record = next(Path(store.folder, "trees").rglob("*.json"))
    record.chmod(0o600)
    record.write_text("{")

    freed = store.sweep([digest])

    assert (Freed(0, 0, 0), 2) == (freed, len(blobs(store)))


def test_a_store_without_a_home_is_not_made(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "nobody" / "store"), str(tmp_path / "nobody"), OsDiskCalls())

    with pytest.raises(StoreError):
        store.keep(str(skill(tmp_path / "skill")))

    assert not (tmp_path / "nobody").exists()
