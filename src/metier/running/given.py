"""What a program hands to a run, looked at before anything else: what is put wrongly is the caller's error, and no failed run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from metier.errors import UsageError
from metier.runs import Lent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metier.model import Card

LONGEST = 24 * 3600
"""The longest time in seconds that one run may be lent."""


def lent(*, network: bool, read: object, write: object, seconds: object) -> Lent:
    """Give what is lent to one run."""
    flags({"network": network})
    if isinstance(seconds, bool) or not isinstance(seconds, int) or not 0 <= seconds <= LONGEST:
        raise UsageError(f"seconds is {seconds!r:.40}",
                         hint=f"give a whole number from 1 to {LONGEST:,}, or 0 for what the setting run.seconds says")  # fmt: skip
    return Lent(network, texts("read", read), texts("write", write), seconds)


def texts(what: str, words: object) -> tuple[str, ...]:
    """Give a list of texts; a single text is none, although it could be taken for its letters."""
    if isinstance(words, (str, bytes)) or not isinstance(words, Sequence):
        raise UsageError(f"{what} is no list of texts: {words!r:.40}", hint=f"give a list: {what}=[{str(words)[:40]!r}]")
    for word in words:
        text(f"each of {what}", word)
        if "\0" in word:
            raise UsageError(f"{what} has a text with a NUL, which no program can be handed", hint="leave the NUL out")
    return tuple(words)


def text(what: str, word: object) -> None:
    """Refuse what is no text."""
    if not isinstance(word, str):
        raise UsageError(f"{what} has to be a text, and is {word!r:.40}", hint=f"give it as a text, such as {str(word)[:40]!r}")


def flags(given: Mapping[str, object]) -> None:
    """Refuse anything but a plain yes or no: most words for no would count as a yes."""
    for name, value in given.items():
        if not isinstance(value, bool):
            raise UsageError(f"{name} is {value!r:.40}", hint=f"say {name}=True or {name}=False")


def calls(given: Mapping[str, object]) -> None:
    """Refuse what is to be called and cannot be."""
    for name, value in given.items():
        if value is not None and not callable(value):
            raise UsageError(f"{name} cannot be called: {value!r:.40}", hint="give a function, or leave it out")


def only(what: str, card: Card, given: Mapping[str, object]) -> None:
    """Refuse what means nothing for a skill of this kind, rather than leave it out unsaid."""
    for name, value in given.items():
        if value:
            kind = "a code skill" if card.kind == "code" else "no code skill"
            raise UsageError(f"{name} is for {what}; '{card.name}' is {kind}", hint="leave it out")
