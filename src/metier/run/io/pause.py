"""Decides which pauses of a watched program are cut short: who waits an hour before it acts is not
waited for.
"""

from __future__ import annotations

import struct
import time
from typing import TYPE_CHECKING

from metier.run.io.seccomp_listener import read_memory

if TYPE_CHECKING:
    from metier.run.io.seccomp_listener import AskedCall

REAL_SECONDS = 2.0
"""How long one try may wait for real, all its pauses together: as long as a server of its own takes
to come up."""
SHORT_SECONDS = 0.5
"""Pauses up to this long always go on."""
MAX_CUT = 64
"""How many pauses of one try are cut short. Who does nothing but wait in a loop must not spin."""
_UNTIL = 1
"""TIMER_ABSTIME: a pause up to a time, and not for so long."""
_TIME_AT = {"nanosleep": 0, "clock_nanosleep": 2, "select": 4, "pselect6": 4, "ppoll": 2}
"""Which argument points to how long it takes."""


class PauseBudget:
    """What one try may still wait for."""

    def __init__(self) -> None:
        """Begin with all of it."""
        self._left, self._cut = REAL_SECONDS, 0

    def cut(self, seconds: float) -> bool:
        """Tell whether a pause is answered at once, as if the time had passed."""
        if seconds <= SHORT_SECONDS:
            return False
        if seconds <= self._left:
            self._left -= seconds
            return False
        self._cut += 1
        return self._cut <= MAX_CUT


def read_pause(asked: AskedCall) -> float:
    """Give how many seconds a call wants to wait; none where that can't be read."""
    if asked.name == "poll":
        return max(_signed(asked.arguments[2]) / 1000, 0.0)
    address = asked.arguments[_TIME_AT[asked.name]]
    data = read_memory(asked.pid, address, 16) if address else b""
    if len(data) < 16:
        return 0.0
    whole, part = map(int, struct.unpack("=qq", data))
    seconds: float = whole + part / (1e6 if asked.name == "select" else 1e9)
    if asked.name == "clock_nanosleep" and asked.arguments[1] & _UNTIL:
        try:
            seconds -= time.clock_gettime(_signed(asked.arguments[0]))
        except OSError:  # a clock that is none: the kernel says so itself
            return 0.0
    return max(seconds, 0.0)


def _signed(argument: int) -> int:
    """Give an argument as the number that C takes it for."""
    low = argument & 0xFFFFFFFF
    return low - (1 << 32) if low >> 31 else low
