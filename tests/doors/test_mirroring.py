"""A plugin's way through the commands, with nothing stood in for: enabled, edited, changed upstream, reviewed, put back, given up."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from doors.command import Answer
from doors.upstream import DANGEROUS, text_of

from metier import cli

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home


class Desk:
    """A project, a plugin in a folder beside it, and commands given in this process."""

    def __init__(self, home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        """Lay out the plugin and the project."""
        self.capsys, self.plugin, self.project = capsys, tmp_path / "kit", tmp_path / "project"
        (self.project / ".git").mkdir(parents=True)
        (self.plugin / ".claude-plugin").mkdir(parents=True)
        self.release("1.0.0", palette=text_of("palette"), type=text_of("type"))
        for name in list(home.env):
            monkeypatch.setenv(name, home.env[name])

    def release(self, version: str, **skills: str) -> None:
        """Publish a version of the plugin."""
        (self.plugin / ".claude-plugin" / "plugin.json").write_text(json.dumps({"name": "brand-kit", "version": version}))
        for name, text in skills.items():
            (self.plugin / "skills" / name).mkdir(parents=True, exist_ok=True)
            (self.plugin / "skills" / name / "SKILL.md").write_text(text)

    def copy(self, name: str) -> Path:
        """Give the working copy of a skill."""
        return self.project / ".agents" / "skills" / name / "SKILL.md"

    def __call__(self, *words: str) -> Answer:
        """Give a command."""
        code = cli.main([*words, "-C", str(self.project)])
        return Answer(code, *self.capsys.readouterr())

    def json(self, *words: str) -> dict[str, Any]:
        """Give a command, and read its document."""
        answer = self(*words, "--json")
        assert 1 == answer.out.count("\n"), answer
        found = json.loads(answer.out)
        assert isinstance(found, dict)
        return found


@pytest.fixture
def desk(home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Desk:
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
    shown, accepted = enabled("review", "show", "palette"), enabled("review", "accept", "palette", "--yes")

    assert (0, 0, True) == (synced.code, again.code, f"waits {row['id']}" in synced.out)
    assert ("three_way", "update_pending") == (row["merge_mode"], plugin["status"])
    assert (row["id"], "synced") == (plugin["skills"]["palette"]["pending"], plugin["skills"]["type"]["status"])
    assert "+Newer line 20 of the instructions.\n" in shown.out
    assert (0, "published") == (accepted.code, accepted.out.partition(":")[0])
    assert newer.replace("Line 1 ", "My line 1 ") == enabled.copy("palette").read_text()
    assert [] == enabled.json("review", "list")["candidates"]


def test_versions_are_listed_shown_compared_and_put_back(enabled: Desk) -> None:
    enabled.copy("palette").write_text(text_of("palette").replace("Line 1 ", "My line 1 "))
    edits = enabled("diff", "palette")
    enabled("plugin", "sync")

    history = enabled.json("history", "palette")
    first, between = enabled("history", "palette", "v0001"), enabled("diff", "palette", "--against", "v0001..v0002")
    back = enabled("rollback", "palette", "v0001")

    assert "-Line 1 of the instructions.\n+My line 1 of the instructions.\n" in edits.out
    assert ("v0002", ["v0002", "v0001"]) == (history["current"], [one["version"] for one in history["versions"]])
    assert "\nLine 1 of the instructions.\n" in first.out
    assert "+My line 1 of the instructions.\n" in between.out
    assert (0, text_of("palette")) == (back.code, enabled.copy("palette").read_text())
    assert back.out.endswith("undo it with: metier rollback palette v0002\n")


def test_a_plugin_is_paused_disabled_enabled_again_and_its_skill_adopted(enabled: Desk) -> None:
    edited = text_of("palette", "Mine.\n")
    enabled.copy("palette").write_text(edited)
    states = []

    for words in (("pause", "brand-kit"), ("resume", "brand-kit"), ("disable", "brand-kit", "--yes")):
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

    text, found = desk("plugin", "enable", str(desk.plugin), "--yes"), desk.json("plugin", "enable", str(desk.plugin), "--yes")

    assert (1, True) == (text.code, "refused bad\n  Plugin skill safety check failed: bad\n" in text.out)
    assert (["bad"], False) == ([one["name"] for one in found["refused"]], (desk.project / ".agents").exists())
    assert found["refused"][0]["findings"]


def test_a_dry_run_shows_the_plan_and_does_nothing(desk: Desk) -> None:
    answer = desk("plugin", "enable", str(desk.plugin), "--dry-run")

    assert (0, True) == (answer.code, answer.out.startswith("add palette "))
    assert answer.out.endswith("\nnothing was changed\n")
    assert not (desk.project / ".agents").exists()
