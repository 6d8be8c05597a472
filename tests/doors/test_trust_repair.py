"""Damaged decisions at every door: what was blocked stays blocked, and `metier trust repair` brings everything back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import Home, Writer
from doors.command import Answer, error_of, run
from fakes.connected import talk
from fakes.decisions import old_bytes

import metier
from metier.disclose import tools
from metier.errors import RefusedError
from metier.trust.io import decisions_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.client.client import Client

BODY = "The body that nobody may have."
REPAIR = "metier trust repair"


def _emptied(file: Path) -> None:
    file.write_bytes(b"")


def _halved(file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])


def _damaged(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b"blocked", b"bl0cked"))


def _deleted(file: Path) -> None:
    file.unlink()


def _replaced(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _linked(file: Path) -> None:
    file.rename(file.with_suffix(".elsewhere"))
    file.symlink_to(file.with_suffix(".elsewhere"))


DAMAGES = (_emptied, _halved, _damaged, _deleted, _replaced, _linked)


class Damaged:
    """A home in which `x` is blocked, `y` is approved and a project is trusted."""

    def __init__(self, home: Home, skill: Writer) -> None:
        """Make it."""
        self.home, self.data = home, home.path.parent / "metier-home"
        text = f"---\nname: x\ndescription: Does it. Use it for that.\n---\n\n{BODY}\n"
        scripts = skill("home/.agents/skills/x", text=text) / "scripts"
        scripts.mkdir()
        (scripts / "go.py").write_text("print('it ran')\n")
        skill("home/.agents/skills/y")
        skill("home/.agents/skills/z")
        skill("project/.agents/skills/theirs")
        self.project = home.path.parent / "project"
        (self.project / ".git").mkdir()
        for words in (
            ("block", "x", "--reason", "it steals"),
            ("approve", "y", "--yes"),
            ("quarantine", "z"),
            ("project", str(self.project), "--yes"),
        ):
            assert 0 == self.run("trust", *words).code

    def run(self, *words: str) -> Answer:
        return run(self.home.env, *words, cwd=self.home.path)

    def states(self) -> dict[str, str]:
        listed = self.run("list", "--all", "--json").json
        return {one["name"]: one["state"] for one in listed["skills"]}

    @property
    def main(self) -> Path:
        return self.data / "trust.json"

    @property
    def copy(self) -> Path:
        return self.data / "trust.copy.json"


@pytest.fixture
def place(home: Home, skill: Writer) -> Damaged:
    return Damaged(home, skill)


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_was_blocked_stays_blocked_at_every_door_until_all_is_restored(
    place: Damaged, damage: Callable[[Path], None]
) -> None:
    before = place.main.read_bytes()
    damage(place.main)

    ran = place.run("run", "x", "scripts/go.py", "--yes")
    expanded = place.run("expand", "/x")
    shown = place.run("show", "x")
    states = place.states()
    listed = place.run("list")
    repaired = place.run("trust", "repair", "--yes", "--json").json
    after = place.run("trust", "repair")

    assert (125, False) == (ran.code, "it ran" in ran.out)
    assert all(REPAIR in one.err for one in (ran, expanded, shown, listed))
    assert all("Traceback" not in one.err for one in (ran, expanded, shown, listed))
    assert not any(BODY in one.out for one in (ran, expanded, shown))
    assert {"x": "blocked", "y": "ask", "z": "quarantined"} == states
    assert (["x"], ["y"], ["z"], [str(place.project)]) == tuple(
        repaired[name] for name in ("blocked", "approved", "quarantined", "projects")
    )
    assert (True, "copy") == (repaired["repaired"], repaired["source"])
    assert {"x": "blocked", "y": "visible", "z": "quarantined"} == place.states()
    assert (0, "") == (after.code, after.err)
    assert after.out.startswith("Nothing to repair")
    assert json.loads(before)["approvals"] == json.loads(place.main.read_bytes())["approvals"]
    assert place.main.read_bytes() == place.copy.read_bytes()


@pytest.mark.parametrize("damage", DAMAGES)
def test_without_a_good_copy_the_audit_log_knows_what_was_blocked_and_restores_it(
    place: Damaged, damage: Callable[[Path], None]
) -> None:
    before = json.loads(place.main.read_bytes())
    damage(place.main)
    damage(place.copy)

    ran = place.run("run", "x", "scripts/go.py", "--yes")
    states = place.states()
    repaired = place.run("trust", "repair", "--yes", "--json").json

    assert (125, False) == (ran.code, "it ran" in ran.out)
    assert {"x": "blocked", "y": "ask", "z": "quarantined"} == states
    assert (True, "log", []) == tuple(repaired[name] for name in ("repaired", "source", "notes"))
    after = json.loads(place.main.read_bytes())
    assert [before[name] for name in ("approvals", "projects")] == [
        after[name] for name in ("approvals", "projects")
    ]


def test_where_nobody_can_tell_nothing_is_loaded_or_run(place: Damaged) -> None:
    _halved(place.main)
    place.copy.unlink()
    shutil.rmtree(place.data / "audit")
    (place.data / "audit.key").unlink()

    ran = place.run("run", "y", "--yes")
    shown = place.run("show", "y")
    states = place.states()
    repaired = place.run("trust", "repair", "--yes", "--json").json

    assert (125, 1) == (ran.code, shown.code)
    assert REPAIR in ran.err
    assert f"hint: repair your decisions first: {REPAIR}" in shown.err
    assert {"x": "blocked", "y": "blocked", "z": "blocked"} == states
    assert ("nothing", [], []) == tuple(
        repaired[name] for name in ("source", "approved", "blocked")
    )
    assert "no decision can be restored" in repaired["notes"][0]
    assert {"visible"} == set(place.states().values())


def test_a_repair_says_what_it_cannot_restore_from_a_log_that_is_gone(place: Damaged) -> None:
    _halved(place.main)
    place.copy.unlink()
    shutil.rmtree(place.data / "audit")

    (note,) = place.run("trust", "repair", "--dry-run", "--json").json["notes"]

    assert note.startswith("the audit log is damaged (")
    assert note.endswith("), so no decision can be restored from it")


def test_while_decisions_are_damaged_no_project_is_said_to_be_what_skills_wait_for(
    place: Damaged,
) -> None:
    place.main.unlink()
    place.run("prompt")

    said = [place.run(*words) for words in (("list",), ("prompt",), ("find", "does it"))]

    assert {"y": "ask", "z": "quarantined"}.items() <= place.states().items()
    assert all(REPAIR in one.err for one in said)
    assert not any("trust project" in one.out + one.err for one in said)


def test_a_log_that_was_changed_restores_blocks_and_no_approval(place: Damaged) -> None:
    _emptied(place.main)
    place.copy.unlink()
    (log,) = (place.data / "audit").glob("*.jsonl")
    log.write_text(log.read_text().replace('"verdict":"safe"', '"verdict":"sure"'))

    states = place.states()
    repaired = place.run("trust", "repair", "--yes", "--json").json

    assert {"x": "blocked", "y": "blocked", "z": "blocked"} == states
    assert ("log", ["x"], ["z"], [], []) == tuple(
        repaired[name] for name in ("source", "blocked", "quarantined", "approved", "projects")
    )
    assert "only blocks and quarantines are restored" in repaired["notes"][0]
    assert {"x": "blocked", "y": "visible", "z": "quarantined"} == place.states()


def test_a_repair_shows_what_it_restores_keeps_what_was_there_and_needs_a_yes(
    place: Damaged,
) -> None:
    place.main.write_bytes(b"first")
    unasked = place.run("trust", "repair")
    first = place.run("trust", "repair", "--yes")
    place.main.write_bytes(b"second")
    place.run("trust", "repair", "--yes")

    assert (2, True) == (unasked.code, "no terminal to ask on" in unasked.err)
    hint = unasked.err.rpartition("hint: ")[2]
    assert (
        "to see what would happen: metier trust repair --dry-run. To go ahead: add --yes\n" == hint
    )
    assert "restored from the second copy:\n  1 blocked: x\n" in first.out
    assert f"what was there is kept as {place.main}.damaged\n" in first.out
    assert [b"first", b"second"] == [
        Path(f"{place.main}.damaged{end}").read_bytes() for end in ("", ".2")
    ]
    assert ["repair"] == [
        one["event"] for one in place.run("audit", "tail", "--limit", "1", "--json").json["events"]
    ]


def test_a_repair_from_an_old_copy_gives_nothing_back_that_was_taken_back(place: Damaged) -> None:
    mine = place.home.path / ".agents" / "skills" / "y"
    place.run("trust", "own", str(mine), "--yes")
    before = place.copy.read_bytes()
    place.run("trust", "project", str(place.project), "--revoke")
    place.run("trust", "own", str(mine), "--remove")
    place.copy.write_bytes(before)  # as where the second file could not be written
    place.main.write_bytes(b"")

    done = place.run("trust", "repair", "--yes")

    document = json.loads(place.main.read_text())
    assert ([], []) == (document["projects"], document["own"])
    assert f"{place.project} is not restored: you took that back later" in done.out
    assert "blocked" == place.states()["x"]


def _as_it_was(place: Damaged) -> None:
    """Leave the decisions as a version without checksums wrote them."""
    place.main.write_bytes(old_bytes(decisions_file.read_decisions(str(place.data))))
    place.copy.unlink()


def test_decisions_of_an_older_version_get_a_checksum_and_a_copy_at_the_first_listing(
    place: Damaged,
) -> None:
    _as_it_was(place)

    states = place.states()

    assert ("blocked", "visible") == (states["x"], states["y"])
    assert 2 == json.loads(place.main.read_text())["schema"]
    assert place.main.read_bytes() == place.copy.read_bytes()
    assert states == place.states()


def test_decisions_of_an_older_version_that_the_log_denies_block_and_say_so(place: Damaged) -> None:
    _as_it_was(place)
    place.main.write_text('{"schema": 1, "approvals": [], "projects": []}')

    listed = place.run("list", "--all", "--json")
    states = {one["name"]: one["state"] for one in listed.json["skills"]}

    assert ("blocked", "ask") == (states["x"], states["y"])
    assert REPAIR in listed.err
    assert 125 == place.run("run", "x", "--yes").code
    assert 0 == place.run("trust", "repair", "--yes").code
    assert ("blocked", "visible") == (place.states()["x"], place.states()["y"])


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_a_new_skill_that_cannot_be_marked_as_own_says_so(
    place: Damaged, words: tuple[str, ...]
) -> None:
    place.main.write_bytes(b"")

    made = place.run("new", "fresh", *words)
    place.run("trust", "repair", "--yes")

    folder = place.home.path / ".agents" / "skills" / "fresh"
    assert 0 == made.code
    assert "~/.agents/skills/fresh is not marked as your own: " in made.err
    assert "metier trust own ~/.agents/skills/fresh" in made.err
    assert 0 == place.run("trust", "own", str(folder), "--yes").code


def test_a_repair_can_be_looked_at_first(place: Damaged) -> None:
    place.main.write_bytes(b"first")

    shown = place.run("trust", "repair", "--dry-run")
    document = place.run("trust", "repair", "--dry-run", "--json").json

    assert (0, b"first") == (shown.code, place.main.read_bytes())
    assert "can be restored from the second copy:\n  1 blocked: x\n" in shown.out
    assert ("copy", False, ["x"]) == (
        document["source"],
        document["repaired"],
        document["blocked"],
    )


def test_repair_takes_no_name(place: Damaged) -> None:
    answer = place.run("trust", "repair", "x")

    assert (2, "unexpected 'x'") == (answer.code, error_of(answer)[0])


def test_a_damaged_copy_is_told_by_the_doctor_and_mended_by_the_next_decision(
    place: Damaged,
) -> None:
    place.copy.write_bytes(b"{")

    before = place.run("doctor")
    states = place.states()
    place.run("trust", "approve", "z", "--yes")
    after = place.run("doctor")

    assert "the second copy of your decisions cannot be read" in before.out
    assert {"x": "blocked", "y": "visible", "z": "quarantined"} == states
    assert "the second copy" not in after.out
    assert place.main.read_bytes() == place.copy.read_bytes()


def test_a_copy_that_is_a_folder_can_be_repaired_too(place: Damaged) -> None:
    _replaced(place.copy)

    decided = place.run("trust", "approve", "z", "--yes")
    repaired = place.run("trust", "repair", "--yes", "--json").json

    assert (0, True) == (decided.code, "the second copy of your decisions" in decided.err)
    assert ("record", [f"{place.copy}.damaged"]) == (repaired["source"], repaired["kept"])
    assert place.main.read_bytes() == place.copy.read_bytes()


def test_a_fresh_home_with_a_log_and_no_decision_is_no_damage(home: Home, skill: Writer) -> None:
    skill("home/.agents/skills/y")
    run(home.env, "show", "y", cwd=home.path)
    data = home.path.parent / "metier-home"

    first = run(home.env, "list", cwd=home.path)
    second = run(home.env, "list", cwd=home.path)

    assert (data / "audit").is_dir()
    assert (0, "", "", True) == (first.code, first.err, second.err, first.out == second.out)
    assert [] == json.loads((data / "trust.json").read_bytes())["approvals"]
    assert (data / "trust.json").read_bytes() == (data / "trust.copy.json").read_bytes()


def test_a_model_is_told_why_it_gets_no_skill(place: Damaged) -> None:
    _emptied(place.main)

    with metier.open(env=place.home.env, cwd=place.home.path) as m:
        listed = tools.call(m, "skills_list", {})
        viewed = tools.call(m, "skill_view", {"name": "x"})

    assert REPAIR in json.dumps(listed)
    assert REPAIR in json.dumps(viewed)
    assert BODY not in json.dumps([listed, viewed])


def test_while_decisions_are_damaged_nobody_is_told_to_approve(place: Damaged) -> None:
    _emptied(place.main)

    with metier.open(env=place.home.env, cwd=place.home.path) as m:
        hint = tools.call(m, "skill_view", {"name": "y"})["error"]["hint"]
        with pytest.raises(RefusedError) as refused:
            m.view("y")

    assert "ask the user to repair that first" == hint
    assert ("ask", f"repair your decisions first: {REPAIR}") == (
        refused.value.code,
        refused.value.hint,
    )


def test_a_client_of_the_server_is_told_why_it_gets_no_skill(place: Damaged) -> None:
    _emptied(place.main)
    answers: list[str] = []

    async def use(client: Client) -> None:
        for tool, words in (("search_skills", {"query": "do it"}), ("load_skill", {"name": "x"})):
            found = await client.call_tool(tool, words)
            answers.extend(str(one) for one in found.content)

    with metier.open(env=place.home.env, cwd=place.home.path) as m:
        talk(m, use)

    assert all(REPAIR in one for one in answers), answers
    assert 2 == len(answers)
    assert BODY not in "".join(answers)
