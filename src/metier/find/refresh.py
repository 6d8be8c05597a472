"""Brings the search index up to date: it finds where the index lies, which skills differ, and which
vectors are missing.

A skill has one vector, made from its name, its description and how its body begins. Vectors of more
passages were tried: four of them for each skill gained less than one query in a hundred, and cost
five times the work and the room. What a passage holds of a task is read by the second stage
instead.
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING

from metier import pipeline
from metier.errors import ConfigError, StoreError
from metier.fast import CollectorOff
from metier.find import texts
from metier.find.model import CurrentIndex, Indexed, VectorState, search_state, warn_once
from metier.model import REGISTERED
from metier.settings.model import FindSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from metier.context import Context
    from metier.find.model import Floats, SearchState, SkillText
    from metier.model import Card, Root
    from metier.pipeline import Catalogue, Look
    from metier.ports import Embedder, Engine


INDEX_FOLDER = "route"
"""Below METIER_HOME: one folder for each set of roots, as each project has its own."""
VECTORS_OFF = "off"


def index_name(roots: Iterable[Root]) -> str:
    """Name the index of some roots. What a program registers lies elsewhere each time, and needs no
    index of its own for that.
    """
    held = ([(root.location, root.scope) for root in roots if root.told_by != REGISTERED],)
    return blake2b(repr(held).encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()


def folder_of_index(data: str | None, roots: Iterable[Root]) -> str | None:
    """Give the folder of an index, which need not be there; nothing where nothing is kept."""
    return f"{data}/{INDEX_FOLDER}/{index_name(roots)}" if data else None


def embedder_for(vectors: str, given: Embedder | None) -> tuple[Embedder | None, str]:
    """Give what sees meaning, a host's own or the model that comes with metier; or nothing, and
    why.
    """
    if vectors == VECTORS_OFF:
        return None, 'route.vectors is "off"'
    if given is not None:
        return given, ""
    from metier.find.io.embedding_model import OnnxEmbedder, why_unavailable

    missing = why_unavailable()
    return (None, missing) if missing else (OnnxEmbedder(), "")


def why_words_alone(context: Context) -> str:
    """Say why nothing sees meaning here; nothing where something does, or where nobody wants it."""
    vectors = context.settings.route.vectors
    return "" if vectors == VECTORS_OFF else embedder_for(vectors, context.embedder)[1]


NAME_CHARACTERS = 100
DESCRIPTION_CHARACTERS = 500
LEAD_CHARACTERS = 500
BODY_CHARACTERS = 4_000
"""How far into a body its beginning is looked for: some have a long list of contents first."""


def text_to_embed(name: str, description: str, body: str) -> str:
    """Give the text of a skill's vector."""
    spoken = name[:NAME_CHARACTERS].replace("-", " ")
    return f"{spoken}: {description[:DESCRIPTION_CHARACTERS]} {body_lead(body)}".rstrip()


def body_lead(body: str) -> str:
    """Give how a body begins, without its headings."""
    lines = (line for line in body[:BODY_CHARACTERS].splitlines() if not line.startswith("#"))
    return " ".join(" ".join(lines).split())[:LEAD_CHARACTERS]


EMBED_BATCH = 16
"""Skills that are embedded together."""
RECHECK_NS = 60_000_000_000
"""After which time skills without vectors are looked for again: another process may have made
them."""


def embedder_of(context: Context, state: SearchState) -> Embedder | None:
    """Give what sees meaning; whether the model that comes with metier can run is found out
    once.
    """
    vectors = context.settings.route.vectors
    if context.embedder is not None or vectors == "off":
        return embedder_for(vectors, context.embedder)[0]
    if state.own_embedder is None:
        state.own_embedder = embedder_for(vectors, None)
    return state.own_embedder[0]


def is_known(context: Context, state: SearchState, latest: CurrentIndex, most: int) -> bool:
    """Tell whether there is nothing to be looked at or made anew, if at most so many vectors are to
    be made.
    """
    embedder = embedder_of(context, state)
    known = latest.meaning
    if embedder is None or known is None:
        return embedder is None and known is None
    if known.embedder is not embedder:
        return False
    if not known.lacking:
        return True
    return (
        not known.tried < len(known.lacking) <= most
        and context.ports.clock_ns() - known.looked_ns < RECHECK_NS
    )


