"""Writes the bubblewrap options for a cage, describes it to a person, and explains bubblewrap's own
errors. Pure.

Its command line names the program and a descriptor; all options are read from that. The program
inside finds the command line in /proc, and so does every user of the machine; no path, name or
value of ours stands in it.

What is resolved when. bwrap turns every source into a real path when it starts, and mounts that
path a little later; who can change the folders above it may swap it in between. So a source may be
the descriptor of what was looked at, opened with O_PATH and written `/proc/self/fd/N`: a bwrap that
has `--bind-fd` mounts it, compares device and inode with the descriptor, and closes it. Any other
would leave it open in the program, which could walk from it to the machine's root: there it is
refused, and a source is mounted by its path, with that moment left in which it can be swapped.

Descriptors. bwrap closes none that it has no use for, so it inherits 0 to 2, those of `BwrapPipes`,
and those that sources name, and no others. It closes the options, `seccomp`, `files` and the
sources once they are read, `info` and `block` once they are used, and keeps `status` to itself;
`report`, the end of a pipe, stays open in the program, which finds its number in METIER_REPORT.
"""

from __future__ import annotations

import re
from posixpath import normpath
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import SandboxError
from metier.run.interpreters import ROOT_NAMES, is_inside
from metier.run.model import HOME, MIB, SCRATCH, SECRETS, SKILL, Cage, GivenFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from metier.model import Texts
    from metier.run.model import Guise, Mount


USER = 1000
"""Who a script is inside. Not 65534: as that appears what belongs to strangers, and git and ssh
would take it for their own."""
HELD = "/proc/self/fd/"
"""How the source of a mount begins that is a descriptor."""
ETC_NAMES = (
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/etc/localtime",
    "/etc/os-release",
    "/etc/ssl/certs",
    "/etc/ssl/cert.pem",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/ca-trust/extracted",
    "/etc/ca-certificates/extracted",
    "/etc/crypto-policies",
)
"""What may be read of /etc. Never /etc/ssl or /etc/pki whole: private keys lie in them, and to
root's own runs they would open."""
ETC_TEXTS = ("/etc/protocols", "/etc/services", "/etc/ssl/openssl.cnf", "/etc/pki/tls/openssl.cnf")
"""What else may be, small and hardly ever changed: a copy of each is given, which takes a fraction
of the time of a mount."""
RESOLVER = "/etc/resolv.conf"
PROC_NAMES = (
    "/proc/kcore",
    "/proc/keys",
    "/proc/key-users",
    "/proc/timer_list",
    "/proc/sched_debug",
    "/proc/latency_stats",
    "/proc/slabinfo",
    "/proc/pagetypeinfo",
    "/proc/vmallocinfo",
    "/proc/kpagecount",
    "/proc/kpageflags",
    "/proc/kpagecgroup",
    "/proc/kallsyms",
    "/proc/modules",
    "/proc/config.gz",
    "/proc/cmdline",
    "/proc/diskstats",
    "/proc/interrupts",
    "/proc/zoneinfo",
    "/proc/sys/kernel/random/boot_id",
)
"""What /proc tells of the whole machine: which one it is, what it is built of, what others do on
it. No script needs to know that.

Much of it opens to root's own runs alone. What programs do ask for stays: processors, memory, how
busy they are.
"""
CERTIFICATES = ("/etc/ssl/", "/etc/pki/", "/etc/ca-certificates/")
"""How places of /etc begin that say whose certificates count; who is watched has others."""
_NOWHERE = "/nonexistent:/bin/false"
_SWITCH = (
    "passwd: files\ngroup: files\nhosts: files dns\nnetworks: files\nprotocols: "
    "files\nservices: files\n"
)


def _texts(user: str, host: str, home: str, shell: str) -> tuple[GivenFile, ...]:
    """Give the files of /etc that say who is who."""
    passwd = (
        f"root:x:0:0::{_NOWHERE}\n{user}:x:{USER}:{USER}::{home}:{shell}\n"
        f"nobody:x:65534:65534::{_NOWHERE}\n"
    )
    return (
        GivenFile("/etc/passwd", passwd.encode()),
        GivenFile("/etc/group", f"root:x:0:\n{user}:x:{USER}:\nnogroup:x:65534:\n".encode()),
        GivenFile("/etc/hosts", f"127.0.0.1 localhost {host}\n::1 localhost {host}\n".encode()),
        GivenFile("/etc/nsswitch.conf", _SWITCH.encode()),
    )


