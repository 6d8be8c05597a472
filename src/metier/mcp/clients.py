"""Which client keeps its list of servers where, and in what words: rows of a table, so that no other code knows any by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from metier.closest import closest
from metier.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

    Form = Literal["json", "toml", "yaml"]

NAME = "metier"
"""What the server is called in every client."""
TIMEOUT_SECONDS = 300
LATER = ("enabled", "disabled", "timeout", "tools", "description", "name")
"""What is written once, and is the user's own from then on."""


class Started(NamedTuple):
    """How a server is reached: a command that the client starts, or an address and the header that it asks for."""

    command: tuple[str, ...] = ()
    url: str = ""
    token: str = ""

    def __repr__(self) -> str:
        """Leave the token out: it must not get into a traceback."""
        return f"Started({self.command!r}, {self.url!r})"


class Shape(NamedTuple):
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


class Client(NamedTuple):
    """One client. A path begins with `~` or one `${VARIABLE:-default}`; a project's is below the project."""

    id: str
    title: str
    agent: str
    """The agent whose folders and precedence it follows; nothing where metier knows none."""
    section: tuple[str, ...]
    user: tuple[tuple[str, str], ...]
    """A path by platform; the one without a platform is for all others."""
    project: str = ""
    shape: Shape = Shape()
    form: Form = "json"
    aliases: tuple[str, ...] = ()
    runs: bool = True
    """Whether it can run programs itself; one that cannot has no use for skills that tell it to."""


_CONFIG = "${XDG_CONFIG_HOME:-~/.config}"
_ROAMING = "${APPDATA:-~/AppData/Roaming}"
_SUPPORT = "~/Library/Application Support"
_SERVERS = ("mcpServers",)
_TYPED = Shape((("type", "stdio"),), (("type", "http"),))
_STREAMABLE = Shape((), (("type", "streamable-http"),))
_GOOSE = (("enabled", True), ("name", NAME), ("description", "Agent skills of this machine"), ("timeout", TIMEOUT_SECONDS))


def _apart(linux: str, mac: str, windows: str) -> tuple[tuple[str, str], ...]:
    return (("darwin", mac), ("win32", windows), ("", linux))


def _same(path: str) -> tuple[tuple[str, str], ...]:
    return (("", path),)


def _vscode(path: str) -> tuple[tuple[str, str], ...]:
    return _apart(f"{_CONFIG}/Code/User/{path}", f"{_SUPPORT}/Code/User/{path}", f"{_ROAMING}/Code/User/{path}")


