"""Several slow questions asked at once, each in a thread of its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    _Q = TypeVar("_Q")
    _A = TypeVar("_A")

WORKERS = 8


def each(ask: Callable[[_Q], _A], questions: Sequence[_Q]) -> list[_A]:
    """Give the answers in the order of the questions."""
    if len(questions) < 2:
        return [ask(question) for question in questions]
    with ThreadPoolExecutor(min(WORKERS, len(questions))) as pool:
        return list(pool.map(ask, questions))
