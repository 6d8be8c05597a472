"""A piece of a test run as an ordinary user, when the tests themselves run as root.

The running process is copied and the copy gives up being root for good. No new interpreter is started, so it does not matter
whether that user could have read this one; but what is not loaded yet may be out of reach, so import it before.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import tempfile
import traceback
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import metier.run.io.machine
from metier.run.io import cgroup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    T = TypeVar("T")

NOBODY = 65534
_DUMPABLE = 4
HANG = 90
"""Seconds after which a copy that hangs is ended."""


def as_ordinary(task: Callable[[], T]) -> T:
    """Run a task as an ordinary user; give what it gives, or raise what it raises, as text. At once where we are none of root's."""
    if os.geteuid() != 0:
        return task()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _copy(task, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    if not answer:
        raise AssertionError("the copy ended without an answer")
    good, value = pickle.loads(answer)  # noqa: S301 - a copy of this very process wrote it
    if not good:
        raise AssertionError(f"as an ordinary user:\n{value}")
    result: T = value
    return result


@contextmanager
def open_folder() -> Iterator[str]:
    """Give a folder that any user can enter; those of pytest belong to root alone."""
    with tempfile.TemporaryDirectory(prefix="metier-open-", dir="/tmp") as folder:
        os.chmod(folder, 0o755)  # noqa: S103 - that is what it is for
        yield folder


def _copy(task: Callable[[], T], writer: int) -> None:
    """Become another user, do the task, and end at once: nothing of the copied tests may run on."""
    signal.alarm(HANG)
    try:
        _become()
        answer = (True, task())
    except BaseException:  # noqa: BLE001 - the copy must end here, whatever it was
        answer = (False, traceback.format_exc())  # type: ignore[assignment]
    try:
        with os.fdopen(writer, "wb") as pipe:
            pickle.dump(answer, pipe)
    finally:
        os._exit(0)


def _become() -> None:
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    # A process that has changed its user hides itself from that user; one that was started by them does not.
    ctypes.CDLL(None).prctl(_DUMPABLE, 1, 0, 0, 0)
    # What root has found out about this machine is not true for others.
    cgroup.find.cache_clear()
    metier.run.io.machine.WORKING_LAYERS.clear()
