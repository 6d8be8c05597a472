"""What one walk learnt, as bytes, and back. Pure.

The layout is private to one version of metier on one version of Python, and says so in its file
name. Two files that share a token: the watch list (paths and the stats they had), which is all that
a warm start decodes, and the rest; with them a view for each way of asking, which holds the
finished cards. A file whose stat was taken so soon after its change that a second change could hide
behind the same stat is written with a stat that never matches, so the next start reads it again:
the racy-timestamp rule.
"""

from __future__ import annotations

import marshal
from zlib import crc32

from metier.discover.model import keys_in, plain_rest, survey_from
from metier.fast import TYPE_CHECKING, NamedTuple
from metier.model import NO_KEY, Card, Diagnostic, Problem

if TYPE_CHECKING:
    from typing import Any

    from metier.discover.model import Survey
    from metier.model import Key

FORMAT = "5"
"""Raise it whenever anything stored here changes its meaning."""

RACY_NS = 100_000_000
"""A clock tick of the kernel is at most 10 ms; ten of them are beyond doubt."""
COARSE_NS = 2_000_000_000
"""File systems without nanoseconds count in seconds, or in two."""

_MAGIC = b"METIER"
WATCH, REST, VIEW, TEXT = b".W", b".R", b".V", b".T"
"""What a file holds, so that one in another's place is never taken for it."""
_TOKEN = 16
_START = len(_MAGIC) + 2
HEAD = _START + _TOKEN + 8
"""How many bytes come before the content."""


class Watch(NamedTuple):
    """The paths a snapshot depends on, and the stats they had."""

    token: bytes
    """Names this very snapshot: whatever was derived from it carries the token."""
    paths: list[bytes]
    """Below the root, which is itself `.`: shorter to keep and quicker to stat, and as bytes
    quicker still."""
    keys: bytes
    settled: bool
    """False when something no stat can tell must be looked at again, such as a link that led
    nowhere."""


class ResolvedView(NamedTuple):
    """The finished answer for one way of asking, and what it was derived from."""

    facts: dict[tuple[str, str], bool | str]
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
    start = len(root) + 1
    paths = "\0".join([path[start:] or "." for path in known.keys]).encode(
        "utf-8", "surrogateescape"
    )
    return sealed((paths, keys, settled), token, WATCH), sealed(plain_rest(survey), token, REST)


def keys_of(watch: Watch, root: str) -> dict[str, Key]:
    """Give every path that a snapshot depends on, with the stat it had."""
    paths = (path.decode("utf-8", "surrogateescape") for path in watch.paths)
    return dict(
        zip(
            (root if path == "." else f"{root}/{path}" for path in paths),
            keys_in(watch.keys),
            strict=True,
        )
    )


def watch_of(data: bytes | None) -> Watch | None:
    """Read a watch list; `None` when the bytes are not one, or name nothing by which a change would
    be seen.
    """
    found = opened(data, WATCH)
    if found is None or not found[1][0]:
        return None
    token, (paths, keys, settled) = found
    return Watch(token, paths.split(b"\0"), keys, settled)


def survey_of(data: bytes | None, root: str, watch: Watch) -> Survey | None:
    """Read the rest back into a survey; `None` when it does not belong to this watch list."""
    found = opened(data, REST)
    if found is None or found[0] != watch.token:
        return None
    return survey_from(found[1], keys_of(watch, root))


def encode_view(view: ResolvedView, token: bytes) -> bytes:
    """Write a view down, under the token of all it was derived from."""
    rows = [tuple(card) if not card.diagnostics else _plain_card(card) for card in view.cards]
    problems = list(map(tuple, view.problems))
    truncated = list(map(tuple, view.truncated))
    return sealed(
        (list(view.facts.items()), rows, problems, truncated, view.categories), token, VIEW
    )


def view_of(data: bytes | None, token: bytes) -> ResolvedView | None:
    """Read a view; `None` when it was derived from something else."""
    found = opened(data, VIEW)
    if found is None or found[0] != token:
        return None
    facts, rows, problems, truncated, categories = found[1]
    cards = [
        card._replace(diagnostics=tuple(Diagnostic(*note) for note in card.diagnostics))
        if card.diagnostics
        else card
        for card in map(Card._make, rows)
    ]
    return ResolvedView(
        dict(facts),
        cards,
        [Problem(*row) for row in problems],
        [Problem(*row) for row in truncated],
        categories,
    )


def unchanged(watch: Watch, keys: bytes | None) -> bool:
    """Tell whether every stat is still the one recorded."""
    return watch.settled and keys == watch.keys


def sealed(value: Any, token: bytes, kind: bytes = TEXT) -> bytes:
    """Pack a value with a token and a checksum."""
    body = marshal.dumps(value)
    return b"".join((_MAGIC, kind, token, crc32(body).to_bytes(8, "little"), body))


def opened(data: bytes | None, kind: bytes = TEXT) -> tuple[bytes, Any] | None:
    """Give token and content, or `None` when the checksum is wrong. Only checked bytes reach
    `marshal`.
    """
    token = token_of(data, kind)
    if data is None or token is None:
        return None
    body = memoryview(data)[HEAD:]
    if crc32(body).to_bytes(8, "little") != data[HEAD - 8 : HEAD]:
        return None
    return token, marshal.loads(body)


def token_of(data: bytes | None, kind: bytes = TEXT) -> bytes | None:
    """Give the token at the head of a snapshot, of which no more than that need be read."""
    if data is None or not data.startswith(_MAGIC + kind) or len(data) < HEAD:
        return None
    return data[_START : _START + _TOKEN]


def _sure_keys(keys: dict[str, Key], started_ns: int) -> bytes:
    """Join the keys, those that are too fresh to be trusted as one that never matches."""
    joined = b"".join(keys.values())
    numbers = memoryview(joined).cast("q")
    if max(max(numbers[1::4], default=0), max(numbers[2::4], default=0)) < started_ns - COARSE_NS:
        return joined
    times = zip(keys.values(), numbers[1::4], numbers[2::4], strict=True)
    return b"".join(
        key if _is_sure(changed, touched, started_ns) else NO_KEY for key, changed, touched in times
    )


def _is_sure(changed: int, touched: int, started_ns: int) -> bool:
    slack = COARSE_NS if not changed % 1_000_000_000 else RACY_NS
    return max(changed, touched) < started_ns - slack


def _plain_card(card: Card) -> tuple[Any, ...]:
    notes: Any = tuple(map(tuple, card.diagnostics))
    return tuple(card._replace(diagnostics=notes))
