"""An agent without a model: it is told of skills, picks one, loads it, reads a file, sets up what is missing and asks for the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from fakes.runner import KeptRunner

import metier
from metier import tools

if TYPE_CHECKING:
    from conftest import Home

    from metier.library import Library
    from metier.run.needs import Ask

SECRET = "planted-value-4f1c"
FORECAST = """---
name: forecast
description: Fetches tomorrow's weather for a city. Use when somebody asks about rain, wind or temperature.
required_environment_variables:
  - name: STORMGLASS_KEY
    prompt: Key of the weather service
    help: https://weather.example/keys
---

# Forecast

## Steps

1. Read references/cities.md for the spelling of the city.
2. Run scripts/ask.py with the city.
"""


@pytest.fixture
def library(home: Home) -> Library:
    """Open the skills of a person who has three of them."""
    skills = home.path / ".agents" / "skills"
    files = {
        "forecast/SKILL.md": FORECAST,
        "forecast/references/cities.md": "Reykjavik, Zurich, Oslo\n",
        "forecast/scripts/ask.py": "import sys\nprint(sys.argv[1])\n",
        "minutes/SKILL.md": "---\nname: minutes\ndescription: Turns notes of a meeting into minutes.\n---\n\nWrite them.\n",
        "palette/SKILL.md": "---\nname: palette\ndescription: Picks colours for a page.\n---\n\nPick them.\n",
    }
    for name, text in files.items():
        (skills / name).parent.mkdir(parents=True, exist_ok=True)
        (skills / name).write_text(text)
    return metier.open(env=home.env, cwd=home.path)


class Agent:
    """Picks a skill by the words of a task, as a model would by reading: it knows nothing but what it was told."""

    def __init__(self, library: Library) -> None:
        """Begin with an empty conversation."""
        self.library, self.heard = library, [library.catalogue(budget=400).text]

    def pick(self, task: str) -> str:
        """Give the name on the line that shares most words with the task."""
        words = set(task.lower().replace("?", "").split())
        lines = [line for line in self.heard[0].splitlines() if "<name>" in line]
        best = max(
            lines,
            key=lambda line: len(
                words & set(line.lower().replace(",", " ").replace(".", " ").split())
            ),
        )
        return best.partition("<name>")[2].partition("</name>")[0]

    def use(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and keep what it said."""
        answer = tools.call(self.library, tool, arguments)
        self.heard.append(repr(answer))
        return answer


def test_an_agent_goes_all_the_way_from_a_task_to_a_run(library: Library) -> None:
    agent, runner = Agent(library), KeptRunner()

    name = agent.pick("will there be rain or wind in Oslo?")
    loaded = agent.use("load_skill", name=name)
    read = agent.use("read_skill_file", name=name, path="references/cities.md")
    unready = agent.use("run_skill_script", name=name, script="scripts/ask.py", args=["Oslo"])
    asked: list[str] = []

    def person(ask: Ask) -> str:
        asked.append(ask.name)
        return SECRET

    library.setup(name, person)
    plan = library.plan_run(name, "scripts/ask.py", ["Oslo"])
    refused = agent.use("run_skill_script", name=name, script="scripts/ask.py", args=["Oslo"])
    library.context.runner = runner
    unasked = agent.use("run_skill_script", name=name, script="scripts/ask.py", args=["Oslo"])
    library.trust(name, "approve", reason="read it")
    ran = agent.use("run_skill_script", name=name, script="scripts/ask.py", args=["Oslo"])

    assert "forecast" == name
    assert loaded["success"]
    assert "setup_needed" == loaded["readiness_status"]
    assert ["STORMGLASS_KEY"] == loaded["missing"]["env"]
    assert "Reykjavik" in read["content"]
    assert not unready["success"]
    assert ["STORMGLASS_KEY"] == asked
    assert ["STORMGLASS_KEY"] == list(plan.environment)
    assert "no-runner" == refused["error"]["code"]
    assert "ask" == unasked["error"]["code"]
    assert ran["success"]
    assert [("forecast", "scripts/ask.py", ("Oslo",), {"STORMGLASS_KEY": SECRET})] == runner.ran
    assert all(
        SECRET not in told
        for told in (*agent.heard, repr(plan), repr(library.context.session), repr(library.vault()))
    )


def test_a_second_load_in_one_conversation_is_recognised_and_a_changed_skill_is_loaded_anew(
    library: Library, home: Home
) -> None:
    agent = Agent(library)
    file = home.path / ".agents" / "skills" / "minutes" / "SKILL.md"

    first, second = agent.use("load_skill", name="minutes"), agent.use("load_skill", name="minutes")
    file.write_text(file.read_text() + "Sign them.\n")
    library.reload()
    third = agent.use("load_skill", name="minutes")
    library.begin_session()
    fourth = agent.use("load_skill", name="minutes")

    assert [False, True, False, False] == [
        one["already_loaded"] for one in (first, second, third, fourth)
    ]
    assert "Write them." in first["content"]
    assert "Write them." not in second["content"]
    assert "Sign them." in third["content"]
    assert "Sign them." in fourth["content"]


def test_what_the_agent_was_told_grows_at_the_end_when_a_skill_is_added(
    library: Library, home: Home
) -> None:
    before = library.catalogue(budget=400)
    folder = home.path / ".agents" / "skills" / "aardvark"
    folder.mkdir()
    (folder / "SKILL.md").write_text(
        "---\nname: aardvark\ndescription: Counts ants.\n---\n\nCount.\n"
    )

    library.reload()
    after = library.catalogue(budget=400, previous=before)

    shared = before.text.rpartition("</available_skills>")[0]
    assert after.text.startswith(shared)
    assert "aardvark" in after.text[len(shared) :]
    assert "aardvark" in after.delta
    assert "palette" not in after.delta
