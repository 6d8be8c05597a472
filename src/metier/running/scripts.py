"""`run`: from a name and a script to its output, through every gate, in the sandbox, noted down. The job on one page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from metier import counting, preparing, recording
from metier.disclose.tokens import estimate
from metier.errors import IntegrityError, MetierError, RefusedError, SandboxError, UsageError
from metier.execute import output
from metier.running import cages, planning, refusals
from metier.runs import REFUSED, Lent, Ran, never
from metier.trust.decide import usable
from metier.vetting.cases import case_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.app import Library
    from metier.model import Card
    from metier.ports import Sandbox
    from metier.running.planning import Planned
    from metier.runs import Cage, Ended


class Wish(NamedTuple):
    """How a run is wanted."""

    consent: bool = False
    """A person's yes to this very run, where policy asks for one."""
    install: bool = False
    """A person's yes to installing what the script declares."""
    lent: Lent = planning.NOTHING
    unsandboxed: bool = False
    shown: str = ""
    """The digest of what a person was shown before they said yes; nothing where they said it unasked."""
    door: str = ""
    """Who asks, for the audit log."""


class Ears(NamedTuple):
    """Who listens while it runs."""

    hear: Callable[[str, str], None] | None = None
    """Gets cleaned text as it comes: `out` or `err`, and the words."""
    raw: Callable[[str, bytes], None] | None = None
    """Gets the very bytes in the place of that: for output that is no text."""
    feed: Callable[[int], bytes] | None = None
    stopped: Callable[[], bool] = never


PLAIN, ALONE = Wish(), Ears()
INTERRUPTED, BROKEN_PIPE = 130, 141
"""What metier exits with after Ctrl-C, and when nobody reads its output any more."""


def run(
    library: Library, name: str, script: str = "", arguments: Sequence[str] = (), wish: Wish = PLAIN, ears: Ears = ALONE
) -> Ran:
    """Run a script of a skill to its end; whatever forbids it is an error, and nothing was run then."""
    card = library.resolve(name)
    try:
        cages.checked(arguments)
        box = box_for(library, wish)
        planned = planning.planned(library, card.path, chosen(library, card, script), arguments, wish.lent)
        digest = permitted(library, planned, consent=wish.consent)
        if wish.shown and wish.shown != digest:
            raise IntegrityError(f"'{card.name}' is not what was shown any more, so it was not run", code="changed",
                                 hint="look at it again")  # fmt: skip
        lending = cages.caged(library, planned, digest, consent=wish.install, bare=wish.unsandboxed)
        if ears.raw is not None and (lending.values or lending.words):
            raise UsageError("it is lent secrets, so its output is cleaned", hint="leave --raw out")
    except MetierError as error:
        refusals.note(library, card, error, wish.door, script=script)
        raise
    return carried_out(library, planned, digest, lending, box, wish, ears)


def chosen(library: Library, card: Card, script: str) -> str:
    """Give the script that is meant: the only one, where none is named."""
    if script or card.kind != "skill-md":
        return script
    found = planning.scripts_of(library, card)
    if len(found) == 1:
        return found[0]
    if not found:
        raise RefusedError(f"'{card.name}' has no script to run", code="no-script", hint=f"read it: metier show {card.name}")
    raise UsageError(f"'{card.name}' has {len(found)} scripts: {planning.listed(found)}",
                     hint=f"say which: metier run {card.name} {planning.quoted(found[0])}")  # fmt: skip


def box_for(library: Library, wish: Wish) -> Sandbox:
    """Give the sandbox, or what stands in its place where the user's configuration and this very call both say so."""
    if not wish.unsandboxed:
        return library.box()
    if not library.settings.run.allow_unsandboxed:
        raise RefusedError("nothing is run without a sandbox", code="unsandboxed",
                           hint="who must, sets run.allow_unsandboxed = true in their own configuration")  # fmt: skip
    from metier.execute.bare.proc import Unsandboxed

    return Unsandboxed()


def permitted(library: Library, planned: Planned, *, consent: bool) -> str:
    """Hold a plan against policy and against what was decided about these bytes; give their digest, or refuse."""
    plan, shown = planned.plan, f"'{planned.card.name}' may not run {planning.quoted(planned.plan.script)}"
    if not plan.allowed:
        against = [reason for reason in plan.reasons if reason != preparing.NEEDS_YES]
        raise _told(RefusedError(f"{shown}: {'; '.join(against)}", hint=planning.next_step(library, planned)), planned)
    if plan.asks and not consent:
        raise _told(RefusedError(f"{shown} before a person said yes to it", code="ask",
                                 hint=f"the user can look first: metier run {planned.card.name} --dry-run; then say --yes, or for "
                                      f"good: metier trust approve {planned.card.name}"), planned)  # fmt: skip
    case = case_of(library, planned.card)
    digest = case.verdict.digest
    if digest is None:
        raise RefusedError(f"{shown}: {preparing.UNREAD}", code="unread", hint=f"see: metier scan {planned.card.path}")
    usable(planned.card, digest, case.decision, "run", consent=consent)
    return digest


