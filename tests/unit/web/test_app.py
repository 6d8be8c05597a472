"""What every answer of the page goes through, the unexpected ones included."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unit.web.asgi import ORIGIN, Browser

from metier.web.access import CONTENT_POLICY

if TYPE_CHECKING:
    import pytest
    from conftest import Home


def test_a_page_that_fails_says_so_under_the_same_strict_rules(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Browser(home) as browser:
        monkeypatch.setattr(browser.site, "rows", lambda: 1 / 0)
        answer = browser.get("/skills")

    assert 500 == answer.status
    assert "this page failed" in answer.text
    assert "division" not in answer.text
    assert CONTENT_POLICY == answer.headers["content-security-policy"]
    assert "nosniff" == answer.headers["x-content-type-options"]
    assert "no-store" == answer.headers["cache-control"]


def test_what_was_refused_leads_back_to_the_page_that_it_came_from(home: Home) -> None:
    with Browser(home) as browser:
        came = browser.get("/nowhere", referer=f"{ORIGIN}/skills?q=a%20b")
        other = browser.get("/nowhere", referer="http://evil.example/skills")
        bent = browser.get("/nowhere", referer=f"{ORIGIN}//evil.example/")

    assert '<a href="/skills?q=a%20b">Back to where you were</a>' in came.text
    assert "Back to where you were" not in other.text
    assert '<a href="/evil.example/">' in bent.text
