"""The hub's JSON interface: one small function for each address, which reads the request, asks the
core in a worker thread, and writes the answer.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from metier import __version__
from metier.errors import RefusedError, UsageError
from metier.hub import (
    accounts,
    approval_log,
    audit_log,
    authorize,
    decide,
    namespaces,
    publish,
    releases,
)
from metier.hub.compare import compare_releases
from metier.hub.mirrored import read_proofs
from metier.hub.repeat import hash_of_request, keep_answer, known_answer
from metier.hub.search import HubQuery, search
from metier.hub.usage import count_install, installs_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from starlette.requests import Request

    from metier.hub.hub import Hub
    from metier.hub.io.database import Transaction
    from metier.hub.model import Caller, HubSkill, Namespace, Release, Row
    from metier.supply.approvals import LogEntry

    T = TypeVar("T")

MAX_JSON_BYTES = 1 << 20
MAX_JSON_BYTES_OF_NOBODY = 32 << 10
"""Of who has shown no token: enough for a login."""
MAX_BODIES = 8
"""How many archives, or pieces of them, are in memory at a time; further ones wait."""
MAX_BODIES_OF_ONE = 2
"""How many of them are one caller's."""
MAX_PUBLICATIONS = 16
"""How many are examined or wait for it at a time, so that other requests find a thread."""
BODY_SECONDS = 60
MAX_LOG_ENTRIES = 1000
MAX_PAGE = 500
PREFIX = "/api/v1"


def hub_of(request: Request) -> Hub:
    """Give the hub that a request is for."""
    found: Hub = request.app.state.hub
    return found


def caller_of(request: Request) -> Caller:
    """Give who asks."""
    found: Caller = request.scope["caller"]
    return found


async def ask(request: Request, act: Callable[..., T], *words: Any, **more: Any) -> T:
    """Ask the core as whoever sent this request."""
    return await run_in_threadpool(act, hub_of(request), caller_of(request), *words, **more)


async def read_body(request: Request, most: int) -> bytes:
    """Read what a request sends, within bounds."""
    data = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                data += chunk
                if len(data) > most:
                    raise RefusedError(
                        f"a request may have {most:,} bytes here",
                        code="too-large",
                        hint="send it in pieces",
                    )
    except TimeoutError:
        raise RefusedError(
            "the request did not arrive in time", code="web-too-slow", hint="send it again"
        ) from None
    return bytes(data)


async def read_json(request: Request) -> dict[str, Any]:
    """Read the JSON object that a request sends; nothing sent is an empty one."""
    known = caller_of(request).kind != "nobody"
    data = await read_body(request, MAX_JSON_BYTES if known else MAX_JSON_BYTES_OF_NOBODY)
    if not data.strip():
        return {}
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise UsageError("the request holds no JSON object", hint="send one")
    return found


def text_in(told: dict[str, Any], name: str) -> str:
    """Give a text of a request's JSON."""
    found = told.get(name, "")
    if not isinstance(found, str):
        raise UsageError(f"'{name}' is a text", hint="check the request")
    return found


def number_in(request: Request, name: str, default: int) -> int:
    """Give a number of a request's address."""
    text = request.query_params.get(name, "")
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise UsageError(f"'{name}' is a number", hint="check the address")
    return int(text)


# --- the hub, and who asks


async def _show_hub(request: Request) -> Response:
    hub = hub_of(request)

    def look() -> bool:
        with hub.database.read() as connection:
            return accounts.has_accounts(connection)

    oidc = (
        {"issuer": hub.options.issuer, "client_id": hub.options.client_id}
        if hub.options.issuer
        else None
    )
    return JSONResponse(
        {
            "name": hub.options.name,
            "id": hub.id,
            "version": __version__,
            "key": hub.public_key.decode("ascii"),
            "key_id": hub.key_id,
            "accounts": await run_in_threadpool(look),
            "oidc": oidc,
        }
    )


