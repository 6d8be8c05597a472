"""What each connected client has loaded, so that it goes on with those very files until it asks again.

Over standard input and output there is one client. Over HTTP those of the older protocol have a session; whoever has none is
always given what is current.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from metier.mcp.gatekeeping import SESSION

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from metier.mcp.copies import Copy
    from metier.mcp.rules import Door
    from metier.model import Card

MOST, MOST_SKILLS = 1_024, 1_000
"""How many conversations are remembered, and how many skills of each."""


class Revision(NamedTuple):
    """A skill as one conversation loaded it: its files, without their bytes, and how far it was trusted."""

    card: Card
    digest: str
    copy: Copy | None
    level: str
    terms: object
    """Under which configuration and decisions it was let in."""
    closed: tuple[str, ...] = ()
    """Folders in it that are skills which nobody gets."""


class Conversation:
    """What one client has."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.loaded: OrderedDict[str, Revision] = OrderedDict()
        self.named: set[str] = set()
        """Paths of the skills that a person asked for by a prompt."""
        self._paths: OrderedDict[str, str] = OrderedDict()
        """What each name meant when it was loaded."""

    def take(self, name: str, revision: Revision) -> Revision | None:
        """Remember what was loaded under a name; give what was loaded before, under the same name or from the same place."""
        path = revision.card.path
        last, same = self.under(name), self.loaded.pop(path, None)
        before = last or same
        self.loaded[path] = revision
        self._paths[name] = path
        self._paths.move_to_end(name)
        for kept in (self.loaded, self._paths):
            while len(kept) > MOST_SKILLS:
                kept.popitem(last=False)
        return before

    def under(self, name: str) -> Revision | None:
        """Give what was loaded under a name, whatever has that name now."""
        return self.loaded.get(self._paths.get(name, ""))


class Conversations:
    """The conversations of one server."""

    def __init__(self, door: Door) -> None:
        """Begin with none."""
        self.door = door
        self._known: OrderedDict[str, Conversation] = OrderedDict()

    def of(self, ctx: ServerRequestContext[Any, Any]) -> Conversation | None:
        """Give the conversation that a request belongs to; none when it stands alone."""
        key = self.key(ctx)
        if key is None:
            return None
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Conversation()
            while len(self._known) > MOST:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(key)
        return found

    def drop(self, key: str) -> None:
        """Forget a conversation that has ended."""
        self._known.pop(key, None)

    def key(self, ctx: ServerRequestContext[Any, Any]) -> str | None:
        """Name the connection of a request; nothing when there is none that lasts."""
        if self.door == "stdio":
            return "stdio"
        if ctx.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
            return None  # there are no sessions, and nobody has looked at what a client says of one
        headers = getattr(ctx.request, "headers", None)
        return headers.get(SESSION) if headers is not None else None
