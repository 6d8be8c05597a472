"""How skills in OCI registries are named: `oci://host[:port]/repository[:tag|@sha256:digest]`, and
the addresses that the distribution specification gives them. Pure.

A registry is asked over https. One on this very machine is asked without encryption, and so is one
that is written `oci+http://`; both have to be named in `supply.private_hosts` all the same.
"""

from __future__ import annotations

import ipaddress
import re
from typing import NamedTuple

from metier.errors import UsageError
from metier.supply.model import Request
from metier.supply.sources.addresses import Url, address_of, check_path

SCHEMES = ("oci://", "oci+http://")
DEFAULT_TAG = "latest"
DIGEST_PREFIX = "sha256:"
MAX_REPOSITORY_CHARS = 255
_STEP = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REPOSITORY = re.compile(rf"{_STEP}(?:/{_STEP})*\Z")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}\Z")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}\Z")
_HUB = frozenset({"docker.io", "index.docker.io", "registry-1.docker.io"})
_HUB_HOST = "registry-1.docker.io"
_FORM = "write oci://host/repository, and :tag or @sha256:digest after it"


class OciRepository(NamedTuple):
    """A repository of a registry."""

    base: Url
    """Where the registry answers."""
    name: str
    host: str
    """What the registry is called in docker's configuration."""

    def at(self, *steps: str) -> str:
        """Give the address of something in it; the steps hold nothing that has to be escaped."""
        return str(self.base._replace(target="/".join(("/v2", self.name, *steps))))


def is_oci(text: str) -> bool:
    """Tell whether somebody means a registry."""
    return text.lower().startswith(SCHEMES)


def is_blob_digest(text: object) -> bool:
    """Tell whether a text is a digest of the kind that is read here."""
    return isinstance(text, str) and _DIGEST.match(text) is not None


def parse_oci(text: str) -> Request:
    """Read what somebody wrote. A tag or a digest is the request's ref."""
    place, _, path = text.partition("#")
    if path and not path.startswith(":"):
        raise UsageError("a tag is not written after #", hint=_FORM)
    address = address_of(place)
    name, _, digest = address.path.strip("/").partition("@")
    front, slash, last = name.rpartition("/")
    last, _, tag = last.partition(":")
    name = f"{front}{slash}{last}"
    host = address.host
    if host in _HUB:
        host = "docker.io"
        name = name if "/" in name else f"library/{name}"
    usual = "443" if address.scheme == "oci" else "80"
    port = "" if address.port in {"", usual} else f":{address.port}"
    if (
        not _REPOSITORY.match(name)
        or len(name) > MAX_REPOSITORY_CHARS
        or address.query
        or address.user
    ):
        raise UsageError("that is not a repository of a registry", code="malformed", hint=_FORM)
    ref = check_oci_ref(digest or tag) if digest or tag else ""
    return Request(
        "oci", f"{address.scheme}://{host}{port}/{name}", ref, check_path(path.removeprefix(":"))
    )


def check_oci_ref(ref: str) -> str:
    """Refuse what is neither a tag nor a digest."""
    if _TAG.match(ref) or _DIGEST.match(ref):
        return ref
    raise UsageError(
        "that is neither a tag nor a digest",
        code="unsafe-ref",
        hint="a digest is sha256: and 64 digits of hexadecimal",
    )


def is_oci_digest(ref: str) -> bool:
    """Tell a digest, which stands for the same bytes for ever, from a tag."""
    return _DIGEST.match(ref) is not None


def tags_in(document: object) -> tuple[str, ...]:
    """Give the tags that a registry lists; what could be none is left out."""
    found = document.get("tags") if isinstance(document, dict) else None
    rows = found if isinstance(found, list) else []
    return tuple(one for one in rows if isinstance(one, str) and _TAG.match(one))


def repository_of(location: str) -> OciRepository:
    """Give the repository that a request's location names."""
    address = address_of(location)
    host = _HUB_HOST if address.host == "docker.io" else address.host
    plain = address.scheme == "oci+http" or is_this_machine(host)
    scheme, usual = ("http", 80) if plain else ("https", 443)
    bare = host.strip("[]")
    base = Url(scheme, bare, int(address.port) if address.port else usual, "/")
    return OciRepository(base, address.path.strip("/"), address.place)


def is_this_machine(host: str) -> bool:
    """Tell whether a host is this very machine, by its name alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
