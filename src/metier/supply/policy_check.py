"""Holds what a lock has to the policies that apply here: every skill of it, also those that need
nothing else done, and the mandatory ones that it lacks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.model import Digest
from metier.trust.assess import fetched_from, signed
from metier.trust.organisation import missing_mandatory
from metier.trust.source_rules import judge_source

if TYPE_CHECKING:
    from metier.context import Context
    from metier.supply.model import Lock, Pin
    from metier.supply.places import InstallPlace


def breaches(context: Context, place: InstallPlace, lock: Lock) -> dict[str, list[str]]:
    """Say what in a lock a policy does not allow, and what it demands in vain, by name.

    Where this machine fetched the bytes itself, that origin counts beside the one that the lock
    names: a lock's word can only speak against a skill here, never for it.
    """
    policy = context.trust_policy
    found: dict[str, list[str]] = {}
    if policy.damage:
        return {pin.name: [policy.damage] for pin in lock.pins}
    if policy.source_rules:
        for pin in lock.pins:
            key = signed(context, pin.name, Digest(pin.base))
            for source, ref in _origins(context, place, pin):
                ruling = judge_source(policy.source_rules, source, key.key if key else "", ref)
                if ruling.refused:
                    told = [one.told for one in ruling.because]
                    found[pin.name] = list(dict.fromkeys((*found.get(pin.name, ()), *told)))
    if context.policy is not None:
        for _whose, line in missing_mandatory(context.policy, lambda name: bool(lock.named(name))):
            told = [f"policy: it is mandatory, and the lock does not have it ({line.place})"]
            found[line.text] = told
    return found


def _origins(context: Context, place: InstallPlace, pin: Pin) -> list[tuple[str, str]]:
    source = f"{place.base}/{pin.source[2:]}" if pin.source.startswith("./") else pin.source
    here, ref, _commit = fetched_from(context, pin.base)
    return [(source, pin.ref), *([(here, ref)] if here else [])]
