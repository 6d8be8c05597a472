"""An index answers the same however it came about, in one order, and a skill that has nothing to do with a query stays out of it."""

from __future__ import annotations

from math import log

from fakes.embedding import HashedEmbedder
from fakes.texts import skill
from hypothesis import given, settings, strategies as st

from metier.find.index import bm25, vectors
from metier.find.index.bm25 import K1, SUMMED_FIELDS
from metier.find.index.engine import IndexEngine, memory_engine
from metier.find.model import IndexCandidate, IndexQuery, SkillText
from metier.find.words import FIELDS

WORDS = (
    "the",
    "of",
    "deploy",
    "docker",
    "kubernetes",
    "python",
    "pdf",
    "mail",
    "split",
    "日本語",
    "c++",
    "getHTTPResponse",
)
NAMES = ("abcdefghij", "abcdefghxo", "meeting", "meetings", "formatting", "format")
TYPED = ("abcdefghik", "abcdefghio", "meetign", "meetinsg", "formattign", "formta")
"""Each of them is one slip or two from several names: it depends on which are there."""
MODEL = HashedEmbedder()

phrases = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
bodies = st.lists(
    st.builds(
        lambda mark, text: mark + text, st.sampled_from(["", "", "# ", "## ", "```\n"]), phrases
    ),
    max_size=4,
).map("\n".join)
tags = st.lists(st.sampled_from(["Red", "dark  blue"]), max_size=2).map(tuple)
paths = st.integers(0, 12).map(lambda number: f"/s/{number:02}")
named = st.lists(st.sampled_from(NAMES), min_size=1, max_size=2).map("-".join)
skills = st.builds(
    lambda path, name, description, body, some: skill(path, name, description, body, tags=some),
    paths,
    phrases | named,
    phrases,
    bodies,
    tags,
)
changes = st.lists(
    st.tuples(st.lists(skills, max_size=5), st.lists(paths, max_size=3), st.booleans()), max_size=8
)
questions = st.builds(
    lambda text, limit, some, wanted, unfinished, meant: IndexQuery(
        text, limit, some, wanted, MODEL.queries([text])[0] if meant else None, unfinished
    ),
    st.one_of(
        phrases,
        phrases.map(lambda text: text[:-1]),
        st.sampled_from(["kubernets", "", "dcker mial"]),
        st.lists(st.sampled_from(TYPED), min_size=1, max_size=2).map(" ".join),
    ),
    st.sampled_from([1, 3, 100]),
    st.none() | st.frozensets(paths),
    tags,
    st.booleans(),
    st.booleans(),
)


def embedded(engine: IndexEngine, texts: dict[str, SkillText]) -> None:
    missing = engine.without_vectors(MODEL.name)
    engine.add_vectors(
        MODEL.name,
        [(path, MODEL.passages([f"{texts[path].name} {texts[path].body}"])) for path in missing],
    )


def built(texts: dict[str, SkillText]) -> IndexEngine:
    engine = memory_engine()
    engine.build(texts.values())
    embedded(engine, texts)
    return engine


def total(candidate: IndexCandidate) -> float:
    return sum(candidate.signals[field] for field in SUMMED_FIELDS)


@settings(max_examples=150)
@given(
    changes,
    st.lists(questions, min_size=1, max_size=4),
    st.sampled_from([1, 10**6]),
    st.sampled_from([(1, 1), (16, 512)]),
)
def test_an_index_built_step_by_step_equals_one_built_at_once(
    steps: list[tuple[list[SkillText], list[str], bool]],
    asked: list[IndexQuery],
    large: int,
    short: tuple[int, int],
) -> None:
    before, bm25.LARGE_INDEX_DOCUMENTS = bm25.LARGE_INDEX_DOCUMENTS, large
    usual = vectors.SHORTLIST_PER_HIT, vectors.MIN_SHORTLIST
    vectors.SHORTLIST_PER_HIT, vectors.MIN_SHORTLIST = short  # so that few are looked at exactly
    engine, texts = memory_engine(), dict[str, SkillText]()
    for put, gone, meant in steps:
        engine.update(put, gone)
        texts = {path: text for path, text in texts.items() if path not in gone} | {
            text.path: text for text in put
        }
        if meant:
            embedded(engine, texts)
    embedded(engine, texts)

    at_once = built(texts)
    answers = [(at_once.query(one), engine.query(one)) for one in asked]
    bm25.LARGE_INDEX_DOCUMENTS = before
    vectors.SHORTLIST_PER_HIT, vectors.MIN_SHORTLIST = usual

    assert {text.path: text.stamp for text in texts.values()} == engine.known()
    assert [expected for expected, _actual in answers] == [actual for _expected, actual in answers]


