"""The hub's pages in a real browser: open to all, light and dark, narrow and wide, by keys alone and without JavaScript."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from fakes.browser import WatchedTab, chromium
from fakes.hub_in_browser import fill, let_in
from fakes.hub_skills import CAUTION, member, publish_archive, skill_archive
from fakes.served_hub import ServedHub, served_hub

from metier.hub.model import LOCAL
from metier.hub.releases import need_release

pytest.importorskip("playwright.sync_api", reason="needs chromium")

from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _pytest.tmpdir import TempPathFactory
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.loopback, pytest.mark.chromium]
PATIENCE_MS = 60_000
"""After which something counts as never happening; no test measures time."""
WIDTHS = (360, 800, 1440)
PAGES = {
    "/": "Skills",
    "/?q=tables&namespace=team": "Skills",
    "/namespaces": "Namespaces",
    "/ns/team": "team",
    "/ns/team/settings": "Settings of team",
    "/queue": "Queue",
    "/skills/team/table-tidy": "team/table-tidy",
    "/skills/team/old-style/0.1.0": "team/old-style",
    "/skills/team/cleaner/0.1.0": "team/cleaner",
    "/skills/team/cleaner/0.1.0/review": "Review team/cleaner 0.1.0",
    "/skills/team/table-tidy/1.2.0/review": "Review team/table-tidy 1.2.0",
    "/skills/team/table-tidy/diff?from=1.1.0&to=1.2.0": "Changes in team/table-tidy",
    "/skills/team/table-tidy/1.1.0/files/scripts/tidy.py": "scripts/tidy.py",
    "/skills/team/table-tidy/1.1.0/folder?in=scripts/": "scripts/",
    "/tokens": "Tokens",
    "/grants": "Roles",
    "/policy": "Policy",
    "/audit": "Audit",
    "/usage": "Usage",
    "/login": "Log in",
    "/leave?to=https://example.org/": "A link out of a skill",
}


class Team:
    """A hub that is served, and everybody's tokens."""

    def __init__(self, served: ServedHub) -> None:
        """Fill it."""
        self.served, self.hub = served, served.hub
        fill(self.hub)
        self.tokens = let_in(self.hub)

    def publish(self, name: str) -> str:
        """Have a release wait, and give the address of its page."""
        ann = member(self.hub, "ann", "publisher")
        publish_archive(self.hub, ann, name, skill_archive(name, CAUTION), version="1.0.0")
        return f"/skills/team/{name}/1.0.0"

    def state(self, name: str) -> tuple[str, str]:
        """Give what became of it, and why."""
        with self.hub.database.read() as connection:
            release = need_release(connection, LOCAL, "team", name, "1.0.0")[1]
        return release.state, release.reason


@pytest.fixture(scope="module")
def team(tmp_path_factory: TempPathFactory) -> Iterator[Team]:
    """Give a hub with skills in every state and somebody of each role."""
    with served_hub(tmp_path_factory.mktemp("hub") / "hub") as served:
        yield Team(served)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Give a browser for all tests."""
    expect.set_options(timeout=PATIENCE_MS)
    with chromium() as found:
        yield found


def enter(browser: Browser, team: Team, name: str, **wishes: Any) -> WatchedTab:
    """Open a tab in a window of its own, and log in as somebody."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, **wishes)
    context.set_default_timeout(PATIENCE_MS)
    tab = WatchedTab(context, team.served.url)
    page = tab.page
    page.goto(f"{team.served.url}/")
    page.get_by_role("link", name="Log in").click()
    page.get_by_label("Token").fill(team.tokens[name])
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("button", name="Log out")).to_be_visible()
    return tab


def width_at(page: Page, width: int) -> int:
    """Give how wide a page is on a screen of that width."""
    page.set_viewport_size({"width": width, "height": 900})
    return int(page.evaluate("document.documentElement.scrollWidth"))


def test_every_page_is_open_to_all_in_light_and_dark_and_fits_every_screen(
    browser: Browser, team: Team
) -> None:
    # The page's own rules let no script in, and the checker is one.
    tab = enter(browser, team, "root", bypass_csp=True)
    page = tab.page
    wrong: dict[str, list[object]] = {}
    for address, heading in PAGES.items():
        page.emulate_media(color_scheme="light")
        page.goto(tab.origin + address)
        shape = [page.locator("main").count(), page.get_by_role("heading", level=1).inner_text()]
        faults = tab.check()
        page.emulate_media(color_scheme="dark")
        faults += [*tab.check(), *tab.tried]
        tab.tried.clear()
        shape += [width_at(page, width) for width in WIDTHS]
        if faults or shape != [1, heading, *WIDTHS]:
            wrong[address] = [*shape, *faults]
    page.context.close()

    assert {} == wrong


def test_no_page_asks_another_host_or_runs_a_script(browser: Browser, team: Team) -> None:
    tab = enter(browser, team, "root")
    asked: list[str] = []
    tab.page.on("request", lambda one: asked.append(one.resource_type))
    for address in PAGES:
        tab.page.goto(tab.origin + address)

    assert [] == tab.tried
    assert "script" not in asked
    tab.page.context.close()


