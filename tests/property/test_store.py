"""Any tree comes out of the store as it went in, under the same digest, and its bytes are there once."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from hypothesis import given, strategies as st

from metier.discover.io.machine import HostMachine
from metier.standard.digest import TreeFile
from metier.store.io.disk_calls import OsDiskCalls
from metier.store.io.tree_store import Store

NAMES = st.text(
    st.characters(blacklist_characters="/\0", blacklist_categories=["Cs"]), min_size=1, max_size=8
).filter(lambda name: name not in {".", ".."})
BYTES = st.one_of(st.binary(max_size=40), st.sampled_from([b"same", b"", b"x" * 2_000_000]))
ENTRIES = st.one_of(
    st.tuples(st.just("file"), BYTES),
    st.tuples(st.just("exec"), BYTES),
    st.tuples(st.just("link"), NAMES.map(os.fsencode)),
)
TREES = st.dictionaries(
    st.lists(NAMES, min_size=1, max_size=3).map(tuple), ENTRIES, min_size=1, max_size=6
).filter(
    lambda tree: not any(path[:depth] in tree for path in tree for depth in range(1, len(path)))
)

Tree = dict[tuple[str, ...], tuple[str, bytes]]


def lay(folder: Path, tree: Tree) -> list[TreeFile]:
    files = []
    for parts, (kind, data) in tree.items():
        path = folder.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            path.symlink_to(os.fsdecode(data))
        else:
            path.write_bytes(data)
            path.chmod(0o755 if kind == "exec" else 0o644)
        files.append(
            TreeFile(
                "/".join(parts),
                len(data),
                hashlib.sha256(data).digest(),
                "link" if kind == "link" else kind == "exec",
            )
        )
    return files


def look(folder: Path) -> Tree:
    found = {}
    for path in folder.rglob("*"):
        if path.is_symlink():
            found[path.relative_to(folder).parts] = "link", os.fsencode(os.readlink(path))
        elif path.is_file():
            found[path.relative_to(folder).parts] = (
                "exec" if os.stat(path).st_mode & 0o100 else "file",
                path.read_bytes(),
            )
    return found


@given(TREES)
def test_any_tree_comes_out_as_it_went_in(tree: Tree) -> None:
    with tempfile.TemporaryDirectory() as place:
        base = Path(place)
        store = Store(str(base / "store"), None, OsDiskCalls())
        files = lay(base / "skill", tree)
        machine = HostMachine({}, None, "").digest(str(base / "skill"))

        kept = store.keep(str(base / "skill"))
        taken = store.take(str(base / "skill"), files)
        store.lay(kept, str(base / "out"))
        again = store.keep(str(base / "out"))

        assert machine == kept == taken == again
        assert tree == look(base / "out")
        assert sorted(files) == sorted(store.files(kept))
        blobs = [path for path in (base / "store" / "blobs").rglob("*") if path.is_file()]
        assert len({file.sha256 for file in files}) == len(blobs)
