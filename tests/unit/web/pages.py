"""Asks pages in this very process, and waits for what is found out or done beside them."""

from __future__ import annotations

import re
import time
from html import unescape
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode

from starlette.testclient import TestClient

from metier.web.access import PageGate
from metier.web.app import make_app
from metier.web.site import Site

if TYPE_CHECKING:
    from metier.library import Library

PORT = 8600
ORIGIN = f"http://127.0.0.1:{PORT}"
MAX_SECONDS = 180


class PageReader:
    """A browser that was let in."""

    def __init__(self, library: Library) -> None:
        """Open the page of a library."""
        self.library = library
        self.site = Site(library, PageGate(PORT))
        self.client = TestClient(
            make_app(self.site),
            base_url=ORIGIN,
            raise_server_exceptions=False,
            headers={"accept": "text/html"},
        )
        self.client.get(f"/?token={self.site.gate.token}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.site.end()
        self.site.background.shutdown(wait=True)
        self.library.close()

    def get(self, path: str) -> Any:
        """Load a page as it is now."""
        return self.client.get(path)

    def read(self, path: str) -> str:
        """Load a page once everything on it is known and done."""
        until = time.monotonic() + MAX_SECONDS
        while time.monotonic() < until:
            answer = self.client.get(path)
            if not any(
                mark in answer.text for mark in ('class="pending"', ">Under way", '"pending"')
            ):
                assert answer.status_code == 200, answer.text
                return str(answer.text)
            time.sleep(0.02)
        raise AssertionError(f"{path} is not ready")

    def post(self, path: str, **fields: str) -> Any:
        """Send a form of this page."""
        visit = self.site.gate.visit_of(self.client.cookies[self.site.gate.cookie])
        assert visit is not None
        body = urlencode({"form_key": visit.form_key(), **fields})
        headers = {"origin": ORIGIN, "content-type": "application/x-www-form-urlencoded"}
        return self.client.post(path, content=body, headers=headers)

    def finish(self, path: str, **fields: str) -> str:
        """Send a form that begins work, and give the page of the work once it is done."""
        answer = self.post(path, **fields)
        assert answer.status_code == 200, answer.text
        return self.read(answer.url.path)


def fields_of(text: str, action: str) -> dict[str, str]:
    """Give the hidden fields of the first form that is sent to an address."""
    form = re.search(rf'<form[^>]*action="{re.escape(action)}".*?</form>', text, re.DOTALL)
    assert form, f"no form for {action}"
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form.group())
    return {name: unescape(value) for name, value in found if name != "form_key"}
