"""Decides which file changes matter to a library, and where the system's notices of them cannot be
relied on.

It is pure, but for the canonical names of roots.

No name is left out for what it looks like: an editor's leavings are part of a skill's digest while
they lie there, and once they are gone a comparison of contents finds nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.discover.io import disk
from metier.standard.plain_text import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


class PathFilter:
    """What is wanted, ready to be asked about many paths."""

    def __init__(
        self,
        roots: Sequence[str],
        files: Sequence[str],
        quiet: Sequence[str],
        links: Mapping[str, str] | None = None,
    ) -> None:
        """Know each folder by its canonical name as well, as systems may tell of changes by that;
        `links` come with theirs.
        """
        wanted = (*files, *roots)
        canonical = {**{path: disk.real(path) for path in wanted}, **(links or {})}
        self._own: dict[str, set[str]] = {path: {path} for path in wanted}
        for path, real in canonical.items():
            self._own.setdefault(real, set()).add(path)
        self._linked = {path: real for path, real in canonical.items() if path != real}
        self._quiet = set(quiet).difference(wanted)
        self._above = {above for path in wanted for above in upwards(path.rpartition("/")[0])}

    def passed(self, paths: Iterable[str]) -> set[str]:
        """Give those that matter, below their roots as the library names them: what several links
        lead to, by each of them.
        """
        return {place for path in paths for place in self._places(path)}

    def _places(self, path: str) -> Iterator[str]:
        places = [place for known in self._canonical(path) for place in self._named(known)]
        yield from places
        if not places and path in self._above:  # a folder above a root came or went
            yield path

    def _canonical(self, path: str) -> Iterator[str]:
        """Give a path, and what it is called behind each link that it was heard of by."""
        yield path
        yield from (
            self._linked[at] + path[len(at) :] for at in upwards(path) if at in self._linked
        )

    def _named(self, path: str) -> Iterator[str]:
        """Give every name under which the library may know a path. What lies in a quiet folder has
        none.
        """
        for at in upwards(path):
            if at in self._quiet:
                return
            yield from (own + path[len(at) :] for own in self._own.get(at, ()))


def upwards(path: str) -> Iterator[str]:
    """Give a path, and every folder above it but the topmost."""
    while path:
        yield path
        path = path.rpartition("/")[0]


MOUNT_TABLE = "/proc/self/mounts"
MAX_MOUNTS_BYTES = 1 << 20
REMOTE = words(
    "9p afs beegfs ceph cifs coda davfs drvfs fuse.davfs2 fuse.glusterfs fuse.rclone "
    "fuse.s3fs fuse.sshfs fuse.vmhgfs-fuse gpfs lustre ncpfs nfs nfs4 prl_fs smb3 smbfs "
    "vboxsf virtiofs"
)
"""File systems that another machine may write to: of that this one hears nothing."""
FORCED = "WATCHFILES_FORCE_POLLING"
"""By this variable users of the same library say that notices do not work for them."""


def refused(env: Mapping[str, str]) -> str:
    """Say why notices are not to be asked for at all; nothing when they are."""
    return (
        ""
        if env.get(FORCED, "").lower() in {"", "false", "disable", "disabled"}
        else f"{FORCED} is set"
    )


def unheard(folders: Iterable[tuple[str, str]], table: bytes) -> str:
    """Say why changes below folders that exist, each with its canonical name, would not be heard
    of; nothing when they would.
    """
    mounted = mounts_in(table)
    for folder, canonical in folders:
        kind = kind_of(canonical, mounted)
        if kind in REMOTE:
            return f"{folder} lies on {kind}, where changes from other machines can't be watched"
    return ""


def mounts_in(data: bytes) -> dict[str, str]:
    """Give the kind of file system at each place, of a table as Linux has it."""
    rows = (line.split(b" ") for line in data.splitlines())
    return {_unescaped(row[1]): row[2].decode(errors="replace") for row in rows if len(row) > 3}


def kind_of(path: str, mounted: Mapping[str, str]) -> str:
    """Give the kind of file system that a canonical path lies on."""
    while path not in mounted:
        if not path or path == "/":
            return ""
        path = path.rpartition("/")[0] or "/"
    return mounted[path]


def _unescaped(place: bytes) -> str:
    for code, letter in ((b"\\040", b" "), (b"\\011", b"\t"), (b"\\012", b"\n"), (b"\\134", b"\\")):
        place = place.replace(code, letter)
    return place.decode("utf-8", "surrogateescape")
