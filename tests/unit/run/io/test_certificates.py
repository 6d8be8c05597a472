"""The authority of the stand-in network: by the library and by the command, strict readers are content with it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from metier.run.io.certificates import Authority

NEEDS = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not here")


@NEEDS
@pytest.mark.parametrize("library", [True, False])
@pytest.mark.parametrize("name", ["a.example", "203.0.113.7", "2001:db8::1"])
def test_a_certificate_holds_for_its_name(tmp_path: Path, name: str, library: bool) -> None:
    authority = Authority(library=library)
    (tmp_path / "authority").write_bytes(authority.pem)
    (tmp_path / "leaf").write_bytes(authority.issue(name))
    option = "-verify_ip" if name[0].isdigit() else "-verify_hostname"

    done = subprocess.run(
        ["openssl", "verify", "-x509_strict", option, name, "-CAfile", "authority", "leaf"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )

    assert (0, b"leaf: OK\n") == (done.returncode, done.stdout)


@pytest.mark.parametrize("name", ["", "a b", "x\n[evil]", "a" * 300, "-a", "é.example", "a,DNS:b"])
def test_a_name_that_nobody_can_have_gets_none(name: str) -> None:
    assert b"" == Authority().issue(name)


def test_it_is_the_same_one_the_second_time() -> None:
    authority = Authority()

    assert authority.issue("a.example") == authority.issue("a.example") != b""
