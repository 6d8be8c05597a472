"""Logging in to a hub through an OpenID Connect provider: a real one from the package index, one that
knows device codes, and one that lies.
"""

from __future__ import annotations

import base64
import hashlib
import http.cookiejar
import json
import os
import re
import secrets
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from doors.command import PATIENCE, run
from fakes.hub_skills import publish_text
from fakes.oidc_provider import CLIENT_ID, CLIENT_SECRET, FakeProvider, fake_provider, rsa_key
from fakes.served_hub import ServedHub, served_hub
from fakes.shop import Shop

from metier.errors import MetierError, RefusedError
from metier.hub.accounts import caller_of_token, end_logins, set_grant
from metier.hub.hub import HubOptions
from metier.hub.model import LOCAL
from metier.supply.hub_login import LoginStep

pytestmark = pytest.mark.loopback
REDIRECT = "http://127.0.0.1:4711/callback"


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with fake_provider() as one:
        yield one


def options_for(folder: Path, issuer: str) -> HubOptions:
    return HubOptions(
        home=str(folder), issuer=issuer, client_id=CLIENT_ID, client_secret=CLIENT_SECRET
    )


@pytest.fixture
def served(tmp_path: Path, provider: FakeProvider) -> Iterator[ServedHub]:
    with served_hub(tmp_path / "hub", options_for(tmp_path / "hub", provider.issuer)) as one:
        publish_text(one.hub, LOCAL, "table-tidy")
        yield one


class NoRedirection(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_words: object) -> None:
        return None


def ask(
    url: str, body: Any = None, opener: urllib.request.OpenerDirector | None = None, **headers: str
) -> tuple[int, Any, str]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers)  # noqa: S310 - loopback
    opener = opener or urllib.request.build_opener(NoRedirection)
    try:
        with opener.open(request, timeout=PATIENCE) as answer:
            return answer.status, answer.read(), answer.headers.get("location", "")
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(), error.headers.get("location", "")


def begin(served: ServedHub) -> tuple[str, str, str]:
    """Begin a login as a client does; give its state, where it leads, and the verifier."""
    verifier = secrets.token_urlsafe(48)
    digest = hashlib.sha256(verifier.encode()).digest()
    challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
    told = {"redirect_uri": REDIRECT, "challenge": challenge}
    _status, body, _to = ask(f"{served.url}/api/v1/login/begin", told)
    found = json.loads(body)
    return found["state"], found["url"], verifier


def code_of(url: str) -> str:
    """Log in at the provider, and give the code that it sends back."""
    return parse_qs(urlsplit(ask(url)[2]).query)["code"][0]


def finish(served: ServedHub, state: str, code: str, verifier: str, **more: str) -> tuple[int, Any]:
    told = {"state": state, "code": code, "verifier": verifier, **more}
    status, body, _to = ask(f"{served.url}/api/v1/login/finish", told)
    return status, json.loads(body)


def log_in(served: ServedHub) -> tuple[int, Any]:
    state, url, verifier = begin(served)
    return finish(served, state, code_of(url), verifier)


def in_browser(step: LoginStep) -> None:
    """Do what somebody does with the page that they are sent to."""
    threading.Thread(target=lambda: urllib.request.urlopen(step.url).read(), daemon=True).start()  # noqa: S310 - loopback


# --- as people use it


def test_a_login_with_a_short_code_gives_a_token_that_ends(
    served: ServedHub, provider: FakeProvider, tmp_path: Path
) -> None:
    provider.pending = 1
    shop = Shop(tmp_path / "machine")
    steps: list[LoginStep] = []

    with shop.open() as m:
        done = m.login(served.url, show=steps.append)

    token = json.loads((shop.data / "hubs.json").read_text())["hubs"][served.url]["token"]
    with served.hub.database.read() as connection:
        row = connection.row("SELECT expires_at - created_at AS seconds FROM tokens")
    assert [("ABCD-EFGH", f"{provider.issuer}/activate")] == [(one.code, one.url) for one in steps]
    assert ("ann", ()) == (done.name, done.roles)
    assert "person:1" == caller_of_token(served.hub, token).ident
    assert row is not None
    assert 8 * 3600 == row["seconds"]


