"""Keeps the copies of other servers' skills current while a server runs, each in a thread of its own:
one that hangs holds up nobody.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from metier.errors import MetierError
from metier.standard.names import one_line

if TYPE_CHECKING:
    from metier.library import Library
    from metier.supply.join import UpstreamLook

PARTING_SECONDS = 0.2
"""How long a thread is waited for when the server ends; one that waits for its upstream is left."""
_LOG = logging.getLogger("metier.mcp")


class UpstreamThreads:
    """Looks at every joined server, now and then."""

    def __init__(self, library: Library) -> None:
        """Look at nobody yet."""
        self.library = library
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._said: dict[str, object] = {}

    def start(self) -> None:
        """Begin, where any server is joined."""
        self._stop.clear()
        for name in self.library.context.joined or ():
            thread = threading.Thread(
                target=self._keep, args=(name,), name=f"metier-upstream-{name}", daemon=True
            )
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """End; what hangs is left to its own limit of time."""
        self._stop.set()
        for thread in self._threads:
            thread.join(PARTING_SECONDS)
        self._threads.clear()

    def _keep(self, name: str) -> None:
        while not self._stop.is_set():
            self.look(name)
            self._stop.wait(self.library.context.settings.mcp.refresh_seconds)

    def look(self, name: str) -> None:
        """Look at one server; whatever is wrong with it is said once."""
        try:
            self._tell(self.library.refresh_upstream(name, self._stop.is_set))
        except (MetierError, OSError) as error:
            self._warn(name, str(error))
        except Exception as error:  # noqa: BLE001 - nobody is there to catch it, and the next look may do
            self._warn(name, type(error).__name__)

    def _tell(self, look: UpstreamLook) -> None:
        faults = [look.trouble] if look.trouble else []
        faults += [f"{name} is left out: {why}" for name, why in look.refused[:5]]
        self._warn(look.name, "; ".join(faults))
        if look.changed:
            changed = ", ".join(f"{look.name}:{name}" for name in look.changed[:5])
            _LOG.warning(
                "changed upstream: %s. What you haven't approved isn't served", one_line(changed)
            )

    def _warn(self, name: str, text: str) -> None:
        if self._said.get(name, "") != text:
            self._said[name] = text
            if text:
                _LOG.warning("upstream %s: %s", name, one_line(text))
