"""What an index consists of: one small file that is replaced whole, and so the place where everything is switched. Pure."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from metier.route.postings import DamagedError

if TYPE_CHECKING:
    from metier.route.postings import Numbers


FORMAT = 1
"""Of the manifest alone: segments and vectors have their own, and what need not be made anew stays."""


class Part(NamedTuple):
    """A segment by its name, and the numbers of its documents that are gone, in their order."""

    name: str
    gone: tuple[int, ...] = ()


class Manifest(NamedTuple):
    """The segments, and the files of vectors with the model that made them; the later of two files counts."""

    parts: tuple[Part, ...] = ()
    model: str = ""
    vectors: tuple[str, ...] = ()
    sealed: str = ""
    """Of which state of the library the skills are, where somebody has said so."""

    def names(self) -> set[str]:
        """Give the names of all files that belong to the index."""
        return {part.name for part in self.parts} | set(self.vectors)


def written(manifest: Manifest) -> bytes:
    """Give the bytes of a manifest, a checksum before them."""
    parts = [(part.name, _packed(part.gone)) for part in manifest.parts]
    rest = {"model": manifest.model, "vectors": manifest.vectors, "sealed": manifest.sealed}
    data = json.dumps({"format": FORMAT, "parts": parts, **rest}).encode()
    return b"%08x\n" % zlib.crc32(data) + data


def read(data: bytes) -> Manifest:
    """Give the manifest that was written; none of another version, and no half of one."""
    check, _line, rest = data.partition(b"\n")
    if check != b"%08x" % zlib.crc32(rest):
        raise DamagedError
    try:
        found = json.loads(rest)
        if found["format"] != FORMAT:
            raise DamagedError
        parts = tuple(Part(str(name), _unpacked(gone)) for name, gone in found["parts"])
        return Manifest(parts, str(found["model"]), tuple(map(str, found["vectors"])), str(found.get("sealed", "")))
    except (ValueError, TypeError, KeyError, zlib.error):
        raise DamagedError from None


def _packed(numbers: tuple[int, ...]) -> str:
    if not numbers:
        return ""
    gaps = np.diff(np.array(numbers, np.int64), prepend=0)
    return b64encode(zlib.compress(gaps.astype("<u4").tobytes())).decode()


def _unpacked(text: str) -> tuple[int, ...]:
    if not text:
        return ()
    gaps: Numbers = np.frombuffer(zlib.decompress(b64decode(text)), "<u4")
    return tuple(np.cumsum(gaps, dtype=np.int64).tolist())
