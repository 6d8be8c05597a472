"""What skills and tasks mean: which embedder there is, which skills have no vectors yet, and the vectors themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.route.choosing import embedder_for
from metier.route.pieces import piece
from metier.routing import texts
from metier.routing.state import Meaning, routed, warn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metier.app import Library
    from metier.ports import Embedder
    from metier.routing.state import Current, Routed
    from metier.wanted import Floats

BATCH = 16
"""Skills that are embedded together."""
AGAIN_NS = 60_000_000_000
"""After which time skills without vectors are looked for again: another process may have made them."""


def embedder_of(library: Library, state: Routed) -> Embedder | None:
    """Give what sees meaning; whether the model that comes with metier can run is found out once."""
    vectors = library.settings.route.vectors
    if library.embedder is not None or vectors == "off":
        return embedder_for(vectors, library.embedder)[0]
    if state.own_embedder is None:
        state.own_embedder = embedder_for(vectors, None)
    return state.own_embedder[0]


def is_known(library: Library, state: Routed, latest: Current, most: int) -> bool:
    """Tell whether there is nothing to be looked at or made anew, if at most so many vectors are to be made."""
    embedder, known = embedder_of(library, state), latest.meaning
    if embedder is None or known is None:
        return embedder is None and known is None
    if known.embedder is not embedder:
        return False
    if not known.lacking:
        return True
    return not known.tried < len(known.lacking) <= most and library.ports.clock_ns() - known.looked_ns < AGAIN_NS


def embedded(library: Library, state: Routed, latest: Current, most: int) -> Current:
    """Make the vectors that are missing, unless they are more than that."""
    embedder = embedder_of(library, state)
    if embedder is None:
        return latest._replace(meaning=None)
    missing = left = list(latest.cards)
    try:
        missing = left = _lacking(latest, embedder)
        if missing and len(missing) <= most:
            latest.engine.add_vectors(embedder.name, _vectors(library, latest, embedder, missing))
            left = _lacking(latest, embedder)
    except Exception as error:  # noqa: BLE001 - an embedder may be anybody's, and words are still there
        warn(library, f"skills are found by their words alone: {error}")
        left = _lacking_still(latest, embedder, missing)
    done = latest.done._replace(embedded=len(missing) - len(left), waiting=len(left))
    return latest._replace(done=done, meaning=Meaning(embedder, frozenset(left), most, library.ports.clock_ns()))


def _lacking(latest: Current, embedder: Embedder) -> list[str]:
    """Give the paths of skills that have no vectors of this embedder."""
    return [path for path in latest.engine.without_vectors(embedder.name) if path in latest.cards]


def _lacking_still(latest: Current, embedder: Embedder, missing: list[str]) -> list[str]:
    """Give those that have none after making them was broken off: some of them may have been kept."""
    try:
        return _lacking(latest, embedder)
    except Exception:  # noqa: BLE001 - it has been told already
        return missing


def _vectors(library: Library, latest: Current, embedder: Embedder, missing: Sequence[str]) -> Iterator[tuple[str, Floats]]:
    """Embed skills; those that cannot be are left out, and an embedder that fails for all of some is asked no more."""
    for start in range(0, len(missing), BATCH):
        found = list(texts.read([latest.cards[path] for path in missing[start : start + BATCH]], library.ports.clock_ns()))
        made = _rows(library, embedder, [piece(text.name, text.description, text.body) for text in found]) if found else []
        if not any(rows is not None for rows in made) and len(found) == BATCH:
            return
        for text, rows in zip(found, made, strict=True):
            if rows is not None:
                yield text.path, rows
        library.progress("vectors", start + len(found))


def _rows(library: Library, embedder: Embedder, pieces: Sequence[str]) -> list[Floats | None]:
    """Embed pieces together; where that fails, one by one."""
    try:
        rows = embedder.passages(pieces)
        return [rows[at : at + 1] for at in range(len(pieces))]
    except Exception as error:  # noqa: BLE001 - an embedder may be anybody's, and words are still there
        warn(library, f"skills are found by their words alone: {error}")
        return [None] if len(pieces) == 1 else [row for one in pieces for row in _rows(library, embedder, [one])]


def vector_of(library: Library, now: Current, task: str) -> Floats | None:
    """Give a task as the embedder sees it; nothing where there is none, too few skills have vectors, or it fails."""
    known = now.meaning
    if known is None or not now.sees or embedder_of(library, routed(library)) is not known.embedder:
        return None
    try:
        return known.embedder.queries([task])[0]
    except Exception as error:  # noqa: BLE001 - an embedder may be anybody's, and words are still there
        warn(library, f"only words were compared: {error}")
        return None
