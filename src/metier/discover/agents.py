"""Which agent looks where, and which folder wins: rows of a table, so that no other code knows any
agent by name.

A row lists an agent's folders from the strongest to the weakest: the order is the precedence.
Agents contradict each other (Claude Code lets personal skills beat a project's, Gemini CLI does the
opposite, Codex keeps both), so each has its own row even where two look alike today.
"""

from __future__ import annotations

from metier.errors import UsageError
from metier.fast import TYPE_CHECKING, NamedTuple
from metier.model import FieldRule, Limits, Loading

if TYPE_CHECKING:
    from typing import Literal

    from metier.model import Scope, Texts

    Reach = Literal[
        "ancestors", "upwards", "homewards", "everywhere", "workspace", "folder", "root", "base"
    ]
    Duplicates = Literal["shadow", "offered", "unordered", "keep", "all", "undefined"]

# Reach: a project's folders are looked for in every folder from its root to the working folder
# (`ancestors`; with `upwards` in every folder above where there is no project, with `homewards` in
# those below the home folder, with `everywhere` in every folder above in any case), in these two
# only (`workspace`), in the working folder alone (`folder`), or in the root alone (`root`; outside a
# project nowhere, with `base` in the working folder).
# Duplicates: of two skills with one name the stronger hides the other (`shadow`; with `offered` if
# the model is offered it, with `unordered` which of two in one folder is the stronger is chance),
# both are seen and the name is ambiguous (`keep`) or means the stronger (`all`), or the agent
# itself does not always choose the same (`undefined`).

_FOLLOWED: tuple[Scope, ...] = ("project", "user", "admin", "plugin", "external")


class ConfigFile(NamedTuple):
    """One configuration file of an agent, and what in it is about skills."""

    path: str
    form: str
    """`toml`, `json` (comments let pass) or `yaml`."""
    keys: tuple[tuple[str, str], ...]
    """What is said, as `agent_config` calls it, and the dotted key that says it."""
    reach: Reach | None = None
    """In which folders a project's file counts; `None`: in those of the agent's skills."""


class ListingBudget(NamedTuple):
    """How much of an agent's context its list of skills may take up."""

    characters: int
    variable: str = ""
    """An environment variable that sets another number."""
    reserved: int = 0
    """What the agent's own skills take up of it, about."""
    each: int = 0
    """Characters of one description that are shown at most."""
    line: int = 5
    """Characters of a line besides the name and the description."""
    evenly: bool = False
    """Whether all descriptions are shortened when not all of them fit, not the last ones left
    out."""
    whole: bool = False
    """Whether a line takes up nothing once its description is left out."""
    context: int = 0
    """Characters of the whole context, of which its configuration may say a share."""
    by_use: bool = False
    """Whether the descriptions of skills that were used most are kept first. How often one was used
    is not looked at, so all count alike."""


class Agent(NamedTuple):
    """One agent's rules. A path is below a project, or begins with `~`, `/` or one
    `${VARIABLE:-default}`.
    """

    id: str
    title: str
    folders: tuple[tuple[Scope, str], ...]
    """Strongest first."""
    reach: Reach = "workspace"
    duplicates: Duplicates = "shadow"
    limits: Limits | None = None
    """`None`: metier's own."""
    follow: tuple[Scope, ...] = _FOLLOWED
    """The scopes in which linked folders are followed."""
    product: str = ""
    plugins: Texts = ()
    """Where installed plugins are kept."""
    plugin_depth: int = 12
    """How far below an installed plugin a skill may lie."""
    extensions: Texts = ()
    """Where extensions are kept whose skills have no names of their own before them."""
    markets: Texts = ()
    """Where the marketplaces that were added are kept, each in a folder of its own."""
    aliases: Texts = ()
    home_marker: Texts = ()
    """Any of these existing says that the agent is installed; none where all its folders are shared
    with others."""
    note: str = ""
    unread: tuple[tuple[Scope, str], ...] = ()
    """Folders that its documentation names and the version that was asked does not read."""
    reaches: tuple[tuple[str, Reach], ...] = ()
    """Of its folders in a project, those that are looked for elsewhere than the others."""
    inside: bool = False
    """Whether a project's links are followed only where they stay inside the project."""
    name_by_name: bool = False
    """Whether a project's folders of one name, all the way up, come before those of the next name."""
    either: Texts = ()
    """Of its folders, those of which only the first that exists is read."""
    flat: Texts = ()
    """Of its folders, those in which a NAME.md is a skill though it is none in the others."""
    dotless: Texts = ()
    """Of its folders, those in which it passes over hidden ones though it searches them elsewhere."""
    without: tuple[tuple[str, Texts], ...] = ()
    """Variables that, set to 1 or true, keep it from reading some of its folders."""
    loading: Loading | None = None
    """What it loads, as it was seen to; `None`: what metier itself would."""
    config: tuple[ConfigFile, ...] = ()
    """Its own configuration, weakest first."""
    budget: ListingBudget | None = None
    asked: str = ""
    """The version that was asked what it loads; none where the row follows what was read."""
    read_in: str = "the tables of agents in skills 1.5.18 (npm) and GitHub CLI, November 2026"
    """Where the rules of one that was not asked were read."""


