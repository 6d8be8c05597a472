"""Before the walk: which roots are there at all, and which plugin a root belongs to by a manifest above it."""

from __future__ import annotations

from metier.light import TYPE_CHECKING
from metier.model import MANIFEST_BYTES, MANIFESTS, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.model import Root
    from metier.ports import Disk


def standing(roots: Sequence[Root], disk: Disk) -> tuple[list[Root], list[Problem]]:
    """Keep the roots that are folders. One that was named by hand and is not there is reported."""
    present: list[Root] = []
    problems: list[Problem] = []
    for root in roots:
        kind = disk.kind_of(root.location)
        if kind == "folder" and root.named and not disk.readable(root.location):
            problems.append(Problem(root.location, "WK001", "This root cannot be read: permission denied."))
        elif kind == "folder":
            # A project is trusted by its canonical path, whichever way one came there.
            present.append(root._replace(project=disk.real(root.project)) if root.project else root)
        elif kind is not None:
            problems.append(Problem(root.location, "WK002", "This root is not a folder."))
        elif root.named:
            problems.append(Problem(root.location, "WK009", f"This root does not exist ({root.told_by})."))
    return present, problems


def plugin_above(root: Root, disk: Disk) -> str:
    """Name the plugin that a plugin's own skills folder belongs to: its manifest lies above the root (CX-30)."""
    if not root.named:
        return ""
    folder = root.location
    for _level in range(2):
        folder = folder.rpartition("/")[0]
        for where in MANIFESTS if folder else ():
            if disk.kind_of(f"{folder}/{where}") == "file":
                from metier.discover.heads import plugin_name  # few roots lie in a plugin

                name, _problem = plugin_name(disk.read_head(f"{folder}/{where}", MANIFEST_BYTES), where, folder)
                if name:
                    return name
    return ""
