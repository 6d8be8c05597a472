"""Calls what a Python file defines, one by one: an agent that reads a skill may do the same, and an
attack that waits for an argument, a date or an hour does not get to wait for it.

Started inside the sandbox by the system's Python, where there is no metier: it imports the standard
library alone, and the outline goes before it as text. Its arguments are the file, and a file to hand over where a path is wanted. What the
file does by itself is suppressed where it fails, pauses take no time, and switches are set.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import atexit
import builtins
import contextlib
import importlib.util
import inspect
import io
import os
import random
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from itertools import islice
from pathlib import Path

from metier.run.observe.outline import FunctionOutline, is_told, made_up, option_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

NAME = "skill"
OUTPUT = "/tmp/out-2"  # noqa: S108 - the sandbox's own
MAX_CALLS = 60
MAX_ITEMS = 100
CALL_SECONDS = 0.7
LOAD_SECONDS = 1.2
ALL_SECONDS = 3.2
"""After this, only `main` and the like are called."""
END_SECONDS = 4.2
LONG_SECONDS = 1e7
KINDS: dict[str, Any] = {
    "int": 3, "float": 3.0, "bool": True, "bytes": b"sample", "dict": {"name": "sample"},
    "list": ["sample"],
}  # fmt: skip
"""Values for parameters that say of which kind they are."""
DATA_WORDS = frozenset({
    "data", "payload", "blob", "body", "text", "content", "contents", "items", "records",
    "rows", "report", "state", "raw", "chunk", "chunks", "message", "msg", "buf", "buffer",
    "bundle", "found", "lines", "result", "results", "value", "values", "doc", "info", "event"
})  # fmt: skip
SWITCHED = ("args", "opts", "ns", "namespace", "opt", "cli", "parsed", "o", "a", "ctx", "options")
"""How parameters are called that hold what was read from a command line."""
LAST = ("main", "run", "cli", "app", "entry", "start", "_main", "cmd_main")


class _EndedError(BaseException):
    """Says that a call took too long, or that the program wanted to end."""


class EverySwitch:
    """Answers every question as if the user had set that switch."""

    def __init__(self, sample: str, known: dict[str, Any]) -> None:
        """Know what the file's own options are."""
        self.__dict__.update(known)
        self._sample = sample

    def __getattr__(self, name: str) -> Any:
        """Make an answer up, by what is asked for."""
        if name.startswith("__"):
            raise AttributeError(name)
        return made_up(name, self._sample, other=is_told(name))

    def __getitem__(self, name: Any) -> Any:
        """Answer as a dictionary would."""
        return getattr(self, name) if isinstance(name, str) else self._sample

    def get(self, name: str, default: Any = None) -> Any:
        """Answer as a dictionary would."""
        return getattr(self, name, default)

    def __contains__(self, name: object) -> bool:
        """Have everything."""
        return True

    def __iter__(self) -> Iterator[Any]:
        """Have nothing to go through."""
        return iter(())


class Missing:
    """Stands for a package that is not installed here: it sends what is to be sent, and answers the
    rest with itself.
    """

    def __getattr__(self, name: str) -> Any:
        """Have everything."""
        if name.startswith("__"):
            raise AttributeError(name)
        return _send if name in {"get", "post", "put", "patch", "request"} else self

    def __call__(self, *words: Any, **_more: Any) -> Any:
        """Be a decorator, too."""
        return words[0] if len(words) == 1 and inspect.isfunction(words[0]) else self

    def __mro_entries__(self, _bases: Any) -> tuple[type, ...]:
        """Be a class to derive from, too."""
        return ()

    def __enter__(self) -> Missing:
        """Be opened, too."""
        return self

    def __exit__(self, *_words: object) -> None:
        """Be closed, too."""

    def __getitem__(self, _name: Any) -> Missing:
        """Hold everything."""
        return self

    def __iter__(self) -> Iterator[Any]:
        """Have nothing to go through."""
        return iter(())


def _send(*words: Any, **more: Any) -> Any:
    """Send what a client of HTTP would."""
    place = next(str(one) for one in (*words, *more.values()) if str(one).startswith("http"))
    given = [*words, *(more.get(name) for name in ("data", "json", "content", "files", "params"))]
    body = b"\n".join(_bytes(one) for one in given if one is not None and str(one) != place)
    head = {str(name): str(value) for name, value in dict(more.get("headers") or {}).items()}
    asked = urllib.request.Request(place, body or None, head)  # noqa: S310 - nothing leaves
    with contextlib.suppress(OSError), urllib.request.urlopen(asked, timeout=3) as answer:  # noqa: S310
        answer.read(4096)
    return Missing()