def _told(error: RefusedError, planned: Planned) -> RefusedError:
    error.details["reasons"] = list(planned.plan.reasons)
    return error


def carried_out(
    library: Library, planned: Planned, digest: str, lending: cages.Lending, box: Sandbox, wish: Wish, ears: Ears
) -> Ran:  # fmt: skip
    """Run what was laid out, clean what it prints, and note down what came of it."""
    card, plan = planned.card, planned.plan
    noted: dict[str, Any] = {"name": card.name, "digest": digest, "source": wish.door, "path": card.path, "script": plan.script,
             "policy": policy_of(lending.cage, sandboxed=not wish.unsandboxed)}  # fmt: skip
    if wish.unsandboxed:  # nothing may be left to note down how it ended, but that it began
        recording.record(library, "run", "started", **noted)
    listener, began = Listener(lending, ears), library.ports.clock_ns()
    try:
        ended = box.run(lending.cage, listener.hear, ears.feed, ears.stopped)
        printed = listener.finish()
    except BaseException as error:
        counting.note(library, card, "failure")
        recording.record(library, "run", "failed", **noted, **broken_off(library, error, began))
        if isinstance(error, SandboxError):
            error.hint = error.hint or "see: metier doctor"
        raise
    counting.note(library, card, "failure" if ended.code else "run", estimate(printed))
    recording.record(library, "run", _outcome(ended), **noted, exit_code=ended.code, seconds=round(ended.seconds, 3),
                     stopped=ended.stopped)  # fmt: skip
    return Ran(card.name, plan.script, ended.code, printed, ended.stopped, ended.seconds, ended.truncated, digest,
               sandboxed=not wish.unsandboxed)  # fmt: skip


def _outcome(ended: Ended) -> str:
    return "stopped" if ended.stopped else "failed" if ended.code else "done"


def broken_off(library: Library, error: BaseException, began: int) -> dict[str, Any]:
    """Say for the audit log what ended a run from outside, after how long, and what metier exits with for it."""
    return {"error": type(error).__name__, "exit_code": _exit_code(error), "seconds": elapsed(library, began)}


def elapsed(library: Library, began: int) -> float:
    """Give the seconds since a moment, as the audit log has them."""
    return round(max(0, library.ports.clock_ns() - began) / 1_000_000_000, 3)


def _exit_code(error: BaseException) -> int:
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    if isinstance(error, MetierError):
        return error.exit_code if type(error) is UsageError else REFUSED
    codes = ((KeyboardInterrupt, INTERRUPTED), (BrokenPipeError, BROKEN_PIPE))
    return next((code for kind, code in codes if isinstance(error, kind)), MetierError.exit_code)


def policy_of(cage: Cage, *, sandboxed: bool) -> dict[str, object]:
    """Give what a run was allowed, for the audit log: names, never values."""
    return {
        "sandboxed": sandboxed, "network": cage.network, "seconds": cage.bounds.seconds, "memory_bytes": cage.bounds.memory_bytes,
        "processes": cage.bounds.processes, "reads": [mount.source for mount in cage.mounts if not mount.writable],
        "writes": [mount.source for mount in cage.mounts if mount.writable], "files": [file.target for file in cage.files],
        "variables": [name for name, _value in cage.environment],
    }  # fmt: skip


class Listener:
    """Takes what a script prints: cleaned for whoever listens, and kept for the answer."""

    def __init__(self, lending: cages.Lending, ears: Ears) -> None:
        """Begin with nothing heard."""
        hidden = output.hidden(lending.values, lending.words)
        self._streams = {stream: output.Cleaner(hidden) for stream in ("out", "err")}
        self._ears = ears
        self._kept = bytearray()
        """As bytes: a list of what comes letter by letter would take fifty times the room."""

    def hear(self, stream: str, data: bytes) -> None:
        """Take the next bytes of a stream."""
        if self._ears.raw is not None:
            self._ears.raw(stream, data)
        else:
            self._say(stream, self._streams[stream].feed(data))

    def finish(self) -> str:
        """Say what was held back, and give all that was heard."""
        for stream, cleaner in self._streams.items():
            self._say(stream, cleaner.finish())
        return self._kept.decode()

    def _say(self, stream: str, text: str) -> None:
        if text:
            self._kept += text.encode("utf-8", "replace")
            if self._ears.hear is not None:
                self._ears.hear(stream, text)
