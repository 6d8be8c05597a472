"""The page of what waits: shown in all versions, settled by region, decided only as it was shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from conformance.folders import Place, write
from conftest import Home
from doors.upstream import LINES, text_of
from fakes.plugs import Plugs, document, mine
from fakes.workshop import Workshop, changed
from unit.web.clicks import Clicks, Loaded

MINE, THEIRS = changed(3, to="My line"), changed(3, 18, to="Their line")
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def torn(home: Home, tmp_path: Path) -> Workshop:
    """Give a workshop in which an update is held: line 3 was changed on both sides, line 18 upstream alone."""
    made = Workshop(home, tmp_path)
    made.add()
    made.edit(MINE)
    made.publish(THEIRS)
    made.update()
    return made


@pytest.fixture
def clicks(torn: Workshop) -> Iterator[Clicks]:
    """Open the page of that."""
    made = Clicks(torn.open())
    yield made
    made.close()


def held(clicks: Clicks) -> Loaded:
    """Load the one candidate that the queue lists."""
    where = next(link for link in clicks.load("/review").page.links if link.startswith("/review/"))
    return clicks.load(where)


def settled(line: str) -> str:
    """Give the skill as it is once its conflict is settled so."""
    body = LINES.replace("Line 18 ", "Their line 18 ").replace(
        "Line 3 of the instructions.\n", line
    )
    return text_of("pdf", body)


def test_the_queue_lists_a_held_update_and_its_page_shows_all_versions(clicks: Clicks) -> None:
    queue = clicks.load("/review")
    one = held(clicks)

    assert (200, True, True) == (queue.status, "held update" in queue.text, "pdf" in queue.text)
    assert (200, 1) == (one.status, one.html.count("Conflict 1 in SKILL.md</legend>"))
    for word in ("Base", "Yours", "Theirs", "Result", "Before", "After", "Accept", "Reject"):
        assert word in one.text
    assert "+Their line 18 of the instructions." in one.text


@pytest.mark.parametrize(
    ("how", "line"),
    [
        ("ours", "My line 3 of the instructions.\n"),
        ("theirs", "Their line 3 of the instructions.\n"),
        ("both", "My line 3 of the instructions.\nTheir line 3 of the instructions.\n"),
        ("text", "Our line 3.\n"),
    ],
)
def test_a_conflict_is_settled_by_region_and_then_accepted(
    clicks: Clicks, torn: Workshop, how: str, line: str
) -> None:
    form = held(clicks).form("/settle", regions="1")

    after = clicks.send(form, how__0=how, region__0="Our line 3.\r\n")
    done = clicks.send(after.form("/accept"))

    assert (200, False) == (after.status, "Still to settle" in after.text)
    assert (200, True, settled(line)) == (
        done.status,
        "published" in done.text,
        torn.file().read_text(),
    )


def test_a_region_that_is_left_for_later_stays_unsettled_and_is_not_accepted(
    clicks: Clicks, torn: Workshop
) -> None:
    form = held(clicks).form("/settle", regions="1")

    after = clicks.send(form)
    refused = clicks.send(after.form("/accept"))

    assert (True, 409, MINE) == (
        "Still to settle: SKILL.md" in after.text,
        refused.status,
        torn.file().read_text(),
    )


def test_a_whole_file_can_be_edited_before_it_is_accepted(clicks: Clicks, torn: Workshop) -> None:
    form = next(one for one in held(clicks).page.forms if "text" in one["fields"])

    after = clicks.send(form, text=settled("Mine alone.\n").replace("\n", "\r\n"))
    clicks.send(after.form("/accept"))

    assert settled("Mine alone.\n") == torn.file().read_text()


def test_what_somebody_saved_meanwhile_is_not_written_over(clicks: Clicks, torn: Workshop) -> None:
    first, second = held(clicks), held(clicks)
    clicks.send(first.form("/settle", regions="1"), how__0="ours")

    late = clicks.send(second.form("/settle", regions="1"), how__0="theirs")

    desk = next((torn.data / "merges").glob("pdf-*/SKILL.md"))
    assert (409, True) == (late.status, "My line 3" in desk.read_text())
    assert "Their line 3" not in desk.read_text()


@pytest.mark.parametrize("verb", ["accept", "reject", "edit"])
def test_a_decision_about_what_was_not_shown_is_a_conflict(
    clicks: Clicks, torn: Workshop, verb: str
) -> None:
    form = held(clicks).form(f"/{verb}")
    late = MINE.replace("Line 10 ", "Late line 10 ")
    torn.edit(late)

    answer = clicks.send(form, reason="seen")

    assert (409, late) == (answer.status, torn.file().read_text())
    with torn.open() as m:
        assert ["open"] == [one.status for one in m.candidates(all=True)]


def test_a_rejected_update_says_so_and_a_second_answer_is_a_conflict(
    clicks: Clicks, torn: Workshop
) -> None:
    first, second = held(clicks), held(clicks)

    done = clicks.send(first.form("/reject"), reason="not now")
    again = clicks.send(second.form("/accept"), how="theirs")

    assert (200, True, 409, MINE) == (
        done.status,
        "It was rejected" in done.text,
        again.status,
        torn.file().read_text(),
    )
    assert "not now" in clicks.load("/review?all=1").text


def test_one_side_of_all_conflicts_can_be_taken_at_once(clicks: Clicks, torn: Workshop) -> None:
    clicks.send(held(clicks).form("/accept"), how="theirs")

    assert THEIRS == torn.file().read_text()


def test_edit_lays_the_change_out_and_shows_where(clicks: Clicks) -> None:
    after = clicks.send(held(clicks).form("/edit"))

    assert (200, True) == (after.status, "It is laid out in" in after.text)


def test_a_candidate_that_nobody_knows_is_not_found(clicks: Clicks) -> None:
    assert 404 == clicks.load("/review/update:pdf:000000000000").status
    assert 404 == clicks.load("/review/nothing").status


# --- a file that one side deleted


@pytest.mark.parametrize(
    ("side", "expected"), [("ours", "echo mine\n"), ("theirs", None)], ids=["ours", "theirs"]
)
def test_a_file_that_one_side_deleted_is_chosen(
    home: Home, tmp_path: Path, side: str, expected: str | None
) -> None:
    shop = Workshop(home, tmp_path)
    shop.add()
    shop.edit("echo mine\n", "scripts/fill.sh")
    shop.publish({"scripts/fill.sh": None})
    shop.update()
    clicks = Clicks(shop.open())
    form = held(clicks).form("/settle", path="scripts/fill.sh")

    after = clicks.send(form, side=side)
    clicks.send(after.form("/accept"))

    clicks.close()
    file = shop.file("scripts/fill.sh")
    assert expected == (file.read_text() if file.exists() else None)


# --- plugins and drafts


def test_a_plugins_conflict_is_settled_and_accepted(tmp_path: Path) -> None:
    plugs = Plugs(tmp_path)
    plugs.enable()
    plugs.edit("alpha", 3)
    plugs.update("alpha", 3, 11)
    clicks = Clicks(plugs.open())

    after = clicks.send(held(clicks).form("/settle", regions="1"), how__0="ours")
    done = clicks.send(after.form("/accept"))

    clicks.close()
    path = next(plugs.project.rglob("alpha/SKILL.md"))
    expected = mine("alpha", 3).replace("Line 11 ", "New line 11 ")
    assert (True, expected) == ("published" in done.text, path.read_text())
    assert expected != document("alpha")


def test_an_agents_draft_is_shown_with_both_verdicts_edited_and_accepted(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.configure('[manage]\nreview = "always"\n')
    text = "---\nname: notes\ndescription: Writes notes. Use it for notes.\n---\n\nWrite.\n"
    folder = place.home / ".agents/skills/notes"
    write(folder / "SKILL.md", text)
    library = place.scopes()
    library.manage("edit", "notes", content=text.replace("Write.", f"Write {HOSTILE}."))
    clicks = Clicks(library)

    one = held(clicks)
    form = next(form for form in one.page.forms if "text" in form["fields"])
    after = clicks.send(form, text=text.replace("Write.", "Write well."))
    clicks.send(after.form("/accept"))

    clicks.close()
    assert ("agent's draft" in one.text, "<script>alert" in one.html) == (True, False)
    assert text.replace("Write.", "Write well.") == (folder / "SKILL.md").read_text()
