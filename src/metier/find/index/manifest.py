"""What an index consists of: one small file that is replaced whole, and so the place where
everything is switched. Pure.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from metier.find.index.postings import DamagedIndexError

if TYPE_CHECKING:
    from metier.find.index.postings import Numbers
    from metier.model import Texts


MANIFEST_FORMAT = 1
"""Of the manifest alone: segments and vectors have their own, and what need not be made anew
stays."""


class SegmentEntry(NamedTuple):
    """A segment by its name, and the numbers of its documents that are gone, in their order."""

    name: str
    gone: tuple[int, ...] = ()


class IndexManifest(NamedTuple):
    """The segments, and the files of vectors with the model that made them; the later of two files
    counts.
    """

    parts: tuple[SegmentEntry, ...] = ()
    model: str = ""
    vectors: Texts = ()
    sealed: str = ""
    """Of which state of the library the skills are, where somebody has said so."""

    def names(self) -> set[str]:
        """Give the names of all files that belong to the index."""
        return {part.name for part in self.parts} | set(self.vectors)


def manifest_bytes(manifest: IndexManifest) -> bytes:
    """Give the bytes of a manifest, a checksum before them."""
    parts = [(part.name, _pack_numbers(part.gone)) for part in manifest.parts]
    rest = {"model": manifest.model, "vectors": manifest.vectors, "sealed": manifest.sealed}
    data = json.dumps({"format": MANIFEST_FORMAT, "parts": parts, **rest}).encode()
    return b"%08x\n" % zlib.crc32(data) + data


def read_manifest(data: bytes) -> IndexManifest:
    """Give the manifest that was written; none of another version, and no half of one."""
    check, _line, rest = data.partition(b"\n")
    if check != b"%08x" % zlib.crc32(rest):
        raise DamagedIndexError
    try:
        found = json.loads(rest)
        if found["format"] != MANIFEST_FORMAT:
            raise DamagedIndexError
        parts = tuple(
            SegmentEntry(str(name), _unpack_numbers(gone)) for name, gone in found["parts"]
        )
        return IndexManifest(
            parts,
            str(found["model"]),
            tuple(map(str, found["vectors"])),
            str(found.get("sealed", "")),
        )
    except (ValueError, TypeError, KeyError, zlib.error):
        raise DamagedIndexError from None


def _pack_numbers(numbers: tuple[int, ...]) -> str:
    if not numbers:
        return ""
    gaps = np.diff(np.array(numbers, np.int64), prepend=0)
    return b64encode(zlib.compress(gaps.astype("<u4").tobytes())).decode()


def _unpack_numbers(text: str) -> tuple[int, ...]:
    if not text:
        return ()
    gaps: Numbers = np.frombuffer(zlib.decompress(b64decode(text)), "<u4")
    return tuple(np.cumsum(gaps, dtype=np.int64).tolist())
