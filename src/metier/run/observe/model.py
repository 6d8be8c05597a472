"""The nouns of observation: the stage with its decoys, what is tried, what was seen, what it means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from metier.model import Digest, Finding, Level, Texts

    TryKind = Literal["script", "functions", "command", "setup", "code", "later"]
    EventKind = Literal[
        "read",  # a decoy was opened or its folder listed
        "write",  # a file was made or changed
        "remove",  # a file is gone
        "mode",  # a file's mode was changed
        "exec",  # a program was started, with its arguments
        "lookup",  # a name was looked up
        "connect",  # a connection or a packet to an address
        "listen",  # a port was opened for others to connect to
        "send",  # bytes that went out, with the canaries in them
        "receive",  # bytes that the stand-in network handed out, and that may be run later
        "refused",  # a system call that the sandbox refuses
        "wait",  # a pause that was cut short, as if the time had passed
        "stopped",  # a try was ended by a limit
    ]


GIVEN_DOMAIN = "example.org"
"""In this lie all hosts that are given as arguments and in variables, under a name of the stage's own:
what a skill's documents show lies beside it."""
MARK_DOMAIN = "metier-observe.invalid"
"""What the stand-in network hands out looks up a name in it when it is run: nothing else does."""
PACKAGE_MARK = "pkg-"
"""How such a name begins when the code of a package looks it up."""
CLONE_MARK = "git-"
"""How it begins when the code of a cloned repository does."""

BY_FUNCTIONS = " (its functions)"
"""How a try ends that calls what a file only defines, as an agent would that reads the skill."""
ONE_BY_ONE = " (its functions, one by one)"
"""How a try ends that calls the functions of a script which would pick among them by itself: what it
does there counts less."""


def is_forced(where: str) -> bool:
    """Tell whether a try, by what it is called, called functions one by one."""
    return where.endswith(ONE_BY_ONE)


def unmarked(what: str) -> str:
    """Give a skill's own text without the mark of such a try: no skill is to set it."""
    return what.replace(ONE_BY_ONE, ONE_BY_ONE.replace("(", "[").replace(")", "]"))


class Canary(NamedTuple):
    """A secret that exists nowhere else, and where it was put."""

    value: str
    kind: str
    """`ssh-key`, `cloud`, `token`, `wallet`, `document`, `history`, `env`, …"""
    place: str
    """The path below the home (`~/.ssh/id_ed25519`), or a variable (`$AWS_SECRET_ACCESS_KEY`)."""


class Decoy(NamedTuple):
    """A file of the stage, by its path inside the sandbox."""

    path: str
    data: bytes
    mode: int = 0o600


class Stage(NamedTuple):
    """A home that looks lived in, and a project in it. The same seed gives the same stage."""

    user: str
    host: str
    home: str
    """Its path inside the sandbox, such as `/home/ada`."""
    project: str
    """Where commands begin: a folder below the home with a git repository."""
    skill: str
    """Where a copy of the skill lies, to be written to like any other folder of the home:
    `/home/ada/.claude/skills/NAME`."""
    decoys: tuple[Decoy, ...]
    variables: tuple[tuple[str, str], ...]
    canaries: tuple[Canary, ...]
    domain: str = GIVEN_DOMAIN
    """In which the hosts lie that it gives; made anew for each seed."""


class Try(NamedTuple):
    """Something that the skill would have an agent run."""

    kind: TryKind
    what: str
    """As a person reads it: `scripts/sync.py report.csv`."""
    place: str
    """Where the skill says so: `SKILL.md:12`, or the script's own path."""
    command: Texts
    """The program and its arguments, inside the sandbox. Commands of the instructions are one text
    for bash."""
    lines: str = ""
    """For a command: the shell text. It goes on in the folder and with the variables that the
    command before it left."""
    hours: int = 0
    """How many hours later the clock stands."""
    speed: int = 1
    """How many times as fast as usual its clock runs: who waits for an hour wakes up."""
    after: Texts = ()
    """Where something must have been written before; otherwise there is nothing to try."""


SPEEDS = (100, 1_000)
"""How many times as fast the clock runs for a script that sets a timer. The slower one leaves programs
enough time to wait for an answer."""


def faster(one: Try, speed: int) -> Try:
    """Give a try with a clock that runs so many times as fast."""
    return one._replace(speed=speed, what=f"{one.what} (clock {speed} times as fast)")


class NotTried(NamedTuple):
    """Something that was left out, and why: silence is not safety."""

    what: str
    why: str


class Seen(NamedTuple):
    """One thing that happened."""

    kind: EventKind
    what: str
    """`~/.ssh/id_ed25519`, `curl -d @- https://…`, `files.example.net:443`."""
    where: str
    """Which try did it: its `what`."""
    canaries: Texts = ()
    """The places of the canaries that were in the bytes."""
    size: int = 0
    data: bytes = b""
    """The first bytes of what was sent, written or handed out; never shown as they are."""
    program: str = ""
    """The program that did it, where that is known."""


class WatchLimits(NamedTuple):
    """How much one observation may take."""

    seconds: int = 20
    """For all tries of a skill together."""
    try_seconds: int = 5
    tries: int = 48
    events: int = 5_000
    sent_bytes: int = 4 * 1024 * 1024
    """How much of what is sent is kept and searched."""


class WatchRecord(NamedTuple):
    """What an observer saw."""

    events: tuple[Seen, ...]
    tried: Texts
    not_tried: tuple[NotTried, ...] = ()
    """What the time or another limit left out."""
    complete: bool = True
    """Whether everything that happened was recorded; false when a limit on events was met."""


class SkillObservation(NamedTuple):
    """The verdict on what a skill did."""

    path: str
    name: str
    digest: Digest | None
    level: Level
    findings: tuple[Finding, ...]
    events: tuple[Seen, ...]
    tried: Texts
    not_tried: tuple[NotTried, ...]
    seconds: float = 0.0
    declared: Texts = ()
    """What it says of itself: tools, variables, commands and the like."""
    seen: Texts = ()
    """What a scan sees in its text and its files that it can do."""
    done: Texts = ()
    """What it did, in a few words."""
