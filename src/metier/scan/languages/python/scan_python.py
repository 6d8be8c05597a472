"""Scans Python code: with a syntax tree and a small taint walk, or line by line where there is no
tree.

Code that does not parse is Python 2, a fragment, or something cut short. There each pattern is
short and goes over the text once; what needs two things on a line looks for each by itself.
"""

from __future__ import annotations

import ast
import re
import warnings
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from metier.scan.languages.python import fold, names
from metier.scan.languages.python.calls import READERS
from metier.scan.languages.python.effects import FILES, SINKS, finish
from metier.scan.languages.python.syntax import EXPRESSIONS, STATEMENTS
from metier.scan.languages.python.taint import TaintWalk
from metier.scan.languages.shell import scan_shell
from metier.scan.languages.shell.remote import only_installs
from metier.scan.languages.text import line_starts
from metier.scan.model import RuleHit, limit_hits

if TYPE_CHECKING:
    from collections.abc import Iterator


MAX_GAP_CHARS = 300
"""How far apart the two things may stand."""
MAX_LINE_HITS = 10


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


_CRED = _compile(names.CRED_PATTERN)
_START = _compile(names.START_PATTERN)
_AGENT = _compile(names.AGENT_PATTERN)
_RUNS = _compile(
    r"(?<![.\w])(?:exec|eval)\s?\(|\bexec\s|\b(?:os\.system|os\.popen|subprocess\.\w{2,12})\s?\("
)
_FETCHED = _compile(r"\b(?:urlopen|requests\.get|httpx\.get)\s?\(|\.recv\s?\(")
_DECODED = _compile(
    r"\b(?:b64decode|b32decode|b85decode|a85decode|decompress|fromhex|unhexlify|marshal\.loads)\s?\("
    r"|\.decode\s?\(\s?['\"](?:base64|hex|zlib|rot_?13)"
)
_SENDS = _compile(r"\.(?:post|put|sendall|sendto)\s?\(|\burlopen\s?\(")
_OPENS = _compile(r"\b(?:open|Path|copy|copyfile|connect)\s?\(")
_ENVIRON = _compile(r"\bos\.environ\b(?!\s?[\[.])|\bos\.environ\.(?:copy|items)\b")
_WRITING = _compile(r"['\"][wa]b?\+?['\"]")
_FILENO = _compile(r"\.fileno\b")

