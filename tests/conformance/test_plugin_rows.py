"""Plugins mirrored into a versioned store, row by row. Where a row is a gap, the test asks for what is better."""

from __future__ import annotations

import shutil
from hashlib import sha256

import pytest
from fakes.breaking import QuickHands
from fakes.hands import FaultyHands
from fakes.plugs import DANGER, LINES, Plugs, document, mine

from metier.errors import IntegrityError, MetierError, NotFoundError, StoreError, UsageError
from metier.plugins import mirror_store
from metier.plugins.mirror_ledger import next_version
from metier.plugins.model import MirroredVersion, VersionProvenance
from metier.settings.model import PluginSettings
from metier.store.io.atomic_change import state_of


def rewrite(plugs: Plugs, **fields: object) -> None:
    """Change what is written down about the skill `alpha`, as a host with hands of its own may."""
    skills = plugs.mirror().skills
    plugs.rewrite(
        skills=tuple(one._replace(**fields) if one.name == "alpha" else one for one in skills)  # type: ignore[arg-type]
    )


# BE-1: a manifest is mirrored into the store
@pytest.mark.rows("BE-1")
def test_a_plugin_is_mirrored_with_its_id_its_version_and_where_each_skill_lies(
    plugs: Plugs,
) -> None:
    done = plugs.enable()

    [plugin] = plugs.mirror().plugins
    assert ("kit", "1.0", str(plugs.kit), True) == (
        plugin.plugin_id,
        plugin.installed_version,
        plugin.source.location,
        done.changed,
    )
    assert [("alpha", "skills/alpha"), ("beta", "skills/beta")] == [
        (one.skill, one.path) for one in plugin.skills
    ]
    assert {one.accepted for one in plugin.skills} == plugs.trees()


# BE-1: one write lock, with a limit; who does not want to wait need not
@pytest.mark.rows("BE-1")
@pytest.mark.parametrize(
    "verb",
    [
        "plugin_sync",
        "plugin_pause",
        "plugin_resume",
        "plugin_disable",
        "plugin_adopt",
        "plugin_enable",
    ],
)
def test_what_changes_something_waits_for_the_lock_and_readers_do_not(
    verb: str, enabled: Plugs
) -> None:
    given = {
        "plugin_sync": (["kit"],),
        "plugin_adopt": ("kit", "alpha"),
        "plugin_enable": (str(enabled.kit),),
    }.get(verb, ("kit",))
    named = {"disable_linked_skills": True} if verb == "plugin_disable" else {}
    enabled.edit()

    with (
        enabled.open() as other,
        mirror_store.hold_lock(other.context),
        pytest.raises(StoreError) as refused,
    ):
        enabled(verb, *given, **named, blocking=False)
    with enabled.open() as other, mirror_store.hold_lock(other.context):
        listed, waiting, versions = (
            enabled("plugins"),
            enabled("candidates"),
            enabled("versions", "alpha"),
        )

    assert ("busy", "another process is changing skills") == (
        refused.value.code,
        refused.value.message[:34],
    )
    assert (["synced"], [], "v0001") == (
        [one.status for one in listed.plugins],
        waiting,
        versions.current,
    )
    assert 10 == PluginSettings().wait_seconds


@pytest.mark.rows("BE-2")
def test_the_list_has_what_is_written_down_and_what_was_found_sorted_by_id(enabled: Plugs) -> None:
    enabled.release(plugin="zebra", zulu=document("zulu"))
    enabled.release(plugin="ant", antenna=document("antenna"))
    enabled.configure(
        f'[plugins]\nsources = ["{enabled.base / "zebra"}", "{enabled.base / "ant"}"]\n'
    )

    listed = enabled("plugins").plugins

    found = [(one.plugin_id, one.status, one.enabled) for one in listed]
    assert [
        ("ant", "discovered", False),
        ("kit", "synced", True),
        ("zebra", "discovered", False),
    ] == found


