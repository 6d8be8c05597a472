"""How sources are named: what somebody wrote, taken apart into a `Request`, and the one spelling
under which it is remembered.

Nothing is looked up here. What could be taken for an option, another transport or a way out of a
repository is refused, and an address with a password or token in it is never repeated.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from metier.errors import AmbiguousError, NotFoundError, UsageError
from metier.supply.model import Request
from metier.supply.sources.addresses import Address, address_of, check_path, check_ref, check_text
from metier.supply.sources.hub_names import HUB_AT, check_hub_ref, is_hub, parse_hub
from metier.supply.sources.oci_names import check_oci_ref, is_oci, parse_oci, repository_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.model import Texts
    from metier.supply.model import Origin, SourceKind

    KindOf = Callable[[str], str | None]


MCP = "mcp+"
"""What the name of an MCP server begins with."""
COMMAND = "stdio:"
"""What the place of an MCP server begins with that is a command."""
CLAWHUB_URL = "https://clawhub.ai"
"""The registry that `clawhub:slug` means."""
ARCHIVE_ENDINGS = (
    ".zip",
    ".skill",
    ".tar",
    ".tar.gz",
    ".tgz",
    ".tar.xz",
    ".txz",
    ".tar.zst",
    ".tzst",
)

_GITHUB = frozenset({"github.com", "www.github.com", "ssh.github.com"})
_FORGES = frozenset({"gitlab.com", "bitbucket.org", "codeberg.org", "git.sr.ht"})
_RELAYS = frozenset({"skills.sh", "www.skills.sh"})
_ON_DISK = frozenset({"folder", "archive", "bundled"})
_ABSOLUTE = re.compile(r"/|[A-Za-z]:[\\/]")
_OWNER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}\Z")
_REPOSITORY = re.compile(r"[A-Za-z0-9_.-]{1,100}\Z")
_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}(?:/[A-Za-z0-9][A-Za-z0-9._-]{0,127})?\Z")
_SCP = re.compile(
    r"([A-Za-z0-9_][A-Za-z0-9_.-]{0,63})@([A-Za-z0-9][A-Za-z0-9.-]{0,252}):([^:].*)\Z", re.DOTALL
)
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}(?::[A-Za-z0-9][A-Za-z0-9._-]{0,127})?\Z")
_FORMS = (
    "write owner/repo, https://host/repo.git#ref:path, a folder, an archive, a site, "
    "marketplace:SOURCE, clawhub:SLUG, mcp+https://host/mcp, oci://host/repository:tag or "
    "hub:NAMESPACE/NAME"
)


class _Machine(NamedTuple):
    """This machine, as far as it tells what a name means."""

    cwd: str
    home: str | None
    kind_of: KindOf

    def absolute(self, text: str) -> str:
        """Give a path as it is from the top."""
        if text == "~" or text.startswith("~/"):
            if not self.home:
                raise UsageError(
                    f"'{text}' cannot be found: there is no home folder",
                    hint="write the whole path",
                )
            text = self.home + text[1:]
        drive = len(text) > 2 and text[1] == ":" and text[2] in "\\/"
        return posixpath.normpath(text if drive or text.startswith("/") else f"{self.cwd}/{text}")

    def is_bare(self, path: str) -> bool:
        """Tell whether a folder is a repository without files of its own."""
        kinds = {"HEAD": "file", "objects": "folder", "refs": "folder"}
        return all(self.kind_of(f"{path}/{name}") == kind for name, kind in kinds.items())


def parse(
    said: str,
    *,
    cwd: str,
    home: str | None,
    ref: str = "",
    kind_of: KindOf,
    taps: Sequence[str] = (),
) -> Request:
    """Take apart what somebody wrote after `metier add`; `ref` is what `--ref` said, `kind_of`
    tells a folder from a file.
    """
    text = check_text(said.strip(), "a source")
    request = _parsed(text, _Machine(cwd, home, kind_of), taps)._replace(said=said)
    if not ref:
        return request
    if request.ref and request.ref != ref:
        raise UsageError(
            f"'{request.ref}' and '{ref}' are both asked for",
            hint="give the ref once, after # or with --ref",
        )
    if request.kind == "mcp":
        raise UsageError("an MCP server has no versions", hint="leave the ref out")
    if request.kind in {"folder", "bundled"}:
        return _repository(f"file://{request.location}", ref)._replace(said=said)
    check = {"oci": check_oci_ref, "hub": check_hub_ref}.get(request.kind, check_ref)
    return request._replace(ref=check(ref))


def _parsed(text: str, machine: _Machine, taps: Sequence[str]) -> Request:
    head, _, rest = text.partition(":")
    if head == "marketplace":
        inner = _parsed(check_text(rest.strip(), "a marketplace"), machine, taps)
        if inner.kind not in {"git", "folder"}:
            raise UsageError(
                "a marketplace is a repository or a folder",
                hint="write marketplace:owner/repo or marketplace:./folder",
            )
        return inner._replace(kind="marketplace")
    if head == "tap":
        return _parsed(_only_tap(rest, taps), machine, ())
    if head == "clawhub":
        return _clawhub(rest)
    if text.startswith(MCP):
        return Request("mcp", server_place(text))
    if head == "github":
        return _shorthand(rest) or _unknown(text)
    if is_oci(text) or is_hub(text):
        return parse_oci(text) if is_oci(text) else parse_hub(text)
    if "://" in text or text.startswith("git+"):
        return _addressed(text, machine)
    return _local(text, machine) or _scp(text) or _shorthand(text) or _unknown(text)


def refuse_missing_path(said: str, cwd: str, kind_of: KindOf) -> None:
    """Refuse what reads like OWNER/REPO where OWNER is a folder here: a path was meant, and nobody
    is asked for a repository instead.
    """
    place = said.strip().partition("#")[0]
    first = place.partition("/")[0]
    if "/" not in place or first in {"", ".", "..", "~"} or _shorthand(place) is None:
        return
    if kind_of(f"{cwd}/{first}") == "folder" and kind_of(f"{cwd}/{place}") is None:
        raise NotFoundError(
            f"there is nothing at {place}",
            hint=f"{first} is a folder here. If you mean the repository: github:{place}",
        )


def is_plain_name(said: str) -> bool:
    """Tell a skill's name, `pdf` or `plugin:pdf`, which only a search can find, from a source."""
    return _PLAIN.match(said.strip()) is not None


