"""Plans what is tried: the commands that a skill's instructions tell an agent to run, its scripts in
several ways, its setup steps, and a code skill's `run`. Pure.

What is not tried is listed with the reason: silence is not safety.
"""

from __future__ import annotations

import calendar
import re
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from metier.run.interpreters import interpreter_of, options_of
from metier.run.observe.instructions import InstructionReader
from metier.run.observe.model import (
    BY_FUNCTIONS,
    GIVEN_DOMAIN,
    ONE_BY_ONE,
    SPEEDS,
    NotTried,
    Try,
    faster,
    unmarked,
)
from metier.run.observe.placeholders import SKILL_FOLDERS, CommandFiller
from metier.run.observe.samples import sample_path
from metier.run.observe.script_arguments import (
    arguments_of,
    choices_of,
    numbers_of,
    switches_of,
)
from metier.scan.model import word_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from metier.model import Texts
    from metier.run.observe.model import Stage, WatchLimits

SETUP_NAMES = ("setup.sh", "install.sh", "scripts/setup.sh", "scripts/install.sh", "bootstrap.sh")
MAX_FILES = 400
DAY_HOURS = 24
HOURS_LATER = (44 * DAY_HOURS, 130 * DAY_HOURS + 6, 216 * DAY_HOURS + 12, 399 * DAY_HOURS + 18)
"""How far the clock is moved for a script that asks what time it is: to another season each time, another
quarter of the day, and once to a weekend.
"""
MAX_DATES, PAST_DATE_HOURS, FURTHEST_HOURS = 2, 33 * DAY_HOURS, 9 * 365 * DAY_HOURS
"""Of the dates that a script names, so many are tried, each a month after it has passed: some languages
count months from 0.
"""
MAX_SHOWN_CHARS = 120

_STANDARD_INPUT = re.compile(
    r"sys\.stdin|process\.stdin|/dev/stdin|\bread -r\b|while read|input\(\)"
)
_TIME = re.compile(
    r"datetime|time\.time|time\.local|date \+|new Date|Date\.now|\$\(date|weekday|getDay|EPOCH"
)
_DATE = re.compile(r"\b(20[2-9]\d)[-/., ]{1,3}0?(1[0-2]|[1-9])[-/., ]{1,3}0?([12]\d|3[01]|[1-9])\b")
_MOMENT = re.compile(r"\b(1[7-9]\d{8}|2[0-3]\d{8})(?:000)?\b")
"""A time in seconds, or in thousandths of them."""
_KEEPS = re.compile(
    r"\.cache|\.local/|\.config/|XDG_|localStorage|tempfile|/tmp/|shelve|sqlite3|homedir\(|expanduser|Path\.home|\$HOME|~/"
)
"""A place in which a script can keep what it knows until it runs again."""
_TIMER = re.compile(
    r"setTimeout|setInterval|timers/promises|asyncio\.sleep|call_later|call_at|\bsched\b|Timer\("
    r"|\.wait\([^)]|detached\s*:|Atomics\.wait"
)
_IN_CI = re.compile(r"\bCI\b|GITHUB_ACTIONS|GITLAB_CI|JENKINS|BUILDKITE")
REPEATS = 6
"""How often a script is run once more that keeps something between its runs: some act only later."""
MAX_REPEATED, MAX_SPED = 3, 4
MAX_CALLED = 8
"""Scripts of which each function is called by itself."""
NO_CALLERS: Mapping[str, str] = {}
_SHELL_FUNCTION = re.compile(r"^(?:function +\w|[\w:.-]+ *\(\))", re.MULTILINE)
_ACTS = re.compile(
    r"^if __name__|^(?:main|run|cli|app)\(|^sys\.exit\(|^asyncio\.run\(|^(?:async )?(?:for|while|with) |^print\("
    r"|^[^\s#][^\n]*\.parse_(?:known_)?args\(",
    re.MULTILINE,
)
"""What shows that a Python file does something by itself."""
_DEFINES = {
    "python3": re.compile(r"^[ \t]*(?:async )?def \w", re.MULTILINE),
    "node": re.compile(
        r"^(?:export )?(?:default )?(?:(?:async )?function\b|class \w"
        r"|(?:const|let|var) \w+ = .{0,80}(?:=>|function\b))",
        re.MULTILINE,
    ),
    "bash": _SHELL_FUNCTION,
    "sh": _SHELL_FUNCTION,
}
"""What shows that a script defines functions, by the program that reads it."""
_VARIABLE = re.compile(
    r"(?:\$\{?([A-Z][A-Z0-9_]{2,40})"
    r"|(?:environ(?:\.get)?[\[(]\s*|getenv\(\s*|process\.env\.)['\"]?([A-Z][A-Z0-9_]{2,40})['\"]?)"
    r"(:?-(?!\})|\s{0,8},(?!\s*(?:''|\"\"|None)\s*\))"
    r"|\s{0,8}[)\]]?\s{0,8}(?:\|\||\?\?|or\b)(?![\s{(]*(?:sys\.exit|process\.exit|exit|die|fail|raise|abort|usage|''|\"\"|None)))?"
)
"""A variable that is read: in a shell, or in a program; and whether something stands in for it."""
_OWN_VARIABLES = word_set(
    "HOME PATH USER SHELL PWD OLDPWD LANG TERM TMPDIR LOGNAME HOSTNAME EDITOR CI RANDOM "
    "SECONDS BASH_SOURCE IFS LINENO PPID UID EUID"
)
_OWN_PREFIXES = ("BASH_", "GITHUB_", "XDG_", "PYTEST_", "OPT", "LC_", "METIER_", "npm_")