@pytest.mark.rows("BE-3")
def test_an_unknown_plugin_is_said_to_be_unknown(plugs: Plugs) -> None:
    with pytest.raises(NotFoundError) as unknown:
        plugs("plugin_enable", "nobody")

    assert "there is no plugin 'nobody'" == unknown.value.message


@pytest.mark.rows("BE-3")
def test_a_plugin_that_is_enabled_and_synced_is_returned_unchanged(enabled: Plugs) -> None:
    before, listed = enabled.seen(), enabled("plugins").plugins

    again = enabled.enable()

    assert (False, listed, before) == (again.changed, again.plugins, enabled.seen())


# BE-4: a skill of somebody else's
@pytest.mark.rows("BE-4")
@pytest.mark.parametrize("whose", ["the lock", "a folder", "a file", "a link", "adopted"])
def test_a_skill_that_is_not_the_plugin_s_is_a_conflict_and_nothing_is_touched(
    whose: str, plugs: Plugs
) -> None:
    there = plugs.working("beta")
    there.parent.mkdir(parents=True)
    if whose == "the lock":
        plugs("add", str(plugs.kit), skills=["beta"], consent=lambda _so_far: True)
    elif whose == "adopted":
        plugs.release(plugin="other", beta=document("beta"))
        plugs.enable("other")
        plugs("plugin_adopt", "other", "beta")
    elif whose == "a folder":
        there.mkdir()
        (there / "SKILL.md").write_text(document("beta"))
    elif whose == "a file":
        there.write_text("a file\n")
    else:
        there.symlink_to(plugs.kit)
    before = plugs.seen()

    done = plugs.enable()

    [refusal] = done.refused
    assert ("beta", True, False) == (
        refusal.name,
        refusal.reasons[0].startswith("Skill ownership conflict: beta"),
        done.changed,
    )
    assert before == plugs.seen()


# BE-4: everything is judged before anything is touched
@pytest.mark.rows("BE-4")
def test_one_unsafe_skill_keeps_the_whole_plugin_out(plugs: Plugs) -> None:
    plugs.release(beta=document("beta", body=DANGER))
    before = plugs.seen()

    done = plugs.enable(force=True)

    [refusal] = done.refused
    assert ("beta", "Plugin skill safety check failed: beta") == (refusal.name, refusal.reasons[0])
    assert (True, before, ()) == (bool(refusal.findings), plugs.seen(), plugs.mirror().plugins)


# BE-4: what cannot be read as a skill
@pytest.mark.rows("BE-4")
def test_what_is_no_skill_keeps_the_whole_plugin_out(plugs: Plugs) -> None:
    plugs.release(beta="---\nname: beta\n")
    before = plugs.seen()

    done = plugs.enable()

    assert (["beta"], False, before) == (
        [one.name for one in done.refused],
        done.changed,
        plugs.seen(),
    )


# BE-5: accepted is what was observed, and the version of it is the current one
@pytest.mark.rows("BE-5")
def test_enabling_publishes_all_skills_and_writes_their_state_down(plugs: Plugs) -> None:
    plugs.enable()

    mirror = plugs.mirror()
    for binding in mirror.plugins[0].skills:
        skill = mirror.skill(binding.skill)
        assert skill is not None
        assert ("synced", "", binding.observed, "v0001") == (
            binding.status,
            binding.pending,
            binding.accepted,
            binding.version,
        )
        assert (binding.accepted, "v0001") == (
            state_of(str(plugs.working(skill.name))),
            skill.current,
        )
    assert [] == plugs.seen()["staged"]


