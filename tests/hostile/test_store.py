"""Hostile folders, records, journals and plans: nothing outside is read or touched, and every refusal is an error of metier's."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from metier.errors import IntegrityError, MetierError, RefusedError, StoreError
from metier.standard.digest import TreeFile, tree_digest
from metier.store import journal, layout
from metier.store.io.atomic_change import Changer, Replace, StoreChange, Switch, state_of
from metier.store.io.disk_calls import OsDiskCalls
from metier.store.io.tree_store import Store

TEXT = [
    b"",
    b"{",
    b"[]",
    b"null",
    b"0",
    b'"' + b"x" * 100_000,
    b"[" * 100_000,
    b'{"format": 1}',
    b'{"format": 1, "files": 3}',
    b"\xff\xfe\x00",
    b"9" * 10_000,
]
ROWS = [
    [],
    [1],
    ["a"],
    ["a", -1, "00", ""],
    ["a", True, "0" * 64, ""],
    ["a", 1, "0" * 64, "z"],
    ["a", 1.5, "0" * 64, ""],
    [None, 1, "0" * 64, ""],
    ["\ud800", 1, "0" * 64, ""],
    ["a", 10**400, "0" * 64, ""],
    ["a", 1, "g" * 64, ""],
    {"a": 1},
    "abcd",
    ["a", 1, ["0"], ""],
]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "data" / "store"), None, OsDiskCalls())


@pytest.fixture
def changer(tmp_path: Path, store: Store) -> Changer:
    return Changer(str(tmp_path / "data" / "supply"), None, store, OsDiskCalls())


def skill(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("text")
    return folder


@pytest.mark.parametrize(
    "data", [*TEXT, *(json.dumps({"format": 1, "files": [row]}).encode() for row in ROWS)]
)
def test_a_record_of_any_bytes_is_damaged_or_nothing(data: bytes) -> None:
    with pytest.raises(IntegrityError) as caught:
        layout.read_manifest(data, "sha256:" + "0" * 64)

    assert "store-damaged" == caught.value.code
    assert ((), []) == (layout.read_origins(data), journal.read_folders(data))
    assert journal.read(data) is None


def test_a_record_that_climbs_out_is_refused_although_its_digest_is_right(
    store: Store, tmp_path: Path
) -> None:
    files = [TreeFile("../../escaped", 0, bytes(32), False)]
    digest = tree_digest(files)
    place = Path(store.folder, layout.tree_path(digest))
    place.parent.mkdir(parents=True)
    place.write_bytes(layout.write_manifest(files))

    with pytest.raises(IntegrityError):
        store.lay(digest, str(tmp_path / "a" / "out"))

    assert not list(tmp_path.rglob("escaped"))


@pytest.mark.parametrize("planted", ["fifo", "loop", "deep", "unreadable"])
def test_a_folder_that_cannot_be_read_whole_is_not_kept_and_never_waited_for(
    store: Store, tmp_path: Path, planted: str
) -> None:
    folder = skill(tmp_path / "skill")
    if planted == "fifo":
        os.mkfifo(folder / "pipe")
    elif planted == "loop":
        folder = folder / "loop"
        folder.symlink_to(".")
    elif planted == "deep":
        os.makedirs(folder / "/".join("d" * 150))
    else:
        folder = folder / "SKILL.md"

    with pytest.raises(StoreError):
        store.keep(str(folder))

    assert [] == list(store.digests())
    assert "sha256:" not in state_of(str(folder))


def test_links_in_a_quarantined_folder_lead_nowhere(store: Store, tmp_path: Path) -> None:
    outside = skill(tmp_path / "outside")
    quarantine = skill(tmp_path / "quarantine")
    (quarantine / "sub").symlink_to(outside)
    (quarantine / "one").symlink_to(outside / "SKILL.md")
    size, sha256 = 4, hashlib.sha256(b"text").digest()

    for path in ("sub/SKILL.md", "one"):
        with pytest.raises(IntegrityError) as caught:
            store.take(str(quarantine), [TreeFile(path, size, sha256, False)])

        assert "digest" == caught.value.code

    assert "text" == (outside / "SKILL.md").read_text()


# HE-42
@pytest.mark.parametrize(
    "path",
    [
        "{below}",
        "{below}/",
        "{below}/..",
        "{below}/../other",
        "{below}/a/../b",
        "{below}/./a",
        "{below}/a//b",
        "{below}/a/",
        "{below}other/a",
        "/etc/passwd",
        "a",
        "",
        "{below}/a\0b",
        "{below}/\ud800",
    ],
)
@pytest.mark.parametrize("kind", ["switch", "file"])
def test_a_place_that_is_not_strictly_inside_is_refused_before_anything_happens(
    changer: Changer, tmp_path: Path, path: str, kind: str
) -> None:
    below = skill(tmp_path / "project")
    path = path.format(below=below)
    good = Switch(str(below / "fine"), str(below), "", "link:aim")
    bad = Switch(path, str(below), state_of(str(below)), "")
    change = (
        StoreChange((good, bad))
        if kind == "switch"
        else StoreChange((good,), (Replace(path, str(below), None, b"x"),))
    )

    with pytest.raises(RefusedError) as caught:
        changer.apply(change)

    assert "outside" == caught.value.code
    assert ["SKILL.md"] == os.listdir(below)


# HE-42
@pytest.mark.parametrize("depth", ["one", "one/two"])
def test_a_place_behind_a_link_is_refused(changer: Changer, tmp_path: Path, depth: str) -> None:
    outside = skill(tmp_path / "outside" / "two" / "pdf").parent.parent
    below = tmp_path / "project"
    below.mkdir()
    (below / "one").symlink_to(outside)
    place = below / depth / "pdf" if depth == "one/two" else below / "one" / "two"

    with pytest.raises(RefusedError) as caught:
        changer.apply(StoreChange((Switch(str(place), str(below), state_of(str(place)), ""),)))

    assert "outside" == caught.value.code
    assert "text" == (outside / "two" / "pdf" / "SKILL.md").read_text()


def test_a_link_that_is_removed_or_replaced_leaves_what_it_points_to(
    changer: Changer, store: Store, tmp_path: Path
) -> None:
    outside = skill(tmp_path / "outside")
    (outside / "precious").write_text("precious")
    below = tmp_path / "project"
    (below / "skills").mkdir(parents=True)
    for name in ("goes", "changes"):
        (below / "skills" / name).symlink_to(outside)
    digest, before = store.keep(str(skill(tmp_path / "new"))), f"link:{outside}"

    changer.apply(
        StoreChange(
            (
                Switch(f"{below}/skills/goes", str(below), before, ""),
                Switch(f"{below}/skills/changes", str(below), before, digest),
            )
        )
    )

    assert ["SKILL.md", "precious"] == sorted(os.listdir(outside))
    assert ["changes"] == os.listdir(below / "skills")
    assert digest == state_of(str(below / "skills" / "changes"))


@pytest.mark.parametrize("aim", ["", "a\0b", "\ud800"])
def test_a_link_that_no_system_can_make_is_refused(
    changer: Changer, tmp_path: Path, aim: str
) -> None:
    (tmp_path / "project").mkdir()

    with pytest.raises(RefusedError) as caught:
        changer.apply(
            StoreChange(
                (Switch(f"{tmp_path}/project/a/b", f"{tmp_path}/project", "", f"link:{aim}"),)
            )
        )

    assert ("unsafe-link", []) == (caught.value.code, os.listdir(tmp_path / "project"))


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 5000])
def test_a_folder_of_an_impossible_name_is_an_error_of_metiers(
    store: Store, tmp_path: Path, name: str
) -> None:
    digest = store.keep(str(skill(tmp_path / "skill")))

    for call in (
        lambda: store.keep(f"{tmp_path}/{name}"),
        lambda: store.lay(digest, f"{tmp_path}/{name}"),
    ):
        with pytest.raises(StoreError) as caught:
            call()

        assert "store" == caught.value.code


@pytest.mark.parametrize("twice", ["same", "nested"])
def test_a_change_that_names_a_place_twice_is_refused(
    changer: Changer, tmp_path: Path, twice: str
) -> None:
    below = str(tmp_path)
    places = [f"{below}/a", f"{below}/a" + ("/b" if twice == "nested" else "")]

    with pytest.raises(RefusedError) as caught:
        changer.apply(StoreChange(tuple(Switch(place, below, "", "link:x") for place in places)))

    assert "collision" == caught.value.code


@pytest.mark.parametrize(
    "data",
    [
        *TEXT,
        json.dumps(
            {"format": 1, "stages": [["/etc", "/"]], "made": [], "moves": [], "back": False}
        ).encode(),
    ],
)
def test_a_forged_journal_is_set_aside_and_nothing_is_swept(changer: Changer, data: bytes) -> None:
    folder = Path(changer.folder)
    folder.mkdir(parents=True)
    (folder / "journal.json").write_bytes(data)

    lines = changer.recover()

    assert 1 == len(lines)
    assert "cannot be read" in lines[0]
    assert [True, True] == sorted(
        name == "lock" or name.endswith(".damaged") for name in os.listdir(folder)
    )
    assert () == changer.recover()


def test_a_forged_journal_sweeps_nothing_but_staging_folders(
    changer: Changer, tmp_path: Path
) -> None:
    precious = skill(tmp_path / "project" / "precious")
    (tmp_path / "project" / ".metier-x").symlink_to(precious)
    places = [[f"{tmp_path}/project/.metier-x", str(tmp_path)]]
    found = {
        "format": 1,
        "stages": places,
        "made": [[str(precious), str(tmp_path)]],
        "moves": [],
        "back": False,
    }
    Path(changer.folder).mkdir(parents=True)
    Path(changer.folder, "journal.json").write_text(json.dumps(found))

    changer.recover()

    assert "text" == (precious / "SKILL.md").read_text()


def journal_of(changer: Changer, project: Path, **more: object) -> Path:
    """Plant a journal that takes a folder away."""
    precious = skill(project / "precious")
    slot, below = f"{project}/.metier-x/0", str(project)
    found = {
        "format": 1,
        "stages": [],
        "made": [],
        "moves": [[str(precious), below, state_of(str(precious)), "", slot]],
        "back": False,
    }
    Path(changer.folder).mkdir(parents=True)
    (project / ".metier-x").mkdir()
    Path(changer.folder, "journal.json").write_text(json.dumps({**found, **more}))
    return precious


def test_a_journal_of_a_newer_metier_is_left_for_that_one(changer: Changer, tmp_path: Path) -> None:
    precious = journal_of(changer, tmp_path / "project", format=2)

    with pytest.raises(StoreError) as caught:
        changer.recover()

    assert ("unsettled", True) == (caught.value.code, Path(changer.folder, "journal.json").exists())
    assert "text" == (precious / "SKILL.md").read_text()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_journal_of_another_user_is_not_obeyed(changer: Changer, tmp_path: Path) -> None:
    precious = journal_of(changer, tmp_path / "project")
    os.chown(Path(changer.folder, "journal.json"), 12345, 12345)

    with pytest.raises(StoreError) as caught:
        changer.recover()

    assert ("unsettled", "text") == (caught.value.code, (precious / "SKILL.md").read_text())


def test_a_planted_pipe_or_link_in_the_place_of_the_lock_is_an_error(
    tmp_path: Path, store: Store
) -> None:
    for kind in ("pipe", "link"):
        folder = tmp_path / kind
        folder.mkdir()
        if kind == "pipe":
            os.mkfifo(folder / "lock")
        else:
            (folder / "lock").symlink_to("/etc/passwd")

        with pytest.raises(MetierError) as caught:
            Changer(str(folder), None, store, OsDiskCalls()).recover()

        assert "store" == caught.value.code
