"""Python code skills, read by syntax tree."""

from __future__ import annotations

import subprocess
import sys
import warnings

import pytest

from metier.standard.code import MAX_BYTES, CodeFacts, custom_triggers, read_code

RUN = "\ndef run(task):\n    return task\n"


def facts(text: str, stem: str = "weather") -> CodeFacts:
    read = read_code(text.encode(), stem)
    assert read is not None
    return read


def codes(read: CodeFacts) -> list[str]:
    return [note.code for note in read.diagnostics]


@pytest.mark.parametrize(
    ("text", "line", "is_async"),
    [
        ("def run(task): pass\n", 1, False),
        ("import os\n\nasync def run(task): pass\n", 3, True),
        ("@decorated\ndef run(): pass\n", 2, False),
        ("def run(): pass\nasync def run(): pass\n", 2, True),
    ],
)
def test_a_top_level_run_makes_a_skill(text: str, line: int, is_async: bool) -> None:  # CO-1
    read = facts(text)

    assert (line, is_async, []) == (read.run_line, read.is_async, codes(read))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x = 1\n",
        "class A:\n    def run(self): pass\n",
        "if True:\n    def run(): pass\n",
        "# def run\n",
        "def runner(): pass\n",
        "from elsewhere import run\n",
        "SKILL_DIR = '/x'\n",  # not one of the metadata names
        "def broken(:\n",  # a broken file that mentions neither
    ],
)
def test_other_python_files_are_not_skills(text: str) -> None:  # CO-1
    assert read_code(text.encode(), "x") is None


def test_defaults_follow_from_the_file_name() -> None:  # CO-4, CO-9
    expected = CodeFacts("weather", "weather", (), None, None, False, False, (), 2, False, ())

    assert expected == facts(RUN)


def test_the_description_defaults_to_the_declared_name() -> None:  # CO-9
    assert "Sky" == facts("SKILL_NAME = 'Sky'" + RUN).description


def test_all_metadata_is_read_without_importing() -> None:  # CO-2
    text = (
        "raise SystemExit('imported!')\n"
        "SKILL_NAME = 'Sky'\n"
        "SKILL_DESCRIPTION = 'Says what\\n the sky does'\n"
        "SKILL_TRIGGERS = ['weather', ('rain')]\n"
        "SKILL_MCP_EXPOSE = True\n"
        "SKILL_OBSERVATION_TRIGGER = {'type': 'time', 'pattern': '0 7 * * *', 'cooldown_seconds': 5}\n"
        "SKILL_NEEDS_OBSERVATION = True\n"
        "SKILL_DESTRUCTIVE = True\n"
        "SKILL_PERMISSIONS = ('network',)\n"
    )
    observation = {"type": "time", "pattern": "0 7 * * *", "cooldown_seconds": 5}

    read = facts(text + RUN)

    assert (
        CodeFacts(
            name="Sky",
            description="Says what the sky does",
            triggers=("weather", "rain"),
            expose=True,
            observation=observation,
            needs_observation=True,
            destructive=True,
            permissions=("network",),
            run_line=11,
            is_async=False,
            diagnostics=(),
        )
        == read
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SKILL_NAME: str = 'a'", "a"),  # CO-2: annotated assignments are seen
        ("SKILL_NAME: Final = 'a'", "a"),
        ("SKILL_NAME = 'a'\nSKILL_NAME = 'b'", "b"),
        ("SKILL_NAME = OTHER = 'a'", "a"),
        ("OTHER = SKILL_NAME = 'a'", "a"),
        ("SKILL_NAME = 'a' 'b'", "ab"),
        ("SKILL_NAME: str", "weather"),
        ("if TYPE_CHECKING:\n    SKILL_NAME = 'a'", "weather"),
        ("def other():\n    SKILL_NAME = 'a'", "weather"),
        ("class A:\n    SKILL_NAME = 'a'", "weather"),
        ("SKILL_NAMES = 'a'", "weather"),
        ("x.SKILL_NAME = 'a'", "weather"),
        ("d[SKILL_NAME] = 'a'", "weather"),
    ],
)
def test_the_last_plain_top_level_assignment_counts(text: str, expected: str) -> None:
    read = facts(text + RUN)

    assert (expected, []) == (read.name, codes(read))


