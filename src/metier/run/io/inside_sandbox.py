"""Calls one code skill inside the sandbox, and hands back what it gave as one JSON document.

Started as a file by the interpreter of the sandbox, where there is no metier: it imports the
standard library alone. Its arguments are two files: the skill's source, and a JSON document with
`task` and `context`. Standard output and error stay the skill's own; the answer goes to the
descriptor that METIER_REPORT names, which the skill is not told of.
"""

from __future__ import annotations

import json
import os
import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:  # by its own name, because `typing` costs more than most skills
    from typing import Any

MAX_ANSWER_BYTES = 1024 * 1024
MAX_ERROR_CHARS = 2_000
MAX_DECORATORS = 32
"""How many decorators are seen through."""
_STAR = 4
_STARS = 8
_CONTEXT = ("context", "ctx")


def main(source: str, call: str) -> int:
    """Load the skill and call it; give the exit code of the process."""
    report = _report()
    try:
        with open(call, "rb") as file:
            asked = json.loads(file.read())
        with open(source, "rb") as file:
            data = file.read()
        answer = answer_of(lambda: load(data, source), asked["task"], asked["context"])
    except BaseException as error:  # noqa: BLE001 - whatever a skill does, there is an answer
        answer = failure(error, loaded=False)
    _hand_back(report, answer)
    return 0 if answer["ok"] else 1


def load(data: bytes, path: str, *, known: bool = True, given: dict[str, Any] | None = None) -> Any:
    """Make a module of exactly these bytes, with names that it is given; give its `run`.

    With `known` other code finds the module under its name, as `dataclasses` and `pickle` want to.
    """
    name = os.path.basename(path).rpartition(".")[0]
    if name in getattr(sys, "stdlib_module_names", ()) or name in sys.modules:
        name = f"skill_{name}"
    module = types.ModuleType(name)
    module.__file__ = path
    module.__dict__.update(given or {})
    code = compile(data, path, "exec", dont_inherit=True)
    if known:
        sys.modules[name] = module
    exec(code, module.__dict__)  # noqa: S102 - this is what a code skill is; it happens in the sandbox, or by the user's own setting
    return module.run


def answer_of(load: Any, task: str, context: str) -> dict[str, Any]:
    """Load a skill, call it and put what it gave into the form of an answer. Nothing is raised."""
    try:
        run = load()
    except BaseException as error:  # noqa: BLE001 - a skill may raise anything, SystemExit too
        return failure(error, loaded=False)
    try:
        return _answer(_awaited(call(run, task, context)))
    except BaseException as error:  # noqa: BLE001 - as above
        return failure(error)


def call(run: Any, task: str, context: str) -> Any:
    """Call a skill's `run` with what its signature has room for. A context that is empty is given
    only where it must be.
    """
    positional, required, named = _signature(run)
    if named and (context or required > 1):
        return run(task, **{named: context})
    if positional > 1 and (context or required > 1):
        return run(task, context)
    return run(task)


def _signature(run: Any) -> tuple[int, int, str]:
    """Tell how many arguments a function takes by position, how many it must have, and by which
    name it takes a context.
    """
    for _step in range(MAX_DECORATORS):
        inner = getattr(run, "__wrapped__", None)
        if inner is None:
            break
        run = inner
    if not hasattr(run, "__code__") and not hasattr(run, "__func__"):
        run = getattr(run, "__call__", run)  # noqa: B004 - an object that is called by its class's method
    bound = 1 if getattr(run, "__self__", None) is not None else 0
    code = getattr(run, "__code__", None)
    if code is None:
        return 1, 1, ""
    names = code.co_varnames[bound : code.co_argcount]
    given = len(getattr(run, "__defaults__", None) or ())
    words = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    by_name = (*names[max(1, code.co_posonlyargcount - bound) :], *words)
    named = next((name for name in _CONTEXT if name in by_name), "")
    if not named and code.co_flags & _STARS and len(names) < 2 and not code.co_flags & _STAR:
        named = "context"
    return len(names) + (1 if code.co_flags & _STAR else 0), len(names) - given, named


def _awaited(value: Any) -> Any:
    """Wait for what an asynchronous skill gives."""
    if not hasattr(value, "__await__"):
        return value
    import asyncio  # most skills are not asynchronous

    async def wait() -> Any:
        return await value

    return asyncio.run(wait())


def _answer(value: Any) -> dict[str, Any]:
    if value is None:
        return {"ok": True, "result": None, "error": "", "declined": True}
    if hasattr(value, "__aiter__") or isinstance(value, types.GeneratorType):
        if isinstance(value, types.GeneratorType):
            value.close()
        return _failed("TypeError: run must give a text, and not a generator")
    text = str(value) if value else ""
    if (
        len(text) > MAX_ANSWER_BYTES
        or len(_encoded({"result": text})) > MAX_ANSWER_BYTES - MAX_ERROR_CHARS
    ):
        return _failed(f"ValueError: its answer is longer than {MAX_ANSWER_BYTES:,} bytes")
    return {"ok": True, "result": text, "error": "", "declined": False}


def failure(error: BaseException, *, loaded: bool = True) -> dict[str, Any]:
    """Put what was raised into the form of an answer; its text is a stranger's code too."""
    try:
        text = f"{type(error).__name__}: {str(error)[:MAX_ERROR_CHARS]}"
    except BaseException:  # noqa: BLE001 - an error that cannot even be shown
        text = f"{type(error).__name__}: it cannot be shown"
    return _failed(text, loaded=loaded)


def _failed(why: str, *, loaded: bool = True) -> dict[str, Any]:
    return {
        "ok": False,
        "result": None,
        "error": why[:MAX_ERROR_CHARS],
        "declined": False,
        "loaded": loaded,
    }


def _encoded(answer: dict[str, Any]) -> bytes:
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")


def _report() -> int:
    """Take the descriptor that the answer goes to, so that neither the skill nor what it starts is
    handed it.
    """
    kept = os.dup(int(os.environ["METIER_REPORT"]))
    os.close(int(os.environ.pop("METIER_REPORT")))
    return kept


def _hand_back(report: int, answer: dict[str, Any]) -> None:
    """Write the answer; then end without waiting for threads that the skill left behind."""
    data = _encoded(answer)
    while data:
        data = data[os.write(report, data) :]
    os.close(report)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:  # noqa: BLE001, S112 - its own streams, broken by its own doing
            continue


if __name__ == "__main__":
    os._exit(main(sys.argv[1], sys.argv[2]))
