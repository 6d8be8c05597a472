"""Which client keeps its list of servers where, and in what words: rows of a table, so that no
other code knows any by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from metier.errors import UsageError, closest
from metier.standard.names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

    from metier.model import JsonObject, Texts

    Form = Literal["json", "toml", "yaml"]

SERVER_NAME = "metier"
"""What the server is called in every client."""
TIMEOUT_SECONDS = 300
WRITTEN_ONCE = ("enabled", "disabled", "timeout", "tools", "description", "name")
"""What is written once, and is the user's own from then on."""


class ServerEndpoint(NamedTuple):
    """How a server is reached: a command that the client starts, or an address and the header that
    it asks for.
    """

    command: Texts = ()
    url: str = ""
    token: str = ""

    def __repr__(self) -> str:
        """Leave the token out: it must not get into a traceback."""
        return f"ServerEndpoint({self.command!r}, {self.url!r})"


class EntryShape(NamedTuple):
    """The words of an entry."""

    local: tuple[tuple[str, Any], ...] = ()
    """What an entry with a command has beside it."""
    remote: tuple[tuple[str, Any], ...] = ()
    """What an entry with an address has beside it."""
    command: str = "command"
    args: str = "args"
    """Nothing: the command and its words are one list."""
    url: str = "url"
    """Nothing: the client takes no address from its file."""
    headers: str = "headers"


class McpClient(NamedTuple):
    """One client. A path begins with `~` or one `${VARIABLE:-default}`; a project's is below the
    project.
    """

    id: str
    title: str
    agent: str
    """The agent whose folders and precedence it follows; nothing where metier knows none."""
    section: Texts
    user: tuple[tuple[str, str], ...]
    """A path by platform; the one without a platform is for all others."""
    project: str = ""
    shape: EntryShape = EntryShape()
    form: Form = "json"
    aliases: Texts = ()
    runs: bool = True
    """Whether it can run programs itself; one that cannot has no use for skills that tell it to."""


_CONFIG = "${XDG_CONFIG_HOME:-~/.config}"
_ROAMING = "${APPDATA:-~/AppData/Roaming}"
_SUPPORT = "~/Library/Application Support"
_SERVERS = ("mcpServers",)
_TYPED = EntryShape((("type", "stdio"),), (("type", "http"),))
_STREAMABLE = EntryShape((), (("type", "streamable-http"),))
_GOOSE = (
    ("enabled", True),
    ("name", SERVER_NAME),
    ("description", "Agent skills of this machine"),
    ("timeout", TIMEOUT_SECONDS),
)


def _apart(linux: str, mac: str, windows: str) -> tuple[tuple[str, str], ...]:
    return (("darwin", mac), ("win32", windows), ("", linux))


def _same(path: str) -> tuple[tuple[str, str], ...]:
    return (("", path),)


def _vscode(path: str) -> tuple[tuple[str, str], ...]:
    return _apart(
        f"{_CONFIG}/Code/User/{path}",
        f"{_SUPPORT}/Code/User/{path}",
        f"{_ROAMING}/Code/User/{path}",
    )


