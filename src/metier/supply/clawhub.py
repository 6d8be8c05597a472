"""A ClawHub registry: its addresses, and its answers read as what a stranger wrote. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import RefusedError, SourceError
from metier.supply.paths import shown
from metier.supply.urls import Url, below, escaped, joined, parsed
from metier.supply.wellknown import broken, document_of, text_of

if TYPE_CHECKING:
    from typing import Any

DISCOVERY = "/.well-known/clawhub.json"
API = "/api/v1"
MOST_FOUND = 200
_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,127}\Z")


class Place(NamedTuple):
    """A skill of a registry."""

    registry: Url
    owner: str
    slug: str


class Known(NamedTuple):
    """What a registry says of a skill."""

    slug: str
    owner: str
    version: str


def place_of(location: str) -> Place:
    """Take `https://registry/slug` or `https://registry/owner/slug` apart; of a longer path all else is the registry's."""
    url = parsed(location)
    steps = [step for step in url.path.split("/") if step]
    if not steps or not all(map(_SLUG.match, steps)):
        raise SourceError("that is not a skill of a registry", hint="write clawhub:slug or clawhub:owner/slug", code="malformed")
    owner = steps[0] if len(steps) == 2 else ""
    return Place(url._replace(target="/" + "/".join(() if owner else steps[:-1])), owner, steps[-1])


def api_of(registry: Url, data: bytes | None) -> Url:
    """Give where the interface of a registry is: where its discovery document says, or at its own place."""
    said = ""
    if data is not None:
        document = document_of(data)
        said = text_of(document, "apiBase", "registry") if isinstance(document, dict) else ""
    base = joined(registry, said) if said else registry
    path = base.path.rstrip("/")
    return base._replace(target=path if path.endswith(API) else path + API)


def search_url(api: Url, words: str, limit: int) -> str:
    """Give the address of a search."""
    return f"{below(api, 'search')}?q={escaped(words)}&limit={limit}"


def skill_url(api: Url, place: Place) -> str:
    """Give the address of what is known of a skill."""
    return f"{below(api, 'skills', place.slug)}{f'?ownerHandle={escaped(place.owner)}' if place.owner else ''}"


def download_url(api: Url, known: Known) -> str:
    """Give the address of a version's archive."""
    owner = f"&ownerHandle={escaped(known.owner)}" if known.owner else ""
    return f"{below(api, 'download')}?slug={escaped(known.slug)}&version={escaped(known.version)}{owner}"


def known(data: bytes, place: Place, version: str) -> Known:
    """Read what a registry says of a skill; `version` is the one that was asked for, if one was."""
    document = document_of(data)
    if not isinstance(document, dict):
        raise broken("it is not what a registry answers")
    skill, owner = _table(document, "skill") or document, text_of(_table(document, "owner"), "handle")
    if _table(document, "moderation").get("isMalwareBlocked") is True:
        raise RefusedError(f"the registry has blocked '{shown(place.slug)}' as malware", hint="nothing was fetched", code="blocked")
    if place.owner and owner and owner.lower() != place.owner.lower():
        what = f"'{shown(place.slug)}' belongs to {shown(owner)}, not to {shown(place.owner)}"
        raise SourceError(what, hint="check who publishes it", code="not-found")
    latest = text_of(_table(document, "latestVersion"), "version") or text_of(_table(skill, "tags"), "latest")
    chosen = version or latest
    slug = text_of(skill, "slug") or place.slug
    if not _VERSION.match(chosen) or not _SLUG.match(slug):
        raise broken(f"it names no version of '{shown(place.slug)}'")
    return Known(slug, place.owner, chosen)


def results(data: bytes) -> list[tuple[str, str, str]]:
    """Read the answer to a search: owner, slug and description of each."""
    document = document_of(data)
    listed = document
    if isinstance(document, dict):
        listed = next((document[key] for key in ("results", "items", "skills") if isinstance(document.get(key), list)), None)
    if not isinstance(listed, list):
        raise broken("it has no list of results")
    found = []
    for entry in listed[:MOST_FOUND]:
        if isinstance(entry, dict):
            inner = _table(entry, "skill") or entry
            owner = text_of(_table(entry, "owner"), "handle") or text_of(entry, "ownerHandle")
            slug, description = text_of(inner, "slug"), text_of(inner, "summary", "description", "displayName")
            if _SLUG.match(slug) and (not owner or _SLUG.match(owner)):
                found.append((owner, slug, description))
    return found


def _table(found: Any, name: str) -> dict[str, Any]:
    value = found.get(name) if isinstance(found, dict) else None
    return value if isinstance(value, dict) else {}
