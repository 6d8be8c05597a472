"""The two filters of who is watched refuse together what the one filter of a run refuses, with the same errors."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st
from unit.run.sandbox.test_seccomp import ARCHITECTURE, interpreted

from metier.run.sandbox.seccomp import (
    ALLOW,
    ASK,
    ERRNO,
    MACHINES,
    NUMBERS,
    PAUSES,
    WATCHED_CALLS,
    asked_call,
    filter_program,
    watch_program,
)

ODD = st.sampled_from(
    [
        0,
        1,
        2,
        4,
        7,
        16,
        17,
        32,
        0o4755,
        0o20666,
        0o100,
        0x5412,
        0x10000000,
        2**32,
        2**32 - 1,
        2**64 - 1,
    ]
)
ARGUMENTS = st.tuples(*[ODD | st.integers(0, 2**64 - 1)] * 6)


def together(machine: str, number: int, arguments: tuple[int, ...]) -> int:
    """Answer as the kernel does where two filters are laid: an error comes before a question, and that before a yes."""
    first = interpreted(
        filter_program(machine, network=True, watched=True),
        number,
        ARCHITECTURE[machine],
        arguments,
    )
    second = interpreted(watch_program(machine), number, ARCHITECTURE[machine], arguments)
    return min(first, second)


@pytest.mark.parametrize("machine", MACHINES)
@settings(max_examples=300)
@given(number=st.integers(0, 470), arguments=ARGUMENTS)
def test_what_a_run_is_refused_is_refused_to_who_is_watched(
    machine: str, number: int, arguments: tuple[int, ...]
) -> None:
    alone = interpreted(
        filter_program(machine, network=True), number, ARCHITECTURE[machine], arguments
    )

    both = together(machine, number, arguments)

    name, error = asked_call(machine, number, arguments)
    if both != ASK:
        assert alone == both
    elif name in {*WATCHED_CALLS, *PAUSES}:
        assert (ALLOW, 0) == (alone, error)
    else:
        assert ERRNO | error == alone


@pytest.mark.parametrize("machine", MACHINES)
def test_only_what_is_named_goes_on_after_a_question(machine: str) -> None:
    going = {
        asked_call(machine, number, (0,) * 6)[0]
        for number in range(1000)
        if asked_call(machine, number, (0,) * 6)[1] == 0
    }

    column = MACHINES[machine][0]
    pauses = {name for name, numbers in PAUSES.items() if numbers[column] is not None}
    assert {*WATCHED_CALLS, *pauses} == going
    assert set() == going & set(NUMBERS)
