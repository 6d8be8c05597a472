"""Checks the lexicons of the languages that the rules for prose read: `python bench/lexicons.py`.

They are written by hand, so there is nothing to learn anew; this says whether each is well formed
(`--write` sorts and spells what can be sorted and spelt by a program), which concepts of grave
rules it lacks, and how large it is.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import normalize

import metier.scan
from metier.scan.languages.prose import compile_passage, compile_shape
from metier.scan.languages.sentences import sentences
from metier.scan.rules.prose import PASSAGES, RULES, SHAPES
from metier.scan.tongues import DROP, FOLD, GAPS, TONGUES, Lexicon, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(metier.scan.__file__).parent / "lexicons"
UNSPACED = ("ja", "zh")
HELPERS = {
    "unveil": "decodes only beside what is encoded",
    "lacking": "part of phrases such as 'without the customer's consent'",
    "inside": "part of phrases such as 'the instructions inside'",
    "keys": "a secret only together with other words",
    "security": "part of phrases such as 'security checks'",
    "remember": "takes the *not* out of 'do not forget to'",
}
"""Glosses that are no concept, with the reason."""
EXCEPTIONS = {
    "address": "an address is one in every language",
    "ai_note": "names of settings and tags, which nobody translates",
}
"""Concepts of grave rules that no lexicon needs, with the reason."""


def grave_concepts() -> set[str]:
    """Give the concepts that shapes and passages of high and critical rules use."""
    grave = {rule.id for rule in RULES if rule.severity in ("high", "critical")}
    shapes = [
        compile_shape(rule, text)
        for rule, row in SHAPES.items()
        if rule in grave
        for text in row.split(", ")
    ]
    passages = [
        compile_passage(rule, text)
        for rule, row in PASSAGES.items()
        if rule in grave
        for text in row.split(", ")
    ]
    return {
        concept
        for shape in shapes
        for concept in (shape.first, *(step.concept for step in shape.steps))
    } | {
        concept
        for passage in passages
        for concept in passage.unless.union(*(way for part in passage.parts for way in part))
    }


def concepts_of(gloss: str) -> set[str]:
    """Give the concepts that a few English words stand for, alone and together."""
    return {mention.concept for one in sentences(gloss) for mention in one.mentions}


def reached(name: str) -> set[str]:
    """Give the concepts that the words of a lexicon stand for."""
    return {
        concept
        for gloss, _ in rows_of(text_of(name))
        if gloss not in (FOLD, DROP)
        for concept in concepts_of(gloss)
    }


def text_of(name: str) -> str:
    """Read a lexicon as it stands."""
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def faults(name: str) -> Iterator[str]:
    """Say what is wrong with a lexicon."""
    text = text_of(name)
    if text != tidied(text):
        yield "not tidy: run bench/lexicons.py --write"
    rows = list(rows_of(text))
    fold = Lexicon(name, text).fold
    glosses = Counter(gloss for gloss, _ in rows)
    yield from (f"two rows for '{gloss}'" for gloss, count in glosses.items() if count > 1)
    forms = Counter(fold(form) for gloss, row in rows if gloss != FOLD for form in row)
    yield from (f"twice: '{form}'" for form, count in forms.items() if count > 1)
    for gloss, row in rows:
        if gloss in (FOLD, DROP):
            continue
        if not concepts_of(gloss) and gloss not in HELPERS:
            yield f"no rule knows '{gloss}'"
        yield from (f"never read: '{form}'" for form in row if not _readable(form, name))
    for concept in sorted(grave_concepts() - reached(name) - EXCEPTIONS.keys()):
        yield f"no word for the concept '{concept}', which a grave rule uses"


def _readable(form: str, name: str) -> bool:
    words = form.split()
    if words[0] in GAPS or words[-1] in GAPS or re.fullmatch(r".\*", form):
        return False  # a stem of one letter would stand for anything
    if name in UNSPACED:
        word = r"[^\Wa-z\d_]+|[a-z]\w+" if len(words) > 1 else r"[^\Wa-z\d_]+"
    else:
        word = r"[^\W\d_](?:[\w'\-]|[\u0900-\u097f])*\*?"
    return all(one in GAPS or re.fullmatch(word, one) for one in words)


def tidied(text: str) -> str:
    """Spell and sort a lexicon as all of them are."""
    lines = map(_tidied_line, normalize("NFKC", text).splitlines())
    return "\n".join(lines) + "\n"


def _tidied_line(line: str) -> str:
    gloss, equals, forms = line.partition(" = ")
    if not equals or line.startswith("#"):
        return line
    return f"{gloss} = {', '.join(sorted(set(forms.lower().split(', '))))}"


def main() -> int:
    """Check every lexicon; 1 when one of them is at fault."""
    parser = argparse.ArgumentParser(description="Check the scanner's lexicons.")
    parser.add_argument("--write", action="store_true", help="sort and spell them first")
    wanted = parser.parse_args()
    found = 0
    for name in TONGUES:
        if wanted.write:
            (FOLDER / f"{name}.txt").write_text(tidied(text_of(name)), encoding="utf-8")
        rows = [row for row in rows_of(text_of(name)) if row[0] != FOLD]
        wrong = list(faults(name))
        found += len(wrong)
        count = sum(len(forms) for _, forms in rows)
        print(f"{name}: {count} forms in {len(rows)} rows, {len(reached(name))} concepts")
        for fault in wrong:
            print(f"  {fault}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
