"""The hubs that you know: for each its public key, as it was when you first met it, your token, and how
far you saw its logs of approvals.
One file below METIER_HOME that nobody else can read.
"""

from __future__ import annotations

import json
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from metier.discover.io import disk
from metier.errors import StoreError
from metier.store.io import safe_files
from metier.supply.approvals import SeenHead

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from metier.context import Context

MAX_HUBS_BYTES = 1 << 20


class KnownHub(NamedTuple):
    """What is kept of one hub."""

    key: str
    """Its public key, as PEM."""
    token: str = ""
    logs: Mapping[str, SeenHead] = MappingProxyType({})
    """Where the log of approvals of each namespace ended when it was last seen."""


def hubs_path(context: Context) -> str:
    """Give the file; refuse where there is no place for it."""
    if not context.data:
        raise StoreError("there is no place to keep a login", hint="set METIER_HOME or HOME")
    return f"{context.data}/hubs.json"


def read_hubs(context: Context) -> dict[str, KnownHub]:
    """Give all hubs by their addresses."""
    if not context.data:
        return {}
    path = hubs_path(context)
    head = disk.read_head(path, MAX_HUBS_BYTES)
    if head.fault:
        if not disk.is_there(path):
            return {}
        raise _damaged(path)
    try:
        told = json.loads(head.data)
        found = {str(base): _read_row(row) for base, row in told["hubs"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _damaged(path) from None
    return found


def change_hubs(
    context: Context, change: Callable[[dict[str, KnownHub]], dict[str, KnownHub]]
) -> None:
    """Write the file anew, one process at a time."""
    path = hubs_path(context)
    try:
        safe_files.make_folder(path.rpartition("/")[0], context.home)
        with safe_files.hold_lock(f"{path}.lock"):
            rows = {base: _row_of(one) for base, one in sorted(change(read_hubs(context)).items())}
            data = json.dumps({"version": 1, "hubs": rows}, indent=1).encode() + b"\n"
            safe_files.replace_file(path, data)
            with suppress(OSError):
                safe_files.tighten(path)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written: {safe_files.error_in_words(error)}",
            hint="check the disk, and who owns the folder",
        ) from error


def _read_row(row: dict[str, Any]) -> KnownHub:
    logs = {
        str(space): SeenHead(int(size), str(head))
        for space, (size, head) in dict(row.get("logs", {})).items()
    }
    return KnownHub(str(row["key"]), str(row.get("token", "")), logs)


def _row_of(hub: KnownHub) -> dict[str, Any]:
    row: dict[str, Any] = {"key": hub.key}
    if hub.token:
        row["token"] = hub.token
    if hub.logs:
        row["logs"] = {space: list(head) for space, head in sorted(hub.logs.items())}
    return row


def _damaged(path: str) -> StoreError:
    return StoreError(
        f"{path} is damaged, and nothing in it is used",
        code="hubs-file",
        hint="move it away and log in again: metier login URL",
    )
