"""A browser without a window: loads pages of the site in this process, fills in their forms and sends them."""

from __future__ import annotations

import asyncio
import time
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlencode

from metier.web.access import PageGate
from metier.web.app import make_app
from metier.web.site import Site

if TYPE_CHECKING:
    from metier.library import Library

HOST = "127.0.0.1:8600"
WAIT_SECONDS = 60


class PageReader(HTMLParser):
    """Reads the forms of a page, its text and its links."""

    def __init__(self, html: str) -> None:
        """Read a page."""
        super().__init__()
        self.forms: list[dict[str, Any]] = []
        self.links: list[str] = []
        self.text = ""
        self._area: str | None = None
        self._select: str | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of what can be filled in."""
        given = {key: value or "" for key, value in attrs}
        fields = self.forms[-1]["fields"] if self.forms else {}
        name = given.get("name", "")
        if tag == "form":
            self.forms.append({"action": given.get("action", ""), "fields": {}, "areas": []})
        elif tag == "a":
            self.links.append(given.get("href", ""))
        elif tag == "input" and name:
            boxed = given.get("type") in {"radio", "checkbox"}
            if not boxed or "checked" in given:
                fields.setdefault(name, []).append(given.get("value", ""))
        elif tag == "textarea":
            self._area = name
            fields[name] = [""]
            self.forms[-1]["areas"].append(name)
        elif tag == "select":
            self._select = name
            fields[name] = [""]

    def handle_endtag(self, tag: str) -> None:
        """Leave a text field; a browser drops its first line feed and sends its line ends as CRLF."""
        if tag == "textarea" and self._area is not None:
            text = self.forms[-1]["fields"][self._area][0].removeprefix("\n")
            self.forms[-1]["fields"][self._area] = [text.replace("\n", "\r\n")]
            self._area = None

    def handle_data(self, data: str) -> None:
        """Keep what is read."""
        if self._area is not None:
            self.forms[-1]["fields"][self._area][0] += data
        else:
            self.text += data


class Loaded:
    """One answer."""

    def __init__(self, status: int, headers: dict[str, str], html: str) -> None:
        """Read an answer."""
        self.status, self.headers, self.html = status, headers, html
        self.page = PageReader(html)

    @property
    def text(self) -> str:
        """What a person reads, with each run of white space as one space."""
        return " ".join(self.page.text.split())

    def form(self, action: str, **having: str) -> dict[str, Any]:
        """Give the form that goes to an address and has these fields."""
        return next(
            one
            for one in self.page.forms
            if one["action"].endswith(action)
            and all(one["fields"].get(key) == [value] for key, value in having.items())
        )


class Clicks:
    """A person at the page of one library; nothing watches the disk meanwhile."""

    def __init__(self, library: Library) -> None:
        """Open the page, with the token."""
        self.site = Site(library, PageGate(8600))
        self.app = make_app(self.site)
        self.cookie = ""
        answer = self.load(f"/?token={self.site.gate.token}")
        self.cookie = answer.headers["set-cookie"].partition(";")[0]

    def close(self) -> None:
        """Leave."""
        self.site.end()
        self.site.library.close()

    def load(self, url: str) -> Loaded:
        """Load a page."""
        return asyncio.run(self._ask("GET", url, b""))

    def send(self, form: dict[str, Any], **changed: str | list[str]) -> Loaded:
        """Send a form with some fields changed; give the page that a browser would end at."""
        fields = {**form["fields"]}
        for name, value in changed.items():
            fields[name.replace("__", "-")] = [value] if isinstance(value, str) else value
        body = urlencode([(name, one) for name, values in fields.items() for one in values])
        answer = asyncio.run(self._ask("POST", form["action"], body.encode()))
        if answer.status != 303:
            return answer
        where = answer.headers["location"].partition("#")[0]
        return self.finished(where) if where.startswith("/jobs/") else self.load(where)

    def finished(self, where: str) -> Loaded:
        """Wait until a piece of work ends, and load its page."""
        job = self.site.jobs.get(where.rpartition("/")[2])
        assert job is not None
        end = time.monotonic() + WAIT_SECONDS
        while not job.done and time.monotonic() < end:
            time.sleep(0.01)
        return self.load(where)

    async def _ask(self, method: str, url: str, body: bytes) -> Loaded:
        path, _mark, query = url.partition("?")
        headers = [(b"host", HOST.encode()), (b"accept", b"text/html")]
        headers += [(b"cookie", self.cookie.encode())] if self.cookie else []
        if method == "POST":
            headers.append((b"origin", f"http://{HOST}".encode()))
            headers.append((b"content-type", b"application/x-www-form-urlencoded"))
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": headers,
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8600),
        }
        found: dict[str, Any] = {"body": b""}
        sent = False

        async def receive() -> dict[str, Any]:
            nonlocal sent
            if sent:
                return {"type": "http.disconnect"}
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                found["status"] = message["status"]
                found["headers"] = {
                    key.decode().lower(): value.decode() for key, value in message["headers"]
                }
            else:
                found["body"] += message.get("body", b"")

        await self.app(scope, receive, send)
        return Loaded(found["status"], found["headers"], found["body"].decode())
