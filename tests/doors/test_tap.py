"""`metier tap`: which repositories are searched, kept in the user's own configuration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Home
    from doors.upstream import Project, Upstream


@pytest.fixture(autouse=True)
def _no_default_taps(home: Home) -> None:
    """Begin without those that are there by default."""
    config = Path(home.path, ".config", "metier", "metier.toml")
    config.parent.mkdir(parents=True)
    config.write_text("[supply]\ndefault_taps = []\n")


def test_a_tap_is_searched_and_names_are_found_in_it(project: Project, upstream: Upstream) -> None:
    empty = project("tap", "list")
    added = project("tap", "add", upstream.url)
    found = project("search", "pdf", "--json")
    installed = project("add", "pdf", "--yes")
    removed = project("tap", "remove", upstream.url)

    assert (0, "There are no taps.\n\nnext: metier tap add OWNER/REPO\n") == (empty.code, empty.out)
    assert (0, ["TAP", "TRUST", "SOURCE"]) == (added.code, added.out.split()[:3])
    assert ["pdf"] == [one["name"] for one in found.json["results"]]
    assert (0, True) == (installed.code, project.file("pdf").exists())
    assert (0, empty.out) == (removed.code, removed.out)


def test_a_folder_is_a_tap_from_every_place(project: Project, upstream: Upstream) -> None:
    (upstream.folder / "HERE").mkdir()

    added = project("tap", "add", "ours=../upstream", "--json")

    assert [f"ours={upstream.folder}"] == [one["tap"] for one in added.json["taps"]]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("add", "o"), "unknown-source"),
        (("add", "ftp://example.com/skills"), "unsafe-transport"),
        (("add", "http://example.com"), "host"),
        (("add",), "usage"),
        (("drop", "x"), "usage"),
        (("remove", "o/r"), "not-found"),
        (("add", "https://me:secret@example.com/x.git"), "credentials"),
    ],
)
def test_what_is_no_tap_is_refused_and_nothing_is_written(
    project: Project, words: tuple[str, ...], code: str
) -> None:
    answer = project("tap", *words, "--json")

    assert code == answer.json["code"]
    assert {"taps": []} == project("tap", "list", "--json").json
