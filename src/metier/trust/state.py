"""What is written down about trust, as bytes and as values: decisions about skills, and projects that are trusted. Pure.

Anything that is not exactly as metier writes it makes the whole file mean nothing: then nothing is approved and no
project is trusted, and nobody may build on it before a person has looked. A record of a block must not be lost that way
either, so a listing shows nothing as visible until the file is put right.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from metier.trust.facts import Approval, folded
from metier.trust.levels import LEVELS

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEMA = 1
MOST_BYTES = 32 * 1024 * 1024
_SAID = ("approved", "quarantined", "blocked")


class Row(NamedTuple):
    """A decision about a skill, and where that skill lay: a new name in the same place does not shake it off."""

    approval: Approval
    path: str = ""


class Project(NamedTuple):
    """A project whose skills are offered: its canonical folder, since when, and who said so."""

    path: str
    at: str
    by: str = ""


class State(NamedTuple):
    """All decisions, in the order they were made."""

    rows: tuple[Row, ...] = ()
    projects: tuple[Project, ...] = ()
    broken: str = ""
    """Why it cannot be read; then there are no decisions at all."""

    @property
    def approvals(self) -> tuple[Approval, ...]:
        """The decisions about skills alone."""
        return tuple(row.approval for row in self.rows)

    def trusts(self, project: str) -> bool:
        """Tell whether a project is trusted: this very folder, not one above or below it."""
        return any(known.path == project for known in self.projects)

    def about(self, name: str, path: str) -> tuple[Approval, ...]:
        """Give the decisions that bear on a skill, those about what lay in the same place under its present name.

        A skill that was approved and then calls itself something else has changed like any other. One that was blocked or
        quarantined does not get away by taking a name that somebody has approved.
        """
        known = any(row.approval.name == name for row in self.rows)

        def bears(row: Row) -> bool:
            return row.path == path and not (known and row.approval.state == "approved")

        return tuple(row.approval._replace(name=name) if bears(row) else row.approval for row in self.rows)


class Index:
    """Decisions by what they can bear on, for who asks about many skills: a name however it is spelt, a place, some bytes."""

    def __init__(self, rows: Iterable[Row]) -> None:
        """Sort them once."""
        self._rows = tuple(rows)
        self._found: dict[tuple[str, str], list[int]] = {}
        for number, (approval, path) in enumerate(self._rows):
            for key in (("name", folded(approval.name)), ("digest", approval.digest), ("path", path)):
                self._found.setdefault(key, []).append(number)

    def about(self, name: str, path: str, digest: str | None) -> tuple[Approval, ...]:
        """Give what `State.about` gives, without decisions that can have nothing to do with this skill."""
        return self._state(name, digest, ("path", path)).about(name, path)

    def of(self, name: str, digest: str | None) -> tuple[Approval, ...]:
        """Give the decisions about a name or some bytes, wherever they lay."""
        return self._state(name, digest).approvals

    def _state(self, name: str, digest: str | None, *more: tuple[str, str]) -> State:
        keys = (("name", folded(name)), ("digest", digest or ""), *more)
        numbers = sorted({number for key in keys for number in self._found.get(key, ())})
        return State(tuple(self._rows[number] for number in numbers))


def read_state(data: bytes) -> State:
    """Read the file of decisions."""
    try:
        return _state(data)
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        fault = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        return State(broken=f"the record of your decisions cannot be read ({fault})")


def state_bytes(state: State) -> bytes:
    """Write the decisions down, the same bytes for the same decisions."""
    document = {
        "schema": SCHEMA,
        "approvals": [_written(row) for row in state.rows],
        "projects": [project._asdict() for project in state.projects],
    }
    return (json.dumps(document, indent=1, ensure_ascii=True) + "\n").encode("ascii")


def _written(row: Row) -> dict[str, object]:
    """Give a decision as it is written; what was not said by installing is written as it always was."""
    written: dict[str, object] = {**row.approval._asdict(), "path": row.path}
    if not row.approval.installed:
        del written["installed"]
    return written


def _state(data: bytes) -> State:
    if len(data) > MOST_BYTES:
        raise ValueError(f"it is longer than {MOST_BYTES:,} bytes")
    document = json.loads(data.decode("utf-8"), object_pairs_hook=_once)
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise ValueError(f"it is not of schema {SCHEMA}")
    rows = tuple(_row(item) for item in _list(document, "approvals"))
    projects = tuple(Project(**_texts(item, Project._fields)) for item in _list(document, "projects"))
    if any(not project.path.startswith("/") and project.path[1:2] != ":" for project in projects):
        raise ValueError("a project is not an absolute path")
    return State(rows, projects)


def _row(item: Any) -> Row:
    accepted = item.get("accept_dangerous") if isinstance(item, dict) else None
    installed = item.get("installed", False) if isinstance(item, dict) else None
    if not isinstance(accepted, bool) or not isinstance(installed, bool):
        raise ValueError("a decision does not say whether danger was accepted")  # noqa: TRY004 - one kind of fault for content
    texts = _texts({key: value for key, value in item.items() if key not in _FLAGS}, _ROW)
    if texts["state"] not in _SAID or texts["level"] not in LEVELS or not texts["name"]:
        raise ValueError(f"'{texts['name']}' is {texts['state']}, level {texts['level']}: one of them means nothing")
    path = texts.pop("path")
    return Row(Approval(**cast("Any", texts), accept_dangerous=accepted, installed=installed), path)


_FLAGS = ("accept_dangerous", "installed")
_ROW = (*(field for field in Approval._fields if field not in _FLAGS), "path")


def _texts(item: Any, fields: Iterable[str]) -> dict[str, str]:
    wanted = set(fields)
    if not isinstance(item, dict) or set(item) != wanted or not all(isinstance(value, str) for value in item.values()):
        raise ValueError(f"an entry is not made of the texts {', '.join(sorted(wanted))}")
    return item


def _list(document: dict[str, Any], key: str) -> list[Any]:
    found = document.get(key)
    if not isinstance(found, list):
        raise ValueError(f"'{key}' is not a list")  # noqa: TRY004 - the same
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is written twice")
    return found
