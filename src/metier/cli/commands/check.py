"""Runs `metier check`, which checks skills for faults, and `metier new`, which writes a new one."""

from __future__ import annotations

from collections import Counter

from metier.cli.argv import CommandRow, Option, Values
from metier.cli.main import library, opened, paths_or_all
from metier.cli.output import answer, columns, counted, diagnostic_lines, style, tally
from metier.fast import TYPE_CHECKING
from metier.standard.rules import in_words

if TYPE_CHECKING:
    from metier.model import Checked


MAX_CODES_ON_A_LINE = 3
"""How many rules are named by their codes alone; of more, each gets a line in words."""


def run(values: Values) -> int:
    """Check skills; exit 1 when any has a fault."""
    with library(values) as m:
        checked = m.check(paths_or_all(values, m), strict=values.flag("strict"))
    answer(values, checked, _text, {"checked": len(checked), "skills": checked})
    return 0 if all(one.ok for one in checked) else 1


def _text(checked: list[Checked]) -> str:
    found = "".join(diagnostic_lines(one.path, one.diagnostics) for one in checked)
    failed = sum(not one.ok for one in checked)
    verdict = style(f"{failed:,} failed", "red") if failed else style("all passed", "green")
    codes = Counter(note.code for one in checked for note in one.diagnostics)
    several = len(codes) > MAX_CODES_ON_A_LINE
    noted = f" ({tally(codes.elements())})" if codes and not several else ""
    listed = columns(in_words(dict(sorted(codes.items())))) if several else ""
    return f"{found}{counted(len(checked), 'skill')} checked, {verdict}{noted}\n{listed}"


def run_new(values: Values) -> None:
    """Write a new skill."""
    name = values.word
    with opened(values) as m:
        folder = m.new(name, values.optional("dir"), values.text("description"))
    said = f"wrote {folder}/SKILL.md\n\nnext: edit it, then: metier check --strict {folder}\n"
    answer(values, {"name": name, "path": folder}, said)


ROWS = (
    CommandRow(
        "check",
        operands="[PATH...]",
        options=(Option("--strict", "warnings count as faults too"),),
        examples={
            "metier check": "all skills that you have",
            "metier check ./my-skill": "one skill",
            "metier check --strict skills/": "everything below a folder, as a publisher wants it",
        },
        detail="Exit code 1 when any skill has a fault. Each rule has a page in "
        "docs/reference/rules.md.",
        paged=True,
        run=run,
    ),
    CommandRow(
        "new",
        operands="NAME",
        options=(
            Option(
                "--dir",
                "put it in this folder (default: .agents/skills of the project, or with --agent "
                "where that agent looks)",
                "DIR",
            ),
            Option("--description", "what it does and when to use it", "TEXT"),
        ),
        examples={"metier new release-notes": "makes it in .agents/skills"},
        run=run_new,
    ),
)
