"""Opens an MCP server that serves skills as a source: its list is read, and files come when somebody
needs them, each held to what the server promised.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import IntegrityError, MetierError, RefusedError, SourceError
from metier.standard.document import read_document
from metier.supply.io.mcp_client import McpSession, RpcError
from metier.supply.model import Item, Origin
from metier.supply.safe_names import check_items, printable
from metier.supply.sources import mcp_skills
from metier.supply.sources.mcp_skills import (
    EXTENSION,
    FOLDER_TYPE,
    MAIN_FILE,
    MANIFEST,
    MAX_SKILL_FILES,
    MAX_SKILLS,
    UNKNOWN_SIZE,
    RemoteFile,
    RemoteListing,
    RemoteSkill,
)
from metier.supply.sources.source_name import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Self

    from metier.ports import Tree
    from metier.settings.model import SupplySettings
    from metier.supply.io.mcp_client import McpLine
    from metier.supply.model import Contents, JsonObject, Request

    OpenLine = Callable[[], McpLine]

MAX_HELD_BYTES = 32 * 1024 * 1024
"""How much of what was read once is kept, so that it need not be asked for again."""
MAX_LISTING_BYTES = 32 * 1024 * 1024
"""How much a server may say of what it has, on all pages and in all manifests together: all of it is
held at once."""
MOST_PER_BYTE = 6
"""How many bytes of an answer one byte of a file may take: JSON writes some as six."""
_SLACK_BYTES = 64 * 1024


class McpFetcher(NamedTuple):
    """Opens MCP servers; `line` connects to the one that was asked for."""

    limits: SupplySettings
    line: OpenLine

    def open(self, request: Request) -> Tree:
        """List what the server serves, or the one skill that the request's path names."""
        with ExitStack() as undo:
            server = undo.enter_context(SkillServerReader(self.line(), self.limits))
            listing = server.listing()
            chosen = listing.skills
            if request.path:
                top = request.path
                chosen = tuple(one for one in chosen if f"{top}/".startswith(f"{one.path}/"))
                name = top.rpartition("/")[2]
                fault = listing.refused.get(name)
                if fault is not None and not chosen:
                    raise fault
            if not chosen:
                raise _no_skill(request, listing)
            origin = Origin("mcp", canonical(request), request.ref, listing.promised)
            tree = McpTree(origin, server, chosen, listing.problems)
            undo.pop_all()
            return tree

    def newest(self, request: Request) -> str:
        """Give the digest of what the server promises; nothing where it leaves anything open."""
        del request
        with SkillServerReader(self.line(), self.limits) as server:
            return server.listing().promised


def _no_skill(request: Request, listing: RemoteListing) -> MetierError:
    if not request.path:
        first = next(iter(listing.refused.values()), None)
        if first is not None:
            return first
    what = f" '{printable(request.path)}'" if request.path else ""
    names = ", ".join(printable(one.name) for one in listing.skills[:10])
    return SourceError(
        f"{printable(request.location)} serves no skill{what}",
        hint=f"it serves: {names}" if names else "it has to serve the skills extension of MCP",
        code="no-skill" if not request.path else "not-found",
    )


