"""YAML for records: plain mappings, lists and texts, read event by event and written back as they were. Pure.

No aliases, no tags, no deep nesting, and no guessing at types: an unquoted scalar stays exactly the text it is, so that
writing gives it back. (The reader that builds objects in C brings the whole process down on deep nesting.)
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import yaml

from metier.supply.records.foreign import MOST_BYTES, broken

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_DEPTH = 32
MOST_KEY = 500
"""A plain key has at most 1,024 characters, and an escaped one needs more of them than it is long."""
MOST_EVENTS = 1_000_000
_SAFE = re.compile(r"[A-Za-z./][A-Za-z0-9_./@+-]*")
_UNSAID = re.compile(r"[^ -~]")
_TYPED = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Plain(str):
    """A scalar that was written without quotes: a number, a truth, a time or a text."""

    __slots__ = ()


def read(data: bytes, what: str) -> Any:
    """Read one document."""
    if len(data) > MOST_BYTES // 4:
        raise broken(what, f"it is longer than {MOST_BYTES // 4:,} bytes")
    try:
        text = data.decode("utf-8-sig")
        return _built(yaml.parse(text, Loader=_LOADER), what)
    except UnicodeDecodeError:
        raise broken(what, "it is not UTF-8") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        raise broken(what, f"{where}{getattr(error, 'problem', None) or 'it is not YAML'}") from None


def _built(events: Iterator[Any], what: str) -> Any:
    top: list[Any] = []
    open_: list[list[Any]] = [top]
    kinds: list[str] = ["top"]
    for count, event in enumerate(events):
        if count > MOST_EVENTS or len(open_) > MOST_DEPTH:
            raise broken(what, "it is too long or nested too deeply")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise broken(what, f"line {event.start_mark.line + 1}: it has an anchor or an alias")
        tag = getattr(event, "tag", None)
        if tag and tag != "!":
            raise broken(what, f"line {event.start_mark.line + 1}: it has a tag")
        if isinstance(event, yaml.ScalarEvent):
            open_[-1].append(Plain(event.value) if event.implicit[0] and not event.style else event.value)
        elif isinstance(event, yaml.CollectionStartEvent):
            open_.append([])
            kinds.append("map" if isinstance(event, yaml.MappingStartEvent) else "list")
        elif isinstance(event, yaml.CollectionEndEvent):
            items, kind = open_.pop(), kinds.pop()
            open_[-1].append(items if kind == "list" else _mapping(items, what))
    if len(top) != 1:
        raise broken(what, "it is not one document")
    return top[0]


def _mapping(items: list[Any], what: str) -> dict[str, Any]:
    keys = items[::2]
    if not all(isinstance(key, str) for key in keys) or len(set(keys)) < len(keys):
        raise broken(what, "a key is there twice, or is no text")
    return dict(zip(keys, items[1::2], strict=True))


def write(value: dict[str, Any]) -> bytes:
    """Write a mapping as YAML, as that tool lays it out."""
    return ("".join(f"{line}\n" for line in _lines(value, "")) or "{}\n").encode("ascii")


def _lines(value: dict[str, Any], indent: str) -> Iterator[str]:
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
    if isinstance(value, Plain) and value.isascii() and value.isprintable():
        return str(value)
    plain = _SAFE.fullmatch(value) and value.lower() not in _TYPED and not re.fullmatch(r"[.\d_]*", value)
    return value if plain else _quoted(value)


def _quoted(value: str) -> str:
    """Quote a text as YAML does, which has no pairs of surrogates and cannot say half of one."""
    text = json.dumps(value.encode("utf-8", "replace").decode(), ensure_ascii=False)
    return _UNSAID.sub(lambda found: f"\\U{ord(found[0]):08x}", text)
