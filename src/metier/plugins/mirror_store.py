"""Reads the mirrors from disk, and changes them together with the skills' folders, by one process
at a time.
"""

from __future__ import annotations

from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import NotFoundError, StoreError
from metier.plugins import candidates
from metier.plugins.mirror_json import mirror_bytes, read_mirror, trim_decided
from metier.plugins.mirror_ledger import OPEN_STATUSES, Ledger, TreeHashes, unknown_plugin
from metier.plugins.workspace import files_of
from metier.standard.document import read_document
from metier.store.io import safe_files
from metier.store.io.atomic_change import SAVED, Replace, StoreChange
from metier.store.journal import write_saved
from metier.supply import apply, deploy, places
from metier.supply.io import lock_file
from metier.supply.merge import combine
from metier.supply.places import MAX_MIRROR_BYTES, MIRROR_FOLDER
from metier.trust.approve import take_back_own
from metier.trust.capabilities import MAX_DOCUMENT_BYTES
from metier.trust.io import decisions_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from metier.context import Context
    from metier.plugins.model import Mirror, ReviewCandidate, VersionedSkill
    from metier.store.io.atomic_change import Changer, SavedEdits, Switch
    from metier.supply.fetch import FetchedSkill
    from metier.supply.merge.combine import VersionFiles
    from metier.supply.places import InstallPlace


def hashes_of(version: VersionFiles) -> TreeHashes:
    """Give what a version of a skill records of its tree."""
    main = next(
        (
            path
            for path in ("SKILL.md", *sorted(version.files))
            if path.lower() == "skill.md" and path in version.files
        ),
        "",
    )
    if not main:
        return TreeHashes(version.digest)
    data = version.read(main)
    document = read_document(data[:MAX_DOCUMENT_BYTES], folder="", file=main, size=len(data))
    summary = sha256(data[document.body_at if document is not None else 0 :]).hexdigest()
    return TreeHashes(version.digest, f"sha256:{sha256(data).hexdigest()}", f"sha256:{summary}")


def hashes_of_laid(laid: FetchedSkill) -> TreeHashes:
    """Give it of a skill in quarantine."""
    return hashes_of(files_of(laid))


def hashes_of_kept(context: Context, digest: str) -> TreeHashes:
    """Give it of a tree in the store."""
    return hashes_of(combine.stored_version(places.store_of(context), digest))


# --- places and the changes to them


class MirroredPlace(NamedTuple):
    """One place, what is mirrored there, and the bytes that say so, which must still be those when
    they are replaced.
    """

    context: Context
    place: InstallPlace
    mirror: Mirror
    data: bytes | None

    def working(self, skill: VersionedSkill) -> str:
        """Give the path of a skill's working copy."""
        return deploy.path_of(self.place, skill.targets[0])

    def is_current(self) -> bool:
        """Tell whether the place is still noted as it was when it was read."""
        return _bytes_of(self.context, self.place) == self.data

    def reread(self) -> MirroredPlace:
        """Read what is mirrored there now."""
        return read(self.context, self.place)


def folder_of(context: Context) -> str:
    """Give the folder with everything that is noted about plugins."""
    return f"{places.home_of(context)}/{MIRROR_FOLDER}"


def file_of(context: Context, place: InstallPlace) -> str:
    """Give the file with the mirror of a place."""
    return f"{folder_of(context)}/{place.state.rpartition('/')[2]}"


def _bytes_of(context: Context, place: InstallPlace) -> bytes | None:
    return lock_file.read_small_file(file_of(context, place), MAX_MIRROR_BYTES)


def read(context: Context, place: InstallPlace) -> MirroredPlace:
    """Read what is mirrored in a place; no file means nothing."""
    data = _bytes_of(context, place)
    mirror = read_mirror(data, file_of(context, place))._replace(place=place.lock)
    return MirroredPlace(context, place, mirror, data)


def mirrored_places(context: Context, user: bool | None) -> tuple[MirroredPlace, ...]:  # noqa: FBT001 - which of the two, or both
    """Give the places that a verb is about, the project's before the user's."""
    return tuple(read(context, place) for place in places.places(context, user))


def with_plugin(context: Context, plugin_id: str, user: bool | None) -> MirroredPlace:  # noqa: FBT001 - the same
    """Give the place where a plugin was enabled."""
    for here in mirrored_places(context, user):
        if here.mirror.plugin(plugin_id) is not None:
            return here
    raise unknown_plugin(plugin_id)


def with_skill(
    context: Context,
    name: str,
    user: bool | None,  # noqa: FBT001 - the same
) -> tuple[MirroredPlace, VersionedSkill]:
    """Give the place that has versions of a skill."""
    for here in mirrored_places(context, user):
        skill = here.mirror.skill(name)
        if skill is not None:
            return here, skill
    raise NotFoundError(
        f"'{name}' has no versions here",
        hint="'metier history NAME' is for what was installed or mirrored",
    )


def with_candidate(
    context: Context,
    ident: str,
    user: bool | None = None,  # noqa: FBT001 - the same
) -> tuple[MirroredPlace, ReviewCandidate]:
    """Give the place where a candidate waits, else where it waited; of a project and the user, who
    may have the same, the first.
    """
    found = [
        (here, one)
        for here in mirrored_places(context, user)
        if (one := here.mirror.candidate(ident)) is not None
    ]
    if not found:
        raise NotFoundError(
            f"there is no candidate '{ident}'", hint="see all: metier review list --all"
        )
    return next(((here, one) for here, one in found if one.status in OPEN_STATUSES), found[0])


