"""A real PostgreSQL in a folder of its own, which goes when whoever started it goes."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

PATIENCE_SECONDS = 120
QUICK = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
"""For ordinary tests: nobody pulls the plug of this machine. What a crash test sees is durable only
without these."""
STOP_WHEN_LEFT_ALONE = '"$@" & read _; kill -QUIT $!; wait $!'
"""The pipe to this shell closes when the tests end, however they end."""


def program(name: str) -> str:
    """Find a program of PostgreSQL, where Debian keeps it too."""
    found = shutil.which(name)
    if found:
        return found
    return str(max(Path("/usr/lib/postgresql").glob(f"*/bin/{name}")))


class PostgresServer:
    """A server that listens on loopback and lets everybody in."""

    def __init__(self, settings: dict[str, str] | None = None) -> None:
        """Make its files; `start` has it listen."""
        self.folder = tempfile.mkdtemp(prefix="metier-pg-")
        self.data = f"{self.folder}/data"
        self.port = free_port()
        self.settings = settings or {}
        self._process: subprocess.Popen[bytes] | None = None
        self._who = "postgres" if os.geteuid() == 0 else None  # it refuses to run as root
        if self._who:
            shutil.chown(self.folder, self._who)
        words = ["-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8"]
        subprocess.run(
            [program("initdb"), *words, "--locale=C.UTF-8", "--no-sync", "--no-instructions"],
            check=True,
            capture_output=True,
            cwd="/",
            user=self._who,
            group=self._who,
        )

    def url(self, name: str = "postgres") -> str:
        """Give the address of one database of it."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{name}"

    def start(self) -> None:
        """Have it listen, and wait until it answers."""
        ends = time.monotonic() + PATIENCE_SECONDS
        while True:
            self._launch()
            while self._process and self._process.poll() is None:
                if self._answers():
                    return
                if time.monotonic() > ends:
                    raise TimeoutError(self.log())
                time.sleep(0.02)
            if time.monotonic() > ends:
                raise TimeoutError(self.log())
            time.sleep(0.1)  # what a killed one left behind may need a moment to go

    def _launch(self) -> None:
        values = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "",
            "max_connections": "100",
            "shared_buffers": "32MB",
            "autovacuum": "off",
            **self.settings,
        }
        words = [word for name, value in values.items() for word in ("-c", f"{name}={value}")]
        with open(f"{self.folder}/log", "ab") as log:
            self._process = subprocess.Popen(
                [
                    "sh",
                    "-c",
                    STOP_WHEN_LEFT_ALONE,
                    "sh",
                    program("postgres"),
                    "-D",
                    self.data,
                    *words,
                ],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd="/",
                user=self._who,
                group=self._who,
            )

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.url(), connect_timeout=5).close()
        except psycopg.Error:
            return False
        return True

    def kill(self) -> None:
        """Kill every process of it at once, as a power cut would."""
        main = int(Path(self.data, "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{main}/task/{main}/children")
        others = [int(one) for one in children.read_text().split()] if children.exists() else []
        for one in (main, *others):
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        self.stop()

    def stop(self) -> None:
        """Stop it; its files stay."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait(PATIENCE_SECONDS)
            self._process = None

    def remove(self) -> None:
        """Stop it and take its files away."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self) -> str:
        """Give the end of what it wrote."""
        return Path(self.folder, "log").read_text(errors="replace")[-2000:]


def free_port() -> int:
    """Give a port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
