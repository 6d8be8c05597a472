from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from doors.command import error_of, on_screen, run
from fakes.site import Says, Site

if TYPE_CHECKING:
    from conftest import Home
    from doors.upstream import Project, Upstream

INDEX = "/.well-known/agent-skills/index.json"
SKILLS = {
    "skills": [
        {
            "name": name,
            "type": "skill-md",
            "description": text,
            "url": "/x",
            "digest": "sha256:" + "0" * 64,
        }
        for name, text in (("pdf", "Fills forms."), ("notes", "Takes notes."))
    ]
}


def configured(home: Home, *lines: str) -> dict[str, str]:
    file = home.path / "metier.toml"
    known = () if any("default_taps" in line for line in lines) else ("default_taps = []",)
    file.write_text("[supply]\n" + "\n".join([*known, *lines]) + "\n")
    return {**home.env, "METIER_CONFIG": str(file)}


def test_a_search_with_nothing_to_ask_says_how_to_name_something(home: Home) -> None:
    env = configured(home)

    answer = run(env, "search", "pdf")
    as_json = run(env, "search", "pdf", "--json")

    assert (0, "") == (answer.code, answer.out)
    assert "taps = " in answer.err
    assert "hint: add a repository: metier tap add OWNER/REPO\n" in answer.err
    assert (0, {"results": [], "unreachable": []}) == (as_json.code, as_json.json)


@pytest.mark.loopback
def test_what_is_found_is_shown_and_who_does_not_answer_is_named(home: Home) -> None:
    with Site({INDEX: json.dumps(SKILLS).encode()}) as site, Site({INDEX: Says(b"", 500)}) as other:
        env = configured(
            home,
            f'registries = ["{site.url}", "{other.url}"]',
            f'private_hosts = ["{site.place}", "{other.place}"]',
        )
        table = run(env, "search", "fill forms")
        document = run(env, "search", "forms", "--json").json

    assert (0, True, True) == (table.code, "pdf" in table.out, "notes" not in table.out)
    assert f"not reached: {other.url}: {other.place} answers 500" in table.err
    assert [
        {
            "name": "pdf",
            "description": "Fills forms.",
            "source": f"{site.url} --skill pdf",
            "trust": "community",
        }
    ] == document["results"]
    assert [{"source": other.url, "why": f"{other.place} answers 500"}] == document["unreachable"]


@pytest.mark.loopback
def test_a_source_that_never_answers_does_not_keep_the_command(home: Home) -> None:
    with (
        Site({INDEX: json.dumps(SKILLS).encode()}) as site,
        Site({INDEX: Says(b"x", headers={}, drip=True)}) as slow,
    ):
        env = configured(
            home,
            f'registries = ["{slow.url}", "{site.url}"]',
            f'private_hosts = ["{site.place}", "{slow.place}"]',
            "search_seconds = 1",
        )
        answer = run(env, "search", "forms", "--json")

    assert 0 == answer.code
    assert ["pdf"] == [one["name"] for one in answer.json["results"]]
    assert [slow.url] == [one["source"] for one in answer.json["unreachable"]]


