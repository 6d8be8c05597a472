"""`metier scan`."""

from __future__ import annotations

import os

from metier.cli.argv import CommandRow, Option, Values, contradiction
from metier.cli.main import opened, paths_or_all
from metier.cli.output import (
    SEVERITIES,
    clean,
    coloured,
    counted,
    notes,
    say,
    tally,
    write,
    write_json,
)
from metier.cli.terminal import width
from metier.fast import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from metier.library import Library
    from metier.model import Finding, Texts
    from metier.scan.report import CountedFinding
    from metier.scan.waive import Scanned

MAX_FINDINGS_PER_SKILL = 10
"""Findings of one skill that a text shows; the gravest come first."""
MAX_EVIDENCE_SHOWN = 3
"""How many different texts are shown of a finding that was counted."""
MAX_PLACES_SHOWN = 5
MAX_SLIGHT_SHOWN = 6
MAX_BRIEF_FINDINGS = 3
"""Findings of a skill that is not dangerous, where many skills are told of."""
MAX_SEEN_CHARS = 160
LEVELS = ("dangerous", "caution", "safe")


class SkillReport(NamedTuple):
    """What is told of one skill."""

    scanned: Scanned
    reason: str
    abilities: Texts
    findings: tuple[Finding, ...]
    """Those that are told one by one."""
    slight: tuple[Finding, ...]
    """Those that a text tells in one line."""


def run(values: Values) -> int:
    """Scan skills; exit 1 when any is dangerous."""
    form = values.optional("format")
    if values.json and form not in {None, "json"}:
        raise contradiction("--json", f"--format {form}")
    form = "json" if values.json else form or "text"
    least = values.optional("min_severity")
    if least is not None and values.flag("all"):
        raise contradiction("--all", "--min-severity")
    if values.flag("all"):
        least = SEVERITIES[-1]
    with opened(values) as m:
        paths = paths_or_all(values, m)
        if values.flag("observe"):
            m.observe_skills(paths)
        scanned = m.scan(
            paths,
            policy=values.optional("policy"),
            baseline=values.optional("baseline"),
            judge=not values.flag("no_judge"),
        )
        accepted = values.optional("write_baseline")
        count = m.write_baseline(accepted, scanned) if accepted is not None else 0
        reports = (_report(one, least, text=form == "text") for one in scanned)
        if form == "sarif":
            write_json(_sarif(m, list(reports)))
        elif form == "json":
            _write_json(len(scanned), scanned[0].ruleset if scanned else "", reports)
        else:
            is_brief = values.flag("summary")
            _write_text(list(reports), m.context.cwd, m.context.home, summary=is_brief)
            if accepted is not None:
                say(f"{counted(count, 'finding')} written to {clean(accepted)}\n")
        notes(_sent_notes(m))
    return 1 if any(one.level == "dangerous" for one in scanned) else 0


def _report(one: Scanned, least: str | None, *, text: bool) -> SkillReport:
    """Choose what is told of a skill. The reason is that of all findings, whatever is left out.

    Where nobody says how much to tell, a text tells slight findings in one line, and what a skill
    merely can do is no finding anywhere.
    """
    from metier.scan.report import abilities_of, is_mere_ability, is_weighty

    abilities = abilities_of(one.findings)
    told = one.findings
    slight: tuple[Finding, ...] = ()
    waived = one.waived
    if least is not None:
        wanted = SEVERITIES[: SEVERITIES.index(least) + 1]
        told = tuple(finding for finding in told if finding.severity in wanted)
        waived = tuple(waiver for waiver in waived if waiver.finding.severity in wanted)
    else:
        told = tuple(finding for finding in told if not is_mere_ability(finding))
        if text:
            slight = tuple(finding for finding in told if not is_weighty(finding))
            told = tuple(filter(is_weighty, told))
    return SkillReport(one._replace(waived=waived), one.reason, abilities, told, slight)


def _sent_notes(m: Library) -> list[str]:
    """Say what was sent to a judge of the user's own, and where."""
    use = m.context.judge_use
    if use is None:
        return []
    known = f"; {counted(use.remembered, 'answer')} known from before" if use.remembered else ""
    sent = f"{counted(use.passages, 'passage')} of {counted(use.skills, 'skill')}"
    return [f"sent {sent} to {clean(use.name)}{known} (scan.judge)"]


# --- JSON


def _write_json(count: int, ruleset: str, reports: Iterable[SkillReport]) -> None:
    """Write the document piece by piece: of a large library it is much longer than what it is made
    from.
    """
    import json

    encode = json.JSONEncoder(separators=(",", ":")).encode
    write(f'{{"ruleset":{encode(ruleset)},"scanned":{count},"skills":[')
    gap = ""
    for one in reports:
        write(gap + encode(_document(one)))
        gap = ",\n"
    write("]}\n")


