"""The JSON that every door speaks, written out by hand where there is much of it. Pure."""

from __future__ import annotations

from metier.fast import TYPE_CHECKING, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from metier.model import Card, Diagnostic, Problem


def plain(value: Any) -> Any:
    """Turn named tuples, at any depth, into dicts."""
    if hasattr(value, "_asdict"):
        return {key: plain(item) for key, item in value._asdict().items()}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def listing_json(
    cards: Iterable[Card],
    everything: Iterable[Card],
    problems: Iterable[Problem],
    cut: Sequence[Problem],
) -> str:
    """Give the document of `list`: the cards asked for, and every fault that keeps others from
    being cards.
    """
    lost = [
        (card.path, card.diagnostics[0].code, card.diagnostics[0].message)
        for card in everything
        if card.state == "invalid" and card.diagnostics
    ]
    errors = _faults_json((*problems, *lost))
    return (
        f'{{"skills":{cards_json(cards)},"errors":[{errors}],"truncated":[{_faults_json(cut)}]}}\n'
    )


def _faults_json(faults: Iterable[tuple[str, str, str]]) -> str:
    """Give problems, each of path, code and message, as the inside of a JSON list."""
    return ",".join(
        f'{{"path":{quoted(path)},"code":{quoted(code)},"message":{quoted(message)}}}'
        for path, code, message in faults
    )


def diagnostic_json(note: Diagnostic) -> str:
    """Give one diagnostic as JSON."""
    return (
        f'{{"code":{quoted(note.code)},"severity":{quoted(note.severity)},"message":{quoted(note.message)},'
        f'"path":{quoted(note.path)},"line":{note.line},"column":{note.column},"hint":{quoted(note.hint)}}}'
    )


def cards_json(cards: Iterable[Card]) -> str:
    """Give cards as a JSON list, written out field by field: a library of 10,000 in a few
    milliseconds.
    """
    q = quoted
    rows = []
    for (
        name,
        description,
        scope,
        category,
        kind,
        path,
        digest,
        state,
        readiness,
        tokens,
        shadows,
        diagnostics,
        reasons,
        root,
        agent,
        plugin,
        held,
        verdict,
    ) in cards:
        rows.append(
            f'{{"name":{q(name)},"description":{q(description)},"scope":"{scope}","category":{q(category)},'
            f'"kind":"{kind}","path":{q(path)},"digest":{q(digest) if digest else "null"},"state":"{state}",'
            f'"readiness":"{readiness}","tokens":{tokens},"shadows":[{",".join(map(q, shadows)) if shadows else ""}],'
            f'"diagnostics":[{",".join(map(diagnostic_json, diagnostics)) if diagnostics else ""}],'
            f'"reasons":[{",".join(map(q, reasons)) if reasons else ""}],"root":{q(root)},"agent":{q(agent)},'
            f'"plugin":{q(plugin)},"held":"{held}","verdict":"{verdict or "unscanned"}"}}'
        )
    return "[" + ",\n".join(rows) + "]"
