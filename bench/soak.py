"""Let many clients use one server while its library changes under them: no error, no stale digest,
flat memory.

    python bench/soak.py [--clients 50] [--calls 10000] [--skills 300] [--every 0.2] [--lag 5] [--quick] [--json FILE]

Real clients of the SDK speak to `metier mcp --http`, each in a session of its own that it ends and
begins anew now and then. They search, load, read files, page through `skills/list`, ask
`skills/get`, and read resources, whose bytes they hold against the digest of the entry. All the
while somebody edits, adds and removes skills. What was touched within `--lag` seconds may be
missing or old once, and must be right when it is asked for again; whatever has been quiet for
longer must be right at once. The exit code is 1 unless every count is as it must be; `--quick`
takes few of everything.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import anyio
import library
import measure
from figures import Figure, Target, exact, figures_table, table
from peers import Broken
from soak_library import Unrest
from soak_visits import Soak, Visitor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

START_SECONDS = 60
GROWTH = Target("at most", 1.15)
NONE, ALL = Target("exactly", 0, unit="times"), Target("exactly", 100, unit="%")
_ADDRESS = re.compile(r"http://\S+")


class Served:
    """The server's process, and its memory over time."""

    def __init__(self, root: Path, home: Path) -> None:
        """Start it, and wait for its address."""
        token = home / "token"
        self.token = hashlib.sha256(os.urandom(32)).hexdigest()
        token.touch(mode=0o600)
        token.write_text(self.token, encoding="ascii")
        (home / "metier.toml").touch()
        self.notes = (home / "notes").open("w+", encoding="utf-8")
        argv = [
            sys.executable,
            "-m",
            "metier",
            "mcp",
            "--http",
            "127.0.0.1:0",
            "--token-file",
            str(token),
            "--root",
            str(root),
        ]
        self.child = subprocess.Popen(
            argv,
            env=measure.environment(str(home)),
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.notes,
        )
        self.url = self._address(home / "notes")

    def _address(self, notes: Path) -> str:
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            said = notes.read_text(encoding="utf-8")
            found = _ADDRESS.search(said)
            if found and "\n" in said[found.end() :]:
                return found.group()
            if self.child.poll() is not None:
                break
            time.sleep(0.05)
        message = f"the server does not start: {notes.read_text(encoding='utf-8')[-500:]}"
        raise Broken(message)

    def resident(self) -> int:
        """Give the bytes that it holds."""
        return int(Path(f"/proc/{self.child.pid}/statm").read_text().split()[1]) * os.sysconf(
            "SC_PAGE_SIZE"
        )

    def descriptors(self) -> int:
        """Give the number of files, pipes and sockets that it has open."""
        return len(os.listdir(f"/proc/{self.child.pid}/fd"))

    def end(self) -> int:
        """Ask it to end; give its exit code."""
        self.child.send_signal(signal.SIGTERM)
        try:
            return self.child.wait(30)
        except subprocess.TimeoutExpired:
            self.child.kill()
            return self.child.wait()


async def _all_visit(soak: Soak, clients: int) -> None:
    async with anyio.create_task_group() as group:
        for number in range(clients):
            group.start_soon(Visitor(soak, number).visit)


async def _last_look(soak: Soak) -> set[str]:
    """Page through everything once more, with nobody writing; give the names."""
    visitor = Visitor(soak, -1)
    async with visitor.opened():
        await visitor.page()
        while visitor.cursor:
            await visitor.page()
    return set(visitor.entries)


def _mean(
    samples: Sequence[tuple[float, int, int]], low: float, high: float, field: int
) -> float | None:
    found = [sample[field] for sample in samples if low <= sample[0] <= high]
    return median(found) if found else None


def figures(soak: Soak, missed: int, clients: int) -> list[Figure]:
    """Hold every count against what it must be."""
    early, late = (_mean(soak.samples, low, low + 0.1, 1) for low in (0.2, 0.9))
    growth = late / early if early and late else None
    heard = 100 * sum(1 for number in range(clients) if soak.heard[number]) / clients
    return [
        exact("errors", len(soak.errors), NONE),
        exact("stale digests and revisions", len(soak.stale), NONE),
        exact("answers that make no sense", len(soak.wrong), NONE),
        exact("skills listed and on the disk that differ, in the end", missed, NONE),
        exact("memory in the end / after a fifth of the calls", growth, GROWTH),
        exact("clients that heard of changes", heard, ALL),
    ]


