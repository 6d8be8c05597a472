"""Reads and writes the record of trust decisions, about skills and projects, and says what they
mean for a listing.

The record lies in two identical files. Anything that is not exactly as metier writes it, checksum
included, makes a file mean nothing. When the first file is damaged, nothing is approved, no project
is trusted and nothing is anybody's own; what was ever blocked stays blocked, by the second file and
by the audit log. When neither of those can tell, nothing is loaded or run at all. `metier trust
repair` ends that (ADR 0032).

Only the few skills that somebody decided about are hashed; nothing is scanned for a listing
(MT-29).
"""

from __future__ import annotations

import json
from functools import lru_cache, partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from metier.audit.redact import redact_text
from metier.model import Said
from metier.store.record_fields import load_strict
from metier.trust.decide import Provenance, TrustPolicy, decide
from metier.trust.model import (
    LEVELS,
    REPAIR,
    Approval,
    DecisionRow,
    Decisions,
    OwnPlace,
    TrustedProject,
    folded,
)
from metier.trust.policy import stricter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from metier.audit.chain import AuditRecord, VerifiedLog
    from metier.model import Digest, Entry, JsonObject, Judged, Root, State as Shown, Texts
    from metier.trust.decide import Decision

__all__ = ["REPAIR", "DecisionRow", "Decisions", "OwnPlace", "TrustedProject"]

SCHEMA = 2
OLD_SCHEMA = 1
"""The form without a checksum: it is read, and the next decision writes it in the new one."""
MAX_STATE_BYTES = 32 * 1024 * 1024
_SAID = ("approved", "quarantined", "blocked")


class DecisionIndex:
    """Decisions by what they can bear on, for who asks about many skills: a name however it is
    spelt, a place, some bytes.
    """

    def __init__(self, rows: Iterable[DecisionRow]) -> None:
        """Sort them once."""
        self._rows = tuple(rows)
        self._found: dict[tuple[str, str], list[int]] = {}
        for number, (approval, path) in enumerate(self._rows):
            for key in (
                ("name", folded(approval.name)),
                ("digest", approval.digest),
                ("path", path),
            ):
                self._found.setdefault(key, []).append(number)

    def about(
        self, name: str, path: str, digest: str | None, real: str = ""
    ) -> tuple[Approval, ...]:
        """Give what `Decisions.about` gives, without decisions that can have nothing to do with
        this skill.
        """
        places = (("path", path), ("path", real or path))
        return self._state(name, digest, *places).about(name, path, real)

    def installed_at(self, name: str, *paths: str) -> str:
        """Give what `Decisions.installed_at` gives."""
        return self._rows_of(*(("path", path) for path in paths)).installed_at(name, *paths)

    def of(self, name: str, digest: str | None) -> tuple[Approval, ...]:
        """Give the decisions about a name or some bytes, wherever they lay."""
        return self._state(name, digest).approvals

    def _state(self, name: str, digest: str | None, *more: tuple[str, str]) -> Decisions:
        return self._rows_of(("name", folded(name)), ("digest", digest or ""), *more)

    def _rows_of(self, *keys: tuple[str, str]) -> Decisions:
        numbers = sorted({number for key in keys for number in self._found.get(key, ())})
        return Decisions(tuple(self._rows[number] for number in numbers))


class TrustRecord(NamedTuple):
    """One file of decisions: what it says, and the how manieth writing it is."""

    state: Decisions
    sequence: int = 0


def read_state(data: bytes) -> Decisions:
    """Read one file of decisions."""
    return read_record(data).state


@lru_cache(maxsize=2)
def read_record(data: bytes) -> TrustRecord:
    """Read one file of decisions with its number. What begins with `?` says why a file could not
    even be opened. The same bytes, in both files or once more, are read once.
    """
    try:
        return _record(data)
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        fault = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        return TrustRecord(
            Decisions(broken=f"the record of your decisions cannot be read ({fault})")
        )


def state_bytes(state: Decisions, sequence: int = 1) -> bytes:
    """Write the decisions down, the same bytes for the same decisions and number."""
    document: dict[str, object] = {
        "schema": SCHEMA,
        "sequence": sequence,
        "approvals": [_row_fields(row) for row in state.rows],
        "projects": [project._asdict() for project in state.projects],
        "own": [_own_fields(place) for place in state.own],
    }
    plain = _spell(document)
    # the checksum is the last key
    seal = b',\n "sha256": "%s"\n}\n' % sha256(plain).hexdigest().encode()
    return plain.removesuffix(b"\n}\n") + seal


def _spell(document: dict[str, object]) -> bytes:
    return (json.dumps(document, indent=1, ensure_ascii=True) + "\n").encode("ascii")


