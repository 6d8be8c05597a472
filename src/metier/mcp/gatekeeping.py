"""Who may speak to the server over HTTP: judged from the head of a request alone, before a byte of its body is read.

A page in a browser reaches a server on the same machine too, by its own name for 127.0.0.1 (DNS rebinding). So the Host must be
one that was bound, an Origin may only be the server's own, and every request carries the token whatever else is right about it.
"""

from __future__ import annotations

import hmac
import ipaddress
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PATH = "/mcp"
METHODS = ("GET", "POST", "DELETE")
SESSION = "mcp-session-id"
"""The header that names a session."""
MOST_BYTES = 1 << 20
"""The largest body: a call of a tool is a few hundred bytes."""
LEAST_TOKEN, MOST_TOKEN = 16, 1024
_TOKEN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/=")
_PORT = 80
"""What a Host without a port means."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_ALL = ("0.0.0.0", "::")  # noqa: S104 - named to be recognised
_ONCE = ("host", "origin", "authorization", "content-length", "content-type")
"""Headers of which a second one could be read by somebody else than the one that was checked."""


class Gate(NamedTuple):
    """What the server is bound to, and what it asks for."""

    hosts: tuple[str, ...]
    """Names and addresses by which it may be called, without a port."""
    port: int
    token: str
    addresses: bool = False
    """Whether it may be called by any address: no rebinding goes by one. For a server that is bound to all."""
    names: tuple[str, ...] = ()
    """Further names, which the user gave: a proxy is called by them, at a port and with a scheme of its own."""

    def __repr__(self) -> str:
        """Leave the token out: it must not get into a traceback."""
        return f"Gate({self.hosts!r}, {self.port!r}, addresses={self.addresses!r}, names={self.names!r})"


class Asked(NamedTuple):
    """The head of a request; the names of its headers are in lower case."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]


class Refusal(NamedTuple):
    """Why a request is not answered: a problem as RFC 9457 writes it, and what goes beside it."""

    status: int
    code: str
    detail: str
    headers: tuple[tuple[str, str], ...] = ()


def refusal(asked: Asked, gate: Gate) -> Refusal | None:
    """Give the reason why a request is refused, or nothing. No text of the request is repeated."""
    twice = next((name for name in _ONCE if sum(header == name for header, _value in asked.headers) > 1), "")
    if twice:
        return Refusal(400, "bad-request", f"there is more than one header {twice}")
    said = dict(asked.headers)
    if not _is_called(said.get("host", ""), gate):
        return Refusal(421, "wrong-host", "the Host of the request is none that this server is bound to")
    if "origin" in said and not _is_own(said["origin"], gate):
        return Refusal(403, "wrong-origin", "pages of other origins may not speak to this server")
    if not _is_known(said.get("authorization", ""), gate.token):
        return Refusal(401, "no-token", "a bearer token is needed", (("www-authenticate", 'Bearer realm="metier"'),))
    if asked.path != PATH:
        return Refusal(404, "not-found", f"there is nothing but {PATH}")
    if asked.method not in METHODS:
        return Refusal(405, "method", f"only {', '.join(METHODS)} will do", (("allow", ", ".join(METHODS)),))
    return _of_the_body(asked.method, said)


def _of_the_body(method: str, said: dict[str, str]) -> Refusal | None:
    length = said.get("content-length", "0")
    if not (length.isascii() and length.isdigit()) or len(length) > 18:
        return Refusal(400, "bad-request", "the Content-Length is no number")
    if int(length) > MOST_BYTES:
        return Refusal(413, "too-large", f"a request has at most {MOST_BYTES:,} bytes")
    kind = said.get("content-type", "").partition(";")[0].strip().lower()
    if method == "POST" and kind != "application/json":
        return Refusal(415, "media-type", "a message is application/json")
    return None


def _is_called(host: str, gate: Gate) -> bool:
    name, port = _parts(host)
    if name and name in gate.names:
        return True
    if not name or gate.port != (_PORT if port is None else port):
        return False
    return name in gate.hosts or (gate.addresses and _address(name) is not None)


def _is_own(origin: str, gate: Gate) -> bool:
    """Tell whether an origin is this server's own, port and all; `null` is nobody's."""
    scheme, sign, rest = origin.partition("://")
    schemes = ("http", "https") if _parts(rest)[0] in gate.names else ("http",)
    return bool(sign) and scheme.lower() in schemes and "/" not in rest and "@" not in rest and _is_called(rest, gate)


def _is_known(authorization: str, token: str) -> bool:
    """Compare in a time that tells nothing about how much of it was right."""
    scheme, _space, given = authorization.partition(" ")
    right = hmac.compare_digest(given.strip(" ").encode("utf-8", "surrogatepass"), token.encode())
    return right and bool(token) and scheme.lower() == "bearer"


def _parts(host: str) -> tuple[str, int | None]:
    """Take a Host apart; one that is none gives no name."""
    if host.startswith("["):
        name, closed, rest = host[1:].partition("]")
        sign, port = rest[:1], rest[1:]
        if not closed or (rest and sign != ":") or _address(name) is None:
            return "", None
    else:
        name, sign, port = host.partition(":")
    if not sign:
        return _canonical(name), None
    if not (port.isascii() and port.isdigit()) or len(port) > 5:
        return "", None
    return _canonical(name), int(port)


def _canonical(name: str) -> str:
    address = _address(name)
    return str(address) if address is not None else name.lower().removesuffix(".")


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


# --- where to listen


def place_of(text: str) -> tuple[str, int]:
    """Read `HOST:PORT`, `[::1]:PORT` or a port alone, which means this machine; the text is not repeated, it may hold a secret."""
    written = f"127.0.0.1:{text.removeprefix(':')}" if text.removeprefix(":").isdigit() else text
    name, port = _parts(written)
    plain = _address(name) is not None or name.replace("-", "").replace(".", "").isalnum()
    if not plain or port is None or port > 65_535:
        raise UsageError("--http needs HOST:PORT", hint="for example --http 127.0.0.1:7331; port 0 takes a free one")
    return name, port


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach what listens there."""
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def gate_of(host: str, port: int, token: str, names: Iterable[str] = ()) -> Gate:
    """Give the gate of a server that is bound there; `names` are further ones by which it is called."""
    own: Sequence[str] = (*_LOOPBACK, host) if is_loopback(host) else _LOOPBACK if host in _ALL else (host,)
    return Gate(tuple(dict.fromkeys(map(_canonical, own))), port, token, host in _ALL, tuple(dict.fromkeys(map(_canonical, names))))


def url_of(host: str, port: int) -> str:
    """Give the address that a client is told."""
    shown = "127.0.0.1" if host == "0.0.0.0" else "::1" if host == "::" else host  # noqa: S104 - the one is read, not bound
    return f"http://[{shown}]:{port}{PATH}" if ":" in shown else f"http://{shown}:{port}{PATH}"


def fault_of_token(token: str) -> str:
    """Say what is wrong with a token, without repeating it; nothing when it will do."""
    if not LEAST_TOKEN <= len(token) <= MOST_TOKEN:
        return f"a token has {LEAST_TOKEN} to {MOST_TOKEN:,} characters"
    return "" if _TOKEN.issuperset(token) else "a token has letters, digits and -._~+/= alone"
