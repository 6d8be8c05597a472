"""Deciding about drafts, broken off at every step: afterwards neither the draft nor an edit is lost, and both agree."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conformance.folders import Place, write
from fakes.hands import Fault, FaultyHands, in_a_child

from metier.errors import MetierError
from metier.review.drafts import DraftReviews
from metier.supply import places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from metier.library import Library

TEXT = "---\nname: notes\ndescription: Writes notes. Use it for notes.\n---\n\n# Notes\n\nWrite the note down.\n\nThen file it.\n\nThen rest.\n"
WANTED = TEXT.replace("rest", "sleep")
EDITED = TEXT.replace("Write the note", "Write each note")


class Scene:
    """A machine on which a draft waits; it can be set up again as often as there are steps to break."""

    def __init__(self, folder: Path, *, action: str, edited: bool, desk: bool) -> None:
        """Make the skill and the draft once; `again` copies all of it."""
        (folder / "made").mkdir()
        self.folder, self.place = folder, Place(folder / "made")
        self.place.configure('[manage]\nreview = "always"\n')
        write(self.notes / "SKILL.md", TEXT)
        write(self.notes / "references/guide.md", "the guide\n")
        library = self.place.scopes()
        parts = {"content": WANTED} if action == "edit" else {}
        self.ident = f"draft:{library.manage(action, 'notes', **parts).staged}"
        if desk:
            write(
                Path(DraftReviews(library.context).edit(self.ident).desk) / "assets/own.txt",
                "a person's own\n",
            )
        if edited:
            write(self.notes / "SKILL.md", EDITED)
        library.close()

    @property
    def notes(self) -> Path:
        return self.place.home / ".agents/skills/notes"

    @property
    def state(self) -> Path:
        return self.place.base / "state"

    def again(self) -> Library:
        """Set the scene anew: the same folder, with what is in it as at first."""
        kept = self.folder / "kept"
        if not kept.exists():
            shutil.copytree(self.place.base, kept, symlinks=True)
        else:
            shutil.rmtree(self.place.base)
            shutil.copytree(kept, self.place.base, symlinks=True)
        return self.place.scopes()


def broken_off(scene: Scene, work: Callable[[Library], object], at: int, fault: Fault) -> bool:
    """Do some work that breaks at a step; tell whether it came so far."""
    library = scene.again()
    library.context.disk_calls = hands = FaultyHands(at, fault)
    if fault == "SIGKILL":
        return in_a_child(lambda: work(library)) != 0
    try:
        work(library)
    except MetierError:
        return True
    return hands.steps >= at


def steps_of(scene: Scene, work: Callable[[Library], object]) -> Iterator[int]:
    """Give every step that matters: what is written in quarantine is looked at by nobody, and is swept."""
    library = scene.again()
    library.context.disk_calls = hands = FaultyHands()
    work(library)
    at = 0
    for name, path in hands.done:
        numbers = (at + 1, at + 2) if name == "write" else (at + 1,)
        at = numbers[-1]
        yield from numbers if "/staging/" not in path else ()


def contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def everywhere(scene: Scene) -> set[bytes]:
    """Give the bytes of every file that a person could find again: the skill, desks, the trash and the store."""
    folders = [
        scene.place.home,
        *(scene.state / name for name in ("review", "trash", "store/blobs")),
    ]
    return {path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("action", "desk", "fault"),
    [("edit", False, "ENOSPC"), ("edit", True, "SIGKILL"), ("delete", False, "SIGKILL")],
)
def test_accepting_that_is_broken_off_is_done_or_can_be_done_again(
    tmp_path: Path, fault: Fault, action: str, desk: bool
) -> None:
    scene = Scene(tmp_path, action=action, edited=False, desk=desk)
    before = {"SKILL.md": TEXT, "references/guide.md": "the guide\n"}
    own = {"assets/own.txt": "a person's own\n"} if desk else {}
    after = {} if action == "delete" else {**before, "SKILL.md": WANTED, **own}

    def work(library: Library) -> Any:
        return DraftReviews(library.context).accept(scene.ident, "", reason="")

    for at in steps_of(scene, work):
        broken_off(scene, work, at, fault)

        library = scene.place.scopes()
        assert contents(scene.notes) in (before, after), at
        assert [scene.ident] == [
            one.id for one in DraftReviews(library.context).waiting(everything=True)
        ], at
        places.recover(library.context)
        (found,) = DraftReviews(library.context).waiting(everything=True)
        if found.status == "open":
            assert before == contents(scene.notes), at
            assert DraftReviews(library.context).accept(scene.ident, "", reason="").done, at
        assert after == contents(scene.notes), at
        assert {TEXT.encode(), b"the guide\n"} <= everywhere(scene), at
        assert ["published"] == [
            one.status for one in DraftReviews(library.context).waiting(everything=True)
        ], at
        assert [] == list((scene.place.home / ".agents").rglob(".metier-*")), at


def test_a_rebase_that_is_broken_off_loses_neither_draft_nor_edit(tmp_path: Path) -> None:
    scene = Scene(tmp_path, action="edit", edited=True, desk=False)

    def work(library: Library) -> Any:
        return DraftReviews(library.context).accept(scene.ident, "", reason="")

    for at in steps_of(scene, work):
        broken_off(scene, work, at, "SIGKILL")

        library = scene.place.scopes()
        assert EDITED == contents(scene.notes)["SKILL.md"], at
        assert [scene.ident] == [
            one.id for one in DraftReviews(library.context).waiting(everything=False)
        ], at
        if not DraftReviews(library.context).accept(scene.ident, "", reason="").done:
            assert DraftReviews(library.context).accept(scene.ident, "", reason="").done, at
        assert EDITED.replace("rest", "sleep") == contents(scene.notes)["SKILL.md"], at


def test_rejecting_that_is_broken_off_keeps_the_draft_somewhere(tmp_path: Path) -> None:
    scene = Scene(tmp_path, action="edit", edited=True, desk=True)

    def work(library: Library) -> Any:
        return DraftReviews(library.context).reject(scene.ident, reason="no")

    for at in steps_of(scene, work):
        broken_off(scene, work, at, "SIGKILL")

        library = scene.place.scopes()
        assert EDITED == contents(scene.notes)["SKILL.md"], at
        places.recover(library.context)
        (found,) = DraftReviews(library.context).waiting(everything=True)
        if found.status == "open":
            DraftReviews(library.context).reject(scene.ident, reason="no")
        assert ["rejected"] == [
            one.status for one in DraftReviews(library.context).waiting(everything=True)
        ], at
        assert b"a person's own\n" in everywhere(scene), at


def test_laying_a_desk_that_is_broken_off_can_be_done_again(tmp_path: Path) -> None:
    scene = Scene(tmp_path, action="edit", edited=True, desk=False)

    def work(library: Library) -> Any:
        return DraftReviews(library.context).edit(scene.ident)

    for at in steps_of(scene, work):
        broken_off(scene, work, at, "SIGKILL")

        desk = Path(DraftReviews(scene.place.scopes().context).edit(scene.ident).desk)
        assert EDITED.replace("rest", "sleep") == contents(desk)["SKILL.md"], at
        assert EDITED == contents(scene.notes)["SKILL.md"], at


class Meddling(FaultyHands):
    """DiskCalls beside which somebody edits the skill at the last moment."""

    def __init__(self, meddle: Callable[[], object]) -> None:
        """Say what that somebody does."""
        super().__init__()
        self.meddle = meddle

    def swap(self, one: str, other: str) -> bool:
        """Be too late."""
        self.meddle()
        return super().swap(one, other)


def test_an_edit_at_the_last_moment_lies_where_a_person_finds_it(tmp_path: Path) -> None:
    scene = Scene(tmp_path, action="edit", edited=False, desk=False)
    library = scene.again()
    library.context.disk_calls = Meddling(
        lambda: (
            write(scene.notes / "references/guide.md", "edited at the last moment\n")
            if scene.notes.exists()
            else None
        )
    )

    done = DraftReviews(library.context).accept(scene.ident, "", reason="")

    assert done.done
    assert WANTED == contents(scene.notes)["SKILL.md"]
    (aside,) = [
        path for path in (scene.state / "review").iterdir() if path.name.startswith("edited-")
    ]
    assert "edited at the last moment\n" == (aside / "references/guide.md").read_text()
    assert any(str(aside) in warning for warning in library.context.warnings)