def _row_fields(row: DecisionRow) -> dict[str, object]:
    """Give a decision as it is written; what was not said by installing is written as it always
    was.
    """
    written: dict[str, object] = {**row.approval._asdict(), "path": row.path}
    if not row.approval.installed:
        del written["installed"]
    return written


def _own_fields(place: OwnPlace) -> dict[str, object]:
    return {key: value for key, value in place._asdict().items() if value is not False}


def _own_place(item: Any) -> OwnPlace:
    recorded = item.get("recorded", False) if isinstance(item, dict) else None
    if not isinstance(recorded, bool):
        raise ValueError("a place does not say whether a lock had it")  # noqa: TRY004 - the same
    texts = {key: value for key, value in item.items() if key != "recorded"}
    return OwnPlace(**_texts(texts, OwnPlace._fields[:3]), recorded=recorded)


def _record(data: bytes) -> TrustRecord:
    if len(data) > MAX_STATE_BYTES:
        raise ValueError(f"it is longer than {MAX_STATE_BYTES:,} bytes")
    if data[:1] in {b"", UNREADABLE}:
        raise ValueError(data[1:].decode("utf-8", "replace") or "it is empty")
    document = load_strict(data)
    schema = document.get("schema") if isinstance(document, dict) else None
    if type(schema) is not int or schema not in _KEYS:
        raise ValueError(f"it is not of schema {SCHEMA}")
    allowed, needed = _KEYS[schema]
    if not needed <= set(document) <= allowed:
        raise ValueError("it does not have the keys that metier writes")
    state = _state(document)
    if schema == OLD_SCHEMA:
        return TrustRecord(_masked(state))
    sequence = document["sequence"]
    # One spelling for each state and number: this also holds the checksum against the rest.
    if type(sequence) is not int or sequence < 1 or state_bytes(state, sequence) != data:
        raise ValueError("it was changed or damaged after metier wrote it")
    return TrustRecord(_masked(state), sequence)


_OLD_KEYS = frozenset({"schema", "approvals", "projects"})
_NEW_KEYS = _OLD_KEYS | {"sequence", "own", "sha256"}
_KEYS = {OLD_SCHEMA: (_OLD_KEYS | {"own"}, _OLD_KEYS), SCHEMA: (_NEW_KEYS, _NEW_KEYS)}
"""Which keys a file of each schema may have, and which it must."""


def _state(document: JsonObject) -> Decisions:
    rows = tuple(_row(item) for item in _list(document, "approvals"))
    projects = tuple(
        TrustedProject(**_texts(item, TrustedProject._fields))
        for item in _list(document, "projects")
    )
    own = tuple(map(_own_place, _list(document, "own") if "own" in document else ()))
    places = [project.path for project in projects] + [place.path for place in own]
    if any(not place.startswith("/") and place[1:2] != ":" for place in places):
        raise ValueError("a project is not an absolute path")
    return Decisions(rows, projects, own)


def _masked(state: Decisions) -> Decisions:
    """Take secrets out of reasons that were written down before metier did that itself."""
    if not any(row.approval.reason for row in state.rows):
        return state
    return state._replace(
        rows=tuple(
            DecisionRow(
                approval._replace(reason=redact_text(approval.reason))
                if approval.reason
                else approval,
                path,
            )
            for approval, path in state.rows
        )
    )


def _row(item: Any) -> DecisionRow:
    accepted = item.get("accept_dangerous") if isinstance(item, dict) else None
    installed = item.get("installed", False) if isinstance(item, dict) else None
    if not isinstance(accepted, bool) or not isinstance(installed, bool):
        raise ValueError("a decision does not say whether danger was accepted")  # noqa: TRY004 - one kind of fault for content
    texts = _texts({key: value for key, value in item.items() if key not in _FLAGS}, _ROW)
    if texts["state"] not in _SAID or texts["level"] not in LEVELS or not texts["name"]:
        raise ValueError(
            f"'{texts['name']}' is {texts['state']}, level {texts['level']}: one of them means "
            f"nothing"
        )
    path = texts.pop("path")
    return DecisionRow(
        Approval(**cast("Any", texts), accept_dangerous=accepted, installed=installed), path
    )


_FLAGS = ("accept_dangerous", "installed")
_ROW = (*(field for field in Approval._fields if field not in _FLAGS), "path")


def _texts(item: Any, fields: Iterable[str]) -> dict[str, str]:
    wanted = set(fields)
    if (
        not isinstance(item, dict)
        or set(item) != wanted
        or not all(isinstance(value, str) for value in item.values())
    ):
        raise ValueError(f"an entry is not made of the texts {', '.join(sorted(wanted))}")
    return item


