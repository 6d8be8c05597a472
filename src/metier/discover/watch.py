"""Hearing of changes on disk: from the system, through `watchfiles`, or by looking again from time to time.

The only place with a thread. A notice is a hint, never the truth: whoever is told looks at the disk again.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from metier.discover import mounts
from metier.discover.sieve import Sieve

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from watchfiles.main import FileChange

    Stream = Generator[set[FileChange], None, None]

STEP_MS, DEBOUNCE_MS, PAUSE_MS = 5, 20, 25
"""Changes count as one when they are no further apart than a step, and are never held back longer than the debounce.
After a pause without any, the thread sees to other things."""
RECHECK = 32
"""After so many pauses it is looked whether the watched folders are still the same ones: about a second."""
ECHO = 8
"""So many pauses after a change its place is looked at once more: a folder made just now is watched a moment too late to
hear of the first files in it."""
MOST_FAULTS = 8
"""So often the system's notices are begun anew after an error."""
POLL_SECONDS = 1.0
IDLE_SHARE = 10
"""Polling waits so many times longer than it works."""
LAST_SECONDS = 5.0
"""How long a process that ends waits for somebody who is just being told."""


class Wanted(NamedTuple):
    """What is to be heard of."""

    roots: tuple[str, ...]
    """Folders of skills, whether they exist or not: everything below counts."""
    files: tuple[str, ...] = ()
    """Single files or folders elsewhere."""
    quiet: tuple[str, ...] = ()
    """Folders in which metier itself writes: nothing in them counts, but for the above."""


class Notices:
    """Changes as the system tells of them."""

    def __init__(self, wanted: Wanted, stop: threading.Event) -> None:
        """Begin to listen; OSError or ImportError where that cannot be done."""
        self._stop = stop
        self._streams: list[Stream] = []
        self._plan: dict[str, tuple[bool, int, int]] = {}
        self._waiting: set[str] = set()
        self._echo: set[str] = set()
        self._pauses = self._faults = 0
        self.want(wanted)

    def want(self, wanted: Wanted) -> None:
        """Listen to these from now on."""
        self._wanted = wanted
        self._sieve = Sieve(wanted.roots, wanted.files, wanted.quiet)
        self._follow()

    def heard(self) -> set[str]:
        """Wait for a moment, and give what changed in it."""
        raw, self._waiting = self._waiting | self._told(), set()
        self._pauses += 1
        found = self._sieve.passed(raw)
        if raw or not self._pauses % RECHECK:
            found |= self._follow(anew=not raw.isdisjoint(self._plan))
        if found:
            self._echo |= found
            self._pauses = 0
        elif self._pauses >= ECHO:
            found, self._echo = self._echo, set()
        return found

    def close(self) -> None:
        """Listen no more."""
        self._end(self._streams)
        self._streams, self._plan = [], {}

    def _told(self) -> set[str]:
        """Wait for the next notices; after an error of the system's, such as a name that is no text, begin anew."""
        if not self._streams:
            self._stop.wait(PAUSE_MS / 1000)
        try:
            return _next(self._streams)
        except RuntimeError as error:
            self._faults += 1
            if self._faults > MOST_FAULTS:
                raise OSError(str(error)) from error
            self._follow(anew=True)
            return set(self._wanted.roots)

    def _follow(self, *, anew: bool = False) -> set[str]:
        """Watch what is there now, if it is not what was watched before; give the roots that came or went."""
        plan, old = planned(self._wanted), self._plan
        if plan == old and not anew:
            return set()
        ended = self._streams
        try:
            self._streams = self._opened(plan)
        except OSError:  # two of everything may be too much for the system
            self._end(ended)
            self._streams = self._opened(plan)
        self._plan = plan
        self._waiting |= self._drained(ended)
        return {root for root in self._wanted.roots if plan.get(root) != old.get(root)}

    def _opened(self, plan: dict[str, tuple[bool, int, int]]) -> list[Stream]:
        kinds = [(deep, [folder for folder, (is_deep, *_) in plan.items() if is_deep is deep]) for deep in (True, False)]
        opened = [self._stream(folders, deep=deep) for deep, folders in kinds if folders]
        try:
            self._waiting |= _next(opened)  # they begin with the first question
        except RuntimeError as error:
            raise OSError(str(error)) from error
        return opened

    def _stream(self, folders: Sequence[str], *, deep: bool) -> Stream:
        from watchfiles import watch

        return watch(*folders, watch_filter=None, debounce=DEBOUNCE_MS, step=STEP_MS, stop_event=self._stop,
                     rust_timeout=PAUSE_MS if deep else STEP_MS, yield_on_timeout=True, raise_interrupt=False, recursive=deep,
                     force_polling=False, ignore_permission_denied=True)  # fmt: skip

    def _drained(self, streams: list[Stream]) -> set[str]:
        """Give what they have heard and nobody has asked for yet, and end them."""
        try:
            return _next(streams)
        except RuntimeError:
            return set(self._wanted.roots)
        finally:
            self._end(streams)

    def _end(self, streams: list[Stream]) -> None:
        for stream in streams:
            stream.close()


