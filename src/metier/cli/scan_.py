"""`metier scan`."""

from __future__ import annotations

import os

from metier import cli
from metier.cli import output
from metier.disclose.wire import quoted  # type: ignore[attr-defined]
from metier.errors import UsageError
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from metier.app import Library
    from metier.cli.argv import Values
    from metier.model import Finding
    from metier.terms import Scanned

SHOWN = 10
"""Findings of one skill that a text shows; the gravest come first."""
SEVERITIES = ("critical", "high", "medium", "low", "info")
LEVELS = ("dangerous", "caution", "safe")


def run(values: Values) -> int:
    """Scan skills; exit 1 when any is dangerous."""
    paths = values["operands"]
    assert isinstance(paths, list)
    style = cli.text_of(values["format"])
    if values["json"] and style not in {None, "json"}:
        raise UsageError(f"--json and --format {style} contradict each other", hint="leave one of them out")
    library = cli.library(values)
    try:
        with library as m:
            scanned = m.scan(paths, policy=cli.text_of(values["policy"]), baseline=cli.text_of(values["baseline"]))
            accepted = cli.text_of(values["write_baseline"])
            count = m.write_baseline(accepted, scanned) if accepted is not None else 0
            shown = _grave_enough(scanned, cli.text_of(values["min_severity"]))
            if style == "sarif":
                output.write(output.json_text(_sarif(m, shown)) + "\n")
            elif style == "json" or values["json"]:
                _write_json(shown)
            else:
                _write_text(shown)
                if accepted is not None:
                    output.write(f"{_counted(count, 'finding')} written to {output.clean(accepted)}\n")
    finally:
        for warning in library.warnings:
            output.note(f"warning: {warning}")
    return 1 if any(one.level == "dangerous" for one in scanned) else 0


def _grave_enough(scanned: list[Scanned], least: str | None) -> list[Scanned]:
    if least is None or least == SEVERITIES[-1]:
        return scanned
    wanted = SEVERITIES[: SEVERITIES.index(least) + 1]
    return [
        one._replace(findings=tuple(finding for finding in one.findings if finding.severity in wanted),
                     waived=tuple(waived for waived in one.waived if waived.finding.severity in wanted))
        for one in scanned
    ]  # fmt: skip


# --- JSON


def _write_json(scanned: Sequence[Scanned]) -> None:
    """Write the document piece by piece: of a large library it is much longer than what it is made from."""
    ruleset = quoted(scanned[0].ruleset) if scanned else '""'
    output.write(f'{{"ruleset":{ruleset},"scanned":{len(scanned)},"skills":[')
    gap = ""
    for one in scanned:
        output.write(gap + _skill_json(one))
        gap = ",\n"
    output.write("]}\n")


def _skill_json(one: Scanned) -> str:
    digest = quoted(one.digest) if one.digest else "null"
    waived = ""
    if one.waived:
        rows = (f'{_finding_json(w.finding)[:-1]},"reason":{quoted(w.reason)},"told_by":{quoted(w.told_by)}}}' for w in one.waived)
        waived = f',"waived":[{",".join(rows)}]'
    return (f'{{"path":{quoted(one.path)},"name":{quoted(one.name)},"digest":{digest},"level":"{one.level}","score":{one.score},'
            f'"findings":[{",".join(map(_finding_json, one.findings))}]{waived}}}')  # fmt: skip


def _finding_json(finding: Finding) -> str:
    rule, severity, category, path, line, column, evidence, why, hint, mark = finding
    q = quoted
    return (f'{{"rule":{q(rule)},"severity":{q(severity)},"category":{q(category)},"path":{q(path)},"line":{line},'
            f'"column":{column},"evidence":{q(evidence)},"why":{q(why)},"hint":{q(hint)},"fingerprint":{q(mark)}}}')  # fmt: skip


# --- SARIF


def _sarif(m: Library, scanned: Sequence[Scanned]) -> dict[str, object]:
    from metier import __version__, configuration
    from metier.scan import sarif
    from metier.scan.ruleset import RULES

    rules = {**RULES, **{rule.id: rule for analyzer in configuration.analyzers(m) for rule in analyzer.rules}}
    subjects = [
        sarif.Subject(one.path, not os.path.isdir(one.path), one.name, one.level, one.score, one.findings,
                      [(waived.finding, waived.reason) for waived in one.waived])
        for one in scanned
    ]  # fmt: skip
    inside = all(one.path.startswith(m.cwd.rstrip("/") + "/") for one in scanned)
    root = m.cwd if inside else os.path.commonpath([os.path.dirname(one.path) for one in scanned])
    return sarif.log(subjects, rules, root=root, version=__version__, ruleset=scanned[0].ruleset)


# --- text


def _write_text(scanned: Sequence[Scanned]) -> None:
    severities = {severity: output.style(severity, output.HARM_STYLES[severity]) for severity in SEVERITIES}
    for one in scanned:
        if one.level != "safe" or len(scanned) == 1:
            output.write("".join(_skill_lines(one, severities)))
    counts = dict.fromkeys(LEVELS, 0)
    for one in scanned:
        counts[one.level] += 1
    waived = sum(len(one.waived) for one in scanned)
    words = ", ".join(output.style(f"{count:,} {level}", output.LEVEL_STYLES[level]) for level, count in counts.items() if count)
    aside = f"; {_counted(waived, 'finding')} set aside by waivers and the baseline" if waived else ""
    output.write(f"{len(scanned):,} scanned: {words}{aside}\n")


def _skill_lines(one: Scanned, severities: Mapping[str, str]) -> Iterator[str]:
    level = output.style(one.level, output.LEVEL_STYLES[one.level])
    yield f"{level} {one.score}/100  {output.clean(one.path)}  ({output.clean(one.name)})\n"
    for finding in one.findings[:SHOWN]:
        yield _finding_lines(one, finding, severities[finding.severity])
    more = len(one.findings) - SHOWN
    if more > 0:
        yield f"  … and {_counted(more, 'finding')} more: {_by_rule(one.findings[SHOWN:])} (--json shows all)\n"
    for waived in one.waived:
        yield f"  set aside: {output.clean(waived.finding.path)} {waived.finding.rule}: {output.clean(waived.reason)}\n"
    yield "\n"


def _finding_lines(one: Scanned, finding: Finding, severity: str) -> str:
    whole = finding.path in {"", "."} or (one.path.endswith(f"/{finding.path}") and not os.path.isdir(one.path))
    place = one.path if whole else f"{one.path}/{finding.path}"
    at = f":{finding.line}:{finding.column}" if finding.line else ""
    title, _, why = finding.why.partition(". ")
    clean = output.clean
    seen = f"      seen: {clean(finding.evidence)}\n" if finding.evidence else ""
    why = f"      why:  {clean(why)}\n" if why else ""
    hint = f"      hint: {clean(finding.hint)}\n" if finding.hint else ""
    return f"  {clean(place)}{at}: {finding.rule} {severity} {clean(title)}\n{seen}{why}{hint}"


def _by_rule(findings: Iterable[Finding]) -> str:
    counts: dict[str, int] = {}
    for finding in findings:
        counts[finding.rule] = counts.get(finding.rule, 0) + 1
    return ", ".join(f"{rule} {count}" for rule, count in sorted(counts.items()))


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
