"""What a run would be, all of it, before anything happens: what it would have, and every reason for which it would be refused.

A run asks the same questions again, of the bytes that it then has. Here nothing is copied, installed, started or noted down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from metier.copies import disk as copies
from metier.discover import disk
from metier.errors import MetierError, RefusedError
from metier.execute import answers
from metier.execute.interpreters import env as interpreters, is_some_python, options_of
from metier.execute.proc import Bubblewrap
from metier.running import admitting, cages, confirming, environments, modules, planning, scripts, skillcages
from metier.runs import HOME, SCRATCH, SKILL, Cage, Call, Given, Lent, Mount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.app import Library
    from metier.model import Card
    from metier.preparing import RunPlan
    from metier.running.admitting import Admitted
    from metier.running.environments import Wanted
    from metier.running.planning import Planned

    Where = Literal["sandbox", "bare", "process"]
    """In a sandbox; without one, as a program of the user's own; inside metier's own process."""

INSTALLS = "it declares packages that are not installed: installing them needs a person's yes"


class Foreseen(NamedTuple):
    """A run that might be made."""

    planned: Planned
    """Its gates, and what it is granted."""
    plan: RunPlan
    """The same with all that a run would ask besides."""
    where: Where
    cage: Cage
    """All that it would have, with no value of a secret in it. The skill is mounted from where it lies, not from its copy."""
    own: tuple[str, ...] = ()
    """Which of the cage's variables are the skill's; every other is the same for all."""
    packages: Wanted | None = None
    act: str = ""
    """What consent has to name where a code skill may destroy something (CO-18)."""
    withheld: tuple[str, ...] = ()
    """What it declares or is lent and does not get, each with the reason."""
    ignored: tuple[str, ...] = ()
    """What it is lent and has no need of: nothing is kept from it there."""


def foreseen(
    library: Library, name: str, script: str = "", arguments: Sequence[str] = (), lent: Lent = planning.NOTHING, *,
    bare: bool = False,
) -> Foreseen:  # fmt: skip
    """Say what a run would be: of a script, or of a code skill with the task in its place; `bare` is without a sandbox."""
    card = library.resolve(name)
    if card.kind == "code":
        return _called(library, card, script, arguments, lent)
    return _started(library, card, script, arguments, lent, bare=bare)


# --- a script


def _started(library: Library, card: Card, script: str, arguments: Sequence[str], lent: Lent, *, bare: bool) -> Foreseen:
    cages.checked(arguments)
    try:
        chosen, none = scripts.chosen(library, card, script), ""
    except RefusedError as error:  # it has none
        chosen, none = script, error.message
    planned = planning.planned(library, card.path, chosen, arguments, lent)
    if none:
        planned = planned._replace(plan=planned.plan._replace(reasons=[none]))
    against: list[str] = []
    head = disk.read_head(planned.plan.path, cages.SCRIPT_BYTES).data if planned.plan.path else b""
    packages = _packages(library, planned, head, against)
    cage, own = _outline(library, planned, head, packages, against, bare=bare)
    cages.together(cage)
    against += _too_large(library, planned.plan)
    if not library.data:
        against.append("there is no place to copy the skill to first: set METIER_HOME or HOME")
    if bare:
        against += _allowed_bare(library)
    elif planned.plan.interpreter and not planned.granted.unmet:
        mounts = (Mount(_copy(library, planned) or SKILL, SKILL), *cage.mounts[1:])
        against += _kept_in(library, cage._replace(mounts=mounts))
    return _told(Foreseen(planned, planned.plan, "bare" if bare else "sandbox", cage, own, packages), lent, against)


def _packages(library: Library, planned: Planned, head: bytes, against: list[str]) -> Wanted | None:
    """Give what a script wants installed, where it is Python."""
    if not is_some_python(planned.plan.interpreter):
        return None
    try:
        wanted = environments.planned(library, head.decode("utf-8", "replace"), planned.plan.interpreter)
    except MetierError as error:
        against.append(error.message)
        return None
    if wanted is not None and wanted.state == "refused":
        against.append(f"the packages that it declares are not installed: {wanted.reason}")
    return wanted


def _outline(
    library: Library, planned: Planned, head: bytes, packages: Wanted | None, against: list[str], *, bare: bool
) -> tuple[Cage, tuple[str, ...]]:  # fmt: skip
    """Give the cage of a script as `cages` will lay it out, and which of its variables are the skill's own."""
    plan, granted, settings = planned.plan, planned.granted, library.settings.run
    command: tuple[str, ...] = (plan.interpreter,)
    mounts: tuple[Mount, ...] = ()
    needed = mounts
    if plan.interpreter:
        try:
            found = interpreters.find(plan.interpreter, settings.interpreters, library.env.get("PATH", ""), library.home or "",
                                      library.data or "")  # fmt: skip
            command, mounts = (*found.command, *options_of(head, plan.interpreter)), found.mounts
            needed = mounts
        except MetierError as error:
            against.append(error.message)
    if packages is not None and packages.key:
        made = environments.environment_of(library, packages)
        command, mounts = (made.python, *command[1:]), (*mounts, *made.mounts)
    folder = (_copy(library, planned) or planned.card.path) if bare else SKILL
    inside = plan.path.removeprefix(f"{disk.real(planned.card.path)}/") or plan.script
    variables, files = cages.secrets(dict.fromkeys(plan.environment, ""), as_files=settings.secrets == "file" and not bare)
    lent = () if bare else tuple(Given(f"{HOME}/{one.path.removeprefix('~/')}", b"") for one in plan.files if one.there)
    base = cages.surroundings(planned.card.name, folder, cwd=cages.lent_here(library, granted.mounts))
    cage = Cage(
        (*command, f"{folder}/{inside}", *plan.arguments), (Mount(planned.card.path, SKILL), *mounts, *granted.mounts),
        (*files, *lent), tuple({**base, **variables}.items()), SCRATCH,
        granted.network, granted.bounds, sockets=cages.may_connect(plan.interpreter, needed, granted.mounts),
    )  # fmt: skip
    return cage, tuple(variables)


