"""The page in a real browser: every page, every action, by mouse, by keyboard and without JavaScript; what came of it is asked of the library."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from doors.command import run
from fakes.browser import WatchedTab, chromium
from fakes.web_home import PAGES, WAITING, WebHome, agree, skill_text
from fakes.web_page import WebPage, web_env

pytest.importorskip("playwright.sync_api", reason="needs chromium")

from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _pytest.tmpdir import TempPathFactory
    from playwright.sync_api import Browser, BrowserContext, Locator, Page

    from metier.library import Library

pytestmark = [pytest.mark.loopback, pytest.mark.chromium]
PATIENCE_MS = 30_000
"""After which something counts as never happening; no test measures time."""
ONE_OF_EACH = ("pdf-forms", "alpha", "field-notes")
"""Of what waits: an update in conflict, a plugin's, and a draft."""
HEADINGS = ["Instructions", "Findings", "Files", "Why", "Trust", "History"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: TempPathFactory) -> WebHome:
    """Give a home with skills in every state."""
    return WebHome(tmp_path_factory.mktemp("browser"))


@pytest.fixture(scope="module")
def served(made: WebHome) -> Iterator[WebPage]:
    """Give its page."""
    page = WebPage(made.env, made.project)
    yield page
    page.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Give a browser for all tests."""
    expect.set_options(timeout=PATIENCE_MS)
    with chromium() as found:
        yield found


def enter(browser: Browser, served: WebPage, **wishes: Any) -> WatchedTab:
    """Open a tab in a window of its own, and let it in."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, **wishes)
    context.set_default_timeout(PATIENCE_MS)
    tab = WatchedTab(context, served.origin)
    tab.page.goto(served.url)
    return tab


@pytest.fixture(scope="module")
def window(browser: Browser, served: WebPage) -> Iterator[BrowserContext]:
    """Give a window that was let in, for all tests that need no other."""
    context = enter(browser, served).page.context
    yield context
    context.close()


@pytest.fixture
def tab(window: BrowserContext, served: WebPage) -> Iterator[WatchedTab]:
    """Give a tab whose pages try nothing beyond showing themselves, at Home."""
    for one in window.pages:
        one.close()
    found = WatchedTab(window, served.origin)
    found.page.goto(f"{served.origin}/")
    yield found
    found.page.close()
    assert [] == found.tried


@pytest.fixture
def page(tab: WatchedTab) -> Page:
    """Give what stands in that tab."""
    return tab.page


def show(page: Page, where: str) -> None:
    """Go to a place by the menu."""
    page.get_by_role("navigation", name="Pages").get_by_role("link", name=where).click()


def open_skill(page: Page, name: str) -> None:
    """Open a skill from the list of all, by a click."""
    show(page, "Skills")
    page.get_by_role("link", name=name, exact=True).first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def part(page: Page, name: str) -> Locator:
    """Give a section of a page by its heading."""
    return page.get_by_role("region", name=name, exact=True)


def decide(page: Page, button: str, reason: str = "") -> None:
    """Decide about the skill that is shown."""
    form = page.get_by_role("form", name="Decide")
    if reason:
        form.get_by_label("Reason").fill(reason)
    with page.expect_navigation():
        form.get_by_role("button", name=button, exact=True).click()


def names(page: Page) -> list[str]:
    """Give the skills that are listed, in their order."""
    return page.locator("a.skill").all_inner_texts()


def settled(page: Page) -> None:
    """Wait until everything on a page is known and done."""
    expect(page.locator(".pending")).to_have_count(0)
    expect(page.get_by_text("Under way")).to_have_count(0)


# --- all pages


def every_page(page: Page, made: WebHome) -> dict[str, str]:
    """Give all pages by their addresses, each with its heading."""
    show(page, "Skills")
    where = {
        name: str(page.get_by_role("link", name=name, exact=True).first.get_attribute("href"))
        for name in ("table-tidy", "greeter", "ocr-pages", "書道", "half-done")
    }
    waits = made.waiting()
    return {
        "/": "Home",
        "/skills": "Skills",
        "/skills?q=letters&state=visible": "Skills",
        **{address: name for name, address in where.items()},
        f"{where['table-tidy']}/files/scripts/tidy.sh": "scripts/tidy.sh",
        f"{where['ocr-pages']}/diff?from=1&to=now": "Changes in ocr-pages",
        f"{where['greeter']}/run": "Run greeter",
        "/agents": "Agents",
        "/agents/claude-code": "Claude Code",
        "/review?all=1": "Review",
        **{f"/review/{waits[skill]}": f"Review {skill}" for skill in ONE_OF_EACH if skill in waits},
        "/get": "Get skills",
        "/plugins": "Plugins",
        "/plugins/disable?plugin=kit&scope=user": "Disable kit?",
        "/audit": "Audit",
        "/audit/verify": "Audit",
        "/doctor": "Doctor",
        "/graph": "Graph",
        "/leave?to=https://example.org/": "A link out of a skill",
    }


