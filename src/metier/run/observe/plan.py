"""Plans what is tried: the commands that a skill's instructions tell an agent to run, its scripts in
several ways, its setup steps, and a code skill's `run`. Pure.

What is not tried is listed with the reason: silence is not safety.
"""

from __future__ import annotations

import calendar
import re
import shlex
import textwrap
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from metier.run.interpreters import interpreter_of, options_of
from metier.run.observe.model import BY_FUNCTIONS, GIVEN_DOMAIN, ONE_BY_ONE, NotTried, Try
from metier.run.observe.placeholders import SKILL_FOLDERS, CommandFiller
from metier.run.observe.samples import sample_path, value_of, words_of
from metier.scan.languages.markdown import segments
from metier.scan.model import word_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from metier.model import Texts
    from metier.run.observe.model import Stage, WatchLimits
    from metier.scan.languages.markdown import MarkdownSegment

SHELLS = frozenset(
    {"bash", "sh", "shell", "zsh", "console", "terminal", "shell-session", "shellsession", "ksh",
     "shellscript", "bash-session", "sh-session"}
)  # fmt: skip
PROGRAMS = {
    "python": "python3",
    "python3": "python3",
    "py": "python3",
    "javascript": "node",
    "js": "node",
    "node": "node",
}
"""Languages of a fence that is run as a program of its own."""
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
SPEEDS = (100, 1_000)
"""How many times as fast the clock runs for a script that sets a timer. The slower one leaves programs
enough time to wait for an answer."""
MAX_SHOWN_CHARS = 120