def _document(report: SkillReport) -> dict[str, object]:
    from metier.scan.report import count_findings, counted_fields

    one = report.scanned
    document: dict[str, object] = {
        "path": one.path,
        "name": one.name,
        "digest": one.digest or None,
        "level": one.level,
        "score": one.score,
        "reason": report.reason,
        "capabilities": report.abilities,
        "findings": [counted_fields(found) for found in count_findings(report.findings)],
    }
    waived = [
        {**waiver.finding._asdict(), "reason": waiver.reason, "told_by": waiver.told_by}
        for waiver in one.waived
    ]
    return {**document, "waived": waived} if waived else document


# --- SARIF


def _sarif(m: Library, reports: Sequence[SkillReport]) -> dict[str, object]:
    from metier import __version__
    from metier.scan import report as sarif
    from metier.scan.ruleset import OBSERVED_RULES, RULES

    rules = {
        **RULES,
        **OBSERVED_RULES,
        **{rule.id: rule for analyzer in m.context.scan_analyzers() for rule in analyzer.rules},
    }
    subjects = [
        sarif.SarifSubject(
            path=one.path,
            single=not os.path.isdir(one.path),
            name=one.name,
            level=one.level,
            score=one.score,
            findings=report.findings,
            waived=[(waived.finding, waived.reason) for waived in one.waived],
        )
        for report in reports
        for one in (report.scanned,)
    ]
    scanned = [report.scanned for report in reports]
    inside = all(one.path.startswith(m.context.cwd.rstrip("/") + "/") for one in scanned)
    root = (
        m.context.cwd
        if inside
        else os.path.commonpath([os.path.dirname(one.path) for one in scanned])
    )
    return sarif.sarif_log(
        subjects, rules, root=root, version=__version__, ruleset=scanned[0].ruleset
    )


# --- text


def _write_text(
    reports: Sequence[SkillReport], cwd: str, home: str | None, *, summary: bool
) -> None:
    """Tell of each skill that is not safe, the worst first, and sum up."""
    columns = width()
    order = sorted(reports, key=lambda one: (LEVELS.index(one.scanned.level), -one.scanned.score))
    for one in order:
        path = shortened(one.scanned.path, cwd, home)
        if summary and one.scanned.level != "safe":
            say(f"{coloured(one.scanned.level)} {clean(path)}: {clean(one.reason)}\n")
        elif not summary and (one.scanned.level != "safe" or len(reports) == 1):
            say(skill_text(one, path, columns, brief=len(reports) > 1))
    levels = [one.scanned.level for one in reports]
    words = ", ".join(
        coloured(level, f"{levels.count(level):,} {level}") for level in LEVELS if level in levels
    )
    waived = sum(len(one.scanned.waived) for one in reports)
    aside = (
        f"; {counted(waived, 'finding')} set aside by waivers and the baseline" if waived else ""
    )
    say(f"{len(reports):,} scanned: {words}{aside}\n")
    if len(reports) > 1 and {*levels} > {"safe"}:
        say("metier scan PATH explains one skill; --all shows slight findings with their places\n")


def shortened(path: str, cwd: str, home: str | None) -> str:
    """Give a path as one would type it here."""
    if path == cwd:
        return "."
    for base, short in ((cwd, ""), (home, "~/")):
        start = f"{base}/".replace("//", "/")
        if base and path.startswith(start):
            return short + path[len(start) :]
    return path


def skill_text(report: SkillReport, path: str, columns: int, *, brief: bool = False) -> str:
    """Lay out what is told of one skill: the reason, which skill it is, what it can do, and what
    was found where. In `brief`, a finding that is not grave is one line and the evidence.
    """
    from metier.scan.report import count_findings

    one = report.scanned
    found = count_findings(report.findings)
    room = MAX_BRIEF_FINDINGS if brief and one.level != "dangerous" else MAX_FINDINGS_PER_SKILL
    rest = found[room:]
    rules = tally(each.finding.rule for each in rest)
    more = f"… and {counted(len(rest), 'finding')} more: {rules} (--json shows all)" if rest else ""
    joint = ", " if one.level == "safe" and one.waived else ": "
    reason = f"{joint}{clean(report.reason)}" if report.reason else ""
    first = wrapped(f"{one.level}{reason}", columns, "", "  ")
    can = f"can: {', '.join(report.abilities)}" if report.abilities else ""
    explained: set[str] = set()
    told = (_finding_text(each, one, columns, explained, brief=brief) for each in found[:room])
    return (
        f"{first.replace(one.level, coloured(one.level), 1)}"
        f"  {clean(path)}  ({clean(one.name)}, score {one.score} of 100)\n"
        f"{wrapped(can, columns, '  ', '    ')}{''.join(told)}"
        f"{wrapped(more, columns, '  ', '    ')}"
        f"{wrapped(_slight_text(report.slight), columns, '  ', '    ')}"
        f"{''.join(wrapped(clean(each), columns, '  set aside: ', '    ') for each in _set_aside(one))}\n"
    )


def _set_aside(one: Scanned) -> Iterable[str]:
    """Say what does not count, and why, each once."""
    from collections import Counter

    from metier.scan.report import place_of, times, title_of

    found = Counter(
        (
            place_of(waiver.finding) or one.path.rpartition("/")[2],
            waiver.finding.rule,
            title_of(waiver.finding),
            waiver.reason,
        )
        for waiver in one.waived
    )
    return (
        f"{place}: {rule} {title}{times(count)}: {reason}"
        for (place, rule, title, reason), count in found.items()
    )


