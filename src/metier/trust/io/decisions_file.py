"""The decisions on disk: `trust.json` and its copy below METIER_HOME, for their owner alone.

Every change reads, changes and writes under one lock. Both new files are on the disk before the
first of two renames, so that many processes lose nothing of each other's and a reader sees the old
or the new. A record that cannot be read is never replaced: `metier trust repair` moves it aside.
"""

from __future__ import annotations

import os
import stat
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.audit.io import AuditLog, account_name
from metier.discover.io.machine import (
    AUDIT_FOLDER,
    DECISIONS as STATE_FILE,
    DECISIONS_COPY as COPY_FILE,
    decision_bytes,
)
from metier.errors import IntegrityError, MetierError, StoreError
from metier.store.io import safe_files
from metier.trust.decision_records import (
    MAX_STATE_BYTES,
    NOTED,
    REPAIR,
    Decisions,
    LoggedDecisions,
    RepairPlan,
    TrustFiles,
    plan_repair,
    replay,
    state_bytes,
    weigh_files,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from metier.context import Context
    from metier.model import Texts
    from metier.trust.model import Said

__all__ = ["COPY_FILE", "STATE_FILE"]

LOCK_FILE = "trust.lock"
WAIT_SECONDS = 30.0
LONG_LOG_BYTES = 16 * 1024
"""How long a log may be that is asked again and again whether anything was ever decided."""
DAMAGED = ".damaged"
"""What the name of a file ends with that a repair has moved aside."""
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)


def now() -> str:
    """Give this moment, in ISO form, UTC."""
    return time.strftime(
        "%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time())
    )  # by itself it asks a clock that lags


def person_of(context: Context) -> str:
    """Name the person who decides."""
    return context.env.get("USER") or context.env.get("LOGNAME") or account_name()


def read_decisions(folder: str | None) -> Decisions:
    """Give the decisions; none when there is no record yet, and a broken state when it cannot be
    used.
    """
    if folder is None:
        return Decisions()
    found = read_files(folder)
    if (found.fresh or found.old) and _log_bytes(folder) > LONG_LOG_BYTES:
        begin_record(folder, None)  # or each reader would ask a log that grows with every load
    return found.state


def _log_bytes(folder: str) -> int:
    try:
        with os.scandir(f"{folder}/{AUDIT_FOLDER}") as entries:
            return sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
    except OSError:
        return 0


def read_files(folder: str) -> TrustFiles:
    """Read both files, and the audit log where they cannot tell."""
    # The copy first: it is written last, so one that is there has a first file beside it.
    copy = decision_bytes(f"{folder}/{COPY_FILE}")
    main = decision_bytes(f"{folder}/{STATE_FILE}")
    return weigh_files(main, copy, lambda: read_log(folder))


def read_log(folder: str | None) -> LoggedDecisions:
    """Give what the audit log knows of decisions."""
    if folder is None or not os.path.isdir(f"{folder}/{AUDIT_FOLDER}"):
        had_log = folder is not None and os.path.lexists(f"{folder}/{AUDIT_FOLDER}.key")
        return LoggedDecisions(fault="it is missing" if had_log else "")
    return replay(*AuditLog(f"{folder}/{AUDIT_FOLDER}").replay(*NOTED))


def change_decisions(
    folder: str | None, home: str | None, edit: Callable[[Decisions], Decisions]
) -> Decisions:
    """Change the decisions, alone: what others have decided meanwhile is there when `edit` is
    called.
    """
    if folder is None:
        raise StoreError("there is no place to keep decisions", hint="set METIER_HOME or HOME")
    path = f"{folder}/{STATE_FILE}"
    with writing(path), _alone(folder, home):
        files = read_files(folder)
        if files.state.broken:
            raise StoreError(
                f"{path}: {files.state.broken}; it is left as it is",
                hint=f"put it right first: {REPAIR}",
            )
        state = edit(files.state._replace(note=""))
        return state._replace(note=_put(folder, state, files.sequence + 1))


def begin_record(folder: str | None, home: str | None) -> None:
    """Write down that nothing was decided yet, or in the new form what an older version wrote, so
    that the audit log need not be asked again. Never raises: the next time is early enough.
    """
    with suppress(OSError, MetierError):
        if folder is not None:
            with _alone(folder, home, 0.0):
                found = read_files(folder)
                if found.fresh or found.old:
                    _put(folder, found.state, found.sequence + 1)


def look_at_damage(folder: str | None) -> RepairPlan:
    """Say what is wrong with the record of decisions, and what a repair restores."""
    if folder is None:
        return RepairPlan("")
    files = read_files(folder)
    return plan_repair(files, files.log or read_log(folder))


def repair_files(folder: str, home: str | None, plan: RepairPlan) -> list[str]:
    """Put the record right as planned, as long as nothing is read differently now; give the paths
    under which what was there before is kept.
    """
    main, copy = f"{folder}/{STATE_FILE}", f"{folder}/{COPY_FILE}"
    kept: list[str] = []
    with writing(main), _alone(folder, home):
        if look_at_damage(folder) != plan:
            raise IntegrityError(
                "your decisions changed while they were looked at; nothing was repaired",
                hint=f"look again: {REPAIR}",
            )
        data = state_bytes(plan.state, plan.sequence)
        # The copy first: whoever is stopped after it leaves a record that is still damaged, with a
        # good copy of it.
        if plan.source != "copy":
            kept += _move_aside(copy)
        safe_files.replace_file(copy, data)
        if plan.source != "record":
            kept += _move_aside(main)
        safe_files.replace_file(main, data)
        _sync(folder)
    return kept


