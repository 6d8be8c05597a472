"""Measure one endpoint that joins other servers' skills: what it adds to asking a server directly, and
whether a client ever gets a wrong byte while one of the servers lies.

    python bench/gateway.py [--clients 20] [--rounds 200] [--seconds 60] [--fastmcp PYTHON] [--quick]

Three servers are joined: metier's own over HTTP, one of before by hand, and one by hand that gives other
bytes than it promised one time in ten and changes its skills all the while. With `--fastmcp`, the Python of
an environment that has fastmcp, the one of before is fastmcp's own provider of skills. The exit code is 1 when a
byte was wrong, or the p50 of a read through the joined endpoint is above 1.5 times that of a read from
the server itself. `--quick` judges nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from base64 import b64decode
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.errors import MetierError
from metier.settings.model import SupplySettings
from metier.supply.io.http import HttpClient
from metier.supply.io.mcp_client import HttpLine, McpSession, RpcError

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from fakes.mcp_server import Answers, ToyServer  # noqa: E402 - where the tests are
from fakes.shop import document  # noqa: E402 - the same

MOST_RATIO = 1.5
SKILLS = 5


FASTMCP = """
import sys
from pathlib import Path
from fastmcp import FastMCP
from fastmcp.server.providers.skills import SkillsDirectoryProvider
server = FastMCP("skills")
server.add_provider(SkillsDirectoryProvider(roots=[Path(sys.argv[1])]))
server.run(transport="http", host="127.0.0.1", port=int(sys.argv[2]))
"""


class Endpoint(NamedTuple):
    """A server that is running."""

    url: str
    token: str
    process: subprocess.Popen[str]


def start(base: Path, config: str, env: dict[str, str]) -> Endpoint:
    """Serve a home over HTTP."""
    home = base / "home"
    home.mkdir(parents=True, exist_ok=True)
    (base / "metier.toml").write_text(config)
    own = {
        "HOME": str(home),
        "METIER_HOME": str(base / "data"),
        "METIER_CONFIG": str(base / "metier.toml"),
        "METIER_SCAN_MODEL": "off",
        "METIER_BACKGROUND": "off",
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT / "src"),
        **env,
    }
    words = [sys.executable, "-m", "metier", "mcp", "--http", "127.0.0.1:0"]
    process = subprocess.Popen(words, env=own, cwd=home, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = process.stderr.readline()
    found = re.search(r"http://\S+/mcp", line)
    if found is None:
        raise SystemExit(line + process.stderr.read())
    threading.Thread(target=process.stderr.read, daemon=True).start()
    return Endpoint(found.group(), (base / "data/mcp/token").read_text().strip(), process)


def start_fastmcp(python: str, folder: Path) -> Endpoint:
    """Serve a folder of skills by fastmcp's provider."""
    write(folder, skills("older"))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = [python, "-c", FASTMCP, str(folder), str(port)]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(words, stdout=quiet, stderr=quiet, text=True)
    until = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return Endpoint(f"http://127.0.0.1:{port}/mcp", "", process)
    raise SystemExit(f"{python} does not serve skills: is fastmcp installed there?")


def write(folder: Path, some: dict[str, dict[str, bytes]]) -> None:
    """Put skills into a folder."""
    for name, files in some.items():
        for path, data in files.items():
            file = folder / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)


def talk(endpoint: Endpoint) -> McpSession:
    """Connect a client."""
    place = endpoint.url.partition("://")[2].partition("/")[0]
    client = HttpClient(SupplySettings(private_hosts=(place,)), named=(place,), seconds=3600)
    session = McpSession(
        HttpLine(client, endpoint.url, {"Authorization": f"Bearer {endpoint.token}"})
    )
    session.open()
    return session


def entries(session: McpSession) -> Iterator[dict[str, Any]]:
    """List all skills."""
    cursor: dict[str, Any] = {}
    while True:
        page = session.must("skills/list", cursor)
        yield from page["skills"]
        if "nextCursor" not in page:
            return
        cursor = {"cursor": page["nextCursor"]}


def read(session: McpSession, uri: str) -> bytes | None:
    """Read a file; nothing where the server refuses, as it may when a skill was just withdrawn."""
    found = session.ask("resources/read", {"uri": uri})
    if isinstance(found, RpcError):
        return None
    content = found["contents"][0]
    return b64decode(content["blob"]) if "blob" in content else content["text"].encode()


def latency(direct: McpSession, joined: McpSession, rounds: int) -> tuple[float, float]:
    """Time reads of the same file both ways, in turns; give the two medians in milliseconds."""
    times: tuple[list[float], list[float]] = ([], [])
    ways = ((direct, "skill://own-0/SKILL.md"), (joined, "skill://plugin.own/own-0/SKILL.md"))
    for number in range(rounds):
        for at in (0, 1) if number % 2 else (1, 0):
            session, uri = ways[at]
            begun = time.perf_counter()
            if read(session, uri) is None:
                raise SystemExit(f"{uri} is not served")
            times[at].append((time.perf_counter() - begun) * 1000)
    return median(times[0]), median(times[1])


