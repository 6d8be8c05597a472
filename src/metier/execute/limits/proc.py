"""The kernel's own limits, set on a process that waits to begin: it and all that it starts keep them."""

from __future__ import annotations

import os
import resource
from typing import TYPE_CHECKING

from metier.errors import SandboxError

if TYPE_CHECKING:
    from metier.runs import Bounds

OPEN_FILES, LOCKED_BYTES = 1024, 64 * 1024
SPARE = 8
"""How many tasks the kernel allows beyond the limit, so that the watchdog sees that it was crossed and says so."""
OWN = 1
"""bubblewrap's own process inside."""
ONE_ARGUMENT, _ALL = 131_071, 131_072
"""Bytes that the kernel takes in one argument, and in all of them on any system."""
COUNTED_APART = (5, 14)
"""Since this kernel a user namespace counts its own tasks; before, all of the user's on the whole machine were counted."""


def hold(pid: int, bounds: Bounds, *, apart: bool = True) -> bool:
    """Set every limit on a process; false when it is gone already. `apart`: it has a user namespace of its own."""
    try:
        for kind, most in _limits(bounds, apart=apart):
            _soft, hard = resource.prlimit(pid, kind)
            bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.prlimit(pid, kind, (bound, bound))
    except ProcessLookupError:
        return False
    except (OSError, ValueError, OverflowError) as error:
        raise SandboxError(f"the limits of the run cannot be set: {error}", code="sandbox-limits") from error
    return True


def all_arguments() -> int:
    """Give how many bytes arguments and variables may have together; a pointer to each counts as well."""
    try:
        return max(os.sysconf("SC_ARG_MAX"), _ALL)
    except (OSError, ValueError):
        return _ALL


def counts_tasks() -> bool:
    """Tell whether the kernel can limit the tasks of one run; root's it never does."""
    return os.getuid() != 0 and _kernel() >= COUNTED_APART


def _limits(bounds: Bounds, *, apart: bool) -> list[tuple[int, int]]:
    cores = os.cpu_count() or 1
    limits = [
        # Not 0: where dumps go to a program, as root and outside, the kernel takes only a limit of 1 for a no.
        (resource.RLIMIT_CORE, 1),
        (resource.RLIMIT_FSIZE, bounds.file_bytes),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        # Memory that can be written to. Not the address space: what Node reserves of that is more than any machine has.
        (resource.RLIMIT_DATA, bounds.memory_bytes),
        # Only for the case that nobody is left to watch the clock; threads spend several seconds in one.
        (resource.RLIMIT_CPU, (bounds.seconds + 1) * cores),
        (resource.RLIMIT_MEMLOCK, LOCKED_BYTES),
        (resource.RLIMIT_MSGQUEUE, 0),
    ]
    if apart and _kernel() >= COUNTED_APART:
        limits.append((resource.RLIMIT_NPROC, bounds.processes + OWN + SPARE))
    return limits


def _kernel() -> tuple[int, ...]:
    return tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2] if part.isdigit())
