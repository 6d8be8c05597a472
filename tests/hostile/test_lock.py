"""A lock that a stranger wrote: it names nothing outside of its places, and costs no more than its size."""

from __future__ import annotations

import json

import pytest
from fakes.pins import a_pin, sha

from metier.errors import ConfigError
from metier.supply.lock import MAX_LOCK_BYTES, lock_bytes, read_lock
from metier.supply.model import Lock


def locked(**fields: object) -> bytes:
    """Give a lock with one skill that has fields as a stranger put them."""
    document = json.loads(lock_bytes(Lock((a_pin(),))))
    document["skills"][0].update(fields)
    return json.dumps(document).encode()


CLIMBING = (
    "/etc",
    "../x",
    "a/../../x",
    "a//b",
    "./a",
    "a/.",
    "a/",
    "C:/x",
    "c:x",
    "a\\..\\b",
    "a\0b",
    "a\nb",
    "a\x7fb",
    "\ud800",
    "a" * 5000,
    "..",
    ".",
    "/",
)


# HE-42: what is put in place ends with the skill's name, stays inside and is not the top.
@pytest.mark.parametrize(
    "path",
    [
        *(f"{path}/pdf" for path in CLIMBING),
        "",
        ".",
        "..",
        "/",
        "../pdf",
        "src",
        ".agents/skills",
        "pdf/..",
        "pdf/",
        "/pdf",
        "PDF",
    ],
)
def test_a_target_that_climbs_or_is_not_the_skills_own_folder_is_refused(path: str) -> None:
    data = locked(targets=[{"agent": "", "path": path, "method": "folder"}])

    with pytest.raises(ConfigError, match=r"targets .* of .pdf.") as caught:
        read_lock(data)

    assert "lock" == caught.value.code


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "a/b",
        "a\\b",
        "/a",
        "C:",
        "a\0",
        "a\n",
        "\x1b[2J",
        "a ",
        " a",
        "a.",
        ".git",
        "nul",
        "COM1.txt",
        "aux",
        "\udcff",
        "a" * 300,
        "a*",
        "\u2028",
    ],
)
def test_a_name_that_is_not_one_safe_segment_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="name of ") as caught:
        read_lock(locked(name=name, targets=[]))

    assert "lock" == caught.value.code
    assert caught.value.message.isprintable()


@pytest.mark.parametrize("path", CLIMBING)
def test_a_file_or_a_path_in_the_source_that_climbs_is_refused(path: str) -> None:
    for data in (locked(files={path: sha("x")}), locked(path=path)):
        with pytest.raises(ConfigError, match=r"(files|path) ") as caught:
            read_lock(data)
        assert "lock" == caught.value.code


def test_a_file_that_is_a_folder_too_is_refused() -> None:
    with pytest.raises(ConfigError, match="both a file and a folder"):
        read_lock(locked(files={"a": sha("1"), "a/b": sha("2")}))


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b'{"version": 1, "skills": ' + b"[" * 500 + b"]" * 500 + b"}",
        b'{"version": 1, "skills": [{"x": ' + b"[" * 900 + b"]" * 900 + b"}]}",
        b'{"version": 1e999, "skills": []}',
        b'{"version": -Infinity}',
        b"<<<<<<< " * 100_000,
        b"<<<<<<< x\n" * 100_000,
        b"\0" * 1000,
        b'"' + b"\\ud800" * 1000 + b'"',
        b" " * (MAX_LOCK_BYTES + 1),
    ],
)
def test_depth_size_and_nonsense_are_faults_and_nothing_else(data: bytes) -> None:
    with pytest.raises(ConfigError) as caught:
        read_lock(data)

    assert "lock" == caught.value.code


def test_a_fault_says_no_more_than_a_line() -> None:
    with pytest.raises(ConfigError) as caught:
        read_lock(locked(**{"x\n" * 100_000: 1}))

    assert len(caught.value.message) < 1000
    assert "\n" not in caught.value.message
