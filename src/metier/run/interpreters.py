"""Which programs read scripts, with which arguments, and what of their installation a script may
see. Pure; `env` looks for them.

A script's first line is the author's. Its options are kept, because scripts rely on them (`bash
-eu`, `perl -w`), and can do nothing that the script itself could not; but only where all of its
arguments are options. A word that is none would be a file or a command, and its meaning would shift
with the script's path behind it.
"""

from __future__ import annotations

import re
import shlex
from itertools import dropwhile
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from metier.model import Texts
    from metier.run.model import Mount

PYTHON_OPTIONS = ("-s", "-B", "-u")
"""No packages of the user's own, no compiled files beside a script, and output as it comes.

Not `-I`: a script imports what lies beside it, and would no longer find it.
"""
KNOWN_INTERPRETERS: dict[str, Texts] = {
    "sh": (),
    "bash": (),
    "zsh": (),
    "node": (),
    "deno": ("run", "--allow-all"),
    "bun": (),
    "ruby": (),
    "perl": (),
    "php": (),
    "Rscript": (),
    "lua": (),
}
"""Programs that may read a script without being named in configuration, and what each needs said
first.

What Deno would ask about, the sandbox has decided already.
"""
PYTHONS = frozenset({"python", "python3"})
BY_ENDING = {
    "py": "python3",
    "sh": "sh",
    "bash": "bash",
    "zsh": "zsh",
    "js": "node",
    "mjs": "node",
    "cjs": "node",
    "rb": "ruby",
    "pl": "perl",
    "php": "php",
    "r": "Rscript",
    "lua": "lua",
}
"""Which program reads a script whose first line names none, by the end of its name."""
_NAMED = frozenset({*KNOWN_INTERPRETERS, *PYTHONS, "tsx"})
"""Programs that a first line may name."""
ROOT_NAMES = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
"""What belongs to /usr but stands beside it, as links or as folders, by system."""
SYSTEM_FOLDERS = ("/usr", *ROOT_NAMES)
"""What every sandbox shows."""
SHARED_PREFIXES = ("/home/linuxbrew/.linuxbrew",)
"""Folders whose programs need libraries from all over them."""
SHIMS = frozenset({"asdf", "mise", "proto-shim", "rtx", "snap", "volta-shim"})
"""Programs that go by many names and pick a version; what they pick from is not there inside."""
SHARED_PARTS = (
    "Cellar",
    "opt",
    "bin",
    "lib",
    "libexec",
    "share",
    "etc/openssl@3",
    "etc/ca-certificates",
)
"""What is shown of such a folder. Not all of it: what services keep lies there too (`var`,
`etc`)."""
INSTALLATION_NAMES = frozenset(
    {
        "bin",
        "sbin",
        "lib",
        "lib32",
        "lib64",
        "libexec",
        "include",
        "share",
        "man",
        "doc",
        "docs",
        "html",
        "ssl",
        "etc",
        "site",
        "support",
    }
)
"""What installers put at the top of an installation."""
_LEAFLET = re.compile(
    r"(?:LICEN[CS]E|COPYING|COPYRIGHT|NOTICE|README|CHANGELOG|CHANGES|NEWS|AUTHORS|VERSION|BUILD|\.lock)(?:[.-][\w.-]{1,24})?"
)
"""And the texts that come with it."""
CONDA = "conda-meta"
"""The folder by which conda knows what it has made; its packages put all kinds of names beside
it."""
LIBRARIES = ("lib", "lib64", "share")
MAX_FOLDER_NAMES = 10_000
"""No more names of a folder are looked at; a large conda has some thousands of libraries."""
MAX_OPTIONS = 8
MAX_OPTION_CHARS = 128
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")


class Interpreter(NamedTuple):
    """A program that reads scripts, as it is called inside a sandbox."""

    command: Texts
    """Its path inside, and the arguments that stand before the script."""
    mounts: tuple[Mount, ...]
    """What it needs beyond the system's own programs and libraries."""


def interpreter_of(path: str, head: bytes, extra: Sequence[str] = ()) -> str:
    """Name the program that a script is for: by its first line, or by the end of its name; nothing
    when neither says so.

    `extra` are programs that the user allows beyond those that are known.
    """
    first = head.partition(b"\n")[0].decode("ascii", "replace")
    if first.startswith("#!"):
        words = [word.rpartition("/")[2] for word in first[2:].split() if not word.startswith("-")]
        named = next((word for word in words if word != "env"), "")
        if named in _NAMED or named in extra:
            return named
    return BY_ENDING.get(path.rpartition("/")[2].rpartition(".")[2].lower(), "")


