"""How each agent is installed, and how it is asked which skills it sees: without a model, without a
network, with a home folder of our own.
"""

from __future__ import annotations

import http.server
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Said = list[tuple[str, str]]
    """Names, each with the path of its folder or SKILL.md, or nothing where that is not told."""

_CLAUDE = "@anthropic-ai/claude-code-linux-x64"
_OPENCODE = "opencode-linux-x64"
INSTALL_SECONDS, ASK_SECONDS = 900, 300


class NotAskedError(Exception):
    """An agent could not be installed, or gave no answer."""


class AskedAgent(NamedTuple):
    """One agent that answers."""

    id: str
    """As metier's table calls it."""
    package: str
    """On npm, or on PyPI where `python` is set."""
    ask: Callable[[Path, Path, Path], Said]
    """Given the tools' folder, a home and a working folder."""
    how: str
    program: str = ""
    """The package that holds the program itself, where that is another one."""
    python: bool = False
    without: tuple[str, ...] = ()
    """Names of folders, as patterns, that are taken off the machine before it is asked: with these
    it gives no answer at all."""

    def version(self, tools: Path) -> str:
        """Read which version is installed."""
        if self.python:
            code = f"import importlib.metadata as m; print(m.version({self.package!r}))"
            return run_agent([_python(tools, self.package), "-c", code], tools, tools).strip()
        package = self.program or self.package
        manifest = tools / "npm" / "node_modules" / package / "package.json"
        return str(json.loads(manifest.read_text(encoding="utf-8"))["version"])


def install(tools: Path, agent: AskedAgent, version: str = "") -> None:
    """Install an agent where it is not yet: a version, or the newest."""
    tools.mkdir(parents=True, exist_ok=True)
    try:
        if agent.python:
            _install_from_pypi(tools, agent.package, f"=={version}" if version else "")
        else:
            packages = [agent.package, *filter(None, (agent.program,))]
            _install_from_npm(tools, packages, version or "latest")
    except (OSError, subprocess.SubprocessError) as error:
        raise NotAskedError(f"{agent.package} cannot be installed: {error}") from error
    if version not in ("", agent.version(tools)):
        raise NotAskedError(f"{agent.package} {agent.version(tools)} is installed, not {version}")


def _install_from_pypi(tools: Path, package: str, version: str) -> None:
    place = tools / package
    if not (place / "installed").exists():
        _run_installer([_newest_python(), "-m", "venv", str(place)], tools)
        pip = [_python(tools, package), "-m", "pip", "install", "-q", package + version]
        _run_installer(pip, tools)
        (place / "installed").touch()


def _newest_python() -> str:
    """Name the newest Python that starts: a version manager also links those that are not chosen."""
    for name in ("python3.13", "python3.12"):
        if (
            shutil.which(name)
            and not subprocess.run([name, "-V"], capture_output=True, check=False).returncode
        ):
            return name
    return "python3"


def _install_from_npm(tools: Path, packages: list[str], version: str) -> None:
    if not (tools / "npm" / "node_modules" / packages[0]).exists():
        words = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]
        words += [str(tools / "npm"), *(f"{package}@{version}" for package in packages)]
        _run_installer(words, tools)


def _run_installer(words: list[str], tools: Path) -> None:
    """Run what fetches an agent, in the user's own environment: a proxy and its certificates are
    named there.
    """
    ended = subprocess.run(
        words,
        cwd=tools,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=INSTALL_SECONDS,
        check=False,
    )
    if ended.returncode:
        raise NotAskedError(f"{words[0]} failed: {ended.stderr.decode('utf-8', 'replace')[-300:]}")


def _python(tools: Path, package: str) -> str:
    return str(tools / package / "bin" / "python")


def npm_program(tools: Path, name: str) -> str:
    """Give the path of a program that npm installed."""
    return str(tools / "npm" / "node_modules" / ".bin" / name)


def package_program(tools: Path, package: str, path: str) -> str:
    """Give the path of a program in a package for this kind of machine: where npm's own link leads
    to what only an install script would fetch.
    """
    return str(tools / "npm" / "node_modules" / package / path)


def _environment(home: Path, **more: str) -> dict[str, str]:
    path = os.environ.get("PATH", os.defpath)
    return {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "TERM": "dumb", **more}


