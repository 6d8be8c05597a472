"""A library that stays current while the disk changes: looks again at what was heard of, and says what came, changed and went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier import configuration
from metier.discover import disk, env as host
from metier.discover.watch import Ear, Wanted
from metier.errors import MetierError
from metier.secrets import disk as secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType

    from metier.app import Library
    from metier.model import Change

MANY = 2_000
"""More paths at once than this, and the system may have dropped some: then every tree is looked at."""
KEPT = (host.DECISIONS, f"{secrets.FOLDER}/{secrets.VALUES}", f"{secrets.FOLDER}/{secrets.NAMES}")
"""What counts below METIER_HOME: decisions, and secrets, for with one more of them another skill may be ready."""


def watch(library: Library, heard: Callable[[Change], None], *, poll: bool = False) -> Watcher:
    """Keep a library current, and tell `heard` of each change, in a thread of its own."""
    watcher = Watcher(library, heard)
    watcher.listen(poll=poll)
    return watcher


class Watcher:
    """Keeps one library current until it is closed. Without `listen` it does so only when it is pumped."""

    def __init__(self, library: Library, heard: Callable[[Change], None]) -> None:
        """Take what the library knows now for what was told."""
        self.library, self.heard = library, heard
        self.trouble = ""
        """Why changes are polled for, or what went wrong last: a listener that failed, a configuration that cannot be read."""
        self._ear: Ear | None = None
        self._waiting: list[Change] = []
        self._closed = False
        self._configuration, self._wanted = self._keys(), self._places()
        library.contents()
        library.dropped.append(self._note)
        library.closing.append(self.close)

    def __enter__(self) -> Watcher:
        """Use the watcher in a `with` block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Stop."""
        self.close()

    @property
    def mode(self) -> str:
        """`notices` when the system tells of changes, `polling` when the disk is looked at from time to time, else `by hand`."""
        return self._ear.mode if self._ear else "by hand"

    def listen(self, *, poll: bool = False) -> None:
        """Begin to hear of changes; from now on none is missed."""
        self._ear = Ear(lambda: self._wanted, self._step, poll=poll, failed=self._failed)
        self.library.reload(deep=self._ear.mode == "polling")  # what changed before, and what later looks are compared with
        self._ear.start()

    def pump(self, touched: Iterable[str] | None = ()) -> Change | None:
        """Look again at what was touched, or with `None` at everything, and tell of what is different; give the last of it.

        A configuration that changed is read again first, as are decisions (CO-6).
        """
        library = self.library
        paths = None if touched is None else set(touched)
        with library.alone:
            self._configure()
            self._wanted = self._places()
            deep = paths is None or len(paths) > MANY or not paths.isdisjoint(self._wanted.roots)
            library.reload(paths or (), deep=deep)
        return self._tell()

    def close(self) -> None:
        """Stop. When this returns, nothing of it runs any more, and nobody is told of anything."""
        self._closed = True
        if self._ear is not None:
            self._ear.close()
        if self._note in self.library.dropped:
            self.library.dropped.remove(self._note)
        if self.close in self.library.closing:
            self.library.closing.remove(self.close)

    def _note(self, change: Change) -> None:
        self._waiting.append(change)

    def _step(self, touched: set[str] | None) -> None:
        """Do what is due after a pause: look again where something was heard of, and tell what others found."""
        try:
            if touched is None or touched:
                self.pump(touched)
            elif self._waiting:
                self._tell()
        except Exception as error:  # noqa: BLE001 - whatever it is, the next change must still be heard of
            self.trouble = f"the skills could not be looked at again: {_words(error)}"

    def _tell(self) -> Change | None:
        """Tell of every change that was found, whoever looked: another thread's `reload` counts as well."""
        change = None
        while self._waiting:
            change = self._waiting.pop(0)
            if self._closed:
                continue
            try:
                self.heard(change)
            except Exception as error:  # noqa: BLE001 - a listener's fault ends neither the watcher nor the program
                self.trouble = f"the listener failed: {_words(error)}"
        return change

    def _failed(self, reason: str) -> None:
        self.trouble = reason
        warning = f"changes are not heard of here ({reason}); the disk is looked at from time to time instead"
        if warning not in self.library.warnings:
            self.library.warnings.append(warning)

    # --- what else counts

    def _places(self) -> Wanted:
        library = self.library
        data = library.data
        kept = [f"{data}/{name}" for name in KEPT] if data else []
        roots = tuple(dict.fromkeys(root.location for root in library.roots()))
        return Wanted(roots, (*self._files(), *kept), (data,) if data else ())

    def _files(self) -> list[str]:
        """List the configuration files that hold here, whether they exist or not."""
        library = self.library
        own = [disk.absolute(library.config, library.cwd, library.home)] if library.config else []
        return [host.ORGANISATION_CONFIG, *own, f"{library.project}/{host.PROJECT_CONFIG}"]

    def _keys(self) -> list[bytes | None]:
        return [disk.key_of(path) for path in self._files()]

    def _configure(self) -> None:
        """Read the configuration again if it changed; one that cannot be read, as while it is being written, leaves the old."""
        library, keys = self.library, self._keys()
        if keys == self._configuration:
            return
        try:
            library.settings, library.project = configuration.read(library)
        except MetierError as error:
            self.trouble = error.message
        library.warnings[:] = dict.fromkeys(library.warnings)
        self._configuration = self._keys()


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__
