"""What a version of a skill may do, as plain words: so that an update which wants more than the last one is told from the others.

Declared are tools, variables, files, commands, packages, servers and other skills. Shown by its files are languages, programs and
hooks. Found by a scan is what its content does. What only tells how a text is written (hidden, obscured, insistent) is no
capability; the verdict weighs that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metier.scan.kinds import CODE, claim_of
from metier.standard.names import one_line
from metier.standard.needs import read_needs
from metier.standard.tools import split_tools
from metier.supply.merge.unified import harmless

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from metier.model import Finding, Sidecar

DOES = {
    "credential": "reads credentials",
    "destructive": "deletes or overwrites",
    "escalation": "changes its own permissions",
    "execution": "runs commands",
    "exfiltration": "sends data out",
    "mining": "mines",
    "network": "uses the network",
    "persistence": "stays beyond its task",
    "privilege": "asks for more rights",
    "supply": "fetches code",
}
"""The categories of findings that say what a skill does, in words."""
MOST = 1_000
"""No honest skill has so many capabilities; the rest of such a list is left out and said to be more."""
MOST_WORD = 200
_OPAQUE = {"archive": "an archive", "executable": "a program", "bytecode": "compiled code"}


def capabilities(
    fields: Mapping[str, Any], files: Iterable[tuple[str, bool | str]], findings: Iterable[Finding], sidecar: Sidecar | None = None
) -> frozenset[str]:
    """Gather what a version may do: its frontmatter, the path and mode of each file, and what a scan found."""
    found: set[str] = set()
    for word in (*_declared(fields, sidecar), *_carried(files), *(DOES[one.category] for one in findings if one.category in DOES)):
        if len(found) == MOST:
            return frozenset({*found, "more than can be listed"})
        found.add(_short(word))
    return frozenset(found)


def gained(old: frozenset[str], new: frozenset[str]) -> tuple[str, ...]:
    """Give what the new version may do and the old one may not."""
    return tuple(sorted(new - old))


def _declared(fields: Mapping[str, Any], sidecar: Sidecar | None) -> Iterator[str]:
    for key in ("allowed-tools", "allowed_tools"):  # some agent may read either
        tools, _problem = split_tools(fields.get(key))
        yield from (f"tool {tool}" for tool in tools)
    gates, needs, _found = read_needs(fields, {}, sidecar)
    if gates is None or not gates.model_hidden:
        yield "may be chosen by the model itself"
    if needs is not None:
        yield from (f"variable {name}" for name in needs.env)
        yield from (f"file {path}" for path in needs.files)
        yield from (f"command {name}" for name in needs.commands)
        yield from (f"tool {name}" for name in needs.tools)
        yield from (f"package {name}" for name in needs.packages)
        yield from (f"server {name}" for name in needs.servers)
        yield from (f"skill {name}" for name in needs.skills)
    hooks = fields.get("hooks")
    if isinstance(hooks, dict):
        yield from (f"hook {event}" for event in hooks)
    elif hooks:
        yield "hooks"


def _carried(files: Iterable[tuple[str, bool | str]]) -> Iterator[str]:
    for path, mode in files:
        kind = claim_of(path)
        if kind in _OPAQUE:
            yield f"carries {_OPAQUE[kind]}"
        elif kind in CODE:
            yield f"scripts in {kind}"
        elif mode is True:
            yield "an executable file"
        if "hooks" in path.lower().split("/")[:-1] or path.lower().rpartition("/")[2] in {"hooks.json", "hooks.toml", "hooks.yaml"}:
            yield "hooks"


def _short(word: str) -> str:
    line = harmless(one_line(word[: 4 * MOST_WORD]))
    return line if len(line) <= MOST_WORD else f"{line[:MOST_WORD]}…"
