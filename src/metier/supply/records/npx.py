"""The records of `npx skills`: a project's `skills-lock.json`, version 1, and `.agents/.skill-lock.json` at home, 3. Pure.

Neither names a commit. A project's record has a hash over paths and bytes in the order of JavaScript's `localeCompare`,
the other one the id that git gives the skill's folder.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from metier.errors import ConfigError
from metier.supply.healing import sides_of
from metier.supply.records.foreign import (
    GITHUB,
    MOST_BYTES,
    WORKING,
    Foreign,
    Mark,
    broken,
    deployed,
    document,
    entries,
    github_of,
    json_bytes,
    text,
    versioned,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from metier.supplies import Lock, Pin, SourceKind
    from metier.supply.healing import Sides
    from metier.supply.records.foreign import Held

WHAT = "the record of 'npx skills'"
PROJECT, USER = "skills-lock.json", ".agents/.skill-lock.json"
LOSES = ("a record of 'npx skills' has no commit, no verdict, no signature and no list of files",)
_ORDER = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789"
"""The signs in the order of the root collation; letters come after, of either case."""
_GITLAB = "https://gitlab.com/"


def read(data: bytes) -> tuple[Foreign, ...]:
    """Read either record; conflicts that git left are healed as far as nothing has to be guessed."""
    return tuple(_foreign(name, entry) for name, entry in sorted(_rows(data).items()))


def carries(pin: Pin) -> str:
    """Say why a skill cannot be in such a record; nothing when it can."""
    if not deployed(pin, WORKING):
        return f"it does not lie in {WORKING}"
    return "" if _origin(pin) else f"that tool knows no source of the kind {pin.kind}"


def write(lock: Lock, previous: bytes | None, now: str, marks: Mapping[str, Mark] | None = None) -> bytes:  # noqa: ARG001 - all formats alike
    """Write a project's record: sorted, without times; what is in `previous` and not in the lock stays."""
    found, rows = _before(previous, (1,))
    for pin in lock.pins:
        origin = _origin(pin)
        if carries(pin) or origin is None:
            continue
        kind, source, _url = origin
        entry = rows.get(pin.name, {})
        entry |= {"source": source, "ref": pin.ref, "sourceType": kind, "skillPath": _skill_path(pin),
                  "computedHash": _whole(marks, pin) or text(entry, "computedHash")}  # fmt: skip
        rows[pin.name] = {key: value for key, value in entry.items() if value or key != "ref"}
    return json_bytes({**found, "version": 1, "skills": dict(sorted(rows.items()))})


def write_user(lock: Lock, previous: bytes | None, now: str, marks: Mapping[str, Mark] | None = None) -> bytes:
    """Write the record at home; the time of a first installation stays as it was."""
    found, rows = _before(previous, (3,))
    for pin in lock.pins:
        origin = _origin(pin)
        if carries(pin) or origin is None:
            continue
        kind, source, url = origin
        entry = rows.get(pin.name, {})
        folder_hash = _whole(marks, pin) or text(entry, "skillFolderHash")
        new = {"source": source, "sourceType": kind, "sourceUrl": url, "ref": pin.ref, "skillPath": _skill_path(pin),
               "skillFolderHash": folder_hash}  # fmt: skip
        same = all(entry.get(key, "") == value for key, value in new.items())
        new |= {"installedAt": text(entry, "installedAt") or now, "updatedAt": text(entry, "updatedAt") if same else now}
        rows[pin.name] = {key: value for key, value in {**entry, **new}.items() if value or key != "ref"}
    return json_bytes({**found, "version": 3, "skills": rows}, end="")


def mark(files: Sequence[Held]) -> Mark:
    """Give the hash of a project's record: path and bytes of each file, with nothing between them."""
    kept = [file for file in files if not {".git", "node_modules"} & set(file.path.split("/")[:-1])]
    if not all(file.path.isascii() for file in kept):
        return Mark(note="its files have names whose order only JavaScript knows, so there is no hash")
    whole = hashlib.sha256()
    for file in sorted(kept, key=lambda file: _collated(file.path)):
        whole.update(file.path.encode("ascii"))
        whole.update(file.data)
    return Mark(whole.hexdigest())


def mark_user(files: Sequence[Held]) -> Mark:
    """Give the id that git has for a skill's folder."""
    return Mark(_git_tree([(file.path.encode("utf-8", "surrogateescape"), file) for file in files]))


def _rows(data: bytes) -> dict[str, dict[str, Any]]:
    sides = _sides(data)
    if sides is None:
        found = document(data, WHAT)
        versioned(found, "version", (1, 2, 3), WHAT)
        return entries(found, "skills", WHAT)
    ours, theirs = _rows(sides.ours), _rows(sides.theirs)
    both = [name for name in ours if name in theirs and ours[name] != theirs[name]]
    if both:
        raise ConfigError(f"{WHAT} is in conflict: both sides changed {', '.join(sorted(both)[:5])}", code="record-conflict",
                          hint="take one side whole with 'git checkout --ours' or '--theirs'")  # fmt: skip
    return {**ours, **theirs}


