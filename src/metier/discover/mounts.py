"""Where the system's notices cannot be relied on, so that nobody waits for them in vain. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TABLE = "/proc/self/mounts"
MOST_BYTES = 1 << 20
REMOTE = frozenset({
    "9p", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "drvfs", "fuse.davfs2", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs",
    "fuse.sshfs", "fuse.vmhgfs-fuse", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "prl_fs", "smb3", "smbfs", "vboxsf", "virtiofs",
})  # fmt: skip
"""File systems that another machine may write to: of that this one hears nothing."""
FORCED = "WATCHFILES_FORCE_POLLING"
"""By this variable users of the same library say that notices do not work for them."""


def refused(env: Mapping[str, str]) -> str:
    """Say why notices are not to be asked for at all; nothing when they are."""
    return "" if env.get(FORCED, "").lower() in {"", "false", "disable", "disabled"} else f"{FORCED} is set"


def unheard(folders: Iterable[tuple[str, str]], table: bytes) -> str:
    """Say why changes below folders that exist, each with its canonical name, would not be heard of; nothing when they would."""
    mounted = mounts_in(table)
    for folder, canonical in folders:
        kind = kind_of(canonical, mounted)
        if kind in REMOTE:
            return f"{folder} lies on {kind}, where other machines may write unheard"
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