def tap_sources(name: str, taps: Sequence[str]) -> Texts:
    """Give the repositories of a tap: those written `name=source` in the configuration, and the one
    that ends with the name.
    """
    found = []
    for tap in taps:
        source = tap_source(tap)
        own = {tap, tap.rstrip("/").rpartition("/")[2].removesuffix(".git")}
        if name in (own if source == tap else {tap.partition("=")[0].strip()}):
            found.append(source)
    return tuple(dict.fromkeys(found))


def tap_source(tap: str) -> str:
    """Give what a tap of the configuration is a name for, as `add` takes it."""
    named, equals, source = tap.partition("=")
    return source.strip() if equals and "/" not in named and ":" not in named else tap


def canonical(request: Request) -> str:
    """Give the one spelling of a source that the lock keeps and trust is decided by."""
    location = request.location
    if request.kind == "clawhub":
        return f"clawhub:{location}"
    if request.kind == "mcp":
        return MCP + location
    if request.kind == "hub":
        return location if location.startswith("hub:") else HUB_AT + location
    if request.kind not in {"git", "marketplace"} or location.startswith("/"):
        address = address_of(location) if "://" in location else None
        if address is not None and address.host in _GITHUB | _RELAYS:
            # Anybody can attach a file to a repository of somebody else: such an address earns
            # nothing by how it begins.
            return f"{request.kind}:{location}"
        return location
    scp = _SCP.match(location)
    if scp:
        _, host, path = scp.groups()
        host = host.lower()
    else:
        address = address_of(location)
        host = address.host
        path = address.path
    if host in _GITHUB:
        return f"https://github.com/{path.strip('/').removesuffix('.git')}"
    return f"{scp[1]}@{host}:{path.rstrip('/')}" if scp else location.rstrip("/")


def unvouched(origin: Origin) -> Origin:
    """Give what trust is told of a commit that no branch and no tag of its source leads to: the
    source did not put it there.
    """
    return origin._replace(source=f"{origin.source}/commit/{origin.commit}")


