"""The list of plugins: what is written down, what was only found, and nothing that is waited for or changed."""

from __future__ import annotations

import shutil

import pytest
from fakes.plugs import Plugs, document

from metier.plugins.model import PluginSkillRow
from metier.store.io.atomic_change import state_of


def found(plugs: Plugs, *sources: str) -> None:
    """Have the configuration name sources of plugins."""
    named = ", ".join(f'"{plugs.base / source}"' for source in sources)
    plugs.configure(f"[plugins]\nsources = [{named}]\n")


def test_a_plugin_that_was_only_found_is_told_with_its_skills(plugs: Plugs) -> None:
    found(plugs, "kit")
    before = plugs.seen()

    [one] = plugs("plugins").plugins

    assert ("kit", False, "discovered", None, "1.0", str(plugs.kit), "claude", "") == one[:8]
    assert {
        "alpha": PluginSkillRow("discovered", None, None, None),
        "beta": PluginSkillRow("discovered", None, None, None),
    } == one.skills
    assert before == plugs.seen()


def test_a_plugin_that_is_enabled_says_how_each_skill_stands(enabled: Plugs) -> None:
    base = state_of(str(enabled.kit / "skills/alpha"))
    ident = enabled.update()
    new = state_of(str(enabled.kit / "skills/alpha"))

    [one] = enabled("plugins").plugins

    assert ("kit", True, "update_pending", "1.1", "1.1", "project") == (
        one.plugin_id,
        one.enabled,
        one.status,
        one.installed_version,
        one.version,
        one.scope,
    )
    assert (PluginSkillRow("update_pending", base, new, ident), "synced") == (
        one.skills["alpha"],
        one.skills["beta"].status,
    )


def test_a_newer_version_that_nobody_looked_at_shows_beside_the_installed_one(
    enabled: Plugs,
) -> None:
    found(enabled, "kit")
    enabled.release("1.1")

    [one] = enabled("plugins").plugins

    assert ("1.0", "1.1", "synced") == (one.installed_version, one.version, one.status)


def test_the_version_of_another_plugin_of_the_same_id_is_not_told(enabled: Plugs) -> None:
    shutil.copytree(enabled.kit, enabled.base / "twin/kit")
    (enabled.base / "twin/kit/.claude-plugin/plugin.json").write_text(
        '{"name": "kit", "version": "9.0"}'
    )
    found(enabled, "twin/kit")

    [one] = enabled("plugins").plugins

    assert ("1.0", str(enabled.kit)) == (one.version, one.source)


@pytest.mark.parametrize(
    ("verb", "given", "status"),
    [
        ("plugin_pause", {}, "paused"),
        ("plugin_disable", {"disable_linked_skills": True}, "disabled"),
    ],
)
def test_each_way_to_stand_is_told(
    enabled: Plugs, verb: str, given: dict[str, bool], status: str
) -> None:
    enabled(verb, "kit", **given)

    assert [status] == [one.status for one in enabled("plugins").plugins]


def test_what_cannot_be_read_is_told_beside_the_rest(enabled: Plugs) -> None:
    enabled.release(plugin="broken", gamma=document("gamma"))
    (enabled.base / "broken/.claude-plugin/plugin.json").write_text("{")
    found(enabled, "broken", "nowhere")

    listed = enabled("plugins")

    assert (["kit"], True) == ([one.plugin_id for one in listed.plugins], len(listed.errors) >= 2)


@pytest.mark.parametrize(
    ("user", "expected"), [(True, ["user"]), (False, ["project"]), (None, ["project", "user"])]
)
def test_the_user_s_and_the_project_s_are_told_apart(
    plugs: Plugs, user: bool | None, expected: list[str]
) -> None:
    plugs.enable()
    plugs.enable(user=True)

    assert expected == [one.scope for one in plugs("plugins", user=user).plugins]


def test_a_plugin_of_the_user_s_that_was_found_is_not_offered_as_new(plugs: Plugs) -> None:
    found(plugs, "kit")
    plugs.enable(user=True)

    assert [("kit", "user")] == [(one.plugin_id, one.scope) for one in plugs("plugins").plugins]


def test_an_empty_machine_has_no_plugins(plugs: Plugs) -> None:
    assert ((), ()) == plugs("plugins")
