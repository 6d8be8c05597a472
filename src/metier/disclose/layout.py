"""How room is shared out: numbers in, numbers out (CX-53). Pure.

`shares` gives exactly what handing out one character at a time, round after round, would give. It looks at each length once:
how much a whole round costs follows from how many descriptions are still that long, so all rounds that everybody can take
part in are one running sum. Only the last, incomplete round is walked.
"""

from __future__ import annotations

from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


def shares(costs: Sequence[int | Sequence[int]], first: int, room: int) -> tuple[list[int], int]:
    """Say how many characters of each description fit into the room, in bytes, when all get their turn, and what is left of it.

    For each description `costs` holds the bytes of every character, or their number when each is one byte; `first` is what
    the first character of any costs beside itself.
    """
    lengths = [cost if isinstance(cost, int) else len(cost) for cost in costs]
    level, room = _level(costs, lengths, first, room)
    shown = [min(length, level) for length in lengths]
    waiting = [at for at, length in enumerate(lengths) if length > level]
    while waiting and room > 0:
        again = []
        for at in waiting:
            cost, done = costs[at], shown[at]
            price = (1 if isinstance(cost, int) else cost[done]) + (0 if done else first)
            if price <= room:  # what does not fit now never will: the room only shrinks
                room -= price
                shown[at] = done + 1
                if done + 1 < lengths[at]:
                    again.append(at)
        waiting = again
    return shown, room


def _level(costs: Sequence[int | Sequence[int]], lengths: Sequence[int], first: int, room: int) -> tuple[int, int]:
    """Count the rounds that everybody can take part in; give them and the room that is left."""
    longest = max(lengths, default=0)
    rounds, ends = [0] * (longest + 2), [0] * (longest + 2)
    for cost in costs:
        if isinstance(cost, int):
            ends[cost] += 1
        else:
            for at, price in enumerate(cost, 1):
                rounds[at] += price
    still = sum(isinstance(cost, int) for cost in costs)
    if longest:
        rounds[1] += first * sum(length > 0 for length in lengths)
    for level in range(longest):
        still -= ends[level]
        price = rounds[level + 1] + still
        if price > room:
            return level, room
        room -= price
    return longest, room


def fitting(
    least: Sequence[int], price: Callable[[int], int], room: int, order: Iterable[int], owners: Sequence[str], fees: dict[str, int]
) -> tuple[list[int], int]:
    """Take in order whatever still fits, a later shorter one after an earlier longer one too; give the room that is left.

    `price` is asked only where `least`, which is never above it, would fit. `fees` holds what the first of each owner costs on top.
    """
    taken: list[int] = []
    for at in order:
        if least[at] <= room:
            cost = price(at) + (fees.get(owners[at], 0) if fees else 0)
            if cost <= room:
                room -= cost
                taken.append(at)
                if fees:
                    fees.pop(owners[at], None)
    return taken, room
