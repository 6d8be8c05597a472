"""How plans, refusals, held updates and conflicts look as text. Whatever a stranger wrote is made
harmless first.
"""

from __future__ import annotations

from metier.cli.output import (
    SEVERITIES,
    bold,
    clean,
    coloured,
    counted,
    counts_text,
    lines,
    style,
    table,
)
from metier.cli.terminal import (
    GAP,
    UNBOUNDED_COLUMNS,
    cells,
    cut,
    pad,
    shorten_paths,
    width,
    wrapped,
)
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from metier.model import Finding
    from metier.scan.report import CountedFinding
    from metier.supply.model import (
        Conflict,
        DependencyEdge,
        FileChange,
        HeldUpdate,
        InstallTarget,
        Outcome,
        Plan,
        PlanStep,
        Refusal,
    )
    from metier.supply.tree import RequiredSkill

MAX_WHOLE_ROWS = 10
"""Skills of a plan for which a terminal shows why in full; of more, each has one line."""
MIN_WHY_COLUMNS = 24
"""What the reason of a plan's line takes at least before it goes on below."""
MAX_REASONS_BELOW = 6
"""Further reasons that are told below the lines of a plan."""
MAX_NAMES_BELOW = 3
"""Skills that are named before such a reason."""
MAX_ORIGINS_NAMED = 3
"""Sources and places that a plan names in a line."""
MAX_STAT_LINES = 30
"""Files that a plan shows the changes of; of more, the changes are summed up for each skill."""
STAT_COLUMNS = 80
"""How wide a diffstat is at most, as git's."""
STAT_FRAME_COLUMNS = 6
"""What a line of it takes beside the name, the count and the bar."""
MIN_BAR_COLUMNS = 10
MAX_FINDINGS_SHOWN = 3
"""Findings of a skill that a plan shows; the gravest come first."""
SHORT_ID_DIGITS = 10
"""Digits of a commit that people are shown."""
SIZE_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")
DONE_WORDS = {
    "add": "installed",
    "fast_forward": "updated",
    "three_way": "merged",
    "unchanged": "unchanged",
    "remove": "removed",
    "already_applied": "up to date",
    "restore": "restored",
}
PLAN_WORDS = {"add": "install", "three_way": "merge", "restore": "restore", "remove": "remove"}
"""What a plan calls each mode; every other is an update."""
STATE_STYLES = {"remove": "yellow", "held": "yellow", "refused": "red", "": "dim"}
LEVEL_WORDS = {
    "community": "unverified source",
    "verified": "verified source",
    "trusted": "trusted source",
}
GRAVE_VERDICTS = frozenset({"dangerous", "caution"})
POLICY_BEGINNINGS = ("level ", "changed since it was ", "Plugin skill safety check failed")
POLICY_ENDINGS = (": allow", ": warn", ": ask", ": block")
"""How reasons begin and end that say what the policy makes of a skill."""
STAT_WORDS = {"new": " (new)", "gone": " (gone)", "mode": " (mode)"}
MODE_WORDS = {
    "fast_forward": "no local edits",
    "three_way": "merged with your edits",
    "already_applied": "you have it already",
    "restore": "as it was pinned",
}


# --- words


def size_text(size: int) -> str:
    """Give a number of bytes in people's units."""
    amount = float(size)
    unit = 0
    while amount >= 1024 and unit < len(SIZE_UNITS) - 1:
        amount = amount / 1024
        unit = unit + 1
    if unit:
        return f"{amount:,.1f} {SIZE_UNITS[unit]}"
    return counted(size, "byte")


def short_id(commit: str) -> str:
    """Cut a commit or a digest to what people compare; anything else is shown as it is."""
    kind, colon, digits = commit.rpartition(":")
    known = len(digits) >= 2 * SHORT_ID_DIGITS and all(
        digit in "0123456789abcdef" for digit in digits
    )
    return f"{clean(kind)}{colon}{digits[:SHORT_ID_DIGITS]}" if known else clean(commit)


