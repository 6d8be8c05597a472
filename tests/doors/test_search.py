from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from doors.command import error_of, run
from fakes.site import Says, Site

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home

INDEX = "/.well-known/agent-skills/index.json"
SKILLS = {"skills": [{"name": name, "type": "skill-md", "description": text, "url": "/x", "digest": "sha256:" + "0" * 64}
                     for name, text in (("pdf", "Fills forms."), ("notes", "Takes notes."))]}  # fmt: skip


def configured(home: Home, *lines: str) -> dict[str, str]:
    file = home.path / "metier.toml"
    file.write_text("[supply]\n" + "\n".join(lines) + "\n")
    return {**home.env, "METIER_CONFIG": str(file)}


def test_a_search_with_nothing_to_ask_says_how_to_name_something(home: Home) -> None:
    answer = run(home.env, "search", "pdf")
    as_json = run(home.env, "search", "pdf", "--json")

    assert (0, "") == (answer.code, answer.out)
    assert "taps = " in answer.err
    assert (0, {"results": [], "unreachable": []}) == (as_json.code, as_json.json)


@pytest.mark.loopback
def test_what_is_found_is_shown_and_who_does_not_answer_is_named(home: Home) -> None:
    with Site({INDEX: json.dumps(SKILLS).encode()}) as site, Site({INDEX: Says(b"", 500)}) as other:
        env = configured(home, f'registries = ["{site.url}", "{other.url}"]', f'private_hosts = ["{site.place}", "{other.place}"]')
        table = run(env, "search", "fill forms")
        document = run(env, "search", "forms", "--json").json

    assert (0, True, True) == (table.code, "pdf" in table.out, "notes" not in table.out)
    assert f"not reached: {other.url}: {other.place} answers 500" in table.err
    assert [{"name": "pdf", "description": "Fills forms.", "source": f"{site.url} --skill pdf", "trust": "community"}] == document["results"]
    assert [{"source": other.url, "why": f"{other.place} answers 500"}] == document["unreachable"]


@pytest.mark.loopback
def test_a_source_that_never_answers_does_not_keep_the_command(home: Home) -> None:
    with Site({INDEX: json.dumps(SKILLS).encode()}) as site, Site({INDEX: Says(b"x", headers={}, drip=True)}) as slow:
        env = configured(home, f'registries = ["{slow.url}", "{site.url}"]', f'private_hosts = ["{site.place}", "{slow.place}"]', "search_seconds = 1")
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


@pytest.mark.parametrize("words", [("search", ""), ("search", "x", "--limit", "0"), ("search", "x", "--limit", "many"), ("search",)])
def test_a_search_that_makes_no_sense_is_a_misunderstanding(words: tuple[str, ...], home: Home) -> None:
    answer = run(home.env, *words)

    assert 2 == answer.code
    assert all(error_of(answer))
