"""Makes pictures of every page of `metier web`, narrow to wide, light and dark, into build/web.

Run it by hand: make web-pictures. It needs chromium, Playwright and bubblewrap. With --docs the few that
the documentation shows are written to docs/img, too.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from fakes.browser import WatchedTab, chromium  # noqa: E402 - it lies beside the tests
from fakes.web_home import WebHome  # noqa: E402
from fakes.web_page import WebPage  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

OUT = ROOT / "build" / "web"
WIDTHS = (360, 800, 1440)
COLOURS = ("light", "dark")
SHOWN = {
    "web-home": ("home", 1440, "light", 700),
    "web-skills": ("skills", 1440, "light", 640),
    "web-skill-dark": ("danger", 1440, "dark", 940),
    "web-review": ("candidate", 1440, "light", 1240),
    "web-agents": ("agents", 1440, "light", 760),
    "web-skill-narrow": ("danger", 360, "light", 1040),
}
"""What the documentation shows: which page, how wide, in which colours, and how much of it."""
PENDING = "() => !document.querySelector('.pending') && !/Under way/.test(document.body.innerText)"


def main() -> int:
    """Make them all."""
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="metier-web-") as folder, chromium() as browser:
        home = WebHome(Path(folder))
        served = WebPage(home.env, home.project)
        try:
            for colour in COLOURS:
                picture_all(browser, served, home, colour)
        finally:
            served.close()
    return 0


def picture_all(browser: Browser, served: WebPage, home: WebHome, colour: str) -> None:
    """Take a picture of each page at each width."""
    context = browser.new_context(color_scheme="dark" if colour == "dark" else "light")
    tab = WatchedTab(context, served.origin)
    page = tab.page
    page.goto(served.url)
    for name, where in addresses(page, served, home).items():
        page.goto(served.origin + where)
        page.wait_for_function(PENDING)
        for fault in [*tab.check(), *tab.tried]:
            print(f"{name} {colour}: {fault}")
        tab.tried.clear()
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            wide = page.evaluate("document.documentElement.scrollWidth")
            if wide > width:
                print(f"{name} {colour}: {wide} px wide at {width} px")
            page.screenshot(path=OUT / f"{name}-{width}-{colour}.png", full_page=True)
            for file, (what, at, hue, high) in SHOWN.items():
                if "--docs" in sys.argv and (what, at, hue) == (name, width, colour):
                    page.set_viewport_size({"width": width, "height": high})
                    page.screenshot(path=ROOT / "docs" / "img" / f"{file}.png")
    context.close()


def addresses(page: Page, served: WebPage, home: WebHome) -> dict[str, str]:
    """Give every page by a short name."""
    page.goto(f"{served.origin}/skills")
    skills = {
        name: page.get_by_role("link", name=name, exact=True).first.get_attribute("href") or ""
        for name in ("table-tidy", "greeter", "ocr-pages", "書道", "half-done", "ink")
    }
    waits = home.waiting()
    return {
        "home": "/",
        "skills": "/skills",
        "found": "/skills?q=letters&state=visible",
        "none": "/skills?q=zzzz",
        "danger": skills["table-tidy"],
        "installed": skills["ocr-pages"],
        "brush": skills["書道"],
        "broken": skills["half-done"],
        "copies": skills["ink"],
        "file": skills["table-tidy"] + "/files/scripts/tidy.sh",
        "diff": skills["ocr-pages"] + "/diff?from=1&to=now",
        "run": skills["greeter"] + "/run",
        "agents": "/agents",
        "agent": "/agents/claude-code",
        "review": "/review?all=1",
        "candidate": f"/review/{waits['pdf-forms']}",
        "update": f"/review/{waits['alpha']}",
        "get": "/get",
        "plan": planned(page, served, home),
        "ran": ran(page, served, skills["greeter"]),
        "plugins": "/plugins",
        "disable": "/plugins/disable?plugin=kit&scope=user",
        "audit": "/audit",
        "verify": "/audit/verify",
        "doctor": "/doctor",
        "graph": "/graph",
        "leave": "/leave?to=https://example.org/",
        "missing": "/nowhere",
    }


def planned(page: Page, served: WebPage, home: WebHome) -> str:
    """Ask for a plan, and give its address."""
    page.goto(f"{served.origin}/get")
    page.get_by_role("textbox", name="Source").fill(str(home.incoming))
    page.get_by_role("button", name="Show the plan").click()
    page.wait_for_url("**/jobs/*")
    page.wait_for_function(PENDING)
    return page.url.removeprefix(served.origin)


def ran(page: Page, served: WebPage, skill: str) -> str:
    """Run a script, and give the address of that."""
    page.goto(f"{served.origin}{skill}/run?script=scripts/greet.py&args=Ada")
    page.get_by_role("button", name="Run").click()
    page.wait_for_url("**/jobs/*")
    page.wait_for_function(PENDING)
    return page.url.removeprefix(served.origin)


if __name__ == "__main__":
    sys.exit(main())