def shell_name(name: str) -> str:
    """Give a name as it can be typed in a shell."""
    from shlex import quote

    return quote(clean(name))


# --- what skills need

EDGE_STYLES = {"missing": "yellow", "left out": "yellow", "conflict": "red", "twin": "red"}
EDGE_WORDS = {"found": "", "twin": "name taken"}
MAX_EDGE_LINES = 100
"""Lines of a tree of needs that a plan shows."""


def edge_lines(edges: Sequence[DependencyEdge]) -> str:
    """Show as a tree which skill of a plan needs which other; nothing where none does."""
    below: dict[str, list[DependencyEdge]] = {}
    for edge in edges:
        below.setdefault(edge.by, []).append(edge)
    needed = {edge.name for edge in edges if edge.state != "cycle"}
    tops = [name for name in below if name not in needed] or list(below)[:1]
    out: list[str] = []
    told: set[str] = set()
    waiting: list[tuple[str, int, DependencyEdge | None]]
    waiting = [(name, 0, None) for name in reversed(tops)]
    while waiting and len(out) <= MAX_EDGE_LINES:
        name, depth, led = waiting.pop()
        cycle = led is not None and led.state == "cycle"
        again = name in told and name in below and not cycle
        note = edge_note(led.state, led) if led is not None else ""
        out.append(f"{'  ' * (depth + 1)}{clean(name)}{note}{' (see above)' if again else ''}\n")
        told.add(name)
        inner = [] if again or cycle else below.get(name, [])
        waiting += [(one.name, depth + 1, one) for one in reversed(inner)]
    cut = f"  … and more ({counted(len(edges), 'need')} in all)\n" if waiting else ""
    return f"needs:\n{''.join(out)}{cut}" if edges else ""


def edge_note(state: str, one: DependencyEdge | RequiredSkill) -> str:
    """Say in a few words how a skill is had that another one needs."""
    word = EDGE_WORDS.get(state, state)
    word = style(word, EDGE_STYLES[state]) if state in EDGE_STYLES else word
    version = f"{one.range}" + (f", is {one.version}" if one.range and one.version else "")
    told = [clean(part) for part in (version,) if part] + ([word] if word else [])
    if state in {"missing", "conflict", "twin"} and one.reason:
        told[-1] += f": {clean(one.reason)}"
    return f" ({', '.join(told)})" if told else ""


# --- plans


def count_steps(plan: Plan) -> int:
    """Count the skills of a plan."""
    return len(plan.add) + len(plan.update) + len(plan.remove)


def plan_text(outcome: Outcome, *, verbose: bool = False) -> str:
    """Give a plan for people: what it comes to, then a line for each skill with its verdict and
    why, then what upstream changed. `verbose` has everything about each skill.
    """
    steps = _steps(outcome.plan)
    if not (steps or outcome.refused or outcome.held):
        return conflict_lines(outcome.plan.conflicts) + edge_lines(outcome.dependencies)
    head = f"{style(_summary(outcome), 'bold')}\n"
    if verbose:
        quiet = [one._replace(settle=False) for one in outcome.held]
        listed = "".join(map(_step, steps)) + "".join(map(_held, quiet))
        listed += refusal_lines(outcome.refused, most=0)
    else:
        head += _origins(steps)
        listed = _table(outcome) + _ways_out(outcome)
    return "\n".join(
        filter(
            None,
            (
                head,
                listed,
                edge_lines(outcome.dependencies),
                conflict_lines(outcome.plan.conflicts),
                _stats(outcome, verbose=verbose),
            ),
        )
    )


def unshown_plan(outcome: Outcome, *, verbose: bool = False) -> str:
    """Give a plan that nobody has seen yet, with a gap below it; nothing for an empty one."""
    text = plan_text(outcome, verbose=verbose)
    return f"{text}\n" if text else ""


def _steps(plan: Plan) -> list[PlanStep]:
    return [*plan.add, *plan.update, *plan.remove]


