"""The nouns of what is offered to a model, and of what it may change. Apart from `model`, so that a listing does not load them."""

from __future__ import annotations

from metier.light import NamedTuple


class Section(NamedTuple):
    """A part of a body, by its heading: loaded alone, it costs only itself.

    `tokens` is what the content costs, without the marks that `disclosed` may add; `line` is counted within the body.
    """

    name: str
    section: str
    """The heading as written; nothing for what stands before the first."""
    level: int
    line: int
    tokens: int
    content: str = ""
    disclosed: str = ""
    """The content as it may stand in a prompt, as for a body (ZE-25); nothing in a mere list of sections."""


class Package(NamedTuple):
    """A skill that a provider lists: known by the provider's authority and an id of its own (CX-58)."""

    authority: str
    id: str
    name: str
    description: str
    resource: str
    """What to read for its instructions."""
    hidden: bool = False


class Draft(NamedTuple):
    """A change to a skill that waits for a person: what an agent wanted to do, and all it needs to be done."""

    action: str
    skill: str
    path: str
    base: str
    """Digest of what it would change; nothing for a new skill."""
    files: tuple[tuple[str, str], ...]
    """The files that would be written, as text."""
    removed: tuple[str, ...]
    reason: str
    level: str
    score: int = 0
    result: str = ""
    """Digest of what the skill would become; nothing for one that would go."""
    owner: str = ""
    """Whom the folder belonged to when the change was asked for: `lock`, `plugin:ID`, or nothing for the user's own."""
