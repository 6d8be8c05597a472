"""Finds out what an archive holds: unpacked within bounds where nobody else looks, held against the
standard, and scanned by the same rules as everywhere.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from typing import TYPE_CHECKING, NamedTuple

from metier.discover.check import check
from metier.errors import RefusedError, UsageError
from metier.hub.model import ReleaseFile, Verdicts
from metier.scan import service
from metier.scan.rules.keys import LEAKS
from metier.standard.digest import TreeFile, tree_digest
from metier.standard.document import GOOD_NAME, read_document
from metier.supply.archives.compression import archive_kind, decompress
from metier.supply.archives.limits import malformed_error
from metier.supply.archives.read_tar import tar_entries
from metier.supply.model import Item
from metier.supply.safe_names import check_items, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from metier.context import Context
    from metier.hub.hub import Hub
    from metier.settings.model import SupplySettings

MAX_ARCHIVE_BYTES = 64 << 20
MAX_FILES = 10_000
MAX_BODY_CHARS = 200_000
"""How much of a skill's instructions a search looks through."""
MAX_FAULTS = 5
HEAD_BYTES = 512
_WINDOW = 1 << 16


class UnpackedFile(NamedTuple):
    """One file of an archive, whole."""

    path: str
    data: bytes
    executable: bool


def unpack(data: bytes, limits: SupplySettings) -> list[UnpackedFile]:
    """Give the files of an archive, none of which can lie outside it or stand for another."""
    kind = archive_kind(data[:HEAD_BYTES])
    if kind != "gzip":
        raise malformed_error("it is no .tar.gz")  # which is what every client takes it for
    found = []
    items = []
    left = limits.unpacked_bytes
    for entry, feed in tar_entries(decompress(kind, _chunks(data), limits), limits):
        items.append(Item(entry.path, entry.size, entry.mode))
        if entry.path.endswith("/"):
            continue
        if entry.mode not in {"file", "exec"}:
            raise RefusedError(
                f"'{printable(entry.path)}' is not a plain file",
                code="unsafe-entry",
                hint="a skill that is handed on consists of plain files",
            )
        left -= entry.size
        if entry.size > limits.file_bytes or left < 0:
            raise RefusedError(
                f"'{printable(entry.path)}' is too large",
                code="too-large",
                hint=f"a file may have {limits.file_bytes:,} bytes",
            )
        content = b"".join(feed.pieces(entry.size))
        found.append(UnpackedFile(entry.path, content, entry.mode == "exec"))
    clean = [item.path for item in check_items(items, limits)]
    return [file._replace(path=path) for file, path in zip(found, clean, strict=True)]


def digest_of(files: list[UnpackedFile]) -> str:
    """Give the digest of the tree that unpacked files are."""
    return tree_digest(
        TreeFile(one.path, len(one.data), hashlib.sha256(one.data).digest(), one.executable)
        for one in files
    )


def _chunks(data: bytes) -> Iterator[bytes]:
    for at in range(0, len(data), _WINDOW):
        yield data[at : at + _WINDOW]


def examine(hub: Hub, name: str, fetch: Callable[[], bytes]) -> Verdicts:
    """Judge an archive as the skill of a name. Few are fetched and judged at a time: more would only
    share the same processors, each with a scanner of its own in memory.
    """
    return hub.judges.submit(_examine, hub, name, fetch).result()


def _examine(hub: Hub, name: str, fetch: Callable[[], bytes]) -> Verdicts:
    if not GOOD_NAME.match(name) or len(name) > 64:
        raise UsageError(
            f"'{printable(name)}' cannot be the name of a skill",
            hint="use small letters, digits and single hyphens, at most 64",
        )
    context = hub.library().context
    limits = context.settings.supply
    unpacked = unpack(fetch(), limits._replace(files=min(limits.files, MAX_FILES)))
    head = next((file for file in unpacked if file.path == "SKILL.md"), None)
    if head is None:
        raise RefusedError(
            "the archive has no SKILL.md at its top",
            code="hub-unfit",
            hint="pack the skill's own folder: metier push does",
        )
    files = tuple(
        ReleaseFile(one.path, len(one.data), hashlib.sha256(one.data).hexdigest(), one.executable)
        for one in unpacked
    )
    digest = tree_digest(
        TreeFile(one.path, one.size, bytes.fromhex(one.sha256), one.executable) for one in files
    )
    base = f"{hub.options.home}/examine"
    os.makedirs(base, 0o700, exist_ok=True)
    top = tempfile.mkdtemp(dir=base)
    try:
        folder = f"{top}/{name}"
        _lay_out(folder, unpacked)
        return _judge(context, folder, name, head.data, digest, files)
    finally:
        shutil.rmtree(top, ignore_errors=True)


def _lay_out(folder: str, files: list[UnpackedFile]) -> None:
    os.mkdir(folder, 0o700)
    for file in files:
        path = f"{folder}/{file.path}"
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        mode = 0o700 if file.executable else 0o600
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        with open(os.open(path, flags, mode), "wb") as out:
            out.write(file.data)


def _judge(
    context: Context,
    folder: str,
    name: str,
    head: bytes,
    digest: str,
    files: tuple[ReleaseFile, ...],
) -> Verdicts:
    checked = check(context, [folder], strict=True)
    faults = [
        f"{note.code} {note.message}"
        for one in checked
        if not one.ok
        for note in one.diagnostics
        if note.severity != "info"
    ]
    document = read_document(head, folder=name)
    fields: dict[str, Any] = document.fields if document is not None else {}
    scanned = service.scan_tree(context, folder, name)
    if scanned.digest != digest:
        faults.append("it changed while it was read")
    faults += [
        f"{one.path}:{one.line} holds a key ({one.rule})"
        for one in scanned.findings
        if one.rule in LEAKS
    ]
    metadata = fields.get("metadata")
    told = fields.get("version") or (metadata.get("version") if isinstance(metadata, dict) else "")
    body = head[document.body_at :].decode("utf-8", "replace") if document is not None else ""
    category = metadata.get("category") if isinstance(metadata, dict) else ""
    return Verdicts(
        name=document.name if document is not None else name,
        description=document.description if document is not None else "",
        category=category if isinstance(category, str) else "",
        body=body.replace("\0", " ")[:MAX_BODY_CHARS],
        digest=digest,
        level=context.trust_policy.counted(scanned.plain),
        score=scanned.score,
        ruleset=scanned.ruleset,
        findings=tuple(one._asdict() for one in scanned.findings),
        files=files,
        version=str(told) if isinstance(told, str | int | float) else "",
        faults=tuple(faults[:MAX_FAULTS]),
    )
