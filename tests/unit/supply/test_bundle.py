"""Skills that come with a host: what is installed, refreshed, and left alone."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from conftest import Home

import metier
from metier.library import Library
from metier.supply.bundle import BundledSkill, install_bundled


class Host:
    """A program that ships skills in a folder, and a user who has a home."""

    def __init__(self, home: Home, folder: Path) -> None:
        self.home, self.folder = home, folder
        folder.mkdir()
        self.skills = Path(home.path) / ".agents/skills"

    def ships(self, name: str, body: str = "Do it.", **files: str) -> None:
        target = self.folder / name
        target.mkdir(exist_ok=True)
        (target / "SKILL.md").write_text(
            f"---\nname: {name}\ndescription: Does {name} well.\n---\n{body}\n"
        )
        for file, text in files.items():
            (target / file.replace("__", ".")).write_text(text)

    def library(self, **env: str) -> Library:
        return metier.open(env={**self.home.env, **env}, cwd=self.home.path)

    def start(
        self, *names: str, optional: bool = False, folder: Path | None = None, **env: str
    ) -> dict[str, str]:
        return {
            one.name: one.state
            for one in self.told(*names, optional=optional, folder=folder, **env)
        }

    def told(
        self, *names: str, optional: bool = False, folder: Path | None = None, **env: str
    ) -> list[BundledSkill]:
        with self.library(**env) as library:
            return install_bundled(
                library.context,
                str(folder or self.folder),
                optional=optional,
                user=True,
                names=names,
            )

    def text(self, name: str) -> str:
        return (self.skills / name / "SKILL.md").read_text()

    def edit(self, name: str) -> str:
        (self.skills / name / "SKILL.md").write_text(self.text(name) + "My own line.\n")
        return self.text(name)


@pytest.fixture
def host(home: Home, tmp_path: Path) -> Host:
    made = Host(home, tmp_path / "shipped")
    made.ships("pdf")
    made.ships("docx")
    return made


def everything(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in sorted(folder.rglob("*"))}


# HE-46, ZE-39
def test_what_is_new_is_installed(host: Host) -> None:
    found = host.start()

    assert {"pdf": "installed", "docx": "installed"} == found
    assert "Do it." in host.text("pdf")


# CX-35
def test_what_is_shipped_as_before_is_not_written_again(host: Host) -> None:
    host.start()
    before = everything(Path(host.home.path))

    found = host.start()

    assert {"pdf": "unchanged", "docx": "unchanged"} == found
    assert before == everything(Path(host.home.path))


# HE-46, ZE-39
@pytest.mark.parametrize("body", ["A newer way.", "An older way."])
def test_an_unedited_copy_follows_the_host_up_and_down(host: Host, body: str) -> None:
    host.start()
    host.ships("pdf", body)

    found = host.start()

    assert {"pdf": "updated", "docx": "unchanged"} == found
    assert body in host.text("pdf")


# HE-46, ZE-39: there the newer version replaced local edits
@pytest.mark.parametrize("body", ["Do it.", "A newer way."])
def test_an_edited_copy_is_kept_whatever_the_host_ships(host: Host, body: str) -> None:
    host.start()
    mine = host.edit("pdf")
    host.ships("pdf", body)

    found = [host.start()["pdf"] for _again in range(2)]

    assert ["kept", "kept"] == found
    assert mine == host.text("pdf")


# HE-46
def test_a_copy_that_the_user_deleted_by_hand_stays_deleted(host: Host) -> None:
    host.start()
    shutil.rmtree(host.skills / "pdf")
    host.ships("pdf", "A newer way.")

    found = [host.start()["pdf"] for _again in range(2)]

    assert ["deleted", "deleted"] == found
    assert not (host.skills / "pdf").exists()


# HE-46
def test_a_copy_that_was_removed_stays_deleted(host: Host) -> None:
    host.start()
    with host.library() as library:
        library.remove("pdf", user=True)

    found = host.start()

    assert {"pdf": "deleted", "docx": "unchanged"} == found
    assert not (host.skills / "pdf").exists()


def test_a_deleted_one_comes_back_when_it_is_asked_for_by_name(host: Host) -> None:
    host.start()
    shutil.rmtree(host.skills / "pdf")
    host.start()

    found = [host.start("pdf")["pdf"], host.start()["pdf"]]

    assert ["installed", "unchanged"] == found


# HE-46
def test_what_the_host_no_longer_ships_is_dropped_and_the_copy_stays(host: Host) -> None:
    host.start()
    shutil.rmtree(host.folder / "pdf")

    found = [host.start(), host.start()]

    assert [{"docx": "unchanged", "pdf": "dropped"}, {"docx": "unchanged"}] == found
    assert (host.skills / "pdf/SKILL.md").exists()


# HE-46
def test_a_different_skill_of_the_same_name_is_kept_and_not_taken_for_the_host_s(
    host: Host,
) -> None:
    mine = host.skills / "pdf"
    mine.mkdir(parents=True)
    (mine / "SKILL.md").write_text("---\nname: pdf\ndescription: My own.\n---\n")

    found = [host.start()["pdf"], host.start()["pdf"]]

    assert ["foreign", "foreign"] == found
    assert "My own." in host.text("pdf")


def test_the_very_same_files_are_taken_for_the_host_s(host: Host) -> None:
    shutil.copytree(host.folder / "pdf", host.skills / "pdf")

    found = [host.start()["pdf"], host.start()["pdf"]]

    assert ["installed", "unchanged"] == found


def test_a_skill_from_another_source_is_left_alone(host: Host, tmp_path: Path) -> None:
    other = tmp_path / "other/pdf"
    other.mkdir(parents=True)
    (other / "SKILL.md").write_text("---\nname: pdf\ndescription: Another one.\n---\n")
    with host.library() as library:
        library.add(str(other), user=True)

    found = host.start()

    assert "foreign" == found["pdf"]
    assert "Another one." in host.text("pdf")


# ZE-39: there a marker in the copy decided whose it is
@pytest.mark.parametrize(
    "marker",
    ["__bundled", "__codex-system-skills__marker", "__manifest__json", "__bundled_manifest"],
)
def test_a_marker_inside_what_is_shipped_means_nothing(host: Host, marker: str) -> None:
    host.ships("pdf", **{marker: "v9"})
    host.start()
    host.edit("pdf")
    host.ships("pdf", "A newer way.", **{marker: "v1"})

    found = host.start()

    assert "kept" == found["pdf"]


# HE-8
def test_optional_skills_are_available_until_somebody_asks_for_one(host: Host) -> None:
    first = host.start(optional=True)
    host.start("pdf", optional=True)
    host.ships("pdf", "A newer way.")

    found = host.start(optional=True)

    assert {"pdf": "available", "docx": "available"} == first
    assert {"pdf": "updated", "docx": "available"} == found


# CX-36: there an earlier version deleted the copies
def test_switching_bundled_skills_off_deletes_nothing(host: Host, tmp_path: Path) -> None:
    host.start()
    config = tmp_path / "metier.toml"
    config.write_text("[supply]\nbundled = false\n")

    found = host.start(METIER_CONFIG=str(config))

    assert {} == found
    assert (host.skills / "pdf/SKILL.md").exists()


# ZE-39
def test_what_is_wrong_with_one_skill_is_told_and_the_rest_goes_on(host: Host) -> None:
    os.symlink("/etc/passwd", host.folder / "pdf/link")

    found = {one.name: one for one in host.told()}

    assert ("failed", "installed") == (found["pdf"].state, found["docx"].state)
    assert "unsafe-link" in found["pdf"].why
    assert not (host.skills / "pdf").exists()


def test_a_host_that_moved_keeps_its_skills(host: Host, tmp_path: Path) -> None:
    host.start()
    host.folder.rename(tmp_path / "shipped-2")

    found = [host.start(folder=tmp_path / "shipped-2"), host.start(folder=tmp_path / "shipped-2")]

    assert [
        {"pdf": "updated", "docx": "updated"},
        {"pdf": "unchanged", "docx": "unchanged"},
    ] == found


# HE-36
def test_what_a_host_ships_is_builtin_because_the_host_says_so(host: Host) -> None:
    host.start()

    with host.library() as library:
        found = library.trust("pdf")

    assert "builtin" == found.level