def test_every_page_shows_itself_alone_and_is_open_to_all_in_light_and_dark(
    tab: WatchedTab, made: WebHome
) -> None:
    page = tab.page
    wrong: dict[str, list[object]] = {}
    for address, heading in every_page(page, made).items():
        page.emulate_media(color_scheme="light")
        page.goto(tab.origin + address)
        settled(page)
        shape = [page.locator("main").count(), page.get_by_role("heading", level=1).inner_text()]
        faults = tab.check()
        page.emulate_media(color_scheme="dark")
        faults += [*tab.check(), *tab.tried]
        tab.tried.clear()
        shape += [width_at(page, 360), width_at(page, 800), width_at(page, 1280)]
        if faults or shape != [1, heading, 360, 800, 1280]:
            wrong[address] = [*shape, *faults]

    assert {} == wrong


def width_at(page: Page, width: int) -> int:
    """Give how wide a page is on a screen of that width."""
    page.set_viewport_size({"width": width, "height": 900})
    return int(page.evaluate("document.documentElement.scrollWidth"))


def test_a_skill_has_its_headings_and_buttons_by_their_names(page: Page) -> None:
    open_skill(page, "greeter")

    assert set(HEADINGS) <= set(page.get_by_role("heading", level=2).all_inner_texts())
    expect(page.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Block", exact=True)).to_be_visible()


PAPER = """() => ({
  paper: getComputedStyle(document.body).backgroundColor,
  wide: document.documentElement.scrollWidth <= innerWidth,
  cut: [...document.querySelectorAll('main *:not(.vh)')]
    .filter((one) => one.scrollHeight > one.clientHeight + 1 && one.clientHeight
      && !['visible', 'clip'].includes(getComputedStyle(one).overflowY))
    .map((one) => one.outerHTML.slice(0, 80)),
})"""


def test_what_is_read_goes_on_paper_whole_and_what_is_clicked_does_not(
    tab: WatchedTab, made: WebHome
) -> None:
    page = tab.page
    open_skill(page, "table-tidy")
    settled(page)
    skill = page.url
    page.emulate_media(media="print", color_scheme="dark")
    page.set_viewport_size({"width": 718, "height": 1000})  # A4 without its margins
    for name in HEADINGS:
        expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
    expect(part(page, "Instructions").locator("mark")).to_be_visible()
    expect(page.get_by_role("navigation", name="Pages")).to_be_hidden()
    assert 0 == page.get_by_role("button").count()
    assert 0 == page.get_by_role("textbox").count()
    paper: dict[str, object] = {skill: page.evaluate(PAPER)}
    assert b"%PDF-" == page.pdf(format="A4")[:5]
    for address in ("/skills", "/agents/claude-code", f"/review/{made.waiting()['pdf-stamps']}"):
        page.goto(tab.origin + address)
        settled(page)
        paper[address] = page.evaluate(PAPER)
    expect(page.get_by_role("group", name="Conflict 1 in SKILL.md")).to_contain_text("Sign step 3")
    page.emulate_media(media="screen", color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 900})

    whole = {"paper": "rgb(255, 255, 255)", "wide": True, "cut": []}
    assert dict.fromkeys(paper, whole) == paper


def test_a_reason_names_your_own_folder_as_people_do(page: Page, made: WebHome) -> None:
    show(page, "Skills")
    shadowed = page.get_by_role("row", name=re.compile("^ink")).locator(".why").first

    expect(shadowed).to_contain_text("shadowed by ~/.agents/skills/ink: ~/.agents/skills comes")
    assert str(made.home) not in page.locator("main").inner_text()
    show(page, "Audit")
    assert str(made.home) not in page.locator("main").inner_text()


def test_every_page_of_a_skill_says_one_state_and_one_verdict(page: Page, made: WebHome) -> None:
    show(page, "Skills")
    page.get_by_role("link", name="half-done", exact=True).click()

    summary = page.locator(".summary .badge").all_inner_texts()
    trust = page.get_by_role("region", name="Trust").locator("dl .badge").all_inner_texts()
    assert ["hidden", "safe"] == trust
    assert trust == summary[:2]
    assert str(made.home) not in page.get_by_role("region", name="Why").inner_text()


