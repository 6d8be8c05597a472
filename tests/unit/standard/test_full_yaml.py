"""From YAML text to values, without trusting the text."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st

from metier.standard.full_yaml import MAX_CHARACTERS, MAX_DEPTH, MAX_NODES, load
from metier.standard.plain_yaml import YamlValues


def codes(loaded: YamlValues) -> list[str]:
    return [code for code, *_ in loaded.faults]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("# only a comment\n", ""),
        ("a: b\n", {"a": "b"}),
        ("---\na: b\n...\n", {"a": "b"}),
        ("version: 1.10\n", {"version": "1.10"}),
        (
            "a: yes\nb: 0x1F\nc: 2024-01-01\nd: 1_000\n",
            {"a": "yes", "b": "0x1F", "c": "2024-01-01", "d": "1_000"},
        ),
        ("a:\nb: ~\nc: null\nd: NULL\n", {"a": "", "b": "", "c": "", "d": ""}),
        ("a: '~'\nb: \"null\"\n", {"a": "~", "b": "null"}),
        ("a: |\n  one\n  two\n", {"a": "one\ntwo\n"}),
        ("a: >-\n  one\n  two\n", {"a": "one two"}),
        ("a: one\n  two\n", {"a": "one two"}),
        ('a: "tab\\tdash\\u2014"\n', {"a": "tab\tdash\u2014"}),
        ("a: 'it''s'\n", {"a": "it's"}),
        ("a: [1, 'x', {b: c}]\n", {"a": ["1", "x", {"b": "c"}]}),
        ("a:\n- 1\n- - 2\n  - 3\n", {"a": ["1", ["2", "3"]]}),
        ("- a\n- b\n", ["a", "b"]),
        ("just text\n", "just text"),
        ('{"json": {"works": [true, null]}}', {"json": {"works": ["true", ""]}}),
        ("<<: {a: b}\n", {"<<": {"a": "b"}}),
        ("a: &anchor b\n", {"a": "b"}),
        ("a: {}\nb: []\n", {"a": {}, "b": []}),
        ("\ufeffa: b\n", {"a": "b"}),
    ],
)
def test_scalars_stay_text_and_collections_become_values(text: str, expected: object) -> None:
    loaded = load(text)

    assert (expected, (), None) == (loaded.value, loaded.faults, loaded.error)


@pytest.mark.parametrize(
    ("text", "value", "fault"),
    [
        ("a: 1\nb: 2\na: 3\n", {"a": "1", "b": "2"}, ("SK022", 3, 1)),
        ("a: 1\na:\n  b: {c: d}\n", {"a": "1"}, ("SK022", 2, 1)),
        ("m:\n  a: 1\n  a: 2\n", {"m": {"a": "1"}}, ("SK022", 3, 3)),
        ("a: &x one\nb: *x\n", {"a": "one", "b": "one"}, ("SK023", 2, 4)),
        ("a: &x [one]\nb: *x\n", {"a": ["one"], "b": ""}, ("SK023", 2, 4)),
        ("a: *nothing\n", {"a": ""}, ("SK023", 1, 4)),
        ("a: &x k\n*x : v\n", {"a": "k", "k": "v"}, ("SK023", 2, 1)),
        ("a: &x {b: *x}\n", {"a": {"b": ""}}, ("SK023", 1, 11)),
        ("a: !!int 5\n", {"a": "5"}, ("SK024", 1, 4)),
        ("a: !!python/object/apply:os.system [id]\n", {"a": ["id"]}, ("SK024", 1, 4)),
        ("a: !foo {b: c}\n", {"a": {"b": "c"}}, ("SK024", 1, 4)),
        ("a: !!str null\n", {"a": "null"}, ("SK024", 1, 4)),
        ("on: push\n", {"on": "push"}, ("SK025", 1, 1)),
        ("1: one\n", {"1": "one"}, ("SK025", 1, 1)),
        ("-1.5e3: x\n", {"-1.5e3": "x"}, ("SK025", 1, 1)),
        ("~: x\n", {"~": "x"}, ("SK025", 1, 1)),
        ("null: x\n", {"null": "x"}, ("SK025", 1, 1)),
        ("{? : x}\n", {"": "x"}, ("SK025", 1, 4)),
        ("TRUE: x\n", {"TRUE": "x"}, ("SK025", 1, 1)),
        ("0o17: x\n", {"0o17": "x"}, ("SK025", 1, 1)),
        ("1:30: x\n", {"1:30": "x"}, ("SK025", 1, 1)),
        (".inf: x\n", {".inf": "x"}, ("SK025", 1, 1)),
        ("2024-01-01: x\n", {"2024-01-01": "x"}, ("SK025", 1, 1)),
        ("[a, b]: x\nc: d\n", {"[a, b]": "x", "c": "d"}, ("SK025", 1, 1)),
        ("? {a: b}\n: x\n", {"{a: b}": "x"}, ("SK025", 1, 3)),
    ],
)
def test_oddities_are_read_and_reported_where_they_are(
    text: str, value: object, fault: tuple[str, int, int]
) -> None:
    loaded = load(text)

    assert (value, None) == (loaded.value, loaded.error)
    assert [fault] == [(code, line, column) for code, _, line, column in loaded.faults]


@pytest.mark.parametrize(
    "key", ["a", "'on'", '"1"', "y", "n", "-", "1a", "1.2.3", "online", "nullable", "v1", "0x"]
)
def test_keys_that_every_reader_takes_as_text_pass(key: str) -> None:
    assert () == load(f"{key}: x\n").faults


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: b: c\n", (1, 5)),
        ("a: [b\n", (2, 1)),
        ("a: 'b\n", (2, 1)),
        ("a: @b\n", (1, 4)),
        ("a: b\n\tc: d\n", (2, 1)),
        ("a: b\n---\nc: d\n", (2, 1)),
        ("a: 1\nb: x\x07y\n", (2, 5)),
        ("a: \x00\n", (1, 4)),
        ("a: b\ud800\n", (1, 5)),
        ("{a: b}}", (1, 7)),
    ],
)
def test_invalid_yaml_is_an_error_with_a_place(text: str, place: tuple[int, int]) -> None:
    loaded = load(text)

    assert loaded.error is not None
    assert (place, {}) == (loaded.error[1:], loaded.value)
    assert "\n" not in loaded.error[0]


def test_lines_count_from_the_given_first_line() -> None:
    loaded = load("a: 1\na: 2\nb: {c: d}\n", first_line=10)

    assert [("SK022", 11, 1)] == [(code, line, column) for code, _, line, column in loaded.faults]
    assert {"a": (10, 4), "b": (12, 4), "b.c": (12, 8)} == loaded.spans


def test_errors_count_from_the_given_first_line() -> None:
    broken, control = load("a: 1\nb: [\n", first_line=10), load("a: 1\nb: \x07\n", first_line=10)

    assert broken.error is not None
    assert control.error is not None
    assert (12, 11) == (broken.error[1], control.error[1])


def test_spans_give_the_start_of_values_down_to_the_third_level() -> None:
    text = "metadata:\n  hermes:\n    tags: [x, y]\n    deep:\n      er: 1\nlist:\n  - a\n  - b: c\nempty:\n"

    loaded = load(text)

    assert {
        "metadata": (2, 3),
        "metadata.hermes": (3, 5),
        "metadata.hermes.tags": (3, 11),
        "metadata.hermes.deep": (5, 7),
        "list": (7, 3),
        "list.0": (7, 5),
        "list.1": (8, 5),
        "list.1.b": (8, 8),
        "empty": (9, 7),
    } == loaded.spans


def test_the_first_of_two_equal_paths_keeps_its_span() -> None:
    assert {"a": (1, 4), "a.b": (1, 8)} == load("a: {b: c}\na.b: d\na: {b: e}\n").spans


def test_reading_stops_at_the_depth_limit_and_keeps_the_top() -> None:
    loaded = load("a: 1\nb: " + "[" * MAX_DEPTH + "]" * MAX_DEPTH + "\nc: 2\n")

    assert ["SK026"] == codes(loaded)
    assert "1" == loaded.value["a"]
    assert "c" not in loaded.value


def test_the_depth_limit_itself_is_allowed() -> None:
    assert () == load("[" * MAX_DEPTH + "]" * MAX_DEPTH).faults


def test_reading_stops_at_the_node_limit_and_keeps_the_top() -> None:
    loaded = load("first: 1\nrest: [" + "a," * MAX_NODES + "]\nlast: 2\n")

    assert ["SK026"] == codes(loaded)
    assert "1" == loaded.value["first"]
    assert "last" not in loaded.value


def test_a_text_over_the_limit_never_reaches_the_parser() -> None:
    loaded = load("a: " + "x" * MAX_CHARACTERS, first_line=2)

    assert ({}, ("longer than 256 KiB", 2, 1)) == (loaded.value, loaded.error)


def test_tag_directives_are_bounded() -> None:
    loaded = load(HOSTILE["tag directives"])

    assert ({}, ("too many %TAG directives", 1, 1)) == (loaded.value, loaded.error)


def test_faults_are_bounded_and_the_last_word_is_kept() -> None:
    loaded = load("a: &x b\nc: [" + "*x ," * MAX_NODES + "]\n")

    assert 101 == len(loaded.faults)
    assert "SK026" == codes(loaded)[-1]


def test_one_long_text_behind_many_aliases_does_not_multiply() -> None:
    loaded = load("a: &x " + "b" * 100_000 + "\nc: [" + "*x ," * 10_000 + "]\n")

    assert 2 * 100_000 == sum(len(text) for text in loaded.value["c"])


def test_half_a_surrogate_pair_never_leaves_the_reader() -> None:
    loaded = load('a: "x\\ud800"\n')

    assert str(loaded).encode("utf-8")


def billion_laughs() -> str:
    lines = ["a0: &a0 [lol, lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    return "\n".join(lines)


HOSTILE = {
    "brackets": "[" * 200_000,
    "closed brackets": "[" * 100_000 + "]" * 100_000,
    "braces": "{a: " * 50_000,
    "mixed": "[{a: " * 40_000,
    "dashes": "- " * 100_000,
    "questions": "? " * 100_000,
    "colons": ": " * 100_000,
    "block mapping": "\n".join(" " * depth + "a:" for depth in range(700)),
    "deep in a key": "? " + "[" * 100_000,
    "billion laughs": billion_laughs(),
    "laughs as merge keys": "a: &a {b: c}\n"
    + "".join(f"m{n}:\n  <<: [*a, *a, *a]\n" for n in range(9_000)),
    "anchors": "&a " * 80_000,
    "anchored list": "[" + "&a b," * 50_000,
    "many keys": "".join(f"k{n}: v\n" for n in range(25_000)),
    "one long key": "k" * 200_000 + ": v\n",
    "one long quoted key": '"' + "k" * 200_000 + '": v\n',
    "tags": "!a " * 80_000,
    "tag directives": "".join(f"%TAG !{n}! x\n" for n in range(15_000)) + "---\na\n",
    "documents": "---\n" * 60_000,
    "commas": "[" + "," * 200_000,
    "line breaks": "a:" + "\n" * 250_000 + " b",
    "spaces": "a:\n" + " " * 250_000 + "b",
    "comments": "#\n" * 120_000,
    "escapes": '"' + "\\x41" * 60_000 + '"',
    "open quote": '"' + "a\n" * 120_000,
    "block scalar": "a: |\n" + " \n" * 120_000,
    "simple keys": "[" + "a: b, " * 40_000,
    "carriage returns": "a: b\r" * 50_000,
}


@pytest.mark.parametrize("loader", ["c", "pure"])
def test_hostile_text_costs_a_fault_and_not_the_process(loader: str) -> None:
    script = (
        "import sys, yaml\n"
        "if sys.argv[1] == 'pure': del yaml.CSafeLoader\n"
        "from metier.standard.full_yaml import load\n"
        "for text in sys.stdin.buffer.read().decode().split('\\x1f'):\n"
        "    if sys.argv[1] == 'pure': text = text[:20_000]\n"
        "    loaded = load(text)\n"
        "    assert len(repr(loaded)) < 3_000_000, text[:20]\n"
        "print('alive')\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", script, loader],
        input="\x1f".join(HOSTILE.values()).encode(),
        capture_output=True,
        check=False,
    )

    assert (0, b"alive\n", b"") == (done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    "attack", ["brackets", "braces", "mixed", "dashes", "questions", "block mapping"]
)
def test_nesting_is_told_apart_from_invalid_yaml(attack: str) -> None:
    assert ["SK026"] == [code for code in codes(load(HOSTILE[attack])) if code == "SK026"]


@given(st.text(alphabet=st.sampled_from("ab01:-?,[]{}&*!|>'\"%#~ \n\t\\x\u2028\x07é"), max_size=60))
def test_no_text_at_all_raises(text: str) -> None:
    loaded = load(text)

    assert str(loaded).encode("utf-8")
    assert loaded.error is None or {} == loaded.value


KEYS = st.text("abcxyz", min_size=4, max_size=8)
TREES = st.recursive(
    st.text(st.characters(codec="utf-8"), max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(KEYS, TREES, max_size=4), st.booleans())
def test_what_pyyaml_writes_is_read_back(value: dict[str, Any], flow: bool) -> None:
    text = yaml.safe_dump(value, allow_unicode=True, default_flow_style=flow, default_style='"')

    loaded = load(text.replace("!!null ", ""))

    assert (value, (), None) == (loaded.value, loaded.faults, loaded.error)
