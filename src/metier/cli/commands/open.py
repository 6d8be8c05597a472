"""Runs `metier agents`, `info`, `path`, `open` and `edit`: who is here, what a source offers, and
the way to a skill's files.
"""

from __future__ import annotations

import os

from metier.cli.argv import CommandRow, Option, Values
from metier.cli.consent import has_person
from metier.cli.main import library, opened
from metier.cli.output import (
    NO_AGENTS,
    WORD_STYLES,
    answer,
    bold,
    clean,
    clear_meter,
    counted,
    diagnostic_lines,
    flush,
    say,
    table,
)
from metier.cli.plans import finding_lines, shell_name, telling
from metier.errors import MetierError, NotFoundError, UsageError
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from metier.doctor.examine import AgentFacts
    from metier.model import Card
    from metier.supply.model import Outcome

FOLDER_OPENERS = ("xdg-open", "open")
"""Programs that show a folder, on Linux and on macOS."""
DEFAULT_EDITORS = ("sensible-editor", "nano", "vi")


# --- who is here


def run_agents(values: Values) -> None:
    """List the agents that have left a trace on this machine."""
    with library(values) as m:
        found = m.agents()
    answer(values, found, _agents_text, {"agents": [one._asdict() for one in found]})


def _agents_text(found: Sequence[AgentFacts]) -> str:
    if not found:
        return f"{NO_AGENTS}\nnext: metier doctor --agents lists those that metier knows\n"
    cells: dict[str, list[str]] = {
        "AGENT": [one.id for one in found],
        "SKILLS": [f"{one.skills:,}" for one in found],
    }
    if any(one.left_out for one in found):
        cells["IGNORED"] = [f"{one.left_out:,}" for one in found]
    if any(one.cut for one in found):
        cells["SHORTENED"] = [f"{one.cut:,}" for one in found]
    asked = [f"version {one.asked}" if one.asked else "its documentation" for one in found]
    cells |= {"CHECKED WITH": asked, "FOUND IN": [one.found_by for one in found]}
    listed = table([*zip(*cells.values(), strict=True)], [*cells], spare=("CHECKED WITH",))
    legend = [f"{head}: {told}\n" for head, told in COUNTS_LEGEND.items() if head in cells]
    legend += ["\n"] if legend else []
    return (
        f"{listed}\n{''.join(legend)}"
        "next: metier list --agent NAME, or all of them: metier list --agent all\n"
    )


COUNTS_LEGEND = {
    "IGNORED": "files in its folders that the agent doesn't load. To see why: "
    "metier list --agent NAME --all",
    "SHORTENED": "skills whose description the agent cuts or drops, because its list is full. It "
    "still sees them by name.",
}
AGENTS_DETAIL = (
    "SKILLS: how many the agent loads here. "
    + "".join(f"{head}: {told.rstrip('.')}. " for head, told in COUNTS_LEGEND.items())
    + "CHECKED WITH: the version of the agent that metier's answers were compared with, or its "
    "documentation.\n"
)


# --- the way to a skill


def _card(values: Values) -> Card:
    with opened(values) as m:
        return m.resolve(values.word)


def _main_file(card: Card) -> str:
    return f"{card.path}/SKILL.md" if os.path.isdir(card.path) else card.path


def run_path(values: Values) -> None:
    """Print where a skill is, whole, for a script."""
    card = _card(values)
    path = _main_file(card) if values.flag("file") else card.path
    answer(values, {"name": card.name, "path": path}, f"{clean(path)}\n", raw=True)


def run_open(values: Values) -> int:
    """Open a skill's folder with the program that this desktop has for it."""
    import subprocess
    from shutil import which

    card = _card(values)
    path = card.path
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    opener = next(filter(None, map(which, FOLDER_OPENERS)), None)
    if opener is None:
        raise NotFoundError(
            "no program to open a folder with", hint=f"it is here: {folder}", code="no-opener"
        )
    done = subprocess.run([opener, folder], stderr=subprocess.PIPE, check=False)  # noqa: S603 - the desktop's own program
    if done.returncode:
        raise NotFoundError(
            f"{os.path.basename(opener)} found no program to open a folder with",
            hint=f"metier path {shell_name(card.name)} prints where it is",
            code="no-opener",
        )
    return 0


def run_edit(values: Values) -> int:
    """Open SKILL.md in the user's editor, and check it afterwards."""
    card = _card(values)
    code = open_in_editor(_main_file(card))
    if code == 0:
        with opened(values) as m:
            checked = m.check([card.path])
        for one in checked:
            say(diagnostic_lines(one.path, one.diagnostics))
    return code


