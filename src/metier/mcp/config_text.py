"""Adds metier's entry to the text of a client's configuration file, in JSON with comments, TOML or
YAML. Pure.

Texts are changed where the entry belongs and nowhere else, so comments and order stay. Whatever
came out is read again: unless it says exactly what the old text said plus the entry, nothing is
given at all.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.mcp.clients import Form
    from metier.model import JsonObject


MAX_JSON_DEPTH = 100
_JSON_TOKEN = re.compile(
    r"(?P<blank>[ \t\r\n]+)|(?P<comment>//[^\r\n]*|/\*.*?\*/)"
    r'|(?P<text>"(?:[^"\\\x00-\x1f]|\\.)*")|(?P<word>-?[0-9][0-9.eE+-]*|true|false|null)|(?P<mark>[{}\[\]:,])',
    re.DOTALL,
)


class JsonNode(NamedTuple):
    """A value and where it stands; an object has its members, with the place of each key."""

    value: Any
    start: int
    end: int
    members: tuple[tuple[str, int, JsonNode], ...] | None = None

    def member(self, key: str) -> JsonNode | None:
        """Give the value of a key."""
        found = [node for name, _at, node in self.members or () if name == key]
        return _only(found, key)  # type: ignore[no-any-return]


class _JsonReader:
    """Reads tokens one after the other; comments and blanks are passed over, and comments
    remembered.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.start = 0
        self.kind = ""
        self.word = ""
        self.comments: list[int] = []
        self.step()

    def step(self) -> None:
        while True:
            found = _JSON_TOKEN.match(self.text, self.at)
            if found is None:
                if self.at < len(self.text):
                    raise self.fault("this is not JSON", self.at)
                self.start = self.at
                self.kind = "end"
                self.word = ""
                return
            self.start, self.at = found.span()
            self.kind = str(found.lastgroup)
            self.word = found.group()
            if self.kind == "comment":
                self.comments.append(self.start)
            elif self.kind != "blank":
                return

    def take(self, mark: str) -> bool:
        if self.kind == "mark" and self.word == mark:
            self.step()
            return True
        return False

    def need(self, mark: str) -> None:
        if not self.take(mark):
            raise self.fault(f"there should be '{mark}'", self.start)

    def fault(self, what: str, at: int) -> ValueError:
        return ValueError(f"line {self.text.count(chr(10), 0, at) + 1}: {what}")


def parse_jsonc(text: str) -> tuple[JsonNode, tuple[int, ...]]:
    """Give the value of a text, and where its comments begin. What is no JSON raises `ValueError`
    with the line.
    """
    reader = _JsonReader(text)
    node = _value(reader, 0)
    if reader.kind != "end":
        raise reader.fault("there is more than one value", reader.start)
    return node, tuple(reader.comments)


def _value(reader: _JsonReader, depth: int) -> JsonNode:
    if depth > MAX_JSON_DEPTH:
        raise ValueError("it is nested too deeply")
    start = reader.start
    word = reader.word
    if reader.take("{"):
        return _object(reader, depth, start)
    if reader.take("["):
        found: list[Any] = []
        while not (reader.kind == "mark" and reader.word == "]"):
            found.append(_value(reader, depth + 1).value)
            if not reader.take(","):
                break
        end = reader.at
        reader.need("]")
        return JsonNode(found, start, end)
    if reader.kind not in {"text", "word"}:
        raise reader.fault("a value is missing", start)
    end = reader.at
    reader.step()
    return JsonNode(json.loads(word), start, end)


def _object(reader: _JsonReader, depth: int, start: int) -> JsonNode:
    members: list[tuple[str, int, JsonNode]] = []
    while reader.kind == "text":
        key = str(json.loads(reader.word))
        at = reader.start
        reader.step()
        reader.need(":")
        members.append((key, at, _value(reader, depth + 1)))
        if not reader.take(","):
            break
    end = reader.at
    reader.need("}")
    return JsonNode({key: node.value for key, _at, node in members}, start, end, tuple(members))


# --- changing