def _sides(data: bytes) -> Sides | None:
    if len(data) > MOST_BYTES:
        raise broken(WHAT, f"it is longer than {MOST_BYTES:,} bytes")
    try:
        return sides_of(data)
    except ConfigError:
        raise broken(WHAT, "a marker of a conflict stands without its other half") from None


def _before(previous: bytes | None, known: tuple[int, ...]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Give a record as it is, to be changed; only one of the very version is."""
    if previous is None:
        return {}, {}
    if _sides(previous) is not None:
        raise broken(WHAT, "it is in conflict")
    found = document(previous, WHAT)
    versioned(found, "version", known, WHAT)
    return found, entries(found, "skills", WHAT)


def _foreign(name: str, entry: dict[str, Any]) -> Foreign:
    kind, source, url = text(entry, "sourceType"), text(entry, "source"), text(entry, "sourceUrl")
    where: SourceKind = "folder"
    address = ""
    if kind == "github" and source.count("/") == 1 and "://" not in source:
        where, address = "git", GITHUB + source
    elif kind == "gitlab" and "://" not in source:
        where, address = "git", url or _GITLAB + source
    elif kind in {"git", "github", "gitlab"}:
        where, address = "git", url or source
    elif kind == "well-known":
        where, address = "well-known", url or source
    ref = text(entry, "pinnedRef") or text(entry, "ref")
    path = text(entry, "skillPath").replace("\\", "/").removesuffix("SKILL.md").strip("/")
    hint = text(entry, "computedHash") or text(entry, "skillFolderHash")
    extra = tuple((key, value) for key in ("pluginName", "installedAt", "updatedAt") if (value := text(entry, key)))
    return Foreign(name, address, where, ref, "", path, hint, f"{WORKING}/{_sanitised(name)}", "", extra)


def _sanitised(name: str) -> str:
    """Give the folder that tool makes for a name: lower case, one hyphen for whatever else there is."""
    kept = "".join(char if char.isascii() and (char.isalnum() or char in "._") else "-" for char in name.lower()[:1024])
    while "--" in kept:
        kept = kept.replace("--", "-")
    return kept.strip(".-")[:255] or "unnamed-skill"


def _origin(pin: Pin) -> tuple[str, str, str] | None:
    """Give type, source and address as that tool writes them."""
    if pin.kind in {"git", "marketplace"}:
        if github_of(pin.source):
            return "github", github_of(pin.source), f"{pin.source}.git"
        if pin.source.startswith(_GITLAB):
            return "gitlab", pin.source.removeprefix(_GITLAB).removesuffix(".git"), f"{pin.source.removesuffix('.git')}.git"
        return "git", pin.source, pin.source
    if pin.kind == "well-known":
        return "well-known", pin.source.partition("://")[2].partition("/")[0], pin.source
    return ("local", pin.source, pin.source) if pin.kind == "folder" else None


def _skill_path(pin: Pin) -> str:
    return f"{pin.path}/SKILL.md" if pin.path else "SKILL.md"


def _whole(marks: Mapping[str, Mark] | None, pin: Pin) -> str:
    found = (marks or {}).get(pin.name)
    return found.whole if found else ""


def _collated(path: str) -> tuple[list[int], str]:
    """Give what orders paths as `localeCompare` does: letters whatever their case, then small before capital."""
    primary = [_ORDER.find(char) if char in _ORDER else len(_ORDER) + ord(char.lower()) for char in path]
    return primary, path.swapcase()


def _git_tree(files: Iterable[tuple[bytes, Held]]) -> str:
    """Hash folders as git does, the deepest first; no names nest deeper than a path is long."""
    folders: dict[bytes, dict[bytes, tuple[bytes, bytes]]] = {b"": {}}
    for path, file in files:
        folder, _, name = path.rpartition(b"/")
        blob = hashlib.sha1(b"blob %d\0" % len(file.data) + file.data, usedforsecurity=False).digest()
        folders.setdefault(folder, {})[name] = (b"100755" if file.executable else b"100644"), blob
        while folder:
            folder = folder.rpartition(b"/")[0]
            folders.setdefault(folder, {})
    whole = b""
    for folder in sorted(folders, key=lambda one: (one.count(b"/") + bool(one), one), reverse=True):
        rows = sorted(folders[folder].items(), key=lambda row: row[0] + (b"/" if row[1][0] == b"40000" else b""))
        body = b"".join(b"%b %b\0%b" % (mode, name, blob) for name, (mode, blob) in rows)
        whole = hashlib.sha1(b"tree %d\0" % len(body) + body, usedforsecurity=False).digest()
        above, _, name = folder.rpartition(b"/")
        if folder:
            folders[above][name] = b"40000", whole
    return whole.hex()
