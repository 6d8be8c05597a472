"""Measure the hub: searches, downloads and publications over HTTP, and its memory, at growing sizes.

    python bench/hub.py [--sizes 10000,100000,1000000] [--pool FILE] [--kinds postgres,embedded]
                        [--searches 400] [--publications 200] [--data FOLDER] [--json FILE]

Skills are generated straight into the database (`hub_data.py`, `hub_load.py`), which is kept under
`bench/.trees/hub` for the next run. PostgreSQL is Debian's, started here on loopback. Each hub is a
process of its own, `metier hub serve`, which one or more clients ask over loopback with tokens: so
every time has the transport in it, and the question who asks. Processor time is that of the hub, and of
all of PostgreSQL's processes. The load of the machine stands beside each figure.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.append(str(Path(__file__).parent.parent / "tests"))

import hub_data
import hub_load
from fakes.postgres_server import PostgresServer, program
from figures import Target

from metier.hub.io.objects import FolderObjects, blob_key
from metier.supply.archives.write_tar import PackFile, pack_tar_gz

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DATA = Path(__file__).parent / ".trees/hub"
CLIENTS = 16
SKILL_BYTES = 20_000
DOWNLOADS = 4_000
MOST_EMBEDDED = 100_000
SETTINGS = {
    "shared_buffers": "3GB",
    "max_wal_size": "4GB",
    "default_toast_compression": "lz4",
    "autovacuum": "on",
}
TARGETS = {
    "search p50 ms": Target("at most", 30, "ms"),
    "search p99 ms": Target("at most", 150, "ms"),
    "publications /s": Target("at least", 20, "/s"),
    "downloads /s": Target("at least", 500, "/s"),
    "memory MB": Target("at most", 300, "MB"),
}
TICKS = os.sysconf("SC_CLK_TCK")


class Place(NamedTuple):
    """A database of one kind and size, and what its processor time is counted by."""

    kind: str
    size: int
    database: str
    cpu: Callable[[], float]


# --- what is measured


class Client:
    """One connection to a hub, kept open."""

    def __init__(self, url: str, token: str) -> None:
        """Connect."""
        self.connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=120)
        self.headers = {"authorization": f"Bearer {token}"}

    def ask(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        """Ask, and read the answer to its end."""
        self.connection.request(method, path, body, self.headers)
        answer = self.connection.getresponse()
        return answer.status, answer.read()


class Server:
    """A hub in a process of its own."""

    def __init__(self, database: str, home: Path) -> None:
        """Start it, and wait until it listens."""
        env = {**os.environ, "METIER_HOME": str(home), "METIER_SCAN_MODEL": "off"}
        env["METIER_HUB_RATE"] = "0"  # one client here stands for many people
        words = [sys.executable, "-m", "metier", "hub"]
        made = subprocess.run(
            [
                *words,
                "token",
                "add",
                "--role",
                "admin",
                "--name",
                "bench",
                "--json",
                "--database",
                database,
            ],
            env=env,
            check=True,
            capture_output=True,
        )
        self.token: str = json.loads(made.stdout)["token"]
        self.process = subprocess.Popen(
            [*words, "serve", "--listen", "127.0.0.1:0", "--database", database],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().removeprefix("metier hub: ").strip()

    def cpu(self) -> float:
        """Give the processor time that it has taken."""
        return cpu_of(self.process.pid)

    def memory(self) -> float:
        """Give the most memory that it ever had, in MB."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(one for one in text.splitlines() if one.startswith("VmHWM"))
        return int(line.split()[1]) / 1024

    def stop(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def cpu_of(pid: int) -> float:
    """Give the seconds that a process and its ended children have taken."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / TICKS


def quantile(values: list[float], share: float) -> float:
    """Give the value below which a share of all lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def searches(server: Server, place: Place, asked: list[str]) -> dict[str, float]:
    """Ask one search after the other; the first third warms up, with other words."""
    client = Client(server.url, server.token)
    warm, counted = asked[: len(asked) // 3], asked[len(asked) // 3 :]
    for words in warm:
        client.ask("GET", path_of(words))
    hub, database = server.cpu(), place.cpu()
    times = []
    for words in counted:
        began = time.perf_counter()
        status, _body = client.ask("GET", path_of(words))
        times.append(1000 * (time.perf_counter() - began))
        assert status == 200
    return {
        "search p50 ms": quantile(times, 0.5),
        "search p99 ms": quantile(times, 0.99),
        "search cpu ms": 1000 * (server.cpu() - hub + place.cpu() - database) / len(counted),
        "search hub cpu ms": 1000 * (server.cpu() - hub) / len(counted),
    }


def path_of(words: str) -> str:
    """Write a search as an address."""
    from urllib.parse import quote

    return f"/api/v1/search?q={quote(words)}"


def at_once(
    servers: list[Server], count: int, act: Callable[[Client, int], None], clients: int = CLIENTS
) -> float:
    """Have several clients share some work; give how much of it is done in a second."""
    numbers = iter(range(count))
    guard = threading.Lock()
    failed: list[BaseException] = []

    def work(server: Server) -> None:
        client = Client(server.url, server.token)
        try:
            while not failed:
                with guard:
                    number = next(numbers, None)
                if number is None:
                    return
                act(client, number)
        except BaseException as error:  # noqa: BLE001 - it is raised again below
            failed.append(error)

    threads = [
        threading.Thread(target=work, args=(servers[one % len(servers)],)) for one in range(clients)
    ]
    began = time.perf_counter()
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    if failed:
        raise failed[0]
    return count / (time.perf_counter() - began)


def downloads(servers: list[Server], place: Place, words: hub_data.Source) -> dict[str, float]:
    """Fetch archives of random skills."""
    rng = random.Random(7)  # noqa: S311 - which ones does not matter
    made = [
        next(hub_data.skills(words, one + 1, one))
        for one in (rng.randrange(place.size) for _ in range(300))
    ]
    paths = [f"/api/v1/skills/space-{one.space}/{one.name}/1.0.0/archive" for one in made]

    def fetch(client: Client, number: int) -> None:
        status, body = client.ask("GET", paths[number % len(paths)])
        assert (status, len(body)) == (200, 6400), (status, body[:200])

    at_once(servers, 400, fetch)
    before = sum(one.cpu() for one in servers) + place.cpu()
    rate = at_once(servers, DOWNLOADS, fetch)
    spent = sum(one.cpu() for one in servers) + place.cpu() - before
    return {"downloads /s": rate, "download cpu ms": 1000 * spent / DOWNLOADS}


def publications(
    servers: list[Server], place: Place, words: hub_data.Source, count: int
) -> dict[str, float]:
    """Publish skills of 20 kB, each new, with the scan."""
    run = f"{time.time_ns():x}"
    archives = [archive_of(words, f"bench-{run}-{number}", number) for number in range(count + 32)]

    def push(client: Client, number: int) -> None:
        name, data = archives[number]
        sha256 = hashlib.sha256(data).hexdigest()
        assert client.ask("PUT", f"/api/v1/blobs/{sha256}", data)[0] == 201
        told = json.dumps({"archive": sha256}).encode()
        status, body = client.ask("POST", f"/api/v1/skills/bench/{name}/releases", told)
        assert status == 201, body

    at_once(servers, 32, lambda client, number: push(client, count + number))
    before = sum(one.cpu() for one in servers) + place.cpu()
    rate = at_once(servers, count, push)
    spent = sum(one.cpu() for one in servers) + place.cpu() - before
    return {"publications /s": rate, "publication cpu ms": 1000 * spent / count}


def archive_of(words: hub_data.Source, name: str, number: int) -> tuple[str, bytes]:
    """Pack a skill of about 20 kB."""
    rng = random.Random(number)  # noqa: S311 - filler
    plain = [word for word in words.all_words[:20_000] if word.isascii() and word.isalpha()]
    text = "\n".join(" ".join(rng.choices(plain, k=11)) for _ in range(SKILL_BYTES // 70))
    head = (
        f"---\nname: {name}\ndescription: {' '.join(rng.choices(plain, k=20))}\n---\n\n# {name}\n\n"
    )
    cut = SKILL_BYTES * 2 // 3
    files = [
        PackFile("SKILL.md", (head + text[:cut]).encode()),
        PackFile("references/more.md", text[cut:SKILL_BYTES].encode()),
    ]
    return name, pack_tar_gz(files)


# --- the run


def measure(place: Place, words: hub_data.Source, arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure everything at one size, with one process and then with two."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        objects = FolderObjects(f"{folder}/hub/objects")
        for number, sha256 in enumerate(hub_load.ARCHIVE_HASHES):
            objects.put(blob_key(sha256), hub_load.archive_of(number))
        found: dict[str, Any] = {"kind": place.kind, "size": place.size, "load": os.getloadavg()[0]}
        one = Server(place.database, home)
        asked = hub_data.queries(words, place.size, arguments.searches * 3 // 2)
        found |= searches(one, place, asked)
        found |= downloads([one], place, words)
        found |= publications([one], place, words, arguments.publications)
        found["memory MB"] = one.memory()
        two = [one, Server(place.database, home)]

        def search(client: Client, number: int) -> None:
            assert client.ask("GET", path_of(asked[number % len(asked)]))[0] == 200

        for name, servers in (("one", two[:1]), ("two", two)):
            found[f"searches /s, {name}"] = at_once(servers, arguments.searches, search, 4)
            found[f"downloads /s, {name}"] = downloads(servers, place, words)["downloads /s"]
        for server in two:
            server.stop()
        found["load after"] = os.getloadavg()[0]
    return found


@contextmanager
def postgres(data: Path) -> Iterator[PostgresServer]:
    """Start the server whose files are kept."""
    server = PostgresServer(SETTINGS)
    kept = data / "postgres"
    if kept.exists():
        shutil.rmtree(server.data)
        server.data = str(kept)
    else:
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(server.data, kept)
        server.data = str(kept)
    server.start()
    try:
        yield server
    finally:
        server.remove()


def postgres_cpu(server: PostgresServer) -> float:
    """Give the processor time of all of its processes."""
    main = int(Path(server.data, "postmaster.pid").read_text().split()[0])
    children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
    return cpu_of(main) + sum(map(cpu_of, map(int, children)))


def postgres_place(server: PostgresServer, words: hub_data.Source, size: int) -> Place:
    """Find or make the database of a size."""
    import psycopg

    name = f"hub_{size}"
    with psycopg.connect(server.url(), autocommit=True) as admin:
        known = admin.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone()
        if not known:
            admin.execute(f"CREATE DATABASE {name}_part".encode())
            hub_load.grow_postgres(server.url(f"{name}_part"), words, 0, size)
            admin.execute(f"ALTER DATABASE {name}_part RENAME TO {name}".encode())
    with psycopg.connect(
        server.url(name), autocommit=True
    ) as db:  # a warm cache is what is measured
        db.execute("CREATE EXTENSION IF NOT EXISTS pg_prewarm")
        for one in ("skills", "skills_by_title", "skills_by_all_words", "skills_pkey"):
            db.execute("SELECT pg_prewarm(%s)", (one,))
    return Place("postgres", size, server.url(name), lambda: postgres_cpu(server))


def embedded_place(data: Path, words: hub_data.Source, size: int) -> Place:
    """Find or make the file of a size."""
    file = data / f"hub_{size}.db"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        hub_load.grow_sqlite(str(part), words, 0, size)
        part.rename(file)
    return Place("embedded", size, str(file), lambda: 0.0)


def told(found: list[dict[str, Any]]) -> str:
    """Write the figures as a table, with a mark at each aim that is missed."""
    lines = []
    for name in found[0]:
        target = TARGETS.get(name)
        cells = [
            f"{row[name]:,.1f}" if isinstance(row[name], float) else f"{row[name]}" for row in found
        ]
        lines.append(
            f"{name:<22}"
            + "".join(f"{cell:>14}" for cell in cells)
            + (f"   {target}" if target else "")
        )
    return "\n".join(lines)


def main() -> None:
    """Measure every kind and size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--kinds", default="postgres,embedded")
    parser.add_argument("--pool", type=Path)
    parser.add_argument("--searches", type=int, default=400)
    parser.add_argument("--publications", type=int, default=200)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    words = hub_data.source(arguments.pool)
    sizes = [int(one) for one in arguments.sizes.split(",")]
    version = subprocess.run(
        [program("postgres"), "--version"], capture_output=True, text=True, check=True
    )
    print(f"{words.said}; {version.stdout.strip()}; {os.cpu_count()} cores", flush=True)
    found = []
    if "embedded" in arguments.kinds:
        for size in sizes:
            if size <= MOST_EMBEDDED:
                found.append(measure(embedded_place(arguments.data, words, size), words, arguments))
                print(told(found[-1:]), flush=True)
    if "postgres" in arguments.kinds:
        with postgres(arguments.data) as server:
            for size in sizes:
                found.append(measure(postgres_place(server, words, size), words, arguments))
                print(told(found[-1:]), flush=True)
    print(told(found))
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
