"""Keeps an index current: which skills are new, changed or gone since it was last looked at, and which have no vectors yet."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from metier import pipeline
from metier.collector import CollectorOff
from metier.errors import MetierError, StoreError
from metier.phrases import custom_phrases
from metier.pipeline import Glance
from metier.route import triggers
from metier.route.pieces import piece
from metier.route.second import LONGEST_BODY, Doc, doc
from metier.routing import disk, texts
from metier.settings import Routing
from metier.wanted import Indexed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from metier.app import Library
    from metier.model import Card
    from metier.pipeline import Catalogue
    from metier.ports import Embedder, Engine
    from metier.wanted import Floats, Text

AT_ONCE = 20_000
"""Skills whose vectors are made while somebody waits for an answer, some three minutes on two cores; more wait for `index`."""
BATCH = 16
"""Skills that are embedded together."""
DOCS = 512
"""Skills that stay taken apart for the second stage."""
STEP = 200
"""After how many skills it is told how far the work has come."""
SECOND = 1_000_000_000


class Kept(NamedTuple):
    """A skill taken apart, under the stamp that its file had then, and in which listing it was seen to be so."""

    stamp: bytes
    doc: Doc
    seen: object


class Allowed(NamedTuple):
    """Which skills may be answered, said as an engine is told of it: these alone, or all but these."""

    among: frozenset[str] | None = None
    without: frozenset[str] = frozenset()


class Routed:
    """What one library's searches share: the index, what it was compared with, and what was read on the way."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self.engine: Engine | None = None
        self.name = ""
        self.compared: tuple[Glance, Catalogue] | None = None
        self.places: texts.Places = texts.Places(Glance([], [], b""), ())
        self.allowed: OrderedDict[object, Allowed] = OrderedDict()
        self.docs: OrderedDict[str, Kept] = OrderedDict()
        self.done = Indexed(0, 0, 0, 0, 0)
        self.embedder: Embedder | None = None
        self.phrases: tuple[object, triggers.Table] | None = None


def routed(library: Library) -> Routed:
    """Give what the searches of a library share."""
    if library.routed is None:
        library.routed = Routed()
    assert isinstance(library.routed, Routed)
    return library.routed


def current(library: Library, *, whole: bool = False) -> Routed:
    """Bring the index up to date, as far as that is quick; with `whole` however long it takes."""
    state = routed(library)
    with library.alone:
        found, glanced = library.contents(), library.glance()
        if whole or state.compared is None or state.compared[0] is not glanced or state.compared[1] is not found:
            with CollectorOff():  # it would look at every card, and more than once
                _compare(library, state, glanced, found, whole=whole)
                _embed(library, state, whole=whole)
            state.compared = glanced, found
    return state


# --- words


def _compare(library: Library, state: Routed, glanced: Glance, found: Catalogue, *, whole: bool) -> None:
    """Hold the index against what lies on the disk, and read what differs; where it was sealed with this listing, nothing does."""
    engine = _opened(library, state)
    state.places = texts.Places(glanced, found.cards)
    state.allowed.clear()
    state.phrases = None
    settings = library.settings._replace(route=Routing())  # whatever else may decide which skills there are
    seal = pipeline.name_of(texts.EDITION, glanced.token, settings, library.platform, library.agent)
    for _attempt in range(2):  # what turns out to be damaged is forgotten, and the next time made anew
        try:
            if not whole and engine.sealed() == seal:
                state.done = Indexed(len(state.places), 0, 0, 0, 0)
            else:
                state.done = _updated(library, engine, state.places, seal)
        except (OSError, StoreError) as error:
            trouble = str(error)
        else:
            return
    _warn(library, f"the index could not be kept: {trouble}")
    state.engine = in_memory()
    state.done = _updated(library, state.engine, state.places, seal)


def _updated(library: Library, engine: Engine, places: Mapping[str, texts.Place], seal: str) -> Indexed:
    known = engine.known()
    unlike = [place for path, place in places.items() if known.get(path) != place.stamp]
    gone = [path for path in known if path not in places]
    count = _Count(library, "skills")
    fresh = count.of(texts.read(unlike, library.ports.clock_ns()))
    if not known:
        engine.build(fresh)
    elif unlike or gone:
        engine.update(fresh, gone)
    lost = [path for place in unlike if (path := place.card.path) in known and path not in count.paths]
    if lost:  # there a moment ago, and not to be read now
        engine.update((), lost)
    if len(count.paths) == len(unlike) and not count.fresh:  # else there is something to be read again the next time
        engine.seal(seal)
    stays = len(known) - len(gone) - sum(place.card.path in known for place in unlike)
    return Indexed(stays + len(count.paths), len(count.paths), len(gone) + len(lost), 0, 0)


class _Count:
    """Counts what passes through, and tells how far it has come."""

    def __init__(self, library: Library, what: str) -> None:
        self.library, self.what, self.paths, self.fresh = library, what, set[str](), False

    def of(self, found: Iterable[Text]) -> Iterator[Text]:
        for text in found:
            self.paths.add(text.path)
            self.fresh = self.fresh or text.stamp.startswith(texts.FRESH)
            if len(self.paths) % STEP == 0:
                self.library.progress(self.what, len(self.paths))
            yield text


