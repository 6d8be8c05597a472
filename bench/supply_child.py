"""`metier add` in a process of its own, with its stages timed: `python bench/supply_child.py URL
PROJECT [SKILL]`.

Prints one JSON object: seconds, seconds by stage, and the most memory that this process held. A
stage is what one function takes, with all that it calls; copies of the process that scan a share
are in `scan`.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import metier
from metier.audit import log
from metier.store.io.atomic_change import Changer
from metier.store.io.tree_store import Store
from metier.supply import add, fetch, judge
from metier.supply.io.git import GitFetcher

if TYPE_CHECKING:
    from collections.abc import Callable

STAGES: tuple[tuple[str, Any, str], ...] = (
    ("fetch", GitFetcher, "open"),
    ("lay in quarantine", fetch, "lay_out"),
    ("scan and decide", judge.SkillJudge, "foresee"),
    ("scan and decide", judge.SkillJudge, "weigh"),
    ("store", Store, "take"),
    ("store", Store, "note"),
    ("deploy", Changer, "apply"),
    ("approvals and audit", add, "record_approvals"),
    ("approvals and audit", log, "record"),
)


def timed(
    call: Callable[..., Any], spent: dict[str, float], stage: str, depth: list[str]
) -> Callable[..., Any]:
    """Count what a function takes towards a stage, unless another stage called it."""

    def counted(*given: Any, **named: Any) -> Any:
        outer = not depth
        depth.append(stage)
        began = time.perf_counter()
        try:
            return call(*given, **named)
        finally:
            depth.pop()
            if outer:
                spent[stage] = spent.get(stage, 0.0) + time.perf_counter() - began

    return counted


def main() -> None:
    """Add everything, or one skill, and tell."""
    url, project, *skills = sys.argv[1:]
    spent: dict[str, float] = {}
    depth: list[str] = []
    for stage, owner, name in STAGES:
        setattr(owner, name, timed(getattr(owner, name), spent, stage, depth))
    began = time.perf_counter()
    with metier.open(cwd=project) as library:
        outcome = library.add(url, skills=skills, all=not skills)
    whole = time.perf_counter() - began
    peak = next(
        int(line.split()[1])
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("VmHWM")
    )
    print(
        json.dumps(
            {
                "seconds": whole,
                "installed": len(outcome.installed),
                "peak": peak * 1024,
                "stages": spent,
            }
        )
    )


if __name__ == "__main__":
    main()
