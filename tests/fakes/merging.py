"""Triples of files to merge, made by a seeded generator, and what git makes of them: the reference that ours is held against."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

Triple = tuple[bytes, bytes, bytes]

WORDS = (
    b"skill",
    b"use the",
    b"pdf",
    b"fill",
    b"form",
    b"# Title",
    b"- item",
    b"```",
    b"---",
    b"",
    b"    code()",
    b"}",
    b"=======",
)
STYLES = {"merge": "", "diff3": "--diff3", "ours": "--ours", "theirs": "--theirs"}


class Triples:
    """Makes triples: lines of a small alphabet, Markdown, long files, CRLF, no last line feed, empty files."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - the same examples each time

    def triple(self) -> Triple:
        line, count, edits = self._kind()
        base = [line() for _ in range(count)]
        ours, theirs = (
            self._edited(base, line, self.random.randrange(edits + 1)) for _ in range(2)
        )
        if self.random.random() < 0.05:
            theirs = self._edited(ours, line, 1)
        if self.random.random() < 0.03:
            self.random.shuffle(ours)
        ending = self.random.choice([0, 0, 0, 1, 2])
        base_data, ours_data, theirs_data = (
            self._data(lines, ending) for lines in (base, ours, theirs)
        )
        return base_data, ours_data, theirs_data

    def _kind(self) -> tuple[Callable[[], bytes], int, int]:
        pick = self.random.choice
        kind = self.random.randrange(100)
        if kind < 60:
            letters = [bytes([97 + at]) for at in range(pick([2, 3, 5, 9]))] + pick(
                [[], [b"-", b""]]
            )
            return lambda: pick(letters), pick([0, 1, 3, 8, 20, 40]), pick([1, 2, 5])
        if kind < 85:
            return (
                lambda: b" ".join(pick(WORDS) for _ in range(self.random.randrange(3))),
                pick([10, 60, 120]),
                pick([1, 3, 6]),
            )
        if kind < 99:
            return lambda: b"line %d" % self.random.randrange(60), pick([30, 200]), pick([2, 10])
        return (
            lambda: b"x%d" % self.random.randrange(2000),
            1200,
            300,
        )  # long enough for every shortcut

    def _edited(self, lines: list[bytes], line: Callable[[], bytes], times: int) -> list[bytes]:
        edited = list(lines)
        for _ in range(times):
            at, count = (
                self.random.randrange(len(edited) + 1),
                self.random.choice([1, 1, 1, 2, 3, 8]),
            )
            what = self.random.randrange(4)
            cut = edited[at : at + count]
            edited[at : at + count] = {0: cut, 1: [], 2: [line() for _ in range(count)], 3: []}[
                what
            ]
            if what in {0, 3}:
                at = self.random.randrange(len(edited) + 1)
                edited[at:at] = cut if what == 3 else [line() for _ in range(count)]
        return edited

    def _data(self, lines: list[bytes], ending: int) -> bytes:
        ending = ending if self.random.random() < 0.8 else self.random.choice([0, 1])
        endings = {0: [b"\n"], 1: [b"\r\n"], 2: [b"\n", b"\r\n"]}[ending]
        data = b"".join(line + self.random.choice(endings) for line in lines)
        return (
            data[: -self.random.choice([1, 1, 2])] if data and self.random.random() < 0.2 else data
        )


def merged_by_git(folder: Path, triples: list[Triple], styles: list[str]) -> list[bytes]:
    """Merge each triple with `git merge-file` in its style, all in one shell: a process to each would take minutes."""
    for at, triple in enumerate(triples):
        for name, data in zip(("base", "ours", "theirs"), triple, strict=True):
            (folder / f"{at}.{name}").write_bytes(data)
    lines = [
        f"git merge-file -q -p {STYLES[style]} -L ours -L base -L theirs {at}.ours {at}.base {at}.theirs > {at}.merged"
        for at, style in enumerate(styles)
    ]
    (folder / "merge.sh").write_text("\n".join([*lines, "exit 0"]), encoding="ascii")
    nobody = {
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
    }
    subprocess.run(
        ["sh", "merge.sh"], cwd=folder, env={"PATH": os.environ["PATH"], **nobody}, check=True
    )
    return [(folder / f"{at}.merged").read_bytes() for at in range(len(triples))]
