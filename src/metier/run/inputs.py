"""What a program hands to a run, looked at before anything else: what is put wrongly is the
caller's error, and no failed run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from metier.errors import UsageError
from metier.run.model import Lent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metier.model import Card, Texts

MAX_RUN_SECONDS = 24 * 3600
"""The longest time in seconds that one run may be lent."""


def read_lent(*, network: bool, read: object, write: object, seconds: object) -> Lent:
    """Give what is lent to one run."""
    check_flags({"network": network})
    if (
        isinstance(seconds, bool)
        or not isinstance(seconds, int)
        or not 0 <= seconds <= MAX_RUN_SECONDS
    ):
        raise UsageError(
            f"seconds is {seconds!r:.40}",
            hint=f"give a whole number from 1 to {MAX_RUN_SECONDS:,}, or 0 for what the setting "
            f"run.seconds says",
        )
    return Lent(network, read_texts("read", read), read_texts("write", write), seconds)


def read_texts(what: str, words: object) -> Texts:
    """Give a list of texts; a single text is none, although it could be taken for its letters."""
    if isinstance(words, (str, bytes)) or not isinstance(words, Sequence):
        raise UsageError(
            f"{what} is no list of texts: {words!r:.40}",
            hint=f"give a list: {what}=[{str(words)[:40]!r}]",
        )
    for word in words:
        check_text(f"each of {what}", word)
        if "\0" in word:
            raise UsageError(
                f"{what} has a text with a NUL, which no program can be handed",
                hint="leave the NUL out",
            )
    return tuple(words)


def check_text(what: str, word: object) -> None:
    """Refuse what is no text."""
    if not isinstance(word, str):
        raise UsageError(
            f"{what} has to be a text, and is {word!r:.40}",
            hint=f"give it as a text, such as {str(word)[:40]!r}",
        )


def check_flags(given: Mapping[str, object]) -> None:
    """Refuse anything but a plain yes or no: most words for no would count as a yes."""
    for name, value in given.items():
        if not isinstance(value, bool):
            raise UsageError(f"{name} is {value!r:.40}", hint=f"say {name}=True or {name}=False")


def check_callables(given: Mapping[str, object]) -> None:
    """Refuse what is to be called and cannot be."""
    for name, value in given.items():
        if value is not None and not callable(value):
            raise UsageError(
                f"{name} cannot be called: {value!r:.40}", hint="give a function, or leave it out"
            )


def check_consent(value: object) -> None:
    """Refuse a consent that is neither a person's words, nor a yes or no, nor something that asks a
    person.
    """
    if value is not None and not isinstance(value, (str, bool)) and not callable(value):
        raise UsageError(
            f"consent is {value!r:.40}",
            hint="give the words in which a person agreed, or a function that asks for them",
        )


def check_only_for(what: str, card: Card, given: Mapping[str, object]) -> None:
    """Refuse what means nothing for a skill of this kind, rather than leave it out unsaid."""
    for name, value in given.items():
        if value:
            kind = "a code skill" if card.kind == "code" else "no code skill"
            raise UsageError(f"{name} is for {what}; '{card.name}' is {kind}", hint="leave it out")
