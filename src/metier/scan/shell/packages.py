"""Which packages an install command names, and whether a name is nearly another's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.rules.supply import NPM, PYPI, REAL

if TYPE_CHECKING:
    from metier.scan.shell.calls import Call
    from metier.scan.shellwords import Word

_VALUED = frozenset((
    "-r", "--requirement", "-c", "--constraint", "-i", "--index-url", "--extra-index-url", "-f", "--find-links", "-t",
    "--target", "--python", "--registry", "--prefix",
    "--trusted-host", "-p", "--group", "-G", "--extra", "--source", "-v", "--version", "-n", "--name", "-w", "--filter",
    "--root", "--proxy", "--index", "--channel",
))  # fmt: skip
_SPEC = re.compile(r"[<>=!~;\[\s@(].*", re.DOTALL)
_DASHES = re.compile(r"[-_.]+")
_RUNNERS: dict[str, tuple[str, ...]] = {
    "npx": (), "bunx": (), "uvx": (), "pnpm": ("dlx",), "yarn": ("dlx",), "pipx": ("run",), "npm": ("exec",), "bun": ("x",),
    "uv": ("tool", "run"),
}  # fmt: skip
_ADDS: dict[str, tuple[str, frozenset[str]]] = {
    "pip": ("pypi", frozenset(("install", "download"))), "pipx": ("pypi", frozenset(("install", "inject"))),
    "poetry": ("pypi", frozenset(("add",))),
    "pdm": ("pypi", frozenset(("add",))), "rye": ("pypi", frozenset(("add", "install"))),
    "npm": ("npm", frozenset(("install", "i", "add"))),
    "pnpm": ("npm", frozenset(("add", "install", "i"))), "yarn": ("npm", frozenset(("add",))),
    "bun": ("npm", frozenset(("add", "install", "i"))), "gem": ("gem", frozenset(("install",))),
    "cargo": ("cargo", frozenset(("install", "add"))), "go": ("go", frozenset(("install", "get"))),
    "brew": ("brew", frozenset(("install",))), "easy_install": ("pypi", frozenset()),
}  # fmt: skip


class Install(NamedTuple):
    """What one command installs or runs, of which kind, and whether it runs it at once."""

    kind: str
    packages: tuple[Word, ...]
    once: bool = False


def install(call: Call) -> Install | None:
    """Return what the call installs, or None when it installs nothing."""
    words = call.words
    name = call.name
    if name == "python" and call.args[:2] in (("-m", "pip"), ("-m", "pipx")):
        name, words = call.args[1], words[2:]
    elif name == "uv" and call.args[:1] == ("pip",):
        name, words = "pip", words[1:]
    elif name == "uv" and call.args[:1] == ("add",):
        name, words = "pip", (words[0]._replace(text="install"), *words[1:])
    elif name == "uv" and call.args[:2] == ("tool", "install"):
        name, words = "pip", words[1:]
    if name in _RUNNERS and tuple(word.text for word in words[: len(_RUNNERS[name])]) == _RUNNERS[name]:
        return _once(name, words[len(_RUNNERS[name]) :])
    if name not in _ADDS:
        return None
    kind, verbs = _ADDS[name]
    verb = next((place for place, word in enumerate(words[:4]) if word.text in verbs), -1)
    if verbs and verb < 0:
        return None
    return Install(kind, tuple(_plain(words[verb + 1 :])))


def _once(name: str, words: tuple[Word, ...]) -> Install:
    kind = "pypi" if name in ("uvx", "pipx", "uv") else "npm"
    given = [words[place + 1] for place, word in enumerate(words[:-1]) if word.text in ("-p", "--package", "--from", "--with")]
    return Install(kind, tuple(given or _plain(words)[:1]), once=True)


def _plain(words: tuple[Word, ...]) -> list[Word]:
    """Return the words that are no options and no values of options."""
    found: list[Word] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word.text[:1] == "-":
            skip = word.text in _VALUED
        elif word.text and word.text[:1] not in ("$", "<", "{", ".", "/", "~"):
            found.append(word)
    return found


def bare(spec: str) -> str:
    """Return the name in a package specification: `Requests[socks]==2.1` is `requests`, `@a/b@1` is `@a/b`."""
    text = spec.strip().strip("'\"").lower()
    return text[:1] + _SPEC.sub("", text[1:]) if text else ""


def lookalike(spec: str, kind: str) -> str:
    """Return the well-known package that the name is nearly that of, or an empty text."""
    name = bare(spec)
    popular = {"pypi": PYPI, "npm": NPM}.get(kind)
    if popular is None or not 4 < len(name) < 40 or "/" in name or ":" in name or name in PYPI or name in NPM or name in REAL:
        return ""
    plain = _DASHES.sub("-", name)
    if kind == "pypi" and plain in PYPI:
        return ""
    tight = plain.replace("-", "")
    for known in popular:
        if len(known) < 5 or abs(len(known) - len(name)) > 2:
            continue
        if _near(name, known) or (tight == _DASHES.sub("", known) and plain != _DASHES.sub("-", known)):
            return known
    return ""


def _near(one: str, other: str) -> bool:
    """Say whether one letter was added, left out, changed or swapped with its neighbour."""
    if abs(len(one) - len(other)) > 1:
        return False
    first = 0
    while first < min(len(one), len(other)) and one[first] == other[first]:
        first += 1
    a, b = one[first:], other[first:]
    if len(a) == len(b):
        return a[1:] == b[1:] or (a[:2] == b[:2][::-1] and a[2:] == b[2:])
    return a[1:] == b if len(a) > len(b) else b[1:] == a