def _bytes(value: Any) -> bytes:
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    if hasattr(value, "read"):
        return _bytes(value.read())
    if isinstance(value, dict):
        value = list(value.items())
    if isinstance(value, (list, tuple)):
        return b" ".join(_bytes(one) for one in value)
    return str(value).encode("utf-8", "replace")


def _stand_ins(statement: ast.stmt) -> dict[str, Any]:
    """Give what a failed import would have brought."""
    names = getattr(statement, "names", [])
    whole = isinstance(statement, ast.Import)
    return {
        one.asname or (one.name.split(".")[0] if whole else one.name): Missing() for one in names
    }


class Words(list[str]):
    """A command line in which every switch is set."""

    def __contains__(self, word: object) -> bool:
        """Have every switch that lets a script do what it is for."""
        if isinstance(word, str) and word.startswith("-"):
            return is_told(word)
        return super().__contains__(word)


# --- the world in which it is called


def change_world(sample: str) -> None:
    """Let nothing wait, end or ask: a timer is over at once, and a fork goes on as the child."""

    def end(*_words: Any) -> None:
        raise _EndedError

    def run_instead(_file: str, *words: Any) -> None:
        given = words[0] if words and isinstance(words[0], (list, tuple)) else words
        subprocess.run([str(word) for word in given], timeout=CALL_SECONDS, check=False)  # noqa: S603
        raise _EndedError

    def run_timer(timer: threading.Timer) -> None:
        if not timer.finished.is_set():
            timer.function(*timer.args, **timer.kwargs)

    real_wait, real_kill = threading.Event.wait, os.kill
    own = {0, -1, os.getpid(), os.getppid()}

    def wait(event: threading.Event, timeout: float | None = None) -> bool:
        return real_wait(event, timeout if timeout is None else min(timeout, 0.05))

    put: dict[Any, dict[str, Any]] = {
        threading.Timer: {"run": run_timer},
        threading.Event: {"wait": wait},
        random: {"random": lambda: 0.001, "randint": lambda low, _high: low},
        builtins: {"input": lambda *_words: "y"},
        signal: {"alarm": lambda _seconds: 0},
        os: {
            "_exit": end, "abort": end, "fork": lambda: 0, "setsid": lambda: None,
            "isatty": lambda _number: True, "nice": lambda _number: 0,
            "kill": lambda pid, number: None if pid in own else real_kill(pid, number),
        },
        argparse.ArgumentParser: {
            "parse_args": _parse_args, "parse_known_args": lambda *words: (_parse_args(*words), []),
        },
    }  # fmt: skip
    put[os].update({name: run_instead for name in dir(os) if name.startswith("exec")})
    _put(put)
    _Parsing.sample = sample
    sys.stdin = io.TextIOWrapper(_read(sample))
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        stream.isatty = lambda: True  # type: ignore[method-assign]


def let_time_pass() -> None:
    """Let every pause pass at once, and the clock tell that it was one."""
    slept = [0.0]
    real_sleep = asyncio.sleep

    def sleep(seconds: float = 0.0) -> None:
        slept[0] += min(max(float(seconds), 0.0), LONG_SECONDS)

    async def sleep_async(seconds: float = 0.0, result: Any = None) -> Any:
        sleep(seconds)
        await real_sleep(0)
        return result

    def moved(clock: Callable[[], float]) -> Callable[[], float]:
        return lambda: clock() + slept[0]

    _put(
        {
            time: {"sleep": sleep, "time": moved(time.time), "monotonic": moved(time.monotonic)},
            asyncio: {"sleep": sleep_async},
        }
    )


def _put(changes: dict[Any, dict[str, Any]]) -> None:
    for place, some in changes.items():
        for name, value in some.items():
            setattr(place, name, value)


def _read(sample: str) -> io.BytesIO:
    with contextlib.suppress(OSError), open(sample, "rb") as file:
        return io.BytesIO(file.read())
    return io.BytesIO(b"y\n" * 20)


class _Parsing:
    """Whose turn it is among the commands of a script."""

    sample = ""
    turn = 0
    most = 1


