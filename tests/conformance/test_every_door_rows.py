"""What every door says in the same words: of skills that are not offered here, and of a search that was cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from conformance.folders import Place, body, run, skill
from fakes.connected import ask, talk

from metier import NotFoundError, tools

if TYPE_CHECKING:
    from mcp.client.client import Client

    import metier

WHY = {
    "environments: [docker]\n": "environments = docker, and none of them is set",
    "metadata:\n  hermes:\n    requires_tools: [loom]\n": (
        "it requires the tools loom, which the agent does not have"
    ),
    "metadata:\n  hermes:\n    requires_toolsets: [web]\n": (
        "it requires the toolsets web, which the agent does not have"
    ),
    "metadata:\n  hermes:\n    fallback_for_tools: [shell]\n": (
        "it is a fallback for the tools shell, which the agent has"
    ),
}
"""What a skill says of itself, and the reason that follows."""


def library(place: Place, fields: str) -> metier.Library:
    """Open a library with one skill that isn't offered."""
    place.configure("tools = ['shell']\ntoolsets = []\n")
    skill(place.home / ".agents/skills/weave", fields=fields, body="Mind the selvage.\n")
    return place.scopes()


def note(why: str) -> str:
    """Give the words that every door says."""
    return f"'weave' is not offered here: {why}; you can still use it by name"


@pytest.mark.parametrize(("fields", "why"), WHY.items())
def test_a_skill_that_is_not_offered_here_is_given_to_whoever_names_it_with_the_reason(
    place: Place, fields: str, why: str
) -> None:
    """HE-13, HE-24: what only decides about the offer never stops an explicit load."""
    said: dict[str, str] = {}
    for door in ("view", "load", "/weave", "$weave", "preload", "skill_view", "load_skill"):
        m = library(place, fields)
        if door == "view":
            assert "Mind the selvage.\n" == body(m, "weave").content
            said[door] = m.context.warnings[0]
        elif door == "load":
            assert "Mind the selvage." in m.load("weave").text
            said[door] = m.context.warnings[0]
        elif door == "preload":
            given = m.preload(["weave"])
            assert "Mind the selvage." in given.prompt
            said[door] = "".join(given.warnings)
        elif door[0] in "/$":
            expanded = m.expand(f"{door} it")
            assert "Mind the selvage." in expanded.message
            said[door] = "".join(expanded.warnings)
        else:
            answer = tools.call(m, door, {"name": "weave"})
            assert "Mind the selvage." in answer["content"]
            said[door] = answer["note"]
        m.close()

    assert dict.fromkeys(said, note(why)) == said


@pytest.mark.parametrize(("fields", "why"), WHY.items())
def test_the_server_gives_a_skill_that_is_not_offered_here_with_the_same_words(
    place: Place, fields: str, why: str
) -> None:
    """HE-13: the MCP server follows the rule of all doors."""
    found: list[object] = []

    async def use(client: Client) -> None:
        listed = await ask(client, "prompts/list")
        answer = await client.call_tool("load_skill", {"name": "weave"})
        prompt = await ask(client, "prompts/get", name="weave", arguments={})
        told = answer.structured_content or {}
        texts = [part.text for part in answer.content if part.type == "text"]
        found.extend(
            (
                listed["prompts"],
                told["note"],
                texts[1],
                "Mind the selvage." in texts[0],
                "Mind the selvage." in str(prompt),
            )
        )

    talk(library(place, fields), use)

    assert [[], note(why), note(why), True, True] == found


def test_the_list_and_why_say_the_reason_of_a_skill_that_is_not_offered(place: Place) -> None:
    """HE-13: nobody is told of it, and whoever asks why learns it in the same words."""
    fields, why = next(iter(WHY.items()))
    m = library(place, fields)

    (card,) = m.skills(all=True)
    told = m.why("weave")

    assert ([], "hidden", "offer") == (m.skills(), card.state, card.held)
    assert card.path == told.chosen
    assert f"'weave' is {card.reasons[0]}" == note(why)
    assert card.reasons[0] in told.candidates[0].reasons


def test_a_name_means_a_copy_that_is_offered_before_one_that_is_not(place: Place) -> None:
    """HE-13: a name means what is offered; without that, what is free to use."""
    skill(place.root / "a/weave", fields="environments: [docker]\n", body="Docker.\n")
    alone = body(place.open(), "weave").content
    skill(place.root / "b/weave", body="Anywhere.\n")

    assert ("Docker.\n", "Anywhere.\n") == (alone, body(place.open(), "weave").content)