def _summary(outcome: Outcome) -> str:
    """Sum up a plan: `6 to install, 12 refused: 10 dangerous, 2 for other reasons`."""
    from collections import Counter

    counts = Counter(f"to {_word(step)}" for step in _steps(outcome.plan))
    if outcome.held:
        counts["held"] = len(outcome.held)
    if outcome.refused:
        counts["refused"] = len(outcome.refused)
    grave = Counter(one.verdict for one in outcome.refused if one.verdict in GRAVE_VERDICTS)
    others = len(outcome.refused) - grave.total()
    if grave and others:
        grave["for other reasons"] = others
    why = counts_text(grave) if len(outcome.refused) > 1 else "".join(grave)
    return counts_text(counts) + (f": {why}" if why else "")


def _word(step: PlanStep) -> str:
    return PLAN_WORDS.get(step.mode, "update")


def _origins(steps: Sequence[PlanStep]) -> str:
    """Say where skills come from and where they go, where that can be said in a line."""
    coming = [step for step in steps if step.mode not in {"remove", "restore"}]
    froms = dict.fromkeys(
        f"{clean(step.source)}{f' {clean(step.ref)}' if step.ref != step.commit else ''}".rstrip()
        + (f" at {short_id(step.commit)}" if step.commit else "")
        for step in coming
    )
    tos = dict.fromkeys(
        f"{target.path.rpartition('/')[0] or target.path}"
        + (f" ({target.method}, {target.agent})" if target.agent else "")
        for step in coming
        if step.mode == "add"
        for target in step.targets
    )
    return "".join(
        f"{word} {', '.join(places)}\n"
        if len(places) <= MAX_ORIGINS_NAMED
        else f"{word} {len(places):,} places (--verbose names them)\n"
        for word, places in (("from", froms), ("to", [clean(to) for to in tos]))
        if places
    )


def _table(outcome: Outcome) -> str:
    """Give a line for each skill. Where there are few, why may take more than one."""
    rows = [(_word(step), step.name, _verdict(step), _why(step)) for step in _steps(outcome.plan)]
    rows += [("held", one.name, "-", _why_held(one)) for one in outcome.held]
    rows += [
        ("refused", one.name, one.verdict or "-", _first(one.reasons, one.verdict))
        for one in outcome.refused
    ]
    heads = ("STATE", "SKILL", "VERDICT", "WHY")
    rows = [(word, name, verdict, shorten_paths(clean(why))) for word, name, verdict, why in rows]
    if len(rows) <= MAX_WHOLE_ROWS:
        taken = [max(map(cells, column)) + GAP for column in zip(heads, *rows, strict=True)]
        room = max(width() - sum(taken[:-1]), MIN_WHY_COLUMNS)
        rows = [
            (*cells_of, part)
            for word, name, verdict, why in rows
            for cells_of, part in zip(
                ((word, name, verdict), *(("", "", ""),) * len(why)),
                wrapped(why, room),
                strict=False,
            )
        ]
    return table(rows, heads, [STATE_STYLES.get(row[0], "green") for row in rows], whole=("SKILL",))


def _verdict(step: PlanStep) -> str:
    return "-" if step.mode == "remove" or not step.files else step.verdict


def _why(step: PlanStep) -> str:
    """Say in a line what a person has to know of a step."""
    if step.mode == "remove":
        return "; ".join((*step.reasons, f"from {place_names(step)}"))
    told = [f"needed by {_named([clean(one) for one in step.needed_by])}"] if step.needed_by else []
    told += [MODE_WORDS[step.mode]] if step.mode in MODE_WORDS else []
    told += [f"new: {', '.join(step.gained)}"] if step.gained else []
    told += telling(step.reasons, step.verdict)
    return "; ".join(told) or LEVEL_WORDS.get(step.level, f"level {step.level}")


