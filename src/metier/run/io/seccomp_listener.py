"""Answers the kernel when it asks about a watched process: it reads what a call is about from the
process's memory, and lets it go on or refuses it.

A call that goes on is read by the kernel again, and another thread may have changed what it points
to. So nothing is decided by what is read here: what the sandbox refuses is refused by its number
and its plain arguments alone, and what was sent and written is recorded where it arrives.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
from contextlib import suppress
from typing import NamedTuple

from metier.run.sandbox.seccomp import asked_call

_RECEIVE, _SEND, _VALID = 0xC0502100, 0xC0182101, 0x40082102
_GO_ON = 1
_PAGE = 4096
MAX_ARGUMENTS, MAX_ARGUMENT_BYTES = 64, 4096


class AskedCall(NamedTuple):
    """A call that the kernel asks about."""

    id: int
    pid: int
    name: str
    error: int
    arguments: tuple[int, ...]


class SeccompListener:
    """The descriptor at which the kernel asks."""

    def __init__(self, number: int, machine: str) -> None:
        """Own it from now on."""
        self.number = number
        self._machine = machine

    def receive(self) -> AskedCall | None:
        """Take the next question; nothing where who asked is gone."""
        buffer = bytearray(80)
        try:
            fcntl.ioctl(self.number, _RECEIVE, buffer)
        except OSError:
            return None
        number, pid, _flags, call = struct.unpack_from("=QIIi", buffer)
        arguments = struct.unpack_from("=6Q", buffer, 32)
        name, error = asked_call(self._machine, call, arguments)
        return AskedCall(number, pid, name, error, arguments)

    def is_valid(self, asked: AskedCall) -> bool:
        """Tell whether the process still waits, so that what was read was its own memory."""
        try:
            fcntl.ioctl(self.number, _VALID, struct.pack("=Q", asked.id))
        except OSError:
            return False
        return True

    def answer(self, asked: AskedCall, *, done: bool = False) -> None:
        """Refuse it, let it go on, or say that it is done."""
        flags = 0 if asked.error or done else _GO_ON
        with suppress(OSError):  # it may have been killed
            fcntl.ioctl(self.number, _SEND, struct.pack("=QqiI", asked.id, 0, -asked.error, flags))

    def close(self) -> None:
        """Close it: from then on the kernel refuses what it would have asked about."""
        os.close(self.number)


def read_memory(pid: int, address: int, size: int) -> bytes:
    """Read a process's memory as far as it goes; nothing where it cannot be read.

    Not by /proc: a process can make that its own user's no longer.
    """
    kept = ctypes.create_string_buffer(size)
    ours = struct.pack("=QQ", ctypes.addressof(kept), size)
    theirs = struct.pack("=QQ", address, size)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.process_vm_readv.restype = ctypes.c_ssize_t
    got = libc.process_vm_readv(
        pid, ours, ctypes.c_ulong(1), theirs, ctypes.c_ulong(1), ctypes.c_ulong(0)
    )
    return kept.raw[: max(int(got), 0)]


def read_text(pid: int, address: int, most: int = MAX_ARGUMENT_BYTES) -> bytes:
    """Read a text up to its end. Never over the edge of a page in one go: the next may be missing."""
    found = b""
    while address and len(found) < most:
        part = read_memory(pid, address, _PAGE - address % _PAGE)
        end = part.find(b"\0")
        if end >= 0:
            return (found + part[:end])[:most]
        if not part:
            break
        found += part
        address += len(part)
    return found[:most]


def read_arguments(pid: int, address: int) -> list[bytes]:
    """Read the list of a program's arguments."""
    found: list[bytes] = []
    while address and len(found) < MAX_ARGUMENTS:
        pointer = read_memory(pid, address, 8)
        if len(pointer) < 8 or pointer == bytes(8):
            break
        found.append(read_text(pid, struct.unpack("=Q", pointer)[0]))
        address += 8
    return found


def read_address(pid: int, address: int, size: int) -> tuple[str, int] | None:
    """Read the address and the port of a socket's other end; nothing for what is not the
    network.
    """
    data = read_memory(pid, address, min(size, 28))
    if len(data) < 8:
        return None
    (family,) = struct.unpack_from("=H", data)
    (port,) = struct.unpack_from("!H", data, 2)
    if family == socket.AF_INET:
        return socket.inet_ntop(socket.AF_INET, data[4:8]), port
    if family == socket.AF_INET6 and len(data) >= 24:
        return socket.inet_ntop(socket.AF_INET6, data[8:24]).removeprefix("::ffff:"), port
    return None
