"""An entry put into JSON, TOML and YAML as people write them: everything else, comments too, stays as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from metier.mcp import config_text

ENTRY: dict[str, Any] = {"command": "/opt/metier", "args": ["mcp"]}
PATH = ("servers", "metier")


def put(form: Any, text: str, entry: dict[str, Any] = ENTRY) -> str:
    return config_text.merge_entry(form, text, PATH, lambda _before: entry)


JSON = {
    "": '{\n  "servers": {\n    "metier": {\n      "command": "/opt/metier",\n      "args": [\n        "mcp"\n      ]\n    }\n  }\n}\n',
    "{}": '{\n  "servers": {\n    "metier": {\n      "command": "/opt/metier",\n      "args": [\n        "mcp"\n      ]\n    }\n  }\n}',
    '{"a": 1}': '{"a": 1, "servers": {"metier": {"command": "/opt/metier", "args": ["mcp"]}}}',
    '{\n\t"servers": {\n\t\t"x": {} // why\n\t}\n}\n': '{\n\t"servers": {\n\t\t"x": {}, // why\n\t\t"metier": {\n\t\t\t"command": "/opt/metier",\n\t\t\t"args": [\n\t\t\t\t"mcp"\n\t\t\t]\n\t\t}\n\t}\n}\n',
    '{\r\n  "servers": {\r\n    "x": {},\r\n  },\r\n}\r\n': '{\r\n  "servers": {\r\n    "x": {},\r\n    "metier": {\r\n      "command": "/opt/metier",\r\n      "args": [\r\n        "mcp"\r\n      ]\r\n    },\r\n  },\r\n}\r\n',
    '{"servers": {"metier": {"command": "old"}}, "z": 1}': '{"servers": {"metier": {\n  "command": "/opt/metier",\n  "args": [\n    "mcp"\n  ]\n}}, "z": 1}',
}


@pytest.mark.parametrize("text", JSON)
def test_json_keeps_its_layout(text: str) -> None:
    assert JSON[text] == put("json", text)


TOML = {
    "": '[servers.metier]\ncommand = "/opt/metier"\nargs = ["mcp"]\n',
    "a = 1 # c\n": 'a = 1 # c\n\n[servers.metier]\ncommand = "/opt/metier"\nargs = ["mcp"]\n',
    "[servers.x]\nb=1\n[z]": '[servers.x]\nb=1\n[z]\n\n[servers.metier]\ncommand = "/opt/metier"\nargs = ["mcp"]\n',
    "servers = {}\n": 'servers = {metier = {command = "/opt/metier", args = ["mcp"]}}\n',
    '[servers.metier] # mine\ncommand = "old" # c\nargs = ["mcp"]\n[z]\n': '[servers.metier] # mine\ncommand = "/opt/metier" # c\nargs = ["mcp"]\n[z]\n',
}


@pytest.mark.parametrize("text", TOML)
def test_toml_keeps_its_layout(text: str) -> None:
    assert TOML[text] == put("toml", text)


BLOCK = "  metier:\n    command: /opt/metier\n    args:\n    - mcp\n"
YAML = {
    "": f"servers:\n{BLOCK}",
    "a: 1 # c": f"a: 1 # c\nservers:\n{BLOCK}",
    "servers:\n  x:\n    b: 1 # c\n\n# about z\nz: 1\n": f"servers:\n  x:\n    b: 1 # c\n{BLOCK}\n# about z\nz: 1\n",
    "servers: {}\nz: 1\n": f"servers:\n{BLOCK}z: 1\n",
    "servers:\nz: 1\n": f"servers:\n{BLOCK}z: 1\n",
    "servers: {x: 1}\n": 'servers: {x: 1, "metier": {"command": "/opt/metier", "args": ["mcp"]}}\n',
    "servers:\n  metier:\n    command: old\n  z: 1\n": f"servers:\n{BLOCK}  z: 1\n",
    "servers:\n  x: |\n    text\n": f"servers:\n  x: |\n    text\n{BLOCK}",
}


@pytest.mark.parametrize("text", YAML)
def test_yaml_keeps_its_layout(text: str) -> None:
    assert YAML[text] == put("yaml", text)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        *(("json", text) for text in JSON),
        *(("toml", text) for text in TOML),
        *(("yaml", text) for text in YAML),
    ],
)
def test_the_same_again_changes_nothing(form: str, text: str) -> None:
    once = put(form, text)

    assert once == put(form, once)


def test_a_mark_of_unicode_and_comments_alone_stay_at_the_top() -> None:
    assert put("json", "\ufeff{}").startswith("\ufeff{")
    assert put("toml", "\ufeffa = 1\n").startswith("\ufeffa = 1\n")
    assert put("yaml", "\ufeffa: 1\n").startswith("\ufeffa: 1\n")
    assert put("json", "// mine\n").startswith("// mine\n{")


BROKEN = [
    ("json", '{"a": 1'), ("json", "[1]"), ("json", '{"servers": []}'), ("json", '{"servers": {}, "servers": {}}'), ("json", "{'a': 1}"),
    ("json", '{"a": 1} {"b": 2}'), ("json", "[" * 100_000), ("json", '{"a":' * 5_000), ("json", '{"a": 1,,}'), ("json", '{"a" 1}'), ("json", '{"a": }'),
    ("json", '{"a": 1.2.3}'), ("json", '{"servers": {"metier": {"command": "old" /* why */}}}'), ("json", "/* never ends"), ("json", '{"a": "\\x"}'),
    ("toml", "a = \n"), ("toml", "servers = 1\n"), ("toml", "a." * 100 + "b = 1\n"), ("toml", "a = " + "[" * 100_000), ("toml", "[[servers]]\nx = 1\n"),
    ("yaml", "a: ["), ("yaml", "- 1\n"), ("yaml", "a: &x 1\nb: *x\n"), ("yaml", "servers: 1\n"), ("yaml", "servers:\n  metier:\n    command: old # why\n    a: 1\n"),
    ("yaml", "[" * 100_000), ("yaml", "a: !!python/object:os.system x\n"), ("yaml", "a: 1\n---\nb: 1\n"), ("yaml", "{a: 1}\n"), ("yaml", "servers: {}\nservers: {}\n"),
    ("yaml", "a: \x01\n"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "text"), BROKEN, ids=range(len(BROKEN)))
def test_what_cannot_be_changed_safely_is_left_alone_with_a_reason(form: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"[a-z]"):
        put(form, text)


def test_a_text_that_is_too_long_is_not_even_read() -> None:
    with pytest.raises(ValueError, match="more than"):
        put("toml", "#" * (config_text.MAX_CONFIG_BYTES["toml"] + 1))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), VALUES), st.sampled_from([None, 2, "\t"]))
def test_whatever_json_says_it_says_afterwards_too(values: dict[str, Any], indent: Any) -> None:
    values.pop("servers", None)
    text = json.dumps(values, indent=indent, ensure_ascii=False)

    found = json.loads(put("json", text))

    assert {**values, "servers": {"metier": ENTRY}} == found
    assert list(values) == list(found)[:-1]


@given(VALUES)
def test_json_is_read_as_everybody_reads_it(value: Any) -> None:
    assert value == config_text.parse_jsonc(json.dumps(value))[0].value


@given(st.text(alphabet='{}[]":,/*\n 1a\\'))
def test_no_text_is_worse_than_a_value_error(text: str) -> None:
    try:
        after = put("json", text)
    except ValueError:
        after = ""

    assert after == "" or ENTRY == config_text.read_config("json", after)["servers"]["metier"]
