"""Who may do what, as one table: each cell is a request over HTTP to a hub with two tenants."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from fakes.bucket_server import CREDENTIALS
from fakes.hub_skills import skill_archive
from fakes.hub_tenants import PLACES, Tenants, tenants

from metier.hub.api import ROUTES as API_ROUTES
from metier.hub.api_people import ROUTES as PEOPLE_ROUTES
from metier.hub.hub import HubOptions

pytestmark = pytest.mark.loopback
KINDS = ("embedded", pytest.param("team", marks=pytest.mark.postgresql))
V1 = "/api/v1"


@pytest.fixture(scope="module", params=KINDS)
def house(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Tenants]:
    folder = tmp_path_factory.mktemp("hub")
    options = HubOptions(home=str(folder))
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "team":
            for name, value in CREDENTIALS.items():
                patch.setitem(os.environ, name, value)
            options = request.getfixturevalue("team_parts").options(folder)
        with tenants(folder, options) as one:
            yield one


class Act(NamedTuple):
    """One thing that can be asked of a namespace."""

    method: str
    path: str
    body: Any = None


ROLES = (
    "nobody", "reader", "publisher", "reviewer", "admin", "hub", "expired", "revoked", "tenant",
    "org_reader", "org_admin",
)  # fmt: skip
"""The columns of every table below. `hub` is an admin of the whole hub, and the two after it were; `tenant`
is an admin of another organisation's namespace, and `org_…` have a role in all of this organisation."""

#           nobody rdr pub rev adm hub exp rev ten o_r o_a
READ = {
    "private": "404 200 200 200 200 200 401 401 404 200 200",
    "public":  "200 200 200 200 200 200 401 401 200 200 200",
    "frozen":  "404 200 200 200 200 200 401 401 404 200 200",
    "absent":  "404 404 404 404 404 404 401 401 404 404 404",
}  # fmt: skip
SEE_WAITING = {
    "private": "404 404 404 200 200 200 401 401 404 404 200",
    "public":  "404 404 404 200 200 200 401 401 404 404 200",
    "frozen":  "404 404 404 200 200 200 401 401 404 404 200",
    "absent":  "404 404 404 404 404 404 401 401 404 404 404",
}  # fmt: skip
PUBLISH = {
    "private": "404 403 201 403 201 201 401 401 404 403 201",
    "public":  "403 403 201 403 201 201 401 401 403 403 201",
    "frozen":  "404 403 403 403 403 403 401 401 404 403 403",
    "absent":  "404 404 404 404 404 201 401 401 404 404 404",
}  # fmt: skip
WITHDRAW = {
    "private": "404 403 403 200 200 200 401 401 404 403 200",
    "public":  "403 403 403 200 200 200 401 401 403 403 200",
    "frozen":  "404 403 403 200 200 200 401 401 404 403 200",
    "absent":  "404 404 404 404 404 404 401 401 404 404 404",
}  # fmt: skip
MANAGE = {
    "private": "404 403 403 403 200 200 401 401 404 403 200",
    "public":  "403 403 403 403 200 200 401 401 403 403 200",
    "frozen":  "404 403 403 403 200 200 401 401 404 403 200",
    "absent":  "404 404 404 404 404 404 401 401 404 404 404",
}  # fmt: skip
MAKE = {state: row.replace("200", "201") for state, row in MANAGE.items()}
ADMINISTER = {
    "private": "404 403 403 403 403 200 401 401 404 403 403",
    "public":  "403 403 403 403 403 200 401 401 403 403 403",
    "frozen":  "404 403 403 403 403 200 401 401 404 403 403",
    "absent":  "404 404 404 404 404 404 401 401 404 404 404",
}  # fmt: skip
MAKE_TOKEN = {**MAKE, "absent": "404 404 404 404 404 201 401 401 404 404 404"}
"""An admin of the hub makes a namespace by making its first token."""

