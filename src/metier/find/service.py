"""Answers the questions about finding skills: which fit a task, which could be mistaken for one
another (ZE-34), and what a search covers.
"""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import StoreError, UsageError
from metier.fast import CollectorOff
from metier.find.model import Confusable, Confusion, Hit, Indexed, IndexQuery, search_state
from metier.find.rank import (
    Ranked,
    SearchRequest,
    allowed_of,
    check_request,
    make_trigger_table,
    offered,
    rank,
    task_of,
)
from metier.find.refresh import (
    ALL_VECTORS,
    PROGRESS_STEP,
    digest_of_lacking,
    forget_index,
    index_folder_of,
    update_index,
    why_not_in_background,
)
from metier.find.texts import FRESH_STAMP
from metier.find.words import STOP_WORDS, words
from metier.trust.judge import judge_in_batches, judge_listed, stale_listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from metier.context import Context
    from metier.find.model import CurrentIndex, Floats, Preparation
    from metier.find.triggers import TriggerTable
    from metier.model import Card, Texts
    from metier.ports import Engine


MIN_SHARED_WORDS = 0.5
"""From which share of common words on two cards answer the same tasks."""
MIN_ALIKE_COSINE = 0.85
"""From which cosine on they do."""
MAX_CARD_CHARS = 2_000


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Give the share of words that both have, of all that either has."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def rivals(
    cards: Sequence[tuple[str, str, str]], likeness: Floats | None = None
) -> dict[str, Texts]:
    """Give for each (path, name, description) the names of the others that are nearly the same, in
    the order they came in.

    Two are compared by their cosine in `likeness` where it has one, else by their words.
    """
    sets = [
        frozenset(words(f"{name}\n{description}"[:MAX_CARD_CHARS])) - STOP_WORDS
        for _path, name, description in cards
    ]

    def alike(one: int, other: int) -> bool:
        cosine = nan if likeness is None else float(likeness[one][other])
        return (
            overlap(sets[one], sets[other]) >= MIN_SHARED_WORDS
            if isnan(cosine)
            else cosine >= MIN_ALIKE_COSINE
        )

    found: dict[str, Texts] = {}
    for at, (path, name, _description) in enumerate(cards):
        near = (cards[other][1] for other in range(len(cards)) if other != at and alike(at, other))
        found[path] = tuple(dict.fromkeys(one for one in near if one != name))
    return found


def measured_pairs(
    pairs: Iterable[tuple[str, str, float]], names: Mapping[str, str]
) -> list[Confusable]:
    """Give each pair of paths once, with its highest similarity, the closest first; two copies of
    one name are no confusion.
    """
    best: dict[tuple[str, str], float] = {}
    for one, other, similarity in pairs:
        key = min(one, other), max(one, other)
        if names[one] != names[other]:
            best[key] = max(similarity, best.get(key, similarity))
    found = [
        Confusable(names[one], names[other], one, other, round(min(similarity, 1.0), 3))
        for (one, other), similarity in best.items()
    ]
    return sorted(found, key=lambda pair: (-pair.similarity, pair.first_path, pair.second_path))


MAX_NEIGHBOURS = 5
"""How many skills are asked for that are like a skill."""


def confusable(context: Context, least: float | None = None) -> Confusion:
    """Give the pairs of visible skills that answer the same tasks: by meaning where there are
    vectors, else by words (ZE-34).

    No skill is compared with all others: an engine is asked for the few that are nearest to each.
    """
    from metier.usage.report import MIN_SIMILARITY, find_alike

    given: object = least  # whoever calls, from wherever
    if given is not None and not (isinstance(given, (int, float)) and 0 < given <= 1):
        raise UsageError(
            f"{str(least)[:40]} is no share",
            hint="give how alike two skills must be, from above 0 to 1",
        )
    now = update_index(context)
    cards = {path: card for path, card in now.cards.items() if card.state == "visible"}
    unseen = now.meaning.lacking & cards.keys() if now.meaning else frozenset[str]()
    seen = frozenset(cards.keys() - unseen if now.meaning else ())
    by_words = find_alike(
        ((card.path, card.name, card.description) for card in cards.values()),
        least or MIN_SIMILARITY,
    )
    pairs = _neighbours(context, now.engine, seen, least or MIN_ALIKE_COSINE) + [
        (one.first_path, one.second_path, one.similarity)
        for one in by_words
        if not {one.first_path, one.second_path} <= seen
    ]
    names = {path: card.name for path, card in cards.items()}
    return Confusion(tuple(measured_pairs(pairs, names)), tuple(sorted(unseen)))


