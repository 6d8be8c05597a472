"""The directory of commands: every file of a command is in it, and no command needs another."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import metier
from metier.cli import commands
from metier.cli.argv import Values
from metier.cli.table import FILES, SUMMARIES, all_commands, command_named
from metier.errors import UsageError

SOURCE = str(Path(metier.__file__).parent.parent)


def loaded_by(code: str) -> set[str]:
    """Give the names of the modules that some code loads in a Python of its own."""
    answer = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        env={"PYTHONPATH": SOURCE},
        check=True,
        capture_output=True,
        text=True,
    )
    return set(answer.stdout.split("\n")[-2].split())


def test_every_command_has_its_row_and_every_file_its_command() -> None:
    files = {path.stem for path in Path(commands.__file__).parent.glob("[!_]*.py")}

    assert list(SUMMARIES) == [row.name for row in all_commands()]
    assert files == {FILES.get(name, name) for name in SUMMARIES}


def test_a_name_that_nobody_knows_is_no_command() -> None:
    assert command_named("lsit") is None


def test_finding_a_command_imports_no_other() -> None:
    loaded = loaded_by("from metier.cli.table import command_named; command_named('list')")

    assert {"metier.cli.commands.list"} == {
        name for name in loaded if name.startswith("metier.cli.commands.")
    }


def test_the_overview_imports_no_command() -> None:
    loaded = loaded_by("from metier.cli.main import main; main(['--help'])")

    assert set() == {name for name in loaded if name.startswith("metier.cli.commands")}


def test_every_row_is_there_without_an_extra() -> None:
    gone = "import sys; sys.modules.update(dict.fromkeys(('mcp', 'tantivy', 'numpy', 'keyring')))"

    loaded = loaded_by(f"{gone}; from metier.cli.table import all_commands; list(all_commands())")

    assert "metier.cli.commands.mcp" in loaded
    assert set() == loaded & {"metier.find.service", "metier.supply.search", "metier.run.needs"}


def test_the_values_of_a_command_line_have_their_types() -> None:
    values = Values({"json": False, "all": True, "name": None, "ref": "", "to": ["a"]}, ["x"])

    assert (True, False) == (values.flag("all"), values.json)
    assert (None, "", "") == (values.optional("name"), values.text("name"), values.optional("ref"))
    assert (False, True, True) == (values.given("name"), values.given("ref"), values.given("to"))
    assert (["a"], ["x"], []) == (values.many("to"), values.words, values.rest)


@pytest.mark.parametrize("text", ["0", "11", "x", "-1", "1.5", "٣", "9999999999"])
def test_a_number_out_of_bounds_is_refused(text: str) -> None:
    values = Values({"json": False, "limit": text}, [])

    with pytest.raises(UsageError, match="--limit cannot be"):
        values.number("limit", 10)
