"""Addresses on the web, taken apart by hand and put together again: https and http, no names or passwords in them. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from metier.errors import SourceError
from metier.supply.paths import shown

MOST = 4096
_WHOLE = re.compile(r"([Hh][Tt][Tt][Pp][Ss]?)://([^/?#]{1,300})([^#]*)", re.DOTALL)
_PLACE = re.compile(r"([A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(?::([0-9]{1,5}))?\Z")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,31}:")
_PORTS = {"https": 443, "http": 80}
_USER = re.compile(r"//[^/?#@]{1,512}@")
_KEPT = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/?%[]")


class Url(NamedTuple):
    """An address. The target begins with `/` and has a query where there is one; a fragment is nobody's business."""

    scheme: str
    host: str
    """In lower case; an IPv6 address without its brackets."""
    port: int
    target: str

    @property
    def place(self) -> str:
        """The host as a rule names it: with its port where that is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def shown(self) -> str:
        """The address for a message: a query may hold what lets its bearer in."""
        return shown(f"{self.scheme}://{self.place}{self.path}")

    def __str__(self) -> str:
        """Give it whole."""
        return f"{self.scheme}://{self.place}{self.target}"


def parsed(text: str) -> Url:
    """Take an address apart; anything that is not plainly one is an error."""
    found = _WHOLE.match(text) if len(text) <= MOST else None
    place = _PLACE.match(found[2]) if found else None
    if not found or not place:
        raise _odd(text)
    scheme = found[1].lower()
    port = int(place[2]) if place[2] else _PORTS[scheme]
    if not 0 < port < 65536:
        raise _odd(text)
    target = found[3] if found[3].startswith("/") else "/" + found[3]
    return Url(scheme, place[1].lower().strip("[]"), port, quoted(target))


def joined(base: Url, reference: str) -> Url:
    """Give the address that a reference means on a page."""
    reference = reference.strip(" \t\r\n").partition("#")[0]
    if len(reference) > MOST:
        raise _odd(reference)
    if reference.startswith("//"):
        return parsed(f"{base.scheme}:{reference}")
    if _SCHEME.match(reference):
        return parsed(reference)
    if reference.startswith("/"):
        target = reference
    elif reference.startswith("?") or not reference:
        target = (base.path if reference else base.target) + reference
    else:
        target = base.path.rpartition("/")[0] + "/" + reference
    path, mark, query = target.partition("?")
    return base._replace(target=quoted(_without_dots(path) + mark + query))


def below(base: Url, *steps: str) -> Url:
    """Give the address of something below a page, whatever that page's own last step is; each step is one name."""
    path = base.path.rstrip("/") + "".join("/" + escaped(step) for step in steps)
    return base._replace(target=path or "/")


def harmless(text: str) -> str:
    """Give an address that somebody wrote for a message: without a name, a password, or a query."""
    return shown(_USER.sub("//", text.partition("?")[0]))


def escaped(text: str) -> str:
    """Write a text so that it is one step or one value of an address."""
    data = text.encode("utf-8", "replace")
    return "".join(chr(byte) if byte in _KEPT and byte not in b"/?&=+%#:@;,$!*'()[]" else f"%{byte:02X}" for byte in data)


def quoted(target: str) -> str:
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
    what = f"'{harmless(text)}' is not an address that can be fetched"
    return SourceError(what, hint="write https://host/path", code="malformed")
