"""Makes a verdict of what was seen: each finding has an event as its evidence. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from metier.model import Finding
from metier.run.observe.canaries import find_canaries, find_in_pieces, is_opaque
from metier.run.observe.model import CLONE_MARK, MARK_DOMAIN, PACKAGE_MARK
from metier.run.observe.places import (
    AGENT_FILES,
    CODE_HOSTS,
    DATA_ENDINGS,
    DATA_FOLDERS,
    GENERATED_FILES,
    GENERIC_WORDS,
    LETS_IN,
    OWN_DATA,
    PACKAGE_HOSTS,
    PACKAGE_PROGRAMS,
    PROGRAM_FILES,
    PROJECT_AGENT_FILES,
    READ_BY_AGENTS,
    SECRET_KINDS,
    SPOKEN_NAMES,
    SPOKEN_PLACES,
    VENDORS,
)
from metier.run.observe.repository import unpack
from metier.run.observe.signs import (
    body,
    has_other_address,
    is_greeting,
    is_installer,
    is_scrambled,
    labels,
    only_paths,
    owner_of,
    scp_host,
    short,
    starts_later,
)
from metier.scan.cache import HARMS
from metier.scan.engine import fingerprint
from metier.scan.ruleset import OBSERVED_RULES
from metier.scan.waive import add_observed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from metier.model import Level
    from metier.run.observe.model import Canary, Seen, Stage, WatchRecord
    from metier.run.observe.plan import ReadSkill

MAX_TEXT_CHARS = 200
GIVEN_DOMAIN = "example.org"
"""In this lie all hosts that the stage gives as arguments and in variables."""
REFUSED_QUIETLY = frozenset({"io_uring_setup", "userfaultfd", "memfd_create", "clone3", "keyctl"})
"""Calls that ordinary programs try and do without: no sign of anything."""
_HOST_IN_TEXT = re.compile(
    r"(?<![\w.-])((?:[a-z0-9-]+\.)+[a-z]{2,}|\d{1,3}(?:\.\d{1,3}){3})", re.IGNORECASE
)
_SHELL_GIVEN = re.compile(
    r"(?<![\w.-])(?:ba|z|k|da)?sh(?:\s+-\w+)*?\s+-\w*i\w*(?!\S)|pty\.spawn"
    r"|(?:^|/)(?:nc|ncat|socat)\b.*(?: -e|EXEC)"
)
"""A shell that takes its orders from whatever it is tied to. A script's own option -i is none."""
_MAKES_SKILLS = re.compile(
    r"\b(?:creat|scaffold|generat|install|add|writ)\w*\b[^.\n]{0,40}\bskills?\b"
)
_SSH_RUNS = re.compile(
    rb"^\s*(?:proxycommand|localcommand|permitlocalcommand|match\b.*\bexec)",
    re.IGNORECASE | re.MULTILINE,
)
_NO_FILES = ("\0",)


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
    findings = judging.findings()
    level, _score = add_observed("safe", 0, findings)
    return ObserveVerdict(level, tuple(findings), tuple(judging.events))


def host_of(what: str) -> str:
    """Give the host of `host:port`, `host` or an address with a scheme."""
    text = what.partition("://")[2].partition("/")[0] if "://" in what else what
    text = text.partition(" ")[0]
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.rpartition(":")[0] if text.count(":") == 1 else text


