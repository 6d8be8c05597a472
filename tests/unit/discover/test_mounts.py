"""Folders of which other machines write unheard are known by the file system they lie on."""

from __future__ import annotations

import pytest

from metier.discover.mounts import kind_of, mounts_in, unheard

TABLE = b"/dev/sda / ext4 rw 0 0\nserver:/x /mnt/team nfs4 rw 0 0\nC: /mnt/my\\040disk drvfs rw 0 0\ntmpfs /mnt/team/tmp tmpfs rw 0 0\nodd\n\xff\n"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/me/skills", "ext4"),
        ("/", "ext4"),
        ("/mnt/team", "nfs4"),
        ("/mnt/team/skills", "nfs4"),
        ("/mnt/teams", "ext4"),
        ("/mnt/team/tmp/x", "tmpfs"),
        ("/mnt/my disk/x", "drvfs"),
    ],
)
def test_a_path_lies_on_the_nearest_mount_above_it(path: str, kind: str) -> None:
    assert kind == kind_of(path, mounts_in(TABLE))


@pytest.mark.parametrize("table", [b"", b"\0\xff", b"a b\n", b"a b c\n" * 5])
def test_a_table_that_says_nothing_means_that_notices_are_heard(table: bytes) -> None:
    assert "" == kind_of("/home", mounts_in(table))
    assert "" == unheard(("/home",), {}, table)


def test_a_root_on_a_network_file_system_is_not_heard_of() -> None:
    reason = unheard(("/nowhere", "/"), {}, b"server:/x / nfs rw 0 0\n")

    assert "/ lies on nfs, where other machines may write unheard" == reason


def test_a_missing_root_is_no_reason_to_poll() -> None:
    assert "" == unheard(("/mnt/team/nothing-here",), {}, TABLE)


@pytest.mark.parametrize(("value", "reason"), [("1", "WATCHFILES_FORCE_POLLING is set"), ("", ""), ("false", ""), ("DISABLED", "")])
def test_whoever_said_that_notices_do_not_work_is_believed(value: str, reason: str) -> None:
    assert reason == unheard((), {"WATCHFILES_FORCE_POLLING": value}, b"")
