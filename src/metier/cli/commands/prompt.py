"""Runs `metier prompt` and `metier tools`: what a model is told of, and the tools it is given."""

from __future__ import annotations

from metier.cli.argv import CommandRow, Option, Values
from metier.cli.main import opened
from metier.cli.output import answer, counted, flush, note, warn, write
from metier.errors import UsageError
from metier.fast import TYPE_CHECKING
from metier.standard.plain_text import Estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.disclose.prompt import Disclosure
    from metier.library import Library

MAX_NAMES_SHOWN = 5
"""How many names a report gives before it only counts."""
MAX_WINDOW_DIGITS = 12
"""Of a window in tokens, more than any model has."""
MAX_PREVIOUS_BYTES = 256 * 1024 * 1024
"""Bytes of an earlier output that are read."""


def run(values: Values) -> None:
    """Print the catalogue for a model, and on standard error what it leaves out."""
    delta = values.flag("delta")
    if delta and not values.given("previous"):
        raise UsageError(
            "--delta needs --previous",
            hint="keep an earlier output: metier prompt --json > before.json",
        )
    with opened(values) as m:
        previous = _previous(m, values.optional("previous"))
        made = m.catalogue(
            values.optional("budget"),
            window=_window(values.optional("window")),
            format=values.text("format"),
            mode=values.text("mode") or "auto",
            task=values.text("task"),
            previous=previous,
            whole=True,
        )
        counter = m.context.counter or Estimate()
        text = made.printed
        if delta:
            text = f"{made.delta}\n" if made.delta else ""
        answer(values, made, text, raw=True)
        waiting = "" if values.json or made.text else _waiting(m)
        if m.context.search_state is not None:  # a task was ranked, maybe by words alone
            flush()
            m.prepare_index()
    if not values.json:
        _report(
            made,
            counter.count(text) if text else 0,
            said=m.context.warnings,
            task=values.text("task"),
        )
        for line in waiting.split("\n") if waiting else ():
            note(line)


def _waiting(m: Library) -> str:
    """Say that skills wait for the project to be trusted, and the command for it."""
    from metier.cli.consent import TRUST_HINT, waiting_for_trust

    waiting = waiting_for_trust(m)
    return f"{waiting}\n\n{TRUST_HINT}" if waiting else ""


def _report(made: Disclosure, tokens: int, said: Sequence[str], task: str) -> None:
    """Say what it costs, what was shortened and what was left out, where it spoils no prompt."""
    from metier.disclose.prompt import EXCEEDED, SHORTENED

    total = made.included + len(made.omitted)
    cost = f"{tokens:,} of {made.budget:,} tokens"
    note(
        f"{made.included:,} of {counted(total, 'skill')}, {cost}" if total else "no skills to list"
    )
    for what, names in (
        ("with a shortened description", made.cut),
        ("left out, for lack of room", made.omitted),
        ("not ready", made.unready),
    ):
        if names:
            rest = len(names) - MAX_NAMES_SHOWN
            more = f" and {rest:,} more" if rest > 0 else ""
            note(f"{len(names):,} {what}: {', '.join(names[:MAX_NAMES_SHOWN])}{more}")
    if len(made.omitted) > made.included:
        by_task = "" if task else ", or say with --task what the model is to do"
        note(f"most don't fit: give a larger --budget{by_task}")
    known = (EXCEEDED, SHORTENED)  # just said, in plainer words
    warn(one for one in made.warnings if one not in said and not one.startswith(known))


def _window(text: str | None) -> int:
    if text is None:
        return 0
    if not text.isascii() or not text.isdigit() or len(text) > MAX_WINDOW_DIGITS or not int(text):
        raise UsageError(
            f"'{text[:40]}' is no window", hint="give the model's context in tokens, such as 200000"
        )
    return int(text)


def _previous(m: Library, file: str | None) -> Disclosure | None:
    """Read an earlier output, as it is named from the folder that `-C` gives. A pipe in its place
    must not hang the reader.
    """
    if file is None:
        return None
    import json

    from metier.disclose.prompt import previous_from_json
    from metier.discover.io import disk

    hint = "give a file that holds the whole output of an earlier metier prompt --json"
    place = disk.absolute(file, m.context.cwd, m.context.home)
    head = disk.read_head(disk.real(place), MAX_PREVIOUS_BYTES)
    if head.fault:
        raise UsageError(f"cannot read {file}: {head.message}", hint=hint)
    try:
        found = previous_from_json(json.loads(head.data))
    except (ValueError, RecursionError):
        found = None
    if found is None:
        raise UsageError(f"{file} is no earlier output of metier prompt", hint=hint)
    return found


def run_tools(values: Values) -> None:
    """Print the tools' definitions: JSON, whoever asks."""
    import json

    from metier.disclose.schemas import schemas

    indent = None if values.json else 2
    write(json.dumps(schemas(values.many("only")), ensure_ascii=True, indent=indent) + "\n")


ROWS = (
    CommandRow(
        "prompt",
        options=(
            Option(
                "--budget",
                "tokens for all that is printed, or with --window a share such as 2%",
                "N",
            ),
            Option("--window", "the model's context window in tokens", "N"),
            Option(
                "--format",
                "how to write it (default: xml)",
                "FORMAT",
                choices=("xml", "markdown", "json"),
            ),
            Option(
                "--mode",
                "full, compact (names alone) or auto, which is compact for a small window",
                "MODE",
                choices=("full", "compact", "auto"),
            ),
            Option(
                "--task",
                "what the model is to do: when not all fit, those that fit the task go in",
                "TEXT",
            ),
            Option(
                "--previous",
                "the --json output of an earlier prompt: keep as much of its beginning as can be",
                "FILE",
            ),
            Option("--delta", "with --previous: print only what changed since"),
        ),
        examples={
            "metier prompt": "every visible skill in about 2,000 tokens",
            "metier prompt --window 200000 --budget 2% --format markdown": "a share of the window",
            "metier prompt --json > before.json": "later: metier prompt --previous before.json --delta",
        },
        detail="The budget covers all that is printed, the instructions after the list too.\n"
        "Those are shorter in a small budget, and left out in a tiny one.\n"
        "What was shortened or left out is reported on standard error, and in --json. "
        "No skills, no text.",
        run=run,
    ),
    CommandRow(
        "tools",
        options=(Option("--only", "only this tool (may be repeated)", "TOOL", repeat=True),),
        examples={"metier tools": "JSON Schema; 'metier.tools' has the handlers"},
        run=run_tools,
    ),
)