SKILL = f"{V1}/skills/NS"
HOOKS = f"{V1}/namespaces/NS/webhooks"
HOOK = {"url": "https://93.184.216.34/other"}
WHY = {"reason": "tried"}
GRANT = {"kind": "group", "who": "devs", "role": "reader", "namespace": "NS"}
IN_A_NAMESPACE: dict[str, tuple[Act, dict[str, str]]] = {
    "see the namespace": (Act("GET", f"{V1}/namespaces/NS"), READ),
    "list skills": (Act("GET", SKILL), READ),
    "see a skill": (Act("GET", f"{SKILL}/tool"), READ),
    "see a release": (Act("GET", f"{SKILL}/tool/1.0.0"), READ),
    "see the newest": (Act("GET", f"{SKILL}/tool/latest"), READ),
    "fetch": (Act("GET", f"{SKILL}/tool/1.0.0/archive"), READ),
    "compare": (Act("GET", f"{SKILL}/tool/diff?from=1.0.0&to=1.1.0"), READ),
    "read the log": (Act("GET", f"{V1}/log/NS"), READ),
    "read the usage": (Act("GET", f"{V1}/usage/NS"), READ),
    "read the feed": (Act("GET", "/ns/NS/feed.atom"), READ),
    "count an install": (
        Act("POST", f"{V1}/installs", {"namespace": "NS", "name": "tool", "version": "1.0.0"}),
        READ,
    ),
    "see what waits": (Act("GET", f"{SKILL}/wait/0.1.0"), SEE_WAITING),
    "fetch what waits": (Act("GET", f"{SKILL}/wait/0.1.0/archive"), SEE_WAITING),
    "see a skill that waits": (Act("GET", f"{SKILL}/wait"), SEE_WAITING),
    "approve": (Act("POST", f"{SKILL}/wait/0.1.0/approve", WHY), SEE_WAITING),
    "reject": (Act("POST", f"{SKILL}/wait/0.1.0/reject", WHY), SEE_WAITING),
    "publish": (Act("POST", f"{SKILL}/fresh/releases", {"archive": "ARCHIVE"}), PUBLISH),
    "yank": (Act("POST", f"{SKILL}/tool/1.0.0/yank", WHY), WITHDRAW),
    "unyank": (Act("POST", f"{SKILL}/tool/1.0.0/unyank", WHY), WITHDRAW),
    "deprecate": (Act("POST", f"{SKILL}/tool/deprecate", WHY), WITHDRAW),
    "open or close": (Act("PATCH", f"{V1}/namespaces/NS", {"visibility": "private"}), MANAGE),
    "freeze": (Act("PATCH", f"{V1}/namespaces/NS", {"state": "frozen"}), MANAGE),
    "set its policy": (Act("PATCH", f"{V1}/namespaces/NS", {"policy": {}}), MANAGE),
    "set its quota": (Act("PATCH", f"{V1}/namespaces/NS", {"quota_bytes": 9}), ADMINISTER),
    "list webhooks": (Act("GET", HOOKS), MANAGE),
    "add a webhook": (Act("POST", HOOKS, HOOK), MAKE),
    "remove a webhook": (Act("DELETE", f"{HOOKS}/HOOK"), MANAGE),
    "make a token": (
        Act("POST", f"{V1}/tokens", {"name": "x", "role": "reader", "namespace": "NS"}),
        MAKE_TOKEN,
    ),
    "give a role": (Act("POST", f"{V1}/grants", GRANT), MANAGE),
    "take a role": (Act("DELETE", f"{V1}/grants", GRANT), MANAGE),
}

