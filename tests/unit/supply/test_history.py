"""`history`, `diff` and `rollback`: every state is kept, can be looked at, and can come back."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import Home
from doors.upstream import DANGEROUS, text_of
from fakes.workshop import PLAIN, Workshop, changed

from metier.errors import NotFoundError, UsageError
from metier.supply import places

MINE, NEWER = changed(3, to="My line"), changed(18)


@pytest.fixture
def shop(home: Home, tmp_path: Path) -> Workshop:
    """Give a workshop with an installed skill, updated once."""
    made = Workshop(home, tmp_path)
    made.add()
    made.publish(NEWER)
    made.update()
    return made


def history(shop: Workshop) -> list[tuple[int, str]]:
    with shop.open() as m:
        return [(one.number, one.what) for one in m.history("pdf")]


def test_rolling_back_twice_is_where_one_began(shop: Workshop) -> None:
    found = []
    for _ in range(2):
        with shop.open() as m:
            outcome = m.rollback("pdf")
        found.append((outcome.ok, outcome.installed[0].mode, shop.file().read_text()))

    assert [(True, "restore", PLAIN), (True, "restore", NEWER)] == found
    assert [(4, "rollback"), (3, "rollback"), (2, "update"), (1, "add")] == history(shop)


def test_edits_are_kept_before_they_are_undone(shop: Workshop) -> None:
    shop.edit(MINE)

    with shop.open() as m:
        m.rollback("pdf")
        undone = shop.file().read_text()
        m.rollback("pdf")

    assert (NEWER, MINE) == (undone, shop.file().read_text())
    assert (3, "edit") in history(shop)


def test_a_rollback_takes_the_base_along_so_that_the_next_update_merges_rightly(
    shop: Workshop,
) -> None:
    with shop.open() as m:
        m.rollback("pdf", 1)
        pin = places.read(places.place_of(m.context, user=False)).lock.named("pdf")
        first = m.history("pdf")[-1]
    shop.edit(MINE)

    outcome = shop.update()

    assert pin is not None
    assert (first.digest, first.base, first.commit) == (pin.digest, pin.base, pin.commit)
    assert ["three_way"] == [step.mode for step in outcome.plan.update]
    assert MINE.replace("Line 18 ", "Newer line 18 ") == shop.file().read_text()


def test_bytes_that_somebody_blocked_do_not_come_back(shop: Workshop) -> None:
    with shop.open() as m:
        m.trust("pdf", "block", reason="it went wrong")
        away = m.rollback("pdf", 1)

        back = m.rollback("pdf", 2)

    assert (True, False, ()) == (away.ok, back.ok, back.installed)
    assert PLAIN == shop.file().read_text()


def test_a_revision_that_was_never_there_or_is_swept_is_not_found(shop: Workshop) -> None:
    with shop.open() as m:
        with pytest.raises(NotFoundError):
            m.rollback("pdf", 99)
        shutil.rmtree(shop.data / "store" / "trees")
        with pytest.raises(NotFoundError) as caught:
            m.rollback("pdf", 1)

    assert ("not-in-store", NEWER) == (caught.value.code, shop.file().read_text())


def test_a_skill_with_one_revision_has_nowhere_to_go_back_to(home: Home, tmp_path: Path) -> None:
    shop = Workshop(home, tmp_path)
    shop.add()

    with shop.open() as m, pytest.raises(NotFoundError):
        m.rollback("pdf")


def test_a_waiting_update_goes_with_what_it_was_held_against(shop: Workshop) -> None:
    shop.edit(MINE)
    shop.publish(changed(3, 18))
    shop.update()

    with shop.open() as m:
        m.rollback("pdf", 1)
        assert () == places.read(places.place_of(m.context, user=False)).state.pending


def test_a_diff_shows_edits_a_revision_or_what_waits(shop: Workshop) -> None:
    shop.edit(NEWER.replace("Line 3 ", "My line 3 "))
    shop.edit("new\n", "references/new.md")
    shop.publish(changed(3, 18, to="Their line"))
    shop.update()

    with shop.open() as m:
        edits, since, theirs = (m.diff("pdf", against=what) for what in ("base", "1", "theirs"))

    assert "--- base/SKILL.md\n+++ yours/SKILL.md\n@@ -5,7 +5,7 @@\n" in edits
    assert "-Line 3 of the instructions.\n+My line 3 of the instructions.\n" in edits
    assert "--- /dev/null\n+++ yours/references/new.md\n@@ -0,0 +1 @@\n+new\n" in edits
    assert "-Line 18 of the instructions.\n+Newer line 18 of the instructions.\n" in since
    assert "-Line 3 of the instructions.\n+Their line 3 of the instructions.\n" in theirs


def test_a_diff_fetches_the_base_where_this_machine_never_had_it(shop: Workshop) -> None:
    shop.edit(MINE)
    shutil.rmtree(shop.data / "store")

    with shop.open() as m:
        shown = m.diff("pdf")

    assert "+My line 3 of the instructions.\n" in shown


@pytest.mark.parametrize("against", ["", "yesterday", "-1", "²", "9" * 40])
def test_what_is_nothing_to_compare_with_is_said(against: str, shop: Workshop) -> None:
    with shop.open() as m, pytest.raises((UsageError, NotFoundError)):
        m.diff("pdf", against=against)


def test_history_is_of_one_skill(home: Home, tmp_path: Path) -> None:
    shop = Workshop(home, tmp_path)
    shop.add("pdf", "ocr")
    shop.upstream.commit({"skills/ocr/SKILL.md": text_of("ocr", "New.\n")})
    shop.update()

    assert [(1, "add")] == history(shop)


def test_the_user_s_own_history_goes_along_when_metier_s_own_folder_is_moved(
    shop: Workshop, tmp_path: Path
) -> None:
    with shop.open() as m:
        m.add(shop.upstream.url, skills=("ocr",), user=True, consent=shop.yes)
    shop.data.rename(tmp_path / "elsewhere")
    shop.home.env["METIER_HOME"] = str(tmp_path / "elsewhere")

    with shop.open() as m:
        freed = m.gc(revisions=1)
        found = [one.what for one in m.history("ocr", user=True)]

    assert (1, ["add"]) == (freed.trees, found)  # the first of the two revisions of pdf


def test_a_revision_that_is_dangerous_comes_back_only_while_somebody_s_word_for_it_stands(
    home: Home, tmp_path: Path
) -> None:
    shop = Workshop(home, tmp_path)
    shop.publish(DANGEROUS.replace("name: bad", "name: pdf"))
    with shop.open() as m:
        m.add(
            shop.upstream.url,
            skills=("pdf",),
            accept_dangerous=True,
            reason="a test",
            consent=shop.yes,
        )
    shop.publish(PLAIN)
    shop.update()

    with shop.open() as m:
        accepted = m.rollback("pdf", 1)
        m.rollback("pdf", 2)
    (shop.data / "trust.json").unlink()
    with shop.open() as m:
        refused = m.rollback("pdf", 1)

    assert (True, False, PLAIN) == (accepted.ok, refused.ok, shop.file().read_text())