def embed_missing(
    context: Context, state: SearchState, latest: CurrentIndex, most: int
) -> CurrentIndex:
    """Make the vectors that are missing, unless they are more than that."""
    embedder = embedder_of(context, state)
    if embedder is None:
        return latest._replace(meaning=None)
    missing = left = list(latest.cards)
    try:
        missing = left = _lacking(latest, embedder)
        if missing and len(missing) <= most:
            latest.engine.add_vectors(embedder.name, _vectors(context, latest, embedder, missing))
            left = _lacking(latest, embedder)
    except Exception as error:  # noqa: BLE001 - an embedder may be anybody's, and words are still there
        warn_once(context, f"skills are found by their words alone: {error}")
        with suppress(Exception):  # some of them may have been kept
            left = _lacking(latest, embedder)
    done = latest.done._replace(embedded=len(missing) - len(left), waiting=len(left))
    return latest._replace(
        done=done, meaning=VectorState(embedder, frozenset(left), most, context.ports.clock_ns())
    )


def _lacking(latest: CurrentIndex, embedder: Embedder) -> list[str]:
    """Give the paths of skills that have no vectors of this embedder."""
    return [path for path in latest.engine.without_vectors(embedder.name) if path in latest.cards]


def _vectors(
    context: Context, latest: CurrentIndex, embedder: Embedder, missing: Sequence[str]
) -> Iterator[tuple[str, Floats]]:
    """Embed skills; those that cannot be are left out, and an embedder that fails for all of some
    is asked no more.
    """
    for start in range(0, len(missing), EMBED_BATCH):
        cards = [latest.cards[path] for path in missing[start : start + EMBED_BATCH]]
        found = list(texts.read_texts(cards, context.ports.clock_ns()))
        pieces = [text_to_embed(text.name, text.description, text.body) for text in found]
        made = _rows(context, embedder, pieces) if found else []
        if len(found) == EMBED_BATCH and all(rows is None for rows in made):
            return
        for text, rows in zip(found, made, strict=True):
            if rows is not None:
                yield text.path, rows
        context.progress("vectors", start + len(found), len(missing))


def _rows(context: Context, embedder: Embedder, pieces: Sequence[str]) -> list[Floats | None]:
    """Embed pieces together; where that fails, one by one."""
    try:
        rows = embedder.passages(pieces)
        return [rows[at : at + 1] for at in range(len(pieces))]
    except Exception as error:  # noqa: BLE001 - an embedder may be anybody's, and words are still there
        warn_once(context, f"skills are found by their words alone: {error}")
        if len(pieces) == 1:
            return [None]
        return [row for one in pieces for row in _rows(context, embedder, [one])]


def vector_of(context: Context, now: CurrentIndex, task: str) -> Floats | None:
    """Give a task as the embedder sees it; nothing where there is none, too few skills have
    vectors, or it fails.
    """
    known = now.meaning
    if (
        known is None
        or not now.has_vectors
        or embedder_of(context, search_state(context)) is not known.embedder
    ):
        return None
    try:
        return known.embedder.queries([task])[0]
    except Exception as error:  # noqa: BLE001 - an embedder may be anybody's, and words are still there
        warn_once(context, f"only words were compared: {error}")
        return None


MAX_VECTORS_AT_ONCE = 8
"""Skills whose vectors are made while somebody waits for an answer: a fifth of a second. More are
made in the background, or by `index` (docs/adr/0043)."""
ALL_VECTORS = 1 << 62
"""More than there ever are: for whoever waits for all of them."""
PROGRESS_STEP = 200
"""After how many skills it is told how far the work has come."""
SECOND_NS = 1_000_000_000


def update_index(
    context: Context, *, whole: bool = False, vectors: bool = True, most: int | None = None
) -> CurrentIndex:
    """Bring the index up to date, as far as that is quick; with `whole` however long it takes.

    At most so many vectors are made, or none where words are enough.
    """
    state = search_state(context)
    most = MAX_VECTORS_AT_ONCE if most is None else most
    latest = state.latest
    if (
        latest is not None
        and not whole
        and _is_of(latest, context.catalogue.glance(), context.catalogue.contents())
        and (not vectors or is_known(context, state, latest, most))
    ):
        return latest  # whoever finds nothing to do waits for nobody
    with context.lock, CollectorOff():  # which would look at every card, and more than once
        found = context.catalogue.contents()
        glanced = context.catalogue.glance()
        latest = state.latest
        if whole or latest is None or not _is_of(latest, glanced, found):
            latest = _compare(context, state, glanced, found, whole=whole)
        if vectors and (whole or not is_known(context, state, latest, most)):
            latest = embed_missing(context, state, latest, ALL_VECTORS if whole else most)
        state.latest = latest
    return latest


def _is_of(latest: CurrentIndex, glanced: Look, found: Catalogue) -> bool:
    return latest.glanced is glanced and latest.found is found


# --- vectors that nobody waits for


