"""What happened in a namespace, as an Atom feed: what was approved, yanked or deprecated, the newest
first. A private one is for those who may read the namespace.
"""

from __future__ import annotations

import html
import json
import re
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import Route

from metier.hub.api import caller_of, hub_of
from metier.hub.here import address_of_hub
from metier.hub.namespaces import need_namespace

if TYPE_CHECKING:
    from starlette.requests import Request

    from metier.hub.hub import Hub
    from metier.hub.model import Caller

MAX_ENTRIES = 100
WORDS = {
    "approve": "approved",
    "yank": "yanked",
    "unyank": "brought back",
    "deprecate": "deprecated",
}
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML document may hold, not even written as a number."""


class FeedEntry(NamedTuple):
    """One thing that happened."""

    number: int
    what: str
    at: int
    name: str
    version: str
    level: str
    by: str
    reason: str


def entries_of(hub: Hub, caller: Caller, namespace: str) -> list[FeedEntry]:
    """Give what happened in a namespace that somebody may read, the newest first."""
    with hub.database.read() as connection:
        space = need_namespace(connection, caller, namespace)
        rows = connection.rows(
            "SELECT number, entry FROM approvals WHERE namespace_id = ? ORDER BY number DESC LIMIT ?",
            space.id,
            MAX_ENTRIES,
        )
    found = []
    for row in rows:
        entry = json.loads(row["entry"])
        what = WORDS.get(entry["what"], entry["what"])
        if entry["what"] == "deprecate" and not entry["reason"]:
            what = "recommended again"
        found.append(
            FeedEntry(
                number=row["number"],
                what=what,
                at=entry["at"],
                name=entry["name"],
                version=entry["version"],
                level=entry["level"],
                by=", ".join(entry["by"]),
                reason=entry["reason"],
            )
        )
    return found


def feed_text(hub: Hub, base: str, namespace: str, entries: list[FeedEntry]) -> str:
    """Write a feed."""
    own = f"{base}/ns/{namespace}/feed.atom"
    updated = _moment(entries[0].at if entries else 0)
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<id>urn:metier:{_xml(hub.id)}:{_xml(namespace)}</id>",
        f"<title>{_xml(namespace)} on {_xml(hub.options.name)}</title>",
        f"<updated>{updated}</updated>",
        f'<link rel="self" href="{_xml(own)}"/>',
        f"<author><name>{_xml(hub.options.name)}</name></author>",
        *(_entry_text(hub, base, namespace, one) for one in entries),
        "</feed>",
    ]
    return "\n".join(lines) + "\n"


def _entry_text(hub: Hub, base: str, namespace: str, one: FeedEntry) -> str:
    skill = f"{base}/api/v1/skills/{namespace}/{one.name}/{one.version}"
    said = f"{one.what} by {one.by}, scan: {one.level}"
    if one.reason:
        said += f". {one.reason}"
    return (
        f"<entry><id>urn:metier:{_xml(hub.id)}:{_xml(namespace)}:{one.number}</id>"
        f"<title>{_xml(one.name)} {_xml(one.version)} {_xml(one.what)}</title>"
        f"<updated>{_moment(one.at)}</updated>"
        f'<link href="{_xml(skill)}"/>'
        f'<category term="{_xml(one.what)}"/>'
        f'<summary type="text">{_xml(said)}</summary></entry>'
    )


def _xml(text: str) -> str:
    return html.escape(_NO_XML.sub("\ufffd", text))


def _moment(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


async def _show_feed(request: Request) -> Response:
    hub = hub_of(request)
    namespace = request.path_params["ns"]
    entries = await run_in_threadpool(entries_of, hub, caller_of(request), namespace)
    base = address_of_hub(hub, request)
    text = feed_text(hub, base, namespace, entries)
    tag = f'"{sha256(text.encode()).hexdigest()[:32]}"'
    last = datetime.fromtimestamp(entries[0].at if entries else 0, UTC)
    headers = {
        "etag": tag,
        "last-modified": format_datetime(last, usegmt=True),
        "cache-control": "private, no-cache",
        "vary": "Authorization, Cookie",
    }
    if _is_known(request, tag, last):
        return Response(status_code=304, headers=headers)
    return Response(text, media_type="application/atom+xml", headers=headers)


def _is_known(request: Request, tag: str, last: datetime) -> bool:
    """Tell whether the reader has this feed: its tag says so, or, where it sends none, its date."""
    told = request.headers.get("if-none-match")
    if told is not None:
        tags = [one.strip().removeprefix("W/") for one in told.split(",")]
        return tag in tags or tags == ["*"]
    try:
        since = parsedate_to_datetime(request.headers.get("if-modified-since", ""))
    except (ValueError, TypeError):
        return False
    return since.tzinfo is not None and since >= last


ROUTES = [Route("/ns/{ns}/feed.atom", _show_feed)]
