"""Observes a skill: it runs what the skill would have an agent run, one try after the other, each in
a sandbox of its own on one stage, and tells what happened.

Commands begin in the project, as an agent's do. The skill lies where an agent would have it, as a
copy that can be written to: many skills write beside themselves.
"""

from __future__ import annotations

import os
import time
import weakref
from typing import TYPE_CHECKING

from metier.run.io.bubblewrap import BubblewrapProcess
from metier.run.io.certificates import Authority
from metier.run.io.descriptors import Descriptors
from metier.run.io.inotify import Inotify
from metier.run.io.limits import kernel_version
from metier.run.io.machine import probe_layers, survey_machine
from metier.run.io.network import StandInProcess, find_python
from metier.run.io.stage_folder import StageFolder
from metier.run.io.stand_in import RESOLVER_ADDRESS
from metier.run.io.stream import RunCallbacks, drive
from metier.run.io.watcher import SESSION, SHELL_HEAD, EventLog, TryWatcher
from metier.run.model import MIB, PATH, Cage, GivenFile, Guise, RunLimits
from metier.run.observe.model import SPEEDS, NotTried, WatchRecord, faster
from metier.run.sandbox.bwrap_arguments import BWRAP_MARK, explain_failure
from metier.run.sandbox.launcher import LAUNCHER, LINGER_ROUNDS, NOT_FOUND, launcher
from metier.run.sandbox.seccomp import watch_program

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.run.observe.model import Stage, Try, WatchLimits
    from metier.run.sandbox.bwrap_arguments import HostRoot

BOUNDS = RunLimits(
    memory_bytes=1024 * MIB,
    processes=64,
    output_bytes=4 * MIB,
    scratch_bytes=64 * MIB,
    file_bytes=64 * MIB,
    lent_bytes=128 * MIB,
)
"""What one try may take; its time comes from the limits of the observation."""
MAX_SLOW, SLOW_SECONDS = 2, 2
"""After so many tries that took all of their time, each has only so many seconds: the time of all is
for those that do something.
"""
WATCHES_SINCE = (5, 5)
"""Since this kernel a watcher can let a call go on that it was asked about."""
FAST_LINGER_ROUNDS = 3 * LINGER_ROUNDS
"""How long it is waited for what is left behind where the clock runs faster: it has set timers."""
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
TRUST_VARIABLES = (
    "SSL_CERT_FILE",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "PIP_CERT",
    "NODE_EXTRA_CA_CERTS",
    "GIT_SSL_CAINFO",
)
"""Where programs look for whose certificates count, that do not ask the system."""
FAKE_CLOCKS = (
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib64/faketime/libfaketime.so.1",
    "/usr/lib/faketime/libfaketime.so.1",
)
"""Where systems have the library that moves a program's clock."""


_ENDED = {"time": "it was still running when its time was up"}
"""Why a try did not come to its end, by the limit."""


class Observer:
    """Runs tries and watches them, where this machine has what that needs."""

    def __init__(self) -> None:
        """Look at nothing yet."""
        self._system: HostRoot | None = None
        self._authority: Authority | None = None
        self._network: StandInProcess | None = None

    def missing(self) -> str:
        """Say what is missing, and what to do about it; nothing where everything is here. Then the
        stand-in network starts already: whoever asks is about to observe.
        """
        for layer in probe_layers():
            if layer.needed and not layer.active:
                return f"{layer.name}: {layer.detail}" + (f". {layer.hint}" if layer.hint else "")
        if kernel_version() < WATCHES_SINCE:
            return "a kernel that can ask about system calls: Linux 5.5 or newer"
        if not os.access(find_python(), os.X_OK):
            return "a Python for the stand-in network: install python3"
        self._started_network()
        return ""

    def observe(
        self,
        stage: Stage,
        skill: str,
        tries: Sequence[Try],
        limits: WatchLimits,
        tell: Callable[[int, int], None],
        stopped: Callable[[], bool],
    ) -> WatchRecord:
        """Run every try, as far as the limits go; give all that was seen."""
        system = self._system = self._system or survey_machine()
        network = self._started_network()
        self._authority = self._authority or Authority()
        with StageFolder(stage, skill) as folder:
            inotify = Inotify(folder.decoy_folders(), folder.decoy_files())
            try:
                session = _Session(
                    system, folder, inotify, network, self._authority, EventLog(limits)
                )
                return session.observe(tries, limits, tell, stopped)
            finally:
                inotify.close()

    def _started_network(self) -> StandInProcess:
        """Give the process of the stand-in network: one for all observations, as long as it lives.
        It ends with this object, or with metier.
        """
        if self._network is None or not self._network.is_alive():
            self._network = StandInProcess()
            weakref.finalize(self, self._network.close)
        return self._network


