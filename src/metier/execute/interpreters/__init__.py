"""Which programs read scripts, with which arguments, and what of their installation a script may see. Pure; `env` looks for them.

A script's first line is the author's. Its options are kept, because scripts rely on them (`bash -eu`, `perl -w`), and can do
nothing that the script itself could not; but only where all of its arguments are options. A word that is none would be a file or
a command, and its meaning would shift with the script's path behind it.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.runs import Mount

PYTHON_OPTIONS = ("-s", "-B", "-u")
"""No packages of the user's own, no compiled files beside a script, and output as it comes.

Not `-I`: a script imports what lies beside it, and would no longer find it.
"""
KNOWN: dict[str, tuple[str, ...]] = {
    "sh": (), "bash": (), "zsh": (), "node": (), "deno": ("run", "--allow-all"), "bun": (), "ruby": (), "perl": (), "php": (),
    "Rscript": (), "lua": (),
}  # fmt: skip
"""Programs that may read a script without being named in configuration, and what each needs said first.

What Deno would ask about, the sandbox has decided already.
"""
PYTHONS = frozenset({"python", "python3"})
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
"""What every sandbox shows."""
TOGETHER = ("/home/linuxbrew/.linuxbrew",)
"""Folders whose programs need libraries from all over them."""
SHIMS = frozenset({"asdf", "mise", "proto-shim", "rtx", "snap", "volta-shim"})
"""Programs that go by many names and pick a version; what they pick from is not there inside."""
SHARED_PARTS = ("Cellar", "opt", "bin", "lib", "libexec", "share", "etc/openssl@3", "etc/ca-certificates")
"""What is shown of such a folder. Not all of it: what services keep lies there too (`var`, `etc`)."""
INSTALLED = frozenset({
    "bin", "sbin", "lib", "lib32", "lib64", "libexec", "include", "share", "man", "doc", "docs", "html", "ssl", "etc", "site",
    "support",
})  # fmt: skip
"""What installers put at the top of an installation."""
_LEAFLET = re.compile(
    r"(?:LICEN[CS]E|COPYING|COPYRIGHT|NOTICE|README|CHANGELOG|CHANGES|NEWS|AUTHORS|VERSION|BUILD|\.lock)(?:[.-][\w.-]{1,24})?"
)
"""And the texts that come with it."""
CONDA = "conda-meta"
"""The folder by which conda knows what it has made; its packages put all kinds of names beside it."""
LIBRARIES = ("lib", "lib64", "share")
MOST_NAMES = 10_000
"""No more names of a folder are looked at; a large conda has some thousands of libraries."""
MOST_OPTIONS, MOST_OPTION = 8, 128
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")


class Interpreter(NamedTuple):
    """A program that reads scripts, as it is called inside a sandbox."""

    command: tuple[str, ...]
    """Its path inside, and the arguments that stand before the script."""
    mounts: tuple[Mount, ...]
    """What it needs beyond the system's own programs and libraries."""


def is_name(name: str) -> bool:
    """Tell whether this can be the name of a program."""
    return _NAME.fullmatch(name) is not None


def is_python(name: str, version: tuple[int, ...]) -> bool:
    """Tell whether the interpreter that metier itself runs on is meant."""
    return name in PYTHONS or name == f"python{version[0]}.{version[1]}"


def is_some_python(name: str) -> bool:
    """Tell whether a Python is meant, of whatever version: a script's packages concern that alone."""
    return name in PYTHONS or re.fullmatch(r"python3\.[0-9]+", name) is not None


def options_of(head: bytes, name: str) -> tuple[str, ...]:
    """Give the options that a script's first line has for a program; none where it names another, or says more than options."""
    words = _words(head)
    if not words or words[0].rpartition("/")[2] != name or name == "deno":
        return ()
    options = tuple(words[1:])
    plain = all(word.startswith("-") and word.isascii() and word.isprintable() and len(word) <= MOST_OPTION for word in options)
    return options if plain and len(options) <= MOST_OPTIONS else ()


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
    rest = words[1:]
    while rest and (rest[0].startswith("-") or "=" in rest[0]):
        rest = rest[1:]
    return rest


def is_system(path: str) -> bool:
    """Tell whether every sandbox shows a path."""
    return any(inside(path, folder) for folder in SYSTEM)


def prefix_of(program: str, home: str, private: Iterable[str] = ()) -> str:
    """Give the folder that a program was installed into: where its `bin` lies. Nothing when that holds more than an installation.

    That is so for `/` and what lies in it (`/opt`), the home folder and all above it, hidden folders in it (`~/.local` holds keys,
    `~/.cargo` a token), and whatever else is private.
    """
    whole = next((folder for folder in TOGETHER if inside(program, folder)), "")
    folder, _slash, bin_ = program.rpartition("/")[0].rpartition("/")
    prefix = whole or (folder if bin_ in {"bin", "sbin"} else "")
    kept = [path for path in (home, *private) if path]
    too_much = (
        prefix.count("/") < 2
        or any(inside(path, prefix) or (path != home and inside(prefix, path)) for path in kept)
        or (home and prefix.rpartition("/")[0] == home and prefix.rpartition("/")[2].startswith("."))
    )
    return "" if too_much else prefix


def is_installation(names: Iterable[str], libraries: Iterable[str], program: str) -> bool:
    """Tell whether a prefix holds an installation of a program and nothing else, by the names in it and in its libraries' folders.

    A folder in which somebody keeps their work may have a `bin` as well. So every name must be an installer's, and something of
    this program must be among the libraries.
    """
    found = frozenset(names)
    installed = CONDA in found or all(name in INSTALLED or _LEAFLET.fullmatch(name) for name in found)
    return installed and any(belongs(name, program) for name in libraries)


def belongs(name: str, program: str) -> bool:
    """Tell by its name whether something in a folder of libraries is a program's: `lib/perl5`, `lib/libruby.so`, `share/lua`."""
    match = _STEM.match(program)
    stem = _STEMS.get(program, match[0] if match else program)
    plain = name.removeprefix("lib")
    if stem == "perl" and _PERLS.fullmatch(name):  # where its name stands in the prefix, it is left out below that
        return True
    return plain.startswith(stem) and not plain[len(stem) : len(stem) + 1].isalpha()


_STEM = re.compile(r"[A-Za-z]+")
_PERLS = re.compile(r"site_perl|vendor_perl|5\.[0-9]+(?:\.[0-9]+)?")
_STEMS = {"Rscript": "R"}
"""Programs whose libraries go by another name."""


def inside(path: str, folder: str) -> bool:
    """Tell whether a path is a folder, or lies in it."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")
