"""Rules of one's own: read with care, matched in linear time, never skipped in silence."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given, strategies as st

from metier.errors import ConfigError
from metier.scan.custom_rules import (
    compile_patterns,
    read_custom_rules,
    ruleset_with,
)
from metier.scan.model import MAX_HITS_PER_RULE, ScanRule
from metier.settings.merge import ConfigSource

ROW = {
    "id": "X-A",
    "severity": "high",
    "category": "network",
    "title": "T",
    "why": "W.",
    "hint": "H.",
    "pattern": "bad+",
}


def source(*rows: Any, **values: Any) -> ConfigSource:
    return ConfigSource("user", "/etc/own.toml", "", {"rules": list(rows), **values})


def test_a_pattern_is_found_where_it_stands() -> None:
    pytest.importorskip("re2", reason="needs google-re2")
    text = "äö bad \ud800 baddd"

    hits = compile_patterns(source(ROW)).find("SKILL.md", text)

    assert [(3, 6), (9, 14)] == [(hit.start, hit.end) for hit in hits]


@pytest.mark.parametrize(
    ("files", "path", "found"),
    [([], "a/b.py", 1), (["*.py"], "a/b.py", 1), (["*.md"], "a/b.py", 0), (["a/*"], "a/b.py", 1)],
)
def test_a_rule_may_be_for_some_files(files: list[str], path: str, found: int) -> None:
    pytest.importorskip("re2", reason="needs google-re2")

    assert found == len(compile_patterns(source({**ROW, "files": files})).find(path, "bad"))


def test_a_pattern_that_would_take_for_ever_elsewhere_is_no_trouble() -> None:
    pytest.importorskip("re2", reason="needs google-re2")

    hits = compile_patterns(source({**ROW, "pattern": "(a+)+b"})).find("SKILL.md", "a" * 50_000)

    assert [] == hits


def test_one_rule_is_found_so_often_and_no_more() -> None:
    pytest.importorskip("re2", reason="needs google-re2")

    assert MAX_HITS_PER_RULE == len(compile_patterns(source(ROW)).find("SKILL.md", "bad " * 1000))


def test_without_the_engine_rules_are_refused_and_not_skipped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)

    with pytest.raises(ConfigError) as refused:
        compile_patterns(source(ROW))

    assert "metier[rules]" in refused.value.hint


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**ROW, "id": "SC201"}, "must begin with 'X-'"),
        ({**ROW, "severity": "bad"}, "must be one of critical, high"),
        ({**ROW, "category": "bad"}, "must be one of injection"),
        ({**ROW, "why": ""}, "must be a text"),
        ({**ROW, "pattern": 3}, "must be a text"),
        ({**ROW, "files": "*.md"}, "must be a list of texts"),
        ({**ROW, "patern": "x"}, "unknown key 'rules.patern'"),
        ({}, "must be a text"),
        (3, "must be a list of tables"),
    ],
)
def test_a_wrong_row_is_an_error_with_its_place(row: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=r"/etc/own[.]toml") as refused:
        read_custom_rules(source(row))

    assert message in refused.value.message


def test_a_rule_given_twice_is_an_error() -> None:
    with pytest.raises(ConfigError, match="given twice"):
        read_custom_rules(source(ROW, ROW))


@pytest.mark.parametrize("pattern", [r"(a)\1", "(?=a)b", "(", "a{100000}"])
def test_a_pattern_that_the_engine_does_not_take_is_an_error(pattern: str) -> None:
    pytest.importorskip("re2", reason="needs google-re2")

    with pytest.raises(ConfigError, match=r"'X-A' in /etc/own[.]toml cannot be used"):
        compile_patterns(source({**ROW, "pattern": pattern}))


def test_what_is_added_is_part_of_the_ruleset() -> None:
    pytest.importorskip("re2", reason="needs google-re2")
    one, other = (
        compile_patterns(source(ROW)),
        compile_patterns(source({**ROW, "pattern": "worse"})),
    )

    names = {
        ruleset_with("rules:1", ()),
        ruleset_with("rules:1", (one,)),
        ruleset_with("rules:1", (other,)),
        ruleset_with("rules:2", (one,)),
    }

    assert "rules:1" in names
    assert 4 == len(names)


@given(st.text(st.characters(exclude_categories=()), max_size=60))
def test_no_text_makes_it_fail(text: str) -> None:
    pytest.importorskip("re2", reason="needs google-re2")
    analyzer = compile_patterns(source({**ROW, "pattern": "."}))

    assert all(0 <= hit.start < hit.end <= len(text) for hit in analyzer.find("x", text))
    assert [ScanRule("X-A", "high", "network", "T", "W.", "H.")] == list(analyzer.rules)
