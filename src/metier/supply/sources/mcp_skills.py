"""Reads what an MCP server says of the skills it serves, as a stranger's words. Pure.

Two ways are understood: the skills extension (SEP-2640), whose entries list every file with its
digest, and the older one, where `resources/list` has `skill://NAME/SKILL.md` and a `_manifest` beside
it lists the files. A URI is never looked up anywhere: it only goes back to the server that gave it,
and what stands after the skill's own URI becomes a path by the rules for all sources.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import IntegrityError, MetierError, RefusedError, SourceError
from metier.standard.document import GOOD_NAME
from metier.standard.names import MAX_NAME
from metier.supply.safe_names import printable, safe_path
from metier.supply.sources.addresses import escape_step
from metier.supply.sources.registries import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from metier.model import Texts
    from metier.supply.model import JsonObject

EXTENSION = "io.modelcontextprotocol/skills"
MAIN_FILE = "SKILL.md"
MANIFEST = "_manifest"
FOLDER_TYPE = "inode/directory"
MAX_SKILLS = 5_000
"""How many skills of one server are looked at."""
MAX_SKILL_FILES = 5_000
MAX_PAGES = 2_000
MAX_CURSOR_CHARS = 4_096
MAX_SERVED_URI_CHARS = 4_096
UNKNOWN_SIZE = -1
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,31}://[\x21-\x7e]+\Z")
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})\Z")
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
_MAX_PLACE_LETTERS = 12


class RemoteFile(NamedTuple):
    """One file of a skill that a server serves."""

    path: str
    """Below the skill's folder."""
    uri: str
    size: int = UNKNOWN_SIZE
    sha256: str = ""
    """What the server promises; nothing where it promises nothing."""


class RemoteSkill(NamedTuple):
    """A skill that a server serves."""

    name: str
    root: str
    """The URI of its folder, without a slash at its end."""
    files: tuple[RemoteFile, ...]
    path: str = ""
    """Where it lies in the tree that is made of the server's skills."""
    description: str = ""

    @property
    def promised(self) -> str:
        """One digest for all that the server promises of it; nothing where it leaves anything
        open.
        """
        if not all(file.sha256 for file in self.files):
            return ""
        lines = sorted(f"{file.sha256} {file.size} {file.path}\n" for file in self.files)
        return hashlib.sha256(f"{self.root}\n{''.join(lines)}".encode()).hexdigest()


class RemoteListing(NamedTuple):
    """What a server serves, and why some of it is left out."""

    skills: tuple[RemoteSkill, ...]
    refused: Mapping[str, MetierError]
    """By the name or URI it was listed under."""

    @property
    def problems(self) -> Texts:
        """The refusals for people, not too many of them."""
        told = [
            f"{printable(name)} is left out: {why.message}" for name, why in self.refused.items()
        ]
        return tuple(told[:20])

    @property
    def promised(self) -> str:
        """One digest for all that is promised; nothing where anything is left open."""
        digests = [skill.promised for skill in self.skills]
        if not digests or not all(digests):
            return ""
        return hashlib.sha256("".join(sorted(digests)).encode()).hexdigest()


def broken_reply(why: str) -> SourceError:
    """Say that an answer of a server cannot be read."""
    return SourceError(
        f"the MCP server's answer can't be read: {why}",
        hint="whoever runs the server has to correct it",
        code="malformed",
    )


def rows_of(result: Mapping[str, Any], field: str) -> list[JsonObject]:
    """Give the rows of one page of a list."""
    rows = result.get(field)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise broken_reply(f"it has no list of {field}")
    return rows


def next_cursor(result: Mapping[str, Any], seen: set[str]) -> str:
    """Give the cursor of the next page; a list that goes round in circles, or never ends, is
    refused.
    """
    cursor = result.get("nextCursor")
    if cursor is None:
        return ""
    if not isinstance(cursor, str) or not cursor or len(cursor) > MAX_CURSOR_CHARS:
        raise broken_reply("its cursor is none")
    if cursor in seen or len(seen) >= MAX_PAGES:
        raise RefusedError(
            "the MCP server's list never ends",
            hint=f"at most {MAX_PAGES:,} pages are read, and none of them twice",
            code="too-many",
        )
    seen.add(cursor)
    return cursor


# --- URIs


def skill_root(uri: object) -> str:
    """Give the URI of a skill's folder, from that of its SKILL.md."""
    text = _checked_uri(uri)
    if not text.endswith(f"/{MAIN_FILE}"):
        raise broken_reply(f"'{printable(text)}' is not the URI of a {MAIN_FILE}")
    if any(_decoded(step) in {".", ".."} for step in text.split("/")):
        raise _ambiguous(text)
    return text.removesuffix(f"/{MAIN_FILE}")


