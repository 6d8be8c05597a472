"""Which network addresses are nobody else's business: this machine, its network, and every disguise of those. Pure."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Number = ipaddress.IPv4Address | ipaddress.IPv6Address
    Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_CLOSED = (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
    "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15",
    "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
)  # fmt: skip
"""What the registries of IANA set apart; written out, because what a library calls global changes with its version."""
_OPEN6 = ipaddress.IPv6Network("2000::/3")
"""The only part of the new space that is given out."""
_CLOSED6 = ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
_MAPPED = ("::ffff:0:0/96", "::ffff:0:0:0/96", "::/96", "64:ff9b::/96")
"""Prefixes behind which the last 32 bits are an old address."""
_SIX_TO_FOUR, _TEREDO = ipaddress.IPv6Network("2002::/16"), ipaddress.IPv6Network("2001::/32")


def _networks(texts: Iterable[str]) -> tuple[Network, ...]:
    return tuple(map(ipaddress.ip_network, texts))


_PRIVATE, _PRIVATE6, _INSIDE = _networks(_CLOSED), _networks(_CLOSED6), _networks(_MAPPED)


def is_public(text: str) -> bool:
    """Tell whether an address belongs to the open internet, and so does every address hidden in it; no address is not public."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id is not None:
        return False
    hidden = list(_hidden(address))
    if hidden:
        return not _is_tunnel(address) and all(_is_open(one) for one in hidden)
    return _is_open(address)


def _is_open(address: Number) -> bool:
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _PRIVATE)
    return address in _OPEN6 and not any(address in network for network in _PRIVATE6)


def _is_tunnel(address: Number) -> bool:
    """Tell 6to4 and Teredo, over which nobody serves skills, from the forms that a translator makes."""
    return address in _SIX_TO_FOUR or address in _TEREDO


def _hidden(address: Number) -> Iterator[ipaddress.IPv4Address]:
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