class _Session:
    """The tries of one skill, on one stage."""

    def __init__(
        self,
        system: HostRoot,
        folder: StageFolder,
        inotify: Inotify,
        network: StandInProcess,
        authority: Authority,
        log: EventLog,
    ) -> None:
        self._system, self._folder, self._inotify = system, folder, inotify
        self._network, self._authority, self._log = network, authority, log
        self._ended = ""

    def observe(
        self,
        tries: Sequence[Try],
        limits: WatchLimits,
        tell: Callable[[int, int], None],
        stopped: Callable[[], bool],
    ) -> WatchRecord:
        until = time.monotonic() + limits.seconds
        tried: list[str] = []
        left: list[NotTried] = []
        slow = begun = 0
        self._inotify.forget()
        for number, one in enumerate(tries):
            tell(number, len(tries))
            if one.after and not self._log.has_written(one.after):
                continue
            begun += not one.after
            most = limits.try_seconds if slow < MAX_SLOW else SLOW_SECONDS
            seconds = min(most, until - time.monotonic())
            why = self._left_out(one, begun, seconds, limits, stopped)
            if why:
                left.append(NotTried(one.what, why))
                continue
            self._log.where, self._ended = one.what, ""
            why = self._run(one, seconds, stopped)
            if why:
                left.append(NotTried(one.what, why))
            else:
                tried.append(one.what)
            if self._ended:
                left.append(NotTried(f"the rest of {one.what}", self._ended))
                late = self._ended == _ENDED["time"]
                slow += late
                again = min(SLOW_SECONDS, until - time.monotonic())
                clocked = late and one.speed == 1 and one.kind != "functions" and _fake_clock()
                if clocked and again > 0 and not stopped():
                    sped = faster(one, SPEEDS[-1])
                    self._log.where = sped.what
                    self._run(sped, again, stopped)
                    tried.append(sped.what)
        tell(len(tries), len(tries))
        complete = self._log.complete and self._inotify.complete and self._folder.complete
        return WatchRecord(tuple(self._log.events), tuple(tried), tuple(left), complete)

    def _left_out(
        self,
        one: Try,
        begun: int,
        seconds: float,
        limits: WatchLimits,
        stopped: Callable[[], bool],
    ) -> str:
        """Say why a try is left out; nothing where it is not."""
        if stopped():
            return "stopped"
        if begun > limits.tries and not one.after:
            return f"more than {limits.tries} tries"
        if seconds <= 0:
            return "out of time"
        if (one.hours or one.speed > 1) and not _fake_clock():
            return "the clock cannot be moved here: libfaketime is not installed"
        return ""

    def _run(self, one: Try, seconds: float, stopped: Callable[[], bool]) -> str:
        """Run one try in a sandbox of its own, and note down what it did; say why it did not even
        begin.
        """
        with Descriptors() as ends:
            watcher = TryWatcher(
                self._log,
                self._folder,
                self._inotify,
                self._network,
                self._authority,
                BOUNDS.lent_bytes,
            )
            ends.keep(watcher.socket)
            cage = self._cage(one, watcher.socket, seconds)
            try:
                process = BubblewrapProcess(cage, ends, self._system, sockets=True, watcher=watcher)
                callbacks = RunCallbacks(lambda _name, _data: None, None, stopped)
                finish = drive(process, ends, process.pipes, cage.bounds, callbacks, BWRAP_MARK)
            finally:
                ends.shut(watcher.socket)
                watcher.close()
        if process.code is None and not process.killed and not finish.stopped:
            raise explain_failure(finish.marked, cage.command)
        if finish.stopped and finish.stopped != "asked":
            self._log.add("stopped", finish.stopped)
            self._ended = _ENDED.get(finish.stopped, "it took more than it may")
        self._note_changes(watcher.changed)
        self._inotify.forget()
        if not watcher.began and process.code == NOT_FOUND:
            return f"{one.command[0] if one.command else 'bash'} is not installed here"
        return ""

    def _note_changes(self, touched: set[str]) -> None:
        told = set()
        for change in self._folder.changes():
            if change.path.startswith(SESSION):
                continue
            told.add(change.path)
            self._log.add(change.kind, change.path, size=change.size, data=change.data)
        for path in sorted(touched):  # written to, and put back as it was
            if self._folder.inside(path) not in told:
                data = self._folder.read_decoy(path)
                self._log.add("write", self._folder.inside(path), size=len(data), data=data)

    def _cage(self, one: Try, number: int, seconds: float) -> Cage:
        stage, folder = self._folder.stage, self._folder
        command = ("bash", "-c", SHELL_HEAD + one.lines) if one.lines else one.command
        variables = dict(stage.variables)
        variables.setdefault("PATH", PATH)
        variables.setdefault("HOME", stage.home)
        variables.update(dict.fromkeys(TRUST_VARIABLES, BUNDLE))
        variables["PYTHONDONTWRITEBYTECODE"] = "1"
        if one.hours or one.speed > 1:
            moved = f"+{one.hours}h" if one.hours else "+0"
            variables |= {"LD_PRELOAD": _fake_clock(), "FAKETIME": f"{moved} x{one.speed}"}
        program = launcher(
            os.uname().machine,
            watch_program(os.uname().machine),
            number,
            [_bytes(word) for word in command],
            [_bytes(f"{name}={value}") for name, value in variables.items()],
            [_bytes(place) for place in variables["PATH"].split(":") if place.startswith("/")],
            LINGER_ROUNDS if one.speed == 1 else FAST_LINGER_ROUNDS,
        )
        guise = Guise(
            user=stage.user,
            host=stage.host,
            home=stage.home,
            home_source=folder.home,
            tmp_source=folder.tmp,
            texts=(
                GivenFile("/etc/resolv.conf", f"nameserver {RESOLVER_ADDRESS}\n".encode()),
                GivenFile(BUNDLE, self._authority.pem),
            ),
        )
        return Cage(
            command=(LAUNCHER,),
            files=(GivenFile(LAUNCHER, program),),
            folder=stage.project,
            bounds=BOUNDS._replace(seconds=max(1, round(seconds))),
            guise=guise,
        )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape").replace(b"\0", b"")


def _fake_clock() -> str:
    return next((path for path in FAKE_CLOCKS if os.path.exists(path)), "")
