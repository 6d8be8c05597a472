"""The hub as a process: it says where it listens, answers, counts, and ends well."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from doors.command import PATIENCE, environment, run
from fakes.hub_skills import SAFE, skill_archive
from fakes.served_hub import ServedHub, served_hub
from fakes.shop import Shop

from metier.hub.hub import HubOptions
from metier.hub.model import LOCAL
from metier.hub.namespaces import change_namespace

pytestmark = pytest.mark.loopback


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedHub]:
    with served_hub(tmp_path / "hub") as one:
        yield one


def ask(url: str, method: str = "GET", body: Any = None, **headers: str) -> tuple[int, bytes]:
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, data, sent, method=method)  # noqa: S310 - loopback
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310 - loopback
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def test_it_says_where_it_listens_and_ends_well_when_it_is_told_to(tmp_path: Path) -> None:
    env = environment({"METIER_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)})
    process = subprocess.Popen(
        [sys.executable, "-m", "metier", "hub", "serve", "--listen", "127.0.0.1:0"],
        env={**env, "PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    url = line.removeprefix("metier hub: ").strip()

    ready = ask(f"{url}/readyz")
    with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2]))) as client:
        client.sendall(b"no request\r\n\r\n")
        client.recv(65536)
    process.send_signal(signal.SIGTERM)
    _out, said = process.communicate(timeout=PATIENCE)

    assert line.startswith("metier hub: http://127.0.0.1:")
    assert (200, b"ready\n") == ready
    assert 0 == process.returncode
    assert ["warning"] == [json.loads(one)["level"] for one in said.splitlines()]


def test_a_token_is_made_beside_the_database_without_a_running_hub(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "machine")
    database = ("--database", str(tmp_path / "other.db"))

    made = run(
        shop.env, "hub", "token", "add", "--role", "publisher", "--name", "ci", *database, "--json"
    )
    listed = run(shop.env, "hub", "token", "list", *database, "--json")
    wrong = run(shop.env, "hub", "token", "add", "--role", "king", "--name", "ci", *database)
    plain = run(shop.env, "hub", "token", "add", "--role", "reader", "--name", "bo", *database)

    assert ("ci", "publisher") == (made.json["name"], made.json["role"])
    assert made.json["token"].startswith("mth_")
    assert made.json["token"] not in listed.out
    assert ["ci"] == [one["name"] for one in listed.json["tokens"]]
    assert 2 == wrong.code
    assert ("mth_", 1) == (plain.out[:4], plain.out.count("\n"))  # a file gets the token alone
    assert "\nThis is bo's token (reader)" in plain.err
    assert "\\n" not in plain.err


def test_a_strange_pages_form_changes_nothing_on_a_hub_without_accounts(served: ServedHub) -> None:
    body = {"name": "theirs"}

    form = ask(f"{served.url}/api/v1/namespaces", "POST", body)
    named = ask(
        f"{served.url}/api/v1/namespaces", "POST", body, Host="evil.example", Metier_Client="1"
    )
    ours = ask(f"{served.url}/api/v1/namespaces", "POST", body, Metier_Client="1")

    assert (403, 403, 201) == (form[0], named[0], ours[0])


@pytest.mark.parametrize(
    ("url", "status"),
    [("https://hub.example.org", 403), ("", 201), ("http://127.0.0.1:8700", 201)],
)
def test_behind_a_proxy_that_does_not_say_so_nobody_is_the_local_user(
    tmp_path: Path, url: str, status: int
) -> None:
    with served_hub(tmp_path / "hub", HubOptions(str(tmp_path / "hub"), public_url=url)) as one:
        made = ask(f"{one.url}/api/v1/namespaces", "POST", {"name": "theirs"}, Metier_Client="1")
        page = ask(f"{one.url}/policy", Accept="text/html")

    assert (status, status == 201) == (made[0], page[0] == 200)


def test_a_private_name_and_one_that_nobody_has_give_the_same_answer(served: ServedHub) -> None:
    served.publish("table-tidy")
    token = served.token("reader", namespace="elsewhere")

    hidden = ask(f"{served.url}/api/v1/skills/team/table-tidy", Authorization=f"Bearer {token}")
    absent = ask(f"{served.url}/api/v1/skills/nowhere/table-tidy", Authorization=f"Bearer {token}")

    assert 404 == hidden[0]
    assert hidden == (absent[0], absent[1].replace(b"nowhere", b"team"))


@pytest.mark.parametrize("token", ["", "mth_x", "Bearer", "x" * 5000, "\x7f\x01", "mth_' OR 1=1"])
def test_a_wrong_token_opens_nothing(served: ServedHub, token: str) -> None:
    served.publish("table-tidy")
    served.token("admin")

    status, body = ask(f"{served.url}/api/v1/skills/team", Authorization=f"Bearer {token}")

    assert 401 == status
    assert b"table-tidy" not in body


def test_a_revoked_and_an_expired_token_open_nothing(served: ServedHub) -> None:
    token = served.token("admin")
    kept = served.token("admin", name="other")
    told = f"Bearer {kept}"
    ask(f"{served.url}/api/v1/tokens/1", "DELETE", Authorization=told)
    served.forge("UPDATE tokens SET expires_at = 1 WHERE id = 2")

    answers = [
        ask(f"{served.url}/api/v1/whoami", Authorization=f"Bearer {one}")[0]
        for one in (token, kept)
    ]

    assert [401, 401] == answers


def test_other_clients_read_the_public_skills_as_a_well_known_index(
    served: ServedHub, tmp_path: Path
) -> None:
    served.publish("table-tidy")
    before = json.loads(ask(f"{served.url}/.well-known/agent-skills/index.json")[1])
    change_namespace(served.hub, LOCAL, "team", {"visibility": "public"})
    shop = Shop(tmp_path / "machine")
    place = served.url.removeprefix("http://")
    shop.configure(f'[supply]\nprivate_hosts = ["{place}"]\n')

    index = json.loads(ask(f"{served.url}/.well-known/agent-skills/index.json")[1])
    added = run(shop.env, "add", served.url, "--skill", "table-tidy", "--yes", cwd=shop.project)

    assert [] == before["skills"]
    assert ["table-tidy"] == [one["name"] for one in index["skills"]]
    assert 0 == added.code, added.err
    assert SAFE[:5] in (shop.project / ".agents/skills/table-tidy/SKILL.md").read_text()


def test_what_it_is_asked_is_counted(served: ServedHub) -> None:
    ask(f"{served.url}/api/v1/hub")
    ask(f"{served.url}/api/v1/skills/nowhere/none")

    text = ask(f"{served.url}/metrics")[1].decode()

    assert 'metier_hub_requests_total{method="GET",status="200"} 1' in text
    assert 'metier_hub_requests_total{method="GET",status="404"} 1' in text
    assert "metier_hub_pending_releases 0" in text


def test_what_everybody_asked_is_not_told_to_who_has_a_role_in_a_part(served: ServedHub) -> None:
    tokens = [served.token("admin", "team"), served.token("reader")]

    seen = [
        ask(f"{served.url}/metrics", X_Forwarded_For="192.0.2.1", Authorization=f"Bearer {token}")[
            0
        ]
        for token in tokens
    ]

    assert [404, 200] == seen


def test_a_request_that_comes_twice_with_its_key_is_answered_as_the_first_time(
    served: ServedHub,
) -> None:
    import hashlib

    data = skill_archive("table-tidy")
    sha256 = hashlib.sha256(data).hexdigest()
    where = f"{served.url}/api/v1/skills/team/table-tidy/releases"
    ask(f"{served.url}/api/v1/blobs/{sha256}", "PUT", data, Metier_Client="1")
    told = {"archive": sha256}

    first = ask(where, "POST", told, Metier_Client="1", Idempotency_Key="k")
    second = ask(where, "POST", told, Metier_Client="1", Idempotency_Key="k")
    other = ask(where, "POST", {"archive": "0" * 64}, Metier_Client="1", Idempotency_Key="k")

    assert 201 == first[0]
    assert first == second
    assert 422 == other[0]


def test_beside_the_database_a_version_is_offered_again_and_a_skill_deprecated(
    tmp_path: Path,
) -> None:
    shop = Shop(tmp_path / "machine")
    with served_hub(shop.data / "hub") as one:
        one.publish("table-tidy", version="1.0.0")

    def hub(*words: str) -> Any:
        return run(shop.env, "hub", *words, "--json").json

    yanked = hub("yank", "team/table-tidy@1.0.0", "--reason", "breaks")
    back = hub("unyank", "team/table-tidy@1.0.0")
    deprecated = hub("deprecate", "team/table-tidy", "--reason", "use another")
    again = hub("deprecate", "team/table-tidy")
    odd = hub("deprecate", "team/table-tidy@1.0.0", "--reason", "x")

    assert ["yanked", "approved"] == [yanked["state"], back["state"]]
    assert ["use another", ""] == [deprecated["deprecated"], again["deprecated"]]
    assert "usage" == odd["code"]
