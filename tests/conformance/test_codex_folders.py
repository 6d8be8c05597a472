"""Codex, where skills are found, which are kept and which are switched off (CX-3, CX-21 to CX-30, CX-38, CX-39)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conformance.folders import Place, body, cards, codes, names, only, plugin, skill, write

import metier
from metier.model import Root
from metier.settings.merge import Rule

if TYPE_CHECKING:
    from metier.library import Library


def deep(folder: Path, levels: int) -> Path:
    """Give the folder so many levels below."""
    return folder.joinpath(*(f"d{level}" for level in range(levels)))


def rooted(library: Library, place: Place) -> list[tuple[str, str]]:
    """List scope and place of each root, shortened."""
    return [
        (root.scope, root.location.replace(str(place.base) + "/", ""))
        for root in library.context.catalogue.roots()
    ]


# --- CX-3: limits


@pytest.mark.rows("CX-3")
def test_codex_looks_six_levels_deep_and_the_rest_is_reported(place: Place) -> None:
    skill(deep(place.root, 6))
    skill(deep(place.root / "other", 6))

    library = place.open(agent="codex")

    assert ["d5"] == names(library.skills(all=True))
    assert ["WK006"] == codes(library.context.catalogue.contents().truncated)


@pytest.mark.rows("CX-3")
def test_codex_visits_two_thousand_folders_and_the_rest_is_reported(place: Place) -> None:
    for number in range(2005):
        (place.root / f"f{number:04}").mkdir()
    skill(place.root / "zz-last")

    asked_by_codex, asked_by_us = place.open(agent="codex"), place.open()

    assert ([], ["WK007"]) == (
        asked_by_codex.skills(all=True),
        codes(asked_by_codex.context.catalogue.contents().truncated),
    )
    assert (["zz-last"], []) == (
        names(asked_by_us.skills()),
        codes(asked_by_us.context.catalogue.contents().truncated),
    )


@pytest.mark.rows("CX-3")
@pytest.mark.parametrize(
    ("setting", "code"),
    [("depth = 1", "WK006"), ("folders = 3", "WK007"), ("entries = 3", "WK008")],
)
def test_our_own_limits_are_settings_and_never_silent(
    place: Place, setting: str, code: str
) -> None:
    place.configure(f"[limits]\n{setting}\n")
    for name in "abcdef":
        skill(place.root / "below" / name)

    library = place.open()

    assert [code] == codes(library.context.catalogue.contents().truncated)
    assert 6 > len(library.skills(all=True))


# --- CX-21, CX-22: the roots of Codex


@pytest.mark.rows("CX-21")
def test_codex_has_its_own_roots_each_with_its_scope(place: Place) -> None:
    place.env["CODEX_HOME"] = str(place.home / "codex")
    (place.project / ".git").mkdir()
    (place.project / "sub").mkdir()

    found = rooted(place.scopes(agent="codex", cwd=place.project / "sub"), place)

    assert {
        ("project", "project/.codex/skills"),
        ("project", "project/.agents/skills"),
        ("project", "project/sub/.agents/skills"),
        ("user", "home/codex/skills"),
        ("user", "home/.agents/skills"),
        ("system", "home/codex/skills/.system"),
        ("admin", "/etc/codex/skills"),
    } <= set(found)


@pytest.mark.rows("CX-21")
def test_codex_home_is_below_the_users_home_by_default(place: Place) -> None:
    found = rooted(place.scopes(agent="codex"), place)

    assert ("user", "home/.codex/skills") in found
    assert ("system", "home/.codex/skills/.system") in found


@pytest.mark.rows("CX-22")
def test_a_root_that_is_named_twice_counts_once(place: Place) -> None:
    place.env["CODEX_HOME"] = str(place.home / ".agents")

    found = [location for _scope, location in rooted(place.scopes(agent="codex"), place)]

    assert 1 == found.count("home/.agents/skills")
    assert len(set(found)) == len(found)


@pytest.mark.rows("CX-22")
def test_a_folder_given_twice_by_hand_counts_once(place: Place) -> None:
    skill(place.root / "pdf")

    assert ["pdf"] == names(place.open(place.root, place.root).skills(all=True))


# --- CX-23: the project's root


@pytest.mark.rows("CX-23")
@pytest.mark.parametrize(
    ("markers", "marker", "expected"),
    [
        ("", ".git/", "project"),
        ("", ".git", "project"),  # in a worktree it is a file
        ("", ".hg", "project/a/b"),
        ("root_markers = ['.hg', 'go.mod']\n", "go.mod", "project"),
        ("root_markers = ['.hg']\n", ".git", "project/a/b"),
        ("root_markers = []\n", ".git", "project/a/b"),
    ],
)
def test_the_project_begins_at_the_nearest_marker(
    place: Place, markers: str, marker: str, expected: str
) -> None:
    place.configure(markers)
    write(place.project / marker / "HEAD" if marker.endswith("/") else place.project / marker)
    (place.project / "a/b").mkdir(parents=True)
    for folder in ("project", "project/a", "project/a/b"):
        skill(place.base / folder / ".agents/skills" / f"in-{Path(folder).name}")
    skill(place.base / ".agents/skills/above")

    library = place.scopes(cwd=place.project / "a/b")

    inside = {"project": ["in-a", "in-b", "in-project"], "project/a/b": ["in-b"]}[expected]
    assert str(place.base / expected) == library.context.project
    assert inside == sorted(names(library.skills()))


@pytest.mark.rows("CX-23")
def test_a_projects_own_file_cannot_move_its_root(place: Place) -> None:
    write(place.project / ".git")
    write(place.project / ".metier/metier.toml", "root_markers = ['.up']\n")
    write(place.base / ".up")

    assert str(place.project) == place.scopes().context.project


# --- CX-24: untrusted projects


@pytest.mark.rows("CX-24", "easily missed 1")
def test_a_project_nobody_has_trusted_is_listed_never_silently_absent(
    place: Place,
) -> None:
    skill(place.project / ".agents/skills/pdf")

    found = place.scopes(agent="codex").skills(all=True)

    assert [("pdf", "project")] == [(card.name, card.scope) for card in found]


# --- CX-25: the walk


@pytest.mark.rows("CX-25")
def test_hidden_folders_are_not_searched(place: Place) -> None:
    skill(place.root / ".hidden")
    skill(place.root / ".system/inner")
    skill(place.root / "seen/.git/inner")
    skill(place.root / "seen/node_modules/inner")
    skill(place.root / "seen/pdf")

    assert ["pdf"] == names(place.open().skills(all=True))


@pytest.mark.rows("CX-25")
def test_a_missing_root_of_the_machine_is_silent_and_one_given_by_hand_is_not(
    place: Place,
) -> None:
    by_hand = place.open(place.base / "missing", write(place.base / "a-file"))

    assert ([], []) == (place.scopes().skills(all=True), place.scopes().problems())
    assert ["WK009", "WK002"] == codes(by_hand.problems())


@pytest.mark.rows("CX-25")
def test_a_name_that_is_not_utf8_is_reported_and_not_read(place: Place) -> None:
    skill(place.root / "pdf")
    os.mkdir(os.fsencode(place.root) + b"/caf\xe9")
    with open(os.fsencode(place.root) + b"/caf\xe9/SKILL.md", "w", encoding="utf-8") as file:
        file.write("---\nname: x\ndescription: d\n---\n")

    library = place.open()

    assert ["pdf"] == names(library.skills(all=True))
    assert ["WK005"] == codes(library.problems())


@pytest.mark.rows("CX-25")
@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser can read every folder")
def test_a_folder_that_may_not_be_read_is_reported_and_the_others_are_read(
    place: Place,
) -> None:
    skill(place.root / "pdf")
    (place.root / "closed").mkdir(mode=0)

    library = place.open()

    assert (["pdf"], ["WK001"]) == (names(library.skills(all=True)), codes(library.problems()))


@pytest.mark.rows("CX-25")
def test_a_cycle_of_links_ends(place: Place) -> None:
    skill(place.root / "a/pdf")
    (place.root / "a/up").symlink_to(place.root)
    (place.root / "a/self").symlink_to(place.root / "a")

    assert ["pdf"] == names(place.open().skills(all=True))


# --- CX-26: links


@pytest.mark.rows("CX-26", "MT-6")
def test_linked_folders_are_followed_in_roots_that_the_user_named(
    place: Place,
) -> None:
    skill(place.base / "elsewhere/pdf")
    (place.root / "linked").symlink_to(place.base / "elsewhere")

    found = only(place.open())

    assert ("pdf", str(place.root / "linked/pdf"), "visible") == (
        found.name,
        found.path,
        found.state,
    )


@pytest.mark.rows("CX-26", "easily missed 2")
def test_a_linked_skill_file_is_never_read(place: Place) -> None:
    skill(place.base / "elsewhere/pdf")
    (place.root / "pdf").mkdir()
    (place.root / "pdf/SKILL.md").symlink_to(place.base / "elsewhere/pdf/SKILL.md")

    library = place.open()
    found = only(library)

    assert ("pdf", "", "invalid", ["SK003"]) == (
        found.name,
        found.description,
        found.state,
        codes(found.diagnostics),
    )
    with pytest.raises(metier.MetierError):
        library.view("pdf")


@pytest.mark.rows("CX-26")
def test_links_of_the_system_scope_are_not_followed(place: Place) -> None:
    skill(place.base / "elsewhere/pdf")
    system = place.home / ".codex/skills/.system"
    skill(system / "own")
    (system / "pdf").symlink_to(place.base / "elsewhere/pdf")

    library = place.scopes(agent="codex")

    assert ["own"] == names(library.skills(all=True))
    assert ["WK003"] == codes(library.problems())


# --- CX-27: errors


@pytest.mark.rows("CX-27")
def test_a_broken_skill_is_told_of_in_every_scope_the_systems_too_unlike_codex(
    place: Place,
) -> None:
    for folder in (".codex/skills/.system", ".agents/skills"):
        write(place.home / folder / "bad/SKILL.md", "---\nname: bad\n")

    found = place.scopes(agent="codex").skills(all=True)

    assert [("user", "invalid", ["SK011"]), ("system", "invalid", ["SK011"])] == [
        (card.scope, card.state, codes(card.diagnostics)) for card in found
    ]


# --- CX-28: identity


@pytest.mark.rows("CX-28", "MT-1")
def test_the_same_skill_by_two_ways_is_one(place: Place) -> None:
    skill(place.root / "pdf")
    (place.root / "again").symlink_to(place.root / "pdf")
    (place.base / "second").symlink_to(place.root)

    found = place.open(place.root, place.base / "second").skills(all=True)

    assert [str(place.root / "pdf")] == [card.path for card in found]


@pytest.mark.rows("CX-28")
def test_codex_keeps_every_skill_of_one_name(place: Place) -> None:
    skill(place.root / "a/pdf")
    skill(place.root / "b/pdf")

    library = place.open(agent="codex")

    assert ["visible", "visible"] == [card.state for card in library.skills()]
    with pytest.raises(metier.AmbiguousError):
        library.resolve("pdf")
    assert "b" == Path(library.resolve(str(place.root / "b/pdf")).path).parent.name


# --- CX-29: order


@pytest.mark.rows("CX-29", "easily missed 6")
def test_the_list_goes_by_scope_then_by_path_whatever_order_the_disk_has(
    place: Place,
) -> None:
    write(place.project / ".git")
    for folder in (
        "home/.codex/skills/.system/sys",
        "home/.agents/skills/zz",
        "home/.agents/skills/aa",
        "project/.agents/skills/mm",
        "project/.agents/skills/bb",
    ):
        skill(place.base / folder)

    found = place.scopes(agent="codex").skills()

    assert [
        ("project", "bb"),
        ("project", "mm"),
        ("user", "aa"),
        ("user", "zz"),
        ("system", "sys"),
    ] == [(card.scope, card.name) for card in found]


# --- CX-30: plugins


@pytest.mark.rows("CX-30")
@pytest.mark.parametrize("kind", [".codex-plugin", ".claude-plugin", ".cursor-plugin"])
@pytest.mark.parametrize(
    ("name", "expected"), [("tools", "tools:pdf"), ("", "kit:pdf"), ("  ", "kit:pdf")]
)
def test_a_skill_of_a_plugin_carries_its_name(
    place: Place, kind: str, name: str, expected: str
) -> None:
    plugin(place.root / "kit", name, kind)
    skill(place.root / "kit/skills/pdf")

    assert [expected] == names(place.open().skills())


@pytest.mark.rows("CX-30")
def test_an_agent_plugins_manifest_is_known_by_its_schema(place: Place) -> None:
    for folder, schema in (
        ("ours", "https://agent-plugins.org/v1/plugin.json"),
        ("theirs", "https://example.org/"),
    ):
        write(place.root / folder / "plugin.json", f'{{"$schema": "{schema}", "name": "{folder}"}}')
        skill(place.root / folder / "skills" / f"in-{folder}")

    assert ["in-theirs", "ours:in-ours"] == sorted(names(place.open().skills()))


@pytest.mark.rows("CX-30")
def test_the_nearest_plugin_gives_the_name_and_a_broken_one_is_passed_over(
    place: Place,
) -> None:
    plugin(place.root / "outer", "outer")
    plugin(place.root / "outer/inner", "inner")
    write(place.root / "outer/broken/.codex-plugin/plugin.json", "{not json")
    skill(place.root / "outer/inner/pdf")
    skill(place.root / "outer/broken/doc")

    library = place.open()

    assert ["inner:pdf", "outer:doc"] == sorted(names(library.skills()))
    assert ["SK095"] == codes(library.problems())


@pytest.mark.rows("CX-30")
def test_the_manifest_may_lie_above_the_root(place: Place) -> None:
    plugin(place.root, "tools")
    skill(place.root / "skills/pdf")

    assert ["tools:pdf"] == names(place.open(place.root / "skills").skills())


@pytest.mark.rows("CX-30")
def test_a_long_manifest_is_read_whole(place: Place) -> None:
    text = '{"description": "' + "x" * 9000 + '", "name": "tools"}'
    write(place.root / "kit/.codex-plugin/plugin.json", text)
    skill(place.root / "kit/skills/pdf")

    assert ["tools:pdf"] == names(place.open().skills())
    assert ["tools:pdf"] == names(place.open(place.root / "kit/skills").skills())


# --- CX-38, CX-39: rules that show and hide

RULES = [
    # (rules, states of a/pdf and b/pdf)
    ("{name = 'pdf', enabled = false}", "hidden hidden"),
    ("{path = 'ROOT/a/pdf', enabled = false}", "hidden visible"),
    ("{path = 'ROOT/a/pdf/SKILL.md', enabled = false}", "hidden visible"),
    ("{path = 'ROOT/a/pdf', enabled = false}, {name = 'pdf', enabled = true}", "visible shadowed"),
    ("{name = 'pdf', enabled = false}, {path = 'ROOT/b/pdf', enabled = true}", "hidden visible"),
    ("{path = 'ROOT/b/pdf', enabled = true}, {name = 'pdf', enabled = false}", "hidden hidden"),
    # A later rule with the same selector replaces the earlier one and moves to the end.
    (
        "{name = 'pdf', enabled = false}, {path = 'ROOT/a/pdf', enabled = false}, {name = 'pdf', enabled = true}",
        "visible shadowed",
    ),
    ("{name = 'PDF', enabled = false}", "visible shadowed"),
]


@pytest.mark.rows("CX-38")
@pytest.mark.parametrize(("rules", "states"), RULES)
def test_rules_apply_in_order_and_the_last_one_decides(
    place: Place, rules: str, states: str
) -> None:
    place.configure(f"[skills]\nconfig = [{rules}]\n".replace("ROOT", str(place.root)))
    skill(place.root / "a/pdf")
    skill(place.root / "b/pdf")

    found = place.open().skills(all=True)

    assert states == " ".join(card.state for card in found)


@pytest.mark.rows("CX-38")
@pytest.mark.parametrize(
    "rule",
    [
        "{path = '/x', name = 'x', enabled = false}",
        "{enabled = false}",
        "{name = ' ', enabled = false}",
    ],
)
def test_a_rule_without_exactly_one_selector_is_an_error_unlike_codex(
    place: Place, rule: str
) -> None:
    place.configure(f"[skills]\nconfig = [{rule}]\n")

    with pytest.raises(metier.ConfigError, match="exactly one"):
        place.open()


@pytest.mark.rows("CX-38", "MT-17")
def test_a_project_cannot_enable_or_disable(place: Place) -> None:
    rule = "[[skills.config]]\nname = '{}'\nenabled = {}\n"
    place.configure(rule.format("off", "false"))
    write(
        place.project / ".metier/metier.toml",
        rule.format("off", "true") + rule.format("on", "false"),
    )
    skill(place.root / "on")
    skill(place.root / "off")

    library = place.open()

    assert {"on": "visible", "off": "hidden"} == {
        card.name: card.state for card in library.skills(all=True)
    }
    assert ["WK012"] == codes(library.problems())


@pytest.mark.rows("CX-38")
def test_a_rule_of_the_session_comes_after_the_users(place: Place) -> None:
    place.configure("[[skills.config]]\nname = 'pdf'\nenabled = false\n")
    skill(place.root / "pdf")

    library = metier.open(
        roots=[str(place.root)], env=place.env, rules=[Rule(enabled=True, name="pdf")]
    )

    assert ["pdf"] == names(library.skills())


@pytest.mark.rows("CX-38")
def test_a_path_rule_holds_for_a_skill_that_comes_later(place: Place) -> None:
    place.configure(f"[[skills.config]]\npath = '{place.root}/late'\nenabled = false\n")
    library = place.open()
    assert [] == library.skills(all=True)

    skill(place.root / "late")
    library.reload()

    assert "hidden" == only(library).state


@pytest.mark.rows("CX-39")
@pytest.mark.parametrize("selector", ["elsewhere/pdf", "root/linked/pdf", "second/pdf"])
def test_a_disabled_skill_is_known_by_its_canonical_path(place: Place, selector: str) -> None:
    # A rule that is written with a path through a link means the skill behind the link, as the shell would.
    skill(place.base / "elsewhere/pdf")
    (place.root / "linked").symlink_to(place.base / "elsewhere")
    (place.base / "second").symlink_to(place.base / "elsewhere")
    place.configure(f"[[skills.config]]\npath = '{place.base / selector}'\nenabled = false\n")

    assert "hidden" == only(place.open()).state


@pytest.mark.rows("CX-38")
def test_a_path_rule_may_begin_with_the_home_folder(place: Place) -> None:
    # `external_dirs` expands it too; a rule that silently matches nothing leaves a skill on that its user switched off.
    skill(place.home / "skills/pdf")
    place.configure("[[skills.config]]\npath = '~/skills/pdf'\nenabled = false\n")

    assert "hidden" == only(place.open(place.home / "skills")).state


@pytest.mark.rows("CX-39")
def test_a_disabled_skill_is_listed_but_neither_offered_nor_shown(place: Place) -> None:
    place.configure("[[skills.config]]\nname = 'pdf'\nenabled = false\n")
    skill(place.root / "pdf")

    library = place.open()

    assert [] == library.skills()
    assert ("hidden", f"disabled by the rule name = 'pdf' in {place.env['METIER_CONFIG']}") == (
        cards(library)["pdf"].state,
        cards(library)["pdf"].reasons[0],
    )
    with pytest.raises(metier.RefusedError) as refused:
        library.view("pdf")
    assert ("disabled", "show it again with: metier enable pdf") == (
        refused.value.code,
        refused.value.hint,
    )


@pytest.mark.rows("CX-38", "CX-39")
def test_a_skill_is_disabled_and_enabled_by_a_rule_in_the_users_file(
    place: Place,
) -> None:
    place.configure("# mine\n")
    skill(place.root / "pdf")
    library = place.open()

    library.disable("pdf")
    assert [] == place.open().skills()

    library.enable("pdf")
    assert "Do it." == body(place.open(), "pdf").content.strip()
    assert (place.base / "metier.toml").read_text().startswith("# mine\n")


def test_roots_given_by_hand_are_external(place: Place) -> None:
    assert (Root(str(place.root), "external", "", "--root", named=True),) == tuple(
        root._replace(told_by="--root") for root in place.open().context.catalogue.roots()
    )
