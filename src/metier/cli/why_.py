"""`metier why`."""

from __future__ import annotations

from metier import cli
from metier.cli import output
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.app import Library
    from metier.cli.argv import Values
    from metier.model import Choice, Why


def run(values: Values) -> int:
    """Explain a name."""
    operands = values["operands"]
    assert isinstance(operands, list)
    with cli.library(values) as m:
        answer = m.why(operands[0])
        output.write(output.json_text(answer) + "\n" if values["json"] else _text(m, answer))
    return 0


def _text(m: Library, answer: Why) -> str:
    clean = output.clean
    asker = m.agent.title if m.agent else "metier"
    if answer.chosen:
        head = f"{output.style(clean(answer.name), 'bold')} means {output.style(clean(answer.chosen), 'green')} for {asker}\n"
    else:
        head = f"{output.style(clean(answer.name), 'bold')} means nothing that {asker} can use\n"
    out = [head]
    if m.agent and m.agent.note:
        out.append(f"{asker}: {m.agent.note}\n")
    out += [_candidate(choice) for choice in answer.candidates]
    return "".join(out)


def _candidate(choice: Choice) -> str:
    clean = output.clean
    state = output.style(choice.state, output.STATE_STYLES[choice.state])
    out = [f"\n  {clean(choice.path)}\n    {state}, {choice.scope} scope"]
    out.append(f", {choice.readiness}\n" if choice.readiness != "available" else "\n")
    out += [f"    {clean(reason)}\n" for reason in choice.reasons]
    out.append(output.diagnostic_lines(choice.path, choice.diagnostics, "    "))
    return "".join(out)
