"""What the standard's `compatibility` text says plainly: commands, variables, MCP servers and
operating systems. Pure.

It is prose for people, so only what can be taken in one way is taken: well-known commands, or names
in backticks that are called a command, `X MCP server`, variables: each in a sentence that requires
it; `macOS only`, where no other system is spoken of. A word that nobody here knows means nothing,
and what is optional, conditional or one of several ways is not needed.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from metier.standard.plain_text import words

MOST_CHARS = 2_000
"""The standard allows 500; what comes after this is not read."""

COMMANDS = {
    **{
        name: name
        for name in words(
            "aws az bash brew bun cargo clang cmake composer curl deno docker dotnet exiftool "
            "fd ffmpeg fzf gcc gcloud gh git glab gradle helm hg java jdb jq kubectl make "
            "mysql node npm npx nvm openssl pandoc perl php pip pipx pnpm podman poetry psql "
            "qpdf rg rsync ruby rustc scp sqlite3 ssh svn swift tar terraform tesseract tmux "
            "tsc unzip uv uvx wget xcodebuild yarn yq yt-dlp zip zsh"
        )
    },
    "aws cli": "aws",
    "azure cli": "az",
    "docker compose": "docker",
    "github cli": "gh",
    "gitlab cli": "glab",
    "go": "go",
    "golang": "go",
    "google cloud cli": "gcloud",
    "graphviz": "dot",
    "imagemagick": "magick|convert",
    "jdk": "java",
    "libreoffice": "soffice|libreoffice",
    "maven": "mvn",
    "node.js": "node",
    "nodejs": "node",
    "openssh": "ssh",
    "openssh client": "ssh",
    "poppler": "pdftotext",
    "poppler-utils": "pdftotext",
    "python": "python3|python",
    "python3": "python3|python",
    "ripgrep": "rg",
    "rust": "cargo",
    "sqlite": "sqlite3",
    "xcode": "xcodebuild",
}
"""What people write, in small letters, and the command that it stands for; `a|b` is satisfied by
either."""
_NEEDS_VERSION = words("go make fd java swift rust zip tar")
"""Ordinary words too: they count only with a version, in backticks, or called a command."""
_SYSTEMS = {
    "linux": ("linux",),
    "ubuntu": ("linux",),
    "debian": ("linux",),
    "windows": ("windows",),
    "wsl": ("linux", "windows"),
    "wsl2": ("linux", "windows"),
}
"""What each name of a system stands for; every other one that is known is macOS. WSL is a Linux
that Windows has."""

_REQUIRES = re.compile(r"\b(?:requires?|required|needs?|must have)\b:?", re.IGNORECASE)
_DOUBT = re.compile(
    r"\b(?:optional|optionally|recommended|preferably|suggested|may|might|could|can|if|when|unless|either|except|not|no|without|"
    r"tested|alternatively|e\.g|such as|any|for example)\b|n't\b",
    re.IGNORECASE,
)
_PIECES = re.compile(r"\s*(?:,|;|\+(?=\s)|&|\band\b|\bplus\b|\bas well as\b)\s*", re.IGNORECASE)
_PARENTHESES = re.compile(r"\([^()]*\)")
_SENTENCES = re.compile(r"[.!?](?=\s|$)|[;\n]")
_LEADING = re.compile(
    r"(?:(?:a|an|the|recent|latest|local|working|installed|both)\s+){0,3}", re.IGNORECASE
)
_VERSION = re.compile(r"[<>=~^v]{0,3}\d[\w.+-]{0,15}|[<>=~^]{1,3}")
_SAYS_NOTHING = words(
    "cli client binary command executable toolchain installed available configured version or "
    "newer later higher above your the path $path"
)
"""What may follow a command's name without making something else of it; so may a version."""
_QUOTED = r"`([A-Za-z0-9][\w.+-]{0,40})`"
_CALLED = re.compile(
    rf"{_QUOTED}(?=\s+(?:cli|command|binary|executable)\b)|{_QUOTED}", re.IGNORECASE
)
_SERVER = re.compile(
    r"`?([A-Za-z0-9][\w.@/-]{0,63})`?\s+MCP(?:\s+(?:server|connector|integration))?\Z",
    re.IGNORECASE,
)
_NO_SERVER = words(
    "a an the any some its your our this that configured remote local official external "
    "connected running and or via with"
)
_VARIABLES = re.compile(r"\b(?:requires?|needs?|must have)\b", re.IGNORECASE)
_VARIABLES_BEFORE = re.compile(
    r"\b(?:required|needed|must be (?:set|present|defined|configured|exported))\b", re.IGNORECASE
)
_MERELY = re.compile(r"\b(?:supports?|honou?rs?|respects?|reads?|understands?)\b", re.IGNORECASE)
"""What a skill may do with a variable that it does not need."""
_VARIABLE = re.compile(r"(?<![\w-])[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,6}(?![\w-])")
_SYSTEM = r"(?:mac\s?os(?: x)?|os x|darwin|linux|ubuntu|debian|windows|wsl2?)"
_A_SYSTEM = re.compile(rf"\b{_SYSTEM}\b", re.IGNORECASE)
_LIST = rf"{_SYSTEM}(?:(?:\s*(?:,|/|&|,? and|,? or)\s*){_SYSTEM}){{0,5}}"
_ONLY = re.compile(
    rf"({_LIST})(?: \d[\w.+]{{0,8}})? only\b|\bonly (?:works |runs |available |supported )?(?:on |for )({_LIST})\b",
    re.IGNORECASE,
)
_MUST = re.compile(
    rf"requires? (?:a )?({_LIST})(?= \d|\s*,|\s*\Z| and | with | host| machine| system)",
    re.IGNORECASE,
)
_ABOUT_ITSELF = words(
    "this the it skill is are works work runs run available supported supports compatible "
    "designed made intended for on with under currently platform: platforms: platform os: "
    "system: - a use usable to be used"
)
"""Words before a limit that leave it one of the whole skill: `PowerShell 7 on Windows only` is
about PowerShell."""
_LIMIT_ENDS = re.compile(
    r"\s*(?:\Z|[,:–—-]|\d)|(?= (?:and|with|host|machine|system))",  # noqa: RUF001
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\b(?:not|no|never|cannot|without|except)\b|n't\b", re.IGNORECASE)


class Compatibility(NamedTuple):
    """What the text asks for."""

    env: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()


def read_compatibility(text: str) -> Compatibility:
    """Take from the text what it plainly requires."""
    env: list[str] = []
    commands: list[str] = []
    servers: list[str] = []
    systems: list[str] = []
    for written in _SENTENCES.split(text[:MOST_CHARS]):
        sentence = " ".join(written.split())
        if _DOUBT.search(sentence):
            continue
        systems += _systems(sentence)
        env += _variables(sentence)
        found = _REQUIRES.search(sentence)
        if found:
            _take(sentence[found.end() :], commands, servers)
    if systems and not _spoken_of(text[:MOST_CHARS]) <= set(systems):
        systems = []  # what is limited to one system is then only a part of it
    return Compatibility(
        *(tuple(dict.fromkeys(some)) for some in (env, commands, servers, systems))
    )


def _variables(sentence: str) -> list[str]:
    """Give the variables that a sentence requires: those after its verb, or before a `required`."""
    if _MERELY.search(sentence):
        return []
    verb = _VARIABLES.search(sentence)
    after = _VARIABLES_BEFORE.search(sentence)
    found = _VARIABLE.findall(sentence, verb.end()) if verb else []
    return found or (_VARIABLE.findall(sentence) if after else [])


def _take(clause: str, commands: list[str], servers: list[str]) -> None:
    """Take what a list of requirements names; in a list of alternatives only when every one of them
    is known.
    """
    if re.search(r"\bor\b(?! (?:newer|later|higher|above))", clause, re.IGNORECASE):
        names = [command_in(piece) for piece in re.split(r"\s*(?:,|/|\bor\b)\s*", clause) if piece]
        if all(names):
            commands.append("|".join(dict.fromkeys("|".join(names).split("|"))))
        return
    for piece in _PIECES.split(clause):
        server = _SERVER.search(piece)
        if server and server[1].lower() not in _NO_SERVER:
            servers.append(server[1])
        elif command := command_in(piece):
            commands.append(command)


def command_in(piece: str) -> str:
    """Give the command that a few words name and say nothing else about; nothing when they do
    not.
    """
    piece = piece.strip()
    words = piece[_LEADING.match(piece).end() :]  # type: ignore[union-attr]  # it matches nothing too
    called = _CALLED.match(words)
    if called:
        name = called[1] or called[2]
        rest = words[called.end() :]
        known = called[1] or COMMANDS.get(name.lower(), "")
        return known if _adds_nothing(rest) else ""
    low = words.lower()
    for length in (3, 2, 1):
        name = " ".join(low.split()[:length]).rstrip(":")
        if name in COMMANDS:
            rest = words[len(name) :]
            fits = _adds_nothing(rest) and (name not in _NEEDS_VERSION or bool(rest.strip()))
            return COMMANDS[name] if fits else ""
    return ""


def _adds_nothing(rest: str) -> bool:
    """Tell whether the words after a name leave it what it is: `git 2.x on PATH` is git, `git
    hosting` is not.
    """
    plain, _, _who = _PARENTHESES.sub(" ", rest.lower()).partition(" authenticated")
    words = plain.split()
    if ("on" in words or "in" in words) and not words[-1].endswith("path"):
        return False
    return all(
        word in _SAYS_NOTHING or word in {"on", "in"} or _VERSION.fullmatch(word) for word in words
    )


def _systems(sentence: str) -> list[str]:
    """Give the systems that a sentence limits the skill to; what stands in parentheses is about
    something else.
    """
    plain = " ".join(_PARENTHESES.sub(" ", sentence).split())
    found = _ONLY.search(plain) or _MUST.search(plain)
    if not found or not _LIMIT_ENDS.match(plain, found.end()):
        return []
    if not all(word in _ABOUT_ITSELF for word in plain[: found.start()].lower().split()):
        return []
    return _named(next((group for group in found.groups() if group), ""))


def _spoken_of(text: str) -> set[str]:
    """Give every system that a text names, but for what it says no to and what stands in
    parentheses.
    """
    sentences = (_PARENTHESES.sub(" ", sentence) for sentence in _SENTENCES.split(text))
    return {
        system
        for sentence in sentences
        if not _NEGATED.search(sentence)
        for system in _named(sentence)
    }


def _named(words: str) -> list[str]:
    return [
        system
        for word in _A_SYSTEM.findall(words)
        for system in _SYSTEMS.get(word.lower(), ("macos",))
    ]
