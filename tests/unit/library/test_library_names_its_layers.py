"""`sandbox_layers`: what keeps scripts in on this machine, asked of the very sandbox that would run them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes.cage import KeptSandbox

import metier

if TYPE_CHECKING:
    from conftest import Home

    from metier.library import Library


@pytest.fixture
def library(home: Home) -> Library:
    """Open a library without any skill."""
    return metier.open(roots=[], env=home.env)


@pytest.mark.parametrize("working", [True, False])
def test_the_layers_are_those_of_the_sandbox_that_a_host_has_put_there(
    library: Library, working: bool
) -> None:
    box = KeptSandbox(working=working)
    library.context.sandbox = box

    found = library.sandbox_layers()

    assert list(box.layers()) == found
    assert [("bubblewrap", working, True)] == [(one.name, one.active, one.needed) for one in found]
    assert working is not any(one.hint for one in found)


def test_to_ask_runs_no_script(library: Library) -> None:
    box = KeptSandbox()
    library.context.sandbox = box

    library.sandbox_layers()

    assert [] == box.cages


def test_the_caller_s_list_is_the_caller_s(library: Library) -> None:
    library.context.sandbox = KeptSandbox()
    library.sandbox_layers().clear()

    assert 1 == len(library.sandbox_layers())


@pytest.mark.bubblewrap
def test_without_a_host_s_own_they_are_metier_s_and_every_one_says_what_it_is_worth(
    library: Library,
) -> None:
    found = library.sandbox_layers()

    assert [
        "bubblewrap",
        "user namespace",
        "seccomp",
        "landlock",
        "rlimits",
        "cgroup",
        "watchdog",
    ] == [one.name for one in found]
    assert all(one.detail for one in found)
    assert {"bubblewrap", "user namespace", "seccomp"} <= {one.name for one in found if one.needed}