def test_the_command_says_where_to_log_in_and_with_which_code(
    served: ServedHub, provider: FakeProvider, tmp_path: Path
) -> None:
    shop = Shop(tmp_path / "machine")

    answer = run(shop.env, "login", served.url, "--json")

    assert 0 == answer.code, answer.err
    assert f"open this page to log in: {provider.issuer}/activate" in answer.err
    assert "ABCD-EFGH" in answer.err
    assert "ann" == answer.json["name"]


def test_without_device_codes_the_browser_comes_back_to_this_machine(
    served: ServedHub, provider: FakeProvider, tmp_path: Path
) -> None:
    provider.facts = {"device_authorization_endpoint": None}
    shop = Shop(tmp_path / "machine")

    with shop.open() as m:
        done = m.login(served.url, show=in_browser)

    assert "ann" == done.name
    sent = next(form for path, form in provider.asked if path == "/token")
    assert sent["Authorization"].startswith("Basic ")
    assert "code_verifier" in sent


REAL_PROVIDER = """
import sys, oidc_provider_mock as mock
person = mock.User(sub="bob", claims={"preferred_username": "bob", "groups": ["devs"]})
with mock.run_server_in_thread(user_claims=[person]) as server:
    print(server.server_port, flush=True)
    sys.stdin.read()
"""


