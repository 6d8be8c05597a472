"""Records as they are written in JSON: read strictly, each field checked by what it may be, and what
is wrong told in words. Pure.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from metier.model import JsonObject

REQUIRED = object()
"""Stands for the default of a field that may not be left out."""


def load_strict(data: bytes, twice: str = "a key is written twice") -> Any:
    """Read a document; what is wrong with it is a `ValueError`, a key that stands twice in these
    words.
    """
    return json.loads(data.decode("utf-8"), object_pairs_hook=partial(_once, twice))


def _once(twice: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(twice)
    return found


class RecordError(ValueError):
    """Something that is not as metier writes it."""


class Field(NamedTuple):
    """What one field of a record may be, and what stands for it where it is left out."""

    kind: type
    fine: Callable[[Any], object] | None = None
    """Whether a value of that kind will do; any will where there is no rule."""
    default: Any = REQUIRED


def read_fields(found: Mapping[str, Any], fields: Mapping[str, Field]) -> JsonObject:
    """Give the fields of a record, those left out as well; refuse one that is not as it is
    written.
    """
    values = {}
    for key, (kind, fine, default) in fields.items():
        value = values[key] = found.get(key, default)
        if value is REQUIRED:
            raise RecordError(f"it has no '{key}'")
        if not isinstance(value, kind) or (fine is not None and not fine(value)):
            raise RecordError(f"its '{key}' is not as it is written")
    return values


def read_versioned(data: bytes, keys: Mapping[int, Sequence[str]]) -> JsonObject:
    """Read the JSON of a whole file that says its version: `keys` has what each version is made of,
    the newest last.
    """
    document = json.loads(data.decode("utf-8"), object_pairs_hook=once, parse_constant=_no_number)
    if not isinstance(document, dict) or type(document.get("version")) is not int:
        raise RecordError("it does not say its version")
    *_older, newest = keys
    if document["version"] > newest:
        raise RecordError("a newer metier wrote it; upgrade this one")
    expected = keys.get(document["version"], ())
    if set(document) != set(expected):
        raise RecordError(f"it is not made of {', '.join(expected or keys[newest])}")
    return document


def once(pairs: list[tuple[str, Any]]) -> JsonObject:
    """Make an object of its pairs, as `json` asks for it; refuse a key that is there twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise RecordError("a key is there twice in one object")
    return found


def _no_number(text: str) -> NoReturn:
    raise RecordError(f"{text} is no number")


def encodes(text: str, errors: str = "strict") -> bool:
    """Tell whether a text can be encoded."""
    try:
        text.encode("utf-8", errors)
    except UnicodeEncodeError:
        return False
    return True