_IMPERATIVE = re.compile(
    r"(?:^|[.:;!?)\]\n`,-]|\d\.)[\s*_>]*(?:(?:then|first|next|finally|now|always|also|and|to [a-z ]{3,40},|please"
    r"|(?:if|when|once|after|before) [^.`]{0,60},)[\s,]*)*"
    r"(run|execute|call|invoke|use|start|type|launch|install|paste|issue|do)\b[^.`\n]{0,60}$",
    re.IGNORECASE,
)
_RUN_VERBS = word_set("run execute invoke type paste issue launch")
_ARTICLES = word_set("the a an this that your our all each any it one every")
_AGAINST = re.compile(
    r"\b(?:never|do not|don't|avoid|must not|refuse|instead of|bad|wrong|unsafe|dangerous|malicious|anti-?pattern)\b",
    re.IGNORECASE,
)
_WARNS = re.compile(
    r"\b(?:never|do not|don't|must not|should not|avoid|refuse to|not to|cannot)\s+(?:ever\s+|be\s+|to\s+)?"
    r"(?:run|execute|use|do|copy|paste|type|install|call|follow|start|try|write|accept|obey|ran|used|"
    r"executed|running|using|doing|this|these|it|any|such|commands?)\b"
    r"|\b(?:instead of|bad|wrong|unsafe|dangerous|malicious|harmful|anti-?pattern)\b",
    re.IGNORECASE,
)
"""What above a block says that nobody is to run it; "it never deletes" does not."""
_TOLD = re.compile(
    r"(?<!not )(?<!never )(?<!n't )\b(?:run|execute|append|use|paste|type)\s+(?:this|these|it|them|the)\b",
    re.IGNORECASE,
)
"""An order that a warning in the same line does not take back: "Run this as it is; it must not be changed"."""
_LOOKS_RUN = re.compile(
    r"(?:\./|bash |sh |python3? |node |npx |npm |pip3? |uv |uvx |curl |wget |git "
    r"|make\b|docker |scripts/|~/|cat |tar |echo |export |source )"
)
_SHELL_START = re.compile(r"(?:sudo )?(?:\(|\{ |[A-Za-z_]\w*=|([a-z][\w.+-]*)(?=[\s;]|$))")
_SHELL_FIRST_WORDS = word_set(
    "alias apk apt apt-get awk aws az base64 bat brew bun bunx cargo cd chmod chown claude cmp codex comm "
    "command conda convert cp crontab cut date defaults deno df diff dig do done du egrep else env esac "
    "eval exec fd ffmpeg fi file find for gcloud gh git glab go gpg gradle grep gunzip gzip head helm host "
    "hostname id if install java journalctl jq kill kubectl launchctl ln ls make mkdir mktemp mv mvn mysql nc "
    "nohup nslookup od openssl pandoc patch perl php pip pipx pnpm poetry printenv printf ps psql pwd read "
    "redis-cli rg rm rsync ruby scp sed set sh shasum sha256sum sleep sort sqlite3 ssh stat systemctl tail tar "
    "tee terraform test then time timeout touch tr trap type uname uniq unset unzip uvx watch wc wget which "
    "while whoami xargs xxd yarn yq zip zsh"
)
"""Words with which a line of a shell begins."""
_CONTINUED = re.compile(r"\\\n[ \t]*|\n[ \t]*(?=(?:\||&&)[ \t])|(?<=[|&])[ \t]*\n[ \t]*")
_STEP = re.compile(r"^\s*\d{1,2}[.)]\s+(?:[^`\n]{1,80}:)?[\s*_]*$")
"""A step of a numbered list that is a command, or ends in one: `2. Make it executable: ...`."""
_STEP_RUNS = re.compile(
    r"(?:/tmp/|chmod|mkdir|rm|cp|mv|sudo|perl|ruby|bun|deno|pnpm|yarn|cargo|go|gh|aws|ssh|scp|rsync"
    r"|openssl|crontab|systemctl|nohup|env|printf|find|sed|nc|sqlite3|gcloud|kubectl)\S* \S"
)
_INTRODUCES = re.compile(r"(?::|\b(?:with|via|by|using|through|with this))[\s*_]*$")
_LINE_OF_SHELL = re.compile(r"^[a-z.~/][\w./~-]* .*(?: && | \|\| | \| |>> ?| > |; )")
"""Several commands in one line, or one that writes a file: whoever puts a colon before it means it."""
_PROMPT = re.compile(r"^[$%] (?=\S)")
_OPTION = re.compile(
    r"add_argument\(\s*(?:['\"]-\w['\"],\s*)?['\"](--[a-z][\w-]*|-[a-zA-Z](?=['\"]\s*[,)](?!\s*['\"]--)))['\"]"
    r"([^)]{0,400})\)"
)
_FLAG = re.compile(
    r"action\s*=|type\s*=\s*(?:int|float)|choices\s*=|default\s*=\s*['\"][\w -]{0,40}['\"]"
)
"""Options that need no value: they are switches, numbers, or have a value of their own."""
_NUMBER = re.compile(r"^(?![^)]*(?:default|required)\s*=)[^)]*type\s*=\s*(?:int|float)")
_GROUP = re.compile(r"\b(\w{1,40})[ \t]{0,4}=[ \t]{0,4}\w{1,40}\.add_mutually_exclusive_group\(")
_GROUPED = re.compile(r"\b(\w{1,40})\.add_argument\(\s{0,80}['\"]--([a-z][\w-]{1,60})['\"]")
_POSITIONAL = re.compile(r"add_argument\(\s*['\"]([a-z_][\w-]*)['\"]")
_SHELL_ARGUMENT = re.compile(r"\$\{?([1-9])\b")
_PROGRAM_ARGUMENT = re.compile(
    r"argv\s*(?:\[\s*([1-9])|\.slice\(|\[2:|\[1:|\.length)|len\(\s*(?:sys\.)?argv"
)
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
_CHOICES = re.compile(
    r"add_argument\(\s*(?:['\"]-\w['\"],\s*)?['\"](-{0,2}[a-z][\w-]*)['\"]"
    r"(?:(?!choices\s{0,8}=)[^)]){0,400}choices\s{0,8}=\s{0,8}[\[({]([^\])}]{0,600})[\])}]"
)
_DEFAULT = re.compile(r"default\s*=\s*['\"]([\w.-]+)['\"]")
_WORD = re.compile(r"['\"]([\w.-]{1,30})['\"]")
_SUBCOMMAND = re.compile(r"add_parser\(\s*['\"]([\w.-]{1,30})['\"]")
_SHELL_CASE = r"\bcase[ \t]+\"?\$\{{?(?:1{names})\b[^\n]{{0,80}}?\bin\b"
_SHELL_FIRST = re.compile(r"^[ \t]*(?:local[ \t]+)?([a-zA-Z_]\w{0,30})=\"?\$\{?1\b", re.MULTILINE)
"""A variable of a shell script that holds the first argument."""
_SHELL_CASE_END = re.compile(r"\besac\b")
_SHELL_WORDS = re.compile(
    r"(?:^|;;|\n)[ \t]*\(?([a-z][\w.-]{1,20}(?:\s{0,8}\|\s{0,8}[\w.-]{1,30}){0,20})\)"
)
_COMPARED = re.compile(
    r"(?:argv\[[12]\]|\b(?:cmd|command|mode|action|verb|sub|subcommand))\s*={2,3}\s*['\"]([a-z][\w.-]{1,20})['\"]"
    r"|\bcase\s+['\"]([a-z][\w.-]{1,20})['\"]\s*:"
)
_SWITCH = re.compile(
    r"add_argument\(\s*(?:['\"]-\w['\"],\s*)?['\"]--([a-z][\w-]+)['\"][^)]{0,400}store_true"
    r"|option\(\s*(?:['\"]-\w['\"],\s*)?['\"]--([a-z][\w-]+)['\"][^)]{0,400}is_flag"
    r"|['\"]--([a-z][\w-]+)['\"]\s+in\s|includes\(\s*['\"]--([a-z][\w-]+)['\"]"
    r"|=\s*['\"]?--([a-z][\w-]+)['\"]?(?=\s*[\])])"
    r"|^[ \t]*(?:-\w[ \t]*\|[ \t]*)?--([a-z][\w-]+)(?:[ \t]*\|[ \t]*-\w)?\)",
    re.MULTILINE,
)
_NO_SWITCHES = word_set(
    "help version dry check list delete remove force yes apply purge prune clean wipe overwrite "
    "reset hard destroy no"
)
"""First words of switches that end a script early, or that nobody sets without being told to."""
_BOLD_SWITCHES = word_set(
    "yes force apply fix write save install do run now confirm execute commit"
)
"""First words of switches that make a script do what it only shows otherwise."""
DEEP_SPACES = 6
REPEATS = 6
"""How often a script is run once more that keeps something between its runs: some act only later."""
MAX_REPEATED = 3
MAX_SWITCHES = 6
MAX_CALLED = 8
"""Scripts of which each function is called by itself."""
MAX_ARGUMENTS = 12
MAX_CHOICES = 8
"""Of the words that a script does different things for, how many are tried."""
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
_USAGE = re.compile(r"[Uu]sage:\s{0,40}(?:\$0|%\(prog\)s|\S{1,200})\s{1,8}([^\n\"']{1,120})")
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
    unique = list({(one.command, one.lines, one.hours, one.speed): one for one in found}.values())
    usual = [one for one in unique if not one.what.endswith(ONE_BY_ONE)]
    calls = [one for one in unique if one.what.endswith(ONE_BY_ONE)][:MAX_CALLED]
    most = limits.tries - len(calls)
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
        yield from self.sped_up(commands)
        ordered = sorted(self.scripts, key=lambda path: (not path.startswith("scripts/"), path))
        ways = [list(self.script(path)) for path in ordered if path not in SETUP_NAMES]
        turns = range(max(map(len, ways), default=0))  # every script once, before any twice
        tries = [way[turn] for turn in turns for way in ways if turn < len(way)]
        yield from self.repeated(commands, tries)
        yield from sorted(tries, key=lambda one: one.what.endswith(ONE_BY_ONE))

    def repeated(self, commands: Iterable[Try], tries: Iterable[Try]) -> Iterator[Try]:
        """Give some more runs, one after the other, of scripts that may keep count: as the instructions
        start them, or with what they take.
        """
        keeping = [path for path in self.scripts if _KEEPS.search(self.text_of(path))]
        for path in keeping[:MAX_REPEATED]:
            whole = f"{self.stage.skill}/{path}"
            line = next((one.lines for one in commands if whole in one.lines), "")
            started = next((one.command for one in tries if one.place == path), ())
            again = line or shlex.join(started)
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
        for piece in segments(text):
            line = text.count("\n", 0, piece.start) + 1
            place = f"{self.skill.main}:{line}"
            if piece.place == "fence":
                yield from self.fence(text, piece, place)
            elif piece.place == "code" or (piece.place == "list" and self.is_deep(text, piece)):
                code = textwrap.dedent(text[piece.start : piece.end]).strip("\n")
                if self.looks_run(code) and not self.is_warned(text, piece.start):
                    yield self.shell("command", self.filler.fill(code), place)
            elif piece.place == "code-span" and self.is_told(text, piece):
                yield self.shell("command", self.filler.fill(text[piece.start : piece.end]), place)

    def sped_up(self, commands: Iterable[Try]) -> Iterator[Try]:
        """Give the commands once more that start a script which sets a timer, with a faster clock, or
        which asks what day it is, on later days.
        """
        for one in commands:
            started = [path for path in self.scripts if f"{self.stage.skill}/{path}" in one.lines]
            texts = [self.text_of(path) for path in started]
            if any(map(_TIMER.search, texts)):
                yield from (_faster(one, speed) for speed in SPEEDS)
            yield from (_later(one, hours) for hours in self.hours_later("\n".join(texts)))

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

    def fence(self, text: str, piece: MarkdownSegment, place: str) -> Iterator[Try]:
        """Give a fenced block as a command, where it is one."""
        language = piece.lang.lower()
        code = text[piece.start : piece.end].strip("\n")
        if self.is_warned(text, piece.start):
            if language in SHELLS:
                self.left_out.append(NotTried(place, "the text around it warns against it"))
            return
        session = _PROMPT.match(code.lstrip()) or self.looks_run(code)
        if language in SHELLS or (not language and session):
            lines = [line for line in code.split("\n") if line.strip()]
            if any(
                _PROMPT.match(line.strip()) for line in lines
            ):  # a session: answers are left out
                lines = [
                    _PROMPT.sub("", line.strip()) for line in lines if _PROMPT.match(line.strip())
                ]
            yield self.shell("command", self.filler.fill("\n".join(lines)), place)
        elif language in PROGRAMS and _runs_alone(code):
            program = PROGRAMS[language]
            if self.has and program not in self.has:
                self.left_out.append(NotTried(place, f"{program} is not installed"))
                return
            given = f"{program} - <<'METIER_END'\n{self.filler.fill(code, quote=False)}\nMETIER_END"
            yield self.shell("command", given, place)

    def looks_run(self, code: str) -> bool:
        """Tell whether each line of an indented block looks like a command."""
        lines = [line.strip() for line in _logical_lines(code) if line.strip()]
        return bool(lines) and all(
            _begins_command(line) or line.startswith(("#", *self.scripts)) for line in lines
        )

    @staticmethod
    def is_deep(text: str, piece: MarkdownSegment) -> bool:
        """Tell whether a part of a list stands as far in as a block of code in it does."""
        lines = text[piece.start : piece.end].split("\n")
        return all(not line.strip() or line.startswith(" " * DEEP_SPACES) for line in lines)

    def is_told(self, text: str, piece: MarkdownSegment) -> bool:
        """Tell whether a sentence tells the agent to run what stands in it as code. A line that
        starts one of the skill's own scripts says so by itself.
        """
        code = text[piece.start : piece.end]
        before = text[max(0, piece.start - 160) : piece.start - 1].rpartition("\n\n")[2]
        line = before.rpartition("\n")[2]
        if _AGAINST.search(line):
            return False
        step = _STEP.match(line) and (_LOOKS_RUN.match(code) or _STEP_RUNS.match(code))
        if step or self.starts_script(code):
            return True
        if _INTRODUCES.search(before) and _LINE_OF_SHELL.search(code):
            return True
        told = _IMPERATIVE.search(before)
        if told is None:
            return False
        if _LOOKS_RUN.match(code) or any(code.startswith(path) for path in self.scripts):
            return True
        # After "run" almost anything of several words is a command.
        first = code.partition(" ")[0]
        plain = re.fullmatch(r"[a-z0-9_./~-]{2,}", first) is not None and first not in _ARTICLES
        return plain and " " in code.strip() and told[1].lower() in _RUN_VERBS

    def starts_script(self, code: str) -> bool:
        """Tell whether a line starts one of the skill's scripts: with arguments, or by a program."""
        words = code.split()
        places = [word.removeprefix("./") for word in words[:2]]
        return len(words) > 1 and any(
            place == path or place.endswith(f"/{path}") for place in places for path in self.scripts
        )

    @staticmethod
    def is_warned(text: str, start: int) -> bool:
        """Tell whether the line above a block says not to do it."""
        above = text[max(0, start - 300) : start].rstrip("`~ \n").rstrip()
        fence = above.rfind("\n```")
        last = (
            above[:fence] if fence >= 0 and above[fence + 4 :].strip().isalpha() else above
        ).rstrip()
        line = last.rpartition("\n")[2]
        return bool(_WARNS.search(line)) and not _TOLD.search(line)

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
        with_input = self.arguments(text)
        if with_input:
            yield self.run(path, start, with_input)
        if _STANDARD_INPUT.search(text):
            fed = f"{shlex.join(start)} < {sample_path(self.filler.usual_ending(text))}"
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
        chosen = list(self.chosen(text, with_input))
        for words in chosen:
            yield self.run(path, start, words)
        if _TIMER.search(text):
            ways = dict.fromkeys((with_input, (*with_input, *switches_of(text)), *chosen[:1]))
            yield from (_faster(self.run(path, start, way), SPEEDS[-1]) for way in ways)
        asked = self.run(path, start, (*with_input, *switches_of(text)))
        for hours in self.hours_later(text):
            yield _later(asked._replace(what=path), hours)
        if numbers := self.numbers(text):
            yield self.run(path, start, (*with_input, *numbers))
        bold = switches_of(text, bold=True)
        if bold:
            yield self.run(path, start, (*with_input, *switches_of(text), *bold))
            yield self.run(path, start, bold)
            yield from (self.run(path, start, (*words, *bold)) for words in chosen[:2])
        for switch in (*switches_of(text), *bold):  # some exclude each other, or come first
            yield self.run(path, start, (*with_input, switch))
            yield self.run(path, start, (switch,))

    @staticmethod
    def numbers(text: str) -> Texts:
        """Give the options that want a number and have none by themselves, each with one."""
        names = [option for option, rest in _OPTION.findall(text) if _NUMBER.search(rest)]
        return tuple(word for name in names[:MAX_ARGUMENTS] for word in (name, "3"))

    def chosen(self, text: str, given: Texts) -> Iterator[Texts]:
        """Give arguments for each word that a script does something else for: the choices of an
        option, and subcommands.
        """
        found: list[Texts] = []
        for match in _CHOICES.finditer(text):
            usual = _DEFAULT.search(text, match.end(), match.end() + 200)
            words = [one for one in _WORD.findall(match[2]) if usual is None or one != usual[1]]
            for word in words:
                if match[1].startswith("-"):
                    found.append((*given, match[1], word))
                elif word not in given:
                    found.append(tuple(word if one == _first(match[2]) else one for one in given))
        plain = list(_SUBCOMMAND.findall(text))
        plain += [one or other for one, other in _COMPARED.findall(text)]
        names = "".join(f"|{name}" for name in dict.fromkeys(_SHELL_FIRST.findall(text)))
        first_word = re.compile(_SHELL_CASE.format(names=names))
        for block in _SHELL_CASE_END.split(text)[:-1]:
            if head := first_word.search(block):
                words = _SHELL_WORDS.findall(block, head.end())
                plain += [one.split("|")[0].strip() for one in words]
        if usage := _USAGE.search(text):
            first = usage[1].split()[0].strip("[](){}<>\"'")
            plain += (
                first.split("|") if re.fullmatch(r"[a-z][\w-]*(?:\|[a-z][\w-]*)+", first) else []
            )
        rest = tuple(one for one in given if not one.startswith("out-"))
        found += [(word, *(one for one in rest if one != word)) for word in plain]
        yield from list(dict.fromkeys(found))[:MAX_CHOICES]

    def call_functions(self, path: str, start: Texts, text: str, ending: str) -> Try:
        """Make a try that calls the functions of a script, as an agent might that reads the skill."""
        caller = self.callers.get(start[0], "").replace(GIVEN_DOMAIN, self.stage.domain)
        program = "bash" if start[0] == "sh" else start[0]
        command = (program, "-e" if program == "node" else "-c", caller, start[-1])
        sample = sample_path(self.filler.usual_ending(text))
        # Whole, for where it becomes the end of an address.
        return Try("script", f"{path}{ending}", path, (*command, f"{self.stage.project}/{sample}"))

    @staticmethod
    def run(path: str, start: Texts, arguments: Texts) -> Try:
        """Make a try of a script with some arguments."""
        return Try("script", " ".join((path, *arguments)), path, (*start, *arguments))

    def arguments(self, text: str) -> Texts:
        """Guess a line of arguments, by the usage line or by how a script reads them."""
        usage = _USAGE.search(text)
        if usage:
            words = [word for word in usage[1].split() if not word.startswith("[")]
            found = [
                self.argument(word.strip("<>\"'"), text)
                for word in words
                if word not in {"...", "|"}
            ]
            if found:
                return tuple(found[:6])
        given: list[str] = []
        options = [option for option, rest in _OPTION.findall(text) if not _FLAG.search(rest)]
        for option in options[:MAX_ARGUMENTS]:
            given += [option, self.argument(option.strip("-"), text)]
        chosen = {one[1]: _first(one[2]) for one in _CHOICES.finditer(text)}
        for name in _POSITIONAL.findall(text)[:MAX_ARGUMENTS]:
            given.append(chosen.get(name) or self.argument(name, text))
        if given:
            return tuple(given[:MAX_ARGUMENTS])
        numbers = [int(one or 1) for one in _PROGRAM_ARGUMENT.findall(text)]
        numbers += [int(one) for one in _SHELL_ARGUMENT.findall(text)] if "argv" not in text else []
        if not numbers:
            return ()
        first = sample_path(self.filler.usual_ending(text))
        return (first, *(f"out-{at}" for at in range(2, min(max(numbers), 4) + 1)))

    def argument(self, name: str, text: str) -> str:
        """Give a value for an argument, by its name."""
        if name.startswith("-"):
            return name
        if {"out", "output", "dest", "destination", "target", "outfile"} & words_of(name):
            return "out.txt"
        found = value_of(name, self.stage.domain)
        return found or sample_path(self.filler.usual_ending(text))

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


