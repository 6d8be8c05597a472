"""Running a program WITHOUT a sandbox: it can read, change and send whatever its user can. Only the limits are kept."""

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
from metier.execute.cgroup import disk as groups
from metier.execute.ends.proc import Ends
from metier.execute.limits.proc import hold
from metier.execute.stream.proc import Asked, Wires, drive
from metier.execute.watchdog import proc as watchdog
from metier.execute.wiring.proc import REPORT
from metier.runs import KILLED, TIMED_OUT, Ended, Layer, never

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.execute.cgroup.disk import Group
    from metier.runs import Cage

_PATIENCE = 10.0
_PARENT_DEATH = 1
"""PR_SET_PDEATHSIG."""


class Unsandboxed:
    """No sandbox at all, behind the same port. Nothing takes it unless the user's configuration and the command both say so."""

    def layers(self) -> Sequence[Layer]:
        """Say plainly that there is nothing."""
        words = "NONE: the script runs as you, and can read, change and send whatever you can"
        return (Layer("sandbox", active=False, detail=words, hint="leave --unsandboxed away"),
                Layer("rlimits", active=True, detail="memory, size of files, open files"))  # fmt: skip

    def run(
        self, cage: Cage, hear: Callable[[str, bytes], None], feed: Callable[[int], bytes] | None = None,
        stopped: Callable[[], bool] = never,
    ) -> Ended:  # fmt: skip
        """Run a program in a folder of its own that is removed afterwards; mounts and files of the cage mean nothing here."""
        if not hasattr(os, "pidfd_open"):
            raise SandboxError("scripts are run on Linux alone, with a sandbox or without", hint="run it by hand, at your own risk")
        folder = tempfile.mkdtemp(prefix="metier-run-")
        try:
            with Ends() as ends:
                loose = Loose(cage, ends, folder)
                finish = drive(loose, ends, loose.wires, cage.bounds, Asked(hear, feed, stopped))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        code = {"": loose.code, "time": TIMED_OUT}.get(finish.stopped, KILLED)
        return Ended(code, finish.stopped, finish.seconds, finish.report, finish.truncated)


class Loose:
    """A program of this user's own, for the keeper's thread."""

    def __init__(self, cage: Cage, ends: Ends, folder: str) -> None:
        """Make its pipes; start nothing yet."""
        self.code = 0
        self._cage, self._ends, self._folder = cage, ends, folder
        stdin, into = ends.inlet()
        out, stdout = ends.pipe()
        err, stderr = ends.pipe()
        report, self._report = ends.pipe() if cage.reports else (-1, -1)
        self.wires = Wires(into, out, err, report)
        self._theirs = (stdin, stdout, stderr)
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = -1
        self._group: Group | None = None

    def start(self, until: float, over: Callable[[], bool]) -> int:  # noqa: ARG002 - it starts at once
        """Start it, in a process group and, where one can be had, a control group of its own."""
        reporting = {REPORT: str(self._report)} if self._report >= 0 else {}
        self._group = groups.make(self._cage.bounds)
        stdin, stdout, stderr = self._theirs
        try:
            self._process = subprocess.Popen(  # noqa: S603 - one argument is one argument; no shell reads them
                self._cage.command, stdin=stdin, stdout=stdout, stderr=stderr, cwd=self._folder, start_new_session=True,
                pass_fds=(self._report,) if self._report >= 0 else (), env={**dict(self._cage.environment), **reporting},
                preexec_fn=_first_of_all(self._group),  # noqa: PLW1509 - a few system calls, and no lock that another thread may hold
            )  # fmt: skip
            self._ended = self._ends.process(self._process.pid)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            raise SandboxError(f"{self._cage.command[0]} cannot be started: {error}", code="no-program") from error
        if self._group is not None:
            self._group.join(self._process.pid)  # it is in already; whether it could, only its own side knows
        hold(self._process.pid, self._cage.bounds, apart=False)
        self._ends.shut(*self._theirs, *((self._report,) if self._report >= 0 else ()))
        return self._ended

    def exceeded(self) -> str:
        """Ask the kernel's count, or count."""
        met = self._group.exceeded() if self._group is not None else ""
        return met or (watchdog.exceeded(self._process.pid, self._cage.bounds) if self._process is not None else "")

    def end(self) -> None:
        """Kill its process group, all that descends from it, and all in its control group."""
        try:
            if self._process is not None:
                self._kill(self._process)
        finally:
            if self._group is not None:
                self._group.remove()

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        below = watchdog.descendants(process.pid)
        with suppress(ProcessLookupError):  # not waited for yet, so its number is nobody else's
            os.killpg(process.pid, signal.SIGKILL)
        for pid in below:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if self._group is not None:
            self._group.kill()
        try:
            code = process.wait(_PATIENCE)
        except subprocess.TimeoutExpired as error:
            raise SandboxError("the program cannot be ended: the kernel does not let go of it", code="sandbox") from error
        self.code = code if code >= 0 else 128 - code


def _first_of_all(group: Group | None) -> Callable[[], None]:
    """Give what a new process does before anything else: join its group, so that nothing it starts is ever outside.

    And ask to be killed when the thread that started it is gone, however that ended. What it has started by then is not killed.
    """
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def prepare() -> None:
        if prctl(_PARENT_DEATH, ctypes.c_ulong(signal.SIGKILL)) or os.getppid() != parent:  # which may be gone by now
            os._exit(KILLED)
        if group is not None:
            group.join(os.getpid())

    return prepare
