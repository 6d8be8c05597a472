"""An entry put into a client's file: JSON, TOML or YAML as it stands, with one value in it that is new. Pure.

Texts are changed where the entry belongs and nowhere else, so comments and order stay. Whatever came out is read again: unless
it says exactly what the old text said plus the entry, nothing is given at all.
"""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

from metier.mcp import jsonc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.mcp.clients import Form

MOST_BYTES: dict[Form, int] = {"json": 16 << 20, "toml": 1 << 20, "yaml": 1 << 20}
_DEPTH = 64
_KEY_PARTS = 64
"""Reading a key of TOML takes time with the square of its parts."""


def merged(form: Form, text: str, path: Sequence[str], change: Callable[[Any], dict[str, Any]]) -> str:
    """Give the text with an entry at a path of keys; `change` makes it from what is there. `ValueError` says why it cannot be."""
    try:
        before = read(form, text)
        value = change(_at(before, path))
        expected = _with(before, path, value)
        if expected == before:
            return text
        after = {"json": jsonc.put, "toml": _toml, "yaml": _yaml}[form](text, path, value)
        same = read(form, after) == expected
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not same:
        raise ValueError("it is written in a way that metier does not change by itself")
    return after


def snippet(form: Form, path: Sequence[str], value: Any) -> str:
    """Give what a person would paste into an empty file."""
    return {"json": jsonc.put, "toml": _toml, "yaml": _yaml}[form]("", path, value)


def read(form: Form, text: str) -> dict[str, Any]:
    """Give what a text says; an empty one says nothing."""
    if len(text) > MOST_BYTES[form]:
        raise ValueError(f"it has more than {MOST_BYTES[form]:,} characters")
    text = text.removeprefix("\ufeff")
    found = {"json": _read_json, "toml": _read_toml, "yaml": _read_yaml}[form](text)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise ValueError("it is a list or a single value, where a table was expected")  # noqa: TRY004 - about a text
    return found


def _read_json(text: str) -> Any:
    return jsonc.parse(text)[0].value if jsonc.says_something(text) else None


def _read_toml(text: str) -> Any:
    if any(line.partition("=")[0].count(".") > _KEY_PARTS for line in text.splitlines()):
        raise ValueError("a key is nested too deeply")
    return tomllib.loads(text)


def _read_yaml(text: str) -> Any:
    import yaml

    try:
        depth = 0
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEPTH:
                raise ValueError("it is nested too deeply")
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise ValueError("it has anchors, which metier does not follow")
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise ValueError(f"line {mark.line + 1}: this is not YAML" if mark else "this is not YAML") from None


def _at(values: Any, path: Sequence[str]) -> Any:
    for key in path:
        values = values.get(key) if isinstance(values, dict) else None
    return values


def _with(values: Any, path: Sequence[str], value: Any) -> Any:
    if not path:
        return value
    if values is not None and not isinstance(values, dict):
        raise ValueError("there is something else than a table where the servers belong")
    found = values or {}
    return {**found, path[0]: _with(found.get(path[0]) if len(path) > 1 else None, path[1:], value)}


# --- TOML


def _toml(text: str, path: Sequence[str], value: Any) -> str:
    import tomlkit

    head = ".".join(tomlkit.key(part).as_string() for part in path)
    if not text or _at(tomllib.loads(text.removeprefix("\ufeff")), path) is None:
        rows = "".join(f"{tomlkit.key(name).as_string()} = {_inline(one)}\n" for name, one in value.items())
        gap = "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"
        after = f"{text}{gap}[{head}]\n{rows}"
        try:
            tomllib.loads(after.removeprefix("\ufeff"))
        except tomllib.TOMLDecodeError:
            pass  # its table of servers is an inline one, which only grows inside
        else:
            return after
    return _grown(text, path, value, tomlkit)


