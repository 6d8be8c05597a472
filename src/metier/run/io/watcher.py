"""Watches one try: a thread of its own answers the kernel, hears the stage and the stand-in network,
and makes events of it all.
"""

from __future__ import annotations

import ipaddress
import os
import select
import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from metier.errors import SandboxError
from metier.run.io.limits import LentFolders
from metier.run.io.network import ServedNetwork
from metier.run.io.pause import PauseBudget, read_pause
from metier.run.io.seccomp_listener import (
    AskedCall,
    SeccompListener,
    read_address,
    read_arguments,
    read_text,
)
from metier.run.observe.model import Seen
from metier.run.observe.places import STARTS_WITH_PYTHON
from metier.run.sandbox.seccomp import PAUSES

if TYPE_CHECKING:
    from metier.model import Texts
    from metier.run.io.certificates import Authority
    from metier.run.io.inotify import Inotify
    from metier.run.io.network import StandInProcess
    from metier.run.io.stage_folder import StageFolder
    from metier.run.model import Stopped
    from metier.run.observe.model import EventKind, WatchLimits

_PAUSE_MS = 200
MAX_WORDS_CHARS = 1_000
MAX_PROGRAM_BYTES = 65_536
MAX_LINKS = 40
MAX_NAMES = 20_000
"""How many addresses are known by their names."""
SMALL_SENT_BYTES = 16_384
"""How much is kept of the beginning and of the end of what is sent, once half of the room is used."""
SESSION = "/tmp/.session"  # noqa: S108 - the sandbox's own
SHELL_HEAD = f"""if [ -r {SESSION} ]; then . {SESSION}; fi
trap '{{ unset LD_PRELOAD FAKETIME FAKETIME_SHARED; declare -px; printf "cd %q 2>/dev/null\\n" "$PWD"; }} > {SESSION} 2>/dev/null' EXIT
"""
"""What comes before a command of the instructions: it goes on where the one before it stopped."""


_ABOUT_FILES = frozenset({"read", "write", "remove", "mode"})
NOISY = ("read", "write", "remove", "mode", "exec", "lookup", "connect", "listen", "receive")
"""Kinds of events of which there can be any number: each has a part of the room for itself."""


READS_TIMES = 4
"""How many times the room of others the files have that were read."""
BULK_FOLDERS = (
    "/node_modules/",
    "/site-packages/",
    "/.venv/",
    "/venv/",
    "/.npm/",
    "/.cache/",
    "/__pycache__/",
    "/.git/objects/",
)
"""Where installing something writes thousands of files that say nothing one by one."""


def is_bulk(what: str) -> bool:
    """Tell whether a file is one of thousands that an installation writes. What Python runs when it
    starts is none of them.
    """
    return any(one in what for one in BULK_FOLDERS) and not what.endswith(STARTS_WITH_PYTHON)


