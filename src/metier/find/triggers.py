"""Matches trigger phrases against a task: which phrases stand in it, whose they are, and which
skill takes it.

It also reads the user's own files of phrases, which replace the declared ones.

A phrase stands in a task when its words do, whole, side by side and in their order, whatever their
case (CO-12). `c++` and `c#` are words of their own, as is whatever else one or two letters make
with such signs; after a longer word they are mere signs, so that `issue` stands in `issue#5`. A
phrase that begins or ends in a sign, as `.net` does, is not found inside `example.net`. Scripts
that put no spaces between words have no such borders: there a phrase is found wherever it is
written.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.discover.io import disk
from metier.find.model import warn_once
from metier.standard.code import MAX_BYTES, custom_triggers
from metier.standard.names import lookup_key, one_line
from metier.standard.needs import mapping, vendors_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from metier.context import Context
    from metier.model import Card, JsonObject, Texts
    from metier.standard.code import CodeFacts


MAX_PHRASES = 100
"""Phrases of one skill that count; no honest skill has so many."""
MAX_PHRASE_CHARS = 200
"""Characters of a phrase. Nobody says a longer one word for word: it is left out, not cut."""
MAX_SEARCHED_TASK_CHARS = 32_768
"""Characters of a task that are looked at; what comes after is something pasted."""
MAX_ERROR_CHARS = 500
"""Characters that are kept of what a failed attempt said."""

_MARKS_KEPT = 30
"""Marks upon one letter that count, as in Unicode's own stream-safe form: putting a run of them in
order takes quadratic time."""
_AT_THE_CUT = 3
"""Words at the end of a cut task that may be halves of others."""
_ASCII_WORDS = re.compile(r"[a-z0-9_]{1,2}(?:\+\+|#(?!#))|[a-z0-9_]+| |[^ ]")
_CLASSES = re.compile(r"wm*(?:wm*)?(?:\+\+|#(?!#))m*|w[wm]*| |.m*", re.DOTALL)
_DENSE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u312f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)
"""Scripts that put no spaces between words, or that write endings onto them."""
_CONTROLS = dict.fromkeys([*range(32), 127], " ")
_SPELLINGS = str.maketrans("\u2018\u2019\u02bc\u2010\u2011\u2012\u2013\u2014\u2212", "'''------")
"""What a keyboard or an editor puts in the place of a plain sign."""
_DOTTED = "i\u0307"
"""What is left of the Turkish capital once it is a small letter, which has its dot already."""
_SIGNS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^`{|}~")


class Phrased(NamedTuple):
    """A skill, and the phrases that ask for it."""

    name: str
    path: str
    phrases: Texts
    score: float = 0.0
    """What its caller holds of it: the higher goes first where two skills' phrases are equally
    long."""


class Match(NamedTuple):
    """A skill of which a phrase stands in a task."""

    name: str
    path: str
    phrase: str
    """The longest of its phrases that stands there, as declared."""
    score: float = 0.0
    correlation: str = ""
    """The same for all that is tried for one task, and for nothing else; empty where nothing is
    tried."""


class SkillTriggers(NamedTuple):
    """What calls for a skill: its phrases, and what it asks to be called for when it is seen."""

    name: str
    path: str
    phrases: Texts
    """The phrases that count: the user's own where there are any, else the declared ones (CO-8)."""
    declared: Texts
    custom: bool
    """Whether the user's own phrases take the place of the declared ones."""
    observation: JsonObject | None
    """The observation trigger as the skill declares it (CO-22)."""
    key: str
    """By what `observe` names that trigger; nothing where there is none, or it cannot be read."""
    fault: str
    """Why the observation trigger cannot be read, and so never fires."""
    needs_observation: bool
    """Whether the skill is to be given what was seen when it is called."""
    destructive: bool


class Declined(NamedTuple):
    """A skill that did not take a task."""

    match: Match
    kind: str
    """The kind of what it raised; nothing when it only had no answer."""
    message: str


class Dispatched(NamedTuple):
    """What became of a task that was offered to the skills it matches."""

    correlation: str
    taken: Match | None
    answer: str | None
    declined: tuple[Declined, ...]


class _Entry(NamedTuple):
    """One phrase of one skill. Sorted, the entry that counts most comes first."""

    shorter: int
    """The length of the folded phrase, below zero."""
    lesser: float
    name: str
    path: str
    folded: str
    phrase: str


class TriggerTable(NamedTuple):
    """Phrases by their words: each step down is one more word, and below the empty one lies whose
    the phrase is.
    """

    first: JsonObject


# --- where phrases come from


def declared(fields: Mapping[str, Any], facts: CodeFacts | None = None) -> Texts:
    """Give the phrases that a skill declares: as a code skill, or as `triggers` in its frontmatter,
    below `metadata` too.
    """
    if facts is not None:
        return usable_phrases(facts.triggers)
    metadata = mapping(fields.get("metadata"))
    tables = (fields, metadata, mapping(metadata.get("hermes")), *vendors_of(fields))
    return usable_phrases(item for table in tables for item in _listed(table.get("triggers")))


