"""The record of APM: `apm.lock.yaml`, versions "1" and "2". Pure.

One entry there is a package, which may have put several skills in place; each file that was put there is named. Comments in
the file are lost when it is written.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from metier.supply.pins import path_fault
from metier.supply.records import scroll
from metier.supply.records.foreign import GITHUB, Foreign, Mark, broken, github_of, text, versioned

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from metier.supplies import Lock, Pin
    from metier.supply.records.foreign import Held

WHAT = "the record of APM"
PROJECT = "apm.lock.yaml"
USER = f".apm/{PROJECT}"
LOSES = ("APM's record has no verdict and no signature; comments in it are not kept",)
VERSIONS = ("1", "2")


def read(data: bytes) -> tuple[Foreign, ...]:
    """Read the record: a skill for each folder that a package put a SKILL.md in, once each."""
    found: dict[str, Foreign] = {}
    for entry in _packages(_document(data)):
        for one in _skills(entry):
            found.setdefault(one.name, one)
    return tuple(found[name] for name in sorted(found))


def carries(pin: Pin) -> str:
    """Say why a skill cannot be in such a record; nothing when it can."""
    return "" if pin.kind in {"git", "marketplace"} and "://" in pin.source else "APM only knows repositories"


def write(lock: Lock, previous: bytes | None, now: str, marks: Mapping[str, Mark] | None = None) -> bytes:
    """Write the record; packages that are not in the lock stay, and so does what metier does not know of the others."""
    found: dict[str, Any] = {"lockfile_version": "1", "generated_at": now} if previous is None else _document(previous)
    packages = _packages(found)
    for pin in lock.pins:
        if carries(pin):
            continue
        entry = next((one for one in packages if _same(one, pin)), None)
        if entry is None:
            entry = {"repo_url": github_of(pin.source) or pin.source, "depth": scroll.Plain("1"), "package_type": "claude_skill"}
            entry |= {"host": "github.com"} if github_of(pin.source) else {}
            entry |= {"virtual_path": pin.path, "is_virtual": scroll.Plain("true")} if pin.path else {}
            packages.append(entry)
        _update(entry, pin, (marks or {}).get(pin.name, Mark()))
    return scroll.write({**found, "dependencies": sorted(packages, key=_order)})


def mark(files: Sequence[Held]) -> Mark:
    """Give the hash of each file as APM takes it, with its line ends made one."""
    return Mark(files=tuple((file.path, f"sha256:{hashlib.sha256(_one_end(file.data)).hexdigest()}") for file in files))


def _update(entry: dict[str, Any], pin: Pin, mark_of: Mark) -> None:
    entry.pop("resolved_ref", None) if not pin.ref else entry.update(resolved_ref=pin.ref)
    if pin.commit:
        entry["resolved_commit"] = pin.commit
    ours = tuple(f"{target.path}/" for target in pin.targets)
    hashes = dict(mark_of.files)
    others = [path for path in _list(entry, "deployed_files") if not path.startswith(ours) and f"{path}/" not in ours]
    new = [f"{folder}{file.path}" for folder in dict.fromkeys(ours) for file in pin.files]
    entry["deployed_files"] = sorted({*others, *new, *(folder[:-1] for folder in ours)})
    kept = entry.get("deployed_file_hashes")
    known = {path: value for path, value in kept.items() if not path.startswith(ours)} if isinstance(kept, dict) else {}
    known |= {f"{folder}{path}": value for folder in ours for path, value in hashes.items() if len(folder + path) < scroll.MOST_KEY}
    if known:
        entry["deployed_file_hashes"] = dict(sorted(known.items()))


def _document(data: bytes) -> dict[str, Any]:
    found = scroll.read(data, WHAT)
    if not isinstance(found, dict):
        raise broken(WHAT, "it is not a mapping")
    versioned(found, "lockfile_version", VERSIONS, WHAT)
    return found


def _packages(found: dict[str, Any]) -> list[dict[str, Any]]:
    rows = found.get("dependencies", [])
    if isinstance(rows, str) and rows in {"", "null", "~"}:
        return []
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise broken(WHAT, "'dependencies' is not a list of packages")
    return rows


def _skills(entry: dict[str, Any]) -> list[Foreign]:
    folders = [path.removesuffix("/SKILL.md") for path in _list(entry, "deployed_files") if path.endswith("/SKILL.md")]
    folders = sorted((one for one in folders if not path_fault(one)), key=lambda one: (not one.startswith(".agents/skills/"), one))
    names = {folder.rpartition("/")[2] for folder in folders}
    inside, hashes = text(entry, "virtual_path").strip("/"), entry.get("deployed_file_hashes")
    found = []
    for folder in folders:
        name = folder.rpartition("/")[2]
        path = inside if len(names) == 1 and inside else f"{inside}/skills/{name}".lstrip("/") if len(names) > 1 else ""
        hint = text(hashes, f"{folder}/SKILL.md") if isinstance(hashes, dict) else ""
        ref, commit = text(entry, "resolved_ref"), text(entry, "resolved_commit")
        extra = (("package", text(entry, "repo_url")),)
        found.append(Foreign(name, _address(entry), "git", ref, commit, path, hint, folder, text(entry, "version"), extra))
    return found


def _address(entry: dict[str, Any]) -> str:
    url, host = text(entry, "repo_url"), text(entry, "host")
    if "://" in url or url.startswith("git@"):
        return url
    first, _, rest = url.partition("/")
    if "." in first and rest:  # github.com/owner/name
        return f"https://{url}"
    return f"https://{host}/{url}" if host and rest else f"{GITHUB}{url}" if rest else ""


def _same(entry: dict[str, Any], pin: Pin) -> bool:
    address = _address(entry).removesuffix(".git")
    return address == pin.source.removesuffix(".git") and text(entry, "virtual_path").strip("/") == pin.path


def _order(entry: dict[str, Any]) -> tuple[str, str]:
    return text(entry, "repo_url"), text(entry, "virtual_path")


def _list(entry: dict[str, Any], key: str) -> list[str]:
    found = entry.get(key)
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def _one_end(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")