_TEXTS = _texts("skill", "skill", HOME, "/bin/sh")
_TMP, _VAR_TMP, _SHM = "/tmp", "/var/tmp", "/dev/shm"  # noqa: S108 - the sandbox's own
_OWN_TARGETS = (
    "/usr",
    "/proc",
    "/dev",
    "/sys",
    _TMP,
    _VAR_TMP,
    SCRATCH,
    HOME,
    SECRETS,
    RESOLVER,
    "/etc/ld.so.preload",
    *ROOT_NAMES,
    *ETC_NAMES,
    *ETC_TEXTS,
    *(text.target for text in _TEXTS),
)
"""What the sandbox lays itself: no mount may stand in its place, or above it."""
_OPEN = (_TMP, SCRATCH, HOME, "/usr/local", "/usr/share", "/nix/store", "/gnu/store")
"""Below these a mount may stand all the same: an environment that lies in /tmp, say, is seen where
it is."""
_ROW = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
"""What a user and a host may be called."""
_MAX_ARGUMENTS = 8_000
"""bwrap counts up to 9,000 words, options and the program's together."""
_SHM_BYTES = 64 * MIB


class HostRoot(NamedTuple):
    """What the host's root looks like."""

    bwrap: str
    version: tuple[int, ...] = ()
    setuid: bool = False
    """Whether bwrap is; with no new privileges set before it starts, that gives it nothing."""
    options: frozenset[str] = frozenset()
    """The options that it knows: what a distribution has added to an old version counts, not the
    number."""
    roots: tuple[tuple[str, str], ...] = ()
    """Those of ROOT_NAMES that exist: where one is a link to; nothing for a folder."""
    etc: tuple[tuple[str, str], ...] = ()
    """The same for ETC_NAMES and the resolver's file."""
    masked: Texts = ()
    """Those of PROC_NAMES that this user could read."""
    texts: tuple[GivenFile, ...] = ()
    """Those of ETC_TEXTS that exist."""


class BwrapPipes(NamedTuple):
    """Descriptors that bwrap inherits, by their numbers there."""

    info: int
    block: int
    seccomp: int
    files: tuple[int, ...] = ()
    """One for each of `texts(system)` and then of `cage.files`, in that order, at its beginning."""
    status: int = -1
    """Where it tells the program's exit code; -1 where nobody asks."""
    report: int = -1


def command_line(cage: Cage, system: HostRoot, told: int) -> list[str]:
    """Give the command line, with the number of the descriptor that has `variables` and `options`,
    at its beginning.
    """
    return [system.bwrap, "--args", str(told), "--", *cage.command]


def options(cage: Cage, system: HostRoot, pipes: BwrapPipes) -> list[str]:
    """Give every option but those for variables. No byte of a file is ever in it."""
    check_cage(cage)
    if len(pipes.files) != len(texts(system, cage.guise)) + len(cage.files):
        raise SandboxError("the sandbox was given the wrong number of files", code="sandbox-mount")
    return [
        *_apart(cage, system),
        *_base(cage, system),
        *_spaces(cage),
        *_mounts(cage.mounts, system),
        *_files(cage, system, pipes),
        *("--remount-ro", "/dev", "--remount-ro", "/proc", "--remount-ro", "/"),
        *("--chdir", cage.folder),
        *(("--json-status-fd", str(pipes.status)) if pipes.status >= 0 else ()),
        *("--seccomp", str(pipes.seccomp)),
        *("--info-fd", str(pipes.info), "--block-fd", str(pipes.block)),
    ]


def texts(system: HostRoot, guise: Guise | None = None) -> tuple[GivenFile, ...]:
    """Give the files of /etc that are made up or copied; those of the cage itself follow them."""
    if guise is None:
        return (*_TEXTS, *system.texts)
    own = _texts(guise.user, guise.host, guise.home, "/bin/bash")
    return (*own, *system.texts, *guise.texts)


def variables(cage: Cage) -> bytes:
    """Give the environment as bwrap reads it from a descriptor."""
    words = [
        "--clearenv",
        *(word for name, value in cage.environment for word in ("--setenv", name, value)),
    ]
    return "".join(f"{word}\0" for word in words).encode("utf-8", "surrogateescape")


