"""What a code skill may not import, call or reach: the lists behind the load gate (CO-13 to CO-15).

These are deny lists and no boundary: they name the doors that are known. What keeps code in is the sandbox.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SAFE_IMPORTS = frozenset({"os.path", "__future__"})
"""Exact dotted names that may be imported although their package, or their leading underscore, may not."""

IMPORTS = _words(
    # CO-13
    "os subprocess ctypes shutil importlib signal pty socket builtins "
    # CO-15: other doors to the same rooms. Names with a leading underscore are refused by the gate itself.
    "posix nt winreg multiprocessing runpy code codeop imp pkgutil zipimport distutils setuptools pkg_resources commands popen2 "
    # What runs text as code, or finds any object by a name in a text
    "pdb bdb cProfile profile trace timeit doctest pydoc gc inspect rlcompleter unittest test lib2to3 idlelib tkinter turtle "
    "turtledemo IPython "
    # What hands out code objects, or leaves compiled files for a later import
    "dis py_compile compileall "
    # What installs, or changes what a later start of Python loads
    "pip ensurepip venv site "
    # What starts programs by another name: a browser, a mail reader, a pipeline, a terminal
    "webbrowser antigravity mailcap pipes pexpect ptyprocess sh plumbum invoke fabric win32api win32com win32process "
    # Foreign code and raw memory, other processes' limits and locks
    "cffi mmap fcntl resource "
    # What waits for others to connect; clients are no part of this (CO-14)
    "socketserver asyncore asynchat smtpd"
)

EXACT_IMPORTS = _words(
    "logging.config concurrent.futures.process asyncio.subprocess asyncio.base_subprocess "
    "http.server xmlrpc.server wsgiref.simple_server numpy.ctypeslib numpy.distutils numpy.f2py"
)
"""Dotted names that may not be imported although their package may: they run what a text names, start processes, or listen."""

STRICT_IMPORTS = _words("pickle marshal shelve smtplib ftplib telnetlib dill cloudpickle jsonpickle joblib")
"""Refused on top in code that no person has vouched for (CO-14)."""

CALLS = _words(
    # CO-13
    "eval exec compile __import__ globals locals getattr setattr delattr vars dir "
    # CO-15 and its kin
    "breakpoint help __build_class__ execfile attrgetter methodcaller get_type_hints ForwardRef singledispatch singledispatchmethod"
)

OWN_WORDS = _words("dir vars locals help compile")
"""Of those, the ones that code often uses as names of its own: they may be read where a function binds them itself."""

OWNERS = _words("os subprocess ctypes shutil importlib signal pty socket builtins posix nt _posixsubprocess multiprocessing runpy")
"""Modules whose name before a call is refused, imported or not (CO-13)."""

ATTRIBUTES = _words(
    # CO-13
    "__class__ __bases__ __base__ __subclasses__ __mro__ __globals__ __dict__ __builtins__ __code__ __closure__ __func__ __self__ "
    "__getattribute__ __subclasshook__ __init_subclass__ __reduce__ __reduce_ex__ __getattr__ __import__ __loader__ __spec__ "
    # The same, by other names
    "__setattr__ __delattr__ __objclass__ __wrapped__ __build_class__ mro f_globals f_builtins f_locals f_back f_code gi_frame "
    "gi_code "
    "cr_frame cr_code ag_frame ag_code tb_frame _getframe _current_frames meta_path path_hooks settrace setprofile breakpointhook "
    # What finds an attribute by a name in a text
    "attrgetter methodcaller getattr_static get_field vformat format_map get_type_hints ForwardRef _evaluate "
    "FunctionType CodeType LambdaType codeobj _create_fn "
    # What evaluates the annotations of whatever is registered
    "singledispatch singledispatchmethod "
    # Private functions that import, or start a program: refused even where the file defines the like
    "_gcd_import _get_command_stdout _syscmd_file _make_subprocess_transport "
    # A module that another module has imported for itself
    "os sys subprocess posix nt builtins importlib ctypes shutil pty runpy multiprocessing _os _sys _shutil _posixsubprocess "
    "_subprocess"
)

NAMES = _words("__builtins__ __loader__ __spec__ __build_class__ __main__")

TUPLE_WORDS = _words("_asdict _replace _make _fields _field_defaults")
"""Names with a leading underscore that are public: those of a named tuple."""

METHODS = _words(
    # CO-15: deletion and process starts that need no denied import
    "unlink rmdir rmtree removedirs symlink_to hardlink_to lchmod chmod "
    "create_subprocess_exec create_subprocess_shell subprocess_exec subprocess_shell "
    "ProcessPoolExecutor GenericBrowser BackgroundBrowser Popen IMAP4_stream enable_load_extension load_extension "
    # What runs what a text names
    "dictConfig fileConfig unsafe_load unsafe_load_all UnsafeLoader "
    # What waits for others to connect
    "start_server start_unix_server create_server create_unix_server HTTPServer ThreadingHTTPServer serve_forever"
)
"""Methods and functions that may not be used on any object."""

SYS_ATTRIBUTES = _words("modules path_importer_cache stdlib_module_names addaudithook")
"""What may not be reached on `sys`."""
