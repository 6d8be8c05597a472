"""The index on disk: what was put in is there for the next process, whatever happened to the one before."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes.embedding import HashedEmbedder
from fakes.texts import skill

from metier.errors import StoreError, UsageError
from metier.find.index import engine as engine_module, segments
from metier.find.index.engine import IndexEngine, memory_engine
from metier.find.index.manifest import IndexManifest, SegmentEntry, manifest_bytes, read_manifest
from metier.find.index.postings import DamagedIndexError
from metier.find.index.segments import IndexSegment
from metier.find.io.index_folder import LOCK, MANIFEST, STRAY_SECONDS, IndexFolder, folder_engine
from metier.find.model import IndexQuery, SkillText

MODEL = HashedEmbedder()


@pytest.fixture(params=["folder", "memory"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> IndexEngine:
    return (
        folder_engine(str(tmp_path / "index"), None)
        if request.param == "folder"
        else memory_engine()
    )


def on_disk(tmp_path: Path) -> IndexEngine:
    return folder_engine(str(tmp_path / "index"), None)


def files_of(tmp_path: Path) -> set[str]:
    return {name for name in os.listdir(tmp_path / "index") if name not in {MANIFEST, LOCK}}


def paths(engine: IndexEngine, text: str, **rest: object) -> list[str]:
    return [one.path for one in engine.query(IndexQuery(text, **rest))]  # type: ignore[arg-type]


def embed(engine: IndexEngine, texts: list[SkillText], model: HashedEmbedder = MODEL) -> None:
    engine.add_vectors(
        model.name,
        [(text.path, model.passages([f"{text.name} {text.description}"])) for text in texts],
    )


# --- what is in it


def test_an_index_that_was_never_made_is_empty(engine: IndexEngine) -> None:
    assert ({}, {}, [], []) == (
        engine.known(),
        engine.triggers(),
        engine.query(IndexQuery("x")),
        engine.without_vectors("m"),
    )


def test_skills_are_put_in_replaced_and_taken_out(engine: IndexEngine) -> None:
    engine.build(
        [skill("/a", "apple"), skill("/b", "berry", triggers=("eat",)), skill("/c", "cherry")]
    )

    engine.update(
        [skill("/b", "banana", triggers=("peel",)), skill("/d", "date")], ["/c", "/never"]
    )

    expected = [
        skill("/a", "apple"),
        skill("/b", "banana", triggers=("peel",)),
        skill("/d", "date"),
    ]
    assert {text.path: text.stamp for text in expected} == engine.known()
    assert {"/b": ("peel",)} == engine.triggers()
    assert ([], ["/b"], []) == (
        paths(engine, "berry"),
        paths(engine, "banana"),
        paths(engine, "cherry"),
    )


def test_a_skill_that_is_put_in_and_taken_out_at_once_is_in(engine: IndexEngine) -> None:
    engine.update([skill("/a", "apple")], ["/a"])

    assert ["/a"] == paths(engine, "apple")


def test_building_forgets_what_was_there(engine: IndexEngine) -> None:
    engine.build([skill("/a", "apple")])

    engine.build(iter([skill("/b", "berry")]))

    assert (["/b"], []) == (list(engine.known()), paths(engine, "apple"))


def test_a_library_of_several_segments_becomes_one(
    engine: IndexEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "MAX_SEGMENT_TEXTS", 3)

    engine.build(skill(f"/{number % 10}", f"name{number}") for number in range(14))

    assert (10, ["/3"], []) == (
        len(engine.known()),
        paths(engine, "name13"),
        paths(engine, "name3"),
    )
    assert 1 == len(read_manifest(engine.place.manifest()).parts)


def test_many_small_changes_leave_few_segments(engine: IndexEngine) -> None:
    engine.build(skill(f"/{number}", f"name{number}") for number in range(300))

    for number in range(50):
        engine.update([skill(f"/{number}", f"other{number}")], [f"/{number + 100}"])

    parts = read_manifest(engine.place.manifest()).parts
    assert (250, True) == (len(engine.known()), len(parts) <= 5)
    assert (["/49"], []) == (paths(engine, "other49"), paths(engine, "name49"))


def test_a_segment_that_is_mostly_gone_is_written_anew(engine: IndexEngine) -> None:
    engine.build(skill(f"/{number}", "same") for number in range(9))

    engine.update([], [f"/{number}" for number in range(4)])

    assert [()] == [part.gone for part in read_manifest(engine.place.manifest()).parts]


def test_an_update_that_changes_nothing_writes_nothing(tmp_path: Path) -> None:
    engine = on_disk(tmp_path)
    engine.build([skill("/a", "apple")])
    before = engine.place.version()

    engine.update([], ["/never"])

    assert before == engine.place.version()


def test_emptying_an_index_leaves_no_file(tmp_path: Path) -> None:
    engine = on_disk(tmp_path)
    engine.build([skill("/a", "apple")])

    engine.update([], ["/a"])

    assert (set(), {}) == (files_of(tmp_path), engine.known())


# --- processes


def test_what_one_process_wrote_another_finds(tmp_path: Path) -> None:
    on_disk(tmp_path).build([skill("/a", "apple")])
    reader = on_disk(tmp_path)
    first = paths(reader, "apple")

    on_disk(tmp_path).update([skill("/b", "apple pie")], [])

    assert (["/a"], ["/a", "/b"]) == (first, paths(reader, "apple"))


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    on_disk(tmp_path).build([skill("/a", "apple")])

    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "index").iterdir()}

    assert ({0o600}, 0o700) == (modes, (tmp_path / "index").stat().st_mode & 0o777)


def test_readers_go_on_while_a_writer_replaces_everything(tmp_path: Path) -> None:
    on_disk(tmp_path).build([skill(f"/{n}", "same", f"version{0}") for n in range(20)])
    seen: list[tuple[int, int]] = []
    done = threading.Event()

    def look() -> None:
        reader = on_disk(tmp_path)
        while not done.is_set():
            seen.append((len(reader.query(IndexQuery("same"))), len(set(reader.known().values()))))

    thread = threading.Thread(target=look)
    thread.start()
    for version in range(30):
        on_disk(tmp_path).update(
            [skill(f"/{n}", "same", f"version{version}") for n in range(20)], []
        )
    done.set()
    thread.join()

    assert {(20, 1)} == set(seen)


def test_writers_take_turns(tmp_path: Path) -> None:
    def write(number: int) -> None:
        for part in range(5):
            on_disk(tmp_path).update([skill(f"/{number}/{part}", "same")], [])

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert 20 == len(on_disk(tmp_path).known())
    assert files_of(tmp_path) == read_manifest((tmp_path / "index" / MANIFEST).read_bytes()).names()


KILLED = """
import os, signal, sys
from metier.find.io.index_folder import folder_engine
from metier.find.model import SkillText

