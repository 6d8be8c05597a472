"""`metier find`."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from metier.catalogue.wire import plain
from metier.cli.argv import PICK, CommandRow, Option, Values, parse
from metier.cli.main import library, opened
from metier.cli.output import (
    MIN_DESCRIPTION_CELLS,
    Announcer,
    answer,
    clean,
    counted,
    flush,
    lines,
    note,
    table,
)
from metier.cli.terminal import GAP, cells, width
from metier.errors import UsageError
from metier.model import SCOPES
from metier.standard.names import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from metier.find.model import Confusion, Hit, Indexed
    from metier.library import Library

DEFAULT_HITS = 10
MAX_TASK_BYTES = 1 << 20
"""Of a task on standard input."""
NARROWING = ("limit", "scope", "category", "state", "tag", "typing", "pick")
"""Options about hits: there are none without a task."""
SCORE_DIGITS = 4
"""After the point, of a score."""
MAX_HEADING_CHARACTERS = 32
"""Characters of a heading in the table; --json has all of it."""
MAX_REASONS_NAMED = 3
"""Kinds of evidence that the table names; --json has all of them."""
COLUMNS_BESIDE_WHY = 2 + len("SCORE") + MIN_DESCRIPTION_CELLS + 4 * GAP
"""What the table takes beside names and reasons: the place, the score, some of the description."""
BY_WORDS = {
    "preparing": "Ranked by words; meanings are being prepared (`metier find --index` to wait).",
    "off": "Ranked by words alone. To rank by meaning too: metier find --index",
}
"""What is said of an answer that did not wait for vectors."""
SHARE_WORDS = {"lexical": "words", "vector": "meaning"}
"""What the table calls a share; the others, and the weights, are called by their own names."""
MIN_SHARE_NAMED = 0.05
"""A share of a score below which the table does not mention what it is due to."""


def run(values: Values) -> int:
    """Show which skills fit a task, bring the index up to date, or show what could be mistaken for
    what.
    """
    from metier.find.rank import MAX_HITS
    from metier.find.refresh import why_words_alone

    task = _task(" ".join(values.words)) if values.words else ""
    limit = values.number("limit", MAX_HITS) or DEFAULT_HITS
    _check(task, values)
    if values.flag("pick"):
        from metier.cli.pick import check_pick

        check_pick(values)
    with opened(values) as m:
        if not values.json and not sys.stderr.isatty():
            m.context.progress = Announcer()
        done = m.index() if values.flag("index") else None
        if values.flag("confusable"):
            found = m.confusable()
            answer(values, found, _confusable_text)
            if found.unseen and not values.json:
                whose = "its" if len(found.unseen) == 1 else "their"
                note(f"{len(found.unseen):,} without vectors, compared by {whose} words alone")
        elif task.strip():
            return _find(m, task, limit, values)
        elif done is not None:
            answer(values, done, _indexed_text)
            missing = why_words_alone(m.context)
            if missing and not values.json:
                flush()
                note(f"semantic search: off, {missing}")
    return 0


def _task(operand: str) -> str:
    """Give the task; a dash reads it from standard input, for what is too long to be an
    argument.
    """
    if operand != "-":
        return operand
    if sys.stdin is None:
        raise UsageError(
            "there is no standard input to read a task from", hint="give the task as an argument"
        )
    data = sys.stdin.buffer.read(MAX_TASK_BYTES + 1)
    if len(data) > MAX_TASK_BYTES:
        raise UsageError(
            f"the task on standard input has more than {MAX_TASK_BYTES:,} bytes",
            hint="say it in fewer words",
        )
    return data.decode("utf-8", "replace").removesuffix("\n")


def _check(task: str, values: Values) -> None:
    """Refuse what cannot be asked together: an option that would do nothing is a
    misunderstanding.
    """
    has_task = task.strip()
    confusable = values.flag("confusable")
    if not has_task and not values.flag("index") and not confusable:
        raise UsageError(
            "metier find needs a TASK",
            hint="say what is to be done: metier find 'fill in a PDF form'",
        )
    if has_task and confusable:
        raise UsageError(
            "--confusable compares skills, and takes no task", hint="leave the task away"
        )
    if not all(tag.strip() for tag in values.many("tag")):
        raise UsageError("--tag needs a tag", hint="name one, or leave --tag away")
    idle = [f"--{name}" for name in NARROWING if values.given(name)]
    if idle and not has_task:
        instead = "" if confusable else ", or say what is to be done"
        raise UsageError(
            f"there are no hits to narrow by {idle[0]} without a TASK",
            hint=f"leave {' and '.join(idle)} away{instead}",
        )


def _find(m: Library, task: str, limit: int, values: Values) -> int:
    from metier.disclose.offer import missing_note
    from metier.find.rank import SearchRequest
    from metier.find.service import about

    states = values.many("state")
    scope = values.optional("scope")
    category = values.optional("category")
    begun = time.perf_counter()
    hits = m.find(
        task,
        limit,
        scope=scope,
        category=category,
        states=states,
        tags=values.many("tag"),
        unfinished=values.flag("typing"),
    )
    took = round((time.perf_counter() - begun) * 1000, 1)
    known = about(m.context, SearchRequest(limit, scope, category, tuple(states)))
    document = {
        "query": task,
        "took_ms": took,
        "hits": [_document(hit) for hit in hits],
        "vectors": known.vectors,
        "skills": known.skills,
    }
    missing = missing_note(m.context)
    if missing:
        document["warning"] = missing
    if hits and values.flag("pick"):
        _pick(m, hits)
    elif hits or values.json:
        answer(values, hits, _table, document)
    else:
        _say_nothing_fits(m, known.skills)
    weak = all(hit.weak for hit in hits)
    if hits and weak and not values.json:
        flush()
        note("nothing fits well; these are the nearest")
    if hits and "ask" not in states and not values.json:
        _say_unsearched(m)
    _prepare(m, values, vectors=known.vectors)
    return 1 if weak else 0


def _say_unsearched(m: Library) -> None:
    """Say that skills of the project were not searched, because it isn't trusted yet."""
    from metier.cli.consent import TRUST_HINT, waiting_for_trust

    waiting = waiting_for_trust(m)
    if waiting:
        note(f"not searched: {waiting}")
        note(TRUST_HINT)


