"""What a report says of a scan: the reason in one line, findings counted instead of repeated, what
a skill can do, and all of it as SARIF 2.1.0, which code hosts and editors read. Pure.

Every door quotes the same reason: `reason_of` is the one place that words it.
https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.errors import ConfigError
from metier.scan.model import GRAVE_SEVERITIES, NOT_BEHAVIOUR, QUOTED_NOTE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from metier.model import Finding, Harm, JsonObject, Level, Texts
    from metier.scan.model import ScanRule

# --- the reason

WEIGHTY_FINDINGS = frozenset({*GRAVE_SEVERITIES, "medium"})
"""What is worth a finding of its own; what is slighter is one line."""
LEARNED = "SC8"
"""What was learnt rather than read: the last thing to give as a reason."""
MAX_DETAIL_CHARS = 48
MAX_PLACE_CHARS = 60
MAX_SLIGHT_NAMED = 3
_SUBJECT = re.compile(r"(?:The|This) (?:script|skill|package|page) (?=(?:[a-z]+s|went) )")
_HOST = re.compile(
    r"(?:\bhttps?://(?:[\w.%+-]{1,64}(?::[^\s/@]{0,64})?@)?|/dev/(?:tcp|udp)/|\b[\w-]{1,32}@)"
    r"(\[[0-9a-fA-F:.]{2,45}\]|[a-zA-Z0-9][a-zA-Z0-9.-]{2,80})"
)
_PATH = re.compile(
    r"(?:~|\$HOME|\$\{HOME\}|/home/[\w.-]{1,32}|/Users/[\w.-]{1,32}|/root|(?<![\w./])/etc)"
    r"((?:/[\w.@+-]{1,64}){1,8})",
    re.ASCII,
)
_HOME = re.compile(r"/home/[^/]+|/Users/[^/]+|/root|\$HOME|\$\{HOME\}")


def reason_of(level: Level, findings: Sequence[Finding]) -> str:
    """Say in one line why a skill has its level, with the place; nothing where nothing was found
    that could be named. The findings are in the order of a verdict, the gravest first.
    """
    if level == "safe":
        return _reassure(findings)
    told = sorted(filter(is_weighty, findings), key=_last_choice)
    grave = [one for one in told if is_grave(one)]
    if grave:
        return _sentence(_most_telling(grave))
    if told:
        others = len({one.rule for one in told}) - 1
        return _sentence(told[0]) + (f", and {others} more" if others else "")
    return _name_slight(findings)


def say_verdict(level: Level, findings: Sequence[Finding]) -> str:
    """Give what every door says of a skill that is not safe: the level, and the reason."""
    reason = reason_of(level, findings)
    return f"the scan says {level}: {reason}" if reason else f"the scan says {level}"


def is_grave(finding: Finding) -> bool:
    """Tell whether a finding alone makes a skill dangerous."""
    return finding.severity in GRAVE_SEVERITIES and not finding.rule.startswith(NOT_BEHAVIOUR)


def is_quoted(finding: Finding) -> bool:
    """Tell whether what was found stands in an example or a quotation."""
    return finding.why.endswith(QUOTED_NOTE)


def title_of(finding: Finding) -> str:
    """Give what was found, as its rule says it."""
    return finding.why.removesuffix(QUOTED_NOTE).partition(". ")[0]


def explanation_of(finding: Finding) -> str:
    """Give why it matters: what a finding says beside its title."""
    return finding.why.partition(". ")[2]


def phrase_of(finding: Finding) -> str:
    """Give what was found as it reads after a colon: "runs what it has downloaded"."""
    title = _SUBJECT.sub("", title_of(finding), count=1)
    return title[:1].lower() + title[1:]


def place_of(finding: Finding) -> str:
    """Give where it was found, within the skill; nothing where that is the whole of it."""
    if finding.path in {"", "."}:
        return ""
    path = "".join(char if char.isprintable() else "?" for char in finding.path)
    if len(path) > MAX_PLACE_CHARS:
        path = "…" + path[1 - MAX_PLACE_CHARS :]
    return f"{path}:{finding.line}" if finding.line else path


def is_weighty(one: Finding) -> bool:
    """Tell whether a finding is worth being told by itself."""
    return one.severity in WEIGHTY_FINDINGS


def _last_choice(one: Finding) -> tuple[bool, bool]:
    return one.rule.startswith(LEARNED), is_quoted(one)


def _most_telling(grave: Sequence[Finding]) -> Finding:
    """Of the gravest findings, give the one that says where something goes, or what is taken."""
    worst = [one for one in grave if one.severity == grave[0].severity]
    return max(worst, key=lambda one: len(list(filter(None, _details(one)))))


def _details(one: Finding) -> tuple[str, str]:
    """Give the user's file and the other machine that the evidence names."""
    path = _PATH.search(one.evidence)
    host = _HOST.search(one.evidence)
    own = _HOME.sub("~", path[0].rstrip("."), count=1) if path else ""
    other = host[1].rstrip(".-").lower() if host else ""
    return _cut(own), _cut(other if "." in other or ":" in other else "")