# BE-5 put right: a failure at any step leaves no version, no snapshot, no state and no working copy
@pytest.mark.rows("BE-5")
@pytest.mark.parametrize("fault", ["EIO", "ENOSPC"])
def test_a_failure_at_any_step_of_enabling_leaves_nothing(fault: str, plugs: Plugs) -> None:
    before, at, wrong = plugs.seen(), 0, list[str]()

    while True:
        at += 1
        plugs.hands = hands = FaultyHands(at, fault, lasting=fault == "ENOSPC", inner=QuickHands())  # type: ignore[arg-type]
        try:
            plugs.enable()
        except MetierError as error:
            plugs.hands = QuickHands()
            if before != plugs.seen():
                changed = sorted(
                    key
                    for key in {*before, *plugs.seen()}
                    if before.get(key) != plugs.seen().get(key)
                )
                wrong.append(f"{hands.done[-1]} at {at}: {error.message}: {changed}")
        else:
            break

    assert (True, []) == (at > 20, wrong)
    assert ("synced", {"alpha": "synced", "beta": "synced"}) == plugs.standing()


@pytest.mark.rows("BE-6")
def test_a_skill_of_another_plugin_is_a_conflict(enabled: Plugs) -> None:
    enabled.release(
        plugin="other", beta=document("beta", body="Other words.\n"), gamma=document("gamma")
    )
    before = enabled.seen()

    done = enabled.enable("other")

    assert [("beta", "Skill ownership conflict: beta (it belongs to the plugin kit)")] == [
        (one.name, one.reasons[0]) for one in done.refused
    ]
    assert before == enabled.seen()


# BE-7 put right: while an update is pending
@pytest.mark.rows("BE-7")
@pytest.mark.parametrize("how", ["by its folder", "by its id"])
def test_enabling_again_while_an_update_waits_keeps_edits(how: str, enabled: Plugs) -> None:
    edited = enabled.edit()
    ident = enabled.update()

    again = (
        enabled.enable()
        if how == "by its folder"
        else enabled("plugin_enable", "kit", consent=lambda _so_far: True)
    )

    assert (edited, [ident], "update_pending") == (
        enabled.text(),
        enabled.waiting(),
        again.plugins[0].status,
    )


# BE-7 put right: after the manifest changed
@pytest.mark.rows("BE-7")
def test_enabling_again_after_the_manifest_changed_goes_the_three_way(enabled: Plugs) -> None:
    edited = enabled.edit()
    enabled.release("2.0", alpha=document("alpha", 11))

    again = enabled.enable()

    [ident] = again.opened
    assert (edited, "three_way", "2.0") == (
        enabled.text(),
        enabled.candidate(ident).merge_mode,
        again.plugins[0].installed_version,
    )


# BE-7 put right: after it was disabled
@pytest.mark.rows("BE-7")
def test_a_plugin_that_comes_back_brings_the_edits_and_proposes_the_update(enabled: Plugs) -> None:
    edited = enabled.edit()
    enabled("plugin_disable", "kit", disable_linked_skills=True)
    enabled.release("2.0", alpha=document("alpha", 11))

    again = enabled.enable()

    [ident] = again.opened
    assert (edited, "three_way", True) == (
        enabled.text(),
        enabled.candidate(ident).merge_mode,
        again.changed,
    )


@pytest.mark.rows("BE-8")
def test_versions_are_numbered_on_and_a_mirror_has_no_parent(enabled: Plugs) -> None:
    skill = enabled("versions", "alpha")
    [first] = skill.versions
    rewrite(enabled, versions=(first._replace(version="v0041"), first), current="v0001")
    enabled.edit()

    enabled.sync()

    assert [("v0041", ""), ("v0001", ""), ("v0042", "v0001")] == [
        one[:2] for one in enabled.versions()
    ]
    assert "v0002" == next_version(
        skill._replace(
            versions=(first, first._replace(version="vnext"), first._replace(version="beta"))
        )
    )


