"""Merging whole skills: every way in which two sides can disagree about a file."""

from __future__ import annotations

import hashlib

import pytest

from metier.standard.digest import TreeFile
from metier.supply.merge import trees
from metier.supply.merge.line_diff import WorkBudget
from metier.supply.merge.trees import MergedTree, merge_trees

LONG = "".join(f"line {number}\n" for number in range(20))
Files = dict[str, str | tuple[str, bool | str]]


def tree_of(files: Files) -> tuple[dict[str, TreeFile], dict[str, bytes]]:
    found, contents = {}, {}
    for path, what in files.items():
        text, mode = what if isinstance(what, tuple) else (what, False)
        data = text.encode()
        found[path], contents[path] = (
            TreeFile(path, len(data), hashlib.sha256(data).digest(), mode),
            data,
        )
    return found, contents


def merged(base: Files, ours: Files, theirs: Files, favour: str = "") -> tuple[MergedTree, Files]:
    sides = {"base": tree_of(base), "ours": tree_of(ours), "theirs": tree_of(theirs)}
    tree = merge_trees(
        sides["base"][0],
        sides["ours"][0],
        sides["theirs"][0],
        lambda side, path: sides[side][1][path],
        favour=favour,  # type: ignore[arg-type]
    )
    files: Files = {}
    for path, taken in tree.files.items():
        data = taken.data if taken.data is not None else sides[taken.side][1][taken.path]
        files[path] = (data.decode(), taken.mode) if taken.mode else data.decode()
    return tree, files


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected"),
    [
        (
            {"a": "1\n"},
            {"a": "1\n", "b": "mine\n"},
            {"a": "1\n", "c": "yours\n"},
            {"a": "1\n", "b": "mine\n", "c": "yours\n"},
        ),
        ({"a": "1\n", "b": "2\n"}, {"a": "1\n"}, {"a": "new\n", "b": "2\n"}, {"a": "new\n"}),
        ({"a": "1\n"}, {}, {}, {}),
        ({"a": "1\n"}, {"a": "2\n"}, {"a": "2\n"}, {"a": "2\n"}),
        ({}, {"a": "same\n"}, {"a": "same\n"}, {"a": "same\n"}),
        (
            {"a": LONG},
            {"a": LONG.replace("line 3\n", "mine\n")},
            {"a": LONG.replace("line 15\n", "yours\n")},
            {"a": LONG.replace("line 3\n", "mine\n").replace("line 15\n", "yours\n")},
        ),
        ({"a": "1\n"}, {"a": ("1\n", True)}, {"a": "2\n"}, {"a": ("2\n", True)}),
        ({"a": ("1\n", True)}, {"a": "1\n"}, {"a": ("2\n", True)}, {"a": "2\n"}),
        ({}, {"a": "same\n"}, {"a": ("same\n", True)}, {"a": ("same\n", True)}),
        ({"a": "\0x"}, {"a": "\0y"}, {"a": "\0x"}, {"a": "\0y"}),
        (
            {"a": ("aim", "link")},
            {"a": ("aim", "link")},
            {"a": ("other", "link")},
            {"a": ("other", "link")},
        ),
    ],
)
def test_what_only_one_side_did_or_both_did_alike_is_taken(
    base: Files, ours: Files, theirs: Files, expected: Files
) -> None:
    tree, files = merged(base, ours, theirs)

    assert ((), expected) == (tree.conflicts, files)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "conflict", "files"),
    [
        (
            {"a": "1\n"},
            {"a": "2\n"},
            {"a": "3\n"},
            ("a", "content", "a", "a", "a", True),
            {"a": "<<<<<<< ours\n2\n=======\n3\n>>>>>>> theirs\n"},
        ),
        (
            {},
            {"a": "2\n"},
            {"a": "3\n"},
            ("a", "added", None, "a", "a", True),
            {"a": "<<<<<<< ours\n2\n=======\n3\n>>>>>>> theirs\n"},
        ),
        ({"a": "\0x"}, {"a": "\0y"}, {"a": "\0z"}, ("a", "binary", "a", "a", "a", False), {}),
        ({}, {"a": "\0y"}, {"a": "\0z"}, ("a", "added", None, "a", "a", False), {}),
        ({"a": "1\n"}, {}, {"a": "2\n"}, ("a", "deleted", "a", None, "a", False), {}),
        ({"a": "1\n"}, {"a": "2\n"}, {}, ("a", "deleted", "a", "a", None, False), {}),
        ({"a": "1\n"}, {}, {"a": ("1\n", True)}, ("a", "deleted", "a", None, "a", False), {}),
        ({"a": LONG}, {"b": LONG}, {"c": LONG}, ("b", "renamed", "a", "b", "c", False), {}),
        ({"a": LONG}, {}, {"b": LONG}, ("b", "deleted", "a", None, "b", False), {}),
        (
            {"a": ("x", "link")},
            {"a": ("y", "link")},
            {"a": ("z", "link")},
            ("a", "binary", "a", "a", "a", False),
            {},
        ),
        (
            {"a": "1\n"},
            {"a": ("y", "link")},
            {"a": "2\n"},
            ("a", "binary", "a", "a", "a", False),
            {},
        ),
        (
            {},
            {"a": "1\n"},
            {"a/b": "2\n"},
            ("a", "folder", None, "a", "a/b", False),
            {"a/b": "2\n"},
        ),
        (
            {},
            {"a/b": "1\n"},
            {"A": "2\n"},
            ("A", "folder", None, "a/b", "A", False),
            {"a/b": "1\n"},
        ),
        (
            {},
            {"Readme": "1\n"},
            {"README": "2\n"},
            ("README", "case", None, "Readme", "README", False),
            {},
        ),
        (
            {"a": LONG},
            {"c": LONG + "more\n"},
            {"a": LONG, "c": "else\n"},
            ("c", "added", None, "c", "c", False),
            {},
        ),
    ],
)
def test_what_cannot_be_told_is_a_conflict_and_never_a_guess(
    base: Files, ours: Files, theirs: Files, conflict: tuple[object, ...], files: Files
) -> None:
    tree, found = merged(base, ours, theirs)

    assert ([conflict], files) == ([one[:6] for one in tree.conflicts], found)


