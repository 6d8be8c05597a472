"""Requests that no browser of this page sends: from other pages, with forged and used forms, in odd spellings, too large, too slow, too many. And what no answer may hold."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fakes.web_page import HTML, PATIENCE, PageAnswer, WebPage, web_env

import metier

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from _pytest.tmpdir import TempPathFactory

pytestmark = pytest.mark.loopback

SOURCE = str(Path(metier.__file__).parent.parent)
FORM = "application/x-www-form-urlencoded"
VALUE = "planted-in-the-vault-7d20aa"
IN_ENV = "planted-in-the-environment-51fe3b"
PASSWORD = "planted-in-an-address-09c1"
SKILL = """---
name: {name}
description: Does one thing. Use it for that thing.
required_environment_variables: [VAULT_KEY]
---
# Steps

Do {name} with $VAULT_KEY and ${{OPENAI_API_KEY}}.
"""
PAGES = ("/", "/skills", "/agents", "/agents/claude-code", "/review", "/get", "/plugins", "/graph", "/graph.json", "/audit", "/doctor", "/leave?to=https://x.example")  # fmt: skip


@pytest.fixture(scope="module")
def served(tmp_path_factory: TempPathFactory) -> Iterator[WebPage]:
    """Give a page with two skills, a secret in the vault and one in the environment."""
    home = tmp_path_factory.mktemp("requests")
    for name in ("apple", "teller"):
        folder = home / ".claude" / "skills" / name
        (folder / "scripts").mkdir(parents=True)
        (folder / "SKILL.md").write_text(SKILL.format(name=name))
        (folder / "scripts" / "tell.sh").write_text(
            'env\necho "<b>$VAULT_KEY</b>" >&2\nfor n in 1 2 3; do printf %s "$VAULT_KEY"; sleep 0.1; done\n'
        )
    env = {**web_env(home), "OPENAI_API_KEY": IN_ENV, "PYTHONPATH": SOURCE}
    subprocess.run(
        [sys.executable, "-m", "metier", "secrets", "set", "VAULT_KEY", "--store", "file"],
        env=env, cwd=home, input=VALUE, text=True, check=True, capture_output=True, timeout=PATIENCE,
    )  # fmt: skip
    page = WebPage(env, home)
    page.enter()
    yield page
    assert 0 == page.close()[0]


def skill_of(served: WebPage, name: str = "apple") -> str:
    found = re.search(rf'href="(/skills/{name}~[^"]+)"', served.ask("/skills").text)
    assert found
    return found[1]


def form_of(served: WebPage, path: str, action: str) -> dict[str, str]:
    """Give the hidden fields of a form."""
    text = served.ask(path).text
    form = re.search(
        rf'<form method="post" action="{re.escape(action)}".*?</form>', text, re.DOTALL
    )
    assert form, text
    return dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form[0]))


def raw(served: WebPage, sent: bytes, *, until_closed: bool = True) -> bytes:
    """Send bytes, and give what comes back."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as line:
        line.sendall(sent)
        got = b""
        while until_closed or b"\r\n\r\n" not in got:
            try:
                part = line.recv(65536)
            except ConnectionResetError:
                break
            if not part:
                break
            got += part
        return got


def head(served: WebPage, line: str, *more: str) -> bytes:
    """Write the head of a request by a browser that was let in."""
    lines = (line, f"Host: {served.host}", f"Cookie: {served.cookie}", "Accept: text/html", "Connection: close", *more)  # fmt: skip
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def block(served: WebPage, fields: Mapping[str, str], **headers: str) -> PageAnswer:
    """Ask for a skill to be blocked."""
    return served.post(
        f"{skill_of(served)}/trust",
        {name.replace("_", "-"): value for name, value in headers.items()},
        **{**fields, "action": "block", "reason": "no"},
    )


def enter_again(served: WebPage) -> None:
    """Let another browser in, and be that one."""
    served.cookie = ""
    served.enter()


def is_blocked(served: WebPage) -> bool:
    return "apple" in served.ask("/skills?state=blocked").text