@pytest.mark.parametrize(
    "text",
    [
        "SKILL_NAME = os.environ['X']",
        "SKILL_NAME = f'a'",
        "SKILL_NAME = 'a' + 'b'",
        "SKILL_NAME = 'a' * 10**9",
        "SKILL_NAME, OTHER = 'a', 'b'",
        "SKILL_NAME = 'a'\nSKILL_NAME += 'b'",
        "SKILL_NAME = {[]}",
        "SKILL_TRIGGERS = [word for word in words]",
        "SKILL_OBSERVATION_TRIGGER = dict(type='time')",
        "SKILL_NEEDS_OBSERVATION = not False",
        "SKILL_PERMISSIONS = ALL",
    ],
)
def test_what_is_not_a_literal_is_ignored_and_reported(text: str) -> None:  # CO-2
    read = facts(text + RUN)

    assert ["SK092"] == codes(read)
    assert facts(RUN)[:8] == read[:8]


@pytest.mark.parametrize(
    "text",
    [
        "SKILL_NAME = 5",
        "SKILL_NAME = ''",
        "SKILL_NAME = None",
        "SKILL_DESCRIPTION = ['a']",
        "SKILL_TRIGGERS = 5",
        "SKILL_TRIGGERS = None",
        "SKILL_OBSERVATION_TRIGGER = 'time'",
        "SKILL_OBSERVATION_TRIGGER = {1: 2}",
        "SKILL_OBSERVATION_TRIGGER = {'a': [b'x']}",
        "SKILL_OBSERVATION_TRIGGER = {'a': '\\ud800'}",
        "SKILL_NEEDS_OBSERVATION = 1",
        "SKILL_PERMISSIONS = {'network': True}",
    ],
)
def test_a_value_of_the_wrong_type_is_ignored_and_reported(text: str) -> None:
    read = facts(text + RUN)

    assert ["SK093"] == codes(read)
    assert facts(RUN)[:8] == read[:8]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SKILL_TRIGGERS = 'rain'", ("rain",)),  # CO-12: never one trigger per character
        ("SKILL_TRIGGERS = ['rain', 5, '']", ("rain",)),
    ],
)
def test_the_readable_part_of_triggers_is_kept(text: str, expected: tuple[str, ...]) -> None:
    read = facts(text + RUN)

    assert (expected, ["SK093"]) == (read.triggers, codes(read))


@pytest.mark.parametrize("value", ["'no'", "0", "1", "os.name", "[]", "not True"])
def test_restricting_metadata_falls_to_the_restrictive_side(value: str) -> None:  # MT-11
    read = facts(f"SKILL_DESTRUCTIVE = {value}\nSKILL_MCP_EXPOSE = {value}{RUN}")

    assert (True, False) == (read.destructive, read.expose)
    assert ["SK094", "SK094"] == sorted(codes(read))


def test_exposure_has_three_states() -> None:  # CO-9, MT-21
    states = [facts(f"SKILL_MCP_EXPOSE = {value}{RUN}") for value in ("True", "False", "None")]

    assert [(True, ()), (False, ()), (None, ())] == [
        (read.expose, read.diagnostics) for read in states
    ]


def test_destructive_none_is_not_an_answer() -> None:
    read = facts("SKILL_DESTRUCTIVE = None" + RUN)

    assert (True, ["SK094"]) == (read.destructive, codes(read))


def test_metadata_without_run_is_an_error() -> None:  # CO-1
    read = facts("SKILL_NAME = 'a'\nrun = print\n")

    assert ("a", 0, ["SK091"]) == (read.name, read.run_line, codes(read))


def test_a_diagnostic_has_a_place_in_the_file() -> None:
    (note,) = facts("\n\nSKILL_NAME = 5\n" + RUN).diagnostics

    assert ("weather.py", 3, 14, "warning") == (note.path, note.line, note.column, note.severity)


def test_a_syntax_error_is_reported_where_it_is() -> None:  # CO-3
    (note,) = facts("SKILL_NAME = 'a'\ndef run(:\n").diagnostics

    assert ("SK090", "error", 2, 9) == (note.code, note.severity, note.line, note.column)


