"""Previews a run before anything happens, as words for a person and as data: what it would have,
and every reason for which it would be refused.

A run asks the same questions again, of the bytes that it then has. Here nothing is copied,
installed, started or noted down.

No value of a secret is in either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from metier.discover.io import disk
from metier.errors import MetierError, RefusedError
from metier.run import (
    admit,
    answers,
    cages,
    confirm,
    environments,
    in_process,
    output,
    plan,
    run_script,
)
from metier.run.interpreters import Interpreter, is_some_python
from metier.run.io import copies
from metier.run.io.bubblewrap import Bubblewrap
from metier.run.model import (
    HOME,
    NETWORK_ACCESS,
    NOTHING_LENT,
    SCRATCH,
    SECRETS,
    SKILL,
    Cage,
    CodeCall,
    Lent,
    Mount,
)
from metier.run.sandbox.bwrap_arguments import describe_cage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.context import Context
    from metier.model import Card, JsonObject, Texts
    from metier.run.environments import WantedPackages
    from metier.run.plan import Planned, RunPlan

    Where = Literal["sandbox", "bare", "process"]
    """In a sandbox; without one, as a program of the user's own; inside metier's own process."""


INSTALLS = "it declares packages that are not installed: installing them needs a person's yes"


class RunPreview(NamedTuple):
    """A run that might be made."""

    planned: Planned
    """Its gates, and what it is granted."""
    plan: RunPlan
    """The same with all that a run would ask besides."""
    where: Where
    cage: Cage
    """All that it would have, with no value of a secret in it. The skill is mounted from where it
    lies, not from its copy."""
    own: Texts = ()
    """Which of the cage's variables are the skill's; every other is the same for all."""
    packages: WantedPackages | None = None
    act: str = ""
    """What consent has to name where a code skill may destroy something (CO-18)."""
    withheld: Texts = ()
    """What it declares or is lent and does not get, each with the reason."""
    ignored: Texts = ()
    """What it is lent and has no need of: nothing is kept from it there."""


def preview_run(
    context: Context,
    name: str,
    script: str = "",
    arguments: Sequence[str] = (),
    lent: Lent = NOTHING_LENT,
    *,
    bare: bool = False,
) -> RunPreview:
    """Say what a run would be: of a script, or of a code skill with the task in its place; `bare`
    is without a sandbox.
    """
    card = context.catalogue.resolve(name)
    if card.kind == "code":
        return _preview_code(context, card, script, arguments, lent)
    return _preview_script(context, card, script, arguments, lent, bare=bare)


# --- a script


def _preview_script(
    context: Context, card: Card, script: str, arguments: Sequence[str], lent: Lent, *, bare: bool
) -> RunPreview:
    cages.check_arguments(arguments)
    try:
        chosen = run_script.choose_script(context, card, script)
        none = ""
    except RefusedError as error:  # it has none
        chosen = script
        none = error.message
    planned = plan.plan_script(context, card.path, chosen, arguments, lent)
    if none:
        planned = planned._replace(plan=planned.plan._replace(reasons=[none]))
    against: list[str] = []
    head = disk.read_head(planned.plan.path, cages.SCRIPT_BYTES).data if planned.plan.path else b""
    packages = _packages(context, planned, head, against)
    cage, own = _script_cage(context, planned, head, packages, against, bare=bare)
    if not context.data:
        against.append("there is no place to copy the skill to first: set METIER_HOME or HOME")
    if bare:
        try:
            run_script.sandbox_for(context, run_script.RunOptions(unsandboxed=True))
        except MetierError as error:
            against.append(_in_words(error))
    elif planned.plan.interpreter and not planned.granted.unmet:
        mounts = (Mount(_copy(context, planned) or SKILL, SKILL), *cage.mounts[1:])
        against += _kept_in(context, cage._replace(mounts=mounts))
    return _complete(
        RunPreview(planned, planned.plan, "bare" if bare else "sandbox", cage, own, packages),
        lent,
        against,
    )


def _packages(
    context: Context, planned: Planned, head: bytes, against: list[str]
) -> WantedPackages | None:
    """Give what a script wants installed, where it is Python."""
    if not is_some_python(planned.plan.interpreter):
        return None
    try:
        wanted = environments.plan_packages(
            context, head.decode("utf-8", "replace"), planned.plan.interpreter
        )
    except MetierError as error:
        against.append(error.message)
        return None
    if wanted is not None and wanted.state == "refused":
        against.append(f"the packages that it declares are not installed: {wanted.reason}")
    return wanted


def _script_cage(
    context: Context,
    planned: Planned,
    head: bytes,
    packages: WantedPackages | None,
    against: list[str],
    *,
    bare: bool,
) -> tuple[Cage, Texts]:
    """Give the cage of a script as a run has it, and which of its variables are the skill's own;
    no byte of the user's files stays in it.
    """
    plan = planned.plan
    reader = Interpreter((plan.interpreter,), ())
    if plan.interpreter:
        try:
            reader = cages.find_reader(context, plan.interpreter, head)
        except MetierError as error:
            against.append(error.message)
    if packages is not None and packages.key:
        reader = environments.with_packages(reader, environments.environment_of(context, packages))
    variables, secrets = cages.place_secrets(
        dict.fromkeys(plan.environment, ""), as_files=cages.secrets_as_files(context, bare=bare)
    )
    credentials = list(cages.read_credentials(context, plan.files))
    lent = () if bare else (given._replace(data=b"") for given, _fault in credentials)
    source = (bare and _copy(context, planned)) or planned.card.path
    cage = cages.lay_out(context, planned, source, reader, variables, (*secrets, *lent), bare=bare)
    against += [fault for _given, fault in credentials if fault]
    return cage, tuple(variables)


def _copy(context: Context, planned: Planned) -> str:
    """Say where the copy lies that is run; nothing where there can be none."""
    return (
        copies.path_of(context.data, planned.plan.digest)
        if context.data and planned.plan.digest
        else ""
    )


# --- a code skill


def _preview_code(
    context: Context, card: Card, task: str, rest: Sequence[str], lent: Lent
) -> RunPreview:
    words = [task, *rest] if task or rest else []
    planned = plan.plan_script(context, card.path, "", words, lent)
    here = in_process.may_be_here(context, planned.level)
    if here:  # nothing is lent there, so nothing can be wrong with that
        planned = plan.plan_script(context, card.path, "", words, Lent(seconds=lent.seconds))
    asked = CodeCall(card.name, task, "\n".join(rest))
    against = [
        f"{message}, and {most}" for message, most in answers.too_long(asked.task, asked.context)
    ]
    granted = planned.granted
    act = ""
    cage = Cage(
        (planned.plan.interpreter, f"{SKILL}/{planned.plan.script}"),
        granted.mounts,
        network=granted.network,
        bounds=granted.bounds,
    )
    own: Texts = ()
    found = admit.foresee(context, card, asks=planned.plan.asks)
    if not isinstance(found, admit.Admitted):
        against += [found.reason] if found.reason not in planned.plan.reasons else []
    else:
        act = confirm.act_to_confirm(found, asked) if found.destructive else ""
        if not here and not granted.unmet:
            values = dict.fromkeys(planned.plan.environment, "")
            try:
                cage = cages.cage_code(context, found, asked, lent, values).cage
                against += _kept_in(context, cage)
            except MetierError as error:
                cage = Cage(())
                against.append(error.message)
            fixed = cages.base_variables(card.name)
            own = tuple(name for name, _value in cage.environment if name not in fixed)
    return _complete(
        RunPreview(planned, planned.plan, "process" if here else "sandbox", cage, own, act=act),
        lent,
        against,
    )


# --- both


def _kept_in(context: Context, cage: Cage) -> list[str]:
    """Say what a sandbox would refuse before it starts anything; of another than metier's own,
    whether it works at all.
    """
    box = context.open_sandbox()
    try:
        if isinstance(box, Bubblewrap):
            box.check(cage)
            return []
        return [
            "; ".join(filter(None, (one.detail, one.hint)))
            for one in box.layers()
            if one.needed and not one.active
        ]
    except MetierError as error:
        return [_in_words(error)]


def _in_words(error: MetierError) -> str:
    return "; ".join(filter(None, (error.message, error.hint)))


def _complete(found: RunPreview, lent: Lent, against: list[str]) -> RunPreview:
    """Put all together: what stands against it, what is withheld, and what means nothing where it
    runs.
    """
    plan = found.planned.plan
    installs = found.packages is not None and found.packages.state == "ask"
    plan = plan._replace(
        allowed=plan.allowed and not against,
        asks=plan.asks or installs,
        reasons=[*against, *plan.reasons, *([INSTALLS] if installs else ())],
    )
    if found.where == "sandbox":
        return found._replace(plan=plan, withheld=found.planned.granted.refused)
    named = (
        *(f"{path} to read" for path in lent.reads),
        *(f"{path} to change" for path in lent.writes),
        *(("the network",) if lent.network else ()),
    )
    plan = plan._replace(
        network=True, writable=["/"], environment=plan.environment if found.where == "bare" else []
    )
    return found._replace(plan=plan, ignored=named)


def denials_of(
    context: Context, found: RunPreview, *, once: bool = False
) -> output.DenialReader | None:
    """Give what tells which of a run's failures are refusals of the sandbox, and the option that
    grants each; nothing where nothing is refused. With `once`, it leaves out what `withheld` says.
    """
    if found.where != "sandbox":
        return None
    planned = found.planned
    said = once and any(line.startswith(NETWORK_ACCESS) for line in found.withheld)
    return output.DenialReader(
        output.DenialFacts(
            planned.card.name,
            found.cage,
            planned.wishes.network,
            plan.place_for(context, lent=True),
            context.env,
        ),
        network_was_said=said,
    )


UNSANDBOXED_WARNING = "NO SANDBOX: it runs as you, and can read, change and send whatever you can"
IN_PROCESS_WARNING = (
    "NO SANDBOX: it runs inside metier's own process, and can read, change and "
    "send whatever you can, metier's secrets included"
)
_KEPT_IN = ("in the folder:", "reads:", "changes:", "network:", "secrets as files:", "files:")
"""What holds only in a sandbox."""
_SET = frozenset({"PWD"})
"""Variables that the sandbox sets by itself."""
_OURS = "/run/metier/"
"""Where metier's own files lie beside a code skill: what calls it, and what it is asked."""


