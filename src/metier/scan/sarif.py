"""Findings as a SARIF 2.1.0 log, which code hosts and editors read. Pure.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from metier.model import Finding, Harm
    from metier.scan.rule import Rule

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
BASE = "SRCROOT"
LEVELS: Mapping[Harm, str] = {"critical": "error", "high": "error", "medium": "warning", "low": "note", "info": "note"}
SECURITY: Mapping[Harm, str] = {"critical": "9.5", "high": "8.0", "medium": "5.5", "low": "3.0", "info": "0.0"}
"""What code hosts sort by: the middle of each CVSS band."""

_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")


class Subject(NamedTuple):
    """One skill: where it lies, what was found, and what was found but does not count, with the reason."""

    path: str
    single: bool
    """Whether `path` is the file itself."""
    name: str
    level: str
    score: int
    findings: Sequence[Finding]
    waived: Sequence[tuple[Finding, str]] = ()


def log(subjects: Sequence[Subject], rules: Mapping[str, Rule], *, root: str, version: str, ruleset: str) -> dict[str, Any]:
    """Give the log of one run; places are given below `root`."""
    used = sorted({one.rule for subject in subjects for one in (*subject.findings, *(pair[0] for pair in subject.waived))})
    index = {rule: at for at, rule in enumerate(used)}
    results = [result for subject in subjects for result in _results(subject, index, root)]
    run = {
        "tool": {"driver": {
            "name": "metier", "semanticVersion": version, "version": version,
            "rules": [_descriptor(rule, rules.get(rule)) for rule in used],
            "properties": {"ruleset": ruleset},
        }},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {BASE: {"uri": f"file://{uri(root.rstrip('/'))}/"}},
        "invocations": [{"executionSuccessful": True}],
        "results": results,
        "properties": {"skills": [
            {"path": _shown(subject.path), "name": _shown(subject.name), "level": subject.level, "score": subject.score}
            for subject in subjects
        ]},
    }  # fmt: skip
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _descriptor(code: str, rule: Rule | None) -> dict[str, Any]:
    if rule is None:
        return {"id": code}
    return {
        "id": code,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "help": {"text": f"{rule.why} {rule.hint}"},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
        "properties": {
            "category": rule.category,
            "security-severity": SECURITY[rule.severity],
            "tags": ["security", rule.category],
        },
    }


def _results(subject: Subject, index: Mapping[str, int], root: str) -> Iterable[dict[str, Any]]:
    for finding in subject.findings:
        yield _result(subject, finding, index, root)
    for finding, reason in subject.waived:
        held = {"kind": "external", "status": "accepted", "justification": _shown(reason)}
        yield {**_result(subject, finding, index, root), "suppressions": [held]}


def _result(subject: Subject, finding: Finding, index: Mapping[str, int], root: str) -> dict[str, Any]:
    place = subject.path if subject.single or finding.path in {"", "."} else f"{subject.path}/{finding.path}"
    physical: dict[str, Any] = {"artifactLocation": artifact(place, root)}
    if finding.line > 0:
        physical["region"] = {"startLine": finding.line, **({"startColumn": finding.column} if finding.column > 0 else {})}
    evidence = f" ({_shown(finding.evidence)})" if finding.evidence else ""
    return {
        "ruleId": finding.rule,
        "ruleIndex": index[finding.rule],
        "level": LEVELS[finding.severity],
        "message": {"text": f"{_shown(finding.why)}{evidence} {finding.hint}".strip()},
        "locations": [{"physicalLocation": physical}],
        "partialFingerprints": {"metier/v1": finding.fingerprint},
        "properties": {"severity": finding.severity, "category": finding.category, "skill": _shown(subject.name)},
    }


def artifact(path: str, root: str) -> dict[str, str]:
    """Give a place as SARIF does: below the root when it lies there, otherwise by itself."""
    start = root.rstrip("/") + "/"
    if path.startswith(start):
        return {"uri": uri(path[len(start) :]), "uriBaseId": BASE}
    return {"uri": f"file://{uri(path)}"}


def uri(path: str) -> str:
    """Percent-encode a path, whatever bytes its names hold."""
    data = path.encode("utf-8", "surrogateescape" if _escaped(path) else "surrogatepass")
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in data)


def _escaped(text: str) -> bool:
    return all(not "\ud800" <= char <= "\udfff" or "\udc80" <= char <= "\udcff" for char in text)


def _shown(text: str) -> str:
    """Give a text that any reader of JSON takes: a lone surrogate is no character."""
    return text.encode("utf-8", "backslashreplace").decode()
