"""The readers of frontmatter: two of them agree, whatever is written is read back, and nothing whatever is a crash."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from metier.model import HEAD_BYTES
from metier.standard import full_yaml
from metier.standard.document import read_document
from metier.standard.frontmatter import FRONTMATTER_BYTES, quote_loose_values, split
from metier.standard.plain_yaml import read_plain

LINES = st.sampled_from(
    [
        "name: pdf",
        "name: 'pdf'",
        'name: "pdf"',
        "description: Fill in forms.",
        "description: >",
        "description: |",
        "description: >-",
        "description: |+",
        "  folded text",
        "  more text",
        "    deeper",
        "",
        " ",
        "  ",
        "# comment",
        "  # comment",
        "metadata:",
        "  a: b",
        "  c:",
        "    d: e",
        "tags: [a, b]",
        "tags: [a, 'b', \"c\"]",
        "tags:",
        "- one",
        "  - two",
        "-",
        "  -",
        "  - k: v",
        "on: yes",
        "yes: 1",
        "version: 1.10",
        "date: 2020-01-01",
        "x: {a: b, c: [d]}",
        'x: {"a": 1, "b": true}',
        "x: {a: }",
        "x: [",
        "x: ]",
        "k: a: b",
        "k: a #b",
        "k: 'it''s'",
        'k: "a\\nb"',
        'k: "a\\x41"',
        'k: "open',
        "k: 'open",
        '  still open"',
        "  closes'",
        "k: &a x",
        "k: *a",
        "k: !t x",
        "k: ~",
        "k: null",
        "k: -",
        "k: - a",
        "k: ?",
        "? k",
        ": v",
        "k:v",
        "k : v",
        "k:  v  ",
        "k:\tv",
        "\tk: v",
        "k: @x",
        "k: `x`",
        "k: %x",
        "---",
        "...",
        "--- x",
        "k: |2",
        "k: >1-",
        "\ufeffk: v",
        "k: caf\u00e9",
        "k: \u2028",
        "k: \x85",
        "k: \x07",
        "<<: x",
        "k: =",
        "k: <",
        "k: ,",
        "k: a,b",
        "k: [a]b",
        "k: {a}",
        'k: "a" b',
        "k: 'a' 'b'",
        "k: ''",
        'k: ""',
        "K: v",
        "k.k: v",
        "k-k: v",
        "0k: v",
        "k: 0x1F",
        "k: 1_000",
        'k: "a',
        "",
        '  b"',
        "k: http://x",
        "k: a:b",
        "k: a#b",
        "k: #b",
        "k:#b",
        "k: a:",
        "k: :a",
        "k: ::",
        "k: [a: b]",
        "k: [a, ]",
        "k: [,]",
        "k: [a b, c d]",
        "k: [a\\b]",
        "k: {a: 'b', }",
        "k: [[a], [b]]",
        "k: [-]",
        "k: [- a]",
        "k: [?]",
        "k: [a?]",
        "k: (x)",
        "k: /x",
        "k: .x",
    ]
)
STRUCTURED = st.lists(LINES, max_size=8).map(lambda lines: "\n".join(lines) + "\n")
YAML_LIKE = st.text(alphabet="ab k:-#'\"[]{},|>&*!%@`?\\\n \t~.0=<", max_size=60).map(
    lambda text: text + "\n"
)
ANY_TEXT = st.text(max_size=80).map(lambda text: text + "\n")
TEXTS = st.one_of(STRUCTURED, YAML_LIKE, ANY_TEXT)


@settings(max_examples=1500)
@example("k: null\n")
@example("k: 'a''b'\n")
@example('k: "a\n\n  b"\n')
@given(TEXTS)
def test_the_quick_reader_agrees_with_the_full_one_whenever_it_answers(text: str) -> None:
    quick = read_plain(text)
    if quick is None:
        return

    full = full_yaml.load(text)

    assert full.error is None, full.error
    assert () == full.faults
    assert (full.value or {}) == quick[0]


@pytest.mark.parametrize("length", [160, 161, 1000, 1001, 1023, 1024, 1025, 5000])
@pytest.mark.parametrize(
    "shape",
    [
        "{key}: x\n",
        "{key}:\n  a: b\n",
        "a:\n  {key}: x\n",
        "a: {{{key}: x}}\n",
        'a: {{"{key}": "x"}}\n',
    ],
)
def test_a_key_too_long_for_yaml_is_left_to_the_full_reader(shape: str, length: int) -> None:
    text = shape.format(key="k" * length)

    quick, full = read_plain(text), full_yaml.load(text)

    assert quick is None or (quick[0], None) == (full.value, full.error)


@settings(max_examples=400)
@given(TEXTS)
def test_the_quick_reader_knows_the_place_of_every_text(text: str) -> None:
    quick = read_plain(text, 7)
    if quick is None:
        return

    full = full_yaml.load(text, first_line=7)

    texts = [key for key, value in quick[0].items() if isinstance(value, str) and value]
    assert {key: full.spans[key] for key in texts} == {key: quick[1][key] for key in texts}


WORDS = st.text(
    alphabet=st.characters(
        codec="utf-8", exclude_categories=("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    ),
    min_size=1,
    max_size=30,
)
KEYS = st.from_regex(re.compile(r"[a-z][a-z0-9_-]{0,8}", re.ASCII), fullmatch=True).filter(
    lambda key: key not in {"on", "off", "yes", "no", "true", "false", "null", "y", "n"}
)


def double(text: str) -> str:
    return (
        '"'
        + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        + '"'
    )


def single(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


FIELDS = st.dictionaries(
    KEYS,
    st.one_of(
        WORDS,
        st.lists(WORDS, min_size=1, max_size=4),
        st.dictionaries(KEYS, WORDS, min_size=1, max_size=3),
    ),
    max_size=5,
)


def written(fields: dict[str, Any], quote: Any, *, flow: bool) -> str:
    lines: list[str] = []
    for key, value in fields.items():
        if isinstance(value, str):
            lines.append(f"{key}: {quote(value)}")
        elif isinstance(value, list):
            lines += (
                [f"{key}: [{', '.join(map(quote, value))}]"]
                if flow
                else [f"{key}:", *(f"  - {quote(item)}" for item in value)]
            )
        else:
            pairs = [f"{name}: {quote(item)}" for name, item in value.items()]
            lines += (
                [f"{key}: {{{', '.join(pairs)}}}"]
                if flow
                else [f"{key}:", *(f"  {pair}" for pair in pairs)]
            )
    return "\n".join(lines) + "\n"


@settings(max_examples=400)
@given(
    FIELDS,
    st.sampled_from([double, single]),
    st.booleans(),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_what_is_written_is_read_back(
    fields: dict[str, Any], quote: Any, flow: bool, line_end: str, bom: bool
) -> None:
    text = f"---\n{written(fields, quote, flow=flow)}---\n\nBody.\n".replace("\n", line_end)
    data = (b"\xef\xbb\xbf" if bom else b"") + text.encode()

    document = read_document(data, folder="skill")

    assert document is not None
    assert fields == document.fields
    assert "Body." == data[document.body_at :].decode().strip()
    assert bom == any(note.code == "SK008" for note in document.diagnostics)


@given(
    st.lists(
        st.text(alphabet="abc :#'\"-", min_size=1, max_size=12).map(str.strip).filter(bool),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(["|", "|-", "|+"]),
)
def test_a_literal_block_is_read_back_line_by_line(lines: list[str], style: str) -> None:
    text = f"description: {style}\n" + "".join(f"  {line}\n" for line in lines) + "name: x\n"

    expected = "\n".join(lines) + ("" if style == "|-" else "\n")

    assert {"description": expected, "name": "x"} == full_yaml.load(text).value
    assert read_plain(text) is None or expected == read_plain(text)[0]["description"]  # type: ignore[index]


FENCED = st.tuples(
    st.sampled_from([b"", b"\xef\xbb\xbf", b"\n\n", b" \r\n", b"\t\n"]),
    st.sampled_from([b"---\n", b"---\r\n", b"--- \n", b" ---\n", b"----\n"]),
    st.one_of(st.binary(max_size=60), TEXTS.map(lambda text: text.encode("utf-8", "replace"))),
    st.sampled_from(
        [b"\n---\n", b"\n---", b"---\n", b"\r\n---\r\n", b"\n--- \n", b"\n ---\n", b"\n---x\n", b""]
    ),
    st.binary(max_size=20),
).map(b"".join)
BYTES = st.one_of(st.binary(max_size=200), FENCED)


@settings(max_examples=800)
@given(BYTES, st.sampled_from(["skill", "", "x" * 80, "caf\u00e9", "a\nb"]))
def test_any_bytes_at_all_are_read_without_a_crash_and_with_places(
    data: bytes, folder: str
) -> None:
    document = read_document(data, folder=folder)

    assert document is not None
    assert document.name
    assert all(note.line >= 1 and note.column >= 1 for note in document.diagnostics)
    assert all(line >= 1 and column >= 1 for line, column in document.spans.values())
    lines = data.count(b"\n") + data.count(b"\r") + 1
    assert all(note.line <= lines + 1 for note in document.diagnostics)
    assert "\n" not in document.name + document.description
    document.name.encode()
    document.description.encode()


@settings(max_examples=800)
@given(BYTES)
def test_the_parts_of_a_split_are_in_order_and_begin_at_lines(data: bytes) -> None:
    part = split(data, complete=True)

    assert "more" != part.outcome
    if part.outcome in {"found", "empty"}:
        assert 0 <= part.start <= part.end <= part.body_at <= len(data)
        assert b"\n" == data[part.start - 1 : part.start]
        assert b"---" == data[part.end : part.end + 3]
        assert part.body_at == len(data) or b"\n" == data[part.body_at - 1 : part.body_at]
        assert part.first_line == data.count(b"\n", 0, part.start) + 1
        assert (part.outcome == "empty") == (not data[part.start : part.end].strip())
    else:
        assert 0 <= part.body_at <= len(data)
    assert 1 <= part.line <= data.count(b"\n") + 1


@settings(max_examples=400)
@given(
    FENCED, st.integers(0, 64), st.sampled_from([b"\n", b"k: v\n", b" ", b"#"]), st.integers(0, 40)
)
def test_the_head_of_a_file_tells_the_same_as_the_whole_or_asks_for_more(
    data: bytes, room: int, filler: bytes, at: int
) -> None:
    pad = filler * ((HEAD_BYTES + room) // len(filler))
    whole = data[:at] + pad + data[at:]

    head = split(whole[:HEAD_BYTES], complete=len(whole) <= HEAD_BYTES)
    full = split(whole, complete=True)

    if head.outcome != "more":
        assert full == head


@given(st.integers(0, 3), st.sampled_from([b"\n---\n", b"\n---\r\n", b"\n---   \n"]))
def test_a_closing_fence_on_the_edge_of_the_head_is_not_missed(short: int, fence: bytes) -> None:
    head = b"---\nname: x\n"
    whole = head + b"#" * (HEAD_BYTES - len(head) - short - 1) + fence + b"body\n"

    part = split(whole[:HEAD_BYTES], complete=False)

    assert part.outcome == "more" or part == split(whole, complete=True)


def test_frontmatter_up_to_its_limit_is_asked_for_and_beyond_it_is_refused() -> None:
    long = b"---\n" + b"#" * FRONTMATTER_BYTES

    assert "more" == split(long[:HEAD_BYTES], complete=False).outcome
    assert "unclosed" == split(long[:FRONTMATTER_BYTES], complete=False).outcome


@settings(max_examples=400)
@given(TEXTS)
def test_a_repair_touches_nothing_but_the_values_it_names(text: str) -> None:
    mended = quote_loose_values(
        text, broken_alone=lambda value: full_yaml.load(value + "\n").error is not None
    )
    if mended is None:
        return

    before, after = text.splitlines(), mended.text.splitlines()

    assert len(before) == len(after)
    changed = [
        number for number, (old, new) in enumerate(zip(before, after, strict=True), 1) if old != new
    ]
    assert changed == [line for line, _column, _key in mended.places]


@settings(max_examples=800)
@given(st.one_of(TEXTS, st.text(alphabet="[]{}&*!|>-:? \n", max_size=200)))
def test_the_full_reader_never_raises_and_keeps_every_scalar_as_text(text: str) -> None:
    loaded = full_yaml.load(text)

    waiting = [loaded.value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            assert all(isinstance(key, str) for key in value)
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        else:
            assert isinstance(value, str)
    assert all(line >= 1 and column >= 1 for _code, _message, line, column in loaded.faults)
