"""Logging in through an OpenID Connect provider: the hub sends people there, takes the code that comes
back, once, and gives them a token of the hub that ends after some hours.

A client never sees the provider's own tokens: the hub fetches them itself, over https, and keeps none.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

from metier.errors import RefusedError, UsageError
from metier.hub import audit_log
from metier.hub.accounts import (
    TOKEN_BYTES,
    TOKEN_MARK,
    NewToken,
    caller_of_person,
    hash_of_token,
    remember_person,
)
from metier.hub.id_token import UnknownSignatureError, WantedToken, check_id_token, refused

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from metier.hub.hub import Hub
    from metier.hub.io.provider import OidcProvider
    from metier.hub.model import Caller, Row

LOGIN_SECONDS = 600
"""How long somebody may take at the provider."""
MAX_OPEN_LOGINS = 10_000
SCOPES = "openid profile email"
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
LOOPBACK = re.compile(r"http://(?:127\.0\.0\.1|\[::1\]):[1-9][0-9]{0,4}/callback\Z")
"""Where a program that listens on the person's own machine is told the code."""
VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}\Z")
CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}\Z")
MAX_CODE_CHARS = 4096
MAX_SLOWER_SECONDS = 60


class BegunLogin(NamedTuple):
    """A login that waits for somebody at the provider."""

    state: str
    url: str
    """Where they log in."""


class DeviceLogin(NamedTuple):
    """A login on another device, with a short code."""

    device_code: str
    user_code: str
    url: str
    """Where they type the code."""
    interval: int
    """Seconds between two questions whether they have."""
    seconds: int
    """How long the code is good for."""


class PersonLogin(NamedTuple):
    """Somebody who has logged in."""

    person: Row
    back: str
    """Where in the hub's pages they wanted to go."""


def need_provider(hub: Hub) -> OidcProvider:
    """Give the provider of a hub; refuse where it has none."""
    if hub.provider is None:
        raise RefusedError(
            "this hub has no login provider", code="hub-no-oidc", hint="log in with a token"
        )
    return hub.provider


# --- with a browser that comes back


def begin_login(
    hub: Hub,
    redirect: str,
    challenge: str,
    *,
    verifier: str = "",
    browser: str = "",
    back: str = "",
) -> BegunLogin:
    """Send somebody to the provider. Of the state only a hash is kept, and it is good once."""
    provider = need_provider(hub)
    if not CHALLENGE.match(challenge):
        raise UsageError("the challenge is no sha256", hint="send base64url of 32 bytes")
    where = provider.facts().authorization
    state, nonce = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    now = hub.now()
    with hub.database.write() as connection:
        connection.run("DELETE FROM logins WHERE expires_at < ?", now)
        count = connection.row("SELECT count(*) AS count FROM logins")
        if count and count["count"] >= MAX_OPEN_LOGINS:
            raise RefusedError(
                "too many logins are under way", code="hub-busy", hint="try again in some minutes"
            )
        connection.run(
            "INSERT INTO logins (state, nonce, verifier, redirect, browser, back, expires_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            hash_of_token(state),
            nonce,
            verifier,
            redirect,
            hash_of_token(browser) if browser else "",
            back,
            now + LOGIN_SECONDS,
        )
    asked = {
        "response_type": "code",
        "client_id": provider.client_id,
        "redirect_uri": redirect,
        "scope": hub.options.oidc_scopes or SCOPES,
        "state": state,
        "nonce": nonce,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    return BegunLogin(state, f"{where}{'&' if '?' in where else '?'}{urlencode(asked)}")


def check_loopback(redirect: str) -> str:
    """Give where a program listens on its own machine; nowhere else is a code sent for it."""
    if not LOOPBACK.match(redirect):
        raise UsageError(
            "a code goes to this machine only", hint="listen on http://127.0.0.1:PORT/callback"
        )
    return redirect


def challenge_of(verifier: str) -> str:
    """Give what is shown of a secret that is told later (PKCE)."""
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest).decode("ascii").rstrip("=")


def finish_login(
    hub: Hub, state: str, code: str, *, verifier: str = "", browser: str = "", issuer: str = ""
) -> PersonLogin:
    """Take the code that came back, and give who it is for. A state is used up by that."""
    provider = need_provider(hub)
    row = _used_up(hub, state)
    if row is None or not hmac.compare_digest(
        row["browser"], hash_of_token(browser) if browser else ""
    ):
        raise refused("this login was not begun here, is over, or took too long")
    if issuer and issuer != provider.issuer:
        raise refused("it comes from another provider")
    secret = row["verifier"] or verifier
    if not VERIFIER.match(secret) or not 0 < len(code) <= MAX_CODE_CHARS:
        raise refused("the code or its verifier is missing")
    answer = provider.send(
        provider.facts().token,
        {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": row["redirect"],
            "code_verifier": secret,
        },
    )
    if answer.status != 200:
        raise refused("it does not take the code")
    return PersonLogin(_person_of(hub, provider, answer.told, row["nonce"]), row["back"])


