"""Skills as resources: the extension `io.modelcontextprotocol/skills` (SEP-2640), and the older URIs that lie beside it.

Every file of a skill is a resource. `skills/list` and `skills/get` give a skill's frontmatter and all its files with their hashes;
`resources/directory/read` lists one folder. For clients of before, `_manifest` in a skill's folder says the same in the shape that
they know. Code skills, and skills whose names or frontmatter the extension cannot say, are served by tools and prompts alone.
"""

from __future__ import annotations

import base64
import json
import mimetypes
from typing import TYPE_CHECKING, Any

from metier.mcp import asking, faults, uris
from metier.mcp.rules import Refusal
from metier.mcp.uris import MAIN, MANIFEST, uri_of
from metier.standard.names import encodable

if TYPE_CHECKING:
    from metier.mcp.copies import Listed
    from metier.mcp.paging import Pages
    from metier.mcp.stock import Offer, Stock

EXTENSION = "io.modelcontextprotocol/skills"
SETTINGS = {"directoryRead": True}
FOLDER, MARKDOWN = "inode/directory", "text/markdown"
TEMPLATES = (
    {"uriTemplate": "skill://{name}/SKILL.md", "name": "skill", "mimeType": MARKDOWN, "description": "A skill's instructions."},
    {"uriTemplate": "skill://{name}/_manifest", "name": "skill manifest", "mimeType": "application/json",
     "description": "A skill's files, with their sizes and hashes."},
    {"uriTemplate": "skill://{name}/{path*}", "name": "skill file", "description": "A file of a skill."},
)  # fmt: skip
_TEXTS = {"md": MARKDOWN, "markdown": MARKDOWN, "yaml": "application/yaml", "yml": "application/yaml", "toml": "application/toml"}


class Files:
    """The skills of one stock, as files."""

    def __init__(self, stock: Stock, pages: Pages) -> None:
        """Serve a stock."""
        self.stock, self.pages = stock, pages

    # --- the extension

    def listed(self, cursor: str | None) -> dict[str, Any]:
        """Answer `skills/list`."""
        self.stock.now()
        found, following = self.pages.page("skills", cursor, self.stock.orders, self._entry)
        return self._paged({"skills": found}, following)

    def _entry(self, path: str) -> dict[str, Any] | None:
        offer = self.stock.offer(path)
        return None if isinstance(offer, Refusal) else entry_of(offer)

    def got(self, uri: str) -> dict[str, Any]:
        """Answer `skills/get`."""
        offer, path = self._offer(uri, "skill")
        if path != MAIN or uri_of(offer.root, MAIN) != uri:
            raise faults.not_served(uri, "skill")
        return self._cacheable({"skill": entry_of(offer)})

    def folder(self, uri: str, cursor: str | None) -> dict[str, Any]:
        """Answer `resources/directory/read`."""
        offer, path = self._offer(uri, "folder")
        children = children_of(offer, path)
        if children is None:
            raise faults.invalid(f"{uri} is no folder") if _has(offer, path) else faults.not_served(uri, "folder")
        edition = int(offer.digest.rpartition(":")[2][:12], 16)
        found, following = self.pages.page(f"folder {uri}", cursor, {edition: children}, lambda child: child)
        return {"resultType": "complete", "resources": found, **({"nextCursor": following} if following else {})}

    # --- resources

    def resources(self, cursor: str | None) -> dict[str, Any]:
        """Answer `resources/list`: each skill's own file and manifest; the other files are found through these."""
        self.stock.now()
        found, following = self.pages.page("resources", cursor, self.stock.orders, self._resources)
        return self._paged({"resources": [one for pair in found for one in pair]}, following)

    def _resources(self, path: str) -> list[dict[str, Any]] | None:
        offer = self.stock.offer(path)
        if isinstance(offer, Refusal):
            return None
        main = _resource(offer, next(one for one in offer.copy.files if one.path == MAIN))
        if _has(offer, MANIFEST):
            return [main]
        manifest = {"uri": uri_of(offer.root, MANIFEST), "name": f"{offer.frontmatter['name']}/{MANIFEST}",
                    "mimeType": "application/json", "description": f"The files of {offer.frontmatter['name']}."}  # fmt: skip
        return [main, manifest]

    def read(self, uri: str) -> dict[str, Any]:
        """Answer `resources/read`."""
        for _attempt in range(2):
            offer, path = self._offer(uri, "resource")
            if path == MANIFEST and not _has(offer, MANIFEST):
                text = json.dumps(manifest_of(offer))
                return self._cacheable({"contents": [{"uri": uri, "mimeType": "application/json", "text": text}]})
            if not _has(offer, path):
                raise faults.invalid(f"{uri} is a folder") if children_of(offer, path) is not None else faults.not_served(uri)
            data = self.stock.bytes_of(offer.copy, path)
            if data is not None:
                return self._cacheable({"contents": [{"uri": uri, "mimeType": mime_of(path), **_content(data)}]})
            self.stock.forget(offer.card.path)  # it changed, and nobody has told yet
        raise faults.invalid(f"{uri} changes too fast to be read; ask again")

    def _offer(self, uri: str, what: str) -> tuple[Offer, str]:
        """Give the skill that a URI belongs to, the innermost that is served, and the path inside it."""
        place, snapshot = uris.place_of(uri), self.stock.now()
        places = snapshot.places
        if place is None or place.root not in places:
            why = asking.why_not(self.stock, uris.handle_of(place.root)) if place is not None else None
            raise faults.refused(why) if why is not None else faults.not_served(uri, what)
        whole, below = place.whole, ""
        first: tuple[str, Refusal] | None = None
        while whole:
            if whole in places:
                offer = self.stock.offer(places[whole])
                if not isinstance(offer, Refusal):
                    return offer, below
                first = first or (places[whole], offer)
            whole, _, last = whole.rpartition("/")
            below = f"{last}/{below}" if below else last
        if first is None:
            raise faults.not_served(uri, what)
        raise faults.refused(asking.explained(self.stock, snapshot.visible[first[0]], first[1]))

    def _paged(self, found: dict[str, Any], following: str | None) -> dict[str, Any]:
        return self._cacheable({**found, **({"nextCursor": following} if following else {})})

    def _cacheable(self, found: dict[str, Any]) -> dict[str, Any]:
        return {"resultType": "complete", **found, "ttlMs": self.stock.library.settings.mcp.ttl_ms, "cacheScope": "private"}


