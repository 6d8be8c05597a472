"""What one run is granted: declared needs, cut down to what the user allows and what the skill's standing permits. Pure.

Nothing is granted by default but the skill's folder to read, a scratch folder, and the interpreter.
"""

from __future__ import annotations

from posixpath import normpath
from typing import TYPE_CHECKING, Any

from metier.execute.bubblewrap import has_itself
from metier.runs import SCRATCH, Allowance, Bounds, Lent, Mount, Wishes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from metier.model import Trust
    from metier.settings import Running

    Place = Callable[[str], tuple[str, str]]
    """Gives the real path of what a path names, or nothing and the reason why it cannot be lent."""

STANDING = frozenset({"builtin", "trusted", "verified"})
"""Levels whose declared wishes configuration alone may grant."""
WORDS = 32
"""How many wishes of one skill are read."""


def wishes_of(fields: Mapping[str, Any]) -> Wishes:
    """Read what a skill declares: `permissions`, at the top or below `metadata`, or in `metadata.metier`."""
    metadata = fields.get("metadata")
    below = metadata if isinstance(metadata, dict) else {}
    own = below.get("metier")
    for table in (fields, own if isinstance(own, dict) else {}, below):
        listed = table.get("permissions")
        if listed is not None:
            return read_wishes([listed] if isinstance(listed, str) else listed if isinstance(listed, list) else [])
    return Wishes()


def read_wishes(words: Iterable[Any]) -> Wishes:
    """Read a list of permissions: `network`, `read:FOLDER`, `write:FOLDER`. What means nothing is kept as that."""
    network = False
    reads: list[str] = []
    writes: list[str] = []
    unknown: list[str] = []
    for word in list(words)[:WORDS]:
        text = word.strip() if isinstance(word, str) else ""
        kind, _colon, path = text.partition(":")
        if text == "network":
            network = True
        elif kind in {"read", "write"} and path.strip():
            (reads if kind == "read" else writes).append(path.strip())
        else:
            unknown.append(str(word)[:80])
    return Wishes(network, tuple(reads), tuple(writes), tuple(unknown))


def allowance(
    wishes: Wishes, lent: Lent, policy: Running, level: Trust, place: Place, lend: Place | None = None
) -> Allowance:  # fmt: skip
    """Decide what a run is granted.

    A path that the caller names is lent because they name it. A path that the skill names needs the user's configuration, and
    so does the network, or a yes to this run; but that yes goes no further than what the skill declares. A skill does without what
    it is not granted; what the caller lends and what cannot be lent is `unmet`, because they count on it. `lend` finds what the
    caller names, where that is stricter than `place`.
    """
    refused = [f"'{word}' is no permission that metier knows" for word in wishes.unknown]
    network = _network(wishes, lent, policy, level, refused)
    unmet: list[str] = []
    mounts: dict[str, Mount] = {}
    asked = (*((path, False, policy.reads) for path in wishes.reads), *((path, True, policy.writes) for path in wishes.writes),
             *((path, False, None) for path in lent.reads), *((path, True, None) for path in lent.writes))  # fmt: skip
    for path, writable, allowed in asked:
        real, why = (lend or place if allowed is None else place)(path)
        if not why and allowed is not None and not _inside(real, allowed, place):
            why = "the user's configuration does not allow it"
        if why:
            (unmet if allowed is None else refused).append(f"{path} {'to change' if writable else 'to read'}: {why}")
        else:
            for seen in {real, real if allowed is not None else seen_at(path, real)}:
                mounts[seen] = Mount(real, seen, writable or (seen in mounts and mounts[seen].writable))
    return Allowance(network, _apart(mounts), bounds_of(policy, lent), tuple(refused), tuple(unmet))


def _apart(mounts: Mapping[str, Mount]) -> tuple[Mount, ...]:
    """Leave out second places that there cannot be: what the sandbox has itself, and links in what is lent, which are there."""
    kept = (mounts[seen] for seen in sorted(mounts))
    return tuple(one for one in kept if one.source == one.target or not (has_itself(one.target) or _through_link(one, mounts)))


def _through_link(mount: Mount, mounts: Mapping[str, Mount]) -> bool:
    """Tell whether the way to a place leads over a link in another folder that is lent: nothing can be mounted on that."""
    above = (other for other in mounts.values() if mount.target.startswith(f"{other.target.rstrip('/')}/"))
    return any(other.source + mount.target[len(other.target) :] != mount.source for other in above)


def seen_at(path: str, real: str) -> str:
    """Say where else a script finds what the caller lends: where they name it, also through a link, or from where they are."""
    named = normpath(path)
    if path.startswith("/"):
        return f"/{named.lstrip('/')}"
    inside = named != "." and not named.startswith(("~", "../")) and named != ".."
    return f"{SCRATCH}/{named}" if inside else real


def bounds_of(policy: Running, lent: Lent) -> Bounds:
    """Give the limits of a run."""
    return Bounds(lent.seconds or policy.seconds, policy.memory_bytes, policy.processes, policy.output_bytes, policy.scratch_bytes,
                  policy.file_bytes)  # fmt: skip


def _network(wishes: Wishes, lent: Lent, policy: Running, level: Trust, refused: list[str]) -> bool:
    if not wishes.network:
        if lent.network:
            refused.append("the network: the skill does not declare that it needs it")
        return False
    if lent.network or policy.network == "declared" or (policy.network == "trusted" and level in STANDING):
        return True
    why = f"its trust level is {level}" if policy.network == "trusted" else "the setting run.network is 'never'"
    refused.append(f"the network, which it declares: {why}, and nobody said yes to it for this run")
    return False


def _inside(real: str, allowed: Iterable[str], place: Place) -> bool:
    """Tell whether a folder is, or lies in, one that configuration names."""
    folders = [folder.rstrip("/") for folder, why in map(place, allowed) if not why]
    return any(real == folder or real.startswith(f"{folder}/") for folder in folders)