def telling(reasons: Sequence[str], verdict: str = "") -> list[str]:
    """Leave out of reasons what a line has already, or is the same for every skill: the level, the
    verdict, and what the policy makes of them.
    """
    return [
        reason.removeprefix(f"the scan says {verdict}: ")
        for reason in reasons
        if not reason.startswith(POLICY_BEGINNINGS) and not reason.endswith(POLICY_ENDINGS)
    ]


def _first(reasons: Sequence[str], verdict: str = "") -> str:
    return "".join((telling(reasons, verdict) or list(reasons))[:1])


def _why_held(one: HeldUpdate) -> str:
    more = len(telling(one.reasons)) - 1
    return _first(one.reasons) + (f" (and {counted(more, 'reason')} more)" if more > 0 else "")


def _ways_out(outcome: Outcome) -> str:
    """Say what can be done about what is refused, each thing once: that is the last reason where
    there are several.
    """
    whose: dict[str, list[str]] = {}
    for one in outcome.refused:
        for reason in telling(one.reasons)[1:][-1:]:
            whose.setdefault(reason, []).append(one.name)
    alone = len(outcome.refused) == 1
    told = [reason if alone else f"{_named(names)}: {reason}" for reason, names in whose.items()]
    rest = len(told) - MAX_REASONS_BELOW
    more = f"… and {counted(rest, 'reason')} more (--verbose)\n" if rest > 0 else ""
    return f"\n{lines(told[:MAX_REASONS_BELOW], '')}{more}" if told else ""


def _named(names: Sequence[str]) -> str:
    rest = len(names) - MAX_NAMES_BELOW
    return ", ".join(names[:MAX_NAMES_BELOW]) + (f" and {rest:,} more" if rest > 0 else "")


def _updates(outcome: Outcome) -> list[PlanStep | HeldUpdate]:
    return [*outcome.plan.update, *outcome.held]


def _stats(outcome: Outcome, *, verbose: bool) -> str:
    """Give what upstream changed, as git does: file by file, or skill by skill where there are too
    many.
    """
    changed = {one.name: one.changes for one in _updates(outcome) if one.changes}
    files = sum(map(len, changed.values()))
    if not changed:
        return ""
    if verbose or files <= MAX_STAT_LINES:
        found = {
            f"{name}/{one.path}{STAT_WORDS.get(one.kind, '')}": (
                "Bin" if one.kind == "binary" else "",
                one.added,
                one.removed,
            )
            for name, changes in changed.items()
            for one in changes
        }
    else:
        found = {
            f"{name} ({counted(len(changes), 'file')})": ("", *_sum_lines(changes))
            for name, changes in changed.items()
        }
    added, removed = _sum_lines([one for changes in changed.values() for one in changes])
    return (
        f"{diffstat(found)}  {counted(files, 'file')} changed upstream, "
        f"{counted(added, 'line')} added, {counted(removed, 'line')} removed\n"
    )


def _sum_lines(changes: Sequence[FileChange]) -> tuple[int, int]:
    return sum(one.added for one in changes), sum(one.removed for one in changes)


def diffstat(found: Mapping[str, tuple[str, int, int]]) -> str:
    """Give how much each thing changes: a word where no lines are counted, lines added and lines
    removed, with a bar for them that fits the width.
    """
    counts = {
        name: word or f"{added + removed:,}" for name, (word, added, removed) in found.items()
    }
    side = max(map(cells, counts.values()))
    names = {name: clean(name) for name in found}
    room = min(width(), STAT_COLUMNS) - side - STAT_FRAME_COLUMNS
    most = max(added + removed for _word, added, removed in found.values())
    longest = min(max(map(cells, names.values())), max(room - min(most, MIN_BAR_COLUMNS), 1))
    if width() >= UNBOUNDED_COLUMNS:
        longest = max(map(cells, names.values()))
    bar = max(min(most, room - longest), min(most, MIN_BAR_COLUMNS))
    out = []
    for name, (_word, added, removed) in found.items():
        plus, minus = (_scaled(count, most, bar) for count in (added, removed))
        shown = names[name]
        if cells(shown) > longest:
            shown = cut(f"./{shown}", longest)  # of a path the end is kept
        signs = style("+" * plus, "green") + style("-" * minus, "red")
        out.append(f"  {pad(shown, longest)} | {counts[name].rjust(side)} {signs}".rstrip() + "\n")
    return "".join(out)


