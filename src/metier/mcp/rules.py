"""Which skills go through which door, before anybody has looked at their bytes (CO-21). Pure.

A skill that says no to agents is never shown to one. Over HTTP some names never are, and the user's list adds to them; over
standard input and output the user's list takes the place of a shorter one. A code skill is shown only when it says so itself, or
when the user does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from metier.disclose.slash import own_name
from metier.errors import RefusedError
from metier.execute.acts import NEVER_REMOTE
from metier.standard.names import lookup_key, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.model import Card
    from metier.settings import Serving

    Door = Literal["stdio", "http"]
else:
    Door = str

STDIO_USUALLY = frozenset({"terminal", "process_manager", "pm2_control"})
"""What no agent gets over standard input and output, unless the user lists other names."""
BLOCKED = "mcp-blocked"


class Refusal(NamedTuple):
    """Why a skill is not served."""

    code: str
    message: str
    hint: str

    def error(self) -> RefusedError:
        """Give it as what a door reports."""
        return RefusedError(self.message, code=self.code, hint=self.hint)


def keys_blocked(door: Door, settings: Serving) -> frozenset[str]:
    """Give the names that a door keeps to itself, in the form in which names are compared."""
    if door == "http":
        return _keys((*NEVER_REMOTE, *settings.blocked, *settings.http_blocked))
    return _keys(settings.blocked or STDIO_USUALLY)


def _keys(names: Iterable[str]) -> frozenset[str]:
    return frozenset(map(lookup_key, names))


def is_blocked(card: Card, keys: frozenset[str]) -> bool:
    """Tell whether a skill is among those names, by its own name or with its plugin's."""
    return lookup_key(card.name) in keys or (bool(card.plugin) and lookup_key(own_name(card.name, card.plugin)) in keys)


def blocked(card: Card, door: Door) -> Refusal:
    """Say that a skill is blocked at this door."""
    where = "over HTTP" if door == "http" else "to agents"
    hint = "the user decides that: mcp.blocked in the configuration"
    return Refusal(BLOCKED, f"'{one_line(card.name)}' is not given {where}", hint)


def blocked_inside(card: Card, path: str) -> Refusal:
    """Say that a file of a skill belongs to another one in it, which is blocked."""
    hint = "the user decides that: mcp.blocked in the configuration"
    return Refusal(BLOCKED, f"'{one_line(path)}' in '{one_line(card.name)}' is of a skill that is not given to agents", hint)


def hidden_code(card: Card, expose: bool | None, settings: Serving) -> Refusal | None:  # noqa: FBT001 - yes, no or unsaid
    """Say why a code skill is not shown to agents; nothing when it is."""
    if expose is False:
        hint = "its author decided that: SKILL_MCP_EXPOSE = False"
        return Refusal(BLOCKED, f"'{one_line(card.name)}' says itself that no agent gets it", hint)
    if expose or settings.code or lookup_key(card.name) in _keys(settings.allowed):
        return None
    hint = "the user can show it: mcp.allowed in the configuration"
    return Refusal(BLOCKED, f"'{one_line(card.name)}' is a code skill that nobody has shown to agents", hint)
