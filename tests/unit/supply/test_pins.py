"""Between a pin and its source: what the lock calls it, and that it is found again."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from fakes.archives import honest_tar, honest_zip
from fakes.repositories import Repository
from fakes.shop import Shop, document, write_skill

from metier.supply import fetch, places

if TYPE_CHECKING:
    from pathlib import Path


def test_what_lies_in_the_project_is_named_from_there(shop: Shop) -> None:
    (shop.project / "vendor").mkdir()
    (shop.base / "door").symlink_to(shop.project)
    cases = {
        str(shop.project / "vendor"): "./vendor",
        str(shop.base / "door/vendor"): "./vendor",
        str(shop.project): "./",
        str(shop.project) + "-other": str(shop.project) + "-other",
        str(shop.shelf): str(shop.shelf),
        "https://github.com/a/b": "https://github.com/a/b",
        f"file://{shop.project}/vendor": f"file://{shop.project}/vendor",
    }
    with shop.open() as m:
        mine, own = places.place_of(m.context, user=False), places.place_of(m.context, user=True)

    assert cases == {source: fetch.source_in_lock(mine, source) for source in cases}
    assert str(shop.project / "vendor") == fetch.source_in_lock(own, str(shop.project / "vendor"))


@pytest.mark.parametrize(
    "kind", ["folder", "folder below", "git", "git at its top", "zip", "tar.gz"]
)
def test_the_very_bytes_are_found_again_where_the_store_has_none(shop: Shop, kind: str) -> None:
    files = {
        "skills/pdf/SKILL.md": document("pdf"),
        "skills/pdf/a b.md": "x\n",
        "skills/ocr/SKILL.md": document("ocr"),
    }
    said = _source(shop, kind, files)

    with shop.open() as m:
        m.add(said, skills=["pdf"])
    before = shop.lock.read_bytes()
    shutil.rmtree(shop.data)
    shutil.rmtree(shop.project / ".agents")
    with shop.open() as m:
        found = m.sync(frozen=True)

    assert (True, before, "x\n") == (
        found.ok,
        shop.lock.read_bytes(),
        shop.working("pdf", "a b.md").read_text(),
    )


def _source(shop: Shop, kind: str, files: dict[str, str]) -> str:
    raw = {path: text.encode() for path, text in files.items()}
    if kind.startswith("folder"):
        for name in ("pdf", "ocr"):
            write_skill(shop.shelf / "skills" / name, name, files={"a b.md": "x\n"})
        return str(shop.shelf / "skills/pdf" if kind == "folder" else shop.shelf)
    if kind.startswith("git"):
        repository = Repository(shop.base / "upstream")
        top = {
            path.removeprefix("skills/pdf/"): text
            for path, text in files.items()
            if path.startswith("skills/pdf/")
        }
        repository.commit(top if kind == "git at its top" else files)
        return f"git+{repository.address}"
    file: Path = shop.shelf / f"all.{kind}"
    file.write_bytes(honest_zip(raw) if kind == "zip" else honest_tar(raw))
    return str(file)


def test_an_archive_that_was_changed_is_not_what_was_locked(shop: Shop) -> None:
    file = shop.shelf / "pdf.zip"
    file.write_bytes(honest_zip({"SKILL.md": document("pdf").encode()}))
    with shop.open() as m:
        m.add(str(file))
    file.write_bytes(honest_zip({"SKILL.md": document("pdf", "Other.\n").encode()}))
    shutil.rmtree(shop.data)
    shutil.rmtree(shop.project / ".agents")

    with shop.open() as m:
        found = m.sync(frozen=True)

    assert (False, False) == (found.ok, shop.working("pdf").exists())


def test_a_source_without_the_skill_says_where_it_was(shop: Shop) -> None:
    shop.offer("pdf", at="skills/pdf")
    shop.offer("ocr", at="skills/ocr")
    with shop.open() as m:
        m.add("../shelf", skills=["pdf"])
    (shop.shelf / "skills/pdf/SKILL.md").unlink()
    shutil.rmtree(shop.data)
    shutil.rmtree(shop.project / ".agents")

    with shop.open() as m:
        found = m.sync(frozen=True)

    assert (False, True) == (
        found.ok,
        "not-found: " in found.drift[0] and "skills/pdf" in found.drift[0],
    )
