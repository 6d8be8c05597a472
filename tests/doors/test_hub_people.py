"""People, places, webhooks, feeds and limits of a hub, from the command line and over HTTP."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from doors.command import PATIENCE, Answer, run
from fakes.event_receiver import event_receiver
from fakes.hub_skills import publish_text
from fakes.served_hub import ServedHub, served_hub
from fakes.shop import Shop

from metier.hub.accounts import add_token, remember_person
from metier.hub.hub import Hub, HubOptions
from metier.hub.model import LOCAL
from metier.hub.namespaces import add_namespace, add_organisation
from metier.hub.webhooks import add_webhook

pytestmark = pytest.mark.loopback


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedHub]:
    with served_hub(tmp_path / "hub") as one:
        yield one


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path / "machine")


def metier_hub(shop: Shop, *words: str) -> Answer:
    return run(shop.env, "hub", *words)


def ask(
    url: str, token: str = "", body: Any = None, **headers: str
) -> tuple[int, bytes, dict[str, str]]:
    data = None if body is None else json.dumps(body).encode()
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if token:
        sent["Authorization"] = f"Bearer {token}"
    request = urllib.request.Request(url, data, sent)  # noqa: S310 - loopback
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310 - loopback
            return answer.status, answer.read(), dict(answer.headers.items())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(), dict(error.headers.items())


# --- on the command line


def test_organisations_namespaces_and_roles_are_set_beside_the_database(shop: Shop) -> None:
    made = metier_hub(shop, "organisation", "add", "acme")
    twice = metier_hub(shop, "organisation", "add", "acme")
    metier_hub(shop, "namespace", "web", "--organisation", "acme", "--quota", "1000")
    frozen = metier_hub(shop, "namespace", "web", "--state", "frozen", "--public", "--json")
    moved = metier_hub(shop, "namespace", "web", "--organisation", "others")
    given = metier_hub(
        shop, "grant", "add", "group:devs", "--role", "publisher", "--organisation", "acme"
    )
    listed = metier_hub(shop, "grant", "--json")
    organisations = metier_hub(shop, "organisation", "--json")
    taken = metier_hub(
        shop, "grant", "remove", "group:devs", "--role", "publisher", "--organisation", "acme"
    )

    assert [0, 1, 0, 2, 0, 0] == [one.code for one in (made, twice, frozen, moved, given, taken)], (
        twice.err + moved.err
    )
    assert {
        "name": "web",
        "visibility": "public",
        "state": "frozen",
        "quota_bytes": 1000,
        "used_bytes": 0,
    } == frozen.json
    assert [
        {
            "kind": "group",
            "who": "devs",
            "role": "publisher",
            "namespace": "",
            "organisation": "acme",
        }
    ] == listed.json["grants"]
    assert [{"name": "acme", "namespaces": ["web"]}] == organisations.json["organisations"]
    assert [] == metier_hub(shop, "grant", "--json").json["grants"]


@pytest.mark.parametrize(
    "words",
    [
        ("grant", "add", "devs", "--role", "publisher"),
        ("grant", "add", "group:devs"),
        ("grant", "add", "group:devs", "--role", "king"),
        ("grant", "add", "group:devs", "--role", "reader", "--namespace", "nowhere"),
        ("organisation", "add", "Not A Name"),
        ("webhook", "add", "https://93.184.216.34/"),
        ("webhook", "add", "http://93.184.216.34/", "--namespace", "web"),
        ("webhook", "remove", "x", "--namespace", "web"),
        ("namespace", "web", "--quota", "much"),
        ("token", "add", "--role", "reader", "--name", "x", "--organisation", "nobody"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_hint(shop: Shop, words: tuple[str, ...]) -> None:
    metier_hub(shop, "namespace", "web")

    answer = metier_hub(shop, *words)

    assert answer.code in {1, 2}
    assert "hint:" in answer.err


def test_people_who_logged_in_are_listed_with_their_groups(shop: Shop) -> None:
    with Hub(HubOptions(home=str(shop.data / "hub")), env={}) as hub:
        remember_person(hub, "https://id.example.org", "ann-1", "ann", ["devs", "\x1b[31mred"])

    answer = metier_hub(shop, "people")

    assert "person:1  ann  " in answer.out
    assert "devs" in answer.out
    assert "\x1b" not in answer.out


def test_a_webhooks_secret_is_shown_once(shop: Shop) -> None:
    metier_hub(shop, "namespace", "web")
    where = ("--namespace", "web")

    made = metier_hub(shop, "webhook", "add", "https://93.184.216.34/", *where, "--json")
    listed = metier_hub(shop, "webhook", "list", *where, "--json")
    plain = metier_hub(shop, "webhook", "add", "https://93.184.216.34/other", *where)
    removed = [metier_hub(shop, "webhook", "remove", one, *where).code for one in ("1", "2")]

    assert ("whs_", 1) == (plain.out[:4], plain.out.count("\n"))  # a file gets the secret alone
    assert "This is the secret of webhook 2" in plain.err
    assert made.json["secret"].startswith("whs_")
    assert made.json["secret"] not in listed.out
    assert ["https://93.184.216.34/"] == [one["url"] for one in listed.json["webhooks"]]
    assert ([0, 0], []) == (
        removed,
        metier_hub(shop, "webhook", *where, "--json").json["webhooks"],
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("METIER_HUB_RATE", "many"),
        ("METIER_HUB_RATE_FAILED", "-1"),
        ("METIER_HUB_LOGIN_HOURS", "0"),
        ("METIER_HUB_PROXIES", "the-proxy"),
        ("METIER_HUB_OIDC_ISSUER", "http://id.example.org"),
        ("METIER_HUB_OIDC_ISSUER", "https://id.example.org"),
    ],
)
def test_a_setting_that_is_wrong_is_said_when_the_hub_opens(
    shop: Shop, name: str, value: str
) -> None:
    shop.env[name] = value

    answer = metier_hub(shop, "token", "list")

    assert 2 == answer.code
    assert "hint:" in answer.err


# --- a token of an organisation


def test_a_token_of_an_organisation_has_its_role_in_all_of_it_and_nowhere_else(
    served: ServedHub,
) -> None:
    add_organisation(served.hub, LOCAL, "acme")
    for space, owner in (("red", "acme"), ("blue", "acme"), ("green", "green")):
        add_namespace(served.hub, LOCAL, space, owner)
    made = add_token(served.hub, LOCAL, name="ci", role="reader", organisation="acme")

    who = json.loads(ask(f"{served.url}/api/v1/whoami", made.token)[1])
    seen = json.loads(ask(f"{served.url}/api/v1/namespaces", made.token)[1])

    assert [{"role": "reader", "namespace": "", "organisation": "acme"}] == who["roles"]
    assert ["blue", "red"] == [one["name"] for one in seen["namespaces"]]


# --- feeds and webhooks, by the running hub


def test_a_feed_is_sent_again_only_when_it_changed(served: ServedHub) -> None:
    served.publish("table-tidy")
    url = f"{served.url}/ns/team/feed.atom"
    _status, body, headers = ask(url)

    same = ask(url, If_None_Match=headers["etag"])
    since = ask(url, If_Modified_Since=headers["last-modified"])
    odd = ask(url, If_Modified_Since="yesterday")
    served.publish("other-skill")
    changed = ask(url, If_None_Match=headers["etag"])

    assert "application/atom+xml" == headers["content-type"]
    assert ET.fromstring(body).tag.endswith("feed")  # noqa: S314 - our own
    assert (304, b"") == same[:2]
    assert [304, 200, 200] == [one[0] for one in (since, odd, changed)]


def test_a_private_feed_takes_a_token_and_is_absent_without(served: ServedHub) -> None:
    served.publish("table-tidy")
    token = served.token("reader", "team")

    without, there = (ask(f"{served.url}/ns/team/feed.atom", one)[0] for one in ("", token))
    absent = ask(f"{served.url}/ns/nowhere/feed.atom")[0]

    assert (404, 404, 200) == (without, absent, there)


def test_the_running_hub_sends_its_webhooks_by_itself(tmp_path: Path) -> None:
    options = HubOptions(home=str(tmp_path / "hub"), loopback_webhooks=True)
    with event_receiver() as receiver, served_hub(tmp_path / "hub", options) as served:
        add_namespace(served.hub, LOCAL, "team")
        add_webhook(served.hub, LOCAL, "team", receiver.url)
        publish_text(served.hub, LOCAL, "table-tidy")
        ends = time.monotonic() + PATIENCE
        while not receiver.got and time.monotonic() < ends:
            time.sleep(0.05)

        told = json.loads(receiver.got[0][1])

    assert ("approved", "table-tidy") == (told["what"], told["name"])


# --- limits


def test_who_asks_too_much_is_told_when_to_ask_again(tmp_path: Path) -> None:
    options = HubOptions(home=str(tmp_path / "hub"), rate=3, rate_nobody=2)
    with served_hub(tmp_path / "hub", options) as served:
        token = served.token("reader")
        url = f"{served.url}/api/v1/hub"

        known = [ask(url, token) for _one in range(4)]
        nobody = [ask(url)[0] for _one in range(3)]
        alive = ask(f"{served.url}/healthz")[0]

    assert [200, 200, 200, 429] == [one[0] for one in known]
    assert 0 < int(known[-1][2]["retry-after"]) <= 21
    assert "hub-rate" == json.loads(known[-1][1])["code"]
    assert ([200, 200, 429], 200) == (nobody, alive)


def test_guessing_tokens_ends_soon_and_good_ones_go_on(tmp_path: Path) -> None:
    options = HubOptions(home=str(tmp_path / "hub"), rate_failed=3)
    with served_hub(tmp_path / "hub", options) as served:
        token = served.token("reader")
        url = f"{served.url}/api/v1/whoami"
        ask(url, token)

        guesses = [ask(url, f"mth_guess{number}")[0] for number in range(5)]
        good = ask(url, token)[0]

    assert ([401, 401, 401, 429, 429], 200) == (guesses, good)
