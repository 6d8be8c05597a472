"""What `--agent` shows, from the command line: the faults that users met when an agent saw something else than metier said."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from doors.command import run

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home, Writer


@pytest.fixture
def project(home: Home, tmp_path: Path) -> Path:
    """Give a trusted project."""
    made = tmp_path / "project"
    (made / ".git").mkdir(parents=True)
    assert 0 == run(home.env, "trust", "project", "--yes", cwd=made).code
    return made


def names(home: Home, cwd: Path, agent: str, *more: str) -> list[str]:
    """Give the names that `list --agent` shows."""
    answer = run(home.env, "list", "--agent", agent, "--json", *more, cwd=cwd)
    assert 0 == answer.code, answer
    return sorted(card["name"] for card in answer.json["skills"])


def reasons(home: Home, cwd: Path, agent: str, name: str) -> str:
    """Give all that `why --agent` says about a name."""
    found = run(home.env, "why", name, "--agent", agent, "--json", cwd=cwd).json
    return "\n".join(reason for choice in found["candidates"] for reason in choice["reasons"])


@pytest.mark.parametrize("agent", ["opencode", "cursor"])
def test_the_users_shared_folders_are_read(
    home: Home, project: Path, skill: Writer, agent: str
) -> None:
    skill("home/.agents/skills/shared")
    skill("home/.claude/skills/of-claude")

    assert ["of-claude", "shared"] == names(home, project, agent)


def test_cursor_reads_the_folders_of_codex_too(home: Home, project: Path, skill: Writer) -> None:
    skill("home/.codex/skills/of-codex")
    skill("project/.codex/skills/of-the-project")

    assert ["of-codex", "of-the-project"] == names(home, project, "cursor")


def test_gemini_reads_the_working_folder_and_none_above_it(
    home: Home, project: Path, skill: Writer
) -> None:
    skill("project/.gemini/skills/above")
    skill("project/sub/.gemini/skills/here")

    assert ["here"] == names(home, project / "sub", "gemini-cli")
    assert ["above"] == names(home, project, "gemini-cli")


def test_claude_code_calls_a_skill_by_its_folder_and_offers_the_persons_then_the_nearest(
    home: Home, project: Path, skill: Writer
) -> None:
    skill("home/.claude/skills/one", name="other")
    for folder in ("project", "project/sub"):
        skill(f"{folder}/.claude/skills/one")
        skill(f"{folder}/.claude/skills/two")

    listed = run(home.env, "list", "--agent", "claude-code", "--json", cwd=project / "sub")

    found = {card["name"]: card["path"] for card in listed.json["skills"]}
    assert 2 == len(listed.json["skills"])
    assert str(home.path / ".claude/skills/one") in found["one"]
    assert str(project / "sub/.claude/skills/two") in found["two"]


@pytest.mark.parametrize("said", ["true", "Yes", "on", "1", "'yes'"])
def test_claude_code_takes_any_yes_for_one(
    home: Home, project: Path, skill: Writer, said: str
) -> None:
    head = (
        "---\nname: {}\ndescription: Does one thing.\ndisable-model-invocation: {}\n---\n\nBody.\n"
    )
    skill("home/.claude/skills/closed", text=head.format("closed", said))
    skill("home/.claude/skills/open", text=head.format("open", "y"))

    assert ["open"] == names(home, project, "claude-code")


def test_claude_code_loads_dot_folders_linked_files_and_files_without_frontmatter(
    home: Home, project: Path, skill: Writer
) -> None:
    skill("project/.claude/skills/.dotted", name="dotted")
    skill("project/.claude/skills/bare", text="# No frontmatter\n\nWords.\n")
    skill("project/store/linked")
    (project / ".claude/skills/linked").mkdir()
    os.symlink(project / "store/linked/SKILL.md", project / ".claude/skills/linked/SKILL.md")
    skill("project/.claude/skills/category/nested")

    assert [".dotted", "bare", "linked"] == names(home, project, "claude-code")
    assert "looks 1 level deep" in reasons(home, project, "claude-code", "nested")


def test_claude_code_describes_a_bare_file_by_its_first_line(
    home: Home, project: Path, skill: Writer
) -> None:
    skill("home/.claude/skills/bare", text="# Water the plants\n")

    found = run(home.env, "list", "--agent", "claude-code", "--json", cwd=project).json["skills"]

    assert [("bare", "Water the plants")] == [(card["name"], card["description"]) for card in found]


def test_a_file_outside_that_a_projects_link_leads_to_is_listed_and_never_read(
    home: Home, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "private.md").write_text(
        "---\nname: x\ndescription: planted-5c1\n---\n\nplanted-5c1\n"
    )
    (project / ".claude/skills/trap").mkdir(parents=True)
    os.symlink(tmp_path / "private.md", project / ".claude/skills/trap/SKILL.md")

    for words in (("list", "--json"), ("list", "--all"), ("prompt",), ("why", "trap")):
        answer = run(home.env, *words, "--agent", "claude-code", cwd=project)

        assert "planted-5c1" not in answer.out + answer.err
    assert ["trap"] == names(home, project, "claude-code")
    assert [] == names(home, project, "opencode")


def test_claude_code_leaves_out_what_waits_for_a_person_or_a_path(
    home: Home, project: Path, skill: Writer
) -> None:
    head = "---\nname: {}\ndescription: Does one thing.\n{}\n---\n\nBody.\n"
    skill(
        "project/.claude/skills/manual",
        text=head.format("manual", "disable-model-invocation: true"),
    )
    skill("project/.claude/skills/rust", text=head.format("rust", "paths: ['*.rs']"))
    skill("project/.claude/skills/all", text=head.format("all", "paths: ['**']"))

    assert ["all"] == names(home, project, "claude-code")
    assert "'paths'" in reasons(home, project, "claude-code", "rust")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("bom", "\ufeff---\nname: bom\ndescription: Does it.\n---\n", "no frontmatter"),
        ("mute", "---\nname: mute\n---\n\nBody.\n", "no description"),
        ("early", "\n---\nname: early\ndescription: Does it.\n---\n", "no frontmatter"),
    ],
)
def test_codex_does_not_load_what_it_cannot_read(
    home: Home, project: Path, skill: Writer, name: str, text: str, said: str
) -> None:
    skill(f"project/.agents/skills/{name}", text=text)

    assert [] == names(home, project, "codex")
    assert f"Codex does not load it: it {'finds' if 'front' in said else 'has'} {said}" in reasons(
        home, project, "codex", name
    )
    assert [name] == [
        card["name"] for card in run(home.env, "list", "--json", cwd=project).json["skills"]
    ]


def test_codex_offers_what_only_other_agents_keep_from_their_models(
    home: Home, project: Path, skill: Writer
) -> None:
    head = (
        "---\nname: manual\ndescription: Does it.\ndisable-model-invocation: true\n---\n\nBody.\n"
    )
    skill("project/.agents/skills/manual", text=head)

    assert ["manual"] == names(home, project, "codex")
    assert [] == [
        card["name"] for card in run(home.env, "list", "--json", cwd=project).json["skills"]
    ]


def test_codex_loads_neither_flat_files_nor_lower_case_ones(
    home: Home, project: Path, skill: Writer
) -> None:
    folder = skill("project/.agents/skills/lower")
    (folder / "SKILL.md").rename(folder / "skill.md")
    (folder.parent / "flat.md").write_text("---\nname: flat\ndescription: Does it.\n---\n\nBody.\n")

    assert [] == names(home, project, "codex")
    assert "its file is called skill.md" in reasons(home, project, "codex", "lower")
    assert "it is a flat file" in reasons(home, project, "codex", "flat")


@pytest.mark.parametrize("agent", ["", "codex", "opencode", "hermes"])
def test_a_stray_skill_file_in_a_root_hides_no_linked_skill(
    home: Home, project: Path, skill: Writer, tmp_path: Path, agent: str
) -> None:
    folder = ".hermes" if agent == "hermes" else ".agents"
    skill("store/linked")
    skill(f"home/{folder}/skills/plain")
    skill(f"home/{folder}/skills", name="stray")
    os.symlink(tmp_path / "store/linked", tmp_path / f"home/{folder}/skills/linked")
    words = ("--agent", agent) if agent else ()

    found = run(home.env, "list", "--json", *words, cwd=project).json["skills"]

    assert {"linked", "plain"} <= {card["name"] for card in found}


# --- what its own configuration says


@pytest.mark.parametrize(
    ("agent", "folder", "file", "text"),
    [
        ("codex", ".agents", ".codex/config.toml", '[[skills.config]]\nname = "out"\nenabled = false\n'),
        ("gemini-cli", ".agents", ".gemini/settings.json", '{"skills": {"disabled": ["out"],}} // off\n'),
        ("claude-code", ".claude", ".claude/settings.json", '{"skillOverrides": {"out": "off"}}'),
        ("opencode", ".agents", ".config/opencode/opencode.json", '{"permission": {"skill": {"ou*": "deny"}}}'),
        ("hermes", ".hermes", ".hermes/config.yaml", "skills:\n  disabled: [out]\n"),
    ],
)  # fmt: skip
def test_what_an_agent_has_switched_off_is_off_and_the_file_is_named(
    home: Home, project: Path, skill: Writer, agent: str, folder: str, file: str, text: str
) -> None:
    skill(f"home/{folder}/skills/out")
    skill(f"home/{folder}/skills/inside")
    before = names(home, project, agent)
    target = home.path / file
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)

    assert (["inside", "out"], ["inside"]) == (before, names(home, project, agent))
    assert str(target) in reasons(home, project, agent, "out")
    assert text == target.read_text()


@pytest.mark.parametrize("variable", ["HERMES_PLATFORM", "HERMES_SESSION_PLATFORM"])
def test_hermes_lists_what_is_on_for_the_platform_that_a_variable_names(
    home: Home, project: Path, skill: Writer, variable: str
) -> None:
    skill("home/.hermes/skills/loud")
    skill("home/.hermes/skills/quiet")
    config = home.path / ".hermes/config.yaml"
    config.write_text("skills:\n  platform_disabled:\n    telegram: [loud]\n")
    before = names(home, project, "hermes")
    home.env[variable] = "telegram"

    assert (["loud", "quiet"], ["quiet"]) == (before, names(home, project, "hermes"))
    assert str(config) in reasons(home, project, "hermes", "loud")


@pytest.mark.parametrize(("said", "seen"), [("true", ["mine", "shipped"]), ("false", ["mine"])])
def test_what_codex_ships_is_listed_unless_its_configuration_turns_it_off(
    home: Home, project: Path, skill: Writer, said: str, seen: list[str]
) -> None:
    skill("home/.codex/skills/.system/shipped")
    skill("home/.agents/skills/mine")
    (home.path / ".codex/config.toml").write_text(f"[skills.bundled]\nenabled = {said}\n")

    assert seen == names(home, project, "codex")


@pytest.mark.parametrize(
    ("said", "seen"),
    [
        ({"permission": {"skill": "deny"}}, []),
        ({"permission": "deny"}, []),
        ({"permission": {"*": "deny"}}, []),
        ({"permission": {"*": "deny", "skill": {"one": "allow"}}}, ["one"]),
        ({"permission": {"skill": "ask"}}, ["one", "two"]),
        ({"permission": {"bash": "deny"}}, ["one", "two"]),
    ],
)
def test_opencode_lists_nothing_that_its_permissions_deny(
    home: Home, project: Path, skill: Writer, said: object, seen: list[str]
) -> None:
    skill("home/.agents/skills/one")
    skill("home/.agents/skills/two")
    config = home.path / ".config/opencode/opencode.json"
    config.parent.mkdir(parents=True)
    config.write_text(json.dumps(said))

    assert seen == names(home, project, "opencode")


@pytest.mark.parametrize(
    "file",
    [
        "home/.config/opencode/config.json",
        "home/.opencode/opencode.json",
        "home/.opencode/opencode.jsonc",
        "project/.opencode/opencode.jsonc",
        "named.json",
        "dir/opencode.json",
    ],
)
def test_opencode_reads_each_of_its_configuration_files(
    home: Home, project: Path, skill: Writer, tmp_path: Path, file: str
) -> None:
    skill("more/extra")
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(json.dumps({"skills": {"paths": [str(tmp_path / "more")]}}))
    home.env["OPENCODE_CONFIG"] = str(tmp_path / "named.json")
    home.env["OPENCODE_CONFIG_DIR"] = str(tmp_path / "dir")

    assert ["extra"] == names(home, project, "opencode")


@pytest.mark.parametrize(
    ("variable", "value", "seen"),
    [
        ("OPENCODE_DISABLE_CLAUDE_CODE", "1", ["agents", "own"]),
        ("OPENCODE_DISABLE_CLAUDE_CODE_SKILLS", "true", ["agents", "own"]),
        ("OPENCODE_DISABLE_CLAUDE_CODE_SKILLS", "0", ["agents", "claude", "own"]),
        ("OPENCODE_DISABLE_EXTERNAL_SKILLS", "1", ["own"]),
    ],
)
def test_variables_keep_opencode_from_the_folders_of_others(
    home: Home, project: Path, skill: Writer, variable: str, value: str, seen: list[str]
) -> None:
    skill("home/.claude/skills/claude")
    skill("project/.agents/skills/agents")
    skill("home/.opencode/skills/own")
    home.env[variable] = value

    assert seen == names(home, project, "opencode")


def test_opencode_reads_the_folder_that_a_variable_names(
    home: Home, project: Path, skill: Writer, tmp_path: Path
) -> None:
    skill("dir/skills/there")
    skill("home/.opencode/skills/here")
    home.env["OPENCODE_CONFIG_DIR"] = str(tmp_path / "dir")

    assert ["here", "there"] == names(home, project, "opencode")


@pytest.mark.parametrize(
    ("agent", "seen"), [("gemini-cli", ["gamma"]), ("hermes", ["Beta", "alpha", "gamma"])]
)
def test_capitals_make_no_difference_to_an_agent_that_says_so(
    home: Home, project: Path, skill: Writer, agent: str, seen: list[str]
) -> None:
    folder = agent.partition("-")[0]
    for name in ("alpha", "Beta", "gamma"):
        skill(f"home/.{folder}/skills/{name}")
    said = '{"skills": {"disabled": ["ALPHA", "beta"]}}'  # JSON is YAML too
    (home.path / ".gemini").mkdir(exist_ok=True)
    (home.path / ".gemini/settings.json").write_text(said)
    (home.path / ".hermes").mkdir(exist_ok=True)
    (home.path / ".hermes/config.yaml").write_text(said)

    assert seen == names(home, project, agent)


def test_folders_that_an_agents_configuration_names_are_its_own(
    home: Home, project: Path, skill: Writer
) -> None:
    skill("home/extra/more")
    (home.path / ".hermes").mkdir()
    (home.path / ".hermes/config.yaml").write_text("skills:\n  external_dirs: [~/extra]\n")

    assert ["more"] == names(home, project, "hermes")
    assert [] == names(home, project, "codex")


def test_a_folder_that_a_strangers_project_names_waits_like_the_rest_of_it(
    home: Home, tmp_path: Path, skill: Writer
) -> None:
    skill("strange/near/one")
    (tmp_path / "strange/.git").mkdir()
    (tmp_path / "strange/opencode.json").write_text('{"skills": {"paths": ["near"]}}')
    words = ("list", "--agent", "opencode", "--json")

    before = run(home.env, *words, cwd=tmp_path / "strange").json["skills"]
    assert 0 == run(home.env, "trust", "project", "--yes", cwd=tmp_path / "strange").code
    after = run(home.env, *words, cwd=tmp_path / "strange").json["skills"]

    assert [[("one", "ask")], [("one", "visible")]] == [
        [(card["name"], card["state"]) for card in cards] for cards in (before, after)
    ]


@pytest.mark.parametrize("market", ["../../../../../strange/plug", "..", "a/b", "."])
def test_a_plugin_is_looked_for_below_the_cache_alone(
    home: Home, tmp_path: Path, skill: Writer, market: str
) -> None:
    skill("strange/plug/p/skills/evil")
    (home.path / ".claude").mkdir()
    (home.path / ".claude/settings.json").write_text(
        json.dumps({"enabledPlugins": {f"p@{market}": True}})
    )

    assert [] == names(home, tmp_path / "strange", "claude-code", "--all")


def test_a_projects_own_settings_only_switch_off(home: Home, project: Path, skill: Writer) -> None:
    skill("home/.claude/skills/off")
    skill("home/.claude/skills/on")
    place = "home/.claude/plugins/cache/m/p/1.0.0"
    skill(f"{place}/skills/plugged")
    (home.path / ".claude/settings.json").write_text('{"skillOverrides": {"off": "off"}}')
    (project / ".claude").mkdir()
    said = {"skillOverrides": {"off": "on", "on": "off"}, "enabledPlugins": {"p@m": True}}
    (project / ".claude/settings.json").write_text(json.dumps(said))

    assert [] == names(home, project, "claude-code")


def test_a_folder_written_short_belongs_to_where_one_stands(
    home: Home, tmp_path: Path, skill: Writer
) -> None:
    skill("strange/more/evil")
    (tmp_path / "strange/.git").mkdir()
    config = home.path / ".config/opencode/opencode.json"
    config.parent.mkdir(parents=True)
    config.write_text('{"skills": {"paths": ["more"]}}')

    found = run(home.env, "list", "--agent", "opencode", "--json", cwd=tmp_path / "strange").json

    assert [("evil", "ask")] == [(card["name"], card["state"]) for card in found["skills"]]


def test_no_link_leads_out_of_a_project_that_nobody_trusts(
    home: Home, tmp_path: Path, skill: Writer
) -> None:
    skill("home/private/mine", description="planted-5c2 of the user")
    (tmp_path / "strange/.git").mkdir(parents=True)
    (tmp_path / "strange/.claude/skills").mkdir(parents=True)
    os.symlink(home.path / "private/mine", tmp_path / "strange/.claude/skills/trap")
    words = ("list", "--all", "--json", "--agent", "claude-code")

    before = run(home.env, *words, cwd=tmp_path / "strange")
    assert 0 == run(home.env, "trust", "project", "--yes", cwd=tmp_path / "strange").code
    after = run(home.env, *words, cwd=tmp_path / "strange")

    assert ([], ["WK003"]) == (
        before.json["skills"],
        [one["code"] for one in before.json["errors"]],
    )
    assert ["trap"] == [card["name"] for card in after.json["skills"]]


def test_a_name_that_yaml_takes_for_something_else_is_seen(
    home: Home, project: Path, skill: Writer
) -> None:
    for name in ("123", "true", "fine"):
        skill(f"project/.agents/skills/{name}")

    assert ["fine"] == names(home, project, "opencode")


def test_a_folder_above_is_not_trusted_with_the_one_below(
    home: Home, tmp_path: Path, skill: Writer
) -> None:
    skill("above/.claude/skills/theirs")
    skill("above/here/.claude/skills/mine")
    assert 0 == run(home.env, "trust", "project", "--yes", cwd=tmp_path / "above/here").code

    found = run(home.env, "list", "--agent", "claude-code", "--json", cwd=tmp_path / "above/here")

    assert {"mine": "visible", "theirs": "ask"} == {
        card["name"]: card["state"] for card in found.json["skills"]
    }


@pytest.mark.parametrize(
    ("agent", "file", "text"),
    [
        ("codex", ".codex/config.toml", "[[skills.config\n"),
        ("gemini-cli", ".gemini/settings.json", "{"),
        ("claude-code", ".claude/settings.json", "[]"),
        ("hermes", ".hermes/config.yaml", "skills: [\n"),
    ],
)
def test_a_configuration_that_cannot_be_read_is_told_and_costs_no_listing(
    home: Home, project: Path, skill: Writer, agent: str, file: str, text: str
) -> None:
    folder = {"claude-code": ".claude", "hermes": ".hermes"}.get(agent, ".agents")
    skill(f"home/{folder}/skills/one")
    (home.path / file).parent.mkdir(parents=True, exist_ok=True)
    (home.path / file).write_text(text)

    answer = run(home.env, "list", "--agent", agent, "--json", cwd=project)

    assert ["one"] == [card["name"] for card in answer.json["skills"]]
    assert [(str(home.path / file), "WK013")] == [
        (problem["path"], problem["code"]) for problem in answer.json["errors"]
    ]


def test_only_the_plugins_that_are_on_are_seen(home: Home, project: Path, skill: Writer) -> None:
    for plugin in ("on", "off"):
        place = f"home/.claude/plugins/cache/market/{plugin}/1.0.0"
        skill(f"{place}/skills/{plugin}-skill")
        manifest = home.path.parent / place / ".claude-plugin/plugin.json"
        manifest.parent.mkdir()
        manifest.write_text(json.dumps({"name": plugin, "version": "1.0.0"}))
    settings = {"enabledPlugins": {"on@market": True, "off@market": False}}
    (home.path / ".claude/settings.json").write_text(json.dumps(settings))

    assert ["on:on-skill"] == names(home, project, "claude-code")


def test_folders_of_metiers_own_are_left_out_for_an_agent_and_that_is_said(
    home: Home, project: Path, skill: Writer, tmp_path: Path
) -> None:
    skill("mine/own")
    config = tmp_path / "metier.toml"
    config.write_text(f'external_dirs = ["{tmp_path}/mine"]\n')
    env = {**home.env, "METIER_CONFIG": str(config)}

    mine = run(env, "list", "--json", cwd=project).json
    theirs = run(env, "list", "--agent", "hermes", "--json", cwd=project).json

    assert (["own"], []) == tuple(
        [card["name"] for card in one["skills"]] for one in (mine, theirs)
    )
    assert ["WK014"] == [problem["code"] for problem in theirs["errors"]]


# --- what is said about it


def test_why_says_whether_the_agent_was_asked(home: Home, project: Path, skill: Writer) -> None:
    skill("project/.claude/skills/one")

    asked = run(home.env, "why", "one", "--agent", "claude-code", cwd=project).out
    read = run(home.env, "why", "one", "--agent", "rovo-dev", cwd=project).out
    table = run(home.env, "why", "one", "--agent", "windsurf", cwd=project).out

    assert "compared with version 2.1.327: it calls a skill by its folder" in asked
    assert "by its documentation, November 2026" in read
    assert "by the tables of agents in skills 1.5.18 (npm) and GitHub CLI" in table
    assert "documentation" not in table
    assert "does not look in" in read


def test_why_says_that_an_agent_is_not_consistent_itself(
    home: Home, project: Path, skill: Writer
) -> None:
    skill("project/.agents/skills/one")
    skill("project/.claude/skills/one")

    assert "OpenCode itself may take either" in reasons(home, project, "opencode", "one")


def test_a_full_list_is_said_by_why_and_doctor(home: Home, project: Path, skill: Writer) -> None:
    for number in range(12):
        skill(f"home/.claude/skills/s{number:02}", description="x" * 700)
    env = home.env

    cut = run(env, "why", "s11", "--agent", "claude-code", cwd=project)
    kept = run(env, "why", "s00", "--agent", "claude-code", cwd=project)
    told = run(env, "doctor", "--agent", "claude-code", cwd=project)
    more = run(
        {**env, "SLASH_COMMAND_TOOL_CHAR_BUDGET": "90000"},
        "why",
        "s11",
        "--agent",
        "claude-code",
        cwd=project,
    )

    said = "Claude Code's listing budget is full; this one is cut"
    assert [True, False, False] == [said in answer.out for answer in (cut, kept, more)]
    assert "Claude Code's listing budget is full; 7 of its 12 skills are cut" in told.out


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ({}, 5),
        ({"skillListingBudgetFraction": 0.012}, 7),
        ({"skillListingBudgetFraction": 7}, 5),
        ({"skillListingBudgetFraction": True}, 5),
        ({"skillListingMaxDescChars": 100}, 12),
        ({"skillListingMaxDescChars": -1}, 5),
    ],
)
def test_the_budget_of_a_list_is_what_the_agents_configuration_says(
    home: Home, project: Path, skill: Writer, said: object, kept: int
) -> None:
    for number in range(12):
        skill(f"home/.claude/skills/s{number:02}", description="x" * 700)
    (home.path / ".claude/settings.json").write_text(json.dumps(said))

    found = run(home.env, "list", "--agent", "claude-code", "--json", cwd=project).json["skills"]

    cut = ["is cut to its name, unless it is used more" in str(card["reasons"]) for card in found]
    assert [False] * kept + [True] * (12 - kept) == cut


def test_a_projects_settings_have_a_say_in_the_budget_too(
    home: Home, project: Path, skill: Writer
) -> None:
    for number in range(12):
        skill(f"home/.claude/skills/s{number:02}", description="x" * 700)
    (project / ".claude").mkdir()
    (project / ".claude/settings.json").write_text('{"skillListingBudgetFraction": 0.05}')

    assert "listing budget" not in reasons(home, project, "claude-code", "s11")


def test_an_agent_that_shortens_all_descriptions_says_so_of_each(
    home: Home, project: Path, skill: Writer
) -> None:
    for number in range(30):
        skill(f"home/.agents/skills/s{number:02}", description="x " * 400)
    few = reasons(home, project, "gemini-cli", "s00")

    assert "Codex's listing budget is full; this one is cut short, as all are" in reasons(
        home, project, "codex", "s00"
    )
    assert "listing budget" not in few


@pytest.mark.parametrize(
    ("denied", "refused"),
    [
        ("Skill(one)", ["one"]),
        ("Skill(/one)", ["one"]),
        ("Skill(one:*)", ["one", "one-more"]),
        ("Skill(one *)", ["one", "one-more"]),
        ("Skill(one-*)", []),
        ("Skill(*-more)", []),
    ],
)
def test_a_skill_that_an_agent_refuses_to_use_says_so(
    home: Home, project: Path, skill: Writer, denied: str, refused: list[str]
) -> None:
    everyone = [skill(f"home/.claude/skills/{name}").name for name in ("one", "one-more", "two")]
    (home.path / ".claude/settings.json").write_text(
        json.dumps({"permissions": {"deny": ["Bash(rm *)", denied]}})
    )

    said = {name: reasons(home, project, "claude-code", name) for name in everyone}

    assert everyone == names(home, project, "claude-code")
    assert refused == [name for name in everyone if "refuses to use it" in said[name]]


@pytest.mark.parametrize("denied", ["Skill", "Skill(*)", "*"])
def test_an_agent_that_may_not_use_skills_at_all_lists_none(
    home: Home, project: Path, skill: Writer, denied: str
) -> None:
    skill("home/.claude/skills/one")
    settings = home.path / ".claude/settings.json"
    settings.write_text(json.dumps({"permissions": {"deny": [denied]}}))

    assert [] == names(home, project, "claude-code")
    assert str(settings) in reasons(home, project, "claude-code", "one")


# --- where a new skill goes


@pytest.mark.parametrize(
    ("agent", "folder"),
    [
        ("gemini-cli", "pkg/app/.agents"),
        ("qwen-code", "pkg/app/.qwen"),
        ("continue", "pkg/app/.continue"),
        ("pi", ".agents"),
        ("codex", ".agents"),
        ("claude-code", ".claude"),
        ("deep-agents", ".claude"),
    ],
)
def test_a_new_skill_lies_where_its_agent_looks_from_a_folder_inside(
    home: Home, project: Path, agent: str, folder: str
) -> None:
    (project / "pkg/app").mkdir(parents=True)

    made = run(home.env, "new", "fresh", "--agent", agent, cwd=project / "pkg/app")

    assert 0 == made.code, made
    assert (project / folder / "skills/fresh/SKILL.md").is_file()
    assert ["fresh"] == names(home, project / "pkg/app", agent)


def test_a_new_skill_lies_in_what_its_agent_takes_for_the_project(
    home: Home, project: Path
) -> None:
    (project / "sub/.hg").mkdir(parents=True)
    (project / "sub/x").mkdir()
    (home.path / ".codex").mkdir()
    (home.path / ".codex/config.toml").write_text('project_root_markers = [".hg"]\n')

    inside = run(home.env, "new", "inside", "--agent", "codex", cwd=project / "sub/x")
    outside = run(home.env, "new", "outside", "--agent", "codex", cwd=project)

    assert (0, 0) == (inside.code, outside.code)
    assert (project / "sub/.agents/skills/inside/SKILL.md").is_file()
    assert (home.path / ".agents/skills/outside/SKILL.md").is_file()
    assert ["inside", "outside"] == names(home, project / "sub/x", "codex")
