"""The life of two real plugins in git, one for Claude and one for Codex: mirrored, edited, released three times, paused, adopted.

Of the three releases one is clean, one changes the very line that a person changed, and one is malicious: that one is held with
its findings, and no yes brings it in.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from doors.command import Answer
from doors.upstream import DANGEROUS, LINES, Upstream, text_of

from metier.cli import main

if TYPE_CHECKING:
    from conftest import Home

MARKS = ("<<<<<<<", "=======", ">>>>>>>")
MINE = "My line 3 "
PRESS = "press@printers"
"""What is listed is known by the name of its list too."""


class Studio:
    """A marketplace for Claude and one for Codex, each in a repository with one plugin, and a project."""

    def __init__(
        self,
        home: Home,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """Publish the first versions."""
        self.capsys, self.project = capsys, tmp_path / "project"
        (self.project / ".git").mkdir(parents=True)
        self.repositories = {name: Upstream(tmp_path / name) for name in ("brand-kit", "press")}
        self._publish(
            "brand-kit",
            ".claude-plugin/marketplace.json",
            {
                "name": "studio",
                "owner": {"name": "Ada"},
                "plugins": [
                    {
                        "name": "brand-kit",
                        "source": "./plugins/brand-kit",
                        "description": "Colours and type.",
                    }
                ],
            },
        )
        self._publish(
            "press",
            ".agents/plugins/marketplace.json",
            {
                "name": "printers",
                "interface": {"displayName": "Printers"},
                "plugins": [
                    {
                        "name": "press",
                        "source": {"source": "local", "path": "./plugins/press"},
                        "policy": {"installation": "AVAILABLE", "authentication": "ON_USE"},
                    }
                ],
            },
        )
        self.release("brand-kit", "1.0.0", palette=text_of("palette"), type=text_of("type"))
        self.release("press", "1.0.0", proof=text_of("proof"))
        for name in home.env:
            monkeypatch.setenv(name, home.env[name])

    def _publish(self, plugin: str, path: str, market: dict[str, Any]) -> None:
        self.repositories[plugin].commit({path: json.dumps(market)})

    def release(self, plugin: str, version: str, **skills: str) -> str:
        """Commit a version of a plugin."""
        where = ".claude-plugin" if plugin == "brand-kit" else ".codex-plugin"
        manifest = {
            "name": plugin,
            "version": version,
            "description": "Has skills.",
            "skills": "./skills/",
        }
        files = {f"plugins/{plugin}/skills/{name}/SKILL.md": text for name, text in skills.items()}
        return self.repositories[plugin].commit(
            {f"plugins/{plugin}/{where}/plugin.json": json.dumps(manifest), **files}
        )

    def file(self, name: str) -> Path:
        """Give the SKILL.md that agents read."""
        return self.project / ".agents" / "skills" / name / "SKILL.md"

    def edit(self, name: str) -> None:
        """Change a line of a working copy, as a person would."""
        text = self.file(name).read_text()
        assert "Line 3 " in text
        self.file(name).write_text(text.replace("Line 3 ", MINE))

    def __call__(self, *words: str) -> Answer:
        """Give a command."""
        code = main.main([*words, "-C", str(self.project)])
        return Answer(code, *self.capsys.readouterr())

    def json(self, *words: str) -> dict[str, Any]:
        """Give a command, and read its document."""
        found = json.loads(self(*words, "--json").out)
        assert isinstance(found, dict)
        return found

    def stands(self) -> list[tuple[str, str]]:
        """Give the status of both plugins, and the version that is installed."""
        return [
            (one["status"], one["installed_version"])
            for one in self.json("plugin", "list")["plugins"]
            if one["scope"]
        ]

    def waiting(self) -> dict[str, dict[str, Any]]:
        """Give what waits for a person, by skill."""
        return {one["skill"]: one for one in self.json("review", "list")["candidates"]}


@pytest.fixture
def studio(
    home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Studio:
    made = Studio(home, tmp_path, capsys, monkeypatch)
    for plugin in ("brand-kit", "press"):
        answer = made(
            "plugin", "enable", made.repositories[plugin].url, "--plugin", plugin, "--yes"
        )
        assert (0, "") == (answer.code, answer.err), answer
    return made


def newer(name: str, *changes: tuple[str, str]) -> str:
    """Give a skill's text with some words in the place of others."""
    body = LINES
    for old, new in changes:
        body = body.replace(old, new)
    return text_of(name, body)


CLEAN, THEIRS = ("Line 18 ", "Newer line 18 "), ("Line 3 ", "Their line 3 ")


OWN = ("Line 3 ", MINE)
NAMES = ("palette", "proof")


def a_clean_release(studio: Studio) -> dict[str, Any]:
    """Both plugins change a line far from the person's, and the person accepts the merges."""
    studio.release("brand-kit", "1.1.0", palette=newer("palette", CLEAN))
    studio.release("press", "1.1.0", proof=newer("proof", CLEAN))
    synced = studio("plugin", "sync")
    return {
        "code": synced.code,
        "by itself": [studio.file(name).read_text() for name in NAMES],
        "waits": {name: one["merge_mode"] for name, one in studio.waiting().items()},
        "pending": studio.stands(),
        "shown": [
            line
            for line in studio("review", "show", "palette").out.splitlines()
            if line.startswith(("+N", "+T", "+M"))
        ],
        "accepted": [studio("review", "accept", name, "--yes").code for name in NAMES],
        "merged": [studio.file(name).read_text() for name in NAMES],
        "then": studio.stands(),
    }


