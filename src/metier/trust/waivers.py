"""Waivers: findings that a person has judged to be harmless, with a reason and a last day. Pure.

They come from the user's or the organisation's configuration: a skill cannot exempt itself, nor can
a project.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from metier.model import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.model import Finding


class Waiver(NamedTuple):
    """Which findings do not count, for which skill, why, and until when."""

    reason: str
    expires: str
    """The last day on which it applies, as YYYY-MM-DD."""
    fingerprint: str = ""
    rule: str = ""
    name: str = ""
    """The skill it is for; nothing means any."""
    path: str = ""
    """The file inside the skill it is for; nothing means any."""
    by: str = ""
    told_by: str = ""
    """The configuration file that holds it."""


class GivenWaiver(NamedTuple):
    """A waiver from the configuration, and whether it applies now."""

    reason: str
    expires: str
    """The last day on which it applies, as YYYY-MM-DD."""
    fingerprint: str
    rule: str
    name: str
    """The skill it is for; nothing means any."""
    path: str
    """The file inside the skill it is for; nothing means any."""
    by: str
    told_by: str
    """The configuration file that holds it."""
    state: str
    """`in force`, or why it does not apply."""


def day_of(text: str) -> date | None:
    """Give the day that a date or a moment in ISO form begins with; nothing when it is not one."""
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def why_not(waiver: Waiver, now: str) -> str:
    """Say why a waiver does not apply at this moment; nothing when it does. What is in doubt does
    not apply.
    """
    last = day_of(waiver.expires)
    today = day_of(now)
    if not waiver.reason.strip():
        return "it gives no reason"
    if not (waiver.fingerprint or waiver.rule):
        return "it names neither a fingerprint nor a rule"
    if last is None:
        return "it gives no last day"
    if today is None or today > last:
        return f"it expired on {last.isoformat()}"
    return ""


def covers(waiver: Waiver, finding: Finding, name: str) -> bool:
    """Tell whether a waiver is about this finding of the skill of this name."""
    if waiver.fingerprint and waiver.fingerprint != finding.fingerprint:
        return False
    wanted = ((waiver.rule, finding.rule), (waiver.name, name), (waiver.path, finding.path))
    return bool(waiver.fingerprint or waiver.rule) and all(
        not ours or ours == theirs for ours, theirs in wanted
    )


class WaivedFindings(NamedTuple):
    """Findings after the waivers: those that still count, those that do not and by which waiver."""

    kept: tuple[Finding, ...]
    waived: tuple[tuple[Finding, Waiver], ...]


def set_aside_waived(
    findings: Iterable[Finding], name: str, waivers: Iterable[Waiver], now: str
) -> WaivedFindings:
    """Set aside the findings that a waiver in force covers."""
    in_force = [waiver for waiver in waivers if not why_not(waiver, now)]
    kept = []
    waived = []
    for finding in findings:
        by = next((waiver for waiver in in_force if covers(waiver, finding, name)), None)
        if by is None:
            kept.append(finding)
        else:
            waived.append((finding, by))
    return WaivedFindings(tuple(kept), tuple(waived))


def lapsed(waivers: Iterable[Waiver], now: str) -> tuple[Problem, ...]:
    """Report the waivers that no longer apply, so that nobody believes they still do."""
    return tuple(
        Problem(
            waiver.told_by,
            "TR002",
            f"The waiver for {waiver.fingerprint or waiver.rule} does not apply: {fault}.",
        )
        for waiver in waivers
        if (fault := why_not(waiver, now))
    )
