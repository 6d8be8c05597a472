"""`pack` and `publish`: skills as archives, and a well-known index that any web server can host."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.discover.check import check
from metier.discover.io import disk
from metier.errors import IntegrityError, NotFoundError, RefusedError
from metier.scan import service
from metier.scan.rules.keys import LEAKS
from metier.standard.digest import TreeFile, tree_digest
from metier.supply import safe_names
from metier.supply.archives.write_tar import PackFile, pack_tar_gz
from metier.supply.io.lock_file import put_file
from metier.supply.judge import read_entry
from metier.supply.model import Item, Refusal
from metier.supply.places import hands_of
from metier.supply.records.foreign import json_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.context import Context
    from metier.model import Digest, Finding

SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
NEW_INDEX_FOLDER = ".well-known/agent-skills"
OLD_INDEX_FOLDER = ".well-known/skills"
"""Where version 0.2.0 of the index lies, and where 0.1 does, which older clients read."""

MAX_LEAKS_TOLD = 3
"""Keys that an error names; its details have them all."""
PLAIN_FILES_HINT = "a skill that is handed on consists of plain files"


class PackedSkill(NamedTuple):
    """A skill that was written as an archive or a single file."""

    name: str
    path: str
    """The file that was written."""
    digest: str
    """Of the skill's tree."""
    sha256: str
    """Of the file that was written."""
    size: int
    files: int


class PublishedIndex(NamedTuple):
    """An index that was written, what is in it, and what was left out."""

    index: str  # type: ignore[assignment] # a tuple's own `index` is of no use here
    skills: tuple[PackedSkill, ...]
    refused: tuple[Refusal, ...]


class FitSkill(NamedTuple):
    """A skill whose very bytes passed the check and the scan, and hold no key."""

    name: str
    description: str
    digest: Digest
    files: tuple[PackFile, ...]


class _IndexRow(NamedTuple):
    """A skill that was written, and how each index tells of it."""

    packed: PackedSkill
    new: dict[str, str]
    old: dict[str, Sequence[str]]


class _UnfitError(RefusedError):
    """A skill that is not handed on, with what a scan found in it."""

    findings: tuple[Finding, ...] = ()


def pack(context: Context, path: str, file: str = "") -> PackedSkill:
    """Write a skill as an archive, the same bytes for the same skill; a faulty or dangerous one is
    refused (HE-45), and so is one that holds a key.
    """
    folder = skill_folder(context, path)
    skill = read_fit(context, folder)
    data = pack_tar_gz(skill.files)
    aim = disk.absolute(file or f"{skill.name}.tar.gz", context.cwd, context.home)
    if aim.startswith(f"{folder}/"):
        raise RefusedError(
            f"{aim} lies in the skill itself",
            hint="write it elsewhere: metier pack PATH FILE",
            code="inside",
        )
    parent, _, name = aim.rpartition("/")
    written = put_file(hands_of(context), parent, name, data)
    log.record(context, "pack", "done", name=skill.name, digest=skill.digest, path=written)
    return _packed(skill, written, data)


def skill_folder(context: Context, path: str) -> str:
    """Give the folder of the skill that somebody named, by that or by its SKILL.md."""
    folder = disk.real(disk.absolute(path, context.cwd, context.home))
    if disk.kind_of(folder) == "file" and folder.endswith("/SKILL.md"):
        folder = folder.rpartition("/")[0]
    if disk.kind_of(folder) != disk.FOLDER:
        raise NotFoundError(f"there is no folder {path}", hint="give the folder of a skill")
    return folder


def _packed(skill: FitSkill, path: str, data: bytes) -> PackedSkill:
    sha256 = hashlib.sha256(data).hexdigest()
    return PackedSkill(skill.name, path, skill.digest, sha256, len(data), len(skill.files))


def publish(context: Context, paths: Sequence[str], folder: str) -> PublishedIndex:
    """Write the index, 0.2.0 and 0.1, of every skill below some paths; each that is not fit is
    named and left out.
    """
    top = disk.absolute(folder, context.cwd, context.home)
    rows = {}
    refused = []
    for path in dict.fromkeys(disk.real(one.path) for one in check(context, paths, strict=True)):
        name = path.rpartition("/")[2]
        if name in rows:
            refused.append(Refusal(name, (f"another skill is called '{name}' as well",)))
            continue
        if disk.kind_of(path) == "file":
            refused.append(Refusal(name, ("it is a single file; an index holds folders",)))
            continue
        try:
            skill = read_fit(context, path)
        except (RefusedError, IntegrityError) as error:
            refused.append(
                Refusal(
                    name,
                    (error.message,),
                    error.findings if isinstance(error, _UnfitError) else (),
                )
            )
        else:
            rows[name] = _write_skill(context, top, skill)
    listed = [rows[name] for name in sorted(rows)]
    hands = hands_of(context)
    put_file(
        hands,
        top,
        f"{OLD_INDEX_FOLDER}/index.json",
        json_bytes({"skills": [row.old for row in listed]}),
    )
    index = put_file(
        hands,
        top,
        f"{NEW_INDEX_FOLDER}/index.json",
        json_bytes({"$schema": SCHEMA, "skills": [row.new for row in listed]}),
    )
    return PublishedIndex(index, tuple(row.packed for row in listed), tuple(refused))


