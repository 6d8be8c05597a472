"""Writes the program that starts a watched one, as machine code. Pure.

The filter that has the watcher asked can only be laid from inside, by the process that is to be
watched. An interpreter that does it costs more time than most scripts take, and need not be there;
so it is a program of a few system calls: lay the filter, hand out the descriptor at which the
kernel asks, close both ends, start the program, and wait for it. Whatever fails on the way ends it.
It is the first process inside, and called as that is everywhere: many a script looks whether it is
in a sandbox by asking who number 1 is.

All addresses are known beforehand, so that each call is nothing but constants put into registers.
"""

from __future__ import annotations

import struct
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from metier.run.sandbox.seccomp import MACHINES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LAUNCHER = "/init"
"""Where it lies, inside."""
NOT_FOUND = 127
_CODE_AT, _DATA_AT = 0x400000, 0x10000000
"""Where code and data lie in memory. They differ by whole pages, of whatever size, from where they
lie in the file."""
_HEADER = 64 + 3 * 56
_CALLS = {
    "seccomp": (317, 277), "sendmsg": (46, 211), "close": (3, 57), "execve": (59, 221),
    "fork": (57, 220), "wait": (61, 260), "nanosleep": (35, 101), "exit_group": (231, 94),
}  # fmt: skip
ROUND_NS = 20_000_000
"""How long it waits each time for what a program has left behind in the background when it ends."""
LINGER_ROUNDS = 50
"""How often: a second in all. Whatever stays longer is ended with it."""
_CHILD_ENDS = 17
"""SIGCHLD: on one kind of machine a copy is made by the call that also makes threads."""
_SET_FILTER, _NEW_LISTENER = 1, 8
_SOCKET, _RIGHTS = 1, 1
_X86_REGISTERS = ((0, 7), (0, 6), (0, 2))
"""Whether a register is one of the later eight, and its number: rdi, rsi, rdx."""


class _Step(NamedTuple):
    """A system call: its arguments, where its result is kept, and whether a failure ends all."""

    call: str
    arguments: tuple[int, ...]
    kept: int = 0
    needed: bool = True
    waits: int = 0
    """Where the number of the copy is kept, then how it ended, then a pause: the copy goes on with
    the next step, and who made it waits for it and ends as it did."""


class _Data:
    """What the calls point to, each with its address."""

    def __init__(self, start: int) -> None:
        """Begin at an address."""
        self.start, self.bytes = start, bytearray()

    def put(self, data: bytes) -> int:
        """Add bytes; give their address."""
        self.bytes += b"\0" * (-len(self.bytes) % 8)
        self.bytes += data
        return self.start + len(self.bytes) - len(data)

    def texts(self, texts: Iterable[bytes]) -> int:
        """Add texts and the list of them; give the list's address."""
        places = [self.put(text + b"\0") for text in texts]
        return self.put(struct.pack(f"={len(places) + 1}Q", *places, 0))


def launcher(
    machine: str,
    filter_bytes: bytes,
    socket: int,
    command: Sequence[bytes],
    environment: Iterable[bytes],
    folders: Sequence[bytes],
    linger: int = LINGER_ROUNDS,
) -> bytes:
    """Give the program for one start: which filter, the socket that the descriptor goes to, the
    command, its `NAME=value`, the folders where a program is looked for that has no path, and how
    many rounds it waits for what is left behind.
    """
    column = MACHINES[machine][0]
    # The code's length does not depend on the values in it: it is written twice.
    begin = _HEADER
    for _round in range(2):
        data = _Data(_DATA_AT + begin)
        steps = _steps(data, filter_bytes, socket, command, tuple(environment), folders)
        code = (_x86_code if column == 0 else _arm_code)(steps, linger)
        code += b"\0" * (-len(code) % 8)
        begin = _HEADER + len(code)
    return _headers(machine, len(code), len(data.bytes)) + code + bytes(data.bytes)