_CONFIG = "${XDG_CONFIG_HOME:-~/.config}"
_CLAUDE = "${CLAUDE_CONFIG_DIR:-~/.claude}"
_CODEX = "${CODEX_HOME:-~/.codex}"
_PI = "${PI_CODING_AGENT_DIR:-~/.pi/agent}"
_CLAUDE_KEYS = (
    ("plugins", "enabledPlugins"),
    ("overrides", "skillOverrides"),
    ("refused", "permissions.deny"),
    ("share", "skillListingBudgetFraction"),
    ("each", "skillListingMaxDescChars"),
)
_OPENCODE_KEYS = (
    ("folders-instead", "skills.paths"),
    ("every", "permission"),
    ("every", "permission.*"),
    ("overrides", "permission.skill"),
)
_OWN_PAGES = "its documentation, November 2026"
_SHARED = {"~/.agents", "~/.agent", f"{_CONFIG}/agents", "~/.claude"}
"""Folders that several agents read: they say nothing about who is installed."""


def _row(
    name: str,
    title: str,
    folders: str,
    aliases: str = "",
    note: str = "",
    marker: str = "",
    *,
    reach: Reach = "workspace",
) -> Agent:
    """Build a row from folders written short: no `/skills` at the end, and the scope seen from the
    shape.
    """
    written = folders.split()
    own = marker.split() or [
        _by_default(folder) for folder in written if folder[0] in "~$" and folder not in _SHARED
    ]
    rows = tuple([(_scope(folder), _whole(folder)) for folder in written])
    return Agent(
        name, title, rows, reach, aliases=tuple(aliases.split()), home_marker=tuple(own), note=note
    )


def _whole(folder: str) -> str:
    if folder.endswith("/skill"):  # one agent's other word for it
        return folder
    return "skills" if folder == "." else folder + "/skills"


def _scope(folder: str) -> Scope:
    return "user" if folder[0] in "~$" else "admin" if folder[0] == "/" else "project"


def _by_default(folder: str) -> str:
    return folder.partition(":-")[2].replace("}", "", 1) if folder[0] == "$" else folder


_ANYTHING = ("text", "number", "date", "flag", "map")
_EVERYTHING = (*_ANYTHING, "list", "nothing")
_SCALARS = ("text", "number", "date", "flag", "nothing")
_DATED = ("text", "date")
"""For YAML without dates."""
_CODEX_LOADS = Loading(
    fence=r"[^\S\n]*---[^\S\n]*\n((?:[^\n]*\n)+?)[^\S\n]*---[^\S\n]*(?:\n|\Z)",
    utf8=True,
    repair="quote",
    mended="[{@`",
    once=("name", "description", "metadata"),
    fields=(
        FieldRule("metadata", ("map",), required=False, null_is_missing=False),
        FieldRule("metadata.short-description", _ANYTHING, required=False, empty=True),
        FieldRule("name", _ANYTHING, required=False, empty=True, most=64),
        FieldRule("description", _ANYTHING),
    ),
    folder_without_name=True,
    gates=("products", "model_hidden"),
    products=("codex", "chatgpt", "atlas"),
    closing=(),
    watched=(b"\nmetadata:", b"\ndisable-model-invocation"),
)
_CLAUDE_LOADS = Loading(
    hidden=True,
    in_root=False,
    linked_files=True,
    fence=r"---[ \t]*\r?\n([\s\S]*?)\n?---[ \t]*(?:\r?\n|\Z)",
    bare=True,
    largest=1_000_000,
    named_by_folder=True,
    first_line=100,
    undescribed="Skill",
    in_order=True,
    closing=(("disable-model-invocation", ("true", "yes", "on", "1")), ("paths", ())),
    watched=(b"\ndisable-model-invocation", b"\npaths"),
)
_GEMINI_LOADS = Loading(
    linked_files=True,
    skipped=frozenset({"node_modules", ".git"}),
    fence=r"---\r?\n([\s\S]*?)\r?\n---",
    repair="lines",
    once=("*",),
    fields=(
        FieldRule("name", _SCALARS, null_is_missing=False, empty=True),
        FieldRule("description", _SCALARS, null_is_missing=False, empty=True),
    ),
    replaced=':\\/<>*?"|',
)
_OPENCODE_LOADS = Loading(
    hidden=True,
    linked_files=True,
    fence=r"\ufeff?---(?!-)[ \t]*(?:[yY][aA]?[mM][lL])?[ \t]*\r?\n([\s\S]*?)(?:\n---|\Z)",
    repair="colon",
    once=("*",),
    tags=False,
    tabs=True,
    halves=True,
    fields=(
        FieldRule("name", null_is_missing=False, empty=True),
        FieldRule("description", required=False, null_is_missing=False, empty=True),
    ),
)


