"""The program that starts a watched one: its two kinds of machine code, and that it fails closed."""

from __future__ import annotations

import os
import struct
import subprocess
from pathlib import Path

import pytest

from metier.run.sandbox.launcher import NOT_FOUND, launcher
from metier.run.sandbox.seccomp import watch_program

MACHINES = {"x86_64": 62, "aarch64": 183}


def built(machine: str, *, socket: int = 9, command: tuple[bytes, ...] = (b"true",)) -> bytes:
    return launcher(
        machine, watch_program(machine), socket, command, [b"A=1"], [b"/usr/bin", b"/bin"]
    )


@pytest.mark.parametrize("machine", MACHINES)
def test_no_part_of_it_can_be_written_to_and_run(machine: str) -> None:
    data = built(machine)

    flags = [struct.unpack_from("<I", data, 64 + 56 * part + 4)[0] for part in range(3)]
    kind, entry = struct.unpack_from("<H", data, 18)[0], struct.unpack_from("<Q", data, 24)[0]
    assert (MACHINES[machine], [5, 6, 6]) == (kind, flags)
    assert 0x400000 < entry < 0x400000 + len(data)


@pytest.mark.parametrize("machine", MACHINES)
def test_what_lies_in_memory_lies_at_the_same_place_of_a_page_as_in_the_file(machine: str) -> None:
    data = built(machine)

    for part in range(2):
        _kind, _flags, place, address = struct.unpack_from("<IIQQ", data, 64 + 56 * part)
        assert place % 0x10000 == address % 0x10000


@pytest.mark.parametrize("machine", MACHINES)
def test_a_name_is_looked_for_in_every_folder_and_a_path_is_not(machine: str) -> None:
    assert [b"/usr/bin/true\0" in built(machine), b"/bin/true\0" in built(machine)] == [True, True]
    assert b"/usr/bin//opt/x" not in built(machine, command=(b"/opt/x",))


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="it runs where it was written for")
def test_where_the_descriptor_cannot_be_handed_out_nothing_is_started(tmp_path: Path) -> None:
    made, shown = tmp_path / "launcher", tmp_path / "ran"
    made.write_bytes(built("x86_64", socket=999, command=(b"touch", os.fsencode(shown))))
    made.chmod(0o755)

    # Without privileges a filter may only be laid by who can gain none.
    done = subprocess.run(["setpriv", "--no-new-privs", str(made)], check=False)

    assert (NOT_FOUND, False) == (done.returncode, shown.exists())
