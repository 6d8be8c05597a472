"""Measure the page over a large library: how long each page takes the server, a keystroke of a
search, the first load, the start, and memory beside the MCP door.

    python bench/web.py [--size 10000] [--rounds 40] [--judge] [--json FILE]

The page is served by a process of its own and asked over loopback, one request after the other, as
one browser does. Every time is from the first byte that is sent to the last that comes back, so it
has the transport in it. Beside each table stands the floor: the smallest answer of the same server,
asked in turn. Beside each time stands the processor time that the server spent on it, all its threads
together: on a busy machine that is what tells; what it sends into processes of their own is not in it,
nor in its memory. Of a start it is that of the whole process. Without `--judge` the skills are judged
before the clock starts. One skill more has 5,000 files.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlsplit

import trees
from figures import Figure, Target, exact, figures_table, table

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES = (
    "/",
    "/skills",
    "/skills?state=visible&sort=tokens",
    "/skills?at=3000",
    "SKILL",
    "LARGE",
    "/agents",
    "/review",
    "/get",
    "/plugins",
    "/audit",
    "/doctor",
    "/graph",
)
FLOOR = "/static/icon.svg"
TASKS = (
    "merge two pdf files",
    "review a pull request",
    "deploy to kubernetes",
    "summarise a meeting",
    "clean a csv table",
)
PAGE_MS = Target("at most", 80, "ms")
KEY_MS = Target("at most", 100, "ms")
FIRST_LOAD = Target("at most", 150, "kB")
START_SECONDS = Target("at most", 0.7, "s")
LARGE_FILES = 5_000
MEMORY = Target("at most", 1)
SETTLE_SECONDS = 600
LARGE = """---
name: large
description: Has very many notes. Use it to look one up.
---

# Notes

Look it up.
"""


class Timed(NamedTuple):
    """How long something took, in seconds: by the clock, and of the processor."""

    wall: float
    cpu: float


def env_of(home: Path) -> dict[str, str]:
    """Give the environment of somebody who lives there. Compiled modules are kept, as an installation
    keeps them: else each start would compile everything. Skills are judged by rules alone: what a page
    takes does not depend on it.
    """
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    ours = {"HOME": str(home), "METIER_HOME": str(home / ".metier"), "METIER_SCAN_MODEL": "off"}
    return {**kept, **ours}


def _spent(file: Path) -> float:
    try:
        return int(file.read_text().split()[0]) / 1e9
    except OSError:  # a thread that ended meanwhile
        return 0.0


class Served:
    """A page that is served, and one connection to it."""

    def __init__(self, home: Path) -> None:
        """Start it, and wait for its address and its first byte."""
        self.env = env_of(home)
        began = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "metier", "web", "--port", "0", "--no-open"],
            env=self.env,
            cwd=home,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        address = urlsplit(self.process.stdout.readline().split()[-1])
        self.port = address.port or 0
        self.line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SETTLE_SECONDS)
        self.cookie = ""
        answer = self.get(f"/?{address.query}")
        self.cookie = answer[1]["set-cookie"].partition(";")[0]
        self.get("/")
        self.started = Timed(time.perf_counter() - began, self.cpu())

    def cpu(self) -> float:
        """Give the processor time that the server has spent so far, in seconds."""
        runs = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(_spent(one / "schedstat") for one in runs)

    def time(self, path: str) -> Timed:
        """Ask once; give how long it took, by the clock and of the processor."""
        before = self.cpu()
        took = self.get(path)[2]
        return Timed(took, self.cpu() - before)

    def get(self, path: str, *, packed: bool = False) -> tuple[bytes, dict[str, str], float]:
        """Ask once; give the answer, its headers and how long it took."""
        headers = {"cookie": self.cookie, "accept": "text/html"}
        if packed:
            headers["accept-encoding"] = "gzip"
        began = time.perf_counter()
        self.line.request("GET", path, headers=headers)
        answer = self.line.getresponse()
        data = answer.read()
        took = time.perf_counter() - began
        return data, {name.lower(): value for name, value in answer.getheaders()}, took

    def memory(self) -> int:
        """Give the resident bytes of the process."""
        return resident(self.process.pid)

    def close(self) -> None:
        """Stop it."""
        self.process.terminate()
        self.process.wait(30)


def resident(pid: int) -> int:
    """Give the resident bytes of a process."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found.group(1)) << 10 if found else 0


@contextlib.contextmanager
def home_with(size: int) -> Iterator[Path]:
    """Give a home whose user has so many skills."""
    tree = trees.make(size)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / ".claude").mkdir()
        (home / ".claude" / "skills").symlink_to(tree.root)
        large = home / ".agents" / "skills" / "large"
        for number in range(LARGE_FILES - 1):
            file = large / f"part{number // 100}" / f"note{number}.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"Note {number}.\n" * 5, encoding="utf-8")
        (large / "SKILL.md").write_text(LARGE, encoding="utf-8")
        config = home / ".config" / "metier"
        config.mkdir(parents=True)
        (config / "metier.toml").write_text('[route]\nvectors = "off"\n', encoding="utf-8")
        yield home


def settle(page: Served) -> dict[str, str]:
    """Wait until the page has found out what takes long; give the addresses of two skills."""
    end = time.monotonic() + SETTLE_SECONDS
    for path in ("/", "/skills", "/agents", "/doctor", "/graph"):
        while time.monotonic() < end:
            text = page.get(path)[0].decode()
            if "pending" not in text:
                break
            time.sleep(0.5)
    while "still being judged" in page.get("/skills")[0].decode():
        if time.monotonic() > end:
            sys.exit(f"the skills were not judged after {SETTLE_SECONDS} s: nothing was measured")
        time.sleep(0.5)
    first = re.search(r'class="skill" href="([^"]+)"', page.get("/skills")[0].decode())
    large = re.search(r'href="(/skills/large~[^"]+)"', page.get("/skills?q=large")[0].decode())
    assert first
    assert large
    return {"SKILL": first[1], "LARGE": large[1]}


