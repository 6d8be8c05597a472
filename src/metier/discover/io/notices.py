"""Hearing of changes on disk: from the system, through `watchfiles`, or by looking again from time
to time.

The only place with a thread. A notice is a hint, never the truth: whoever is told looks at the disk
again.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakSet

from metier.discover import watch_filter
from metier.discover.watch_filter import PathFilter

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence

    from watchfiles.main import FileChange

    from metier.model import Texts

    Stream = Generator[set[FileChange], None, None]
    Place = tuple[str, int, int]
    """How a folder is watched, or what a link leads to; and which folder of that name it is."""

STEP_MS = 5
DEBOUNCE_MS = 20
PAUSE_MS = 25
"""Changes count as one when they are no further apart than a step, and are never held back longer
than the debounce. After a pause without any, the thread sees to other things."""
RECHECK = 32
"""After so many pauses it is looked whether the watched folders, and those that links lead to, are
still the same ones: about a second."""
ECHO = 8
"""So many pauses after a change its place is looked at once more: a folder made just now is watched
a moment too late to hear of the first files in it."""
MAX_FAULTS = 8
"""So often the system's notices are begun anew after an error."""
POLL_SECONDS = 1.0
IDLE_SHARE = 10
"""Polling waits so many times longer than it works."""
DEEP, LINKED, FLAT = KINDS = ("deep", "linked", "flat")
"""Watched with all below: roots, and what links lead to. Watched alone: folders in which something
may appear."""
LAST_SECONDS = 5.0
"""How long a process that ends waits for somebody who is just being told."""


class WatchedFolders(NamedTuple):
    """What is to be heard of."""

    roots: Texts
    """Folders of skills, whether they exist or not: everything below counts."""
    files: Texts = ()
    """Single files or folders elsewhere."""
    quiet: Texts = ()
    """Folders in which metier itself writes: nothing in them counts, but for the above."""
    links: Texts = ()
    """Links below the roots that are followed, or led nowhere: what lies behind them counts,
    wherever that is."""


class Notices:
    """Changes as the system tells of them."""

    def __init__(self, wanted: WatchedFolders, stop: threading.Event) -> None:
        """Begin to listen; OSError where that cannot be done."""
        self._stop = stop
        self._streams: dict[str, Stream] = {}
        self._plan: dict[str, Place] = {}
        self._links: dict[str, Place] = {}
        self._waiting: set[str] = set()
        self._echo: set[str] = set()
        self._pauses = self._faults = 0
        self.want(wanted)
        self._echo.clear()

    def want(self, wanted: WatchedFolders) -> None:
        """Listen to these from now on; what is new among them is looked at once more, for it was
        not heard of before.
        """
        self._wanted = wanted
        self._echo |= self._follow()
        self._sift()

    def heard(self) -> set[str]:
        """Wait for a moment, and give what changed in it."""
        raw = self._waiting | self._told()
        self._waiting = set()
        self._pauses += 1
        found = self._sieve.passed(raw)
        if raw or not self._pauses % RECHECK:
            found |= self._follow(raw)
        if found:
            self._echo |= found
            self._pauses = 0
        elif self._pauses >= ECHO:
            found = self._echo
            self._echo = set()
        return found

    def close(self) -> None:
        """Listen no more."""
        self._end(self._streams.values())
        self._streams = {}
        self._plan = {}

    def _told(self) -> set[str]:
        """Wait for the next notices; after an error of the system's, such as a name that is no
        text, begin anew.
        """
        if not self._streams:
            self._stop.wait(PAUSE_MS / 1000)
        try:
            return _next(self._streams.values())
        except RuntimeError as error:
            self._faults += 1
            if self._faults > MAX_FAULTS:
                raise OSError(str(error)) from error
            self._follow(self._plan)
            return set(self._wanted.roots)

    def _follow(self, heard: Collection[str] = ()) -> set[str]:
        """Watch what is there now, as far as it is not what was watched before, or something
        happened to a watched folder itself.

        Give the roots that came or went, and the links that lead elsewhere now.
        """
        links = {link: _behind(link) for link in self._wanted.links}
        told = self._links
        plan = planned(self._wanted, [target for target, *_ in links.values()])
        old = self._plan
        if plan != old:
            whole = [
                (folder, os.path.realpath(folder))
                for folder, (kind, *_) in plan.items()
                if kind != FLAT
            ]
            if reason := watch_filter.unheard(whole, _mounts()):
                raise OSError(reason)
        stale = {old[path][0] for path in heard if path in old}
        parts = {
            kind: _part(plan, kind)
            for kind in KINDS
            if kind in stale or _part(plan, kind) != _part(old, kind)
        }
        self._exchange(parts)
        self._plan = plan
        self._links = links
        if links != told:
            self._sift()
        came = {root for root in self._wanted.roots if plan.get(root) != old.get(root)}
        return came | {link for link, place in links.items() if told.get(link) != place}

    def _sift(self) -> None:
        roots, files, quiet, _links = self._wanted
        self._sieve = PathFilter(
            roots, files, quiet, {link: target for link, (target, *_) in self._links.items()}
        )

    def _exchange(self, parts: Mapping[str, Mapping[str, Place]]) -> None:
        """Put new streams in place of old ones. The new ones listen before the old ones end, so
        that nothing falls between.
        """
        ended = [self._streams.pop(kind) for kind in parts if kind in self._streams]
        wanted = {kind: list(part) for kind, part in parts.items() if part}
        try:
            opened = self._opened(wanted)
        except OSError:  # two of everything may be too much for the system
            self._end(ended)
            opened = self._opened(wanted)
        self._streams.update(opened)
        self._waiting |= self._drained(ended)

    def _opened(self, folders: Mapping[str, Sequence[str]]) -> dict[str, Stream]:
        try:
            opened = {kind: self._stream(some, kind) for kind, some in folders.items()}
            self._waiting |= _next(opened.values())  # they begin with the first question
        except UnicodeError as error:
            raise OSError(
                "a folder that would have to be watched has a name that is not UTF-8"
            ) from error
        except RuntimeError as error:
            raise OSError(str(error)) from error
        return opened

    def _stream(self, folders: Sequence[str], kind: str) -> Stream:
        from watchfiles import watch

        return watch(
            *folders,
            watch_filter=None,
            debounce=DEBOUNCE_MS,
            step=STEP_MS,
            stop_event=self._stop,
            rust_timeout=PAUSE_MS if kind == DEEP else STEP_MS,
            yield_on_timeout=True,
            raise_interrupt=False,
            recursive=kind != FLAT,
            force_polling=False,
            ignore_permission_denied=True,
        )

    def _drained(self, streams: Collection[Stream]) -> set[str]:
        """Give what they have heard and nobody has asked for yet, and end them."""
        try:
            return _next(streams)
        except RuntimeError:
            return set(self._wanted.roots)
        finally:
            self._end(streams)

    def _end(self, streams: Iterable[Stream]) -> None:
        for stream in streams:
            stream.close()