def _too_large(library: Library, plan: RunPlan) -> list[str]:
    """Say which of the user's files cannot be lent as copies; none of what they hold is kept."""
    there = [(one.path, library.machine.file_of(one.path)) for one in plan.files if one.there]
    sizes = [(path, disk.read_head(real, cages.CREDENTIAL_BYTES + 1)) for path, real in there if real is not None]
    return [f"{path} cannot be lent: {head.fault or 'it is too large'}" for path, head in sizes
            if head.fault or len(head.data) > cages.CREDENTIAL_BYTES]  # fmt: skip


def _copy(library: Library, planned: Planned) -> str:
    """Say where the copy lies that is run; nothing where there can be none."""
    return copies.place(library.data, planned.plan.digest) if library.data and planned.plan.digest else ""


def _allowed_bare(library: Library) -> list[str]:
    try:
        scripts.box_for(library, scripts.Wish(unsandboxed=True))
    except MetierError as error:
        return [_said(error)]
    return []


# --- a code skill


def _called(library: Library, card: Card, task: str, rest: Sequence[str], lent: Lent) -> Foreseen:
    words = [task, *rest] if task or rest else []
    planned = planning.planned(library, card.path, "", words, lent)
    here = modules.may_be_here(library, planned.level)
    if here:  # nothing is lent there, so nothing can be wrong with that
        planned = planning.planned(library, card.path, "", words, Lent(seconds=lent.seconds))
    asked = Call(card.name, task, "\n".join(rest))
    against = _too_long(asked)
    granted, act = planned.granted, ""
    cage = Cage((planned.plan.interpreter, f"{SKILL}/{planned.plan.script}"), granted.mounts, network=granted.network,
                bounds=granted.bounds)  # fmt: skip
    own: tuple[str, ...] = ()
    found = admitting.foreseen(library, card, asks=planned.plan.asks)
    if not isinstance(found, admitting.Admitted):
        against += [found.reason] if found.reason not in planned.plan.reasons else []
    else:
        act = confirming.act_of(found, asked) if found.destructive else ""
        if not here and not granted.unmet:
            cage, own = _laid(library, found, asked, lent, planned.plan.environment, against)
    return _told(Foreseen(planned, planned.plan, "process" if here else "sandbox", cage, own, act=act), lent, against)


def _laid(
    library: Library, admitted: Admitted, asked: Call, lent: Lent, names: Sequence[str], against: list[str]
) -> tuple[Cage, tuple[str, ...]]:  # fmt: skip
    """Give the cage of a code skill, and which of its variables are its own."""
    try:
        cage = skillcages.caged(library, admitted, asked, lent, dict.fromkeys(names, "")).cage
    except MetierError as error:
        against.append(error.message)
        return Cage(()), ()
    against += _kept_in(library, cage)
    fixed = cages.surroundings(admitted.card.name)
    return cage, tuple(name for name, _value in cage.environment if name not in fixed)


def _too_long(asked: Call) -> list[str]:
    parts = ("task", asked.task, answers.MOST_TASK), ("context", asked.context, answers.MOST_CONTEXT)
    return [f"the {what} has {len(text):,} characters, and a skill is given at most {most:,}" for what, text, most in parts
            if len(text) > most]  # fmt: skip


# --- both


def _kept_in(library: Library, cage: Cage) -> list[str]:
    """Say what a sandbox would refuse before it starts anything; of another than metier's own, whether it works at all."""
    box = library.box()
    try:
        if isinstance(box, Bubblewrap):
            box.check(cage)
            return []
        return ["; ".join(filter(None, (one.detail, one.hint))) for one in box.layers() if one.needed and not one.active]
    except MetierError as error:
        return [_said(error)]


def _said(error: MetierError) -> str:
    return "; ".join(filter(None, (error.message, error.hint)))


def _told(found: Foreseen, lent: Lent, against: list[str]) -> Foreseen:
    """Put all together: what stands against it, what is withheld, and what means nothing where it runs."""
    planned, plan = found.planned, found.planned.plan
    installs = found.packages is not None and found.packages.state == "ask"
    reasons = [*against, *plan.reasons, *([INSTALLS] if installs else ())]
    plan = plan._replace(allowed=plan.allowed and not against, asks=plan.asks or installs, reasons=reasons)
    if found.where == "sandbox":
        return found._replace(plan=plan, withheld=planned.granted.refused)
    named = (*(f"{path} to read" for path in lent.reads), *(f"{path} to change" for path in lent.writes),
             *(("the network",) if lent.network else ()))  # fmt: skip
    plan = plan._replace(network=True, writable=["/"], environment=plan.environment if found.where == "bare" else [])
    return found._replace(plan=plan, ignored=named)
