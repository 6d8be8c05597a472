"""Makes a git repository out of files: objects, an index, branches, tags and commits, as bytes. Pure.

The stage's project has to be one that git works with, or a script that asks git anything gives up
before it does what it is for.
"""

from __future__ import annotations

import bisect
import hashlib
import struct
import zlib
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

WRITTEN = 1_767_600_000
"""When the last commit was made, in seconds."""
MAX_OBJECT_BYTES = 64 * 1024
_PACKED_KINDS = {b"commit": 1, b"tree": 2, b"blob": 3, b"tag": 4}
_FILE, _PROGRAM, _FOLDER = 0o100644, 0o100755, 0o40000


class PastCommit(NamedTuple):
    """A commit before the last one: all files as they were then."""

    files: Mapping[str, bytes]
    author: str
    message: str
    seconds: int
    tag: str = ""
    """A release that was made of it."""
    branch: str = ""
    """Another branch that ends there."""


def repository_files(
    files: Mapping[str, bytes],
    author: str,
    message: str,
    programs: Collection[str] = (),
    past: Sequence[PastCommit] = (),
) -> dict[str, bytes]:
    """Give what lies in `.git` after these files were committed on `main`, by path below it. Those
    that are `programs` can be run; what was committed before is the `past`, oldest first.
    """
    objects: dict[str, bytes] = {}
    found: dict[str, bytes] = {}
    lines: list[str] = []
    parent, old = "", 0
    for one in (*past, PastCommit(files, author, message, WRITTEN)):
        old = len(objects)
        blobs = {path: _add(objects, "blob", data) for path, data in one.files.items()}
        top = _tree(
            objects,
            {path: (_PROGRAM if path in programs else _FILE, name) for path, name in blobs.items()},
        )
        signed = f"{one.author} {one.seconds} +0000"
        above = f"parent {parent}\n" if parent else ""
        text = f"tree {top}\n{above}author {signed}\ncommitter {signed}\n\n{one.message}\n"
        commit = _add(objects, "commit", text.encode())
        told = "commit" if parent else "commit (initial)"
        lines.append(f"{parent or '0' * 40} {commit} {signed}\t{told}: {one.message}\n")
        parent = commit
        if one.branch:
            found[f"refs/heads/{one.branch}"] = f"{commit}\n".encode()
        if one.tag:
            head = f"object {commit}\ntype commit\ntag {one.tag}\ntagger {signed}\n\n{one.tag}\n"
            found[f"refs/tags/{one.tag}"] = f"{_add(objects, 'tag', head.encode())}\n".encode()
    return {
        **_pack(dict(list(objects.items())[:old])),
        **{_place(name): data for name, data in list(objects.items())[old:]},
        "refs/heads/main": f"{parent}\n".encode(),
        "refs/remotes/origin/main": f"{parent}\n".encode(),
        "refs/remotes/origin/HEAD": b"ref: refs/remotes/origin/main\n",
        **found,
        "logs/HEAD": "".join(lines).encode(),
        "logs/refs/heads/main": "".join(lines).encode(),
        "index": _index(files, blobs),
    }


def pack_objects(files: Mapping[str, bytes]) -> bytes:
    """Give all loose objects of such a repository in one pack, as git sends them."""
    return b"".join(_packed([data for path, data in files.items() if path[:8] == "objects/"]))


def _packed(objects: Collection[bytes]) -> Iterator[bytes]:
    """Give the head of a pack, each object in it, and its sum."""
    head = struct.pack(">4sII", b"PACK", 2, len(objects))
    total = hashlib.sha1(head, usedforsecurity=False)
    yield head
    for whole in map(zlib.decompress, objects):
        kind, _blank, rest = whole.partition(b" ")
        data = rest.partition(b"\0")[2]
        left, first = len(data) >> 4, _PACKED_KINDS[kind] << 4 | len(data) & 15
        sizes = [first]
        while left:
            sizes[-1] |= 128
            sizes.append(left & 127)
            left >>= 7
        entry = bytes(sizes) + _compress(data)
        total.update(entry)
        yield entry
    yield total.digest()


def _place(name: str) -> str:
    return f"objects/{name[:2]}/{name[2:]}"


def _pack(objects: Mapping[str, bytes]) -> dict[str, bytes]:
    """Give a pack of some objects with its index, as a repository has them after a while."""
    if not objects:
        return {}
    head, *entries, total = _packed(list(objects.values()))
    places, at = {}, len(head)
    for name, entry in zip(objects, entries, strict=True):
        places[name] = (at, zlib.crc32(entry))
        at += len(entry)
    names = sorted(places)
    counts = [bisect.bisect_left(names, f"{first:02x}") for first in range(1, 256)]
    index = b"\xfftOc" + struct.pack(">I256I", 2, *counts, len(names))
    index += b"".join(map(bytes.fromhex, names))
    index += b"".join(struct.pack(">I", places[name][1]) for name in names)
    index += b"".join(struct.pack(">I", places[name][0]) for name in names) + total
    index += hashlib.sha1(index, usedforsecurity=False).digest()
    path = f"objects/pack/pack-{total.hex()}"
    return {f"{path}.pack": head + b"".join(entries) + total, f"{path}.idx": index}


def unpack(data: bytes) -> bytes:
    """Give what a loose object holds; nothing where it is none."""
    try:
        return zlib.decompressobj().decompress(data, MAX_OBJECT_BYTES)
    except zlib.error:
        return b""


@lru_cache(maxsize=512)
def _compress(data: bytes) -> bytes:
    """Compress what lies on every stage only once."""
    return zlib.compress(data, 1)


def _add(objects: dict[str, bytes], kind: str, data: bytes) -> str:
    whole = f"{kind} {len(data)}\0".encode() + data
    name = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
    if name not in objects:
        objects[name] = _compress(whole)
    return name


def _tree(objects: dict[str, bytes], blobs: Mapping[str, tuple[int, str]]) -> str:
    """Write the tree of a folder, those below it first; give its name."""
    entries: dict[str, tuple[int, str]] = {}
    below: dict[str, dict[str, tuple[int, str]]] = {}
    for path, blob in blobs.items():
        first, slash, rest = path.partition("/")
        if slash:
            below.setdefault(first, {})[rest] = blob
        else:
            entries[first] = blob
    entries |= {folder: (_FOLDER, _tree(objects, some)) for folder, some in below.items()}
    # git sorts a folder as if its name ended with a slash
    order = sorted(entries, key=lambda one: f"{one}/" if entries[one][0] == _FOLDER else one)
    rows = (
        f"{entries[one][0]:o} {one}\0".encode() + bytes.fromhex(entries[one][1]) for one in order
    )
    return _add(objects, "tree", b"".join(rows))


def _index(files: Mapping[str, bytes], blobs: Mapping[str, str]) -> bytes:
    body = struct.pack(">4sII", b"DIRC", 2, len(files)) + b"".join(_rows(files, blobs))
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


def _rows(files: Mapping[str, bytes], blobs: Mapping[str, str]) -> Iterator[bytes]:
    """Give the entries of the index: without stats, so that git looks at each file once."""
    for path in sorted(files, key=str.encode):
        name = path.encode()
        row = struct.pack(">10I", 0, 0, 0, 0, 0, 0, _FILE, 0, 0, len(files[path]))
        row += bytes.fromhex(blobs[path]) + struct.pack(">H", min(len(name), 0xFFF)) + name
        yield row + b"\0" * (8 - len(row) % 8)
