"""The digest of each skill's tree, computed at most once for the same files."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from metier.discover import skill_files
from metier.discover.io import disk
from metier.model import Digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.catalogue.io.cache_db import DigestBook
    from metier.context import Context
    from metier.model import Card


def digest_of(context: Context, card: Card) -> Digest | None:
    """Give the digest of one skill's tree."""
    return digests_of(context, [card])[0].digest


def digests_of(context: Context, cards: Sequence[Card]) -> list[Card]:
    """Fill in every digest, each computed at most once for the same files."""
    from metier.catalogue.io.cache_db import DigestBook

    book = DigestBook(context.data)
    try:
        found: list[Card] = []
        for card in cards:
            found.append(card._replace(digest=_digest(card, book)))
            context.progress("digests", len(found), len(cards))
        return found
    finally:
        book.close()


def _digest(card: Card, book: DigestBook) -> Digest | None:
    base, pieces, stamp = skill_files.look_for_stamp(card.path)
    known = book.get(_name_in_book(card), stamp) if stamp else None
    if known is not None:
        return Digest(known)
    digest = skill_files.digest(base, pieces)
    if stamp and digest is not None:
        book.put(_name_in_book(card), stamp, digest)
    return digest


def _name_in_book(card: Card) -> bytes:
    return card.path.encode("utf-8", "surrogateescape")


def fingerprint(context: Context) -> str:
    """Condense path, size and time of every file of every skill, in an order that no disk decides
    (ZE-7).
    """
    whole = hashlib.sha256()
    for card in sorted(context.catalogue.contents().cards, key=lambda card: card.path):
        base, pieces = skill_files.pieces_of(card.path)
        keys = disk.keys_of_links([f"{base}/{piece.path}" for piece in pieces])
        whole.update(repr((card.path, pieces, keys)).encode("utf-8", "backslashreplace"))
    return "sha256:" + whole.hexdigest()