def _next(streams: Iterable[Stream]) -> set[str]:
    found: set[str] = set()
    for stream in streams:
        found.update(path for _kind, path in next(stream, ()))
    return found


def planned(wanted: Wanted) -> dict[str, tuple[bool, int, int]]:
    """Give the folders to watch, each with whether all below it counts, and which folder of that name it is.

    For what does not exist yet it is the nearest folder above that does.
    """
    there = [root for root in dict.fromkeys(wanted.roots) if os.path.isdir(root)]
    deep = [root for root in there if not any(root.startswith(f"{other}/") for other in there)]
    missing = [path for path in wanted.roots if path not in there]
    flat = dict.fromkeys(_nearest(path) for path in (*missing, *wanted.files))
    flat_only = [folder for folder in flat if not any(f"{folder}/".startswith(f"{root}/") for root in deep)]
    return {folder: (folder in deep, *_identity(folder)) for folder in (*deep, *flat_only)}


def _nearest(path: str) -> str:
    """Give the nearest folder above a path that exists."""
    while (above := os.path.dirname(path)) != path:
        path = above
        if os.path.isdir(path):
            break
    return path


def _identity(folder: str) -> tuple[int, int]:
    try:
        status = os.stat(folder)
    except OSError:
        return 0, 0
    return status.st_dev, status.st_ino


class Ear:
    """A thread that waits for changes and passes them on until it is closed: paths, or nothing where all must be looked at."""

    def __init__(
        self, wanted: Callable[[], Wanted], told: Callable[[set[str] | None], None], *, poll: bool, failed: Callable[[str], None]
    ) -> None:  # fmt: skip
        """Begin to listen; where that is not possible, say why to `failed` and poll."""
        self._wanted, self._passed_on, self._failed = wanted, told, failed
        self._stop = threading.Event()
        self._notices: Notices | None = None
        if not poll:
            self._listen()
        self._thread = threading.Thread(target=self._run, name="metier-watch", daemon=True)

    @property
    def mode(self) -> str:
        """`notices` or `polling`."""
        return "notices" if self._notices else "polling"

    def start(self) -> None:
        """Begin to pass on."""
        atexit.register(self._leave)  # a thread that is killed inside foreign code may take the process with it
        self._thread.start()

    def close(self) -> None:
        """Stop, and wait until nothing runs any more."""
        atexit.unregister(self._leave)
        self._leave(None)

    def _leave(self, seconds: float | None = LAST_SECONDS) -> None:
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(seconds)

    def _listen(self) -> None:
        wanted = self._wanted()
        reason = mounts.unheard(wanted.roots, os.environ, _mounts())
        try:
            self._notices = None if reason else Notices(wanted, self._stop)
        except ImportError:
            reason = "watchfiles is not installed: pip install 'metier[watch]'"
        except OSError as error:
            reason = str(error)
        if reason:
            self._failed(reason)

    def _run(self) -> None:
        pause = 0.0
        try:
            while not self._stop.is_set():
                if self._notices is None:
                    pause = self._polled(pause)
                else:
                    self._heard(self._notices)
        finally:
            if self._notices is not None:
                self._notices.close()

    def _heard(self, notices: Notices) -> None:
        try:
            found = notices.heard()
        except OSError as error:
            self._give_up(notices, error)
            return
        self._passed_on(found)
        if found:
            wanted = self._wanted()  # there may be other roots now
            try:
                notices.want(wanted)
            except OSError as error:
                self._give_up(notices, error)

    def _give_up(self, notices: Notices, error: OSError) -> None:
        notices.close()
        self._notices = None
        self._failed(str(error))
        self._passed_on(None)  # what later looks are compared with

    def _polled(self, pause: float) -> float:
        """Wait, and have everything looked at; give how long to wait the next time."""
        if self._stop.wait(pause or POLL_SECONDS):
            return pause
        began = time.monotonic()
        self._passed_on(None)
        return max(POLL_SECONDS, IDLE_SHARE * (time.monotonic() - began))


def _mounts() -> bytes:
    """Give the table of file systems; it has no size to ask for beforehand, and only Linux has one."""
    try:
        with open(mounts.TABLE, "rb") as file:
            return file.read(mounts.MOST_BYTES)
    except OSError:
        return b""