def _next(streams: Iterable[Stream]) -> set[str]:
    found: set[str] = set()
    for stream in streams:
        found.update(path for _kind, path in next(stream, ()))
    return found


def planned(wanted: WatchedFolders, targets: Iterable[str] = ()) -> dict[str, Place]:
    """Give the folders to watch, each with how, and which folder of that name it is. `targets` are
    what the links lead to.

    For what does not exist yet it is the nearest folder above that does.
    """
    places = dict.fromkeys((*wanted.roots, *targets))
    there = {place for place in places if os.path.isdir(place)}
    roots = there.intersection(wanted.roots)
    above = {
        _nearest(path)
        for path in (*(place for place in places if place not in there), *wanted.files)
    }
    kinds: dict[str, str] = {}
    for kind, folders, covering in (
        (DEEP, roots, roots),
        (LINKED, there - roots, there),
        (FLAT, above - there, there),
    ):
        kinds.update((folder, kind) for folder in sorted(folders) if not _lies_in(folder, covering))
    return {folder: (kind, *_identity(folder)) for folder, kind in kinds.items()}


def _part(plan: Mapping[str, Place], kind: str) -> dict[str, Place]:
    return {folder: place for folder, place in plan.items() if place[0] == kind}


def _lies_in(path: str, folders: Collection[str]) -> bool:
    """Tell whether a path lies below one of the folders."""
    while (above := os.path.dirname(path)) != path:
        path = above
        if path in folders:
            return True
    return False


def _nearest(path: str) -> str:
    """Give the nearest folder above a path that exists."""
    while (above := os.path.dirname(path)) != path:
        path = above
        if os.path.isdir(path):
            break
    return path


def _behind(link: str) -> Place:
    """Give what a link leads to, there or not, and which folder of that name it is."""
    target = os.path.realpath(link)
    return target, *_identity(target)


def _identity(folder: str) -> tuple[int, int]:
    try:
        status = os.stat(folder)
    except OSError:
        return 0, 0
    return status.st_dev, status.st_ino


