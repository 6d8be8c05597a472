"""What the hub lists for people: events, installs, organisations, people, and how far a decision is; on both kinds of database."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fakes.hub_in_browser import fill, let_in
from fakes.hub_skills import CAUTION, member, publish_archive, skill_archive

from metier.errors import NotFoundError, RefusedError
from metier.hub import decide
from metier.hub.accounts import add_token, list_grants, list_people, list_tokens, set_grant
from metier.hub.audit_log import AuditQuery, event_kinds, list_events
from metier.hub.compare import changes_before
from metier.hub.hub import Hub
from metier.hub.model import LOCAL, NOBODY, Caller, RoleGrant
from metier.hub.namespaces import add_namespace, list_organisations
from metier.hub.releases import need_release, pending_releases
from metier.hub.search import HubQuery, search
from metier.hub.usage import installs_by_day, installs_by_skill


def test_events_are_narrowed_by_who_what_and_about_what(hub: Hub) -> None:
    fill(hub)
    let_in(hub)

    def acts(**wish: str | int) -> list[str]:
        return [one["what"] for one in list_events(hub, LOCAL, AuditQuery(**wish))]  # type: ignore[arg-type]

    assert ["yank"] == acts(what="yank")
    assert ["deprecate", "yank"] == acts(who="token:bob")
    assert ["deprecate", "yank", "publish", "publish"] == acts(about="team/old-style@")
    assert [] == acts(about="%")
    assert 2 == len(acts(limit=2))
    assert [] == acts(before=1)
    assert {"publish", "token.add", "yank"} <= set(event_kinds(hub, LOCAL))


def test_an_event_says_what_people_call_whoever_did_it(hub: Hub) -> None:
    fill(hub)
    let_in(hub)
    root = member(hub, "root", "admin")._replace(ident="token:1")
    decide.deprecate(hub, root, "team", "table-tidy", "try another")

    event = list_events(hub, LOCAL, AuditQuery(who="token:1"))[0]

    assert ("deprecate", "root") == (event["what"], event["name"])


def test_only_admins_of_the_hub_read_its_audit_log(hub: Hub) -> None:
    fill(hub)

    for caller in (NOBODY, member(hub, "nadia", "admin", "team")):
        with pytest.raises(RefusedError):
            list_events(hub, caller, AuditQuery())
        with pytest.raises(RefusedError):
            event_kinds(hub, caller)


def test_installs_are_counted_as_far_as_somebody_may_read(hub: Hub) -> None:
    fill(hub)
    reader, other = member(hub, "r", "reader", "team"), member(hub, "o", "reader", "secret")

    days = installs_by_day(hub, reader)

    assert (30, 3, 3) == (len(days), days[-1].installs, sum(one.installs for one in days))
    assert [("team", "table-tidy", 3)] == [tuple(one) for one in installs_by_skill(hub, reader)]
    assert 3 == sum(one.installs for one in installs_by_day(hub, reader, "team", "table-tidy"))
    assert 0 == sum(one.installs for one in installs_by_day(hub, reader, "team", "old-style"))
    assert [] == installs_by_skill(hub, other)
    with pytest.raises(NotFoundError):
        installs_by_day(hub, other, "team")


def test_organisations_are_named_to_who_reads_something_of_them(hub: Hub) -> None:
    fill(hub)

    assert ["acme"] == list(list_organisations(hub, NOBODY).values())
    with hub.database.write() as connection:
        connection.run("UPDATE namespaces SET visibility = 'private'")
    assert [] == list(list_organisations(hub, NOBODY).values())
    assert ["acme"] == list(list_organisations(hub, LOCAL).values())


def test_people_are_listed_with_their_groups(hub: Hub) -> None:
    fill(hub)
    let_in(hub)

    found = list_people(hub, LOCAL)

    assert [("person:1", "Ines", ("crew",))] == [(one.who, one.name, one.groups) for one in found]
    with pytest.raises(RefusedError):
        list_people(hub, member(hub, "nadia", "admin", "team"))


def test_a_search_is_narrowed_to_what_is_deprecated(hub: Hub) -> None:
    fill(hub)

    found = search(hub, LOCAL, HubQuery(state="deprecated"))
    words = search(hub, LOCAL, HubQuery("tables", state="current"))

    assert ["old-style"] == [row["name"] for row in found.rows]
    assert {"deprecated": 1} == found.facets["state"]
    assert "old-style" not in [row["name"] for row in words.rows]


def test_a_decision_says_who_approved_and_who_still_has_to(hub: Hub) -> None:
    fill(hub)
    bob, eve = (member(hub, name, "reviewer", "team") for name in ("bob", "eve"))
    decide.approve(hub, bob, "team", "cleaner", "0.1.0", "fine", seen="pending")

    with hub.database.read() as connection:
        space, release = need_release(connection, LOCAL, "team", "cleaner", "0.1.0")
        mine = decide.standing_of(connection, bob, space, release)
        theirs = decide.standing_of(connection, eve, space, release)
        local = decide.standing_of(connection, LOCAL, space, release)

    assert [("bob", "approve", "fine")] == [(one.name, one.vote, one.reason) for one in mine.votes]
    assert (2, 1, True) == (mine.needed, mine.missing, mine.has_approved)
    assert (False, True, False) == (theirs.has_approved, theirs.may_decide, theirs.is_own)
    assert (1, 0) == (local.needed, local.missing)


@pytest.mark.parametrize("what", ["approve", "reject", "yank"])
def test_a_decision_about_another_state_than_was_shown_is_a_conflict(hub: Hub, what: str) -> None:
    fill(hub)
    bob = member(hub, "bob", "reviewer", "team")
    act: Callable[..., object] = getattr(decide, what)
    version = "0.1.0" if what == "yank" else "0.2.0"
    seen = "approved" if what == "yank" else "pending"

    with pytest.raises(RefusedError, match="somebody else decided first") as caught:
        act(hub, bob, "team", "old-style", version, reason="x", seen=seen)

    assert "hub-state" == caught.value.code


def test_the_first_version_of_a_skill_is_new_as_a_whole(hub: Hub) -> None:
    made = fill(hub)

    first = changes_before(hub, LOCAL, made["caution"])
    update = changes_before(hub, LOCAL, made["update"])

    assert ("", None) == (first["from"], first["verdicts"]["before"])
    assert "+# cleaner" in first["diff"]
    assert ("1.1.0", "safe") == (update["from"], update["verdicts"]["before"]["level"])
    assert 2 == len(update["verdicts"]["new_findings"])


def test_others_releases_that_wait_never_hide_those_that_somebody_decides_about(hub: Hub) -> None:
    for name in ("open", "mine"):
        add_namespace(hub, LOCAL, name, "", "public")
    for name in ("first", "second", "third"):
        publish_archive(hub, LOCAL, name, skill_archive(name, CAUTION), "open")
    publish_archive(hub, LOCAL, "cleaner", skill_archive("cleaner", CAUTION), "mine")

    def waiting(caller: Caller) -> list[str]:
        return [one.name for one in pending_releases(hub, caller, limit=2)]

    assert ["first", "second"] == waiting(LOCAL)
    assert ["cleaner"] == waiting(member(hub, "ben", "reviewer", "mine"))
    assert ["cleaner"] == [one.name for one in pending_releases(hub, LOCAL, 2, "mine")]
    assert [] == waiting(member(hub, "eve", "reader"))
    assert [] == waiting(NOBODY)


def test_admins_of_a_place_see_the_tokens_and_roles_of_it_alone(hub: Hub) -> None:
    add_namespace(hub, LOCAL, "web", "acme")
    add_namespace(hub, LOCAL, "ops", "other")
    every = [("web", ""), ("ops", ""), ("", "acme"), ("", "")]
    for space, group in every:
        add_token(hub, LOCAL, name="x", role="reader", namespace=space, organisation=group)
        set_grant(
            hub,
            LOCAL,
            kind="group",
            who="devs",
            role="reader",
            namespace=space,
            organisation=group,
        )

    def seen(by: Caller) -> list[list[tuple[object, object]]]:
        roles = [(one["namespace"], one["organisation"]) for one in list_grants(hub, by)]
        return [[(one.namespace, one.organisation) for one in list_tokens(hub, by)], roles]

    place = find_organisation(hub, "acme")
    of_all_acme = Caller("token", "token:9", "z", (RoleGrant("admin", 0, place),))
    assert [every, every] == seen(LOCAL)
    assert [[("web", "")]] * 2 == seen(member(hub, "ann", "admin", "web"))
    assert [[("web", ""), ("", "acme")]] * 2 == seen(of_all_acme)


def find_organisation(hub: Hub, name: str) -> int:
    return next(ident for ident, one in list_organisations(hub, LOCAL).items() if one == name)
