"""Runs by a host's own runner: the same gates before, the same note afterwards, and no value in what it shows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fakes.cage import KeptSandbox
from fakes.runner import KeptRunner
from fakes.scripted import library_of

from metier.errors import RefusedError
from metier.run import for_model

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from metier.model import Card

KEY = "required_environment_variables: [STORM_KEY]\n"
VALUE = "planted-91cd"


def whole(text: str) -> tuple[str, bool]:
    """Show all of it."""
    return text, False


class Telling(KeptRunner):
    """A runner whose script prints what it was lent, or that fails."""

    def __init__(self, code: int = 0, error: Exception | None = None) -> None:
        """End every run alike."""
        super().__init__()
        self.code, self.error = code, error

    def run(
        self, card: Card, script: str, arguments: Sequence[str], environment: Mapping[str, str]
    ) -> tuple[int, str]:
        """Print the environment."""
        super().run(card, script, arguments, environment)
        if self.error is not None:
            raise self.error
        return self.code, f"{dict(environment)}"


@pytest.mark.parametrize(("code", "outcome"), [(0, "done"), (3, "failed")])
def test_a_host_gets_the_skill_s_own_values_and_shows_none_of_them(
    tmp_path: Path, code: int, outcome: str
) -> None:
    library, runner = (
        library_of(tmp_path, fields=KEY, env={"STORM_KEY": VALUE, "OTHER_KEY": "other"}),
        Telling(code),
    )

    found = for_model.run_by_host(
        library.context, runner, library.resolve("pdf"), "scripts/hello.py", ["a b"], whole
    )

    event = next(iter(library.audit_tail()))
    details = event["details"]
    assert ((code, "{'STORM_KEY': '[STORM_KEY]'}", False), outcome, code) == (
        found,
        event["outcome"],
        details["exit_code"],
    )
    assert ({"sandboxed": False, "runner": "host", "variables": ["STORM_KEY"]}, True) == (
        details["policy"],
        details["seconds"] >= 0,
    )
    assert [("pdf", "scripts/hello.py", ("a b",), {"STORM_KEY": VALUE})] == runner.ran


def test_a_host_s_own_runner_needs_no_sandbox_of_metier_s(tmp_path: Path) -> None:
    library, runner = library_of(tmp_path, box=KeptSandbox(working=False)), Telling()

    found = for_model.run_by_host(
        library.context, runner, library.resolve("pdf"), "scripts/hello.py", [], whole
    )

    assert (False, 0, 1) == (library.plan_run("pdf").allowed, found[0], len(runner.ran))


@pytest.mark.parametrize(
    ("level", "fields", "code"), [("community", "", "ask"), ("trusted", KEY, "refused")]
)
def test_a_host_runs_nothing_that_may_not_run(
    tmp_path: Path, level: str, fields: str, code: str
) -> None:
    library, runner = library_of(tmp_path, level=level, fields=fields), Telling()

    with pytest.raises(RefusedError) as refused:
        for_model.run_by_host(
            library.context, runner, library.resolve("pdf"), "scripts/hello.py", [], whole
        )

    assert (code, [], True) == (
        refused.value.code,
        runner.ran,
        bool(refused.value.details["reasons"]),
    )


def test_a_runner_that_fails_is_noted_without_its_words(tmp_path: Path) -> None:
    library = library_of(tmp_path)

    with pytest.raises(ValueError, match=VALUE):
        for_model.run_by_host(
            library.context,
            Telling(error=ValueError(VALUE)),
            library.resolve("pdf"),
            "scripts/hello.py",
            [],
            whole,
        )

    event = next(iter(library.audit_tail()))
    details = event["details"]
    assert ("failed", "ValueError", False) == (
        event["outcome"],
        details["error"],
        VALUE in str(event),
    )
    assert (2, True, "host") == (
        details["exit_code"],
        details["seconds"] >= 0,
        details["policy"]["runner"],
    )
