"""`remove`: exactly what was put there goes, and nothing else."""

from __future__ import annotations

import os

import pytest
from fakes.shop import SAFE, Shop, document, no, tree, write_skill, yes

from metier.errors import NotFoundError
from metier.store.io.disk_calls import OsDiskCalls
from metier.store.io.tree_store import Store
from metier.supply import places


def installed(shop: Shop, *names: str, to: tuple[str, ...] = ("claude-code",)) -> None:
    for name in names:
        shop.offer(name)
        with shop.open() as m:
            m.add(f"../shelf/{name}", to=to)


def test_everything_that_was_put_there_is_taken_back(shop: Shop) -> None:  # HE-42
    before = tree(shop.project)
    installed(shop, "pdf")

    with shop.open() as m:
        outcome = m.remove("pdf")

    assert (["pdf"], []) == ([step.name for step in outcome.plan.remove], list(outcome.refused))
    assert set(before) | {"metier.lock"} == set(tree(shop.project))
    assert ({}, ("remove", "done", "pdf")) == (shop.pins(), shop.events()[-1])


def test_what_lies_beside_it_stays(shop: Shop) -> None:
    installed(shop, "pdf", "ocr")
    for path in (
        ".agents/skills/mine/SKILL.md",
        ".claude/skills/theirs/SKILL.md",
        ".claude/settings.json",
        ".agents/notes.md",
    ):
        (shop.project / path).parent.mkdir(parents=True, exist_ok=True)
        (shop.project / path).write_text("mine\n")
    before = tree(shop.project)

    with shop.open() as m:
        m.remove(["pdf"])

    gone = {path for path in before if path not in tree(shop.project)}
    assert {".agents/skills/pdf", ".agents/skills/pdf/SKILL.md", ".claude/skills/pdf"} == gone
    assert ["ocr"] == list(shop.pins())


def test_empty_folders_go_only_where_metier_made_them(shop: Shop) -> None:
    (shop.project / ".claude").mkdir()
    installed(shop, "pdf", to=("claude-code", "qwen-code"))

    with shop.open() as m:
        m.remove("pdf")

    assert {".git", ".claude", "metier.lock"} == set(tree(shop.project))


@pytest.mark.parametrize("method", ["link", "copy"])
def test_an_edited_skill_is_refused_without_force_and_kept_in_the_store_with_it(
    shop: Shop, method: str
) -> None:
    shop.offer("pdf")
    with shop.open() as m:
        m.context.platform = "linux" if method == "link" else "win32"
        m.add("../shelf/pdf", to=["claude-code"])
        edited = shop.working("pdf") if method == "link" else shop.project / ".claude/skills/pdf"
        (edited / "SKILL.md").write_text(document("pdf", "My own words.\n"))
        mine = m.context.machine.digest(str(edited))
        before = shop.seen()
        refused = m.remove("pdf")
        untouched = shop.seen()

        forced = m.remove("pdf", force=True)
        kept = places.store_of(m.context).read(str(mine), "SKILL.md")

    assert ([], ["pdf"], before) == (
        list(refused.plan.remove),
        [one.name for one in refused.refused],
        untouched,
    )
    assert (["pdf"], document("pdf", "My own words.\n")) == (
        [step.name for step in forced.plan.remove],
        kept.decode(),
    )
    assert {".git", "metier.lock"} == set(tree(shop.project))


def test_removed_edits_outlive_a_sweep_and_come_back_by_rollback(shop: Shop) -> None:
    installed(shop, "pdf")
    shop.working("pdf", "SKILL.md").write_text(document("pdf", "My own words.\n"))

    with shop.open() as m:
        m.remove("pdf", force=True)
        m.gc()
        m.add("../shelf/pdf")
        m.rollback("pdf", next(one.number for one in m.history("pdf") if one.what == "edit"))

    assert document("pdf", "My own words.\n") == shop.working("pdf", "SKILL.md").read_text()


def test_a_link_that_somebody_replaced_by_a_folder_stays_and_is_noted(shop: Shop) -> None:
    installed(shop, "pdf")
    theirs = shop.project / ".claude/skills/pdf"
    theirs.unlink()
    theirs.mkdir()
    (theirs / "SKILL.md").write_text("mine\n")

    with shop.open() as m:
        outcome = m.remove("pdf")

    assert (f"{theirs} is not what was put there, and stays",) == outcome.notes
    assert ("mine\n", False, {}) == (
        (theirs / "SKILL.md").read_text(),
        shop.working("pdf").exists(),
        shop.pins(),
    )


@pytest.mark.parametrize("aim", ["../../elsewhere", "/etc"])
def test_a_link_that_leads_elsewhere_now_stays(shop: Shop, aim: str) -> None:
    installed(shop, "pdf")
    link = shop.project / ".claude/skills/pdf"
    link.unlink()
    link.symlink_to(aim)

    with shop.open() as m:
        outcome = m.remove("pdf")

    assert (aim, 1) == (os.readlink(link), len(outcome.notes))


def test_a_working_copy_that_is_a_link_now_stays(shop: Shop) -> None:
    installed(shop, "pdf", to=())
    shop.working("pdf").rename(shop.base / "moved")
    shop.working("pdf").symlink_to(shop.base / "moved")

    with shop.open() as m:
        outcome = m.remove("pdf", force=True)

    assert (True, 1, {}) == (shop.working("pdf").is_symlink(), len(outcome.notes), shop.pins())
    assert document("pdf") == (shop.base / "moved/SKILL.md").read_text()


def test_what_is_gone_already_goes_from_the_lock(shop: Shop) -> None:
    installed(shop, "pdf")
    (shop.project / ".claude/skills/pdf").unlink()
    shop.working("pdf", "SKILL.md").unlink()
    shop.working("pdf").rmdir()

    with shop.open() as m:
        outcome = m.remove("pdf")

    assert ((), {}) == (outcome.refused, shop.pins())


@pytest.mark.parametrize("wish", [{"dry_run": True}, {"consent": no}])
def test_without_a_yes_nothing_is_removed(shop: Shop, wish: dict[str, object]) -> None:
    installed(shop, "pdf")
    before = shop.seen()

    with shop.open() as m:
        outcome = m.remove("pdf", **wish)  # type: ignore[arg-type]

    assert (["pdf"], before) == ([step.name for step in outcome.plan.remove], shop.seen())


def test_only_what_is_in_the_lock_can_be_removed(shop: Shop) -> None:  # HE-42: hub skills alone
    installed(shop, "pdf")
    (shop.working("mine")).mkdir()
    (shop.working("mine") / "SKILL.md").write_text(document("mine", SAFE))
    before = shop.seen()

    with shop.open() as m:
        for name in ("mine", "../pdf", "", "PDF"):
            with pytest.raises(NotFoundError):
                m.remove(["pdf", name])
        with pytest.raises(NotFoundError):
            m.remove("pdf", user=True)

    assert before == shop.seen()


def test_what_was_adopted_as_it_lay_there_is_removed_only_by_force_and_the_store_keeps_it(
    shop: Shop,
) -> None:
    write_skill(shop.working("pdf"), "pdf")
    with shop.open() as m:
        digest = m.adopt(shop.working("pdf")).installed[0].digest

        asked = m.remove("pdf", consent=yes)
        there = shop.working("pdf").is_dir()
        forced = m.remove("pdf", force=True, consent=yes)

    assert (["pdf"], True) == ([one.name for one in asked.refused], there)
    assert ([], False) == (list(forced.refused), shop.working("pdf").exists())
    assert Store(f"{shop.data}/store", None, OsDiskCalls()).has(digest)
