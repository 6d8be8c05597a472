"""Calls code skills on somebody's behalf: for a task, a message, or the tags `[SKILL:name:query]`
in a model's words (CO-19, CO-20).

Every way leads through `code.call`, so the same gates, the same consent and the same hooks hold.
What is refused or fails lets the next skill try, and the reason is kept. A skill that is no code
has nothing to run: it is named as instructions to read.

No tag reaches a user (CO-20): not one that failed, not one that never ends, not one inside another,
and not one that only comes about when another is taken out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import MetierError, RefusedError
from metier.find import suggest, triggers
from metier.find.triggers import Declined
from metier.run import answers, code
from metier.run.model import ConsentRequest
from metier.trust.judge import judge_listed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from metier.context import Context
    from metier.find.triggers import Dispatched, Match
    from metier.model import Texts
    from metier.run.confirm import Asker

    GivenConsent = str | Callable[[ConsentRequest], str | bool | None]
    """The words in which a person agreed to the act, or who asks one: gives the words, or a plain
    yes or no."""


MAX_TAGS = 8
"""Tags of one text that are looked into; the rest are taken out all the same."""
MAX_NAME_CHARS = 100
MAX_QUERY_CHARS = 2_000
_MAX_TAG_CHARS = 2 * (MAX_NAME_CHARS + MAX_QUERY_CHARS)
"""How far the end of a tag is looked for."""
_PASSES = 4
_BRACKETS = re.compile(r"[\[\]]")
_OPENING = re.compile(r"\[\s*SKILL\s*:", re.IGNORECASE)
_UNSEEN = dict.fromkeys([0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF])
"""What stands in a text unseen, and could keep a tag from being found."""


class SkillTag(NamedTuple):
    """One tag, and where it stood."""

    start: int
    end: int
    name: str
    query: str
    fault: str = ""
    """Why it is no call of a skill; nothing when it is one."""


class TaggedText(NamedTuple):
    """A text in which every tag is known by its place."""

    text: str
    tags: tuple[SkillTag, ...]


def find_tags(text: str) -> TaggedText:
    """Find the tags of a text, the outermost of those that lie in each other; the places are those
    of the text that is given.
    """
    plain = text if text.isascii() else text.translate(_UNSEEN)
    if not _OPENING.search(plain):
        return TaggedText(text, ())
    closings = _closings(plain)
    tags: list[SkillTag] = []
    at = calls = 0
    while (opening := _OPENING.search(plain, at)) is not None:
        start = opening.start()
        at = closings.get(start, start)
        closed = start < at <= start + _MAX_TAG_CHARS
        if not closed:  # then it ends with its line
            line = plain.find("\n", start)
            at = len(plain) if line < 0 else line
        tag = SkillTag(start, at, *_read_tag(plain[opening.end() : at - closed], closed=closed))
        if not tag.fault and calls >= MAX_TAGS:
            tag = tag._replace(fault=f"there are more than {MAX_TAGS} tags")
        tags.append(tag)
        calls += not tag.fault
    return TaggedText(plain, tuple(tags))


def answer_tags(found: TaggedText, answers: Sequence[str]) -> str:
    """Give the text with an answer in the place of each tag; what would be a tag again is taken
    out.
    """
    parts: list[str] = []
    at = 0
    for tag, answer in zip(found.tags, answers, strict=True):
        parts += (found.text[at : tag.start], answer)
        at = tag.end
    return without_tags("".join((*parts, found.text[at:])))


def without_tags(text: str) -> str:
    """Give a text without any tag; one that comes about again and again is at last made none by its
    bracket.
    """
    for _pass in range(_PASSES):
        found = find_tags(text)
        if not found.tags:
            return text
        starts = (0, *(tag.end for tag in found.tags))
        ends = (*(tag.start for tag in found.tags), len(found.text))
        text = "".join(found.text[start:end] for start, end in zip(starts, ends, strict=True))
    return _OPENING.sub("(", text.translate(_UNSEEN))


def _closings(text: str) -> dict[int, int]:
    """Give for each bracket where what it opens ends, in one pass: a text may open any number of
    tags and close none.
    """
    waiting: list[int] = []
    found: dict[int, int] = {}
    for bracket in _BRACKETS.finditer(text):
        if bracket[0] == "[":
            waiting.append(bracket.start())
        elif waiting:
            found[waiting.pop()] = bracket.end()
    return found


def _read_tag(inside: str, *, closed: bool) -> tuple[str, str, str]:
    """Give the name and the query of a tag, and why it is no call of a skill."""
    name, colon, query = inside.partition(":")
    name = name.strip()
    query = query.strip()
    fault = ""
    if not closed:
        fault = "it has no end"
    elif _OPENING.search(inside):
        fault = "there is another tag in it"
    elif not name or len(name) > MAX_NAME_CHARS or not colon:
        fault = "it is not written as [SKILL:name:query]"
    elif len(query) > MAX_QUERY_CHARS:
        fault = f"its query is longer than {MAX_QUERY_CHARS:,} characters"
    return name[:MAX_NAME_CHARS], query[:MAX_QUERY_CHARS], fault


MAX_MESSAGE_CHARS = 2_000
"""Characters of a message that may set a skill off by itself: a longer one is something pasted
(CO-20)."""
INSTRUCTIONS = "instructions"
"""The kind of `Declined` that a match is which has nothing to run."""


class ResolvedText(NamedTuple):
    """A model's words with its tags answered."""

    text: str
    ran: Texts
    """The skills that answered."""
    notes: Texts
    """What became of each tag that was taken out without an answer."""


