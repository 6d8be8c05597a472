"""The records of `npx skills`: a project's `skills-lock.json`, version 1, and
`.agents/.skill-lock.json` at home, 3. Pure.

Neither names a commit. A project's record has a hash over paths and bytes in the order of
JavaScript's `localeCompare`, the other one the id that git gives the skill's folder.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from metier.errors import ConfigError
from metier.supply.lock import split_conflict
from metier.supply.records.foreign import (
    GITHUB_URL,
    MAX_RECORD_BYTES,
    WORKING_FOLDER,
    ForeignSkill,
    RecordHash,
    broken,
    deployed,
    github_of,
    json_bytes,
    read_rows,
    text,
    texts,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metier.supply.lock import ConflictSides
    from metier.supply.model import JsonObject, Lock, Pin, SourceKind
    from metier.supply.records.foreign import Hashes, RecordedFile

WHAT = "the record of 'npx skills'"
PROJECT = "skills-lock.json"
USER = ".agents/.skill-lock.json"
LOSES = ("a record of 'npx skills' has no commit, no verdict, no signature and no list of files",)
_ORDER = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789"
"""The signs in the order of the root collation; letters come after, of either case."""
_GITLAB = "https://gitlab.com/"


def read(data: bytes) -> tuple[ForeignSkill, ...]:
    """Read either record; conflicts that git left are healed as far as nothing has to be
    guessed.
    """
    return tuple(_foreign(name, entry) for name, entry in sorted(_rows(data).items()))


def carries(pin: Pin) -> str:
    """Say why a skill cannot be in such a record; nothing when it can."""
    if not deployed(pin, WORKING_FOLDER):
        return f"it does not lie in {WORKING_FOLDER}"
    return "" if _origin(pin) else f"that tool knows no source of the kind {pin.kind}"


def write(
    lock: Lock,
    previous: bytes | None,
    now: str,  # noqa: ARG001 - all formats alike
    marks: Hashes | None = None,
) -> bytes:
    """Write a project's record: sorted, without times; what is in `previous` and not in the lock
    stays.
    """
    found, rows = _before(previous, 1)
    for pin, (kind, source, _url) in _carried(lock):
        entry = rows.get(pin.name, {})
        entry |= {
            "source": source,
            "ref": pin.ref,
            "sourceType": kind,
            "skillPath": _skill_path(pin),
            "computedHash": _whole(marks, pin) or text(entry, "computedHash"),
        }
        rows[pin.name] = _without_empty_ref(entry)
    return json_bytes({**found, "version": 1, "skills": dict(sorted(rows.items()))})


def write_user(lock: Lock, previous: bytes | None, now: str, marks: Hashes | None = None) -> bytes:
    """Write the record at home; the time of a first installation stays as it was."""
    found, rows = _before(previous, 3)
    for pin, (kind, source, url) in _carried(lock):
        entry = rows.get(pin.name, {})
        new = {
            "source": source,
            "sourceType": kind,
            "sourceUrl": url,
            "ref": pin.ref,
            "skillPath": _skill_path(pin),
            "skillFolderHash": _whole(marks, pin) or text(entry, "skillFolderHash"),
        }
        same = all(entry.get(key, "") == value for key, value in new.items())
        new |= {
            "installedAt": text(entry, "installedAt") or now,
            "updatedAt": text(entry, "updatedAt") if same else now,
        }
        rows[pin.name] = _without_empty_ref({**entry, **new})
    return json_bytes({**found, "version": 3, "skills": rows}, end="")


def _carried(lock: Lock) -> Iterator[tuple[Pin, tuple[str, str, str]]]:
    """Give the skills that such a record can have, with type, source and address."""
    for pin in lock.pins:
        origin = _origin(pin)
        if origin is not None and not carries(pin):
            yield pin, origin


def _without_empty_ref(entry: JsonObject) -> JsonObject:
    return {key: value for key, value in entry.items() if value or key != "ref"}


def mark(files: Sequence[RecordedFile]) -> RecordHash:
    """Give the hash of a project's record: path and bytes of each file, with nothing between
    them.
    """
    kept = [file for file in files if not {".git", "node_modules"} & set(file.path.split("/")[:-1])]
    if not all(file.path.isascii() for file in kept):
        return RecordHash(
            note="its files have names whose order only JavaScript knows, so there is no hash"
        )
    whole = hashlib.sha256()
    for file in sorted(kept, key=lambda file: _collated(file.path)):
        whole.update(file.path.encode("ascii"))
        whole.update(file.data)
    return RecordHash(whole.hexdigest())


def mark_user(files: Sequence[RecordedFile]) -> RecordHash:
    """Give the id that git has for a skill's folder: folders hashed as git does, the deepest first;
    no names nest deeper than a path is long.
    """
    folders: dict[bytes, dict[bytes, tuple[bytes, bytes]]] = {b"": {}}
    for file in files:
        folder, _, name = file.path.encode("utf-8", "surrogateescape").rpartition(b"/")
        mode = b"100755" if file.executable else b"100644"
        folders.setdefault(folder, {})[name] = mode, _git_id(b"blob", file.data)
        while folder:
            folder = folder.rpartition(b"/")[0]
            folders.setdefault(folder, {})
    whole = b""
    for folder in sorted(folders, key=lambda one: (one.count(b"/") + bool(one), one), reverse=True):
        rows = sorted(
            folders[folder].items(),
            key=lambda row: row[0] + (b"/" if row[1][0] == b"40000" else b""),
        )
        body = b"".join(b"%b %b\0%b" % (mode, name, blob) for name, (mode, blob) in rows)
        whole = _git_id(b"tree", body)
        above, _, name = folder.rpartition(b"/")
        if folder:
            folders[above][name] = b"40000", whole
    return RecordHash(whole.hex())


def _git_id(kind: bytes, data: bytes) -> bytes:
    return hashlib.sha1(b"%b %d\0%b" % (kind, len(data), data), usedforsecurity=False).digest()


def _rows(data: bytes) -> dict[str, JsonObject]:
    sides = _sides(data)
    if sides is None:
        return read_rows(data, "skills", (1, 2, 3), WHAT)[1]
    ours = _rows(sides.ours)
    theirs = _rows(sides.theirs)
    both = [name for name in ours if name in theirs and ours[name] != theirs[name]]
    if both:
        raise ConfigError(
            f"{WHAT} is in conflict: both sides changed {', '.join(sorted(both)[:5])}",
            code="record-conflict",
            hint="take one side whole with 'git checkout --ours' or '--theirs'",
        )
    return {**ours, **theirs}


def _sides(data: bytes) -> ConflictSides | None:
    if len(data) > MAX_RECORD_BYTES:
        raise broken(WHAT, f"it is longer than {MAX_RECORD_BYTES:,} bytes")
    try:
        return split_conflict(data)
    except ConfigError:
        raise broken(WHAT, "a marker of a conflict stands without its other half") from None


def _before(previous: bytes | None, version: int) -> tuple[JsonObject, dict[str, JsonObject]]:
    """Give a record as it is, to be changed; only one of the very version is."""
    if previous is not None and _sides(previous) is not None:
        raise broken(WHAT, "it is in conflict")
    return read_rows(previous, "skills", (version,), WHAT)


def _foreign(name: str, entry: JsonObject) -> ForeignSkill:
    kind = text(entry, "sourceType")
    source = text(entry, "source")
    url = text(entry, "sourceUrl")
    where: SourceKind = "folder"
    address = ""
    if kind in {"git", "github", "gitlab", "well-known"}:
        where = "well-known" if kind == "well-known" else "git"
        address = url or source
        if kind == "github" and source.count("/") == 1 and "://" not in source:
            address = GITHUB_URL + source
        elif kind == "gitlab" and "://" not in source:
            address = url or _GITLAB + source
    elif kind == "local":
        address = source or url
    return ForeignSkill(
        name=name,
        source=address,
        kind=where,
        ref=text(entry, "pinnedRef") or text(entry, "ref"),
        path=text(entry, "skillPath").replace("\\", "/").removesuffix("SKILL.md").strip("/"),
        digest_hint=text(entry, "computedHash") or text(entry, "skillFolderHash"),
        folder=f"{WORKING_FOLDER}/{_sanitised(name)}",
        extra=texts(entry, "pluginName", "installedAt", "updatedAt"),
    )


def _sanitised(name: str) -> str:
    """Give the folder that tool makes for a name: lower case, one hyphen for whatever else there
    is.
    """
    return re.sub(r"[^a-z0-9._]+", "-", name.lower()[:1024]).strip(".-")[:255] or "unnamed-skill"


def _origin(pin: Pin) -> tuple[str, str, str] | None:
    """Give type, source and address as that tool writes them."""
    if pin.kind in {"git", "marketplace"}:
        if github_of(pin.source):
            return "github", github_of(pin.source), f"{pin.source}.git"
        if pin.source.startswith(_GITLAB):
            return (
                "gitlab",
                pin.source.removeprefix(_GITLAB).removesuffix(".git"),
                f"{pin.source.removesuffix('.git')}.git",
            )
        return "git", pin.source, pin.source
    if pin.kind == "well-known":
        return "well-known", pin.source.partition("://")[2].partition("/")[0], pin.source
    return ("local", pin.source, pin.source) if pin.kind == "folder" else None


def _skill_path(pin: Pin) -> str:
    return f"{pin.path}/SKILL.md" if pin.path else "SKILL.md"


def _whole(marks: Hashes | None, pin: Pin) -> str:
    found = (marks or {}).get(pin.name)
    return found.whole if found else ""


def _collated(path: str) -> tuple[list[int], str]:
    """Give what orders paths as `localeCompare` does: letters whatever their case, then small
    before capital.
    """
    primary = [
        _ORDER.find(char) if char in _ORDER else len(_ORDER) + ord(char.lower()) for char in path
    ]
    return primary, path.swapcase()
