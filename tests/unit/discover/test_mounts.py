"""Folders of which other machines write unheard are known by the file system they lie on."""

from __future__ import annotations

import pytest

from metier.discover.watch_filter import kind_of, mounts_in, refused, unheard

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
    assert "" == unheard([("/home", "/home")], table)


@pytest.mark.parametrize(
    ("folders", "reason"),
    [
        (
            [("/home/me", "/home/me"), ("/mnt/team", "/mnt/team")],
            "/mnt/team lies on nfs4, where changes from other machines can't be watched",
        ),
        (
            [("/home/me/team", "/mnt/team/x")],
            "/home/me/team lies on nfs4, where changes from other machines can't be watched",
        ),
        ([("/mnt/team", "/home/me")], ""),
        ([], ""),
    ],
)
def test_a_folder_counts_by_where_it_really_lies(
    folders: list[tuple[str, str]], reason: str
) -> None:
    assert reason == unheard(folders, TABLE)


@pytest.mark.parametrize(
    ("value", "reason"),
    [("1", "WATCHFILES_FORCE_POLLING is set"), ("", ""), ("false", ""), ("DISABLED", "")],
)
def test_whoever_said_that_notices_do_not_work_is_believed(value: str, reason: str) -> None:
    assert reason == refused({"WATCHFILES_FORCE_POLLING": value})