def run_agent(
    words: list[str], cwd: Path, home: Path, seconds: int = ASK_SECONDS, **more: str
) -> str:
    """Run a command and give what it prints: by way of a file, since some end before a pipe is
    emptied.
    """
    with tempfile.TemporaryFile() as output:
        ended = subprocess.run(
            words,
            cwd=cwd,
            env=_environment(home, **more),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.PIPE,
            timeout=seconds,
            check=False,
        )
        output.seek(0)
        said = output.read().decode("utf-8", "replace")
    if ended.returncode and not said:
        raise NotAskedError(f"{words[0]} failed: {ended.stderr.decode('utf-8', 'replace')[-300:]}")
    return said


# --- by a command of its own


def ask_codex(tools: Path, home: Path, cwd: Path) -> Said:
    """Ask the app server for `skills/list`."""
    child = subprocess.Popen(
        [npm_program(tools, "codex"), "app-server"],
        cwd=cwd,
        env=_environment(home),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        _tell(
            child,
            id=1,
            method="initialize",
            params={"clientInfo": {"name": "metier", "version": "1"}},
        )
        _answer(child, 1)
        _tell(child, method="initialized")
        _tell(child, id=2, method="skills/list", params={"cwds": [str(cwd)], "forceReload": True})
        said = _answer(child, 2)
    finally:
        child.kill()
        child.wait()
    return [
        (skill["name"], skill["path"])
        for place in said["result"]["data"]
        for skill in place["skills"]
        if skill["enabled"] and "/skills/.system/" not in skill["path"]  # these it brings along
    ]


def _tell(child: subprocess.Popen[str], **message: Any) -> None:
    assert child.stdin is not None
    child.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    child.stdin.flush()


def _answer(child: subprocess.Popen[str], number: int) -> Any:
    assert child.stdout is not None
    for line in child.stdout:
        message = json.loads(line)
        if message.get("id") == number:
            return message
    raise NotAskedError("it ended without an answer")


def ask_gemini(tools: Path, home: Path, cwd: Path) -> Said:
    """Read its `skills list --all`."""
    said = run_agent(
        [npm_program(tools, "gemini"), "skills", "list", "--all"],
        cwd,
        home,
        GEMINI_CLI_TRUST_WORKSPACE="true",
    )
    found = re.findall(
        r"^(.*)\n? \[Enabled\](?: \[Built-in\])?\n  Description:(?:.*\n)*?  Location: +(.*)$",
        said,
        re.MULTILINE,
    )
    return [(name, path) for name, path in found if "/node_modules/@google/" not in path]


def ask_opencode(tools: Path, home: Path, cwd: Path) -> Said:
    """Read its `debug skill`; which of several copies it took is chance, so places are not told."""
    found = json.loads(
        run_agent([package_program(tools, _OPENCODE, "bin/opencode"), "debug", "skill"], cwd, home)
    )
    return [(skill["name"], "") for skill in found if skill["location"].startswith("/")]


# --- by the request that it sends to a model


class _Api(http.server.BaseHTTPRequestHandler):
    """Answers like a model that has nothing to say, and keeps what it was asked."""

    asked: list[Any]

    def log_message(self, *_words: object) -> None:
        """Be quiet."""

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.end_headers()

    def do_GET(self) -> None:
        self.send_response(404)
        self.end_headers()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        self.server.asked.append(body)  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for kind, data in _events():
            self.wfile.write(f"event: {kind}\ndata: {json.dumps(data)}\n\n".encode())


def _events() -> Iterator[tuple[str, Any]]:
    message: Any = {
        "id": "m", "type": "message", "role": "assistant", "content": [], "model": "none",
        "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    yield "message_start", {"type": "message_start", "message": message}
    block = {"type": "text", "text": ""}
    yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}
    delta = {"type": "text_delta", "text": "Nothing."}
    yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": 0}
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 1}}
    yield "message_stop", {"type": "message_stop"}


def ask_claude(tools: Path, home: Path, cwd: Path) -> Said:
    """Let it send a request to a model on loopback, and read which skills the request offers; its
    budget is set so high that none is cut.
    """
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Api)
    server.asked = []  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        run_agent(
            [package_program(tools, _CLAUDE, "claude"), "-p", "hello"],
            cwd,
            home,
            ANTHROPIC_BASE_URL=f"http://127.0.0.1:{server.server_port}",
            ANTHROPIC_API_KEY="none",
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
            DISABLE_AUTOUPDATER="1",
            SLASH_COMMAND_TOOL_CHAR_BUDGET="10000000",
        )
    finally:
        server.shutdown()
        server.server_close()
    offered = [line for text in _texts(server.asked) for line in _offered(text)]  # type: ignore[attr-defined]
    return _with_places(offered, home, cwd)


