"""The last look at a code skill before it is compiled: these very bytes are those that were decided on. Pure.

Whether they may run is decided elsewhere, by their digest. Here the bytes that were read are held against that digest, so that
nobody can exchange the file between the decision and the compiler: what is given on is a value, and no file is read again.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from metier.standard.code import MAX_BYTES, CodeFacts, read_code
from metier.standard.digest import TreeFile, tree_digest

if TYPE_CHECKING:
    from metier.model import Digest


class Gated(NamedTuple):
    """A code skill that may be compiled: the very bytes, and what they say of themselves."""

    file: str
    data: bytes
    sha256: str
    digest: Digest
    facts: CodeFacts

    @property
    def stem(self) -> str:
        """The file's name without its end."""
        return self.file.rpartition(".")[0]


class Refusal(NamedTuple):
    """Why bytes are not compiled."""

    reason: str
    sha256: str


def gate(file: str, data: bytes, digest: Digest | None) -> Gated | Refusal:
    """Let bytes through that are a code skill, and of this digest; say why not otherwise."""
    sha256 = hashlib.sha256(data).hexdigest()
    if digest is None or digest not in _digests(file, data):
        return Refusal("it is not what was decided on: it changed while it was read", sha256)
    fault = _fault(data)
    facts = None if fault else read_code(data, file.rpartition(".")[0])
    if facts is None:
        return Refusal(fault or "it has no top-level run", sha256)
    wrong = next((one.message for one in facts.diagnostics if one.severity == "error"), "")
    return Refusal(wrong, sha256) if wrong else Gated(file, data, sha256, digest, facts)


def _fault(data: bytes) -> str:
    if len(data) > MAX_BYTES:
        return f"it is larger than {MAX_BYTES // 1024} KiB"
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return f"it is not UTF-8: byte {error.start}"
    return ""


def _digests(file: str, data: bytes) -> set[Digest]:
    """Give the digests that a tree of this one file can have: it may be marked as a program."""
    content = hashlib.sha256(data).digest()
    return {tree_digest([TreeFile(file, len(data), content, executable)]) for executable in (False, True)}
