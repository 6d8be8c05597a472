"""What is mirrored in one place, as bytes and as values: plugins, skills with their versions, candidates. Pure.

The file is ASCII JSON with a line for each plugin, skill and candidate. A line is a list with the fields of its noun in their
order, which makes the file of ten thousand skills a third smaller than one with names for them, and as much faster to read. It
is kept below METIER_HOME. One that is not exactly as metier writes it is refused whole: what it says decides which folders are
replaced and which trees of the store are still needed. What could not be read again is not written either.
"""

from __future__ import annotations

import json
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from metier.collector import CollectorOff
from metier.errors import StoreError
from metier.mirrors import Binding, Candidate, Evidence, Mirror, Plugin, Provenance, Skill, Version
from metier.plugins import fields
from metier.plugins.fields import WrongError, check
from metier.supplies import Request, Target
from metier.supply.pins import path_fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import NoReturn

FORMAT = 1
MOST_BYTES = 256 * 1024 * 1024
MOST_DECIDED = 5_000
"""How many candidates are remembered that nobody has to decide about any more."""
LIVE = frozenset({"open", "accepted"})
_KEYS = ("version", "place", "plugins", "skills", "candidates")
_DEEPEST = 4
_SURE = Candidate._fields.index("confidence")
_first = itemgetter(0)
_HINT = "put a copy back, or move the file away: versions and candidates are forgotten then, the skills stay as your own folders"
_TREES = ("base_upstream_tree_hash", "new_upstream_tree_hash", "local_tree_hash", "proposed_tree_hash")
_LISTS = (("gained", False), ("lost", False), ("conflicts", True))


def read_mirror(data: bytes | None, path: str = "the file") -> Mirror:
    """Read what is mirrored; no file means nothing. The path is for whoever has to see to it."""
    if data is None:
        return Mirror()
    with CollectorOff():
        try:
            return _mirror(data)
        except RecursionError:
            why = "it is nested too deeply"
        except ValueError as error:
            why = str(error)[:300]
    raise StoreError(f"what is noted about mirrored plugins cannot be read: {path}: {why}", hint=_HINT, code="state")


def mirror_bytes(mirror: Mirror) -> bytes:
    """Write down what is mirrored, the same bytes for the same mirror."""
    with CollectorOff():
        return _bytes(mirror)


def _bytes(mirror: Mirror) -> bytes:
    inside = [one._replace(skills=tuple(sorted(one.skills, key=_first))) for one in mirror.plugins]
    plugins, skills = sorted(inside, key=_first), sorted(mirror.skills, key=_first)
    mirror = mirror._replace(plugins=tuple(plugins), skills=tuple(skills))
    candidates: list[list[Any]] = [list(one[: len(fields.CANDIDATE.rules)]) for one in mirror.candidates]
    try:
        _check_rows(plugins, skills, candidates)
        _check_links(mirror)
        _check_place(mirror.place)
    except WrongError as error:
        why = _placed({"plugins": plugins, "skills": skills, "candidates": candidates}, error)
        raise StoreError(f"what is mirrored is not written down: {why[:300]}", hint="this is a fault of metier; please report it",
                         code="state") from error  # fmt: skip
    for row in candidates:
        row[_SURE] = float(row[_SURE])  # 1 and 1.0 are one value, so they are one text
    dumps = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
    parts = [f'{{"version":{FORMAT},"place":{dumps(mirror.place)}']
    for key, rows in (("plugins", plugins), ("skills", skills), ("candidates", candidates)):
        lines = ",\n".join(map(dumps, rows))
        parts.append(f',\n"{key}":[\n{lines}\n]' if rows else f',\n"{key}":[]')
    data = ("".join(parts) + "}\n").encode("ascii")
    if len(data) > MOST_BYTES:
        raise StoreError(f"what is mirrored takes more than {MOST_BYTES:,} bytes", hint="adopt or disable plugins", code="state")
    return data


