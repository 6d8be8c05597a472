"""The nouns of getting skills in and keeping them current: what a source offers, what the lock pins, what a plan would do."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Literal

    from metier.model import Finding, Level, Trust

    SourceKind = Literal["folder", "archive", "git", "file", "well-known", "marketplace", "clawhub", "bundled"]
    ItemMode = Literal["file", "exec", "link", "other"]
    Method = Literal["folder", "link", "copy"]
    Mode = Literal["add", "unchanged", "already_applied", "fast_forward", "three_way", "remove", "restore"]
else:
    SourceKind = ItemMode = Method = Mode = str

# Method: the working copy itself, a link to it, or a copy of it. Mode: what an item of a plan amounts to (BE-13).


class Request(NamedTuple):
    """A source as somebody named it, taken apart. No password or token is ever part of one."""

    kind: SourceKind
    location: str
    """An absolute path, an address, or `owner/name`."""
    ref: str = ""
    """The branch, tag, commit or version that was asked for; nothing means the source's own choice."""
    path: str = ""
    """Where in the source to look; nothing means everywhere."""
    said: str = ""
    """As it was written."""


class Origin(NamedTuple):
    """Where bytes came from, as the lock writes it."""

    kind: SourceKind
    source: str
    """The canonical address: the same for every spelling of one source."""
    ref: str = ""
    commit: str = ""
    """What it was resolved to: a commit, a version, or the sha256 of an archive. The same one gives the same bytes again."""


class Item(NamedTuple):
    """One entry of an opened source: its path inside, with `/`, as the source wrote it; nobody has judged it yet."""

    path: str
    size: int
    mode: ItemMode
    key: str = ""
    """What the source itself needs to find it again."""


class Picked(NamedTuple):
    """A skill inside an opened source."""

    name: str
    """As its document says; the folder's name where it says nothing."""
    path: str
    """Its folder inside the source; nothing for the source's own top."""
    items: tuple[Item, ...]
    description: str = ""
    plugin: str = ""
    """The plugin or group it belongs to, where a manifest says so."""


class Target(NamedTuple):
    """One place that a skill was put in."""

    agent: str
    """Empty for the working copy."""
    path: str
    """Below the folder that holds the lock (for the user's own: below the home folder), with `/`."""
    method: Method


class Judged(NamedTuple):
    """What a scan said about pinned bytes, and under which rules."""

    level: Level
    score: int
    ruleset: str


class Pinned(NamedTuple):
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
    """The tree as the source gave it: what the next update is merged against. Equal to `digest` where nothing was edited."""
    files: tuple[Pinned, ...]
    """The files of `digest`, sorted by path."""
    verdict: Judged
    approval: str = ""
    """The digest that a person approved, where that was needed; the decision itself is in this machine's own records."""
    signature: str = ""
    """The key that signed `base`, where one did."""
    targets: tuple[Target, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from every other."""
        return self.source, self.path


class Lock(NamedTuple):
    """What is pinned, sorted by name, then key."""

    pins: tuple[Pin, ...] = ()
    notes: tuple[str, ...] = ()
    """What had to be healed to read it. Never written."""

    def named(self, name: str) -> Pin | None:
        """Give the pin of a name."""
        return next((pin for pin in self.pins if pin.name == name), None)


class Step(NamedTuple):
    """One skill of a plan: what, from where, at which cost, with which verdict, and to which places."""

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
    reasons: tuple[str, ...]
    targets: tuple[Target, ...]
    gained: tuple[str, ...] = ()
    """Capabilities that the version in place does not have."""


class Conflict(NamedTuple):
    """One file that two sides changed, with what each made of it; `None` where a side has no such file."""

    name: str
    path: str
    base: str | None
    ours: str | None
    theirs: str | None
    why: str = ""


class Plan(NamedTuple):
    """What would happen: a value to look at before anything does."""

    add: tuple[Step, ...] = ()
    update: tuple[Step, ...] = ()
    remove: tuple[Step, ...] = ()
    conflicts: tuple[Conflict, ...] = ()


class Refusal(NamedTuple):
    """A skill that was not installed, and why."""

    name: str
    reasons: tuple[str, ...]
    findings: tuple[Finding, ...] = ()


class Held(NamedTuple):
    """An update that waits for a person, and why."""

    name: str
    reasons: tuple[str, ...]
    settle: bool = True
    """Whether `metier merge` settles it: it is noted, and there is something to put in place."""


class Installed(NamedTuple):
    """A skill that is in its place now."""

    name: str
    digest: str
    path: str
    """The working copy."""
    mode: Mode
    targets: tuple[Target, ...]


class Outcome(NamedTuple):
    """What an operation planned and did. `installed` is empty where nothing was done."""

    plan: Plan
    installed: tuple[Installed, ...] = ()
    refused: tuple[Refusal, ...] = ()
    held: tuple[Held, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything that was wanted was done."""
        return not self.refused and not self.held


class Synced(NamedTuple):
    """What `sync` found and did."""

    ok: bool
    changed: tuple[str, ...]
    drift: tuple[str, ...]
    notes: tuple[str, ...] = ()


class Result(NamedTuple):
    """A skill that a remote source offers."""

    name: str
    description: str
    source: str
    """What to write after `metier add`."""
    trust: Trust


class Searched(NamedTuple):
    """What was found, the most trusted first, and which sources did not answer in time."""

    results: tuple[Result, ...]
    unreachable: tuple[tuple[str, str], ...]
    """Each source with what was wrong."""


class Revision(NamedTuple):
    """One state that a working copy was in; kept on this machine, outside the lock."""

    name: str
    number: int
    digest: str
    base: str
    commit: str
    at: str
    what: str
    """What made it: `add`, `update`, `merge`, `rollback`, `edit`, `adopt`, `sync`."""
