"""Calls what a Python file only defines, with made-up arguments: an agent that reads the skill would
do the same.

Started inside the sandbox by the system's Python, where there is no metier: it imports the standard
library alone. Its arguments are the file, and a file to hand over where a path is wanted.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

MAX_CALLS = 24
PATH_WORDS = ("path", "file", "dir", "folder", "input", "source")
VALUES = (
    (("url", "endpoint", "host"), "https://service.example.org/in"),
    (("count", "limit", "size", "num", "number", "n", "max", "days"), 3),
    (("data", "payload", "config", "params", "options", "context", "record"), {"name": "sample"}),
    (("items", "rows", "values", "list", "args", "files"), ["sample"]),
    (("expression", "formula", "expr"), "1 + 1"),
    (("flag", "verbose", "enabled", "dry_run"), True),
)


def main(path: str, sample: str) -> None:
    """Load the file, and call its functions and the methods of its classes."""
    sys.path.insert(0, path.rpartition("/")[0])
    sys.argv = [path]
    spec = importlib.util.spec_from_file_location("skill", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["skill"] = module
    spec.loader.exec_module(module)
    for call in list(_callables(module, sample))[:MAX_CALLS]:
        with contextlib.suppress(BaseException):
            call(*_arguments(call, sample))


def _callables(module: ModuleType, sample: str) -> Any:
    for name, found in list(vars(module).items()):
        if name.startswith("_") or getattr(found, "__module__", "") != module.__name__:
            continue
        if inspect.isclass(found):
            with contextlib.suppress(BaseException):
                one = found(*_arguments(found, sample))
                methods = [getattr(one, each) for each in vars(found) if not each.startswith("_")]
                yield from filter(inspect.ismethod, methods)
        elif inspect.isfunction(found):
            yield found


def _arguments(call: Any, sample: str) -> list[Any]:
    """Make an argument for every parameter that must have one, by what it is called."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(call).parameters.values()
    return [
        _value(one.name, sample)
        for one in parameters
        if one.kind in kinds and one.default is inspect.Parameter.empty
    ]


def _value(name: str, sample: str) -> Any:
    words = name.lower().split("_")
    if any(word in words for word in PATH_WORDS) or name.endswith(("path", "file")):
        return sample
    for some, value in VALUES:
        if any(word in words for word in some):
            return value
    return "sample"


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