def _parse_args(parser: Any, _words: Any = None, namespace: Any = None) -> Any:
    """Give what a command line would have set: every switch, and a value for each option."""
    given = namespace if namespace is not None else argparse.Namespace()
    for action in parser._actions:  # noqa: SLF001 - nothing else says what a parser knows
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            names = list(action.choices)
            _Parsing.most = max(_Parsing.most, len(names))
            if names:
                name = names[_Parsing.turn % len(names)]
                if action.dest != argparse.SUPPRESS:
                    setattr(given, action.dest, name)
                _parse_args(action.choices[name], None, given)
        elif action.dest not in {argparse.SUPPRESS, "help", "version"}:
            kind = getattr(action.type, "__name__", "str")
            switch = action.nargs == 0 and isinstance(action.const, bool)
            said = {
                "action": f"store_{action.const}".lower() if switch else "",
                "default": action.default,
                "choices": action.choices,
                "nargs": action.nargs,
            }
            value = option_value(action.dest, said, kind, _Parsing.sample)
            with contextlib.suppress(Exception):
                made = action.type and isinstance(value, str)
                value = action.type(value) if made else value
            setattr(given, action.dest, value)
    for name, value in parser._defaults.items():  # noqa: SLF001
        setattr(given, name, value)
    return given


# --- the calls


class FunctionCaller:
    """Calls the functions of one file, and hands on what they return."""

    def __init__(self, path: str, sample: str) -> None:
        """Load the file, statement by statement: one that fails keeps no other from its turn."""
        with open(path, "rb") as file:
            self.tree = ast.parse(file.read(), path)
        self.outline = FunctionOutline(self.tree, sample)
        self.sample = sample
        self.switches = EverySwitch(sample, self.outline.options)
        self.results: dict[str, Any] = {}
        self.began = _clock()
        spec = importlib.util.spec_from_file_location(NAME, path)
        assert spec is not None
        self.module = sys.modules[NAME] = importlib.util.module_from_spec(spec)
        self.load(path)

    def load(self, path: str) -> None:
        """Run what stands at the top of the file."""
        postponed = any(
            isinstance(one, ast.ImportFrom) and one.module == "__future__" for one in self.tree.body
        )
        flags = annotations.compiler_flag if postponed else 0
        for statement in self.tree.body:
            one = ast.Module([statement], [])
            left = LOAD_SECONDS - (_clock() - self.began)
            with contextlib.suppress(BaseException), limited(min(left, CALL_SECONDS)):
                code = compile(one, path, "exec", flags, dont_inherit=True)
                try:
                    exec(code, vars(self.module))  # noqa: S102 - that is what it is for
                except ImportError:
                    vars(self.module).update(_stand_ins(statement))

    def call_all(self) -> None:
        """Call everything: first what needs nothing, then those that call least, `main` last."""
        for name, call in sorted(self.callables(), key=self.turn)[:MAX_CALLS]:
            last = name in LAST
            for _Parsing.turn in range(4):
                if last or self.has_time():
                    self.call(name, call)
                if not last or _Parsing.turn + 1 >= _Parsing.most:
                    break

        self.call_otherwise()

    def call_otherwise(self) -> None:
        """Call again whoever asks a question first, with the other answer: whether this is a sandbox,
        or the right day.
        """
        answers = [name for name, said in self.results.items() if isinstance(said, bool)]
        for name in answers:
            held, said = vars(self.module).get(name), self.results[name]
            if not inspect.isfunction(held):
                continue
            setattr(self.module, name, lambda *_words, _said=said, **_more: not _said)
            for other, call in list(self.callables()):
                if name in self.outline.calls.get(other, ()) and self.has_time():
                    self.call(other, call)
            setattr(self.module, name, held)

    def has_time(self) -> bool:
        """Tell whether one more may be called."""
        return _clock() - self.began < ALL_SECONDS

    def turn(self, one: tuple[str, Any]) -> tuple[bool, bool, int]:
        """Say when something is called."""
        name, call = one
        try:
            needs = any(each.default is each.empty for each in _parameters(call))
        except (TypeError, ValueError):
            needs = True
        return name in LAST, needs, self.outline.depth(name)

    def callables(self) -> Iterator[tuple[str, Any]]:
        """Give the file's own functions, and the methods of its classes."""
        for name, found in list(vars(self.module).items()):
            if getattr(found, "__module__", "") != NAME or name.startswith("__"):
                continue
            if inspect.isclass(found):
                with contextlib.suppress(BaseException), limited(CALL_SECONDS):
                    one = self.results[name] = found(**self.arguments("__init__", found))
                    for each in vars(found):
                        if not each.startswith("__") or each == "__call__":
                            method = getattr(one, each, None)
                            if callable(method):
                                yield each, method
            elif callable(found):
                yield name, found

    def call(self, name: str, call: Any) -> None:
        """Call one function, and keep what it gives."""
        here = os.getcwd()
        with contextlib.suppress(BaseException), limited(CALL_SECONDS):
            found = call(**self.arguments(name, call))
            if inspect.isawaitable(found):
                found = asyncio.run(_waited(found))
            elif inspect.isasyncgen(found):
                found = asyncio.run(_drained(found))
            elif inspect.isgenerator(found):
                found = list(islice(found, MAX_ITEMS))
            if found is not None:
                self.results.pop(name, None)
                self.results[name] = found
        with contextlib.suppress(OSError):
            os.chdir(here)

    def arguments(self, name: str, call: Any) -> dict[str, Any]:
        """Make an argument for every parameter that must have one; switches are set."""
        found: dict[str, Any] = {}
        for at, one in enumerate(_parameters(call)):
            if one.default is inspect.Parameter.empty:
                found[one.name] = self.argument(name, at, one)
            elif one.default is False and is_told(one.name):
                found[one.name] = True
        return found

    def argument(self, name: str, at: int, one: inspect.Parameter) -> Any:
        """Give what the file itself would hand over, or make it up by its name or its kind."""
        kind = str(getattr(one.annotation, "__name__", one.annotation)).lower()
        held = self.handed_on(name, at, one, kind)
        if held is not None:
            return held
        if one.name in {"argv", "arguments"}:
            return []
        if (one.name.strip("_") in SWITCHED and "list" not in kind) or "namespace" in kind:
            return self.switches
        value = made_up(one.name, self.sample, other=None)
        if kind == "path":
            return Path(value if isinstance(value, str) else self.sample)
        if value is None or (kind in KINDS and type(value).__name__ != kind):
            value = KINDS.get(kind, "sample" if value is None else value)
        asked = self.outline.asked.get(name, {}).get(one.name, set())
        if asked <= set(dir(value)):
            return value
        return Path(value) if asked <= set(dir(Path)) and value == self.sample else self.switches

    def handed_on(self, name: str, at: int, one: inspect.Parameter, kind: str) -> Any:
        """Give what another function returned: where the file hands it on, where it is of the class
        that is wanted, or, for functions that only stand in a table, by the parameter's name.
        """
        flows = self.outline.flows
        sources = flows.get((name, at), set()) | flows.get((name, one.name), set())
        for source in sorted(sources):
            if source in self.results:
                return self.results[source]
        made = next((each for each in self.results if each.lower() in {kind, one.name}), "")
        if inspect.isclass(getattr(self.module, made, None)):
            return self.results[made]
        words = set(one.name.lower().split("_"))
        if name in self.outline.passed_on and words & DATA_WORDS:
            for value in reversed(self.results.values()):
                if isinstance(value, (bytes, str, dict, list)) and value:
                    return value
        return None


