"""Opens git repositories: one ref, one commit deep, into a bare repository of our own.

Nothing of the source is run: no hook, filter, submodule, LFS smudge, alternate, bundle or prompt. Whom git talks to is checked
before it does, and what comes is checked by git itself on the way in.
"""

from __future__ import annotations

import shutil
import socket
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from metier.errors import MetierError, RefusedError, SourceError, StoreError
from metier.keeping import disk as keeping
from metier.supplies import Origin
from metier.supply import addresses, gitlist, sources
from metier.supply.git.bare.proc import HAVE, OWN, Bare, DamagedError, GitTree
from metier.supply.git.running import proc
from metier.supply.git.running.proc import Bounds
from metier.supply.naming import HASH, Address, address_of, checked_path, checked_ref
from metier.supply.net import Client

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from metier.settings.tables import Supply
    from metier.supplies import Request
    from metier.supply.gitlist import Tip

_T = TypeVar("_T")
_SSH = "ssh -o BatchMode=yes -o ConnectTimeout=20"
_GITHUB = "https://github.com/"
_ASKED = "/info/refs?service=git-upload-pack"
"""What git asks a server for first."""


class GitFetcher:
    """Opens repositories over https, ssh and file, by branch, tag or commit, with the user's own credentials."""

    def __init__(self, cache: str, limits: Supply, env: Mapping[str, str], *,
                 lookup: Callable[[str, int], Sequence[str]] | None = None) -> None:  # fmt: skip
        """Keep repositories below `cache`; `lookup` gives the addresses of a host and a port."""
        self.cache, self.limits, self.env = cache, limits, env
        self.lookup = lookup or _looked_up

    def open(self, request: Request) -> GitTree:
        """Open a repository at the ref that was asked for; a commit that is here already needs no network."""
        until = time.monotonic() + self.limits.seconds
        try:
            return self._opened(request, until)
        except DamagedError:
            with self._alone(request) as bare:
                shutil.rmtree(bare.path, ignore_errors=True)
        try:
            return self._opened(request, until)
        except DamagedError as error:
            raise gitlist.fault(error.told, sources.canonical(request)) from error

    def newest(self, request: Request) -> str:
        """Give the commit that `open` would resolve to now."""
        if HASH.match(request.ref):
            return request.ref
        until = time.monotonic() + self.limits.seconds
        return self._by_any_way(request, lambda remote: remote.tip(request.ref, until)).commit

    def _opened(self, request: Request, until: float) -> GitTree:
        ref, path = checked_ref(request.ref) if request.ref else "", checked_path(request.path)
        with self._alone(request) as bare:
            if HASH.match(ref):
                commit = ref
                bare.make(until, "sha256" if len(ref) == 64 else "sha1")
                if not bare.has(HAVE + ref, until):
                    self._by_any_way(request, lambda remote: remote.fetch_commit(bare, ref, until))
            else:
                tip = self._by_any_way(request, lambda remote: remote.tip(ref, until))
                bare.make(until, "sha256" if len(tip.commit) == 64 else "sha1")
                commit = self._by_any_way(request, lambda remote: remote.fetch_tip(bare, tip, until))
        origin = Origin("git", sources.canonical(request._replace(kind="git")), request.ref, commit)
        return GitTree(bare, origin, path, self.limits, until, lambda: self._is_own(request, bare, commit))

    def _is_own(self, request: Request, bare: Bare, commit: str) -> bool:
        """Find out whether a commit lies on a branch or a tag: as noted, or by the source's history, commits alone."""
        until = time.monotonic() + self.limits.seconds
        if bare.has(OWN + commit, until):
            return True
        try:
            with self._alone(request):
                found = self._by_any_way(request, lambda remote: remote.is_in_history(bare, commit, until))
                if found:
                    bare.note(OWN + commit, commit, until)
        except (MetierError, DamagedError):
            return False
        return found

    @contextmanager
    def _alone(self, request: Request) -> Iterator[Bare]:
        """Let one process at a time change our copy of a source."""
        source = sources.canonical(request._replace(kind="git"))
        name = gitlist.cache_name(source)
        try:
            keeping.make(self.cache, None)
            with keeping.alone(f"{self.cache}/{name}.lock", float(self.limits.seconds)):
                yield Bare(f"{self.cache}/{name}.git", self.env)
        except TimeoutError as error:
            raise SourceError(f"another process fetches {source}", code="timeout", hint="try again when it is done") from error
        except OSError as error:
            raise StoreError(f"the cache of repositories cannot be used: {error}", hint=f"see to {self.cache}") from error

    def _by_any_way(self, request: Request, task: Callable[[Remote], _T]) -> _T:
        """Ask a source; a repository on GitHub that is closed over https is tried over ssh, for who has only a key (CX-64)."""
        try:
            return task(self._remote(request.location))
        except RefusedError as error:
            if error.code != "redirect" or not request.location.startswith(("https://", "http://")):
                raise
            return task(self._remote(self._led_to(request.location), moved=True))
        except SourceError as error:
            if not request.location.startswith(_GITHUB) or not gitlist.is_closed(error):
                raise
            place = request.location.removeprefix(_GITHUB).removesuffix(".git")
            try:
                return task(self._remote(f"ssh://git@github.com/{place}.git"))
            except SourceError:
                raise error from None

    def _led_to(self, location: str) -> str:
        """Follow where a server sends git, every hop judged; git itself follows nobody."""
        named = (address_of(location).place,)
        client = Client(self.limits, named=named, resolve=lambda host, port: list(self.lookup(host, port)))
        with client.asked(location + _ASKED, most=self.limits.download_bytes) as answer:
            led = str(answer.url)
        if not led.endswith(_ASKED):
            raise RefusedError(f"{location} sends git to no repository", code="redirect", hint="name the address it leads to")
        return led.removesuffix(_ASKED)

    def _remote(self, location: str, *, moved: bool = False) -> Remote:
        """Check whom git would talk to, and pin it to the addresses that were checked."""
        if "://" not in location:  # user@host:path
            host = location.partition("@")[2].partition(":")[0].lower()
            self._check_host(Address("ssh", "", host, "", "", ""))
            return Remote(location, self.env, self.limits, ("ssh",))
        address = address_of(location)
        if address.scheme not in {"https", "http", "ssh", "file"}:
            raise RefusedError(f"'{address.scheme}' is not a way to fetch a repository", code="unsafe-transport",
                               hint="https, ssh and file are")  # fmt: skip
        if address.scheme == "file":
            return Remote(location, self.env, self.limits, ("file",))
        found = self._check_host(address)
        if address.scheme == "ssh":
            return Remote(location, self.env, self.limits, ("ssh",))
        is_name = not address.host.startswith("[")  # an address that is written out leads nowhere else
        pinned = (gitlist.resolved(address.host, str(_port(address)), found),) if found and is_name else ()
        if pinned and not gitlist.pins_addresses(proc.version(self.env, self.limits.seconds)):
            raise SourceError("git is too old here to be held to an address", code="git", hint="install git 2.37 or newer")
        # A user whose own configuration turns https into ssh for a host means that.
        return Remote(location, self.env, self.limits, ("ssh", address.scheme), pinned, moved=moved)

    def _check_host(self, address: Address) -> tuple[str, ...]:
        hosts, private = ({host.lower() for host in listed} for listed in (self.limits.hosts, self.limits.private_hosts))
        known = address.place in private
        if hosts and address.place not in hosts:
            raise RefusedError(f"{address.place} is not among the hosts that may be reached", code="host", hint="see supply.hosts")
        if address.scheme not in {"https", "ssh"} and not known:
            raise RefusedError(f"{address.scheme} is only for hosts of your own", code="host", hint="see supply.private_hosts")
        if known:
            return ()
        try:
            found = tuple(self.lookup(address.host.strip("[]"), _port(address)))
        except (OSError, UnicodeError) as error:  # the second is what a name of impossible parts comes to
            if address.scheme == "ssh" and isinstance(error, OSError):
                return ()  # ssh may know the host by a name of its own
            told = f"{address.host} cannot be found: {error}"
            raise SourceError(told, code="not-found", hint="see whether it is spelt right") from error
        hidden = [one for one in found if not addresses.is_public(one)]
        if hidden or not found:
            raise RefusedError(f"{address.host} has a private address ({', '.join(hidden)})", code="private-address",
                               hint="a host of your own is named in supply.private_hosts")  # fmt: skip
        return found


