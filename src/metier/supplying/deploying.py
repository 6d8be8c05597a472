"""Which agents get a skill and how: the working copy, links to it, or copies. And that no lock can name any other place."""

from __future__ import annotations

from posixpath import relpath
from typing import TYPE_CHECKING

from metier.discover import disk
from metier.discover.agents import AGENTS, agent_asked
from metier.discover.scopes import Place as Surroundings, roots_for
from metier.errors import RefusedError, UsageError
from metier.store.changing.disk import Switch, state_of
from metier.supplies import Target
from metier.supply.paths import safe_name
from metier.supplying.places import WORKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from metier.app import Library
    from metier.discover.agents import Agent
    from metier.supplies import Method, Pin
    from metier.supplying.places import Place

_READ = frozenset(path for agent in AGENTS for scope, path in agent.folders if scope == "project")
"""The folders of a project that any agent reads."""


def targets_for(library: Library, place: Place, name: str, agents: Sequence[str]) -> tuple[Target, ...]:
    """Give where a skill goes: the working copy first, then one target for each agent that was asked for."""
    found = {"": Target("", f"{WORKING}/{safe_name(name)}", "folder")}
    for asked in agents:
        agent = agent_asked(asked)
        if agent is None:
            raise UsageError("an agent has a name", hint="'metier doctor --agents' lists all")
        found[agent.id] = _target(library, place, name, agent)
    return tuple(found.values())


def _target(library: Library, place: Place, name: str, agent: Agent) -> Target:
    folders = folders_of(library, place, agent)
    if WORKING in folders:
        return Target(agent.id, f"{WORKING}/{name}", "folder")
    if not folders:
        where = "of a project" if place.scope == "project" else "of the user's below the home folder"
        raise UsageError(f"{agent.title} reads no skills {where}", hint="use --user or --project, or leave that agent out")
    return Target(agent.id, f"{folders[0]}/{name}", _method(library, place, agent))


def _method(library: Library, place: Place, agent: Agent | None) -> Method:
    follows = agent is not None and place.scope in agent.follow and library.platform != "win32"
    return "link" if follows else "copy"


def joined(library: Library, place: Place, old: Iterable[Target], new: Iterable[Target]) -> tuple[Target, ...]:
    """Give the targets of both; the working copy stays where it is, and who would read it elsewhere is led to it."""
    first, *rest = old
    others = {target.agent: target for target in (*rest, *new) if target.agent not in {"", first.agent}}
    for name, target in others.items():
        if target.method == "folder" and target.path != first.path:
            others[name] = target._replace(method=_method(library, place, _agent(name)))
    return first, *others.values()


def _agent(name: str) -> Agent | None:
    return next((one for one in AGENTS if one.id == name), None)


def folders_of(library: Library, place: Place, agent: Agent) -> list[str]:
    """Give the folders that an agent reads in this place, strongest first, below its base."""
    if place.scope == "project":
        return [path for scope, path in agent.folders if scope == "project"]
    home = library.home or place.base
    about = Surroundings(home, home, home, library.env, library.platform)
    found = [root.location for root in roots_for(agent, about, library.settings).roots if root.scope == "user"]
    return [path[len(home) + 1 :] for path in found if path.startswith(f"{home}/")]


def sure(library: Library, place: Place, pin: Pin) -> None:
    """Refuse a pin that names a place which metier would never have chosen for it (HE-42): a lock may come from anybody."""
    if not pin.targets or pin.targets[0].method != "folder":
        raise _strange(place, pin, "no working copy")
    first, methods = pin.targets[0], dict[str, str]()
    for target in pin.targets:
        folder, _, last = target.path.rpartition("/")
        agent = _agent(target.agent)
        known = not target.agent if agent is None else True
        read = folders_of(library, place, agent) if agent is not None else [WORKING]
        same = target.path == first.path
        fits = (folder in read if target is first else same) if target.method == "folder" else folder in read and not same
        once = methods.setdefault(target.path, target.method) == target.method
        if not known or not fits or not once or last != safe_name(pin.name):
            raise _strange(place, pin, target.path)


def _strange(place: Place, pin: Pin, what: str) -> RefusedError:
    return RefusedError(f"the lock names a place for '{pin.name}' that is none of its: {what}", code="outside",
                        hint=f"put {place.lock} right by hand; nothing was touched")  # fmt: skip


def path_of(place: Place, target: Target) -> str:
    """Give the absolute path of a target. Links above it are the user's own at home; in a project they lead to such folders."""
    folder, _, name = target.path.rpartition("/")
    plain = f"{place.base}/{folder}"
    real = disk.real(plain)
    if place.scope == "project" and real != plain and real not in {f"{place.base}/{known}" for known in _READ}:
        raise RefusedError(f"{plain} leads to {real}, where no agent of this project looks", code="outside",
                           hint="replace that link by a folder")  # fmt: skip
    return f"{real}/{name}"


def below(place: Place, path: str) -> str:
    """Give the folder that a change of a path must stay inside."""
    return place.base if path.startswith(f"{place.base}/") else path.rpartition("/")[0].rpartition("/")[0] or "/"


def working_of(place: Place, pin: Pin) -> str:
    """Give the path of a locked skill's working copy: its first target, wherever it was adopted."""
    if not pin.targets:
        raise _strange(place, pin, "no working copy")
    return path_of(place, pin.targets[0])


def working_copy(place: Place, name: str) -> str:
    """Give the path that a new working copy has."""
    return path_of(place, Target("", f"{WORKING}/{safe_name(name)}", "folder"))


def wanted_state(place: Place, target: Target, digest: str, working: str) -> str:
    """Give the state that a target should be in: the tree itself, or a link to the working copy, unless it leads there already."""
    path = path_of(place, target)
    return digest if target.method != "link" or path == working else f"link:{relpath(working, path.rpartition('/')[0])}"


def switches(place: Place, targets: Iterable[Target], digest: str, before: dict[str, str]) -> tuple[Switch, ...]:
    """Give the changes that bring all targets of a skill to a digest, or to nothing; `before` is what is there now."""
    working = ""
    found: dict[str, Switch] = {}
    for target in targets:
        path = path_of(place, target)
        working = working or path
        after = wanted_state(place, target, digest, working) if digest else ""
        if path not in found and before.get(path, "") != after:
            found[path] = Switch(path, below(place, path), before.get(path, ""), after)
    return tuple(found.values())


def states(place: Place, targets: Iterable[Target]) -> dict[str, str]:
    """Look at what lies at each target now."""
    return {path: state_of(path) for path in dict.fromkeys(path_of(place, target) for target in targets)}
