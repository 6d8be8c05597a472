"""What git is told and what it answers: arguments and environment that run nothing of the source's,
and lists taken apart. Pure.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import MetierError, RefusedError, SourceError
from metier.standard.names import one_line
from metier.supply.model import Item
from metier.supply.sources.addresses import COMMIT_HASH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from metier.model import Texts
    from metier.supply.model import ItemMode
    from metier.supply.sources.addresses import Address

SUBMODULE = "commit:"
"""What the key of a submodule begins with: an entry that stands for another repository, and is
never fetched."""
LFS_PREFIX = b"version https://git-lfs.github.com/spec/v1\n"
"""What a pointer begins with that stands for a file kept elsewhere."""
MAX_LFS_POINTER_BYTES = 1024
MAX_ENTRY_BYTES = 8192
"""A longer line of a listing is not one that git wrote about a file."""

# What git may know of this user: who they are, how their own helpers and agents are reached and
# what those need, and their proxy.
_KEPT = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SSH_AUTH_SOCK",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "TMPDIR",
    "GIT_CONFIG_GLOBAL",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSL_CAINFO",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTPS_PROXY",
    "https_proxy",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
    "GH_CONFIG_DIR",
    "GH_TOKEN",
    "GITHUB_TOKEN",
    "GH_ENTERPRISE_TOKEN",
    "GNUPGHOME",
    "PASSWORD_STORE_DIR",
    "SYSTEMROOT",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "PATHEXT",
    "COMSPEC",
)
_CONFIG = (
    # nothing of anybody's is run
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.askPass=",
    "core.alternateRefsCommand=",
    "core.pager=cat",
    # nothing but what was asked for is fetched
    "fetch.recurseSubmodules=false",
    "submodule.recurse=false",
    "transfer.bundleURI=false",
    "remote.origin.promisor=false",
    "fetch.prune=false",
    "fetch.writeCommitGraph=false",
    "http.followRedirects=false",
    # what comes is checked, and kept as one pack whose size can be watched
    "transfer.fsckObjects=true",
    "fetch.fsckObjects=true",
    "fetch.unpackLimit=1",
    "core.bigFileThreshold=16m",
    "core.deltaBaseCacheLimit=32m",
    "pack.threads=4",
    "gc.auto=0",
    "maintenance.auto=false",
    # old repositories have dates and modes that were written wrongly and harm nobody
    "fetch.fsck.zeroPaddedFilemode=ignore",
    "fetch.fsck.badTimezone=ignore",
    "fetch.fsck.missingSpaceBeforeDate=ignore",
    "fetch.fsck.missingSpaceBeforeEmail=ignore",
    "fetch.fsck.missingNameBeforeEmail=ignore",
    "fetch.fsck.badEmail=ignore",
    # a server that stops answering is left
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=30",
)
UPLOAD_PACK = (
    "GIT_ALLOW_PROTOCOL= git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c "
    "core.alternateRefsCommand="
    " -c core.bigFileThreshold=16m upload-pack"
)
"""What answers for a repository on this machine, whose own configuration is as strange as that of
any other: it reaches nobody."""
ALLOC_LIMIT = "256m"
"""What git may ask for at once: a few bytes can say that an object is made of another one thousands
of times over."""

_LINE = re.compile(rb"(\d{6}) (blob|tree|commit) ([0-9a-f]{40,64}) +(-|\d{1,15})\t", re.DOTALL)
_MODES: dict[bytes, ItemMode] = {
    b"100644": "file",
    b"100664": "file",
    b"100755": "exec",
    b"120000": "link",
}
_SECRET = re.compile(r"(//)[^/@\s]{1,256}@")
_MISSING = (
    "not found",
    "does not exist",
    "does not appear to be a git repository",
    "error: 404",
    "not a git repository",
)
_CLOSED = (
    "could not read username",
    "could not read password",
    "authentication failed",
    "permission denied",
    "error: 401",
    "error: 403",
    "terminal prompts disabled",
    "host key verification failed",
)
_ENTRY = (
    "hasdot",
    "fullpathname",
    "nullsha1",
    "emptyname",
    "duplicateentries",
    "treenotsorted",
    "gitmodules",
    "symlink",
)


class RefTip(NamedTuple):
    """A ref of a source, and the commit it leads to."""

    name: str
    commit: str

    @property
    def is_own(self) -> bool:
        """Whether the source's own people put it there: a branch or a tag, not what a stranger sent
        in.
        """
        return self.name == "HEAD" or self.name.startswith(("refs/heads/", "refs/tags/"))


def cache_name(source: str) -> str:
    """Give what our own copy of a repository is called, by the one spelling of its source."""
    return blake2b(source.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def environment(env: Mapping[str, str], protocols: Iterable[str], ssh: str = "") -> dict[str, str]:
    """Give git an environment of few words: nothing asks, nothing is fetched later, nothing is
    run.
    """
    kept = {name: env[name] for name in _KEPT if name in env}
    if ssh and "GIT_SSH" not in kept:
        kept.setdefault("GIT_SSH_COMMAND", ssh)
    return {
        **kept,
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": ":".join(protocols),
        "GIT_PROTOCOL_FROM_USER": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_ALLOC_LIMIT": ALLOC_LIMIT,
    }


def command(repository: str, protocols: Iterable[str], *more: str) -> list[str]:
    """Give the beginning of every call of git, up to its verb."""
    allowed = [f"protocol.{name}.allow=always" for name in protocols]
    settings = [*_CONFIG, "protocol.allow=never", *allowed, *more]
    # Without a repository, none that happens to lie around this process may have a say.
    return [
        "git",
        f"--git-dir={repository or '/dev/null'}",
        *(word for one in settings for word in ("-c", one)),
    ]


_PINNING = (2, 37)
"""The first git that knows `http.curloptResolve`; an older one would pass over it without a
word."""


def pins_addresses(said: bytes) -> bool:
    """Tell by what `git --version` says whether this git connects to the address that it is told
    to.
    """
    found = re.search(rb"(\d{1,4})\.(\d{1,4})", said)
    return found is not None and (int(found[1]), int(found[2])) >= _PINNING


def pin_host(host: str, port: str, addresses: Iterable[str]) -> str:
    """Give the setting that pins a host to the addresses that were checked."""
    places = ",".join(f"[{address}]" if ":" in address else address for address in addresses)
    return f"http.curloptResolve={host}:{port}:{places}"


def wanted_refs(ref: str) -> Texts:
    """Give the full names that a ref may have, in the order that counts; nothing means what the
    source itself shows first.
    """
    if not ref:
        return ("HEAD",)
    if ref == "HEAD" or ref.startswith("refs/"):
        return (ref,)
    return (f"refs/heads/{ref}", f"refs/tags/{ref}", f"refs/{ref}")


def read_tips(data: bytes) -> dict[str, RefTip]:
    """Read what `ls-remote` says; a tag counts as the commit behind it."""
    found = {}
    for line in data.split(b"\n"):
        digest, tab, name = line.decode("utf-8", "surrogateescape").partition("\t")
        if not tab or not COMMIT_HASH.match(digest):
            continue
        bare = name.removesuffix("^{}")
        if bare not in found or bare != name:
            found[bare] = RefTip(bare, digest)
    return found


def choose_tip(ref: str, known: Mapping[str, RefTip]) -> RefTip | None:
    """Give the tip that a ref means."""
    return next((known[name] for name in wanted_refs(ref) if name in known), None)


def read_entries(chunks: Iterable[bytes]) -> Iterator[Item]:
    """Read what `ls-tree -r -z -l` says, a piece at a time."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\0")
        if len(max((*lines, rest), key=len)) > MAX_ENTRY_BYTES:
            raise RefusedError(
                "the repository holds a name of many thousand characters",
                code="unsafe-path",
                hint="no honest repository does",
            )
        yield from map(_entry, lines)
    if rest:
        raise SourceError("git broke off in the middle of a list", code="git", hint="try again")


