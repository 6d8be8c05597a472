"""`metier usage`."""

from __future__ import annotations

from metier.cli.argv import CommandRow, Option, Values
from metier.cli.main import library
from metier.cli.output import answer, counted, style, table, warn
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.model import Texts
    from metier.usage.report import Alike, Costly, Idle, Usage, Used

DEFAULT_DAYS = 30
MAX_ROWS_SHOWN = 20
"""Rows of each table; --json has all of them."""
NOTHING_YET = """Nothing has been counted yet.

next: metier show NAME, and later look again
"""


def run(values: Values) -> None:
    """Show what is used, dead, costly and there twice."""
    from metier.usage.counter import MAX_DAYS

    days = values.number("days", MAX_DAYS) or DEFAULT_DAYS
    with library(values) as m:
        found = m.usage(days=days)
    answer(values, found, _text)
    warn((*m.context.warnings, *(() if values.json else found.notes)))


def _text(found: Usage) -> str:
    days = "a day" if found.days == 1 else f"{found.days:,} days"
    since = (
        f"\n{counted(found.tokens, 'token')} disclosed since {found.since[:10]}; kept on this machine "
        f"alone\n"
        if found.since
        else ""
    )
    return "".join(
        (
            _used(found.skills) or NOTHING_YET,
            since,
            _idle(found.dead, f"dead: not used for {days}"),
            _idle(found.unused, f"not used yet, and known for less than {days}"),
            _costly(found.costly),
            _duplicates(found.duplicates),
        )
    )


def _table(title: str, rows: Sequence[Texts], heads: Texts) -> str:
    """Give the first rows below their title, and how many more there are."""
    if not rows:
        return ""
    rest = len(rows) - MAX_ROWS_SHOWN
    more = f"and {rest:,} more\n" if rest > 0 else ""
    head = f"\n{style(title, 'bold')}\n" if title else ""
    listed = table(
        rows[:MAX_ROWS_SHOWN], heads, whole=("NAME", "AND", "LAST USED"), below=heads[-1]
    )
    return f"{head}{listed}{more}"


def _used(skills: list[Used]) -> str:
    rows = [
        (
            one.name,
            str(one.views),
            str(one.loads),
            str(one.runs),
            str(one.failures),
            f"{one.tokens:,}",
            one.last_used[:10],
            one.path if one.state == "visible" else f"({one.state}) {one.path}",
        )
        for one in skills
    ]
    return _table(
        "", rows, ("NAME", "VIEWS", "LOADS", "RUNS", "FAILED", "TOKENS", "LAST USED", "PATH")
    )


def _idle(skills: list[Idle], title: str) -> str:
    if not skills:
        return ""
    rows = [(one.name, str(one.tokens), one.last_used[:10] or "never", one.path) for one in skills]
    cost = sum(one.tokens for one in skills)
    return (
        f"{_table(title, rows, ('NAME', 'CARD TOKENS', 'LAST USED', 'PATH'))}together {cost:,} "
        f"tokens of every catalogue; hide one with: metier disable NAME\n"
    )


def _costly(skills: list[Costly]) -> str:
    rows = [
        (one.name, f"{one.tokens:,}", f"{one.share:.0%}", f"{one.per_use:,}", one.path)
        for one in skills
    ]
    return _table("costly", rows, ("NAME", "TOKENS", "SHARE", "PER USE", "PATH"))


def _duplicates(pairs: list[Alike]) -> str:
    rows = [(f"{one.similarity:.0%}", one.first, one.second, one.second_path) for one in pairs]
    return _table("nearly the same", rows, ("ALIKE", "NAME", "AND", "PATH OF THE SECOND"))


ROWS = (
    CommandRow(
        "usage",
        options=(
            Option("--days", "what was not used for so long counts as dead (default: 30)", "N"),
        ),
        examples={
            "metier usage": (
                "counts kept on this machine alone; 'usage = false' in the configuration stops them"
            )
        },
        paged=True,
        run=run,
    ),
)
