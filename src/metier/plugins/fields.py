"""What each field of a written mirror may be, and tables of rows held against that column by column. Pure.

Ten thousand skills are read at every `sync`, so no field is looked at by a function of its own: a column is one set, and a rule
is asked about the set. Only where a rule says no is the one value looked for that it does not hold for.
"""

from __future__ import annotations

import re
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from metier.mirrors import Binding, Candidate, Evidence, Plugin, Provenance, Skill, Version
from metier.supplies import Request, Target
from metier.supply.pins import KINDS, METHODS, MOST_SCORE, name_fault, text_fault

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    Fine = Callable[[set[Any]], bool]

PLUGIN_STATUSES = frozenset({"discovered", "synced", "update_pending", "paused", "missing", "disabled", "adopted"})
BINDING_STATUSES = frozenset({"synced", "update_pending", "new", "removed", "kept", "declined"})
CANDIDATE_KINDS = frozenset({"plugin_skill_update", "plugin_skill_added", "plugin_skill_removed", "skill_draft", "skill_update"})
CANDIDATE_STATUSES = frozenset({"open", "accepted", "published", "rejected", "superseded"})
MERGE_MODES = frozenset({"", "mirror", "unchanged", "already_applied", "fast_forward", "three_way", "edit", "restore", "draft"})
SKILL_STATUSES = frozenset({"active", "disabled"})
SOURCE_KINDS = frozenset({"plugin", "user", "agent"})

_VERSION = re.compile(r"v[0-9]{4,12}")
_PLAIN = re.compile(r"(?!(?:con|prn|aux|nul|com[0-9]|lpt[0-9])\Z)[a-z0-9][a-z0-9_-]{0,254}")
"""Most names of skills: what `name_fault` says nothing against, told in one step."""
_MARK = "sha256:"
_WIDE = len(_MARK) + 64
_REST = b"sh:"
"""What is left of the mark without what could be hexadecimal."""
_mark = itemgetter(slice(0, len(_MARK)))


class WrongError(ValueError):
    """A row that is not as it is written; `row` is that very row, by which its place is found."""

    def __init__(self, why: str, row: object = None) -> None:
        """Keep the row beside what is wrong with it."""
        super().__init__(why)
        self.row = row


class Rule(NamedTuple):
    """What holds for all values of a column."""

    kinds: frozenset[type]
    fine: Fine
    why: str
    """What to say where it does not."""


