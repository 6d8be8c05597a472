"""`metier status`: where you stand, in a few lines; `metier doctor` has all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.cli.argv import CommandRow, Values
from metier.cli.consent import waiting_for_trust
from metier.cli.main import opened
from metier.cli.output import answer, bold, clean, columns, counted, counts_text, lines, style
from metier.doctor.advice import Advice, advise

if TYPE_CHECKING:
    from metier.doctor.examine import DoctorReport


class Status(NamedTuple):
    """What a person asks first: who is here, with how many skills, and what is to be done."""

    report: DoctorReport
    trusted: bool
    """Whether the project is trusted."""
    installed: list[str]
    """The names in the locks of the project and of the user."""
    candidates: int
    """How many updates and drafts wait for a person."""
    attention: list[Advice]


def run(values: Values) -> None:
    """Show where you stand."""
    with opened(values) as m:
        report = m.doctor()
        unread = report.installing.trouble
        waiting = waiting_for_trust(m)
        trust = [Advice("trust", waiting, "metier trust project .")] if waiting else []
        status = Status(
            report,
            trusted=m.is_project_trusted(),
            installed=list(report.installing.skills),
            candidates=0 if unread else len(m.candidates()),
            attention=[*trust, *advise(report)],
        )
    document = report._asdict() | status._asdict()
    del document["report"]  # its fields are there
    answer(values, status, _text, document)


def _text(status: Status) -> str:
    report = status.report
    trusted = "trusted" if status.trusted else "not trusted"
    agents = ", ".join(f"{one.id} ({counted(one.skills, 'skill')})" for one in report.agents)
    states = counts_text(report.skills.states)
    unread = report.installing.trouble
    rows = [
        ("project", f"{report.project.folder} ({trusted})"),
        ("agents", agents or "none found on this machine"),
        ("skills", f"{report.skills.total:,}{': ' if states else ''}{states}"),
        ("installed", "unknown" if unread else f"{len(status.installed):,} by metier"),
    ]
    if status.candidates:
        rows.append(("review", f"{status.candidates:,} waiting for you: metier review"))
    listed = columns([(name, clean(value)) for name, value in rows])
    attention = (
        f"{style('Worth a look:', 'yellow')}\n{lines(one.text for one in status.attention)}"
        if status.attention
        else f"{style('Nothing needs attention.', 'green')}\n"
    )
    return f"{bold(f'metier {report.version}')}\n{listed}\n{attention}\nnext: metier doctor\n"


ROWS = (
    CommandRow(
        "status",
        examples={"metier status": "agents, skills, and what needs attention"},
        detail="metier doctor shows every folder, tool and setting behind it.",
        run=run,
    ),
)