@contextmanager
def real_provider() -> Iterator[str]:
    """Run the mock provider of the package index in a process of its own; give its issuer."""
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", REAL_PROVIDER],
        env={**os.environ, "AUTHLIB_INSECURE_TRANSPORT": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield f"http://localhost:{int(process.stdout.readline())}"
    finally:
        process.communicate(timeout=PATIENCE)


def test_a_real_provider_logs_people_in(tmp_path: Path) -> None:
    with (
        real_provider() as issuer,
        served_hub(tmp_path / "hub", options_for(tmp_path / "hub", issuer)) as served,
    ):
        publish_text(served.hub, LOCAL, "table-tidy")
        set_grant(served.hub, LOCAL, kind="group", who="devs", role="reader", namespace="team")

        def type_name(step: LoginStep) -> None:
            def work() -> None:
                urllib.request.urlopen(step.url, b"sub=bob", timeout=PATIENCE).read()  # noqa: S310 - loopback

            threading.Thread(target=work, daemon=True).start()

        shop = Shop(tmp_path / "machine")
        with shop.open() as m:
            done = m.login(served.url, show=type_name)

    assert ("bob", (("reader", "team"),)) == (done.name, done.roles)


def test_groups_give_roles_and_who_left_a_group_loses_them_at_the_next_login(
    served: ServedHub, provider: FakeProvider
) -> None:
    set_grant(served.hub, LOCAL, kind="group", who="devs", role="publisher", namespace="team")
    provider.person["groups"] = ["devs", "others"]
    _status, first = log_in(served)
    before = caller_of_token(served.hub, first["token"]).grants
    provider.person["groups"] = ["others"]

    log_in(served)

    assert ["publisher"] == [one.role for one in before]
    assert () == caller_of_token(served.hub, first["token"]).grants


def test_who_logs_out_is_out_on_the_hub_as_well(served: ServedHub, tmp_path: Path) -> None:
    shop = Shop(tmp_path / "machine")
    with shop.open() as m:
        m.login(served.url, show=lambda _step: None)
        token = json.loads((shop.data / "hubs.json").read_text())["hubs"][served.url]["token"]

        m.logout(served.url)

    with pytest.raises(RefusedError):
        caller_of_token(served.hub, token)


def test_an_admin_logs_somebody_out_everywhere(served: ServedHub) -> None:
    _status, told = log_in(served)
    jar = http.cookiejar.CookieJar()
    come_back(served, browser(jar))

    count = end_logins(served.hub, LOCAL, 1)

    home = ask(f"{served.url}/", opener=browser(jar))[1]
    with pytest.raises(RefusedError):
        caller_of_token(served.hub, told["token"])
    assert 2 == count
    assert b">ann<" not in home.replace(b" ", b"").replace(b"\n", b"")


def test_every_login_is_in_the_audit_log_and_no_token_is(served: ServedHub) -> None:
    _status, told = log_in(served)

    with served.hub.database.read() as connection:
        rows = [dict(row) for row in connection.rows("SELECT * FROM audit_events")]
        logins = connection.rows("SELECT * FROM logins")
    assert [("person:1", "login")] == [
        (one["who"], one["what"]) for one in rows if one["what"] == "login"
    ]
    assert told["token"] not in json.dumps(rows)
    assert [] == list(logins)


def test_a_hub_without_a_provider_says_so(tmp_path: Path) -> None:
    with served_hub(tmp_path / "hub") as served:
        status, body, _to = ask(f"{served.url}/api/v1/login/device", {})

    assert (404, "hub-no-oidc") == (status, json.loads(body)["code"])


# --- a provider that lies, and answers that somebody else sends

Lie = Callable[[FakeProvider], None]


def claims(**told: Any) -> Lie:
    def lie(provider: FakeProvider) -> None:
        provider.claims = told

    return lie


def signs(name: str) -> Lie:
    def lie(provider: FakeProvider) -> None:
        provider.sign = getattr(provider, name)

    return lie


LIES: dict[str, tuple[Lie, str]] = {
    "another issuer": (claims(iss="https://evil.example"), "another provider"),
    "an issuer that looks alike": (claims(iss="http://127.0.0.1"), "another provider"),
    "no issuer": (claims(iss=None), "another provider"),
    "another audience": (claims(aud="other-app"), "another service"),
    "several audiences without saying whose": (claims(aud=[CLIENT_ID, "x"]), "another service"),
    "another authorized party": (claims(azp="other-app"), "another service"),
    "no audience": (claims(aud=None), "another service"),
    "expired": (claims(exp=1_000_000), "expired"),
    "never expires": (claims(exp=None), "does not say when"),
    "a time that is none": (claims(exp=True), "does not say when"),
    "from the future": (claims(iat=9_999_999_999), "from the future"),
    "not valid yet": (claims(nbf=9_999_999_999), "from the future"),
    "made long ago": (claims(iat=1_000_000), "too old"),
    "another nonce": (claims(nonce="other"), "another login"),
    "no nonce": (claims(nonce=None), "another login"),
    "a nonce that is no text": (claims(nonce=["x"]), "another login"),
    "nobody": (claims(sub=""), "names nobody"),
    "too many groups": (claims(groups=[str(one) for one in range(300)]), "more than 200 groups"),
    "alg none": (signs("sign_not_at_all"), "not signed with the provider's key"),
    "the public key as a secret": (signs("sign_with_the_public_key"), "not signed"),
    "another key": (signs("sign_with_another_key"), "not signed"),
    "a key of another kind": (signs("sign_with_a_key_of_another_kind"), "not signed"),
    "a key that comes along": (signs("sign_with_a_key_that_comes_along"), "not signed"),
    "changed after it was signed": (signs("sign_and_change"), "not signed"),
    "no token at all": (lambda one: setattr(one, "sign", lambda _claims: "x"), "not signed"),
}


@pytest.mark.parametrize("name", LIES)
def test_an_id_token_that_is_not_for_this_hub_and_login_opens_nothing(
    served: ServedHub, provider: FakeProvider, name: str
) -> None:
    lie, said = LIES[name]
    lie(provider)

    status, told = log_in(served)

    with served.hub.database.read() as connection:
        people = connection.rows("SELECT id FROM people")
    assert (401, "hub-login", []) == (status, told["code"], list(people))
    assert said in told["message"]


def test_a_shared_secret_among_the_providers_keys_is_no_key(
    served: ServedHub, provider: FakeProvider
) -> None:
    from fakes.oidc_provider import signed
    from joserfc.jwk import OctKey

    shared = OctKey.generate_key(256, {"kid": "one"})
    provider.jwks = {"keys": [shared.as_dict(private=True)]}
    provider.sign = lambda claims: signed({"alg": "HS256", "kid": "one"}, claims, shared)

    status, _told = log_in(served)

    assert 401 == status


def test_a_provider_that_changed_its_key_is_asked_again(
    served: ServedHub, provider: FakeProvider
) -> None:
    log_in(served)
    provider.key = rsa_key("two")
    served.hub.provider._keys = (-1000.0, served.hub.provider._keys[1])  # type: ignore[union-attr,index]  # noqa: SLF001 - as if time had passed

    status, _told = log_in(served)

    assert 201 == status


@pytest.mark.parametrize(
    "facts",
    [
        {"issuer": "https://evil.example"},
        {"issuer": None},
        {"token_endpoint": "http://evil.example/token"},
        {"jwks_uri": "http://evil.example/keys"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": None},
        {"jwks_uri": ["x"]},
    ],
)
def test_a_provider_that_leads_elsewhere_is_not_used(
    served: ServedHub, provider: FakeProvider, facts: dict[str, Any]
) -> None:
    provider.facts = facts
    told = {"redirect_uri": REDIRECT, "challenge": "x" * 43}

    status, body, _to = ask(f"{served.url}/api/v1/login/begin", told)

    assert (502, "hub-provider") == (status, json.loads(body)["code"])
    assert [] == [path for path, _form in provider.asked if path == "/token"]


def test_a_provider_leads_the_hub_into_no_private_network(
    served: ServedHub, provider: FakeProvider
) -> None:
    provider.facts = {"token_endpoint": "https://10.0.0.1/token"}

    status, told = log_in(served)

    assert (502, True) == (status, "a private address" in told["message"]), told


def test_a_state_is_good_once(served: ServedHub) -> None:
    state, url, verifier = begin(served)
    code = code_of(url)
    first = finish(served, state, code, verifier)[0]

    again = finish(served, state, code, verifier)

    assert (201, 401) == (first, again[0])
    assert "not begun here" in again[1]["message"]


def test_a_code_without_its_own_state_or_verifier_opens_nothing(served: ServedHub) -> None:
    state, url, _verifier = begin(served)
    other, _url, other_verifier = begin(served)

    unknown = finish(served, "x" * 43, code_of(url), other_verifier)
    crossed = finish(served, other, code_of(url), other_verifier)
    stolen = finish(served, state, code_of(url), "y" * 60)

    assert [401, 401, 401] == [unknown[0], crossed[0], stolen[0]]


def test_an_answer_in_the_name_of_another_provider_is_refused(served: ServedHub) -> None:
    state, url, verifier = begin(served)

    status, told = finish(served, state, code_of(url), verifier, iss="https://evil.example")

    assert (401, True) == (status, "another provider" in told["message"])


@pytest.mark.parametrize(
    "redirect",
    [
        "https://evil.example/callback",
        "http://127.0.0.1.evil.example:80/callback",
        "http://127.0.0.1:80@evil.example/callback",
        "http://localhost:4711/callback",
        "http://127.0.0.1:4711/callback?x=1",
        "http://127.0.0.1:4711/callback\r\nX: 1",
        "//127.0.0.1:1/callback",
        "",
    ],
)
def test_a_code_is_sent_to_no_other_machine(served: ServedHub, redirect: str) -> None:
    told = {"redirect_uri": redirect, "challenge": "x" * 43}

    status, _body, _to = ask(f"{served.url}/api/v1/login/begin", told)

    assert 400 == status


def test_a_login_that_takes_too_long_is_over(served: ServedHub) -> None:
    state, url, verifier = begin(served)
    served.forge("UPDATE logins SET expires_at = 1")

    assert 401 == finish(served, state, code_of(url), verifier)[0]


def test_a_database_that_is_stolen_in_the_middle_of_a_login_opens_nothing(
    served: ServedHub,
) -> None:
    state, _url, verifier = begin(served)

    with served.hub.database.read() as connection:
        row = dict(connection.rows("SELECT * FROM logins")[0])

    assert state not in row.values()
    assert verifier not in row.values()


def test_the_hubs_secret_goes_to_the_provider_alone(
    served: ServedHub, provider: FakeProvider
) -> None:
    _status, told = log_in(served)
    _state, url, _verifier = begin(served)

    assert CLIENT_SECRET not in json.dumps(told) + url
    assert b"secret" not in ask(f"{served.url}/api/v1/hub")[1]
    token = next(form for path, form in provider.asked if path == "/token")
    assert "client_secret" not in token


def test_a_hub_that_sends_people_to_a_page_without_encryption_is_not_believed(
    served: ServedHub, provider: FakeProvider, tmp_path: Path
) -> None:
    shop = Shop(tmp_path / "machine")
    steps: list[LoginStep] = []
    provider.answer = lambda *_asked: (  # type: ignore[method-assign]
        200,
        {
            "issuer": provider.issuer,
            "authorization_endpoint": f"{provider.issuer}/authorize",
            "token_endpoint": f"{provider.issuer}/token",
            "jwks_uri": f"{provider.issuer}/keys",
            "device_authorization_endpoint": f"{provider.issuer}/device",
            "device_code": "x",
            "user_code": "y",
            "verification_uri": "http://evil.example/activate",
        },
        "",
    )

    with shop.open() as m, pytest.raises(MetierError, match="without encryption"):
        m.login(served.url, show=steps.append)

    assert [] == steps


# --- with a browser, for the pages


def browser(jar: http.cookiejar.CookieJar | None = None) -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar), NoRedirection)


