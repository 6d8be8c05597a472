"""`metier expand` as a person and a script meet it: what is printed, what is a note, and which exit code follows."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from doors.command import environment, error_of, run

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home, Writer


@pytest.fixture
def root(skill: Writer, tmp_path: Path) -> str:
    skill(
        "root/pdf",
        text="---\nname: pdf\ndescription: Fills forms.\nargument-hint: '[file]'\n---\n\nFill it in, ${METIER_SESSION_ID}.\n",
    )
    skill("root/brand")
    return str(tmp_path / "root")


def test_the_message_is_printed_and_nothing_else(home: Home, root: str) -> None:
    found = run(home.env, "expand", "/pdf the form", "--session", "s-1", "--root", root)

    assert (0, "") == (found.code, found.err)
    assert "Fill it in, s-1." in found.out
    assert (
        "\n\n[The user's own text:]\nthe form\n\n[Runtime note: the user's own text is the 8 characters before"
        in found.out
    )


def test_the_document_has_the_contract_s_fields(home: Home, root: str) -> None:
    found = run(home.env, "expand", "/pdf use $brand", "--json", "--root", root).json

    assert ["message", "skills", "missing", "warnings", "user_text", "parts"] == list(found)[:6]
    assert (["pdf", "brand"], [], "use $brand") == (
        found["skills"],
        found["missing"],
        found["user_text"],
    )
    assert {"kind", "text", "skill"} == set(found["parts"][0])


def test_an_unknown_command_is_exit_code_1_and_suggestions(home: Home, root: str) -> None:
    plain = run(home.env, "expand", "/pfd go", "--root", root)
    document = run(home.env, "expand", "/pfd go", "--json", "--root", root)

    assert (1, "/pfd go\n") == (plain.code, plain.out)
    assert "warning: there is no command '/pfd'; did you mean /pdf" in plain.err
    assert (1, "/pfd go", ["pfd"], []) == (
        document.code,
        *(document.json[key] for key in ("message", "missing", "skills")),
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [("plain words", "plain words"), (r"\/pdf go", "/pdf go"), ("costs $5", "costs $5")],
)
def test_a_message_without_commands_is_printed_as_it_is(
    home: Home, root: str, text: str, expected: str
) -> None:
    found = run(home.env, "expand", text, "--root", root)

    assert (0, expected + "\n", "") == (found.code, found.out, found.err)


def test_a_skill_is_selected_by_hand_by_path_or_name_and_path(home: Home, root: str) -> None:
    by_path = run(
        home.env,
        "expand",
        "x",
        "--select",
        "pdf/SKILL.md",
        "--select",
        "brand",
        "--json",
        "--root",
        root,
        cwd=root,
    )
    wrong = run(
        home.env, "expand", "$pdf", "--select", "pdf=/gone/SKILL.md", "--json", "--root", root
    )

    assert ["pdf", "brand"] == by_path.json["skills"]
    assert (0, [], ["pdf"]) == (wrong.code, wrong.json["skills"], wrong.json["missing"])


def test_a_dash_reads_standard_input(home: Home, root: str) -> None:
    command = [sys.executable, "-m", "metier", "expand", "-", "--root", root]

    done = subprocess.run(
        command,
        input=b"/pdf \xff one\ntwo\n",
        env=environment(home.env),
        capture_output=True,
        timeout=30,
        check=False,
    )

    assert 0 == done.returncode
    assert "[The user's own text:]\n\ufffd one\ntwo\n\n[Runtime note:" in done.stdout.decode()


def test_commands_are_listed_with_their_hints(home: Home, root: str, skill: Writer) -> None:
    skill("root/other", name="PDF")

    plain = run(home.env, "expand", "--commands", "--root", root)
    document = run(home.env, "expand", "--commands", "--json", "--root", root).json["commands"]

    assert "/pdf [file]" in plain.out
    assert "note: /pdf is" in plain.err
    assert ["brand", "external:pdf", "pdf"] == [command["slug"] for command in document]
    assert ["slug", "name", "description", "argument_hint", "path", "clash"] == list(document[0])[
        :6
    ]


def test_no_skills_have_no_commands(home: Home, tmp_path: Path) -> None:
    found = run(home.env, "expand", "--commands", "--root", str(tmp_path))

    assert (0, "No commands yet.\n\nnext: metier new NAME\n") == (found.code, found.out)


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ([], "metier expand needs TEXT", "see: metier expand --help"),
        (["x", "--commands"], "--commands takes no TEXT", "write metier expand --commands"),
        (["a", "b"], "unexpected 'b'", "see: metier expand --help"),
    ],
)
def test_a_command_put_wrongly_says_how_to_put_it(
    home: Home, words: list[str], message: str, hint: str
) -> None:
    found = run(home.env, "expand", *words)

    assert (2, (message, hint)) == (found.code, error_of(found))


def test_a_stranger_s_text_sends_nothing_to_a_terminal(
    home: Home, root: str, skill: Writer
) -> None:
    skill(
        "root/odd",
        text='---\nname: odd\ndescription: "a\\x1b[2Jb"\nargument-hint: "\\x1b[31m"\n---\n\n\x1b[2J\u202eDo it.\n',
    )

    printed = [
        run(home.env, "expand", *words, "--root", root)
        for words in (["/odd"], ["--commands"], ["/\x1b[2J"])
    ]

    assert not any(char in found.out + found.err for found in printed for char in "\x1b\u202e")
