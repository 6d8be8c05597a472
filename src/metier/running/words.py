"""A plan in words that a person can approve, and the same as data. No value of a secret is in either."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metier import skillfile
from metier.discover import disk
from metier.execute import acts
from metier.execute.bubblewrap import shown
from metier.execute.interpreters import PYTHONS
from metier.running import cages, environments
from metier.runs import SCRATCH, SKILL, Cage, Given, Mount
from metier.standard.code import MAX_BYTES, read_code

if TYPE_CHECKING:
    from metier.app import Library
    from metier.running.planning import Planned


def in_words(library: Library, planned: Planned, *, bare: bool = False) -> list[str]:
    """Say what would be run, as whom, with what, and what stands against it; `bare` is without a sandbox."""
    plan, card = planned.plan, planned.card
    lines = [f"{card.name}: {plan.script or '(no script)'}", f"  folder     {card.path}",
             f"  digest     {plan.digest or 'it cannot be read whole'}", f"  trust      {planned.level}"]  # fmt: skip
    lines += ["", "It would have:", *([f"  {BARE}"] if bare else ()),
              *(f"  {line}" for line in shown(outline(planned)) if not bare or not line.startswith(_KEPT_IN))]  # fmt: skip
    lines += _section("It would be given these files of yours, as copies:", [file.path for file in plan.files if file.there])
    lines += _section("It declares, and is never given:", plan.refused)
    lines += _section("It declares packages:", _packages(library, planned))
    lines += _section("Not granted:", planned.granted.refused)
    lines += _section("It may not run:" if not plan.allowed else "Before it runs:", [*plan.reasons, *_consent(planned)])
    return lines


BARE = "NO SANDBOX: it runs as you, and can read, change and send whatever you can"
_KEPT_IN = ("in the folder:", "reads:", "changes:", "network:", "secrets as files:", "files:")
"""What holds only in a sandbox."""


def _consent(planned: Planned) -> list[str]:
    """Say which word consent needs where a code skill may destroy something (CO-18)."""
    card = planned.card
    if card.kind != "code":
        return []
    facts = read_code(disk.read_head(card.path, MAX_BYTES + 1).data, skillfile.folder_name(card))
    names = (card.name, facts.name, skillfile.folder_name(card)) if facts else ()
    if facts is None or not any(acts.is_destructive(name, declared=facts.destructive) for name in names):
        return []
    act = acts.act_of(card.name, facts.description, " ".join(planned.plan.arguments))
    return [f"it is destructive: consent has to name the act, '{act}'"]


def _section(title: str, lines: Any) -> list[str]:
    return ["", title, *(f"  {line}" for line in lines)] if lines else []


def outline(planned: Planned) -> Cage:
    """Give the cage as far as it can be shown: names in the place of values, and nothing that costs anything to find out."""
    plan = planned.plan
    names = tuple((name, "") for name in plan.environment)
    if planned.card.kind == "code":  # the one file that was gated, and nothing beside it
        file = f"{SKILL}/{plan.script}"
        return Cage((plan.interpreter, file, *plan.arguments), planned.granted.mounts, (Given(file, b""),), names, SCRATCH,
                    planned.granted.network, planned.granted.bounds)  # fmt: skip
    return Cage((plan.interpreter, plan.script, *plan.arguments), (Mount(planned.card.path, SKILL), *planned.granted.mounts), (),
                names, SCRATCH, planned.granted.network, planned.granted.bounds)  # fmt: skip


def _packages(library: Library, planned: Planned) -> list[str]:
    """Say what a Python script wants installed, and whether that is done."""
    return environments.in_words(library, _python_text(planned))


def would_install(library: Library, planned: Planned) -> bool:
    """Tell whether packages are to be installed first, and somebody has to say yes to that."""
    wanted = environments.planned(library, _python_text(planned))
    return wanted is not None and wanted.state == "ask"


def _python_text(planned: Planned) -> str:
    """Give the script where it is Python; nothing where it is not, and so declares nothing."""
    if planned.plan.interpreter not in PYTHONS or not planned.plan.path:
        return ""
    return disk.read_head(planned.plan.path, cages.SCRIPT_BYTES).data.decode("utf-8", "replace")


def as_document(library: Library, planned: Planned, *, bare: bool = False) -> dict[str, Any]:
    """Give a plan as data."""
    plan, granted = planned.plan, planned.granted
    return {
        "name": planned.card.name, "script": plan.script, "path": plan.path, "interpreter": plan.interpreter,
        "arguments": plan.arguments, "digest": plan.digest, "trust": planned.level, "allowed": plan.allowed, "asks": plan.asks,
        "reasons": plan.reasons, "network": granted.network,
        "mounts": [mount._asdict() for mount in (Mount(planned.card.path, SKILL), *granted.mounts)],
        "scratch": SCRATCH, "environment": plan.environment, "refused_environment": plan.refused,
        "files": [file.path for file in plan.files if file.there], "packages": _packages(library, planned),
        "limits": granted.bounds._asdict(), "not_granted": [*granted.unmet, *granted.refused],
        "sandboxed": not bare, "words": in_words(library, planned, bare=bare),
    }  # fmt: skip
