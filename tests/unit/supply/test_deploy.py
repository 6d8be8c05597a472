"""Which agents get a skill, and how."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from fakes.shop import Shop, document, tree

from metier.errors import RefusedError, UsageError
from metier.supply import deploy, places
from metier.supply.model import InstallTarget, Pin, PinVerdict

if TYPE_CHECKING:
    from metier.supply.places import InstallPlace

DIGEST = "sha256:" + "ab" * 32
FOLDER = InstallTarget("", ".agents/skills/pdf", "folder")


def pin(*targets: InstallTarget, name: str = "pdf") -> Pin:
    return Pin(
        name,
        "folder",
        "./x",
        "",
        "",
        "",
        DIGEST,
        DIGEST,
        (),
        PinVerdict("safe", 0, ""),
        targets=targets,
    )


@pytest.mark.parametrize(
    ("agent", "user", "expected"),
    [
        ("claude-code", False, (".claude/skills/pdf", "link")),
        ("claude", True, (".claude/skills/pdf", "link")),
        ("codex", False, (".agents/skills/pdf", "folder")),
        ("codex", True, (".agents/skills/pdf", "folder")),
        ("gemini-cli", False, (".agents/skills/pdf", "folder")),
        ("openclaw", False, (".agents/skills/pdf", "folder")),
        ("windsurf", False, (".windsurf/skills/pdf", "link")),
        ("opencode", True, (".agents/skills/pdf", "folder")),
        ("cursor", True, (".agents/skills/pdf", "folder")),
        ("windsurf", True, (".codeium/windsurf/skills/pdf", "link")),
        ("astrbot", False, ("data/skills/pdf", "link")),
    ],
)
def test_an_agent_is_led_to_the_working_copy_unless_it_reads_that_already(
    shop: Shop, agent: str, user: bool, expected: tuple[str, str]
) -> None:
    with shop.open() as m:
        targets = deploy.targets_for(
            m.context, places.place_of(m.context, user=user), "pdf", [agent]
        )

    assert (FOLDER, expected) == (targets[0], targets[1][1:])


def test_where_links_are_not_followed_it_is_a_copy(shop: Shop) -> None:
    shop.offer("pdf")

    with shop.open() as m:
        m.context.platform = "win32"
        m.add("../shelf/pdf", to=["claude-code", "codex"])

    copy = shop.project / ".claude/skills/pdf"
    assert (False, document("pdf")) == (copy.is_symlink(), (copy / "SKILL.md").read_text())
    assert ["folder", "copy", "folder"] == [
        target["method"]
        for target in shop.pins()["pdf"]["targets"]  # type: ignore[attr-defined]
    ]


def test_several_agents_get_it_at_once_and_nothing_leads_into_the_store(shop: Shop) -> None:
    shop.offer("pdf")

    with shop.open() as m:
        m.add("../shelf/pdf", to=["claude-code", "codex", "windsurf", "claude-code"])

    links = {
        path: what
        for path, what in tree(shop.project).items()
        if isinstance(what, str) and what.startswith("link")
    }
    assert {".claude/skills/pdf", ".windsurf/skills/pdf"} == set(links)
    assert {"link to ../../.agents/skills/pdf"} == set(links.values())
    assert all((shop.project / path / "SKILL.md").is_file() for path in links)


@pytest.mark.parametrize("agent", ["nobody", "", "../claude-code"])
def test_an_agent_that_is_not_known_is_an_error_before_anything_happens(
    shop: Shop, agent: str
) -> None:
    shop.offer("pdf")
    before = shop.seen()

    with shop.open() as m, pytest.raises(UsageError):
        m.add("../shelf/pdf", to=[agent])

    assert before == shop.seen()


def test_an_agent_without_folders_in_that_scope_is_said_so(shop: Shop) -> None:
    shop.offer("pdf")

    with shop.open() as m, pytest.raises(UsageError, match="reads no skills of the user's"):
        m.add("../shelf/pdf", to=["coder"], user=True)

    assert {} == tree(shop.home)


def test_a_user_s_folder_may_be_elsewhere_by_the_environment(shop: Shop) -> None:
    shop.offer("pdf")

    with shop.open(CLAUDE_CONFIG_DIR=str(shop.home / "dot/claude")) as m:
        m.add("../shelf/pdf", to=["claude-code"], user=True)
        frozen = m.sync(frozen=True, user=True)
    with shop.open() as m, pytest.raises(RefusedError):
        m.sync(frozen=True, user=True)  # here, no agent of that name reads there

    assert (True, "../../../.agents/skills/pdf") == (
        frozen.ok,
        os.readlink(shop.home / "dot/claude/skills/pdf"),
    )


def test_at_home_a_folder_may_be_a_link_of_the_user_s(shop: Shop) -> None:
    shop.offer("pdf")
    (shop.base / "dotfiles/claude").mkdir(parents=True)
    (shop.home / ".claude").symlink_to(shop.base / "dotfiles/claude")

    with shop.open() as m:
        m.add("../shelf/pdf", to=["claude-code"], user=True)
        seen = (shop.home / ".claude/skills/pdf/SKILL.md").read_text()
        frozen = m.sync(frozen=True, user=True)
        m.remove("pdf", user=True)

    assert (document("pdf"), True) == (seen, frozen.ok)
    assert (True, {}) == ((shop.home / ".claude").is_symlink(), tree(shop.base / "dotfiles/claude"))


GOOD = [
    pin(FOLDER),
    pin(FOLDER, InstallTarget("claude-code", ".claude/skills/pdf", "link")),
    pin(
        FOLDER,
        InstallTarget("claude-code", ".claude/skills/pdf", "copy"),
        InstallTarget("codex", ".agents/skills/pdf", "folder"),
    ),
    pin(
        InstallTarget("claude-code", ".claude/skills/pdf", "folder"),
        InstallTarget("codex", ".agents/skills/pdf", "link"),
    ),
    pin(InstallTarget("openclaw", "skills/pdf", "folder")),
]


@pytest.mark.parametrize("good", GOOD)
def test_what_metier_itself_chooses_is_sure(shop: Shop, good: Pin) -> None:  # HE-42
    with shop.open() as m:
        place = places.place_of(m.context, user=False)

        deploy.check_targets(m.context, place, good)

    assert deploy.working_of(place, good) == f"{shop.project}/{good.targets[0].path}"


def at(shop: Shop) -> InstallPlace:
    with shop.open() as m:
        return places.place_of(m.context, user=False)


def test_what_is_there_already_is_not_switched(shop: Shop) -> None:
    place = at(shop)
    targets = (
        FOLDER,
        InstallTarget("claude-code", ".claude/skills/pdf", "link"),
        InstallTarget("codex", ".agents/skills/pdf", "folder"),
    )
    working, linked = (f"{shop.project}/{folder}/skills/pdf" for folder in (".agents", ".claude"))

    fresh = deploy.switches(place, targets, DIGEST, {})
    done = deploy.switches(
        place, targets, DIGEST, {working: DIGEST, linked: "link:../../.agents/skills/pdf"}
    )
    gone = deploy.switches(
        place, targets, "", {working: DIGEST, linked: "link:../../.agents/skills/pdf"}
    )

    assert [(working, "", DIGEST), (linked, "", "link:../../.agents/skills/pdf")] == [
        (one.path, one.before, one.after) for one in fresh
    ]
    assert ((), [(working, ""), (linked, "")]) == (done, [(one.path, one.after) for one in gone])