def request_of(kind: SourceKind, source: str, ref: str, path: str) -> Request:
    """Give the request that a lock's words stand for. They are checked as anything that somebody
    wrote.
    """
    text = check_text(source, "a source")
    path = check_path(path)
    if kind == "oci":
        fixed = check_oci_ref(ref) if ref else ""
        return parse_oci(text)._replace(ref=fixed, path=path, said=source)
    if kind == "hub":
        fixed = check_hub_ref(ref) if ref else ""
        return parse_hub(text)._replace(ref=fixed, path=path, said=source)
    ref = check_ref(ref) if ref else ""
    if kind == "clawhub":
        return _clawhub(text.removeprefix("clawhub:"))._replace(ref=ref, path=path, said=source)
    if kind == "mcp":
        return Request(kind, server_place(text), ref, path, source)
    if kind in {"git", "marketplace"} and not text.startswith("/"):
        request = _scp(text) or _git(address_of(text), "", "")
        return request._replace(kind=kind, ref=ref, path=path, said=source)
    bare = text.removeprefix(f"{kind}:")
    if kind in _ON_DISK and not _ABSOLUTE.match(bare) and (kind != "archive" or "://" not in bare):
        # Such a folder could be called as a trusted repository is, and be taken for it.
        raise UsageError(
            f"'{bare}' is not the whole path of a folder or an archive",
            code="unknown-source",
            hint="a lock names one from its project's top, with ./, or by its whole path",
        )
    if "://" in bare:
        address_of(bare)
    return Request(kind, bare, ref, path, source)


def hosts_of(request: Request) -> Texts:
    """Give the hosts that a request names, each with its port where that is not the usual one."""
    if request.kind == "mcp" and request.location.startswith(COMMAND):
        return ()
    if request.kind == "oci":
        return (repository_of(request.location).base.place,)
    scp = _SCP.match(request.location)
    if scp:
        return (scp[2].lower(),)
    if request.location.startswith("/") or "://" not in request.location:
        return ()
    address = address_of(request.location)
    return (address.place,) if address.host else ()


# --- the kinds


def _local(text: str, machine: _Machine) -> Request | None:
    """Read what lies on this machine; None when it does not look like it and is not there."""
    request = _local_at(machine.absolute(text), machine)
    if request is None and "#" in text:
        place, ref, path = _split(text)
        below = machine.absolute(place)
        if machine.kind_of(below) == "folder":
            return _repository(f"file://{below}", ref, path)
    if request is None and text.startswith((".", "/", "~", "\\")):
        raise UsageError(
            f"'{text}' does not exist",
            hint="a local source is a folder, or a .zip, .tar.gz, .tar.xz or .tar.zst",
        )
    return request


def _local_at(path: str, machine: _Machine) -> Request | None:
    kind = machine.kind_of(path)
    if kind == "folder":
        # There is nothing in a bare repository to read but through git.
        return _repository(f"file://{path}") if machine.is_bare(path) else Request("folder", path)
    if kind is None:
        return None
    if path.lower().endswith("/skill.md"):
        return Request("folder", posixpath.dirname(path) or "/")
    if kind == "file" and path.lower().endswith(ARCHIVE_ENDINGS):
        return Request("archive", path)
    raise UsageError(
        f"'{path}' is neither a folder nor an archive", hint="a skill is a folder with a SKILL.md"
    )


def _repository(location: str, ref: str = "", path: str = "") -> Request:
    return Request("git", location, check_ref(ref) if ref else "", check_path(path))


def _addressed(text: str, machine: _Machine) -> Request:
    is_git = text.startswith("git+")
    place, ref, path = _split(text.removeprefix("git+"))
    address = address_of(place)
    if address.scheme == "file" and not (is_git or ref or path):
        # An address of a folder, which is how git writes one, means the repository there.
        folder = machine.absolute(address.path)
        if machine.kind_of(f"{folder}/.git") is None and not machine.is_bare(folder):
            return _local_at(folder, machine) or _unknown(text)
    if is_git or address.scheme in {"file", "ssh", "git+ssh"} or address.path.endswith(".git"):
        return _git(address, ref, path)
    if address.host in _GITHUB:
        return _github_page(address, ref, path)
    if "/-/" in address.path or address.host in _FORGES:
        return _forge_page(address, ref, path)
    if address.host in _RELAYS:
        return _relayed(address)
    if ref or path:
        raise UsageError(
            "only a repository has a ref or a path after #", hint="write git+https://… if it is one"
        )
    return _web(address)


