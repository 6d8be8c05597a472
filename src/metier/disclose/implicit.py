"""Which skill a shell command uses without naming it: it runs one of its scripts, or reads its file (CX-48). Pure.

It is for counting and for telling a person, never for enforcing anything: a shell has many more ways to read a file.
A skill's `allow_implicit_invocation: false` does not matter here: every enabled skill counts, as in Codex's present code.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

from metier.disclose.slash import arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

RUNNERS = frozenset({"python", "python3", "bash", "zsh", "sh", "node", "deno", "ruby", "perl", "pwsh"})
EXTENSIONS = frozenset({".py", ".sh", ".js", ".ts", ".rb", ".pl", ".ps1"})
READERS = frozenset({"cat", "sed", "head", "tail", "less", "more", "bat", "awk"})
MAX_WORDS = 1_000
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


_SHELL, _PYTHON = _Options("c", "oO"), _Options("cm", "WX")
_OPTIONS = {
    "python": _PYTHON, "python3": _PYTHON, "bash": _SHELL, "zsh": _SHELL, "sh": _SHELL, "node": _Options("ep", "rC"),
    "ruby": _Options("e", "rICE", "FKWTx0i"), "perl": _Options("eE", "I", "MmDFil0xCdV"),
}  # fmt: skip
_LONG_CODE = frozenset({"--eval", "--print"})
# PowerShell's options are words, which may be cut short.
_PWSH_CODE = frozenset({"c", "command", "cwa", "commandwithargs", "e", "ec", "encodedcommand"})
_PWSH_VALUED = frozenset({
    "ep", "ex", "executionpolicy", "inp", "inputformat", "o", "of", "outputformat", "w", "windowstyle", "wd", "workingdirectory",
    "settings", "settingsfile", "config", "configurationname", "custompipename",
})  # fmt: skip


class Usable(NamedTuple):
    """An enabled skill: where its own file and its scripts lie."""

    file: str
    scripts: str


def used_by(command: str, folder: str, skills: Sequence[Usable], real: Callable[[str], str], home: str = "") -> int | None:
    """Give the place, in the list of skills, of the one that a command uses in a folder; none when it uses none.

    `real` gives the canonical form of a path and must not fail; `home` is what `~/` stands for.
    """
    words = [f"{home}{word[1:]}" if home and word.startswith("~/") else word for word in arguments(command)[:MAX_WORDS]]
    if not words:
        return None
    script = _script(words)
    if script is not None:
        return _first(_ancestors(script, folder, real), [skill.scripts for skill in skills], real)
    if _basename(words[0]) in READERS:
        files = (_file_key(path) for word in words[1:] if not word.startswith("-") for path in _paths(word, folder, real))
        return _first(files, [_file_key(skill.file) for skill in skills], real)
    return None


def _script(words: Sequence[str]) -> str | None:
    """Give the script that a runner is given: its first argument that is no option or an option's value, if it ends like one."""
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
    """Tell an option that brings code from one whose value is the next word, and both from all others.

    `python -c` never runs a file, and neither does `bash -lc`; the `e` of `-Werror` is only part of a value.
    """
    if runner == "pwsh":
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
    """Give a path with `SKILL.md` in one spelling: not every disk tells them apart, and a skill's own file may be `skill.md`."""
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
    """Find the first wanted path among the places, and only then among what they really are: that asks the disk."""
    paths = list(dict.fromkeys(wanted))
    for known in (lambda place: place, real):
        if not paths:
            return None
        index = {known(place): at for at, place in reversed(list(enumerate(places)))}
        found = next((index[path] for path in paths if path in index), None)
        if found is not None:
            return found
    return None
