"""The load gate for code skills: the very bytes that were judged are those that may then be compiled (CO-7, CO-10)."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from metier import recording, skillfile
from metier.discover import disk
from metier.errors import UsageError
from metier.standard.digest import TreeFile, tree_digest
from metier.trust import disk as store, gate, manifest
from metier.trust.facts import standing
from metier.vetting import manifests
from metier.vetting.cases import Case, case_of

if TYPE_CHECKING:
    from metier.app import Library
    from metier.model import Card, Digest


def load_code(library: Library, name: str) -> gate.Admission:
    """Decide about the bytes of a code skill, read once: what is judged is what may then be compiled (CO-7, CO-10).

    Bytes that a person approved need no manifest. Whatever is not visible is refused: to load code is to run it.
    """
    card = library.resolve(name)
    if card.kind != "code":
        raise UsageError(f"'{card.name}' is not a code skill", hint=f"read it with: metier show {card.name}")
    case, admission = look(library, card)
    if admission.code is None:
        recording.record(library, "refuse", "blocked", name=card.name, digest=case.verdict.digest, event="skill_load_blocked",
                         skill_name=card.name, skill_path=card.path, reason=admission.reason, file_sha256=admission.sha256,
                         advice=admission.advice)  # fmt: skip
    return admission


def look(library: Library, card: Card) -> tuple[Case, gate.Admission]:
    """Decide the same and note nothing down: for whoever asks what would come of it."""
    data = skillfile.bytes_of(card)
    case = case_of(library, card)
    return case, _admitted(library, case, data)


def _admitted(library: Library, case: Case, data: bytes) -> gate.Admission:
    card, verdict, decision, _waived = case
    file, sha256 = card.path.rpartition("/")[2], manifest.sha256_of(data)
    known = manifests.beside(library, card)
    if known.skills.get(file, sha256) != sha256:
        return gate.admit(file, data, known)  # which says that it is not what was promised
    if _digest_of_one(card, data) != verdict.digest:
        return gate.Admission(file, sha256, None, "it changed while it was read")
    if decision.state != "visible" or decision.load in {"block", "ask"}:
        return gate.Admission(file, sha256, None, f"{decision.state}: {'; '.join(decision.reasons)}")
    approvals = store.read(library.data).about(card.name, card.path)
    said = standing(approvals, card.name, verdict.digest, store.now()).same
    if said is not None and said.state == "approved":
        known = manifest.Manifest({file: sha256})
    return gate.admit(file, data, known)


def _digest_of_one(card: Card, data: bytes) -> Digest:
    """Give the digest that a skill of one file has when these are its bytes."""
    base, _, file = card.path.rpartition("/")
    executable = any(piece.executable for piece in disk.pieces_in(base) if piece.path == file)
    return tree_digest([TreeFile(file, len(data), hashlib.sha256(data).digest(), executable)])
