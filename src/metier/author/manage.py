"""Carries out the changes that agents make to skills: create, edit, patch, delete, and write or
remove files (HE-47).

A change is prepared, checked, scanned, decided and put in place, in this order and on the same
bytes. Whatever goes wrong on the way, the skill's folder stays byte for byte what it was.

A change that a person approved goes through the same rules. The approval answers what made the
change wait. It does not answer a scan that calls the result dangerous. The store keeps what a draft
starts from and what it comes to, so that the draft can be rebased when the skill moves on.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.author import limits, target_folder
from metier.author.io import staging
from metier.author.io.draft_files import PendingDrafts
from metier.author.io.skill_folder import SkillSpot, hold_root_lock
from metier.author.limits import MAIN_FILE, grants_of, widened
from metier.author.model import Draft
from metier.author.patch import apply_patch
from metier.author.target_folder import owner_for_draft
from metier.discover import check, skill_files
from metier.discover.io.disk import is_there, real, tree
from metier.errors import IntegrityError, MetierError, RefusedError, UsageError
from metier.scan import service
from metier.standard.document import read_document
from metier.store.io import safe_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from metier.author.limits import Grants
    from metier.author.target_folder import ChangeTarget
    from metier.context import Context
    from metier.model import Diagnostic, Document, Finding, JsonObject, Texts
    from metier.ports import Drafts
    from metier.scan.waive import Scanned


def keep_trees(context: Context, path: str, tree: str) -> None:
    """Keep the skill as it is, where there is one, and the tree that was made of it.

    The draft is written by now and names both, so nobody frees them; it can do without them as long
    as the skill does not change.
    """
    from metier.supply.places import store_of

    try:
        store = store_of(context)
        for folder in filter(None, (path, tree)):
            store.keep(folder)
    except MetierError as error:
        context.warnings.append(f"what the draft starts from could not be kept: {error.message}")


DONE_WORDS = {
    "create": "created",
    "edit": "edited",
    "patch": "patched",
    "delete": "moved to the trash",
    "write_file": "file written",
    "remove_file": "file removed",
}


class Managed(NamedTuple):
    """The result of a change. `staged` is the draft's id if someone has to review it first."""

    ok: bool
    action: str
    name: str
    path: str
    digest: str
    """Of the skill as it is now; of what waits, when it was staged; nothing for a skill that is
    gone."""
    level: str
    """What the scan says of the new bytes; nothing when there are none."""
    findings: tuple[Finding, ...]
    staged: str
    message: str
    warnings: Texts


class FileEdit(NamedTuple):
    """One file of a skill that is written, or with no data removed."""

    file: str
    data: bytes | None


def manage(context: Context, action: str, name: str, **parts: Any) -> Managed:
    """Do what an agent asks for, put it where a person looks at it first, or refuse it."""
    taken = limits.parts_of(action, parts)
    if not isinstance(name, str):
        raise UsageError("a skill is named by a text", hint="give the name as it is listed")
    if context.platform == "win32":
        raise RefusedError(
            "skills are not changed by agents on this platform",
            code="unsupported",
            hint="edit the files by hand",
        )
    _check_parts(taken)
    known = tuple(context.warnings)

    def find() -> ChangeTarget:
        if action == "create":
            return target_folder.target_for_new(context, name, taken["category"])
        return target_folder.target_of_existing(context, name)

    with begin_change(context, action, context.ports.token().hex(), find) as change:
        done = change.delete() if action == "delete" else change.make(taken)
    return done._replace(
        warnings=(*done.warnings, *(told for told in context.warnings if told not in known))
    )


def _check_parts(taken: JsonObject) -> None:
    """Refuse what can be refused before anything is read."""
    file = limits.check_file_path(taken["file"]) if "file" in taken else MAIN_FILE
    if "content" in taken:
        limits.content_bytes(file, taken["content"])
    for key in ("old", "new"):
        if key in taken:
            limits.content_bytes("the patch", taken[key])


