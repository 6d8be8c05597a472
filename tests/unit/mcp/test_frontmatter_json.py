"""Frontmatter as JSON: every field as a reader of YAML gives it, or none at all."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies

from metier.mcp.copies import frontmatter_json

HEAD = "---\nname: pdf\ndescription: Does.\n"


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("x: 1", 1),
        ("x: -0x1F", "-0x1F"),
        ("x: 0x1F", 31),
        ("x: 0o17", 15),
        ("x: 1.50", 1.5),
        ("x: 1e3", 1000.0),
        ("x: .5", 0.5),
        ("x: '1'", "1"),
        ('x: "true"', "true"),
        ("x: true", True),
        ("x: False", False),
        ("x: yes", "yes"),
        ("x:", None),
        ("x: ~", None),
        ("x: 2026-01-01", "2026-01-01"),
        ("x: 1_000", "1_000"),
        ("x: [1, [a], {b: }]", [1, ["a"], {"b": None}]),
        ("x: |\n  a\n  b", "a\nb\n"),
        ("x: >-\n  a\n  b", "a b"),
        ("x: {}", {}),
        ("x: é", "é"),
    ],
)
def test_a_value_is_what_yaml_says(line: str, value: Any) -> None:
    found = frontmatter_json(f"{HEAD}{line}\n---\nBody".encode())

    assert {"name": "pdf", "description": "Does.", "x": value} == found
    assert type(value) is type((found or {})["x"])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no frontmatter",
        "---\n",
        "---\nname: pdf\n---\n",
        "---\nname: 3\ndescription: Does.\n---\n",
        f"{HEAD}name: pdf\n---\n",
        f"{HEAD}x: &a 1\ny: *a\n---\n",
        f"{HEAD}x: !!int 1\n---\n",
        f"{HEAD}x: .nan\n---\n",
        f"{HEAD}x: 1e999\n---\n",
        f"{HEAD}x: a: b\n---\n",
        f"{HEAD}1: x\n---\n",
        f"{HEAD}x: {'[' * 500}\n---\n",
        "---\n- a\n---\n",
        f"{HEAD}? [a]\n: b\n---\n",
    ],
)
def test_what_cannot_be_told_verbatim_is_not_told(text: str) -> None:
    assert frontmatter_json(text.encode()) is None


@given(strategies.binary(max_size=200))
def test_no_bytes_break_it(data: bytes) -> None:
    found = frontmatter_json(b"---\nname: a\ndescription: b\n" + data + b"\n---\n")

    assert found is None or {"name", "description"} <= set(found)
