"""The model that comes with metier: a small transformer of int8 numbers, run by onnxruntime on the CPU, offline.

Each text is run by itself. The numbers on the way are made int8 with a scale that is taken over all that is run together, so in
a batch a skill's vector would depend on its neighbours: an index made step by step would not equal one made at once.
"""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from metier.errors import StoreError
from metier.route.wordpiece import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.wanted import Floats

WEIGHTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "weights")
MODEL, VOCABULARY, ABOUT = "model.onnx", "vocab.txt", "model.json"
QUERY_TOKENS, PASSAGE_TOKENS = 80, 128
"""Pieces of a text that are read, as the model was trained."""
THREADS = 2
FEW = 4
"""Texts for which starting threads takes longer than running them."""
_QUIET = 3
"""onnxruntime says nothing but errors: its warnings are about the machine, and would stand among our own answers."""


def available(folder: str = WEIGHTS) -> str:
    """Say why the model cannot run here; nothing when it can."""
    missing = [name for name in (MODEL, VOCABULARY, ABOUT) if not os.path.isfile(os.path.join(folder, name))]
    if missing:
        return f"the model that comes with metier is not all there: {', '.join(missing)}"
    return "" if find_spec("onnxruntime") else "onnxruntime is not installed (pip install 'metier[embed]')"


class Onnx:
    """An embedder that loads its model when it is first asked for a vector."""

    def __init__(self, folder: str = WEIGHTS) -> None:
        """Remember where the weights are; touch nothing yet."""
        self._folder = folder
        self._about: dict[str, Any] = {}
        self._ready: Callable[[str, int], Floats] | None = None
        self._alone = Lock()

    @property
    def name(self) -> str:
        """The model and the beginning of its digest, as written down beside it: the weights are not read for this."""
        return str(self._known()["name"])

    @property
    def width(self) -> int:
        """How many dimensions a vector has."""
        return int(self._known()["width"])

    def queries(self, texts: Sequence[str]) -> Floats:
        """Give a vector of unit length for each thing that somebody asks for."""
        return self._all(texts, QUERY_TOKENS)

    def passages(self, texts: Sequence[str]) -> Floats:
        """Give a vector of unit length for each piece of a skill."""
        return self._all(texts, PASSAGE_TOKENS)

    def _all(self, texts: Sequence[str], limit: int) -> Floats:
        if not texts:
            return np.zeros((0, self.width), np.float32)
        run = self._loaded()
        if len(texts) < FEW:
            return np.concatenate([run(text, limit) for text in texts])
        with ThreadPoolExecutor(THREADS) as pool:
            return np.concatenate(list(pool.map(lambda text: run(text, limit), texts)))

    def _known(self) -> dict[str, Any]:
        if not self._about:
            try:
                with open(os.path.join(self._folder, ABOUT), encoding="utf-8") as file:
                    about = json.load(file)
                self._about = {"name": about["name"], "width": about["width"]}
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise _broken(self._folder, error) from error
        return self._about

    def _loaded(self) -> Callable[[str, int], Floats]:
        with self._alone:
            if self._ready is None:
                self._ready = _load(self._folder)
            return self._ready


def _load(folder: str) -> Callable[[str, int], Floats]:
    """Load the weights; give what turns one text into one vector."""
    reason = available(folder)
    if reason:
        raise StoreError(reason, hint="install 'metier[embed]', or turn route.vectors off")
    onnxruntime = _runtime()
    try:
        with open(os.path.join(folder, VOCABULARY), encoding="utf-8") as file:
            vocabulary = Vocabulary(file.read())
        options, path = _options(onnxruntime), os.path.join(folder, MODEL)
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own have nothing in common but this
        raise _broken(folder, error) from error

    def run(text: str, limit: int) -> Floats:
        return session.run(None, {"tokens": np.array([vocabulary.encode(text, limit)], np.int64)})[0]

    return run


def _runtime() -> Any:
    """Give onnxruntime; one that was built for another machine or another numpy is found, and cannot be loaded."""
    try:
        import onnxruntime  # type: ignore[import-untyped,unused-ignore]

        onnxruntime.set_default_logger_severity(_QUIET)
        onnxruntime.disable_telemetry_events()
    except Exception as error:  # whatever its own libraries fail with
        reason = f"onnxruntime is installed but cannot be loaded: {error}"
        raise StoreError(reason, hint="install 'metier[embed]' again, or set route.vectors = \"off\"") from error
    return onnxruntime


def _options(onnxruntime: Any) -> Any:
    """Give what is set for a session: texts run side by side, each on the thread that asks, and no memory is hoarded."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_mem_pattern = options.enable_cpu_mem_arena = False
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC  # the file holds the fused operators
    options.log_severity_level = _QUIET
    return options


def _broken(folder: str, error: Exception) -> StoreError:
    return StoreError(f"cannot load the model in {folder}: {error}", hint='install metier again, or set route.vectors = "off"')
