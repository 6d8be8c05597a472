"""Makes a verdict of what was seen: each finding has an event as its evidence. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from metier.model import Finding
from metier.run.observe.canaries import find_canaries, find_in_pieces, is_opaque
from metier.run.observe.claims import ClaimsAndDeeds
from metier.run.observe.losses import Losses
from metier.run.observe.model import (
    CLONE_MARK,
    GIVEN_DOMAIN,
    MARK_DOMAIN,
    PACKAGE_MARK,
    is_forced,
)
from metier.run.observe.places import (
    AGENT_FILES,
    CODE_ENDINGS,
    CODE_HOSTS,
    DATA_ENDINGS,
    DATA_FOLDERS,
    INSTALLED_FOLDERS,
    LETS_IN,
    PACKAGE_HOSTS,
    PACKAGE_PROGRAMS,
    PACKAGE_SETTINGS,
    PROJECT_AGENT_FILES,
    PROJECT_RUNS,
    PUSH_HOSTS,
    READ_BY_AGENTS,
    SECRET_KINDS,
)
from metier.run.observe.signs import (
    added_servers,
    body,
    commands_in,
    host_of,
    is_greeting,
    is_installer,
    is_made_up,
    is_plain_setting,
    labels,
    only_denies,
    only_paths,
    package_words,
    requests_in,
    scp_host,
    short,
    starts_later,
)
from metier.scan.cache import HARMS
from metier.scan.engine import fingerprint
from metier.scan.ruleset import OBSERVED_RULES
from metier.scan.waive import add_observed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from metier.model import Level
    from metier.run.observe.model import Canary, Seen, Stage, WatchRecord
    from metier.run.observe.plan import ReadSkill

MAX_TEXT_CHARS = 200
MAX_SOURCES = 200
"""Of how many hosts of a file of settings it is asked whether the instructions speak of them."""
LEVELS: tuple[Level, ...] = ("safe", "caution", "dangerous")
REFUSED_QUIETLY = frozenset({"io_uring_setup", "userfaultfd", "memfd_create", "clone3", "keyctl"})
"""Calls that ordinary programs try and do without: no sign of anything."""
BY_ITSELF = frozenset({"OB101", "OB103", "OB110", "OB113", "OB120", "OB121", "OB123"})
"""What no function of a script may do, whoever calls it: secrets that leave, a download that runs, a
shell for a stranger, and what starts later or speaks to agents where no text says so."""
_SHELL_GIVEN = re.compile(
    r"(?<![\w.-])(?:ba|z|k|da)?sh(?:\s+-\w+)*?\s+-\w*i\w*(?!\S)|pty\.spawn"
    r"|(?:^|/)(?:nc|ncat|socat)\b.*(?: -e|EXEC)"
)
"""A shell that takes its orders from whatever it is tied to. A script's own option -i is none."""
_MAKES_SKILLS = re.compile(
    r"\b(?:creat|scaffold|generat|install|add|writ)\w*\b[^.\n]{0,40}\bskills?\b"
)
_SSH_RUNS = re.compile(
    rb"^[^\S\n]*(?:proxycommand|localcommand|permitlocalcommand|match\b.*\bexec)",
    re.IGNORECASE | re.MULTILINE,
)
_SSH_WAY = re.compile(r"^[ \t]*proxyjump[ \t=]+(?!none\b)(\S+\.\S+)", re.IGNORECASE | re.MULTILINE)
_SOURCE_LINE = re.compile(
    r"registry|index-url|index_url|extra-index|resolved|\bindex\b|GOPROXY|npmRegistryServer|\bsource\b"
    r"|\burl\b|repositories|mirror",
    re.IGNORECASE,
)
"""A word with which a file of settings says where packages come from."""
_INDEX_ASKED = re.compile(
    rb"^(?:GET|HEAD) [^\r\n]{1,2000}\r\n(?:[^\r\n]+\r\n){0,20}?User-Agent: (?:pip|npm|uv)/",
    re.IGNORECASE,
)
"""A package manager that asks an index for a package."""
_ACTION = re.compile(rb"^[ \t]*(?:-[ \t]*)?uses:[ \t]*[\"']?([\w.-]+)/([\w./-]+)@", re.MULTILINE)
_ADDRESS_IN_TEXT = re.compile(r"\b(?:https?|wss?)://[^\s\"']+")


