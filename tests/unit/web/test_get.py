"""The page that gets skills: a plan before anything is installed, and nothing but that plan afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Home
from doors.upstream import DANGEROUS, text_of
from fakes.workshop import PLAIN, Workshop, changed
from unit.web.clicks import Clicks, Loaded

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def shop(home: Home, tmp_path: Path) -> Workshop:
    """Give a project and a repository with two skills."""
    return Workshop(home, tmp_path)


@pytest.fixture
def clicks(shop: Workshop) -> Iterator[Clicks]:
    """Open the page of that project."""
    made = Clicks(shop.open())
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder with one harmless skill."""
    made = tmp_path / "offered/good"
    made.mkdir(parents=True)
    (made / "SKILL.md").write_text(text_of("good"))
    return made


def planned(clicks: Clicks, source: str, **fields: str) -> Loaded:
    return clicks.send(clicks.load("/get").form("/get/plan"), source=source, **fields)


# --- adding


def test_a_plan_shows_each_skill_with_verdict_and_files_and_installs_nothing(
    clicks: Clicks, shop: Workshop
) -> None:
    plan = planned(clicks, shop.upstream.url)

    assert 200 == plan.status
    for word in ("pdf", "ocr", "safe", "+Line 3 of the instructions.", "Install"):
        assert word in plan.text
    assert not (shop.folder / ".agents").exists()


def test_only_ticked_skills_are_installed(clicks: Clicks, shop: Workshop) -> None:
    plan = planned(clicks, shop.upstream.url)

    done = clicks.send(plan.form("/get/install"), skill=["pdf"])

    assert (True, True, False) == (
        "in place" in done.text,
        shop.file().exists(),
        shop.file(name="ocr").exists(),
    )
    assert PLAIN == shop.file().read_text()


def test_a_folder_is_installed_for_the_user_when_that_is_chosen(
    clicks: Clicks, home: Home, folder: Path
) -> None:
    plan = planned(clicks, str(folder), whose="user")

    done = clicks.send(plan.form("/get/install"), skill=["good"])

    assert ("in place" in done.text, (home.path / ".agents/skills/good").is_dir()) == (True, True)


def test_what_changed_since_the_plan_was_shown_is_not_installed(
    clicks: Clicks, shop: Workshop
) -> None:
    plan = planned(clicks, shop.upstream.url, names="pdf")
    shop.publish(changed(3))

    done = clicks.send(plan.form("/get/install"), skill=["pdf"])

    assert ("nothing was done" in done.text, shop.file().exists()) == (True, False)


def test_a_forged_plan_and_an_empty_choice_are_refused(clicks: Clicks, shop: Workshop) -> None:
    form = planned(clicks, shop.upstream.url).form("/get/install")
    other = planned(clicks, shop.upstream.url).form("/get/install")

    forged = clicks.send(form, seen="0" * 32)
    empty = clicks.send(other, skill=[])

    assert (409, 400) == (forged.status, empty.status)
    assert not (shop.folder / ".agents").exists()


def test_a_dangerous_skill_is_refused_with_its_findings_and_the_rest_can_go_on(
    clicks: Clicks, shop: Workshop
) -> None:
    shop.upstream.commit({"skills/bad/SKILL.md": DANGEROUS})

    plan = planned(clicks, shop.upstream.url)
    done = clicks.send(plan.form("/get/install"))

    assert ("Refused" in plan.text, "findings" in plan.text) == (True, True)
    assert ("pdf" in done.text, shop.file(name="bad").exists()) == (True, False)


def test_a_hostile_description_and_diff_stay_text(clicks: Clicks, folder: Path) -> None:
    (folder / "SKILL.md").write_text(text_of("good", f"{HOSTILE}\n"))

    plan = planned(clicks, str(folder))

    assert (HOSTILE in plan.html, HOSTILE in plan.page.text) == (False, True)


def test_a_source_that_is_not_there_says_so(clicks: Clicks) -> None:
    assert 400 == planned(clicks, "").status
    assert "Not done." in planned(clicks, "/nowhere/at/all").text


# --- searching


def test_a_search_over_taps_leads_to_a_plan(home: Home, tmp_path: Path) -> None:
    shop = Workshop(
        home,
        tmp_path,
        f'[supply]\ntaps = ["{tmp_path / "upstream"}"]\nregistries = []\ndefault_taps = []\n',
    )
    clicks = Clicks(shop.open())

    page = clicks.load("/get")
    found = clicks.send(page.form("/get/search"), words="pdf")
    plan = clicks.send(found.form("/get/plan"))

    clicks.close()
    assert ("1 tap" in page.text, "Show the plan" in found.text) == (True, True)
    assert "Install" in plan.text


# --- what is installed


def test_nobody_is_asked_for_updates_until_somebody_clicks(clicks: Clicks, shop: Workshop) -> None:
    shop.add()
    shop.publish(changed(3))

    before = clicks.load("/get")
    home = clicks.load("/")
    asked = clicks.send(before.form("/get/outdated"))
    after = clicks.load("/get")

    assert ("outdated" in clicks.site.facts, "not asked yet" in home.text) == (True, True)
    assert ("not asked yet" in before.text, "1 skill has a newer version" in asked.text) == (
        True,
        True,
    )
    assert ("1 outdated" in after.text, 1) == (True, len(clicks.site.facts["outdated"].value))


def test_an_update_is_shown_first_and_then_made_and_can_be_rolled_back(
    clicks: Clicks, shop: Workshop
) -> None:
    shop.add()
    shop.publish(changed(3))
    clicks.send(clicks.load("/get").form("/get/outdated"))

    plan = clicks.send(clicks.load("/get").form("/get/update/plan", name="pdf"))
    untouched = shop.file().read_text()
    clicks.send(plan.form("/get/update"))
    updated = shop.file().read_text()
    clicks.send(clicks.load("/get").form("/get/rollback", name="pdf"))

    assert "+Newer line 3 of the instructions." in plan.text
    assert (PLAIN, changed(3), PLAIN) == (untouched, updated, shop.file().read_text())
    assert [] == clicks.site.facts["outdated"].value


def test_an_update_that_moved_on_since_it_was_shown_is_not_made(
    clicks: Clicks, shop: Workshop
) -> None:
    shop.add()
    shop.publish(changed(3))
    clicks.send(clicks.load("/get").form("/get/outdated"))
    plan = clicks.send(clicks.load("/get").form("/get/update/plan", name="pdf"))
    shop.publish(changed(3, 4))

    done = clicks.send(plan.form("/get/update"))

    assert ("nothing was done" in done.text, PLAIN) == (True, shop.file().read_text())


def test_an_update_that_conflicts_goes_to_the_review_queue(clicks: Clicks, shop: Workshop) -> None:
    shop.add()
    shop.edit(changed(3, to="My line"))
    shop.publish(changed(3))
    clicks.send(clicks.load("/get").form("/get/outdated"))

    plan = clicks.send(clicks.load("/get").form("/get/update/plan", name="pdf"))
    done = clicks.send(plan.form("/get/update"))

    assert ("both changed the same or adjoining lines" in plan.text, "Review it" in done.text) == (
        True,
        True,
    )
    assert "held update" in clicks.load("/review").text


def test_a_rollback_of_what_is_not_as_it_was_shown_is_a_conflict(
    clicks: Clicks, shop: Workshop
) -> None:
    shop.add()
    shop.publish(changed(3))
    shop.update()
    form = clicks.load("/get").form("/get/rollback", name="pdf")
    shop.publish(changed(3, 4))
    shop.update()

    answer = clicks.send(form)

    assert (409, changed(3, 4)) == (answer.status, shop.file().read_text())
