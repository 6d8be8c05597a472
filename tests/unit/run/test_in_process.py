"""Code skills in this very process: only where the user says so, kept by digest, and never older than their file."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from typing import TYPE_CHECKING

import pytest
from fakes.codeskills import RUN, Calling, library_of

from metier.run import code, in_process
from metier.run.in_process import modules_of
from metier.run.model import Lent

if TYPE_CHECKING:
    from pathlib import Path

    from metier.library import Library

HERE = 'run.in_process = ["trusted", "community", "builtin"]\n'
COUNTING = "CALLS = []\ndef run(task):\n    CALLS.append(task)\n    print('said', len(CALLS))\n    return str(len(CALLS))\n"


def skill_of(library: Library) -> Path:
    """Give the file of the one skill."""
    from pathlib import Path

    return Path(library.skills()[0].path)


def test_a_module_is_made_once_for_the_same_bytes_and_is_in_no_table(
    tmp_path: Path,
) -> None:  # CO-10
    library = library_of(tmp_path, {"count.py": COUNTING}, HERE)
    before = set(sys.modules)

    ran = [code.call(library.context, "count", "x") for _time in range(2)]

    assert [("1", "said 1\n", False), ("2", "said 2\n", False)] == [
        (one.result, one.output, one.sandboxed) for one in ran
    ]
    assert "count" not in set(sys.modules) - before


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ("print('\\ud800x')", "?x\n"),  # half a character has no place in a text
        ("[print('ab') for _ in range(100_000)]", "ab\n" * (64 * 1024 // 3) + "a"),
        ("print('x' * 1_000_000)", "x" * 64 * 1024),
    ],
)
def test_what_a_skill_prints_here_is_text_of_a_limited_length_and_is_heard(
    tmp_path: Path, line: str, output: str
) -> None:
    library = library_of(
        tmp_path, {"says.py": f"def run(task):\n    {line}\n    return 'done'\n"}, HERE
    )
    heard: list[tuple[str, str]] = []

    ran = code.call(
        library.context, "says", "x", hear=lambda stream, text: heard.append((stream, text))
    )

    assert ("done", output, [("out", output)]) == (ran.result, ran.output, heard)


def test_an_edited_skill_is_never_called_as_it_was(tmp_path: Path) -> None:  # CO-5, MT-20
    library = library_of(tmp_path, {"count.py": COUNTING}, HERE)
    code.call(library.context, "count", "x")
    skill_of(library).write_text(RUN)
    library.reload()

    ran = code.call(library.context, "count", "x")

    assert "done: x" == ran.result
    assert 1 == len(modules_of(library.context))


def test_a_reload_lets_go_of_what_changed_or_went(tmp_path: Path) -> None:  # CO-5, MT-20
    library = library_of(tmp_path, {"count.py": COUNTING, "other.py": RUN}, HERE)
    for name in ("count", "other"):
        code.call(library.context, name, "x")
    old = weakref.ref(next(iter(modules_of(library.context)._kept.values())))  # noqa: SLF001 - to see it go
    skill_of(library).unlink()

    library.reload()
    gc.collect()

    assert (1, None) == (len(modules_of(library.context)), old())


LEVELS = [
    ("builtin", True),
    ("trusted", True),
    ("verified", False),
    ("community", False),
    ("quarantined", False),
]


@pytest.mark.parametrize(("level", "expected"), LEVELS)
def test_only_two_levels_may_ever_run_here(tmp_path: Path, level: str, expected: bool) -> None:
    library = library_of(tmp_path, {}, f'run.in_process = ["{level}"]\n')

    assert expected == in_process.may_be_here(library.context, level)  # type: ignore[arg-type]


def test_where_nothing_may_have_the_network_nothing_runs_here(tmp_path: Path) -> None:
    library = library_of(tmp_path, {}, 'run.in_process = ["trusted"]\nrun.network = "none"\n')

    assert not in_process.may_be_here(library.context, "trusted")


def test_without_the_setting_nothing_runs_here(tmp_path: Path) -> None:
    box = Calling()
    library = library_of(tmp_path, {"count.py": RUN}, box=box)

    ran = code.call(library.context, "count", "x")

    assert (True, 1) == (ran.sandboxed, len(box.cages))


def test_what_is_late_here_is_not_waited_for(tmp_path: Path) -> None:
    library = library_of(
        tmp_path,
        {"slow.py": "import threading\ndef run(task):\n    threading.Event().wait(30)\n"},
        HERE,
    )

    ran = code.call(library.context, "slow", "x", lent=Lent(seconds=1))

    assert (124, "time", "Skill 'slow' timed out after 1s.") == (ran.code, ran.stopped, ran.error)


def test_many_threads_share_one_module(tmp_path: Path) -> None:
    text = "import itertools\nNUMBERS = itertools.count(1)\ndef run(task):\n    return str(next(NUMBERS))\n"
    library = library_of(tmp_path, {"count.py": text}, HERE)
    results: list[str | None] = []
    threads = [
        threading.Thread(
            target=lambda: results.append(code.call(library.context, "count", "x").result)
        )
        for _one in range(8)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert [str(number) for number in range(1, 9)] == sorted(str(result) for result in results)
