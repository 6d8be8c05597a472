"""Skills as resources: the extension `io.modelcontextprotocol/skills` (SEP-2640), and the older
URIs that lie beside it.

Every file of a skill is a resource. `skills/list` and `skills/get` give a skill's frontmatter and
all its files with their hashes; `resources/directory/read` lists one folder. For clients of before,
`_manifest` in a skill's folder says the same in the shape that they know. Code skills, and skills
whose names or frontmatter the extension cannot say, are served by tools and prompts alone.
"""

from __future__ import annotations

import base64
import json
import mimetypes
from typing import TYPE_CHECKING

from metier.disclose.offer import OfferRefusal
from metier.mcp import protocol, refusals, uris
from metier.mcp.uris import MAIN_FILE, MANIFEST, uri_of
from metier.standard.names import encodable

if TYPE_CHECKING:
    from typing import Protocol

    from metier.mcp.catalogue import ServedCatalogue, ServedSkill
    from metier.mcp.copies import CopiedFile, SkillCopy
    from metier.mcp.protocol import ListPages
    from metier.model import JsonObject

    class FiledSkill(Protocol):
        """A skill that is served as files, wherever they lie."""

        @property
        def root(self) -> str:
            """Where it lies among the URIs."""

        @property
        def frontmatter(self) -> JsonObject:
            """What its own file says at its head."""

        @property
        def copy(self) -> SkillCopy:
            """Its files, with their hashes."""

        @property
        def beside(self) -> JsonObject:
            """What is said of it besides."""


EXTENSION = "io.modelcontextprotocol/skills"
EXTENSION_SETTINGS = {"directoryRead": True}
FOLDER = "inode/directory"
MARKDOWN = "text/markdown"
MANIFEST_TYPE = "application/json"
TEMPLATES = (
    {
        "uriTemplate": "skill://{name}/SKILL.md",
        "name": "skill",
        "mimeType": MARKDOWN,
        "description": "A skill's instructions.",
    },
    {
        "uriTemplate": "skill://{name}/_manifest",
        "name": "skill manifest",
        "mimeType": MANIFEST_TYPE,
        "description": "A skill's files, with their sizes and hashes.",
    },
    {
        "uriTemplate": "skill://{name}/{path*}",
        "name": "skill file",
        "description": "A file of a skill.",
    },
)
_TEXTS = {
    "md": MARKDOWN,
    "markdown": MARKDOWN,
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "toml": "application/toml",
}


class SkillResources:
    """The skills of one server, as files."""

    def __init__(self, served: ServedCatalogue, pages: ListPages) -> None:
        """Serve these skills."""
        self.served = served
        self.pages = pages

    # --- the extension

    def listed(self, cursor: str | None) -> JsonObject:
        """Answer `skills/list`."""
        self.served.now()
        found, following = self.pages.page("skills", cursor, self.served.orders, self._entry)
        return self._cacheable({"skills": found}, following)

    def _entry(self, path: str) -> JsonObject | None:
        offer = self.served.offer(path)
        return None if isinstance(offer, OfferRefusal) else entry_of(offer)

    def got(self, uri: str) -> JsonObject:
        """Answer `skills/get`."""
        offer, path = self._offer(uri, "skill")
        if path != MAIN_FILE or uri_of(offer.root, MAIN_FILE) != uri:
            raise protocol.not_served(uri, "skill")
        return self._cacheable({"skill": entry_of(offer)})

    def folder(self, uri: str, cursor: str | None) -> JsonObject:
        """Answer `resources/directory/read`."""
        offer, path = self._offer(uri, "folder")
        children = children_of(offer, path)
        if children is None:
            raise (
                protocol.invalid_params(f"{uri} is no folder")
                if _has(offer, path)
                else protocol.not_served(uri, "folder")
            )
        edition = int(offer.digest.rpartition(":")[2][:12], 16)
        found, following = self.pages.page(
            f"folder {uri}", cursor, {edition: children}, lambda child: child
        )
        return self._cacheable({"resources": found}, following)

    # --- resources

    def resources(self, cursor: str | None) -> JsonObject:
        """Answer `resources/list`: each skill's own file and manifest; the other files are found
        through these.
        """
        self.served.now()
        found, following = self.pages.page("resources", cursor, self.served.orders, self._resources)
        return self._cacheable({"resources": [one for pair in found for one in pair]}, following)

    def _resources(self, path: str) -> list[JsonObject] | None:
        offer = self.served.offer(path)
        if isinstance(offer, OfferRefusal):
            return None
        main = resource_of(offer, next(one for one in offer.copy.files if one.path == MAIN_FILE))
        if _has(offer, MANIFEST):
            return [main]
        manifest = {
            "uri": uri_of(offer.root, MANIFEST),
            "name": f"{offer.frontmatter['name']}/{MANIFEST}",
            "mimeType": MANIFEST_TYPE,
            "description": f"The files of {offer.frontmatter['name']}.",
        }
        return [main, manifest]

    def read(self, uri: str) -> JsonObject:
        """Answer `resources/read`."""
        for _attempt in range(2):
            offer, path = self._offer(uri, "resource")
            data: bytes | None
            if _has(offer, path):
                kind = mime_of(path)
                data = self.served.bytes_of(offer.copy, path)
            elif path == MANIFEST:
                kind = MANIFEST_TYPE
                data = json.dumps(manifest_of(offer)).encode()
            elif children_of(offer, path) is not None:
                raise protocol.invalid_params(f"{uri} is a folder")
            else:
                raise protocol.not_served(uri)
            if data is not None:
                content = {"uri": uri, "mimeType": kind, **content_of(data)}
                return self._cacheable({"contents": [content]})
            self.served.forget(offer.card.path)  # it changed, and nobody has told yet
        raise protocol.invalid_params(f"{uri} changes too fast to be read; ask again")

    def _offer(self, uri: str, what: str) -> tuple[ServedSkill, str]:
        """Give the skill that a URI belongs to, the innermost that is served, and the path inside
        it.
        """
        place = uris.parse_uri(uri)
        if place is None:
            raise protocol.not_served(uri, what)
        snapshot = self.served.now()
        places = snapshot.places
        if place.root not in places:
            why = refusals.why_refused(self.served, uris.handle_of(place.root))
            raise protocol.refusal_error(why) if why is not None else protocol.not_served(uri, what)
        whole = place.whole
        below = ""
        first: tuple[str, OfferRefusal] | None = None
        while whole:
            if whole in places:
                offer = self.served.offer(places[whole])
                if not isinstance(offer, OfferRefusal):
                    return offer, below
                first = first or (places[whole], offer)
            whole, _, last = whole.rpartition("/")
            below = f"{last}/{below}" if below else last
        if first is None:
            raise protocol.not_served(uri, what)
        raise protocol.refusal_error(
            refusals.explain_refusal(self.served, snapshot.visible[first[0]], first[1])
        )

    def _cacheable(self, found: JsonObject, following: str | None = None) -> JsonObject:
        return protocol.complete(found, self.served.context.settings.mcp.ttl_ms, following)