# --- changes


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1"},
        {"origin": "http://127.0.0.1:1"},
        {"origin": "http://localhost.evil.example"},
        {"origin": ""},
        {"origin": "HTTPS://127.0.0.1"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"content_type": "text/plain"},
        {"content_type": "multipart/form-data; boundary=x"},
        {"content_type": "application/json"},
        {"host": "evil.example"},
    ],
)
def test_another_page_changes_nothing_even_with_a_right_form(
    served: WebPage, headers: dict[str, str]
) -> None:
    fields = form_of(served, skill_of(served), f"{skill_of(served)}/trust")

    answer = block(served, fields, **headers)

    assert answer.status in {400, 401, 403, 421}
    assert not is_blocked(served)


def test_a_form_counts_once_and_only_for_its_browser(served: WebPage) -> None:
    skill = skill_of(served, "teller")
    fields = form_of(served, skill, f"{skill}/trust")
    mine = served.cookie
    enter_again(served)
    other = served.post(f"{skill}/trust", None, **fields, action="block", reason="no")
    theirs = served.cookie
    served.cookie = mine
    first = served.post(f"{skill}/trust", None, **fields, action="quarantine", reason="wait")
    again = served.post(f"{skill}/trust", None, **fields, action="quarantine", reason="wait")
    late = served.post(f"{skill}/trust", None, **{**fields, "form_key": served.form_key(skill)}, action="block")  # fmt: skip
    approve = form_of(served, skill, f"{skill}/trust")
    served.post(f"{skill}/trust", None, **approve, action="approve", reason="looked at")

    assert theirs != mine
    assert (403, 303, 409, 409) == (other.status, first.status, again.status, late.status)
    assert "not as your page showed it" in late.text


@pytest.mark.parametrize("change", [str.upper, lambda key: key + " ", lambda key: key[:-1], lambda key: "." + key, lambda key: key.replace(".", ".."), lambda key: key + "\0", lambda key: key[1:]])  # fmt: skip
def test_a_bent_form_key_is_no_form_key(served: WebPage, change: object) -> None:
    fields = form_of(served, skill_of(served), f"{skill_of(served)}/trust")

    answer = block(served, {**fields, "form_key": change(fields["form_key"])})  # type: ignore[operator]

    assert 403 == answer.status
    assert not is_blocked(served)


def test_the_forms_of_a_browser_that_was_forgotten_count_no_more(served: WebPage) -> None:
    path, mine = f"{skill_of(served)}/trust", served.cookie
    fields = form_of(served, skill_of(served), path)
    for _one in range(70):
        enter_again(served)
    newest, served.cookie = served.cookie, mine
    answer = served.post(path, None, **fields, action="block", reason="no")
    served.cookie = newest

    assert 401 == answer.status
    assert 403 == served.post(path, None, **fields, action="block", reason="no").status
    assert not is_blocked(served)


def test_many_at_once_with_one_form_change_once(served: WebPage) -> None:
    fields = form_of(served, "/get", "/get/outdated")
    found: list[int] = []

    def send() -> None:
        found.append(served.post("/get/outdated", None, **fields).status)

    threads = [threading.Thread(target=send) for _one in range(12)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

    assert [303] + [409] * 11 == sorted(found)


# --- methods, paths and heads


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "Post"])  # fmt: skip
def test_no_other_method_does_anything(served: WebPage, method: str) -> None:
    for path in ("/", "/skills", f"{skill_of(served)}/trust"):
        answer = raw(served, head(served, f"{method} {path} HTTP/1.1"))

        assert re.match(rb"HTTP/1.1 4\d\d", answer), answer
        assert served.cookie.encode() not in answer  # as TRACE would
    tricked = raw(served, head(served, f"GET {skill_of(served)}/trust HTTP/1.1", "X-HTTP-Method-Override: POST"))  # fmt: skip
    assert tricked.startswith(b"HTTP/1.1 405")
    assert not is_blocked(served)