class SkillServerReader:
    """Reads the skills of one server, and counts what comes against the limits."""

    def __init__(self, line: McpLine, limits: SupplySettings) -> None:
        """Say nothing yet."""
        self.session = McpSession(line)
        self.limits = limits
        self._left = limits.download_bytes
        self._listing_left = MAX_LISTING_BYTES
        self._room = MAX_HELD_BYTES
        self._held: dict[str, bytes] = {}

    def __enter__(self) -> Self:
        """Agree on a version with the server."""
        try:
            self.session.open()
        except BaseException:
            self.session.close()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        """Hang up."""
        self.session.close()

    # --- what there is

    def listing(self) -> RemoteListing:
        """List the skills: by the extension where the server has it, or else the older way."""
        extensions = self.session.capabilities.get("extensions")
        declared = extensions.get(EXTENSION) if isinstance(extensions, dict) else None
        refused: dict[str, MetierError] = {}
        if declared is not None:
            folders = isinstance(declared, dict) and declared.get("directoryRead") is True
            skills = self._extended(refused, folders=folders)
        else:
            skills = self._older(refused)
        return mcp_skills.arranged(skills, refused)

    def _extended(self, refused: dict[str, MetierError], *, folders: bool) -> list[RemoteSkill]:
        found = []
        for row in self._rows("skills/list", "skills", MAX_SKILLS):
            try:
                skill, whole = mcp_skills.read_entry(row)
                found.append(skill if whole else self._dynamic(skill, folders=folders))
            except (RefusedError, SourceError) as error:
                if error.code in {"timeout", "unreachable"} or self._listing_left < 0:
                    raise
                refused[_label(row)] = error
        return found

    def _dynamic(self, skill: RemoteSkill, *, folders: bool) -> RemoteSkill:
        """Find the files of a skill whose entry does not list them."""
        rows: list[JsonObject] = [{"uri": f"{skill.root}/{MAIN_FILE}"}]
        if folders:
            rows = []
            waiting = [skill.root]
            while waiting:
                for row in self._rows(
                    "resources/directory/read", "resources", MAX_SKILL_FILES, uri=waiting.pop()
                ):
                    if row.get("mimeType") == FOLDER_TYPE:
                        mcp_skills.path_below(skill.root, row.get("uri"))
                        waiting.append(str(row["uri"]))
                    rows.append(row)
                    if len(rows) > MAX_SKILL_FILES:
                        raise _too_many(skill.name, MAX_SKILL_FILES)
        return mcp_skills.read_resources(skill, rows)

    def _older(self, refused: dict[str, MetierError]) -> list[RemoteSkill]:
        rows = list(self._rows("resources/list", "resources", MAX_SKILLS * 10))
        found = []
        for row in rows:
            try:
                skill = mcp_skills.listed_skill(row)
                if skill is not None:
                    found.append(self._by_manifest(skill, rows))
            except (RefusedError, SourceError, IntegrityError) as error:
                if error.code in {"timeout", "unreachable"} or self._listing_left < 0:
                    raise
                refused[_label(row)] = error
        if len(found) > MAX_SKILLS:
            raise _too_many("the MCP server", MAX_SKILLS)
        return found

    def _by_manifest(self, skill: RemoteSkill, rows: Sequence[JsonObject]) -> RemoteSkill:
        uri = f"{skill.root}/{MANIFEST}"
        found = self._ask("resources/read", {"uri": uri})
        if isinstance(found, RpcError):
            own = [row for row in rows if str(row.get("uri")).startswith(f"{skill.root}/")]
            return mcp_skills.read_resources(skill, own)
        try:
            document = json.loads(mcp_skills.contents_of(found, RemoteFile(MANIFEST, uri)))
        except (ValueError, RecursionError) as error:
            raise mcp_skills.broken_reply(f"the manifest of '{skill.name}' is not JSON") from error
        return mcp_skills.read_manifest(skill, document)

    def _rows(self, method: str, field: str, most: int, **params: str) -> Iterator[JsonObject]:
        """Page through a list to its end, within limits."""
        cursor = ""
        seen: set[str] = set()
        count = 0
        while True:
            more = {"cursor": cursor} if cursor else {}
            result = self.session.checked(method, self._ask(method, {**params, **more}))
            rows = mcp_skills.rows_of(result, field)
            count += len(rows)
            if count > most:
                raise _too_many("the MCP server", most)
            yield from rows
            cursor = mcp_skills.next_cursor(result, seen)
            if not cursor:
                return

    def _ask(self, method: str, params: JsonObject) -> JsonObject | RpcError:
        """Ask for a part of the list, as long as all of it is not too much."""
        before = self.session.line.heard
        found = self.session.ask(method, params)
        self._listing_left -= self.session.line.heard - before
        if self._listing_left < 0:
            raise RefusedError(
                "the MCP server says too much of its skills",
                hint=f"at most {MAX_LISTING_BYTES:,} bytes are read",
                code="too-large",
            )
        return found

    # --- what is in it

    def read(self, file: RemoteFile) -> bytes:
        """Give the bytes of a file, as the server promised them."""
        if file.uri in self._held:
            return self._held[file.uri]
        limits = self.limits
        size = limits.file_bytes if file.size == UNKNOWN_SIZE else file.size
        if size > min(limits.file_bytes, self._left):
            raise RefusedError(
                f"'{printable(file.path)}' has {size:,} bytes",
                hint="see supply.file_bytes and supply.download_bytes",
                code="too-large",
            )
        most = min(MOST_PER_BYTE * size + _SLACK_BYTES, 2 * limits.download_bytes)
        found = self.session.must("resources/read", {"uri": file.uri}, most)
        data = mcp_skills.contents_of(found, file)
        if len(data) > limits.file_bytes:
            raise RefusedError(
                f"'{printable(file.path)}' has {len(data):,} bytes",
                hint=f"supply.file_bytes allows {limits.file_bytes:,}",
                code="too-large",
            )
        self._left -= len(data)
        if len(data) <= self._room:
            self._room -= len(data)
            self._held[file.uri] = data
        return data

    def sized(self, skill: RemoteSkill) -> RemoteSkill:
        """Find out the sizes that the server does not tell, which takes a look at the bytes."""
        if all(file.size != UNKNOWN_SIZE for file in skill.files):
            return skill
        files = [
            file if file.size != UNKNOWN_SIZE else file._replace(size=len(self.read(file)))
            for file in skill.files
        ]
        return skill._replace(files=tuple(files))

    def read_main(self, skill: RemoteSkill, file: RemoteFile) -> bytes:
        """Give a SKILL.md; the name in it is the one that the server lists."""
        data = self.read(file)
        document = read_document(data, folder=skill.name, size=len(data), positions=False)
        if document is None or document.name != skill.name:
            raise IntegrityError(
                f"the MCP server lists '{skill.name}', and its SKILL.md has another name",
                hint="the server lies or is out of date. Nothing was kept",
                code="digest",
            )
        return data


