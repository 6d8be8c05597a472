"""What real agents said that they list, held against what metier says that they do.

`bench/agents.py --record` asked each agent, by the version that the first line of its file names, on the same machines
that are made here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from fakes import oddities
from fakes.messy_machine import MACHINES
from fakes.oddities import Listed, agreement

import metier
from metier.discover.agents import AGENTS, agent_named

FACTS = Path(__file__).parent / "agents"
AGREEMENT = 0.98
WANTED = ("codex", "claude-code", "gemini-cli", "opencode", "hermes", "deep-agents")
VIEWS = {view: place for machine in MACHINES for view, place in machine.views.items()}
ASKED = sorted(path.stem for path in FACTS.glob("*.tsv"))


def facts_of(agent: str, *, about: bool = False) -> list[str]:
    """Give what an agent said, or the lines about how it was asked."""
    lines = (FACTS / f"{agent}.tsv").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.startswith("#") == about]


def said_by(agent: str, view: str) -> list[Listed]:
    rows = (line.split("\t") for line in facts_of(agent))
    return [Listed(json.loads(name), path) for seen, path, name in rows if seen == view]


def views_of(agent: str) -> list[str]:
    """Give the views that an agent was asked from."""
    return list(dict.fromkeys(line.partition("\t")[0] for line in facts_of(agent)))


def taken_out_for(agent: str) -> tuple[str, ...]:
    before = "# without "
    lines = facts_of(agent, about=True)
    return tuple(line.removeprefix(before) for line in lines if line.startswith(before))


@pytest.fixture(scope="module")
def machine_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Give what makes the machine of a view: each once, and only when a test asks for it."""
    base = Path(os.path.realpath(tmp_path_factory.mktemp("machines")))

    @cache
    def made(number: int, without: tuple[str, ...]) -> Path:
        place = base / "-".join([str(number), *without]).replace("*", "")
        MACHINES[number].make(place)
        oddities.take_out(place, without)
        return place

    def machine(view: str, without: tuple[str, ...]) -> Path:
        return made(next(at for at, one in enumerate(MACHINES) if view in one.views), without)

    return machine


@pytest.mark.parametrize(
    ("agent", "view"), [(agent, view) for agent in ASKED for view in views_of(agent)]
)
def test_metier_lists_what_the_agent_itself_said_that_it_does(
    machine_of: Callable[..., Path], tmp_path: Path, agent: str, view: str
) -> None:
    base = machine_of(view, taken_out_for(agent))
    env = {
        "HOME": str(base / oddities.HOME),
        "PATH": os.environ["PATH"],
        "METIER_HOME": str(tmp_path),
        "METIER_SCAN_MODEL": "off",
        "METIER_BACKGROUND": "off",
    }
    with metier.open(cwd=str(base / VIEWS[view]), env=env, agent=agent) as library:
        oddities.trust_all(library, base, base / VIEWS[view])
        ours = oddities.listed_by(library, base)

    share, missing, extra = agreement(said_by(agent, view), ours)

    assert share >= AGREEMENT, (missing, extra)


def test_the_agents_that_matter_most_were_asked() -> None:
    assert set(WANTED) <= set(ASKED)


@pytest.mark.parametrize("agent", ASKED)
def test_a_row_names_the_version_that_was_asked(agent: str) -> None:
    first = (FACTS / f"{agent}.tsv").read_text(encoding="utf-8").partition("\n")[0]
    row = agent_named(agent)

    assert row is not None
    assert f"# {agent} {row.asked}:" == first.partition(": ")[0] + ":"


def test_a_row_that_names_a_version_was_asked() -> None:
    assert sorted(agent.id for agent in AGENTS if agent.asked) == ASKED


@pytest.mark.parametrize("agent", WANTED)
def test_every_place_was_asked_from(agent: str) -> None:
    assert set(VIEWS) == set(views_of(agent))