@pytest.mark.rows("BE-9")
def test_a_version_says_what_it_is_and_where_it_is_from(enabled: Plugs) -> None:
    text = document("alpha").encode()
    content, summary = (
        f"sha256:{sha256(data).hexdigest()}" for data in (text, text[-len(LINES) - 1 :])
    )
    digest = state_of(str(enabled.kit / "skills/alpha"))

    [made] = enabled("versions", "alpha").versions

    assert made == MirroredVersion(
        "v0001",
        digest,
        content,
        summary,
        "",
        "plugin:kit",
        "mirrored from kit 1.0",
        "published",
        made.at,
        VersionProvenance("plugin", "kit", "1.0", "skills/alpha", content, digest, "mirror"),
    )


# BE-9: support files are part of the tree, whose digest is upstream's own
@pytest.mark.rows("BE-9")
def test_the_tree_of_a_version_is_upstream_s_with_all_its_files(plugs: Plugs) -> None:
    (plugs.kit / "skills/alpha/references").mkdir()
    (plugs.kit / "skills/alpha/references/guide.md").write_text("Read me.\n")
    plugs.enable()

    viewed = plugs("version", "alpha", "v0001", file="references/guide.md")

    assert (("SKILL.md", "references/guide.md"), "Read me.\n") == (viewed.files, viewed.content)
    assert (
        state_of(str(plugs.kit / "skills/alpha"))
        == viewed.version.digest
        == viewed.version.provenance.upstream_skill_tree_hash
    )


# BE-10, put right for folders
@pytest.mark.rows("BE-10")
@pytest.mark.parametrize("aim", ["file", "folder", "nowhere", "outside"])
def test_a_link_in_a_skill_is_refused_whatever_it_leads_to(aim: str, plugs: Plugs) -> None:
    skill = plugs.kit / "skills/beta"
    (skill / "real").mkdir()
    (skill / "real/x.md").write_text("x\n")
    (skill / "docs").mkdir()
    leads = {"file": "../real/x.md", "folder": "../real", "nowhere": "gone", "outside": "/etc"}
    (skill / "docs/link").symlink_to(leads[aim])
    before = plugs.seen()

    done = plugs.enable()

    assert [("beta", ("Skill tree contains a symlink: docs/link",))] == [
        (one.name, one.reasons) for one in done.refused
    ]
    assert before == plugs.seen()


# BE-10: in an update as well
@pytest.mark.rows("BE-10")
def test_an_update_with_a_link_is_not_proposed_and_said(enabled: Plugs) -> None:
    (enabled.kit / "skills/beta/link").symlink_to("SKILL.md")
    enabled.release("1.1", alpha=document("alpha", 11))

    done = enabled.sync()

    assert ["kit: 'beta' is left as it is: Skill tree contains a symlink: link"] == list(done.notes)
    assert ({"alpha": "update_pending", "beta": "synced"}, 1) == (
        enabled.standing()[1],
        len(done.opened),
    )


@pytest.mark.rows("BE-11")
def test_a_mirrored_skill_says_whose_it_is(enabled: Plugs) -> None:
    skill = enabled("versions", "alpha")

    assert ("alpha", "plugin:kit", "plugin:kit", "active", "") == (
        skill.name,
        skill.owner,
        skill.lineage,
        skill.status,
        skill.why,
    )
    assert [("alpha", "Does one thing. Use it for that thing.")] == [
        (card.name, card.description) for card in enabled("skills") if card.name == "alpha"
    ]


@pytest.mark.rows("BE-12")
@pytest.mark.parametrize(
    ("verb", "status"), [("plugin_pause", "paused"), ("plugin_disable", "disabled")]
)
def test_what_is_disabled_or_paused_is_not_looked_at(
    verb: str, status: str, enabled: Plugs
) -> None:
    enabled(verb, "kit", **({"disable_linked_skills": True} if status == "disabled" else {}))
    enabled.release("1.1", alpha=document("alpha", 11))
    before = enabled.seen()

    done = enabled.sync()

    assert (False, (), before) == (done.changed, done.opened, enabled.seen())
    assert (status, "1.0") == (done.plugins[0].status, done.plugins[0].installed_version)


