"""The official conformance suite of MCP and MCP Inspector, run against `metier mcp`.

Both come from npm and are kept in a cache. The suite speaks HTTP only, and cannot be given a token:
a small proxy on this machine adds it and hands everything else on as it came. Inspector speaks over
stdio and over HTTP. What the suite asks of its own reference server (a tool that returns a picture,
a prompt that samples) does not apply to a server of skills: `NOT_OURS` names each such check with
the reason. Any other check that fails is a failure, and so is a row of `NOT_OURS` that passes.

Exit 1 when anything fails, 2 when nothing can be run (no Node, no npm).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSIONS = ("2025-06-18", "2025-11-25", "2026-07-28")
"""The versions of the protocol that metier and the suite both speak."""
ERAS = ("legacy", "modern")
"""What Inspector calls the older versions and the newest one."""
SUITE = ("@modelcontextprotocol/conformance", "0.2.0-alpha.12")
INSPECTOR = ("@modelcontextprotocol/inspector", "2.12.0")
NODE_VERSION = "22.23.3"
"""Comes from npm where the machine's own Node is older than Inspector wants."""
WANTED_NODE = (22, 19)
INSTALL_SECONDS = 900
RUN_SECONDS = 300
CONNECT_SECONDS = 120
"""Inspector's own patience is 15 seconds, which a busy machine needs to start metier."""
GOODBYE_SECONDS = 20
SOURCE = Path(__file__).resolve().parent.parent / "src"
EXTENSION = "sep-2640-"
"""What scenarios of the skills extension are called; all others of extensions are not ours."""
NO_EXTENSION = {"tasks-": "metier does not declare the extension for tasks"}
"""Scenarios of other extensions, by the beginning of their names; they are not run."""

_TOOL = "it calls a tool of the suite's reference server"
_PROMPT = "it gets a prompt of the suite's reference server"
_RESOURCE = "it reads a resource of the suite's reference server"
_BACK = "no tool of metier asks the client back"
_HEADERS = "no tool of metier takes an argument from a header"
NOT_OURS = {
    "logging-set-level": "metier sends its client no logs, and does not say that it does",
    "completion-complete": "metier completes no arguments, and does not say that it does",
    "tools-call-simple-text": _TOOL,
    "tools-call-image": _TOOL,
    "tools-call-audio": _TOOL,
    "tools-call-embedded-resource": _TOOL,
    "tools-call-mixed-content": _TOOL,
    "tools-call-with-logging": _TOOL,
    "tools-call-error": _TOOL,
    "tools-call-with-progress": _TOOL,
    "tools-call-sampling": _BACK,
    "tools-call-elicitation": _BACK,
    "elicitation-sep1034-general": _BACK,
    "elicitation-sep1330-general": _BACK,
    "json-schema-2020-12-tool-found": _TOOL,
    "resources-read-text": _RESOURCE,
    "resources-read-binary": _RESOURCE,
    "resources-templates-read": _RESOURCE,
    "prompts-get-simple": _PROMPT,
    "prompts-get-with-args": _PROMPT,
    "prompts-get-embedded-resource": _PROMPT,
    "prompts-get-with-image": _PROMPT,
    "sep-2575-server-rejects-undeclared-capability": _BACK,
    "sep-2575-missing-capability-http-400": _BACK,
    "sep-2575-http-server-no-independent-requests-on-stream": _BACK,
    "sep-2575-server-no-log-without-loglevel": "metier sends its client no logs",
    "sep-2243-server-no-xmcp-tool": _HEADERS,
    "sep-2243-server-decode-base64": _HEADERS,
    "sep-2243-server-validate-param-match": _HEADERS,
    "sep-2243-server-reject-invalid-param-chars": _HEADERS,
    "sep-2243-server-reject-param-mismatch": _HEADERS,
    "sep-2322-elicitation-incomplete": _BACK,
    "sep-2322-list-roots-incomplete": _BACK,
    "sep-2322-sampling-incomplete": _BACK,
    "sep-2322-respect-client-capabilities": _BACK,
    "sep-2322-multi-round-r1": _BACK,
    "sep-2322-multiple-inputs-incomplete": _BACK,
    "sep-2322-non-tool-incomplete": _BACK,
    "sep-2322-request-state-incomplete": _BACK,
    "sep-2322-result-type-included": _BACK,
    "sep-2322-reject-tampered-state": _BACK,
}
"""Checks of the suite that cannot apply, by their id, each with the reason."""

