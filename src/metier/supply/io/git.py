"""Opens git repositories: it fetches one ref, one commit deep, into a bare repository of our own,
and reads files from there.

Nothing of the source is run: no hook, filter, submodule, LFS smudge, alternate, bundle or prompt.
Whom git talks to is checked before it does, and what comes is checked by git itself on the way in.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from metier.errors import MetierError, RefusedError, SourceError, StoreError
from metier.store.io import safe_files
from metier.supply.io import git_process
from metier.supply.io.git_process import GitBounds, GitResult
from metier.supply.io.http import HttpClient, resolve_host
from metier.supply.model import Origin
from metier.supply.sources import addresses, git_commands, source_name
from metier.supply.sources.addresses import COMMIT_HASH, Address, address_of, check_path, check_ref
from metier.supply.sources.git_commands import environment, git_error
from metier.supply.sources.proxies import check_unresolved, has_proxy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from metier.model import Texts
    from metier.settings.model import SupplySettings
    from metier.supply.io.http import Resolve
    from metier.supply.io.quarantine import Progress
    from metier.supply.model import Contents, Item, Request
    from metier.supply.sources.git_commands import RefTip


ASK_AHEAD_OBJECTS = 32
"""How many objects are asked for before the first is read: few enough that the questions never fill
a pipe."""
MAX_CHUNK_BYTES = 1 << 18
MAX_TAGS = 10_000
RESTORE_TIMES = 3
"""How often a copy is brought back that others take away: it is fetched if it is gone, and made
anew when that did not help."""
HAVE_REFS = "refs/metier/have/"
"""Commits that are here whole."""
OWN_REFS = "refs/metier/own/"
"""Of these, those that lie on a branch or a tag of their source."""


class DamagedRepositoryError(Exception):
    """Our own copy cannot be read; it is thrown away and made again."""

    def __init__(self, told: bytes) -> None:
        """Keep what git said of it."""
        super().__init__(told)
        self.told = told


class _MissingObjectError(Exception):
    """An object cannot be read from our own copy, and nobody was given a part of it."""

    def __init__(self, told: SourceError) -> None:
        """Keep what is told when it cannot be had again either."""
        super().__init__(told)
        self.told = told


class BareRepository:
    """One bare repository below the cache. Calls of git that stay on this machine go through it."""

    def __init__(self, path: str, env: Mapping[str, str], until: float) -> None:
        """Name the place; nothing is made yet. No call goes on beyond a moment of the clock."""
        self.path = path
        self.env = environment(env, ())
        self.until = until

    def make(self, form: str = "sha1") -> None:
        """Make the repository where there is none, without anybody's template."""
        if os.path.isfile(f"{self.path}/HEAD") and os.path.isdir(f"{self.path}/objects"):
            return
        words = f"git init -q --bare --template= --object-format={form} --".split()
        ended = git_process.run_git([*words, self.path], self.env, GitBounds(self.until))
        if ended.code:
            raise git_error(ended.errors, "its own cache")

    def call(self, *words: str) -> GitResult:
        """Run a short call on this machine."""
        return git_process.run_git(
            [*git_commands.command(self.path, ()), *words], self.env, GitBounds(self.until)
        )

    def has(self, ref: str) -> bool:
        """Tell whether a ref of ours leads to a commit that is here."""
        commit = f"{ref}^{{commit}}"
        return self.call("rev-parse", "--verify", "--quiet", "--end-of-options", commit).code == 0

    def note(self, refs: str, commit: str) -> None:
        """Point a ref of ours at a commit; it is called as the commit is."""
        ended = self.call("update-ref", "--", refs + commit, commit)
        if ended.code:
            raise DamagedRepositoryError(ended.errors)