def test_words_are_not_broken_to_fit_a_column(page: Page) -> None:
    show(page, "Skills")
    settled(page)
    for width in (800, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        box = page.locator("table.skills td small", has_text="user: claude-code").first
        wide = box.evaluate("(one) => one.getBoundingClientRect().width")
        assert wide > 60, width
    page.set_viewport_size({"width": 1280, "height": 900})


def test_a_page_that_is_not_there_says_so(tab: WatchedTab) -> None:
    answer = tab.page.goto(f"{tab.origin}/nowhere")

    assert answer is not None
    assert 404 == answer.status
    expect(tab.page.get_by_role("heading", level=1)).to_have_text("Not found")
    expect(tab.page.get_by_role("alert")).to_contain_text("there is no such page")
    assert [] == tab.check()
    assert all("404" in one for one in tab.tried)
    tab.tried.clear()


# --- the list


def test_the_list_follows_what_is_typed(page: Page, made: WebHome) -> None:
    show(page, "Skills")
    page.get_by_role("searchbox", name="Search skills").press_sequentially("meeting rec")

    expect(page.get_by_role("status").filter(has_text="of")).to_contain_text(re.compile("^[1-9]"))
    expect(page).to_have_url(re.compile(r"q=meeting\+rec|q=meeting%20rec"))
    with made.open() as m:
        hits = [one.name for one in m.find("meeting rec", 100)]
    assert hits[:2] == names(page)[:2]
    assert {"meeting-notes", "meeting-minutes"} == set(hits[:2])
    expect(page.get_by_text("ranked by").first).to_be_visible()


def test_the_way_back_from_a_search_is_one_step(page: Page) -> None:
    show(page, "Skills")
    page.get_by_role("searchbox", name="Search skills").press_sequentially("meeting", delay=60)
    expect(page).to_have_url(re.compile("q=meeting$|q=meeting&"))
    page.go_back()

    expect(page.get_by_role("heading", level=1)).to_have_text("Home")


def test_choices_and_an_order_narrow_and_sort_the_list(page: Page, made: WebHome) -> None:
    show(page, "Skills")
    settled(page)
    page.get_by_role("group", name="State").get_by_role(
        "checkbox", name=re.compile("^visible")
    ).check()
    page.get_by_role("group", name="Agent").get_by_role(
        "checkbox", name=re.compile("^gemini-cli")
    ).check()
    page.get_by_label("Sort").select_option("Tokens, most first")

    expect(page).to_have_url(re.compile("agent=gemini-cli"))
    expect(page).to_have_url(re.compile("sort=tokens"))
    with made.open() as m:
        seen = m.seen_by()["gemini-cli"]
        cards = [one for one in m.skills() if one.path in seen and one.state == "visible"]
    wanted = [one.name for one in sorted(cards, key=lambda one: (-one.tokens, one.name))]
    expect(page.locator("a.skill")).to_have_text(wanted)


# --- decisions


def test_a_skill_is_approved_with_a_reason(page: Page, made: WebHome) -> None:
    open_skill(page, "house-style")
    decide(page, "Approve", "read it twice")

    expect(part(page, "Trust").get_by_role("row", name=re.compile("approve"))).to_contain_text(
        "read it twice"
    )
    answer = run(made.env, "trust", "show", "house-style", "--json", cwd=made.project)
    assert "verified" == answer.json["level"]
    assert ("approve", "approved", "web") in made.events("house-style")


def test_a_skill_is_blocked_let_go_and_quarantined(page: Page, made: WebHome) -> None:
    open_skill(page, "letter-writer")
    decide(page, "Block", "not now")
    expect(part(page, "Trust").get_by_role("button", name="Unblock")).to_be_visible()
    assert "blocked" == made.state("letter-writer")
    decide(page, "Unblock")
    expect(part(page, "Trust").get_by_role("button", name="Unblock")).to_have_count(0)
    assert "quarantined" == made.state("letter-writer")  # and not free: nobody has vouched for it
    decide(page, "Approve")
    assert "visible" == made.state("letter-writer")
    decide(page, "Quarantine")

    expect(page.locator(".summary")).to_contain_text("quarantined")
    assert "quarantined" == made.state("letter-writer")
    assert {"block", "unblock", "approve", "quarantine"} <= {
        event for event, _outcome, door in made.events("letter-writer") if door == "web"
    }


def test_findings_are_waived_and_count_again(page: Page, made: WebHome) -> None:
    open_skill(page, "table-tidy")
    form = page.get_by_role("form", name="Waive findings")
    form.get_by_label("Rule").select_option("SC290")
    form.get_by_label("Reason").fill("it may call the network")
    with page.expect_navigation():
        form.get_by_role("button", name="Waive").click()

    with made.open() as m:
        given = [(one.rule, one.reason) for one in m.waivers()]
    assert [("SC290", "it may call the network")] == given
    with page.expect_navigation():
        page.get_by_role("button", name="Let it count again").click()
    with made.open() as m:
        assert [] == m.waivers()


def test_findings_are_marked_at_their_place(page: Page) -> None:
    open_skill(page, "table-tidy")
    expect(part(page, "Instructions").locator("mark")).to_contain_text("not tell the user")
    part(page, "Findings").get_by_role("link", name="scripts/tidy.sh:3").first.click()

    expect(page.get_by_role("heading", level=1)).to_have_text("scripts/tidy.sh")
    expect(page.locator("mark").first).to_contain_text("id_rsa")


def test_a_skill_is_hidden_and_shown_again(page: Page, made: WebHome) -> None:
    open_skill(page, "changelog")
    with page.expect_navigation():
        page.get_by_role("button", name="Disable").click()
    assert "hidden" == made.state("changelog")
    with page.expect_navigation():
        page.get_by_role("button", name="Enable").click()

    assert "visible" == made.state("changelog")


def test_a_project_is_trusted_after_a_look_at_it_and_no_longer(
    tab: WatchedTab, made: WebHome
) -> None:
    page = tab.page
    waits = page.locator(".project")
    expect(waits).to_contain_text("of this project are waiting: you haven't trusted ~/work yet")
    waits.get_by_role("link", name="Show them").click()
    expect(page.locator("a.skill")).to_have_count(len(WAITING) - len(decided(made)))
    page.get_by_role("button", name="Trust this project…").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Trust this project?")
    expect(page.get_by_text("Whoever can change the project can then tell")).to_be_visible()
    assert set(WAITING) <= set(names(page))
    assert [] == tab.check()
    page.get_by_label("Reason").fill("it is ours")
    page.get_by_role("button", name="Trust", exact=True).click()

    expect(page.get_by_text("You trust ~/work")).to_be_visible()
    expect(part(page, "Recent decisions")).to_contain_text("trust project ~/work")
    assert "visible" == made.state("release-check")
    with made.open() as m:
        events = [one for one in m.audit_tail(50) if one["event"] == "trust_project"]
    assert [("approved", "web", "it is ours")] == [
        (one["outcome"], one["source"], one["details"]["reason"]) for one in events
    ]
    page.get_by_role("link", name="Change that").click()
    page.get_by_role("button", name="Stop trusting").click()
    expect(waits).to_be_visible()
    assert "ask" == made.state("release-check")


def decided(made: WebHome) -> list[str]:
    """Name the skills of the project that do not wait any more."""
    return [name for name in WAITING if made.state(name) != "ask"]


# --- running


@pytest.mark.bubblewrap
def test_a_script_is_planned_and_run(tab: WatchedTab, made: WebHome) -> None:
    page = tab.page
    open_skill(page, "greeter")
    part(page, "Run").get_by_role("link", name="Plan a run of scripts/greet.py").click()
    page.get_by_label("Arguments").fill("Ada 'and you'")
    page.get_by_role("button", name="Show the plan").click()
    expect(page.get_by_text("network: none")).to_be_visible()
    page.get_by_role("button", name="Run", exact=True).click()

    expect(page.get_by_role("log", name="Output")).to_have_text("Good day, Ada and you\n")
    expect(page.get_by_text("ended with code 0")).to_be_visible()
    assert [] == tab.check()
    assert ("run", "done", "web") in made.events("greeter")


@pytest.mark.bubblewrap
def test_a_skill_s_page_has_the_plan_of_its_script_and_runs_it(page: Page, made: WebHome) -> None:
    made.write(".claude/skills/teller/SKILL.md", skill_text("teller", "Tells. Use it to tell."))
    made.write(".claude/skills/teller/scripts/tell.sh", "#!/bin/sh\necho told\n")
    open_skill(page, "teller")
    expect(part(page, "Run")).to_contain_text("network: none")
    assert [] == made.events("teller")
    page.get_by_role("button", name="Run", exact=True).click()

    expect(page.get_by_role("log", name="Output")).to_have_text("told\n")
    assert ("run", "done", "web") in made.events("teller")


@pytest.mark.bubblewrap
def test_what_a_script_prints_is_shown_while_it_runs_and_it_can_be_stopped(page: Page) -> None:
    open_skill(page, "greeter")
    part(page, "Run").get_by_role("link", name="Plan a run of scripts/clock.py").click()
    page.get_by_role("button", name="Run", exact=True).click()

    expect(page.get_by_role("log", name="Output")).to_contain_text("beat 2\n")
    expect(page.get_by_role("status").filter(has_text="Under way")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Under way")).to_have_count(0)
    expect(page.get_by_text("you stopped it")).to_be_visible()
    expect(page.get_by_role("log", name="Output")).to_contain_text("beat 2\n")


# --- what waits


def test_a_conflict_is_settled_by_region_and_accepted(page: Page, made: WebHome) -> None:
    show(page, "Home")
    part(page, "Waiting for you").get_by_role("link", name="pdf-forms").click()
    region = page.get_by_role("group", name="Conflict 1 in SKILL.md")
    region.get_by_label("Take theirs").check()
    box = region.get_by_role("textbox", name="Result of conflict 1")
    expect(box).to_have_value("3. Sign step 3 of the form.\n")
    box.fill("3. Sign step 3 and skip the rest.\n")
    expect(region.get_by_label("As written here")).to_be_checked()
    page.get_by_role("button", name="Save SKILL.md").click()
    expect(page.get_by_text("Still to settle")).to_have_count(0)
    page.get_by_role("button", name="Accept").click()

    expect(page.get_by_text("It was published")).to_be_visible()
    text = made.file("pdf-forms", ".agents").read_text()
    assert "3. Sign step 3 and skip the rest.\n" in text
    assert "11. Look after step 11" in text
    assert "pdf-forms" not in made.waiting()
    assert "web" in {door for _event, _outcome, door in made.events("pdf-forms")}


def test_a_plugin_s_changes_are_accepted_and_rejected(page: Page, made: WebHome) -> None:
    show(page, "Review")
    page.get_by_role("link", name="alpha", exact=True).click()
    expect(page.get_by_text("+Use it once a day, or twice").first).to_be_visible()
    page.get_by_role("button", name="Accept").click()
    expect(page.get_by_text("It was published")).to_be_visible()
    assert "or twice" in made.file("alpha", ".agents").read_text()
    show(page, "Review")
    page.get_by_role("link", name="beta", exact=True).click()
    page.get_by_placeholder("why not").fill("once is enough")
    page.get_by_role("button", name="Reject", exact=True).click()

    expect(page.get_by_text("It was rejected")).to_be_visible()
    assert "or twice" not in made.file("beta", ".agents").read_text()
    assert not {"alpha", "beta"} & set(made.waiting())
    assert "web" in {door for _event, _outcome, door in made.events("beta")}


def test_an_agents_draft_is_edited_and_accepted(tab: WatchedTab, made: WebHome) -> None:
    page = tab.page
    show(page, "Review")
    row = page.get_by_role("row", name=re.compile("^field-notes"))
    expect(row).to_contain_text("agent's draft")
    row.get_by_role("link", name="field-notes").click()
    expect(page.get_by_text("Use it at noon").first).to_be_visible()
    page.get_by_text("Edit SKILL.md as a whole").click()
    box = page.get_by_role("textbox", name="The whole text of SKILL.md")
    box.fill(box.input_value().replace("at noon", "at dusk"))
    page.get_by_role("button", name="Save the whole file").click()
    expect(page.get_by_text("Use it at dusk").first).to_be_visible()
    assert [] == tab.check()
    assert "once a day" in made.file("field-notes", ".agents").read_text()
    page.get_by_role("button", name="Accept", exact=True).click()

    expect(page.get_by_text("It was published")).to_be_visible()
    assert "at dusk" in made.file("field-notes", ".agents").read_text()
    assert "web" in {door for _event, _outcome, door in made.events("field-notes")}


def test_an_agents_draft_is_rejected(page: Page, made: WebHome) -> None:
    show(page, "Review")
    page.get_by_role("link", name="visit-plan", exact=True).click()
    expect(page.get_by_text("Use it at noon").first).to_be_visible()
    page.get_by_placeholder("why not").fill("nobody asked for it")
    page.get_by_role("button", name="Reject", exact=True).click()

    expect(page.get_by_text("It was rejected")).to_be_visible()
    assert "once a day" in made.file("visit-plan", ".agents").read_text()
    assert "visit-plan" not in made.waiting()
    with made.open() as m:
        events = [one for one in m.audit_tail(50) if one["name"] == "visit-plan"]
    assert ("web", "nobody asked for it") == (
        events[-1]["source"],
        events[-1]["details"]["reason"],
    )


# --- getting


def test_a_search_over_taps_leads_to_a_plan(tab: WatchedTab, made: WebHome) -> None:
    page = tab.page
    show(page, "Get")
    page.get_by_label("What for").fill("text of scanned pages")
    page.get_by_role("button", name="Search").click()
    plan = page.get_by_role("button", name="Show the plan for ocr-pages")
    expect(plan).to_be_visible()
    assert [] == tab.check()
    plan.click()

    expect(page.get_by_text("Nothing was changed yet")).to_be_visible()
    expect(page.get_by_role("checkbox", name="ocr-pages")).to_be_checked()
    assert not (made.project / ".agents/skills/ocr-pages").exists()


def test_skills_are_added_after_their_plan_was_seen(tab: WatchedTab, made: WebHome) -> None:
    page = tab.page
    show(page, "Get")
    page.get_by_role("textbox", name="Source").fill(str(made.incoming))
    page.get_by_label("you, in every project").check()
    page.get_by_role("button", name="Show the plan").click()
    expect(page.get_by_text("Nothing was changed yet")).to_be_visible()
    expect(page.get_by_role("heading", name="Refused")).to_be_visible()
    expect(page.get_by_text("thief", exact=True)).to_be_visible()
    assert [] == tab.check()
    assert not made.file("standup", ".agents").exists()
    page.get_by_role("checkbox", name="retro").uncheck()
    page.get_by_role("button", name="Install").click()

    expect(page.get_by_role("link", name="standup")).to_be_visible()
    assert [] == tab.check()
    assert made.file("standup", ".agents").exists()
    assert not made.file("thief", ".agents").exists()
    assert ("install", "done", "web") in made.events("standup")


def test_a_skill_is_updated_and_rolled_back(page: Page, made: WebHome) -> None:
    file = made.file("ocr-pages", ".agents")
    show(page, "Get")
    page.get_by_role("button", name="Look for newer versions").click()
    page.get_by_role("link", name="Show them").click()
    page.get_by_role("row", name=re.compile("^ocr-pages")).get_by_role(
        "button", name="Update"
    ).click()
    expect(page.get_by_text("+2. Turn and straighten step 2")).to_be_visible()
    assert "Turn and" not in file.read_text()
    page.get_by_role("button", name="Update", exact=True).click()
    page.get_by_role("link", name="ocr-pages").click()
    assert "Turn and straighten" in file.read_text()
    with page.expect_navigation():
        part(page, "History").get_by_role("button", name="Roll back to 1").click()
    assert "2. Look at step 2" in file.read_text()
    show(page, "Get")
    page.get_by_role("button", name="Roll back ocr-pages").click()

    expect(page.get_by_role("heading", level=1)).to_contain_text(re.compile("ocr-pages|Get"))
    settled(page)
    assert "2. Look at step 2" not in file.read_text()
    done = [event for event, _outcome, door in made.events("ocr-pages") if door == "web"]
    assert {"update", "rollback"} <= set(done)


def test_revisions_are_compared(page: Page) -> None:
    open_skill(page, "ocr-pages")
    form = page.get_by_role("form", name="Compare")
    form.get_by_label("Compare").select_option("1")
    form.get_by_label("with").select_option("2")
    form.get_by_role("button", name="Compare").click()

    changes = page.get_by_role("region", name="Changes")
    expect(changes).to_contain_text("-2. Look at step 2 of the form.")
    expect(changes).to_contain_text("+2. Straighten step 2 of the form.")


def test_a_plugin_is_enabled_paused_and_disabled_and_a_skill_of_it_adopted(
    page: Page, made: WebHome
) -> None:
    def status() -> str:
        with made.open() as m:
            return {one.plugin_id: one.status for one in m.plugins().plugins}.get("toolbox", "")

    show(page, "Plugins")
    page.get_by_label("Enable from a source").fill(str(made.toolbox))
    page.get_by_role("button", name="Show the plan").click()
    expect(page.get_by_text("Nothing is changed yet")).to_be_visible()
    assert "" == status()
    page.get_by_role("button", name="Enable", exact=True).click()
    expect(page.get_by_text("Changed.", exact=True)).to_be_visible()
    assert "synced" == status()
    assert ("plugin", "enabled", "web") in made.events()
    show(page, "Plugins")
    page.get_by_role("article", name="toolbox").get_by_text("Skills", exact=True).click()
    with page.expect_navigation():
        page.get_by_role("button", name="Adopt hammer").click()
    with made.open() as m:
        mine = {one.plugin_id: one.skills for one in m.plugins().plugins}["toolbox"]
    assert ["saw"] == list(mine)
    page.get_by_role("button", name="Pause toolbox").click()
    expect(page.get_by_role("button", name="Resume toolbox")).to_be_visible()
    assert "paused" == status()
    page.get_by_role("button", name="Disable toolbox").click()
    page.get_by_role("button", name="Disable", exact=True).click()

    expect(page.get_by_role("button", name="Enable toolbox")).to_be_visible()
    assert "disabled" == status()


# --- looking


def test_the_audit_log_is_narrowed_and_verified(page: Page, made: WebHome) -> None:
    show(page, "Audit")
    page.get_by_label("Event").select_option("install")
    page.get_by_label("Name").fill("pdf-forms")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_role("status").filter(has_text="of the last")).to_contain_text("1 of")
    page.get_by_role("button", name="Verify").click()

    expect(page.get_by_role("status").filter(has_text="as written")).to_be_visible()
    with made.open() as m:
        assert m.audit_verify().ok


def test_the_matrix_tells_why_an_agent_does_not_see_a_skill(page: Page) -> None:
    show(page, "Agents")
    page.get_by_label("Words").fill("sql-review")
    page.get_by_role("button", name="Filter").click()
    row = page.get_by_role("row", name=re.compile("sql-review"))
    summary = row.locator("summary", has_text="not loaded").first
    page.keyboard.press("Tab")
    summary.focus()
    told = summary.evaluate("(one) => getComputedStyle(one, '::after').content")

    assert "doesn't look in its folder" in told
    page.keyboard.press("Enter")
    expect(page.locator("details[open] p")).to_contain_text("doesn't look in its folder")
    page.get_by_role("link", name="Codex", exact=True).first.click()
    expect(page.get_by_role("region", name="What Codex is told")).to_contain_text("sql-review")


def point_at(page: Page, canvas: Locator, point: list[Any], told: Locator) -> None:
    """Move the mouse to a point of the map until the page tells its name: what else comes in by
    itself may move the map meanwhile.
    """
    x, y, name = point[:3]
    for _ in range(30):
        box = canvas.bounding_box()
        assert box is not None
        page.mouse.move(0, 0)
        page.mouse.move(box["x"] + x / 1000 * box["width"], box["y"] + y / 1000 * box["height"])
        with suppress(AssertionError):
            expect(told).to_contain_text(name, timeout=1000)
            return
    raise AssertionError(f"{name} is not told")


def test_the_map_is_pointed_at_and_walked_by_keys(tab: WatchedTab) -> None:
    page = tab.page
    show(page, "Graph")
    canvas = page.get_by_role("application", name="Map of skills")
    expect(canvas).to_be_visible()
    expect(page.locator("#graph[data-points]")).to_have_count(1)
    points = page.request.get(f"{tab.origin}/graph.json").json()["points"]
    told = page.locator("#map-told")
    point_at(page, canvas, points[0], told)
    page.mouse.move(0, 0)
    expect(told).to_have_text("")
    canvas.focus()
    page.keyboard.press("ArrowRight")
    expect(told).not_to_have_text("")
    chosen = told.inner_text().partition(":")[0]
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", level=1)).to_have_text(chosen)


def test_the_doctor_looks_at_everything(page: Page) -> None:
    show(page, "Doctor")

    expect(page.get_by_role("heading", name="Sandbox and tools")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("Claude Code"))).to_be_visible()


