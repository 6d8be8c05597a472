"""The house rules, as code: the rooms, sizes, names, exports, the import budget, and one table of rule codes.

Who may import whom, and who may touch the world, are contracts of import-linter (pyproject.toml).
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import metier
from metier.model import SCOPES
from metier.standard.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = Path(metier.__file__).parent
MODULES = sorted(
    path.relative_to(SOURCE).as_posix()
    for path in SOURCE.rglob("*.py")
    if "examples" not in path.relative_to(SOURCE).parts
)

MAX_TOP_NAMES, MAX_MODULES, MAX_FORMAT_SKIPS = 30, 420, 60
LATER_PARTS = {
    "web": 31,
    "upstreams": 7,
    "registries": 8,
    "dependencies": 6,
    "policy": 10,
    "supply": 3,
    "observe": 40,
    "hub": 76,
    "first contact": 3,
}
"""What was built onto the house later, each with how many modules it and what it asked for may have (ADRs 44 to 50)."""
MAX_MODULE_LINES, MAX_FUNCTION_LINES, MAX_PIPELINE_LINES = 650, 64, 200
LONG_MODULES = {
    "library.py": "one method for each verb, and nothing else",
    "scan/rules/prose.py": "a table of data",
    "scan/rules/shell.py": "a table of data",
}
"""Modules that are longer than the rule allows, with the reason."""
LONG_FUNCTIONS = {
    "library.py:run": "each argument is one option of the command, by name",
}
"""`module:function` with the reason why it is longer than the rule allows."""
MAX_POSITIONAL_FIELDS = 6
"""A value with more fields than this is built by their names."""
SAYS_NOTHING = {"utils", "util", "helpers", "helper", "common", "manager", "base", "misc"}
HEAVY = {
    "argparse",
    "ast",
    "asyncio",
    "click",
    "dataclasses",
    "enum",
    "hashlib",
    "inspect",
    "json",
    "msgspec",
    "numpy",
    "pathlib",
    "prompt_toolkit",
    "pydantic",
    "re",
    "rich",
    "socket",
    "sqlite3",
    "subprocess",
    "tomlkit",
    "tomllib",
    "typing",
    "urllib",
    "yaml",
}
"""What `metier list --json` and `metier prompt` must not load. Names, not times: the budget holds on any machine."""


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse((SOURCE / module).read_text(encoding="utf-8"))


def imports_of(tree: ast.AST) -> Iterator[str]:
    """Give every module that is imported at run time, at the top or inside a function."""
    for node in ast.iter_child_nodes(tree):
        if (
            isinstance(node, ast.If)
            and isinstance(node.test, ast.Name)
            and node.test.id == "TYPE_CHECKING"
        ):
            for other in node.orelse:
                yield from imports_of(other)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
        else:
            yield from imports_of(node)


def classes() -> dict[str, list[tuple[str, ast.ClassDef]]]:
    """Give every class by its name, with the module that defines it."""
    found: dict[str, list[tuple[str, ast.ClassDef]]] = {}
    for module in MODULES:
        for node in ast.walk(tree_of(module)):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append((module, node))
    return found


def parents_of(node: ast.ClassDef) -> list[str]:
    return [ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases]


def values() -> dict[str, list[str]]:
    """Give the fields of every named tuple of ours, in their order."""
    return {
        name: [
            one.target.id
            for one in node.body
            if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
        ]
        for name, ((_module, node), *_more) in classes().items()
        if "NamedTuple" in parents_of(node)
    }


# --- the rooms


def test_the_top_of_the_house_has_few_names_and_no_twins() -> None:
    names = sorted({Path(module).parts[0].removesuffix(".py") for module in MODULES})

    twins = [
        (one, other)
        for one in names
        for other in names
        if one != other and other.startswith(one.rstrip("e"))
    ]

    assert MAX_TOP_NAMES >= len(set(names) - LATER_PARTS.keys())
    assert [] == twins
    assert [] == [name for name in names if name.endswith("ing")]


def test_a_package_holds_more_than_one_module_and_the_house_is_not_crowded() -> None:
    packages = {
        str(Path(module).parent) for module in MODULES if module.endswith("__init__.py")
    } - {"."}
    inside = {
        package: {one for one in MODULES if Path(one).parent == Path(package)}
        - {f"{package}/__init__.py"}
        for package in packages
    }
    below = {
        package: [other for other in packages if Path(other).parent == Path(package)]
        for package in packages
    }

    later = sum(LATER_PARTS.values())
    assert MAX_MODULES + later >= len(MODULES)
    assert [] == [package for package in packages if len(inside[package]) + len(below[package]) < 2]


def test_only_an_io_a_door_or_what_opens_a_library_calls_the_world() -> None:
    may = {"io", "cli", "mcp", "web", "hub", "library", "context", "__main__"}

    found = [
        f"{module}:{node.lineno}"
        for module in MODULES
        if not may & set(Path(module).with_suffix("").parts)
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"open", "input", "print"}
    ]

    assert [] == found


def test_a_class_name_exists_once() -> None:
    assert {} == {
        name: [module for module, _node in found]
        for name, found in classes().items()
        if len(found) > 1
    }


def test_no_class_has_a_grandparent_of_ours() -> None:
    known = {name: parents_of(found[0][1]) for name, found in classes().items()}
    ports = {name for name, parents in known.items() if "Protocol" in parents} | {"NamedTuple"}

    deep = [
        name
        for name, parents in known.items()
        if not name.endswith("Error")
        and any(set(known.get(parent, ())) & set(known) - ports for parent in parents)
    ]

    assert [] == deep


# --- sizes and format


def test_modules_are_short() -> None:
    lines = {
        module: len((SOURCE / module).read_text(encoding="utf-8").splitlines())
        for module in MODULES
    }

    long = {module for module, count in lines.items() if count > MAX_MODULE_LINES}

    assert set(LONG_MODULES) == long
    assert MAX_PIPELINE_LINES > lines["pipeline.py"]


def test_functions_are_short() -> None:
    long = {}
    for module in MODULES:
        for node in ast.walk(tree_of(module)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > MAX_FUNCTION_LINES:
                    long[f"{module}:{node.name}"] = length

    assert set(LONG_FUNCTIONS) == set(long)


def test_the_formatter_is_told_to_look_away_from_tables_alone() -> None:
    assert MAX_FORMAT_SKIPS > sum(
        (SOURCE / module).read_text(encoding="utf-8").count("# fmt: skip") for module in MODULES
    )


def test_a_value_with_many_fields_is_built_by_their_names() -> None:
    known = values()
    found = [
        f"{module}:{node.lineno} {ast.unparse(node.func)}"
        for module in MODULES
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] in known
        and len(node.args) > MAX_POSITIONAL_FIELDS
        and not any(isinstance(argument, ast.Starred) for argument in node.args)
    ]

    assert [] == found


def test_a_field_is_read_by_its_name() -> None:
    """A number says nothing, and is slower: what is annotated as one of our values is never subscripted with one."""
    known, found = values(), []
    for module in MODULES:
        for function in ast.walk(tree_of(module)):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            ours = {
                argument.arg
                for argument in ast.walk(function.args)
                if isinstance(argument, ast.arg)
                and argument.annotation is not None
                and ast.unparse(argument.annotation) in known
            }
            many = {
                argument.arg
                for argument in ast.walk(function.args)
                if isinstance(argument, ast.arg)
                and isinstance(argument.annotation, ast.Subscript)
                and ast.unparse(argument.annotation.value)
                in {"Sequence", "Iterable", "list", "Collection"}
                and ast.unparse(argument.annotation.slice) in known
            }
            for node in ast.walk(function):
                if not isinstance(node, ast.For | ast.comprehension):
                    continue
                over = node.iter
                if (
                    isinstance(over, ast.Name)
                    and over.id in many
                    and isinstance(node.target, ast.Name)
                ):
                    ours.add(node.target.id)
            found += [
                f"{module}:{node.lineno} {ast.unparse(node)}"
                for node in ast.walk(function)
                if isinstance(node, ast.Subscript)
                and isinstance(node.value, ast.Name)
                and node.value.id in ours
                and isinstance(node.slice, ast.Constant)
                and isinstance(node.slice.value, int)
            ]

    assert [] == found


# --- names


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
        and any(
            isinstance(leaf, ast.Constant) and leaf.value in particular for leaf in ast.walk(node)
        )
    ]

    assert [] == found


def test_every_public_name_resolves() -> None:
    found = {name: getattr(metier, name) for name in metier.__all__}

    assert len(metier.__all__) == len(found)
    assert all(value is not None for value in found.values())
    assert sorted(metier.__all__) == sorted(dir(metier))


def test_every_error_of_the_tree_is_public() -> None:
    from metier import errors

    tree = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.MetierError)
    }

    assert tree <= set(metier.__all__)


def named_in(node: ast.AST) -> set[str]:
    """Give every name in the annotations of a function's arguments and result."""
    assert isinstance(node, ast.FunctionDef)
    args = (*node.args.args, *node.args.kwonlyargs)
    found = [node.returns, *(argument.annotation for argument in args)]
    return {leaf.id for one in found if one for leaf in ast.walk(one) if isinstance(leaf, ast.Name)}


