"""The program that calls a code skill inside the sandbox: run here by itself, it needs none."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from metier.run import answers
from metier.run.io import code_skill, inside_sandbox

if TYPE_CHECKING:
    from collections.abc import Callable


def called(
    tmp_path: Path, code: str, task: str = "the task", context: str = ""
) -> tuple[dict[str, Any], str, int]:
    """Call a skill as the sandbox does; give its answer, its standard output and the exit code."""
    source, call, program = tmp_path / "skill.py", tmp_path / "call.json", tmp_path / "inside.py"
    source.write_text(code)
    call.write_text(json.dumps({"task": task, "context": context}))
    program.write_bytes(code_skill.inside_program())
    theirs, ours = os.pipe()
    env = {"METIER_REPORT": str(ours), "PATH": os.defpath}
    process = subprocess.Popen(
        [sys.executable, "-I", "-B", program, source, call],
        env=env,
        pass_fds=[ours],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    os.close(ours)
    with os.fdopen(theirs, "rb") as report:
        handed = report.read()
    output, _errors = process.communicate(timeout=60)
    return json.loads(handed), output, process.returncode


def done(result: str | None) -> dict[str, Any]:
    """Give the answer of a skill that gave this."""
    return {"ok": True, "result": result, "error": "", "declined": result is None}


EVERY_END = """
import asyncio, dataclasses, sys
@dataclasses.dataclass
class Kept:
    text: "str"
async def run(task, context):
    print("said by the skill")
    await asyncio.sleep(0)
    return Kept(task + "/" + context + "/" + str(Kept.__module__ in sys.modules)).text
"""


def test_an_asynchronous_skill_is_awaited_and_its_output_is_its_own(tmp_path: Path) -> None:
    answer, output, code = called(tmp_path, EVERY_END, "do", "with this")

    assert (done("do/with this/True"), "said by the skill\n", 0) == (answer, output, code)


FAILING = [
    ("def run(task):\n    raise SystemExit(124)", "SystemExit: 124", True),
    ("def run(task):\n    raise KeyboardInterrupt", "KeyboardInterrupt: ", True),
    (
        "import nowhere_at_all\ndef run(task): ...",
        "ModuleNotFoundError: No module named 'nowhere_at_all'",
        False,
    ),
    ("raise SystemExit(0)\ndef run(task): ...", "SystemExit: 0", False),
    (
        "def run(task):\n    import os\n    assert 'METIER_REPORT' not in os.environ\n    raise ValueError('seen')",
        "ValueError: seen",
        True,
    ),
]


@pytest.mark.parametrize(("code", "error", "loaded"), FAILING)
def test_whatever_a_skill_raises_is_its_failure_and_no_exit_code_of_its_choosing(
    tmp_path: Path, code: str, error: str, loaded: bool
) -> None:
    answer, _output, exited = called(tmp_path, code)

    assert (
        {"ok": False, "result": None, "error": error, "declined": False, "loaded": loaded},
        1,
    ) == (answer, exited)


def test_a_thread_that_a_skill_leaves_behind_keeps_nobody_waiting(tmp_path: Path) -> None:
    code = "import threading, time\ndef run(task):\n    threading.Thread(target=time.sleep, args=(600,)).start()\n    return 'done'"

    answer, _output, _code = called(tmp_path, code)

    assert done("done") == answer


def answer_of(run: Callable[..., object], context: str = "the context") -> dict[str, Any]:
    """Call a function as a skill, in this process."""
    return inside_sandbox.answer_of(lambda: run, "the task", context)


class _Object:
    def __call__(self, task: str, ctx: str = "") -> str:
        return f"{task}, {ctx}"


def _wrapping(run: Callable[..., object]) -> Callable[..., object]:
    def outer(*args: object, **words: object) -> object:
        return run(*args, **words)

    outer.__wrapped__ = run  # type: ignore[attr-defined]
    return outer


SIGNATURES: list[tuple[Callable[..., object], str, str]] = [
    (lambda task: task, "the context", "the task"),
    (lambda task, other: f"{task}, {other}", "", "the task, "),
    (lambda task, app="own": f"{task}, {app}", "", "the task, own"),
    (lambda task, app="own": f"{task}, {app}", "c", "the task, c"),
    (lambda task, app="own", ctx="": f"{task}, {app}, {ctx}", "c", "the task, own, c"),
    (lambda task, *, context="": f"{task}, {context}", "c", "the task, c"),
    (lambda task, *rest: f"{task}, {rest}", "c", "the task, ('c',)"),
    (lambda task, **rest: f"{task}, {rest}", "c", "the task, {'context': 'c'}"),
    (lambda task, context, /: f"{task}, {context}", "c", "the task, c"),
    (_Object(), "c", "the task, c"),
    (_wrapping(lambda task: task), "c", "the task"),
]


@pytest.mark.parametrize(("run", "context", "expected"), SIGNATURES)
def test_a_skill_is_given_what_its_signature_has_room_for(
    run: Callable[..., object], context: str, expected: str
) -> None:
    answer = answer_of(run, context)

    assert done(expected) == answer


async def _stream(_task: str) -> Any:
    yield "a"


class _UnshowableError(Exception):
    def __str__(self) -> str:
        raise ValueError("no")


def _raises(_task: str) -> None:
    raise _UnshowableError


RESULTS: list[tuple[Callable[..., object], str | None, str]] = [
    (lambda _task: None, None, ""), (lambda _task: 0, "", ""), (lambda _task: [], "", ""), (lambda _task: False, "", ""),
    (lambda _task: 7, "7", ""), (lambda _task: {"a": 1}, "{'a': 1}", ""), (lambda _task: "", "", ""),
    (_stream, None, "TypeError: run must give a text, and not a generator"),
    (lambda _task: (x for x in "ab"), None, "TypeError: run must give a text, and not a generator"),
    (_raises, None, "_UnshowableError: it cannot be shown"),
    (lambda _task: "x" * 2_000_000, None, "ValueError: its answer is longer than 1,048,576 bytes"),
    (lambda _task: "\ud800", "\ud800", ""),
]  # fmt: skip


@pytest.mark.parametrize(("run", "result", "error"), RESULTS)
def test_what_a_skill_gives_becomes_a_text_or_is_declined(
    run: Callable[..., object], result: str | None, error: str
) -> None:
    # CO-17, CO-19
    answer = answer_of(run)

    assert (result, error, not error) == (answer["result"], answer["error"], answer["ok"])
    assert (not error and result is None) == answer["declined"]


def test_a_skill_named_like_a_module_of_python_is_none(tmp_path: Path) -> None:
    run = inside_sandbox.load(
        b"def run(task):\n    return __name__\n", str(tmp_path / "json.py"), known=False
    )

    assert "skill_json" == run("x")


def test_it_imports_nothing_but_the_standard_library() -> None:
    tree = ast.parse(code_skill.inside_program())
    modules = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    modules |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}

    assert set() == modules - sys.stdlib_module_names
    assert answers.MAX_ANSWER_BYTES == inside_sandbox.MAX_ANSWER_BYTES
