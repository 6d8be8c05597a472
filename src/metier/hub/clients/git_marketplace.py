"""A marketplace as a git repository, for Codex, which takes one from nowhere else: a single commit
with the marketplace's file, read-only, by git's plain protocol over HTTP. The plugins themselves
come from the hub's npm registry.

The repository is written anew for each request, from what is offered just then. The same offer gives
the same commit, so several processes of a hub answer alike.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from typing import TYPE_CHECKING, NamedTuple

from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from metier.errors import NotFoundError
from metier.hub.api import ask, caller_of, hub_of
from metier.hub.clients.login import CHALLENGE
from metier.hub.clients.marketplace import FILE, marketplace_of
from metier.hub.here import address_of_hub

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

    from metier.hub.hub import Hub
    from metier.hub.model import Caller

FOLDERS = (".agents/plugins", ".claude-plugin")
"""Where the two clients look for it."""
REPOSITORY = "marketplace.git"
BRANCH = "refs/heads/main"
_OBJECT = re.compile(r"objects/([0-9a-f]{2})/([0-9a-f]{38})\Z")
_TYPES: Mapping[str, str] = {"blob": "100644", "tree": "40000"}
_WHEN = "0 +0000"
"""One time for all: a commit is its content."""


class GitRepository(NamedTuple):
    """A repository of one commit."""

    commit: str
    objects: dict[str, bytes]
    """By their ids, each as it lies in a repository."""


def write_repository(files: Mapping[str, bytes], message: str) -> GitRepository:
    """Write a commit with some files."""
    objects: dict[str, bytes] = {}
    tree = _write_tree(objects, files)
    who = f"metier hub <hub@localhost> {_WHEN}"
    text = f"tree {tree}\nauthor {who}\ncommitter {who}\n\n{message}\n"
    return GitRepository(_write(objects, "commit", text.encode()), objects)


def _write_tree(objects: dict[str, bytes], files: Mapping[str, bytes]) -> str:
    below: dict[str, dict[str, bytes]] = {}
    rows: list[tuple[str, str, str]] = []
    for path, data in files.items():
        first, slash, rest = path.partition("/")
        if slash:
            below.setdefault(first, {})[rest] = data
        else:
            rows.append((first, "blob", _write(objects, "blob", data)))
    rows += [(name, "tree", _write_tree(objects, inside)) for name, inside in below.items()]
    rows.sort(key=lambda row: f"{row[0]}/" if row[1] == "tree" else row[0])
    content = b"".join(
        f"{_TYPES[kind]} {name}\0".encode() + bytes.fromhex(ident) for name, kind, ident in rows
    )
    return _write(objects, "tree", content)


def _write(objects: dict[str, bytes], kind: str, content: bytes) -> str:
    whole = f"{kind} {len(content)}\0".encode() + content
    ident = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
    objects[ident] = zlib.compress(whole)
    return ident


def repository_of(hub: Hub, caller: Caller, namespace: str, at: str) -> GitRepository:
    """Write the repository of a marketplace."""
    told = marketplace_of(hub, caller, namespace, at)
    data = json.dumps(told, indent=1, sort_keys=True).encode() + b"\n"
    return write_repository({f"{folder}/{FILE}": data for folder in FOLDERS}, f"Skills of {at}")


def file_of(found: GitRepository, path: str) -> bytes:
    """Give a file of the repository, as git asks for it."""
    if path == "HEAD":
        return f"ref: {BRANCH}\n".encode()
    if path == "info/refs":
        return f"{found.commit}\t{BRANCH}\n".encode()
    asked = _OBJECT.match(path)
    data = found.objects.get(f"{asked[1]}{asked[2]}") if asked else None
    if data is None:
        raise NotFoundError("the repository has no such file", hint="clone it again")
    return data


async def _give(request: Request) -> Response:
    at = address_of_hub(hub_of(request), request)
    try:
        found = await ask(request, repository_of, request.path_params.get("ns", ""), at)
        data = file_of(found, request.path_params["path"])
    except NotFoundError:
        if caller_of(request).kind != "nobody" or not request.path_params.get("ns"):
            raise
        # git shows what it has only when it is asked, whether the thing is there or not
        return PlainTextResponse("log in to see it\n", 401, {"www-authenticate": CHALLENGE})
    headers = {"content-encoding": "identity", "cache-control": "no-cache"}
    kind = "application/octet-stream" if "objects/" in request.url.path else "text/plain"
    return Response(data, media_type=kind, headers=headers)


ROUTES = [
    Route(f"/{REPOSITORY}/{{path:path}}", _give),
    Route(f"/ns/{{ns}}/{REPOSITORY}/{{path:path}}", _give),
]