def settle_crash(context: Context, *, blocking: bool = True) -> None:
    """Finish or undo what a crash left, waiting for others no longer than `hold_lock` does."""
    places.recover(context, _patience(context, blocking=blocking))


def _patience(context: Context, *, blocking: bool) -> float:
    return float(context.settings.plugins.wait_seconds) if blocking else 0.0


@contextmanager
def hold_lock(context: Context, *, blocking: bool = True) -> Iterator[Changer]:
    """Hold the lock of all who change skills here, for no longer than the setting says, or not at
    all where it is held (BE-1).
    """
    changer = places.changer_of(context)
    changer.wait = _patience(context, blocking=blocking)
    with changer.alone() as lines:
        context.warnings += lines
        claim_edits(context, changer)
        yield changer


class PlaceLedger(Ledger):
    """The ledger of a place, and what its changes need of that."""

    def __init__(self, here: MirroredPlace, changer: Changer | None = None) -> None:
        """Take apart what was read; without a changer it can be looked at, but not applied."""
        super().__init__(here.mirror, decisions_file.now())
        self.here = here
        self.changer = changer

    def keep_edit(
        self, name: str, state: str, busy: Callable[[str], StoreError] = apply.changed_error
    ) -> None:
        """Make a version of what somebody made of a working copy, whose state is given, with its
        bytes in the store; `busy` where it is another by now.
        """
        skill = self.skills.get(name)
        if skill is None or digest_of_state(state) in {"", self.current(name).digest}:
            return
        context = self.here.context
        working = self.here.working(skill)
        if places.store_of(context).keep(working) != state:
            raise busy(working)
        candidates.note_edit(self, name, hashes_of_kept(context, state))

    def commit(self, switches: Sequence[Switch] = ()) -> MirroredPlace:
        """Change working copies and what is noted about them, wholly or not at all."""
        assert self.changer is not None, "the lock is held"
        self.here = apply_change(self.here, self.as_mirror(), switches, self.changer)
        return self.here


@contextmanager
def change(
    here: MirroredPlace, *, blocking: bool = True, anew: bool = False
) -> Iterator[PlaceLedger]:
    """Hold the lock and change a mirror as it was read; with `anew`, as it is by then, else that it
    is another is an error.
    """
    with hold_lock(here.context, blocking=blocking) as changer:
        if not here.is_current():
            if not anew:
                raise apply.changed_error("what is mirrored here")
            here = here.reread()
        yield PlaceLedger(here, changer)


def apply_change(
    here: MirroredPlace, mirror: Mirror, switches: Sequence[Switch], changer: Changer
) -> MirroredPlace:
    """Change working copies and what is noted about them, wholly or not at all. The caller holds
    the lock.
    """
    mirror = trim_decided(mirror)
    data = mirror_bytes(mirror)
    context = here.context
    if not switches and data == here.data:
        return here
    noted = Replace(file_of(context, here.place), folder_of(context), here.data, data)
    try:
        safe_files.make_folder(noted.below, context.home)
    except OSError as error:
        raise StoreError(
            f"cannot make {noted.below}: {error.strerror or error}",
            hint="check the permissions there",
        ) from error
    take_back_own(context, (switch.path for switch in switches))
    saved = changer.apply(StoreChange(tuple(switches), (noted,)))
    context.catalogue.refresh()
    if not saved:
        return here._replace(mirror=mirror, data=data)
    context.warnings += [
        f"{one.path} was edited meanwhile; what it was is a version now" for one in saved
    ]
    claim_edits(context, changer)
    return here.reread()


def claim_edits(context: Context, changer: Changer) -> None:
    """Note edits that lie in the store and are nobody's yet as versions of their skills; those of
    others wait for their own.
    """
    saved, _data = changer.unclaimed()
    for here in mirrored_places(context, None) if saved else ():
        _claim_in(here, changer)


def _claim_in(here: MirroredPlace, changer: Changer) -> None:
    saved, data = changer.unclaimed()
    ledger = PlaceLedger(here)
    context = here.context
    owners = {
        deploy.path_of(here.place, target): skill
        for skill in here.mirror.skills
        for target in skill.targets
    }
    own = [one for one in saved if one.path in owners]
    for one in own:
        skill = owners[one.path]
        candidates.note_edit(ledger, skill.name, hashes_of_kept(context, one.digest))
        # It was replaced: it is kept, not in place.
        ledger.put_skill(ledger.skills[skill.name]._replace(current=skill.current))
    if own:
        rest = [one for one in saved if one not in own]
        mirror = mirror_bytes(trim_decided(ledger.as_mirror()))
        noted = Replace(file_of(context, here.place), folder_of(context), here.data, mirror)
        changer.apply(StoreChange((), (noted, leave_unclaimed(changer, rest, data))))


def leave_unclaimed(changer: Changer, rest: Sequence[SavedEdits], data: bytes | None) -> Replace:
    """Say that these edits are nobody's yet, and no others."""
    return Replace(
        f"{changer.folder}/{SAVED}", changer.folder, data, write_saved(rest) if rest else None
    )


def digest_of_state(state: str) -> str:
    """Give the digest of what lies in a place; nothing where that is no folder."""
    return state if state.startswith("sha256:") else ""


def being_edited(path: str) -> StoreError:
    """Say that somebody edits a working copy at this very moment."""
    return StoreError(
        f"{path} is being edited right now; nothing was done", code="changed", hint="try again"
    )
