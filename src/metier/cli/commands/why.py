"""`metier why`."""

from __future__ import annotations

from metier.cli.argv import CommandRow, Values
from metier.cli.main import library
from metier.cli.output import answer, bold, clean, coloured, diagnostic_lines, lines, style
from metier.errors import MetierError
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.discover.agents import Agent
    from metier.library import Library
    from metier.model import Choice, Why


HELD_STATES = frozenset({"ask", "quarantined", "blocked"})
"""What metier decided about a skill, and no agent did."""


def run(values: Values) -> None:
    """Explain a name."""
    with library(values) as m:
        found = m.why(values.word)
        needs = _needs(m, values.word)
    document = {**found._asdict(), **needs}
    answer(values, found, _text(found, m.context.agent) + _needs_text(needs), document)


def _needs(m: Library, name: str) -> dict[str, list[str]]:
    """Give the skills that it needs and that need it; none where the name stands for no skill that
    can be read.
    """
    try:
        found = m.tree(name)
    except MetierError:
        return {"requires": [], "required_by": []}
    return {
        "requires": [one.name for one in found.requires],
        "required_by": list(found.required_by),
    }


def _needs_text(needs: dict[str, list[str]]) -> str:
    words = {"requires": "needs", "required_by": "needed by"}
    told = [f"{words[key]} {clean(', '.join(names))}" for key, names in needs.items() if names]
    return f"\n{lines(told)}" if told else ""


def _text(answer: Why, agent: Agent | None) -> str:
    asker = agent.title if agent else "metier"
    name = bold(answer.name)
    meaning = (
        f"{name} means {style(clean(answer.chosen), 'green')} for {asker}"
        if answer.chosen
        else _unmeant(answer, asker, agent)
    )
    note = ""
    if agent:
        told = f"as {agent.asked} answered" if agent.asked else f"by {agent.read_in}"
        note = f"{asker}, {told}{': ' + agent.note if agent.note else ''}\n"
    return f"{meaning}\n{note}" + "".join(map(_candidate, answer.candidates))


def _unmeant(answer: Why, asker: str, agent: Agent | None) -> str:
    """Say that a name means nothing. What was decided here binds metier; an agent may still read
    what lies in its own folders.
    """
    name = bold(answer.name)
    held = [one for one in answer.candidates if one.state in HELD_STATES]
    if agent and held:
        return f"metier doesn't give {asker} a skill named {name}"
    return f"{asker} can't use a skill named {name}"


def _candidate(choice: Choice) -> str:
    state = coloured(choice.state)
    ready = f", {choice.readiness}" if choice.readiness != "available" else ""
    return (
        f"\n  {clean(choice.path)}\n    {state}, {choice.scope} scope{ready}\n"
        f"{lines(choice.reasons, '    ')}"
        f"{diagnostic_lines(choice.path, choice.diagnostics, '    ')}"
    )


ROWS = (
    CommandRow(
        "why",
        operands="NAME",
        examples={
            "metier why pdf": "which rule, setting, gate or folder decides",
            "metier why pdf --agent claude-code": "by that agent's own folders and precedence",
        },
        paged=True,
        run=run,
    ),
)