FRESH = skill_archive("fresh", "Sent by everybody.")
FRESH_SHA256 = hashlib.sha256(FRESH).hexdigest()
FOR_ALL = "200 200 200 200 200 200 401 401 200 200 200"
OF_THE_HUB: dict[str, tuple[Act, str]] = {
    #                                          nobody rdr pub rev adm hub exp rev ten o_r o_a
    "see the hub": (Act("GET", f"{V1}/hub"), FOR_ALL),
    "see who one is": (Act("GET", f"{V1}/whoami"), "401 200 200 200 200 200 401 401 200 200 200"),
    "search": (Act("GET", f"{V1}/search?q=columns"), FOR_ALL),
    "list namespaces": (Act("GET", f"{V1}/namespaces"), FOR_ALL),
    "see the queue": (Act("GET", f"{V1}/queue"), FOR_ALL),
    "list organisations": (Act("GET", f"{V1}/organisations"), FOR_ALL),
    "read the public index": (Act("GET", "/.well-known/agent-skills/index.json"), FOR_ALL),
    "make a namespace": (
        Act("POST", f"{V1}/namespaces", {"name": "new-one"}),
        "403 403 403 403 403 201 401 401 403 403 403",
    ),
    "make an organisation": (
        Act("POST", f"{V1}/organisations", {"name": "new-one"}),
        "403 403 403 403 403 201 401 401 403 403 403",
    ),
    "send bytes": (
        Act("PUT", f"{V1}/blobs/{FRESH_SHA256}", FRESH),
        "403 403 201 403 201 201 401 401 201 403 201",
    ),
    "ask for bytes": (
        Act("HEAD", f"{V1}/blobs/{'0' * 64}"),
        "403 403 404 403 404 404 401 401 404 403 404",
    ),
    "begin an upload": (
        Act("POST", f"{V1}/uploads", {"sha256": "1" * 64, "size": 10}),
        "403 403 201 403 201 201 401 401 201 403 201",
    ),
    "go on with another's upload": (
        Act("GET", f"{V1}/uploads/{'a' * 32}"),
        "404 404 404 404 404 404 401 401 404 404 404",
    ),
    "list tokens": (Act("GET", f"{V1}/tokens"), "403 403 403 403 200 200 401 401 200 403 200"),
    "make a token for all": (
        Act("POST", f"{V1}/tokens", {"name": "x", "role": "reader"}),
        "403 403 403 403 403 201 401 401 403 403 403",
    ),
    "make a token of the organisation": (
        Act("POST", f"{V1}/tokens", {"name": "x", "role": "reader", "organisation": "acme"}),
        "404 404 404 404 404 201 401 401 404 404 201",
    ),
    "revoke a reader's token": (
        Act("DELETE", f"{V1}/tokens/TOKEN"),
        "404 404 404 404 200 200 401 401 404 404 200",
    ),
    "list roles": (Act("GET", f"{V1}/grants"), "403 403 403 403 200 200 401 401 200 403 200"),
    "give a role for all": (
        Act("POST", f"{V1}/grants", {"kind": "group", "who": "x", "role": "admin"}),
        "403 403 403 403 403 200 401 401 403 403 403",
    ),
    "give a role in the organisation": (
        Act(
            "POST",
            f"{V1}/grants",
            {"kind": "group", "who": "x", "role": "admin", "organisation": "acme"},
        ),
        "404 404 404 404 404 200 401 401 404 404 200",
    ),
    "see the policy": (
        Act("GET", f"{V1}/policy"),
        "403 200 200 200 200 200 401 401 200 200 200",
    ),
    "set the policy": (
        Act("PUT", f"{V1}/policy", {}),
        "403 403 403 403 403 200 401 401 403 403 403",
    ),
    "read the audit log": (
        Act("GET", f"{V1}/audit"),
        "403 403 403 403 403 200 401 401 403 403 403",
    ),
    "list people": (Act("GET", f"{V1}/people"), "403 403 403 403 403 200 401 401 403 403 403"),
    "log somebody out": (
        Act("POST", f"{V1}/people/1/logout"),
        "403 403 403 403 403 200 401 401 403 403 403",
    ),
    "log out": (Act("POST", f"{V1}/logout", {}), FOR_ALL),
    "log in where there is no provider": (
        Act("POST", f"{V1}/login/device", {}),
        "404 404 404 404 404 404 401 401 404 404 404",
    ),
}


def filled(told: Any, words: dict[str, str]) -> Any:
    """Put the names of a cell into a request."""
    if isinstance(told, dict):
        return {name: filled(value, words) for name, value in told.items()}
    for name, value in words.items():
        if isinstance(told, str):
            told = told.replace(name, value)
    return told


def do(house: Tenants, role: str, state: str, act: Act, space: str = "") -> Any:
    words = {
        "NS": space or PLACES.get(state, ""),
        "ARCHIVE": house.archive(role, state),
        "HOOK": str(house.hooks.get(state, 1)),
        "TOKEN": str(house.own_token_ids["reader private"]),
    }
    path, body = filled(act.path, words), filled(act.body, words)
    return house.ask(role, state, act.method, path, body)


def do_for_good(house: Tenants, role: str, act: Act) -> Any:
    """Do something in a namespace that nobody else asks for, and keep what comes of it."""
    house.database.keeps = True
    try:
        return do(house, role, "absent", act, f"made-by-{role}".replace("_", "-"))
    finally:
        house.database.keeps = False


CELLS = [
    pytest.param(act, state, role, int(status), id=f"{role}-{name}-{state}".replace(" ", "_"))
    for name, (act, table) in IN_A_NAMESPACE.items()
    for state, row in table.items()
    for role, status in zip(ROLES, row.split(), strict=True)
]
HUB_CELLS = [
    pytest.param(act, role, int(status), id=f"{role}-{name}".replace(" ", "_"))
    for name, (act, row) in OF_THE_HUB.items()
    for role, status in zip(ROLES, row.split(), strict=True)
]


@pytest.mark.parametrize(("act", "state", "role", "status"), CELLS)
def test_in_a_namespace_everybody_may_do_what_the_table_says(
    house: Tenants, act: Act, state: str, role: str, status: int
) -> None:
    makes = state == "absent" and act.path.endswith("/releases")

    answer = do_for_good(house, role, act) if makes else do(house, role, state, act)

    assert status == answer.status, answer.body


