"""Count what walks at random and crashes lose of mirrored plugins. Nothing is timed; the aim is
that nothing is lost.

    python bench/plugins_safety.py [--walks 300] [--verbs 80] [--seed 0] [--no-crashes]

It runs what the tests run (`tests/fakes`), for longer. The exit code is 1 when anything was lost,
torn or left behind.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from fakes.breaking_plugins import OPERATIONS, Trial
from fakes.walking import wander
from supply_safety import MEMORY, Counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from fakes.hands import Fault

WAYS: tuple[tuple[Fault, str], ...] = (
    ("SIGKILL", "settled"),
    ("SIGKILL", "again"),
    ("SIGKILL", "twice"),
    ("ENOSPC", "settled"),
    ("EIO", "settled"),
)


def walks(say: Callable[[str], None], count: int, verbs: int, seed: int) -> Counted:
    """Walk at random, again and again; give the verbs that were done."""
    tried, broken, wrong = 0, 0, list[str]()
    for number in range(seed, seed + count):
        found = wander(number, verbs)
        tried, broken = tried + found.verbs, broken + found.broken
        wrong += ["; ".join(found.wrong)] if found.wrong else []
        if number % 50 == 49:
            say(
                f"{number - seed + 1} walks, {tried} verbs, {broken} of them broken off, "
                f"{len(wrong)} wrong"
            )
    row = tuple(map(str, (count, tried, broken, len(wrong))))
    return Counted(tried, wrong, (("walks", "verbs", "broken off", "wrong"), row))


def crashes(say: Callable[[str], None]) -> Counted:
    """Break every verb off at every step, in every way."""
    tried, wrong, rows = (
        0,
        list[str](),
        [("verb", "steps", *(f"{fault}, then {then}" for fault, then in WAYS))],
    )
    for operation in OPERATIONS:
        say(f"crashes of {operation.name}")
        with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as scratch:
            trial = Trial(Path(scratch) / "world", operation)
            tallies = [trial.tally(fault, then=then) for fault, then in WAYS]
        tried += sum(tally.tried for tally in tallies)
        wrong += [text for tally in tallies for text in tally.wrong]
        rows.append(
            (
                operation.name,
                str(trial.steps),
                *(f"{tally.tried} / {len(tally.wrong)}" for tally in tallies),
            )
        )
    return Counted(tried, wrong, tuple(rows))


def main() -> int:
    """Count, and print what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for name, usual in (("walks", 300), ("verbs", 80), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--no-crashes", dest="crashes", action="store_false")
    chosen = parser.parse_args()
    found = [
        walks(_say, chosen.walks, chosen.verbs, chosen.seed),
        *([crashes(_say)] if chosen.crashes else ()),
    ]
    for one in found:
        sys.stdout.write(
            "\n"
            + "".join("  ".join(cell.ljust(22) for cell in row).rstrip() + "\n" for row in one.rows)
        )
        sys.stdout.write("".join(f"wrong: {text}\n" for text in one.wrong))
    return 1 if any(one.wrong for one in found) else 0


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    raise SystemExit(main())
