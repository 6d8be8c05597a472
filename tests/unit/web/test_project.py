"""Trusting a project on the page, and the ticket that lets in the browser that metier opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from unit.web.asgi import Browser, forms_of

from metier.errors import RefusedError
from metier.web.access import PageGate

if TYPE_CHECKING:
    from conftest import Home

SKILL = "---\nname: {name}\ndescription: Does one thing. Use it for that thing.\n---\n\nDo it.\n"


def write(home: Home, name: str) -> None:
    folder = home.path / "work" / ".agents" / "skills" / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL.format(name=name))


def test_a_project_is_trusted_only_as_it_was_shown(home: Home) -> None:
    (home.path / "work" / ".git").mkdir(parents=True)
    write(home, "house-style")
    with Browser(home, home.path / "work") as browser:
        shown = browser.get("/project")
        write(home, "late-comer")
        stale = browser.submit(shown, "/project", reason="ours")
        forged = browser.post("/project", {"seen": "x"})
        before = browser.library.is_project_trusted()
        offers = [browser.get(path).text for path in ("/", "/review", "/skills?state=ask")]
        done = browser.submit("/project", "/project", reason="ours")
        again = browser.get("/project")

        assert (409, 409) == (stale.status, forged.status)
        assert not before
        assert all("Trust this project…" in text for text in offers)
        assert "Trust this project…" not in browser.get("/skills").text
        assert (200, "/") == (done.status, done.url)
        assert browser.library.is_project_trusted()
        assert ("trust_project", "approved", "web") in browser.events()
        assert ["Stop trusting"] == forms_of(again.text)[0].buttons


def test_where_no_project_has_skills_none_is_offered(home: Home) -> None:
    with Browser(home) as browser:
        assert "Trust this project" not in browser.get("/").text
        assert "It has no skills now" in browser.get("/project").text


def test_a_ticket_lets_in_one_browser_once_and_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = PageGate(8600)
    ticket, other = gate.make_ticket(), gate.make_ticket()
    assert gate.has_ticket(ticket)
    visit = gate.admit_by_ticket(ticket)

    assert visit == gate.visit_of(visit.ident)
    assert not gate.has_ticket(ticket)
    for bad in (ticket, "", "é", gate.token, other + "x"):
        with pytest.raises(RefusedError, match="used already, or is too old"):
            gate.admit_by_ticket(bad)
    monkeypatch.setattr("metier.web.access.time.monotonic", lambda: 1e12)
    assert not gate.has_ticket(other)
    with pytest.raises(RefusedError):
        gate.admit_by_ticket(other)
