"""How the asking agent and its machine bear on what a name means."""

from __future__ import annotations

from metier.light import TYPE_CHECKING, NamedTuple
from metier.model import Said

if TYPE_CHECKING:
    from metier.settings import Settings


class World(NamedTuple):
    """What the asking agent and its machine are like."""

    platform: str
    product: str = ""


class Policy(NamedTuple):
    """How the asking agent treats skills, one by one and several of a name."""

    settings: Settings
    world: World
    keep_duplicates: bool = False
    """Codex keeps all of them: each is visible, and a plain name is then ambiguous (CX-28)."""
    said: Said = Said()
    """What people have decided; a listing that has seen nothing of the kind trusts no project."""
