"""A segment gives back what was put into it, one that is not whole is refused, and several make one without a text."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from fakes.texts import skill

from metier.find.index import segments
from metier.find.index.dictionary import (
    WORDS_PER_BLOCK,
    Strings,
    Vocabulary,
    VocabularyWriter,
    join_strings,
)
from metier.find.index.postings import DamagedIndexError
from metier.find.index.segments import SEGMENT_FORMAT, IndexSegment, encode_path
from metier.find.model import SkillText

TEXTS = [
    skill(
        "/s/b",
        "pdf tools",
        "Reads PDF files",
        "# Pages\nSplit the pages.",
        tags=("Office",),
        triggers=("read a pdf", "pdf"),
    ),
    skill("/s/a", "mail", "Writes letters", "Dear reader"),
    skill("/s/c\udcff", "odd", "", "pages and pages and pages"),
]


def made(texts: list[SkillText]) -> IndexSegment:
    return IndexSegment(b"".join(segments.segments_of(texts)))


def lists(segment: IndexSegment, word: str) -> list[dict[str, int]]:
    """Give what a segment says of a word, column by column."""
    row = segment.vocabulary.find(word.encode())
    if row is None:
        return []
    found = [segment.list_of(row, column) if row.sizes[column] else None for column in range(4)]
    return [
        {}
        if one is None
        else {
            segment.path(n): h
            for n, h in zip(one.documents.tolist(), one.halves.tolist(), strict=True)
        }
        for one in found
    ]


def names(segment: IndexSegment) -> dict[bytes, list[str]]:
    """Give the words of all names, with the documents that have them."""
    words, sizes, documents = segment.names()
    ends = np.cumsum(sizes).tolist()
    return {
        word: [segment.path(number) for number in documents[end - size : end].tolist()]
        for word, size, end in zip(words, sizes.tolist(), ends, strict=True)
    }


def everything(segment: IndexSegment) -> object:
    words = [word.decode() for word in segment.vocabulary.between(b"", None).words]
    return segment.documents(), names(segment), {word: lists(segment, word) for word in words}


def test_documents_are_kept_in_the_order_of_their_paths() -> None:
    segment = made(TEXTS)

    assert ["/s/a", "/s/b", "/s/c\udcff"] == segment.paths()
    assert [0, 1, 2, -1, -1] == [
        segment.number_of(path) for path in ("/s/a", "/s/b", "/s/c\udcff", "/s/bb", "/")
    ]
    assert [TEXTS[1].stamp, TEXTS[0].stamp, TEXTS[2].stamp] == segment.stamps()
    assert [(1, ("read a pdf", "pdf"))] == segment.triggers()
    assert [[1, 2, 0, 2, 0], [2, 3, 1, 4, 1], [1, 0, 0, 5, 0]] == segment.lengths.T.tolist()


def test_a_word_leads_to_its_documents_in_every_field() -> None:
    segment = made(TEXTS)

    assert [{"/s/b": 0}, {"/s/b": 0}, {}, {}] == lists(segment, "pdf")
    assert [{}, {}, {}, {"/s/b": 1 + 8, "/s/c\udcff": 2}] == lists(segment, "page")
    assert [{}, {}, {"/s/b": 0}, {}] == lists(segment, "\0office")
    assert [] == lists(segment, "nothing")
    assert {
        b"mail": ["/s/a"],
        b"odd": ["/s/c\udcff"],
        b"pdf": ["/s/b"],
        b"tools": ["/s/b"],
    } == names(segment)


def test_of_two_skills_with_one_path_the_later_counts() -> None:
    segment = made([skill("/s", "old"), skill("/t"), skill("/s", "new")])

    assert (["/s", "/t"], {b"new": ["/s"]}) == (segment.paths(), names(segment))


def test_a_path_that_no_file_can_have_is_left_out() -> None:
    assert ["/s"] == made([skill("/s"), skill("/n\0o")]).paths()


def test_texts_are_cut_into_segments_before_they_fill_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(segments, "MAX_SEGMENT_TEXTS", 2)

    counts = [
        IndexSegment(data).count
        for data in segments.segments_of(skill(f"/{n}", "x") for n in range(5))
    ]

    assert [2, 2, 1] == counts


@pytest.mark.parametrize("stretch", [1, 32])
def test_merged_segments_are_what_all_their_texts_would_have_made(
    stretch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "_BLOCKS_AT_ONCE", stretch)
    texts = [
        skill(
            f"/{n:03}",
            f"name{n % 7}",
            "same words here",
            f"w{n} " * (n % 30) + f"# only{n}\n## title{n % 3}",
        )
        for n in range(150)
    ]
    some, others = made(texts[::2]), made(texts[1::2])
    live = np.arange(some.count) % 5 > 0

    merged = IndexSegment(
        segments.merge_segments([(some, live), (others, np.ones(others.count, np.bool_))])
    )

    kept = [text for n, text in enumerate(texts) if n % 2 or live[n // 2]]
    assert everything(made(kept)) == everything(merged)


def test_a_word_whose_documents_are_all_gone_is_gone() -> None:
    segment = made(TEXTS)

    merged = IndexSegment(segments.merge_segments([(segment, np.array([True, False, True]))]))

    assert ([], {b"mail": ["/s/a"], b"odd": ["/s/c\udcff"]}) == (
        lists(merged, "pdf"),
        names(merged),
    )


@pytest.mark.parametrize("cut", [0, 1, 50, 124, 125, 200, -1])
def test_a_segment_that_was_cut_off_is_refused(cut: int) -> None:
    data = next(segments.segments_of(TEXTS))[:cut]

    with pytest.raises(DamagedIndexError):
        IndexSegment(data)


def test_a_segment_that_is_too_long_is_refused() -> None:
    with pytest.raises(DamagedIndexError):
        IndexSegment(next(segments.segments_of(TEXTS)) + b"x")


def test_a_segment_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(segments, "SEGMENT_FORMAT", SEGMENT_FORMAT + 1)
        data = next(segments.segments_of(TEXTS))

    with pytest.raises(DamagedIndexError):
        IndexSegment(data)


def test_one_wrong_byte_anywhere_is_seen() -> None:
    data = next(segments.segments_of(TEXTS))
    unseen = []

    for at in range(len(data)):
        with suppress(DamagedIndexError):
            segment = IndexSegment(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
            if segment.is_sound() or (
                everything(segment),
                segment.triggers(),
                segment.keys.tolist(),
            ):
                unseen.append(at)

    assert [] == unseen


def test_a_segment_as_it_was_written_is_sound() -> None:
    assert made(TEXTS).is_sound()


@pytest.mark.parametrize("count", [1, 40])
def test_documents_are_found_by_their_paths_few_or_many(count: int) -> None:
    segment = made([skill(f"/s/{number:02}") for number in range(20)])
    wanted = {f"/s/{number:02}" for number in range(0, count, 3)} | {"/elsewhere"}

    assert list(range(0, min(count, 20), 3)) == sorted(segment.numbers_of(wanted))


def test_paths_are_sorted_as_their_bytes_are() -> None:
    paths = ["/a", "/é", "/\udcff", "/\U0001f600", "/\uffff"]

    assert sorted(paths) == sorted(paths, key=encode_path)


def test_words_are_found_across_blocks() -> None:
    words = [f"w{number:05}".encode() for number in range(3 * WORDS_PER_BLOCK + 5)]
    rows = np.arange(len(words))[:, None] * np.ones(9, np.int64)
    written = VocabularyWriter()

    written.add(words[:100], rows[:100])
    written.add(words[100:], rows[100:])
    vocabulary = Vocabulary(*[memoryview(part) for part in written.parts()])

    found = [vocabulary.find(word) for word in words]
    assert [(number,) * 4 for number in range(len(words))] == [
        row and tuple(row.sizes) for row in found
    ]
    assert [4 * n * (n - 1) // 2 for n in range(len(words))] == [
        row and row.data[0] for row in found
    ]
    assert [None] * 4 == [vocabulary.find(word) for word in (b"", b"w", b"w00003x", b"x")]
    assert words[63:131] == vocabulary.between(words[63], words[131]).words
    assert [] == vocabulary.between(b"x", None).words
    assert (4 * 63 * 62 // 2, words[-2:]) == (
        vocabulary.between(words[63], None).data,
        vocabulary.between(words[-2], None).words,
    )


def test_pieces_are_given_back_each_by_its_number() -> None:
    parts = [b"", b"a", b"", b"bcd"]

    strings = Strings(memoryview(join_strings(parts)))

    assert (parts, parts) == (strings.all(), [strings[number] for number in range(len(strings))])


def test_what_no_vocabulary_holds_is_nothing() -> None:
    vocabulary = Vocabulary(*[memoryview(part) for part in VocabularyWriter().parts()])

    assert (None, []) == (vocabulary.find(b"x"), vocabulary.between(b"", None).words)


@pytest.mark.parametrize("at", range(1, 40, 3))
def test_a_changed_byte_in_a_list_is_seen_when_its_words_are_looked_up(at: int) -> None:
    texts = [
        skill(
            f"/s/{number:03}",
            f"n{number}",
            "common words",
            f"some {'more ' * (number % 5)}text w{number % 7}",
        )
        for number in range(90)
    ]
    data = bytearray(b"".join(segments.segments_of(texts)))
    data[-at] ^= 16

    segment = IndexSegment(bytes(data))

    with pytest.raises(DamagedIndexError):
        everything(segment)


def test_a_block_that_was_not_changed_is_read_though_another_was() -> None:
    texts = [
        skill(f"/s/{number:03}", f"n{number:03}", "common words")
        for number in range(4 * WORDS_PER_BLOCK)
    ]
    data = bytearray(b"".join(segments.segments_of(texts)))
    data[-1] ^= 1

    segment = IndexSegment(bytes(data))

    assert [{"/s/000": 0}, {}, {}, {}] == lists(segment, "n000")
    with pytest.raises(DamagedIndexError):
        lists(segment, f"n{4 * WORDS_PER_BLOCK - 1:03}")
