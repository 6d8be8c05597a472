"""metier: the skills system for AI agents.

>>> import metier
>>> with metier.open() as m:
...     for card in m.skills():
...         print(card.name, card.state, card.tokens)
"""

from __future__ import annotations

from metier.light import TYPE_CHECKING

__version__ = "0.1.0"

_HOMES = {
    "open": ("metier.app", "open_library"),
    "tools": ("metier.tools", ""),
    "Library": ("metier.app", "Library"),
    "Rule": ("metier.settings", "Rule"),
    "Settings": ("metier.settings", "Settings"),
    **dict.fromkeys(
        ("Body", "Card", "Category", "Change", "Checked", "Choice", "Diagnostic", "File", "Finding", "Problem", "Root", "Verdict",
         "Why"),
        ("metier.model", ""),
    ),
    "Scanned": ("metier.terms", ""),
    "Disclosure": ("metier.disclose.catalogue", ""),
    "Expanded": ("metier.expanding", ""),
    "Prepared": ("metier.preparing", ""),
    "Draft": ("metier.offers", ""),
    "Loaded": ("metier.reading", ""),
    "Package": ("metier.offers", ""),
    "Page": ("metier.disclose.pages", ""),
    "Section": ("metier.offers", ""),
    "Session": ("metier.session", ""),
    **dict.fromkeys(("Layer", "Ran"), ("metier.runs", "")),
    **dict.fromkeys(("Confusion", "Hit", "Indexed"), ("metier.wanted", "")),
    **dict.fromkeys(("Dispatched", "Match"), ("metier.route.triggers", "")),
    **dict.fromkeys(("Observation", "Observed", "Watched"), ("metier.route.observed", "")),
    **dict.fromkeys(
        ("AmbiguousError", "ConfigError", "IntegrityError", "MetierError", "NotFoundError", "RefusedError",
         "SandboxError", "SourceError", "StoreError", "UsageError"),
        ("metier.errors", ""),
    ),
}  # fmt: skip

__all__ = [
    "AmbiguousError",
    "Body",
    "Card",
    "Category",
    "Change",
    "Checked",
    "Choice",
    "ConfigError",
    "Confusion",
    "Diagnostic",
    "Disclosure",
    "Dispatched",
    "Draft",
    "Expanded",
    "File",
    "Finding",
    "Hit",
    "Indexed",
    "IntegrityError",
    "Layer",
    "Library",
    "Loaded",
    "Match",
    "MetierError",
    "NotFoundError",
    "Observation",
    "Observed",
    "Package",
    "Page",
    "Prepared",
    "Problem",
    "Ran",
    "RefusedError",
    "Root",
    "Rule",
    "SandboxError",
    "Scanned",
    "Section",
    "Session",
    "Settings",
    "SourceError",
    "StoreError",
    "UsageError",
    "Verdict",
    "Watched",
    "Why",
    "__version__",
    "open",
    "tools",
]

if TYPE_CHECKING:
    from metier import tools
    from metier.app import Library, open_library as open  # noqa: A004
    from metier.disclose.catalogue import Disclosure
    from metier.disclose.pages import Page
    from metier.errors import (
        AmbiguousError,
        ConfigError,
        IntegrityError,
        MetierError,
        NotFoundError,
        RefusedError,
        SandboxError,
        SourceError,
        StoreError,
        UsageError,
    )
    from metier.expanding import Expanded
    from metier.model import (
        Body,
        Card,
        Category,
        Change,
        Checked,
        Choice,
        Diagnostic,
        File,
        Finding,
        Problem,
        Root,
        Verdict,
        Why,
    )
    from metier.offers import Draft, Package, Section
    from metier.preparing import Prepared
    from metier.reading import Loaded
    from metier.route.observed import Observation, Observed, Watched
    from metier.route.triggers import Dispatched, Match
    from metier.runs import Layer, Ran
    from metier.session import Session
    from metier.settings import Rule, Settings
    from metier.terms import Scanned
    from metier.wanted import Confusion, Hit, Indexed


def __getattr__(name: str) -> object:
    """Load a public name from its module when it is first asked for: `import metier` itself costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'metier' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _HOMES[name]
    value = import_module(module) if module == f"metier.{name}" else getattr(import_module(module), attribute or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return list(__all__)