def describe(found: RunPreview) -> list[str]:
    """Say what would be run, as whom, with what, and what stands against it."""
    plan = found.plan
    card = found.planned.card
    lines = [
        f"{card.name}: {plan.script or '(no script)'}",
        f"  folder     {card.path}",
        f"  digest     {plan.digest or 'it cannot be read whole'}",
        f"  trust      {found.planned.level}",
    ]
    lines += ["", "It would have:", *(f"  {line}" for line in _had(found))]
    lines += _section(
        "It would be given these files of yours, as copies:",
        [f"{path}, seen as {place}" for path, place in _copies(found).items()],
    )
    lines += _section("It declares, and is never given:", plan.refused)
    lines += _section("It declares packages:", environments.describe_packages(found.packages))
    lines += _section("Not granted:", found.withheld)
    lines += _section("Lent for nothing, since nothing is kept from it there:", found.ignored)
    consent = (
        [f"it is destructive: consent has to name the act, '{found.act}'"] if found.act else []
    )
    lines += _section(
        "It may not run:" if not plan.allowed else "Before it runs:", [*plan.reasons, *consent]
    )
    return lines


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return ["", title, *(f"  {line}" for line in lines)] if lines else []


def _had(found: RunPreview) -> list[str]:
    """Say what it would have, by where it would run."""
    asked: list[str] = []
    if found.planned.card.kind == "code" and found.plan.arguments:  # in no command line
        task, *rest = found.plan.arguments
        asked.append(f"is asked: {task!r}")
        if rest:
            skill_context = "\n".join(rest)
            asked.append(f"with the context: {skill_context!r}")
    if found.where == "process":
        return [
            IN_PROCESS_WARNING,
            f"runs: the function run of {found.planned.card.path}",
            *asked,
            "variables: all of metier's own",
            f"time: metier waits {found.cage.bounds.seconds} seconds, and cannot end it then",
        ]
    files = [one for one in found.cage.files if not one.target.startswith((f"{HOME}/", _OURS))]
    own = tuple((name, "") for name in found.own)
    lines = describe_cage(found.cage._replace(files=tuple(files), environment=own))
    lines[1:1] = asked
    fixed = _short(fixed_of(found))
    if fixed:
        whose = (
            "of the sandbox itself, none of yours"
            if found.where == "sandbox"
            else "that every script has"
        )
        place = next(number for number, line in enumerate(lines) if line.startswith("variables:"))
        lines.insert(place + 1, f"variables {whose}: {fixed}")
    if found.where == "sandbox":
        return [*lines, *filter(None, (cages.left_behind(found.cage),))]
    return [UNSANDBOXED_WARNING, *(line for line in lines if not line.startswith(_KEPT_IN))]