def test_head_is_get_without_its_body(served: WebPage) -> None:
    for path in PAGES:
        got = raw(served, head(served, f"HEAD {path} HTTP/1.1"))

        assert got.startswith(b"HTTP/1.1 200")
        assert got.endswith(b"\r\n\r\n")
    assert 401 == served.ask(f"/?token={served.url.partition('token=')[2]}", "HEAD", cookie="x=1").status  # fmt: skip


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example/",
        "//evil.example/skills",
        "/\\evil.example",
        "/%5Cevil.example",
        "/%2F%2Fevil.example",
        "/static/../access.py",
        "/static/..%2faccess.py",
        "/static/%2e%2e/access.py",
        "/static/..%5caccess.py",
        "/static//etc/passwd",
        "/static/%00",
        "/static/metier.js%00.css",
        "/%00",
        "/skills/%00",
        "/skills/..%2f..%2fetc%2fpasswd",
        "/skills/x~/files/..%2f..%2fetc",
        "/agents/%00%0a",
        "/agents/..",
        "/review/%00",
        "/review/..%2f..%2fx",
        "/review/draft:%ff%fe",
        "/review/plugin-update:../../x",
        "/jobs/..%2fx",
        "/jobs/__proto__/stream",
        "/skills%0d%0aSet-Cookie:x=1",
        "/%0d%0aLocation:%20http://evil.example/",
        "/" + "a" * 30_000,
        "/" + "../" * 5_000,
        "/skills?q=" + "%00" * 500,
        "/skills?" + "state=a&" * 5_000,
        "/skills?at=" + "9" * 5_000,
        "/skills?at=%D9%A3",
        "/skills?at=%C2%B2",
        "/get?at=%C2%B2",
        "/audit?at=%C2%B2&reach=%C2%B2",
        "/graph?groups=-1&pairs=1e9",
        "/agents/claude-code?budget=%C2%B2",
        "/leave?to=" + "x" * 20_000,
        "/;/skills",
        "/skills/",
        "/?%ff=%ff&%00",
    ],
)
def test_an_odd_path_does_no_harm(served: WebPage, path: str) -> None:
    answer = served.ask(path)

    assert answer.status in {200, 307, 400, 403, 404, 414}, answer.text[-2000:]
    assert "set-cookie" not in answer.headers
    assert not re.search(r'(href|src|action)="//', answer.text)
    assert "evil.example" not in answer.headers.get("location", "")
    assert not re.findall(r"root:x|compare_digest", answer.text)


def test_odd_paths_of_files_stay_in_the_skill(served: WebPage) -> None:
    skill = skill_of(served)
    for path in ("..", "../teller/SKILL.md", "..%2fteller%2fSKILL.md", "%2e%2e/teller/SKILL.md", "..%5cteller%5cSKILL.md", "/etc/passwd", "%2fetc%2fpasswd", "%00", "SKILL.md%00.png", "scripts", "scripts/", "./SKILL.md/..", "%ff%fe", "a" * 5_000, "%0a", "."):  # fmt: skip
        for kind in ("files", "raw"):
            answer = served.ask(f"{skill}/{kind}/{path}")

            assert answer.status in {307, 403, 404}, (path, answer.status)
            assert "root:x" not in answer.text
            assert "Do teller" not in answer.text


def test_the_token_leads_to_this_page_and_to_no_other(served: WebPage) -> None:
    token = served.url.partition("token=")[2]
    for path in ("//evil.example", "/\\evil.example", "/%2Fevil.example", "///evil.example/x", "/%5C%5Cevil.example"):  # fmt: skip
        where = served.ask(f"{path}?token={token}", cookie="").headers["location"]

        assert re.match(r"/[^/\\]", where), where


@pytest.mark.parametrize(
    ("line", "more"),
    [
        ("GET / HTTP/1.1", ("Host: evil.example",)),
        ("GET http://evil.example/ HTTP/1.1", ()),
        ("GET //evil.example/ HTTP/1.1", ()),
        ("GET * HTTP/1.1", ()),
        ("GET skills HTTP/1.1", ()),
        ("GET /\x00 HTTP/1.1", ()),
        ("GET / HTTP/1.1", ("Content-Length: -1",)),
        ("GET / HTTP/1.1", ("Content-Length: 1", "Content-Length: 2")),
        ("POST / HTTP/1.1", ("Transfer-Encoding: chunked", "Content-Length: 5")),
        ("POST / HTTP/1.1", ("Transfer-Encoding: gzip, chunked, x",)),
        ("GET / HTTP/1.1", ("X: " + "x" * 200_000,)),
        ("GET / HTTP/1.1", tuple(f"X-{n}: y" for n in range(20_000))),
        ("GET /events HTTP/1.1", ("Upgrade: websocket", "Sec-WebSocket-Key: x", "Sec-WebSocket-Version: 13", "Sec-Fetch-Site: x", "Host: x")),
    ],
)  # fmt: skip
def test_a_bent_head_gets_no_page(served: WebPage, line: str, more: tuple[str, ...]) -> None:
    answer = raw(served, head(served, line, *more))

    assert not answer.startswith(b"HTTP/1.1 2"), answer[:500]
    assert b"At a glance" not in answer
    assert 200 == served.ask("/").status


