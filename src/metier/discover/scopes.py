"""Lists the folders to look for skills in, strongest first, from the table of agents, a place and
the settings.

It touches no disk itself. Whether a root exists, and which plugin it belongs to by a manifest above
it, is asked of the disk that the caller hands in.
"""

from __future__ import annotations

from itertools import groupby

from metier.discover.agents import AGENTS
from metier.fast import TYPE_CHECKING, NamedTuple
from metier.model import MANIFEST_BYTES, MANIFESTS, SCOPES, Limits, Problem, Root

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from metier.discover.agent_config import AgentSettings
    from metier.discover.agents import Agent, ConfigFile, Reach
    from metier.model import Links, Scope, Texts
    from metier.ports import Disk
    from metier.settings.merge import Settings

    Roots = list[Root]


class Surroundings(NamedTuple):
    """Where the question is asked: everything about the machine that the answer depends on."""

    home: str | None
    cwd: str
    project_root: str
    env: Mapping[str, str]
    platform: str
    packages: Texts = ()
    """Folders of skills that installed Python distributions ship."""
    npm_packages: tuple[tuple[str, str], ...] = ()
    """Folders of skills that the project's npm packages ship, each with its package in words."""
    in_project: bool = True
    """Whether the working folder lies in a project; outside one, it is its own root."""


class Scopes(NamedTuple):
    """The folders to look in, strongest first, and what kept others from being named."""

    roots: tuple[Root, ...]
    problems: tuple[Problem, ...]


_LINKS: dict[Scope, Links] = {
    "project": "contained",
    "user": "follow",
    "system": "never",
    "admin": "follow",
    "plugin": "contained",
    "external": "follow",
    "package": "never",
}
"""Links are followed where whoever runs the machine named the folder; a stranger's must stay inside
(MT-6)."""

UPSTREAMS = "upstreams"
"""Below METIER_HOME: the copies of other MCP servers' skills, a folder for each server."""

_OF_ONE_AGENT: frozenset[Scope] = frozenset({"system"})
"""Scopes that an agent fills with what it ships for itself: no other agent reads them, and neither
does metier on its own."""

_SET = frozenset({"1", "true"})
"""What a variable must be that keeps an agent from some of its folders."""

_AS_THEY_ARE: frozenset[Scope] = frozenset({"project", "package"})
"""Scopes whose paths come from the disk: a folder called `${HOME}` is that folder, and nothing is
expanded in it."""


def roots_for(
    agent: Agent | None,
    place: Surroundings,
    settings: Settings,
    said: AgentSettings | None = None,
) -> Scopes:
    """List the folders that an agent looks in, by its row and what its own configuration says;
    without an agent, every folder of the table, in the order of the settings.
    """
    if agent is None:
        return _finish(_roots_of_all(place, settings), place)
    scopes = _finish(_roots_of_agent(agent, place, said), place)
    if not settings.external_dirs:
        return scopes
    told = (
        f"external_dirs is metier's own setting: {agent.title} does not read these folders, so they "
        "are left out."
    )
    left = Problem(settings.external_dirs[0], "WK014", told)
    return scopes._replace(problems=(*scopes.problems, left))


def config_places(agent: Agent, place: Surroundings, file: ConfigFile) -> list[str]:
    """Give the paths that one of an agent's configuration files may have here, weakest first."""
    if _is_own(file.path):
        path, _unknown = _expand(file.path, place, place.cwd)
        return [path] if path else []
    folders = _searched_folders(place, file.reach or agent.reach)
    return [f"{folder.rstrip('/')}/{file.path}" for folder in reversed(folders)]


def given_roots(paths: Sequence[str]) -> tuple[Root, ...]:
    """Make roots of folders that were named by hand, in their order."""
    return tuple(Root(path, "external", "", "--root", named=True) for path in dict.fromkeys(paths))


def joined_roots(data: str, names: Sequence[str]) -> tuple[Root, ...]:
    """Make roots of the copies of other MCP servers' skills. Only what lies directly in such a folder
    is a skill: what one brings along inside is part of it.
    """
    return tuple(
        Root(
            f"{data}/{UPSTREAMS}/{name}/skills",
            "plugin",
            "",
            f"the upstream {name}",
            "never",
            named=True,
            limits=Limits(depth=1),
        )
        for name in names
    )


def project_root_candidates(cwd: str) -> Texts:
    """List a folder and its ancestors, nearest first: the project begins at the first that holds a
    marker (CX-23).
    """
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


