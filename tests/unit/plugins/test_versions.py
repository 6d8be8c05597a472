"""The versions of a mirrored skill: viewed, compared, and put in place again without anything being lost."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from fakes.breaking import QuickHands
from fakes.hands import FaultyHands
from fakes.plugs import DANGER, Plugs, document, mine

from metier.errors import MetierError, NotFoundError, RefusedError, StoreError, UsageError
from metier.plugins import candidates, mirror_store
from metier.plugins.mirror_ledger import Ledger
from metier.plugins.mirror_store import hashes_of_kept
from metier.supply import places


@pytest.fixture
def edited(enabled: Plugs) -> Plugs:
    """Give a machine where `alpha` was edited and has two versions."""
    enabled.edit()
    enabled.sync()
    return enabled


# --- viewing


def test_a_version_is_shown_with_its_document_and_all_its_files(edited: Plugs) -> None:
    first, now = edited("version", "alpha", "v0001"), edited("version", "alpha")

    assert (document("alpha"), False, "SKILL.md", ("SKILL.md",)) == (
        first.content,
        first.current,
        first.file,
        first.files,
    )
    assert (mine("alpha", 2), True, "v0002") == (now.content, now.current, now.version.version)


def test_a_file_that_is_no_text_is_shown_as_nothing(enabled: Plugs) -> None:
    enabled.working("alpha", "logo.png").write_bytes(b"\x89PNG\0\0")
    enabled.sync()

    assert "" == enabled("version", "alpha", file="logo.png").content


@pytest.mark.parametrize(
    ("verb", "given", "named", "message"),
    [
        ("version", ("alpha", "v0009"), {}, "'alpha' has no version 'v0009'"),
        ("version", ("alpha", "v0001"), {"file": "../x"}, "v0001 of 'alpha' has no file '../x'"),
        ("version", ("gamma",), {}, "'gamma' has no versions here"),
        ("versions", ("gamma",), {}, "'gamma' has no versions here"),
        ("versions", ("alpha",), {"user": True}, "'alpha' has no versions here"),
        ("compare", ("alpha", "v0009"), {}, "'alpha' has no version 'v0009'"),
        ("compare", ("alpha", "v0001", "v0009"), {}, "'alpha' has no version 'v0009'"),
        ("make_current", ("alpha", "v0009"), {}, "'alpha' has no version 'v0009'"),
        ("make_current", ("gamma", "v0001"), {}, "'gamma' has no versions here"),
    ],
)
def test_what_is_not_there_is_said_not_to_be(
    enabled: Plugs, verb: str, given: tuple[str, ...], named: dict[str, object], message: str
) -> None:
    with pytest.raises(NotFoundError) as unknown:
        enabled(verb, *given, **named)

    assert message == unknown.value.message


# --- comparing


def test_two_versions_are_compared_and_a_version_with_the_working_copy(edited: Plugs) -> None:
    edited.edit("alpha", 7)

    between, now = edited("compare", "alpha", "v0001", "v0002"), edited("compare", "alpha", "v0002")

    assert ("-Line 2 of the text.\n+My line 2 of the text.\n" in between, "line 7" in between) == (
        True,
        False,
    )
    assert (
        "-Line 7 of the text.\n+My line 7 of the text.\n" in now,
        "line 2 of the text.\n+" in now,
    ) == (True, False)
    assert "" == edited("compare", "alpha", "v0001", "v0001")


def test_where_there_is_no_working_copy_the_current_version_stands_for_it(edited: Plugs) -> None:
    edited("plugin_disable", "kit", disable_linked_skills=True)

    assert "+My line 2 of the text.\n" in edited("compare", "alpha", "v0001")


# --- putting in place


def test_any_version_can_be_put_in_place_and_back(edited: Plugs) -> None:
    first = edited("make_current", "alpha", "v0001").current, edited.text()
    again = edited("make_current", "alpha", "v0002").current, edited.text()

    assert (("v0001", document("alpha")), ("v0002", mine("alpha", 2))) == (first, again)
    assert 2 == len(edited.versions())


def test_an_edit_that_nobody_noted_is_a_version_before_it_is_replaced(edited: Plugs) -> None:
    more = edited.edit("alpha", 7)

    skill = edited("make_current", "alpha", "v0001")

    assert ("v0001", document("alpha"), ("v0003", "v0002", "user")) == (
        skill.current,
        edited.text(),
        edited.versions()[-1],
    )
    assert more == edited("version", "alpha", "v0003").content


def test_a_working_copy_that_was_deleted_is_brought_back(enabled: Plugs) -> None:
    shutil.rmtree(enabled.working())

    enabled("make_current", "alpha", "v0001")

    assert document("alpha") == enabled.text()


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_is_no_folder_is_not_replaced(kind: str, enabled: Plugs) -> None:
    shutil.rmtree(enabled.working())
    enabled.working().write_text("mine\n") if kind == "file" else enabled.working().symlink_to(
        enabled.kit
    )

    with pytest.raises(StoreError) as refused:
        enabled("make_current", "alpha", "v0001")

    assert (f"{enabled.working()} is not a readable folder", kind == "link") == (
        refused.value.message,
        enabled.working().is_symlink(),
    )


def test_a_disabled_skill_stays_away(enabled: Plugs) -> None:
    enabled("plugin_disable", "kit", disable_linked_skills=True)

    with pytest.raises(UsageError) as refused:
        enabled("make_current", "alpha", "v0001")

    assert ("'alpha' is disabled: its plugin kit is disabled", False) == (
        refused.value.message,
        enabled.working().exists(),
    )


@pytest.fixture
def let_go(enabled: Plugs) -> Plugs:
    """Give a machine whose skill `beta`, which was edited, is no longer shipped and was let go."""
    enabled.edit("beta")
    enabled.release("1.1", beta=None)
    [ident] = enabled.sync().opened
    enabled("accept", ident)
    return enabled


def test_a_skill_that_was_let_go_is_taken_back_as_one_s_own(let_go: Plugs) -> None:
    let_go.release("1.2", beta=document("beta", 11))
    [ident] = let_go.sync().opened

    skill = let_go("make_current", "beta", "v0002")

    assert (mine("beta", 2), "user", "active", "adopted_from_plugin:kit") == (
        let_go.text("beta"),
        skill.owner,
        skill.status,
        skill.lineage,
    )
    assert ("superseded", ("synced", {"alpha": "synced"})) == (
        let_go.candidate(ident).status,
        let_go.standing(),
    )


def test_a_skill_that_was_let_go_is_not_taken_back_over_what_is_somebody_s(let_go: Plugs) -> None:
    let_go.working("beta").mkdir(parents=True)
    let_go.working("beta", "SKILL.md").write_text("another\n")

    with pytest.raises(RefusedError) as refused:
        let_go("make_current", "beta", "v0002")

    assert ("ownership", "another\n") == (refused.value.code, let_go.text("beta"))


def test_a_dangerous_version_is_refused_whatever_its_age(enabled: Plugs) -> None:
    with enabled.open() as library, mirror_store.hold_lock(library.context) as changer:
        ground = mirror_store.read(library.context, places.place_of(library.context, user=False))
        old = enabled.base / "old"
        old.mkdir()
        (old / "SKILL.md").write_text(document("alpha", body=DANGER))
        ledger = Ledger(ground.mirror, "2026-01-02T03:04:05Z")
        candidates.note_edit(
            ledger,
            "alpha",
            hashes_of_kept(library.context, places.store_of(library.context).keep(str(old))),
        )
        ledger.put_skill(ledger.skills["alpha"]._replace(current="v0001"))
        mirror_store.apply_change(ground, ledger.as_mirror(), (), changer)

    with pytest.raises(RefusedError) as refused:
        enabled("make_current", "alpha", "v0002")

    assert ("unsafe", True) == (refused.value.code, bool(refused.value.details["findings"]))
    assert refused.value.message.startswith("Plugin skill safety check failed: alpha: ")
    assert (document("alpha"), "v0001") == (enabled.text(), enabled("versions", "alpha").current)


def test_an_older_version_is_local_from_then_on_and_is_not_updated_by_itself(edited: Plugs) -> None:
    edited("accept", edited.update())
    edited("make_current", "alpha", "v0001")

    done = edited.sync()

    assert (False, document("alpha"), "synced") == (
        done.changed,
        edited.text(),
        edited.standing()[0],
    )


def test_what_waits_is_made_anew_on_the_version_that_is_in_place_now(edited: Plugs) -> None:
    ident = edited.update()
    before = edited.candidate(ident).merge_mode

    edited("make_current", "alpha", "v0001")
    edited.sync()

    assert ("three_way", "fast_forward", "v0001") == (
        before,
        (now := edited.candidate(ident)).merge_mode,
        now.evidence.local_version,
    )


@pytest.mark.parametrize("platform", ["linux", "win32"])
def test_links_and_untouched_copies_follow_and_edited_ones_stay(
    platform: str, plugs: Plugs
) -> None:
    plugs.platform = platform
    plugs.enable(to=["claude-code"])
    copy = plugs.project / ".claude/skills/alpha/SKILL.md"
    plugs("accept", plugs.update())
    plugs("make_current", "alpha", "v0001")
    followed = copy.read_text()
    if platform == "win32":
        copy.write_text("mine\n")

    plugs("make_current", "alpha", "v0002")

    assert (document("alpha"), "mine\n" if platform == "win32" else document("alpha", 11)) == (
        followed,
        copy.read_text(),
    )
    assert (platform == "win32") == any(
        "was changed outside metier" in text for text in plugs.warnings
    )


def test_the_user_s_skill_and_the_project_s_have_versions_of_their_own(plugs: Plugs) -> None:
    plugs.enable()
    plugs.enable(user=True)
    plugs.edit()
    plugs.sync()

    assert (2, 1) == (
        len(plugs("versions", "alpha").versions),
        len(plugs("versions", "alpha", user=True).versions),
    )


def test_a_failure_at_any_step_leaves_what_was_in_place(edited: Plugs) -> None:
    before, at, wrong = edited.text(), 0, list[str]()

    while True:
        at += 1
        edited.hands = FaultyHands(at, "EIO", inner=QuickHands())
        try:
            edited("make_current", "alpha", "v0001")
        except MetierError as error:
            if (before, "v0002") != (edited.text(), edited("versions", "alpha").current):
                wrong.append(f"{at}: {error.message}")
        else:
            break

    assert (True, [], document("alpha")) == (at > 10, wrong, edited.text())


def test_adopted_skills_keep_their_versions(edited: Plugs) -> None:
    edited("plugin_adopt", "kit", "alpha")

    edited("make_current", "alpha", "v0001")

    assert (document("alpha"), Path(edited.working()).is_dir()) == (edited.text(), True)
