"""A hub's own users as its attackers: archives that are traps, texts that forge lines or break queries,
bodies without end, and questions whose answers would tell what is none of theirs.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import logging
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from fakes.asked_hub import AskedHub, Said
from fakes.hub_skills import SAFE, publish_text, skill_archive
from starlette.testclient import TestClient

from metier.errors import StoreError
from metier.hub import api
from metier.hub.accounts import add_token
from metier.hub.app import make_app
from metier.hub.hub import Hub, HubOptions
from metier.hub.io.objects import blob_key
from metier.hub.model import LOCAL
from metier.hub.namespaces import add_namespace, list_namespaces
from metier.hub.request_log import OneLine
from metier.web.access import SECURITY_HEADERS

HEAD = f"---\nname: trap\ndescription: Formats tables.\n---\n\n{SAFE}\n".encode()


def tar_of(*entries: tarfile.TarInfo | tuple[str, bytes]) -> bytes:
    """Pack a skill and what else there is to it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", format=tarfile.PAX_FORMAT) as tar:
        for one in (("SKILL.md", HEAD), *entries):
            if isinstance(one, tarfile.TarInfo):
                tar.addfile(one)
                continue
            entry = tarfile.TarInfo(one[0])
            entry.size = len(one[1])
            tar.addfile(entry, io.BytesIO(one[1]))
    return out.getvalue()


def special(name: str, kind: bytes, to: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, to
    return entry


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("SKILL.md", HEAD)
        file.writestr("bomb", bytes(20 << 20))
    return out.getvalue()


TRAPS = {
    "a bomb": tar_of(("bomb", bytes(80 << 20))),
    "a bomb within a bomb": gzip.compress(gzip.compress(bytes(64 << 20))),
    "a zip": zipped(),
    "too many files": tar_of(*((f"f/{number}", b"") for number in range(10_001))),
    "a name of 100,000 letters": tar_of(("x" * 100_000, b"")),
    "a folder above": tar_of(("../outside", b"x")),
    "an absolute path": tar_of(("/etc/cron.d/x", b"x")),
    "a path with a backslash": tar_of(("..\\outside", b"x")),
    "a link": tar_of(special("link", tarfile.SYMTYPE, "/etc/passwd")),
    "a hard link": tar_of(special("link", tarfile.LNKTYPE, "SKILL.md")),
    "a device": tar_of(special("null", tarfile.CHRTYPE)),
    "a pipe": tar_of(special("pipe", tarfile.FIFOTYPE)),
    "two files of one name": tar_of(("skill.md", b"x")),
    "a file and a folder of one name": tar_of(("a", b"x"), ("a/b", b"x")),
    "a name with a line break": tar_of(("a\nb", b"x")),
    "half an archive": tar_of(("a", bytes(1000)))[:-20],
    "no archive": b"\x1f\x8b" + b"\0" * 50,
    "nothing": b"",
}


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Hub]:
    """Give a hub where it makes no difference which kind it is."""
    with Hub(HubOptions(f"{tmp_path}/hub"), env={"METIER_SCAN_MODEL": "off"}) as one:
        yield one


def push(asked: AskedHub, data: bytes, name: str = "trap") -> Said:
    sha256 = hashlib.sha256(data).hexdigest()
    asked.ask("PUT", f"/api/v1/blobs/{sha256}", data)
    return asked.ask("POST", f"/api/v1/skills/team/{name}/releases", {"archive": sha256})


@pytest.mark.parametrize("trap", TRAPS)
def test_an_archive_that_is_a_trap_is_refused_and_publishes_nothing(
    embedded: Hub, trap: str
) -> None:
    asked = AskedHub(embedded)

    said = push(asked, TRAPS[trap])

    listed = asked.ask("GET", "/api/v1/skills/team")
    assert said.status in {400, 403, 413, 422}, said
    assert b"trap" not in listed.body.replace(b"'trap'", b"") or listed.status == 404
    assert {"code", "message", "hint"} <= set(said.json)


def test_bytes_of_another_hash_are_not_kept(hub: Hub) -> None:
    said = AskedHub(hub).ask("PUT", f"/api/v1/blobs/{'0' * 64}", b"something else")

    assert (422, "digest") == (said.status, said.code)
    assert [] == list(hub.objects.keys("blobs"))