# --- by itself


def test_what_happens_elsewhere_appears_by_itself(page: Page, made: WebHome) -> None:
    show(page, "Skills")
    page.evaluate("window.sameLoad = true")
    made.write(
        ".claude/skills/brand-new/SKILL.md",
        skill_text("brand-new", "Appears by itself. Use it in a test."),
    )
    expect(page.get_by_role("link", name="brand-new", exact=True)).to_be_visible()
    answer = run(
        made.env, "trust", "block", "sql-review", "--yes", "--reason", "no", cwd=made.project
    )
    assert 0 == answer.code, answer.err

    expect(page.get_by_role("row", name=re.compile("^sql-review"))).to_contain_text("blocked")
    assert page.evaluate("window.sameLoad")
    assert ("block", "blocked", "metier") in made.events("sql-review")


def test_new_words_of_a_skill_appear_by_themselves_and_nobody_approves_them_unread(
    tab: WatchedTab, made: WebHome
) -> None:
    page = tab.page
    open_skill(page, "ink")
    settled(page)
    path = page.locator(".summary .path").inner_text().replace("~", str(made.home))
    file = Path(path) / "SKILL.md"
    page.evaluate("window.sameLoad = true")
    page.get_by_text("Frontmatter").click()
    page.locator("body").click(position={"x": 5, "y": 5})
    file.write_text(f"{file.read_text()}\nThese words came later.\n")

    expect(part(page, "Instructions")).to_contain_text("These words came later.")
    expect(part(page, "Instructions").locator("details")).to_have_attribute("open", "")
    expect(part(page, "Trust").get_by_role("alert")).to_contain_text("Load it again")
    assert page.evaluate("window.sameLoad")
    decide(page, "Approve")
    expect(page.get_by_role("alert")).to_contain_text("nothing was done")
    assert [] == made.events("ink")
    page.go_back()
    page.reload()
    expect(part(page, "Trust").get_by_role("alert")).to_have_count(0)
    decide(page, "Approve")
    assert ("approve", "approved", "web") in made.events("ink")
    assert all("409" in one for one in tab.tried)
    tab.tried.clear()


