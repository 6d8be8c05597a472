"""Which agents get a skill and how: the working copy, links to it, or copies. And that no lock can
name any other place.
"""

from __future__ import annotations

from posixpath import relpath
from typing import TYPE_CHECKING

from metier.discover.agents import AGENTS, agent_asked
from metier.discover.io import disk
from metier.discover.scopes import Surroundings, roots_for
from metier.errors import RefusedError, UsageError
from metier.store.io.atomic_change import Switch, state_of
from metier.supply.model import InstallTarget
from metier.supply.places import WORKING_FOLDER
from metier.supply.safe_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from metier.context import Context
    from metier.discover.agents import Agent
    from metier.supply.model import Method, Pin
    from metier.supply.places import InstallPlace

_READ = frozenset(path for agent in AGENTS for scope, path in agent.folders if scope == "project")
"""The folders of a project that any agent reads."""


def targets_for(
    context: Context, place: InstallPlace, name: str, agents: Sequence[str]
) -> tuple[InstallTarget, ...]:
    """Give where a skill goes: the working copy first, then one target for each agent that was
    asked for.
    """
    found = {"": InstallTarget("", f"{WORKING_FOLDER}/{safe_name(name)}", "folder")}
    for asked in agents:
        agent = agent_asked(asked)
        if agent is None:
            raise UsageError("an agent has a name", hint="list them all: metier doctor --agents")
        found[agent.id] = _target(context, place, name, agent)
    return tuple(found.values())


def _target(context: Context, place: InstallPlace, name: str, agent: Agent) -> InstallTarget:
    folder = folder_for(context, place, agent)
    if folder == WORKING_FOLDER:
        return InstallTarget(agent.id, f"{WORKING_FOLDER}/{name}", "folder")
    if not folder:
        where = (
            "of a project" if place.scope == "project" else "of the user's below the home folder"
        )
        raise UsageError(
            f"{agent.title} reads no skills {where}",
            hint="use --user or --project, or leave that agent out",
        )
    return InstallTarget(agent.id, f"{folder}/{name}", _method(context, place, agent))


def folder_for(context: Context, place: InstallPlace, agent: Agent) -> str:
    """Give the folder of this place where a skill lies for an agent: that of working copies where
    it reads that, else its strongest, and nothing where it reads none here.
    """
    folders = folders_of(context, place, agent)
    return WORKING_FOLDER if WORKING_FOLDER in folders else "".join(folders[:1])


def _method(context: Context, place: InstallPlace, agent: Agent | None) -> Method:
    follows = agent is not None and place.scope in agent.follow and context.platform != "win32"
    return "link" if follows else "copy"


def join_targets(
    context: Context,
    place: InstallPlace,
    old: Iterable[InstallTarget],
    new: Iterable[InstallTarget],
) -> tuple[InstallTarget, ...]:
    """Give the targets of both; the working copy stays where it is, and who would read it elsewhere
    is led to it.
    """
    first, *rest = old
    others = {
        target.agent: target for target in (*rest, *new) if target.agent not in {"", first.agent}
    }
    for name, target in others.items():
        if target.method == "folder" and target.path != first.path:
            others[name] = target._replace(method=_method(context, place, _agent(name)))
    return first, *others.values()


def _agent(name: str) -> Agent | None:
    return next((one for one in AGENTS if one.id == name), None)


def folders_of(context: Context, place: InstallPlace, agent: Agent) -> list[str]:
    """Give the folders that an agent reads in this place, strongest first, below its base."""
    if place.scope == "project":
        return [path for scope, path in agent.folders if scope == "project"]
    home = context.home or place.base
    about = Surroundings(home, home, home, context.env, context.platform)
    found = [
        root.location
        for root in roots_for(agent, about, context.settings).roots
        if root.scope == "user"
    ]
    return [path[len(home) + 1 :] for path in found if path.startswith(f"{home}/")]


def is_read(context: Context, place: InstallPlace, folder: str) -> bool:
    """Tell whether any agent reads a folder of this place, or working copies lie there."""
    return folder == WORKING_FOLDER or any(
        folder in folders_of(context, place, agent) for agent in AGENTS
    )


