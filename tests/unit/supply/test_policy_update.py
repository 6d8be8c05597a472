"""A policy that is fetched: verified before it counts, kept for when nobody answers, never older."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from fakes.site import Says, Site

import metier
from metier import context as contexts
from metier.errors import MetierError
from metier.trust import sign
from metier.trust.io import policy_file

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home


def policy(serial: int, allow: str) -> bytes:
    return f'version = 1\nserial = {serial}\n[sources]\nallow = ["{allow}"]\n'.encode()


@pytest.mark.loopback
def test_what_verifies_counts_and_what_does_not_leaves_the_last_good_one(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cryptography")
    pair, other = sign.make_key_pair(b"1" * 32), sign.make_key_pair(b"2" * 32)
    etc = tmp_path / "etc"
    etc.mkdir(mode=0o755)
    file = etc / "policy.toml"
    monkeypatch.setattr(contexts, "POLICY_FILE", str(file))
    monkeypatch.setattr(policy_file, "OWNER", os.getuid())

    def serve(data: bytes, by: sign.KeyPair = pair) -> None:
        signature = sign.sign_detached(sign.POLICY_TYPE, data, by.private)
        site.pages |= {"/p.toml": data, "/p.toml.sig": signature}

    def state() -> tuple[str, str]:
        with metier.open(env=home.env) as m:
            return (
                m.explain_policy("https://github.com/a/b").decision,
                m.explain_policy("https://github.com/c/d").decision,
            )

    def update() -> str:
        with metier.open(env=home.env) as m:
            try:
                return str(m.update_policy().serial)
            except MetierError as error:
                return error.code

    with Site() as site:
        key = pair.public.decode().replace("\n", "\\n")
        file.write_text(
            f'version = 1\n[remote]\nurl = "{site.url}/p.toml"\nkey = "{key}"\nserial = 2\n'
        )
        file.chmod(0o644)
        before = state()
        serve(policy(2, "a/*"))
        first = update(), state()
        refused = []
        for data, by in (
            (policy(3, "**"), other),  # another key
            (policy(1, "**"), pair),  # below what the machine asks for
            (b"version = 1\nserial = 9\nzzz = 1\n", pair),
            (b'version = 1\nserial = 9\n[remote]\nurl = "https://x"\nkey = "k"\n', pair),
        ):
            serve(data, by)
            refused.append((update(), state()))
        site.pages["/p.toml"] = Says(b"", 500)
        silent = update(), state()
        serve(policy(4, "c/*"))
        newer = update(), state()
        serve(policy(3, "**"))
        older = update(), state()
    kept = tmp_path / "metier-home" / "policy" / "fetched.json"
    kept.write_bytes(kept.read_bytes()[:-40])
    damaged = state()

    assert ("block", "block") == before  # nothing was fetched yet
    assert ("2", ("allow", "block")) == first
    assert [("policy-damaged", ("allow", "block"))] * 4 == refused
    assert ("unreachable", ("allow", "block")) == silent
    assert ("4", ("block", "allow")) == newer
    assert ("policy-damaged", ("block", "allow")) == older
    assert ("block", "block") == damaged


def test_a_folder_that_nobody_can_look_into_is_damage_and_not_the_lack_of_a_policy(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    etc = tmp_path / "etc"
    for name in ("FILE", "KEY"):
        path = etc / f"policy.{'toml' if name == 'FILE' else 'pub'}"
        monkeypatch.setattr(contexts, f"POLICY_{name}", str(path))
    found = []
    for what in ("nothing", "folder", "file", "link"):
        if what == "folder":
            etc.mkdir()
        elif what == "file":
            etc.touch()
        elif what == "link":
            etc.symlink_to("nowhere")
        with metier.open(env=home.env) as m:
            found.append(bool(m.context.trust_policy.damage))
        if etc.is_dir():
            etc.rmdir()
        etc.unlink(missing_ok=True)

    assert [False, False, True, True] == found