def _texts(asked: list[Any]) -> Iterator[str]:
    for body in asked:
        for message in body.get("messages", ()):
            content = message["content"]
            parts = [{"text": content}] if isinstance(content, str) else content
            yield from (part.get("text", "") for part in parts)


def _offered(text: str) -> list[tuple[str, str]]:
    """Give the names that a text offers, each with its description."""
    _before, _found, listed = text.partition("skills are available for use with the Skill tool:")
    return re.findall(r"^- ([^:\n]+(?::[^ :\n]+)?)(?::? (.*))?$", listed, re.MULTILINE)


def _with_places(offered: list[tuple[str, str]], home: Path, cwd: Path) -> Said:
    """Find the folder of each name in the folders that Claude Code reads, of several the one whose
    text has the description; its own skills have none.
    """
    roots = [
        home / ".claude" / "skills",
        *(folder / ".claude" / "skills" for folder in (cwd, *cwd.parents)),
    ]
    seen: Counter[str] = Counter()
    found: Said = []
    for said, description in offered:
        name = _folder_of(said, roots)
        plugin, colon, plain = name.rpartition(":")
        places = [str(root / name) for root in roots if (root / name / "SKILL.md").exists()]
        if colon:
            cache = (home / ".claude" / "plugins" / "cache").glob(f"*/{plugin}/*/skills/{plain}")
            places = [str(path) for path in cache]
        if len(places) > 1:
            places.sort(key=lambda place: not _describes(Path(place), description))
        if seen[name] < len(places):
            found.append((name, places[seen[name]]))
        seen[name] += 1
    return found


def _describes(folder: Path, description: str) -> bool:
    text = (folder / "SKILL.md").read_bytes().decode("utf-8", "replace")
    return f"\ndescription: {description}\n" in text


def _folder_of(said: str, roots: list[Path]) -> str:
    """Take off what newer versions add after the folder's name: "folder (its own name)"."""
    name = said
    while name and not any((root / name / "SKILL.md").exists() for root in roots):
        name = name.rpartition(" (")[0]
    return name or said.partition(" (")[0]


# --- by a function of its own

_HERMES = """
import json
from tools import skills_tool
met = []
categorise = skills_tool._get_category_from_path
def note(path):
    met.append(str(path))
    return categorise(path)
skills_tool._get_category_from_path = note
names = [str(skill.get("name")) for skill in skills_tool._find_all_skills()]
assert len(names) == len(met)
print("@@" + json.dumps(list(zip(names, met))))
"""
_DEEP_AGENTS = """
import json
from deepagents_code.skills.invocation import discover_skills_and_roots
found = discover_skills_and_roots("agent")[0]
print("@@" + json.dumps([[skill["name"], str(skill["path"])] for skill in found]))
"""


def call_function(tools: Path, package: str, code: str, home: Path, cwd: Path) -> Said:
    """Run code in a package's own Python; it prints its answer after a mark."""
    said = run_agent([_python(tools, package), "-c", code], cwd, home)
    before, found, listed = said.rpartition("@@")
    if not found:
        raise NotAskedError(f"{package} gave no answer: {before[-200:]}")
    return [(name, path) for name, path in json.loads(listed)]


def ask_hermes(tools: Path, home: Path, cwd: Path) -> Said:
    """Call what its `skills_list` tool calls."""
    return call_function(tools, "hermes-agent", _HERMES, home, cwd)


def ask_deep_agents(tools: Path, home: Path, cwd: Path) -> Said:
    """Call what gathers the skills that its model is given."""
    said = call_function(tools, "deepagents-code", _DEEP_AGENTS, home, cwd)
    return [(name, path) for name, path in said if "/built_in_skills/" not in path]


ASKED: tuple[AskedAgent, ...] = (
    AskedAgent("codex", "@openai/codex", ask_codex, "its app server's skills/list"),
    AskedAgent(
        "claude-code",
        "@anthropic-ai/claude-code",
        ask_claude,
        "the request that it sends",
        program=_CLAUDE,
    ),
    AskedAgent("gemini-cli", "@google/gemini-cli", ask_gemini, "gemini skills list --all"),
    AskedAgent("opencode", "opencode-ai", ask_opencode, "opencode debug skill", program=_OPENCODE),
    AskedAgent("hermes", "hermes-agent", ask_hermes, "its skills_list tool", python=True),
    AskedAgent(
        "deep-agents", "deepagents-code", ask_deep_agents, "what its model is given", python=True
    ),
)
