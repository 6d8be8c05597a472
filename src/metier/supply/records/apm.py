"""Reads and writes the records of APM, and the plain YAML that they are written in. Pure.

The YAML is mappings, lists and texts, read event by event and written back as they were: no
aliases, no tags, no deep nesting, and no guessing at types. An unquoted scalar stays exactly the
text it is, so that writing gives it back. (The reader that builds objects in C brings the whole
process down on deep nesting.)
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

import yaml

from metier.supply.records.foreign import (
    GITHUB_URL,
    MAX_RECORD_BYTES,
    ForeignSkill,
    RecordHash,
    broken,
    github_of,
    text,
    versioned,
)
from metier.supply.safe_names import path_fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metier.supply.model import JsonObject, Lock, Pin
    from metier.supply.records.foreign import Hashes, RecordedFile


MAX_YAML_DEPTH = 32
MAX_YAML_KEY_CHARS = 500
"""A plain key has at most 1,024 characters, and an escaped one needs more of them than it is
long."""
MAX_YAML_EVENTS = 1_000_000
_SAFE = re.compile(r"[A-Za-z./][A-Za-z0-9_./@+-]*")
_UNSAID = re.compile(r"[^ -~]")
_TYPED = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class PlainScalar(str):
    """A scalar that was written without quotes: a number, a truth, a time or a text."""

    __slots__ = ()


def read_yaml(data: bytes, what: str) -> Any:
    """Read one document."""
    if len(data) > MAX_RECORD_BYTES // 4:
        raise broken(what, f"it is longer than {MAX_RECORD_BYTES // 4:,} bytes")
    try:
        return _build(yaml.parse(data.decode("utf-8-sig"), Loader=_LOADER), what)
    except UnicodeDecodeError:
        raise broken(what, "it is not UTF-8") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        raise broken(
            what, f"{where}{getattr(error, 'problem', None) or 'it is not YAML'}"
        ) from None


def _build(events: Iterator[Any], what: str) -> Any:
    top: list[Any] = []
    open_ = [top]
    kinds = ["top"]
    for count, event in enumerate(events):
        if count > MAX_YAML_EVENTS or len(open_) > MAX_YAML_DEPTH:
            raise broken(what, "it is too long or nested too deeply")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise broken(what, f"line {event.start_mark.line + 1}: it has an anchor or an alias")
        tag = getattr(event, "tag", None)
        if tag and tag != "!":
            raise broken(what, f"line {event.start_mark.line + 1}: it has a tag")
        if isinstance(event, yaml.ScalarEvent):
            open_[-1].append(
                PlainScalar(event.value) if event.implicit[0] and not event.style else event.value
            )
        elif isinstance(event, yaml.CollectionStartEvent):
            open_.append([])
            kinds.append("map" if isinstance(event, yaml.MappingStartEvent) else "list")
        elif isinstance(event, yaml.CollectionEndEvent):
            items = open_.pop()
            open_[-1].append(items if kinds.pop() == "list" else _mapping(items, what))
    if len(top) != 1:
        raise broken(what, "it is not one document")
    return top[0]


def _mapping(items: list[Any], what: str) -> JsonObject:
    keys = items[::2]
    if not all(isinstance(key, str) for key in keys) or len(set(keys)) < len(keys):
        raise broken(what, "a key is there twice, or is no text")
    return dict(zip(keys, items[1::2], strict=True))


def write_yaml(value: JsonObject) -> bytes:
    """Write a mapping as YAML, as that tool lays it out."""
    return ("".join(f"{line}\n" for line in _lines(value, "")) or "{}\n").encode("ascii")


def _lines(value: JsonObject, indent: str) -> Iterator[str]:
    for key, item in value.items():
        if isinstance(item, dict) and item:
            yield f"{indent}{_scalar(key)}:"
            yield from _lines(item, indent + "  ")
        elif isinstance(item, list) and item:
            yield f"{indent}{_scalar(key)}:"
            yield from _items(item, indent)
        else:
            yield f"{indent}{_scalar(key)}: {_scalar(item)}"


def _items(items: list[Any], indent: str) -> Iterator[str]:
    for item in items:
        if isinstance(item, dict) and item:
            lines = list(_lines(item, indent + "  "))
            yield f"{indent}- {lines[0][len(indent) + 2 :]}"
            yield from lines[1:]
        elif isinstance(item, list) and item:
            yield f"{indent}-"
            yield from _items(item, indent + "  ")
        else:
            yield f"{indent}- {_scalar(item)}"


def _scalar(value: Any) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, PlainScalar) and value.isascii() and value.isprintable():
        return str(value)
    plain = (
        _SAFE.fullmatch(value)
        and value.lower() not in _TYPED
        and not re.fullmatch(r"[.\d_]*", value)
    )
    return value if plain else _quoted(value)


def _quoted(value: str) -> str:
    """Quote a text as YAML does, which has no pairs of surrogates and cannot say half of one."""
    text = json.dumps(value.encode("utf-8", "replace").decode(), ensure_ascii=False)
    return _UNSAID.sub(lambda found: f"\\U{ord(found[0]):08x}", text)


# --- the record

WHAT = "the record of APM"
PROJECT = "apm.lock.yaml"
USER = f".apm/{PROJECT}"
LOSES = ("APM's record has no verdict and no signature; comments in it are not kept",)
VERSIONS = ("1", "2")
_IN_SKILLS = re.compile(r"(?:.*/)?skills/[^/.]+/?")
"""How a folder of a skill is named where its files are not."""


def read(data: bytes) -> tuple[ForeignSkill, ...]:
    """Read the record: a skill for each folder that a package put a SKILL.md in, or put below a
    folder of skills as a whole; once each.
    """
    found: dict[str, ForeignSkill] = {}
    for entry in _packages(_document(data)):
        for one in _skills(entry):
            found.setdefault(one.name, one)
    return tuple(found[name] for name in sorted(found))


def read_complete(data: bytes) -> tuple[ForeignSkill, ...]:
    """Read the record with every path that it names, which may be a skill's folder; a package that
    names none makes it one that tells too little.
    """
    packages = _packages(_document(data))
    if not all(_list(entry, "deployed_files") for entry in packages):
        raise broken(WHAT, "it does not say where each package put its files")
    paths = (path.rstrip("/") for entry in packages for path in _list(entry, "deployed_files"))
    # A folder may be named as such, wherever it is.
    whole = (ForeignSkill(path.rpartition("/")[2], folder=path) for path in paths if path)
    return (*read(data), *whole)


def carries(pin: Pin) -> str:
    """Say why a skill cannot be in such a record; nothing when it can."""
    return (
        ""
        if pin.kind in {"git", "marketplace"} and "://" in pin.source
        else "APM only knows repositories"
    )


def write(lock: Lock, previous: bytes | None, now: str, marks: Hashes | None = None) -> bytes:
    """Write the record; packages that are not in the lock stay, and so does what metier does not
    know of the others.
    """
    found = (
        {"lockfile_version": "1", "generated_at": now} if previous is None else _document(previous)
    )
    packages = _packages(found)
    for pin in lock.pins:
        if carries(pin):
            continue
        entry = next((one for one in packages if _same(one, pin)), None)
        if entry is None:
            entry = {
                "repo_url": github_of(pin.source) or pin.source,
                "depth": PlainScalar("1"),
                "package_type": "claude_skill",
            }
            entry |= {"host": "github.com"} if github_of(pin.source) else {}
            entry |= (
                {"virtual_path": pin.path, "is_virtual": PlainScalar("true")} if pin.path else {}
            )
            packages.append(entry)
        _update(entry, pin, (marks or {}).get(pin.name, RecordHash()))
    packages.sort(key=lambda one: (text(one, "repo_url"), text(one, "virtual_path")))
    return write_yaml({**found, "dependencies": packages})


def mark(files: Sequence[RecordedFile]) -> RecordHash:
    """Give the hash of each file as APM takes it, with its line ends made one."""
    one_end = ((file.path, file.data.replace(b"\r\n", b"\n")) for file in files)
    return RecordHash(
        files=tuple((path, f"sha256:{hashlib.sha256(data).hexdigest()}") for path, data in one_end)
    )


def _update(entry: JsonObject, pin: Pin, mark_of: RecordHash) -> None:
    entry.pop("resolved_ref", None) if not pin.ref else entry.update(resolved_ref=pin.ref)
    if pin.commit:
        entry["resolved_commit"] = pin.commit
    ours = tuple(f"{target.path}/" for target in pin.targets)
    hashes = dict(mark_of.files)
    others = [
        path
        for path in _list(entry, "deployed_files")
        if not path.startswith(ours) and f"{path}/" not in ours
    ]
    new = [f"{folder}{file.path}" for folder in dict.fromkeys(ours) for file in pin.files]
    entry["deployed_files"] = sorted({*others, *new, *(folder[:-1] for folder in ours)})
    kept = entry.get("deployed_file_hashes")
    known = (
        {path: value for path, value in kept.items() if not path.startswith(ours)}
        if isinstance(kept, dict)
        else {}
    )
    known |= {
        f"{folder}{path}": value
        for folder in ours
        for path, value in hashes.items()
        if len(folder + path) < MAX_YAML_KEY_CHARS
    }
    if known:
        entry["deployed_file_hashes"] = dict(sorted(known.items()))


def _document(data: bytes) -> JsonObject:
    found = read_yaml(data, WHAT)
    if not isinstance(found, dict):
        raise broken(WHAT, "it is not a mapping")
    versioned(found, "lockfile_version", VERSIONS, WHAT)
    return found


def _packages(found: JsonObject) -> list[JsonObject]:
    rows = found.get("dependencies", [])
    if isinstance(rows, str) and rows in {"", "null", "~"}:
        return []
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise broken(WHAT, "'dependencies' is not a list of packages")
    return rows


def _skills(entry: JsonObject) -> list[ForeignSkill]:
    told = {
        path.removesuffix("/SKILL.md").rstrip("/")
        for path in _list(entry, "deployed_files")
        if path.endswith("/SKILL.md") or _IN_SKILLS.fullmatch(path)
    }
    folders = sorted(
        (one for one in told if not path_fault(one)),
        key=lambda one: (not one.startswith(".agents/skills/"), one),
    )
    several = len({folder.rpartition("/")[2] for folder in folders}) > 1
    inside = text(entry, "virtual_path").strip("/")
    hashes = entry.get("deployed_file_hashes")
    found = []
    for folder in folders:
        name = folder.rpartition("/")[2]
        found.append(
            ForeignSkill(
                name=name,
                source=_address(entry),
                kind="git",
                ref=text(entry, "resolved_ref"),
                commit=text(entry, "resolved_commit"),
                path=f"{inside}/skills/{name}".lstrip("/") if several else inside,
                digest_hint=text(hashes, f"{folder}/SKILL.md") if isinstance(hashes, dict) else "",
                folder=folder,
                version=text(entry, "version"),
                extra=(("package", text(entry, "repo_url")),),
            )
        )
    return found


def _address(entry: JsonObject) -> str:
    url = text(entry, "repo_url")
    host = text(entry, "host")
    if "://" in url or url.startswith("git@"):
        return url
    first, _, rest = url.partition("/")
    if "." in first and rest:  # github.com/owner/name
        return f"https://{url}"
    return f"https://{host}/{url}" if host and rest else f"{GITHUB_URL}{url}" if rest else ""


def _same(entry: JsonObject, pin: Pin) -> bool:
    return (
        _address(entry).removesuffix(".git") == pin.source.removesuffix(".git")
        and text(entry, "virtual_path").strip("/") == pin.path
    )


def _list(entry: JsonObject, key: str) -> list[str]:
    found = entry.get(key)
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []
