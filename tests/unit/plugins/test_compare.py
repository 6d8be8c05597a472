"""One look at plugins: what it takes for new, and what it leaves as it was. Each of these was found by a walk at random."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fakes.market import files_of, list_of, write
from fakes.plugs import document, mine, yes

from metier.plugins import compare, mirror_store
from metier.plugins.compare import noted_stamp
from metier.supply import places

if TYPE_CHECKING:
    from fakes.plugs import Plugs


def test_a_skill_that_comes_back_as_it_was_last_seen_is_an_update_again_and_no_removal(
    enabled: Plugs,
) -> None:
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


def test_a_new_skill_that_was_changed_on_its_desk_is_compared_from_what_its_plugin_ships(
    enabled: Plugs,
) -> None:
    enabled.release(gamma=document("gamma"))
    [new] = enabled.sync().opened
    (Path(enabled("edit", new).desk) / "SKILL.md").write_text(mine("gamma", 2))

    enabled("accept", new)
    again = enabled.sync()

    assert mine("gamma", 2) == enabled.text("gamma")
    assert [("v0001", "", "plugin:kit"), ("v0002", "v0001", "user")] == enabled.versions("gamma")
    assert ((), "synced") == (again.opened, enabled.standing()[0])


@pytest.mark.parametrize("inside", [False, True])
def test_a_marketplace_at_rest_is_known_by_its_stats_unless_the_project_lies_in_it(
    inside: bool, plugs: Plugs
) -> None:
    shop = plugs.project if inside else plugs.home / ".claude/plugins/marketplaces/shop"
    write(shop, files_of("office", "pdf", at="o") | list_of({"name": "office", "source": "./o"}))
    plugs("plugin_enable", "office@shop", consent=yes)
    plugs.rest()

    plugs.sync()

    with plugs.open() as library:
        place = places.place_of(library.context, user=False)
        [plugin] = mirror_store.read(library.context, place).mirror.plugins
        with compare.folder_memory(library.context, place) as looks:
            seen = looks.seen(
                "plugin office@shop", f"{looks.stamp(str(shop))} {noted_stamp(plugin)}"
            )
    assert seen is not inside
