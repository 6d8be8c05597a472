"""The nouns that cross stages: frozen values, built once, never changed.

They are named tuples and not dataclasses because a listing must cost milliseconds: importing `dataclasses` alone
takes about as long as starting Python, and a named tuple is built in C (docs/adr/0002).
"""

from __future__ import annotations

from metier.light import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal, NewType

    Digest = NewType("Digest", str)
    SkillName = NewType("SkillName", str)
    Severity = Literal["error", "warning", "info"]
    Scope = Literal["project", "user", "system", "admin", "plugin", "external", "package"]
    Kind = Literal["skill-md", "flat-md", "code"]
    State = Literal["visible", "hidden", "shadowed", "ask", "quarantined", "blocked", "invalid"]
    Readiness = Literal["available", "setup_needed", "unsupported"]
    Links = Literal["follow", "contained", "never"]
    Harm = Literal["critical", "high", "medium", "low", "info"]
    Level = Literal["safe", "caution", "dangerous"]
    Trust = Literal["builtin", "trusted", "verified", "community", "quarantined", "blocked"]
    Phase = Literal["install", "load", "run"]
    Action = Literal["allow", "warn", "ask", "block"]
    Key = bytes
else:
    Digest = SkillName = Severity = Scope = Kind = State = Readiness = Links = Harm = Level = Trust = Phase = Action = str
    Key = bytes

# Digest: `sha256:…` of a canonical skill tree. SkillName: a name that has passed the standard's rules.
# Key: what tells that a file or folder is still the one that was read: inode, mtime, ctime and size, packed.

SCOPES: tuple[Scope, ...] = ("project", "user", "system", "admin", "plugin", "external", "package")

KEY_BYTES = 32
NO_KEY = bytes(KEY_BYTES)
"""The key of what could not be looked at. It matches nothing."""
MANIFESTS = (".codex-plugin/plugin.json", ".claude-plugin/plugin.json", ".cursor-plugin/plugin.json", "plugin.json")
"""Where a manifest may lie in a plugin's folder, in the order they are tried (CX-30)."""

HEAD_BYTES = 4 * 1024
"""The first read of a file. Nearly every real frontmatter ends well before this."""
MANIFEST_BYTES = 256 * 1024 + 1
"""How much of a manifest is read: one byte more than any may have."""


class Diagnostic(NamedTuple):
    """The text breaks the standard: which rule, where, and what to do. Lines and columns count from 1."""

    code: str
    severity: Severity
    message: str
    path: str = "SKILL.md"
    line: int = 0
    column: int = 0
    hint: str = ""


class Finding(NamedTuple):
    """The content may do harm: which rule, where, what was seen, why it matters and what to do."""

    rule: str
    severity: Harm
    category: str
    path: str
    line: int
    column: int
    evidence: str
    why: str
    hint: str
    fingerprint: str = ""
    """Names this finding wherever its line moves to: what a baseline and a waiver refer to."""


class Verdict(NamedTuple):
    """What a skill's tree might do: a function of the tree's digest and the ruleset's, and of nothing else."""

    digest: Digest | None
    ruleset: str
    level: Level
    score: int
    """0 is as safe as can be seen, 100 as dangerous."""
    findings: tuple[Finding, ...]


class Limits(NamedTuple):
    """How far a walk goes in one root. Reaching one is always reported."""

    depth: int = 12
    folders: int = 400_000
    entries: int = 4_000_000


class Root(NamedTuple):
    """One folder to look for skills in, and the rule or setting that named it."""

    location: str
    scope: Scope
    agent: str
    told_by: str
    links: Links = "follow"
    within: str = ""
    """With links = contained: the folder that a link's target must stay inside."""
    named: bool = False
    """Whether a person named it, so that its absence is worth a word and a manifest above it counts."""
    newest_first: bool = False
    """Whether it keeps versions side by side, of which the highest counts."""
    limits: Limits | None = None
    """Tighter limits for this root alone, as a project may ask for."""
    hidden: bool = False
    """Whether folders whose names begin with a dot are searched too, as when a whole project is checked."""
    project: str = ""
    """The project it belongs to, whose skills wait until a person trusts it (decision 18); nothing for any other root."""


class Problem(NamedTuple):
    """Something about a place, not about one skill: it could not be read, was not followed, or was cut short."""

    path: str
    code: str
    message: str


class Tool(NamedTuple):
    """One tool that a skill's sidecar says it depends on."""

    type: str
    value: str
    description: str = ""
    transport: str = ""
    command: str = ""
    url: str = ""


class Sidecar(NamedTuple):
    """What `agents/openai.yaml` adds to a skill."""

    interface: dict[str, str]
    tools: tuple[Tool, ...]
    allow_implicit: bool
    products: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]


class Document(NamedTuple):
    """What a skill's own file says. `fields` holds every key as written; all scalars are text."""

    kind: Kind
    name: str
    description: str
    fields: dict[str, Any]
    body_at: int
    """Byte offset of the body in the file."""
    body_line: int
    spans: dict[str, tuple[int, int]]
    diagnostics: tuple[Diagnostic, ...]


