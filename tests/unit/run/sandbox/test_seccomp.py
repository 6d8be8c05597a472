"""The filter of system calls, run by an interpreter of its own: what is refused, what is not, and on what the answer depends."""

from __future__ import annotations

import struct

import pytest

from metier.errors import SandboxError
from metier.run.sandbox.seccomp import (
    ALLOW,
    EAFNOSUPPORT,
    ENOSYS,
    EPERM,
    ERRNO,
    KILL,
    LAST_KNOWN_CALL,
    MACHINES,
    NUMBERS,
    filter_program,
    rules,
)

ARCHITECTURE = {machine: value for machine, (_column, value) in MACHINES.items()}
X86, ARM = "x86_64", "aarch64"
REFUSED, UNKNOWN, NO_FAMILY, DONE = ERRNO | EPERM, ERRNO | ENOSYS, ERRNO | EAFNOSUPPORT, ERRNO
USUAL = {
    X86: {
        "read": 0,
        "write": 1,
        "close": 3,
        "stat": 4,
        "mmap": 9,
        "mprotect": 10,
        "brk": 12,
        "rt_sigaction": 13,
        "pipe": 22,
        "dup2": 33,
        "nanosleep": 35,
        "getpid": 39,
        "connect": 42,
        "bind": 49,
        "fork": 57,
        "vfork": 58,
        "execve": 59,
        "exit": 60,
        "wait4": 61,
        "kill": 62,
        "fcntl": 72,
        "ftruncate": 77,
        "getcwd": 79,
        "mkdir": 83,
        "unlink": 87,
        "symlink": 88,
        "setsid": 112,
        "prctl": 157,
        "arch_prctl": 158,
        "setrlimit": 160,
        "futex": 202,
        "getdents64": 217,
        "exit_group": 231,
        "epoll_wait": 232,
        "inotify_init1": 294,
        "prlimit64": 302,
        "seccomp": 317,
        "getrandom": 318,
        "statx": 332,
        "rseq": 334,
        "pidfd_open": 434,
        "close_range": 436,
        "faccessat2": 439,
        "landlock_create_ruleset": 444,
        "futex_waitv": 449,
    },
    ARM: {
        "read": 63,
        "write": 64,
        "close": 57,
        "mmap": 222,
        "mprotect": 226,
        "brk": 214,
        "rt_sigaction": 134,
        "pipe2": 59,
        "dup3": 24,
        "nanosleep": 101,
        "getpid": 172,
        "connect": 203,
        "bind": 200,
        "execve": 221,
        "exit": 93,
        "wait4": 260,
        "kill": 129,
        "fcntl": 25,
        "ftruncate": 46,
        "getcwd": 17,
        "mkdirat": 34,
        "unlinkat": 35,
        "symlinkat": 36,
        "setsid": 157,
        "prctl": 167,
        "setrlimit": 164,
        "futex": 98,
        "getdents64": 61,
        "exit_group": 94,
        "epoll_pwait": 22,
        "inotify_init1": 26,
        "prlimit64": 261,
        "seccomp": 277,
        "getrandom": 278,
        "statx": 291,
        "rseq": 293,
        "pidfd_open": 434,
        "close_range": 436,
        "faccessat2": 439,
        "landlock_create_ruleset": 444,
        "futex_waitv": 449,
    },
}
GARBAGE = 0xDEADBEEF00000000


def interpreted(code: bytes, number: int, architecture: int, arguments: tuple[int, ...]) -> int:
    """Answer as the kernel's own interpreter of such filters does; a jump out of the program is an error."""
    data = struct.pack("<iIQ6Q", number, architecture, 0, *arguments, *(0,) * (6 - len(arguments)))
    lines = list(struct.iter_unpack("<HBBI", code))
    held, at = 0, 0
    while True:
        kind, met, unmet, value = lines[at]
        at += 1
        match kind:
            case 0x20:
                (held,) = struct.unpack_from("<I", data, value)
            case 0x54:
                held &= value
            case 0x05:
                at += value
            case 0x15:
                at += met if held == value else unmet
            case 0x25:
                at += met if held > value else unmet
            case 0x06:
                return int(value)
            case _:
                raise AssertionError(f"no such instruction: {kind:#x}")


