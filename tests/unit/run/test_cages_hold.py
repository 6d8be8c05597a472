"""What a run is lent follows from the bytes that run, not from what lies in the skill's folder a moment later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.folders import write
from fakes.permitted import permitted
from fakes.scripted import library_of

from metier.run import cages, plan

if TYPE_CHECKING:
    from pathlib import Path

VALUE = "planted-91cd"


def test_a_secret_that_only_a_later_text_declares_is_not_lent_to_the_copy_that_runs(
    tmp_path: Path,
) -> None:
    library = library_of(tmp_path, env={"STORM_KEY": VALUE})
    planned = plan.plan_script(library.context, "pdf", "scripts/hello.py")
    allowed = permitted(planned, planned.plan.digest)
    before = cages.cage_script(
        library.context, allowed, consent=False
    )  # the copy is there from now on
    write(
        tmp_path / "home/.agents/skills/pdf/SKILL.md",
        "---\nname: pdf\ndescription: Does one thing.\nrequired_environment_variables: [STORM_KEY]\n---\n\nDo it.\n",
    )

    after = cages.cage_script(library.context, allowed, consent=False)

    assert ({}, {}) == (before.values, after.values)
    assert VALUE not in dict(after.cage.environment).values()
