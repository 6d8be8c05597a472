"""Landlock by plain system calls: laid on one thread, kept by all that it starts.

It is laid before bubblewrap starts, and no right to files is among what it handles: a thread with
one could not mount any more. What a thread outside does to those inside is not its business:
whoever started a run can still signal it.
"""

from __future__ import annotations

import ctypes
import os

from metier.errors import SandboxError

_CREATE = 444
_RESTRICT = 446
"""The calls' numbers; the same on every machine. No rule is ever added: what is handled is refused
whole."""
_ASK_VERSION = 1
_NO_NEW_PRIVILEGES = 38
_BIND_TCP = 1
_CONNECT_TCP = 2
_ABSTRACT_SOCKETS = 1
_SIGNALS = 2
NETWORK_FROM = 4
SCOPES_FROM = 6
"""The versions that brought the refusal of TCP, and that of abstract sockets and signals to the
outside."""


class _LandlockRuleset(ctypes.Structure):
    """struct landlock_ruleset_attr, as far as it is known here; an older kernel is handed the part
    that it knows.
    """

    _fields_ = (
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scopes", ctypes.c_uint64),
    )


def landlock_version() -> int:
    """Give the version that the kernel has; 0 where it has none, or was started without it."""
    return max(_call(_CREATE, None, 0, _ASK_VERSION), 0)


def restrict_thread(*, network: bool) -> None:
    """Restrict the calling thread for good, and see to it that nothing it starts gains privileges.

    The second also takes from a bwrap that is setuid what that would give it: it runs as the user
    who started it, or not at all.
    """
    if _libc().prctl(_NO_NEW_PRIVILEGES, *_wide(1, 0, 0, 0)):
        raise _failed("no new privileges")
    version = landlock_version()
    handled = _LandlockRuleset(
        files=0,
        network=_BIND_TCP | _CONNECT_TCP if version >= NETWORK_FROM and not network else 0,
        scopes=_ABSTRACT_SOCKETS | _SIGNALS if version >= SCOPES_FROM else 0,
    )
    if not handled.network and not handled.scopes:
        return
    size = ctypes.sizeof(_LandlockRuleset) if version >= SCOPES_FROM else 16
    ruleset = _call(_CREATE, ctypes.byref(handled), size, 0)
    if ruleset < 0:
        raise _failed("a Landlock ruleset")
    try:
        if _call(_RESTRICT, ruleset, 0):
            raise _failed("the Landlock restriction")
    finally:
        os.close(ruleset)


def _call(number: int, *arguments: object) -> int:
    result: int = _libc().syscall(*_wide(number, *arguments))
    return result


def _wide(*arguments: object) -> list[object]:
    """Give arguments as wide as a register: the upper half of a plain int may hold anything."""
    return [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]


def _libc() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library


def _failed(what: str) -> SandboxError:
    return SandboxError(
        f"the kernel refused {what}: {os.strerror(ctypes.get_errno())}", code="sandbox-landlock"
    )