def test_what_comes_to_review_and_is_decided_elsewhere_is_seen_at_once(
    page: Page, made: WebHome
) -> None:
    def hold(step: str) -> None:
        text = skill_text("late-post", "Sends late post. Use it at night.", PAGES)
        made.upstream.commit({"skills/late-post/SKILL.md": text.replace("at step 3", step)})

    hold("at step 3")
    made.write(".agents/skills/night-log/SKILL.md", skill_text("night-log", "Logs nights. Use it."))
    with made.open() as m:
        m.add(made.upstream.url, skills=("late-post",), user=True, consent=agree)
    ours = made.file("late-post", ".agents")
    ours.write_text(ours.read_text().replace("at step 3", "past step 3"))
    hold("behind step 3")
    show(page, "Review")
    settled(page)
    begins: dict[str, Callable[[Library], object]] = {
        "held update": lambda m: m.update("late-post", user=True, consent=agree),
        "agent's draft": lambda m: m.manage("edit", "night-log", content=skill_text("night-log", "Logs.")),
    }  # fmt: skip
    for kind, begin in begins.items():
        was = made.waiting()
        with made.open() as m:
            begin(m)
        (name,) = set(made.waiting()) - set(was)
        row = page.get_by_role("row", name=re.compile(f"^{name}")).filter(has_text=kind)
        expect(row).to_be_visible()
        done = run(made.env, "review", "reject", made.waiting()[name], "--user", "--yes", cwd=made.project)  # fmt: skip
        assert 0 == done.code, done.err
        expect(row).to_have_count(0)