def answer(
    machine: str, call: str | int, *arguments: int, network: bool = False, sockets: bool = True
) -> int:
    number = call if isinstance(call, int) else NUMBERS[call][MACHINES[machine][0]]
    assert number is not None
    return interpreted(
        filter_program(machine, network=network, sockets=sockets),
        number,
        ARCHITECTURE[machine],
        arguments,
    )


def has(machine: str, call: str) -> bool:
    return NUMBERS[call][MACHINES[machine][0]] is not None


WHOLE = sorted(rule.call for rule in rules(network=False) if not rule.tests and rule.error == EPERM)


@pytest.mark.parametrize("machine", [X86, ARM])
def test_every_call_that_is_refused_whole_is_refused_with_any_arguments(machine: str) -> None:
    calls = [call for call in WHOLE if has(machine, call)]

    answers = {
        answer(machine, call, *arguments) for call in calls for arguments in ((), (2**64 - 1,) * 6)
    }

    assert {REFUSED} == answers
    assert len(calls) > 50


@pytest.mark.parametrize(
    "call",
    [
        "ptrace",
        "process_vm_readv",
        "process_vm_writev",
        "pidfd_getfd",
        "kcmp",
        "mount",
        "umount2",
        "pivot_root",
        "move_mount",
        "open_tree",
        "fsopen",
        "fsconfig",
        "fsmount",
        "fspick",
        "mount_setattr",
        "unshare",
        "setns",
        "chroot",
        "keyctl",
        "add_key",
        "request_key",
        "bpf",
        "perf_event_open",
        "userfaultfd",
        "io_uring_setup",
        "io_uring_enter",
        "io_uring_register",
        "kexec_load",
        "kexec_file_load",
        "init_module",
        "finit_module",
        "delete_module",
        "reboot",
        "swapon",
        "swapoff",
        "acct",
        "quotactl",
        "open_by_handle_at",
        "name_to_handle_at",
        "settimeofday",
        "clock_settime",
        "clock_adjtime",
        "adjtimex",
        "sethostname",
        "setdomainname",
        "syslog",
    ],
)
def test_what_reaches_beyond_a_sandbox_is_refused_on_both_machines(call: str) -> None:
    answers = [answer(machine, call) for machine in (X86, ARM)]

    assert [REFUSED, REFUSED] == answers


@pytest.mark.parametrize("machine", [X86, ARM])
@pytest.mark.parametrize("network", [False, True])
def test_usual_calls_are_allowed(machine: str, network: bool) -> None:
    refused = [
        name
        for name, number in USUAL[machine].items()
        if answer(machine, number, network=network) != ALLOW
    ]

    assert [] == refused


@pytest.mark.parametrize("machine", [X86, ARM])
def test_only_calls_of_the_table_are_refused(machine: str) -> None:
    code, column = filter_program(machine, network=False), MACHINES[machine][0]
    listed = {numbers[column] for numbers in NUMBERS.values()}

    refused = {
        number
        for number in range(LAST_KNOWN_CALL + 1)
        if interpreted(code, number, ARCHITECTURE[machine], (2**64 - 1,) * 6) != ALLOW
    }

    assert set() == refused - listed


@pytest.mark.parametrize(
    ("machine", "other"),
    [(X86, ARCHITECTURE[ARM]), (ARM, ARCHITECTURE[X86]), (X86, 0x40000003), (ARM, 0x40000028)],
)
def test_a_call_made_for_another_architecture_ends_the_process(machine: str, other: int) -> None:
    result = interpreted(filter_program(machine, network=True), 20, other, ())

    assert KILL == result


@pytest.mark.parametrize(
    "number", [LAST_KNOWN_CALL + 1, 500, 512, 0x40000000, 0x40000000 | 39, 0x40000000 | 101, -1]
)
@pytest.mark.parametrize("machine", [X86, ARM])
def test_x32_calls_and_those_that_came_later_do_not_exist(machine: str, number: int) -> None:
    result = answer(machine, number)

    assert UNKNOWN == result


