"""The URIs of skills and of their files, both ways. Pure.

A skill lies at `skill://NAME`, or at `skill://plugin.ID/NAME` when a plugin ships it. Where several
that no plugin ships have one name, each gets `scope.SCOPE` in front, and a number made of its place
where even that is the same. A segment in front always has a dot, and no valid name has one: so no
file of one skill can ever lie where another skill is. A skill inside another one lies where its
files are as files of that one.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote, unquote_to_bytes

from metier.disclose.slash import own_name
from metier.standard.document import GOOD_NAME
from metier.standard.names import MAX_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from metier.model import Card

SCHEME = "skill://"
MAIN_FILE = "SKILL.md"
MANIFEST = "_manifest"
MAX_URI_CHARACTERS = 8 * 1024
"""A URI longer than this is nobody's."""
_PLAIN = "-._~!$&'()*+,;="
"""What may stand in a URI as it is (RFC 3986); in the first segment `:` and `@` would make a port
or a user of it (CX-60)."""


class SkillUri(NamedTuple):
    """What a URI means: a skill, by where it lies among the URIs, and a path inside it."""

    root: str
    path: str

    @property
    def whole(self) -> str:
        """Both in one: what stands for a skill that lies here."""
        return f"{self.root}/{self.path}" if self.path else self.root


def name_of(card: Card) -> str:
    """Give the name that a skill is served under; nothing when it breaks the standard's rules, for
    then no URI may hold it.
    """
    name = own_name(card.name, card.plugin)
    return name if len(name) <= MAX_NAME and GOOD_NAME.match(name) else ""


def roots_of(cards: Iterable[Card]) -> dict[str, str]:
    """Give each skill, by its path, its own place among the URIs; those without a valid name have
    none.
    """
    named = {card.path: card for card in cards if name_of(card)}
    inside = {path: above for path, card in named.items() if (above := _enclosing(card, named))}
    groups: dict[str, list[Card]] = {}
    for path, card in named.items():
        if path not in inside:
            front = f"{_front(card.plugin)}/" if card.plugin else ""
            groups.setdefault(f"{front}{name_of(card)}".lower(), []).append(card)
    found = {card.path: _root_of(card, group) for group in groups.values() for card in group}
    for path in sorted(inside, key=len):
        above = inside[path]
        found[path] = f"{found[above]}/{_quoted(path[len(above) + 1 :])}"
    return found


def _enclosing(card: Card, named: Mapping[str, Card]) -> str:
    """Give the path of the nearest skill that holds another one; nothing when none does, or the
    folder has another name.
    """
    above, _, folder = card.path.rpartition("/")
    if card.kind != "skill-md" or folder != name_of(card):
        return ""
    while above:
        if above in named and named[above].kind == "skill-md":
            return above
        above = above.rpartition("/")[0]
    return ""


def _root_of(card: Card, group: list[Card]) -> str:
    name = name_of(card)
    if len(group) == 1:
        return f"{_front(card.plugin)}/{name}" if card.plugin else name
    front = _front(card.plugin) if card.plugin else f"scope.{card.scope}"
    if card.plugin or sum(other.scope == card.scope for other in group) > 1:
        place = hashlib.sha256(card.path.encode("utf-8", "surrogateescape")).hexdigest()[:12]
        front = f"{front}.{place}"
    return f"{front}/{name}"


def uri_of(root: str, path: str = "") -> str:
    """Give the URI of a file or folder of a skill, or of the skill's own folder."""
    return f"{SCHEME}{root}/{_quoted(path)}" if path else f"{SCHEME}{root}"


def parse_uri(uri: str) -> SkillUri | None:
    """Read a URI; none when it cannot be one of ours. A path that could lead anywhere else is none
    of ours either.
    """
    if (
        len(uri) > MAX_URI_CHARACTERS
        or not uri.startswith(SCHEME)
        or any(sign in uri for sign in "?#\\")
    ):
        return None
    first, *rest = uri[len(SCHEME) :].split("/")
    if "." in first:
        if not rest:
            return None
        first = f"{first}/{rest.pop(0)}"
    path = [
        unquote_to_bytes(one.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogateescape")
        for one in rest
    ]
    if any(one in {"", ".", ".."} or "/" in one or "\0" in one for one in path):
        return None
    return SkillUri(first, "/".join(path))


def handle_of(root: str) -> str:
    """Give the name that a skill at this place would have, whether there is one or not."""
    front, _, name = root.rpartition("/")
    return (
        f"{unquote(front.removeprefix('plugin.'))}:{name}" if front.startswith("plugin.") else name
    )


def lookup_place(root: str) -> str:
    """Give a skill's place in the form in which it is looked up."""
    place = parse_uri(uri_of(root))
    return place.whole if place else root


def _segment(text: str, also: str = ":@") -> str:
    """Write a segment: a name of any bytes becomes letters that any reader takes for the same
    bytes.
    """
    return quote(text.encode("utf-8", "surrogateescape"), safe=_PLAIN + also)


def _quoted(path: str) -> str:
    return "/".join(map(_segment, path.split("/")))


def _front(plugin: str) -> str:
    return f"plugin.{_segment(plugin, '')}"