@settings(max_examples=200)
@given(
    st.lists(st.sampled_from(NAMES), min_size=2, max_size=4, unique=True),
    st.integers(0, 3),
    st.sampled_from(TYPED),
    st.booleans(),
)
def test_a_word_typed_wrongly_is_compared_with_the_names_that_are_there(
    names: list[str], gone: int, typed: str, replaced: bool
) -> None:
    others = [
        skill(f"/other/{number}", f"other{number}") for number in range(12)
    ]  # so that what is gone stays in its segment
    texts = {
        text.path: text
        for text in [*others, *(skill(f"/{number}", name) for number, name in enumerate(names))]
    }
    engine, at_once = memory_engine(), memory_engine()
    engine.build(texts.values())
    put = [skill(f"/{gone}", "renamed")] if replaced else []
    engine.update(put, [f"/{gone}"])
    at_once.build([*(text for path, text in texts.items() if path != f"/{gone}"), *put])

    found = engine.query(IndexQuery(typed))

    assert at_once.query(IndexQuery(typed)) == found


@given(st.lists(skills, max_size=12), st.randoms(use_true_random=False), questions)
def test_the_order_is_total_and_depends_on_nothing_but_the_skills(
    some: list[SkillText], random: object, asked: IndexQuery
) -> None:
    texts = {text.path: text for text in some}
    shuffled = list(texts.values())
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    engine = built(texts)

    found = engine.query(asked)
    other = built({text.path: text for text in shuffled}).query(asked)

    keys = [(-total(one), -one.signals["vector"], one.path) for one in found]
    assert sorted(set(keys)) == keys
    assert found == engine.query(asked) == other


@given(st.lists(skills, max_size=12), questions, st.sampled_from([1, 2, 5]))
def test_fewer_candidates_are_the_best_of_more(
    some: list[SkillText], asked: IndexQuery, limit: int
) -> None:
    engine = built({text.path: text for text in some})
    worded = asked._replace(vector=None)

    more, fewer = (engine.query(worded._replace(limit=wanted)) for wanted in (100, limit))

    assert more[:limit] == fewer


LETTERS = st.sampled_from("pqrstuvw")
equally_long = st.builds(
    lambda name, description, body: (" ".join(name), " ".join(description), " ".join(body)),
    st.lists(LETTERS, min_size=2, max_size=2),
    st.lists(LETTERS, min_size=4, max_size=4),
    st.lists(LETTERS, min_size=8, max_size=8),
)


@given(
    st.lists(equally_long, min_size=2, max_size=10),
    st.lists(LETTERS, min_size=1, max_size=4, unique=True),
)
def test_an_unrelated_skill_changes_scores_by_its_effect_on_rarity_and_nothing_else(
    fields: list[tuple[str, str, str]], asked: list[str]
) -> None:
    """A skill that shares no word with a query, and is as long as the others are on average, adds one to the count of skills.

    That adds ln((n+2)/(n+1)) to the rarity of every word in every field, so a score grows by that times what its word counts,
    which lies between 0 and k1 + 1. The order of two can change only where their scores were closer than that.
    """
    texts = [skill(f"/{number}", *words) for number, words in enumerate(fields)]
    step = log((len(texts) + 2) / (len(texts) + 1))
    most = step * (K1 + 1) * len(asked) * len(SUMMED_FIELDS)

    before, after = (
        {
            one.path: one
            for one in built({text.path: text for text in some}).query(IndexQuery(" ".join(asked)))
        }
        for some in (texts, [*texts, skill("/unrelated", "x y", "x y x y", "x y x y x y x y")])
    )

    assert before.keys() == after.keys()
    for path, one in before.items():
        grown = {field: after[path].signals[field] - one.signals[field] for field in FIELDS}
        assert all(-1e-9 <= grown[field] <= step * (K1 + 1) * len(asked) + 1e-9 for field in FIELDS)
        for other in before.values():
            if total(one) - total(other) > most:
                assert total(after[path]) > total(after[other.path])


@given(st.lists(equally_long, min_size=2, max_size=10), LETTERS)
def test_an_unrelated_skill_changes_no_order_where_one_word_in_one_field_decides(
    fields: list[tuple[str, str, str]], word: str
) -> None:
    texts = [
        skill(f"/{number}", "", "", body)
        for number, (_name, _description, body) in enumerate(fields)
    ]

    before, after = (
        [one.path for one in built({text.path: text for text in some}).query(IndexQuery(word))]
        for some in (texts, [*texts, skill("/unrelated", "", "", "x y x y x y x y")])
    )

    assert before == after
