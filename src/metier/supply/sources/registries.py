"""Reads what registries answer, as a stranger's words: a site's well-known index (version 0.2.0 and
the older 0.1), and a ClawHub registry. Pure.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import IntegrityError, MetierError, RefusedError, SourceError
from metier.supply.model import Item
from metier.supply.safe_names import check_items, printable, safe_name, safe_path
from metier.supply.sources.addresses import Url, escape_step, join_url, parse_url, url_below

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from metier.model import JsonObject, Texts
    from metier.settings.model import SupplySettings


NEW_INDEX_PATH = "/.well-known/agent-skills/index.json"
OLD_INDEX_PATH = "/.well-known/skills/index.json"
MAX_INDEX_SKILLS = 5_000
MAX_INDEX_TEXT_CHARS = 2_048
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?\Z")
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})\Z")


class IndexedSkill(NamedTuple):
    """A skill that an index names."""

    name: str
    description: str
    kind: str
    """`skill-md`, `archive`, or `files` for the older index."""
    url: str = ""
    """As the index has it: relative to the index or not."""
    sha256: str = ""
    files: Texts = ()


def read_offers(data: bytes, path: str, limits: SupplySettings) -> tuple[IndexedSkill, ...]:
    """Read an index. One entry that cannot be believed makes all of it unbelievable."""
    document = read_json(data)
    listed = document.get("skills") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise broken_answer("it has no list of skills")
    if len(listed) > MAX_INDEX_SKILLS:
        raise RefusedError(
            f"the index has {len(listed):,} skills",
            hint=f"at most {MAX_INDEX_SKILLS:,} are read",
            code="too-many",
        )
    read = _new if path == NEW_INDEX_PATH else _old
    found = tuple(read(entry, limits) for entry in listed)
    if len({offer.name for offer in found}) != len(found):
        raise RefusedError(
            "the index names a skill twice",
            hint="the site's owner has to correct it",
            code="collision",
        )
    return found


def index_digest(found: Iterable[IndexedSkill]) -> str:
    """Give one digest for all that an index promises; it changes with any of them."""
    text = "".join(f"{offer.name} {offer.kind} {offer.sha256}\n" for offer in sorted(found))
    return hashlib.sha256(text.encode()).hexdigest()


def check_digest(offer: IndexedSkill, sha256: str) -> None:
    """Hold a download to what the index promised."""
    if offer.sha256 and offer.sha256 != sha256:
        raise IntegrityError(
            f"'{printable(offer.name)}' doesn't match the index: sha256 {sha256[:16]}… "
            f"instead of {offer.sha256[:16]}…",
            hint="it was changed, or the index is out of date. Nothing was kept",
            code="digest",
        )


def read_json(data: bytes) -> Any:
    """Read JSON of a stranger."""
    try:
        return json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise broken_answer("it is not JSON") from error


def text_of(found: Mapping[str, Any], *names: str) -> str:
    """Give the first of some fields that is a text, cut to a sensible length and without what a
    terminal would obey.
    """
    text = next(
        (value for name in names if isinstance(value := found.get(name), str) and value), ""
    )
    return "".join(
        sign if sign.isprintable() else " " for sign in text[:MAX_INDEX_TEXT_CHARS]
    ).strip()


def broken_answer(why: str) -> SourceError:
    """Say that an index or an answer of a registry cannot be read."""
    return SourceError(
        f"what the site says of its skills cannot be read: {why}",
        hint="the site's owner has to correct it",
        code="malformed",
    )


def _new(entry: Any, limits: SupplySettings) -> IndexedSkill:
    del limits
    name = _name(entry)
    kind = text_of(entry, "type")
    url = text_of(entry, "url")
    digest = _DIGEST.match(text_of(entry, "digest"))
    if kind not in {"skill-md", "archive"}:
        raise broken_answer(f"'{name}' is of the unknown kind '{printable(kind)}'")
    if not url:
        raise broken_answer(f"'{name}' has no address")
    if digest is None:
        raise broken_answer(f"'{name}' has no sha256 digest, and nothing is taken without")
    return IndexedSkill(name, text_of(entry, "description"), kind, url, digest[1])


def _old(entry: Any, limits: SupplySettings) -> IndexedSkill:
    name = _name(entry)
    files = entry.get("files")
    if not isinstance(files, list) or not files or not all(isinstance(file, str) for file in files):
        raise broken_answer(f"'{name}' has no list of files")
    items = check_items([Item(safe_path(file), 0, "file") for file in files], limits)
    paths = tuple(item.path for item in items)
    if "SKILL.md" not in paths:
        raise broken_answer(f"'{name}' has no SKILL.md")
    return IndexedSkill(name, text_of(entry, "description"), "files", "", "", paths)


def _name(entry: Any) -> str:
    name = entry.get("name") if isinstance(entry, dict) else None
    if not isinstance(name, str):
        raise broken_answer("an entry has no name")
    try:
        safe_name(name)
    except MetierError as error:
        raise RefusedError(
            f"the index names a skill '{printable(name)}'", hint=error.message, code="unsafe-path"
        ) from error
    if not _NAME.match(name):
        raise broken_answer(f"'{printable(name)}' is not a skill's name")
    return name


DISCOVERY_PATH = "/.well-known/clawhub.json"
API_PATH = "/api/v1"
MAX_REGISTRY_RESULTS = 200
_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,127}\Z")


class RegistryAddress(NamedTuple):
    """A skill of a registry."""

    registry: Url
    owner: str
    slug: str


class RegistrySkill(NamedTuple):
    """What a registry says of a skill."""

    slug: str
    owner: str
    version: str


def registry_address(location: str) -> RegistryAddress:
    """Take `https://registry/slug` or `https://registry/owner/slug` apart; of a longer path all
    else is the registry's.
    """
    url = parse_url(location)
    steps = [step for step in url.path.split("/") if step]
    if not steps or not all(map(_SLUG.match, steps)):
        raise SourceError(
            "that is not a skill of a registry",
            hint="write clawhub:slug or clawhub:owner/slug",
            code="malformed",
        )
    owner = steps[0] if len(steps) == 2 else ""
    return RegistryAddress(
        url._replace(target="/" + "/".join(() if owner else steps[:-1])), owner, steps[-1]
    )


def api_of(registry: Url, data: bytes | None) -> Url:
    """Give where the interface of a registry is: where its discovery document says, or at its own
    place.
    """
    said = ""
    if data is not None:
        document = read_json(data)
        said = text_of(document, "apiBase", "registry") if isinstance(document, dict) else ""
    base = join_url(registry, said) if said else registry
    path = base.path.rstrip("/")
    return base._replace(target=path if path.endswith(API_PATH) else path + API_PATH)


def search_url(api: Url, words: str, limit: int) -> str:
    """Give the address of a search."""
    return f"{url_below(api, 'search')}?q={escape_step(words)}&limit={limit}"


def skill_url(api: Url, place: RegistryAddress) -> str:
    """Give the address of what is known of a skill."""
    return f"{url_below(api, 'skills', place.slug)}{f'?ownerHandle={escape_step(place.owner)}' if place.owner else ''}"


def download_url(api: Url, known: RegistrySkill) -> str:
    """Give the address of a version's archive."""
    owner = f"&ownerHandle={escape_step(known.owner)}" if known.owner else ""
    return f"{url_below(api, 'download')}?slug={escape_step(known.slug)}&version={escape_step(known.version)}{owner}"


