"""Which system calls a script may make: a filter for the kernel, as bytes. Pure.

Everything is allowed that nobody has a reason to refuse: a script is any program at all. Refused is
what reaches beyond the sandbox's own namespaces, what has been the way out of sandboxes before, and
what takes memory that no limit counts. Most of it needs privileges that a script does not have; it
is refused here as well, so that a mistake in the kernel is not enough.

Who is watched has two filters. The kernel asks the watcher about whatever the second one names: the
start of a program and a connection, which it lets go on, a pause, which it may cut short, and every
refusal that is worth telling, which it answers with the same error as the kernel would. Where the watcher is gone the kernel
refuses all of that by itself.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NONE, EPERM, ENOSYS, EAFNOSUPPORT = 0, 1, 38, 97
ALLOW = 0x7FFF0000
ERRNO = 0x00050000
KILL = 0x80000000
ASK = 0x7FC00000
"""What a filter answers; the number of an error is added to the second. The last has the watcher
asked."""
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Which column of the table a machine has, and what the kernel calls it in a filter."""
LAST_KNOWN_CALL = 466
"""The newest call that was looked at. What comes after it is answered as by a kernel that has never
heard of it, and so is anything of x32, whose numbers begin far above."""

_NEW_NAMESPACES = 0x7E020000
_SET_ID = 0o6000
_MAKES_FILE = 0o20000100
"""O_CREAT, and the bit that is O_TMPFILE's own: without one of them the mode of `open` is whatever
lay in the register."""
_KIND = 0o170000
_DEVICES = (0o020000, 0o060000)
_TERMINAL = (0x5412, 0x541C, 0x541D, 0x5423)
"""TIOCSTI and TIOCLINUX push keys into a terminal, TIOCCONS and TIOCSETD take over a console or a
line."""
_ALL = 0xFFFFFFFF
_CORE = 4
"""RLIMIT_CORE."""
_EQUAL = 0x15
_ABOVE = 0x25
"""How a line of a filter begins that jumps on a comparison."""
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_PROTOCOLS = (0, 1, 6, 17, 58)
"""Whatever the family takes itself, ICMP, TCP, UDP, ICMPv6."""
_CONNECTED = (1, 5)
"""Streams and packets in their order: a pair of such sockets stays a pair. One for single messages
can send to any name."""
_KIND_OF_SOCKET = 0xF
"""The rest of the argument is flags."""
_SOCKET = 1
_BUFFERS = (7, 8)
_FORCED = (32, 33)
"""SOL_SOCKET, and what sets how much may wait in a socket: SO_SNDBUF and SO_RCVBUF, and for who is
privileged SO_…BUFFORCE."""


class ArgumentTest(NamedTuple):
    """A question about an argument of a call: whether a half of it, masked, is one of some values;
    or none of them.
    """

    argument: int
    mask: int
    values: tuple[int, ...]
    among: bool = True
    high: bool = False
    """Whether it is about the upper half, which only pointers use."""


class SyscallRule(NamedTuple):
    """A call that is not made when every test holds, or where there is none; and what is answered:
    without an error, success.
    """

    call: str
    tests: tuple[ArgumentTest, ...] = ()
    error: int = EPERM


def _some(argument: int, mask: int) -> ArgumentTest:
    """Ask whether any bit of a mask is set."""
    return ArgumentTest(argument, mask, (0,), among=False)