def _opened(library: Library, state: Routed) -> Engine:
    """Give the engine: what a host put there, files below METIER_HOME, or what lasts as long as the library."""
    if library.engine is not None:
        state.engine = library.engine
        return library.engine
    name = pipeline.name_of([(root.location, root.scope) for root in library.roots()])
    if state.engine is None or state.name != name:
        state.engine, state.name = _own_engine(library, name), name
    return state.engine


def _own_engine(library: Library, name: str) -> Engine:
    if not library.data:
        return in_memory()
    from metier.route.disk import folder_engine

    folder = f"{library.data}/route/{name}"
    library.later.append(lambda: disk.used(folder, library.ports.clock_ns() / SECOND))
    return folder_engine(folder, library.home)


def in_memory() -> Engine:
    """Give an engine that keeps nothing when the library is let go of."""
    from metier.route.memory import memory_engine

    return memory_engine()


# --- meaning


def embedder_of(library: Library, state: Routed) -> Embedder | None:
    """Give what sees meaning: what a host put there, or the model that comes with metier where it can run; off means none."""
    if library.settings.route.vectors == "off":
        return None
    if library.embedder is not None:
        return library.embedder
    if state.embedder is None:
        from metier.route.embed.disk import Onnx, available

        if available():
            return None
        state.embedder = Onnx()
    return state.embedder


def _embed(library: Library, state: Routed, *, whole: bool) -> None:
    """Make the vectors that are missing; where they are many and somebody waits, only say so."""
    embedder, engine = embedder_of(library, state), state.engine
    if embedder is None or engine is None:
        return
    missing = lacking(library, state, embedder)
    if len(missing) > AT_ONCE and not whole:
        _warn(library, f"{len(missing):,} skills are found by their words alone until 'metier find --index' has embedded them")
        state.done = state.done._replace(waiting=len(missing))
        return
    try:
        if missing:
            engine.add_vectors(embedder.name, _vectors(library, state, embedder, missing))
    except Exception as error:  # noqa: BLE001 - an embedder may be anybody's, and words are still there
        _warn(library, f"skills are found by their words alone: {error}")
    left = len(lacking(library, state, embedder)) if missing else 0
    state.done = state.done._replace(embedded=len(missing) - left, waiting=left)


def lacking(library: Library, state: Routed, embedder: Embedder) -> list[str]:
    """Give the paths of skills that have no vectors of this embedder."""
    assert state.engine is not None
    try:
        return [path for path in state.engine.without_vectors(embedder.name) if path in state.places]
    except MetierError as error:  # its own files are not as they should be
        _warn(library, error.message)
        return []


def _vectors(library: Library, state: Routed, embedder: Embedder, missing: Sequence[str]) -> Iterator[tuple[str, Floats]]:
    for start in range(0, len(missing), BATCH):
        found = list(texts.read([state.places[path] for path in missing[start : start + BATCH]], library.ports.clock_ns()))
        rows = embedder.passages([piece(text.name, text.description, text.body) for text in found]) if found else []
        for at, text in enumerate(found):
            yield text.path, rows[at : at + 1]
        library.progress("vectors", start + len(found))


def vector_of(library: Library, state: Routed, task: str) -> Floats | None:
    """Give a task as the embedder sees it; nothing where there is none, or it fails."""
    embedder = embedder_of(library, state)
    if embedder is None:
        return None
    try:
        return embedder.queries([task])[0]
    except Exception as error:  # noqa: BLE001 - an embedder may be anybody's, and words are still there
        _warn(library, f"only words were compared: {error}")
        return None


def _warn(library: Library, warning: str) -> None:
    if warning not in library.warnings:
        library.warnings.append(warning)


# --- phrases and passages


def table_of(library: Library, state: Routed) -> triggers.Table:
    """Give the trigger phrases of all skills, the user's own in the place of declared ones (CO-8)."""
    custom = custom_phrases(library)
    assert state.engine is not None
    if state.phrases is None or state.phrases[0] != custom:
        phrased = triggers.combined(state.places.cards.values(), state.engine.triggers(), custom)
        state.phrases = custom, triggers.table(phrased)
    return state.phrases[1]


def docs_of(state: Routed, paths: Iterable[str]) -> dict[str, Doc]:
    """Give skills taken apart for the second stage, as they are on the disk; what cannot be read any more is left out."""
    found: dict[str, Doc] = {}
    for path in paths:
        kept = state.docs.get(path)
        if kept is None or (kept.seen is not state.places and kept.stamp != state.places[path].stamp):
            kept = _apart(state.places.cards[path], state.places)
            if kept is None:
                continue
        elif kept.seen is not state.places:
            kept = kept._replace(seen=state.places)
        state.docs[path] = kept
        state.docs.move_to_end(path)
        found[path] = kept.doc
    while len(state.docs) > DOCS:
        state.docs.popitem(last=False)
    return found


def _apart(card: Card, seen: object) -> Kept | None:
    opening = texts.opening_of(card, LONGEST_BODY)
    return Kept(opening[0], doc(card.name, card.description, opening[1]), seen) if opening is not None else None
