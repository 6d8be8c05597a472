"""What is written about one draft, as bytes and as values. Pure.

Anybody who may write below METIER_HOME may have written it: a file that is not in every part what metier writes is no draft at all,
and what it says is only a claim until the skill itself was looked at.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.errors import MetierError
from metier.managing import rules
from metier.mirrors import Candidate, Evidence
from metier.offers import Draft
from metier.store.layout import is_digest
from metier.supply.merge.unified import harmless

if TYPE_CHECKING:
    from collections.abc import Callable

KIND = "draft"
RECORD_BYTES = 32 * 1024 * 1024
MOST_FILES, MOST_REMOVED, MOST_CONFLICTS = 64, 20_000, 1_000
MOST_WORDS = 2_000
"""How many characters of a reason are kept."""
_LATEST = 253_402_300_799
"""The last second of the year 9999."""
_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)
_DESK = re.compile(r"[a-z0-9-]{1,100}", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_STATUSES = frozenset({"open", "published", "rejected", "superseded"})
_LEVELS = frozenset({"", "safe", "caution", "dangerous"})


class Laid(NamedTuple):
    """A desk that was laid, and the three trees that it was laid from; nothing for a tree that is empty."""

    name: str
    base: str
    ours: str
    theirs: str


class Record(NamedTuple):
    """A draft, and where it stands."""

    id: str
    at: int
    draft: Draft
    """Its `base` and `result` are those of the last rebase."""
    status: str = "open"
    decided_at: str = ""
    said: str = ""
    """What a person said about it."""
    replaced_by: str = ""
    onto: str = ""
    """The tree that the conflicts were told about: the skill as it was then."""
    conflicts: tuple[str, ...] = ()
    stale: str = ""
    """What changed the skill before this was decided, so that it has to be rebased."""
    desk: Laid | None = None

    @property
    def key(self) -> str:
        """What it is called in the queue."""
        return f"{KIND}:{self.id}"


def id_of(ident: str) -> str:
    """Give the id of a draft by what it is called in the queue; nothing where that is no draft."""
    kind, _, own = ident.partition(":")
    return own if kind == KIND and _ID.fullmatch(own) else ""


def record_bytes(record: Record) -> bytes:
    """Write a draft down."""
    more = {key: value for key, value in record._asdict().items() if key not in {"id", "at", "draft"}}
    return json.dumps({"id": record.id, "at": record.at, **record.draft._asdict(), **more}).encode()


def read_record(data: bytes, own: str) -> Record | str:
    """Read the draft of an id; what is wrong with it, in words, where it is none."""
    try:
        found = json.loads(data)
        if not isinstance(found, dict) or found.get("id") != own:
            return "it does not say which draft it is"
        return _record(found)
    except _WrongError as error:
        return str(error)
    except MetierError as error:
        return error.message
    except (ValueError, RecursionError):
        return "it is no JSON"


class _WrongError(Exception):
    """A part that is not as metier writes it."""


def _record(found: dict[str, Any]) -> Record:
    at = _part(found, "at", int, lambda at: type(at) is int and 0 <= at <= _LATEST)
    desk = found.get("desk")
    conflicts = _texts(found, "conflicts", MOST_CONFLICTS)
    return Record(
        found["id"], at, _draft(found), _part(found, "status", str, _STATUSES.__contains__, "open"),
        _part(found, "decided_at", str, lambda word: not word or _MOMENT.fullmatch(word) is not None, ""),
        _part(found, "said", str, _short, ""),
        _part(found, "replaced_by", str, lambda word: not word or bool(id_of(word)), ""),
        _part(found, "onto", str, _tree_or_none, ""), conflicts, _part(found, "stale", str, _short, ""),
        None if desk is None else _laid(desk),
    )  # fmt: skip


def _draft(found: dict[str, Any]) -> Draft:
    action = _part(found, "action", str, rules.PARTS.__contains__)
    files, removed = _files(found), _texts(found, "removed", MOST_REMOVED)
    wanted = {"remove_file": (0, 1), "delete": (0, len(removed))}.get(action, (1, 0))
    if (len(files), len(removed)) != wanted:
        raise _WrongError(f"it has not the files of the action '{action}'")
    if action == "remove_file":
        _inside(removed[0])
    base = _part(found, "base", str, is_digest if action != "create" else _tree_or_none)
    return Draft(
        action, _part(found, "skill", str, lambda name: 0 < len(name) <= 1024), _part(found, "path", str, _is_path), base, files,
        removed, _part(found, "reason", str)[:MOST_WORDS], _part(found, "level", str, _LEVELS.__contains__),
        _part(found, "score", int, lambda score: type(score) is int and 0 <= score <= 1_000_000, 0),
        _part(found, "result", str, _tree_or_none, ""), _part(found, "owner", str, lambda owner: len(owner) <= 1024, ""),
    )  # fmt: skip


def _files(found: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    rows = _part(found, "files", list, lambda rows: len(rows) <= MOST_FILES)
    files = []
    for row in rows:
        if not isinstance(row, list) or len(row) != 2 or not all(isinstance(part, str) for part in row):
            raise _WrongError("its 'files' are not pairs of a path and a text")
        path, text = _inside(row[0]), row[1]
        rules.content_bytes(rules.MAIN if "/" not in path else path, text)
        files.append((path, text))
    return tuple(files)


def _inside(path: str) -> str:
    """Accept a file that an agent may change; the skill's own may be written in other letters."""
    return path if path.lower() == rules.MAIN.lower() else rules.file_inside(path)


