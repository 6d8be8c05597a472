"""`sync` asks each source once, and one damaged file of the store costs nobody else anything."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from fakes.mcp_server import Answers, ToyServer
from fakes.repositories import Repository
from fakes.shop import Shop, document, tree, yes

from metier.store.io.disk_calls import OsDiskCalls
from metier.supply.io.git import GitFetcher, GitTree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from metier.supply.model import Contents, Item, Request

NAMES = ("pdf", "ocr", "xml", "csv")


def stocked(shop: Shop) -> Repository:
    """Install four skills of one repository."""
    repository = Repository(shop.base / "upstream")
    repository.commit({f"skills/{name}/SKILL.md": document(name, f"{name}\n") for name in NAMES})
    with shop.open() as m:
        m.add(f"git+{repository.address}#main", all=True)
    return repository


def damage(shop: Shop, text: str) -> Path:
    """Change one byte of the stored file with this text in it."""
    for path in sorted((shop.data / "store/blobs").rglob("*")):
        if path.is_file() and text in path.read_text():
            os.chmod(path, 0o600)
            path.write_text(path.read_text().replace(text, text.swapcase()))
            return path
    raise AssertionError(text)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """Count what is opened."""
    real = GitFetcher.open
    found: list[Request] = []

    def counted(self: GitFetcher, request: Request) -> GitTree:
        found.append(request)
        return real(self, request)

    monkeypatch.setattr(GitFetcher, "open", counted)
    return found


def test_each_source_is_opened_once(shop: Shop, opened: list[Request]) -> None:
    stocked(shop)
    whole = tree(shop.project)
    shutil.rmtree(shop.project / ".agents")
    shutil.rmtree(shop.data / "store/blobs")
    opened.clear()

    with shop.open() as m:
        found = m.sync(frozen=True)

    assert (True, 1, whole) == (found.ok, len(opened), tree(shop.project))


@pytest.mark.loopback
def test_a_server_s_list_is_read_once_for_all_its_skills(shop: Shop) -> None:
    skills = {name: {"SKILL.md": document(name, f"{name}\n").encode()} for name in NAMES}
    with ToyServer(Answers(skills, "manifest")) as toy:
        shop.configure(f'[supply]\nprivate_hosts = ["{toy.place}"]\n')
        with shop.open() as m:
            m.add(f"mcp+{toy.url}", skills=["pdf"])
            m.add(f"mcp+{toy.url}", skills=["ocr", "xml", "csv"])
        whole = tree(shop.project)
        shutil.rmtree(shop.project / ".agents")
        shutil.rmtree(shop.data / "store/blobs")
        counts = []
        for act in ("sync", "outdated", "update"):
            skills["new"] = {"SKILL.md": document("new").encode()}
            toy.answers.asked.clear()
            with shop.open() as m:
                getattr(m, act)()
            counts.append(toy.answers.asked.count("resources/list"))

    assert [1, 2, 2] == counts  # whether anything is new is asked first
    assert whole == tree(shop.project)


def test_what_is_too_large_as_a_whole_is_restored_and_updated_skill_by_skill(shop: Shop) -> None:
    repository = Repository(shop.base / "upstream")
    files = {f"skills/{name}/SKILL.md": document(name, f"{name}\n") for name in NAMES}
    repository.commit(files | {f"other/{number}.txt": "x" for number in range(30)})
    shop.configure("[supply]\nfiles = 20\n")
    with shop.open() as m:
        for name in NAMES[:2]:
            m.add(f"git+{repository.address}#main:skills/{name}")
    whole = tree(shop.project)
    shutil.rmtree(shop.project / ".agents")
    shutil.rmtree(shop.data / "store/blobs")

    with shop.open() as m:
        synced = m.sync()
    after = tree(shop.project)
    for name in NAMES[:2]:
        repository.commit({f"skills/{name}/SKILL.md": document(name, "Newer.\n")})
    with shop.open() as m:
        stale = [(one.name, one.state) for one in m.outdated()]
        updated = m.update(consent=yes)

    assert (True, whole) == (synced.ok, after)
    assert [("ocr", "outdated"), ("pdf", "outdated")] == stale
    assert ["ocr", "pdf"] == sorted(one.name for one in updated.installed)


@pytest.mark.parametrize("frozen", [False, True])
def test_a_damaged_file_is_fetched_again_and_the_others_are_restored(
    shop: Shop, opened: list[Request], frozen: bool
) -> None:
    stocked(shop)
    whole = tree(shop.project)
    sound = tree(shop.data / "store/blobs")
    damage(shop, "\nocr\n")
    shutil.rmtree(shop.project / ".agents")
    opened.clear()

    with shop.open() as m:
        found = m.sync(frozen=frozen)

    assert (True, 1, whole) == (found.ok, len(opened), tree(shop.project))
    assert ("ocr: its copy in the store was damaged; fetched again",) == found.notes
    assert sound == tree(shop.data / "store/blobs")


def test_a_damaged_file_that_no_source_has_any_more_keeps_nobody_from_the_others(
    shop: Shop,
) -> None:
    repository = stocked(shop)
    damage(shop, "\nocr\n")
    shutil.rmtree(shop.project / ".agents")
    shutil.rmtree(shop.data / "cache")
    shutil.rmtree(repository.path)

    with shop.open() as m:
        found = m.sync()

    assert ({"pdf", "xml", "csv"}, False) == (
        set(os.listdir(shop.project / ".agents/skills")),
        found.ok,
    )
    assert 1 == len(found.drift)
    assert found.drift[0].startswith("ocr: not restored: its copy in the store is damaged")
    assert "metier sync" not in found.drift[0]  # that is what was just done


def test_what_is_in_place_mends_the_store(shop: Shop, opened: list[Request]) -> None:
    stocked(shop)
    sound = tree(shop.data / "store/blobs")
    damage(shop, "\nocr\n")
    opened.clear()

    with shop.open() as m:
        found = m.sync()

    assert (True, (), 0) == (found.ok, found.changed, len(opened))
    assert ("ocr: its copy in the store was damaged; repaired",) == found.notes
    assert sound == tree(shop.data / "store/blobs")


def test_edits_that_are_damaged_are_told_apart_from_edits_that_never_came_here(
    shop: Shop,
) -> None:
    stocked(shop)
    shop.working("ocr", "SKILL.md").write_text(document("ocr", "my own words\n"))
    with shop.open() as m:
        m.sync()
    damage(shop, "\nmy own words\n")
    shutil.rmtree(shop.project / ".agents")

    with shop.open() as m:
        found = m.sync()

    assert {"pdf", "xml", "csv"} == set(os.listdir(shop.project / ".agents/skills"))
    assert "the copy with its edits is damaged in the store" in found.drift[0]
    assert "metier remove ocr" in found.drift[0]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note every folder that is made."""
    real = OsDiskCalls.make
    found: list[str] = []

    def noted(self: OsDiskCalls, folder: str, mode: int = 0o700) -> None:
        found.append(folder)
        real(self, folder, mode)

    monkeypatch.setattr(OsDiskCalls, "make", noted)
    return found


