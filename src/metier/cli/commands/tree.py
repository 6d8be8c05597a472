"""`metier tree`."""

from __future__ import annotations

from metier.cli.argv import CommandRow, Values
from metier.cli.main import library
from metier.cli.output import answer, bold, clean, lines
from metier.cli.plans import edge_note
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metier.supply.tree import RequiredSkill, SkillNeeds


def run(values: Values) -> None:
    """Show what a skill needs and who needs it; without a name, of every skill that needs others."""
    with library(values) as m:
        if values.words:
            found = m.tree(values.word)
            answer(values, found, _text(found))
            return
        trees = m.trees()
    text = "\n".join(map(_text, trees)) or "no skill needs another\n"
    answer(values, trees, text, {"skills": trees})


def _text(one: SkillNeeds) -> str:
    note = " (here because others need it)" if one.dependency else ""
    body = "".join(_lines(one.requires, 1)) or "  needs no other skill\n"
    more = [f"needed by {', '.join(one.required_by)}"] if one.required_by else []
    more += [f"related: {', '.join(one.related)}"] if one.related else []
    commands = dict.fromkeys(_commands(one.requires))
    following = f"\nnext: {next(iter(commands))}\n" if commands else ""
    return f"{bold(one.name)}{note}\n{body}{lines(map(clean, more), '')}{following}"


def _lines(requires: Sequence[RequiredSkill], depth: int) -> Iterator[str]:
    for one in requires:
        note = edge_note("" if one.state == "installed" else one.state, one)
        yield f"{'  ' * depth}{clean(one.name)}{note}\n"
        yield from _lines(one.requires, depth + 1)


def _commands(requires: Sequence[RequiredSkill]) -> Iterator[str]:
    for one in requires:
        if one.command:
            yield one.command
        yield from _commands(one.requires)


ROWS = (
    CommandRow(
        "tree",
        operands="[NAME]",
        examples={
            "metier tree pdf": "what pdf needs, and who needs pdf",
            "metier tree": "every skill that needs others",
        },
        paged=True,
        run=run,
    ),
)