def tables(soak: Soak, seconds: float) -> str:
    """Lay out what was done."""
    rows = [("call", "times", "p50 ms", "p99 ms")]
    for what, count in sorted(soak.done.items()):
        each = sorted(soak.seconds[what])
        last = each[min(len(each) * 99 // 100, len(each) - 1)]
        rows.append((what, f"{count:,}", f"{median(each) * 1e3:.1f}", f"{last * 1e3:.1f}"))
    facts = [
        ("fact", "number"),
        ("seconds", f"{seconds:.0f}"),
        ("calls a second", f"{sum(soak.done.values()) / seconds:.0f}"),
        ("sessions", str(soak.sessions)),
        *((f"skills: {kind}", str(count)) for kind, count in soak.unrest.changes.items()),
        ("notifications heard", str(sum(soak.heard.values()))),
        *((f"excused, {what}", str(count)) for what, count in soak.excused.items()),
        *_shares(soak),
    ]
    return f"{table(rows)}\n\n{table(facts)}"


def _shares(soak: Soak) -> Iterator[tuple[str, str]]:
    for low in (0.0, 0.2, 0.4, 0.6, 0.8, 0.9):
        memory, opened = (_mean(soak.samples, low, low + 0.1, field) for field in (1, 2))
        if memory and opened:
            yield (
                f"resident, MB, and descriptors after {low:.0%}",
                f"{memory / 1e6:.0f}, {opened:.0f}",
            )


def soaked(chosen: argparse.Namespace, scratch: Path) -> tuple[Soak, int, float]:
    """Run it all; give what was counted, how many skills were missed in the end, and the
    seconds.
    """
    home = scratch / "home"
    home.mkdir()
    unrest = Unrest(scratch / "skills", chosen.skills, chosen.every)
    time.sleep(3)
    served = Served(unrest.root, home)
    soak = Soak(unrest, served, chosen.calls, chosen.lag)
    over = threading.Event()
    watcher = threading.Thread(target=soak.watch, args=(over,), daemon=True)
    began = time.monotonic()
    try:
        watcher.start()
        unrest.begin()
        anyio.run(_all_visit, soak, chosen.clients)
        seconds = time.monotonic() - began
        unrest.rest()
        over.set()
        watcher.join()
        time.sleep(chosen.lag)
        missed = len(anyio.run(_last_look, soak) ^ set(unrest.names()))
    finally:
        code = served.end()
    if code not in {0, -signal.SIGTERM, 128 + signal.SIGTERM}:
        soak.errors.append(f"the server ended with {code}")
    if "Traceback" in (said := (home / "notes").read_text(encoding="utf-8")):
        soak.errors.append(
            f"the server told of {said.count('Traceback')} exceptions: "
            f"{said.strip().splitlines()[-1][:200]}"
        )
    return soak, missed, seconds


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--calls", type=int, default=10_000, help="in all (10,000)")
    parser.add_argument("--skills", type=int, default=300)
    parser.add_argument(
        "--every", type=float, default=0.2, help="seconds between two changes, about (0.2)"
    )
    parser.add_argument(
        "--lag", type=float, default=5.0, help="seconds in which a change must have arrived (5)"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="few clients and calls; judged all the same, but for memory",
    )
    parser.add_argument("--json", type=Path, help="also write everything counted to this file")
    found = parser.parse_args()
    if found.quick:
        found.clients, found.calls, found.skills = 5, 500, 60
    return found


def main() -> int:
    """Soak, then print what was counted; 1 unless every count is as it must be."""
    chosen, before = options(), library.machine()
    logging.getLogger("mcp.client").setLevel(
        logging.CRITICAL
    )  # news that come while a client is leaving are no fault
    with tempfile.TemporaryDirectory(prefix="metier-bench-") as scratch:
        try:
            soak, missed, seconds = soaked(chosen, Path(scratch))
        except Broken as problem:
            print(f"problem: {problem}")
            return 1
    answer = figures(soak, missed, chosen.clients)
    print(
        " · ".join(f"{key} {value}" for key, value in before.items())
        + f" → {round(os.getloadavg()[0], 2)}"
    )
    print(
        f"{chosen.clients} clients · {chosen.skills} skills, one changed every {chosen.every} s · "
        f"{chosen.lag} s to arrive\n"
    )
    print(f"{tables(soak, seconds)}\n\n{figures_table(answer)}")
    for what, found in (("error", soak.errors), ("stale", soak.stale), ("no sense", soak.wrong)):
        for line in found[:20]:
            print(f"{what}: {line}")
    if chosen.json:
        _write(chosen.json, before, soak, answer)
    judged = [figure for figure in answer if not chosen.quick or "memory" not in figure.what]
    return 0 if all(figure.verdict == "met" for figure in judged) else 1


def _write(file: Path, before: dict[str, Any], soak: Soak, answer: Sequence[Figure]) -> None:
    content = {
        "machine": before,
        "done": soak.done,
        "changes": soak.unrest.changes,
        "excused": soak.excused,
        "errors": soak.errors,
        "stale": soak.stale,
        "wrong": soak.wrong,
        "samples": soak.samples,
        "figures": [{**figure._asdict(), "target": str(figure.target)} for figure in answer],
    }
    file.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