def test_an_edit_follows_a_file_that_the_other_side_moved() -> None:
    new = LONG.replace("line 15\n", "yours\n")

    tree, files = merged(
        {"old/a.md": LONG}, {"old/a.md": LONG.replace("line 3\n", "mine\n")}, {"new/b.md": new}
    )

    assert ((), (("old/a.md", "new/b.md"),)) == (tree.conflicts, tree.renames)
    assert {"new/b.md": new.replace("line 3\n", "mine\n")} == files


def test_a_file_that_both_moved_elsewhere_has_its_edits_on_either_side() -> None:
    ours, theirs = LONG.replace("line 3\n", "mine\n"), LONG.replace("line 15\n", "yours\n")

    tree, _files = merged({"a": LONG}, {"b": ours}, {"c": theirs})

    [conflict] = tree.conflicts
    assert conflict.mine is not None
    assert conflict.mine == conflict.yours
    assert ours.replace("line 15\n", "yours\n").encode() == conflict.mine.data


def test_two_spellings_that_one_side_has_already_are_its_own_business() -> None:
    tree, files = merged({}, {"a": "1\n", "A": "2\n"}, {"b": "3\n"})

    assert ((), {"A": "2\n", "a": "1\n", "b": "3\n"}) == (tree.conflicts, files)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "favour", "expected"),
    [
        ({"a": "\0x"}, {"a": "\0y"}, {"a": "\0z"}, "ours", {"a": "\0y"}),
        ({"a": "\0x"}, {"a": "\0y"}, {"a": "\0z"}, "theirs", {"a": "\0z"}),
        ({"a": "1\n"}, {}, {"a": "2\n"}, "ours", {}),
        ({"a": "1\n"}, {}, {"a": "2\n"}, "theirs", {"a": "2\n"}),
        ({"a": LONG}, {"b": LONG}, {"c": LONG}, "theirs", {"c": LONG}),
        ({}, {"a": "1\n"}, {"a/b": "2\n", "a/c": "3\n"}, "ours", {"a": "1\n"}),
        ({}, {"a": "1\n"}, {"a/b": "2\n", "a/c": "3\n"}, "theirs", {"a/b": "2\n", "a/c": "3\n"}),
        ({}, {"Readme": "1\n"}, {"README": "2\n"}, "ours", {"Readme": "1\n"}),
    ],
)
def test_a_favoured_side_settles_it(
    base: Files, ours: Files, theirs: Files, favour: str, expected: Files
) -> None:
    tree, files = merged(base, ours, theirs, favour)

    assert ((), expected) == (tree.conflicts, files)


def found(base: Files, side: Files, work: WorkBudget | None = None) -> dict[str, str]:
    (old, was), (new, now) = tree_of(base), tree_of(side)
    return trees.find_renames(old, new, was.__getitem__, now.__getitem__, work or WorkBudget())


def test_a_moved_file_is_known_by_its_bytes_and_first_of_all_by_its_name() -> None:
    assert {"a/x": "b/x"} == found({"a/x": "same\n"}, {"b/w": "same\n", "b/x": "same\n"})


def test_half_of_the_bytes_are_enough_and_less_is_another_file() -> None:
    base = "".join(f"{number:03}\n" for number in range(10))

    assert {"a": "b"} == found({"a": base}, {"b": base[:20] + "x" * 20})
    assert {} == found({"a": base}, {"b": base[:16] + "x" * 24})


def test_empty_files_links_and_binaries_are_not_taken_for_moved() -> None:
    assert {} == found({"a": "", "c": "\0ab\nc\n"}, {"b": "", "d": "\0ab\nd\n"})
    assert {} == found({"a": ("x", "link")}, {"b": "x"})


def test_looking_for_moved_files_is_bounded() -> None:
    base: Files = {f"old/{number}": f"{number}\n" * 9 for number in range(3_000)}
    side: Files = {f"new/{number}": f"{number}\n" * 9 + "x\n" for number in range(3_000)}

    assert len(found(base, side)) < trees.MAX_RENAME_PAIRS
    assert {} == found({"a": LONG}, {"b": LONG + "more\n"}, WorkBudget(0))
