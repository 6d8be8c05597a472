"""Who holds a lock is told by program and command, and by nothing else that was on its command line."""

from __future__ import annotations

import pytest

from metier.store.lock_holder import LockHolder, command_of, describe, read, write

HOLDER = LockHolder(4711, "metier update", 1_700_000_000.5, "here")


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["/usr/bin/metier", "update", "--yes"], "metier update"),
        (["/lib/metier/__main__.py", "add", "https://token@example.com/a", "--all"], "metier add"),
        (
            ["metier", "-C", "/secret", "--json", "--root", "/secret", "plugin", "sync", "secret"],
            "metier plugin sync",
        ),
        (["metier", "secrets", "set", "TOKEN"], "metier secrets set"),
        (["metier", "review", "plugin-update:a:b:c"], "metier review"),
        (["metier", "Secret"], "metier"),
        (["metier", "--token=secret"], "metier"),
        (["C:\\bin\\metier.exe", "remove", "pdf"], "metier remove"),
        (["metier"], "metier"),
        (["/srv/host.py", "secret"], "host.py"),
        (["/srv/other/__main__.py", "update"], "__main__.py"),
        (["-c", "secret"], "python"),
        ([""], "python"),
        ([], "python"),
        (["a\nb\x1b[0m" + "c" * 1_000], "a?b?[0m" + "c" * 53),
    ],
)
def test_only_the_program_and_its_command_are_told(words: list[str], command: str) -> None:
    told = command_of(words)

    assert command == told


def test_what_is_written_down_is_read_again() -> None:
    found = read(write(HOLDER))

    assert HOLDER == found


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b"4711",
        b"null",
        b"[1,2,3]",
        b"\xff\xfe",
        b"[" * 1_000,
        b"[" * 100_000,
        b'["4711","a",0,"h"]',
        b'[0,"a",0,"h"]',
        b'[true,"a",0,"h"]',
        b'[-5,"a",0,"h"]',
        b'[4711,"a",1e999,"h"]',
        b'[4711,"a",NaN,"h"]',
        b'[4711,"a","x","h"]',
        b'[4711,"a",null,"h"]',
        b"[1" + b"0" * 400 + b',"a",0,"h"]',
        b'[4711,"a",1' + b"0" * 400 + b',"h"]',
        b'[4711,"a",1,"h",5]',
    ],
)
def test_what_nobody_wrote_is_nobody(data: bytes) -> None:
    found = read(data)

    assert None is found


def test_what_others_wrote_is_told_in_plain_letters() -> None:
    found = read(b'[4711, "metier\\u001b[31m\\nupdate\\ud800", 5, "h\\u0007"]')

    assert LockHolder(4711, "metier?[31m?update?", 5.0, "h?") == found


@pytest.mark.parametrize(
    ("holder", "here", "words"),
    [
        (HOLDER, "here", "metier update (process 4711, since 22:41:07)"),
        (HOLDER, "there", "metier update (process 4711 on here, since 22:41:07)"),
        (HOLDER._replace(host=""), "there", "metier update (process 4711, since 22:41:07)"),
        (HOLDER._replace(command=""), "here", "a program (process 4711, since 22:41:07)"),
    ],
)
def test_a_holder_is_named_to_people(holder: LockHolder, here: str, words: str) -> None:
    told = describe(holder, "22:41:07", here)

    assert words == told
