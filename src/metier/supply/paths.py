"""Which paths of strangers may become paths here: the same rules for every kind of source and on every platform. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from metier.errors import RefusedError
from metier.standard.unseen import UNSEEN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.settings.tables import Supply
    from metier.supplies import Item

MOST_SEGMENT = 255
MOST_PATH = 4096
MOST_DEPTH = 32
SHOWN = 80

_DRIVE = re.compile(r"[A-Za-z]:")
_UNPRINTED = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{UNSEEN}]")
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$", "clock$"}
    | {f"{port}{number}" for port in ("com", "lpt") for number in "0123456789\u00b9\u00b2\u00b3"}
)
_GIT = frozenset({".git", "git~1"})
"""A repository inside a skill: git in that folder would run what its configuration says."""


def checked(items: Sequence[Item], limits: Supply) -> tuple[Item, ...]:
    """Give the entries with clean paths, in their order and without folders; refuse all when one of them is not safe.

    Links and devices are left in: what they mean for a skill is decided where they would be written.
    """
    if len(items) > limits.files:
        raise RefusedError(f"the source has {len(items):,} entries", hint=f"supply.files allows {limits.files:,}", code="too-many")
    known, kept = _Names(), []
    for item in items:
        is_folder = item.path.endswith("/") and item.mode in {"file", "exec"}
        if is_folder and item.path == "./":
            continue  # the top itself, as `tar -C folder .` writes it
        path = safe_path(item.path)
        if is_folder:
            known.folder(path)
        else:
            known.file(path)
            kept.append(item if path == item.path else item._replace(path=path))
    return tuple(kept)


def safe_path(path: str) -> str:
    """Give a path below some folder as `a/b`, whatever empty or `.` steps it has; refuse one that could mean anything else."""
    if len(path) > MOST_PATH or len(path.encode("utf-8", "surrogatepass")) > MOST_PATH:
        raise _unsafe(path, f"has more than {MOST_PATH} bytes")
    if path.startswith(("/", "\\")) or _DRIVE.match(path):
        raise _unsafe(path, "is absolute")
    if "\\" in path:
        raise _unsafe(path, "has a backslash, which is a separator on some systems")
    steps = [step for step in path.split("/") if step not in {"", "."}]
    if not steps:
        raise _unsafe(path, "names nothing")
    for step in steps:
        _check_segment(step, path)
    if len(steps) > MOST_DEPTH:
        raise RefusedError(f"'{shown(path)}' is {len(steps)} names long", hint=f"at most {MOST_DEPTH} are read", code="too-deep")
    return "/".join(steps)


def safe_name(name: str) -> str:
    """Give a name that one folder can have; refuse what would be another place, a hidden folder, or none (HE-40, HE-42)."""
    if "/" in name or "\\" in name or name in {"", ".", ".."}:
        raise _unsafe(name, "is not the name of one folder")
    if name.startswith((".", "~", "-")):
        raise _unsafe(name, f"begins with '{name[0]}'")
    if _DRIVE.match(name):
        raise _unsafe(name, "is absolute")
    _check_segment(name, name)
    return name


def shown(text: str) -> str:
    """Give a stranger's text for a message: short, on one line, with nothing that a terminal would obey."""
    cut = text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
    return _UNPRINTED.sub(lambda found: f"\\u{ord(found[0]):04x}", cut)


def folded(path: str) -> str:
    """Give what a path is to a disk that knows neither case nor spelling: two paths that fold alike are one there."""
    if path.isascii():
        return path.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", path).casefold())


def _check_segment(step: str, path: str) -> None:
    if step == "..":
        raise _unsafe(path, "climbs with '..'")
    if _UNPRINTED.search(step):
        raise _unsafe(path, "has characters that are not shown")
    if len(step) > MOST_SEGMENT or len(step.encode()) > MOST_SEGMENT:
        raise _unsafe(path, f"has a name of more than {MOST_SEGMENT} bytes")
    if ":" in step:
        raise _unsafe(path, "has a colon, which names a drive or a stream on some systems")
    if step[-1] in ". ":
        raise _unsafe(path, "has a name that ends with a dot or a space")
    flat = step.lower() if step.isascii() else folded(step)
    if flat.partition(".")[0].rstrip(" ") in _DEVICES or step.lower().partition(".")[0].rstrip(" ") in _DEVICES:
        raise _unsafe(path, "has a name that is a device on some systems")
    if flat in _GIT:
        raise _unsafe(path, "is part of a git repository's own files")


class _Names:
    """The names seen so far, as the strictest disk would see them."""

    def __init__(self) -> None:
        """Begin with none."""
        self.folders: set[str] = set()
        self.spelled: dict[str, tuple[str, bool]] = {}

    def folder(self, path: str) -> None:
        """Note a folder and all above it; the same folder may be named often, in one spelling."""
        while path and path not in self.folders:
            key = folded(path)
            before = self.spelled.setdefault(key, (path, True))
            if before != (path, True):
                raise _collision(path, before[0])
            self.folders.add(path)
            path = path.rpartition("/")[0]

    def file(self, path: str) -> None:
        """Note a file, which no other entry may be."""
        key = folded(path)
        if key in self.spelled:
            raise _collision(path, self.spelled[key][0])
        self.spelled[key] = path, False
        self.folder(path.rpartition("/")[0])


def _unsafe(path: str, why: str) -> RefusedError:
    return RefusedError(f"the path '{shown(path)}' {why}", hint="nothing was kept of this source", code="unsafe-path")


def _collision(path: str, other: str) -> RefusedError:
    what = "is there twice" if path == other else f"and '{shown(other)}' are one name on some disks"
    return RefusedError(f"the path '{shown(path)}' {what}", hint="the source's author has to rename one", code="collision")