def _list(document: JsonObject, key: str) -> list[Any]:
    found = document.get(key)
    if not isinstance(found, list):
        raise ValueError(f"'{key}' is not a list")  # noqa: TRY004 - the same
    return found


# --- two files and a log


UNREADABLE = b"?"
"""What the bytes of a file that cannot be opened begin with; the rest says why."""
MISSING = "the record of your decisions is missing"
DENIED = "the record of your decisions is not what the audit log says was decided"
NOTED = ("approve", "quarantine", "block", "unblock", "trust_project", "own", "disown")
"""The events of the audit log that are decisions."""
_WITHDRAWN = frozenset({"revoked", "removed"})
_SPOKEN = {"approve": "approved", "quarantine": "quarantined", "block": "blocked"}
_SPOKEN["unblock"] = "quarantined"


class LoggedDecisions(NamedTuple):
    """What the audit log knows of decisions."""

    state: Decisions = Decisions()
    any: bool = False
    """Whether anything was ever decided."""
    fault: str = ""
    """Why the log is not as it was written."""
    withdrawn: frozenset[tuple[str, str]] = frozenset()
    """What was taken back and not said again: `project` or `own`, and the path."""


def replay(found: VerifiedLog, events: Iterable[AuditRecord]) -> LoggedDecisions:
    """Make the decisions again, from the events that noted them down, oldest first."""
    rows: list[DecisionRow] = []
    projects: dict[str, TrustedProject] = {}
    own: dict[str, OwnPlace] = {}
    withdrawn: dict[tuple[str, str], bool] = {}
    decided = False
    for event in events:
        what, outcome, details = event["event"], event["outcome"], event["details"]
        path, by = str(details.get("path", "")), str(details.get("by", ""))
        at = str(details.get("at") or event["ts"][:19] + "Z")
        if _SPOKEN.get(what, "") == outcome:
            rows.append(DecisionRow(_said_in(event, outcome, at), path))
        elif what in {"trust_project", "own", "disown"} and outcome != "failed":
            known: dict[str, Any] = projects if what == "trust_project" else own
            known.pop(path, None)
            again = what != "disown" and outcome not in _WITHDRAWN
            withdrawn["project" if what == "trust_project" else "own", path] = not again
            if again and path.startswith("/"):
                known[path] = (
                    TrustedProject(path, at, by)
                    if what == "trust_project"
                    else OwnPlace(path, at, by, details.get("recorded") is True)
                )
        else:
            continue
        decided = True
    state = Decisions(tuple(rows), tuple(projects.values()), tuple(own.values()))
    fault = "" if found.ok else found.reason or "it is not as it was written"
    gone = frozenset(place for place, back in withdrawn.items() if back)
    return LoggedDecisions(state, decided, fault, gone)


def _said_in(event: AuditRecord, outcome: str, at: str) -> Approval:
    details = event["details"]
    level = details.get("level")
    least = outcome if outcome != "approved" else "community"
    return Approval(
        name=event["name"] or "?",
        digest=event["digest"],
        state=cast("Any", outcome),
        level=cast("Any", level if outcome == "approved" and level in LEVELS else least),
        at=at,
        by=str(details.get("by", "")),
        reason=str(details.get("reason", "")),
        accept_dangerous=details.get("accept_dangerous") is True,
        # What an older log does not say is taken for the weaker of the two.
        installed=details.get("installed", level == "community") is True,
    )


class TrustFiles(NamedTuple):
    """The two files and what they come to together."""

    state: Decisions
    sequence: int
    main: TrustRecord
    copy: TrustRecord
    log: LoggedDecisions | None = None
    """What the log said, where it had to be asked."""
    fresh: bool = False
    """Whether there is no file yet, and nothing was ever decided."""
    old: bool = False
    """Whether what counts is a file without a checksum, which has to be written in the new form."""


