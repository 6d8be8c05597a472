"""What a skill declares against what was found in it."""

import pytest

from metier.scan.whole_skill import SkillClaims, SkillDeeds, compare_claims, tool_name


def rules(declared: SkillClaims, found: SkillDeeds) -> list[str]:
    return [hit.rule for hit in compare_claims(declared, found)]


@pytest.mark.parametrize(
    ("declared", "found", "expected"),
    [
        (SkillClaims(tools=("Read",)), SkillDeeds(runs=True), ["SC700"]),
        (SkillClaims(tools=("Bash(git:*)",)), SkillDeeds(runs=True), []),
        (SkillClaims(tools=("BASH",)), SkillDeeds(runs=True), ["SC703"]),
        (SkillClaims(), SkillDeeds(runs=True, writes=True, network=True), []),
        (SkillClaims(tools=("*",)), SkillDeeds(runs=True), ["SC703"]),
        (SkillClaims(tools=("Bash(*)",)), SkillDeeds(), ["SC703"]),
        (SkillClaims(tools=("Read", "Grep")), SkillDeeds(writes=True), ["SC704"]),
        (SkillClaims(tools=("Read", "Write")), SkillDeeds(writes=True), []),
        (SkillClaims(tools=("Read",)), SkillDeeds(credential=True, network=True), ["SC705"]),
        (SkillClaims(env=("A_TOKEN",)), SkillDeeds(env=("A_TOKEN", "B_TOKEN")), ["SC701"]),
        (SkillClaims(env=("A_TOKEN",)), SkillDeeds(env=("A_TOKEN", "HOME", "PATH")), []),
        (SkillClaims(description="Set B_TOKEN first"), SkillDeeds(env=("B_TOKEN",)), []),
        (
            SkillClaims(compatibility="Works offline, no network access"),
            SkillDeeds(network=True),
            ["SC702"],
        ),
        (SkillClaims(network=False), SkillDeeds(network=True), ["SC702"]),
        (SkillClaims(compatibility="Needs network access"), SkillDeeds(network=True), []),
        (SkillClaims(compatibility="Works offline"), SkillDeeds(), []),
    ],
)
def test_where_the_two_part_is_reported(
    declared: SkillClaims, found: SkillDeeds, expected: list[str]
) -> None:
    assert expected == rules(declared, found)


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("Bash(git:*)", "bash"),
        (" BASH ", "bash"),
        ("mcp__files__write", "write"),
        ("Read", "read"),
        ("", ""),
    ],
)
def test_a_tool_is_known_by_its_bare_name(tool: str, expected: str) -> None:
    # ZE-22
    assert expected == tool_name(tool)


def test_what_was_missing_is_named() -> None:
    (hit,) = compare_claims(SkillClaims(), SkillDeeds(env=("B_TOKEN", "A_SECRET")))

    assert "A_SECRET, B_TOKEN" == hit.evidence
