"""Gets skills from remote providers: it asks each for its packages, checks what they list, and
reads a package (CX-58 to CX-60).

What a provider lists is a stranger's word. A package that breaks a rule is left out with a warning,
and never repaired. A package is read through the provider that listed it. When a provider fails,
its own words never get further than here: they may hold anything, a key as well (CX-59).
"""

from __future__ import annotations

import re
import unicodedata
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from metier.disclose import messages
from metier.disclose.messages import cut, escape_tag
from metier.disclose.model import Package
from metier.disclose.pages import (
    HANDLE_BYTES,
    PAGE_BYTES,
    RESOURCE_BYTES,
    cursor_at,
    fingerprint,
    page,
    place_in,
)
from metier.errors import RefusedError, SourceError, UsageError
from metier.standard.plain_text import estimate
from metier.trust.boundary import shown_name, wrap_body

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.context import Context
    from metier.disclose.pages import Page
    from metier.model import Trust
    from metier.ports import Provider


AUTHORITIES = ("host", "executor", "orchestrator", "custom")
MAX_VISIBLE_PACKAGES = 100
MAX_HIDDEN_PACKAGES = 1_000
MAX_LIST_PAGES = 10
"""How much is taken from one provider: packages that models are told of, others, and pages of its
list."""
PROVIDER_SECONDS = 10
"""How long each provider may take. It is looked at between two calls and between what one gives bit
by bit: a call has to end by itself."""
URI_LENGTH = 1_024
NAME_LENGTH = 64
DESCRIPTION_LENGTH = 1_024
MAX_WARNINGS = 4
WARNING_BYTES = 256
PACKAGES_PER_PAGE = 20
"""Packages on one page of a list for a model."""
SCHEME = "skill://"
READ_FAILED = "failed to read skill resource"
"""All that a model learns when a provider fails: the rest may hold anything."""

_NAME = re.compile(r"[a-z]+(?::[A-Za-z0-9._-]{1,64})?")
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252})")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_ENCODED = re.compile(r"%(?:25)*(?:2e|2f|5c|00)", re.IGNORECASE)
"""A dot, a slash or a NUL that shows itself only to whoever decodes it."""


class ProviderFailure(NamedTuple):
    """A provider that gave nothing, and why."""

    authority: str
    message: str


class PackageList(NamedTuple):
    """One page of a list of packages."""

    text: str
    """The packages as a model may be told of them."""
    packages: tuple[Package, ...]
    cursor: str
    """What to ask for the next page with; nothing after the last."""
    total: int