def read_skill(data: bytes, place: RegistryAddress, version: str) -> RegistrySkill:
    """Read what a registry says of a skill; `version` is the one that was asked for, if one was."""
    document = read_json(data)
    if not isinstance(document, dict):
        raise broken_answer("it is not what a registry answers")
    skill = _table(document, "skill") or document
    owner = text_of(_table(document, "owner"), "handle")
    if _table(document, "moderation").get("isMalwareBlocked") is True:
        raise RefusedError(
            f"the registry has blocked '{printable(place.slug)}' as malware",
            hint="nothing was fetched",
            code="blocked",
        )
    if place.owner and owner and owner.lower() != place.owner.lower():
        raise SourceError(
            f"'{printable(place.slug)}' belongs to {printable(owner)}, not to "
            f"{printable(place.owner)}",
            hint="check who publishes it",
            code="not-found",
        )
    latest = text_of(_table(document, "latestVersion"), "version") or text_of(
        _table(skill, "tags"), "latest"
    )
    chosen = version or latest
    slug = text_of(skill, "slug") or place.slug
    if not _VERSION.match(chosen) or not _SLUG.match(slug):
        raise broken_answer(f"it names no version of '{printable(place.slug)}'")
    return RegistrySkill(slug, place.owner, chosen)


def read_results(data: bytes) -> list[tuple[str, str, str]]:
    """Read the answer to a search: owner, slug and description of each."""
    document = read_json(data)
    listed = document
    if isinstance(document, dict):
        listed = next(
            (
                document[key]
                for key in ("results", "items", "skills")
                if isinstance(document.get(key), list)
            ),
            None,
        )
    if not isinstance(listed, list):
        raise broken_answer("it has no list of results")
    found = []
    for entry in listed[:MAX_REGISTRY_RESULTS]:
        if isinstance(entry, dict):
            inner = _table(entry, "skill") or entry
            owner = text_of(_table(entry, "owner"), "handle") or text_of(entry, "ownerHandle")
            slug = text_of(inner, "slug")
            description = text_of(inner, "summary", "description", "displayName")
            if _SLUG.match(slug) and (not owner or _SLUG.match(owner)):
                found.append((owner, slug, description))
    return found


def _table(found: Any, name: str) -> JsonObject:
    value = found.get(name) if isinstance(found, dict) else None
    return value if isinstance(value, dict) else {}
