"""Runs `metier pack`, which writes a skill as an archive, and `metier publish`, which writes a
well-known index.
"""

from __future__ import annotations

from metier.cli.argv import CommandRow, Option, Values
from metier.cli.main import library
from metier.cli.output import answer, clean, counted, style, table
from metier.errors import UsageError
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.supply.publish import PublishedIndex


def run(values: Values) -> None:
    """Write a skill as an archive."""
    with library(values) as m:
        done = m.pack(*values.words)
    said = (
        f"wrote {clean(done.path)}: {counted(done.files, 'file')}, {counted(done.size, 'byte')}\n"
        f"  sha256 {done.sha256}\n  tree   {done.digest}\n"
    )
    answer(values, done, said)


def run_publish(values: Values) -> int:
    """Write a well-known index; exit 1 when a skill was left out."""
    folder = values.text("well_known")
    if not folder:
        raise UsageError(
            "say where the site lies",
            hint="add --well-known DIR; the index goes below DIR/.well-known",
        )
    with library(values) as m:
        done = m.publish(values.words, folder)
    answer(values, done, _published_text)
    return 1 if done.refused else 0


def _published_text(done: PublishedIndex) -> str:
    rows = [(one.name, f"{one.size:,}", one.sha256[:16], one.path) for one in done.skills]
    left_out = "".join(
        f"{style('left out', 'red')} {clean(one.name)}: {clean('; '.join(one.reasons))}\n"
        for one in done.refused
    )
    return (
        f"{table(rows, ('SKILL', 'BYTES', 'SHA256', 'FILE'))}{left_out}wrote {clean(done.index)}: "
        f"{len(done.skills):,} published, {len(done.refused):,} left out\n"
    )


ROWS = (
    CommandRow(
        "pack",
        operands="PATH [FILE]",
        examples={"metier pack ./my-skill": "my-skill.tar.gz and its digest"},
        detail="A skill that fails a strict check, that a scan calls dangerous or that holds a key is "
        "refused.",
        run=run,
    ),
    CommandRow(
        "publish",
        operands="PATH...",
        options=(
            Option("--well-known", "the site's folder; the index goes below .well-known", "DIR"),
        ),
        examples={
            "metier publish skills/ --well-known ./site": "index.json with digests, and an archive of each skill"
        },
        detail="A skill that fails a strict check, that a scan calls dangerous or that holds a key is "
        "not published.",
        run=run_publish,
    ),
)
