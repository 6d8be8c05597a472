"""The nouns of what is offered to a model, and of what it may change. Apart from `model`, so that a
listing does not load them.
"""

from __future__ import annotations

from metier.fast import NamedTuple


class Section(NamedTuple):
    """A part of a body, by its heading: loaded alone, it costs only itself.

    `tokens` is what the content costs, without the marks that `disclosed` may add; `line` is
    counted within the body.
    """

    name: str
    section: str
    """The heading as written; nothing for what stands before the first."""
    level: int
    line: int
    tokens: int
    content: str = ""
    disclosed: str = ""
    """The content as it may stand in a prompt, as for a body (ZE-25); nothing in a mere list of
    sections."""


class Package(NamedTuple):
    """A skill that a provider lists: known by the provider's authority and an id of its own
    (CX-58).
    """

    authority: str
    id: str
    name: str
    description: str
    resource: str
    """What to read for its instructions."""
    hidden: bool = False
