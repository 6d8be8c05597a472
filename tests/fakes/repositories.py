"""Real git repositories for tests: made in a folder, with any tree one likes, and served by git's own smart server on loopback."""

from __future__ import annotations

import base64
import os
import subprocess
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

WHO = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
}


def environment(home: Path) -> dict[str, str]:
    """Give an environment in which no configuration of this machine's user counts."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
    }


def skill(name: str, body: str = "Do it.") -> str:
    """Give a SKILL.md."""
    return f"---\nname: {name}\ndescription: Does {name}.\n---\n{body}\n"


class Repository:
    """A repository with a working tree in a folder of its own."""

    def __init__(self, path: Path) -> None:
        """Make it, with a branch `main` and nothing on it."""
        self.path = path
        path.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")

    @property
    def address(self) -> str:
        """How a fetcher names it."""
        return f"file://{self.path}"

    def git(self, *words: str, stdin: bytes | None = None) -> str:
        """Run git in it, as nobody in particular."""
        env = {**environment(self.path.parent), **WHO}
        done = subprocess.run(
            ["git", "-C", str(self.path), *words],
            input=stdin,
            env=env,
            check=True,
            capture_output=True,
        )
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def commit(self, files: Mapping[str, str | bytes], message: str = "change") -> str:
        """Write files, commit everything and give the commit."""
        for name, text in files.items():
            target = self.path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.encode() if isinstance(text, str) else text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def blob(self, data: bytes) -> str:
        """Put bytes into it, and give their hash."""
        return self.git("hash-object", "-w", "--stdin", stdin=data)

    def tree(self, *entries: tuple[str, str, str]) -> str:
        """Put a tree of (mode, hash, name) into it as it is, whatever the names are, and give its hash."""
        raw = b"".join(
            mode.encode()
            + b" "
            + name.encode("utf-8", "surrogateescape")
            + b"\0"
            + bytes.fromhex(key)
            for mode, key, name in entries
        )
        return self.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=raw)

    def commit_tree(self, tree: str, branch: str = "main") -> str:
        """Commit a tree as it is, and let a branch lead there."""
        made = self.git("commit-tree", tree, "-m", "made by hand")
        self.git("update-ref", f"refs/heads/{branch}", made)
        return made


class _Server(BaseHTTPRequestHandler):
    """`git http-backend`, and what a dishonest server does instead."""

    root: ClassVar[str] = ""
    moved: ClassVar[dict[str, str]] = {}
    secrets: ClassVar[dict[str, str]] = {}
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        """Answer a question."""
        self._answer(b"")

    def do_POST(self) -> None:
        """Answer a question with a body."""
        length = int(self.headers.get("content-length") or 0)
        self._answer(self.rfile.read(length) if length else self._chunks())

    def _chunks(self) -> bytes:
        parts = []
        while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _answer(self, body: bytes) -> None:
        path, _, query = self.path.partition("?")
        self.asked.append(self.path)
        for front, aim in self.moved.items():
            if path.startswith(front):
                self.send_response(302)
                self.send_header("Location", aim + self.path[len(front) :])
                self.end_headers()
                return
        for front, secret in self.secrets.items():
            told = self.headers.get("authorization", "").removeprefix("Basic ")
            if path.startswith(front) and base64.b64decode(told) != secret.encode():
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="closed"')
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
        env = {
            **environment(Path(self.root)),
            "GIT_PROJECT_ROOT": self.root,
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("content-encoding", ""),
            "GIT_PROTOCOL": self.headers.get("git-protocol", ""),
        }
        done = subprocess.run(
            ["git", "http-backend"], input=body, env=env, check=False, capture_output=True
        )
        head, _, rest = done.stdout.partition(b"\r\n\r\n")
        fields = dict(
            line.split(": ", 1) for line in head.decode("latin-1").split("\r\n") if ": " in line
        )
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name it has there
        """Say nothing."""


class Served:
    """A running server: its address, what it was asked for, where it sends people, and `user:password` of what is closed."""

    def __init__(self, server: ThreadingHTTPServer, handler: type[_Server]) -> None:
        """Know the server."""
        self.place = f"127.0.0.1:{server.server_address[1]}"
        self.moved, self.asked, self.secrets = handler.moved, handler.asked, handler.secrets

    def address(self, name: str) -> str:
        """Give the address of a repository by its folder's name."""
        return f"http://{self.place}/{name}"


@contextmanager
def served(root: Path) -> Iterator[Served]:
    """Serve every repository below a folder over http on loopback."""
    handler = type(
        "Handler", (_Server,), {"root": str(root), "moved": {}, "asked": [], "secrets": {}}
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
    )
    thread.start()
    try:
        yield Served(server, handler)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
