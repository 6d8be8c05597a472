"""Skills and queries are whatever strangers wrote, and files may rot: the index answers, or says that it is damaged."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from fakes.embedding import HashedEmbedder
from fakes.texts import skill
from hypothesis import given, settings, strategies as st

from metier.errors import StoreError
from metier.find.index.engine import IndexEngine, memory_engine
from metier.find.io.index_folder import folder_engine
from metier.find.model import IndexQuery, SkillText

ODD = [
    "",
    " ",
    "\0",
    "\udcff\ud800",
    "😀👩‍👩‍👧",
    "\u202eelif",
    "a\u0301" * 5000,
    "\u0301" * 5000,
    "#" * 100_000,
    "# " * 50_000,
    "`" * 100_000,
    "```\n" * 30_000,
    "aB" * 50_000,
    "+" * 100_000,
    "x" * 1_000_000,
    "日" * 100_000,
    "\ufdfa" * 10_000,
    "İ" * 1000,
    "ﬃ" * 1000,
    "\r\n\x0b\x1c\u2028 a",
    "[" * 50_000,
    "\ufeffword",
    "a" * 41,
    "_" * 10_000,
    "--- \n---",
    "%s%n{0}",
    "' OR 1=1 --",
]


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_a_skill_of_any_content_is_indexed_and_leaves_the_others_be(text: str) -> None:
    engine = memory_engine()
    path = "/odd/" + text[:100].replace("\0", "")

    engine.build(
        [
            SkillText(
                path,
                text[:100].encode("utf-8", "replace"),
                text,
                text,
                (text, text),
                (text[:1000],),
                text,
            ),
            skill("/plain", "needle"),
        ]
    )

    assert {path, "/plain"} == set(engine.known())
    assert ["/plain"] == [one.path for one in engine.query(IndexQuery("needle"))]
    assert {path: (text[:1000],)} == engine.triggers()


@pytest.mark.parametrize("unfinished", [False, True])
@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_a_query_of_any_content_has_an_answer(text: str, unfinished: bool) -> None:
    engine = memory_engine()
    engine.build([skill("/plain", "needle", "and the of", "body"), skill("/other", "thing")])

    found = engine.query(IndexQuery(f"{text} needle", tags=(), unfinished=unfinished))

    assert {"/plain", "/other"} >= {one.path for one in found}
    assert [] == engine.query(IndexQuery(text, tags=(text,)))


def test_only_stop_words_find_what_has_them() -> None:
    engine = memory_engine()
    engine.build([skill("/a", "x", "the tool of the year"), skill("/b", "y", "nothing")])

    assert ["/a"] == [one.path for one in engine.query(IndexQuery("the of and"))]


def test_a_query_of_a_megabyte_is_cut() -> None:
    engine = memory_engine()
    engine.build([skill(f"/{number}", f"word{number}") for number in range(50)])

    found = engine.query(IndexQuery(" ".join(f"word{number}" for number in range(150_000))))

    assert {f"/{number}" for number in range(50)} == {one.path for one in found}


@given(st.text(max_size=60), st.text(max_size=60), st.booleans())
def test_any_text_may_be_asked_of_any_text(held: str, asked: str, unfinished: bool) -> None:
    engine = memory_engine()
    engine.update([skill("/s", held, held, held, tags=(held,), triggers=(held,))], [])

    found = engine.query(IndexQuery(asked, unfinished=unfinished))

    assert {"/s"} >= {one.path for one in found}
    assert ["/s"] == [one.path for one in engine.query(IndexQuery(held, tags=(held,)))] or not found


SKILLS = [
    skill(
        f"/s/{n}",
        f"name{n % 5}",
        f"word{n} common",
        f"# title{n}\ncommon body{n % 3} " * 3,
        triggers=("go",),
    )
    for n in range(40)
]
MODEL = HashedEmbedder()
SEAL = "as it was"


def kept_current(engine: IndexEngine) -> None:
    """Read what is not known, unless the seal says that there is nothing; then make the vectors that are missing."""
    if engine.sealed() != SEAL:
        known = engine.known()
        engine.update([text for text in SKILLS if known.get(text.path) != text.stamp], [])
        engine.known()
        engine.seal(SEAL)
    texts = {text.path: text for text in SKILLS}
    engine.add_vectors(
        MODEL.name,
        [(path, MODEL.passages([texts[path].body])) for path in engine.without_vectors(MODEL.name)],
    )


def everything(engine: IndexEngine) -> object:
    vector, some = MODEL.queries(["title7 common"])[0], frozenset(text.path for text in SKILLS)
    asked = [
        IndexQuery(text, unfinished=True)
        for text in ("common", "name3 word7 title9 bod", "nmae", "titel1")
    ]
    asked += [
        IndexQuery("name1", 3, some),
        IndexQuery("word9", 5, vector=vector),
        IndexQuery("", 60, frozenset({"/s/3", "/s/9"}), vector=vector),
    ]
    alike = engine.likeness(["/s/1", "/s/2"]).tolist(), engine.neighbours("/s/7", 3, some)
    return [engine.query(one) for one in asked], alike, engine.known(), engine.triggers()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes], object]:
    folder = tmp_path_factory.mktemp("index")
    engine = folder_engine(str(folder), None)
    kept_current(engine)
    return folder, {path.name: path.read_bytes() for path in folder.iterdir()}, everything(engine)


@settings(max_examples=400)
@given(st.data())
def test_a_rotten_byte_anywhere_is_told_or_harmless(
    sound: tuple[Path, dict[str, bytes], object], data: st.DataObject
) -> None:
    folder, files, expected = sound
    for path in folder.iterdir():
        path.unlink()
    for name, whole in files.items():
        (folder / name).write_bytes(whole)
    name = data.draw(st.sampled_from(sorted(name for name, whole in files.items() if whole)))
    at = data.draw(st.integers(0, len(files[name]) - 1))
    rotten = bytearray(files[name])
    rotten[at] ^= data.draw(st.integers(1, 255))
    (folder / name).write_bytes(rotten)
    engine, actual = folder_engine(str(folder), None), object()

    for _attempt in range(2):  # what is told is told once
        with suppress(StoreError):
            kept_current(engine)
            actual = everything(engine)
            break

    assert expected == actual
    assert 3 <= len(files)
