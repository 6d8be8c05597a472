"""Decides who may speak to the HTTP server, and keeps the token that every request must carry.

A request is judged from its head alone, before a byte of its body is read.

A page in a browser reaches a server on the same machine too, by its own name for 127.0.0.1 (DNS
rebinding). So the Host must be one that was bound, an Origin may only be the server's own, and
every request carries the token whatever else is right about it.

The token is made once, kept where only its owner can read it, and never printed. A file that others
can read is refused, not mended: whoever made it so may have read it already.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
import secrets
import stat
import sys
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import RefusedError, StoreError, UsageError
from metier.store.io import safe_files

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.model import Texts


HTTP_PATH = "/mcp"
HTTP_METHODS = ("GET", "POST", "DELETE")
SESSION_HEADER = "mcp-session-id"
"""The header that names a session."""
MAX_REQUEST_BYTES = 1 << 20
"""The largest body: a call of a tool is a few hundred bytes."""
MIN_TOKEN_CHARACTERS = 16
MAX_TOKEN_CHARACTERS = 1024
_TOKEN_CHARACTERS = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/="
)
_DEFAULT_PORT = 80
"""What a Host without a port means."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_ALL_ADDRESSES = ("0.0.0.0", "::")  # noqa: S104 - named to be recognised
_SINGLE_HEADERS = ("host", "origin", "authorization", "content-length", "content-type")
"""Headers of which a second one could be read by somebody else than the one that was checked."""


class Gate(NamedTuple):
    """What the server is bound to, and what it asks for."""

    hosts: Texts
    """Names and addresses by which it may be called, without a port."""
    port: int
    token: str
    addresses: bool = False
    """Whether it may be called by any address: no rebinding goes by one. For a server that is bound
    to all."""
    names: Texts = ()
    """Further names, which the user gave: a proxy is called by them, at a port and with a scheme of
    its own."""

    def __repr__(self) -> str:
        """Leave the token out: it must not get into a traceback."""
        return (
            f"Gate({self.hosts!r}, {self.port!r}, addresses={self.addresses!r}, "
            f"names={self.names!r})"
        )


class RequestHead(NamedTuple):
    """The head of a request; the names of its headers are in lower case."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]


class HttpRefusal(NamedTuple):
    """Why a request is not answered: a problem as RFC 9457 writes it, and what goes beside it."""

    status: int
    code: str
    detail: str
    headers: tuple[tuple[str, str], ...] = ()


def request_refusal(asked: RequestHead, gate: Gate) -> HttpRefusal | None:
    """Give the reason why a request is refused, or nothing. No text of the request is repeated."""
    names = [name for name, _value in asked.headers]
    for name in _SINGLE_HEADERS:
        if names.count(name) > 1:
            return HttpRefusal(400, "bad-request", f"there is more than one header {name}")
    said = dict(asked.headers)
    if not _is_called(said.get("host", ""), gate):
        return HttpRefusal(
            421, "wrong-host", "the Host of the request is none that this server is bound to"
        )
    if "origin" in said and not _is_own(said["origin"], gate):
        return HttpRefusal(
            403, "wrong-origin", "pages of other origins may not speak to this server"
        )
    if not _is_token(said.get("authorization", ""), gate.token):
        return HttpRefusal(
            401,
            "no-token",
            "a bearer token is needed",
            (("www-authenticate", 'Bearer realm="metier"'),),
        )
    if asked.path != HTTP_PATH:
        return HttpRefusal(404, "not-found", f"there is nothing but {HTTP_PATH}")
    if asked.method not in HTTP_METHODS:
        return HttpRefusal(
            405,
            "method",
            f"only {', '.join(HTTP_METHODS)} will do",
            (("allow", ", ".join(HTTP_METHODS)),),
        )
    return _body_refusal(asked.method, said)


def _body_refusal(method: str, said: dict[str, str]) -> HttpRefusal | None:
    length = said.get("content-length", "0")
    if not (length.isascii() and length.isdigit()) or len(length) > 18:
        return HttpRefusal(400, "bad-request", "the Content-Length is no number")
    if int(length) > MAX_REQUEST_BYTES:
        return HttpRefusal(413, "too-large", f"a request has at most {MAX_REQUEST_BYTES:,} bytes")
    kind = said.get("content-type", "").partition(";")[0].strip().lower()
    if method == "POST" and kind != "application/json":
        return HttpRefusal(415, "media-type", "a message is application/json")
    return None


def _is_called(host: str, gate: Gate) -> bool:
    name, port = _host_parts(host)
    if name and name in gate.names:
        return True
    if not name or gate.port != (_DEFAULT_PORT if port is None else port):
        return False
    return name in gate.hosts or (gate.addresses and _address(name) is not None)


def _is_own(origin: str, gate: Gate) -> bool:
    """Tell whether an origin is this server's own, port and all; `null` is nobody's."""
    scheme, sign, rest = origin.partition("://")
    schemes = ("http", "https") if _host_parts(rest)[0] in gate.names else ("http",)
    return (
        bool(sign)
        and scheme.lower() in schemes
        and "/" not in rest
        and "@" not in rest
        and _is_called(rest, gate)
    )


def _is_token(authorization: str, token: str) -> bool:
    """Compare in a time that tells nothing about how much of it was right."""
    scheme, _space, given = authorization.partition(" ")
    right = hmac.compare_digest(given.strip(" ").encode("utf-8", "surrogatepass"), token.encode())
    return right and bool(token) and scheme.lower() == "bearer"


def _host_parts(host: str) -> tuple[str, int | None]:
    """Take a Host apart; one that is none gives no name."""
    if host.startswith("["):
        name, closed, rest = host[1:].partition("]")
        sign = rest[:1]
        port = rest[1:]
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


def parse_address(text: str, option: str = "--http") -> tuple[str, int]:
    """Read `HOST:PORT`, `[::1]:PORT` or a port alone, which means this machine; the text is not
    repeated, it may hold a secret.
    """
    written = f"127.0.0.1:{text.removeprefix(':')}" if text.removeprefix(":").isdigit() else text
    name, port = _host_parts(written)
    plain = _address(name) is not None or name.replace("-", "").replace(".", "").isalnum()
    if not plain or port is None or port > 65_535:
        raise UsageError(
            f"{option} needs HOST:PORT",
            hint=f"for example {option} 127.0.0.1:7331; port 0 picks a free one",
        )
    return name, port


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach what listens there."""
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def gate_of(host: str, port: int, token: str, names: Iterable[str] = ()) -> Gate:
    """Give the gate of a server that is bound there; `names` are further ones by which it is
    called.
    """
    everywhere = host in _ALL_ADDRESSES
    own = () if everywhere else (host,)
    if everywhere or is_loopback(host):
        own = (*_LOOPBACK, *own)
    return Gate(_canonical_names(own), port, token, everywhere, _canonical_names(names))