def _scaled(count: int, most: int, room: int) -> int:
    """Scale a number of lines to a bar; whatever changed is seen."""
    if most <= room:
        return count
    return max(count * room // most, 1) if count else 0


def changes_text(outcome: Outcome) -> str:
    """Give the change upstream of each skill as a unified diff, where it was asked for."""
    from metier.cli.changes import diff_text

    return "".join(f"{diff_text(one.diff)}\n" for one in _updates(outcome) if one.diff)


def _step(step: PlanStep) -> str:
    word = _word(step)
    named = f"{word} {bold(step.name)}  {_origin(step)}\n"
    if step.mode == "remove" or not step.files:  # nothing new comes in: it goes, or it comes back
        towards = "from" if step.mode == "remove" else "to"
        return f"{named}{lines(step.reasons)}{_places(towards, step.targets)}"
    how = f", {MODE_WORDS[step.mode]}" if step.mode in MODE_WORDS else ""
    return (
        f"{named}  {counted(step.files, 'file')}, {size_text(step.size)}, about "
        f"{counted(step.tokens, 'token')}{how}\n"
        f"  {verdict_text(step.verdict, step.score)}, level {step.level}: "
        f"{coloured(step.action)}\n"
        f"{lines(step.reasons, '    ')}{gained_line(step.gained)}"
        f"{_ability_line(step.findings)}"
        f"{finding_lines(step.findings, most=0)}{_places('to', step.targets)}"
    )


def _ability_line(findings: Sequence[Finding]) -> str:
    """Say in a line what a skill merely can do."""
    from metier.scan.report import abilities_of

    can = abilities_of(findings)
    return f"    can: {clean(', '.join(can))}\n" if can else ""


def verdict_text(verdict: str, score: int) -> str:
    """Give a verdict with its score."""
    return coloured(verdict, f"{verdict} {score}/100")


def gained_line(gained: Sequence[str]) -> str:
    """Say what a skill may do that it could not before."""
    return f"    {style('new', 'yellow')}: {clean(', '.join(gained))}\n" if gained else ""


def _origin(step: PlanStep) -> str:
    inside = f" {clean(step.path)}" if step.path else ""
    ref = f" {clean(step.ref)}" if step.ref and step.ref != step.commit else ""
    commit = f" at {short_id(step.commit)}" if step.commit else ""
    return f"{clean(step.source)}{inside}{ref}{commit}"


def _places(word: str, targets: Sequence[InstallTarget]) -> str:
    return lines(
        f"{word} {target.path} ({', '.join(filter(None, (target.method, target.agent)))})"
        for target in targets
    )


def finding_lines(findings: Sequence[Finding], most: int = MAX_FINDINGS_SHOWN) -> str:
    """Give findings, the gravest first, each with its place and why it matters; 0 gives all."""
    from metier.scan.report import count_findings, is_mere_ability

    told = [one for one in findings if not is_mere_ability(one)]
    grave = count_findings(sorted(told, key=lambda one: SEVERITIES.index(one.severity)))
    rest = len(grave) - most if most else 0
    more = f"    … and {counted(rest, 'finding')} more (--json shows all)\n" if rest > 0 else ""
    return "".join(map(_finding, grave[: most or None])) + more


def _finding(found: CountedFinding) -> str:
    from metier.scan.report import times

    one = found.finding
    place = f"{one.path}:{one.line}" if one.line and one.path else one.path
    where = f"{clean(place)}: " if place else ""
    severity = coloured(one.severity)
    title, _, why = one.why.partition(". ")
    reason = f"        why: {clean(why)}\n" if why else ""
    return f"    {where}{one.rule} {severity} {clean(title)}{times(len(found.places))}\n{reason}"


# --- what stands in the way


def _conflict(one: Conflict) -> str:
    sides = ", ".join(
        f"{side} {_side_size(getattr(one, side))}" for side in ("base", "ours", "theirs")
    )
    why = f": {clean(one.why)}" if one.why else ""
    return f"{style('conflict', 'red')} in {clean(one.name)}: {clean(one.path)} ({sides}){why}\n"


def _side_size(text: str | None) -> str:
    return "has none" if text is None else size_text(len(text.encode("utf-8", "surrogatepass")))


def conflict_lines(conflicts: Sequence[Conflict]) -> str:
    """Give conflicts, each with the size of its three sides."""
    return "".join(_conflict(one) for one in conflicts)


def bad_news_lines(outcome: Outcome) -> str:
    """Say what was refused and what is held, each with why and what next."""
    return refusal_lines(outcome.refused) + "".join(map(_held, outcome.held))


def bad_news_rows(outcome: Outcome, *, verbose: bool = False) -> str:
    """Give what was refused and what is held as a plan shows it."""
    if not outcome.refused and not outcome.held:
        outcome = outcome._replace(dependencies=())  # they go with the plan
    return plan_text(outcome._replace(plan=type(outcome.plan)()), verbose=verbose)


def refusal_lines(refused: Sequence[Refusal], most: int = MAX_FINDINGS_SHOWN) -> str:
    """Say what was refused, and why."""
    return "".join(
        f"{style('refused', 'red')} {bold(one.name)}\n{lines(one.reasons)}"
        f"{finding_lines(one.findings, most)}"
        for one in refused
    )


def _held(one: HeldUpdate) -> str:
    following = f"  next: metier merge {shell_name(one.name)}\n" if one.settle else ""
    return f"{style('held', 'yellow')} {bold(one.name)}\n{lines(one.reasons)}{following}"


# --- what was done


def outcome_text(
    outcome: Outcome,
    *,
    done: bool = True,
    added: str = DONE_WORDS["add"],
    news: str | None = None,
) -> str:
    """Give what was done, what was not and why, and what there is to know; `done` is false where
    nothing was to be done. `news` is said of what was refused or is held, where it is said in
    another way, or was already.
    """
    rows = [
        (added if one.mode == "add" else DONE_WORDS[one.mode], one.name, one.path)
        for one in outcome.installed
    ]
    rows += [
        (DONE_WORDS["remove"], one.name, place_names(one))
        for one in (outcome.plan.remove if done else ())
    ]
    said = "".join(done_line(*row) for row in rows)
    if news is None:
        said += bad_news_lines(outcome)
    else:
        said += news + _counts_done(outcome, [word for word, _name, _place in rows])
    if not done and (count_steps(outcome.plan) or (news is not None and not outcome.ok)):
        said += "nothing was changed\n"
    elif not said and not count_steps(outcome.plan):
        said += "nothing to do\n"
    following = _next_merge(outcome) if news is not None else ""
    return said + lines(outcome.notes, "note: ") + following


def _counts_done(outcome: Outcome, done: Sequence[str]) -> str:
    """Count what was done and what was not, where the second was told before the first."""
    from collections import Counter

    counts = Counter(done)
    counts += Counter(held=len(outcome.held), refused=len(outcome.refused))
    return f"{counts_text(counts)}\n" if done and not outcome.ok else ""


def _next_merge(outcome: Outcome) -> str:
    waiting = [one.name for one in outcome.held if one.settle]
    whose = shell_name(waiting[0]) if len(waiting) == 1 else "NAME"
    return f"\nnext: metier merge {whose}\n" if waiting else ""


def done_line(word: str, name: str, place: str) -> str:
    """Say what was done with a skill, and where."""
    return f"{style(word, 'green')} {bold(name)}: {clean(place)}\n"


def place_names(step: PlanStep) -> str:
    """Name each place of a step once."""
    return ", ".join(dict.fromkeys(target.path for target in step.targets))
