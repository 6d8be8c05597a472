"""Ask real agents which skills they see, ask metier the same, and show where the two differ.

    python bench/agents.py [--only codex,gemini-cli] [--least 0.98] [--cache DIR] [--recorded]
                           [--record] [--json FILE]

Each agent is installed from npm or PyPI into `bench/.agents`, or where `--cache` says (npm's install
scripts are not run): the newest version, or with `--recorded` the one that the facts name. It is
asked without a model and without a network, on four machines that are made for it: one with every
oddity that we could think of (`tests/fakes/oddities.py`), asked from a repository's root, from a
folder inside it and from outside any; one on which the agents are configured; one that somebody
else wrote, as untidy as a user's (`tests/fakes/messy_machine.py`); and one with what those left out
(`tests/fakes/stranger_machine.py`). `--record` writes what they said, with their versions, to
`tests/conformance/agents`, where the tests hold metier to it without the agents. The exit code is 1
when an agent and metier agree on less than `--least`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import agents_ask
from agents_ask import ASKED, AskedAgent, NotAskedError
from agents_more import MORE

BENCH = Path(__file__).resolve().parent
sys.path.insert(0, str(BENCH.parent / "tests"))

from fakes import oddities  # noqa: E402 - it lies beside the tests
from fakes.messy_machine import MACHINES  # noqa: E402
from fakes.oddities import Listed, agreement, real_place  # noqa: E402

import metier  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

TOOLS = BENCH / ".agents"
FACTS = BENCH.parent / "tests" / "conformance" / "agents"
SHOWN = 12
"""Differences of one kind that are printed."""


def ask_metier(agent: str, base: Path, cwd: Path, scratch: Path) -> list[Listed]:
    """Give what metier says that an agent lists."""
    env = {
        "HOME": str(base / oddities.HOME),
        "PATH": os.environ["PATH"],
        "METIER_HOME": str(scratch),
        "METIER_SCAN_MODEL": "off",
        "METIER_BACKGROUND": "off",
    }
    with metier.open(cwd=str(cwd), env=env, agent=agent) as library:
        oddities.trust_all(library, base, cwd)
        return oddities.listed_by(library, base)


def ask_agent(agent: AskedAgent, tools: Path, base: Path, cwd: Path) -> list[Listed]:
    """Give what an agent itself lists of what lies on the machine, without what it brings along."""
    said = agent.ask(tools, base / oddities.HOME, cwd)
    placed = ((name, real_place(base, path) if path else "") for name, path in said)
    return [Listed(name, path) for name, path in placed if not path.startswith("/")]


def recorded_version(agent: AskedAgent) -> str:
    """Read which version of an agent the facts are about."""
    with (FACTS / f"{agent.id}.tsv").open(encoding="utf-8") as facts:
        return facts.readline().removeprefix(f"# {agent.id} ").partition(":")[0]


def record(agent: AskedAgent, version: str, views: dict[str, Sequence[Listed]]) -> None:
    """Write down what an agent said."""
    FACTS.mkdir(exist_ok=True)
    lines = [f"# {agent.id} {version}: {agent.how}"]
    lines += [f"# without {pattern}" for pattern in agent.without]
    for view, said in views.items():
        lines += sorted(f"{view}\t{one.path}\t{json.dumps(one.name.strip())}" for one in said)
    (FACTS / f"{agent.id}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def compare(
    agent: AskedAgent, tools: Path, machines: Iterable[tuple[Path, dict[str, str]]], *, keep: bool
) -> dict[str, float]:
    """Ask an agent and metier from every place, print the differences, and give the agreements."""
    version = agent.version(tools)
    print(f"\n{agent.id} {version} ({agent.how})", flush=True)
    views: dict[str, Sequence[Listed]] = {}
    shares: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for base, places in machines:
            for view, place in places.items():
                theirs = views[view] = ask_agent(agent, tools, base, base / place)
                ours = ask_metier(agent.id, base, base / place, Path(scratch) / view)
                share, missing, extra = agreement(theirs, ours)
                shares[view] = round(share, 4)
                print(
                    f"  {view:22} {len(theirs):4} it, {len(ours):4} metier, agreement {share:.3f}",
                    flush=True,
                )
                for word, names in (("only it", missing), ("only metier", extra)):
                    for name in names[:SHOWN]:
                        print(f"    {word}: {name}")
    if keep:
        record(agent, version, views)
    return shares


def main() -> int:
    """Ask everybody, and judge."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="ids of agents, with commas between them")
    parser.add_argument("--least", type=float, default=0.98)
    parser.add_argument(
        "--cache", type=Path, default=TOOLS, help="where the agents are kept (bench/.agents)"
    )
    parser.add_argument(
        "--recorded", action="store_true", help="ask the versions that the facts name"
    )
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    tools = options.cache.resolve()
    wanted = set(filter(None, options.only.split(",")))
    found: dict[str, object] = {}
    short = False
    for agent in (*ASKED, *MORE):
        if wanted and agent.id not in wanted:
            continue
        with tempfile.TemporaryDirectory(prefix="metier-agents-") as folder:
            base = Path(os.path.realpath(folder))
            machines = [(base / str(number), one.views) for number, one in enumerate(MACHINES)]
            for (place, _views), machine in zip(machines, MACHINES, strict=True):
                machine.make(place)
            oddities.take_out(base, agent.without)
            try:
                version = recorded_version(agent) if options.recorded else ""
                agents_ask.install(tools, agent, version)
                shares = compare(agent, tools, machines, keep=options.record)
            except NotAskedError as error:
                print(f"  not asked: {error}")
                found[agent.id] = str(error)
                continue
        found[agent.id] = shares
        short = short or min(shares.values()) < options.least
    if options.json:
        options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return 1 if short else 0


if __name__ == "__main__":
    raise SystemExit(main())
