"""Joins the skills of other MCP servers to one's own: copies of them lie below METIER_HOME, and are
found, scanned, decided about and served like any others, under names that begin with the server's.

A copy is what the server promised, or it is not put there. What differs from what was first seen waits
for a person, and what a server no longer lists goes. A server that is down, slow or hostile changes
nothing: what is there goes on being served.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.errors import (
    IntegrityError,
    MetierError,
    NotFoundError,
    RefusedError,
    StoreError,
    UsageError,
)
from metier.model import MANIFESTS
from metier.settings.model import UpstreamServer, upstream_name_fault
from metier.standard.digest import tree_digest
from metier.store.io import safe_files
from metier.supply.fetch import check_allowed, open_quarantine
from metier.supply.io import joined_files
from metier.supply.io.joined_files import JoinedRecord, JoinedSkill
from metier.supply.io.mcp_source import McpTree, SkillServerReader
from metier.supply.model import Origin, Request
from metier.supply.places import hands_of, home_of, store_of
from metier.supply.safe_names import check_items, printable
from metier.supply.servers import known_servers, open_line, source_of
from metier.supply.sources.source_name import server_place
from metier.trust.judge import judge_in_batches

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.context import Context
    from metier.model import Texts
    from metier.supply.io.quarantine import Quarantine
    from metier.supply.sources.mcp_skills import RemoteListing, RemoteSkill

MAX_JOINED_SKILLS = 1_000
"""How many skills of one server are joined."""
MAX_REMEMBERED_SKILLS = 3 * MAX_JOINED_SKILLS
"""How many skills of one server are remembered, those that it no longer lists among them: one that
has other names at every look must not fill the disk."""
MAX_ATTEMPTS = 2
"""How often a skill is fetched whose bytes are not what was promised, before the next look."""


_MAX_PLACE_LETTERS = 12


class UpstreamLook(NamedTuple):
    """What a look at a server came to."""

    name: str
    added: Texts = ()
    changed: Texts = ()
    """Those that differ from before, and may wait for a yes."""
    gone: Texts = ()
    refused: tuple[tuple[str, str], ...] = ()
    """Skills that were not taken, each with the reason."""
    trouble: str = ""
    """Why the server could not be looked at, or not to the end."""

    @property
    def is_news(self) -> bool:
        """Whether anything is different now."""
        return bool(self.added or self.changed or self.gone)


def join_servers(context: Context, said: Sequence[str] = ()) -> tuple[UpstreamServer, ...]:
    """Join the servers of the configuration, and those written `NAME=PLACE`; give all of them.
    Nobody is asked anything yet.
    """
    context.upstreams = tuple(_parsed(one) for one in said)
    servers = tuple(known_servers(context).values())
    data = home_of(context)
    for server in servers:
        try:
            record = joined_files.read_record(data, server.name)
        except MetierError as error:  # its skills ask; the others are served
            context.warn(f"{error.message}. {error.hint}")
            continue
        if record.source and record.source != source_of(server):
            _start_anew(context, data, server.name, record)
    context.joined = tuple(server.name for server in servers)
    context.catalogue.forget()
    return servers


def _parsed(said: str) -> UpstreamServer:
    name, equals, place = said.partition("=")
    fault = upstream_name_fault(name) if name else "is missing"
    if not equals or fault:
        raise UsageError(
            f"'{printable(name)}' {fault or 'has no address'}",
            hint="write --upstream NAME=https://host/mcp, or NAME=stdio:COMMAND",
        )
    return UpstreamServer(name, server_place(place))


def _start_anew(context: Context, data: str, name: str, record: JoinedRecord) -> None:
    """Forget the copies of the server that had this name before."""
    with joined_files.hold_mirror(data, name, context.home) as ours:
        if not ours:  # its skills would be served as another server's
            raise StoreError(
                f"another process has '{name}' as the name of another server",
                hint="end it first, or give this server another name",
                code="busy",
            )
        for folder in record.skills:
            joined_files.drop_skill(hands_of(context), data, name, folder)
        joined_files.write_record(data, name, JoinedRecord())


def refresh_server(
    context: Context, name: str, stopped: Callable[[], bool] = lambda: False
) -> UpstreamLook:
    """Look at a server, and bring its copies up to date, within the time there is for it."""
    server = known_servers(context).get(name)
    if server is None:
        raise NotFoundError(
            f"there is no upstream '{printable(name)}'", hint="name it under [mcp.upstreams]"
        )
    safe_files.refuse_on_windows()
    data = home_of(context)
    with joined_files.hold_mirror(data, name, context.home) as ours:
        if not ours:
            return UpstreamLook(name)  # another process looks at it just now
        task = _Refresh(context, server, data, stopped)
        try:
            task.run()
        except MetierError as error:
            task.trouble = f"{error.code}: {error.message}"
    look = task.told()
    if look.is_news:
        _judge_new(context, data, look)
    return look


def _judge_new(context: Context, data: str, look: UpstreamLook) -> None:
    """Have what is new found and judged, before anybody asks for it."""
    context.catalogue.reload(deep=True)
    below = f"{joined_files.skills_of(data, look.name)}/"
    names = {f"{look.name}:{name}" for name in (*look.added, *look.changed)}
    cards = context.catalogue.contents().cards
    judge_in_batches(
        context, [card for card in cards if card.path.startswith(below) and card.name in names]
    )


class _Refresh:
    """One look at a server, while its copies are ours alone."""

    def __init__(
        self, context: Context, server: UpstreamServer, data: str, stopped: Callable[[], bool]
    ) -> None:
        """Know what there is."""
        self.context, self.server, self.data, self.stopped = context, server, data, stopped
        self.skills = dict(joined_files.read_record(data, server.name).skills)
        self.first = {one.name: one.first for one in self.skills.values()}
        """What each name stood for first: a skill that moves to another URI, or has the name of one
        that is there, is no new one."""
        self.limits = context.settings.supply
        self.added: list[str] = []
        self.changed: list[str] = []
        self.gone: list[str] = []
        self.refused: list[tuple[str, str]] = []
        self.trouble = ""

    def told(self) -> UpstreamLook:
        """Give what it came to."""
        return UpstreamLook(
            self.server.name,
            tuple(self.added),
            tuple(self.changed),
            tuple(self.gone),
            tuple(self.refused),
            self.trouble,
        )

    def run(self) -> None:
        """List what the server serves, and fetch what is not known yet. One that a policy does not
        allow is neither asked nor started.
        """
        check_allowed(self.context, Request("mcp", self.server.place))
        joined_files.clear_aside(hands_of(self.context), self.data, self.server.name)
        seconds = self.context.settings.mcp.upstream_seconds
        line = open_line(self.context, self.server.place, self.server, seconds)
        with SkillServerReader(line, self.limits) as reader, open_quarantine(self.context) as desk:
            listing = reader.listing()
            self.refused += [(name, why.message) for name, why in listing.refused.items()]
            if len(listing.skills) > MAX_JOINED_SKILLS:
                self.trouble = f"only {MAX_JOINED_SKILLS:,} of its skills are joined"
            # Of several with one name the first is the one that is served, and the one that counts.
            for skill in sorted(listing.skills, key=_folder)[:MAX_JOINED_SKILLS]:
                if self.stopped():
                    return
                if not self._is_known(skill):
                    self._take(reader, desk, skill)
            self._drop_gone(listing)

    def _is_known(self, skill: RemoteSkill) -> bool:
        known = self.skills.get(_folder(skill))
        return (
            known is not None
            and bool(skill.promised)
            and known.promised == skill.promised
            and joined_files.is_there(self.data, self.server.name, _folder(skill))
        )

    def _take(self, reader: SkillServerReader, desk: Quarantine, skill: RemoteSkill) -> None:
        """Fetch a skill, and put it in place; what is wrong with it is a refusal of this one."""
        for attempt in range(1, MAX_ATTEMPTS + 1):
            try:
                self._fetch(reader, desk, skill)
            except (IntegrityError, RefusedError) as error:
                if isinstance(error, IntegrityError) and attempt < MAX_ATTEMPTS:
                    continue
                self.refused.append((skill.name, f"{error.code}: {error.message}"))
            return

    def _fetch(self, reader: SkillServerReader, desk: Quarantine, skill: RemoteSkill) -> None:
        _check_shape(skill)
        if _folder(skill) not in self.skills and len(self.skills) >= MAX_REMEMBERED_SKILLS:
            raise RefusedError(
                f"'{skill.name}' is new, and {len(self.skills):,} skills of this server are "
                f"remembered: to forget them, remove "
                f"{joined_files.mirror_of(self.data, self.server.name)}",
                hint="nothing was kept of this skill",
                code="too-many",
            )
        source = source_of(self.server)
        tree = McpTree(Origin("mcp", source), reader, [skill])
        items = check_items(tree.items(), self.limits)
        made, files = desk.lay(tree, items, skill.path, self.limits)
        digest = tree_digest(files)
        folder = _folder(skill)
        known = self.skills.get(folder)
        there = joined_files.is_there(self.data, self.server.name, folder)
        first = known.first if known else self.first.setdefault(skill.name, digest)
        row = JoinedSkill(skill.name, first, digest, skill.promised)
        if known == row and there:
            return
        store_of(self.context).note(digest, source, "", "")
        if known is None:  # nothing lies there of which nobody knows what it was first
            self._remember(folder, row)
        if known is None or known.now != digest or not there:
            hands = hands_of(self.context)
            joined_files.put_skill(hands, made, self.data, self.server.name, folder)
            (self.changed if known is not None else self.added).append(skill.name)
            if digest != row.first:
                self._note(skill, "changed", digest)
        if known is not None:  # only now: what failed to get there is new to the next look as well
            self._remember(folder, row)

    def _remember(self, folder: str, row: JoinedSkill) -> None:
        self.skills[folder] = row
        record = JoinedRecord(source_of(self.server), self.skills)
        joined_files.write_record(self.data, self.server.name, record)

    def _drop_gone(self, listing: RemoteListing) -> None:
        """Take away what the server no longer lists. What it was first stays known: it may come
        back as something else.
        """
        listed = {_folder(skill) for skill in listing.skills}
        for folder in self.skills:
            there = joined_files.is_there(self.data, self.server.name, folder)
            if folder not in listed and there:
                joined_files.drop_skill(hands_of(self.context), self.data, self.server.name, folder)
                self.gone.append(folder)

    def _note(self, skill: RemoteSkill, what: str, digest: str) -> None:
        log.record(
            self.context,
            "upstream",
            what,
            name=f"{self.server.name}:{skill.name}",
            digest=digest,
            origin=source_of(self.server),
        )


def _folder(skill: RemoteSkill) -> str:
    """Give the one folder that a skill's copy lies in: it depends on nothing but its URI."""
    if skill.root == f"skill://{skill.name}":
        return skill.name
    return f"{skill.name}.{sha256(skill.root.encode()).hexdigest()[:_MAX_PLACE_LETTERS]}"


def _check_shape(skill: RemoteSkill) -> None:
    """Refuse what would let a skill take another's name: a manifest in it would be that of a
    plugin.
    """
    odd = next((file.path for file in skill.files if file.path.lower() in MANIFESTS), None)
    if odd is not None:
        raise RefusedError(
            f"'{skill.name}' brings {odd}, which would give it another server's name",
            hint="nothing was kept of this skill",
            code="unsafe-entry",
        )