def _neighbours(
    context: Context, engine: Engine, seen: frozenset[str], least: float
) -> list[tuple[str, str, float]]:
    """Ask for what is nearest in meaning to each skill that has vectors, and alike enough."""
    found: list[tuple[str, str, float]] = []
    for count, path in enumerate(sorted(seen), 1):
        found += [
            (path, other, cosine)
            for other, cosine in engine.neighbours(path, MAX_NEIGHBOURS, seen)
            if other in seen and cosine >= least
        ]
        if count % PROGRESS_STEP == 0:
            context.progress("skills", count, len(seen))
    return found


CANDIDATE_POOL = 120
"""Candidates that are asked of an engine, however few hits are wanted: so a shorter answer is the
beginning of a longer one."""


FEW_UNJUDGED = 20
"""So many new skills are scanned before a search. Where there are more, only those are that would be
answered: nobody waits a minute for a first answer."""
MAX_JUDGING_ROUNDS = 8
"""How often an answer may change because something in it turns out to be blocked."""


class About(NamedTuple):
    """What a search went over."""

    skills: int
    """Names that could have been answered. Tags are not looked at here: only the index knows them
    all."""
    vectors: bool
    """Whether meaning counted as well as words."""


def find(context: Context, task: str, request: SearchRequest, *, wait: bool = False) -> list[Hit]:
    """Give the skills that fit a task, the best first. Who does not `wait` for vectors is answered
    by words where more than a few are missing.
    """
    text = task_of(task)
    request = check_request(request)
    stale = (stale_listed(context, request.states) or []) if request.judged else []
    if request.judged and sum(not card.verdict for card in stale) <= FEW_UNJUDGED:
        judge_listed(context, request.states)
        stale = []
    cut = context.catalogue.cut_note()
    if cut and cut not in context.warnings:
        context.warnings.append(cut)
    now = update_index(context, most=ALL_VECTORS if wait else None)
    if stale:
        now, found = _judge_found(context, now, text, request, stale)
    else:
        found = _rank(context, now, text, request)
    cards = [(one.card.path, one.card.name, one.card.description) for one in found]
    near = rivals(cards, _likeness(now, [path for path, _name, _description in cards]))
    return [
        Hit(
            name=one.card.name,
            path=one.card.path,
            score=one.scored.score,
            why=one.scored.why,
            description=one.card.description,
            scope=one.card.scope,
            category=one.card.category,
            state=one.card.state,
            readiness=one.card.readiness,
            passage=one.heading,
            confusable=near[one.card.path],
            weak=one.weak,
        )
        for one in found
    ]


def _rank(context: Context, now: CurrentIndex, text: str, request: SearchRequest) -> list[Ranked]:
    """Give the best of what may be answered, as far as anybody knows."""
    allowed = allowed_of(context, now, request)
    asked = IndexQuery(
        text,
        CANDIDATE_POOL,
        among=allowed.among,
        without=allowed.without,
        tags=tuple(request.tags),
        unfinished=request.unfinished,
    )
    return _answer(context, now, asked, request.limit)[: request.limit]


def _judge_found(
    context: Context, now: CurrentIndex, text: str, request: SearchRequest, stale: Sequence[Card]
) -> tuple[CurrentIndex, list[Ranked]]:
    """Rank first, and have only that judged which would be answered, with all copies of its name:
    what is blocked then makes room for the next. Nothing is answered that was not judged.
    """
    pending: dict[tuple[str, str], list[Card]] = {}
    for card in stale:
        pending.setdefault((card.plugin, card.name), []).append(card)
    anyone = request._replace(judged=False)
    for _round in range(MAX_JUDGING_ROUNDS):
        found = _rank(context, now, text, anyone)
        names = dict.fromkeys((one.card.plugin, one.card.name) for one in found)
        new = [card for name in names for card in pending.pop(name, ())]
        if not new:
            return now, found
        judge_in_batches(context, new)
        now = update_index(context)
        unread = {card.path for card in new} - {
            card.path for card in now.found.cards if card.verdict
        }
        anyone = anyone._replace(without=anyone.without | unread)
    return now, _rank(context, now, text, request)


def index(context: Context) -> Indexed:
    """Bring the index up to date, vectors too."""
    return update_index(context, whole=True).done


