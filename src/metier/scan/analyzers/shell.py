"""What a shell text does: its commands are taken apart, and each family of behaviour is looked for in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.scan import shellreader, shellwords
from metier.scan.rule import Hit
from metier.scan.shell import calls, connect, fetch, harm, naming, secrets, send, stay

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.scan.shell.calls import Script

MOST = 200
"""How many stretches of other languages one text may give."""
MOST_OF_ONE = 20
"""Hits of one rule that are told of; no rule crowds out another."""
MOST_WORDS = 100
"""Words of one command that are looked at for what it sends."""
LONGEST_PIPELINE = 32
_LONGEST_EVIDENCE = 240

_MANAGERS = frozenset((
    "npm", "pnpm", "yarn", "pip", "pipx", "uv", "poetry", "conda", "mamba", "brew", "apt", "apt-get", "dnf", "yum", "apk",
    "pacman", "gem", "cargo",
    "go", "choco", "winget", "scoop", "snap", "port", "nix-env", "composer", "zypper",
))  # fmt: skip
_INSTALLS = frozenset(("install", "add", "i", "get", "ci", "-S", "-Sy", "upgrade", "update", "require", "sync", "tool"))


class Inline(NamedTuple):
    """Code of another language inside a shell text, and where it begins there."""

    language: str
    text: str
    start: int


def find(code: str) -> list[Hit]:
    """Return what a shell text does, in the order of its places."""
    script = calls.script(code)
    kept: dict[tuple[str, int], Hit] = {}
    counts: dict[str, int] = {}
    for hit in sorted(_all(script), key=lambda one: (one.start, one.rule, one.end)):
        if (hit.rule, hit.start) in kept or counts.get(hit.rule, 0) >= MOST_OF_ONE:
            continue
        counts[hit.rule] = counts.get(hit.rule, 0) + 1
        kept[hit.rule, hit.start] = hit._replace(evidence=hit.evidence[:_LONGEST_EVIDENCE]) if hit.evidence else hit
    return list(kept.values())


def inline(code: str) -> list[Inline]:
    """Return the code of other languages that a shell text hands to their interpreters, for their own analyzers."""
    found: list[Inline] = []
    for call in calls.script(code).calls:
        if call.name not in calls.LANGUAGES and call.name != "deno":
            continue
        language = calls.LANGUAGES.get(call.name, ("javascript", ""))[0]
        word = calls.given_program(call)
        if word:
            exact = code[word.start + 1 : word.end - 1] == word.text
            found.append(Inline(language, word.text, word.start + exact))
        found += [Inline(language, one.body, one.start) for one in call.command.redirects if one.body]
    return found[:MOST]


def _all(script: Script) -> Iterator[Hit]:
    texts = naming.texts(script)
    found = secrets.secrets(texts)
    yield from fetch.check(script)
    yield from connect.check(script)
    yield from secrets.check(script, found)
    yield from send.check(script, found, texts)
    yield from stay.check(script, texts)
    yield from harm.check(script)
    yield from _capabilities(script)
    left = _left_out(script, texts)
    if left:
        yield Hit("SC802", 0, 0, left)


def _left_out(script: Script, texts: naming.Texts) -> str:
    """Say what of a text was not looked at: mass is a way to hide, so it is never passed over in silence."""
    cut = bool(script.calls) and script.calls[-1].command.via == shellwords.LEFT_OUT
    if cut or len(script.text) > shellreader.LONGEST:
        return "more commands than are looked at"
    if naming.crowded(texts):
        return "a place is named more often than is looked at"
    if any(len(call.words) > MOST_WORDS and call.name in calls.NETWORK for call in script.calls):
        return "a command with more words than are looked at"
    long = {number for number, line in script.pipelines.items() if len(line) >= LONGEST_PIPELINE}
    acts = calls.NETWORK | calls.INTERPRETERS  # bars also stand in tables and in the types of other languages
    if long and any(call.command.pipeline in long and call.name in acts for call in script.calls):
        return "a pipeline longer than is looked at"
    return ""


def _capabilities(script: Script) -> Iterator[Hit]:
    for call in script.calls:
        start, end = call.command.start, call.command.end
        if call.name in calls.NETWORK:
            yield Hit("SC290", start, end)
        if call.name in _MANAGERS and any(arg in _INSTALLS for arg in call.args[:4]):
            yield Hit("SC291", start, end)
        if "sudo" in call.wraps or "doas" in call.wraps:
            yield Hit("SC292", start, end)
