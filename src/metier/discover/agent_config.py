"""What an agent's own configuration says about skills: which are switched off, which folders it
reads besides, which plugins are on.

A row of the table of agents names the files and the keys (`ConfigFile`); the functions here follow
it. Nothing is ever written, and what cannot be read is a problem with a place, never the end of a
listing.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.model import Problem
from metier.settings.merge import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from metier.discover.agents import ConfigFile
    from metier.model import JsonObject, Texts
    from metier.ports import Disk

MAX_CONFIG_BYTES = 1 << 20
MAX_RULES = 1_000
"""Each rule is held against each skill."""
_TEXT = r'("(?:[^"\\]|\\[\s\S])*+(?:"|\\?\Z))'
_COMMENT = re.compile(rf"{_TEXT}|//[^\n]*|/\*(?:[\s\S]*?\*/|[\s\S]*)")
_LAST_COMMA = re.compile(rf"{_TEXT}|,(?=\s*[}}\]])")
"""What is never closed goes on to the end, so that no text is looked through twice."""
_OFF = frozenset({"off", "user-invocable-only", "deny", "false"})
_REFUSAL = re.compile(r"Skill\(/?([^()*]+?)(?:([: ])\*)?\)\Z")
_REFUSED_TOOL = frozenset({"Skill", "Skill(*)", "*"})
"""Without the tool, none of the skills is listed."""


class AgentSettings(NamedTuple):
    """What the configuration of one agent decides about skills, whichever agent it is."""

    rules: tuple[Rule, ...] = ()
    """Skills that it switches off or on, each with the file that says so."""
    folders: tuple[tuple[str, str], ...] = ()
    """Further folders, each with the file that names it."""
    markers: Texts | None = None
    """What makes a folder the root of a project; `None` where nothing else is said."""
    system: bool = True
    """Whether the skills that come with the agent are loaded."""
    plugins: Texts | None = None
    """The plugins that are on, as `name@marketplace`; `None` where the agent has no such list."""
    refused: tuple[tuple[str, str], ...] = ()
    """Skills that it lists and refuses to use, each with the file that says so; a star at the end
    stands for any rest."""
    everything_off: str = ""
    """The file that switches all skills off, if one does."""
    share: float = 0
    """How much of its context the list of skills may take up; 0: as the row says."""
    each: int = 0
    """Characters of one description that are shown at most; 0: as the row says."""
    platform: str = ""
    problems: tuple[Problem, ...] = ()


def read_agent_config(
    files: Iterable[ConfigFile],
    places: Callable[[ConfigFile], Iterable[str]],
    env: Mapping[str, str],
    disk: Disk,
) -> AgentSettings:
    """Read an agent's files, the weakest first; `places` gives the paths that one may
    have here.
    """
    found = AgentSettings()
    for file in files:
        if any(what == "plugins" for what, _key in file.keys):
            found = found._replace(plugins=found.plugins or ())
        for path in places(file):
            if disk.kind_of(path) is None:
                continue
            values, problem = _values(file.form, path, disk)
            if problem is not None:
                found = found._replace(problems=(*found.problems, problem))
                continue
            for what, key in file.keys:
                value = _at(values, key, env)
                if value is not None:
                    said = _READERS[what](found, value, path)
                    found = said if file.path[0] in "~$/" else _narrowed(found, said)
    if len(found.rules) > MAX_RULES:
        told = f"Of this agent's {len(found.rules):,} rules about skills, {MAX_RULES:,} are read."
        problem = Problem(found.rules[MAX_RULES].told_by, "WK013", told)
        found = found._replace(rules=found.rules[:MAX_RULES], problems=(*found.problems, problem))
    return found


def _narrowed(before: AgentSettings, after: AgentSettings) -> AgentSettings:
    """Take of what a project's file says that which switches off, and the folders that it names,
    which wait until the project is trusted.
    """
    new = after.rules[len(before.rules) :]
    return before._replace(
        rules=before.rules + tuple(rule for rule in new if not rule.enabled),
        folders=after.folders,
        refused=after.refused,
        plugins=tuple(name for name in before.plugins or () if name in (after.plugins or ()))
        if before.plugins is not None
        else None,
        everything_off=before.everything_off or after.everything_off,
        share=after.share,
        each=after.each,
    )


def _values(form: str, path: str, disk: Disk) -> tuple[JsonObject, Problem | None]:
    head = disk.read_head(disk.real(path), MAX_CONFIG_BYTES)
    if head.fault:
        return {}, Problem(
            path, "WK013", f"This agent's configuration cannot be read: {head.message}."
        )
    if head.size > MAX_CONFIG_BYTES:
        return {}, Problem(path, "WK013", "This agent's configuration is too large to be read.")
    text = head.data.decode("utf-8-sig", "replace")
    try:
        value = _FORMS[form](text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        return {}, Problem(
            path, "WK013", f"This agent's configuration is not valid {form.upper()}: {error}."
        )
    if not isinstance(value, dict):
        return {}, Problem(path, "WK013", "This agent's configuration holds no settings.")
    return value, None


def _toml(text: str) -> Any:
    import tomllib

    return tomllib.loads(text)


def _json(text: str) -> Any:
    """Read JSON with the comments and last commas that agents let pass."""
    bare = _COMMENT.sub(lambda found: found[1] or "", text)
    return json.loads(_LAST_COMMA.sub(lambda found: found[1] or "", bare))


def _yaml(text: str) -> Any:
    from metier.standard import full_yaml

    loaded = full_yaml.load(text)
    if loaded.error is not None:
        raise ValueError(f"{loaded.error[0]} at line {loaded.error[1]}")
    return loaded.value


_FORMS = {"toml": _toml, "json": _json, "yaml": _yaml}


def _at(values: Any, key: str, env: Mapping[str, str]) -> Any:
    """Give what lies at a dotted key, which may be written as one; a part that begins with `$` is a
    variable's value.
    """
    if isinstance(values, dict) and key in values:
        return values[key]
    for part in key.split("."):
        name = env.get(part[1:], "") if part.startswith("$") else part
        if not isinstance(values, dict) or name not in values:
            return None
        values = values[name]
    return values


def _texts(value: Any) -> Texts:
    listed = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(item for item in listed if isinstance(item, str) and is_plain(item))


def is_plain(text: str) -> bool:
    """Tell whether a text can be a name or a path: no NUL, no half of a character."""
    return "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text)


def _is_off(value: Any) -> bool:
    return value is False or (isinstance(value, str) and value.lower() in _OFF)


def _disabled(found: AgentSettings, value: Any, path: str) -> AgentSettings:
    rules = (Rule(enabled=False, name=name, told_by=path) for name in _texts(value))
    return found._replace(rules=(*found.rules, *rules))


def _disabled_any_case(found: AgentSettings, value: Any, path: str) -> AgentSettings:
    names = _texts(value)
    rules = (Rule(enabled=False, name=name, told_by=path, any_case=True) for name in names)
    return found._replace(rules=(*found.rules, *rules))


def _every(found: AgentSettings, value: Any, path: str) -> AgentSettings:
    """Read a word that is said of all skills; what is no word is about something else."""
    return _overrides(found, {"*": value}, path) if isinstance(value, str) else found


def _overrides(found: AgentSettings, value: Any, path: str) -> AgentSettings:
    """Read a map from a name, or a pattern with stars, to a word; a word alone is for all of them."""
    value = {"*": value} if isinstance(value, str) else value
    named = (
        [(name, word) for name, word in value.items() if is_plain(name)]
        if isinstance(value, dict)
        else []
    )
    rules = (Rule(enabled=not _is_off(word), name=name, told_by=path) for name, word in named)
    return found._replace(rules=(*found.rules, *rules))


def _rules(found: AgentSettings, value: Any, path: str) -> AgentSettings:
    rows = [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
    rules = (
        Rule(not _is_off(row.get("enabled", True)), row.get("path", ""), row.get("name", ""), path)
        for row in rows
        if all(
            isinstance(row.get(key, ""), str) and is_plain(row.get(key, ""))
            for key in ("path", "name")
        )
    )
    return found._replace(rules=(*found.rules, *(rule for rule in rules if rule.path or rule.name)))


def _folders(found: AgentSettings, value: Any, path: str) -> AgentSettings:
    """Take folders, as a list or with colons between them; one that is written short lies beside the
    file that names it.
    """
    beside = path.rpartition("/")[0]
    texts = value.split(":") if isinstance(value, str) else _texts(value)
    named = (folder if folder[:1] in "~$/" else f"{beside}/{folder}" for folder in texts if folder)
    return found._replace(folders=(*found.folders, *((folder, path) for folder in named)))


def _project_folders(found: AgentSettings, value: Any, path: str) -> AgentSettings:
    """Take folders; one that is written short lies in the project."""
    named = (folder if folder[:1] in "~$/" else f"./{folder}" for folder in _texts(value))
    return found._replace(folders=(*found.folders, *((folder, path) for folder in named)))


def _folders_and_off(found: AgentSettings, value: Any, path: str) -> AgentSettings:
    """Take folders, and after an exclamation mark or a hyphen what is switched off."""
    words = _texts(value)
    off = [word[1:] for word in words if word[:1] in {"!", "-"}]
    found = _disabled(found, off, path)
    return _folders(found, [word for word in words if word[:1] not in {"!", "-", "+"}], path)


def _folders_instead(found: AgentSettings, value: Any, path: str) -> AgentSettings:
    """Take the folders of the strongest file, which replace those of the weaker ones; one that is
    written short lies in the working folder.
    """
    named = (folder.removeprefix("./") for folder in _texts(value))
    return found._replace(folders=tuple((folder, path) for folder in named if folder))


def _markers(found: AgentSettings, value: Any, _path: str) -> AgentSettings:
    return found._replace(markers=_texts(value))


def _system(found: AgentSettings, value: Any, _path: str) -> AgentSettings:
    return found._replace(system=not _is_off(value))


def _plugins(found: AgentSettings, value: Any, _path: str) -> AgentSettings:
    """Read a map from `name@marketplace` to a flag, or to a table that has one."""
    on = dict.fromkeys(found.plugins or (), True)
    for name, said in value.items() if isinstance(value, dict) else ():
        flag = said.get("enabled", True) if isinstance(said, dict) else said
        on[name] = not _is_off(flag)
    return found._replace(plugins=tuple(name for name, is_on in on.items() if is_on))


def _refusals(found: AgentSettings, value: Any, path: str) -> AgentSettings:
    """Read what may not be used: the tool that gives skills, one skill, or all whose names begin
    alike.
    """
    texts = _texts(value)
    matches = filter(None, map(_REFUSAL.match, texts))
    names = (match[1] + ("*" if match[2] else "") for match in matches)
    off = found.everything_off or (path if _REFUSED_TOOL.intersection(texts) else "")
    refused = (*found.refused, *((name, path) for name in names))
    return found._replace(refused=refused, everything_off=off)


def _everything(found: AgentSettings, value: Any, path: str) -> AgentSettings:
    return found._replace(everything_off=path if _is_off(value) else "")


def _share(found: AgentSettings, value: Any, _path: str) -> AgentSettings:
    is_share = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= 1
    return found._replace(share=float(value)) if is_share else found


def _each(found: AgentSettings, value: Any, _path: str) -> AgentSettings:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return found._replace(each=value) if is_count else found


_READERS: dict[str, Callable[[AgentSettings, Any, str], AgentSettings]] = {
    "disabled": _disabled,
    "disabled-any-case": _disabled_any_case,
    "every": _every,
    "overrides": _overrides,
    "rules": _rules,
    "folders": _folders,
    "project-folders": _project_folders,
    "folders-and-off": _folders_and_off,
    "folders-instead": _folders_instead,
    "markers": _markers,
    "system": _system,
    "plugins": _plugins,
    "refused": _refusals,
    "enabled": _everything,
    "share": _share,
    "each": _each,
}
"""What each word of a row's `keys` makes of a value."""
