"""A kept signature proves something about the bytes and the name that were signed, and about nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import metier
from metier.errors import IntegrityError
from metier.model import Digest
from metier.trust import sign
from metier.trust.assess import signed
from metier.trust.io import key_files

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home, Writer

ONE, OTHER = Digest("sha256:" + "ab" * 32), Digest("sha256:" + "cd" * 32)


@pytest.mark.parametrize(
    ("name", "digest", "proves"),
    [("pdf", ONE, True), ("ocr", ONE, False), ("pdf", OTHER, False), ("PDF", ONE, False)],
)
def test_what_lies_under_a_digest_counts_only_when_it_was_signed_for_that_name_and_those_bytes(
    home: Home, name: str, digest: Digest, proves: bool
) -> None:
    with metier.open(env=home.env, roots=[]) as library:
        key, _file = sign.new_key(library.context)
        private = key_files.read_key(library.context.data, key, "key")
        assert private is not None
        key_files.write_signature(
            library.context.data, library.context.home, ONE, sign.sign_digest(name, digest, private)
        )

        found = signed(library.context, "pdf", ONE)

    assert (key if proves else None) == (found.key if found is not None else None)


@pytest.mark.parametrize("what", ["name", "bytes"])
def test_a_signature_in_a_file_for_another_name_or_other_bytes_is_not_taken(
    home: Home, tmp_path: Path, skill: Writer, what: str
) -> None:
    skill("skills/pdf")
    file = tmp_path / "pdf.sig"
    with metier.open(env=home.env, cwd=tmp_path, roots=[str(tmp_path / "skills")]) as library:
        key, _file = sign.new_key(library.context)
        private, digest = (
            key_files.read_key(library.context.data, key, "key"),
            library.context.machine.digest(library.resolve("pdf").path),
        )
        assert private is not None
        assert digest is not None
        file.write_bytes(
            sign.sign_digest(
                "pdf" if what == "bytes" else "ocr", OTHER if what == "bytes" else digest, private
            )
        )

        with pytest.raises(IntegrityError, match="the signature is for"):
            sign.verify_skill(library.context, "pdf", str(file))

        assert None is key_files.read_signature(library.context.data, digest)
