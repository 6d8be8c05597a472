"""The nouns that cross stages: frozen values, built once, never changed.

They are named tuples and not dataclasses because a listing must cost milliseconds: importing
`dataclasses` alone takes about as long as starting Python, and a named tuple is built in C
(docs/adr/0002).
"""

from __future__ import annotations

from metier.fast import TYPE_CHECKING, NamedTuple

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
    Trust = Literal["builtin", "own", "trusted", "verified", "community", "quarantined", "blocked"]
    Phase = Literal["install", "load", "run"]
    LockedEdit = Literal["", "harmless", "more", "unknown"]
    Action = Literal["allow", "warn", "ask", "block"]
    Key = bytes
    Texts = tuple[str, ...]
    """Several texts, in their order."""
    JsonObject = dict[str, Any]
    """What an object of JSON, YAML or TOML holds, before anybody has looked at it."""
else:
    Digest = SkillName = Severity = Scope = Kind = State = Readiness = Links = Harm = Level = (
        Trust
    ) = Phase = Action = str
    Key = bytes

# Digest: `sha256:…` of a canonical skill tree. SkillName: a name that has passed the standard's
# rules.
# Key: what tells that a file or folder is still the one that was read: inode, mtime, ctime and
# size, packed.

SCOPES: tuple[Scope, ...] = ("project", "user", "system", "admin", "plugin", "external", "package")

KEY_BYTES = 32
NO_KEY = bytes(KEY_BYTES)
"""The key of what could not be looked at. It matches nothing."""
MANIFESTS = (
    ".codex-plugin/plugin.json",
    ".claude-plugin/plugin.json",
    ".cursor-plugin/plugin.json",
    "plugin.json",
)
"""Where a manifest may lie in a plugin's folder, in the order they are tried (CX-30)."""

EDITED = "edited after it was installed"
"""What the reason of a skill begins with that was installed and then changed in its place. A listing
says so; whether the change is a harmless one is judged when it is loaded."""

HEAD_BYTES = 4 * 1024
"""The first read of a file. Nearly every real frontmatter ends well before this."""
MANIFEST_BYTES = 256 * 1024 + 1
"""How much of a manifest is read: one byte more than any may have."""


class Diagnostic(NamedTuple):
    """A place where a skill breaks the standard: the rule, the place and what to do. Lines and
    columns count from 1.
    """

    code: str
    severity: Severity
    message: str
    path: str = "SKILL.md"
    line: int = 0
    column: int = 0
    hint: str = ""


class Finding(NamedTuple):
    """Something that may do harm: the rule, the place, the text, why it matters and what to do."""

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
    """What a skill might do. It depends only on the skill's digest and the ruleset's."""

    digest: Digest | None
    ruleset: str
    level: Level
    score: int
    """0 is as safe as can be seen, 100 as dangerous."""
    findings: tuple[Finding, ...]


class Judged(NamedTuple):
    """What a skill was judged to be, as far as a listing needs it: the verdict on its bytes, and
    where these came from.
    """

    file: str
    """The skill's own file, and the keys that it and its folder had: with others, this is out of
    date."""
    key: Key
    folder_key: Key
    digest: Digest | None
    level: Level
    score: int
    told: str
    """What the scan found, in one line; nothing when it is safe."""
    origin: tuple[str, str, str] = ("", "", "")
    """The source, the ref and the commit that metier itself fetched these bytes from."""
    signed: tuple[str | None, ...] = ()
    """What a trusted key has signed, as `trust.sign.Signed` has it."""
    pinned: str = ""
    """What promises other bytes than these, if anything does."""
    edited_from: str = ""
    """The digest of what was installed there, where an edit of it can do no more."""
    changed: LockedEdit = ""
    """How these bytes differ from what metier's lock has for the place."""
    watched: int = 0
    """How many more files and folders it depends on."""


class Limits(NamedTuple):
    """How far a walk goes in one root. Reaching one is always reported."""

    depth: int = 12
    folders: int = 400_000
    entries: int = 4_000_000