ASKED: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("tools/list", ("--strict",), '"load_skill"'),
    ("tools/call", ("--tool-name", "search_skills", "--tool-arg", "query=forms"), "pdf"),
    ("tools/call", ("--tool-name", "load_skill", "--tool-arg", "name=pdf"), "Fill it in"),
    (
        "tools/call",
        ("--tool-name", "read_skill_file", "--tool-arg", "name=pdf", "path=references/page-01.md"),
        "Page 1",
    ),
    ("prompts/list", (), '"pdf"'),
    ("prompts/get", ("--prompt-name", "pdf"), "Fill it in"),
    ("resources/list", (), "skill://pdf/SKILL.md"),
    ("resources/templates/list", (), "skill://{name}/SKILL.md"),
    ("resources/read", ("--uri", "skill://pdf/assets/logo.bin"), "blob"),
    ("resources/directory/read", ("--uri", "skill://pdf"), "inode/directory"),
    ("resources/directory/read", ("--uri", "skill://pdf/references"), "nextCursor"),
    ("skills/list", ("--verify", "--require-digests"), '"outcome":"verified"'),
    ("skills/get", ("--uri", "skill://pdf/SKILL.md", "--verify"), '"outcome":"verified"'),
)
"""What Inspector asks: a method, its options, and what its answer must hold."""


class Row(NamedTuple):
    """One line of the table: who looked at what, over which wire, and what came of it."""

    checker: str
    wire: str
    version: str
    what: str
    outcome: str  # passed, failed, in part or not ours
    why: str = ""


class CannotRunError(Exception):
    """Node or npm is missing, or something could not be installed or started."""


# --- what is run


class Kit(NamedTuple):
    """Node and the two packages, installed."""

    node: str
    suite: str
    inspector: str


def install(cache: Path) -> Kit:
    """Install what is missing from the cache; npm's install scripts are not run."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        raise CannotRunError("node and npm are needed, and are not on the PATH")
    wanted = ["@".join(SUITE), "@".join(INSPECTOR)]
    node = shutil.which("node") or ""
    if _node_version(node) < WANTED_NODE:
        package = f"node-{_system()}"
        wanted.append(f"{package}@{NODE_VERSION}")
        node = str(cache / "node_modules" / package / "bin/node")
    done = cache / "installed.json"
    if not done.exists() or json.loads(done.read_text(encoding="utf-8")) != wanted:
        cache.mkdir(parents=True, exist_ok=True)
        (cache / "package.json").write_text('{"private": true}', encoding="utf-8")
        options = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
        _must("npm", "install", *options, *wanted, cwd=cache)
        done.write_text(json.dumps(wanted), encoding="utf-8")
    return Kit(node, *(_program(cache, package) for package, _version in (SUITE, INSPECTOR)))


def _system() -> str:
    """Name this machine as npm's packages of Node do."""
    processors = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}
    processor = platform.machine().lower()
    return f"{platform.system().lower()}-{processors.get(processor, processor)}"


def _node_version(node: str) -> tuple[int, ...]:
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(int(part) for part in re.findall(r"\d+", said)[:2])


def _program(cache: Path, package: str) -> str:
    """Give the script that a package starts with."""
    folder = cache / "node_modules" / package
    bins = json.loads((folder / "package.json").read_text(encoding="utf-8"))["bin"]
    return str(folder / (bins if isinstance(bins, str) else next(iter(bins.values()))))


