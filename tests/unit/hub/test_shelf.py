"""What other clients may be offered: by whom they are, and by what became of a release."""

from __future__ import annotations

import pytest
from fakes.hub_skills import (
    CAUTION,
    member,
    publish_archive as publish,
    publish_text,
    skill_archive,
)

from metier.errors import AmbiguousError, NotFoundError
from metier.hub import decide
from metier.hub.clients.mcp_endpoint import HubSkillFiles
from metier.hub.clients.shelf import (
    given_release,
    offered_releases,
    offered_skills,
    place_of_name,
)
from metier.hub.hub import Hub
from metier.hub.model import LOCAL, NOBODY
from metier.hub.namespaces import add_namespace


@pytest.fixture
def stocked(hub: Hub) -> Hub:
    for space, visibility in (("open", "public"), ("team", "private")):
        add_namespace(hub, LOCAL, space, "", visibility)
        for name in ("table-tidy", f"only-{space}"):
            publish(hub, LOCAL, name, skill_archive(name), space, "1.0.0")
    return hub


def test_each_is_offered_what_they_may_read(stocked: Hub) -> None:
    told = {
        caller.name: [f"{row['space']}/{row['name']}" for row in offered_skills(stocked, caller)]
        for caller in (NOBODY, member(stocked, "ann", "reader", "team"))
    }

    public = ["open/only-open", "open/table-tidy"]
    assert {"nobody": public, "ann": [*public, "team/only-team", "team/table-tidy"]} == told


def test_pages_go_on_where_the_last_one_ended(stocked: Hub) -> None:
    found: list[str] = []
    after = ("", "")
    while rows := offered_skills(stocked, LOCAL, limit=3, after=after):
        after = (rows[-1]["space"], rows[-1]["name"])
        found += [f"{row['space']}/{row['name']}" for row in rows]

    assert ["open/only-open", "open/table-tidy", "team/only-team", "team/table-tidy"] == found


def test_a_name_means_the_only_skill_that_one_may_read(stocked: Hub) -> None:
    assert "open" == place_of_name(stocked, NOBODY, "table-tidy")
    with pytest.raises(AmbiguousError):
        place_of_name(stocked, LOCAL, "table-tidy")
    with pytest.raises(NotFoundError):
        place_of_name(stocked, NOBODY, "only-team")


def test_what_waits_or_was_rejected_is_given_to_nobody_and_what_was_yanked_to_who_names_it(
    hub: Hub,
) -> None:
    publish_text(hub, LOCAL, "cleaner", CAUTION, "1.0.0")
    publish_text(hub, LOCAL, "cleaner", f"{CAUTION} Twice.", "2.0.0")
    decide.reject(hub, LOCAL, "team", "cleaner", "2.0.0", "no")
    publish_text(hub, LOCAL, "table-tidy", version="1.0.0")
    decide.yank(hub, LOCAL, "team", "table-tidy", "1.0.0", reason="old")

    for version in ("1.0.0", "2.0.0"):
        with pytest.raises(NotFoundError):
            given_release(hub, LOCAL, "team", "cleaner", version)
    for name in ("cleaner", "table-tidy"):
        with pytest.raises(NotFoundError):
            given_release(hub, LOCAL, "team", name)
        with pytest.raises(NotFoundError):
            offered_releases(hub, LOCAL, "team", name)
    assert "yanked" == given_release(hub, LOCAL, "team", "table-tidy", "1.0.0").state
    assert [] == list(offered_skills(hub, LOCAL))


def test_skills_over_mcp_come_in_pages(stocked: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metier.hub.clients.mcp_endpoint.PAGE_SKILLS", 3)
    files = HubSkillFiles(stocked)

    first = files.skills(LOCAL, "", None)
    second = files.skills(LOCAL, "", first["nextCursor"])

    assert (3, 1) == (len(first["skills"]), len(second["skills"]))
    assert "nextCursor" not in second
