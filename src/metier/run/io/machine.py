"""Finds out what this machine has for a sandbox: its root, where bubblewrap is, and which layers
work.

A layer counts only once a program was really started in it.
"""

from __future__ import annotations

import os
import stat
import subprocess
from functools import lru_cache
from os.path import dirname, exists, isabs, isfile, islink, join, realpath
from typing import TYPE_CHECKING

from metier.errors import SandboxError
from metier.run.interpreters import ROOT_NAMES
from metier.run.io import cgroup, landlock
from metier.run.io.limits import counts_tasks
from metier.run.model import Cage, GivenFile, Layer, RunLimits
from metier.run.sandbox.bwrap_arguments import (
    ETC_NAMES,
    ETC_TEXTS,
    PROC_NAMES,
    RESOLVER,
    HostRoot,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


_BWRAP_FOLDERS = ("/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin")
_INSTALL = (
    "install bubblewrap 0.7 or newer: the package 'bubblewrap' of apt (Debian, Ubuntu), "
    "dnf (Fedora), pacman (Arch), apk (Alpine)"
)
_NEEDED = (
    "--unshare-user",
    "--seccomp",
    "--info-fd",
    "--block-fd",
    "--perms",
    "--size",
    "--remount-ro",
    "--die-with-parent",
)
"""Options without which a sandbox would be less than it says: a folder without a size is the
machine's memory."""

_MAX_TEXT_BYTES = 1024 * 1024
"""How long a text of /etc may be that is copied."""


def survey_machine() -> HostRoot:
    """Look at this machine; refuses where there is no bubblewrap that can be used."""
    bwrap = find_bubblewrap([*_BWRAP_FOLDERS, *os.environ.get("PATH", "").split(os.pathsep)])
    try:
        found = os.stat(bwrap)
    except OSError as error:
        raise SandboxError(
            f"{bwrap} cannot be read: {error.strerror}", code="no-sandbox", hint=_INSTALL
        ) from error
    version, options = _abilities(bwrap, (found.st_ino, found.st_size, found.st_mtime_ns))
    lacking = [option for option in _NEEDED if option not in options]
    if lacking:
        raise SandboxError(
            f"{bwrap} is too old for a sandbox: it has no {lacking[0]}",
            code="no-sandbox",
            hint=_INSTALL,
        )
    return HostRoot(
        bwrap=bwrap,
        version=version,
        setuid=bool(found.st_mode & stat.S_ISUID),
        options=options,
        roots=tuple(_present(ROOT_NAMES)),
        etc=tuple(_present((*ETC_NAMES, RESOLVER))),
        masked=tuple(path for path in PROC_NAMES if os.access(path, os.R_OK)),
        texts=tuple(_read(ETC_TEXTS)),
    )


def find_bubblewrap(folders: Iterable[str]) -> str:
    """Give the first bubblewrap in some folders that nobody else could have put there."""
    suspect = ""
    for folder in folders:
        path = join(folder, "bwrap")
        if not isabs(path) or not isfile(path) or not os.access(path, os.X_OK):
            continue
        if all(map(_is_safe, (path, folder, dirname(realpath(path))))):
            return path
        suspect = path
    if suspect:
        raise SandboxError(
            f"{suspect} is not used: another user could have changed it",
            code="no-sandbox",
            hint=_INSTALL,
        )
    raise SandboxError(
        "there is no sandbox on this machine: bubblewrap (bwrap) is not installed",
        code="no-sandbox",
        hint=_INSTALL,
    )


def _is_safe(path: str) -> bool:
    """Tell whether only root and this user can change what a path leads to."""
    try:
        found = os.stat(path)
    except OSError:
        return False
    return found.st_uid in {0, os.geteuid()} and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


@lru_cache(maxsize=4)
def _abilities(bwrap: str, _key: tuple[int, ...]) -> tuple[tuple[int, ...], frozenset[str]]:
    """Ask a bubblewrap for its version and its options, once for as long as the file is the
    same.
    """
    number = _said(bwrap, "--version").partition(" ")[2].strip()
    version = tuple(int(part) for part in number.split(".") if part.isdecimal())
    return version, frozenset(
        word
        for word in _said(bwrap, "--help").split()
        if word.startswith("--") and word[-1].isalnum()
    )


def _said(bwrap: str, option: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - a program that only root or this user can have put there
            [bwrap, option],
            capture_output=True,
            timeout=20,
            check=False,
            env={},
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxError(
            f"{bwrap} cannot be started: {error}", code="no-sandbox", hint=_INSTALL
        ) from error
    return (done.stdout + done.stderr).decode("utf-8", "replace")


def _read(names: Iterable[str]) -> Iterable[GivenFile]:
    """Read the texts that are there; one that is longer than any of its kind is left away."""
    for path in names:
        try:
            with open(
                path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)
            ) as file:
                data = file.read(_MAX_TEXT_BYTES + 1)
        except OSError:
            continue
        if len(data) <= _MAX_TEXT_BYTES:
            yield GivenFile(path, data)


def _present(names: Iterable[str]) -> Iterable[tuple[str, str]]:
    """Give those that exist: with the aim of a link into /usr, or with nothing for what is mounted
    as it is.
    """
    for path in names:
        if exists(path):
            link = islink(path) and realpath(path).startswith("/usr/")
            yield path, os.readlink(path) if link else ""


# --- which layers work

_PROBE = ("/bin/sh", "-c", 'while read -r line; do echo "$line"; done < /proc/self/status')
"""A program that tells what it runs under, in the kernel's own words; the one that every system has
at the same place."""
_DELEGATE = (
    "start metier with `systemd-run --user --scope`, or as a service of yours, where "
    "control groups are delegated to users"
)


WORKING_LAYERS: list[tuple[Layer, ...]] = []
"""The layers of a sandbox that was found to work."""


def probe_layers() -> tuple[Layer, ...]:
    """Give every layer, the outermost first. Only what works is kept in mind: what is missing may
    be there the next time.
    """
    if WORKING_LAYERS:
        return WORKING_LAYERS[0]
    layers = _layers()
    if all(one.active or not one.needed for one in layers):
        WORKING_LAYERS.append(layers)
    return layers


def _layers() -> tuple[Layer, ...]:
    try:
        system = survey_machine()
    except SandboxError as error:
        return (
            Layer("bubblewrap", active=False, detail=error.message, needed=True, hint=error.hint),
            *_without("bubblewrap"),
        )
    words = (
        f"{system.bwrap} "
        f"{'.'.join(map(str, system.version))}{', setuid but not used so' * system.setuid}"
    )
    bubblewrap = Layer("bubblewrap", active=True, detail=words, needed=True)
    try:
        told = _run_probe()
    except SandboxError as error:
        broken = Layer(
            "user namespace", active=False, detail=error.message, needed=True, hint=error.hint
        )
        return bubblewrap, broken, *_without("user namespace")[1:]
    return bubblewrap, *_kernel_layers(told), _landlock_layer(), *_limit_layers()


def _run_probe() -> dict[str, str]:
    """Run the probe; give what it printed, by name."""
    from metier.run.io.bubblewrap import Bubblewrap  # which is what asks

    heard: list[bytes] = []
    ended = Bubblewrap().run(
        Cage(_PROBE, bounds=RunLimits(seconds=20)), lambda _name, data: heard.append(data)
    )
    if ended.code:
        words = b"".join(heard).decode("utf-8", "replace").strip()
        raise SandboxError(
            f"a program that should end well in the sandbox ended with {ended.code}: {words[:200]}",
            code="sandbox",
        )
    lines = b"".join(heard).decode("utf-8", "replace").splitlines()
    return {name: value.strip() for name, _colon, value in (line.partition(":") for line in lines)}


def _kernel_layers(told: dict[str, str]) -> tuple[Layer, ...]:
    """Give what the kernel said about the probe."""
    filtered = told.get("Seccomp") == "2" and told.get("NoNewPrivs") == "1"
    number = told.get("NSpid", "").split()[-1:] or ["?"]
    return (
        Layer(
            "user namespace",
            active=True,
            needed=True,
            detail=f"users, processes (the probe was number {number[0]}), network, messages and "
            f"host name are its own",
        ),
        Layer(
            "seccomp",
            active=filtered,
            needed=True,
            detail="a filter of system calls, and no new privileges"
            if filtered
            else "the kernel did not take the filter",
            hint="" if filtered else "a kernel with CONFIG_SECCOMP_FILTER",
        ),
    )


def _landlock_layer() -> Layer:
    version = landlock.landlock_version()
    if version < landlock.NETWORK_FROM:
        why = f"version {version} has nothing for it" if version else "the kernel has none"
        return Layer(
            "landlock",
            active=False,
            detail=why,
            hint="Linux 6.7 or newer, started with landlock among its security modules",
        )
    scopes = (
        ", abstract sockets and signals to the outside" if version >= landlock.SCOPES_FROM else ""
    )
    return Layer(
        "landlock",
        active=True,
        detail=f"version {version}: TCP where no network is granted{scopes}",
    )


def _limit_layers() -> tuple[Layer, ...]:
    found = cgroup.find()
    counted = ", tasks" if counts_tasks() else ""
    names = {"pids": "tasks", "memory": "memory"}
    kept = " and ".join(names[name] for name in found.controllers)
    return (
        Layer(
            "rlimits",
            active=True,
            needed=True,
            detail=f"memory, size of files, open files, time of the processor{counted}",
        ),
        Layer(
            "cgroup",
            active=bool(kept),
            detail=f"the kernel counts {kept}" if kept else found.reason,
            hint="" if kept else _DELEGATE,
        ),
        Layer(
            "watchdog",
            active=True,
            needed=True,
            detail="time and output"
            if not found.reason
            else "time and output, and every 50 ms tasks and memory",
        ),
    )


def _without(missing: str) -> tuple[Layer, ...]:
    """Give the layers that need one that is missing."""
    detail = f"not tried: there is no {missing}"
    return tuple(
        Layer(name, active=False, detail=detail, needed=True)
        for name in ("user namespace", "seccomp")
    )