@pytest.mark.rows("BE-12")
def test_a_manifest_that_is_gone_makes_a_plugin_missing_and_its_skills_stay(enabled: Plugs) -> None:
    shutil.rmtree(enabled.kit / ".claude-plugin")

    done = enabled.sync()

    assert ("missing", document("alpha")) == (done.plugins[0].status, enabled.text())


# BE-13 and BE-14: in this order, and never applied by itself
@pytest.mark.rows("BE-13", "BE-14", "easily missed 14")
@pytest.mark.parametrize(
    ("local", "upstream", "mode"),
    [
        (document("alpha"), document("alpha"), ""),
        (mine("alpha", 2), document("alpha"), ""),
        (document("alpha", 11), document("alpha", 11), ""),
        (document("alpha"), document("alpha", 11), "fast_forward"),
        (mine("alpha", 2), document("alpha", 11), "three_way"),
    ],
    ids=["unchanged", "unchanged and edited", "already applied", "fast forward", "three way"],
)
def test_each_class_does_its_own_and_nothing_is_put_in_place(
    local: str, upstream: str, mode: str, enabled: Plugs
) -> None:
    enabled.working("alpha", "SKILL.md").write_text(local)
    enabled.release("1.1", alpha=upstream)

    done = enabled.sync()

    assert [mode] * bool(mode) == [enabled.candidate(ident).merge_mode for ident in done.opened]
    assert (local, "update_pending" if mode else "synced") == (
        enabled.text(),
        enabled.standing()[1]["alpha"],
    )


# BE-14: what is applied already is accepted
@pytest.mark.rows("BE-14")
def test_what_the_working_copy_is_already_is_accepted_silently(enabled: Plugs) -> None:
    enabled.working("alpha", "SKILL.md").write_text(document("alpha", 11))
    enabled.release("1.1", alpha=document("alpha", 11))

    enabled.sync()

    binding = enabled.mirror().plugins[0].skills[0]
    upstream = state_of(str(enabled.kit / "skills/alpha"))
    assert (upstream, upstream, "v0002", "") == (
        binding.accepted,
        binding.observed,
        binding.version,
        binding.pending,
    )


@pytest.mark.rows("BE-15")
def test_a_candidate_says_what_it_goes_by(enabled: Plugs) -> None:
    base = state_of(str(enabled.kit / "skills/alpha"))
    enabled.edit()
    local = state_of(str(enabled.working()))

    ident = enabled.update()

    new, one = state_of(str(enabled.kit / "skills/alpha")), enabled.candidate(ident)
    about = one.evidence
    assert f"plugin-update:kit:alpha:{new.removeprefix('sha256:')[:12]}" == ident
    assert ("plugin_skill_update", 10, 1.0, "open") == (
        one.kind,
        one.priority,
        one.confidence,
        one.status,
    )
    assert ("kit", "1.1", "alpha", "three_way", base, new, "v0002", local) == about[:8]
    assert ("safe", (), True) == (
        about.verdict,
        about.conflicts,
        about.proposed_tree_hash in enabled.trees(),
    )


# BE-15: recorded if absent, superseded by a newer one
@pytest.mark.rows("BE-15")
def test_a_candidate_is_recorded_once_and_superseded_by_a_newer_one(enabled: Plugs) -> None:
    first = enabled.update()
    again = enabled.sync()

    second = enabled.update("alpha", 10, version="1.2")

    old = enabled.candidate(first)
    assert ((), False) == (again.opened, again.changed)
    assert ("superseded", second, [second]) == (old.status, old.replaced_by, enabled.waiting())


@pytest.mark.rows("BE-16")
def test_one_pending_skill_makes_its_plugin_pending_and_the_version_moves_on(
    enabled: Plugs,
) -> None:
    enabled.update(version="1.1")

    [plugin] = enabled.mirror().plugins
    assert ("update_pending", "1.1") == (plugin.status, plugin.installed_version)


