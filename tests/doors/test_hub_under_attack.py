"""A hub's server on a real socket: killed while clients push, and asked by those who never finish."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import uvicorn
from doors.command import PATIENCE, environment
from fakes.hub_skills import skill_archive
from fakes.served_hub import PATIENCE_SECONDS, served_hub

from metier.hub import api, serve
from metier.hub.app import make_app
from metier.hub.hub import Hub, HubOptions
from metier.hub.keep import verify_hub
from metier.hub.model import LOCAL
from metier.hub.releases import list_skills

pytestmark = pytest.mark.loopback
ENV = {"METIER_SCAN_MODEL": "off"}
PUSHED_BEFORE_THE_KILL = 6


@contextmanager
def process(home: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    env = environment({"METIER_HOME": str(home), "HOME": str(home), **ENV})
    command = [sys.executable, "-m", "metier", "hub", "serve", "--listen", "127.0.0.1:0"]
    started = subprocess.Popen(
        command,
        env={**env, "PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with started:
        assert started.stdout is not None
        url = started.stdout.readline().removeprefix("metier hub: http://").strip()
        try:
            yield started, url
        finally:
            started.kill()


def push(place: str, name: str) -> int:
    data = skill_archive(name)
    sha256 = hashlib.sha256(data).hexdigest()
    headers = {"metier-client": "1", "idempotency-key": name}
    connection = http.client.HTTPConnection(place, timeout=PATIENCE)
    try:
        connection.request("PUT", f"/api/v1/blobs/{sha256}", data, headers)
        connection.getresponse().read()
        body = json.dumps({"archive": sha256})
        connection.request("POST", f"/api/v1/skills/team/{name}/releases", body, headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def test_a_hub_killed_while_clients_push_has_all_that_it_acknowledged(tmp_path: Path) -> None:
    acknowledged: list[str] = []
    enough = threading.Event()

    def keep_pushing(place: str, who: int) -> None:
        number = 0
        while True:
            name = f"skill-{who}-{number}"
            try:
                if push(place, name) != 201:
                    return
            except (OSError, http.client.HTTPException):
                return
            acknowledged.append(name)
            number += 1
            if len(acknowledged) >= PUSHED_BEFORE_THE_KILL:
                enough.set()

    with process(tmp_path) as (running, place):
        clients = [threading.Thread(target=keep_pushing, args=(place, who)) for who in range(4)]
        for one in clients:
            one.start()
        enough.wait(PATIENCE)
        running.send_signal(signal.SIGKILL)
        for one in clients:
            one.join()
    with process(tmp_path) as (_running, place):
        again = push(place, acknowledged[0])

    with Hub(HubOptions(f"{tmp_path}/hub"), env=ENV) as hub:
        there = {one.name for one in list_skills(hub, LOCAL, "team", limit=1000)}
        faults = verify_hub(hub)
    assert (201, []) == (again, faults)
    assert len(acknowledged) >= PUSHED_BEFORE_THE_KILL
    assert set(acknowledged) <= there


@pytest.fixture
def impatient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Give the port of a hub that waits for nobody longer than a moment."""
    monkeypatch.setattr(serve, "HEAD_SECONDS", 1)
    monkeypatch.setattr(api, "BODY_SECONDS", 1)
    with Hub(HubOptions(f"{tmp_path}/hub"), env=ENV) as hub:
        listening = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(
            make_app(hub), log_config=None, http=serve.PromptHeads, ws="none", lifespan="on"
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(PATIENCE_SECONDS)
            listening.close()


HEAD = "Host: 127.0.0.1\r\nMetier-Client: 1\r\n"
NEVER_FINISHED = {
    "nothing": b"",
    "half a head": b"GET / HTTP/1.1\r\nHost: 127",
    "a second request that never ends": f"GET /healthz HTTP/1.1\r\n{HEAD}\r\nGET /he".encode(),
    "a slow body": f"PUT /api/v1/blobs/{'0' * 64} HTTP/1.1\r\n{HEAD}Content-Length: 99\r\n\r\nx".encode(),
    "a head without end": b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20_000,
}


@pytest.mark.parametrize("kind", NEVER_FINISHED)
def test_who_never_finishes_is_hung_up_on(impatient: int, kind: str) -> None:
    with socket.create_connection(("127.0.0.1", impatient), PATIENCE) as client:
        client.sendall(NEVER_FINISHED[kind])
        said = b""
        try:
            while data := client.recv(65536):
                said += data
                if kind == "a slow body" and b"web-too-slow" in said:
                    break
        except ConnectionResetError:
            pass

    assert (b"408" in said) == (kind == "a slow body")


def test_a_body_without_end_is_refused_on_the_way(impatient: int) -> None:
    chunk = b"10000\r\n" + bytes(0x10000) + b"\r\n"
    said = b""
    with socket.create_connection(("127.0.0.1", impatient), PATIENCE) as client:
        head = f"POST /api/v1/namespaces HTTP/1.1\r\n{HEAD}Transfer-Encoding: chunked\r\n\r\n"
        client.sendall(head.encode())
        sent = 0
        try:
            while sent < 64 << 20:
                client.sendall(chunk)
                sent += len(chunk)
        except OSError:
            pass
        client.settimeout(PATIENCE)
        try:
            said = client.recv(65536)
        except OSError:
            pass

    assert sent < 64 << 20 or b"413" in said


def test_who_may_not_publish_is_refused_before_the_hub_keeps_what_they_send(impatient: int) -> None:
    with socket.create_connection(("127.0.0.1", impatient), PATIENCE) as client:
        # without what metier's own client sends along, nobody is the local user
        head = f"PUT /api/v1/blobs/{'0' * 64} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        client.sendall(f"{head}Content-Length: {16 << 20}\r\n\r\nx".encode())
        said = client.recv(65536)

    assert b"403" in said.partition(b"\r\n")[0]


def test_who_sends_many_slow_bodies_keeps_no_other_publisher_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "BODY_SECONDS", 3600)
    data = skill_archive("table-tidy")
    with served_hub(tmp_path / "hub") as served, ExitStack() as clients:
        ann, bob = (served.token("publisher", name=name) for name in ("ann", "bob"))
        place = served.url.removeprefix("http://")
        host, _, port = place.partition(":")
        for _one in range(api.MAX_BODIES):
            client = socket.create_connection((host, int(port)), PATIENCE)
            clients.enter_context(client)
            head = f"PUT /api/v1/blobs/{'0' * 64} HTTP/1.1\r\n{HEAD}Authorization: Bearer {ann}\r\n"
            client.sendall(f"{head}Content-Length: 99\r\n\r\nx".encode())

        connection = http.client.HTTPConnection(place, timeout=PATIENCE)
        headers = {"authorization": f"Bearer {bob}"}
        for _one in range(api.MAX_BODIES):  # by then the hub has begun with the others
            connection.request("GET", "/api/v1/whoami", headers=headers)
            connection.getresponse().read()
        where = f"/api/v1/blobs/{hashlib.sha256(data).hexdigest()}"
        connection.request("PUT", where, data, headers)
        status = connection.getresponse().status
        connection.close()

    assert 201 == status


@pytest.mark.parametrize("name", ["User-Agent", "Idempotency-Key", "X-Forwarded-For"])
def test_a_forged_line_in_a_header_answers_no_second_request(impatient: int, name: str) -> None:
    with socket.create_connection(("127.0.0.1", impatient), PATIENCE) as client:
        forged = f"GET /healthz HTTP/1.1\r\n{HEAD}{name}: a\rb\nSet-Cookie: x=1\0\r\nConnection: close\r\n\r\n"
        client.sendall(forged.encode())
        said = b""
        while data := client.recv(65536):
            said += data

    assert 1 == said.count(b"HTTP/1.1")
    assert b"set-cookie" not in said.lower()
