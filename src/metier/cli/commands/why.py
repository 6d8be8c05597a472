"""`metier why`."""

from __future__ import annotations

from metier.cli.argv import CommandRow, Values
from metier.cli.main import library
from metier.cli.output import answer, bold, clean, coloured, counted, diagnostic_lines, lines, style
from metier.errors import MetierError
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.discover.agents import Agent
    from metier.library import Library
    from metier.model import Choice, Why
    from metier.run.observe.kept import KeptObservation


HELD_STATES = frozenset({"ask", "quarantined", "blocked"})
"""What metier decided about a skill, and no agent did."""


def run(values: Values) -> None:
    """Explain a name."""
    with library(values) as m:
        found = m.why(values.word)
        needs = _needs(m, values.word)
        seen = _observation(m, found)
    observed = seen and {**seen._asdict(), "findings": [one._asdict() for one in seen.findings]}
    document = {**found._asdict(), **needs, "observed": observed}
    text = _text(found, m.context.agent) + _needs_text(needs) + _observed_text(seen)
    answer(values, found, text, document)


def _observation(m: Library, found: Why) -> KeptObservation | None:
    """Give what the copy that counts, or the only one, did when it was observed."""
    only = found.candidates[0].path if len(found.candidates) == 1 else None
    path = found.chosen or only
    try:
        return m.observation(path) if path else None
    except MetierError:
        return None


def _observed_text(seen: KeptObservation | None) -> str:
    """Say in short what it declares, what its text shows, and what it did."""
    if seen is None:
        return ""
    from metier.run.observe.three_views import told_views

    when = f" on {seen.at[:10]}" if seen.at else ""
    old = "" if seen.is_current else ", by earlier rules"
    rows = told_views(seen.declared, seen.seen, seen.done)
    told = [f"{label + ':':<13}{clean(words)}" for label, words in rows]
    left = len(seen.not_tried)
    tried = f"{counted(len(seen.tried), 'thing')} tried"
    told.append(tried + (f", {left} not (metier observe --verbose lists them)" if left else ""))
    return f"\nobserved{when}{old}: {coloured(seen.level)}\n{lines(told)}"


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
        f"{name}: {asker} uses {style(clean(answer.chosen), 'green')}"
        if answer.chosen
        else _unmeant(answer, asker, agent)
    )
    note = ""
    if agent:
        told = f"compared with version {agent.asked}" if agent.asked else f"by {agent.read_in}"
        note = f"{told}{': ' + agent.note if agent.note else ''}\n"
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
