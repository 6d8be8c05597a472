"""What a program hands to a run: what is put wrongly is refused first, with what to give instead, and is no run that failed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fakes.codeskills import RUN, library_of as code_library
from fakes.scripted import kept, library_of

from metier.errors import UsageError

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"args": ["a", 1]}, "each of args has to be a text, and is 1"),
    ({"args": "abc"}, "args is no list of texts: 'abc'"),
    ({"args": ["a\0b"]}, "args has a text with a NUL"),
    ({"script": 5}, "the script or the task has to be a text, and is 5"),
    ({"read": "form.txt"}, "read is no list of texts: 'form.txt'"),
    ({"write": [Path("x")]}, "each of write has to be a text"),
    ({"seconds": 0.5}, "seconds is 0.5"),
    ({"seconds": -5}, "seconds is -5"),
    ({"seconds": True}, "seconds is True"),
    ({"network": "no"}, "network is 'no'"),
]


@pytest.mark.parametrize(("given", "said"), WRONG)
def test_what_is_put_wrongly_is_refused_before_anything_is_noted_down(
    tmp_path: Path, given: dict[str, Any], said: str
) -> None:
    library = library_of(tmp_path)

    for verb in (library.run, library.plan_run):
        with pytest.raises(UsageError) as wrong:
            verb("pdf", **given)

        assert (True, True) == (said in wrong.value.message, bool(wrong.value.hint))
    assert ([], []) == (kept(library).cages, list(library.audit_tail()))


@pytest.mark.parametrize(
    "given",
    [
        {"consent": "no"},
        {"install": 1},
        {"hear": 3},
        {"stopped": "x"},
        {"act": None},
        {"door": 1},
        {"context": "x"},
        {"act": "x"},
    ],
)
def test_only_a_run_takes_a_yes_and_functions(tmp_path: Path, given: dict[str, Any]) -> None:
    library = library_of(tmp_path)

    with pytest.raises(UsageError) as wrong:
        library.run("pdf", **given)

    assert (next(iter(given)) in wrong.value.message, []) == (True, list(library.audit_tail()))


@pytest.mark.parametrize("given", [{"unsandboxed": True}, {"raw": print}])
def test_what_is_for_scripts_is_not_left_out_unsaid_for_code(
    tmp_path: Path, given: dict[str, Any]
) -> None:
    library = code_library(tmp_path, {"up.py": RUN})

    with pytest.raises(UsageError) as wrong:
        library.run("up", "x", **given)

    assert wrong.value.message.endswith("is for scripts; 'up' is a code skill")


def test_a_task_to_dispatch_is_a_text_too(tmp_path: Path) -> None:
    library: Any = code_library(tmp_path, {"up.py": RUN})

    for verb in (library.dispatch, library.auto, library.fill_tags):
        with pytest.raises(UsageError, match="has to be a text, and is 5"):
            verb(5)


def test_the_audit_log_is_told_which_door_a_run_came_through(tmp_path: Path) -> None:
    library = library_of(tmp_path)

    library.run("pdf")
    library.run("pdf", door="my-host")

    assert ["library", "my-host"] == [
        event["source"] for event in library.audit_tail() if event["event"] == "run"
    ]
