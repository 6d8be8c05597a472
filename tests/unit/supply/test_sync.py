"""`sync`: the same bytes as the lock says, or a reason why not."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest
from fakes.repositories import Repository
from fakes.shop import CAUTION, DANGEROUS, FakeFetcher, Shop, document, tree, yes

from metier.errors import ConfigError, NotFoundError, StoreError
from metier.store.io.disk_calls import OsDiskCalls
from metier.store.io.tree_store import Store
from metier.trust.decision_records import Decisions
from metier.trust.io import decisions_file

if TYPE_CHECKING:
    from pathlib import Path

    from metier.library import Library
    from metier.model import Digest


def installed(shop: Shop, *names: str, to: tuple[str, ...] = ("claude-code",)) -> None:
    with shop.open() as m:
        for name in names:
            shop.offer(name, files={"more/a.md": "a\n"})
            m.add(f"../shelf/{name}", to=to)


def another_machine(shop: Shop) -> Library:
    return shop.open(METIER_HOME=str(shop.base / "other-home"))


def test_a_lock_that_the_disk_matches_needs_nothing(shop: Shop) -> None:
    installed(shop, "pdf")
    before = shop.seen()

    with shop.open() as m:
        found = [m.sync(frozen=True), m.sync()]

    assert ([(True, (), (), ())] * 2, before) == ([tuple(one) for one in found], shop.seen())


def test_frozen_needs_a_lock(shop: Shop) -> None:
    with shop.open() as m, pytest.raises(NotFoundError):
        m.sync(frozen=True)

    assert {".git": "folder"} == tree(shop.project)


@pytest.mark.parametrize("frozen", [False, True])
def test_what_is_missing_is_restored_from_the_store_though_its_source_is_gone(
    shop: Shop, frozen: bool
) -> None:
    installed(shop, "pdf", "ocr")
    whole = tree(shop.project)
    shutil.rmtree(shop.shelf)
    shutil.rmtree(shop.working("pdf"))
    (shop.project / ".claude/skills/ocr").unlink()

    with shop.open() as m:
        found = m.sync(frozen=frozen)

    assert (True, {str(shop.working("pdf")), str(shop.project / ".claude/skills/ocr")}) == (
        found.ok,
        set(found.changed),
    )
    assert whole == tree(shop.project)


def test_a_copy_is_restored_as_a_copy(shop: Shop) -> None:
    shop.offer("pdf")
    with shop.open() as m:
        m.context.platform = "win32"
        m.add("../shelf/pdf", to=["claude-code"])
        shutil.rmtree(shop.project / ".claude")

        found = m.sync(frozen=True)

    assert (True, False) == (found.ok, (shop.project / ".claude/skills/pdf").is_symlink())
    assert document("pdf") == (shop.project / ".claude/skills/pdf/SKILL.md").read_text()


def test_what_the_store_lacks_is_fetched_at_its_commit(shop: Shop) -> None:
    repository = Repository(shop.base / "upstream")
    repository.commit({"skills/pdf/SKILL.md": document("pdf")})
    with shop.open() as m:
        m.add(f"git+{repository.address}#main", skills=["pdf"])
    repository.commit({"skills/pdf/SKILL.md": document("pdf", "Count better.\n")})
    before = shop.lock.read_bytes()
    shutil.rmtree(shop.project / ".agents")

    with another_machine(shop) as m:
        found = m.sync(frozen=True)

    assert (True, document("pdf"), before) == (
        found.ok,
        shop.working("pdf", "SKILL.md").read_text(),
        shop.lock.read_bytes(),
    )


def test_a_working_copy_that_is_there_serves_what_is_missing_beside_it(shop: Shop) -> None:
    installed(shop, "pdf")
    shutil.rmtree(shop.shelf)
    (shop.project / ".claude/skills/pdf").unlink()

    with another_machine(
        shop
    ) as m:  # a clone with the working copy in it, and no source to be reached
        found = m.sync(frozen=True)

    assert (True, "../../.agents/skills/pdf") == (
        found.ok,
        os.readlink(shop.project / ".claude/skills/pdf"),
    )


@pytest.mark.parametrize("frozen", [False, True])
def test_other_bytes_at_the_source_are_not_what_was_locked(shop: Shop, frozen: bool) -> None:
    installed(shop, "pdf")
    shop.offer("pdf", "Count better.\n")
    shutil.rmtree(shop.project / ".agents")
    before = tree(shop.project)

    with another_machine(shop) as m:
        found = m.sync(frozen=frozen)

    assert (False, before) == (found.ok, tree(shop.project))
    assert "not restored: digest: " in found.drift[0]


def test_frozen_fails_on_what_differs_and_leaves_it(shop: Shop) -> None:
    installed(shop, "pdf", "ocr")
    shop.working("pdf", "SKILL.md").write_text(document("pdf", "My own words.\n"))
    link = shop.project / ".claude/skills/ocr"
    link.unlink()
    link.mkdir()
    before = shop.seen()

    with shop.open() as m:
        found = m.sync(frozen=True)

    assert (False, (), before) == (found.ok, found.changed, shop.seen())
    assert {
        f"{shop.working('pdf')}: differs from the lock",
        f"{link}: is not the link that the lock has",
    } == set(found.drift)


def test_a_mode_or_one_more_file_is_drift_too(shop: Shop) -> None:
    installed(shop, "pdf", "ocr")
    shop.working("pdf", "more/a.md").chmod(0o755)
    shop.working("ocr", ".hidden").write_text("x\n")

    with shop.open() as m:
        found = m.sync(frozen=True)

    assert (False, 2) == (found.ok, len(found.drift))


def test_without_frozen_edits_are_recorded_and_expected_from_then_on(shop: Shop) -> None:
    installed(shop, "pdf")
    base = shop.pins()["pdf"]["base"]
    shop.working("pdf", "SKILL.md").write_text(document("pdf", "My own words.\n"))

    with shop.open() as m:
        found = m.sync()
        after = m.sync(frozen=True)
        mine = m.context.machine.digest(str(shop.working("pdf")))
        shutil.rmtree(shop.working("pdf"))
        restored = m.sync(frozen=True)

    pin = shop.pins()["pdf"]
    assert (True, ("pdf: edits recorded in the lock",), True, True) == (
        found.ok,
        found.notes,
        after.ok,
        restored.ok,
    )
    assert (mine, base) == (pin["digest"], pin["base"])
    assert document("pdf", "My own words.\n") == shop.working("pdf", "SKILL.md").read_text()


def test_copies_that_nobody_edited_follow_recorded_edits(shop: Shop) -> None:
    shop.offer("pdf")
    with shop.open() as m:
        m.context.platform = "win32"
        m.add("../shelf/pdf", to=["claude-code", "windsurf"])
        shop.working("pdf", "SKILL.md").write_text(document("pdf", "My own words.\n"))
        (shop.project / ".windsurf/skills/pdf/SKILL.md").write_text("theirs\n")

        found = m.sync()

    assert (
        document("pdf", "My own words.\n")
        == (shop.project / ".claude/skills/pdf/SKILL.md").read_text()
    )
    assert (False, "theirs\n") == (
        found.ok,
        (shop.project / ".windsurf/skills/pdf/SKILL.md").read_text(),
    )


def test_edits_without_their_bytes_are_explained_elsewhere(shop: Shop) -> None:
    installed(shop, "pdf")
    shop.working("pdf", "SKILL.md").write_text(document("pdf", "My own words.\n"))
    with shop.open() as m:
        m.sync()
    shutil.rmtree(shop.project / ".agents")

    with another_machine(shop) as m:
        found = m.sync(frozen=True)

    assert (False, True) == (found.ok, "commit the working copy with the lock" in found.drift[0])
    assert not shop.working("pdf").exists()


def test_after_a_pull_what_nobody_edited_follows_the_lock(shop: Shop) -> None:
    repository = Repository(shop.base / "upstream")
    repository.commit({"pdf/SKILL.md": document("pdf")})
    clone = Shop(shop.base / "clone-of")
    with clone.open() as m:
        m.add(f"git+{repository.address}", to=["claude-code"])
    repository.commit({"pdf/SKILL.md": document("pdf", "Count better.\n")})
    with shop.open() as m:
        m.add(f"git+{repository.address}", to=["claude-code"])
    shutil.copy(shop.lock, clone.lock)  # as git would

    with clone.open() as m:
        m.trust_project(str(clone.project))
        frozen = m.sync(frozen=True)
        found = m.sync()
        after = m.sync(frozen=True)

    assert (False, True, True, ()) == (frozen.ok, found.ok, after.ok, found.notes)
    assert document("pdf", "Count better.\n") == clone.working("pdf", "SKILL.md").read_text()
    assert shop.lock.read_bytes() == clone.lock.read_bytes()


def test_after_a_pull_an_edited_copy_stays(shop: Shop) -> None:
    repository = Repository(shop.base / "upstream")
    repository.commit({"pdf/SKILL.md": document("pdf")})
    with shop.open() as m:
        m.add(f"git+{repository.address}")
        first = shop.lock.read_bytes()
        repository.commit({"pdf/SKILL.md": document("pdf", "Count better.\n")})
        m.add(f"git+{repository.address}", consent=yes)
        shop.working("pdf", "SKILL.md").write_text(document("pdf", "My own words.\n"))
        shop.lock.write_bytes(first)

        found = m.sync()

    assert (True, document("pdf", "My own words.\n")) == (
        found.ok,
        shop.working("pdf", "SKILL.md").read_text(),
    )


def test_a_lock_that_git_left_in_conflict_is_healed_and_said_so(shop: Shop) -> None:
    installed(shop, "pdf", "ocr", to=())
    pins = {name: json.dumps(pin) for name, pin in shop.pins().items()}
    text = f'{{"version": 1, "skills": [\n<<<<<<< HEAD\n{pins["ocr"]}\n||||||| base\n=======\n{pins["pdf"]}\n>>>>>>> theirs\n]}}\n'
    shop.lock.write_text(text)

    with shop.open() as m:
        frozen = m.sync(frozen=True)
        left = shop.lock.read_text()
        found = m.sync()

    assert (True, text) == (frozen.ok, left)
    assert (True, True, True) == (
        found.ok,
        any("ocr" in note for note in found.notes),
        any("pdf" in note for note in found.notes),
    )
    assert {"ocr", "pdf"} == set(shop.pins())


def test_a_lock_that_cannot_be_healed_is_explained_and_nothing_is_touched(shop: Shop) -> None:
    installed(shop, "pdf")
    shop.lock.write_text("<<<<<<< HEAD\n" + shop.lock.read_text())
    before = shop.seen()

    with shop.open() as m, pytest.raises(ConfigError):
        m.sync()

    assert before == shop.seen()


# --- what a lock brings that somebody else wrote


def cloned(shop: Shop, body: str, **wish: object) -> Shop:
    """Give a clone of a project whose owner let a skill in: the same lock, another machine, nothing installed."""
    shutil.copytree(shop.offer("odd", body), shop.project / "vendor/odd")
    with shop.open() as m:
        outcome = m.add("vendor/odd", **wish)  # type: ignore[arg-type]
    assert outcome.ok
    clone = Shop(shop.base / "clone-of")
    shutil.copytree(shop.project / "vendor", clone.project / "vendor")
    shutil.copy(shop.lock, clone.lock)
    return clone


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize(
    ("body", "wish"),
    [(CAUTION, {"force": True}), (DANGEROUS, {"accept_dangerous": True, "reason": "a sample"})],
)
def test_a_lock_in_a_clone_brings_nothing_doubtful_into_a_project_that_nobody_trusts(
    shop: Shop, body: str, wish: dict[str, object], frozen: bool
) -> None:  # MT-18
    clone = cloned(shop, body, **wish)
    before = clone.seen()

    with clone.open() as m:
        found = m.sync(frozen=frozen)

    assert (False, before) == (found.ok, clone.seen())
    assert [("install", "refused", "odd")] == clone.events()


def test_in_a_trusted_project_the_lock_s_word_counts_for_what_is_doubtful_and_never_for_danger(
    shop: Shop,
) -> None:  # MT-5
    clone = cloned(shop, CAUTION, force=True)
    worse = cloned(Shop(shop.base / "worse"), DANGEROUS, accept_dangerous=True, reason="a sample")

    with clone.open() as m:
        m.trust_project(str(clone.project))
        doubtful = m.sync(frozen=True)
    with worse.open() as m:
        m.trust_project(str(worse.project))
        dangerous = m.sync(frozen=True)

    assert (True, False) == (doubtful.ok, dangerous.ok)
    assert (True, False) == (clone.working("odd").is_dir(), worse.working("odd").exists())


@pytest.mark.parametrize(
    ("body", "wish"),
    [(CAUTION, {"force": True}), (DANGEROUS, {"accept_dangerous": True, "reason": "a sample"})],
)
def test_what_this_user_let_in_is_restored(shop: Shop, body: str, wish: dict[str, object]) -> None:
    shop.offer("odd", body)
    with shop.open() as m:
        m.add("../shelf/odd", **wish)  # type: ignore[arg-type]
        shutil.rmtree(shop.working("odd"))

        found = m.sync(frozen=True)

    assert (True, True) == (found.ok, shop.working("odd").is_dir())


def test_what_this_machine_has_for_another_project_is_not_let_in_by_a_stranger_s_lock(
    shop: Shop,
) -> None:
    shop.offer("odd", CAUTION)
    with shop.open() as m:
        m.add("../shelf/odd", force=True, user=True)  # a decision about the user's own
    other = shop.base / "strange"
    (other / ".git").mkdir(parents=True)
    shutil.copy(shop.data / "metier.lock", other / "metier.lock")

    with shop.open(other) as m:
        found = m.sync(frozen=True)

    assert (False, {".git", "metier.lock"}) == (found.ok, set(tree(other)))


def test_what_was_blocked_since_is_not_restored(shop: Shop) -> None:
    installed(shop, "pdf")
    with shop.open() as m:
        m.trust("pdf", "block")
        shutil.rmtree(shop.working("pdf"))
        (shop.project / ".claude/skills/pdf").unlink()

        found = m.sync(frozen=True)

    assert (False, False, False) == (
        found.ok,
        shop.working("pdf").exists(),
        os.path.lexists(shop.project / ".claude/skills/pdf"),
    )


def test_that_the_same_bytes_are_let_in_under_one_name_does_not_let_them_in_under_another(
    shop: Shop,
) -> None:
    shop.offer("pdf", at="one")
    shutil.copytree(shop.shelf / "one", shop.shelf / "two")
    with shop.open() as m:
        m.add("../shelf/one")
        m.add("../shelf/two", name="twin")
        shutil.rmtree(shop.working("twin"))
        shop.working("pdf", "SKILL.md").write_text(document("pdf", "Other bytes of that name.\n"))
        m.reload()
        m.trust("pdf", "quarantine")
        shutil.rmtree(shop.working("pdf"))
        decisions_file.change_decisions(str(shop.data), None, _without_approvals)

        found = m.sync(frozen=True)

    assert (False, False) == (found.ok, shop.working("pdf").exists())
    assert ["pdf"] == [text.partition(":")[0] for text in found.drift]


def _without_approvals(state: Decisions) -> Decisions:
    return state._replace(rows=tuple(row for row in state.rows if row.approval.state != "approved"))


@pytest.mark.parametrize("claim", ["https://github.com/anthropics/skills", "metier:shipped"])
@pytest.mark.parametrize("kind", ["git", "bundled", "folder"])
def test_what_a_lock_says_about_the_origin_raises_no_level(
    shop: Shop, claim: str, kind: str
) -> None:  # HE-36
    shop.offer("odd", CAUTION)
    with shop.open() as m:
        m.add("../shelf/odd", force=True)
        shown = m.view("odd")
    document_ = json.loads(shop.lock.read_text())
    document_["skills"][0].update(source=claim, kind=kind)
    shop.lock.write_text(json.dumps(document_))

    with shop.open() as m:
        again = m.view("odd")
        level = m.trust("odd").level
    strange = Shop(shop.base / "strange")
    shutil.copy(shop.lock, strange.lock)
    with strange.open() as m:
        m.context.fetchers = {"git": FakeFetcher({"elsewhere/SKILL.md": document("elsewhere")})}
        found = m.sync(frozen=True)

    assert ("community", "community", "community") == (shown.level, again.level, level)
    assert (False, False) == (found.ok, strange.working("odd").exists())


def test_damaged_bytes_in_the_store_never_reach_a_project(shop: Shop) -> None:
    installed(shop, "pdf", to=())
    store = Store(str(shop.data / "store"), str(shop.home), OsDiskCalls())
    blob = next(
        path
        for path in (shop.data / "store/blobs").rglob("*")
        if path.is_file() and b"Count" in path.read_bytes()
    )
    blob.chmod(0o600)
    blob.write_bytes(blob.read_bytes().replace(b"Count", b"Evil!"))
    shutil.rmtree(shop.working("pdf"))
    shutil.rmtree(shop.shelf)

    with shop.open() as m:
        found = m.sync(frozen=True)

    assert (False, False, True) == (
        found.ok,
        shop.working("pdf").exists(),
        store.is_damaged(str(shop.pins()["pdf"]["digest"])),
    )


def left(path: Path) -> list[str]:
    return sorted(one.name for one in path.iterdir())


def test_quarantine_is_empty_afterwards(shop: Shop) -> None:
    clone = cloned(shop, CAUTION, force=True)

    with clone.open() as m:
        m.sync()

    assert [".lock"] == left(clone.data / "staging")


def test_a_working_copy_that_is_edited_while_its_edits_are_recorded_is_left_for_another_time(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(shop, "pdf")
    file, keep = shop.working("pdf", "SKILL.md"), Store.keep
    file.write_text(document("pdf", "Mine.\n"))
    before = shop.lock.read_bytes()

    def late(store: Store, folder: str) -> Digest:
        file.write_text(document("pdf", "Mine, and more.\n"))
        return keep(store, folder)

    monkeypatch.setattr(Store, "keep", late)

    with shop.open() as m, pytest.raises(StoreError, match="is being edited right now") as caught:
        m.sync()

    assert ("changed", before) == (caught.value.code, shop.lock.read_bytes())