def entry_of(offer: Offer) -> dict[str, Any]:
    """Give a skill as the extension lists it."""
    files = [{"uri": uri_of(offer.root, one.path), "digest": f"sha256:{one.sha256}", "size": one.size} for one in offer.copy.files]
    return {"uri": uri_of(offer.root, MAIN), "frontmatter": offer.frontmatter, "resources": files}


def manifest_of(offer: Offer) -> dict[str, Any]:
    """Give a skill's files in the shape that clients of before know."""
    files = [{"path": encodable(one.path), "size": one.size, "hash": f"sha256:{one.sha256}"} for one in offer.copy.files]
    return {"skill": offer.frontmatter["name"], "files": files}


def children_of(offer: Offer, folder: str) -> list[dict[str, Any]] | None:
    """Give what lies directly in a folder of a skill; none when it has no such folder."""
    if folder and folder not in offer.copy.folders:
        return None
    files = {one.path: _resource(offer, one) for one in offer.copy.files if one.path.rpartition("/")[0] == folder}
    for path in offer.copy.folders:
        above, _, name = path.rpartition("/")
        if above == folder:
            files[path] = {"uri": uri_of(offer.root, path), "name": encodable(name), "mimeType": FOLDER}
    return [files[path] for path in sorted(files)]


def mime_of(path: str) -> str:
    """Guess what a file is by its name; nothing of it is sent but its bytes."""
    ending = path.rpartition("/")[2].rpartition(".")[2].lower()
    return _TEXTS.get(ending) or mimetypes.guess_type(path)[0] or "application/octet-stream"


def _resource(offer: Offer, one: Listed) -> dict[str, Any]:
    described = {"name": encodable(one.path.rpartition("/")[2])}
    if one.path == MAIN:
        described = {key: encodable(offer.frontmatter[key]) for key in ("name", "description")}
    return {"uri": uri_of(offer.root, one.path), **described, "mimeType": mime_of(one.path), "size": one.size}


def _has(offer: Offer, path: str) -> bool:
    return any(one.path == path for one in offer.copy.files)


def _content(data: bytes) -> dict[str, str]:
    """Give bytes as text only where the text gives back the very same bytes."""
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"blob": base64.b64encode(data).decode()}
