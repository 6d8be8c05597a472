"""The JSON that every door speaks, written out by hand where there is much of it. Pure."""

from __future__ import annotations

from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from metier.model import Card, Diagnostic, Problem

try:
    from _json import encode_basestring_ascii as quoted  # the C half of json, without the rest of it
except ImportError:  # another Python than CPython
    from json.encoder import encode_basestring_ascii as quoted

def plain(value: Any) -> Any:
    """Turn named tuples, at any depth, into dicts."""
    if hasattr(value, "_asdict"):
        return {key: plain(item) for key, item in value._asdict().items()}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def listing_json(cards: Iterable[Card], everything: Iterable[Card], problems: Iterable[Problem], cut: Sequence[Problem]) -> str:
    """Give the document of `list`: the cards asked for, and every fault that keeps others from being cards."""
    faults = [(problem.path, problem.code, problem.message) for problem in problems]
    faults += [(card.path, *card.diagnostics[0][:3:2]) for card in everything if card.state == "invalid" and card.diagnostics]
    errors = ",".join(f'{{"path":{quoted(path)},"code":{quoted(code)},"message":{quoted(text)}}}' for path, code, text in faults)
    truncated = ",".join(f'{{"path":{quoted(p.path)},"code":{quoted(p.code)},"message":{quoted(p.message)}}}' for p in cut)
    return f'{{"skills":{cards_json(cards)},"errors":[{errors}],"truncated":[{truncated}]}}\n'


def diagnostic_json(note: Diagnostic) -> str:
    """Give one diagnostic as JSON."""
    return (f'{{"code":{quoted(note.code)},"severity":{quoted(note.severity)},"message":{quoted(note.message)},'
            f'"path":{quoted(note.path)},"line":{note.line},"column":{note.column},"hint":{quoted(note.hint)}}}')  # fmt: skip


def cards_json(cards: Iterable[Card]) -> str:
    """Give cards as a JSON list, written out field by field: a library of 10,000 in a few milliseconds."""
    q = quoted
    rows = []
    for (name, description, scope, category, kind, path, digest, state, readiness, tokens, shadows, diagnostics, reasons,
         root, agent, plugin, held) in cards:  # fmt: skip
        rows.append(
            f'{{"name":{q(name)},"description":{q(description)},"scope":"{scope}","category":{q(category)},'
            f'"kind":"{kind}","path":{q(path)},"digest":{q(digest) if digest else "null"},"state":"{state}",'
            f'"readiness":"{readiness}","tokens":{tokens},"shadows":[{",".join(map(q, shadows)) if shadows else ""}],'
            f'"diagnostics":[{",".join(map(diagnostic_json, diagnostics)) if diagnostics else ""}],'
            f'"reasons":[{",".join(map(q, reasons)) if reasons else ""}],"root":{q(root)},"agent":{q(agent)},'
            f'"plugin":{q(plugin)},"held":"{held}"}}'
        )
    return "[" + ",\n".join(rows) + "]"
