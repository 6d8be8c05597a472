"""Kill a hub at every step of every operation, where the tests try a few of them.

    python bench/hub_crashes.py [--only NAME]

Each step is tried in a process of its own, on a copy of a hub in memory. The exit code is 1 if anything
was lost, left behind, or answered otherwise than without the crash.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent.parent / "tests")]

from fakes.breaking_hub import OPERATIONS, furnish  # noqa: E402 - the tests lie there
from scenario import test_hub_crashes as walk  # noqa: E402


def main() -> int:
    """Walk."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    only = parser.parse_args().only
    wrong = []
    for operation in OPERATIONS:
        if only and only != operation.name:
            continue
        with tempfile.TemporaryDirectory(dir="/dev/shm") as made:
            template, home = Path(made, "template"), Path(made, "hub")
            with walk.reopen(template) as hub:
                token = furnish(hub)
            steps, expected = walk.whole(template, home, operation, token)
            found = [
                f"{operation.name}, step {at}: {why}"
                for at in range(1, steps + 1)
                for why in walk.killed(template, home, operation, token, at, expected)
            ]
        print(f"{operation.name}: {steps} steps, {len(found)} wrong", flush=True)
        wrong += found
    print("\n".join(one[:600] for one in wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
