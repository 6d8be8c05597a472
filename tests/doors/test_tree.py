"""`metier tree`, and what `add`, `remove`, `setup`, `why` and `lock sbom` say of skills that need skills."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from doors.upstream import DANGEROUS, text_of

if TYPE_CHECKING:
    from doors.upstream import Project, Upstream


def needing(name: str, *others: str) -> str:
    return text_of(name).replace("\n---\n", f"\ndepends-on: [{', '.join(others)}]\n---\n", 1)


def test_a_skill_and_what_it_needs_from_the_plan_to_the_last_removal(
    project: Project, upstream: Upstream
) -> None:
    upstream.commit(
        {
            "skills/top/SKILL.md": needing("top", "mid", "nowhere"),
            "skills/mid/SKILL.md": needing("mid", "low", "top"),
            "skills/low/SKILL.md": text_of("low"),
        }
    )

    plan = project("add", upstream.url, "--skill", "top", "--dry-run")
    added = project("add", upstream.url, "--skill", "top", "--yes", "--json")
    tree = project("tree", "top")
    document = project("tree", "mid", "--json").json
    why = project("why", "mid")
    ready = project("setup", "top", "--skip")
    bill = project("lock", "sbom", "--output", "skills.cdx.json")
    kept = project("remove", "low", "--yes")
    gone = project("remove", "top", "--orphans", "--yes")

    assert plan.out.startswith("3 to install\n")
    assert (
        "needs:\n  top\n    mid\n      low\n      top (cycle)\n    nowhere (missing: " in plan.out
    )
    assert "needed by mid" in plan.out
    assert ["top", "mid", "low"] == [one["name"] for one in added.json["installed"]]
    assert {"found", "cycle", "missing"} == {one["state"] for one in added.json["dependencies"]}
    assert tree.out.startswith("top\n  mid\n    low\n    top (cycle)\n  nowhere (missing: ")
    assert "next: metier search nowhere\n" in tree.out  # the source has no such skill
    assert ("mid", ["low", "top"], ["top"], True) == (
        document["name"],
        [one["name"] for one in document["requires"]],
        document["required_by"],
        document["dependency"],
    )
    assert "needs low, top\n" in why.out
    assert "needed by top\n" in why.out
    assert "metier search nowhere" in ready.out
    written = json.loads((project.folder / "skills.cdx.json").read_text())
    assert (0, ["low", "mid", "top"]) == (
        bill.code,
        [one["name"] for one in written["components"]],
    )
    assert (1, True) == (kept.code, "mid needs it; --force" in kept.out)
    assert (0, True) == (gone.code, gone.out.startswith("3 to remove\n"))
    assert not project.file("low").exists()


def test_what_is_refused_refuses_who_needs_it_and_no_deps_says_what_it_leaves_out(
    project: Project, upstream: Upstream
) -> None:
    upstream.commit(
        {"skills/top/SKILL.md": needing("top", "bad"), "skills/bad/SKILL.md": DANGEROUS}
    )
    before = project.left()

    refused = project("add", upstream.url, "--skill", "top", "--yes")
    unchanged = before == project.left()
    alone = project("add", upstream.url, "--skill", "top", "--no-deps", "--yes")

    assert (1, True) == (refused.code, unchanged)
    assert "it needs 'bad', which is refused" in " ".join(refused.out.split())
    assert (0, True) == (alone.code, "bad (left out)" in alone.out)
    assert "left out, because of --no-deps: bad" in alone.out + alone.err


def test_a_machine_without_needs_says_so(installed: Project) -> None:
    every, one, nobody = installed("tree"), installed("tree", "pdf"), installed("tree", "pfd")

    assert (0, "no skill needs another\n") == (every.code, every.out)
    assert (0, "pdf\n  needs no other skill\n") == (one.code, one.out)
    assert (1, "not-found") == (nobody.code, installed("tree", "pfd", "--json").json["code"])


def test_what_was_left_out_of_its_source_is_got_from_there(
    project: Project, upstream: Upstream
) -> None:
    upstream.commit(
        {"skills/top/SKILL.md": needing("top", "low"), "skills/low/SKILL.md": text_of("low")}
    )
    project("add", upstream.url, "--skill", "top", "--no-deps", "--yes")

    answer = project("tree", "top")

    assert f"next: metier add {upstream.source} --skill low\n" in answer.out
