"""The part of the hub's JSON interface that is about people: logging in through the provider, who has
logged in, organisations, and webhooks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse
from starlette.routing import Route

from metier.errors import UsageError
from metier.hub import accounts, login, namespaces, webhooks
from metier.hub.api import PREFIX, ask, hub_of, read_json, text_in

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from metier.hub.accounts import NewToken
    from metier.hub.hub import Hub

NO_STORE = {"cache-control": "no-store"}


async def _begin_login(request: Request) -> Response:
    told = await read_json(request)
    redirect = login.check_loopback(text_in(told, "redirect_uri"))
    begun = await run_in_threadpool(
        login.begin_login, hub_of(request), redirect, text_in(told, "challenge")
    )
    return JSONResponse(begun._asdict(), headers=NO_STORE)


async def _finish_login(request: Request) -> Response:
    told = await read_json(request)

    def finish(hub: Hub) -> NewToken:
        done = login.finish_login(
            hub,
            text_in(told, "state"),
            text_in(told, "code"),
            verifier=text_in(told, "verifier"),
            issuer=text_in(told, "iss"),
        )
        return login.token_of_person(hub, done.person)

    made = await run_in_threadpool(finish, hub_of(request))
    return _token_answer(made)


async def _begin_device(request: Request) -> Response:
    begun = await run_in_threadpool(login.begin_device, hub_of(request))
    return JSONResponse(begun._asdict(), headers=NO_STORE)


async def _finish_device(request: Request) -> Response:
    told = await read_json(request)
    code = text_in(told, "device_code")

    def finish(hub: Hub) -> NewToken | str:
        done = login.finish_device(hub, code)
        return done if isinstance(done, str) else login.token_of_person(hub, done.person)

    made = await run_in_threadpool(finish, hub_of(request))
    if isinstance(made, str):
        return JSONResponse({"pending": made}, 202, headers=NO_STORE)
    return _token_answer(made)


def _token_answer(made: NewToken) -> Response:
    told = {"token": made.token, "name": made.name, "expires_at": made.expires_at}
    return JSONResponse(told, 201, headers=NO_STORE)


async def _log_out(request: Request) -> Response:
    token = request.headers.get("authorization", "").partition(" ")[2].strip()
    await ask(request, login.log_out, token)
    return JSONResponse({"ok": True})


async def _people(request: Request) -> Response:
    found = await ask(request, accounts.list_people)
    return JSONResponse({"people": [one._asdict() for one in found]})


async def _end_logins(request: Request) -> Response:
    count = await ask(request, accounts.end_logins, request.path_params["ident"])
    return JSONResponse({"ended": count})


async def _organisations(request: Request) -> Response:
    if request.method == "GET":
        found = await ask(request, namespaces.managed_organisations)
        return JSONResponse({"organisations": found})
    told = await read_json(request)
    made = await ask(request, namespaces.add_organisation, text_in(told, "name"))
    return JSONResponse({"name": made, "namespaces": []}, 201)


async def _webhooks(request: Request) -> Response:
    name = request.path_params["ns"]
    if request.method == "GET":
        found = await ask(request, webhooks.list_webhooks, name)
        rows = [
            {**one._asdict(), "deliveries": [each._asdict() for each in one.deliveries]}
            for one in found
        ]
        return JSONResponse({"webhooks": rows})
    told = await read_json(request)
    events = told.get("events", [])
    if not isinstance(events, list) or not all(isinstance(one, str) for one in events):
        raise UsageError("'events' is a list of texts", hint="check the request")
    made = await ask(request, webhooks.add_webhook, name, text_in(told, "url"), events)
    return JSONResponse(made._asdict(), 201, headers=NO_STORE)


async def _remove_webhook(request: Request) -> Response:
    ident = request.path_params["ident"]
    await ask(request, webhooks.remove_webhook, request.path_params["ns"], ident)
    return JSONResponse({"removed": ident})


_HOOKS = f"{PREFIX}/namespaces/{{ns}}/webhooks"
ROUTES = [
    Route(f"{PREFIX}/login/begin", _begin_login, methods=["POST"]),
    Route(f"{PREFIX}/login/finish", _finish_login, methods=["POST"]),
    Route(f"{PREFIX}/login/device", _begin_device, methods=["POST"]),
    Route(f"{PREFIX}/login/device/finish", _finish_device, methods=["POST"]),
    Route(f"{PREFIX}/logout", _log_out, methods=["POST"]),
    Route(f"{PREFIX}/people", _people),
    Route(f"{PREFIX}/people/{{ident:int}}/logout", _end_logins, methods=["POST"]),
    Route(f"{PREFIX}/organisations", _organisations, methods=["GET", "POST"]),
    Route(_HOOKS, _webhooks, methods=["GET", "POST"]),
    Route(f"{_HOOKS}/{{ident:int}}", _remove_webhook, methods=["DELETE"]),
]
