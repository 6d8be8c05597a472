"""Finds where the skills of a project or of the user are kept, and which of them a plugin owns.

A place has a folder that its skills lie below, a lock, and this machine's notes on it. What a
mirrored plugin owns is neither installed over, nor locked, nor changed by anything here.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from metier.discover.io import disk
from metier.errors import NotFoundError, RefusedError, StoreError
from metier.store.io.atomic_change import JOURNAL, SAVED, Changer
from metier.store.io.disk_calls import OsDiskCalls
from metier.store.io.tree_store import Store
from metier.supply.io.lock_file import read_lock_file, read_small_file, read_state_file
from metier.supply.model import Refusal
from metier.supply.safe_names import fold_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from metier.context import Context
    from metier.model import Scope
    from metier.plugins.model import Mirror
    from metier.ports import DiskCalls
    from metier.supply.local_state import SupplyState
    from metier.supply.model import Lock, Pin


LOCK_NAME = "metier.lock"
USER_STATE_NAME = "user"
"""What this machine's notes on the user's own lock are called."""
WORKING_FOLDER = ".agents/skills"
"""Where working copies lie, below a project or the home folder."""


class InstallPlace(NamedTuple):
    """One lock, and what it governs."""

    scope: Scope
    base: str
    """The folder that everything it puts in place lies below."""
    lock: str
    state: str
    """The file below METIER_HOME with revisions and pending merges."""


class LockFiles(NamedTuple):
    """What a place's two files say, and their bytes, which must still be those when they are
    replaced.
    """

    lock: Lock
    state: SupplyState
    lock_bytes: bytes | None
    state_bytes: bytes | None


def home_of(context: Context) -> str:
    """Give the folder of metier's own state, without which nothing is installed."""
    if not context.data:
        raise StoreError("there is no place for installed skills", hint="set METIER_HOME or HOME")
    return context.data if context.data.startswith("/") else disk.real(context.data)


def place_of(context: Context, *, user: bool) -> InstallPlace:
    """Give the place of this project, or of the user."""
    data = home_of(context)
    if user:
        if not context.home:
            raise StoreError(
                "there is no home folder to install into",
                hint="set HOME, or install into a project",
            )
        return _place("user", disk.real(context.home), f"{data}/{LOCK_NAME}", data)
    return project_place(context, disk.real(context.project))


def project_place(context: Context, base: str) -> InstallPlace:
    """Give the place of a project, by its canonical folder."""
    return _place("project", base, f"{base}/{LOCK_NAME}", home_of(context))