@pytest.mark.parametrize(("act", "role", "status"), HUB_CELLS)
def test_of_the_hub_everybody_may_do_what_the_table_says(
    house: Tenants, act: Act, role: str, status: int
) -> None:
    answer = do(house, role, "", act)

    assert status == answer.status, answer.body


def test_the_table_has_every_address_of_the_interface() -> None:
    asked = [act for act, _table in (*IN_A_NAMESPACE.values(), *OF_THE_HUB.values())]
    known = {
        (method, route.path)
        for route in (*API_ROUTES, *PEOPLE_ROUTES)
        for method in set(route.methods or ()) - {"HEAD"}
        for act in asked
        if act.method == method and route.path_regex.match(_path_of(act))
    }
    every = {
        (method, route.path)
        for route in (*API_ROUTES, *PEOPLE_ROUTES)
        for method in set(route.methods or ()) - {"HEAD"}
    }

    missing = {(method, path) for method, path in every - known if not re.search("login", path)}
    # a piece of an upload is refused by the same lookup that tells how far it has come
    assert {("PATCH", f"{V1}/uploads/{{ident}}")} == missing


def _path_of(act: Act) -> str:
    path = act.path.partition("?")[0]
    return path.replace("HOOK", "1").replace("TOKEN", "1")


UNSEEN = [
    (role, name)
    for role in ("nobody", "tenant")
    for name, (_act, table) in IN_A_NAMESPACE.items()
    if table["private"].split()[ROLES.index(role)] == "404"
]


@pytest.mark.parametrize(("role", "name"), UNSEEN)
def test_a_private_name_gives_the_same_answer_for_the_same_work_as_one_that_nobody_has(
    house: Tenants, role: str, name: str
) -> None:
    act, _table = IN_A_NAMESPACE[name]
    hidden = do(house, role, "private", act)

    absent = do(house, role, "private", act, "gonest")

    assert hidden.body == absent.body.replace(b"gonest", b"closed")
    assert (name, hidden.status, hidden.statements) == (name, absent.status, absent.statements)


@pytest.mark.parametrize("role", ["nobody", "tenant"])
@pytest.mark.parametrize(
    "path",
    [
        f"{V1}/search?q=columns",
        f"{V1}/search?q=columns&namespace=closed",
        f"{V1}/namespaces",
        f"{V1}/queue",
        f"{V1}/organisations",
        f"{V1}/tokens",
        f"{V1}/grants",
        "/.well-known/agent-skills/index.json",
    ],
)
def test_no_list_names_what_somebody_may_not_read(house: Tenants, role: str, path: str) -> None:
    answer = house.ask(role, "", "GET", path)

    assert b"wintry" not in answer.body
    assert b'"closed"' not in answer.body.replace(b'"query":"closed"', b"")


@pytest.mark.parametrize(
    "path",
    [
        f"{V1}/skills/te%00am/x",
        f"{V1}/skills/%ff/x",
        f"{V1}/tokens/99999999999999999999999999",
        f"{V1}/search?q=%00",
        f"{V1}/namespaces/%F0%9F%98%80/webhooks/1",
    ],
)
def test_no_odd_address_makes_the_hub_fail(house: Tenants, path: str) -> None:
    method = "DELETE" if "tokens" in path or "webhooks" in path else "GET"

    answer = house.ask("hub", "", method, path)

    assert answer.status in {200, 400, 404}, answer.body


def test_every_act_that_changes_something_is_in_the_audit_log(house: Tenants) -> None:
    silent = []
    for name, (act, table) in {**IN_A_NAMESPACE}.items():
        allowed = table["private"].split()[ROLES.index("hub")]
        if act.method == "GET" or name in {"count an install", "unyank"} or allowed[0] != "2":
            continue
        written = _written_by(house, name, act)
        if not written:
            silent.append(name)

    assert [] == silent


def _written_by(house: Tenants, name: str, act: Act) -> list[str]:
    """Give what an act writes into the audit log, before it is undone."""
    from metier.hub import audit_log

    written: list[str] = []
    real = audit_log.record

    def record(connection: Any, now: int, caller: Any, what: str, *rest: Any, **more: Any) -> None:
        written.append(what)
        real(connection, now, caller, what, *rest, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit_log, "record", record)
        answer = do(house, "hub", "private", act)
    assert answer.status in {200, 201}, (name, answer.body)
    return written
