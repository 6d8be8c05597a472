"""An agent that is told to misuse `skill_manage`: paths that leave the skill, links, races, floods. Nothing outside changes."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conformance.folders import Place, plugin, skill, write

from metier.errors import MetierError, RefusedError

TEXT = "---\nname: {name}\ndescription: Writes notes. Use it for notes.\n---\n\n# Notes\n\nWrite the note down.\n"
OUT_OF_IT = [
    "../x.md",
    "references/../../x.md",
    "/etc/x",
    "~/x",
    "references/..\\..\\x",
    "..",
    "references/\0",
    "C:/x",
    "SKILL.md/../../x",
]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Give a machine with a home and a project, both empty."""
    return Place(tmp_path)


@pytest.fixture
def notes(place: Place) -> Path:
    """Write a skill of the user's own."""
    folder = skill(
        place.home / ".agents/skills/notes", files={"references/guide.md": "the guide\n"}
    )
    write(place.base / "outside/secret.md", "untouched\n")
    return folder


def everything(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Give every file below a folder; the state of metier itself does not count."""
    return {
        path.relative_to(folder).as_posix(): (
            path.read_bytes() if path.is_file() and not path.is_symlink() else b"",
            path.lstat().st_mode,
        )
        for path in sorted(folder.rglob("*"))
        if "state" not in path.relative_to(folder).parts
    }


@pytest.mark.parametrize("path", OUT_OF_IT)
@pytest.mark.parametrize(
    ("action", "more"),
    [("write_file", {"content": "x"}), ("remove_file", {}), ("patch", {"old": "a", "new": "b"})],
)
def test_no_path_leaves_the_skill(
    place: Place, notes: Path, path: str, action: str, more: dict[str, str]
) -> None:
    before = everything(place.base)

    with pytest.raises(RefusedError):
        place.scopes().manage(action, "notes", file=path, **more)

    assert before == everything(place.base)
    assert notes.exists()


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "/tmp/x",
        "a/b",
        ".",
        "..",
        "",
        "x\0",
        "x" * 1_000_000,
        "\ud800",
        "NOTES",
        "con:",
        "-rf",
    ],
)
def test_no_name_leaves_the_root(place: Place, name: str) -> None:
    with pytest.raises(MetierError):
        place.scopes().manage("create", name, content=TEXT.format(name="notes"))

    assert {} == everything(place.home)


def link_file(notes: Path, outside: Path) -> None:
    (notes / "references/guide.md").unlink()
    (notes / "references/guide.md").symlink_to(outside / "secret.md")


def link_folder(notes: Path, outside: Path) -> None:
    (notes / "references/guide.md").unlink()
    (notes / "references").rmdir()
    (notes / "references").symlink_to(outside)
    (outside / "guide.md").write_text("untouched\n")


def link_main(notes: Path, outside: Path) -> None:
    (notes / "SKILL.md").rename(outside / "SKILL.md")
    (notes / "SKILL.md").symlink_to(outside / "SKILL.md")


def link_skill(notes: Path, outside: Path) -> None:
    notes.rename(outside / "notes")
    notes.symlink_to(outside / "notes")


def link_category(notes: Path, outside: Path) -> None:
    (outside / "group").mkdir()
    notes.rename(outside / "group/notes")
    notes.parent.joinpath("group").symlink_to(outside / "group")


@pytest.mark.parametrize("linked", [link_file, link_folder, link_main, link_skill, link_category])
@pytest.mark.parametrize(
    ("action", "parts"),
    [
        ("write_file", {"file": "references/guide.md", "content": "x"}),
        ("remove_file", {"file": "references/guide.md"}),
        ("patch", {"file": "references/guide.md", "old": "untouched", "new": "touched"}),
        ("edit", {"content": TEXT.format(name="notes")}),
        ("delete", {}),
    ],
)
def test_nothing_behind_a_link_is_changed(
    place: Place,
    notes: Path,
    linked: Callable[[Path, Path], None],
    action: str,
    parts: dict[str, Any],
) -> None:
    outside = place.base / "outside"
    linked(notes, outside)
    before = everything(outside)

    try:
        place.scopes().manage(action, "notes", **parts)
    except MetierError:
        pass

    assert before == everything(outside)


def test_a_category_that_is_a_link_takes_no_skill(place: Place, notes: Path) -> None:
    (notes.parent / "group").symlink_to(place.base / "outside")

    with pytest.raises(RefusedError):
        place.scopes().manage("create", "more", content=TEXT.format(name="more"), category="group")

    assert not (place.base / "outside/more").exists()


@pytest.mark.parametrize("moment", range(1, 6))
def test_a_category_that_becomes_a_link_at_the_last_moment_takes_no_skill(
    place: Place, notes: Path, moment: int
) -> None:
    library = place.scopes()
    library.skills()
    group, steps = notes.parent / "group", [0]
    group.mkdir()

    def progress(what: str, _count: int, _total: int) -> None:
        steps[0] += what == "changes"
        if steps[0] == moment and not group.is_symlink():
            group.rename(place.base / "was")
            group.symlink_to(place.base / "outside")

    library.context.progress = progress
    try:
        library.manage("create", "more", content=TEXT.format(name="more"), category="group")
    except MetierError:
        pass

    assert ["outside/secret.md"] == [
        path for path in everything(place.base) if path.startswith("outside/")
    ]


@pytest.mark.parametrize("moment", range(1, 5))
def test_a_folder_that_becomes_a_link_at_the_last_moment_is_not_followed(
    place: Place, notes: Path, moment: int
) -> None:
    library = place.scopes()
    library.skills()
    steps = [0]

    def progress(what: str, _count: int, _total: int) -> None:
        steps[0] += what == "changes"
        if steps[0] == moment and not (notes / "references").is_symlink():
            (notes / "references").rename(place.base / "was")
            (notes / "references").symlink_to(place.base / "outside")

    library.context.progress = progress
    try:
        library.manage("write_file", "notes", file="references/secret.md", content="touched\n")
    except MetierError:
        pass

    assert "untouched\n" == (place.base / "outside/secret.md").read_text()


@pytest.mark.parametrize("scope", ["project", "plugin", "system", "external"])
def test_only_the_user_s_own_skills_are_changed(place: Place, scope: str) -> None:
    folders = {
        "project": place.project / ".agents/skills/x",
        "plugin": place.home / ".codex/plugins/cache/m/p/1.0.0/skills/x",
        "system": place.home / ".codex/skills/.system/x",
        "external": place.base / "shared/x",
    }
    folder = skill(folders[scope], name="x")
    if scope == "plugin":
        plugin(folder.parent.parent, "p")
    place.configure(f'external_dirs = ["{place.base}/shared"]\n')
    library = place.scopes(agent="codex" if scope == "system" else None)
    if scope == "project":
        library.trust_project(str(place.project))
    (card,) = library.skills()
    before = everything(place.base)

    for action, parts in (
        ("delete", {}),
        ("edit", {"content": TEXT.format(name="x")}),
        ("write_file", {"file": "assets/a", "content": "b"}),
    ):
        with pytest.raises(RefusedError) as caught:
            library.manage(action, card.path, **parts)
        assert "not-own" == caught.value.code

    assert scope == card.scope
    assert before == everything(place.base)


def test_a_root_is_not_deleted_nor_what_holds_one_or_other_skills(place: Place) -> None:
    skill(place.root)
    outer = skill(place.base / "two/outer")
    inner = skill(outer / "inner")
    library, nested = place.open(), place.open(place.base / "two")
    holding = place.open(place.base / "two", outer / "deeper")

    for opened, name in ((library, "root"), (nested, "outer"), (holding, "outer")):
        with pytest.raises(RefusedError) as caught:
            opened.manage("delete", name)
        assert "root" == caught.value.code

    assert (place.root / "SKILL.md").exists()
    assert inner.exists()


def a_pipe(notes: Path) -> None:
    os.mkfifo(notes / "references/pipe")


def too_many(notes: Path) -> None:
    (notes / "assets").mkdir()
    for number in range(20_001):
        os.link(notes / "references/guide.md", notes / f"assets/{number}")


def too_large(notes: Path) -> None:
    with (notes / "references/huge").open("wb") as file:
        file.truncate(300 * 1024 * 1024)


@pytest.mark.parametrize("spoilt", [a_pipe, too_many, too_large])
def test_a_tree_that_cannot_be_read_whole_is_not_changed(
    place: Place, notes: Path, spoilt: Callable[[Path], None]
) -> None:
    spoilt(notes)

    with pytest.raises(RefusedError, match="cannot be changed"):
        place.scopes().manage("write_file", "notes", file="references/a.md", content="x")

    assert not (notes / "references/a.md").exists()
    assert [] == list((place.base / "state/manage").iterdir())


def test_a_flood_of_drafts_ends(place: Place, notes: Path) -> None:
    place.configure('[manage]\nreview = "always"\n')
    pending = place.base / "state/pending/skills"
    pending.mkdir(parents=True)
    for number in range(1_000):
        (pending / f"{number}.json").touch()

    with pytest.raises(RefusedError) as caught:
        place.scopes().manage("delete", "notes")

    assert "full" == caught.value.code
    assert notes.exists()


def test_a_quadratic_patch_is_none(place: Place, notes: Path) -> None:
    body = "a\n" * 250_000
    write(notes / "references/long.md", body)

    with pytest.raises(RefusedError, match="not in the file"):
        place.scopes().manage(
            "patch", "notes", file="references/long.md", old=" a\n" * 120_000 + "b", new="c"
        )

    assert body == (notes / "references/long.md").read_text()


def test_many_at_once_lose_nothing_of_each_other_s(place: Place, notes: Path) -> None:
    def write_one(number: int) -> bool:
        return (
            place.scopes()
            .manage("write_file", "notes", file=f"references/{number}.md", content=f"{number}\n")
            .ok
        )

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(write_one, range(16)))

    assert [True] * 16 == done
    assert {f"{number}.md": f"{number}\n" for number in range(16)} | {
        "guide.md": "the guide\n"
    } == {path.name: path.read_text() for path in (notes / "references").iterdir()}


def test_of_many_that_create_one_skill_one_does(place: Place) -> None:
    def create(number: int) -> str:
        try:
            place.scopes().manage(
                "create", "more", content=TEXT.format(name="more") + f"\nNumber {number}.\n"
            )
        except RefusedError as error:
            return error.code
        return "created"

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(create, range(12)))

    assert ["created", *["exists"] * 11] == sorted(done)
    assert ["SKILL.md"] == [path.name for path in (place.home / ".agents/skills/more").iterdir()]


def test_hostile_bytes_in_the_old_file_stop_nothing(place: Place, notes: Path) -> None:
    write(notes / "references/odd.bin", b"\xff\0" * 100)
    write(notes / os.fsdecode(b"references/\xff\xfe.md"), "odd name\n")
    library = place.scopes()

    with pytest.raises(RefusedError, match="is not text"):
        library.manage("patch", "notes", file="references/odd.bin", old="x", new="y")
    done = library.manage("write_file", "notes", file="references/a.md", content="x\n")

    assert done.ok
    assert "odd name\n" == (notes / os.fsdecode(b"references/\xff\xfe.md")).read_text()


def test_a_tree_that_is_full_of_links_keeps_them(place: Place, notes: Path) -> None:
    (notes / "assets").mkdir()
    (notes / "assets/away").symlink_to("/etc/passwd")
    (notes / "assets/gone").symlink_to("nowhere")
    place.configure('[manage]\nreview = "never"\n')

    try:
        place.scopes().manage("write_file", "notes", file="references/a.md", content="x\n")
    except RefusedError as error:
        assert "blocked" == error.code  # noqa: PT017 - a scan may call such links dangerous; either way they stay

    assert "/etc/passwd" == os.readlink(notes / "assets/away")
    assert "nowhere" == os.readlink(notes / "assets/gone")