_HERMES_LOADS = Loading(
    hidden=True,
    skipped=frozenset((".git", ".github", ".hub", ".archive", ".venv", "venv", "node_modules", "__pycache__",
                       "site-packages", ".tox", ".nox", ".pytest_cache", ".mypy_cache", ".ruff_cache")),
    support=frozenset({"references", "templates", "assets", "scripts"}),
    linked_files=True,
    fence=r"\ufeff?---([\s\S]*?)\n---[^\S\n]*\n",
    bare=True,
    utf8=True,
    newlines=True,
    reads=4_000,
    repair="pairs",
    last_value=True,
    fields=(
        FieldRule("name", required=False, null_is_missing=False, empty=True, old_flags=True),
        FieldRule("description", ("text", "list", "map", "nothing"), required=False, empty=True,
                  false_is_missing=True, old_flags=True),
    ),
    longest_name=64,
    gates=("platforms", "environments"),
    watched=(b"\nplatforms", b"\nenvironments"),
)  # fmt: skip
_DEEP_LOADS = Loading(
    hidden=True,
    in_root=False,
    fence=r"---[^\S\n]*\n([\s\S]*?)\n---[^\S\n]*\n",
    utf8=True,
    largest=10 << 20,
    last_value=True,
    tags=False,
    tab_before_value=False,
    halves=True,
    fields=tuple(
        FieldRule(name, _EVERYTHING, null_is_missing=False) for name in ("name", "description")
    ),
    python_words=True,
    last_copy=True,
    watched=(b":\t",),
)
_QWEN_LOADS = Loading(
    hidden=True,
    in_root=False,
    linked_files=True,
    fence=r"\ufeff?---\n([\s\S]*?)\n---(?:\n|\Z)",
    newlines=True,
    yaml=False,
    fields=(
        FieldRule("name", ("text", "number", "date", "flag"), pattern=r"[\w:.-]+\Z"),
        FieldRule("description", _ANYTHING),
        FieldRule("paths", ("list", "nothing"), required=False),
    ),
    closing=(("disable-model-invocation", ("true",)), ("paths", ())),
    watched=(b"\ndisable-model-invocation", b"\npaths"),
)
_COPILOT_LOADS = Loading(
    inside=False,
    below_root_skill=False,
    linked_files=True,
    fence=r"\ufeff?---[ \t]*\r?\n([\s\S]*?)(?:(?<=\n)|\r?\n)---[ \t]*(?:\r?\n|\Z)",
    fieldless=True,
    largest=1 << 20,
    once=("*",),
    fields=(
        FieldRule("name", _DATED, required=False, null_is_missing=False, most=64,
                  pattern=r"\s*[A-Za-z0-9][A-Za-z0-9\-_.: ]*\s*\Z"),
        FieldRule("description", _DATED, required=False, null_is_missing=False, empty=True, most=1024),
        FieldRule("disable-model-invocation", ("flag",), required=False, null_is_missing=False),
        FieldRule("allowed-tools", ("text", "list", "nothing"), required=False),
    ),
    folder_without_name=True,
    replaced=" ",
    closing=(("disable-model-invocation", ("true",)),),
    watched=(b"\ndisable-model-invocation", b"\nallowed-tools"),
)  # fmt: skip
_AMP_LOADS = Loading(
    hidden=True,
    skipped=frozenset({".git", "node_modules"}),
    linked_files=True,
    any_case=True,
    fence=r"\ufeff?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|\Z)",
    nul=True,
    once=("*",),
    fields=(
        FieldRule("name", _DATED, most=64, pattern=r"[a-z0-9]+(?:-[a-z0-9]+)*\Z"),
        FieldRule("description", (*_ANYTHING, "list"), spaces=True, false_is_missing=True),
    ),
    plugin_names=False,
)
_PI_LOADS = Loading(
    skipped=frozenset({"node_modules"}),
    inside=False,
    below_root_skill=False,
    linked_files=True,
    fence=r"---[\s\S]([\s\S]*?)\n---",
    newlines=True,
    nul=True,
    once=("*",),
    fields=(
        FieldRule("name", _DATED, required=False, false_is_missing=True, empty=True),
        FieldRule("description", _DATED),
    ),
    folder_without_name=True,
    flags=True,
    closing=(("disable-model-invocation", ("true",)),),
    watched=(b"\ndisable-model-invocation",),
)
_KIMI_LOADS = Loading(
    hidden=True,
    in_root=False,
    linked_files=True,
    flat=True,
    flat_any_case=True,
    fence=r"(?m)[ \t]*---[ \t]*\n([\s\S]*?)^[ \t]*---[ \t]*$",
    bare=True,
    trimmed=True,
    readable=True,
    newlines=True,
    last_value=True,
    tags=False,
    fields=(
        FieldRule("name", required=False, false_is_missing=True, empty=True, old_flags=True),
        FieldRule("description", required=False, false_is_missing=True, empty=True),
        FieldRule("type", required=False, empty=True, pattern=r"(?:(?:flow|standard)?)\Z"),
    ),
    folder_without_name=True,
    watched=(b"\ntype:",),
)
_DROID_LOADS = Loading(
    hidden=True,
    in_root=False,
    inside=False,
    linked_files=True,
    fence=r"---\r?\n([\s\S]*?)\r?\n---[ \t]*\r?\n",
    body=True,
    nul=True,
    repair="pairs",
    last_value=True,
    fields=(
        FieldRule("name", pattern=r"[a-z0-9-]+\Z"),
        FieldRule("description", null_is_missing=False, empty=True),
        FieldRule("metadata", ("map",), required=False, null_is_missing=False),
        FieldRule("license", ("text", "nothing"), required=False),
        FieldRule("compatibility", ("text", "nothing"), required=False),
        FieldRule("allowed-tools", ("text", "list", "nothing"), required=False),
    ),
    closing=(("disable-model-invocation", ("true", "yes", "1")), ("enabled", ("false",))),
    watched=(
        *(b"\ndisable-model-invocation", b"\nenabled", b"\nmetadata", b"\nlicense"),
        *(b"\ncompatibility", b"\nallowed-tools"),
    ),
)
_CONTINUE_LOADS = Loading(
    hidden=True,
    in_root=False,
    linked_files=True,
    fence=r"(?:[\s\S]*?\n)??---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|\Z)",
    nul=True,
    once=("*",),
    fields=(FieldRule("name", _DATED, spaces=True), FieldRule("description", _DATED, spaces=True)),
)
_GOOSE_LOADS = Loading(
    hidden=True,
    skipped=frozenset({".git"}),
    linked_files=True,
    fence=r"[\s\S]*?---([\s\S]*?)---",
    trimmed=True,
    utf8=True,
    once=("name", "description", "metadata"),
    fields=(
        FieldRule("name", (*_DATED, "number", "flag"), empty=True, pattern=r"[^/\\]*\Z"),
        FieldRule("description", (*_DATED, "number", "flag"), required=False, empty=True),
        FieldRule("metadata", ("map",), required=False),
    ),
    plugin_names=False,
    watched=(b"\nmetadata:",),
)