def entry_of(offer: FiledSkill) -> JsonObject:
    """Give a skill as the extension lists it."""
    files = [
        {"uri": uri_of(offer.root, one.path), "digest": f"sha256:{one.sha256}", "size": one.size}
        for one in offer.copy.files
    ]
    told = {
        "uri": uri_of(offer.root, MAIN_FILE),
        "frontmatter": offer.frontmatter,
        "resources": files,
    }
    beside = {f"metier/{key}": said for key, said in offer.beside.items()}
    return {**told, "_meta": beside} if beside else told


def manifest_of(offer: FiledSkill) -> JsonObject:
    """Give a skill's files in the shape that clients of before know."""
    files = [
        {"path": encodable(one.path), "size": one.size, "hash": f"sha256:{one.sha256}"}
        for one in offer.copy.files
    ]
    return {"skill": offer.frontmatter["name"], "files": files, **offer.beside}


def children_of(offer: FiledSkill, folder: str) -> list[JsonObject] | None:
    """Give what lies directly in a folder of a skill; none when it has no such folder."""
    if folder and folder not in offer.copy.folders:
        return None
    files = {
        one.path: resource_of(offer, one)
        for one in offer.copy.files
        if one.path.rpartition("/")[0] == folder
    }
    for path in offer.copy.folders:
        above, _, name = path.rpartition("/")
        if above == folder:
            files[path] = {
                "uri": uri_of(offer.root, path),
                "name": encodable(name),
                "mimeType": FOLDER,
            }
    return [files[path] for path in sorted(files)]


def mime_of(path: str) -> str:
    """Guess what a file is by its name; nothing of it is sent but its bytes."""
    ending = path.rpartition("/")[2].rpartition(".")[2].lower()
    return _TEXTS.get(ending) or mimetypes.guess_type(path)[0] or "application/octet-stream"


def resource_of(offer: FiledSkill, one: CopiedFile) -> JsonObject:
    """Give a file of a skill as a list of resources has it."""
    described = {"name": encodable(one.path.rpartition("/")[2])}
    if one.path == MAIN_FILE:
        described = {key: encodable(offer.frontmatter[key]) for key in ("name", "description")}
        title = offer.beside.get("interface", {}).get("display_name", "")
        described |= {"title": title} if title else {}
    return {
        "uri": uri_of(offer.root, one.path),
        **described,
        "mimeType": mime_of(one.path),
        "size": one.size,
    }


def _has(offer: FiledSkill, path: str) -> bool:
    return any(one.path == path for one in offer.copy.files)


def content_of(data: bytes) -> dict[str, str]:
    """Give bytes as text only where the text gives back the very same bytes."""
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"blob": base64.b64encode(data).decode()}