def needed(mirror: Mirror) -> set[str]:
    """Give the digests of all trees that the store must keep for a mirror."""
    found = {version.digest for skill in mirror.skills for version in skill.versions}
    for plugin in mirror.plugins:
        for binding in plugin.skills:
            found |= {binding.accepted, binding.observed}
    for one in mirror.candidates:
        if one.status in LIVE:
            found |= {one.desk_on, *(getattr(one.evidence, field) for field in _TREES)}
    return found - {""}


def trimmed(mirror: Mirror) -> Mirror:
    """Forget the oldest candidates that were decided, where there are too many; never one that still says how a skill stands."""
    if len(mirror.candidates) <= MOST_DECIDED:
        return mirror
    bound = [(plugin.plugin_id, one) for plugin in mirror.plugins for one in plugin.skills]
    waiting, seen = {one.pending for _, one in bound}, {(ident, one.skill, one.observed) for ident, one in bound}
    decided = [one.id for one in mirror.candidates if one.status not in LIVE and one.id not in waiting and not _stands(one, seen)]
    if len(decided) <= MOST_DECIDED:
        return mirror
    forgotten = set(decided[:-MOST_DECIDED])
    return mirror._replace(candidates=tuple(one for one in mirror.candidates if one.id not in forgotten))


def _stands(candidate: Candidate, seen: set[tuple[str, str, str]]) -> bool:
    """Tell whether it is a no to what its plugin still ships: without it the same change would be proposed again."""
    about = candidate.evidence
    return candidate.status == "rejected" and (about.plugin_id, candidate.skill, about.new_upstream_tree_hash) in seen


# --- from bytes


def _mirror(data: bytes) -> Mirror:
    document = _document(data)
    plugins, skills, candidates = document["plugins"], document["skills"], document["candidates"]
    try:
        _check_rows(plugins, skills, candidates)
        _check_place(document["place"])
    except WrongError as error:
        raise ValueError(_placed(document, error)) from error
    mirror = Mirror(document["place"], _plugins(plugins), _skills(skills), _candidates(candidates))
    try:
        _check_links(mirror)
    except WrongError as error:
        raise ValueError(_placed(mirror._asdict(), error)) from error
    return mirror


def _document(data: bytes) -> dict[str, Any]:
    if len(data) > MOST_BYTES:
        raise ValueError(f"it is longer than {MOST_BYTES:,} bytes")
    document = json.loads(data.decode("utf-8"), object_pairs_hook=_once, parse_constant=_constant)
    if not isinstance(document, dict) or type(document.get("version")) is not int:
        raise ValueError("it does not say its version")
    if document["version"] > FORMAT:
        raise ValueError("a newer metier wrote it; upgrade this one")
    if document["version"] != FORMAT or set(document) != set(_KEYS):
        raise ValueError(f"it is not made of {', '.join(_KEYS)}")
    for key in _KEYS[2:]:
        if type(document[key]) is not list:
            raise ValueError(f"'{key}' is no list")
    return document


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice in one object")
    return found


def _constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")


# Lengths and types were checked, so a row becomes its noun without another look at either.


def _plugins(rows: Iterable[Any]) -> tuple[Plugin, ...]:
    new = tuple.__new__
    for row in rows:
        row[3] = new(Request, row[3])
        row[8] = tuple(sorted([new(Binding, one) for one in row[8]], key=_first))
    return tuple(sorted([new(Plugin, row) for row in rows], key=_first))


def _skills(rows: Iterable[Any]) -> tuple[Skill, ...]:
    new = tuple.__new__
    for row in rows:
        for version in row[7]:
            version[9] = new(Provenance, version[9])
        row[6] = tuple([new(Target, one) for one in row[6]])
        row[7] = tuple([new(Version, one) for one in row[7]])
    return tuple(sorted([new(Skill, row) for row in rows], key=_first))


def _candidates(rows: Iterable[Any]) -> tuple[Candidate, ...]:
    for row in rows:
        row[6] = Evidence(*row[6][:-3], *map(tuple, row[6][-3:]))
    return tuple([Candidate(*row) for row in rows])