def _listed(value: Any) -> Sequence[Any]:
    """Give a list as it is; a text is one phrase, and never its characters."""
    return value if isinstance(value, (list, tuple)) else (value,) if isinstance(value, str) else ()


def usable_phrases(items: Iterable[Any]) -> Texts:
    """Give the phrases that can match at all, each once, however it is spelled."""
    return tuple(_by_form(items).values())


def _by_form(items: Iterable[Any]) -> dict[str, str]:
    """Give such phrases by the form in which they are compared."""
    found: dict[str, str] = {}
    for item in items:
        if isinstance(item, str) and len(item) <= MAX_PHRASE_CHARS * 4:
            phrase = one_line(item)
            form = folded(phrase) if len(phrase) <= MAX_PHRASE_CHARS else ""
            if _says_something(form):
                found.setdefault(form, phrase)
        if len(found) == MAX_PHRASES:
            break
    return found


def _says_something(form: str) -> bool:
    """Tell a phrase from a mere question mark, which stands in nearly every task, and from marks
    that lack their letters.
    """
    return any(
        char not in _SIGNS
        and char != " "
        and (char.isascii() or unicodedata.category(char)[0] != "M")
        for char in form
    )


def with_custom_phrases(
    cards: Iterable[Card],
    declared_by: Mapping[str, Texts],
    custom: Mapping[str, Texts],
) -> list[Phrased]:
    """Give the skills that have phrases: the user's own, by name, take the place of the declared
    ones, by path (CO-8).
    """
    own = {lookup_key(name): phrases for name, phrases in custom.items() if phrases}
    found = []
    for card in cards:
        phrases = own.get(lookup_key(card.name)) if own else None
        phrases = phrases or declared_by.get(card.path)
        if phrases:
            found.append(Phrased(card.name, card.path, phrases))
    return found


# --- matching


def build_table(skills: Iterable[Phrased]) -> TriggerTable:
    """Lay out the phrases of many skills, to be looked for all at once."""
    first: JsonObject = {}
    for skill in skills:
        for form, phrase in _by_form(skill.phrases).items():
            node = first
            for word in _words(form):
                node = node.setdefault(word, {})
            node.setdefault("", []).append(
                _Entry(-len(form), -skill.score, skill.name, skill.path, form, phrase)
            )
    return TriggerTable(first)


def matches(phrases: TriggerTable, task: str) -> list[Match]:
    """Give every skill of which a phrase stands in the task: longest phrase first, then by score,
    name and path.
    """
    best: dict[str, _Entry] = {}
    for owners in _standing(phrases, task):
        for entry in owners:
            if entry.path not in best or entry < best[entry.path]:
                best[entry.path] = entry
    return [Match(one.name, one.path, one.phrase, -one.lesser) for one in sorted(best.values())]


def length(phrase: str) -> int:
    """Give the length by which phrases are put in order: that of the form in which they are
    compared.
    """
    return len(folded(phrase))


def _standing(phrases: TriggerTable, task: str) -> Iterator[list[_Entry]]:
    """Give the owners of each phrase that stands in a task, once. Each word is begun at once, and
    no further than phrases go.
    """
    words = _words(folded(task[:MAX_SEARCHED_TASK_CHARS]))
    end = len(words) - _AT_THE_CUT if len(task) > MAX_SEARCHED_TASK_CHARS else len(words)
    seen: set[int] = set()
    for start in range(end):
        node: JsonObject | None = phrases.first.get(words[start])
        at = start + 1
        while node is not None:
            owners = node.get("")
            if owners is not None and id(owners) not in seen and _is_bordered(words, start, at):
                seen.add(id(owners))
                yield owners
            node = node.get(words[at]) if at < end else None
            at += 1


def _is_bordered(words: Sequence[str], start: int, end: int) -> bool:
    """Tell whether a phrase that begins or ends in a sign stands apart there; words are whole by
    themselves.
    """
    if words[start] in _SIGNS and start and _is_word(words[start - 1]):
        return False
    return not (words[end - 1] in _SIGNS and end < len(words) and _is_word(words[end]))


def _is_word(word: str) -> bool:
    return (word[0].isalnum() or word[0] == "_") and not _DENSE.match(word)


