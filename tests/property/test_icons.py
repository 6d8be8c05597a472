"""An icon never leaves the assets of its skill or of its plugin, however its path is written."""

from __future__ import annotations

import json
import posixpath

from hypothesis import given, strategies as st

from metier.standard.sidecar import read_sidecar

PARTS = st.sampled_from(["..", ".", "", "assets", "skills", "cart", "logo.svg", "\\", "a"])


@given(st.lists(PARTS, min_size=1, max_size=9), st.integers(0, 4))
def test_every_icon_that_is_kept_lies_under_assets(parts: list[str], levels: int) -> None:
    home = "/plugin" + "/x" * levels

    found = read_sidecar(
        json.dumps({"interface": {"icon_small": "/".join(parts)}}).encode(), levels
    ).interface

    place = posixpath.normpath(posixpath.join(home, found.get("icon_small", "assets/none")))
    assert place.startswith((f"{home}/assets/", "/plugin/assets/"))
