"""From measured times to ratios, verdicts and tables: no measuring happens here."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

Verdict = Literal["met", "not met", "noise too large to say", "not measured"]
TRIM_FROM = 5  # with so many rounds, the best and the worst of them do not count towards the spread


class Sample(NamedTuple):
    """One measured run, in seconds of wall clock and of processor."""

    seconds: float
    cpu: float


class Target(NamedTuple):
    """A limit a figure must keep: from above, with or without the limit itself, from below, or to
    the letter.
    """

    kind: Literal["at most", "under", "at least", "exactly"]
    limit: float
    unit: str = "×"  # noqa: RUF001 - what people write for times

    def __str__(self) -> str:
        """Return the limit as people say it."""
        return f"{self.kind} {self.limit:g}{'' if self.unit == '%' else ' '}{self.unit}"


class Figure(NamedTuple):
    """One line of the answer."""

    what: str
    value: float | None
    low: float
    high: float
    target: Target
    verdict: Verdict
    note: str = ""


Times = dict[tuple[int, str], list[Sample]]
"""(size, subject) → one sample per round, in the order of the rounds."""


def ratio(
    what: str,
    above: list[Sample] | None,
    below: list[Sample] | None,
    target: Target,
    note: str = "",
) -> Figure:
    """Compare two subjects: the ratio of their medians, and its spread over the rounds they
    share.
    """
    if not above or not below:
        return missing(what, target, note)
    each = sorted(a.seconds / b.seconds for a, b in zip(above, below, strict=False))
    if len(each) >= TRIM_FROM:
        each = each[1:-1]
    value = median(a.seconds for a in above) / median(b.seconds for b in below)
    return Figure(what, value, each[0], each[-1], target, verdict(each[0], each[-1], target), note)


def exact(what: str, value: float | None, target: Target, note: str = "") -> Figure:
    """Judge a figure that is counted and not timed."""
    if value is None:
        return missing(what, target, note)
    return Figure(what, value, value, value, target, verdict(value, value, target), note)


def missing(what: str, target: Target, note: str) -> Figure:
    """Return the line of a figure that could not be measured, with the reason."""
    return Figure(what, None, 0.0, 0.0, target, "not measured", note)


def verdict(low: float, high: float, target: Target) -> Verdict:
    """Return met or not met when the whole spread is on one side of the limit."""
    if target.kind == "exactly":
        return "met" if low == high == target.limit else "not met"
    if target.kind == "under" and high >= target.limit:  # the limit itself is no longer under it
        return "not met" if low >= target.limit else "noise too large to say"
    good = (low, high) if target.kind == "at least" else (-high, -low)
    limit = target.limit if target.kind == "at least" else -target.limit
    if good[0] >= limit:
        return "met"
    return "not met" if good[1] < limit else "noise too large to say"


def times_table(times: Times) -> str:
    """Return every subject's times, smallest library first."""
    rows = [("skills", "what", "min s", "median s", "max/min", "cpu s", "runs")]
    for (size, subject), samples in sorted(times.items(), key=lambda item: item[0][0]):
        if not samples:
            continue
        seconds = [sample.seconds for sample in samples]
        rows.append(
            (
                f"{size:,}",
                subject,
                f"{min(seconds):.4f}",
                f"{median(seconds):.4f}",
                f"{max(seconds) / min(seconds):.2f}",
                f"{median(sample.cpu for sample in samples):.4f}",
                str(len(samples)),
            )
        )
    return table(rows)


def figures_table(figures: list[Figure]) -> str:
    """Return the answer: each figure, its ratio, its spread, its target and whether it is met."""
    rows = [("figure", "measured", "spread", "target", "verdict")]
    for figure in figures:
        measured = "–" if figure.value is None else f"{figure.value:.2f}"  # noqa: RUF001
        spread = "" if figure.low == figure.high else f"{figure.low:.2f} … {figure.high:.2f}"
        said = f"{figure.verdict} ({figure.note})" if figure.note else figure.verdict
        rows.append((figure.what, measured, spread, str(figure.target), said))
    return table(rows)


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Align rows in columns; the first row is the heading."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])
