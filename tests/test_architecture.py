"""The house rules, as code: purity by name, sizes, names, exports, the import budget, and one table of rule codes."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import metier
from metier.model import SCOPES
from metier.standard.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = Path(metier.__file__).parent
MODULES = sorted(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if "examples" not in path.relative_to(SOURCE).parts)

WORLDLY = {"disk", "net", "db", "proc", "env", "watch"}
"""Modules named for what they touch. Doors, the composition root and the entry point touch the world as well."""
WORLDLY_PLACES = ("cli/", "mcp/", "app.py", "wiring.py", "__main__.py")
OUTSIDE = {
    "asyncio", "ctypes", "fcntl", "getpass", "glob", "http", "io", "locale", "mmap", "multiprocessing", "os", "pathlib", "platform",
    "random", "secrets", "select", "shutil", "signal", "site", "socket", "sqlite3", "ssl", "subprocess", "tempfile", "threading",
    "time", "urllib", "uuid",
}  # fmt: skip
MODULE_LINES, FUNCTION_LINES, PIPELINE_LINES = 400, 50, 150
LONG_FUNCTIONS: dict[str, str] = {}
"""`module:function` with the reason why it is longer than the rule allows."""
SAYS_NOTHING = {"utils", "util", "helpers", "helper", "common", "manager", "base", "misc"}
HEAVY = {
    "argparse", "ast", "asyncio", "click", "dataclasses", "enum", "hashlib", "inspect", "json", "msgspec", "numpy", "pathlib",
    "pydantic", "re", "rich", "socket", "sqlite3", "subprocess", "tomlkit", "tomllib", "typing", "urllib", "yaml",
}  # fmt: skip
"""What `metier list --json` and `metier prompt` must not load. Names, not times: the budget holds on any machine."""


def tree_of(module: str) -> ast.Module:
    return ast.parse((SOURCE / module).read_text(encoding="utf-8"))


def is_pure(module: str) -> bool:
    return Path(module).stem not in WORLDLY and not module.startswith(WORLDLY_PLACES)


def imports_of(tree: ast.AST) -> Iterator[str]:
    """Give every module that is imported at run time, at the top or inside a function."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            for other in node.orelse:
                yield from imports_of(other)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
        else:
            yield from imports_of(node)


@pytest.mark.parametrize("module", [module for module in MODULES if is_pure(module)])
def test_a_module_not_named_for_the_world_does_not_touch_it(module: str) -> None:
    tree = tree_of(module)

    touched = {name for name in imports_of(tree) if name.partition(".")[0] in OUTSIDE}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    opened = {call.lineno for call in calls if ast.unparse(call.func) in {"open", "input", "print"}}

    assert (set(), set()) == (touched, opened)


def test_modules_are_short() -> None:
    lines = {module: len((SOURCE / module).read_text(encoding="utf-8").splitlines()) for module in MODULES}

    long = {module: count for module, count in lines.items() if count >= MODULE_LINES}

    assert {} == long
    assert PIPELINE_LINES > lines["pipeline.py"]


def test_functions_are_short() -> None:
    long = {}
    for module in MODULES:
        for node in ast.walk(tree_of(module)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > FUNCTION_LINES:
                    long[f"{module}:{node.name}"] = length

    assert set(LONG_FUNCTIONS) == set(long)


def test_names_of_modules_say_something() -> None:
    parts = {part for module in MODULES for part in Path(module).with_suffix("").parts}

    assert set() == parts & SAYS_NOTHING


def test_the_pipeline_knows_no_particular_agent_or_scope() -> None:
    """They are rows of tables: a comparison with one by name in the pipeline is a row in the wrong place."""
    from metier.discover.agents import AGENTS

    particular = {*SCOPES, *(agent.id for agent in AGENTS)}

    found = [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(tree_of("pipeline.py"))
        if isinstance(node, ast.Compare)
        and any(isinstance(leaf, ast.Constant) and leaf.value in particular for leaf in ast.walk(node))
    ]

    assert [] == found


def test_every_public_name_resolves() -> None:
    found = {name: getattr(metier, name) for name in metier.__all__}

    assert len(metier.__all__) == len(found)
    assert all(value is not None for value in found.values())
    assert sorted(metier.__all__) == sorted(dir(metier))


def test_every_error_of_the_tree_is_public() -> None:
    from metier import errors

    tree = {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, errors.MetierError)}

    assert tree <= set(metier.__all__)


def test_every_public_function_and_class_says_what_it_is() -> None:
    bare = [
        f"{module}:{node.lineno} {node.name}"
        for module in MODULES
        for node in ast.iter_child_nodes(tree_of(module))
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_") and not ast.get_docstring(node)
    ]

    assert [] == bare


def loaded_by(code: str, env: dict[str, str]) -> set[str]:
    """Run code in a new Python and give the names of all modules it has loaded at the end."""
    command = [sys.executable, "-c", f"{code}; import sys; sys.stderr.write(' '.join(sys.modules))"]
    return set(subprocess.run(command, env=env, check=True, capture_output=True, text=True).stderr.split())


@pytest.mark.parametrize("words", [["list"], ["list", "--json"], ["prompt"], ["prompt", "--budget", "30"]])
def test_an_everyday_command_stays_within_the_import_budget(words: list[str], tmp_path: Path) -> None:
    root = tmp_path / "skills"
    (root / "one").mkdir(parents=True)
    (root / "one" / "SKILL.md").write_text("---\nname: one\ndescription: Does one thing.\n---\nDo it.\n")
    here = {"PYTHONPATH": str(SOURCE.parent), "PATH": os.defpath}
    env = {"HOME": str(tmp_path), "METIER_HOME": str(tmp_path / "metier-home"), **here}
    arguments = [*words, "--root", str(root)]
    # Files that changed a moment ago are read again on purpose: let the clock run an hour ahead of theirs.
    later = "import time; now = time.time_ns; time.time_ns = lambda: now() + 3_600_000_000_000"
    listing = f"{later}; from metier.cli import main; main({arguments!r})"

    loaded_by(listing, env)  # the first run reads the skills and remembers them
    loaded = loaded_by(listing, env) - loaded_by("pass", env)

    assert f"metier.cli.{words[0]}_" in loaded
    assert set() == {name for name in loaded if name.partition(".")[0] in HEAVY}


def test_every_rule_code_in_the_source_is_in_the_table() -> None:
    used = {
        code
        for module in MODULES
        if module != "standard/rules.py"
        for code in re.findall(r"\b(?:SK|WK|TR)\d{3}\b", (SOURCE / module).read_text(encoding="utf-8"))
    }

    assert set() == used - set(RULES)
    assert set() == set(RULES) - used


def test_every_rule_says_what_why_and_how_to_put_it_right() -> None:
    silent = [code for code, rule in RULES.items() if not (rule.slug and rule.summary and rule.why and rule.fix)]
    slugs = [rule.slug for rule in RULES.values()]

    assert [] == silent
    assert sorted(set(slugs)) == sorted(slugs)
