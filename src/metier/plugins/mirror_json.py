"""Reads and writes the JSON file of what is mirrored in one place: plugins, skills with their
versions, candidates. Pure.

Ten thousand skills are read at every `sync`, so no field is looked at by a function of its own: a
column is one set, and a rule is asked about the set. Only where a rule says no is the one value
looked for that it does not hold for.

The file is ASCII JSON with a line for each plugin, skill and candidate. A line is a list with the
fields of its noun in their order, which makes the file of ten thousand skills a third smaller than
one with names for them, and as much faster to read. A file that is not exactly as metier writes it
is refused whole: what it says decides which folders are replaced and which trees of the store are
still needed. What could not be read again is not written either.
"""

from __future__ import annotations

import json
import re
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from metier.errors import StoreError
from metier.fast import CollectorOff
from metier.plugins.mirror_ledger import OPEN_STATUSES
from metier.plugins.model import (
    Binding,
    BindingStatus,
    CandidateKind,
    CandidateStatus,
    Evidence,
    MergeMode,
    Mirror,
    MirroredVersion,
    PluginRecord,
    PluginStatus,
    ReviewCandidate,
    VersionedSkill,
    VersionProvenance,
)
from metier.store.record_fields import encodes, read_versioned
from metier.supply.model import InstallTarget, Request
from metier.supply.safe_names import (
    MAX_SCORE,
    PIN_KINDS,
    PIN_METHODS,
    name_fault,
    path_fault,
    text_fault,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from metier.model import JsonObject, Texts

    Fine = Callable[[set[Any]], bool]


SKILL_STATUSES = frozenset({"active", "disabled"})
SOURCE_KINDS = frozenset({"plugin", "user", "agent"})

_VERSION = re.compile(r"v[0-9]{4,12}")
_PLAIN = re.compile(r"(?!(?:con|prn|aux|nul|com[0-9]|lpt[0-9])\Z)[a-z0-9][a-z0-9_-]{0,254}")
"""Most names of skills: what `name_fault` says nothing against, told in one step."""
_MARK = "sha256:"
_DIGEST_CHARS = len(_MARK) + 64
_REST = b"sh:"
"""What is left of the mark without what could be hexadecimal."""
_mark = itemgetter(slice(0, len(_MARK)))


class MirrorRowError(ValueError):
    """A row that is not as it is written; `row` is that very row, by which its place is found."""

    def __init__(self, why: str, row: object = None) -> None:
        """Keep the row beside what is wrong with it."""
        super().__init__(why)
        self.row = row


class ColumnRule(NamedTuple):
    """What holds for all values of a column."""

    kinds: frozenset[type]
    fine: Fine | None
    """Whether a set of values will do; nothing where any of those kinds will."""
    why: str
    """What to say where it does not."""
    row: RowShape | None = None
    """What kind of row each value is; or, for lists, each of their entries."""
    texts: ColumnRule | None = None
    """What holds for the entries of lists of texts."""

    def holds(self, values: Collection[Any]) -> bool:
        """Tell whether values of a column are as they should be."""
        return set(map(type, values)) <= self.kinds and (
            self.fine is None or self.fine(set(values))
        )


class RowShape(NamedTuple):
    """A kind of row: what it is called and made into, with a rule for each of its fields."""

    what: str
    noun: type[Any]
    rules: tuple[ColumnRule, ...]

    @property
    def fields(self) -> Texts:
        """The names of its fields, as far as they are written."""
        return tuple(self.noun._fields[: len(self.rules)])


def check(shape: RowShape, rows: Sequence[Any]) -> None:
    """Refuse rows that are not of a shape, or have rows in them that are not of theirs."""
    kinds = {list, shape.noun}
    width = len(shape.rules)
    if not set(map(type, rows)) <= kinds or not set(map(len, rows)) <= {width}:
        row = next(row for row in rows if type(row) not in kinds or len(row) != width)
        raise MirrorRowError(f"{shape.what} is not made of {', '.join(shape.fields)}", row)
    for field, rule, column in zip(
        shape.fields, shape.rules, zip(*rows, strict=True), strict=False
    ):
        if not rule.holds(column):
            row = next(row for row, one in zip(rows, column, strict=True) if not rule.holds([one]))
            raise MirrorRowError(f"'{field}' of {shape.what} {rule.why}", row)
        if rule.row is not None:
            check(rule.row, list(chain.from_iterable(column)) if rule.kinds is _LISTS else column)
        if rule.texts is not None:
            for row, texts in zip(rows, column, strict=True):
                if texts and not rule.texts.holds(texts):
                    raise MirrorRowError(f"'{field}' is no list of texts", row)


def make(shape: RowShape, rows: Sequence[Any]) -> list[Any]:
    """Make what rows stand for that were checked, and what is in them."""
    for at, rule in enumerate(shape.rules):
        cells = [row[at] for row in rows]
        if rule.row is not None and rule.kinds is _LISTS:
            made = iter(make(rule.row, list(chain.from_iterable(cells))))
            cells = [tuple(islice(made, len(cell))) for cell in cells]
        elif rule.row is not None:
            cells = make(rule.row, cells)
        elif rule.texts is not None:
            cells = list(map(tuple, cells))
        else:
            continue
        for row, cell in zip(rows, cells, strict=True):
            row[at] = cell
    return list(map(shape.noun._make, rows))


def _lines(values: Collection[str]) -> bool:
    return "" not in values and not any(map(text_fault, values))


def _names(values: Collection[str]) -> bool:
    return all(map(_PLAIN.fullmatch, values)) or not any(map(name_fault, values))


def _digests(values: Collection[str]) -> bool:
    """Tell it of tens of thousands at once: all begin with the mark, all have that length, and but
    for it all is hexadecimal.
    """
    if set(map(len, values)) - {_DIGEST_CHARS} or set(map(_mark, values)) - {_MARK}:
        return False
    rest = "".join(values).encode("ascii", "replace").translate(None, b"0123456789abcdef")
    return rest == _REST * len(values)


def _versions(values: Collection[str]) -> bool:
    return all(map(_VERSION.fullmatch, values))


def _scores(values: Collection[int]) -> bool:
    return min(values) >= -MAX_SCORE and max(values) <= MAX_SCORE


def _or_empty(fine: Fine, why: str) -> ColumnRule:
    """Let a column have empty texts as well."""
    return ColumnRule(_STR, lambda values: fine(values - {""}), why)


_STR = frozenset({str})
TEXT = ColumnRule(_STR, lambda values: encodes("".join(values)), "is no text that can be encoded")
ODD = ColumnRule(
    _STR,
    lambda values: encodes("".join(values), "surrogateescape"),
    "is no text, and no path either",
)
"""For what may quote a path, and a path may have bytes that are no UTF-8."""
_LINE = ColumnRule(_STR, _lines, "is not one line of text")
_NAME = ColumnRule(_STR, _names, "is no name that a folder may have")
_DESK = _or_empty(_names, "is no name that a folder may have")
_DIGEST = ColumnRule(_STR, _digests, "is not 'sha256:' and 64 digits of hexadecimal")
_MAYBE = _or_empty(_digests, "is neither empty nor 'sha256:' and 64 digits of hexadecimal")
_NUMBERED = ColumnRule(_STR, _versions, "is not 'v' and at least four digits")
_MAYBE_NUMBERED = _or_empty(_versions, "is neither empty nor 'v' and at least four digits")
_LISTS = frozenset({list, tuple})
_FLAG = ColumnRule(frozenset({bool}), None, "is neither true nor false")
_SCORE = ColumnRule(frozenset({int}), _scores, "is no whole number of that size")
_SHARE = ColumnRule(
    frozenset({int, float}),
    lambda values: all(0 <= one <= 1 for one in values),
    "is no number from 0 to 1",
)
_TEXTS = ColumnRule(_LISTS, None, "is no list", texts=TEXT)
_PATHS = ColumnRule(_LISTS, None, "is no list", texts=ODD)


def _one_of(words: Collection[str]) -> ColumnRule:
    return ColumnRule(
        _STR, frozenset(words).issuperset, f"is none of {', '.join(sorted(filter(None, words)))}"
    )


def _row(shape: RowShape) -> ColumnRule:
    return ColumnRule(frozenset({list, shape.noun}), None, "is no list", shape)


def _rows(shape: RowShape) -> ColumnRule:
    return ColumnRule(_LISTS, None, "is no list", shape)


_MODE = _one_of(get_args(MergeMode))
_STATUS = _one_of(get_args(CandidateStatus))
REQUEST_ROW = RowShape("a source", Request, (_one_of(PIN_KINDS), ODD, TEXT, ODD, ODD))
BINDING_ROW = RowShape(
    "a binding",
    Binding,
    (_NAME, ODD, _MAYBE, _MAYBE, _MAYBE_NUMBERED, _one_of(get_args(BindingStatus)), TEXT),
)
PLUGIN_ROW = RowShape(
    "a plugin",
    PluginRecord,
    (
        _LINE, TEXT, TEXT, _row(REQUEST_ROW), _FLAG, _one_of(get_args(PluginStatus)), TEXT, TEXT, _rows(BINDING_ROW),
    ),
)  # fmt: skip
PROVENANCE_ROW = RowShape(
    "a provenance",
    VersionProvenance,
    (_one_of(SOURCE_KINDS), TEXT, TEXT, ODD, _MAYBE, _MAYBE, _MODE),
)
VERSION_ROW = RowShape(
    "a version",
    MirroredVersion,
    (_NUMBERED, _DIGEST, _MAYBE, _MAYBE, _MAYBE_NUMBERED, _LINE, ODD, _STATUS, TEXT, _row(PROVENANCE_ROW)),
)  # fmt: skip
TARGET_ROW = RowShape("a target", InstallTarget, (TEXT, TEXT, _one_of(PIN_METHODS)))
SKILL_ROW = RowShape(
    "a skill",
    VersionedSkill,
    (_NAME, _LINE, _LINE, _one_of(SKILL_STATUSES), TEXT, _NUMBERED, _rows(TARGET_ROW), _rows(VERSION_ROW)),
)  # fmt: skip
EVIDENCE_ROW = RowShape(
    "an evidence",
    Evidence,
    (
        TEXT, TEXT, TEXT, _MODE, _MAYBE, _MAYBE, _MAYBE_NUMBERED, _MAYBE, _MAYBE, _MAYBE, ODD, TEXT, TEXT, _SCORE,
        _TEXTS, _TEXTS, _PATHS,
    ),
)  # fmt: skip
CANDIDATE_ROW = RowShape(
    "a candidate",
    ReviewCandidate,
    (
        _LINE, _one_of(get_args(CandidateKind)), _NAME, _MODE, _STATUS, ODD, _row(EVIDENCE_ROW), _SCORE, _SHARE,
        TEXT, TEXT, TEXT, _MAYBE_NUMBERED, _DESK, _MAYBE,
    ),
)  # fmt: skip
"""All but `scope`, which is never written."""
_TABLES = {"plugins": PLUGIN_ROW, "skills": SKILL_ROW, "candidates": CANDIDATE_ROW}


FORMAT_VERSION = 1
MAX_MIRROR_BYTES = 256 * 1024 * 1024
MAX_DECIDED_CANDIDATES = 5_000
"""How many candidates are remembered that nobody has to decide about any more."""
_KEYS = ("version", "place", *_TABLES)
_MAX_PLACE_DEPTH = 4
_first = itemgetter(0)
_HINT = (
    "put a copy back, or move the file away: versions and candidates are forgotten then, the "
    "skills stay as your own folders"
)
_TREES = (
    "base_upstream_tree_hash",
    "new_upstream_tree_hash",
    "local_tree_hash",
    "proposed_tree_hash",
)


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
    raise StoreError(
        f"what is noted about mirrored plugins cannot be read: {path}: {why}",
        hint=_HINT,
        code="state",
    )


def mirror_bytes(mirror: Mirror) -> bytes:
    """Write down what is mirrored, the same bytes for the same mirror."""
    with CollectorOff():
        return _bytes(mirror)


def _bytes(mirror: Mirror) -> bytes:
    inside = [one._replace(skills=tuple(sorted(one.skills, key=_first))) for one in mirror.plugins]
    tables: dict[str, Sequence[Any]] = {
        "plugins": sorted(inside, key=_first),
        "skills": sorted(mirror.skills, key=_first),
        "candidates": [_written(one) for one in mirror.candidates],
    }
    mirror = mirror._replace(plugins=tuple(tables["plugins"]), skills=tuple(tables["skills"]))
    try:
        _check_rows({"place": mirror.place, **tables})
        _check_links(mirror)
    except MirrorRowError as error:
        raise StoreError(
            f"what is mirrored is not written down: {_placed(tables, error)[:300]}",
            hint="this is a fault of metier; please report it",
            code="state",
        ) from error
    dumps = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
    parts = [f'{{"version":{FORMAT_VERSION},"place":{dumps(mirror.place)}']
    for key, rows in tables.items():
        lines = ",\n".join(map(dumps, rows))
        parts.append(f',\n"{key}":[\n{lines}\n]' if rows else f',\n"{key}":[]')
    data = ("".join(parts) + "}\n").encode("ascii")
    if len(data) > MAX_MIRROR_BYTES:
        raise StoreError(
            f"what is mirrored takes more than {MAX_MIRROR_BYTES:,} bytes",
            hint="adopt or disable plugins",
            code="state",
        )
    return data


def _written(candidate: ReviewCandidate) -> list[Any]:
    """Give the row of a candidate; a confidence of 1 is the same text as one of 1.0."""
    share = candidate.confidence
    row = candidate._replace(confidence=float(share) if type(share) is int else share)
    return list(row[: len(CANDIDATE_ROW.rules)])


def needed_trees(mirror: Mirror) -> set[str]:
    """Give the digests of all trees that the store must keep for a mirror."""
    found = {version.digest for skill in mirror.skills for version in skill.versions}
    for plugin in mirror.plugins:
        for binding in plugin.skills:
            found |= {binding.accepted, binding.observed}
    for one in mirror.candidates:
        if one.status in OPEN_STATUSES:
            found |= {one.desk_on, *(getattr(one.evidence, field) for field in _TREES)}
    return found - {""}


def trim_decided(mirror: Mirror) -> Mirror:
    """Forget the oldest candidates that were decided, where there are too many; never one that
    still says how a skill stands.
    """
    if len(mirror.candidates) <= MAX_DECIDED_CANDIDATES:
        return mirror
    bound = [(plugin.plugin_id, one) for plugin in mirror.plugins for one in plugin.skills]
    waiting = {one.pending for _, one in bound}
    seen = {(ident, one.skill, one.observed) for ident, one in bound}
    decided = [
        one.id
        for one in mirror.candidates
        if one.status not in OPEN_STATUSES
        and one.id not in waiting
        # Without a no to what its plugin still ships, the same change would be proposed again.
        and not (
            one.status == "rejected"
            and (one.evidence.plugin_id, one.skill, one.evidence.new_upstream_tree_hash) in seen
        )
    ]
    if len(decided) <= MAX_DECIDED_CANDIDATES:
        return mirror
    forgotten = set(decided[:-MAX_DECIDED_CANDIDATES])
    return mirror._replace(
        candidates=tuple(one for one in mirror.candidates if one.id not in forgotten)
    )


# --- from bytes


def _mirror(data: bytes) -> Mirror:
    document = _document(data)
    try:
        _check_rows(document)
    except MirrorRowError as error:
        raise ValueError(_placed(document, error)) from error
    for row in document["candidates"]:
        row.append("")  # the scope
    plugins, skills, candidates = (make(_TABLES[key], document[key]) for key in _TABLES)
    plugins = [one._replace(skills=tuple(sorted(one.skills, key=_first))) for one in plugins]
    mirror = Mirror(
        document["place"],
        tuple(sorted(plugins, key=_first)),
        tuple(sorted(skills, key=_first)),
        tuple(candidates),
    )
    try:
        _check_links(mirror)
    except MirrorRowError as error:
        raise ValueError(_placed(mirror._asdict(), error)) from error
    return mirror


def _document(data: bytes) -> JsonObject:
    if len(data) > MAX_MIRROR_BYTES:
        raise ValueError(f"it is longer than {MAX_MIRROR_BYTES:,} bytes")
    document = read_versioned(data, {FORMAT_VERSION: _KEYS})
    for key in _TABLES:
        if type(document[key]) is not list:
            raise ValueError(f"'{key}' is no list")
    return document


# --- what holds for both directions


def _check_rows(document: Mapping[str, Any]) -> None:
    for key, shape in _TABLES.items():
        check(shape, document[key])
    place = document["place"]
    if not isinstance(place, str) or not encodes(place, "surrogateescape"):
        raise MirrorRowError("'place' is no path")


def _check_links(mirror: Mirror) -> None:
    for what, names in (
        ("plugins", [one.plugin_id for one in mirror.plugins]),
        ("skills", [one.name for one in mirror.skills]),
        ("candidates", [one.id for one in mirror.candidates]),
    ):
        if len(set(names)) < len(names):
            seen: set[str] = set()
            twice = next(one for one in names if one in seen or seen.add(one))  # type: ignore[func-returns-value]
            raise MirrorRowError(f"{json.dumps(twice[:80])} is there twice in '{what}'")
    _check_owners(mirror)
    _check_skills(mirror.skills)


def _check_owners(mirror: Mirror) -> None:
    skills = {one.name for one in mirror.skills}
    owners: dict[str, str] = {}
    for plugin in mirror.plugins:
        if len({one.skill for one in plugin.skills}) < len(plugin.skills):
            raise MirrorRowError("it binds a skill twice", plugin)
        for binding in plugin.skills:
            if not binding.accepted:  # offered only: nobody's yet
                continue
            if binding.skill not in skills:
                raise MirrorRowError("there is no such skill", binding)
            if owners.setdefault(binding.skill, plugin.plugin_id) != plugin.plugin_id:
                raise MirrorRowError("another plugin has that skill", binding)


def _check_skills(skills: Iterable[VersionedSkill]) -> None:
    folders: set[str] = set()
    for skill in skills:
        names = {one.version for one in skill.versions}
        if skill.current not in names or len(names) < len(skill.versions):
            raise MirrorRowError(
                "a version is there twice"
                if skill.current in names
                else "its current version is not there",
                skill,
            )
        if not skill.targets:
            raise MirrorRowError("it has no place", skill)
        for target in skill.targets:
            folder, _, last = target.path.rpartition("/")
            if last != skill.name:
                raise MirrorRowError(
                    "a skill is only ever put in a folder of its own name", target
                )  # HE-42
            if folder not in folders and path_fault(target.path):
                raise MirrorRowError(f"its path: {path_fault(target.path)}", target)
            folders.add(folder)


def _placed(document: Mapping[str, Any], error: MirrorRowError) -> str:
    for key in _TABLES if error.row is not None else ():
        trail = _trail(document[key], error.row, _MAX_PLACE_DEPTH)
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