class Shape(NamedTuple):
    """A kind of row: what it is called and made into, with a rule for each of its fields."""

    what: str
    noun: type[Any]
    rules: tuple[Rule, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of its fields, as far as they are written."""
        return tuple(self.noun._fields[: len(self.rules)])


def check(shape: Shape, rows: Sequence[Any]) -> None:
    """Refuse rows that are not of a shape; what they nest is left to the shape of that."""
    if not rows:
        return
    if not set(map(type, rows)) <= {list, shape.noun} or set(map(len, rows)) != {len(shape.rules)}:
        _misshapen(shape, rows)
    for at, (rule, column) in enumerate(zip(shape.rules, zip(*rows, strict=True), strict=True)):
        if not set(map(type, column)) <= rule.kinds or not (rule.fine is _nested or rule.fine(set(column))):
            _refuse(shape, rows, at, rule)


def check_texts(shape: Shape, rows: Sequence[Any], at: int, *, odd: bool = False) -> None:
    """Refuse rows whose list at a position holds anything but texts; `odd` lets through names that are no UTF-8."""
    rule = ODD if odd else TEXT
    for row in rows:
        if row[at] and (set(map(type, row[at])) != {str} or not rule.fine(set(row[at]))):
            raise WrongError(f"'{shape.fields[at]}' is no list of texts", row)


def _misshapen(shape: Shape, rows: Sequence[Any]) -> NoReturn:
    row = next(one for one in rows if type(one) not in {list, shape.noun} or len(one) != len(shape.rules))
    raise WrongError(f"{shape.what} is not made of {', '.join(shape.fields)}", row)


def _refuse(shape: Shape, rows: Sequence[Any], at: int, rule: Rule) -> NoReturn:
    row = next(one for one in rows if type(one[at]) not in rule.kinds or not (rule.fine is _nested or rule.fine({one[at]})))
    raise WrongError(f"'{shape.fields[at]}' of {shape.what} {rule.why}", row)


def _nested(_values: Collection[Any]) -> bool:
    return True


def _whole(values: Collection[str]) -> bool:
    try:
        "".join(values).encode()
    except UnicodeEncodeError:
        return False
    return True


def _encodable(values: Collection[str]) -> bool:
    try:
        "".join(values).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _lines(values: Collection[str]) -> bool:
    return "" not in values and not any(map(text_fault, values))


def _names(values: Collection[str]) -> bool:
    return all(map(_PLAIN.fullmatch, values)) or not any(map(name_fault, values))


def _maybe_names(values: Collection[str]) -> bool:
    return _names([one for one in values if one])


def _digests(values: Collection[str]) -> bool:
    """Tell it of tens of thousands at once: all begin with the mark, all have that length, and but for it all is hexadecimal."""
    if set(map(len, values)) - {_WIDE} or set(map(_mark, values)) - {_MARK}:
        return False
    rest = "".join(values).encode("ascii", "replace").translate(None, b"0123456789abcdef")
    return rest == _REST * len(values)


def _maybe_digests(values: set[str]) -> bool:
    return _digests(values - {""})


def _versions(values: Collection[str]) -> bool:
    return all(map(_VERSION.fullmatch, values))


def _maybe_versions(values: Collection[str]) -> bool:
    return all(map(_VERSION.fullmatch, filter(None, values)))


def _scores(values: Collection[int]) -> bool:
    return min(values) >= -MOST_SCORE and max(values) <= MOST_SCORE


def _shares(values: Collection[float]) -> bool:
    return all(0 <= one <= 1 for one in values)


_STR = frozenset({str})
TEXT = Rule(_STR, _whole, "is no text that can be encoded")
ODD = Rule(_STR, _encodable, "is no text, and no path either")
"""For what may quote a path, and a path may have bytes that are no UTF-8."""
_LINE = Rule(_STR, _lines, "is not one line of text")
_NAME = Rule(_STR, _names, "is no name that a folder may have")
_DESK = Rule(_STR, _maybe_names, "is no name that a folder may have")
_DIGEST = Rule(_STR, _digests, "is not 'sha256:' and 64 digits of hexadecimal")
_MAYBE = Rule(_STR, _maybe_digests, "is neither empty nor 'sha256:' and 64 digits of hexadecimal")
_NUMBERED = Rule(_STR, _versions, "is not 'v' and at least four digits")
_MAYBE_NUMBERED = Rule(_STR, _maybe_versions, "is neither empty nor 'v' and at least four digits")
_ROWS = Rule(frozenset({list, tuple}), _nested, "is no list")
_FLAG = Rule(frozenset({bool}), _nested, "is neither true nor false")
_SCORE = Rule(frozenset({int}), _scores, "is no whole number of that size")
_SHARE = Rule(frozenset({int, float}), _shares, "is no number from 0 to 1")


def _one_of(words: Collection[str]) -> Rule:
    return Rule(_STR, frozenset(words).issuperset, f"is none of {', '.join(sorted(filter(None, words)))}")


def _row(noun: type[Any]) -> Rule:
    return Rule(frozenset({list, noun}), _nested, "is no list")


_MODE, _STATUS = _one_of(MERGE_MODES), _one_of(CANDIDATE_STATUSES)
REQUEST = Shape("a source", Request, (_one_of(KINDS), ODD, TEXT, ODD, ODD))
BINDING = Shape("a binding", Binding, (_NAME, ODD, _MAYBE, _MAYBE, _MAYBE_NUMBERED, _one_of(BINDING_STATUSES), TEXT))
PLUGIN = Shape("a plugin", Plugin,
               (_LINE, TEXT, TEXT, _row(Request), _FLAG, _one_of(PLUGIN_STATUSES), TEXT, TEXT, _ROWS))  # fmt: skip
PROVENANCE = Shape("a provenance", Provenance, (_one_of(SOURCE_KINDS), TEXT, TEXT, ODD, _MAYBE, _MAYBE, _MODE))
VERSION = Shape("a version", Version,
                (_NUMBERED, _DIGEST, _MAYBE, _MAYBE, _MAYBE_NUMBERED, _LINE, ODD, _STATUS, TEXT, _row(Provenance)))  # fmt: skip
TARGET = Shape("a target", Target, (TEXT, TEXT, _one_of(METHODS)))
SKILL = Shape("a skill", Skill, (_NAME, _LINE, _LINE, _one_of(SKILL_STATUSES), TEXT, _NUMBERED, _ROWS, _ROWS))
EVIDENCE = Shape("an evidence", Evidence, (
    TEXT, TEXT, TEXT, _MODE, _MAYBE, _MAYBE, _MAYBE_NUMBERED, _MAYBE, _MAYBE, _MAYBE, ODD, TEXT, TEXT, _SCORE, _ROWS, _ROWS, _ROWS,
))  # fmt: skip
CANDIDATE = Shape("a candidate", Candidate, (
    _LINE, _one_of(CANDIDATE_KINDS), _NAME, _MODE, _STATUS, ODD, _row(Evidence), _SCORE, _SHARE, TEXT, TEXT, TEXT, _MAYBE_NUMBERED,
    _DESK, _MAYBE,
))  # fmt: skip
"""All but `scope`, which is never written."""