class NoticeThread:
    """A thread that waits for changes and passes them on until it is closed: paths, or nothing
    where all must be looked at.
    """

    def __init__(
        self,
        wanted: Callable[[], WatchedFolders],
        told: Callable[[set[str] | None], None],
        *,
        failed: Callable[[str], None],
        forked: Callable[[], None] = lambda: None,
        env: Mapping[str, str] | None = None,
        poll: bool = False,
    ) -> None:
        """Begin to listen; where that is not possible, say why to `failed` and poll. `forked` is
        called in a forked process.
        """
        self._wanted, self._passed_on, self._failed, self._forked = wanted, told, failed, forked
        self._stop = threading.Event()
        self._notices: Notices | None = None
        if not poll:
            self._listen(env or {})
        self._thread = threading.Thread(target=self._run, name="metier-watch", daemon=True)

    @property
    def mode(self) -> str:
        """`notices` or `polling`."""
        return "notices" if self._notices else "polling"

    def start(self) -> None:
        """Begin to pass on."""
        atexit.register(
            self._leave
        )  # a thread that is killed inside foreign code may take the process with it
        _heed_forks()
        NOTICE_THREADS.add(self)
        self._thread.start()

    def close(self) -> None:
        """Stop, and wait until nothing runs any more."""
        atexit.unregister(self._leave)
        NOTICE_THREADS.discard(self)
        self._leave(None)
        if self._thread.ident is None and self._notices is not None:  # it was never begun
            self._notices.close()

    def renew(self) -> None:
        """Be closed, in a forked process: the thread has stayed behind, and with it whatever lock
        it held.
        """
        atexit.unregister(self._leave)
        self._stop = threading.Event()
        self._notices = None
        self._stop.set()
        self._forked()

    def _leave(self, seconds: float | None = LAST_SECONDS) -> None:
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(seconds)

    def _listen(self, env: Mapping[str, str]) -> None:
        reason = watch_filter.refused(env) or _unloaded()
        try:
            self._notices = None if reason else Notices(self._wanted(), self._stop)
        except Exception as error:  # noqa: BLE001 - whatever it is, the disk can still be polled
            reason = words_of(error)
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
        except Exception as error:  # noqa: BLE001 - whatever it is, the disk can still be polled
            self._give_up(notices, error)
            return
        self._passed_on(found)
        if found and not self._stop.is_set():
            wanted = self._wanted()  # there may be other roots and links now
            try:
                notices.want(wanted)
            except Exception as error:  # noqa: BLE001 - as above
                self._give_up(notices, error)

    def _give_up(self, notices: Notices, error: Exception) -> None:
        notices.close()
        self._notices = None
        self._failed(words_of(error))
        self._passed_on(None)  # what later looks are compared with

    def _polled(self, pause: float) -> float:
        """Wait, and have everything looked at; give how long to wait the next time."""
        if self._stop.wait(pause or POLL_SECONDS):
            return pause
        began = time.monotonic()
        self._passed_on(None)
        return max(POLL_SECONDS, IDLE_SHARE * (time.monotonic() - began))


NOTICE_THREADS: WeakSet[NoticeThread] = WeakSet()
"""Those whose threads run in this process."""
_heeded: list[bool] = []


def _heed_forks() -> None:
    """From the first thread on, have forked processes do without it; a process that never watches
    pays nothing.
    """
    if not _heeded and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_renew)
        _heeded.append(True)


def _renew() -> None:
    ears = list(NOTICE_THREADS)
    NOTICE_THREADS.clear()
    for ear in ears:
        ear.renew()


def _unloaded() -> str:
    """Say why the package that brings the system's notices cannot be used; nothing when it can."""
    try:
        import watchfiles  # noqa: F401 - whether it can be loaded is the question
    except ModuleNotFoundError as error:
        if error.name == "watchfiles":
            return "watchfiles is not installed: pip install 'metier[watch]'"
        return f"watchfiles cannot be loaded: {error}"
    except Exception as error:  # noqa: BLE001 - a package may fail in any way while it is loaded
        return f"watchfiles cannot be loaded: {words_of(error)}"
    return ""


def words_of(error: Exception) -> str:
    """Give what an error says, or at least its kind."""
    return str(error) or type(error).__name__


def _mounts() -> bytes:
    """Give the table of file systems; it has no size to ask for beforehand, and only Linux has
    one.
    """
    try:
        with open(watch_filter.MOUNT_TABLE, "rb") as file:
            return file.read(watch_filter.MAX_MOUNTS_BYTES)
    except OSError:
        return b""
