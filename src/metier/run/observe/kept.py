"""What is kept of an observation, for whoever explains a skill later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from metier.scan.io import observed_files
from metier.scan.io.own_source import folder_digest

if TYPE_CHECKING:
    from metier.context import Context
    from metier.model import Finding, JsonObject, Texts


class KeptObservation(NamedTuple):
    """What an observation of these very bytes found."""

    level: str
    at: str
    """When, as ISO 8601; empty where nobody noted it."""
    ruleset: str
    """By which rules it was judged: another value, and it may be judged otherwise today."""
    is_current: bool
    """Whether those are the rules of now."""
    declared: Texts
    seen: Texts
    done: Texts
    tried: Texts
    not_tried: tuple[tuple[str, str], ...]
    """What was left out, each with the reason."""
    findings: tuple[Finding, ...]


def kept_observation(context: Context, digest: str | None) -> JsonObject | None:
    """Give what is kept of an observation of some bytes; nothing where there was none."""
    if not digest or not context.data:
        return None
    return observed_files.read_observation(context.data, digest)


def read_kept(context: Context, digest: str | None) -> KeptObservation | None:
    """Give the same as a value."""
    kept = kept_observation(context, digest)
    if kept is None:
        return None
    ruleset = str(kept.get("ruleset", ""))
    return KeptObservation(
        level=str(kept["level"]),
        at=str(kept.get("at", "")),
        ruleset=ruleset,
        is_current=ruleset == observe_ruleset(),
        declared=_texts(kept.get("declared")),
        seen=_texts(kept.get("seen")),
        done=_texts(kept.get("done")),
        tried=_texts(kept.get("tried")),
        not_tried=tuple(
            (str(one.get("what", "")), str(one.get("why", "")))
            for one in kept.get("not_tried") or ()
            if isinstance(one, dict)
        ),
        findings=tuple(kept["findings"]),
    )


def observe_ruleset() -> str:
    """Name the code and the tables of observation: another name, perhaps another verdict."""
    return "observe:" + folder_digest(__file__.rpartition("/")[0])[:16]


def _texts(value: Any) -> Texts:
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()
