"""Sends what takes long over a large library into a process of its own: pages do not wait for it, and
what it needed of memory is gone when it ends.

The other process opens the same library, and answers with a value. Where it cannot be started, or the
library is small or has what only this process knows, the work is done here.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.errors import MetierError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from metier.library import Library

MIN_SKILLS = 2_000
"""From how many on it pays: another process takes a third of a second to begin."""
NICENESS = 5
"""So much the other process stands back for whoever is asked for a page."""
CHILD = "from metier.web.errand import main; main()"


class Errand(NamedTuple):
    """What another process has to know."""

    cwd: str
    agent: str
    roots: tuple[str, ...] | None
    find_out: Callable[[Library], Any]


class Errands:
    """Those that are under way."""

    def __init__(self) -> None:
        """Send nobody yet."""
        self._sent: set[subprocess.Popen[bytes]] = set()
        self._alone = threading.Lock()
        self._ended = False

    def find_out(self, library: Library, find_out: Callable[[Library], Any]) -> Any:
        """Find something out: elsewhere where that pays, else here."""
        words = _words_for(library, find_out)
        answer = self._send(words, library.context.env) if words is not None else None
        if answer is not None:
            found, error = pickle.loads(answer)  # noqa: S301 - of a process of our own, by its pipe
            if error is not None:
                raise error
            return found
        if self._ended:
            raise RuntimeError("the page is ending")
        with library.open_again() as m:
            return find_out(m)

    @property
    def under_way(self) -> int:
        """How many other processes are at work."""
        return len(self._sent)

    def end(self) -> None:
        """Wait for none of them."""
        with self._alone:
            self._ended = True
            for one in self._sent:
                one.kill()

    def _send(self, words: bytes, env: Mapping[str, str]) -> bytes | None:
        """Give what the other process answers; nothing where it could not."""
        with self._alone:
            if self._ended:
                return None
            try:
                # Not from the folder it is about: what lies there must not be taken for our modules.
                child = subprocess.Popen(  # noqa: S603 - this Python, with a constant
                    [sys.executable, "-P", "-c", CHILD],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env=env,
                    cwd=os.path.abspath(os.sep),
                )
            except OSError:
                return None
            self._sent.add(child)
        try:
            assert child.stdin is not None
            assert child.stdout is not None
            with suppress(OSError):  # it ended before it heard
                child.stdin.write(len(words).to_bytes(8) + words)
                child.stdin.flush()
            answer = child.stdout.read()  # its input stays open: where that ends, it ends
        finally:
            with self._alone:
                self._sent.discard(child)
            with suppress(OSError):
                child.stdin.close()  # type: ignore[union-attr]  # it is a pipe
            child.stdout.close()  # type: ignore[union-attr]  # as above
            code = child.wait()
        return answer if code == 0 else None


def _words_for(library: Library, find_out: Callable[[Library], Any]) -> bytes | None:
    """Put an errand into words; nothing where the library is small, or is not the same elsewhere."""
    context = library.context
    if len(context.catalogue.contents().cards) < MIN_SKILLS:
        return None
    if context.rules or context.analyzers or context.added_policies or context.registered:
        return None
    if context.upstreams or context.joined is not None:
        return None
    agent = context.agent.id if context.agent is not None else ""
    roots = None if context.given is None else tuple(one.location for one in context.given)
    try:
        return pickle.dumps(Errand(context.cwd, agent, roots, find_out))
    except (pickle.PicklingError, AttributeError, TypeError):  # it knows something by heart
        return None


def main() -> None:
    """Do one errand: the words come by standard input, and the answer goes to standard output."""
    source, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever prints meanwhile
    with suppress(OSError, AttributeError):
        os.nice(NICENESS)
    words = source.read(int.from_bytes(source.read(8)))
    threading.Thread(target=_end_with, args=(source,), daemon=True).start()
    errand: Errand = pickle.loads(words)  # noqa: S301 - of the page that started this process
    found: Any = None
    fault: Exception | None = None
    try:
        found = do(errand)
    except (MetierError, OSError) as error:
        fault = error
    answers.write(pickle.dumps((found, fault)))
    answers.flush()
    os._exit(0)  # nothing is left to do, and taking a large library apart takes time


def do(errand: Errand) -> Any:
    """Open the same library, and find out."""
    from metier.library import open_library

    with open_library(roots=errand.roots, agent=errand.agent or None, cwd=errand.cwd) as m:
        m.context.door = "web"
        return errand.find_out(m)


def _end_with(source: Any) -> None:
    """End with the page."""
    source.read()
    os._exit(1)