def test_half_a_sentence_in_a_form_is_left_alone(page: Page, made: WebHome) -> None:
    open_skill(page, "csv-report")
    box = page.get_by_role("form", name="Decide").get_by_label("Reason")
    box.fill("half a sent")
    text = made.file("csv-report").read_text()
    made.file("csv-report").write_text(f"{text}\nOne line more.\n")

    expect(page.get_by_text("Something changed")).to_be_visible()
    expect(box).to_have_value("half a sent")


# --- keys alone


def test_a_skill_is_found_and_approved_by_keys_alone(page: Page, made: WebHome) -> None:
    keys = page.keyboard
    settled(page)
    keys.press("/")
    box = page.get_by_role("searchbox", name="Search skills")
    expect(box).to_be_focused()
    keys.type("issue triage")
    expect(page.locator("a.skill").first).to_have_text("issue-triage")
    keys.press("ArrowDown")
    expect(page.get_by_role("link", name="issue-triage", exact=True)).to_be_focused()
    keys.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("issue-triage")
    settled(page)
    walk_to(page, "reason")
    keys.type("by keys")
    keys.press("Tab")
    expect(page.get_by_role("button", name="Approve")).to_be_focused()
    keys.press("Enter")

    expect(part(page, "Trust").get_by_role("row", name=re.compile("approve"))).to_contain_text(
        "by keys"
    )
    assert ("approve", "approved", "web") in made.events("issue-triage")