REGISTERED = "registered by the program"
"""What told of the root that holds the skills which a program registered with an open library."""


class FieldRule(NamedTuple):
    """What an agent demands of one field of a SKILL.md."""

    name: str
    kinds: Texts = ("text",)
    """What its value may be to a YAML reader: text, number, date, flag, list, map, nothing."""
    required: bool = True
    null_is_missing: bool = True
    """Whether a field without a value is as good as none."""
    empty: bool = False
    """Whether an empty text will do."""
    false_is_missing: bool = False
    """Whether the flag `false` is as good as no value."""
    spaces: bool = False
    """Whether a text of spaces is more than an empty one."""
    old_flags: bool = False
    """Whether yes, no, on and off are flags, as they are to an older YAML."""
    most: int = 0
    """Characters it may have; 0 where nobody counts."""
    pattern: str = ""


class Loading(NamedTuple):
    """Which files an agent loads as skills, and how it reads them: a part of its row."""

    # --- which folders and files
    hidden: bool = False
    """Whether folders whose names begin with a dot are searched."""
    skipped: frozenset[str] = frozenset()
    """Names of folders that are not searched."""
    inside: bool = True
    """Whether skills are looked for inside a skill."""
    support: frozenset[str] = frozenset()
    """Names of folders in a skill that are not searched even then."""
    in_root: bool = True
    """Whether a SKILL.md in the root itself is a skill."""
    below_root_skill: bool = True
    """Whether a root that is itself a skill is searched for more."""
    linked_files: bool = False
    """Whether a SKILL.md that is a link is read."""
    any_case: bool = False
    """Whether skill.md will do."""
    flat: bool = False
    """Whether a NAME.md beside the folders is a skill."""
    flat_any_case: bool = False
    """Whether NAME.MD is one too."""
    # --- what they must say
    fence: str = ""
    """A regular expression for the frontmatter, which is its first group."""
    bare: bool = False
    """Whether a file without frontmatter, or with one that cannot be read, is loaded."""
    trimmed: bool = False
    """Whether spaces around the frontmatter are cut off before it is read."""
    readable: bool = False
    """Whether a frontmatter must be one that can be read even then."""
    fieldless: bool = False
    """Whether a frontmatter without fields is as good as an empty one."""
    body: bool = False
    """Whether there must be text after the frontmatter."""
    utf8: bool = False
    """Whether a file that is not UTF-8 is left out."""
    newlines: bool = False
    """Whether every kind of line end is one."""
    largest: int = 0
    """Bytes that a file may have; 0: any number."""
    reads: int = 0
    """Characters of a file that it looks at for the frontmatter; 0: all."""
    yaml: bool = True
    """Whether the frontmatter is read as YAML; else line by line, as names and values."""
    repair: str = ""
    """How it reads what is not valid YAML: `quote` puts quotes around loose values, `colon` around
    those with a colon, `lines` looks for lines that begin with the field's name, `pairs` takes each
    line for a name and a value."""
    mended: str = ""
    """Characters before which a value is quoted."""
    once: Texts = ()
    """Fields that may not be given twice; `*` for every key, at any depth."""
    last_value: bool = False
    """Whether the last of two values counts, not the first."""
    tags: bool = True
    """Whether unknown YAML tags are let pass."""
    nul: bool = False
    """Whether a NUL character is let pass."""
    tabs: bool = False
    """Whether tabs may stand where YAML wants spaces."""
    tab_before_value: bool = True
    """Whether a tab may stand between a colon and its value, as YAML has it."""
    halves: bool = False
    """Whether halves of characters may be escaped, as JSON has it."""
    fields: tuple[FieldRule, ...] = ()
    # --- what it makes of them
    named_by_folder: bool = False
    plugin_names: bool = True
    """Whether a plugin's name stands before the names of its skills."""
    first_line: int = 0
    """Characters of the first line of its text, without the marks of a heading, that describe a
    skill which has no description; 0: none do."""
    undescribed: str = ""
    """What describes a skill that has no text either."""
    folder_without_name: bool = False
    """Whether its folder names a skill that has no name."""
    replaced: str = ""
    """Characters of a name that become hyphens."""
    python_words: bool = False
    """Whether a name or description that is not text becomes the text that Python writes for it."""
    last_copy: bool = False
    """Whether the last of several copies in one root counts, not the first."""
    longest_name: int = 0
    """Characters to which a name is cut; 0: none is."""
    gates: Texts = ()
    """Those of metier's gates that it knows, as `Gates` calls them."""
    products: Texts = ()
    """Products that a sidecar may name: one that names another, or whose policy cannot be read, it
    passes over. Without any, what such a sidecar restricts is restricted."""
    in_order: bool = False
    """Whether of two ways to one folder or file only the first by its name counts, be it a link."""
    closing: tuple[tuple[str, Texts], ...] = ()
    """Fields that keep a skill from the model, each with the values that do; without values, any
    pattern but one that matches all."""
    flags: bool = False
    """Whether the word true in quotes keeps nothing from it, only the flag."""
    watched: tuple[bytes, ...] = ()
    """What a file must not hold to be read the short way."""


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
    """Whether a person named it, so that its absence is worth a word and a manifest above it
    counts."""
    newest_first: bool = False
    """Whether it keeps versions side by side, of which the highest counts."""
    limits: Limits | None = None
    """Tighter limits for this root alone, as a project may ask for."""
    hidden: bool = False
    """Whether folders whose names begin with a dot are searched too, as when a whole project is
    checked."""
    project: str = ""
    """The project it belongs to, whose skills wait until a person trusts it (MT-18); nothing
    for any other root."""
    loading: Loading | None = None
    """What the asking agent loads of it; `None`: what metier itself does."""
    behind: Texts = ()
    """Folders of which one that is there makes the agent pass over this one."""


