"""What one walk learnt, as bytes, and back. Pure.

The layout is private to one version of metier on one version of Python, and says so in its file name. Two files
that share a token: the watch list (paths and the stats they had), which is all that a warm start decodes, and the
rest; with them a view for each way of asking, which holds the finished cards. A file whose stat was taken so soon after its change that a second change could hide behind the same stat
is written with a stat that never matches, so the next start reads it again: the racy-timestamp rule.
"""

from __future__ import annotations

import marshal
from zlib import crc32

from metier.discover.found import LEAF, Known, Survey
from metier.light import TYPE_CHECKING, NamedTuple
from metier.model import Card, Diagnostic, Entry, Gates, Needs, Problem, Sidecar, Tool, packed, unpacked

if TYPE_CHECKING:
    from typing import Any

    from metier.model import Key

FORMAT = "1"
"""Raise it whenever anything stored here changes its meaning."""

RACY_NS = 100_000_000
"""A clock tick of the kernel is at most 10 ms; ten of them are beyond doubt."""
COARSE_NS = 2_000_000_000
"""File systems without nanoseconds count in seconds, or in two."""

_MAGIC = b"METIERIX"
_TOKEN = 16
_HEAD = len(_MAGIC) + _TOKEN + 8


class Watch(NamedTuple):
    """The paths a snapshot depends on, and the stats they had."""

    token: bytes
    """Names this very snapshot: whatever was derived from it carries the token."""
    paths: list[str]
    """Below the root, which is itself `.`: they are shorter to keep and quicker to stat."""
    keys: bytes
    settled: bool
    """False when something no stat can tell must be looked at again, such as a link that led nowhere."""


class View(NamedTuple):
    """The finished answer for one way of asking, and what it was derived from."""

    facts: dict[tuple[str, str], bool]
    """What was asked of the machine, and what it answered."""
    cards: list[Card]
    problems: list[Problem]
    truncated: list[Problem]
    categories: dict[str, str]


def encode(survey: Survey, root: str, token: bytes, started_ns: int) -> tuple[bytes, bytes]:
    """Write a survey down: the watch list and the rest. `started_ns` is the clock before."""
    known = survey.known
    keys = _sure_keys(known.keys, started_ns)
    settled = not any(problem.code == "WK004" for problem in survey.problems)
    paths = _below(root, survey)
    memos = known.memos
    rest = (
        [(path, node) for path, node in known.nodes.items() if node is not LEAF],
        [(path, memo[0], *_plain(memo[1])) for path, memo in memos.items() if memo[1].__class__ is not Entry],
        [_plain_entry(entry) for entry in survey.entries],
        [memo[0] if (memo := memos.get(entry_file(entry))) else None for entry in survey.entries],
        [tuple(problem) for problem in survey.problems],
        [tuple(problem) for problem in survey.truncated],
        survey.categories,
    )
    return sealed((paths, keys, settled), token), sealed(rest, token)


def _below(root: str, survey: Survey) -> list[str]:
    start = len(root) + 1
    return [path[start:] or "." for path in survey.known.keys]  # noqa: SIM118 - a field of that name


def keys_of(watch: Watch, root: str) -> dict[str, Key]:
    """Give every path that a snapshot depends on, with the stat it had."""
    return dict(zip((f"{root}/{path}" for path in watch.paths), unpacked(watch.keys), strict=False))


def watch_of(data: bytes | None) -> Watch | None:
    """Read a watch list; `None` when the bytes are not one."""
    found = opened(data)
    if found is None:
        return None
    token, (paths, keys, settled) = found
    return Watch(token, paths, keys, settled)


def survey_of(data: bytes | None, root: str, watch: Watch) -> Survey | None:
    """Read the rest back into a survey; `None` when it does not belong to this watch list."""
    found = opened(data)
    if found is None or found[0] != watch.token or not watch.keys:
        return None
    nodes, memos, rows, circumstances, problems, truncated, categories = found[1]
    entries = [_entry(row) for row in rows]
    paths = [root if path == "." else f"{root}/{path}" for path in watch.paths]
    listed = {entry.path: LEAF for entry in entries if entry.file == "SKILL.md"}
    listed.update(nodes)
    read = {path: (circumstance, _value(tag, value)) for path, circumstance, tag, value in memos}
    read.update((entry_file(entry), (circumstance, entry))
                for entry, circumstance in zip(entries, circumstances, strict=True) if circumstance)  # fmt: skip
    known = Known(dict(zip(paths, unpacked(watch.keys), strict=True)), listed, read)
    return Survey(entries, [Problem(*row) for row in problems], [Problem(*row) for row in truncated], categories,
                  known, 0)  # fmt: skip


