"""Whether a decision lets a skill in: every answer of the table, with everything that somebody might say (MT-5)."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest
from fakes.shop import CAUTION, DANGEROUS, SAFE, Shop, yes

from metier.model import Digest, Verdict
from metier.supply.judge import JudgedSkill, reason_to_refuse
from metier.trust.decide import decide
from metier.trust.model import Approval, Provenance
from metier.trust.policy import TrustPolicy

if TYPE_CHECKING:
    from metier.model import Level

DIGEST = Digest("sha256:" + "ab" * 32)
NOW = "2026-06-01T00:00:00Z"


def weighed(
    level: Level,
    source: str = "mallory/skills",
    *approvals: Approval,
    policy: TrustPolicy | None = None,
) -> JudgedSkill:
    policy = policy or TrustPolicy()
    verdict = Verdict(DIGEST, "rules:x", level, 0, ())
    decision = decide(verdict, Provenance(source, scope="user"), policy, approvals, NOW, name="pdf")
    return JudgedSkill(
        "pdf", None, verdict, decision, 0, policy.counted(level) == "dangerous", None
    )


def said(state: str, digest: str = DIGEST, *, accept: bool = False) -> Approval:
    level = {"approved": "community", "quarantined": "quarantined", "blocked": "blocked"}[state]
    return Approval("pdf", digest, state, level, "2026-01-01T00:00:00Z", accept_dangerous=accept)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("level", "source", "force", "accept", "expected"),
    [
        ("safe", "mallory/skills", False, False, True),
        ("caution", "mallory/skills", False, False, False),  # MT-4
        ("caution", "mallory/skills", True, False, True),
        ("caution", "mallory/skills", False, True, False),
        ("caution", "anthropics/skills", False, False, True),  # HE-8
        ("dangerous", "mallory/skills", True, False, False),  # MT-5
        ("dangerous", "anthropics/skills", True, False, False),
        ("dangerous", "mallory/skills", False, True, True),
        ("dangerous", "mallory/skills", True, True, True),
    ],
)
def test_force_is_for_the_doubtful_and_danger_takes_its_own_word(
    level: Level, source: str, force: bool, accept: bool, expected: bool
) -> None:
    found = reason_to_refuse(
        weighed(level, source), force=force, accept_dangerous=accept, asked=True
    )

    assert expected == (found is None)


@pytest.mark.parametrize(("force", "accept", "asked"), list(product([False, True], repeat=3)))
@pytest.mark.parametrize("level", ["safe", "caution", "dangerous"])
@pytest.mark.parametrize("state", ["blocked", "quarantined"])
@pytest.mark.parametrize("digest", [DIGEST, "sha256:" + "cd" * 32])
def test_what_somebody_barred_is_let_in_by_nothing(
    level: Level, state: str, digest: str, force: bool, accept: bool, asked: bool
) -> None:
    found = reason_to_refuse(
        weighed(level, "anthropics/skills", said(state, digest)),
        force=force,
        accept_dangerous=accept,
        asked=asked,
    )

    assert found is not None
    assert "first: metier trust unblock pdf" == found.reasons[-1]


@pytest.mark.parametrize("asked", [False, True])
def test_what_is_asked_about_needs_somebody_who_sees_it(asked: bool) -> None:
    other = said("approved", "sha256:" + "cd" * 32)

    found = reason_to_refuse(
        weighed("safe", "mallory/skills", other), force=True, accept_dangerous=False, asked=asked
    )

    assert asked == (found is None)


def test_under_a_strict_preset_doubt_is_danger() -> None:
    strict = weighed("caution", policy=TrustPolicy(preset="strict"))

    assert reason_to_refuse(strict, force=True, accept_dangerous=False, asked=True) is not None
    assert reason_to_refuse(strict, force=False, accept_dangerous=True, asked=True) is None


@pytest.mark.parametrize("body", [SAFE, CAUTION])
def test_being_installed_raises_no_level_and_scripts_still_ask(shop: Shop, body: str) -> None:
    shop.offer("pdf", body)

    with shop.open() as m:
        m.add("../shelf/pdf", force=True, consent=yes)
        found = m.trust("pdf")

    assert ("community", "visible", "ask") == (found.level, found.state, found.phases["run"])


def test_in_a_project_that_nobody_trusts_only_what_was_installed_is_usable(
    shop: Shop,
) -> None:  # MT-18
    shop.offer("pdf")
    shop.working("stranger").mkdir(parents=True)
    shop.working("stranger", "SKILL.md").write_bytes(
        (shop.shelf / "pdf/SKILL.md").read_bytes().replace(b"pdf", b"stranger")
    )

    with shop.open() as m:
        m.add("../shelf/pdf")
        found = {card.name: card.state for card in m.skills(all=True)}

    assert {"pdf": "visible", "stranger": "ask"} == found


def test_the_user_s_own_needs_no_word_written_down(shop: Shop) -> None:
    shop.offer("pdf")

    with shop.open() as m:
        m.add("../shelf/pdf", user=True)
        state = m.trust("pdf").state

    assert ("visible", [("install", "done", "pdf")]) == (state, shop.events())


def test_danger_that_was_accepted_is_accepted_for_these_bytes_alone(
    shop: Shop,
) -> None:  # MT-5
    shop.offer("bad", DANGEROUS)

    with shop.open() as m:
        m.add("../shelf/bad", accept_dangerous=True, reason="a sample")
        m.remove("bad")
        again = m.add("../shelf/bad", force=True, consent=yes)
        shop.offer("bad", DANGEROUS + "\nMore.\n")
        other = m.add("../shelf/bad", force=True, consent=yes)

    assert (["bad"], ["bad"]) == (
        [one.name for one in again.refused],
        [one.name for one in other.refused],
    )