PARTLY = [
    # a thread, a process, and each kind of namespace
    ("clone", (0x003D0F00,), ALLOW),
    ("clone", (0x01200011,), ALLOW),
    *(
        ("clone", (flag | 17,), REFUSED)
        for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
    ),
    ("clone", (GARBAGE | 0x10000011,), REFUSED),
    ("clone3", (), UNKNOWN),
    ("openat2", (), UNKNOWN),
    ("memfd_create", (), UNKNOWN),
    ("memfd_secret", (), UNKNOWN),
    ("shmget", (), UNKNOWN),
    ("vmsplice", (), UNKNOWN),
    ("io_setup", (), UNKNOWN),
    ("personality", (0xFFFFFFFF,), ALLOW),
    ("personality", (0,), ALLOW),
    ("personality", (0x40000,), REFUSED),
    ("personality", (8,), REFUSED),
    # TIOCSTI, TIOCLINUX; the kernel looks at the low half only, so the filter must
    ("ioctl", (0, 0x5412), REFUSED),
    ("ioctl", (0, GARBAGE | 0x5412), REFUSED),
    ("ioctl", (0, 0x541C), REFUSED),
    ("ioctl", (0, 0x5401), ALLOW),
    ("ioctl", (0, 0x5413), ALLOW),
    ("chmod", (0, 0o4755), REFUSED),
    ("chmod", (0, 0o1777), ALLOW),
    ("fchmod", (3, 0o2755), REFUSED),
    ("fchmod", (3, 0o755), ALLOW),
    ("fchmodat", (0, 0, 0o6755), REFUSED),
    ("fchmodat", (0o4000, 0o4000, 0o644), ALLOW),
    ("fchmodat2", (0, 0, 0o4755), REFUSED),
    ("fchmodat2", (0, 0, 0o755), ALLOW),
    ("creat", (0, 0o4755), REFUSED),
    ("creat", (0, 0o644), ALLOW),
    # without O_CREAT or O_TMPFILE nobody has set the mode
    ("open", (0, 0o101, 0o4755), REFUSED),
    ("open", (0, 0o101, 0o644), ALLOW),
    ("open", (0, 0, 0o7777), ALLOW),
    ("openat", (0, 0, 0o101, 0o4755), REFUSED),
    ("openat", (0, 0, 0o20200002, 0o2755), REFUSED),
    ("openat", (0, 0, 0o101, 0o666), ALLOW),
    ("openat", (0, 0, 0, 0o7777), ALLOW),
    ("mknod", (0, 0o020666), REFUSED),
    ("mknod", (0, 0o010644), ALLOW),
    ("mknodat", (0, 0, 0o060666), REFUSED),
    ("mknodat", (0, 0, 0o104755), REFUSED),
    ("mknodat", (0, 0, 0o010644), ALLOW),
    ("mknodat", (0, 0, 0o140755), ALLOW),
    # unix, inet, inet6; netlink, packet, alg, vsock
    *(("socket", (family, 1, 0), ALLOW) for family in (1, 2, 10)),
    *(("socket", (family, 3, 0), NO_FAMILY) for family in (0, 16, 17, 38, 40, 31, 44)),
    ("socket", (GARBAGE | 40, 1, 0), NO_FAMILY),
    *(("socket", (2, 1, protocol), ALLOW) for protocol in (0, 6, 17)),
    *(("socket", (2, 1, protocol), REFUSED) for protocol in (33, 132, 262)),
    ("socketpair", (1, 1, 0), ALLOW),
    ("socketpair", (1, 2, 0), ALLOW),
    ("socketpair", (30, 1, 0), NO_FAMILY),
    # SO_SNDBUF and SO_RCVBUF of a socket itself, SO_SNDBUFFORCE, SO_RCVBUFFORCE; SO_REUSEADDR, and a number that means another thing to TCP
    *(("setsockopt", (3, 1, option, 0x7FFE_0000_1000, 4), DONE) for option in (7, 8, GARBAGE | 7)),
    *(("setsockopt", (3, 1, option, 0x7FFE_0000_1000, 4), REFUSED) for option in (32, 33)),
    *(
        ("setsockopt", (3, level, option, 0x7FFE_0000_1000, 4), ALLOW)
        for level, option in ((1, 2), (6, 7), (6, 8), (0, 8))
    ),
    # the limit of core dumps is only said to be changed, and can be asked for; a pointer's low half may be all zeros
    ("setrlimit", (4, 0x7FFE_0000_1000), DONE),
    ("setrlimit", (7, 0x7FFE_0000_1000), ALLOW),
    ("prlimit64", (0, 4, 0x7FFE_0000_1000, 0), DONE),
    ("prlimit64", (0, 4, 0x7FFE_0000_0000, 0), DONE),
    ("prlimit64", (0, 4, 0x1000, 0), DONE),
    ("prlimit64", (0, 4, 0, 0x7FFE_0000_1000), ALLOW),
    ("prlimit64", (0, 7, 0x7FFE_0000_1000, 0), ALLOW),
]