class ManagedChange:
    """One change on its way: to which skill, and where it is made ready."""

    def __init__(
        self, context: Context, action: str, target: ChangeTarget, ident: str, tree: str
    ) -> None:
        """Copy the skill as it is, or begin with nothing."""
        self.context = context
        self.action = action
        self.target = target
        self.ident = ident
        self.tree = tree
        self.base = ""
        if target.card is not None:
            staging.copy_tree(target.path, tree)
            self.base = str(context.machine.digest(tree) or "")
            self.still_the_same()

    def report_progress(self) -> None:
        """Say that another step is done."""
        self.context.progress("changes", 1, 0)

    def still_the_same(self) -> None:
        """Refuse to go on when the skill is not what was read."""
        if not self.base or self.context.machine.digest(self.target.path) != self.base:
            raise IntegrityError(
                f"'{self.target.name}' changed meanwhile; nothing was changed by this",
                hint="read it again first",
            )

    # --- one file

    def make(self, taken: JsonObject) -> Managed:
        """Make the change ready, have it checked and judged, and put it in place or aside."""
        edit = self.edit_of(taken)
        self.report_progress()
        before = self.check() if self.base and "/" not in edit.file else ()
        named = self.document()
        granted = self.grants()
        if edit.data is None:
            staging.remove_file(self.tree, edit.file)
        else:
            staging.write_file(self.tree, edit.file, edit.data)
        warnings = self.validate(edit, before, named)
        self.report_progress()
        scanned = self.judge()
        self.report_progress()
        reason = self.reason_to_wait(
            scanned, widened(granted if self.base else None, self.grants())
        )
        if reason:
            return self.submit(edit, scanned, reason, warnings)
        with self.recorded(str(scanned.digest or "")):
            self.put_in_place(edit, scanned)
        return self.done(scanned, warnings, edit.file)

    def edit_of(self, taken: JsonObject) -> FileEdit:
        """Say which file is written, and with what."""
        if self.action in {"create", "edit"}:
            return FileEdit(self.main(), limits.content_bytes(MAIN_FILE, taken["content"]))
        asked = limits.check_file_path(taken["file"])
        file = self.main() if asked == MAIN_FILE else asked
        there = staging.read_file(self.tree, file)
        if self.action == "write_file":
            return FileEdit(file, limits.content_bytes(asked, taken["content"]))
        if there is None:
            raise self.no_such_file(file)
        if self.action == "patch":
            return FileEdit(file, limits.content_bytes(asked, self.patch_of(asked, there, taken)))
        if asked == MAIN_FILE:
            raise RefusedError(
                f"a skill without {MAIN_FILE} is none",
                code="path",
                hint="to take the whole skill away: delete",
            )
        return FileEdit(file, None)

    def no_such_file(self, file: str) -> MetierError:
        """Say which files there are."""
        from metier.standard.skill_paths import no_such_file

        return no_such_file(
            self.target.name, limits.shorten(file), [piece.path for piece in tree(self.tree)]
        )

    def patch_of(self, file: str, there: bytes, taken: JsonObject) -> str:
        """Replace a passage of a file's text."""
        if len(there) > limits.MAX_FILE_BYTES:
            raise limits.too_large_error(file, len(there), "bytes")
        try:
            text = there.decode()
        except UnicodeDecodeError:
            raise RefusedError(
                f"{file} is not text", code="binary", hint="only text files can be patched"
            ) from None
        result = apply_patch(
            text,
            taken["old"],
            taken["new"],
            replace_all=taken["replace_all"],
            limit=limits.MAX_MAIN_CHARACTERS if file == MAIN_FILE else limits.MAX_FILE_BYTES,
        )
        if not result.fault:
            return result.text
        if result.size:
            raise limits.too_large_error(file, result.size, "characters")
        card = self.target.card
        # A line of a skill that is not offered to the model is not quoted to it either.
        quoted = f": {result.nearest}" if card is not None and card.state == "visible" else ""
        near = f"; the nearest is line {result.line}{quoted}" if result.line else ""
        more = "quote more of it, so that one place is meant, or use replace_all"
        raise RefusedError(
            f"{file}: {result.fault}{near}",
            code="patch",
            hint=more if result.several else "quote the text as it stands",
        )

    def main(self) -> str:
        """Give the name of the skill's own file, which some write in other letters."""
        card = self.target.card
        return skill_files.main_file(card).rpartition("/")[2] if card is not None else MAIN_FILE

    def check(self) -> tuple[Diagnostic, ...]:
        """Hold the tree against the standard."""
        found = check.check(self.context, [self.tree], strict=False)
        return next((one.diagnostics for one in found if one.path == self.tree), ())

    def document(self) -> Document | None:
        """Read the skill's own file as it lies in the tree."""
        file = self.main()
        data = staging.read_file(self.tree, file)
        return (
            read_document(
                data, folder=self.target.segments[-1], file=file, kind="skill-md", size=len(data)
            )
            if data is not None
            else None
        )

    def grants(self) -> Grants:
        """Read what the skill gets, as it lies in the tree."""
        return grants_of(self.document(), skill_files.sidecar_at(self.tree))

    def validate(
        self, edit: FileEdit, before: tuple[Diagnostic, ...], named: Document | None
    ) -> Texts:
        """Refuse a text that breaks the standard where it did not before, or that gives the skill
        another name.
        """
        if "/" in edit.file:  # the skill's own lies at the top, and no other
            return ()
        warnings = limits.check_diagnostics(self.check(), already=before)
        after = self.document()
        if named is not None and after is not None:
            limits.check_kept_name(named.name, after.name)
        return warnings

    # --- deciding

    def judge(self) -> Scanned:
        """Scan the tree; what is dangerous is refused, and that is noted down."""
        scanned = service.scan_tree(self.context, self.tree, self.target.name)
        if "dangerous" in {scanned.level, scanned.plain}:
            log.record(
                self.context,
                "refuse",
                "blocked",
                name=self.target.name,
                digest=scanned.digest,
                action=self.action,
                path=self.target.path,
                rules=[one.rule for one in scanned.findings[:20]],
            )
            raise limits.dangerous_error(self.target.name, scanned.findings)
        return scanned

    def not_judged(self) -> IntegrityError:
        """Say that the tree became another after it was judged."""
        return IntegrityError(
            f"'{self.target.name}' changed after it was scanned", hint="try again"
        )

    def reason_to_wait(self, scanned: Scanned | None, more: str = "") -> str:
        """Say why a person has to look at a change first; nothing when nobody has to."""
        review = self.context.settings.manage.review
        if review == "always":
            return "every change is looked at first"
        if review != "caution":
            return ""
        found = ""
        if scanned is not None and scanned.level != "safe":
            from metier.scan.report import reason_of

            found = f"the scan rates it {scanned.level}"
            reason = reason_of(scanned.level, scanned.findings)
            found += f": {reason}" if reason else ""
        return "; ".join(filter(None, (found, more)))

    def submit(
        self,
        edit: FileEdit | None,
        scanned: Scanned | None,
        reason: str,
        warnings: Texts = (),
    ) -> Managed:
        """Put a change aside for a person, or without an edit the removal of the skill."""
        context = self.context
        target = self.target
        assert context.data is not None
        files: tuple[tuple[str, str], ...] = ()
        removed = tuple(piece.path for piece in tree(self.tree)) if edit is None else ()
        if edit is not None and edit.data is None:
            removed = (edit.file,)
        elif edit is not None and edit.data is not None:
            files = ((edit.file, edit.data.decode()),)
        digest = str(scanned.digest or "") if scanned else ""
        draft = Draft(
            action=self.action,
            skill=target.name,
            path=target.path,
            base=self.base,
            files=files,
            removed=removed,
            reason=reason,
            level=scanned.level if scanned else "",
            score=scanned.score if scanned else 0,
            result=digest,
            owner=owner_for_draft(context, target.path),
        )
        drafts: Drafts = context.drafts or PendingDrafts(context.data, self.ident)
        ident = drafts.submit(draft)
        if context.drafts is None:
            keep_trees(context, draft.path if self.base else "", self.tree)
        self.note("staged", digest, ident)
        return self.report(scanned, f"waiting for review: {reason}", warnings, ident)

    def report(
        self, scanned: Scanned | None, message: str, warnings: Texts, staged: str = ""
    ) -> Managed:
        """Say what became of the change."""
        return Managed(
            ok=True,
            action=self.action,
            name=self.target.name,
            path=self.target.path,
            digest=str(scanned.digest or "") if scanned else "",
            level=scanned.level if scanned else "",
            findings=scanned.findings if scanned else (),
            staged=staged,
            message=message,
            warnings=warnings,
        )

    # --- putting in place

    def put_in_place(self, edit: FileEdit, scanned: Scanned) -> None:
        """Make the change, provided that both the skill and the tree are what was read and
        judged.
        """
        if not scanned.digest or self.context.machine.digest(self.tree) != scanned.digest:
            raise self.not_judged()
        if self.action == "create":
            self.spot(self.target.segments[:-1]).place(
                self.target.segments[-1],
                self.tree,
                self.digest_check(scanned.digest),
                self.report_progress,
            )
            return
        *above, name = edit.file.split("/")
        spot = self.spot((*self.target.segments, *above))
        self.still_the_same()
        if edit.data is not None:
            spot.replace(
                name, f"{self.tree}/{edit.file}", len(self.target.segments), self.report_progress
            )
        else:
            self.remove(spot, edit.file)

    def remove(self, spot: SkillSpot, file: str) -> None:
        """Take a file away, after putting a copy in the trash."""
        data = staging.read_file(self.target.path, file)
        if data is None:
            raise IntegrityError(f"'{file}' is gone already", hint="read the skill again")
        *above, name = file.split("/")
        try:
            staging.make_trash(self.trash)
            staging.write_file(self.trash, file, data)
            safe_files.tighten(self.trash)
            self.report_progress()
            spot.remove(name)
        except BaseException:
            if staging.is_unchanged(
                self.target.path, file, data
            ):  # else what lies in the trash is the only copy
                staging.drop_trash(self.trash)
            raise
        spot.prune(len(above))

    @property
    def trash(self) -> str:
        """Where what is taken away is kept."""
        return f"{self.context.data}/{staging.TRASH_FOLDER}/{self.ident}"

    def spot(self, segments: Texts) -> SkillSpot:
        """Give a place below the root of the skill."""
        return SkillSpot(self.target.root, segments, self.ident)

    def digest_check(self, digest: str) -> Any:
        """Give what tells whether a copy is the tree of this digest."""
        return lambda copy: self.context.machine.digest(copy) == digest

    def delete(self) -> Managed:
        """Move a skill to the trash."""
        target_folder.check_deletable(self.context, self.target)
        reason = self.reason_to_wait(None)
        if reason:
            return self.submit(None, None, reason)
        self.report_progress()
        self.still_the_same()
        with self.recorded(""):
            self.discard(self.base)
        return self.done(None, ())

    def discard(self, digest: str) -> None:
        """Move the skill's folder to the trash."""
        spot = self.spot(self.target.segments[:-1])
        spot.discard(
            self.target.segments[-1], self.trash, self.digest_check(digest), self.report_progress
        )
        spot.prune(len(spot.segments))
        safe_files.tighten(self.trash)

    @contextmanager
    def recorded(self, digest: str) -> Iterator[None]:
        """Write into the audit log that the skill is now of this digest, also when something came
        between after it was.
        """
        made = False
        try:
            yield
            made = True
        finally:
            if made or self.is_made(digest):
                self.note("allowed", digest or self.base)

    def is_made(self, digest: str) -> bool:
        """Tell from the disk whether the skill became what it was to become; gone, if that is
        nothing.
        """
        path = self.target.path
        return digest != self.base and (
            self.context.machine.digest(path) == digest if digest else not is_there(path)
        )

    def done(self, scanned: Scanned | None, warnings: Texts, file: str = MAIN_FILE) -> Managed:
        """Look at the disk again and report the change."""
        more: Texts = ()
        try:
            self.context.catalogue.reload([f"{self.target.path}/{file}"])
        except MetierError as error:
            # The change is made: that the list could not be renewed does not undo it.
            more = (
                f"the change is made, but the skills could not be listed again: {error.message}",
            )
        else:
            if self.action == "create" and scanned:
                self.check_found(str(scanned.digest))
        return self.report(
            scanned,
            f"{self.target.name}: {DONE_WORDS[self.action]}",
            (*warnings, *more),
        )

    def check_found(self, digest: str) -> None:
        """Take a new skill away again that no search finds, for nobody would ever see it; unless
        that was told before.
        """
        path = self.target.path
        alike = [
            card.path
            for card in self.context.catalogue.contents().cards
            if card.path.endswith("/" + self.target.segments[-1])
        ]
        looked = {real(root.location) for root in self.context.catalogue.roots()}
        if self.target.root not in looked or path in map(real, alike):
            return
        self.discard(digest)
        staging.drop_trash(self.trash)
        self.note("undone", digest)
        self.context.catalogue.forget()
        raise RefusedError(
            f"'{self.target.name}' was taken away again: no search finds a skill in {path}",
            code="not-found",
            hint="choose another category, or none; 'metier doctor' says where a search ends",
        )

    def note(self, outcome: str, digest: str, draft: str = "") -> None:
        """Write into the audit log what was done."""
        log.record(
            self.context,
            "manage",
            outcome,
            name=self.target.name,
            digest=digest,
            action=self.action,
            path=self.target.path,
            id=draft or self.ident,
        )


