"""Keeps an index current: which skills are new, changed or gone since it was last looked at."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from metier import pipeline
from metier.collector import CollectorOff
from metier.errors import StoreError
from metier.route.choosing import FOLDER, index_name
from metier.routing import disk, meaning, texts
from metier.routing.state import Current, routed, warn
from metier.settings import Routing
from metier.wanted import Indexed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from metier.app import Library
    from metier.model import Card
    from metier.pipeline import Catalogue, Glance
    from metier.ports import Engine
    from metier.routing.state import Routed
    from metier.wanted import Text

AT_ONCE = 20_000
"""Skills whose vectors are made while somebody waits for an answer, some three minutes on two cores; more wait for `index`."""
STEP = 200
"""After how many skills it is told how far the work has come."""
SECOND = 1_000_000_000


def current(library: Library, *, whole: bool = False, vectors: bool = True, most: int | None = None) -> Current:
    """Bring the index up to date, as far as that is quick; with `whole` however long it takes.

    At most so many vectors are made, or none where words are enough.
    """
    state, most = routed(library), AT_ONCE if most is None else most
    latest = state.latest
    if latest is not None and not whole and _is_of(latest, library.glance(), library.contents()) and (
        not vectors or meaning.is_known(library, state, latest, most)
    ):
        return latest  # whoever finds nothing to do waits for nobody
    with library.alone, CollectorOff():  # which would look at every card, and more than once
        found, glanced = library.contents(), library.glance()
        latest = state.latest
        if whole or latest is None or not _is_of(latest, glanced, found):
            latest = _compared(library, state, glanced, found, whole=whole)
        if vectors and (whole or not meaning.is_known(library, state, latest, most)):
            latest = meaning.embedded(library, state, latest, len(latest.cards) if whole else most)
            if latest.done.waiting > AT_ONCE:
                found_by = f"{latest.done.waiting:,} skills are found by their words alone"
                warn(library, f"{found_by} until 'metier find --index' has embedded them")
        state.latest = latest
    return latest


def _is_of(latest: Current, glanced: Glance, found: Catalogue) -> bool:
    return latest.glanced is glanced and latest.found is found


def forget(library: Library, known: Current) -> None:
    """Let an index be looked at again that turned out to be damaged, unless somebody else has done so."""
    state = routed(library)
    with library.alone:
        if state.latest is not None and state.latest.engine is known.engine:
            state.latest = None


# --- words


def _compared(library: Library, state: Routed, glanced: Glance, found: Catalogue, *, whole: bool) -> Current:
    """Hold the index against what lies on the disk, and read what differs; where it was sealed with this listing, nothing does."""
    engine, cards = _opened(library, state), {card.path: card for card in found.cards}
    settings = library.settings._replace(route=Routing())  # whatever else may decide which skills there are
    seal = pipeline.name_of(texts.EDITION, glanced.token, settings, library.platform, library.agent)
    for _attempt in range(2):  # what turns out to be damaged is forgotten, and the next time made anew
        try:
            if not whole and engine.sealed() == seal:
                done = Indexed(len(cards), 0, 0, 0, 0)
            else:
                done = _updated(library, engine, glanced, cards, seal)
        except (OSError, StoreError) as error:
            trouble = str(error)
        else:
            return Current(engine, glanced, found, cards, done, OrderedDict())
    warn(library, f"the index could not be kept: {trouble}")
    state.engine = in_memory()
    done = _updated(library, state.engine, glanced, cards, seal)
    return Current(state.engine, glanced, found, cards, done, OrderedDict())


def _updated(library: Library, engine: Engine, glanced: Glance, cards: Mapping[str, Card], seal: str) -> Indexed:
    known = engine.known()
    unlike = [card for card, stamp in texts.stamped(glanced, cards.values()) if known.get(card.path) != stamp]
    gone = [path for path in known if path not in cards]
    count = _Count(library, "skills")
    fresh = count.of(texts.read(unlike, library.ports.clock_ns()))
    if not known:
        engine.build(fresh)
    elif unlike or gone:
        engine.update(fresh, gone)
    lost = [card.path for card in unlike if card.path in known and card.path not in count.paths]
    if lost:  # there a moment ago, and not to be read now
        engine.update((), lost)
    if len(count.paths) == len(unlike) and not count.fresh:  # else there is something to be read again the next time
        engine.seal(seal)
    stays = len(known) - len(gone) - sum(card.path in known for card in unlike)
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
    name = index_name(library.roots())
    if state.engine is None or state.name != name:
        state.engine, state.name = _own_engine(library, name), name
    return state.engine


def _own_engine(library: Library, name: str) -> Engine:
    if not library.data:
        return in_memory()
    from metier.route.disk import folder_engine

    folder = f"{library.data}/{FOLDER}/{name}"
    library.later.append(lambda: disk.used(folder, library.ports.clock_ns() / SECOND))
    return folder_engine(folder, library.home)


def in_memory() -> Engine:
    """Give an engine that keeps nothing when the library is let go of."""
    from metier.route.memory import memory_engine

    return memory_engine()
