"""What happens later is tried where something was put there."""

from __future__ import annotations

from metier.run.observe.later import later_tries
from metier.run.observe.stage import build_stage


def test_each_later_try_waits_for_a_place_that_was_written_to() -> None:
    stage = build_stage("sha256:1", "sample", ())

    tries = {one.what: one for one in later_tries(stage)}

    assert all(one.after and one.kind == "later" for one in tries.values())
    assert "~/.crontab" in tries["later: what is scheduled"].after
    project = f"~{stage.project.removeprefix(stage.home)}"
    assert f"{project}/.git/hooks/" in tries["later: a commit"].after
    assert (
        f"export DEPLOY_TOKEN={dict(stage.variables)['GITHUB_TOKEN']}"
        in (tries["later: a new shell"].command[-1])
    )
    assert stage.project in tries["later: a commit"].command[-1]
