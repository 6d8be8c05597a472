"""Runs a program in bubblewrap: it makes the pipes, starts the program with its limits, watches it,
and leaves nothing of it behind.
"""

from __future__ import annotations

import os
import re
import select
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from metier.errors import SandboxError
from metier.run.io import cgroup, landlock, limits
from metier.run.io.descriptors import Descriptors
from metier.run.io.machine import probe_layers, survey_machine
from metier.run.io.process import RunProcess
from metier.run.io.stream import TICK_SECONDS, RunCallbacks, drive
from metier.run.model import never
from metier.run.sandbox import seccomp
from metier.run.sandbox.bwrap_arguments import (
    BWRAP_MARK,
    HELD,
    BwrapPipes,
    check_cage,
    command_line,
    explain_failure,
    options,
    texts,
    variables,
)

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Sequence

    from metier.run.model import Cage, Feed, Hear, Layer, Mount, RunEnded, Stopped
    from metier.run.sandbox.bwrap_arguments import HostRoot


_GRACE_SECONDS = 2.0
_PATIENCE_SECONDS = 10.0
"""Seconds for bubblewrap to notice that its child was killed, and for the kernel to end what was
killed."""
_CHILD = re.compile(rb'"child-pid":\s*(\d+)')
_CODE = re.compile(rb'"exit-code":\s*(\d+)')


class LooksOn(Protocol):
    """Somebody who looks on while a program runs."""

    socket: int
    """Where the launcher inside hands out the descriptor at which the kernel asks."""

    def enter(self, pid: int, over: Stopped) -> None:
        """Get everything ready for the first process inside, which still waits."""

    def exceeded(self) -> str:
        """Name a limit that was crossed, of what only who looks on can count."""


class BubblewrapProcess(RunProcess):
    """A run inside bubblewrap."""

    def __init__(
        self,
        cage: Cage,
        ends: Descriptors,
        system: HostRoot,
        *,
        sockets: bool,
        watcher: LooksOn | None = None,
    ) -> None:
        """Make every pipe of the run; start nothing yet. A watcher comes with a cage that has a
        guise.
        """
        check_cage(cage)  # with the sources as they were named: below they are descriptors
        super().__init__(cage, ends)
        self.code: int | None = None
        """The program's own exit code; nothing when it never began."""
        self.killed = 0
        """The signal that ended bubblewrap itself."""
        self._monitor = self._first = -1
        self._pid = 0
        cage = self.cage
        self._watcher = watcher
        writable = [mount.source for mount in cage.mounts if mount.writable]
        self._lent = limits.LentFolders(writable, cage.bounds.lent_bytes)
        self._info, info = ends.pipe()  # where it names the first process inside, and ends
        self._status, status = ends.pipe()  # where it tells the exit code, if the program began
        block, self.release = ends.lock()
        """A byte written here lets it begin."""
        held = tuple(_held(ends, cage, system))
        given = tuple(ends.text(one.data) for one in (*texts(system, cage.guise), *cage.files))
        watched = cage.guise is not None
        # Who is watched has a network of its own, in which more than a loopback device seems to be.
        self._online = cage.network or watched
        filtering = ends.text(
            seccomp.filter_program(
                os.uname().machine, network=self._online, sockets=sockets, watched=watched
            )
        )
        pipes = BwrapPipes(info, block, filtering, given, status, self.report)
        words = options(cage._replace(mounts=held), system, pipes)
        try:  # as this machine spells its paths, each with an end
            told = ends.text(
                variables(cage) + b"".join(os.fsencode(word) + b"\0" for word in words)
            )
        except UnicodeEncodeError as error:
            raise SandboxError(f"bubblewrap cannot be told: {error}", code="sandbox") from error
        self.command = command_line(cage, system, told)
        sources = (one.source for one in held if one.source.startswith(HELD))
        lent = (int(source.removeprefix(HELD)) for source in sources)
        reports = (self.report,) if cage.reports else ()
        asks = (watcher.socket,) if watcher is not None else ()
        self.inherited = (info, status, block, filtering, told, *given, *reports, *lent, *asks)
        """What it inherits beyond its streams."""

    def start(self, until: float, over: Stopped) -> int:
        """Start bubblewrap; set the limits while it waits; let it go."""
        # No new privileges comes with it: a bwrap that is setuid runs as this user too, and has the
        # options that it needs.
        landlock.restrict_thread(network=self._online)
        _bwrap, self._monitor = self._start(
            self.command, self.inherited, "sandbox", env={}, cwd="/"
        )
        self._group = cgroup.make(self.cage.bounds)  # while bubblewrap is busy with its mounts
        if self._find_child(until, over):
            self._group.join(self._pid)
            if self._watcher is not None:
                self._watcher.enter(self._pid, over)
            if limits.set_limits(self._pid, self.cage.bounds) and not over():
                # It may have failed at a mount by now: then nobody reads, and its words say why.
                with suppress(BrokenPipeError):
                    os.write(self.release, b".")
        return self._monitor

    def exceeded(self) -> str:
        """Name a limit that was crossed, of the machine or of the folders that are lent."""
        seen = self._watcher.exceeded() if self._watcher is not None else ""
        return self._exceeded() or self._lent.exceeded() or seen

    def _exceeded(self) -> str:
        """Ask the kernel's own count first; count what that does not."""
        kept = self._group.controllers
        met = self._group.exceeded()
        if met or not self._pid or {"pids", "memory"} <= set(kept):
            return met
        memory = "memory" not in kept  # the kernel counts its own for a group as well
        # The home and the folder for temporary files of who is watched lie on the disk.
        folders = limits.OWN_FOLDERS[-1:] if self.cage.guise else limits.OWN_FOLDERS
        return limits.exceeded_limit(
            self._pid,
            self.cage.bounds,
            tasks="pids" not in kept,
            memory=memory,
            beside=limits.kernel_memory(self._pid, network=self.cage.network, folders=folders)
            if memory
            else 0,
        )

    def _find_child(self, until: float, over: Stopped) -> bool:
        """Learn which process is the first inside; false when bubblewrap failed before there was
        one.
        """
        said = b""
        while not over() and time.monotonic() < until:
            if _ready(self._info, TICK_SECONDS):
                part = os.read(self._info, 4096)
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

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        """Kill the first process inside, and with it all others; wait for them, and for
        bubblewrap.
        """
        if self._first >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first, signal.SIGKILL)
        if self._first < 0 or not _ready(self._monitor, _GRACE_SECONDS):
            # Until it is waited for, its number is nobody else's. The child is in its group as long
            # as it is not let go.
            with suppress(
                ProcessLookupError
            ):  # a host program that does not wait for its children has it gone already
                os.killpg(process.pid, signal.SIGKILL)
        if not all(
            _ready(one, _PATIENCE_SECONDS) for one in (self._monitor, self._first) if one >= 0
        ):
            raise SandboxError(
                "a process of the run cannot be ended: the kernel does not let go of it",
                code="sandbox",
            )
        self.killed = max(-process.wait(), 0)
        with suppress(BlockingIOError):
            found = _CODE.search(os.read(self._status, 4096))
            self.code = int(found[1]) if found else None