NUMBERS: dict[str, tuple[int | None, int | None]] = {
    # Other processes: their memory, their descriptors, their pages.
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "pidfd_getfd": (438, 438),
    "kcmp": (312, 272), "process_madvise": (440, 440), "migrate_pages": (256, 238), "move_pages": (279, 239),
    # Mounts, old way and new; another root.
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "statmount": (457, 457), "listmount": (458, 458),
    # Namespaces: in a new user namespace a script would be root again, with all of the kernel that
    # only root can reach.
    "unshare": (272, 97), "setns": (308, 268), "clone": (56, 220), "clone3": (435, 435),
    # Keys are kept by user, not by namespace.
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    # Programs in the kernel, and ways to stop it in the middle of its work: most escapes of the
    # last years began here.
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "fanotify_init": (300, 262), "fanotify_mark": (301, 263),
    "lookup_dcookie": (212, 18),
    # The machine itself: its kernel, its swap, its disks, its ports.
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "create_module": (174, None), "get_kernel_syms": (177, None), "query_module": (178, None),
    "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60),
    "quotactl_fd": (443, 443), "vhangup": (153, 58), "nfsservctl": (180, 42), "uselib": (134, None), "_sysctl": (156, None),
    "sysfs": (139, None), "ustat": (136, None), "iopl": (172, None), "ioperm": (173, None), "modify_ldt": (154, None),
    "syslog": (103, 116), "sethostname": (170, 161), "setdomainname": (171, 162),
    # The clock is one for the whole machine.
    "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266), "adjtimex": (159, 171),
    # Files by a handle, past every folder that would be in the way.
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264),
    # Memory that belongs to no process, so that no limit of a process counts it.
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190),
    "vmsplice": (278, 75), "io_setup": (206, 0),
    # Refused for some arguments only.
    "personality": (135, 92), "ioctl": (16, 29), "socket": (41, 198), "socketpair": (53, 199),
    "setsockopt": (54, 208), "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "open": (2, None), "creat": (85, None),
    "openat": (257, 56), "openat2": (437, 437), "mknod": (133, None), "mknodat": (259, 33), "setrlimit": (160, 164),
    "prlimit64": (302, 261),
}  # fmt: skip
"""The number of each call that a rule names: on x86_64 and on aarch64."""

WATCHED_CALLS: dict[str, tuple[int, int]] = {
    "execve": (59, 221), "execveat": (322, 281), "connect": (42, 203), "bind": (49, 200),
}  # fmt: skip
"""The calls that a watcher is told of and that then go on; numbers as above."""
PAUSES: dict[str, tuple[int | None, int | None]] = {
    "nanosleep": (35, 101), "clock_nanosleep": (230, 115), "select": (23, None), "pselect6": (270, 72),
    "poll": (7, None), "ppoll": (271, 73),
}  # fmt: skip
"""The calls that do nothing but wait, where the last four are given nothing to wait for; numbers as
above. Whoever watches may say that the time has passed."""
_WAITS_FOR = {"select": 0, "pselect6": 0, "poll": 1, "ppoll": 1}
"""Which argument says how many descriptors a call waits for."""
_TOLD_ERRORS = (EPERM, EAFNOSUPPORT)
"""Refusals with these are worth telling. What is answered as by an older kernel, C libraries try
all the time."""

