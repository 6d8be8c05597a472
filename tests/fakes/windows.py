"""Runs metier in a process that lacks what Windows lacks, as far as that can be had on another system.

Gone are the modules, functions and flags that only Unix has, file names relative to a descriptor, and opening a folder.
Paths stay as they are here: drives and backslashes cannot be simulated.
"""

from __future__ import annotations

import builtins
import ctypes
import multiprocessing
import os
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import sys
import tempfile
from types import ModuleType
from typing import Any

LOADED_BEFORE = (ctypes, multiprocessing, shutil, signal, socket, ssl, subprocess, tempfile)
"""What decides by the platform while it is imported, and has to be imported as on this one."""
MODULES = {"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"}
FUNCTIONS = [
    "chown",
    "fchmod",
    "fchown",
    "fork",
    "forkpty",
    "getegid",
    "geteuid",
    "getgid",
    "getpgid",
    "getuid",
    "killpg",
    "lchown",
    "mkfifo",
    "posix_spawn",
    "setsid",
    "statvfs",
    "sync",
    "uname",
    "wait3",
    "wait4",
    "geteuid",
    "pread",
    "pwrite",
]
FLAGS = ["O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_PATH", "O_TMPFILE"]
TAKE_DESCRIPTORS = [
    "open",
    "stat",
    "lstat",
    "unlink",
    "rename",
    "mkdir",
    "rmdir",
    "readlink",
    "symlink",
    "link",
    "chmod",
    "utime",
]


def strip() -> None:
    """Take away what Windows has not."""
    sys.platform = "win32"
    for name in (*FUNCTIONS, *FLAGS):
        if hasattr(os, name):
            delattr(os, name)
    for name in ("SIGHUP", "SIGKILL", "SIGALRM", "SIGCHLD", "SIGPIPE"):
        if hasattr(signal, name):
            delattr(signal, name)
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    locks = ModuleType("msvcrt")
    locks.__dict__.update(LK_NBLCK=2, LK_UNLCK=0, locking=lambda _file, _mode, _count: None)
    sys.modules["msvcrt"] = locks
    for name in TAKE_DESCRIPTORS:
        setattr(os, name, _by_path_alone(getattr(os, name)))
    os.supports_dir_fd = set()
    os.supports_fd = set()
    _keep_folders_closed()


def _by_path_alone(call: Any) -> Any:
    def checked(*words: Any, **options: Any) -> Any:
        if any(options.get(name) is not None for name in ("dir_fd", "src_dir_fd", "dst_dir_fd")):
            raise NotImplementedError("dir_fd unavailable on this platform")
        return call(*words, **options)

    return checked


def _keep_folders_closed() -> None:
    """Refuse to open a folder as a file, as Windows does."""
    plain = os.open

    def closed(path: Any, *words: Any, **options: Any) -> int:
        file = plain(path, *words, **options)
        if stat.S_ISDIR(os.fstat(file).st_mode):
            os.close(file)
            raise PermissionError(13, "Permission denied", path)
        return file

    os.open = closed


def main() -> None:
    """Run one command of metier, or Python code after `-c`."""
    strip()
    if sys.argv[1] == "-c":
        exec(sys.argv[2], {"__builtins__": builtins})  # noqa: S102 - code of a test
        return
    from metier.cli.main import main as run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