def rigged(shop: Shop, files: dict[str, str]) -> dict[str, object]:
    """Install a skill, and take it and the store away; give what was there."""
    repository = Repository(shop.base / "upstream")
    repository.commit({f"skills/pdf/{path}": text for path, text in files.items()})
    with shop.open() as m:
        m.add(f"git+{repository.address}#main", all=True)
    whole = tree(shop.project)
    shutil.rmtree(shop.project / ".agents")
    shutil.rmtree(shop.data / "store")
    return whole


FILES = {
    "SKILL.md": document("pdf"),
    "scripts/run.sh": "echo done\n",
    "references/a/b.md": "Text.\n",
}


def test_what_was_judged_before_is_fetched_without_making_its_folders_twice(
    shop: Shop, made: list[str]
) -> None:
    whole = rigged(shop, FILES)
    made.clear()

    with shop.open() as m:
        found = m.sync(frozen=True)

    assert (True, whole) == (found.ok, tree(shop.project))
    assert 1 == len([one for one in made if "/staging/" in one])  # the desk's own
    assert [".lock"] == os.listdir(shop.data / "staging")


def test_what_nobody_has_judged_yet_is_scanned_as_it_will_lie(shop: Shop, made: list[str]) -> None:
    whole = rigged(shop, FILES)
    shutil.rmtree(shop.data)  # as on another machine
    made.clear()

    with shop.open() as m:
        found = m.sync(frozen=True)

    assert (True, whole) == (found.ok, tree(shop.project))
    assert "scripts" in {path.rpartition("/")[2] for path in made if "/staging/" in path}


def test_a_known_verdict_lets_in_no_other_bytes(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    rigged(shop, FILES)
    real = GitTree.contents

    def swapped(self: GitTree, items: Sequence[Item]) -> Contents:
        for item, chunks in real(self, items):
            yield item, (chunk.swapcase() for chunk in chunks)

    monkeypatch.setattr(GitTree, "contents", swapped)
    with shop.open() as m:
        found = m.sync(frozen=True)

    assert not found.ok
    assert found.drift[0].startswith("pdf: not restored: digest: ")
    assert [] == list((shop.data / "store").glob("blobs/*/*"))
    assert not (shop.project / ".agents").exists()


def test_what_was_blocked_since_is_not_fetched_again(shop: Shop) -> None:
    rigged(shop, FILES)
    with shop.open() as m:
        m.sync()
        m.trust("pdf", "block")
    shutil.rmtree(shop.project / ".agents")
    shutil.rmtree(shop.data / "store")

    with shop.open() as m:
        found = m.sync(frozen=True)

    assert not found.ok
    assert found.drift[0].startswith("pdf: not restored: ")
    assert not (shop.project / ".agents").exists()
