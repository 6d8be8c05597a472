"""The text layer of the scanner: places lead back, results are stable, and no input whatever is a crash or a flood."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

from hypothesis import example, given, settings, strategies as st

from metier.scan.languages.decode import MAX_TOTAL_CHARS, layers
from metier.scan.languages.kinds import decoded, kind_of, mismatch
from metier.scan.languages.markdown import code_of, context, segments
from metier.scan.languages.text import LineIndex, find_hidden, normalise

ODD = "a\u0430\u03bf\u0435\u043ez \r\n\t\x00\x1b\u00ad\u200b\u200d\ufe0f\ufeff\u202e\u0301\u0316\u0338\ufb01\uff41\U0001d41a\U000e0061\U0001f600\u1100\u1161\u11a8\u0915\u094d\uff9e\ud800\udfff\u026a\u3164"
TEXTS = st.one_of(
    st.text(alphabet=st.characters(), max_size=60), st.text(alphabet=ODD, max_size=60)
)
MARKS = st.sampled_from(
    [
        "---\n",
        "# h\n",
        "```\n",
        "````sh\n",
        "~~~\n",
        "> ",
        "- ",
        "1. ",
        "    ",
        "\t",
        "<!--",
        "-->",
        "`",
        '![a](b "c")',
        "[x]: # (y)\n",
        "[a](b)",
        "<img alt='x'>",
        "| a |\n",
        "\n",
        "\n\n",
        "word ",
        "===\n",
        "\r\n",
        "<",
        ">",
        "[",
        "](",
        "\u00e9",
        "\ud800",
    ]
)
MARKDOWN = st.one_of(st.lists(MARKS, max_size=25).map("".join), TEXTS)
ENCODED = st.lists(
    st.sampled_from(
        [
            "\\x63",
            "%63",
            "&#99;",
            "&#x110000;",
            "0x63,",
            "63",
            "Y3VybA",
            "eJw",
            "H4sI",
            "rot13",
            "'",
            '"',
            "[::-1]",
            "=",
            " ",
            "\n",
            "\\u{ffffff}",
            "\\777",
            "chr(",
            "99,",
        ]
    ),
    max_size=40,
).map("".join)


@settings(max_examples=400)
@example("\u0430\u0301b")
@given(TEXTS)
def test_places_never_go_back_and_stay_inside(original: str) -> None:
    text = normalise(original)

    origins = [text.origin(at) for at in range(len(text.plain) + 1)]

    assert origins == sorted(origins)
    assert all(0 <= origin <= len(original) for origin in origins)


@settings(max_examples=400)
@given(TEXTS)
def test_what_stayed_the_same_letter_stands_where_it_stood(original: str) -> None:  # ZE-28
    text = normalise(original)

    for at, letter in enumerate(text.plain):
        source = original[text.origin(at)]
        if letter.isascii() and source.isascii():
            assert (
                letter == source
                or (letter == "\n" and source == "\r")
                or unicodedata.combining(original[text.origin(at) + 1])
            )


@settings(max_examples=600)
@given(TEXTS)
def test_normalising_twice_changes_nothing_more(original: str) -> None:
    once = normalise(original).plain

    assert once == normalise(once).plain


@settings(max_examples=400)
@given(TEXTS)
def test_hidden_places_are_in_order_and_inside(original: str) -> None:
    found = find_hidden(original)

    assert all(one.start < one.end <= len(original) for one in found)
    assert all(before.end <= after.start for before, after in pairwise(found))


@given(TEXTS)
def test_lines_and_columns_lead_back_to_the_offset(original: str) -> None:
    lines = LineIndex(original)

    places = [lines.place(at) for at in range(len(original) + 1)]

    assert places == sorted(set(places))


@settings(max_examples=500)
@given(MARKDOWN)
def test_blocks_do_not_overlap_and_inline_places_lie_in_their_block(text: str) -> None:
    end = 0
    block_start = 0
    for one in segments(text):
        assert 0 <= one.start <= one.end <= len(text)
        assert context(text, one) <= {"example", "told"}
        assert code_of(text, one).plain is not None
        if one.start >= end:
            block_start, end = one.start, max(end, one.end)
        else:
            assert block_start <= one.start
            assert one.end <= end


@settings(max_examples=500)
@given(st.one_of(ENCODED, TEXTS))
def test_decoding_is_bounded_and_told_inside_the_text(text: str) -> None:
    found = layers(text)

    assert sum(len(one.text) for one in found) <= min(MAX_TOTAL_CHARS, 4 * len(text) + 4096)
    assert all(0 <= one.start < one.end <= len(text) for one in found)


@settings(max_examples=400)
@given(
    st.text(max_size=12),
    st.one_of(
        st.binary(max_size=80), TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass"))
    ),
)
def test_every_file_is_something_and_has_a_text(path: str, data: bytes) -> None:
    kind = kind_of(path, data)
    text, _ = decoded(data)

    assert kind
    assert len(text) <= len(data)
    assert mismatch(path, kind) in (True, False)
