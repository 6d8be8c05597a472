"""Defines the data types of getting skills in and keeping them current: what a source offers, what
the lock pins, what a plan would do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Literal

    from metier.errors import MetierError
    from metier.model import Finding, Level, Texts, Trust

    JsonObject = dict[str, Any]
    Chunks = Iterator[bytes]
    Contents = Iterator[tuple["Item", Chunks]]
    Consent = Callable[["Outcome"], bool]
    ShowDiff = Callable[[str, str], None]
    UpdateKind = Literal["unchanged", "already_applied", "fast_forward", "three_way"]

    SourceKind = Literal[
        "folder",
        "archive",
        "git",
        "file",
        "well-known",
        "marketplace",
        "clawhub",
        "bundled",
        "mcp",
        "oci",
        "hub",
    ]
    ItemMode = Literal["file", "exec", "link", "other"]
    Method = Literal["folder", "link", "copy"]
    ChangeKind = Literal["changed", "new", "gone", "binary", "mode"]
    Mode = Literal[
        "add", "unchanged", "already_applied", "fast_forward", "three_way", "remove", "restore"
    ]
    DependencyState = Literal[
        "found", "installed", "missing", "cycle", "conflict", "twin", "left out"
    ]
else:
    SourceKind = ItemMode = Method = Mode = ChangeKind = DependencyState = str

# Method: the working copy itself, a link to it, or a copy of it. Mode: what an item of a plan
# amounts to (BE-13).


class Request(NamedTuple):
    """A source as someone wrote it, parsed. It never contains a password or token."""

    kind: SourceKind
    location: str
    """An absolute path, an address, or `owner/name`."""
    ref: str = ""
    """The branch, tag, commit or version that was asked for; nothing means the source's own
    choice."""
    path: str = ""
    """Where in the source to look; nothing means everywhere."""
    said: str = ""
    """As it was written."""


class Origin(NamedTuple):
    """Where a skill came from, as the lock records it."""

    kind: SourceKind
    source: str
    """The canonical address: the same for every spelling of one source."""
    ref: str = ""
    commit: str = ""
    """What it was resolved to: a commit, a version, or the sha256 of an archive. The same one gives
    the same bytes again."""


class Item(NamedTuple):
    """One entry of an opened source: its path inside, with `/`, as the source wrote it; nobody has
    judged it yet.
    """

    path: str
    size: int
    mode: ItemMode
    key: str = ""
    """What the source itself needs to find it again."""


class SourceSkill(NamedTuple):
    """A skill inside an opened source."""

    name: str
    """As its document says; the folder's name where it says nothing."""
    path: str
    """Its folder inside the source; nothing for the source's own top."""
    items: tuple[Item, ...]
    description: str = ""
    plugin: str = ""
    """The plugin or group it belongs to, where a manifest says so."""


class InstallTarget(NamedTuple):
    """One place that a skill was put in."""

    agent: str
    """Empty for the working copy."""
    path: str
    """Below the folder that holds the lock (for the user's own: below the home folder), with
    `/`."""
    method: Method


class PinVerdict(NamedTuple):
    """What a scan said about pinned bytes, and under which rules."""

    level: Level
    score: int
    ruleset: str


class PinnedFile(NamedTuple):
    """One file of a pinned skill."""

    path: str
    sha256: str
    mode: str = ""
    """`x` for an executable, `l` for a link, nothing for any other."""


