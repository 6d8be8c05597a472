"""`metier sign`: the same as `metier trust sign`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from doors.command import error_of, run

if TYPE_CHECKING:
    from conftest import Home, Writer


@pytest.fixture
def signer(home: Home, skill: Writer) -> Home:
    pytest.importorskip("cryptography")
    skill("home/.agents/skills/pdf")
    run(home.env, "trust", "keys", "new", cwd=home.path)
    return home


def test_a_signature_is_the_one_that_trust_sign_makes_and_verifies(signer: Home) -> None:
    signed = run(signer.env, "sign", "pdf", "--json", cwd=signer.path)

    known = run(signer.env, "trust", "verify", "pdf", "--json", cwd=signer.path)
    again = run(signer.env, "trust", "sign", "pdf", "--json", cwd=signer.path)
    assert (0, 0) == (signed.code, known.code)
    assert signed.json == again.json
    assert (signed.json["name"], signed.json["digest"], signed.json["key"]) == tuple(
        known.json[key] for key in ("name", "digest", "key")
    )


def test_a_signature_is_told_of_in_words_and_an_unknown_key_is_refused(signer: Home) -> None:
    signed = run(signer.env, "sign", "pdf", cwd=signer.path)
    unknown = run(signer.env, "sign", "pdf", "--key", "none", cwd=signer.path)
    several = run(signer.env, "sign", "pdf", "xlsx", cwd=signer.path)

    assert signed.out.startswith("signed pdf, sha256:")
    assert (2, "there is no private key 'none' here") == (unknown.code, error_of(unknown)[0])
    assert 2 == several.code


def test_whoever_publishes_a_skill_signs_it_where_it_lies(signer: Home, skill: Writer) -> None:
    skill("home/work/forms")

    signed = run(signer.env, "sign", "./work/forms", "--json", cwd=signer.path)
    verified = run(signer.env, "trust", "verify", "./work/forms", "--json", cwd=signer.path)
    gone = run(signer.env, "sign", "./work/nothing", cwd=signer.path)

    assert (0, "forms", 0) == (signed.code, signed.json["name"], verified.code)
    assert 1 == gone.code
