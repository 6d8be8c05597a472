"""Finds the folder that an agent's change is about, and refuses it unless an agent may change it:
only the user's own roots qualify (HE-47).

A folder that the lock or a plugin owns is refused too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.author import limits
from metier.disclose.schemas import checked_handle
from metier.discover import walk
from metier.discover.io import disk
from metier.errors import MetierError, NotFoundError, RefusedError, StoreError
from metier.model import REGISTERED
from metier.standard.names import lookup_key

if TYPE_CHECKING:
    from metier.context import Context
    from metier.model import Card, Root, Texts


LOCK_OWNER = "lock"


def owner_of(context: Context, path: str) -> str:
    """Give `lock`, `plugin:ID`, or nothing for a folder that is nobody's but the user's.

    Only places that the folder lies below are asked: what a project says has no bearing on a skill
    outside it.
    """
    from metier.plugins import mirror_store
    from metier.supply import deploy, places

    for place in places.places(context, None):
        if not path.startswith(f"{place.base.rstrip('/')}/"):
            continue
        ground = mirror_store.read(context, place)
        pins = places.read(place).lock.pins
        if any(path == deploy.path_of(place, target) for pin in pins for target in pin.targets):
            return LOCK_OWNER
        for skill in ground.mirror.skills:
            mirrored = skill.status == "active" and skill.owner.startswith("plugin:")
            if mirrored and any(path == deploy.path_of(place, target) for target in skill.targets):
                return skill.owner
    return ""


def owner_for_draft(context: Context, path: str) -> str:
    """Give the same for a draft that is about to wait; that a lock cannot be read keeps no draft
    from waiting.
    """
    try:
        return owner_of(context, path)
    except MetierError:
        return ""


def owner_in_words(owner: str) -> str:
    """Say it to people."""
    return {"": "you alone", LOCK_OWNER: "the lock"}.get(
        owner
    ) or f"the plugin '{owner.removeprefix('plugin:')}'"


OWN_SKILLS = ".agents/skills"
"""Where a new skill goes that is for no agent in particular, below the home folder."""
_SKIPPED = walk.EXCLUDED | walk.EXCLUDED_HIDDEN | walk.SUPPORT
"""Folders that no search looks into, or takes for a skill's own files: what is put there is never
found."""
_MAX_LOOKS = 3
"""How often a category's folder is looked at that others make and take away meanwhile."""


class ChangeTarget(NamedTuple):
    """A skill's folder, as its root and the way from there; the root is a canonical path."""

    root: str
    segments: Texts
    name: str
    card: Card | None = None
    """Nothing for a skill that does not exist yet."""

    @property
    def path(self) -> str:
        """The folder's path."""
        return "/".join((self.root, *self.segments))


def user_folders(context: Context) -> list[str]:
    """List the user's own folders that are searched here, strongest first."""
    return [root.location for root in context.catalogue.roots() if root.scope == "user"]


def target_for_new(
    context: Context, name: str, category: str, root: str | None = None
) -> ChangeTarget:
    """Give the place of a new skill: in the user's own folder where the agent looks first, or the
    first that was named by hand; or in another `root` of the user's.
    """
    limits.check_new_name(name)
    if limits.check_category(category) in _SKIPPED:
        raise RefusedError(
            f"no skill is looked for in a folder named '{category}'",
            code="path",
            hint="choose another category",
        )
    limits.check_free_name(name, context.catalogue.contents().cards)
    root = root or _own_root(context)
    target = ChangeTarget(root, tuple(filter(None, (category, name))), name)
    if category and _is_aside(root, category):
        raise RefusedError(
            f"{root}/{category} is a link, a file or a skill",
            code="link",
            hint="choose another category",
        )
    if disk.is_there(target.path):
        raise RefusedError(
            f"there is already something at {target.path}",
            code="exists",
            hint="choose another name",
        )
    return target


def target_of_draft(context: Context, name: str, path: str, *, new: bool) -> ChangeTarget:
    """Give the place that a draft is about. Its path is only a claim: an agent must be allowed to
    change what lies there.
    """
    card = next(
        (card for card in context.catalogue.contents().cards if disk.real(card.path) == path), None
    )
    if card is not None:
        return target_of_card(context, card)
    if not new or disk.is_there(path):
        what = (
            "no search of this library finds a skill there"
            if disk.is_there(path)
            else "its folder is gone"
        )
        raise NotFoundError(
            f"there is no skill '{limits.shorten(name)}' at {path} any more: {what}",
            hint="reject the draft, or put the skill back",
        )
    root = _own_root_above(context, path)
    category, _, last = path.removeprefix(f"{root}/").rpartition("/")
    if not path.startswith(f"{root}/") or last != name:
        raise RefusedError(
            f"a new skill '{limits.shorten(name)}' does not go to {path}",
            code="not-own",
            hint="reject the draft; new skills go to your own folder",
        )
    return target_for_new(context, name, category, root)