class Pin(NamedTuple):
    """One skill in the lock: the key is (source, path), the name is what it is called here."""

    name: str
    kind: SourceKind
    source: str
    path: str
    ref: str
    commit: str
    digest: str
    """The working copy as metier last wrote or recorded it."""
    base: str
    """The tree as the source gave it: what the next update is merged against. Equal to `digest`
    where nothing was edited."""
    files: tuple[PinnedFile, ...]
    """The files of `digest`, sorted by path."""
    verdict: PinVerdict
    approval: str = ""
    """The digest that a person approved, where that was needed; the decision itself is in this
    machine's own records."""
    signature: str = ""
    """The key that signed `base`, where one did."""
    targets: tuple[InstallTarget, ...] = ()
    requires: Texts = ()
    """The names of the skills that its own files say it needs, sorted."""
    dependency: bool = False
    """Whether it is here only because another skill needs it: nobody asked for it by name."""
    vouch: str = ""
    """That key's signature itself, in base64: who has the key can verify it on another machine."""

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from every other."""
        return self.source, self.path


class Lock(NamedTuple):
    """What is pinned, sorted by name, then key."""

    pins: tuple[Pin, ...] = ()
    notes: Texts = ()
    """What had to be healed to read it. Never written."""

    def named(self, name: str) -> Pin | None:
        """Give the pin of a name."""
        return next((pin for pin in self.pins if pin.name == name), None)


class FileChange(NamedTuple):
    """How much of one file a newer version changes."""

    path: str
    kind: ChangeKind
    added: int = 0
    """Lines that are new; none are counted where the file is no text."""
    removed: int = 0


class PlanStep(NamedTuple):
    """One skill of a plan: what, from where, at which cost, with which verdict, and to which
    places.
    """

    name: str
    mode: Mode
    source: str
    path: str
    ref: str
    commit: str
    digest: str
    """What the working copy would become; for a removal, what it is."""
    before: str
    """What the working copy is now; nothing where there is none."""
    files: int
    size: int
    tokens: int
    level: Trust
    verdict: Level
    score: int
    findings: tuple[Finding, ...]
    action: str
    """What the policy says about installing it: `allow`, `warn`, `ask` or `block`."""
    reasons: Texts
    targets: tuple[InstallTarget, ...]
    gained: Texts = ()
    """Capabilities that the version in place does not have."""
    changes: tuple[FileChange, ...] = ()
    """What an update changes upstream, file by file."""
    diff: str = ""
    """The same as a unified diff, where somebody asked for it."""
    needed_by: Texts = ()
    """The skills that it comes along for; nothing where somebody asked for it."""


class DependencyEdge(NamedTuple):
    """One skill that another one needs, and what became of that."""

    by: str
    name: str
    state: DependencyState
    range: str = ""
    """The versions that will do, as it is written; nothing where any will."""
    source: str = ""
    """Where it is from, or would be."""
    version: str = ""
    reason: str = ""
    """Why it is not there, or what is odd about it."""


class Conflict(NamedTuple):
    """One file that two sides changed, with what each made of it; `None` where a side has no such
    file.
    """

    name: str
    path: str
    base: str | None
    ours: str | None
    theirs: str | None
    why: str = ""


class Plan(NamedTuple):
    """What would happen: a value to look at before anything does."""

    add: tuple[PlanStep, ...] = ()
    update: tuple[PlanStep, ...] = ()
    remove: tuple[PlanStep, ...] = ()
    conflicts: tuple[Conflict, ...] = ()


class Refusal(NamedTuple):
    """A skill that was not installed, and why."""

    name: str
    reasons: Texts
    findings: tuple[Finding, ...] = ()
    verdict: str = ""
    """What a scan said; nothing where it was refused for something else."""
    score: int = 0

    @classmethod
    def of(cls, name: str, error: MetierError) -> Refusal:
        """Give the refusal that an error comes to."""
        return cls(name, (f"{error.code}: {error.message}",))


class HeldUpdate(NamedTuple):
    """An update that waits for a person, and why."""

    name: str
    reasons: Texts
    settle: bool = True
    """Whether `metier merge` settles it: it is noted, and there is something to put in place."""
    changes: tuple[FileChange, ...] = ()
    diff: str = ""


class Installed(NamedTuple):
    """A skill that is in its place now."""

    name: str
    digest: str
    path: str
    """The working copy."""
    mode: Mode
    targets: tuple[InstallTarget, ...]


class Outcome(NamedTuple):
    """What an operation planned and did. `installed` is empty if nothing was done."""

    plan: Plan
    installed: tuple[Installed, ...] = ()
    refused: tuple[Refusal, ...] = ()
    held: tuple[HeldUpdate, ...] = ()
    notes: Texts = ()
    dependencies: tuple[DependencyEdge, ...] = ()
    """Which skill of the plan needs which other."""

    @property
    def ok(self) -> bool:
        """Whether everything that was wanted was done."""
        return not self.refused and not self.held


class SyncOutcome(NamedTuple):
    """What `sync` found and did."""

    ok: bool
    changed: Texts
    drift: Texts
    notes: Texts = ()


class SearchResult(NamedTuple):
    """A skill that a remote source offers."""

    name: str
    description: str
    source: str
    """What to write after `metier add`."""
    trust: Trust


class SearchOutcome(NamedTuple):
    """What was found, the most trusted first, and which sources did not answer in time."""

    results: tuple[SearchResult, ...]
    unreachable: tuple[tuple[str, str], ...]
    """Each source with what was wrong."""


class Revision(NamedTuple):
    """One state of an installed skill. Revisions are kept on this machine, outside the lock."""

    name: str
    number: int
    digest: str
    base: str
    commit: str
    at: str
    what: str
    """What made it: `add`, `update`, `merge`, `rollback`, `edit`, `adopt`, `sync`."""


class LockedSkill(NamedTuple):
    """A skill that was installed from a source, as the lock has it."""

    name: str
    scope: str
    """`project` or `user`."""
    source: str
    ref: str
    commit: str
    digest: str
    path: str
    """Its working copy."""
    revisions: int
    """How many states of it are kept, the one in place too."""
    waiting: str
    """The candidate that an update of it waits as; nothing where none does."""


def classify(base: str, local: str, upstream: str) -> UpdateKind:
    """Say how a working copy stands to what its source has now, in the order of BE-13."""
    if upstream == base:
        return "unchanged"
    if local == upstream:
        return "already_applied"
    return "fast_forward" if local == base else "three_way"
