"""The table of agents, a place and the settings → the folders to look in, strongest first. Pure: no disk is touched."""

from __future__ import annotations

from itertools import groupby

from metier.discover.agents import AGENTS
from metier.light import TYPE_CHECKING, NamedTuple
from metier.model import SCOPES, Problem, Root

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Protocol

    from metier.discover.agents import Agent, Reach
    from metier.model import Links, Scope

    class RootSettings(Protocol):
        """What the configuration says about where to look."""

        @property
        def external_dirs(self) -> tuple[str, ...]:
            """Folders that the user added; `~` and `${VARIABLE}` are expanded."""

        @property
        def precedence(self) -> tuple[Scope, ...]:
            """The scopes from the strongest to the weakest."""


class Place(NamedTuple):
    """Where the question is asked: everything about the machine that the answer depends on."""

    home: str | None
    cwd: str
    project_root: str
    env: Mapping[str, str]
    platform: str
    packages: tuple[str, ...] = ()
    """Folders of skills that installed Python distributions ship."""


class Scopes(NamedTuple):
    """The folders to look in, strongest first, and what kept others from being named."""

    roots: tuple[Root, ...]
    problems: tuple[Problem, ...]


_LINKS: dict[Scope, Links] = {
    "project": "contained", "user": "follow", "system": "never", "admin": "follow", "plugin": "contained",
    "external": "follow", "package": "never",
}  # fmt: skip
"""Links are followed where whoever runs the machine named the folder; a stranger's must stay inside (decision 6)."""

_AS_THEY_ARE: frozenset[Scope] = frozenset({"project", "package"})
"""Scopes whose paths come from the disk: a folder called `${HOME}` is that folder, and nothing is expanded in it."""


def roots_for(agent: Agent | None, place: Place, settings: RootSettings) -> Scopes:
    """List the folders that an agent looks in; without one, every folder of the table, in the order of the settings."""
    return _settled(_of_agent(agent, place, settings) if agent else _of_all(place, settings), place)


def given_roots(paths: Sequence[str]) -> tuple[Root, ...]:
    """Make roots of folders that were named by hand, in their order."""
    return tuple(Root(path, "external", "", "--root", named=True) for path in dict.fromkeys(paths))


def project_root_candidates(cwd: str) -> tuple[str, ...]:
    """List a folder and its ancestors, nearest first: the project begins at the first that holds a marker (CX-23)."""
    separator = "\\" if "\\" in cwd and "/" not in cwd else "/"
    top = separator if cwd.startswith(separator) else cwd[:2] + separator if cwd[1:2] == ":" else ""
    folder = cwd.rstrip(separator)
    if len(folder) < len(top):
        folder = top
    found = [folder]
    while folder != top:
        above = folder.rpartition(separator)[0]
        folder = above if len(above) > len(top) else top
        if folder:
            found.append(folder)
    return tuple(found)


def _of_agent(agent: Agent, place: Place, settings: RootSettings) -> list[Root]:
    """Follow the row: its folders in its order, then its plugins, then what the user added if the agent reads that."""
    drafts: list[Root] = []
    rows = (*agent.folders, *[("plugin", template) for template in agent.plugins])
    for scope, group in groupby(rows, lambda row: row[0]):
        paths = [path for _scope, path in group]
        if scope == "project":
            paths = [f"{folder.rstrip('/')}/{path}" for folder in _searched(place, agent.reach) for path in paths]
        told_by, links = _row_of(agent.id, scope), _links_as(agent, scope)
        drafts += [Root(path, scope, agent.id, told_by, links) for path in paths]
    return drafts + _configured(settings, agent.id, _links_as(agent, "external")) if agent.external else drafts


def _of_all(place: Place, settings: RootSettings) -> list[Root]:
    """Take every folder that any agent looks in, scope by scope; the shared convention is the table's first row."""
    named: dict[Scope, dict[str, str]] = {scope: {} for scope in SCOPES}
    for agent in AGENTS:
        for scope, template in agent.folders:
            named[scope].setdefault(template, agent.id)
        for template in agent.plugins:
            named["plugin"].setdefault(template, agent.id)
    drafts: list[Root] = []
    for scope in dict.fromkeys((*settings.precedence, *SCOPES)):  # a scope that is not mentioned is weak, never absent
        if scope == "project":
            drafts += _of_project(place, named[scope])
        elif scope == "external":
            drafts += _configured(settings, "", _LINKS[scope])
        elif scope == "package":
            drafts += [Root(path, scope, "", "an installed Python package", _LINKS[scope]) for path in place.packages]
        else:
            drafts += [Root(path, scope, who, _row_of(who, scope), _LINKS[scope]) for path, who in named[scope].items()]
    return drafts