async def _who_am_i(request: Request) -> Response:
    caller = caller_of(request)
    if caller.kind == "nobody":
        raise RefusedError(
            "nobody is logged in", code="hub-no-token", hint="log in: metier login URL"
        )

    roles = await ask(request, accounts.roles_of)
    return JSONResponse({"kind": caller.kind, "name": caller.name, "roles": roles})


# --- finding and reading


async def _search(request: Request) -> Response:
    query = HubQuery(
        words=request.query_params.get("q", ""),
        namespace=request.query_params.get("namespace", ""),
        level=request.query_params.get("level", ""),
        category=request.query_params.get("category", ""),
        state=request.query_params.get("state", ""),
        limit=number_in(request, "limit", 20),
        offset=number_in(request, "offset", 0),
    )
    found = await ask(request, search, query)
    results = [_result_of(row) for row in found.rows]
    return JSONResponse(
        {"query": found.query, "total": found.total, "results": results, "facets": found.facets}
    )


def _result_of(row: Row) -> dict[str, Any]:
    return {
        "namespace": row["namespace"],
        "name": row["name"],
        "description": row["description"],
        "version": row["latest"],
        "level": row["level"],
        "deprecated": row["deprecated"],
        "installs": row["installs"],
    }


def namespace_document(space: Namespace) -> dict[str, Any]:
    """Write a namespace for a program."""
    return {
        "name": space.name,
        "visibility": space.visibility,
        "state": space.state,
        "policy": space.policy,
        "quota_bytes": space.quota_bytes,
        "used_bytes": space.used_bytes,
    }


async def _list_namespaces(request: Request) -> Response:
    found = await ask(request, namespaces.list_namespaces)
    return JSONResponse({"namespaces": [namespace_document(one) for one in found]})


async def _add_namespace(request: Request) -> Response:
    told = await read_json(request)
    made = await ask(
        request,
        namespaces.add_namespace,
        text_in(told, "name"),
        text_in(told, "organisation"),
        text_in(told, "visibility") or "private",
    )
    return JSONResponse(namespace_document(made), 201)


async def _show_namespace(request: Request) -> Response:
    def look(hub: Hub, caller: Caller, name: str) -> Namespace:
        with hub.database.read() as connection:
            return namespaces.need_namespace(connection, caller, name)

    found = await ask(request, look, request.path_params["ns"])
    return JSONResponse(namespace_document(found))


async def _change_namespace(request: Request) -> Response:
    told = await read_json(request)
    found = await ask(request, namespaces.change_namespace, request.path_params["ns"], told)
    return JSONResponse(namespace_document(found))


def skill_document(skill: HubSkill) -> dict[str, Any]:
    """Write a skill for a program."""
    return {
        "namespace": skill.namespace.name,
        "name": skill.name,
        "description": skill.description,
        "latest": skill.latest,
        "level": skill.level,
        "deprecated": skill.deprecated,
        "installs": skill.installs,
    }


async def _list_skills(request: Request) -> Response:
    limit = min(number_in(request, "limit", 100), MAX_PAGE)
    offset = number_in(request, "offset", 0)
    found = await ask(request, releases.list_skills, request.path_params["ns"], limit, offset)
    return JSONResponse({"skills": [skill_document(one) for one in found]})


def read_skill(
    hub: Hub, caller: Caller, namespace: str, name: str
) -> tuple[HubSkill, list[Release]]:
    """Give a skill and the releases of it that somebody may see."""
    with hub.database.read() as connection:
        return releases.need_skill(connection, caller, namespace, name)


def read_release(hub: Hub, caller: Caller, namespace: str, name: str, version: str) -> Release:
    """Give a release that somebody may see."""
    with hub.database.read() as connection:
        return releases.need_release(connection, caller, namespace, name, version)[1]


async def _show_skill(request: Request) -> Response:
    skill, found = await ask(request, read_skill, *_place(request))
    rows = [
        {
            "version": one.version,
            "state": one.state,
            "level": one.level,
            "score": one.score,
            "digest": one.digest,
            "created_at": one.created_at,
            "reason": one.reason,
        }
        for one in found
    ]
    return JSONResponse({**skill_document(skill), "releases": rows})