def test_headings_and_buttons_are_found_by_their_names(browser: Browser, team: Team) -> None:
    tab = enter(browser, team, "root")
    page = tab.page
    page.goto(f"{tab.origin}/skills/team/table-tidy")
    for name in ("Instructions", "Findings", "Files", "Versions", "Trust"):
        expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
    for name in ("Yank", "Deprecate", "Log out"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_visible()
    page.goto(f"{tab.origin}/skills/team/cleaner/0.1.0/review")
    for name in ("Approve", "Reject"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_visible()
    page.goto(f"{tab.origin}/tokens")
    expect(page.get_by_role("button", name="Revoke", exact=True)).to_have_count(7)
    page.goto(tab.origin)
    expect(page.get_by_role("searchbox", name="Search skills")).to_be_visible()
    tab.page.context.close()


def test_two_reviewers_approve_without_javascript(browser: Browser, team: Team) -> None:
    where = team.publish("plain-work")
    tabs = [enter(browser, team, name, java_script_enabled=False) for name in ("rita", "rolf")]
    for at, tab in enumerate(tabs):
        page = tab.page
        page.get_by_role("link", name="Queue").click()
        page.get_by_role("link", name="team/plain-work 1.0.0").click()
        page.get_by_label("Reason").fill(f"looked at it, {at}")
        page.get_by_role("button", name="Approve").click()
        expect(page.get_by_role("status")).to_have_text("Your approval was written down.")

    expect(tabs[0].page.get_by_text("One more reviewer has to approve it.")).to_be_visible()
    expect(tabs[1].page.get_by_text("This version is approved.")).to_be_visible()
    tabs[0].page.goto(team.served.url + where)
    expect(tabs[0].page.get_by_text("metier add hub:team/plain-work")).to_be_visible()
    assert ("approved", "") == team.state("plain-work")
    for tab in tabs:
        assert [] == tab.tried
        tab.page.context.close()


def test_a_reviewer_rejects_by_keys_alone(browser: Browser, team: Team) -> None:
    team.publish("key-work")
    tab = enter(browser, team, "rita")
    page, keys = tab.page, tab.page.keyboard
    walk_to(page, "Queue")
    keys.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Queue")
    walk_to(page, "team/key-work 1.0.0")
    keys.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Review team/key-work 1.0.0")
    walk_to(page, "reason")
    keys.type("by keys")
    walk_to(page, "Reject")
    keys.press("Enter")

    expect(page.get_by_role("status")).to_have_text("The version was rejected.")
    assert ("rejected", "by keys") == team.state("key-work")
    walk_to(page, "Log out")
    keys.press("Enter")
    expect(page.get_by_role("status")).to_have_text("You are logged out.")
    tab.page.context.close()


def walk_to(page: Page, name: str) -> None:
    """Press Tab until something of that name or id has the focus, and see that the focus shows."""
    for _step in range(80):
        page.keyboard.press("Tab")
        told, ident, outline = page.evaluate(
            "() => { const one = document.activeElement;"
            " return [one.innerText.trim(), one.id, getComputedStyle(one).outlineStyle]; }"
        )
        if name in {told, ident}:
            assert outline != "none"
            return
    raise AssertionError(f"Tab never reached {name}")


def test_a_page_that_was_open_while_somebody_else_decided_says_so(
    browser: Browser, team: Team
) -> None:
    where = team.publish("late-work")
    tabs = [enter(browser, team, name) for name in ("rita", "rolf")]
    for tab in tabs:
        tab.page.goto(f"{tab.origin}{where}/review")
    tabs[1].page.get_by_label("Reason").fill("deletes too much")
    tabs[1].page.get_by_role("button", name="Reject").click()
    expect(tabs[1].page.get_by_role("status")).to_be_visible()

    tabs[0].page.get_by_role("button", name="Approve").click()

    expect(tabs[0].page.get_by_role("alert")).to_contain_text(
        "somebody else decided first: late-work 1.0.0 is rejected now"
    )
    assert ("rejected", "deletes too much") == team.state("late-work")
    for tab in tabs:
        tab.page.context.close()


def test_logging_in_leads_back_to_what_was_asked_for(browser: Browser, team: Team) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{team.served.url}/skills/team/table-tidy")
    expect(page.get_by_role("heading", level=1)).to_have_text("There is nothing here")
    page.locator("main").get_by_role("link", name="log in").click()
    page.get_by_label("Token").fill(team.tokens["rhea"])
    page.get_by_role("button", name="Log in").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("team/table-tidy")
    context.close()


def test_a_strange_site_can_send_no_form(browser: Browser, team: Team) -> None:
    tab = enter(browser, team, "root")
    page = tab.page
    page.goto("data:text/html,<p>strange")
    page.set_content(
        f'<form method="post" action="{team.served.url}/namespaces">'
        '<input name="name" value="theirs"><button>Go</button></form>'
    )
    page.get_by_role("button", name="Go").click()

    expect(page.get_by_role("alert")).to_contain_text("this change was asked for by another page")
    page.goto(f"{team.served.url}/namespaces")
    expect(page.get_by_role("link", name="team", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="theirs")).to_have_count(0)
    page.context.close()
