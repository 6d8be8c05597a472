"""Runs that a model asks for: nobody is there to say yes, so what needs one is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.running import code, scripts
from metier.runs import Lent, never

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.app import Library
    from metier.model import Card
    from metier.runs import Ran


class Manner(NamedTuple):
    """How a door wants a script run."""

    door: str = "tools"
    seconds: int = 0
    """A shorter time than configuration says; 0 takes that."""
    stopped: Callable[[], bool] | None = None
    destructive: bool = False
    """Whether the user's configuration lets models run destructive skills."""


PLAIN = Manner()


def run(library: Library, card: Card, script: str, args: Sequence[str], how: Manner = PLAIN) -> Ran:
    """Run a script, or call a code skill with a task in the place of it and the rest as context."""
    most = library.settings.run.seconds
    lent = Lent(seconds=min(how.seconds or most, most))
    if card.kind == "code":
        context = "\n".join(args)
        return code.call(library, card.path, script, context, configured=how.destructive, lent=lent, stopped=how.stopped,
                         door=how.door)  # fmt: skip
    ears = scripts.Ears(stopped=how.stopped or never)
    return scripts.run(library, card.path, script, args, scripts.Wish(lent=lent, door=how.door), ears)
