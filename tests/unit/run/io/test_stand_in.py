"""What the stand-in network says: names, requests, and packets where nobody listens."""

from __future__ import annotations

import json
import socket
import struct
import tarfile
import zipfile
from io import BytesIO

import pytest

from metier.run.io.stand_in import FrameReader, read_packet
from metier.run.io.stand_in_names import answer_query, made_up_addresses
from metier.run.io.stand_in_payloads import SeenRequest, answer_request, mark_of, marked_name
from metier.run.io.stand_in_talk import Connection, Room, talk


def query(name: str, kind: int = 1) -> bytes:
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    head = struct.pack("!HHHHHH", 7, 0x0100, 1, 0, 0, 0)
    return head + labels + b"\0" + struct.pack("!HH", kind, 1)


def test_a_name_has_the_same_address_each_time_and_one_that_is_nobody_s() -> None:
    first, second = made_up_addresses("a.example"), made_up_addresses("A.example")

    assert first == second
    assert (True, True) == (
        first[0].startswith(("198.18.", "198.19.")),
        first[1].startswith("2001:2::"),
    )


@pytest.mark.parametrize(
    ("kind", "word"), [(1, "A"), (28, "AAAA"), (16, "TXT"), (15, "MX"), (65, "65")]
)
def test_every_question_for_a_name_is_answered(kind: int, word: str) -> None:
    name, asked, addresses, reply = answer_query(query("x.y.example", kind))

    assert ("x.y.example", word, 2) == (name, asked, len(addresses))
    assert struct.pack("!HH", 7, 0x8180) == reply[:4]


@pytest.mark.parametrize(
    "data", [b"", b"x" * 12, query("a")[:14], b"\0" * 40, query("a.b")[:-3], b"\xff" * 600]
)
def test_what_is_no_question_gets_no_answer(data: bytes) -> None:
    assert b"" == answer_query(data)[3]


def asked(target: str, host: str = "x.example", method: str = "GET", **headers: str) -> SeenRequest:
    lines = [
        f"{method} {target} HTTP/1.1",
        f"Host: {host}",
        *(f"{k}: {v}" for k, v in headers.items()),
    ]
    return SeenRequest.read("\r\n".join(lines).encode())


@pytest.mark.parametrize(
    ("request_", "kind", "runs"),
    [
        (asked("/install.sh"), "text/x-shellscript", True),
        (asked("/tool", Agent="curl"), "text/plain", True),
        (asked("/a.tar.gz"), "application/gzip", True),
        (asked("/x.js"), "text/javascript", True),
        (asked("/data.json"), "application/json", True),
        (asked("/v1/items"), "application/json", True),
        (asked("/v1/clean.rules"), "text/plain", True),
        (asked("/up", method="POST"), "application/json", True),
        (asked("/index.html"), "text/html", False),
        (asked("/simple/requests/", "pypi.org"), "text/html", False),
    ],
)
def test_an_answer_is_what_the_request_makes_one_expect(
    request_: SeenRequest, kind: str, runs: bool
) -> None:
    answer = answer_request(request_, b"", request_.host)

    assert (kind, runs) == (answer.kind, answer.note)
    assert not runs or b"metier-observe.invalid" in answer.body or kind == "application/gzip"


def test_a_script_runs_as_shell_and_as_python() -> None:
    answer = answer_request(asked("/setup"), b"", "x.example")

    compile(answer.body, "setup", "exec")
    name = marked_name(mark_of("x.example", "/setup"))
    assert f"getent hosts {name}".encode() in answer.body


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tool.zip", {"install.sh", "tool", "bin/tool"}),
        ("tool-v1.2-linux-x64.zip", {"install.sh", "tool", "bin/tool"}),
        ("tool.tar.gz", {"install.sh", "tool/install.sh", "tool/tool"}),
        ("tool_1.0.tar.gz", {"tool", "tool_1/install.sh"}),
    ],
)
def test_an_archive_holds_the_program_that_it_is_called_after(
    name: str, expected: set[str]
) -> None:
    body = BytesIO(answer_request(asked(f"/{name}"), b"", "x.example").body)

    if name.endswith(".zip"):
        with zipfile.ZipFile(body) as packed:
            held = set(packed.namelist())
    else:
        with tarfile.open(fileobj=body) as packed_too:
            held = set(packed_too.getnames())
    assert expected <= held


def test_a_package_is_whole_and_marked_as_one() -> None:
    answer = answer_request(asked("/packages/left_pad-3.0.0-py3-none-any.whl"), b"", "pypi.org")

    with zipfile.ZipFile(BytesIO(answer.body)) as wheel:
        code = wheel.read("left_pad/__init__.py")
    assert (True, True) == (b"pkg-" in code, b"metier-observe.invalid" in code)


def test_a_node_package_says_where_its_archive_is() -> None:
    answer = answer_request(asked("/@a%2fb", "registry.npmjs.org"), b"", "registry.npmjs.org")

    about = json.loads(answer.body)
    latest = about["versions"][about["dist-tags"]["latest"]]
    assert ("@a/b", True) == (about["name"], latest["dist"]["tarball"].endswith(".tgz"))


@pytest.mark.parametrize("head", [b"", b"GET", b"\xff\xfe", b"GET / HTTP/1.1\r\nHost\r\n: x"])
def test_a_broken_request_is_answered_too(head: bytes) -> None:
    request = SeenRequest.read(head)

    assert answer_request(request, b"", "x").as_bytes("GET").startswith(b"HTTP/1.1 200")


def test_frames_come_whole_however_they_are_cut() -> None:
    reader, data = FrameReader(), struct.pack("=II", 12, 3) + b'{"kind": ""}' + b"abc"

    found = [frame for at in range(0, len(data), 5) for frame in reader.take(data[at : at + 5])]

    assert [({"kind": ""}, b"abc")] == found


@pytest.mark.parametrize("data", [b"", b"\x45" * 20, b"\x60" * 47, b"\x4f" + b"\0" * 30])
def test_a_packet_that_is_cut_short_is_nothing(data: bytes) -> None:
    assert read_packet(data) is None


def test_a_connection_that_is_sealed_is_not_sealed_once_more() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        one = Connection(1, "198.18.0.1", 25, ours, Room(1 << 20))
        one.secure = True
        theirs.sendall(b"STARTTLS\r\n" * 20 + b"EHLO x\r\nQUIT\r\n")

        talk(None, one)  # type: ignore[arg-type]

        ours.shutdown(socket.SHUT_WR)
        said = b"".join(iter(lambda: theirs.recv(1 << 20), b""))
    assert 20 == said.count(b"\n503 ")
    assert b"STARTTLS" not in said
    assert said.endswith(b"221 2.0.0 Bye\r\n")