def _ready(number: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(number, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _held(ends: Descriptors, cage: Cage, system: HostRoot) -> Iterator[Mount]:
    """Hold on to what is mounted, where bubblewrap can be handed that. Another would leave the
    descriptor to the program.
    """
    # What is seen where it lies was named by its real path, wherever else it is seen.
    real = {mount.source for mount in cage.mounts if mount.source == mount.target}
    for mount in cage.mounts:
        option = "--bind-fd" if mount.writable else "--ro-bind-fd"
        number = ends.place(mount.source, real=mount.source in real)
        yield mount._replace(source=f"{HELD}{number}") if option in system.options else mount


class Bubblewrap:
    """The `Sandbox` that metier has itself. It works as root and as any other user."""

    def __init__(self) -> None:
        """Look at nothing yet."""
        self._system: HostRoot | None = None

    def layers(self) -> Sequence[Layer]:
        """Say what it is made of on this machine, and what is missing; a program is really started
        for that, once.
        """
        return probe_layers()

    def check(self, cage: Cage) -> None:
        """Refuse what a run would refuse before it starts anything: where there is no bubblewrap,
        or what it cannot be told.
        """
        self._system = self._system or survey_machine()
        check_cage(cage)

    def run(
        self,
        cage: Cage,
        hear: Hear,
        feed: Feed | None = None,
        stopped: Stopped = never,
    ) -> RunEnded:
        """Run a program to its end, with nothing of it left behind, whatever happens."""
        system = self._system = self._system or survey_machine()
        with Descriptors() as ends:
            # Names of sockets that lie in no folder reach as far as the network does; only Landlock
            # can cut them off.
            apart = not cage.network or landlock.landlock_version() >= landlock.SCOPES_FROM
            process = BubblewrapProcess(cage, ends, system, sockets=apart and cage.sockets)
            finish = drive(
                process,
                ends,
                process.pipes,
                cage.bounds,
                RunCallbacks(hear, feed, stopped),
                BWRAP_MARK,
            )
        if process.code is None and not process.killed and not finish.stopped:
            raise explain_failure(finish.marked, cage.command)  # it could not even begin
        if finish.marked:
            hear("err", finish.marked)
        return finish.as_ended(process.code if process.code is not None else 128 + process.killed)
