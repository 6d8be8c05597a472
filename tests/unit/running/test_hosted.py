"""Runs by a host's own runner: the same gates before, the same note afterwards, and no value in what it shows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fakes.runner import KeptRunner
from fakes.scripted import library_of

from metier.errors import RefusedError
from metier.running import hosted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from metier.model import Card

KEY = "required_environment_variables: [STORM_KEY]\n"
VALUE = "planted-91cd"


class Telling(KeptRunner):
    """A runner whose script prints what it was lent, or that fails."""

    def __init__(self, code: int = 0, error: Exception | None = None) -> None:
        """End every run alike."""
        super().__init__()
        self.code, self.error = code, error

    def run(self, card: Card, script: str, arguments: Sequence[str], environment: Mapping[str, str]) -> tuple[int, str]:
        """Print the environment."""
        super().run(card, script, arguments, environment)
        if self.error is not None:
            raise self.error
        return self.code, f"{dict(environment)}"


@pytest.mark.parametrize(("code", "outcome"), [(0, "done"), (3, "failed")])
def test_a_host_gets_the_skill_s_own_values_and_shows_none_of_them(tmp_path: Path, code: int, outcome: str) -> None:
    library, runner = library_of(tmp_path, fields=KEY, env={"STORM_KEY": VALUE, "OTHER_KEY": "other"}), Telling(code)

    found = hosted.run(library, runner, library.resolve("pdf"), "scripts/hello.py", ["a b"], str.upper)

    event = next(iter(library.audit_tail()))
    assert ((code, "{'STORM_KEY': '[STORM_KEY]'}"), outcome, code) == (found, event["outcome"], event["details"]["exit_code"])
    assert [("pdf", "scripts/hello.py", ("a b",), {"STORM_KEY": VALUE})] == runner.ran


@pytest.mark.parametrize(("level", "fields", "code"), [("community", "", "ask"), ("trusted", KEY, "refused")])
def test_a_host_runs_nothing_that_may_not_run(tmp_path: Path, level: str, fields: str, code: str) -> None:
    library, runner = library_of(tmp_path, level=level, fields=fields), Telling()

    with pytest.raises(RefusedError) as refused:
        hosted.run(library, runner, library.resolve("pdf"), "scripts/hello.py", [], str)

    assert (code, [], True) == (refused.value.code, runner.ran, bool(refused.value.details["reasons"]))


def test_a_runner_that_fails_is_noted_without_its_words(tmp_path: Path) -> None:
    library = library_of(tmp_path)

    with pytest.raises(ValueError, match=VALUE):
        hosted.run(library, Telling(error=ValueError(VALUE)), library.resolve("pdf"), "scripts/hello.py", [], str)

    event = next(iter(library.audit_tail()))
    assert ("failed", "ValueError", False) == (event["outcome"], event["details"]["error"], VALUE in str(event))
