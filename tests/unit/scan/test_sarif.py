"""SARIF logs hold to the official schema, whatever the findings and the names of files are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from jsonschema import Draft7Validator

from metier.model import Finding
from metier.scan.report import SarifSubject, artifact, sarif_log, uri
from metier.scan.ruleset import RULES

SCHEMA = Draft7Validator(
    json.loads((Path(__file__).parent / "sarif-schema-2.1.0.json").read_text()),
    format_checker=Draft7Validator.FORMAT_CHECKER,
)
FOUND = Finding(
    "SC201",
    "high",
    "execution",
    "scripts/a b.sh",
    4,
    2,
    "curl … | sh",
    "It runs. So it does.",
    "Read it first.",
    "f00d",
)


def checked(document: dict[str, Any]) -> dict[str, Any]:
    """Hold a log to the schema, after a journey through JSON; give its run."""
    document = json.loads(json.dumps(document))
    SCHEMA.validate(document)
    run = document["runs"][0]
    assert isinstance(run, dict)
    accepted_by_a_code_host(run)
    return run


def accepted_by_a_code_host(run: dict[str, Any]) -> None:
    """Hold a run to what GitHub's code scanning needs beyond the schema: what its own validator calls GH1001 to GH1007."""
    driver = run["tool"]["driver"]
    assert driver["name"]
    assert driver["informationUri"].startswith("https://")
    for rule in driver["rules"]:
        assert rule["helpUri"].startswith("https://")
        texts = [rule[key]["text"] for key in ("shortDescription", "fullDescription", "help")]
        assert all(texts)
    for result in run["results"]:
        assert result["ruleId"] == driver["rules"][result["ruleIndex"]]["id"]
        assert result["message"]["text"]
        assert result["partialFingerprints"]
        assert result["level"] in {"error", "warning", "note", "none"}
        physical = result["locations"][0]["physicalLocation"]
        assert physical["artifactLocation"]["uri"]
        assert physical["region"]["startLine"] >= 1
        assert physical["region"].get("startColumn", 1) >= 1


def made(*subjects: SarifSubject, root: str = "/work") -> dict[str, Any]:
    return checked(sarif_log(subjects, RULES, root=root, version="1.2.3", ruleset="rules:abc"))


def test_a_log_without_findings_is_valid() -> None:
    run = made(SarifSubject("/work/a", False, "a", "safe", 0, ()))

    assert [] == run["results"]
    assert [] == run["tool"]["driver"]["rules"]


def test_a_finding_has_rule_level_place_and_fingerprint() -> None:
    run = made(SarifSubject("/work/skills/a", False, "a", "dangerous", 90, (FOUND,)))

    result = run["results"][0]
    rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert ("SC201", "SC201", "error") == (rule["id"], result["ruleId"], result["level"])
    assert {"level": "error"} == rule["defaultConfiguration"]
    assert ("execution", "8.0") == (
        rule["properties"]["category"],
        rule["properties"]["security-severity"],
    )
    physical = result["locations"][0]["physicalLocation"]
    assert {"uri": "skills/a/scripts/a%20b.sh", "uriBaseId": "SRCROOT"} == physical[
        "artifactLocation"
    ]
    assert {"startLine": 4, "startColumn": 2} == physical["region"]
    assert {"metier/v1": "f00d"} == result["partialFingerprints"]
    assert {"SRCROOT": {"uri": "file:///work/"}} == run["originalUriBaseIds"]
    assert "suppressions" not in result


@pytest.mark.parametrize(
    ("line", "column", "region"),
    [
        (0, 0, {"startLine": 1}),
        (0, 7, {"startLine": 1}),
        (3, 0, {"startLine": 3}),
        (3, 7, {"startLine": 3, "startColumn": 7}),
    ],
)
def test_every_result_has_a_region_and_what_has_no_line_is_at_the_beginning(
    line: int, column: int, region: dict[str, int]
) -> None:
    run = made(
        SarifSubject(
            "/work/a", False, "a", "caution", 40, (FOUND._replace(line=line, column=column),)
        )
    )

    assert region == run["results"][0]["locations"][0]["physicalLocation"].get("region")


def test_readers_are_told_where_the_tool_and_each_rule_are_explained() -> None:
    own = FOUND._replace(rule="X-OWN")
    driver = made(SarifSubject("/work/a", False, "a", "caution", 40, (FOUND, own)))["tool"][
        "driver"
    ]

    home = driver["informationUri"]
    assert [f"{home}#sc201", f"{home}#x-own"] == [rule["helpUri"] for rule in driver["rules"]]


def test_what_was_set_aside_is_suppressed_with_its_reason() -> None:
    run = made(
        SarifSubject("/work/a", False, "a", "safe", 0, (), ((FOUND, "ours (until 2030-01-01)"),))
    )

    held = {"kind": "external", "status": "accepted", "justification": "ours (until 2030-01-01)"}
    assert [[held]] == [result["suppressions"] for result in run["results"]]


@pytest.mark.parametrize(
    ("subject", "path", "place"),
    [
        (
            SarifSubject("/work/run.sh", True, "run", "safe", 0, ()),
            "run.sh",
            {"uri": "run.sh", "uriBaseId": "SRCROOT"},
        ),
        (
            SarifSubject("/work/a", False, "a", "safe", 0, ()),
            ".",
            {"uri": "a/SKILL.md", "uriBaseId": "SRCROOT"},
        ),
        (
            SarifSubject("/else/a", False, "a", "safe", 0, ()),
            "x.md",
            {"uri": "file:///else/a/x.md"},
        ),
    ],
)
def test_a_place_is_a_file_the_skills_own_for_the_whole_skill_or_lies_elsewhere(
    subject: SarifSubject, path: str, place: dict[str, str]
) -> None:
    run = made(subject._replace(findings=(FOUND._replace(path=path),)))

    assert place == run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]


@pytest.mark.parametrize(
    ("path", "encoded"),
    [
        ("a/b-c_d.e~f", "a/b-c_d.e~f"),
        ("a b", "a%20b"),
        ("ä#?%", "%C3%A4%23%3F%25"),
        ("\udcff.md", "%FF.md"),
        ("\ud800", "%ED%A0%80"),
        ("a:b", "a%3Ab"),
    ],
)
def test_a_path_is_percent_encoded(path: str, encoded: str) -> None:
    assert encoded == uri(path)


def test_a_file_in_the_root_of_the_disk_has_a_place() -> None:
    assert {"uri": "etc/x", "uriBaseId": "SRCROOT"} == artifact("/etc/x", "/")


ANY = st.text(st.characters(exclude_categories=()), max_size=12)
FINDINGS = st.builds(
    Finding,
    st.sampled_from([*list(RULES)[:5], "X-OWN"]),
    st.sampled_from(["critical", "high", "medium", "low", "info"]),
    st.just("network"),
    ANY,
    st.integers(0, 9),
    st.integers(0, 9),
    ANY,
    ANY,
    st.just("Read it."),
    st.just("f00d"),
)


@settings(max_examples=60)
@given(st.lists(FINDINGS, max_size=4), ANY, ANY)
def test_no_text_makes_a_log_invalid(findings: list[Finding], path: str, name: str) -> None:
    run = made(
        SarifSubject(
            f"/work/{path}", False, name, "caution", 50, findings, [(one, name) for one in findings]
        )
    )

    assert 2 * len(findings) == len(run["results"])
