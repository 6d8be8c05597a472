"""Baselines: what is accepted, for which skill, and what is refused."""

from __future__ import annotations

import json

import pytest

from metier.errors import ConfigError
from metier.model import Finding
from metier.scan.report import baseline_text, read_baseline

FOUND = Finding("SC201", "high", "execution", "SKILL.md", 4, 2, "x", "It runs.", "Read it.", "f00d")


def test_what_was_written_is_accepted_for_its_skill_only() -> None:
    found = read_baseline(baseline_text([("pdf", FOUND)]), "known.json")

    assert found.accepts("pdf", "f00d")
    assert not found.accepts("other", "f00d")
    assert not found.accepts("pdf", "beef")


def test_a_baseline_is_written_in_the_same_order_whatever_the_order_of_the_findings() -> None:
    other = FOUND._replace(path="a.md", fingerprint="beef")

    assert baseline_text([("b", FOUND), ("a", other)]) == baseline_text(
        [("a", other), ("b", FOUND), ("b", FOUND)]
    )


def test_an_accepted_finding_may_have_a_name_that_is_no_text() -> None:
    assert read_baseline(baseline_text([("\udcff", FOUND)]), "known.json").accepts("\udcff", "f00d")


def test_the_answer_of_a_scan_is_a_baseline() -> None:
    answer = {
        "ruleset": "rules:1",
        "scanned": 1,
        "skills": [{"name": "pdf", "findings": [{"fingerprint": "f00d"}]}],
    }

    assert read_baseline(json.dumps(answer), "known.json").accepts("pdf", "f00d")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not valid JSON"),
        ("[" * 100_000, "is not valid JSON"),
        ("[]", "is not a baseline"),
        ("{}", "does not say its version"),
        ('{"version": 2, "findings": []}', "is of version 2"),
        ('{"version": "1", "findings": []}', "is of version '1'"),
        ('{"version": 1}', "has no list of findings"),
        ('{"version": 1, "findings": ["f00d"]}', "has no skill or no fingerprint"),
        ('{"version": 1, "findings": [{"skill": "a"}]}', "has no skill or no fingerprint"),
        (
            '{"version": 1, "findings": [{"skill": "a", "fingerprint": ""}]}',
            "has no skill or no fingerprint",
        ),
        ('{"skills": [1]}', "is not the answer of a scan"),
        ('{"skills": [{"name": "a", "findings": [1]}]}', "has no skill or no fingerprint"),
    ],
)
def test_what_is_no_baseline_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=r"known[.]json") as refused:
        read_baseline(text, "known.json")

    assert message in refused.value.message
    assert refused.value.hint
