"""Paths that lie in the same few folders are made canonical as each of them would be alone."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hypothesis import given, settings, strategies as st

from metier.discover.io import disk

NAMES = st.sampled_from(["a", "b", "c", "link", "away", "file"])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(NAMES, min_size=1, max_size=4), min_size=1, max_size=8))
def test_a_path_is_followed_the_same_alone_and_with_others(paths: list[list[str]]) -> None:
    with tempfile.TemporaryDirectory() as top:
        base = Path(top)
        for folder in ("a/b", "b/c", "c"):
            (base / folder).mkdir(parents=True)
        (base / "link").symlink_to("a")
        (base / "a/link").symlink_to("../b")
        (base / "b/away").symlink_to(base / "c")
        (base / "a/file").write_text("x")
        whole = [f"{top}/{'/'.join(names)}" for names in paths]

        folders: dict[str, str] = {}
        together = [disk.real_below(path, folders) for path in whole]

        assert [os.path.realpath(path) for path in whole] == together