class PackageIntake:
    """What has been taken so far, within the limits; it grows while providers are asked."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.packages: dict[tuple[str, str], Package] = {}
        self.warnings: list[str] = []
        self.unsaid = 0
        """Warnings beyond those that are kept."""
        self.errors: list[ProviderFailure] = []
        self.begin()

    def begin(self) -> None:
        """Turn to the next provider, whose packages are counted from none."""
        self.count = {False: 0, True: 0}

    def take(self, authority: str, found: object) -> bool:
        """Take one package, or leave it out for what it is; tell whether it was not just one too
        many.
        """
        package = package_of(found)
        fault = package_fault(authority, package) if package is not None else "is no package"
        if package is None or fault:
            self.warn(
                f"{authority}: left out {_shown(package.id) if package else 'something'}: it "
                f"{fault}"
            )
            return True
        if (authority, package.id) in self.packages:
            return True
        most = MAX_HIDDEN_PACKAGES if package.hidden else MAX_VISIBLE_PACKAGES
        if self.count[package.hidden] >= most:
            return False
        self.count[package.hidden] += 1
        self.packages[authority, package.id] = package._replace(
            name=clean_line(package.name, NAME_LENGTH),
            description=clean_line(package.description, DESCRIPTION_LENGTH),
        )
        return True

    def warn(self, text: str) -> None:
        """Keep a warning, cut to its bounds; beyond the fourth it is only counted."""
        if len(self.warnings) < MAX_WARNINGS:
            whole = cut(text, WARNING_BYTES) == text
            self.warnings.append(
                text if whole else cut(text, WARNING_BYTES - len("…".encode())) + "…"
            )
        else:
            self.unsaid += 1

    def bounded(self) -> list[str]:
        """Give at most four warnings; the last may stand for many."""
        if not self.unsaid:
            return self.warnings
        return [*self.warnings[: MAX_WARNINGS - 1], f"and {self.unsaid + 1:,} more warnings"]


def package_of(found: object) -> Package | None:
    """Give what a provider handed over as a package; nothing when it is none."""
    if not isinstance(found, tuple) or len(found) != len(Package._fields):
        return None
    package = Package(*found)
    sound = all(isinstance(text, str) for text in package[:5])
    return package._replace(hidden=bool(package.hidden)) if sound else None


def authority_fault(authority: object) -> str:
    """Say what is wrong with an authority, or nothing."""
    if (
        not isinstance(authority, str)
        or not _NAME.fullmatch(authority)
        or authority.partition(":")[0] not in AUTHORITIES
    ):
        return (
            f"is not one of {', '.join(AUTHORITIES)}, with a name after a colon where there "
            f"are several"
        )
    return ""


def package_fault(authority: str, package: Package) -> str:
    """Say what is wrong with a package that a provider lists, or nothing."""
    if package.authority != authority:
        return "claims another authority"
    if not clean_line(package.name, NAME_LENGTH):
        return "has no name"
    for what, handle in (("an id", package.id), ("a resource", package.resource)):
        fault = _address_fault(handle)
        if fault:
            return f"has {what} that {fault}"
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
    if _CONTROL.search(handle):
        return "has control characters"
    return ""


def _address_fault(handle: str) -> str:
    return handle_fault(handle) or (uri_fault(handle) if "://" in handle else "")


def uri_fault(uri: str) -> str:
    """Say what is wrong with a URI of a remote skill, or nothing: `skill://host/path` and no more
    (CX-60).
    """
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
    return (
        ""
        if _is_path(path) and not any(char.isspace() for char in path)
        else "has an empty, . or .. segment"
    )


def resource_in(package: Package, resource: str) -> str:
    """Give the resource of a package to read, its instructions when none is named; refuse one
    outside of it (CX-59).
    """
    bad = package_fault(package.authority, package)
    if bad:
        raise UsageError(f"the package {bad}", hint="take a package from the list of packages")
    wanted = resource or package.resource
    fault = _address_fault(wanted)
    hint = "give the path of a file in the package, such as references/guide.md"
    if fault:
        raise UsageError(f"the resource {fault}", hint=hint)
    if not _inside(package, wanted):
        message = "the resource is not inside the package"
        raise RefusedError(message, code="path-traversal", hint=hint)
    return wanted


def _inside(package: Package, resource: str) -> bool:
    """Tell whether a resource is a path in the package, or the package's own address with a path
    after it.
    """
    address = (
        package.id
        if "://" in package.id or "://" not in package.resource
        else package.resource.rpartition("/")[0]
    )
    if resource.startswith(address + "/"):
        return _is_path(resource[len(address) + 1 :])
    return (
        "://" not in resource
        and not resource.startswith("~")
        and resource[1:2] != ":"
        and _is_path(resource)
    )


def _is_path(path: str) -> bool:
    segments = unicodedata.normalize("NFKC", path).replace("\\", "/").split("/")
    return not _ENCODED.search(path) and all(
        segment.strip() not in {"", ".", ".."} for segment in segments
    )


def list_page(packages: Sequence[Package], authority: str = "", cursor: str = "") -> PackageList:
    """Give one page of the packages that a model may be told of: 20, and no more than 512 KiB of
    them (CX-59).
    """
    shown = [one for one in packages if not one.hidden and authority in {"", one.authority}]
    mark = fingerprint(repr([tuple(one) for one in shown]).encode("utf-8", "surrogatepass"))
    start = place_in(cursor, mark, len(shown))
    lines: list[str] = []
    size = 0
    for one in shown[start : start + PACKAGES_PER_PAGE]:
        line = package_xml(one) + "\n"
        size += len(line.encode("utf-8", "surrogatepass"))
        if size > PAGE_BYTES and lines:
            break
        lines.append(line)
    end = start + len(lines)
    return PackageList(
        "".join(lines),
        tuple(shown[start:end]),
        cursor_at(mark, end) if end < len(shown) else "",
        len(shown),
    )


def package_xml(package: Package) -> str:
    """Give a package as a catalogue shows it; nothing in it can end its tag."""
    return (
        f'<skill name="{escape_tag(package.name)}" authority="{escape_tag(package.authority)}" '
        f'package="{escape_tag(package.id)}">'
        f"{escape_tag(package.description)}</skill>"
    )


def clean_line(text: str, length: int) -> str:
    """Give a stranger's text on one line, without what cannot be printed, and cut."""
    printable = "".join(char if char.isprintable() else " " for char in text[: 4 * length])
    return " ".join(printable.split())[:length].strip()


def _shown(handle: str) -> str:
    return f"'{clean_line(handle, 80)}'"


# --- asking providers

PROVIDED_LEVEL: Trust = "community"
"""How far a provider's skill is trusted: as any that comes from somewhere (ZE-25)."""
SECOND_NS = 1_000_000_000


class GatheredPackages(NamedTuple):
    """What providers offer, and what went wrong."""

    packages: list[Package]
    warnings: list[str]
    errors: list[ProviderFailure]

    def page(self, authority: str = "", cursor: str = "") -> PackageList:
        """Give a page of them as a model may be told, of one authority or of all (CX-59)."""
        return list_page(self.packages, authority, cursor)