def put_jsonc(text: str, path: Sequence[str], value: Any) -> str:
    """Give a text in which a value stands at a path of keys; everything else of it, comments too,
    is as it was.
    """
    bom, text = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    if _JsonReader(text).kind == "end":  # nothing, or comments alone
        above = f"{text.rstrip()}\n" if text.strip() else ""
        return f"{bom}{above}{json.dumps(_nested(path, value), indent=2, ensure_ascii=False)}\n"
    node, comments = parse_jsonc(text)
    for at, key in enumerate(path):
        if node.members is None:
            raise ValueError("there is something else than an object where the servers belong")
        inner = node.member(key)
        if inner is None:
            return bom + _insert_member(text, node, key, _nested(path[at + 1 :], value))
        node = inner
    if node.value == value:
        return bom + text
    if any(node.start < place < node.end for place in comments):
        raise ValueError("the entry has comments, which would be lost")
    style = _JsonStyle(text)
    written = style.rendered(value, style.indent_at(node.start))
    return f"{bom}{text[: node.start]}{written}{text[node.end :]}"


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


class _JsonStyle:
    """How a text is laid out: its line ends and its indentation."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.line = "\r\n" if "\r\n" in text else "\n"
        found = re.search(r"\n([ \t]+)\S", text)
        blanks = found[1] if found else "  "
        self.unit = "\t" if blanks[0] == "\t" else " " * min(len(blanks), 8)

    def indent_at(self, place: int) -> str:
        """Give the blanks at the beginning of the line of a place."""
        line = self.text[self.text.rfind("\n", 0, place) + 1 : place]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def rendered(self, value: Any, indent: str) -> str:
        text = json.dumps(value, indent=self.unit, ensure_ascii=False)
        return text.replace("\n", f"{self.line}{indent}")


def _insert_member(text: str, node: JsonNode, key: str, value: Any) -> str:
    """Put a member at the end of an object, after whatever comment belongs to the one before it."""
    style = _JsonStyle(text)
    members = node.members or ()
    last = members[-1][2].end if members else node.start + 1
    tail = text[last : node.end - 1]
    if (
        members
        and "\n" not in text[node.start : members[-1][1]]
        and "\n" not in tail
        and not _has_comma(tail)
    ):
        # all on one line, as it is
        written = f", {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        return text[:last] + written + text[last:]
    base = style.indent_at(node.start)
    indent = (
        style.indent_at(members[0][1])
        if members and "\n" in text[node.start : members[0][1]]
        else base + style.unit
    )
    comma = bool(members) and not _has_comma(tail)
    kept = tail.rstrip()
    end = tail[len(kept) :] if "\n" in tail[len(kept) :] else f"{style.line}{base}"
    member = (
        f"{style.line}{indent}{json.dumps(key, ensure_ascii=False)}: "
        f"{style.rendered(value, indent)}"
    )
    trailing = "," if members and not comma else ""
    return f"{text[:last]}{',' if comma else ''}{kept}{member}{trailing}{end}{text[node.end - 1 :]}"


def _has_comma(tail: str) -> bool:
    return any(found.group() == "," for found in _JSON_TOKEN.finditer(tail))


MAX_CONFIG_BYTES: dict[Form, int] = {"json": 16 << 20, "toml": 1 << 20, "yaml": 1 << 20}
_MAX_YAML_DEPTH = 64
_MAX_KEY_PARTS = 64
"""Reading a key of TOML takes time with the square of its parts."""


def merge_entry(
    form: Form, text: str, path: Sequence[str], change: Callable[[Any], JsonObject]
) -> str:
    """Give the text with an entry at a path of keys; `change` makes it from what is there.
    `ValueError` says why it cannot be.
    """
    try:
        before = read_config(form, text)
        value = change(_at(before, path))
        expected = _with(before, path, value)
        if expected == before:
            return text
        after = _WRITERS[form](text, path, value)
        same = read_config(form, after) == expected
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not same:
        raise ValueError("metier can't edit the way it is written")
    return after


def render_snippet(form: Form, path: Sequence[str], value: Any) -> str:
    """Give what a person would paste into an empty file."""
    return _WRITERS[form]("", path, value)


def read_config(form: Form, text: str) -> JsonObject:
    """Give what a text says; an empty one says nothing."""
    if len(text) > MAX_CONFIG_BYTES[form]:
        raise ValueError(f"it has more than {MAX_CONFIG_BYTES[form]:,} characters")
    text = text.removeprefix("\ufeff")
    found = {"json": _read_json, "toml": _read_toml, "yaml": _read_yaml}[form](text)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise ValueError("it is a list or a single value, where a table was expected")  # noqa: TRY004 - about a text
    return found


def _read_json(text: str) -> Any:
    return None if _JsonReader(text).kind == "end" else parse_jsonc(text)[0].value


def _read_toml(text: str) -> Any:
    if any(line.partition("=")[0].count(".") > _MAX_KEY_PARTS for line in text.splitlines()):
        raise ValueError("a key is nested too deeply")
    return tomllib.loads(text)


def _read_yaml(text: str) -> Any:
    import yaml

    try:
        depth = 0
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(
                event, yaml.CollectionEndEvent
            )
            if depth > _MAX_YAML_DEPTH:
                raise ValueError("it is nested too deeply")
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise ValueError("it has anchors, which metier does not follow")
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise ValueError(
            f"line {mark.line + 1}: this is not YAML" if mark else "this is not YAML"
        ) from None


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
        rows = "".join(
            f"{tomlkit.key(name).as_string()} = {_inline(one)}\n" for name, one in value.items()
        )
        gap = "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"
        after = f"{text}{gap}[{head}]\n{rows}"
        try:
            tomllib.loads(after.removeprefix("\ufeff"))
        except tomllib.TOMLDecodeError:
            pass  # its table of servers is an inline one, which only grows inside
        else:
            return after
    return _grow_table(text, path, value, tomlkit)


def _grow_table(text: str, path: Sequence[str], value: JsonObject, tomlkit: Any) -> str:
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
        raise ValueError(
            f"metier can't edit the way it is written ({type(error).__name__})"
        ) from None


def _inline(value: Any) -> str:
    """Write a value on one line; a text of JSON is one of TOML, but for what lies beyond the
    sixteen bits of its escapes.
    """
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{json.dumps(key)} = {_inline(one)}' for key, one in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(_inline(one) for one in value)}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


# --- YAML


def _yaml(text: str, path: Sequence[str], value: Any) -> str:
    """Put an entry below a key of the top: at the end of its block, or in a new block at the end of
    the text.
    """
    import yaml

    section, name = path
    top: Any = (
        yaml.compose(text.removeprefix("\ufeff"), Loader=yaml.SafeLoader) if text.strip() else None
    )
    inner = _member(top, section)
    if inner is None:
        if top is not None and top.flow_style:
            raise ValueError("metier can't edit the way it is written")
        gap = "" if not text.strip() or text.endswith("\n") else "\n"
        return f"{text}{gap}{section}:\n{_block(name, value, '  ')}"
    at = len(text) - len(text.removeprefix("\ufeff"))
    entry = _member(inner, name)
    if entry is not None:
        return _replace_entry(text, entry, value, at)
    if isinstance(inner, yaml.MappingNode) and inner.value and not inner.flow_style:
        place = _line_after(text, _last(inner.value[-1][1]).end_mark, at)
        gap = "" if not place or text[place - 1] == "\n" else "\n"
        return f"{text[:place]}{gap}{_block(name, value, ' ' * inner.value[0][0].start_mark.column)}{text[place:]}"
    if inner.value:  # all on one line, in which JSON is at home
        place = inner.end_mark.index - 1 + at
        return (
            f"{text[:place].rstrip().removesuffix(',')}, {json.dumps(name)}: "
            f"{json.dumps(value)}{text[place:]}"
        )
    start = inner.start_mark.index + at
    end = inner.end_mark.index + at
    return f"{text[:start].rstrip(' ')}\n{_block(name, value, '  ').rstrip()}{text[end:]}"


def _replace_entry(text: str, entry: Any, value: Any, at: int) -> str:
    start = entry.start_mark.index + at
    end = _last(entry).end_mark.index + at
    if "#" in text[start:end]:
        raise ValueError("the entry has comments, which would be lost")
    if entry.flow_style or not entry.value:
        return f"{text[:start]}{json.dumps(value)}{text[end:]}"
    column = entry.start_mark.column
    rows = _dumped(value).replace("\n", f"\n{' ' * column}").rstrip(" ").rstrip("\n")
    return f"{text[:start]}{rows}{text[end:]}"


def _member(node: Any, key: str) -> Any:
    members = node.value if isinstance(getattr(node, "value", None), list) else []
    return _only([value for name, value in members if name.value == key], key)


def _only(found: list[Any], key: str) -> Any:
    """Give the one value of a key; two of one key are an error, for nobody knows which is meant."""
    if len(found) > 1:
        raise ValueError(f"there are two '{key}'")
    return found[0] if found else None


def _last(node: Any) -> Any:
    """Give what stands last in a value: the end of a block is said to be where the next one
    begins.
    """
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


_WRITERS = {"json": put_jsonc, "toml": _toml, "yaml": _yaml}