@pytest.mark.parametrize("name", ["..", "%2e%2e", "a" * 300, "Ünïcode", "a\r\nb", "a\0b", "-"])
def test_no_name_is_anything_but_a_name(embedded: Hub, name: str) -> None:
    asked = AskedHub(embedded)

    made = asked.ask("POST", "/api/v1/namespaces", {"name": name})
    pushed = push(asked, skill_archive("table-tidy"), name)
    token = asked.ask("POST", "/api/v1/tokens", {"name": f"{name}\n", "role": "reader"})

    assert made.status in {400, 422}
    assert pushed.status in {400, 404, 405, 422}
    assert 400 == token.status


HOSTILE_BODIES = {
    "deep": b"[" * 100_000,
    "deep objects": b'{"a":' * 50_000,
    "a number without end": b'{"size": ' + b"9" * 10_000 + b"}",
    "no text": b"\xff\xfe\x00",
    "a list": b"[]",
}


@pytest.mark.parametrize("body", HOSTILE_BODIES)
@pytest.mark.parametrize("path", ["/api/v1/tokens", "/api/v1/uploads", "/api/v1/namespaces"])
def test_no_json_breaks_a_request(embedded: Hub, path: str, body: str) -> None:
    assert 400 == AskedHub(embedded).ask("POST", path, HOSTILE_BODIES[body]).status


ODD_CHANGES = [
    {"visibility": ["public"]},
    {"state": {}},
    {"policy": {"signature": []}},
    {"policy": {"safe": {}}},
    {"policy": []},
    {"quota_bytes": []},
]


@pytest.mark.parametrize("change", ODD_CHANGES, ids=str)
def test_no_change_of_a_namespace_breaks_the_request(embedded: Hub, change: object) -> None:
    add_namespace(embedded, LOCAL, "team")

    assert 400 == AskedHub(embedded).ask("PATCH", "/api/v1/namespaces/team", change).status


@pytest.mark.parametrize("name", ["what", "about", "namespace", "connection", "now", "caller", "x"])
def test_what_nothing_is_called_changes_nothing_of_a_namespace(embedded: Hub, name: str) -> None:
    made = add_namespace(embedded, LOCAL, "team")

    answer = AskedHub(embedded).ask("PATCH", "/api/v1/namespaces/team", {name: "y"})

    assert (200, [made]) == (answer.status, list_namespaces(embedded, LOCAL))


def test_json_has_a_size(hub: Hub) -> None:
    body = json.dumps({"name": "x" * (2 << 20)}).encode()

    assert 413 == AskedHub(hub).ask("POST", "/api/v1/namespaces", body).status


def test_who_shows_no_token_has_little_of_theirs_read(hub: Hub) -> None:
    body = json.dumps({"name": "x" * (64 << 10)}).encode()

    answer = AskedHub(hub).ask("POST", "/api/v1/namespaces", body, x_forwarded_for="192.0.2.1")

    assert 413 == answer.status


@pytest.mark.parametrize(
    "text", ["nul \0 inside", "\ud800 alone", "\x1b[31m", "<script>", "a\r\nb: c"]
)
def test_any_text_is_kept_as_it_is_or_refused_and_breaks_nothing(hub: Hub, text: str) -> None:
    publish_text(hub, LOCAL, "table-tidy", version="1.0.0")
    asked = AskedHub(hub)

    said = asked.ask("POST", "/api/v1/skills/team/table-tidy/1.0.0/yank", {"reason": text})
    found = asked.ask("GET", f"/api/v1/skills/{'te%00am'}/table-tidy")
    gone = asked.ask("DELETE", "/api/v1/tokens/99999999999999999999999999")
    events = asked.ask("GET", "/api/v1/audit").json["events"]

    assert said.status in {200, 400}
    assert text == said.json["reason"] if said.status == 200 else said.json["hint"]
    assert found.status in {400, 404}
    assert gone.status in {400, 404}
    assert [] != events


QUERIES = [
    '"', "'", "a OR", "AND AND", "NEAR(a b)", "x* -y", "{name} : x", "col:val", "a & | !b", "<->",
    "')--", "%", "\\", "ns:1", "'ns:2'", "a\0b", "\ud800", "٣", "🧨" * 50, "a " * 5_000, "x" * 1_000_000,
    "().__class__", "$1", "?", "{0}", "%s",
]  # fmt: skip


def test_no_query_breaks_a_search_or_leaves_its_permissions(hub: Hub) -> None:
    publish_text(hub, LOCAL, "table-tidy")
    asked = AskedHub(hub, add_token(hub, LOCAL, name="x", role="reader", namespace="other").token)

    said = [
        asked.ask("GET", f"/api/v1/search?{name}={quote(query.encode('utf-8', 'surrogatepass'))}")
        for query in QUERIES
        for name in ("q", "namespace", "level", "limit")
    ]

    assert {200, 400} == {one.status for one in said}
    assert b"table-tidy" not in b"".join(one.body for one in said)


