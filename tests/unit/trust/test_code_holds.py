"""Code is let through only as the very bytes that were judged, and only where everything about them is settled."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from fakes.codeskills import RUN, library_of

import metier
from metier.discover import skill_files
from metier.trust import code_gate
from metier.trust.assess import MANIFEST_FILE
from metier.trust.code_lists import sha256_of

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home

OTHER = b"def run(task):\n    return 'exchanged: ' + task\n"


def test_bytes_that_were_exchanged_before_they_were_judged_are_not_let_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = library_of(tmp_path / "base", {"mover.py": RUN})
    before = code_gate.load_code(library.context, "mover")
    monkeypatch.setattr(
        skill_files, "bytes_of", lambda _card: OTHER
    )  # what lay there a moment before the scan

    after = code_gate.load_code(library.context, "mover")

    assert RUN.encode() == before.code
    assert (None, "it changed while it was read", sha256_of(OTHER)) == (
        after.code,
        after.reason,
        after.sha256,
    )
    assert "it changed while it was read" == library.audit_tail()[-1]["details"]["reason"]


@pytest.mark.parametrize("data", [RUN.encode(), OTHER])
def test_content_that_its_manifest_does_not_promise_is_refused_whatever_else_speaks_for_it(
    tmp_path: Path, data: bytes
) -> None:
    library = library_of(tmp_path / "base", {"mover.py": RUN})
    path = library.resolve("mover").path
    library.trust("mover", "approve")
    with open(f"{path.rpartition('/')[0]}/{MANIFEST_FILE}", "wb") as file:
        file.write(json.dumps({"skills": {"mover.py": sha256_of(data)}}).encode())
    library.reload()

    found = code_gate.load_code(library.context, "mover")

    promised = data == RUN.encode()
    assert (promised, "trusted" if promised else "hash_mismatch") == (
        found.code is not None,
        found.reason,
    )


@pytest.mark.parametrize(
    ("action", "passes"), [("allow", True), ("warn", True), ("ask", False), ("block", False)]
)
def test_under_a_root_named_by_hand_code_is_seen_and_still_let_through_only_where_loading_is(
    home: Home, tmp_path: Path, action: str, passes: bool
) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code/mover.py").write_text(RUN)
    config = tmp_path / "metier.toml"
    config.write_text(
        f'[[trust.rules]]\nlevel = "community"\nverdict = "safe"\nphase = "load"\naction = "{action}"\n'
    )

    with metier.open(
        env=home.env, cwd=tmp_path, config=config, roots=[str(tmp_path / "code")]
    ) as library:
        state, found = library.trust("mover").state, code_gate.load_code(library.context, "mover")

    assert ("blocked" if action == "block" else "visible") == state
    assert passes == (found.code is not None)


def test_a_manifest_in_a_folder_named_by_hand_trusts_nothing(home: Home, tmp_path: Path) -> None:
    data = b"import os\n\n\ndef run(task):\n    return os.listdir(task)\n"
    (tmp_path / "code").mkdir()
    (tmp_path / "code/lister.py").write_bytes(data)
    (tmp_path / "code" / MANIFEST_FILE).write_bytes(
        json.dumps({"skills": {"lister.py": sha256_of(data)}}).encode()
    )

    with metier.open(env=home.env, cwd=tmp_path, roots=[str(tmp_path / "code")]) as library:
        found = code_gate.load_code(library.context, "lister")

    assert (None, False) == (found.code, found.reason == "trusted")
