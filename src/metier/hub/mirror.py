"""Mirrors a hub: copies what it approved to a folder or to another hub, for networks that cannot reach
it. Every release is held to its digest, to the hub's signature and to its log before it is kept.

Doing it again goes on where it broke off, and brings only what is new.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from metier.discover.io import disk
from metier.errors import IntegrityError, NotFoundError, RefusedError, UsageError
from metier.hub.examine import digest_of, unpack
from metier.hub.io.mirror_folder import MirrorFolder
from metier.hub.io.mirror_hub import MirrorHub
from metier.standard.semver import read_range, read_version, satisfies
from metier.supply.approvals import first_broken, is_signed
from metier.supply.io.hub import PromisedRelease
from metier.supply.safe_names import printable
from metier.supply.sources.hub_names import hub_base
from metier.trust.sign import key_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.context import Context
    from metier.supply.approvals import LogCopy

NEWEST = "latest"
REFUSALS = frozenset({"exists", "hub-unfit", "hub-signature"})
"""Why a hub may take no release while it takes others."""
_CHOICE = re.compile(
    r"([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:/([a-z0-9]+(?:-[a-z0-9]+)*))?(?:@(.{1,200}))?\Z"
)


class MirrorChoice(NamedTuple):
    """What is to be mirrored: a namespace or one skill, all of its versions or some."""

    namespace: str
    name: str = ""
    range: str = ""


class MirrorSource(Protocol):
    """Where releases come from: a hub, or the folder that one was mirrored to."""

    def about(self) -> dict[str, Any]:
        """Say which hub it is, with its key."""

    def names(self, namespace: str) -> Sequence[str]:
        """List the skills of a namespace."""

    def releases(self, namespace: str, name: str) -> Sequence[dict[str, Any]]:
        """List the releases of a skill, with their states."""

    def release(self, namespace: str, name: str, version: str) -> dict[str, Any]:
        """Give all that is known of a release."""

    def archive(self, told: dict[str, Any]) -> bytes:
        """Give the archive of a release."""

    def log(self, namespace: str) -> LogCopy:
        """Give the log of a namespace."""


class MirrorTarget(Protocol):
    """Where releases go."""

    def begin(self, about: dict[str, Any]) -> None:
        """Get ready to take releases of a hub."""

    def state_of(self, told: dict[str, Any]) -> str:
        """Give the state that a release has here; nothing where it is not here."""

    def put(self, told: dict[str, Any], data: bytes) -> str:
        """Keep a release; give the state that it has now."""

    def withdraw(self, told: dict[str, Any]) -> bool:
        """Hear that a release was yanked, from its entry in the log; tell whether that was new."""

    def known_log(self, namespace: str) -> LogCopy | None:
        """Give the log as it was mirrored before."""

    def put_log(self, namespace: str, log: LogCopy) -> None:
        """Keep a log."""


class NotTaken(NamedTuple):
    """A release that the other hub did not take."""

    release: str
    why: str


class MirrorReport(NamedTuple):
    """What a mirror did."""

    hub: str
    key: str
    """The id of the key that approved everything."""
    selected: int
    added: int
    there: int
    """Those that were mirrored before."""
    waiting: int
    """Of those added, what the other hub's reviewers have to decide about."""
    yanked: int
    """Those that were taken back since."""
    refused: tuple[NotTaken, ...]


def read_choice(text: str) -> MirrorChoice:
    """Read `NAMESPACE[/NAME][@RANGE]`."""
    found = _CHOICE.match(text.strip())
    wanted = (found[3] or "") if found else ""
    exact = wanted == NEWEST or not wanted or read_version(wanted) is not None
    if found is None or (not exact and read_range(wanted) is None):
        raise UsageError(
            f"'{printable(text)}' selects nothing",
            hint="write NAMESPACE, NAMESPACE/NAME or NAMESPACE/NAME@^1.2",
        )
    return MirrorChoice(found[1], found[2] or "", wanted)


