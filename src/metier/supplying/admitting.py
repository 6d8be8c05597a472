"""Whether a decision lets a skill in, and how a person's word about it is written down (decision 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.supplies import Refusal
from metier.trust import disk as decisions
from metier.vetting import people
from metier.vetting.cases import TOP

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.app import Library
    from metier.supplying.deciding import Weighed
    from metier.supplying.places import Place

WAY = "it is dangerous; --force does not change that. If you must: --accept-dangerous --reason TEXT"
FORCE = "after a look at the findings, --force installs it"
_NEVER = frozenset({"blocked", "quarantined"})


def admitted(weighed: Weighed, *, force: bool, accept_dangerous: bool, asked: bool, way: str = WAY) -> Refusal | None:
    """Give why a skill may not be installed; nothing when it may.

    `force` answers a block of what is only doubtful. What is dangerous takes `accept_dangerous`, by name and with a reason; and
    what somebody blocked or quarantined takes that decision back first. `asked` says that a person sees the plan; `way` is what a
    person is told who must have what is dangerous.
    """
    decision, findings = weighed.decision, weighed.verdict.findings[:TOP]
    if decision.action("install") in {"allow", "warn"}:
        return None
    if decision.level in _NEVER:  # its state alone is also that of what the table blocks
        return Refusal(weighed.name, (*decision.reasons, f"first: metier trust unblock {weighed.name}"), findings)
    if decision.install == "ask":
        return None if asked else Refusal(weighed.name, (*decision.reasons, "it needs a person's yes: --yes"), findings)
    if weighed.dangerous:
        if accept_dangerous:
            return None
        return Refusal(weighed.name, (*decision.reasons, way), findings)
    if force:
        return None
    return Refusal(weighed.name, (*decision.reasons, FORCE), findings)


def vouched(library: Library, place: Place, weighed: Iterable[tuple[Weighed, str]], reason: str, *,
            accept_dangerous: bool = False) -> None:  # fmt: skip
    """Write down that a person let these bytes in, each at a path, where they could not be used otherwise.

    That is so for what is dangerous, for what the table asks about, and in a project that nobody trusts as a whole. It raises no
    level: running its scripts still asks.
    """
    foreign = place.scope == "project" and not decisions.read(library.data).trusts(place.base)
    statements = []
    for one, path in weighed:
        danger = one.dangerous and accept_dangerous
        if danger or foreign or one.decision.install == "ask":
            said = people.statement(library, one.called, one.decision.digest, "approve", reason or "installed")
            statements.append((path, said._replace(level="community", accept_dangerous=danger, installed=True), one.verdict.level))
    if statements:
        people.say_all(library, "approve", statements)
