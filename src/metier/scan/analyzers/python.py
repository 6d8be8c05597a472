"""Look at Python code: a syntax tree and a small taint walk, or line by line where there is no tree."""

from __future__ import annotations

import ast
import re
import warnings

from metier.scan import pyfold
from metier.scan.analyzers import shell
from metier.scan.pycalls import READERS
from metier.scan.pyexpressions import EXPRESSIONS
from metier.scan.pyfiles import FILES
from metier.scan.pylines import line_hits
from metier.scan.pysinks import SINKS, finish
from metier.scan.pystatements import STATEMENTS
from metier.scan.pytaint import Walk
from metier.scan.rule import Hit

CALLS = {**READERS, **FILES, **SINKS}

PARSE_CHARS = 1024 * 1024
"""Longer code is looked at line by line."""
NESTING = 100
"""Brackets nested deeper than this are not parsed."""
LAYERS = 3
"""How many layers of code within decoded text are opened."""
MOST_OF_ONE = 20
"""Hits of one rule that are told of; no rule crowds out another."""
MOST_NESTED = 200
"""Texts run as code that are opened in turn."""
LARGE = 100_000
PASSES = 6
"""How often functions are read again, at most, because of what others were seen to give them."""

_BRACKETS = re.compile(r"[()\[\]{}]")
_LINE_END = re.compile(r"\r\n|\r|\n")
_MAGIC = re.compile(r"^[ \t]{0,40}[!%][^\n]{0,2000}$", re.MULTILINE)
_GOES_ON = re.compile(r"[ \t)\]}#@]|(?:else|elif|except|finally)\b|$")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_TROUBLE = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)


def find(code: str) -> list[Hit]:
    """Give every hit in a piece of Python code, in the order of their places."""
    # Code under scrutiny may hold invalid escapes and the like: their warnings are no business of the user's.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hits = _find(code, 0)
    counts: dict[str, int] = {}
    kept: list[Hit] = []
    for hit in sorted(hits, key=lambda hit: (hit.start, hit.end, hit.rule)):
        counts[hit.rule] = counts.get(hit.rule, 0) + 1
        if counts[hit.rule] <= MOST_OF_ONE:
            kept.append(hit)
    return kept


def _find(code: str, layer: int) -> list[Hit]:
    # The same number of characters, so that places stay true; both are refused by the parser.
    text = _SURROGATES.sub("?", code).replace("\0", " ")
    if text.startswith("\ufeff"):
        text = "#" + text[1:] if text[1:2] in {"\n", "\r", "#", ""} else text[1:]
    shift = len(code) - len(text)
    hits, whole = _tree_hits(text, layer)
    if not whole:
        known = {(hit.rule, _line(text, hit.start)) for hit in hits}
        hits += [hit for hit in line_hits(text) if (hit.rule, _line(text, hit.start)) not in known]
    return [hit._replace(start=hit.start + shift, end=hit.end + shift) for hit in hits] if shift else hits


def _line(text: str, start: int) -> int:
    return text.rfind("\n", 0, start)


def _tree_hits(text: str, layer: int) -> tuple[list[Hit], bool]:
    """Walk the code's tree. The second part tells whether all of the code was seen."""
    tree, whole, head = _parse(text)
    hits = [] if whole else [Hit("SC394", 0, min(len(text), 80))]
    if tree is None:
        return hits, False
    walk = Walk(STATEMENTS, EXPRESSIONS, CALLS, text)
    try:
        walk.run(tree, PASSES if len(text) < LARGE else 2)
        finish(walk)
    except RecursionError:
        whole = False
    places = Places(text, head)
    for (rule, _, _), (node, evidence) in walk.hits.items():
        hits.append(Hit(rule, *places.span(node), evidence.replace(pyfold.HOLE, "…")))
    if layer < LAYERS:
        hits += _inner_hits(walk, places, layer)
    elif walk.nested:
        hits.append(Hit("SC802", 0, 0, "code within code, deeper than is looked at"))
    return hits, whole and not walk.too_deep


def _inner_hits(walk: Walk, places: Places, layer: int) -> list[Hit]:
    """Open the code and the commands that the code holds as text; what is in them is shown at the place that runs them."""
    hits: dict[tuple[str, int], Hit] = {}
    for count, (inner, node) in enumerate(dict.fromkeys(walk.nested)):
        start, end = places.span(node)
        if count >= MOST_NESTED or len(inner) > pyfold.MOST:
            hits["SC802", 0] = Hit("SC802", start, end, "more code within code than is looked at")
        if count >= MOST_NESTED:
            break
        for hit in _find(inner[: pyfold.MOST], layer + 1):
            if hit.rule != "SC394":
                shown = hit.evidence or inner[hit.start : min(hit.end, hit.start + 160)]
                hits.setdefault((hit.rule, start), Hit(hit.rule, start, end, shown))
    for command, node in dict.fromkeys(walk.commands):
        start, end = places.span(node)
        for hit in shell.find(command.replace(pyfold.HOLE, "_")):
            shown = hit.evidence or command[hit.start : min(hit.end, hit.start + 160)]
            hits.setdefault((hit.rule, start), Hit(hit.rule, start, end, shown.replace(pyfold.HOLE, "…")))
    return list(hits.values())


# --- parsing


def _parse(text: str) -> tuple[ast.Module | None, bool, int]:
    """Parse code, or what of it can be parsed. The last part counts the lines that were put before it."""
    if len(text) > PARSE_CHARS or _too_nested(text):
        return None, False, 0
    tree = _tree(text)
    if tree is not None:
        return tree, True, 0
    if text.lstrip("\r\n")[:1] in {" ", "\t"}:
        tree = _tree("if 1:\n" + text)
        if tree is not None:
            return tree, True, 1
    tree = _tree(_MAGIC.sub(lambda m: " " * len(m[0]), text)) if "!" in text or "%" in text else None
    if tree is not None:
        return tree, True, 0
    return _tree(_without_broken(text)), False, 0


def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except _TROUBLE:
        return None


def _too_nested(text: str) -> bool:
    depth = 0
    for match in _BRACKETS.finditer(text):
        depth += 1 if match[0] in "([{" else -1
        if depth > NESTING:
            return True
        depth = max(depth, 0)
    return False


def _without_broken(text: str) -> str:
    """Blank out the top-level statements that do not parse, each tried once, and keep the rest in place."""
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


class Places:
    """Turns a tree's lines and byte columns into places in the text."""

    def __init__(self, text: str, head: int) -> None:
        """Find where the lines begin; `head` lines stand before the text only for the parser."""
        self.text = text
        self.head = head
        self.starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Give a node's place, its first line only when it has several."""
        line = getattr(node, "lineno", 1)
        start = self._at(line, getattr(node, "col_offset", 0))
        end = self._at(getattr(node, "end_lineno", line) or line, getattr(node, "end_col_offset", 0) or 0)
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
