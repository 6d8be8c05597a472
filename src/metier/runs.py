"""The nouns of running: what a sandbox is told, what comes back, and what may be granted. A listing loads none of it."""

from __future__ import annotations

from typing import NamedTuple

SKILL, SCRATCH, HOME, SECRETS = "/skill", "/scratch", "/home/skill", "/run/secrets"
"""Where a script finds its skill (to read), a folder of its own (to write), its home, and the secrets lent as files."""
TIMED_OUT, REFUSED, KILLED = 124, 125, 137
"""The exit codes that are metier's: out of time; refused, or the sandbox failed; stopped for another limit."""

MIB = 1024 * 1024


class Mount(NamedTuple):
    """A file or folder of this machine, and where a script sees it."""

    source: str
    target: str
    writable: bool = False


class Given(NamedTuple):
    """A file that is made of bytes: a script can read it, and it lies nowhere on this machine."""

    target: str
    data: bytes


class Bounds(NamedTuple):
    """How much a run may take. Every number is a limit of the whole run, except `file_bytes`."""

    seconds: int = 120
    memory_bytes: int = 1024 * MIB
    processes: int = 64
    output_bytes: int = 4 * MIB
    scratch_bytes: int = 256 * MIB
    """What fits into scratch folder, home and temporary folder, into each."""
    file_bytes: int = 256 * MIB
    """The largest single file that it may write."""


class Cage(NamedTuple):
    """All that a sandbox is told. What is not named in it is not there: no other file, variable, network or descriptor.

    The system's own programs and libraries (`/usr` and what belongs to it) are the sandbox's to add, read-only.
    """

    command: tuple[str, ...]
    """The program by its path inside, and its arguments: never a line for a shell."""
    mounts: tuple[Mount, ...] = ()
    files: tuple[Given, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    """The whole environment."""
    folder: str = SCRATCH
    network: bool = False
    bounds: Bounds = Bounds()
    sockets: bool = True
    """Whether it may connect to sockets by their place on the disk: not where folders are lent in which somebody may listen."""
    reports: bool = False
    """Whether the program may hand back a report beside its output: it writes to the descriptor that METIER_REPORT names."""


class Ended(NamedTuple):
    """How a run came to its end."""

    code: int
    """The program's own exit code; 128 and a signal's number where one ended it; metier's own where a limit did."""
    stopped: str = ""
    """Which limit ended it: `time`, `output`, `memory`, `processes`; `asked` when the caller did; nothing when it ended itself."""
    seconds: float = 0.0
    report: bytes = b""
    truncated: bool = False
    """Whether it printed more than was handed on."""


class Layer(NamedTuple):
    """One part of what keeps a script in: whether this machine has it, and what it is worth."""

    name: str
    """`bubblewrap`, `user namespace`, `seccomp`, `landlock`, `rlimits`, `cgroup`, `watchdog`; of a host's sandbox, its own."""
    active: bool
    detail: str
    needed: bool = False
    """Whether nothing is run without it."""
    hint: str = ""
    """What to do where it is missing."""


class Wishes(NamedTuple):
    """What a skill declares that its scripts need beyond themselves."""

    network: bool = False
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    """What it asks for in words that mean nothing here; never granted."""


class Lent(NamedTuple):
    """What the caller lends to this one run, by name."""

    network: bool = False
    """A yes to the network for a skill that declares it."""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    seconds: int = 0
    """A shorter or longer time than configuration says; 0 takes that."""


class Allowance(NamedTuple):
    """What one run is granted: what was declared, cut down to what the user allows and what the skill's standing permits."""

    network: bool
    mounts: tuple[Mount, ...]
    bounds: Bounds
    refused: tuple[str, ...]
    """What was declared or asked for and is not granted, each with the reason."""
    unmet: tuple[str, ...] = ()
    """What the caller lends by name and what cannot be lent: nothing is run without it."""


class Ran(NamedTuple):
    """What a run came to, for whoever asked for it."""

    name: str
    script: str
    code: int
    output: str
    """What it printed, both streams as they came, cleaned: no value that it was lent, no sequence that steers a terminal."""
    stopped: str = ""
    seconds: float = 0.0
    truncated: bool = False
    digest: str | None = None
    result: str | None = None
    """What a code skill gave back; nothing when it declined, or is no code skill."""
    error: str = ""
    """Why a code skill failed, in words."""
    declined: bool = False
    """Whether a code skill left the task to others."""
    sandboxed: bool = True


class Call(NamedTuple):
    """A code skill about to be called."""

    skill: str
    task: str
    context: str = ""
    dispatch: str = ""
    """The id that all calls of one dispatch share."""


class Veto(NamedTuple):
    """A hook's no."""

    reason: str


def never() -> bool:
    """Say that nobody wants a run ended before its time."""
    return False