# BE-17 put right: added ones are proposed
@pytest.mark.rows("BE-17")
def test_a_skill_that_a_newer_manifest_brings_is_proposed_and_put_in_place_by_a_yes(
    enabled: Plugs,
) -> None:
    enabled.release("1.1", gamma=document("gamma"))

    done = enabled.sync()

    [ident] = done.opened
    before = enabled.working("gamma").exists()
    decided = enabled("accept", ident)
    assert (True, False, "plugin_skill_added") == (
        ident.startswith("plugin-add:kit:gamma:"),
        before,
        decided.candidate.kind,
    )
    assert (document("gamma"), "synced") == (enabled.text("gamma"), enabled.standing()[1]["gamma"])
    assert [("v0001", "", "plugin:kit")] == enabled.versions("gamma")


# BE-17 put right: removed ones are reported, and stay until a person decides
@pytest.mark.rows("BE-17")
@pytest.mark.parametrize("verb", ["accept", "reject"])
def test_a_skill_that_is_no_longer_shipped_stays_until_a_person_decides(
    verb: str, enabled: Plugs
) -> None:
    edited = enabled.edit("beta")
    enabled.release("1.1", beta=None)

    [ident] = enabled.sync().opened
    kept = enabled.text("beta")
    enabled(verb, ident)

    assert (True, edited) == (ident.startswith("plugin-remove:kit:beta:"), kept)
    assert (verb == "reject") == enabled.working("beta").exists()
    assert ("v0002", "user") == (enabled.versions("beta")[-1][0], enabled.versions("beta")[-1][2])
    assert ((), "synced") == (enabled.sync().opened, enabled.standing()[0])


@pytest.mark.rows("BE-18")
def test_an_acknowledgement_that_was_lost_is_taken_up(enabled: Plugs) -> None:
    ident = enabled.update()
    waiting = enabled.mirror().plugins[0].skills[0]
    enabled("accept", ident)
    plugin = enabled.mirror().plugins[0]
    enabled.rewrite(
        plugins=(plugin._replace(status="update_pending", skills=(waiting, *plugin.skills[1:])),)
    )

    enabled.sync()

    binding = enabled.mirror().plugins[0].skills[0]
    assert ("synced", {"alpha": "synced", "beta": "synced"}) == enabled.standing()
    assert (waiting.observed, "v0002", "", []) == (
        binding.accepted,
        binding.version,
        binding.pending,
        enabled.waiting(),
    )


@pytest.mark.rows("BE-18")
def test_an_acknowledgement_that_was_lost_is_taken_up_also_when_its_source_went_back(
    enabled: Plugs,
) -> None:
    ident = enabled.update()
    waiting = enabled.mirror().plugins
    enabled("accept", ident)
    enabled.rewrite(plugins=waiting)
    enabled.release("1.0", alpha=document("alpha"))

    [back] = enabled.sync().opened

    assert ("published", "fast_forward") == (
        enabled.candidate(ident).status,
        enabled.candidate(back).merge_mode,
    )
    assert (
        enabled.candidate(ident).evidence.new_upstream_tree_hash
        == enabled.candidate(back).evidence.base_upstream_tree_hash
    )


# BE-19 put right: each skill for itself
@pytest.mark.rows("BE-19")
def test_an_acknowledgement_leaves_the_other_skills_of_the_plugin_as_they_are(
    enabled: Plugs,
) -> None:
    enabled.release("1.1", alpha=document("alpha", 11), beta=document("beta", 11))
    first, second = enabled.sync().opened

    enabled("accept", first)

    assert ("update_pending", {"alpha": "synced", "beta": "update_pending"}) == enabled.standing()
    assert [second] == enabled.waiting()
    enabled("accept", second)
    assert "synced" == enabled.standing()[0]


