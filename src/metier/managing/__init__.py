"""What an agent may do to skills by itself: create, edit, patch, delete, and write or remove their files (HE-47).

Made ready → checked → scanned → decided → put in place, in this order and on the same bytes. Whatever goes wrong on the way,
the skill's folder stays byte for byte what it was.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from metier import checking, judging, recording, skillfile
from metier.discover.disk import is_there, real, tree
from metier.errors import IntegrityError, MetierError, RefusedError, UsageError
from metier.managing import disk, places, rules
from metier.managing.grants import grants_of, widened
from metier.managing.owners import owner_then
from metier.managing.patch import patched
from metier.managing.pending.disk import DiskDrafts
from metier.managing.pending.trees import keep_trees
from metier.managing.placing.disk import Spot, alone_in
from metier.managing.rules import MAIN
from metier.offers import Draft
from metier.standard.document import read_document

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from metier.app import Library
    from metier.managing.grants import Grants
    from metier.managing.places import Target
    from metier.model import Diagnostic, Document, Finding
    from metier.ports import Drafts
    from metier.terms import Scanned

__all__ = ["Managed", "manage"]

OK = True
DONE = {"create": "created", "edit": "edited", "patch": "patched", "delete": "moved to the trash",
        "write_file": "file written", "remove_file": "file removed"}  # fmt: skip


class Managed(NamedTuple):
    """What became of a change. `staged` is the id of the draft when a person has to look at it first."""

    ok: bool
    action: str
    name: str
    path: str
    digest: str
    """Of the skill as it is now; of what waits, when it was staged; nothing for a skill that is gone."""
    level: str
    """What the scan says of the new bytes; nothing when there are none."""
    findings: tuple[Finding, ...]
    staged: str
    message: str
    warnings: tuple[str, ...]


class Edit(NamedTuple):
    """One file of a skill that is written, or with no data removed."""

    file: str
    data: bytes | None


def manage(library: Library, action: str, name: str, **parts: Any) -> Managed:
    """Do what an agent asks for, put it where a person looks at it first, or refuse it."""
    taken = rules.parts_of(action, parts)
    if not isinstance(name, str):
        raise UsageError("a skill is named by a text", hint="give the name as it is listed")
    if library.platform == "win32":
        raise RefusedError("skills are not changed by agents on this platform", code="unsupported", hint="edit the files by hand")
    _check_parts(taken)
    known = tuple(library.warnings)
    done = _changed(library, action, name, taken)
    return done._replace(warnings=(*done.warnings, *(told for told in library.warnings if told not in known)))


def _changed(library: Library, action: str, name: str, taken: dict[str, Any]) -> Managed:
    with disk.alone(library.data, library.home) as data:
        disk.sweep_desks(data)
        library.reload()  # somebody may have blocked it, moved it, or taken the name meanwhile
        ident = library.ports.token().hex()
        new = action == "create"
        target = places.for_new(library, name, taken["category"]) if new else places.of_existing(library, name)
        with alone_in(target.root) as certain, disk.desk(data, ident) as desk:
            if certain:
                disk.sweep_root(target.root)
            change = Change(library, action, target, ident, f"{desk}/{target.segments[-1]}")
            return change.deleted() if action == "delete" else change.made(taken)


def _check_parts(taken: dict[str, Any]) -> None:
    """Refuse what can be refused before anything is read."""
    file = rules.file_inside(taken["file"]) if "file" in taken else MAIN
    if "content" in taken:
        rules.content_bytes(file, taken["content"])
    for key in ("old", "new"):
        if key in taken:
            rules.content_bytes("the patch", taken[key])


class Change:
    """One change on its way: to which skill, and where it is made ready."""

    def __init__(self, library: Library, action: str, target: Target, ident: str, tree: str) -> None:
        """Copy the skill as it is, or begin with nothing."""
        self.library, self.action, self.target, self.ident, self.tree = library, action, target, ident, tree
        self.base = ""
        if target.card is not None:
            disk.copy_tree(target.path, tree)
            self.base = str(library.machine.digest(tree) or "")
            self.still_the_same()

    def tell(self) -> None:
        """Say that another step is done."""
        self.library.progress("changes", 1)

    def still_the_same(self) -> None:
        """Refuse to go on when the skill is not what was read."""
        if not self.base or self.library.machine.digest(self.target.path) != self.base:
            raise IntegrityError(f"'{self.target.name}' changed meanwhile; nothing was changed by this", hint="read it again first")

    # --- one file

    def made(self, taken: dict[str, Any]) -> Managed:
        """Make the change ready, have it checked and judged, and put it in place or aside."""
        edit = self.edit_of(taken)
        self.tell()
        before = self.checked() if self.base and self.is_main(edit.file) else ()
        named, granted = self.document(), self.grants()
        if edit.data is None:
            disk.drop(self.tree, edit.file)
        else:
            disk.put(self.tree, edit.file, edit.data)
        warnings = self.validated(edit, before, named)
        self.tell()
        scanned = judging.scan_tree(self.library, self.tree, self.target.name)
        self.tell()
        if "dangerous" in {scanned.level, scanned.plain}:
            raise self.refused(scanned)
        reason = self.reason_to_wait(scanned, widened(granted if self.base else None, self.grants()))
        if reason:
            return self.staged(edit, scanned, reason, warnings)
        with self.noted(str(scanned.digest or "")):
            self.put_in_place(edit, scanned)
        return self.done(scanned, warnings, edit.file)

    def edit_of(self, taken: dict[str, Any]) -> Edit:
        """Say which file is written, and with what."""
        if self.action in {"create", "edit"}:
            return Edit(self.main(), rules.content_bytes(MAIN, taken["content"]))
        asked = rules.file_inside(taken["file"])
        file = self.main() if asked == MAIN else asked
        there = disk.read(self.tree, file)
        if self.action == "write_file":
            return Edit(file, rules.content_bytes(asked, taken["content"]))
        if there is None:
            raise self.no_such_file(file)
        if self.action == "patch":
            return Edit(file, rules.content_bytes(asked, self.patch_of(asked, there, taken)))
        if asked == MAIN:
            raise RefusedError(f"a skill without {MAIN} is none", code="path", hint="to take the whole skill away: delete")
        return Edit(file, None)

    def no_such_file(self, file: str) -> MetierError:
        """Say which files there are."""
        from metier.disclose.levels import no_such_file

        return no_such_file(self.target.name, rules.shown(file), [piece.path for piece in tree(self.tree)])

    def patch_of(self, file: str, there: bytes, taken: dict[str, Any]) -> str:
        """Replace a passage of a file's text."""
        if len(there) > rules.MAX_FILE_BYTES:
            raise rules.too_large(file, len(there), "bytes")
        try:
            text = there.decode()
        except UnicodeDecodeError:
            raise RefusedError(f"{file} is not text", code="binary", hint="only text files can be patched") from None
        limit = rules.MAX_MAIN_CHARACTERS if file == MAIN else rules.MAX_FILE_BYTES
        result = patched(text, taken["old"], taken["new"], replace_all=taken["replace_all"], limit=limit)
        if not result.fault:
            return result.text
        if result.size:
            raise rules.too_large(file, result.size, "characters")
        card = self.target.card
        # A line of a skill that is not offered to the model is not quoted to it either.
        quoted = f": {result.nearest}" if card is not None and card.state == "visible" else ""
        near = f"; the nearest is line {result.line}{quoted}" if result.line else ""
        more = "quote more of it, so that one place is meant, or use replace_all"
        hint = more if result.several else "quote the text as it stands"
        raise RefusedError(f"{file}: {result.fault}{near}", code="patch", hint=hint)

    def main(self) -> str:
        """Give the name of the skill's own file, which some write in other letters."""
        card = self.target.card
        return skillfile.main_file(card).rpartition("/")[2] if card is not None else MAIN

    def is_main(self, file: str) -> bool:
        """Tell whether a file is the skill's own."""
        return "/" not in file

    def checked(self) -> tuple[Diagnostic, ...]:
        """Hold the tree against the standard."""
        found = checking.check(self.library, [self.tree], strict=False)
        return next((one.diagnostics for one in found if one.path == self.tree), ())

    def document(self) -> Document | None:
        """Read the skill's own file as it lies in the tree."""
        file = self.main()
        data = disk.read(self.tree, file)
        folder = self.target.segments[-1]
        return read_document(data, folder=folder, file=file, kind="skill-md", size=len(data)) if data is not None else None

    def grants(self) -> Grants:
        """Read what the skill gets, as it lies in the tree."""
        return grants_of(self.document(), skillfile.sidecar_at(self.tree))

    def validated(self, edit: Edit, before: tuple[Diagnostic, ...], named: Document | None) -> tuple[str, ...]:
        """Refuse a text that breaks the standard where it did not before, or that gives the skill another name."""
        if not self.is_main(edit.file):
            return ()
        warnings = rules.passed(self.checked(), already=before)
        after = self.document()
        if named is not None and after is not None:
            rules.kept_name(named.name, after.name)
        return warnings

    # --- deciding

    def refused(self, scanned: Scanned) -> RefusedError:
        """Note down that a change was not made."""
        recording.record(self.library, "refuse", "blocked", name=self.target.name, digest=scanned.digest, action=self.action,
                         path=self.target.path, rules=[one.rule for one in scanned.findings[:20]])  # fmt: skip
        return rules.dangerous(self.target.name, scanned.findings)

    def reason_to_wait(self, scanned: Scanned | None, more: str = "") -> str:
        """Say why a person has to look at a change first; nothing when nobody has to."""
        review = self.library.settings.manage.review
        if review == "always":
            return "every change is looked at first"
        if review != "caution":
            return ""
        found = ""
        if scanned is not None and scanned.level != "safe":
            told = ", ".join(dict.fromkeys(one.rule for one in scanned.findings[:5]))
            found = f"a scan calls it {scanned.level} ({told})"
        return "; ".join(filter(None, (found, more)))

    def staged(self, edit: Edit, scanned: Scanned, reason: str, warnings: tuple[str, ...]) -> Managed:
        """Put a change aside for a person."""
        text = () if edit.data is None else ((edit.file, edit.data.decode()),)
        gone = (edit.file,) if edit.data is None else ()
        draft = Draft(self.action, self.target.name, self.target.path, self.base, text, gone, reason, scanned.level, scanned.score,
                      str(scanned.digest or ""))  # fmt: skip
        return self.waiting(draft, scanned, warnings)

    def waiting(self, draft: Draft, scanned: Scanned | None, warnings: tuple[str, ...]) -> Managed:
        """Keep a draft and say so."""
        assert self.library.data is not None
        drafts: Drafts = self.library.drafts or DiskDrafts(self.library.data, self.ident)
        ident = drafts.submit(draft._replace(owner=owner_then(self.library, draft.path)))
        if self.library.drafts is None:
            keep_trees(self.library, draft.path if self.base else "", self.tree)
        digest = str(scanned.digest or "") if scanned else ""
        self.note("staged", digest, ident)
        return Managed(OK, self.action, self.target.name, self.target.path, digest, draft.level,
                       scanned.findings if scanned else (), ident, f"waits for a person: {draft.reason}", warnings)  # fmt: skip

    # --- putting in place

    def put_in_place(self, edit: Edit, scanned: Scanned) -> None:
        """Make the change, provided that both the skill and the tree are what was read and judged."""
        if not scanned.digest or self.library.machine.digest(self.tree) != scanned.digest:
            raise IntegrityError(f"what was made of '{self.target.name}' is not what was judged", hint="try again")
        if self.action == "create":
            self.spot(self.target.segments[:-1]).place(self.target.segments[-1], self.tree, self.proves(scanned.digest), self.tell)
            return
        *above, name = edit.file.split("/")
        spot = self.spot((*self.target.segments, *above))
        self.still_the_same()
        if edit.data is not None:
            spot.replace(name, f"{self.tree}/{edit.file}", len(self.target.segments), self.tell)
        else:
            self.remove(spot, edit.file)

    def remove(self, spot: Spot, file: str) -> None:
        """Take a file away, after putting a copy in the trash."""
        data = disk.read(self.target.path, file)
        if data is None:
            raise IntegrityError(f"'{file}' is gone already", hint="read the skill again")
        *above, name = file.split("/")
        try:
            disk.keep(self.trash, file, data)
            self.tell()
            spot.remove(name)
        except BaseException:
            if disk.is_as_it_was(self.target.path, file, data):  # else what lies in the trash is the only copy
                disk.forget(self.trash)
            raise
        spot.prune(len(above))

    @property
    def trash(self) -> str:
        """Where what is taken away is kept."""
        return f"{self.library.data}/{disk.TRASH}/{self.ident}"

    def spot(self, segments: tuple[str, ...]) -> Spot:
        """Give a place below the root of the skill."""
        return Spot(self.target.root, segments, self.ident)

    def proves(self, digest: str) -> Any:
        """Give what tells whether a copy is the tree of this digest."""
        return lambda copy: self.library.machine.digest(copy) == digest

    def deleted(self) -> Managed:
        """Move a skill to the trash."""
        places.may_be_deleted(self.library, self.target)
        reason = self.reason_to_wait(None)
        if reason:
            gone = tuple(piece.path for piece in tree(self.tree))
            return self.waiting(Draft("delete", self.target.name, self.target.path, self.base, (), gone, reason, ""), None, ())
        self.tell()
        self.still_the_same()
        with self.noted(""):
            self.discard(self.base)
        return self.done(None, ())

    def discard(self, digest: str) -> None:
        """Move the skill's folder to the trash."""
        spot = self.spot(self.target.segments[:-1])
        spot.discard(self.target.segments[-1], self.trash, self.proves(digest), self.tell)
        spot.prune(len(spot.segments))

    @contextmanager
    def noted(self, digest: str) -> Iterator[None]:
        """Write into the audit log that the skill is now of this digest, also when something came between after it was."""
        made = False
        try:
            yield
            made = True
        finally:
            if made or self.is_made(digest):
                self.note("allowed", digest or self.base)

    def is_made(self, digest: str) -> bool:
        """Tell from the disk whether the skill became what it was to become; gone, if that is nothing."""
        path = self.target.path
        return digest != self.base and (self.library.machine.digest(path) == digest if digest else not is_there(path))

    def done(self, scanned: Scanned | None, warnings: tuple[str, ...], file: str = MAIN) -> Managed:
        """Look at the disk again and report the change."""
        digest = str(scanned.digest) if scanned else ""
        more: tuple[str, ...] = ()
        try:
            self.library.reload([f"{self.target.path}/{file}"])
        except MetierError as error:  # the change is made: that the list could not be renewed does not undo it
            more = (f"the change is made, but the skills could not be listed again: {error.message}",)
        else:
            if self.action == "create":
                self.found(digest)
        return Managed(OK, self.action, self.target.name, self.target.path, digest, scanned.level if scanned else "",
                       scanned.findings if scanned else (), "", f"{self.target.name}: {DONE[self.action]}",
                       (*warnings, *more, *self.target.warnings))  # fmt: skip

    def found(self, digest: str) -> None:
        """Take a new skill away again that no search finds, for nobody would ever see it; unless that was told before."""
        path = self.target.path
        alike = [card.path for card in self.library.contents().cards if card.path.endswith("/" + self.target.segments[-1])]
        looked = {real(root.location) for root in self.library.roots()}
        if self.target.root not in looked or path in map(real, alike):
            return
        self.discard(digest)
        disk.forget(self.trash)
        self.note("undone", digest)
        self.library.forget()
        raise RefusedError(f"'{self.target.name}' was taken away again: no search finds a skill in {path}", code="not-found",
                           hint="choose another category, or none; 'metier doctor' says where a search ends")  # fmt: skip

    def note(self, outcome: str, digest: str, draft: str = "") -> None:
        """Write into the audit log what was done."""
        recording.record(self.library, "manage", outcome, name=self.target.name, digest=digest, action=self.action,
                         path=self.target.path, id=draft or self.ident)  # fmt: skip