def test_what_a_proxy_would_say_is_not_believed(served: WebPage) -> None:
    said = {"x-forwarded-host": "evil.example", "x-forwarded-proto": "javascript", "x-forwarded-for": "9.9.9.9", "forwarded": "host=evil.example", "x-original-url": "/audit", "x-rewrite-url": "/audit"}  # fmt: skip

    answer = served.ask("/", headers={**HTML, **said})
    refused = served.ask("/", headers={**HTML, **said, "host": "evil.example"})

    assert (200, 421) == (answer.status, refused.status)
    assert "evil.example" not in answer.text
    assert "At a glance" in answer.text


def test_an_upgrade_to_a_socket_is_not_made(served: WebPage) -> None:
    sent = head(served, "GET /skills HTTP/1.1", "Upgrade: websocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13")  # fmt: skip

    answer = raw(served, sent.replace(b"Connection: close", b"Connection: Upgrade"), until_closed=False)  # fmt: skip

    assert not answer.startswith(b"HTTP/1.1 101")


def test_cookies_that_others_set_neither_let_in_nor_lock_out(served: WebPage) -> None:
    name, _is, value = served.cookie.partition("=")
    for before, after in (("x", ""), ("", "x"), ("x", "y"), ("é", '"'), ("x" * 3_000, "")):
        sent = "; ".join(filter(None, (before and f"{name}={before}", f"{name}={value}", after and f"{name}={after}")))  # fmt: skip
        assert 200 == served.ask("/", cookie=sent.encode().decode("latin-1")).status

    for sent in (f"{name}=", f"{name}", f"{name}=x; {name}=y", f"{name.upper()}={value}", f"a={name}={value}", f"{name} ={value}x", f"{name}={value[:-1]}"):  # fmt: skip
        assert 401 == served.ask("/", cookie=sent).status, sent


# --- too large, too slow, too many


def test_large_and_senseless_bodies_are_refused(served: WebPage) -> None:
    path = f"{skill_of(served)}/trust"
    common = (f"Origin: {served.origin}", f"Content-Type: {FORM}")
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    chunked = head(served, f"POST {path} HTTP/1.1", *common, "Transfer-Encoding: chunked")
    declared = head(served, f"POST {path} HTTP/1.1", *common, "Content-Length: 99999999999")

    large = _push(served, chunked, chunk, 600)
    claimed = _push(served, declared, b"a" * 0x10000, 100)
    nonsense = raw(served, chunked + b"zz\r\nnot a chunk\r\n\r\n")
    fields = raw(served, head(served, f"POST {path} HTTP/1.1", *common, "Content-Length: 60000") + b"a=&" * 20_000)  # fmt: skip

    assert b" 413 " in large[:20]
    assert b" 413 " in claimed[:20]
    assert not nonsense.startswith(b"HTTP/1.1 2")
    assert re.match(rb"HTTP/1.1 (400|403)", fields)
    assert 200 == served.ask("/").status


