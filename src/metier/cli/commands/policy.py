"""`metier policy`."""

from __future__ import annotations

from metier.cli.argv import CommandRow, Option, Values, cannot
from metier.cli.main import library
from metier.cli.output import answer, bold, clean, lines, style
from metier.errors import UsageError
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.trust.explain_policy import Explained, PolicyReport

NO_POLICY = """No policy applies here.

next: write /etc/metier/policy.toml, or try one: METIER_POLICY=FILE metier policy show
"""
COLOURS = {"allow": "green", "ask": "yellow", "block": "red"}


def run(values: Values) -> int:
    """Show the policies, explain what they say of a skill, or sign one. Exit 1 when the answer is
    no.
    """
    verb, *rest = values.words
    if verb not in {"show", "explain", "sign", "update"}:
        raise cannot("policy", verb, "show", "explain", "sign", "update")
    if len(rest) != (verb in {"explain", "sign"}):
        needs = {"explain": " NAME", "sign": " FILE"}.get(verb, "")
        raise UsageError(f"write: metier policy {verb}{needs}", hint="metier policy --help")
    with library(values) as m:
        if verb == "show":
            report = m.policy()
            answer(values, report, _report_text)
            return 1 if report.damage else 0
        if verb == "explain":
            found = m.explain_policy(rest[0])
            answer(values, found, _explained_text)
            return 1 if found.decision == "block" else 0
        if verb == "update":
            new = m.update_policy()
            word = "fetched" if new.changed else "up to date"
            answer(values, new, f"{word}: {clean(new.url)}, signed by {new.key}\n")
            return 0
        key, path = m.sign_policy(rest[0], key=values.optional("key") or "")
    answer(
        values,
        None,
        f"signed {clean(rest[0])} with {key}: {clean(path)}\n",
        {"key": key, "path": path},
    )
    return 0


def _report_text(report: PolicyReport) -> str:
    parts = [f"{style(clean(report.damage), 'red')}\n"] if report.damage else []
    for one in report.policies:
        by = f"signed by {one.signed_by}" if one.signed_by else "not signed"
        title = f"{clean(one.name)}, " if one.name else ""
        parts.append(f"{bold(clean(one.path))}  ({title}{by})\n")
        parts += [
            f"  {row['place'].rpartition(':')[2]:>4}  {clean(row['says'])}\n" for row in one.lines
        ]
    if report.rules:
        parts.append(f"{bold('Your own rules')}\n")
        parts.append(lines([clean(rule) for rule in report.rules], "  "))
    return "".join(parts) or NO_POLICY


def _explained_text(found: Explained) -> str:
    head = f"{bold(clean(found.name))}: {style(found.decision, COLOURS[found.decision])}\n"
    phases = ", ".join(f"{phase} {action}" for phase, action in found.phases.items())
    told = [
        f"{clean(one.place)}: {one.rule}: {clean(one.why)}" if one.place else clean(one.why)
        for one in found.because
    ]
    rest = "" if told else "  No line of a policy speaks of it.\n"
    return f"{head}  {phases}\n{lines(told, '  ')}{rest}"


ROWS = (
    CommandRow(
        "policy",
        operands="show|explain|sign|update [NAME|FILE]",
        options=(Option("--key", "with sign: the key to sign with, when there are several", "ID"),),
        examples={
            "metier policy show": "what your organisation, you and this project allow",
            "metier policy explain pdf": "which line of whose policy decides about a skill",
            "metier policy explain owner/skills": "may skills come from there?",
            "metier policy sign policy.toml": "write policy.toml.sig beside it",
            "metier policy update": "fetch it from the address that /etc/metier/policy.toml names",
        },
        detail="Exit code 1 when a policy is damaged, or blocks what was asked about.",
        run=run,
    ),
)
