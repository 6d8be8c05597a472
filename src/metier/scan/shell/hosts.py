"""What an address says about whoever stands behind it: a known installer, a bare number, a paste site, this very machine."""

from __future__ import annotations

import re

from metier.scan.rules import places
from metier.scan.rules.shell import CHEAP, INSTALLERS, SHORTENERS
from metier.scan.shell.calls import host

_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}$|0x[0-9a-f]{8}$|\d{8,10}$|\[[0-9a-f:]+\]$")
_HERE = re.compile(
    r"(?:localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|\[::1?\]|\[f[cde])"
    r"|.*\.(?:local|internal|lan|test)$"
)
_SAMPLE = re.compile(r"(?:192\.0\.2|198\.51\.100|203\.0\.113|1\.2\.3\.4$|x\.x)")
_DROPS = frozenset(("a paste site", "a file drop", "a throw-away host name", "an anonymous store", "an anonymous host"))
_CATCHERS = frozenset(("a request catcher", "an out-of-band catcher"))


def known_installer(url: str) -> bool:
    """Say whether the address is where a widely used project keeps its installer."""
    rest = url.lower().removeprefix("https://").removeprefix("www.")
    if url.lower().startswith("http://"):
        return False
    return under(rest, INSTALLERS) and "/../" not in rest


def under(address: str, places_known: tuple[str, ...]) -> bool:
    """Say whether an address without its scheme lies under one of the places; a host's name must end where theirs does."""
    return any(
        address.startswith(one) and ("/" in one or address[len(one) : len(one) + 1] in ("", "/", "?", ":", "#"))
        for one in places_known
    )


def here(url: str) -> bool:
    """Say whether the address is on this machine or in its own network."""
    return bool(_HERE.match(host(url)))


def shady(url: str) -> str:
    """Say why the address tells nothing about its owner, or return an empty text."""
    name = host(url)
    if here(url) or not name:
        return ""
    if _NUMBER.match(name):
        return "a bare address"
    if name.removeprefix("www.") in SHORTENERS:
        return "a link shortener"
    what = places.names("exfiltration", url)
    if what in _DROPS:
        return what
    return "a top-level domain that asks for no name" if name.rsplit(".", 1)[-1] in CHEAP and "." in name else ""


def collector(what: str) -> str:
    """Return the rule for a place of the `exfiltration` table: request catchers weigh more than webhooks."""
    return "SC219" if what in _CATCHERS else "SC233"
