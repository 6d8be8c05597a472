"""Which skills a set of skills needs, out of those that are known: a graph of values. Pure, and
bounded in edges, depth and rounds.

The caller looks things up and this module reasons: it is given what is known so far, says what it
would have to know beside that, and is asked again. There is one version of each name, and no going
back: where no version fits all who need it, that is a conflict with both sides named.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import RefusedError
from metier.standard.semver import can_meet, read_range, read_version, satisfies
from metier.supply.model import DependencyEdge
from metier.supply.safe_names import fold_name, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from metier.model import Texts
    from metier.supply.model import DependencyState

MAX_EDGES = 1_000
"""Skills that the skills of one change may need, counted by who needs them."""
MAX_DEPTH = 50
"""How far from what was asked for a skill may be needed."""
MAX_ROUNDS = 100
"""How often more is looked up before it is given up."""
BLOCKING: frozenset[DependencyState] = frozenset({"conflict", "twin"})
"""What keeps a skill from being installed that needs another; one that is only missing does not."""


class NeededSkill(NamedTuple):
    """A skill that another one names, ready to be looked up."""

    name: str
    range: str = ""
    source: str = ""
    """The canonical source, where one is written."""
    said: str = ""
    """That source as it is written."""
    path: str = ""
    """Its folder in the source of who needs it, where that is written."""


class KnownSkill(NamedTuple):
    """A skill that is asked for, was found, or is installed already."""

    name: str
    state: DependencyState
    """`found` or `installed`."""
    source: str = ""
    version: str = ""
    """Nothing where it is not known."""
    requires: tuple[NeededSkill, ...] = ()
    ranges: frozenset[str] = frozenset()
    """What it was looked up with: with others it may be looked up again."""


class OpenNeed(NamedTuple):
    """Something to look up: who needs it first, and all versions that anybody will have."""

    by: str
    need: NeededSkill
    ranges: frozenset[str]


class ResolvedSkills(NamedTuple):
    """What is needed by whom, and what has to be looked up before that is all."""

    edges: tuple[DependencyEdge, ...]
    open: tuple[OpenNeed, ...]


def resolve(
    roots: Sequence[str],
    known: Mapping[str, KnownSkill],
    absent: Mapping[str, str] | None = None,
    locked: Iterable[str] = (),
) -> ResolvedSkills:
    """Follow what the roots need. `absent` says of names why nobody has them, `locked` are names
    that are taken.
    """
    absent = absent or {}
    folded = {fold_name(name): name for name in (*locked, *roots)}
    needs = _follow(roots, known, folded)
    ranges: dict[str, list[tuple[str, str]]] = {}
    for by, need in needs:
        if need.range:
            ranges.setdefault(need.name, []).append((by, need.range))
    clashes = {name: _clash(wanted) for name, wanted in ranges.items()}
    edges = []
    opened: dict[str, OpenNeed] = {}
    for by, need in needs:
        texts = frozenset(text for _by, text in ranges.get(need.name, ()))
        first = folded[fold_name(need.name)]
        edge = DependencyEdge(by, need.name, "found", need.range, need.source)
        if first != need.name:
            why = f"'{printable(first)}' is there, and some systems take the two names for one"
            edges.append(edge._replace(state="twin", reason=why))
        elif clashes.get(need.name):
            edges.append(edge._replace(state="conflict", reason=clashes[need.name]))
        elif need.name in known:
            found = _met(edge, known[need.name], texts)
            edges += [found] if found is not None else []
            if found is None:
                opened.setdefault(need.name, OpenNeed(by, need, texts))
        elif need.name in absent:
            edges.append(edge._replace(state="missing", reason=absent[need.name]))
        else:
            opened.setdefault(need.name, OpenNeed(by, need, texts))
    if opened:
        return ResolvedSkills(tuple(edges), tuple(opened.values()))
    return ResolvedSkills(_with_cycles(roots, edges), ())


def _follow(
    roots: Sequence[str], known: Mapping[str, KnownSkill], folded: dict[str, str]
) -> list[tuple[str, NeededSkill]]:
    """Give every need that can be reached, the nearest first; `folded` learns the names."""
    needs: list[tuple[str, NeededSkill]] = []
    depth = dict.fromkeys(roots, 0)
    waiting = deque(depth)
    while waiting:
        by = waiting.popleft()
        skill = known.get(by)
        for need in skill.requires if skill is not None and skill.state != "installed" else ():
            needs.append((by, need))
            if len(needs) > MAX_EDGES:
                raise _too_many(f"more than {MAX_EDGES:,} others", by)
            first = folded.setdefault(fold_name(need.name), need.name)
            if first == need.name and need.name not in depth:
                depth[need.name] = depth[by] + 1
                if depth[need.name] > MAX_DEPTH:
                    raise _too_many(f"others that need others, more than {MAX_DEPTH} deep", by)
                waiting.append(need.name)
    return needs


def _too_many(what: str, by: str) -> RefusedError:
    return RefusedError(
        f"'{printable(by)}' needs {what}",
        code="dependency-limit",
        hint="no honest skill does; --no-deps installs it without them",
    )


def _met(edge: DependencyEdge, skill: KnownSkill, ranges: frozenset[str]) -> DependencyEdge | None:
    """Say whether a known skill is what is needed; nothing where it has to be looked up again."""
    if edge.source and skill.source and edge.source != skill.source:
        why = f"it is to come from {edge.source}, and it is from {skill.source}"
        return edge._replace(state="conflict", reason=why)
    wanted = edge.range
    edge = edge._replace(
        state=skill.state, source=skill.source or edge.source, version=skill.version
    )
    version = read_version(skill.version) if skill.version else None
    if wanted and version is None:
        return edge._replace(reason=f"there are no versions to hold against {wanted}")
    if not wanted or version is None or satisfies(version, read_range(wanted) or ()):
        return edge
    if skill.state == "found" and ranges != skill.ranges:
        return None  # with all that is known now, another version may do
    return edge._replace(state="conflict", reason=f"{wanted} is needed, and it is {skill.version}")


def _clash(wanted: Sequence[tuple[str, str]]) -> str:
    """Say which two ranges cannot meet; nothing where all can."""
    texts = list(dict.fromkeys(text for _by, text in wanted))
    if len(texts) < 2 or can_meet([read_range(text) or () for text in texts]):
        return ""
    who = {text: by for by, text in reversed(wanted)}
    for at, one in enumerate(texts):
        for other in texts[at + 1 :]:
            if not can_meet([read_range(one) or (), read_range(other) or ()]):
                return (
                    f"'{printable(who[one])}' needs {one} and '{printable(who[other])}' {other}: "
                    "no version is both"
                )
    return f"no version is all of {', '.join(texts)}"


def _with_cycles(roots: Iterable[str], edges: list[DependencyEdge]) -> tuple[DependencyEdge, ...]:
    """Mark the edges that lead back to a skill that they started from. Skills that need each other
    are no fault: they are installed together.
    """
    outgoing: dict[str, list[int]] = {}
    for at, edge in enumerate(edges):
        if edge.state in {"found", "installed"}:
            outgoing.setdefault(edge.by, []).append(at)
    done: set[str] = set()
    for root in roots:
        path = [(root, iter(outgoing.get(root, ())))] if root not in done else []
        on_path = {root} if path else set()
        while path:
            name, rest = path[-1]
            at = next(rest, -1)
            if at == -1:
                path.pop()
                on_path.discard(name)
                done.add(name)
                continue
            aim = edges[at].name
            if aim in on_path:
                why = f"'{printable(aim)}' needs it in turn; they are installed together"
                edges[at] = edges[at]._replace(state="cycle", reason=why)
            elif aim not in done:
                path.append((aim, iter(outgoing.get(aim, ()))))
                on_path.add(aim)
    return tuple(edges)


def blocked(edges: Iterable[DependencyEdge], refused: Mapping[str, str]) -> dict[str, str]:
    """Give every skill that may not be installed because of what it needs, with the reason."""
    by_name: dict[str, list[DependencyEdge]] = {}
    found: dict[str, str] = {}
    for edge in edges:
        by_name.setdefault(edge.name, []).append(edge)
        if edge.state in BLOCKING and edge.by not in refused:
            found.setdefault(edge.by, f"it needs '{printable(edge.name)}': {edge.reason}")
    waiting = deque([*refused, *found])
    while waiting:
        name = waiting.popleft()
        why = refused.get(name) or found[name]
        for edge in by_name.get(name, ()):
            fits = edge.state in {"found", "cycle"}
            if fits and edge.by not in refused and edge.by not in found:
                found[edge.by] = f"it needs '{printable(name)}', which is refused: {why}"
                waiting.append(edge.by)
    return found


def reached(roots: Iterable[str], edges: Iterable[DependencyEdge]) -> set[str]:
    """Give the roots and all that they need, directly or not."""
    outgoing: dict[str, list[str]] = {}
    for edge in edges:
        if edge.state in {"found", "installed", "cycle"}:
            outgoing.setdefault(edge.by, []).append(edge.name)
    return closure(roots, outgoing)


def closure(roots: Iterable[str], outgoing: Mapping[str, Iterable[str]]) -> set[str]:
    """Give everything that can be reached."""
    found = set(roots)
    waiting = deque(found)
    while waiting:
        for name in outgoing.get(waiting.popleft(), ()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return found


def orphans(requires: Mapping[str, Texts], extra: Iterable[str], gone: Iterable[str]) -> list[str]:
    """Give the skills of `extra`, which nobody asked for, that only what is `gone` needed."""
    extra = set(extra)
    gone = set(gone)
    kept = closure(
        (name for name in requires if name not in extra | gone), _without(requires, gone)
    )
    theirs = closure(gone, requires)
    return sorted((theirs & extra) - kept - gone)


def _without(requires: Mapping[str, Texts], gone: set[str]) -> dict[str, Texts]:
    return {
        name: tuple(one for one in needed if one not in gone)
        for name, needed in requires.items()
        if name not in gone
    }
