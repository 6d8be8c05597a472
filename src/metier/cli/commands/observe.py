"""`metier observe`."""

from __future__ import annotations

from metier.cli.argv import CommandRow, Option, Values
from metier.cli.commands.scan import LEVELS, shortened, wrapped
from metier.cli.main import opened
from metier.cli.output import clean, coloured, counted, say, tally, write_json
from metier.cli.terminal import width
from metier.errors import SandboxError
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.library import Library
    from metier.model import Finding
    from metier.run.observe.model import SkillObservation

MAX_FINDINGS_SHOWN = 8
MAX_TRIES_SHOWN = 6
SHOWN_SEVERITIES = ("critical", "high", "medium", "low")


def run(values: Values) -> int:
    """Observe skills; exit 1 when any is dangerous, 125 where nothing can be observed."""
    from metier.run.observe.service import MAX_SECONDS

    seconds = values.number("time", MAX_SECONDS)
    with opened(values) as m:
        try:
            found = m.observe_skills(
                values.words,
                script=values.text("script"),
                seconds=seconds or 20,
                skills=values.many("skill"),
            )
        except SandboxError as error:
            from metier.run.model import REFUSED

            error.exit_code = REFUSED
            raise
        if values.json:
            write_json(_document(found))
        else:
            _write_text(m, found, verbose=values.flag("verbose"))
    return 1 if any(one.level == "dangerous" for one in found) else 0


def _document(found: Sequence[SkillObservation]) -> dict[str, object]:
    from metier.run.observe.service import event_fields

    skills = [
        {
            "path": one.path,
            "name": one.name,
            "digest": one.digest,
            "level": one.level,
            "seconds": one.seconds,
            "findings": [finding._asdict() for finding in one.findings],
            "events": [event_fields(event) for event in one.events],
            "tried": list(one.tried),
            "not_tried": [left._asdict() for left in one.not_tried],
            "declared": list(one.declared),
            "seen": list(one.seen),
            "done": list(one.done),
        }
        for one in found
    ]
    return {"observed": len(found), "skills": skills}


def _write_text(m: Library, found: Sequence[SkillObservation], *, verbose: bool) -> None:
    order = sorted(found, key=lambda one: LEVELS.index(one.level))
    for one in order:
        if len(found) == 1 or one.level != "safe" or verbose:
            say(_skill_text(m, one, verbose=verbose))
    levels = [one.level for one in found]
    words = ", ".join(
        coloured(level, f"{levels.count(level):,} {level}") for level in LEVELS if level in levels
    )
    say(f"{counted(len(found), 'skill')} observed: {words}\n")


def _skill_text(m: Library, one: SkillObservation, *, verbose: bool) -> str:
    """Lay out what one skill did: the reason first, then each finding with its evidence."""
    columns = width()
    told = [finding for finding in one.findings if verbose or finding.severity in SHOWN_SEVERITIES]
    reason = f": {clean(told[0].evidence)}" if told and one.level != "safe" else ""
    first = wrapped(f"{one.level}{reason}", columns, "", "  ")
    path = clean(shortened(one.path, m.context.cwd, m.context.home))
    shown = "".join(_finding_text(each, columns) for each in told[:MAX_FINDINGS_SHOWN])
    rest = told[MAX_FINDINGS_SHOWN:]
    more = (
        f"… and {counted(len(rest), 'finding')} more: {tally(each.rule for each in rest)} "
        "(--json shows all)"
        if rest
        else ""
    )
    return (
        f"{first.replace(one.level, coloured(one.level), 1)}"
        f"  {path}  ({clean(one.name)}, {one.seconds:.1f} s)\n"
        f"{shown}{wrapped(more, columns, '  ', '    ')}"
        f"{_views_text(one, columns)}"
        f"{_tries_text(one, columns, verbose=verbose)}\n"
    )


def _finding_text(finding: Finding, columns: int) -> str:
    title, _, why = finding.why.partition(". ")
    start = f"  {finding.rule} {finding.severity} "
    head = wrapped(clean(title), columns, start, "    ")
    return head.replace(
        f"{finding.rule} {finding.severity}", f"{finding.rule} {coloured(finding.severity)}", 1
    ) + "".join(
        wrapped(label + clean(text), columns, "      ", " " * 12)
        for label, text in (("did:  ", finding.evidence), ("why:  ", why), ("hint: ", finding.hint))
        if text
    )


def _views_text(one: SkillObservation, columns: int) -> str:
    """Lay what it declares, what its text shows and what it did below each other."""
    from metier.run.observe.three_views import told_views

    rows = told_views(one.declared, one.seen, one.done)
    return "".join(
        wrapped(f"{label + ':':<13}{clean(told)}", columns, "  ", " " * 15) for label, told in rows
    )


def _tries_text(one: SkillObservation, columns: int, *, verbose: bool) -> str:
    """Say what was tried, and what was not: silence is not safety."""
    if not one.tried:
        return wrapped(
            "tried: nothing. It has no script or command that can be run here",
            columns,
            "  ",
            "    ",
        )
    shown = one.tried if verbose else one.tried[:MAX_TRIES_SHOWN]
    more = len(one.tried) - len(shown)
    tried = "; ".join(map(clean, shown)) + (f"; and {more} more" if more else "")
    text = wrapped(f"tried: {tried}", columns, "  ", "    ")
    left = [f"{clean(each.what)} ({clean(each.why)})" for each in one.not_tried]
    if left and not verbose:
        return text + wrapped(
            f"not tried: {counted(len(left), 'thing')} (--verbose lists them)",
            columns,
            "  ",
            "    ",
        )
    return text + "".join(wrapped(f"not tried: {each}", columns, "  ", "    ") for each in left)


ROWS = (
    CommandRow(
        "observe",
        operands="PATH|NAME|SOURCE...",
        options=(
            Option("--script", "try just this script", "SCRIPT"),
            Option(
                "--skill", "of a source, just this skill (may be repeated)", "NAME", repeat=True
            ),
            Option("--time", "seconds for each skill, 20 if you don't say", "SECONDS"),
            Option("--verbose", "show everything that was tried, and slight findings", short="-v"),
        ),
        examples={
            "metier observe ./some-skill": "run its scripts and commands among decoys",
            "metier observe ./some-skill --script scripts/sync.py": "just one script",
            "metier observe acme/skills --skill pdf": "before you add it",
        },
        detail="Runs what the skill would have an agent run, in the sandbox of 'metier run', with a "
        "made-up home full of decoy secrets and a made-up network. Nothing of yours is there, and "
        "nothing leaves the machine. Findings are kept and count like those of the scan. Exit code "
        "1 when any skill is dangerous, 125 where there is no sandbox.",
        paged=True,
        run=run,
    ),
)
