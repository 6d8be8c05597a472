"""The parts of a source's name: addresses taken apart by hand; refs, paths and texts checked before anything is done with them."""

from __future__ import annotations

import re
from typing import NamedTuple

from metier.errors import UsageError

MAX_TEXT = 2048
MAX_REF = 255
HASH = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
"""A whole commit hash; a part of one is a name like any other."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,31}\Z")
_HOST = re.compile(r"(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9_.])?|\[[0-9A-Fa-f:.]{2,45}\])\Z")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}\Z")
_NOT_IN_REFS = frozenset(" ~^:?*[\\\x7f")
_PORTS = {"https": 443, "http": 80, "ssh": 22}
_SECRETS = re.compile(r"(?:token|secret|passw|auth|sig|key|credential)[^=&;]{0,64}=", re.IGNORECASE)


class Address(NamedTuple):
    """An address in its parts. `host` is in lower case, and `port` is nothing where it is the usual one."""

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
        return f"{self.scheme}://{user}{self.place}{self.path}{'?' if self.query else ''}{self.query}"


def address_of(text: str) -> Address:
    """Take an address apart. One that holds a password or a token is refused, and not repeated."""
    scheme, found, rest = checked_text(text, "an address").partition("://")
    scheme = scheme.lower()
    at = min((place for place in (rest.find(mark) for mark in "/?#") if place >= 0), default=len(rest))
    authority, rest, is_file = rest[:at], rest[at:], scheme == "file"
    user, _, place = authority.rpartition("@")
    path, _, query = (rest, "", "") if is_file else rest.partition("#")[0].partition("?")  # a folder may be called anything
    if (user and (scheme != "ssh" or not _USER.match(user))) or _SECRETS.search(query):
        raise UsageError("the address holds a name, a password or a token", code="credentials",
                         hint="write it without; git asks your own credential helper")  # fmt: skip
    host, port = _host_and_port(place)
    odd = not found or not _SCHEME.match(scheme) or is_file == bool(host) or (" " in text and not is_file)
    if odd or (host and not _HOST.match(host)):
        raise UsageError("that is not an address that can be reached", code="malformed", hint="write https://host/path")
    if any(part in {".", ".."} for part in path.replace("\\", "/").split("/")):
        raise UsageError("the address climbs with '..'", code="unsafe-path", hint="write it without dots")
    number = _number(port)
    return Address(scheme, user, host.lower(), "" if number in {0, _PORTS.get(scheme)} else str(number), path, query)


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
        raise UsageError("that is not a port", code="malformed", hint="a port is a number up to 65535")
    return int(port)


def checked_text(text: str, what: str) -> str:
    """Refuse what could be taken for an option or another transport, or holds what no name holds."""
    if not text:
        raise UsageError(f"{what} is not named", hint="write owner/repo, an address or a folder")
    if len(text) > MAX_TEXT:
        raise UsageError(f"{what} is named by more than {MAX_TEXT} characters", code="malformed", hint="there is no such source")
    if not text.isprintable():
        raise UsageError(f"the name of {what} holds control characters", code="unsafe-path", hint="type it, rather than paste it")
    if text.startswith("-"):
        raise UsageError(f"{what} does not begin with '-'", code="unsafe-option", hint="put ./ before the name of a folder")
    if "::" in text.partition("/")[0]:
        raise UsageError("that is not a way to fetch a repository", code="unsafe-transport", hint="https, ssh and file are")
    return text


def checked_ref(ref: str) -> str:
    """Refuse a ref that git would not take for one: what is left is a branch, a tag, a commit or a version."""
    parts = ref.split("/")
    wrong = (
        not ref or len(ref) > MAX_REF or ref[0] in "-/" or ref[-1] in "/." or ".." in ref or "@{" in ref or ref == "@"
        or not ref.isprintable() or not _NOT_IN_REFS.isdisjoint(ref)
        or any(not part or part[0] == "." or part.endswith(".lock") for part in parts)
    )  # fmt: skip
    if wrong:
        raise UsageError("that is not a branch, a tag or a commit", code="unsafe-ref", hint="'git ls-remote' lists what there is")
    return ref


def checked_path(path: str) -> str:
    """Give a path inside a source without the dots and slashes around it; one that leaves the source is refused."""
    if not path:
        return ""
    parts = path.strip("/").split("/")
    kept = [part for part in parts if part not in {"", "."}]
    wrong = path.startswith(("/", "-")) or path[1:2] == ":" or ".." in kept or "\\" in path or not path.isprintable()
    if wrong or len(path) > MAX_TEXT:
        raise UsageError("the path inside the source leaves it", code="unsafe-path", hint="write it from the source's top, with /")
    return "/".join(kept)