def why_not_in_background(context: Context) -> str:
    """Say why no process may make vectors after the answer; nothing where one may."""
    told = context.env.get("METIER_BACKGROUND", "")
    if told not in ("", "auto", "off"):
        raise ConfigError(
            f"METIER_BACKGROUND cannot be '{told}'", hint="set it to auto or off, or unset it"
        )
    if told == "off" or not context.settings.route.background:
        return "METIER_BACKGROUND is off" if told else "route.background is false"
    if context.embedder is not None or context.engine is not None or context.registered:
        return "only this program has all that the index is made of"
    # a runner ends what a job leaves behind, or waits for it
    return "" if context.env.get("CI", "") in {"", "0", "false"} or told else "this is CI"


def index_folder_of(now: CurrentIndex) -> str:
    """Give the folder that an index is kept in; nothing where it is kept nowhere."""
    return str(getattr(getattr(now.engine, "place", None), "folder", ""))


def digest_of_lacking(now: CurrentIndex, known: VectorState) -> str:
    """Name the vectors that are missing, so that what failed for these very skills, as they were
    read, is not begun again at once.
    """
    stamps = now.engine.known()
    held = [(path, stamps.get(path)) for path in sorted(known.lacking)]
    named = repr((known.embedder.name, held))
    return blake2b(named.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()


def forget_index(context: Context, known: CurrentIndex) -> None:
    """Let an index be looked at again that turned out to be damaged, unless somebody else has done
    so.
    """
    state = search_state(context)
    with context.lock:
        if state.latest is not None and state.latest.engine is known.engine:
            state.latest = None


# --- words


def _compare(
    context: Context, state: SearchState, glanced: Look, found: Catalogue, *, whole: bool
) -> CurrentIndex:
    """Hold the index against what lies on the disk, and read what differs; where it was sealed with
    this listing, nothing does.
    """
    engine = _open_engine(context, state)
    cards = {card.path: card for card in found.cards}
    # whatever else may decide which skills there are
    settings = context.settings._replace(route=FindSettings())
    seal = pipeline.name_of(
        texts.STAMP_EDITION, glanced.files, settings, context.platform, context.agent
    )
    for _attempt in range(2):  # what turns out to be damaged is forgotten, and next made anew
        try:
            if not whole and engine.sealed() == seal:
                done = Indexed(len(cards), 0, 0, 0, 0)
            else:
                done = _update(context, engine, glanced, cards, seal)
        except (OSError, StoreError) as error:
            trouble = str(error)
        else:
            return CurrentIndex(engine, glanced, found, cards, done, OrderedDict())
    warn_once(context, f"the index could not be kept: {trouble}")
    state.engine = memory_index()
    done = _update(context, state.engine, glanced, cards, seal)
    return CurrentIndex(state.engine, glanced, found, cards, done, OrderedDict())


def _update(
    context: Context, engine: Engine, glanced: Look, cards: Mapping[str, Card], seal: str
) -> Indexed:
    known = engine.known()
    unlike = [
        card
        for card, stamp in texts.stamped(glanced, cards.values())
        if known.get(card.path) != stamp
    ]
    gone = [path for path in known if path not in cards]
    read = set[str]()
    stamps = list[bytes]()

    def counted() -> Iterator[SkillText]:
        for text in texts.read_texts(unlike, context.ports.clock_ns()):
            read.add(text.path)
            stamps.append(text.stamp)
            if len(read) % PROGRESS_STEP == 0:
                context.progress("skills", len(read), len(unlike))
            yield text

    if not known:
        engine.build(counted())
    elif unlike or gone:
        engine.update(counted(), gone)
    lost = [card.path for card in unlike if card.path in known and card.path not in read]
    if lost:  # there a moment ago, and not to be read now
        engine.update((), lost)
    # else there is something to be read again the next time
    if len(read) == len(unlike) and not any(one.startswith(texts.FRESH_STAMP) for one in stamps):
        engine.seal(seal)
    stays = len(known) - len(gone) - sum(card.path in known for card in unlike)
    return Indexed(stays + len(read), len(read), len(gone) + len(lost), 0, 0)


def _open_engine(context: Context, state: SearchState) -> Engine:
    """Give the engine: what a host put there, files below METIER_HOME, or what lasts as long as the
    library.
    """
    if context.engine is not None:
        state.engine = context.engine
        return context.engine
    name = index_name(context.catalogue.roots())
    if state.engine is None or state.name != name:
        state.engine = _own_engine(context, name)
        state.name = name
    return state.engine


def _own_engine(context: Context, name: str) -> Engine:
    if not context.data:
        return memory_index()
    from metier.find.io.index_folder import folder_engine, mark_used

    folder = f"{context.data}/{INDEX_FOLDER}/{name}"
    context.later.append(lambda: mark_used(folder, context.ports.clock_ns() / SECOND_NS))
    return folder_engine(folder, context.home)


def memory_index() -> Engine:
    """Give an engine that keeps nothing when the library is let go of."""
    from metier.find.index.engine import memory_engine

    return memory_engine()
