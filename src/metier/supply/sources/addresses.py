"""Takes the addresses of sources apart and checks them: refs, paths, web addresses, and whether a
network address is public.

Addresses are taken apart by hand, and none may hold a name or a password. Not public are this
machine, its network, and every disguise of those.
"""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import SourceError, UsageError
from metier.supply.safe_names import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Number = ipaddress.IPv4Address | ipaddress.IPv6Address
    Network = ipaddress.IPv4Network | ipaddress.IPv6Network


MAX_SOURCE_CHARS = 2048
MAX_REF_CHARS = 255
COMMIT_HASH = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
"""A whole commit hash; a part of one is a name like any other."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,31}\Z")
_HOST = re.compile(
    r"(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9_.])?|\[[0-9A-Fa-f:.]{2,45}\])\Z"
)
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}\Z")
_NOT_IN_REFS = frozenset(" ~^:?*[\\\x7f")
_PORTS = {"https": 443, "http": 80, "ssh": 22}
_SECRETS = re.compile(r"(?:token|secret|passw|auth|sig|key|credential)[^=&;]{0,64}=", re.IGNORECASE)


class Address(NamedTuple):
    """An address in its parts. `host` is in lower case, and `port` is nothing where it is the usual
    one.
    """

    scheme: str
    user: str
    host: str
    port: str
    path: str
    query: str

    @property
    def place(self) -> str:
        """The host, and the port where that is not the usual one."""
        return f"{self.host}:{self.port}" if self.port else self.host

    @property
    def text(self) -> str:
        """The whole address again; there is no secret in it."""
        user = f"{self.user}@" if self.user else ""
        return (
            f"{self.scheme}://{user}{self.place}{self.path}{'?' if self.query else ''}{self.query}"
        )


def address_of(text: str) -> Address:
    """Take an address apart. One that holds a password or a token is refused, and not repeated."""
    scheme, found, rest = check_text(text, "an address").partition("://")
    scheme = scheme.lower()
    at = min(
        (place for place in (rest.find(mark) for mark in "/?#") if place >= 0), default=len(rest)
    )
    authority = rest[:at]
    rest = rest[at:]
    is_file = scheme == "file"
    user, _, place = authority.rpartition("@")
    path, _, query = (
        (rest, "", "") if is_file else rest.partition("#")[0].partition("?")
    )  # a folder may be called anything
    if (user and (scheme != "ssh" or not _USER.match(user))) or _SECRETS.search(query):
        raise UsageError(
            "the address holds a name, a password or a token",
            code="credentials",
            hint="write it without; git asks your own credential helper",
        )
    host, port = _host_and_port(place)
    odd = (
        not found
        or not _SCHEME.match(scheme)
        or is_file == bool(host)
        or (" " in text and not is_file)
    )
    if odd or (host and not _HOST.match(host)):
        raise UsageError(
            "that is not an address that can be reached",
            code="malformed",
            hint="write https://host/path",
        )
    if any(part in {".", ".."} for part in path.replace("\\", "/").split("/")):
        raise UsageError(
            "the address climbs with '..'", code="unsafe-path", hint="write it without dots"
        )
    number = _number(port)
    return Address(
        scheme,
        user,
        host.lower(),
        "" if number in {0, _PORTS.get(scheme)} else str(number),
        path,
        query,
    )


def _host_and_port(place: str) -> tuple[str, str]:
    if place.startswith("["):
        host, _, port = place.partition("]")
        return host + "]", port.removeprefix(":")
    host, _, port = place.partition(":")
    return host, port


def _number(port: str) -> int:
    if not port:
        return 0
    if not (port.isascii() and port.isdecimal() and len(port) <= 5 and 0 < int(port) < 65536):
        raise UsageError(
            "that is not a port", code="malformed", hint="a port is a number up to 65535"
        )
    return int(port)


def check_text(text: str, what: str) -> str:
    """Refuse what could be taken for an option or another transport, or holds what no name
    holds.
    """
    if not text:
        raise UsageError(f"{what} is not named", hint="write owner/repo, an address or a folder")
    if len(text) > MAX_SOURCE_CHARS:
        raise UsageError(
            f"{what} is named by more than {MAX_SOURCE_CHARS} characters",
            code="malformed",
            hint="there is no such source",
        )
    if not text.isprintable():
        raise UsageError(
            f"the name of {what} holds control characters",
            code="unsafe-path",
            hint="type it, rather than paste it",
        )
    if text.startswith("-"):
        raise UsageError(
            f"{what} does not begin with '-'",
            code="unsafe-option",
            hint="put ./ before the name of a folder",
        )
    if "::" in text.partition("/")[0]:
        raise UsageError(
            "that is not a way to fetch a repository",
            code="unsafe-transport",
            hint="https, ssh and file are",
        )
    return text


def check_ref(ref: str) -> str:
    """Refuse a ref that git would not take for one: what is left is a branch, a tag, a commit or a
    version.
    """
    parts = ref.split("/")
    wrong = (
        not ref
        or len(ref) > MAX_REF_CHARS
        or ref[0] in "-/"
        or ref[-1] in "/."
        or ".." in ref
        or "@{" in ref
        or ref == "@"
        or not ref.isprintable()
        or not _NOT_IN_REFS.isdisjoint(ref)
        or any(not part or part[0] == "." or part.endswith(".lock") for part in parts)
    )
    if wrong:
        raise UsageError(
            "that is not a branch, a tag or a commit",
            code="unsafe-ref",
            hint="list what there is: git ls-remote",
        )
    return ref


def check_path(path: str) -> str:
    """Give a path inside a source without the dots and slashes around it; one that leaves the
    source is refused.
    """
    if not path:
        return ""
    kept = [part for part in path.strip("/").split("/") if part not in {"", "."}]
    wrong = (
        path.startswith(("/", "-"))
        or path[1:2] == ":"
        or ".." in kept
        or "\\" in path
        or not path.isprintable()
    )
    if wrong or len(path) > MAX_SOURCE_CHARS:
        raise UsageError(
            "the path inside the source leaves it",
            code="unsafe-path",
            hint="write it from the source's top, with /",
        )
    return "/".join(kept)


# --- web addresses

MAX_URL_CHARS = 4096
_WHOLE = re.compile(r"([Hh][Tt][Tt][Pp][Ss]?)://([^/?#]{1,300})([^#]*)", re.DOTALL)
_PLACE = re.compile(
    r"([A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(?::([0-9]{1,5}))?\Z"
)
_URL_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,31}:")
_URL_PORTS = {"https": 443, "http": 80}
_URL_USER = re.compile(r"//[^/?#@]{1,512}@")
_KEPT = frozenset(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/?%[]"
)


class Url(NamedTuple):
    """An address. The target begins with `/` and has a query where there is one; a fragment is
    nobody's business.
    """

    scheme: str
    host: str
    """In lower case; an IPv6 address without its brackets."""
    port: int
    target: str

    @property
    def place(self) -> str:
        """The host as a rule names it: with its port where that is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _URL_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def shown(self) -> str:
        """The address for a message: a query may hold what lets its bearer in."""
        return printable(f"{self.scheme}://{self.place}{self.path}")

    def __str__(self) -> str:
        """Give it whole."""
        return f"{self.scheme}://{self.place}{self.target}"