class GitTree:
    """A commit, as a list of files and their bytes."""

    def __init__(
        self,
        bare: BareRepository,
        origin: Origin,
        path: str,
        limits: SupplySettings,
        vouched: Callable[[], bool] = lambda: False,
        restore: Callable[[int], None] | None = None,
    ) -> None:
        """Read the list at once: that it can be read shows that the copy is sound.

        `vouched` tells whether the commit lies on a branch or a tag of the source, and may ask the
        source. A server can give out, under one repository's name, commits that a stranger keeps in
        a fork of it or sent in.

        `restore` brings the copy back that another process took away while this one read it, or
        that is damaged; it is told how often it was asked before.
        """
        self.bare = bare
        self.origin = origin
        self.limits = limits
        self.vouched = vouched
        self._restore = restore
        self.problems: list[str] = []
        self._batch: subprocess.Popen[bytes] | None = None
        self._items = self._listed(path)

    def items(self) -> Sequence[Item]:
        """List every file, link and submodule of the commit, or of the path that was asked for."""
        return self._items

    def _listed(self, path: str) -> tuple[Item, ...]:
        words = ["ls-tree", "-r", "-z", "-l", "--full-tree", self.origin.commit]
        found = git_commands.read_entries(
            git_process.git_output(
                [
                    *git_commands.command(self.bare.path, ()),
                    *words,
                    *(("--", path) if path else ()),
                ],
                self.bare.env,
                self.bare.until,
                DamagedRepositoryError,
            )
        )
        items = tuple(islice(found, self.limits.files + 1))
        if len(items) > self.limits.files:
            raise RefusedError(
                f"the repository has more than {self.limits.files:,} files",
                code="too-many",
                hint="name a path inside it, as in owner/repo#ref:path; supply.files is the limit",
            )
        return items

    def contents(self, items: Sequence[Item]) -> Contents:
        """Give the bytes of files, in the order asked for, through one process that stays."""
        given = 0
        for before in range(RESTORE_TIMES + 1):
            try:
                for pair in self._read(items[given:]):
                    given += 1
                    yield pair
            except _MissingObjectError as error:
                if self._restore is None or before == RESTORE_TIMES:
                    raise error.told from error
                self._restore(before)
            else:
                return

    def _read(self, items: Sequence[Item]) -> Contents:
        child = self._started()
        assert child.stdout is not None
        clean = False
        asked = 0
        try:
            for at, item in enumerate(items):
                try:
                    # By halves: a question for each file would wake the process each time.
                    if asked < len(items) and asked - at <= ASK_AHEAD_OBJECTS // 2:
                        _ask(child, items[asked : at + ASK_AHEAD_OBJECTS])
                        asked = at + ASK_AHEAD_OBJECTS
                    size = git_commands.read_batch_header(child.stdout.readline(512), item)
                except SourceError as error:  # nobody was given any of it yet
                    raise _MissingObjectError(error) from error
                chunks = self._chunks(child, item, size)
                yield item, chunks
                for _rest in chunks:  # whoever did not want them all must not shift what follows
                    pass
            clean = True
        finally:
            # somebody stopped in the middle: what the process would say next belongs to no question
            if not clean:
                self.close()

    def _chunks(self, child: subprocess.Popen[bytes], item: Item, size: int) -> Iterator[bytes]:
        assert child.stdout is not None
        left = size
        first = True
        while left:
            chunk = child.stdout.read(min(left, MAX_CHUNK_BYTES))
            if not chunk:
                raise SourceError(
                    "git broke off in the middle of a file", code="git", hint="try again"
                )
            if (
                first
                and size < git_commands.MAX_LFS_POINTER_BYTES
                and chunk.startswith(git_commands.LFS_PREFIX)
            ):
                self.problems.append(
                    f"{item.path} stands for a file that is kept elsewhere (LFS), which is not "
                    f"fetched"
                )
            left = left - len(chunk)
            first = False
            yield chunk
        if child.stdout.read(1) != b"\n":
            raise SourceError("git broke off after a file", code="git", hint="try again")

    def _started(self) -> subprocess.Popen[bytes]:
        if self._batch is None or self._batch.poll() is not None:
            self.close()
            words = [*git_commands.command(self.bare.path, ()), "cat-file", "--batch"]
            self._batch = git_process.start_git(
                words, self.bare.env, subprocess.PIPE, subprocess.DEVNULL
            )
        return self._batch

    def close(self) -> None:
        """End the process that reads."""
        child = self._batch
        self._batch = None
        if child is None:
            return
        git_process.stop_git(child)
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