@pytest.mark.rows("BE-19")
def test_a_host_that_publishes_by_itself_acknowledges_with_provenance(enabled: Plugs) -> None:
    ident = enabled.update()
    about = enabled.candidate(ident).evidence
    [first] = enabled("versions", "alpha").versions
    bare = first._replace(
        version="v0002",
        digest=about.new_upstream_tree_hash,
        parent_version="v0001",
        provenance=VersionProvenance(),
    )
    told = bare._replace(
        version="v0003",
        provenance=VersionProvenance(
            "plugin", "kit", "1.1", about.path, "", about.new_upstream_tree_hash
        ),
    )
    rewrite(enabled, versions=(first, bare, told), current="v0003")

    with pytest.raises(IntegrityError) as bad:
        enabled("published", ident, "v0002")
    with pytest.raises(NotFoundError):
        enabled("published", ident, "v0009")
    done = enabled("published", ident, "v0003")

    assert "Plugin publish acknowledgement is missing provenance" == bad.value.message
    assert ("synced", "published", "v0003") == (
        done.plugins[0].status,
        enabled.candidate(ident).status,
        enabled.candidate(ident).version,
    )


@pytest.mark.rows("BE-20")
def test_a_plugin_is_paused_and_looked_at_at_once_when_it_is_resumed(enabled: Plugs) -> None:
    paused = enabled("plugin_pause", "kit").plugins[0]
    enabled.release("1.1", alpha=document("alpha", 11))

    resumed = enabled("plugin_resume", "kit")

    assert ("paused", "update_pending", 1) == (
        paused.status,
        resumed.plugins[0].status,
        len(resumed.opened),
    )


@pytest.mark.rows("BE-21")
def test_disabling_asks_for_confirmation_and_says_why_its_skills_are_gone(enabled: Plugs) -> None:
    before = enabled.seen()
    with pytest.raises(UsageError) as asked:
        enabled("plugin_disable", "kit")
    unchanged = before == enabled.seen()

    done = enabled("plugin_disable", "kit", disable_linked_skills=True)

    assert ("disable_linked_skills confirmation is required", True) == (
        asked.value.message,
        unchanged,
    )
    assert ("disabled", False, []) == (
        done.plugins[0].status,
        done.plugins[0].enabled,
        enabled("skills"),
    )
    assert [("disabled", "plugin_disabled:kit")] * 2 == [
        (one.status, one.why) for one in enabled.mirror().skills
    ]


@pytest.mark.rows("BE-22")
def test_an_adopted_skill_is_one_s_own_and_with_the_last_one_the_plugin_is_adopted(
    enabled: Plugs,
) -> None:
    first = enabled("plugin_adopt", "kit", "alpha").plugins[0]

    last = enabled("plugin_adopt", "kit", "beta").plugins[0]

    assert (["beta"], True, "synced") == (list(first.skills), first.enabled, first.status)
    assert ({}, False, "adopted") == (last.skills, last.enabled, last.status)
    assert [("user", "adopted_from_plugin:kit", "active")] * 2 == [
        (one.owner, one.lineage, one.status) for one in enabled.mirror().skills
    ]
    assert document("alpha") == enabled.text()


@pytest.mark.rows("BE-23")
@pytest.mark.parametrize(
    "verb", ["plugin_pause", "plugin_resume", "plugin_disable", "plugin_adopt", "plugin_sync"]
)
def test_a_plugin_without_state_is_said_to_have_none(verb: str, plugs: Plugs) -> None:
    given = {"plugin_adopt": ("kit", "alpha"), "plugin_sync": (["kit"],)}.get(verb, ("kit",))

    with pytest.raises(NotFoundError) as unknown:
        plugs(verb, *given)

    assert "the plugin 'kit' was never enabled here" == unknown.value.message


@pytest.mark.rows("BE-23")
def test_a_skill_that_is_not_bound_is_said_not_to_be(enabled: Plugs) -> None:
    with pytest.raises(NotFoundError) as unbound:
        enabled("plugin_adopt", "kit", "gamma")

    assert "Plugin skill binding not found: kit/gamma" == unbound.value.message