def test_what_is_asked_is_one_line_of_the_log_whatever_is_in_it(
    hub: Hub, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO, "metier.hub")
    asked = AskedHub(hub)
    forged = 'x\r\n{"level": "info", "event": "request", "who": "token:1"}\x1b[2K\u2028'

    asked.ask(
        "POST", f"/api/v1/skills/{forged}/a/1.0.0/yank", {"reason": forged}, user_agent=forged
    )
    asked.ask("GET", f"/api/v1/skills/{forged}?token=secret", user_agent=forged * 50)
    monkeypatch.setattr(api, "search", lambda *_more: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        asked.ask("GET", "/api/v1/search?q=x")

    lines = [OneLine().format(record) for record in caplog.records if record.name == "metier.hub"]
    assert len(lines) >= 3
    assert all(line.isascii() and line.isprintable() for line in lines)
    assert "ZeroDivisionError" in "".join(lines)
    assert "secret" not in "".join(lines)
    assert {"request"} <= {json.loads(line)["event"] for line in lines}


def test_what_nobody_expected_is_answered_under_the_same_strict_rules(
    embedded: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "search", lambda *_more: 1 / 0)

    with TestClient(
        make_app(embedded), "http://127.0.0.1:1", raise_server_exceptions=False
    ) as client:
        answer = client.get("/api/v1/search?q=x")

    assert 500 == answer.status_code
    assert "division" not in answer.text
    assert answer.headers.items() >= SECURITY_HEADERS.items()


def test_where_a_part_of_the_hub_fails_nobody_learns_where_it_lies(
    embedded: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = publish_text(embedded, LOCAL, "table-tidy").archive
    asked = AskedHub(embedded)
    place = "/api/v1/skills/team/table-tidy/0.1.0/archive"
    embedded.objects.delete(blob_key(archive))
    lost = asked.ask("GET", place)

    def fail() -> None:
        raise StoreError("no answer from hub@10.0.0.5:5432/secret", code="hub-database", hint="")

    monkeypatch.setattr(embedded.database, "read", fail)
    away = [
        asked.ask("GET", path) for path in (place, "/readyz", "/", "/v2/team/table-tidy/tags/list")
    ]

    away += [asked.ask("GET", path, accept="text/html") for path in ("/", "/gone")]

    assert (503, "hub-object") == (lost.status, lost.code)
    assert archive.encode() not in lost.body
    assert [503] * len(away) == [one.status for one in away]
    assert not any(b"10.0.0.5" in one.body for one in away)


def test_nobody_learns_what_others_have(hub: Hub) -> None:
    publish_text(hub, LOCAL, "table-tidy")
    mine = add_token(hub, LOCAL, name="x", role="admin", namespace="mine").token
    asked = AskedHub(hub, mine)
    data = skill_archive("table-tidy", SAFE)
    sha256 = hashlib.sha256(data).hexdigest()

    def told(method: str, path: str, body: object = None) -> tuple[int, bytes]:
        said = asked.ask(method, path, body)
        return said.status, said.body.replace(b"absent", b"team")

    pairs = [
        (told("GET", f"/api/v1/{path}"), told("GET", f"/api/v1/{path.replace('team', 'absent')}"))
        for path in (
            "namespaces/team",
            "skills/team",
            "skills/team/table-tidy",
            "skills/team/table-tidy/0.1.0/archive",
            "skills/team/table-tidy/diff",
            "log/team",
            "usage/team",
        )
    ]
    pairs += [
        (
            told(method, path, {**body, "namespace": "team"}),
            told(method, path, {**body, "namespace": "absent"}),
        )
        for method, path, body in (
            ("POST", "/api/v1/tokens", {"name": "a", "role": "reader"}),
            ("POST", "/api/v1/grants", {"kind": "person", "who": "a", "role": "reader"}),
            ("POST", "/api/v1/installs", {"name": "table-tidy", "version": "0.1.0"}),
        )
    ]

    assert [one for one, _other in pairs] == [other for _one, other in pairs]
    assert {404} == {one[0] for one, _other in pairs}
    assert 404 == asked.ask("HEAD", f"/api/v1/blobs/{sha256}").status
    assert 201 == asked.ask("PUT", f"/api/v1/blobs/{sha256}", data).status
