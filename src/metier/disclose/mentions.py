"""Finds the skills that a text uses: the mentions in a message, and the scripts and files in a
shell command. Pure.

Mentions are `$name` and `[$name](path)`, by Codex's rules to the letter (CX-43 to CX-45). Work is
linear in the length of the text: every character is looked at a bounded number of times.

A shell command uses a skill without naming it when it runs one of its scripts or reads its file
(CX-48). That is for counting and for telling a person, never for enforcing anything: a shell has
many more ways to read a file. A skill's `allow_implicit_invocation: false` does not matter here:
every enabled skill counts, as in Codex's present code.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple

from metier.disclose.slash import arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from metier.model import Texts


NOT_MENTIONS = frozenset(
    {
        "path",
        "home",
        "user",
        "shell",
        "pwd",
        "tmpdir",
        "temp",
        "tmp",
        "lang",
        "term",
        "xdg_config_home",
    }
)
"""Variables that people write with a dollar sign, in any case (CX-43)."""
_NAME = r"[A-Za-z0-9_:\-]+"
_FOUND = re.compile(rf"\[\$({_NAME})\][ \t\n\f\r]*\(|\$({_NAME})")
_NO_SKILL = frozenset({"app", "mcp", "plugin"})


class Mentions(NamedTuple):
    """What a text mentions, in the order of the text, each once."""

    names: Texts
    """By a plain `$name`."""
    links: tuple[tuple[str, str], ...]
    """By name and path."""


class Mentionable(NamedTuple):
    """A skill as far as mentioning it goes, in the order of the catalogue."""

    name: str
    file: str
    """The path of its own file."""
    rank: int
    """0: free to use. 1 and above: it asks, or is held back. Below 0: disabled, and no mention
    means it."""


class Selected(NamedTuple):
    """Which skills a message selects, and what selects none although it looks as if it should."""

    chosen: tuple[int, ...]
    """Places in the list of skills: selections by hand, then linked paths, then plain names."""
    ambiguous: Texts = ()
    unmatched: tuple[tuple[str, str], ...] = ()
    """Name and path of selections by hand and of links to a skill's file that no enabled skill
    has."""


def kind_of(path: str) -> str:
    """Tell what a linked path is about: an app, an MCP server, a plugin, a skill, or something else
    (CX-44).
    """
    scheme, sign, _rest = path.partition("://")
    if sign and (scheme in _NO_SKILL or scheme == "skill"):
        return scheme
    return "skill" if re.split(r"[/\\]", path[-64:])[-1].lower() == "skill.md" else "other"


def path_key(path: str) -> str:
    r"""Give the form in which paths are compared: without `skill://` and with `\` as `/`, letter by
    letter otherwise (CX-44).
    """
    return path.removeprefix("skill://").replace("\\", "/")


def find_mentions(text: str) -> Mentions:
    """Find every mention of a text."""
    names: dict[str, None] = {}
    links: dict[tuple[str, str], None] = {}
    last = text.rfind(")")  # beyond it no link ends, and none is looked for
    at = 0
    while found := _FOUND.search(text, at):
        at = found.end()
        if found[2] is not None:
            names.setdefault(found[2])
            continue
        end = text.find(")", at) if at <= last else -1
        path = text[at:end].strip() if end >= 0 else ""
        if path:
            links.setdefault((found[1], path))
            at = end + 1
        else:
            at = found.start() + 1  # the bracket is only a bracket, and the name in it a plain one
    plain = tuple(name for name in names if name.lower() not in NOT_MENTIONS)
    return Mentions(plain, tuple(link for link in links if link[0].lower() not in NOT_MENTIONS))


def select_skills(
    mentions: Mentions,
    selections: Sequence[tuple[str, str]],
    skills: Sequence[Mentionable],
    connectors: Iterable[str] = (),
) -> Selected:
    """Choose the skills that a message names; `selections` are names and paths that a person picked
    from a list.

    A selection by hand blocks the plain name, even one that matches nothing (CX-45): whoever picked
    one copy did not mean another. So does a connector of that name, since nobody can tell which of
    the two is meant.
    """
    enabled = {
        path_key(skill.file): at
        for at, skill in reversed(list(enumerate(skills)))
        if skill.rank >= 0
    }
    links = [link for link in mentions.links if kind_of(link[1]) not in _NO_SKILL]
    unmatched = [pair for pair in selections if path_key(pair[1]) not in enabled]
    unmatched += [
        link for link in links if path_key(link[1]) not in enabled and kind_of(link[1]) == "skill"
    ]
    picked, linked = (
        [enabled[path_key(path)] for _name, path in pairs if path_key(path) in enabled]
        for pairs in (selections, links)
    )
    chosen = dict.fromkeys([*picked, *sorted(linked)])
    seen = {skills[at].name for at in chosen}
    wanted = set(mentions.names) - {name for name, _path in selections} - seen
    plain, ambiguous = _by_name(wanted, skills, {connector.lower() for connector in connectors})
    return Selected(
        (*chosen, *(at for at in plain if at not in chosen)), ambiguous, tuple(unmatched)
    )


def _by_name(
    names: Collection[str], skills: Sequence[Mentionable], connectors: set[str]
) -> tuple[list[int], Texts]:
    """Give the places of the skills that alone have one of the names, and the names that several
    have.

    Copies count, shadowed ones too; but what still asks, or is held back, makes no free skill's
    name ambiguous: an unknown project could take every name away by that.
    """
    rivals: dict[str, list[int]] = {}
    for at, skill in enumerate(skills):
        if skill.rank >= 0 and skill.name in names and skill.name.lower() not in connectors:
            rivals.setdefault(skill.name, []).append(at)
    places: list[int] = []
    ambiguous: list[str] = []
    for name, found in rivals.items():
        best = min(skills[at].rank for at in found)
        best_of = [at for at in found if skills[at].rank == best]
        if len(best_of) == 1:
            places += best_of
        else:
            ambiguous.append(name)
    return sorted(places), tuple(ambiguous)


# --- skills that a shell command uses without naming them

RUNNERS = frozenset(
    {"python", "python3", "bash", "zsh", "sh", "node", "deno", "ruby", "perl", "pwsh"}
)
EXTENSIONS = frozenset({".py", ".sh", ".js", ".ts", ".rb", ".pl", ".ps1"})
READERS = frozenset({"cat", "sed", "head", "tail", "less", "more", "bat", "awk", "nl"})
POWERSHELL_READERS = frozenset({"get-content", "gc", "type"})
"""`Get-Content` and those of its aliases that no other shell has."""
_POWERSHELLS = frozenset({"pwsh", "powershell"})
_SHELLS = frozenset({"bash", "zsh", "sh"}) | _POWERSHELLS
MAX_COMMAND_WORDS = 1_000
"""How much of a command is looked at."""
_MAX_PATH = 4_096


class _Options(NamedTuple):
    """What the letters of a runner's options mean; any other is a switch."""

    code: str = ""
    """What follows is code or a module, and no file is run."""
    valued: str = ""
    """The rest of the word is its value, or the next word where nothing is left of it."""
    attached: str = ""
    """The rest of the word is its value."""


_SHELL = _Options("c", "oO")
_PYTHON = _Options("cm", "WX")
_OPTIONS = {
    "python": _PYTHON,
    "python3": _PYTHON,
    "bash": _SHELL,
    "zsh": _SHELL,
    "sh": _SHELL,
    "node": _Options("ep", "rC"),
    "ruby": _Options("e", "rICE", "FKWTx0i"),
    "perl": _Options("eE", "I", "MmDFil0xCdV"),
}
_LONG_CODE = frozenset({"--eval", "--print"})
# PowerShell's options are words, which may be cut short.
_PWSH_CODE = frozenset({"c", "command", "cwa", "commandwithargs", "e", "ec", "encodedcommand"})
_PWSH_VALUED = frozenset(
    {
        "ep",
        "ex",
        "executionpolicy",
        "inp",
        "inputformat",
        "o",
        "of",
        "outputformat",
        "w",
        "windowstyle",
        "wd",
        "workingdirectory",
        "settings",
        "settingsfile",
        "config",
        "configurationname",
        "custompipename",
    }
)


class ImplicitSkill(NamedTuple):
    """An enabled skill: where its own file and its scripts lie."""

    file: str
    scripts: str


def skill_used_by(
    command: str,
    folder: str,
    skills: Sequence[ImplicitSkill],
    real: Callable[[str], str],
    home: str = "",
) -> int | None:
    """Give the place, in the list of skills, of the one that a command uses in a folder; none when
    it uses none.

    `real` gives the canonical form of a path and must not fail; `home` is what `~/` stands for.
    """
    words = _words(command, home)
    if not words:
        return None
    script = _script(words)
    if script is not None:
        return _first(_ancestors(script, folder, real), [skill.scripts for skill in skills], real)
    files = (
        _file_key(path) for word in _read_by(words, home) for path in _paths(word, folder, real)
    )
    return _first(files, [_file_key(skill.file) for skill in skills], real)


def _words(command: str, home: str) -> list[str]:
    """Split a command as its shell would; in PowerShell a backslash only separates folders."""
    words = arguments(command)
    if words and "\\" in command and _basename(words[0]) in POWERSHELL_READERS:
        words = arguments(command.replace("\\", "/"))
    return [
        f"{home}{word[1:]}" if home and word.startswith("~/") else word
        for word in words[:MAX_COMMAND_WORDS]
    ]


def _read_by(words: Sequence[str], home: str) -> Sequence[str]:
    """Give what a command that shows files is given to show, also where a shell is given the
    command.
    """
    code = _code(words)
    words = words if code is None else _words(code, home)
    if words and _basename(words[0]) in READERS | POWERSHELL_READERS:
        return [word for word in words[1:] if not word.startswith("-")]
    return []


def _code(words: Sequence[str]) -> str | None:
    """Give the command that a shell is given as text, as in `bash -lc 'cat SKILL.md'`."""
    import shlex  # few commands are a shell's

    shell = _basename(words[0])
    if shell not in _SHELLS:
        return None
    is_value = False
    for at, word in enumerate(words[1:], 2):
        kind = "" if is_value or not word.startswith("-") else _kind_of(shell, word)
        if kind == "code":
            rest = words[at:]
            return (
                shlex.join(rest) if shell in _POWERSHELLS and len(rest) > 1 else "".join(rest[:1])
            )
        if not (is_value or word.startswith("-")):
            return None
        is_value = kind == "valued"
    return None


def _script(words: Sequence[str]) -> str | None:
    """Give the script that a runner is given: its first argument that is no option or an option's
    value, if it ends like one.
    """
    runner = _basename(words[0])
    if runner not in RUNNERS:
        return None
    is_value = False
    for word in words[1:]:
        if is_value:
            is_value = False
        elif not word.startswith("-"):
            return word if posixpath.splitext(word)[1].lower() in EXTENSIONS else None
        else:
            kind = _kind_of(runner, word)
            if kind == "code":
                return None
            is_value = kind == "valued"
    return None


def _kind_of(runner: str, option: str) -> str:
    """Tell an option that brings code from one whose value is the next word, and both from all
    others.

    `python -c` never runs a file, and neither does `bash -lc`; the `e` of `-Werror` is only part of
    a value.
    """
    if runner in _POWERSHELLS:
        name = option.lstrip("-").lower()
        return "code" if name in _PWSH_CODE else "valued" if name in _PWSH_VALUED else ""
    if option.startswith("--"):
        return "code" if option.partition("=")[0] in _LONG_CODE else ""
    letters = _OPTIONS.get(runner, _Options())
    for at, letter in enumerate(option[1:], 2):
        if letter in letters.code:
            return "code"
        if letter in letters.valued:
            return "" if option[at:] else "valued"
        if letter in letters.attached:
            return ""
    return ""


def _file_key(path: str) -> str:
    """Give a path with `SKILL.md` in one spelling: not every disk tells them apart, and a skill's
    own file may be `skill.md`.
    """
    folder, slash, file = path.rpartition("/")
    return f"{folder}{slash}SKILL.md" if file.lower() == "skill.md" else path


def _basename(word: str) -> str:
    return word.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")


def _paths(word: str, folder: str, real: Callable[[str], str]) -> Iterator[str]:
    """Give the path that a word names, as it is written and as it is."""
    if word and len(word) <= _MAX_PATH and "\0" not in word:
        path = posixpath.normpath(posixpath.join(folder, word))
        yield path
        yield real(path)


def _ancestors(word: str, folder: str, real: Callable[[str], str]) -> Iterator[str]:
    for path in _paths(word, folder, real):
        while len(path) > 1:
            path = posixpath.dirname(path)  # noqa: PLW2901 - climbing is what this loop does
            yield path


def _first(wanted: Iterator[str], places: Sequence[str], real: Callable[[str], str]) -> int | None:
    """Find the first wanted path among the places, and only then among what they really are: that
    asks the disk.
    """
    paths = list(dict.fromkeys(wanted))
    for known in (lambda place: place, real):
        if not paths:
            return None
        index = {known(place): at for at, place in reversed(list(enumerate(places)))}
        found = next((index[path] for path in paths if path in index), None)
        if found is not None:
            return found
    return None
