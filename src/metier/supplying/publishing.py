"""`pack` and `publish`: skills as archives, and a well-known index that any web server can host."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple

from metier import judging, recording
from metier.discover import disk
from metier.errors import IntegrityError, NotFoundError, RefusedError
from metier.standard.digest import TreeFile, tree_digest
from metier.supplies import Item, Refusal
from metier.supply import paths
from metier.supply.packing import Content, packed
from metier.supply.putting import disk as putting
from metier.supplying import places
from metier.supplying.deciding import read_entry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.app import Library
    from metier.model import Diagnostic, Finding

SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
NEW, OLD = ".well-known/agent-skills", ".well-known/skills"
"""Where version 0.2.0 of the index lies, and where 0.1 does, which older clients read."""

PLAIN = "a skill that is handed on consists of plain files"


class Packed(NamedTuple):
    """A skill that was written as an archive, or as its one file."""

    name: str
    path: str
    """The file that was written."""
    digest: str
    """Of the skill's tree."""
    sha256: str
    """Of the file that was written."""
    size: int
    files: int


class Published(NamedTuple):
    """An index that was written, what is in it, and what is not."""

    index: str  # type: ignore[assignment] # a tuple's own `index` is of no use here
    skills: tuple[Packed, ...]
    refused: tuple[Refusal, ...]


class _Skill(NamedTuple):
    name: str
    description: str
    digest: str
    files: tuple[Content, ...]


class _Row(NamedTuple):
    """A skill that was written, and how each index tells of it."""

    packed: Packed
    new: dict[str, str]
    old: dict[str, Sequence[str]]


class _UnfitError(RefusedError):
    """A skill that is not fit to be handed on, with what was found."""

    def __init__(
        self, message: str, hint: str, code: str, diagnostics: Sequence[Diagnostic] = (), findings: Sequence[Finding] = ()
    ) -> None:
        """Keep both for whoever reports it."""
        super().__init__(message, hint=hint, code=code)
        self.findings = tuple(findings)
        if diagnostics:
            self.details["diagnostics"] = [one._asdict() for one in diagnostics]
        if findings:
            self.details["findings"] = [one._asdict() for one in findings]


def pack(library: Library, path: str, file: str = "") -> Packed:
    """Write a skill as an archive, the same bytes for the same skill; a faulty or dangerous one is refused (HE-45)."""
    folder = disk.real(disk.absolute(path, library.cwd, library.home))
    if disk.kind_of(folder) == "file" and folder.endswith("/SKILL.md"):
        folder = folder.rpartition("/")[0]
    if disk.kind_of(folder) != disk.FOLDER:
        raise NotFoundError(f"there is no folder {path}", hint="give the folder of a skill")
    skill = _fit(library, folder)
    data = packed(skill.files)
    aim = disk.absolute(file or f"{skill.name}.tar.gz", library.cwd, library.home)
    if aim.startswith(f"{folder}/"):
        raise RefusedError(f"{aim} lies in the skill itself", hint="write it elsewhere: metier pack PATH FILE", code="inside")
    parent, _, name = aim.rpartition("/")
    written = putting.put(places.hands_of(library), parent, name, data)
    recording.record(library, "pack", "done", name=skill.name, digest=skill.digest, path=written)
    return Packed(skill.name, written, skill.digest, _sha256(data), len(data), len(skill.files))


def publish(library: Library, paths: Sequence[str], folder: str) -> Published:
    """Write the index, 0.2.0 and 0.1, of every skill below some paths; each that is not fit is named and left out."""
    top = disk.absolute(folder, library.cwd, library.home)
    rows: dict[str, _Row] = {}
    refused: list[Refusal] = []
    for path in dict.fromkeys(disk.real(one.path) for one in library.check(paths, strict=True)):
        name = path.rpartition("/")[2]
        if name in rows:
            refused.append(Refusal(name, (f"another skill is called '{name}' as well",)))
            continue
        try:
            skill = _fit(library, path)
        except (RefusedError, IntegrityError) as error:
            refused.append(Refusal(name, (error.message,), error.findings if isinstance(error, _UnfitError) else ()))
        else:
            rows[name] = _put(library, top, skill)
    listed = [rows[name] for name in sorted(rows)]
    hands = places.hands_of(library)
    putting.put(hands, top, f"{OLD}/index.json", _json({"skills": [row.old for row in listed]}))
    index = putting.put(hands, top, f"{NEW}/index.json", _json({"$schema": SCHEMA, "skills": [row.new for row in listed]}))
    return Published(index, tuple(row.packed for row in listed), tuple(refused))


