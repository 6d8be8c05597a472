"""The nouns of running: what a sandbox is told, what comes back, and what may be granted. A listing
loads none of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, NoReturn

from metier.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.model import Texts

    Hear = Callable[[str, bytes], None]
    """Takes the next bytes of a stream, `out` or `err`."""
    Feed = Callable[[int], bytes]
    """Gives the next bytes of an input, at most so many; nothing at its end."""
    Stopped = Callable[[], bool]
    """Tells whether somebody wants a run ended before its time."""

SKILL, SCRATCH, HOME, SECRETS = "/skill", "/scratch", "/home/skill", "/run/secrets"
"""Where a script finds its skill (to read), a folder of its own (to write), its home, and the
secrets lent as files."""
TIMED_OUT = 124
REFUSED = 125
KILLED = 137
"""The exit codes that are metier's: out of time; refused, or the sandbox failed; stopped for
another limit."""

PATH = "/usr/local/bin:/usr/bin:/bin"
COMMON_VARIABLES = {
    "PATH": PATH,
    "HOME": HOME,
    "TMPDIR": "/tmp",  # noqa: S108 - the sandbox's own
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    "PYTHONNOUSERSITE": "1",
    "PYTHONUTF8": "1",
}
"""The variables that everything has which runs in a sandbox."""

NETWORK_ACCESS = "network access"
UNDECLARED_NETWORK = (
    "This skill doesn't declare that it needs it: add 'permissions: [network]' under "
    "metadata.metier in its SKILL.md"
)
"""Why `--network` grants nothing, and what to do about it."""

MIB = 1024 * 1024


class Mount(NamedTuple):
    """A file or folder of this machine, and where a script sees it."""

    source: str
    target: str
    writable: bool = False


class GivenFile(NamedTuple):
    """A file that is made of bytes: a script can read it, and it lies nowhere on this machine."""

    target: str
    data: bytes


class RunLimits(NamedTuple):
    """How much a run may take. Every number is a limit of the whole run, except `file_bytes`."""

    seconds: int = 120
    memory_bytes: int = 1024 * MIB
    processes: int = 64
    output_bytes: int = 4 * MIB
    scratch_bytes: int = 256 * MIB
    """What fits into scratch folder, home and temporary folder, into each."""
    file_bytes: int = 256 * MIB
    """The largest single file that it may write."""
    lent_bytes: int = 1024 * MIB
    """What it may add to the folders that it is lent to change, to all of them together."""


class Guise(NamedTuple):
    """Whose machine a program believes it is on while it is watched: a home that looks lived in, and
    a network in which whatever it calls answers. Both are made for it.
    """

    user: str
    host: str
    home: str
    """Where the home is, inside."""
    home_source: str
    tmp_source: str
    """Folders of this machine, made for this and seen by nobody else, that are its home and its
    folder for temporary files: they outlast the run, so that the next one finds what this one
    left."""
    texts: tuple[GivenFile, ...] = ()
    """Files of /etc beyond the usual: who answers for names, and whose certificates count."""


class Cage(NamedTuple):
    """All that a sandbox is told. What is not named in it is not there: no other file, variable,
    network or descriptor.

    The system's own programs and libraries (`/usr` and what belongs to it) are the sandbox's to
    add, read-only.
    """

    command: Texts
    """The program by its path inside, and its arguments: never a line for a shell."""
    mounts: tuple[Mount, ...] = ()
    files: tuple[GivenFile, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    """The whole environment."""
    folder: str = SCRATCH
    network: bool = False
    bounds: RunLimits = RunLimits()
    sockets: bool = True
    """Whether it may connect to sockets by their place on the disk: not where folders are lent in
    which somebody may listen."""
    reports: bool = False
    """Whether the program may hand back a report beside its output: it writes to the descriptor
    that METIER_REPORT names."""
    guise: Guise | None = None
    """Set where the program is watched: then its one file is the launcher that it is started by."""


class RunEnded(NamedTuple):
    """How a run came to its end."""

    code: int
    """The program's own exit code; 128 and a signal's number where one ended it; metier's own where
    a limit did."""
    stopped: str = ""
    """Which limit ended it: `time`, `output`, `memory`, `processes`, `lent`; `asked` when the
    caller did; nothing when it ended itself."""
    seconds: float = 0.0
    report: bytes = b""
    truncated: bool = False
    """Whether it printed more than was handed on."""


class Layer(NamedTuple):
    """One part of what keeps a script in: whether this machine has it, and what it is worth."""

    name: str
    """`bubblewrap`, `user namespace`, `seccomp`, `landlock`, `rlimits`, `cgroup`, `watchdog`; of a
    host's sandbox, its own."""
    active: bool
    detail: str
    needed: bool = False
    """Whether nothing is run without it."""
    hint: str = ""
    """What to do where it is missing."""


