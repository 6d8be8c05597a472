"""Runs `metier tour`: it shows what you have, and then the real commands at work on the bundled
examples.

The examples are laid out in a temporary project and home. The tour works offline and leaves nothing
behind, unless `--keep` names a folder for the demo: there the commands of the README can be tried.
On a terminal it waits between two steps.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import signal
import sys
import tempfile
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any, NamedTuple

import metier
from metier.cli import main
from metier.cli.argv import CommandRow, Option, Values
from metier.cli.consent import has_person, read_key
from metier.cli.demo import DEMO_FILES, begin_repositories, write_demo
from metier.cli.output import (
    clean,
    clear_meter,
    columns,
    counted,
    counts_text,
    diagnostic_lines,
    flush,
    remark,
    say,
    style,
    write,
    write_json,
)
from metier.cli.terminal import fold, has_colour, shorten_paths, width
from metier.discover.io.machine import DECISIONS
from metier.errors import MetierError, NotFoundError, StoreError, UsageError
from metier.settings.io import data_folder, home_of
from metier.standard.rules import in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from metier.doctor.examine import DoctorReport
    from metier.model import Card, JsonObject, Texts


_PLUGIN = "home/.claude/plugins/cache/studio/brand-kit/1.2.0"

EXAMPLE_PLACES = (
    ("project", "project/.agents/skills"),
    ("home", "home/.agents/skills"),
    ("plugin/.claude-plugin", f"{_PLUGIN}/.claude-plugin"),
    ("plugin/palette", f"{_PLUGIN}/skills/palette"),
)
"""What goes where. The examples lie outside folders named `skills` so that no installed metier
offers them as its own."""
EXAMPLE_LINKS = (
    ("project/.claude/skills/release-notes", "project/.agents/skills/release-notes"),
    ("home/.claude/skills/release-notes", "home/.agents/skills/release-notes"),
)
"""One skill for several agents is usually one folder and a link to it."""
_STRANGERS = ("their-skill/", "incoming/table-tidy/")
"""What strangers sent, and the tour shows."""
DEMO_PLACES = (("project", ".agents/skills"), ("home", "home/.agents/skills"))
"""Where the examples go in a demo that is kept: the folder itself is the project."""
_KEPT_VARIABLES = ("PATH", "TERM", "NO_COLOR", "LANG", "LC_ALL", "SYSTEMROOT")
"""What the commands on stage may know of the real environment: how to print, and which commands
there are."""


class CommandOutput(NamedTuple):
    """What one command said."""

    exit: int
    text: str
    remarks: str


class ExampleFolder(NamedTuple):
    """The temporary folder."""

    folder: str

    @property
    def project(self) -> str:
        """The project in which the commands run."""
        return f"{self.folder}/project"

    def ask(self, words: Texts) -> CommandOutput:
        """Run a real command in the project, with a home, a state folder and an environment of the
        stage's own.
        """
        said = io.StringIO()
        remarks = io.StringIO()
        kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        own = {"HOME": f"{self.folder}/home", "METIER_HOME": f"{self.folder}/state"}
        own["METIER_BACKGROUND"] = "off"  # nothing writes here once the folder is gone
        own["FORCE_COLOR" if has_colour() else "NO_COLOR"] = "1"  # lines are cut here, not there
        with _environment_set(kept | own), redirect_stdout(said), redirect_stderr(remarks):
            code = main.main([*words, "-C", self.project])
        if code == main.INTERRUPTED_EXIT:
            raise KeyboardInterrupt
        return CommandOutput(
            code, self.shortened(said.getvalue()), self.shortened(remarks.getvalue())
        )

    def play(self, step: TourStep, *options: str) -> CommandOutput:
        """Run the command of a step."""
        if step.before is not None:
            step.before(self.project)
        return self.ask((*step.words, *options))

    def shortened(self, value: Any) -> Any:
        """Name the project `project` and the home `~` in every text of a value: their real names
        soon mean nothing.
        """
        if isinstance(value, str):
            value = value.replace(f"trust project {self.project}", "trust project .")
            return value.replace(self.project, "project").replace(f"{self.folder}/home", "~")
        if isinstance(value, dict):
            return {self.shortened(key): self.shortened(item) for key, item in value.items()}
        return [self.shortened(item) for item in value] if isinstance(value, list) else value


def find_examples(package: str) -> str:
    """Find the examples: inside the installed package, or beside its source."""
    beside = os.path.dirname(os.path.dirname(package))
    for folder in (f"{package}/examples/skills", f"{beside}/examples/skills"):
        if os.path.isdir(folder):
            return folder
    raise NotFoundError(
        "the bundled examples are not there",
        hint="install metier again, or run it from its repository",
    )


@contextmanager
def temporary_folder() -> Iterator[str]:
    """Give a folder that is gone afterwards, however the tour ends."""
    with main.exit_on_signal():
        try:
            folder = os.path.realpath(tempfile.mkdtemp(prefix="metier-"))
        except OSError as error:
            raise StoreError(
                f"cannot make a temporary folder: {error}", hint="set TMPDIR to one with room"
            ) from error
        try:
            yield folder
        except BaseException:
            _remove_folder(folder)
            raise
        if _remove_folder(folder):  # who asked to stop meanwhile is answered as at any other time
            raise KeyboardInterrupt


def lay_out_examples(folder: str, source: str) -> ExampleFolder:
    """Lay the examples out as a project, a home and a plugin of it."""
    try:
        for name, place in EXAMPLE_PLACES:
            _copy_bytes(f"{source}/{name}", f"{folder}/{place}")
        for link, target in EXAMPLE_LINKS:
            _make_link(f"{folder}/{link}", f"{folder}/{target}")
        for name in (one for one in DEMO_FILES if one.startswith(_STRANGERS)):
            os.makedirs(os.path.dirname(f"{folder}/project/{name}"), exist_ok=True)
            with open(f"{folder}/project/{name}", "w", encoding="utf-8") as file:
                file.write(DEMO_FILES[name])
        # The marker of a project, so that no folder above the temporary one is taken for its root.
        os.mkdir(f"{folder}/project/.git")
    except OSError as error:
        raise StoreError(
            f"cannot copy the examples: {error}", hint="set TMPDIR to a folder with room"
        ) from error
    return ExampleFolder(folder)


def keep_demo(folder: str, source: str) -> None:
    """Leave the demo in a folder that is empty or not there yet: a project with skills, and what
    strangers sent.
    """
    try:
        if os.path.lexists(folder) and not (os.path.isdir(folder) and not os.listdir(folder)):
            raise UsageError(
                f"{folder} is not an empty folder, so no demo was put there",
                hint="give the name of a folder that doesn't exist yet, or of an empty one",
            )
        for name, place in DEMO_PLACES:
            _copy_bytes(f"{source}/{name}", f"{folder}/{place}")
        write_demo(folder)
        release_notes = "skills/release-notes"
        _make_link(f"{folder}/.claude/{release_notes}", f"{folder}/.agents/{release_notes}")
        begin_repositories(folder)
    except OSError as error:
        raise StoreError(
            f"cannot put the demo into {folder}: {error.strerror}", hint="name another folder"
        ) from error


def _copy_bytes(source: str, target: str) -> None:
    """Copy bytes alone: permissions of an installed package might forbid removing the copy."""
    os.makedirs(target, exist_ok=True)
    for entry in sorted(os.scandir(source), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name != "__pycache__":
            _copy_bytes(entry.path, f"{target}/{entry.name}")
        elif entry.is_file():
            shutil.copyfile(entry.path, f"{target}/{entry.name}")


def _make_link(link: str, target: str) -> None:
    os.makedirs(os.path.dirname(link), exist_ok=True)
    try:
        os.symlink(os.path.relpath(target, os.path.dirname(link)), link)
    except OSError:  # Windows needs a privilege for links
        _copy_bytes(target, link)


@contextmanager
def _environment_set(environment: Mapping[str, str]) -> Iterator[None]:
    saved = dict(os.environ)
    os.environ.clear()
    os.environ.update(environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(saved)


def _remove_folder(folder: str) -> bool:
    """Remove the folder; Ctrl-C does not stop that half-way. Tell whether somebody pressed it."""
    pressed: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    try:
        if before is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, lambda number, _frame: pressed.append(number))
    except ValueError:  # not the main thread: signals are somebody else's business
        before = None
    try:
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)
    return bool(pressed)


_ANSI = re.compile(r"\x1b\[[0-9;]*m")


class TourStep(NamedTuple):
    """One command of the tour and what it shows."""

    title: str
    about: str
    words: Texts
    lines: int = 0
    """How many lines of its answer are shown; 0 for all."""
    before: Callable[[str], None] | None = None
    """What happens to the project before."""


def _edit_both(project: str) -> None:
    """Change a line of the skill that was added, and another one where it came from."""
    theirs, yours = (f"{project}/{place}/SKILL.md" for place in ("their-skill", _ADDED))
    for path, old, new in (
        (theirs, "\n---\n\n", "\nlicense: MIT\n---\n\n"),
        (yours, "", "\nAsk before you overwrite a file.\n"),
    ):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(old, new, 1) if old else text + new)


_ADDED = ".agents/skills/their-skill"

TOUR_STEPS = (
    TourStep("A project you know", "Skills that come with a project are listed, but no model gets "
                                   "them until you trust it.",
         ("trust", "project", ".", "--yes")),
    TourStep("Everything there is", "One row per skill. If a skill isn't visible, its row says why.", ("list", "--all")),
    TourStep("A careless one", "An unquoted ': ' makes many agents drop a skill. metier reads what "
                               "its author meant, and tells you.",
         ("check", ".agents/skills/meeting-minutes")),
    TourStep("A dangerous one", "Someone sent you a skill that tidies tables. Its script sends your "
                                "private key away. The scan finds that without running it.",
         ("scan", "incoming/table-tidy"), 14),
    TourStep("It is refused", "metier doesn't install a dangerous skill, whatever its description says.",
         ("add", "./incoming/table-tidy", "--yes"), 14),
    TourStep("A good one is installed", "It is scanned first. The lock file keeps where it came from.",
         ("add", "./their-skill", "--yes")),
    TourStep("An update that keeps your edit", "You changed one line, and its author another. You "
                                               "get both.",
         ("update", "--yes"), before=_edit_both),
    TourStep("A shadowed one", "The project and your home folder each have a skill of this name. "
                               "See which one is used, and why not the other.",
         ("why", "release-notes")),
    TourStep("The same question for Claude Code", "Claude Code prefers your own skills to a "
                                                  "project's.",
         ("why", "release-notes", "--agent", "claude-code")),
    TourStep("The one that fits", "Say what you want to do. metier compares the words of every "
                                  "skill, and with metier[embed] their meaning too.",
         ("find", "which figures in this table look odd?", "--limit", "3")),
    TourStep("What a model is told", "Every skill that fits your token budget, with as much of its "
                                     "description as there is room for.",
         ("prompt", "--budget", "250", "--format", "markdown"), 7),
    TourStep("What its script would be allowed", "A script sees its own folder, a scratch folder and "
                                                 "what you lend it. --dry-run runs nothing.",
         ("run", "csv-report", "--dry-run"), 14),
)  # fmt: skip


def run(values: Values) -> int:
    """Show what is yours, then the examples; end with the next command to type."""
    source = find_examples(os.path.dirname(os.path.abspath(metier.__file__)))
    kept = values.optional("keep")
    place = os.path.abspath(os.path.join(values.optional("C") or "", kept or ""))
    if kept is not None:
        keep_demo(place, source)
    with temporary_folder() as folder:
        found, cards = _examine(values, folder)
        if values.json:
            document = _document(found, lay_out_examples(folder, source))
            write_json({**document, "kept": place} if kept else document)
            return 0
        say(_opening(found, cards, kept=bool(kept)))
        waits = not values.flag("yes") and has_person() and sys.stdout.isatty()
        _show_examples(lay_out_examples(folder, source), waits=waits)
        if kept:
            say(
                f"\nThe demo is in {clean(kept)}: the commands of the README and the docs work there.\n"
            )
        say(f"\n{style('Next:', 'bold')} {style(_next(found, kept), 'cyan')}\n")
    return 0


def wait_for_key(at: int, count: int) -> bool:
    """Wait until the reader has read; false when they want to leave."""
    flush()
    clear_meter()
    remark(f"\n-- Enter: step {at} of {count}, q: leave -- ")
    key = read_key(sys.stdin.fileno())
    clear_meter()
    remark("\n")
    return key not in LEAVING_KEYS


LEAVING_KEYS = frozenset({b"q", b"Q", b"\x1b"})


# --- what is yours


def _examine(
    values: Values, folder: str
) -> tuple[DoctorReport, list[Card]] | tuple[MetierError, list[Card]]:
    """Examine this machine without writing to its index; a faulty configuration is a finding like
    any other.
    """
    from metier.library import open_library

    home = f"{folder}/machine"
    _copy_decisions(home)
    try:
        with open_library(
            roots=values.many("root") or None,
            agent=values.optional("agent"),
            cwd=values.optional("C"),
            home=home,
        ) as m:
            main.show_progress(m)
            return m.doctor(), m.skills(all=True)
    except MetierError as error:
        return error, []


def _copy_decisions(home: str) -> None:
    """Take along what the user has decided about skills and projects; everything else of the index
    is made anew.
    """
    data = data_folder(os.environ, home_of(os.environ, own=True))
    try:
        os.makedirs(home, mode=0o700, exist_ok=True)
        shutil.copyfile(f"{data}/{DECISIONS}", f"{home}/{DECISIONS}")
    except OSError:  # there are none, or they cannot be read
        return


def _opening(found: DoctorReport | MetierError, cards: list[Card], *, kept: bool) -> str:
    leaves = "Only the demo is left behind." if kept else "Nothing is left behind."
    head = (
        f"{style('metier tour', 'bold')}: first your own skills, then metier's commands on "
        f"examples. It works offline. {leaves}\n"
        f"{_heading('Yours', 'What is on this machine right now.')}"
    )
    if isinstance(found, MetierError):
        return f"{head}error: {clean(found.message, lines=True)}\nhint: {clean(found.hint)}\n"
    return head + _agents(found) + _skills(found) + _to_try(cards)


def _agents(found: DoctorReport) -> str:
    if not found.agents:
        return "Agents: none found on this machine.\n"
    seen = (f"{one.title} ({one.skills:,})" for one in found.agents)
    return f"Agents, with the skills each would see here: {', '.join(seen)}.\n"


def _skills(found: DoctorReport) -> str:
    skills = found.skills
    count = len(found.roots)
    said = counts_text
    if not skills.total:
        where = f"in {counted(count, 'folder')}" if count else "yet"
        return f"Skills: none {where}. The examples show what metier would tell you about yours.\n"
    all_of_them = (
        f"Skills: {skills.total:,} in {counted(count, 'folder')}; {said(skills.scopes)}; "
        f"{said(skills.states)}.\n"
    )
    if not skills.codes:
        return f"{all_of_them}Nothing is wrong with {'it' if skills.total == 1 else 'them'}.\n"
    faults = (
        diagnostic_lines(_tilde(fault.skill, found.home), [fault.diagnostic], "  ")
        for fault in skills.faults
    )
    words = in_words(skills.codes)
    rest = len(words) - MAX_RULES_TOLD
    more = f"  and {counted(rest, 'rule')} more: metier check\n" if rest > 0 else ""
    listed = columns(words[:MAX_RULES_TOLD])
    return f"{all_of_them}What is wrong with them:\n{listed}{more}{''.join(faults)}"


MAX_RULES_TOLD = 5
"""How many rules that are broken are named, the most frequent first."""


def _to_try(cards: list[Card]) -> str:
    """Name the commands that are worth trying on skills of one's own, with what each would show."""
    if not cards:
        return ""
    visible = [card for card in cards if card.state == "visible"]
    rows = [("metier list", "what you have, where it is and what it costs")]
    dear = max(visible, key=lambda card: card.tokens, default=None)
    if dear is not None:
        tokens = sum(card.tokens for card in visible)
        most = f"; {clean(dear.name)} alone costs {dear.tokens:,}" if len(visible) > 1 else ""
        cost = f"what a model is told of them, {counted(tokens, 'token')} in every prompt{most}"
        rows.append(("metier prompt", cost))
    twice = next((card.name for card in cards if card.state == "shadowed"), "")
    if twice:
        rows.append((f"metier why {_word(twice)}", "there are several copies: which one is used"))
    waiting = [card for card in cards if card.state == "ask" and card.held == "project"]
    if waiting:
        rows.append(("metier trust project .", f"{counted(len(waiting), 'skill')} waiting for it"))
    faulty = next(
        (card for card in cards if any(n.severity == "error" for n in card.diagnostics)), None
    )
    if faulty is not None:
        rows.append(
            (f"metier check {_word(faulty.path)}", f"what is wrong with {clean(faulty.name)}")
        )
    return f"Try on them:\n{columns(rows)}"