# --- what holds for both directions


def _check_rows(plugins: Sequence[Any], skills: Sequence[Any], candidates: Sequence[Any]) -> None:
    check(fields.PLUGIN, plugins)
    check(fields.REQUEST, [row[3] for row in plugins])
    check(fields.BINDING, list(chain.from_iterable([row[8] for row in plugins])))
    check(fields.SKILL, skills)
    check(fields.TARGET, list(chain.from_iterable([row[6] for row in skills])))
    versions = list(chain.from_iterable([row[7] for row in skills]))
    check(fields.VERSION, versions)
    check(fields.PROVENANCE, [row[9] for row in versions])
    check(fields.CANDIDATE, candidates)
    evidence = [row[6] for row in candidates]
    check(fields.EVIDENCE, evidence)
    for at, (_, odd) in enumerate(_LISTS, len(Evidence._fields) - len(_LISTS)):
        fields.check_texts(fields.EVIDENCE, evidence, at, odd=odd)


def _check_place(place: Any) -> None:
    if not isinstance(place, str) or not _sane(place):
        raise WrongError("'place' is no path")


def _sane(place: str) -> bool:
    try:
        place.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _check_links(mirror: Mirror) -> None:
    for what, names in (("plugins", [one.plugin_id for one in mirror.plugins]), ("skills", [one.name for one in mirror.skills]),
                        ("candidates", [one.id for one in mirror.candidates])):  # fmt: skip
        if len(set(names)) < len(names):
            seen: set[str] = set()
            twice = next(one for one in names if one in seen or seen.add(one))  # type: ignore[func-returns-value]
            raise WrongError(f"{json.dumps(twice[:80])} is there twice in '{what}'")
    _check_owners(mirror)
    _check_skills(mirror.skills)


def _check_owners(mirror: Mirror) -> None:
    skills = {one.name for one in mirror.skills}
    owners: dict[str, str] = {}
    for plugin in mirror.plugins:
        if len({one.skill for one in plugin.skills}) < len(plugin.skills):
            raise WrongError("it binds a skill twice", plugin)
        for binding in plugin.skills:
            if not binding.accepted:  # offered only: nobody's yet
                continue
            if binding.skill not in skills:
                raise WrongError("there is no such skill", binding)
            if owners.setdefault(binding.skill, plugin.plugin_id) != plugin.plugin_id:
                raise WrongError("another plugin has that skill", binding)


def _check_skills(skills: Iterable[Skill]) -> None:
    folders: set[str] = set()
    for skill in skills:
        names = {one.version for one in skill.versions}
        if skill.current not in names or len(names) < len(skill.versions):
            raise WrongError("a version is there twice" if skill.current in names else "its current version is not there", skill)
        if not skill.targets:
            raise WrongError("it has no place", skill)
        for target in skill.targets:
            folder, _, last = target.path.rpartition("/")
            if last != skill.name:
                raise WrongError("a skill is only ever put in a folder of its own name", target)  # HE-42
            if folder not in folders and path_fault(target.path):
                raise WrongError(f"its path: {path_fault(target.path)}", target)
            folders.add(folder)


def _placed(document: dict[str, Any], error: WrongError) -> str:
    for key in _KEYS[2:] if error.row is not None else ():
        trail = _trail(document[key], error.row, _DEEPEST)
        if trail is not None:
            return ", ".join([f"'{key}'", *trail]) + f": {error}"
    return str(error)


def _trail(rows: Any, row: object, deepest: int) -> list[str] | None:
    for at, one in enumerate(rows):
        if one is row:
            return [_label(one, at)]
        if deepest and isinstance(one, (list, tuple)):
            trail = _trail(one, row, deepest - 1)
            if trail is not None:
                return [_label(one, at), *trail]
    return None


def _label(row: Any, at: int) -> str:
    named = isinstance(row, (list, tuple)) and row and isinstance(row[0], str)
    return json.dumps(row[0][:80]) if named else f"entry {at + 1}"
