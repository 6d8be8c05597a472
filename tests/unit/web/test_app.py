"""What every answer of the page goes through, the unexpected ones included."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unit.web.asgi import Browser

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
