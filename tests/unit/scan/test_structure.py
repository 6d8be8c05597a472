"""What the shape of a skill's folder says."""

from typing import Any

import pytest

from metier.scan.model import ScanEntry, ScanTree
from metier.scan.rules.structure import RULES
from metier.scan.whole_skill import description_mismatch, find_in_folder

SKILL = ScanEntry("SKILL.md", b"---\nname: a\ndescription: b\n---\nRun scripts/run.sh\n", 50)
PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + b"\0" * 40 + b"IEND\xaeB`\x82"
ZIP = b"PK\x03\x04\x14\0\0\0\x08\0" + b"x" * 40 + b"PK\x05\x06" + b"\0" * 18


def piece(path: str, data: bytes = b"text\n", **more: Any) -> ScanEntry:
    return ScanEntry(path, data, len(data))._replace(**more)


def rules(*pieces: ScanEntry) -> set[tuple[str, str]]:
    return {(path, hit.rule) for path, hit in find_in_folder(ScanTree("a", (SKILL, *pieces)), {})}


@pytest.mark.parametrize(
    ("odd", "rule"),
    [
        # HE-32
        (piece("a.txt", b"x" * 300_000), "SC602"),
        (piece("run", b"\x7fELF\x02\x01\x01" + b"\0" * 60), "SC603"),
        (piece("notes.md", b"# a\n\ntext\n", executable=True), "SC604"),
        (piece("l", b"", link="../../etc/passwd"), "SC605"),
        (piece("l", b"", link="/etc/passwd"), "SC605"),
        (piece("sub/l", b"", link="../../x"), "SC605"),
        (piece("l", b"", link="/opt/tool"), "SC606"),
        (piece("l", b"", link="missing.md"), "SC606"),
        # What cannot be looked into
        (piece("a.zip", ZIP.replace(b"PK\x03\x04\x14\0\0", b"PK\x03\x04\x14\0\x01", 1)), "SC607"),
        (piece("a.zip", ZIP), "SC608"),
        (piece("a.pyc", b"\xa7\x0d\r\n\0\0\0\0" + b"\xe3" * 20), "SC609"),
        (piece("sub/SKILL.md"), "SC610"),
        (piece("a.dat", bytes(range(128, 256)) * 4 + b"\0\x01\x02"), "SC611"),
        (piece("a.txt", size=10_000_000), "SC616"),
        (piece("a.txt", b"", fault="permission denied"), "SC617"),
        # What is not what it seems
        (piece("a.png", b"#!/bin/sh\ncurl https://get.example\n"), "SC612"),
        (piece("a.txt", ZIP), "SC612"),
        (piece(".run.sh", b"#!/bin/sh\nls\n"), "SC613"),
        (piece("a.png", PNG + ZIP), "SC618"),
        (piece("a.png", PNG + b"x" * 100), "SC618"),
        (
            piece(
                "a.md",
                b"# title\n\nsome words and then\0more words, so that it reads as text\n" * 9,
            ),
            "SC619",
        ),
        (piece("a\u202etxt.sh"), "SC620"),
        (piece("a.txt "), "SC620"),
        (piece("skill.MD"), "SC621"),
        (piece("other.sh", b"#!/bin/sh\nls\n"), "SC622"),
        # HE-33, MT-22: a skill cannot exempt its files
        (piece(".skillignore", b"evil.sh\n"), "SC614"),
        (piece(".clawhubignore", b"evil.sh\n"), "SC614"),
        # ZE-11: a forged marker
        (piece(".bundled", b""), "SC615"),
        (piece("notes.txt", b"#!/bin/bash\nset -e\ncurl -s https://get.example\n"), "SC624"),
    ],
)
def test_what_is_odd_about_a_file_is_reported_at_its_path(odd: ScanEntry, rule: str) -> None:
    assert (odd.path, rule) in rules(odd)


@pytest.mark.parametrize(
    "plain",
    [
        piece("scripts/run.sh", b"#!/bin/sh\nls\n", executable=True),
        piece("picture.png", PNG),
        piece("references/notes.md", b"# Notes\n\nSome words.\n"),
        piece("l", b"", link="SKILL.md"),
        piece("sub/l", b"", link="../SKILL.md"),
        piece(".gitignore", b"dist\n"),
        piece("empty.txt", b""),
        piece("wide.txt", "Grüße, breit geschrieben".encode("utf-16")),
    ],
)
def test_ordinary_files_say_nothing(plain: ScanEntry) -> None:
    assert set() == rules(plain)


def test_bytecode_beside_its_source_is_ordinary() -> None:
    code = piece("lib/__pycache__/a.cpython-311.pyc", b"\xa7\x0d\r\n\0\0\0\0" + b"\xe3" * 20)
    source = piece("lib/a.py", b"import os\n")

    assert (code.path, "SC609") not in rules(code, source)


def test_many_files_and_many_bytes_are_reported_for_the_whole_tree() -> None:
    # HE-32
    many = [piece(f"{number}.txt") for number in range(60)]
    large = piece("large.txt", b"", size=2_000_000)

    actual = rules(*many, large)

    assert {("", "SC600"), ("", "SC601")} <= actual


def test_an_ignore_file_hides_nothing() -> None:
    # HE-33, MT-22
    hidden = piece("evil", b"\x7fELF\x02\x01\x01" + b"\0" * 60)

    assert ("evil", "SC603") in rules(piece(".skillignore", b"evil\n"), hidden)


def test_the_engines_word_for_a_file_is_taken() -> None:
    tree = ScanTree("a", (SKILL, piece("x")))

    found = find_in_folder(tree, {"SKILL.md": "markdown", "x": "executable"})

    assert [("x", "SC603")] == [(path, hit.rule) for path, hit in found]


@pytest.mark.parametrize(
    ("description", "categories", "told"),
    [
        ("A Markdown formatter.", ("network", "credential"), True),
        ("Tells jokes", ("persistence", "privilege"), True),
        ("A Markdown formatter.", ("network",), False),
        ("Deploys themes to the cloud", ("network", "credential"), False),
        ("Reviews code", ("network", "credential"), False),
    ],
)
def test_a_harmless_description_does_not_fit_credentials_and_network(
    description: str, categories: tuple[str, ...], told: bool
) -> None:
    assert told == bool(description_mismatch(description, categories))


def test_every_rule_of_the_table_has_its_own_id() -> None:
    assert len(RULES) == len({rule.id for rule in RULES})


def test_names_that_are_no_names_do_not_make_it_raise() -> None:
    odd = [piece(name, b"\xff\xfe\0") for name in ("", "/", "\ud800", "..", "a/../../b", "\0")]

    assert rules(*odd)
