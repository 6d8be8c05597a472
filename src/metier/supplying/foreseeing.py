"""Many trees judged at once: each core judges a share of them in a copy of this process and sends its verdicts back.

Scanning is most of what getting many skills in costs, and it is the interpreter's work, so threads would only take turns. What a
copy does not tell is judged later, one by one, as if nobody had asked before.
"""

from __future__ import annotations

import marshal
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from metier.catalogue import verdicts
from metier.catalogue.verdicts import Judged, Target
from metier.discover import disk
from metier.discover.proc import apart, cores
from metier.scanning import read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.judging import Judge

ENOUGH = 16
"""Fewer trees than this are judged before a copy has begun."""
MOST = 16
"""More copies than this only wait for the disk."""


class Waiting(NamedTuple):
    """A tree that will be judged, and the digest that its files have."""

    folder: str
    name: str
    digest: str


def foresee(judge: Judge, trees: Sequence[Waiting]) -> None:
    """Have the verdicts on trees ready before each is asked for."""
    unknown = list({one.digest: one for one in trees if judge.known_by(one.digest, one.name) is None}.values())
    count = min(cores(), MOST, len(unknown) // (ENOUGH // 2))
    if not judge.remembers or len(unknown) < ENOUGH or count < 2:
        return
    import metier.scan.engine  # noqa: F401 - once here, instead of once in every copy

    shares = [unknown[number::count] for number in range(count)]
    with ExitStack() as running:
        answers = [running.enter_context(one) for share in shares[1:] if (one := apart(partial(_judged, judge, share)))]
        if answers:
            _heard(judge, _judged(judge, shares[0]))
        for answer in answers:
            _heard(judge, answer.result())


def _judged(judge: Judge, share: Sequence[Waiting]) -> bytes:
    """Judge trees, and give the verdicts as the book of verdicts has them."""
    found = []
    for folder, name, expected in share:
        target = Target(folder, name, folder)
        tree, digest = read(target, disk.grown(folder, ""))
        if digest == expected:
            verdict = judge.scanner.verdict(tree, digest)
            one = Judged(folder, name, digest, verdict.level, verdict.score, verdict.findings)
            found.append((digest, verdicts.encode(one)))
    return marshal.dumps(found)


def _heard(judge: Judge, told: bytes | None) -> None:
    for digest, data in marshal.loads(told) if told else ():  # noqa: S302 - a copy of this very process wrote it
        judge.scanner.hear(digest, data)
