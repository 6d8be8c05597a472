"""What may come from a provider of skills, and how much of it: authorities, handles, URIs, limits (CX-58, CX-59, CX-60). Pure.

What a provider lists is a stranger's word. A package that breaks a rule is left out with a warning, and never repaired.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from metier.disclose.message import cut
from metier.disclose.pages import HANDLE_BYTES, PAGE_BYTES, cursor_at, fingerprint, place_in
from metier.disclose.wrap import escaped
from metier.errors import RefusedError, UsageError
from metier.offers import Package

if TYPE_CHECKING:
    from collections.abc import Sequence

AUTHORITIES = ("host", "executor", "orchestrator", "custom")
VISIBLE, HIDDEN, PAGES = 100, 1_000, 10
"""How much is taken from one provider: packages that models are told of, others, and pages of its list."""
SECONDS = 10
"""How long each provider may take. It is looked at between two calls and between what one gives bit by bit: a call has to
end by itself."""
URI_LENGTH = 1_024
NAME_LENGTH, DESCRIPTION_LENGTH = 64, 1_024
WARNINGS, WARNING_BYTES = 4, 256
LISTED = 20
"""Packages on one page of a list for a model."""
SCHEME = "skill://"
FAILED = "failed to read skill resource"
"""All that a model learns when a provider fails: the rest may hold anything."""

_NAME = re.compile(r"[a-z]+(?::[A-Za-z0-9._-]{1,64})?")
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252})")
_ENCODED = re.compile(r"%(?:25)*(?:2e|2f|5c|00)", re.IGNORECASE)
"""A dot, a slash or a NUL that shows itself only to whoever decodes it."""


class Trouble(NamedTuple):
    """A provider that gave nothing, and why."""

    authority: str
    message: str


class Listed(NamedTuple):
    """One page of a list of packages."""

    text: str
    """The packages as a model may be told of them."""
    packages: tuple[Package, ...]
    cursor: str
    """What to ask for the next page with; nothing after the last."""
    total: int


class Takings:
    """What has been taken so far, within the limits; it grows while providers are asked."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.packages: dict[tuple[str, str], Package] = {}
        self.warnings: list[str] = []
        self.unsaid = 0
        """Warnings beyond those that are kept."""
        self.errors: list[Trouble] = []
        self.count = {False: 0, True: 0}

    def begin(self) -> None:
        """Turn to the next provider, whose packages are counted from none."""
        self.count = {False: 0, True: 0}

    def take(self, authority: str, found: object) -> bool:
        """Take one package, or leave it out for what it is; tell whether it was not just one too many."""
        package = package_of(found)
        fault = package_fault(authority, package) if package is not None else "is no package"
        if package is None or fault:
            self.warn(f"{authority}: left out {_shown(package.id) if package else 'something'}: it {fault}")
            return True
        if (authority, package.id) in self.packages:
            return True
        if self.count[package.hidden] >= (HIDDEN if package.hidden else VISIBLE):
            return False
        self.count[package.hidden] += 1
        name, description = one_line(package.name, NAME_LENGTH), one_line(package.description, DESCRIPTION_LENGTH)
        self.packages[authority, package.id] = package._replace(name=name, description=description)
        return True

    def warn(self, text: str) -> None:
        """Keep a warning, cut to its bounds; beyond the fourth it is only counted."""
        if len(self.warnings) < WARNINGS:
            whole = cut(text, WARNING_BYTES) == text
            self.warnings.append(text if whole else cut(text, WARNING_BYTES - len("…".encode())) + "…")
        else:
            self.unsaid += 1

    def bounded(self) -> list[str]:
        """Give at most four warnings; the last may stand for many."""
        if not self.unsaid:
            return self.warnings
        return [*self.warnings[: WARNINGS - 1], f"and {self.unsaid + 1:,} more warnings"]


def package_of(found: object) -> Package | None:
    """Give what a provider handed over as a package; nothing when it is none."""
    if not isinstance(found, tuple) or len(found) != len(Package._fields):
        return None
    package = Package(*found)
    texts = package[:5]
    return package._replace(hidden=bool(package.hidden)) if all(isinstance(text, str) for text in texts) else None


def authority_fault(authority: object) -> str:
    """Say what is wrong with an authority, or nothing."""
    if not isinstance(authority, str) or not _NAME.fullmatch(authority) or authority.partition(":")[0] not in AUTHORITIES:
        return f"is not one of {', '.join(AUTHORITIES)}, with a name after a colon where there are several"
    return ""


