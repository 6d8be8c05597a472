"""How a plugin stands, as values: every move from one sound state to the next, and every one that is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from fakes.mirrors import AT, a_binding, a_candidate, a_mirror, a_plugin, a_skill
from fakes.pins import digest

from metier.errors import MetierError, NotFoundError, UsageError
from metier.plugins import mirror_ledger
from metier.plugins.mirror_ledger import Ledger, ShippedSkill, TreeHashes
from metier.plugins.model import Binding, Mirror, MirroredVersion, VersionProvenance
from metier.supply.model import InstallTarget

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.plugins.model import PluginStatus

NOW = "2026-05-06T07:08:09Z"
NEW = ShippedSkill("skills/docx", TreeHashes(digest("new"), digest("content"), digest("body")))
TARGETS = (InstallTarget("", ".agents/skills/docx", "folder"),)


def waiting(*names: str) -> Ledger:
    """Give a ledger in which an update waits for each of these skills."""
    ledger = Ledger(a_mirror("docx", "pdf", "xlsx"), NOW)
    for name in names:
        candidate = a_candidate(skill=name)
        ledger.put_candidate(candidate)
        ledger.put_binding(
            "office", a_binding(a_skill(name), status="update_pending", pending=candidate.id)
        )
    ledger.settle_status("office")
    return ledger


def statuses(ledger: Ledger) -> dict[str, str]:
    return {one.skill: one.status for one in ledger.plugins["office"].skills}


# --- who owns what


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, ""),
        (
            {"owner": "plugin:other"},
            "Skill ownership conflict: pdf (it belongs to the plugin other)",
        ),
        (
            {"owner": "plugin:name@shop"},
            "Skill ownership conflict: pdf (it belongs to the plugin name@shop)",
        ),
        ({"owner": "user"}, "Skill ownership conflict: pdf (it is your own)"),
        ({"owner": "user", "status": "disabled", "why": "plugin_removed:other"}, ""),
        (
            {"owner": "plugin:other", "status": "disabled", "why": "plugin_disabled:other"},
            "Skill ownership conflict: pdf (it belongs to the plugin other)",
        ),
    ],
)
def test_who_else_owns_a_skill_is_said(fields: dict[str, str], expected: str) -> None:
    ledger = Ledger(Mirror(skills=(a_skill("pdf", **fields),)), NOW)

    said = [mirror_ledger.conflict("pdf", one) for one in ledger.rivals("office", "pdf")]

    assert (list(filter(None, [expected])), []) == (
        said,
        ledger.rivals("office", "docx"),
    )


@pytest.mark.parametrize(
    ("name", "other"), [("PDF", "pdf"), ("pdf", "Pdf"), ("cafe\u0301", "caf\u00e9")]
)
def test_a_name_in_another_spelling_is_the_same_name(name: str, other: str) -> None:
    ledger = Ledger(Mirror(skills=(a_skill(other),)), NOW)  # not even its own plugin may have both

    [rival] = ledger.rivals("office", name)

    assert (
        f"Skill ownership conflict: {name} (it belongs to the plugin office, as {other})"
        == mirror_ledger.conflict(name, rival)
    )


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
    ledger = Ledger(Mirror(skills=(a_skill("pdf", owner=owner, lineage=lineage),)), NOW)

    assert (expected, False) == (
        ledger.is_adopted("office", "pdf"),
        ledger.is_adopted("office", "docx"),
    )


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda ledger: ledger.known_plugin("other"), "the plugin 'other' was never enabled here"),
        (
            lambda ledger: ledger.binding_of("other", "pdf"),
            "the plugin 'other' was never enabled here",
        ),
        (
            lambda ledger: ledger.binding_of("office", "nothing"),
            "Plugin skill binding not found: office/nothing",
        ),
        (lambda ledger: ledger.pause("other"), "the plugin 'other' was never enabled here"),
        (lambda ledger: ledger.resume("other"), "the plugin 'other' was never enabled here"),
        (lambda ledger: ledger.disable("other"), "the plugin 'other' was never enabled here"),
        (
            lambda ledger: ledger.adopt("other", "pdf"),
            "the plugin 'other' was never enabled here",
        ),
        (
            lambda ledger: ledger.adopt("office", "nothing"),
            "Plugin skill binding not found: office/nothing",
        ),
    ],
)
def test_what_is_not_there_is_said_not_to_be(act: Callable[[Ledger], Any], message: str) -> None:
    ledger = Ledger(a_mirror("pdf"), NOW)

    with pytest.raises(NotFoundError) as unknown:
        act(ledger)

    assert (message, a_mirror("pdf")) == (unknown.value.message, ledger.as_mirror())


def test_a_skill_is_bound_once_it_was_taken_over() -> None:
    ledger = waiting()
    ledger.put_binding("office", Binding("pptx", "skills/pptx", "", digest("new"), "", "new"))

    assert [True, False, False] == [
        ledger.is_bound("office", name) for name in ("pdf", "pptx", "nothing")
    ]


# --- enabling


def test_a_mirrored_skill_is_a_version_without_parent_accepted_as_observed() -> None:
    ledger = Ledger(Mirror(plugins=(a_plugin("office"),)), NOW)

    made = ledger.take_over("office", "docx", NEW, TARGETS)

    where = VersionProvenance(
        "plugin", "office", "1.0.0", "skills/docx", digest("content"), digest("new"), "mirror"
    )
    assert made == MirroredVersion(
        "v0001",
        digest("new"),
        digest("content"),
        digest("body"),
        "",
        "plugin:office",
        "mirrored from office 1.0.0",
        "published",
        NOW,
        where,
    )
    assert (
        Binding("docx", "skills/docx", digest("new"), digest("new"), "v0001", "synced"),
    ) == ledger.plugins["office"].skills
    skill = ledger.skills["docx"]
    assert ("plugin:office", "plugin:office", "active", "", "v0001", TARGETS) == skill[1:7]


def test_a_plugin_without_a_version_says_none() -> None:
    ledger = Ledger(Mirror(plugins=(a_plugin("office", installed_version=""),)), NOW)

    assert "mirrored from office" == ledger.take_over("office", "docx", NEW, TARGETS).change_reason


def test_a_skill_that_was_let_go_keeps_its_versions_when_it_is_mirrored_again() -> None:
    ledger = Ledger(a_mirror("docx"), NOW)
    ledger.put_skill(
        ledger.skills["docx"]._replace(owner="user", status="disabled", why="plugin_removed:office")
    )

    made = ledger.take_over("office", "docx", NEW, TARGETS)

    skill = ledger.skills["docx"]
    assert ("v0002", "", ["v0001", "v0002"], "active", "plugin:office") == (
        made.version,
        made.parent_version,
        [one.version for one in skill.versions],
        skill.status,
        skill.owner,
    )


def test_a_disabled_skill_comes_back_as_the_version_it_was() -> None:
    ledger = Ledger(a_mirror("docx"), NOW)
    ledger.add_version("docx", ledger.current("docx")._replace(created_by="user"))
    ledger.disable("office")

    version = ledger.restore("office", "docx")

    skill = ledger.skills["docx"]
    assert ("v0002", "user", "active", "") == (
        version.version,
        version.created_by,
        skill.status,
        skill.why,
    )


# --- the status of a plugin


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("synced", "synced"),
        ("update_pending", "update_pending"),
        ("new", "update_pending"),
        ("removed", "update_pending"),
        ("kept", "synced"),
        ("declined", "synced"),
    ],
)
def test_a_plugin_is_synced_when_no_skill_of_it_waits(status: str, expected: str) -> None:
    ledger = Ledger(a_mirror("docx", "pdf"), NOW)
    ledger.put_binding("office", a_binding(a_skill("pdf"), status=status))

    ledger.settle_status("office")

    assert expected == ledger.plugins["office"].status


@pytest.mark.parametrize(
    ("enabled", "status"),
    [(True, "paused"), (True, "missing"), (False, "disabled"), (False, "adopted")],
)
def test_what_is_paused_missing_or_not_enabled_stays_so(
    enabled: bool, status: PluginStatus
) -> None:
    ledger = waiting("pdf")
    ledger.put_plugin(ledger.plugins["office"]._replace(enabled=enabled, status=status))

    ledger.settle_status("office")

    assert status == ledger.plugins["office"].status


@pytest.mark.parametrize(("version", "commit"), [("1.1.0", "c0ffee"), ("0.9", ""), ("", "")])
def test_the_version_is_the_manifest_s_also_while_updates_wait(version: str, commit: str) -> None:
    ledger = waiting("pdf")

    ledger.note_observed("office", version, commit, missing=False)
    ledger.settle_status("office")

    plugin = ledger.plugins["office"]
    assert (version, commit, "update_pending") == (
        plugin.installed_version,
        plugin.commit,
        plugin.status,
    )


# --- standing


def test_a_plugin_whose_manifest_is_gone_is_missing_and_its_skills_are_as_they_were() -> None:
    ledger = waiting("pdf")
    before = (ledger.skills.copy(), statuses(ledger))

    ledger.note_observed("office", "1.0.0", "", missing=True)

    assert ("missing", True, before) == (
        ledger.plugins["office"].status,
        ledger.plugins["office"].enabled,
        (ledger.skills, statuses(ledger)),
    )


@pytest.mark.parametrize(("pending", "expected"), [((), "synced"), (("pdf",), "update_pending")])
def test_a_paused_plugin_goes_on_where_it_was(pending: tuple[str, ...], expected: str) -> None:
    ledger = waiting(*pending)

    ledger.pause("office")
    paused = ledger.plugins["office"].status
    ledger.resume("office")

    assert ("paused", expected) == (paused, ledger.plugins["office"].status)


@pytest.mark.parametrize("act", [Ledger.pause, Ledger.resume])
def test_what_is_not_enabled_is_neither_paused_nor_resumed(
    act: Callable[[Ledger, str], None],
) -> None:
    ledger = waiting()
    ledger.disable("office")
    before = ledger.as_mirror()

    with pytest.raises(UsageError) as refused:
        act(ledger, "office")

    assert ("'office' is not enabled", before) == (refused.value.message, ledger.as_mirror())


def test_disabling_says_why_and_supersedes_what_waits() -> None:
    ledger = waiting("pdf")
    ledger.put_binding(
        "office",
        Binding("pptx", "skills/pptx", "", digest("new"), "", "new", "plugin-add:office:pptx:1"),
    )
    ledger.put_candidate(
        a_candidate(skill="pptx", id="plugin-add:office:pptx:1", kind="plugin_skill_added")
    )

    ledger.disable("office")

    plugin, disabled = ledger.plugins["office"], ("disabled", "plugin_disabled:office")
    assert (False, "disabled") == (plugin.enabled, plugin.status)
    assert {"docx": disabled, "pdf": disabled, "xlsx": disabled} == {
        one.name: (one.status, one.why) for one in ledger.skills.values()
    }
    assert {("superseded", "plugin_disabled:office", NOW)} == {
        (one.status, one.reason, one.decided_at) for one in ledger.candidates.values()
    }
    assert {"docx": "", "pdf": "", "xlsx": ""} == {one.skill: one.pending for one in plugin.skills}


def test_disabling_leaves_skills_of_others_and_adopted_ones() -> None:
    ledger = waiting()
    ledger.put_skill(a_skill("other", plugin="others"))
    ledger.adopt("office", "pdf")

    ledger.disable("office")

    assert {"docx": "disabled", "other": "active", "pdf": "active", "xlsx": "disabled"} == {
        one.name: one.status for one in ledger.skills.values()
    }


def test_disabling_leaves_what_a_plugin_only_offers_and_another_has() -> None:
    ledger = waiting()
    ledger.put_skill(a_skill("pptx", plugin="others"))
    ledger.put_binding("office", Binding("pptx", "skills/pptx", "", digest("new"), "", "new"))

    ledger.disable("office")

    assert {"docx": "disabled", "pdf": "disabled", "pptx": "active", "xlsx": "disabled"} == {
        one.name: one.status for one in ledger.skills.values()
    }


# --- adopting


def test_an_adopted_skill_keeps_its_lineage_and_its_versions() -> None:
    ledger = waiting("pdf")
    before = ledger.skills["pdf"]

    ledger.adopt("office", "pdf")

    skill = ledger.skills["pdf"]
    assert ("user", "adopted_from_plugin:office", "active", before.versions) == (
        skill.owner,
        skill.lineage,
        skill.status,
        skill.versions,
    )
    assert ({"docx": "synced", "xlsx": "synced"}, "synced") == (
        statuses(ledger),
        ledger.plugins["office"].status,
    )
    assert [("superseded", "it was adopted")] == [
        (one.status, one.reason) for one in ledger.candidates.values()
    ]


def test_with_the_last_skill_the_plugin_is_adopted_and_nothing_of_it_waits() -> None:
    ledger = Ledger(a_mirror("pdf"), NOW)
    ledger.put_binding(
        "office",
        Binding("pptx", "skills/pptx", "", digest("new"), "", "new", a_candidate(skill="pptx").id),
    )
    ledger.put_candidate(a_candidate(skill="pptx"))

    ledger.adopt("office", "pdf")

    plugin = ledger.plugins["office"]
    assert ("adopted", False, ()) == (plugin.status, plugin.enabled, plugin.skills)
    assert ["superseded"] == [one.status for one in ledger.candidates.values()]


def test_a_disabled_skill_that_is_adopted_is_active_again_and_its_plugin_stays_disabled() -> None:
    ledger = waiting()
    ledger.disable("office")

    ledger.adopt("office", "pdf")

    assert ("active", "", "disabled") == (
        ledger.skills["pdf"].status,
        ledger.skills["pdf"].why,
        ledger.plugins["office"].status,
    )


def test_what_is_only_proposed_cannot_be_adopted() -> None:
    ledger = Ledger(a_mirror("pdf"), NOW)
    ledger.put_binding(
        "office",
        Binding("pptx", "skills/pptx", "", digest("new"), "", "new", "plugin-add:office:pptx:1"),
    )

    with pytest.raises(MetierError) as refused:
        ledger.adopt("office", "pptx")

    assert (
        "'pptx' is not here yet: it waits for your yes",
        "metier review accept plugin-add:office:pptx:1",
    ) == (refused.value.message, refused.value.hint)


# --- small parts


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("open", "superseded"),
        ("accepted", "superseded"),
        ("rejected", "rejected"),
        ("published", "published"),
    ],
)
def test_only_what_waits_is_withdrawn(status: str, expected: str) -> None:
    ledger = Ledger(a_mirror("pdf", candidates=[a_candidate(status=status, reason="before")]), NOW)

    ledger.withdraw(a_candidate().id, "after", "another")
    ledger.withdraw("nothing", "after", "another")

    [found] = ledger.candidates.values()
    decided = ("after", NOW, "another") if expected == "superseded" else ("before", "", "")
    assert (expected, *decided, AT) == (
        found.status,
        found.reason,
        found.decided_at,
        found.replaced_by,
        found.at,
    )
