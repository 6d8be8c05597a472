"""What the decisions mean for a listing: which projects are trusted, and the state of each skill somebody decided about.

Only those few are hashed; nothing is scanned for a listing (decision 29).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.model import Said
from metier.trust.decide import Policy, Provenance, decide
from metier.trust.facts import folded
from metier.trust.state import Index, State, read_state

if TYPE_CHECKING:
    from metier.model import Digest, Entry, Root, State as Shown

LAST_DAY = "9999-12-31"
"""A listing has no clock: what the file says was said. Loading holds each decision against the day."""


def said_in(data: bytes) -> Said:
    """Give what the file of decisions says, ready to be asked."""
    state = read_state(data)
    if state.broken:
        return Said(broken=state.broken)
    projects = frozenset(project.path for project in state.projects)
    if not state.rows:
        return Said(projects)
    names = frozenset(folded(row.approval.name) for row in state.rows)
    paths = frozenset(row.path for row in state.rows if row.path)

    index = Index(state.rows)

    def state_of(root: Root, entry: Entry, digest: Digest | None) -> tuple[Shown, tuple[str, ...]]:
        return _state_of(state, index, root, entry, digest)

    return Said(projects, names, paths, folded, state_of)


def _state_of(state: State, index: Index, root: Root, entry: Entry, digest: Digest | None) -> tuple[Shown, tuple[str, ...]]:
    scope = "project" if root.project else root.scope
    provenance = Provenance(scope=scope, project=root.project, project_trusted=state.trusts(root.project))
    approvals = index.about(entry.name, entry.path, digest)
    decision = decide(None, provenance, Policy(), approvals, LAST_DAY, name=entry.name, digest=digest)
    # The level and the scan matter when it is loaded; here only what people have said does.
    reasons = [reason for reason in decision.reasons if not reason.startswith(("level ", "not scanned"))]
    return decision.state, tuple(reasons)