def _roots_of_agent(agent: Agent, place: Surroundings, said: AgentSettings | None) -> Roots:
    """Follow the row: its folders in its order, then those that its configuration names, then its
    plugins.
    """
    drafts: Roots = []
    unread = {
        path
        for variable, paths in agent.without
        if place.env.get(variable, "").lower() in _SET
        for path in paths
    }
    read = (row for row in agent.folders if row[1] not in unread)
    for scope, group in groupby(read, lambda row: row[0]):
        paths = [path for _scope, path in group]
        if scope == "project":
            drafts += _project_roots(agent, place, paths)
        else:
            drafts += [_agent_root(agent, scope, path, "") for path in paths]
    if said is not None:
        drafts = [root for root in drafts if said.system or root.scope != "system"]
        drafts += [_named_root(agent, place, *named) for named in said.folders]
    return drafts + _plugin_roots(agent, said)


def _named_root(agent: Agent, place: Surroundings, path: str, told_by: str) -> Root:
    """Give a folder that a configuration file of the agent names. One that a project's file names
    waits until the project is trusted, wherever it lies.
    """
    files = {_expand(file.path, place, place.cwd)[0] for file in agent.config if _is_own(file.path)}
    owner = "" if told_by in files else _holder(agent, told_by)
    if not _is_own(path):  # it lies wherever somebody stands, whoever wrote it
        owner = owner or place.cwd
    base = place.project_root.rstrip("/")
    path = base + path[1:] if path.startswith("./") else path
    owner = owner and _owner(owner, place)
    return _agent_root(agent, "external", path, "")._replace(told_by=told_by, project=owner)


def _holder(agent: Agent, told_by: str) -> str:
    """Give the folder of a project in which a configuration file of the agent lies."""
    ends = ("/" + file.path for file in agent.config if not _is_own(file.path))
    found = [told_by.removesuffix(end) for end in ends if told_by.endswith(end)]
    return min(found, key=len, default=told_by) or "/"


def _is_own(template: str) -> bool:
    """Tell whether a path is the user's or the machine's, not a project's."""
    return template[0] in "~$/"


def _owner(folder: str, place: Surroundings) -> str:
    """Give the project that a folder belongs to: the one that is worked in, or where it lies above
    that, itself.
    """
    inside = f"{folder.rstrip('/')}/".startswith(place.project_root.rstrip("/") + "/")
    return place.project_root if inside else folder


def _project_roots(agent: Agent, place: Surroundings, paths: list[str]) -> Roots:
    """Give the folders of a project, the nearest first; or those of one name before the next, where
    the agent goes by names.
    """
    own = dict(agent.reaches)
    reached = {path: _searched_folders(place, own.get(path, agent.reach)) for path in paths}
    longest_first = sorted(reached.values(), key=len, reverse=True)
    folders = dict.fromkeys(folder for found in longest_first for folder in found)
    pairs = [(path, folder) for folder in folders for path in paths if folder in reached[path]]
    if agent.name_by_name:
        pairs.sort(key=lambda pair: paths.index(pair[0]))
    roots = [
        _agent_root(agent, "project", path, folder)._replace(project=_owner(folder, place))
        for path, folder in pairs
    ]
    if not agent.inside:
        return roots
    within = place.project_root
    return [
        root._replace(links="contained", within=within)
        if root.location.startswith(within.rstrip("/") + "/")
        else root
        for root in roots
    ]


def _plugin_roots(agent: Agent, said: AgentSettings | None) -> Roots:
    """Give the plugins that are on, each in a folder of its own where the configuration says which;
    and every extension.
    """
    told_by = _row_of(agent.id, "plugin")
    links = _links_as(agent, "plugin")
    deep = Limits(depth=agent.plugin_depth)
    roots = [Root(path, "plugin", agent.id, told_by, links) for path in agent.plugins]
    if said is not None and said.plugins is not None:
        named = [name.partition("@") for name in said.plugins]
        roots = [
            root._replace(
                location=f"{root.location}/{market}/{name}", limits=deep, loading=agent.loading
            )
            for root in roots
            for name, _at, market in named
            if _is_plugin_name(name) and _is_plugin_name(market)
        ]
    return roots + [
        Root(
            path, "plugin", agent.id, told_by, links, limits=_extended(agent), loading=agent.loading
        )
        for path in agent.extensions
    ]


def _is_plugin_name(text: str) -> bool:
    """Tell whether a text can be a folder of a plugin, and leads to no other."""
    plain = text.replace(".", "_").replace("-", "_").replace("_", "a")
    return text[:1] not in {".", "-"} and plain.isascii() and plain.isalnum()


