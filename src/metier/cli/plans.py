"""How plans, refusals, held updates and conflicts look as text. Whatever a stranger wrote is made harmless first."""

from __future__ import annotations

from metier.cli import output
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metier.model import Finding
    from metier.supplies import Conflict, Held, Outcome, Plan, Refusal, Step, Target

DETAILED = 20
"""Skills of a plan that are shown with everything; each further one has a line, for nobody agrees to what was not named."""
SHOWN = 3
"""Findings of a skill that a plan shows; the gravest come first."""
SHORT = 10
"""Digits of a commit that people are shown."""
UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")
ACTION_STYLES = {"allow": "green", "warn": "yellow", "ask": "yellow", "block": "red"}
DONE = {"add": "installed", "fast_forward": "updated", "three_way": "merged", "unchanged": "unchanged", "remove": "removed",
        "already_applied": "up to date", "restore": "restored"}  # fmt: skip
WHAT = {"fast_forward": "no edits of yours are met", "three_way": "merged with your edits", "already_applied": "you have it",
        "restore": "as it was pinned"}  # fmt: skip
HEADS = {"add": "add", "update": "update", "remove": "remove"}
SEVERITIES = ("critical", "high", "medium", "low", "info")


# --- words


def counted(count: int, noun: str) -> str:
    """Give a count with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def size_text(size: int) -> str:
    """Give a number of bytes in people's units."""
    amount, unit = float(size), 0
    while amount >= 1024 and unit < len(UNITS) - 1:
        amount, unit = amount / 1024, unit + 1
    if unit:
        return f"{amount:,.1f} {UNITS[unit]}"
    return "1 byte" if size == 1 else f"{size:,} {UNITS[0]}"


def short(commit: str) -> str:
    """Cut a commit or a digest to what people compare; anything else is shown as it is."""
    kind, colon, digits = commit.rpartition(":")
    known = len(digits) >= 2 * SHORT and all(digit in "0123456789abcdef" for digit in digits)
    return f"{output.clean(kind)}{colon}{digits[:SHORT]}" if known else output.clean(commit)


def named(name: str) -> str:
    """Give a name as it can be typed in a shell."""
    from shlex import quote

    return quote(output.clean(name))


# --- plans


def steps(plan: Plan) -> int:
    """Count the skills of a plan."""
    return len(plan.add) + len(plan.update) + len(plan.remove)


def plan_text(plan: Plan) -> str:
    """Give a plan for people: what, from where, at which cost, with which verdict, to which places."""
    rows = [(head, step) for head in HEADS for step in getattr(plan, head)]
    detailed = [text for head, step in rows[:DETAILED] for text in _step(head, step)]
    brief = [_brief(head, step) for head, step in rows[DETAILED:]]
    return "".join([*detailed, *brief, *(_conflict(one) for one in plan.conflicts)])


def _step(head: str, step: Step) -> Iterator[str]:
    clean = output.clean
    yield f"{head} {output.style(clean(step.name), 'bold')}  {_origin(step)}\n"
    if head == "remove" or not step.files:  # nothing new comes in: it goes, or it comes back as it was
        yield from (f"  {clean(reason)}\n" for reason in step.reasons)
        yield from _places("from" if head == "remove" else "to", step.targets)
        return
    what = f", {WHAT[step.mode]}" if step.mode in WHAT else ""
    yield f"  {counted(step.files, 'file')}, {size_text(step.size)}, about {counted(step.tokens, 'token')}{what}\n"
    verdict = output.style(f"{step.verdict} {step.score}/100", output.LEVEL_STYLES[step.verdict])
    yield f"  {verdict}, level {step.level}: {output.style(step.action, ACTION_STYLES.get(step.action, 'bold'))}\n"
    yield from (f"    {clean(reason)}\n" for reason in step.reasons)
    if step.gained:
        yield f"    {output.style('new', 'yellow')}: {clean(', '.join(step.gained))}\n"
    yield from finding_lines(step.findings)
    yield from _places("to", step.targets)


def _brief(head: str, step: Step) -> str:
    verdict = "" if head == "remove" else f"  {step.verdict} {step.score}/100, {step.level}, {size_text(step.size)}"
    return f"{head} {output.clean(step.name)}  {_origin(step)}{verdict}\n"