CLIENTS: tuple[McpClient, ...] = (
    McpClient("claude-code", "Claude Code", "claude-code", _SERVERS, _same("${CLAUDE_CONFIG_DIR:-~}/.claude.json"), ".mcp.json",
           shape=_TYPED, aliases=("claude",)),
    McpClient("claude-desktop", "Claude Desktop", "", _SERVERS,
           _apart(f"{_CONFIG}/Claude/claude_desktop_config.json", f"{_SUPPORT}/Claude/claude_desktop_config.json",
                  f"{_ROAMING}/Claude/claude_desktop_config.json"), shape=EntryShape(url=""), runs=False),
    McpClient("codex", "Codex", "codex", ("mcp_servers",), _same("${CODEX_HOME:-~/.codex}/config.toml"), ".codex/config.toml",
           shape=EntryShape(headers="http_headers"), form="toml", aliases=("codex-cli", "openai-codex")),
    McpClient("cursor", "Cursor", "cursor", _SERVERS, _same("~/.cursor/mcp.json"), ".cursor/mcp.json"),
    McpClient("vscode", "Visual Studio Code", "github-copilot", ("servers",), _vscode("mcp.json"), ".vscode/mcp.json", shape=_TYPED,
           aliases=("vs-code", "code", "copilot")),
    McpClient("copilot-cli", "GitHub Copilot CLI", "github-copilot", _SERVERS, _same("~/.copilot/mcp-config.json"),
           shape=EntryShape((("type", "local"), ("tools", ("*",))), (("type", "http"), ("tools", ("*",)))),
           aliases=("github-copilot-cli",)),
    McpClient("gemini-cli", "Gemini CLI", "gemini-cli", _SERVERS, _same("~/.gemini/settings.json"), ".gemini/settings.json",
           shape=EntryShape(url="httpUrl"), aliases=("gemini",)),
    McpClient("qwen-code", "Qwen Code", "qwen-code", _SERVERS, _same("~/.qwen/settings.json"), ".qwen/settings.json",
           shape=EntryShape(url="httpUrl"), aliases=("qwen",)),
    McpClient("windsurf", "Windsurf", "windsurf", _SERVERS, _same("~/.codeium/windsurf/mcp_config.json"),
           shape=EntryShape(url="serverUrl")),
    McpClient("zed", "Zed", "zed", ("context_servers",),
           _apart(f"{_CONFIG}/zed/settings.json", "~/.config/zed/settings.json", f"{_ROAMING}/Zed/settings.json"),
           ".zed/settings.json"),
    McpClient("goose", "Goose", "goose", ("extensions",),
           _apart(f"{_CONFIG}/goose/config.yaml", "~/.config/goose/config.yaml", f"{_ROAMING}/Block/goose/config/config.yaml"),
           shape=EntryShape((("type", "stdio"), *_GOOSE), (("type", "streamable_http"), *_GOOSE), "cmd", url="uri"), form="yaml"),
    McpClient("opencode", "OpenCode", "opencode", ("mcp",), _same(f"{_CONFIG}/opencode/opencode.json"), "opencode.json",
           shape=EntryShape((("type", "local"), ("enabled", True)),
                      (("type", "remote"), ("enabled", True)), args=""), aliases=("open-code",)),
    McpClient("amp", "Amp", "amp", ("amp.mcpServers",), _same(f"{_CONFIG}/amp/settings.json"), ".amp/settings.json"),
    McpClient("cline", "Cline", "cline", _SERVERS, _vscode("globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
           shape=EntryShape((("disabled", False),), (("type", "streamableHttp"), ("disabled", False)))),
    McpClient("crush", "Crush", "crush", ("mcp",), _same(f"{_CONFIG}/crush/crush.json"), "crush.json", shape=_TYPED),
    McpClient("droid", "Droid", "droid", _SERVERS, _same("~/.factory/mcp.json"), ".factory/mcp.json", shape=_TYPED, aliases=("factory",)),
    McpClient("hermes", "Hermes", "hermes", ("mcp_servers",), _same("${HERMES_HOME:-~/.hermes}/config.yaml"), form="yaml"),
    McpClient("kilo-code", "Kilo Code", "kilo-code", _SERVERS, _same("~/.kilocode/cli/global/settings/mcp_settings.json"),
           ".kilocode/mcp.json", shape=_STREAMABLE, aliases=("kilo", "kilocode")),
    McpClient("kiro", "Kiro", "kiro", _SERVERS, _same("~/.kiro/settings/mcp.json"), ".kiro/settings/mcp.json"),
    McpClient("lm-studio", "LM Studio", "", _SERVERS, _same("~/.lmstudio/mcp.json"), aliases=("lmstudio",), runs=False),
    McpClient("roo-code", "Roo Code", "roo-code", _SERVERS,
           _vscode("globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"), ".roo/mcp.json", shape=_STREAMABLE,
           aliases=("roo",)),
)  # fmt: skip


def client_named(text: str) -> McpClient:
    """Find a client by its id, an alias or its title; what is none is an error with the nearest
    one.
    """
    key = text.strip().lower().replace("_", "-").replace(" ", "-")
    found = next(
        (
            one
            for one in CLIENTS
            if key in {one.id, *one.aliases, one.title.lower().replace(" ", "-")}
        ),
        None,
    )
    if found is None:
        known = [one.id for one in CLIENTS]
        near = did_you_mean(key, known).strip() or _of_a_maker(key, known)
        # what is near none may be a token that slipped in, and is not repeated
        raise UsageError(
            f"unknown client '{key}'" if near else "unknown client",
            hint=near or f"choose one of: {', '.join(known)}",
        )
    return found


def _of_a_maker(key: str, known: Sequence[str]) -> str:
    """Name the clients whose first word is near: of one maker there may be several."""
    first = closest(key, [one.partition("-")[0] for one in known])
    meant = [one for one in known if first and one.partition("-")[0] == first]
    return f"did you mean {' or '.join(meant)}?" if meant else ""


def user_file(client: McpClient, platform: str, env: Mapping[str, str], home: str | None) -> str:
    """Give the file of a user; nothing where that depends on a home folder that is not known."""
    found = dict(client.user)
    path = found.get(platform, found[""])
    if path.startswith("${"):
        name, _sign, default = path[2:].partition("}")[0].partition(":-")
        path = (env.get(name, "").strip().rstrip("/") or default) + path.partition("}")[2]
    if not path.startswith("~"):
        return path
    return f"{home.rstrip('/')}{path[1:]}" if home else ""


def entry_of(client: McpClient, started: ServerEndpoint) -> JsonObject:
    """Give what stands under the server's name, in that client's words."""
    shape = client.shape
    if started.url:
        if not shape.url:
            raise UsageError(
                f"{client.title} takes no address from its file",
                hint="leave --http out: it starts metier by itself",
            )
        headers = {"Authorization": f"Bearer {started.token}"}
        return {**_plain(shape.remote), shape.url: started.url, shape.headers: headers}
    program, *words = started.command
    own: JsonObject = (
        {shape.command: program, shape.args: words}
        if shape.args
        else {shape.command: [program, *words]}
    )
    return {**_plain(shape.local), **own}


def _plain(fields: Sequence[tuple[str, Any]]) -> JsonObject:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields}


def update_entry(client: McpClient, before: Any, entry: Mapping[str, Any]) -> JsonObject:
    """Give the entry as it is to be: what the user added stays, unless the server is now reached in
    another way.
    """
    shape = client.shape
    if not isinstance(before, dict) or (shape.url in before) != (shape.url in entry):
        return dict(entry)
    ours = {name for name, _value in (*shape.local, *shape.remote)} | {
        shape.command,
        shape.args,
        shape.url,
        shape.headers,
    }
    kept = {
        name: value
        for name, value in before.items()
        if name not in ours or (name in WRITTEN_ONCE and name in entry)
    }
    stayed = {
        name: kept.get(name, entry.get(name)) for name in before if name in kept or name in entry
    }
    return {**stayed, **{name: value for name, value in entry.items() if name not in stayed}}