class EventLog:
    """The events of one observation, up to its limits."""

    def __init__(self, limits: WatchLimits) -> None:
        """Hold nothing yet."""
        self.events: list[Seen] = []
        self.complete = True
        self.where = ""
        self.names: dict[str, str] = {}
        """Which name an address was made up for."""
        self._room = self._others = limits.events // (len(NOISY) + 1)
        self._most = dict.fromkeys(NOISY, self._room)
        self._most["read"] = READS_TIMES * self._room  # a walk through the stage meets hundreds
        self._sent, self._written = limits.sent_bytes, limits.sent_bytes
        self._half = limits.sent_bytes // 2
        self._once: set[tuple[str, str, str]] = set()

    def add(
        self, kind: EventKind, what: str, *, size: int = 0, data: bytes = b"", program: str = ""
    ) -> None:
        """Note something down. A thousand events of one kind leave the room of the others alone."""
        left = self._most.get(kind, self._others)
        if left * 2 <= self._room and kind in _ABOUT_FILES and is_bulk(what):
            return  # the other half of the room is for what says something
        if left <= 0:
            self.complete = False
            if kind == "send":
                self._join(what, size, data)
            return
        if kind in self._most:
            self._most[kind] = left - 1
        else:
            self._others = left - 1
        event = Seen(
            kind, what, self.where, size=size, data=self._kept(kind, data), program=program
        )
        self.events.append(event)

    def add_once(self, kind: EventKind, what: str, program: str = "", data: bytes = b"") -> None:
        """Note something down that says no more the second time in the same try."""
        key = (kind, what, self.where)
        if key not in self._once and self._most.get(kind, self._others) > 0:
            self._once.add(key)
            self.add(kind, what, program=program, data=data)
        elif key not in self._once:
            self.complete = False

    def has_written(self, places: Texts) -> bool:
        """Tell whether a file was written whose path begins so."""
        return any(
            one.kind in {"write", "mode"} and one.what.startswith(places) for one in self.events
        )

    def _join(self, what: str, size: int, data: bytes) -> None:
        """Add what is sent to the last that was: the bytes count, also where there is no room for
        one more event.
        """
        at = max((at for at, one in enumerate(self.events) if one.kind == "send"), default=-1)
        if at < 0:
            self.events.append(
                Seen("send", what, self.where, size=size, data=self._kept("send", data))
            )
            return
        last = self.events[at]
        known = last.what if last.what.endswith(" and others") else f"{what} and others"
        kept = last.data + self._kept("send", data)
        self.events[at] = last._replace(what=known, size=last.size + size, data=kept)

    def _kept(self, kind: str, data: bytes) -> bytes:
        """Give as much of the bytes as there is room for."""
        room = self._sent if kind == "send" else self._written
        if kind == "send" and room < self._half and len(data) > SMALL_SENT_BYTES:
            data, self.complete = data[:SMALL_SENT_BYTES] + data[-SMALL_SENT_BYTES:], False
        kept = data[: max(room, 0)]
        if kind == "send":
            self._sent -= len(kept)
        else:
            self._written -= len(kept)
        self.complete = self.complete and len(kept) == len(data)
        return kept

    def know(self, name: str, addresses: list[str]) -> None:
        """Note which name an address was given out for. One that two names have is neither's: who
        picks a name by its address must not pass for its neighbour.
        """
        for address in addresses:
            if address in self.names or len(self.names) < MAX_NAMES:
                same = self.names.get(address, name).lower() == name.lower()
                self.names[address] = name if same else address

    def place(self, address: str, port: int) -> str:
        """Name the other end of a connection: by the name that was looked up, and never by what the
        program says there, which any server can be told.
        """
        known = self.names.get(address, address)
        return f"{known}:{port}" if port else known


