"""The index: after any change at all it gives what a fresh look gives, and reads only what changed."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from doors.command import run

import metier

if TYPE_CHECKING:
    from conftest import Home

    from metier.library import Library

SETTLED = 0.12
"""Seconds after which a stat is beyond doubt; fresher files are read again, which is right but hides what is tested."""


class Shelf(NamedTuple):
    """A library of skills of every kind, and the home whose index knows it."""

    root: Path
    home: Home

    def open(self, name: str = "") -> Library:
        """Open it with the index, or with one of another name that is still empty."""
        place = str(self.root.parent / f"fresh-{name}") if name else None
        return metier.open(roots=[str(self.root)], env=self.home.env, home=place)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def document(name: str, description: str = "Does one thing.") -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\n\nBody.\n"


def answer(library: Library) -> tuple[object, ...]:
    """Give all that a listing can say."""
    with library:
        found = library.context.catalogue.contents()
        return (
            found.cards,
            library.problems(),
            found.truncated,
            library.categories(),
            json.loads(library.listing()),
        )


@pytest.fixture
def shelf(tmp_path: Path, home: Home) -> Shelf:
    root = tmp_path / "root"
    for name in ("alpha", "beta", "group/gamma", "group/delta"):
        write(root / name / "SKILL.md", document(Path(name).name))
    write(root / "group" / "DESCRIPTION.md", "---\ndescription: A group.\n---\n")
    write(root / "rich" / "SKILL.md", document("rich"))
    write(root / "rich" / "agents" / "openai.yaml", "interface:\n  display_name: Rich\n")
    write(root / "rich" / "references" / "guide.md", "the guide")
    write(root / "flat.md", document("flat"))
    write(root / "tool.py", "SKILL_NAME = 'tool'\ndef run(task): ...\n")
    write(root / "plug" / ".claude-plugin" / "plugin.json", '{"name": "plug"}')
    write(root / "plug" / "skills" / "inner" / "SKILL.md", document("inner"))
    write(root / "broken" / "SKILL.md", "---\nname: broken\n\tdescription: x\n---\n")
    write(root / "empty" / "notes.txt", "nothing")
    time.sleep(SETTLED)
    shelf = Shelf(root, home)
    answer(shelf.open())
    return shelf


def test_nothing_is_read_when_nothing_has_changed(shelf: Shelf) -> None:
    first, second = shelf.open(), shelf.open()

    assert answer(first) == answer(second) == answer(shelf.open("other"))
    assert (0, 0) == (first.context.catalogue.last_reads, second.context.catalogue.last_reads)


# --- every change: the same answer as without an index, and only what changed is read


def edited(root: Path) -> None:
    write(root / "alpha" / "SKILL.md", document("alpha", "Does something else."))


def edited_to_the_same_size(root: Path) -> None:
    write(root / "alpha" / "SKILL.md", document("alpha", "Does two thing."))


def edited_with_size_and_time_restored(root: Path) -> None:
    path = root / "alpha" / "SKILL.md"
    before = path.stat()
    write(path, document("alpha", "Does two thing."))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (before.st_size, before.st_mtime_ns, before.st_ino) == (
        path.stat().st_size,
        path.stat().st_mtime_ns,
        path.stat().st_ino,
    )


def edited_with_all_times_in_whole_seconds(root: Path) -> None:
    path = root / "alpha" / "SKILL.md"
    os.utime(path, (1_600_000_000, 1_600_000_000))
    write(path, document("alpha", "Does two thing."))
    os.utime(path, (1_600_000_000, 1_600_000_000))


def replaced_by_renaming(root: Path) -> None:
    path = root / "alpha" / "SKILL.md"
    before = path.stat()
    other = write(root / "alpha" / ".SKILL.md.new", document("alpha", "Does two thing."))
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(path)


def touched(root: Path) -> None:
    os.utime(root / "alpha" / "SKILL.md")


def made_unwritable(root: Path) -> None:
    (root / "alpha" / "SKILL.md").chmod(0o400)


def made_executable(root: Path) -> None:
    (root / "alpha" / "SKILL.md").chmod(0o755)


def added(root: Path) -> None:
    write(root / "newcomer" / "SKILL.md", document("newcomer"))


def added_in_a_group(root: Path) -> None:
    write(root / "group" / "newcomer" / "SKILL.md", document("newcomer"))


def added_in_an_empty_folder(root: Path) -> None:
    write(root / "empty" / "SKILL.md", document("empty"))


def added_inside_a_skill(root: Path) -> None:
    write(root / "alpha" / "nested" / "SKILL.md", document("nested"))


def added_deep_inside_a_skill(root: Path) -> None:
    write(root / "rich" / "more" / "nested" / "SKILL.md", document("nested"))


def added_among_support_files(root: Path) -> None:
    write(root / "rich" / "references" / "not-a-skill" / "SKILL.md", document("not-a-skill"))


def added_of_a_taken_name(root: Path) -> None:
    write(root / "aaa" / "SKILL.md", document("alpha"))


def added_flat(root: Path) -> None:
    write(root / "group" / "newcomer.md", document("newcomer"))


def deleted(root: Path) -> None:
    shutil.rmtree(root / "alpha")


def file_deleted(root: Path) -> None:
    (root / "alpha" / "SKILL.md").unlink()


def flat_deleted(root: Path) -> None:
    (root / "flat.md").unlink()


def moved(root: Path) -> None:
    (root / "alpha").rename(root / "group" / "alpha")


def folder_renamed(root: Path) -> None:
    (root / "alpha").rename(root / "omega")


def group_renamed(root: Path) -> None:
    (root / "group").rename(root / "crowd")


def two_swapped(root: Path) -> None:
    (root / "alpha").rename(root / "tmp")
    (root / "beta").rename(root / "alpha")
    (root / "tmp").rename(root / "beta")


def two_files_swapped(root: Path) -> None:
    (root / "alpha" / "SKILL.md").rename(root / "x")
    (root / "beta" / "SKILL.md").rename(root / "alpha" / "SKILL.md")
    (root / "x").rename(root / "beta" / "SKILL.md")


def spelt_small(root: Path) -> None:
    (root / "alpha" / "SKILL.md").rename(root / "alpha" / "skill.md")


def sidecar_added(root: Path) -> None:
    write(
        root / "alpha" / "agents" / "openai.yaml", "policy:\n  allow_implicit_invocation: false\n"
    )


def sidecar_added_to_a_folder_that_was_there(root: Path) -> None:
    (root / "rich" / "agents" / "openai.yaml").unlink()
    answer(Shelf(root, _home_of(root)).open())
    write(root / "rich" / "agents" / "openai.yaml", "policy:\n  allow_implicit_invocation: false\n")


def sidecar_edited(root: Path) -> None:
    write(root / "rich" / "agents" / "openai.yaml", "policy:\n  allow_implicit_invocation: false\n")


def sidecar_removed(root: Path) -> None:
    (root / "rich" / "agents" / "openai.yaml").unlink()


def sidecar_folder_removed(root: Path) -> None:
    shutil.rmtree(root / "rich" / "agents")


def manifest_added(root: Path) -> None:
    write(root / "group" / ".codex-plugin" / "plugin.json", '{"name": "grouped"}')


def manifest_added_beside_another(root: Path) -> None:
    write(root / "plug" / ".codex-plugin" / "plugin.json", '{"name": "stronger"}')


def manifest_added_to_a_skill_without_folders(root: Path) -> None:
    write(
        root / "alpha" / "plugin.json",
        '{"$schema": "https://agent-plugins.org/x", "name": "single"}',
    )


def manifest_edited(root: Path) -> None:
    write(root / "plug" / ".claude-plugin" / "plugin.json", '{"name": "gulp"}')


def manifest_removed(root: Path) -> None:
    (root / "plug" / ".claude-plugin" / "plugin.json").unlink()


def manifest_broken(root: Path) -> None:
    write(root / "plug" / ".claude-plugin" / "plugin.json", "{")


def category_edited(root: Path) -> None:
    write(root / "group" / "DESCRIPTION.md", "---\ndescription: A crowd.\n---\n")


def category_removed(root: Path) -> None:
    (root / "group" / "DESCRIPTION.md").unlink()


def category_added(root: Path) -> None:
    write(root / "empty" / "DESCRIPTION.md", "---\ndescription: Not empty.\n---\n")
    write(root / "empty" / "member" / "SKILL.md", document("member"))


def link_added(root: Path) -> None:
    write(root.parent / "outside" / "far" / "SKILL.md", document("far"))
    (root / "link").symlink_to(root.parent / "outside")


def link_added_inside_a_skill_without_folders(root: Path) -> None:
    write(root.parent / "outside" / "far" / "SKILL.md", document("far"))
    (root / "alpha" / "link").symlink_to(root.parent / "outside")


def repaired(root: Path) -> None:
    write(root / "broken" / "SKILL.md", document("broken"))


def broken(root: Path) -> None:
    write(root / "alpha" / "SKILL.md", "---\nname: broken\n\tdescription: x\n---\n")


def support_file_edited(root: Path) -> None:
    write(root / "rich" / "references" / "guide.md", "another guide")


def code_edited(root: Path) -> None:
    write(root / "tool.py", "SKILL_NAME = 'loot'\ndef run(task): ...\n")


def odd_name_added(root: Path) -> None:
    os.mkdir(os.fsencode(root) + b"/caf\xe9")


def odd_name_added_inside_a_skill_without_folders(root: Path) -> None:
    os.close(os.open(os.fsencode(root / "alpha") + b"/caf\xe9", os.O_CREAT | os.O_WRONLY))


def became_a_pipe(root: Path) -> None:
    (root / "alpha" / "SKILL.md").unlink()
    os.mkfifo(root / "alpha" / "SKILL.md")


def became_a_link(root: Path) -> None:
    (root / "alpha" / "SKILL.md").rename(root / "alpha" / "real.md")
    (root / "alpha" / "SKILL.md").symlink_to("real.md")


CHANGES: dict[Callable[[Path], None], int] = {
    edited: 1,
    edited_to_the_same_size: 1,
    edited_with_size_and_time_restored: 1,
    edited_with_all_times_in_whole_seconds: 1,
    replaced_by_renaming: 1,
    touched: 1,
    made_unwritable: 1,
    made_executable: 1,
    added: 1,
    added_in_a_group: 1,
    added_in_an_empty_folder: 1,
    added_inside_a_skill: 1,
    added_deep_inside_a_skill: 1,
    added_among_support_files: 0,
    added_of_a_taken_name: 1,
    added_flat: 1,
    deleted: 0,
    file_deleted: 0,
    flat_deleted: 0,
    moved: 1,
    folder_renamed: 1,
    group_renamed: 3,
    two_swapped: 2,
    two_files_swapped: 2,
    spelt_small: 1,
    sidecar_added: 2,
    sidecar_added_to_a_folder_that_was_there: 2,
    sidecar_edited: 2,
    sidecar_removed: 1,
    sidecar_folder_removed: 1,
    manifest_added: 3,
    manifest_added_beside_another: 2,
    manifest_added_to_a_skill_without_folders: 2,
    manifest_edited: 2,
    manifest_removed: 1,
    manifest_broken: 2,
    category_edited: 1,
    category_removed: 0,
    category_added: 2,
    link_added: 1,
    link_added_inside_a_skill_without_folders: 1,
    repaired: 1,
    broken: 1,
    support_file_edited: 0,
    code_edited: 1,
    odd_name_added: 0,
    odd_name_added_inside_a_skill_without_folders: 0,
    became_a_pipe: 0,
    became_a_link: 0,
}
"""Each change, and how many files at most must be opened for it: the file itself, and those whose meaning it changes."""


def _home_of(root: Path) -> Home:
    from conftest import Home

    env = {
        "HOME": str(root.parent / "home"),
        "METIER_SCAN_MODEL": "off",
        "METIER_BACKGROUND": "off",
        "METIER_HOME": str(root.parent / "metier-home"),
        "PATH": os.environ.get("PATH", os.defpath),
    }
    return Home(root.parent / "home", env)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_after_a_change_the_index_tells_what_a_fresh_look_tells_and_reads_no_more_than_it_must(
    change: Callable[[Path], None], shelf: Shelf
) -> None:
    change(shelf.root)

    warm = shelf.open()
    actual = answer(warm)
    assert answer(shelf.open("at-once")) == actual
    assert warm.context.catalogue.last_reads <= CHANGES[change]

    # And once more when every stat has settled: now the index alone answers.
    time.sleep(SETTLED)
    answer(shelf.open())
    settled = shelf.open()
    assert answer(shelf.open("later")) == answer(settled)
    assert settled.context.catalogue.last_reads <= (
        1 if change is edited_with_all_times_in_whole_seconds else 0
    )


def test_a_change_right_after_a_listing_is_never_missed(shelf: Shelf) -> None:
    path = shelf.root / "alpha" / "SKILL.md"
    stat = path.stat()

    for number in range(40):
        text = document("alpha", f"Version {number:04}.")
        path.write_text(text)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        with shelf.open() as library:
            assert f"Version {number:04}." == library.resolve("alpha").description


def test_a_skill_added_right_after_a_listing_is_never_missed(shelf: Shelf) -> None:
    for number in range(40):
        write(shelf.root / f"new-{number}" / "SKILL.md", document(f"new-{number}"))
        with shelf.open() as library:
            assert f"new-{number}" in {card.name for card in library.skills()}


def test_one_changed_skill_among_many_costs_one_read(tmp_path: Path, home: Home) -> None:
    for number in range(300):
        write(tmp_path / "root" / f"skill-{number}" / "SKILL.md", document(f"skill-{number}"))
    time.sleep(SETTLED)
    shelf = Shelf(tmp_path / "root", home)
    cold = shelf.open()
    answer(cold)

    write(tmp_path / "root" / "skill-7" / "SKILL.md", document("skill-7", "Changed."))
    warm = shelf.open()

    assert answer(shelf.open("other")) == answer(warm)
    assert (300, 1) == (cold.context.catalogue.last_reads, warm.context.catalogue.last_reads)


def test_reload_tells_what_was_added_changed_and_removed(shelf: Shelf) -> None:
    with shelf.open() as library:
        count = len(library.skills(all=True))
        edited(shelf.root)
        added(shelf.root)
        flat_deleted(shelf.root)

        change = library.reload()
        again = library.reload()

        root = str(shelf.root)
        assert (
            (f"{root}/newcomer",),
            (f"{root}/alpha",),
            (f"{root}/flat.md",),
            count - 2,
        ) == change
        assert ((), (), (), count) == again
        assert "Does something else." == library.resolve("alpha").description


def test_reload_notices_an_edit_that_leaves_the_card_as_it_was(shelf: Shelf) -> None:
    with shelf.open() as library:
        library.skills()
        write(shelf.root / "alpha" / "SKILL.md", document("alpha") + "More body.\n")
        write(
            shelf.root / "rich" / "agents" / "openai.yaml", "interface:\n  display_name: Richer\n"
        )
        write(shelf.root / "flat.md", document("flat") + "More body.\n")

        change = library.reload()

        assert (
            f"{shelf.root}/alpha",
            f"{shelf.root}/flat.md",
            f"{shelf.root}/rich",
        ) == change.changed


# --- the fingerprint


FINGERPRINTED = (
    edited,
    edited_with_size_and_time_restored,
    support_file_edited,
    added,
    deleted,
    moved,
    sidecar_edited,
    code_edited,
    made_executable,
    added_among_support_files,
)


@pytest.mark.parametrize("change", FINGERPRINTED, ids=lambda change: change.__name__)
def test_the_fingerprint_changes_with_any_file_of_any_skill(
    change: Callable[[Path], None], shelf: Shelf
) -> None:  # ZE-7
    before = shelf.open().fingerprint()

    change(shelf.root)

    assert before != shelf.open().fingerprint()


def test_the_fingerprint_is_the_same_for_every_index(shelf: Shelf) -> None:  # ZE-7
    assert (
        shelf.open().fingerprint()
        == shelf.open().fingerprint()
        == shelf.open("other").fingerprint()
    )


# --- an index that was spoilt


def index_files(shelf: Shelf) -> list[Path]:
    return sorted(
        path
        for path in Path(shelf.home.env["METIER_HOME"]).rglob("*")
        if path.is_file() and not path.name.startswith("state.db")
    )


SPOILS: dict[str, Callable[[bytes], bytes]] = {
    "emptied": lambda _data: b"",
    "truncated": lambda data: data[: len(data) // 2],
    "one byte short": lambda data: data[:-1],
    "one byte long": lambda data: data + b"x",
    "only its head": lambda data: data[:32],
    "noise": lambda data: os.urandom(len(data)),
    "noise after its head": lambda data: data[:32] + os.urandom(len(data)),
    "zeroes": lambda data: bytes(len(data)),
    "text": lambda _data: b"hello\n",
}


@pytest.mark.parametrize("spoil", SPOILS.values(), ids=SPOILS)
def test_a_spoilt_index_is_made_again_without_a_word(
    spoil: Callable[[bytes], bytes], shelf: Shelf
) -> None:
    expected = answer(shelf.open("other"))
    for path in index_files(shelf):
        path.write_bytes(spoil(path.read_bytes()))

    said = run(shelf.home.env, "list", "--json", "--root", str(shelf.root))

    assert (0, "", expected[-1]) == (said.code, said.err, said.json)
    assert expected == answer(shelf.open())
    mended = shelf.open()
    assert expected == answer(mended)
    assert 0 == mended.context.catalogue.last_reads


def test_each_file_of_the_index_may_be_spoilt_or_missing_by_itself(shelf: Shelf) -> None:
    expected = answer(shelf.open("other"))
    assert index_files(shelf)

    for path in index_files(shelf):
        good = path.read_bytes()
        for bad in (b"", good[: len(good) // 2], os.urandom(len(good)), None):
            path.unlink(missing_ok=True)
            if bad is not None:
                path.write_bytes(bad)
            assert expected == answer(shelf.open()), path.name


def test_no_flipped_byte_in_the_index_changes_an_answer(tmp_path: Path, home: Home) -> None:
    write(tmp_path / "root" / "alpha" / "SKILL.md", document("alpha"))
    time.sleep(SETTLED)
    shelf = Shelf(tmp_path / "root", home)
    expected = answer(shelf.open())
    answer(shelf.open())

    for path in index_files(shelf):
        good = path.read_bytes()
        for at in range(0, len(good), 1 if len(good) < 400 else 3):
            for other in {good[at] ^ 1, good[at] ^ 0x80}:
                path.write_bytes(good[:at] + bytes([other]) + good[at + 1 :])
                assert expected == answer(shelf.open()), (path.name, at)


def test_files_of_the_index_may_be_swapped(shelf: Shelf) -> None:
    expected = answer(shelf.open("other"))
    paths = index_files(shelf)
    texts = [path.read_bytes() for path in paths]

    for path, text in zip(paths, texts[1:] + texts[:1], strict=True):
        path.write_bytes(text)

    assert expected == answer(shelf.open())


def test_an_index_of_another_edition_is_left_alone(shelf: Shelf, tmp_path: Path) -> None:
    expected = answer(shelf.open("other"))
    folder = index_files(shelf)[0].parent
    (folder / "0123456789abcdef.watch").write_bytes(b"METIERIX of another kind")
    (folder / "unknown").mkdir()

    assert expected == answer(shelf.open())
    assert tmp_path.exists()


def test_digests_survive_a_spoilt_book(shelf: Shelf) -> None:
    with shelf.open() as library:
        expected = {card.path: card.digest for card in library.skills(all=True, digests=True)}
    book = Path(shelf.home.env["METIER_HOME"]) / "state.db"
    assert book.is_file()

    for text in (b"", b"noise" * 1_000, b"SQLite format 3\0" + b"\xff" * 5_000, bytes(5_000)):
        for name in ("state.db", "state.db-wal", "state.db-shm"):
            (book.parent / name).unlink(missing_ok=True)
        book.write_bytes(text)
        said = run(
            shelf.home.env, "list", "--all", "--digests", "--json", "--root", str(shelf.root)
        )
        assert (0, "") == (said.code, said.err)
        assert expected == {row["path"]: row["digest"] for row in said.json["skills"]}


# --- an index that cannot be kept


def left_behind(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*.tmp")] if folder.is_dir() else []


def assert_listed_with_one_warning(said: object, shelf: Shelf) -> None:
    from doors.command import Answer

    assert isinstance(said, Answer)
    assert "Traceback" not in said.err, said.err
    assert (0, answer(shelf.open("other"))[-1]) == (said.code, said.json)
    (line,) = said.err.splitlines()
    assert line.startswith("warning: ")
    assert "cannot write the index" in line


@pytest.mark.parametrize(
    "words", [("list", "--json"), ("list", "--all", "--json"), ("list", "--digests", "--json")]
)
def test_a_read_only_home_costs_one_warning(
    words: tuple[str, ...], shelf: Shelf, tmp_path: Path
) -> None:
    home = tmp_path / "read-only"
    home.mkdir(mode=0o500)

    said = run(
        {**shelf.home.env, "METIER_HOME": str(home)},
        *words,
        "--root",
        str(shelf.root),
        powerless=True,
    )

    assert "Traceback" not in said.err
    assert (0, 1) == (said.code, len(said.err.splitlines()))
    assert said.err.startswith("warning: cannot write the index")
    assert said.json["skills"]
    assert [] == list(home.iterdir())


def test_an_index_that_became_read_only_still_answers_and_is_still_right(shelf: Shelf) -> None:
    index = Path(shelf.home.env["METIER_HOME"]) / "index"
    index.chmod(0o500)
    quiet = run(shelf.home.env, "list", "--json", "--root", str(shelf.root), powerless=True)

    edited(shelf.root)
    loud = run(shelf.home.env, "list", "--json", "--root", str(shelf.root), powerless=True)
    index.chmod(0o700)

    assert (0, "") == (quiet.code, quiet.err)
    assert_listed_with_one_warning(loud, shelf)
    assert [] == left_behind(index)


def test_a_home_that_is_a_file_may_hide_a_block_so_nothing_is_offered(
    shelf: Shelf, tmp_path: Path
) -> None:
    home = write(tmp_path / "a-file", "not a folder\n")

    said = run(
        {**shelf.home.env, "METIER_HOME": str(home)}, "list", "--json", "--root", str(shelf.root)
    )

    assert (0, []) == (said.code, said.json["skills"])
    assert "metier trust repair" in said.err
    assert "not a folder\n" == home.read_text()


@pytest.mark.parametrize("room", [0, 1, 100, 700])
def test_a_full_disk_costs_one_warning_and_leaves_nothing_half_written(
    room: int, shelf: Shelf, tmp_path: Path
) -> None:
    home = tmp_path / "full"
    env = {**shelf.home.env, "METIER_HOME": str(home)}

    said = run(env, "list", "--json", "--root", str(shelf.root), file_size=room)

    assert_listed_with_one_warning(said, shelf)
    assert [] == left_behind(home)
    later = run(env, "list", "--json", "--root", str(shelf.root))
    assert (0, "", said.json) == (later.code, later.err, later.json)


@pytest.mark.parametrize("words", [("list", "--digests"), ("show", "alpha")])
def test_a_full_disk_spoils_no_digest(words: tuple[str, ...], shelf: Shelf, tmp_path: Path) -> None:
    env = {**shelf.home.env, "METIER_HOME": str(tmp_path / "full")}

    said = run(env, *words, "--json", "--root", str(shelf.root), file_size=512)

    assert 0 == said.code, said.err
    expected = run(shelf.home.env, *words, "--json", "--root", str(shelf.root))
    assert expected.json == said.json
