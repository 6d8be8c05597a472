"""Prose: what a text tries to make an agent or a user do, told by the concepts of its sentences and by forged marks."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from metier.scan.concepts import sentences
from metier.scan.rule import Hit
from metier.scan.rules.prose import SHAPES
from metier.scan.shapes import by_first, compile_shape, matches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.scan.concepts import Sentence

MOST_OF_ONE = 20
"""Hits of one rule in one text that are told of: more say nothing more."""
REPEATS = 12
"""How often one sentence stands in a row before it counts as filler."""
SHORT, LONG = 20, 200
"""Characters of a sentence that may be filler."""

_SHAPES = by_first(compile_shape(rule, text) for rule, texts in SHAPES.items() for text in texts)
# Marks that separate system, user, tool and skill in one agent or another (ZE-27, HE-16).
_MARKS = re.compile(
    r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|?>"
    r"|\[/?(?:INST|SYSTEM|SYSTEM OVERRIDE|TOOL_RESPONSE|TOOL_RESULT|TOOL_OUTPUT|ADMIN)(?:[:\]]| [A-Z])"
    r"|<</?SYS>>|</?(?:system|system_prompt|system-reminder|system_message|tool_result|tool_output|tool_response|function_results"
    r"|external[-_]data|available_skills|skill|instructions|assistant|admin|override)>"
    r"|(?:^|[-=#* ]{2,20})(?:END OF|BEGIN|START OF|END) (?:THE )?(?:SYSTEM|SKILL|USER|HIDDEN|ADMIN|ORIGINAL)[ A-Z]{0,40}"
    r"(?:PROMPT|OVERRIDE|INSTRUCTIONS?|DEFINITION|MESSAGE|INPUT|SKILL|MODE)"
    r"|^[ \t#*>]{0,8}(?:SYSTEM|ASSISTANT|HUMAN|USER)(?: OVERRIDE| MESSAGE| NOTICE| UPDATE)?:(?=[ \t]*\S)|\]\]>",
    re.MULTILINE,
)
_IMAGE = re.compile(
    r"(?:!\[[^\]\n]{0,200}\]\(|<img[^>\n]{0,200}?src=[\"']?)"
    r"(https?://[^\s)>\"']{1,300}[?&/=](?:\$?\{[^}\n]{1,60}\}?|%s)[^\s)>\"']{0,100}|"
    r"https?://[^\s)>\"'?]{1,200}\?[^\s)>\"']{0,100}(?:data|secret|token|cookie|history|prompt|exfil|leak|steal|key|q|d)=[^\s)>\"']{0,200})"
)
_LINK = re.compile(
    r"\]\((https?://[^\s)]{1,300}[?&](?:data|secret|token|cookie|history|prompt|key|env|content)=[^\s)]{0,10}[{<\[$][^\s)]{1,100})\)"
)
_SECOND_HEADER = re.compile(
    r"\n---[ \t]*\n(?:#[^\n]{0,200}\n){0,4}"
    r"(?:[ \t]*(?:name|description|allowed-tools|role|system|permissions?|safety|mode|content|filters?)"
    r"[ \t]*:[^\n]{0,300}\n){1,12}---"
)
_PATTERNS = (("SC161", _MARKS, ""), ("SC125", _IMAGE, "http"), ("SC125", _LINK, "](http"), ("SC166", _SECOND_HEADER, "\n---"))
"""Each rule with its pattern, and a sign without which there is nothing to look for."""
_OTHER = re.compile(r"[\u0370-\u03ff\u0400-\u052f\u0530-\u058f]")
_MIXED = re.compile(r"[A-Za-z]{1,40}[\u0370-\u03ff\u0400-\u052f\u0530-\u058f]{1,3}[A-Za-z]{1,40}")
_LINES = re.compile(r"[^\n.!?]++[.!?\n]?")


def find(text: str) -> list[Hit]:
    """Find what a normalised text asks for."""
    return found_in(text, sentences(text))


def found_in(text: str, cut: list[Sentence]) -> list[Hit]:
    """Find what a text asks for when its sentences are already known."""
    counts: dict[str, int] = {}
    hits: list[Hit] = []
    for sentence in cut:
        for rule, start, end in matches(sentence, _SHAPES):
            counts[rule] = counts.get(rule, 0) + 1
            if counts[rule] <= MOST_OF_ONE:
                hits.append(Hit(rule, start, end))
    hits += _marked(text)
    return sorted(hits, key=lambda hit: hit.start)


def _marked(text: str) -> Iterator[Hit]:
    for rule, pattern, sign in _PATTERNS:
        if sign in text:
            for number, match in enumerate(pattern.finditer(text)):
                if number >= MOST_OF_ONE:
                    break
                yield Hit(rule, match.start() + (match.group()[0] == "\n"), match.end())
    yield from _repeated(text)


def _repeated(text: str) -> Iterator[Hit]:
    """Find one sentence that stands many times in a row: filler, whatever it says."""
    before, run, start = "", 0, 0
    for match in _LINES.finditer(text):
        line = match.group().strip()
        if not SHORT <= len(line) <= LONG:
            before = "" if line else before  # anything between breaks the row, but an empty line
            continue
        if line == before and any(map(str.isalpha, line)):
            run += 1
            if run == REPEATS:
                yield Hit("SC165", start, match.end())
        else:
            before, run, start = line, 1, match.start()


def look_alikes(original: str) -> list[Hit]:
    """Find words that mix alphabets in a text as it was written."""
    if original.isascii() or _OTHER.search(original) is None:
        return []
    return [Hit("SC164", match.start(), match.end()) for match in islice(_MIXED.finditer(original), MOST_OF_ONE)]