class DeclaredPermissions(NamedTuple):
    """What a skill declares that its scripts need beyond themselves."""

    network: bool = False
    reads: Texts = ()
    writes: Texts = ()
    unknown: Texts = ()
    """What it asks for in words that mean nothing here; never granted."""


class Lent(NamedTuple):
    """What the caller lends to this one run, by name."""

    network: bool = False
    """A yes to the network for a skill that declares it."""
    reads: Texts = ()
    writes: Texts = ()
    seconds: int = 0
    """A shorter or longer time than configuration says; 0 takes that."""


NOTHING_LENT = Lent()


class Allowance(NamedTuple):
    """What one run is granted: what was declared, cut down to what the user allows and what the
    skill's standing permits.
    """

    network: bool
    mounts: tuple[Mount, ...]
    bounds: RunLimits
    refused: Texts
    """What was declared or asked for and is not granted, each with the reason."""
    unmet: Texts = ()
    """What the caller lends by name and what cannot be lent: nothing is run without it."""


class Ran(NamedTuple):
    """What a run came to, for whoever asked for it."""

    name: str
    script: str
    code: int
    output: str
    """What it printed, both streams as they came, cleaned: no value that it was lent, no sequence
    that steers a terminal."""
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


class CodeCall(NamedTuple):
    """A code skill about to be called."""

    skill: str
    task: str
    context: str = ""
    dispatch: str = ""
    """The id that all calls of one dispatch share."""


class ConsentRequest(NamedTuple):
    """What a person has to agree to before a code skill is called."""

    skill: str
    path: str
    task: str
    act: str
    """The word that the answer has to say."""
    question: str
    """All of it as a sentence for a person."""


class Veto(NamedTuple):
    """A hook's no."""

    reason: str


def never() -> bool:
    """Say that nobody wants a run ended before its time."""
    return False


# --- where there is no sandbox

LINUX = "Linux"
"""The layer that every other system lacks."""
_SYSTEMS = {"darwin": "macOS", "win32": "Windows"}
_HINTS = {"win32": "run it inside WSL, in a Linux container or on a Linux machine"}
_HINT = "run it in a Linux container or on a Linux machine"


def not_linux(platform: str) -> SandboxError:
    """Say plainly that scripts run on Linux alone."""
    return SandboxError(
        f"running scripts needs Linux, and this is {_SYSTEMS.get(platform, platform)}",
        code="no-sandbox",
        hint=_HINTS.get(platform, _HINT),
    )


class NoSandbox:
    """Runs nothing, and says why."""

    def __init__(self, platform: str) -> None:
        """Remember which system this is, as Python names it."""
        self.refusal = not_linux(platform)

    def layers(self) -> Sequence[Layer]:
        """Give the one layer that is missing."""
        why = self.refusal
        return (Layer(LINUX, active=False, detail=why.message, needed=True, hint=why.hint),)

    def run(
        self,
        cage: Cage,
        hear: Hear,
        feed: Feed | None = None,
        stopped: Stopped = bool,
    ) -> NoReturn:
        """Refuse."""
        del cage, hear, feed, stopped
        raise self.refusal