def _cut(text: str) -> str:
    return text if len(text) <= MAX_DETAIL_CHARS else text[: MAX_DETAIL_CHARS - 1] + "…"


def _sentence(one: Finding) -> str:
    path, host = _details(one)
    text = phrase_of(one)
    if one.category == "exfiltration" and path and host:
        text = f"reads {path} and sends it to {host}"
        path = host = ""
    where = "; ".join(filter(None, (path, host, place_of(one))))
    quoted = ", shown as an example" if is_quoted(one) else ""
    return f"{text}{quoted} ({where})" if where else f"{text}{quoted}"


def _name_slight(findings: Iterable[Finding]) -> str:
    found = list(dict.fromkeys(phrase_of(one) for one in findings if one.severity == "low"))
    if not found:
        return ""
    if len(found) == 1:
        return found[0]
    more = len(found) - MAX_SLIGHT_NAMED
    named = ", ".join(found[:MAX_SLIGHT_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"several minor findings ({named})"


def _reassure(findings: Iterable[Finding]) -> str:
    weighty = len({one.rule for one in findings if is_weighty(one)})
    if not weighty:
        return "nothing harmful found"
    return f"nothing harmful found, {weighty} thing{'' if weighty == 1 else 's'} worth a look"


def reassure_all_the_same(accepted: int, findings: Iterable[Finding]) -> str:
    """Say of a skill that is safe since somebody accepted what was found: how much that was."""
    weighty = len({one.rule for one in findings if is_weighty(one)})
    more = f", and {weighty} thing{'' if weighty == 1 else 's'} worth a look" if weighty else ""
    return f"with {accepted} finding{'' if accepted == 1 else 's'} that you accepted{more}"


# --- findings, counted


class CountedFinding(NamedTuple):
    """One thing that was found, and everywhere it was found: the first place stands for all."""

    finding: Finding
    places: tuple[Finding, ...]


def times(count: int) -> str:
    """Say how many times something was found, after its name; nothing when it was once."""
    return f" (\u00d7{count})" if count > 1 else ""


def count_findings(findings: Iterable[Finding]) -> list[CountedFinding]:
    """Put together what is the same rule in the same file, or the same rule on the same evidence."""
    groups: list[list[Finding]] = []
    by_file: dict[tuple[str, ...], list[Finding]] = {}
    by_evidence: dict[tuple[str, ...], list[Finding]] = {}
    for one in findings:
        here = (one.rule, one.severity, one.path)
        same = (one.rule, one.severity, one.evidence)
        group = by_file.get(here) or (by_evidence.get(same) if one.evidence else None)
        if group is None:
            group = []
            groups.append(group)
        group.append(one)
        by_file.setdefault(here, group)
        by_evidence.setdefault(same, group)
    return [CountedFinding(group[0], tuple(group)) for group in groups]


def leading_findings(findings: Sequence[Finding], most: int) -> tuple[Finding, ...]:
    """Give the gravest things that were found, each once; what says only what a skill can do is
    left out where there is anything else.
    """
    told = [one for one in findings if not is_mere_ability(one)]
    return tuple(one.finding for one in count_findings(told or findings)[:most])


def counted_fields(one: CountedFinding) -> JsonObject:
    """Give a counted finding as JSON has it: the first place's fields, how many, and all places."""
    fields = ("path", "line", "column", "evidence", "fingerprint")
    places = [{name: getattr(place, name) for name in fields} for place in one.places]
    return {**one.finding._asdict(), "count": len(one.places), "places": places}


# --- what a skill can do

CATEGORY_ABILITIES = {
    "credential": ("read credentials", "reads credentials"),
    "destructive": ("delete or overwrite", "deletes or overwrites"),
    "escalation": ("change its own permissions", "changes its own permissions"),
    "execution": ("run commands", "runs commands"),
    "exfiltration": ("send data out", "sends data out"),
    "mining": ("mine", "mines"),
    "network": ("use the network", "uses the network"),
    "persistence": ("stay beyond its task", "stays beyond its task"),
    "privilege": ("ask for more rights", "asks for more rights"),
    "supply": ("fetch code", "fetches code"),
}
"""The categories of findings that say what a skill does: what it can do, and what it does."""
RULE_ABILITIES = {
    "SC205": "use the network",
    "SC222": "read environment files",
    "SC226": "read environment variables",
    "SC290": "use the network",
    "SC291": "install packages",
    "SC292": "run commands as root",
    "SC293": "run commands",
    "SC306": "read files of secrets",
    "SC390": "use the network",
    "SC391": "run commands",
    "SC392": "read environment variables",
    "SC393": "write files",
    "SC396": "delete files",
    "SC400": "run commands",
    "SC407": "use the network",
    "SC408": "use the network",
    "SC410": "read environment variables",
    "SC412": "read environment files",
    "SC434": "write files",
    "SC452": "use the network",
    "SC467": "run commands",
    "SC468": "read environment variables",
    "SC470": "run commands",
    "SC474": "use the network",
    "SC485": "read environment variables",
    "SC505": "install packages",
    "SC506": "install packages",
    "SC507": "install packages",
}
"""What rules that are slight say about a skill; another of the slightest severity speaks by its
category."""


def ability_of(finding: Finding) -> str:
    """Give what a finding says that the skill can do; nothing when it says something else."""
    if finding.severity not in {"low", "info"} or is_quoted(finding):
        return ""
    if finding.rule in RULE_ABILITIES:
        return RULE_ABILITIES[finding.rule]
    wide = finding.severity == "info" and CATEGORY_ABILITIES.get(finding.category)
    return wide[0] if wide else ""


def abilities_of(findings: Iterable[Finding]) -> Texts:
    """Give what a skill can do as far as its content shows it, in plain words."""
    return tuple(sorted({word for one in findings if (word := ability_of(one))}))


def is_mere_ability(finding: Finding) -> bool:
    """Tell whether a finding says only what a skill can do, be it by an example."""
    return finding.severity == "info" and (
        finding.rule in RULE_ABILITIES or bool(ability_of(finding))
    )


# --- SARIF

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
BASE_ID = "SRCROOT"
HOME_PAGE = "https://pypi.org/project/metier/"
"""Where a reader of a log learns what metier is."""
MAIN_FILE = "SKILL.md"
SARIF_LEVELS: Mapping[Harm, str] = {
    "critical": "error",
    "high": "error",
    "medium": "warning",
    "low": "note",
    "info": "note",
}
SECURITY_SEVERITY: Mapping[Harm, str] = {
    "critical": "9.5",
    "high": "8.0",
    "medium": "5.5",
    "low": "3.0",
    "info": "0.0",
}
"""What code hosts sort by: the middle of each CVSS band."""

_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")


class SarifSubject(NamedTuple):
    """One skill: where it lies, what was found, and what was found but does not count, with the
    reason.
    """

    path: str
    single: bool
    """Whether `path` is the file itself."""
    name: str
    level: str
    score: int
    findings: Sequence[Finding]
    waived: Sequence[tuple[Finding, str]] = ()


def sarif_log(
    subjects: Sequence[SarifSubject],
    rules: Mapping[str, ScanRule],
    *,
    root: str,
    version: str,
    ruleset: str,
) -> JsonObject:
    """Give the log of one run; places are given below `root`."""
    used = sorted(
        {
            one.rule
            for subject in subjects
            for one in (*subject.findings, *(pair[0] for pair in subject.waived))
        }
    )
    index = {rule: at for at, rule in enumerate(used)}
    results = [result for subject in subjects for result in _results(subject, index, root)]
    run = {
        "tool": {
            "driver": {
                "name": "metier",
                "informationUri": HOME_PAGE,
                "semanticVersion": version,
                "version": version,
                "rules": [_descriptor(rule, rules.get(rule)) for rule in used],
                "properties": {"ruleset": ruleset},
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {BASE_ID: {"uri": f"file://{uri(root.rstrip('/'))}/"}},
        "invocations": [{"executionSuccessful": True}],
        "results": results,
        "properties": {
            "skills": [
                {
                    "path": _shown(subject.path),
                    "name": _shown(subject.name),
                    "level": subject.level,
                    "score": subject.score,
                }
                for subject in subjects
            ]
        },
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _descriptor(code: str, rule: ScanRule | None) -> JsonObject:
    named = {"id": code, "helpUri": f"{HOME_PAGE}#{uri(code.lower())}"}
    if rule is None:  # nobody here describes it
        told = {"text": f"A finding of {_shown(code)}."}
        return {**named, "shortDescription": told, "fullDescription": told, "help": told}
    return {
        **named,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "help": {"text": f"{rule.why} {rule.hint}"},
        "defaultConfiguration": {"level": SARIF_LEVELS[rule.severity]},
        "properties": {
            "category": rule.category,
            "security-severity": SECURITY_SEVERITY[rule.severity],
            "tags": ["security", rule.category],
        },
    }


def _results(subject: SarifSubject, index: Mapping[str, int], root: str) -> Iterable[JsonObject]:
    for finding in subject.findings:
        yield _result(subject, finding, index, root)
    for finding, reason in subject.waived:
        held = {"kind": "external", "status": "accepted", "justification": _shown(reason)}
        yield {**_result(subject, finding, index, root), "suppressions": [held]}


def _result(
    subject: SarifSubject, finding: Finding, index: Mapping[str, int], root: str
) -> JsonObject:
    inside = MAIN_FILE if finding.path in {"", "."} else finding.path
    place = subject.path if subject.single else f"{subject.path}/{inside}"
    # Code hosts show no result without a line: what is about a whole file, or about the skill, is
    # shown at the beginning.
    region = {"startLine": max(finding.line, 1)}
    if finding.line > 0 and finding.column > 0:
        region["startColumn"] = finding.column
    physical = {"artifactLocation": artifact(place, root), "region": region}
    evidence = f" ({_shown(finding.evidence)})" if finding.evidence else ""
    return {
        "ruleId": finding.rule,
        "ruleIndex": index[finding.rule],
        "level": SARIF_LEVELS[finding.severity],
        "message": {"text": f"{_shown(finding.why)}{evidence} {finding.hint}".strip()},
        "locations": [{"physicalLocation": physical}],
        "partialFingerprints": {"metier/v1": finding.fingerprint},
        "properties": {
            "severity": finding.severity,
            "category": finding.category,
            "skill": _shown(subject.name),
        },
    }


def artifact(path: str, root: str) -> dict[str, str]:
    """Give a place as SARIF does: below the root when it lies there, otherwise by itself."""
    start = root.rstrip("/") + "/"
    if path.startswith(start):
        return {"uri": uri(path[len(start) :]), "uriBaseId": BASE_ID}
    return {"uri": f"file://{uri(path)}"}


def uri(path: str) -> str:
    """Percent-encode a path, whatever bytes its names hold."""
    try:
        data = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        data = path.encode("utf-8", "surrogatepass")
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in data)


def _shown(text: str) -> str:
    """Give a text that any reader of JSON takes: a lone surrogate is no character."""
    return text.encode("utf-8", "backslashreplace").decode()


# --- a baseline: findings that somebody has looked at and accepts, by fingerprint
#
# A finding is accepted for the skill it was found in: another skill that says the same is reported
# like any other. The document of `metier scan --json` is a baseline too.

BASELINE_VERSION = 1


class Baseline(NamedTuple):
    """Which findings are accepted: the skill's name and the fingerprint."""

    accepted: frozenset[tuple[str, str]] = frozenset()

    def accepts(self, name: str, fingerprint: str) -> bool:
        """Tell whether this finding of the skill of this name is accepted."""
        return (name, fingerprint) in self.accepted


def baseline_text(found: Iterable[tuple[str, Finding]]) -> str:
    """Write findings down as a baseline, each after its skill's name; in an order that makes
    changes easy to read.
    """
    import json  # only where a baseline is written or read: a report needs none

    rows = sorted({(name, one.path, one.rule, one.fingerprint) for name, one in found})
    fields = ("skill", "path", "rule", "fingerprint")
    document = {
        "version": BASELINE_VERSION,
        "findings": [dict(zip(fields, row, strict=True)) for row in rows],
    }
    return json.dumps(document, indent=1) + "\n"


def read_baseline(text: str, path: str) -> Baseline:
    """Read a baseline; what is not one is refused, because findings would be hidden or shown by
    mistake.
    """
    import json

    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not valid JSON: {error}", hint=_BASELINE_HINT) from error
    if not isinstance(document, dict):
        raise ConfigError(f"{path} is not a baseline", hint=_BASELINE_HINT)
    if "version" not in document and isinstance(document.get("skills"), list):
        return Baseline(frozenset(_pair(one, path) for one in _reported(document["skills"], path)))
    if document.get("version") != BASELINE_VERSION:
        said = (
            f"is of version {document['version']!r}"
            if "version" in document
            else "does not say its version"
        )
        raise ConfigError(
            f"the baseline {path} {said}; this metier knows version {BASELINE_VERSION}",
            hint=_BASELINE_HINT,
        )
    rows = document.get("findings")
    if not isinstance(rows, list):
        raise ConfigError(f"the baseline {path} has no list of findings", hint=_BASELINE_HINT)
    return Baseline(frozenset(_pair(row, path) for row in rows))


_BASELINE_HINT = "make one with: metier scan PATH --write-baseline FILE"


def _reported(skills: list[Any], path: str) -> Iterable[JsonObject]:
    for skill in skills:
        if not isinstance(skill, dict) or not isinstance(skill.get("findings"), list):
            raise ConfigError(f"{path} is not the answer of a scan", hint=_BASELINE_HINT)
        for finding in skill["findings"]:
            places = finding.get("places") if isinstance(finding, dict) else None
            for place in places if isinstance(places, list) else [finding]:
                yield {
                    "skill": skill.get("name"),
                    "fingerprint": place.get("fingerprint") if isinstance(place, dict) else None,
                }


def _pair(row: Any, path: str) -> tuple[str, str]:
    pair = (row.get("skill"), row.get("fingerprint")) if isinstance(row, dict) else (None, None)
    if not isinstance(pair[0], str) or not isinstance(pair[1], str) or not pair[1]:
        raise ConfigError(
            f"a finding in the baseline {path} has no skill or no fingerprint", hint=_BASELINE_HINT
        )
    return pair[0], pair[1]
