"""Which agent looks where, and which folder wins: rows of a table, so that no other code knows any agent by name.

A row lists an agent's folders from the strongest to the weakest: the order is the precedence. Agents contradict each
other (Claude Code lets personal skills beat a project's, Gemini CLI does the opposite, Codex keeps both), so each has
its own row even where two look alike today.
"""

from __future__ import annotations

from metier.closest import closest
from metier.errors import UsageError
from metier.light import TYPE_CHECKING, NamedTuple
from metier.model import Limits

if TYPE_CHECKING:
    from typing import Literal

    from metier.model import Scope

    Reach = Literal["ancestors", "workspace"]
    Duplicates = Literal["shadow", "keep"]
else:
    Reach = Duplicates = str

# Reach: a project's folders are looked for in every folder from its root to the working folder, or in these two only.
# Duplicates: of two skills with one name the stronger hides the other, or both are seen and the name is ambiguous.

_FOLLOWED: tuple[Scope, ...] = ("project", "user", "admin", "plugin", "external")


class Agent(NamedTuple):
    """One agent's rules. A path is below a project, or begins with `~`, `/` or one `${VARIABLE:-default}`."""

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
    plugins: tuple[str, ...] = ()
    """Where installed plugins are kept."""
    markets: tuple[str, ...] = ()
    """Where the marketplaces that were added are kept, each in a folder of its own."""
    aliases: tuple[str, ...] = ()
    home_marker: tuple[str, ...] = ()
    """Any of these existing says that the agent is installed; none where all its folders are shared with others."""
    note: str = ""
    external: bool = False
    """Whether it reads the configured `external_dirs`, weakest of all."""


_CONFIG = "${XDG_CONFIG_HOME:-~/.config}"
_CLAUDE = "${CLAUDE_CONFIG_DIR:-~/.claude}"
_CODEX = "${CODEX_HOME:-~/.codex}"
_SHARED = {"~/.agents", f"{_CONFIG}/agents", "~/.claude"}
"""Folders that several agents read: they say nothing about who is installed."""


def _row(
    name: str, title: str, folders: str, aliases: str = "", note: str = "", marker: str = "", *,
    reach: Reach = "workspace",
) -> Agent:  # fmt: skip
    """Build a row from folders written short: no `/skills` at the end, and the scope seen from the shape."""
    written = folders.split()
    own = marker.split() or [_by_default(folder) for folder in written if folder[0] in "~$" and folder not in _SHARED]
    rows = tuple([(_scope(folder), "skills" if folder == "." else folder + "/skills") for folder in written])
    return Agent(name, title, rows, reach, aliases=tuple(aliases.split()), home_marker=tuple(own), note=note)


def _scope(folder: str) -> Scope:
    return "user" if folder[0] in "~$" else "admin" if folder[0] == "/" else "project"


def _by_default(folder: str) -> str:
    return folder.partition(":-")[2].replace("}", "", 1) if folder[0] == "$" else folder


