"""What a hostile script tries with the kernel: calls that reach beyond its sandbox, more rights, and other processes."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import resource
import signal
import struct
from functools import partial

from fakes.attempts import ASKED, trying, writing

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
WIDE = os.uname().machine == "x86_64"


def call(number: int, *arguments: object) -> int:
    """Make a system call."""
    result = LIBC.syscall(
        *[ctypes.c_long(one) if isinstance(one, int) else one for one in (number, *arguments)]
    )
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return int(result)


def called(name: str, x86: int, arm: int | None, *arguments: object) -> None:
    """Try a system call by its number, which is another on another kind of machine."""
    number = x86 if WIDE else arm
    if number is not None:
        trying("kernel", name)(partial(call, number, *arguments))


_NEW_USER, _NEW_NS, _SIGCHLD = 0x10000000, 0x00020000, 17
_BUFFER = ctypes.create_string_buffer(256)
called("ptrace: attach", 101, 117, 16, 1, 0, 0)
called("ptrace: trace me", 101, 117, 0, 0, 0, 0)
called("process_vm_readv", 310, 270, 1, _BUFFER, 1, _BUFFER, 1, 0)
called("process_vm_writev", 311, 271, 1, _BUFFER, 1, _BUFFER, 1, 0)
called("pidfd_getfd", 438, 438, 0, 0, 0)
called("mount", 165, 40, b"none", b"/tmp", b"tmpfs", 0, 0)
called("mount: make writable", 165, 40, b"none", b"/skill", 0, 0x1020, 0)
called("umount", 166, 39, b"/skill", 2)
called("pivot_root", 155, 41, b"/scratch", b"/scratch")
called("chroot", 161, 51, b"/scratch")
called("open_tree", 428, 428, -100, b"/", 1)
called("fsopen", 430, 430, b"tmpfs", 0)
called("mount_setattr", 442, 442, -100, b"/skill", 0, _BUFFER, 32)
called("unshare: user", 272, 97, _NEW_USER)
called("unshare: mounts", 272, 97, _NEW_NS)
called("unshare: network", 272, 97, 0x40000000)
called("clone: user", 56, 220, _NEW_USER | _SIGCHLD, 0, 0, 0, 0)
called(
    "clone3: user",
    435,
    435,
    struct.pack("=11Q", _NEW_USER, 0, 0, 0, _SIGCHLD, 0, 0, 0, 0, 0, 0),
    88,
)
called("setns", 308, 268, 0, 0)
called("keyctl", 250, 219, 0, -4, 1)
called("add_key", 248, 217, b"user", b"x", b"y", 1, -4)
called("request_key", 249, 218, b"user", b"x", 0, -4)
called("io_uring_setup", 425, 425, 8, _BUFFER)
called("bpf", 321, 280, 0, _BUFFER, 128)
called("perf_event_open", 298, 241, _BUFFER, 0, -1, -1, 0)
called("userfaultfd", 323, 282, 1)
called("kexec_load", 246, 104, 0, 0, 0, 0)
called("init_module", 175, 105, _BUFFER, 16, b"")
called("swapon", 167, 224, b"/scratch/own", 0)
called("sethostname", 170, 161, b"x", 1)
called("clock_settime", 227, 112, 0, _BUFFER)
called("syslog", 103, 116, 3, _BUFFER, 100)
called("open_by_handle_at", 304, 265, -100, _BUFFER, 0)
called("personality", 135, 92, 0x0040000)
called("fanotify_init", 300, 262, 0, 0)
called("memfd_create", 319, 279, b"x", 0)
called("shmget", 29, 194, 0, 4096, 0o1600)
called("vmsplice", 278, 75, 1, _BUFFER, 0, 0)
called("io_setup", 206, 0, 1, _BUFFER)
called("a call that is newer than the filter", 500, 500)
called("getpid by the numbers of x32", 0x40000000 | 39, None)


@trying("kernel")
def setuid() -> None:
    os.setuid(0)


@trying("kernel")
def setgroups() -> None:
    os.setgroups([0])


@trying("kernel")
def give_the_set_user_bit() -> None:
    writing("/scratch/own")
    os.chmod("/scratch/own", 0o4755)  # noqa: S103 - that is the attempt


@trying("kernel")
def a_device() -> None:
    os.mknod("/scratch/device", 0o020666, os.makedev(1, 1))


@trying("kernel")
def keys_into_a_terminal() -> object:
    return fcntl.ioctl(0, 0x5412, b"x")


@trying("kernel")
def a_terminal() -> object:
    return os.open("/dev/tty", os.O_RDWR)


@trying("kernel")
def a_higher_limit() -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard + 1))
    except ValueError as error:  # which is how Python puts it
        raise PermissionError(errno.EPERM, "limits are only ever lowered") from error


@trying("kernel")
def a_better_place_in_the_queue() -> object:
    return os.nice(-5)


@trying("kernel")
def run_what_has_the_set_user_bit() -> object:
    """Run a program that makes anybody root; nobody is, with no new privileges."""
    program = next(
        path
        for path in ("/usr/bin/su", "/bin/su", "/usr/bin/passwd", "/usr/bin/mount")
        if os.path.exists(path)
    )
    child = os.fork()
    if child == 0:
        os.close(1)
        os.close(2)
        os.execv(program, [program, "-c", "touch /scratch/was-root"])  # noqa: S606
    os.waitpid(child, 0)
    os.stat("/scratch/was-root")
    return "root"


@trying("kernel")
def a_call_by_the_old_door() -> object:
    """Ask for the process's number by `int 0x80`, whose numbers no filter for this machine knows; give the signal that it got."""
    if not WIDE:
        raise OSError(errno.ENOSYS, "another machine")
    child = os.fork()
    if child == 0:
        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
        ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
        os._exit(0)
    return os.WTERMSIG(os.waitpid(child, 0)[1])


@trying("kernel")
def signal_a_process_outside() -> None:
    os.kill(ASKED["victim"], signal.SIGKILL)


@trying("kernel")
def signal_everybody() -> object:
    """Kill all that can be reached; this process itself is spared by the kernel."""
    child = os.fork()
    if child == 0:
        signal.pause()
    os.kill(-1, signal.SIGKILL)
    return os.WTERMSIG(os.waitpid(child, 0)[1])