class Soak:
    """Clients that read all that is listed, over and over."""

    def __init__(self, endpoint: Endpoint, until: float) -> None:
        """Count from nothing."""
        self.endpoint, self.until = endpoint, until
        self.reads = self.wrong = self.refused = self.failed = self.of_liar = 0
        self.lock = threading.Lock()

    def client(self) -> None:
        """Be one of them."""
        session = talk(self.endpoint)
        while time.monotonic() < self.until:
            try:
                for entry in list(entries(session)):
                    self.skill(session, entry)
            except MetierError:
                with self.lock:
                    self.failed += 1
        session.close()

    def skill(self, session: McpSession, entry: dict[str, Any]) -> None:
        """Read one skill; what is not what the list said must be what the server says of it now."""
        for item in entry["resources"]:
            data = read(session, item["uri"])
            good = data is not None and _digest(data) == item["digest"]
            if data is not None and not good:
                now = session.ask("skills/get", {"uri": entry["uri"]})
                listed = [] if isinstance(now, RpcError) else now["skill"]["resources"]
                good = any(
                    one["uri"] == item["uri"] and one["digest"] == _digest(data) for one in listed
                )
            with self.lock:
                self.reads += 1
                self.of_liar += "plugin.liar/" in item["uri"]
                self.refused += data is None
                self.wrong += data is not None and not good


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def skills(mark: str) -> dict[str, dict[str, bytes]]:
    """Make some skills."""
    return {
        f"{mark}-{at}": {
            "SKILL.md": document(f"{mark}-{at}").encode(),
            "notes/more.md": f"More of {at}.\n".encode() * 50,
        }
        for at in range(SKILLS)
    }


def main() -> int:
    """Measure, and say what came of it."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--clients", type=int, default=20)
    asked.add_argument("--rounds", type=int, default=200)
    asked.add_argument("--seconds", type=float, default=60.0)
    asked.add_argument("--fastmcp", default="", help="a Python that has fastmcp")
    asked.add_argument("--quick", action="store_true")
    wish = asked.parse_args()
    rounds, seconds = (20, 5.0) if wish.quick else (wish.rounds, wish.seconds)
    liar = ToyServer(Answers(skills("liar")))
    liar.answers.lies_every = 10
    older = ToyServer(Answers(skills("older"), "manifest"))
    running: list[Endpoint] = []
    with tempfile.TemporaryDirectory() as scratch, liar, older:
        base = Path(scratch)
        write(base / "own/home/.agents/skills", skills("own"))
        try:
            before = older.url
            if wish.fastmcp:
                running.append(start_fastmcp(wish.fastmcp, base / "fastmcp"))
                before = running[-1].url
            own = start(base / "own", "", {})
            running.append(own)
            config = (
                f'[mcp]\nrefresh_seconds = 1\n[mcp.upstreams]\nliar = "{liar.url}"\n'
                f'older = "{before}"\n[mcp.upstreams.own]\nurl = "{own.url}"\ntoken = "OWN"\n'
            )
            joined = start(base / "joined", config, {"OWN": own.token})
            running.append(joined)
            return report(own, joined, liar, rounds, seconds, wish)
        finally:
            for one in running:
                one.process.kill()
                one.process.wait()


def report(
    own: Endpoint,
    joined: Endpoint,
    liar: ToyServer,
    rounds: int,
    seconds: float,
    wish: argparse.Namespace,
) -> int:
    """Measure what is running."""
    session = talk(joined)
    until = time.monotonic() + 120
    while len(list(entries(session))) < 3 * SKILLS - 1 and time.monotonic() < until:
        time.sleep(0.2)
    direct, through = latency(talk(own), session, rounds)
    soak = Soak(joined, time.monotonic() + seconds)
    threads = [threading.Thread(target=soak.client) for _ in range(wish.clients)]
    for thread in threads:
        thread.start()
    first = skills("liar")
    count = 0
    while time.monotonic() < soak.until:
        # What differs from what was first seen is withdrawn, so every other time it is that again.
        time.sleep(2)
        count += 1
        for name, files in first.items():
            changed = {**files, "notes/more.md": f"Round {count}.\n".encode()}
            liar.answers.skills[name] = changed if count % 2 else dict(files)
    for thread in threads:
        thread.join()
    ratio = through / direct
    sys.stdout.write(
        f"a read: {direct:.2f} ms from the server, {through:.2f} ms joined: {ratio:.2f} x (aim: at most {MOST_RATIO})\n"
        f"{wish.clients} clients x 3 upstreams, {seconds:.0f} s: {soak.reads:,} reads "
        f"({soak.of_liar:,} of the liar's files), {soak.wrong} wrong, "
        f"{soak.refused} refused while a skill waited, {soak.failed} failed (aim: 0 wrong)\n"
        f"the liar was asked for {liar.answers.reads:,} files, and lied about {liar.answers.lies}; "
        f"load {os.getloadavg()[0]:.1f}\n"
    )
    return int(not wish.quick and (soak.wrong > 0 or ratio > MOST_RATIO))


if __name__ == "__main__":
    raise SystemExit(main())
