"""What holds for every lock: it is read back as written, equal locks are equal bytes, and healing invents nothing."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from fakes.pins import LOCKS, a_pin
from hypothesis import given, settings, strategies as st

from metier.errors import ConfigError
from metier.supply.lock import lock_bytes, read_lock
from metier.supply.model import Lock, Pin


@given(LOCKS)
def test_a_lock_is_read_back_as_it_was_written(lock: Lock) -> None:
    data = lock_bytes(lock)

    assert lock == read_lock(data)
    assert data.isascii()
    assert data.endswith(b"\n")


@given(LOCKS)
def test_equal_locks_are_equal_bytes(lock: Lock) -> None:
    turned = tuple(pin._replace(files=pin.files[::-1]) for pin in lock.pins[::-1])

    assert lock_bytes(lock) == lock_bytes(Lock(turned))


@given(LOCKS, LOCKS)
def test_different_locks_are_different_bytes(one: Lock, other: Lock) -> None:
    assert (one == other) == (lock_bytes(one) == lock_bytes(other))


SMALL = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 2), max_size=4)


def lock_of(found: dict[str, int]) -> Lock:
    return Lock(tuple(a_pin(name, of=f"{name}{number}") for name, number in sorted(found.items())))


def apart(base: Lock, ours: Lock, theirs: Lock) -> dict[str, set[Pin | None]]:
    """Give what each name may be after a merge: one thing where at most one side changed it, else what either made of it."""
    names = {pin.name for lock in (base, ours, theirs) for pin in lock.pins}
    sides = {name: (base.named(name), ours.named(name), theirs.named(name)) for name in names}
    return {
        name: {one, other} - ({before} if one != other else set())
        for name, (before, one, other) in sides.items()
    }


@settings(max_examples=60)
@given(SMALL, SMALL, SMALL, st.sampled_from(["-q", "--diff3", "--zdiff3"]))
def test_healing_a_real_merge_gives_what_one_side_wants_or_says_why_not(
    before: dict[str, int], mine: dict[str, int], yours: dict[str, int], style: str
) -> None:
    base, ours, theirs = lock_of(before), lock_of(mine), lock_of(yours)
    with tempfile.TemporaryDirectory() as folder:
        for name, lock in (("ours", ours), ("base", base), ("theirs", theirs)):
            Path(folder, name).write_bytes(lock_bytes(lock))
        data = subprocess.run(
            ["git", "merge-file", "-p", style, "ours", "base", "theirs"],
            cwd=folder,
            capture_output=True,
            check=False,
        ).stdout

    try:
        found = read_lock(data)
    except ConfigError as error:
        assert error.code in {"lock", "lock-conflict"}  # noqa: PT017 - git may have mixed up lines so that nothing can be read
        return

    known = apart(base, ours, theirs)
    assert all(pin in known.get(pin.name, set()) | {base.named(pin.name)} for pin in found.pins)
    clear = {name: next(iter(wanted)) for name, wanted in known.items() if len(wanted) == 1}
    # What somebody removed may still be there, where git did not show enough of the ancestor; what somebody wants always is.
    assert all(wanted == found.named(name) for name, wanted in clear.items() if wanted is not None)


LINES = ["<<<<<<< a", "=======", "||||||| b", ">>>>>>> c", *lock_bytes(Lock()).decode().split("\n")]


@given(
    st.binary(max_size=200)
    | st.lists(st.sampled_from(LINES), max_size=20).map(lambda lines: "\n".join(lines).encode())
)
def test_any_bytes_are_a_lock_or_a_fault_of_the_configuration(data: bytes) -> None:
    try:
        found = read_lock(data)
    except ConfigError as error:
        assert error.code in {"lock", "lock-version", "lock-conflict"}  # noqa: PT017 - it is a lock, or this
    else:
        assert lock_bytes(found) == lock_bytes(read_lock(lock_bytes(found)))
