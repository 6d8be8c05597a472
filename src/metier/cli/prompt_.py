"""`metier prompt`."""

from __future__ import annotations

from metier import cli
from metier.cli import output
from metier.disclose.tokens import Estimate
from metier.errors import UsageError
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.app import Library
    from metier.cli.argv import Values
    from metier.disclose.catalogue import Disclosure

NAMED = 5
"""How many names a report gives before it only counts."""
DIGITS = 12
"""Of a window in tokens, more than any model has."""
LARGEST = 256 * 1024 * 1024
"""Bytes of an earlier output that are read."""


def run(values: Values) -> int:
    """Print the catalogue for a model, and on standard error what it leaves out."""
    if values["delta"] and values["previous"] is None:
        raise UsageError("--delta needs --previous", hint="keep an earlier output: metier prompt --json > before.json")
    library = cli.library(values)
    previous = _previous(library, cli.text_of(values["previous"]))
    try:
        with library as m:
            made = m.catalogue(
                cli.text_of(values["budget"]), window=_window(cli.text_of(values["window"])),
                format=cli.text_of(values["format"]) or "", mode=cli.text_of(values["mode"]) or "auto",
                task=cli.text_of(values["task"]) or "", previous=previous,
            )  # fmt: skip
            extra = (m.counter or Estimate()).count(made.instructions) if made.instructions else 0
    finally:
        for warning in library.warnings:
            output.note(f"warning: {warning}")
    if values["json"]:
        output.write(output.json_text(made) + "\n")
    elif values["delta"]:
        output.write(f"{made.delta}\n" if made.delta else "")
        _report(made, extra)
    else:
        output.write(f"{made.text}\n\n{made.instructions}" if made.text else "")
        _report(made, extra)
    return 0


def _report(made: Disclosure, extra: int) -> None:
    """Say what was shortened and what was left out, where it spoils no prompt."""
    total = made.included + len(made.omitted)
    count = "1 skill" if total == 1 else f"{total:,} skills"
    beside = f", and {extra:,} for the instructions" if extra else ""
    cost = f"{made.tokens:,} of {made.budget:,} tokens{beside}"
    output.note(f"{made.included:,} of {count}, {cost}" if total else "no skills to tell of")
    for what, names in (("shortened", made.cut), ("left out", made.omitted), ("not ready", made.unready)):
        if names:
            more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
            output.note(f"{len(names):,} {what}: {', '.join(names[:NAMED])}{more}")
    for warning in made.warnings:
        output.note(f"warning: {warning}")


def _window(text: str | None) -> int:
    if text is None:
        return 0
    if not text.isascii() or not text.isdigit() or len(text) > DIGITS or not int(text):
        raise UsageError(f"'{text[:40]}' is no window", hint="give the model's context in tokens, such as 200000")
    return int(text)


def _previous(library: Library, file: str | None) -> Disclosure | None:
    """Read an earlier output, as it is named from the folder that `-C` gives. A pipe in its place must not hang the reader."""
    if file is None:
        return None
    import json

    from metier.disclose.catalogue import remembered
    from metier.discover import disk

    hint = "give a file that holds the whole output of an earlier metier prompt --json"
    head = disk.read_head(disk.real(disk.absolute(file, library.cwd, library.home)), LARGEST)
    if head.fault:
        raise UsageError(f"cannot read {file}: {head.message}", hint=hint)
    try:
        found = remembered(json.loads(head.data))
    except (ValueError, RecursionError):
        found = None
    if found is None:
        raise UsageError(f"{file} is no earlier output of metier prompt", hint=hint)
    return found