_ONE = (
    ("SC307", _compile(r"\bpty\.spawn\s?\(\s?['\"\[]{1,2}/bin/"), ("pty.spawn",)),
    (
        "SC311",
        _compile(
            r"\brmtree\s?\(\s?(?:['\"](?:/|~|/home)['\"]|(?:os\.path\.)?expanduser\s?\(\s?['\"]~/?['\"]|Path\.home\s?\(\s?\)\s?\))"
        ),
        ("rmtree",),
    ),
    (
        "SC312",
        _compile(
            r"\b__import__\s?\(\s?['\"](?:os|subprocess|socket|ctypes|pty|builtins)['\"]\s?\)\s?\.\s?\w"
        ),
        ("__import__",),
    ),
    (
        "SC317",
        _compile(r"\bverify\s?=\s?False\b|_create_unverified_context|\bCERT_NONE\b"),
        ("verify", "_create_unverified_context", "cert_none"),
    ),
    ("SC321", _compile(r"\bmarshal\.loads?\s?\("), ("marshal.load",)),
    ("SC328", names.MINING, names.MINING_WORDS),
    (
        "SC338",
        names.SHELL,
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
    ("SC338", names.PIPED, ("curl", "wget", "fetch")),
    ("SC338", names.NETCAT, ("nc ", "ncat ")),
    (
        "SC343",
        names.BLIND,
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
    ("SC346", _compile(r"(?<![.\w])(?:exec|eval)\s?\(\s?[A-Za-z_]"), ("exec", "eval")),
    (
        "SC390",
        _compile(
            r"\b(?:urlopen|requests\.(?:get|post|put|request)|httpx\.\w{3,8}|urlretrieve|socket\.socket|smtplib\.SMTP)\s?\("
        ),
        ("urlopen", "requests.", "httpx.", "urlretrieve", "socket.socket", "smtplib"),
    ),
    (
        "SC391",
        _compile(r"\b(?:os\.system|os\.popen|subprocess\.\w{3,12}|commands\.getoutput)\s?\("),
        ("os.system", "popen", "subprocess.", "getoutput"),
    ),
    ("SC392", _compile(r"\bos\.(?:environ\s?[\[.]|getenv\s?\()"), ("os.environ", "getenv")),
    ("SC395", _compile(r"\bc?[pP]ickle\.loads?\s?\("), ("pickle.load",)),
    *(
        (rule, kind.pattern, kind.words)
        for rule, label in (
            ("SC318", names.DROP_HOST),
            ("SC319", names.CHAT_HOST),
            ("SC341", names.METADATA),
        )
        for kind in names.KINDS
        if kind.label == label
    ),
)
_TWO = (
    ("SC301", _RUNS, _FETCHED),
    ("SC302", _RUNS, _DECODED),
    ("SC303", _SENDS, _CRED),
    ("SC304", _SENDS, _ENVIRON),
    ("SC305", _OPENS, _CRED),
    ("SC307", _compile(r"\bos\.dup2\s?\("), _FILENO),
    ("SC309", _START, _WRITING),
    ("SC310", _AGENT, _WRITING),
    ("SC393", _compile(r"\bopen\s?\("), _WRITING),
)
_WORDS = {
    _RUNS: ("exec", "eval", "os.system", "popen", "subprocess."),
    _DECODED: (
        "b64d",
        "b32d",
        "b85d",
        "a85d",
        "decompress",
        "fromhex",
        "unhex",
        "marshal",
        ".decode",
    ),
    **{
        pattern: kind.words
        for pattern, kind in zip(
            (_CRED, _START, _AGENT), (names.KINDS[0], names.KINDS[2], names.KINDS[3]), strict=True
        )
    },
}
"""The words without which a slow pattern need not be tried."""
_COMMENT = _compile(r"^[ \t]{0,200}#[^\n]*")


def line_hits(code: str) -> list[RuleHit]:
    """Look at code that has no syntax tree, comments left out."""
    text = _COMMENT.sub(_blank, code)
    low = text.lower()
    hits = []
    for rule, pattern, words in _ONE:
        if names.has_word(low, words):
            hits += [
                RuleHit(rule, *match.span())
                for match in islice(pattern.finditer(text), MAX_LINE_HITS)
                if not (pattern is names.PIPED and only_installs(match[0]))
            ]
    for rule, first, second in _TWO:
        if all(
            names.has_word(low, _WORDS[pattern]) for pattern in (first, second) if pattern in _WORDS
        ):
            hits += [
                RuleHit(rule, *span) for span in islice(_pairs(text, first, second), MAX_LINE_HITS)
            ]
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
        if begin - until <= MAX_GAP_CHARS and "\n" not in text[until:begin]:
            yield start, end


CALLS = {**READERS, **FILES, **SINKS}

MAX_PARSE_CHARS = 1024 * 1024
"""Longer code is looked at line by line."""
MAX_NESTING = 100
"""Brackets nested deeper than this are not parsed."""
MAX_LAYERS = 3
"""How many layers of code within decoded text are opened."""
MAX_NESTED_TEXTS = 200
"""Texts run as code that are opened in turn."""
LARGE_CHARS = 100_000
MAX_PASSES = 6
"""How often functions are read again, at most, because of what others were seen to give them."""

_NO_BRACKETS = bytes(code for code in range(256) if code not in b"()[]{}")
_AS_DEPTH = bytes.maketrans(b"()[]{}", b"\1\0\1\0\1\0")
_MAGIC = re.compile(r"^[ \t]{0,40}[!%][^\n]{0,2000}$", re.MULTILINE)
_GOES_ON = re.compile(r"[ \t)\]}#@]|(?:else|elif|except|finally)\b|$")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_TROUBLE = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)


def find(code: str) -> list[RuleHit]:
    """Give every hit in a piece of Python code, in the order of their places."""
    # Code under scrutiny may hold invalid escapes and the like: their warnings are no business of
    # the user's.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hits = _find(code, 0)
    return limit_hits(hits, lambda hit: (hit.start, hit.end, hit.rule), once=False)


def _find(code: str, layer: int) -> list[RuleHit]:
    # The same number of characters, so that places stay true; both are refused by the parser.
    text = _SURROGATES.sub("?", code).replace("\0", " ")
    if text.startswith("\ufeff"):
        text = "#" + text[1:] if text[1:2] in {"\n", "\r", "#", ""} else text[1:]
    shift = len(code) - len(text)
    hits, whole = _tree_hits(text, layer)
    if not whole:
        known = {(hit.rule, _line_start(text, hit.start)) for hit in hits}
        hits += [
            hit for hit in line_hits(text) if (hit.rule, _line_start(text, hit.start)) not in known
        ]
    return (
        [hit._replace(start=hit.start + shift, end=hit.end + shift) for hit in hits]
        if shift
        else hits
    )


def _line_start(text: str, start: int) -> int:
    return text.rfind("\n", 0, start)


def _tree_hits(text: str, layer: int) -> tuple[list[RuleHit], bool]:
    """Walk the code's tree. The second part tells whether all of the code was seen."""
    tree, whole, head = _parse(text)
    hits = [] if whole else [RuleHit("SC394", 0, min(len(text), 80))]
    if tree is None:
        return hits, False
    walk = TaintWalk(STATEMENTS, EXPRESSIONS, CALLS, text)
    try:
        walk.run(tree, MAX_PASSES if len(text) < LARGE_CHARS else 2)
        finish(walk)
    except RecursionError:
        whole = False
    places = NodePlaces(text, head)
    for (rule, _, _), (node, evidence) in walk.hits.items():
        hits.append(RuleHit(rule, *places.span(node), evidence.replace(fold.HOLE, "…")))
    if layer < MAX_LAYERS:
        hits += _inner_hits(walk, places, layer)
    elif walk.nested:
        hits.append(RuleHit("SC802", 0, 0, "code within code, deeper than is looked at"))
    return hits, whole and not walk.too_deep


def _inner_hits(walk: TaintWalk, places: NodePlaces, layer: int) -> list[RuleHit]:
    """Open the code and the commands that the code holds as text; what is in them is shown at the
    place that runs them.
    """
    hits = {}
    for count, (inner, node) in enumerate(dict.fromkeys(walk.nested)):
        start, end = places.span(node)
        if count >= MAX_NESTED_TEXTS or len(inner) > fold.MAX_FOLDED_CHARS:
            hits["SC802", 0] = RuleHit(
                "SC802", start, end, "more code within code than is looked at"
            )
        if count >= MAX_NESTED_TEXTS:
            break
        for hit in _find(inner[: fold.MAX_FOLDED_CHARS], layer + 1):
            if hit.rule != "SC394":
                shown = hit.evidence or inner[hit.start : hit.end][:160]
                hits.setdefault((hit.rule, start), RuleHit(hit.rule, start, end, shown))
    for command, node in dict.fromkeys(walk.commands):
        start, end = places.span(node)
        for hit in scan_shell.find(command.replace(fold.HOLE, "_")):
            shown = (hit.evidence or command[hit.start : hit.end][:160]).replace(fold.HOLE, "…")
            hits.setdefault((hit.rule, start), RuleHit(hit.rule, start, end, shown))
    return list(hits.values())


# --- parsing


def _parse(text: str) -> tuple[ast.Module | None, bool, int]:
    """Parse code, or what of it can be parsed. The last part counts the lines that were put before
    it.
    """
    if len(text) > MAX_PARSE_CHARS or _too_nested(text):
        return None, False, 0
    tree = _tree(text)
    if tree is not None:
        return tree, True, 0
    if text.lstrip("\r\n")[:1] in {" ", "\t"} and (tree := _tree("if 1:\n" + text)):
        return tree, True, 1
    if ("!" in text or "%" in text) and (tree := _tree(_MAGIC.sub(_blank, text))):
        return tree, True, 0
    return _tree(_without_broken(text)), False, 0


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except _TROUBLE:
        return None


def _too_nested(text: str) -> bool:
    depth = 0
    for bracket in text.encode("utf-8").translate(_AS_DEPTH, _NO_BRACKETS):
        depth += 1 if bracket else -1
        if depth > MAX_NESTING:
            return True
        depth = max(depth, 0)
    return False


def _without_broken(text: str) -> str:
    """Blank out the top-level statements that do not parse, each tried once, and keep the rest in
    place.
    """
    parts: list[list[str]] = []
    for line in text.splitlines(keepends=True):
        if parts and _GOES_ON.match(line):
            parts[-1].append(line)
        else:
            parts.append([line])
    kept = []
    for part in parts:
        chunk = "".join(part)
        kept.append(chunk if _tree(chunk) is not None else re.sub(r"[^\r\n]", " ", chunk))
    return "".join(kept)


class NodePlaces:
    """Turns a tree's lines and byte columns into places in the text."""

    def __init__(self, text: str, head: int) -> None:
        """Remember the text; `head` lines stand before it only for the parser."""
        self.text = text
        self.head = head

    @cached_property
    def starts(self) -> list[int]:
        """Give where the lines begin; asked for when something was found."""
        return line_starts(self.text)

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Give a node's place, its first line only when it has several."""
        line = getattr(node, "lineno", 1)
        start = self._at(line, getattr(node, "col_offset", 0))
        end = self._at(
            getattr(node, "end_lineno", line) or line, getattr(node, "end_col_offset", 0) or 0
        )
        return start, max(start, end)

    def _at(self, line: int, column: int) -> int:
        index = min(max(line - 1 - self.head, 0), len(self.starts) - 1)
        start = self.starts[index]
        if not column:
            return start
        piece = self.text[start : start + column]
        if not piece.isascii():
            piece = piece.encode("utf-8")[:column].decode("utf-8", "ignore")
        return min(start + len(piece), len(self.text))