def dispatch(context: Context, task: str, *, consent: GivenConsent = "") -> Dispatched:
    """Offer a task to the code skills whose triggers it has, one after the other, until one takes
    it.

    What matches and is no code is among those that declined, as instructions to read. Without
    `consent`, so is what needs a person's yes.
    """
    return _offer(context, task, suggest.matches(context, task), consent)


def attempt(
    context: Context, task: str, consent: GivenConsent = ""
) -> Callable[[Match], str | None]:
    """Give what tries one match: the skill's answer, nothing where it declines. A veto is an answer
    (CO-19).
    """
    words = consent if isinstance(consent, str) else ""

    def tried(match: Match) -> str | None:
        ask = None if isinstance(consent, str) else _asker(match, task, consent)
        try:
            ran = code.call(
                context, match.path, task, consent=words, ask=ask, dispatch=match.correlation
            )
        except RefusedError as error:
            if error.code == "vetoed":
                return error.message
            raise
        if ran.error:
            raise MetierError(ran.error, code="failed")
        return ran.result

    return tried


def _asker(
    match: Match, task: str, consent: Callable[[ConsentRequest], str | bool | None]
) -> Asker:
    """Give what puts a question about one match to whoever gives consent; no answer is a no."""

    def ask(question: str, act: str) -> str | bool:
        given = consent(ConsentRequest(match.name, match.path, task, act, question))
        return False if given is None else given

    return ask


def dispatch_message(context: Context, message: str) -> Dispatched:
    """Let a message set a skill off by itself: only one that the user lists, only a short message,
    and never a destructive skill.

    Nobody is there to agree to anything, so whatever needs consent is refused, by its very bytes.
    """
    listed = frozenset(context.settings.run.auto)
    matched = (
        suggest.matches(context, message) if listed and len(message) <= MAX_MESSAGE_CHARS else []
    )
    return _offer(context, message, [match for match in matched if match.name in listed])


def resolve_tags(context: Context, text: str, without: Collection[str]) -> ResolvedText:
    """Answer the tags in a model's words; none is left in the text, whatever became of it. What lies
    at the paths `without` is not for models.
    """
    found = find_tags(text)
    token = context.ports.token().hex() if found.tags else ""
    put: list[str] = []
    ran: list[str] = []
    notes: list[str] = []
    for tag in found.tags:
        said, why = ("", tag.fault) if tag.fault else _answer_tag(context, tag, token, without)
        put.append(said)
        if why:
            notes.append(f"{answers.shown(tag.name) or 'a tag'}: {why}")
        else:
            ran.append(tag.name)
    return ResolvedText(answer_tags(found, put) if found.tags else text, tuple(ran), tuple(notes))


def _offer(
    context: Context, task: str, matched: list[Match], consent: GivenConsent = ""
) -> Dispatched:
    code_skills = {card.path for card in context.catalogue.contents().cards if card.kind == "code"}
    made = triggers.offer_to_each(
        [match for match in matched if match.path in code_skills],
        attempt(context, task, consent),
        context.ports.token().hex(),
    )
    read = tuple(
        Declined(
            match._replace(correlation=made.correlation),
            INSTRUCTIONS,
            "it has nothing to run: it is to be read",
        )
        for match in matched
        if match.path not in code_skills
    )
    return made._replace(declined=(*made.declined, *read))


def _answer_tag(
    context: Context, tag: SkillTag, token: str, without: Collection[str]
) -> tuple[str, str]:
    """Call the skill that a tag names; give its answer, or nothing and the reason."""
    try:
        judge_listed(context)
        card = context.catalogue.resolve(tag.name)
        # A model may only ask for what it is told of, and by its name.
        told = card.state == "visible" and card.verdict and card.path not in without
        if not told or "/" in tag.name:
            return "", answers.not_found(tag.name)
        match = triggers.Match(card.name, card.path, "", correlation=token)
        said = attempt(context, tag.query)(match)
    except MetierError as error:
        return "", error.message
    return (said, "") if said is not None else ("", answers.DECLINED)