def _word(text: str) -> str:
    """Give a stranger's text as one word of a command, with a short path."""
    return shlex.quote(clean(text)) if "/" not in text else shorten_paths(clean(text))


def _tilde(path: str, home: str | None) -> str:
    return f"~{path.removeprefix(home)}" if home and path.startswith(f"{home}/") else path


def _next(found: DoctorReport | MetierError, kept: str | None = None) -> str:
    if kept:
        return f"cd {shlex.quote(clean(kept))} && metier list"
    if isinstance(found, MetierError):
        return "metier doctor"
    return "metier list --all" if found.skills.total else "metier new my-first-skill"


# --- the examples


def _show_examples(built: ExampleFolder, *, waits: bool) -> None:
    """Show one step after the other; who wants to leave is not kept."""
    about = "Copied to a temporary project and home, shown as project and ~ below."
    for at, step in enumerate(TOUR_STEPS, 1):
        if waits and not wait_for_key(at, len(TOUR_STEPS)):
            return
        if at == 1:
            say(_heading("Bundled examples", about))
        command = style(f"$ {_command(step)}", "cyan")
        say(f"{_heading(step.title, step.about)}{command}\n")
        answer = built.play(step)
        is_table = step.words[0] == "list"
        shown = (
            _fit_table(answer.text, built.folder)
            if is_table
            else _first_lines(answer.text, step.lines)
        )
        write(fold(shown, width()))
        say(answer.remarks)