def _canonical_names(names: Iterable[str]) -> Texts:
    return tuple(dict.fromkeys(map(_canonical, names)))


def url_of(host: str, port: int) -> str:
    """Give the address that a client is told."""
    shown = "127.0.0.1" if host == "0.0.0.0" else "::1" if host == "::" else host  # noqa: S104 - the one is read, not bound
    place = f"[{shown}]" if ":" in shown else shown
    return f"http://{place}:{port}{HTTP_PATH}"


def token_fault(token: str) -> str:
    """Say what is wrong with a token, without repeating it; nothing when it will do."""
    if not MIN_TOKEN_CHARACTERS <= len(token) <= MAX_TOKEN_CHARACTERS:
        return f"a token has {MIN_TOKEN_CHARACTERS} to {MAX_TOKEN_CHARACTERS:,} characters"
    if _TOKEN_CHARACTERS.issuperset(token):
        return ""
    return "a token has letters, digits and -._~+/= alone"


TOKEN_FOLDER = "mcp"  # noqa: S105 - a name
TOKEN_NAME = "token"  # noqa: S105 - a name
_OTHERS_RIGHTS = 0o077
"""The rights that nobody but the owner may have."""


def token_file(data: str | None) -> str:
    """Give the place of the token that metier makes by itself."""
    if not data:
        raise StoreError(
            "there is no place to keep a token",
            hint="set METIER_HOME or HOME, or give --token-file FILE",
        )
    return f"{data}/{TOKEN_FOLDER}/{TOKEN_NAME}"


def own_token(data: str | None, home: str | None) -> str:
    """Give the token of this machine; it is made when it is first asked for."""
    path = token_file(data)
    folder = os.path.dirname(path)
    try:
        safe_files.make_folder(folder, home)
        with safe_files.hold_lock(f"{folder}/lock"):
            if not os.path.lexists(path):
                safe_files.replace_file(path, f"{secrets.token_urlsafe(32)}\n".encode())
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror or error}",
            hint="check METIER_HOME and its permissions",
        ) from None
    return read_token(path, follow=False)


def read_token(path: str, *, follow: bool = True) -> str:
    """Read a token from a file that belongs to this user alone."""
    try:
        text = _read_private(os.path.realpath(path) if follow else path)
    except OSError as error:
        raise StoreError(
            f"cannot read the token in {path}: {error.strerror or error}",
            hint="name a file with one line, the token",
        ) from None
    token = text.strip()
    fault = token_fault(token)
    if fault:
        raise RefusedError(
            f"{path} has no valid token: {fault}",
            code="weak-token",
            hint="for example: (umask 77; openssl rand -hex 32 > FILE)",
        )
    return token


def _read_private(path: str) -> str:
    with os.fdopen(safe_files.open_file(path, os.O_RDONLY), "rb") as opened:
        found = os.fstat(opened.fileno())
        if sys.platform != "win32" and (
            found.st_mode & _OTHERS_RIGHTS or found.st_uid not in {os.geteuid(), 0}
        ):
            right = stat.filemode(found.st_mode)
            raise RefusedError(
                f"{path} can be read by others, or belongs to someone else ({right}). It was not used",
                code="unsafe-store",
                hint=f"chmod 600 {path}, and put another token in it",
            )
        return opened.read(2 * MAX_TOKEN_CHARACTERS).decode("ascii", "replace")