_MODES = (
    ("chmod", 1),
    ("fchmod", 1),
    ("fchmodat", 2),
    ("fchmodat2", 2),
    ("creat", 1),
    ("mknod", 1),
    ("mknodat", 2),
)
"""Calls that give a file its mode, and which argument that is."""
_PARTLY: tuple[SyscallRule, ...] = (
    # Threads and processes are made with it; only the flags tell. Those of clone3 lie in memory,
    # where no filter can look, so it
    # is not there at all, and every C library falls back.
    SyscallRule("clone", (_some(0, _NEW_NAMESPACES),)),
    SyscallRule("clone3", error=ENOSYS),
    # Asking which it is, or for the usual one; others switch off what makes addresses hard to
    # guess.
    SyscallRule("personality", (ArgumentTest(0, _ALL, (0, _ALL), among=False),)),
    SyscallRule("ioctl", (ArgumentTest(1, _ALL, _TERMINAL),)),
    # A file that runs as its owner, left in a folder that was lent, outlives the sandbox; and its
    # owner may be root. The mode
    # that openat2 takes cannot be seen, so it is not there.
    *(SyscallRule(name, (_some(mode, _SET_ID),)) for name, mode in _MODES),
    SyscallRule("open", (_some(1, _MAKES_FILE), _some(2, _SET_ID))),
    SyscallRule("openat", (_some(2, _MAKES_FILE), _some(3, _SET_ID))),
    SyscallRule("openat2", error=ENOSYS),
    SyscallRule("mknod", (ArgumentTest(1, _KIND, _DEVICES),)),
    SyscallRule("mknodat", (ArgumentTest(2, _KIND, _DEVICES),)),
    # The limit of a core dump is 1, which alone keeps the kernel from handing it to a program
    # outside, as root; 0 would not. Who
    # sets it, mostly to 0, is told that it is done; who asks for it, with no new value, gets an
    # answer.
    SyscallRule("setrlimit", (ArgumentTest(0, _ALL, (_CORE,)),), NONE),
    SyscallRule("prlimit64", (ArgumentTest(1, _ALL, (_CORE,)), _some(2, _ALL)), NONE),
    SyscallRule(
        "prlimit64",
        (ArgumentTest(1, _ALL, (_CORE,)), ArgumentTest(2, _ALL, (0,), among=False, high=True)),
        NONE,
    ),
    # What waits in a socket belongs to no process either, and is counted by the size that sockets
    # have from the start. A kernel
    # gives less than was asked for without a word too, so who asks is told that it is done.
    SyscallRule(
        "setsockopt", (ArgumentTest(1, _ALL, (_SOCKET,)), ArgumentTest(2, _ALL, _BUFFERS)), NONE
    ),
    SyscallRule("setsockopt", (ArgumentTest(1, _ALL, (_SOCKET,)), ArgumentTest(2, _ALL, _FORCED))),
    # As on a kernel that is built without them: who asks for these has another way. A page that
    # vmsplice has put into a pipe stays
    # when its process has let go of it, and a huge one counts as a small one; of what io_setup
    # takes there is one store for all.
    *(
        SyscallRule(name, error=ENOSYS)
        for name in (
            "memfd_create",
            "memfd_secret",
            "shmget",
            "msgget",
            "semget",
            "vmsplice",
            "io_setup",
        )
    ),
)


def rules(*, network: bool, sockets: bool = True) -> tuple[SyscallRule, ...]:
    """Give every rule, in order: whole calls first."""
    # Netlink tells a C library which addresses there are; without a network it has nothing to tell.
    families = (*((_UNIX,) if sockets else ()), _INET, _INET6, *((_NETLINK,) if network else ()))
    partly = (
        *_PARTLY,
        SyscallRule("socket", (ArgumentTest(0, _ALL, families, among=False),), EAFNOSUPPORT),
        SyscallRule("socket", (ArgumentTest(2, _ALL, _PROTOCOLS, among=False),)),
        # Addresses and routes are its protocol 0; the others, whose numbers may be those of ICMP or
        # TCP, configure the kernel.
        SyscallRule("socket", (ArgumentTest(0, _ALL, (_NETLINK,)), _some(2, _ALL))),
        SyscallRule("socketpair", (ArgumentTest(0, _ALL, (_UNIX,), among=False),), EAFNOSUPPORT),
        *(
            ()
            if sockets
            else (
                SyscallRule(
                    "socketpair", (ArgumentTest(1, _KIND_OF_SOCKET, _CONNECTED, among=False),)
                ),
            )
        ),
    )
    named = {rule.call for rule in partly}
    return (*(SyscallRule(name) for name in NUMBERS if name not in named), *partly)


@lru_cache(maxsize=4)
def filter_program(
    machine: str, *, network: bool, sockets: bool = True, watched: bool = False
) -> bytes:
    """Give the filter for a machine, `x86_64` or `aarch64`.

    Without `sockets` AF_UNIX ones are made in pairs that are connected for good, so that no name
    leads out of the sandbox: for a script that sees folders in which somebody may listen, or shares
    the machine's network, and so its abstract names, where Landlock does not keep it from them.
    With `watched` it leaves out what `watch_program` asks the watcher about.
    """
    column, lines = _beginning(machine)
    for rule in rules(network=network, sockets=sockets):
        number = NUMBERS[rule.call][column]
        if number is not None and not (watched and rule.error in _TOLD_ERRORS):
            lines += _refusal(number, rule, ERRNO | rule.error)
    return b"".join((*lines, _answer(ALLOW)))


