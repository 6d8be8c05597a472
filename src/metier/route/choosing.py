"""Where the index of some roots lies, and what sees meaning: said once, for whoever searches and for whoever only looks."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.model import Root
    from metier.ports import Embedder

FOLDER = "route"
"""Below METIER_HOME: one folder for each set of roots, as each project has its own."""
OFF = "off"


def index_name(roots: Iterable[Root]) -> str:
    """Name the index of some roots."""
    held = ([(root.location, root.scope) for root in roots],)
    return blake2b(repr(held).encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()


def index_folder(data: str | None, roots: Iterable[Root]) -> str | None:
    """Give the folder of an index, which need not be there; nothing where nothing is kept."""
    return f"{data}/{FOLDER}/{index_name(roots)}" if data else None


def embedder_for(vectors: str, given: Embedder | None) -> tuple[Embedder | None, str]:
    """Give what sees meaning, a host's own or the model that comes with metier; or nothing, and why."""
    if vectors == OFF:
        return None, 'route.vectors is "off"'
    if given is not None:
        return given, ""
    from metier.route.embed.disk import Onnx, available

    missing = available()
    return (None, missing) if missing else (Onnx(), "")
