"""What a skill is given or may ask for, and what a change would add to it. Pure.

A scan judges what a text might do; this is about what the text gets: tools that need no further yes, secrets, files, servers,
and the model's own attention. Whoever wants more of it than before waits for a person.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.managing.rules import shown
from metier.model import Gates, Needs
from metier.standard.asks import asks_of
from metier.standard.needs import read_needs
from metier.standard.tools import split_tools

if TYPE_CHECKING:
    from metier.model import Document, Sidecar

SHOWN = 5
"""How many new things of one kind a reason names."""
_KINDS = ("files", "commands", "tools", "packages", "servers", "skills")
_PRIVATE = ("env", "files")
"""What a new skill may not have unseen either. Its tools and commands are in its text, which is scanned."""
_WORDS = {"allowed": "allowed-tools", "env": "environment variables", "files": "credential files", "commands": "commands",
          "tools": "tools", "packages": "packages", "servers": "MCP servers", "skills": "other skills"}  # fmt: skip


class Grants(NamedTuple):
    """What a skill's own words get it, by kind; and whether they keep it from the model."""

    kinds: dict[str, frozenset[str]]
    hidden: bool


def grants_of(document: Document | None, sidecar: Sidecar | None) -> Grants:
    """Read what a skill gets from its frontmatter and its sidecar, in every dialect."""
    fields = document.fields if document is not None else {}
    gates, needs, _notes = read_needs(fields, {}, sidecar)
    asked = [ask.name for ask in asks_of(fields, sidecar)]  # those it can do without are lent to it as well
    kinds = {"allowed": frozenset(split_tools(fields.get("allowed-tools"))[0]), "env": frozenset((*(needs or Needs()).env, *asked))}
    kinds.update({kind: frozenset(getattr(needs or Needs(), kind)) for kind in _KINDS})
    return Grants(kinds, bool((gates or Gates()).model_hidden))


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