def path_below(root: str, uri: object) -> str:
    """Give the path of a file below a skill's folder. What lies elsewhere, or could mean another
    place, is refused.
    """
    text = _checked_uri(uri)
    if not text.startswith(f"{root}/"):
        raise RefusedError(
            f"'{printable(text)}' does not lie below '{printable(root)}'",
            hint="a skill's files lie below its own URI",
            code="unsafe-path",
        )
    steps = [_decoded(step) for step in text[len(root) + 1 :].split("/")]
    wrong = next((step for step in steps if step in {"", ".", ".."} or "/" in step), None)
    if wrong is not None:
        raise _ambiguous(text)
    return safe_path("/".join(steps))


def _ambiguous(uri: str) -> RefusedError:
    return RefusedError(
        f"the URI '{printable(uri)}' could mean another place",
        hint="nothing was kept of this skill",
        code="unsafe-path",
    )


def _checked_uri(uri: object) -> str:
    if not isinstance(uri, str):
        raise broken_reply("a URI is no text")
    if (
        len(uri) > MAX_SERVED_URI_CHARS
        or not _URI.match(uri)
        or any(sign in uri for sign in "?#\\")
    ):
        raise RefusedError(
            f"'{printable(uri)}' is not the URI of a skill's file",
            hint="it has one scheme, no query and nothing unescaped",
            code="unsafe-path",
        )
    return uri


def _decoded(step: str) -> str:
    try:
        return _ESCAPE.sub(lambda found: bytes.fromhex(found[1].decode()), step.encode()).decode()
    except UnicodeDecodeError:
        raise RefusedError(
            f"the name '{printable(step)}' is not UTF-8",
            hint="nothing was kept of this skill",
            code="unsafe-path",
        ) from None


def checked_name(name: object, root: str) -> str:
    """Give a skill's name; it is the last step of its URI, as the extension wants it."""
    last = root.rpartition("/")[2]
    if not isinstance(name, str) or len(name) > MAX_NAME or not GOOD_NAME.match(name):
        raise broken_reply(f"'{printable(str(name))}' is not a skill's name")
    if name != last:
        raise broken_reply(f"'{name}' lies at '{printable(root)}', which ends with another name")
    return name


# --- entries


def read_entry(entry: JsonObject) -> tuple[RemoteSkill, bool]:
    """Read an entry of `skills/list` or `skills/get`; tell whether its files are all listed."""
    root = skill_root(entry.get("uri"))
    matter = entry.get("frontmatter")
    if not isinstance(matter, dict):
        raise broken_reply(f"'{printable(root)}' has no frontmatter")
    name = checked_name(matter.get("name"), root)
    found = RemoteSkill(name, root, (), description=text_of(matter, "description"))
    resources = entry.get("resources")
    if resources == "dynamic":
        return found, False
    files = [_promised_file(root, one) for one in rows_of(entry, "resources")]
    return _with_files(found, files), True


def _promised_file(root: str, one: JsonObject) -> RemoteFile:
    path = path_below(root, one.get("uri"))
    digest = one.get("digest")
    sha256 = _DIGEST.match(digest) if isinstance(digest, str) else None
    if sha256 is None:
        raise broken_reply(f"'{printable(path)}' has no sha256 digest")
    return RemoteFile(path, str(one["uri"]), _size(one.get("size"), path), sha256[1])


def read_manifest(skill: RemoteSkill, document: object) -> RemoteSkill:
    """Read the older list of a skill's files."""
    if not isinstance(document, dict):
        raise broken_reply(f"the manifest of '{skill.name}' is none")
    files = []
    for one in rows_of(document, "files"):
        path = one.get("path")
        if not isinstance(path, str):
            raise broken_reply(f"a file of '{skill.name}' has no path")
        path = safe_path(path)
        said = one.get("hash")
        sha256 = _DIGEST.match(said) if isinstance(said, str) else None
        if said is not None and sha256 is None:
            raise broken_reply(f"'{printable(path)}' has a hash that is no sha256")
        size = UNKNOWN_SIZE if one.get("size") is None else _size(one["size"], path)
        files.append(RemoteFile(path, below(skill.root, path), size, sha256[1] if sha256 else ""))
    return _with_files(skill, files)


