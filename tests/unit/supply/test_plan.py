"""What a plan says before anything happens."""

from __future__ import annotations

import pytest
from fakes.repositories import Repository
from fakes.shop import CAUTION, SAFE, FakeFetcher, Shop, document

from metier.supply.model import Item, SourceSkill
from metier.supply.plan import is_named


def test_a_plan_says_what_from_where_at_which_cost_and_for_whom(shop: Shop) -> None:
    repository = Repository(shop.base / "upstream")
    commit = repository.commit(
        {"skills/pdf/SKILL.md": document("pdf"), "skills/pdf/a.md": "x" * 1000}
    )

    with shop.open() as m:
        (step,) = m.add(
            f"git+{repository.address}", ref="main", to=["claude-code"], dry_run=True
        ).plan.add

    assert ("pdf", "add", repository.address, "skills/pdf", "main", commit) == step[:6]
    assert (2, len(document("pdf")) + 1000, "") == (step.files, step.size, step.before)
    assert ("community", "safe", 0, (), "allow") == (
        step.level,
        step.verdict,
        step.score,
        step.findings,
        step.action,
    )
    assert step.tokens > 0
    assert ["", "claude-code"] == [target.agent for target in step.targets]


def test_a_forced_plan_says_what_it_replaces_and_why_it_was_blocked(shop: Shop) -> None:
    shop.offer("pdf", CAUTION)
    shop.working("pdf").mkdir(parents=True)
    shop.working("pdf", "mine.txt").write_text("mine\n")

    with shop.open() as m:
        (step,) = m.add("../shelf/pdf", force=True, dry_run=True).plan.add

    assert ("caution", "block") == (step.verdict, step.action)
    assert any(
        why.startswith("replaces: ") and str(shop.working("pdf")) in why for why in step.reasons
    )
    assert {"SC116"} <= {found.rule for found in step.findings}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("pdf", True),
        ("skills/pdf-tool", True),
        ("pdf-tool", True),
        ("papers:pdf", True),
        ("papers", False),
        ("pd", False),
        ("", False),
    ],
)
def test_a_skill_is_meant_by_its_name_its_path_or_its_plugin(said: str, expected: bool) -> None:
    picked = SourceSkill(
        "pdf", "skills/pdf-tool", (Item("skills/pdf-tool/SKILL.md", 1, "file"),), plugin="papers"
    )

    assert expected == is_named(picked, (said,))


def test_every_skill_of_a_source_is_planned_and_each_refusal_has_its_reasons(shop: Shop) -> None:
    with shop.open() as m:
        m.context.fetchers = {
            "git": FakeFetcher(
                {
                    "a/SKILL.md": document("a"),
                    "b/SKILL.md": document("b", CAUTION),
                    "c/SKILL.md": "no",
                }
            )
        }

        outcome = m.add("somebody/skills", all=True, dry_run=True)

    assert "a" in [step.name for step in outcome.plan.add]
    assert "b" in [one.name for one in outcome.refused]
    assert all(one.reasons for one in outcome.refused)
    assert (False, ()) == (outcome.ok, outcome.installed)


def test_a_dry_run_writes_no_audit_event_either(shop: Shop) -> None:
    shop.offer("odd", CAUTION)
    shop.offer("good", SAFE)

    with shop.open() as m:
        m.add("../shelf", all=True, dry_run=True)

    assert [] == shop.events()
