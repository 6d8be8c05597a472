"""Reads a skill's own files from the disk: their bytes, the digest of the whole tree, and the stats
that prove the digest still true.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from metier.discover.entries import BEHIND_A_LINK, SIDECAR_BYTES, levels_below_plugin, sidecar_of
from metier.discover.io import disk
from metier.errors import NotFoundError, RefusedError
from metier.model import Needs, Sidecar
from metier.standard.digest import TreeFile, tree_digest
from metier.standard.document import MAX_FILE_BYTES, read_document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from metier.model import Card, Digest, Head, JsonObject


def bytes_of(card: Card) -> bytes:
    """Give the bytes of a skill's own file."""
    return read_file(main_file(card)).data


def main_file(card: Card) -> str:
    """Give the path of the file that makes a skill one."""
    if card.kind != "skill-md":
        return card.path
    listing = disk.list_folder(card.path)
    name = (
        "SKILL.md"
        if "SKILL.md" in listing.files
        else next((n for n in listing.files if n.lower() == "skill.md"), "SKILL.md")
    )
    return f"{card.path}/{name}"


def read_file(path: str) -> Head:
    """Read a whole file, or say why that cannot be."""
    head = disk.read_head(path, MAX_FILE_BYTES)
    if head.fault:
        if disk.kind_of(path) is None:
            raise NotFoundError(
                f"{path} was deleted after it was listed", hint="list again to see what is there"
            )
        if disk.is_link(path):
            raise NotFoundError(
                f"{path} is a link, and metier does not read through it",
                hint="put the file itself there, or link its folder",
            )
        raise NotFoundError(
            f"{path} cannot be read: {head.message}", hint="check what it is and its permissions"
        )
    if head.size > MAX_FILE_BYTES:
        raise RefusedError(
            f"{path} has {head.size:,} bytes; metier reads at most {MAX_FILE_BYTES:,}",
            code="too-large",
            hint="read it in an editor, or split it into files under references/",
        )
    return head


def fields_of(card: Card) -> JsonObject:
    """Give the frontmatter of a skill as written; nothing when it has none or cannot be read."""
    if card.kind == "code":
        return {}
    path = main_file(card)
    head = disk.read_head(path, MAX_FILE_BYTES)
    file = path.rpartition("/")[2]
    document = read_document(
        head.data, folder=folder_name(card), file=file, kind=card.kind, size=len(head.data)
    )
    return document.fields if document is not None else {}


def folder_name(card: Card) -> str:
    """Give the name that a skill's place gives it."""
    base = card.path.rpartition("/")[2]
    return base if card.kind == "skill-md" else base.rpartition(".")[0]


def sidecar_at(path: str) -> Sidecar | None:
    """Read `agents/openai.yaml` in a skill's folder; none where there is none."""
    if disk.is_link(f"{path}/agents"):
        return sidecar_of(BEHIND_A_LINK)
    target = f"{path}/agents/openai.yaml"
    there = disk.kind_of(target) is not None or disk.is_link(target)
    if not there:
        return None
    head = disk.read_head(target, SIDECAR_BYTES)
    # Only an icon that a plugin shares leads out of the skill.
    return sidecar_of(head, levels_below_plugin(path, disk) if b".." in head.data else 0)


def sidecar_beside(card: Card) -> Sidecar:
    """Give what the file beside a skill's own adds; an empty one where there is none."""
    sidecar = sidecar_at(card.path) if card.kind == "skill-md" else None
    return sidecar or Sidecar({}, (), allow_implicit=True, products=(), diagnostics=())


def needs_of(card: Card, fields: Mapping[str, Any]) -> Needs:
    """Give what a skill needs, by its frontmatter and the file beside it."""
    from metier.standard.needs import read_needs

    return read_needs(fields, {}, sidecar_beside(card))[1] or Needs()


def pieces_of(path: str) -> tuple[str, list[disk.TreeItem]]:
    """Give the folder and the files of a skill: all below a folder, or the one file of a flat or
    code skill.

    There are none when it is gone, unreadable in part, or too large.
    """
    if disk.kind_of(path) == disk.FOLDER:
        return path, disk.whole_tree(path) or []
    base, _, file = path.rpartition("/")
    return base, [piece for piece in disk.pieces_in(base) if piece.path == file]


def tree_files(folder: str) -> dict[str, TreeFile]:
    """Give every file of a skill's folder as it is now, by path; none where a part cannot be
    read.
    """
    try:
        return {
            p.path: TreeFile(
                p.path,
                p.size,
                disk.hash_of(f"{folder}/{p.path}"),
                "link" if p.link else p.executable,
            )
            for p in disk.whole_tree(folder) or []
        }
    except OSError:
        return {}


def digest(base: str, pieces: Sequence[disk.TreeItem]) -> Digest | None:
    """Hash every file now; none when there is nothing, or a part cannot be read: no digest rather
    than half of one.
    """
    try:
        files = [
            TreeFile(
                p.path, p.size, disk.hash_of(f"{base}/{p.path}"), "link" if p.link else p.executable
            )
            for p in pieces
        ]
    except OSError:
        return None
    return tree_digest(files) if files else None


def stamp(base: str, pieces: Sequence[disk.TreeItem]) -> bytes:
    """Condense the stats of a tree; nothing when a stat is too fresh to be trusted."""
    keys = disk.settled_keys([f"{base}/{piece.path}" for piece in pieces])
    return condense(pieces, b"".join(keys)) if keys is not None else b""


def look_for_stamp(path: str) -> tuple[str, Sequence[disk.TreeItem], bytes]:
    """Give the folder and the files of a skill, and the stamp that they had when they were listed."""
    if disk.kind_of(path) != disk.FOLDER:
        base, pieces = pieces_of(path)
        return base, pieces, stamp(base, pieces) if pieces else b""
    look = disk.look_at_tree(path)
    if not look.is_whole or not look.pieces:
        return path, [], b""
    packed = b"".join(look.keys)
    settled = disk.is_settled(packed)
    return path, look.pieces, condense(look.pieces, packed) if settled else b""


def condense(pieces: Sequence[disk.TreeItem], keys: bytes) -> bytes:
    """Condense the names and kinds of files, and their packed keys, which hold sizes and times."""
    names = "\0".join([piece.path for piece in pieces]).encode("utf-8", "surrogateescape")
    kinds = bytes([piece.executable | piece.link << 1 for piece in pieces])
    whole = hashlib.sha256(b"%d\0%b\0" % (len(pieces), names))
    whole.update(kinds)
    whole.update(keys)
    return whole.digest()