def _must(*argv: str, cwd: Path) -> None:
    try:
        done = subprocess.run(
            argv, cwd=cwd, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotRunError(f"cannot be installed: {error}") from error
    if done.returncode:
        raise CannotRunError(f"cannot be installed: {done.stderr.strip()}")


# --- what is served


def lay_out(folder: Path) -> dict[str, str]:
    """Write a small library, and give the environment in which metier serves it."""
    skills = folder / "home/.agents/skills"
    for name, says in {
        "pdf": "Fills in PDF forms",
        "ocr": "Reads text from pictures",
        "notes": "Writes release notes",
    }.items():
        (skills / name).mkdir(parents=True)
        text = f"---\nname: {name}\ndescription: {says}.\n---\n\nFill it in.\n"
        (skills / name / "SKILL.md").write_text(text, encoding="utf-8")
        (skills / name / "assets").mkdir()
        (skills / name / "assets/logo.bin").write_bytes(b"\xff\x00\xfe")
    other = folder / "elsewhere/skills/haiku"
    other.mkdir(parents=True)
    (other / "SKILL.md").write_text(
        "---\nname: haiku\ndescription: Writes a haiku.\n---\n\nThree lines.\n", encoding="utf-8"
    )
    for number in range(1, 61):  # more than one page of a listing
        page = skills / f"pdf/references/page-{number:02}.md"
        page.parent.mkdir(exist_ok=True)
        page.write_text(f"# Page {number}\n", encoding="utf-8")
    (folder / "work").mkdir()
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "home"),
        "METIER_HOME": str(folder / "state"),
        "METIER_SCAN_MODEL": "off",
        "METIER_BACKGROUND": "off",
        "PYTHONPATH": str(SOURCE),
        "LC_ALL": "C.UTF-8",
    }


def command(*words: str) -> list[str]:
    """Start metier as this interpreter has it."""
    return [sys.executable, "-m", "metier", "mcp", *words]


def joined_words(folder: Path) -> list[str]:
    """Join the skills of a second server: metier again, over another folder."""
    state = folder / "elsewhere/state"
    start = f"env METIER_HOME={state} METIER_SCAN_MODEL=off PYTHONPATH={SOURCE} {sys.executable}"
    served = f"-m metier mcp --root {folder / 'elsewhere/skills'}"
    return ["--upstream", f"other=stdio:{start} {served}"]


@contextmanager
def serve_http(env: dict[str, str], folder: Path, more: list[str]) -> Iterator[tuple[str, str]]:
    """Serve over HTTP for a while; give the address and the token."""
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            command("--http", "127.0.0.1:0", *more),
            env=env,
            cwd=folder / "work",
            stdout=log,
            stderr=subprocess.PIPE,
            text=True,
        )
        with process:
            assert process.stderr is not None
            said = ""
            found = None
            while found is None:  # what is joined is told of first
                line = process.stderr.readline()
                said += line
                if "serves MCP at" in line:
                    found = re.search(r"http://\S+/mcp", line)
                if not line:
                    raise CannotRunError(f"metier mcp does not start: {said}")
            threading.Thread(target=process.stderr.read, daemon=True).start()
            token = (folder / "state/mcp/token").read_text(encoding="utf-8").strip()
            try:
                yield found.group(), token
            finally:
                process.send_signal(signal.SIGTERM)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(GOODBYE_SECONDS)
                process.kill()


# --- a proxy that adds the token


@contextmanager
def add_token(url: str, token: str) -> Iterator[str]:
    """Give an address at which the server can be reached without a token."""
    host, port = re.findall(r"http://([^:/]+):(\d+)", url)[0]
    listening = socket.create_server(("127.0.0.1", 0))
    own = listening.getsockname()[1]

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _address = listening.accept()
                threading.Thread(target=hand_on, args=(client,), daemon=True).start()

    def hand_on(client: socket.socket) -> None:
        with suppress(OSError), client, socket.create_connection((host, int(port))) as server:
            head, rest = _read_head(client)
            server.sendall(_with_token(head, token, f":{own}", f":{port}") + rest)
            threading.Thread(target=_pump, args=(client, server), daemon=True).start()
            _pump(server, client)

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield url.replace(f":{port}", f":{own}")
    finally:
        listening.close()


