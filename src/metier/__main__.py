"""`python -m metier`, and the `metier` command."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line and end with its exit code."""
    from metier.fast import collect_rarely

    collect_rarely()
    from metier.cli.main import main as run

    code = run()
    sys.stderr.flush()
    # Everything is written. Leaving at once spares taking tens of thousands of values apart one by
    # one.
    os._exit(code)


if __name__ == "__main__":
    main()
