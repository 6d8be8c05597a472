"""Variables and inline shell: one pass, values never read again, and no value that becomes a command."""

from __future__ import annotations

import pytest

from metier.disclose import fill
from metier.disclose.fill import (
    MAX_COMMANDS,
    MAX_GROWTH_CHARS,
    MAX_OUTPUT_CHARS,
    Substituted,
    output_note,
    substitute,
    values_for,
)

VALUES = values_for("/s/pdf", "s-1")


@pytest.mark.parametrize("vendor", ["HERMES", "METIER", "CLAUDE"])
def test_folder_and_session_have_a_name_for_every_host(vendor: str) -> None:
    body = f"${{{vendor}_SKILL_DIR}}/x ${{{vendor}_SESSION_ID}}"

    assert Substituted("/s/pdf/x s-1", put=((0, 6), (9, 12))) == substitute(body, VALUES)


@pytest.mark.parametrize(
    "body",
    [
        "${HOME}",
        "${HERMES_OTHER}",
        "$HERMES_SKILL_DIR",
        "${hermes_skill_dir}",
        "${}",
        "$ARGUMENTS",
        "$1",
        "!`ls`",
        "",
    ],
)
def test_what_has_no_value_stays(body: str) -> None:
    assert Substituted(body) == substitute(body, VALUES)


def test_a_session_without_a_name_stays_unresolved() -> None:
    assert "${HERMES_SESSION_ID}" == substitute("${HERMES_SESSION_ID}", values_for("/s", "")).text


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("do $ARGUMENTS.", "do a 'b c'."),
        ("do ${ARGUMENTS}", "do a 'b c'"),
        ("$ARGUMENTS[1]", "b c"),
        ("$ARGUMENTS[7]", "$ARGUMENTS[7]"),
        ("$ARGUMENTS_FILE $ARGUMENTSX", "$ARGUMENTS_FILE $ARGUMENTSX"),
    ],
)
def test_arguments_are_what_followed_the_command(body: str, expected: str) -> None:
    assert expected == substitute(body, VALUES, "a 'b c'", ("a", "b c")).text


def test_what_was_put_in_is_not_expanded_again() -> None:
    values = {"HERMES_SKILL_DIR": "${HERMES_SESSION_ID}$ARGUMENTS!`id`", "HERMES_SESSION_ID": "s"}

    found = substitute(
        "${HERMES_SKILL_DIR} $ARGUMENTS !`x`",
        values,
        "${HERMES_SKILL_DIR}!`id`",
        (),
        lambda _command: "!`id` $ARGUMENTS",
    )

    assert (
        "${HERMES_SESSION_ID}$ARGUMENTS!`id` ${HERMES_SKILL_DIR}!`id` !`id` $ARGUMENTS"
        == found.text
    )


def test_a_command_gets_its_values_quoted_and_never_as_part_of_itself() -> None:
    values = {"HERMES_SKILL_DIR": "/a b"}

    asked = substitute("!`echo $ARGUMENTS`", values, "x; rm -rf '~'", (), lambda command: command)
    plain = substitute("!`ls ${HERMES_SKILL_DIR}`", values, None, (), lambda command: command)

    assert "ARGUMENTS='x; rm -rf '\"'\"'~'\"'\"''; echo $ARGUMENTS" == asked.text
    assert "HERMES_SKILL_DIR='/a b'; ls ${HERMES_SKILL_DIR}" == plain.text


def test_commands_run_everywhere_in_the_text_but_only_so_many() -> None:
    found = substitute(
        "```\n!`a`\n```\n" + "!`b`" * MAX_COMMANDS, {}, None, (), lambda _command: "out"
    )

    assert found.text == "```\nout\n```\n" + "out" * (MAX_COMMANDS - 1) + fill.refusal_note(
        f"more than {MAX_COMMANDS} commands"
    )
    assert found.varies


@pytest.mark.parametrize("body", ["!``", "!`a\nb`", "! `a`", "`a`", "!`unclosed"])
def test_what_only_looks_like_a_command_is_left_alone(body: str) -> None:
    assert body == substitute(body, {}, None, (), lambda _command: "out").text


def test_values_cannot_make_a_body_grow_without_end() -> None:
    request = "x" * (MAX_GROWTH_CHARS // 2)

    found = substitute("$ARGUMENTS " * 1000, VALUES, request)

    assert (998, True) == (found.kept, found.varies)
    assert len(found.text) < 2 * MAX_GROWTH_CHARS


@pytest.mark.parametrize(
    ("code", "output", "expected"),
    [
        (0, "fine\n", "fine"),
        (1, "no\n", "[inline-shell failed with exit code 1: no]"),
        (127, "", "[inline-shell failed with exit code 127]"),
        (0, "x" * (MAX_OUTPUT_CHARS + 1), "x" * MAX_OUTPUT_CHARS + "… [cut]"),
        (0, "x" * MAX_OUTPUT_CHARS + "\n", "x" * MAX_OUTPUT_CHARS),
    ],
)
def test_the_outcome_of_a_command(code: int, output: str, expected: str) -> None:
    assert expected == output_note(code, output)
