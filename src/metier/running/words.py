"""A run that might be made, in words that a person can approve, and the same as data. No value of a secret is in either. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metier.execute.bubblewrap import shown
from metier.running import cages, environments
from metier.runs import HOME, SCRATCH, SECRETS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.running.foreseeing import Foreseen

BARE = "NO SANDBOX: it runs as you, and can read, change and send whatever you can"
HERE = "NO SANDBOX: it runs inside metier's own process, and can read, change and send whatever you can, metier's secrets included"
_KEPT_IN = ("in the folder:", "reads:", "changes:", "network:", "secrets as files:", "files:")
"""What holds only in a sandbox."""
_SET = frozenset({"PWD"})
"""Variables that the sandbox sets by itself."""
_OURS = "/run/metier/"
"""Where metier's own files lie beside a code skill: what calls it, and what it is asked."""


def in_words(found: Foreseen) -> list[str]:
    """Say what would be run, as whom, with what, and what stands against it."""
    plan, card = found.plan, found.planned.card
    lines = [f"{card.name}: {plan.script or '(no script)'}", f"  folder     {card.path}",
             f"  digest     {plan.digest or 'it cannot be read whole'}", f"  trust      {found.planned.level}"]  # fmt: skip
    lines += ["", "It would have:", *(f"  {line}" for line in _had(found))]
    lines += _section("It would be given these files of yours, as copies:",
                      [f"{path}, seen as {place}" for path, place in _copies(found).items()])  # fmt: skip
    lines += _section("It declares, and is never given:", plan.refused)
    lines += _section("It declares packages:", environments.in_words(found.packages))
    lines += _section("Not granted:", found.withheld)
    lines += _section("Lent for nothing, since nothing is kept from it there:", found.ignored)
    consent = [f"it is destructive: consent has to name the act, '{found.act}'"] if found.act else []
    lines += _section("It may not run:" if not plan.allowed else "Before it runs:", [*plan.reasons, *consent])
    return lines


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return ["", title, *(f"  {line}" for line in lines)] if lines else []


def _had(found: Foreseen) -> list[str]:
    """Say what it would have, by where it would run."""
    asked = _asked(found)
    if found.where == "process":
        return [HERE, f"runs: the function run of {found.planned.card.path}", *asked, "variables: all of metier's own",
                f"time: metier waits {found.cage.bounds.seconds} seconds, and cannot end it then"]  # fmt: skip
    files = [one for one in found.cage.files if not one.target.startswith((f"{HOME}/", _OURS))]
    own = tuple((name, "") for name in found.own)
    lines = shown(found.cage._replace(files=tuple(files), environment=own))
    lines[1:1] = asked
    fixed = _short(fixed_of(found))
    if fixed:
        whose = "of the sandbox itself, none of yours" if found.where == "sandbox" else "that every script has"
        place = next(number for number, line in enumerate(lines) if line.startswith("variables:"))
        lines.insert(place + 1, f"variables {whose}: {fixed}")
    if found.where == "sandbox":
        return [*lines, *filter(None, (cages.left_behind(found.cage),))]
    return [BARE, *(line for line in lines if not line.startswith(_KEPT_IN))]


def _asked(found: Foreseen) -> list[str]:
    """Say what a code skill is asked: that stands in no command line."""
    if found.planned.card.kind != "code" or not found.plan.arguments:
        return []
    task, *rest = found.plan.arguments
    context = "\n".join(rest)
    return [f"is asked: {task!r}", *([f"with the context: {context!r}"] if rest else ())]


def fixed_of(found: Foreseen) -> list[str]:
    """Name the variables that are the same for every skill, and hold nothing of the user's."""
    names = {name for name, _value in found.cage.environment}
    return sorted((names | _SET if names and found.where == "sandbox" else names) - set(found.own))


def _short(names: Sequence[str]) -> str:
    """Name variables on one short line: those of a family together."""
    families = (("*SKILL_DIR", [one for one in names if one.endswith("SKILL_DIR")]),
                ("PYTHON*", [one for one in names if one.startswith("PYTHON")]))  # fmt: skip
    single = [name for name in names if not any(name in members for _family, members in families)]
    return ", ".join([*single, *(f"{family} ({len(members)})" for family, members in families if members)])


def _copies(found: Foreseen) -> dict[str, str]:
    """Give the user's files that it gets copies of, each with where it sees the copy."""
    given = {one.target for one in found.cage.files}
    places = {one.path: f"{HOME}/{one.path.removeprefix('~/')}" for one in found.plan.files if one.there}
    return {path: place for path, place in places.items() if place in given}


def as_document(found: Foreseen) -> dict[str, Any]:
    """Give the same as data."""
    plan, granted, cage = found.plan, found.planned.granted, found.cage
    kept_in = found.where == "sandbox"
    return {
        "name": found.planned.card.name, "script": plan.script, "path": plan.path, "interpreter": plan.interpreter,
        "arguments": plan.arguments, "command": list(cage.command) if found.where != "process" else [], "digest": plan.digest,
        "trust": found.planned.level, "allowed": plan.allowed, "asks": plan.asks, "reasons": plan.reasons, "act": found.act,
        "sandboxed": kept_in, "in_process": found.where == "process", "network": plan.network,
        "mounts": [mount._asdict() for mount in cage.mounts] if kept_in else [], "scratch": SCRATCH if kept_in else "",
        "environment": list(found.own), "fixed_environment": fixed_of(found), "refused_environment": plan.refused,
        "secret_files": [one.target for one in cage.files if one.target.startswith(f"{SECRETS}/")],
        "files": list(_copies(found)),
        "packages": environments.in_words(found.packages),
        "limits": granted.bounds._asdict() if found.where != "process" else {"seconds": granted.bounds.seconds},
        "not_granted": [*granted.unmet, *found.withheld], "ignored": list(found.ignored), "words": in_words(found),
    }  # fmt: skip