def release_document(release: Release, entry: LogEntry | None = None) -> dict[str, Any]:
    """Write a release for a program."""
    found = release._asdict()
    for name in ("id", "skill", "publisher_ident"):
        del found[name]
    return {
        **found,
        "files": [one._asdict() for one in release.files],
        "findings": list(release.findings),
        "log": entry._asdict() if entry is not None else None,
    }


def _entry_about(hub: Hub, release: Release) -> LogEntry | None:
    """Give the newest entry of the log that says in which state this release is."""
    with hub.database.read() as connection:
        return approval_log.newest_about(connection, release.id)


async def _show_release(request: Request) -> Response:
    found = await ask(request, read_release, *_place(request), request.path_params["version"])
    entry = await run_in_threadpool(_entry_about, hub_of(request), found)
    return JSONResponse(release_document(found, entry))


async def _give_archive(request: Request) -> Response:
    found = await ask(request, read_release, *_place(request), request.path_params["version"])
    tag = f'"{found.archive}"'
    headers = {
        "etag": tag,
        "content-encoding": "identity",  # it is packed already
        "cache-control": "private, max-age=31536000, immutable",
        "content-disposition": f'attachment; filename="{found.name}-{found.version}.tar.gz"',
    }
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    data = await run_in_threadpool(releases.archive_of, hub_of(request), found)
    return Response(data, media_type="application/gzip", headers=headers)


async def _compare(request: Request) -> Response:
    told = request.query_params
    found = await ask(
        request, compare_releases, *_place(request), told.get("from", ""), told.get("to", "latest")
    )
    return JSONResponse(found)


def _place(request: Request) -> tuple[str, str]:
    return request.path_params["ns"], request.path_params["name"]


# --- publishing


async def _put_blob(request: Request) -> Response:
    sha256 = request.path_params["sha256"]
    if request.method == "HEAD":
        known = await ask(request, publish.has_blob, sha256)
        return Response(status_code=200 if known else 404)
    publish.check_may_upload(caller_of(request))
    async with request.app.state.bodies.take(caller_of(request)):
        data = await read_body(request, publish.MAX_BLOB_BYTES)
        is_new = await ask(request, publish.put_blob, sha256, data)
    return JSONResponse({"sha256": sha256, "size": len(data)}, 201 if is_new else 200)


async def _begin_upload(request: Request) -> Response:
    told = await read_json(request)
    size = told.get("size")
    if not isinstance(size, int) or isinstance(size, bool):
        raise UsageError("'size' is a number of bytes", hint="check the request")
    ident, received = await ask(request, publish.begin_upload, text_in(told, "sha256"), size)
    return JSONResponse({"id": ident, "received": received}, 201)


async def _add_piece(request: Request) -> Response:
    ident = request.path_params["ident"]
    if request.method == "GET":
        return JSONResponse({"received": await ask(request, publish.upload_state, ident)})
    offset = request.headers.get("upload-offset", "")
    if not offset.isascii() or not offset.isdigit() or len(offset) > 12:
        raise UsageError("Upload-Offset is missing", hint="say where this piece begins")
    await ask(request, publish.upload_state, ident)  # not another's, before it is read
    async with request.app.state.bodies.take(caller_of(request)):
        data = await read_body(request, publish.MAX_PIECE_BYTES)
        received = await ask(request, publish.add_piece, ident, int(offset), data)
    return JSONResponse({"received": received})