def _begins_command(line: str) -> bool:
    """Tell whether a line of an indented block begins as one of a shell does."""
    start = _SHELL_START.match(line)
    known = start is not None and (start[1] is None or start[1] in _SHELL_FIRST_WORDS)
    return known or _LOOKS_RUN.match(line) is not None


def _logical_lines(code: str) -> Iterator[str]:
    """Give the lines of some shell text: one that goes on is one, and so is a text in quotation marks."""
    held: list[str] = []
    marks = Counter[str]()
    for line in _CONTINUED.sub(" ", code).split("\n"):
        if not held and line.lstrip().startswith("#"):
            yield line
            continue
        held.append(line)
        marks.update({mark: line.count(mark) for mark in "'\""})
        if all(count % 2 == 0 for count in marks.values()):
            yield "\n".join(held)
            held = []
    yield from held


def _first(choices: str) -> str:
    """Give the first word of a list of choices."""
    return next(iter(_WORD.findall(choices)), "")


def _only_defines(text: str) -> bool:
    """Tell whether a Python file defines functions and calls none of them by itself."""
    return bool(
        re.search(r"^(?:async )?def [a-z]|^class [A-Z]", text, re.MULTILINE)
    ) and not _ACTS.search(text)


def _runs_alone(code: str) -> bool:
    """Tell whether a block of a program does something by itself, as opposed to showing a
    function.
    """
    return (
        len(code) > 20
        and re.search(
            r"^(?!(?:from|import|def|class|@|#|\s|$|//|const \w+ = \(|function))\S",
            code,
            re.MULTILINE,
        )
        is not None
    )


def switches_of(text: str, *, bold: bool = False) -> Texts:
    """Give the switches that a script asks for, to be set together: what they bring is what counts.
    With `bold` give those instead that somebody sets who means it.
    """
    names = [next(filter(None, match.groups())) for match in _SWITCH.finditer(text)]
    groups = set(_GROUP.findall(text))
    last = {group: name for group, name in _GROUPED.findall(text) if group in groups}
    others = {name for group, name in _GROUPED.findall(text) if last.get(group, name) != name}
    chosen = [
        name
        for name in dict.fromkeys(names)
        if name not in others  # of those that exclude each other, the last
        and (
            name.split("-")[0] in _BOLD_SWITCHES if bold else name.split("-")[0] not in _NO_SWITCHES
        )
    ]
    return tuple(f"--{name}" for name in chosen[:MAX_SWITCHES])


def _later(one: Try, hours: int) -> Try:
    """Give a try on a later day."""
    return one._replace(hours=hours, what=f"{one.what} {hours // DAY_HOURS} days later")


def _faster(one: Try, speed: int) -> Try:
    """Give a try with a clock that runs so many times as fast."""
    return one._replace(speed=speed, what=f"{one.what} (clock {speed} times as fast)")