class ObserveVerdict(NamedTuple):
    """What the events mean."""

    level: Level
    findings: tuple[Finding, ...]
    events: tuple[Seen, ...]
    """The events, with the canaries that were found in them."""


def judge(
    skill: ReadSkill, stage: Stage, watched: WatchRecord, scan_text: Callable[[str, bytes], Level]
) -> ObserveVerdict:
    """Judge what was seen. `scan_text` gives the level of a text that was written for agents."""
    judging = _Judging(skill, stage, watched, scan_text)
    events = tuple(judging.events)
    findings = judging.fair_findings()
    level, _score = add_observed("safe", 0, findings)
    return ObserveVerdict(level, tuple(findings), events)


class _Judging(ClaimsAndDeeds):
    """Judges one skill, kind of deed by kind of deed."""

    def __init__(
        self,
        skill: ReadSkill,
        stage: Stage,
        watched: WatchRecord,
        scan_text: Callable[[str, bytes], Level],
    ) -> None:
        super().__init__(skill, stage, watched.events)
        self.watched, self.scan_text = watched, scan_text

    def fair_findings(self) -> list[Finding]:
        """Give what a skill is to answer for. Where we called a script's functions one by one, with
        arguments of our own, it did what nobody asked of it: an honest `delete(path)` removes what it
        is given. So only deeds count from there that no function is honest with, and never together
        with others.
        """
        alone = [one for one in self.events if not is_forced(one.where)]
        if len(alone) == len(self.events):
            return self.findings()
        forced = [one for one in self.findings() if one.rule in BY_ITSELF]
        self.events = alone
        return _ordered([*self.findings(), *forced])

    def findings(self) -> list[Finding]:
        """Give every finding, the gravest first, each rule and evidence once."""
        found = [
            *self.sent(),
            *self.sent_in_pieces(),
            *self.opaque(),
            *self.ran(),
            *self.packages(),
            *self.pushes(),
            *self.shells(),
            *self.written(),
            *Losses(self, self.finding).findings(),
            *self.read(),
            *self.refused(),
            *self.hosts(),
        ]
        if not self.watched.complete:
            found.append(self.finding("OB170", "the record is not whole", ""))
        return _ordered(found)

    def finding(self, rule: str, deed: str, where: str, key: str = "") -> Finding:
        """Make a finding: the event is its evidence, and the try its place. The same deed of several
        tries has one fingerprint; `key` is what of it stays the same every time.
        """
        row = OBSERVED_RULES[rule]
        evidence = f"{short(where)} {deed}" if where else deed
        path = where.partition(" ")[0] if where.partition(" ")[0] in self.skill.files else ""
        same = (key or deed).replace(self.stage.domain, GIVEN_DOMAIN)
        return Finding(
            rule=rule,
            severity=row.severity,
            category=row.category,
            path=path,
            line=0,
            column=0,
            evidence=evidence[:MAX_TEXT_CHARS],
            why=f"{row.title}. {row.why}",
            hint=row.hint,
            fingerprint=fingerprint(rule, "", same, 1),
        )

    # --- what left

    def sent(self) -> Iterator[Finding]:
        """Judge canaries that were sent in one piece."""
        for one in self.events:
            if one.kind == "send" and one.canaries:
                yield from self.taken(one.canaries, one.what, one.where, one.size, one.data)

    def sent_in_pieces(self) -> Iterator[Finding]:
        """Judge canaries that went out bit by bit: over requests to one host, or in names."""
        streams: dict[tuple[str, str], list[Seen]] = defaultdict(list)
        for one in self.events:
            if one.kind == "send":
                host = host_of(one.what)
            elif one.kind == "lookup" and not one.what.endswith(f".{MARK_DOMAIN}"):
                host = ".".join(one.what.split(".")[-2:])
            else:
                continue
            # By tries too: the same script, tried twice, must not hide what it sends in turn.
            for where in ("", one.where):
                streams[host, where].append(one)
        for (host, where), parts in streams.items():
            if where and len(parts) == len(streams[host, ""]):
                continue
            sizes = sum(one.size or len(one.what) for one in parts)
            texts = [each for one in parts for each in requests_in(one.data or one.what.encode())]
            names = [one.what.encode() for one in parts if one.kind == "lookup"]
            whole = (
                find_canaries(b"".join(labels(name) for name in names), self.stage.canaries)
                if names
                else ()
            )
            known = {place for one in parts for place in one.canaries}
            places = {*whole, *find_in_pieces(texts, self.stage.canaries)} - known
            if places:
                yield from self.taken(places, host, parts[0].where, sizes)

    def taken(
        self, places: Collection[str], to: str, where: str, size: int, data: bytes = b""
    ) -> Iterator[Finding]:
        """Judge secrets that reached a host."""
        host = host_of(to)
        if is_forced(where) and is_made_up(host):
            return
        for place in dict.fromkeys(places):
            canary = self.canaries[place]
            meant = self.is_meant(canary, host)
            if meant and self.is_spoken_of(canary, host, where, data):
                continue
            if canary.kind == "input" and self.is_for_input(host, where):
                continue
            rule = "OB106" if meant else self.leak_rule(canary, places, to, data)
            deed = f"sent {place} (canary) to {to}, {size:,} bytes"
            yield self.finding(rule, deed, where, f"{place} {host}")

    def leak_rule(self, canary: Canary, places: Collection[str], to: str, data: bytes) -> str:
        """Give the rule for a secret that reached a host which is not its own vendor's."""
        host = host_of(to)
        if self.is_namesake(canary, host):
            return "OB106"
        if canary.kind == "work" and (self.is_named(host) or self.is_spoken(host)):
            return "OB104"  # a tool that deploys or checks a project has to send it
        if canary.kind == "input":
            return "OB116"
        if self.is_login(canary, to, data):
            return "OB107"
        if self.is_own_account(canary, places, host, data):
            return "OB108"
        if self.is_handed_over(canary, host):
            return "OB109"
        return "OB101" if canary.kind in {*SECRET_KINDS, "asked"} else "OB102"

    def opaque(self) -> Iterator[Finding]:
        """Judge unreadable bytes that left after secrets were read in the same try."""
        for where, events in self.by_try().items():
            secrets = [
                one
                for one in events
                if one.kind == "read" and self.is_secret(one) and not self.is_read_by_program(one)
            ]
            for one in events:
                host = host_of(one.what)
                if (
                    any(not self.is_vendors_own(self.canaries[each.what], host) for each in secrets)
                    and one.kind == "send"
                    and not one.canaries
                    and not (self.is_named(host) or self.is_given(host) or self.is_vendor(host))
                    and not is_greeting(one.data)
                    and is_opaque(body(one.data))
                ):
                    deed = f"read {secrets[0].what}, then sent {one.size:,} unreadable bytes to {one.what}"
                    yield self.finding("OB103", deed, where, host)

    def by_try(self) -> dict[str, list[Seen]]:
        """Give the events of each try."""
        found: dict[str, list[Seen]] = defaultdict(list)
        for one in self.events:
            found[one.where].append(one)
        return found

    # --- what came in

    def ran(self) -> Iterator[Finding]:
        """Judge payloads of the stand-in network that were run: each looks up a name when it is."""
        handed = [one for one in self.events if one.kind == "receive"]
        for one in self.events:
            if one.kind != "lookup" or not one.what.endswith(f".{MARK_DOMAIN}"):
                continue
            sources = [each for each in handed if each.where == one.where] or handed[:]
            # What was handed out names its mark, unless it is packed; then the stranger counts.
            sources.sort(
                key=lambda each: (one.what.encode() not in each.data, is_installer(each.what))
            )
            place = sources[0].what if sources else "the network"
            if one.what.startswith(PACKAGE_MARK):
                yield self.finding("OB112", f"ran code of a package from {place}", one.where)
            elif one.what.startswith(CLONE_MARK):
                yield self.ran_clone(handed, one.where)
            elif is_installer(place):
                yield self.finding("OB111", f"ran {place}", one.where)
            elif "/releases/download/" in place and self.is_named_repository(place):
                yield self.finding("OB115", f"ran {place}", one.where)
            else:
                yield self.finding("OB110", f"ran what it got from {place}", one.where)

    def ran_clone(self, handed: Iterable[Seen], where: str) -> Finding:
        """Judge code of a repository that was run, in this try or in a later one: what the skill
        names at a place where people keep code is for a person to look at.
        """
        places = [one.what.partition("/info/refs")[0] for one in handed if "/info/refs" in one.what]
        strange = [one for one in places if not self.is_named_repository(one)]
        place = next(iter(strange or places), "the network")
        rule = "OB115" if places and not strange else "OB110"
        return self.finding(rule, f"ran code of the repository {place}", where)

    def is_named_repository(self, address: str) -> bool:
        """Tell whether the instructions name a repository at one of the well-known hosts."""
        path = address.partition("://")[2].partition("/")[2].lower()
        name = path.partition("/releases/download/")[0].removesuffix(".git")
        return host_of(address) in CODE_HOSTS and bool(name) and name in self.text

    def packages(self) -> Iterator[Finding]:
        """Judge packages by the host that they came from."""
        for one in self.events:
            if one.kind == "send" and _INDEX_ASKED.search(one.data):
                host = host_of(one.what)
                if not (host in PACKAGE_HOSTS or host in CODE_HOSTS or self.is_given(host)):
                    yield self.finding("OB114", f"asked {host} for a package", one.where, host)
            words = one.what.split() if one.kind == "exec" else []
            if not PACKAGE_PROGRAMS & {word.rpartition("/")[2] for word in words[:4]}:
                continue
            for word in package_words(words):
                host = host_of(word.partition("=")[2] or word) if "://" in word else ""
                known = host in PACKAGE_HOSTS or host in CODE_HOSTS or self.is_given(host)
                if host and not known:
                    yield self.finding("OB114", f"installed a package from {host}", one.where)

    def pushes(self) -> Iterator[Finding]:
        """Judge repositories that were pushed to a host of the skill's own choice."""
        remotes: dict[str, str] = {}
        for one in self.events:
            words = one.what.split() if one.kind == "exec" else []
            if not words or words[0].rpartition("/")[2] != "git":
                continue
            if "remote" in words and "add" in words and "://" in words[-1]:
                remotes[words[-2]] = words[-1]
            if "push" not in words:
                continue
            for word in words[words.index("push") + 1 :]:
                address = remotes.get(word, word)
                host = host_of(address) if "://" in address else scp_host(address)
                if host and host not in PUSH_HOSTS and not self.is_given(host):
                    deed = f"pushed the project's repository to {host}"
                    rule = "OB104" if self.is_vendor(host) else "OB105"
                    yield self.finding(rule, deed, one.where)

    def shells(self) -> Iterator[Finding]:
        """Judge shells that were tied to a connection."""
        for where, events in self.by_try().items():
            joined = [
                one
                for one in events
                if one.kind == "listen"
                or (one.kind == "connect" and not one.what.endswith((":80", ":443", ":53")))
            ]
            shell = next(
                (one for one in events if one.kind == "exec" and _SHELL_GIVEN.search(one.what)),
                None,
            )
            if joined and shell:
                yield self.finding(
                    "OB113",
                    f"started '{shell.what}' with a connection to {joined[0].what}",
                    where,
                )

    # --- what changed

    def written(self) -> Iterator[Finding]:
        """Judge files that were made or changed, by where they lie."""
        own = self.shown(self.stage.skill) + "/"
        project = self.shown(self.stage.project) + "/"
        for one in self.events:
            if one.kind not in {"write", "mode"} or one.what.startswith(own):
                continue
            inside = one.what.removeprefix(project)
            evidence = f"wrote {one.what}"
            if one.what.startswith(AGENT_FILES):
                if self.is_copy(one):
                    continue
                rule = self.fair_rule(one, self.agent_rule(one))
            elif one.kind == "write" and starts_later(one.what) and not only_paths(one):
                rule = self.later_rule(one)
            elif inside != one.what and inside.startswith(PROJECT_AGENT_FILES):
                rule = "OB122"
            elif led := self.led_elsewhere(one):
                rule, evidence = "OB120", f"{evidence}: {led}"
            elif inside != one.what and self.runs_badly(one, inside):
                rule = "OB120"
            else:
                continue
            yield self.finding(rule, evidence, one.where)
            if (
                rule in {"OB121", "OB122", "OB125", "OB126"}
                and self.scan_text(one.what, one.data) == "dangerous"
            ):
                yield self.finding("OB123", evidence, one.where)

    def runs_badly(self, one: Seen, inside: str) -> bool:
        """Tell whether a skill wrote code into the project that the scan calls dangerous; not what an
        installation brings along.
        """
        code = inside.startswith(PROJECT_RUNS) or inside.endswith(CODE_ENDINGS)
        brought = any(folder in f"/{inside}" for folder in INSTALLED_FOLDERS)
        return code and not brought and self.level_of_added(one) == "dangerous"

    def other_owner(self, one: Seen) -> str:
        """Give whose an action of a workflow is now that was another's before; nothing where all are as
        they were.
        """
        if one.kind != "write" or "/.github/workflows/" not in one.what:
            return ""
        before, after = (set(_ACTION.findall(data)) for data in (self.old(one), one.data))
        had = {name for _owner, name in before}
        changed = sorted(owner for owner, name in after - before if name in had)
        return changed[0].decode() if changed else ""

    def led_elsewhere(self, one: Seen) -> str:
        """Say from where packages or actions come by what a file of settings says now, where the
        instructions do not speak of it; nothing where it leads nowhere else.
        """
        if owner := self.other_owner(one):
            return f"an action comes from {owner} now"
        brought = any(folder in one.what for folder in INSTALLED_FOLDERS)
        if one.kind != "write" or brought or not one.what.endswith(PACKAGE_SETTINGS):
            return ""
        old = self.old(one)
        added = one.data.removeprefix(old).decode("utf-8", "replace")
        if not _SOURCE_LINE.search(added):
            return ""
        hosts = {host_of(found[0].rstrip("/,;)]}")) for found in _ADDRESS_IN_TEXT.finditer(added)}
        for host in sorted(hosts)[:MAX_SOURCES]:
            known = host in PACKAGE_HOSTS or host in CODE_HOSTS or self.is_given(host)
            if not known and host.encode() not in old and not self.is_spoken(host):
                return f"packages come from {host}"
        return ""

    def later_rule(self, one: Seen) -> str:
        """Give the rule for a file that runs by itself: said openly, a plain setting, or grave."""
        if self.is_declared(one):
            return "OB124"
        plain = is_plain_setting(one.what, self.old(one), one.data)
        return "OB127" if plain and not self.replaces_program() else "OB120"

    def is_declared(self, one: Seen) -> bool:
        """Tell whether a skill says openly that it changes such a file, and the scan minds nothing of
        what it adds. Who may log in is never a matter of course.
        """
        lets_in = one.what.startswith(LETS_IN)
        if one.what.startswith("~/.ssh/") and (_SSH_RUNS.search(one.data) or self.leads_ssh(one)):
            return False
        return not lets_in and self.is_told(one.what) and not self.is_risky(one)

    def leads_ssh(self, one: Seen) -> bool:
        """Tell whether every connection of ssh goes by way of a host that nobody spoke of."""
        added = one.data.removeprefix(self.old(one)).decode("utf-8", "replace")
        ways = (host_of(way.rpartition("@")[2]) for way in _SSH_WAY.findall(added))
        return any(not self.is_spoken(host) and not self.is_given(host) for host in ways)

    def is_copy(self, one: Seen) -> bool:
        """Tell whether a file is what an agent's file held before, kept beside it."""
        held = [(self.shown(decoy.path), decoy.data) for decoy in self.stage.decoys]
        held += [(each.what, each.data) for each in self.events if each.kind == "write"]
        return one.kind == "write" and any(
            one.data == data and one.what.startswith(f"{place}.") for place, data in held
        )

    def adds_server(self, one: Seen) -> bool:
        """Tell whether all that a skill changed is an MCP server that it adds, as its instructions
        say with the file's name: one by a program that the scan does not mind, or at a host that
        the instructions speak of.
        """
        more = added_servers(self.old(one), one.data)
        hosts = [host_of(found[0]) for found in _ADDRESS_IN_TEXT.finditer(more)]
        return (
            bool(more)
            and one.kind == "write"
            and "mcp" in self.text
            and one.what.lower() in self.text
            and all(self.is_spoken(host) or self.is_given(host) for host in hosts)
            and self.scan_text("added.sh", more.encode()) == "safe"
        )

    def fair_rule(self, one: Seen, rule: str) -> str:
        """Give a lesser rule for settings that a skill says it writes, and that hold what we made up."""
        ours = is_forced(one.where) and self.is_told(one.what)
        return "OB122" if rule == "OB121" and ours else rule

    def agent_rule(self, one: Seen) -> str:
        """Give the rule for a file below an agent's folder: what agents read is grave, a new skill
        of a skill that makes skills is for a person to look at, and data of its own is slight.
        """
        if self.adds_server(one):
            return "OB126"
        old = any(self.shown(decoy.path) == one.what for decoy in self.stage.decoys)
        if only_denies(self.old(one), one.data):
            return "OB126"
        _tilde, _agent, *parts = one.what.lower().split("/")
        if old or not parts or one.kind != "write":
            return "OB121"
        named = parts[0] == self.skill.name.lower() and len(parts) > 1
        own = named or (parts[0] in DATA_FOLDERS and len(parts) > 1)
        plain = one.what.lower().endswith((*DATA_ENDINGS, ".md") if named else DATA_ENDINGS)
        if own and plain and not any(word in parts[-1] for word in READ_BY_AGENTS):
            return "OB125"
        makes = parts[0] == "skills" and len(parts) > 2 and _MAKES_SKILLS.search(self.text)
        others = any(
            self.shown(decoy.path).lower().startswith(f"~/{_agent}/skills/{parts[1]}/")
            for decoy in self.stage.decoys
            if makes
        )
        safe = makes and not others and self.scan_text(one.what, one.data) == "safe"
        return "OB122" if safe else "OB121"

    def is_risky(self, one: Seen) -> bool:
        """Tell whether the scan minds what was added to a file that a shell runs."""
        return self.level_of_added(one) != "safe"

    def level_of_added(self, one: Seen) -> Level:
        """Give the level of what was added to a file: as it is, or as what it starts."""
        added = one.data.removeprefix(self.old(one))
        started = commands_in(added.decode("utf-8", "replace")).encode()
        levels = [self.scan_text("added.sh", text) for text in (added, started)]
        return max(levels, key=LEVELS.index)

    # --- what was read

    def read(self) -> Iterator[Finding]:
        """Judge decoys that were opened, and not sent."""
        sent = {place for one in self.events for place in one.canaries}
        for one in self.events:
            if one.kind != "read" or one.what not in self.canaries or one.what in sent:
                continue
            kind = self.canaries[one.what].kind
            if self.is_read_by_program(one) or self.is_about(one.what):
                continue
            if kind == "secret" and not one.what.startswith("~/."):
                continue  # a project's own .env belongs to the project's tools
            rule = "OB140" if kind in SECRET_KINDS else "OB141"
            if kind not in {"work", "input"}:
                yield self.finding(rule, f"read {one.what}", one.where)

    def is_secret(self, one: Seen) -> bool:
        """Tell whether what was read is a secret."""
        return one.what in self.canaries and self.canaries[one.what].kind in SECRET_KINDS

    def refused(self) -> Iterator[Finding]:
        """Judge calls that the sandbox refused."""
        for one in self.events:
            if one.kind == "refused" and one.what not in REFUSED_QUIETLY:
                yield self.finding("OB150", f"called {one.what}", one.where)

    def hosts(self) -> Iterator[Finding]:
        """Tell which hosts were spoken to."""
        for one in self.events:
            if one.kind != "connect":
                continue
            host = host_of(one.what)
            if host in PACKAGE_HOSTS or self.is_given(host):
                continue
            rule = "OB160" if self.is_named(host) else "OB161"
            yield self.finding(rule, f"connected to {one.what}", one.where)


def _ordered(found: Sequence[Finding]) -> list[Finding]:
    """Give every finding once, the gravest first."""
    unique = {one.fingerprint: one for one in reversed(found)}
    return sorted(unique.values(), key=lambda one: (HARMS.index(one.severity), one.rule))
