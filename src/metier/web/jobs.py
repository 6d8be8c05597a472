"""Work that takes longer than a page: a fetch, an update, a run. It goes on in a thread of its own;
the page of the work shows what came so far.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from metier.audit.redact import redact_text
from metier.errors import MetierError, RefusedError
from metier.web.visible import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.library import Library
    from metier.web.site import Site

MAX_KEPT_JOBS = 100
MAX_RUNNING_JOBS = 8
MAX_OUTPUT_CHARS = 1_000_000


class Job:
    """One piece of work."""

    def __init__(self, ident: str, title: str, back: str, kind: str) -> None:
        """Begin with nothing said."""
        self.title = plain(redact_text(title))
        """Without a password that somebody wrote into an address."""
        self.ident, self.back, self.kind = ident, back, kind
        """`back` is where a person goes on from here; `kind` names the template of its result."""
        self.began = time.time()
        self.took = 0.0
        self.output = ""
        self.step = ""
        """What is being done, and how far it is."""
        self.result: Any = None
        self.error: MetierError | None = None
        self.done = False
        self.stopping = threading.Event()

    def say(self, text: str) -> None:
        """Add to what the page shows; what is too long loses its middle."""
        if len(self.output) < MAX_OUTPUT_CHARS:
            self.output += text[: MAX_OUTPUT_CHARS - len(self.output)]

    def progress(self, what: str, count: int, total: int) -> None:
        """Say how far it is."""
        self.step = f"{what} {count:,} of {total:,}" if total else f"{what} {count:,}"


class Jobs:
    """All work there is and was."""

    def __init__(self, site: Site) -> None:
        """Begin with none."""
        self.site = site
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._alone = threading.Lock()

    def start(self, title: str, back: str, kind: str, work: Callable[[Library, Job], Any]) -> Job:
        """Begin work in a library of its own."""
        job = Job(secrets.token_urlsafe(9), title, back, kind)
        with self._alone:
            if sum(not one.done for one in self._jobs.values()) >= MAX_RUNNING_JOBS:
                raise RefusedError(
                    f"{MAX_RUNNING_JOBS} things are being done already",
                    code="web-busy",
                    hint="wait until one of them ends",
                )
            self._jobs[job.ident] = job
            for ident in [key for key, one in self._jobs.items() if one.done][:-MAX_KEPT_JOBS]:
                del self._jobs[ident]
        threading.Thread(
            target=self._work, args=(job, work), name="metier-job", daemon=True
        ).start()
        return job

    def get(self, ident: str) -> Job | None:
        """Give work by its name."""
        return self._jobs.get(ident)

    def end(self) -> None:
        """Ask all work to stop."""
        for job in self._jobs.values():
            job.stopping.set()

    def _work(self, job: Job, work: Callable[[Library, Job], Any]) -> None:
        def act(m: Library) -> Any:
            m.context.progress = job.progress
            return work(m, job)

        try:
            job.result = self.site.change(act)
        except MetierError as error:
            job.error = error
        except Exception as error:  # noqa: BLE001 - nobody else is there to catch it
            job.error = MetierError(
                redact_text(f"this failed: {type(error).__name__}: {error}"),
                hint="see: metier doctor",
            )
        finally:
            job.took = time.time() - job.began
            job.done = True
            self.site.tell("job")
