"""Holds the lists that the gate for code skills goes by: the manifest of trusted content, and what
code may not import, call or name (CO-13 to CO-15).

The second are deny lists and no boundary: they name the doors that are known. What keeps code in is
the sandbox.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.standard.plain_text import words
from metier.store.record_fields import load_strict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metier.model import Texts

MAX_LIST_BYTES = 4 * 1024 * 1024
"""A longer list is refused."""

_HEX = re.compile(r"[0-9a-fA-F]{64}")


class CodeManifest(NamedTuple):
    """Which content is trusted under which name. One with a problem trusts nothing."""

    skills: dict[str, str]
    """File name -> SHA-256 of its raw bytes, in lower-case hex."""
    problem: str = ""


def sha256_of(data: bytes) -> str:
    """Give the digest by which the list knows a content."""
    return hashlib.sha256(data).hexdigest()


# --- the trusted manifest (CO-7, with the name bound to the hash)


def parse_manifest(data: bytes | None) -> CodeManifest:
    """Read a manifest. None means that there is no file: nothing is trusted, and nothing is
    wrong.
    """
    if data is None:
        return CodeManifest({})
    try:
        skills = _object(_json(data).get("skills"), "`skills` is not an object")
        return CodeManifest({_name(name): _hash(value) for name, value in skills.items()})
    except (ValueError, RecursionError) as error:
        fault = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        return CodeManifest({}, f"The manifest of trusted skills cannot be used: {fault}")


class ManifestCheck(NamedTuple):
    """A manifest compared with the code next to it: the names that differ."""

    path: str
    ok: bool
    """Whether it says what is there, as it is now."""
    added: Texts
    """Code that the manifest does not have."""
    removed: Texts
    """What the manifest has, and nobody else."""
    changed: Texts
    sha256: str
    """Names all of the code as it was looked at."""
    problem: str = ""
    """Why the manifest could not be read."""
    written: bool = False


def compare_manifest(path: str, known: CodeManifest, there: Mapping[str, str]) -> ManifestCheck:
    """Say how a manifest differs from what lies beside it (CO-23)."""
    before = known.skills
    added = tuple(sorted(there.keys() - before.keys()))
    removed = tuple(sorted(before.keys() - there.keys()))
    changed = tuple(sorted(one for one in there if before.get(one, there[one]) != there[one]))
    ok = not (added or removed or changed or known.problem)
    seen = sha256_of(manifest_text(there).encode())
    return ManifestCheck(
        path=path,
        ok=ok,
        added=added,
        removed=removed,
        changed=changed,
        sha256=seen,
        problem=known.problem,
    )


def manifest_text(skills: Mapping[str, str]) -> str:
    """Write a manifest as CODEC does."""
    comment = "SHA-256 of each code skill; written by 'metier trust manifest'"
    document = {"schema": 1, "_comment": comment, "skills": dict(sorted(skills.items()))}
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"


# --- JSON that leaves no room for two readings


class _MalformedError(ValueError):
    """The list's content is not of the shape it must have."""


def _json(data: bytes) -> dict[str, Any]:
    if len(data) > MAX_LIST_BYTES:
        raise _MalformedError(f"it is longer than {MAX_LIST_BYTES} bytes")
    return _object(load_strict(data), "it is not an object")


