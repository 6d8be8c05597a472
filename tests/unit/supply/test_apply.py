"""Whatever a change takes from its place is a revision: edits of the last moment, what a crash left, what no store had yet."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Home
from fakes.hands import in_a_child
from fakes.workshop import PLAIN, Workshop, changed

from metier.store.io.disk_calls import OsDiskCalls
from metier.supply import places

MINE, NEWER, LATE = changed(3, to="My line"), changed(18), changed(5, to="A late line")


@pytest.fixture
def shop(home: Home, tmp_path: Path) -> Workshop:
    """Give a workshop with an installed skill."""
    made = Workshop(home, tmp_path)
    made.add()
    return made


class Meddling(OsDiskCalls):
    """The system's own hands, but something happens right before a skill's folder is exchanged, once."""

    def __init__(self, happens: Callable[[], object]) -> None:
        """Know what happens."""
        self.happens: list[Callable[[], object]] = [happens]

    def swap(self, one: str, other: str) -> bool:
        """Exchange two paths."""
        if other.endswith("/pdf") and self.happens:
            self.happens.pop()()
        return super().swap(one, other)

    def move(self, source: str, target: str) -> None:
        """Rename."""
        if source.endswith("/skills/pdf") and self.happens:
            self.happens.pop()()
        super().move(source, target)


def killed(shop: Workshop, step: str, ending: str) -> None:
    """Update, with an edit in the instant of the exchange, and die at the first step of a name after it."""
    with shop.open() as m:
        m.context.disk_calls = hands = Meddling(lambda: shop.edit(LATE))
        plain = getattr(hands, step)

        def dies(path: str, *rest: str) -> None:
            if not hands.happens and path.endswith(ending):
                os.kill(os.getpid(), signal.SIGKILL)
            plain(path, *rest)

        setattr(hands, step, dies)
        m.update(consent=shop.yes)


def texts(shop: Workshop) -> list[tuple[str, str]]:
    """Give what each revision says, the newest first, once nothing is kept that nobody needs."""
    with shop.open() as m:
        m.gc()
        store = places.store_of(m.context)
        return [(one.what, store.read(one.digest, "SKILL.md").decode()) for one in m.history("pdf")]


def kept(shop: Workshop) -> list[str]:
    """Give every document in the store, once nothing is kept that nobody needs."""
    with shop.open() as m:
        m.gc()
        store = places.store_of(m.context)
        return [store.read(digest, "SKILL.md").decode() for digest in store.digests()]


def test_an_edit_in_the_instant_of_an_update_is_a_revision(shop: Workshop) -> None:
    shop.publish(NEWER)
    with shop.open() as m:
        m.context.disk_calls = Meddling(lambda: shop.edit(LATE))
        m.update(consent=shop.yes)
        warned = list(m.context.warnings)

    assert [
        f"{shop.file().parent} was edited in the meantime; the earlier version is kept as a revision"
    ] == warned
    assert [("edit", LATE), ("update", NEWER), ("add", PLAIN)] == texts(shop)
    assert not (shop.data / "supply" / "saved.json").exists()


@pytest.mark.parametrize(
    ("step", "ending"), [("sync", "/skills"), ("remove", "journal.json"), ("move", ".new")]
)
def test_an_edit_that_a_recovery_finds_is_a_revision(
    step: str, ending: str, shop: Workshop
) -> None:
    shop.publish(NEWER)

    in_a_child(lambda: killed(shop, step, ending))
    shop.update()

    assert (NEWER, ("edit", LATE)) == (shop.file().read_text(), texts(shop)[0])


def test_edits_that_were_saved_are_not_freed_before_somebody_claims_them(
    shop: Workshop, home: Home, tmp_path: Path
) -> None:
    other = Workshop(home, tmp_path / "other")
    shop.publish(NEWER)

    in_a_child(lambda: killed(shop, "move", ".new"))
    with other.open() as m:
        places.recover(m.context)
        m.gc()
    shop.update()

    assert ("edit", LATE) in texts(shop)


def test_an_edit_in_the_instant_of_a_removal_is_there_when_the_skill_is_back(
    shop: Workshop,
) -> None:
    with shop.open() as m:
        m.context.disk_calls = Meddling(lambda: shop.edit(LATE))
        m.remove("pdf", consent=shop.yes)

    gone = shop.file().exists()
    shop.add()

    assert (False, [("add", PLAIN), ("edit", LATE), ("add", PLAIN)]) == (gone, texts(shop))


def test_a_lock_that_cannot_be_read_keeps_nobody_from_the_edits_of_another(shop: Workshop) -> None:
    (shop.data / "metier.lock").write_bytes(b"{")
    shop.publish(NEWER)

    with shop.open() as m:
        m.context.disk_calls = Meddling(lambda: shop.edit(LATE))
        m.update(user=False, consent=shop.yes)

    assert ("edit", LATE) == texts(shop)[0]


def test_what_came_with_the_project_is_a_revision_before_it_is_replaced(
    shop: Workshop, tmp_path: Path
) -> None:
    shop.edit(MINE)
    with shop.open() as m:
        m.sync()
    shop.data.rename(tmp_path / "the machine of somebody else")
    shop.publish(NEWER)

    shop.update()
    with shop.open() as m:
        m.rollback("pdf")

    assert (MINE, "sync") == (shop.file().read_text(), texts(shop)[-1][0])


def test_what_came_with_the_project_is_kept_when_it_is_removed(
    shop: Workshop, tmp_path: Path
) -> None:
    shop.edit(MINE)
    with shop.open() as m:
        m.sync()
    shop.data.rename(tmp_path / "the machine of somebody else")

    with shop.open() as m:
        m.remove("pdf", consent=shop.yes)

    assert [MINE] == kept(shop)


def test_a_copy_that_was_edited_by_itself_is_kept_when_force_removes_it(
    home: Home, tmp_path: Path
) -> None:
    shop = Workshop(home, tmp_path)
    with shop.open() as m:
        m.context.platform = "win32"  # where links are not to be had
        m.add(shop.upstream.url, skills=("pdf",), to=("claude-code",), consent=shop.yes)
    (shop.folder / ".claude/skills/pdf/SKILL.md").write_text(MINE)

    with shop.open() as m:
        m.remove("pdf", force=True, consent=shop.yes)

    assert sorted([PLAIN, MINE]) == sorted(kept(shop))


def test_a_rollback_goes_to_the_working_copy_and_not_to_a_copy_that_was_edited(
    home: Home, tmp_path: Path
) -> None:
    shop = Workshop(home, tmp_path)
    with shop.open() as m:
        m.context.platform = "win32"  # where links are not to be had
        m.add(shop.upstream.url, skills=("pdf",), to=("claude-code",), consent=shop.yes)
    (shop.folder / ".claude/skills/pdf/SKILL.md").write_text(LATE)
    shop.edit(MINE)
    shop.publish(NEWER)

    with shop.open() as m:
        m.add(shop.upstream.url, skills=("pdf",), to=("claude-code",), force=True, consent=shop.yes)
        added = texts(shop)
        m.rollback("pdf")

    assert [("add", NEWER), ("edit", MINE), ("edit", LATE), ("add", PLAIN)] == added
    assert MINE == shop.file().read_text()


def test_an_agent_whose_folder_leads_to_the_working_copies_needs_no_link(shop: Workshop) -> None:
    (shop.folder / ".claude").mkdir()
    (shop.folder / ".claude/skills").symlink_to("../.agents/skills")

    shop.add(to=("claude-code",))
    added = shop.file().read_text()
    shop.edit(NEWER)
    shop.publish(NEWER)
    shop.update()

    assert (PLAIN, NEWER) == (added, shop.file().read_text())
    with shop.open() as m:
        m.remove("pdf", consent=shop.yes)
    assert not shop.file().parent.exists()
