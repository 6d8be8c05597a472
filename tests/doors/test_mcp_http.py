"""`metier mcp --http`: the SDK's own client over HTTP on this machine, and everybody whom the door keeps out."""

from __future__ import annotations

import http.client
import json
import signal
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from doors.command import PATIENCE, run
from doors.served import INITIALIZE, OPENS, Served, serving
from fakes.connected import ask, until_new
from mcp import Client, types

from metier.mcp import http_access

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Home

pytestmark = pytest.mark.loopback

SKILL = "---\nname: {0}\ndescription: Folds {0} of any size. Use it to fold {0}.\n---\n\n# {0}\n\nFold the {0} twice.\n"


class Skills(types.Result):
    """What `skills/list` answers."""

    skills: list[dict[str, Any]]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Give one server for all tests that only ask it something."""
    base = tmp_path_factory.mktemp("served")
    for name in ("napkins", "letters"):
        folder = base / "home" / ".agents" / "skills" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(SKILL.format(name))
    env = {
        "HOME": str(base / "home"),
        "METIER_HOME": str(base / "metier-home"),
        "METIER_SCAN_MODEL": "off",
        "METIER_BACKGROUND": "off",
        "PATH": "/usr/bin:/bin",
    }
    with serving(env, base) as made:
        yield made


# --- those who may


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_client_of_the_sdk_gets_the_whole_catalogue(mode: str, served: Served) -> None:
    async def asked(client: Client) -> None:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        found = await client.call_tool("search_skills", {"query": "fold napkins", "limit": 5})
        loaded = await client.call_tool("load_skill", {"name": "napkins"})
        answer = await client.session.send_request(
            types.Request[Any, str](method="skills/list", params=None), Skills
        )

        assert {"search_skills", "load_skill", "read_skill_file"} <= tools
        assert "napkins" in str(found.content)
        assert "Fold the napkins twice." in str(loaded.content)
        assert {"napkins", "letters"} == {skill["frontmatter"]["name"] for skill in answer.skills}

    served.talk(asked, mode)


def test_a_server_says_in_one_line_where_it_is_and_not_what_the_token_is(served: Served) -> None:
    assert served.line.startswith(f"metier serves MCP at http://127.0.0.1:{served.port}/mcp ")
    assert 32 <= len(served.token)
    assert served.token not in served.line


def test_each_session_keeps_the_revision_that_it_loaded_and_hears_of_the_new_one(
    served: Served,
) -> None:
    note = served.home / ".agents/skills/letters/note.md"
    note.write_text("old")
    told: list[str] = []
    found: dict[str, list[str]] = {"first": [], "second": [], "alone": []}

    async def hear(message: Any) -> None:
        told.append(getattr(message, "method", ""))

    async def read(client: Client, who: str, *, load: bool) -> None:
        if load:
            await client.call_tool("load_skill", {"name": "letters"})
        content = (
            await client.call_tool("read_skill_file", {"name": "letters", "path": "note.md"})
        ).structured_content or {}
        found[who].append("old" if "old" in content["content"] else "new")

    async def main() -> None:
        with anyio.fail_after(PATIENCE):
            async with (
                served.client("legacy", message_handler=hear) as first,
                served.client("legacy") as second,
                served.client("auto") as alone,
            ):
                for client, who in ((first, "first"), (second, "second"), (alone, "alone")):
                    await read(client, who, load=True)
                before = await ask(second, "skills/get", uri="skill://letters/SKILL.md")
                note.write_text("new")
                await until_new(second, "skill://letters/SKILL.md", before["skill"]["resources"])
                await read(first, "first", load=False)
                await read(second, "second", load=True)
                await read(alone, "alone", load=False)
                while "notifications/resources/list_changed" not in told:  # noqa: ASYNC110 - the client has no event
                    await anyio.sleep(0.01)

    anyio.run(main)

    assert {"first": ["old", "old"], "second": ["old", "new"], "alone": ["old", "new"]} == found


def test_a_session_that_there_is_not_is_not_found(served: Served) -> None:
    asked = {"jsonrpc": "2.0", "id": 2, "method": "skills/list", "params": {}}

    assert 404 == served.post(asked, Mcp_Session_Id="0" * 32)[0]
    assert 404 == served.post(asked, Mcp_Session_Id="../" * 1_000)[0]


# --- those who may not


@pytest.mark.parametrize(
    ("changed", "status", "code"),
    [
        ({"Authorization": None}, 401, "no-token"),
        ({"Authorization": "Bearer " + "x" * 43}, 401, "no-token"),
        ({"Origin": "http://evil.example"}, 403, "wrong-origin"),
        ({"Origin": "null"}, 403, "wrong-origin"),
        ({"Host": "evil.example"}, 421, "wrong-host"),
        ({"Host": None}, 400, ""),
        ({"Content_Type": "text/plain"}, 415, "media-type"),
    ],
)
def test_everybody_else_is_told_why_not_and_nothing_more(
    changed: dict[str, str | None], status: int, code: str, served: Served
) -> None:
    found, headers, body = served.post(INITIALIZE, **changed)

    assert status == found
    assert not [name for name in headers if name.startswith("access-control-")]
    assert served.token.encode() not in body
    if code:
        assert ("application/problem+json", code, status) == (
            headers["content-type"],
            json.loads(body)["code"],
            json.loads(body)["status"],
        )


def test_the_same_request_with_everything_right_opens_a_session(served: Served) -> None:
    found, headers, body = served.post(
        INITIALIZE, Origin=f"http://localhost:{served.port}", Host=f"localhost:{served.port}"
    )

    assert (200, True) == (found, bool(headers["mcp-session-id"]))
    assert b"metier" in body


def test_a_preflight_of_a_page_gets_no_leave(served: Served) -> None:
    line = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)

    line.request(
        "OPTIONS",
        "/mcp",
        headers={"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"},
    )
    answer = line.getresponse()
    line.close()

    assert 403 == answer.status
    assert not [
        name for name, _value in answer.getheaders() if name.lower().startswith("access-control-")
    ]


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"jsonrpc": "2.0"}', b"[" * 100_000]
)
def test_what_is_no_message_is_a_bad_request(body: bytes, served: Served) -> None:
    found, _headers, answer = served.post(body)

    assert 400 == found
    assert b"Traceback" not in answer


def test_a_body_that_is_too_long_is_refused_by_its_length_or_where_it_goes_on(
    served: Served,
) -> None:
    line = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
    line.putrequest("POST", "/mcp")
    for name, value in {
        "Authorization": f"Bearer {served.token}",
        **OPENS,
        "Transfer-Encoding": "chunked",
    }.items():
        line.putheader(name, value)
    line.endheaders()
    for _block in range(http_access.MAX_REQUEST_BYTES // 65_536):
        line.send(b"10000\r\n" + b"x" * 65_536 + b"\r\n")

    line.send(b"1\r\nx\r\n")  # one byte too many, and no end
    status = line.getresponse().status
    line.close()

    assert 413 == status
    assert 413 == served.post(b"", Content_Length=str(http_access.MAX_REQUEST_BYTES + 1))[0]


# --- where it listens, and how it ends


@pytest.mark.parametrize("place", ["0.0.0.0:0", "[::]:0", "192.0.2.7:0", "example.com:0"])
def test_nothing_beyond_this_machine_is_served_without_a_token(place: str, home: Home) -> None:
    answer = run(home.env, "mcp", "--http", place, "--json")

    assert (1, "no-token") == (answer.code, answer.json["code"])
    assert not (Path(home.env["METIER_HOME"]) / "mcp").exists()


def test_with_a_token_of_ones_own_all_addresses_are_served_and_names_are_not(
    home: Home, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text("a-token-of-thirty-two-characters\n")
    file.chmod(0o600)

    with serving(
        home.env,
        tmp_path,
        "--http",
        "0.0.0.0:0",
        "--token-file",
        "token",
        "--allow-host",
        "box.lan",
    ) as made:
        made.token = "a-token-of-thirty-two-characters"
        by_address, by_name, by_another = (
            made.post(INITIALIZE, Host=f"{host}:{made.port}")[0]
            for host in ("192.0.2.7", "box.lan", "evil.example")
        )
        _code, _out, err = made.stop()

    assert (200, 200, 421) == (by_address, by_name, by_another)
    assert "not encrypted" in err


def test_a_token_that_others_can_read_is_refused(home: Home, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("a-token-of-thirty-two-characters\n")
    (tmp_path / "token").chmod(0o644)

    answer = run(
        home.env, "mcp", "--http", "127.0.0.1:0", "--token-file", "token", "--json", cwd=tmp_path
    )

    assert (1, "unsafe-store") == (answer.code, answer.json["code"])
    assert "thirty-two" not in answer.out


def test_a_port_that_is_taken_is_said(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        answer = run(home.env, "mcp", "--http", f"127.0.0.1:{taken.getsockname()[1]}", "--json")

    assert (2, "bind") == (answer.code, answer.json["code"])


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly_even_while_a_client_listens(
    how: int, home: Home, tmp_path: Path
) -> None:
    with serving(home.env, tmp_path) as made:
        _found, headers, _body = made.post(INITIALIZE)
        line = http.client.HTTPConnection("127.0.0.1", made.port, timeout=PATIENCE)
        line.request(
            "GET",
            "/mcp",
            headers={
                "Authorization": f"Bearer {made.token}",
                "Accept": "text/event-stream",
                "Mcp-Session-Id": headers["mcp-session-id"],
            },
        )
        listening = line.getresponse().status
        code, out, err = made.stop(how)
        line.close()

    assert (200, 0, "", "") == (listening, code, out, err)
