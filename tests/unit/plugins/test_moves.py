"""How a plugin stands, as values: every move from one sound state to the next, and every one that is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from fakes.mirrors import AT, a_binding, a_candidate, a_mirror, a_plugin, a_skill
from fakes.pins import digest

from metier.errors import MetierError, NotFoundError, UsageError
from metier.mirrors import Binding, Mirror, Provenance, Version
from metier.plugins import moves
from metier.plugins.ledger import Ledger
from metier.plugins.moves import Seen, Tree
from metier.supplies import Target

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.mirrors import PluginStatus

NOW = "2026-05-06T07:08:09Z"
NEW = Seen("skills/docx", Tree(digest("new"), digest("content"), digest("body")))
TARGETS = (Target("", ".agents/skills/docx", "folder"),)


def waiting(*names: str) -> Ledger:
    """Give a ledger in which an update waits for each of these skills."""
    ledger = Ledger(a_mirror("docx", "pdf", "xlsx"))
    for name in names:
        candidate = a_candidate(skill=name)
        ledger.candidate(candidate)
        ledger.binding("office", a_binding(a_skill(name), status="update_pending", pending=candidate.id))
    moves.settled(ledger, "office")
    return ledger


def statuses(ledger: Ledger) -> dict[str, str]:
    return {one.skill: one.status for one in ledger.plugins["office"].skills}


# --- who owns what


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, ""),
        ({"owner": "plugin:other"}, "Skill ownership conflict: pdf (it belongs to the plugin other)"),
        ({"owner": "plugin:name@shop"}, "Skill ownership conflict: pdf (it belongs to the plugin name@shop)"),
        ({"owner": "user"}, "Skill ownership conflict: pdf (it is your own)"),
        ({"owner": "user", "status": "disabled", "why": "plugin_removed:other"}, ""),
        ({"owner": "plugin:other", "status": "disabled", "why": "plugin_disabled:other"}, "Skill ownership conflict: pdf (it belongs to the plugin other)"),
    ],
)
def test_who_else_owns_a_skill_is_said(fields: dict[str, str], expected: str) -> None:
    ledger = Ledger(Mirror(skills=(a_skill("pdf", **fields),)))

    said = [moves.conflict("pdf", one) for one in moves.rivals(ledger, "office", "pdf")]

    assert (list(filter(None, [expected])), []) == (said, moves.rivals(ledger, "office", "docx"))


@pytest.mark.parametrize(("name", "other"), [("PDF", "pdf"), ("pdf", "Pdf"), ("cafe\u0301", "caf\u00e9")])
def test_a_name_in_another_spelling_is_the_same_name(name: str, other: str) -> None:
    ledger = Ledger(Mirror(skills=(a_skill(other),)))  # not even its own plugin may have both

    [rival] = moves.rivals(ledger, "office", name)

    assert f"Skill ownership conflict: {name} (it belongs to the plugin office, as {other})" == moves.conflict(name, rival)


@pytest.mark.parametrize(
    ("owner", "lineage", "expected"),
    [
        ("user", "adopted_from_plugin:office", True),
        ("user", "adopted_from_plugin:other", False),
        ("plugin:office", "plugin:office", False),
        ("user", "plugin:office", False),
    ],
)
def test_a_skill_is_adopted_from_one_plugin(owner: str, lineage: str, expected: bool) -> None:
    ledger = Ledger(Mirror(skills=(a_skill("pdf", owner=owner, lineage=lineage),)))

    assert (expected, False) == (moves.is_adopted(ledger, "office", "pdf"), moves.is_adopted(ledger, "office", "docx"))


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda ledger: moves.known(ledger, "other"), "Unknown plugin state: other"),
        (lambda ledger: moves.bound(ledger, "other", "pdf"), "Unknown plugin state: other"),
        (lambda ledger: moves.bound(ledger, "office", "nothing"), "Plugin skill binding not found: office/nothing"),
        (lambda ledger: moves.paused(ledger, "other"), "Unknown plugin state: other"),
        (lambda ledger: moves.resumed(ledger, "other"), "Unknown plugin state: other"),
        (lambda ledger: moves.disabled(ledger, "other", NOW), "Unknown plugin state: other"),
        (lambda ledger: moves.adopted(ledger, "other", "pdf", NOW), "Unknown plugin state: other"),
        (lambda ledger: moves.adopted(ledger, "office", "nothing", NOW), "Plugin skill binding not found: office/nothing"),
    ],
)
def test_what_is_not_there_is_said_not_to_be(act: Callable[[Ledger], Any], message: str) -> None:
    ledger = Ledger(a_mirror("pdf"))

    with pytest.raises(NotFoundError) as unknown:
        act(ledger)

    assert (message, a_mirror("pdf")) == (unknown.value.message, ledger.mirror())


def test_a_skill_is_bound_once_it_was_taken_over() -> None:
    ledger = waiting()
    ledger.binding("office", Binding("pptx", "skills/pptx", "", digest("new"), "", "new"))

    assert [True, False, False] == [moves.bound_to(ledger, "office", name) for name in ("pdf", "pptx", "nothing")]


# --- enabling


def test_a_mirrored_skill_is_a_version_without_parent_accepted_as_observed() -> None:
    ledger = Ledger(Mirror(plugins=(a_plugin("office"),)))

    made = moves.mirrored(ledger, "office", "docx", NEW, TARGETS, NOW)

    where = Provenance("plugin", "office", "1.0.0", "skills/docx", digest("content"), digest("new"), "mirror")
    assert made == Version("v0001", digest("new"), digest("content"), digest("body"), "", "plugin:office", "mirrored from office 1.0.0",
                           "published", NOW, where)  # fmt: skip
    assert (Binding("docx", "skills/docx", digest("new"), digest("new"), "v0001", "synced"),) == ledger.plugins["office"].skills
    skill = ledger.skills["docx"]
    assert ("plugin:office", "plugin:office", "active", "", "v0001", TARGETS) == skill[1:7]


def test_a_plugin_without_a_version_says_none() -> None:
    ledger = Ledger(Mirror(plugins=(a_plugin("office", installed_version=""),)))

    assert "mirrored from office" == moves.mirrored(ledger, "office", "docx", NEW, TARGETS, NOW).change_reason


def test_a_skill_that_was_let_go_keeps_its_versions_when_it_is_mirrored_again() -> None:
    ledger = Ledger(a_mirror("docx"))
    ledger.skill(ledger.skills["docx"]._replace(owner="user", status="disabled", why="plugin_removed:office"))

    made = moves.mirrored(ledger, "office", "docx", NEW, TARGETS, NOW)

    skill = ledger.skills["docx"]
    assert ("v0002", "", ["v0001", "v0002"], "active", "plugin:office") == (
        made.version, made.parent_version, [one.version for one in skill.versions], skill.status, skill.owner)  # fmt: skip


def test_a_disabled_skill_comes_back_as_the_version_it_was() -> None:
    ledger = Ledger(a_mirror("docx"))
    ledger.version("docx", ledger.current("docx")._replace(created_by="user"))
    moves.disabled(ledger, "office", NOW)

    version = moves.restored(ledger, "office", "docx")

    skill = ledger.skills["docx"]
    assert ("v0002", "user", "active", "") == (version.version, version.created_by, skill.status, skill.why)


# --- the status of a plugin


@pytest.mark.parametrize(
    ("status", "expected"),
    [("synced", "synced"), ("update_pending", "update_pending"), ("new", "update_pending"), ("removed", "update_pending"), ("kept", "synced"),
     ("declined", "synced")],
)  # fmt: skip
def test_a_plugin_is_synced_when_no_skill_of_it_waits(status: str, expected: str) -> None:
    ledger = Ledger(a_mirror("docx", "pdf"))
    ledger.binding("office", a_binding(a_skill("pdf"), status=status))

    moves.settled(ledger, "office")

    assert expected == ledger.plugins["office"].status


@pytest.mark.parametrize(("enabled", "status"), [(True, "paused"), (True, "missing"), (False, "disabled"), (False, "adopted")])
def test_what_is_paused_missing_or_not_enabled_stays_so(enabled: bool, status: PluginStatus) -> None:
    ledger = waiting("pdf")
    ledger.plugin(ledger.plugins["office"]._replace(enabled=enabled, status=status))

    moves.settled(ledger, "office")

    assert status == ledger.plugins["office"].status


@pytest.mark.parametrize(("version", "commit"), [("1.1.0", "c0ffee"), ("0.9", ""), ("", "")])
def test_the_version_is_the_manifest_s_also_while_updates_wait(version: str, commit: str) -> None:
    ledger = waiting("pdf")

    moves.observed(ledger, "office", version, commit, missing=False)
    moves.settled(ledger, "office")

    plugin = ledger.plugins["office"]
    assert (version, commit, "update_pending") == (plugin.installed_version, plugin.commit, plugin.status)


# --- standing


def test_a_plugin_whose_manifest_is_gone_is_missing_and_its_skills_are_as_they_were() -> None:
    ledger = waiting("pdf")
    before = (ledger.skills.copy(), statuses(ledger))

    moves.observed(ledger, "office", "1.0.0", "", missing=True)

    assert ("missing", True, before) == (ledger.plugins["office"].status, ledger.plugins["office"].enabled, (ledger.skills, statuses(ledger)))


@pytest.mark.parametrize(("pending", "expected"), [((), "synced"), (("pdf",), "update_pending")])
def test_a_paused_plugin_goes_on_where_it_was(pending: tuple[str, ...], expected: str) -> None:
    ledger = waiting(*pending)

    moves.paused(ledger, "office")
    paused = ledger.plugins["office"].status
    moves.resumed(ledger, "office")

    assert ("paused", expected) == (paused, ledger.plugins["office"].status)


@pytest.mark.parametrize("act", [moves.paused, moves.resumed])
def test_what_is_not_enabled_is_neither_paused_nor_resumed(act: Callable[[Ledger, str], None]) -> None:
    ledger = waiting()
    moves.disabled(ledger, "office", NOW)
    before = ledger.mirror()

    with pytest.raises(UsageError) as refused:
        act(ledger, "office")

    assert ("'office' is not enabled", before) == (refused.value.message, ledger.mirror())


def test_disabling_says_why_and_supersedes_what_waits() -> None:
    ledger = waiting("pdf")
    ledger.binding("office", Binding("pptx", "skills/pptx", "", digest("new"), "", "new", "plugin-add:office:pptx:1"))
    ledger.candidate(a_candidate(skill="pptx", id="plugin-add:office:pptx:1", kind="plugin_skill_added"))

    names = moves.disabled(ledger, "office", NOW)

    plugin = ledger.plugins["office"]
    assert (["docx", "pdf", "xlsx"], False, "disabled") == (names, plugin.enabled, plugin.status)
    assert {("disabled", "plugin_disabled:office")} == {(one.status, one.why) for one in ledger.skills.values()}
    assert {("superseded", "plugin_disabled:office", NOW)} == {(one.status, one.reason, one.decided_at) for one in ledger.candidates.values()}
    assert {"docx": "", "pdf": "", "xlsx": ""} == {one.skill: one.pending for one in plugin.skills}


def test_disabling_leaves_skills_of_others_and_adopted_ones() -> None:
    ledger = waiting()
    ledger.skill(a_skill("other", plugin="others"))
    moves.adopted(ledger, "office", "pdf", NOW)

    moves.disabled(ledger, "office", NOW)

    assert {"docx": "disabled", "other": "active", "pdf": "active", "xlsx": "disabled"} == {one.name: one.status for one in ledger.skills.values()}


def test_disabling_leaves_what_a_plugin_only_offers_and_another_has() -> None:
    ledger = waiting()
    ledger.skill(a_skill("pptx", plugin="others"))
    ledger.binding("office", Binding("pptx", "skills/pptx", "", digest("new"), "", "new"))

    names = moves.disabled(ledger, "office", NOW)

    assert (["docx", "pdf", "xlsx"], "active") == (names, ledger.skills["pptx"].status)


# --- adopting


def test_an_adopted_skill_keeps_its_lineage_and_its_versions() -> None:
    ledger = waiting("pdf")
    before = ledger.skills["pdf"]

    moves.adopted(ledger, "office", "pdf", NOW)

    skill = ledger.skills["pdf"]
    assert ("user", "adopted_from_plugin:office", "active", before.versions) == (skill.owner, skill.lineage, skill.status, skill.versions)
    assert ({"docx": "synced", "xlsx": "synced"}, "synced") == (statuses(ledger), ledger.plugins["office"].status)
    assert [("superseded", "it was adopted")] == [(one.status, one.reason) for one in ledger.candidates.values()]


def test_with_the_last_skill_the_plugin_is_adopted_and_nothing_of_it_waits() -> None:
    ledger = Ledger(a_mirror("pdf"))
    ledger.binding("office", Binding("pptx", "skills/pptx", "", digest("new"), "", "new", a_candidate(skill="pptx").id))
    ledger.candidate(a_candidate(skill="pptx"))

    moves.adopted(ledger, "office", "pdf", NOW)

    plugin = ledger.plugins["office"]
    assert ("adopted", False, ()) == (plugin.status, plugin.enabled, plugin.skills)
    assert ["superseded"] == [one.status for one in ledger.candidates.values()]


def test_a_disabled_skill_that_is_adopted_is_active_again_and_its_plugin_stays_disabled() -> None:
    ledger = waiting()
    moves.disabled(ledger, "office", NOW)

    moves.adopted(ledger, "office", "pdf", NOW)

    assert ("active", "", "disabled") == (ledger.skills["pdf"].status, ledger.skills["pdf"].why, ledger.plugins["office"].status)


def test_what_is_only_proposed_cannot_be_adopted() -> None:
    ledger = Ledger(a_mirror("pdf"))
    ledger.binding("office", Binding("pptx", "skills/pptx", "", digest("new"), "", "new", "plugin-add:office:pptx:1"))

    with pytest.raises(MetierError) as refused:
        moves.adopted(ledger, "office", "pptx", NOW)

    assert ("'pptx' is not here yet: it waits for your yes", "metier review accept plugin-add:office:pptx:1") == (
        refused.value.message, refused.value.hint)  # fmt: skip


# --- small parts


@pytest.mark.parametrize(("status", "expected"), [("open", "superseded"), ("accepted", "superseded"), ("rejected", "rejected"), ("published", "published")])
def test_only_what_waits_is_withdrawn(status: str, expected: str) -> None:
    ledger = Ledger(a_mirror("pdf", candidates=[a_candidate(status=status, reason="before")]))

    moves.withdraw(ledger, a_candidate().id, "after", "another", NOW)
    moves.withdraw(ledger, "nothing", "after", "another", NOW)

    [found] = ledger.candidates.values()
    decided = ("after", NOW, "another") if expected == "superseded" else ("before", "", "")
    assert (expected, *decided, AT) == (found.status, found.reason, found.decided_at, found.replaced_by, found.at)