def _ask(child: subprocess.Popen[bytes], items: Iterable[Item]) -> None:
    assert child.stdin is not None
    try:
        child.stdin.write(b"".join(item.key.encode() + b"\n" for item in items))
        child.stdin.flush()
    except OSError as error:
        raise SourceError("git ended while it was read", code="git", hint="try again") from error


# --- fetching

_T = TypeVar("_T")
_SSH = "ssh -o BatchMode=yes -o ConnectTimeout=20"
_GITHUB = "https://github.com/"
_ASKED = "/info/refs?service=git-upload-pack"
"""What git asks a server for first."""


class GitFetcher(NamedTuple):
    """Opens repositories over https, ssh and file, by branch, tag or commit, with the user's own
    credentials.
    """

    cache: str
    """The folder that repositories are kept below."""
    limits: SupplySettings
    env: Mapping[str, str]
    lookup: Resolve = resolve_host
    """Gives the addresses of a host and a port."""
    progress: Progress = lambda _what, _count, _total: None
    """Told how many bytes have come."""

    def open(self, request: Request) -> GitTree:
        """Open a repository at the ref that was asked for; a commit that is here already needs no
        network.
        """
        until = time.monotonic() + self.limits.seconds
        for before in range(RESTORE_TIMES):
            try:
                return self._opened(request, until)
            except DamagedRepositoryError:
                if before:  # else another process may just have taken it away: look once more
                    self._clear(request, until)
        try:
            return self._opened(request, until)
        except DamagedRepositoryError as error:
            raise git_error(error.told, source_name.canonical(request)) from error

    def _clear(self, request: Request, until: float) -> None:
        """Throw away a copy that cannot be read."""
        with self._alone(request, until) as bare:
            shutil.rmtree(bare.path, ignore_errors=True)

    def _fetch_again(self, request: Request, commit: str, before: int) -> None:
        """Bring back a copy that was taken away while somebody read it, or that is damaged."""
        if before:
            self._clear(request, time.monotonic() + self.limits.seconds)
        self.open(request._replace(ref=commit)).close()

    def newest(self, request: Request) -> str:
        """Give the commit that `open` would resolve to now."""
        if COMMIT_HASH.match(request.ref):
            return request.ref
        until = time.monotonic() + self.limits.seconds
        return self._by_any_way(request, until, lambda remote: remote.tip(request.ref)).commit

    def tags(self, request: Request) -> list[str]:
        """Give the names of all tags."""
        return self._by_any_way(request, time.monotonic() + self.limits.seconds, GitRemote.tags)

    def _opened(self, request: Request, until: float) -> GitTree:
        ref = check_ref(request.ref) if request.ref else ""
        path = check_path(request.path)
        with self._alone(request, until) as bare:
            if COMMIT_HASH.match(ref):
                commit = ref
                bare.make(git_commands.form_of(ref))
                if not bare.has(HAVE_REFS + ref):
                    self._by_any_way(request, until, lambda remote: remote.fetch_commit(bare, ref))
            else:
                tip = self._by_any_way(request, until, lambda remote: remote.tip(ref))
                bare.make(git_commands.form_of(tip.commit))
                commit = self._by_any_way(
                    request, until, lambda remote: remote.fetch_tip(bare, tip)
                )
        source = source_name.canonical(request._replace(kind="git"))
        origin = Origin("git", source, request.ref, commit)
        return GitTree(
            bare,
            origin,
            path,
            self.limits,
            lambda: self._is_own(request, bare.path, commit),
            lambda before: self._fetch_again(request, commit, before),
        )

    def _is_own(self, request: Request, path: str, commit: str) -> bool:
        """Find out whether a commit lies on a branch or a tag: as noted, or by the source's
        history, commits alone.
        """
        until = time.monotonic() + self.limits.seconds
        bare = BareRepository(path, self.env, until)
        if bare.has(OWN_REFS + commit):
            return True
        try:
            with self._alone(request, until):
                found = self._by_any_way(
                    request, until, lambda remote: remote.is_in_history(bare, commit)
                )
                if found:
                    bare.note(OWN_REFS, commit)
        except (MetierError, DamagedRepositoryError):
            return False
        return found

    @contextmanager
    def _alone(self, request: Request, until: float) -> Iterator[BareRepository]:
        """Let one process at a time change our copy of a source."""
        source = source_name.canonical(request._replace(kind="git"))
        name = git_commands.cache_name(source)
        try:
            safe_files.make_folder(self.cache, None)
            with safe_files.hold_lock(f"{self.cache}/{name}.lock", float(self.limits.seconds)):
                yield BareRepository(f"{self.cache}/{name}.git", self.env, until)
        except TimeoutError as error:
            raise SourceError(
                f"another process is fetching {source}",
                code="timeout",
                hint="try again when it is done",
            ) from error
        except OSError as error:
            raise StoreError(
                f"the cache of repositories cannot be used: {error}", hint=f"see to {self.cache}"
            ) from error

    def _by_any_way(self, request: Request, until: float, task: Callable[[GitRemote], _T]) -> _T:
        """Ask a source; a repository on GitHub that is closed over https is tried over ssh, for who
        has only a key (CX-64).
        """
        try:
            return task(self._remote(request.location, until))
        except RefusedError as error:
            if error.code != "redirect" or not request.location.startswith(("https://", "http://")):
                raise
            return task(self._remote(self._led_to(request.location), until, moved=True))
        except SourceError as error:
            if not request.location.startswith(_GITHUB) or not git_commands.is_closed(error):
                raise
            place = request.location.removeprefix(_GITHUB).removesuffix(".git")
            try:
                return task(self._remote(f"ssh://git@github.com/{place}.git", until))
            except SourceError:
                raise error from None

    def _led_to(self, location: str) -> str:
        """Follow where a server sends git, every hop judged; git itself follows nobody."""
        named = (address_of(location).place,)
        client = HttpClient(self.limits, named=named, env=self.env, resolve=self.lookup)
        with client.asked(location + _ASKED, most=self.limits.download_bytes) as answer:
            led = str(answer.url)
        if not led.endswith(_ASKED):
            raise RefusedError(
                f"{location} sends git to no repository",
                code="redirect",
                hint="name the address it leads to",
            )
        return led.removesuffix(_ASKED)

    def _remote(self, location: str, until: float, *, moved: bool = False) -> GitRemote:
        """Check whom git would talk to, and pin it to the addresses that were checked."""
        pinned: Texts = ()
        if "://" not in location:  # user@host:path
            host = location.partition("@")[2].partition(":")[0].lower()
            address = Address("ssh", "", host, "", "", "")
        else:
            address = address_of(location)
        protocols: Texts = (address.scheme,)
        if address.scheme not in {"https", "http", "ssh", "file"}:
            raise RefusedError(
                f"'{address.scheme}' is not a way to fetch a repository",
                code="unsafe-transport",
                hint="https, ssh and file are",
            )
        if address.scheme != "file":
            found = self._check_host(address)
            # An address that is written out leads nowhere else.
            if address.scheme != "ssh" and found and not address.host.startswith("["):
                pinned = (
                    git_commands.pin_host(address.host, str(git_commands.port_of(address)), found),
                )
        if pinned and not git_commands.pins_addresses(
            git_process.version(self.env, self.limits.seconds)
        ):
            raise SourceError(
                "git is too old here to be held to an address",
                code="git",
                hint="install git 2.37 or newer",
            )
        if address.scheme in {"https", "http"}:
            # A user whose own configuration turns https into ssh for a host means that.
            protocols = ("ssh", address.scheme)
        remote = GitRemote(location, self.env, self.limits, until, protocols, pinned, moved=moved)
        remote.tell = lambda grown: self.progress("fetched", grown, 0)
        return remote

    def _check_host(self, address: Address) -> Sequence[str]:
        hosts, private = (
            {host.lower() for host in listed}
            for listed in (self.limits.hosts, self.limits.private_hosts)
        )
        known = address.place in private
        if hosts and address.place not in hosts:
            raise RefusedError(
                f"{address.place} is not among the hosts that may be reached",
                code="host",
                hint="see supply.hosts",
            )
        if address.scheme not in {"https", "ssh"} and not known:
            raise RefusedError(
                f"{address.scheme} is only for hosts of your own",
                code="host",
                hint="see supply.private_hosts",
            )
        if known:
            return ()
        try:
            found = self.lookup(address.host.strip("[]"), git_commands.port_of(address))
        except (
            OSError,
            UnicodeError,
        ) as error:  # the second is what a name of impossible parts comes to
            host = address.host.strip("[]")
            if address.scheme == "https" and has_proxy(
                "https", host, git_commands.port_of(address), self.env
            ):
                check_unresolved(host, address.place, frozenset())
                return ()  # the proxy may know it
            if address.scheme == "ssh" and isinstance(error, OSError):
                return ()  # ssh may know the host by a name of its own
            raise SourceError(
                f"{address.host} could not be reached: its address was not found ({error})",
                code="not-found",
                hint="are you online? If so, check the spelling of the host",
            ) from error
        hidden = [one for one in found if not addresses.is_public(one)]
        if hidden or not found:
            raise RefusedError(
                f"{address.host} has a private address ({', '.join(hidden)})",
                code="private-address",
                hint="a host of your own is named in supply.private_hosts",
            )
        return found


