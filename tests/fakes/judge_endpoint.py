"""A server of models on loopback that answers well, badly, slowly or maliciously, and notes what it was sent."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

    Question = dict[str, Any]
    Answering = Callable[[Question], "str | ModelSays"]


class ModelSays(NamedTuple):
    """An answer as the server gives it, below the form that an endpoint has."""

    body: bytes = b""
    status: int = 200
    location: str = ""
    silent: bool = False
    """Say nothing until the server is closed."""


def opinions(
    question: Question, *, harmful: str = "203.0.113.9", reason: str = "It says so."
) -> list[dict[str, str]]:
    """Judge like an honest model: what names a word of the harmful, or one of the known controls, is harmful."""
    words = (harmful, "drop.invalid", "203.0.113.9")
    return [
        {
            "id": one["id"],
            "verdict": "harmful" if any(word in one["text"] for word in words) else "harmless",
            "behaviour": "exfiltration" if any(word in one["text"] for word in words) else "none",
            "reason": reason,
        }
        for one in question["passages"]
    ]


def well(question: Question) -> str:
    """Answer as asked."""
    return json.dumps({"nonce": question["nonce"], "answers": opinions(question)})


class JudgeEndpoint:
    """Stands for an OpenAI-compatible server; `answering` gives the content of its answer."""

    def __init__(self, answering: Answering = well) -> None:
        """Listen on a port that was free."""
        self.answering = answering
        self.questions: list[Question] = []
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.closing = threading.Event()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                fake.answer(self)

            def log_message(self, *_words: object) -> None:
                """Keep quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.place = f"127.0.0.1:{self.server.server_address[1]}"
        self.url = f"http://{self.place}/v1"

    def __enter__(self) -> Self:
        """Begin to answer."""
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        body = json.loads(request.rfile.read(int(request.headers["Content-Length"])))
        question = json.loads(body["messages"][1]["content"])
        self.bodies.append(body)
        self.headers.append({**dict(request.headers), ":path": request.path})
        self.questions.append(question)
        said = self.answering(question)
        if isinstance(said, str):
            said = ModelSays(json.dumps({"choices": [{"message": {"content": said}}]}).encode())
        if said.silent:
            self.closing.wait()
            return
        try:
            request.send_response(said.status)
            if said.location:
                request.send_header("Location", said.location)
            request.send_header("Content-Length", str(len(said.body)))
            request.end_headers()
            request.wfile.write(said.body)
        except OSError:
            pass  # whoever asked has hung up

    @property
    def texts(self) -> list[str]:
        """Every passage that was ever sent, controls too."""
        return [one["text"] for question in self.questions for one in question["passages"]]
