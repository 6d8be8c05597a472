"""The digest of a tree: no two trees share one, and neither order nor place matters."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given, settings, strategies as st

import metier
from metier.standard.digest import TreeFile, tree_digest

NAMES = st.text(alphabet="ab/:0123\n\x00-x\udcff\u00e9", min_size=1, max_size=6)
CONTENTS = st.binary(max_size=6)
TREES = st.dictionaries(
    NAMES, st.tuples(CONTENTS, st.sampled_from([False, True, "link"])), max_size=4
)
Tree = dict[str, tuple[bytes, bool | str]]


def files_of(tree: Tree) -> list[TreeFile]:
    return [
        TreeFile(path, len(data), hashlib.sha256(data).digest(), mode)
        for path, (data, mode) in tree.items()
    ]


@settings(max_examples=500)
@given(TREES, TREES)
def test_two_trees_that_differ_have_two_digests(one: Tree, other: Tree) -> None:
    assume(one != other)

    assert tree_digest(files_of(one)) != tree_digest(files_of(other))


@given(TREES, st.randoms(use_true_random=False))
def test_the_order_of_the_files_does_not_matter(tree: Tree, random: object) -> None:
    files = files_of(tree)
    shuffled = list(files)
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    assert tree_digest(files) == tree_digest(shuffled)


@given(NAMES, CONTENTS, st.integers(0, 6))
def test_bytes_cannot_move_between_a_path_and_its_content(
    path: str, data: bytes, cut: int
) -> None:  # HE-43
    raw = path.encode("utf-8", "surrogateescape") + data
    moved = raw[:cut].decode("utf-8", "surrogateescape")
    assume(moved != path)

    assert tree_digest(files_of({path: (data, False)})) != tree_digest(
        files_of({moved: (raw[cut:], False)})
    )


@given(NAMES, CONTENTS, st.integers(0, 6), NAMES)
def test_splitting_a_file_in_two_changes_the_digest(
    path: str, data: bytes, cut: int, other: str
) -> None:  # HE-43
    assume(path != other)
    whole: Tree = {path: (data, False)}
    parts: Tree = {path: (data[:cut], False), other: (data[cut:], False)}

    assert tree_digest(files_of(whole)) != tree_digest(files_of(parts))


@given(NAMES, CONTENTS)
def test_the_executable_bit_matters(path: str, data: bytes) -> None:
    modes: list[bool | str] = [False, True, "link"]

    assert 3 == len({tree_digest(files_of({path: (data, mode)})) for mode in modes})


@given(TREES)
def test_a_digest_is_a_full_sha256(tree: Tree) -> None:
    digest = tree_digest(files_of(tree))

    assert digest.startswith("sha256:")
    assert 32 == len(bytes.fromhex(digest.removeprefix("sha256:")))


SAFE = st.text(alphabet="abc", min_size=1, max_size=3)


@settings(max_examples=25)
@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["", "references/", "scripts/deep/"]), SAFE),
        st.tuples(CONTENTS, st.booleans()),
        max_size=5,
    ),
    st.randoms(use_true_random=False),
)
def test_where_a_tree_lies_and_in_which_order_it_was_written_does_not_matter(
    tree: dict[tuple[str, str], tuple[bytes, bool]], random: object
) -> None:
    digests: list[str] = []
    for place in ("one", "two/deeper"):
        with tempfile.TemporaryDirectory() as base:
            folder = Path(base) / place / "skill"
            items = list(tree.items())
            random.shuffle(items)  # type: ignore[attr-defined]
            for (above, name), (data, executable) in [
                *items,
                (("", "SKILL.md"), (b"---\nname: skill\ndescription: x\n---\n", False)),
            ]:
                path = folder / above / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
                path.chmod(0o755 if executable else 0o644)
                os.utime(path, (len(digests), len(digests)))
            library = metier.open(
                roots=[str(folder.parent)], env={"HOME": base, "METIER_HOME": f"{base}/home"}
            )
            digests.append(library.digest(library.skills()[0]) or "none")

    assert digests[0] == digests[1] != "none"


@pytest.mark.parametrize(
    "change", ["content", "name", "mode", "added", "removed", "empty file", "link"]
)
def test_any_change_to_a_tree_on_disk_changes_its_digest(change: str, tmp_path: Path) -> None:
    folder = tmp_path / "root" / "skill"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: skill\ndescription: x\n---\n")
    script = folder / "scripts" / "run.sh"
    script.write_text("true\n")
    library = metier.open(
        roots=[str(tmp_path / "root")],
        env={"HOME": str(tmp_path), "METIER_HOME": str(tmp_path / "home")},
    )
    (card,) = library.skills()
    before = library.digest(card)

    if change == "content":
        script.write_text("exit\n")
    elif change == "name":
        script.rename(folder / "scripts" / "Run.sh")
    elif change == "mode":
        script.chmod(0o755)
    elif change == "added":
        (folder / "more.txt").write_text("more")
    elif change == "removed":
        script.unlink()
    elif change == "empty file":
        (folder / ".hidden").touch()
    else:
        (folder / "link").symlink_to("SKILL.md")

    assert before != library.digest(card)