def check_targets(context: Context, place: InstallPlace, pin: Pin) -> None:
    """Refuse a pin that names a place which metier would never have chosen for it (HE-42): a lock
    may come from anybody.
    """
    if not pin.targets or pin.targets[0].method != "folder":
        raise _strange(place, pin, "no working copy")
    first = pin.targets[0]
    methods = dict[str, str]()
    for target in pin.targets:
        folder, _, last = target.path.rpartition("/")
        agent = _agent(target.agent)
        known = not target.agent if agent is None else True
        read = folders_of(context, place, agent) if agent is not None else [WORKING_FOLDER]
        same = target.path == first.path
        fits = (
            (folder in read if target is first else same)
            if target.method == "folder"
            else folder in read and not same
        )
        once = methods.setdefault(target.path, target.method) == target.method
        if not known or not fits or not once or last != safe_name(pin.name):
            raise _strange(place, pin, target.path)


def _strange(place: InstallPlace, pin: Pin, what: str) -> RefusedError:
    return RefusedError(
        f"the lock names a place for '{pin.name}' that isn't one of its folders: {what}",
        code="outside",
        hint=f"put {place.lock} by hand. Nothing was changed",
    )


def path_of(place: InstallPlace, target: InstallTarget, seen: dict[str, str] | None = None) -> str:
    """Give the absolute path of a target. Links above it are the user's own at home; in a project
    they lead to such folders. `seen` has where folders lead, for one look at many targets.
    """
    folder, _, name = target.path.rpartition("/")
    plain = f"{place.base}/{folder}"
    known = seen.get(plain) if seen is not None else None
    if known is not None:
        return f"{known}/{name}"
    real = disk.real(plain)
    if (
        place.scope == "project"
        and real != plain
        and real not in {f"{place.base}/{known}" for known in _READ}
    ):
        raise RefusedError(
            f"{plain} leads to {real}, where no agent of this project looks",
            code="outside",
            hint="replace that link by a folder",
        )
    if seen is not None:
        seen[plain] = real
    return f"{real}/{name}"


def below(place: InstallPlace, path: str) -> str:
    """Give the folder that a change of a path must stay inside."""
    return (
        place.base
        if path.startswith(f"{place.base}/")
        else path.rpartition("/")[0].rpartition("/")[0] or "/"
    )


def working_of(place: InstallPlace, pin: Pin, seen: dict[str, str] | None = None) -> str:
    """Give the path of a locked skill's working copy: its first target, wherever it was adopted."""
    if not pin.targets:
        raise _strange(place, pin, "no working copy")
    return path_of(place, pin.targets[0], seen)


def working_copy(place: InstallPlace, name: str) -> str:
    """Give the path that a new working copy has."""
    return path_of(place, InstallTarget("", f"{WORKING_FOLDER}/{safe_name(name)}", "folder"))


def wanted_state(
    place: InstallPlace,
    target: InstallTarget,
    digest: str,
    working: str,
    seen: dict[str, str] | None = None,
) -> str:
    """Give the state that a target should be in: the tree itself, or a link to the working copy,
    unless it leads there already.
    """
    path = path_of(place, target, seen)
    return (
        digest
        if target.method != "link" or path == working
        else f"link:{relpath(working, path.rpartition('/')[0])}"
    )


def switches(
    place: InstallPlace, targets: Iterable[InstallTarget], digest: str, before: dict[str, str]
) -> tuple[Switch, ...]:
    """Give the changes that bring all targets of a skill to a digest, or to nothing; `before` is
    what is there now.
    """
    working = ""
    found = {}
    for target in targets:
        path = path_of(place, target)
        working = working or path
        after = wanted_state(place, target, digest, working) if digest else ""
        if path not in found and before.get(path, "") != after:
            found[path] = Switch(path, below(place, path), before.get(path, ""), after)
    return tuple(found.values())


def target_states(
    place: InstallPlace, targets: Iterable[InstallTarget], seen: dict[str, str] | None = None
) -> dict[str, str]:
    """Look at what lies at each target now."""
    paths = dict.fromkeys(path_of(place, target, seen) for target in targets)
    return {path: state_of(path) for path in paths}
