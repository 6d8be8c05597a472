"""Browsers that logged in: who they are, until when, and which forms of theirs count."""

from __future__ import annotations

import json

import pytest
from starlette.requests import Request
from starlette.responses import Response

from metier.errors import RefusedError
from metier.hub import visits
from metier.hub.accounts import add_token, remember_person, revoke_token, set_grant
from metier.hub.hub import Hub, HubOptions
from metier.hub.model import LOCAL


def asked(host: str = "127.0.0.1:8700", client: str = "127.0.0.1", **headers: str) -> Request:
    given = {"host": host, **{name.replace("_", "-"): told for name, told in headers.items()}}
    pairs = [(name.encode(), told.encode()) for name, told in given.items()]
    return Request(
        {
            "type": "http",
            "method": "GET",
            "scheme": "http",
            "path": "/",
            "query_string": b"",
            "headers": pairs,
            "client": (client, 5000),
            "server": ("127.0.0.1", 8700),
        }
    )


def test_a_browser_is_who_the_token_belongs_to_and_came_by_the_page(hub: Hub) -> None:
    token = add_token(hub, LOCAL, name="ann", role="reviewer", namespace="team").token

    visit = visits.begin_visit_with_token(hub, f" {token}\n")
    known = visits.caller_of_visit(hub, visit.cookie)

    assert known is not None
    assert ("token:1", "ann", "page") == (known[0].ident, known[0].name, known[0].door)
    assert visit.secret == known[1]


def test_a_person_has_the_roles_of_this_moment(hub: Hub) -> None:
    person = remember_person(hub, "https://id.example.org", "7", "Ann", ["crew"])
    visit = visits.begin_visit(hub, person_id=person["id"])
    before = visits.caller_of_visit(hub, visit.cookie)

    set_grant(hub, LOCAL, kind="group", who="crew", role="admin")
    after = visits.caller_of_visit(hub, visit.cookie)

    assert before is not None
    assert after is not None
    assert [] == list(before[0].grants)
    assert ["admin"] == [one.role for one in after[0].grants]


def test_the_database_holds_no_cookie(hub: Hub) -> None:
    token = add_token(hub, LOCAL, name="ann", role="admin").token
    visit = visits.begin_visit_with_token(hub, token)

    with hub.database.read() as connection:
        rows = [dict(row) for row in connection.rows("SELECT * FROM visits")]

    assert 1 == len(rows)
    assert visit.cookie not in json.dumps(rows)


@pytest.mark.parametrize("cookie", ["", "x", "x" * 5000, "\ud800", "' OR 1=1 --"])
def test_a_forged_cookie_is_nobody(hub: Hub, cookie: str) -> None:
    add_token(hub, LOCAL, name="ann", role="admin")

    assert visits.caller_of_visit(hub, cookie) is None


def test_a_wrong_token_begins_no_visit(hub: Hub) -> None:
    add_token(hub, LOCAL, name="ann", role="admin")

    with pytest.raises(RefusedError, match="not valid"):
        visits.begin_visit_with_token(hub, "mth_guess")
    with hub.database.read() as connection:
        assert [] == list(connection.rows("SELECT * FROM visits"))


def test_a_visit_for_nobody_is_not_begun(hub: Hub) -> None:
    with pytest.raises(RefusedError):
        visits.begin_visit(hub, token_id=None, person_id=None)
    with hub.database.read() as connection:
        assert [] == list(connection.rows("SELECT * FROM visits"))


def test_logging_out_revoking_and_time_end_a_visit(hub_options: HubOptions) -> None:
    at = [1_000_000.0]
    with Hub(hub_options, env={"METIER_SCAN_MODEL": "off"}, clock=lambda: at[0]) as hub:
        made = [add_token(hub, LOCAL, name=name, role="admin") for name in "abcd"]
        begun = [visits.begin_visit_with_token(hub, one.token) for one in made]

        def known() -> list[bool]:
            return [visits.caller_of_visit(hub, one.cookie) is not None for one in begun]

        assert [True, True, True, True] == known()
        visits.end_visit(hub, begun[0].cookie)
        revoke_token(hub, LOCAL, made[1].id)
        with hub.database.write() as connection:
            connection.run("UPDATE tokens SET expires_at = ? WHERE id = ?", 1_000_001, made[2].id)
        at[0] += 5
        assert [False, False, False, True] == known()
        at[0] += visits.VISIT_SECONDS
        assert [False, False, False, False] == known()


def test_coming_and_going_are_in_the_audit_log_as_made_by_the_page(hub: Hub) -> None:
    token = add_token(hub, LOCAL, name="ann", role="admin").token
    visit = visits.begin_visit_with_token(hub, token)
    visits.end_visit(hub, visit.cookie)

    with hub.database.read() as connection:
        rows = list(
            connection.rows("SELECT who, what, detail FROM audit_events ORDER BY id DESC LIMIT 2")
        )

    assert [("token:1", "visit.end"), ("token:1", "visit.begin")] == [
        (row["who"], row["what"]) for row in rows
    ]
    assert [{"door": "page"}] * 2 == [json.loads(row["detail"]) for row in rows]


def test_a_form_counts_once_for_whom_it_was_made(hub: Hub) -> None:
    key = visits.form_key("theirs", hub.now())

    with pytest.raises(RefusedError, match="not from this page"):
        visits.take_form(hub, "token:2", "another", key)
    visits.take_form(hub, "token:1", "theirs", key)
    with pytest.raises(RefusedError, match="sent already"):
        visits.take_form(hub, "token:1", "theirs", key)


@pytest.mark.parametrize("key", ["", ".", "..", "1.x.y", "\u0663.x.y", "9" * 400, "\ud800.\ud800"])
def test_a_forged_form_does_not_count(hub: Hub, key: str) -> None:
    with pytest.raises(RefusedError, match="not from this page"):
        visits.take_form(hub, "token:1", "theirs", key)


def test_an_old_form_does_not_count(hub: Hub) -> None:
    key = visits.form_key("theirs", hub.now() - visits.VISIT_SECONDS - 1)

    with pytest.raises(RefusedError, match="too old"):
        visits.take_form(hub, "token:1", "theirs", key)


def test_the_cookie_is_out_of_reach_of_scripts_other_sites_and_plain_http() -> None:
    visit = visits.NewVisit("value", "secret")
    here, away = Response(), Response()

    visits.set_cookie(here, asked(), visit)
    visits.set_cookie(away, asked("hub.example.org", x_forwarded_for="192.0.2.7"), visit)

    assert (
        "metier-hub-8700=value; HttpOnly; Max-Age=43200; Path=/; SameSite=strict"
        == here.headers["set-cookie"]
    )
    assert (
        "__Host-metier-hub=value; HttpOnly; Max-Age=43200; Path=/; SameSite=strict; Secure"
        == away.headers["set-cookie"]
    )


def test_a_cookie_of_the_local_name_opens_nothing_from_elsewhere() -> None:
    away = asked(
        "hub.example.org", "192.0.2.7", cookie="metier-hub-8700=value; metier-hub-80=value"
    )
    own = asked("hub.example.org", "192.0.2.7", cookie="__Host-metier-hub=value")

    assert ("", "value") == (visits.cookie_of(away), visits.cookie_of(own))