def test_what_its_author_keeps_from_models_stays_so_in_another_environment(place: Place) -> None:
    """HE-13, CX-49: the stricter of the two counts."""
    m = library(place, "environments: [docker]\ndisable-model-invocation: true\n")

    answer = tools.call(m, "load_skill", {"name": "weave"})

    assert (False, "hidden") == (answer["success"], answer["error"]["code"])


def test_a_skill_of_an_unknown_project_still_waits_for_a_yes_when_it_is_not_offered(
    place: Place,
) -> None:
    """HE-13: that a skill may be named says nothing about trust."""
    skill(place.project / ".agents/skills/weave", fields="environments: [docker]\n")
    m = place.scopes()

    answers = [tools.call(m, tool, {"name": "weave"}) for tool in ("skill_view", "load_skill")]

    assert [(False, "ask")] * 2 == [(one["success"], one["error"]["code"]) for one in answers]


@pytest.mark.parametrize(
    ("fields", "config", "why"),
    [
        ("platforms: [beos]\n", "", "gate: platforms = beos, and this is "),
        ("", "[skills]\ndisabled = ['weave']\n", "disabled: skills.disabled in the configuration"),
    ],
)
def test_a_mention_of_what_nobody_can_hand_over_says_why_as_a_command_does(
    place: Place, fields: str, config: str, why: str
) -> None:
    """HE-13: `platforms` always applies, and no door is silent about it."""
    place.configure(config)
    skill(place.home / ".agents/skills/weave", fields=fields, body="Mind the selvage.\n")

    typed, mentioned = (place.scopes().expand(text) for text in ("/weave it", "Use $weave now."))
    preloaded = place.scopes().preload(["weave"])

    assert why in typed.warnings[0]
    assert [typed.warnings] * 2 == [mentioned.warnings, preloaded.warnings]
    assert [["weave"]] * 3 == [typed.missing, mentioned.missing, preloaded.missing]
    assert "Use $weave now." == mentioned.message


# --- what nobody could find


def crowded(place: Place) -> metier.Library:
    """Open a library, as Codex does, in whose folder there is more than Codex looks at."""
    for number in range(2005):
        (place.root / f"f{number:04}").mkdir()
    skill(place.root / "aa-first")
    skill(place.root / "zz-last")
    return place.open(agent="codex")


def test_every_door_says_that_the_search_for_skills_was_cut(place: Place) -> None:
    """CX-3: a skill that was not looked at is never silently absent."""
    m = crowded(place)
    cut = f"{place.root}: WK007 Stopped after 2,000 folders."

    (problem,) = m.problems()
    m.find("first")
    answers = [
        tools.call(m, "skills_list", {})["hint"],
        tools.call(m, "skill_view", {"name": "zz-last"})["error"]["hint"],
        *m.catalogue().warnings,
        *m.context.warnings,
    ]
    for look in (m.view, m.why, m.load):
        with pytest.raises(NotFoundError) as error:
            look("zz-last")
        answers.append(error.value.hint)

    assert (str(place.root), "WK007") == (problem.path, problem.code)
    assert [f"skills may be missing: {cut}"] * 7 == [one.rpartition("; ")[2] for one in answers]


def test_the_server_says_that_the_search_for_skills_was_cut(place: Place) -> None:
    """CX-3: and so does a search over MCP."""
    found: list[str] = []

    async def use(client: Client) -> None:
        searched = await client.call_tool("search_skills", {"query": "first"})
        missed = await client.call_tool("load_skill", {"name": "zz-last"})
        found.append((searched.structured_content or {})["warning"])
        found.append((missed.structured_content or {})["error"]["hint"])

    talk(crowded(place), use)

    assert [True, True] == ["WK007 Stopped after 2,000 folders." in one for one in found]


def test_the_list_names_a_cut_once(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """CX-3: errors and what was cut are two fields."""
    crowded(place).close()

    code, listed = run(
        capsys, monkeypatch, place, "list", "--all", "--root", str(place.root), "--agent", "codex"
    )

    assert (0, [], ["WK007"]) == (
        code,
        listed["errors"],
        [one["code"] for one in listed["truncated"]],
    )