class Problem(NamedTuple):
    """A problem with a folder, not with one skill: it couldn't be read, wasn't followed, or was cut
    short.
    """

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
    products: Texts
    diagnostics: tuple[Diagnostic, ...]


class Document(NamedTuple):
    """What a skill's own file says. `fields` holds every key as written; all scalars are text."""

    kind: Kind
    name: str
    description: str
    fields: JsonObject
    body_at: int
    """Byte offset of the body in the file."""
    body_line: int
    spans: dict[str, tuple[int, int]]
    diagnostics: tuple[Diagnostic, ...]


class Gates(NamedTuple):
    """Conditions under which a skill is offered at all."""

    platforms: Texts = ()
    environments: Texts = ()
    products: Texts = ()
    requires_tools: Texts = ()
    requires_toolsets: Texts = ()
    fallback_for_tools: Texts = ()
    fallback_for_toolsets: Texts = ()
    model_hidden: str = ""
    """The field that keeps the skill from being offered to a model, or nothing."""


class Needs(NamedTuple):
    """What must be there before a skill can do its work."""

    env: Texts = ()
    files: Texts = ()
    commands: Texts = ()
    """`a|b` means either."""
    tools: Texts = ()
    help: str = ""
    packages: Texts = ()
    """Python distributions."""
    servers: Texts = ()
    """MCP servers by name, each with its identity after a `|` where that is known (CX-50)."""
    skills: Texts = ()
    """Other skills that it builds on."""
    systems: Texts = ()
    """Operating systems that its own words limit it to; what holds it back on others is
    `Gates.platforms`."""


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
    tokens: int = 0
    size: int = 0
    gates: Gates | None = None
    needs: Needs | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    left_out: str = ""
    """Why the asking agent does not load it."""
    loaded: bool = False
    """Whether the asking agent loads it, whatever faults metier finds in it."""


