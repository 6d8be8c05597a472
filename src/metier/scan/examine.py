"""Every file through every analyzer that understands it: what was seen, where, and how it was
presented.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from metier.scan import whole_skill
from metier.scan.languages import javascript, packages, powershell, prose, scripts
from metier.scan.languages.decode import LEFT_OUT as UNDECODED, Decoded, layers
from metier.scan.languages.file_text import (
    LEFT_OUT,
    MAX_ODD_BYTES,
    TEXT_KINDS,
    FileText,
    kind_of_piece,
    read_file_text,
    reading_of,
    stretches,
)
from metier.scan.languages.kinds import CODE_KINDS
from metier.scan.languages.markdown import block_at, context, is_taught
from metier.scan.languages.python import scan_python
from metier.scan.languages.sentences import exceeds
from metier.scan.languages.shell import scan_shell
from metier.scan.languages.text import look_alikes
from metier.scan.model import RuleHit, word_set
from metier.scan.rules import prose as prose_rules
from metier.scan.rules.keys import find_keys, parts_of
from metier.scan.rules.prose import DEAF_IN_CODE
from metier.scan.ruleset import RULES
from metier.scan.tongues import says_to_guard, says_to_run
from metier.scan.whole_skill import find_contradictions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from metier.ports import Analyzer
    from metier.scan.languages.file_text import CodeStretch
    from metier.scan.model import ScanTree

MAX_EVIDENCE_CHARS = 160
"""Characters of evidence that a finding shows."""
MAX_PURPOSE_CHARS = 800
"""Characters at the beginning of a SKILL.md that say what it is for."""
QUIET_PLACES = word_set("example quote")
"""Places that show rather than tell: what stands there weighs less."""

CODE_PLACES = word_set("script fence code code-span data")
DATA_KINDS = word_set("json csv xml css svg")
_GUARDS = re.compile(
    r"(?i)\b(?:detect(?:s|ion|ing)?|prevent(?:s|ion|ing)?|guard(?:s|ing)?|defen[cs]e|scann?(?:s|er|ing)?|audit(?:s|ing)?|protect(?:s|ion)?|block(?:s|ing)?|"
    r"red.?team\w*|review(?:s|ing)?|analy[sz]e[sr]?)\b[^\n.]{0,80}\b(?:injections?|malicious|attacks?|threats?|malware|jailbreaks?|exfiltration|"
    r"prompt.injection|vulnerabilit(?:y|ies)|suspicious)\b|\bprompt.injection (?:defen[cs]e|guard|protection|detection)"
)
"""How a skill says that it is there to find attacks."""
_ATTACK_STEMS = (
    "injection", "malicious", "attack", "threat", "malware", "jailbreak", "exfiltration",
    "vulnerabilit", "suspicious",
)  # fmt: skip
"""Without one of them there is nothing to find."""
_TELLING_BLOCKS = word_set("heading list table html prose quote")
UNMOODED = word_set("html-comment alt link-title script data")
"""Places that a reader does not see: what is quoted or forbidden there is still meant for the
agent."""
MOODED = frozenset(rule.id for rule in prose_rules.RULES if rule.severity in ("high", "critical"))
"""Rules for which the mood of a sentence counts: an order, or a word about orders."""
FEW_UNSEEN = 8
"""So many short runs of zero-width characters in one text are slips of an editor."""
KEYLESS_KINDS = word_set("image font media archive pdf")
"""Packed kinds, in whose bytes no key can be read."""
HIDING_KINDS = word_set("zero-width bidi tag variation")
"""Kinds of invisible characters that hide text; the others only disturb it."""
_PATTERN_SYNTAX = re.compile(
    r"\([^()\n]{1,80}\|[^()\n]{0,80}\)|\\[bsw][+*{]?|\[\^[^\]\n]{1,20}\]|\(\?[:i]"
)
"""What in code looks for words instead of saying them: choices, classes and edges of words."""
_SAYS_TO_RUN = re.compile(
    r"(?i)\b(?:run|runs|running|execut\w+|paste|type|enter|install\w*|invoke|launch)\b"
)
_LEADS_SOMEWHERE = re.compile(r"[/\\~]|\d\.\d|[a-z] [a-z]{2,} [a-z]")
MIN_FRAGMENT_CHARS = 60
"""A decoded text shorter than this that names no place and is no sentence is a fragment, such as
logs show."""
_LICENCE = re.compile(r"(?i)(?:^|/)(?:licen[cs]e|copying|notice)[^/]{0,20}$")

_ANALYZERS: dict[str, Callable[[str], list[RuleHit]]] = {
    "python": scan_python.find,
    "javascript": javascript.find,
    "typescript": javascript.find,
    "powershell": powershell.find,
    "settings": scripts.find_settings,
}
PATTERN_LANGUAGES = word_set(
    "ruby php perl lua batch applescript go rust java csharp c cpp kotlin swift dart scala"
)
MAX_INNER_COMMANDS = 2000
MAX_ENCODED_PER_RULE = 100
"""Encoded stretches of one text in which the same rule is told of."""
_DECODED_ANALYZERS = (prose.find, scan_shell.find, scan_python.find, javascript.find)
"""What is tried on decoded text, whose language nobody names."""


class Sighting(NamedTuple):
    """One hit with its place: offsets count characters of the file as it lies on disk."""

    rule: str
    path: str
    start: int
    end: int
    evidence: str
    place: str
    """prose, script, fence, code, code-span, encoded, quote, example, html-comment, frontmatter,
    alt, tree."""


class Examined(NamedTuple):
    """All that was seen of a tree."""

    seen: tuple[Sighting, ...]
    files: tuple[FileText, ...]
    kinds: dict[str, str]
    guards: bool = False
    """Whether the skill says that it is there to find attacks: then it must be allowed to quote
    them."""
    keys: frozenset[str] = frozenset()
    """Pieces of the keys that lie in it: no evidence may show one."""


def examine(tree: ScanTree, extra: Sequence[Analyzer] = ()) -> Examined:
    """Look at a whole tree. Never fails: what cannot be read is itself something seen."""
    tree = tree._replace(
        pieces=tuple(sorted(tree.pieces))
    )  # whoever lists a folder first: the same findings
    kinds = {piece.path: kind_of_piece(piece) for piece in tree.pieces if not piece.link}
    files = tuple(_file_texts(tree, kinds))
    seen = [_sight_in_tree(path, hit) for path, hit in whole_skill.find_in_folder(tree, kinds)]
    # what a SKILL.md says it is for: its frontmatter, or its beginning
    guards = any(
        file.path.lower() == "skill.md" and _says_to_guard(file.text.plain[:MAX_PURPOSE_CHARS])
        for file in files
    )
    keys: set[str] = set()
    for file in files:
        seen += _sight_in_file(file, keys, guards=guards)
        if exceeds(file.text.plain):
            seen.append(_unfinished(file, "more words than are weighed"))
        seen += (
            _placed(file, hit, "prose")
            for analyzer in extra
            for hit in analyzer.find(file.path, file.text.plain)
        )
    seen += [_sight_in_tree(path, hit) for path, hit in find_contradictions(files, seen)]
    seen += _sight_keys(tree, kinds, files, keys)
    return Examined(
        seen=tuple(dict.fromkeys(seen)),
        files=files,
        kinds=kinds,
        guards=guards,
        keys=frozenset(keys),
    )


def _says_to_guard(text: str) -> bool:
    low = text.lower()
    found = any(map(low.__contains__, _ATTACK_STEMS)) and _GUARDS.search(text) is not None
    return found or says_to_guard(text)


def _sight_keys(
    tree: ScanTree, kinds: dict[str, str], files: Sequence[FileText], keys: set[str]
) -> Iterator[Sighting]:
    """Look for keys in every file, data and programs too, and note their pieces. A key in an
    example is a key.
    """
    for file in files:
        plain = file.text.plain
        for hit in find_keys(plain):
            keys.update(parts_of(plain[hit.start : hit.end]))
            yield _placed(file, RuleHit(hit.rule, hit.start, hit.end, hit.shown), "data")
    texts = {file.path for file in files}
    room = MAX_ODD_BYTES
    for piece in tree.pieces:
        if piece.path in texts or kinds.get(piece.path, "") in KEYLESS_KINDS or room <= 0:
            continue
        data = piece.data[:room]
        room -= len(data)
        for hit in find_keys(data.decode("latin-1")):
            yield _sight_in_tree(piece.path, RuleHit(hit.rule, hit.start, hit.end, hit.shown))


def _file_texts(tree: ScanTree, kinds: dict[str, str]) -> Iterator[FileText]:
    """Read what is text by its content, and, as far as there is room, what is text by its name
    alone.
    """
    room = MAX_ODD_BYTES
    for piece in tree.pieces:
        kind = kinds.get(piece.path, "")
        if kind in TEXT_KINDS:
            yield read_file_text(piece, kind)
        elif kind and room > 0 and (reading := reading_of(piece)):
            # Such a file is reported by its name or its bytes in any case; reading all of it would
            # only cost.
            yield read_file_text(piece._replace(data=piece.data[:room]), reading)
            room -= len(piece.data)


def _sight_in_tree(path: str, hit: RuleHit) -> Sighting:
    return Sighting(hit.rule, path, hit.start, hit.end, hit.evidence[:MAX_EVIDENCE_CHARS], "tree")


def _unfinished(file: FileText, why: str) -> Sighting:
    """Say that not all of a file was looked at."""
    return Sighting("SC802", file.path, 0, 0, why, "tree")


def _presented(file: FileText, stretch: CodeStretch) -> str:
    """Say how code is presented: as something to run, or as an example. Inline code is a mention
    unless its line says to run it.
    """
    if stretch.place == "code-span":
        line = file.text.plain[max(0, stretch.start - 120) : stretch.start].rpartition("\n")[2]
        return (
            "code-span"
            if (_SAYS_TO_RUN.search(line) or says_to_run(line)) and "example" not in stretch.hints
            else "example"
        )
    return (
        "example" if "example" in stretch.hints and "told" not in stretch.hints else stretch.place
    )


def _sight_in_file(file: FileText, keys: set[str], *, guards: bool) -> Iterator[Sighting]:
    plain = file.text.plain
    find = prose.find_in_code if file.kind in CODE_KINDS | DATA_KINDS else prose.find
    for hit in find(plain):
        place = _place_in(file, hit.start)
        if place in CODE_PLACES and hit.rule in DEAF_IN_CODE:
            continue
        # A skill that guards against attacks lists them, in code and in tables; behaviour in its
        # code still counts in full.
        quoted = (guards or hit.rule == "SC161") and place in CODE_PLACES
        if place in CODE_PLACES:
            quoted = quoted or _PATTERN_SYNTAX.search(plain, hit.start, hit.end) is not None
        if place not in UNMOODED and hit.rule in MOODED:
            quoted = quoted or is_taught(plain, hit)
        yield _placed(file, hit, "example" if quoted or (guards and place == "table") else place)
    for stretch in stretches(file):
        if stretch.place == LEFT_OUT:
            yield _unfinished(file, "more commands than are looked at")
            continue
        place = _presented(file, stretch)
        for hit in _analyze_code(stretch.code.plain, stretch.lang):
            start, end = stretch.code.span(hit.start, hit.end)
            yield _placed(
                file, hit._replace(start=start + stretch.start, end=end + stretch.start), place
            )
    for hit in packages.find_manifest(file.path, plain):
        yield _placed(file, hit, "script")
    yield from _encoded(file, keys, guards=guards)
    yield from _unseen(file)


def _analyze_code(code: str, lang: str) -> list[RuleHit]:
    """Give a stretch of code to its language's analyzer, and the commands it starts to the
    shell's.
    """
    if lang == "shell":
        return scan_shell.find(code) + packages.find_installs(code)
    commands = []
    if lang in PATTERN_LANGUAGES:
        found = scripts.find(code, lang)
        commands = scripts.commands(code, lang) if found else []
    else:
        found = _ANALYZERS[lang](code) if lang in _ANALYZERS else []
        if found and lang in ("javascript", "typescript"):
            commands = javascript.commands(code)
    told: set[str] = set()
    for start, end, command in commands:
        if command in told:
            continue
        if len(told) >= MAX_INNER_COMMANDS:
            found.append(RuleHit("SC802", start, end, "more commands than are looked at"))
            break
        told.add(command)
        found += [
            RuleHit(hit.rule, start, end, hit.evidence or command)
            for hit in scan_shell.find(command)
        ]
    return found


def _encoded(file: FileText, keys: set[str], *, guards: bool) -> Iterator[Sighting]:
    """Look inside what is encoded: instructions or commands that someone took pains to hide."""
    read = {}
    told: Counter[tuple[str, str]] = Counter()
    for layer in layers(file.text.plain):
        if layer.kind == UNDECODED:
            yield _unfinished(file, "more is encoded than is decoded")
            continue
        for key in find_keys(layer.text):
            keys.update(parts_of(layer.text[key.start : key.end]))
            shown = RuleHit(key.rule, layer.start, layer.end, f"{layer.kind}: {key.shown}")
            yield _placed(file, shown, "data")
        if layer.text not in read:
            read[layer.text] = [
                hit for analyze in _DECODED_ANALYZERS for hit in analyze(layer.text)
            ]
        inner = read[layer.text]
        if any(hit.rule == "SC802" for hit in inner):
            yield _unfinished(file, "more is encoded than is looked at")
        if not _hides_something(layer, inner):
            continue
        said = f"{layer.kind}: {layer.text[:MAX_EVIDENCE_CHARS]}"
        place = _place_in(file, layer.start)
        if place not in QUIET_PLACES:
            shows = place == "data" or (guards and place != "script")
            place = "example" if shows else "encoded"
        for rule in dict.fromkeys(("SC163", *(hit.rule for hit in inner if hit.rule != "SC802"))):
            told[rule, place] += 1
            if told[rule, place] <= MAX_ENCODED_PER_RULE:
                yield _placed(file, RuleHit(rule, layer.start, layer.end, said), place)


def _hides_something(layer: Decoded, inner: list[RuleHit]) -> bool:
    """Tell whether what was found in decoded text is worth telling."""
    grave = {"critical", "high"} if layer.kind == "url" else {"critical", "high", "medium"}
    if grave.isdisjoint(RULES[hit.rule].severity for hit in inner):
        return False
    return len(layer.text) >= MIN_FRAGMENT_CHARS or bool(_LEADS_SOMEWHERE.search(layer.text))


def _unseen(file: FileText) -> Iterator[Sighting]:
    for run in file.hidden:
        shown = (run.text or f"{run.kind} characters")[:MAX_EVIDENCE_CHARS]
        slip = run.kind == "zero-width" and run.end - run.start < 4 and not run.text
        hides = run.kind in HIDING_KINDS and not (slip and len(file.hidden) <= FEW_UNSEEN)
        rule, place = ("SC162", "hidden") if hides else ("SC169", "prose")
        yield Sighting(rule, file.path, run.start, run.end, shown, place)
        for hit in prose.find(run.text):
            yield Sighting(hit.rule, file.path, run.start, run.end, shown, "hidden")
    for hit in look_alikes(file.original):
        shown = file.original[hit.start : hit.end]
        yield Sighting(hit.rule, file.path, hit.start, hit.end, shown, "hidden")


def _placed(file: FileText, hit: RuleHit, place: str) -> Sighting:
    start, end = file.text.span(hit.start, hit.end)
    evidence = hit.evidence or " ".join(
        file.text.plain[hit.start : hit.end][: 2 * MAX_EVIDENCE_CHARS].split()
    )
    return Sighting(hit.rule, file.path, start, end, evidence[:MAX_EVIDENCE_CHARS], place)


def _place_in(file: FileText, at: int) -> str:
    """Say in what kind of stretch a place lies."""
    if file.kind in CODE_KINDS:
        return "script"
    if file.kind in DATA_KINDS:
        return "data"
    if _LICENCE.search(file.path):
        # a licence is nobody's instruction; what is hidden there still counts, for less
        return "quote"
    if not file.segments:
        return "prose"
    block = block_at(file.segments, at)
    if block is None:
        return "prose"
    if block.place not in _TELLING_BLOCKS:
        return block.place
    if "example" in context(file.text.plain, block):
        return "example"
    return "table" if block.place == "table" else "prose"
