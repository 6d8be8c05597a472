"""What of a lent file no output may show, found by how such files are written: JSON, `key = value`,
netrc, plain lines. Pure.

- A value under a name that says so (`password`, `token`, `secret`, …): from 4 characters on, whatever it looks like.
- Any other value, at any depth of JSON, right of `=` or `:`, in quotes or between tags: from 6 characters on, unless it is plain:
  words, an address without a password, a path, a host, a date, a version.
- Under a name that may be one (`auth`, `key`, `cookie`), words count as well, unless they are in small letters.
- Under a name that says it is none (`type`, `user`, `host`, `region`, …), only what looks like a key: many letters and digits.
- Single words, by the same rule; and lines as they stand, from 8 characters on, except headings and what holds none of that.
- A file of one line and nothing else is hidden as it stands.

It is a net for the careless, as all of this is: it leaves common words alone, so that other output
stays readable.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

MIN_NAMED_CHARS = 4
MIN_VALUE_CHARS = 6
MIN_LINE_CHARS = 8
"""Characters from which on a value is hidden: under a telling name, under another, and a whole
line."""
MAX_VALUES = 4_096
MAX_TOTAL_CHARS = 131_072
"""So much is looked for; of a file that holds more, what is surest."""
_PROSE = 4
_LONG_PROSE = 12
_MAX_PART_CHARS = 1_024

_TELLS = re.compile(
    r"pass(?!age|ive|ed|es|ing|port)|pwd|secret|token|(?:^|[_.-])(?:api|access|private|secret|account|auth)_?key|_auth$|bearer|mnemonic|seed$|"
    r"pin$"
)
_HINTS = re.compile(r"(?:^|[_.-])(?:auth|key|cert|cookie|signature|credentials?)$")
_OPEN = re.compile(
    r"(?:^|[_.-])(?:type|ur[il]|user|username|login|host|hostname|server|port|region|zone|scopes?|e?mail|name|project|project_id|"
    r"version|format|output|machine|store|helper|source|driver|method|mode|process|session|kind|cluster|context|namespace|expiry|expires|expires_(?:in|at|on)|endpoint|path|file|domain|profile|provider|alg|kty|created|"
    r"updated|date)$"
)
_NO_VALUE = frozenset({"true", "false", "null", "none", "yes", "no", "on", "off"})
_WORDS = re.compile(r"[^\W\d_]+(?:[-_.][^\W\d_]+)*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PAIR = re.compile(r"(?<![\w.$])([A-Za-z_][\w.$-]{0,63})[\"']?\s*(?:=>|=|:(?=[\s\"']))\s*(.*)")
_CLOSE_PAIR = re.compile(r"\s*([\w.@-]{1,64}):(?!//)(\S+)\s*")
_QUOTED = re.compile(r"\"((?:[^\"\\]|\\.)*)\"?|'((?:[^'\\]|\\.)*)'?")
"""What stands in quotes; where they are not closed, all that follows: a text is gone through only
once."""
_NAME_BEFORE = re.compile(r"(?<![\w.$])([A-Za-z_][\w.$-]{0,63})[\"']?\s*(?:=>|[:=])\s*$")
_TAGGED = re.compile(r"<([\w:.-]{1,64})[^<>]*>([^<>]+)</")
_POSTGRES = re.compile(r"[^:\s]*:(?:\d+|\*):[^:]*:[^:]*:(.+)")
_ADDRESS = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]{0,20}://(?:([^/?#@\s:]*)(?::([^/?#@\s]*))?@)?[^/?#@\s\"']*([^?#\s\"']*)(?:\?([^#\s\"']*))?"
)
_WORD = re.compile(r"[^\s\"'`,;<>(){}\[\]|]+")
_TWO = re.compile(r"([A-Za-z_]{1,64})\s+(\S+)")
_COMMENT = re.compile(r"\s*(?:#|;|//)+(?:\s|$)")
_ORDINARY = re.compile(
    r"(?:[a-z0-9-]+\.)+[a-z]{2,24}(?::\d{1,5})?"  # a host
    r"|[\w.+-]+@(?:[a-z0-9-]+\.)+[a-z]{2,24}"  # a mail address
    r"|(?:~|\.{1,2})?/[\w.@-]+(?:/[\w.@-]+)*/?"  # a path
    r"|\d{4}-\d\d-\d\d(?:[T ][\d:.+Z-]*)?"  # a date
    r"|v?\d{1,5}(?:\.\d{1,5})+"  # a version, or the number of a host
)
_RUN = re.compile(r"[A-Za-z0-9+/=~]+")


def find_secrets(data: bytes) -> list[str]:
    """Give what a file holds that must not be shown, the surest first."""
    text = data.decode("utf-8", "replace")
    pairs = list(_pairs(text))
    sure = [
        value
        for name, value in pairs
        if _hint_of_name(name) == "tells"
        and len(value) >= MIN_NAMED_CHARS
        and value.lower() not in _NO_VALUE
    ]
    others = [part for name, value in pairs for part in _parts(name, value)]
    alone = (
        [text.strip()]
        if len(text.split(maxsplit=1)) == 1 and len(text.strip()) >= MIN_VALUE_CHARS
        else []
    )
    return list(dict.fromkeys([*alone, *sure, *others, *_lines(text)]))


def first_secrets(values: list[str]) -> list[str]:
    """Give as many of them as are looked for."""
    room = MAX_TOTAL_CHARS
    kept = list[str]()
    for value in values[:MAX_VALUES]:
        room -= min(len(value), _MAX_PART_CHARS)
        if room < 0:
            break
        kept.append(value)
    return kept


# --- names and values


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Give every value of a file with the name that it stands under, or none."""
    try:
        document = json.loads(text, object_pairs_hook=tuple, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        for line in text.splitlines():
            yield from _in_line(line)
    else:
        yield from _in_document(document)


def _in_document(document: Any) -> Iterator[tuple[str, str]]:
    """Walk through JSON, in which an object is a tuple of pairs: no name that comes twice hides
    another's value.
    """
    left = [("", document)]
    while left:
        name, value = left.pop()
        if isinstance(value, str):
            yield name, value.strip()
        elif isinstance(value, tuple):
            left += value
            yield from (("type", key) for key, _inner in value)  # a key may be one, too
        elif isinstance(value, list):
            left += [(name, one) for one in value]


def _in_line(line: str) -> Iterator[tuple[str, str]]:
    """Give the values of one line."""
    if _is_heading(line.strip()):
        return
    words = [word.rstrip(":") for word in _WORD.findall(line)]
    comment = _COMMENT.match(line) is not None
    named = list(_named(line))
    if comment:
        yield from ((name, value) for name, value in named if _hint_of_name(name) == "tells")
        yield from (("type", word) for word in words)
        return
    yield from named
    if len(words) <= _LONG_PROSE:
        yield from (
            (name, _bare(word))
            for name, word in pairwise(line.split())
            if _hint_of_name(name) == "tells" and name.isalpha()
        )
    if not named and len(words) == 2:
        yield words[0], words[1]
    elif not named:
        # Many words are prose, in which only what looks odd is a value.
        yield from (("", word) for word in words if len(words) <= _PROSE or not _is_word(word))


def _is_heading(line: str) -> bool:
    """Tell whether a line is no value: a heading, a name whose values follow, a bracket, the border
    of a key.
    """
    return line.startswith(("[", "-----")) or line.endswith((":", "{", "[", "("))


def _named(line: str) -> Iterator[tuple[str, str]]:
    """Give what stands right of a name, in quotes, between tags, and last in a line of
    PostgreSQL's.
    """
    pair = _PAIR.search(line) or _CLOSE_PAIR.fullmatch(line)
    if pair is not None:
        yield pair[1], _bare(pair[2])
    for quoted in _QUOTED.finditer(line):
        before = _NAME_BEFORE.search(line[max(0, quoted.start() - 100) : quoted.start()])
        if not line[quoted.end() : quoted.end() + 4].lstrip().startswith((":", "=")):
            yield (
                before[1] if before else "",
                _unescaped(quoted[1] if quoted[1] is not None else quoted[2]),
            )
    yield from (tagged.groups() for tagged in _TAGGED.finditer(line))  # type: ignore[misc]
    postgres = _POSTGRES.fullmatch(line.strip())
    if postgres is not None:
        yield "password", postgres[1]


def _bare(value: str) -> str:
    """Take the quotes off a value that stands in them."""
    value = value.strip().rstrip(",").rstrip()
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text


# --- which of them count


def _hint_of_name(name: str) -> str:
    """Say what a name tells about its value: that it is one to hide, that it may be, that it is
    `open`, or nothing.
    """
    word = _HUMP.sub("_", name).lower()
    kinds = (("open", _OPEN), ("tells", _TELLS), ("hints", _HINTS))
    return next((kind for kind, pattern in kinds if pattern.search(word)), "")


def _parts(name: str, value: str) -> Iterator[str]:
    """Give what of a value is to be hidden: all of it, words of it, and what an address carries."""
    told = _hint_of_name(name)
    closed = told != "open"
    odd = told == "hints" and not value.islower()  # such as `dXNlcjpwYXNz`, which has only letters
    if closed and len(value) >= MIN_VALUE_CHARS and (odd or not _is_plain(value)):
        yield value
    words = _WORD.findall(value)
    for word in words if len(words) > 1 else ():
        if _looks_like_key(word) or (
            closed and len(word) >= MIN_VALUE_CHARS and not _is_word(word) and not _is_plain(word)
        ):
            yield word
    if not closed and len(words) == 1 and _looks_like_key(value):
        yield value
    for address in _ADDRESS.finditer(value):
        yield from _carried(*address.groups(default=""))


def _carried(user: str, password: str, path: str, query: str) -> Iterator[str]:
    """Give what an address carries: a password, and parts that look like keys."""
    if len(password) >= MIN_NAMED_CHARS:
        yield password
    yield from (part for part in (user, *path.split("/")) if _looks_like_key(part))
    for pair in query.split("&"):
        name, _equals, value = pair.partition("=")
        tells = _hint_of_name(name) in {"tells", "hints"}
        if len(value) >= (MIN_NAMED_CHARS if tells else MIN_VALUE_CHARS) and (
            tells or _looks_like_key(value)
        ):
            yield value


def _is_word(text: str) -> bool:
    """Tell whether a text is a word of a language, or some that are joined, as names are:
    `access_token`, `docker-desktop`.
    """
    return _WORDS.fullmatch(text.strip("-_.")) is not None


def _is_plain(value: str) -> bool:
    """Tell whether a value is what any text may hold."""
    if value.lower() in _NO_VALUE or _is_word(value):
        return True
    if _ADDRESS.fullmatch(value) is not None:
        return True
    return _ORDINARY.fullmatch(value) is not None and not _looks_like_key(value)


def _looks_like_key(word: str) -> bool:
    """Tell whether a word is one that nobody would make up: a long run of letters and digits."""
    runs = _RUN.findall(
        word.replace("/", " ") if word.startswith(("/", "~/", "./", "../")) else word
    )
    odd = any(
        len(run) >= 12 and any(map(str.isdigit, run)) and any(map(str.isalpha, run)) for run in runs
    )
    mixed = (
        len(word) >= 24
        and any(map(str.isdigit, word))
        and any(map(str.isupper, word))
        and any(map(str.islower, word))
    )
    return (odd or mixed) and "://" not in word


def _lines(text: str) -> Iterator[str]:
    """Give the lines that are to be hidden as they stand: where no value of one counts, somebody
    may yet have meant all of it.
    """
    for line in text.splitlines() if "\0" not in text else ():
        whole = line.strip()
        if (
            len(whole) < MIN_LINE_CHARS
            or _COMMENT.match(line)
            or _is_heading(whole)
            or _is_word(whole)
        ):
            continue
        pair = _PAIR.search(whole) or _TWO.fullmatch(whole)
        if (
            pair is None
            or _hint_of_name(pair[1]) == "tells"
            or any(_parts(pair[1], _bare(pair[2])))
        ):
            yield whole