class Said(NamedTuple):
    """What people have said about projects and skills, as far as a listing needs it."""

    projects: frozenset[str] = frozenset()
    """Canonical paths of the projects that are trusted."""
    names: frozenset[str] = frozenset()
    """Skills that somebody decided about, folded by `fold`."""
    paths: frozenset[str] = frozenset()
    fold: Callable[[str], str] = str
    state_of: (
        Callable[[Root, Entry, Digest | None, Judged | None], tuple[State, tuple[str, ...]]] | None
    ) = None
    """Gives the state of such a skill, or of one that was judged, and the reasons."""
    broken: str = ""
    """Why the decisions cannot be read, and what to do; then nothing is approved."""
    asks_safe: bool = False
    """Whether the policy may hold back even what was judged safe."""
    own: frozenset[str] = frozenset()
    """Canonical paths of skills that are the user's own, in whichever project they lie."""
    all_blocked: bool = False
    """Whether nobody can tell what was blocked; then everything is."""
    fleeting: bool = False
    """Whether what is made of it is not to be used a second time."""
    digests: frozenset[str] = frozenset()
    """Bytes that somebody blocked or quarantined, under whatever name."""
    decided: Any = None
    """The decisions themselves, for whoever holds them against verdicts."""


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
    shadows: Texts
    """Paths of the copies that this one hides."""
    diagnostics: tuple[Diagnostic, ...]
    reasons: Texts
    """Why it is in this state; empty for a visible skill that nothing contests."""
    root: str
    agent: str
    plugin: str
    """The plugin that ships it, and gives its name its first part."""
    held: str
    """What keeps it from being visible by itself: `disabled`, `gate`, `offer` (it is not offered
    here, and given to whoever names it), `model`, `bare`, `unready`, `invalid`; a project that
    nobody trusts (`project`), a damaged record of decisions (`record`), or a decision about it
    (`changed`, `quarantined`, `blocked`); or nothing."""
    verdict: Level | Literal[""] = ""
    """What the last scan said of it; nothing while these bytes have not been scanned."""


class Body(NamedTuple):
    """The second level of disclosure: a skill's instructions and the names of its files."""

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
    fields: JsonObject
    diagnostics: tuple[Diagnostic, ...]
    disclosed: str
    """The content as it may stand in a prompt: as written when it is trusted, otherwise escaped and
    between marks (ZE-25)."""
    level: Trust
    verdict: Level
    interface: dict[str, str]
    """How `agents/openai.yaml` wants it shown: `display_name`, `short_description`, `icon_small`,
    `icon_large` (paths from its folder), `brand_color`, `default_prompt`, as far as given."""
    dependencies: list[Tool]
    """The tools that `agents/openai.yaml` says it depends on: `mcp`, `cli`, `env_var`."""


class File(NamedTuple):
    """The third level of disclosure: one file of a skill. For a binary file you get its size, type
    and hash, not its content.
    """

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
    reasons: Texts
    agent: str
    root: str
    readiness: Readiness
    diagnostics: tuple[Diagnostic, ...]


class Why(NamedTuple):
    """Which copy a name means, and why the others don't count."""

    name: str
    chosen: str | None
    candidates: tuple[Choice, ...]


class Category(NamedTuple):
    """A group of skills."""

    name: str
    description: str
    count: int  # type: ignore[assignment]  # the contract's word, though tuples have a method of that name


class Checked(NamedTuple):
    """The result of `check` for one skill."""

    path: str
    ok: bool
    diagnostics: tuple[Diagnostic, ...]


class Change(NamedTuple):
    """The difference between two looks at the library, as paths of skills."""

    added: Texts
    changed: Texts
    removed: Texts
    unchanged: int


class Listing(NamedTuple):
    """The entries of one folder by type, each sorted; `fault` says why it could not be read."""

    folders: Texts = ()
    files: Texts = ()
    links: Texts = ()
    others: Texts = ()
    fault: str = ""


class Head(NamedTuple):
    """The first bytes of a regular file, with its size and key; `fault` is a rule code when there
    are none.
    """

    data: bytes = b""
    size: int = 0
    key: Key = NO_KEY
    fault: str = ""
    message: str = ""