def folded(text: str) -> str:
    """Give the form in which phrases and tasks are compared: one case, one spelling of each
    character, nothing unseen.
    """
    if text.isascii():
        return " ".join(text.translate(_CONTROLS).lower().split())
    known = {char: unicodedata.category(char) for char in set(text)}
    text = text.translate(
        {
            ord(char): " " if kind == "Cc" else None
            for char, kind in known.items()
            if _is_unseen(char, kind)
        }
    )
    marks = "".join(re.escape(char) for char, kind in known.items() if _is_mark(char, kind))
    if marks:
        one = f"[{marks}]"
        text = re.sub(f"({one}{{{_MARKS_KEPT}}}){one}+", r"\1", text)
    text = unicodedata.normalize("NFKC", text).casefold().replace(_DOTTED, "i")
    text = unicodedata.normalize("NFKC", text)
    return " ".join(text.translate(_SPELLINGS).split())


def _is_mark(char: str, category: str) -> bool:
    """Tell what is put upon the letter before it; a few of these come apart into marks, though they
    are none.
    """
    return category[0] == "M" or unicodedata.combining(unicodedata.normalize("NFKD", char)[0]) > 0


def _is_unseen(char: str, category: str) -> bool:
    """Tell controls, marks of direction, joiners and selectors of a character's form."""
    return (
        category in {"Cc", "Cf"}
        or "\ufe00" <= char <= "\ufe0f"
        or "\U000e0100" <= char <= "\U000e01ef"
    )


def _words(text: str) -> list[str]:
    """Cut a folded text into words, single signs and single characters of dense scripts; a space is
    one of them.
    """
    if text.isascii():
        return _ASCII_WORDS.findall(text)
    classes = text.translate({ord(char): _class(char) for char in set(text)})
    return [text[found.start() : found.end()] for found in _CLASSES.finditer(classes)]


def _class(char: str) -> str:
    if char in "+# ":
        return char
    if unicodedata.category(char)[0] == "M":
        return "m"
    if _DENSE.match(char):
        return "d"
    return "w" if char.isalnum() or char == "_" else "s"


# --- offering a task


def offer_to_each(
    found: Iterable[Match], attempt: Callable[[Match], str | None], correlation: str
) -> Dispatched:
    """Offer a task to each match in turn until one answers; whoever gives nothing or raises lets
    the next one try (CO-19).

    `attempt` is where a skill is run, and so also the place for hooks that change or veto a call: a
    veto is an answer.
    """
    declined: list[Declined] = []
    for match in found:
        tried = match._replace(correlation=correlation)
        try:
            answer = attempt(tried)
        except Exception as error:  # noqa: BLE001 - whatever a skill raises, the next one may still help
            declined.append(Declined(tried, type(error).__name__, _said(error)))
            continue
        if answer is not None:
            return Dispatched(correlation, tried, answer, tuple(declined))
        declined.append(Declined(tried, "", "it gave no answer"))
    return Dispatched(correlation, None, None, tuple(declined))


def _said(error: Exception) -> str:
    """Give what an exception says, on one line; its text is a stranger's code too."""
    try:
        return one_line(str(error)[: MAX_ERROR_CHARS * 4])[:MAX_ERROR_CHARS]
    except Exception:  # noqa: BLE001 - an exception that cannot even be shown
        return "it cannot be shown"


CODEC_PHRASES_FILE = ".codec/custom_triggers.json"
OWN_PHRASES_FILE = "triggers.json"


def custom_phrases(context: Context) -> dict[str, Texts]:
    """Give the phrases that the user has put in the place of declared ones, by name of skill
    (CO-8).

    `triggers.json` below METIER_HOME goes before CODEC's file. A file that cannot be read has none,
    and is worth a warning.
    """
    found: dict[str, Texts] = {}
    for folder, name in ((context.home, CODEC_PHRASES_FILE), (context.data, OWN_PHRASES_FILE)):
        if folder:
            found.update(_phrases_in(context, f"{folder}/{name}"))
    return found


def _phrases_in(context: Context, path: str) -> dict[str, Texts]:
    data, fault = read_user_file(path)
    found = custom_triggers(data) if data else {}
    if not found:
        fault = json_object_of(data, fault)[1]
    if fault:
        warn_once(context, f"{path} holds no trigger that can be read: {fault}")
    return found


def read_user_file(path: str) -> tuple[bytes | None, str]:
    """Read a file of the user's own, through links too, unless it is beyond all reason; nothing of
    one that is not there, or nothing and why it cannot be used.
    """
    folder = path.rpartition("/")[0]
    if not disk.is_there(path) and (disk.kind_of(folder) != disk.FOLDER or disk.readable(folder)):
        return None, ""
    head = disk.read_head(disk.real(path), MAX_BYTES + 1)
    if head.fault:
        return None, head.message
    return (head.data, "") if len(head.data) <= MAX_BYTES else (None, "it is larger than 1 MiB")


def json_object_of(data: bytes | None, fault: str) -> tuple[JsonObject, str]:
    """Give the JSON object that a file holds, or why it holds none; a file that is not there is an
    empty one.
    """
    import json

    if data is None:
        return {}, fault
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError, MemoryError):
        return {}, "it is not JSON"
    return (value, "") if isinstance(value, dict) else ({}, "it is not a JSON object")
