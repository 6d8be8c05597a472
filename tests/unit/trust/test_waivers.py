"""Findings that a person has judged to be harmless."""

from __future__ import annotations

import pytest

from metier.model import Finding
from metier.trust.waivers import Waiver, covers, lapsed, set_aside_waived, why_not

NOW = "2026-03-10T09:00:00Z"
ONE = Finding("SC101", "high", "injection", "SKILL.md", 3, 1, "…", "why", "hint", "f1")
TWO = ONE._replace(rule="SC201", path="scripts/a.sh", fingerprint="f2")
GOOD = Waiver("a reason", "2026-03-10", fingerprint="f1", told_by="/me.toml")


@pytest.mark.parametrize(
    ("waiver", "expected"),
    [
        (GOOD, ""),  # the last day is included
        (GOOD._replace(expires="2026-03-09"), "it expired on 2026-03-09"),
        (GOOD._replace(expires=""), "it gives no last day"),
        (GOOD._replace(expires="never"), "it gives no last day"),
        (GOOD._replace(reason=" "), "it gives no reason"),
        (GOOD._replace(fingerprint=""), "it names neither a fingerprint nor a rule"),
    ],
)
def test_a_waiver_applies_until_its_last_day_and_only_with_a_reason(
    waiver: Waiver, expected: str
) -> None:
    assert expected == why_not(waiver, NOW)


def test_without_a_clock_no_waiver_applies() -> None:
    assert why_not(GOOD, "")


@pytest.mark.parametrize(
    ("waiver", "expected"),
    [
        (GOOD, [True, False]),
        (GOOD._replace(name="pdf"), [True, False]),
        (GOOD._replace(name="doc"), [False, False]),
        (GOOD._replace(path="scripts/a.sh"), [False, False]),
        (GOOD._replace(fingerprint="", rule="SC201"), [False, True]),
        (GOOD._replace(fingerprint="", rule="SC201", path="scripts/a.sh"), [False, True]),
        (GOOD._replace(fingerprint="", rule="SC201", path="scripts/b.sh"), [False, False]),
        (GOOD._replace(fingerprint=""), [False, False]),
        (GOOD._replace(fingerprint="", name="pdf"), [False, False]),
        (GOOD._replace(rule="SC201"), [False, False]),
    ],
)
def test_a_waiver_covers_what_all_its_fields_name(waiver: Waiver, expected: list[bool]) -> None:
    assert expected == [covers(waiver, finding, "pdf") for finding in (ONE, TWO)]


def test_findings_are_set_aside_with_the_waiver_that_did_it() -> None:
    expired = GOOD._replace(fingerprint="f2", expires="2020-01-01")

    found = set_aside_waived([ONE, TWO], "pdf", [expired, GOOD], NOW)

    assert ((TWO,), ((ONE, GOOD),)) == found


@pytest.mark.parametrize(("name", "expected"), [("pdf", 1), ("doc", 0)])
def test_a_waiver_for_one_skill_sets_nothing_aside_for_another(name: str, expected: int) -> None:
    found = set_aside_waived([ONE], name, [GOOD._replace(name="pdf")], NOW)

    assert expected == len(found.waived)


def test_a_finding_without_a_fingerprint_is_waived_by_no_fingerprint() -> None:
    found = set_aside_waived([ONE._replace(fingerprint="")], "pdf", [GOOD], NOW)

    assert () == found.waived


def test_waivers_that_have_lapsed_are_reported() -> None:
    found = lapsed([GOOD, GOOD._replace(expires="2026-03-01")], NOW)

    assert [
        ("/me.toml", "TR002", "The waiver for f1 does not apply: it expired on 2026-03-01.")
    ] == list(found)