class ReadSkill(NamedTuple):
    """What is read of a skill to plan: its name, its kind and its files."""

    name: str
    kind: str
    """`skill-md`, `flat-md` or `code`."""
    main: str
    """The path of its own file: `SKILL.md`."""
    files: Mapping[str, bytes]


class ObservePlan(NamedTuple):
    """What will be tried, in order, and what won't."""

    tries: tuple[Try, ...]
    left_out: tuple[NotTried, ...]


def plan_tries(
    skill: ReadSkill,
    stage: Stage,
    limits: WatchLimits,
    *,
    only: str = "",
    has: Iterable[str] = (),
    callers: Mapping[str, str] = NO_CALLERS,
    now: float = 0,
) -> ObservePlan:
    """Plan an observation. With `only`, just that script is tried; `has` are the programs of this
    machine that read scripts, `callers` are the programs that call what a script defines, and `now`
    is the time.
    """
    planner = _Planner(skill, stage, frozenset(has), callers, now)
    found = list(planner.script(only) if only else planner.everything())
    found = [
        one if one.kind == "functions" else one._replace(what=unmarked(one.what)) for one in found
    ]
    unique = list({(one.command, one.lines, one.hours, one.speed): one for one in found}.values())
    usual = [one for one in unique if one.kind != "functions"]
    calls = [one for one in unique if one.kind == "functions"][:MAX_CALLED]
    most = max(limits.tries - len(calls), 0)
    kept = [*usual[:most], *calls]
    left = [
        NotTried(one.what, f"only the first {limits.tries} are tried")
        for one in unique
        if one not in kept
    ]
    return ObservePlan(tuple(kept), (*planner.left_out, *left))


def asked_variables(files: Mapping[str, bytes]) -> Texts:
    """Give the variables that a skill needs, for the stage to fill: those that it reads, and has no
    value for by itself.
    """
    found: dict[str, None] = {}
    for data in files.values():
        for match in _VARIABLE.finditer(data[:200_000].decode("utf-8", "replace")):
            name = match[1] or match[2]
            own = name in _OWN_VARIABLES or name in SKILL_FOLDERS or name.startswith(_OWN_PREFIXES)
            if not own and not match[3]:
                found[name] = None
    return tuple(found)[:60]


