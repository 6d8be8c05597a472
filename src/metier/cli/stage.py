"""A temporary project and home that hold the bundled examples, in which real commands run and which then is gone."""

from __future__ import annotations

import io
import os
import shutil
import signal
import sys
import tempfile
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any, NamedTuple

from metier import cli
from metier.cli import ending
from metier.errors import NotFoundError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PLUGIN = "home/.claude/plugins/cache/studio/brand-kit/1.2.0"

PLACES = (
    ("project", "project/.agents/skills"),
    ("home", "home/.agents/skills"),
    ("plugin/.claude-plugin", f"{_PLUGIN}/.claude-plugin"),
    ("plugin/palette", f"{_PLUGIN}/skills/palette"),
)
"""What goes where. The examples lie outside folders named `skills` so that no installed metier offers them as its own."""
LINKS = (
    ("project/.claude/skills/release-notes", "project/.agents/skills/release-notes"),
    ("home/.claude/skills/release-notes", "home/.agents/skills/release-notes"),
)
"""One skill for several agents is usually one folder and a link to it."""
_KEPT = ("PATH", "TERM", "NO_COLOR", "LANG", "LC_ALL", "SYSTEMROOT")
"""What the commands on stage may know of the real environment: how to print, and which commands there are."""


class Answer(NamedTuple):
    """What one command said."""

    exit: int
    text: str
    remarks: str


class Stage(NamedTuple):
    """The temporary folder."""

    folder: str

    @property
    def project(self) -> str:
        """The project in which the commands run."""
        return f"{self.folder}/project"

    def ask(self, words: tuple[str, ...]) -> Answer:
        """Run a real command in the project, with a home, a state folder and an environment of the stage's own."""
        said, remarks = _Copy(sys.stdout), io.StringIO()
        with _surroundings(self._environment()), redirect_stdout(said), redirect_stderr(remarks):
            code = cli.main([*words, "-C", self.project])
        if code == cli.INTERRUPTED:
            raise KeyboardInterrupt
        return Answer(code, self.shortened(said.getvalue()), self.shortened(remarks.getvalue()))

    def shortened(self, value: Any) -> Any:
        """Name the project `project` and the home `~` in every text of a value: their real names soon mean nothing."""
        if isinstance(value, str):
            return value.replace(self.project, "project").replace(f"{self.folder}/home", "~")
        if isinstance(value, dict):
            return {self.shortened(key): self.shortened(item) for key, item in value.items()}
        return [self.shortened(item) for item in value] if isinstance(value, list) else value

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        return {**kept, "HOME": f"{self.folder}/home", "METIER_HOME": f"{self.folder}/state"}


class _Copy(io.StringIO):
    """Keeps what is printed, and is a terminal as far as colour goes if the real output is one."""

    def __init__(self, real: Any) -> None:
        super().__init__()
        self._real = real

    def isatty(self) -> bool:
        return bool(self._real.isatty())


def examples(package: str) -> str:
    """Find the examples: inside the installed package, or beside its source."""
    beside = os.path.dirname(os.path.dirname(package))
    for folder in (f"{package}/examples/skills", f"{beside}/examples/skills"):
        if os.path.isdir(folder):
            return folder
    raise NotFoundError("the bundled examples are not there", hint="install metier again, or run it from its repository")


@contextmanager
def temporary() -> Iterator[str]:
    """Give a folder that is gone afterwards, however the tour ends."""
    with ending.tidily():
        try:
            folder = os.path.realpath(tempfile.mkdtemp(prefix="metier-"))
        except OSError as error:
            raise StoreError(f"cannot make a temporary folder: {error}", hint="set TMPDIR to one with room") from error
        try:
            yield folder
        finally:
            _removed(folder)


def build(folder: str, source: str) -> Stage:
    """Lay the examples out as a project, a home and a plugin of it."""
    try:
        for name, place in PLACES:
            _copied(f"{source}/{name}", f"{folder}/{place}")
        for link, target in LINKS:
            _linked(f"{folder}/{link}", f"{folder}/{target}")
        # The marker of a project, so that no folder above the temporary one is taken for its root.
        os.mkdir(f"{folder}/project/.git")
    except OSError as error:
        raise StoreError(f"cannot copy the examples: {error}", hint="set TMPDIR to a folder with room") from error
    return Stage(folder)


def _copied(source: str, target: str) -> None:
    """Copy bytes alone: permissions of an installed package might forbid removing the copy."""
    os.makedirs(target, exist_ok=True)
    for entry in sorted(os.scandir(source), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name != "__pycache__":
            _copied(entry.path, f"{target}/{entry.name}")
        elif entry.is_file():
            shutil.copyfile(entry.path, f"{target}/{entry.name}")


def _linked(link: str, target: str) -> None:
    os.makedirs(os.path.dirname(link), exist_ok=True)
    try:
        os.symlink(os.path.relpath(target, os.path.dirname(link)), link)
    except OSError:  # Windows needs a privilege for links
        _copied(target, link)


@contextmanager
def _surroundings(environment: Mapping[str, str]) -> Iterator[None]:
    saved = dict(os.environ)
    os.environ.clear()
    os.environ.update(environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(saved)


def _removed(folder: str) -> None:
    """Remove the folder; a second Ctrl-C does not stop that half-way."""
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:
        before = None
    try:
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)
