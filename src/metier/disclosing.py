"""A library's skills → the text that tells a model of them: which cards, which budget, which form."""

from __future__ import annotations

from metier.closest import closest
from metier.disclose.catalogue import Disclosure, Telling, disclose, ordered, remembered
from metier.disclose.forms import FORMS
from metier.errors import UsageError
from metier.light import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

    from metier.app import Library
    from metier.model import Why
    from metier.ports import Ranker
    from metier.settings import Prompting

BUDGET = 2_000
"""Tokens when nothing else is known."""
CAP = 10_000
"""The most tokens that configuration may give (CX-52)."""
SHARE = 2
"""Of a hundred tokens of the window, how many are for skills when nobody says otherwise (CX-52)."""
HUNDRED = 100
DIGITS = 12
"""Of a budget in tokens, more than any model's window has."""
SMALL_WINDOW = 8_192
"""Tokens of a window below which skills are told by name alone (ZE-37)."""
MODES = ("auto", "full", "compact")


class Wish(NamedTuple):
    """What is asked of a catalogue."""

    budget: int | str | None = None
    """Tokens, or a share of the window such as `2%`."""
    window: int = 0
    format: str = ""
    mode: str = "auto"
    task: str = ""
    previous: Disclosure | dict[str, Any] | None = None
    """An earlier catalogue, or what `--json` gave of it."""


def catalogue(library: Library, wish: Wish) -> Disclosure:
    """Tell a model of the visible skills."""
    prompt = library.settings.prompt
    form = _one_of("format", wish.format or prompt.format, tuple(FORMS))
    mode = _one_of("mode", wish.mode, MODES)
    window = wish.window or prompt.window
    if window < 0:
        raise UsageError(f"a window of {window} tokens cannot be", hint="give the model's context in tokens, such as 200000")
    budget = budget_of(wish.budget, window, prompt)
    cards = [card for card in library.contents().cards if card[7] == "visible"] if prompt.include else []
    compact = mode == "compact" or (mode == "auto" and 0 < window < SMALL_WINDOW)
    telling = Telling(budget, form, compact, frozenset(prompt.names_only), wish.task, _ranker(library, wish), library.counter)
    if prompt.reliability:
        from metier import counting

        telling = telling._replace(stats=counting.stats_of(library))
    return disclose(ordered(cards, prompt.order), telling, _previous(wish.previous))


def _ranker(library: Library, wish: Wish) -> Ranker | None:
    """Give what chooses skills for a task: without a task nothing of it is loaded."""
    if library.ranker is not None or not wish.task.strip():
        return library.ranker
    from metier.routing import Router

    return Router(library)


def _previous(given: object) -> Disclosure | None:
    """Take an earlier catalogue as it was, or as its JSON."""
    if given is None or isinstance(given, Disclosure):
        return given
    found = remembered(given)
    if found is None:
        hint = "give what an earlier catalogue() returned, or the whole document of metier prompt --json"
        raise UsageError("that is no earlier catalogue", hint=hint)
    return found


def with_budget(library: Library, answer: Why) -> Why:
    """Add to an explanation what keeps the copy that a name means out of a prompt: visible skills can be cut for want of room."""
    reason = _kept_out(library, answer.chosen or "")
    if not reason:
        return answer
    return answer._replace(candidates=tuple(
        one._replace(reasons=(*one.reasons, reason)) if one.path == answer.chosen and one.state == "visible" else one
        for one in answer.candidates
    ))  # fmt: skip


def _kept_out(library: Library, path: str) -> str:
    if not library.settings.prompt.include:
        return "no model is told of it: prompt.include = false in the configuration"
    told = catalogue(library, Wish())
    row = next((row for row in told.rows if row[1] == path), None)
    budget = f"the prompt's budget of {told.budget:,} tokens"
    if row is None:
        return f"left out of the catalogue by {budget}; it can still be searched for"
    if row[2] == row[3]:
        return ""
    if 0 < library.settings.prompt.window < SMALL_WINDOW:
        return f"told by its name alone: the window is smaller than {SMALL_WINDOW:,} tokens"
    category = next((card.category for card in library.contents().cards if card.path == path), "")
    if category and category in library.settings.prompt.names_only:
        return f"told by its name alone: prompt.names_only has its category {category}"
    return f"its description is shortened by {budget}"


def budget_of(asked: int | str | None, window: int, prompt: Prompting) -> int:
    """Give the tokens that a catalogue may cost."""
    if asked is None:
        return min(prompt.budget, CAP) if prompt.budget else max(window * SHARE // HUNDRED, 1) if window else BUDGET
    text = str(asked).strip()
    if text.endswith("%"):
        return _share(text, window)
    if not _is_number(text) or not int(text):
        raise _wrong(asked)
    return int(text)


def _share(text: str, window: int) -> int:
    whole, point, part = text[:-1].strip().partition(".")
    if not _is_number(whole) or (point and not _is_number(part)):
        raise _wrong(text)
    share = float(f"{whole}.{part or 0}")
    if not 0 < share <= HUNDRED:
        raise _wrong(text)
    if not window:
        raise UsageError(f"'{text}' of which window?", hint="give --window N, the model's context in tokens, or set prompt.window")
    return max(int(window * share / HUNDRED), 1)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= DIGITS


def _wrong(asked: object) -> UsageError:
    hint = "give a number of tokens above zero, or a share of the window such as 2%"
    return UsageError(f"'{str(asked)[:40]}' is no token budget", hint=hint)


def _one_of(what: str, given: str, known: tuple[str, ...]) -> str:
    if given in known:
        return given
    near = closest(given, known)
    meant = f"did you mean '{near}'? " if near else ""
    raise UsageError(f"there is no {what} '{given[:40]}'", hint=f"{meant}it can be {', '.join(known)}")
