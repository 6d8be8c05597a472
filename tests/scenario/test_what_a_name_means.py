"""A name, a path and a qualified name each mean what a careful person expects, whatever a stranger's skill calls itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import metier

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home, Writer


def opened(
    tmp_path: Path, home: Home, agent: str | None = None, config: str | None = None
) -> metier.Library:
    """Open the project of a test, which is trusted: only then could its skills take a name from others."""
    (tmp_path / "project" / ".git").mkdir(parents=True, exist_ok=True)
    library = metier.open(env=home.env, cwd=tmp_path / "project", agent=agent, config=config)
    library.trust_project()
    return library


def test_a_skill_that_calls_itself_by_a_scope_does_not_answer_for_it(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    skill("project/.agents/skills/thief", name="user:pdf")
    own = skill("home/.agents/skills/pdf")

    assert str(own) == opened(tmp_path, home).resolve("user:pdf").path


def test_a_skill_that_calls_itself_by_a_plugin_neither_answers_for_it_nor_shadows_it(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    skill("project/.agents/skills/thief", name="kit:palette")
    real = skill("home/.claude/plugins/cache/shop/kit/1.0.0/skills/palette")
    manifest = tmp_path / "home/.claude/plugins/cache/shop/kit/1.0.0/.claude-plugin/plugin.json"
    manifest.parent.mkdir()
    manifest.write_text(json.dumps({"name": "kit"}))

    library = opened(tmp_path, home)

    assert str(real) == library.resolve("kit:palette").path
    assert {"visible"} == {card.state for card in library.skills(all=True)}


def test_of_two_versions_of_a_plugin_the_higher_number_counts(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    for version in ("1.9.0", "1.10.0"):
        skill(f"home/.claude/plugins/cache/shop/kit/{version}/skills/palette")
        manifest = (
            tmp_path / f"home/.claude/plugins/cache/shop/kit/{version}/.claude-plugin/plugin.json"
        )
        manifest.parent.mkdir()
        manifest.write_text(json.dumps({"name": "kit", "version": version}))

    assert "/1.10.0/" in opened(tmp_path, home).resolve("kit:palette").path


@pytest.mark.parametrize(
    "text", ["Just prose.\n", "---\nname: pdf\ndescription: X.\nplatforms: [plan9]\n---\n"]
)
def test_a_copy_that_is_hidden_gives_way_to_one_that_can_be_used(
    text: str, tmp_path: Path, home: Home, skill: Writer
) -> None:
    skill("project/.agents/skills/pdf", text=text)
    own = skill("home/.agents/skills/pdf")

    library = opened(tmp_path, home)

    assert [str(own)] == [card.path for card in library.skills()]
    assert str(own) == library.why("pdf").chosen


def test_a_path_through_a_link_means_the_skill_it_leads_to(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    own = skill("project/.agents/skills/pdf")
    (tmp_path / "project" / ".claude").symlink_to(".agents")

    library = opened(tmp_path, home)

    assert str(own) == library.resolve(".claude/skills/pdf").path


def test_a_skill_is_checked_through_a_link_as_by_its_own_path(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    skill("project/.agents/skills/pdf")
    (tmp_path / "project" / ".claude" / "skills").mkdir(parents=True)
    (tmp_path / "project" / ".claude" / "skills" / "pdf").symlink_to("../../.agents/skills/pdf")

    (checked,) = opened(tmp_path, home).check(".claude/skills/pdf")

    assert (True, ()) == (checked.ok, checked.diagnostics)


def test_why_names_no_copy_where_show_would_refuse_to_choose(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    skill("project/.agents/skills/pdf")
    skill("home/.agents/skills/pdf")

    library = opened(tmp_path, home, agent="codex")
    answer = library.why("pdf")

    assert answer.chosen is None
    assert all(choice.reasons[0].startswith("ambiguous") for choice in answer.candidates)
    with pytest.raises(metier.AmbiguousError):
        library.view("pdf")


def test_disable_by_a_plain_name_hides_every_copy_and_enable_brings_them_back(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    skill("project/.agents/skills/pdf")
    skill("home/.agents/skills/pdf")
    (tmp_path / "metier.toml").touch()
    library = opened(tmp_path, home, config=str(tmp_path / "metier.toml"))

    library.disable("pdf")
    hidden = library.skills()
    library.enable("pdf")

    assert ([], ["pdf"]) == (hidden, [card.name for card in library.skills()])


def test_enable_says_when_something_else_still_hides_the_skill(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    skill("home/.agents/skills/pdf")
    (tmp_path / "metier.toml").write_text("[skills]\ndisabled = ['pdf']\n")

    with pytest.raises(metier.RefusedError, match=r"still disabled: skills\.disabled"):
        opened(tmp_path, home, config=str(tmp_path / "metier.toml")).enable("pdf")


def test_a_project_s_limits_hold_for_its_own_folders_alone(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    for name in ("a", "b", "c"):
        skill(f"home/.agents/skills/{name}")
    (tmp_path / "project" / ".metier").mkdir(parents=True)
    (tmp_path / "project" / ".metier" / "metier.toml").write_text("[limits]\nfolders = 1\n")

    assert ["a", "b", "c"] == sorted(card.name for card in opened(tmp_path, home).skills())


def test_a_skill_named_like_a_folder_that_is_never_searched_is_found(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    skill("home/.agents/skills/venv")
    skill("home/.agents/skills/node_modules/inside")

    assert ["venv"] == [card.name for card in opened(tmp_path, home).skills(all=True)]


def test_a_folder_that_is_never_searched_may_become_a_skill(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    (tmp_path / "home/.agents/skills/venv/lib").mkdir(parents=True)
    with opened(tmp_path, home) as library:
        before = library.skills(all=True)

    skill("home/.agents/skills/venv")

    with opened(tmp_path, home) as library:
        assert ([], ["venv"]) == (before, [card.name for card in library.skills(all=True)])
