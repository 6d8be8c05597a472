"""An npm registry, read-only, whose packages are plugins of one skill each: `@NAMESPACE/NAME`. Claude
Code and Codex fetch plugins from npm registries as archives, so no git is needed.

A package has a `package.json` without any script, a plugin's manifests, and the skill below `skills/`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from metier.errors import NotFoundError
from metier.hub.api import ask, hub_of
from metier.hub.clients.shelf import files_of, given_release, offered_releases
from metier.hub.here import address_of_hub
from metier.hub.releases import LATEST
from metier.supply.archives.write_tar import PackFile, pack_tar_gz

if TYPE_CHECKING:
    from typing import Any

    from starlette.requests import Request

    from metier.hub.hub import Hub
    from metier.hub.model import Caller, Release

FOLDER = "/npm"
MAX_VERSIONS = 50
"""How many of a package's newest versions are told."""
MAX_SUMMED_BYTES = 2 << 20
"""A package that is larger is told without its hash: to hash one is to make it."""
MAX_KNOWN = 10_000


class PackageSums:
    """The hashes of packages that were made here before: a package never changes."""

    def __init__(self) -> None:
        """Know none."""
        self._known: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._guard = threading.Lock()

    def of(self, hub: Hub, release: Release) -> str:
        """Give the hash of a release's package, as npm writes it."""
        key = (f"{release.namespace}@{release.version}", release.archive)
        with self._guard:
            found = self._known.get(key)
        if found is None:
            found = _integrity(package_of(hub, release))
            with self._guard:
                self._known[key] = found
                while len(self._known) > MAX_KNOWN:
                    self._known.popitem(last=False)
        return found


_SUMS = PackageSums()


def package_name(namespace: str, name: str) -> str:
    """Give what npm calls a skill."""
    return f"@{namespace}/{name}"


def package_of(hub: Hub, release: Release) -> bytes:
    """Pack a release as a plugin."""
    about = {
        "name": release.name,
        "version": release.version,
        "description": release.description,
        "author": {"name": release.namespace},
    }
    package = {
        **about,
        "name": package_name(release.namespace, release.name),
        "license": "UNLICENSED",
    }
    told = {
        "package.json": package,
        ".claude-plugin/plugin.json": about,
        ".codex-plugin/plugin.json": {**about, "skills": "./skills/"},
    }
    files = [
        PackFile(f"package/{path}", json.dumps(found, indent=1).encode() + b"\n")
        for path, found in told.items()
    ]
    files += [
        PackFile(f"package/skills/{release.name}/{one.path}", one.data, one.executable)
        for one in files_of(hub, release)
    ]
    return pack_tar_gz(files)


def _integrity(data: bytes) -> str:
    return "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()


def describe_package(
    hub: Hub, caller: Caller, namespace: str, name: str, at: str
) -> dict[str, Any]:
    """Write what npm asks for before it fetches a package; `at` is where the registry is."""
    skill, found = offered_releases(hub, caller, namespace, name)
    full = package_name(namespace, skill.name)
    versions = {
        one.version: {
            "name": full,
            "version": one.version,
            "description": one.description,
            **({"deprecated": skill.deprecated} if skill.deprecated else {}),
            "dist": {
                "tarball": f"{at}/{full}/-/{skill.name}-{one.version}.tgz",
                **({"integrity": _SUMS.of(hub, one)} if one.size <= MAX_SUMMED_BYTES else {}),
            },
        }
        for one in found[:MAX_VERSIONS]
    }
    newest = skill.latest if skill.latest in versions else found[0].version
    return {"name": full, "dist-tags": {LATEST: newest}, "versions": versions}


def _split(path: str) -> tuple[str, str, str]:
    """Part `@NAMESPACE/NAME` from what comes after it."""
    place, _, rest = path.partition("/-/")
    scope, slash, name = place.partition("/")
    if not slash or not scope.startswith("@") or "/" in name:
        raise NotFoundError("the hub has no such package", hint="its packages are @NAMESPACE/NAME")
    return scope[1:], name, rest


async def _answer(request: Request) -> Response:
    space, name, file = _split(request.path_params["path"])
    if not file:
        at = address_of_hub(hub_of(request), request) + FOLDER
        return JSONResponse(await ask(request, describe_package, space, name, at))
    version = file.removesuffix(".tgz").removeprefix(f"{name}-")
    found = await ask(request, given_release, space, name, version)
    data = await run_in_threadpool(package_of, hub_of(request), found)
    headers = {"content-encoding": "identity"}  # it is packed already
    return Response(data, media_type="application/octet-stream", headers=headers)


ROUTES = [Route(f"{FOLDER}/{{path:path}}", _answer)]