def is_name(name: str) -> bool:
    """Tell whether this can be the name of a program."""
    return _NAME.fullmatch(name) is not None


def is_python(name: str, version: tuple[int, ...]) -> bool:
    """Tell whether the interpreter that metier itself runs on is meant."""
    return name in PYTHONS or name == f"python{version[0]}.{version[1]}"


def is_some_python(name: str) -> bool:
    """Tell whether a Python is meant, of whatever version: a script's packages concern that
    alone.
    """
    return name in PYTHONS or re.fullmatch(r"python3\.[0-9]+", name) is not None


def options_of(head: bytes, name: str) -> Texts:
    """Give the options that a script's first line has for a program; none where it names another,
    or says more than options.
    """
    words = _words(head)
    if not words or words[0].rpartition("/")[2] != name or name == "deno":
        return ()
    options = tuple(words[1:])
    plain = all(
        word.startswith("-")
        and word.isascii()
        and word.isprintable()
        and len(word) <= MAX_OPTION_CHARS
        for word in options
    )
    return options if plain and len(options) <= MAX_OPTIONS else ()


def _words(head: bytes) -> list[str]:
    """Give the program of a first line and its arguments, without `env` and what that is told."""
    first = head.partition(b"\n")[0].decode("utf-8", "replace").rstrip("\r")
    if not first.startswith("#!"):
        return []
    try:
        words = shlex.split(first[2:])
    except ValueError:
        return []
    if not words or words[0].rpartition("/")[2] != "env":
        return words
    return list(dropwhile(lambda word: word.startswith("-") or "=" in word, words[1:]))


def is_system(path: str) -> bool:
    """Tell whether every sandbox shows a path."""
    return any(is_inside(path, folder) for folder in SYSTEM_FOLDERS)


def prefix_of(program: str, home: str, private: Iterable[str] = ()) -> str:
    """Give the folder that a program was installed into: where its `bin` lies. Nothing when that
    holds more than an installation.

    That is so for `/` and what lies in it (`/opt`), the home folder and all above it, hidden
    folders in it (`~/.local` holds keys, `~/.cargo` a token), and whatever else is private.
    """
    whole = next((folder for folder in SHARED_PREFIXES if is_inside(program, folder)), "")
    folder, _slash, bin_ = program.rpartition("/")[0].rpartition("/")
    prefix = whole or (folder if bin_ in {"bin", "sbin"} else "")
    kept = [path for path in (home, *private) if path]
    too_much = (
        prefix.count("/") < 2
        or any(
            is_inside(path, prefix) or (path != home and is_inside(prefix, path)) for path in kept
        )
        or (
            home and prefix.rpartition("/")[0] == home and prefix.rpartition("/")[2].startswith(".")
        )
    )
    return "" if too_much else prefix


def is_installation(names: Iterable[str], libraries: Iterable[str], program: str) -> bool:
    """Tell whether a prefix holds an installation of a program and nothing else, by the names in it
    and in its libraries' folders.

    A folder in which somebody keeps their work may have a `bin` as well. So every name must be an
    installer's, and something of this program must be among the libraries.
    """
    found = frozenset(names)
    installed = CONDA in found or all(
        name in INSTALLATION_NAMES or _LEAFLET.fullmatch(name) for name in found
    )
    return installed and any(belongs(name, program) for name in libraries)


def belongs(name: str, program: str) -> bool:
    """Tell by its name whether something in a folder of libraries is a program's: `lib/perl5`,
    `lib/libruby.so`, `share/lua`.
    """
    match = _STEM.match(program)
    stem = _STEMS.get(program, match[0] if match else program)
    plain = name.removeprefix("lib")
    if stem == "perl" and _PERLS.fullmatch(
        name
    ):  # where its name stands in the prefix, it is left out below that
        return True
    return plain.startswith(stem) and not plain[len(stem) : len(stem) + 1].isalpha()


_STEM = re.compile(r"[A-Za-z]+")
_PERLS = re.compile(r"site_perl|vendor_perl|5\.[0-9]+(?:\.[0-9]+)?")
_STEMS = {"Rscript": "R"}
"""Programs whose libraries go by another name."""


def is_inside(path: str, folder: str) -> bool:
    """Tell whether a path is a folder, or lies in it."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")
