"""METIER_HOME is for its owner alone, whatever the umask and whatever was there before."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from doors.command import environment
from fakes.repositories import Repository
from fakes.shop import Shop

from metier.store.io.disk_calls import OsDiskCalls

SKILL = (
    "---\nname: {name}\ndescription: Counts words. Use it to count words.\n---\n\nCount {name}.\n"
)

# One process with a loose umask, as on most machines; many commands, each as a user types it.
_MANY = """
import os, sys
os.umask(0o022)
from metier.cli.main import main
for words in sys.argv[1].split(";"):
    code = main(words.split())
    print(words, code, file=sys.stderr)
import metier
text = "---\\nname: {0}\\ndescription: Counts. Use it to count.\\n---\\n\\nCount.\\n"
with metier.open() as m:
    m.manage("create", "gone", content=text.format("gone"))
    m.manage("write_file", "gone", file="references/a.md", content="A.")
    m.manage("remove_file", "gone", file="references/a.md")
    m.manage("delete", "gone")
"""

COMMANDS = (
    "list",
    "list --json",
    "add ../shelf/pdf --yes",
    "add ../shelf/ocr --user --yes",
    "add file://{base}/repository --skill far --yes",
    "show pdf",
    "find words",
    "find --index",
    "prompt",
    "expand /pdf",
    "scan ../shelf",
    "trust approve pdf --yes --reason read",
    "trust block ocr",
    "trust unblock ocr --yes",
    "trust approve ocr --yes",
    "trust project . --yes",
    "trust keys new",
    "trust sign pdf",
    "secrets set NAME_OF_MINE",
    "history pdf",
    "new mine",
    "update --check",
    "outdated",
    "usage",
    "tap list",
    "pack ../shelf/pdf",
    "plugin enable ../plugin --yes",
    "plugin list",
    "review list",
    "run pdf scripts/go.py --yes",
    "remove pdf --yes",
    "gc",
    "remove ocr --user --yes",
    "plugin disable kit --yes",
    "doctor",
)


def loose(home: Path) -> list[str]:
    """Give everything below a folder that others may read or enter."""
    found = []
    for folder, folders, files in os.walk(home):
        for name in ("", *folders, *files):
            path = Path(folder, name) if name else Path(folder)
            mode = path.lstat().st_mode
            if not stat.S_ISLNK(mode) and stat.S_IMODE(mode) & 0o077:
                found.append(f"{path.relative_to(home)} {stat.S_IMODE(mode):o}")
    return sorted(set(found))


def prepare(shop: Shop) -> None:
    for name in ("pdf", "ocr"):
        shop.offer(name, files={"scripts/go.py": "print(1)\n", "bin/run.sh": "echo\n"})
        (shop.shelf / name / "bin/run.sh").chmod(0o755)
    far = Repository(shop.base / "repository")
    far.commit({"far/SKILL.md": SKILL.format(name="far")})
    plugin = shop.base / "plugin"
    for path, text in {
        ".claude-plugin/plugin.json": '{"name": "kit", "version": "1.0.0"}',
        "skills/one/SKILL.md": SKILL.format(name="one"),
    }.items():
        (plugin / path).parent.mkdir(parents=True, exist_ok=True)
        (plugin / path).write_text(text)


def run_all(shop: Shop) -> str:
    done = subprocess.run(
        [sys.executable, "-c", _MANY, ";".join(COMMANDS).format(base=shop.base)],
        env=environment(shop.env),
        cwd=shop.project,
        capture_output=True,
        check=False,
        input=b"a value\n",
    )
    assert 0 == done.returncode, done.stderr.decode()
    return done.stderr.decode()


@pytest.mark.parametrize("existed", [False, True])
def test_everything_that_metier_keeps_is_for_its_owner_alone(tmp_path: Path, existed: bool) -> None:
    shop = Shop(tmp_path)
    prepare(shop)
    if existed:
        for name in ("", "index", "store", "store/blobs"):
            (shop.data / name).mkdir()
            (shop.data / name).chmod(0o755)
        for name in ("state.db", "store/blobs/old", "usage.db-wal", "audit.key"):
            (shop.data / name).touch()
            (shop.data / name).chmod(0o644)
        (shop.data / "audit.key").unlink()
        (shop.data / "store/blobs/tool").touch()
        (shop.data / "store/blobs/tool").chmod(0o755)

    run_all(shop)

    assert [] == loose(shop.data)
    assert (shop.data / "audit").is_dir()
    if existed:
        assert 0o700 == stat.S_IMODE((shop.data / "store/blobs/tool").stat().st_mode)


def test_a_working_copy_has_the_modes_that_others_need(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    prepare(shop)
    before = os.umask(0o022)
    try:
        with shop.open() as m:
            m.add("../shelf/pdf")
    finally:
        os.umask(before)

    modes = {
        path: stat.S_IMODE(shop.working("pdf", path).stat().st_mode)
        for path in ("SKILL.md", "bin", "bin/run.sh")
    }

    assert {"SKILL.md": 0o644, "bin": 0o755, "bin/run.sh": 0o755} == modes


@pytest.mark.parametrize(("mode", "name"), [(0o755, "home"), (0o755, ""), (0o1777, "shared")])
def test_a_folder_that_is_more_than_metier_s_is_left_as_it_is(
    tmp_path: Path, mode: int, name: str
) -> None:
    shop = Shop(tmp_path)
    data = tmp_path / name
    data.mkdir(exist_ok=True)
    (data / "index").mkdir()
    (data / "index").chmod(0o755)
    data.chmod(mode)

    with shop.open(METIER_HOME=str(data)) as m:
        m.skills()
        m.audit_tail(1)

    assert (mode, 0o755) == tuple(
        stat.S_IMODE(path.stat().st_mode) for path in (data, data / "index")
    )


def test_what_others_put_into_metier_s_folder_is_left_as_it_is(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.data.mkdir(mode=0o755)
    shop.data.chmod(0o755)
    (shop.data / "notes.txt").touch()
    (shop.data / "notes.txt").chmod(0o644)
    (shop.data / "keys").symlink_to(shop.home)
    shop.home.chmod(0o755)

    with shop.open() as m:
        m.skills()

    assert [0o700, 0o644, 0o755] == [
        stat.S_IMODE(path.stat().st_mode)
        for path in (shop.data, shop.data / "notes.txt", shop.home)
    ]


@pytest.mark.parametrize("umask", [0o777, 0o277, 0])
def test_no_umask_shuts_metier_s_folder_to_its_owner_or_opens_it_to_others(
    tmp_path: Path, umask: int
) -> None:
    shop = Shop(tmp_path)
    folder = shop.home / ".agents" / "skills" / "pdf"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL.format(name="pdf"))
    before = os.umask(umask)
    try:
        with shop.open() as m:
            m.skills()
            m.catalogue()
            m.trust("pdf", "block")
        OsDiskCalls().make(str(shop.data / "staging"))
        OsDiskCalls().write(str(shop.data / "staging" / "one"), [b"1"])
    finally:
        os.umask(before)

    found = {
        (path.is_dir(), stat.S_IMODE(path.lstat().st_mode))
        for path in (shop.data, *shop.data.rglob("*"))
    }

    assert {(True, 0o700), (False, 0o600)} == found
