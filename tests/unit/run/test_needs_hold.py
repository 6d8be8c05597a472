"""Nobody is asked for a secret on behalf of a skill that is switched off, and no script is run that is not its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes.cage import KeptSandbox

import metier
from metier.errors import RefusedError

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home

    from metier.library import Library
    from metier.run.needs import Ask

NEEDS = "---\nname: pdf\ndescription: Does one thing.\nrequired_environment_variables: [STORM_KEY]\n---\n\nDo it.\n"


def opened(home: Home, config: str = "") -> Library:
    folder = home.path / ".agents/skills/pdf"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(NEEDS)
    file = home.path / "metier.toml"
    file.write_text(config)
    library = metier.open(env=home.env, cwd=home.path, config=file)
    library.context.sandbox = KeptSandbox()
    return library


@pytest.mark.parametrize(
    "config",
    ['[skills]\ndisabled = ["pdf"]\n', '[[skills.config]]\nname = "pdf"\nenabled = false\n'],
)
def test_what_is_switched_off_asks_nobody_for_anything(home: Home, config: str) -> None:
    library = opened(home, config)
    asked: list[Ask] = []

    with pytest.raises(RefusedError) as caught:
        library.setup("pdf", asked.append)

    assert ("disabled", []) == (caught.value.code, asked)


def test_a_script_that_a_link_brings_in_from_beside_the_skill_is_none_of_its_own(
    home: Home, tmp_path: Path
) -> None:
    library = opened(home)
    folder = home.path / ".agents/skills/pdf"
    (tmp_path / "elsewhere.sh").write_text("echo\n")
    (folder / "own.sh").write_text("echo\n")
    (folder / "link.sh").symlink_to("own.sh")
    (folder / "stray.sh").symlink_to(tmp_path / "elsewhere.sh")

    plans = [library.plan_run("pdf", script) for script in ("own.sh", "link.sh", "stray.sh")]

    assert [str(folder / "own.sh")] * 2 + [""] == [plan.path for plan in plans]
    assert "'pdf' has no script 'stray.sh'" in plans[2].reasons