def dies(name, left=[int(sys.argv[2])]):
    real = getattr(os, name)
    def call(*arguments, **options):
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **options)
    setattr(os, name, call)

for name in ("open", "write", "fsync", "replace", "unlink"):
    dies(name)
engine = folder_engine(sys.argv[1], None)
engine.update([SkillText(f"/{n}", b"new", "new", "", (), (), "text") for n in range(8)], [f"/{n}" for n in range(8, 12)])
"""


def test_a_process_killed_at_any_instant_leaves_the_old_index_or_the_new(tmp_path: Path) -> None:
    old, new = ({f"/{n}": b"old" for n in range(12)}, {f"/{n}": b"new" for n in range(8)})
    outcomes = []

    for calls in range(100):
        folder = tmp_path / str(calls)
        folder_engine(str(folder), None).build(
            [SkillText(path, stamp, "old", "", (), (), "text") for path, stamp in old.items()]
        )
        code = subprocess.run(
            [sys.executable, "-c", KILLED, str(folder), str(calls)], check=False
        ).returncode
        after = folder_engine(str(folder), None)
        outcomes.append((dict(after.known()), len(after.query(IndexQuery("text")))))
        after.update([skill("/more", "more")], [])
        assert "/more" in after.known()
        if code == 0:
            break
        assert -signal.SIGKILL == code

    assert (old, 12) == outcomes[0]
    assert (new, 8) == outcomes[-1]
    assert [] == [one for one in outcomes if one not in [(old, 12), (new, 8)]]


def test_what_killed_writers_left_is_swept_up_later(tmp_path: Path) -> None:
    engine = on_disk(tmp_path)
    engine.build([skill("/a", "apple")])
    young, old = tmp_path / "index" / "young.part", tmp_path / "index" / "old.part"
    for stray in (young, old):
        stray.write_bytes(b"half")
    os.utime(old, (0, time.time() - STRAY_SECONDS - 9))

    engine.update([skill("/b", "berry")], [])

    assert (True, False) == (young.exists(), old.exists())


def test_a_writer_that_is_interrupted_leaves_the_old_index_and_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "MAX_SEGMENT_TEXTS", 1)
    engine = on_disk(tmp_path)
    engine.build([skill("/a", "apple")])
    before = files_of(tmp_path)

    def interrupted() -> Iterator[SkillText]:
        yield skill("/b", "berry")
        yield skill("/c", "cherry")
        raise KeyboardInterrupt

    for change in (engine.build, lambda texts: engine.update(texts, ["/a"])):
        with pytest.raises(KeyboardInterrupt):
            change(interrupted())

    assert (before, ["/a"]) == (files_of(tmp_path), list(engine.known()))


# --- damage


def spoilt(tmp_path: Path) -> Path:
    engine = on_disk(tmp_path)
    engine.build([skill(f"/{number}", f"name{number}", "", "text") for number in range(20)])
    engine.update([skill("/new", "text")], [])
    return max((tmp_path / "index").iterdir(), key=lambda path: path.stat().st_size)


@pytest.mark.parametrize("how", ["cut", "empty", "gone", "version", "link", "folder"])
def test_a_segment_that_cannot_be_read_counts_as_not_there(how: str, tmp_path: Path) -> None:
    segment = spoilt(tmp_path)
    data = segment.read_bytes()
    segment.unlink()
    if how == "link":
        (tmp_path / "real").write_bytes(data)
        segment.symlink_to(tmp_path / "real")
    elif how == "folder":
        segment.mkdir()
    elif how != "gone":
        segment.write_bytes(
            {"cut": data[:-1], "empty": b"", "version": data[:12] + b"\xff" + data[13:]}[how]
        )
    engine = on_disk(tmp_path)

    before = engine.known(), paths(engine, "text")
    engine.update([skill("/0", "name0", "", "text")], [])

    assert (["/new"], ["/new"]) == (list(before[0]), before[1])
    assert {"/0", "/new"} == set(engine.known()) == set(paths(engine, "text"))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x",
        b"00000000\n{}",
        b"[]",
        manifest_bytes(IndexManifest())[:-1],
        b"%08x\n{}" % zlib.crc32(b"{}"),
    ],
)
def test_a_manifest_that_cannot_be_read_is_an_empty_index(data: bytes, tmp_path: Path) -> None:
    spoilt(tmp_path)
    (tmp_path / "index" / MANIFEST).write_bytes(data)
    engine = on_disk(tmp_path)

    before = engine.known()
    engine.update([skill("/a", "apple")], [])

    assert ({}, ["/a"]) == (before, list(engine.known()))


def test_a_manifest_is_read_as_it_was_written() -> None:
    manifest = IndexManifest(
        (SegmentEntry("a", (0, 5, 70_000)), SegmentEntry("b")), "modèle \udcff", ("v",)
    )

    assert manifest == read_manifest(manifest_bytes(manifest))
    assert {"a", "b", "v"} == manifest.names()


def test_a_manifest_of_another_version_is_none() -> None:
    data = b'{"format": 0, "parts": [], "model": "", "vectors": []}'

    with pytest.raises(DamagedIndexError):
        read_manifest(b"%08x\n%s" % (zlib.crc32(data), data))


def test_damage_that_shows_only_when_it_is_read_is_told_and_the_index_is_made_anew(
    tmp_path: Path,
) -> None:
    segment = spoilt(tmp_path)
    data = bytearray(segment.read_bytes())
    at = data.index(b"\x78\xda")  # where a compressed block begins
    data[at : at + 12] = bytes(12)
    segment.write_bytes(data)
    engine = on_disk(tmp_path)

    with pytest.raises(StoreError, match="damaged"):
        engine.query(IndexQuery("text name3 name19"))

    assert ["/new"] == list(engine.known()) == list(on_disk(tmp_path).known())
    assert not segment.exists()


def changed(file: Path, at: int) -> None:
    """Change a byte of a file, which whoever has it open does not see."""
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    file.unlink()
    file.write_bytes(data)


def parts_of(tmp_path: Path) -> tuple[list[Path], list[Path]]:
    manifest = read_manifest((tmp_path / "index" / MANIFEST).read_bytes())
    return [tmp_path / "index" / part.name for part in manifest.parts], [
        tmp_path / "index" / name for name in manifest.vectors
    ]


def test_damage_in_a_segment_leaves_the_vectors(tmp_path: Path) -> None:
    engine = on_disk(tmp_path)
    engine.build(FRUIT)
    embed(engine, FRUIT)
    ((segment,), (vectors,)) = parts_of(tmp_path)
    changed(segment, -1)
    engine = on_disk(tmp_path)

    with pytest.raises(StoreError, match="damaged"):
        engine.update([skill("/d", "date")], ["/a"])
    before = engine.known()
    engine.build(FRUIT)

    assert ({}, [], False, True) == (
        before,
        engine.without_vectors(MODEL.name),
        segment.exists(),
        vectors.exists(),
    )


def test_damage_in_vectors_leaves_the_words_and_the_seal(tmp_path: Path) -> None:
    engine = on_disk(tmp_path)
    engine.build(FRUIT)
    engine.seal("one")
    embed(engine, FRUIT)
    ((segment,), (vectors,)) = parts_of(tmp_path)
    changed(vectors, -1)
    engine = on_disk(tmp_path)

    with pytest.raises(StoreError, match="damaged"):
        engine.query(IndexQuery("apple", vector=MODEL.queries(["apple"])[0]))

    assert ("one", ["/a"], ["/a", "/b", "/c"]) == (
        engine.sealed(),
        paths(engine, "apple"),
        engine.without_vectors(MODEL.name),
    )
    assert (True, False) == (segment.exists(), vectors.exists())


class Overtaken(IndexFolder):
    """A folder in which somebody makes the index anew right after a file of it was opened."""

    def load(self, name: str) -> memoryview | None:
        """Open a file, and let another process go on."""
        found = super().load(name)
        if name != MANIFEST:
            folder_engine(self.folder, None).build(FRUIT)
        return found


def test_who_has_an_old_view_of_a_damaged_index_leaves_the_one_that_was_made_anew(
    tmp_path: Path,
) -> None:
    on_disk(tmp_path).build(FRUIT)
    ((segment,), _none) = parts_of(tmp_path)
    changed(segment, -1)
    reader = IndexEngine(Overtaken(str(tmp_path / "index"), None))

    with pytest.raises(StoreError, match="damaged"):
        reader.query(IndexQuery("apple fruit"))

    assert ["/a", "/b", "/c"] == list(on_disk(tmp_path).known())


def test_damage_that_cannot_be_found_again_costs_the_whole_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_disk(tmp_path).build(FRUIT)
    ((segment,), _none) = parts_of(tmp_path)
    changed(segment, -1)
    monkeypatch.setattr(IndexSegment, "is_sound", lambda _segment: True)
    engine = on_disk(tmp_path)

    with pytest.raises(StoreError, match="damaged"):
        engine.query(IndexQuery("apple fruit red wood"))

    assert ({}, {}) == (engine.known(), on_disk(tmp_path).known())


def test_a_place_that_is_no_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "index").write_text("a file")

    with pytest.raises(StoreError, match="cannot write the index"):
        on_disk(tmp_path).build([skill("/a")])

    assert {} == on_disk(tmp_path).known()


def test_a_home_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    home = tmp_path / "home"

    with pytest.raises(StoreError, match="home"):
        folder_engine(f"{home}/data/route", str(home)).update([skill("/a")], [])

    assert not home.exists()


# --- vectors


FRUIT = [
    skill("/a", "apple", "a fruit", "red"),
    skill("/b", "berry", "a fruit", "blue"),
    skill("/c", "chair", "furniture", "wood"),
]


def test_a_skill_has_vectors_once_they_were_added(engine: IndexEngine) -> None:
    engine.build(FRUIT)
    before = engine.without_vectors(MODEL.name)

    embed(engine, [*FRUIT[:2], skill("/never", "known")])

    assert (["/a", "/b", "/c"], ["/c"]) == (before, engine.without_vectors(MODEL.name))


def test_vectors_bring_candidates_that_share_no_word(engine: IndexEngine) -> None:
    engine.build(FRUIT)
    embed(engine, FRUIT)
    vector = MODEL.queries(["chair furniture"])[0]

    found = engine.query(IndexQuery("apple", limit=1, vector=vector))

    assert ["/a", "/c"] == [one.path for one in found]
    assert pytest.approx(1.0, abs=0.02) == found[1].signals["vector"]
    assert 0.5 > found[0].signals["vector"]


def test_vectors_obey_every_filter(engine: IndexEngine) -> None:
    texts = [*FRUIT, skill("/d", "chair", "furniture", "wood", tags=("home",))]
    engine.build(texts)
    embed(engine, texts)
    vector = MODEL.queries(["chair furniture"])[0]

    assert ["/a", "/b"] == paths(engine, "", vector=vector, among=frozenset({"/a", "/b"}))[:2]
    assert ["/d"] == paths(engine, "", vector=vector, tags=("home",))
    assert 4 == len(paths(engine, "", vector=vector))


def test_a_changed_skill_has_no_vectors_until_they_are_added_again(engine: IndexEngine) -> None:
    engine.build(FRUIT)
    embed(engine, FRUIT)
    changed = skill("/a", "apple", "a tree", "green")

    engine.update([changed], ["/b"])
    before = engine.without_vectors(MODEL.name)
    stale = engine.query(IndexQuery("apple", vector=MODEL.queries(["apple fruit"])[0]))
    embed(engine, [changed])

    assert (["/a"], []) == (before, engine.without_vectors(MODEL.name))
    assert {"/a": 0.0} == {one.path: one.signals["vector"] for one in stale if one.path == "/a"}


def test_vectors_of_skills_that_stayed_outlast_a_new_build(engine: IndexEngine) -> None:
    engine.build(FRUIT)
    embed(engine, FRUIT)

    engine.build([FRUIT[0], skill("/b", "berry", "changed")])

    assert ["/b"] == engine.without_vectors(MODEL.name)


def test_vectors_of_another_model_are_not_compared(engine: IndexEngine) -> None:
    other = HashedEmbedder("hashed-2")
    engine.build(FRUIT)
    embed(engine, FRUIT)
    asked = IndexQuery("", vector=MODEL.queries(["apple"])[0])
    before = len(engine.query(asked))

    missing = engine.without_vectors(other.name)
    meanwhile = len(engine.query(asked))
    embed(engine, FRUIT, other)

    assert (3, ["/a", "/b", "/c"], 0) == (before, missing, meanwhile)
    assert (3, ["/a", "/b", "/c"]) == (len(engine.query(asked)), engine.without_vectors(MODEL.name))


def test_vectors_of_another_width_count_as_those_of_another_model(engine: IndexEngine) -> None:
    engine.build(FRUIT)
    embed(engine, FRUIT)

    engine.add_vectors(MODEL.name, [("/b", np.array([0.0, 1.0])), ("/c", np.array([[1.0, 0.0]]))])

    assert ["/a"] == engine.without_vectors(MODEL.name)
    assert ["/c", "/b"] == paths(engine, "", vector=np.array([0.9, 0.1]))


@pytest.mark.parametrize("row", [np.ones(65_536), np.ones((2, 4)), np.ones(0)])
def test_what_is_no_vector_of_a_skill_is_refused_and_changes_nothing(
    engine: IndexEngine, row: Any
) -> None:
    engine.build(FRUIT)
    embed(engine, FRUIT[:2])

    with pytest.raises(UsageError):
        engine.add_vectors(MODEL.name, [("/c", row)])

    assert ["/c"] == engine.without_vectors(MODEL.name)


@pytest.mark.parametrize("vector", [np.zeros(64), np.ones(3)])
def test_a_vector_that_means_nothing_here_brings_nothing(
    engine: IndexEngine, vector: object
) -> None:
    engine.build(FRUIT)
    embed(engine, FRUIT)

    assert ["/a"] == paths(engine, "apple", vector=vector)


def test_vectors_added_a_few_at_a_time_lie_in_few_files(
    engine: IndexEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "VECTORS_PER_FILE", 2)
    texts = [skill(f"/{number:02}", f"name{number}") for number in range(40)]
    engine.build(texts)

    for start in range(0, 40, 5):
        embed(engine, texts[start : start + 5])

    assert ([], True) == (
        engine.without_vectors(MODEL.name),
        len(read_manifest(engine.place.manifest()).vectors) <= 3,
    )
    nearest = engine.query(IndexQuery("", limit=1, vector=MODEL.queries(["name17"])[0]))
    assert ["/17"] == [one.path for one in nearest]


def test_vectors_that_were_made_before_an_interruption_are_kept(
    engine: IndexEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "VECTORS_PER_FILE", 2)
    engine.build(FRUIT)

    def interrupted() -> Iterator[tuple[str, Any]]:
        for text in FRUIT:
            yield text.path, MODEL.passages([text.name])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.add_vectors(MODEL.name, interrupted())

    assert ["/c"] == engine.without_vectors(MODEL.name)


def test_vectors_that_cannot_be_read_are_missing(tmp_path: Path) -> None:
    engine = on_disk(tmp_path)
    engine.build(FRUIT)
    embed(engine, FRUIT)
    (name,) = read_manifest((tmp_path / "index" / MANIFEST).read_bytes()).vectors
    file = tmp_path / "index" / name
    file.write_bytes(file.read_bytes()[:-1])
    engine = on_disk(tmp_path)

    before = engine.without_vectors(MODEL.name)
    embed(engine, FRUIT)

    assert (["/a", "/b", "/c"], []) == (before, engine.without_vectors(MODEL.name))


class Watched(frozenset[str]):
    """Counts how often it was looked into."""

    looks = 0

    def __contains__(self, path: object) -> bool:
        self.looks += 1
        return super().__contains__(path)


def test_asking_again_among_the_same_skills_looks_nothing_up(engine: IndexEngine) -> None:
    engine.build(FRUIT)
    some = Watched({"/a"})
    first, looks = engine.query(IndexQuery("fruit", among=some)), some.looks

    again = engine.query(IndexQuery("red apple", among=some))

    assert (3, 3, ["/a"], ["/a"]) == (
        looks,
        some.looks,
        [one.path for one in first],
        [one.path for one in again],
    )


def test_paths_that_may_not_be_answered_are_left_out(engine: IndexEngine) -> None:
    engine.build(FRUIT)
    embed(engine, FRUIT)
    vector = MODEL.queries(["apple fruit"])[0]

    assert ["/b", "/c"] == sorted(
        paths(engine, "fruit", vector=vector, without=frozenset({"/a", "/elsewhere"}))
    )
    assert ["/b"] == paths(
        engine, "fruit", among=frozenset({"/a", "/b"}), without=frozenset({"/a"})
    )
    assert ["/a", "/b"] == sorted(paths(engine, "fruit"))


# --- how alike skills are


ALIKE = [
    skill("/a", "apple", "red fruit"),
    skill("/b", "apple", "red fruit"),
    skill("/c", "chair", "wood"),
    skill("/d", "none", "x"),
]


def test_skills_are_compared_by_their_cards(engine: IndexEngine) -> None:
    engine.build(ALIKE)
    for text in ALIKE[:3]:  # each in a file of its own, unless they are merged
        embed(engine, [text])

    found = engine.likeness(["/a", "/c", "/b", "/d", "/never"])

    known = found[:3, :3]
    assert pytest.approx([1, 1, 1, 1]) == [*known.diagonal().tolist(), known[0, 2]]
    assert known.tolist() == known.T.tolist()
    assert 0.5 > known[0, 1]
    assert np.isnan(found[3:]).all()
    assert np.isnan(found[:, 3:]).all()


def test_without_vectors_nothing_is_compared(engine: IndexEngine) -> None:
    engine.build(ALIKE)

    assert np.isnan(engine.likeness(["/a", "/b"])).all()
    assert (0, 0) == engine.likeness([]).shape
    assert [] == engine.neighbours("/a", 3, frozenset({"/a", "/b"}))


def test_vectors_of_another_model_say_nothing_about_likeness(engine: IndexEngine) -> None:
    engine.build(ALIKE)
    embed(engine, ALIKE)
    engine.without_vectors("another")

    assert np.isnan(engine.likeness(["/a", "/b"])).all()
    assert [] == engine.neighbours("/a", 3, frozenset({"/b"}))


@pytest.mark.parametrize(
    ("limit", "among", "expected"),
    [
        (1, "abcd", ["/b"]),
        (9, "abc", ["/b", "/c"]),
        (9, "cd", ["/d", "/c"]),
        (0, "abcd", []),
        (9, "a", []),
    ],
)
def test_the_nearest_of_some_skills_are_given(
    engine: IndexEngine, limit: int, among: str, expected: list[str]
) -> None:
    engine.build(ALIKE)
    embed(engine, ALIKE)

    found = engine.neighbours("/a", limit, frozenset(f"/{one}" for one in among))

    assert sorted(expected) == sorted(path for path, _cosine in found)
    assert sorted((cosine for _path, cosine in found), reverse=True) == [
        cosine for _path, cosine in found
    ]


# --- seals


def test_a_seal_holds_until_the_skills_change(engine: IndexEngine) -> None:
    engine.build(FRUIT)
    before = engine.sealed()

    engine.seal("one")
    embed(engine, FRUIT)
    sealed = engine.sealed()
    engine.update([skill("/d", "new")], [])

    assert ("", "one", "") == (before, sealed, engine.sealed())


def test_what_changes_nothing_leaves_the_seal(engine: IndexEngine) -> None:
    engine.build(FRUIT)
    engine.seal("one")

    engine.update([], ["/elsewhere"])

    assert "one" == engine.sealed()


def test_another_process_finds_the_seal(tmp_path: Path) -> None:
    engine = on_disk(tmp_path)
    engine.build(FRUIT)
    engine.seal("one")

    assert "one" == on_disk(tmp_path).sealed()


def test_nobody_seals_what_somebody_else_has_changed(tmp_path: Path) -> None:
    engine, other = on_disk(tmp_path), on_disk(tmp_path)
    engine.build(FRUIT)
    engine.known()
    other.update([skill("/d", "new")], [])

    engine.seal("one")
    engine.known()
    before = engine.sealed()
    engine.seal("two")

    assert ("", "two") == (before, engine.sealed())


def test_an_index_of_which_a_part_is_gone_is_not_sealed(tmp_path: Path) -> None:
    engine = on_disk(tmp_path)
    engine.build(FRUIT)
    engine.seal("one")
    for name in files_of(tmp_path):
        (tmp_path / "index" / name).unlink()

    assert "" == on_disk(tmp_path).sealed()


def test_vectors_outlast_segments_of_another_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = on_disk(tmp_path)
    engine.build(FRUIT)
    embed(engine, FRUIT)

    monkeypatch.setattr("metier.find.index.segments.SEGMENT_FORMAT", 99)
    newer = on_disk(tmp_path)
    before = newer.known()
    newer.build(FRUIT)

    assert ({}, []) == (before, newer.without_vectors(MODEL.name))
