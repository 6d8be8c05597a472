"""Runs the `metier` command as a process of its own, as small or as powerless as a test wants it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import pytest

import metier

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SOURCE = str(Path(metier.__file__).parent.parent)
PATIENCE = 30
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
    return {"PYTHONPATH": SOURCE, "LC_ALL": "C.UTF-8", **env}


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
    command: Sequence[str] = [sys.executable, "-c", _LAUNCH, wish, *words] if limited else [sys.executable, *words]
    done = subprocess.run(
        command, env=environment(env), cwd=cwd, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
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
