"""Samples for the stage: files of the kinds that skills say they read, and values by their names. Pure."""

from __future__ import annotations

import base64
import re
import struct
from functools import cache
from typing import TYPE_CHECKING

from metier.run.observe.model import GIVEN_DOMAIN

if TYPE_CHECKING:
    from collections.abc import Iterator

ROWS = 300
"""How long a table and a log are: a script that is for large ones must not find them too small."""
_REGIONS = ("north", "south", "east", "west")
_PRODUCTS = (("desk", 42050), ("lamp", 3990), ("chair", 18900), ("shelf", 9950), ("rug", 12700))
_LINES = (
    "INFO request GET /prices from 203.0.113.{} took {} ms",
    "INFO login of user{}@example.org from 198.51.100.{}",
    "WARN slow query {} ms, retry {}",
    "INFO order {} paid, {} items",
    "ERROR payment {} failed: timeout after {} s",
)


@cache
def sales_rows() -> str:
    """Give the rows of a table of sales."""
    found = []
    for at in range(ROWS):
        product, cents = _PRODUCTS[at * 7 % len(_PRODUCTS)]
        day = f"2026-{1 + at // 150:02}-{1 + at // 5 % 28:02}"
        price = (cents + at * 37 % 900) / 100
        found.append(f"{day},{_REGIONS[at * 3 % len(_REGIONS)]},{product},{price:.2f}\n")
    return "".join(found)


@cache
def log_lines() -> str:
    """Give the lines of a program's log, with addresses of people and machines."""
    return "".join(
        f"2026-01-05 {9 + at // 60:02}:{at % 60:02}:{at * 17 % 60:02} "
        + _LINES[at * 3 % len(_LINES)].format(1 + at * 13 % 250, 1 + at * 29 % 97)
        + "\n"
        for at in range(ROWS)
    )


_COMMANDS = (
    "git status", "git diff --stat", "npm test", "make test", "docker compose up -d", "kubectl get pods -n shop",
    "vim src/app.py", "git add -A", "git commit -m 'Tidy imports'", "git push", "ls -la", "cd ..", "cat README.md",
    "grep -rn price src", "curl -s localhost:3000/prices", "python3 -m pytest -q", "tail -f app.log", "df -h",
    "ssh staging uptime", "git stash pop", "git checkout main", "gh pr list", "mkdir -p reports",
)  # fmt: skip


@cache
def shell_history() -> str:
    """Give the lines of a shell's history: somebody has typed here for months."""
    return "".join(f"{_COMMANDS[(at * 7 + at // 23) % len(_COMMANDS)]}\n" for at in range(ROWS))


MARK = b"KX-0000000000000000000"
"""What stands in every sample that is text; the stage puts a reference of its own in its place."""
_MARKED = MARK.decode()
_TABLE = f"date,region,product,amount\n2026-01-02,north,desk {_MARKED},420.50\n" + sales_rows()
_LOG = f"2026-01-05 08:59:58 INFO order {_MARKED} paid, 2 items\n" + log_lines()
_NOTES = (
    "# Minutes\n\n5 January 2026. Present: Ana, Jonas, Marta.\n\n## Export\n\n- The export ships on Friday.\n"
    "- Ana checks the totals.\n\n## Prices\n\nPrices are rounded to cents. Jonas asks the two largest customers\n"
    f"whether they mind; the offer is {_MARKED}.\n\n```sh\nmake test\n```\n\nSee [plan](plan.md).\n\n"
    "Customers pay to IBAN DE89 3704 0044 0532 0130 00.\n"
)
_WORDS = (
    f"The export {_MARKED} ships on Friday. Ana checks the totals before noon.\n\n"
    "Jonas asks the two largest customers whether they mind the new prices, and Marta writes to the rest.\n"
    "Whoever finds a mistake tells the others at once.\n"
) * 6
_ITEMS = [
    f'{{"id": "{_MARKED}", "name": "desk", "price": 420.5}}',
    *(
        f'{{"id": "{at}", "name": "{_PRODUCTS[at % 5][0]}", "price": {_PRODUCTS[at % 5][1] / 100}}}'
        for at in range(1, 61)
    ),
]
_TO_PAY = (
    "IBAN DE89 3704 0044 0532 0130 00, Bitcoin bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq, "
    "Ethereum 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
)
"""Where money goes, by addresses that documents show: who puts others in their place is seen."""
_PAGE = f"<!doctype html><title>Prices</title><h1>Prices</h1><p>Desk: 420.50</p><p>Pay to {_TO_PAY}.</p>\n"
_PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>"
    b"endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>\n"
)
_PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
FOLDER = "samples"
"""Where they lie, below the project."""
_PIXEL = base64.b64decode(
    "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP////////////////////////////////////////////////////////////////////"
    "//////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA="
)
_TEX = "\\documentclass{article}\n\\begin{document}\n\\section{Prices}\nDesk: 420.50.\n\\end{document}\n"
_RECORDED = (
    '{"log": {"version": "1.2", "entries": [{"startedDateTime": "2026-01-05T09:12:01Z", "time": 41, "request": '
    '{"method": "GET", "url": "http://localhost:3000/prices", "headers": [], "cookies": [], "queryString": []}, '
    '"response": {"status": 200, "headers": [], "cookies": [], "content": {"mimeType": "text/html", "text": "ok"}}}]}}\n'
)
_BOOK = (
    '{"cells": [{"cell_type": "code", "execution_count": 3, "metadata": {}, "source": ["print(1 + 1)"], "outputs": '
    '[{"output_type": "stream", "name": "stdout", "text": ["2\\n"]}]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}\n'
)
_HOSTS = "[web]\nweb1 ansible_host=203.0.113.41\n\n[db]\ndb1 ansible_host=203.0.113.42\n\n[export]\nname = export\n"


