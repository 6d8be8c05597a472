"""Logging in to a hub through its provider: with a short code where the provider knows those, else with a
browser on this machine. Only the hub is asked; the browser goes where the hub sends it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.errors import NotFoundError, RefusedError, SourceError
from metier.supply.io import login_listener
from metier.supply.sources.addresses import parse_url
from metier.supply.sources.oci_names import is_this_machine

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.supply.io.hub_client import HubClient

    ShowLogin = Callable[["LoginStep"], None]

LOGIN_SECONDS = 600
MAX_PAUSE_SECONDS = 60
SLOWER_SECONDS = 5
"""How much longer to wait once one has asked too often."""


class LoginStep(NamedTuple):
    """What somebody has to do to log in."""

    url: str
    code: str = ""
    """What to type there; nothing where the browser is on this machine."""


def token_from_provider(client: HubClient, show: ShowLogin) -> str:
    """Have somebody log in, and give the hub's token for them."""
    try:
        told = client.send_json("POST", "/login/device", {})
    except NotFoundError as error:
        if error.code != "hub-no-device":
            raise
        return _with_browser(client, show)
    return _with_code(client, told, show)


def _with_code(client: HubClient, told: dict[str, object], show: ShowLogin) -> str:
    code = _text(told, "device_code")
    show(LoginStep(_checked_url(_text(told, "url")), _text(told, "user_code")))
    pause = _seconds(told, "interval", 5)
    left = float(_seconds(told, "seconds", LOGIN_SECONDS))
    while left > 0:
        left -= login_listener.sleep(pause)
        answer = client.send_json("POST", "/login/device/finish", {"device_code": code})
        pending = answer.get("pending")
        if pending is None:
            return _token_in(answer)
        if pending == "slow_down":
            pause = min(pause + SLOWER_SECONDS, MAX_PAUSE_SECONDS)
    raise RefusedError(
        "nobody typed the code in time", code="hub-login", hint="begin anew: metier login URL"
    )


def _with_browser(client: HubClient, show: ShowLogin) -> str:
    secret = login_listener.make_secret()
    with login_listener.LoginListener(LOGIN_SECONDS) as listener:
        told = client.send_json(
            "POST",
            "/login/begin",
            {"redirect_uri": listener.url, "challenge": secret.challenge},
        )
        state = _text(told, "state")
        show(LoginStep(_checked_url(_text(told, "url"))))
        came = listener.wait(state)
    answer = client.send_json(
        "POST",
        "/login/finish",
        {"state": state, "code": came.code, "verifier": secret.verifier, "iss": came.issuer},
    )
    return _token_in(answer)


def _token_in(answer: dict[str, object]) -> str:
    token = _text(answer, "token")
    if any(not "!" <= letter <= "~" for letter in token):
        raise _odd("its token is none")
    return token


def _checked_url(url: str) -> str:
    """Refuse to send somebody to a page that is not encrypted, or that is no page."""
    at = parse_url(url)
    if at.scheme != "https" and not is_this_machine(at.host):
        raise _odd("it sends you to a page without encryption")
    if any(not "!" <= letter <= "~" for letter in url):
        raise _odd("it sends you to no address")
    return url


def _text(told: dict[str, object], name: str) -> str:
    found = told.get(name)
    if not isinstance(found, str) or not 0 < len(found) <= 8192:
        raise _odd(f"there is no {name} in its answer")
    return found


def _seconds(told: dict[str, object], name: str, default: int) -> int:
    found = told.get(name)
    good = isinstance(found, int) and not isinstance(found, bool) and 0 < found <= 3600
    return int(str(found)) if good else default


def _odd(why: str) -> SourceError:
    return SourceError(
        f"the hub's login cannot be used: {why}", code="malformed", hint="ask the hub's admins"
    )