class TryWatcher:
    """Looks on while one try runs."""

    def __init__(
        self,
        log: EventLog,
        folder: StageFolder,
        inotify: Inotify,
        network: StandInProcess,
        authority: Authority | None,
        most_bytes: int,
    ) -> None:
        """Make the socket that the launcher speaks to."""
        self._log, self._folder, self._inotify = log, folder, inotify
        self._process, self._authority = network, authority
        self._ours, theirs = socket.socketpair()
        self.socket = theirs.detach()
        self._wake, self._woken = os.pipe()
        self._served: ServedNetwork | None = None
        self._listener: SeccompListener | None = None
        self._thread = threading.Thread(target=self._watch, name="metier-watcher", daemon=True)
        self._error: BaseException | None = None
        self._changed: set[str] = set()
        self._lent = LentFolders([folder.home, folder.tmp], most_bytes)
        self._exceeded = ""
        inotify.forget()
        self._programs: dict[int, str] = {}
        self._pauses = PauseBudget()
        self.began = False
        """Whether a program was started at all."""

    def enter(self, pid: int, over: Stopped) -> None:
        """Set the network up around the first process inside, and begin to look."""
        try:
            channel = self._process.serve(pid)
        except OSError as error:
            raise SandboxError(
                f"the sandbox's network cannot be entered: {error}", code="sandbox-network"
            ) from error
        self._served = ServedNetwork(channel, self._hear_network)
        self._served.wait_ready(over)
        self._thread.start()

    def close(self) -> None:
        """Hear everything to its end, once the run has ended."""
        with suppress(OSError):
            os.write(self._woken, b".")
        if self._thread.ident is not None:
            self._thread.join()
        if self._listener is not None:
            self._listener.close()
        if self._served is not None:
            self._log.complete = self._served.finish() and self._log.complete
        self._hear_stage()
        for number in (self._wake, self._woken):
            os.close(number)
        self._ours.close()
        if self._error is not None:
            raise self._error

    def exceeded(self) -> str:
        """Say `lent` where it has filled the stage."""
        return self._exceeded

    @property
    def changed(self) -> set[str]:
        """The decoys that were written to, as they lie out here."""
        return self._changed

    # --- the thread

    def _watch(self) -> None:
        try:
            self._loop()
        except BaseException as error:  # noqa: BLE001 - it is raised again, where the try ends
            self._error = error
            if self._listener is not None:  # from here on the kernel refuses by itself
                self._listener.close()
                self._listener = None

    def _loop(self) -> None:
        served = self._served
        assert served is not None
        poll = select.poll()
        for number in (
            self._wake,
            self._ours.fileno(),
            self._inotify.number,
            served.channel.fileno(),
        ):
            poll.register(number, select.POLLIN)
        while True:
            self._count()
            for number, event in poll.poll(_PAUSE_MS):
                if number == self._wake:
                    return
                if not self._hear(number, event, poll):
                    poll.unregister(number)

    def _hear(self, number: int, event: int, poll: select.poll) -> bool:
        """Hear what one descriptor has; false where nothing more will come."""
        served, listener = self._served, self._listener
        if number == self._ours.fileno():
            self._take_listener(poll)
            return False
        if number == self._inotify.number:
            self._hear_stage()
            return True
        if listener is not None and number == listener.number:
            if event & select.POLLIN:
                self._answer(listener)
            return bool(event & select.POLLIN)
        return served is not None and served.take()

    def _count(self) -> None:
        """Look how full the stage is. Our own look into its folders is not the program's."""
        self._hear_stage()
        self._exceeded = self._exceeded or self._lent.exceeded()
        self._hear_stage(ours=True)

    def _take_listener(self, poll: select.poll) -> None:
        word, numbers, _flags, _who = socket.recv_fds(self._ours, 1, 1)
        if word and numbers:
            self._listener = SeccompListener(numbers[0], os.uname().machine)
            poll.register(numbers[0], select.POLLIN)

    # --- what the kernel asks

    def _answer(self, listener: SeccompListener) -> None:
        asked = listener.receive()
        if asked is None:
            return
        done = False
        try:
            if asked.name in PAUSES:
                done = self._cuts_short(listener, asked)
            else:
                self._look_at(listener, asked)
        finally:
            listener.answer(asked, done=done)

    def _cuts_short(self, listener: SeccompListener, asked: AskedCall) -> bool:
        """Tell whether a program that waits is told that the time has passed."""
        seconds = read_pause(asked)
        if not listener.is_valid(asked) or not self._pauses.cut(seconds):
            return False
        self._log.add_once("wait", f"{seconds:,.0f} s", self._program(asked.pid))
        return True

    def _look_at(self, listener: SeccompListener, asked: AskedCall) -> None:
        if asked.error:
            self._log.add_once("refused", asked.name, program=self._program(asked.pid))
        elif asked.name in {"execve", "execveat"}:
            self._see_program(listener, asked)
        else:
            found = read_address(asked.pid, asked.arguments[1], asked.arguments[2] & 0xFFFFFFFF)
            if found is None or not listener.is_valid(asked):
                return
            address, port = found
            if asked.name == "bind":
                if port and not _is_loopback(address):
                    self._log.add_once("listen", f"{address}:{port}", self._program(asked.pid))
            elif port and self._served is not None:
                self._served.listen(address, port, listen=not _is_loopback(address))

    def _see_program(self, listener: SeccompListener, asked: AskedCall) -> None:
        late = asked.name == "execveat"
        path = read_text(asked.pid, asked.arguments[1 if late else 0])
        words = read_arguments(asked.pid, asked.arguments[2 if late else 1])
        if not listener.is_valid(asked):
            return
        name = os.fsdecode(path)
        root = f"/proc/{asked.pid}/root"
        if not name.startswith("/"):
            with suppress(OSError):
                name = os.path.normpath(f"{os.readlink(f'/proc/{asked.pid}/cwd')}/{name}")
        if path and not _is_there(root, name):
            return  # somebody looks for a program along the path
        text = " ".join(word.decode("utf-8", "replace") for word in words) or name
        before = self._program(asked.pid)
        self._programs[asked.pid] = name
        data = b"" if name.startswith(("/usr/", "/bin/", "/sbin/", "/lib")) else self._head(name)
        self.began = True
        text = text.replace(SHELL_HEAD, "")[:MAX_WORDS_CHARS]
        self._log.add_once("exec", text, before, data)

    def _head(self, name: str) -> bytes:
        """Read the beginning of a program that lies on the stage."""
        with suppress(SandboxError, OSError):
            return self._folder.read_program(name, MAX_PROGRAM_BYTES)
        return b""

    def _program(self, pid: int) -> str:
        known = self._programs.get(pid, "")
        if not known:
            with suppress(OSError), open(f"/proc/{pid}/comm", "rb") as file:
                return file.read(64).decode("utf-8", "replace").strip()
        return os.path.basename(known)

    # --- what the stage and the network tell

    def _hear_stage(self, *, ours: bool = False) -> None:
        """Note what was read and changed; not the looks into folders where those are `ours`."""
        for kind, path in self._inotify.events():
            if kind == "list" and not ours:
                self._log.add_once("read", f"{self._folder.inside(path)}/")
            elif kind == "read" and self._folder.is_decoy(path):
                self._log.add_once("read", self._folder.inside(path))
            elif kind == "change" and self._folder.is_decoy(path):
                self._changed.add(path)

    def _hear_network(self, head: dict[str, Any], data: bytes) -> None:
        log = self._log
        kind = head["kind"]
        if kind == "lookup":
            log.know(head["name"], head["addresses"])
            log.add_once("lookup", head["name"])
        elif kind == "connect":
            words = {"tcp": "", "udp": " (udp)", "icmp": " (icmp)"}[head["protocol"]]
            log.add_once("connect", f"{log.place(head['address'], head['port'])}{words}")
        elif kind == "send":
            place = log.place(head["address"], head["port"])
            if head["size"]:
                log.complete = log.complete and len(data) >= head["size"]
                log.add("send", place, size=head["size"], data=data)
        elif kind == "unheard":
            log.complete = False
        elif kind == "end":
            log.complete = log.complete and not head["lost"]
        elif kind == "receive":
            host = log.names.get(head["address"], head["address"])
            what = f"{head['start']}{host}{head['rest']}"
            log.add("receive", what, size=len(data), data=data)
        elif kind == "certificate" and self._served is not None:
            pem = self._authority.issue(head["name"]) if self._authority is not None else b""
            self._served.give_certificate(head["name"], pem)


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _is_there(root: str, path: str) -> bool:
    """Tell whether a program lies at a path inside. Links are followed there, not out here, where
    they would lead elsewhere: also those on the way.
    """
    found, left, links = "", path.split("/"), 0
    while left:
        part = left.pop(0)
        if part in {"", "."}:
            continue
        if part == "..":
            found = found.rpartition("/")[0]
            continue
        try:
            aim = os.readlink(f"{root}{found}/{part}")
        except OSError:
            found = f"{found}/{part}"
            continue
        links += 1
        if links > MAX_LINKS:
            return True
        found = "" if aim.startswith("/") else found
        left = [*aim.split("/"), *left]
    return os.path.lexists(root + found)