def _used_up(hub: Hub, state: str) -> Row | None:
    """Give what was noted when a login began, and forget it."""
    with hub.database.write() as connection:
        return connection.row(
            "DELETE FROM logins WHERE state = ? AND expires_at >= ? RETURNING *",
            hash_of_token(state),
            hub.now(),
        )


# --- with a short code on another device


def begin_device(hub: Hub) -> DeviceLogin:
    """Ask the provider for a short code. The hub keeps nothing of it."""
    provider = need_provider(hub)
    where = provider.facts().device
    if not where:
        raise RefusedError(
            "the provider knows no device codes", code="hub-no-device", hint="use a browser"
        )
    told = provider.send(where, {"scope": hub.options.oidc_scopes or SCOPES}).told
    texts = [told.get(name) for name in ("device_code", "user_code", "verification_uri")]
    if not all(isinstance(one, str) and 0 < len(one) <= MAX_CODE_CHARS for one in texts):
        raise refused("it gives no device code")
    device_code, user_code, url = map(str, texts)
    whole = told.get("verification_uri_complete")
    return DeviceLogin(
        device_code=device_code,
        user_code=user_code,
        url=whole if isinstance(whole, str) else url,
        interval=_seconds(told.get("interval"), 5, MAX_SLOWER_SECONDS),
        seconds=_seconds(told.get("expires_in"), LOGIN_SECONDS, 3600),
    )


def finish_device(hub: Hub, device_code: str) -> PersonLogin | str:
    """Give who typed the code; or, as long as nobody has, whether to wait or to ask more slowly."""
    provider = need_provider(hub)
    if not 0 < len(device_code) <= MAX_CODE_CHARS:
        raise UsageError("the device code is missing", hint="begin anew: metier login URL")
    answer = provider.send(
        provider.facts().token, {"grant_type": DEVICE_GRANT, "device_code": device_code}
    )
    said = answer.told.get("error")
    if answer.status != 200:
        if said in {"authorization_pending", "slow_down"}:
            return str(said)
        raise refused("nobody has typed the code in time, or they said no")
    return PersonLogin(_person_of(hub, provider, answer.told, ""), "")


def _seconds(told: object, default: int, most: int) -> int:
    good = isinstance(told, int) and not isinstance(told, bool) and told > 0
    return min(int(str(told)), most) if good else default


# --- who it is


def _person_of(hub: Hub, provider: OidcProvider, told: Mapping[str, Any], nonce: str) -> Row:
    """Verify an ID token, and note who logged in with the groups that they are in now."""
    text = told.get("id_token")
    if not isinstance(text, str):
        raise refused("it holds no ID token")
    wanted = WantedToken(
        issuer=provider.issuer,
        client_id=provider.client_id,
        now=hub.now(),
        nonce=nonce,
        groups_claim=hub.options.oidc_groups or "groups",
    )
    try:
        found = check_id_token(text, provider.keys(), wanted)
    except UnknownSignatureError:
        try:  # the provider may have changed its keys
            found = check_id_token(text, provider.keys(again=True), wanted)
        except UnknownSignatureError:
            raise refused("it is not signed with the provider's key") from None
    return remember_person(hub, provider.issuer, found.subject, found.name, found.groups)


def token_of_person(hub: Hub, person: Row) -> NewToken:
    """Make a token for somebody who has logged in. It has the roles that they have at any time."""
    token = TOKEN_MARK + secrets.token_urlsafe(TOKEN_BYTES)
    now = hub.now()
    ends = now + hub.options.login_hours * 3600
    with hub.database.write() as connection:
        caller = caller_of_person(connection, person)
        row = connection.row(
            "INSERT INTO tokens (name, hash, role, person_id, created_by, created_at, expires_at) "
            "VALUES (?, ?, '', ?, ?, ?, ?) RETURNING id",
            caller.name,
            hash_of_token(token),
            person["id"],
            caller.ident,
            now,
            ends,
        )
        assert row is not None
        audit_log.record(connection, now, caller, "login", f"token:{row['id']}", name=caller.name)
    return NewToken(
        id=int(row["id"]), name=caller.name, role="", namespace="", token=token, expires_at=ends
    )


def log_out(hub: Hub, caller: Caller, token: str) -> None:
    """Let the token that somebody logged in with open nothing any more."""
    with hub.database.write() as connection:
        done = connection.run(
            "UPDATE tokens SET revoked_at = ? WHERE hash = ? AND person_id IS NOT NULL "
            "AND revoked_at IS NULL",
            hub.now(),
            hash_of_token(token),
        )
        if done:
            audit_log.record(connection, hub.now(), caller, "logout", caller.ident)
