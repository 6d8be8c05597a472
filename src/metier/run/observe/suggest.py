"""Says what a script needed when it was observed, and the narrowest way to allow it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.run.observe.model import is_forced
from metier.run.observe.signs import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.model import JsonObject, Texts

MAX_NAMED = 8
SAMPLES = "/samples/"


class RunSuggestion(NamedTuple):
    """What to allow a script, by what it did in an observation."""

    script: str
    level: str
    """What the observation made of the whole skill: what is dangerous is not worth allowing."""
    hosts: Texts
    reads: Texts
    """Files of the project that it read; a sample stands for your own input."""
    writes: Texts
    options: Texts
    """Options of `metier run` that allow just that."""


def suggest_run(script: str, level: str, events: Iterable[JsonObject]) -> RunSuggestion:
    """Read the events of an observation for one script."""
    own = [
        one
        for one in events
        if (str(one["where"]).partition(" ")[0] == script or f" {script}" in str(one["where"]))
        and not is_forced(str(one["where"]))
    ]
    hosts = _named(host_of(one["what"]) for one in own if one["kind"] == "connect")
    reads = _named(one["what"] for one in own if one["kind"] == "read" and SAMPLES in one["what"])
    writes = _named(
        one["what"]
        for one in own
        if one["kind"] == "write" and not one["what"].startswith(("~/.", "/tmp/"))  # noqa: S108
    )
    options = [*(["--network"] if hosts else []), *(["--read FILE"] if reads else [])]
    options += ["--write FOLDER"] if writes else []
    return RunSuggestion(script, level, hosts, reads, writes, tuple(options))


def _named(found: Iterable[str]) -> Texts:
    return tuple(dict.fromkeys(found))[:MAX_NAMED]
