"""What a skill needs before it can work, and who gets which secret (HE-5, HE-13, HE-18…HE-21, HE-24, CX-50, ZE-42)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from conformance.folders import body, cards, only, run, skill, write

from metier.cli import main
from metier.run import needs

if TYPE_CHECKING:
    from conformance.folders import Place

    from metier.run.needs import Ask

VALUE = "planted-e2b7"
HERMES = """required_environment_variables:
  - {name: STORM_KEY, prompt: The key, help: 'https://storm.example', required_for: forecasts}
required_credential_files: [storm/token.json]
prerequisites: {commands: [stormctl]}
"""


def give(_ask: Ask) -> str:
    return VALUE


def nothing(_ask: Ask) -> None:
    return None


# --- HE-5: variables, files and commands


@pytest.mark.rows("HE-5")
def test_variables_files_and_commands_are_all_checked(place: Place) -> None:
    skill(place.root / "storm", fields=HERMES)
    missing = {
        "env": ["STORM_KEY"],
        "files": ["storm/token.json"],
        "commands": ["stormctl"],
        "tools": [],
    }

    before = place.open().prepare("storm")
    place.env["STORM_KEY"] = VALUE
    write(place.home / "storm" / "token.json", "{}")
    write(place.base / "bin" / "stormctl", "#!/bin/sh\n", executable=True)
    after = place.open().prepare("storm")

    assert ("setup_needed", missing) == (before.readiness, before.missing)
    assert ("available", False) == (after.readiness, any(after.missing.values()))


@pytest.mark.rows("HE-5")
def test_a_missing_variable_is_captured_and_a_skipped_one_leaves_setup_needed(
    place: Place,
) -> None:
    skill(place.root / "storm", fields="required_environment_variables: [STORM_KEY]\n")
    library = place.open()

    skipped = library.setup("storm", nothing)
    library.begin_session()
    given = library.setup("storm", give)

    assert ("setup_needed", ["STORM_KEY"], []) == (
        skipped.readiness,
        skipped.skipped,
        skipped.stored,
    )
    assert ("available", [], ["STORM_KEY"]) == (given.readiness, given.skipped, given.stored)


@pytest.mark.rows("HE-5")
def test_a_variable_that_is_set_is_passed_on_to_the_skill_that_declares_it(
    place: Place,
) -> None:
    skill(place.root / "storm", fields="required_environment_variables: [STORM_KEY]\n")
    skill(place.root / "calm")
    place.env |= {"STORM_KEY": VALUE, "OTHER_KEY": "other"}
    library = place.open()

    assert {"STORM_KEY": VALUE} == needs.environment_of(library.context, "storm")
    assert {} == needs.environment_of(library.context, "calm")


# --- HE-13: a gate is a gate, whatever else is missing


@pytest.mark.rows("HE-13")
def test_on_another_platform_a_skill_is_unsupported_and_not_merely_unready(
    place: Place,
) -> None:
    skill(place.root / "storm", fields=f"platforms: [windows]\n{HERMES}")
    library = place.open()
    library.context.platform = "linux"

    assert ("unsupported", "hidden") == (library.prepare("storm").readiness, only(library).state)


@pytest.mark.rows("HE-13")
@pytest.mark.parametrize(
    ("platform", "readiness"),
    [("linux", "available"), ("android", "available"), ("win32", "unsupported")],
)
def test_termux_counts_as_linux(platform: str, readiness: str, place: Place) -> None:
    skill(place.root / "storm", fields="platforms: [linux]\n")
    library = place.open()
    library.context.platform = platform

    assert readiness == library.prepare("storm").readiness


@pytest.mark.rows("HE-13")
def test_an_environment_is_about_offering_and_says_nothing_of_readiness(
    place: Place,
) -> None:
    skill(place.root / "storm", fields="environments: [kanban]\n")
    library = place.open()

    assert ("hidden", "available") == (only(library).state, library.prepare("storm").readiness)


# --- HE-18: readiness as a view and a preparation tell it


@pytest.mark.rows("HE-18")
def test_a_view_and_a_preparation_agree_on_what_is_missing(place: Place) -> None:
    skill(place.root / "storm", fields=HERMES)
    library = place.open()

    seen, found = body(library, "storm"), library.prepare("storm")

    assert (seen.readiness, seen.missing, seen.setup_help, seen.digest) == (
        found.readiness,
        found.missing,
        found.setup_help,
        found.digest,
    )
    assert "STORM_KEY: https://storm.example" == found.setup_help
    assert ("The key", "forecasts") == (found.asks[0].prompt, found.asks[0].required_for)


@pytest.mark.rows("HE-18")
def test_setup_that_was_skipped_is_told_as_such(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    skill(place.root / "storm", fields=HERMES)

    code, document = run(
        capsys, monkeypatch, place, "setup", "storm", "--skip", "--root", str(place.root)
    )

    assert (1, "setup_needed", ["STORM_KEY"]) == (code, document["readiness"], document["skipped"])
    assert ["stormctl"] == document["missing"]["commands"]


# --- HE-19: how declarations are merged, and which value counts


@pytest.mark.rows("HE-19")
def test_variables_of_three_places_are_merged_and_the_first_declaration_wins(
    place: Place,
) -> None:
    fields = """required_environment_variables: [A_KEY, {env_var: B_KEY, provider_url: 'https://b', optional: true}, 1BAD]