def parse_url(text: str) -> Url:
    """Take an address apart; anything that is not plainly one is an error."""
    found = _WHOLE.match(text) if len(text) <= MAX_URL_CHARS else None
    place = _PLACE.match(found[2]) if found else None
    if not found or not place:
        raise _odd(text)
    scheme = found[1].lower()
    port = int(place[2]) if place[2] else _URL_PORTS[scheme]
    if not 0 < port < 65536:
        raise _odd(text)
    target = found[3] if found[3].startswith("/") else "/" + found[3]
    return Url(scheme, place[1].lower().strip("[]"), port, quote_target(target))


def join_url(base: Url, reference: str) -> Url:
    """Give the address that a reference means on a page."""
    reference = reference.strip(" \t\r\n").partition("#")[0]
    if len(reference) > MAX_URL_CHARS:
        raise _odd(reference)
    if reference.startswith("//"):
        return parse_url(f"{base.scheme}:{reference}")
    if _URL_SCHEME.match(reference):
        return parse_url(reference)
    if reference.startswith("/"):
        target = reference
    elif reference.startswith("?") or not reference:
        target = (base.path if reference else base.target) + reference
    else:
        target = base.path.rpartition("/")[0] + "/" + reference
    path, mark, query = target.partition("?")
    return base._replace(target=quote_target(_without_dots(path) + mark + query))