AGENTS: tuple[Agent, ...] = (
    # --- the convention, and the agents whose rules were checked in their own documentation or code
    _row("universal", "Universal convention", f".agents .agent ~/.agents {_CONFIG}/agents ~/.agent", "agents",
         "openskills --universal writes to .agent", reach="ancestors"),
    _row("claude-code", "Claude Code", f"/etc/claude-code/.claude {_CLAUDE} .claude", "claude",
         "it calls a skill by its folder. Of two with one name, an enterprise's beats yours, which beats a "
         "project's; in a project the nearest folder wins. One that is hidden from the model hides no other. "
         "It doesn't read .agents",
         reach="homewards")._replace(
             duplicates="offered", plugins=(f"{_CLAUDE}/plugins/cache",), markets=(f"{_CLAUDE}/plugins/marketplaces",),
             limits=Limits(depth=1), plugin_depth=3, loading=_CLAUDE_LOADS, asked="2.1.327",
             budget=ListingBudget(8_000, "SLASH_COMMAND_TOOL_CHAR_BUDGET", 4_250, 1_536, context=800_000, by_use=True),
             config=(ConfigFile(f"{_CLAUDE}/settings.json", "json", _CLAUDE_KEYS),
                     ConfigFile(".claude/settings.json", "json", _CLAUDE_KEYS, "folder"),
                     ConfigFile(".claude/settings.local.json", "json", _CLAUDE_KEYS, "workspace"),
                     ConfigFile("/etc/claude-code/managed-settings.json", "json", _CLAUDE_KEYS))),
    Agent(
        "codex", "Codex",
        (
            ("project", ".agents/skills"), ("project", ".codex/skills"),
            ("user", "~/.agents/skills"), ("user", f"{_CODEX}/skills"),
            ("system", f"{_CODEX}/skills/.system"),
            ("admin", "/etc/codex/skills"),
        ),
        reach="ancestors", duplicates="keep", limits=Limits(depth=6, folders=2_000, entries=20_000),
        follow=("project", "user", "admin", "plugin"), product="codex", plugins=(f"{_CODEX}/plugins/cache",),
        aliases=("codex-cli", "openai-codex"), home_marker=("~/.codex",),
        note="skills with the same name are all kept, and a plain name is then ambiguous",
        loading=_CODEX_LOADS, asked="0.169.0", budget=ListingBudget(21_760, "", 1_500, 1_024, 45, evenly=True),
        config=(ConfigFile(f"{_CODEX}/config.toml", "toml", (
            ("rules", "skills.config"), ("system", "skills.bundled.enabled"),
            ("markers", "project_root_markers"), ("plugins", "plugins"))),),
    ),
    _row("gemini-cli", "Gemini CLI", ".agents .gemini ~/.agents ~/.gemini", "gemini",
         "workspace skills beat user skills, and .agents beats .gemini in each", reach="folder",
         )._replace(limits=Limits(depth=1), loading=_GEMINI_LOADS, asked="0.61.0",
                    extensions=("~/.gemini/extensions",),
                    config=tuple(ConfigFile(path, "json", (("disabled-any-case", "skills.disabled"), ("enabled", "skills.enabled")))
                                 for path in ("~/.gemini/settings.json", ".gemini/settings.json"))),
    _row("github-copilot", "GitHub Copilot", ".github .agents .claude ~/.copilot ~/.agents", "copilot vscode vs-code",
         "chat.agentSkillsLocations can name more folders", reach="upwards")._replace(
             name_by_name=True, limits=Limits(depth=64), loading=_COPILOT_LOADS, asked="1.0.102",
             budget=ListingBudget(15_000, "SKILL_CHAR_BUDGET", line=94, whole=True),
             config=(ConfigFile("~/.copilot/settings.json", "json", (("disabled", "disabledSkills"),)),)),
    _row("cursor", "Cursor", ".agents .cursor .claude .codex ~/.agents ~/.cursor ~/.claude ~/.codex",
         marker="~/.cursor")._replace(read_in=_OWN_PAGES),
    _row("opencode", "OpenCode", f".opencode .opencode/skill .agents .claude {_CONFIG}/opencode {_CONFIG}/opencode/skill "
         "~/.opencode ~/.opencode/skill ${OPENCODE_CONFIG_DIR:-~/.opencode} ${OPENCODE_CONFIG_DIR:-~/.opencode}/skill "
         "~/.agents ~/.claude", "open-code",
         "looks in every folder from the working folder up to the worktree's root, or to the top "
         "outside one; which of two copies it takes changes from run to run",
         "~/.config/opencode ~/.opencode", reach="upwards")._replace(
             duplicates="undefined", limits=Limits(depth=64), loading=_OPENCODE_LOADS, asked="1.18.34",
             config=tuple(ConfigFile(path, "json", _OPENCODE_KEYS) for path in (
                 f"{_CONFIG}/opencode/config.json", f"{_CONFIG}/opencode/opencode.json", f"{_CONFIG}/opencode/opencode.jsonc",
                 "${OPENCODE_CONFIG}", "opencode.json", "opencode.jsonc", ".opencode/opencode.json",
                 ".opencode/opencode.jsonc", "~/.opencode/opencode.json", "~/.opencode/opencode.jsonc",
                 "${OPENCODE_CONFIG_DIR}/opencode.json", "${OPENCODE_CONFIG_DIR}/opencode.jsonc")),
             without=tuple((f"OPENCODE_DISABLE_{word}", (".claude/skills", "~/.claude/skills", *more)) for word, more in (
                 ("CLAUDE_CODE", ()), ("CLAUDE_CODE_SKILLS", ()), ("EXTERNAL_SKILLS", (".agents/skills", "~/.agents/skills")))),
             dotless=(".opencode/skills", ".opencode/skill", f"{_CONFIG}/opencode/skills", f"{_CONFIG}/opencode/skill",
                      "~/.opencode/skills", "~/.opencode/skill")),
    _row("goose", "Goose", f".agents .goose .claude ~/.agents {_CONFIG}/goose ~/.claude {_CONFIG}/agents", "",
         "project skills beat user skills; in a project .agents beats .goose, and .goose beats "
         ".claude; of a project only the working folder is read", reach="folder")._replace(
             limits=Limits(depth=64), loading=_GOOSE_LOADS, asked="0.20.1", extensions=("~/.agents/plugins",)),
    _row("openclaw", "OpenClaw", ". .agents ~/.agents ~/.openclaw", "claw",
         "the workspace's own skills folder beats .agents, and both beat the user's")._replace(read_in=_OWN_PAGES),
    _row("hermes", "Hermes", "${HERMES_HOME:-~/.hermes}", "hermes-agent",
         "no project's skills are read; local ones beat those of its external_dirs",
         )._replace(limits=Limits(depth=64), loading=_HERMES_LOADS, asked="0.19.0",
                    unread=(("project", ".hermes/skills"), ("project", ".agents/skills")),
                    config=(ConfigFile("${HERMES_HOME:-~/.hermes}/config.yaml", "yaml", (
                        ("disabled", "skills.disabled"), ("folders", "skills.external_dirs"),
                        ("disabled", "skills.platform_disabled.$HERMES_PLATFORM"),
                        ("disabled", "skills.platform_disabled.$HERMES_SESSION_PLATFORM"))),)),
    _row("deep-agents", "Deep Agents", ".claude ~/.claude .agents .deepagents ~/.agents "
                                       "~/.deepagents/agent",
         "deepagents deepagents-code dcode", "both .claude folders beat all others; of ~/.deepagents only the agent "
                       "called 'agent' is read",
         "~/.deepagents", reach="root")._replace(limits=Limits(depth=1), loading=_DEEP_LOADS, asked="0.1.57"),
    _row("qwen-code", "Qwen Code", ".qwen .agents ${QWEN_HOME:-~/.qwen} ~/.agents", "qwen",
         "project skills beat user skills, and .qwen beats .agents in each", reach="folder",
         )._replace(duplicates="unordered", limits=Limits(depth=1), loading=_QWEN_LOADS, asked="0.15.10",
                    extensions=("${QWEN_HOME:-~/.qwen}/extensions",)),
    _row("rovo-dev", "Rovo Dev", "~/.rovodev .rovodev", "rovodev rovo", "user skills beat project "
                                                                        "skills")._replace(read_in=_OWN_PAGES),
    # --- agents that share the project folder .agents
    _row("amp", "Amp", f"{_CONFIG}/agents ~/.agents {_CONFIG}/amp .agents .claude ~/.claude", "",
         "user skills beat project skills, and both beat .claude", "~/.config/amp", reach="everywhere")._replace(
             name_by_name=True, duplicates="unordered", limits=Limits(depth=5), loading=_AMP_LOADS, asked="0.0.1790142911-g7618fb",
             extensions=("~/.claude/plugins/cache",),
             config=(ConfigFile(f"{_CONFIG}/amp/settings.json", "json", (("folders", "amp.skills.path"),)),
                     ConfigFile(".amp/settings.json", "json", (("folders", "amp.skills.path"),)))),
    _row("replit", "Replit", f".agents {_CONFIG}/agents"),
    _row("cline", "Cline", ".agents ~/.agents"),
    _row("dexto", "Dexto", ".agents ~/.agents"),
    _row("kimi-code", "Kimi Code", f".kimi .claude .codex .agents ~/.kimi ~/.claude ~/.codex {_CONFIG}/agents ~/.agents",
         "kimi kimi-cli kimi-code-cli", "project skills beat user skills; ~/.agents is read only where ~/.config/agents is not there",
         "~/.kimi", reach="base")._replace(
             either=(f"{_CONFIG}/agents/skills", "~/.agents/skills"), duplicates="unordered",
             limits=Limits(depth=1), loading=_KIMI_LOADS, asked="1.52.0",
             config=(ConfigFile("~/.kimi/config.toml", "toml", (("project-folders", "extra_skill_dirs"),)),)),
    _row("loaf", "Loaf", ".agents ~/.agents"),
    _row("sarvam", "Sarvam", ".agents ~/.agents", "sarvam-code"),
    _row("warp", "Warp", ".agents ~/.agents"),
    _row("zed", "Zed", ".agents ~/.agents"),
    _row("coder", "Coder", ".agents", "", "only the workspace's skills are read")._replace(read_in=_OWN_PAGES),
    _row("antigravity", "Antigravity", ".agents ~/.gemini/antigravity"),
    _row("antigravity-cli", "Antigravity CLI", ".agents ~/.gemini/antigravity-cli ~/.antigravity", "",
         "sources differ about its user folder: ~/.antigravity is the less certain one"),
    _row("droid", "Droid", ".factory .agents .agent ~/.factory ~/.agents ~/.agent", "factory factory-droid",
         "project skills beat user skills", reach="ancestors")._replace(
             limits=Limits(depth=64), loading=_DROID_LOADS, asked="0.215.0",
             budget=ListingBudget(15_000, "", 5_300, 1_024, line=3)),
    _row("firebender", "Firebender", ".agents ~/.firebender"),
    _row("kilo-code", "Kilo Code", f".kilo .kilocode .agents .claude {_CONFIG}/kilo ~/.kilo ~/.kilocode ~/.agents ~/.claude",
         "kilo kilocode", ".kilocode is its older name; which of two copies it takes changes from run to run",
         "~/.kilo ~/.kilocode", reach="ancestors")._replace(
             duplicates="undefined", limits=Limits(depth=64), loading=_OPENCODE_LOADS, asked="7.7.9", inside=True,
             reaches=((".kilo/skills", "upwards"), (".kilocode/skills", "upwards")),
             dotless=(".kilo/skills", ".kilocode/skills", f"{_CONFIG}/kilo/skills", "~/.kilo/skills", "~/.kilocode/skills"),
             config=tuple(ConfigFile(path, "json", (("folders-instead", "skills.paths"), ("overrides", "permission.skill")))
                          for path in (f"{_CONFIG}/kilo/kilo.json", f"{_CONFIG}/kilo/kilo.jsonc",
                                       "kilo.json", "kilo.jsonc", ".kilo/kilo.json"))),
    _row("promptscript", "PromptScript", ".agents"),
    # --- agents with folders of their own
    _row("adal", "AdaL", ".adal ~/.adal"),
    _row("aider-desk", "AiderDesk", ".aider-desk ~/.aider-desk", "aiderdesk"),
    _row("astrbot", "AstrBot", "data ~/.astrbot/data", marker="~/.astrbot"),
    _row("augment", "Augment", ".augment ~/.augment"),
    _row("autohand", "Autohand", ".autohand ${AUTOHAND_HOME:-~/.autohand}", "autohand-code"),
    _row("bob", "Bob", ".bob ~/.bob", "ibm-bob"),
    _row("codearts", "CodeArts", ".codeartsdoer ~/.codeartsdoer", "codearts-agent"),
    _row("codebuddy", "CodeBuddy", ".codebuddy ~/.codebuddy"),
    _row("codemaker", "Codemaker", ".codemaker ~/.codemaker"),
    _row("code-studio", "Code Studio", ".codestudio ~/.codestudio", "codestudio"),
    _row("codewhale", "CodeWhale", ".codewhale ${CODEWHALE_HOME:-~/.codewhale}"),
    _row("command-code", "Command Code", ".commandcode ~/.commandcode", "commandcode"),
    _row("continue", "Continue", ".continue .claude ~/.continue", "", "every copy of a name is offered, and links to folders "
         "are not followed", reach="folder")._replace(
             duplicates="keep", follow=(), limits=Limits(depth=1), loading=_CONTINUE_LOADS, asked="1.5.47"),
    _row("cortex", "Cortex", ".cortex ~/.snowflake/cortex", "cortex-code snowflake-cortex"),
    _row("crush", "Crush", f".agents .crush .claude .cursor {_CONFIG}/agents {_CONFIG}/crush ~/.agents ~/.claude", "",
         "which of its folders wins is not said; CRUSH_SKILLS_DIR can name one more", "~/.config/crush",
         )._replace(read_in="its documentation, the README of its npm package 0.96.1"),
    _row("devin", "Devin", f".devin {_CONFIG}/devin"),
    _row("eve", "Eve", "agent"),
    _row("forgecode", "ForgeCode", ".forge ~/.forge", "forge"),
    _row("fx", "fx", ".fx ~/.fx"),
    _row("grok", "Grok", ".grok ${GROK_HOME:-~/.grok}", "grok-build"),
    _row("iflow", "iFlow", ".iflow ~/.iflow", "iflow-cli"),
    _row("inference-sh", "inference.sh", ".inferencesh ~/.inferencesh", "inferencesh"),
    _row("jazz", "Jazz", ".jazz ~/.jazz"),
    _row("junie", "Junie", ".junie ~/.junie"),
    _row("kimchi", "Kimchi", ".kimchi ~/.config/kimchi/harness", marker="~/.config/kimchi"),
    _row("kiro", "Kiro", ".kiro ~/.kiro", "kiro-cli"),
    _row("kode", "Kode", ".kode ~/.kode"),
    _row("lingma", "Lingma", ".lingma ~/.lingma"),
    _row("mcpjam", "MCPJam", ".mcpjam ~/.mcpjam"),
    _row("minimax", "MiniMax", ".minimax ~/.minimax", "minimax-code"),
    _row("mistral-vibe", "Mistral Vibe", ".vibe .agents ${VIBE_HOME:-~/.vibe} ~/.agents", "vibe",
         "project skills beat user skills; of a project only the working folder is read", reach="folder"),
    _row("moxby", "Moxby", ".moxby ~/.moxby"),
    _row("mux", "Mux", ".mux ~/.mux"),
    _row("neovate", "Neovate", ".neovate ~/.neovate"),
    _row("ona", "Ona", ".ona ~/.ona"),
    _row("openhands", "OpenHands", ".agents .openhands ~/.openhands", "",
         "which of its folders wins was not verified")._replace(read_in=_OWN_PAGES),
    _row("pi", "Pi", f".pi .agents {_PI} ~/.agents", "", "project skills beat user skills; what its .gitignore files name "
         "is passed over too, which is not looked at here", reach="upwards")._replace(
             reaches=((".pi/skills", "folder"),), flat=(".pi/skills", f"{_PI}/skills"), duplicates="unordered",
             limits=Limits(depth=64), loading=_PI_LOADS, asked="0.74.2",
             config=tuple(ConfigFile(path, "json", (("folders-and-off", "skills"),))
                          for path in (f"{_PI}/settings.json", ".pi/settings.json"))),
    _row("pochi", "Pochi", ".pochi ~/.pochi"),
    _row("posit", "Posit", ".posit/assistant ~/.posit/assistant", "posit-assistant"),
    _row("qoder", "Qoder", ".qoder ~/.qoder"),
    _row("qoder-cn", "Qoder CN", ".qoder ~/.qoder-cn"),
    _row("reasonix", "Reasonix", ".reasonix ~/.reasonix"),
    _row("roo-code", "Roo Code", ".roo ~/.roo", "roo"),
    _row("tabnine", "Tabnine", ".tabnine/agent ~/.tabnine/agent", "tabnine-cli", marker="~/.tabnine"),
    _row("terramind", "Terramind", ".terramind ~/.terramind"),
    _row("tinycloud", "Tinycloud", ".tinycloud ~/.tinycloud"),
    _row("trae", "Trae", ".trae ~/.trae"),
    _row("trae-cn", "Trae CN", ".trae ~/.trae-cn"),
    _row("windsurf", "Windsurf", ".windsurf ~/.codeium/windsurf"),
    _row("zcode", "ZCode", ".zcode ~/.zcode"),
    _row("zencoder", "Zencoder", ".zencoder ~/.zencoder"),
    _row("zenflow", "Zenflow", ".zencoder ~/.zencoder"),
)  # fmt: skip


def agent_named(text: str) -> Agent | None:
    """Find an agent by its id, an alias or its title, however it is capitalised and hyphenated."""
    key = _key(text)
    return next(
        (agent for agent in AGENTS if key in {agent.id, *agent.aliases, _key(agent.title)}), None
    )


def agent_asked(name: str | None) -> Agent | None:
    """Find the agent that somebody asked for; none when nobody did. What is no agent is an error
    with the nearest one.
    """
    found = agent_named(name) if name else None
    if name and found is None:
        from metier.standard.names import did_you_mean

        meant = did_you_mean(name, [agent.id for agent in AGENTS])
        raise UsageError(
            f"no agent named '{name}'", hint=f"{meant}list them all: metier doctor --agents"
        )
    return found


def _key(text: str) -> str:
    return text.strip().lower().replace("_", "-").replace(" ", "-")
