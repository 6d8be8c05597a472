"""Works out what a draft comes to today, and keeps the folder in which a person edits it.

That takes three trees: what the draft starts from, the skill as it is now, and what the draft makes
of the first. An edit folder is an ordinary folder; one that was worked on is never lost.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from metier.author.model import EditFolder
from metier.discover.io import disk
from metier.errors import IntegrityError
from metier.plugins.workspace import NO_SKILL, MergeWorkspace
from metier.review import edit_folder
from metier.standard.digest import TreeFile, tree_digest
from metier.supply import places
from metier.supply.io.quarantine import Quarantine
from metier.supply.merge.combine import ThreeVersions, VersionFiles, find_unmerged
from metier.supply.merge.settle import is_untouched, remove_desk

if TYPE_CHECKING:
    from metier.author.model import Draft, DraftRecord
    from metier.context import Context
    from metier.supply.merge.combine import CombinedTree


STAGING_FOLDER = "pending/staging"
"""Apart from the folder in which agents' changes are made ready: whoever is alone there takes
everything else away."""


class DraftWorkspace(MergeWorkspace):
    """What looking at a draft takes."""

    def open_quarantine(self) -> Quarantine:
        """Open the private folder of drafts."""
        folder = f"{places.home_of(self.context)}/{STAGING_FOLDER}"
        return Quarantine(folder, self.context.home, places.hands_of(self.context))

    def known(self, digest: str) -> VersionFiles | None:
        """Give a tree; nothing where the store does not have it any more."""
        return self.tree(digest) if not digest or self.store.has(digest) else None

    def now(self, path: str) -> VersionFiles:
        """Give a folder as it is at this moment, where it is there."""
        return self.snapshot(path) if disk.is_there(path) else NO_SKILL

    def keep(self, version: VersionFiles) -> str:
        """See to it that the store has a tree; give its digest."""
        if version.digest and not self.store.has(version.digest):
            self.store.keep(self.lay_out(version))
        return version.digest

    def lay_out(self, version: VersionFiles) -> str:
        """Write a tree out in quarantine; give its folder."""
        return self.combined(ThreeVersions(version, version, version)).folder


def three_of(work: DraftWorkspace, record: DraftRecord, now: VersionFiles) -> ThreeVersions:
    """Give what a draft starts from, the skill as it is, and what the draft makes of what it starts
    from.
    """
    draft = record.draft
    theirs = work.known(draft.result) if draft.result else None
    base = now if now.digest == draft.base else work.known(draft.base)
    if base is not None:
        return ThreeVersions(base, now, theirs or _derived(base, draft))
    theirs = theirs or _changed(now, draft)
    return ThreeVersions(_guessed(now, theirs), now, theirs)


def _derived(base: VersionFiles, draft: Draft) -> VersionFiles:
    """Make of a tree what a draft says; it must be what it was said to be."""
    made = NO_SKILL if draft.action == "delete" else _changed(base, draft)
    if draft.result and made.digest != draft.result:
        what = (
            f"what the draft about '{draft.skill[:100]}' came to is not in the store, and "
            f"cannot be made again"
        )
        raise IntegrityError(what, hint="reject it, and have it written again", code="not-in-store")
    return made


def _changed(base: VersionFiles, draft: Draft) -> VersionFiles:
    fresh = {path: text.encode() for path, text in draft.files}
    files = {path: file for path, file in base.files.items() if path not in draft.removed}
    for path, data in fresh.items():
        files[path] = TreeFile(
            path, len(data), sha256(data).digest(), files[path].mode if path in files else False
        )
    return VersionFiles(
        tree_digest(files.values()),
        files,
        lambda path: fresh[path] if path in fresh else base.read(path),
    )


def _guessed(now: VersionFiles, theirs: VersionFiles) -> VersionFiles:
    """Stand in for a tree that nobody has any more: everything that the two sides do not have in
    common is then a conflict.
    """
    differing = {path: file for path, file in now.files.items() if theirs.files.get(path) != file}
    lost = {
        path: TreeFile(path, 0, sha256(b"").digest(), file.mode is True)
        for path, file in differing.items()
    }
    files = {**now.files, **lost}
    return VersionFiles(
        tree_digest(files.values()), files, lambda path: b"" if path in lost else now.read(path)
    )


class EditedDraft(NamedTuple):
    """What a person made of an edit folder, and the three trees that it was laid from."""

    path: str
    was: ThreeVersions
    edited: VersionFiles
    left: list[tuple[str, int]]
    """What is still to be settled on it."""


def edit_folder_of(context: Context, record: DraftRecord) -> str:
    """Give the edit folder of a draft; nothing where there is none."""
    path = edit_folder.find(context, record.desk.name) if record.desk is not None else ""
    return "" if disk.is_link(path) else path


def is_worked_on(context: Context, record: DraftRecord) -> bool:
    """Tell whether there is an edit folder in which something was changed."""
    path = edit_folder_of(context, record)
    return bool(path) and not is_untouched(path)


def read_edit_folder(work: DraftWorkspace, record: DraftRecord) -> EditedDraft | None:
    """Look at the edit folder of a draft as it is now; nothing where there is none."""
    path = edit_folder_of(work.context, record)
    desk = record.desk
    if not path or desk is None:
        return None
    was = ThreeVersions(*(work.tree(digest) for digest in desk.trees))
    edited = work.now(path)
    return EditedDraft(path, was, edited, find_unmerged(edited, was))


def lay_out_edit_folder(
    work: DraftWorkspace, record: DraftRecord, three: ThreeVersions, combined: CombinedTree
) -> EditFolder:
    """Lay a draft out to be edited, unless that is done already: what was edited there stays."""
    digests = [work.keep(version) for version in three]
    name = edit_folder.lay_out(work.context, combined, f"draft-{record.id}", "\n".join(digests))
    return EditFolder(name, *digests)


def clear_edit_folder(context: Context, record: DraftRecord, seen: str = "") -> None:
    """Take the edit folder away that nobody needs any more; one that was worked on since it was
    laid, or since it was `seen`, is left.
    """
    remove_desk(context, edit_folder_of(context, record), seen)


def unmerged_error(record: DraftRecord, left: list[tuple[str, int]], desk: str) -> IntegrityError:
    """Say what is still to be settled, and how that is done."""
    hint = f"edit the files in {desk}, take the markers out, then accept it again"
    if not desk:
        hint = (
            f"'metier review edit {record.key}' lays it out to be settled by hand; or accept it "
            f"with ours or theirs"
        )
    what = f"{record.key} does not fit the skill as it is now"
    return edit_folder.unmerged_error(what, left, hint)
