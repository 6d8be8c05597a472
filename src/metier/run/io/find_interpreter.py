"""Finds the programs that read scripts, on the path and in this very process, and says what of them
a sandbox must show.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from itertools import islice
from os.path import basename, dirname, exists, isabs, isfile, islink, realpath
from typing import TYPE_CHECKING

from metier.errors import RefusedError
from metier.run.interpreters import (
    KNOWN_INTERPRETERS,
    LIBRARIES,
    MAX_FOLDER_NAMES,
    PYTHON_OPTIONS,
    SHARED_PARTS,
    SHARED_PREFIXES,
    SHIMS,
    Interpreter,
    belongs,
    is_inside,
    is_installation,
    is_name,
    is_python,
    is_system,
    prefix_of,
)
from metier.run.model import PATH, Mount

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def find(name: str, extra: Sequence[str], path: str, home: str, data: str = "") -> Interpreter:
    """Give the program that reads a script; `extra` are those that the user allows, by name or by
    path.

    Python is the one that metier itself runs on, without metier's own packages. Any other is looked
    for on the path.
    """
    places = (realpath(home) if home else "", realpath(data) if data else "")
    if is_python(name, python_version()):
        return _own_python(*places)
    allowed = [
        one
        for one in extra
        if is_name(name) and (one == name or (one.startswith("/") and basename(one) == name))
    ]
    if not is_name(name) or (name not in KNOWN_INTERPRETERS and not allowed):
        raise RefusedError(
            f"no script may be run by '{_shown(name)}'",
            code="interpreter",
            hint=f"who wants that, adds it to their settings: run.interpreters = "
            f'["{_shown(name)}"]',
        )
    named = [one for one in allowed if one.startswith("/")]
    # A folder that depends on where one stands is none: a project could lie there.
    folders = [realpath(folder) for folder in path.split(os.pathsep) if isabs(folder)]
    for candidate in (*named, *(f"{folder}/{name}" for folder in folders)):
        real = realpath(candidate)
        if _is_program(real, candidate, named=bool(allowed)):
            words = KNOWN_INTERPRETERS.get(name, ())
            if not is_system(real):
                mounts = tuple(_parts_of(prefix_of(real, places[0], places[1:]), real))
                return Interpreter((real, *words), mounts)
            # By the name it was asked for, where that can be seen: some programs are several.
            return Interpreter((candidate if is_system(candidate) else real, *words), ())
    raise RefusedError(
        f"'{name}', which runs it, is not installed",
        code="interpreter",
        hint=f"install {name}, or correct PATH",
    )


def system_programs(names: Iterable[str]) -> frozenset[str]:
    """Give those of some programs that every sandbox shows, because they belong to the system."""
    return frozenset(
        name
        for name in names
        if any(os.access(f"{folder}/{name}", os.X_OK) for folder in PATH.split(":"))
    )


def python_version() -> tuple[int, int, int]:
    """Give the version of the Python that scripts are run by."""
    return sys.version_info[:3]


def python_build() -> str:
    """Name the Python that scripts are run by exactly enough to know whether compiled packages fit
    it.
    """
    return f"{sys.implementation.cache_tag} {sys.version} {sysconfig.get_platform()}"


def _own_python(home: str, data: str) -> Interpreter:
    """Give the interpreter below this process's environment: with its own library, and without what
    metier is installed with.
    """
    named = f"{sys.base_prefix}/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    candidates = map(realpath, (getattr(sys, "_base_executable", "") or sys.executable, named))
    real = next((one for one in candidates if os.access(one, os.R_OK | os.X_OK)), "")
    if not real:
        raise RefusedError(
            "the Python that metier runs on cannot be read by this user",
            code="interpreter",
            hint="run metier on a Python that is installed for everybody, or for this user",
        )
    if is_system(real):
        return Interpreter((real, *PYTHON_OPTIONS), ())
    prefix = prefix_of(real, home, (data,))
    if _is_whole(prefix, real):
        paths = [mount.source for mount in _parts_of(prefix, real)]
    else:  # its folder holds other things too: only the files that it is made of
        folder, name = (sysconfig.get_config_var(one) or "" for one in ("LIBDIR", "INSTSONAME"))
        shared = realpath(f"{folder}/{name}")
        is_library = ".so" in basename(shared) and isfile(shared) and not is_system(shared)
        paths = [real, shared] if is_library else [real]
    # Where the standard library lies apart from the program, it is needed as well.
    library = realpath(sysconfig.get_path("stdlib", vars=_BASE))
    if not is_system(library) and not any(is_inside(library, one) for one in paths):
        paths.append(library)
    return Interpreter((real, *PYTHON_OPTIONS), tuple(Mount(one, one) for one in paths))


_BASE = {
    "base": sys.base_prefix,
    "installed_base": sys.base_prefix,
    "platbase": sys.base_exec_prefix,
    "installed_platbase": sys.base_exec_prefix,
}


def _is_program(real: str, candidate: str, *, named: bool) -> bool:
    """Tell whether a file can be run inside. A script that picks a version (a shim) cannot: what it
    picks from is not there.
    """
    try:
        if not isfile(real) or not os.access(real, os.X_OK) or basename(real) in SHIMS:
            return False
        with open(real, "rb") as file:
            script = file.read(2) == b"#!"
    except (OSError, ValueError):
        return False
    return not script or (named and is_system(real) and is_system(candidate))


def _parts_of(prefix: str, program: str) -> Iterator[Mount]:
    """Give what is shown of where a program lies: an installation whole; of any other folder the
    program and what is named so.
    """
    if prefix in SHARED_PREFIXES:
        parts = (f"{prefix}/{name}" for name in SHARED_PARTS)
        yield from (Mount(part, part) for part in parts if realpath(part) == part and exists(part))
    elif _is_whole(prefix, program):
        yield Mount(prefix, prefix)
    else:
        yield Mount(program, program)
        yield from _own_libraries(prefix, basename(program))


def _is_whole(prefix: str, program: str) -> bool:
    """Tell whether a prefix is shown as it is."""
    if not prefix or prefix in SHARED_PREFIXES:
        return bool(prefix)
    libraries = [name for folder in LIBRARIES for name in _names(f"{prefix}/{folder}")]
    names = _names(prefix)
    return 0 < len(names) < MAX_FOLDER_NAMES and is_installation(
        names, libraries, basename(program)
    )


def _own_libraries(prefix: str, name: str) -> Iterator[Mount]:
    for folder in (f"{prefix}/{library}" for library in LIBRARIES if prefix):
        for one in () if islink(folder) else _names(folder):
            real = realpath(f"{folder}/{one}")
            # Another name of what lies beside it (`libruby.so.3.2`) is shown; any other link may
            # lead anywhere.
            if (
                belongs(one, name)
                and dirname(real) == folder
                and belongs(basename(real), name)
                and exists(real)
            ):
                yield Mount(real, f"{folder}/{one}")


def _names(folder: str) -> list[str]:
    """List a folder, up to a number of names; nothing where it cannot be listed."""
    try:
        with os.scandir(folder) as found:
            return sorted(entry.name for entry in islice(found, MAX_FOLDER_NAMES))
    except OSError:
        return []


def _shown(name: str) -> str:
    return "".join(
        char if char.isprintable() and char not in "\"'\\" else "\ufffd" for char in name[:64]
    )
