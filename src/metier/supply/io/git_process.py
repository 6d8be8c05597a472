"""Starts git in a process group of its own, and ends it with its children when it takes too long or
grows too large.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import threading
import time
from functools import lru_cache
from typing import IO, TYPE_CHECKING, NamedTuple

from metier.errors import RefusedError, SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

CHUNK_BYTES = 1 << 16
MAX_ERROR_BYTES = 16 * 1024
"""How much of git's complaints is kept: the end of them."""
TICK_SECONDS = 0.02
_GROUPS = hasattr(os, "killpg")
_LIVING: set[subprocess.Popen[bytes]] = set()
"""What was started and not ended. A thread that nobody waits for ends with this process; what it
started must as well."""


class GitResult(NamedTuple):
    """How a call ended."""

    code: int
    output: bytes
    errors: bytes


class GitBounds(NamedTuple):
    """When to stop: at a moment of the monotonic clock, or when a folder has grown by so much."""

    until: float
    grown: int = 0
    folder: str = ""
    output: int = 8 * 1024 * 1024
    tell: Callable[[int], None] = lambda _grown: None
    """Told again and again by how many bytes the folder has grown, while git works."""


def run_git(words: Sequence[str], env: Mapping[str, str], bounds: GitBounds) -> GitResult:
    """Run git to its end, within bounds; whatever happens, it does not outlive this call."""
    _check_time(bounds)
    before = size_of(bounds.folder) if bounds.folder else 0
    child = start_git(words, env, subprocess.DEVNULL)
    assert child.stdout is not None
    assert child.stderr is not None
    output = _Drain(child.stdout, bounds.output, head=True)
    errors = _Drain(child.stderr, MAX_ERROR_BYTES, head=False)
    try:
        while not _has_ended(child):
            _check_time(bounds)
            output.check()
            grown = size_of(bounds.folder) - before if bounds.folder else 0
            bounds.tell(max(grown, 0))
            if grown > bounds.grown and bounds.folder:
                raise RefusedError(
                    f"the repository is larger than {bounds.grown:,} bytes",
                    code="too-large",
                    hint="supply.download_bytes in the settings is the limit",
                )
    finally:
        stop_git(child)
        output.join()
        errors.join()
    output.check()
    if bounds.folder:
        bounds.tell(max(size_of(bounds.folder) - before, 0))
    return GitResult(child.returncode, bytes(output.kept), bytes(errors.kept))


@lru_cache(maxsize=1)
def _version(path: str, seconds: int) -> bytes:
    return run_git(
        ("git", "--version"), {"PATH": path}, GitBounds(time.monotonic() + seconds)
    ).output


def version(env: Mapping[str, str], seconds: int) -> bytes:
    """Give what git says of itself."""
    return _version(env.get("PATH", os.defpath), seconds)


def _check_time(bounds: GitBounds) -> None:
    if time.monotonic() > bounds.until:
        raise SourceError(
            "fetching took too long",
            code="timeout",
            hint="supply.seconds in the settings is the limit",
        )


def start_git(
    words: Sequence[str], env: Mapping[str, str], stdin: int, stderr: int = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    """Start git, away from any terminal; that there is none to start is the source's trouble."""
    try:
        child = subprocess.Popen(  # noqa: S603 - fixed words, checked names, no shell
            list(words),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=dict(env),
            cwd="/" if _GROUPS else None,
            start_new_session=_GROUPS,
            close_fds=True,
            umask=0o077 if _GROUPS else -1,
        )
    except FileNotFoundError as error:
        raise SourceError(
            "git is not installed here", code="git", hint="install git 2.37 or newer"
        ) from error
    except (OSError, ValueError) as error:
        raise SourceError(
            f"git could not be started: {error}",
            code="git",
            hint="check that this works: git --version",
        ) from error
    _LIVING.add(child)
    return child


def stop_git(child: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started."""
    _kill(child)
    child.wait()
    _LIVING.discard(child)


@atexit.register
def _stop_all() -> None:
    for child in tuple(_LIVING):
        _kill(child)


def _kill(child: subprocess.Popen[bytes]) -> None:
    if _GROUPS:
        try:
            os.killpg(child.pid, signal.SIGKILL)  # the group may outlive its leader
        except (ProcessLookupError, PermissionError):
            pass
    elif child.poll() is None:
        child.kill()


def _has_ended(child: subprocess.Popen[bytes]) -> bool:
    try:
        child.wait(TICK_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


def git_output(
    words: Sequence[str], env: Mapping[str, str], until: float, failed: Callable[[bytes], Exception]
) -> Iterator[bytes]:
    """Give the output of a call of git on this machine, a piece at a time; one that goes on for too
    long is ended.
    """
    bounds = GitBounds(until)
    _check_time(bounds)
    child = start_git(words, env, subprocess.DEVNULL)
    assert child.stdout is not None
    assert child.stderr is not None
    errors = _Drain(child.stderr, MAX_ERROR_BYTES, head=False)
    # Folders in folders in folders that hold no file take for ever to list, and say nothing
    # meanwhile.
    watch = threading.Timer(until - time.monotonic(), _kill, (child,))
    watch.daemon = True
    watch.start()
    try:
        while chunk := child.stdout.read(CHUNK_BYTES):
            yield chunk
        code = child.wait()
        if code:
            _check_time(bounds)
    finally:
        watch.cancel()
        watch.join()
        stop_git(child)
        errors.join()
        child.stdout.close()
    if code:
        raise failed(bytes(errors.kept))


def size_of(folder: str) -> int:
    """Give the bytes below a folder; what comes and goes meanwhile does not count."""
    total = 0
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as found:
                for entry in found:
                    try:
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
                        else:
                            total += entry.stat(follow_symlinks=False).st_size
                    except OSError:
                        continue
        except OSError:
            continue
    return total


class _Drain:
    """Empties a pipe, so that nobody waits for its reader, and keeps so much of what came."""

    def __init__(self, pipe: IO[bytes], most: int, *, head: bool) -> None:
        self.pipe = pipe
        self.most = most
        self.head = head
        self.kept = bytearray()
        self.over = False
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        read = getattr(self.pipe, "read1", self.pipe.read)
        try:
            while chunk := read(CHUNK_BYTES):
                self.kept += chunk
                if len(self.kept) > self.most:
                    self.over = True
                    self.kept = self.kept[: self.most] if self.head else self.kept[-self.most :]
        except (OSError, ValueError):
            pass  # the other end is gone
        finally:
            self.pipe.close()

    def check(self) -> None:
        """Fail when more came than is kept: what is cut off would look as if it were all."""
        if self.over:
            raise RefusedError(
                "git answered more than is read",
                code="too-large",
                hint="the source has too many refs",
            )

    def join(self) -> None:
        """Wait until all that came was read; whatever got away and holds the other end is not
        waited for.
        """
        self.thread.join(2)