setup: {collect_secrets: [{env_var: B_KEY, prompt: Never}, {env_var: C_KEY, prompt: Third, secret: false}]}
prerequisites: {env_vars: [C_KEY, D_KEY]}
"""
    skill(place.root / "storm", fields=fields)

    found = place.open().prepare("storm")

    assert ["A_KEY", "B_KEY", "C_KEY", "D_KEY"] == [ask.name for ask in found.asks]
    assert [("", True, True), ("Third", False, False)] == [
        (ask.prompt, ask.secret, ask.optional) for ask in found.asks[1:3]
    ]
    assert ["A_KEY", "C_KEY", "D_KEY"] == found.missing["env"]


@pytest.mark.rows("HE-19")
def test_what_is_kept_wins_over_the_process_and_an_empty_value_is_missing(
    place: Place,
) -> None:
    skill(place.root / "storm", fields="required_environment_variables: [A_KEY, B_KEY]\n")
    place.env |= {"A_KEY": "of the process", "B_KEY": "of the process"}
    needs.keep(place.open().context, "A_KEY", VALUE, "file")
    file = place.base / "state" / "secrets" / "values.env"
    file.write_text(file.read_text() + "B_KEY=\n")
    library = place.open()

    assert {"A_KEY": VALUE} == needs.environment_of(library.context, "storm")
    assert ["B_KEY"] == library.prepare("storm").missing["env"]


# --- HE-20, HE-21, easily missed 11: what no declaration gets


@pytest.mark.rows("HE-20", "MT-15", "easily missed 11")
def test_no_declaration_gets_the_host_s_provider_credentials(
    place: Place,
) -> None:
    skill(
        place.root / "storm",
        fields="required_environment_variables: [ANTHROPIC_API_KEY, STORM_KEY]\n",
    )
    place.env |= {"ANTHROPIC_API_KEY": VALUE, "STORM_KEY": "its own"}
    library = place.open()

    found = library.prepare("storm")

    assert {"STORM_KEY": "its own"} == needs.environment_of(library.context, "storm")
    assert (["ANTHROPIC_API_KEY"], ["ANTHROPIC_API_KEY"]) == (
        [name for name, _why in found.refused],
        found.missing["env"],
    )
    assert ["STORM_KEY"] == library.plan_run("storm", "x.py").environment


@pytest.mark.rows("HE-20", "MT-16")
def test_what_a_session_was_given_ends_with_it(place: Place) -> None:
    skill(place.root / "storm", fields="required_environment_variables: [STORM_KEY]\n")
    library = place.open()
    library.setup("storm", give)
    during = needs.environment_of(library.context, "storm")

    library.begin_session()

    assert ({"STORM_KEY": VALUE}, {}) == (during, needs.environment_of(library.context, "storm"))
    assert not (place.base / "state" / "secrets").exists()


@pytest.mark.rows("HE-21", "easily missed 11")
@pytest.mark.parametrize("path", ["/etc/hostname", "../outside", "way-out"])
def test_a_credential_file_lies_inside_home_or_does_not_count(path: str, place: Place) -> None:
    skill(place.root / "storm", fields=f"required_credential_files: ['{path}', inside.json]\n")
    write(place.base / "outside", "{}")
    write(place.home / "inside.json", "{}")
    (place.home / "way-out").symlink_to(place.base / "outside")

    found = place.open().prepare("storm")

    assert ([path], [False, True]) == (found.missing["files"], [file.there for file in found.files])


# --- HE-24: tools, where it is known which there are


@pytest.mark.rows("HE-24")
@pytest.mark.parametrize(
    ("config", "missing"),
    [
        ("", []),
        ("tools = []\nmcp_servers = []\n", ["browser", "docs"]),
        ('tools = ["browser"]\nmcp_servers = ["docs"]\n', []),
    ],
)
def test_without_word_of_the_agent_s_tools_none_is_missing(
    config: str, missing: list[str], place: Place
) -> None:
    skill(place.root / "storm", fields="requires: {tools: [browser], mcp: [docs]}\n")
    place.configure(config)

    assert missing == place.open().prepare("storm").missing["tools"]


# --- CX-50: dependencies of the sidecar


SIDECAR = json.dumps(
    {
        "dependencies": {
            "tools": [
                {"type": "env_var", "value": "STORM_KEY", "description": "The key"},
                {"type": "cli", "value": "stormctl", "description": "Its command"},
                {"type": "mcp", "value": "docs", "url": "https://docs.example"},
                {"type": "mcp", "value": "own", "transport": "stdio", "command": "own"},
            ]
        }
    }
)


@pytest.mark.rows("CX-50")
def test_a_sidecar_s_variable_is_asked_for_once_and_kept_in_memory_alone(
    place: Place,
) -> None:
    skill(place.root / "storm", files={"agents/openai.yaml": SIDECAR})
    library = place.open()
    asked: list[str] = []

    def ask(one: Ask) -> str:
        asked.append(one.prompt)
        return VALUE

    library.setup("storm", ask)
    library.setup("storm", ask)

    assert ["The key"] == asked
    assert ({"STORM_KEY": VALUE}, {"STORM_KEY": VALUE}) == (
        library.context.session.secrets,
        needs.environment_of(library.context, "storm"),
    )
    assert not (place.base / "state" / "secrets").exists()
    assert [] == [
        path
        for path in place.base.rglob("*")
        if path.is_file() and VALUE.encode() in path.read_bytes()
    ]
    assert {} == needs.environment_of(place.open().context, "storm")


@pytest.mark.rows("CX-50")
def test_a_sidecar_s_variable_that_was_skipped_is_not_asked_for_again(
    place: Place,
) -> None:
    skill(place.root / "storm", files={"agents/openai.yaml": SIDECAR})
    library = place.open()
    asked: list[str] = []

    def ask(one: Ask) -> None:
        asked.append(one.prompt)

    first, second = library.setup("storm", ask), library.setup("storm", ask)

    assert (["The key"], ["STORM_KEY"], ["STORM_KEY"]) == (asked, first.skipped, second.skipped)
    assert {} == needs.environment_of(library.context, "storm")


@pytest.mark.rows("CX-50")
def test_a_sidecar_s_servers_have_identities_and_are_offered_once(place: Place) -> None:
    skill(place.root / "storm", files={"agents/openai.yaml": SIDECAR})
    place.configure('mcp_servers = ["mcp__streamable_http__https://docs.example"]\n')
    library = place.open()

    first, second = library.setup("storm", nothing), library.setup("storm", nothing)

    assert ["mcp__streamable_http__https://docs.example", "mcp__stdio__own"] == [
        server.identity for server in first.servers
    ]
    assert ["own"] == first.missing["tools"]
    assert ([False, True], [False, False]) == (
        [s.offer for s in first.servers],
        [s.offer for s in second.servers],
    )


@pytest.mark.rows("CX-50")
def test_a_missing_server_is_offered_in_words_and_nothing_is_written(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Writing an agent's MCP configuration, and looking at its policy once more before that, is the host's part: it alone knows
    # whether somebody chose to install or to go on. The offer, its identity and that it is made once are metier's.
    skill(place.root / "storm", files={"agents/openai.yaml": SIDECAR})
    place.configure('mcp_servers = ["docs"]\n')
    monkeypatch.setattr("os.environ", place.env)

    main.main(["setup", "storm", "--skip", "--root", str(place.root)])
    told = capsys.readouterr().out

    assert (
        "MCP server own (mcp__stdio__own) is missing: add it to the agent's MCP configuration, or go on without it\n"
        in told
    )
    assert "docs.example" not in told


@pytest.mark.rows("CX-50")
def test_a_sidecar_s_command_is_information(place: Place) -> None:
    skill(place.root / "storm", files={"agents/openai.yaml": SIDECAR})

    found = place.open().prepare("storm")

    assert ([], True) == (found.missing["commands"], "stormctl: Its command" in found.setup_help)


# --- ZE-42: secrets of a skill's own


@pytest.mark.rows("ZE-42")
def test_a_skill_s_secrets_are_its_own_and_come_without_the_prefix(place: Place) -> None:
    skill(place.root / "storm", fields="x-requires-secrets: storm-key\n")
    skill(place.root / "wind", fields="x-requires-secrets: [wind_key]\n")
    place.env |= {"ZEPH_SECRET_STORM_KEY": VALUE, "ZEPH_SECRET_WIND_KEY": "wind"}
    library = place.open()

    assert {"STORM_KEY": VALUE} == needs.environment_of(library.context, "storm")
    assert {"WIND_KEY": "wind"} == needs.environment_of(library.context, "wind")


@pytest.mark.rows("ZE-42", "MT-15")
def test_a_skill_that_lacks_a_secret_is_shown_unless_the_user_wants_it_hidden(
    place: Place,
) -> None:
    skill(place.root / "storm", fields="x-requires-secrets: storm-key\n")
    shown = only(place.open())
    place.configure("hide_unready = true\n")
    library = place.open()
    hidden = only(library)

    library.setup("storm", give)

    assert [("visible", "setup_needed"), ("hidden", "setup_needed")] == [
        (card.state, card.readiness) for card in (shown, hidden)
    ]
    assert [("visible", "available")] == [(card.state, card.readiness) for card in library.skills()]


@pytest.mark.rows("ZE-42")
def test_a_hidden_skill_is_missing_to_those_that_need_it(place: Place) -> None:
    skill(place.root / "storm", fields="x-requires-secrets: storm-key\n")
    skill(place.root / "report", fields="requires_skills: [storm]\n")
    place.configure("hide_unready = true\n")
    library = place.open()
    before = cards(library)["report"].state

    library.setup("storm", give)

    assert ("hidden", "visible") == (before, cards(library)["report"].state)


@pytest.mark.rows("ZE-42")
def test_a_skill_that_is_hidden_for_want_of_something_is_still_meant_by_its_name(
    place: Place,
) -> None:
    folder = skill(place.root / "storm", fields="x-requires-secrets: storm-key\n")
    place.configure("hide_unready = true\n")
    library = place.open()

    found = library.why("storm")

    assert (str(folder), "hidden") == (found.chosen, found.candidates[0].state)
    assert [
        "hidden because it is not ready, and still meant by its name",
        "needs env STORM_KEY",
    ] == [reason.partition(" (")[0] for reason in found.candidates[0].reasons[:2]]
    assert "storm" in library.expand("/storm now").message


# --- what a message says of it (HE-27's setup note)


@pytest.mark.rows("HE-27")
@pytest.mark.parametrize(
    ("fields", "told", "suggests"),
    [
        ("required_environment_variables: [STORM_KEY]\n", "still needs env STORM_KEY.", True),
        (
            "required_environment_variables: [GROQ_API_KEY]\n",
            "still needs env GROQ_API_KEY, which is never given (it belongs to",
            False,
        ),
        (
            "compatibility: macOS only\n",
            "may not work here: it says that it is for macos, and this is linux.",
            False,
        ),
    ],
)
def test_a_message_says_what_is_missing_and_suggests_only_what_helps(
    fields: str, told: str, suggests: bool, place: Place
) -> None:
    skill(place.root / "storm", fields=fields)
    library = place.open()
    library.context.platform = "linux"

    text = library.expand("/storm now").message

    assert (True, suggests) == (told in text, "metier setup" in text)


# --- MT-16: where a secret lives


@pytest.mark.rows("MT-16")
def test_a_secret_lives_in_the_session_unless_a_store_is_named(place: Place) -> None:
    skill(place.root / "storm", fields="required_environment_variables: [STORM_KEY]\n")
    library = place.open()
    library.setup("storm", give)
    plain = library.vault().kind_of("STORM_KEY")
    place.configure('[secrets]\nstore = "file"\n')
    other = place.open()

    other.setup("storm", give)

    assert ("session", "file") == (plain, other.vault().kind_of("STORM_KEY"))
    assert "available" == only(place.open()).readiness
