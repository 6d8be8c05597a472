"""`metier audit`."""

from __future__ import annotations

from metier.cli.argv import CommandRow, Option, Values, cannot
from metier.cli.main import library
from metier.cli.output import answer, counted, lines, moment, style, table
from metier.errors import UsageError
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.audit.chain import AuditRecord, VerifiedLog
    from metier.model import Texts

DEFAULT_EVENTS = 20
GOOD_OUTCOMES = frozenset({"ok", "allowed", "approved", "installed", "done", "kept"})
NOTHING_YET = """Nothing has been noted down yet.

next: metier show NAME and metier trust approve NAME each leave a line here
"""
KEY_WORDS = {
    "ok": "sealed with the key of this log",
    "missing": "there is no key: only the chain was checked",
    "bad": "not sealed with the key of this log",
}


def run(values: Values) -> int:
    """Show the last events, or say whether the log is as it was written."""
    verb = values.word if values.words else "tail"
    if verb not in {"tail", "verify"}:
        raise cannot("audit", verb, "tail", "verify")
    limit = _limit(values.optional("limit"))
    with library(values) as m:
        if verb == "tail":
            events = m.audit_tail(limit)
            answer(values, events, _events_text, {"events": events})
            return 0
        found = m.audit_verify()
    answer(values, found, _verified_text)
    return 0 if found.ok else 1


def _limit(given: str | None) -> int:
    if given is None:
        return DEFAULT_EVENTS
    if not given.isdecimal() or len(given) > 9:
        raise UsageError(f"--limit cannot be '{given}'", hint="give a number of events, such as 50")
    return int(given)


def _events_text(events: list[AuditRecord]) -> str:
    heads = ("WHEN", "WHO", "EVENT", "OUTCOME", "NAME", "DETAILS")
    styles = ["green" if event["outcome"] in GOOD_OUTCOMES else "yellow" for event in events]
    rows = [_row(event) for event in events]
    return table(rows, heads, styles, whole=("WHEN", "NAME"), below="DETAILS") or NOTHING_YET


def _row(event: AuditRecord) -> Texts:
    words = (event["who"], event["event"], event["outcome"], event["name"])
    details = "  ".join(f"{name}: {_words(value)}" for name, value in event["details"].items())
    return (moment(event["ts"]), *words, details)


def _words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _verified_text(found: VerifiedLog) -> str:
    verdict = style("as written", "green") if found.ok else style("not as written", "red")
    torn = (
        f"{counted(found.torn, 'half-written line')}, left by a process that was stopped\n"
        if found.torn
        else ""
    )
    return (
        f"{counted(found.events, 'event')}: {verdict}  ({KEY_WORDS[found.hmac_status]})\n{torn}"
        f"{lines([found.reason] if found.reason else (), '')}"
    )


ROWS = (
    CommandRow(
        "audit",
        operands="[tail|verify]",
        options=(Option("--limit", "show this many events (default: 20)", "N"),),
        examples={
            "metier audit tail": "the last decisions",
            "metier audit verify": "edits, deletions and cuts are shown with their place",
        },
        detail="Exit code 1 when the log is not as it was written.",
        paged=True,
        run=run,
    ),
)
