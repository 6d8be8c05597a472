"""A browser without a screen: it asks the page in this very process, keeps its cookie, and sends forms as they stand on a page."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from urllib.parse import urlencode, urlsplit

from starlette.testclient import TestClient

import metier
from metier.web.access import PageGate
from metier.web.app import make_app
from metier.web.site import Site

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home

PORT = 8600
ORIGIN = f"http://127.0.0.1:{PORT}"


class Answer(NamedTuple):
    """What the page answered."""

    status: int
    text: str
    headers: dict[str, str]
    url: str
    """The path of the page in the end."""
    data: bytes = b""


class Form(NamedTuple):
    """A form of a page, with what it sends if nobody changes anything."""

    action: str
    method: str
    fields: dict[str, str]
    buttons: list[str]
    """The words on its buttons."""


class Browser:
    """One browser that was let in."""

    def __init__(
        self, home: Home, cwd: Path | str | None = None, *, live: bool = False, **opened: Any
    ) -> None:
        """Open the page of a home; with `live` also what runs beside it: the watcher and the judge."""
        self.library = metier.open(env=home.env, cwd=cwd or home.path, **opened)
        self.gate = PageGate(PORT)
        self.site = Site(self.library, self.gate)
        self.client = TestClient(
            make_app(self.site),
            base_url=ORIGIN,
            raise_server_exceptions=False,
            headers={"accept": "text/html"},
        )
        self._live = live
        self.get(f"/?token={self.gate.token}")

    def __enter__(self) -> Self:
        if self._live:
            self.client.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live:
            self.client.__exit__(*error)
        else:
            self.site.end()
        self.library.close()

    def get(self, path: str, **headers: str) -> Answer:
        """Load a page."""
        return self._answer(self.client.get(path, headers=headers))

    def post(
        self, path: str, fields: dict[str, Any], *, key: str | None = None, **headers: str
    ) -> Answer:
        """Send fields as a form of this page would, with a fresh key unless one is given."""
        visit = self.gate.visit_of(self.client.cookies.get(self.gate.cookie) or "")
        form_key = key if key is not None else visit.form_key() if visit else ""
        body = urlencode({"form_key": form_key, **fields}, doseq=True)
        sent = {"origin": ORIGIN, "content-type": "application/x-www-form-urlencoded", **headers}
        return self._answer(self.client.post(path, content=body, headers=sent))

    def submit(self, page: str | Answer, action: str, button: str = "", **fields: Any) -> Answer:
        """Send the form of a page whose address ends with `action`, by the button with that value."""
        found = self.get(page) if isinstance(page, str) else page
        form = next(one for one in forms_of(found.text) if one.action.endswith(action))
        sent = {**form.fields, **fields}
        if button:
            sent["action"] = button
        return self.post(form.action, sent, key=sent.pop("form_key"))

    def skill(self, name: str) -> str:
        """Give the address of a skill."""
        rows = self.site.rows()
        return next(f"/skills/{rows.idents[card.path]}" for card in rows.cards if card.name == name)

    def events(self, limit: int = 50) -> list[tuple[str, str, str]]:
        """Give the last events of the audit log: what, with which outcome, through which door."""
        return [
            (one["event"], one["outcome"], one["source"]) for one in self.library.audit_tail(limit)
        ]

    def _answer(self, response: Any) -> Answer:
        return Answer(
            response.status_code,
            response.text,
            dict(response.headers),
            urlsplit(str(response.url)).path,
            response.content,
        )


def forms_of(text: str) -> list[Form]:
    """Give the forms of a page."""
    reader = _FormReader()
    reader.feed(text)
    return reader.forms


class _FormReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._open = False
        self._button = False
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(given.get("action", ""), given.get("method", "get"), {}, []))
            self._open = True
        elif not self._open:
            return
        elif tag == "button":
            self._button = True
            self.forms[-1].buttons.append("")
        elif tag == "select":
            self._select = given.get("name", "")
        elif tag == "option" and self._select:
            if "selected" in given or self._select not in self.forms[-1].fields:
                self.forms[-1].fields[self._select] = given.get("value", "")
        elif tag in {"input", "textarea"} and "name" in given:
            chosen = given.get("type") not in {"checkbox", "radio"} or "checked" in given
            if chosen:
                self.forms[-1].fields[given["name"]] = given.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = False
        elif tag == "button":
            self._button = False
        elif tag == "select":
            self._select = ""

    def handle_data(self, data: str) -> None:
        if self._open and self._button:
            self.forms[-1].buttons[-1] += data.strip()


class Element(NamedTuple):
    """An element of a page, as a browser would see it."""

    tag: str
    attributes: dict[str, str]


def elements_of(text: str) -> list[Element]:
    """Give all elements of a page."""
    reader = _ElementReader()
    reader.feed(text)
    return reader.found


class _ElementReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(Element(tag, {name: value or "" for name, value in attrs}))
