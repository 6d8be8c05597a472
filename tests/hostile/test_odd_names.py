"""Names and texts made to deceive a terminal or break JSON: shown escaped, told apart, never obeyed."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from doors.command import Answer, run

import metier
from metier.cli import main

if TYPE_CHECKING:
    from conftest import Home, Writer

ESCAPES = {
    "colour": "\x1b[31mred\x1b[0m",
    "title": "\x1b]0;title\x07",
    "clear": "\x1b[2J\x1b[H",
    "8-bit escape": "\x9b31m",
    "bell": "\x07\x08\x7f",
    "right-to-left": "\u202egnp.exe",
    "isolates": "\u2066a\u2069\u200f\u200e\u061c",
    "zero width": "a\u200bb\u200c\u200d\u2060\ufeff",
    "tags": "\U000e0041\U000e007f",
    "line separators": "a\u2028b\u2029c\x85d\x0be\x0cf",
    "carriage return": "good\rbad",
    "newline": "a\nb",
}
FORBIDDEN = frozenset(
    "\x1b\x9b\x07\x08\x7f\r\x85\x0b\x0c\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u200c\u200d"
    "\u200e\u200f\u061c\u2060\ufeff\U000e0041\U000e007f"
)


def in_yaml(text: str) -> str:
    """Spell a text in escapes that YAML undoes: the reader, not the writer, then holds the dangerous characters."""
    return '"' + "".join(f"\\U{ord(char):08X}" for char in text) + '"'


def commands(root: Path, name: str, file: str) -> list[tuple[str, ...]]:
    here = ("--root", str(root))
    return [
        ("list", *here),
        ("list", "--all", *here),
        ("categories", *here),
        ("show", name, *here),
        ("why", name, *here),
        ("show", name, "--file", file, *here),
        ("show", name, "--file", "references/" + name, *here),
        ("show", name + "x", *here),
        ("check", str(root)),
        ("check", "--strict", str(root)),
        ("list", "--category", name, *here),
        (name,),
        ("list", "--" + name),
    ]


def inside(
    home: Home,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
) -> Answer:
    """Run a command in this process: there are hundreds of them here."""
    for name, value in home.env.items():
        monkeypatch.setenv(name, value)
    code = main.main(list(words))
    return Answer(code, *capsys.readouterr())


@pytest.mark.parametrize("text", ESCAPES.values(), ids=ESCAPES)
def test_nothing_a_skill_says_reaches_the_terminal_raw(
    text: str,
    tmp_path: Path,
    home: Home,
    skill: Writer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    quoted = in_yaml(text)
    needs = f"prerequisites: {{commands: [{quoted}], env_vars: [{quoted}]}}\nrequired_credential_files: [{quoted}]\nsetup: {{help: {quoted}}}\n"
    fields = f"name: {quoted}\ndescription: {quoted}\ncategory: {quoted}\ntags: [{quoted}]\nplatforms: {{{quoted}: 1}}\n{quoted}: {quoted}\n"
    odd = skill("root/odd", text=f"---\n{fields}---\n{text}\n")
    skill(
        "root/needy",
        text=f"---\nname: needy\ndescription: {quoted}\n{needs}---\n{text}\n[x](references/{text}) [y](../{text})\n",
    )
    for folder in (odd, tmp_path / "root" / "needy"):
        (folder / "references").mkdir()
        (folder / "references" / text).write_text(text)
    skill(f"root/{text}")
    (tmp_path / "root" / "group").mkdir()
    (tmp_path / "root" / "group" / "DESCRIPTION.md").write_text(
        f"---\ndescription: {quoted}\n---\n"
    )
    skill("root/group/member")
    (tmp_path / "root" / f"{text}.md").write_text(f"---\nname: {quoted}\n---\n{text}")
    (tmp_path / "root" / f"{text}.py").write_text(f"SKILL_NAME = {text!r}\nSKILL_TRIGGERS = 1\n")
    (tmp_path / "root" / f"{text}.link").symlink_to(f"/{text}/nowhere")
    monkeypatch.chdir(tmp_path)

    for name in (text, "odd", "needy"):
        for words in commands(tmp_path / "root", name, f"references/{text}"):
            answer = inside(home, monkeypatch, capsys, words)
            assert set() == FORBIDDEN & set(answer.out + answer.err), (words, answer)


@pytest.mark.parametrize("text", ESCAPES.values(), ids=ESCAPES)
def test_what_a_skill_says_is_whole_in_json(
    text: str, tmp_path: Path, home: Home, skill: Writer
) -> None:
    skill("root/odd", text=f"---\nname: odd\ndescription: {in_yaml(text)}\n---\n")
    folder = skill(f"root/x{text}")

    answer = run(home.env, "list", "--all", "--json", "--root", str(tmp_path / "root"))

    assert answer.out.isascii()
    assert {str(tmp_path / "root" / "odd"), str(folder)} == {
        row["path"] for row in answer.json["skills"]
    }
    assert " ".join(text.split()) in {row["description"] for row in answer.json["skills"]}


def test_colour_on_a_terminal_is_metier_s_own(tmp_path: Path, home: Home, skill: Writer) -> None:
    skill("root/odd", text='---\nname: odd\ndescription: "\\e[31mred"\n---\n')

    answer = run({**home.env, "FORCE_COLOR": "1"}, "list", "--root", str(tmp_path / "root"))

    assert "\x1b[31m" not in answer.out


def test_names_that_are_not_utf_8_are_reported_and_not_read(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    skill("root/fine")
    odd = os.fsencode(tmp_path / "root") + b"/caf\xe9"
    os.mkdir(odd)
    with open(odd + b"/SKILL.md", "wb") as file:
        file.write(b"---\nname: cafe\ndescription: Hidden by its name.\n---\n")

    answer = run(home.env, "list", "--all", "--json", "--root", str(tmp_path / "root"))
    text = run(home.env, "list", "--all", "--root", str(tmp_path / "root"))

    assert ["fine"] == [row["name"] for row in answer.json["skills"]]
    assert [("WK005", f"{tmp_path}/root/caf\\xe9")] == [
        (row["code"], row["path"]) for row in answer.json["errors"]
    ]
    assert "WK005" in text.out


def test_a_file_inside_a_skill_whose_name_is_not_utf_8_is_no_obstacle(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    fine = skill("root/fine")
    (fine / "references").mkdir()
    with open(os.fsencode(fine) + b"/references/caf\xe9.md", "wb") as file:
        file.write(b"x")

    accept = ("--accept-dangerous", "--reason", "An old name, nothing more.", "--yes")
    approved = run(home.env, "trust", "approve", "fine", *accept, "--root", str(tmp_path / "root"))
    assert 0 == approved.code, approved.err

    for words in (("list", "--digests"), ("show", "fine"), ("why", "fine"), ("check", str(fine))):
        answer = run(home.env, *words, "--json", "--root", str(tmp_path / "root"))
        assert 0 == answer.code, words
        assert "error" not in answer.err
        json.loads(answer.out)
        assert 0 == run(home.env, *words, "--root", str(tmp_path / "root")).code


@pytest.mark.parametrize(
    "words", [("list",), ("show", "fine"), ("why", "fine"), ("check", "."), ("categories",)]
)
def test_a_root_whose_name_is_not_utf_8_works(
    words: tuple[str, ...], tmp_path: Path, home: Home, skill: Writer
) -> None:
    skill("root/fine")
    odd = os.fsencode(tmp_path) + b"/caf\xe9"
    (tmp_path / "root").rename(os.fsdecode(odd))

    for extra in ((), ("--json",)):
        answer = run(home.env, *words, *extra, "--root", os.fsdecode(odd), cwd=os.fsdecode(odd))
        assert (0, "") == (answer.code, answer.err)


def test_the_digests_below_a_root_whose_name_is_not_utf_8_are_remembered_too(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    skill("root/fine")
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
    (tmp_path / "root").rename(odd)
    time.sleep(2.1)  # only the digest of files that have settled is remembered

    answers = [run(home.env, "list", "--digests", "--json", "--root", odd) for _ in range(2)]

    assert [(0, ""), (0, "")] == [(answer.code, answer.err) for answer in answers]
    assert answers[0].json == answers[1].json


def test_names_that_collide_when_normalised_are_told_apart(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    skill(f"root/{composed}", description="Composed.")
    skill(f"root/{decomposed}", description="Decomposed.")
    skill("root/Cafe", name="cafe", description="One.")
    skill("root/cafe", description="Two.")

    library = metier.open(roots=[str(tmp_path / "root")], env=home.env)

    cards = library.skills(all=True)
    assert 4 == len(cards)
    assert "Composed." == library.resolve(composed).description
    assert "Decomposed." == library.resolve(decomposed).description
    assert ["shadowed"] == [card.state for card in cards if card.description == "Two."]


def test_a_copy_of_the_same_name_is_kept_and_says_what_hides_it(
    tmp_path: Path, home: Home, skill: Writer
) -> None:  # MT-1
    for root in ("one", "two", "three"):
        skill(f"{root}/pdf", description=f"From {root}.")

    library = metier.open(
        roots=[str(tmp_path / root) for root in ("two", "one", "three")], env=home.env
    )

    assert ["From two."] == [card.description for card in library.skills()]
    winner, *others = library.skills(all=True)
    assert winner.shadows == tuple(card.path for card in others)
    assert all(f"shadowed by {winner.path}" in card.reasons[0] for card in others)


def test_a_thousand_copies_of_one_name_are_listed(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    for number in range(1_000):
        skill(f"root/{number:04}/same")

    library = metier.open(roots=[str(tmp_path / "root")], env=home.env)

    assert 1 == len(library.skills())
    assert 999 == len(library.skills()[0].shadows)


@pytest.mark.parametrize(
    "name",
    [
        "x" * 255,
        "...",
        "-rf",
        "--help",
        "CON",
        "a:b",
        "user:pdf",
        "~",
        "*",
        "$(id)",
        "'; ls",
        "%s",
        "{0}",
    ],
)
def test_folder_names_that_mean_something_elsewhere_mean_nothing_here(
    name: str, tmp_path: Path, home: Home, skill: Writer
) -> None:
    folder = (
        skill(f"root/a{name}"[: 5 + 255]) if name == "..." else skill(f"root/{name}", name="odd")
    )

    answer = run(home.env, "list", "--all", "--json", "--root", str(tmp_path / "root"))
    shown = run(home.env, "show", "--json", "--root", str(tmp_path / "root"), "--", str(folder))

    assert [str(folder)] == [row["path"] for row in answer.json["skills"]]
    assert str(folder) == shown.json["path"]


def test_a_body_with_windows_line_ends_is_shown_without_marks(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    skill("root/odd", text="---\r\nname: odd\r\ndescription: Odd.\r\n---\r\nOne.\r\nTwo.\r\n")

    answer = run(home.env, "show", "odd", "--root", str(tmp_path / "root"))

    assert "\\r" not in answer.out
    assert "One.\nTwo.\n" in answer.out
