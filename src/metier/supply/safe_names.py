"""Checks the paths, names and texts of strangers before they become paths here: the same rules for
every kind of source and on every platform. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from metier.errors import RefusedError
from metier.standard.characters import UNSEEN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.settings.model import SupplySettings
    from metier.supply.model import Item


MAX_SEGMENT_BYTES = 255
MAX_PATH_BYTES = 4096
MAX_PATH_DEPTH = 32
MAX_SHOWN_CHARS = 80

_DRIVE = re.compile(r"[A-Za-z]:")
_UNPRINTED = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{UNSEEN}]")
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$", "clock$"}
    | {f"{port}{number}" for port in ("com", "lpt") for number in "0123456789\u00b9\u00b2\u00b3"}
)
_GIT = frozenset({".git", "git~1"})
"""A repository inside a skill: git in that folder would run what its configuration says."""


def check_items(items: Sequence[Item], limits: SupplySettings) -> tuple[Item, ...]:
    """Give the entries with clean paths, in their order and without folders; refuse all when one of
    them is not safe.

    Links and devices are left in: what they mean for a skill is decided where they would be
    written.
    """
    if len(items) > limits.files:
        raise RefusedError(
            f"the source has {len(items):,} entries",
            hint=f"supply.files allows {limits.files:,}",
            code="too-many",
        )
    known = _NamesSeen()
    kept = []
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
    """Give a path below some folder as `a/b`, whatever empty or `.` steps it has; refuse one that
    could mean anything else.
    """
    steps = [step for step in path.split("/") if step not in {"", "."}]
    if len(path) > MAX_PATH_BYTES or len(path.encode("utf-8", "surrogatepass")) > MAX_PATH_BYTES:
        fault = f"has more than {MAX_PATH_BYTES} bytes"
    elif path.startswith(("/", "\\")) or _DRIVE.match(path):
        fault = "is absolute"
    elif "\\" in path:
        fault = "has a backslash, which is a separator on some systems"
    elif not steps:
        fault = "names nothing"
    else:
        fault = next(filter(None, map(_segment_fault, steps)), "")
    if fault:
        raise _unsafe(path, fault)
    if len(steps) > MAX_PATH_DEPTH:
        raise RefusedError(
            f"'{printable(path)}' is {len(steps)} names long",
            hint=f"at most {MAX_PATH_DEPTH} are read",
            code="too-deep",
        )
    return "/".join(steps)


def safe_name(name: str) -> str:
    """Give a name that one folder can have; refuse what would be another place, a hidden folder, or
    none (HE-40, HE-42).
    """
    if "/" in name or "\\" in name or name in {"", ".", ".."}:
        fault = "is not the name of one folder"
    elif name.startswith((".", "~", "-")):
        fault = f"begins with '{name[0]}'"
    else:
        fault = "is absolute" if _DRIVE.match(name) else _segment_fault(name)
    if fault:
        raise _unsafe(name, fault)
    return name


def printable(text: str) -> str:
    """Give a stranger's text for a message: short, on one line, with nothing that a terminal would
    obey.
    """
    cut = text if len(text) <= MAX_SHOWN_CHARS else text[: MAX_SHOWN_CHARS - 1] + "…"
    return _UNPRINTED.sub(lambda found: f"\\u{ord(found[0]):04x}", cut)


def fold_name(path: str) -> str:
    """Give what a path is to a disk that knows neither case nor spelling: two paths that fold alike
    are one there.
    """
    if path.isascii():
        return path.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", path).casefold())


@lru_cache(maxsize=1024)
def _segment_fault(step: str) -> str:
    """Say what keeps a name from being one step of a path here; nothing when nothing does."""
    if step == "..":
        return "climbs with '..'"
    if _UNPRINTED.search(step):
        return "has characters that are not shown"
    if len(step) > MAX_SEGMENT_BYTES or len(step.encode()) > MAX_SEGMENT_BYTES:
        return f"has a name of more than {MAX_SEGMENT_BYTES} bytes"
    if ":" in step:
        return "has a colon, which names a drive or a stream on some systems"
    if step[-1] in ". ":
        return "has a name that ends with a dot or a space"
    flat = fold_name(step)
    if any(form.partition(".")[0].rstrip(" ") in _DEVICES for form in (flat, step.lower())):
        return "has a name that is a device on some systems"
    return "is part of a git repository's own files" if flat in _GIT else ""


class _NamesSeen:
    """The names seen so far, as the strictest disk would see them."""

    def __init__(self) -> None:
        """Begin with none."""
        self.folders: set[str] = set()
        self.spelled: dict[str, tuple[str, bool]] = {}

    def folder(self, path: str) -> None:
        """Note a folder and all above it; the same folder may be named often, in one spelling."""
        while path and path not in self.folders:
            before = self.spelled.setdefault(fold_name(path), (path, True))
            if before != (path, True):
                raise _collision(path, before[0])
            self.folders.add(path)
            path = path.rpartition("/")[0]

    def file(self, path: str) -> None:
        """Note a file, which no other entry may be."""
        key = fold_name(path)
        if key in self.spelled:
            raise _collision(path, self.spelled[key][0])
        self.spelled[key] = path, False
        self.folder(path.rpartition("/")[0])


def _unsafe(path: str, why: str) -> RefusedError:
    return RefusedError(
        f"the path '{printable(path)}' {why}",
        hint="nothing was kept of this source",
        code="unsafe-path",
    )


def _collision(path: str, other: str) -> RefusedError:
    what = (
        "is there twice"
        if path == other
        else f"and '{printable(other)}' are one name on some disks"
    )
    return RefusedError(
        f"the path '{printable(path)}' {what}",
        hint="the source's author has to rename one",
        code="collision",
    )


PIN_KINDS = (
    "folder",
    "archive",
    "git",
    "file",
    "well-known",
    "marketplace",
    "clawhub",
    "bundled",
    "mcp",
    "oci",
    "hub",
)
PIN_METHODS = ("folder", "link", "copy")
VERDICT_LEVELS = ("safe", "caution", "dangerous")
MAX_PIN_NAME_CHARS = 255
MAX_PIN_PATH_CHARS = 4096
MAX_PIN_TEXT_CHARS = 8192
MAX_SCORE = 1_000_000_000
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_LONE = re.compile(r"[\ud800-\udfff]")
_UNENCODABLE = re.compile(r"[\ud800-\udc7f\udd00-\udfff]")
"""What is not even a byte of a name that is no UTF-8, which the system hands over as U+DC80 to
U+DCFF."""
_RESERVED = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\xb9\xb2\xb3])(?:\.[^/]*)?", re.IGNORECASE
)


def is_digest(text: str) -> bool:
    """Tell whether a text is the digest of a tree."""
    return _DIGEST.fullmatch(text) is not None


def name_fault(name: str) -> str:
    """Say why a name is not one safe segment of a path; nothing when it is."""
    if not name or len(name) > MAX_PIN_NAME_CHARS:
        return "it is empty" if not name else f"it is longer than {MAX_PIN_NAME_CHARS} characters"
    if _CONTROL.search(name) or _LONE.search(name):
        return "it has characters that no name has"
    if name.startswith((".", "~", "-")) or name.endswith((".", " ")) or name.strip() != name:
        return "it begins or ends with what no folder of a skill does"
    if re.search(r'[/\\:*?"<>|]', name):
        return "it is more than one part of a path"
    return "it is reserved on Windows" if _RESERVED.fullmatch(name) else ""


def path_fault(path: str, *, bytes_too: bool = False) -> str:
    """Say why a path is not safe below a folder; nothing when it is. `bytes_too` lets through names
    that are no UTF-8.
    """
    if not path or len(path) > MAX_PIN_PATH_CHARS:
        return "it is empty" if not path else f"it is longer than {MAX_PIN_PATH_CHARS} characters"
    if _CONTROL.search(path) or (_UNENCODABLE if bytes_too else _LONE).search(path):
        return "it has characters that no path has"
    if "\\" in path or path[1:2] == ":":
        return "it has a backslash or a drive letter"
    if any(part in {"", ".", ".."} for part in path.split("/")):
        return "it is not relative, or it climbs"
    return ""


def text_fault(text: str) -> str:
    """Say why a text does not fit on one line; nothing when it does."""
    if len(text) > MAX_PIN_TEXT_CHARS:
        return f"it is longer than {MAX_PIN_TEXT_CHARS} characters"
    return (
        "it has characters that no text of a lock has"
        if _CONTROL.search(text) or _LONE.search(text)
        else ""
    )
