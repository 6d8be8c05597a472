"""How plugins, and what came of an operation on them, look as text. Whatever a stranger wrote is made harmless first."""

from __future__ import annotations

from metier.cli import candidates, output, plans
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metier.app import Library
    from metier.mirrors import Bound, Fault, Listed, Mirrored, Plugins

STATES = {"synced": "enabled", "update_pending": "pending"}
"""How people are told what a status means; the others are said as they are."""
STYLES = {"discovered": "dim", "synced": "green", "update_pending": "yellow", "paused": "yellow", "missing": "red",
          "disabled": "dim", "adopted": "dim"}  # fmt: skip
SKILLS = {"synced": "as accepted", "update_pending": "an update waits", "new": "new, waits for a yes", "removed": "gone upstream",
          "kept": "gone upstream, kept", "declined": "an update was declined"}  # fmt: skip
WIDEST = 80
"""An id has the names of a marketplace and a plugin in it."""
NONE = "No plugins are mirrored here, and none were found.\n\nnext: metier plugin enable SOURCE, or set plugins.sources\n"


# --- lists


def table(found: Plugins) -> str:
    """List plugins, then what could not be read."""
    rows = [
        (output.clean(one.plugin_id), state_of(one), output.clean(one.installed_version or one.version) or "-",
         f"{len(one.skills):,}", one.scope or "-", output.clean(one.source))
        for one in found.plugins
    ]  # fmt: skip
    heads = ("ID", "STATE", "VERSION", "SKILLS", "SCOPE", "SOURCE")
    listed = output.table(rows, heads, [_style(one) for one in found.plugins], widest=WIDEST)
    faults = "".join(_faults(found.errors, "error"))
    return (listed or ("" if faults else NONE)) + (f"\n{faults}" if listed and faults else faults)


def each(found: Plugins) -> str:
    """Show plugins one by one, with their skills."""
    return "\n".join("".join(_plugin(one)) for one in found.plugins)


def state_of(one: Listed) -> str:
    """Give a plugin's state in the words of people."""
    return STATES.get(one.status, one.status)


def _style(one: Listed) -> str:
    return STYLES.get(one.status, "bold")


def _plugin(one: Listed) -> Iterator[str]:
    clean, version = output.clean, output.clean(one.installed_version or one.version)
    newer = f", {clean(one.version)} is there" if one.installed_version and one.version not in {"", one.installed_version} else ""
    scope = f", {one.scope}" if one.scope else ""
    yield f"{output.style(clean(one.plugin_id), 'bold')} {version}".rstrip()
    yield f": {output.style(state_of(one), _style(one))}{newer}{scope}\n  {clean(one.source)}\n"
    if one.skills:
        rows = [_skill(name, bound, one) for name, bound in one.skills.items()]
        yield "\n" + output.table(rows, ("SKILL", "STATE", "ACCEPTED", "SEEN", "WAITS"))


def _skill(name: str, bound: Bound, one: Listed) -> tuple[str, ...]:
    state = state_of(one) if one.status in {"discovered", "disabled"} else SKILLS.get(bound.status, output.clean(bound.status))
    return (output.clean(name), state, plans.short(bound.accepted or "") or "-", plans.short(bound.observed or "") or "-",
            output.clean(bound.pending or "-"))  # fmt: skip


# --- what was done


def enabled(m: Library, found: Mirrored, *, dry: bool, shown: bool) -> str:
    """Say what enabling put in place, or would; or why nothing was. One that is enabled already was looked at instead."""
    if found.changed and not plans.steps(found.plan):
        return looked_at(m, found)
    plan = "" if shown or not plans.steps(found.plan) + len(found.plan.conflicts) else f"{plans.plan_text(found.plan)}\n"
    refused = "".join(plans.refusal_lines(found.refused))
    parts = [plan if dry or found.refused else "", refused, *_faults(found.unreachable, "unreachable")]
    if found.refused or dry:
        parts.append("nothing was changed\n")
    elif found.changed:
        parts += [*_placed(found), *(_on(one, news=bool(found.opened)) for one in found.plugins)]
    elif not found.unreachable:
        parts += [f"{output.clean(one.plugin_id)} is {state_of(one)} already\n" for one in found.plugins]
    return "".join([*parts, *_waiting(m, found.opened), notes(found)])


def _placed(found: Mirrored) -> Iterator[str]:
    for step in (*found.plan.add, *found.plan.update):
        where = ", ".join(dict.fromkeys(target.path for target in step.targets))
        word = output.style(plans.DONE["restore"] if step.mode == "restore" else "mirrored", "green")
        yield f"{word} {output.style(output.clean(step.name), 'bold')}: {output.clean(where)}\n"


def _on(one: Listed, *, news: bool) -> str:
    what = f"{output.clean(one.plugin_id)} {output.clean(one.installed_version or '')}".rstrip()
    here = sum(bound.accepted is not None for bound in one.skills.values())  # the others wait for a yes, or had a no
    said = f"{what} is {state_of(one)}: {plans.counted(here, 'skill')}, yours to edit\n"
    return said if news else f"{said}\nnext: metier plugin sync {plans.named(one.plugin_id)} looks for what is new\n"


def looked_at(m: Library, found: Mirrored) -> str:
    """Say what a look at plugins found: what waits now, what is gone, who did not answer."""
    parts = [notes(found), *_waiting(m, found.opened)]
    parts += [f"{output.style('superseded', 'dim')} {output.clean(ident)}\n" for ident in found.superseded]
    parts += [line for one in found.plugins if one.status == "missing" for line in _missing(one)]
    parts += _faults(found.unreachable, "unreachable")
    return "".join([*parts, _counted(found.plugins)])


def _waiting(m: Library, opened: Sequence[str]) -> Iterator[str]:
    known = {one.id: one for one in m.candidates(all=True)} if opened else {}
    for ident in opened:
        about = f"  {candidates.said(known[ident])}\n" if ident in known else ""
        yield f"{output.style('waits', 'yellow')} {output.clean(ident)}\n{about}  next: metier review show {plans.named(ident)}\n"


def _missing(one: Listed) -> Iterator[str]:
    name, missing = plans.named(one.plugin_id), output.style("missing", "red")
    yield f"{missing} {output.clean(one.plugin_id)}: its source has it no longer; its skills stay as they are\n"
    yield f"  next: metier plugin adopt {name} SKILL, or metier plugin disable {name}\n"


def _counted(plugins: Sequence[Listed]) -> str:
    """Sum up how plugins stand, in the order of the words."""
    if not plugins:
        return "no plugin is enabled here\n"
    counts = {status: sum(one.status == status for one in plugins) for status in STYLES}
    said = ", ".join(f"{count:,} {STATES.get(status, status)}" for status, count in counts.items() if count)
    return f"{plans.counted(len(plugins), 'plugin')}: {said}\n"


def _faults(faults: Sequence[Fault], word: str) -> Iterator[str]:
    for one in faults:
        where = f"{output.clean(one.path)}: " if one.path else ""
        yield f"{output.style(word, 'red')} {where}{output.clean(one.code)} {output.clean(one.message)}\n"


def notes(found: Mirrored) -> str:
    """Give what there is to know beside."""
    return "".join(f"note: {output.clean(note)}\n" for note in found.notes)