def read_resources(skill: RemoteSkill, rows: Iterable[JsonObject]) -> RemoteSkill:
    """Take for a skill's files what a server lists below its URI, where it says nothing better."""
    files = []
    for one in rows:
        if one.get("mimeType") != FOLDER_TYPE:
            path = path_below(skill.root, one.get("uri"))
            if path != MANIFEST:
                size = UNKNOWN_SIZE if one.get("size") is None else _size(one["size"], path)
                files.append(RemoteFile(path, str(one["uri"]), size))
    return _with_files(skill, files)


def listed_skill(row: JsonObject) -> RemoteSkill | None:
    """Give the skill that a row of `resources/list` stands for; nothing where it is another file."""
    uri = row.get("uri")
    if not isinstance(uri, str) or not uri.startswith("skill://") or not uri.endswith(MAIN_FILE):
        return None
    root = skill_root(uri)
    name = checked_name(_decoded(root.rpartition("/")[2]), root)
    return RemoteSkill(name, root, (), description=text_of(row, "description"))


def below(root: str, path: str) -> str:
    """Give the URI of a file below a skill's folder."""
    return f"{root}/{'/'.join(map(escape_step, path.split('/')))}"


def _with_files(skill: RemoteSkill, files: Sequence[RemoteFile]) -> RemoteSkill:
    if len(files) > MAX_SKILL_FILES:
        raise RefusedError(
            f"'{skill.name}' has {len(files):,} files",
            hint=f"at most {MAX_SKILL_FILES:,} are read",
            code="too-many",
        )
    if len({file.path for file in files}) != len(files):
        raise broken_reply(f"'{skill.name}' lists a file twice")
    if not any(file.path == MAIN_FILE for file in files):
        raise broken_reply(f"'{skill.name}' has no {MAIN_FILE}")
    return skill._replace(files=tuple(sorted(files)))


def _size(size: object, path: str) -> int:
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < 1 << 48:
        raise broken_reply(f"'{printable(path)}' has no size")
    return size


# --- all of them


def arranged(skills: Sequence[RemoteSkill], refused: Mapping[str, MetierError]) -> RemoteListing:
    """Give each skill its own folder: its name, or where several have one, a folder made of its URI.

    A skill inside another one is a skill of its own; its files are no part of the outer one's.
    """
    roots = {skill.root for skill in skills}
    if len(roots) != len(skills):
        raise broken_reply("it lists a skill twice")
    names: dict[str, int] = {}
    for skill in skills:
        names[skill.name] = names.get(skill.name, 0) + 1
    placed = []
    for skill in skills:
        inner = tuple(one for one in skill.files if _innermost(one.uri, roots) == skill.root)
        place = hashlib.sha256(skill.root.encode()).hexdigest()[:_MAX_PLACE_LETTERS]
        path = skill.name if names[skill.name] == 1 else f"at.{place}/{skill.name}"
        placed.append(skill._replace(files=inner, path=path))
    return RemoteListing(tuple(sorted(placed, key=lambda one: one.path)), refused)


def _innermost(uri: str, roots: set[str]) -> str:
    at = uri.rpartition("/")[0]
    while at and at not in roots:
        at = at.rpartition("/")[0]
    return at


# --- contents


def contents_of(result: Mapping[str, Any], file: RemoteFile) -> bytes:
    """Give the bytes that `resources/read` answered with, held to what was promised of them."""
    rows = rows_of(result, "contents")
    row = next((one for one in rows if one.get("uri") == file.uri), None)
    if row is None and len(rows) == 1:
        row = rows[0]
    text, blob = (row.get("text"), row.get("blob")) if row else (None, None)
    try:
        if isinstance(text, str):
            data = text.encode()
        elif isinstance(blob, str):
            data = base64.b64decode(blob, validate=True)
        else:
            raise broken_reply(f"it has no contents for '{printable(file.path)}'")
    except (UnicodeEncodeError, binascii.Error, ValueError) as error:
        raise broken_reply(f"the contents of '{printable(file.path)}' are no bytes") from error
    check_contents(file, data)
    return data


def check_contents(file: RemoteFile, data: bytes) -> None:
    """Hold bytes to the size and the digest that the server promised."""
    wrong_size = file.size not in {UNKNOWN_SIZE, len(data)}
    if wrong_size or (file.sha256 and hashlib.sha256(data).hexdigest() != file.sha256):
        raise IntegrityError(
            f"'{printable(file.path)}' is not what the MCP server promised: it has other bytes",
            hint="the server changed in the meantime, or it lies. Nothing was kept",
            code="digest",
        )
