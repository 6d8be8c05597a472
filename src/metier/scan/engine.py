"""Stage 2 on one page: a skill's bytes in, a verdict out. A function of the tree and the ruleset,
and of nothing else.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING

from metier.model import Finding, Verdict
from metier.scan.cache import HARMS
from metier.scan.examine import MAX_EVIDENCE_CHARS, QUIET_PLACES, Sighting, examine
from metier.scan.languages.text import LineIndex
from metier.scan.model import QUOTED_NOTE
from metier.scan.passages import read_passages
from metier.scan.rules.keys import RULES_OF_KEYS, mask_keys
from metier.scan.ruleset import RULES, ruleset_digest
from metier.scan.weigh import weigh

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from metier.model import Digest, Harm, Texts
    from metier.ports import Analyzer, PassageReader
    from metier.scan.examine import Examined
    from metier.scan.model import ScanEntry, ScanRule, ScanTree
    from metier.scan.weigh import ReadPassage

MAX_FINDINGS = 200
SEVERITY_ORDER = {severity: number for number, severity in enumerate(HARMS)}
_SOFTENED: dict[Harm, Harm] = {
    "critical": "medium",
    "high": "low",
    "medium": "info",
    "low": "info",
    "info": "info",
}


def scan(
    tree: ScanTree,
    digest: Digest | None = None,
    *,
    without: frozenset[str] = frozenset(),
    extra: Sequence[Analyzer] = (),
    reader: PassageReader | None = None,
) -> Verdict:
    """Judge a skill; with `without`, as if the findings of these fingerprints were not there; with
    `reader`, by a model that reads its prose as well.
    """
    examined = examine(tree, extra)
    table = {**RULES, **{rule.id: rule for analyzer in extra for rule in analyzer.rules}}
    pieces = {piece.path: piece for piece in tree.pieces}
    found = dict(zip(examined.seen, _findings(examined, examined.seen, table, pieces), strict=True))
    if without:
        found = {
            sighting: finding
            for sighting, finding in found.items()
            if finding.fingerprint not in without
        }
        examined = examined._replace(seen=tuple(found))
    read = read_passages(examined.files, reader) if reader else []
    weighed = weigh(examined, table, read)
    passages: list[Finding] = []
    while weighed.passage is not None:
        minded = [_sight_passage(examined, weighed.passage)]
        passages = list(_findings(examined, minded, table, pieces))
        if passages[0].fingerprint not in without:
            break
        # whoever accepts a passage accepts no other
        passages = []
        read = [one for one in read if one != weighed.passage]
        weighed = weigh(examined, table, read)
    findings = [
        _borne_out(finding) if weighed.confirmed and sighting in weighed.confirmed else finding
        for sighting, finding in found.items()
    ] + passages
    findings.sort(
        key=lambda one: (SEVERITY_ORDER[one.severity], one.path, one.line, one.column, one.rule)
    )
    return Verdict(
        digest, ruleset_digest(), weighed.level, weighed.score, tuple(findings[:MAX_FINDINGS])
    )


def _borne_out(finding: Finding) -> Finding:
    """Give a slight finding as what it is beside a reading that is sure."""
    why = f"{finding.why} (The model agrees.)"
    return finding._replace(severity="high", why=why)


def _sight_passage(examined: Examined, passage: ReadPassage) -> Sighting:
    text = next(file.original for file in examined.files if file.path == passage.path)
    evidence = " ".join(text[passage.start : passage.end].split())
    return Sighting("SC801", passage.path, passage.start, passage.end, evidence, "prose")


def _findings(
    examined: Examined,
    seen: Iterable[Sighting],
    table: Mapping[str, ScanRule],
    pieces: Mapping[str, ScanEntry],
) -> Iterator[Finding]:
    """Put what was seen into words."""
    originals = {file.path: file.original for file in examined.files}
    lines = {path: LineIndex(original) for path, original in originals.items()}
    counts: Counter[Texts] = Counter()
    for one in seen:
        rule = table[one.rule]
        placed = one.path in lines and one.place != "tree"
        line, column = lines[one.path].place(one.start) if placed else (0, 0)
        content = _exact_content(one, originals, pieces)
        key = (one.rule, one.path, one.evidence, content)
        counts[key] += 1
        severity = rule.severity
        why = f"{rule.title}. {rule.why}"
        if one.place in QUIET_PLACES:
            severity = _SOFTENED[severity]
            why += QUOTED_NOTE
        yield Finding(
            rule=one.rule,
            severity=severity,
            category=rule.category,
            path=one.path,
            line=line,
            column=column,
            evidence=mask_keys(one.evidence, examined.keys),
            why=why,
            hint=rule.hint,
            fingerprint=fingerprint(one.rule, one.path, one.evidence, counts[key], content),
        )


def _exact_content(
    one: Sighting, originals: Mapping[str, str], pieces: Mapping[str, ScanEntry]
) -> str:
    """Give what was found where the evidence does not say all of it: whoever accepts a finding
    accepts no other bytes.
    """
    if one.place == "tree" or one.path not in originals or one.start == one.end:
        return _whole_content(pieces[one.path]) if one.path in pieces else ""
    if one.rule in RULES_OF_KEYS:
        return originals[one.path][one.start : one.end]  # its evidence is masked
    if one.evidence and len(one.evidence) < MAX_EVIDENCE_CHARS >= one.end - one.start:
        return ""
    return originals[one.path][one.start : one.end]


def _whole_content(piece: ScanEntry) -> str:
    return (piece.sha256 or hashlib.sha256(piece.data).digest()).hex() + piece.link


def fingerprint(rule: str, path: str, evidence: str, number: int, content: str = "") -> str:
    """Name a finding by what was found and in which file, not by its line: an edit elsewhere leaves
    it as it is.

    `content` is what was found where the evidence is only a part of it, or a word about the whole
    file.
    """
    whole = f"{rule}\n{path}\n{evidence}\n{number}" + (f"\n{content}" if content else "")
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:24]
