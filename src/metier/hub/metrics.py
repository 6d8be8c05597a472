"""Counts what the hub is asked, and writes it as Prometheus reads it."""

from __future__ import annotations

import threading
from bisect import bisect_left

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Seconds up to which answers are counted together."""


class HubMetrics:
    """The counts of one process."""

    def __init__(self) -> None:
        """Count from nothing."""
        self._guard = threading.Lock()
        self._answers: dict[tuple[str, int], int] = {}
        self._slots = [0] * (len(BOUNDS) + 1)
        self._seconds = 0.0

    def count(self, method: str, status: int, seconds: float) -> None:
        """Count one answer."""
        with self._guard:
            key = method if method.isalpha() and len(method) < 8 else "OTHER", status
            self._answers[key] = self._answers.get(key, 0) + 1
            self._slots[bisect_left(BOUNDS, seconds)] += 1
            self._seconds += seconds

    def text(self, pending: int) -> str:
        """Write everything; `pending` is how many releases wait for a reviewer."""
        with self._guard:
            lines = [
                "# HELP metier_hub_requests_total Answers of the hub.",
                "# TYPE metier_hub_requests_total counter",
                *(
                    f'metier_hub_requests_total{{method="{method}",status="{status}"}} {count}'
                    for (method, status), count in sorted(self._answers.items())
                ),
                "# HELP metier_hub_request_seconds How long answers took.",
                "# TYPE metier_hub_request_seconds histogram",
            ]
            total = 0
            for bound, count in zip((*BOUNDS, "+Inf"), self._slots, strict=True):
                total += count
                lines.append(f'metier_hub_request_seconds_bucket{{le="{bound}"}} {total}')
            lines += [
                f"metier_hub_request_seconds_sum {self._seconds:.6f}",
                f"metier_hub_request_seconds_count {total}",
                "# HELP metier_hub_pending_releases Releases that wait for a reviewer.",
                "# TYPE metier_hub_pending_releases gauge",
                f"metier_hub_pending_releases {pending}",
            ]
        return "\n".join(lines) + "\n"
