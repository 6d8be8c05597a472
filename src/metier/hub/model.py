"""Defines the data types of the hub: who asks, what they may do, and what is published."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal

    from metier.model import Level, Texts

    Role = Literal["reader", "publisher", "reviewer", "admin"]
    ReleaseState = Literal["pending", "approved", "rejected", "yanked"]
    Visibility = Literal["private", "public"]
    NamespaceState = Literal["active", "frozen"]
    CallerKind = Literal["local", "token", "person", "nobody"]
    Row = Mapping[str, Any]
else:
    Role = ReleaseState = Visibility = NamespaceState = CallerKind = str

ROLES: tuple[Role, ...] = ("reader", "publisher", "reviewer", "admin")


class RoleGrant(NamedTuple):
    """A role that somebody has: in one namespace, in all of an organisation, or everywhere."""

    role: Role
    namespace: int = 0
    """The id of the namespace; 0 means every one that the organisation has."""
    organisation: int = 0
    """The id of the organisation; 0 means every one, where no namespace is named either."""


class Caller(NamedTuple):
    """Who asks the hub for something."""

    kind: CallerKind
    ident: str
    """What tells them from everybody else: `token:7`, `person:3`, `local`, or nothing."""
    name: str
    """What people call them."""
    grants: tuple[RoleGrant, ...] = ()
    door: str = ""
    """The way they came in, for the audit log: `page` for a browser, nothing for the interface."""


NOBODY = Caller("nobody", "", "nobody")
"""Who has shown no token."""
LOCAL = Caller("local", "local", "local user", (RoleGrant("admin"),))
"""Whoever asks from this machine, as long as the hub has no accounts."""


class Namespace(NamedTuple):
    """A place for skills of one team, with its own rules."""

    id: int
    name: str
    organisation: int
    visibility: Visibility
    state: NamespaceState
    policy: Mapping[str, Any]
    """What its own policy says; what it does not say, the hub's policy does."""
    quota_bytes: int
    """0 means no limit."""
    used_bytes: int


class HubSkill(NamedTuple):
    """A skill of a namespace, as people find it."""

    id: int
    namespace: Namespace
    name: str
    description: str
    latest: str
    """The newest version that is approved; nothing where there is none."""
    level: str
    """What the scan said of that version."""
    deprecated: str
    """Why it should not be used any more; nothing where it may be."""
    installs: int
    changed_at: int


class ReleaseFile(NamedTuple):
    """One file of a release."""

    path: str
    size: int
    sha256: str
    executable: bool


class Release(NamedTuple):
    """One version of a skill. Its bytes never change."""

    id: int
    skill: int
    namespace: str
    name: str
    version: str
    digest: str
    """Of the skill's tree."""
    archive: str
    """The sha256 of its archive in the object store."""
    size: int
    state: ReleaseState
    level: Level
    score: int
    ruleset: str
    findings: tuple[Mapping[str, Any], ...]
    files: tuple[ReleaseFile, ...]
    description: str
    publisher: str
    """Who published it, as people call them."""
    publisher_ident: str
    provenance: Mapping[str, Any]
    """Where its source lies (`source`, `revision`), as the publisher says."""
    signature: str
    """The publisher's own envelope; nothing where there is none."""
    vouch: str
    """The hub's own envelope; nothing until it is approved."""
    reason: str
    """Why it was rejected or yanked."""
    created_at: int
    decided_at: int


class Verdicts(NamedTuple):
    """What the hub found out about an archive that somebody published."""

    name: str
    description: str
    category: str
    body: str
    digest: str
    level: Level
    score: int
    ruleset: str
    findings: tuple[Mapping[str, Any], ...]
    files: tuple[ReleaseFile, ...]
    version: str
    """As the skill's own file says; nothing where it says none."""
    faults: Texts = ()
    """Why it cannot be published at all: it fails the strict check, or it holds a key."""