def gather_packages(context: Context) -> GatheredPackages:
    """Ask every provider; one that fails does not keep the others from being heard."""
    found = PackageIntake()
    asked: set[str] = set()
    for provider in context.providers:
        authority = _authority(provider)
        fault = authority_fault(authority)
        if fault or authority in asked:
            fault = fault or "is another provider's already; put a name after a colon"
            found.errors.append(
                ProviderFailure(clean_line(authority, 80), f"not asked: the authority {fault}")
            )
        else:
            asked.add(authority)
            found.begin()
            _ask(context, provider, authority, found)
    return GatheredPackages(list(found.packages.values()), found.bounded(), found.errors)


def _ask(context: Context, provider: Provider, authority: str, found: PackageIntake) -> None:
    """Take the pages of one provider, until its end or a limit."""
    ends = context.ports.clock_ns() + PROVIDER_SECONDS * SECOND_NS
    cursor = ""
    known = {""}
    for number in range(MAX_LIST_PAGES):
        answer = _take_page(provider, cursor, lambda: context.ports.clock_ns() >= ends)
        if answer is None:
            _stopped(found, authority, number, "listing its skills failed")
            return
        offered, cursor = answer
        left = [package for package in offered if not found.take(authority, package)]
        if left:
            found.warn(
                f"{authority}: more than {MAX_VISIBLE_PACKAGES} skills, or "
                f"{MAX_HIDDEN_PACKAGES:,} hidden ones; {len(left)} left out"
            )
        if not cursor:
            return
        if cursor in known:
            found.warn(f"{authority}: gave the same cursor twice; what comes after is left out")
            return
        known.add(cursor)
        if context.ports.clock_ns() >= ends:
            _stopped(found, authority, number + 1, f"it took more than {PROVIDER_SECONDS} seconds")
            return
    found.warn(f"{authority}: more than {MAX_LIST_PAGES} pages; the rest is left out")


def _stopped(found: PackageIntake, authority: str, number: int, why: str) -> None:
    """Say that a provider gave nothing, or not everything (CX-60)."""
    if number == 0:
        found.errors.append(ProviderFailure(authority, why))
    else:
        found.warn(f"{authority}: {why}; {number} page{'s' if number > 1 else ''} of it counted")


def _take_page(
    provider: Provider, cursor: str, is_late: Callable[[], bool]
) -> tuple[Sequence[object], str] | None:
    """Take one page, and as much of it as comes in time; then there are more, as if its cursor said
    so.
    """
    try:
        answer = provider.list(cursor)
        following: object = answer[1]
        offered: list[object] = []
        # Never more than could be taken: a list without end must not be walked to its end.
        for package in islice(answer[0], MAX_VISIBLE_PACKAGES + MAX_HIDDEN_PACKAGES + 1):
            offered.append(package)
            if not isinstance(answer[0], (list, tuple)) and is_late():
                following = following or "-"
                break
    except Exception:  # noqa: BLE001 - whatever a provider does wrong is its own
        return None
    if not isinstance(following, str) or handle_fault(following or "-"):
        return None
    return offered, following


def read_package(context: Context, package: Package, resource: str = "", cursor: str = "") -> Page:
    """Give a page of a package's resource, read through the authority that listed it and through no
    other (CX-58).
    """
    wanted = resource_in(package, resource)
    text = _read_text(context, package, wanted)
    given = page(text, cursor, count=estimate if context.counter is None else context.counter.count)
    name = clean_line(package.name, NAME_LENGTH)
    return given._replace(
        name=name,
        file=wanted,
        disclosed=wrap_body(name, given.content, PROVIDED_LEVEL),
        level=PROVIDED_LEVEL,
    )


def prompt_of(context: Context, package: Package) -> tuple[str, str]:
    """Give a package's instructions as they go into a message, cut where they are long, and the
    warning that says so (CX-47).
    """
    wanted = resource_in(package, "")
    text = _read_text(context, package, wanted)
    name = clean_line(package.name, NAME_LENGTH)
    kept, warning = messages.provided(name, text)
    skill = messages.MessageSkill(
        name, shown_name(name), wanted, "", wrap_body(name, kept, PROVIDED_LEVEL)
    )
    return messages.mentioned(skill).text, warning


def _read_text(context: Context, package: Package, resource: str) -> str:
    """Read a resource; a provider that fails, or gives what is too long or no text, is an error."""
    for provider in context.providers:
        if _authority(provider) == package.authority and not authority_fault(package.authority):
            try:
                data: object = provider.read(package.id, resource)
                if isinstance(data, bytes) and len(data) <= RESOURCE_BYTES:
                    return data.decode()
            except Exception:  # noqa: BLE001, S110 - nothing of it may reach a model
                pass
            break
    raise SourceError(READ_FAILED, hint="try again, or look at what the provider reports")


def _authority(provider: Provider) -> str:
    try:
        return str(provider.authority)
    except Exception:  # noqa: BLE001 - as above
        return ""