def _entry(line: bytes) -> Item:
    found = _LINE.match(line)
    if found is None:
        raise SourceError(
            "git listed something that metier cannot read",
            code="git",
            hint="the repository may be damaged",
        )
    mode, kind, key, size = found.groups()
    path = line[found.end() :].decode("utf-8", "surrogateescape")
    name = key.decode()
    if kind == b"commit":
        return Item(path, 0, "other", SUBMODULE + name)
    return Item(path, int(size) if size != b"-" else 0, _MODES.get(mode, "other"), name)


def read_batch_header(header: bytes, item: Item) -> int:
    """Read what `cat-file --batch` says before the bytes of an object; they must be those that the
    list promised.
    """
    if header.split() != [item.key.encode("utf-8", "replace"), b"blob", str(item.size).encode()]:
        raise SourceError(
            "an object of the repository is missing or damaged", code="git", hint="fetch it again"
        )
    return item.size


def git_error(message: bytes, source: str) -> MetierError:
    """Say what git's complaint means. What a server writes is shown without control characters, and
    never with a password.
    """
    text = message.decode("utf-8", "replace")
    lower = text.lower()
    told = _without_secrets(text)
    if re.search(r"error: 30\d", lower):
        return RefusedError(
            f"{source} redirects git to another address",
            code="redirect",
            hint="name the address it leads to",
        )
    if "attempting to allocate" in lower and "over limit" in lower:
        return RefusedError(
            f"{source} expands to far more than its size",
            code="bomb",
            hint="no honest repository does",
        )
    if "not allowed" in lower and "transport" in lower:
        return RefusedError(
            f"{source}: {told}",
            code="unsafe-transport",
            hint="https, ssh and file are ways to fetch a repository",
        )
    if any(f": {word}" in lower for word in _ENTRY) or "fsck error" in lower:
        unsafe = "hasdot" in lower or "fullpathname" in lower
        return RefusedError(
            f"{source} holds what git itself refuses: {told}",
            code="unsafe-path" if unsafe else "malformed",
            hint="no honest repository does",
        )
    if (
        "couldn't find remote ref" in lower
        or "not our ref" in lower
        or "no such remote ref" in lower
    ):
        return SourceError(
            f"{source} has no such ref",
            code="not-found",
            hint="list what there is: git ls-remote",
        )
    if any(words in lower for words in _CLOSED):
        return SourceError(
            f"{source}: access denied: {told}",
            code="git",
            hint="metier uses your own git credentials and ssh agent; try 'git ls-remote' on it",
        )
    if any(words in lower for words in _MISSING):
        return SourceError(
            f"{source} not found: {told}",
            code="not-found",
            hint="a private repository looks the same",
        )
    return SourceError(
        f"git could not fetch {source}: {told}", code="git", hint="try 'git ls-remote' on it"
    )


def is_closed(error: MetierError) -> bool:
    """Tell whether another way in, with other credentials, may be open."""
    return error.code == "not-found" or "not open to you" in error.message


def _without_secrets(text: str) -> str:
    lines = [
        line
        for line in text.splitlines()
        if line.startswith(("fatal:", "error:", "remote:", "ssh:"))
    ] or text.splitlines()
    line = one_line(" ".join(lines[:3]))
    shown = "".join(letter if letter.isprintable() else "?" for letter in line)
    return _SECRET.sub(r"\1", shown)[:300] or "it gave no reason"


def form_of(commit: str) -> str:
    """Say which kind of repository has a commit of such a name."""
    return "sha256" if len(commit) == 64 else "sha1"


def port_of(address: Address) -> int:
    """Give the port that an address means."""
    return int(address.port or {"https": 443, "http": 80, "ssh": 22}.get(address.scheme, 0))


def no_commit(what: str) -> SourceError:
    """Say that a name leads to no commit."""
    return SourceError(
        f"{what} is not a commit", code="git", hint="name a branch, a tag or a commit"
    )
