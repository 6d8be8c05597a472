"""`metier find`."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from metier import cli
from metier.cli import output
from metier.disclose.wire import plain
from metier.errors import UsageError
from metier.routing import MOST, Wish, about
from metier.standard.names import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from metier.app import Library
    from metier.cli.argv import Values
    from metier.wanted import Confusion, Hit, Indexed

LIMIT = 10
MOST_BYTES = 1 << 20
"""Of a task on standard input."""
NARROWING = ("limit", "scope", "category", "state", "tag", "typing")
"""Options about hits: there are none without a task."""
DIGITS = 4
"""After the point, of a score."""
PASSAGE = 32
"""Characters of a heading in the table; --json has all of it."""
NAMED = 3
"""Kinds of evidence that the table names; --json has all of them."""
PARTS = {"lexical": "words", "vector": "meaning", "passage": "passage", "trigger": "trigger", "name": "name"}
"""What the table calls each share; the weights have their own names already."""
ENOUGH = 0.05
"""A share of a score below which the table does not mention what it is due to."""


def run(values: Values) -> int:
    """Show which skills fit a task, bring the index up to date, or show what could be mistaken for what."""
    operands = values["operands"]
    assert isinstance(operands, list)
    task, limit = _task(operands[0]) if operands else "", cli.number_of(values, "limit", MOST) or LIMIT
    _check(task, values)
    library = cli.library(values)
    try:
        with library as m:
            done = m.index() if values["index"] else None
            if values["confusable"]:
                return _confusable(m.confusable(), as_json=bool(values["json"]))
            if not task.strip():
                assert done is not None
                return _indexed(done, as_json=bool(values["json"]))
            return _find(m, task, limit, values)
    finally:
        for warning in library.warnings:
            output.note(f"warning: {warning}")


def _task(operand: str) -> str:
    """Give the task; a dash reads it from standard input, for what is too long to be an argument."""
    if operand != "-":
        return operand
    if sys.stdin is None:
        raise UsageError("there is no standard input to read a task from", hint="give the task as an argument")
    data = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise UsageError(f"the task on standard input has more than {MOST_BYTES:,} bytes", hint="say it in fewer words")
    return data.decode("utf-8", "replace").removesuffix("\n")


def _check(task: str, values: Values) -> None:
    """Refuse what cannot be asked together: an option that would do nothing is a misunderstanding."""
    if not task.strip() and not values["index"] and not values["confusable"]:
        raise UsageError("metier find needs a TASK", hint="say what is to be done: metier find 'fill in a PDF form'")
    if task.strip() and values["confusable"]:
        raise UsageError("--confusable compares skills, and takes no task", hint="leave the task away")
    tags = values["tag"]
    assert isinstance(tags, list)
    if not all(tag.strip() for tag in tags):
        raise UsageError("--tag needs a tag", hint="name one, or leave --tag away")
    idle = [f"--{name}" for name in NARROWING if values[name] not in (None, False, [])]
    if idle and not task.strip():
        hint = f"leave {' and '.join(idle)} away" + ("" if values["confusable"] else ", or say what is to be done")
        raise UsageError(f"there are no hits to narrow by {idle[0]} without a TASK", hint=hint)


def _find(library: Library, task: str, limit: int, values: Values) -> int:
    states, tags = values["state"], values["tag"]
    assert isinstance(states, list)
    assert isinstance(tags, list)
    scope, category, begun = cli.text_of(values["scope"]), cli.text_of(values["category"]), time.perf_counter()
    hits = library.find(task, limit, scope=scope, category=category, states=states, tags=tags, unfinished=bool(values["typing"]))
    took, known = round((time.perf_counter() - begun) * 1000, 1), about(library, Wish(limit, scope, category, tuple(states)))
    if values["json"]:
        document = {"query": task, "took_ms": took, "hits": [_row(hit) for hit in hits], "vectors": known.vectors,
                    "skills": known.skills}  # fmt: skip
        output.write(output.json_text(document) + "\n")
    elif hits:
        output.write(_table(hits))
    else:
        count = "1 skill" if known.skills == 1 else f"{known.skills:,} skills"
        for line in (f"nothing among {count} fits that", "", "hint: say it in other words, or see what there is: metier list"):
            output.note(line)
    return 0 if hits else 1


def _row(hit: Hit) -> dict[str, object]:
    row: dict[str, object] = plain(hit._asdict())
    return {**row, "score": round(hit.score, DIGITS), "why": {name: round(share, DIGITS) for name, share in hit.why.items()}}


# --- for people


def _table(hits: Sequence[Hit]) -> str:
    clean = output.clean
    rows = [
        (str(at), clean(one_line(hit.name)) + ("" if hit.state == "visible" else f" ({hit.state})"), f"{hit.score:.2f}",
         _why(hit.why), _heading(hit.passage), clean(one_line(hit.description)))
        for at, hit in enumerate(hits, 1)
    ]  # fmt: skip
    return output.table(rows, ("#", "NAME", "SCORE", "WHY", "PASSAGE", "DESCRIPTION")) + _likeness(hits)


def _why(why: Mapping[str, float]) -> str:
    """Give what made it rank in percent, the most first."""
    whole = sum(abs(share) for share in why.values()) or 1.0
    parts = sorted(((share / whole, PARTS.get(name, name)) for name, share in why.items()), key=lambda one: (-abs(one[0]), one[1]))
    return " ".join(f"{name} {share:.0%}" for share, name in parts[:NAMED] if abs(share) >= ENOUGH)


def _heading(text: str) -> str:
    text = output.clean(one_line(text))
    return text if len(text) <= PASSAGE else text[: PASSAGE - 1] + "…"


def _likeness(hits: Sequence[Hit]) -> str:
    """Say which of the hits could be mistaken for one another."""
    shown, pairs = set[str](), []
    for hit in hits:
        rest = [name for name in hit.confusable if name not in shown]
        shown.add(hit.name)
        if rest:
            pairs.append(f"{output.clean(one_line(hit.name))} is easily mistaken for {output.clean(one_line(', '.join(rest)))}\n")
    return ("\n" if pairs else "") + "".join(pairs)


def _indexed(done: Indexed, *, as_json: bool) -> int:
    if as_json:
        output.write(output.json_text(done) + "\n")
        return 0
    told = [f"{done.skills:,} in the index", f"{done.read:,} read", f"{done.gone:,} gone", f"{done.embedded:,} embedded"]
    if done.waiting:
        told.append(f"{done.waiting:,} still without vectors")
    output.write(", ".join(told) + "\n")
    return 0


def _confusable(found: Confusion, *, as_json: bool) -> int:
    if as_json:
        output.write(output.json_text(found) + "\n")
        return 0
    clean = output.clean
    rows = [(f"{one.similarity:.0%}", clean(one_line(one.first)), clean(one_line(one.second)), clean(one.second_path))
            for one in found.pairs]  # fmt: skip
    output.write(output.table(rows, ("ALIKE", "NAME", "AND", "PATH OF THE SECOND")) or "No two skills answer the same tasks.\n")
    if found.unseen:
        output.note(f"{len(found.unseen):,} without vectors, compared by their words alone")
    return 0
