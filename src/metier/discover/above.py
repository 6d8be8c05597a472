"""The plugin that a folder of skills belongs to, when its manifest lies above the folder."""

from __future__ import annotations

from metier.light import TYPE_CHECKING
from metier.model import MANIFEST_BYTES, MANIFESTS

if TYPE_CHECKING:
    from metier.model import Root
    from metier.ports import Disk


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