def _own_root_above(context: Context, path: str) -> str:
    """Give the user's own folder that a draft's path lies below. Whoever decides about a draft need
    not ask as the agent that made it: the folder of any agent will do.
    """
    own = _own_root(context)
    if context.given is not None or path.startswith(f"{own}/"):
        return own
    with context.as_agent(None) as everyone:
        found = {disk.real(folder) for folder in user_folders(everyone)}
    return max((root for root in found if path.startswith(f"{root}/")), key=len, default=own)


def _own_root(context: Context) -> str:
    if context.given is not None:
        if not context.given:
            raise StoreError(
                "there is no folder to put a new skill in", hint="name one with --root DIR"
            )
        return disk.real(context.given[0].location)
    if not context.home or disk.kind_of(context.home) != disk.FOLDER:
        raise StoreError(
            "the home folder is not known, so there is no folder of your own", hint="set HOME"
        )
    if context.agent is None:
        return disk.real(f"{context.home}/{OWN_SKILLS}")
    found = user_folders(context)
    if not found:
        raise StoreError(
            f"{context.agent.title} looks in no folder of your own, and agents do not change a "
            "project's",
            hint=f"a person can: metier new NAME --agent {context.agent.id}",
        )
    return disk.real(found[0])


def _is_aside(root: str, category: str) -> bool:
    folder = f"{root}/{category}"
    for _look in range(_MAX_LOOKS):
        if not disk.is_there(folder):
            return False
        listing = disk.list_folder(folder)
        if not listing.fault:
            break  # otherwise another process may have taken it away, or made it, at this moment
    return (
        disk.is_link(folder)
        or bool(listing.fault)
        or any(name.lower() == "skill.md" for name in listing.files)
    )


def target_of_existing(context: Context, name: str) -> ChangeTarget:
    """Give the place of a skill that an agent may change; refuse every other, with the reason."""
    return target_of_card(context, context.catalogue.resolve(checked_handle(name)))


def target_of_card(context: Context, card: Card) -> ChangeTarget:
    """Give the place of a skill that was found; refuse one that an agent may not change."""
    _check_touchable(card)
    if card.kind != "skill-md":
        raise RefusedError(
            f"'{limits.shorten(card.name)}' is a single file",
            code="kind",
            hint="a person has to change it",
        )
    root = next((root for root in context.catalogue.roots() if root.location == card.root), None)
    reason = _refuse_foreign(context, card, root)
    if reason or root is None:
        raise RefusedError(
            f"'{limits.shorten(card.name)}' may not be changed: {reason}",
            code="not-own",
            hint="create a skill of another name, or name a copy in your own folder as user:NAME",
        )
    location = root.location.rstrip("/")
    below = card.path[len(location) + 1 :]
    real = disk.real(location)
    if not card.path.startswith(location + "/") or not below:
        raise RefusedError(
            f"{card.path} is itself a folder of skills",
            code="root",
            hint="a person has to change it",
        )
    if disk.real(card.path) != f"{real.rstrip('/')}/{below}":
        raise RefusedError(
            f"{card.path} is or lies behind a link",
            code="link",
            hint="skills behind a link are not changed",
        )
    return ChangeTarget(real, tuple(below.split("/")), card.name, card)


_HELD = {"disabled": "it is disabled", "model": "only people may use it"}


def _check_touchable(card: Card) -> None:
    """Keep an agent away from what a person keeps from it: a change would also undo a decision
    about the bytes.
    """
    why = _HELD.get(card.held) or (
        f"it is {card.state}" if card.state in {"quarantined", "blocked"} else ""
    )
    if why:
        raise RefusedError(
            f"'{limits.shorten(card.name)}' may not be changed: {why}",
            code=card.held or card.state,
            hint=f"a person can: metier enable {card.name}"
            if card.held == "disabled"
            else "a person has to change it",
        )


def _refuse_foreign(context: Context, card: Card, root: Root | None) -> str:
    if root is None:
        return "its folder is not searched any more"
    if root.told_by == REGISTERED:
        return "a program registered it for as long as it runs"
    if root.project or card.plugin:
        return f"it belongs to a {'plugin' if card.plugin else 'project'}"
    if card.scope == "user" or (card.scope == "external" and context.given is not None):
        return ""
    return f"it lies in a folder of scope {card.scope}"


def check_deletable(context: Context, target: ChangeTarget) -> None:
    """Refuse to take away what is pinned, a folder of skills, or one with other skills in it."""
    pinned = {lookup_key(name) for name in context.settings.manage.pinned}
    if lookup_key(target.name) in pinned:
        raise RefusedError(
            f"'{limits.shorten(target.name)}' is pinned",
            code="pinned",
            hint="a person can take it out of manage.pinned",
        )
    inside = target.path + "/"
    if any(
        (disk.real(root.location) + "/").startswith(inside) for root in context.catalogue.roots()
    ):
        raise RefusedError(
            f"{target.path} holds a folder of skills",
            code="root",
            hint="a person has to take it away",
        )
    if any(disk.real(card.path).startswith(inside) for card in context.catalogue.contents().cards):
        raise RefusedError(
            f"{target.path} holds other skills", code="root", hint="take those away first"
        )
