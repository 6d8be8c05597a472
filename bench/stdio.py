"""A lean client of MCP servers over stdio: lines of JSON through two pipes, timed to the last byte
of each answer.

Answers are kept as they came and read only after the clock has stopped, so that what is timed is
the server.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from peers import Broken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from peers import Command

PROTOCOL = "2025-06-18"
"""What every server measured here speaks."""
PATIENCE = 300
"""Seconds after which a server that says nothing is given up."""
GOODBYE = 20
"""Seconds that a server gets to end by itself once its input is closed."""
_CHUNK = 1 << 18
_HEAD = 60
"""Within so many bytes of either end of a line stands its id; a line that shows none there is read
as a whole."""


class Timing(NamedTuple):
    """What a batch of requests took: the seconds of each, of all together, and the answers as they
    came.
    """

    each: list[float]
    seconds: float
    answers: list[bytes]


class Client:
    """One server process and the two pipes to it."""

    def __init__(self, command: Command) -> None:
        """Start the server; nothing is said to it yet."""
        self.began = time.perf_counter()
        self.said = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process is there
        self.child = subprocess.Popen(
            command.argv,
            env=command.env,
            cwd=command.cwd,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.said,
        )
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self._in, self._out = self.child.stdin.fileno(), self.child.stdout.fileno()
        self._ready = select.poll()
        self._ready.register(self._out, select.POLLIN | select.POLLHUP)
        self._kept = bytearray()
        self._number = 0
        self.notes: list[str] = []
        """The notifications that came, by their method."""

    def initialise(self) -> dict[str, Any]:
        """Shake hands as the protocol wants; give what the server says of itself."""
        about = {
            "protocolVersion": PROTOCOL,
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        }
        answer = result(self.time([("initialize", about)]).answers[0])
        self._write(
            json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode() + b"\n"
        )
        return answer

    def since_start(self) -> float:
        """Seconds since the process was started."""
        return time.perf_counter() - self.began

    def time(self, requests: Sequence[tuple[str, dict[str, Any]]], ahead: int = 1) -> Timing:
        """Put the requests one after the other, with at most so many of them unanswered at any
        moment.
        """
        lines = deque(self._lines(requests))
        started: dict[int, float] = {}
        took: dict[int, float] = {}
        answers: dict[int, bytes] = {}
        began = time.perf_counter()
        while lines or started:
            while lines and len(started) < ahead:
                number, line = lines.popleft()
                started[number] = time.perf_counter()
                self._write(line)
            number, answer = self._answer(started)
            took[number] = time.perf_counter() - started.pop(number)
            answers[number] = answer
        seconds = time.perf_counter() - began
        order = sorted(took)
        return Timing(
            [took[number] for number in order], seconds, [answers[number] for number in order]
        )

    def _lines(self, requests: Sequence[tuple[str, dict[str, Any]]]) -> list[tuple[int, bytes]]:
        found: list[tuple[int, bytes]] = []
        for method, parameters in requests:
            self._number += 1
            whole = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters}
            found.append((self._number, json.dumps(whole).encode() + b"\n"))
        return found

    def _write(self, line: bytes) -> None:
        try:
            while line:
                line = line[os.write(self._in, line) :]
        except BrokenPipeError:
            self._give_up("stopped")

    def _answer(self, wanted: dict[int, float]) -> tuple[int, bytes]:
        """Read lines until one answers a request that is open."""
        while True:
            line = self._line()
            ends = line[:_HEAD] + b" " + line[-_HEAD:]
            near = [
                number
                for number in wanted
                if b'"id":%d,' % number in ends or b'"id":%d}' % number in ends
            ]
            if len(near) == 1:
                return near[0], line
            whole = json.loads(line)
            if "method" in whole:
                self.notes.append(whole["method"])
            elif whole.get("id") in wanted:
                return whole["id"], line

    def _line(self) -> bytes:
        looked = 0
        while (end := self._kept.find(b"\n", looked)) < 0:
            looked = len(self._kept)
            if not self._ready.poll(PATIENCE * 1000):
                self._give_up(f"said nothing for {PATIENCE} seconds")
            chunk = os.read(self._out, _CHUNK)
            if not chunk:
                self._give_up("stopped")
            self._kept += chunk
        line = bytes(self._kept[:end])
        del self._kept[: end + 1]
        return line

    def _give_up(self, why: str) -> None:
        self.child.kill()
        code = self.child.wait()
        self.said.seek(0)
        lines = self.said.read().decode(errors="replace").strip().splitlines() or ["no message"]
        message = f"{self.child.args!r} {why} ({code}): {lines[-1][:300]}"
        raise Broken(message)

    def memory(self) -> int:
        """Give the bytes that the server has resident."""
        with open(f"/proc/{self.child.pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def end(self) -> None:
        """Close the server's input, which ends it."""
        for pipe in (self.child.stdin, self.child.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        try:
            self.child.wait(GOODBYE)
        except subprocess.TimeoutExpired:
            self.child.send_signal(signal.SIGKILL)
            self.child.wait()
        self.said.close()


def result(line: bytes) -> dict[str, Any]:
    """Read an answer; one that is an error is a finding."""
    answer = json.loads(line)
    if "result" not in answer:
        message = f"answered with an error: {str(answer.get('error'))[:300]}"
        raise Broken(message)
    found: dict[str, Any] = answer["result"]
    return found


def told(line: bytes) -> str:
    """Give the text of a tool's answer; one that says it failed is a finding."""
    found = result(line)
    text = "\n".join(str(part.get("text", "")) for part in found.get("content", []))
    if found.get("isError"):
        message = f"a tool failed: {text[:300]}"
        raise Broken(message)
    return text