def _put(library: Library, top: str, skill: _Skill) -> _Row:
    """Write what the indexes will name, before they do."""
    hands = places.hands_of(library)
    alone = [file.path for file in skill.files] == ["SKILL.md"]
    url = f"{skill.name}/SKILL.md" if alone else f"{skill.name}.tar.gz"
    data = skill.files[0].data if alone else packed(skill.files)
    path = putting.put(hands, top, f"{NEW}/{url}", data)
    for file in skill.files:
        putting.put(hands, top, f"{OLD}/{skill.name}/{file.path}", file.data)
    recording.record(library, "publish", "done", name=skill.name, digest=skill.digest, path=path)
    new = {"name": skill.name, "type": "skill-md" if alone else "archive", "description": skill.description, "url": url,
           "digest": f"sha256:{_sha256(data)}"}  # fmt: skip
    old = {"name": skill.name, "description": skill.description, "files": sorted(file.path for file in skill.files)}
    return _Row(Packed(skill.name, path, skill.digest, _sha256(data), len(data), len(skill.files)), new, old)


def _fit(library: Library, folder: str) -> _Skill:
    """Read a skill once, and let it through only if those very bytes pass a strict check and no scan calls them dangerous."""
    name = folder.rpartition("/")[2]
    faulty = [one for one in library.check([folder], strict=True) if not one.ok]
    if faulty:
        notes = [note for one in faulty for note in one.diagnostics if note.severity != "info"]
        said = "; ".join(f"{note.code} {note.message}" for note in notes[:3])
        raise _UnfitError(f"'{name}' fails a strict check: {said}", f"see: metier check --strict {folder}", "check", notes)
    files = _contents(library, folder)
    digest = tree_digest(TreeFile(one.path, len(one.data), hashlib.sha256(one.data).digest(), one.executable) for one in files)
    scanned = judging.scan_tree(library, folder, name)
    if scanned.digest != digest:
        raise IntegrityError(f"'{name}' changed while it was read", hint="try again", code="changed")
    if library.trust_policy.counted(scanned.plain) == "dangerous":
        raise _UnfitError(f"a scan calls '{name}' dangerous", f"see: metier scan {folder}", "dangerous", findings=scanned.findings)
    return _Skill(name, read_entry(folder, name).description, digest, files)


def _contents(library: Library, folder: str) -> tuple[Content, ...]:
    """Read a skill's files: plain ones alone, with names that every system can hold."""
    limits, grown = library.settings.supply, disk.grown(folder)
    odd = min(grown.faults, default=None)
    if odd is not None:
        raise RefusedError(f"'{paths.shown(odd or folder)}' cannot be packed: {grown.faults[odd]}", hint=PLAIN, code="unsafe-entry")
    link = next((piece.path for piece in grown.pieces if piece.link), None)
    if link is not None:
        raise RefusedError(f"'{paths.shown(link)}' is a link", hint=PLAIN, code="unsafe-link")
    paths.checked([Item(piece.path, piece.size, "file") for piece in grown.pieces], limits)
    if sum(piece.size for piece in grown.pieces) > limits.unpacked_bytes:
        raise RefusedError(f"the skill has more than {limits.unpacked_bytes:,} bytes", code="too-large",
                           hint="supply.unpacked_bytes sets how many it may have")  # fmt: skip
    return tuple(_content(folder, piece.path, limits.file_bytes) for piece in grown.pieces)


def _content(folder: str, path: str, most: int) -> Content:
    whole = disk.read_whole(f"{folder}/{path}", lambda _head: most)
    if whole.fault or len(whole.data) < whole.size:
        why = whole.fault or f"it has more than {most:,} bytes"
        raise RefusedError(f"'{paths.shown(path)}' cannot be packed: {why}", hint="supply.file_bytes sets how long a file may be",
                           code="unsafe-entry" if whole.fault else "too-large")  # fmt: skip
    return Content(path, whole.data, whole.executable)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=True) + "\n").encode("ascii")
