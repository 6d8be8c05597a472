"""Reads a skill's instructions for the commands that they tell an agent to run: fenced and indented
blocks, and lines of code in a sentence that tells to. Pure.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from metier.run.observe.model import NotTried
from metier.scan.languages.markdown import segments
from metier.scan.model import word_set

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from metier.run.observe.placeholders import CommandFiller
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
DEEP_SPACES = 6
_IMPERATIVE = re.compile(
    r"(?:^|[.:;!?)\]\n`,-]|\d\.)[\s*_>]*(?:(?:then|first|next|finally|now|always|also|and|to [a-z ]{3,40},|please"
    r"|(?:if|when|once|after|before) [^.,`]{0,60},)[\s,]*){0,4}"
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
    r"|\b(?:bad|wrong|unsafe|dangerous|malicious|harmful|anti-?pattern)\b|\binstead of\b[^,]*$",
    re.IGNORECASE,
)
"""What above a block says that nobody is to run it; "it never deletes" does not."""
_CLAUSE_END = re.compile(r"[.;!?]\s+|,\s+(?=(?:so|then|always|first|just)\b)")
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


class ToldCommand(NamedTuple):
    """Shell text that an agent is told to run, filled in, and where it stands."""

    lines: str
    place: str
    """`SKILL.md:12`."""


class InstructionReader:
    """Reads one skill's own file."""

    def __init__(
        self,
        main: str,
        text: str,
        scripts: Sequence[str],
        filler: CommandFiller,
        has: Collection[str],
    ) -> None:
        """Take what is known: the skill's scripts, and the programs that read blocks of a language."""
        self.main, self.text, self.scripts = main, text, scripts
        self.filler, self.has = filler, has
        self.left_out: list[NotTried] = []
        """What stands there and is not to be run, and why."""

    def commands(self) -> Iterator[ToldCommand]:
        """Give the commands that the text tells an agent to run, in their order."""
        text = self.text
        for piece in segments(text):
            line = text.count("\n", 0, piece.start) + 1
            place = f"{self.main}:{line}"
            if piece.place == "fence":
                yield from self.fence(text, piece, place)
            elif piece.place == "code" or (piece.place == "list" and self.is_deep(text, piece)):
                code = textwrap.dedent(text[piece.start : piece.end]).strip("\n")
                if self.looks_run(code) and not self.is_warned(text, piece.start):
                    yield ToldCommand(self.filler.fill(code), place)
            elif piece.place == "code-span" and self.is_told(text, piece):
                yield ToldCommand(self.filler.fill(text[piece.start : piece.end]), place)

    def fence(self, text: str, piece: MarkdownSegment, place: str) -> Iterator[ToldCommand]:
        """Give a fenced block as a command, where it is one."""
        language = piece.lang.lower()
        code = text[piece.start : piece.end].strip("\n")
        if self.is_warned(text, piece.start):
            if language in SHELLS or self.looks_run(code):
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
            yield ToldCommand(self.filler.fill("\n".join(lines)), place)
        elif language in PROGRAMS and _runs_alone(code):
            program = PROGRAMS[language]
            if self.has and program not in self.has:
                self.left_out.append(NotTried(place, f"{program} is not installed"))
                return
            given = f"{program} - <<'METIER_END'\n{self.filler.fill(code, quote=False)}\nMETIER_END"
            yield ToldCommand(given, place)

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
        # What warns of something else says nothing of the block.
        clause = _CLAUSE_END.split(line)[-1]
        return bool(_WARNS.search(clause)) and not _TOLD.search(clause)


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