@lru_cache(maxsize=1)
def watch_program(machine: str) -> bytes:
    """Give the second filter of who is watched: what the watcher is asked about."""
    column, lines = _beginning(machine)
    for numbers in WATCHED_CALLS.values():
        lines += [_jump(_EQUAL, numbers[column], 0, 1), _answer(ASK)]
    for name, places in PAUSES.items():
        at = places[column]
        if at is not None:
            lines += _refusal(at, _pause(name), ASK)
    for rule in rules(network=True):
        number = NUMBERS[rule.call][column]
        if number is not None and rule.error in _TOLD_ERRORS:
            lines += _refusal(number, rule, ASK)
    return b"".join((*lines, _answer(ALLOW)))


def asked_call(machine: str, number: int, arguments: Sequence[int]) -> tuple[str, int]:
    """Give the name of a call that the watcher was asked about, and the error to answer with; 0
    where it goes on.
    """
    column = MACHINES[machine][0]
    for name, numbers in WATCHED_CALLS.items():
        if numbers[column] == number:
            return name, NONE
    for name, places in PAUSES.items():
        if places[column] == number:
            return name, NONE
    for rule in rules(network=True):
        named = NUMBERS[rule.call][column] == number and rule.error in _TOLD_ERRORS
        if named and all(_holds(test, arguments) for test in rule.tests):
            return rule.call, rule.error
    return f"call {number}", EPERM


def _pause(name: str) -> SyscallRule:
    """Give the rule of a call that only waits."""
    at = _WAITS_FOR.get(name)
    return SyscallRule(name, () if at is None else (ArgumentTest(at, _ALL, (0,)),), NONE)


def _holds(test: ArgumentTest, arguments: Sequence[int]) -> bool:
    half = arguments[test.argument] >> (32 if test.high else 0) & _ALL
    return ((half & test.mask) in test.values) == test.among


def _beginning(machine: str) -> tuple[int, list[bytes]]:
    """Give a machine's column, and the first lines of every filter for it."""
    if machine not in MACHINES:
        raise SandboxError(
            f"there is no filter of system calls for this kind of machine: {machine}",
            code="sandbox-machine",
            hint=f"scripts can be run on {' and '.join(sorted(MACHINES))}",
        )
    column, architecture = MACHINES[machine]
    # The offsets are those of struct seccomp_data: the call's number, the architecture.
    lines = [
        _load(4),
        _jump(_EQUAL, architecture, 1, 0),
        _answer(KILL),
        _load(0),
        _jump(_ABOVE, LAST_KNOWN_CALL, 0, 1),
        _answer(ERRNO | ENOSYS),
    ]
    return column, lines


def _refusal(number: int, rule: SyscallRule, answer: int) -> list[bytes]:
    """Give a rule's lines: the answer, where it is this call and every test holds; otherwise on
    behind them.
    """
    lines = [_answer(answer)]
    for test in reversed(rule.tests):
        lines = [*_tested(test, len(lines)), *lines]
    # A test has loaded an argument over the number, which the rules that follow compare.
    again = [_load(0)] if rule.tests else []
    return [_jump(_EQUAL, number, 0, len(lines) + len(again)), *lines, *again]


def _tested(test: ArgumentTest, left: int) -> Iterator[bytes]:
    """Give a test's lines: on to the next line where it holds, and over so many lines more where it
    does not.
    """
    yield _load(
        16 + 8 * test.argument + (4 if test.high else 0)
    )  # both machines store the low half first
    if test.mask != _ALL:
        yield struct.pack("=HBBI", 0x54, 0, 0, test.mask)
    for after in reversed(range(len(test.values))):
        value = test.values[len(test.values) - 1 - after]
        yield _jump(_EQUAL, value, after + (1 if test.among else left), 0)
    if test.among:
        yield struct.pack("=HBBI", 0x05, 0, 0, left)


def _load(offset: int) -> bytes:
    return struct.pack("=HBBI", 0x20, 0, 0, offset)


def _jump(kind: int, value: int, met: int, unmet: int) -> bytes:
    return struct.pack("=HBBI", kind, met, unmet, value)


def _answer(value: int) -> bytes:
    return struct.pack("=HBBI", 0x06, 0, 0, value)
