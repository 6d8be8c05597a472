"""Changes that agents want to make to skills, in the review queue: what `skill_manage` put aside for a person.

Only what is here puts a draft in place. Nothing that an agent is given leads here.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from metier import recording
from metier.errors import MetierError, NotFoundError, RefusedError, StoreError, UsageError
from metier.managing.approving import changing
from metier.mirroring import grounds
from metier.mirrors import Candidate, Decided, Evidence
from metier.reviewing.drafted import accepting, desks, publishing, showing
from metier.reviewing.drafted.disk import Files
from metier.reviewing.drafted.proposing import bench
from metier.reviewing.drafted.publishing import Desktop
from metier.reviewing.drafted.records import candidate_of, id_of
from metier.supplying import places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.app import Library
    from metier.mirrors import Reviewed
    from metier.reviewing.drafted.disk import Filed
    from metier.reviewing.drafted.records import Record
    from metier.store.changing.disk import Changer

WAYS = ("", "ours", "theirs")
MOST_TOLD = 20
"""How many files that are no drafts a list tells of."""


def listed(library: Library, user: bool | None, *, everything: bool) -> list[Candidate]:  # noqa: FBT001 - which of the two, or both
    """List the drafts that wait, the oldest first; with `everything`, also those that were decided. All are the user's own."""
    if user is False or not library.data:
        return []
    files, found, broken = Files(places.home_of(library)), dict[str, tuple[int, Candidate]](), list[str]()
    for decided in (False, True) if everything else (False,):
        for filed in files.all(decided=decided):
            if isinstance(filed.record, str):
                broken.append(f"{filed.path} is no draft: {filed.record}")
            else:
                found[filed.record.id] = filed.record.at, candidate_of(filed.record)
    _warn(library, broken)
    return [candidate for _at, candidate in sorted(found.values(), key=lambda one: (one[0], one[1].id))]


def show(library: Library, ident: str, *, user: bool | None = None) -> Reviewed:
    """Show what a draft would change in the skill as it is now."""
    filed = _filed(library, ident, user)
    library.reload()
    with bench(library) as on:
        return showing.show(on, _read(filed))


def accept(library: Library, ident: str, how: str, *, reason: str, user: bool | None = None) -> Decided:
    """Put a draft in place if the skill is what it was made for; else rebase it, and ask again."""
    if how not in WAYS:
        raise UsageError(f"'{how[:100]}' is no way to settle a draft", hint=f"one of: {', '.join(WAYS[1:])}")
    if library.platform == "win32":
        raise RefusedError("drafts are not put in place on this platform", code="unsupported", hint="edit the files by hand")
    with _deciding(library, ident, user) as top, bench(library) as on:
        record = top.record
        with changing(library, record.draft.action, record.id, lambda: showing.target_of(on, record)) as change:
            answer = accepting.Acceptance(on, top, change, how, reason).decided()
            path = change.target.path
        library.warnings += [told for told in answer.warnings if told not in library.warnings]
        if answer.done:
            _looked_again(library, path)
    return Decided(candidate_of(answer.record), answer.done, answer.message, path if answer.done else "")


def reject(library: Library, ident: str, *, reason: str, user: bool | None = None) -> Decided:
    """Turn a draft down, whatever became of its skill."""
    with _alone(library, ident, user) as (changer, filed):
        if isinstance(filed.record, str):
            return _thrown_out(library, changer, filed, ident, reason)
        top = Desktop(library, changer, filed, _open(filed))
        after = publishing.turn_down(top, reason)
        publishing.settled(library, after)
    return Decided(candidate_of(after), True, f"{after.draft.skill}: the draft is rejected; the skill stays as it is")  # noqa: FBT003


