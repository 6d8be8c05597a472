"""A change that is interrupted, or that a crash left behind: nothing is lost, nothing is half done, and what was done is known."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conformance.folders import Place, write

from metier.author.io import skill_folder, staging
from metier.errors import MetierError, RefusedError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT = "---\nname: {name}\ndescription: Writes notes. Use it for notes.\n---\n\n# Notes\n\nWrite the note down.\n"
ACTIONS: list[tuple[str, dict[str, Any]]] = [
    ("create", {"content": TEXT.format(name="more"), "category": "office"}),
    ("edit", {"content": TEXT.format(name="notes") + "\n"}),
    ("write_file", {"file": "assets/new/a.txt", "content": "a"}),
    ("remove_file", {"file": "references/guide.md"}),
    ("delete", {}),
]
HEX = "0123456789abcdef" * 2


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Give a machine with a home and a project, both empty."""
    return Place(tmp_path)


@pytest.fixture
def notes(place: Place) -> Path:
    """Write a skill of the user's own, with a file."""
    return made_anew(place)


def made_anew(place: Place) -> Path:
    folder = place.home / ".agents/skills/group/notes"
    write(folder / "SKILL.md", TEXT.format(name="notes"))
    write(folder / "references/guide.md", "the guide\n")
    return folder


def everything(folder: Path) -> dict[str, bytes]:
    """Give every file and folder below a folder, with its bytes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
    }


def contents(folder: Path) -> set[bytes]:
    """Give the bytes of every file below a folder."""
    return {path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Interrupting:
    """The `os` module, with an interrupt right after one of the calls that change something."""

    def __init__(self, at: int, *, other_device: bool = False) -> None:
        """Say after which call; with 0 after none. `other_device` makes moving to the trash fail as it does between two."""
        self.at, self.calls, self.other_device = at, 0, other_device

    def __getattr__(self, name: str) -> Any:
        found = getattr(os, name)
        return (
            self.counted(name, found) if name in {"rename", "unlink", "mkdir", "rmdir"} else found
        )

    def counted(self, name: str, call: Callable[..., None]) -> Callable[..., None]:
        def counting(*given: Any, **more: Any) -> None:
            if name == "rename" and self.other_device and "/trash/" in given[1]:
                raise OSError(errno.EXDEV, "another device")
            call(*given, **more)
            self.calls += 1
            if self.calls == self.at:
                raise KeyboardInterrupt

        return counting


def interrupted(
    monkeypatch: pytest.MonkeyPatch,
    at: int,
    work: Callable[[], object],
    *,
    other_device: bool = False,
) -> bool:
    """Do some work that is interrupted; tell whether it was."""
    with monkeypatch.context() as patched:
        system = Interrupting(at, other_device=other_device)
        for module in (staging, skill_folder):
            patched.setattr(module, "os", system)
        try:
            work()
        except KeyboardInterrupt:
            return True
    return False


@pytest.mark.parametrize("other_device", [False, True])
@pytest.mark.parametrize(("action", "parts"), ACTIONS)
def test_an_interrupt_after_any_call_loses_nothing_and_hides_nothing(
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
    action: str,
    parts: dict[str, Any],
    other_device: bool,
) -> None:
    name, skills = "more" if action == "create" else "notes", place.home / ".agents/skills"
    at, was_cut = 0, True
    while was_cut:
        at += 1
        made_anew(place)
        place.env["METIER_HOME"] = str(place.base / f"state-{at}")
        library = place.scopes()
        library.skills()
        before, files = everything(skills), contents(skills)

        def work(library: Any = library) -> None:
            library.manage(action, name, **parts)

        was_cut = interrupted(monkeypatch, at, work, other_device=other_device)

        is_made = before != everything(skills)
        state = place.base / f"state-{at}"
        assert is_made == (["allowed"] == [event["outcome"] for event in library.audit_tail()]), at
        gone = files - contents(skills) - contents(state / "trash") if action != "edit" else set()
        assert set() == gone, at
        assert [] == list(skills.rglob(".metier-*")) + list((state / "manage").glob("*")), at
        if not is_made:
            assert set() == contents(state / "trash"), at
        else:
            import shutil

            shutil.rmtree(place.home / ".agents")
    assert at > 2


def test_a_skill_in_the_trash_stays_there_when_its_name_is_taken_again(
    place: Place, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = place.scopes()
    library.skills()

    class Retaken(Interrupting):
        """Has somebody write a new skill of the same name as soon as the old one is moved."""

        def counted(self, name: str, call: Callable[..., None]) -> Callable[..., None]:
            def moving(*given: Any, **more: Any) -> None:
                call(*given, **more)
                if name == "rename":
                    write(notes / "SKILL.md", "another's\n")
                    raise KeyboardInterrupt

            return moving

    monkeypatch.setattr(skill_folder, "os", Retaken(0))

    with pytest.raises(KeyboardInterrupt):
        library.manage("delete", "notes")

    assert {TEXT.format(name="notes").encode(), b"the guide\n"} == contents(
        place.base / "state/trash"
    )


def test_a_change_is_noted_down_before_the_skills_are_listed_again(
    place: Place, notes: Path
) -> None:
    library = place.scopes()
    catalogue = library.context.catalogue
    real, count = catalogue.reload, [0]

    def reload(*given: Any, **more: Any) -> Any:
        count[0] += 1
        if count[0] == 2:
            raise KeyboardInterrupt
        return real(*given, **more)

    catalogue.reload = reload  # type: ignore[method-assign]

    with pytest.raises(KeyboardInterrupt):
        library.manage("remove_file", "notes", file="references/guide.md")

    assert not (notes / "references").exists()
    assert ["allowed"] == [event["outcome"] for event in library.audit_tail()]


@pytest.mark.usefixtures("notes")
def test_what_the_library_warns_of_meanwhile_is_said_with_the_change(place: Place) -> None:
    write(place.base / "state/audit", "no folder")
    library = place.scopes()
    library.context.warnings.append("an old one")

    done = library.manage("write_file", "notes", file="references/a.md", content="a\n")

    assert any("audit" in warning for warning in done.warnings)
    assert "an old one" not in done.warnings


# --- what a crash left behind


def test_the_next_change_takes_away_what_a_crash_left_behind(place: Place, notes: Path) -> None:
    skills, state = place.home / ".agents/skills", place.base / "state"
    write(state / "manage/one/notes/SKILL.md", "half")
    write(state / "manage/two", "half")
    (state / "manage/three").symlink_to(notes)
    write(skills / f".metier-{HEX}/SKILL.md", "half")
    write(skills / f".metier-{HEX[::-1]}", "half")

    place.scopes().manage("write_file", "notes", file="references/a.md", content="a\n")

    assert [] == list((state / "manage").iterdir())
    assert ["group"] == [path.name for path in skills.iterdir()]
    assert "the guide\n" == (notes / "references/guide.md").read_text()


def test_only_what_is_surely_metier_s_own_is_taken_away(place: Place, notes: Path) -> None:
    skills, outside = place.home / ".agents/skills", write(place.base / "outside/kept.md", "kept")
    write(skills / f".metier-{HEX}x/a", "kept")
    write(skills / ".metier-notes", "kept")
    write(skills / f"group/.metier-{HEX}", "kept")
    (skills / f".metier-{HEX}").symlink_to(outside.parent)
    (place.base / "state").mkdir()
    (place.base / "state/manage").symlink_to(outside.parent)

    try:
        place.scopes().manage("write_file", "notes", file="references/a.md", content="a\n")
    except MetierError:
        pass

    assert "kept" == outside.read_text()
    assert {f".metier-{HEX}x", ".metier-notes", f".metier-{HEX}", "group"} == {
        path.name for path in skills.iterdir()
    }
    assert (notes.parent / f".metier-{HEX}").exists()


# --- whose it is


def test_what_waits_or_was_taken_away_is_for_its_owner_alone(place: Place, notes: Path) -> None:
    state = place.base / "state"
    for name in ("pending/skills", "manage", "trash"):
        (state / name).mkdir(parents=True)
    for folder in state.rglob("*"):
        folder.chmod(0o755)
    library = place.scopes()

    library.manage("patch", "notes", old="name: notes", new="name: notes\nallowed-tools: Bash(*)")
    library.manage("delete", "notes")

    kept = [
        state / "pending",
        state / "pending/skills",
        state / "manage",
        state / "trash",
        *(state / "trash").iterdir(),
    ]
    assert {0o700} == {path.stat().st_mode & 0o777 for path in kept}
    assert not notes.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize(
    ("closed", "action", "parts", "said"),
    [
        ("group/notes", "delete", {}, "group/notes"),
        ("group", "delete", {}, "group"),
        (
            "group/notes/references",
            "remove_file",
            {"file": "references/guide.md"},
            "group/notes/references",
        ),
        (
            "group/notes/references",
            "write_file",
            {"file": "references/b.md", "content": "b"},
            "group/notes/references",
        ),
        ("group/notes", "write_file", {"file": "assets/b.md", "content": "b"}, "group/notes"),
        (".", "edit", {"content": TEXT.format(name="notes") + "\n"}, ""),
        (".", "create", {"content": TEXT.format(name="more")}, ""),
    ],
)
def test_an_error_names_the_folder_that_cannot_be_written(
    place: Place, notes: Path, closed: str, action: str, parts: dict[str, Any], said: str
) -> None:
    skills = place.home / ".agents/skills"
    (skills / closed).chmod(0o555)
    try:
        with pytest.raises(StoreError) as caught:
            place.scopes().manage(action, "more" if action == "create" else "notes", **parts)
    finally:
        (skills / closed).chmod(0o755)

    assert f"cannot write {skills / said}: " in caught.value.message
    assert {TEXT.format(name="notes").encode(), b"the guide\n"} == contents(notes)


@pytest.mark.parametrize("failing", ["rename", "unlink"])
def test_an_error_of_the_disk_is_said_of_the_skill_and_not_of_the_trash(
    place: Place, notes: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    class ReadOnly(Interrupting):
        """Refuses one kind of call."""

        def counted(self, name: str, call: Callable[..., None]) -> Callable[..., None]:
            def refusing(*_given: Any, **_more: Any) -> None:
                raise OSError(errno.EROFS, "Read-only file system")

            return refusing if name == failing else call

    library = place.scopes()
    library.skills()
    monkeypatch.setattr(skill_folder, "os", ReadOnly(0))

    with pytest.raises(StoreError) as caught:
        library.manage(
            *(("delete", "notes") if failing == "rename" else ("remove_file", "notes")),
            **({} if failing == "rename" else {"file": "references/guide.md"}),
        )

    assert (
        f"cannot write {notes if failing == 'rename' else notes / 'references'}: Read-only"
        in caught.value.message
    )
    assert set() == contents(place.base / "state/trash")
    assert not isinstance(caught.value, RefusedError)
