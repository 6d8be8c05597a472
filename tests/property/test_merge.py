"""What holds for every merge: it is git's, file by file; and whole trees merge as the documentation says."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import pytest
from fakes.merging import Triples, merged_by_git
from hypothesis import given, settings, strategies as st

from metier.standard.digest import TreeFile
from metier.supply.merge.diff3 import MergedText, merge3
from metier.supply.merge.line_diff import WorkBudget, line_changes
from metier.supply.merge.trees import MergedFile, MergedTree, merge_trees

LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n", b"d\r\n"]), max_size=12).map(
    b"".join
)
ENDS = st.sampled_from([b"", b"end"])
FILES = st.builds(lambda lines, end: lines + end, LINES, ENDS)
PATHS = st.sampled_from(["SKILL.md", "a", "b", "B", "a/x", "docs/one.md", "docs/two.md", "run.sh"])
CONTENTS = st.one_of(
    FILES,
    st.sampled_from(
        [
            b"\0one",
            b"\0two",
            b"1\n2\n3\n4\n5\n6\n",
            b"1\n2\n3\n4\n5\n6\n7\n",
            b"0\n1\n2\n3\n4\n5\n6\n",
        ]
    ),
)
Content = tuple[bytes, bool | str]


def possible(tree: dict[str, Content]) -> bool:
    """Tell whether a folder could hold it."""
    folders = {
        "/".join(path.split("/")[:depth])
        for path in tree
        for depth in range(1, path.count("/") + 1)
    }
    return folders.isdisjoint(tree)


TREES = st.dictionaries(
    PATHS, st.tuples(CONTENTS, st.sampled_from([False, False, True, "link"])), max_size=6
).filter(possible)


def merged(base: bytes, ours: bytes, theirs: bytes, style: str) -> MergedText:
    if style in {"ours", "theirs"}:
        return merge3(base, ours, theirs, favour=style)  # type: ignore[arg-type]
    return merge3(base, ours, theirs, style=style)  # type: ignore[arg-type]


def tree_of(contents: Mapping[str, Content]) -> dict[str, TreeFile]:
    return {
        path: TreeFile(path, len(data), hashlib.sha256(data).digest(), mode)
        for path, (data, mode) in contents.items()
    }


def merged_trees(
    base: dict[str, Content], ours: dict[str, Content], theirs: dict[str, Content], favour: str = ""
) -> MergedTree:
    sides = {"base": base, "ours": ours, "theirs": theirs}
    return merge_trees(
        tree_of(base),
        tree_of(ours),
        tree_of(theirs),
        lambda side, path: sides[side][path][0],
        favour=favour,  # type: ignore[arg-type]
    )


def laid_out(
    tree: MergedTree, ours: dict[str, Content], theirs: dict[str, Content]
) -> dict[str, Content]:
    return {path: content_of(taken, ours, theirs) for path, taken in tree.files.items()}


def content_of(taken: MergedFile, ours: dict[str, Content], theirs: dict[str, Content]) -> Content:
    data = (
        taken.data
        if taken.data is not None
        else (ours if taken.side == "ours" else theirs)[taken.path][0]
    )
    return data, taken.mode


@pytest.mark.parametrize("seed", range(10))
def test_ten_thousand_triples_merge_as_git_merges_them(seed: int, tmp_path: Path) -> None:
    maker = Triples(seed)
    triples = [maker.triple() for _ in range(1_000)]
    styles = [
        ("merge", "diff3", "merge", "ours", "merge", "diff3", "merge", "theirs")[at % 8]
        for at in range(1_000)
    ]

    expected = merged_by_git(tmp_path, triples, styles)

    differing = [
        (triple, style)
        for triple, style, theirs in zip(triples, styles, expected, strict=True)
        if theirs != merged(*triple, style).data
    ]
    assert [] == differing


@settings(max_examples=60)
@given(
    st.lists(st.tuples(FILES, FILES, FILES), min_size=20, max_size=20),
    st.sampled_from(["merge", "diff3", "ours", "theirs"]),
)
def test_whatever_three_files_hold_the_result_is_that_of_git(
    tmp_path_factory: pytest.TempPathFactory, triples: list[tuple[bytes, bytes, bytes]], style: str
) -> None:
    expected = merged_by_git(tmp_path_factory.mktemp("git"), triples, [style] * len(triples))

    assert expected == [merged(*triple, style).data for triple in triples]


@given(FILES, FILES, FILES)
def test_a_clean_merge_is_the_same_from_either_side_and_a_conflict_has_the_same_parts(
    base: bytes, ours: bytes, theirs: bytes
) -> None:
    one, other = merge3(base, ours, theirs), merge3(base, theirs, ours)

    assert bool(one.conflicts) == bool(other.conflicts)
    if not one.conflicts:
        assert one.data == other.data


@given(FILES, FILES)
def test_what_one_side_alone_changed_is_taken_whole(base: bytes, new: bytes) -> None:
    assert MergedText(new) == merge3(base, new, base)
    assert MergedText(new) == merge3(base, base, new)
    assert MergedText(new) == merge3(base, new, new)


@given(
    st.lists(st.integers(0, 3), max_size=30),
    st.lists(st.integers(0, 3), max_size=30),
    st.integers(0, 200),
)
def test_changes_rebuild_the_other_file_however_little_work_is_allowed(
    one: list[int], other: list[int], steps: int
) -> None:
    rebuilt, at = list[int](), 0

    for change in line_changes(one, other, WorkBudget(steps)):
        rebuilt += one[at : change.at1] + other[change.at2 : change.at2 + change.count2]
        at = change.at1 + change.count1

    assert other == rebuilt + one[at:]


@settings(max_examples=300)
@given(TREES, TREES)
def test_a_tree_merged_with_itself_or_with_its_base_is_itself(
    base: dict[str, Content], new: dict[str, Content]
) -> None:
    for ours, theirs in ((new, new), (base, new), (new, base)):
        tree = merged_trees(base, ours, theirs)

        assert () == tree.conflicts
        assert dict(sorted(new.items())) == laid_out(tree, ours, theirs)


@settings(max_examples=500)
@given(TREES, TREES, TREES)
def test_exchanging_the_sides_exchanges_only_their_names(
    base: dict[str, Content], ours: dict[str, Content], theirs: dict[str, Content]
) -> None:
    one, other = merged_trees(base, ours, theirs), merged_trees(base, theirs, ours)

    assert [(c.path, c.kind, c.base, c.ours, c.theirs) for c in one.conflicts] == [
        (c.path, c.kind, c.base, c.theirs, c.ours) for c in other.conflicts
    ]
    assert one.files.keys() == other.files.keys()
    assert one.renames == other.renames
    marked = {conflict.path for conflict in one.conflicts}
    first, second = laid_out(one, ours, theirs), laid_out(other, theirs, ours)
    assert {path: what for path, what in first.items() if path not in marked} == {
        path: what for path, what in second.items() if path not in marked
    }


@settings(max_examples=300)
@given(TREES, TREES, TREES, st.sampled_from(["ours", "theirs"]))
def test_a_favoured_side_leaves_no_conflict_and_a_tree_that_a_folder_can_hold(
    base: dict[str, Content], ours: dict[str, Content], theirs: dict[str, Content], favour: str
) -> None:
    tree = merged_trees(base, ours, theirs, favour)

    assert () == tree.conflicts
    assert possible(laid_out(tree, ours, theirs))


@settings(max_examples=300)
@given(TREES, TREES, TREES)
def test_nothing_that_a_side_wrote_is_lost_without_a_conflict(
    base: dict[str, Content], ours: dict[str, Content], theirs: dict[str, Content]
) -> None:
    tree = merged_trees(base, ours, theirs)
    followed = {new for _old, new in tree.renames}
    named = {path for conflict in tree.conflicts for path in conflict[2:5] if path is not None}

    for side in (ours, theirs):
        for path in side:
            new_here = path not in base and path not in followed
            assert not new_here or path in tree.files or path in named