def test_a_tap_is_searched_by_what_lies_in_it(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "tap" / "skills" / "pdf"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: pdf\ndescription: Fills forms.\n---\nDo it.\n")
    env = configured(home, f'taps = ["{tmp_path}/tap"]')

    answer = run(env, "search", "forms", "--json")

    assert [f"{folder}"] == [one["source"] for one in answer.json["results"]], answer


@pytest.mark.parametrize(
    "words",
    [
        ("search", ""),
        ("search", "x", "--limit", "0"),
        ("search", "x", "--limit", "many"),
        ("search",),
    ],
)
def test_a_search_that_makes_no_sense_is_a_misunderstanding(
    words: tuple[str, ...], home: Home
) -> None:
    answer = run(home.env, *words)

    assert 2 == answer.code
    assert all(error_of(answer))


# --- repositories that are there by default


def test_well_known_repositories_are_searched_by_default_and_named_before_the_first_time(
    home: Home, upstream: Upstream
) -> None:
    env = configured(home, f'default_taps = ["{upstream.url}"]')

    first = run(env, "search", "pdf")
    second = run(env, "search", "pdf")
    nothing = run(env, "search", "zebra")

    assert (0, 0) == (first.code, second.code)
    assert first.err.startswith(f"Searching well-known repositories: {upstream.url}. ")
    assert "metier tap remove NAME" in first.err
    assert "supply.default_taps = []" in first.err
    assert ("", True) == (second.err, "pdf" in second.out)
    assert (1, "nothing fits that") == (nothing.code, nothing.err.splitlines()[0])
    assert nothing.err.endswith("hint: search another repository too: metier tap add OWNER/REPO\n")


def test_a_repository_that_joins_the_default_ones_is_named_too(
    home: Home, upstream: Upstream, tmp_path: Path
) -> None:
    env = configured(home, f'default_taps = ["{upstream.url}"]')
    run(env, "search", "pdf")
    (tmp_path / "late").mkdir()

    answer = run(
        configured(home, f'default_taps = ["{upstream.url}", "{tmp_path}/late"]'), "search", "pdf"
    )

    assert answer.err.startswith(f"Searching well-known repositories: {tmp_path}/late. ")


def test_a_default_repository_is_taken_out_as_a_tap_is(home: Home, upstream: Upstream) -> None:
    env = configured(home, f'default_taps = ["{upstream.url}"]')

    before = run(env, "tap", "list", "--json").json["taps"]
    listed = run(env, "tap", "list").out
    removed = run(env, "tap", "remove", upstream.url)
    after = run(env, "search", "pdf")

    assert [(upstream.url, True)] == [(one["tap"], one["default"]) for one in before]
    assert ["TAP", "TRUST", "SOURCE", "FROM"] == listed.split()[:4]
    assert (0, "There are no taps.\n\nnext: metier tap add OWNER/REPO\n") == removed[:2]
    assert "no source is configured" in after.err
    assert "default_taps = []" in (home.path / "metier.toml").read_text()


def test_a_fresh_machine_knows_repositories_of_known_makers_and_asks_them_only_to_search(
    home: Home, project: Project
) -> None:
    taps = run(home.env, "tap", "list", "--json").json["taps"]
    added = project("add", "zebra-crossing", "--json")

    assert {"anthropics/skills", "openai/skills", "vercel-labs/agent-skills"} <= {
        one["tap"] for one in taps
    }
    assert all(one["source"].startswith("https://github.com/") for one in taps)
    assert {True} == {one["default"] for one in taps}
    assert "not-found" == added.json["code"]
    assert not (Path(home.env["METIER_HOME"]) / "taps").exists()


def test_without_a_connection_one_line_says_so(home: Home) -> None:
    env = configured(
        home, 'default_taps = ["one/skills", "two/skills"]', 'hosts = ["elsewhere.example"]'
    )

    answer = run(env, "search", "pdf")

    _told, offline, why, _gap, hint = answer.err.splitlines()
    assert (1, "") == (answer.code, answer.out)
    assert "no source could be reached: are you offline?" == offline
    assert why.startswith("not reached: one/skills, two/skills: github.com is not among the hosts")
    assert hint.startswith("hint: check your connection and try again")


@pytest.mark.loopback
def test_a_search_that_takes_long_says_how_far_it_is(home: Home) -> None:
    with Site({INDEX: Says(b"x", headers={}, drip=True)}) as slow:
        env = configured(
            home,
            f'registries = ["{slow.url}"]',
            f'private_hosts = ["{slow.place}"]',
            "search_seconds = 2",
        )
        screen = on_screen(env, "search", "forms")

    assert "asking [........................] 0 of 1 source" in screen.text
    assert not any("asking" in line for line in screen.lines)