def edit(library: Library, ident: str, *, user: bool | None = None) -> Reviewed:
    """Lay a draft out in a folder where a person changes it before accepting it; what was edited there stays."""
    with _deciding(library, ident, user) as top, bench(library) as on:
        record = top.record
        if record.draft.action == "delete":
            raise UsageError(f"{record.key} would take the skill away: there is nothing to edit", hint="accept or reject it")
        library.reload()
        now = on.now(showing.target_of(on, record).path)
        after = top.note(accepting.laid(on, record, now))
        if record.desk is not None and record.desk != after.desk:
            desks.leave(library, record)
        return showing.show(on, after)


def needed(library: Library) -> set[str]:
    """Give the trees of the store that drafts still need: what each starts from and comes to, and what its desk was laid from."""
    found: set[str] = set()
    for record in _waiting(library):
        found |= {record.draft.base, record.draft.result, record.onto, *(record.desk[1:] if record.desk is not None else ())}
    return found - {""}


# --- which draft


def _waiting(library: Library) -> Iterator[Record]:
    for filed in Files(places.home_of(library)).all() if library.data else ():
        if not isinstance(filed.record, str):
            yield filed.record


def _filed(library: Library, ident: str, user: bool | None = None) -> Filed:  # noqa: FBT001 - whose; drafts are the user's
    own = id_of(ident) if user is not False else ""
    files = Files(places.home_of(library))
    filed = (files.read(own) or files.read(own, decided=True)) if own else None
    if filed is None:
        raise NotFoundError(f"there is no draft '{ident[:100]}'", hint="'metier review list --all' shows all")
    return filed


def _read(filed: Filed) -> Record:
    if isinstance(filed.record, str):
        raise StoreError(f"{filed.path} is no draft: {filed.record}", hint="reject it, or delete the file", code="draft")
    return filed.record


def _open(filed: Filed) -> Record:
    record = _read(filed)
    if record.status != "open":
        raise RefusedError(f"{record.key} is {record.status} already", hint="'metier review list' shows what waits", code="decided")
    return record


@contextmanager
def _alone(library: Library, ident: str, user: bool | None) -> Iterator[tuple[Changer, Filed]]:  # noqa: FBT001 - the same
    """Hold the lock of all changers, and read the draft once nobody else can change it."""
    _filed(library, ident, user)
    with grounds.alone(library) as changer:
        yield changer, _filed(library, ident)


@contextmanager
def _deciding(library: Library, ident: str, user: bool | None) -> Iterator[Desktop]:  # noqa: FBT001 - the same
    with _alone(library, ident, user) as (changer, filed):
        yield Desktop(library, changer, filed, _open(filed))


# --- odds and ends


def _warn(library: Library, broken: list[str]) -> None:
    """Tell of files that are no drafts, but not of all that somebody may have put there."""
    rest = [f"{len(broken) - MOST_TOLD:,} more files are no drafts"] if len(broken) > MOST_TOLD else []
    library.warnings += [told for told in (*broken[:MOST_TOLD], *rest) if told not in library.warnings]


def _looked_again(library: Library, path: str) -> None:
    try:
        library.reload([f"{path}/SKILL.md"])
    except MetierError as error:  # the draft is in place: that the list could not be renewed does not undo it
        library.warnings.append(f"the draft is in place, but the skills could not be listed again: {error.message}")


def _thrown_out(library: Library, changer: Changer, filed: Filed, ident: str, reason: str) -> Decided:
    """Move a file that is no draft out of the queue; its bytes are kept beside those that were decided."""
    files, own = Files(places.home_of(library)), id_of(ident)
    if filed.data is None or filed.path == files.decided(own):
        raise StoreError(f"{filed.path}: {filed.record}", hint="delete it by hand", code="draft")
    files.throw_out(changer, filed, own)
    recording.record(library, "review", "rejected", id=ident, reason=reason[:500], path=filed.path)
    candidate = Candidate(ident, "skill_draft", "", "draft", "rejected", reason, Evidence(path=filed.path), scope="user")
    return Decided(candidate, True, f"{ident} was no draft, and is out of the queue")  # noqa: FBT003 - a field
