"""`metier audit`."""

from __future__ import annotations

from metier import cli
from metier.cli import output
from metier.errors import UsageError
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.app import Library
    from metier.audit.chain import Record
    from metier.audit.proof import Verified
    from metier.cli.argv import Values

SHOWN = 20
GOOD = frozenset({"ok", "allowed", "approved", "installed", "done", "kept"})
NOTHING_YET = """Nothing has been noted down yet.

next: metier show NAME and metier trust approve NAME each leave a line here
"""
KEYS = {
    "ok": "sealed with the key of this log",
    "missing": "there is no key: only the chain was checked",
    "bad": "not sealed with the key of this log",
}


def run(values: Values) -> int:
    """Show the last events, or say whether the log is as it was written."""
    operands = values["operands"]
    assert isinstance(operands, list)
    if operands[0] not in {"tail", "verify"}:
        raise UsageError(f"metier audit cannot '{operands[0]}'", hint="write metier audit tail, or metier audit verify")
    limit = _limit(cli.text_of(values["limit"]))
    with cli.library(values) as m:
        return _tail(m, limit, as_json=bool(values["json"])) if operands[0] == "tail" else _verify(m, as_json=bool(values["json"]))


def _limit(given: str | None) -> int:
    if given is None:
        return SHOWN
    if not given.isdecimal() or len(given) > 9:
        raise UsageError(f"--limit cannot be '{given}'", hint="give a number of events, such as 50")
    return int(given)


def _tail(m: Library, limit: int, *, as_json: bool) -> int:
    events = m.audit_tail(limit)
    if as_json:
        output.write(output.json_text({"events": events}) + "\n")
        return 0
    heads = ("WHEN", "WHO", "EVENT", "OUTCOME", "NAME", "DETAILS")
    styles = ["green" if event["outcome"] in GOOD else "yellow" for event in events]
    output.write(output.table([_row(event) for event in events], heads, styles) or NOTHING_YET)
    return 0


def _row(event: Record) -> tuple[str, ...]:
    words = (event["ts"][:19].replace("T", " "), event["who"], event["event"], event["outcome"], event["name"])
    details = "  ".join(f"{name}: {_words(value)}" for name, value in event["details"].items())
    return tuple(output.clean(word) for word in (*words, details))


def _words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _verify(m: Library, *, as_json: bool) -> int:
    found: Verified = m.audit_verify()
    if as_json:
        output.write(output.json_text(found._asdict()) + "\n")
        return 0 if found.ok else 1
    verdict = output.style("as written", "green") if found.ok else output.style("not as written", "red")
    output.write(f"{_counted(found.events, 'event')}: {verdict}  ({KEYS[found.hmac_status]})\n")
    if found.torn:
        output.write(f"{_counted(found.torn, 'half-written line')}, left by a process that was stopped\n")
    if found.reason:
        output.write(output.clean(found.reason) + "\n")
    return 0 if found.ok else 1