def _slight_text(slight: Sequence[Finding]) -> str:
    """Tell slight findings in one line; what is no more than an example of something slight is not
    told.
    """
    from collections import Counter

    from metier.scan.report import ability_of, is_quoted, phrase_of, times

    found = Counter(
        clean(phrase_of(one))
        for one in slight
        if not ability_of(one) and not (one.severity == "info" and is_quoted(one))
    )
    named = [phrase + times(count) for phrase, count in found.items()]
    more = len(named) - MAX_SLIGHT_SHOWN
    rest = f" and {more} more" if more > 0 else ""
    return f"slight: {', '.join(named[:MAX_SLIGHT_SHOWN])}{rest}" if named else ""


def wrapped(text: str, columns: int, first: str, following: str, *, breaks: bool = False) -> str:
    """Lay a text out in the width of the terminal; a word that is longer stays whole, unless it
    `breaks`.
    """
    if not text:
        return ""
    if len(first) + len(text) <= columns:
        return f"{first}{text}\n"
    import textwrap

    return (
        textwrap.fill(
            text,
            max(columns, 40),
            initial_indent=first,
            subsequent_indent=following,
            break_long_words=breaks,
            break_on_hyphens=False,
        )
        + "\n"
    )


def _finding_text(
    found: CountedFinding, one: Scanned, columns: int, explained: set[str], *, brief: bool
) -> str:
    """Tell one finding, its place within the skill. Why it matters and what to do are said once for
    each rule: `explained` holds those that were.
    """
    from metier.scan.report import explanation_of, is_grave, times, title_of

    finding = found.finding
    seen = list(dict.fromkeys(each.evidence for each in found.places if each.evidence))
    details = [("seen: ", _cut(clean(text))) for text in seen[:MAX_EVIDENCE_SHOWN]]
    details.append(("also: ", clean(_other_places(found))))
    if finding.rule not in explained and (is_grave(finding) or not brief):
        explained.add(finding.rule)
        details += [("why:  ", clean(explanation_of(finding))), ("hint: ", clean(finding.hint))]
    at = f":{finding.line}:{finding.column}" if finding.line else ""
    path = finding.path if finding.path not in {"", "."} else one.path.rpartition("/")[2]
    start = f"  {clean(path)}{at}: {finding.rule} {finding.severity} "
    head = wrapped(f"{clean(title_of(finding))}{times(len(found.places))}", columns, start, "    ")
    return head.replace(
        f"{finding.rule} {finding.severity}", f"{finding.rule} {coloured(finding.severity)}", 1
    ) + "".join(
        wrapped(label + text, columns, "      ", " " * 12, breaks=label == "seen: ")
        for label, text in details
        if text
    )


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SEEN_CHARS else text[: MAX_SEEN_CHARS - 1] + "…"


def _other_places(found: CountedFinding) -> str:
    """Name where else it was found: lines of the same file by their number alone."""
    first, *others = found.places
    words = [
        f"line {each.line}" if each.path == first.path else f"{each.path}:{each.line}"
        for each in others
        if each.line
    ]
    more = len(words) - MAX_PLACES_SHOWN
    return ", ".join(words[:MAX_PLACES_SHOWN]) + (f" and {more} more" if more > 0 else "")


ROWS = (
    CommandRow(
        "scan",
        operands="[PATH...]",
        options=(
            Option("--format", "how to report", "FORMAT", choices=("text", "json", "sarif")),
            Option(
                "--policy",
                "what counts as dangerous: strict counts caution too, permissive takes caution "
                "for safe",
                "POLICY",
                choices=("strict", "balanced", "permissive"),
            ),
            Option("--baseline", "take the findings in this file as known and accepted", "FILE"),
            Option(
                "--write-baseline", "accept every finding of now: write them to this file", "FILE"
            ),
            Option("--all", "slight findings, and what a skill merely can do, with their places"),
            Option("--summary", "one line for each skill that is not safe, the worst first"),
            Option("--observe", "run each skill among decoys first (see metier observe)"),
            Option("--no-judge", "do not ask the model that scan.judge names"),
            Option(
                "--min-severity",
                "leave out findings below this; the level stays what it is",
                "SEVERITY",
                choices=SEVERITIES,
            ),
        ),
        examples={
            "metier scan": "all skills that you have",
            "metier scan ./some-skill": "one skill: its level, and what was found where",
            "metier scan --policy strict skills/": "everything below a folder, as a cautious team wants it",
            "metier scan --format sarif . > scan.sarif": "for a code host",
            "metier scan --write-baseline known.json .": "accept what is there; later: --baseline known.json",
        },
        detail="Nothing is run, and nothing is sent anywhere unless your configuration names a judge "
        "(scan.judge). Exit code 1 when any skill is dangerous.",
        paged=True,
        run=run,
    ),
)