class Gates(NamedTuple):
    """Conditions under which a skill is offered at all."""

    platforms: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    products: tuple[str, ...] = ()
    requires_tools: tuple[str, ...] = ()
    requires_toolsets: tuple[str, ...] = ()
    fallback_for_tools: tuple[str, ...] = ()
    fallback_for_toolsets: tuple[str, ...] = ()
    model_hidden: str = ""
    """The field that keeps the skill from being offered to a model, or nothing."""


class Needs(NamedTuple):
    """What must be there before a skill can do its work."""

    env: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    """`a|b` means either."""
    tools: tuple[str, ...] = ()
    help: str = ""
    packages: tuple[str, ...] = ()
    """Python distributions."""
    servers: tuple[str, ...] = ()
    """MCP servers by name, each with its identity after a `|` where that is known (CX-50)."""
    skills: tuple[str, ...] = ()
    """Other skills that it builds on."""
    systems: tuple[str, ...] = ()
    """Operating systems that its own words limit it to; what holds it back on others is `Gates.platforms`."""


class Entry(NamedTuple):
    """One skill as it lies on disk: all that a listing needs, whoever asks."""

    kind: Kind
    path: str
    """The skill's folder; for flat and code skills the file."""
    file: str
    """The name of the file that was read, below `path`; empty when `path` is the file."""
    real: str
    """The canonical path when it differs from `path`; otherwise empty."""
    name: str
    description: str
    category: str
    plugin: str
    tokens: int
    size: int
    gates: Gates | None
    needs: Needs | None
    diagnostics: tuple[Diagnostic, ...]

    @property
    def identity(self) -> str:
        """The canonical path: two entries with one identity are one skill."""
        return self.real or self.path


class Said(NamedTuple):
    """What people have said about projects and skills, as far as a listing needs it."""

    projects: frozenset[str] = frozenset()
    """Canonical paths of the projects that are trusted."""
    names: frozenset[str] = frozenset()
    """Skills that somebody decided about, folded by `fold`."""
    paths: frozenset[str] = frozenset()
    fold: Callable[[str], str] = str
    state_of: Callable[[Root, Entry, Digest | None], tuple[State, tuple[str, ...]]] | None = None
    """Gives the state of such a skill, and the reasons."""
    broken: str = ""
    """Why the decisions cannot be read; then nothing is approved."""


class Card(NamedTuple):
    """The first level of disclosure: what a list shows of a skill."""

    name: str
    description: str
    scope: Scope
    category: str
    kind: Kind
    path: str
    digest: Digest | None
    state: State
    readiness: Readiness
    tokens: int
    shadows: tuple[str, ...]
    """Paths of the copies that this one hides."""
    diagnostics: tuple[Diagnostic, ...]
    reasons: tuple[str, ...]
    """Why it is in this state; empty for a visible skill that nothing contests."""
    root: str
    agent: str
    plugin: str
    """The plugin that ships it, and gives its name its first part."""
    held: str
    """What keeps it from being visible by itself: `disabled`, `gate`, `model`, `bare`, `unready`, `invalid`; a
    project that nobody trusts (`project`), or a decision about it (`changed`, `quarantined`, `blocked`); or nothing."""


class Body(NamedTuple):
    """The second level: a skill's instructions and the names of its files."""

    name: str
    description: str
    content: str
    linked_files: dict[str, list[str]]
    tags: list[str]
    related_skills: list[str]
    readiness: Readiness
    missing: dict[str, list[str]]
    setup_help: str
    tokens: int
    path: str
    digest: Digest | None
    state: State
    fields: dict[str, Any]
    diagnostics: tuple[Diagnostic, ...]
    disclosed: str
    """The content as it may stand in a prompt: as written when it is trusted, otherwise escaped and between marks (ZE-25)."""
    level: Trust
    verdict: Level


class File(NamedTuple):
    """The third level: one file of a skill. A binary file gives its size, type and hash, never its bytes."""

    name: str
    file: str
    content: str | None
    is_binary: bool
    size: int
    mime: str
    sha256: str
    tokens: int
    path: str
    disclosed: str | None
    """The content as it may stand in a prompt, as for a body (ZE-25); none for a binary file."""
    level: Trust


class Choice(NamedTuple):
    """One candidate for a name, and the reasons for its state."""

    path: str
    scope: Scope
    state: State
    reasons: tuple[str, ...]
    agent: str
    root: str
    readiness: Readiness
    diagnostics: tuple[Diagnostic, ...]


class Why(NamedTuple):
    """Which copy a name means, and why each other does not count."""

    name: str
    chosen: str | None
    candidates: tuple[Choice, ...]


class Category(NamedTuple):
    """Tier 0: a group of skills."""

    name: str
    description: str
    count: int  # type: ignore[assignment]  # the contract's word, though tuples have a method of that name


class Checked(NamedTuple):
    """The answer of `check` for one skill."""

    path: str
    ok: bool
    diagnostics: tuple[Diagnostic, ...]


class Change(NamedTuple):
    """What differs between two looks at the library: paths of skills."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int


class Listing(NamedTuple):
    """The entries of one folder by type, each sorted; `fault` says why it could not be read."""

    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    fault: str = ""


class Head(NamedTuple):
    """The first bytes of a regular file, with its size and key; `fault` is a rule code when there are none."""

    data: bytes = b""
    size: int = 0
    key: Key = NO_KEY
    fault: str = ""
    message: str = ""