def _place(scope: Scope, base: str, lock: str, data: str) -> InstallPlace:
    # The user's own moves with METIER_HOME; a project's is known by where its lock lies.
    name = (
        USER_STATE_NAME
        if scope == "user"
        else blake2b(lock.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    )
    return InstallPlace(scope, base, lock, f"{data}/supply/{name}.json")


def places(context: Context, user: bool | None) -> tuple[InstallPlace, ...]:  # noqa: FBT001 - which of the two, or both
    """Give the places that a verb is about: the project's before the user's where it may be
    either.
    """
    if user is not None:
        return (place_of(context, user=user),)
    return (
        place_of(context, user=False),
        *((place_of(context, user=True),) if context.home else ()),
    )


def find_pin(context: Context, name: str, user: bool | None) -> tuple[InstallPlace, LockFiles, Pin]:  # noqa: FBT001 - the same
    """Give the place whose lock has a skill, with its pin."""
    for place in places(context, user):
        kept = read(place)
        pin = kept.lock.named(name)
        if pin is not None:
            return place, kept, pin
    raise not_locked(name, places(context, user))


def not_locked(name: str, asked: Iterable[InstallPlace]) -> NotFoundError:
    """Say that the lock of none of the places has a skill, with the names in them that are near."""
    from metier.standard.names import did_you_mean  # only a name that was not found needs it

    known = [pin.name for place in asked for pin in read(place).lock.pins]
    meant = did_you_mean(name, known) or "see what metier installed: metier list. "
    return NotFoundError(
        f"'{name}' is not in the lock",
        hint=f"{meant}To track a skill you already have: metier adopt PATH",
    )


def read(place: InstallPlace) -> LockFiles:
    """Read a place's lock and this machine's notes on it; no file means an empty one."""
    state, state_bytes = read_state_file(place.state)
    lock, lock_bytes = read_lock_file(place.lock)
    return LockFiles(lock, state._replace(lock=place.lock), lock_bytes, state_bytes)


def hands_of(context: Context) -> DiskCalls:
    """Give what changes the disk."""
    return context.disk_calls or OsDiskCalls()


def store_of(context: Context) -> Store:
    """Open the store."""
    return Store(f"{home_of(context)}/store", context.home, hands_of(context))


def changer_of(context: Context) -> Changer:
    """Give what changes many places at once, wholly or not at all."""
    return Changer(f"{home_of(context)}/supply", context.home, store_of(context), hands_of(context))


def recover(context: Context, wait: float | None = None) -> None:
    """Finish or undo what a crash left, before anything is planned: a plan made on half a change
    would not hold.

    What lies there may be the change that another process is at: `wait` is how long to wait for
    that one.
    """
    folder = f"{home_of(context)}/supply"
    changer = changer_of(context)
    changer.wait = changer.wait if wait is None else wait
    if disk.kind_of(f"{folder}/{JOURNAL}") is not None:
        context.warnings += changer.recover()
    if disk.kind_of(f"{folder}/{SAVED}") is not None:
        from metier.supply.apply import claim_edits

        claim_edits(context, changer)


MAX_MIRROR_BYTES = 256 * 1024 * 1024
MIRROR_FOLDER = "plugins"
"""Below METIER_HOME: one file for each place, called as this machine's notes on its lock are."""
PLUGIN_PREFIX = "plugin:"
"""What the owner of a skill begins with where it is a plugin."""


def mirror_at(path: str) -> Mirror | None:
    """Read what is mirrored in a place; nothing where nothing ever was. What cannot be read is an
    error: it may own all.
    """
    data = read_small_file(path, MAX_MIRROR_BYTES)
    if data is None:
        return None
    from metier.plugins.mirror_json import read_mirror  # most places have no plugin

    return read_mirror(data, path)


def plugin_owners(context: Context, place: InstallPlace) -> dict[str, str]:
    """Give the plugin of each skill that one owns here, by the skill's name without what some
    systems do not tell apart.
    """
    mirror = mirror_at(f"{home_of(context)}/{MIRROR_FOLDER}/{place.state.rpartition('/')[2]}")
    skills = mirror.skills if mirror is not None else ()
    return {
        fold_name(one.name): one.owner.removeprefix(PLUGIN_PREFIX)
        for one in skills
        if one.owner.startswith(PLUGIN_PREFIX)
    }


def refusal_if_owned(owned_here: Mapping[str, str], name: str) -> Refusal | None:
    """Give why a name is not for anybody but its plugin; nothing where no plugin has it."""
    plugin = owned_here.get(fold_name(name))
    return Refusal(name, _owned_words(name, plugin)) if plugin is not None else None


def check_not_owned(context: Context, place: InstallPlace, names: Iterable[str]) -> None:
    """Refuse to touch what belongs to a plugin."""
    names = tuple(names)
    found = plugin_owners(context, place) if names else {}
    for name in names:
        plugin = found.get(fold_name(name))
        if plugin is not None:
            message, hint = _owned_words(name, plugin)
            raise RefusedError(message, hint=hint, code="owned")


def _owned_words(name: str, plugin: str) -> tuple[str, str]:
    return (
        f"'{name}' belongs to the plugin {plugin}",
        f"'metier plugin adopt {plugin} {name}' makes it your own",
    )
