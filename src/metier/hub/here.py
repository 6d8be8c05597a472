"""Tells whether a request comes from this machine, and was meant for it, and by which address a client
reaches the hub.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from starlette.requests import Request

    from metier.hub.hub import Hub, HubOptions


def is_from_here(request: Request) -> bool:
    """Tell whether a request comes from this machine and was meant for it: a page of another site
    that a name of its own leads here is not let in.
    """
    host = request.headers.get("host", "").rpartition(":")[0] or request.headers.get("host", "")
    forwarded = any(name in request.headers for name in ("x-forwarded-for", "forwarded"))
    named = host.strip("[]").lower()
    return (
        not forwarded
        and request.client is not None
        and is_loopback(request.client.host)
        and (named == "localhost" or is_loopback(named))
    )


def is_for_others(options: HubOptions) -> bool:
    """Tell whether a hub has an address beyond this machine: then a proxy asks from here for everybody,
    and need not say so.
    """
    host = urlsplit(options.public_url).hostname or ""
    return bool(host) and host != "localhost" and not is_loopback(host)


def address_of_hub(hub: Hub, request: Request) -> str:
    """Give the address that a client reaches the hub by."""
    return (hub.options.public_url or str(request.base_url)).rstrip("/")


def is_loopback(text: str) -> bool:
    """Tell whether an address is one of this machine's own."""
    try:
        return ipaddress.ip_address(text).is_loopback
    except ValueError:
        return False
