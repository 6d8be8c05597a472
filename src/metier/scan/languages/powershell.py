"""PowerShell: downloads that are run, encoded commands, hidden windows, guards switched off, and
what survives a restart.
"""

from __future__ import annotations

import re
from itertools import islice, pairwise

from metier.scan.languages.dataflow import unpack
from metier.scan.languages.shell.remote import only_installs
from metier.scan.languages.tokens import Token, TokenView, match, read_tokens, view_of
from metier.scan.model import RuleHit, limit_hits, word_set
from metier.scan.rules import places
from metier.scan.rules.powershell import PATTERNS

MAX_LAYERS = 2  # encoded commands inside encoded commands
_ENCODED = re.compile(
    r"(?<![\w])[-/](?:e|ec|en|enc|enco|encod|encode|encoded|encodedcommand)['\"\s]{1,4}([A-Za-z0-9+/=]{16,20000})",
    re.IGNORECASE,
)
_CONSTANT = re.compile(r"frombase64string\s?\(\s?\x02([^\x03]{16,20000})", re.IGNORECASE)
_SECRET = re.compile(r"\$env:(\w{1,60})|getenvironmentvariable ?\( ?\x02(\w{1,60})")
_SENDS = re.compile(
    r"(?<![\w-])(?:uploadstring|uploadfile|uploaddata|postasync|-body|-infile)(?![\w-])"
)
_WHOLE = re.compile(r"(?:get-childitem|gci|dir|ls)\s{1,2}env:|getenvironmentvariables ?\(")


def find(code: str) -> list[RuleHit]:
    """Return what the script does, sorted by place. Takes any text and never raises."""
    return limit_hits(_look(code, 0))


def _look(code: str, layer: int) -> list[RuleHit]:
    tokens = read_tokens(code, "powershell").tokens
    if not tokens:
        return []
    seen = view_of(code, tokens)
    hits = [hit for hit in match(seen, PATTERNS) if not _installs(code, hit)]
    hits += _comes_back(code, hits)
    hits += _hidden_words(code, tokens)
    hits += _private(seen)
    if layer < MAX_LAYERS:
        hits += _encoded(code, seen, layer)
    return hits


_HIDING = word_set("SC450 SC453 SC455 SC458 SC463")


def _installs(code: str, hit: RuleHit) -> bool:
    """Say whether what is downloaded and run is an installer with a named owner."""
    end = code.find("\n", hit.end)
    start = code.rfind("\n", 0, hit.start) + 1
    if hit.rule != "SC450":
        return False
    line = code[start : end if end >= 0 else len(code)]
    # the address may stand on the next line
    return only_installs(line if "://" in line else code[start : hit.end + 200])


_HIDES = re.compile(
    r"-w\w{0,10}\s{1,3}hidden|\s-e(?:nc|c|ncodedcommand)?\s{1,3}[a-z0-9+/=]{16}|https?://|\bmshta\b"
    r"|downloadstring|frombase64string",
    re.IGNORECASE,
)


def _comes_back(code: str, hits: list[RuleHit]) -> list[RuleHit]:
    """Report what is started again at every start and was fetched, encoded or hidden."""
    lasting = [hit for hit in hits if hit.rule == "SC457"][:3]
    hides = any(hit.rule in _HIDING for hit in hits) or any(
        _HIDES.search(code, hit.start, hit.end + 300) for hit in lasting
    )
    return [hit._replace(rule="SC469") for hit in lasting if hides]


def _hidden_words(code: str, tokens: list[Token]) -> list[RuleHit]:
    """Report words broken up by back-ticks, and names whose case goes up and down like a fence."""
    found = []
    for token in tokens:
        if token.kind != "word":
            continue
        raw = code[token.start : token.end]
        broken = len(token.text) > 2 and raw.strip("`").count("`") >= 2
        if broken or (len(token.text) > 8 and _fence(token.text)):
            found.append(RuleHit("SC462", token.start, token.end, token.text))
            if len(found) >= 20:
                break
    return found


def _fence(word: str) -> bool:
    """Say whether the letters change their case nearly every time: `iNvOkE-eXpReSsIoN`."""
    letters = [letter.isupper() for letter in word if letter.isalpha()]
    turns = sum(one != other for one, other in pairwise(letters))
    return len(letters) > 8 and turns * 3 >= len(letters) * 2 and "_" not in word


def _private(seen: TokenView) -> list[RuleHit]:
    """Report credential places and secret variables, and their sending where both are in one
    script.
    """
    hits = []
    for place in places.find_places("credential", seen.text, 4000):
        token = seen.token(place.start)
        if place.what != "an environment file":
            hits.append(RuleHit("SC459", token.start, token.end, place.what))
    whole = _WHOLE.search(seen.text)
    sends = _SENDS.search(seen.text)
    for secret in _SECRET.finditer(seen.text):
        name = secret[1] or secret[2]
        if places.secret_name(name):
            token = seen.token(secret.start())
            hits.append(RuleHit("SC468", token.start, token.end, name))
    if sends is not None and (whole is not None or any(hit.rule == "SC459" for hit in hits)):
        token = seen.token(sends.start())
        hits.append(RuleHit("SC466", token.start, token.end))
    return hits[:60]


def _encoded(code: str, seen: TokenView, layer: int) -> list[RuleHit]:
    """Decode encoded commands and look again; what is found there is reported at the encoded
    text.
    """
    hits = []
    packed = [(*found.span(1), found[1]) for found in islice(_ENCODED.finditer(code), 10)]
    for found in islice(_CONSTANT.finditer(seen.text), 10):
        token = seen.token(found.start(1))
        packed.append((token.start, token.end, token.text))
    for start, end, text in packed:
        plain = unpack(text, "base64")
        inner = _look(plain, layer + 1) if plain else []
        hits += [
            RuleHit(hit.rule, start, end, hit.evidence or plain[hit.start : hit.end][:200])
            for hit in inner
        ]
    return hits
