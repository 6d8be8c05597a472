"""Finds the programs that read scripts, on the path and in this very process, and says what of them a sandbox must show."""

from __future__ import annotations

import os
import sys
import sysconfig
from itertools import islice
from typing import TYPE_CHECKING

from metier.errors import RefusedError
from metier.execute.interpreters import (
    KNOWN,
    LIBRARIES,
    MOST_NAMES,
    PYTHON_OPTIONS,
    SHARED_PARTS,
    SHIMS,
    TOGETHER,
    Interpreter,
    belongs,
    inside,
    is_installation,
    is_name,
    is_python,
    is_system,
    prefix_of,
)
from metier.runs import Mount

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def find(name: str, extra: Sequence[str], path: str, home: str, data: str = "") -> Interpreter:
    """Give the program that reads a script; `extra` are those that the user allows, by name or by path.

    Python is the one that metier itself runs on, without metier's own packages. Any other is looked for on the path.
    """
    places = (os.path.realpath(home) if home else "", os.path.realpath(data) if data else "")
    if is_python(name, python_version()):
        return _own_python(*places)
    allowed = [one for one in extra if is_name(name) and (one == name or (one.startswith("/") and os.path.basename(one) == name))]
    if not is_name(name) or (name not in KNOWN and not allowed):
        raise RefusedError(f"no script may be run by '{_shown(name)}'", code="interpreter",
                           hint=f'who wants that, adds it to their settings: run.interpreters = ["{_shown(name)}"]')  # fmt: skip
    named = [one for one in allowed if one.startswith("/")]
    for candidate in (*named, *_on_path(name, path)):
        real = os.path.realpath(candidate)
        if _is_program(real, candidate, named=bool(allowed)):
            return _at(candidate, real, KNOWN.get(name, ()), places)
    raise RefusedError(f"'{name}', which runs it, is not installed", code="interpreter", hint=f"install {name}, or correct PATH")


def python_version() -> tuple[int, int, int]:
    """Give the version of the Python that scripts are run by."""
    return sys.version_info[:3]


def python_build() -> str:
    """Name the Python that scripts are run by exactly enough to know whether compiled packages fit it."""
    return f"{sys.implementation.cache_tag} {sys.version} {sysconfig.get_platform()}"


def _own_python(home: str, data: str) -> Interpreter:
    """Give the interpreter below this process's environment: with its own library, and without what metier is installed with."""
    named = f"{sys.base_prefix}/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    candidates = map(os.path.realpath, (getattr(sys, "_base_executable", "") or sys.executable, named))
    real = next((one for one in candidates if os.access(one, os.R_OK | os.X_OK)), "")
    if not real:
        raise RefusedError("the Python that metier runs on cannot be read by this user", code="interpreter",
                           hint="run metier on a Python that is installed for everybody, or for this user")  # fmt: skip
    if is_system(real):
        return Interpreter((real, *PYTHON_OPTIONS), ())
    prefix = prefix_of(real, home, (data,))
    whole = _is_whole(prefix, real)
    paths = [mount.source for mount in _parts_of(prefix, real)] if whole else list(_parts_of_python(real))
    # Where the standard library lies apart from the program, it is needed as well.
    library = os.path.realpath(sysconfig.get_path("stdlib", vars=_BASE))
    if not is_system(library) and not any(inside(library, one) for one in paths):
        paths.append(library)
    return Interpreter((real, *PYTHON_OPTIONS), tuple(Mount(one, one) for one in paths))


_BASE = {"base": sys.base_prefix, "installed_base": sys.base_prefix, "platbase": sys.base_exec_prefix,
         "installed_platbase": sys.base_exec_prefix}  # fmt: skip


def _parts_of_python(program: str) -> Iterator[str]:
    """Give the files that an interpreter is made of, where its folder holds other things too."""
    yield program
    shared = os.path.realpath(f"{sysconfig.get_config_var('LIBDIR') or ''}/{sysconfig.get_config_var('INSTSONAME') or ''}")
    if ".so" in os.path.basename(shared) and os.path.isfile(shared) and not is_system(shared):
        yield shared


def _on_path(name: str, path: str) -> Iterator[str]:
    """Give the places where a program may lie. A folder that depends on where one stands is none: a project could lie there."""
    for folder in path.split(os.pathsep):
        if os.path.isabs(folder):
            yield f"{os.path.realpath(folder)}/{name}"


def _is_program(real: str, candidate: str, *, named: bool) -> bool:
    """Tell whether a file can be run inside. A script that picks a version (a shim) cannot: what it picks from is not there."""
    try:
        if not os.path.isfile(real) or not os.access(real, os.X_OK) or os.path.basename(real) in SHIMS:
            return False
        with open(real, "rb") as file:
            script = file.read(2) == b"#!"
    except (OSError, ValueError):
        return False
    return not script or (named and is_system(real) and is_system(candidate))


def _at(candidate: str, real: str, words: tuple[str, ...], places: tuple[str, str]) -> Interpreter:
    if is_system(candidate) and is_system(real):
        return Interpreter((candidate, *words), ())  # by the name it was asked for: some programs are several
    mounts = () if is_system(real) else tuple(_parts_of(prefix_of(real, places[0], places[1:]), real))
    return Interpreter((real, *words), mounts)


def _parts_of(prefix: str, program: str) -> Iterator[Mount]:
    """Give what is shown of where a program lies: an installation whole; of any other folder the program and what is named so."""
    if prefix in TOGETHER:
        parts = (f"{prefix}/{name}" for name in SHARED_PARTS)
        yield from (Mount(part, part) for part in parts if os.path.realpath(part) == part and os.path.exists(part))
    elif _is_whole(prefix, program):
        yield Mount(prefix, prefix)
    else:
        yield Mount(program, program)
        yield from _own_libraries(prefix, os.path.basename(program))


def _is_whole(prefix: str, program: str) -> bool:
    """Tell whether a prefix is shown as it is."""
    if not prefix or prefix in TOGETHER:
        return bool(prefix)
    libraries = [name for folder in LIBRARIES for name in _names(f"{prefix}/{folder}")]
    names = _names(prefix)
    return 0 < len(names) < MOST_NAMES and is_installation(names, libraries, os.path.basename(program))


def _own_libraries(prefix: str, name: str) -> Iterator[Mount]:
    for place in [f"{prefix}/{folder}" for folder in LIBRARIES if prefix and not os.path.islink(f"{prefix}/{folder}")]:
        for path in [f"{place}/{one}" for one in _names(place) if belongs(one, name)]:
            real = os.path.realpath(path)
            # Another name of what lies beside it (`libruby.so.3.2`) is shown; any other link may lead anywhere.
            if os.path.dirname(real) == place and belongs(os.path.basename(real), name) and os.path.exists(real):
                yield Mount(real, path)


def _names(folder: str) -> list[str]:
    """List a folder, up to a number of names; nothing where it cannot be listed."""
    try:
        with os.scandir(folder) as found:
            return sorted(entry.name for entry in islice(found, MOST_NAMES))
    except OSError:
        return []


def _shown(name: str) -> str:
    return "".join(char if char.isprintable() and char not in "\"'\\" else "\ufffd" for char in name[:64])
