"""What a skill is given or may ask for, and what a change would add to it. Pure.

A scan judges what a text might do; this is about what the text gets: tools that need no further yes, secrets, files, servers,
commands that an agent runs on its own, the user's settings, and the model's own attention. Whoever wants more of it than before
waits for a person.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.disclose.message import settings_of
from metier.managing.rules import shown
from metier.model import Gates, Needs
from metier.standard.asks import asks_of
from metier.standard.needs import read_needs
from metier.standard.tools import split_tools

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.model import Document, Sidecar

SHOWN = 5
"""How many new things of one kind a reason names."""
_KINDS = ("files", "commands", "tools", "packages", "servers", "skills")
_PRIVATE = ("hooks", "env", "files", "config")
"""What a new skill may not have unseen either: what runs unasked, and what is the user's. Its text, tools included, is scanned."""
_WORDS = {"allowed": "allowed-tools", "hooks": "hooks", "env": "environment variables", "config": "configuration",
          "files": "credential files", "commands": "commands", "tools": "tools", "packages": "packages", "servers": "MCP servers",
          "skills": "other skills"}  # fmt: skip


class Grants(NamedTuple):
    """What a skill's own words get it, by kind; and whether they keep it from the model."""

    kinds: dict[str, frozenset[str]]
    hidden: bool


def grants_of(document: Document | None, sidecar: Sidecar | None) -> Grants:
    """Read what a skill gets from its frontmatter and its sidecar, in every dialect."""
    fields = document.fields if document is not None else {}
    gates, needs, _notes = read_needs(fields, {}, sidecar)
    asked = [ask.name for ask in asks_of(fields, sidecar)]  # those it can do without are lent to it as well
    kinds = {
        "allowed": frozenset(split_tools(fields.get("allowed-tools"))[0]),
        "hooks": frozenset(_hooks(fields.get("hooks"))),
        "env": frozenset((*(needs or Needs()).env, *asked)),
        "config": frozenset(setting.key for setting in settings_of(fields, {})),
    }
    kinds.update({kind: frozenset(getattr(needs or Needs(), kind)) for kind in _KINDS})
    return Grants(kinds, bool((gates or Gates()).model_hidden))


def _hooks(value: Any) -> Iterator[str]:
    """Write each hook out in full, with its event and what it is tied to: where any of that is another, so is the hook."""
    for event, groups in value.items() if isinstance(value, dict) else [("", value)]:
        for group in filter(None, _many(groups)):
            inner = group.get("hooks") if isinstance(group, dict) else None
            tied = {key: item for key, item in group.items() if key != "hooks"} if inner else None
            for hook in _many(inner) if inner else [group]:
                yield f"{event} {_written(hook)} {_written(tied) if tied else ''}".strip()


def _many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _written(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def widened(before: Grants | None, after: Grants) -> str:
    """Say what a change would add; nothing when it adds nothing. Without a before, the skill is new."""
    if before is None:
        told = [_listed(kind, after.kinds[kind]) for kind in _PRIVATE]
    else:
        told = [_listed(kind, after.kinds[kind] - before.kinds[kind]) for kind in after.kinds]
        told.append("to be offered to the model" if before.hidden and not after.hidden else "")
    more = "; ".join(filter(None, told))
    return f"it asks for more than before: {more}" if more and before is not None else more and f"it asks for {more}"


def _listed(kind: str, new: frozenset[str]) -> str:
    names = ", ".join(map(shown, sorted(new)[:SHOWN]))
    return f"{_WORDS[kind]} ({names}{', …' if len(new) > SHOWN else ''})" if new else ""
