"""What the host's root looks like, and where bubblewrap is."""

from __future__ import annotations

import os
import stat
import subprocess
from functools import lru_cache
from typing import TYPE_CHECKING

from metier.errors import SandboxError
from metier.execute.bubblewrap import ETC_NAMES, ETC_TEXTS, PROC_NAMES, RESOLVER, ROOT_NAMES, System
from metier.runs import Given

if TYPE_CHECKING:
    from collections.abc import Iterable

_SAFE = ("/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin")
_INSTALL = (
    "install bubblewrap 0.7 or newer: the package 'bubblewrap' of apt (Debian, Ubuntu), dnf (Fedora), pacman (Arch), apk (Alpine)"
)
_NEEDED = ("--unshare-user", "--seccomp", "--info-fd", "--block-fd", "--perms", "--size", "--remount-ro", "--die-with-parent")
"""Options without which a sandbox would be less than it says: a folder without a size is the machine's memory."""

_TEXT = 1024 * 1024
"""How long a text of /etc may be that is copied."""


def survey() -> System:
    """Look at this machine; refuses where there is no bubblewrap that can be used."""
    bwrap = find([*_SAFE, *os.environ.get("PATH", "").split(os.pathsep)])
    try:
        found = os.stat(bwrap)
    except OSError as error:
        raise SandboxError(f"{bwrap} cannot be read: {error.strerror}", code="no-sandbox", hint=_INSTALL) from error
    version, options = _abilities(bwrap, (found.st_ino, found.st_size, found.st_mtime_ns))
    lacking = [option for option in _NEEDED if option not in options]
    if lacking:
        raise SandboxError(f"{bwrap} is too old for a sandbox: it has no {lacking[0]}", code="no-sandbox", hint=_INSTALL)
    return System(
        bwrap, version, bool(found.st_mode & stat.S_ISUID), options,
        tuple(_present(ROOT_NAMES)), tuple(_present((*ETC_NAMES, RESOLVER))),
        tuple(path for path in PROC_NAMES if os.access(path, os.R_OK)), tuple(_read(ETC_TEXTS)),
    )  # fmt: skip


def find(folders: Iterable[str]) -> str:
    """Give the first bubblewrap in some folders that nobody else could have put there."""
    suspect = ""
    for folder in folders:
        path = os.path.join(folder, "bwrap")
        if not os.path.isabs(path) or not os.path.isfile(path) or not os.access(path, os.X_OK):
            continue
        if all(map(_own, (path, folder, os.path.dirname(os.path.realpath(path))))):
            return path
        suspect = path
    if suspect:
        raise SandboxError(f"{suspect} is not used: another user could have changed it", code="no-sandbox", hint=_INSTALL)
    raise SandboxError("there is no sandbox on this machine: bubblewrap (bwrap) is not installed", code="no-sandbox", hint=_INSTALL)


def _own(path: str) -> bool:
    """Tell whether only root and this user can change what a path leads to."""
    try:
        found = os.stat(path)
    except OSError:
        return False
    return found.st_uid in {0, os.geteuid()} and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


@lru_cache(maxsize=4)
def _abilities(bwrap: str, _key: tuple[int, ...]) -> tuple[tuple[int, ...], frozenset[str]]:
    """Ask a bubblewrap for its version and its options, once for as long as the file is the same."""
    number = _said(bwrap, "--version").partition(" ")[2].strip()
    version = tuple(int(part) for part in number.split(".") if part.isdecimal())
    return version, frozenset(word for word in _said(bwrap, "--help").split() if word.startswith("--") and word[-1].isalnum())


def _said(bwrap: str, option: str) -> str:
    try:
        done = subprocess.run([bwrap, option], capture_output=True, timeout=20, check=False, env={}, stdin=subprocess.DEVNULL)  # noqa: S603 - a program that only root or this user can have put there
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxError(f"{bwrap} cannot be started: {error}", code="no-sandbox", hint=_INSTALL) from error
    return (done.stdout + done.stderr).decode("utf-8", "replace")


def _read(names: Iterable[str]) -> Iterable[Given]:
    """Read the texts that are there; one that is longer than any of its kind is left away."""
    for path in names:
        try:
            with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
                data = file.read(_TEXT + 1)
        except OSError:
            continue
        if len(data) <= _TEXT:
            yield Given(path, data)


def _present(names: Iterable[str]) -> Iterable[tuple[str, str]]:
    """Give those that exist: with the aim of a link into /usr, or with nothing for what is mounted as it is."""
    for path in names:
        if os.path.exists(path):
            yield path, (os.readlink(path) if os.path.islink(path) and os.path.realpath(path).startswith("/usr/") else "")