class Remote:
    """A source that git may talk to, and how."""

    def __init__(self, location: str, env: Mapping[str, str], limits: Supply, protocols: tuple[str, ...],
                 more: tuple[str, ...] = (), *, moved: bool = False) -> None:  # fmt: skip
        """Know the source, and what git may do to reach it."""
        self.location, self.limits, self.protocols, self.more, self.moved = location, limits, protocols, more, moved
        own = "ssh" not in protocols or _own_ssh(env)
        self.env = gitlist.environment(env, protocols, "" if own else _SSH)
        self.local = (f"--upload-pack={gitlist.UPLOAD_PACK}",) if protocols == ("file",) else ()

    def tip(self, ref: str, until: float) -> Tip:
        """Find out which commit a ref leads to now."""
        names = [name for full in gitlist.wanted_refs(ref) for name in (full, full + "^{}")]
        found = gitlist.chosen(ref, self._tips(names, until))
        if found is None:
            what = f"branch or tag '{ref}'" if ref else "branch"
            raise SourceError(f"{self.location} has no {what}", code="not-found", hint="a commit is named by its whole hash")
        return found

    def _tips(self, names: Sequence[str], until: float) -> dict[str, Tip]:
        words = gitlist.command("", self.protocols, *self.more)
        ended = proc.run([*words, "ls-remote", *self.local, "--", self.location, *names], self.env, Bounds(until))
        if ended.code:
            raise gitlist.fault(ended.errors, self.location)
        return gitlist.tips(ended.output)

    def fetch_tip(self, bare: Bare, tip: Tip, until: float) -> str:
        """Fetch what a ref leads to, unless it is here, and give the commit."""
        commit = tip.commit
        if not bare.has(HAVE + commit, until):
            self._fetch(bare, until, "--depth=1", refs=(f"+{tip.name}:refs/metier/new",))
            ended = bare.call(until, "rev-parse", "--verify", "--end-of-options", "refs/metier/new^{commit}")
            commit = ended.output.decode("ascii", "replace").strip()
            if ended.code or not HASH.match(commit):
                raise SourceError(f"'{tip.name}' is not a commit", code="git", hint="name a branch, a tag or a commit")
            bare.note(HAVE + commit, commit, until)
        if tip.is_own and not self.moved:  # what another place gives out is not this one's word
            bare.note(OWN + commit, commit, until)
        return commit

    def fetch_commit(self, bare: Bare, commit: str, until: float) -> None:
        """Fetch one commit by its hash; a server that will not give one by hash is asked for everything."""
        try:
            self._fetch(bare, until, "--depth=1", refs=(f"+{commit}:refs/metier/new",))
        except SourceError as error:
            if error.code == "timeout":
                raise
            self._fetch(bare, until, refs=("+refs/heads/*:refs/metier/heads/*", "+refs/tags/*:refs/metier/tags/*"))
            if not bare.has(commit, until):
                told = f"{self.location} has no commit {commit}"
                raise SourceError(told, code="not-found", hint="it may have been taken back") from error
            if not self.moved:
                bare.note(OWN + commit, commit, until)
        if not bare.has(commit, until):
            raise SourceError(f"{commit} is not a commit", code="git", hint="name a branch, a tag or a commit")
        bare.note(HAVE + commit, commit, until)

    def is_in_history(self, bare: Bare, commit: str, until: float) -> bool:
        """Tell whether a commit lies on a branch or a tag, by the tips, or else by all commits, without their files."""
        if self.moved:
            return False
        if any(tip.commit == commit and tip.is_own for tip in self._tips(("refs/heads/*", "refs/tags/*"), until).values()):
            return True
        history = Bare(bare.path.removesuffix(".git") + ".history.git", self.env)
        history.make(until, "sha256" if len(commit) == 64 else "sha1")
        self._fetch(history, until, "--filter=tree:0", refs=("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"))
        ended = history.call(until, "for-each-ref", "--count=1", f"--contains={commit}", "--", "refs/heads", "refs/tags")
        return ended.code == 0 and bool(ended.output.strip())

    def _fetch(self, bare: Bare, until: float, *options: str, refs: Sequence[str]) -> None:
        words = gitlist.command(bare.path, self.protocols, *self.more)
        fetch = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--no-auto-gc", *options]
        bounds = Bounds(until, self.limits.download_bytes, f"{bare.path}/objects")
        ended = proc.run([*words, *fetch, *self.local, "--", self.location, *refs], self.env, bounds)
        if ended.code and bare.path.encode("utf-8", "surrogateescape") in ended.errors:  # git complains of our own copy
            raise DamagedError(ended.errors)
        if ended.code:
            raise gitlist.fault(ended.errors, self.location)


def _own_ssh(env: Mapping[str, str]) -> bool:
    """Tell whether the user has a way of their own to start ssh, which then stays as it is."""
    if "GIT_SSH" in env or "GIT_SSH_COMMAND" in env:
        return True
    words = ["git", "config", "--includes", "--global", "--get", "core.sshCommand"]
    return proc.run(words, gitlist.environment(env, ()), Bounds(time.monotonic() + 10)).code == 0


def _port(address: Address) -> int:
    return int(address.port) if address.port else {"https": 443, "http": 80, "ssh": 22}.get(address.scheme, 0)


def _looked_up(host: str, port: int) -> tuple[str, ...]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(where[0]) for *_rest, where in found))
