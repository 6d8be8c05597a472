"""A real browser that reports whatever a page tries to do beyond showing itself."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, BrowserContext, Page

AXE = Path(__file__).resolve().parent.parent / "vendor" / "axe.min.js"
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

LOOK = """() => {
  for (const one of document.querySelectorAll('details')) one.open = true;
  const away = [...document.links].filter((a) => a.origin !== location.origin && !a.rel.includes('external'));
  const forms = [...document.querySelectorAll('form')].filter((one) => new URL(one.getAttribute('action'), location).origin !== location.origin);
  return {
    pwned: window.pwned === undefined ? null : String(window.pwned),
    away: away.map((a) => a.href), forms: forms.length,
    mains: document.querySelectorAll('main').length,
    frames: window.length, scripts: [...document.scripts].filter((one) => !one.src.startsWith(location.origin + '/static/')).length,
  };
}"""
HARMLESS: dict[str, object] = {
    "pwned": None,
    "away": [],
    "forms": 0,
    "mains": 1,
    "frames": 0,
    "scripts": 0,
}
"""What `LOOK` gives of a page that does nothing but show itself."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Debian's browser without a screen."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("needs chromium")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(QUIET))
        try:
            yield browser
        finally:
            browser.close()


class WatchedTab:
    """A tab, and what its pages tried: requests elsewhere, dialogs, new windows, errors, navigations."""

    def __init__(self, context: BrowserContext, origin: str) -> None:
        """Open a tab that notes everything down."""
        self.origin = origin
        self.tried: list[str] = []
        self.page: Page = context.new_page()
        context.on("page", lambda other: self.tried.append(f"opened {other.url}"))
        self.page.on("dialog", self._dismiss)
        self.page.on("request", self._note_request)
        self.page.on("pageerror", lambda error: self.tried.append(f"error {error}"))
        self.page.on("console", self._note_console)
        self.page.on("download", lambda one: self.tried.append(f"download {one.url}"))

    def _dismiss(self, dialog: Any) -> None:
        self.tried.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def _note_request(self, request: Any) -> None:
        if not request.url.startswith((f"{self.origin}/", "data:")):
            self.tried.append(f"request {request.url}")

    def _note_console(self, message: Any) -> None:
        if message.type in {"error", "warning"} and "401" not in message.text:
            self.tried.append(f"console {message.text}")

    def check(self, *rules: str) -> list[str]:
        """Give what axe calls serious or critical on the page, one line each; by all its rules unless some are named."""
        if not self.page.evaluate("() => 'axe' in window"):
            self.page.evaluate(AXE.read_text(encoding="utf-8"))
        wish = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
        found = self.page.evaluate(
            "async (wish) => (await axe.run(document, wish)).violations", wish
        )
        return [
            f"{one['id']}: {node['target']} {node['failureSummary'][:200]}"
            for one in found
            if one["impact"] in {"serious", "critical"}
            for node in one["nodes"][:3]
        ]