def _apart(cage: Cage, system: HostRoot) -> Iterator[str]:
    """Give the namespaces, and what is taken away. As root too: a user namespace is what makes root
    nobody out here.
    """
    yield from (
        "--unshare-user",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
    )
    if not cage.network:
        yield "--unshare-net"
    # A session of its own has no terminal that keys could be pushed into.
    yield from ("--new-session", "--die-with-parent", "--hostname")
    yield cage.guise.host if cage.guise else "skill"
    if cage.guise is not None:
        yield "--as-pid-1"  # the launcher is an init
    yield from ("--uid", str(USER), "--gid", str(USER), "--cap-drop", "ALL")
    if "--disable-userns" in system.options:
        # The filter refuses new user namespaces as well; this holds without it.
        yield from ("--disable-userns", "--assert-userns-disabled")


def _base(cage: Cage, system: HostRoot) -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for path, aim in (*system.roots, *system.etc):
        if path == RESOLVER and not cage.network:
            continue
        if cage.guise is not None and path.startswith(CERTIFICATES):
            continue
        yield from ("--symlink", aim, path) if aim else ("--ro-bind", path, path)
    yield from ("--proc", "/proc")
    for path in system.masked:
        # A device on a mount without devices: opening it is refused.
        yield from ("--ro-bind", "/dev/null", path)
    yield from ("--dev", "/dev")


def _spaces(cage: Cage) -> Iterator[str]:
    """Give the folders that can be written to. Each has a size: an unlimited one is the machine's
    memory.
    """
    size = cage.bounds.scratch_bytes
    guise = cage.guise
    shared = (_SHM, "1777", min(size, _SHM_BYTES))
    own = ((SCRATCH, "0700", size), (HOME, "0700", size), (_TMP, "1777", size))
    for path, mode, room in (*(own if guise is None else ()), shared):
        yield from ("--perms", mode, "--size", str(max(room, 4096)), "--tmpfs", path)
    if guise is not None:
        yield from ("--bind", guise.home_source, guise.home, "--bind", guise.tmp_source, _TMP)
        yield from ("--symlink", _TMP, _VAR_TMP)
        return
    yield from ("--symlink", _TMP, _VAR_TMP, "--perms", "0700", "--dir", SECRETS)


def _mounts(mounts: Iterable[Mount], system: HostRoot) -> Iterator[str]:
    """Give the mounts of the plan, those outside before those inside them: a folder to read stays
    so in one to change.
    """
    for mount in sorted(mounts, key=lambda one: one.target.split("/")):
        option = "--bind" if mount.writable else "--ro-bind"
        held = mount.source.removeprefix(HELD)
        if held == mount.source:
            yield from (option, mount.source, mount.target)
        elif f"{option}-fd" in system.options:
            yield from (f"{option}-fd", held, mount.target)
        else:
            raise SandboxError(
                f"{system.bwrap} cannot mount a descriptor: it has no {option}-fd",
                code="sandbox-mount",
            )


def _files(cage: Cage, system: HostRoot, pipes: BwrapPipes) -> Iterator[str]:
    for number, (given, mode) in zip(
        pipes.files,
        [
            *((one, "0444") for one in texts(system, cage.guise)),
            *((one, "0500" if cage.guise else "0400") for one in cage.files),
        ],
        strict=True,
    ):
        # On the root, which is read-only in the end, a copy will do; in a folder of the script's
        # own only a mount stays as it is.
        option = (
            "--ro-bind-data"
            if given.target.startswith((f"{SCRATCH}/", f"{HOME}/", f"{_TMP}/"))
            else "--file"
        )
        yield from ("--perms", mode, option, str(number), given.target)


def check_cage(cage: Cage) -> None:
    """Refuse what bwrap would take for something else, or fail at: before a source is opened, and
    once more in `options`.
    """
    _check_command(cage)
    if cage.guise is not None:
        _check_guise(cage.guise)
    for name, value in cage.environment:
        if not name or "=" in name or not _plain(name) or not _plain(value):
            raise SandboxError(
                f"{name!r} is no variable that a program can be given", code="sandbox-variable"
            )
    seen: set[str] = set()
    for mount in cage.mounts:
        _check_source(mount.source)
        _check_target(mount.target, seen)
        # A skill's folder is full of what strangers wrote: a link in it would lead bwrap astray.
        if mount.target.startswith(f"{SKILL}/"):
            raise SandboxError(
                f"nothing can be mounted at {mount.target}: that is inside the skill",
                code="sandbox-mount",
            )
    for given in cage.files:
        below = (
            given.target.startswith(f"{SECRETS}/")
            and given.target.count("/") == SECRETS.count("/") + 1
        )
        _check_target(given.target, seen, laid=not below)
        # What lies in a mount may be a link, and bwrap would make the file on this machine, where
        # that leads.
        if any(given.target.startswith(f"{mount.target}/") for mount in cage.mounts):
            raise SandboxError(
                f"no file can be given at {given.target}: that is inside what is mounted",
                code="sandbox-mount",
            )


