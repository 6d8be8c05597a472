"""Where the weights of metier's models are looked for."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from metier.discover.io.packages import weights_folder


def test_the_weights_are_found_on_python_s_path_by_their_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "second/metier_weights"
    own.mkdir(parents=True)
    (own / "__init__.py").touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path / "first"), str(tmp_path / "second")])

    assert str(own) == weights_folder()


def test_a_folder_of_that_name_without_a_package_is_not_taken_for_the_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "metier_weights").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])

    assert "" == weights_folder()
