"""Every file through every analyzer that understands it: what was seen, where, and how it was presented."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.analyzers import javascript, powershell, prose, python, ruby, scripts, shell, structure, supply
from metier.scan.claims import contradictions
from metier.scan.concepts import Sentence, sentences
from metier.scan.decode import LEFT_OUT as UNDECODED, layers
from metier.scan.markdown import block_at, context
from metier.scan.passages import exceeds
from metier.scan.rule import Hit
from metier.scan.rules.prose import DEAF_IN_CODE
from metier.scan.ruleset import RULES
from metier.scan.sheet import LEFT_OUT, ODD, SCRIPTS, TEXTS, Sheet, kind_of_piece, reading_of, sheet_of, stretches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from metier.ports import Analyzer
    from metier.scan.sheet import Stretch
    from metier.scan.tree import Tree

SHOWN = 160
"""Characters of evidence that a finding shows."""
QUIET = frozenset(("example", "quote"))
"""Places that show rather than tell: what stands there weighs less."""

CODE = frozenset(("script", "fence", "code", "code-span", "data"))
DATA = frozenset(("json", "csv", "xml", "css", "svg"))
_GUARDS = re.compile(
    r"(?i)\b(?:detect(?:s|ion|ing)?|prevent(?:s|ion|ing)?|guard(?:s|ing)?|defen[cs]e|scann?(?:s|er|ing)?|audit(?:s|ing)?|protect(?:s|ion)?|block(?:s|ing)?|"
    r"red.?team\w*|review(?:s|ing)?|analy[sz]e[sr]?)\b[^\n.]{0,80}\b(?:injections?|malicious|attacks?|threats?|malware|jailbreaks?|exfiltration|"
    r"prompt.injection|vulnerabilit(?:y|ies)|suspicious)\b|\bprompt.injection (?:defen[cs]e|guard|protection|detection)"
)
"""How a skill says that it is there to find attacks."""
UNSEEN = frozenset(("zero-width", "bidi", "tag", "variation"))
"""Kinds of invisible characters that hide text; the others only disturb it."""
_TOLD = re.compile(r"(?i)\b(?:run|runs|running|execut\w+|paste|type|enter|install\w*|invoke|launch)\b")
_LICENCE = re.compile(r"(?i)(?:^|/)(?:licen[cs]e|copying|notice)[^/]{0,20}$")

_CODE: dict[str, Callable[[str], list[Hit]]] = {
    "shell": shell.find, "python": python.find, "javascript": javascript.find, "typescript": javascript.find,
    "powershell": powershell.find, "ruby": ruby.find,
}  # fmt: skip
_COMMANDS = {"javascript": javascript.commands, "typescript": javascript.commands, "ruby": ruby.commands}
OTHERS = frozenset(("php", "perl", "lua", "batch", "applescript", "go", "rust", "java", "csharp", "c", "cpp", "kotlin", "swift",
                    "dart", "scala"))  # fmt: skip
MOST_COMMANDS = 2000
MOST_ENCODED = 100
"""Encoded stretches of one text in which the same rule is told of."""
_INNER = (prose.find, shell.find, python.find, javascript.find)
"""What is tried on decoded text, whose language nobody names."""


class Seen(NamedTuple):
    """One hit with its place: offsets count characters of the file as it lies on disk."""

    rule: str
    path: str
    start: int
    end: int
    evidence: str
    place: str
    """prose, script, fence, code, code-span, encoded, quote, example, html-comment, frontmatter, alt, tree."""


class Examined(NamedTuple):
    """All that was seen of a tree."""

    seen: tuple[Seen, ...]
    sheets: tuple[Sheet, ...]
    sentences: tuple[tuple[Sentence, ...], ...]
    """For each sheet, the concepts of its sentences."""
    kinds: dict[str, str]
    guards: bool = False
    """Whether the skill says that it is there to find attacks: then it must be allowed to quote them."""


def examine(tree: Tree, extra: Sequence[Analyzer] = ()) -> Examined:
    """Look at a whole tree. Never fails: what cannot be read is itself something seen."""
    tree = tree._replace(pieces=tuple(sorted(tree.pieces)))  # whoever lists a folder first: the same findings
    kinds = {piece.path: kind_of_piece(piece) for piece in tree.pieces if not piece.link}
    sheets = tuple(_sheets(tree, kinds))
    cut = tuple(tuple(sentences(sheet.text.plain)) for sheet in sheets)
    seen = [_of_tree(path, hit) for path, hit in structure.find(tree, kinds)]
    guards = any(_GUARDS.search(_described(sheet)) for sheet in sheets)
    for sheet, concepts in zip(sheets, cut, strict=True):
        seen += _of_sheet(sheet, list(concepts), guards=guards)
        if exceeds(sheet.text.plain):
            seen.append(Seen("SC802", sheet.path, 0, 0, "more words than are weighed", "tree"))
        seen += (_placed(sheet, hit, "prose") for analyzer in extra for hit in analyzer.find(sheet.path, sheet.text.plain))
    seen += [_of_tree(path, hit) for path, hit in contradictions(sheets, seen)]
    return Examined(tuple(dict.fromkeys(seen)), sheets, cut, kinds, guards)


def _sheets(tree: Tree, kinds: dict[str, str]) -> Iterator[Sheet]:
    """Read what is text by its content, and, as far as there is room, what is text by its name alone."""
    room = ODD
    for piece in tree.pieces:
        kind = kinds.get(piece.path, "")
        if kind in TEXTS:
            yield sheet_of(piece, kind)
        elif kind and room > 0 and (reading := reading_of(piece)):
            # Such a file is reported by its name or its bytes in any case; reading all of it would only cost.
            yield sheet_of(piece._replace(data=piece.data[:room]), reading)
            room -= len(piece.data)


def _of_tree(path: str, hit: Hit) -> Seen:
    return Seen(hit.rule, path, hit.start, hit.end, hit.evidence[:SHOWN], "tree")


def _presented(sheet: Sheet, stretch: Stretch) -> str:
    """Say how code is presented: as something to run, or as an example. Inline code is a mention unless its line says to run it."""
    if stretch.place == "code-span":
        line = sheet.text.plain[max(0, stretch.start - 120) : stretch.start].rpartition("\n")[2]
        return "code-span" if _TOLD.search(line) and "example" not in stretch.hints else "example"
    return "example" if "example" in stretch.hints and "told" not in stretch.hints else stretch.place


def _described(sheet: Sheet) -> str:
    """Give what a SKILL.md says it is for: its frontmatter, or its beginning."""
    return sheet.text.plain[:800] if sheet.path.lower() == "skill.md" else ""


def _of_sheet(sheet: Sheet, concepts: list[Sentence], *, guards: bool) -> Iterator[Seen]:
    plain = sheet.text.plain
    for hit in prose.found_in(plain, concepts):
        place = _place_in(sheet, hit.start)
        if place in CODE and hit.rule in DEAF_IN_CODE:
            continue
        # A skill that guards against attacks lists them, in code and in tables; behaviour in its code still counts in full.
        quoted = (guards or hit.rule == "SC161") and place in CODE
        yield _placed(sheet, hit, "example" if quoted or (guards and place == "table") else place)
    for stretch in stretches(sheet):
        if stretch.place == LEFT_OUT:
            yield Seen("SC802", sheet.path, 0, 0, "more commands than are looked at", "tree")
            continue
        place = _presented(sheet, stretch)
        for hit in _of_code(stretch.code.plain, stretch.lang):
            start, end = stretch.code.span(hit.start, hit.end)
            yield _placed(sheet, hit._replace(start=start + stretch.start, end=end + stretch.start), place)
    for hit in supply.find_manifest(sheet.path, plain):
        yield _placed(sheet, hit, "script")
    yield from _encoded(sheet, guards=guards)
    yield from _unseen(sheet)


def _of_code(code: str, lang: str) -> list[Hit]:
    """Give a stretch of code to its language's analyzer, and the commands it starts to the shell's."""
    analyze = _CODE.get(lang)
    if lang == "shell":
        return shell.find(code) + supply.find(code)
    if analyze is None:
        found = scripts.find(code, lang) if lang in OTHERS else []
        commands = scripts.commands(code, lang) if found else []
    else:
        found = analyze(code)
        commands = _COMMANDS[lang](code) if found and lang in _COMMANDS else []
    told: set[str] = set()
    for start, end, command in commands:
        if command in told:
            continue
        if len(told) >= MOST_COMMANDS:
            found.append(Hit("SC802", start, end, "more commands than are looked at"))
            break
        told.add(command)
        found += [Hit(hit.rule, start, end, hit.evidence or command) for hit in shell.find(command)]
    return found


def _encoded(sheet: Sheet, *, guards: bool) -> Iterator[Seen]:
    """Look inside what is encoded: instructions or commands that someone took pains to hide."""
    read: dict[str, list[Hit]] = {}
    told: dict[tuple[str, str], int] = {}
    for layer in layers(sheet.text.plain):
        if layer.kind == UNDECODED:
            yield Seen("SC802", sheet.path, 0, 0, "more is encoded than is decoded", "tree")
            continue
        if layer.text not in read:
            read[layer.text] = [hit for analyze in _INNER for hit in analyze(layer.text)]
        inner = read[layer.text]
        if any(hit.rule == "SC802" for hit in inner):
            yield Seen("SC802", sheet.path, 0, 0, "more is encoded than is looked at", "tree")
        grave = {RULES[hit.rule].severity for hit in inner}
        if not grave & ({"critical", "high"} if layer.kind == "url" else {"critical", "high", "medium"}):
            continue
        shown = f"{layer.kind}: {layer.text[:SHOWN]}"
        around = _place_in(sheet, layer.start)
        place = around if around in QUIET else "example" if guards and around != "script" else "encoded"
        for rule in dict.fromkeys(("SC163", *(hit.rule for hit in inner if hit.rule != "SC802"))):
            told[rule, place] = told.get((rule, place), 0) + 1
            if told[rule, place] > MOST_ENCODED:
                continue
            yield _placed(sheet, Hit(rule, layer.start, layer.end, shown), place)


def _unseen(sheet: Sheet) -> Iterator[Seen]:
    for run in sheet.hidden:
        shown = run.text or f"{run.kind} characters"
        rule = "SC162" if run.kind in UNSEEN else "SC169"
        yield Seen(rule, sheet.path, run.start, run.end, shown[:SHOWN], "hidden" if rule == "SC162" else "prose")
        if run.text:
            for hit in prose.find(run.text):
                yield Seen(hit.rule, sheet.path, run.start, run.end, run.text[:SHOWN], "hidden")
    for hit in prose.look_alikes(sheet.original):
        yield Seen(hit.rule, sheet.path, hit.start, hit.end, sheet.original[hit.start : hit.end], "hidden")


def _placed(sheet: Sheet, hit: Hit, place: str) -> Seen:
    start, end = sheet.text.span(hit.start, hit.end)
    evidence = hit.evidence or " ".join(sheet.text.plain[hit.start : hit.end][: 2 * SHOWN].split())
    return Seen(hit.rule, sheet.path, start, end, evidence[:SHOWN], place)


def _place_in(sheet: Sheet, at: int) -> str:
    """Say in what kind of stretch a place lies."""
    if sheet.kind in SCRIPTS:
        return "script"
    if sheet.kind in DATA:
        return "data"
    if _LICENCE.search(sheet.path):
        return "quote"  # a licence is nobody's instruction; what is hidden there still counts, for less
    if not sheet.segments:
        return "prose"
    block = block_at(sheet.segments, at)
    if block is None or block.place in {"heading", "list", "table", "html"}:
        if block is not None and "example" in context(sheet.text.plain, block):
            return "example"
        return "table" if block is not None and block.place == "table" else "prose"
    if block.place == "prose":
        return "example" if "example" in context(sheet.text.plain, block) else "prose"
    return block.place
