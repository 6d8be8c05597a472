"""What a model may have, by the one rule; and that every door gives the same answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fakes.codeskills import Calling
from fakes.conditions import in_state
from fakes.connected import talk
from fakes.served import Place

from metier.cli import main
from metier.disclose import offer, tools
from metier.disclose.offer import Audience
from metier.mcp.server import make_server
from metier.model import Card
from metier.settings.model import ServeSettings
from metier.trust.io.decisions_file import read_decisions

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Home, Writer
    from mcp.client.client import Client

    from metier.library import Library

PDF = Card(
    name="pdf", description="Does it.", scope="user", category="", kind="skill-md", path="/s/pdf",
    digest=None, state="visible", readiness="available", tokens=1, shadows=(), diagnostics=(),
    reasons=("because",), root="/s", agent="", plugin="", held="", verdict="safe",
)  # fmt: skip
AGENTS = Audience("stdio", offer.reserved_keys("stdio", ServeSettings()))


@pytest.mark.parametrize(
    ("changes", "by_path", "code"),
    [
        ({}, False, ""),
        ({"verdict": ""}, False, ""),
        ({"state": "shadowed"}, False, "shadowed"),
        ({"state": "shadowed"}, True, ""),
        ({"state": "shadowed", "held": "gate"}, True, "shadowed"),
        ({"state": "ask"}, True, "ask"),
        ({"state": "quarantined"}, True, "quarantined"),
        ({"state": "blocked"}, True, "blocked"),
        ({"state": "invalid", "held": "invalid"}, True, "invalid"),
        ({"state": "hidden", "held": "disabled"}, True, "disabled"),
        ({"state": "hidden", "held": "model"}, True, "hidden"),
        ({"state": "hidden", "held": "offer"}, False, ""),
        ({"state": "hidden", "held": "offer", "name": "terminal"}, False, "mcp-blocked"),
        ({"state": "hidden", "held": "unready", "readiness": "setup_needed"}, False, "setup-needed"),
        ({"state": "hidden", "held": "unready", "readiness": "unsupported"}, False, ""),
        ({"state": "hidden", "held": "gate", "readiness": "unsupported"}, False, "unsupported"),
        ({"name": "terminal"}, True, "mcp-blocked"),
        ({"name": "Process Manager"}, False, "mcp-blocked"),
        ({"name": "ops:terminal", "plugin": "ops"}, False, "mcp-blocked"),
        ({"name": "\uff54erminal"}, False, "mcp-blocked"),
    ],
)  # fmt: skip
def test_each_state_has_one_answer(changes: dict[str, Any], by_path: bool, code: str) -> None:
    card = PDF._replace(**changes)

    refusal = offer.refusal_of(card, AGENTS, by_path=by_path)

    assert code == (refusal.code if refusal else "")
    told = not code and card.state == "visible" and card.verdict != ""
    assert offer.is_offered(card, AGENTS) == told


def test_what_is_only_kept_from_models_is_given_once_a_person_named_it() -> None:
    kept = PDF._replace(state="hidden", held="model")

    assert offer.refusal_of(kept, AGENTS) is not None
    assert offer.refusal_of(kept, AGENTS._replace(named={"/s/pdf"})) is None
    assert offer.refusal_of(kept, AGENTS._replace(named={"/s/other"})) is not None


@pytest.mark.parametrize(
    ("door", "settings", "name", "reserved"),
    [
        ("tools", ServeSettings(), "terminal", True),
        ("tools", ServeSettings(blocked=("pdf",)), "terminal", False),
        ("tools", ServeSettings(blocked=("pdf",)), "pdf", True),
        ("stdio", ServeSettings(), "python_exec", False),
        ("http", ServeSettings(), "python_exec", True),
        ("http", ServeSettings(blocked=("pdf",)), "terminal", True),
        ("http", ServeSettings(http_blocked=("pdf",)), "pdf", True),
        ("stdio", ServeSettings(http_blocked=("pdf",)), "pdf", False),
    ],
)
def test_the_users_list_takes_the_place_of_reserved_names_or_adds_to_them(
    door: offer.Door, settings: ServeSettings, name: str, reserved: bool
) -> None:
    keys = offer.reserved_keys(door, settings)

    assert reserved == offer.is_reserved(PDF._replace(name=name), keys)


def test_a_person_can_hand_over_what_models_do_not_see_but_nothing_reserved_or_out_of_reach() -> (
    None
):
    cards = (
        PDF._replace(state="hidden", held="model"),
        PDF._replace(state="ask"),
        PDF._replace(name="terminal"),
        PDF._replace(state="hidden", held="disabled"),
        PDF._replace(state="hidden", held="gate"),
        PDF._replace(state="hidden", held="offer"),
    )

    told = [bool(offer.refusal_to_person(card, AGENTS)) for card in cards]

    assert [False, False, True, True, True, False] == told


# --- every door


@pytest.fixture
def place(home: Home, tmp_path: Path, skill: Writer) -> Place:
    """Give an empty place."""
    return Place(home, tmp_path, skill)


def by_tools(library: Library, name: str) -> str:
    answer = tools.call(library, "load_skill", {"name": name})
    return "" if answer["success"] else str(answer["error"]["code"])


def by_mcp(library: Library, name: str) -> str:
    library.context.sandbox = Calling()
    found = make_server(library).tools.call("load_skill", {"name": name}, None)["structuredContent"]
    return str(found["error"]["code"]) if "error" in found else ""


KEYED = "---\nname: keyed\ndescription: Does thing.\nrequired_environment_variables: [SOME_KEY]\n---\n\nDo.\n"
SECRET = "---\nname: secret\ndescription: Does thing.\ndisable-model-invocation: true\n---\n\nDo.\n"


def test_a_host_s_tools_and_a_server_give_the_same_skills(place: Place) -> None:
    place.write("skills/plain")
    place.write("skills/terminal")
    place.write("skills/off")
    place.write("skills/keyed", text=KEYED)
    place.write("skills/secret", text=SECRET)
    shadowed = place.write("more/plain")
    place.config.write_text(
        'hide_unready = true\n[[skills.config]]\nname = "off"\nenabled = false\n'
    )
    names = ["plain", str(shadowed), "terminal", "off", "keyed", "secret", "nothing"]

    answers = []
    for ask in (by_tools, by_mcp):
        with place.open("skills", "more") as library:
            answers.append({name: ask(library, name) for name in names})

    assert answers[0] == answers[1]
    assert ["", "", "mcp-blocked", "disabled", "setup-needed", "hidden", "not-found"] == [
        answers[0][name] for name in names
    ]


def test_reserved_names_are_in_no_prompt_no_search_and_no_message(place: Place) -> None:
    place.write("skills/plain")
    place.write("skills/terminal")

    with place.open("skills") as library:
        told = library.catalogue().text
        hits = [hit.name for hit in library.find("does thing")]
        listed = tools.call(library, "skills_list", {})["skills"]
        expanded = library.expand("/terminal do it")

    assert ("plain" in told, "terminal" in told) == (True, False)
    assert "terminal" not in hits
    assert ["plain"] == [row["name"] for row in listed]
    assert ([], ["terminal"]) == (expanded.skills, expanded.missing)


# --- why skills are missing


def _unknown(m: Library, name: str) -> str:
    return str(tools.call(m, "skill_view", {"name": name})["error"]["hint"])


SAYING: dict[str, Callable[[Library], str]] = {
    "skills_list": lambda m: tools.call(m, "skills_list", {})["hint"],
    "skills_categories": lambda m: tools.call(m, "skills_categories", {})["hint"],
    "search_skills": lambda m: tools.call(m, "search_skills", {"query": "polish"})["warning"],
    "skill_view": lambda m: _unknown(m, "nobody"),
    "prompt": lambda m: m.catalogue().warnings[-1],
    "prompt again": lambda m: (m.catalogue(), m.catalogue())[1].warnings[-1],
    "expand": lambda m: m.expand("/nobody is here").warnings[-1],
    "expand again": lambda m: (m.commands(), m.expand("$quince now"))[1].warnings[-1],
    "preload": lambda m: m.preload(["nobody"]).warnings[-1],
    "find": lambda m: (m.find("polish"), m.context.warnings)[1][-1],
}


@pytest.mark.parametrize("damage", ["emptied", "deleted"])
def test_every_door_says_in_the_same_words_that_decisions_are_damaged(
    tmp_path: Path, damage: str
) -> None:
    made = in_state(tmp_path, f"blocked, decisions {damage}")
    doubt = read_decisions(made.env["METIER_HOME"]).doubt
    said = {}
    for door, ask in SAYING.items():
        with made.open() as m:
            said[door] = ask(m)

    async def use(client: Client) -> None:
        found = await client.call_tool("search_skills", {"query": "polish"})
        said["mcp search_skills"] = (found.structured_content or {})["warning"]
        missed = await client.call_tool("load_skill", {"name": "nobody"})
        hint = (missed.structured_content or {})["error"]["hint"]
        said["mcp load_skill"] = hint.rpartition("; ")[2]

    with made.open() as m:
        talk(m, use)

    assert doubt.endswith("metier trust repair")
    assert dict.fromkeys(said, doubt) == said


@pytest.mark.parametrize("words", [["prompt"], ["find", "polish"]])
def test_a_document_says_that_decisions_are_damaged(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
) -> None:
    made = in_state(tmp_path, "blocked, decisions emptied")
    for name, value in made.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(made.project)

    main.main([*words, "--json"])
    document = json.loads(capsys.readouterr().out)
    main.main(words)
    told = capsys.readouterr().err

    doubt = read_decisions(made.env["METIER_HOME"]).doubt
    assert doubt in [*document.get("warnings", []), document.get("warning")]
    assert 1 == told.count(doubt)


def test_a_repair_ends_what_is_said(tmp_path: Path) -> None:
    made = in_state(tmp_path, "blocked, decisions emptied")

    with made.open() as m:
        before = m.catalogue().warnings
        m.repair_trust()
        after = m.catalogue().warnings

    assert (1, []) == (len(before), after)