def _label(row: JsonObject) -> str:
    """Name an entry that was refused: by its name if it has one, or by its URI."""
    matter = row.get("frontmatter")
    name = matter.get("name") if isinstance(matter, dict) else None
    return printable(str(name or row.get("uri") or "an entry"))


def _too_many(what: str, most: int) -> RefusedError:
    return RefusedError(
        f"{printable(what)} lists more than {most:,} entries",
        hint="the server is broken or hostile",
        code="too-many",
    )


class McpTree:
    """The skills of a server, each in a folder of its own."""

    def __init__(
        self,
        origin: Origin,
        server: SkillServerReader,
        skills: Sequence[RemoteSkill],
        problems: Sequence[str] = (),
    ) -> None:
        """Know what there is; files are read when they are asked for."""
        self.origin, self.server = origin, server
        self.problems = list(problems)
        self.has_many = len(skills) > 1
        self._files: dict[str, tuple[RemoteSkill, RemoteFile]] = {}
        self._items: list[Item] = []
        for skill in map(server.sized, skills):
            for file in skill.files:
                key = str(len(self._files))
                self._files[key] = skill, file
                self._items.append(Item(f"{skill.path}/{file.path}", file.size, "file", key))
        check_items(self._items, server.limits)

    def items(self) -> Sequence[Item]:
        """List every file."""
        return self._items

    def contents(self, items: Sequence[Item]) -> Contents:
        """Give their bytes."""
        for item in items:
            skill, file = self._files[item.key]
            main = file.path == MAIN_FILE
            data = self.server.read_main(skill, file) if main else self.server.read(file)
            yield item, iter([data])

    def close(self) -> None:
        """Hang up."""
        self.server.__exit__()