def walk_to(page: Page, ident: str) -> None:
    """Press Tab until something has the focus."""
    for _step in range(80):
        page.keyboard.press("Tab")
        if ident == page.evaluate("document.activeElement.id"):
            return
    raise AssertionError(f"Tab never reached {ident}")


# --- without JavaScript


def until_done(page: Page) -> None:
    """Look at a piece of work again until it is done."""
    expect(page).to_have_url(re.compile("/jobs/"))
    while page.get_by_text("Under way").count():
        page.get_by_role("link", name="Look again").click()


@pytest.mark.bubblewrap
def test_everything_can_be_done_without_javascript(
    browser: Browser, served: WebPage, made: WebHome
) -> None:
    tab = enter(browser, served, java_script_enabled=False)
    page = tab.page
    show(page, "Skills")
    page.get_by_role("searchbox", name="Search skills").fill("release")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("checkbox", name=re.compile("^project")).check()
    page.get_by_role("button", name="Narrow").click()
    wait_until(lambda: {"release-check"} <= set(names(page)) <= set(WAITING))
    page.get_by_role("link", name="release-check", exact=True).click()
    decide(page, "Approve", "plainly")
    assert ("approve", "approved", "web") in made.events("release-check")

    show(page, "Skills")
    page.get_by_role("link", name="greeter", exact=True).click()
    page.get_by_role("link", name="Plan a run of scripts/greet.py").click()
    page.get_by_role("button", name="Run", exact=True).click()
    until_done(page)
    expect(page.get_by_role("log", name="Output")).to_contain_text("Good day,")

    show(page, "Get")
    page.get_by_role("textbox", name="Source").fill(str(made.incoming))
    page.get_by_role("textbox", name="Only these skills").fill("retro")
    page.get_by_role("button", name="Show the plan").click()
    until_done(page)
    page.get_by_role("button", name="Install").click()
    until_done(page)
    assert (made.project / ".agents/skills/retro/SKILL.md").exists()
    assert [] == tab.tried
    page.context.close()