def _grown(text: str, path: Sequence[str], value: dict[str, Any], tomlkit: Any) -> str:
    """Change a table where it stands, key by key: the comments beside them stay."""
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text.removeprefix("\ufeff"))
        table: Any = document
        for key in path:
            if key not in table:
                table[key] = tomlkit.inline_table()
            table = table[key]
        for name in [name for name in table if name not in value]:
            del table[name]
        for name, one in value.items():
            if table.get(name) != one:
                table[name] = tomlkit.item(one)
        return str(tomlkit.dumps(document))
    except (TOMLKitError, TypeError, AttributeError, KeyError) as error:
        raise ValueError(f"it is written in a way that metier does not change by itself ({type(error).__name__})") from None


def _inline(value: Any) -> str:
    """Write a value on one line; a text of JSON is one of TOML, but for what lies beyond the sixteen bits of its escapes."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{json.dumps(key)} = {_inline(one)}' for key, one in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(_inline(one) for one in value)}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


# --- YAML


def _yaml(text: str, path: Sequence[str], value: Any) -> str:
    """Put an entry below a key of the top: at the end of its block, or in a new block at the end of the text."""
    import yaml

    section, name = path
    top: Any = yaml.compose(text.removeprefix("\ufeff"), Loader=yaml.SafeLoader) if text.strip() else None
    inner = _member(top, section)
    if inner is None:
        if top is not None and top.flow_style:
            raise ValueError("it is written in a way that metier does not change by itself")
        gap = "" if not text.strip() or text.endswith("\n") else "\n"
        return f"{text}{gap}{section}:\n{_block(name, value, '  ')}"
    at = len(text) - len(text.removeprefix("\ufeff"))
    entry = _member(inner, name)
    if entry is not None:
        return _replaced(text, entry, value, at)
    if isinstance(inner, yaml.MappingNode) and inner.value and not inner.flow_style:
        place = _line_after(text, _last(inner.value[-1][1]).end_mark, at)
        gap = "" if not place or text[place - 1] == "\n" else "\n"
        return f"{text[:place]}{gap}{_block(name, value, ' ' * inner.value[0][0].start_mark.column)}{text[place:]}"
    if inner.value:  # all on one line, in which JSON is at home
        place = inner.end_mark.index - 1 + at
        return f"{text[:place].rstrip().removesuffix(',')}, {json.dumps(name)}: {json.dumps(value)}{text[place:]}"
    start, end = inner.start_mark.index + at, inner.end_mark.index + at
    return f"{text[:start].rstrip(' ')}\n{_block(name, value, '  ').rstrip()}{text[end:]}"


def _replaced(text: str, entry: Any, value: Any, at: int) -> str:
    start, end = entry.start_mark.index + at, _last(entry).end_mark.index + at
    if "#" in text[start:end]:
        raise ValueError("the entry has comments, which would be lost")
    if entry.flow_style or not entry.value:
        return f"{text[:start]}{json.dumps(value)}{text[end:]}"
    column = entry.start_mark.column
    rows = _dumped(value).replace("\n", f"\n{' ' * column}").rstrip(" ").rstrip("\n")
    return f"{text[:start]}{rows}{text[end:]}"


def _member(node: Any, key: str) -> Any:
    found = [value for name, value in node.value if name.value == key] if isinstance(getattr(node, "value", None), list) else []
    if len(found) > 1:
        raise ValueError(f"there are two '{key}'")
    return found[0] if found else None


def _last(node: Any) -> Any:
    """Give what stands last in a value: the end of a block is said to be where the next one begins."""
    while isinstance(node.value, list) and node.value and not node.flow_style:
        found = node.value[-1]
        node = found[1] if isinstance(found, tuple) else found
    return node


def _line_after(text: str, mark: Any, at: int) -> int:
    if mark.column == 0:
        return int(mark.index) + at
    found = text.find("\n", mark.index + at)
    return found + 1 if found >= 0 else len(text)


def _block(name: str, value: Any, indent: str) -> str:
    return "".join(f"{indent}{line}\n" for line in _dumped({name: value}).splitlines())


def _dumped(value: Any) -> str:
    import yaml

    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=1 << 20))
