"""A site's well-known index of skills, version 0.2.0 and the older 0.1, read as what a stranger wrote. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import IntegrityError, MetierError, RefusedError, SourceError
from metier.supplies import Item
from metier.supply.paths import checked, safe_name, safe_path, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from metier.settings.tables import Supply

NEW = "/.well-known/agent-skills/index.json"
OLD = "/.well-known/skills/index.json"
MOST_SKILLS = 5_000
MOST_TEXT = 2_048
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?\Z")
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})\Z")


class Offer(NamedTuple):
    """A skill that an index names."""

    name: str
    description: str
    kind: str
    """`skill-md`, `archive`, or `files` for the older index."""
    url: str = ""
    """As the index has it: relative to the index or not."""
    sha256: str = ""
    files: tuple[str, ...] = ()


def offers(data: bytes, path: str, limits: Supply) -> tuple[Offer, ...]:
    """Read an index. One entry that cannot be believed makes all of it unbelievable."""
    document = document_of(data)
    listed = document.get("skills") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise broken("it has no list of skills")
    if len(listed) > MOST_SKILLS:
        raise RefusedError(f"the index has {len(listed):,} skills", hint=f"at most {MOST_SKILLS:,} are read", code="too-many")
    read = _new if path == NEW else _old
    found = tuple(read(entry, limits) for entry in listed)
    if len({offer.name for offer in found}) != len(found):
        raise RefusedError("the index names a skill twice", hint="the site's owner has to correct it", code="collision")
    return found


def commit_of(found: Iterable[Offer]) -> str:
    """Give one digest for all that an index promises; it changes with any of them."""
    text = "".join(f"{offer.name} {offer.kind} {offer.sha256}\n" for offer in sorted(found))
    return hashlib.sha256(text.encode()).hexdigest()


def check_digest(offer: Offer, sha256: str) -> None:
    """Hold a download to what the index promised."""
    if offer.sha256 and offer.sha256 != sha256:
        what = f"'{shown(offer.name)}' is not what the index promises: sha256 {sha256[:16]}… instead of {offer.sha256[:16]}…"
        raise IntegrityError(what, hint="somebody changed it, or the index is old: nothing was kept", code="digest")


def document_of(data: bytes) -> Any:
    """Read JSON of a stranger."""
    try:
        return json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise broken("it is not JSON") from error


def text_of(found: Mapping[str, Any], *names: str) -> str:
    """Give the first of some fields that is a text, cut to a sensible length and without what a terminal would obey."""
    text = next((value for name in names if isinstance(value := found.get(name), str) and value), "")
    return "".join(sign if sign.isprintable() else " " for sign in text[:MOST_TEXT]).strip()


def broken(why: str) -> SourceError:
    """Say that an index or an answer of a registry cannot be read."""
    return SourceError(f"what the site says of its skills cannot be read: {why}", hint="the site's owner has to correct it",
                       code="malformed")  # fmt: skip


def _new(entry: Any, limits: Supply) -> Offer:
    del limits
    name = _name(entry)
    kind, url, digest = text_of(entry, "type"), text_of(entry, "url"), _DIGEST.match(text_of(entry, "digest"))
    if kind not in {"skill-md", "archive"}:
        raise broken(f"'{name}' is of the unknown kind '{shown(kind)}'")
    if not url:
        raise broken(f"'{name}' has no address")
    if digest is None:
        raise broken(f"'{name}' has no sha256 digest, and nothing is taken without")
    return Offer(name, text_of(entry, "description"), kind, url, digest[1])


def _old(entry: Any, limits: Supply) -> Offer:
    name = _name(entry)
    files = entry.get("files")
    if not isinstance(files, list) or not files or not all(isinstance(file, str) for file in files):
        raise broken(f"'{name}' has no list of files")
    items = checked([Item(safe_path(file), 0, "file") for file in files], limits)
    paths = tuple(item.path for item in items)
    if "SKILL.md" not in paths:
        raise broken(f"'{name}' has no SKILL.md")
    return Offer(name, text_of(entry, "description"), "files", "", "", paths)


def _name(entry: Any) -> str:
    name = entry.get("name") if isinstance(entry, dict) else None
    if not isinstance(name, str):
        raise broken("an entry has no name")
    try:
        safe_name(name)
    except MetierError as error:
        raise RefusedError(f"the index names a skill '{shown(name)}'", hint=error.message, code="unsafe-path") from error
    if not _NAME.match(name):
        raise broken(f"'{shown(name)}' is not a skill's name")
    return name