def _read_head(client: socket.socket) -> tuple[bytes, bytes]:
    read = b""
    while b"\r\n\r\n" not in read:
        more = client.recv(65_536)
        if not more:
            raise ConnectionError
        read += more
    head, _sign, rest = read.partition(b"\r\n\r\n")
    return head, rest


def _with_token(head: bytes, token: str, own: str, port: str) -> bytes:
    """Add the token, and end the line after one request: only the first has a head that is read.
    The proxy's own port becomes the server's; a stranger's Host or Origin stays as it is.
    """
    lines = [
        line.replace(own.encode(), port.encode())
        for line in head.split(b"\r\n")
        if not line.lower().startswith(b"connection:")
    ]
    added = [f"Authorization: Bearer {token}".encode(), b"Connection: close"]
    return b"\r\n".join([*lines, *added]) + b"\r\n\r\n"


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


# --- the suite


def run_suite(kit: Kit, url: str, out: Path, versions: tuple[str, ...]) -> list[Row]:
    """Run every scenario for servers at each version."""
    rows: list[Row] = []
    listed = subprocess.run(
        [kit.node, kit.suite, "list", "--server"], capture_output=True, text=True, check=True
    ).stdout
    named = re.findall(r"- (\S+) \[(.*)\]", listed)
    skills = [name for name, where in named if where == "extension" and name.startswith(EXTENSION)]
    for version in versions:
        folder = out / version
        calls = [("--suite", "all"), *(("--scenario", name, "--force") for name in skills)]
        for call in calls:
            argv = [kit.node, kit.suite, "server", "--url", url, "--spec-version", version]
            _finish([*argv, *call, "-o", str(folder)])
        ran = {*skills, *(name for name, where in named if version in where)}
        rows += [_scenario_row(folder, name, version) for name, _where in named if name in ran]
    for name, where in named:
        if where == "extension" and name not in skills:
            why = next((why for start, why in NO_EXTENSION.items() if name.startswith(start)), "")
            outcome = "not ours" if why else "failed"
            rows.append(Row("suite", "http", "", name, outcome, why or "nobody runs it"))
    return rows