def mirror_between(
    context: Context,
    origin: str,
    aim: str,
    choices: Sequence[MirrorChoice],
    expected_key: str = "",
) -> MirrorReport:
    """Mirror from a hub or a folder to a folder or a hub."""
    source, target = _end_at(context, origin), _end_at(context, aim)
    if isinstance(target, MirrorHub):
        if isinstance(source, MirrorHub) and source.base == target.base:
            raise UsageError("that is one hub", hint="mirror it to another one, or to a folder")
        return mirror(context, source, target, choices, expected_key)
    if isinstance(source, MirrorFolder):
        raise UsageError("those are two folders", hint="copy the folder")
    with target.held():
        return mirror(context, source, target, choices, expected_key)


def _end_at(context: Context, text: str) -> MirrorHub | MirrorFolder:
    if "://" in text:
        return MirrorHub(context, hub_base(text))
    return MirrorFolder(disk.absolute(text, context.cwd, context.home), context.home)


def mirror(
    context: Context,
    source: MirrorSource,
    target: MirrorTarget,
    choices: Sequence[MirrorChoice],
    expected_key: str = "",
) -> MirrorReport:
    """Bring what is selected from one place to another."""
    about = source.about()
    key = str(about["key"]).encode()
    ident = key_id(key)
    if expected_key and expected_key != ident:
        raise RefusedError(
            f"what is mirrored was approved with the key {ident}",
            code="hub-key-changed",
            hint=f"you expect {printable(expected_key)}. Ask the hub's admins which one is theirs",
        )
    target.begin(about)
    rows = _select(source, choices)
    logs = _Logs(source, target, key)
    count = _Counts()
    for row in rows:
        context.progress("mirrored", count.done, len(rows))
        _bring(context, source, target, logs, row, count)
    context.progress("mirrored", count.done, len(rows))
    return MirrorReport(
        hub=str(about.get("name", "")),
        key=ident,
        selected=len(rows),
        added=count.added,
        there=count.there,
        waiting=count.waiting,
        yanked=logs.finish(sorted({choice.namespace for choice in choices})),
        refused=tuple(count.refused),
    )


class _Counts:
    """How far a mirror has come."""

    def __init__(self) -> None:
        self.added = self.there = self.waiting = 0
        self.refused: list[NotTaken] = []

    @property
    def done(self) -> int:
        return self.added + self.there + len(self.refused)


def _bring(
    context: Context,
    source: MirrorSource,
    target: MirrorTarget,
    logs: _Logs,
    row: dict[str, Any],
    count: _Counts,
) -> None:
    """Bring one release, unless it is there."""
    if target.state_of(row):
        count.there += 1
        return
    place = (row["namespace"], row["name"], row["version"])
    told = source.release(*place)
    PromisedRelease(told, *place).check(logs.key)
    if told["digest"] != row["digest"]:
        raise _lies(f"{row['name']} {row['version']} has two digests")
    logs.check(told)
    data = source.archive(told)
    _check_archive(context, told, data)
    why = "the hub's policy rejects it"
    try:
        state = target.put(told, data)
    except RefusedError as error:
        if error.code not in REFUSALS:
            raise
        state, why = "rejected", error.message
    if state == "rejected":
        count.refused.append(NotTaken(f"{place[0]}/{place[1]}@{place[2]}", why))
        return
    count.added += 1
    count.waiting += state == "pending"


