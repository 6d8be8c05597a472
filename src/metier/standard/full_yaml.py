"""The one safe way from YAML text to values: PyYAML's events, a stack of our own, and named limits.

Composing and constructing are never used: they recurse (200,000 nested brackets end the process),
expand aliases, take the last of two equal keys and turn `on: yes` into `True: True`. Here scalars
stay text, and oddities are faults.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from metier.standard.plain_yaml import NULLS, Fault, Spans, YamlValues

if TYPE_CHECKING:
    from collections.abc import Callable

    from yaml.events import AliasEvent, Event, MappingStartEvent, ScalarEvent, SequenceStartEvent

    from metier.model import JsonObject

MAX_CHARACTERS = 256 * 1024
MAX_DEPTH = 32
MAX_NODES = 20_000
MAX_FAULTS = 100
MAX_TAG_DIRECTIVES = 64
"""The parser compares each with all before it, so thousands cost seconds."""
SPAN_LEVELS = 3

_SHOWN = 80
# What YAML 1.1 or 1.2 reads as something other than a string. `y` and `n` are left out: no common
# reader resolves them.
_NOT_TEXT = re.compile(
    r"|~|null|Null|NULL|true|True|TRUE|false|False|FALSE|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF"
    r"|[-+]?(?:0b[01_]+|0o[0-7_]+|0x[0-9a-fA-F_]+|\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?|\.(?:inf|Inf|INF))"
    r"|[-+]?[0-9][0-9_]*(?:(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?|(?::[0-5]?[0-9])+(?:\.[0-9_]*)?)"
    r"|\.(?:nan|NaN|NAN)|[0-9]{4}-[0-9]{2}-[0-9]{2}"
)
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def load(text: str, *, first_line: int = 1) -> YamlValues:
    """Read one YAML document; lines count from `first_line`. Never raises, and never does unbounded
    work.
    """
    import yaml  # 10 ms that a library of plain frontmatter never pays

    if len(text) > MAX_CHARACTERS:
        return YamlValues({}, {}, (), (f"longer than {MAX_CHARACTERS // 1024} KiB", first_line, 1))
    if text.count("%TAG") > MAX_TAG_DIRECTIVES:
        return YamlValues({}, {}, (), ("too many %TAG directives", first_line, 1))
    builder = _Builder(text, first_line)
    try:
        error = _drive(text, builder, yaml)
    except (yaml.reader.ReaderError, UnicodeError):
        error = _forbidden(text, first_line)
    except yaml.MarkedYAMLError as problem:
        error = _explain(problem, first_line)
    except (yaml.YAMLError, ValueError, LookupError, ArithmeticError, RecursionError, MemoryError):
        error = ("not valid YAML", first_line, 1)
    if error is not None:
        return YamlValues({}, {}, tuple(builder.faults), error)
    return YamlValues(builder.root, builder.spans, tuple(builder.faults), None)


def _drive(text: str, builder: _Builder, yaml: Any) -> tuple[str, int, int] | None:
    """Feed the builder event by event, and stop as soon as it has had enough."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    moves: dict[type[Event], Callable[[Any], None]] = {
        yaml.ScalarEvent: builder.scalar,
        yaml.MappingStartEvent: builder.mapping,
        yaml.SequenceStartEvent: builder.sequence,
        yaml.MappingEndEvent: builder.close,
        yaml.SequenceEndEvent: builder.close,
        yaml.AliasEvent: builder.alias,
    }
    documents = 0
    try:
        while not builder.stopped:
            event = loader.get_event()
            kind = type(event)
            if move := moves.get(kind):
                move(event)
            elif kind is yaml.DocumentStartEvent:
                documents += 1
                if documents > 1:
                    return ("more than one document", *builder.place_of(event.start_mark))
            elif event is None or kind is yaml.StreamEndEvent:
                break
    finally:
        loader.dispose()
    return None


class _Frame:
    """A collection being filled: the key that waits for its value and, if it is itself a key, where
    it began.
    """

    __slots__ = ("begun", "holds", "key", "level", "path", "repeated")

    def __init__(
        self, holds: JsonObject | list[Any], path: str, level: int, begun: int = -1
    ) -> None:
        self.holds = holds
        self.path = path
        self.level = level
        self.begun = begun
        self.key: str | None = None
        self.repeated = False


