"""Trust as users meet it: the decision on a skill with its reasons, decisions made and written down, and the load gate.

Reads at the edge, decides in pure code (`trust.decide`), and notes every decision and refusal in the audit log.
What only some of this needs is imported there: whoever reads a skill waits for the gate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.errors import UsageError
from metier.vetting.cases import Trusted, case_of, shown
from metier.vetting.loading import load

if TYPE_CHECKING:
    from typing import Literal

    from metier.app import Library
    from metier.model import Finding, Trust
    from metier.trust.gate import Admission

    Verb = Literal["show", "load", "approve", "quarantine", "block", "unblock"]

__all__ = ["Trusted", "check_escalations", "load_code", "scan_loaded", "trust", "trust_project"]


def trust(library: Library, name: str, action: Verb = "show", *, reason: str = "", accept_dangerous: bool = False,
          level: Trust = "verified", expected: str | None = None) -> Trusted:  # fmt: skip
    """Give the decision on a skill; ask to load it; or decide about its bytes as they are now.

    With `expected`, the digest that a person was shown, nothing else is approved.
    """
    card = library.resolve(name)
    if action == "show":
        return shown(library, case_of(library, card))
    if action == "load":
        return load(library, card)
    from metier.vetting import people

    if action not in people.SAID:
        raise UsageError(f"metier trust cannot '{action}'", hint=f"it can: show, {', '.join(people.SAID)}")
    if action == "approve":
        people.approve(library, card, reason, level, accept_dangerous=accept_dangerous, expected=expected)
    elif action == "unblock":
        people.unblock(library, card, reason)
    else:
        digest = library.machine.digest(card.path)
        people.say(library, card.path, action, people.statement(library, card.name, digest, action, reason))
    library.reload()
    return shown(library, case_of(library, library.resolve(card.path)))


def trust_project(library: Library, folder: str, *, trusted: bool) -> str:
    """Offer a project's skills to models, or stop doing so; give the project's folder (decision 18)."""
    from metier.vetting import people

    return people.trust_project(library, folder, trusted=trusted)


def load_code(library: Library, name: str) -> Admission:
    """Decide about the bytes of a code skill, read once (CO-7, CO-10)."""
    from metier.vetting import code

    return code.load_code(library, name)


def check_escalations(library: Library) -> dict[str, tuple[str, ...]]:
    """Give the tools that skills declare beyond what their level allows (ZE-9)."""
    from metier.vetting import sweep

    return sweep.check_escalations(library)


def scan_loaded(library: Library) -> list[tuple[str, tuple[Finding, ...]]]:
    """Scan every skill that is listed; give those with hits (ZE-8)."""
    from metier.vetting import sweep

    return sweep.scan_loaded(library)
