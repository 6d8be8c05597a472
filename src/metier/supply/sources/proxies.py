"""Which proxy the environment names for an address, read as curl reads it. Pure.

`HTTPS_PROXY` serves https and `HTTP_PROXY` http, in either case, `ALL_PROXY` both; `NO_PROXY` lists
hosts that are asked directly. `HTTP_PROXY` is ignored where `REQUEST_METHOD` is set: there, a
stranger's header could have written it.
"""

from __future__ import annotations

import base64
import ipaddress
import re
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import ConfigError, RefusedError
from metier.supply.safe_names import printable
from metier.supply.sources.addresses import is_public

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metier.supply.sources.addresses import Url

_LOCAL_ENDINGS = (".localhost", ".local", ".internal", ".localdomain", ".home.arpa")
_USUAL_PORT = 1080
"""What curl takes where a proxy names no port."""
_MAX_PROXY_CHARS = 4_096


class Proxy(NamedTuple):
    """Whom to ask in the place of a host. Its name and password are never printed."""

    host: str
    port: int
    authorization: str = ""
    """The value of Proxy-Authorization; nothing where no name was given."""

    def __repr__(self) -> str:
        """Leave the password out."""
        return f"Proxy({self.host}:{self.port})"

    @property
    def header(self) -> str:
        """The line that lets metier in, where one is needed."""
        return f"Proxy-Authorization: {self.authorization}\r\n" if self.authorization else ""


def proxy_for(url: Url, env: Mapping[str, str]) -> Proxy | None:
    """Give the proxy for an address; nothing where it is asked directly."""
    return named_proxy(url.scheme, url.host, url.port, env)


def safe_proxies(scheme: str, env: Mapping[str, str]) -> Mapping[str, str]:
    """Give the environment for whom a login may go to: what is not encrypted stays on its own way,
    for a proxy would read it.
    """
    return env if scheme == "https" else {}


def named_proxy(scheme: str, host: str, port: int, env: Mapping[str, str]) -> Proxy | None:
    """Give the proxy for a host that is reached over http or https."""
    variable, said = _said(scheme, env)
    if not said or _is_direct(host, port, env.get("no_proxy") or env.get("NO_PROXY") or ""):
        return None
    return _read(variable, said)


def has_proxy(scheme: str, host: str, port: int, env: Mapping[str, str]) -> bool:
    """Tell whether a proxy of any kind, one for others' programs too, serves a host."""
    direct = env.get("no_proxy") or env.get("NO_PROXY") or ""
    return bool(_said(scheme, env)[1]) and not _is_direct(host, port, direct)


def _said(scheme: str, env: Mapping[str, str]) -> tuple[str, str]:
    names = [f"{scheme}_proxy", f"{scheme.upper()}_PROXY"]
    if scheme == "http" and "REQUEST_METHOD" in env:
        names.pop()
    for name in (*names, "all_proxy", "ALL_PROXY"):
        if name in env:
            return name, env[name].strip()  # an empty one says: none
    return "", ""


def _is_direct(host: str, port: int, listed: str) -> bool:
    """Tell whether `NO_PROXY` names a host: whole, by its domain, by its network, or all by `*`."""
    host = host.lower().rstrip(".")
    return any(_is_named(host, port, word) for word in listed.lower().replace(",", " ").split())


def _is_named(host: str, port: int, word: str) -> bool:
    if word == "*":
        return True
    name, _colon, number = word.rpartition(":")
    if number.isascii() and number.isdecimal() and name and (":" not in name or name[0] == "["):
        if int(number[:6]) != port:
            return False
        word = name
    word = word.strip("[]")
    if "/" in word:
        return _is_in_network(host, word)
    word = word.removeprefix("*").strip(".")
    return bool(word) and (host == word or (host.endswith(f".{word}") and not _is_address(host)))


def _is_in_network(host: str, network: str) -> bool:
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _read(variable: str, said: str) -> Proxy:
    """Take a proxy's address apart; what is wrong with it is told without it, for it may hold a
    password.
    """
    scheme, found, rest = said.partition("://")
    if not found:
        scheme, rest = "http", said
    if scheme.lower() != "http":
        raise ConfigError(
            f"{variable} names a kind of proxy that metier can't use",
            hint="an http:// proxy works for https addresses too",
        )
    user, at, place = rest.split("/", 1)[0].rpartition("@")
    host, colon, number = place.rpartition(":")
    if not colon or place.endswith("]"):
        host, number = place, str(_USUAL_PORT)
    host = host.strip("[]")
    sound = number.isascii() and number.isdecimal() and 0 < int(number[:6]) < 65_536
    plain = host.isascii() and host.isprintable() and " " not in host
    if not host or not sound or not plain or len(said) > _MAX_PROXY_CHARS:
        raise ConfigError(
            f"{variable} is not the address of a proxy", hint="write http://host:port"
        )
    word = base64.b64encode(_unescaped(user)).decode() if at else ""
    return Proxy(host, int(number), f"Basic {word}" if word else "")


_ESCAPED = re.compile(rb"%([0-9A-Fa-f]{2})")


def _unescaped(user: str) -> bytes:
    """Give a name and a password as they are meant, `%40` as `@`."""
    said = user.encode("utf-8", "replace")
    return _ESCAPED.sub(lambda found: bytes.fromhex(found[1].decode()), said)


def check_unresolved(host: str, place: str, private: frozenset[str]) -> None:
    """Refuse an address that is written out and private, and names that stand for one. That is all
    that can be told where a proxy looks names up.
    """
    if place in private:
        return
    name = host.lower().rstrip(".")
    local = name == "localhost" or name.endswith(_LOCAL_ENDINGS) or _is_number(name)
    if local or (_is_address(name) and not is_public(name)):
        raise RefusedError(
            f"{printable(host)} is a private address, or stands for one",
            hint="supply.private_hosts lists hosts that may be reached all the same",
            code="private-address",
        )


def _is_number(name: str) -> bool:
    """Tell whether a system might read a name as an IPv4 address in one of its older spellings."""
    last = name.rpartition(".")[2]
    return not _is_address(name) and (last.isdecimal() or last.startswith("0x"))
