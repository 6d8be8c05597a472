"""One look at plugins: what it takes for new, and what it leaves as it was. Each of these was found by a walk at random."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fakes.plugs import document, mine

if TYPE_CHECKING:
    from fakes.plugs import Plugs


def test_a_skill_that_comes_back_as_it_was_last_seen_is_an_update_again_and_no_removal(enabled: Plugs) -> None:
    update = enabled.update()
    enabled.release(alpha=None)
    [removal] = enabled.sync().opened
    enabled.release(alpha=document("alpha", 11))

    enabled.sync()

    assert ("update_pending", {"alpha": "update_pending", "beta": "synced"}) == enabled.standing()
    assert [update] == enabled.waiting()
    assert "superseded" == enabled.candidate(removal).status


def test_what_a_person_decides_brings_no_manifest_back(enabled: Plugs) -> None:
    update = enabled.update()
    (enabled.kit / ".claude-plugin/plugin.json").unlink()
    enabled.sync()

    enabled("accept", update)

    assert ("missing", {"alpha": "synced", "beta": "synced"}) == enabled.standing()


def test_a_new_skill_that_was_changed_on_its_desk_is_compared_from_what_its_plugin_ships(enabled: Plugs) -> None:
    enabled.release(gamma=document("gamma"))
    [new] = enabled.sync().opened
    (Path(enabled("edit", new).desk) / "SKILL.md").write_text(mine("gamma", 2))

    enabled("accept", new)
    again = enabled.sync()

    assert mine("gamma", 2) == enabled.text("gamma")
    assert [("v0001", "", "plugin:kit"), ("v0002", "v0001", "user")] == enabled.versions("gamma")
    assert ((), "synced") == (again.opened, enabled.standing()[0])