def class_in(module: str, name: str) -> ast.ClassDef:
    (found,) = (
        node
        for node in tree_of(module).body
        if isinstance(node, ast.ClassDef) and node.name == name
    )
    return found


def verbs_of(node: ast.ClassDef) -> list[ast.FunctionDef]:
    return [
        one
        for one in node.body
        if isinstance(one, ast.FunctionDef) and not one.name.startswith("_")
    ]


def test_a_host_can_name_every_class_that_a_public_verb_takes_or_gives() -> None:
    (opens,) = (
        node
        for node in tree_of("library.py").body
        if isinstance(node, ast.FunctionDef) and node.name == "open_library"
    )
    verbs = [opens, *verbs_of(class_in("library.py", "Library"))]

    used = set().union(*map(named_in, verbs)) & set(classes())

    assert set() == used - set(metier.__all__)


def test_every_public_verb_has_its_line_in_the_reference() -> None:
    page = Path(__file__).parent.parent / "docs/reference/library.md"
    reference = page.read_text(encoding="utf-8")
    rows = {
        row.group(1): row.group(2)
        for row in re.finditer(r"^\| `m\.(\w+)[^|]*` \| (.+) \|$", reference, re.MULTILINE)
    }

    verbs = [verb.name for verb in verbs_of(class_in("library.py", "Library"))]

    assert [] == [verb for verb in verbs if len(rows.get(verb, "").split()) < 3]