def _origin(step: Step) -> str:
    clean = output.clean
    inside = f" {clean(step.path)}" if step.path else ""
    ref = f" {clean(step.ref)}" if step.ref and step.ref != step.commit else ""
    commit = f" at {short(step.commit)}" if step.commit else ""
    return f"{clean(step.source)}{inside}{ref}{commit}"


def _places(word: str, targets: Sequence[Target]) -> Iterator[str]:
    for target in targets:
        how = target.method if not target.agent else f"{target.method}, {output.clean(target.agent)}"
        yield f"  {word} {output.clean(target.path)} ({how})\n"


def finding_lines(findings: Sequence[Finding], most: int = SHOWN) -> Iterator[str]:
    """Give findings, the gravest first, each with its place and why it matters."""
    clean = output.clean
    grave = sorted(findings, key=lambda one: SEVERITIES.index(one.severity))
    for one in grave[:most]:
        place = f"{clean(one.path)}:{one.line}" if one.line else clean(one.path)
        severity = output.style(one.severity, output.HARM_STYLES[one.severity])
        title, _, why = one.why.partition(". ")
        yield f"    {place}: {one.rule} {severity} {clean(title)}\n"
        if why:
            yield f"        why: {clean(why)}\n"
    if len(grave) > most:
        yield f"    … and {counted(len(grave) - most, 'finding')} more (--json shows all)\n"


# --- what stands in the way


def _conflict(one: Conflict) -> str:
    sides = ", ".join(f"{side} {_side(getattr(one, side))}" for side in ("base", "ours", "theirs"))
    why = f": {output.clean(one.why)}" if one.why else ""
    return f"{output.style('conflict', 'red')} in {output.clean(one.name)}: {output.clean(one.path)} ({sides}){why}\n"


def _side(text: str | None) -> str:
    return "has none" if text is None else size_text(len(text.encode("utf-8", "surrogatepass")))


def conflict_lines(conflicts: Sequence[Conflict]) -> str:
    """Give conflicts, each with the size of its three sides."""
    return "".join(_conflict(one) for one in conflicts)


def bad_news(outcome: Outcome) -> Iterator[str]:
    """Say what was refused and what is held, each with why and what next."""
    yield from refusal_lines(outcome.refused)
    for held in outcome.held:
        yield from _held(held)


def refusal_lines(refused: Sequence[Refusal]) -> Iterator[str]:
    """Say what was refused, and why."""
    for one in refused:
        yield f"{output.style('refused', 'red')} {output.style(output.clean(one.name), 'bold')}\n"
        yield from (f"  {output.clean(reason)}\n" for reason in one.reasons)
        yield from finding_lines(one.findings)


def _held(one: Held) -> Iterator[str]:
    yield f"{output.style('held', 'yellow')} {output.style(output.clean(one.name), 'bold')}\n"
    yield from (f"  {output.clean(reason)}\n" for reason in one.reasons)
    if one.settle:
        yield f"  next: metier merge {named(one.name)}\n"


# --- what was done


def outcome_text(outcome: Outcome, *, done: bool = True, added: str = DONE["add"]) -> str:
    """Give what was done, what was not and why, and what there is to know; `done` is false where nothing was to be done."""
    gone = outcome.plan.remove if done else ()
    parts = [*(_done(one.mode, one.name, one.path, added) for one in outcome.installed), *bad_news(outcome)]
    parts += [_done("remove", one.name, ", ".join(dict.fromkeys(target.path for target in one.targets)), added) for one in gone]
    if not done and steps(outcome.plan):
        parts.append("nothing was changed\n")
    elif not parts and not steps(outcome.plan):
        parts.append("nothing to do\n")
    parts += [f"note: {output.clean(note)}\n" for note in outcome.notes]
    return "".join(parts)


def _done(mode: str, name: str, path: str, added: str) -> str:
    what = output.style(added if mode == "add" else DONE[mode], "green")
    return f"{what} {output.style(output.clean(name), 'bold')}: {output.clean(path)}\n"
