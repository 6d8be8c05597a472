"""A library that stays current while the disk changes: looks again at what was heard of, and says
what came, changed and went.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.discover.io import disk, machine
from metier.discover.io.notices import NoticeThread, WatchedFolders, words_of
from metier.errors import MetierError
from metier.secrets.io import file_store
from metier.settings.io import ORGANISATION_CONFIG, POLICY_FILE, PROJECT_CONFIG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from metier.context import Context
    from metier.discover.model import Survey
    from metier.model import Change, Texts

MAX_TOUCHED_PATHS = 2_000
"""More paths at once than this, and the system may have dropped some: then every tree is looked
at."""
KEPT = (
    machine.DECISIONS,
    machine.DECISIONS_COPY,
    f"{file_store.FOLDER}/{file_store.VALUES}",
    f"{file_store.FOLDER}/{file_store.NAMES}",
)
"""What counts below METIER_HOME: decisions, and secrets, for with one more of them another skill
may be ready."""


def watch(context: Context, heard: Callable[[Change], None], *, poll: bool = False) -> Watcher:
    """Keep a library current, and tell `heard` of each change, in a thread of its own."""
    watcher = Watcher(context, heard)
    watcher.listen(poll=poll)
    return watcher


class Watcher:
    """Keeps a library up to date until it is closed. Without `listen`, only when you call `pump`."""

    def __init__(self, context: Context, heard: Callable[[Change], None]) -> None:
        """Take what the library knows now for what was told."""
        self.context = context
        self.heard = heard
        self.trouble = ""
        """Why changes are polled for, where nobody asked for that."""
        self._faults: dict[str, str] = {}
        self._ear: NoticeThread | None = None
        self._waiting: list[Change] = []
        self._closed = False
        self._linked: dict[bytes, Texts] = {}
        self._configuration = self._keys()
        context.catalogue.last_stamps()
        self._wanted = self._places()
        context.on_change.append(self._note)
        context.closing.append(self.close)

    def __enter__(self) -> Watcher:
        """Use the watcher in a `with` block."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Stop."""
        self.close()

    @property
    def mode(self) -> str:
        """`notices` when the system tells of changes, `polling` when the disk is looked at from
        time to time, else `by hand`.
        """
        return self._ear.mode if self._ear else "by hand"

    @property
    def fault(self) -> str:
        """What went wrong last and is not mended yet: a look at the disk, a listener, a
        configuration that cannot be read.
        """
        return next(reversed(list(self._faults.values())), "")

    def listen(self, *, poll: bool = False) -> None:
        """Begin to hear of changes; from now on none is missed. Whoever listened already begins
        anew, in one thread.
        """
        if self._ear is not None:
            self._ear.close()
        if self._closed:
            return
        self.trouble = ""
        ear = NoticeThread(
            lambda: self._wanted,
            self._step,
            failed=self._failed,
            forked=self._forked,
            env=self.context.env,
            poll=poll,
        )
        try:
            self.context.catalogue.reload(
                deep=True
            )  # what changed before, and what later looks are compared with
        except BaseException:
            ear.close()
            raise
        self._ear = ear
        ear.start()

    def pump(self, touched: Iterable[str] | None = ()) -> Change | None:
        """Look again at what was touched, or with `None` at everything, and tell of what is
        different; give the last of it.

        A configuration that changed is read again first, as are decisions (CO-6).
        """
        context = self.context
        paths = None if touched is None else set(touched)
        with context.lock:
            self._configure()
            deep = (
                paths is None
                or len(paths) > MAX_TOUCHED_PATHS
                or not paths.isdisjoint(self._wanted.roots)
            )
            context.catalogue.reload(paths or (), deep=deep)
            self._wanted = self._places()
        return self._tell()

    def close(self) -> None:
        """Stop. When this returns, nothing of it runs any more, and nobody is told of anything."""
        self._closed = True
        if self._ear is not None:
            self._ear.close()
        self._leave()

    def _leave(self) -> None:
        if self._note in self.context.on_change:
            self.context.on_change.remove(self._note)
        if self.close in self.context.closing:
            self.context.closing.remove(self.close)

    def _forked(self) -> None:
        """Be closed, in a forked process: only the first one hears of changes."""
        self._closed = True
        self._ear = None
        self.context.after_fork()
        self._leave()

    def _note(self, change: Change) -> None:
        self._waiting.append(change)

    def _step(self, touched: set[str] | None) -> None:
        """Do what is due after a pause: look again where something was heard of, and tell what
        others found.
        """
        try:
            if touched is None or touched:
                self.pump(touched)
            elif self._waiting:
                self._tell()
        except Exception as error:  # noqa: BLE001 - whatever it is, the next change must still be heard of
            self._fails("look", f"the skills could not be looked at again: {words_of(error)}")
        else:
            if touched is None or touched:
                self._faults.pop("look", None)

    def _tell(self) -> Change | None:
        """Tell of every change that was found, whoever looked: another thread's `reload` counts as
        well.
        """
        change = None
        while self._waiting:
            change = self._waiting.pop(0)
            if self._closed:
                continue
            try:
                self.heard(change)
            except Exception as error:  # noqa: BLE001 - a listener's fault ends neither the watcher nor the program
                self._fails("listener", f"the listener failed: {words_of(error)}")
            else:
                self._faults.pop("listener", None)
        return change

    def _fails(self, what: str, words: str) -> None:
        self._faults.pop(what, None)  # so that it comes last
        self._faults[what] = words

    def _failed(self, reason: str) -> None:
        self.trouble = reason
        self._warn(f"file watching is off ({reason}); metier polls the disk instead")

    def _warn(self, warning: str) -> None:
        if warning not in self.context.warnings:
            self.context.warnings.append(warning)

    # --- what else counts

    def _places(self) -> WatchedFolders:
        context = self.context
        data = context.data
        kept = [f"{data}/{name}" for name in KEPT] if data else []
        roots = tuple(dict.fromkeys(root.location for root in context.catalogue.roots()))
        return WatchedFolders(
            roots, (*self._files(), *kept), (data,) if data else (), self._links()
        )

    def _links(self) -> Texts:
        """List the links that were followed to skills or led nowhere. A root that is as it was is
        not asked again.
        """
        seen = self.context.catalogue.glance().seen
        old = self._linked
        self._linked = {
            one.token: old[one.token] if one.token in old else links_of(one.survey())
            for one in seen
        }
        return tuple(dict.fromkeys(link for links in self._linked.values() for link in links))

    def _files(self) -> list[str]:
        """List the configuration files that hold here, whether they exist or not."""
        context = self.context
        own = [disk.absolute(context.config, context.cwd, context.home)] if context.config else []
        policies = context.policy.files if context.policy else (POLICY_FILE,)
        return [ORGANISATION_CONFIG, *policies, *own, f"{context.project}/{PROJECT_CONFIG}"]

    def _keys(self) -> list[bytes | None]:
        return [disk.key_of(path) for path in self._files()]

    def _configure(self) -> None:
        """Read the configuration again if it changed; one that cannot be read, as while it is being
        written, leaves the old.
        """
        context = self.context
        keys = self._keys()
        if keys == self._configuration:
            return
        try:
            context.read_settings()
        except MetierError as error:
            self._fails("configuration", error.message)
            self._warn(f"the configuration was not read again: {error.message}")
        else:
            self._faults.pop("configuration", None)
        context.warnings[:] = dict.fromkeys(context.warnings)
        self._configuration = keys


def links_of(found: Survey) -> Texts:
    """List the links among the folders of a root: of those that were met, a walk keeps the stat, or
    says that they lead nowhere.

    Links inside a skill are not among them, nor those that may not be followed: nothing of what is
    behind those counts.
    """
    nowhere = {problem.path for problem in found.problems if problem.code == "WK004"}
    refused = {problem.path for problem in found.problems if problem.code == "WK003"}
    met = (found.known.keys.keys() | nowhere) - refused
    listed = (f"{folder}/{name}" for folder, node in found.known.nodes.items() for name in node[2])
    return tuple(link for link in listed if link in met)