@pytest.mark.parametrize("machine", [X86, ARM])
def test_a_call_that_is_refused_in_part_depends_on_its_arguments(machine: str) -> None:
    rows = [row for row in PARTLY if has(machine, row[0])]

    answers = [
        (call, arguments, answer(machine, call, *arguments)) for call, arguments, _expected in rows
    ]

    assert rows == answers


@pytest.mark.parametrize(
    ("network", "sockets", "family", "expected"),
    [
        (True, True, 16, ALLOW),
        (False, True, 16, NO_FAMILY),
        (True, False, 1, NO_FAMILY),
        (True, False, 2, ALLOW),
        (True, True, 17, NO_FAMILY),
        (True, True, 40, NO_FAMILY),
    ],
)
def test_netlink_comes_with_the_network_and_unix_sockets_can_be_left_out(
    network: bool, sockets: bool, family: int, expected: int
) -> None:
    answers = [
        answer(machine, "socket", family, 1, 0, network=network, sockets=sockets)
        for machine in (X86, ARM)
    ]

    assert [expected, expected] == answers


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (1, ALLOW),
        (5, ALLOW),
        (1 | 0x80800, ALLOW),
        (GARBAGE | 5, ALLOW),
        *((kind, REFUSED) for kind in (0, 2, 3, 4, 6, 2 | 0x80000, GARBAGE | 3, 0x12)),
    ],
)
@pytest.mark.parametrize("network", [False, True])
def test_only_pairs_that_stay_pairs_are_left_where_unix_sockets_are_left_out(
    kind: int, expected: int, network: bool
) -> None:
    answers = [
        answer(machine, "socketpair", 1, kind, 0, network=network, sockets=False)
        for machine in (X86, ARM)
    ]

    assert [expected, expected] == answers


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [(0, ALLOW), (1, REFUSED), (6, REFUSED), (16, REFUSED), (17, REFUSED), (58, REFUSED)],
)
def test_of_netlink_only_addresses_and_routes_come_with_the_network(
    protocol: int, expected: int
) -> None:
    answers = [answer(machine, "socket", 16, 3, protocol, network=True) for machine in (X86, ARM)]

    assert [expected, expected] == answers


@pytest.mark.parametrize("machine", ["riscv64", "i686", "armv7l", "", "X86_64"])
def test_a_machine_without_a_table_is_refused(machine: str) -> None:
    with pytest.raises(SandboxError) as caught:
        filter_program(machine, network=False)

    assert "sandbox-machine" == caught.value.code


@pytest.mark.parametrize("machine", [X86, ARM])
def test_a_filter_is_no_longer_than_the_kernel_takes(machine: str) -> None:
    code = filter_program(machine, network=True)

    assert 0 == len(code) % 8
    assert len(code) // 8 <= 4096
