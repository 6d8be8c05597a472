"""A hub with skills in every state and people of every role, for tests that look at its pages."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from fakes.hub_skills import CAUTION, DANGEROUS, DESCRIPTION, member, publish_archive, skill_archive
from starlette.testclient import TestClient
from unit.web.asgi import forms_of

from metier.hub import decide
from metier.hub.accounts import add_token, remember_person, set_grant
from metier.hub.app import make_app
from metier.hub.model import LOCAL
from metier.hub.namespaces import add_namespace, change_namespace
from metier.hub.usage import count_install
from metier.supply.archives.write_tar import PackFile, pack_tar_gz

if TYPE_CHECKING:
    from metier.hub.hub import Hub
    from metier.hub.model import Release

ORIGIN = "http://127.0.0.1:8700"
PLAIN = "# Tidy\n\nAlign the columns of every table.\n"
LATER = "# Tidy\n\nAlign the columns of every table, and sort its rows.\n\nSee [the script](scripts/tidy.py).\n"
SCRIPT = b'"""Tidy a table."""\n\n\ndef tidy(rows):\n    return sorted(rows)\n'


def archive_of(name: str, body: str, files: dict[str, bytes] | None = None) -> bytes:
    """Pack a skill with files beside its own."""
    head = f"---\nname: {name}\ndescription: {DESCRIPTION}\n---\n\n{body}\n"
    more = [PackFile(path, data) for path, data in (files or {}).items()]
    return pack_tar_gz([PackFile("SKILL.md", head.encode()), *more])


def fill(hub: Hub) -> dict[str, Release]:
    """Publish skills of every state, and give their releases by a short name."""
    for name, visibility in (("team", "private"), ("templates", "public"), ("secret", "private")):
        add_namespace(hub, LOCAL, name, "acme", visibility)
    ann, bob = member(hub, "ann", "publisher"), member(hub, "bob", "reviewer")
    made = {}

    def publish(key: str, name: str, data: bytes, space: str = "team", version: str = "") -> None:
        found = publish_archive(hub, ann, name, data, namespace=space, version=version)
        made[key] = found.release

    publish("first", "table-tidy", archive_of("table-tidy", PLAIN), version="1.0.0")
    publish(
        "second",
        "table-tidy",
        archive_of("table-tidy", LATER, {"scripts/tidy.py": SCRIPT}),
        version="1.1.0",
    )
    publish("caution", "cleaner", skill_archive("cleaner", CAUTION), version="0.1.0")
    update = archive_of("table-tidy", f"{LATER}\n{CAUTION}\n", {"scripts/tidy.py": SCRIPT})
    publish("update", "table-tidy", update, version="1.2.0")
    publish("rejected", "thief", skill_archive("thief", DANGEROUS))
    publish("public", "letter", skill_archive("letter", "Write a letter."), "templates")
    publish("hidden", "plans", skill_archive("plans", "Keep the plans."), "secret")
    publish("yanked", "old-style", skill_archive("old-style", "Do it."), version="0.1.0")
    publish("old", "old-style", skill_archive("old-style", "Do it again."), version="0.2.0")
    decide.yank(hub, bob, "team", "old-style", "0.1.0", reason="breaks tables")
    decide.deprecate(hub, bob, "team", "old-style", "use table-tidy instead")
    for _time in range(3):
        count_install(hub, bob, "team", "table-tidy", "1.1.0")
    change_namespace(hub, LOCAL, "templates", {"policy": {"caution": "reject"}})
    return made


def let_in(hub: Hub) -> dict[str, str]:
    """Make a token for each role, and give them by the names of their owners."""
    rows = (
        ("root", "admin", ""),
        ("rita", "reviewer", "team"),
        ("rolf", "reviewer", "team"),
        ("paul", "publisher", "team"),
        ("rhea", "reader", "team"),
        ("elsa", "reader", "templates"),
        ("nadia", "admin", "team"),
    )
    person = remember_person(hub, "https://id.example.org", "7", "Ines", ["crew"])
    set_grant(hub, LOCAL, kind="person", who=f"person:{person['id']}", role="reader")
    set_grant(hub, LOCAL, kind="group", who="crew", role="publisher", namespace="team")
    return {
        name: add_token(hub, LOCAL, name=name, role=role, namespace=space).token
        for name, role, space in rows
    }


class HubAnswer(NamedTuple):
    """What a page answered."""

    status: int
    text: str
    headers: dict[str, str]
    where: str
    """The path of the page in the end."""

    @property
    def words(self) -> str:
        """Give what a reader sees, with one space between words."""
        return " ".join(unescape(re.sub(r"<[^>]*>", " ", self.text)).split())


class HubTab:
    """A browser without a screen: it keeps its cookie, and sends forms as they stand on a page."""

    def __init__(
        self,
        hub: Hub,
        token: str = "",
        *,
        origin: str = ORIGIN,
        local: bool = True,
        address: str = "127.0.0.1",
        **headers: str,
    ) -> None:
        """Open the pages of a hub, and log in where there is a token."""
        self.origin = origin
        self.client = TestClient(
            make_app(hub, local=local),
            base_url=origin,
            raise_server_exceptions=False,
            headers={"accept": "text/html", **dashed(headers)},
            client=(address, 50_000),
        )
        if token:
            self.log_in(token)

    def log_in(self, token: str) -> HubAnswer:
        """Come in with a token."""
        return self.submit("/login", "/login", token=token)

    def get(self, path: str, **headers: str) -> HubAnswer:
        """Load a page."""
        return _answer(self.client.get(path, headers=dashed(headers)))

    def post(self, path: str, fields: dict[str, Any], **headers: str) -> HubAnswer:
        """Send fields as a form does."""
        sent = {
            "origin": self.origin,
            "content-type": "application/x-www-form-urlencoded",
            **dashed(headers),
        }
        body = urlencode(fields, doseq=True)
        return _answer(self.client.post(path, content=body, headers=sent))

    def form(self, page: str | HubAnswer, action: str) -> dict[str, Any]:
        """Give what a form of a page sends if nobody changes anything."""
        found = self.get(page) if isinstance(page, str) else page
        return dict(next(one for one in forms_of(found.text) if one.action == action).fields)

    def submit(self, page: str | HubAnswer, action: str, **fields: Any) -> HubAnswer:
        """Send the form of a page that goes to `action`."""
        return self.post(action, {**self.form(page, action), **fields})

    def force(self, path: str, **fields: Any) -> HubAnswer:
        """Send a form that no page of this visitor has, with a key that is good for them."""
        keys = re.findall(r'name="form_key" value="([^"]+)"', self.get("/login").text)
        return self.post(path, {"form_key": keys[0] if keys else "", **fields})


def dashed(headers: dict[str, str]) -> dict[str, str]:
    """Write the names of headers as they are sent."""
    return {name.replace("_", "-"): value for name, value in headers.items()}


def _answer(response: Any) -> HubAnswer:
    url = urlsplit(str(response.url))
    where = url.path + (f"?{url.query}" if url.query else "")
    return HubAnswer(response.status_code, response.text, dict(response.headers), where)
