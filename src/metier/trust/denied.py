"""What a code skill may not import, call or reach: the lists behind the load gate (CO-13 to CO-15)."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SAFE_IMPORTS = frozenset({"os.path"})
"""Exact dotted names that may be imported although their package may not."""

IMPORTS = _words(
    # CO-13
    "os subprocess ctypes shutil importlib signal pty socket builtins "
    # CO-15: other doors to the same rooms
    "posix nt _posixsubprocess _winapi winreg multiprocessing _multiprocessing runpy code codeop imp pkgutil zipimport "
    "_ctypes _socket _signal _io distutils commands popen2 "
    # What runs text as code, or finds any object by a name in a text
    "pdb bdb cProfile profile trace timeit doctest pydoc gc unittest idlelib pip ensurepip venv tkinter _tkinter turtle"
)

EXACT_IMPORTS = frozenset({"logging.config", "concurrent.futures.process"})
"""Dotted names that may not be imported although their package may: they call what a text names, or start processes."""

STRICT_IMPORTS = _words("pickle marshal shelve smtplib ftplib telnetlib _pickle dill cloudpickle")
"""Refused on top in code that no person has written (CO-14)."""

CALLS = _words(
    # CO-13
    "eval exec compile __import__ globals locals getattr setattr delattr vars dir "
    # CO-15 and its kin
    "breakpoint help __build_class__ execfile attrgetter methodcaller get_type_hints ForwardRef"
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
    "FunctionType CodeType LambdaType _create_fn "
    # A module that another module has imported for itself
    "os sys subprocess posix nt builtins importlib ctypes shutil pty runpy multiprocessing _os _sys _shutil _posixsubprocess "
    "_subprocess"
)

NAMES = _words("__builtins__ __loader__ __spec__ __build_class__")

METHODS = _words(
    # CO-15: deletion and process starts that need no denied import
    "unlink rmdir rmtree removedirs symlink_to hardlink_to lchmod chmod "
    "create_subprocess_exec create_subprocess_shell subprocess_exec subprocess_shell "
    "ProcessPoolExecutor GenericBrowser BackgroundBrowser enable_load_extension load_extension"
)
"""Methods and functions that may not be used on any object."""

SYS_ATTRIBUTES = _words("modules path_importer_cache stdlib_module_names addaudithook")
"""What may not be reached on `sys`."""
