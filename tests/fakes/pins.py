"""Pins for tests: whole ones, of which a test says only what matters to it; and all that hypothesis can think of."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from metier.supply.model import InstallTarget, Lock, Pin, PinnedFile, PinVerdict
from metier.supply.safe_names import (
    PIN_KINDS,
    PIN_METHODS,
    VERDICT_LEVELS,
    name_fault,
    path_fault,
    text_fault,
)

if TYPE_CHECKING:
    from metier.supply.model import Method


def sha(text: str) -> str:
    """Give the hexadecimal sha256 of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digest(text: str) -> str:
    """Give a digest that a text stands for."""
    return f"sha256:{sha(text)}"


def a_pin(name: str = "pdf", **fields: Any) -> Pin:
    """Give a pin with these fields, and usual ones for the rest; `of` stands for its bytes."""
    whole = digest(fields.pop("of", name))
    usual = {
        "kind": "git",
        "source": "https://github.com/anthropics/skills",
        "path": f"skills/{name}",
        "ref": "main",
        "commit": sha(whole)[:40],
        "digest": whole,
        "base": whole,
        "files": (PinnedFile("SKILL.md", sha(whole)), PinnedFile("scripts/run.sh", sha(name), "x")),
        "verdict": PinVerdict("safe", 0, "rules-1"),
        "targets": (InstallTarget("", f".agents/skills/{name}", "folder"),),
    }
    return Pin(name, **{**usual, **fields})


_HASHES = st.integers(0, 9).map(lambda number: sha(str(number)))
_DIGESTS = _HASHES.map("sha256:".__add__)
_TEXTS = st.text(max_size=12).filter(lambda text: not text_fault(text))
_NAMES = (st.sampled_from(["pdf", "xlsx", "docx", "a", "b"]) | st.text(max_size=8)).filter(
    lambda name: not name_fault(name)
)
_PARTS = (
    st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=3)
    .map("/".join)
    .filter(lambda path: not path_fault(path))
)
_FILES = st.dictionaries(
    _PARTS.map("f/".__add__), st.tuples(_HASHES, st.sampled_from(["", "x", "l"])), max_size=4
).filter(lambda found: not any(path.startswith(other + "/") for path in found for other in found))


_METHODS: st.SearchStrategy[Method] = st.sampled_from(PIN_METHODS)


def _files(found: dict[str, tuple[str, str]]) -> tuple[PinnedFile, ...]:
    return tuple(PinnedFile(path, *rest) for path, rest in sorted(found.items()))


def _targets(name: str) -> st.SearchStrategy[tuple[InstallTarget, ...]]:
    folders = st.dictionaries(_PARTS, st.tuples(_TEXTS, _METHODS), max_size=3)
    return folders.map(
        lambda found: tuple(
            InstallTarget(agent, f"{path}/{name}", method)
            for path, (agent, method) in found.items()
        )
    )


@st.composite
def pins(draw: st.DrawFn) -> Pin:
    """Draw a pin that keeps to the rules."""
    name = draw(_NAMES)
    return Pin(
        name,
        draw(st.sampled_from(PIN_KINDS)),
        draw(_TEXTS.filter(bool)),
        draw(st.just("") | _PARTS),
        draw(_TEXTS),
        draw(_TEXTS),
        draw(_DIGESTS),
        draw(_DIGESTS),
        _files(draw(_FILES)),
        PinVerdict(draw(st.sampled_from(VERDICT_LEVELS)), draw(st.integers(0, 100)), draw(_TEXTS)),
        draw(st.just("") | _DIGESTS),
        draw(_TEXTS),
        draw(_targets(name)),
        requires=tuple(sorted(draw(st.sets(_NAMES, max_size=3)))),
        dependency=draw(st.booleans()),
        vouch=draw(_TEXTS),
    )


def _once(found: list[Pin]) -> Lock:
    names = {pin.name: pin for pin in found}
    keys = {pin.key: pin for pin in names.values()}
    return Lock(tuple(sorted(keys.values(), key=lambda pin: (pin.name, pin.key))))


LOCKS = st.lists(pins(), max_size=4).map(_once)
