"""JSON as people edit it, with comments and trailing commas: read with places, and changed without touching anything else. Pure."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

DEPTH = 100
_TOKEN = re.compile(
    r"(?P<blank>[ \t\r\n]+)|(?P<comment>//[^\r\n]*|/\*.*?\*/)"
    r'|(?P<text>"(?:[^"\\\x00-\x1f]|\\.)*")|(?P<word>-?[0-9][0-9.eE+-]*|true|false|null)|(?P<mark>[{}\[\]:,])',
    re.DOTALL,
)


class Node(NamedTuple):
    """A value and where it stands; an object has its members, with the place of each key."""

    value: Any
    start: int
    end: int
    members: tuple[tuple[str, int, Node], ...] | None = None

    def member(self, key: str) -> Node | None:
        """Give the value of a key; two of one key are an error, for nobody knows which is meant."""
        found = [node for name, _at, node in self.members or () if name == key]
        if len(found) > 1:
            raise ValueError(f"there are two '{key}'")
        return found[0] if found else None


class _Reader:
    """Reads tokens one after the other; comments and blanks are passed over, and comments remembered."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.start, self.kind, self.word = 0, "", ""
        self.comments: list[int] = []
        self.step()

    def step(self) -> None:
        while True:
            found = _TOKEN.match(self.text, self.at)
            if found is None:
                if self.at < len(self.text):
                    raise ValueError(f"line {self.text.count(chr(10), 0, self.at) + 1}: this is not JSON")
                self.start, self.kind, self.word = self.at, "end", ""
                return
            self.start, self.at, self.kind, self.word = found.start(), found.end(), str(found.lastgroup), found.group()
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
            raise ValueError(f"line {self.text.count(chr(10), 0, self.start) + 1}: there should be '{mark}'")


def parse(text: str) -> tuple[Node, tuple[int, ...]]:
    """Give the value of a text, and where its comments begin. What is no JSON raises `ValueError` with the line."""
    reader = _Reader(text)
    node = _value(reader, 0)
    if reader.kind != "end":
        raise ValueError(f"line {text.count(chr(10), 0, reader.start) + 1}: there is more than one value")
    return node, tuple(reader.comments)


def _value(reader: _Reader, depth: int) -> Node:
    if depth > DEPTH:
        raise ValueError("it is nested too deeply")
    start, word = reader.start, reader.word
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
        return Node(found, start, end)
    if reader.kind not in {"text", "word"}:
        raise ValueError(f"line {reader.text.count(chr(10), 0, start) + 1}: a value is missing")
    end = reader.at
    reader.step()
    return Node(json.loads(word), start, end)


def _object(reader: _Reader, depth: int, start: int) -> Node:
    members: list[tuple[str, int, Node]] = []
    while reader.kind == "text":
        key, at = str(json.loads(reader.word)), reader.start
        reader.step()
        reader.need(":")
        members.append((key, at, _value(reader, depth + 1)))
        if not reader.take(","):
            break
    end = reader.at
    reader.need("}")
    return Node({key: node.value for key, _at, node in members}, start, end, tuple(members))


# --- changing


def put(text: str, path: Sequence[str], value: Any) -> str:
    """Give a text in which a value stands at a path of keys; everything else of it, comments too, is as it was."""
    bom, text = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    if _Reader(text).kind == "end":  # nothing, or comments alone
        above = f"{text.rstrip()}\n" if text.strip() else ""
        return f"{bom}{above}{json.dumps(_nested(path, value), indent=2, ensure_ascii=False)}\n"
    node, comments = parse(text)
    for at, key in enumerate(path):
        if node.members is None:
            raise ValueError("there is something else than an object where the servers belong")
        inner = node.member(key)
        if inner is None:
            return bom + _inserted(text, node, key, _nested(path[at + 1 :], value))
        node = inner
    if node.value == value:
        return bom + text
    if any(node.start < place < node.end for place in comments):
        raise ValueError("the entry has comments, which would be lost")
    style = _Style(text)
    return bom + text[: node.start] + style.rendered(value, style.indent_at(node.start)) + text[node.end :]


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


class _Style:
    """How a text is laid out: its line ends and its indentation."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.line = "\r\n" if "\r\n" in text else "\n"
        found = re.search(r"\n([ \t]+)\S", text)
        self.unit = ("\t" if found.group(1)[0] == "\t" else " " * min(len(found.group(1)), 8)) if found else "  "

    def indent_at(self, place: int) -> str:
        """Give the blanks at the beginning of the line of a place."""
        line = self.text[self.text.rfind("\n", 0, place) + 1 : place]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def rendered(self, value: Any, indent: str) -> str:
        text = json.dumps(value, indent=self.unit, ensure_ascii=False)
        return text.replace("\n", f"{self.line}{indent}")


def _inserted(text: str, node: Node, key: str, value: Any) -> str:
    """Put a member at the end of an object, after whatever comment belongs to the one before it."""
    style, members = _Style(text), node.members or ()
    last = members[-1][2].end if members else node.start + 1
    tail = text[last : node.end - 1]
    if members and "\n" not in text[node.start : members[-1][1]] and "\n" not in tail and not _has_comma(tail):
        written = f", {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"  # all on one line, as it is
        return text[:last] + written + text[last:]
    base = style.indent_at(node.start)
    indent = style.indent_at(members[0][1]) if members and "\n" in text[node.start : members[0][1]] else base + style.unit
    comma = bool(members) and not _has_comma(tail)
    kept = tail.rstrip()
    end = tail[len(kept) :] if "\n" in tail[len(kept) :] else f"{style.line}{base}"
    member = f"{style.line}{indent}{json.dumps(key, ensure_ascii=False)}: {style.rendered(value, indent)}"
    trailing = "," if members and not comma else ""
    return f"{text[:last]}{',' if comma else ''}{kept}{member}{trailing}{end}{text[node.end - 1 :]}"


def _has_comma(tail: str) -> bool:
    return any(found.group() == "," for found in _TOKEN.finditer(tail))


def says_something(text: str) -> bool:
    """Tell whether a text has anything but blanks and comments."""
    return _Reader(text).kind != "end"
