"""PowerShell: downloads that are run, encoded commands, hidden windows, guards switched off, and what survives a restart."""

from __future__ import annotations

import re
from itertools import pairwise

from metier.scan.rule import Hit
from metier.scan.rules import places
from metier.scan.rules.powershell import PATTERNS
from metier.scan.spelled import unpack
from metier.scan.tokens import Token, read
from metier.scan.view import View, match, tidy, view

MAX_LAYERS = 2  # encoded commands inside encoded commands
_ENCODED = re.compile(
    r"(?<![\w])[-/](?:e|ec|en|enc|enco|encod|encode|encoded|encodedcommand)['\"\s]{1,4}([A-Za-z0-9+/=]{16,20000})", re.IGNORECASE
)
_CONSTANT = re.compile(r"frombase64string\s?\(\s?\x02([^\x03]{16,20000})", re.IGNORECASE)
_SECRET = re.compile(r"\$env:(\w{1,60})|getenvironmentvariable ?\( ?\x02(\w{1,60})")
_SENDS = re.compile(r"(?<![\w-])(?:uploadstring|uploadfile|uploaddata|postasync|-body|-infile)(?![\w-])")
_WHOLE = re.compile(r"(?:get-childitem|gci|dir|ls)\s{1,2}env:|getenvironmentvariables ?\(")


def find(code: str) -> list[Hit]:
    """Return what the script does, sorted by place. Takes any text and never raises."""
    return tidy(_look(code, 0))


def _look(code: str, layer: int) -> list[Hit]:
    tokens = read(code, "powershell").tokens
    if not tokens:
        return []
    seen = view(code, tokens)
    hits = match(seen, PATTERNS)
    hits += _hidden_words(code, tokens)
    hits += _private(seen)
    if layer < MAX_LAYERS:
        hits += _encoded(code, seen, layer)
    return hits


def _hidden_words(code: str, tokens: list[Token]) -> list[Hit]:
    """Report words broken up by back-ticks, and names whose case goes up and down like a fence."""
    found: list[Hit] = []
    for token in tokens:
        if token.kind != "word":
            continue
        raw = code[token.start : token.end]
        broken = len(token.text) > 2 and raw.strip("`").count("`") >= 2
        if broken or (len(token.text) > 8 and _fence(token.text)):
            found.append(Hit("SC462", token.start, token.end, token.text))
            if len(found) >= 20:
                break
    return found


def _fence(word: str) -> bool:
    """Say whether the letters change their case nearly every time: `iNvOkE-eXpReSsIoN`."""
    letters = [letter.isupper() for letter in word if letter.isalpha()]
    turns = sum(one != other for one, other in pairwise(letters))
    return len(letters) > 8 and turns * 3 >= len(letters) * 2 and "_" not in word


def _private(seen: View) -> list[Hit]:
    """Report credential places and secret variables, and their sending where both are in one script."""
    hits: list[Hit] = []
    for place in places.look("credential", seen.text, 4000):
        token = seen.token(place.start)
        if place.what != "an environment file":
            hits.append(Hit("SC459", token.start, token.end, place.what))
    whole = _WHOLE.search(seen.text)
    sends = _SENDS.search(seen.text)
    for secret in _SECRET.finditer(seen.text):
        name = secret[1] or secret[2]
        if places.secret_name(name):
            token = seen.token(secret.start())
            hits.append(Hit("SC468", token.start, token.end, name))
    if sends is not None and (whole is not None or any(hit.rule == "SC459" for hit in hits)):
        token = seen.token(sends.start())
        hits.append(Hit("SC466", token.start, token.end))
    return hits[:60]


def _encoded(code: str, seen: View, layer: int) -> list[Hit]:
    """Decode encoded commands and look again; what is found there is reported at the encoded text."""
    hits: list[Hit] = []
    packed = [(found.start(1), found.end(1), found[1]) for found, _ in zip(_ENCODED.finditer(code), range(10), strict=False)]
    for found, _ in zip(_CONSTANT.finditer(seen.text), range(10), strict=False):
        token = seen.token(found.start(1))
        packed.append((token.start, token.end, token.text))
    for start, end, text in packed:
        plain = unpack(text, "base64")
        inner = _look(plain, layer + 1) if plain else []
        hits += [Hit(hit.rule, start, end, hit.evidence or plain[hit.start : hit.end][:200]) for hit in inner]
    return hits
