"""The last look at a code skill: only the very bytes that were decided on are compiled (CO-10)."""

from __future__ import annotations

import hashlib

import pytest

from metier.run.admit import CodeRefusal, Gated, gate
from metier.standard.digest import TreeFile, tree_digest

CODE = b"def run(task):\n    return task\n"


def digest_of(data: bytes, *, executable: bool = False) -> object:
    """Give the digest of a skill that is one file."""
    return tree_digest([TreeFile("x.py", len(data), hashlib.sha256(data).digest(), executable)])


@pytest.mark.parametrize("executable", [False, True])
def test_bytes_that_were_decided_on_pass(executable: bool) -> None:  # CO-10
    passed = gate("x.py", CODE, digest_of(CODE, executable=executable))  # type: ignore[arg-type]

    assert isinstance(passed, Gated)
    assert ("x", CODE, hashlib.sha256(CODE).hexdigest()) == (
        passed.stem,
        passed.data,
        passed.sha256,
    )


REFUSED = [
    (b"\xff" + CODE, "it is not UTF-8: byte 0"),
    (b"def run(:\n", "code skill does not parse: invalid syntax"),
    (b"x = 1\n", "it has no top-level run"),
    (b"SKILL_NAME = 'x'\n", "code skill has no top-level run"),
    (
        b"# coding: latin-1\n" + CODE,
        "code skill does not parse: declares the encoding latin-1, only UTF-8 is read",
    ),
    (CODE + b"#" * 1024 * 1024, "it is larger than 1024 KiB"),
]


@pytest.mark.parametrize(("data", "reason"), REFUSED)
def test_what_is_no_code_skill_is_refused_with_its_hash(data: bytes, reason: str) -> None:  # CO-10
    refused = gate("x.py", data, digest_of(data))  # type: ignore[arg-type]

    assert CodeRefusal(reason, hashlib.sha256(data).hexdigest()) == refused


@pytest.mark.parametrize("digest", [None, digest_of(b"other"), "sha256:0"])
def test_bytes_that_nobody_decided_on_are_refused(digest: object) -> None:  # CO-10
    refused = gate("x.py", CODE, digest)  # type: ignore[arg-type]

    assert isinstance(refused, CodeRefusal)
    assert refused.reason.startswith("it is not what was decided on")
