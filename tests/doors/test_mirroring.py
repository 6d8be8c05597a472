"""A plugin's way through the commands, with nothing stood in for: enabled, edited, changed upstream, reviewed, put back, given up."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from doors.command import Answer
from doors.upstream import DANGEROUS, Upstream, text_of

from metier.cli import main

if TYPE_CHECKING:
    from conftest import Home


class Desk:
    """A project, a plugin in a folder beside it, and commands given in this process."""

    def __init__(
        self,
        home: Home,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """Lay out the plugin and the project."""
        self.capsys, self.plugin, self.project = capsys, tmp_path / "kit", tmp_path / "project"
        (self.project / ".git").mkdir(parents=True)
        (self.plugin / ".claude-plugin").mkdir(parents=True)
        self.release("1.0.0", palette=text_of("palette"), type=text_of("type"))
        for name in list(home.env):
            monkeypatch.setenv(name, home.env[name])

    def release(self, version: str, **skills: str) -> None:
        """Publish a version of the plugin."""
        (self.plugin / ".claude-plugin" / "plugin.json").write_text(
            json.dumps({"name": "brand-kit", "version": version})
        )
        for name, text in skills.items():
            (self.plugin / "skills" / name).mkdir(parents=True, exist_ok=True)
            (self.plugin / "skills" / name / "SKILL.md").write_text(text)

    def copy(self, name: str) -> Path:
        """Give the working copy of a skill."""
        return self.project / ".agents" / "skills" / name / "SKILL.md"

    def __call__(self, *words: str) -> Answer:
        """Give a command."""
        code = main.main([*words, "-C", str(self.project)])
        return Answer(code, *self.capsys.readouterr())

    def json(self, *words: str) -> dict[str, Any]:
        """Give a command, and read its document."""
        answer = self(*words, "--json")
        assert 1 == answer.out.count("\n"), answer
        found = json.loads(answer.out)
        assert isinstance(found, dict)
        return found


@pytest.fixture
def desk(
    home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Desk:
    return Desk(home, tmp_path, capsys, monkeypatch)


@pytest.fixture
def enabled(desk: Desk) -> Desk:
    """Give a project in which the plugin is enabled."""
    answer = desk("plugin", "enable", str(desk.plugin), "--yes")
    assert (0, "") == (answer.code, answer.err), answer
    return desk


def test_a_change_upstream_waits_for_a_person_and_is_published_by_a_yes(enabled: Desk) -> None:
    newer = text_of("palette").replace("Line 20 ", "Newer line 20 ")
    enabled.copy("palette").write_text(text_of("palette").replace("Line 1 ", "My line 1 "))
    enabled.release("1.1.0", palette=newer)

    synced, again = enabled("plugin", "sync"), enabled("plugin", "sync")
    [row] = enabled.json("review", "list")["candidates"]
    [plugin] = enabled.json("plugin", "list", "brand-kit")["plugins"]
    shown, accepted = (
        enabled("review", "show", "palette"),
        enabled("review", "accept", "palette", "--yes"),
    )

    assert (0, 0, True) == (synced.code, again.code, f"waits {row['id']}" in synced.out)
    assert ("three_way", "update_pending") == (row["merge_mode"], plugin["status"])
    assert (row["id"], "synced") == (
        plugin["skills"]["palette"]["pending"],
        plugin["skills"]["type"]["status"],
    )
    assert "+Newer line 20 of the instructions.\n" in shown.out
    assert (0, "published") == (accepted.code, accepted.out.partition(":")[0])
    assert newer.replace("Line 1 ", "My line 1 ") == enabled.copy("palette").read_text()
    assert [] == enabled.json("review", "list")["candidates"]


def test_versions_are_listed_shown_compared_and_put_back(enabled: Desk) -> None:
    enabled.copy("palette").write_text(text_of("palette").replace("Line 1 ", "My line 1 "))
    edits = enabled("diff", "palette")
    enabled("plugin", "sync")

    history = enabled.json("history", "palette")
    first, between = (
        enabled("history", "palette", "v0001"),
        enabled("diff", "palette", "--against", "v0001..v0002"),
    )
    back = enabled("rollback", "palette", "v0001")

    assert "-Line 1 of the instructions.\n+My line 1 of the instructions.\n" in edits.out
    assert ("v0002", ["v0002", "v0001"]) == (
        history["current"],
        [one["version"] for one in history["versions"]],
    )
    assert "\nLine 1 of the instructions.\n" in first.out
    assert "+My line 1 of the instructions.\n" in between.out
    assert (0, text_of("palette")) == (back.code, enabled.copy("palette").read_text())
    assert back.out.endswith("undo it with: metier rollback palette v0002\n")


def test_a_plugin_is_paused_disabled_enabled_again_and_its_skill_adopted(enabled: Desk) -> None:
    edited = text_of("palette", "Mine.\n")
    enabled.copy("palette").write_text(edited)
    states = []

    for words in (
        ("pause", "brand-kit"),
        ("resume", "brand-kit"),
        ("disable", "brand-kit", "--yes"),
    ):
        states += [row["status"] for row in enabled.json("plugin", *words)["plugins"]]
    gone = enabled.copy("palette").exists()
    again = enabled("plugin", "enable", "brand-kit", "--yes")
    adopted = enabled.json("plugin", "adopt", "brand-kit", "palette")

    assert (["paused", "synced", "disabled"], False) == (states, gone)
    assert (0, True) == (again.code, "restored palette: .agents/skills/palette\n" in again.out)
    assert edited == enabled.copy("palette").read_text()
    assert ["type"] == list(adopted["plugins"][0]["skills"])


def test_a_dangerous_skill_keeps_the_whole_plugin_out(desk: Desk) -> None:
    desk.release("1.0.0", bad=DANGEROUS)

    text, found = (
        desk("plugin", "enable", str(desk.plugin), "--yes"),
        desk.json("plugin", "enable", str(desk.plugin), "--yes"),
    )

    assert (1, True) == (
        text.code,
        "\nrefused  bad      dangerous  tells the agent to set its" in text.out,
    )
    assert (["bad"], False) == (
        [one["name"] for one in found["refused"]],
        (desk.project / ".agents").exists(),
    )
    assert found["refused"][0]["findings"]


def test_a_dry_run_shows_the_plan_and_does_nothing(desk: Desk) -> None:
    answer = desk("plugin", "enable", str(desk.plugin), "--dry-run")

    assert (0, True) == (answer.code, answer.out.startswith("2 to install\n"))
    assert answer.out.endswith("\nnothing was changed\n")
    assert not (desk.project / ".agents").exists()


# --- what is there already


def hinted(answer: Answer) -> list[str]:
    """Give the command that a refusal names."""
    [line] = [line for line in answer.out.splitlines() if ": metier plugin enable " in line]
    return shlex.split(line.partition(": metier ")[2])


@pytest.mark.parametrize("installed", [False, True])
def test_a_skill_of_your_own_is_kept_by_the_command_that_the_refusal_names(
    installed: bool, desk: Desk, tmp_path: Path
) -> None:
    mine = text_of("palette", "Mine.\n")
    own = tmp_path / "own/palette" if installed else desk.copy("palette").parent
    own.mkdir(parents=True)
    (own / "SKILL.md").write_text(mine)
    if installed:
        desk("add", str(own), "--yes")

    refused = desk("plugin", "enable", str(desk.plugin), "--yes")
    kept = desk(*hinted(refused), "--yes")
    desk.release("1.1.0", palette=text_of("palette", "Newer.\n"))
    synced = desk.json("plugin", "sync")

    assert (1, True) == (refused.code, "nothing was changed\n" in refused.out)
    assert (0, True) == (kept.code, "note: palette stays yours" in kept.out)
    assert (mine, True) == (desk.copy("palette").read_text(), desk.copy("type").exists())
    assert (["type"], []) == (list(synced["plugins"][0]["skills"]), synced["opened"])


def test_a_skill_of_another_plugin_gets_out_of_the_way_as_the_refusal_says(
    enabled: Desk, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    for name in ("palette", "extra"):
        (other / "skills" / name).mkdir(parents=True)
        (other / "skills" / name / "SKILL.md").write_text(text_of(name, "Other.\n"))
    (other / ".claude-plugin").mkdir()
    (other / ".claude-plugin" / "plugin.json").write_text('{"name": "other", "version": "1.0.0"}')

    refused = enabled("plugin", "enable", str(other), "--yes")
    adopted = enabled("plugin", "adopt", "brand-kit", "palette")
    enabled.copy("palette").parent.rename(tmp_path / "away")
    again = enabled("plugin", "enable", str(other), "--yes")

    assert "'metier plugin adopt brand-kit palette' makes it yours; then move " in refused.out
    assert (1, 0, 0) == (refused.code, adopted.code, again.code)
    assert text_of("palette", "Other.\n") == enabled.copy("palette").read_text()


@pytest.mark.parametrize(
    ("name", "why"),
    [("nobody", "has no skill of this name"), ("type", "you have no skill of this name")],
)
def test_only_what_you_have_can_be_kept(name: str, why: str, desk: Desk) -> None:
    answer = desk("plugin", "enable", str(desk.plugin), "--adopt", name, "--yes")

    assert (1, True) == (answer.code, why in answer.out)
    assert not (desk.project / ".agents").exists()


# --- what a person is shown is what a yes is about


def test_what_lies_on_the_desk_is_what_is_shown_judged_and_published(enabled: Desk) -> None:
    enabled.release("1.1.0", palette=DANGEROUS.replace("name: bad", "name: palette"))
    enabled("plugin", "sync")
    before, made = enabled.json("review", "show", "palette"), text_of("palette", "Made by hand.\n")
    desk = Path(enabled.json("review", "edit", "palette")["desk"])
    (desk / "SKILL.md").write_text(made)

    text, after = enabled("review", "show", "palette"), enabled.json("review", "show", "palette")
    accepted = enabled("review", "accept", "palette", "--yes")

    assert ("dangerous", "safe") == (
        before["candidate"]["evidence"]["verdict"],
        after["candidate"]["evidence"]["verdict"],
    )
    assert ([], True) == (after["findings"], bool(before["findings"]))
    assert (
        "+Made by hand.\n" in text.out,
        f"metier review accept {after['candidate']['id']}" in text.out,
    ) == (True, True)
    assert (0, made) == (accepted.code, enabled.copy("palette").read_text())


def test_an_edit_after_the_sync_is_no_part_of_the_diff(enabled: Desk) -> None:
    enabled.release("1.1.0", palette=text_of("palette").replace("Line 20 ", "Newer line 20 "))
    enabled("plugin", "sync")
    enabled.copy("palette").write_text(text_of("palette").replace("Line 1 ", "My line 1 "))

    shown = enabled("review", "show", "palette")

    changed = [line for line in shown.out.splitlines() if line.startswith(("+", "-"))][2:]
    assert ["-Line 20 of the instructions.", "+Newer line 20 of the instructions."] == changed


def test_a_yes_about_a_paused_plugin_goes_by_the_working_copy_as_it_is(enabled: Desk) -> None:
    newer, mine = (
        text_of("palette").replace("Line 20 ", "Newer line 20 "),
        text_of("palette").replace("Line 1 ", "My line 1 "),
    )
    enabled.release("1.1.0", palette=newer)
    enabled("plugin", "sync")
    enabled("plugin", "pause", "brand-kit")
    enabled.copy("palette").write_text(mine)

    first, second = (
        enabled("review", "accept", "palette", "--yes"),
        enabled("review", "accept", "palette", "--yes"),
    )

    assert (1, "not yet", 0) == (first.code, first.out.partition(":")[0], second.code)
    assert newer.replace("Line 1 ", "My line 1 ") == enabled.copy("palette").read_text()
    assert "paused" == enabled.json("plugin", "list", "brand-kit")["plugins"][0]["status"]


def test_what_a_repository_has_since_is_looked_at_before_a_yes_has_an_effect(
    desk: Desk, tmp_path: Path
) -> None:
    upstream = Upstream(tmp_path / "repository")
    upstream.commit(
        {
            ".codex-plugin/plugin.json": '{"name": "ops", "version": "1"}',
            "skills/deploy/SKILL.md": text_of("deploy"),
        }
    )
    desk("plugin", "enable", upstream.url, "--yes")
    upstream.commit({"skills/deploy/SKILL.md": text_of("deploy", "Two.\n")})
    desk("plugin", "sync")
    upstream.commit({"skills/deploy/SKILL.md": text_of("deploy", "Three.\n")})

    moved = desk("review", "accept", "deploy", "--yes")
    upstream.folder.rename(tmp_path / "away")
    unasked = desk("review", "accept", "deploy", "--yes")

    assert (1, True) == (
        moved.code,
        "it is superseded; look at plugin-update:ops:deploy:" in moved.out,
    )
    assert (0, True, text_of("deploy", "Three.\n")) == (
        unasked.code,
        "could not be looked at" in unasked.err,
        desk.copy("deploy").read_text(),
    )


def test_a_plugin_that_is_missing_stays_so_while_its_source_cannot_be_asked(
    desk: Desk, tmp_path: Path
) -> None:
    upstream = Upstream(tmp_path / "repository")
    upstream.commit(
        {
            ".codex-plugin/plugin.json": '{"name": "ops", "version": "1"}',
            "skills/deploy/SKILL.md": text_of("deploy"),
        }
    )
    desk("plugin", "enable", upstream.url, "--yes")
    upstream.commit({".codex-plugin/plugin.json": None})
    gone = desk.json("plugin", "sync")["plugins"][0]["status"]
    upstream.folder.rename(tmp_path / "away")
    desk.copy("deploy").write_text(text_of("deploy", "Mine.\n"))

    found = desk.json("plugin", "sync")

    assert ("missing", "missing", 1) == (
        gone,
        found["plugins"][0]["status"],
        len(found["unreachable"]),
    )
    assert "v0002" == desk.json("history", "deploy")["current"]


# --- whose it is, and what it is called


def test_the_same_change_may_wait_in_the_project_and_for_the_user(
    enabled: Desk, home: Home
) -> None:
    enabled("plugin", "enable", str(enabled.plugin), "--user", "--yes")
    newer, old = text_of("palette", "Newer.\n"), text_of("palette")
    own = Path(home.env["HOME"]) / ".agents" / "skills" / "palette" / "SKILL.md"
    enabled.release("1.1.0", palette=newer)
    enabled("plugin", "sync")

    either, listed = enabled("review", "accept", "palette", "--yes"), enabled("review", "list")
    mine = enabled("review", "accept", "palette", "--user", "--yes")
    between = own.read_text(), enabled.copy("palette").read_text()
    rest = enabled("review", "accept", "palette", "--yes")
    put_away = enabled("plugin", "disable", "brand-kit", "--user", "--yes")

    assert (1, True) == (either.code, "--project or --user says which" in either.err)
    assert [
        ["SCOPE", "ID"],
        ["project", "plugin-update:brand-kit:palette:"],
        ["user", "plugin-update:brand-kit:palette:"],
    ] == [
        [scope, ident[:32]] for scope, ident, *_rest in map(str.split, listed.out.splitlines()[:3])
    ]
    assert (0, (newer, old)) == (mine.code, between)
    assert (0, newer) == (rest.code, enabled.copy("palette").read_text())
    assert put_away.out.endswith("undo it with: metier plugin enable brand-kit --user\n")


def test_a_plugin_s_own_name_will_do_where_no_other_has_it(desk: Desk) -> None:
    entry = {"name": "brand-kit", "source": "./", "strict": False, "skills": ["./skills/palette"]}
    (desk.plugin / ".claude-plugin" / "plugin.json").unlink()
    (desk.plugin / ".claude-plugin" / "marketplace.json").write_text(
        json.dumps({"name": "shop", "owner": {"name": "a"}, "plugins": [entry]})
    )
    desk("plugin", "enable", str(desk.plugin), "--yes")

    answers = [
        desk("plugin", verb, "brand-kit", "--yes")
        for verb in ("list", "pause", "resume", "sync", "disable")
    ]
    unknown = desk("plugin", "pause", "brand")

    assert [0] * 5 == [one.code for one in answers]
    assert all("brand-kit@shop" in one.out for one in answers if "1 plugin" not in one.out)
    assert (1, "error: the plugin 'brand' was never enabled here\n") == (
        unknown.code,
        unknown.err.splitlines(keepends=True)[0],
    )


def test_edits_are_shown_although_they_are_a_version_already(enabled: Desk) -> None:
    enabled.copy("palette").write_text(text_of("palette").replace("Line 1 ", "My line 1 "))
    enabled("plugin", "sync")

    edits, adopted = enabled("diff", "palette"), enabled("plugin", "adopt", "brand-kit", "palette")

    assert edits.out.startswith("--- base/SKILL.md\n+++ yours/SKILL.md\n")
    assert "-Line 1 of the instructions.\n+My line 1 of the instructions.\n" in edits.out
    assert (0, edits.out) == (adopted.code, enabled("diff", "palette").out)