def test_what_waits_is_decided_without_javascript(
    browser: Browser, served: WebPage, made: WebHome
) -> None:
    tab = enter(browser, served, java_script_enabled=False)
    page = tab.page
    show(page, "Review")
    page.get_by_role("link", name="pdf-stamps", exact=True).click()
    region = page.get_by_role("group", name="Conflict 1 in SKILL.md")
    region.get_by_role("textbox", name="Result of conflict 1").fill("3. Stamp step 3.\n")
    region.get_by_label("As written here").check()
    page.get_by_role("button", name="Save SKILL.md").click()
    page.get_by_role("button", name="Accept", exact=True).click()
    expect(page.get_by_text("It was published")).to_be_visible()
    assert "3. Stamp step 3.\n" in made.file("pdf-stamps", ".agents").read_text()

    show(page, "Review")
    page.get_by_role("link", name="trip-log", exact=True).click()
    page.get_by_text("Edit SKILL.md as a whole").click()
    box = page.get_by_role("textbox", name="The whole text of SKILL.md")
    box.fill(box.input_value().replace("at noon", "at dawn"))
    page.get_by_role("button", name="Save the whole file").click()
    page.get_by_role("button", name="Reject", exact=True).click()
    expect(page.get_by_text("It was rejected")).to_be_visible()
    assert "once a day" in made.file("trip-log", ".agents").read_text()
    assert not {"pdf-stamps", "trip-log"} & set(made.waiting())
    assert [] == tab.tried
    page.context.close()


def test_a_plugin_is_looked_after_without_javascript(
    browser: Browser, served: WebPage, made: WebHome
) -> None:
    def stands() -> tuple[str, list[str]]:
        with made.open() as m:
            (one,) = [one for one in m.plugins().plugins if one.plugin_id == "lamps"]
        return one.status, list(one.skills)

    tab = enter(browser, served, java_script_enabled=False)
    page = tab.page
    show(page, "Plugins")
    page.get_by_label("Enable from a source").fill(str(made.lamps))
    page.get_by_role("button", name="Show the plan").click()
    until_done(page)
    page.get_by_role("button", name="Enable", exact=True).click()
    until_done(page)
    assert ("synced", ["candle", "torch"]) == stands()
    show(page, "Plugins")
    page.get_by_role("article", name="lamps").get_by_text("Skills", exact=True).click()
    page.get_by_role("button", name="Adopt candle").click()
    page.get_by_role("button", name="Pause lamps").click()
    assert ("paused", ["torch"]) == stands()
    page.get_by_role("button", name="Resume lamps").click()
    until_done(page)
    show(page, "Plugins")
    page.get_by_role("button", name="Disable lamps").click()
    page.get_by_role("button", name="Disable", exact=True).click()

    expect(page.get_by_role("button", name="Enable lamps")).to_be_visible()
    assert ("disabled", ["torch"]) == stands()
    assert [] == tab.tried
    page.context.close()


# --- the browser that metier opens


def test_the_browser_is_opened_with_nothing_that_others_could_use(
    browser: Browser, tmp_path: Path
) -> None:
    told = tmp_path / "told"
    program = tmp_path / "browser"
    program.write_text(f'#!/bin/sh\necho "$@" > {told}.new\nmv {told}.new {told}\n')
    program.chmod(0o700)
    home = tmp_path / "home"
    home.mkdir()
    env = {**web_env(home), "DISPLAY": ":0", "BROWSER": f"{program} %s"}
    served = WebPage(env, home, opens=True)
    try:
        wait_until(told.exists)
        (address,) = told.read_text().split()
        file = Path(address.removeprefix("file://"))
        assert "?" not in address
        assert 0o600 == file.stat().st_mode & 0o777
        text = file.read_text()
        assert served.url.partition("token=")[2] not in text
        found = re.search(r'href="http://[^/]+(/[?]ticket=[^"]+)"', text)
        assert found is not None

        context = browser.new_context()
        page = context.new_page()
        page.goto(address)
        expect(page).to_have_url(f"{served.origin}/")
        expect(page.get_by_role("heading", level=1)).to_have_text("Home")
        context.close()

        assert 401 == served.ask(found[1]).status
        assert 401 == served.ask("/?ticket=").status
        wait_until(lambda: not file.exists())
    finally:
        assert 0 == served.close()[0]
    assert [] == list((home / ".metier").glob("open-*"))


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait for something that another process does."""
    end = time.monotonic() + PATIENCE_MS / 1_000
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)


# --- two tabs


def test_a_form_that_is_out_of_date_changes_nothing(
    browser: Browser, served: WebPage, made: WebHome
) -> None:
    first, second = enter(browser, served), enter(browser, served)
    for tab in (first, second):
        open_skill(tab.page, "api-guide")
    second.page.get_by_role("form", name="Decide").get_by_label("Reason").fill("I like it")
    decide(first.page, "Block", "I do not")
    assert "blocked" == made.state("api-guide")
    expect(second.page.get_by_text("Something changed")).to_be_visible()
    decide(second.page, "Approve")

    expect(second.page.get_by_role("alert")).to_contain_text("nothing was done")
    assert "blocked" == made.state("api-guide")
    assert all("409" in one for one in second.tried)
    assert [] == first.tried
    for tab in (first, second):
        tab.page.context.close()