def _select(source: MirrorSource, choices: Sequence[MirrorChoice]) -> list[dict[str, Any]]:
    """Give a row for each approved release that is meant, once."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for choice in choices:
        matched = 0
        for name in [choice.name] if choice.name else source.names(choice.namespace):
            rows = [
                {**row, "namespace": choice.namespace, "name": name}
                for row in source.releases(choice.namespace, name)
                if row.get("state") == "approved"
            ]
            for row in _matching(rows, choice.range):
                found[choice.namespace, name, row["version"]] = row
                matched += 1
        if not matched and choice.range:
            raise NotFoundError(
                f"nothing approved in {choice.namespace}/{choice.name} is {choice.range}",
                hint="check the range",
            )
    return [found[place] for place in sorted(found)]


def _matching(rows: list[dict[str, Any]], wanted: str) -> list[dict[str, Any]]:
    read = [(read_version(str(row.get("version", ""))), row) for row in rows]
    known = [(version, row) for version, row in read if version and version.text == row["version"]]
    if wanted == NEWEST:
        final = [pair for pair in known if pair[0].final] or known
        return [max(final, key=lambda pair: pair[0])[1]] if final else []
    exact = read_version(wanted) if wanted else None
    if exact is not None:
        return [row for version, row in known if version.text == exact.text]
    ranges = read_range(wanted) if wanted else None
    return [row for version, row in known if ranges is None or satisfies(version, ranges)]


# --- what has to be true


def _check_archive(context: Context, told: dict[str, Any], data: bytes) -> None:
    if hashlib.sha256(data).hexdigest() != told["archive"]:
        raise _lies(f"the archive of {told['name']} {told['version']} has another hash")
    if digest_of(unpack(data, context.settings.supply)) != told["digest"]:
        raise _lies(f"{told['name']} {told['version']} unfolds to other files than were approved")


class _Logs:
    """The logs of the namespaces that are mirrored, each fetched and verified once, or again where it
    grew meanwhile.
    """

    def __init__(self, source: MirrorSource, target: MirrorTarget, key: bytes) -> None:
        self.source, self.target, self.key = source, target, key
        self.found: dict[str, LogCopy] = {}

    def check(self, told: dict[str, Any]) -> None:
        """Refuse a release whose entry is not in the log."""
        space, entry = told["namespace"], told["log"]
        if not self._has(space, entry):
            self.found.pop(space, None)  # it may have been approved since the log was fetched
            if not self._has(space, entry):
                raise _lies(f"the log of {space} does not have {told['name']} {told['version']}")

    def finish(self, spaces: list[str]) -> int:
        """Keep the logs, and take back what they say was yanked; give how many releases those were."""
        yanked = 0
        for space in spaces:
            log = self._log(space)
            self.target.put_log(space, log)
            yanked += sum(self.target.withdraw(one) for one in _yanked_in(log))
        return yanked

    def _has(self, space: str, entry: dict[str, Any]) -> bool:
        entries = self._log(space).entries
        number = entry.get("number")
        if not isinstance(number, int) or not 0 < number <= len(entries):
            return False
        return entries[number - 1]._asdict() == entry

    def _log(self, space: str) -> LogCopy:
        if space not in self.found:
            log = self.source.log(space)
            check_log(space, log, self.key, self.target.known_log(space))
            self.found[space] = log
        return self.found[space]


def _yanked_in(log: LogCopy) -> list[dict[str, Any]]:
    """Give what a log that was verified says is yanked now."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for entry in log.entries:
        said = json.loads(entry.entry)
        if said["what"] in {"approve", "yank", "unyank"}:
            found[said["name"], said["version"]] = said
    return [said for said in found.values() if said["what"] == "yank"]


def check_log(space: str, log: LogCopy, key: bytes, before: LogCopy | None) -> None:
    """Refuse a log that does not hang together, that the hub did not sign, or that is not what was
    seen before with something added.
    """
    if first_broken(log.entries) or not is_signed(space, log, key):
        raise _lies(f"the log of {space} is not good")
    known = before.entries if before is not None else ()
    if log.entries[: len(known)] != known:
        raise IntegrityError(
            f"the log of {space} is not the one that was mirrored before: its past was changed",
            code="hub-mirror",
            hint="ask the hub's admins. Nothing more was mirrored",
        )


def _lies(message: str) -> IntegrityError:
    return IntegrityError(
        message,
        code="digest",
        hint="the source, or whoever is in between, does not give what was approved. It was not kept",
    )
