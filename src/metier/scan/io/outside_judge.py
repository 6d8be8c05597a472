"""Judges that are no part of metier: an OpenAI-compatible endpoint, and a command. Both are asked
within a limit of time and of bytes, and neither is believed here.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import time
from typing import TYPE_CHECKING

from metier.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

MAX_ANSWER_BYTES = 1 << 20
_CHUNK_BYTES = 1 << 16
_PATH = "/chat/completions"


class EndpointJudge:
    """Asks a model over HTTP, in the form that most servers of models understand."""

    def __init__(
        self, url: str, model: str, answer_as: str, send: Callable[[str, bytes], bytes]
    ) -> None:
        """Ask this address for this model; `send` posts a body there and gives the answer's."""
        self.url = url if url.endswith(_PATH) else url.rstrip("/") + _PATH
        self.model = model
        self.answer_as = answer_as
        self.send = send
        self.name = f"{url} ({model})" if model else url

    def ask(self, system: str, question: str, schema: Mapping[str, Any]) -> str:
        """Give the text of the first answer."""
        formats: dict[str, dict[str, Any]] = {
            "json_schema": {
                "type": "json_schema",
                "json_schema": {"name": "verdicts", "strict": True, "schema": schema},
            },
            "json_object": {"type": "json_object"},
        }
        body: dict[str, Any] = {
            "model": self.model,
            "temperature": 0,
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": question},
            ],
        }
        if self.answer_as in formats:
            body["response_format"] = formats[self.answer_as]
        reply = self.send(self.url, json.dumps(body, ensure_ascii=True).encode("ascii"))
        try:
            content = json.loads(reply)["choices"][0]["message"]["content"]
        except (ValueError, LookupError, TypeError, RecursionError):
            content = None
        if not isinstance(content, str):
            raise _failed("it does not answer as an OpenAI-compatible endpoint does")
        return content


class CommandJudge:
    """Asks a program: one JSON document on its standard input, the answer on its standard output."""

    def __init__(
        self, argv: Sequence[str], seconds: float, env: Mapping[str, str], folder: str
    ) -> None:
        """Start this program in a folder of the user's, never in the one that metier was started
        in.
        """
        self.argv = tuple(argv)
        self.seconds = seconds
        self.env = env
        self.folder = folder
        self.name = f"the command {argv[0]}"

    def ask(self, system: str, question: str, schema: Mapping[str, Any]) -> str:
        """Give what the program writes; it is ended when its time is over."""
        document = {"system": system, "question": json.loads(question), "schema": schema}
        data = json.dumps(document, ensure_ascii=True).encode("ascii") + b"\n"
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own configuration names it
                self.argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=self.folder,
                env=dict(self.env),
                start_new_session=True,
                bufsize=0,
            )
        except (OSError, ValueError) as error:
            raise _failed(f"it cannot be started: {error}") from error
        try:
            answer = self._exchange(process, data)
            status = process.wait(max(0.1, self.seconds))
        except subprocess.TimeoutExpired:
            raise _late() from None
        finally:
            _end(process)
        if status:
            raise _failed(f"it ended with status {status}")
        return answer.decode("utf-8", "replace")

    def _exchange(self, process: subprocess.Popen[bytes], data: bytes) -> bytes:
        """Write and read at once, so that neither side waits for the other."""
        assert process.stdin is not None
        assert process.stdout is not None
        limit = time.monotonic() + self.seconds
        left = memoryview(data)
        answer = bytearray()
        with selectors.DefaultSelector() as ready:
            for stream, event in (
                (process.stdin, selectors.EVENT_WRITE),
                (process.stdout, selectors.EVENT_READ),
            ):
                os.set_blocking(stream.fileno(), False)
                ready.register(stream, event)
            while process.stdout in {key.fileobj for key in ready.get_map().values()}:
                seconds = limit - time.monotonic()
                events = ready.select(seconds) if seconds > 0 else []
                if not events:
                    raise _late()
                for key, _ in events:
                    if key.fileobj is process.stdin:
                        left = self._write(process, left)
                        if not left:
                            ready.unregister(process.stdin)
                            process.stdin.close()
                    elif chunk := os.read(key.fd, _CHUNK_BYTES):
                        answer += chunk
                        if len(answer) > MAX_ANSWER_BYTES:
                            raise _failed("its answer is too long")
                    else:
                        ready.unregister(process.stdout)
        return bytes(answer)

    def _write(self, process: subprocess.Popen[bytes], left: memoryview) -> memoryview:
        assert process.stdin is not None
        try:
            return left[os.write(process.stdin.fileno(), left[:_CHUNK_BYTES]) :]
        except BlockingIOError:
            return left
        except BrokenPipeError:
            return left[:0]  # it answers without having read all: its answer will tell


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and all that it started, and let go of what led to it."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    process.wait()


def _failed(why: str) -> SourceError:
    return SourceError(f"the judge did not answer: {why}", hint="check scan.judge", code="judge")


def _late() -> SourceError:
    return SourceError(
        "the judge did not answer in time",
        hint="scan.judge.timeout says how long to wait",
        code="judge",
    )