def open_in_editor(*files: str) -> int:
    """Open files in the user's editor, on a terminal."""
    if not has_person():
        raise UsageError("there is no terminal to edit on", hint=f"the file is {files[0]}")
    clear_meter()
    flush()
    return _start([*_editor(), *files])


def editable(folder: str, names: Iterable[str]) -> list[str]:
    """Give the paths of those files below a folder that can be edited: what a link leads to is no
    part of it.
    """
    real = os.path.realpath(folder)
    paths = (f"{real}/{name}" for name in dict.fromkeys(names))
    return [path for path in paths if os.path.isfile(path) and os.path.realpath(path) == path]


def _editor() -> list[str]:
    import shlex
    from shutil import which

    told = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    words = shlex.split(told) if told else []
    found = words or [name for name in DEFAULT_EDITORS if which(name)][:1]
    if not found:
        raise NotFoundError("no editor was found", hint="set EDITOR", code="no-editor")
    return found


def _start(words: list[str]) -> int:
    import subprocess

    try:
        return subprocess.run(words, check=False).returncode  # noqa: S603 - the user's own program
    except OSError as error:
        raise NotFoundError(
            f"cannot start {words[0]}: {error.strerror}", code="no-program"
        ) from error


# --- before one adds it


def run_info(values: Values) -> int:
    """Show what a source offers, or what is known of a skill that is here."""
    with opened(values) as m:
        try:
            card = m.resolve(values.word)
        except MetierError:
            card = None
        if card is not None:
            case = m.trust(card.path)
            document = {
                "name": card.name,
                "path": card.path,
                "state": card.state,
                "level": case.level,
            }
            text = (
                f"{bold(card.name)}  {card.state}, level {case.level}\n{clean(card.description)}\n"
                f"  {clean(card.path)}\n\nnext: metier show {clean(card.name)}\n"
            )
            answer(values, document, text)
            return 0
        outcome = m.add(values.word, all=True, ref=values.text("ref"), dry_run=True)
    answer(values, outcome, lambda one: _offers_text(one, values.word))
    return 0


def _offers_text(outcome: Outcome, source: str) -> str:
    steps = (*outcome.plan.add, *outcome.plan.update)
    rows = [
        (step.name, f"{step.verdict} {step.score}/100", f"{step.tokens:,}", step.path or ".")
        for step in steps
    ]
    heads = ("NAME", "VERDICT", "TOKENS", "PATH")
    verdicts = [WORD_STYLES.get(step.verdict, "bold") for step in steps]
    out = [table(rows, heads, whole=("NAME",), below="PATH", colours={"VERDICT": verdicts})]
    for one in outcome.refused:
        reasons = clean("; ".join(telling(one.reasons, one.verdict)))
        out.append(f"refused {bold(one.name)}: {reasons}\n{finding_lines(one.findings, 1)}")
    out.append(f"\n{counted(len(rows), 'skill')} to install, {len(outcome.refused):,} refused\n")
    choice = "" if len(rows) == 1 else " --skill NAME"
    out.append(f"next: metier add {clean(source)}{choice}\n" if rows else "")
    return "".join(out)


ROWS = (
    CommandRow(
        "agents",
        examples={"metier agents": "who is here, and how many skills each sees"},
        detail=AGENTS_DETAIL
        + "metier doctor --agents lists every agent that metier knows, with its folders.",
        paged=True,
        run=run_agents,
    ),
    CommandRow(
        "info",
        operands="SOURCE",
        options=(Option("--ref", "this branch, tag, commit or version", "R"),),
        examples={
            "metier info anthropics/skills": "its skills, each with its verdict; nothing is installed",
            "metier info pdf": "a skill that you have",
        },
        paged=True,
        run=run_info,
    ),
    CommandRow(
        "path",
        operands="NAME",
        options=(Option("--file", "of its SKILL.md, not of its folder"),),
        examples={'cd "$(metier path pdf)"': "go there"},
        run=run_path,
    ),
    CommandRow(
        "open",
        operands="NAME",
        examples={"metier open pdf": "in your file manager"},
        run=run_open,
    ),
    CommandRow(
        "edit",
        operands="NAME",
        examples={"metier edit pdf": "in $VISUAL or $EDITOR; it is checked afterwards"},
        run=run_edit,
    ),
)