def _texts(found: dict[str, Any], key: str, most: int) -> tuple[str, ...]:
    texts = _part(found, key, list, lambda rows: len(rows) <= most, [])
    if not all(isinstance(text, str) and len(text) <= 4096 for text in texts):
        raise _WrongError(f"its '{key}' are not short texts")
    return tuple(texts)


def _laid(found: Any) -> Laid:
    if not isinstance(found, list) or len(found) != 4 or not all(isinstance(part, str) for part in found):
        raise _WrongError("its 'desk' is none")
    if not _DESK.fullmatch(found[0]) or not all(map(_tree_or_none, found[1:])):
        raise _WrongError("its 'desk' is none")
    return Laid(*found)


_MISSING = object()


def _part(found: dict[str, Any], key: str, kind: type, fine: Callable[[Any], bool] | None = None, default: Any = _MISSING) -> Any:
    value = found.get(key, default)
    if value is _MISSING:
        raise _WrongError(f"it has no '{key}'")
    if not isinstance(value, kind) or (fine is not None and not fine(value)):
        raise _WrongError(f"its '{key}' is not as it is written")
    return value


def _short(text: str) -> bool:
    return len(text) <= MOST_WORDS


def _tree_or_none(word: str) -> bool:
    return not word or is_digest(word)


def _is_path(path: str) -> bool:
    """Tell whether a text is the plain path of a folder; its bytes need not be text."""
    try:
        path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    parts = path.split("/")
    return len(path) <= 4096 and "\0" not in path and parts[0] == "" and len(parts) > 2 and {"", ".", ".."}.isdisjoint(parts[1:])


# --- as the queue shows it


def candidate_of(record: Record) -> Candidate:
    """Give a draft as a candidate; nothing in it can act on a terminal."""
    draft, waits = record.draft, record.status == "open"
    evidence = Evidence(
        skill_name=_line(draft.skill), merge_mode="draft", base_upstream_tree_hash=draft.base,
        local_tree_hash=record.onto or draft.base, proposed_tree_hash="" if record.conflicts else draft.result, path=draft.path,
        verdict=draft.level, score=draft.score, conflicts=tuple(map(_line, record.conflicts)),
    )  # fmt: skip
    rebase = f"; it has to be rebased: {record.stale}" if record.stale and waits else ""
    return Candidate(
        record.key, "skill_draft", _line(draft.skill), "draft", record.status,  # type: ignore[arg-type]  # one of these words
        _line(draft.reason + rebase if waits else record.said), evidence,
        at=datetime.fromtimestamp(record.at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), decided_at=record.decided_at,
        replaced_by=record.replaced_by, desk=record.desk.name if record.desk is not None else "", scope="user",
    )  # fmt: skip


def _line(text: str) -> str:
    return harmless(" ".join(text.split()))
