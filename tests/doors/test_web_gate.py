"""The page lets in one browser, from this machine, and takes changes from its own forms alone."""

from __future__ import annotations

import http.client
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fakes.web_page import HTML, WebPage, web_env

import metier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _pytest.tmpdir import TempPathFactory

pytestmark = pytest.mark.loopback
SKILL = """---
name: {name}
description: Does one thing. Use it for that thing.
---
# Steps

Do {name}.
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: TempPathFactory) -> Iterator[WebPage]:
    """Give a page with two skills."""
    home = tmp_path_factory.mktemp("gate")
    for name in ("apple", "pear"):
        folder = home / ".claude" / "skills" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(SKILL.format(name=name))
    page = WebPage(web_env(home), home)
    page.enter()
    yield page
    page.close()


def test_the_token_becomes_a_cookie_and_leaves_the_address(served: WebPage) -> None:
    answer = served.ask(served.url.removeprefix(served.origin), cookie="")

    assert 303 == answer.status
    assert "/" == answer.headers["location"]
    (cookie,) = answer.cookies
    assert {"httponly", "samesite=strict", "path=/"} <= {
        part.strip().lower() for part in cookie.split(";")
    }
    assert served.url.partition("token=")[2] not in cookie


@pytest.mark.parametrize("path", ["/", "/skills", "/events", "/audit", "/graph.json", "/nowhere"])
def test_nobody_without_the_cookie_gets_anything(served: WebPage, path: str) -> None:
    answer = served.ask(path, cookie="other=1")

    assert 401 == answer.status
    assert "apple" not in answer.text


@pytest.mark.parametrize("token", ["", "x", "é", "a" * 5000])
def test_a_forged_token_opens_nothing(served: WebPage, token: str) -> None:
    from urllib.parse import quote

    answer = served.ask(f"/?token={quote(token)}", cookie="")

    assert 401 == answer.status
    assert [] == answer.cookies


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil:80", ""]
)
def test_the_page_answers_to_no_other_name(served: WebPage, host: str) -> None:
    answer = served.ask("/", headers={**HTML, "host": host})

    assert 421 == answer.status
    assert "apple" not in answer.text


def test_the_page_answers_to_the_names_of_this_machine(served: WebPage) -> None:
    answer = served.ask("/", headers={**HTML, "host": f"localhost:{served.port}"})

    assert 200 == answer.status


def test_every_answer_has_strict_rules(served: WebPage) -> None:
    for path in ("/", "/skills", "/static/metier.js", "/nowhere", "/leave?to=https://example.org"):
        headers = served.ask(path).headers
        policy = headers["content-security-policy"]

        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "nosniff" == headers["x-content-type-options"]
        assert "DENY" == headers["x-frame-options"]
        assert "same-origin" == headers["referrer-policy"]


def test_no_page_loads_anything_from_another_host(served: WebPage) -> None:
    for path in ("/", "/skills", "/skills?q=apple"):
        text = served.ask(path).text

        assert "http://" not in text.replace(served.origin, "")
        assert "https://" not in text


# --- changes


def test_a_change_from_another_origin_is_refused(served: WebPage) -> None:
    for origin in ("http://evil.example", "null", "https://" + served.host, "http://127.0.0.1:1"):
        answer = served.post("/jobs/none/stop", {"origin": origin}, form_key="x")

        assert 403 == answer.status, origin
        assert "another page" in answer.text


def test_a_change_without_an_origin_is_refused(served: WebPage) -> None:
    answer = served.ask(
        "/jobs/none/stop",
        "POST",
        "form_key=x",
        {**HTML, "content-type": "application/x-www-form-urlencoded"},
    )

    assert 403 == answer.status


@pytest.mark.parametrize("key", ["", "x", "x.y", "é.é", "." * 100])
def test_a_form_that_is_not_from_this_page_is_refused(served: WebPage, key: str) -> None:
    assert 403 == served.post("/jobs/none/stop", form_key=key).status


def test_what_is_no_form_is_refused(served: WebPage) -> None:
    answer = served.post("/jobs/none/stop", {"content-type": "application/json"}, form_key="x")

    assert 400 == answer.status


@pytest.mark.parametrize(
    "sent", [b"\0\1\2\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"]
)
def test_what_is_no_request_is_answered_under_strict_rules_too(
    served: WebPage, sent: bytes
) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as line:
        line.sendall(sent)
        answer = line.recv(4096)

    assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert b"content-security-policy: default-src 'none'" in answer


@pytest.mark.parametrize("size", [3 << 20, 20 << 20])
def test_who_sends_too_much_is_told_so(served: WebPage, size: int) -> None:
    answer = served.post("/jobs/none/stop", form_key="x", much="x" * size)

    assert 413 == answer.status
    assert "more than 2 MiB" in answer.text


def test_a_get_changes_nothing_and_is_told_which_method_would(served: WebPage) -> None:
    answer = served.ask("/jobs/none/stop")

    assert (405, "POST") == (answer.status, answer.headers["allow"])
    assert 1 == answer.text.count("<main")
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_a_look_at_the_heads_alone_does_not_wait_for_news(served: WebPage) -> None:
    answer = served.ask("/events", "HEAD")

    assert 200 == answer.status
    assert answer.headers["content-type"].startswith("text/event-stream")


def test_a_program_gets_a_problem_as_json(served: WebPage) -> None:
    answer = served.ask("/nowhere", headers={"accept": "application/json"})

    assert 404 == answer.status
    assert "application/problem+json" == answer.headers["content-type"]
    assert '"hint"' in answer.text


def test_a_client_that_sends_slowly_keeps_nobody_waiting(served: WebPage) -> None:
    slow = [socket.create_connection(("127.0.0.1", served.port)) for _one in range(40)]
    try:
        for one in slow:
            one.sendall(b"POST /jobs/none/stop HTTP/1.1\r\nHost: ")
        assert 200 == served.ask("/").status
    finally:
        for one in slow:
            one.close()


def test_fifty_tabs_listen_and_the_page_still_answers(served: WebPage) -> None:
    request = (
        f"GET /events HTTP/1.1\r\nHost: {served.host}\r\nCookie: {served.cookie}\r\n\r\n".encode()
    )
    tabs = [socket.create_connection(("127.0.0.1", served.port)) for _one in range(50)]
    try:
        for one in tabs:
            one.sendall(request)
        for one in tabs:
            one.settimeout(30)
            assert b"200" in one.recv(200)
        assert 200 == served.ask("/skills").status
    finally:
        for one in tabs:
            one.close()


# --- the list


def test_a_skill_is_found_as_find_finds_it(served: WebPage) -> None:
    text = served.ask("/skills?q=appl").text

    assert ">apple</a>" in text
    assert "ranked by" in text


def test_facets_narrow_the_list_and_an_odd_address_does_no_harm(served: WebPage) -> None:
    assert "2 of 2 skills" in served.ask("/skills?state=visible").text
    assert "0 of 2 skills" in served.ask("/skills?state=blocked").text
    assert 200 == served.ask("/skills?at=-1&sort=nothing&state=%00&q=%F0%9F%98%80").status


# --- beginning and ending


def test_ctrl_c_ends_it_at_once_and_says_nothing(tmp_path_factory: TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("end")
    page = WebPage(web_env(home), home)
    page.enter()

    code, said = page.close()

    assert (0, "") == (code, said.strip())


def test_what_strangers_send_wrong_is_not_printed(tmp_path_factory: TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("left")
    page = WebPage(web_env(home), home)
    page.enter()
    head = (
        f"POST /get/plan HTTP/1.1\r\nHost: {page.host}\r\nCookie: {page.cookie}\r\n"
        f"Origin: {page.origin}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        "Content-Length: 1000\r\n\r\nform_key="
    )
    with socket.create_connection(("127.0.0.1", page.port)) as one:
        one.sendall(head.encode())
    with socket.create_connection(("127.0.0.1", page.port)) as one:
        one.sendall(b"no request at all\r\n\r\n")
        one.recv(100)
    page.ask("/")

    assert (0, "") == page.close()


def test_an_empty_machine_is_told_how_to_begin(tmp_path_factory: TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("empty")
    page = WebPage(web_env(home), home)
    try:
        page.enter()
        text = page.ask("/").text
        listed = page.ask("/skills").text
    finally:
        page.close()

    assert "There is no skill here yet" in listed
    assert "Use fewer words" not in listed
    assert "No skill was found yet" in text
    assert "metier tour" in text


def test_beyond_this_machine_it_says_what_that_means(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "metier", "web", "--listen", "0.0.0.0:0", "--no-open"]
    source = str(Path(metier.__file__).parent.parent)
    process = subprocess.Popen(
        command,
        env={**web_env(tmp_path), "PYTHONPATH": source},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    address = process.stdout.readline()
    host = address.removeprefix("metier web: http://").partition("/")[0]
    line = http.client.HTTPConnection("127.0.0.1", int(host.rpartition(":")[2]), timeout=60)
    line.request("GET", address.strip().partition(host)[2], headers={"host": host})
    status = line.getresponse().status
    line.close()
    process.send_signal(signal.SIGINT)
    _out, err = process.communicate(timeout=60)

    assert address.startswith("metier web: http://0.0.0.0:")
    assert 303 == status
    assert "anybody who reaches 0.0.0.0 and learns the address can change your skills" in err
    assert "nothing on the way is encrypted" in err