def _of_project(place: Place, named: dict[str, str]) -> list[Root]:
    folders = _searched(place, "ancestors")
    links, within = _LINKS["project"], folders[-1]
    rows = [(template, who, _row_of(who, "project")) for template, who in named.items()]
    return [
        Root(f"{folder}/{template}", "project", who, told_by, links, within)
        for folder in [folder.rstrip("/") for folder in folders]
        for template, who, told_by in rows
    ]


def _configured(settings: RootSettings, agent: str, links: Links) -> list[Root]:
    told_by = "external_dirs in the configuration"
    return [Root(path, "external", agent, told_by, links, named=True) for path in settings.external_dirs if path.strip()]


def _row_of(agent: str, scope: Scope) -> str:
    return f"the agent table: {agent}, {scope}"


def _links_as(agent: Agent, scope: Scope) -> Links:
    return "follow" if scope in agent.follow else "never"


def _searched(place: Place, reach: Reach) -> list[str]:
    """List the folders that may hold project folders, nearest first; never one above the project's root (CX-23)."""
    upwards = project_root_candidates(place.cwd)
    root = project_root_candidates(place.project_root)[0]
    if root not in upwards:
        return [place.cwd]
    between = upwards[: upwards.index(root) + 1]
    return list(between) if reach == "ancestors" else list(dict.fromkeys((between[0], root)))


def _settled(drafts: list[Root], place: Place) -> Scopes:
    """Turn templates into paths and keep each path once: the first wins (CX-22)."""
    placed, problems = _placed(drafts, place)
    # Where the home folder lies on the way up to the project's root, what the user keeps there is still the user's.
    own = {root.location for root in placed if root.scope == "user"}
    chosen: dict[str, Root] = {}
    for root in placed:
        if root.scope != "project" or root.location not in own:
            chosen.setdefault(root.location, root._replace(project=place.project_root) if _is_of_project(root, place) else root)
    return Scopes(tuple(chosen.values()), tuple(problems))


def _is_of_project(root: Root, place: Place) -> bool:
    """Tell whether a project brings this root along: its own folders, and packages in an environment inside it."""
    inside = root.location.startswith(place.project_root.rstrip("/") + "/")
    return root.scope == "project" or (root.scope == "package" and inside)


def _placed(drafts: list[Root], place: Place) -> tuple[list[Root], list[Problem]]:
    """Give each draft its path. Those that have none are reported: the user's one by one, the table's in one line."""
    placed: list[Root] = []
    problems: list[Problem] = []
    homeless: list[str] = []
    for root in drafts:
        scope = root.scope
        if scope in _AS_THEY_ARE:
            placed.append(root)
        elif scope != "admin" or place.platform != "win32":  # the table's admin folders are those of Unix
            path, unknown = _expanded(root.location, place, place.home if scope == "external" else place.cwd)
            if path:
                placed.append(root._replace(location=path, within=path if root.links == "contained" else ""))
            elif scope == "external":
                problems.append(_unknown(root.location, unknown))
            else:
                homeless.append(root.location)
    if homeless:
        what = f"{len(homeless)} folders below it were not searched, such as {homeless[0]}."
        problems.append(Problem("~", "WK011", f"The home folder is not known; {what}"))
    return placed, problems


def _unknown(template: str, what: str) -> Problem:
    if not what.startswith("~"):
        return Problem(template, "WK010", f"The variable {what} is not set; this folder was not searched.")
    whose = f" of {what[1:]}" if what[1:] else ""
    return Problem(template, "WK011", f"The home folder{whose} is not known; this folder was not searched.")


def _expanded(template: str, place: Place, base: str | None) -> tuple[str, str]:
    """Give a template's path, below `base` if relative; or nothing, and the variable or `~` that is not known."""
    text, unset = _substituted(template, place.env) if "${" in template else (template, "")
    if unset:
        return "", unset
    if text[:1] == "~":
        whose = text.partition("/")[0].partition("\\")[0]
        if not place.home or whose != "~":
            return "", whose
        text = place.home.rstrip("/") + text[1:]
    elif not _is_absolute(text, place.platform):
        if not base:
            return "", "~"
        text = f"{base.rstrip('/')}/{text}"
    return text.rstrip("/") or "/", ""


def _substituted(template: str, env: Mapping[str, str]) -> tuple[str, str]:
    """Put in the values of `${NAME}` and `${NAME:-default}`, once: a value is never expanded again."""
    text, rest = "", template
    while True:
        before, _opened, after = rest.partition("${")
        inside, closed, rest_of_it = after.partition("}")
        if not closed:
            return text + rest, ""
        name, _has_default, default = inside.partition(":-")
        value = env.get(name, "").strip() or default
        if not value:
            return "", name or "${}"
        rest = rest_of_it
        text += before + (value.rstrip("/") if rest.startswith("/") else value)


def _is_absolute(path: str, platform: str) -> bool:
    return path.startswith("/") or (platform == "win32" and (path.startswith("\\") or path[1:2] == ":"))