def _write_skill(context: Context, top: str, skill: FitSkill) -> _IndexRow:
    """Write what the indexes will name, before they do."""
    hands = hands_of(context)
    alone = [file.path for file in skill.files] == ["SKILL.md"]
    url = f"{skill.name}/SKILL.md" if alone else f"{skill.name}.tar.gz"
    data = skill.files[0].data if alone else pack_tar_gz(skill.files)
    path = put_file(hands, top, f"{NEW_INDEX_FOLDER}/{url}", data)
    for file in skill.files:
        put_file(hands, top, f"{OLD_INDEX_FOLDER}/{skill.name}/{file.path}", file.data)
    log.record(context, "publish", "done", name=skill.name, digest=skill.digest, path=path)
    packed = _packed(skill, path, data)
    new = {
        "name": skill.name,
        "type": "skill-md" if alone else "archive",
        "description": skill.description,
        "url": url,
        "digest": f"sha256:{packed.sha256}",
    }
    old = {
        "name": skill.name,
        "description": skill.description,
        "files": sorted(file.path for file in skill.files),
    }
    return _IndexRow(packed, new, old)


def read_fit(context: Context, folder: str) -> FitSkill:
    """Read a skill once, and let it through only if those very bytes pass a strict check, no scan
    calls them dangerous, and no key lies in them.
    """
    name = folder.rpartition("/")[2]
    faulty = [one for one in check(context, [folder], strict=True) if not one.ok]
    if faulty:
        notes = [note for one in faulty for note in one.diagnostics if note.severity != "info"]
        said = "; ".join(f"{note.code} {note.message}" for note in notes[:3])
        error = RefusedError(
            f"'{name}' fails a strict check: {said}",
            hint=f"see: metier check --strict {folder}",
            code="check",
        )
        raise error.with_details(diagnostics=[one._asdict() for one in notes]) if notes else error
    files = _contents(context, folder)
    digest = tree_digest(
        TreeFile(one.path, len(one.data), hashlib.sha256(one.data).digest(), one.executable)
        for one in files
    )
    scanned = service.scan_tree(context, folder, name)
    if scanned.digest != digest:
        raise IntegrityError(
            f"'{name}' changed while it was read", hint="try again", code="changed"
        )
    if context.trust_policy.counted(scanned.plain) == "dangerous":
        from metier.scan.report import reason_of

        raise _unfit(
            f"a scan calls '{name}' dangerous: {reason_of('dangerous', scanned.findings)}",
            f"see: metier scan {folder}",
            "dangerous",
            scanned.findings,
        )
    leaks = [finding for finding in scanned.findings if finding.rule in LEAKS]
    if leaks:
        places = "; ".join(_place_of_key(leak) for leak in leaks[:MAX_LEAKS_TOLD])
        more = f"; and {len(leaks) - MAX_LEAKS_TOLD} more" if len(leaks) > MAX_LEAKS_TOLD else ""
        raise _unfit(
            f"'{name}' holds {'a key' if len(leaks) == 1 else f'{len(leaks)} keys'}: {places}{more}",
            "revoke it, remove it, and read it from an environment variable; if it opens nothing, "
            "waive the finding in your configuration (docs/how-to/false-alarms.md)",
            "key",
            leaks,
        )
    return FitSkill(name, read_entry(folder, name).description, digest, files)


def _unfit(message: str, hint: str, code: str, findings: Sequence[Finding]) -> RefusedError:
    error = _UnfitError(message, hint=hint, code=code)
    error.findings = tuple(findings)
    return error.with_details(findings=[one._asdict() for one in findings])


def _place_of_key(leak: Finding) -> str:
    place = f"{safe_names.printable(leak.path)}:{leak.line}" if leak.line else leak.path
    return f"{place} {leak.evidence}"


def _contents(context: Context, folder: str) -> tuple[PackFile, ...]:
    """Read a skill's files: plain ones alone, with names that every system can hold."""
    limits = context.settings.supply
    grown = disk.look_at_tree(folder)
    odd = min(grown.faults, default=None)
    if odd is not None:
        raise _cannot_pack(odd or folder, grown.faults[odd], "unsafe-entry")
    link = next((piece.path for piece in grown.pieces if piece.link), None)
    if link is not None:
        raise RefusedError(
            f"'{safe_names.printable(link)}' is a link", hint=PLAIN_FILES_HINT, code="unsafe-link"
        )
    safe_names.check_items([Item(piece.path, piece.size, "file") for piece in grown.pieces], limits)
    if sum(piece.size for piece in grown.pieces) > limits.unpacked_bytes:
        raise RefusedError(
            f"the skill has more than {limits.unpacked_bytes:,} bytes",
            code="too-large",
            hint="supply.unpacked_bytes sets how many it may have",
        )
    files = []
    for piece in grown.pieces:
        whole = disk.read_whole(f"{folder}/{piece.path}", lambda _head: limits.file_bytes)
        hint = "supply.file_bytes sets how long a file may be"
        if whole.fault:
            raise _cannot_pack(piece.path, whole.fault, "unsafe-entry", hint)
        if len(whole.data) < whole.size:
            why = f"it has more than {limits.file_bytes:,} bytes"
            raise _cannot_pack(piece.path, why, "too-large", hint)
        files.append(PackFile(piece.path, whole.data, whole.executable))
    return tuple(files)


def _cannot_pack(path: str, why: str, code: str, hint: str = PLAIN_FILES_HINT) -> RefusedError:
    return RefusedError(
        f"'{safe_names.printable(path)}' cannot be packed: {why}", hint=hint, code=code
    )