def _photo() -> bytes:
    """Make a small picture that says when it was taken."""
    taken = b"2025:08:14 10:02:11\0"
    entry = struct.pack("<HHII", 1, 0, 0, 0)[:2] + struct.pack("<HHII", 0x9003, 2, len(taken), 44)
    head = struct.pack("<2sHIHHHIII", b"II", 42, 8, 1, 0x8769, 4, 1, 26, 0)
    told = b"Exif\0\0" + head + entry + b"\0" * 4 + taken
    return b"\xff\xd8\xff\xe1" + struct.pack(">H", len(told) + 2) + told + _PIXEL[2:]


def _token() -> str:
    """Make a login token of three parts that is good for some years yet."""
    parts = (
        '{"alg":"RS256","typ":"JWT","kid":"k1"}',
        '{"sub":"sam","iss":"shop","exp":2051222400}',
    )
    head, claims = (base64.urlsafe_b64encode(one.encode()).decode().rstrip("=") for one in parts)
    return f"{head}.{claims}.{_MARKED}"


SAMPLES: dict[str, bytes] = {
    "csv": _TABLE.encode(),
    "tsv": _TABLE.replace(",", "\t").encode(),
    "json": f'{{"items": [{", ".join(_ITEMS)}]}}\n'.encode(),
    "jsonl": "".join(f"{one}\n" for one in _ITEMS).encode(),
    "md": _NOTES.encode(),
    "txt": _WORDS.encode(),
    "log": _LOG.encode(),
    "yaml": b"name: export\nsteps:\n  - build\n  - check\n",
    "yml": b"name: export\nsteps:\n  - build\n  - check\n",
    "toml": b'[export]\nname = "export"\n',
    "xml": b"<items><item price='420.5'>desk</item></items>\n",
    "html": _PAGE.encode(),
    "sql": b"SELECT region, sum(amount) FROM orders GROUP BY region;\n",
    "ini": _HOSTS.encode(),
    "env": b"MODE=test\n",
    "py": b"def total(rows):\n    return sum(rows)\n",
    "js": b"export const total = (rows) => rows.reduce((a, b) => a + b, 0);\n",
    "sh": b"#!/bin/sh\necho done\n",
    "ics": b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Export\nDTSTART:20260109T090000Z\nEND:VEVENT\nEND:VCALENDAR\n",
    "pdf": _PDF,
    "png": _PNG,
    "jpg": _photo(),
    "tex": _TEX.encode(),
    "har": _RECORDED.encode(),
    "ipynb": _BOOK.encode(),
    "jwt": f"{_token()}\n".encode(),
}
"""What a file of each ending holds."""
INBOX = f"{FOLDER}/inbox"
"""A folder for scripts that read one."""
_IN_INBOX = {
    "minutes.md": "md",
    "offer.txt": "txt",
    "sales-2026-01.csv": "csv",
    "invoice 4821.pdf": "pdf",
    "IMG_2041.jpg": "jpg",
    "server.log": "log",
}
_IN_ASSETS = {"assets/logo.png": "png", "assets/photo.jpg": "jpg", "public/hero.jpg": "jpg"}
IN_PICTURES = ("Pictures/2024/IMG_20240411_101500.jpg", "Pictures/2024/IMG_20240412_091122.jpg")
"""Where pictures lie, below the home."""
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
    """Give every sample by its path below the project, and what lies there in folders."""
    for ending, data in SAMPLES.items():
        yield sample_path(ending), data
    for name, ending in _IN_INBOX.items():
        yield f"{INBOX}/{name}", SAMPLES[ending]
    for path, ending in _IN_ASSETS.items():
        yield path, SAMPLES[ending]


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