class _Planner:
    """Reads one skill for what to try."""

    def __init__(
        self,
        skill: ReadSkill,
        stage: Stage,
        has: frozenset[str],
        callers: Mapping[str, str],
        now: float,
    ) -> None:
        self.skill, self.stage, self.has, self.callers = skill, stage, has, callers
        self.now = now
        self.left_out: list[NotTried] = []
        self.scripts = [path for path in list(skill.files)[:MAX_FILES] if self.reader(path)]
        self.filler = CommandFiller(skill.main, skill.files, stage)

    def everything(self) -> Iterator[Try]:
        """Give all that is tried: setup, commands in their order, then scripts."""
        if self.skill.kind == "code":
            yield from self.code()
            return
        yield from self.setup()
        commands = list(self.commands())
        yield from commands
        ordered = sorted(self.scripts, key=lambda path: (not path.startswith("scripts/"), path))
        found = [list(self.script(path)) for path in ordered if path not in SETUP_NAMES]
        ways = [some for some in found if some]
        turns = range(max(map(len, ways), default=0))  # every script once, before any twice
        tries = [way[turn] for turn in turns for way in ways if turn < len(way)]
        yield from tries[: len(ways)]
        yield from self.sped_up(commands)
        yield from self.repeated(commands, tries)
        yield from tries[len(ways) :]

    def repeated(self, commands: Sequence[Try], tries: Sequence[Try]) -> Iterator[Try]:
        """Give some more runs, one after the other, of scripts that may keep count: as the instructions
        start them, or with what they take.
        """
        keeping = [path for path in self.scripts if _KEEPS.search(self.text_of(path))]
        for path in keeping[:MAX_REPEATED]:
            told = self.started_by(path, commands)
            started = next((one.command for one in tries if one.place == path), ())
            again = told.lines if told else shlex.join(started)
            if again and "\nexit" not in again:
                lines = f"for again in {' '.join(map(str, range(REPEATS)))}; do\n{again}\ndone"
                yield Try("script", f"{path}, {REPEATS} times", path, ("bash", "-c", lines), lines)

    def reader(self, path: str) -> str:
        """Name the program that reads a script; nothing for what is none."""
        data = self.skill.files[path]
        if path == self.skill.main or path.endswith(
            ("__init__.py", ".md", "setup.py", "conftest.py")
        ):
            return ""
        return interpreter_of(path, data[:4096])

    # --- setup

    def setup(self) -> Iterator[Try]:
        """Give the steps that install something."""
        files = self.skill.files
        for path in SETUP_NAMES:
            if path in files and self.reader(path):
                yield Try("setup", path, path, ("bash", f"{self.stage.skill}/{path}"))
        makefile = files.get("Makefile", b"").decode("utf-8", "replace")
        for target in ("install", "setup"):
            if re.search(rf"^{target}\s*:", makefile, re.MULTILINE):
                yield self.shell("setup", f"cd {self.folder} && make {target}", "Makefile")
        for path in files:
            if path.rpartition("/")[2] != "package.json":
                continue
            text = files[path].decode("utf-8", "replace")
            if re.search(r'"(?:pre|post)?install"\s*:', text):
                place = f"{self.folder}/{path}".rpartition("/")[0]
                yield self.shell(
                    "setup", f"cd {shlex.quote(place)} && npm install --no-audit --no-fund", path
                )

    # --- commands of the instructions

    def commands(self) -> Iterator[Try]:
        """Give the commands that the skill's own file tells an agent to run, in their order."""
        text = self.skill.files.get(self.skill.main, b"").decode("utf-8", "replace")
        reader = InstructionReader(self.skill.main, text, self.scripts, self.filler, self.has)
        for one in reader.commands():
            yield self.shell("command", one.lines, one.place)
        self.left_out += reader.left_out

    def sped_up(self, commands: Sequence[Try]) -> Iterator[Try]:
        """Give the first command that starts a script once more: with a faster clock where the script
        sets a timer, and on later days where it asks what day it is.
        """
        begun = {path: self.started_by(path, commands) for path in self.scripts}
        started = [(path, one) for path, one in begun.items() if one is not None]
        for path, one in started[:MAX_SPED]:
            text = self.text_of(path)
            if _TIMER.search(text):
                yield from (faster(one, speed) for speed in SPEEDS)
            yield from (_later(one, hours) for hours in self.hours_later(text))

    def started_by(self, path: str, commands: Iterable[Try]) -> Try | None:
        """Give the first command that starts a script."""
        whole = f"{self.stage.skill}/{path}"
        return next((one for one in commands if whole in one.lines), None)

    def hours_later(self, text: str) -> Iterator[int]:
        """Give how far the clock is moved for a script: not at all for one that asks for no time."""
        if not _TIME.search(text):
            return
        moments = [float(one) for one in _MOMENT.findall(text)]
        for year, month, day in _DATE.findall(text):
            with suppress(ValueError):
                moments.append(calendar.timegm((int(year), int(month), int(day), 0, 0, 0)))
        ahead = {round((one - self.now) / 3600) + PAST_DATE_HOURS for one in moments}
        named = sorted(hours for hours in ahead if PAST_DATE_HOURS < hours < FURTHEST_HOURS)
        yield from (named[:MAX_DATES] if self.now else ())
        yield from HOURS_LATER

    def text_of(self, path: str) -> str:
        """Give the text of one of the skill's files."""
        return self.skill.files[path][:400_000].decode("utf-8", "replace")

    def shell(self, kind: str, lines: str, place: str) -> Try:
        """Make a try of some shell text."""
        shown = " ; ".join(line.strip() for line in lines.split("\n") if line.strip())
        shown = shown.replace(f"{self.stage.skill}/", "")
        short = shown if len(shown) <= MAX_SHOWN_CHARS else shown[: MAX_SHOWN_CHARS - 1] + "…"
        return Try(
            "setup" if kind == "setup" else "command", short, place, ("bash", "-c", lines), lines
        )

    @property
    def folder(self) -> str:
        """The skill's folder, for a shell."""
        return shlex.quote(self.stage.skill)

    # --- scripts

    def script(self, path: str) -> Iterator[Try]:
        """Give the ways in which one script is tried, if it is one."""
        data = self.skill.files.get(path)
        reader = self.reader(path) if data is not None else ""
        if data is None or not reader:
            self.left_out.append(NotTried(path, "it is no script that can be run"))
            return
        if self.has and reader not in self.has and reader not in {"sh", "bash"}:
            self.left_out.append(NotTried(path, f"{reader} is not installed"))
            return
        start = (reader, *options_of(data[:4096], reader), f"{self.stage.skill}/{path}")
        yield from self.ways(path, start, self.text_of(path))

    def ways(self, path: str, start: Texts, text: str) -> Iterator[Try]:
        """Give those ways: with samples, bare, with its switches, in CI, and for its help."""
        usual = sample_path(self.filler.usual_ending(text))
        with_input = arguments_of(text, usual, self.stage.domain)
        if with_input:
            yield self.run(path, start, with_input)
        if _STANDARD_INPUT.search(text):
            fed = f"{shlex.join(start)} < {usual}"
            yield self.shell("command", fed, path)._replace(kind="script", what=f"{path} < sample")
        yield self.run(path, start, ())
        switches = switches_of(text)
        if switches:
            yield self.run(path, start, (*with_input, *switches))
        if start[0] == "python3" and _only_defines(text):
            yield self.call_functions(path, start, text, BY_FUNCTIONS)
        if _IN_CI.search(text):
            lines = f"export CI=true GITHUB_ACTIONS=true\n{shlex.join((*start, *with_input))}"
            yield self.shell("command", lines, path)._replace(kind="script", what=f"{path} in CI")
        yield from self.more_ways(path, start, text, with_input)
        if "argparse" in text or "--help" in text or "getopts" in text or "commander" in text:
            yield self.run(path, start, ("--help",))
        elsewhere = start[0] == "python3" and _only_defines(text)
        if start[0] in self.callers and not elsewhere and _DEFINES[start[0]].search(text):
            yield self.call_functions(path, start, text, ONE_BY_ONE)

    def more_ways(self, path: str, start: Texts, text: str, with_input: Texts) -> Iterator[Try]:
        """Give further ways: with other words, with a faster clock, on later days, and in earnest."""
        chosen, switches = list(choices_of(text, with_input)), switches_of(text)
        for words in chosen:
            yield self.run(path, start, words)
        if _TIMER.search(text):
            ways = dict.fromkeys((with_input, (*with_input, *switches), *chosen[:1]))
            yield from (faster(self.run(path, start, way), SPEEDS[-1]) for way in ways)
        asked = self.run(path, start, (*with_input, *switches))
        for hours in self.hours_later(text):
            yield _later(asked._replace(what=path), hours)
        if numbers := numbers_of(text):
            yield self.run(path, start, (*with_input, *numbers))
        bold = switches_of(text, bold=True)
        if bold:
            yield self.run(path, start, (*with_input, *switches, *bold))
            yield self.run(path, start, bold)
            yield from (self.run(path, start, (*words, *bold)) for words in chosen[:2])
        for switch in (*switches, *bold):  # some exclude each other, or come first
            yield self.run(path, start, (*with_input, switch))
            yield self.run(path, start, (switch,))

    def call_functions(self, path: str, start: Texts, text: str, ending: str) -> Try:
        """Make a try that calls the functions of a script, as an agent might that reads the skill."""
        caller = self.callers.get(start[0], "").replace(GIVEN_DOMAIN, self.stage.domain)
        program = "bash" if start[0] == "sh" else start[0]
        command = (program, "-e" if program == "node" else "-c", caller, start[-1])
        sample = sample_path(self.filler.usual_ending(text))
        # Whole, for where it becomes the end of an address.
        return Try(
            "functions" if ending == ONE_BY_ONE else "script",
            f"{path}{ending}",
            path,
            (*command, f"{self.stage.project}/{sample}"),
        )

    @staticmethod
    def run(path: str, start: Texts, arguments: Texts) -> Try:
        """Make a try of a script with some arguments."""
        return Try("script", " ".join((path, *arguments)), path, (*start, *arguments))

    def code(self) -> Iterator[Try]:
        """Give the ways in which a code skill is called."""
        path = f"{self.stage.skill}/{self.skill.main}"
        for task in (f"use {self.skill.name} on {sample_path('md')}", ""):
            call = (
                "import importlib.util as u, sys, inspect\n"
                "s = u.spec_from_file_location('skill', sys.argv[1]); m = u.module_from_spec(s)\n"
                "s.loader.exec_module(m); n = len(inspect.signature(m.run).parameters)\n"
                "r = m.run(*[sys.argv[2], ''][:n])\n"
                "import asyncio; r = asyncio.run(r) if inspect.isawaitable(r) else r; print(r)"
            )
            yield Try(
                "code", f"run({task!r})", self.skill.main, ("python3", "-c", call, path, task)
            )


def _only_defines(text: str) -> bool:
    """Tell whether a Python file defines functions and calls none of them by itself."""
    return bool(
        re.search(r"^(?:async )?def [a-z]|^class [A-Z]", text, re.MULTILINE)
    ) and not _ACTS.search(text)


def _later(one: Try, hours: int) -> Try:
    """Give a try on a later day."""
    return one._replace(hours=hours, what=f"{one.what} {hours // DAY_HOURS} days later")
