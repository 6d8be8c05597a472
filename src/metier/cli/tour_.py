"""`metier tour`: the real commands at work, on this machine and on bundled examples. Offline; leaves nothing behind."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from typing import TYPE_CHECKING, Any, NamedTuple

import metier
from metier import cli
from metier.cli import output, stage
from metier.discover import env as host
from metier.errors import MetierError

if TYPE_CHECKING:
    from metier.cli.argv import Values
    from metier.cli.stage import Stage
    from metier.diagnosis import Report

_ANSI = re.compile(r"\x1b\[[0-9;]*m")


class Step(NamedTuple):
    """One command of the tour and what it shows."""

    title: str
    about: str
    words: tuple[str, ...]
    lines: int = 0
    """How many lines of its answer are shown; 0 for all."""


STEPS = (
    Step("A project you know", "What a project brings is listed, but not offered to a model before you have said so.",
         ("trust", "project", ".", "--yes")),
    Step("Everything there is", "One row for each skill; whatever is not visible says why.", ("list", "--all")),
    Step("A good one", "Held against the standard as a publisher wants it: nothing to complain about.",
         ("check", "--strict", ".agents/skills/csv-report")),
    Step("A careless one", "An unquoted ': ' makes many agents drop a skill. It is read as its author meant it, and reported.",
         ("check", ".agents/skills/meeting-minutes")),
    Step("A broken one", "What no repair can save keeps its row, with the rule, the line, the column and a hint.",
         ("check", ".agents/skills/api-changelog")),
    Step("A shadowed one", "Project and user both have this name. Every copy is kept, and the loser says why it lost.",
         ("why", "release-notes")),
    Step("The same question for Claude Code", "Claude Code puts your own skills before a project's.",
         ("why", "release-notes", "--agent", "claude-code")),
    Step("The same question for Gemini CLI", "Gemini CLI decides the other way round.",
         ("why", "release-notes", "--agent", "gemini-cli")),
    Step("A code skill", "One Python file. Its source is read, never imported: it names a package that is not installed.",
         ("show", "word-count"), 10),
    Step("One that is not ready", "It needs a variable and a command that are not here, and says how to get them.",
         ("show", "invoice-mailer"), 5),
    Step("One shipped by a plugin", "A plugin's skills carry its name, so they never collide with yours.",
         ("show", "brand-kit:palette"), 6),
    Step("The one that fits", "Say what is to be done. Whole texts are compared, and meaning too where metier[embed] is installed.",
         ("find", "which figures in this table look odd?", "--limit", "3")),
    Step("What a model is told", "All of them within a budget: every name, as much of each description as is fair, and a report.",
         ("prompt", "--budget", "250", "--format", "markdown"), 7),
    Step("What a person types", "A command becomes the skill's instructions and the request; mentions and bundles do so too.",
         ("expand", "/csv-report what does sales.csv say?"), 10),
    Step("What its script would be allowed", "Its own folder, a scratch folder, and what you lend. --dry-run runs nothing.",
         ("run", "csv-report", "--dry-run"), 14),
)  # fmt: skip


def run(values: Values) -> int:
    """Show the machine, then the examples; end with the next command to type."""
    source = stage.examples(os.path.dirname(os.path.abspath(metier.__file__)))
    with stage.temporary() as folder:
        if values["json"]:
            output.write(output.json_text(_document(values, folder, source)) + "\n")
            return 0
        machine = _machine(values, folder)
        output.write(_opening(machine))
        _examples(stage.build(folder, source))
        output.write(f"\n{output.style('Next:', 'bold')} {output.style(_next(machine), 'cyan')}\n")
    return 0


# --- this machine


def _machine(values: Values, folder: str) -> Report | MetierError:
    """Examine this machine without writing to its index; a faulty configuration is a finding like any other."""
    from metier.app import open_library

    roots = values["root"]
    assert isinstance(roots, list)
    agent, cwd = cli.text_of(values["agent"]), cli.text_of(values["C"])
    _copy_decisions(f"{folder}/machine")
    try:
        with open_library(roots=roots or None, agent=agent, cwd=cwd, home=f"{folder}/machine") as m:
            return m.doctor()
    except MetierError as error:
        return error


def _copy_decisions(home: str) -> None:
    """Take along what the user has decided about skills and projects; everything else of the index is made anew."""
    data = host.data_folder(os.environ, host.home_of(os.environ, own=True))
    try:
        os.makedirs(home, mode=0o700, exist_ok=True)
        shutil.copyfile(f"{data}/{host.DECISIONS}", f"{home}/{host.DECISIONS}")
    except OSError:  # there are none, or they cannot be read
        return


def _opening(machine: Report | MetierError) -> str:
    title = output.style("metier tour", "bold")
    out = [f"{title}: the real commands, offline, on this machine and on examples. Nothing is left behind.\n"]
    out.append(_heading("This machine", "What is here already, read and checked just now."))
    if isinstance(machine, MetierError):
        return "".join(out) + f"error: {output.clean(machine.message, lines=True)}\nhint: {output.clean(machine.hint)}\n"
    return "".join(out) + _agents(machine) + _skills(machine)


def _agents(machine: Report) -> str:
    if not machine.agents:
        return "Agents: none that metier knows has left a trace here.\n"
    seen = (f"{one.title} ({one.skills:,})" for one in machine.agents)
    return f"Agents, with the skills each would see here: {', '.join(seen)}.\n"


def _skills(machine: Report) -> str:
    skills = machine.skills
    if not skills.total:
        count = len(machine.roots)
        where = f"in the {count} folders that exist" if count else "here: no folder that agents read exists yet"
        return f"Skills: none {where}. The examples show what would happen to them.\n"
    out = [f"Skills: {skills.total:,} in {_folders(len(machine.roots))}; {_counted(skills.scopes)}; {_counted(skills.states)}.\n"]
    if not skills.codes:
        return "".join(out) + "Nothing is wrong with them.\n"
    out.append(f"What is wrong with them: {_counted(skills.codes)}.\n")
    out += [output.diagnostic_lines(_tilde(fault.skill, machine.home), [fault.diagnostic], "  ") for fault in skills.faults]
    return "".join(out)


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in counts.items())


def _tilde(path: str, home: str | None) -> str:
    return f"~{path.removeprefix(home)}" if home and path.startswith(f"{home}/") else path


def _next(machine: Report | MetierError) -> str:
    if isinstance(machine, MetierError):
        return "metier doctor"
    return "metier list --all" if machine.skills.total else "metier new my-first-skill"


# --- the examples


def _examples(built: Stage) -> None:
    about = "Copied to a temporary project and home; ~ and project below stand for those."
    output.write(_heading("Bundled examples", about))
    for step in STEPS:
        output.write(_heading(step.title, step.about))
        output.write(output.style(f"$ {_command(step)}", "cyan") + "\n")
        answer = built.ask(step.words)
        table = step.words[0] == "list"
        output.write(_fitted(answer.text, built.folder) if table else _first(answer.text, step.lines))
        output.write(answer.remarks)


def _command(step: Step) -> str:
    return shlex.join(("metier", *step.words))


def _heading(title: str, about: str) -> str:
    return f"\n{output.style(title, 'bold')}\n{output.style(about, 'dim')}\n"


def _first(text: str, lines: int) -> str:
    every = text.splitlines()
    if not lines or len(every) <= lines:
        return text
    return "\n".join(every[:lines]) + f"\n… and {len(every) - lines} more lines\n"


def _fitted(text: str, folder: str) -> str:
    """Cut the rows of a table to the terminal: it was laid out for longer paths than are shown."""
    table, blank, rest = text.partition("\n\n")
    rows = (_cut(_without_tail(line, folder), output.width()) for line in table.split("\n"))
    return "\n".join(rows) + blank + rest


def _without_tail(line: str, folder: str) -> str:
    """Drop the beginning of the temporary folder's path where the table has cut off its rest."""
    known = next((size for size in range(len(folder), 0, -1) if line.endswith(f"{folder[:size]}…")), 0)
    return f"{line[: -known - 1]}…" if known else line


def _cut(line: str, width: int) -> str:
    over = len(_ANSI.sub("", line)) - width
    if over <= 0:
        return line
    return line[: -over - 1] + "…" + ("\x1b[0m" if "\x1b" in line else "")


def _document(values: Values, folder: str, source: str) -> dict[str, Any]:
    import json

    machine = _machine(values, folder)
    built = stage.build(folder, source)
    told = []
    for step in STEPS:
        answer = built.ask((*step.words, "--json"))
        said = built.shortened(json.loads(answer.text))
        told.append({"title": step.title, "about": step.about, "command": _command(step), "exit": answer.exit, "answer": said})
    return {"machine": _facts(machine), "examples": told, "next": _next(machine)}


def _facts(machine: Report | MetierError) -> dict[str, Any]:
    """Take from an examination what the tour tells; the rest is about its own temporary index."""
    if isinstance(machine, MetierError):
        return {"error": machine.as_dict()}
    told = ("home", "project", "roots", "agents", "skills", "problems", "truncated")
    return {name: value for name, value in machine._asdict().items() if name in told}


def _folders(count: int) -> str:
    return "1 folder" if count == 1 else f"{count:,} folders"
