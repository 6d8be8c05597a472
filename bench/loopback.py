"""A server on the loopback interface that answers "ok" as a model would and keeps the requests."""

from __future__ import annotations

import http.server
import json
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def _events(events: list[tuple[str, dict[str, Any]]]) -> bytes:
    lines = (f"event: {kind}\ndata: {json.dumps(data)}\n\n" for kind, data in events)
    return "".join(lines).encode()


def _anthropic(*, stream: bool) -> bytes:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message: dict[str, Any] = {"id": "m", "type": "message", "role": "assistant", "model": "m"}
    message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    if not stream:
        text = [{"type": "text", "text": "ok"}]
        return json.dumps(message | {"content": text, "stop_reason": "end_turn"}).encode()
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    block = {"type": "text", "text": ""}
    said = {"type": "text_delta", "text": "ok"}
    steps: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": said},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return _events([(step["type"], step) for step in steps])


def _chat(*, stream: bool) -> bytes:
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    head: dict[str, Any] = {"id": "c", "created": 1, "model": "m"}
    if not stream:
        said = {"role": "assistant", "content": "ok"}
        choice = {"index": 0, "message": said, "finish_reason": "stop"}
        head |= {"object": "chat.completion", "choices": [choice], "usage": usage}
        return json.dumps(head).encode()
    head["object"] = "chat.completion.chunk"
    first = {"index": 0, "delta": {"role": "assistant", "content": "ok"}, "finish_reason": None}
    last = {"index": 0, "delta": {}, "finish_reason": "stop"}
    chunks = [head | {"choices": [first]}, head | {"choices": [last]}]
    chunks.append(head | {"choices": [], "usage": usage})
    return ("".join(f"data: {json.dumps(c)}\n\n" for c in chunks) + "data: [DONE]\n\n").encode()


def _responses(*, stream: bool) -> bytes:
    text = {"type": "output_text", "text": "ok", "annotations": []}
    said: dict[str, Any] = {"type": "message", "id": "i", "role": "assistant"}
    said |= {"status": "completed", "content": [text]}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    whole: dict[str, Any] = {"id": "r", "object": "response", "created_at": 1, "model": "m"}
    whole |= {"status": "completed", "output": [said], "usage": usage}
    if not stream:
        return json.dumps(whole).encode()
    where = {"item_id": "i", "output_index": 0, "content_index": 0}
    steps: list[dict[str, Any]] = [
        {"type": "response.created", "response": whole | {"status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": said | {"content": []}},
        {"type": "response.content_part.added", **where, "part": text | {"text": ""}},
        {"type": "response.output_text.delta", **where, "delta": "ok"},
        {"type": "response.output_text.done", **where, "text": "ok"},
        {"type": "response.output_item.done", "output_index": 0, "item": said},
        {"type": "response.completed", "response": whole},
    ]
    return _events([(step["type"], step) for step in steps])


class _Door(http.server.BaseHTTPRequestHandler):
    """One request: kept, and answered with "ok" in the shape of the API that its path names."""

    protocol_version = "HTTP/1.1"
    kept: list[dict[str, Any]]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""

    def do_GET(self) -> None:
        self._give(
            json.dumps({"object": "list", "data": [{"id": "m", "object": "model"}]}).encode()
        )

    def do_POST(self) -> None:
        try:
            asked = json.loads(self._body())
        except ValueError:
            asked = {}
        stream = False
        if isinstance(asked, dict):
            self.kept.append(asked)
            stream = bool(asked.get("stream"))
        kind = "text/event-stream" if stream else "application/json"
        if "count_tokens" in self.path:
            self._give(b'{"input_tokens": 1}')
        elif "/messages" in self.path:
            self._give(_anthropic(stream=stream), kind)
        elif "/responses" in self.path:
            self._give(_responses(stream=stream), kind)
        elif "/chat/completions" in self.path:
            self._give(_chat(stream=stream), kind)
        else:
            self._give(b"{}")

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        whole = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            whole += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return whole

    def _give(self, body: bytes, kind: str = "application/json") -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class LoopbackModel:
    """A server on 127.0.0.1 in the shape of the OpenAI and the Anthropic API."""

    def __enter__(self) -> LoopbackModel:
        """Start to serve."""
        self.kept: list[dict[str, Any]] = []
        door = type("Door", (_Door,), {"kept": self.kept})
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), door)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        """Stop."""
        self._server.shutdown()
        self._server.server_close()

    def texts(self) -> Iterator[str]:
        """Every string of every request, in order."""
        for request in self.kept:
            yield from _strings(request)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