def _push(served: WebPage, start: bytes, piece: bytes, most: int) -> bytes:
    """Send a piece again and again until somebody answers."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as line:
        line.sendall(start)
        for _one in range(most):
            try:
                line.sendall(piece)
            except OSError:
                break
        try:
            return line.recv(65536)
        except ConnectionResetError:
            return b"HTTP/1.1 413 reset before it was read"


def test_a_body_that_never_ends_keeps_nobody_else_waiting(served: WebPage) -> None:
    common = (f"Origin: {served.origin}", f"Content-Type: {FORM}", "Content-Length: 1000")
    sent = head(served, f"POST {skill_of(served)}/trust HTTP/1.1", *common) + b"form_key="
    lines = [socket.create_connection(("127.0.0.1", served.port)) for _one in range(30)]
    try:
        for line in lines:
            line.sendall(sent)
        began = time.monotonic()
        assert 200 == served.ask("/skills").status
        assert time.monotonic() - began < PATIENCE
        lines[0].settimeout(PATIENCE)
        assert b" 408 " in lines[0].recv(1000)[:20]
    finally:
        for line in lines:
            line.close()


def test_fifty_tabs_hear_of_a_change_and_too_many_are_refused(served: WebPage) -> None:
    sent = head(served, "GET /events HTTP/1.1").replace(b"Connection: close\r\n", b"")
    tabs = [socket.create_connection(("127.0.0.1", served.port), PATIENCE) for _one in range(50)]
    more: list[socket.socket] = []
    try:
        for one in tabs:
            one.sendall(sent)
        for one in tabs:
            _hear(one, b"event: state")
        skill = skill_of(served)
        for verb in ("quarantine", "approve"):
            fields = form_of(served, skill, f"{skill}/trust")
            done = served.post(
                f"{skill}/trust", None, **fields, action=verb, reason="for all to hear"
            )
            assert 303 == done.status, done.text
        for one in tabs:
            _hear(one, b"event: skills")
        answers = set()
        for _one in range(220):
            more.append(socket.create_connection(("127.0.0.1", served.port), PATIENCE))
            more[-1].sendall(sent)
            answers.add(_hear(more[-1], b"event: state", b"listen already")[:12])
        assert {b"HTTP/1.1 200", b"HTTP/1.1 503"} == answers
        assert 200 == served.ask("/skills").status
    finally:
        for one in (*tabs, *more):
            one.close()


def _hear(tab: socket.socket, *words: bytes) -> bytes:
    """Read on until one of some words comes."""
    got = b""
    while not any(word in got for word in words):
        part = tab.recv(4096)
        assert part, got
        got += part
    return got


# --- what no answer may hold


def test_no_private_page_is_kept_by_anybody(served: WebPage) -> None:
    skill = skill_of(served)
    for path in (*PAGES, skill, f"{skill}/files/SKILL.md", f"{skill}/raw/SKILL.md", f"{skill}/run", "/nowhere", "/skills?token="):  # fmt: skip
        headers = served.ask(path).headers

        assert "no-store" == headers["cache-control"], path
        assert "same-origin" == headers["cross-origin-resource-policy"]
        assert "same-origin" == headers["cross-origin-opener-policy"]
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers


@pytest.mark.bubblewrap
def test_no_page_and_no_output_shows_a_secret_or_the_token(served: WebPage) -> None:
    skill = skill_of(served, "teller")
    run = f"{skill}/run?script=scripts/tell.sh"
    approve = form_of(served, skill, f"{skill}/trust")
    served.post(f"{skill}/trust", None, **approve, action="approve", reason="looked at")
    fields = form_of(served, run, f"{skill}/run")
    job = served.post(f"{skill}/run", None, **fields).headers["location"]
    output = served.ask(f"{job}/stream").text
    served.wait_for(job, "ended with code")
    other = served.post("/get/plan", form_key=served.form_key("/get"), source=f"https://u:{PASSWORD}@127.0.0.1:1/a/b.git", whose="user").headers["location"]  # fmt: skip
    served.wait_for(other, "Not done")
    pages = (*PAGES, skill, f"{skill}?all=1", run, job, other, "/audit", "/doctor", f"{skill}/files/SKILL.md", f"/?token={VALUE[:3]}")  # fmt: skip
    texts = {path: served.ask(path).text for path in pages} | {"output": output}

    assert "VAULT_KEY=" in output
    secrets = {"vault": VALUE, "environment": IN_ENV, "token": served.url.partition("token=")[2], "session": served.cookie.partition("=")[2], "password": PASSWORD}  # fmt: skip
    shown = [(path, name) for path, text in texts.items() for name, one in secrets.items() if one in text]  # fmt: skip
    assert [] == shown
