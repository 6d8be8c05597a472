"""Look at Python code that does not parse, line by line: Python 2, a fragment, or something cut short.

Each pattern is short and goes over the text once; what needs two things on a line looks for each by itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from metier.scan import pynames as n, pytext as t
from metier.scan.rule import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

GAP = 300
"""How far apart the two things may stand."""
LINE_HITS = 10


def _line(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


_CRED, _START, _AGENT = _line(t.CRED), _line(t.START), _line(t.AGENT)
_RUNS = _line(r"(?<![.\w])(?:exec|eval)\s?\(|\bexec\s|\b(?:os\.system|os\.popen|subprocess\.\w{2,12})\s?\(")
_FETCHED = _line(r"\b(?:urlopen|requests\.get|httpx\.get)\s?\(|\.recv\s?\(")
_DECODED = _line(
    r"\b(?:b64decode|b32decode|b85decode|a85decode|decompress|fromhex|unhexlify|marshal\.loads)\s?\("
    r"|\.decode\s?\(\s?['\"](?:base64|hex|zlib|rot_?13)"
)
_SENDS = _line(r"\.(?:post|put|sendall|sendto)\s?\(|\burlopen\s?\(")
_OPENS = _line(r"\b(?:open|Path|copy|copyfile|connect)\s?\(")
_ENVIRON = _line(r"\bos\.environ\b(?!\s?[\[.])|\bos\.environ\.(?:copy|items)\b")
_WRITING = _line(r"['\"][wa]b?\+?['\"]")
_FILENO = _line(r"\.fileno\b")

_ONE: tuple[tuple[str, re.Pattern[str], tuple[str, ...]], ...] = (
    ("SC307", _line(r"\bpty\.spawn\s?\(\s?['\"\[]{1,2}/bin/"), ("pty.spawn",)),
    (
        "SC311",
        _line(
            r"\brmtree\s?\(\s?(?:['\"](?:/|~|/home)['\"]|(?:os\.path\.)?expanduser\s?\(\s?['\"]~/?['\"]|Path\.home\s?\(\s?\)\s?\))"
        ),
        ("rmtree",),
    ),
    ("SC312", _line(r"\b__import__\s?\(\s?['\"](?:os|subprocess|socket|ctypes|pty|builtins)['\"]\s?\)\s?\.\s?\w"), ("__import__",)),
    (
        "SC317",
        _line(r"\bverify\s?=\s?False\b|_create_unverified_context|\bCERT_NONE\b"),
        ("verify", "_create_unverified_context", "cert_none"),
    ),
    ("SC321", _line(r"\bmarshal\.loads?\s?\("), ("marshal.load",)),
    ("SC328", t.MINING, t.MINING_WORDS),
    (
        "SC338",
        t.SHELL,
        (
            "curl",
            "wget",
            "fetch",
            "/dev/tcp",
            "/dev/udp",
            "base64 ",
            "sh -i",
            "powershell",
            "iex",
            "invoke-expression",
            "mkfifo",
            "osascript",
            "mshta",
            "certutil",
            "sh -c",
        ),
    ),
    ("SC338", t.NETCAT, ("nc ", "ncat ")),
    (
        "SC343",
        t.BLIND,
        (
            "mppreference",
            "realtimemon",
            "spctl",
            "csrutil",
            "setenforce",
            "ufw ",
            "iptables",
            "history",
            "histfile",
            "wevtutil",
            "quarantine",
            "xattr",
            "vssadmin",
            "auditctl",
        ),
    ),
    ("SC346", _line(r"(?<![.\w])(?:exec|eval)\s?\(\s?[A-Za-z_]"), ("exec", "eval")),
    (
        "SC390",
        _line(r"\b(?:urlopen|requests\.(?:get|post|put|request)|httpx\.\w{3,8}|urlretrieve|socket\.socket|smtplib\.SMTP)\s?\("),
        ("urlopen", "requests.", "httpx.", "urlretrieve", "socket.socket", "smtplib"),
    ),
    (
        "SC391",
        _line(r"\b(?:os\.system|os\.popen|subprocess\.\w{3,12}|commands\.getoutput)\s?\("),
        ("os.system", "popen", "subprocess.", "getoutput"),
    ),
    ("SC392", _line(r"\bos\.(?:environ\s?[\[.]|getenv\s?\()"), ("os.environ", "getenv")),
    ("SC395", _line(r"\bc?[pP]ickle\.loads?\s?\("), ("pickle.load",)),
    *(
        (rule, kind.pattern, kind.words)
        for rule, label in (("SC318", n.DROP_HOST), ("SC319", n.CHAT_HOST), ("SC341", n.METADATA))
        for kind in t.KINDS
        if kind.label == label
    ),
)
_TWO: tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...] = (
    ("SC301", _RUNS, _FETCHED),
    ("SC302", _RUNS, _DECODED),
    ("SC303", _SENDS, _CRED),
    ("SC304", _SENDS, _ENVIRON),
    ("SC305", _OPENS, _CRED),
    ("SC307", _line(r"\bos\.dup2\s?\("), _FILENO),
    ("SC309", _START, _WRITING),
    ("SC310", _AGENT, _WRITING),
    ("SC393", _line(r"\bopen\s?\("), _WRITING),
)
_WORDS = {
    _RUNS: ("exec", "eval", "os.system", "popen", "subprocess."),
    _DECODED: ("b64d", "b32d", "b85d", "a85d", "decompress", "fromhex", "unhex", "marshal", ".decode"),
    **{pattern: kind.words for pattern, kind in zip((_CRED, _START, _AGENT), (t.KINDS[0], t.KINDS[2], t.KINDS[3]), strict=True)},
}
"""The words without which a slow pattern need not be tried."""
_COMMENT = _line(r"^[ \t]{0,200}#[^\n]*")


def line_hits(code: str) -> list[Hit]:
    """Look at code that has no syntax tree, comments left out."""
    text = _COMMENT.sub(lambda match: " " * len(match[0]), code)
    low = text.lower()
    hits: list[Hit] = []
    for rule, pattern, words in _ONE:
        if t.has_word(low, words):
            hits += [Hit(rule, *match.span()) for _, match in zip(range(LINE_HITS), pattern.finditer(text), strict=False)]
    for rule, first, second in _TWO:
        if all(t.has_word(low, _WORDS[pattern]) for pattern in (first, second) if pattern in _WORDS):
            hits += [Hit(rule, *span) for _, span in zip(range(LINE_HITS), _pairs(text, first, second), strict=False)]
    return hits


def _pairs(text: str, first: re.Pattern[str], second: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Find the second thing after the first, on the same line and not far."""
    starts = [match.span() for match in first.finditer(text)]
    ends = [match.span() for match in second.finditer(text)] if starts else []
    index = 0
    for start, until in starts:
        while index < len(ends) and ends[index][0] < until:
            index += 1
        if index == len(ends):
            return
        begin, end = ends[index]
        if begin - until <= GAP and "\n" not in text[until:begin]:
            yield start, end