CLIENTS: tuple[Client, ...] = (
    Client("claude-code", "Claude Code", "claude-code", _SERVERS, _same("${CLAUDE_CONFIG_DIR:-~}/.claude.json"), ".mcp.json",
           _TYPED, aliases=("claude",)),
    Client("claude-desktop", "Claude Desktop", "", _SERVERS,
           _apart(f"{_CONFIG}/Claude/claude_desktop_config.json", f"{_SUPPORT}/Claude/claude_desktop_config.json",
                  f"{_ROAMING}/Claude/claude_desktop_config.json"), shape=Shape(url=""), runs=False),
    Client("codex", "Codex", "codex", ("mcp_servers",), _same("${CODEX_HOME:-~/.codex}/config.toml"), ".codex/config.toml",
           Shape(headers="http_headers"), "toml", ("codex-cli", "openai-codex")),
    Client("cursor", "Cursor", "cursor", _SERVERS, _same("~/.cursor/mcp.json"), ".cursor/mcp.json"),
    Client("vscode", "Visual Studio Code", "github-copilot", ("servers",), _vscode("mcp.json"), ".vscode/mcp.json", _TYPED,
           aliases=("vs-code", "code", "copilot")),
    Client("copilot-cli", "GitHub Copilot CLI", "github-copilot", _SERVERS, _same("~/.copilot/mcp-config.json"),
           shape=Shape((("type", "local"), ("tools", ("*",))), (("type", "http"), ("tools", ("*",)))),
           aliases=("github-copilot-cli",)),
    Client("gemini-cli", "Gemini CLI", "gemini-cli", _SERVERS, _same("~/.gemini/settings.json"), ".gemini/settings.json",
           Shape(url="httpUrl"), aliases=("gemini",)),
    Client("qwen-code", "Qwen Code", "qwen-code", _SERVERS, _same("~/.qwen/settings.json"), ".qwen/settings.json",
           Shape(url="httpUrl"), aliases=("qwen",)),
    Client("windsurf", "Windsurf", "windsurf", _SERVERS, _same("~/.codeium/windsurf/mcp_config.json"),
           shape=Shape(url="serverUrl")),
    Client("zed", "Zed", "zed", ("context_servers",),
           _apart(f"{_CONFIG}/zed/settings.json", "~/.config/zed/settings.json", f"{_ROAMING}/Zed/settings.json"),
           ".zed/settings.json"),
    Client("goose", "Goose", "goose", ("extensions",),
           _apart(f"{_CONFIG}/goose/config.yaml", "~/.config/goose/config.yaml", f"{_ROAMING}/Block/goose/config/config.yaml"),
           shape=Shape((("type", "stdio"), *_GOOSE), (("type", "streamable_http"), *_GOOSE), "cmd", url="uri"), form="yaml"),
    Client("opencode", "OpenCode", "opencode", ("mcp",), _same(f"{_CONFIG}/opencode/opencode.json"), "opencode.json",
           Shape((("type", "local"), ("enabled", True)), (("type", "remote"), ("enabled", True)), args=""), aliases=("open-code",)),
    Client("amp", "Amp", "amp", ("amp.mcpServers",), _same(f"{_CONFIG}/amp/settings.json"), ".amp/settings.json"),
    Client("cline", "Cline", "cline", _SERVERS, _vscode("globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
           shape=Shape((("disabled", False),), (("type", "streamableHttp"), ("disabled", False)))),
    Client("crush", "Crush", "crush", ("mcp",), _same(f"{_CONFIG}/crush/crush.json"), "crush.json", _TYPED),
    Client("droid", "Droid", "droid", _SERVERS, _same("~/.factory/mcp.json"), ".factory/mcp.json", _TYPED, aliases=("factory",)),
    Client("hermes", "Hermes", "hermes", ("mcp_servers",), _same("${HERMES_HOME:-~/.hermes}/config.yaml"), form="yaml"),
    Client("kilo-code", "Kilo Code", "kilo-code", _SERVERS, _same("~/.kilocode/cli/global/settings/mcp_settings.json"),
           ".kilocode/mcp.json", _STREAMABLE, aliases=("kilo", "kilocode")),
    Client("kiro", "Kiro", "kiro", _SERVERS, _same("~/.kiro/settings/mcp.json"), ".kiro/settings/mcp.json"),
    Client("lm-studio", "LM Studio", "", _SERVERS, _same("~/.lmstudio/mcp.json"), aliases=("lmstudio",), runs=False),
    Client("roo-code", "Roo Code", "roo-code", _SERVERS,
           _vscode("globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"), ".roo/mcp.json", _STREAMABLE,
           aliases=("roo",)),
)  # fmt: skip


def client_named(text: str) -> Client:
    """Find a client by its id, an alias or its title; what is none is an error with the nearest one."""
    key = text.strip().lower().replace("_", "-").replace(" ", "-")
    found = next((one for one in CLIENTS if key in {one.id, *one.aliases, one.title.lower().replace(" ", "-")}), None)
    if found is None:
        near = closest(key, [one.id for one in CLIENTS])
        meant = f"did you mean {near}? " if near else ""
        raise UsageError("metier knows no such client", hint=f"{meant}it knows: {', '.join(one.id for one in CLIENTS)}")
    return found


def place_of(client: Client, platform: str, env: Mapping[str, str], home: str | None) -> str:
    """Give the file of a user; nothing where that depends on a home folder that is not known."""
    found = dict(client.user)
    path = found.get(platform, found[""])
    if path.startswith("${"):
        name, _sign, default = path[2:].partition("}")[0].partition(":-")
        path = (env.get(name, "").strip().rstrip("/") or default) + path.partition("}")[2]
    if not path.startswith("~"):
        return path
    return f"{home.rstrip('/')}{path[1:]}" if home else ""


def entry_of(client: Client, started: Started) -> dict[str, Any]:
    """Give what stands under the server's name, in that client's words."""
    shape = client.shape
    if started.url:
        if not shape.url:
            raise UsageError(f"{client.title} takes no address from its file", hint="leave --http out: it starts metier by itself")
        headers = {"Authorization": f"Bearer {started.token}"}
        return {**_plain(shape.remote), shape.url: started.url, shape.headers: headers}
    program, *words = started.command
    own: dict[str, Any] = {shape.command: program, shape.args: words} if shape.args else {shape.command: [program, *words]}
    return {**_plain(shape.local), **own}


def _plain(fields: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields}


def updated(client: Client, before: Any, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Give the entry as it is to be: what the user added stays, unless the server is now reached in another way."""
    shape = client.shape
    if not isinstance(before, dict) or (shape.url in before) != (shape.url in entry):
        return dict(entry)
    ours = {name for name, _value in (*shape.local, *shape.remote)} | {shape.command, shape.args, shape.url, shape.headers}
    kept = {name: value for name, value in before.items() if name not in ours or (name in LATER and name in entry)}
    stayed = {name: kept.get(name, entry.get(name)) for name in before if name in kept or name in entry}
    return {**stayed, **{name: value for name, value in entry.items() if name not in stayed}}