def package_fault(authority: str, package: Package) -> str:
    """Say what is wrong with a package that a provider lists, or nothing."""
    if package.authority != authority:
        return "claims another authority"
    if not one_line(package.name, NAME_LENGTH):
        return "has no name"
    for what, handle in (("id", package.id), ("resource", package.resource)):
        fault = handle_fault(handle) or (uri_fault(handle) if "://" in handle else "")
        if fault:
            return f"has an {what} that {fault}" if what == "id" else f"has a {what} that {fault}"
    if "://" not in package.id and not _is_path(package.id.removeprefix("/")):
        return "has an id with an empty, . or .. segment"
    if not _inside(package, package.resource):
        return "has a resource outside of itself"
    return ""


def handle_fault(handle: str) -> str:
    """Say what is wrong with the name of a package or resource, or nothing."""
    if not handle:
        return "is empty"
    if len(handle) > HANDLE_BYTES or len(handle.encode("utf-8", "surrogatepass")) > HANDLE_BYTES:
        return f"has more than {HANDLE_BYTES:,} bytes"
    # A lone surrogate is no control character, but no UTF-8 either.
    if any(ord(char) < 32 or 127 <= ord(char) < 160 or char in "\u2028\u2029" or 0xD800 <= ord(char) < 0xE000 for char in handle):
        return "has control characters"
    return ""


def uri_fault(uri: str) -> str:
    """Say what is wrong with a URI of a remote skill, or nothing: `skill://host/path` and no more (CX-60)."""
    if len(uri) > URI_LENGTH:
        return f"has more than {URI_LENGTH:,} characters"
    if not uri.startswith(SCHEME):
        return f"is no {SCHEME} URI"
    host, slash, path = uri[len(SCHEME) :].partition("/")
    if "@" in host or ":" in host:
        return "names a user or a port"
    if "?" in uri or "#" in uri:
        return "has a query or a fragment"
    if not _HOST.fullmatch(host) or not slash:
        return "has no host and path"
    return "" if _is_path(path) and not any(char.isspace() for char in path) else "has an empty, . or .. segment"


def resource_in(package: Package, resource: str) -> str:
    """Give the resource of a package to read, its instructions when none is named; refuse one outside of it (CX-59)."""
    bad = package_fault(package.authority, package)
    if bad:
        raise UsageError(f"the package {bad}", hint="take a package from the list of packages")
    wanted = resource or package.resource
    fault = handle_fault(wanted) or (uri_fault(wanted) if "://" in wanted else "")
    if fault:
        raise UsageError(f"the resource {fault}", hint="give the path of a file in the package, such as references/guide.md")
    if not _inside(package, wanted):
        raise RefusedError("the resource is not inside the package", code="path-traversal",
                           hint="give the path of a file in the package, such as references/guide.md")  # fmt: skip
    return wanted


def _inside(package: Package, resource: str) -> bool:
    """Tell whether a resource is a path in the package, or the package's own address with a path after it."""
    address = package.id if "://" in package.id or "://" not in package.resource else package.resource.rpartition("/")[0]
    if resource.startswith(address + "/"):
        return _is_path(resource[len(address) + 1 :])
    return "://" not in resource and not resource.startswith("~") and resource[1:2] != ":" and _is_path(resource)


def _is_path(path: str) -> bool:
    segments = unicodedata.normalize("NFKC", path).replace("\\", "/").split("/")
    return not _ENCODED.search(path) and all(segment.strip() not in {"", ".", ".."} for segment in segments)


def listed(packages: Sequence[Package], authority: str = "", cursor: str = "") -> Listed:
    """Give one page of the packages that a model may be told of: 20, and no more than 512 KiB of them (CX-59)."""
    shown = [one for one in packages if not one.hidden and authority in {"", one.authority}]
    mark = fingerprint(repr([tuple(one) for one in shown]).encode("utf-8", "surrogatepass"))
    start = place_in(cursor, mark, len(shown))
    lines: list[str] = []
    size = 0
    for one in shown[start : start + LISTED]:
        line = package_xml(one) + "\n"
        size += len(line.encode("utf-8", "surrogatepass"))
        if size > PAGE_BYTES and lines:
            break
        lines.append(line)
    end = start + len(lines)
    return Listed("".join(lines), tuple(shown[start:end]), cursor_at(mark, end) if end < len(shown) else "", len(shown))


def package_xml(package: Package) -> str:
    """Give a package as a catalogue shows it; nothing in it can end its tag."""
    return (f'<skill name="{escaped(package.name)}" authority="{escaped(package.authority)}" package="{escaped(package.id)}">'
            f"{escaped(package.description)}</skill>")  # fmt: skip


def one_line(text: str, length: int) -> str:
    """Give a stranger's text on one line, without what cannot be printed, and cut."""
    printable = "".join(char if char.isprintable() else " " for char in text[: 4 * length])
    return " ".join(printable.split())[:length].strip()


def _shown(handle: str) -> str:
    return f"'{one_line(handle, 80)}'"
