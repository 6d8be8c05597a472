"""Samples for the stage: files of the kinds that skills say they read, and values by their names. Pure."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

from metier.run.observe.model import GIVEN_DOMAIN

if TYPE_CHECKING:
    from collections.abc import Iterator

_TABLE = "date,region,product,amount\n2026-01-04,north,desk,420.50\n2026-01-05,south,lamp,39.90\n"
_LOG = (
    "2026-01-05 09:12:01 INFO started\n2026-01-05 09:12:07 WARN slow query 812 ms\n"
    "2026-01-05 09:13:00 ERROR payment 4821 failed: timeout\n"
)
_NOTES = (
    "# Minutes\n\n- The export ships on Friday.\n- Ana checks the totals.\n\nSee [plan](plan.md).\n"
)
_PAGE = "<!doctype html><title>Prices</title><h1>Prices</h1><p>Desk: 420.50</p>\n"
_PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>"
    b"endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>\n"
)
_PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
FOLDER = "samples"
"""Where they lie, below the project."""
SAMPLES: dict[str, bytes] = {
    "csv": _TABLE.encode(),
    "tsv": _TABLE.replace(",", "\t").encode(),
    "json": b'{"items": [{"name": "desk", "price": 420.5}, {"name": "lamp", "price": 39.9}]}\n',
    "jsonl": b'{"name": "desk", "price": 420.5}\n{"name": "lamp", "price": 39.9}\n',
    "md": _NOTES.encode(),
    "txt": b"The export ships on Friday. Ana checks the totals before noon.\n",
    "log": _LOG.encode(),
    "yaml": b"name: export\nsteps:\n  - build\n  - check\n",
    "yml": b"name: export\nsteps:\n  - build\n  - check\n",
    "toml": b'[export]\nname = "export"\n',
    "xml": b"<items><item price='420.5'>desk</item></items>\n",
    "html": _PAGE.encode(),
    "sql": b"SELECT region, sum(amount) FROM orders GROUP BY region;\n",
    "ini": b"[export]\nname = export\n",
    "env": b"MODE=test\n",
    "py": b"def total(rows):\n    return sum(rows)\n",
    "js": b"export const total = (rows) => rows.reduce((a, b) => a + b, 0);\n",
    "sh": b"#!/bin/sh\necho done\n",
    "ics": b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Export\nDTSTART:20260109T090000Z\nEND:VEVENT\nEND:VCALENDAR\n",
    "pdf": _PDF,
    "png": _PNG,
    "jpg": b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0\xff\xd9",
}
"""What a file of each ending holds."""
DEFAULT_ENDING = "txt"
ENDING = re.compile(r"\.([a-z]{2,5})\b")
_VALUES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("email", "mail", "recipient"), "sam@example.org"),
    (("url", "uri", "endpoint", "link"), "https://service.example.org/page"),
    (("host", "domain", "server", "hostname"), "service.example.org"),
    (("port",), "8080"),
    (("key", "apikey", "token", "secret", "password"), "k-4f1c9d2e7ab0"),
    (("branch",), "main"),
    (("version", "tag"), "1.4.2"),
    (("repo", "repository"), "northlight-studio/sample"),
    (("days", "count", "number", "limit", "num", "size", "n"), "3"),
    (("date", "day", "since"), "2026-01-05"),
    (("month",), "2026-01"),
    (("dir", "directory", "folder"), FOLDER),
    (("project", "workspace", "root"), "."),
    (("name", "title", "subject", "query", "message", "text", "prompt", "topic", "keyword"), "sample"),
    (("user", "owner", "org", "username"), "sam"),
    (("id",), "42"),
)  # fmt: skip


def sample_files() -> Iterator[tuple[str, bytes]]:
    """Give every sample by its path below the project."""
    for ending, data in SAMPLES.items():
        yield sample_path(ending), data


def sample_path(ending: str) -> str:
    """Give the path of the sample with some ending, below the project."""
    return f"{FOLDER}/input.{ending if ending in SAMPLES else DEFAULT_ENDING}"


def words_of(name: str) -> set[str]:
    """Give the words that a name is made of."""
    return {word.lower() for word in re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", name) if word}


def value_of(name: str, domain: str) -> str:
    """Give a value by what something is called: a sample by its ending, or one made up, with hosts of a
    domain; nothing where the name says neither.
    """
    words = words_of(name)
    ending = ENDING.search(name.lower())
    known = ending[1] if ending else next((one for one in SAMPLES if one in words), "")
    if known in SAMPLES:
        return sample_path(known)
    found = next((value for some, value in _VALUES if words & set(some)), "")
    return found.replace(GIVEN_DOMAIN, domain)
