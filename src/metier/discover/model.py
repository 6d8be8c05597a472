"""What a walk leaves behind, and its plain form: tuples, lists and scalars alone, which `marshal`
takes as they are.
"""

from __future__ import annotations

from metier.fast import TYPE_CHECKING, NamedTuple
from metier.model import KEY_BYTES, Diagnostic, Entry, Gates, Needs, Problem, Sidecar, Tool

if TYPE_CHECKING:
    from typing import Any

    from metier.model import JsonObject, Key

    Names = tuple[str, ...]
    Node = tuple[Names, Names, Names, Names, str, Names, int, bool]
    Memo = tuple[Any, Any]
else:
    Node = Memo = tuple

# Node: a listing reduced to what matters: folders, files, links, others, fault, names not in UTF-8,
# number of
# entries, whether there are folders at all.
# Memo: the circumstances under which a file was read, and what came of it.

LEAF: Node = ((), ("SKILL.md",), (), (), "", (), 1, False)
"""A skill's folder without folders below it: most of them."""


class KnownRoot(NamedTuple):
    """What an earlier walk of the same root learnt."""

    keys: dict[str, Key]
    """Of every folder listed and every file read, in the order they were met: neighbours lie next
    to each other."""
    nodes: dict[str, Node]
    """Of every folder listed. A fresh walk leaves out those that are `LEAF`: they follow from the
    entries."""
    memos: dict[str, Memo]


class Survey(NamedTuple):
    """All that one walk of one root found out."""

    entries: list[Entry]
    problems: list[Problem]
    truncated: list[Problem]
    categories: dict[str, str]
    known: KnownRoot
    reads: int
    """How many files were opened: what an index saves."""


def keys_in(data: bytes) -> list[Key]:
    """Take packed keys apart."""
    return [data[at : at + KEY_BYTES] for at in range(0, len(data), KEY_BYTES)]


def plain_rest(survey: Survey) -> tuple[Any, ...]:
    """Give all of a survey but its keys in plain form."""
    nodes = survey.known.nodes
    memos = survey.known.memos
    return (
        list(nodes.items()),
        [
            (path, memo[0], *_plain(memo[1]))
            for path, memo in memos.items()
            if memo[1].__class__ is not Entry
        ],
        [plain_entry(entry) for entry in survey.entries],
        [memo[0] if (memo := memos.get(entry_file(entry))) else None for entry in survey.entries],
        [tuple(problem) for problem in survey.problems],
        [tuple(problem) for problem in survey.truncated],
        survey.categories,
    )


def survey_from(rest: tuple[Any, ...], keys: dict[str, Key], reads: int = 0) -> Survey:
    """Read a survey back from its plain form."""
    nodes, memos, rows, circumstances, problems, truncated, categories = rest
    entries = [entry_from(row) for row in rows]
    listed = {entry.path: LEAF for entry in entries if entry.file == "SKILL.md"}
    listed.update(nodes)
    read = {path: (circumstance, _value(tag, value)) for path, circumstance, tag, value in memos}
    read.update(
        (entry_file(entry), (circumstance, entry))
        for entry, circumstance in zip(entries, circumstances, strict=True)
        if circumstance
    )
    return Survey(
        entries,
        [Problem(*row) for row in problems],
        [Problem(*row) for row in truncated],
        categories,
        KnownRoot(keys, listed, read),
        reads,
    )


def entry_file(entry: Entry) -> str:
    """Give the path of the file that an entry was read from."""
    return f"{entry.path}/{entry.file}" if entry.file else entry.path


def _plain(value: Any) -> tuple[str, Any]:
    if isinstance(value, Sidecar):
        tools = tuple(map(tuple, value.tools))
        notes = tuple(map(tuple, value.diagnostics))
        return "sidecar", (value.interface, tools, value.allow_implicit, value.products, notes)
    return "", value


def _value(tag: str, value: Any) -> Any:
    if tag == "sidecar":
        sidecar = Sidecar(*value)
        return sidecar._replace(
            tools=tuple(Tool(*tool) for tool in sidecar.tools),
            diagnostics=tuple(Diagnostic(*note) for note in sidecar.diagnostics),
        )
    return value


def plain_entry(entry: Entry) -> tuple[Any, ...]:
    """Give an entry in plain form."""
    gates = entry.gates
    needs = entry.needs
    notes = entry.diagnostics
    if gates is None and needs is None and not notes:
        return tuple(entry)
    changes: JsonObject = {
        "gates": gates and tuple(gates),
        "needs": needs and tuple(needs),
        "diagnostics": tuple(map(tuple, notes)),
    }
    return tuple(entry._replace(**changes))


def entry_from(row: tuple[Any, ...]) -> Entry:
    """Read an entry back."""
    entry = Entry(*row)
    gates = entry.gates
    needs = entry.needs
    notes = entry.diagnostics
    if gates is None and needs is None and not notes:
        return entry
    return entry._replace(
        gates=gates and Gates(*gates),
        needs=needs and Needs(*needs),
        diagnostics=tuple(Diagnostic(*note) for note in notes),
    )
