"""How long it takes to pull a skill of many files from an OCI registry: metier beside oras, from the same registry, in turns.

    python bench/oci.py [FILES]

It needs Debian's docker-registry and the package oras. metier's time is that of fetching every layer into quarantine, held
to its digest, and laying the skill out there; oras writes the same files, and checks neither digest nor size.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import oras.client

import metier
from metier.supply import fetch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from fakes.registry import running
from fakes.shop import document

if TYPE_CHECKING:
    from collections.abc import Callable

    from fakes.registry import Registry

ROUNDS = 5
GOAL = 1.5


def main() -> int:
    """Print a line for each form; exit 1 when one misses the goal."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    with tempfile.TemporaryDirectory(prefix="metier-bench-") as folder:
        base = Path(folder)
        with running(base / "registry") as registry:
            ratios = [_compare(base, registry, form, count) for form in ("file each", "packed")]
    return 0 if max(ratios) <= GOAL else 1


def _compare(base: Path, registry: Registry, form: str, count: int) -> float:
    client = oras.client.OrasClient(insecure=True, hostname=registry.place)
    top = base / form.replace(" ", "-")
    skill = top / "count"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(document("count"))
    for number in range(count - 1):
        (skill / f"note-{number:04}.md").write_text(f"# {number}\n\n" + "A line of a note.\n" * 40)
    os.chdir(top)
    there = f"{registry.place}/bench/{top.name}:v1"
    files = [f"count/{path.name}" for path in sorted(skill.iterdir())]
    client.push(target=there, files=files if form == "file each" else ["count"], quiet=True)
    env = {
        "HOME": str(base),
        "METIER_HOME": str(base / "metier-home"),
        "METIER_CONFIG": str(base / "metier.toml"),
        "METIER_SCAN_MODEL": "off",
        "PATH": os.defpath,
    }
    (base / "metier.toml").write_text(f'[supply]\nprivate_hosts = ["{registry.place}"]\n')
    with metier.open(cwd=base, env=env) as m:

        def ours() -> None:
            request = fetch.request_for(m.context, f"oci://{there}")
            with (
                fetch.open_quarantine(m.context) as desk,
                fetch.open_source(m.context, request) as source,
            ):
                (found,) = source.pickings.skills
                laid = fetch.lay_out(m.context, desk, source, found)
                assert isinstance(laid, fetch.FetchedSkill)
                assert len(laid.files) == count

        def theirs() -> None:
            out = base / "out"
            client.pull(target=there, outdir=str(out))
            shutil.rmtree(out)

        mine, other = _in_turns(ours, theirs)
    ratio = mine / other
    print(
        f"{count:,} files, {form}: metier {mine * 1e3:,.0f} ms, oras {other * 1e3:,.0f} ms, "
        f"ratio {ratio:.2f} (goal: at most {GOAL})"
    )
    return ratio


def _in_turns(*calls: Callable[[], None]) -> list[float]:
    took: list[list[float]] = [[] for _call in calls]
    for _round in range(ROUNDS):
        for call, times in zip(calls, took, strict=True):
            began = time.perf_counter()
            call()
            times.append(time.perf_counter() - began)
    return [statistics.median(times) for times in took]


if __name__ == "__main__":
    sys.exit(main())