def _steps(
    data: _Data,
    filter_bytes: bytes,
    socket: int,
    command: Sequence[bytes],
    environment: Sequence[bytes],
    folders: Sequence[bytes],
) -> list[_Step]:
    program = data.put(struct.pack("=HxxxxxxQ", len(filter_bytes) // 8, data.put(filter_bytes)))
    # The descriptor comes after the header of what accompanies a message.
    control = data.put(struct.pack("=QiiiI", 20, _SOCKET, _RIGHTS, 0, 0))
    vector = data.put(struct.pack("=QQ", data.put(b"."), 1))
    message = data.put(struct.pack("=QQQQQQQ", 0, 0, vector, 1, control, 24, 0))
    waits = data.put(struct.pack("=IIQQ", 0, 0, 0, ROUND_NS))
    arguments, variables = data.texts(command), data.texts(environment)
    name = command[0]
    places = [name] if b"/" in name else [folder + b"/" + name for folder in folders]
    return [
        _Step("seccomp", (_SET_FILTER, _NEW_LISTENER, program), kept=control + 16),
        _Step("sendmsg", (socket, message, 0)),
        _Step("close", (socket,)),
        _Step("close", (-1,)),  # the descriptor that was kept
        _Step("fork", (_CHILD_ENDS, 0, 0, 0, 0), waits=waits),
        *(
            _Step("execve", (data.put(place + b"\0"), arguments, variables), needed=False)
            for place in places
        ),
        _Step("exit_group", (NOT_FOUND,)),
    ]


def _x86_code(steps: Sequence[_Step], linger: int) -> bytes:
    kept = next(step.kept for step in steps if step.kept)
    parts = []
    for step in steps:
        part = b"\xb8" + struct.pack("=I", _CALLS[step.call][0])  # mov eax, number
        for (late, register), value in zip(_X86_REGISTERS, step.arguments, strict=False):
            if value < 0:  # mov edi, [kept]
                part += b"\x8b\x3c\x25" + struct.pack("=I", kept)
            else:  # mov register, value
                part += bytes((0x48 | late, 0xB8 | register)) + struct.pack("=Q", value)
        part += b"\x0f\x05"  # syscall
        if step.kept:
            part += b"\x89\x04\x25" + struct.pack("=I", step.kept)  # mov [kept], eax
        if step.needed and step.call != "exit_group":
            part += b"\x48\x85\xc0\x0f\x88\0\0\0\0"  # test rax, rax; js to the end
        parts.append(part)
        if step.waits:
            parts.append(_x86_wait(step.waits, linger))
    last = sum(map(len, parts[:-1]))
    for at, end in enumerate(accumulate(map(len, parts))):
        if parts[at].endswith(b"\x0f\x88\0\0\0\0"):
            parts[at] = parts[at][:-4] + struct.pack("=i", last - end)
    return b"".join(parts)


def _x86_wait(place: int, linger: int) -> bytes:
    child, status, second = (struct.pack("=I", place + at) for at in (0, 4, 5))
    ask = (
        b"\xb8" + struct.pack("=I", _CALLS["wait"][0]),  # mov eax, number
        b"\x48\xc7\xc7\xff\xff\xff\xff",  # mov rdi, -1: whoever ends, for all are ours
        b"\xbe" + status,  # mov esi, status
        b"\x31\xd2\x45\x31\xd2\x0f\x05",  # xor edx, edx; xor r10d, r10d; syscall
        b"\x3b\x04\x25" + child,  # cmp eax, [child]
    )
    size = sum(map(len, ask)) + 2
    rest = b"".join(
        (
            b"\x89\x04\x25" + child,  # mov [child], eax
            *ask,
            b"\x75" + struct.pack("=b", -size),  # jne to the question
            _x86_linger(place + 8, linger),
            b"\x0f\xb6\x3c\x25" + status,  # movzx edi, byte [status]
            b"\x83\xe7\x7f\x74\x08",  # and edi, 0x7f: the signal; jz over it
            b"\x81\xc7\x80\0\0\0\xeb\x08",  # add edi, 128; jmp over the code
            b"\x0f\xb6\x3c\x25" + second,  # movzx edi, byte [status + 1]
            b"\xb8" + struct.pack("=I", _CALLS["exit_group"][0]) + b"\x0f\x05",
        )
    )
    # test eax, eax; jz: the copy goes on
    return b"\x85\xc0\x0f\x84" + struct.pack("=i", len(rest)) + rest


def _x86_linger(pause: int, rounds: int) -> bytes:
    ask = b"".join(
        (
            b"\xb8" + struct.pack("=I", _CALLS["wait"][0]),
            b"\x48\xc7\xc7\xff\xff\xff\xff\x31\xf6",  # mov rdi, -1; xor esi, esi
            b"\xba\x01\0\0\0\x45\x31\xd2\x0f\x05",  # mov edx, WNOHANG; xor r10d, r10d; syscall
        )
    )
    sleep = b"".join(
        (
            b"\xb8" + struct.pack("=I", _CALLS["nanosleep"][0]),
            b"\xbf" + struct.pack("=I", pause) + b"\x31\xf6\x0f\x05",  # mov edi, pause; …; syscall
            b"\xff\xcb",  # dec ebx
        )
    )
    out = b"\x48\x85\xc0\x78" + bytes([len(sleep) + 2])  # test rax, rax; js: nobody is left
    again = b"\x75" + struct.pack(
        "=b", -(len(ask) + len(out) + len(sleep) + 2)
    )  # jnz to the question
    return b"\xbb" + struct.pack("=I", rounds) + ask + out + sleep + again


def _arm_code(steps: Sequence[_Step], linger: int) -> bytes:
    kept = next(step.kept for step in steps if step.kept)
    lines: list[int] = []
    waiting: list[int] = []
    for step in steps:
        if step.call == "exit_group":
            for at in waiting:  # tbnz x0, #63, here
                lines[at] = 0xB7F80000 | (len(lines) - at & 0x3FFF) << 5
        lines += _arm_constant(8, _CALLS[step.call][1])
        for register, value in enumerate(step.arguments):
            if value < 0:
                lines += [*_arm_constant(9, kept), 0xB9400000 | 9 << 5 | register]  # ldr w, [x9]
            else:
                lines += _arm_constant(register, value)
        lines.append(0xD4000001)  # svc 0
        if step.kept:
            lines += [*_arm_constant(9, step.kept), 0xB9000000 | 9 << 5]  # str w0, [x9]
        if step.needed and step.call != "exit_group":
            waiting.append(len(lines))
            lines.append(0)
        if step.waits:
            lines += _arm_wait(step.waits, linger)
    return struct.pack(f"<{len(lines)}I", *lines)


def _arm_wait(place: int, linger: int) -> list[int]:
    ask = [
        *_arm_constant(8, _CALLS["wait"][1]),
        0x92800000,  # mov x0, -1
        *_arm_constant(1, place + 4),
        *_arm_constant(2, 0),
        *_arm_constant(3, 0),
        0xD4000001,  # svc 0
        0xB9400000 | 9 << 5 | 10,  # ldr w10, [x9]
        0x6B0A001F,  # cmp w0, w10
    ]
    rest = [
        *_arm_constant(9, place),
        0xB9000000 | 9 << 5,  # str w0, [x9]
        *ask,
        0x54000001 | (-len(ask) & 0x7FFFF) << 5,  # b.ne to the question
        *_arm_linger(place + 8, linger),
        0x39400000 | 4 << 10 | 9 << 5,  # ldrb w0, [x9, 4]
        0x72001801,  # ands w1, w0, 0x7f: the signal
        0x54000000 | 3 << 5,  # b.eq over it
        0x11020020,  # add w0, w1, 128
        0x14000002,  # b over the code
        0x39400000 | 5 << 10 | 9 << 5,  # ldrb w0, [x9, 5]
        *_arm_constant(8, _CALLS["exit_group"][1]),
        0xD4000001,
    ]
    return [0xB4000000 | (len(rest) + 1) << 5, *rest]  # cbz x0: the copy goes on


def _arm_linger(pause: int, rounds: int) -> list[int]:
    ask = [
        *_arm_constant(8, _CALLS["wait"][1]),
        0x92800000,  # mov x0, -1
        *_arm_constant(1, 0),
        *_arm_constant(2, 1),  # WNOHANG
        *_arm_constant(3, 0),
        0xD4000001,  # svc 0
    ]
    sleep = [
        *_arm_constant(8, _CALLS["nanosleep"][1]),
        *_arm_constant(0, pause),
        *_arm_constant(1, 0),
        0xD4000001,
        0x71000673,  # subs w19, w19, 1
    ]
    out = 0xB7F80000 | (len(sleep) + 2) << 5  # tbnz x0, 63: nobody is left
    again = 0x54000001 | (-(len(ask) + 1 + len(sleep)) & 0x7FFFF) << 5  # b.ne to the question
    return [*_arm_constant(19, rounds), *ask, out, *sleep, again]


def _arm_constant(register: int, value: int) -> list[int]:
    """Put a number of 32 bits into a register: movz, movk."""
    low, high = value & 0xFFFF, value >> 16 & 0xFFFF
    return [0xD2800000 | low << 5 | register, 0xF2A00000 | high << 5 | register]


def _headers(machine: str, code: int, data: int) -> bytes:
    """Give the ELF header and its three segments: code, data, and a stack that holds no code."""
    kind = {"x86_64": 62, "aarch64": 183}[machine]
    begin = _HEADER + code
    page = 0x10000
    elf = b"\x7fELF\x02\x01\x01" + b"\0" * 9
    elf += struct.pack(
        "<HHIQQQIHHHHHH", 2, kind, 1, _CODE_AT + _HEADER, 64, 0, 0, 64, 56, 3, 0, 0, 0
    )
    code_part = struct.pack("<IIQQQQQQ", 1, 5, 0, _CODE_AT, _CODE_AT, begin, begin, page)
    at = _DATA_AT + begin
    data_part = struct.pack("<IIQQQQQQ", 1, 6, begin, at, at, data, data, page)
    stack = struct.pack("<IIQQQQQQ", 0x6474E551, 6, 0, 0, 0, 0, 0, 16)
    return elf + code_part + data_part + stack
