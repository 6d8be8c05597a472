"""Makes a verdict of what was seen: each finding has an event as its evidence. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from metier.model import Finding
from metier.run.observe.canaries import find_canaries, find_in_pieces, is_opaque
from metier.run.observe.model import MARK_DOMAIN, PACKAGE_MARK
from metier.run.observe.places import (
    AGENT_FILES,
    CODE_HOSTS,
    COMMON_PROGRAMS,
    OWN_DATA,
    OWN_PROGRAMS_FOLDER,
    PACKAGE_HOSTS,
    PACKAGE_PROGRAMS,
    PROGRAM_FILES,
    PROJECT_AGENT_FILES,
    SECRET_KINDS,
    SPOKEN_NAMES,
    STARTS_LATER,
    STARTS_WITH_PYTHON,
    VENDORS,
)
from metier.run.observe.repository import unpack
from metier.scan.cache import HARMS
from metier.scan.engine import fingerprint
from metier.scan.rules.shell import INSTALLERS
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
_ADDRESS = re.compile(
    rb"\b(?:0x[0-9a-fA-F]{40}|bc1[a-z0-9]{20,60}|[13][a-km-zA-HJ-NP-Z1-9]{25,34}|[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7})\b"
)
_NO_FILES = ("\0",)
_GREETING, _MAX_GREETING = b"\x16\x03", 4096
"""How the first message of an encrypted connection begins, and how long one gets."""


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
        evidence = f"{_short(where)} {deed}" if where else deed
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
                yield from self.taken(one.canaries, one.what, one.where, one.size)

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
                find_canaries(b"".join(_labels(name) for name in names), self.stage.canaries)
                if names
                else ()
            )
            known = {place for one in parts for place in one.canaries}
            places = {*whole, *find_in_pieces(texts, self.stage.canaries)} - known
            if places:
                yield from self.taken(places, host, parts[0].where, sizes)

    def taken(self, places: Iterable[str], to: str, where: str, size: int) -> Iterator[Finding]:
        """Judge secrets that reached a host."""
        host = host_of(to)
        for place in dict.fromkeys(places):
            canary = self.canaries[place]
            if self.is_meant(canary, host):
                continue
            rule = "OB101" if canary.kind in {*SECRET_KINDS, "asked"} else "OB102"
            if canary.kind == "work" and (self.is_named(host) or self.is_vendor(host)):
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

    def is_named(self, host: str) -> bool:
        """Tell whether the skill's instructions name a host, or the domain that it is in."""
        low = host.lower()
        return any(
            low == one or low.endswith(f".{one}") or one.endswith(f".{low}") for one in self.named
        )

    def is_vendor(self, host: str) -> bool:
        """Tell whether a skill says in its head whose host this is: `deploy-to-vercel`."""
        label = host.lower().split(".")[-2:-1]
        head = f"{self.skill.name}\n{self.text.partition(chr(10) + '---')[0]}".lower()
        return (
            bool(label)
            and len(label[0]) > 3
            and re.search(rf"\b{re.escape(label[0])}\b", head) is not None
        )

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
                    and not _is_greeting(one.data)
                    and is_opaque(_body(one.data))
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
                key=lambda each: (one.what.encode() not in each.data, _is_installer(each.what))
            )
            place = sources[0].what if sources else "the network"
            if one.what.startswith(PACKAGE_MARK):
                yield self.finding("OB112", f"ran code of a package from {place}", one.where)
            elif _is_installer(place):
                yield self.finding("OB111", f"ran {place}", one.where)
            else:
                yield self.finding("OB110", f"ran what it got from {place}", one.where)

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
                host = host_of(address) if "://" in address else _scp_host(address)
                if host and host not in CODE_HOSTS and not self.is_given(host):
                    deed = f"pushed the project's repository to {host}"
                    yield self.finding("OB105", deed, one.where)

    def shells(self) -> Iterator[Finding]:
        """Judge shells that were tied to a connection."""
        for where, events in self.by_try().items():
            joined = [
                one
                for one in events
                if one.kind == "connect" and not one.what.endswith((":80", ":443", ":53"))
            ]
            shell = next(
                (
                    one
                    for one in events
                    if one.kind == "exec"
                    and re.search(
                        r"(?:^|/)(?:ba|z|k|da)?sh\b.* -i\b|pty\.spawn|(?:^|/)(?:nc|ncat|socat)\b.*(?: -e|EXEC)",
                        one.what,
                    )
                ),
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
                rule = "OB121"
            elif one.kind == "write" and _starts_later(one.what):
                rule = "OB124" if self.is_declared(one) else "OB120"
            elif inside != one.what and inside.startswith(PROJECT_AGENT_FILES):
                rule = "OB122"
            else:
                continue
            yield self.finding(rule, evidence, one.where)
            if rule in {"OB121", "OB122"} and self.scan_text(one.what, one.data) == "dangerous":
                yield self.finding("OB123", evidence, one.where)

    def is_declared(self, one: Seen) -> bool:
        """Tell whether a skill says openly that it changes such a file, and the scan minds nothing of
        what it adds. Who may log in is never a matter of course.
        """
        lets_in = one.what.startswith("~/.ssh/")
        return not lets_in and self.is_about(one.what) and not self.is_risky(one)

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
            if one.kind == "remove" and (personal or one.what == f"{git}HEAD"):
                yield self.finding("OB130", evidence, one.where)
            elif one.kind == "write" and one.data != old:
                plain = len(old) > 60 and "/.git/" not in one.what and not is_opaque(old)
                if plain and _is_scrambled(old, one.data):
                    yield self.finding("OB131", evidence, one.where)
                elif _has_other_address(old, one.data):
                    yield self.finding("OB132", evidence, one.where)
                elif personal and not one.data.startswith(old[: len(old) // 2]):
                    yield self.finding("OB130", evidence, one.where)
        yield from self.rewritten(git)
        gone = [one for one in self.events if one.kind == "remove" and self.is_work(one.what)]
        if len(gone) >= 3:
            names = ", ".join(one.what for one in gone[:3])
            yield self.finding(
                "OB130",
                f"removed {len(gone)} files: {names}",
                gone[0].where,
            )

    def rewritten(self, git: str) -> Iterator[Finding]:
        """Judge a branch that was moved to a commit without a past: its history is lost."""
        made = [
            one
            for one in self.events
            if one.kind == "write" and one.what.startswith(f"{git}objects/")
        ]
        for one in self.events:
            if one.kind != "write" or not one.what.startswith(f"{git}refs/heads/"):
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
        started = {
            word.rpartition("/")[2]
            for each in self.events
            if each.kind == "exec" and each.where == one.where
            for word in each.what.split()[:2]
        }
        started.add(one.program.rpartition("/")[2])
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


def _scp_host(word: str) -> str:
    """Give the host of `git@host:path`; nothing for anything else."""
    match = re.fullmatch(r"[\w.-]+@([\w.-]+):\S*", word)
    return match[1] if match else ""


def _starts_later(shown: str) -> bool:
    """Tell whether a file runs by itself, or in the place of a program that people start."""
    if shown.startswith(OWN_PROGRAMS_FOLDER):
        return shown.removeprefix(OWN_PROGRAMS_FOLDER) in COMMON_PROGRAMS
    return shown.startswith(STARTS_LATER) or (
        shown.startswith("~/.local/lib/") and shown.endswith(STARTS_WITH_PYTHON)
    )


def _short(where: str) -> str:
    return where if len(where) <= 60 else where[:59] + "…"


def _labels(name: bytes) -> bytes:
    """Give what stands in a looked up name before its domain, without dots."""
    return b"".join(name.split(b".")[:-2])


def _body(data: bytes) -> bytes:
    """Give what a request carries, without its head."""
    head, gap, body = data.partition(b"\r\n\r\n")
    return body if gap and head[:8].split(b" ")[0].isupper() else data


def _is_greeting(data: bytes) -> bool:
    """Tell whether bytes are no more than the greeting of an encrypted connection, which was given
    up when it met our certificate. Whoever writes only the beginning of one hides something.
    """
    whole = int.from_bytes(data[3:5], "big") + 5
    return data.startswith(_GREETING) and data[5:6] == b"\1" and len(data) == whole <= _MAX_GREETING


def _is_installer(place: str) -> bool:
    """Tell whether an address is one of the well-known installers, whole names of hosts only."""
    rest = place.partition("://")[2].lower()
    host = rest.partition("/")[0]
    return any(rest.startswith(one) if "/" in one else host == one for one in INSTALLERS)


def _is_scrambled(old: bytes, new: bytes) -> bool:
    """Tell whether a text was replaced by something that nobody can read."""
    shared = {line for line in old.split(b"\n") if len(line) > 8} & set(new.split(b"\n"))
    return not shared and is_opaque(new)


def _has_other_address(old: bytes, new: bytes) -> bool:
    """Tell whether an account or a wallet in a text became another one."""
    before, after = set(_ADDRESS.findall(old)), set(_ADDRESS.findall(new))
    return bool(before - after) and bool(after - before)
