"""A bare repository of our own: commits that were fetched whole, their lists of files, and the bytes of these."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from metier.errors import RefusedError, SourceError
from metier.supply import gitlist
from metier.supply.git.running import proc
from metier.supply.git.running.proc import Bounds, Ended

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from metier.settings.tables import Supply
    from metier.supplies import Item, Origin

AHEAD = 32
"""How many objects are asked for before the first is read: few enough that the questions never fill a pipe."""
MOST_CHUNK = 1 << 18
HAVE = "refs/metier/have/"
"""Commits that are here whole."""
OWN = "refs/metier/own/"
"""Of these, those that lie on a branch or a tag of their source."""


class DamagedError(Exception):
    """Our own copy cannot be read; it is thrown away and made again."""

    def __init__(self, told: bytes) -> None:
        """Keep what git said of it."""
        super().__init__(told)
        self.told = told


class Bare:
    """One bare repository below the cache. Calls of git that stay on this machine go through it."""

    def __init__(self, path: str, env: Mapping[str, str]) -> None:
        """Name the place; nothing is made yet."""
        self.path, self.env = path, gitlist.environment(env, ())

    def make(self, until: float, form: str = "sha1") -> None:
        """Make the repository where there is none, without anybody's template."""
        if os.path.isfile(f"{self.path}/HEAD") and os.path.isdir(f"{self.path}/objects"):
            return
        words = ["git", "init", "-q", "--bare", "--template=", f"--object-format={form}", "--", self.path]
        ended = proc.run(words, self.env, Bounds(until))
        if ended.code:
            raise gitlist.fault(ended.errors, "its own cache")

    def call(self, until: float, *words: str) -> Ended:
        """Run a short call on this machine."""
        return proc.run([*gitlist.command(self.path, ()), *words], self.env, Bounds(until))

    def has(self, ref: str, until: float) -> bool:
        """Tell whether a ref of ours leads to a commit that is here."""
        return self.call(until, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}").code == 0

    def note(self, ref: str, commit: str, until: float) -> None:
        """Point a ref of ours at a commit."""
        ended = self.call(until, "update-ref", "--", ref, commit)
        if ended.code:
            raise DamagedError(ended.errors)


class GitTree:
    """A commit, as a list of files and their bytes."""

    def __init__(self, bare: Bare, origin: Origin, path: str, limits: Supply, until: float,
                 vouched: Callable[[], bool] = lambda: False) -> None:  # fmt: skip
        """Read the list at once: that it can be read shows that the copy is sound."""
        self.bare, self._origin, self.limits, self._vouched = bare, origin, limits, vouched
        self.problems: list[str] = []
        self._batch: subprocess.Popen[bytes] | None = None
        self._items = self._listed(path, until)

    @property
    def origin(self) -> Origin:
        """Where it is from, and the commit that its ref was resolved to."""
        return self._origin

    def vouched(self) -> bool:
        """Tell whether the commit lies on a branch or a tag of the source. This may ask the source.

        A server can give out, under one repository's name, commits that a stranger keeps in a fork of it or sent in.
        """
        return self._vouched()

    def items(self) -> Sequence[Item]:
        """List every file, link and submodule of the commit, or of the path that was asked for."""
        return self._items

    def _listed(self, path: str, until: float) -> tuple[Item, ...]:
        words = ["ls-tree", "-r", "-z", "-l", "--full-tree", self._origin.commit, *(("--", path) if path else ())]
        found = gitlist.entries(proc.lines([*gitlist.command(self.bare.path, ()), *words], self.bare.env, until, DamagedError))
        items = tuple(islice(found, self.limits.files + 1))
        if len(items) > self.limits.files:
            raise RefusedError(f"the repository has more than {self.limits.files:,} files", code="too-many",
                               hint="name a path inside it, as in owner/repo#ref:path; supply.files is the limit")  # fmt: skip
        return items

    def contents(self, items: Sequence[Item]) -> Iterator[tuple[Item, Iterator[bytes]]]:
        """Give the bytes of files, in the order asked for, through one process that stays."""
        child = self._started()
        assert child.stdin is not None
        assert child.stdout is not None
        clean, asked = False, 0
        try:
            for at, item in enumerate(items):
                while asked < min(len(items), at + AHEAD):
                    _ask(child, items[asked : at + AHEAD])
                    asked = min(len(items), at + AHEAD)
                size = gitlist.answered(child.stdout.readline(512), item)
                chunks = self._chunks(child, item, size)
                yield item, chunks
                for _rest in chunks:  # whoever did not want them all must not shift what follows
                    pass
            clean = True
        except SourceError:
            shutil.rmtree(self.bare.path, ignore_errors=True)  # it will be made again
            raise
        finally:
            if not clean:  # somebody stopped in the middle: what the process would say next belongs to no question
                self.close()

    def _chunks(self, child: subprocess.Popen[bytes], item: Item, size: int) -> Iterator[bytes]:
        assert child.stdout is not None
        left, first = size, True
        while left:
            chunk = child.stdout.read(min(left, MOST_CHUNK))
            if not chunk:
                raise SourceError("git broke off in the middle of a file", code="git", hint="try again")
            if first and size < gitlist.LFS_BYTES and chunk.startswith(gitlist.LFS):
                self.problems.append(f"{item.path} stands for a file that is kept elsewhere (LFS), which is not fetched")
            left, first = left - len(chunk), False
            yield chunk
        if child.stdout.read(1) != b"\n":
            raise SourceError("git broke off after a file", code="git", hint="try again")

    def _started(self) -> subprocess.Popen[bytes]:
        if self._batch is None or self._batch.poll() is not None:
            self.close()
            words = [*gitlist.command(self.bare.path, ()), "cat-file", "--batch"]
            self._batch = proc.start(words, self.bare.env, subprocess.PIPE, subprocess.DEVNULL)
        return self._batch

    def close(self) -> None:
        """End the process that reads."""
        child, self._batch = self._batch, None
        if child is None:
            return
        proc.stop(child)
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


def _ask(child: subprocess.Popen[bytes], items: Iterable[Item]) -> None:
    assert child.stdin is not None
    try:
        child.stdin.write(b"".join(item.key.encode() + b"\n" for item in items))
        child.stdin.flush()
    except OSError as error:
        raise SourceError("git ended while it was read", code="git", hint="try again") from error
