"""Stage 2 on one page: a skill's bytes in, a verdict out. A function of the tree and the ruleset, and of nothing else."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from metier.model import Finding, Verdict
from metier.scan.examine import QUIET, SHOWN, Seen, examine
from metier.scan.ruleset import RULES, ruleset_digest
from metier.scan.sheet import lines_of
from metier.scan.weigh import weigh

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from metier.model import Digest, Harm
    from metier.ports import Analyzer
    from metier.scan.examine import Examined
    from metier.scan.rule import Rule
    from metier.scan.tree import Tree

MOST_FINDINGS = 200
ORDER = {"critical": 0, "high": 1, "medium": 2, "low": 3, "info": 4}
_SOFTER: dict[Harm, Harm] = {"critical": "medium", "high": "low", "medium": "info", "low": "info", "info": "info"}


def scan(
    tree: Tree, digest: Digest | None = None, *, without: frozenset[str] = frozenset(), extra: Sequence[Analyzer] = ()
) -> Verdict:
    """Judge a skill; with `without`, as if the findings of these fingerprints were not there."""
    examined = examine(tree, extra)
    table = {**RULES, **{rule.id: rule for analyzer in extra for rule in analyzer.rules}}
    contents = _contents(tree)
    findings = _findings(examined, list(examined.seen), table, contents)
    if without:
        kept = [(one, finding) for one, finding in findings if finding.fingerprint not in without]
        examined = examined._replace(seen=tuple(one for one, _finding in kept))
        findings = kept
    weighed = weigh(examined, table)
    if weighed.passage is not None:
        passage = _findings(examined, [_passage(examined, weighed.passage)], table, contents)
        if passage[0][1].fingerprint in without:
            weighed = weigh(examined._replace(sheets=(), sentences=()), table)
        else:
            findings += passage
    told = sorted((finding for _one, finding in findings), key=_gravest_first)
    return Verdict(digest, ruleset_digest(), weighed.level, weighed.score, tuple(told[:MOST_FINDINGS]))


def _passage(examined: Examined, passage: tuple[str, int, int]) -> Seen:
    path, start, end = passage
    sheet = next(sheet for sheet in examined.sheets if sheet.path == path)
    evidence = " ".join(sheet.text.plain[start:end].split())
    return Seen("SC801", path, *sheet.text.span(start, end), evidence, "prose")


def _contents(tree: Tree) -> dict[str, str]:
    """Name what each entry of a tree holds."""
    return {piece.path: (piece.sha256 or hashlib.sha256(piece.data).digest()).hex() + piece.link for piece in tree.pieces}


def _findings(
    examined: Examined, seen: list[Seen], table: Mapping[str, Rule], contents: Mapping[str, str]
) -> list[tuple[Seen, Finding]]:  # fmt: skip
    """Put what was seen into words."""
    originals = {sheet.path: sheet.original for sheet in examined.sheets}
    lines = {sheet.path: lines_of(sheet) for sheet in examined.sheets}
    counts: dict[tuple[str, str, str, str], int] = {}
    found: list[tuple[Seen, Finding]] = []
    for one in seen:
        rule = table[one.rule]
        line, column = lines[one.path].place(one.start) if one.path in lines and one.place != "tree" else (0, 0)
        key = (one.rule, one.path, one.evidence, _whole(one, originals, contents))
        counts[key] = counts.get(key, 0) + 1
        severity = _SOFTER[rule.severity] if one.place in QUIET else rule.severity
        why = f"{rule.title}. {rule.why}" + (" (Shown as an example or a quotation.)" if one.place in QUIET else "")
        found.append((one, Finding(one.rule, severity, rule.category, one.path, line, column, one.evidence, why, rule.hint,
                                   fingerprint(*key[:3], counts[key], key[3]))))  # fmt: skip
    return found


def _whole(one: Seen, originals: Mapping[str, str], contents: Mapping[str, str]) -> str:
    """Give what was found where the evidence does not say all of it: whoever accepts a finding accepts no other bytes."""
    if one.place == "tree" or one.path not in originals or one.start == one.end:
        return contents.get(one.path, "")
    if len(one.evidence) >= SHOWN or one.end - one.start > SHOWN or not one.evidence:
        return originals[one.path][one.start : one.end]
    return ""


def _gravest_first(finding: Finding) -> tuple[int, str, int, int, str]:
    return ORDER[finding.severity], finding.path, finding.line, finding.column, finding.rule


def fingerprint(rule: str, path: str, evidence: str, number: int, content: str = "") -> str:
    """Name a finding by what was found and in which file, not by its line: an edit elsewhere leaves it as it is.

    `content` is what was found where the evidence is only a part of it, or a word about the whole file.
    """
    whole = f"{rule}\n{path}\n{evidence}\n{number}" + (f"\n{content}" if content else "")
    whole_bytes = whole.encode("utf-8", "surrogatepass")
    return hashlib.sha256(whole_bytes).hexdigest()[:24]