@pytest.mark.parametrize(
    "data",
    [
        b"SKILL_NAME = '\xff'\ndef run(): pass\n",
        b"# coding: latin-1\nSKILL_NAME = 'a'\ndef run(): pass\n",
        b"#!/usr/bin/python\n# -*- coding: utf-7 -*-\ndef run(): pass\n",
        b"SKILL_NAME = 'a\x00'\ndef run(): pass\n",
        b"def run(): pass\n" + b"#" * MAX_BYTES,
        b"SKILL_NAME = " + b"9" * 10_000,
    ],
)
def test_what_python_or_utf8_refuses_is_reported_and_restricted(data: bytes) -> None:
    read = read_code(data, "x")

    assert read is not None
    assert ["SK090"] == codes(read)
    assert (True, False) == (read.destructive, read.expose)


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfdef run(): pass\n",
        b"# coding: utf-8\ndef run(): pass\n",
        b"# vim: set fileencoding=UTF_8 :\ndef run(): pass\n",
        b"# -*- coding: utf-8-unix -*-\ndef run(): pass\n",
        b"x = 1\n# coding: latin-1\ndef run(): pass\n",  # too late to count (PEP 263)
        b"def run(): pass\r\n",
    ],
)
def test_utf8_files_are_read_however_they_are_marked(data: bytes) -> None:
    read = read_code(data, "x")

    assert read is not None
    assert [] == codes(read)


def test_no_warning_escapes_from_the_file() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        read = facts("SKILL_NAME = '\\d'\nx = 1 is 1\nif x in 1or 2: pass\n" + RUN)

    assert [] == codes(read)


HOSTILE = {
    "unary": "SKILL_NAME = " + "-" * 100_000 + "1",
    "brackets": "SKILL_NAME = " + "[" * 100_000,
    "closed brackets": "SKILL_NAME = " + "[" * 150 + "]" * 150,
    "attributes": "SKILL_NAME = a" + ".a" * 100_000,
    "calls": "SKILL_NAME = a" + "()" * 100_000,
    "sum": "SKILL_NAME = " + "1+" * 100_000 + "1",
    "lambda": "SKILL_NAME = " + "lambda:" * 50_000 + "1",
    "not": "SKILL_NAME = " + "not " * 100_000 + "1",
    "elif": "SKILL_NAME = 1\nif a: pass\n" + "elif a: pass\n" * 20_000,
    "indent": "SKILL_NAME = 1\n" + "".join(" " * depth + "if a:\n" for depth in range(99)),
    "ternary": "SKILL_NAME = " + "1 if 1 else " * 30_000 + "1",
    "strings": "SKILL_NAME = " + "'a' " * 100_000,
    "star targets": "*a, " * 10_000 + "SKILL_NAME = 1",
    "nested targets": "(" * 190 + "SKILL_NAME" + ",)" * 190 + " = 1",
    "format": 'SKILL_NAME = f"' + "{a:" * 5_000 + '"',
}


@pytest.mark.parametrize("attack", list(HOSTILE))
def test_hostile_code_costs_a_diagnostic_and_not_the_process(attack: str) -> None:
    script = (
        "import sys\nfrom metier.standard.code import read_code\n"
        "read = read_code(sys.stdin.buffer.read(), 'x')\nprint(read is not None)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", script],
        input=HOSTILE[attack].encode(),
        capture_output=True,
        check=False,
    )

    assert (0, b"True\n", b"") == (done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"Sky": {"triggers": ["rain", "sun"]}}', {"Sky": ("rain", "sun")}),
        (
            b'{"Sky": {"triggers": [5, true, " a  b ", "", null, ["x"], "5"]}}',
            {"Sky": ("5", "True", "a b")},
        ),
        (b'{"Sky": {"triggers": "rain"}}', {"Sky": ("rain",)}),
        (b'{"Sky": {"triggers": []}, "B": {}, "C": 5, "D": {"triggers": {}}}', {}),
        (b"[]", {}),
        (b"{", {}),
        (b"\xff", {}),
        (b"[" * 100_000, {}),
        (b" " * (MAX_BYTES + 1), {}),
    ],
)
def test_custom_triggers_are_read_or_none_are(
    data: bytes, expected: dict[str, tuple[str, ...]]
) -> None:  # CO-8
    assert expected == custom_triggers(data)
