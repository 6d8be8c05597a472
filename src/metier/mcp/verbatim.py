"""A skill's frontmatter as the JSON that any reader of YAML would make of it. Pure.

Everywhere else metier keeps scalars as they are written. Who verifies a skill that came over MCP compares the frontmatter field by
field with what a reader of YAML gives, so here a number is a number (YAML 1.2, the core schema). What two readers would read
differently, a repeated key, an alias, a tag, something that had to be repaired, cannot be told verbatim and is not told at all.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from metier.standard import events
from metier.standard.frontmatter import split

if TYPE_CHECKING:
    from collections.abc import Iterator

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE, _FALSE = frozenset({"true", "True", "TRUE"}), frozenset({"false", "False", "FALSE"})
_WHOLE = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_REAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NO_JSON = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_OPENED: dict[str, Any] = {"MappingStartEvent": dict, "SequenceStartEvent": list}
_DIGITS = 300
"""A number with more is a text to anybody."""


def frontmatter_of(data: bytes) -> dict[str, Any] | None:
    """Give the frontmatter of a skill's own file; none when it cannot be told verbatim, or lacks a name or a description."""
    part = split(data, complete=True)
    if part.outcome != "found":
        return None
    try:
        text = data[part.start : part.end].decode()
    except UnicodeDecodeError:
        return None
    loaded = events.load(text)  # bounded: after it, nothing below is too deep or too much
    if loaded.error is not None or loaded.faults or not isinstance(loaded.value, dict):
        return None
    try:
        found = _built(text)
    except ValueError:  # a number that no JSON can say, or a key that means two things
        return None
    named = isinstance(found, dict) and all(isinstance(found.get(key), str) and found[key] for key in ("name", "description"))
    return found if named else None


def _built(text: str) -> Any:
    """Put the values together from the outside in, with a stack of our own."""
    import yaml

    root: list[Any] = []
    stack: list[Any] = [root]
    keys: list[str | None] = [None]
    for event in _events(text, yaml):
        if isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            stack.pop()
            keys.pop()
            continue
        opened: Any = _OPENED.get(type(event).__name__, lambda: None)()
        holds = stack[-1]
        if opened is None and isinstance(holds, dict) and keys[-1] is None:
            if event.value == "<<" and not event.style:
                raise ValueError(event.value)  # to some readers a key, to others the order to merge
            keys[-1] = event.value
            continue
        value = opened if opened is not None else _typed(event.value) if not event.style else event.value
        if isinstance(holds, dict):
            holds[keys[-1]], keys[-1] = value, None
        else:
            holds.append(value)
        if opened is not None:
            stack.append(opened)
            keys.append(None)
    return root[0] if root else None


def _events(text: str, yaml: Any) -> Iterator[Any]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    wanted = (yaml.ScalarEvent, yaml.MappingStartEvent, yaml.SequenceStartEvent, yaml.MappingEndEvent, yaml.SequenceEndEvent)
    try:
        while (event := loader.get_event()) is not None and not isinstance(event, yaml.StreamEndEvent):
            if isinstance(event, wanted):
                yield event
    finally:
        loader.dispose()


def _typed(text: str) -> Any:
    """Give the value of a scalar that has no quotes."""
    if text in _NULLS:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if len(text) <= _DIGITS and _WHOLE.fullmatch(text):
        return int(text, 8 if text.startswith("0o") else 16 if text.startswith("0x") else 10)
    if len(text) <= _DIGITS and _REAL.fullmatch(text):
        value = float(text)
        if value in {float("inf"), float("-inf")}:
            raise ValueError(text)
        return value
    if _NO_JSON.fullmatch(text):
        raise ValueError(text)
    return text