class _Judging:
    """Holds what is known while one skill is judged."""

    def __init__(
        self,
        skill: ReadSkill,
        stage: Stage,
        watched: WatchRecord,
        scan_text: Callable[[str, bytes], Level],
    ) -> None:
        self.skill, self.stage, self.watched, self.scan_text = skill, stage, watched, scan_text
        self.events = [self.marked(one) for one in watched.events]
        text = skill.files.get(skill.main, b"").decode("utf-8", "replace")
        self.text = text.lower()
        self.named = {host.lower() for host in _HOST_IN_TEXT.findall(text)}
        self.canaries = {one.place: one for one in stage.canaries}
        self.given = {
            host.lower()
            for _name, value in stage.variables
            for host in _HOST_IN_TEXT.findall(value)
        }

    def marked(self, seen: Seen) -> Seen:
        """Find the canaries in what was sent."""
        if seen.kind != "send" or seen.canaries:
            return seen
        return seen._replace(canaries=find_canaries(seen.data, self.stage.canaries))

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
            *self.destroyed(),
            *self.read(),
            *self.refused(),
            *self.hosts(),
        ]
        if not self.watched.complete:
            found.append(self.finding("OB170", "the record is not whole", ""))
        unique = {one.fingerprint: one for one in reversed(found)}
        return sorted(unique.values(), key=lambda one: (HARMS.index(one.severity), one.rule))

    def finding(self, rule: str, deed: str, where: str, key: str = "") -> Finding:
        """Make a finding: the event is its evidence, and the try its place. The same deed of several
        tries has one fingerprint; `key` is what of it stays the same every time.
        """
        row = OBSERVED_RULES[rule]
        evidence = f"{short(where)} {deed}" if where else deed
        path = where.partition(" ")[0] if where.partition(" ")[0] in self.skill.files else ""
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
            fingerprint=fingerprint(rule, "", key or deed, 1),
        )

    # --- what left

    def sent(self) -> Iterator[Finding]:
        """Judge canaries that were sent in one piece."""
        for one in self.events:
            if one.kind == "send" and one.canaries:
                yield from self.taken(one.canaries, one.what, one.where, one.size, one.data)

    def sent_in_pieces(self) -> Iterator[Finding]:
        """Judge canaries that went out bit by bit: over requests to one host, or in names."""
        streams: dict[str, list[Seen]] = defaultdict(list)
        for one in self.events:
            if one.kind == "send":
                streams[host_of(one.what)].append(one)
            elif one.kind == "lookup" and not one.what.endswith(f".{MARK_DOMAIN}"):
                streams[".".join(one.what.split(".")[-2:])].append(one)
        for host, parts in streams.items():
            texts = [one.data or one.what.encode() for one in parts]
            sizes = sum(one.size or len(text) for one, text in zip(parts, texts, strict=True))
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
        self, places: Iterable[str], to: str, where: str, size: int, data: bytes = b""
    ) -> Iterator[Finding]:
        """Judge secrets that reached a host."""
        host = host_of(to)
        for place in dict.fromkeys(places):
            canary = self.canaries[place]
            meant = self.is_meant(canary, host)
            if meant and self.is_spoken_of(canary, host, where, data):
                continue
            rule = "OB101" if canary.kind in {*SECRET_KINDS, "asked"} else "OB102"
            if meant or self.is_namesake(canary, host):
                rule = "OB106"
            elif canary.kind == "work" and (self.is_named(host) or self.is_spoken(host)):
                rule = "OB104"  # a tool that deploys or checks a project has to send it
            deed = f"sent {place} (canary) to {to}, {size:,} bytes"
            yield self.finding(rule, deed, where, f"{place} {host}")

    def is_meant(self, canary: Canary, host: str) -> bool:
        """Tell whether a secret went where it belongs: to its own vendor, or to the host that a
        skill names, which asked for a secret of its own.
        """
        vendors = [
            host_ for part, hosts in VENDORS.items() if part in canary.place for host_ in hosts
        ]
        if any(host == one or host.endswith(f".{one}") for one in vendors):
            return True
        if canary.kind == "work" and host in {"github.com", "api.github.com"}:
            return True  # the project's own remote
        if canary.kind == "asked" and self.is_given(host):
            return True
        asked = canary.kind == "asked" or canary.place.startswith("$")
        declared = canary.place.removeprefix("$").lower() in self.text
        foreign = bool(vendors)
        return asked and declared and not foreign and (self.is_named(host) or self.is_given(host))

    def is_namesake(self, canary: Canary, host: str) -> bool:
        """Tell whether a variable that the skill asks for is called after the host that gets it."""
        words = {word for word in canary.place.lower().strip("$").split("_") if len(word) > 3}
        return canary.kind == "asked" and owner_of(host) in words - GENERIC_WORDS

    def is_spoken_of(self, canary: Canary, host: str, where: str, data: bytes) -> bool:
        """Tell whether a secret goes to its vendor in the open: by the vendor's own program, or as
        the instructions say. A whole file of secrets is no way to log in.
        """
        if canary.kind == "work":
            return True
        started = self.programs(where)
        own = any(canary.place.startswith(PROGRAM_FILES.get(one, _NO_FILES)) for one in started)
        if canary.place.startswith("~"):
            return own or (self.is_spoken(host) and not find_canaries(body(data), (canary,)))
        said = canary.place.removeprefix("$").lower() in self.text
        tools = started & {"git", "gh", "npm", "npx", "aws", "gcloud", "docker", "twine", "az"}
        return said or bool(tools) or self.is_spoken(host) or self.is_given(host)

    def is_spoken(self, host: str) -> bool:
        """Tell whether the instructions speak of a host, or of whose it is."""
        label = owner_of(host)
        spoken = len(label) > 3 and re.search(rf"(?<![a-z]){re.escape(label)}(?![a-z])", self.text)
        return self.is_named(host) or bool(spoken)

    def programs(self, where: str) -> set[str]:
        """Give the programs that one try started, by their names."""
        return {
            word.rpartition("/")[2]
            for each in self.events
            if each.kind == "exec" and each.where == where
            for word in each.what.split()[:2]
        }

    def is_named(self, host: str) -> bool:
        """Tell whether the skill's instructions name a host, or the domain that it is in."""
        low = host.lower()
        return any(
            low == one or low.endswith(f".{one}") or one.endswith(f".{low}") for one in self.named
        )

    def is_vendor(self, host: str) -> bool:
        """Tell whether a skill says in its head whose host this is: `deploy-to-vercel`."""
        label = owner_of(host)
        head = f"{self.skill.name}\n{self.text.partition(chr(10) + '---')[0]}".lower()
        return len(label) > 3 and re.search(rf"\b{re.escape(label)}\b", head) is not None

    def is_given(self, host: str) -> bool:
        """Tell whether the host is one that we gave as an argument or in a variable."""
        low = host.lower()
        return low == GIVEN_DOMAIN or low.endswith(f".{GIVEN_DOMAIN}") or low in self.given

    def opaque(self) -> Iterator[Finding]:
        """Judge unreadable bytes that left after secrets were read in the same try."""
        for where, events in self.by_try().items():
            secrets = [
                one
                for one in events
                if one.kind == "read" and self.is_secret(one) and not self.is_read_by_program(one)
            ]
            for one in events:
                if (
                    secrets
                    and one.kind == "send"
                    and not one.canaries
                    and not self.is_named(host_of(one.what))
                    and not self.is_given(host_of(one.what))
                    and not self.is_vendor(host_of(one.what))
                    and not is_greeting(one.data)
                    and is_opaque(body(one.data))
                ):
                    deed = f"read {secrets[0].what}, then sent {one.size:,} unreadable bytes to {one.what}"
                    yield self.finding("OB103", deed, where, host_of(one.what))

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
            sources = [each for each in handed if each.where == one.where]
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
        name = address.partition("://")[2].partition("/")[2].removesuffix(".git").lower()
        return host_of(address) in CODE_HOSTS and bool(name) and name in self.text

    def packages(self) -> Iterator[Finding]:
        """Judge packages by the host that they came from."""
        for one in self.events:
            words = one.what.split() if one.kind == "exec" else []
            if not PACKAGE_PROGRAMS & {word.rpartition("/")[2] for word in words[:4]}:
                continue
            for word in words:
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
                if host and host not in CODE_HOSTS and not self.is_given(host):
                    deed = f"pushed the project's repository to {host}"
                    rule = "OB104" if self.is_vendor(host) else "OB105"
                    yield self.finding(rule, deed, one.where)

    def shells(self) -> Iterator[Finding]:
        """Judge shells that were tied to a connection."""
        for where, events in self.by_try().items():
            joined = [
                one
                for one in events
                if one.kind == "connect" and not one.what.endswith((":80", ":443", ":53"))
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
                rule = self.agent_rule(one)
            elif one.kind == "write" and starts_later(one.what) and not only_paths(one):
                rule = "OB124" if self.is_declared(one) else "OB120"
            elif inside != one.what and inside.startswith(PROJECT_AGENT_FILES):
                rule = "OB122"
            else:
                continue
            yield self.finding(rule, evidence, one.where)
            if (
                rule in {"OB121", "OB122", "OB125"}
                and self.scan_text(one.what, one.data) == "dangerous"
            ):
                yield self.finding("OB123", evidence, one.where)

    def is_declared(self, one: Seen) -> bool:
        """Tell whether a skill says openly that it changes such a file, and the scan minds nothing of
        what it adds. Who may log in is never a matter of course.
        """
        lets_in = one.what.startswith(LETS_IN)
        if one.what.startswith("~/.ssh/") and _SSH_RUNS.search(one.data):
            return False
        return not lets_in and self.is_told(one.what) and not self.is_risky(one)

    def is_told(self, place: str) -> bool:
        """Tell whether the instructions say that they change a file that runs by itself, by its name
        or as people speak of it.
        """
        words = (
            one for start, some in SPOKEN_PLACES.items() if place.startswith(start) for one in some
        )
        return self.is_about(place) or any(word in self.text for word in words)

    def agent_rule(self, one: Seen) -> str:
        """Give the rule for a file below an agent's folder: what agents read is grave, a new skill
        of a skill that makes skills is for a person to look at, and data of its own is slight.
        """
        old = any(self.shown(decoy.path) == one.what for decoy in self.stage.decoys)
        _tilde, _agent, *parts = one.what.lower().split("/")
        if old or not parts or one.kind != "write":
            return "OB121"
        own = parts[0] in {*DATA_FOLDERS, self.skill.name.lower()} and len(parts) > 1
        plain = one.what.lower().endswith(DATA_ENDINGS)
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
        before = next((d.data for d in self.stage.decoys if self.shown(d.path) == one.what), b"")
        added = one.data.removeprefix(before)
        return self.scan_text("added.sh", added) != "safe"

    def destroyed(self) -> Iterator[Finding]:
        """Judge files of the user's that are gone, unreadable, or say something else."""
        before = {self.shown(one.path): one.data for one in self.stage.decoys}
        home = [f"~/{folder}" for folder in OWN_DATA]
        git = f"{self.shown(self.stage.project)}/.git/"
        for one in self.events:
            old = before.get(one.what)
            if old is None:
                continue
            personal = one.what.startswith(tuple(home))
            evidence = f"{'removed' if one.kind == 'remove' else 'changed'} {one.what}"
            if one.kind == "remove" and personal and self.is_kept(one, old):
                yield self.finding("OB133", evidence.replace("removed", "moved"), one.where)
            elif one.kind == "remove" and (personal or one.what == f"{git}HEAD"):
                yield self.finding("OB130", evidence, one.where)
            elif one.kind == "write" and one.data != old:
                plain = len(old) > 60 and "/.git/" not in one.what and not is_opaque(old)
                made = not personal and one.what.endswith(GENERATED_FILES)
                if plain and not made and is_scrambled(old, one.data):
                    yield self.finding("OB131", evidence, one.where)
                elif has_other_address(old, one.data):
                    yield self.finding("OB132", evidence, one.where)
                elif personal and not one.data.startswith(old[: len(old) // 2]):
                    yield self.finding("OB130", evidence, one.where)
        yield from self.rewritten(git)
        yield from self.lost_work(before)

    def lost_work(self, before: dict[str, bytes]) -> Iterator[Finding]:
        """Judge the project's sources that are gone; not what the skill made itself."""
        own: set[str] = set()
        gone = []
        for one in self.events:
            if one.kind == "write":
                own.add(one.what)
            elif one.kind == "remove" and self.is_work(one.what):
                known = one.what in before
                if (known or one.what not in own) and not self.is_kept(one, before.get(one.what)):
                    gone.append(one)
        if len(gone) >= 3:
            names = ", ".join(one.what for one in gone[:3])
            yield self.finding(
                "OB130",
                f"removed {len(gone)} files: {names}",
                gone[0].where,
            )

    def is_kept(self, gone: Seen, old: bytes | None) -> bool:
        """Tell whether what a removed file held lies somewhere in the home in the end: it was moved,
        or came back.
        """
        last = {one.what: one for one in self.events if one.kind in {"write", "remove"}}
        return bool(old) and any(
            one.kind == "write" and one.data == old and one.what.startswith("~/")
            for one in last.values()
            if one is not gone
        )

    def rewritten(self, git: str) -> Iterator[Finding]:
        """Judge a branch that was moved to a commit without a past: its history is lost."""
        made = [
            one
            for one in self.events
            if one.kind == "write" and one.what.startswith(f"{git}objects/")
        ]
        branches = {self.shown(one.path) for one in self.stage.decoys}
        for one in self.events:
            fresh = one.what not in branches  # a branch that was not there has no past to lose
            if one.kind != "write" or not one.what.startswith(f"{git}refs/heads/") or fresh:
                continue
            name = one.data.strip().decode("ascii", "replace")
            place = f"{git}objects/{name[:2]}/{name[2:]}"
            commit = next((each.data for each in made if each.what == place), b"")
            if commit and b"\nparent " not in unpack(commit):
                yield self.finding("OB130", f"threw away the history of {one.what}", one.where)

    def is_work(self, shown: str) -> bool:
        """Tell whether a path is source of the project, as opposed to what a build makes."""
        inside = shown.removeprefix(self.shown(self.stage.project) + "/")
        return inside != shown and inside.startswith(("src/", "tests/", "docs/", "config/"))

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
            if kind != "work":
                yield self.finding(rule, f"read {one.what}", one.where)

    def is_read_by_program(self, one: Seen) -> bool:
        """Tell whether a program of this try reads such a file by itself, as ssh does its keys."""
        started = {*self.programs(one.where), one.program.rpartition("/")[2]}
        return any(one.what.startswith(PROGRAM_FILES.get(name, _NO_FILES)) for name in started)

    def is_secret(self, one: Seen) -> bool:
        """Tell whether what was read is a secret."""
        return one.what in self.canaries and self.canaries[one.what].kind in SECRET_KINDS

    def is_about(self, place: str) -> bool:
        """Tell whether the instructions speak of a file openly, by its name."""
        name = place.rpartition("/")[2].lower()
        folder = place.split("/")[1].lower() if "/" in place else ""
        words = SPOKEN_NAMES.get(name, name.lstrip("."))
        return (
            name in self.text
            or words in self.text
            or (len(folder) > 4 and f"~/{folder}" in self.text)
        )

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

    def shown(self, path: str) -> str:
        """Give a path as events name it: below the home with a tilde."""
        home = self.stage.home
        return f"~{path[len(home) :]}" if path.startswith(f"{home}/") else path
