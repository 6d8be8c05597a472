"""`metier show` by parts: sections, one section, pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from doors.command import error_of, run

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home, Writer

TEXT = "---\nname: pdf\ndescription: Reads.\n---\n\nFirst.\n\n# Read\n\nRead it.\n\n## Fill a form\n\nFill it.\n"


@pytest.fixture
def root(skill: Writer) -> Path:
    """Write a skill with two headings."""
    return skill("skills/pdf", text=TEXT).parent


def test_sections_are_listed_with_their_cost(home: Home, root: Path) -> None:
    answer = run(home.env, "show", "pdf", "--sections", "--root", str(root))
    listed = run(home.env, "show", "pdf", "--sections", "--json", "--root", str(root)).json

    assert 0 == answer.code
    assert [
        "TOKENS  LINE  SECTION",
        "2       1     (before the first heading)",
    ] == answer.out.splitlines()[:2]
    assert "      Fill a form" in answer.out
    assert {
        "name": "pdf",
        "sections": [
            {"section": "", "level": 0, "line": 1, "tokens": 2},
            {"section": "Read", "level": 1, "line": 3, "tokens": 11},
            {"section": "Fill a form", "level": 2, "line": 7, "tokens": 7},
        ],
    } == listed


def test_one_section_is_shown_alone(home: Home, root: Path) -> None:
    answer = run(home.env, "show", "pdf", "--section", "fill-a-form", "--root", str(root))
    as_json = run(
        home.env, "show", "pdf", "--section", "Read > Fill a form", "--json", "--root", str(root)
    ).json

    assert (0, "## Fill a form\n\nFill it.\n") == (answer.code, answer.out)
    assert ("Fill a form", answer.out, 7) == (
        as_json["section"],
        as_json["content"],
        as_json["tokens"],
    )
    assert as_json["disclosed"].startswith("[UNTRUSTED SKILL: pdf]")


def test_an_unknown_section_ends_with_one_and_names_the_others(home: Home, root: Path) -> None:
    answer = run(home.env, "show", "pdf", "--section", "Print", "--root", str(root))
    as_json = run(home.env, "show", "pdf", "--section", "Print", "--json", "--root", str(root))

    assert (1, ("'pdf' has no section 'Print'", "available: Read; Fill a form")) == (
        answer.code,
        error_of(answer),
    )
    assert ("not-found", ["Read", "Fill a form"]) == (
        as_json.json["code"],
        as_json.json["available_sections"],
    )


def test_a_long_file_is_shown_page_by_page(home: Home, root: Path) -> None:
    (root / "pdf" / "long.md").write_text("line\n" * 120_000)
    words = ("show", "pdf", "--file", "long.md", "--root", str(root))

    first = run(home.env, *words, "--cursor", "", "--json").json
    second = run(home.env, *words, "--cursor", first["cursor"], "--json").json
    plain = run(home.env, *words, "--cursor", "")

    assert "line\n" * 120_000 == first["content"] + second["content"]
    assert ("", 600_000, "long.md") == (second["cursor"], second["total"], second["file"])
    assert first["content"] == plain.out
    assert f"next: metier show pdf --file long.md --cursor {first['cursor']}" in plain.err


def test_a_stale_cursor_ends_with_one_and_a_malformed_one_with_two(home: Home, root: Path) -> None:
    stale = run(home.env, "show", "pdf", "--cursor", "0123456789abcdef:5", "--root", str(root))
    malformed = run(home.env, "show", "pdf", "--cursor", "there", "--root", str(root))

    assert (1, ("cursor is stale; restart from the first page", "ask without a cursor")) == (
        stale.code,
        error_of(stale),
    )
    assert (2, "'there' is not a cursor") == (malformed.code, error_of(malformed)[0])


@pytest.mark.parametrize(
    "words",
    [
        ("--sections", "--section", "Read"),
        ("--sections", "--file", "long.md"),
        ("--section", "Read", "--cursor", ""),
    ],
)
def test_two_wishes_at_once_are_refused(home: Home, root: Path, words: tuple[str, ...]) -> None:
    answer = run(home.env, "show", "pdf", *words, "--root", str(root))

    assert (2, "ask for one of them") == (answer.code, error_of(answer)[1])


def test_a_heading_cannot_write_to_the_terminal(home: Home, skill: Writer) -> None:
    folder = skill(
        "skills/pdf", text="---\nname: pdf\ndescription: Reads.\n---\n\n# A\x1b]0;owned\x07B\n\nx\n"
    )

    answers = [
        run(home.env, "show", "pdf", *more, "--root", str(folder.parent))
        for more in (("--sections",), ("--section", ""), ("--cursor", ""))
    ]

    assert all("\x1b" not in answer.out + answer.err for answer in answers)