def _object(value: Any, otherwise: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _MalformedError(otherwise)
    return value


def _name(name: str) -> str:
    if not name or "/" in name or "\\" in name or "\0" in name:
        raise _MalformedError(f"{name[:80]!r} is not a file's name")
    return name


def _hash(value: Any) -> str:
    if not isinstance(value, str) or not _HEX.fullmatch(value):
        raise _MalformedError("a hash is not 64 hexadecimal digits")
    return value.lower()


SAFE_IMPORTS = frozenset({"os.path", "__future__"})
"""Exact dotted names that may be imported although their package, or their leading underscore, may
not."""

DENIED_IMPORTS = words(
    # CO-13
    "os subprocess ctypes shutil importlib signal pty socket builtins "
    # CO-15: other doors to the same rooms. Names with a leading underscore are refused by the gate
    # itself.
    "posix nt winreg multiprocessing runpy code codeop imp pkgutil zipimport distutils setuptools "
    "pkg_resources commands popen2 "
    # What runs text as code, or finds any object by a name in a text
    "pdb bdb cProfile profile trace timeit doctest pydoc gc inspect rlcompleter unittest test "
    "lib2to3 idlelib tkinter turtle "
    "turtledemo IPython "
    # What hands out code objects, or leaves compiled files for a later import
    "dis py_compile compileall "
    # What installs, or changes what a later start of Python loads
    "pip ensurepip venv site "
    # What starts programs by another name: a browser, a mail reader, a pipeline, a terminal
    "webbrowser antigravity mailcap pipes pexpect ptyprocess sh plumbum invoke fabric win32api "
    "win32com win32process "
    # Foreign code and raw memory, other processes' limits and locks
    "cffi mmap fcntl resource "
    # What waits for others to connect; clients are no part of this (CO-14)
    "socketserver asyncore asynchat smtpd"
)

DENIED_EXACT_IMPORTS = words(
    "logging.config concurrent.futures.process asyncio.subprocess asyncio.base_subprocess "
    "http.server xmlrpc.server wsgiref.simple_server numpy.ctypeslib numpy.distutils numpy.f2py"
)
"""Dotted names that may not be imported although their package may: they run what a text names,
start processes, or listen."""

STRICTLY_DENIED_IMPORTS = words(
    "pickle marshal shelve smtplib ftplib telnetlib dill cloudpickle jsonpickle joblib"
)
"""Refused on top in code that no person has vouched for (CO-14)."""

DENIED_CALLS = words(
    # CO-13
    "eval exec compile __import__ globals locals getattr setattr delattr vars dir "
    # CO-15 and its kin
    "breakpoint help __build_class__ execfile attrgetter methodcaller get_type_hints ForwardRef "
    "singledispatch singledispatchmethod"
)

OWN_WORDS = words("dir vars locals help compile")
"""Of those, the ones that code often uses as names of its own: they may be read where a function
binds them itself."""

DENIED_OWNERS = words(
    "os subprocess ctypes shutil importlib signal pty socket builtins posix nt _posixsubprocess "
    "multiprocessing runpy"
)
"""Modules whose name before a call is refused, imported or not (CO-13)."""

DENIED_ATTRIBUTES = words(
    # CO-13
    "__class__ __bases__ __base__ __subclasses__ __mro__ __globals__ __dict__ __builtins__ "
    "__code__ __closure__ __func__ __self__ "
    "__getattribute__ __subclasshook__ __init_subclass__ __reduce__ __reduce_ex__ __getattr__ "
    "__import__ __loader__ __spec__ "
    # The same, by other names
    "__setattr__ __delattr__ __objclass__ __wrapped__ __build_class__ mro f_globals f_builtins "
    "f_locals f_back f_code gi_frame "
    "gi_code "
    "cr_frame cr_code ag_frame ag_code tb_frame _getframe _current_frames meta_path path_hooks "
    "settrace setprofile breakpointhook "
    # What finds an attribute by a name in a text
    "attrgetter methodcaller getattr_static get_field vformat format_map get_type_hints "
    "ForwardRef _evaluate "
    "FunctionType CodeType LambdaType codeobj _create_fn "
    # What evaluates the annotations of whatever is registered
    "singledispatch singledispatchmethod "
    # Private functions that import, or start a program: refused even where the file defines the
    # like
    "_gcd_import _get_command_stdout _syscmd_file _make_subprocess_transport "
    # A module that another module has imported for itself
    "os sys subprocess posix nt builtins importlib ctypes shutil pty runpy multiprocessing _os "
    "_sys _shutil _posixsubprocess "
    "_subprocess"
)

DENIED_NAMES = words("__builtins__ __loader__ __spec__ __build_class__ __main__")

TUPLE_WORDS = words("_asdict _replace _make _fields _field_defaults")
"""Names with a leading underscore that are public: those of a named tuple."""

DENIED_METHODS = words(
    # CO-15: deletion and process starts that need no denied import
    "unlink rmdir rmtree removedirs symlink_to hardlink_to lchmod chmod "
    "create_subprocess_exec create_subprocess_shell subprocess_exec subprocess_shell "
    "ProcessPoolExecutor GenericBrowser BackgroundBrowser Popen IMAP4_stream "
    "enable_load_extension load_extension "
    # What runs what a text names
    "dictConfig fileConfig unsafe_load unsafe_load_all UnsafeLoader "
    # What waits for others to connect
    "start_server start_unix_server create_server create_unix_server HTTPServer "
    "ThreadingHTTPServer serve_forever"
)
"""Methods and functions that may not be used on any object."""

DENIED_SYS_ATTRIBUTES = words("modules path_importer_cache stdlib_module_names addaudithook")
"""What may not be reached on `sys`."""