def prepare(context: Context) -> Preparation:
    """Have the vectors that searches lack made by a process in the background; say whether they
    are being made. What was tried for these very skills a short while ago is not begun again.
    """
    from metier.find.io import index_folder

    now = update_index(context)
    if now.meaning is None or not now.meaning.lacking:
        return "ready"
    folder = index_folder_of(now)
    if not folder or why_not_in_background(context):
        return "off"
    if index_folder.is_being_filled(folder):
        return "preparing"
    state, lacking = search_state(context), digest_of_lacking(now, now.meaning)
    if lacking in {state.asked_for, index_folder.tried_lately(folder)}:
        return "off"
    state.asked_for = lacking
    started = index_folder.start_filling(
        tuple(root.location for root in context.given or ()),
        context.agent.id if context.agent else "",
        context.cwd,
        context.env,
    )
    return "preparing" if started else "off"


def fill(context: Context) -> Indexed | None:
    """Make what is missing, as the process that `prepare` started: one at a time for each index,
    and with the least priority. Nothing where another is at it.
    """
    from metier.find.io import index_folder

    now = update_index(context, most=0)
    folder = index_folder_of(now)
    if not folder or now.meaning is None or not now.meaning.lacking:
        return None
    with index_folder.fill_alone(folder, digest_of_lacking(now, now.meaning)) as free:
        if not free:
            return None
        stamps = now.engine.known()
        if any(stamps.get(path, b"").startswith(FRESH_STAMP) for path in now.meaning.lacking):
            index_folder.let_settle()  # what is read again belongs to no vector that was made before
        return index(context)


def about(context: Context, request: SearchRequest | None = None) -> About:
    """Say what such a search goes over, with what will be judged only when it is found."""
    now = update_index(context)
    request = check_request(request or SearchRequest())._replace(judged=False)
    names = {(card.plugin, card.name) for card in offered(now.found.cards, request)}
    return About(len(names), now.has_vectors)


# --- triggers


def trigger_table(context: Context) -> TriggerTable:
    """Give the trigger phrases of all skills, whatever their state, ready to be looked for in a
    task; it is made once.
    """
    return make_trigger_table(context, update_index(context, vectors=False))


def scores_of(context: Context, task: str, paths: Iterable[str]) -> dict[str, float]:
    """Give the score that each of some skills has for a task, held against one another; those that
    do not fit have none.

    Words alone count, whatever else is known: who only wants to know which of two goes first waits
    for no model.
    """
    now = update_index(context, vectors=False)._replace(meaning=None)
    asked = IndexQuery(
        task_of(task), CANDIDATE_POOL, frozenset(path for path in paths if path in now.cards)
    )
    found = _answer(context, now, asked) if asked.among else []
    return {one.card.path: one.scored.score for one in found}


def best_cards(context: Context, task: str, among: frozenset[str], wanted: int) -> list[Card]:
    """Give the skills of these paths that fit a task, best first, while a model waits for them."""
    asked = IndexQuery(task_of(task), CANDIDATE_POOL, among)
    with CollectorOff():
        now = update_index(context)
        found = _answer(context, now, asked, wanted)
    return [one.card for one in found]


class IndexRanker:
    """Ranks cards as `find` does."""

    def __init__(self, context: Context) -> None:
        """Rank the cards of this library."""
        self.context = context

    def rank(self, task: str, cards: Sequence[Card]) -> Sequence[Card]:
        """Give the cards that fit a task, best first; skills that are in no index are compared by
        the words of their cards.
        """
        if not task.strip() or not cards:
            return []
        now = update_index(self.context)
        known = [card for card in cards if card.path in now.cards]
        if not known:
            from metier.find.word_ranker import WordRanker

            return WordRanker().rank(task, cards)
        found = _answer(
            self.context,
            now,
            IndexQuery(task_of(task), CANDIDATE_POOL, frozenset(card.path for card in known)),
        )
        places = {(one.card.plugin, one.card.name): at for at, one in enumerate(found)}
        best = {one.card.path for one in found}
        wanted = [card for card in known if (card.plugin, card.name) in places]
        return sorted(
            wanted, key=lambda card: (places[card.plugin, card.name], card.path not in best)
        )


def _answer(
    context: Context,
    now: CurrentIndex,
    asked: IndexQuery,
    wanted: int = 0,
) -> list[Ranked]:
    """Ask; an index that turns out to be damaged is made anew, and asked once more."""
    # an answer makes thousands of values that are soon gone, and beside them lies the whole library
    with CollectorOff():
        try:
            return rank(context, now, asked, wanted)
        except StoreError:
            forget_index(context, now)
            return rank(context, update_index(context), asked, wanted)


def _likeness(now: CurrentIndex, paths: Sequence[str]) -> Floats | None:
    """Give how alike skills are in meaning, where that is known of any."""
    if now.meaning is None:
        return None
    try:
        return now.engine.likeness(paths)
    except StoreError:  # words are still there
        return None
