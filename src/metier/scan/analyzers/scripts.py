"""PHP, Perl, Lua, Windows batch, AppleScript and the compiled languages: the same view of tokens, each with its own patterns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from metier.scan.rule import Hit
from metier.scan.rules import places
from metier.scan.rules.scripts import APPLESCRIPT, BATCH, CURLY, EVERY, LUA, PERL, PHP, RUBY
from metier.scan.tokens import MAX_TOKENS, Token, read
from metier.scan.view import View, match, tidy, view

if TYPE_CHECKING:
    from metier.scan.view import Pattern

_TABLES: dict[str, tuple[Pattern, ...]] = {
    "ruby": RUBY,
    "php": PHP,
    "perl": PERL,
    "lua": LUA,
    "batch": BATCH,
    "applescript": APPLESCRIPT,
    "curly": CURLY,
}
_FAMILY = {
    **{name: name for name in _TABLES},
    **dict.fromkeys(("go", "rust", "java", "c", "cpp", "c++", "csharp", "c#", "cs", "kotlin", "swift", "dart", "scala"), "curly"),
    "rb": "ruby",
    "pl": "perl",
    "bat": "batch",
    "cmd": "batch",
    "osascript": "applescript",
    "scpt": "applescript",
}
_WRITES = re.compile(
    r"\b(?:file\.write|file\.open|io\.write|fileutils\.\w+|file_put_contents|fopen|fwrite|open|io\.open"
    r"|os\.writefile|fs::write|files\.write"
    r"|copy|move|echo)\b[^\n;]{0,60}$"
)
_SENDS = re.compile(
    r"net::http\.(?:post\w*|new|start)|httparty\.post|restclient\.post|faraday\.post|curl_setopt|curlopt_postfields|curl_exec"
    r"|->post|http\.post|lwp::useragent|http::tiny|\bfsockopen|reqwest|curl[^\n]{0,60}\s(?:-d|--data|-f|-t|--upload-file)\b"
)
_WHOLE = re.compile(
    r"\benv\.(?:to_h|to_a|inspect|each)\b|\bgetenv ?\( ?\)|\$_env ?[),;]|%env\b|\bos\.environ ?\("
    r"|env::vars ?\(|system\.getenv ?\( ?\)"
)
_CARETS = re.compile(r"\w\^(?=\w)")
MOST_PLACES = 4000
MAX_CARETS = 4  # carets inside words of one batch file that are still no more than odd


def find(code: str, lang: str) -> list[Hit]:
    """Return what a script in that language does, sorted by place; a language nobody knows is read as one with braces."""
    family = _FAMILY.get(lang.lower(), "curly")
    tokens = read(code, family).tokens
    if not tokens:
        return []
    seen = view(code, tokens)
    hits = match(seen, (*_TABLES[family], *EVERY))
    hits += _places(seen)
    if len(tokens) >= MAX_TOKENS:
        hits.append(Hit("SC802", tokens[-1].start, tokens[-1].end, "more code than is looked at"))
    if family == "batch":
        hits += _carets(code)
    return tidy(hits)


def commands(code: str, lang: str) -> list[tuple[int, int, str]]:
    """Return the constant command lines that the script hands to a shell, with their places: the shell analyzer reads them."""
    tokens = read(code, _FAMILY.get(lang.lower(), "curly")).tokens
    found: list[tuple[int, int, str]] = []
    for index, token in enumerate(tokens):
        if token.kind == "command" or (token.kind == "string" and _runs_before(tokens, index)):
            found.append((token.start, token.end, token.text))
    return found


def _runs_before(tokens: list[Token], index: int) -> bool:
    before = [token.text.lower() for token in tokens[max(index - 2, 0) : index]]
    starters = ("system", "exec", "shell_exec", "passthru", "popen", "execute", "spawn", "script")
    return bool(before) and (before[-1] in starters or (before[-1] == "(" and before[0] in starters))


def _places(seen: View) -> list[Hit]:
    """Report credential places, catchers, and writing to where programs or the agent start from; sending secrets is worse."""
    hits: list[Hit] = []
    for kind, rule in (("credential", "SC476"), ("exfiltration", "SC483"), ("persistence", "SC480"), ("memory", "SC481")):
        for place in places.look(kind, seen.text, MOST_PLACES):
            token = seen.token(place.start)
            writing = _WRITES.search(seen.text[max(place.start - 120, 0) : place.start])
            if place.what in ("an environment file", "the account table") or place.what.startswith("a chat"):
                continue
            if rule in ("SC476", "SC483") or writing is not None:
                hits.append(Hit(rule, token.start, token.end, place.what))
    sends = _SENDS.search(seen.text)
    if sends is not None and (_WHOLE.search(seen.text) or any(hit.rule == "SC476" for hit in hits)):
        token = seen.token(sends.start())
        hits.append(Hit("SC477", token.start, token.end))
    return hits


def _carets(code: str) -> list[Hit]:
    """Report batch words broken up by carets."""
    found = [match.start() for match, _ in zip(_CARETS.finditer(code), range(MAX_CARETS + 1), strict=False)]
    return [Hit("SC489", found[0], found[-1] + 3)] if len(found) > MAX_CARETS else []
