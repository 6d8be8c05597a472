"""What is written about one draft, as bytes and as values. Pure.

Anybody who may write below METIER_HOME may have written it: a file that is not in every part what
metier writes is no draft at all, and what it says is only a claim until the skill itself was looked
at.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

from metier.author import limits
from metier.author.model import KIND, Draft, DraftRecord, EditFolder
from metier.errors import MetierError
from metier.plugins.model import Evidence, ReviewCandidate
from metier.standard.characters import escape_for_terminal
from metier.store.layout import is_digest
from metier.store.record_fields import Field, RecordError, encodes, read_fields

MAX_RECORD_BYTES = 32 * 1024 * 1024
MAX_FILES = 64
MAX_REMOVED = 20_000
MAX_CONFLICTS = 1_000
MAX_REASON_CHARACTERS = 2_000
"""How many characters of a reason are kept."""
_MAX_SCORE = 1_000_000
_LAST_SECOND = 253_402_300_799
"""The last second of the year 9999."""
_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)
_DESK = re.compile(r"[a-z0-9-]{1,100}", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|", re.ASCII)
_STATUSES = frozenset({"open", "published", "rejected", "superseded"})
_LEVELS = frozenset({"", "safe", "caution", "dangerous"})


def id_of(ident: str) -> str:
    """Give the id of a draft by what it is called in the queue; nothing where that is no draft."""
    kind, _, own = ident.partition(":")
    return own if kind == KIND and _ID.fullmatch(own) else ""


def record_bytes(record: DraftRecord) -> bytes:
    """Write a draft down."""
    fields = record._asdict()
    draft: Draft = fields.pop("draft")
    head = {"id": fields.pop("id"), "at": fields.pop("at")}
    return json.dumps({**head, **draft._asdict(), **fields}).encode()


def read_record(data: bytes, own: str) -> DraftRecord | str:
    """Read the draft of an id; what is wrong with it, in words, where it is none."""
    try:
        found = json.loads(data)
        if not isinstance(found, dict) or found.get("id") != own:
            return "it does not say which draft it is"
        return _record(found)
    except RecordError as error:
        return str(error)
    except MetierError as error:
        return error.message
    except (ValueError, RecursionError):
        return "it is no JSON"


def _tree_or_none(word: str) -> bool:
    return not word or is_digest(word)


def _is_path(path: str) -> bool:
    """Tell whether a text is the plain path of a folder; its bytes need not be text."""
    parts = path.split("/")
    return (
        encodes(path, "surrogateescape")
        and len(path) <= 4096
        and "\0" not in path
        and parts[0] == ""
        and len(parts) > 2
        and {"", ".", ".."}.isdisjoint(parts[1:])
    )


def _up_to(most: int) -> Field:
    return Field(int, lambda number: type(number) is int and 0 <= number <= most)


def _short(most: int = MAX_REASON_CHARACTERS) -> Field:
    return Field(str, lambda text: len(text) <= most, "")


def _texts(most: int) -> Field:
    return Field(list, lambda rows: len(rows) <= most, [])


_DRAFT: dict[str, Field] = {
    "action": Field(str, limits.ACTION_PARTS.__contains__),
    "skill": Field(str, lambda name: 0 < len(name) <= 1024),
    "path": Field(str, _is_path),
    "base": Field(str, _tree_or_none),
    "files": Field(list, lambda rows: len(rows) <= MAX_FILES),
    "removed": _texts(MAX_REMOVED),
    "reason": Field(str),
    "level": Field(str, _LEVELS.__contains__),
    "score": _up_to(_MAX_SCORE)._replace(default=0),
    "result": Field(str, _tree_or_none, ""),
    "owner": _short(1024),
}
_RECORD: dict[str, Field] = {
    "at": _up_to(_LAST_SECOND),
    "status": Field(str, _STATUSES.__contains__, "open"),
    "decided_at": Field(str, _MOMENT.fullmatch, ""),
    "said": _short(),
    "replaced_by": Field(str, lambda word: not word or id_of(word), ""),
    "onto": Field(str, _tree_or_none, ""),
    "conflicts": _texts(MAX_CONFLICTS),
    "stale": _short(),
}


def _record(found: dict[str, Any]) -> DraftRecord:
    draft = read_fields(found, _DRAFT)
    record = read_fields(found, _RECORD)
    action = draft["action"]
    desk = found.get("desk")
    if action != "create" and not draft["base"]:
        raise RecordError("its 'base' is not as it is written")
    record["conflicts"] = _short_texts(record, "conflicts")
    draft["removed"] = _short_texts(draft, "removed")
    draft["files"] = tuple(map(_file, draft["files"]))
    draft["reason"] = draft["reason"][:MAX_REASON_CHARACTERS]
    counts = len(draft["files"]), len(draft["removed"])
    if counts != {"remove_file": (0, 1), "delete": (0, counts[1])}.get(action, (1, 0)):
        raise RecordError(f"it has not the files of the action '{action}'")
    if action == "remove_file":
        _inside(*draft["removed"])
    return DraftRecord(
        found["id"],
        draft=Draft(**draft),
        desk=None if desk is None else _edit_folder(desk),
        **record,
    )


def _file(row: Any) -> tuple[str, str]:
    if not _is_texts(row, 2):
        raise RecordError("its 'files' are not pairs of a path and a text")
    path = _inside(row[0])
    text = row[1]
    limits.content_bytes(limits.MAIN_FILE if "/" not in path else path, text)
    return path, text


def _inside(path: str) -> str:
    """Accept a file that an agent may change; the skill's own may be written in other letters."""
    return path if path.lower() == limits.MAIN_FILE.lower() else limits.check_file_path(path)


def _short_texts(found: dict[str, Any], key: str) -> tuple[str, ...]:
    if not all(isinstance(text, str) and len(text) <= 4096 for text in found[key]):
        raise RecordError(f"its '{key}' are not short texts")
    return tuple(found[key])


def _edit_folder(found: Any) -> EditFolder:
    if (
        not _is_texts(found, 4)
        or not _DESK.fullmatch(found[0])
        or not all(map(_tree_or_none, found[1:]))
    ):
        raise RecordError("its 'desk' is none")
    return EditFolder(*found)


def _is_texts(found: Any, count: int) -> bool:
    return (
        isinstance(found, list)
        and len(found) == count
        and all(isinstance(part, str) for part in found)
    )


# --- as the queue shows it


def candidate_of(record: DraftRecord) -> ReviewCandidate:
    """Give a draft as a candidate; nothing in it can act on a terminal."""
    draft = record.draft
    waits = record.status == "open"
    rebase = f"; it has to be rebased: {record.stale}" if record.stale and waits else ""
    return ReviewCandidate(
        id=record.key,
        kind="skill_draft",
        skill=_line(draft.skill),
        merge_mode="draft",
        status=record.status,  # type: ignore[arg-type]  # one of these words
        reason=_line(draft.reason + rebase if waits else record.said),
        evidence=Evidence(
            skill_name=_line(draft.skill),
            merge_mode="draft",
            base_upstream_tree_hash=draft.base,
            local_tree_hash=record.onto or draft.base,
            proposed_tree_hash="" if record.conflicts else draft.result,
            path=draft.path,
            verdict=draft.level,
            score=draft.score,
            conflicts=tuple(map(_line, record.conflicts)),
        ),
        at=datetime.fromtimestamp(record.at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        decided_at=record.decided_at,
        replaced_by=record.replaced_by,
        desk=record.desk.name if record.desk is not None else "",
        scope="user",
    )


def _line(text: str) -> str:
    return escape_for_terminal(" ".join(text.split()))