def _check_guise(guise: Guise) -> None:
    """Refuse a stage that the files of /etc or bwrap would take for something else."""
    if not all(_ROW.fullmatch(word) for word in (guise.user, guise.host)):
        raise SandboxError("a user or a host has a name that none can have", code="sandbox-command")
    if not _absolute(guise.home) or not guise.home.startswith("/home/") or ":" in guise.home:
        raise SandboxError(f"{guise.home!r} is no home", code="sandbox-mount")
    for source in (guise.home_source, guise.tmp_source):
        # It may lie in memory, which is the one folder of /dev that is like any other.
        _check_source(source.removeprefix(_SHM) if source.startswith(f"{_SHM}/") else source)


def _check_command(cage: Cage) -> None:
    if not cage.command or not cage.command[0]:
        raise SandboxError("there is no program to run", code="sandbox-command")
    if len(cage.command) > _MAX_ARGUMENTS:
        raise SandboxError(
            f"{len(cage.command):,} arguments are more than a sandbox takes",
            code="sandbox-command",
            hint=f"at most {_MAX_ARGUMENTS:,}; put long lists into a file",
        )
    if not all(map(_plain, cage.command)):
        raise SandboxError(
            "an argument of the program holds what no argument can: a NUL, or half a character",
            code="sandbox-command",
        )
    if not _absolute(cage.folder):
        raise SandboxError(f"{cage.folder!r} is no folder to start in", code="sandbox-command")


def _check_source(source: str) -> None:
    held = source.removeprefix(HELD)
    if not _absolute(source):
        raise SandboxError(
            f"{source!r} cannot be mounted: not a plain absolute path", code="sandbox-mount"
        )
    if held != source:
        plain = held.isascii() and held.isdigit() and len(held) < 10
    else:
        # What the kernel shows of itself and of other processes is no folder, and a device is no
        # file.
        plain = not f"{source}/".startswith(("/proc/", "/sys/", "/dev/"))
    if not plain:
        raise SandboxError(
            f"{source} cannot be mounted: it belongs to the system", code="sandbox-mount"
        )


def _check_target(target: str, seen: set[str], *, laid: bool = True) -> None:
    if not _absolute(target):
        raise SandboxError(
            f"nothing can be mounted at {target!r}: not a plain absolute path", code="sandbox-mount"
        )
    if target in seen:
        raise SandboxError(f"two things would be mounted at {target}", code="sandbox-mount")
    seen.add(target)
    if has_itself(target, inside=laid):
        raise SandboxError(
            f"nothing can be mounted at {target}: the sandbox has that place itself",
            code="sandbox-mount",
            hint="lend a folder below it, or one elsewhere",
        )


def has_itself(target: str, *, inside: bool = True) -> bool:
    """Tell whether the sandbox lays a place itself, something below it, or, with `inside`, what it
    lies in.
    """
    below = (
        inside
        and any(target.startswith(f"{one}/") for one in _OWN_TARGETS)
        and not any(target.startswith(f"{one}/") for one in _OPEN)
    )
    return below or any(is_inside(one, target) for one in _OWN_TARGETS)


def _absolute(path: str) -> bool:
    return (
        path.startswith("/")
        and not path.startswith("//")
        and normpath(path) == path
        and _plain(path)
        and len(path) < 4000
    )


def _plain(text: str) -> bool:
    """Tell whether the system can be handed a text at all."""
    try:
        return b"\0" not in text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False