def url_below(base: Url, *steps: str) -> Url:
    """Give the address of something below a page, whatever that page's own last step is; each step
    is one name.
    """
    path = base.path.rstrip("/") + "".join("/" + escape_step(step) for step in steps)
    return base._replace(target=path or "/")


def url_for_message(text: str) -> str:
    """Give an address that somebody wrote for a message: without a name, a password, or a query."""
    return printable(_URL_USER.sub("//", text.partition("?")[0]))


def escape_step(text: str) -> str:
    """Write a text so that it is one step or one value of an address."""
    data = text.encode("utf-8", "replace")
    return "".join(
        chr(byte) if byte in _KEPT and byte not in b"/?&=+%#:@;,$!*'()[]" else f"%{byte:02X}"
        for byte in data
    )


def quote_target(target: str) -> str:
    """Write what may not stand in an address as its escapes; what is escaped already stays."""
    data = target.encode("utf-8", "replace")
    return "".join(chr(byte) if byte in _KEPT else f"%{byte:02X}" for byte in data)


def _without_dots(path: str) -> str:
    kept: list[str] = []
    steps = path.split("/")[1:]
    for step in steps:
        if step == "..":
            kept = kept[:-1]
        elif step != ".":
            kept.append(step)
    if steps and steps[-1] in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)


def _odd(text: str) -> SourceError:
    return SourceError(
        f"'{url_for_message(text)}' is not an address that can be fetched",
        hint="write https://host/path",
        code="malformed",
    )


# --- public and private network addresses

_CLOSED = (
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.31.196.0/24",
    "192.52.193.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "192.175.48.0/24",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
)
"""What the registries of IANA set apart; written out, because what a library calls global changes
with its version."""
_OPEN6 = ipaddress.IPv6Network("2000::/3")
"""The only part of the new space that is given out."""
_CLOSED6 = ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
_MAPPED = ("::ffff:0:0/96", "::ffff:0:0:0/96", "::/96", "64:ff9b::/96")
"""Prefixes behind which the last 32 bits are an old address."""
_SIX_TO_FOUR = ipaddress.IPv6Network("2002::/16")
_TEREDO = ipaddress.IPv6Network("2001::/32")


def _networks(texts: Iterable[str]) -> tuple[Network, ...]:
    return tuple(map(ipaddress.ip_network, texts))


_PRIVATE = _networks(_CLOSED)
_PRIVATE6 = _networks(_CLOSED6)
_INSIDE = _networks(_MAPPED)


def is_public(text: str) -> bool:
    """Tell whether an address belongs to the open internet, and so does every address hidden in it;
    no address is not public.
    """
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id is not None:
        return False
    hidden = list(_embedded_ipv4(address))
    if hidden:
        # 6to4 and Teredo, over which nobody serves skills, are not what a translator makes.
        is_tunnel = address in _SIX_TO_FOUR or address in _TEREDO
        return not is_tunnel and all(map(_is_open, hidden))
    return _is_open(address)


def _is_open(address: Number) -> bool:
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _PRIVATE)
    return address in _OPEN6 and not any(address in network for network in _PRIVATE6)


def _embedded_ipv4(address: Number) -> Iterator[ipaddress.IPv4Address]:
    """Give the old addresses inside a new one."""
    if isinstance(address, ipaddress.IPv4Address):
        return
    bits = int(address)
    if any(address in network for network in _INSIDE):
        yield ipaddress.IPv4Address(bits & 0xFFFFFFFF)
    if address in _SIX_TO_FOUR:
        yield ipaddress.IPv4Address(bits >> 80 & 0xFFFFFFFF)
    if address in _TEREDO:
        yield ipaddress.IPv4Address(~bits & 0xFFFFFFFF)
