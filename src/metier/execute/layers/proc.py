"""What the sandbox is made of on this machine: found out by really starting a program in it, once."""

from __future__ import annotations

from functools import lru_cache

from metier.errors import SandboxError
from metier.execute.cgroup import disk as groups
from metier.execute.landlock import proc as landlock
from metier.execute.limits.proc import counts_tasks
from metier.execute.system.disk import survey
from metier.runs import Bounds, Cage, Layer

_PROBE = ("/bin/sh", "-c", 'while read -r line; do echo "$line"; done < /proc/self/status')
"""A program that tells what it runs under, in the kernel's own words; the one that every system has at the same place."""
_DELEGATE = "start metier with `systemd-run --user --scope`, or as a service of yours, where control groups are delegated to users"


class _BrokenError(Exception):
    """Something is missing, this time: the layers say what."""

    def __init__(self, layers: tuple[Layer, ...]) -> None:
        super().__init__()
        self.layers = layers


def probed() -> tuple[Layer, ...]:
    """Give every layer, the outermost first. Only what works is kept in mind: what is missing may be there the next time."""
    try:
        return working()
    except _BrokenError as broken:
        return broken.layers


@lru_cache(maxsize=1)
def working() -> tuple[Layer, ...]:
    """Give every layer of a sandbox that works."""
    layers = _layers()
    if any(one.needed and not one.active for one in layers):
        raise _BrokenError(layers)
    return layers


def _layers() -> tuple[Layer, ...]:
    try:
        system = survey()
    except SandboxError as error:
        return (Layer("bubblewrap", active=False, detail=error.message, needed=True, hint=error.hint), *_without("bubblewrap"))
    words = f"{system.bwrap} {'.'.join(map(str, system.version))}{', setuid but not used so' * system.setuid}"
    bubblewrap = Layer("bubblewrap", active=True, detail=words, needed=True)
    try:
        told = _told()
    except SandboxError as error:
        broken = Layer("user namespace", active=False, detail=error.message, needed=True, hint=error.hint)
        return bubblewrap, broken, *_without("user namespace")[1:]
    return bubblewrap, *_inside(told), _landlock(), *_limits()


def _told() -> dict[str, str]:
    """Run the probe; give what it printed, by name."""
    from metier.execute.proc import Bubblewrap  # which is what asks

    heard: list[bytes] = []
    ended = Bubblewrap().run(Cage(_PROBE, bounds=Bounds(seconds=20)), lambda _name, data: heard.append(data))
    if ended.code:
        words = b"".join(heard).decode("utf-8", "replace").strip()
        raise SandboxError(f"a program that should end well in the sandbox ended with {ended.code}: {words[:200]}", code="sandbox")
    lines = b"".join(heard).decode("utf-8", "replace").splitlines()
    return {name: value.strip() for name, _colon, value in (line.partition(":") for line in lines)}


def _inside(told: dict[str, str]) -> tuple[Layer, ...]:
    """Give what the kernel said about the probe."""
    filtered = told.get("Seccomp") == "2" and told.get("NoNewPrivs") == "1"
    number = told.get("NSpid", "").split()[-1:] or ["?"]
    return (
        Layer("user namespace", active=True, needed=True,
              detail=f"users, processes (the probe was number {number[0]}), network, messages and host name are its own"),
        Layer("seccomp", active=filtered, needed=True,
              detail="a filter of system calls, and no new privileges" if filtered else "the kernel did not take the filter",
              hint="" if filtered else "a kernel with CONFIG_SECCOMP_FILTER"),
    )  # fmt: skip


def _landlock() -> Layer:
    version = landlock.abi()
    if version < landlock.NETWORK_FROM:
        why = f"version {version} has nothing for it" if version else "the kernel has none"
        hint = "Linux 6.7 or newer, started with landlock among its security modules"
        return Layer("landlock", active=False, detail=why, hint=hint)
    scopes = ", abstract sockets and signals to the outside" if version >= landlock.SCOPES_FROM else ""
    return Layer("landlock", active=True, detail=f"version {version}: TCP where no network is granted{scopes}")


def _limits() -> tuple[Layer, ...]:
    found = groups.find()
    counted = ", tasks" if counts_tasks() else ""
    names = {"pids": "tasks", "memory": "memory"}
    kept = " and ".join(names[name] for name in found.controllers)
    return (
        Layer("rlimits", active=True, needed=True, detail=f"memory, size of files, open files, time of the processor{counted}"),
        Layer("cgroup", active=bool(kept), detail=f"the kernel counts {kept}" if kept else found.reason,
              hint="" if kept else _DELEGATE),
        Layer("watchdog", active=True, needed=True,
              detail="time and output" if not found.reason else "time and output, and every 50 ms tasks and memory"),
    )  # fmt: skip


def _without(missing: str) -> tuple[Layer, ...]:
    """Give the layers that need one that is missing."""
    detail = f"not tried: there is no {missing}"
    return tuple(Layer(name, active=False, detail=detail, needed=True) for name in ("user namespace", "seccomp"))
