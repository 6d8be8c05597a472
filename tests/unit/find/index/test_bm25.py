"""Words lead to the skills that fit: by field, by rarity, through typing errors, and while they are still being typed."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from fakes.texts import skill

from metier.errors import slips
from metier.find.index import bm25, query
from metier.find.index.bm25 import K1, WordIndex
from metier.find.index.engine import memory_engine
from metier.find.index.query import Spellings, slips_allowed
from metier.find.index.segments import IndexSegment, segments_of
from metier.find.model import IndexCandidate, IndexQuery, SkillText

SIGNALS = ["name", "description", "tags", "body", "headings", "coverage", "asked", "vector"]
LIBRARY = [
    skill(
        "/pdf",
        "pdf-tools",
        "Split and merge documents",
        "# Pages\nTake pages out of a pdf.",
        tags=("Office", "files"),
    ),
    skill(
        "/mail",
        "mail-writer",
        "Write a letter",
        "Dear reader, the pdf is attached.",
        tags=("office",),
    ),
    skill("/kube", "kubernetes-deploy", "Deploy to a cluster", "# Rolling out\nUse kubectl."),
    skill("/cpp", "c++-style", "Style for c++ and c#", "Indent."),
    skill("/cjk", "日本語", "書類を書く", "文書"),
]


def asked(texts: list[SkillText], text: str, **rest: object) -> list[IndexCandidate]:
    engine = memory_engine()
    engine.build(texts)
    return list(engine.query(IndexQuery(text, **rest)))  # type: ignore[arg-type]


def paths(text: str, **rest: object) -> list[str]:
    return [one.path for one in asked(LIBRARY, text, **rest)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pdf", ["/pdf", "/mail"]),
        ("merging a document", ["/pdf", "/kube", "/mail"]),
        ("c++", ["/cpp"]),
        ("c#", ["/cpp"]),
        ("書く", ["/cjk"]),
        ("kubectl", ["/kube"]),
        ("office", ["/mail", "/pdf"]),
        ("nothing of the kind", ["/mail", "/pdf"]),
        ("zzz", []),
        ("", []),
        ("😀 ?!", []),
        ("\udcff\x00", []),
    ],
)
def test_these_skills_have_the_words(text: str, expected: list[str]) -> None:
    assert sorted(expected) == sorted(paths(text))


def test_a_word_in_the_name_is_worth_more_than_one_somewhere_in_the_text() -> None:
    assert ["/pdf", "/mail"] == paths("pdf")


def test_each_field_is_scored_on_its_own() -> None:
    texts = [
        skill("/a", "x y", "x", "x x x z"),
        skill("/b", "y y", "y", "y y y y"),
        skill("/c", "q q", "q", "q q q q"),
    ]

    (found,) = asked(texts, "x")

    rarity = log(4 / 1.5)
    assert SIGNALS == list(found.signals)
    assert pytest.approx(rarity * (K1 + 1) * 1 / (1 + K1)) == found.signals["name"]
    assert pytest.approx(rarity * (K1 + 1) * 1 / (1 + K1)) == found.signals["description"]
    assert pytest.approx(rarity * (K1 + 1) * 3 / (3 + K1)) == found.signals["body"]
    assert [0.0, 0.0, 1.0, 0.0] == [
        found.signals[name] for name in ("tags", "headings", "coverage", "vector")
    ]


def test_a_heading_speaks_for_a_skill_besides_its_body() -> None:
    found = {
        one.path: one.signals
        for one in asked([skill("/a", body="# apples\n"), skill("/b", body="apples\n")], "apples")
    }

    assert (True, 0.0) == (found["/a"]["headings"] > 0, found["/b"]["headings"])
    assert found["/a"]["body"] == found["/b"]["body"]


def test_coverage_is_the_share_of_what_is_asked_for_by_its_rarity() -> None:
    texts = [skill("/a", "rare common"), skill("/b", "common"), skill("/c", "common")]

    found = {one.path: one.signals["coverage"] for one in asked(texts, "rare common unheard")}

    rare, common, unheard = log(4 / 1.5), log(4 / 3.5), log(4 / 0.5)
    assert pytest.approx((rare + common) / (rare + common + unheard)) == found["/a"]
    assert pytest.approx(common / (rare + common + unheard)) == found["/b"]


@pytest.mark.parametrize("tags", [("office",), ("OFFICE", " Files ")])
def test_tags_leave_only_skills_that_have_all_of_them(tags: tuple[str, ...]) -> None:
    assert ["/pdf"] == [path for path in paths("pdf pages", tags=tags) if path != "/mail"]
    assert [] == paths("pdf", tags=(*tags, "none"))


def test_only_skills_among_those_that_are_wanted_are_answered_and_their_scores_stay() -> None:
    some = frozenset({"/mail", "/elsewhere"})

    found = asked(LIBRARY, "pdf", among=some)

    assert [one for one in asked(LIBRARY, "pdf") if one.path == "/mail"] == found
    assert [] == paths("pdf", among=frozenset())


@pytest.mark.parametrize(
    ("limit", "expected"),
    [(0, []), (-3, []), (1, ["/a"]), (2, ["/a", "/b"]), (10**9, ["/a", "/b", "/c"])],
)
def test_no_more_are_given_than_are_wanted_and_a_draw_goes_by_path(
    limit: int, expected: list[str]
) -> None:
    texts = [skill(path, "same", "same", "same") for path in ("/c", "/a", "/b")]

    assert expected == [one.path for one in asked(texts, "same", limit=limit)]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("kubernets", ["/kube"]),
        ("kubrenetes", ["/kube"]),
        ("kuberentse", ["/kube"]),
        ("mial", ["/mail"]),
        ("pfd", []),
        ("maaail", []),
        ("kectl", []),
        ("mai1", []),
    ],
)
def test_a_name_is_found_though_it_was_typed_wrongly(typed: str, expected: list[str]) -> None:
    assert expected == paths(typed)


def test_a_word_that_some_skill_has_was_not_typed_wrongly() -> None:
    texts = [skill("/a", "mail"), skill("/b", "x", "mial")]

    assert ["/b"] == [one.path for one in asked(texts, "mial")]


def test_a_slip_costs_something() -> None:
    exact, slipped = (asked(LIBRARY, word)[0].signals for word in ("kubernetes", "kubernetos"))

    assert pytest.approx(exact["name"] * query.SLIP_WEIGHTS[1]) == slipped["name"]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("kube", ["/kube"]),
        ("split do", ["/pdf"]),
        ("page", ["/pdf"]),
        ("deployin", ["/kube"]),
        ("off", ["/mail", "/pdf"]),
        ("attach", ["/mail"]),
        ("attac", []),
        ("kube ", []),
    ],
)
def test_the_last_word_may_go_on(typed: str, expected: list[str]) -> None:
    assert sorted(expected) == sorted(paths(typed, unfinished=True))


def test_a_word_that_may_go_on_in_too_many_ways_goes_on_in_the_shortest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(query, "MAX_ENDINGS", 2)
    texts = [skill(f"/{word}", word) for word in ("abacus", "abba", "abbot", "zebra")]

    assert ["/abba", "/abbot"] == [one.path for one in asked(texts, "ab", unfinished=True)]


def test_of_a_long_query_the_rarest_words_count() -> None:
    common = [f"w{number}x" for number in range(100)]
    texts = [skill(f"/{number}", body=" ".join(common)) for number in range(5)] + [
        skill("/one", body="needle")
    ]

    found = asked(texts, " ".join([*common, "needle"]))

    coverage = {one.path: one.signals["coverage"] for one in found}
    needle, other = log(7 / 1.5), log(7 / 5.5)
    assert pytest.approx(needle / (needle + 63 * other)) == coverage["/one"]
    assert pytest.approx(63 * other / (needle + 63 * other)) == coverage["/0"]


def test_only_the_beginning_of_a_query_is_read() -> None:
    text = "pdf " * (query.MAX_QUERY_CHARS // 4)

    assert paths("pdf") == paths(text + " kubectl")


def test_leaving_common_words_out_of_the_sweep_changes_no_score(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = [
        skill(
            f"/{n:04}", f"n{n % 50}", "the common words", f"the rare{n % 9} common " * (1 + n % 3)
        )
        for n in range(400)
    ]
    whole = asked(texts, "the common rare3 n7", limit=20)
    monkeypatch.setattr(bm25, "LARGE_INDEX_DOCUMENTS", 100)

    found = asked(texts, "the common rare3 n7", limit=20)

    assert whole == found


def test_common_words_alone_are_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bm25, "LARGE_INDEX_DOCUMENTS", 2)
    texts = [skill(f"/{n}", "the") for n in range(9)]

    assert [f"/{n}" for n in range(9)] == [one.path for one in asked(texts, "the the")]


def test_documents_that_are_gone_are_not_counted() -> None:
    texts = [skill(f"/{n}", "same", "some words", f"word{n} same\n# same") for n in range(40)]
    segment = IndexSegment(next(iter(segments_of(texts))))
    live = np.arange(40) % 3 > 0

    term = WordIndex([(segment, live)]).term([b"same"])

    left = int(np.count_nonzero(live))
    assert (left, 0, 0, left, left) == term.sizes


def test_what_is_held_of_words_is_let_go_of_when_it_is_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bm25, "MAX_CACHED_POSTINGS", 300)
    segment = IndexSegment(
        next(iter(segments_of(skill(f"/{n}", f"n{n % 3}", "all have this") for n in range(100))))
    )
    everything = np.ones(100, np.bool_)
    index = WordIndex([(segment, everything)])

    first = index.term([b"all"])
    held = index.term([b"all"]) is first
    index.likely([first, index.term([b"have"])], everything, 5)
    index.term([b"this"])

    assert (True, False) == (held, index.term([b"all"]) is first)


def test_an_index_without_segments_has_no_answer() -> None:
    index = WordIndex([])

    assert [] == index.likely([index.term([b"x"])], index.live, 5).tolist()


@pytest.mark.parametrize(
    ("typed", "meant", "expected"),
    [
        ("abcd", "abcd", 0),
        ("abcd", "abdc", 1),
        ("abcd", "abc", 1),
        ("abcd", "xbcd", 1),
        ("abcd", "badc", 2),
        ("abcd", "wxyz", 3),
        ("", "ab", 2),
    ],
)
def test_slips_are_counted(typed: str, meant: str, expected: int) -> None:
    assert expected == slips(typed, meant, 2)


def test_the_closest_spellings_are_given() -> None:
    spellings = Spellings(["docker", "locker", "kubernetes", "dock", "日本語版"])

    assert (1, ["docker"]) == spellings.near("doker", 1)
    assert (2, ["kubernetes"]) == spellings.near("kubrnets", 2)
    assert (1, ["日本語版"]) == spellings.near("日本吾版", 1)
    assert (0, []) == spellings.near("kubrnets", 1)
    assert (0, []) == spellings.near("doc", 0)
    assert (0, []) == Spellings([]).near("docker", 1)


@pytest.mark.parametrize(
    ("word", "expected"),
    [("doc", 0), ("dock", 1), ("dockers", 1), ("document", 2), ("v2document", 0), ("c++", 0)],
)
def test_so_many_slips_are_forgiven(word: str, expected: int) -> None:
    assert expected == slips_allowed(word)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("ocker", []),
        ("ther", []),
        ("odcker", ["docker"]),
        ("dockre", ["docker"]),
        ("pocument", ["document"]),
        ("rocuments", ["document"]),
    ],
)
def test_a_short_word_was_begun_as_it_was_meant(typed: str, expected: list[str]) -> None:
    spellings = Spellings(["docker", "locker", "other", "document"])

    assert expected == spellings.near(typed, slips_allowed(typed))[1]


@pytest.mark.parametrize("word", ["there", "where", "would", "could", "these"])
def test_a_word_of_every_request_is_no_name_that_was_typed_wrongly(word: str) -> None:
    texts = [
        skill(f"/{name}", name)
        for name in (
            "other",
            "theres",
            "wherever",
            "world",
            "cold",
            "wouldst",
            "these-days",
            "theme",
        )
    ]

    assert [] == [one.path for one in asked(texts, word) if word not in one.path]
