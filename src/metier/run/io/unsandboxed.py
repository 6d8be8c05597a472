"""Running a program WITHOUT a sandbox: it can read, change and send whatever its user can. Only the
limits are kept.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING

from metier.errors import SandboxError
from metier.run.io import cgroup, limits
from metier.run.io.descriptors import Descriptors
from metier.run.io.process import RunProcess
from metier.run.io.stream import RunCallbacks, drive
from metier.run.model import KILLED, Layer, never

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.run.io.cgroup import RunCgroup
    from metier.run.model import Cage, Feed, Hear, RunEnded, Stopped

_PATIENCE_SECONDS = 10.0
_PARENT_DEATH = 1
"""PR_SET_PDEATHSIG."""


class Unsandboxed:
    """No sandbox at all, behind the same port. Nothing takes it unless the user's configuration and
    the command both say so.
    """

    def layers(self) -> Sequence[Layer]:
        """Say plainly that there is nothing."""
        words = "NONE: the script runs as you, and can read, change and send whatever you can"
        return (
            Layer("sandbox", active=False, detail=words, hint="leave --unsandboxed away"),
            Layer("rlimits", active=True, detail="memory, size of files, open files"),
        )

    def run(
        self,
        cage: Cage,
        hear: Hear,
        feed: Feed | None = None,
        stopped: Stopped = never,
    ) -> RunEnded:
        """Run a program in a folder of its own that is removed afterwards; mounts and files of the
        cage mean nothing here.
        """
        if not hasattr(os, "pidfd_open"):
            raise SandboxError(
                "scripts are run on Linux alone, with a sandbox or without",
                hint="run it by hand, at your own risk",
            )
        folder = tempfile.mkdtemp(prefix="metier-run-")
        try:
            with Descriptors() as ends:
                process = UnsandboxedProcess(cage, ends, folder)
                finish = drive(
                    process, ends, process.pipes, cage.bounds, RunCallbacks(hear, feed, stopped)
                )
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return finish.as_ended(process.code)


class UnsandboxedProcess(RunProcess):
    """A program of this user's own."""

    def __init__(self, cage: Cage, ends: Descriptors, folder: str) -> None:
        """Make its pipes; start nothing yet."""
        super().__init__(cage, ends)
        self.code = 0
        self._folder = folder

    def start(self, until: float, over: Stopped) -> int:  # noqa: ARG002 - it starts at once
        """Start it, in a process group and, where one can be had, a control group of its own."""
        self._group = cgroup.make(self.cage.bounds)
        process, ended = self._start(
            self.cage.command,
            (self.report,) if self.cage.reports else (),
            "no-program",
            cwd=self._folder,
            env=dict(self.cage.environment),
            preexec_fn=_first_of_all(self._group),
        )
        self._group.join(process.pid)  # it is in already; whether it could, its own side knows
        limits.set_limits(process.pid, self.cage.bounds, apart=False)
        return ended

    def exceeded(self) -> str:
        """Ask the kernel's count, or count."""
        met = self._group.exceeded()
        if met or self._process is None:
            return met
        return limits.exceeded_limit(self._process.pid, self.cage.bounds)

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        """Kill its process group, all that descends from it, and all in its control group."""
        below = limits.descendants(process.pid)
        with suppress(ProcessLookupError):  # not waited for yet, so its number is nobody else's
            os.killpg(process.pid, signal.SIGKILL)
        for pid in below:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        self._group.kill()
        try:
            code = process.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise SandboxError(
                "the program cannot be ended: the kernel does not let go of it", code="sandbox"
            ) from error
        self.code = code if code >= 0 else 128 - code


def _first_of_all(group: RunCgroup) -> Callable[[], None]:
    """Give what a new process does before anything else: join its group, so that nothing it starts
    is ever outside.

    And ask to be killed when the thread that started it is gone, however that ended. What it has
    started by then is not killed.
    """
    prctl = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def prepare() -> None:
        if (
            prctl(_PARENT_DEATH, ctypes.c_ulong(signal.SIGKILL)) or os.getppid() != parent
        ):  # which may be gone by now
            os._exit(KILLED)
        group.join(os.getpid())

    return prepare
