"""`metier publish`: a static site that any client of a well-known index can read."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest
from doors.command import error_of, run
from doors.test_pack import BAD
from fakes.leaked_keys import PRIVATE

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home, Writer

NEW, OLD = ".well-known/agent-skills", ".well-known/skills"


@pytest.fixture
def work(skill: Writer) -> Path:
    """Give a folder with a skill of one file and a skill of two."""
    folder = skill("work/skills/pdf")
    (folder / "more.md").write_bytes(b"more\n")
    skill("work/skills/a-note")
    return folder.parent.parent


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_an_index_names_each_skill_with_the_digest_of_what_it_points_to(
    home: Home, work: Path
) -> None:
    answer = run(home.env, "publish", "skills", "--well-known", "site", "--json", cwd=work)

    site = files_of(work / "site")
    index = json.loads(site[f"{NEW}/index.json"])
    assert (0, str(work / "site" / NEW / "index.json"), []) == (
        answer.code,
        answer.json["index"],
        answer.json["refused"],
    )
    assert "https://schemas.agentskills.io/discovery/0.2.0/schema.json" == index["$schema"]
    assert [("a-note", "skill-md", "a-note/SKILL.md"), ("pdf", "archive", "pdf.tar.gz")] == [
        (one["name"], one["type"], one["url"]) for one in index["skills"]
    ]
    assert {"name", "type", "description", "url", "digest"} == set(index["skills"][0])
    for one in index["skills"]:
        artifact = site[f"{NEW}/{one['url']}"]
        assert f"sha256:{hashlib.sha256(artifact).hexdigest()}" == one["digest"]
        assert "Does one thing. Use it for that thing." == one["description"]


def test_older_clients_find_an_index_with_files(home: Home, work: Path) -> None:
    run(home.env, "publish", "skills", "--well-known", "site", cwd=work)

    site = files_of(work / "site")
    index = json.loads(site[f"{OLD}/index.json"])
    assert {"a-note": ["SKILL.md"], "pdf": ["SKILL.md", "more.md"]} == {
        one["name"]: one["files"] for one in index["skills"]
    }
    assert (work / "skills/pdf/more.md").read_bytes() == site[f"{OLD}/pdf/more.md"]


def test_publishing_again_gives_the_same_bytes_and_leaves_strangers_alone(
    home: Home, work: Path
) -> None:
    run(home.env, "publish", "skills", "--well-known", "site", cwd=work)
    (work / "site/index.html").write_bytes(b"mine")
    (work / f"site/{NEW}/other.tar.gz").write_bytes(b"a stranger's")
    before = files_of(work / "site")
    again = run(
        home.env,
        "publish",
        "skills/pdf",
        "skills/a-note",
        "skills/pdf",
        "--well-known",
        "site",
        cwd=work,
    )
    same = files_of(work / "site")
    (work / "skills/pdf/more.md").write_bytes(b"changed\n")

    changed = run(home.env, "publish", "skills", "--well-known", "site", cwd=work)

    assert ((0, 0), before) == ((again.code, changed.code), same)
    after = files_of(work / "site")
    assert {f"{NEW}/index.json", f"{NEW}/pdf.tar.gz", f"{OLD}/pdf/more.md"} == {
        name for name in before if before[name] != after[name]
    }
    assert set(before) == set(after)


def test_a_single_file_is_left_out_of_an_index_in_plain_words(home: Home, work: Path) -> None:
    (work / "skills" / "word_count.py").write_text(
        '"""Counts words."""\n\n\ndef run(text: str) -> int:\n    """Count."""\n    return len(text.split())\n'
    )

    answer = run(home.env, "publish", "skills", "--well-known", "site", "--json", cwd=work)

    reasons = {one["name"]: one["reasons"] for one in answer.json["refused"]}
    assert {"word_count.py": ["it is a single file; an index holds folders"]} == reasons


def test_a_faulty_a_dangerous_and_a_doubled_skill_are_left_out_and_named(
    home: Home, work: Path, skill: Writer
) -> None:
    skill("work/skills/bad", text=BAD)
    skill("work/skills/broken", text="no frontmatter\n")
    skill("work/skills/z/pdf")

    answer = run(home.env, "publish", "skills", "--well-known", "site", "--json", cwd=work)

    index = json.loads((work / "site" / NEW / "index.json").read_bytes())
    refused = {one["name"]: one["reasons"][0] for one in answer.json["refused"]}
    assert (1, ["a-note", "pdf"]) == (answer.code, [one["name"] for one in index["skills"]])
    assert ({"bad", "broken", "pdf"}, True, True, True) == (
        set(refused),
        "dangerous" in refused["bad"],
        "strict check" in refused["broken"],
        "another skill" in refused["pdf"],
    )
    assert not (work / "site" / OLD / "bad").exists()


def test_a_skill_that_holds_a_key_is_left_out_and_the_key_is_not_shown(
    home: Home, work: Path, skill: Writer
) -> None:
    (skill("work/skills/leaky") / "key.pem").write_text(PRIVATE["RSA"])

    answer = run(home.env, "publish", "skills", "--well-known", "site", "--json", cwd=work)

    (refused,) = answer.json["refused"]
    assert ("leaky", ["SC641"]) == (refused["name"], [one["rule"] for one in refused["findings"]])
    assert "'leaky' holds a key: key.pem:1 a private key" in refused["reasons"][0]
    assert PRIVATE["RSA"].splitlines()[1] not in answer.out + answer.err
    assert not (work / "site" / OLD / "leaky").exists()


def test_nothing_is_written_through_a_link_in_the_site(home: Home, work: Path) -> None:
    (work / "elsewhere").mkdir()
    (work / "site").mkdir()
    (work / "site/.well-known").symlink_to("../elsewhere")

    answer = run(home.env, "publish", "skills", "--well-known", "site", "--json", cwd=work)

    assert (1, "unsafe-link") == (answer.code, answer.json["code"])
    assert [] == list((work / "elsewhere").iterdir())


def test_where_to_publish_has_to_be_said(home: Home, work: Path) -> None:
    answer = run(home.env, "publish", "skills", cwd=work)

    assert (2, True) == (answer.code, "--well-known" in error_of(answer)[1])


def test_what_was_published_is_told_of_in_words(home: Home, work: Path, skill: Writer) -> None:
    skill("work/skills/broken", text="no frontmatter\n")

    answer = run(home.env, "publish", "skills", "--well-known", "site", cwd=work)

    assert answer.out.startswith("SKILL ")
    assert "left out broken: 'broken' fails a strict check" in answer.out
    assert answer.out.endswith("2 published, 1 left out\n")
