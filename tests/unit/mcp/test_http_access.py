"""Who may speak to the server over HTTP: every rule in a table, with nothing but the head of a request."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import given, strategies as st

from metier.errors import UsageError
from metier.mcp import http, http_access
from metier.mcp.http_access import Gate, RequestHead

TOKEN = "a-token-of-thirty-two-characters"
ALL, ALL_6 = "0.0.0.0", "::"  # noqa: S104 - nothing is bound here
GATE = http_access.gate_of("127.0.0.1", 7331, TOKEN)
RIGHT = {
    "host": "127.0.0.1:7331",
    "authorization": f"Bearer {TOKEN}",
    "content-type": "application/json",
}


def asked(
    method: str = "POST",
    path: str = "/mcp",
    more: tuple[tuple[str, str], ...] = (),
    **changed: str | None,
) -> RequestHead:
    headers = {**RIGHT, **{name.replace("_", "-"): value for name, value in changed.items()}}
    return RequestHead(
        method,
        path,
        (*((name, value) for name, value in headers.items() if value is not None), *more),
    )


def status(request: RequestHead, gate: Gate = GATE) -> int:
    found = http_access.request_refusal(request, gate)
    return found.status if found else 200


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:7331",
        "localhost:7331",
        "LOCALHOST:7331",
        "localhost.:7331",
        "[::1]:7331",
        "[0:0:0:0:0:0:0:1]:7331",
    ],
)
def test_a_server_of_this_machine_may_be_called_by_every_name_of_it(host: str) -> None:
    assert 200 == status(asked(host=host))


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "evil.example",
        "evil.example:7331",
        "127.0.0.1",
        "127.0.0.1:7332",
        "localhost:",
        "localhost:x",
        "localhost:007331999",
        "localhost.evil.example:7331",
        "127.0.0.1.evil.example:7331",
        "[::1:7331",
        "[::1]7331",
        "[localhost]:7331",
        "10.0.0.1:7331",
        "localhost:7331@evil.example",
        "localhost:7331, evil.example",
        "127.1:7331",
        "2130706433:7331",
        "[::ffff:10.0.0.1]:7331",
    ],
)
def test_a_host_that_was_not_bound_is_refused(host: str | None) -> None:
    assert 421 == status(asked(host=host))


@pytest.mark.parametrize(
    "origin", [None, "http://127.0.0.1:7331", "http://localhost:7331", "http://[::1]:7331"]
)
def test_no_origin_or_the_servers_own_will_do(origin: str | None) -> None:
    assert 200 == status(asked(origin=origin))


@pytest.mark.parametrize(
    "origin",
    [
        "",
        "null",
        "http://evil.example",
        "https://evil.example:7331",
        "http://localhost",
        "http://localhost:3000",
        "https://localhost:7331",
        "http://localhost:7331/",
        "http://localhost:7331.evil.example",
        "http://evil@localhost:7331",
        "file://",
        "localhost:7331",
    ],
)
def test_a_page_of_another_origin_is_refused_even_with_the_token(origin: str) -> None:
    assert 403 == status(asked(origin=origin))


@pytest.mark.parametrize("given", [f"Bearer {TOKEN}", f"bearer {TOKEN}", f"BEARER  {TOKEN}"])
def test_the_token_lets_in_however_the_scheme_is_capitalised(given: str) -> None:
    assert 200 == status(asked(authorization=given))


@pytest.mark.parametrize(
    "given",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        f"Basic {TOKEN}",
        TOKEN,
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN.upper()}",
        f"Bearer x {TOKEN}",
        "Bearer \udcff\xff",
        f"Bearer,{TOKEN}",
    ],
)
def test_without_the_token_nobody_gets_in(given: str | None) -> None:
    found = http_access.request_refusal(asked(authorization=given), GATE)

    assert found is not None
    assert (401, "no-token", (("www-authenticate", 'Bearer realm="metier"'),)) == (
        found.status,
        found.code,
        found.headers,
    )


def test_an_empty_token_is_nobodys() -> None:
    assert 401 == status(asked(authorization="Bearer "), GATE._replace(token=""))


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (asked(path="/"), 404),
        (asked(path="/mcp/"), 404),
        (asked(path="/mcp/../mcp"), 404),
        (asked("OPTIONS"), 405),
        (asked("PUT"), 405),
        (asked("GET", content_type=None), 200),
        (asked("DELETE", content_type=None), 200),
        (asked(content_type=None), 415),
        (asked(content_type="text/plain"), 415),
        (asked(content_type="application/jsonx"), 415),
        (asked(content_type="Application/JSON; charset=utf-8"), 200),
        (asked(content_length=str(http_access.MAX_REQUEST_BYTES)), 200),
        (asked(content_length=str(http_access.MAX_REQUEST_BYTES + 1)), 413),
        (asked(content_length="-1"), 400),
        (asked(content_length="٣"), 400),
        (asked(content_length="9" * 5000), 400),
        (asked(more=(("host", "localhost:7331"),)), 400),
        (asked(more=(("authorization", "Bearer x"),)), 400),
        (asked(origin="http://localhost:7331", more=(("origin", "http://evil.example"),)), 400),
        (asked("OPTIONS", authorization=None), 401),
    ],
)
def test_what_is_no_message_is_told_why(request_: RequestHead, expected: int) -> None:
    assert expected == status(request_)


def test_a_refusal_repeats_nothing_of_the_request() -> None:
    wrong = [
        asked(host="secret-x"),
        asked(origin="secret-x"),
        asked(authorization="secret-x"),
        asked(path="/secret-x"),
        asked("SECRET-X"),
    ]

    told = [repr(http_access.request_refusal(one, GATE)) for one in wrong]

    assert [] == [text for text in told if "secret-x" in text.lower()]
    assert TOKEN not in repr(GATE)


@pytest.mark.parametrize(
    ("bound", "names", "host", "expected"),
    [
        (ALL, (), "192.0.2.7:7331", 200),
        (ALL, (), "localhost:7331", 200),
        (ALL, (), "rebound.example:7331", 421),
        (ALL, ("box.lan",), "box.lan:7331", 200),
        (ALL_6, (), "[2001:db8::7]:7331", 200),
        ("192.0.2.7", (), "192.0.2.7:7331", 200),
        ("192.0.2.7", (), "192.0.2.8:7331", 421),
        ("192.0.2.7", (), "localhost:7331", 421),
        ("box.lan", (), "BOX.LAN:7331", 200),
        ("127.0.0.2", (), "127.0.0.2:7331", 200),
    ],
)
def test_beyond_this_machine_a_server_is_called_by_what_it_was_bound_to(
    bound: str, names: tuple[str, ...], host: str, expected: int
) -> None:
    gate = http_access.gate_of(bound, 7331, TOKEN, names)

    assert expected == status(asked(host=host), gate)


@pytest.mark.parametrize(
    ("host", "origin", "expected"),
    [
        ("mcp.example.com", None, 200),
        ("MCP.example.com:443", "https://mcp.example.com", 200),
        ("127.0.0.1:7331", "https://mcp.example.com:8443", 200),
        ("mcp.example.com", "https://other.example.com", 403),
        ("mcp.example.com", "https://127.0.0.1:7331", 403),
        ("other.example.com", None, 421),
    ],
)
def test_a_name_that_the_user_gave_is_that_of_a_proxy_with_a_port_and_scheme_of_its_own(
    host: str, origin: str | None, expected: int
) -> None:
    gate = http_access.gate_of("127.0.0.1", 7331, TOKEN, ("mcp.example.com",))

    assert expected == status(asked(host=host, origin=origin), gate)


def test_without_a_port_the_usual_one_is_meant() -> None:
    gate = http_access.gate_of("127.0.0.1", 80, TOKEN)

    assert (200, 200) == (
        status(asked(host="localhost"), gate),
        status(asked(host="localhost:80"), gate),
    )


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("127.0.0.1:7331", ("127.0.0.1", 7331)),
        ("7331", ("127.0.0.1", 7331)),
        (":0", ("127.0.0.1", 0)),
        ("localhost:1", ("localhost", 1)),
        ("[::1]:65535", ("::1", 65535)),
        (f"{ALL}:80", (ALL, 80)),
        ("my-box.lan:80", ("my-box.lan", 80)),
    ],
)
def test_a_place_to_listen_is_read(text: str, place: tuple[str, int]) -> None:
    assert place == http_access.parse_address(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":",
        "localhost",
        "localhost:",
        "localhost:70000",
        "::1:80",
        "a b:80",
        "u:secret@h:80",
        "[::1]",
        "h:-1",
        "/x:80",
    ],
)
def test_what_is_no_place_is_an_error_that_does_not_repeat_it(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        http_access.parse_address(text)

    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    ("host", "yes"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        (ALL, False),
        (ALL_6, False),
        ("10.0.0.1", False),
        ("localhost.evil.example", False),
    ],
)
def test_loopback_is_what_only_this_machine_reaches(host: str, yes: bool) -> None:
    assert yes == http_access.is_loopback(host)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:7/mcp"),
        ("::1", "http://[::1]:7/mcp"),
        (ALL, "http://127.0.0.1:7/mcp"),
        (ALL_6, "http://[::1]:7/mcp"),
        ("localhost", "http://localhost:7/mcp"),
    ],
)
def test_a_client_is_told_an_address_that_it_can_reach(host: str, url: str) -> None:
    assert url == http_access.url_of(host, 7)


@pytest.mark.parametrize(
    ("token", "good"),
    [
        (TOKEN, True),
        ("short", False),
        ("x" * 1025, False),
        ("with a blank in the middle", False),
        ("line\nline-line-line-line", False),
        ("é" * 20, False),
    ],
)
def test_a_token_is_long_and_plain(token: str, good: bool) -> None:
    fault = http_access.token_fault(token)

    assert good == (not fault)
    assert token not in fault


WORDS = st.text() | st.sampled_from(
    [
        "127.0.0.1:7331",
        "localhost:7331",
        "http://localhost:7331",
        "[",
        "]:",
        "Bearer ",
        "application/json",
    ]
)


@given(
    st.text(),
    st.text(),
    st.lists(st.tuples(st.sampled_from([*RIGHT, "origin", "content-length"]), WORDS)),
)
def test_no_request_gets_in_without_the_token_and_none_is_an_error(
    method: str, path: str, headers: list[tuple[str, str]]
) -> None:
    found = http_access.request_refusal(RequestHead(method, path, tuple(headers)), GATE)

    assert found is not None
    assert 400 <= found.status < 500


def test_whoever_ends_a_session_is_forgotten_and_nobody_else() -> None:
    left: list[str] = []

    class Sessions:
        async def handle_request(self, *_given: object) -> None:
            """Answer nothing."""

    door = http.HttpApp(Sessions(), GATE, left.append)  # type: ignore[arg-type]
    headers = [
        (b"host", b"localhost:7331"),
        (b"authorization", f"Bearer {TOKEN}".encode()),
        (b"content-type", b"application/json"),
        (b"mcp-session-id", b"s1"),
    ]

    async def main() -> None:
        for method in ("POST", "DELETE"):
            await door(
                {
                    "type": "http",
                    "method": method,
                    "path": http_access.HTTP_PATH,
                    "headers": headers,
                },
                None,
                None,
            )

    anyio.run(main)

    assert ["s1"] == left