class GitRemote:
    """A source that git may talk to, and how."""

    def __init__(
        self,
        location: str,
        env: Mapping[str, str],
        limits: SupplySettings,
        until: float,
        protocols: Texts,
        more: Texts = (),
        *,
        moved: bool = False,
    ) -> None:
        """Know the source, and what git may do to reach it, until a moment of the clock."""
        self.location = location
        self.limits = limits
        self.until = until
        self.protocols = protocols
        self.more = more
        self.moved = moved
        self.tell: Callable[[int], None] = lambda _grown: None
        """Told how many bytes have come, while it is being asked."""
        own = "ssh" not in protocols or _own_ssh(env)
        self.env = environment(env, protocols, "" if own else _SSH)
        self.local = (
            (f"--upload-pack={git_commands.UPLOAD_PACK}",) if protocols == ("file",) else ()
        )

    def tip(self, ref: str) -> RefTip:
        """Find out which commit a ref leads to now."""
        names = [name for full in git_commands.wanted_refs(ref) for name in (full, full + "^{}")]
        found = git_commands.choose_tip(ref, self._tips(names))
        if found is None:
            what = f"branch or tag '{ref}'" if ref else "branch"
            raise SourceError(
                f"{self.location} has no {what}",
                code="not-found",
                hint="a commit is named by its whole hash",
            )
        return found

    def tags(self) -> list[str]:
        """Give their names, sorted; of very many, the first."""
        return sorted(name[10:] for name in self._tips(("refs/tags/*",)))[:MAX_TAGS]

    def _tips(self, names: Sequence[str]) -> dict[str, RefTip]:
        words = git_commands.command("", self.protocols, *self.more)
        ended = git_process.run_git(
            [*words, "ls-remote", *self.local, "--", self.location, *names],
            self.env,
            GitBounds(self.until, tell=self.tell),
        )
        if ended.code:
            raise git_error(ended.errors, self.location)
        return git_commands.read_tips(ended.output)

    def fetch_tip(self, bare: BareRepository, tip: RefTip) -> str:
        """Fetch what a ref leads to, unless it is here, and give the commit."""
        commit = tip.commit
        if not bare.has(HAVE_REFS + commit):
            self._fetch(bare, "--depth=1", refs=(f"+{tip.name}:refs/metier/new",))
            ended = bare.call(
                "rev-parse", "--verify", "--end-of-options", "refs/metier/new^{commit}"
            )
            commit = ended.output.decode("ascii", "replace").strip()
            if ended.code or not COMMIT_HASH.match(commit):
                raise git_commands.no_commit(f"'{tip.name}'")
            bare.note(HAVE_REFS, commit)
        if tip.is_own and not self.moved:  # what another place gives out is not this one's word
            bare.note(OWN_REFS, commit)
        return commit

    def fetch_commit(self, bare: BareRepository, commit: str) -> None:
        """Fetch one commit by its hash; a server that will not give one by hash is asked for
        everything.
        """
        try:
            self._fetch(bare, "--depth=1", refs=(f"+{commit}:refs/metier/new",))
        except SourceError as error:
            if error.code == "timeout":
                raise
            self._fetch(
                bare,
                refs=("+refs/heads/*:refs/metier/heads/*", "+refs/tags/*:refs/metier/tags/*"),
            )
            if not bare.has(commit):
                raise SourceError(
                    f"{self.location} has no commit {commit}",
                    code="not-found",
                    hint="it may have been removed",
                ) from error
            if not self.moved:
                bare.note(OWN_REFS, commit)
        if not bare.has(commit):
            raise git_commands.no_commit(commit)
        bare.note(HAVE_REFS, commit)

    def is_in_history(self, bare: BareRepository, commit: str) -> bool:
        """Tell whether a commit lies on a branch or a tag, by the tips, or else by all commits,
        without their files.
        """
        if self.moved:
            return False
        tips = self._tips(("refs/heads/*", "refs/tags/*")).values()
        if any(tip.commit == commit and tip.is_own for tip in tips):
            return True
        path = bare.path.removesuffix(".git") + ".history.git"
        history = BareRepository(path, self.env, self.until)
        history.make(git_commands.form_of(commit))
        refs = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
        self._fetch(history, "--filter=tree:0", refs=refs)
        ended = history.call(
            "for-each-ref", "--count=1", f"--contains={commit}", "--", "refs/heads", "refs/tags"
        )
        return ended.code == 0 and bool(ended.output.strip())

    def _fetch(self, bare: BareRepository, *options: str, refs: Sequence[str]) -> None:
        words = git_commands.command(bare.path, self.protocols, *self.more)
        words += ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules"]
        words += ["--no-write-fetch-head", "--no-auto-gc"]
        objects = f"{bare.path}/objects"
        bounds = GitBounds(self.until, self.limits.download_bytes, objects, tell=self.tell)
        ended = git_process.run_git(
            [*words, *options, *self.local, "--", self.location, *refs], self.env, bounds
        )
        if not ended.code:
            return
        if bare.path.encode("utf-8", "surrogateescape") in ended.errors:  # our own copy is at fault
            raise DamagedRepositoryError(ended.errors)
        raise git_error(ended.errors, self.location)


def _own_ssh(env: Mapping[str, str]) -> bool:
    """Tell whether the user has a way of their own to start ssh, which then stays as it is."""
    if "GIT_SSH" in env or "GIT_SSH_COMMAND" in env:
        return True
    words = ["git", "config", "--includes", "--global", "--get", "core.sshCommand"]
    return (
        git_process.run_git(words, environment(env, ()), GitBounds(time.monotonic() + 10)).code == 0
    )