def encode_view(view: View, token: bytes) -> bytes:
    """Write a view down, under the token of all it was derived from."""
    rows = [tuple(card) if not card.diagnostics else _plain_card(card) for card in view.cards]
    problems, truncated = ([tuple(problem) for problem in some] for some in (view.problems, view.truncated))
    return sealed((list(view.facts.items()), rows, problems, truncated, view.categories), token)


def view_of(data: bytes | None, token: bytes) -> View | None:
    """Read a view; `None` when it was derived from something else."""
    found = opened(data)
    if found is None or found[0] != token:
        return None
    facts, rows, problems, truncated, categories = found[1]
    cards = [Card(*row) if not row[11] else _card(row) for row in rows]
    return View(dict(facts), cards, [Problem(*row) for row in problems], [Problem(*row) for row in truncated], categories)


def unchanged(watch: Watch, keys: bytes | None) -> bool:
    """Tell whether every stat is still the one recorded."""
    return watch.settled and bool(keys) and keys == watch.keys


def sealed(value: Any, token: bytes) -> bytes:
    """Pack a value with a token and a checksum."""
    body = marshal.dumps(value)
    return b"".join((_MAGIC, token, crc32(body).to_bytes(8, "little"), body))


def opened(data: bytes | None) -> tuple[bytes, Any] | None:
    """Give token and content, or `None` when the checksum is wrong. Only checked bytes reach `marshal`."""
    if data is None or not data.startswith(_MAGIC) or len(data) < _HEAD:
        return None
    body = memoryview(data)[_HEAD:]
    if crc32(body).to_bytes(8, "little") != data[_HEAD - 8 : _HEAD]:
        return None
    return data[len(_MAGIC) : len(_MAGIC) + _TOKEN], marshal.loads(body)


def _sure_keys(keys: dict[str, Key], started_ns: int) -> bytes:
    """Pack the keys, those that are too fresh to be trusted as one that never matches."""
    fresh = started_ns - COARSE_NS
    if all(key[2] < fresh and key[1] < fresh for key in keys.values()):
        return packed(keys.values())
    return packed([_sure(key, started_ns) for key in keys.values()])


def _sure(key: Key, started_ns: int) -> Key:
    changed = max(key[1], key[2])
    slack = COARSE_NS if not key[1] % 1_000_000_000 else RACY_NS
    return key if changed < started_ns - slack else (0, 0, 0, 0)


def entry_file(entry: Entry) -> str:
    """Give the path of the file that an entry was read from."""
    return f"{entry[1]}/{entry[2]}" if entry[2] else entry[1]


def _plain(value: Any) -> tuple[str, Any]:
    if isinstance(value, Sidecar):
        return "sidecar", (value.interface, [tuple(tool) for tool in value.tools], *value[2:4],
                           [tuple(note) for note in value.diagnostics])  # fmt: skip
    return "", value


def _value(tag: str, value: Any) -> Any:
    if tag == "sidecar":
        interface, tools, allow, products, notes = value
        return Sidecar(interface, tuple(Tool(*tool) for tool in tools), allow, products,
                       tuple(Diagnostic(*note) for note in notes))  # fmt: skip
    return value


def _plain_entry(entry: Entry) -> tuple[Any, ...]:
    if entry[10] is None and entry[11] is None and not entry[12]:
        return tuple(entry)
    gates, needs, notes = entry[10:]
    return (*entry[:10], tuple(gates) if gates else None, tuple(needs) if needs else None,
            tuple(tuple(note) for note in notes))  # fmt: skip


def _entry(row: tuple[Any, ...]) -> Entry:
    if row[10] is None and row[11] is None and not row[12]:
        return Entry(*row)
    gates, needs, notes = row[10:]
    return Entry(*row[:10], Gates(*gates) if gates else None, Needs(*needs) if needs else None,
                 tuple(Diagnostic(*note) for note in notes))  # fmt: skip


def _plain_card(card: Card) -> tuple[Any, ...]:
    return (*card[:11], tuple(tuple(note) for note in card.diagnostics), *card[12:])


def _card(row: tuple[Any, ...]) -> Card:
    return Card(*row[:11], tuple(Diagnostic(*note) for note in row[11]), *row[12:])