class _Builder:
    """Builds values from events with an explicit stack; lives for one document."""

    def __init__(self, text: str, first_line: int) -> None:
        self.text = text
        self.offset = first_line
        self.root: Any = ""
        self.spans: Spans = {}
        self.faults: list[Fault] = []
        self.stopped = False
        self._stack: list[_Frame] = []
        self._anchors: dict[str, str | None] = {}
        self._nodes = 0
        self._alias_room = MAX_CHARACTERS

    def place_of(self, mark: Any) -> tuple[int, int]:
        return mark.line + self.offset, mark.column + 1

    def scalar(self, event: ScalarEvent) -> None:
        value = event.value
        plain = not event.style
        if event.style == '"' and not value.isascii():
            # Escapes can spell half of a surrogate pair, which nothing could print later.
            value = value.encode("utf-8", "replace").decode("utf-8")
        if event.tag is not None:
            self._tagged(event, event.tag)
            plain = False
        if event.anchor is not None:
            self._anchors[event.anchor] = value
        if self._wants_key():
            if plain and _NOT_TEXT.fullmatch(value):
                self._fault(
                    "SK025",
                    f"key {_quoted(value)} is not text to every YAML reader; quote it",
                    event,
                )
            self._key(value, event)
        else:
            self._value("" if plain and value in NULLS else value, event)

    def mapping(self, event: MappingStartEvent) -> None:
        self._open({}, event)

    def sequence(self, event: SequenceStartEvent) -> None:
        self._open([], event)

    def alias(self, event: AliasEvent) -> None:
        name = event.anchor or ""
        text = self._anchors.get(name)
        self._fault("SK023", f"alias {_quoted('*' + name)}: write the value out instead", event)
        # One long text behind many aliases would be a bomb for whoever prints the values.
        self._alias_room -= len(text or "")
        if text is None or self._alias_room < 0:
            text = ""
        if self._wants_key():
            self._key(text or f"*{name}", event)
        else:
            self._value(text, event)

    def close(self, event: Event) -> None:
        frame = self._stack.pop()
        if frame.begun >= 0:
            written = self.text[frame.begun : _index(event.end_mark)].strip()
            self._key(written[:_SHOWN], event, counted=True)

    def _open(
        self, holds: JsonObject | list[Any], event: MappingStartEvent | SequenceStartEvent
    ) -> None:
        if event.tag is not None:
            self._tagged(event, event.tag)
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        if len(self._stack) >= MAX_DEPTH:
            self._stop(f"nested deeper than {MAX_DEPTH} levels", event)
        elif self._wants_key():
            self._fault("SK025", "a key is a collection, not text", event)
            self._count(event)
            self._stack.append(_Frame(holds, "", SPAN_LEVELS, _index(event.start_mark)))
        else:
            path, level = self._value(holds, event)
            self._stack.append(_Frame(holds, path, level))

    def _wants_key(self) -> bool:
        if not self._stack:
            return False
        frame = self._stack[-1]
        return frame.key is None and type(frame.holds) is dict

    def _key(self, key: str, event: Event, *, counted: bool = False) -> None:
        frame = self._stack[-1]
        frame.key = key
        frame.repeated = key in frame.holds
        if frame.repeated:
            self._fault("SK022", f"key {_quoted(key)} is repeated; its first value counts", event)
        if not counted:
            self._count(event)

    def _value(self, value: Any, event: Event) -> tuple[str, int]:
        """Put a value where it belongs and give the path and level of what it may hold."""
        self._count(event)
        if not self._stack:
            self.root = value
            return "", 0
        frame = self._stack[-1]
        holds = frame.holds
        if isinstance(holds, list):
            name = str(len(holds))
            holds.append(value)
        else:
            name = frame.key or ""
            frame.key = None
            if frame.repeated:
                return "", SPAN_LEVELS
            holds[name] = value
        if frame.level >= SPAN_LEVELS:
            return "", SPAN_LEVELS
        path = f"{frame.path}.{name}" if frame.level else name
        self.spans.setdefault(path, self.place_of(event.start_mark))
        return path, frame.level + 1

    def _count(self, event: Event) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            self._stop(f"more than {MAX_NODES:,} nodes", event)

    def _tagged(self, event: Event, tag: str) -> None:
        self._fault(
            "SK024",
            f"tag {_quoted(tag)} is not allowed; its value is read as if it had none",
            event,
        )

    def _fault(self, code: str, message: str, event: Event) -> None:
        if len(self.faults) < MAX_FAULTS:
            self.faults.append((code, message, *self.place_of(event.start_mark)))

    def _stop(self, why: str, event: Event) -> None:
        if not self.stopped:
            self.faults.append(
                ("SK026", f"{why}; the rest is not read", *self.place_of(event.start_mark))
            )
        self.stopped = True


def _index(mark: Any) -> int:
    return int(mark.index)


def _quoted(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")


def _explain(problem: Any, first_line: int) -> tuple[str, int, int]:
    mark = problem.problem_mark or problem.context_mark
    message = " ".join(f"{problem.problem or problem.context or 'not valid YAML'}".split())
    return (message, mark.line + first_line, mark.column + 1) if mark else (message, first_line, 1)


def _forbidden(text: str, first_line: int) -> tuple[str, int, int]:
    found = _FORBIDDEN.search(text)
    if found is None:
        return ("not valid YAML", first_line, 1)
    at = found.start()
    line_start = text.rfind("\n", 0, at) + 1
    message = f"control character U+{ord(found[0]):04X} is not allowed"
    return (message, text.count("\n", 0, at) + first_line, at - line_start + 1)