def a_conflicting_release(studio: Studio) -> dict[str, Any]:
    """Both change the person's own line: one is settled on a desk, the other by taking one's own side."""
    studio.release("brand-kit", "1.2.0", palette=newer("palette", CLEAN, THEIRS))
    studio.release("press", "1.2.0", proof=newer("proof", CLEAN, THEIRS))
    studio("plugin", "sync")
    conflicts = {name: one["evidence"]["conflicts"] for name, one in studio.waiting().items()}
    too_early = studio("review", "accept", "palette", "--yes")
    laid = Path(studio.json("review", "edit", "palette")["desk"]) / "SKILL.md"
    lines = laid.read_text().splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith((*MARKS, "Line 3 ", MINE))]
    laid.write_text("".join(kept).replace("Their line 3 ", "Our line 3 "))
    settled = (
        studio("review", "accept", "palette", "--yes"),
        studio("review", "accept", "proof", "--ours", "--yes"),
    )
    return {
        "conflicts": conflicts,
        "too early": (too_early.code, "is not merged yet" in too_early.err),
        "marks": [line[:7] for line in lines if line.startswith(MARKS)],
        "settled": [one.code for one in settled],
        "merged": [studio.file(name).read_text() for name in NAMES],
        "then": studio.stands(),
    }


def a_malicious_release(studio: Studio) -> dict[str, Any]:
    """One of them turns evil; the person tries to accept it all the same, pauses, resumes, and turns it down."""
    studio.release("press", "1.3.0", proof=DANGEROUS.replace("name: bad", "name: proof"))
    studio("plugin", "sync")
    held = {name: one["evidence"]["verdict"] for name, one in studio.waiting().items()}
    shown = studio("review", "show", "proof")
    tried = [studio("review", "accept", "proof", "--yes", *how) for how in ((), ("--theirs",))]
    paused = studio("plugin", "pause", PRESS).code, studio.stands()[1][0]
    resumed = studio("plugin", "resume", PRESS).code, studio.stands()[1][0]
    no = studio("review", "reject", "proof", "--reason", "it sends keys away", "--yes")
    return {
        "held": held,
        "findings": "credentials" in shown.out,
        "let in": [one.code == 0 for one in tried],
        "kept": studio.file("proof").read_text(),
        "paused": paused,
        "resumed": resumed,
        "turned down": no.code,
        "then": (studio.waiting(), studio.stands()),
    }


def adopting(studio: Studio) -> dict[str, Any]:
    """Make a skill the person's own; its plugin goes on without it."""
    adopted = studio("plugin", "adopt", PRESS, "proof")
    studio.release("press", "1.4.0", proof=newer("proof", ("Line 1 ", "Last line 1 ")))
    synced = studio("plugin", "sync")
    versions = studio.json("history", "proof")["versions"]
    return {
        "codes": (adopted.code, synced.code),
        "then": (studio.waiting(), studio.stands()[1][0]),
        "kept": studio.file("proof").read_text(),
        "versions": [one["version"] for one in versions],
    }


def test_two_plugins_are_mirrored_and_edits_live_through_all_that_they_release(
    studio: Studio,
) -> None:
    formats = sorted(
        one["format"] for one in studio.json("plugin", "list")["plugins"] if one["scope"]
    )
    for name in NAMES:
        studio.edit(name)

    clean, conflicting, malicious, adopted = (
        step(studio)
        for step in (a_clean_release, a_conflicting_release, a_malicious_release, adopting)
    )

    both = [newer("palette", CLEAN, ("Line 3 ", "Our line 3 ")), newer("proof", CLEAN, OWN)]
    assert ["claude", "codex"] == formats
    assert {
        "code": 0,
        "by itself": [newer(name, OWN) for name in NAMES],
        "waits": dict.fromkeys(NAMES, "three_way"),
        "pending": [("update_pending", "1.1.0")] * 2,
        "shown": ["+Newer line 18 of the instructions."],
        "accepted": [0, 0],
        "merged": [newer(name, OWN, CLEAN) for name in NAMES],
        "then": [("synced", "1.1.0")] * 2,
    } == clean
    assert {
        "conflicts": {name: ["SKILL.md"] for name in NAMES},
        "too early": (1, True),
        "marks": list(MARKS),
        "settled": [0, 0],
        "merged": both,
        "then": [("synced", "1.2.0")] * 2,
    } == conflicting
    assert {
        "held": {"proof": "dangerous"},
        "findings": True,
        "let in": [False, False],
        "kept": both[1],
        "paused": (0, "paused"),
        "resumed": (0, "update_pending"),
        "turned down": 0,
        "then": ({}, [("synced", "1.2.0"), ("synced", "1.3.0")]),
    } == malicious
    assert {
        "codes": (0, 0),
        "then": ({}, "adopted"),
        "kept": both[1],
        "versions": ["v0004", "v0003", "v0002", "v0001"],
    } == adopted
