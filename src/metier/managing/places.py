"""Which folder a change is about, and whether an agent may change it: only what lies in the user's own roots (HE-47)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.disclose.schemas import handle
from metier.discover import disk, walk
from metier.errors import NotFoundError, RefusedError, StoreError
from metier.managing import rules
from metier.standard.names import lookup_key

if TYPE_CHECKING:
    from metier.app import Library
    from metier.model import Card, Root

OWN = ".agents/skills"
"""Where a new skill goes, below the home folder."""
_SKIPPED = walk.EXCLUDED | walk.EXCLUDED_HIDDEN | walk.SUPPORT
"""Folders that no search looks into, or takes for a skill's own files: what is put there is never found."""


class Target(NamedTuple):
    """A skill's folder, as its root and the way from there; the root is a canonical path."""

    root: str
    segments: tuple[str, ...]
    name: str
    card: Card | None = None
    """Nothing for a skill that does not exist yet."""
    warnings: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The folder's path."""
        return "/".join((self.root, *self.segments))


def for_new(library: Library, name: str, category: str) -> Target:
    """Give the place of a new skill: in the user's own folder, or the first that was named by hand."""
    rules.new_name(name)
    if rules.one_segment(category) in _SKIPPED:
        raise RefusedError(f"no skill is looked for in a folder named '{category}'", code="path", hint="choose another category")
    rules.free_name(name, library.contents().cards)
    root, told = _own_root(library)
    target = Target(root, tuple(filter(None, (category, name))), name, warnings=told)
    if category and _is_aside(root, category):
        raise RefusedError(f"{root}/{category} is a link, a file or a skill", code="link", hint="choose another category")
    if disk.is_there(target.path):
        raise RefusedError(f"there is already something at {target.path}", code="exists", hint="choose another name")
    return target


def of_draft(library: Library, name: str, path: str, *, new: bool) -> Target:
    """Give the place that a draft is about. Its path is only a claim: an agent must be allowed to change what lies there."""
    card = next((card for card in library.contents().cards if disk.real(card.path) == path), None)
    if card is not None:
        return of_card(library, card)
    if not new or disk.is_there(path):
        what = "no search of this library finds a skill there" if disk.is_there(path) else "its folder is gone"
        raise NotFoundError(f"there is no skill '{rules.shown(name)}' at {path} any more: {what}",
                            hint="reject the draft, or put the skill back")  # fmt: skip
    root, _told = _own_root(library)
    category, _, last = path.removeprefix(f"{root}/").rpartition("/")
    if not path.startswith(f"{root}/") or last != name:
        raise RefusedError(f"a new skill '{rules.shown(name)}' does not go to {path}", code="not-own",
                           hint="reject the draft; new skills go to your own folder")  # fmt: skip
    return for_new(library, name, category)


def _own_root(library: Library) -> tuple[str, tuple[str, ...]]:
    if library.given is not None:
        if not library.given:
            raise StoreError("there is no folder to put a new skill in", hint="name one with --root DIR")
        return disk.real(library.given[0].location), ()
    if not library.home or disk.kind_of(library.home) != disk.FOLDER:
        raise StoreError("the home folder is not known, so there is no folder of your own", hint="set HOME")
    place = f"{library.home}/{OWN}"
    if any(root.location == place for root in library.roots()):
        return disk.real(place), ()
    who = library.agent.id if library.agent else "metier"
    return disk.real(place), (f"{who} does not look in {place}",)


def _is_aside(root: str, category: str) -> bool:
    folder = f"{root}/{category}"
    if not disk.is_there(folder):
        return False
    listing = disk.list_folder(folder)
    return disk.is_link(folder) or bool(listing.fault) or any(name.lower() == "skill.md" for name in listing.files)


def of_existing(library: Library, name: str) -> Target:
    """Give the place of a skill that an agent may change; refuse every other, with the reason."""
    return of_card(library, library.resolve(handle(name)))


def of_card(library: Library, card: Card) -> Target:
    """Give the place of a skill that was found; refuse one that an agent may not change."""
    _may_be_touched(card)
    if card.kind != "skill-md":
        raise RefusedError(f"'{rules.shown(card.name)}' is a single file", code="kind", hint="a person has to change it")
    root = next((root for root in library.roots() if root.location == card.root), None)
    reason = _not_ones_own(library, card, root)
    if reason or root is None:
        raise RefusedError(f"'{rules.shown(card.name)}' may not be changed: {reason}", code="not-own",
                           hint="create a skill of another name, or name a copy in your own folder as user:NAME")  # fmt: skip
    location = root.location.rstrip("/")
    below = card.path[len(location) + 1 :]
    real = disk.real(location)
    if not card.path.startswith(location + "/") or not below:
        raise RefusedError(f"{card.path} is itself a folder of skills", code="root", hint="a person has to change it")
    if disk.real(card.path) != f"{real.rstrip('/')}/{below}":
        raise RefusedError(f"{card.path} is or lies behind a link", code="link", hint="skills behind a link are not changed")
    return Target(real, tuple(below.split("/")), card.name, card)


_HELD = {"disabled": "it is disabled", "model": "only people may use it"}


def _may_be_touched(card: Card) -> None:
    """Keep an agent away from what a person keeps from it: a change would also undo a decision about the bytes."""
    why = _HELD.get(card.held) or (f"it is {card.state}" if card.state in {"quarantined", "blocked"} else "")
    if why:
        hint = f"a person can: metier enable {card.name}" if card.held == "disabled" else "a person has to change it"
        raise RefusedError(f"'{rules.shown(card.name)}' may not be changed: {why}", code=card.held or card.state, hint=hint)


def _not_ones_own(library: Library, card: Card, root: Root | None) -> str:
    if root is None:
        return "its folder is not searched any more"
    if root.project or card.plugin:
        return f"it belongs to a {'plugin' if card.plugin else 'project'}"
    if card.scope == "user" or (card.scope == "external" and library.given is not None):
        return ""
    return f"it lies in a folder of scope {card.scope}"


def may_be_deleted(library: Library, target: Target) -> None:
    """Refuse to take away what is pinned, a folder of skills, or one with other skills in it."""
    pinned = {lookup_key(name) for name in library.settings.manage.pinned}
    if lookup_key(target.name) in pinned:
        hint = "a person can take it out of manage.pinned"
        raise RefusedError(f"'{rules.shown(target.name)}' is pinned", code="pinned", hint=hint)
    inside = target.path + "/"
    if any((disk.real(root.location) + "/").startswith(inside) for root in library.roots()):
        raise RefusedError(f"{target.path} holds a folder of skills", code="root", hint="a person has to take it away")
    if any(disk.real(card.path).startswith(inside) for card in library.contents().cards):
        raise RefusedError(f"{target.path} holds other skills", code="root", hint="take those away first")
