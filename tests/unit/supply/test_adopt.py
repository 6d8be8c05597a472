"""`adopt`: a skill that is there already comes under the lock, and not a byte of it changes."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from fakes.repositories import Repository
from fakes.shop import DANGEROUS, Shop, document, tree, write_skill

from metier.errors import MetierError, NotFoundError, RefusedError, UsageError

if TYPE_CHECKING:
    from pathlib import Path


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    return {
        str(path): (path.lstat().st_mtime_ns, path.lstat().st_ino)
        for path in (folder, *folder.rglob("*"))
    }


@pytest.mark.parametrize(
    ("where", "agent"),
    [
        (".agents/skills", ""),
        (".claude/skills", "claude-code"),
        (".qwen/skills", "qwen-code"),
        ("skills", "openclaw"),
    ],
)
def test_bytes_and_times_stay_as_they_are(shop: Shop, where: str, agent: str) -> None:
    folder = write_skill(shop.project / where / "pdf", "pdf", files={"scripts/a.sh": "echo\n"})
    os.utime(folder / "SKILL.md", ns=(10**18, 10**18))
    before, seen = stamps(folder), tree(shop.project)

    with shop.open() as m:
        outcome = m.adopt(f"{where}/pdf")
        digest = m.context.machine.digest(str(folder))
        frozen = m.sync(frozen=True)

    pin = shop.pins()["pdf"]
    after = tree(shop.project)
    assert (before, True) == (stamps(folder), frozen.ok)
    assert {**seen, "metier.lock": after["metier.lock"]} == after
    assert [{"agent": agent, "path": f"{where}/pdf", "method": "folder"}] == pin["targets"]
    assert (digest, digest, f"./{where}/pdf") == (pin["digest"], pin["base"], pin["source"])
    assert [str(folder)] == [one.path for one in outcome.installed]


def test_it_can_then_be_restored_edited_and_removed(shop: Shop) -> None:
    folder = write_skill(shop.project / ".claude/skills/pdf", "pdf")
    with shop.open() as m:
        m.adopt(folder)
        shutil.rmtree(folder)
        restored = m.sync(frozen=True)
        back = (folder / "SKILL.md").read_text()

        m.remove("pdf", force=True)

    assert (True, document("pdf"), False, True) == (
        restored.ok,
        back,
        folder.exists(),
        folder.parent.is_dir(),
    )


def test_what_was_adopted_elsewhere_is_what_other_agents_are_led_to(shop: Shop) -> None:
    folder = write_skill(shop.project / ".claude/skills/pdf", "pdf")

    with shop.open() as m:
        m.adopt(folder)
        outcome = m.add(".claude/skills/pdf", to=["codex", "qwen-code"])
        frozen = m.sync(frozen=True)
        m.remove("pdf", force=True)

    assert (True, True) == (outcome.ok, frozen.ok)
    assert [("claude-code", "folder"), ("codex", "link"), ("qwen-code", "link")] == [
        (one.agent, one.method) for one in outcome.installed[0].targets
    ]
    assert {".git", "metier.lock", ".claude", ".claude/skills"} == set(tree(shop.project))


def test_with_a_source_what_that_has_now_is_the_base(shop: Shop) -> None:
    repository = Repository(shop.base / "upstream")
    commit = repository.commit({"skills/pdf/SKILL.md": document("pdf")})
    folder = write_skill(shop.working("pdf"), "pdf", "My own words.\n")

    with shop.open() as m:
        m.adopt(folder, source=f"git+{repository.address}#main")
        upstream = m.add(f"git+{repository.address}", name="plain", dry_run=True).plan.add
        frozen = m.sync(frozen=True)

    pin = shop.pins()["pdf"]
    assert (repository.address, "main", commit, "skills/pdf") == (
        pin["source"],
        pin["ref"],
        pin["commit"],
        pin["path"],
    )
    assert (True, document("pdf", "My own words.\n")) == (
        frozen.ok,
        (folder / "SKILL.md").read_text(),
    )
    assert pin["base"] != pin["digest"]
    assert [] == list(upstream)  # it is already installed, as 'pdf'


def test_through_a_link_it_is_the_folder_itself_that_is_adopted(shop: Shop) -> None:
    folder = write_skill(shop.working("pdf"), "pdf")
    (shop.project / ".claude/skills").mkdir(parents=True)
    (shop.project / ".claude/skills/pdf").symlink_to(folder)

    with shop.open() as m:
        m.adopt(".claude/skills/pdf")

    assert [{"agent": "", "path": ".agents/skills/pdf", "method": "folder"}] == shop.pins()["pdf"][
        "targets"
    ]


def test_in_the_home_folder_it_is_the_user_s(shop: Shop) -> None:
    write_skill(shop.home / ".claude/skills/pdf", "pdf")

    with shop.open() as m:
        m.adopt("~/.claude/skills/pdf")
        synced = m.sync(frozen=True, user=True)

    assert (True, True, False) == (
        synced.ok,
        (shop.data / "metier.lock").is_file(),
        shop.lock.exists(),
    )


def test_what_is_in_the_lock_already_is_not_adopted_again(shop: Shop) -> None:
    write_skill(shop.working("pdf"), "pdf")
    with shop.open() as m:
        m.adopt(".agents/skills/pdf")
        before = shop.seen()

        with pytest.raises(RefusedError) as failed:
            m.adopt(".agents/skills/pdf")

    assert ("locked", before) == (failed.value.code, shop.seen())


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("src/pdf", UsageError),
        ("../shelf/pdf", UsageError),
        (".agents/skills", UsageError),
        (".agents/skills/none", NotFoundError),
        (".agents/skills/pdf/SKILL.md", NotFoundError),
        (".agents/skills/empty", RefusedError),
        (".", UsageError),
        ("/", MetierError),
        (".agents/skills/group/inner", UsageError),
        (".git", UsageError),
    ],
)
def test_only_a_skill_where_agents_look_can_be_adopted(
    shop: Shop, path: str, error: type[MetierError]
) -> None:
    for place in (
        shop.project / "src/pdf",
        shop.shelf / "pdf",
        shop.working("pdf"),
        shop.working("group/inner"),
    ):
        write_skill(place, "pdf")
    shop.working("empty").mkdir()
    before = shop.seen()

    with shop.open() as m, pytest.raises(error):
        m.adopt(path)

    assert before == shop.seen()


def test_danger_that_lies_there_already_is_judged_and_not_made_usable(
    shop: Shop,
) -> None:  # MT-5
    write_skill(shop.working("bad"), "bad", DANGEROUS)

    with shop.open() as m:
        m.adopt(".agents/skills/bad")
        with pytest.raises(RefusedError):
            m.view("bad")

    assert "dangerous" == shop.pins()["bad"]["verdict"]["level"]  # type: ignore[index]