def _say_nothing_fits(m: Library, skills: int) -> None:
    """Say that nothing was found, and what to do; where skills of the project wait, that."""
    from metier.cli.consent import TRUST_HINT, waiting_for_trust

    waiting = waiting_for_trust(m)
    if waiting and not skills:
        note(f"no skill to search: {waiting}")
    else:
        note(f"nothing among {counted(skills, 'skill')} fits that")
        if waiting:
            note(f"not searched: {waiting}")
    note("")
    if waiting:
        note(TRUST_HINT)
    else:
        note("hint: say it in other words, or see what there is: metier list")


def _pick(m: Library, hits: Sequence[Hit]) -> None:
    """Let somebody pick one of the hits, and hand it on."""
    from metier.cli.pick import PickRow, hand_on, pick_one

    rows = [PickRow(hit.name, hit.description) for hit in hits]
    hand_on(m, hits[pick_one("Which of these?", rows)].path)


def _prepare(m: Library, values: Values, *, vectors: bool) -> None:
    """Have missing vectors made after the answer, and say so where they would have counted."""
    flush()
    state = m.prepare_index()
    if state in BY_WORDS and not vectors and not values.json:
        note(BY_WORDS[state])


def fill_index(words: list[str]) -> int:
    """Make the vectors that nobody waited for: what a process in the background does."""
    from metier.cli.table import COMMON
    from metier.find.service import fill

    with library(parse(ROWS[0], words, COMMON)) as m:
        fill(m.context)
    return 0


def _document(hit: Hit) -> dict[str, object]:
    row: dict[str, object] = plain(hit._asdict())
    why = {name: round(share, SCORE_DIGITS) for name, share in hit.why.items()}
    return {**row, "score": round(hit.score, SCORE_DIGITS), "why": why}


# --- for people