def p95(times: list[float]) -> float:
    """Give what nineteen of twenty stay below, in milliseconds."""
    return quantiles(times, n=20)[-1] * 1000


def both(times: list[Timed]) -> tuple[float, float]:
    """Give the same by the clock and of the processor."""
    return p95([one.wall for one in times]), p95([one.cpu for one in times])


def measure_pages(page: Served, skills: dict[str, str], rounds: int) -> dict[str, list[Timed]]:
    """Ask for every page in turn, so often."""
    times: dict[str, list[Timed]] = {path: [] for path in (FLOOR, *PAGES)}
    for path in times:
        page.get(skills.get(path, path))
    for _round in range(rounds):
        for path, kept in times.items():
            kept.append(page.time(skills.get(path, path)))
    return times


def measure_keys(page: Served, rounds: int) -> list[Timed]:
    """Type tasks letter by letter, as the page does."""
    found = []
    for turn in range(max(1, rounds // 8)):
        task = TASKS[turn % len(TASKS)]
        found += [page.time(f"/skills?q={quote(task[:end])}") for end in range(1, len(task) + 1)]
    return found


def first_load(page: Served) -> int:
    """Give the bytes that a browser gets before it shows the first page, as they travel."""
    text, _headers, _took = page.get("/")
    parts = re.findall(r'(?:src|href)="(/static/[^"]+)"', text.decode())
    total = 0
    for path in ("/", *dict.fromkeys(parts)):
        data, headers, _took = page.get(path, packed=True)
        total += len(data) + sum(len(name) + len(value) + 4 for name, value in headers.items())
        if headers.get("content-encoding") == "gzip":
            gzip.decompress(data)  # it is what it says
    return total


def mcp_memory(home: Path) -> int:
    """Give the resident bytes of the MCP door after a search over the same library."""
    env = env_of(home)
    server = subprocess.Popen(
        [sys.executable, "-m", "metier", "mcp"],
        env=env,
        cwd=home,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None

    def send(message: dict[str, Any]) -> None:
        assert server.stdin is not None
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()

    def answer(ident: int) -> None:
        assert server.stdout is not None
        for line in server.stdout:
            if json.loads(line).get("id") == ident:
                return

    client = {"name": "bench", "version": "1"}
    begin = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    send({"id": 1, "method": "initialize", "params": begin})
    answer(1)
    send({"method": "notifications/initialized"})
    for ident, task in enumerate(TASKS * 4, 2):
        call = {"name": "search_skills", "arguments": {"query": task}}
        send({"id": ident, "method": "tools/call", "params": call})
        answer(ident)
    found = resident(server.pid)
    server.terminate()
    server.wait(30)
    return found


def main() -> None:
    """Measure, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("--json", default="")
    given = parser.parse_args()
    with home_with(given.size) as home:
        env = env_of(home)
        if not given.judge:
            # a prompt judges whatever could reach a model, and a search makes the index
            for words in (["prompt"], ["find", TASKS[0]]):
                command = [sys.executable, "-m", "metier", *words]
                subprocess.run(command, env=env, cwd=home, check=True, stdout=subprocess.DEVNULL)
        begin = Served(home)
        begin.close()  # the first start makes what the later ones find
        starts = []
        for _start in range(3):
            page = Served(home)
            starts.append(page.started)
            page.close()
        page = Served(home)
        try:
            times = measure_pages(page, settle(page), given.rounds)
            keys = measure_keys(page, given.rounds)
            first = first_load(page)
            memory = page.memory()
        finally:
            page.close()
        ratio = memory / max(1, mcp_memory(home))
    floor = both(times.pop(FLOOR))
    rows = [("page", "median ms", "p95 ms", "p95 ms of the processor")]
    for path, kept in times.items():
        wall, cpu = both(kept)
        middle = median(one.wall for one in kept) * 1000
        rows.append((path, f"{middle:.1f}", f"{wall:.1f}", f"{cpu:.1f}"))
    sys.stdout.write(table(rows) + "\n")
    load = " ".join(Path("/proc/loadavg").read_text().split()[:3])
    sys.stdout.write(f"load {load} on {os.cpu_count()} processors\n")
    worst, spent = (max(column) for column in zip(*map(both, times.values()), strict=True))
    typed, typed_cpu = both(keys)
    start, start_cpu = (median(column) for column in zip(*starts, strict=True))
    found: list[Figure] = [
        exact("any page, p95", worst, PAGE_MS, f"floor {floor[0]:.1f} ms"),
        exact("any page, p95, of the processor", spent, PAGE_MS, f"floor {floor[1]:.1f} ms"),
        exact("a keystroke of a search, p95", typed, KEY_MS),
        exact("a keystroke of a search, p95, of the processor", typed_cpu, KEY_MS),
        exact("first load, compressed", first / 1000, FIRST_LOAD),
        exact("start to first byte", start, START_SECONDS),
        exact("start to first byte, of the processor", start_cpu, START_SECONDS),
        exact("memory beside the MCP door", ratio, MEMORY, f"{memory >> 20} MiB"),
    ]
    sys.stdout.write(figures_table(found) + "\n")
    if given.json:
        Path(given.json).write_text(json.dumps([one._asdict() for one in found], default=str))
    sys.exit(any(one.verdict == "not met" for one in found))


if __name__ == "__main__":
    main()