def _move_aside(path: str) -> list[str]:
    if not os.path.lexists(path):
        return []
    number = 1
    aside = f"{path}{DAMAGED}"
    while os.path.lexists(aside):
        number += 1
        aside = f"{path}{DAMAGED}.{number}"
    os.rename(path, aside)
    return [aside]


@contextmanager
def _alone(folder: str, home: str | None, wait: float | None = None) -> Iterator[None]:
    safe_files.make_folder(folder, home)
    with safe_files.hold_lock(f"{folder}/{LOCK_FILE}", WAIT_SECONDS if wait is None else wait):
        yield


def _put(folder: str, state: Decisions, sequence: int) -> str:
    """Put both files in place, the first one first. Say what went wrong with the second: the
    decision stands without it.
    """
    data = state_bytes(state, sequence)
    if len(data) > MAX_STATE_BYTES:
        raise StoreError(
            f"there is no room for more decisions in {folder}/{STATE_FILE}",
            hint=f"it may have {MAX_STATE_BYTES:,} bytes",
        )
    _sweep(folder)
    copy = f"{folder}/{COPY_FILE}"
    staged = safe_files.stage_file(copy, data)
    try:
        safe_files.replace_file(f"{folder}/{STATE_FILE}", data)
    except BaseException:
        with suppress(OSError):
            os.unlink(staged)
        raise
    try:
        os.replace(staged, copy)
    except OSError as error:
        with suppress(OSError):
            os.unlink(staged)
        return f"the second copy of your decisions cannot be written ({error.strerror or error})"
    _sync(folder)
    return ""


def _sweep(folder: str) -> None:
    """Remove what a process that was stopped here has left."""
    for name in os.listdir(folder):
        if name.endswith(".tmp") and name.startswith((f"{STATE_FILE}.", f"{COPY_FILE}.")):
            with suppress(OSError):
                os.unlink(f"{folder}/{name}")


def _sync(folder: str) -> None:
    """Bring the renames to the disk, where the system can."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Say of whatever the system refuses meanwhile that this path cannot be written."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror or error}",
            hint="check METIER_HOME and its permissions",
        ) from error


def read_plain(path: str, most: int) -> bytes | None:
    """Read a plain file whole, never through a link; nothing where there is none."""
    try:
        file = os.open(path, _FLAGS)
    except FileNotFoundError:
        return None
    try:
        found = os.fstat(file)
        if found.st_size > most:
            raise OSError(22, f"it has more than {most:,} bytes")
        if not stat.S_ISREG(found.st_mode):
            raise OSError(22, "it is not a plain file")
        data = b""
        while block := os.read(file, 1 << 20):
            data += block
    finally:
        os.close(file)
    return data


# --- damaged decisions


class TrustRepair(NamedTuple):
    """What is wrong with the stored decisions, and what a repair restores or has restored."""

    damage: str
    """Nothing when there is nothing to repair."""
    repaired: bool = False
    source: str = ""
    """What it is restored from: `copy`, `log`, `record` (only the second copy is damaged) or
    `nothing`."""
    approved: Texts = ()
    quarantined: Texts = ()
    blocked: Texts = ()
    projects: Texts = ()
    own: Texts = ()
    notes: Texts = ()
    """What is not restored, and why."""
    kept: Texts = ()
    """Where what was there before is kept."""


def repair_trust(
    context: Context, *, dry_run: bool = False, expected: TrustRepair | None = None
) -> TrustRepair:
    """Restore damaged decisions from their second copy, or else from the audit log; with `dry_run`,
    say what that would do. With `expected`, what a person was shown, nothing else is restored.
    """
    plan = look_at_damage(context.data)
    found = _repair_of(plan)
    if expected not in {None, found}:
        raise IntegrityError(
            "your decisions changed while you looked at them; nothing was repaired",
            hint=f"look again: {REPAIR}",
        )
    if dry_run or not found.damage or not context.data:
        return found
    kept = repair_files(context.data, context.home, plan)
    done = found._replace(repaired=True, kept=tuple(kept))
    log.record(
        context,
        "repair",
        "done",
        reason=done.damage,
        asked=done.source,
        count=len(plan.state.rows),
        kept=kept,
        by=person_of(context),
    )
    context.warnings[:] = [text for text in context.warnings if not text.endswith(REPAIR)]
    context.catalogue.reload()
    return done


def _repair_of(plan: RepairPlan) -> TrustRepair:
    if not plan.broken:
        return TrustRepair("")
    latest = {(row.approval.name, row.approval.digest): row.approval for row in plan.state.rows}

    def names(state: Said) -> Texts:
        return tuple(sorted({one.name for one in latest.values() if one.state == state}))

    return TrustRepair(
        damage=plan.broken,
        source=plan.source,
        approved=names("approved"),
        quarantined=names("quarantined"),
        blocked=names("blocked"),
        projects=tuple(project.path for project in plan.state.projects),
        own=tuple(place.path for place in plan.state.own),
        notes=plan.notes,
    )