def describe_cage(cage: Cage) -> list[str]:
    """Say what a cage is in plain words, for a person who has to agree; no value of a variable is
    among them.
    """
    bounds = cage.bounds
    reads = [_seen(mount) for mount in cage.mounts if not mount.writable]
    changes = [_seen(mount) for mount in cage.mounts if mount.writable]
    files = sorted(given.target for given in cage.files)
    secrets = [file for file in files if file.startswith(f"{SECRETS}/")]
    return [
        f"runs: {' '.join(map(_quoted, cage.command))}",
        f"in the folder: {_quoted(cage.folder)}",
        *(
            f"reads: {one}"
            for one in ("the system's own programs and libraries (/usr)", *sorted(reads))
        ),
        *(
            f"changes: {one}"
            for one in ("only folders of its own, which are gone afterwards", *sorted(changes))[
                bool(changes) :
            ]
        ),
        f"network: {'all that this machine reaches' if cage.network else 'none'}",
        (
            f"variables: "
            f"{', '.join(sorted(_quoted(name) for name, _value in cage.environment)) or 'none'}"
        ),
        f"secrets as files: {', '.join(map(_quoted, secrets)) or 'none'}",
        *(f"is given the file: {_quoted(one)}" for one in files if one not in secrets),
        f"time: {_span(bounds.seconds)}",
        f"memory: {_size(bounds.memory_bytes)}",
        f"processes: {bounds.processes:,}",
        f"output: {_size(bounds.output_bytes)}",
        (
            f"files: {_size(bounds.scratch_bytes)} in all in each of its folders, "
            f"{_size(bounds.file_bytes)} in one file"
        ),
        *(
            [f"lent folders: {_size(bounds.lent_bytes)} more in all than they hold now"]
            if any(mount.writable for mount in cage.mounts)
            else []
        ),
    ]


def _seen(mount: Mount) -> str:
    return (
        _quoted(mount.source)
        if mount.source == mount.target
        else f"{_quoted(mount.source)}, seen as {_quoted(mount.target)}"
    )


def _quoted(text: str) -> str:
    """Show a word as it is where it is plain, and in quotes, with what steers a terminal made
    visible, where it is not.
    """
    return text if text and text.isprintable() and " " not in text else repr(text)


def _size(count: int) -> str:
    for unit, name in ((1024 * MIB, "GiB"), (MIB, "MiB"), (1024, "KiB")):
        if count >= unit:
            return f"{count / unit:.1f}".removesuffix(".0") + f" {name}"
    return f"{count} bytes"


def _span(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    parts = [
        f"{many} {name}{'' if many == 1 else 's'}"
        for many, name in ((minutes, "minute"), (rest, "second"))
        if many
    ]
    return " ".join(parts) or "0 seconds"


# --- why bubblewrap failed

BWRAP_MARK = b"bwrap: "
"""How each of its messages begins."""
_NO_EXEC = "execvp "
_SPACES = ("namespace", "uid map", "gid map", "RTM_NEWADDR", "setgroups", "unshare")
_ALLOW_HINT = (
    "this system keeps ordinary users from making user namespaces. One of these allows it, as "
    "root: an AppArmor profile for bwrap "
    "with 'userns,' (Ubuntu 23.10 and later; or sysctl "
    "kernel.apparmor_restrict_unprivileged_userns=0), sysctl "
    "kernel.unprivileged_userns_clone=1 (Debian 10), sysctl user.max_user_namespaces=15000 (RHEL "
    "7). In a container, its own "
    "seccomp profile must allow them"
)


_NOT_INSIDE = (
    "it, or the interpreter in its first line, is not there inside: only /usr, the skill and what "
    "was lent are"
)
_PROGRAM_HINTS = (
    ("No such file", _NOT_INSIDE),
    ("denied", "it is no file that may be executed"),
    ("format", "it is no program for this machine"),
)
"""What to do about a program that cannot be started, by a word of the reason."""
_TOO_LONG = "shorten its arguments and its environment"


def explain_failure(words: bytes, command: Texts) -> SandboxError:
    """Make an error of what bubblewrap said, and of what to do about it."""
    said = words.decode("utf-8", "replace").strip().removeprefix(BWRAP_MARK.decode())[:500]
    if said.startswith(_NO_EXEC):
        reason = said.rpartition(": ")[2]
        hint = next((hint for word, hint in _PROGRAM_HINTS if word in reason), _TOO_LONG)
        return SandboxError(
            f"{command[0]} cannot be started in the sandbox: {reason}", code="no-program", hint=hint
        )
    hint = (
        _ALLOW_HINT
        if any(word in said for word in _SPACES)
        else "`metier doctor` shows which parts of the sandbox work here"
    )
    what = said or "it ended before the program began"
    return SandboxError(f"the sandbox could not be set up: {what}", code="sandbox", hint=hint)
