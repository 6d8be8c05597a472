"""Reads docker's configuration: which registry has which login, or which helper knows it. Pure."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import ConfigError
from metier.store.record_fields import load_strict

if TYPE_CHECKING:
    from typing import Any

_HELPER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
_HUB_KEY = "https://index.docker.io/v1/"
_TOKEN_USER = "<token>"  # noqa: S105 - what docker writes in the place of a name
MAX_SECRET_CHARS = 16_384


class RegistryLogin(NamedTuple):
    """A name and a password, or a token that is exchanged for another. Never shown, never kept."""

    user: str = ""
    password: str = ""
    token: str = ""

    def __repr__(self) -> str:
        """Say nothing of what it holds."""
        return "RegistryLogin(…)"

    @property
    def basic(self) -> str:
        """The header of basic authentication."""
        pair = f"{self.user}:{self.password}".encode()
        return "Basic " + base64.b64encode(pair).decode("ascii")


class LoginHelper(NamedTuple):
    """A program that knows the login of a registry, and how that registry is called there."""

    name: str
    server: str


def find_login(data: bytes, host: str, path: str) -> RegistryLogin | LoginHelper | None:
    """Find the login of a registry in docker's configuration; nothing when it has none."""
    try:
        found = load_strict(data)
    except (ValueError, RecursionError) as error:
        raise _odd(path, "it is not JSON") from error
    if not isinstance(found, dict):
        raise _odd(path, "it is not a JSON object")
    server = _HUB_KEY if host == "docker.io" else host
    helpers = found.get("credHelpers") or {}
    if not isinstance(helpers, dict):
        raise _odd(path, "'credHelpers' is not an object")
    helper = helpers.get(host) or helpers.get(server) or found.get("credsStore")
    kept = _kept(found.get("auths"), host, server, path)
    if helper and (helper != found.get("credsStore") or kept in {None, RegistryLogin()}):
        if not isinstance(helper, str) or not _HELPER.match(helper):
            raise _odd(path, "the name of a credential helper is odd")
        return LoginHelper(helper, server)
    return kept or None if kept != RegistryLogin() else None


def _kept(auths: Any, host: str, server: str, path: str) -> RegistryLogin | None:
    if auths is None:
        return None
    if not isinstance(auths, dict):
        raise _odd(path, "'auths' is not an object")
    names = (server, host, f"https://{host}", f"https://{host}/v1/", f"https://{host}/v2/")
    row = next((auths[name] for name in names if name in auths), None)
    if row is None:
        return None
    if not isinstance(row, dict):
        raise _odd(path, f"the login of {host} is not an object")
    token = row.get("identitytoken")
    if isinstance(token, str) and token:
        return check_login(RegistryLogin(token=token), path)
    user, password = row.get("username"), row.get("password")
    packed = row.get("auth")
    if isinstance(packed, str) and packed:
        try:
            text = base64.b64decode(packed, validate=True).decode()
        except (binascii.Error, ValueError) as error:
            raise _odd(path, f"the login of {host} is not base64") from error
        user, _, password = text.rstrip("\0").partition(":")
    if isinstance(user, str) and isinstance(password, str):
        return check_login(RegistryLogin(user, password), path)
    return RegistryLogin()


def read_helper(data: bytes, name: str) -> RegistryLogin:
    """Read what a helper says."""
    where = f"docker-credential-{name}"
    try:
        found = load_strict(data)
    except (ValueError, RecursionError) as error:
        raise _odd(where, "it does not answer with JSON") from error
    user, secret = (
        (found.get("Username"), found.get("Secret")) if isinstance(found, dict) else (None, None)
    )
    if not isinstance(user, str) or not isinstance(secret, str):
        raise _odd(where, "it gives no name and secret")
    login = RegistryLogin(token=secret) if user == _TOKEN_USER else RegistryLogin(user, secret)
    return check_login(login, where)


def check_login(login: RegistryLogin, where: str) -> RegistryLogin:
    """Refuse a login that no header could hold; it is not repeated."""
    if any(len(text) > MAX_SECRET_CHARS or not text.isprintable() for text in login):
        raise _odd(where, "a login in it has characters that no login has")
    return login


def _odd(where: str, why: str) -> ConfigError:
    return ConfigError(
        f"cannot read a login from {where}: {why}",
        hint="log in again: docker login, or oras login",
        code="docker-config",
    )