def test_a_host_can_name_every_seam_it_may_fill_and_what_goes_through_it() -> None:
    brought = next(
        node
        for node in class_in("context.py", "Context").body
        if isinstance(node, ast.FunctionDef) and node.name == "_leave_open"
    )
    inner = {"DiskCalls", "JudgeUse", "RecordedSkills"}  # for tests, and what metier notes itself
    seams = {
        leaf.attr
        for node in ast.walk(brought)
        if isinstance(node, ast.AnnAssign)
        for leaf in ast.walk(node.annotation)
        if isinstance(leaf, ast.Attribute)
    } - inner
    through = {
        name
        for seam in seams
        for method in verbs_of(class_in("ports.py", seam))
        for name in named_in(method)
    } & set(classes())

    assert {"Hook", "Sandbox", "Provider"} < seams
    assert set() == (seams | through) - set(metier.__all__)


def test_every_public_function_and_class_says_what_it_is() -> None:
    bare = [
        f"{module}:{node.lineno} {node.name}"
        for module in MODULES
        for node in ast.iter_child_nodes(tree_of(module))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]

    assert [] == bare


def loaded_by(code: str, env: dict[str, str]) -> set[str]:
    """Run code in a new Python and give the names of all modules it has loaded at the end."""
    command = [sys.executable, "-c", f"{code}; import sys; sys.stderr.write(' '.join(sys.modules))"]
    return set(
        subprocess.run(command, env=env, check=True, capture_output=True, text=True).stderr.split()
    )


@pytest.mark.parametrize(
    "words", [["list"], ["list", "--json"], ["prompt"], ["prompt", "--budget", "30"]]
)
def test_an_everyday_command_stays_within_the_import_budget(
    words: list[str], tmp_path: Path
) -> None:
    root = tmp_path / "skills"
    (root / "one").mkdir(parents=True)
    (root / "one" / "SKILL.md").write_text(
        "---\nname: one\ndescription: Does one thing.\n---\nDo it.\n"
    )
    here = {"PYTHONPATH": str(SOURCE.parent), "PATH": os.defpath}
    env = {"HOME": str(tmp_path), "METIER_HOME": str(tmp_path / "metier-home"), **here}
    arguments = [*words, "--root", str(root)]
    # Files that changed a moment ago are read again on purpose: let the clock run an hour ahead of theirs.
    later = "import time; now = time.time_ns; time.time_ns = lambda: now() + 3_600_000_000_000"
    listing = f"{later}; from metier.cli.main import main; main({arguments!r})"

    loaded_by(listing, env)  # the first run reads the skills and remembers them
    loaded = loaded_by(listing, env) - loaded_by("pass", env)

    assert f"metier.cli.commands.{words[0]}" in loaded
    assert set() == {name for name in loaded if name.partition(".")[0] in HEAVY}


def test_every_rule_code_in_the_source_is_in_the_table() -> None:
    used = {
        code
        for module in MODULES
        if module != "standard/rules.py"
        for code in re.findall(
            r"\b(?:SK|WK|TR)\d{3}\b", (SOURCE / module).read_text(encoding="utf-8")
        )
    }

    assert set() == used - set(RULES)
    assert set() == set(RULES) - used


def test_every_rule_says_what_why_and_how_to_put_it_right() -> None:
    silent = [
        code
        for code, rule in RULES.items()
        if not (rule.slug and rule.summary and rule.why and rule.fix)
    ]
    slugs = [rule.slug for rule in RULES.values()]

    assert [] == silent
    assert sorted(set(slugs)) == sorted(slugs)
