"""What a quick rewrite would miss, as far as finding and reading go."""

from __future__ import annotations

import hashlib

import pytest
from conformance.folders import Place, cards, codes, names, only, skill, write

from metier.standard.digest import TreeFile, tree_digest
from metier.standard.sidecar import read_sidecar


@pytest.mark.rows("easily missed 1")
def test_a_projects_skills_are_rows_whoever_asks(place: Place) -> None:
    skill(place.project / ".agents/skills/pdf")

    for agent in (None, "codex"):
        assert ["pdf"] == names(place.scopes(agent=agent).skills(all=True))


@pytest.mark.rows("easily missed 2")
def test_a_linked_file_is_refused_though_a_linked_folder_is_read(
    place: Place,
) -> None:
    skill(place.base / "elsewhere/folder")
    (place.root / "folder").symlink_to(place.base / "elsewhere/folder")
    (place.root / "file").mkdir()
    (place.root / "file/SKILL.md").symlink_to(place.base / "elsewhere/folder/SKILL.md")

    found = cards(place.open())

    assert {"folder": "visible", "file": "invalid"} == {
        name: card.state for name, card in found.items()
    }


@pytest.mark.rows("easily missed 3")
@pytest.mark.parametrize(("description", "expected"), [("ü" * 1024, []), ("ü" * 1025, ["SK041"])])
def test_limits_count_characters_where_bytes_would_be_twice_as_many(
    place: Place, description: str, expected: list[str]
) -> None:
    skill(place.root / "pdf", description=description)

    assert expected == codes(only(place.open()).diagnostics)


@pytest.mark.rows("easily missed 4")
def test_sidecar_fields_drop_one_by_one_and_the_skill_still_loads(
    place: Place,
) -> None:
    half = "interface: {display_name: '', brand_color: red, default_prompt: go}\n"
    none = "interface: {display_name: '', brand_color: red}\n"
    skill(place.root / "half", files={"agents/openai.yaml": half})
    skill(place.root / "none", files={"agents/openai.yaml": none})

    assert ({"default_prompt": "go"}, {}) == (
        read_sidecar(half.encode()).interface,
        read_sidecar(none.encode()).interface,
    )
    assert ["visible", "visible"] == [card.state for card in place.open().skills()]


@pytest.mark.rows("easily missed 6")
def test_a_list_goes_by_root_then_by_path(place: Place) -> None:
    for folder in ("root/b/y", "root/a/z", "other/a/a"):
        skill(place.base / folder)

    assert ["z", "y", "a"] == names(place.open(place.root, place.base / "other").skills())


@pytest.mark.rows("easily missed 13")
def test_a_digest_is_the_same_from_disk_and_from_memory_in_whatever_order(
    place: Place,
) -> None:
    files = {"a-b/x": b"1", "a/x": b"2", "a.md": b"", "Z": b"\0"}
    for path, data in files.items():
        write(place.root / "pdf" / path, data)
    head = (skill(place.root / "pdf") / "SKILL.md").read_bytes()
    in_memory = [
        TreeFile(path, len(data), hashlib.sha256(data).digest(), mode=False)
        for path, data in {**files, "SKILL.md": head}.items()
    ]

    (on_disk,) = place.open().skills(digests=True)

    assert tree_digest(in_memory) == on_disk.digest == tree_digest(reversed(in_memory))


@pytest.mark.rows("easily missed 13")
def test_reading_writes_nothing_beside_a_skill(place: Place) -> None:
    skill(place.root / "pdf", files={"references/a.md": "a"})
    before = sorted(place.root.rglob("*"))

    library = place.open()
    library.skills(all=True, digests=True)
    library.view("pdf")
    library.fingerprint()

    assert before == sorted(place.root.rglob("*"))