def weigh_files(main: bytes, copy: bytes, ask_log: Callable[[], LoggedDecisions]) -> TrustFiles:
    """Say what counts, from the bytes of both files: empty ones where there is no file."""
    first = read_record(main) if main else TrustRecord(Decisions(broken=MISSING))
    second = read_record(copy) if copy else TrustRecord(Decisions(broken=MISSING))
    highest = max(first.sequence, second.sequence)
    log = None
    if not first.state.broken:
        newer = not second.state.broken and second.sequence > first.sequence
        state = second.state if newer else first.state
        if first.sequence and not newer and main != copy:
            state = state._replace(note=_about_copy(second))
        old = not newer and not first.sequence
        log = ask_log() if old else None
        denied = log is not None and _denies(log, state)
        if not denied:
            return TrustFiles(state, highest, first, second, log, old=old)
        held = tuple(row for row in state.rows if row.approval.state != "approved")
        first = TrustRecord(Decisions(held, broken=DENIED))
    log = log or ask_log()
    if not (main or copy or log.any or log.fault):
        return TrustFiles(Decisions(), 0, first, second, log, fresh=True)
    known = second.state if not second.state.broken else Decisions()
    rows = tuple(
        row
        for row in (*first.state.rows, *known.rows, *log.state.rows)
        if row.approval.state != "approved"
    )
    state = Decisions(
        rows,
        broken=first.state.broken,
        # A log without any decision is younger than they are: something was written down, after all.
        all_blocked=bool(second.state.broken and (log.fault or not log.any)),
    )
    return TrustFiles(state, highest, first, second, log)


def _denies(log: LoggedDecisions, state: Decisions) -> bool:
    """Tell whether the log speaks against a record that has no checksum: it knows of a block that is
    not there, or it is whole and knows nothing of something that is trusted.
    """
    said, noted = _last_words(state), _last_words(log.state)
    if any(
        spoken != "approved" and said.get(key, ("", ""))[0] != spoken
        for key, (spoken, _path) in noted.items()
    ):
        return True
    if log.fault or not log.any:
        return False  # such a log cannot tell what was never said
    places = {(row.approval.name, row.approval.digest, row.path) for row in log.state.rows}
    approved = {
        (row.approval.name, row.approval.digest)
        for row in log.state.rows
        if row.approval.state == "approved"
    }
    return (
        any(key not in approved for key, (spoken, _) in said.items() if spoken == "approved")
        or any(
            places.isdisjoint({(*key, path), (*key, "")})  # an old log may not say where it lay
            for key, (_, path) in said.items()
            if key in noted
        )
        or not {one.path for one in state.projects} <= {one.path for one in log.state.projects}
        or not {one.path for one in state.own} <= {one.path for one in log.state.own}
    )


def _last_words(state: Decisions) -> dict[tuple[str, str], tuple[str, str]]:
    """Give what was said last of each name and its bytes, and where they lay."""
    return {
        (row.approval.name, row.approval.digest): (row.approval.state, row.path)
        for row in state.rows
    }


def _about_copy(second: TrustRecord) -> str:
    fault = second.state.broken.removeprefix("the record of your decisions ") or "is out of date"
    return f"the second copy of your decisions {fault}"


class RepairPlan(NamedTuple):
    """How the record of decisions is put right."""

    broken: str
    """What is wrong; nothing when there is nothing to repair."""
    source: str = ""
    """What it is rebuilt from: `record`, `copy`, `log`, or `nothing`."""
    state: Decisions = Decisions()
    """What will count again."""
    sequence: int = 0
    notes: Texts = ()
    """What is not restored, and why."""


def plan_repair(files: TrustFiles, log: LoggedDecisions) -> RepairPlan:
    """Say what can be restored: from the second file, else from the audit log."""
    state, sequence = files.state, files.sequence + 1
    if not state.broken:
        return RepairPlan(state.note, "record", state._replace(note=""), sequence)
    if not files.copy.state.broken:
        return _plan_from_copy(state.broken, files.copy.state, log, sequence)
    noted = {(row.approval.name, row.approval.digest) for row in log.state.rows}
    # What a record without a checksum holds, and the log knows nothing of, is not let go.
    unnoted = tuple(
        row
        for row in state.rows
        if row.approval.state != "approved"
        and (row.approval.name, row.approval.digest) not in noted
    )
    if log.any and not log.fault:
        rows = (*unnoted, *log.state.rows)
        return RepairPlan(state.broken, "log", log.state._replace(rows=rows), sequence)
    held = (*unnoted, *(row for row in log.state.rows if row.approval.state != "approved"))
    if not log.fault:
        note = (
            "there is no good second copy and no decision in the audit log, so no decision can be "
            "restored"
        )
    else:
        left = (
            "only blocks and quarantines are restored from it; approve again what you need"
            if held
            else "no decision can be restored from it"
        )
        note = f"the audit log is damaged ({log.fault}), so {left}"
    return RepairPlan(
        state.broken, "log" if held else "nothing", Decisions(held), sequence, (note,)
    )


