"""An MCP server written by hand that serves skills in any of the ways there are, over HTTP or over its
standard streams, and can be told to lie, to hang and to talk nonsense.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

EXTENSION = "io.modelcontextprotocol/skills"
Skills = dict[str, dict[str, bytes]]


class RefusedRequest(Exception):  # noqa: N818 - what a server answers
    """What the server answers as an error of the protocol."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class Answers:
    """What the server says. `way` is extension, dynamic, manifest or plain; `said` has answers that take
    the place of its own, by method.
    """

    def __init__(self, skills: Skills, way: str = "extension", *, modern: bool = False) -> None:
        self.skills, self.way, self.modern = skills, way, modern
        self.said: dict[str, Any] = {}
        self.asked: list[str] = []
        self.lies_every = 0
        """Of how many files that are read one has other bytes than were promised."""
        self.reads = 0
        self.lies = 0
        self.page = 0

    def answer(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Answer one message; nothing to what wants no answer."""
        method, params = message.get("method", ""), message.get("params") or {}
        self.asked.append(method)
        if "id" not in message:
            return None
        head = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            said = self.said.get(method)
            result = said(params) if callable(said) else said
            return {**head, "result": self.result(method, params) if result is None else result}
        except RefusedRequest as error:
            return {**head, "error": {"code": error.code, "message": error.message}}

    def result(self, method: str, params: dict[str, Any]) -> Any:
        capabilities: dict[str, Any] = {"resources": {}}
        if self.way in {"extension", "dynamic"}:
            capabilities["extensions"] = {EXTENSION: {"directoryRead": True}}
        if method == "initialize" and not self.modern:
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": capabilities,
                "serverInfo": {"name": "toy", "version": "1"},
            }
        if method == "server/discover" and self.modern:
            return {"supportedVersions": ["2026-07-28"], "capabilities": capabilities}
        if method == "skills/list" and "extensions" in capabilities:
            names = sorted(self.skills)
            if not self.page:
                return {"skills": [self.entry(name) for name in names]}
            at = int(params.get("cursor", "0"))
            more = {"nextCursor": str(at + self.page)} if at + self.page < len(names) else {}
            return {"skills": [self.entry(name) for name in names[at : at + self.page]], **more}
        if method == "resources/list":
            return {"resources": list(self.resources())}
        if method == "resources/directory/read":
            return {"resources": self.folder(params["uri"])}
        if method == "resources/read":
            return {"contents": [{"uri": params["uri"], **self.read(params["uri"])}]}
        raise RefusedRequest(-32601, f"no {method}")

    def entry(self, name: str) -> dict[str, Any]:
        files = [
            {
                "uri": uri(name, path),
                "digest": f"sha256:{hashlib.sha256(data).hexdigest()}",
                "size": len(data),
            }
            for path, data in self.skills[name].items()
        ]
        matter = {"name": name, "description": "Counts words."}
        listed = "dynamic" if self.way == "dynamic" else files
        return {"uri": uri(name, "SKILL.md"), "frontmatter": matter, "resources": listed}

    def resources(self) -> Any:
        for name, files in self.skills.items():
            paths = list(files) if self.way == "plain" else ["SKILL.md", "_manifest"]
            yield from ({"uri": uri(name, path), "name": path} for path in paths)

    def folder(self, place: str) -> list[dict[str, Any]]:
        name, _, below = place.removeprefix("skill://").partition("/")
        found: dict[str, dict[str, Any]] = {}
        for path, data in self.skills[name].items():
            if not below or path.startswith(f"{below}/"):
                step, more, _ = path[len(below) + 1 if below else 0 :].partition("/")
                whole = f"{below}/{step}" if below else step
                kind = {"mimeType": "inode/directory"} if more else {"size": len(data)}
                found[step] = {"uri": uri(name, whole), "name": step, **kind}
        return list(found.values())

    def read(self, place: str) -> dict[str, str]:
        name, _, path = place.removeprefix("skill://").partition("/")
        if path == "_manifest" and self.way == "manifest":
            files = [
                {
                    "path": path,
                    "size": len(data),
                    "hash": f"sha256:{hashlib.sha256(data).hexdigest()}",
                }
                for path, data in self.skills[name].items()
            ]
            return {"text": json.dumps({"skill": name, "files": files})}
        by_uri = {uri(name, path): data for path, data in self.skills.get(name, {}).items()}
        if place not in by_uri:
            raise RefusedRequest(-32602, f"no resource at {place}")
        data = by_uri[place]
        self.reads += 1
        if self.lies_every and self.reads % self.lies_every == 0:
            self.lies += 1
            data = bytes(reversed(data))
        try:
            return {"text": data.decode()}
        except UnicodeDecodeError:
            return {"blob": base64.b64encode(data).decode()}


def uri(name: str, path: str) -> str:
    """Give the URI of a file."""
    return f"skill://{name}/{quote(path)}"


class ToyServer:
    """The server over HTTP, for the time of a `with` block."""

    def __init__(self, answers: Answers, *, token: str = "", stream: bool = False) -> None:
        self.answers, self.token, self.stream = answers, token, stream
        self.hang = threading.Event()
        """Set, it answers nothing more."""
        self.over = threading.Event()
        self.raw: bytes | None = None
        """Sent in the place of any answer."""
        self.heads: list[dict[str, str]] = []
        toy = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                toy.take(self)

            def do_DELETE(self) -> None:
                toy.heads.append(dict(self.headers))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_words: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.place = f"127.0.0.1:{self.http.server_address[1]}"
        self.url = f"http://{self.place}/mcp"

    def take(self, request: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        self.heads.append(dict(request.headers))
        body = request.rfile.read(int(request.headers["Content-Length"]))
        if self.hang.is_set():
            self.over.wait(120)
            return
        if self.token and request.headers.get("Authorization") != f"Bearer {self.token}":
            request.send_error(401)
            return
        said = self.answers.answer(json.loads(body))
        data = json.dumps(said).encode() if self.raw is None else self.raw
        if self.stream and said is not None:
            note = b'event: message\r\ndata: {"jsonrpc":"2.0","method":"notifications/x"}\r\n\r\n'
            data = note + b"data: " + data + b"\r\n\r\n"
        request.send_response(202 if said is None else 200)
        request.send_header(
            "Content-Type", "text/event-stream" if self.stream else "application/json"
        )
        request.send_header("Content-Length", "0" if said is None else str(len(data)))
        request.send_header("Mcp-Session-Id", "toy-session")
        request.end_headers()
        if said is not None:
            try:
                request.wfile.write(data)
            except OSError:
                pass  # whoever asked has had enough

    def __enter__(self) -> ToyServer:
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.over.set()
        self.http.shutdown()
        self.http.server_close()


def main() -> None:
    """Serve a folder of skills over the standard streams: `mcp_server.py FOLDER [WAY]`."""
    for line in sys.stdin:
        folder = Path(sys.argv[1])
        skills = {
            one.name: {
                path.relative_to(one).as_posix(): path.read_bytes()
                for path in one.rglob("*")
                if path.is_file()
            }
            for one in folder.iterdir()
        }
        answers = Answers(skills, *sys.argv[2:3])
        said = answers.answer(json.loads(line))
        if said is not None:
            ping = {"jsonrpc": "2.0", "id": "p", "method": "ping"}
            sys.stdout.write(f"{json.dumps(ping)}\n{json.dumps(said)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