def _extended(agent: Agent) -> Limits:
    """Give how deep an extension is searched: its skills lie in its folder `skills`, each in one of
    its own, unless the agent searches everything to one depth.
    """
    return Limits(depth=max(3, agent.limits.depth if agent.limits else 0))


def _agent_root(agent: Agent, scope: Scope, path: str, folder: str) -> Root:
    loading = agent.loading
    if loading is not None and path in agent.dotless:
        loading = loading._replace(hidden=False)
    if loading is not None and path in agent.flat:
        loading = loading._replace(flat=True)
    if scope == "project":
        path = f"{folder.rstrip('/')}/{path}"
    return Root(
        path,
        scope,
        agent.id,
        _row_of(agent.id, scope),
        _links_as(agent, scope),
        limits=agent.limits,
        loading=loading,
        behind=agent.either[: agent.either.index(path)] if path in agent.either else (),
    )


def _roots_of_all(place: Surroundings, settings: Settings) -> Roots:
    """Take every folder that any agent looks in, scope by scope; the shared convention is the
    table's first row.
    """
    named: dict[Scope, dict[str, str]] = {scope: {} for scope in SCOPES}
    for agent in AGENTS:
        for scope, template in (*agent.folders, *agent.unread):
            if scope not in _OF_ONE_AGENT:
                named[scope].setdefault(template, agent.id)
        for template in agent.plugins:
            named["plugin"].setdefault(template, agent.id)
    drafts: Roots = []
    for scope in dict.fromkeys(
        (*settings.precedence, *SCOPES)
    ):  # a scope that is not mentioned is weak, never absent
        if scope == "project":
            drafts += _roots_of_project(place, named[scope])
        elif scope == "external":
            drafts += _configured_roots(settings, "", _LINKS[scope])
        elif scope == "package":
            drafts += [
                Root(path, scope, "", "an installed Python package", _LINKS[scope])
                for path in place.packages
            ]
            drafts += [
                Root(path, scope, "", told_by, _LINKS[scope])
                for path, told_by in place.npm_packages
            ]
        else:
            drafts += [
                Root(path, scope, who, _row_of(who, scope), _LINKS[scope])
                for path, who in named[scope].items()
            ]
    return drafts


def _roots_of_project(place: Surroundings, named: dict[str, str]) -> Roots:
    folders = _searched_folders(place, "ancestors")
    links = _LINKS["project"]
    within = folders[-1]
    rows = [(template, who, _row_of(who, "project")) for template, who in named.items()]
    return [
        Root(f"{folder}/{template}", "project", who, told_by, links, within)
        for folder in [folder.rstrip("/") for folder in folders]
        for template, who, told_by in rows
    ]


def _configured_roots(settings: Settings, agent: str, links: Links) -> Roots:
    told_by = "external_dirs in the configuration"
    return [
        Root(path, "external", agent, told_by, links, named=True)
        for path in settings.external_dirs
        if path.strip()
    ]


def _row_of(agent: str, scope: Scope) -> str:
    return f"the agent table: {agent}, {scope}"


def _links_as(agent: Agent, scope: Scope) -> Links:
    return "follow" if scope in agent.follow else "never"


def _searched_folders(place: Surroundings, reach: Reach) -> list[str]:
    """List the folders that may hold project folders, nearest first; never one above the project's
    root (CX-23).
    """
    if reach == "folder":
        return [place.cwd]
    if reach in {"root", "base"}:
        return [place.project_root] if place.in_project or reach == "base" else []
    upwards = project_root_candidates(place.cwd)
    root = project_root_candidates(place.project_root)[0]
    if reach == "homewards" and not place.in_project and place.home in upwards:
        return list(upwards[: upwards.index(place.home)])
    if reach == "everywhere" or (reach in {"upwards", "homewards"} and not place.in_project):
        return list(upwards)
    if root not in upwards:
        return [place.cwd]
    between = upwards[: upwards.index(root) + 1]
    if reach != "workspace":
        return list(between)
    return list(dict.fromkeys((between[0], root)))


def _finish(drafts: Roots, place: Surroundings) -> Scopes:
    """Turn templates into paths and keep each path once: the first wins (CX-22)."""
    placed, problems = _expand_all(drafts, place)
    # Where the home folder lies on the way up to the project's root, what the user keeps there is
    # still the user's.
    own = {root.location for root in placed if root.scope == "user"}
    chosen: dict[str, Root] = {}
    for root in placed:
        if root.scope != "project" or root.location not in own:
            chosen.setdefault(
                root.location,
                root._replace(project=root.project or place.project_root)
                if _is_of_project(root, place)
                else root,
            )
    return Scopes(tuple(chosen.values()), tuple(problems))