def _table(hits: Sequence[Hit]) -> str:
    names = [
        one_line(hit.name) + ("" if hit.state == "visible" else f" ({hit.state})") for hit in hits
    ]
    reasons = [_why(hit.why) for hit in hits]
    taken = max(map(cells, names)) + max(map(cells, reasons))
    if taken + COLUMNS_BESIDE_WHY > width():
        reasons = [_why(hit.why, 1) for hit in hits]
    rows = [
        (
            str(at),
            name,
            f"{hit.score:.2f}",
            why,
            _heading(hit.passage),
            one_line(hit.description),
        )
        for at, (hit, name, why) in enumerate(zip(hits, names, reasons, strict=True), 1)
    ]
    heads = ("#", "NAME", "SCORE", "WHY", "PASSAGE", "DESCRIPTION")
    listed = table(rows, heads, spare=("PASSAGE", "WHY"), whole=("NAME",), below="DESCRIPTION")
    return listed + _alike_lines(hits)


def _why(why: Mapping[str, float], most: int = MAX_REASONS_NAMED) -> str:
    """Give what made it rank in percent, the most first."""
    whole = sum(abs(share) for share in why.values()) or 1.0
    parts = sorted(
        ((share / whole, SHARE_WORDS.get(name, name)) for name, share in why.items()),
        key=lambda one: (-abs(one[0]), one[1]),
    )
    return " ".join(
        f"{name} {share:.0%}" for share, name in parts[:most] if abs(share) >= MIN_SHARE_NAMED
    )


def _heading(text: str) -> str:
    text = clean(one_line(text))
    return text if len(text) <= MAX_HEADING_CHARACTERS else text[: MAX_HEADING_CHARACTERS - 1] + "…"


def _alike_lines(hits: Sequence[Hit]) -> str:
    """Say which of the hits could be mistaken for one another."""
    shown = set[str]()
    pairs = []
    for hit in hits:
        rest = [name for name in hit.confusable if name not in shown]
        shown.add(hit.name)
        if rest:
            pairs.append(f"{one_line(hit.name)} is easily mistaken for {one_line(', '.join(rest))}")
    return ("\n" if pairs else "") + lines(pairs, "")


def _indexed_text(done: Indexed) -> str:
    waiting = f", {done.waiting:,} still without vectors" if done.waiting else ""
    return (
        f"{done.skills:,} in the index, {done.read:,} read, {done.gone:,} gone, "
        f"{done.embedded:,} embedded{waiting}\n"
    )


def _confusable_text(found: Confusion) -> str:
    rows = [
        (f"{one.similarity:.0%}", one_line(one.first), one_line(one.second), one.second_path)
        for one in found.pairs
    ]
    heads = ("ALIKE", "NAME", "AND", "PATH OF THE SECOND")
    return (
        table(rows, heads, whole=heads[:3], below=heads[3])
        or "No two skills answer the same tasks.\n"
    )


ROWS = (
    CommandRow(
        "find",
        operands="[TASK...]",
        options=(
            Option("--limit", "how many to show (10)", "N"),
            Option("--scope", "only this scope", "S", choices=SCOPES),
            Option("--category", "only this category", "C"),
            Option(
                "--state",
                "only skills in this state: visible, shadowed or ask (may be repeated)",
                "STATE",
                repeat=True,
            ),
            Option("--tag", "only skills with this tag (may be repeated)", "TAG", repeat=True),
            Option("--typing", "the last word may be unfinished"),
            Option(
                "--index",
                "first make everything that the search needs, and wait for it (with progress)",
            ),
            Option("--confusable", "show which skills answer the same tasks, instead"),
            PICK,
        ),
        examples={
            "metier find 'fill in this tax form'": "the best first, with what made each rank",
            "metier find 'deploy to staging' --scope project --limit 3": "only what this project ships",
            "metier find 'fill in this tax form' --pick": "pick one of them, and read it",
            "metier find - < message.txt": "a task that is too long for an argument",
            "metier find --index": "read everything now, so that later questions need not",
            "metier find --confusable": "pairs of skills that a model could mistake for one another",
        },
        detail="With - the task is read from standard input, up to 1 MiB.\n"
        "Nothing leaves this machine: words and vectors are compared here. A blocked "
        "or hidden skill is never suggested.\n"
        "Nobody waits for vectors. While many are missing, words alone rank, and a process in the "
        "background makes them; METIER_BACKGROUND=off, the setting route.background and CI "
        "switch that off.\n"
        "SCORE compares with the best hit, which has 1.00, and says nothing about how well that one "
        "fits. Where none fits well, a line says so and the exit code is 1.",
        paged=True,
        run=run,
    ),
)