def _git(address: Address, ref: str, path: str) -> Request:
    if address.scheme not in {"https", "http", "ssh", "file"}:
        raise UsageError(
            f"'{address.scheme}' is not a way to fetch a repository",
            code="unsafe-transport",
            hint="https, ssh and file are",
        )
    if address.host in _GITHUB:
        parts = address.path.strip("/").removesuffix(".git").split("/")
        if len(parts) != 2 or not _is_repository(*parts):
            raise UsageError(
                "that is not the address of a repository on GitHub",
                hint="write owner/repo, or owner/repo#ref:path",
            )
    if not address.path.strip("/") or address.query:
        raise UsageError(
            "that is not the address of a repository", hint="write https://host/path/repo.git"
        )
    return _repository(address.text.rstrip("/"), ref, path)


def _github_page(address: Address, ref: str, path: str) -> Request:
    """Read a page of a repository: its front, a folder or a file of it; other files are what they
    end with.
    """
    parts = [part for part in address.path.split("/") if part]
    if len(parts) < 2 or not _is_repository(parts[0], parts[1].removesuffix(".git")):
        raise UsageError(
            "that is not the address of a repository on GitHub", hint="write owner/repo"
        )
    if len(parts) > 3 and parts[2] in {"tree", "blob", "raw"}:
        ref, path = _page(parts[3:], ref, path)
    elif len(parts) > 2:
        return _web(address)
    return _repository(f"https://github.com/{parts[0]}/{parts[1].removesuffix('.git')}", ref, path)


def _forge_page(address: Address, ref: str, path: str) -> Request:
    front, dash, page = address.path.partition("/-/")
    parts = page.split("/")
    if dash and len(parts) > 1 and parts[0] in {"tree", "blob", "raw"}:
        ref, path = _page(parts[1:], ref, path)
    elif dash or address.path.lower().endswith(ARCHIVE_ENDINGS):
        return _web(address)
    return _git(address._replace(path=front.rstrip("/"), query=""), ref, path)


def _page(parts: list[str], ref: str, path: str) -> tuple[str, str]:
    """Give ref and path of a page; a file stands for its folder. A ref with a slash cannot be told
    from a path here.
    """
    inside = [part for part in parts[1:] if part]
    if inside and inside[-1].lower().endswith(".md"):
        inside.pop()
    return ref or parts[0], path or "/".join(inside)


def _relayed(address: Address) -> Request:
    """Read a page of a site that lists repositories on GitHub (HE-36)."""
    parts = [part for part in address.path.split("/") if part]
    if len(parts) == 2 and _is_repository(*parts):
        return Request("git", f"https://github.com/{parts[0]}/{parts[1]}")
    owner, name, *rest = *parts, "", ""
    raise UsageError(
        f"{address.host} only lists skills; they lie in repositories",
        hint=f"write {owner}/{name} --skill {rest[0]}"
        if _is_repository(owner, name) and rest
        else "write owner/repo --skill NAME",
    )


def _web(address: Address) -> Request:
    if address.scheme not in {"https", "http"}:
        raise UsageError(
            f"'{address.scheme}' is not a way to fetch anything",
            code="unsafe-transport",
            hint=_FORMS,
        )
    lower = address.path.lower()
    if lower.endswith(ARCHIVE_ENDINGS):
        return Request("archive", address.text)
    if lower.endswith(".md"):
        return Request("file", address.text)
    if address.query:
        raise UsageError(
            "a site with a well-known index has no query in its address",
            hint="write https://example.com",
        )
    return Request("well-known", address.text.rstrip("/"))