async def _publish(request: Request) -> Response:
    told = await read_json(request)
    key = request.headers.get("idempotency-key", "")
    asked = hash_of_request(request.url.path, json.dumps(told, sort_keys=True))
    known = await ask(request, known_answer, key, asked) if key else None
    if known is not None:
        return Response(known[1], known[0], media_type="application/json")
    provenance = told.get("provenance") or {}
    if not isinstance(provenance, dict):
        raise UsageError("'provenance' is an object", hint="check the request")
    wish = publish.ReleaseWish(
        archive=text_in(told, "archive"),
        version=text_in(told, "version"),
        source=text_in(provenance, "source"),
        revision=text_in(provenance, "revision"),
        signature=text_in(told, "signature"),
        mirrored=read_proofs(provenance.get("mirrored", [])),
    )
    hub, caller = hub_of(request), caller_of(request)

    answers = []

    def keep(connection: Transaction, done: publish.Publication) -> None:
        status = 201 if done.is_new else 200
        answer = status, json.dumps(release_document(done.release))
        if key:
            answer = keep_answer(connection, hub.now(), caller, key, asked, answer)
        answers.append(answer)

    async with request.app.state.publications:
        await ask(request, publish.publish, *_place(request), wish, keep)
    status, body = answers[-1]
    return Response(body, status, media_type="application/json")


async def _decide(request: Request) -> Response:
    told = await read_json(request)
    reason = text_in(told, "reason")
    where = (*_place(request), request.path_params["version"])
    what = request.path_params["what"]
    if what in {"yank", "unyank"}:
        found = await ask(request, decide.yank, *where, reason=reason, back=what == "unyank")
    elif what in {"approve", "reject"}:
        act = decide.approve if what == "approve" else decide.reject
        found = await ask(request, act, *where, reason)
    else:
        raise UsageError(
            f"a release cannot be asked to '{what}'", hint="approve, reject, yank or unyank"
        )
    return JSONResponse(release_document(found))


async def _deprecate(request: Request) -> Response:
    told = await read_json(request)
    reason = await ask(request, decide.deprecate, *_place(request), text_in(told, "reason"))
    return JSONResponse({"deprecated": reason})


async def _show_queue(request: Request) -> Response:
    found = await ask(request, releases.pending_releases)
    return JSONResponse({"releases": [release_document(one) for one in found]})


async def _show_log(request: Request) -> Response:
    name = request.path_params["ns"]
    first = number_in(request, "from", 0)
    limit = min(number_in(request, "limit", MAX_LOG_ENTRIES), MAX_LOG_ENTRIES)

    def look(hub: Hub, caller: Caller) -> tuple[LogEntry, list[LogEntry], str]:
        with hub.database.read() as connection:
            space = namespaces.need_namespace(connection, caller, name)
            head = approval_log.head_of(connection, space.id)
            entries = approval_log.entries_from(connection, space.id, first, limit)
        return head, entries, decide.signed_head(hub, name, head)

    head, entries, signature = await ask(request, look)
    return JSONResponse(
        {
            "namespace": name,
            "size": head.number,
            "head": head.hash,
            "signature": signature,
            "entries": [one._asdict() for one in entries],
        }
    )


# --- administration


async def _tokens(request: Request) -> Response:
    if request.method == "GET":
        found = await ask(request, accounts.list_tokens)
        return JSONResponse({"tokens": [one._asdict() for one in found]})
    told = await read_json(request)
    days = told.get("days", 0)
    if not isinstance(days, int) or isinstance(days, bool) or not 0 <= days <= 3660:
        raise UsageError("'days' is a number of days", hint="leave it away for a token that stays")
    made = await ask(
        request,
        accounts.add_token,
        name=text_in(told, "name"),
        role=text_in(told, "role"),
        namespace=text_in(told, "namespace"),
        organisation=text_in(told, "organisation"),
        expires_at=hub_of(request).now() + days * 86_400 if days else 0,
    )
    return JSONResponse(made._asdict(), 201)


async def _revoke_token(request: Request) -> Response:
    await ask(request, accounts.revoke_token, request.path_params["ident"])
    return JSONResponse({"revoked": request.path_params["ident"]})


