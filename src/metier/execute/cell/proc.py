"""One bubblewrap at work: started with the limits on it before the program begins, and ended with all that it holds."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from metier.errors import SandboxError
from metier.execute.cgroup import disk as groups
from metier.execute.landlock import proc as landlock
from metier.execute.limits.proc import hold
from metier.execute.stream.proc import TICK
from metier.execute.watchdog import proc as watchdog

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.execute.cgroup.disk import Group
    from metier.execute.ends.proc import Ends
    from metier.execute.wiring.proc import Wired
    from metier.runs import Cage

_GRACE, _PATIENCE = 2.0, 10.0
"""Seconds for bubblewrap to notice that its child was killed, and for the kernel to end what was killed."""
_CHILD = re.compile(rb'"child-pid":\s*(\d+)')
_CODE = re.compile(rb'"exit-code":\s*(\d+)')


class Cell:
    """A run inside bubblewrap, for the keeper's thread."""

    def __init__(self, cage: Cage, wired: Wired, ends: Ends) -> None:
        """Start nothing yet."""
        self.code: int | None = None
        """The program's own exit code; nothing when it never began."""
        self.killed = 0
        """The signal that ended bubblewrap itself."""
        self._cage, self._wired, self._ends = cage, wired, ends
        self._group: Group | None = None
        self._bwrap: subprocess.Popen[bytes] | None = None
        self._monitor = self._first = -1
        self._pid = 0

    def start(self, until: float, over: Callable[[], bool]) -> int:
        """Start bubblewrap; set the limits while it waits; let it go."""
        # No new privileges comes with it: a bwrap that is setuid runs as this user too, and has the options that it needs.
        landlock.lay(network=self._cage.network)
        wired = self._wired
        try:
            self._bwrap = subprocess.Popen(  # noqa: S603 - the arguments are ours, one by one; none is read by a shell
                wired.arguments, stdin=wired.stdin, stdout=wired.stdout, stderr=wired.stderr, pass_fds=wired.inherited,
                env={}, cwd="/", start_new_session=True,
            )  # fmt: skip
            self._monitor = self._ends.process(self._bwrap.pid)
        except (OSError, ValueError) as error:  # a word that this machine's locale cannot spell, too
            raise SandboxError(f"bubblewrap cannot be started: {error}", code="sandbox") from error
        self._ends.shut(wired.stdin, wired.stdout, wired.stderr, *wired.inherited)
        self._group = groups.make(self._cage.bounds)  # while bubblewrap is busy with its mounts
        if self._child(until, over) and self._held() and not over():
            os.write(wired.release, b".")
        return self._monitor

    def exceeded(self) -> str:
        """Ask the kernel's own count first; count what that does not."""
        kept = self._group.controllers if self._group is not None else ()
        met = self._group.exceeded() if self._group is not None else ""
        if met or not self._pid or {"pids", "memory"} <= set(kept):
            return met
        memory = "memory" not in kept  # the kernel counts its own for a group as well
        beside = watchdog.beside(self._pid, network=self._cage.network) if memory else 0
        return watchdog.exceeded(self._pid, self._cage.bounds, tasks="pids" not in kept, memory=memory, beside=beside)

    def end(self) -> None:
        """Kill the first process inside, and with it all others; wait for them, and for bubblewrap."""
        try:
            if self._bwrap is not None:
                self._kill(self._bwrap)
        finally:
            if self._group is not None:
                self._group.remove()

    def _child(self, until: float, over: Callable[[], bool]) -> bool:
        """Learn which process is the first inside; false when bubblewrap failed before there was one."""
        said = b""
        while not over() and time.monotonic() < until:
            if _ready(self._wired.info, TICK):
                part = os.read(self._wired.info, 4096)
                said += part
                if not part:
                    break
        found = _CHILD.search(said)
        if found is None:
            return False
        self._pid = int(found[1])
        try:
            self._first = self._ends.process(self._pid)
        except ProcessLookupError:
            return False
        return True

    def _held(self) -> bool:
        if self._group is not None:
            self._group.join(self._pid)
        return hold(self._pid, self._cage.bounds)

    def _kill(self, bwrap: subprocess.Popen[bytes]) -> None:
        if self._first >= 0:
            _signal(self._first)
        if self._first < 0 or not _ready(self._monitor, _GRACE):
            # Until it is waited for, its number is nobody else's. The child is in its group as long as it is not let go.
            with suppress(ProcessLookupError):  # a host program that does not wait for its children has it gone already
                os.killpg(bwrap.pid, signal.SIGKILL)
        if not all(_ready(one, _PATIENCE) for one in (self._monitor, self._first) if one >= 0):
            raise SandboxError("a process of the run cannot be ended: the kernel does not let go of it", code="sandbox")
        self.killed = max(-bwrap.wait(), 0)
        found = _CODE.search(self._status())
        self.code = int(found[1]) if found else None

    def _status(self) -> bytes:
        try:
            return os.read(self._wired.status, 4096)
        except BlockingIOError:
            return b""


def _ready(number: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(number, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _signal(process: int) -> None:
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(process, signal.SIGKILL)