def _is_of_project(root: Root, place: Surroundings) -> bool:
    """Tell whether a project brings this root along: its own folders, and packages in an
    environment inside it.
    """
    inside = root.location.startswith(place.project_root.rstrip("/") + "/")
    return root.scope == "project" or (root.scope == "package" and inside)


def _expand_all(drafts: Roots, place: Surroundings) -> tuple[Roots, list[Problem]]:
    """Give each draft its path. Those that have none are reported: the user's one by one, the
    table's in one line.
    """
    placed: Roots = []
    problems: list[Problem] = []
    homeless: list[str] = []
    for root in drafts:
        scope = root.scope
        if scope in _AS_THEY_ARE:
            placed.append(root)
        elif (
            scope != "admin" or place.platform != "win32"
        ):  # the table's admin folders are those of Unix
            path, unknown = _expand(
                root.location,
                place,
                place.home if scope == "external" and not root.agent else place.cwd,
            )
            if path:
                behind = tuple(_expand(folder, place, place.cwd)[0] for folder in root.behind)
                within = path if root.links == "contained" else ""
                placed.append(root._replace(location=path, within=within, behind=behind))
            elif scope == "external":
                problems.append(_unknown(root.location, unknown))
            else:
                homeless.append(root.location)
    if homeless:
        what = f"{len(homeless)} folders below it were not searched, such as {homeless[0]}."
        if len(homeless) == 1:
            what = f"{homeless[0]} was not searched."
        problems.append(Problem("~", "WK011", f"The home folder is not known; {what}"))
    return placed, problems


def _unknown(template: str, what: str) -> Problem:
    if not what.startswith("~"):
        return Problem(
            template, "WK010", f"The variable {what} is not set; this folder was not searched."
        )
    whose = f" of {what[1:]}" if what[1:] else ""
    return Problem(
        template, "WK011", f"The home folder{whose} is not known; this folder was not searched."
    )


def _expand(template: str, place: Surroundings, base: str | None) -> tuple[str, str]:
    """Give a template's path, below `base` if relative; or nothing, and the variable or `~` that is
    not known.
    """
    text, unset = _substitute(template, place.env) if "${" in template else (template, "")
    if unset:
        return "", unset
    if text[:1] == "~":
        whose = text.partition("/")[0].partition("\\")[0]
        if not place.home or whose != "~":
            return "", whose
        text = place.home.rstrip("/") + text[1:]
    elif not text.startswith("/") and not (
        place.platform == "win32" and (text.startswith("\\") or text[1:2] == ":")
    ):
        if not base:
            return "", "~"
        text = f"{base.rstrip('/')}/{text}"
    return text.rstrip("/") or "/", ""


def _substitute(template: str, env: Mapping[str, str]) -> tuple[str, str]:
    """Put in the values of `${NAME}` and `${NAME:-default}`, once: a value is never expanded
    again.
    """
    text = ""
    rest = template
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


# --- which roots are there


def existing_roots(roots: Sequence[Root], disk: Disk) -> tuple[Roots, list[Problem]]:
    """Keep the roots that are folders. One that was named by hand and is not there is reported."""
    present: Roots = []
    problems: list[Problem] = []
    for root in roots:
        if any(disk.kind_of(folder) == "folder" for folder in root.behind):
            continue
        kind = disk.kind_of(root.location)
        if kind == "folder" and root.named and not disk.readable(root.location):
            problems.append(
                Problem(root.location, "WK001", "This root cannot be read: permission denied.")
            )
        elif kind == "folder":
            # A project is trusted by its canonical path, whichever way one came there.
            present.append(root._replace(project=disk.real(root.project)) if root.project else root)
        elif kind is not None:
            problems.append(Problem(root.location, "WK002", "This root is not a folder."))
        elif root.named:
            problems.append(
                Problem(root.location, "WK009", f"This root does not exist ({root.told_by}).")
            )
    return present, problems


def plugin_above(root: Root, disk: Disk) -> str:
    """Name the plugin that a plugin's own skills folder belongs to: its manifest lies above the
    root (CX-30).
    """
    if not root.named:
        return ""
    folder = root.location
    for _level in range(2):
        folder = folder.rpartition("/")[0]
        for where in MANIFESTS if folder else ():
            if disk.kind_of(f"{folder}/{where}") == "file":
                from metier.discover.entries import plugin_name  # few roots lie in a plugin

                name, _problem = plugin_name(
                    disk.read_head(f"{folder}/{where}", MANIFEST_BYTES), where, folder
                )
                if name:
                    return name
    return ""
