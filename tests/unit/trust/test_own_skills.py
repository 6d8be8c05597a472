"""What the user wrote is the user's own: by what was said of its place, or because it lies in a trusted project and no tool put it there."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

import metier
from metier.errors import RefusedError, StoreError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home, Writer
    from fakes.plugs import Plugs

    from metier.context import Context
    from metier.trust.model import RecordedSkills


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


def level(home: Home, cwd: Path, name: str = "pdf") -> str:
    with metier.open(env=home.env, cwd=str(cwd)) as m:
        return m.trust(name).level


def events(m: metier.Library) -> list[tuple[str, str, str]]:
    tail = [event for event in m.audit_tail() if event["event"] == "own"]
    return [(event["event"], event["outcome"], event["details"]["path"]) for event in tail]


def test_what_lies_at_home_is_community_until_the_user_says_that_it_is_own(
    home: Home, skill: Writer
) -> None:
    folder = skill("home/.agents/skills/pdf")

    with metier.open(env=home.env, cwd=str(home.path)) as m:
        before = m.trust("pdf").level
        place = m.trust_own(str(folder))
        found = m.trust("pdf")
        (folder / "SKILL.md").write_text((folder / "SKILL.md").read_text() + "\nOne more line.\n")
        edited = m.trust("pdf")
        m.trust_own(str(folder), own=False)
        after = m.trust("pdf").level

        assert [("own", "approved", place), ("own", "revoked", place)] == events(m)

    assert ("community", "own", "own", "community") == (before, found.level, edited.level, after)
    assert str(folder) == place
    assert "allow" == edited.phases["run"]
    assert "level own: you marked it as your own" in found.reasons


def test_an_own_skill_is_given_to_a_model_as_it_was_written(home: Home, skill: Writer) -> None:
    folder = skill("home/.agents/skills/pdf")

    with metier.open(env=home.env, cwd=str(home.path)) as m:
        marked = m.view("pdf").disclosed
        m.trust_own(str(folder))
        plain = m.view("pdf")

    assert (marked or "").startswith("[UNTRUSTED SKILL: pdf]")
    assert (plain.content, "own") == (plain.disclosed, plain.level)


def test_what_metier_new_writes_is_own_even_in_a_project_that_nobody_trusts(
    home: Home, skill: Writer, project: Path
) -> None:
    skill("project/.agents/skills/other")

    with metier.open(env=home.env, cwd=str(project)) as m:
        m.new("notes")
        states = {card.name: card.state for card in m.skills(all=True)}
        found = m.trust("notes")

    assert {"notes": "visible", "other": "ask"} == states
    assert ("own", "visible") == (found.level, found.state)


def test_a_link_to_an_own_skill_is_that_skill(home: Home, skill: Writer) -> None:
    folder = skill("work/pdf")
    (home.path / ".agents" / "skills").mkdir(parents=True)
    (home.path / ".agents" / "skills" / "pdf").symlink_to(folder)

    with metier.open(env=home.env, cwd=str(home.path)) as m:
        place = m.trust_own("pdf")
        found = m.trust("pdf")

    assert (str(folder), "own") == (place, found.level)


def test_below_a_root_given_by_hand_only_what_was_said_counts(
    home: Home, skill: Writer, project: Path
) -> None:
    skill("project/.agents/skills/pdf")
    folder = skill("project/.agents/skills/doc")

    with metier.open(env=home.env, cwd=str(project)) as m:
        m.trust_project(str(project))
        m.trust_own(str(folder))
    with metier.open(
        roots=[str(project / ".agents" / "skills")], env=home.env, cwd=str(project)
    ) as m:
        found = {name: m.trust(name).level for name in ("pdf", "doc")}

    assert {"pdf": "community", "doc": "own"} == found


def test_a_skill_of_a_trusted_project_is_own_when_no_lock_has_it(
    home: Home, skill: Writer, project: Path
) -> None:
    skill("project/.agents/skills/pdf")
    before = level(home, project)

    with metier.open(env=home.env, cwd=str(project)) as m:
        m.trust_project(str(project))
        found = m.trust("pdf")

    assert ("community", "own") == (before, found.level)
    assert "level own: it is in a project you trust, and no tool installed it" in found.reasons


def test_what_a_project_links_to_elsewhere_is_not_its_own(
    home: Home, skill: Writer, project: Path
) -> None:
    folder = skill("elsewhere/pdf")
    (project / ".agents" / "skills").mkdir(parents=True)
    (project / ".agents" / "skills" / "pdf").symlink_to(folder)
    with metier.open(env=home.env, cwd=str(project)) as m:
        m.trust_project(str(project))

    with metier.open(env=home.env, cwd=str(project)) as m:
        found = {card.name: m.trust(card.path).level for card in m.skills(all=True)}

    assert "own" not in found.values()


ROW = {"source": "a/b", "sourceType": "github", "skillPath": "skills/pdf/SKILL.md"}
RECORDS = [
    ("skills-lock.json", json.dumps({"version": 1, "skills": {"pdf": ROW}})),
    (".agents/.skill-lock.json", json.dumps({"version": 3, "skills": {"pdf": ROW}})),
    (
        ".hermes/skills/.hub/lock.json",
        json.dumps({"version": 1, "installed": {"pdf": {"install_path": "docs/pdf"}}}),
    ),
    (".clawhub/lock.json", json.dumps({"version": 1, "skills": {"pdf": {"version": "1.0.0"}}})),
    (
        "apm.lock.yaml",
        "lockfile_version: '1'\ndependencies:\n- repo_url: a/b\n  deployed_files: [.github/skills/pdf/SKILL.md]\n",
    ),
]
APM = "lockfile_version: '1'\ndependencies:\n- repo_url: a/b\n  deployed_files: [{}]\n"
OTHER_FORMS = [
    ("apm.lock.yaml", APM.format(".agents/skills/pdf")),
    ("apm.lock.yaml", APM.format(".agents/skills/pdf/")),
    ("apm.lock.yaml", APM.format(".agents/skills/office/pdf")),
    ("apm.lock", APM.format(".agents/skills/pdf/SKILL.md")),
    (".clawdhub/lock.json", RECORDS[3][1]),
    ("../home/.agents/.skill-lock.json", RECORDS[1][1]),
    ("../state/skills/.skill-lock.json", RECORDS[1][1]),
]


@pytest.mark.parametrize(("file", "text"), [*RECORDS, *OTHER_FORMS])
def test_what_another_tool_installed_into_a_trusted_project_is_not_own(
    file: str, text: str, home: Home, skill: Writer, project: Path
) -> None:
    skill("project/.agents/skills/pdf")
    skill("project/.agents/skills/doc")
    (project / file).parent.mkdir(parents=True, exist_ok=True)
    (project / file).write_text(text)
    home.env["XDG_STATE_HOME"] = str(project.parent / "state")
    with metier.open(env=home.env, cwd=str(project)) as m:
        m.trust_project(str(project))

    assert ("community", "own") == (level(home, project), level(home, project, "doc"))


def test_what_lies_in_a_folder_that_a_tool_put_there_as_a_whole_is_not_own(
    home: Home, skill: Writer, project: Path
) -> None:
    skill("project/.agents/skills/pdf")
    skill("project/.claude/skills/doc")
    (project / "apm.lock.yaml").write_text(APM.format(".agents/skills"))
    with metier.open(env=home.env, cwd=str(project)) as m:
        m.trust_project(str(project))

    assert ("community", "own") == (level(home, project), level(home, project, "doc"))


BROKEN = [
    *((file, "{") for file, _text in RECORDS[:-1]),
    ("../home/.agents/.skill-lock.json", "{"),
    ("apm.lock.yaml", "dependencies: ["),
    ("apm.lock.yaml", "lockfile_version: '1'\ndependencies:\n- repo_url: a/b\n"),
    ("metier.lock", "{"),
    ("metier.lock", ""),
    ("skills-lock.json", '{"version": 99, "skills": {}}'),
]


@pytest.mark.parametrize(("file", "text"), BROKEN)
def test_where_a_lock_cannot_be_read_nothing_of_the_project_is_own(
    file: str, text: str, home: Home, skill: Writer, project: Path
) -> None:
    folder = skill("project/.agents/skills/pdf")
    skill("project/.agents/skills/doc")
    (project / file).parent.mkdir(parents=True, exist_ok=True)
    (project / file).write_text(text)
    with metier.open(env=home.env, cwd=str(project)) as m:
        m.trust_project(str(project))
        m.trust_own(str(folder))

    assert ("own", "community") == (level(home, project), level(home, project, "doc"))


def test_a_lock_that_is_a_folder_or_a_link_cannot_be_read(
    home: Home, skill: Writer, project: Path, tmp_path: Path
) -> None:
    skill("project/.agents/skills/pdf")
    with metier.open(env=home.env, cwd=str(project)) as m:
        m.trust_project(str(project))
        own = m.trust("pdf").level
        (project / "metier.lock").mkdir()
        folder = m.trust("pdf").level
        (project / "metier.lock").rmdir()
        again = m.trust("pdf").level
        (project / "metier.lock").symlink_to(tmp_path / "nowhere")
        link = m.trust("pdf").level

    assert ("own", "community", "own", "community") == (own, folder, again, link)


def test_the_locks_are_read_once_while_they_stay_the_same(
    home: Home, skill: Writer, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from metier.supply.io import lock_file

    skill("project/.agents/skills/pdf")
    read: list[str] = []
    real = lock_file.read_recorded

    def count(context: Context, path: str) -> RecordedSkills | None:
        read.append(path)
        return real(context, path)

    monkeypatch.setattr(lock_file, "read_recorded", count)
    with metier.open(env=home.env, cwd=str(project)) as m:
        m.trust_project(str(project))
        for _again in range(3):
            m.trust("pdf")
        (project / "skills-lock.json").write_text(RECORDS[0][1])
        changed = m.trust("pdf").level

    assert (2, "community") == (read.count(str(project)), changed)
    assert len(set(read)) == len(read) - 1  # of the folders on the way there, each once


def test_what_metier_itself_installed_is_not_own_and_takes_the_mark_of_its_place(
    home: Home, skill: Writer, project: Path, tmp_path: Path
) -> None:
    offered = skill("offer/pdf").parent
    folder = skill(
        "project/.agents/skills/pdf", text="---\nname: pdf\ndescription: Mine.\n---\n\nMy own.\n"
    )

    with metier.open(env=home.env, cwd=str(project)) as m:
        m.trust_project(str(project))
        m.trust_own(str(folder))
        before = m.trust("pdf").level
        m.add(str(offered), force=True, consent=lambda _outcome: True)
        after = m.trust("pdf")

        assert [("own", "approved", str(folder)), ("own", "revoked", str(folder))] == events(m)

    assert ("own", "community") == (before, after.level)
    assert [] == json.loads((tmp_path / "metier-home" / "trust.json").read_text())["own"]


def test_a_block_of_an_own_skill_holds(home: Home, skill: Writer) -> None:
    folder = skill("home/.agents/skills/pdf")

    with metier.open(env=home.env, cwd=str(home.path)) as m:
        m.trust_own(str(folder))
        found = m.trust("pdf", "block")

    assert ("blocked", "blocked") == (found.state, found.level)


@pytest.mark.parametrize("path", ["nowhere", ".", "home/.agents"])
def test_only_a_skill_is_somebody_s_own(
    path: str, home: Home, skill: Writer, tmp_path: Path
) -> None:
    skill("home/.agents/skills/pdf")

    with (
        metier.open(env=home.env, cwd=str(tmp_path)) as m,
        pytest.raises((UsageError, metier.NotFoundError)),
    ):
        m.trust_own(path)


def test_there_must_be_a_mark_to_take_back(home: Home, skill: Writer) -> None:
    folder = skill("home/.agents/skills/pdf")

    with metier.open(env=home.env, cwd=str(home.path)) as m, pytest.raises(RefusedError) as error:
        m.trust_own(str(folder), own=False)

    assert "is not marked as your own" in error.value.message


def test_decisions_that_cannot_be_read_make_nothing_own(
    home: Home, skill: Writer, tmp_path: Path
) -> None:
    folder = skill("home/.agents/skills/pdf")
    with metier.open(env=home.env, cwd=str(home.path)) as m:
        m.trust_own(str(folder))
    (tmp_path / "metier-home" / "trust.json").write_text("{")

    with metier.open(env=home.env, cwd=str(home.path)) as m:
        found = m.trust("pdf")
        with pytest.raises(StoreError):
            m.trust_own(str(folder))
        with pytest.raises(StoreError):
            m.trust_own(str(folder), own=False)

    assert ("ask", "community") == (found.state, found.level)


def test_a_new_skill_is_written_even_where_nothing_can_be_noted(home: Home, tmp_path: Path) -> None:
    (tmp_path / "metier-home").mkdir()
    (tmp_path / "metier-home" / "trust.json").write_text("{")

    with metier.open(env=home.env, cwd=str(home.path)) as m:
        folder = m.new("notes")
        warnings = list(m.context.warnings)

    assert (home.path / ".agents" / "skills" / "notes" / "SKILL.md").is_file()
    assert any(f"{folder} is not marked as your own" in warning for warning in warnings)


def test_what_a_plugin_brought_into_a_trusted_project_is_not_own_however_it_is_edited(
    enabled: Plugs,
) -> None:
    folder = enabled.project / ".agents" / "skills" / "alpha"
    (folder / "SKILL.md").write_text((folder / "SKILL.md").read_text() + "\nMine.\n")

    with enabled.open() as m:
        m.trust_project(str(enabled.project))
        mirrored = m.trust("alpha").level
        own = m.trust(m.new("notes")).level

    assert ("community", "own") == (mirrored, own)


def test_a_plugin_takes_the_mark_of_a_place_that_it_fills(plugs: Plugs) -> None:
    place = plugs.project / ".agents" / "skills" / "alpha"
    place.mkdir(parents=True)
    (place / "SKILL.md").write_text("---\nname: alpha\ndescription: Mine.\n---\n\nMine.\n")

    with plugs.open() as m:
        m.trust_own(str(place))
    shutil.rmtree(place)
    plugs.enable()

    with plugs.open() as m:
        assert "community" == m.trust("alpha").level


def test_in_a_home_that_is_a_trusted_project_the_user_s_lock_counts_too(
    home: Home, skill: Writer
) -> None:
    offered = skill("offer/pdf").parent
    (home.path / ".git").mkdir()
    skill("home/.agents/skills/doc")

    with metier.open(env=home.env, cwd=str(home.path)) as m:
        m.trust_project(str(home.path))
        m.add(str(offered), user=True, consent=lambda _outcome: True)
        folder = home.path / ".agents" / "skills" / "pdf" / "SKILL.md"
        folder.write_text(folder.read_text() + "\nEdited.\n")
        found = {name: m.trust(name).level for name in ("pdf", "doc")}

    assert "community" == found["pdf"]


def test_the_mark_of_a_place_that_is_gone_can_be_taken_back(home: Home, skill: Writer) -> None:
    folder = skill("home/.agents/skills/pdf")

    with metier.open(env=home.env, cwd=str(home.path)) as m:
        m.trust_own(str(folder))
        shutil.rmtree(folder)
        place = m.trust_own(str(folder), own=False)
        told = events(m)

    assert (str(folder), ("own", "revoked", str(folder))) == (place, told[-1])


def test_a_place_that_was_seen_to_be_gone_is_nobody_s_own(home: Home, skill: Writer) -> None:
    folder = skill("home/.agents/skills/pdf")
    with metier.open(env=home.env, cwd=str(home.path)) as m:
        m.trust_own(str(folder))
    shutil.rmtree(folder)
    with metier.open(env=home.env, cwd=str(home.path)) as m:
        m.skills()
    skill("home/.agents/skills/pdf", text="---\nname: pdf\ndescription: Another.\n---\n\nNo.\n")

    with metier.open(env=home.env, cwd=str(home.path)) as m:
        assert ("community", ("own", "revoked", str(folder))) == (
            m.trust("pdf").level,
            events(m)[-1],
        )


def test_what_cannot_be_looked_at_is_not_gone(home: Home, skill: Writer, tmp_path: Path) -> None:
    folder = skill("home/.agents/skills/pdf")
    with metier.open(env=home.env, cwd=str(home.path)) as m:
        m.trust_own(str(folder))
    loop = folder.parent
    loop.rename(tmp_path / "aside")
    loop.symlink_to(loop)
    with metier.open(env=home.env, cwd=str(home.path)) as m:
        m.skills()
    loop.unlink()
    (tmp_path / "aside").rename(loop)

    assert "own" == level(home, home.path)


@pytest.mark.parametrize(("file", "text"), [*RECORDS, *OTHER_FORMS])
def test_a_tool_that_puts_something_into_an_own_place_ends_the_mark_until_it_is_said_again(
    file: str, text: str, home: Home, skill: Writer, project: Path
) -> None:
    folder = skill("project/.agents/skills/pdf")
    home.env["XDG_STATE_HOME"] = str(project.parent / "state")
    with metier.open(env=home.env, cwd=str(project)) as m:
        m.trust_own(str(folder))
        before = m.trust("pdf").level
        (project / file).parent.mkdir(parents=True, exist_ok=True)
        (project / file).write_text(text)
        since = m.trust("pdf").level
        m.trust_own(str(folder))
        again = m.trust("pdf").level

    assert ("own", "community", "own") == (before, since, again)
    assert "own" == level(home, project)
