"""Which skill a shell command uses without naming it: it runs one of its scripts, or reads its file (CX-48). Pure.

It is for counting and for telling a person, never for enforcing anything: a shell has many more ways to read a file.
A skill's `allow_implicit_invocation: false` does not matter here: every enabled skill counts, as in Codex's present code.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

from metier.disclose.mentions import path_key
from metier.disclose.slash import arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

RUNNERS = frozenset({"python", "python3", "bash", "zsh", "sh", "node", "deno", "ruby", "perl", "pwsh"})
EXTENSIONS = frozenset({".py", ".sh", ".js", ".ts", ".rb", ".pl", ".ps1"})
READERS = frozenset({"cat", "sed", "head", "tail", "less", "more", "bat", "awk"})
MAX_WORDS = 1_000
"""How much of a command is looked at."""
_MAX_PATH = 4_096

# The option after which the next word is code, not a file.
_CODE = {"python": "c", "python3": "c", "bash": "c", "zsh": "c", "sh": "c", "pwsh": "c", "node": "ep", "ruby": "e", "perl": "eE"}


class Usable(NamedTuple):
    """An enabled skill: where its own file and its scripts lie."""

    file: str
    scripts: str


def used_by(command: str, folder: str, skills: Sequence[Usable], real: Callable[[str], str]) -> int | None:
    """Give the place, in the list of skills, of the one that a command uses in a folder; none when it uses none.

    `real` gives the canonical form of a path and must not fail.
    """
    words = arguments(command)[:MAX_WORDS]
    if not words:
        return None
    script = _script(words)
    if script is not None:
        return _first(_ancestors(script, folder, real), [skill.scripts for skill in skills], real)
    if _basename(words[0]) in READERS:
        files = (path_key(path) for word in words[1:] if not word.startswith("-") for path in _paths(word, folder, real))
        return _first(files, [path_key(skill.file) for skill in skills], real)
    return None


def _script(words: Sequence[str]) -> str | None:
    """Give the script that a runner is given: its first argument that is no option, if it ends like one."""
    runner = _basename(words[0])
    if runner not in RUNNERS:
        return None
    for word in words[1:]:
        if not word.startswith("-"):
            return word if posixpath.splitext(word)[1].lower() in EXTENSIONS else None
        # `python -c` never runs a file, and neither does `bash -lc`.
        if not word.startswith("--") and any(letter in word[1:] for letter in _CODE.get(runner, "")):
            return None
    return None


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
