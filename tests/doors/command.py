"""Runs the `metier` command as a process of its own, as small or as powerless as a test wants it."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import pytest

import metier

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SOURCE = str(Path(metier.__file__).parent.parent)
PATIENCE = 120
"""Seconds after which a command counts as hanging. No test measures time; this only keeps a hang from being endless."""

CANNOT = 77
"""What the launcher ends with when this machine does not let it give up its powers."""

# A process of its own sets the limits and then becomes the command, so that nothing runs between fork and exec.
_LAUNCH = f"""
import ctypes, json, os, resource, sys
wish = json.loads(sys.argv[1])
if wish["memory"]:
    resource.setrlimit(resource.RLIMIT_AS, (wish["memory"], wish["memory"]))
if wish["file_size"] is not None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (wish["file_size"], wish["file_size"]))
if wish["powerless"] and os.geteuid() == 0:
    # Root without CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH and CAP_FOWNER meets permissions like everybody else.
    libc = ctypes.CDLL(None, use_errno=True)
    if any(libc.prctl(24, power, 0, 0, 0) for power in (1, 2, 3)):
        os._exit({CANNOT})
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""


class Answer(NamedTuple):
    """What a command ended with and printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Give the one JSON document on standard output."""
        return json.loads(self.out)


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """Give a whole environment in which this very source is run."""
    ours = {"METIER_SCAN_MODEL": "off", "METIER_BACKGROUND": "off"}
    return {"PYTHONPATH": SOURCE, "LC_ALL": "C.UTF-8", **ours, **env}


def python(
    env: Mapping[str, str],
    *words: str,
    cwd: str | Path | None = None,
    memory: int = 0,
    file_size: int | None = None,
    powerless: bool = False,
    stdout: int | IO[bytes] = subprocess.PIPE,
) -> Answer:
    """Run Python with limits: bytes of memory, bytes per written file, or without the powers of root."""
    wish = json.dumps({"memory": memory, "file_size": file_size, "powerless": powerless})
    limited = bool(memory or powerless or file_size is not None)
    # A process that may write only so much would leave half a file of bytecode behind, for all that come after it.
    env = {**env, "PYTHONDONTWRITEBYTECODE": "1"} if file_size is not None else env
    command: Sequence[str] = (
        [sys.executable, "-c", _LAUNCH, wish, *words] if limited else [sys.executable, *words]
    )
    done = subprocess.run(
        command,
        env=environment(env),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        timeout=PATIENCE,
        check=False,
    )
    if powerless and done.returncode == CANNOT:
        pytest.skip("this machine does not let root give up its powers")
    return Answer(done.returncode, (done.stdout or b"").decode(), done.stderr.decode())


def run(env: Mapping[str, str], *words: str, **wishes: Any) -> Answer:
    """Run one command of metier."""
    return python(env, "-m", "metier", *words, **wishes)


def error_of(answer: Answer) -> tuple[str, str]:
    """Take the error and the hint from standard error, holding its layout to the contract."""
    assert "Traceback" not in answer.err, answer.err
    head, gap, hint = answer.err.partition("\n\nhint: ")
    assert head.startswith("error: "), answer.err
    assert gap, answer.err
    assert hint.endswith("\n"), answer.err
    return head.removeprefix("error: "), hint.strip()


def document(answer: Answer) -> dict[str, Any]:
    """Give the one JSON document that a command printed, and nothing else."""
    assert 1 == answer.out.count("\n")
    found = json.loads(answer.out)
    assert isinstance(found, dict)
    return found


def _uncoloured(text: str) -> str:
    """Take away what makes colours and moves the cursor; what begins to erase the screen begins a line."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text.replace("\x1b[J", "\n"))


class Screen(NamedTuple):
    """What stands on a terminal after a command."""

    code: int
    text: str

    @property
    def lines(self) -> list[str]:
        """Give the lines as people see them: without colours, and without what a meter took away."""
        plain = _uncoloured(self.text)
        return [line.rpartition("\r")[2] for line in plain.replace("\r\n", "\n").split("\n")]


def on_screen(
    env: Mapping[str, str],
    *words: str,
    columns: int = 80,
    rows: int = 1000,
    cwd: str | Path | None = None,
    script: str = "",
) -> Screen:
    """Run one command on a real terminal of so many columns; by a script of the test's own, if it has one."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, *([script] if script else ["-m", "metier"]), *words],
        env=environment({"TERM": "xterm", **env}),
        cwd=cwd or env.get("HOME"),  # a checkout that the tests run in may have skills of its own
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    parts = []
    try:
        while part := os.read(ours, 1 << 16):
            parts.append(part)
    except OSError:  # a terminal ends with an error, not with an empty read
        pass
    finally:
        os.close(ours)
        code = process.wait(timeout=PATIENCE)
    return Screen(code, b"".join(parts).decode())


class Session:
    """A command that somebody has before them on a real terminal: it is waited for, and keys are pressed."""

    def __init__(
        self,
        env: Mapping[str, str],
        *words: str,
        cwd: str | Path | None = None,
        columns: int = 80,
        rows: int = 24,
        stdout: int | IO[bytes] | None = None,
    ) -> None:
        """Start it; with `stdout`, only its output goes elsewhere."""
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "metier", *words],
            env=environment({"TERM": "xterm", **env}),
            cwd=cwd or env.get("HOME"),
            stdin=theirs,
            stdout=theirs if stdout is None else stdout,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self.text = ""
        self._seen = 0

    def _read(self) -> bool:
        """Take what is there, once there is something; tell whether there may be more."""
        if not select.select([self.ours], [], [], PATIENCE)[0]:
            self.process.kill()
            self.process.wait()
            pytest.fail(f"nothing more came after: {self.text[-2000:]}")
        try:
            part = os.read(self.ours, 1 << 16)
        except OSError:  # a terminal ends with an error, not with an empty read
            return False
        self.text += part.decode(errors="replace")
        return bool(part)

    def wait(self, text: str) -> Session:
        """Go on when a text has come, in whatever colour, after all that was waited for before."""
        while text not in (plain := _uncoloured(self.text))[self._seen :]:
            if not self._read():
                pytest.fail(f"{text!r} did not come: {self.text}")
        self._seen = plain.index(text, self._seen) + len(text)
        return self

    def press(self, keys: bytes) -> Session:
        """Press keys."""
        os.write(self.ours, keys)
        return self

    def end(self) -> Screen:
        """Wait until it ends; give all that was on the terminal."""
        while self._read():
            pass
        os.close(self.ours)
        return Screen(self.process.wait(timeout=PATIENCE), self.text)