def _plan_from_copy(
    broken: str, copied: Decisions, log: LoggedDecisions, sequence: int
) -> RepairPlan:
    """Restore the copy, but for what the log says was taken back: the copy's last writing may have
    failed.
    """
    projects = tuple(one for one in copied.projects if ("project", one.path) not in log.withdrawn)
    own = tuple(one for one in copied.own if ("own", one.path) not in log.withdrawn)
    gone = [one.path for one in copied.projects if one not in projects]
    gone += [one.path for one in copied.own if one not in own]
    rows = (*copied.rows, *_holds_since(copied, log.state.rows))
    return RepairPlan(
        broken,
        "copy",
        copied._replace(rows=rows, projects=projects, own=own),
        sequence,
        tuple(f"{path} is not restored: you took that back later" for path in gone),
    )


def _holds_since(state: Decisions, logged: Sequence[DecisionRow]) -> tuple[DecisionRow, ...]:
    """Give the blocks and quarantines of the log that a copy has not: its last writing may have
    failed.
    """
    last = {(row.approval.name, row.approval.digest): row.approval for row in state.rows}
    newest = {(row.approval.name, row.approval.digest): row for row in logged}
    return tuple(
        row
        for key, row in newest.items()
        if row.approval.state != "approved"
        and (key not in last or last[key].state != row.approval.state)
        and (key not in last or last[key].at <= row.approval.at)
    )


def hold_back(decision: Decision, state: Decisions, path: str, real: str = "") -> Decision:
    """Take back whatever rests on a damaged record: what was ever blocked is blocked, whatever
    anybody consents to, and the rest asks.
    """
    if not state.broken:
        return decision
    barred = state.barred(decision.name, path, decision.digest, real)
    if barred:
        unsaid = state.all_blocked  # nobody blocked it; but nobody can tell
        return decision._replace(
            state="blocked",
            level=decision.level if unsaid else "blocked",
            install=stricter(decision.install, "ask" if unsaid else "block"),
            load="block",
            run="block",
            reasons=(state.doubt, barred, *decision.reasons),
        )
    return decision._replace(
        state="ask" if decision.state == "visible" else decision.state,
        install=stricter(decision.install, "ask"),
        load=stricter(decision.load, "ask"),
        run=stricter(decision.run, "ask"),
        reasons=(state.doubt, *decision.reasons),
    )


def rests_on_damage(decision: Decision) -> bool:
    """Tell whether a skill is held back since the record is damaged: nobody can approve it then."""
    return bool(decision.reasons) and decision.reasons[0].endswith(REPAIR)


def way_to_unblock(decision: Decision, name: str) -> str:
    """Give the command that comes first for whoever wants to use a blocked skill."""
    return REPAIR if rests_on_damage(decision) else f"metier trust unblock {name}"


# --- what a listing asks


LAST_DAY = "9999-12-31"
"""A listing has no clock: what the file says was said. Loading holds each decision against the
day."""


def read_said(
    main: bytes, copy: bytes = b"", ask_log: Callable[[], LoggedDecisions] = LoggedDecisions
) -> Said:
    """Give what the files of decisions say, ready to be asked."""
    return said_by(weigh_files(main, copy, ask_log).state)


def said_by(state: Decisions) -> Said:
    """Give what decisions say, ready to be asked."""
    projects = frozenset(project.path for project in state.projects)
    if not state.rows and not state.own:
        return Said(projects, broken=state.doubt, all_blocked=state.all_blocked, decided=state)
    names = frozenset(folded(row.approval.name) for row in state.rows)
    paths = frozenset(row.path for row in state.rows if row.path)
    return Said(
        projects,
        names,
        paths,
        folded,
        partial(_state_of, state, DecisionIndex(state.rows)),
        own=frozenset(place.path for place in state.own),
        digests=frozenset(
            row.approval.digest for row in state.rows if row.approval.state != "approved"
        ),
        broken=state.doubt,
        all_blocked=state.all_blocked,
        decided=state,
    )


def _state_of(
    state: Decisions,
    index: DecisionIndex,
    root: Root,
    entry: Entry,
    digest: Digest | None,
    _judged: Judged | None,
) -> tuple[Shown, Texts]:
    scope = "project" if root.project else root.scope
    provenance = Provenance(
        scope=scope,
        project=root.project,
        project_trusted=state.trusts(root.project),
        own="place" if state.owns(entry.real or entry.path) else "",
        edited_from=index.installed_at(entry.name, entry.path, entry.real or entry.path),
    )
    approvals = index.about(entry.name, entry.path, digest, entry.real)
    decision = decide(
        None, provenance, TrustPolicy(), approvals, LAST_DAY, name=entry.name, digest=digest
    )
    decision = hold_back(decision, state, entry.path, entry.real)
    # The level and the scan matter when it is loaded; here only what people have said does.
    reasons = [
        reason for reason in decision.reasons if not reason.startswith(("level ", "not scanned"))
    ]
    return decision.state, tuple(reasons)