def _parameters(call: Any) -> list[inspect.Parameter]:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [one for one in inspect.signature(call).parameters.values() if one.kind in kinds]


async def _waited(found: Any) -> Any:
    return await found


async def _drained(found: Any) -> list[Any]:
    items: list[Any] = []
    async for one in found:
        items.append(one)
        if len(items) >= MAX_ITEMS:
            break
    return items


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """End what takes longer; again and again, where somebody catches everything."""
    signal.signal(signal.SIGALRM, _time_is_up)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.01), 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _time_is_up(*_words: Any) -> None:
    raise _EndedError


def main(path: str, sample: str) -> None:
    """Load the file and call it, and give what it started some time to come to its end."""
    leave = os._exit
    over = threading.Event()
    real_wait = over.wait

    def watch() -> None:
        real_wait(END_SECONDS)
        leave(0)

    threading.Thread(target=watch, daemon=True).start()
    sample = os.path.abspath(sample)
    sys.path.insert(0, path.rpartition("/")[0])
    sys.argv = Words([path, sample, OUTPUT])
    before = set(threading.enumerate())
    let_time_pass()
    change_world(sample)
    with contextlib.suppress(BaseException):
        FunctionCaller(path, sample).call_all()
    for one in set(threading.enumerate()) - before:
        with contextlib.suppress(BaseException):
            one.join(0.5)
    with contextlib.suppress(BaseException), limited(CALL_SECONDS):
        atexit._run_exitfuncs()  # noqa: SLF001 - a way to come late
    with contextlib.suppress(BaseException):
        sys.stdout.flush()
    leave(0)


_clock = time.monotonic


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
