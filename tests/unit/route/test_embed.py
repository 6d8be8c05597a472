"""The model that comes with metier: what it gives, when it is loaded, and what it says when it cannot run."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from metier.errors import StoreError
from metier.route.embed.disk import ABOUT, FEW, MODEL, VOCABULARY, WEIGHTS, Onnx, available

LARGEST = 30_000_000
"""Bytes that weights may add to the package."""

runs = pytest.mark.skipif(bool(available()), reason=f"needs onnxruntime: {available()}")


@pytest.fixture(scope="module")
def embedder() -> Onnx:
    return Onnx()


@runs
def test_vectors_have_unit_length(embedder: Onnx) -> None:
    found = embedder.queries(["merge two PDF files", "", "naïve 東京 🦜"])

    assert (3, embedder.width) == found.shape
    assert pytest.approx([1, 1, 1], abs=1e-5) == np.linalg.norm(found, axis=1).tolist()


@runs
def test_what_means_the_same_lies_closer_together(embedder: Onnx) -> None:
    cards = ["pdf tools: Combines documents, splits them and rotates pages.", "sourdough: Bakes bread with a starter."]

    near, far = embedder.passages(cards) @ embedder.queries(["join several PDFs into one"])[0]

    assert near > far + 0.2


@runs
def test_a_vector_does_not_depend_on_what_else_is_asked_for(embedder: Onnx) -> None:
    texts = [f"number {number}: " + "Deploys the service. " * number for number in range(2 * FEW)]

    together = embedder.passages(texts)
    alone = np.concatenate([embedder.passages([text]) for text in texts])

    assert together.tolist() == alone.tolist()


@runs
def test_a_model_gives_the_same_vectors_whenever_it_is_loaded(embedder: Onnx) -> None:
    assert embedder.queries(["write a test"]).tolist() == Onnx().queries(["write a test"]).tolist()


@runs
def test_no_texts_have_no_vectors(embedder: Onnx) -> None:
    assert (0, embedder.width) == embedder.passages([]).shape


def test_the_name_is_known_without_reading_the_weights(tmp_path: Path) -> None:
    shutil.copy(os.path.join(WEIGHTS, ABOUT), tmp_path)

    found = Onnx(str(tmp_path)).name

    assert json.loads(Path(WEIGHTS, ABOUT).read_text(encoding="utf-8"))["name"] == found
    assert found.startswith("metier-1-")


def test_what_is_written_down_about_the_weights_is_true_of_them() -> None:
    about = json.loads(Path(WEIGHTS, ABOUT).read_text(encoding="utf-8"))

    digest = hashlib.sha256(Path(WEIGHTS, MODEL).read_bytes() + Path(WEIGHTS, VOCABULARY).read_bytes()).hexdigest()

    assert digest == about["sha256"]
    assert about["name"].endswith(digest[:8])


def test_the_weights_are_small_and_carry_their_licence() -> None:
    sizes = {path.name: path.stat().st_size for path in Path(WEIGHTS).iterdir()}

    assert LARGEST > sum(sizes.values())
    assert "Apache License" in Path(WEIGHTS, "LICENSE").read_text(encoding="utf-8")
    assert "Apache License, Version 2.0" in Path(WEIGHTS, "README.md").read_text(encoding="utf-8")


def test_weights_that_are_not_there_are_named(tmp_path: Path) -> None:
    (tmp_path / MODEL).touch()

    reason = available(str(tmp_path))

    assert f"{VOCABULARY}, {ABOUT}" in reason
    with pytest.raises(StoreError, match=VOCABULARY):
        Onnx(str(tmp_path)).queries(["anything"])
    with pytest.raises(StoreError, match="cannot load"):
        _ = Onnx(str(tmp_path)).name


def test_an_onnxruntime_that_cannot_be_loaded_is_an_error_with_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "onnxruntime"
    broken.mkdir()
    (broken / "__init__.py").write_text("raise ImportError('built for another machine')")
    for name in [name for name in sys.modules if name.split(".")[0] == "onnxruntime"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(StoreError, match="onnxruntime is installed but cannot be loaded: built for another machine") as caught:
        Onnx().queries(["anything"])

    assert "route.vectors" in caught.value.hint


@runs
@pytest.mark.parametrize("name", [MODEL, VOCABULARY])
def test_a_damaged_model_is_an_error_with_a_hint(tmp_path: Path, name: str) -> None:
    for kept in (MODEL, VOCABULARY, ABOUT):
        (tmp_path / kept).symlink_to(Path(WEIGHTS, kept))
    (tmp_path / name).unlink()
    (tmp_path / name).write_bytes(b"not what was promised")

    with pytest.raises(StoreError) as caught:
        Onnx(str(tmp_path)).queries(["anything"])

    assert "cannot load the model" in caught.value.message
    assert "" != caught.value.hint


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"name": "x"}', "\x00"])
def test_damage_to_what_is_written_down_about_a_model_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / ABOUT).write_text(text, encoding="utf-8")

    with pytest.raises(StoreError, match="cannot load the model"):
        _ = Onnx(str(tmp_path)).name
