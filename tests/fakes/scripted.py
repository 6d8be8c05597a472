"""A library with one skill that has scripts, and a sandbox that runs none of them: for whoever looks at how scripts are run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.folders import Place, skill
from fakes.cage import KeptSandbox

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from metier.library import Library

HELLO = {"scripts/hello.py": "print('hello')\n"}


def library_of(
    base: Path,
    files: Mapping[str, str | bytes] = HELLO,
    fields: str = "",
    config: str = "",
    *,
    box: KeptSandbox | None = None,
    level: str = "trusted",
    env: Mapping[str, str] | None = None,
) -> Library:
    """Give a library with the skill `pdf` of the user's own, whom it trusts so far."""
    place = Place(base)
    place.env |= {"PATH": "/usr/local/bin:/usr/bin:/bin", **(env or {})}
    place.configure(f'trust.local_default = "{level}"\n{config}')
    skill(place.home / ".agents/skills/pdf", fields=fields, files=files)
    library = place.scopes()
    library.context.sandbox = box if box is not None else KeptSandbox(b"hello\n")
    return library


def kept(library: Library) -> KeptSandbox:
    """Give the sandbox of a library, to see what it was told."""
    assert isinstance(library.context.sandbox, KeptSandbox)
    return library.context.sandbox