def _command(step: TourStep) -> str:
    return shlex.join(("metier", *step.words))


def _heading(title: str, about: str) -> str:
    return f"\n{style(title, 'bold')}\n{style(about, 'dim')}\n"


def _first_lines(text: str, lines: int) -> str:
    every = text.splitlines()
    if not lines or len(every) <= lines:
        return text
    return "\n".join(every[:lines]) + f"\n… and {len(every) - lines} more lines\n"


def _fit_table(text: str, folder: str) -> str:
    """Cut the rows of a table to the terminal: it was laid out for longer paths than are shown."""
    table, blank, rest = text.partition("\n\n")
    rows = (_cut_line(_without_tail(line, folder), width()) for line in table.split("\n"))
    return "\n".join(rows) + blank + rest


def _without_tail(line: str, folder: str) -> str:
    """Drop the beginning of the temporary folder's path where the table has cut off its rest."""
    known = next(
        (size for size in range(len(folder), 0, -1) if line.endswith(f"{folder[:size]}…")), 0
    )
    return f"{line[: -known - 1]}…" if known else line


def _cut_line(line: str, width: int) -> str:
    over = len(_ANSI.sub("", line)) - width
    if over <= 0:
        return line
    return line[: -over - 1] + "…" + ("\x1b[0m" if "\x1b" in line else "")


def _document(found: DoctorReport | MetierError, built: ExampleFolder) -> JsonObject:
    import json

    told = []
    for step in TOUR_STEPS:
        answer = built.play(step, "--json")
        told.append(
            {
                "title": step.title,
                "about": step.about,
                "command": _command(step),
                "exit": answer.exit,
                "answer": built.shortened(json.loads(answer.text)),
            }
        )
    return {"machine": _facts(found), "examples": told, "next": _next(found)}


def _facts(found: DoctorReport | MetierError) -> JsonObject:
    """Take from an examination what the tour tells; the rest is about its own temporary index."""
    if isinstance(found, MetierError):
        return {"error": found.as_dict()}
    told = ("home", "project", "roots", "agents", "skills", "problems", "truncated")
    return {name: value for name, value in found._asdict().items() if name in told}


ROWS = (
    CommandRow(
        "tour",
        options=(
            Option(
                "--keep", "leave the demo in this folder, to try the README's commands on", "DIR"
            ),
            Option("--yes", "do not wait between two steps"),
        ),
        examples={
            "metier tour": "finished in seconds, leaves nothing behind",
            "metier tour --keep demo": "the same, and a project with skills to play with",
        },
        run=run,
    ),
)
