"""What a skill declares against what was found in it."""

import pytest

from metier.scan.analyzers.declared import Declared, Found, find, tool_name


def rules(declared: Declared, found: Found) -> list[str]:
    return [hit.rule for hit in find(declared, found)]


@pytest.mark.parametrize(
    ("declared", "found", "expected"),
    [
        (Declared(tools=("Read",)), Found(runs=True), ["SC700"]),
        (Declared(tools=("Bash(git:*)",)), Found(runs=True), []),
        (Declared(tools=("BASH",)), Found(runs=True), ["SC703"]),
        (Declared(), Found(runs=True, writes=True, network=True), []),
        (Declared(tools=("*",)), Found(runs=True), ["SC703"]),
        (Declared(tools=("Bash(*)",)), Found(), ["SC703"]),
        (Declared(tools=("Read", "Grep")), Found(writes=True), ["SC704"]),
        (Declared(tools=("Read", "Write")), Found(writes=True), []),
        (Declared(tools=("Read",)), Found(credential=True, network=True), ["SC705"]),
        (Declared(env=("A_TOKEN",)), Found(env=("A_TOKEN", "B_TOKEN")), ["SC701"]),
        (Declared(env=("A_TOKEN",)), Found(env=("A_TOKEN", "HOME", "PATH")), []),
        (Declared(description="Set B_TOKEN first"), Found(env=("B_TOKEN",)), []),
        (Declared(compatibility="Works offline, no network access"), Found(network=True), ["SC702"]),
        (Declared(network=False), Found(network=True), ["SC702"]),
        (Declared(compatibility="Needs network access"), Found(network=True), []),
        (Declared(compatibility="Works offline"), Found(), []),
    ],
)
def test_where_the_two_part_is_reported(declared: Declared, found: Found, expected: list[str]) -> None:
    assert expected == rules(declared, found)


@pytest.mark.parametrize(
    ("tool", "expected"),
    [("Bash(git:*)", "bash"), (" BASH ", "bash"), ("mcp__files__write", "write"), ("Read", "read"), ("", "")],
)
def test_a_tool_is_known_by_its_bare_name(tool: str, expected: str) -> None:
    # ZE-22
    assert expected == tool_name(tool)


def test_what_was_missing_is_named() -> None:
    (hit,) = find(Declared(), Found(env=("B_TOKEN", "A_SECRET")))

    assert "A_SECRET, B_TOKEN" == hit.evidence