@contextmanager
def begin_change(
    context: Context, action: str, ident: str, find: Callable[[], ChangeTarget]
) -> Iterator[ManagedChange]:
    """Be alone with a skill, as an agent that changes one is. `find` gives its place, once nobody
    else moves anything.
    """
    with staging.hold_lock(context.data, context.home) as data:
        staging.sweep_staging(data)
        context.catalogue.reload()  # somebody may have blocked it, moved it, or taken the name meanwhile
        target = find()
        with hold_root_lock(target.root) as certain, staging.staging_folder(data, ident) as desk:
            if certain:
                staging.sweep_root(target.root)
            yield ManagedChange(context, action, target, ident, f"{desk}/{target.segments[-1]}")


def approve_tree(
    change: ManagedChange, digest: str, lay: Callable[[str, str], None]
) -> tuple[Scanned, Texts]:
    """Have a whole tree checked and judged that `lay` writes into a folder, and give what the scan
    says with the warnings; raise when it may not be put in place.
    """
    before, named = (change.check(), change.document()) if change.base else ((), None)
    staging.drop_trash(change.tree)
    lay(digest, change.tree)
    warnings = change.validate(FileEdit(change.main(), b""), before, named)
    scanned = change.judge()
    if scanned.digest != digest:
        raise change.not_judged()
    return scanned, warnings