def fixed_of(found: RunPreview) -> list[str]:
    """Name the variables that are the same for every skill, and hold nothing of the user's."""
    names = {name for name, _value in found.cage.environment}
    return sorted((names | _SET if names and found.where == "sandbox" else names) - set(found.own))


def _short(names: Sequence[str]) -> str:
    """Name variables on one short line: those of a family together."""
    families = (
        ("*SKILL_DIR", [one for one in names if one.endswith("SKILL_DIR")]),
        ("PYTHON*", [one for one in names if one.startswith("PYTHON")]),
    )
    single = [name for name in names if not any(name in members for _family, members in families)]
    return ", ".join(
        [*single, *(f"{family} ({len(members)})" for family, members in families if members)]
    )


def _copies(found: RunPreview) -> dict[str, str]:
    """Give the user's files that it gets copies of, each with where it sees the copy."""
    given = {one.target for one in found.cage.files}
    places = {
        one.path: f"{HOME}/{one.path.removeprefix('~/')}" for one in found.plan.files if one.there
    }
    return {path: place for path, place in places.items() if place in given}


def as_document(found: RunPreview) -> JsonObject:
    """Give the same as data."""
    plan = found.plan
    granted = found.planned.granted
    cage = found.cage
    kept_in = found.where == "sandbox"
    return {
        "name": found.planned.card.name,
        "script": plan.script,
        "path": plan.path,
        "interpreter": plan.interpreter,
        "arguments": plan.arguments,
        "command": list(cage.command) if found.where != "process" else [],
        "digest": plan.digest,
        "trust": found.planned.level,
        "allowed": plan.allowed,
        "asks": plan.asks,
        "reasons": plan.reasons,
        "act": found.act,
        "sandboxed": kept_in,
        "in_process": found.where == "process",
        "network": plan.network,
        "mounts": [mount._asdict() for mount in cage.mounts] if kept_in else [],
        "scratch": SCRATCH if kept_in else "",
        "environment": list(found.own),
        "fixed_environment": fixed_of(found),
        "refused_environment": plan.refused,
        "secret_files": [one.target for one in cage.files if one.target.startswith(f"{SECRETS}/")],
        "files": list(_copies(found)),
        "packages": environments.describe_packages(found.packages),
        "limits": granted.bounds._asdict()
        if found.where != "process"
        else {"seconds": granted.bounds.seconds},
        "not_granted": [*granted.unmet, *found.withheld],
        "ignored": list(found.ignored),
        "words": describe(found),
    }