async def _grants(request: Request) -> Response:
    if request.method == "GET":
        return JSONResponse({"grants": await ask(request, accounts.list_grants)})
    told = await read_json(request)
    await ask(
        request,
        accounts.set_grant,
        kind=text_in(told, "kind"),
        who=text_in(told, "who"),
        role=text_in(told, "role"),
        namespace=text_in(told, "namespace"),
        organisation=text_in(told, "organisation"),
        listed=request.method == "POST",
    )
    return JSONResponse({"ok": True})


async def _policy(request: Request) -> Response:
    if request.method == "PUT":
        told = await read_json(request)
        return JSONResponse(await ask(request, namespaces.set_hub_policy, told))

    def look(hub: Hub, caller: Caller) -> dict[str, Any]:
        if caller.kind == "nobody":
            raise authorize.forbidden("only members of the hub see its policy")
        with hub.database.read() as connection:
            return namespaces.hub_policy(connection)

    return JSONResponse(await ask(request, look))


async def _audit(request: Request) -> Response:
    query = audit_log.AuditQuery(
        who=request.query_params.get("who", ""),
        what=request.query_params.get("what", ""),
        about=request.query_params.get("about", ""),
        before=number_in(request, "before", 0),
        limit=min(number_in(request, "limit", 100), MAX_PAGE),
    )
    return JSONResponse({"events": await ask(request, audit_log.list_events, query)})


async def _count_install(request: Request) -> Response:
    told = await read_json(request)
    words = [text_in(told, name) for name in ("namespace", "name", "version")]
    await ask(request, count_install, *words)
    return JSONResponse({"ok": True})


async def _show_usage(request: Request) -> Response:
    found = await ask(request, installs_of, request.path_params["ns"])
    return JSONResponse({"installs": found})


_SKILL = f"{PREFIX}/skills/{{ns}}/{{name}}"
ROUTES = [
    Route(f"{PREFIX}/hub", _show_hub),
    Route(f"{PREFIX}/whoami", _who_am_i),
    Route(f"{PREFIX}/search", _search),
    Route(f"{PREFIX}/namespaces", _list_namespaces),
    Route(f"{PREFIX}/namespaces", _add_namespace, methods=["POST"]),
    Route(f"{PREFIX}/namespaces/{{ns}}", _show_namespace),
    Route(f"{PREFIX}/namespaces/{{ns}}", _change_namespace, methods=["PATCH"]),
    Route(f"{PREFIX}/blobs/{{sha256}}", _put_blob, methods=["PUT", "HEAD"]),
    Route(f"{PREFIX}/uploads", _begin_upload, methods=["POST"]),
    Route(f"{PREFIX}/uploads/{{ident}}", _add_piece, methods=["GET", "PATCH"]),
    Route(f"{PREFIX}/queue", _show_queue),
    Route(f"{PREFIX}/log/{{ns}}", _show_log),
    Route(f"{PREFIX}/tokens", _tokens, methods=["GET", "POST"]),
    Route(f"{PREFIX}/tokens/{{ident:int}}", _revoke_token, methods=["DELETE"]),
    Route(f"{PREFIX}/grants", _grants, methods=["GET", "POST", "DELETE"]),
    Route(f"{PREFIX}/policy", _policy, methods=["GET", "PUT"]),
    Route(f"{PREFIX}/audit", _audit),
    Route(f"{PREFIX}/installs", _count_install, methods=["POST"]),
    Route(f"{PREFIX}/usage/{{ns}}", _show_usage),
    Route(f"{PREFIX}/skills/{{ns}}", _list_skills),
    Route(_SKILL, _show_skill),
    Route(f"{_SKILL}/releases", _publish, methods=["POST"]),
    Route(f"{_SKILL}/deprecate", _deprecate, methods=["POST"]),
    Route(f"{_SKILL}/diff", _compare),
    Route(f"{_SKILL}/{{version}}", _show_release),
    Route(f"{_SKILL}/{{version}}/archive", _give_archive),
    Route(f"{_SKILL}/{{version}}/{{what}}", _decide, methods=["POST"]),
]
