"""`metier usage`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier import cli
from metier.cli import output
from metier.counting import MOST_DAYS
from metier.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.cli.argv import Values
    from metier.usage.alike import Alike
    from metier.usage.report import Costly, Idle, Usage, Used

DAYS = 30
SHOWN = 20
"""Rows of each table; --json has all of them."""
NOTHING_YET = """Nothing has been counted yet.

next: metier show NAME, and later look again
"""


def run(values: Values) -> int:
    """Show what is used, dead, costly and there twice."""
    days = _days(cli.text_of(values["days"]))
    library = cli.library(values)
    with library as m:
        found = m.usage(days=days)
    output.write(output.json_text(found) + "\n" if values["json"] else _text(found))
    for warning in (*library.warnings, *(() if values["json"] else found.notes)):
        output.note(f"warning: {warning}")
    return 0


def _days(text: str | None) -> int:
    if text is None:
        return DAYS
    if not (text.isascii() and text.isdigit()) or not 0 < int(text[:9]) <= MOST_DAYS or len(text) > 9:
        raise UsageError(f"--days cannot be '{text[:40]}'", hint=f"give a whole number from 1 to {MOST_DAYS:,}")
    return int(text)


def _text(found: Usage) -> str:
    parts = [_used(found.skills) or NOTHING_YET]
    if found.since:
        parts.append(f"\n{found.tokens:,} tokens disclosed since {found.since[:10]}; kept on this machine alone\n")
    parts.append(_idle(found.dead, f"dead: not used for {_days_of(found.days)}"))
    parts.append(_idle(found.unused, f"not used yet, and known for less than {_days_of(found.days)}"))
    parts += [_costly(found.costly), _duplicates(found.duplicates)]
    return "".join(parts)


def _days_of(days: int) -> str:
    return "a day" if days == 1 else f"{days:,} days"


def _table(title: str, rows: Sequence[tuple[str, ...]], heads: tuple[str, ...], after: str = "") -> str:
    if not rows:
        return ""
    more = f"and {len(rows) - SHOWN:,} more\n" if len(rows) > SHOWN else ""
    return ("\n" + output.style(title, "bold") + "\n" if title else "") + output.table(rows[:SHOWN], heads) + more + after


def _used(skills: Sequence[Used]) -> str:
    clean = output.clean
    rows = [
        (clean(one.name), str(one.views), str(one.loads), str(one.runs), str(one.failures), f"{one.tokens:,}", one.last_used[:10],
         clean(one.path) if one.state == "visible" else f"({one.state}) {clean(one.path)}")
        for one in skills
    ]  # fmt: skip
    return _table("", rows, ("NAME", "VIEWS", "LOADS", "RUNS", "FAILED", "TOKENS", "LAST USED", "PATH"))


def _idle(skills: Sequence[Idle], title: str) -> str:
    rows = [(output.clean(one.name), str(one.tokens), one.last_used[:10] or "never", output.clean(one.path)) for one in skills]
    cost = sum(one.tokens for one in skills)
    after = f"together {cost:,} tokens of every catalogue; hide one with: metier disable NAME\n"
    return _table(title, rows, ("NAME", "CARD TOKENS", "LAST USED", "PATH"), after)


def _costly(skills: Sequence[Costly]) -> str:
    clean = output.clean
    rows = [(clean(one.name), f"{one.tokens:,}", f"{one.share:.0%}", f"{one.per_use:,}", clean(one.path)) for one in skills]
    return _table("costly", rows, ("NAME", "TOKENS", "SHARE", "PER USE", "PATH"))


def _duplicates(pairs: Sequence[Alike]) -> str:
    clean = output.clean
    rows = [(f"{one.similarity:.0%}", clean(one.first), clean(one.second), clean(one.second_path)) for one in pairs]
    return _table("nearly the same", rows, ("ALIKE", "NAME", "AND", "PATH OF THE SECOND"))
