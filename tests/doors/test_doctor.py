"""`metier doctor`: facts about this machine, whatever state it is in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from doors.command import SOURCE, error_of, run
from fakes.cage import KeptSandbox
from fakes.embedder import GroupEmbedder
from fakes.engine import DictEngine
from fakes.mirrors import a_candidate, a_mirror
from fakes.plugged import mirrored

import metier
from metier.cli.commands import doctor
from metier.discover.agents import AGENTS
from metier.settings.model import FindSettings

if TYPE_CHECKING:
    from conftest import Home, Writer


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


def report(home: Home, cwd: Path, *words: str, **env: str) -> Any:
    answer = run({**home.env, **env}, "doctor", "--json", *words, cwd=cwd)
    assert (0, "") == (answer.code, answer.err)
    return answer.json


def agents_of(found: Any) -> dict[str, Any]:
    return {agent["id"]: agent for agent in found["agents"]}


def test_the_library_gives_the_same_report_as_the_command(
    home: Home, project: Path, skill: Writer
) -> None:
    skill("home/.agents/skills/pdf")

    with metier.open(env=home.env, cwd=project) as m:
        mine = m.doctor()

    theirs = report(home, project)
    assert (mine.version, mine.skills.total) == (theirs["version"], theirs["skills"]["total"])
    assert list(mine._fields) == list(theirs)


def test_version_python_and_home_are_named(home: Home, project: Path) -> None:
    found = report(home, project)

    assert (metier.__version__, str(home.path)) == (found["version"], found["home"])
    assert found["python"].startswith("cpython 3.")


def test_the_index_is_counted(home: Home, project: Path, skill: Writer) -> None:
    skill("home/.agents/skills/pdf")
    run(home.env, "list", cwd=project)

    memory = report(home, project)["memory"]

    files = list(Path(home.env["METIER_HOME"], "index").iterdir())
    assert (home.env["METIER_HOME"], True, True) == (
        memory["folder"],
        memory["exists"],
        memory["writable"],
    )
    assert 0 < memory["snapshots"] <= len(files)
    assert 0 < memory["bytes"] <= sum(path.stat().st_size for path in files)


def test_a_folder_for_the_index_that_cannot_be_written_is_told(
    home: Home, project: Path, skill: Writer
) -> None:
    skill("home/.agents/skills/pdf")
    state = Path(home.env["METIER_HOME"])
    state.mkdir()
    state.chmod(0o500)

    answer = run(home.env, "doctor", cwd=project, powerless=True)
    found = run(home.env, "doctor", "--json", cwd=project, powerless=True).json

    assert (0, "") == (answer.code, answer.err)
    assert "cannot write the index" in answer.out
    assert "every listing starts anew" in answer.out
    assert (False, 1) == (found["memory"]["writable"], found["skills"]["total"])


def test_a_home_that_does_not_exist_ends_no_examination(
    home: Home, project: Path, tmp_path: Path
) -> None:
    gone = {**home.env, "HOME": str(tmp_path / "gone")}
    del gone["METIER_HOME"]

    answer = run(gone, "doctor", cwd=project)

    assert (0, "") == (answer.code, answer.err)
    assert not (tmp_path / "gone").exists()


def test_an_unknown_home_ends_no_examination(project: Path) -> None:
    with metier.open(env={"HOME": "relative", "PATH": "/usr/bin"}, cwd=project) as m:
        found = m.doctor()

    assert (None, None, False) == (found.home, found.memory.folder, found.memory.writable)


def test_each_layer_of_configuration_says_whether_it_was_found(
    home: Home, project: Path, tmp_path: Path
) -> None:
    config = tmp_path / "mine.toml"
    config.write_text("hide_unready = true\n")

    layers = report(home, project, METIER_CONFIG=str(config))["configuration"]

    found = {layer["layer"]: (layer["path"], layer["found"]) for layer in layers}
    assert ["organisation", "user", "project"] == list(found)
    assert (str(config), True) == found["user"]
    assert (f"{project}/.metier/metier.toml", False) == found["project"]


def test_a_configuration_that_cannot_be_read_is_an_error_with_its_place(
    home: Home, project: Path, tmp_path: Path
) -> None:
    config = tmp_path / "mine.toml"
    config.write_text("\nskils = 1\n")

    answer = run({**home.env, "METIER_CONFIG": str(config)}, "doctor", cwd=project)

    message, _hint = error_of(answer)
    assert 2 == answer.code
    assert "unknown key 'skils'" in message


def test_the_project_names_the_marker_that_made_it_one(
    home: Home, project: Path, tmp_path: Path
) -> None:
    below = project / "src"
    below.mkdir()
    bare = tmp_path / "bare"
    bare.mkdir()

    assert {"folder": str(project), "marker": ".git"} == report(home, below)["project"]
    assert {"folder": str(bare), "marker": ""} == report(home, bare)["project"]


def test_each_folder_says_scope_agent_who_named_it_and_what_it_holds(
    home: Home, project: Path, skill: Writer
) -> None:
    skill("project/.agents/skills/one")
    skill("project/.agents/skills/two")
    skill("home/.agents/skills/one")

    roots = report(home, project)["roots"]

    found = {root["location"]: (root["scope"], root["skills"]) for root in roots}
    assert {
        f"{project}/.agents/skills": ("project", 2),
        f"{home.path}/.agents/skills": ("user", 1),
    } == found
    assert all(root["told_by"] and root["links"] and root["stats"] for root in roots)


def test_folders_given_by_hand_are_examined_alone(
    home: Home, project: Path, skill: Writer, tmp_path: Path
) -> None:
    skill("home/.agents/skills/one")
    skill("mine/two")

    found = report(home, project, "--root", str(tmp_path / "mine"))

    assert ([str(tmp_path / "mine")], {"external": 1}) == (
        [root["location"] for root in found["roots"]],
        found["skills"]["scopes"],
    )


def test_an_agent_is_found_by_its_folder_and_says_what_it_sees(
    home: Home, project: Path, skill: Writer
) -> None:
    skill("home/.claude/skills/one")
    skill("project/.claude/skills/one")
    skill("project/.claude/skills/two")
    assert 0 == run(home.env, "trust", "project", "--yes", cwd=project).code

    agents = agents_of(report(home, project))

    claude = agents["claude-code"]
    assert (2, 1, 0) == (claude["skills"], claude["shadowed"], claude["invalid"])
    assert (0, 0, 0) == (claude["same_name"], claude["left_out"], claude["cut"])
    assert ".claude" in claude["found_by"]
    assert "qwen-code" not in agents


def test_an_agent_that_keeps_all_copies_says_how_many_share_a_name(
    home: Home, project: Path, skill: Writer
) -> None:
    (home.path / ".codex").mkdir()
    skill("home/.agents/skills/one")
    skill("project/.agents/skills/one")
    assert 0 == run(home.env, "trust", "project", "--yes", cwd=project).code

    codex = agents_of(report(home, project))["codex"]

    assert (2, 0, 2) == (codex["skills"], codex["shadowed"], codex["same_name"])


def test_a_machine_without_agents_has_none(home: Home, project: Path) -> None:
    assert [] == report(home, project)["agents"]


def test_a_shared_folder_alone_is_no_trace_of_any_agent(
    home: Home, project: Path, skill: Writer
) -> None:
    skill("home/.agents/skills/one")

    assert [] == report(home, project)["agents"]


def test_faults_are_counted_by_rule_and_the_gravest_are_named_first(
    home: Home, project: Path, skill: Writer
) -> None:
    skill(
        "home/.agents/skills/loose",
        text="---\nname: loose\ndescription: Two: things.\n---\nDo it.\n",
    )
    skill("home/.agents/skills/torn", text="---\nname: torn\nno closing fence\n")
    skill("home/.agents/skills/good")

    skills = report(home, project)["skills"]

    assert {"SK011": 1, "SK021": 1} == {code: skills["codes"][code] for code in ("SK011", "SK021")}
    assert {"visible": 2, "invalid": 1} == skills["states"]
    assert [f"{home.path}/.agents/skills/torn", f"{home.path}/.agents/skills/loose"] == [
        one["skill"] for one in skills["faults"]
    ]


def test_problems_with_folders_are_listed(home: Home, project: Path, skill: Writer) -> None:
    skill("home/.agents/skills/good")
    (home.path / ".agents" / "skills" / "lost").symlink_to("/nowhere/at/all")

    answer = run(home.env, "doctor", cwd=project)

    assert "~/.agents/skills/lost: WK004" in answer.out
    assert "Worth a look:" in answer.out


def test_tools_that_are_missing_say_what_they_are_for(
    home: Home, project: Path, tmp_path: Path
) -> None:
    empty = tmp_path / "bin"
    empty.mkdir()

    tools = {tool["name"]: tool for tool in report(home, project, PATH=str(empty))["tools"]}

    assert ["git", "bubblewrap", "PyYAML"] == list(tools)
    assert (False, False) == (tools["git"]["found"], tools["bubblewrap"]["found"])
    assert (
        "not found: install bubblewrap; running scripts will need it" == tools["bubblewrap"]["note"]
    )


def test_what_is_slow_is_measured_and_crowded_folders_are_named(
    home: Home, project: Path, skill: Writer
) -> None:
    for number in range(120):
        skill(f"home/.agents/skills/skill-{number}")

    speed = report(home, project)["speed"]

    assert (f"{home.path}/.agents/skills", 120) == tuple(speed["crowded"][0])
    assert min(speed["cold_ms"], speed["warm_ms"]) >= 0
    assert speed["stats"] > 120


def test_a_folder_that_costs_much_and_holds_no_skill_is_named(home: Home, project: Path) -> None:
    root = home.path / ".agents" / "skills"
    for number in range(120):
        (root / f"folder-{number}").mkdir(parents=True)

    speed = report(home, project)["speed"]

    assert [str(root)] == [path for path, _stats in speed["empty"]]


def test_a_machine_without_a_sandbox_needs_attention(home: Home, project: Path) -> None:
    with metier.open(env=home.env, cwd=project) as m:
        m.context.sandbox = KeptSandbox(working=False)
        text = doctor.text(m.doctor())

    assert (True, False) == (
        "Worth a look:\n  no script can be run" in text,
        "Nothing needs attention" in text,
    )


@pytest.mark.bubblewrap
def test_a_sound_machine_needs_no_attention(home: Home, project: Path, skill: Writer) -> None:
    skill("home/.agents/skills/good")

    answer = run(home.env, "doctor", cwd=project)

    assert "Nothing needs attention." == answer.out.splitlines()[-1]


def test_names_from_a_stranger_cannot_steer_the_terminal(
    home: Home, project: Path, skill: Writer
) -> None:
    skill("home/.agents/skills/\x1b[2Jbad", text="---\nname: torn\n")

    assert "\x1b" not in run(home.env, "doctor", cwd=project).out


def test_agents_lists_every_agent_with_its_folders(home: Home, project: Path) -> None:
    answer = run(home.env, "doctor", "--agents", cwd=project)
    document = run(home.env, "doctor", "--agents", "--json", cwd=project).json

    assert 0 == answer.code
    assert [agent.id for agent in AGENTS] == [agent["id"] for agent in document["agents"]]
    assert all(agent["folders"] for agent in document["agents"])
    for agent in AGENTS:
        assert agent.id in answer.out


# --- secrets, watching, counting


def test_secrets_are_counted_and_neither_named_nor_shown(home: Home, project: Path) -> None:
    folder = Path(home.env["METIER_HOME"], "secrets")
    folder.mkdir(parents=True, mode=0o700)
    (folder / "values.env").touch(mode=0o600)
    (folder / "values.env").write_text(
        "PLANTED_NAME=planted-value-5c1\nOTHER_KEY=planted-value-5c2\n"
    )

    answer = run(home.env, "doctor", cwd=project)
    document = run(home.env, "doctor", "--json", cwd=project)

    secrets = document.json["secrets"]
    assert (f"{folder}/values.env", 2, True, "") == (
        secrets["file"],
        secrets["in_file"],
        secrets["safe"],
        secrets["trouble"],
    )
    assert f"{folder}/values.env (2 names, for you alone)" in answer.out
    assert not any(word in answer.out + document.out for word in ("planted-value", "PLANTED_NAME"))


def test_a_file_of_secrets_that_others_can_read_is_said_to_be_one(
    home: Home, project: Path
) -> None:
    folder = Path(home.env["METIER_HOME"], "secrets")
    folder.mkdir(parents=True, mode=0o700)
    (folder / "values.env").write_text("OTHER_KEY=planted-value-5c2\n")
    (folder / "values.env").chmod(0o644)

    answer = run(home.env, "doctor", cwd=project)
    secrets = report(home, project)["secrets"]

    assert (False, 0) == (secrets["safe"], secrets["in_file"])
    assert (
        f"values.env can be read by others; it is left alone; chmod 600 {folder}/values.env"
        in secrets["trouble"]
    )
    assert "secrets are not given to skills: their file is not safe" in answer.out
    assert "planted" not in answer.out


def test_the_keyring_is_named_or_it_is_said_why_there_is_none(home: Home, project: Path) -> None:
    none = report(home, project, PYTHON_KEYRING_BACKEND="keyring.backends.null.Keyring")["secrets"]
    fakes = f"{SOURCE}{os.pathsep}{Path(__file__).parent.parent / 'fakes'}"
    one = report(home, project, PYTHON_KEYRING_BACKEND="file_ring.FileRing", PYTHONPATH=fakes)[
        "secrets"
    ]

    assert ("", True) == (
        none["keyring"],
        none["no_keyring"].startswith("there is no keyring to use here: "),
    )
    assert (True, "") == ("FileRing" in one["keyring"], one["no_keyring"])


def test_it_is_said_how_changes_would_be_heard_of(home: Home, project: Path, skill: Writer) -> None:
    skill("home/.agents/skills/good")

    told, polled = (
        report(home, project)["watching"],
        report(home, project, WATCHFILES_FORCE_POLLING="1")["watching"],
    )

    assert {"mode": "polling", "reason": "WATCHFILES_FORCE_POLLING is set"} == polled
    assert told["mode"] in {"notices", "polling"}
    assert bool(told["reason"]) == (told["mode"] == "polling")


def test_it_is_said_whether_uses_are_counted_and_what_was_set_aside(
    home: Home, project: Path, tmp_path: Path
) -> None:
    config = tmp_path / "mine.toml"
    config.write_text("usage = false\n")
    spoilt = Path(home.env["METIER_HOME"], "usage.db.spoilt-7")
    spoilt.parent.mkdir()
    spoilt.touch()

    counting = report(home, project)["counting"]
    off = report(home, project, METIER_CONFIG=str(config))["counting"]
    answer = run(home.env, "doctor", cwd=project)

    assert {
        "on": True,
        "file": f"{spoilt.parent}/usage.db",
        "trouble": "",
        "spoilt": [str(spoilt)],
    } == counting
    assert not off["on"]
    assert f"remove it with: rm {spoilt}*" in answer.out
    assert "counts that could not be read were set aside" in answer.out


# --- what is searched


def test_the_index_that_is_searched_is_counted_and_never_made(
    home: Home, project: Path, skill: Writer, tmp_path: Path
) -> None:
    (tmp_path / "mine.toml").write_text('[route]\nvectors = "off"\n')
    home.env["METIER_CONFIG"] = str(tmp_path / "mine.toml")
    skill("home/.agents/skills/one")
    skill("home/.agents/skills/two")

    before = report(home, project)["searching"]
    made = os.path.exists(before["folder"])
    run(home.env, "find", "one", cwd=project)
    after = report(home, project)["searching"]

    assert (False, 0, 0) == (made, before["skills"], before["bytes"])
    assert (before["folder"], 2, "") == (after["folder"], after["skills"], after["trouble"])
    assert after["bytes"] == sum(path.stat().st_size for path in Path(after["folder"]).iterdir())


def test_it_is_said_why_meaning_does_not_count(home: Home, project: Path, tmp_path: Path) -> None:
    config = tmp_path / "mine.toml"
    config.write_text('[route]\nvectors = "off"\n')

    answer = run({**home.env, "METIER_CONFIG": str(config)}, "doctor", cwd=project)
    found = report(home, project, METIER_CONFIG=str(config))["searching"]

    assert (False, "", 'route.vectors is "off"', 0) == (
        found["vectors"],
        found["model"],
        found["reason"],
        found["embedded"],
    )
    assert 'does not count: route.vectors is "off"' in answer.out
    assert "none yet: the first 'metier find' makes it in " in answer.out


def test_skills_without_vectors_are_counted_where_meaning_counts(
    home: Home, project: Path, skill: Writer
) -> None:
    skill("home/.agents/skills/one")
    skill("home/.agents/skills/two")
    with metier.open(env=home.env, cwd=project) as m:
        m.context.embedder, m.context.settings = (
            GroupEmbedder(),
            m.context.settings._replace(route=FindSettings(vectors="off")),
        )
        m.index()
        m.context.settings = m.context.settings._replace(route=FindSettings(vectors="auto"))
        bare = m.doctor()
        m.index()
        whole = m.doctor().searching

    assert (True, 2, 0) == (bare.searching.vectors, bare.searching.skills, bare.searching.embedded)
    assert "2 skills are found by their words alone: metier find --index" in doctor.text(bare)
    one = bare._replace(searching=bare.searching._replace(skills=1))
    assert "1 skill is found by its words alone: metier find --index" in doctor.text(one)
    assert (m.context.embedder.name, 2) == (whole.model, whole.embedded)


def test_one_skill_is_counted_as_one(home: Home, project: Path, skill: Writer) -> None:
    skill("home/.agents/skills/one")
    with metier.open(env=home.env, cwd=project) as m:
        found = m.doctor()

    one, two = (
        doctor.text(
            found._replace(
                skills=found.skills._replace(
                    states={"invalid": count}, readiness={"setup_needed": count}
                )
            )
        )
        for count in (1, 2)
    )

    assert "1 skill can't be read: " in one
    assert "1 skill not ready: " in one
    assert "2 skills not ready: " in two


def test_an_engine_that_fails_ends_no_examination(home: Home, project: Path, skill: Writer) -> None:
    skill("home/.agents/skills/one")

    with metier.open(env=home.env, cwd=project) as m:
        m.context.engine, m.context.embedder = Unplugged(), GroupEmbedder()
        found = m.doctor()

    assert (None, 0, "the database is away") == (
        found.searching.folder,
        found.searching.skills,
        found.searching.trouble,
    )
    assert "the database is away" in doctor.text(found)


def test_an_engine_of_a_host_that_holds_nothing_is_still_the_host_s(
    home: Home, project: Path, skill: Writer
) -> None:
    skill("home/.agents/skills/one")

    with metier.open(env=home.env, cwd=project) as m:
        m.context.engine = DictEngine()
        found = m.doctor()

    assert (None, True, 0, "") == (
        found.searching.folder,
        found.searching.host,
        found.searching.skills,
        found.searching.unwritable,
    )
    assert "0 of 1 skill, kept by a host" in doctor.text(found)


@pytest.mark.parametrize("harm", ["manifest", "parts"])
def test_an_index_of_which_nothing_can_be_read_is_called_damaged(
    home: Home, project: Path, skill: Writer, tmp_path: Path, harm: str
) -> None:
    (tmp_path / "mine.toml").write_text('[route]\nvectors = "off"\n')
    home.env["METIER_CONFIG"] = str(tmp_path / "mine.toml")
    skill("home/.agents/skills/one")
    run(home.env, "find", "one", cwd=project)
    for file in Path(report(home, project)["searching"]["folder"]).iterdir():
        if harm == "manifest" and file.name == "manifest":
            file.write_bytes(b"junk")
        if harm == "parts" and file.suffix == ".part":
            file.write_bytes(file.read_bytes()[:100])

    answer, damaged = run(home.env, "doctor", cwd=project), report(home, project)["searching"]
    found = run(home.env, "find", "one", "--json", cwd=project)
    after = report(home, project)["searching"]

    assert (0, "damaged, or of another version; the next metier find rebuilds it") == (
        damaged["skills"],
        damaged["trouble"],
    )
    assert damaged["bytes"] > 0
    assert damaged["trouble"] in answer.out
    assert ["one"] == [hit["name"] for hit in found.json["hits"]]
    assert (1, "") == (after["skills"], after["trouble"])


def test_an_index_that_holds_nothing_yet_is_not_damaged(
    home: Home, project: Path, skill: Writer
) -> None:
    run(home.env, "find", "--index", cwd=project)
    (home.path / ".agents/skills").mkdir(parents=True, exist_ok=True)
    run(home.env, "find", "--index", cwd=project)
    skill("home/.agents/skills/one")

    found = report(home, project)["searching"]

    assert found["bytes"] > 0
    assert (0, "", "") == (found["skills"], found["trouble"], found["unwritable"])


def test_a_place_in_which_no_index_can_be_made_is_worth_a_look(
    home: Home, project: Path, skill: Writer
) -> None:
    skill("home/.agents/skills/one")
    route = Path(home.env["METIER_HOME"]) / "route"
    route.parent.mkdir(parents=True, exist_ok=True)
    route.write_text("in the way")

    found, answer = report(home, project)["searching"], run(home.env, "doctor", cwd=project)

    assert f"{route} is not a folder" == found["unwritable"]
    assert (
        f"cannot be kept, and is made anew for every question: {route} is not a folder"
        in answer.out
    )
    assert (
        f"Worth a look:\n  what is searched cannot be kept: {route} is not a folder\n" in answer.out
    )


def test_a_folder_that_nobody_may_write_to_is_worth_a_look(
    home: Home, project: Path, skill: Writer
) -> None:
    skill("home/.agents/skills/one")
    route = Path(home.env["METIER_HOME"]) / "route"
    route.mkdir(parents=True)
    route.chmod(0o500)

    answer = run(home.env, "doctor", "--json", cwd=project, powerless=True)
    route.chmod(0o700)

    assert f"{route} cannot be written to" == answer.json["searching"]["unwritable"]


class Unplugged(DictEngine):
    """An engine whose database cannot be reached."""

    def known(self) -> dict[str, bytes]:
        raise OSError("the database is away")


def test_plugins_and_what_waits_about_them_are_counted(home: Home, project: Path) -> None:
    with metier.open(env=home.env, cwd=project) as m:
        bare = m.doctor()
        mirrored(m, a_mirror(candidates=[a_candidate()]))
        found = m.doctor()

    assert ((0, 0, 0, 0, ()), (1, 0, 0, 1, ())) == (bare.mirroring, found.mirroring)
    assert "Plugins" not in doctor.text(bare)
    assert "1 plugin update waits for review: metier review list" in doctor.text(found)


def test_a_lock_that_cannot_be_read_is_worth_a_look(home: Home, project: Path) -> None:
    (project / "metier.lock").write_text("{")
    with metier.open(env=home.env, cwd=project) as m:
        found = m.doctor()

    assert () == found.installing.skills
    assert "can't read the lock" in found.installing.trouble[0]
    assert "can't read the lock" in doctor.text(found).rpartition("Worth a look")[2]


def test_what_is_noted_about_plugins_and_cannot_be_read_is_said(home: Home, project: Path) -> None:
    with metier.open(env=home.env, cwd=project) as m:
        file = mirrored(m, a_mirror())
        file.write_text("{}")

        found = m.doctor()

    assert 1 == len(found.mirroring.trouble)
    assert str(file) in found.mirroring.trouble[0]
    assert "what is noted about plugins cannot be read" in doctor.text(found)