def _scp(text: str) -> Request | None:
    place, ref, path = _split(text)
    found = _SCP.match(place)
    if found is None:
        return None
    if found[2].lower() in _GITHUB and not _is_repository(
        *found[3].strip("/").removesuffix(".git").partition("/")[::2]
    ):
        raise UsageError(
            "that is not the address of a repository on GitHub", hint="write owner/repo"
        )
    if found[3].startswith("-") or " " in found[3] or ".." in found[3].split("/"):
        raise UsageError(
            "the address climbs, or could be taken for an option",
            code="unsafe-path",
            hint="write ssh://user@host/path",
        )
    return _repository(place.rstrip("/"), ref, path)


def _shorthand(text: str) -> Request | None:
    """Read `owner/repo`, `owner/repo/path`, `owner/repo#ref` and `owner/repo#ref:path`."""
    place, ref, path = _split(text)
    name, at, after = place.partition("@")
    if at and _is_repository(*name.partition("/")[::2]) and _PLAIN.match(after):
        raise UsageError(
            f"'{place}' may mean a ref or a skill",
            hint=f"write {name}#{after} for a ref, or {name} --skill {after}",
        )
    owner, _, rest = place.strip("/").partition("/")
    name, _, inside = rest.partition("/")
    name = name.removesuffix(".git")
    if not _is_repository(owner, name):
        return None
    if inside and path:
        raise UsageError(f"'{inside}' and '{path}' are both asked for", hint="give the path once")
    return _repository(f"https://github.com/{owner}/{name}", ref, path or inside)


def _clawhub(rest: str) -> Request:
    registry = CLAWHUB_URL
    slug = rest
    if "://" in rest:
        address = address_of(rest)
        base, _, slug = address.text.rstrip("/").rpartition("/")
        registry = base if address.path.strip("/") else ""
    slug, _, version = slug.partition("@")
    if not registry or not _SLUG.match(slug):
        raise UsageError(
            "that is not a skill of a registry",
            hint="write clawhub:slug, clawhub:slug@1.2.0 or clawhub:https://registry/slug",
        )
    return Request("clawhub", f"{registry}/{slug}", check_ref(version) if version else "")


def server_place(said: str) -> str:
    """Give where an MCP server is, in one spelling: its address, or `stdio:` and a command."""
    text = check_text(said.strip(), "an MCP server").removeprefix(MCP)
    if text.startswith(COMMAND):
        return COMMAND + shlex.join(command_words(text))
    address = address_of(text)
    if address.scheme not in {"https", "http"} or not address.host:
        raise UsageError(
            "that is not the address of an MCP server",
            code="unsafe-transport",
            hint="write mcp+https://host/mcp, or 'mcp+stdio:COMMAND ARGUMENTS'",
        )
    return address.text


def command_words(place: str) -> Texts:
    """Give the words of a command that is an MCP server."""
    try:
        words = shlex.split(place.removeprefix(COMMAND))
    except ValueError:
        words = []
    if not words or not words[0] or words[0].startswith("-"):
        raise UsageError(
            "that is not a command",
            hint="write 'mcp+stdio:COMMAND ARGUMENTS', quoted as for a shell",
        )
    return tuple(words)


def _only_tap(name: str, taps: Sequence[str]) -> str:
    found = tap_sources(name.strip(), taps)
    if len(found) == 1:
        return found[0]
    if found:
        raise AmbiguousError(
            f"the tap '{name}' has {len(found)} repositories",
            hint=f"choose one: {', '.join(found)}",
        ).with_details(candidates=list(found))
    raise UsageError(
        f"there is no tap '{name}'", hint="taps are named under [supply] in the configuration"
    )


def _is_repository(owner: str, name: str) -> bool:
    return bool(_OWNER.match(owner) and _REPOSITORY.match(name)) and name not in {".", ".."}


def _split(text: str) -> tuple[str, str, str]:
    place, _, after = text.partition("#")
    ref, _, path = after.partition(":")
    return place, ref, path


def _unknown(text: str) -> NoReturn:
    # What has an @ in it may be a mistyped address with a token, which is never repeated.
    shown = "that" if "@" in text else f"'{text if len(text) <= 200 else text[:200] + '…'}'"
    raise UsageError(f"{shown} is not a source metier knows", code="unknown-source", hint=_FORMS)