AGENTS: tuple[Agent, ...] = (
    # --- the convention, and the agents whose rules were checked in their own documentation or code
    _row("universal", "Universal convention", f".agents ~/.agents {_CONFIG}/agents", "agents", reach="ancestors"),
    _row("claude-code", "Claude Code", f"/etc/claude-code/.claude {_CLAUDE} .claude", "claude",
         "enterprise skills beat personal skills, and personal skills beat project skills; .agents is not read",
         reach="ancestors")._replace(plugins=(f"{_CLAUDE}/plugins/cache",), markets=(f"{_CLAUDE}/plugins/marketplaces",)),
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
    ),
    _row("gemini-cli", "Gemini CLI", ".agents .gemini ~/.agents ~/.gemini", "gemini",
         "workspace skills beat user skills, and .agents beats .gemini in each"),
    _row("github-copilot", "GitHub Copilot", ".github .agents .claude ~/.copilot ~/.agents", "copilot vscode vs-code",
         "chat.agentSkillsLocations can name more folders"),
    _row("cursor", "Cursor", ".agents .cursor .claude .codex ~/.cursor"),
    _row("opencode", "OpenCode", f".opencode .agents .claude {_CONFIG}/opencode", "open-code",
         "looks in every folder from the working folder up to the worktree's root", reach="ancestors"),
    _row("goose", "Goose", f".agents .goose .claude {_CONFIG}/goose {_CONFIG}/agents ~/.claude", "",
         "project skills beat user skills; in a project .agents beats .goose, and .goose beats .claude"),
    _row("openclaw", "OpenClaw", ". .agents ~/.agents ~/.openclaw", "claw",
         "the workspace's own skills folder beats .agents, and both beat the user's"),
    _row("hermes", "Hermes", ".hermes .agents ${HERMES_HOME:-~/.hermes}", "hermes-agent",
         "project skills (in trusted repositories only) beat local ones, and these beat external_dirs",
         )._replace(external=True),
    _row("deep-agents", "Deep Agents", ".claude ~/.claude .agents .deepagents ~/.agents ~/.deepagents/agent",
         "deepagents", "both .claude folders beat all others; of ~/.deepagents only the agent called 'agent' is read",
         "~/.deepagents"),
    _row("qwen-code", "Qwen Code", ".qwen ~/.qwen", "qwen", "project skills beat user skills"),
    _row("rovo-dev", "Rovo Dev", "~/.rovodev .rovodev", "rovodev rovo", "user skills beat project skills"),
    # --- agents that share the project folder .agents
    _row("amp", "Amp", f".agents {_CONFIG}/agents"),
    _row("replit", "Replit", f".agents {_CONFIG}/agents"),
    _row("cline", "Cline", ".agents ~/.agents"),
    _row("dexto", "Dexto", ".agents ~/.agents"),
    _row("kimi-code", "Kimi Code", ".agents ~/.agents", "kimi kimi-code-cli"),
    _row("loaf", "Loaf", ".agents ~/.agents"),
    _row("sarvam", "Sarvam", ".agents ~/.agents", "sarvam-code"),
    _row("warp", "Warp", ".agents ~/.agents"),
    _row("zed", "Zed", ".agents ~/.agents"),
    _row("coder", "Coder", ".agents", "", "only the workspace's skills are read"),
    _row("antigravity", "Antigravity", ".agents ~/.gemini/antigravity"),
    _row("antigravity-cli", "Antigravity CLI", ".agents ~/.gemini/antigravity-cli ~/.antigravity", "",
         "sources differ about its user folder: ~/.antigravity is the less certain one"),
    _row("droid", "Droid", ".agents ~/.factory", "factory factory-droid"),
    _row("firebender", "Firebender", ".agents ~/.firebender"),
    _row("kilo-code", "Kilo Code", ".agents .kilocode ~/.kilo", "kilo kilocode", ".kilocode is its older name",
         "~/.kilo ~/.kilocode"),
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
    _row("continue", "Continue", ".continue ~/.continue"),
    _row("cortex", "Cortex", ".cortex ~/.snowflake/cortex", "cortex-code snowflake-cortex"),
    _row("crush", "Crush", ".crush ~/.config/crush"),
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
    _row("mistral-vibe", "Mistral Vibe", ".vibe ${VIBE_HOME:-~/.vibe}", "vibe"),
    _row("moxby", "Moxby", ".moxby ~/.moxby"),
    _row("mux", "Mux", ".mux ~/.mux"),
    _row("neovate", "Neovate", ".neovate ~/.neovate"),
    _row("ona", "Ona", ".ona ~/.ona"),
    _row("openhands", "OpenHands", ".openhands ~/.openhands", "", "which of its folders wins was not verified"),
    _row("pi", "Pi", ".pi ~/.pi/agent"),
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
    return next((agent for agent in AGENTS if key in {agent.id, *agent.aliases, _key(agent.title)}), None)


def agent_asked(name: str | None) -> Agent | None:
    """Find the agent that somebody asked for; none when nobody did. What is no agent is an error with the nearest one."""
    found = agent_named(name) if name else None
    if name and found is None:
        near = closest(name, [agent.id for agent in AGENTS])
        meant = f"did you mean {near}? " if near else ""
        raise UsageError(f"there is no agent named '{name}'", hint=f"{meant}'metier doctor --agents' lists all")
    return found


def _key(text: str) -> str:
    return text.strip().lower().replace("_", "-").replace(" ", "-")