def come_back(served: ServedHub, one: urllib.request.OpenerDirector, next_page: str = "/") -> Any:
    """Log in with a browser; give where it is sent, and the page that it ends on."""
    from urllib.parse import quote

    _status, _body, away = ask(
        f"{served.url}/login/oidc?next={quote(next_page, safe='')}", opener=one
    )
    back = ask(away, opener=one)[2]
    return back, ask(back, opener=one)


def test_a_browser_comes_back_logged_in_and_goes_on_to_its_page(served: ServedHub) -> None:
    jar = http.cookiejar.CookieJar()

    _back, (status, page, _to) = come_back(served, browser(jar), "/skills/team?q=a%20b")
    home = ask(f"{served.url}/", opener=browser(jar))[1]

    port = urlsplit(served.url).port
    assert 200 == status
    assert b'content="0; url=/skills/team?q=a%20b"' in page
    assert [f"metier-hub-{port}"] == [cookie.name for cookie in jar]
    assert b">ann<" in home.replace(b" ", b"").replace(b"\n", b"")
    with served.hub.database.read() as connection:
        visits = connection.rows("SELECT person_id FROM visits")
    assert [1] == [row["person_id"] for row in visits]


@pytest.mark.parametrize(
    "place",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "javascript:alert(1)",
        '/"><script>alert(1)</script>',
        "/\r\nSet-Cookie: a=b",
        "/ x",
        "",
    ],
)
def test_a_login_leads_to_no_other_site_and_into_no_script(served: ServedHub, place: str) -> None:
    _back, (status, page, _to) = come_back(served, browser(), place)

    links = re.findall(rb'(?:href="|url=)([^"]*)', page)
    assert 200 == status
    assert {b"/"} == set(links)


def test_nobody_is_logged_in_as_whoever_sent_them_a_link(served: ServedHub) -> None:
    attacker, victim = browser(), browser()
    _status, _body, away = ask(f"{served.url}/login/oidc", opener=attacker)
    back = ask(away, opener=attacker)[2]
    ask(f"{served.url}/login/oidc", opener=victim)

    status, _page, _to = ask(back, opener=victim)

    with served.hub.database.read() as connection:
        visits = connection.rows("SELECT hash FROM visits")
    assert (401, []) == (status, list(visits))


def test_a_browsers_answer_is_good_once_and_a_refusal_is_said_without_markup(
    served: ServedHub,
) -> None:
    one = browser()
    back, (first, _page, _to) = come_back(served, one)

    again = ask(back, opener=one)
    refused = ask(f"{served.url}/login/oidc/callback?error=<script>&state=<b>", opener=one)

    assert (200, 401, 401) == (first, again[0], refused[0])
    assert b"<script>" not in refused[1]
    assert b"<b>" not in refused[1]