def _finish(argv: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
            **options,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(argv, 124, "", "it did not end in time")


def _scenario_row(folder: Path, name: str, version: str) -> Row:
    pattern = re.compile(rf"server-{re.escape(name)}-\d{{4}}-\d\d-\d\dT")
    found = [one for one in folder.glob("*/checks.json") if pattern.match(one.parent.name)]
    checks = [check for one in found for check in json.loads(one.read_text(encoding="utf-8"))]
    return judge(checks, name, version)


def judge(checks: list[dict[str, Any]], name: str, version: str) -> Row:
    """Say what came of one scenario: what failed and is not ours does not count."""
    failed = [check for check in checks if check["status"] == "FAILURE"]
    ours = [check for check in failed if check["id"] not in NOT_OURS]
    if not checks:
        return Row("suite", "http", version, name, "failed", "it was not run")
    if ours:
        why = "; ".join(f"{check['id']}: {check.get('errorMessage', '')}" for check in ours)
        return Row("suite", "http", version, name, "failed", why)
    reasons = "; ".join(dict.fromkeys(NOT_OURS[check["id"]] for check in failed))
    rest = [check for check in checks if check["id"] != "wire-schema-valid" and check not in failed]
    if failed:
        return Row("suite", "http", version, name, "in part" if rest else "not ours", reasons)
    advised = [check["id"] for check in checks if check["status"] == "WARNING"]
    return Row(
        "suite",
        "http",
        version,
        name,
        "passed",
        f"advised: {', '.join(advised)}" if advised else "",
    )


def stale(out: Path) -> list[Row]:
    """Name rows of `NOT_OURS` that no scenario failed: they hide nothing, and must go."""
    failed = {
        check["id"]
        for one in out.glob("*/*/checks.json")
        for check in json.loads(one.read_text(encoding="utf-8"))
        if check["status"] == "FAILURE"
    }
    return [
        Row("suite", "http", "", name, "failed", "it is listed as not ours, and does not fail")
        for name in NOT_OURS
        if name not in failed
    ]


# --- Inspector


def run_inspector(kit: Kit, wire: str, target: list[str], env: dict[str, str]) -> list[Row]:
    """Ask everything over one wire, in both eras of the protocol."""
    rows: list[Row] = []
    for era in ERAS:
        for method, options, holds in ASKED:
            argv = [kit.node, kit.inspector, "--cli", "--protocol-era", era, "--format", "json"]
            argv += ["--connect-timeout", str(CONNECT_SECONDS * 1_000)]
            done = _finish(
                [*argv, "--quiet", "--method", method, *options, *target],
                env={**env, "PATH": f"{Path(kit.node).parent}:{env['PATH']}"},
            )
            why = ""
            if done.returncode:
                why = f"exit {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}"
            elif holds not in done.stdout:
                why = f"{holds} is not in: {done.stdout.strip()[:300]}"
            what = " ".join((method, *(word for word in options if not word.startswith("--"))))
            rows.append(Row("inspector", wire, era, what, "failed" if why else "passed", why))
    return rows


# --- the table


def table(rows: list[Row]) -> str:
    """Lay the rows out, and count them."""
    widths = [max(len(row[at]) for row in rows) for at in range(5)]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=False)).rstrip()
        + (f"  {row.why}" if row.why else "")
        for row in rows
    ]
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.outcome] = counts.get(row.outcome, 0) + 1
    return "\n".join([*lines, "", ", ".join(f"{number} {what}" for what, number in counts.items())])


def _cache() -> Path:
    above = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(above) / "metier-bench" / "mcp"


def run(kit: Kit, only: str, versions: tuple[str, ...], *, joined: bool = False) -> list[Row]:
    """Serve a library, and have it checked."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="metier-conformance-") as made:
        folder = Path(made)
        env = lay_out(folder)
        more = joined_words(folder) if joined else []
        if only != "suite":
            start = ["--cwd", str(folder / "work"), *_variables(env), *command(*more)]
            rows += run_inspector(kit, "stdio", start, env)
        with serve_http(env, folder, more) as (url, token):
            if only != "suite":
                target = ["--server-url", url, "--transport", "http"]
                target += ["--header", f"Authorization: Bearer {token}"]
                rows += run_inspector(kit, "http", target, env)
            if only != "inspector":
                with add_token(url, token) as open_url:
                    rows += run_suite(kit, open_url, folder / "out", versions)
                if versions == VERSIONS:
                    rows += stale(folder / "out")
    return rows


def _variables(env: dict[str, str]) -> list[str]:
    return [word for name, value in env.items() for word in ("-e", f"{name}={value}")]


def main() -> int:
    """Install, run, and print the table."""
    reader = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    reader.add_argument(
        "--cache", type=Path, default=_cache(), help="where npm's packages are kept"
    )
    reader.add_argument("--only", choices=("suite", "inspector"), default="")
    reader.add_argument(
        "--joined",
        action="store_true",
        help="join a second server's skills, and check all the same",
    )
    reader.add_argument("--version", action="append", choices=VERSIONS, help="only this version")
    reader.add_argument("--json", type=Path, help="write the rows to this file too")
    given = reader.parse_args()
    try:
        kit = install(given.cache)
        rows = run(kit, given.only, tuple(given.version or VERSIONS), joined=given.joined)
    except CannotRunError as error:
        print(f"conformance cannot be run: {error}", file=sys.stderr)
        return 2
    print(table(rows))
    if given.json:
        given.json.write_text(json.dumps([row._asdict() for row in rows], indent=1), "utf-8")
    return 1 if any(row.outcome == "failed" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
