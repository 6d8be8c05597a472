"""How skills of a hub are named: `hub:NAMESPACE/NAME[@RANGE]` in the hubs that you know, and
`hub+https://host/NAMESPACE/NAME[@RANGE]` in exactly one. Pure.

A hub is asked over https. One on this very machine may be asked without encryption.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import UsageError
from metier.standard.semver import read_range, read_version
from metier.supply.model import Request
from metier.supply.sources.addresses import address_of, check_text
from metier.supply.sources.oci_names import is_this_machine

if TYPE_CHECKING:
    from collections.abc import Iterable

HUB = "hub:"
"""What a skill of some hub begins with."""
HUB_AT = "hub+"
"""What the address of one hub, or of a skill there, begins with."""
MAX_RANGE_CHARS = 200
_NAMESPACE = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\Z")
_SKILL = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_FORM = "write hub:NAMESPACE/NAME, and @VERSION after it if you like"


class HubPlace(NamedTuple):
    """A skill of a hub, or the hub itself where nothing else is named."""

    base: str
    """The hub's address, without a slash at its end; nothing where any hub will do."""
    namespace: str = ""
    name: str = ""

    @property
    def location(self) -> str:
        """The whole as a request has it."""
        return "/".join(filter(None, (self.base or HUB, self.namespace, self.name)))


def is_hub(text: str) -> bool:
    """Tell whether somebody means a hub."""
    return text.startswith((HUB, HUB_AT))


def hub_base(text: str) -> str:
    """Give the address of a hub in one spelling."""
    address = address_of(check_text(text.strip().removeprefix(HUB_AT), "a hub"))
    if address.scheme not in {"https", "http"} or not address.host or address.query or address.user:
        raise UsageError(
            "that is not the address of a hub",
            code="unsafe-transport",
            hint="write https://hub.example.org",
        )
    if address.scheme == "http" and not is_this_machine(address.host):
        raise UsageError(
            f"{address.place} would be contacted without encryption",
            code="host",
            hint="write https://; only a hub on this very machine is asked over http",
        )
    return address.text.rstrip("/")


def parse_hub(text: str) -> Request:
    """Read what somebody wrote: a skill of a hub, or only the hub."""
    if text.startswith(HUB):
        rest, _, ref = text.removeprefix(HUB).strip("/").partition("@")
        namespace, _, name = rest.partition("/")
        return Request("hub", _checked(HubPlace("", namespace, name)).location, check_hub_ref(ref))
    front, _, last = text.rpartition("/")
    last, _, ref = last.partition("@")
    base = hub_base(f"{front}/{last}")
    steps = base.partition("://")[2].split("/")[1:]
    if not steps:
        return Request("hub", base, check_hub_ref(ref))
    if len(steps) < 2:
        raise UsageError("that names no skill of a hub", hint=_FORM)
    place = HubPlace(base.rsplit("/", 2)[0], steps[-2], steps[-1])
    return Request("hub", _checked(place).location, check_hub_ref(ref))


def place_of(location: str) -> HubPlace:
    """Take the location of a request apart again."""
    if location.startswith(HUB):
        namespace, _, name = location.removeprefix(HUB).strip("/").partition("/")
        return HubPlace("", namespace, name)
    scheme, _, rest = location.partition("://")
    if rest.count("/") < 2:
        return HubPlace(location)
    front, namespace, name = rest.rsplit("/", 2)
    return HubPlace(f"{scheme}://{front}", namespace, name)


def _checked(place: HubPlace) -> HubPlace:
    if not _NAMESPACE.match(place.namespace) or not _SKILL.match(place.name):
        raise UsageError("that is not a skill of a hub", code="unknown-source", hint=_FORM)
    return place


def check_hub_ref(ref: str) -> str:
    """Give a version or a range as it is kept; `latest` is the same as nothing."""
    text = ref.strip()
    if text in {"", "latest"}:
        return ""
    if len(text) > MAX_RANGE_CHARS or (read_version(text) is None and read_range(text) is None):
        raise UsageError(
            "that is neither a version nor a range of versions",
            code="unsafe-ref",
            hint="write 1.4.0, ^1.2 or >=1,<2",
        )
    return text


def hubs_among(taps: Iterable[str]) -> list[str]:
    """Give the addresses of the hubs among taps."""
    sources = (tap.partition("=")[2] if "=hub+" in tap else tap for tap in taps)
    return [hub_base(one) for one in sources if one.startswith(HUB_AT)]
